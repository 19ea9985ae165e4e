"""Whether a deployment can be laid out: cuts that divide, links that reach, known mechanisms.

Each rule is told in words without the file it stands in; ``catalogue.deployments.loading`` adds
file and line.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from catalogue.deployments.physics_inputs import LATENCIES, SCALARS
from catalogue.deployments.resolved import ACCEPTED
from catalogue.entries.entry import Entry
from catalogue.entries.mechanisms import Mechanisms, ShareByDtype, TimeByDtype
from catalogue.entries.models import Acceptance
from catalogue.reading import units
from catalogue.reading.values import Unit, Value

if TYPE_CHECKING:
    from catalogue.entries.hardware import Link, Node

FLAGS = ("exchange_normal", "exchange_gathered", "separate_pools", "prefill_together",
         "activations_in_share", "window_blocks_freed", "whole_selection",
         "context_all_to_all", "unequal_streams", "single_batch_overlap")  # 0 or 1
OTHERS = {  # of exchanges and of a host, which the priors have in groups or leave out
    "exchange_alpha": Unit("s", exclusive=False), "exchange_efficiency": Unit("1", maximum=1),
    "exchange_network_alpha": Unit("s", exclusive=False),
    "exchange_network_efficiency": Unit("1", maximum=1),
    "exchange_buffer_tokens": Unit("token", exclusive=False),  # 0: a library without buffers
    "host_stream_efficiency": Unit("1", maximum=1), "host_gemm_efficiency": Unit("1", maximum=1),
    "host_vector_efficiency": Unit("1", maximum=1),
    "score_traffic": Unit("B", exclusive=False),
    "host_sync": Unit("s", exclusive=False), "host_overlap": Unit("1", exclusive=False, maximum=1),
    "host_link_efficiency": Unit("1", maximum=1), "storage_bandwidth": Unit("B/s"),
    "device_hit_share": Unit("1", exclusive=False, maximum=1),
    "host_hit_share": Unit("1", exclusive=False, maximum=1),
    "micro_batches": Unit("1", minimum=1, exclusive=False, maximum=2, integer=True),
    "prefix_hit_share": Unit("1", exclusive=False, maximum=1),
    "dense_prefill_tokens": Unit("token", exclusive=False),
    "largest_graph": Unit("token"),
    "sparse_attention_efficiency": Unit("1", maximum=1),
    **{name: Unit("1", exclusive=False, maximum=1, integer=True) for name in FLAGS},
}
BY_DTYPE = ("gemm_efficiency", "grouped_gemm_efficiency", "sliced_gemm_efficiency")
SHARED_RANKS, SLICES = "shared_expert_ranks", "expert_tensor_parallel"
DEGREES = ("tensor_parallel", "pipeline_parallel", "data_parallel", "expert_parallel")


def expert_slices(numbers: Mapping[str, float], tensor: int, expert: int) -> int:
    """Slices of each routed expert [1]: those asked for, or what tensor parallelism leaves.

    >>> expert_slices({}, 8, 2), expert_slices({"expert_tensor_parallel": 8}, 1, 1)
    (4, 8)

    Args:
        numbers: input symbols, ``expert_tensor_parallel`` is 0 or absent where nothing is asked.
        tensor, expert: parallel sizes.
    """
    return int(numbers.get(SLICES, 0)) or max(1, tensor // expert)


def cut_problem(numbers: Mapping[str, float], attention: str, model: str,
                cut: tuple[int, int, int, int]) -> tuple[str, str] | None:
    """Why a model cannot be cut so, and which of the four degrees is at fault; None if it can.

    >>> shapes = {"num_attention_heads": 128, "intermediate_size": 18432, "num_hidden_layers": 61,
    ...           "num_key_value_heads": 128, "n_routed_experts": 256,
    ...           "moe_intermediate_size": 2048}
    >>> cut_problem(shapes, "mla", "r1", (8, 1, 2, 16))
    >>> cut_problem(shapes, "mla", "r1", (8, 1, 3, 24))[1][:66]
    "expert_parallel of 24 does not divide n_routed_experts 256 of 'r1'"

    Args:
        numbers: input symbols of the model.
        attention: ``mla`` or ``gqa``.
        model: what messages call it.
        cut: tensor, pipeline, data and expert parallel size; they need not fit a number of cards.
    """
    return next(_cut_problems(numbers, attention, model, cut), None)


def _cut_problems(numbers: Mapping[str, float], attention: str, model: str,
                  cut: tuple[int, int, int, int]) -> Iterator[tuple[str, str]]:
    tp, pp, dp, ep = cut

    def undivided(key: str, parts: int, name: str) -> Iterator[tuple[str, str]]:
        whole = int(numbers[name])
        if whole % parts:
            yield key, f"{key} of {parts} does not divide {name} {whole} of '{model}'"

    yield from undivided("tensor_parallel", tp, "num_attention_heads")
    yield from undivided("tensor_parallel", tp, "intermediate_size")
    heads, layers = int(numbers["num_key_value_heads"]), int(numbers["num_hidden_layers"])
    if attention == "gqa" and heads % tp and tp % heads:
        yield "tensor_parallel", (f"tensor_parallel of {tp} neither divides nor is a multiple of "
                                  f"num_key_value_heads {heads} of '{model}'")
    if pp > layers:
        yield "pipeline_parallel", (f"pipeline_parallel of {pp} exceeds the {layers} layers of "
                                    f"'{model}'")
    if not numbers["n_routed_experts"]:
        if ep > 1:
            yield "expert_parallel", f"'{model}' has no experts, expected 1"
        for key in ("redundant_experts", SHARED_RANKS):
            if numbers.get(key, 0):
                yield key, f"'{model}' has no experts, expected 0"
        if numbers.get(SLICES, 0):
            yield SLICES, f"'{model}' has no experts, expected none"
        return
    if numbers.get(SLICES, 0):
        yield from _slice_problems(numbers, cut)
    elif (tp * dp) % ep or (ep % tp and tp % ep):
        yield "expert_parallel", (
            f"expert_parallel of {ep} does not fit tensor x data parallel = {tp} x {dp}, expected "
            f"a divisor of {tp * dp} that divides {tp} or is a multiple of it")
    shared = int(numbers.get(SHARED_RANKS, 0))
    if shared:
        yield from _shared_problems(numbers, model, cut, shared)
    routed, copies = int(numbers["n_routed_experts"]), int(numbers.get("redundant_experts", 0))
    ranks = ep - shared
    if ranks > 0 and (routed + copies) % ranks:
        whole = f"n_routed_experts {routed} of '{model}'"
        if copies:
            whole = f"{routed} routed and {copies} redundant experts of '{model}'"
        less = f" less {SHARED_RANKS} of {shared}" if shared else ""
        yield "expert_parallel", (f"expert_parallel of {ep}{less} does not divide {whole}, "
                                  f"redundant_experts of {_copies(routed, copies, ranks)} would")
    yield from undivided(SLICES if numbers.get(SLICES, 0) else "tensor_parallel",
                         expert_slices(numbers, tp, ep), "moe_intermediate_size")


def _slice_problems(numbers: Mapping[str, float], cut: tuple[int, int, int, int],
                    ) -> Iterator[tuple[str, str]]:
    """Why experts cannot be cut into the slices that are asked for."""
    tp, _, dp, ep = cut
    slices = int(numbers[SLICES])
    group, said = ep * slices, f"{SLICES} of {slices}"
    if (tp * dp) % group or group % tp:
        yield SLICES, (
            f"{said} times expert_parallel of {ep} does not fit tensor x data parallel = {tp} x "
            f"{dp}, expected a product that divides {tp * dp} and is a multiple of {tp}")
    if slices > 1 and numbers.get(SHARED_RANKS, 0):
        yield SLICES, f"{said} with {SHARED_RANKS} is not derived, expected 1"
    if slices > 1 and group > tp and numbers.get("exchange_normal", 0):
        yield SLICES, (f"{said} over data-parallel ranks has all tokens gathered, expected 1 with "
                       "exchange_normal")


def _shared_problems(numbers: Mapping[str, float], model: str, cut: tuple[int, int, int, int],
                     shared: int) -> Iterator[tuple[str, str]]:
    """Why shared experts cannot have so many ranks of their own."""
    tp, _, _, ep = cut
    said = f"{SHARED_RANKS} of {shared}"
    if not numbers["n_shared_experts"]:
        yield SHARED_RANKS, f"'{model}' has no shared experts, expected 0"
    if shared >= ep:
        yield SHARED_RANKS, (f"{said} leaves no rank of expert_parallel {ep} to the routed "
                             f"experts, expected fewer than {ep}")
    if tp > 1:
        yield SHARED_RANKS, f"{said} with tensor_parallel of {tp} is not derived, expected 0"
    for mode in ("exchange_normal", "exchange_gathered"):
        if numbers.get(mode, 0):
            yield SHARED_RANKS, (f"{said} is reached by the low-latency exchange, "
                                 f"expected 0 with {mode}")


def _copies(routed: int, copies: int, ranks: int) -> int:
    """Fewest redundant experts, no fewer than are asked for, that can be dealt out evenly."""
    return -(-(routed + copies) // ranks) * ranks - routed


def context_problem(numbers: Mapping[str, float], attention: str, model: str, tensor: int,
                    shared: int) -> str | None:
    """Why the cache of a request cannot be dealt over so many ranks; None if it can.

    >>> latent = {"num_key_value_heads": 128, "index_topk": 0}
    >>> context_problem(latent, "mla", "r1", 8, 8)
    >>> context_problem(latent, "mla", "r1", 8, 3)
    'decode_context_parallel of 3 does not divide tensor_parallel 8'

    Args:
        numbers: input symbols of the model.
        attention: ``mla`` or ``gqa``.
        model: what messages call it.
        tensor: tensor-parallel size.
        shared: ranks that the cache is dealt over.
    """
    if shared == 1:
        return None
    key = f"decode_context_parallel of {shared}"
    if shared > tensor or tensor % shared:
        return (f"{key} {'exceeds' if shared > tensor else 'does not divide'} tensor_parallel "
                f"{tensor}")
    heads = int(numbers["num_key_value_heads"])
    copies = tensor if attention == "mla" else max(1, tensor // heads)
    if copies % shared:
        return (f"{key} needs as many copies of the cache, but of {heads} num_key_value_heads of "
                f"'{model}' {tensor} tensor-parallel ranks keep {copies}")
    if numbers["index_topk"]:
        return (f"{key} of a model with an indexer is not derived, expected 1 for '{model}'")
    return None


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
    rules = {name: rule_of(Mechanisms, name) for name in SCALARS}
    rules |= {name: rule_of(Acceptance, field) for name, field in ACCEPTED.items()}
    for tables, kind in ((BY_DTYPE, ShareByDtype), (LATENCIES, TimeByDtype)):
        rules |= {f"{table}.{dtype}": rule_of(kind, dtype)
                  for table in tables for dtype in kind.model_fields}
    return {name: rule for name, rule in rules.items() if rule is not None} | OTHERS


def rule_of(cls: type[Entry], name: str) -> Unit | None:
    """The annotation of an entry's field that says which quantities it takes; None of others."""
    field = cls.model_fields.get(name)
    if field is None:
        return None
    inside = [item for part in (field.annotation, *getattr(field.annotation, "__args__", ()))
              for item in getattr(part, "__metadata__", ())]
    return next((item for item in (*field.metadata, *inside) if isinstance(item, Unit)), None)


def mechanism_problems(stated: Mapping[str, Value]) -> Iterator[tuple[str, str]]:
    """What is wrong with a scenario's ``mechanisms``, with the key at fault.

    Args:
        stated: values by name.
    """
    rules = mechanism_units()
    for name, value in stated.items():
        rule = rules.get(name)
        if rule is None:
            near = difflib.get_close_matches(name, rules, n=1)
            hint = f"did you mean '{near[0]}'" if near else "expected a name of params/mechanisms/"
            yield name, f"there is no mechanism '{name[:60]}', {hint}"
        elif units.dimensions(value.unit) != units.dimensions(rule.unit):
            wanted = "a plain number" if rule.unit == "1" else f"a quantity in {rule.unit}"
            yield name, f"'{value.written}' has the wrong unit for '{name}', expected {wanted}"
        elif problem := _out_of_range(value, rule):
            yield name, f"'{value.written}' is out of range for '{name}', expected {problem}"


def _out_of_range(value: Value, rule: Unit) -> str | None:
    """What a number is expected to be that it is not."""
    if rule.integer and rule.maximum is None and value.value != int(value.value):
        return "a whole number"
    if rule.integer and rule.maximum is not None and value.value not in range(
            int(rule.minimum), int(rule.maximum) + 1):
        return f"{rule.minimum:g} or {rule.maximum:g}"
    for end in (value.low, value.high):
        if end < rule.minimum or (rule.exclusive and end == rule.minimum):
            return f"{'more than' if rule.exclusive else 'at least'} {rule.minimum:g}"
        if rule.maximum is not None and end > rule.maximum:
            return f"at most {rule.maximum:g}"
    return None

