"""What a file of hardware may hold: devices (to add a GPU, an NPU or a host: params/devices/),
links, nodes, and what was measured on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from catalogue.entries.entry import (
    Called,
    CatalogueEntry,
    DeviceName,
    Entry,
    LinkName,
    MechanismsName,
    MicrobenchmarksName,
    NodeName,
    Problem,
    Sourced,
    ordered,
    together,
)
from catalogue.reading.values import (
    AnyRate,
    ByteRate,
    Bytes,
    Cache,
    CacheBandwidth,
    Clock,
    Count,
    Flag,
    HostMemory,
    Latency,
    LinkBandwidth,
    Memory,
    MemoryBandwidth,
    Peak,
    Positive,
    PriceInDollars,
    PriceInYuan,
    Rent,
    Reserve,
    Share,
    Time,
    Value,
    Watts,
    Words,
)

Dtype = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]
Architecture = Literal["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_107", "sm_120",
                       "sm_121", "gfx942", "gfx950", "ascend-a1", "ascend-a2", "ascend-a3",
                       "ascend-a5"]
"""Instruction sets that kernels are written for, as their makers name them."""
STACKS = {"sm": "cuda", "gfx": "rocm", "ascend": "cann"}
"""Software that drives an architecture, by the beginning of its name."""
STACK_OF = {"NVIDIA": "cuda", "AMD": "rocm", "Huawei": "cann"}
"""Software of the makers whose accelerators have one."""
WIDE = ("bf16", "fp16")
"""Dtypes of 16 bits, to which what a card does not multiply is widened: the first that it has."""
STREAMS = ("weight-streaming", "copy", "host-to-device", "device-to-host")
ROUNDING = 0.02  # of published figures: 7 links of 28 GB/s are printed as 196 or 200 GB/s


class Peaks(Entry):
    """Peak of one unit by the dtype that is multiplied [FLOP/s]; one multiply-add is two."""

    fp32: Peak | None = None
    tf32: Peak | None = None
    bf16: Peak | None = None
    fp16: Peak | None = None
    fp8: Peak | None = None
    int8: Peak | None = None
    fp4: Peak | None = None


class DevicePower(Entry):
    """Electrical power of one device or server [W]."""

    idle: Watts | None = None
    full: Watts | None = None

    def violations(self) -> Iterator[Problem]:
        """Work draws more than idleness."""
        yield from ordered(self, "idle", "full")


class Price(Entry):
    """What one was sold or rented for, by currency; the values carry date and source."""

    usd: PriceInDollars | None = None
    cny: PriceInYuan | None = None
    usd_rent: Rent | None = None


class Device(Called):
    """One card as the software sees it (a die where a package shows two), or a host processor.

    To add a GPU or an NPU: a file of params/devices/, after params/templates/device.yml.

    Attributes:
        like: device whose values hold for whatever this file leaves out.
        type: as its maker calls it, or ``host``; what runs on it, the next two say.
        stack: what engines reach it through, such as ``cuda``; absent, that of the next or maker.
        architecture: instruction set that kernels are written for; absent, no kernels of an engine
            are known for it: times are those of its class.
        dies: for a package that software sees as several devices: their number, and ``die`` the
            entry of one. Such an entry describes what is bought, a deployment names the die.
        memory_capacity, memory_bandwidth: of the whole device [B], [B/s].
        system_reserve: what the card's own system keeps of its memory [B].
        hbm_efficiency: prior of the share of the memory bandwidth that weights are streamed at
            (MBU) [1], of micro-measurements: value, range and source in params/devices/.
        runtime_reserve: what driver, communication and captured graphs take [B].
        matrix_peak, vector_peak: dense peak of one kind of unit alone [FLOP/s].
        sparse_peak: of the matrix unit with 2:4 structured sparsity [FLOP/s].
        headline_peak: what is advertised where it is neither, such as both units added [FLOP/s].
        host_bandwidth: to the host, ONE direction [B/s].
        microbenchmarks: entry of what kernels reach, on this device or on a relative.
        mechanisms: entry of the priors of a prediction for this class of devices.
        node: server that it is taken to stand in where none is named.
        announced: by whom and when, of a card that nobody has yet; answers that rest on it say so.
    """

    like: DeviceName | None = None
    vendor: Words
    type: Literal["npu", "gpu", "tpu", "host"]
    stack: Words | None = None
    architecture: Architecture | None = None
    dies: Count | None = None
    die: DeviceName | None = None
    memory_type: Words | None = None
    memory_capacity: Memory | None = None
    memory_bandwidth: MemoryBandwidth
    system_reserve: Reserve | None = None
    hbm_efficiency: Share | None = None
    runtime_reserve: Reserve | None = None
    matrix_peak: Peaks | None = None
    vector_peak: Peaks | None = None
    sparse_peak: Peaks | None = None
    headline_peak: Peaks | None = None
    l2_cache: Cache | None = None
    l2_bandwidth: CacheBandwidth | None = None
    host_bandwidth: LinkBandwidth | None = None
    cores: Count | None = None
    clock: Clock | None = None
    power: DevicePower | None = None
    price: Price | None = None
    microbenchmarks: MicrobenchmarksName | None = None
    mechanisms: MechanismsName | None = None
    node: NodeName | None = None
    announced: Sourced | None = None

    def violations(self) -> Iterator[Problem]:
        """What an accelerator needs, and what contradicts the rest."""
        if self.announced and self.announced.date is None:
            yield "'date' is missing, when was it announced?", "announced"
        for name in ("memory_capacity", "hbm_efficiency", "runtime_reserve", "matrix_peak"):
            if self.type != "host" and getattr(self, name) is None:
                yield f"'{name}' is missing, an accelerator needs it"
        if self.type == "tpu" and self.mechanisms is None:
            yield "'mechanisms' is missing, no class of cards stands for a tpu unsaid"
        yield from together(self, "dies", "die")
        for dtype in Peaks.model_fields:
            dense, sparse = (getattr(peaks, dtype, None)
                             for peaks in (self.matrix_peak, self.sparse_peak))
            if dense and sparse and dense.value >= sparse.value:
                yield (f"the sparse peak of {dtype} does not exceed the dense one, are they "
                       "exchanged?", "sparse_peak", dtype)
        if self.architecture and self.stack not in (None, self.software):
            yield f"{self.architecture} is not driven so, expected '{self.software}'", "stack"

    def peak(self, dtype: str) -> Value | None:
        """The dense peak for a dtype [FLOP/s]; None where it does not multiply it.

        That is its matrix unit's; a host processor without one multiplies on its vector unit.

        Args:
            dtype: what is multiplied.
        """
        unit = self.matrix_peak
        if unit is None and self.type == "host":
            unit = self.vector_peak
        return getattr(unit, dtype, None)

    def multiplied(self, dtype: str) -> str:
        """The dtype that it multiplies where one is asked for: it, or the wide one that it has.

        Args:
            dtype: what is asked for.
        """
        return dtype if self.peak(dtype) else self.wide

    @property
    def wide(self) -> str:
        """The dtype of 16 bits that it multiplies: the first of ``WIDE`` that it has."""
        return next((wide for wide in WIDE if self.peak(wide)), WIDE[0])

    @property
    def software(self) -> str | None:
        """What engines reach it through: ``cuda``, ``rocm``, ``cann``, …; None if nobody says."""
        if self.architecture:
            return next(stack for begins, stack in STACKS.items()
                        if self.architecture.startswith(begins))
        return self.stack or STACK_OF.get(self.vendor)


class ExchangeLatency(Entry):
    """What an all-to-all of experts pays besides, in either mode, to cross a link [s]."""

    low_latency: Time
    normal: Time


class Link(Called):
    """A connection between devices. Bandwidths are ONE direction, never both added.

    Attributes:
        topology: ``full-mesh`` (every pair has a link of its own), ``switch`` (a device reaches
            any other at its full rate) or ``point-to-point``.
        device_bandwidth: of all links of one device together [B/s].
        links_per_device: how many they are [1].
        pair_bandwidth: between one pair of devices [B/s]; of one link in a full mesh.
        latency: of a small message, one way [s].
        switch_adds: whether its switches add what passes, and hand the sum to all.
        exchange_alpha: what an all-to-all of experts that crosses it pays besides that of a node.
    """

    topology: Literal["full-mesh", "switch", "point-to-point"]
    device_bandwidth: LinkBandwidth
    links_per_device: Count | None = None
    pair_bandwidth: LinkBandwidth | None = None
    latency: Latency | None = None
    switch_adds: Flag = False
    exchange_alpha: ExchangeLatency | None = None

    def violations(self) -> Iterator[Problem]:
        """The bandwidth of a device is that of its links."""
        total, links, pair = self.device_bandwidth, self.links_per_device, self.pair_bandwidth
        if self.topology != "full-mesh":
            yield from ordered(self, "pair_bandwidth", "device_bandwidth")
        elif links is None or pair is None:
            yield "a full mesh needs 'links_per_device' and 'pair_bandwidth'"
        elif abs(links.value * pair.value / total.value - 1) > ROUNDING:
            yield ("'device_bandwidth' is not links_per_device x pair_bandwidth: is one of them "
                   "of both directions?")


class Node(Called):
    """A server: its devices, what connects them inside and out, and its host.

    Attributes:
        like: server whose values hold for whatever this file leaves out.
        devices_per_node: devices as software sees them [1].
        package_link: between the dies of one package.
        device_link: between the devices of the node.
        fabric_link: the scale-up fabric to ``fabric_nodes`` nodes (this one included), if any.
        network_link: the scale-out network.
        planes: separate switch planes of the fabric [1].
        ports_per_node: ports of the network [1].
        power, price: of the whole server.
    """

    like: NodeName | None = None
    device: DeviceName | None = None
    devices_per_node: Count
    package_link: LinkName | None = None
    device_link: LinkName
    fabric_link: LinkName | None = None
    fabric_nodes: Count | None = None
    planes: Count | None = None
    network_link: LinkName
    ports_per_node: Count | None = None
    host: DeviceName | None = None
    hosts_per_node: Count | None = None
    host_memory: HostMemory | None = None
    power: DevicePower | None = None
    price: Price | None = None

    def violations(self) -> Iterator[Problem]:
        """A fabric has a size."""
        yield from together(self, "fabric_link", "fabric_nodes")


class Rate(Entry):
    """What a class of kernels reached: FLOP/s of the matrix unit, or B/s of a memory.

    Attributes:
        kernel: the class; ``copy`` counts bytes read and written, ``weight-streaming`` the weights.
        dtype: what is multiplied, or what the streamed weights are.
        weights: how weights are stored that are narrower than what is multiplied.
        rows: smallest and largest number of rows of the activations: tokens per expert of
            ``grouped-gemm``, ``moe-block`` and ``sliced-moe-block`` (experts cut by eight),
            requests of ``mla-decode``, tokens of a prompt of ``mla-prefill``.
        rate: median over ``samples`` shapes, with the range from the worst to the best. In B/s:
            the weights (of ``mla-decode`` the cache) over the time, for few rows; else FLOP/s.
    """

    kernel: Literal["gemm", "grouped-gemm", "weight-streaming", "copy", "host-to-device",
                    "device-to-host", "mla-decode", "mla-prefill", "moe-block", "sliced-moe-block"]
    dtype: Dtype | None = None
    weights: Words | None = None
    rows: Annotated[list[Positive], Field(min_length=2, max_length=2)] | None = None
    rate: AnyRate
    samples: Positive | None = None

    def violations(self) -> Iterator[Problem]:
        """Matmuls have a dtype and rows, streams bytes."""
        if self.rows and self.rows[0] > self.rows[1]:
            yield "'rows' is a pair [smallest, largest]"
        if self.kernel in ("gemm", "grouped-gemm") and (self.dtype is None or self.rows is None):
            yield f"a rate of {self.kernel} needs 'dtype' and 'rows'"
        if self.kernel in STREAMS and self.rate.unit != "B/s":
            yield (f"'{self.rate.written}' has the wrong unit, a rate of {self.kernel} is a "
                   "quantity in B/s")

    def share(self, device: Device) -> float | None:
        """The rate over what the device has at most [1]; None if that is not known."""
        if self.rate.unit == "B/s":
            peak: Value | None = device.memory_bandwidth
            if self.kernel in ("host-to-device", "device-to-host"):
                peak = device.host_bandwidth
        else:
            peak = getattr(device.matrix_peak, self.dtype or "", None)
        return self.rate.value / peak.value if peak else None


class FixedTime(Entry):
    """A cost that does not depend on the size of the work [s]."""

    kernel: Literal["kernel-boundary", "graph-kernel-boundary", "host-time-per-operator",
                    "host-gap-per-step"]
    time: Time
    samples: Positive | None = None


class Collective(Entry):
    """A collective operation over ``ranks`` devices: its time, or its bus bandwidth.

    Bus bandwidth as nccl-tests defines it: payload over time, times 2(n - 1)/n for all-reduce and
    (n - 1)/n for all-gather, reduce-scatter and all-to-all. The payload is that of one rank.
    """

    operation: Literal["all-reduce", "all-gather", "reduce-scatter", "all-to-all", "send"]
    ranks: Positive
    nodes: Positive = 1
    algorithm: Words | None = None
    payload: Bytes | None = None
    time: Time | None = None
    bus_bandwidth: ByteRate | None = None
    samples: Positive | None = None


class ExpertExchange(Entry):
    """All-to-all of a mixture of experts: tokens sent to their experts, results sent back.

    Attributes:
        phase: ``dispatch`` (tokens out), ``combine`` (results back), or both in one figure.
        mode: ``low-latency`` (a copy per expert) or ``normal`` (deduplicated per node).
        ranks, nodes: expert-parallel ranks and the nodes they are on.
        tokens: per rank.
        dtype: what is sent.
        time: of one call [s].
        bandwidth: per rank, as its source defines it [B/s].
        through: which link limits it, as its source says.
    """

    phase: Literal["dispatch", "combine", "both"]
    mode: Literal["low-latency", "normal"]
    ranks: Positive
    nodes: Positive | None = None
    tokens: Positive
    hidden_size: Positive | None = None
    experts_per_token: Positive | None = None
    dtype: Dtype | None = None
    time: Time | None = None
    bandwidth: ByteRate | None = None
    through: LinkName | None = None
    samples: Positive | None = None


class Microbenchmarks(CatalogueEntry):
    """What kernels and collectives reached on one device, each rate with its own source."""

    device: DeviceName | None = None
    software: Words | None = None
    rates: list[Rate] = []
    times: list[FixedTime] = []
    collectives: list[Collective] = []
    expert_exchange: list[ExpertExchange] = []
