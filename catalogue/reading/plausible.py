"""What a quantity of hardware can be at all: further out, a unit has slipped.

Every range is about a hundred times what the catalogue holds at its ends, and narrow enough that a
prefix too much or too little (GB for TB) of a card of today falls out of it. It judges no card: it
asks whether the unit is right. The ends of today, one direction, dense:

================  ================================  ===========================================
quantity          smallest in the catalogue         largest in the catalogue
================  ================================  ===========================================
memory            24 GiB, a card for desktops       6 TB, a host processor's
memory bandwidth  141 GB/s, a host processor        8 TB/s, a card with HBM3E
peak              1 TFLOP/s, FP32 of a processor    20 PFLOP/s, FP4, sparse
link              3.5 GB/s, a drive                 900 GB/s, NVLink 5
latency           0.2 us, between two dies          5.5 us, across a network
power             16 W, an idle card                14.3 kW, a server of eight cards
price             1,600 USD, a card for desktops    2,000,000 CNY, a server
================  ================================  ===========================================
"""

from typing import Annotated

from catalogue.reading.values import Unit, Value

Memory = Annotated[Value, Unit("B", plausible=("1 GB", "20 TB"))]
HostMemory = Annotated[Value, Unit("B", plausible=("1 GB", "100 TB"))]
Reserve = Annotated[Value, Unit("B", plausible=("1 MB", "100 GB"))]
Cache = Annotated[Value, Unit("B", plausible=("100 kB", "10 GB"))]
MemoryBandwidth = Annotated[Value, Unit("B/s", plausible=("10 GB/s", "100 TB/s"))]
CacheBandwidth = Annotated[Value, Unit("B/s", plausible=("100 GB/s", "1000 TB/s"))]
LinkBandwidth = Annotated[Value, Unit("B/s", plausible=("100 MB/s", "100 TB/s"))]
Peak = Annotated[Value, Unit("FLOP/s", plausible=("0.1 TFLOP/s", "100 PFLOP/s"))]
Latency = Annotated[Value, Unit("s", plausible=("10 ns", "10 ms"))]
Clock = Annotated[Value, Unit("Hz", plausible=("100 MHz", "20 GHz"))]
Watts = Annotated[Value, Unit("W", plausible=("1 W", "1 MW"))]
PriceInDollars = Annotated[Value, Unit("USD", plausible=("10 USD", "100000000 USD"))]
PriceInYuan = Annotated[Value, Unit("CNY", plausible=("100 CNY", "1000000000 CNY"))]
Rent = Annotated[Value, Unit("USD/s", plausible=("0.01 USD/h", "10000 USD/h"))]
