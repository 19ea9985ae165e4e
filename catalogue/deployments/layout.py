"""What a deployment may state of its layout: degrees, links that reach, known mechanisms.

Each rule is told in words without the file it stands in; ``catalogue.deployments.loading`` adds
file and line.
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalogue.deployments.physics_inputs import LATENCIES, TRAFFIC
from catalogue.entries.entry import Entry
from catalogue.entries.formulas import symbols
from catalogue.entries.mechanisms import BytesByDtype, Mechanisms, ShareByDtype, TimeByDtype
from catalogue.entries.models import Acceptance
from catalogue.reading import units
from catalogue.reading.values import Unit, Value, annotated, si_number

if TYPE_CHECKING:
    from catalogue.entries.hardware import Link, Node

STATED = ("prior", "switch")  # kinds of inputs that a scenario's mechanisms may state
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
              if symbol.kind in STATED and name not in rules}
    rules["host_vector_efficiency"] = rule_of(Mechanisms, "host_vector_efficiency")
    return {name: rule for name, rule in rules.items() if rule is not None}


def rule_of(cls: type[Entry], name: str) -> Unit | None:
    """The annotation of an entry's field that says which quantities it takes; None of others."""
    field = cls.model_fields.get(name)
    return None if field is None else annotated(field, Unit)


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
        else:
            try:
                si_number(value.written, rule)
                for end in (value.low, value.high):
                    si_number(end, replace(rule, unit="1", integer=False, plausible=None))
            except ValueError as error:
                yield name, f"{name}: {error}"
