"""What a deployment may state of its layout: degrees, links that reach, known mechanisms.

Each rule is told in words without the file it stands in; ``catalogue.deployments.loading`` adds
file and line.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from catalogue.deployments.knobs import LATENCIES, TRAFFIC
from catalogue.deployments.physics_inputs import IF_KNOWN, SCALARS
from catalogue.deployments.resolved import ACCEPTED
from catalogue.entries.entry import Entry
from catalogue.entries.mechanisms import BytesByDtype, Mechanisms, ShareByDtype, TimeByDtype
from catalogue.entries.models import Acceptance
from catalogue.reading import units
from catalogue.reading.values import Unit, Value

if TYPE_CHECKING:
    from catalogue.entries.hardware import Link, Node

FLAGS = ("exchange_normal", "exchange_gathered", "separate_pools", "prefill_together",
         "activations_in_share", "share_of_left", "window_blocks_freed", "whole_selection",
         "context_all_to_all", "unequal_streams", "single_batch_overlap",
         "first_token_held")  # 0 or 1
OTHERS = {  # of exchanges and of a host, which the priors have in groups or leave out
    "exchange_alpha": Unit("s", exclusive=False), "exchange_efficiency": Unit("1", maximum=1),
    "exchange_network_alpha": Unit("s", exclusive=False),
    "exchange_network_efficiency": Unit("1", maximum=1),
    "exchange_expert_time": Unit("s", exclusive=False),
    "exchange_token_time": Unit("s/token", exclusive=False),
    "exchange_buffer_tokens": Unit("token", exclusive=False),  # 0: a library without buffers
    "host_stream_efficiency": Unit("1", maximum=1), "host_gemm_efficiency": Unit("1", maximum=1),
    "host_vector_efficiency": Unit("1", maximum=1),
    "routed_expert_latency": Unit("s", exclusive=False),
    "score_traffic": Unit("B", exclusive=False),
    "attention_operators": Unit("1"),  # of an engine; those of a card are counted in a group
    "host_sync": Unit("s", exclusive=False), "host_overlap": Unit("1", exclusive=False, maximum=1),
    "host_link_efficiency": Unit("1", maximum=1), "storage_bandwidth": Unit("B/s"),
    "device_hit_share": Unit("1", exclusive=False, maximum=1),
    "host_hit_share": Unit("1", exclusive=False, maximum=1),
    "micro_batches": Unit("1", minimum=1, exclusive=False, maximum=2, integer=True),
    "prefix_hit_share": Unit("1", exclusive=False, maximum=1),
    "dense_prefill_tokens": Unit("token", exclusive=False),
    "absorbed_prefix_tokens": Unit("token", exclusive=False),
    "largest_graph": Unit("token"),
    "steps_ahead": Unit("1", exclusive=False, integer=True),
    "sparse_attention_efficiency": Unit("1", maximum=1),
    "sparse_prefill_efficiency": Unit("1", maximum=1),
    **{name: Unit("1", exclusive=False, maximum=1, integer=True) for name in FLAGS},
}
BY_DTYPE = ("gemm_efficiency", "grouped_gemm_efficiency", "sliced_gemm_efficiency")
SHARED_RANKS, SLICES = "shared_expert_ranks", "expert_tensor_parallel"
SHARED_CACHE = "decode_context_parallel"
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
    rules = {name: rule_of(Mechanisms, name) for name in (*SCALARS, *IF_KNOWN)}
    rules |= {name: rule_of(Acceptance, field) for name, field in ACCEPTED.items()}
    for tables, kind in ((BY_DTYPE, ShareByDtype), (LATENCIES, TimeByDtype),
                         (TRAFFIC, BytesByDtype)):
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

