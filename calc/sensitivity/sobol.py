"""Inputs of plans drawn from their priors, and global sensitivity: Sobol' indices.

The first-order index of an input is the share of the variance that would go if the input were
known; the total one is what would be left if all others were. Both are of the logarithm where the
quantity is positive, by Saltelli's design, from SciPy.

Source: Saltelli et al., Variance based sensitivity analysis of model output (2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from calc.many.processes import OnProgress, silent
from calc.sensitivity.plans import Moves, Plan
from calc.sensitivity.tornado import OWN, own_error, own_sides
from calc.uncertainty import Sides
from catalogue import ParamsError
from catalogue.deployments.physics_inputs import Knob

SEED = 7
SAMPLES, LEAST, MOST = 1024, 64, 1 << 16  # of the design; a power of two
BLOCK = 1 << 16  # evaluations of a design at once
RESAMPLES = 100  # of the bootstrap
NORMAL = NormalDist().inv_cdf(0.975)  # of a 95% confidence interval


@dataclass(frozen=True)
class Priors:
    """Uncertain inputs of some plans; an input that they share is drawn once.

    Attributes:
        names: of the inputs; then of the formulas' own error, what plans share of it and what is
            each plan's own.
        knobs: by plan, the column of each of its inputs.
        own: by plan, pairs of a column and the deviations of the logarithm to both sides [1].
    """

    names: tuple[str, ...]
    knobs: tuple[tuple[tuple[int, Knob], ...], ...]
    own: tuple[tuple[tuple[int, Sides], ...], ...]

    def moves(self, scores: np.ndarray, which: int = 0) -> dict[str, np.ndarray]:
        """The inputs of a plan in every draw.

        Args:
            scores: standard deviations from the medians, shape (draws, inputs) [1].
            which: index of the plan.
        """
        moves: dict[str, np.ndarray] = {}
        for column, knob in self.knobs[which]:
            moves |= dict.fromkeys(knob.symbols, knob.at(scores[:, column]))
        return moves

    def factor(self, scores: np.ndarray, which: int = 0) -> np.ndarray:
        """Error factor of the formulas in every draw [1]; arguments as of :meth:`moves`."""
        factor = np.ones(len(scores))
        for column, (down, up) in self.own[which]:
            score = scores[:, column]
            factor *= np.exp(score * np.where(score < 0, down, up))
        return factor

    def sample(self, plan: Plan, scores: np.ndarray, name: str, which: int = 0,
               along: Moves | None = None) -> np.ndarray:
        """A quantity of a plan in every draw, shape (draws,); along a path (draws, points).

        Args:
            plan: the deployment.
            scores, which: as for :meth:`moves`.
            name: of the quantity.
            along: inputs that are given instead, arrays of shape (points,).
        """
        moves, factor = self.moves(scores, which), self.factor(scores, which)
        if along is None:
            return np.asarray(np.broadcast_to(plan.at(moves, name), factor.shape) * factor)
        points = len(next(iter(along.values())))
        repeated = {symbol: np.repeat(drawn, points) for symbol, drawn in moves.items()}
        given = {symbol: np.tile(column, len(scores)) for symbol, column in along.items()}
        return np.asarray(plan.at({**given, **repeated}, name).reshape(-1, points)
                          * factor[:, None])


def priors(plans: Sequence[Plan], name: str) -> Priors:
    """The inputs of some plans that have a range, and the formulas' own error of a quantity.

    Two plans share an input of the same name and the same range. Of the same class of systems they
    share their own error too, but for what it varies from row to row of one system.

    Args:
        plans: one or two.
        name: of the quantity.
    """
    keys: dict[tuple[str, float, float, float], int] = {}
    knobs = []
    for plan in plans:
        knobs.append(tuple((keys.setdefault((
            knob.name, float(knob.value.value), float(knob.value.low), float(knob.value.high)),
            len(keys)), knob) for knob in plan.knobs))
    inputs = [key[0] for key in keys]  # numbered where plans have different ranges of one input
    names = [label if inputs.count(label) == 1 else f"{label} ({inputs[:row + 1].count(label)})"
             for row, label in enumerate(inputs)]
    own: list[tuple[tuple[int, Sides], ...]] = []
    classes: dict[str, int] = {}
    for plan in plans:
        error, sides = own_error(plan, name), own_sides(plan, name)
        parts = []
        if error and any(sides):
            if error.of not in classes:
                classes[error.of] = len(names)
                names.append(OWN if len(plans) == 1 else f"{OWN} of {error.of}")
            alone = [min(side, error.within) if len(plans) > 1 else 0.0 for side in sides]
            down, up = (float(np.sqrt(side * side - part * part))
                        for side, part in zip(sides, alone, strict=True))
            parts.append((classes[error.of], (down, up)))
            if any(alone):
                parts.append((len(names), (alone[0], alone[1])))
                names.append(f"{OWN} of {plan.label}")
        own.append(tuple(parts))
    return Priors(tuple(names), tuple(knobs), tuple(own))


def scores_of(inputs: int, draws: int) -> np.ndarray:
    """Scores of a standard normal distribution that fill the space evenly, (draws, inputs).

    Args:
        inputs: how many there are.
        draws: a power of two.
    """
    from scipy.special import ndtri
    from scipy.stats import qmc

    edge = np.finfo(float).eps  # a share of nothing has no score
    shares = qmc.Sobol(inputs, scramble=True, seed=SEED).random(draws)
    return np.asarray(ndtri(np.clip(shares, edge, 1 - edge)))


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


def sensitivity(plan: Plan, name: str, samples: int = SAMPLES, report: OnProgress = silent
                ) -> Sensitivity:
    """First-order and total indices of every input of a plan.

    Args:
        plan: the deployment.
        name: of the quantity.
        samples: of the design, a power of two; the quantity is computed so many times the number
            of inputs and two more. A smaller design is the beginning of a larger one.
        report: of how many rows of the design the quantity is computed.

    Raises ParamsError for a number of samples that is no power of two, or where nothing moves.
    """
    if not LEAST <= samples <= MOST or samples & (samples - 1):
        raise ParamsError(f"--samples {samples}: expected a power of two from {LEAST} to {MOST}.")
    prior = priors([plan], name)
    inputs = len(prior.names)
    pairs = scores_of(2 * inputs, samples)
    design = np.repeat(pairs[:, None, :inputs], inputs + 2, axis=1)  # A, B, A with a column of B
    design[:, 1] = pairs[:, inputs:]
    for column in range(inputs):
        design[:, 2 + column, column] = pairs[:, inputs + column]
    design, parts = design.reshape(-1, inputs), list[np.ndarray]()
    for start in range(0, len(design), BLOCK):
        report("samples of all inputs", start, len(design))
        parts.append(prior.sample(plan, design[start:start + BLOCK], name))
    return indices_of(prior.names, np.concatenate(parts).reshape(samples, -1),
                      f"{name} of '{plan.scenario.id}'")


def indices_of(names: Sequence[str], values: np.ndarray, what: str) -> Sensitivity:
    """The indices of a quantity from its values in a design.

    Args:
        names: of the inputs.
        values: shape (samples, inputs + 2).
        what: the quantity, in an error message.
    """
    from scipy.stats import sobol_indices

    in_log = bool((values > 0).all())
    values = np.log(values) if in_log else values
    deviation = float(values.std())
    if not np.isfinite(deviation):
        raise ParamsError(f"--sensitivity: {what} has no value at the far ends of some range.")
    if not deviation:
        raise ParamsError(f"--sensitivity: no range of an input moves {what}.")
    samples = len(values)

    def indices(rows: np.ndarray) -> np.ndarray:
        first, second, mixed = values[rows, 0], values[rows, 1], values[rows, 2:].T
        result = sobol_indices(func={"f_A": first[None], "f_B": second[None],
                                     "f_AB": mixed[:, None]}, n=samples)
        return np.array([np.atleast_1d(result.first_order), np.atleast_1d(result.total_order)])

    draw = np.random.default_rng(SEED)
    central = indices(np.arange(samples))
    errors = NORMAL * np.std([indices(draw.integers(samples, size=samples))
                              for _ in range(RESAMPLES)], axis=0, ddof=1)
    rows = [Index(label, *map(float, numbers))
            for label, *numbers in zip(names, *central, *errors, strict=True)]
    return Sensitivity(tuple(sorted(rows, key=lambda one: -one.total)), samples, values.size,
                       deviation, in_log)
