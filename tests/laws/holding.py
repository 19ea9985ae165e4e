"""Laws as tests: each is a function of a fleet that returns where it holds, shape (..., n).

Where a law says nothing of a deployment, for an exception that has a name, the answer is masked.
All laws are tried on the same random deployments.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _cases import is_usual
from hypothesis import HealthCheck, Phase, given, settings

from laws.deployments import Fleet, fleets

USUAL, NIGHTLY = 200, 10_000  # deployments, of the usual hypothesis profile and of the nightly one
ROUNDING = 1e-9  # relative: sums of numbers in floating point
SIZE = 10  # deployments of a fleet
SHOWN = 3  # deployments that break a law


@functools.cache
def drawn() -> tuple[Fleet, ...]:
    """The deployments of this run, as fleets."""
    found: list[Fleet] = []
    count = USUAL if is_usual() else NIGHTLY

    @settings(max_examples=count // SIZE, database=None, phases=[Phase.generate],
              suppress_health_check=[HealthCheck.too_slow])
    @given(fleets(SIZE))
    def draw(fleet: Fleet) -> None:
        found.append(fleet)

    draw()
    return tuple(found)


def law(holds: Callable[..., Any]) -> Callable[..., None]:
    """A test that a law holds for every deployment that was drawn.

    Args:
        holds: of a fleet, and of the test's own arguments: whether the law holds, an array that is
            masked where it says nothing, shape (..., n).
    """
    @functools.wraps(holds)
    def test(**arguments: Any) -> None:
        broken: list[str] = []
        tried = 0
        for fleet in drawn():
            kept = np.ma.asarray(holds(fleet, **arguments))
            bad = np.argwhere((~kept).filled(False))
            tried += fleet.size - int(
                np.ma.getmaskarray(kept).reshape(-1, fleet.size).all(axis=0).sum())
            first = {row[-1]: row[:-1] for row in bad[::-1]}
            broken += [f"{fleet.told(index)}: {where.tolist()}" for index, where in first.items()]
        assert tried, "no deployment that the law says anything of"
        assert not broken, f"{len(broken)} of {tried}: " + "\n".join(broken[:SHOWN])

    own = inspect.signature(holds)  # pytest gives all that the law takes besides the fleet
    test.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=list(own.parameters.values())[1:])
    return pytest.mark.hypothesis(test)


def near(left: Any, right: Any, within: float = ROUNDING, of: Any = 0.0) -> np.ndarray:
    """Whether two numbers are the same but for rounding (of what they were computed from)."""
    return np.asarray(np.abs(left - right) <= within * np.maximum(
        np.maximum(np.abs(left), np.abs(right)), of))


def at_most(less: Any, more: Any, within: float = ROUNDING) -> np.ndarray:
    """Whether one number is no larger than the other but for rounding."""
    return np.asarray(less <= more + within * np.maximum(np.abs(less), np.abs(more)))


def but(holds: Any, exceptions: Any) -> np.ma.MaskedArray:
    """What a law says, and nothing where there is an exception."""
    return np.ma.array(holds, mask=np.broadcast_to(exceptions, np.shape(holds)))
