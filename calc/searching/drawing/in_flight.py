"""Requests in flight of a deployment whose load is given: a draw in which it is slower has more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calc.serving.evaluate import evaluate
from catalogue import Scenario
from catalogue.planning.goals import Demand

DRAWS = 400  # of everything that is known within a range only
ENOUGH = "enough"  # what tells whether a deployment serves the load that is given
MORE = (1.0, 1.1, 1.25, 1.5, 2.0, 3.0)  # requests in flight, of those that its median takes


def of_load(demand: Demand) -> bool:
    """Whether requests arrive by themselves, so that a slower deployment has more of them."""
    return demand.arrival_rate is not None or bool(demand.think_time)


def least(quantities: Mapping[str, np.ndarray], served: np.ndarray) -> dict[str, np.ndarray]:
    """Of each draw what is seen with the fewest requests in flight that serve what is asked, with
    the most where none do, shape (DRAWS,) each.

    Args:
        quantities: by requests in flight, shape (k, DRAWS) each.
        served: with which of them it is, shape (k, DRAWS).
    """
    place = np.where(served.any(axis=0), served.argmax(axis=0), len(served) - 1)
    return {name: np.broadcast_to(column, served.shape)[place, np.arange(DRAWS)]
            for name, column in quantities.items()}


def in_flight(deployed: Scenario, inputs: Mapping[str, Any], fixed: bool) -> np.ndarray:
    """Requests in flight that a draw may need: those that were found, and, where it is the load
    that is given, more of them, as far as the memory goes; shape (k,) [request]."""
    usual = float(inputs["concurrency"])
    if fixed:
        return np.array([usual])
    room = max(usual, float(evaluate(deployed.inputs(), deployed.model.attention, decode=False)[
        "max_concurrency"]))
    return np.unique(np.minimum(np.ceil(usual * np.array(MORE)), room))
