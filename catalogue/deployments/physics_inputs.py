"""Inputs of the physics from a deployment's entries: peaks, links, mechanisms, host.

Every mechanism is a knob: a named parameter with a range, which moves one or several inputs
together. What the entries do not say is neutral in ``params/symbols.yml``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from catalogue import library
from catalogue.entries.deployments import USUAL_SOURCE, Offload, Precision
from catalogue.entries.entry import Entry
from catalogue.entries.formulas import inputs_of, neutral, symbols
from catalogue.entries.hardware import (
    IF_KNOWN,
    OF_EVERY,
    BytesByDtype,
    Device,
    Levels,
    Link,
    Mechanisms,
    Node,
    ShareByDtype,
    TimeByDtype,
)
from catalogue.entries.models import CSA, Acceptance, Model
from catalogue.kernels import expert_bytes, kernel_of, known_to_engines, multiplied
from catalogue.reading import units
from catalogue.reading.near import nearest_names
from catalogue.reading.synonyms import key_meant
from catalogue.reading.values import Unit, Value, annotated, si_number

if TYPE_CHECKING:
    from catalogue.deployments.scenario import Scenario
    from catalogue.entries.deployments import Offload
    from catalogue.entries.hardware import Device, Link, Node
    from catalogue.entries.models import Model


HOST_DTYPES = ("int8", "bf16", "fp16", "fp32")  # a processor computes in its fastest
VECTOR = "fp32"  # engines leave FP32 products (a router) to the vector unit, which every device has


def on_card(precision: Precision, offload: Offload | None) -> list[str] | None:
    """Classes of tensors that a card multiplies where a host may compute experts; None for all.

    Args:
        precision: an entry of ``params/precisions/``.
        offload: what a host holds, if anything.
    """
    if offload is None or offload.fetched or offload.routed_experts.value < 1:
        return None
    return [name for name in precision.multiply.dtypes if name != "routed_expert"]


def on_vectors(stored: str) -> bool:
    """Whether kernels of a processor multiply a format on its vector unit, whatever else it has.

    Args:
        stored: name of the format.
    """
    return bool(library.load("formats", stored).host_unit == "vector")


def host_peaks(host: Device, stored: str) -> list[float]:
    """What a processor computes experts of a format with, as far as it is stated [FLOP/s].

    Args:
        host: the processor.
        stored: name of the format.
    """
    vectors = host.vector_peak if on_vectors(stored) else None
    peaks = [getattr(vectors, dtype, None) if vectors else host.peak(dtype)
             for dtype in HOST_DTYPES]
    return [peak.value for peak in peaks if peak]


def widened(precision: Precision, dtypes: Mapping[str, str]) -> dict[str, bool]:
    """Class of tensors -> whether its weights are widened before they are multiplied.

    That is so where weights of less than 16 bits meet a product in 16 bits or more. Narrower
    products (INT8 of INT4 weights, FP4) take the stored integers or floats as they are.

    Args:
        precision: an entry of ``params/precisions/``.
        dtypes: what is multiplied, by class; a card may lack what the precision asks for.
    """
    wide = ("bf16", "fp16", "tf32", "fp32")
    weights = {name: stored for name, stored in precision.weights if stored is not None}
    narrow = {stored: library.load("formats", stored).bits.value < 16
              for stored in dict.fromkeys(weights.values())}
    return {name: dtype in wide and narrow[weights[name]]
            for name, dtype in dtypes.items() if name in weights}


def missing_dtypes(precision: Precision, device: Device,
                   classes: Collection[str] | None = None) -> list[tuple[str, str]]:
    """What a precision multiplies that the device's matrix unit lacks: (class, dtype) pairs.

    A dtype is lacking where the device states no dense peak for it: FP8 on an Ascend 910B is an
    answer, not an error. A host processor without a matrix unit multiplies on its vector unit. A
    kernel of some engine must exist besides: ``catalogue.kernels.kernel_of``.

    Args:
        precision: an entry of ``params/precisions/``.
        device: where the classes are multiplied.
        classes: classes of tensors that are asked for, names of ``precision.multiply``; all of
            them where it is None. Routed experts that a host computes are left out this way.
    """
    dtypes = precision.multiply.dtypes
    return [(name, dtype) for name, dtype in dtypes.items()
            if (classes is None or name in classes)
            and dtype != VECTOR and device.peak(dtype) is None]


def nearest(device: Device, precision: Precision | None = None,
            classes: Collection[str] | None = None, *, engine: str | None = None,
            model: Model | None = None, any_engine: bool = False) -> list[Precision]:
    """The precisions of the catalogue that a release runs on a device.

    On a device that no engine is known for, those that it multiplies. Of two that are stored and
    there multiplied alike, the one that asks for just that.

    Ordered by the bytes of the routed experts; where a precision is given, by how far those bytes
    are from its own, so that the first one replaces it best. That precision itself is among them
    if it runs there. A host processor is asked for its units alone.

    Args:
        device: where the classes are multiplied.
        precision: what is wanted, if anything.
        classes: as :func:`missing_dtypes` has it.
        engine: whose kernels are asked for, with its release if one is meant; absent, any engine's.
        model: whose classes of tensors and whose attention are asked for; all without one.
        any_engine: also what no release is known to run.
    """
    wanted = 0.0 if precision is None else expert_bytes(precision)
    tabled = not any_engine and device.type != "host" and known_to_engines(device)
    possible = [library.load("precisions", name) for name in library.names("precisions")]
    candidates = [entry for entry in possible if (
        kernel_of(entry, device, engine, model=model, classes=classes) if tabled
        else not missing_dtypes(entry, device, classes))]
    alike: dict[tuple[object, ...], Precision] = {}
    for entry in candidates:
        dtypes = entry.multiply.dtypes
        has = (multiplied(entry, device, engine, model, classes) if tabled else
               {name: device.multiplied(dtype) for name, dtype in dtypes.items()})
        stored = (tuple(entry.weights), entry.kv_cache, entry.kv_rope, entry.kv_index,
                  tuple(has[name] for name in dtypes))
        if stored not in alike or all(has[name] == dtype for name, dtype in dtypes.items()):
            alike[stored] = entry
    order = [(abs(expert_bytes(entry) - wanted), expert_bytes(entry), entry.id, entry)
             for entry in alike.values()]
    return [entry for *_, entry in sorted(order, key=lambda ranked: ranked[:3])]


BITS = {"fp4": 4, "fp8": 8, "int8": 8, "fp16": 16, "bf16": 16, "tf32": 32, "fp32": 32}
DIGITS = 3


FEW_BITS = 8  # from which on weights are read at the usual share
NARROW = {"expert_streaming_efficiency": "narrow_streaming_efficiency",
          "sliced_streaming_efficiency": "sliced_narrow_streaming_efficiency",
          "routed_expert_latency": "narrow_expert_latency",
          "sliced_expert_latency": "narrow_expert_latency"}


def widened_experts(priors: Mechanisms, precision: Precision, dtypes: Mapping[str, str]
                    ) -> dict[str, Value]:
    """What kernels reach that widen experts of few bits while they read them, where it is known.

    Args:
        priors: of the class of cards.
        precision: whose experts they are.
        dtypes: what is multiplied, by class.
    """
    bits = library.load("formats", precision.weights.routed_expert).bits.value
    if bits >= FEW_BITS or not widened(precision, dtypes)["routed_expert"]:
        return {}
    values = {key: getattr(priors, name) for key, name in NARROW.items()}
    return {key: value for key, value in values.items() if value is not None}


def efficiency(table: ShareByDtype, dtype: str, device: Device) -> Value:
    """Share of the dense peak that matmuls of a dtype reach [1]: the prior, or what stands in.

    Args:
        table: the class's priors by dtype, at least one.
        dtype: what is multiplied.
        device: the card, which states a peak of the dtype.
    """
    prior: Value | None = getattr(table, dtype, None)
    if prior is not None:
        return prior
    name = nearest_known(table, dtype)
    near: Value = getattr(table, name)
    peak, reference = device.peak(dtype), device.peak(name)
    faster = peak.value / reference.value if peak and reference else BITS[name] / BITS[dtype]
    least, share = near.low / max(1.0, faster), near.value / math.sqrt(max(1.0, faster))
    value, this, other = float(f"{share:.{DIGITS}g}"), dtype.upper(), name.upper()
    note = {"en": f"No prior of {this}: at best the share that {other} reaches, at worst no faster "
                  f"than {other}; the middle of both, in logarithms.",
            "zh": f"没有 {this} 的先验值：最好与 {other} 的利用率相同，最差不比 {other} 更快，"
                  "取两者的对数中点。"}
    return Value(value, "1", f"{value:g}", "arithmetic", "assumed", min(least, value),
                 max(near.high, value), note=note)


def latency(table: TimeByDtype, dtype: str) -> Value:
    """What a matmul of a dtype takes with few rows [s]: the prior, or that of the nearest dtype.

    Args:
        table: the class's priors by dtype, at least one.
        dtype: what is multiplied.
    """
    value: Value = getattr(table, dtype, None) or getattr(table, nearest_known(table, dtype))
    return value


def nearest_known(table: ShareByDtype | TimeByDtype, dtype: str) -> str:
    """The dtype with a prior that is nearest in width; of two as near, the wider."""
    names = [name for name in BITS if getattr(table, name, None) is not None]
    return min(names, key=lambda name: (abs(math.log2(BITS[name] / BITS[dtype])), -BITS[name]))


USUAL_NETWORK = "infiniband-400g"  # what a network adds to an exchange, unless its file says it
NETWORK_ALPHA = "exchange_network_alpha"


def scale_up_domain(node: Node) -> int:
    """Devices that reach each other over the scale-up links [1].

    Args:
        node: an entry of ``params/nodes/``.
    """
    fabric = node.fabric_nodes.value if node.fabric_nodes else 1
    return int(node.devices_per_node.value * fabric)


def inside_inputs(link: Link) -> dict[str, float]:
    """Bandwidths and topology of the links between devices of a server.

    Args:
        link: an entry of ``params/links/``.
    """
    pair = link.pair_bandwidth or link.device_bandwidth
    return {"full_mesh": float(link.topology == "full-mesh"), "pair_bandwidth": pair.value,
            "device_link_bandwidth": link.device_bandwidth.value,
            "switch_adds": float(link.switch_adds)}


def network_bandwidth(node: Node) -> float:
    """What a card of a server has of the network [B/s]: cards share ports where these are fewer."""
    cards = node.devices_per_node.value
    ports = node.ports_per_node.value if node.ports_per_node else cards
    network: Link = library.load("links", node.network_link)
    return network.device_bandwidth.value * min(1.0, ports / cards)


def link_inputs(node: Node, nodes: float) -> dict[str, float]:
    """Bandwidths and topology; a scale-up fabric over several nodes counts as one large node.

    Args:
        node: an entry of ``params/nodes/``.
        nodes: of the deployment [1].
    """
    inside = library.load("links", node.device_link)
    if node.fabric_link and nodes > 1:
        inside = library.load("links", node.fabric_link)
        size = scale_up_domain(node)
    else:
        size = int(node.devices_per_node.value)
    return {
        "devices_per_node": size, **inside_inputs(inside),
        "network_bandwidth": network_bandwidth(node),
    }


def exchange_latencies(scenario: Scenario, exchange: Levels, mode: str, experts: float
                       ) -> dict[str, Value]:
    """The latency of an exchange: of the card, and of the fabric that its slowest messages cross.

    Within a server there is no fabric. A latency between nodes that the card's file or the
    deployment states is all of it; what an engine's tables say of a server is the card's share, and
    what they say of a network holds of the one that they were measured over.

    Args:
        scenario: the deployment.
        exchange: of the card's mechanisms, in the mode.
        mode: ``low_latency`` or ``normal``.
        experts: ranks that share the experts [1].
    """
    node = scenario.node
    own = {"exchange_alpha": exchange.node.alpha}
    if experts <= node.devices_per_node.value or "exchange_alpha" in scenario.file.mechanisms:
        return own
    within = experts <= scale_up_domain(node)
    if exchange.network.alpha is not None and not within and (
            "exchange_alpha" not in scenario.given):
        return {"exchange_alpha": exchange.network.alpha}
    crossing = node.fabric_link if within and node.fabric_link else node.network_link
    added = library.load("links", crossing).exchange_alpha
    if added is None and not within:
        added = library.load("links", USUAL_NETWORK).exchange_alpha
    if added is None:  # a fabric as fast as the links of a server
        return own
    measured = scenario.given.get(NETWORK_ALPHA) if crossing == USUAL_NETWORK else None
    return own | {NETWORK_ALPHA: measured or getattr(added, mode)}


DENSE = ("attention", "dense_mlp", "shared_expert", "router", "head")
CLASSES = (*DENSE[:3], "routed_expert", *DENSE[3:])
LATENCIES = ("matmul_latency", "depth_latency")  # of dense matmuls, by what is multiplied
TRAFFIC = ("activation_traffic",)  # the same, where it is known
NORMAL_90 = 1.2815515655446004  # 90% point of the standard normal distribution


class Knob(NamedTuple):
    """One mechanism: its value, its range, and the inputs that it sets.

    Attributes:
        name: as the mechanisms' files have it; of a dtype, ``gemm_efficiency.bf16``.
        value: with provenance and range.
        symbols: input symbols that hold this value.
    """

    name: str
    value: Value
    symbols: tuple[str, ...]

    def at(self, score: Any) -> Any:
        """The value so many standard deviations from its median, under its prior.

        The value is the median, and a range holds 80%: its ends are the 10% and 90% points of a
        normal variable that is stretched differently on either side of the value, in logarithms
        where the range does not begin at zero. Below zero there is nothing.

        Args:
            score: of the standard normal distribution, a number or an array [1].
        """
        return moved(float(self.value.low), float(self.value.value), float(self.value.high), score)


def moved(low: float, median: float, high: float, score: Any) -> Any:
    """What stands so many standard deviations from its median; see :meth:`Knob.at`.

    Args:
        low, median, high: of its range.
        score: of the standard normal distribution, a number or an array [1].
    """
    above, far = score > 0, abs(score) / NORMAL_90
    end = high * above + low * (1 - above)
    if low > 0:
        return median * (end / median) ** far
    stretched = median + (end - median) * far
    return (stretched + abs(stretched)) / 2


def by_dtype(scenario: Scenario, priors: Any) -> list[Knob]:
    """What matmuls reach and take: one knob per dtype, which moves all classes that multiply it.

    Args:
        scenario: the deployment.
        priors: of its class of cards.
    """
    dtypes = scenario.multiplied
    knobs: list[Knob] = []
    for dtype in dict.fromkeys(dtypes[name] for name in CLASSES):
        for table, members in (("gemm_efficiency", DENSE),
                               ("grouped_gemm_efficiency", ("routed_expert",))):
            if symbols := _symbols("gemm_efficiency", dtype, dtypes, members):
                value = efficiency(getattr(priors, table), dtype, scenario.device)
                knobs.append(Knob(f"{table}.{dtype}", value, symbols))
        for table in (*LATENCIES, *TRAFFIC):
            symbols = _symbols(table, dtype, dtypes)
            key, values = f"{table}.{dtype}", getattr(priors, table)
            # rows of another dtype may not be quantised at all
            prior = (getattr(values, dtype, None) or scenario.mechanisms.get(key)
                     if table in TRAFFIC else latency(values, dtype))
            if symbols and prior:
                knobs.append(Knob(key, prior, symbols))
    dtype = dtypes["routed_expert"]
    value = (getattr(priors.sliced_gemm_efficiency, dtype, None)
             or efficiency(priors.grouped_gemm_efficiency, dtype, scenario.device))
    return [*knobs, Knob(f"sliced_gemm_efficiency.{dtype}", value,
                         ("sliced_expert_gemm_efficiency",))]


def _symbols(table: str, dtype: str, dtypes: Mapping[str, str], members: Sequence[str] = DENSE
             ) -> tuple[str, ...]:
    """Input symbols that a table moves, of the classes of tensors that multiply a dtype."""
    return tuple(f"{name}_{table}" for name in members if dtypes[name] == dtype)


STORED = ("attention", "dense_mlp", "shared_expert", "routed_expert")
SPARSE_SHARE, SPARSE_PREFILL = "sparse_attention_efficiency", "sparse_prefill_efficiency"
WIDE_BITS = 16
MULTIPLY_ADD = 2
# mechanisms of a device that names none
USUAL = {"npu": "ascend-910b", "gpu": "nvidia-hopper"}
# what is multiplied -> what is dispatched for it, scales included
DISPATCHED = {"fp8": "fp8-row128", "fp4": "fp8-row128", "int8": "int8"}
STORAGE_LINK = "nvme-gen4"  # where weights are read from, unless said otherwise
HOST_LINK = "pcie-4-x16"  # between a card and its host, unless the device says otherwise
PIPELINED = ("pipelined_alpha", "pipelined_efficiency", "gather_step_alpha", "gather_bulk_alpha",
             "gather_bulk_efficiency")  # of a library's collectives
# what collectives take as any exchange does, where no more is known of them
ALL_ALIKE = {"second_round_alpha": "collective_alpha", "gather_alpha": "collective_alpha",
             "gather_efficiency": "collective_efficiency"}
# of which other mechanism one takes the value, where it has none: prompts of sparse attention too
FOLLOWING = ALL_ALIKE | {SPARSE_PREFILL: SPARSE_SHARE}
EXCHANGE_TIMES = ("exchange_expert_time", "exchange_token_time")
OF_LATENT = ("latent_core_latency", "latent_core_fill")  # of MLA's decode core
SPARSE_FILL = "sparse_core_fill"  # of compressed entries: elsewhere fitted with the rest
HYPER, INDEX = "hyper_operators", "index_workspace_rows"
SPARSE = ("sparse_tile_rows", "index_efficiency", "selection_traffic")  # of models with an indexer
# where nothing is said of slices: what is said of whole experts; of experts: what of any matmul
ELSE = {"sliced_gemm_efficiency": "grouped_gemm_efficiency",
        "sliced_streaming_efficiency": "expert_streaming_efficiency",
        "expert_tile_rows": "gemm_tile_rows", "expert_load_overlap": "load_overlap",
        "sliced_expert_latency": "routed_expert_latency",
        "sliced_row_traffic": "expert_row_traffic", "sliced_tile_growth": "expert_tile_growth",
        "largest_sliced_tile": "largest_expert_tile",
        "host_vector_efficiency": "host_gemm_efficiency"}
# latencies of laws -> the part whose kernels they time, and how many: where no law is known, none.
# Of a core its splits and what joins them; of experts two kernels that sort the rows, two matmuls,
# the gate between them, the weighted sum
OF_LAW = {("latent_core_latency",): ("attention", 2),
          ("routed_expert_latency", "sliced_expert_latency"): ("routed_expert", 6)}
# knobs where they are stated
STATED = ("host_overlap", "storage_bandwidth", "score_traffic", "attention_operators")
COMPUTING = ("host_stream_efficiency", "host_gemm_efficiency", "host_sync")  # experts on the host
OF_VECTORS = {"host_gemm_efficiency": "host_vector_efficiency"}  # of blocks of few bits
FETCHING = ("host_stream_efficiency", "host_link_efficiency")  # experts out of its memory


def mechanisms_name(device: Device) -> str:
    """The mechanisms of an accelerator: those that it names, else the usual ones of its type."""
    return device.mechanisms or USUAL[device.type]


def priors_of(device: Device) -> Any:
    """The entry that :func:`mechanisms_name` names."""
    return library.load("mechanisms", mechanisms_name(device))


def knobs(scenario: Scenario) -> list[Knob]:
    """The mechanisms of a deployment: of its device, of its host where experts run on it.

    What the scenario states of one takes the place of the prior; what it states of whole experts
    also that of slices, and what of all matmuls that of experts. What its engine does comes between
    the two.

    Raises ParamsError, via the catalogue, if a named entry does not exist.
    """
    stated, mechanisms, result = scenario.file.mechanisms, scenario.mechanisms, _priors(scenario)
    given = {name: value for name, value in scenario.given.items() if name != NETWORK_ALPHA}
    named = {knob.name for knob in result}
    result += _alone({name: mechanisms.get(name) or stated.get(_else(name))
                     for name in _if_stated(scenario.model) if name not in named})
    moved = {knob.name for knob in result}
    follow = {name: tuple(key for key, of in FOLLOWING.items() if of == name and key not in moved)
              for name in FOLLOWING.values()}
    return [Knob(name, stated.get(name) or stated.get(_else(name)) or given.get(name) or value,
                 symbols + follow.get(name, ())) for name, value, symbols in result]


def unstated(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    """Symbols of mechanisms that may have no value unless a deployment states one, by name."""
    dtypes = scenario.multiplied
    return {name: (name,) for name in (*_if_stated(scenario.model), *EXCHANGE_TIMES)} | {
        f"{table}.{dtype}": _symbols(table, dtype, dtypes)
        for table in TRAFFIC for dtype in {dtypes[name] for name in DENSE}}


def _if_stated(model: Model) -> list[str]:
    """Mechanisms that a deployment of a model has where somebody states them."""
    lacking = _lacking(model)
    return [name for name in (*STATED, *IF_KNOWN) if name not in lacking]


def _lacking(model: Model) -> tuple[str, ...]:
    """Mechanisms of what the architecture does not have."""
    latent = {"mla": (), CSA: OF_LATENT[1:]}  # rows of a token have a time of their own
    return (latent.get(model.attention, OF_LATENT)
            + (() if model.hc_mult else (HYPER,))
            + (() if model.linear_layers else ("linear_chunk_tokens",))
            + (() if model.index_topk else (INDEX,))
            + (() if model.attention == CSA else (SPARSE_FILL,)))


@cache
def _else(name: str) -> str:
    """The mechanism whose value holds where a scenario states none of this one."""
    table, *dtype = name.split(".")
    return ".".join([ELSE.get(table, table), *dtype])


def _priors(scenario: Scenario) -> list[Knob]:
    """The mechanisms of a deployment with the values of its device and host."""
    model, cut, offload = scenario.model, scenario.file.parallelism, scenario.file.offload
    priors = priors_of(scenario.device)
    without = {*_lacking(model), *(() if model.index_topk else (*SPARSE, SPARSE_PREFILL))}
    if cut.data_parallel.value == 1 or _switched(scenario, "separate_pools"):
        without.add("kv_imbalance")  # no prompts between
    if cut.balancing != "periodic":
        without.add("placement_residual")
    if model.attention != "mla":
        without.add("absorbed_copies")
    narrow = widened_experts(priors, scenario.precision, scenario.multiplied)
    of: dict[str, Value | None] = {
        key: narrow.get(key) or getattr(priors, key) or getattr(priors, ELSE[key])
        for key in (*OF_EVERY, *narrow) if key not in without}
    of |= {key: getattr(priors, key) or getattr(priors, ELSE.get(key, key))
           for key in IF_KNOWN if key not in without and key not in narrow}
    of |= scenario.acceptance
    result = [*_alone(of), *by_dtype(scenario, priors)]
    of = {}
    if model.index_topk:
        cached = library.load("formats", scenario.precision.kv_cache).bits.value
        table = priors.sparse_attention_efficiency
        of[SPARSE_SHARE] = table.wide if cached >= WIDE_BITS else table.narrow
    mode = "normal" if _switched(scenario, "exchange_normal") else "low_latency"
    exchange = getattr(priors.all_to_all, mode)
    of |= exchange_latencies(scenario, exchange, mode, cut.expert_parallel.value)
    of |= {"exchange_efficiency": exchange.node.efficiency,
           "exchange_network_efficiency": exchange.network.efficiency}
    of |= {name: getattr(exchange.node, name.removeprefix("exchange_"))
           or scenario.mechanisms.get(name) for name in EXCHANGE_TIMES}
    # a gather keeps no room for copies
    if model.is_moe and not _switched(scenario, "exchange_gathered"):
        of["exchange_buffer_tokens"] = exchange.buffer_tokens
    result += _alone(of)
    if offload and scenario.host and scenario.host.mechanisms:
        priors = library.load("mechanisms", scenario.host.mechanisms)
        shares = OF_VECTORS if on_vectors(offload.format) else {}
        result += [Knob(name, getattr(priors, name) or getattr(priors, key), (key,))
                  for key in (FETCHING if offload.fetched else COMPUTING)
                  for name in [shares.get(key, key)]]
    return result + _fetching(scenario) + _undescribed_links(scenario)


def _undescribed_links(scenario: Scenario) -> list[Knob]:
    """Rates of links of which nothing is known but what is usual, in their wide ranges."""
    node, result = scenario.node, []
    for name, moved_with in (("device_link", ("pair_bandwidth",)), ("network_link", ())):
        rate = library.load("links", getattr(node, name)).device_bandwidth
        if rate.source == USUAL_SOURCE and (moved_with or scenario.file.cluster.nodes.value > 1):
            symbol = f"{name}_bandwidth" if moved_with else "network_bandwidth"
            result.append(Knob(symbol, rate, (symbol, *moved_with)))
    return result


def _alone(values: Mapping[str, Value | None]) -> list[Knob]:
    """Mechanisms that move the input of their own name alone, those that have a value."""
    return [Knob(name, value, (name,)) for name, value in values.items() if value is not None]


def _switched(scenario: Scenario, name: str) -> bool:
    """Whether a deployment states one of the switches and does not set it to 0."""
    switch = scenario.mechanisms.get(name)
    return switch is not None and bool(switch.value)


def _fetching(scenario: Scenario) -> list[Knob]:
    """Where a chosen expert is found, for experts that are fetched: at random, unless stated."""
    offload = scenario.file.offload
    if offload is None or not offload.fetched:
        return []
    values: dict[str, Value | None] = {
        "device_hit_share": _hit_share(1 - offload.routed_experts.value)}
    if stored := _stored(offload):
        values |= {"host_hit_share": _hit_share(1 - stored),
                   "storage_bandwidth": library.load("links", STORAGE_LINK).device_bandwidth}
    return _alone(values)


def _stored(offload: Offload) -> float:
    """Share of the experts that are not on the cards that is on storage [1]."""
    return offload.on_storage.value / offload.routed_experts.value if offload.on_storage else 0.0


def _hit_share(share: float) -> Value:
    """Share of the chosen experts that a level has, if it keeps a share of them all.

    The same share, if what is kept has nothing to do with what is chosen. If the most popular are
    kept, at most what a single token finds there, where popularity is exponentially distributed:
    notebooks/latency.md, section Experts that are fetched.
    """
    most = share * (1 - math.log(share)) if share > 0 else 0.0
    return Value(share, "1", f"{share:.4g}", "arithmetic", "assumed", share, most)


def _operators(scenario: Scenario, mechanisms: Collection[Knob]) -> dict[str, float]:
    """Kernels of the parts of a layer, those of them that laws time, and the kernels of the layer
    that ``operators_per_layer`` is of [1]."""
    counted = priors_of(scenario.device).operators
    if counted is None:
        return {}
    counts = {"reference_operators": counted.reference}
    for part, (kernels, timed) in counted.by_part(scenario.model.attention).items():
        counts |= {f"{part}_operators": kernels, f"{part}_timed_operators": float(timed)}
    of_laws = {name for law in OF_LAW for name in law}
    if of_laws & scenario.file.mechanisms.keys():  # a deployment states a time, and no law
        mechanisms = _priors(scenario)
    given_names = {knob.name for knob in mechanisms} | scenario.given.keys()
    for law, (part, kernels) in OF_LAW.items():
        if counts[f"{part}_timed_operators"] and not given_names & set(law):
            counts[f"{part}_timed_operators"] -= kernels
    return counts


def peak_problem(scenario: Scenario) -> tuple[str, str] | None:
    """Why no time can be told, if a peak is not stated: key of the deployment, and a clause."""
    host, offload = scenario.host, scenario.file.offload
    if offload and host and not offload.fetched and not host_peaks(host, offload.format):
        return "offload", (f"'{host.id}' computes the experts and states no peak of "
                           f"{', '.join(HOST_DTYPES[:-1])} or {HOST_DTYPES[-1]}")
    return None


def physics_inputs(scenario: Scenario, mechanisms: tuple[Knob, ...]) -> dict[str, float]:
    """Inputs of the physics that are not of model, precision, parallelism or workload (SI)."""
    file, workload = scenario.file, scenario.file.workload
    nodes = file.cluster.nodes.value
    inputs: dict[str, float] = (
        dict(neutral()) | compute_inputs(scenario) | link_inputs(scenario.node, nodes)
        | host_inputs(scenario) | _operators(scenario, mechanisms))
    for knob in mechanisms:
        for name in knob.symbols:
            inputs[name] = knob.value.value
    switches = inputs_of("switch")
    inputs |= {name: value.value for name, value in scenario.mechanisms.items() if name in switches}
    inputs |= {"balanced_placement": int(file.parallelism.balancing == "periodic"),
              "even_routing": int(file.parallelism.balancing == "ideal")}
    stated = {"bench_requests": workload.requests, "accepted_length": workload.length_accepted}
    inputs |= {name: value.value for name, value in stated.items() if value}
    inputs |= drafter_inputs(scenario)
    if workload.host_cache:
        cards, of_server = file.cluster.devices, scenario.node.devices_per_node.value
        inputs["host_cache_memory"] = workload.host_cache.value / min(
            cards.value if cards else of_server, of_server)
    if workload.output_tokens is not None:
        both = float(workload.length_variation.value if workload.length_variation
                     else workload.length_distribution == "exponential")
        inputs["prompt_variation"], inputs["answer_variation"] = scenario.variations or (both, both)
    return inputs


def drafter_inputs(scenario: Scenario) -> dict[str, float]:
    """Shapes of the drafter that a deployment names, and its block; nothing of none [1]."""
    drafter = scenario.drafter
    if drafter is None:
        return {}
    inputs = {"draft_block": drafter.draft_block.value} if drafter.draft_block else {}
    if drafter.layers is not None:
        return inputs | {"num_nextn_predict_layers": drafter.layers.value}
    names = ("parameters", "whole_parameters", "vocab_size")
    inputs |= {f"drafter_{name}": getattr(drafter, name).value for name in names}
    head = 0 if drafter.shares_head else (
        inputs["drafter_vocab_size"] * scenario.model.hidden_size.value)
    return inputs | {"drafter_head_parameters": head}


def drafter_problem(scenario: Scenario) -> str | None:
    """Why a deployment cannot draft as it says, a clause; None where it can."""
    method, drafters = scenario.file.workload.draft_method, scenario.model.drafters
    if method is None or method in drafters:
        return None
    return (f"no drafter '{method}' of '{scenario.model.id}' is known, expected "
            + (" or ".join(drafters) + ", or nothing" if drafters else "nothing")
            + " for its own layer")


def compute_inputs(scenario: Scenario) -> dict[str, float]:
    """Peaks, formats and bandwidths of the card (SI), and how its steps are filled."""
    device, dtypes = scenario.device, scenario.multiplied
    inputs = {f"{name}_peak": getattr(device.matrix_peak, dtype).value
             for name, dtype in dtypes.items()}
    wider = widened(scenario.precision, dtypes)
    # an all-to-all quantises where experts multiply 8 bits or fewer; gathered activations stay wide
    narrow = None if _switched(scenario, "exchange_gathered") else DISPATCHED.get(
        dtypes["routed_expert"])
    dispatched = library.load("formats", narrow or scenario.precision.activation)
    inputs |= {f"{name}_dequantised": float(wider[name]) for name in STORED}
    return inputs | {
        "multiply_add_flops": MULTIPLY_ADD,
        "l2_bandwidth": (device.l2_bandwidth or device.memory_bandwidth).value,
        "dispatch_element_bytes": dispatched.bytes_per_element,
        "captured": float(bool(scenario.file.graphs)),
        "mixed_steps": float(scenario.file.scheduling == "mixed"),
        "open_arrivals": float(scenario.file.workload.arrivals == "poisson"),
        "prefill_delay_steps": scenario.delay_steps,
        "storage_bandwidth": library.load("links", STORAGE_LINK).device_bandwidth.value,
        "host_link_bandwidth": (scenario.device.host_bandwidth or library.load(
            "links", HOST_LINK).device_bandwidth).value,
    }


def host_inputs(scenario: Scenario) -> dict[str, float]:
    """What a host processor holds and computes of the experts (SI); nothing without an offload."""
    offload, host = scenario.file.offload, scenario.host
    if offload is None or host is None:
        return {}
    share = offload.routed_experts.value
    peaks = host_peaks(host, offload.format)  # one that only holds experts needs none
    peak = {"host_peak": offload.hosts.value * max(peaks)} if peaks else {}
    return peak | {
        "offloaded_share": 0 if offload.fetched else share,
        "fetched_share": share if offload.fetched else 0, "stored_share": _stored(offload),
        "offloaded_weight_bytes": library.load("formats", offload.format).bytes_per_element,
        "host_memory_bandwidth": offload.hosts.value * host.memory_bandwidth.value,
        "host_group_tokens": offload.group_tokens.value if offload.group_tokens else 0,
    }


OVERRIDABLE = ("prior", "switch")  # kinds of inputs that a scenario's mechanisms may state
BY_DTYPE = ("gemm_efficiency", "grouped_gemm_efficiency", "sliced_gemm_efficiency")
SHARED_RANKS, SLICES = "shared_expert_ranks", "expert_tensor_parallel"
SHARED_CACHE = "decode_context_parallel"
DEGREES = ("tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel")

# of the layer that drafts, what its table is asked for, where no text is stated
ACCEPTED = {"mtp_acceptance": "any", "acceptance_decay": "decay"}
DELAY_STEPS = 30  # SGLang's prefill_delayer_max_delay_passes
GATHERED = "exchange_gathered"  # the mechanism that says that ranks gather all tokens
NORMAL = "exchange_normal"  # the mechanism that says that a token goes once to each node
USUAL_DRAFTS = "next-token-layer"  # of a model that names none


def leaves_replica(tensor: Any, expert: Any, slices: Any) -> Any:
    """Whether more ranks share experts than a replica has: its tokens go beyond it.

    Args:
        tensor, expert: parallel sizes, numbers or arrays [1].
        slices: of each routed expert; 0 is what tensor parallelism leaves.
    """
    return expert * (slices + (slices == 0)) > tensor


def joined_replicas(tensor: Any, expert: Any, slices: Any) -> Any:
    """Replicas of attention that share experts, and are one server [1].

    >>> joined_replicas(8, 32, 0), joined_replicas(8, 4, 0), joined_replicas(8, 4, 8)
    (4, 1, 4)

    Args:
        tensor, expert, slices: as of :func:`leaves_replica`.
    """
    replicas = expert * (slices + (slices == 0)) // tensor
    return replicas + (replicas < 1)


def expert_slices(numbers: Mapping[str, float], tensor: int, expert: int) -> int:
    """Slices of each routed expert [1]: those asked for, or what tensor parallelism leaves.

    >>> expert_slices({}, 8, 2), expert_slices({"expert_tensor_parallel": 8}, 1, 1)
    (4, 8)

    Args:
        numbers: input symbols, ``expert_tensor_parallel`` is 0 or absent where nothing is asked.
        tensor, expert: parallel sizes.
    """
    return int(numbers.get(SLICES, 0)) or max(1, tensor // expert)


def link_problem(node: Node, link: Link) -> str | None:
    """Why the devices of a node cannot all reach each other over their links; None if they can.

    In a full mesh, and with links from point to point, a device reaches as many others as it has
    links; a switch reaches all.

    Args:
        node: an entry of ``params/nodes/``.
        link: the one that it names as ``device_link``.
    """
    if link.topology == "switch":
        return None
    links = link.links_per_device.value if link.links_per_device else 1
    devices = node.devices_per_node.value
    if devices <= links + 1:
        return None
    return (f"'{node.id}' has {devices} devices, but with {links} "
            f"link{'s' if links > 1 else ''} of '{link.id}' ({link.topology}) a device reaches "
            f"only {links} other{'s' if links > 1 else ''}")


@functools.cache
def mechanism_units() -> dict[str, Unit]:
    """Every name that a scenario's ``mechanisms`` may have, and what its value may be."""
    rules = {name: rule_of(Acceptance, field) for name, field in ACCEPTED.items()}
    for tables, kind in ((BY_DTYPE, ShareByDtype), (LATENCIES, TimeByDtype),
                         (TRAFFIC, BytesByDtype)):
        rules |= {f"{table}.{dtype}": rule_of(kind, dtype)
                  for table in tables for dtype in kind.model_fields}
    # of exchanges, a host, an engine: what files of mechanisms have in groups or leave out
    rules |= {name: symbol.rule for name, symbol in symbols().items()
              if symbol.kind in OVERRIDABLE and name not in rules}
    rules["host_vector_efficiency"] = rule_of(Mechanisms, "host_vector_efficiency")
    return {name: rule for name, rule in rules.items() if rule is not None}


def rule_of(cls: type[Entry], name: str) -> Unit | None:
    """The annotation of an entry's field that says which quantities it takes; None of others."""
    field = cls.model_fields.get(name)
    return None if field is None else annotated(field, Unit)


def range_problems(stated: Any) -> Iterator[tuple[str, str]]:
    """Yield the ``mechanisms`` of a file that are out of range as written, with the reason."""
    rules = mechanism_units()
    for name, written in stated.items() if isinstance(stated, dict) else ():
        if name in rules and isinstance(written, (str, int)):
            try:
                si_number(written, rules[name])
            except ValueError as error:
                yield name, f"{name}: {error}"


def mechanism_problems(stated: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """What is wrong with a scenario's ``mechanisms``, with the key at fault.

    Args:
        stated: values by name.
    """
    rules = mechanism_units()
    for name, value in stated.items():
        rule = rules.get(name)
        if rule is None:
            section, _, meant = (key_meant(name) or "").partition(".")
            near = [meant] if section == "mechanisms" else nearest_names(name, rules, 1)
            hint = f"did you mean '{near[0]}'" if near else "the nearest names are " + ", ".join(
                nearest_names(name, rules, cutoff=0.0))
            yield name, f"there is no mechanism '{name[:60]}', {hint}"
        elif units.dimensions(value.unit) != units.dimensions(rule.unit):
            yield name, (f"'{value.written}' has the wrong unit for '{name}', expected "
                         f"{units.quantity(rule.unit)}")
        else:
            try:
                si_number(value.written, rule)
                for end in (value.low, value.high):
                    si_number(end, replace(rule, unit="1", integer=False, plausible=None))
            except ValueError as error:
                yield name, f"{name}: {error}"
