"""What a file of hardware may hold: devices (to add a GPU, an NPU or a host: params/devices/),
links, nodes, and what was measured on them."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args

from pydantic import BeforeValidator, Field, WithJsonSchema

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
    given,
    ordered,
    together,
)
from catalogue.reading import words
from catalogue.reading.values import (
    AnyRate,
    ByteRate,
    Bytes,
    BytesOrZero,
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
    Provenance,
    Rent,
    Reserve,
    Share,
    Time,
    Tokens,
    Unit,
    Value,
    Watts,
    Words,
)

Dtype = Literal["fp32", "tf32", "bf16", "fp16", "fp8", "int8", "fp4"]
Architecture = Literal["sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_107", "sm_120",
                       "sm_121", "gfx942", "gfx950", "ascend-a1", "ascend-a2", "ascend-a3",
                       "ascend-a5"]
"""Instruction sets that kernels are written for, as their makers name them."""
InstructionSet = Annotated[
    str, BeforeValidator(lambda raw, info: instruction_set(raw, info.context)),
    WithJsonSchema({"type": "string", "examples": list(get_args(Architecture))})]
STACKS = {"sm": "cuda", "gfx": "rocm", "ascend": "cann"}
"""Software that drives an architecture, by the beginning of its name."""
STACK_OF = {"NVIDIA": "cuda", "AMD": "rocm", "Huawei": "cann"}
"""Software of the makers whose accelerators have one."""
WIDE = ("bf16", "fp16")
"""Dtypes of 16 bits, to which what a card does not multiply is widened: the first that it has."""
STREAMS = ("weight-streaming", "copy", "host-to-device", "device-to-host")
ROUNDING = 0.02  # of published figures: 7 links of 28 GB/s are printed as 196 or 200 GB/s


def instruction_set(raw: Any, given: Provenance | None) -> Any:
    """An architecture: one that is known, or any of a reader's own card, without known kernels."""
    if raw in get_args(Architecture):
        return raw
    if given is not None and given.own and isinstance(raw, str):
        meant = re.sub("[_-]", "", raw).casefold()
        if near := [name for name in get_args(Architecture) if re.sub("[_-]", "", name) == meant]:
            raise ValueError(f"'{raw}' is not known, did you mean {near[0]}")
        return words.read(raw)
    raise ValueError(f"'{str(raw)[:40]}' is not known, expected one of "
                     f"{', '.join(get_args(Architecture))}")


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
        architecture: instruction set that kernels are written for; of a reader's own card any
            name. Absent, or where it is none of ``Architecture``, no kernels of an engine are
            known for it: times are those of its class.
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
    architecture: InstructionSet | None = None
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
        if self.type != "host" and not self.peak(self.wide):
            yield (f"neither {' nor '.join(WIDE)} is given, attention multiplies in 16 bits "
                   "whatever the weights are", "matrix_peak")
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
        if self.architecture is not None and self.architecture in get_args(Architecture):
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


Number = Annotated[Value, Unit("1")]
NumberOrZero = Annotated[Value, Unit("1", exclusive=False)]
ShareOrZero = Annotated[Value, Unit("1", exclusive=False, maximum=1.0)]
RequestRate = Annotated[Value, Unit("request/s")]
TimeOrZero = Annotated[Value, Unit("s", exclusive=False)]

HOST = ("host_stream_efficiency", "host_gemm_efficiency", "host_vector_efficiency", "host_sync",
        "host_link_efficiency")
T = TypeVar("T")


class ByDtype(Entry, Generic[T]):
    """A quantity by the dtype that is multiplied."""

    bf16: T | None = None
    fp16: T | None = None
    fp8: T | None = None
    int8: T | None = None
    fp4: T | None = None


class ShareByDtype(ByDtype[Share]):
    """Share of the dense matrix peak by the dtype that is multiplied [1]."""


class TimeByDtype(ByDtype[TimeOrZero]):
    """A time by the dtype that is multiplied [s]."""


class BytesByDtype(ByDtype[BytesOrZero]):
    """Bytes per element by the dtype that is multiplied [B]."""


class Group(Entry):
    """A group of keys that a file may give in part, the rest as the entry that it is like."""


class Exchange(Group):
    """One call of dispatch or combine: alpha [s] + bytes / (efficiency [1] x link, one way).

    And, where they are known, a time per routed expert, which is told its tokens [s], and per
    token that a rank sends besides its bytes [s/token].
    """

    alpha: Time
    efficiency: Share
    expert_time: Time | None = None
    token_time: Annotated[Value, Unit("s/token")] | None = None


class Crossing(Group):
    """The same between nodes; an alpha here [s] takes the place of that of card and fabric."""

    alpha: Time | None = None
    efficiency: Share


class Levels(Group):
    """An exchange inside a node (bytes that leave the rank, over its links), and between nodes
    (bytes that leave the node, over the rank's port); tokens that its buffers are made for.

    What a fabric between nodes adds to the alpha stands in the file of its link.
    """

    node: Exchange
    network: Crossing
    buffer_tokens: Tokens


class AllToAll(Group):
    """Dispatch and combine of experts: a copy to each expert, or deduplicated per node."""

    low_latency: Levels
    normal: Levels


class ShareByCache(Group):
    """Share of the dense matrix peak by the elements that the cache stores [1]."""

    wide: Share
    narrow: Share


Kernels = Annotated[int, Field(strict=True, ge=0)]


class TimedOperators(Group):
    """Kernels of the parts of a layer whose boundary the latencies of laws contain [1].

    Matmuls, an attention core with what joins its splits, the experts' block, the sum over the
    ranks. Fields as of :class:`Operators`.
    """

    latent_attention: Kernels = 0
    grouped_attention: Kernels = 0
    compressed_attention: Kernels = 0
    indexer: Kernels = 0
    dense_mlp: Kernels = 0
    routed_experts: Kernels = 0
    shared_expert: Kernels = 0


class Operators(Group):
    """Kernels of the parts of a layer, as an engine's code launches them [1].

    Each part with its norm and its sum over the ranks. Only their proportions are taken:
    ``operators_per_layer`` says how many there are of latent attention, experts and shared expert
    together.

    Attributes:
        latent_attention, grouped_attention, compressed_attention: MLA, absorbed; GQA; a window and
            compressed entries.
        indexer: of sparse attention, in addition.
        dense_mlp: one MLP.
        routed_experts: router, choice, rows there and back, and the experts.
        shared_expert: in addition.
        timed: those of them that laws time; none on a card whose latencies are set by hand.
    """

    latent_attention: Number
    grouped_attention: Number
    compressed_attention: Number
    indexer: Number
    dense_mlp: Number
    routed_experts: Number
    shared_expert: Number
    timed: TimedOperators = TimedOperators()

    @property
    def reference(self) -> float:
        """Kernels of the layer of which ``operators_per_layer`` are launched [1]."""
        return float(self.latent_attention.value + self.routed_experts.value
                     + self.shared_expert.value)

    def by_part(self, attention: str) -> dict[str, tuple[float, int]]:
        """Kernels of each part of a layer, and those that laws time [1].

        Args:
            attention: of the model, as its file calls it.
        """
        kind = {"mla": "latent_attention", "csa": "compressed_attention"}
        of = {"attention": kind.get(attention, "grouped_attention"), "indexer": "indexer",
              "dense_mlp": "dense_mlp", "routed_expert": "routed_experts",
              "shared_expert": "shared_expert"}
        return {part: (getattr(self, name).value, getattr(self.timed, name))
                for part, name in of.items()}


class Grouped(CatalogueEntry):
    """What stands in tables by dtype and in groups, or is of a host.

    Attributes:
        like: mechanisms whose values hold for whatever this file leaves out.
        gemm_efficiency: share of the dense peak that a matmul of many rows reaches [1].
        grouped_gemm_efficiency: the same of experts, with many rows per expert [1].
        sliced_gemm_efficiency, sliced_streaming_efficiency: both of experts of which every rank
            holds a slice [1].
        matmul_latency: of a dense matmul with few rows, what is not in the rates: its boundary,
            quantising its rows, filling and draining the kernel [s].
        depth_latency: the same per input that its outputs sum over: a tile takes them one after
            the other [s].
        activation_traffic: of a dense matmul, what quantising its rows moves besides, per element
            that its outputs sum over [B].
        narrow_streaming_efficiency: the same of weights of fewer than eight bits that kernels widen
            while they read them; ``sliced_``: of slices [1].
        narrow_expert_latency: what those kernels take in a layer, however few the rows [s].
        sparse_attention_efficiency: share of the matrix peak of sparse attention, rows that fill
            a tile included; by elements of the cache of 16 bits, and of fewer [1].
        host_system_memory: of a server's own, what its system and services hold [B].
        host_process_memory: the same of an engine's processes, per card [B].
        all_to_all: dispatch and combine, by mode and level.
        host_stream_efficiency: share of the host's memory bandwidth of expert kernels [1].
        host_gemm_efficiency: share of the host's matrix peak of expert kernels; of the vector
            peak where there is no matrix unit [1].
        host_vector_efficiency: share of the host's vector peak of kernels that widen blocks of few
            bits in vector registers [1].
        host_sync: hand-over between device and host, per layer [s].
        host_link_efficiency: share of the link to a device that large copies from the host's
            memory reach [1].
        operators: kernels of the parts of a layer, in proportion.
    """

    like: MechanismsName | None = None
    gemm_efficiency: ShareByDtype | None = None
    grouped_gemm_efficiency: ShareByDtype | None = None
    matmul_latency: TimeByDtype | None = None
    depth_latency: TimeByDtype | None = None
    sparse_attention_efficiency: ShareByCache | None = None
    host_system_memory: BytesOrZero | None = None
    host_process_memory: BytesOrZero | None = None
    all_to_all: AllToAll | None = None
    host_stream_efficiency: Share | None = None
    host_gemm_efficiency: Share | None = None
    host_vector_efficiency: Share | None = None
    host_sync: Time | None = None
    host_link_efficiency: Share | None = None
    sliced_gemm_efficiency: ShareByDtype | None = None
    narrow_streaming_efficiency: Share | None = None
    sliced_narrow_streaming_efficiency: Share | None = None
    narrow_expert_latency: Time | None = None
    activation_traffic: BytesByDtype | None = None
    operators: Operators | None = None


class RequiredInputs(Entry):
    """Numbers that a prediction needs of every card; draws of ranges follow their order.

    Attributes:
        gemm_tile_rows: rows that a matmul multiplies at least [1].
        expert_tile_rows: the same of experts [1].
        load_overlap: share of the shorter of loading and arithmetic that a matmul hides [1].
        expert_load_overlap: the same of whole experts [1].
        clock_factor: sustained over nominal clock under load [1].
        clock_spread: its standard deviation over mean among cards of one kind [1].
        expert_streaming_efficiency: share of the HBM bandwidth at which expert weights are read
            for few rows [1].
        mla_efficiency: share of the HBM bandwidth at which the decode core reads the cache [1].
        mla_compute_efficiency: share of the matrix peak of the decode core with all heads [1].
        attention_efficiency: share of the matrix peak of flash attention in prefill [1].
        core_tile_rows: rows of heads and tokens of a request that the decode core of MLA
            multiplies at once; whole tiles, a kernel's constant [1].
        sparse_tile_rows: rows of heads that a kernel of sparse attention multiplies at once [1].
        index_efficiency: share of its matrix peak at which an indexer scores positions [1].
        selection_traffic: what choosing among the scores moves, per score [B].
        dequantisation_traffic: through L2 per 4-bit weight that is widened first [B].
        prefill_dequantisation_traffic: the same in prefill, where all experts are widened [B].
        kernel_boundary: of a small kernel of a captured graph that no law times [s].
        operators_per_layer: kernels of a layer of latent attention, routed and shared experts [1].
        host_time_per_operator: of the host per operator that it launches itself [s].
        host_gap_per_step: scheduling, sampling and detokenisation between steps [s].
        host_gap_per_draft: of the host between two passes of the layer that drafts: attention's
            metadata, positions, launches [s].
        single_token_path: what a fused path for one token saves per step [s].
        placement_residual: standard deviation over mean of the load of expert-parallel ranks that
            placement by measured load leaves [1].
        routing_skew: squared coefficient of variation of the popularity of experts [1].
        kv_imbalance: max over mean of the tokens of data-parallel ranks [1].
        overlap_efficiency: share of the shorter of computation and communication that two
            micro-batches hide [1].
        collective_alpha: of one exchange inside a node; an all-reduce in one shot takes one [s].
        collective_efficiency: share of the links, one way, that such exchanges reach [1].
        network_alpha: of one message between nodes within a collective [s].
        network_efficiency: share of the scale-out port that large messages reach [1].
        request_overhead: HTTP, tokenisation and scheduling of one request [s].
        absorbed_copies: of MLA's absorbed up-projections in the activations' dtype, kept beside
            what was loaded [1].
        front_end_rate: at which the front end of a server lets requests in, one after another
            [request/s].
    """

    gemm_tile_rows: Number | None = None
    expert_tile_rows: Number | None = None
    load_overlap: ShareOrZero | None = None
    expert_load_overlap: ShareOrZero | None = None
    clock_factor: Share | None = None
    clock_spread: ShareOrZero | None = None
    expert_streaming_efficiency: Share | None = None
    sliced_streaming_efficiency: Share | None = None
    mla_efficiency: Share | None = None
    mla_compute_efficiency: Share | None = None
    attention_efficiency: Share | None = None
    core_tile_rows: Count | None = None
    sparse_tile_rows: Count | None = None
    index_efficiency: Share | None = None
    selection_traffic: BytesOrZero | None = None
    dequantisation_traffic: BytesOrZero | None = None
    prefill_dequantisation_traffic: BytesOrZero | None = None
    kernel_boundary: Time | None = None
    operators_per_layer: Number | None = None
    host_time_per_operator: Time | None = None
    host_gap_per_step: Time | None = None
    host_gap_per_draft: TimeOrZero | None = None
    single_token_path: TimeOrZero | None = None
    placement_residual: NumberOrZero | None = None
    routing_skew: NumberOrZero | None = None
    kv_imbalance: Number | None = None
    overlap_efficiency: Share | None = None
    collective_alpha: Time | None = None
    collective_efficiency: Share | None = None
    network_alpha: Time | None = None
    network_efficiency: Share | None = None
    request_overhead: Time | None = None
    absorbed_copies: ShareOrZero | None = None
    front_end_rate: RequestRate | None = None


class OptionalInputs(Entry):
    """Numbers that hold where they are known of a card or an engine; else what they stand beside
    holds, or what ``params/symbols.yml`` calls neutral. Draws of ranges follow their order.

    Attributes:
        latent_core_latency: of a layer's decode core of MLA, its splits joined, however few the
            positions [s].
        latent_core_fill: of it, filling and draining its pipeline for one request [s].
        routed_expert_latency, sliced_expert_latency: what the experts of a layer take whatever the
            rows, whole and slices [s].
        expert_row_traffic, sliced_row_traffic: times that their rows are moved besides the
            matmuls: gathered, gated, quantised, summed; once where no more is known [1].
        gathered_row_traffic: times that the rows of all whole experts are, on a rank that has the
            tokens of all: kernels that sort, gate and sum them whosever they are [1].
        expert_tile_growth, sliced_tile_growth: rows of a tile that their kernels choose over the
            mean rows of one, where larger; largest_expert_tile, largest_sliced_tile: the most [1].
        prefill_core_latency: of a layer's core in prefill [s].
        core_row_traffic: times that its bytes are moved besides its arithmetic [1].
        prefill_tile_rows: rows of a prompt that it brings in at once; whole tiles [1].
        pipelined_alpha, pipelined_efficiency: latency [s] and share of the links of a library's
            all-reduce in chunks, which large payloads take; none where no file says any.
        second_round_alpha: of the second exchange of an all-reduce in two [s].
        gather_alpha, gather_step_alpha, gather_efficiency: latency of an all-gather or a
            reduce-scatter [s], for each further rank [s], and share of the links [1].
        gather_bulk_alpha, gather_bulk_efficiency: the same of large ones, in a pipeline.
        sparse_prefill_efficiency: of prompts, where it is another; absent, the same [1].
        sparse_core_fill: of each row of heads in the core of sparse attention [s].
        linear_chunk_tokens: of a chunk in the kernel of linear attention over prompts [token].
        hyper_operators: kernels of the hyper-connections of a layer [1].
        loading_overhead: weights as loaded, over those that are counted [1].
        communicator_reserve: of a process that works with others, before it loads weights [B].
        workspace_reserve: of libraries, outside the framework's allocator [B].
        parallel_reserve: further workspaces where ranks add their results [B].
        graph_layer_memory: captured graphs of a layer [B].
        sampler_bytes: of a logit, all tensors of sampling that are alive at once [B].
        index_workspace_rows: index keys of a workspace, per position of the longest request [1].
    """

    latent_core_latency: TimeOrZero | None = None
    latent_core_fill: TimeOrZero | None = None
    routed_expert_latency: TimeOrZero | None = None
    sliced_expert_latency: TimeOrZero | None = None
    expert_row_traffic: NumberOrZero | None = None
    sliced_row_traffic: NumberOrZero | None = None
    gathered_row_traffic: NumberOrZero | None = None
    expert_tile_growth: NumberOrZero | None = None
    sliced_tile_growth: NumberOrZero | None = None
    largest_expert_tile: NumberOrZero | None = None
    largest_sliced_tile: NumberOrZero | None = None
    prefill_core_latency: TimeOrZero | None = None
    core_row_traffic: NumberOrZero | None = None
    prefill_tile_rows: Count | None = None
    pipelined_alpha: Time | None = None
    pipelined_efficiency: Share | None = None
    gather_step_alpha: TimeOrZero | None = None
    gather_bulk_alpha: Time | None = None
    gather_bulk_efficiency: Share | None = None
    second_round_alpha: Time | None = None
    gather_alpha: Time | None = None
    gather_efficiency: Share | None = None
    sparse_prefill_efficiency: Share | None = None
    sparse_core_fill: TimeOrZero | None = None
    linear_chunk_tokens: Tokens | None = None
    hyper_operators: NumberOrZero | None = None
    loading_overhead: NumberOrZero | None = None
    communicator_reserve: BytesOrZero | None = None
    workspace_reserve: BytesOrZero | None = None
    parallel_reserve: BytesOrZero | None = None
    graph_layer_memory: BytesOrZero | None = None
    sampler_bytes: BytesOrZero | None = None
    index_workspace_rows: NumberOrZero | None = None


OF_EVERY, IF_KNOWN = tuple(RequiredInputs.model_fields), tuple(OptionalInputs.model_fields)
OPTIONAL = {  # what a file need not say: of whole experts, of dense matmuls, of any layer holds
    *IF_KNOWN, "expert_tile_rows", "expert_load_overlap", "activation_traffic",
    "sliced_gemm_efficiency", "sliced_streaming_efficiency", "narrow_streaming_efficiency",
    "sliced_narrow_streaming_efficiency", "narrow_expert_latency", "operators",
    "host_vector_efficiency"}


class Mechanisms(OptionalInputs, RequiredInputs, Grouped):
    """Priors of one class of devices, or of the host processors that compute experts."""

    @property
    def is_host(self) -> bool:
        """Whether these are of processors that compute experts beside an accelerator."""
        return self.gemm_efficiency is None and self.host_gemm_efficiency is not None

    def violations(self) -> Iterator[Problem]:
        """A prediction needs every one of its kind, and none of the other kind."""
        accelerator = [name for name in Mechanisms.model_fields
                       if name not in (*CatalogueEntry.model_fields, "like", *HOST)]
        needed, other = (HOST, accelerator) if self.is_host else (accelerator, HOST)
        for name in needed:
            if name not in OPTIONAL and getattr(self, name) is None:
                yield f"'{name}' is missing, a prediction needs it"
        for name in given(self, other):
            yield f"'{name}' is no property of {'a host' if self.is_host else 'an accelerator'}"
        tables = ("grouped_gemm_efficiency", "gemm_efficiency")
        for dtype in ShareByDtype.model_fields:
            grouped, dense = (getattr(getattr(self, name), dtype, None) for name in tables)
            if (grouped is None) != (dense is None):
                lacks, has = tables if grouped is None else tables[::-1]
                yield f"'{lacks}' lacks {dtype}, which '{has}' has"
        if self.kv_imbalance is not None and self.kv_imbalance.low < 1:
            yield "'kv_imbalance' is a maximum over a mean, at least 1"
