"""What was measured near a deployment, and how far it is from that, in doublings.

On each axis what was measured of the same kind of system on cards of the same vendor covers a
range, or some names. A deployment is as far beyond as the logarithm, to base 2, of the factor by
which it leaves the ranges; a format, a card or an arrangement in pools of which nothing was
measured counts like one doubling. Its error is that of its class, and an independent one for each
doubling (``calc.evidence.discrepancy``).

Source: notebooks/validation.md, section Are the intervals honest?
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.uncertainty import Sides
from catalogue import Scenario
from catalogue.entries.measurements import Covered

AXES = ("requests", "tensor", "pipeline", "expert", "drafts")
NAMES = ("precision", "device", "pools")
EITHER = ("tensor", "pipeline", "expert", "precision", "device")  # what each pool has of its own
UNNAMED = 1.0  # doublings that count for a name of which nothing was measured


@dataclass(frozen=True)
class Axis:
    """A deployment on one axis beside what was measured.

    Attributes:
        name: of ``AXES`` or ``NAMES``.
        value: its own: a number, requests per card and ranks, or a name.
        covered: the least and the most that was measured, or the names.
        beyond: how far outside it lies [doubling]; 0 inside.
    """

    name: str
    value: Any
    covered: tuple[Any, ...]
    beyond: Any

    @property
    def inside(self) -> bool:
        """Whether it lies in what was measured."""
        return bool(np.all(self.beyond == 0))

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"axis": self.name, "value": self.value, "covered": list(self.covered),
                "beyond": float(self.beyond), "inside": self.inside}


@dataclass(frozen=True)
class Nearness:
    """What was measured near a deployment.

    Attributes:
        of: the class whose systems it is held against.
        axes: the deployment on each of them.
        nearest: the measured system with the fewest doublings between them; None of none.
        between: doublings between the two.
    """

    of: str
    axes: tuple[Axis, ...]
    nearest: str | None
    between: float

    @property
    def distance(self) -> Any:
        """Doublings beyond what was measured, over all axes; 0 inside."""
        return _beyond(self.axes)

    @property
    def outside(self) -> list[Axis]:
        """Axes on which it lies outside of what was measured."""
        return [axis for axis in self.axes if not axis.inside]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"class": self.of, "distance": float(self.distance), "nearest": self.nearest,
                "axes": [axis.as_json() for axis in self.axes]}


def covered(scenario: Scenario, of: str, requests: tuple[float, float]) -> Covered:
    """What the rows of a measured system cover.

    Args:
        scenario: the deployment that was measured.
        of: its class.
        requests: fewest and most in flight, over all cards [request].
    """
    own = position(scenario)
    fewest, most = (round(number / scenario.devices, 4) for number in requests)
    return Covered(of=of, device=scenario.device.id, precision=scenario.precision.id,
                   requests=(fewest, most), pools=own["pools"],
                   **{name: own[name] for name in AXES[1:]})


def position(scenario: Scenario, requests: Any = None) -> dict[str, Any]:
    """Where a deployment stands on each axis.

    Args:
        scenario: the deployment.
        requests: in flight over all cards, a number or an array [request]; None for its own.
    """
    own = scenario.inputs()
    flight = own["concurrency"] if requests is None else requests
    return {"requests": flight / scenario.devices,
            "tensor": int(own["tensor_parallel"]), "pipeline": int(own["pipeline_parallel"]),
            "expert": int(own["expert_parallel"]), "drafts": int(own["draft_tokens"]),
            "pools": 2 if own["separate_pools"] else 1,
            "precision": scenario.precision.id, "device": scenario.device.id}


def nearness(at: Mapping[str, Any], of: str, steps: Sequence[str],
             measured: Mapping[str, Covered]) -> Nearness:
    """A deployment beside what was measured of its class, or of the next wider that has systems.

    Args:
        at: where it stands, as :func:`position` gives it.
        of: its class.
        steps: that class and those that it is a part of, the narrowest first.
        measured: what each system covers; the deployment itself is none of them.
    """
    name, near = within(steps, measured)
    if not near:
        return Nearness(of, (), None, 0.0)
    between = {key: doublings_between(at, one) for key, one in near.items()}
    nearest = min(between, key=lambda key: (between[key], key))
    return Nearness(name, _axes(at, near.values()), nearest, between[nearest])


def distance(at: Mapping[str, Any], steps: Sequence[str], measured: Mapping[str, Covered]) -> Any:
    """Doublings beyond what was measured, as :func:`nearness` has them; 0 where nothing was."""
    _, near = within(steps, measured)
    return _beyond(_axes(at, near.values())) if near else 0.0


def _axes(at: Mapping[str, Any], near: Collection[Covered]) -> tuple[Axis, ...]:
    """A deployment beside what some systems cover together."""
    covers = ranges(near)
    return (*(Axis(axis, at[axis], covers[axis], _doublings(axis, at[axis], *covers[axis]))
              for axis in AXES),
            *(Axis(axis, at[axis], covers[axis], 0.0 if at[axis] in covers[axis] else UNNAMED)
              for axis in NAMES))


def _beyond(axes: Sequence[Axis]) -> Any:
    return sum((axis.beyond for axis in axes), 0.0)


def both(prefill: Nearness, decode: Nearness) -> Nearness:
    """What was measured near two pools: near the one that decodes, and on each of ``EITHER`` where
    that of the two stands which lies farther outside.

    Args:
        prefill, decode: each of them beside what was measured.
    """
    first = {axis.name: axis for axis in prefill.axes}
    return replace(decode, axes=tuple(
        other if axis.name in EITHER and (other := first.get(axis.name, axis)).beyond > axis.beyond
        else axis for axis in decode.axes))


def within(steps: Sequence[str], measured: Mapping[str, Covered]
           ) -> tuple[str, dict[str, Covered]]:
    """Of some classes the first that was measured, and what each of its systems covers.

    Args:
        steps: classes, the narrowest first.
        measured: what each system covers.
    """
    for step in steps:
        if near := {key: one for key, one in measured.items()
                    if step == "all" or f"{one.of}/".startswith(f"{step}/")}:
            return step, near
    return "", {}


def ranges(near: Collection[Covered]) -> dict[str, tuple[Any, ...]]:
    """What some systems cover together: the least and the most on ``AXES``, the ``NAMES``.

    Args:
        near: coverage of each.
    """
    ends = {axis: [_range(one, axis) for one in near] for axis in AXES}
    numbers: dict[str, tuple[Any, ...]] = {axis: (min(low for low, _ in of), max(
        high for _, high in of)) for axis, of in ends.items()}
    return numbers | {axis: tuple(sorted({getattr(one, axis) for one in near}))
                      for axis in NAMES}


def _range(one: Covered, axis: str) -> tuple[float, float]:
    value = getattr(one, axis)
    return value if isinstance(value, tuple) else (value, value)


def _doublings(name: str, value: Any, low: float, high: float) -> Any:
    """How far a value lies beyond a range [doubling]; of drafts, of the tokens that are checked."""
    one = 1 if name == "drafts" else 0
    least, most = math.log2(low + one), math.log2(high + one)
    own = np.log2(value + one)
    if isinstance(own, float):  # one deployment, of which a search asks a million times
        return max(own - most, least - own, 0.0)
    return np.maximum(np.maximum(own - most, least - own), 0.0)


def doublings_between(at: Mapping[str, Any], one: Covered) -> float:
    """Doublings between a deployment and a measured system.

    Args:
        at: where the deployment stands.
        one: what the system covers.
    """
    doublings = (_doublings(axis, at[axis], *_range(one, axis)) for axis in AXES)
    apart = sum(own if isinstance(own, float) else float(np.mean(own)) for own in doublings)
    return apart + UNNAMED * sum(at[axis] != getattr(one, axis) for axis in NAMES)


def widened(sides: Sides, growth: Sides, distance: Any) -> tuple[Any, Any]:
    """Deviations of a class at a distance from what was measured.

    >>> widened((0.3, 0.0), (0.4, 0.0), 1.0)
    (0.5, 0.0)

    Args:
        sides: of the class, downwards and upwards [1].
        growth: of one doubling, likewise [1].
        distance: in doublings, a number or an array.
    """
    down, up = (np.hypot(side, size * np.sqrt(distance))
                for side, size in zip(sides, growth, strict=True))
    return (down, up) if np.ndim(distance) else (float(down), float(up))
