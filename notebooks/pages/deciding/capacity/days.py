"""What the chapter on a day of users shows: replicas by the hour, percentiles, scaling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

import catalogue
from calc.answer.simulated import system_of
from calc.capacity.availability import failures_of
from calc.capacity.day import Checked, Day, check, day, simulated
from calc.capacity.replicas import Limits, Replica
from calc.closed_form.evaluate import evaluate
from calc.serving.arrivals import poisson
from calc.serving.simulation import simulate
from catalogue.messages import messages
from catalogue.planning.loads import Load
from notebooks.pages.deciding.capacity import day_figures
from notebooks.show.display import draw, number, show, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/capacity/days")

BUSY = (0.2, 0.4, 0.6, 0.8)  # of the saturation, at which both forms are held together
REQUESTS = 6000  # of such a run
COUNTED = slice(REQUESTS // 10, -REQUESTS // 10)
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
    start = float(evaluate(replica.inputs, replica.attention)["loading_time"])
    return DayPlan(loaded, replica, catalogue.load("loads", load), users, questions,
                   Limits(ttft, tpot, SHARE), think, start + float(failures.start.value))


def answered(page: DayPlan) -> Day:
    """The day of the page, its busiest hour simulated."""
    found = day(page.replica, page.load, page.requests, page.limits, start=page.start,
                think=page.think)
    return check(found, page.scenario, page.load, page.limits)


def answer(page: DayPlan, found: Day) -> None:
    """The answer in a sentence, and the numbers of the page's prose."""
    heading, cards = page.scenario.heading, found.bought * found.devices
    run = found.checked[-1]
    show(*say("replicas-for-users", users=fmt_int(page.users),
              questions=fmt_int(page.questions), bought=found.bought, cards=cards,
              share=fmt_percent(SHARE, 0), ttft=fmt_time(page.limits.ttft),
              tpot=fmt_time(page.limits.tpot), busiest_ttft=fmt_time(run.ttft),
              busiest_tpot=fmt_time(run.tpot),
              utilisation=fmt_percent(found.utilisation, 0), saved=fmt_percent(found.saved, 0),
              heading=(heading["en"], heading["zh"]),
              load=(page.load.name["en"], page.load.name["zh"])))
    number("day-most", found.most, fmt_sig)
    number("day-prompts-vary", page.replica.lengths.prompts, fmt_sig)
    number("day-answers-vary", page.replica.lengths.answers, fmt_sig)
    number("day-saturation", found.saturation, fmt_sig)
    number("day-online", round(found.online or 0))
    number("day-peak", page.load.peak, fmt_fixed)
    number("day-start", page.start / 60, fmt_sig, digits=2)


def picture(page: DayPlan, found: Day) -> None:
    """Arrivals of the day under the replicas that they need."""
    draw(partial(day_figures.replicas, [hour.rate for hour in found.hours],
                 [hour.replicas for hour in found.hours], found.most, found.bought))


def percentiles(page: DayPlan) -> None:
    """Closed form beside the simulation, over how busy a replica is and how long prompts are."""
    rows, firsts, laters = [], [], []
    for prompt, answer_ in LENGTHS:
        scenario = catalogue.load_scenario(page.scenario.id, overrides=[
            f"workload.input_tokens={prompt} token", f"workload.output_tokens={answer_} token",
            "workload.concurrency=64 request", "workload.requests=64 request"])
        replica, system = Replica(scenario), system_of(scenario)
        for share in BUSY:
            rate = share * replica.saturation
            seen = replica.seen(rate, SHARE)
            run = simulate(poisson(rate, REQUESTS, system.shapes, 1), system.pool)
            ttft, tpot = (np.array([getattr(each, name) for each in run.outcomes[COUNTED]])
                          for name in ("ttft", "tpot"))
            ttft = ttft + system.overhead
            first, later = (float(np.quantile(each, SHARE)) for each in (ttft, tpot))
            firsts.append(seen.ttft_at / first - 1)
            laters.append(seen.tpot_at / later - 1)
            rows.append({
                "prompt": int(prompt), "rate": fmt_sig(rate), "busy": fmt_percent(share, 0),
                "mean": f"{fmt_time(seen.ttft)} | {fmt_time(float(ttft.mean()))}",
                "first": f"{fmt_time(seen.ttft_at)} | {fmt_time(first)}",
                "pace": f"{fmt_time(seen.tpot)} | {fmt_time(float(tpot.mean()))}",
                "later": f"{fmt_time(seen.tpot_at)} | {fmt_time(later)}"})
    for row in rows:
        for name in ("mean", "first", "pace", "later"):
            row[name] = str(row[name]).replace(" | ", " · ")
    table(rows, {"prompt": say("prompt"), "rate": common("request-s"), "busy": say("of-saturation"),
                 "mean": say("ttft-formula-run"),
                 "first": ("TTFT p99", "TTFT p99"), "pace": ("TPOT", "TPOT"),
                 "later": ("TPOT p99", "TPOT p99")}, wide=True)
    for name, found in (("first", firsts), ("later", laters)):
        number(f"day-{name}-low", min(found), fmt_percent, digits=0)
        number(f"day-{name}-high", max(found), fmt_percent, digits=0)


def loads(page: DayPlan) -> None:
    """The same requests on the days of every load of the catalogue."""
    rows = []
    for name in catalogue.names("loads"):
        load = catalogue.load("loads", name)
        found = day(page.replica, load, page.requests, page.limits, start=page.start)
        rows.append({"load": (load.name["en"], load.name["zh"]), "peak": fmt_fixed(load.peak),
                     "variation": fmt_sig(float(load.variation.value), 2),
                     "most": fmt_sig(found.most), "cards": found.replicas * found.devices,
                     "busy": fmt_percent(found.utilisation, 0),
                     "saved": fmt_percent(found.saved, 0)})
    table(rows, {"load": say("load"), "peak": say("busiest-hour-over-mean"),
                 "variation": say("minute-to-minute"),
                 "most": say("request-s-of-replica"), "cards": common("number-of-cards"),
                 "busy": say("busy"), "saved": say("saved-by-scaling")})
    draw(partial(day_figures.loads, [
        ((entry := catalogue.load("loads", name)).name, entry.rates(1.0))
        for name in catalogue.names("loads")]))


def minutes(page: DayPlan, found: Day) -> None:
    """What a rate that varies from minute to minute takes from a replica."""
    rows, system = [], system_of(page.scenario)
    for variation in (0.0, 0.1, 0.22, 0.5, 1.0):
        most = page.replica.most(page.limits, variation)
        run: Checked = simulated(system, most, 1, page.limits, variation)
        rows.append({"variation": fmt_sig(variation, 2), "most": fmt_sig(most),
                     "ttft": fmt_time(run.ttft), "tpot": fmt_time(run.tpot)})
    table(rows, {"variation": say("variation-of-minute-rate"),
                 "most": say("request-s-within-limits"), "ttft": say("ttft-p99-simulated-at-it"),
                 "tpot": say("tpot-p99-simulated-at-it")})
