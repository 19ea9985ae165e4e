"""What an alert does when it is run: on the metrics of its deployment, healthy and in each failure.

An alert that fires in health is no alert, and one that no failure makes fire is none either. Health
is the load that is planned, within the interval of its prediction, and a quiet hour.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import numpy as np

from calc.answer.estimate import part_count
from calc.auditing.cases import Case
from calc.auditing.failures import AS_USERS_SEE, FAILURES, LONE, Simulated, simulate
from calc.auditing.settings import ASCEND, HOST, PLUGIN
from calc.auditing.truths import deployment, truth_of
from calc.uncertainty import Amount
from catalogue.engine import load_engine
from catalogue.entries import formulas
from catalogue.ledger import Alert, Claim
from catalogue.reading.values import Printed
from catalogue.reading.words import revealed

ALWAYS, PERHAPS, SOUND, LATE, NEVER = ("always-fires", "may-fire", "sound", "too-late",
                                       "never-fires")
STATES = (ALWAYS, PERHAPS, SOUND, LATE, NEVER)
UNEXPORTED, CONSTANT, LONELY, IDLE, RUN = "unexported", "constant", "lonely", "idle", "run"
FAR = max(failure.severity for failure in FAILURES.values())
"""Times as long that requests take, from where an alert comes too late to tell anything: as much as
the worst that may well happen."""
SAME = 1e-9  # relative, within which a metric has not moved
SHARES = ("cache_occupied",)


@dataclass(frozen=True)
class Point:
    """A metric in a failure.

    Attributes:
        failure, severity: of ``calc.auditing.failures.FAILURES``, and by how much.
        value: of the metric, SI.
        slower: times as long that requests take then [1].
    """

    failure: str
    severity: float
    value: float
    slower: float


@dataclass(frozen=True)
class Alarm:
    """What becomes of an alert.

    Attributes:
        state: one of ``STATES``.
        healthy: what it watches, while nothing fails.
        fires: of each failure that makes it fire, the least severity at which it does; the first
            is in time, where one is, and the mildest.
        nearest: where no failure makes it fire, the one that comes nearest to it; None where
            none brings it nearer.
        reason: why it never fires: ``UNEXPORTED``, ``CONSTANT``; that it may fire in a quiet hour,
            as ``nearest`` has it: ``LONELY``, or without any request: ``IDLE``; else that it was
            run: ``RUN``.
        engines: whose releases do not export it, by their titles.
        watched: the deployment that it is run on; None of what is of none.
    """

    state: str
    healthy: Amount
    fires: tuple[Point, ...] = ()
    nearest: Point | None = None
    reason: str = RUN
    engines: tuple[str, ...] = ()
    watched: str | None = None


def margin(value: float, printed: Printed, fires: str) -> float:
    """By how much a value stays short of where the alert fires, as a share of the limit; it fires
    below 0."""
    ends = ([value - printed.low, printed.high - value] if fires == "outside" else
            [printed.value - value if fires == "above" else value - printed.value])
    return min(ends) / max(abs(printed.value), SAME)


def in_health(printed: Printed, ours: Amount, fires: str) -> str | None:
    """``ALWAYS`` or ``PERHAPS`` where it fires while nothing fails; None where it does not."""
    ends = [margin(end, printed, fires) < 0 for end in (ours.low, ours.high)]
    same_side = fires != "outside" or (ours.high < printed.low or ours.low > printed.high)
    if all(ends) and same_side:
        return ALWAYS
    return PERHAPS if any(ends) else None


def run(printed: Printed, ours: Amount, alert: Alert, simulated: Simulated | None,
        metric: np.ndarray | None) -> Alarm:
    """What an alert does on what it watches.

    Args:
        printed: its limit, or the range that is called normal.
        ours: what it watches while nothing fails, with its interval.
        alert: the rule.
        simulated: what it is run on, and ``metric`` at each of its points; None of a constant.
    """
    state = in_health(printed, ours, alert.fires)
    if alert.held is not None or simulated is None or metric is None:
        return Alarm(state or NEVER, ours, reason=CONSTANT)
    slower, healthy = simulated.of(AS_USERS_SEE), float(metric[0])
    scale = ours.value / healthy if healthy else 1.0
    share = alert.of is not None and alert.of.partition(":")[2] in SHARES  # full, and no more
    seen = [Point(name, by, min(1.0 if share else math.inf, float(value) * scale),
                  float(slow / slower[0]))
            for (name, by), value, slow in zip(simulated.points, metric, slower, strict=True)]
    points = [point for point in seen if point.failure in FAILURES]
    lone = next((point for point in seen if point.failure == LONE[0]), None)
    if state is None and lone is not None and margin(lone.value, printed, alert.fires) < 0:
        return Alarm(PERHAPS, ours, nearest=lone, reason=LONELY)
    if state is None and alert.idle and margin(0.0, printed, alert.fires) < 0:
        return Alarm(PERHAPS, ours, reason=IDLE)
    least: dict[str, Point] = {}
    for point in points:
        if margin(point.value, printed, alert.fires) < 0:
            least.setdefault(point.failure, point)
    fires = tuple(sorted(least.values(), key=lambda point: (
        point.slower > FAR, point.severity / FAILURES[point.failure].severity, point.slower)))
    if state is None:
        state = NEVER if not fires else SOUND if fires[0].slower <= FAR else LATE
    short = margin(ours.value, printed, alert.fires)
    nearer = {margin(point.value, printed, alert.fires): point for point in reversed(points)}
    nearest = min(nearer, default=short)
    return Alarm(state, ours, fires,
                 nearer[nearest] if not fires and nearest < short - SAME else None)


def alarm(case: Case) -> Alarm:
    """The alert of a claim, run. Raises ParamsError or ValueError, one clause, for what cannot be
    computed."""
    claim, alert, printed, truth = case.claim, case.claim.alert, case.printed, case.truth
    assert alert is not None
    assert printed is not None
    assert truth is not None
    name = alert.watched or next(
        (where.partition(":")[0] for where in _references(claim) if ":" in where), None)
    missing = _unexported(alert.metric, name)
    if missing:
        return Alarm(NEVER, truth.three, reason=UNEXPORTED, engines=missing, watched=name)
    simulated = None if name is None else simulated_metrics(name)
    metric = (None if simulated is None or name is None
              else watched_metric(claim, name, simulated))
    return replace(run(printed, truth.three, alert, simulated, metric), watched=name)


@functools.cache
def simulated_metrics(name: str) -> Simulated:
    """Metrics of a deployment in health and in each failure."""
    deployed = deployment(name)
    return simulate(deployed.inputs, deployed.attention)


def _references(claim: Claim) -> list[str]:
    if claim.alert is not None and claim.alert.of is not None:
        return [claim.alert.of]
    return [*([claim.truth] if claim.truth else []), *claim.sourced.values()]


def watched_metric(claim: Claim, name: str, simulated: Simulated) -> np.ndarray | None:
    """What a claim watches, at each point; None where nothing that may fail goes into it."""
    tree = claim.right if claim.right is not None else claim.formula
    if tree is None or (claim.alert is not None and claim.alert.of is not None):
        return _read(_references(claim)[0], name, simulated)
    free = {letter: _read(where, name, simulated) for letter, where in claim.sourced.items()}
    fixed = {letter: value.value for letter, value in claim.inputs.items() if letter not in free}
    if not formulas.symbols_of(tree) & free.keys():
        return None
    return np.array([float(formulas.evaluate(tree, {**fixed, **{
        letter: float(values[at]) for letter, values in free.items()}}))
        for at in range(len(simulated.points))])


def _read(where: str, name: str, simulated: Simulated) -> np.ndarray:
    """A reference at each point: of this deployment as it moves, of an entry with the value that
    the deployment has of it, else as it is."""
    kind, _, key = where.rpartition(":") if ":" in where else where.rpartition("/")
    quantity, _, part = key.partition("/")
    if quantity in simulated.values and (kind == name or kind.startswith("mechanisms/")):
        parts = part_count(deployment(name).scenario, part or "deployment")
        return simulated.of(quantity) / float(parts)
    return np.full(len(simulated.points), truth_of(where).three.value)


def _unexported(metric: str | None, name: str | None) -> tuple[str, ...]:
    """Titles of the engines that were asked for a metric and have it in no pinned release."""
    if metric is None:
        return ()
    stack = None if name is None else deployment(name).scenario.device.software
    engines = [load_engine(title) for title in ((HOST, PLUGIN) if stack == ASCEND else (HOST,))]
    exported = {metric for engine in engines for metric in engine.entries["metrics"]}
    return () if any(fnmatchcase(one, revealed(metric)) for one in exported) else tuple(
        engine.title for engine in engines)
