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
from catalogue.reading.units import MINUTE
from notebooks.pages.deciding.service import RUNS
from notebooks.pages.derivations.choices.documents import place
from notebooks.pages.engineering import claims
from notebooks.pages.engineering.operating import monitoring
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig

Text = tuple[str, str]
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


def _window(of: Predicted, room: float) -> Text:
    """That window in words."""
    window = window_for(of, room)
    if window * of.requests.value <= 1:
        return "one request", "一个请求"
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
    table(rows, {"plan": ("deployment", "部署"),
                 "requests": (f"requests in {WINDOW}", f"{WINDOW} 内的请求数"),
                 "scatter": ("scatter of their mean TTFT", "其 TTFT 均值的波动"),
                 "prior": ("window needed, threshold from the 80% interval",
                           "所需窗口：80% 区间阈值"),
                 "bench": (f"window needed, {fmt_percent(monitoring.OWN, 0)} beyond a bench",
                           f"所需窗口：实测基线外 {fmt_percent(monitoring.OWN, 0)}")})
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
    found = claims.chosen(name)[0].case.printed
    assert found
    return found.value


def documented() -> None:
    """S1's durations beside what they do, and beside those that are written here."""
    of = forecast(_s1())
    hours = quiet_hours(_limit(BELOW))
    ttft = fmt_quantity(of.ttft.value, "s")
    share = fmt_percent(catalogue.load_scenario("s1-launch-production").inputs()[
        "memory_utilization"], 0)
    says: dict[str, tuple[Text, str]] = {
        "S1-387": ((f"{share} is taken at the start and stays: nothing to wait for",
                    f"启动时占 {share}，此后不变，等多久都一样"), "–"),
        BELOW: ((f"{hours} hours of a day are quieter: fires in each",
                 f"一天有 {hours} 小时负载低于此值，每次都触发"),
                f"{HOLD}, {fmt_percent(BUSY, 0)} of requests in flight"),
        SLOW: ((f"predicted {ttft}: fires always, only later",
                f"预测为 {ttft}：总会触发，只是晚一点"), f"{HOLD}, mean of {WINDOW}")}
    rows = [{"said": place("s1", hold), "rule": hold.name,
             "time": f"{fmt_fixed(hold.time.value / MINUTE, 0)} min",
             "does": says[hold.claims[0]][0], "ours": says[hold.claims[0]][1]}
            for hold in holds()]
    rows.append({"said": "–", "rule": "`ServerDown`", "time": "–", "ours": DOWN,
                 "does": ("S1 has no alert on a server that is gone", "S1 没有服务失联告警")})
    table(rows, {"said": ("section, line", "章节、行"), "rule": ("alert", "告警"),
                 "time": ("its `for`", "其 `for`"),
                 "does": ("what waiting does there", "等待的作用"),
                 "ours": ("written by `deploy`", "`deploy` 所写")}, wide=True)
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
        verdict: Text = (("kills it while it loads", "加载未完就被判死") if all(dead) else
                         ("may kill it", "可能误杀") if any(dead) else ("waits", "等得到"))
        rows.append({
            "said": place(document, probe), "what": (probe.what["en"], probe.what["zh"]),
            "times": f"{_limit(probe.interval):g} s / {_limit(probe.timeout):g} s",
            "start": "{} ({}–{}) min".format(*ends), "verdict": verdict,
            "allowed": fmt_int(allowed(probe, start.high))})
    table(rows, {"said": ("section, line", "章节、行"), "what": ("probe", "探测"),
                 "times": ("interval / timeout", "间隔 / 超时"),
                 "start": ("answers after", "多久后应答"),
                 "verdict": ("if one failure restarts", "若一次失败即重启"),
                 "allowed": ("failures to allow at the start", "启动时应容许的失败次数")},
          wide=True)
    of = forecast(next(title for title, (name, _) in monitoring.WATCHED.items()
                       if name == RUNS["s0"][0]))
    limit = _limit("S0-490")
    number("mo-cut", limit)
    number("mo-cut-tokens", (limit - of.ttft.value) / of.tpot.value, fmt_sig, digits=2)
    number("mo-cut-answer", int(of.answer))
