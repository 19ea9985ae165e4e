"""What of a step runs beside something else, and what a step takes longer that has more to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import sympy
from sympy import Min

from notebooks.derive.formulas.symbols import sym
from notebooks.derive.steps.phases import of


@dataclass(frozen=True)
class More:
    """What a step has to do besides, of all micro-batches; less where it is negative.

    Attributes:
        own: computation of the card, with that of experts [s].
        link: communication between cards [s].
        on_host: what the host computes or hands over [s].
        experts: of ``own``, that of routed experts [s].
        exchange: of ``link``, on the way to the experts and back [s].
        dispatch: of ``exchange``, on the way there [s].
    """

    own: sympy.Expr = sympy.S.Zero
    link: sympy.Expr = sympy.S.Zero
    on_host: sympy.Expr = sympy.S.Zero
    experts: sympy.Expr = sympy.S.Zero
    exchange: sympy.Expr = sympy.S.Zero
    dispatch: sympy.Expr = sympy.S.Zero


NOTHING = More()


def together(phase: str, names: Iterable[str]) -> sympy.Expr:
    """Times of these parts of a step, of all its micro-batches [s]."""
    return sym.micro_batches * sum(of(phase, f"{name}_time") for name in names)


def hidden(phase: str, more: More = NOTHING) -> sympy.Expr:
    """What runs beside something else: one micro-batch beside the other, host beside card [s].

    Args:
        phase: of ``PHASES``.
        more: what the step has to do besides.

    Source: notebooks/latency.md, sections Two micro-batches and One step.
    """
    there = together(phase, ("offload", "fetch"))
    link, on_host = of(phase, "communication_time") + more.link, there + more.on_host
    own = of(phase, "compute_time") - there - of(phase, "saved_time") + more.own
    at_experts = together(phase, ("router", "shared_expert", "routed_expert")) + more.experts
    exchange, dispatch = (together(phase, (name,)) + getattr(more, name)
                          for name in ("exchange", "dispatch"))
    # micro-batches take turns at the card, or one is at attention, the other at experts
    streams = Min(own, link, at_experts + exchange, own + link - at_experts - exchange)
    halves = sympy.Piecewise((streams, sym.unequal_streams > 0), (Min(own, link), True))
    shared, apart = together(phase, ("shared_expert",)), sym.shared_expert_ranks > 0
    ready = sympy.Piecewise((0, apart), (shared, True))  # without a token of others
    # of an expert's matrices, which have as many elements each
    last = (together(phase, ("routed_expert",)) + more.experts
            + sympy.Piecewise((shared, apart), (0, True))) / sym.mlp_matrices
    alone = sympy.Piecewise((Min(ready, dispatch) + Min(last, exchange - dispatch),
                             sym.single_batch_overlap > 0), (0, True))
    beside = together(phase, ("router", "routed_expert")) + more.experts
    between = sym.overlap_efficiency * sympy.Piecewise(
        (halves, sym.micro_batches > 1), (alone, True)) + Min(
            together(phase, ("second_stream",)), beside)
    return between + sym.host_overlap * Min(on_host, own + link - between)


def added(phase: str, more: More) -> sympy.Expr:
    """What the card takes longer for a step with more to do: less what of it is hidden [s].

    Args:
        phase: of ``PHASES``.
        more: what the step has to do besides.

    Source: notebooks/latency.md, section One step.
    """
    return (more.own + more.link + more.on_host
            - (hidden(phase, more) - of(phase, "hidden_time")))
