"""Between what a step lies: no shorter than a resource alone, no longer than all in turn."""

from __future__ import annotations

import sympy

from notebooks.derive.formulas.symbols import sym, symbol
from notebooks.derive.steps.operators import CLASSES
from notebooks.derive.steps.phases import of


def alone(phase: str) -> dict[str, sympy.Expr]:
    """What each resource of a step takes at its full rate, the others endlessly fast [s].

    Bytes over the bandwidth and operations over the peaks, of the card that reads and multiplies
    them; what is sent; what the host computes or hands over, and launches. No efficiency, tile,
    boundary or fixed cost of a kernel is in it.

    Args:
        phase: one of ``PHASES``.
    """
    own = [cls for cls in CLASSES if cls != "shared_expert"]
    apart = sym.shared_expert_ranks > 0  # on other cards

    def both(of_own: sympy.Expr, of_shared: sympy.Expr) -> sympy.Expr:
        return sym.micro_batches * (of_own + sympy.Piecewise((0, apart), (of_shared, True)))

    def computed(cls: str) -> sympy.Expr:
        return of(phase, f"{cls}_flops") / symbol(f"{cls}_peak")

    moved = sum((of(phase, f"{cls}_bytes") for cls in own), of(phase, "vector_bytes"))
    shared = of(phase, "shared_expert_bytes")
    return {
        "memory": both(moved / sym.memory_bandwidth, shared / sym.memory_bandwidth),
        "arithmetic": both(sum(map(computed, own)), computed("shared_expert")),
        "links": of(phase, "communication_time"),
        "host": sym.micro_batches * (of(phase, "offload_time") + of(phase, "fetch_time")),
        "launches": of(phase, "host_time")}


def least(phase: str) -> sympy.Expr:
    """What no step is below [s]: its slowest resource, and the gap to the next step."""
    return sympy.Max(*alone(phase).values()) + _besides(phase)


def most(phase: str) -> sympy.Expr:
    """What no step is above [s]: card, links and launches one after the other, and the gap."""
    return (of(phase, "compute_time") + of(phase, "communication_time")
            + of(phase, "host_time") + _besides(phase))


def _besides(phase: str) -> sympy.Expr:
    """The gap, and the pass of prompts through a layer that drafts [s]."""
    drafted = 0 if phase == "decode" else sympy.Piecewise(
        (of(phase, "draft_pass_time"), sym.draft_tokens > 0), (0, True))
    return sym.host_gap_per_step + drafted
