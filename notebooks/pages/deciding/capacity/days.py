"""What the chapter on a day of users shows: replicas by the hour, percentiles, scaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.capacity.availability import failures_of
from calc.capacity.day import Day, Limits, Replica, ReplicaMetrics, day
from calc.serving.evaluate import evaluate
from catalogue.entries.operation import HOURS, Load
from catalogue.messages import LANGUAGES, messages, pair
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import draw, markdown, number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/capacity/days")

BUSY = (0.2, 0.4, 0.6, 0.8)  # shares of saturation in the table of percentiles
SHARE = 0.99
LENGTHS = (("1000", "500"), ("4000", "500"))


@dataclass(frozen=True)
class DayPlan:
    """What a page is about.

    Attributes:
        scenario: the deployment.
        replica: one of its replicas.
        load: how a day is spread.
        users, questions: of a day, and of each user.
        limits: what is promised.
        think: mean time between an answer and the next question [s].
        start: until a new replica serves [s].
    """

    scenario: catalogue.Scenario
    replica: Replica
    load: Load
    users: float
    questions: float
    limits: Limits
    think: float
    start: float

    @property
    def requests(self) -> float:
        """Of a day [request]."""
        return self.users * self.questions


def day_plan(scenario: str, settings: Sequence[str], load: str, users: float, questions: float,
             ttft: float, tpot: float, think: float) -> DayPlan:
    """The parameters of the page, as the runtime takes them.

    Raises ParamsError for what cannot be used.
    """
    loaded = catalogue.load_scenario(scenario, overrides=settings)
    replica = Replica(loaded)
    failures = failures_of(loaded.device.id)
    start = float(evaluate(replica.inputs, loaded.model.attention)["loading_time"])
    return DayPlan(loaded, replica, catalogue.load("loads", load), users, questions,
                   Limits(ttft, tpot, SHARE), think, start + float(failures.start.value))


def answered(page: DayPlan) -> Day:
    """The day of the page."""
    return day(page.replica, page.load, page.requests, page.limits, start=page.start,
               think=page.think)


def answer(page: DayPlan, found: Day) -> None:
    """The answer in a sentence, and the numbers of the page's prose."""
    seen, inputs = found.hours[found.busiest].seen, page.scenario.inputs()
    markdown(*say("replicas-for-users", users=fmt_int(page.users),
              questions=fmt_int(page.questions), bought=found.replicas,
              cards=found.devices, share=fmt_percent(SHARE, 0),
              ttft=fmt_time(page.limits.ttft), tpot=fmt_time(page.limits.tpot),
              busiest_ttft=fmt_time(seen.ttft_at), busiest_tpot=fmt_time(seen.tpot_at),
              utilisation=fmt_percent(found.utilisation, 0),
              saved=fmt_percent(found.saved_by_scaling, 0),
              heading=pair(page.scenario.heading), load=pair(page.load.name),
              input=fmt_int(inputs["input_tokens"]), output=fmt_int(inputs["output_tokens"])))
    number("day-online", round(found.online or 0))
    number("day-peak", page.load.peak, fmt_fixed)
    number("day-start", page.start / 60, fmt_sig, digits=2)


def picture(found: Day, lang: str) -> Figure:
    """Arrivals by the hour, and the rate that the replicas of each hour take."""
    at = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.6)
    edges, bought = np.arange(HOURS + 1), found.replicas * found.rate_within_limits
    axes.stairs([hour.rate for hour in found.hours], edges, fill=True, color=figures.PALETTE[0],
                alpha=0.55, label=say("arrivals")[at])
    axes.stairs([hour.replicas * found.rate_within_limits for hour in found.hours], edges,
                color=figures.PALETTE[1], lw=2, baseline=None,
                label=say("what-replicas-of-hour-take")[at])
    axes.axhline(bought, color=figures.INK, lw=1.2, ls="--",
                 label=say("replicas-all-day", bought=found.replicas)[at])
    for place, hour in enumerate(found.hours):
        axes.annotate(f"{hour.replicas}", (place + 0.5, hour.replicas * found.rate_within_limits),
                      xytext=(0, 2), ha="center", va="bottom", textcoords="offset points",
                      fontsize=8, color=figures.PALETTE[1])
    axes.set(xlim=(0, HOURS), ylim=(0, 1.25 * bought), xticks=range(0, HOURS + 1, 3),
             xlabel=say("hour")[at], ylabel=common("request-s")[at])
    axes.legend(loc="upper left", fontsize=8.5, ncols=3)
    return drawing


def percentiles(page: DayPlan) -> None:
    """Means and percentiles, over how busy a replica is and how long prompts are."""
    rows: list[tuple[int, ReplicaMetrics]] = []
    for prompt, answer_ in LENGTHS:
        replica = Replica(catalogue.load_scenario(page.scenario.id, overrides=[
            f"workload.input_tokens={prompt} token", f"workload.output_tokens={answer_} token",
            "workload.concurrency=64 request", "workload.requests=64 request"]))
        rows += [(int(prompt), replica.metrics(share * replica.saturation, SHARE))
                 for share in BUSY]
    table(rows, [
        Column(0, say("prompt"), fmt_int),
        Column(lambda row: row[1].rate, common("request-s"), fmt_sig),
        Column(lambda row: row[1].busy, say("of-saturation"), fmt_percent, digits=0),
        Column(lambda row: row[1].ttft, say("mean-of", name="TTFT"), fmt_time),
        Column(lambda row: row[1].ttft_at, "TTFT p99", fmt_time),
        Column(lambda row: row[1].tpot, say("mean-of", name="TPOT"), fmt_time),
        Column(lambda row: row[1].tpot_at, "TPOT p99", fmt_time)], wide=True)
    last = rows[-1][1]
    number("day-busiest", last.busy, fmt_percent, digits=0)
    number("day-slowest-first", last.ttft_at / last.ttft, fmt_sig, digits=2)


def loads(page: DayPlan) -> None:
    """The same requests on the days of every load of the catalogue."""
    every = [catalogue.load("loads", name) for name in catalogue.names("loads")]
    table([(load, day(page.replica, load, page.requests, page.limits, start=page.start))
           for load in every], [
        Column(lambda row: row[0].name, say("load")),
        Column(lambda row: row[0].peak, say("busiest-hour-over-mean"), fmt_fixed),
        Column(lambda row: row[0].variation.value, say("minute-to-minute"), fmt_sig, digits=2),
        Column(lambda row: row[1].rate_within_limits, say("request-s-of-replica"), fmt_sig),
        Column(lambda row: row[1].devices, common("number-of-cards")),
        Column(lambda row: row[1].utilisation, say("busy"), fmt_percent, digits=0),
        Column(lambda row: row[1].saved_by_scaling, say("saved-by-scaling"), fmt_percent,
               digits=0)])
    draw(partial(_over_mean, every))


def _over_mean(days: Sequence[Load], lang: str) -> Figure:
    """Days of several services over their own mean."""
    at = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.0)
    for colour, load in zip(figures.PALETTE, days, strict=False):
        rates = load.rates(1.0)
        mean = sum(rates) / len(rates)
        axes.stairs([rate / mean for rate in rates], np.arange(HOURS + 1), baseline=None, lw=2,
                    color=colour, label=load.name[lang])
    axes.axhline(1, color=figures.INK, lw=0.8)
    axes.set(xlim=(0, HOURS), ylim=(0, 2.9), xticks=range(0, HOURS + 1, 3),
             xlabel=say("hour")[at], ylabel=say("rate-over-day-mean")[at])
    axes.legend(loc="upper left", fontsize=8)
    return drawing
