"""What the documents call available, beside how much of it is there when servers fail."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import catalogue
from calc.capacity.availability import Fleet, failures_of, spares_for
from catalogue.ledger import Measure, Rank, Rated
from catalogue.messages import Pair, messages
from catalogue.reading.units import DAY, HOUR, YEAR
from notebooks.pages.deciding import service
from notebooks.pages.deciding.capacity import failing
from notebooks.pages.derivations.choices.documents import place
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/capacity/rated")

RANKS: dict[Rank, Pair] = {"low": say("low"), "medium": say("medium"), "high": say("high")}
RUNS = service.RUNS["s1"][:2]
PROMISE = 0.999  # that S1 promises and S0 calls normal


@cache
def rated() -> tuple[tuple[str, Rated], ...]:
    """What the documents rate, with which document."""
    return tuple((document, each) for document in ("s0", "s1")
                 for each in catalogue.load("documents", document).rated)


def _replicas(made: catalogue.Scenario) -> int:
    """That fail alone: those that share experts serve as one."""
    inputs = made.inputs()
    shared = inputs["expert_parallel"] > inputs["tensor_parallel"]
    return 1 if shared else int(inputs["data_parallel"])


@cache
def fleet(name: str, settings: tuple[str, ...] = (), spares: int = 0) -> Fleet:
    """The servers of a deployment as it is cut, as if it fitted."""
    made = catalogue.load_scenario(name, overrides=list(settings))
    replicas = _replicas(made)
    return failing.fleet(made, replicas, made.devices // replicas, spares)


@cache
def lost(name: str, settings: tuple[str, ...] = ()) -> float:
    """Share of the throughput that a failed server takes, of the one that takes most [1]."""
    made = catalogue.load_scenario(name, overrides=list(settings))
    replicas = _replicas(made)
    here = max(1, int(made.node.devices_per_node.value) * replicas // made.devices)
    return min(1.0, here / replicas)


def dark(of: Fleet) -> float:
    """Time of a year in which nothing answers [s]."""
    return (1 - of.promised(1)) * YEAR


def _long(time: float) -> str:
    """A time of a year, to two digits."""
    if time < 1:
        return "< 1 s"
    return f"{fmt_sig(time, 2)} s" if time < HOUR else f"{fmt_sig(time / HOUR, 2)} h"


def table_of_plans() -> None:
    """Every deployment that a document rates, as it is cut, and S1's plan C as one group."""
    rows: list[tuple[Any, ...]] = [
        (catalogue.load_scenario(each.scenario).file.title, place(document, each),
         RANKS[each.rank], (each.scenario,)) for document, each in rated()]
    rows.append((say("s1-plan-c-as-it-can-run"), None, None, RUNS))

    def of(shown: Callable[[Fleet], Any], heading: Pair, *fmt: Any, **options: Any) -> Column:
        return Column(lambda row: shown(fleet(*row[3])), heading, *fmt, **options)

    table(rows, [
        Column(0, common("deployment")), Column(1, common("section-line")),
        Column(2, say("fault-tolerance-documented")),
        of(lambda fleet: f"{fleet.groups} × {fleet.servers}", say("groups-servers")),
        Column(lambda row: lost(*row[3]), say("failed-server-takes"), fmt_percent, digits=0),
        of(lambda fleet: _long(dark(fleet)), say("without-answer-year")),
        of(lambda fleet: fleet.promised(fleet.groups), say("time-with-all-of-it"), fmt_percent,
           digits=2),
        of(_there, common("throughput-available")),
        of(lambda fleet: spares_for(PROMISE, fleet),
           say("spares-for-all-of-it", promise=fmt_percent(PROMISE)), str)], wide=True)
    wide, pipeline = fleet(*RUNS), fleet("s0-config-4.2")
    number("scale-dark-wide", dark(wide) / DAY, fmt_fixed, digits=1)
    numbers({"scale-pipeline": 1 - pipeline.share,
             "scale-one": 1 - Fleet(**{**vars(pipeline), "servers": 1}).share}, fmt_percent,
            digits=2)
    number("scale-other-hours", pipeline.between_failures / HOUR)
    number("scale-promise", PROMISE, fmt_percent)
    number("scale-spares", spares_for(PROMISE, wide), str)


def measures() -> None:
    """What S1 would do about failures: the throughput that its plan has then, in both forms."""
    repair = failures_of("nvidia-h20").repair
    changed: dict[str, dict[str, Any]] = {
        "spare-card": {"spares": 1}, "fast-swap": {"repair": repair.low}}
    what: dict[str, Pair] = {
        "spare-card": say("server-on-standby-spare-card"),
        "fast-swap": say("repaired-in-h-not-h", low=fmt_sig(repair.low / HOUR, 2),
                         usual=fmt_sig(repair.value / HOUR, 2)),
        "degraded": say("one-server-failed")}

    def left(plan: tuple[Any, ...], heading: Pair) -> Column:
        def told(each: Measure) -> str:
            if each.name not in changed:
                return fmt_percent(1 - lost(*plan), 0)
            of = fleet(*plan)
            return f"{_there(of)} → {_there(Fleet(**{**vars(of), **changed[each.name]}))}"

        return Column(told, heading)

    table(catalogue.load("documents", "s1").measures, [
        Column(lambda each: place("s1", each), common("section-line")),
        Column("what", say("measure")), Column(lambda each: what[each.name], say("taken-as")),
        left(("s1-plan-c",), say("throughput-as-printed")),
        left(RUNS, say("throughput-as-it-can-run"))], wide=True)


def _there(of: Fleet) -> str:
    return fmt_percent(of.share, 2)
