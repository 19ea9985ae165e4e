"""What a term is worth: the calibration refitted without it, on the same rows held out."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from calc.evidence.fitting import Calibration
from calc.evidence.protocols import Predict, Predictions, Split, by_split, calibrate, halves
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
    mechanism that is switched off is not fitted. There are no intervals.

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
    return {term: _held_out(system.with_inputs(inputs), [name for name in names
                                                         if name not in inputs], rows, seeds)
            for term, inputs in without.items()}


def _held_out(system: System, names: Sequence[str], rows: np.ndarray, seeds: int) -> Predictions:
    def held(split: Split, predict: Predict) -> tuple[Calibration, np.ndarray]:
        fitted, left_out = split
        calibration = calibrate(system, "tpot", names, fitted, predict)
        return calibration, predict("tpot", left_out, calibration.inputs)

    splits = list(itertools.islice(halves(system, rows), seeds))
    calibrations, found = zip(*by_split(system, splits, held), strict=True)
    row, centre = np.concatenate([left_out for _, left_out in splits]), np.concatenate(found)
    return Predictions(row, system.rows["tpot"][row], centre, centre, centre,
                       calibrations, tuple(range(seeds)))
