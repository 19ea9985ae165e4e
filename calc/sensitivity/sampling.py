"""Inputs of plans drawn from their priors: one column of scores for what is one thing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.sensitivity.plans import Moves, Plan
from calc.sensitivity.tornado import NONE, OWN, own_error, own_sides
from calc.uncertainty import Sides
from catalogue.deployments.physics_inputs import Knob

SEED = 7
Key = tuple[str, float, float, float]


@dataclass(frozen=True)
class Priors:
    """What moves some plans: an input that they share is drawn once.

    Attributes:
        names: of the inputs; then of the formulas' own error, what plans share of it and what is
            each plan's own.
        knobs: by plan, the column of each of its inputs.
        own: by plan, pairs of a column and the deviations of the logarithm to both sides [1].
    """

    names: tuple[str, ...]
    knobs: tuple[tuple[tuple[int, Knob], ...], ...]
    own: tuple[tuple[tuple[int, Sides], ...], ...]


def priors(plans: Sequence[Plan], name: str) -> Priors:
    """The inputs of some plans that have a range, and the formulas' own error of a quantity.

    Two plans share an input of the same name and the same range. Of the same class of systems they
    share their own error too, but for what it varies from row to row of one system.

    Args:
        plans: one or two.
        name: of the quantity.
    """
    keys: dict[Key, int] = {}
    of_plans = []
    for plan in plans:
        columns = [(keys.setdefault(_key(knob), len(keys)), knob) for knob in plan.knobs]
        of_plans.append(tuple(columns))
    names = _told([key[0] for key in keys])
    own: list[tuple[tuple[int, Sides], ...]] = []
    classes: dict[str, int] = {}
    for plan in plans:
        sides, within, of = _own(plan, name)
        parts = []
        if any(sides):
            if of not in classes:
                classes[of] = len(names)
                names.append(OWN if len(plans) == 1 else f"{OWN} of {of}")
            alone = [min(side, within) if len(plans) > 1 else 0.0 for side in sides]
            down, up = (float(np.sqrt(side * side - part * part))
                        for side, part in zip(sides, alone, strict=True))
            parts.append((classes[of], (down, up)))
            if any(alone):
                parts.append((len(names), (alone[0], alone[1])))
                names.append(f"{OWN} of {plan.label}")
        own.append(tuple(parts))
    return Priors(tuple(names), tuple(of_plans), tuple(own))


def sample_quantity(plan: Plan, columns: Sequence[tuple[int, Knob]],
                    own: Sequence[tuple[int, Sides]],
                    scores: np.ndarray, name: str, along: Moves | None = None) -> np.ndarray:
    """A quantity of a plan for so many draws, shape (draws,); along a path (draws, points).

    Args:
        plan: the deployment.
        columns, own: of it, as :class:`Priors` has them.
        scores: standard deviations from the medians, shape (draws, inputs) [1].
        name: of the quantity.
        along: inputs that are given instead, arrays of shape (points,).
    """
    moves, factor = moves_of(columns, scores), own_factor(own, scores)
    if along is None:
        return np.asarray(np.broadcast_to(plan.at(moves, name), factor.shape) * factor)
    points = len(next(iter(along.values())))
    every = {symbol: np.repeat(drawn, points) for symbol, drawn in moves.items()}
    given = {symbol: np.tile(column, len(scores)) for symbol, column in along.items()}
    return np.asarray(plan.at({**given, **every}, name).reshape(-1, points) * factor[:, None])


def sample_each(plans: Sequence[Plan], found: Priors, scores: np.ndarray, name: str,
                along: Callable[[Plan], Moves] | None = None) -> list[np.ndarray]:
    """A quantity of each of some plans in the same draws, as :func:`sample_quantity` has it.

    Args:
        plans: that ``found`` is of.
        found: what moves them.
        scores: as for :func:`sample_quantity`.
        name: of the quantity.
        along: of a plan, inputs that are given instead.
    """
    return [sample_quantity(plan, knobs, own, scores, name, along(plan) if along else None)
            for plan, knobs, own in zip(plans, found.knobs, found.own, strict=True)]


def moves_of(columns: Sequence[tuple[int, Knob]], scores: np.ndarray) -> Moves:
    """The inputs of a plan in every draw; arguments as of :func:`sample_quantity`."""
    moves: dict[str, Any] = {}
    for column, knob in columns:
        moves |= dict.fromkeys(knob.symbols, knob.at(scores[:, column]))
    return moves


def own_factor(own: Sequence[tuple[int, Sides]], scores: np.ndarray) -> np.ndarray:
    """By what the formulas are off in every draw [1]; arguments as of :func:`sample_quantity`."""
    factor = np.ones(len(scores))
    for column, (down, up) in own:
        score = scores[:, column]
        factor *= np.exp(score * np.where(score < 0, down, up))
    return factor


def scores_of(inputs: int, draws: int) -> np.ndarray:
    """Scores of a standard normal distribution that fill the space evenly, (draws, inputs).

    Args:
        inputs: how many there are.
        draws: a power of two.
    """
    from scipy.stats import qmc

    return scored(qmc.Sobol(inputs, scramble=True, seed=SEED).random(draws))


def scored(shares: np.ndarray) -> np.ndarray:
    """What a standard normal variable stays below in such shares of cases, of the same shape."""
    from scipy.special import ndtri

    edge = np.finfo(float).eps  # a share of nothing has no score
    return np.asarray(ndtri(np.clip(shares, edge, 1 - edge)))


def _key(knob: Knob) -> Key:
    value = knob.value
    return knob.name, float(value.value), float(value.low), float(value.high)


def _told(names: Sequence[str]) -> list[str]:
    """Names, numbered where plans have different ranges of one input."""
    return [name if names.count(name) == 1 else f"{name} ({names[:place + 1].count(name)})"
            for place, name in enumerate(names)]


def _own(plan: Plan, name: str) -> tuple[Sides, float, str]:
    """The own error of a quantity, what of it is a row's [1], and the class that it is of."""
    known = own_error(plan, name)
    return (own_sides(plan, name), known.within, known.of) if known else (NONE, 0.0, "")
