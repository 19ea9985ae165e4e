"""What a term is worth: the calibration refitted without it, on the same rows held out."""

from __future__ import annotations

from collections.abc import Sequence

from calc.evidence.protocols import Predictions, held_out
from calc.evidence.systems import System
from catalogue.entries.formulas import neutral

SEEDS = 40
STALL, POOLS = "stall", "separate_pools"  # with pools of their own no prompt stalls a decode
# a term -> the inputs that switch it off; without boundaries between kernels a path for one token
# has none to save
TERMS = {
    "dequantisation": ("dequantisation_traffic",), "single_token_path": ("single_token_path",),
    STALL: (POOLS,), "routing_skew": ("routing_skew",),
    "kernel_boundary": ("kernel_boundary", "single_token_path"), "host_gap": ("host_gap_per_step",),
}


def off(term: str) -> dict[str, float]:
    """The inputs (SI) with which a term does nothing.

    >>> off("kernel_boundary")
    {'kernel_boundary': 0.0, 'single_token_path': 0.0}

    Args:
        term: of ``TERMS``, or any input that ``params/symbols.yml`` gives a neutral value.
    """
    if term == STALL:
        return {POOLS: 1.0}
    return {name: float(neutral()[name]) for name in TERMS.get(term, (term,))}


def ablate(system: System, names: Sequence[str], seeds: int = SEEDS,
           terms: Sequence[str] = tuple(TERMS)) -> dict[str, Predictions]:
    """Time per output token, held out by random halves, with all terms and without each in turn.

    What is left of the mechanisms is fitted again, so that the others may take a term's place. A
    mechanism that is switched off is not fitted.

    Args:
        system: what was measured, a wave of equal requests.
        names: mechanisms that the calibration fits.
        seeds: how many halves, those of the seeds 0, 1, ... [1].
        terms: to leave out, each as :func:`off` takes it.

    Returns predictions by term; first those with all of them, under ``""``.

    Source: notebooks/validation.md, section Without one term.
    """
    rows = system.measured("tpot")
    without: dict[str, dict[str, float]] = {"": {}} | {term: off(term) for term in terms}
    return {term: held_out(system.with_inputs(inputs), "tpot", "halves", [
        name for name in names if name not in inputs], rows, most=seeds)
        for term, inputs in without.items()}
