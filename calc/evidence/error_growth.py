"""How fast errors grow with distance from what was measured: fitted to rows of the same system.

Rows of one system share all but how many requests are in flight, so what their errors differ by is
due to that alone. Of every two rows, the one with more requests is held against the other: the
change of log(measured / predicted) is a variable of Student about zero, stretched differently to
either side, whose variance is that of equal rows and as much again for each doubling between them.
That an error walks at random with the logarithm of the load is an assumption; that it takes
independent steps, not one direction, predicted left-out systems better. Runs of many requests that
are sent at once differ in lengths as well, and say nothing of other loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from calc.evidence import pooling
from calc.evidence.classes import LOADS, class_of, estimated_from
from calc.evidence.nearness import covered
from calc.evidence.pooling import DIGITS, TINY, Residuals, unlikely
from calc.evidence.systems import METRICS, System
from calc.uncertainty import Sides
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.calibrations import Covered, Growth

START = (0.1, 0.1, 0.1)  # per doubling downwards, upwards, and of equal rows [1]
FEWEST = 3  # systems; of a quantity with fewer its stand-in says more


@dataclass(frozen=True)
class Steps:
    """Pairs of rows of one system.

    Attributes:
        system: identifier.
        change: of log(measured / predicted) from the row with fewer requests, shape (pairs,).
        doublings: of the requests in flight, shape (pairs,).
    """

    system: str
    change: np.ndarray
    doublings: np.ndarray


def steps(found: Iterable[Residuals]) -> list[Steps]:
    """Every two rows of a system that differ in the requests in flight.

    Args:
        found: errors of one quantity.
    """
    result = []
    for each in found:
        order = np.argsort(each.requests, kind="stable")
        load, error = np.log2(each.requests[order]), each.error[order]
        near, far = np.triu_indices(len(load), 1)
        apart = load[far] - load[near]
        some = apart > 0
        if some.any():
            result.append(Steps(each.system, (error[far] - error[near])[some], apart[some]))
    return result


def fit(found: Sequence[Steps]) -> tuple[Sides, float]:
    """Deviations per doubling to either side, and of equal rows: the likeliest ones [1].

    Every system counts once, however many rows it has.
    """
    change, apart = (np.concatenate([getattr(each, name) for each in found])
                     for name in ("change", "doublings"))
    weight = np.concatenate([np.full(len(each.change), 1 / len(each.change)) for each in found])

    def missed(sizes: np.ndarray) -> float:
        down, up = (np.sqrt(sizes[2]**2 + size**2 * apart) + TINY for size in sizes[:2])
        return unlikely(change, down, up, weight)

    down, up, level = np.abs(minimize(missed, START, method="Nelder-Mead").x)
    return (float(down), float(up)), float(level)


def _inside(some: Steps, sizes: tuple[Sides, float]) -> float:
    """Share of pairs in their 80% interval [1]."""
    growth, level = sizes
    down, up = (NORMAL_90 * np.hypot(level, size * np.sqrt(some.doublings)) for size in growth)
    return float(((-down <= some.change) & (some.change <= up)).mean())


def estimate(systems: Iterable[System], borrowed: float) -> pooling.Written:
    """All that is stored of the formulas' own error.

    Args:
        systems: every measured one. Rows of sources that were predicted blind are near others, and
            nothing is fitted to them.
        borrowed: how many systems the class above counts for in a class.

    Raises ValueError as :func:`calc.evidence.pooling.residuals` does.
    """
    systems = list(systems)
    errors = pooling.residuals(systems)
    growth = {load: made for load in LOADS if (made := grown({
        metric: [each for each in errors if each.metric == metric and each.load == load]
        for metric in METRICS if estimated_from(load, metric) == metric}))}
    return pooling.estimate(systems, borrowed, growth, coverage(systems))


def coverage(systems: Iterable[System]) -> dict[str, Covered]:
    """What the rows of every measured system cover."""
    return {system.id: covered(system.scenario, class_of(system.scenario), (
        float(system.rows["concurrency"].min()), float(system.rows["concurrency"].max())))
        for system in systems}


def grown(found: Mapping[str, Sequence[Residuals]]) -> dict[str, Growth]:
    """The growth of each quantity that was measured with several numbers of requests.

    Its interval is held against each system in turn, fitted to all the others.

    Args:
        found: errors by quantity, under one load.
    """
    result = {}
    for metric, errors in found.items():
        every = steps(errors)
        if len(every) < FEWEST:
            continue
        (down, up), _ = fit(every)
        others = {each.system: fit([one for one in every if one is not each]) for each in every}
        result[metric] = Growth(
            down=round(down, DIGITS), up=round(up, DIGITS), systems=len(every),
            pairs=sum(len(each.change) for each in every),
            inside=round(float(np.mean([_inside(each, others[each.system])
                                        for each in every])), DIGITS),
            without={name: (round(sides[0], DIGITS), round(sides[1], DIGITS))
                     for name, (sides, _) in others.items()})
    return result
