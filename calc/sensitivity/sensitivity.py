"""Global sensitivity: how much of a quantity's variance each input explains, alone and in company.

Sobol' indices over the inputs' own priors, by Saltelli's design, from SALib. The first-order index
is the share of the variance that would go if the input were known; the total one is what would
be left if all others were. Both are of the logarithm where the quantity is positive.

Source: Saltelli et al., Variance based sensitivity analysis of model output (2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.many.processes import Told, silent
from calc.sensitivity.plans import Plan
from calc.sensitivity.sampling import priors, sample_quantity, scored
from catalogue import ParamsError

SAMPLES, LEAST, MOST = 1024, 64, 1 << 16  # of the design; a power of two
SEED = 11
BLOCK = 1 << 16  # rows of a design that are computed at once
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Index:
    """What one input explains of a quantity's variance.

    Attributes:
        name: of the input.
        first, total: the indices [1].
        first_error, total_error: half widths of their 95% confidence intervals [1].
    """

    name: str
    first: float
    total: float
    first_error: float
    total_error: float


@dataclass(frozen=True)
class Sensitivity:
    """The indices of a quantity, the largest total first.

    Attributes:
        indices: of every input that has a range.
        samples: of the design.
        evaluations: of the quantity.
        deviation: of the quantity's logarithm, or of what may be negative of itself.
        in_log: which of the two.
    """

    indices: tuple[Index, ...]
    samples: int
    evaluations: int
    deviation: float
    in_log: bool

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return vars(self) | {"indices": [vars(index) for index in self.indices]}


def sensitivity(plan: Plan, name: str, samples: int = SAMPLES, told: Told = silent
                ) -> Sensitivity:
    """First-order and total indices of every input of a plan; arguments as of
    :func:`sensitivities`.

    Raises ParamsError for a number of samples that is no power of two, or where nothing moves.
    """
    found, = sensitivities(plan, name, [samples], told)
    return found


def sensitivities(plan: Plan, name: str, sizes: Sequence[int], told: Told = silent
                  ) -> list[Sensitivity]:
    """The indices from designs of several sizes: a smaller one is the beginning of a larger.

    Args:
        plan: the deployment.
        name: of a quantity.
        sizes: samples of each design, powers of two; the quantity is computed so many times the
            number of inputs and two more.
        told: of how many rows of the largest design the quantity is computed.

    Interrupted, it gives the indices from the largest design whose rows are all computed.

    Raises ParamsError as :func:`sensitivity` does.
    """
    from SALib.sample import sobol as design

    for samples in sizes:
        if not LEAST <= samples <= MOST or samples & (samples - 1):
            raise ParamsError(f"--samples {samples}: expected a power of two from {LEAST} to "
                              f"{MOST}.")
    found = priors([plan], name)
    problem = {"num_vars": len(found.names), "names": list(found.names),
               "bounds": [[0.0, 1.0]] * len(found.names)}
    shares = design.sample(problem, max(sizes), calc_second_order=False, seed=SEED)
    scores, each, parts = scored(shares), len(found.names) + 2, list[np.ndarray]()
    try:
        for start in range(0, len(scores), BLOCK):
            told(name, start, len(scores))
            parts.append(sample_quantity(plan, found.knobs[0], found.own[0],
                                         scores[start:start + BLOCK], name))
    except KeyboardInterrupt:
        whole = sum(map(len, parts)) // each
        if whole < LEAST:
            raise
        sizes = [1 << (whole.bit_length() - 1)]
    values = np.concatenate(parts)
    return [_analysed(problem, values[:samples * each], samples, f"{name} of '{plan.scenario.id}'")
            for samples in sizes]


def _analysed(problem: dict[str, Any], values: np.ndarray, samples: int, what: str) -> Sensitivity:
    """The indices of a quantity from its values in a design, in the order of SALib."""
    from SALib.analyze import sobol as analysis  # imports pandas

    in_log = bool((values > 0).all())
    values = np.log(values) if in_log else values
    deviation = float(values.std())
    if not np.isfinite(deviation):
        raise ParamsError(f"--sensitivity: {what} has no value at the far ends of some range.")
    if not deviation:
        raise ParamsError(f"--sensitivity: no range of an input moves {what}.")
    said = analysis.analyze(problem, (values - values.mean()) / deviation,
                            calc_second_order=False, conf_level=CONFIDENCE, seed=SEED)
    rows = zip(problem["names"], said["S1"], said["ST"], said["S1_conf"], said["ST_conf"],
               strict=True)
    indices = [Index(label, *map(float, numbers)) for label, *numbers in rows]
    return Sensitivity(tuple(sorted(indices, key=lambda one: -one.total)), samples, len(values),
                       deviation, in_log)
