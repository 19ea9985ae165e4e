"""Watching: how long an alert has to hold, and how long a probe has to wait for a server."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import catalogue
from calc.capacity.availability import failures_of
from calc.launching.monitoring import BUSY, DOWN, HOLD, WINDOW, Predicted
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue.ledger import Hold, Probe
from catalogue.messages import Pair, messages
from catalogue.reading.units import MINUTE
from notebooks.pages.deciding.service import RUNS
from notebooks.pages.derivations.choices.documents import place
from notebooks.pages.engineering import claims
from notebooks.pages.engineering.operating import monitoring
from notebooks.pages.engineering.operating.monitoring import forecast
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/engineering/operating/watching")

SIGMAS = 2  # standard deviations by which a mean has to stay off its threshold
DAY = "azure-conversation"
BELOW = "S1-388"  # the alert of S1 on throughput
SLOW = "S1-389"  # and that on the time to first token


def minutes(duration: str) -> int:
    """A duration of Prometheus such as ``5m`` [min]."""
    return int(duration.removesuffix("m"))


def scatter(of: Predicted, window: float) -> float:
    """Standard deviation of a mean over the mean, of the requests that end in a window [1].

    1 / sqrt(n): of independent times that scatter as much as their mean, as exponential ones do.

    Args:
        of: a deployment.
        window: [s].
    """
    return 1 / math.sqrt(of.requests.value * window)


def window_for(of: Predicted, room: float) -> float:
    """The shortest window whose mean stays off a threshold by so many deviations [s].

    Args:
        of: a deployment.
        room: from its mean to the threshold, over its mean [1].
    """
    return (SIGMAS / room) ** 2 / of.requests.value


def _window(of: Predicted, room: float) -> Pair:
    """That window in words."""
    window = window_for(of, room)
    if window * of.requests.value <= 1:
        return say("one-request")
    text = f"{fmt_fixed(window, 0)} s"
    return text, text


def durations() -> None:
    """Three deployments: what a window sees of them, and how short it might be."""
    span = minutes(WINDOW) * MINUTE

    def needed(room: Callable[[Predicted], float], heading: Pair) -> Column:
        return Column(lambda title: _window(forecast(title), room(forecast(title))), heading)

    table(monitoring.WATCHED, [
        Column(str, common("deployment")),
        Column(lambda title: round(forecast(title).requests.value * span),
               say("requests-in", window=WINDOW), fmt_int),
        Column(lambda title: scatter(forecast(title), span), say("scatter-of-their-mean-ttft"),
               fmt_percent, digits=0),
        needed(lambda of: of.ttft.high / of.ttft.value - 1,
               say("window-needed-threshold-from-interval")),
        needed(lambda of: monitoring.OWN, say("window-needed-beyond-bench",
                                              by=fmt_percent(monitoring.OWN, 0)))])
    numbers({"mo-window": minutes(WINDOW), "mo-hold": minutes(HOLD)})
    number("mo-sigmas", SIGMAS)


@cache
def holds() -> tuple[Hold, ...]:
    """The durations that S1 gives its alerts."""
    return tuple(catalogue.load("documents", "s1").holds)


def quiet_hours(limit: float) -> int:
    """Hours of a day in which fewer tokens are asked for, though nothing is wrong.

    The busiest hour is as predicted, the others as the day of a published service has them.

    Args:
        limit: [token/s].
    """
    load = catalogue.load("loads", DAY)
    most = forecast(_of_document("s1")).throughput.value
    return sum(most * hour / max(load.hours) < limit for hour in load.hours)


def _limit(name: str) -> float:
    found = claims.select_claims(name)[0].case.printed
    assert found
    return found.value


def documented() -> None:
    """S1's durations beside what they do, and beside those that are written here."""
    hours = quiet_hours(_limit(BELOW))
    ttft = fmt_time(forecast(_of_document("s1")).ttft.value)
    share = fmt_percent(catalogue.load_scenario("s1-launch-production").inputs()[
        "memory_utilization"], 0)
    says: dict[str, tuple[Pair, Pair | None]] = {
        "S1-387": (say("is-taken-at-start-and", share=share), None),
        BELOW: (say("hours-of-day-are-quieter", hours=hours, limit=fmt_int(_limit(BELOW))),
                say("waits-while-busy", hold=HOLD, busy=fmt_percent(BUSY, 0))),
        SLOW: (say("predicted-fires-always-only-later", ttft=ttft,
                   limit=fmt_time(_limit(SLOW))),
               say("waits-on-mean", hold=HOLD, window=WINDOW))}
    rows: list[tuple[Any, ...]] = [
        (place("s1", hold), hold.name, f"{fmt_fixed(hold.time.value / MINUTE, 0)} min",
         *says[hold.claims[0]]) for hold in holds()]
    rows.append((None, "`ServerDown`", None, say("s1-has-no-alert-on"), DOWN))
    table(rows, [Column(0, common("section-line")), Column(1, common("alert")),
                 Column(2, say("its-for")), Column(3, say("what-waiting-does-there")),
                 Column(4, say("written-by-deploy"))], wide=True)
    number("mo-quiet", hours)


@cache
def probes() -> tuple[tuple[str, Probe], ...]:
    """The probes of the documents, with which document."""
    return tuple((document, probe) for document in ("s0", "s1")
                 for probe in catalogue.load("documents", document).probes)


@cache
def starting(document: str) -> Amount:
    """Of what runs of a document's plan: reading weights and the engine's start."""
    name, settings, _ = RUNS[document]
    made = catalogue.load_scenario(name, overrides=list(settings))
    loading = float(evaluate(made.inputs(), made.model.attention)["loading_time"])
    start = failures_of(made.device.id).start
    return Amount.stated(start).over(lambda each: loading + each)


def patience(probe: Probe) -> float:
    """From a server's start to the end of the first check that it fails [s].

    No document says how many checks may fail; where the first decides, this is what a server has.
    """
    return _limit(probe.interval) + _limit(probe.timeout)


def kills(probe: Probe, start: float) -> bool:
    """Whether a probe whose first failure restarts the server does so before it can answer.

    Args:
        probe: of a document.
        start: until the server answers [s].
    """
    return patience(probe) < start


def allowed(probe: Probe, start: float) -> int:
    """Checks that have to be allowed to fail, so that a server lives to answer."""
    return math.ceil(start / _limit(probe.interval))


def probed() -> None:
    """The documents' probes beside how long a server takes to answer."""
    def answers(row: tuple[str, Probe]) -> str:
        value, low, high = (fmt_sig(each / MINUTE, 2) for each in starting(row[0]).points)
        return f"{value} ({low}–{high}) min"

    def verdict(row: tuple[str, Probe]) -> Pair:
        dead = [kills(row[1], each) for each in starting(row[0]).points]
        return (say("kills-it-while-it-loads") if all(dead) else
                say("may-kill-it") if any(dead) else say("waits"))

    table(probes(), [
        Column(lambda row: place(*row), common("section-line")),
        Column(lambda row: row[1].what, say("probe")),
        Column(lambda row: f"{_limit(row[1].interval):g} s / {_limit(row[1].timeout):g} s",
               say("interval-timeout")),
        Column(answers, say("answers-after")), Column(verdict, say("if-one-failure-restarts")),
        Column(lambda row: allowed(row[1], starting(row[0]).high),
               say("failures-to-allow-at-start"), fmt_int)], wide=True)


def _of_document(document: str) -> str:
    """Which of the deployments that are watched is of a document's plan."""
    return next(title for title, (name, _) in monitoring.WATCHED.items()
                if name == RUNS[document][0])
