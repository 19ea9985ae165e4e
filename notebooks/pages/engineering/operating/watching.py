"""Watching: how long an alert has to hold, and how long a probe has to wait for a server."""

from __future__ import annotations

import math
from functools import cache

import catalogue
from calc.capacity.availability import failures_of
from calc.closed_form.evaluate import evaluate
from calc.launching.watching.alerts import BUSY, DOWN, HOLD, WINDOW
from calc.launching.watching.monitoring import seconds
from calc.launching.watching.predictions import Predicted, predicted
from calc.uncertainty.amount import Amount
from catalogue.ledger.documents import Hold, Probe
from catalogue.messages import Pair, messages
from catalogue.reading.units import MINUTE
from notebooks.pages.deciding.service import RUNS
from notebooks.pages.derivations.choices.documents import place
from notebooks.pages.engineering import claims
from notebooks.pages.engineering.operating import monitoring
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/engineering/operating/watching")

SIGMAS = 2  # standard deviations by which a mean has to stay off its threshold
DAY = "azure-conversation"
BELOW = "S1-388"  # the alert of S1 on throughput
SLOW = "S1-389"  # and that on the time to first token


@cache
def forecast(title: str) -> Predicted:
    """What is predicted of one of the deployments that are watched."""
    name, overrides = monitoring.WATCHED[title]
    return predicted(catalogue.load_scenario(name, overrides=list(overrides)))


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
    rows = []
    span = seconds(WINDOW)
    for title in monitoring.WATCHED:
        of = forecast(title)
        rows.append({
            "plan": title, "requests": fmt_int(round(of.requests.value * span)),
            "scatter": fmt_percent(scatter(of, span), 0),
            "prior": _window(of, of.ttft.high / of.ttft.value - 1),
            "bench": _window(of, monitoring.OWN)})
    table(rows, {"plan": common("deployment"),
                 "requests": say("requests-in", window=WINDOW),
                 "scatter": say("scatter-of-their-mean-ttft"),
                 "prior": say("window-needed-threshold-from-interval"),
                 "bench": say("window-needed-beyond-bench", by=fmt_percent(monitoring.OWN, 0))})
    number("mo-window", span / MINUTE, fmt_fixed, digits=0)
    number("mo-hold", seconds(HOLD) / MINUTE, fmt_fixed, digits=0)
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
    most = forecast(_s1()).throughput.value
    return sum(most * hour / max(load.hours) < limit for hour in load.hours)


def _s1() -> str:
    return next(title for title, (name, _) in monitoring.WATCHED.items() if name == RUNS["s1"][0])


def _limit(name: str) -> float:
    found = claims.select_claims(name)[0].case.printed
    assert found
    return found.value


def documented() -> None:
    """S1's durations beside what they do, and beside those that are written here."""
    of = forecast(_s1())
    hours = quiet_hours(_limit(BELOW))
    ttft = fmt_quantity(of.ttft.value, "s")
    share = fmt_percent(catalogue.load_scenario("s1-launch-production").inputs()[
        "memory_utilization"], 0)
    says: dict[str, tuple[Pair, str]] = {
        "S1-387": (say("is-taken-at-start-and", share=share), "–"),
        BELOW: (say("hours-of-day-are-quieter", hours=hours),
                f"{HOLD}, {fmt_percent(BUSY, 0)} of requests in flight"),
        SLOW: (say("predicted-fires-always-only-later", ttft=ttft), f"{HOLD}, mean of {WINDOW}")}
    rows = [{"said": place("s1", hold), "rule": hold.name,
             "time": f"{fmt_fixed(hold.time.value / MINUTE, 0)} min",
             "does": says[hold.claims[0]][0], "ours": says[hold.claims[0]][1]}
            for hold in holds()]
    rows.append({"said": "–", "rule": "`ServerDown`", "time": "–", "ours": DOWN,
                 "does": say("s1-has-no-alert-on")})
    table(rows, {"said": common("section-line"), "rule": common("alert"),
                 "time": say("its-for"),
                 "does": say("what-waiting-does-there"),
                 "ours": say("written-by-deploy")}, wide=True)
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
    rows = []
    for document, probe in probes():
        start = starting(document)
        ends = [fmt_sig(each / MINUTE, 2) for each in (start.value, start.low, start.high)]
        dead = [kills(probe, each) for each in (start.low, start.value, start.high)]
        verdict: Pair = (say("kills-it-while-it-loads") if all(dead) else
                         say("may-kill-it") if any(dead) else say("waits"))
        rows.append({
            "said": place(document, probe), "what": (probe.what["en"], probe.what["zh"]),
            "times": f"{_limit(probe.interval):g} s / {_limit(probe.timeout):g} s",
            "start": "{} ({}–{}) min".format(*ends), "verdict": verdict,
            "allowed": fmt_int(allowed(probe, start.high))})
    table(rows, {"said": common("section-line"), "what": say("probe"),
                 "times": say("interval-timeout"),
                 "start": say("answers-after"),
                 "verdict": say("if-one-failure-restarts"),
                 "allowed": say("failures-to-allow-at-start")},
          wide=True)
    of = forecast(next(title for title, (name, _) in monitoring.WATCHED.items()
                       if name == RUNS["s0"][0]))
    limit = _limit("S0-490")
    number("mo-cut", limit)
    number("mo-cut-tokens", (limit - of.ttft.value) / of.tpot.value, fmt_sig, digits=2)
    number("mo-cut-answer", int(of.answer))
