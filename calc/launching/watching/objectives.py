"""Alerts on what a service promises: how fast the share of requests that may be late is used up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from calc.launching.watching.signals import Quantile, Signal
from catalogue.entries.entry import MEAN, PERCENTILES, ServiceLimits
from catalogue.reading.amounts import human, plain

NAMES = {"ttft": "TimeToFirstToken", "tpot": "TimePerOutputToken", "e2e": "EndToEndLatency"}
WORDS = {"ttft": "time to first token", "tpot": "time per output token",
         "e2e": "end-to-end latency"}
MOST_LATE = 0.9  # of the requests, from where a share can hardly grow


@dataclass(frozen=True)
class Pace:
    """How fast a budget is used up until somebody is told, over a long and a short window.

    The paces, windows and severities are those of the Site Reliability Workbook, chapter 5, table
    5-8: of a budget for thirty days 2% in an hour, 5% in six hours, 10% in three days.

    Attributes:
        name: of the alert, after the quantity's.
        burn: times the pace at which a budget lasts exactly its period.
        windows: over which it holds.
        severity: of the alert.
        step: seconds between the samples of a unit test.
    """

    name: str
    burn: float
    windows: tuple[str, str]
    severity: str
    step: float


PACES = (Pace("BudgetBurnsFast", 14.4, ("1h", "5m"), "critical", 15.0),
         Pace("BudgetBurns", 6.0, ("6h", "30m"), "critical", 120.0),
         Pace("BudgetIsSpent", 1.0, ("3d", "6h"), "warning", 900.0))


@dataclass(frozen=True)
class Objective:
    """An alert on a promise.

    Attributes:
        name, severity, summary, because: as of an alert.
        signal: what is looked at; it fires above ``limit`` over both ``windows``.
        step: seconds between the samples of a unit test.
    """

    name: str
    severity: str
    summary: str
    because: str
    signal: Signal
    limit: float
    windows: tuple[str, str]
    step: float


def stated(limits: ServiceLimits | None) -> Mapping[str, tuple[str, float]]:
    """What is promised: quantity -> ``mean`` or a percentile, and the limit [s]."""
    found = {} if limits is None else {name: getattr(limits, name) for name in NAMES}
    return {name: next(iter(limit.stated.items())) for name, limit in found.items() if limit}


def objectives(quantity: str, at: str, limit: float, mean: Signal | None, histogram: str | None,
               job: str) -> Iterator[Objective]:
    """The alerts on one promise.

    Of a percentile p a share 1 - p may be late: its budget. That the budget is used up b times as
    fast as it may is that a share b·(1 - p) is late, which is that the quantile 1 - b·(1 - p) is
    above the limit; where b·(1 - p) would be more than nine tenths, it is nine tenths. A mean has
    no budget: it is looked at over an hour and over five minutes.

    Args:
        quantity: ``ttft``, ``tpot`` or ``e2e``.
        at: ``mean`` or a percentile.
        limit: [s].
        mean: the signal of the mean; None where the release has none.
        histogram: whose quantiles tell the percentile; None where the release has none.
        job: the pool, as it is scraped.
    """
    promised = f"{WORDS[quantity]} {at} of at most {human(limit, 's')}"
    if at == MEAN or histogram is None:
        if mean is None:
            return
        instead = "" if at == MEAN else ", told by the mean: the release has no such histogram"
        yield Objective(f"{NAMES[quantity]}AboveLimit", "critical",
                        f"Promised: {promised}.", f"the limit of the service{instead} [s]", mean,
                        limit, PACES[0].windows, PACES[0].step)
        return
    budget, seen = 1 - PERCENTILES[at], set()
    for pace in PACES:
        late = min(MOST_LATE, pace.burn * budget)
        if late in seen:
            continue
        seen.add(late)
        yield Objective(
            f"{NAMES[quantity]}{pace.name}", pace.severity, f"Promised: {promised}.",
            f"the limit of the service: more than {plain(late)} of the requests are late, "
            f"{plain(late / budget)} times as many as may be [s]",
            Quantile(job, histogram, 1 - late), limit, pace.windows, pace.step)
