"""What the documents call available, beside how much of it is there when servers fail."""

from __future__ import annotations

from functools import cache

import catalogue
from calc.capacity.availability import Fleet, failures_of, fleet_of, spares_for
from calc.closed_form.evaluate import evaluate
from catalogue.ledger.documents import Rank, Rated
from catalogue.messages import Pair, messages
from catalogue.reading.units import DAY, HOUR, YEAR
from notebooks.pages.derivations.choices.documents import place
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/capacity/rated")

RANKS: dict[Rank, Pair] = {"low": say("low"), "medium": say("medium"), "high": say("high")}
RUNS = ("s1-plan-c", ("precision=fp8-block", "parallelism.expert_parallel=32",
                      "workload.max_num_batched_tokens=8192 token"))
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
    loading = float(evaluate(made.inputs(), made.model.attention)["loading_time"])
    return fleet_of(replicas, made.devices // replicas,
                    int(made.node.devices_per_node.value), failures_of(made.device.id), loading,
                    spares)


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


def _row(title: Pair, said: str, rank: Pair, name: str, settings: tuple[str, ...] = ()
         ) -> dict[str, object]:
    of = fleet(name, settings)
    spares = spares_for(PROMISE, of)
    return {"plan": title, "said": said, "rank": rank, "groups": f"{of.groups} × {of.servers}",
            "lost": fmt_percent(lost(name, settings), 0), "dark": _long(dark(of)),
            "all": fmt_percent(of.promised(of.groups), 2),
            "share": fmt_percent(of.share, 2), "spares": "–" if spares is None else str(spares)}


def table_of_plans() -> None:
    """Every deployment that a document rates, as it is cut, and S1's plan C as it can run."""
    rows = []
    for document, each in rated():
        made = catalogue.load_scenario(each.scenario)
        title = made.file.title
        rows.append(_row((title["en"], title["zh"]), place(document, each), RANKS[each.rank],
                         each.scenario))
    rows.append(_row(say("s1-plan-c-as-it-can-run"), "–", ("–", "–"), *RUNS))
    promise = fmt_percent(PROMISE)
    table(rows, {
        "plan": common("deployment"), "said": common("section-line"),
        "rank": say("fault-tolerance-documented"), "groups": say("groups-servers"),
        "lost": say("failed-server-takes"), "dark": say("without-answer-year"),
        "all": say("time-with-all-of-it"), "share": common("throughput-available"),
        "spares": say("spares-for-all-of-it", promise=promise)}, wide=True)
    narrow, few, wide = fleet("s1-plan-c"), fleet("s1-plan-b"), fleet(*RUNS)
    pipeline = fleet("s0-config-4.2")
    one = Fleet(**{**vars(pipeline), "servers": 1})
    number("scale-dark-wide", dark(wide) / DAY, fmt_fixed, digits=1)
    number("scale-pipeline", 1 - pipeline.share, fmt_percent, digits=2)
    number("scale-one", 1 - one.share, fmt_percent, digits=2)
    number("scale-c-all", narrow.promised(narrow.groups), fmt_percent)
    number("scale-b-all", few.promised(few.groups), fmt_percent)
    number("scale-promise", PROMISE, fmt_percent)
    number("scale-a-lost", lost("s1-plan-a"), fmt_percent, digits=0)
    number("scale-b-lost", lost("s1-plan-b"), fmt_percent, digits=0)
    number("scale-spares", str(spares_for(PROMISE, wide)), str)


def measures() -> None:
    """What S1 would do about failures, for its plan as it is cut and as it can run."""
    cut, runs = fleet("s1-plan-c"), fleet(*RUNS)
    repair = failures_of("nvidia-h20").repair
    changed = {
        "spare-card": [Fleet(**{**vars(of), "spares": 1}) for of in (cut, runs)],
        "fast-swap": [Fleet(**{**vars(of), "repair": repair.low}) for of in (cut, runs)]}
    what: dict[str, Pair] = {
        "spare-card": say("server-on-standby-spare-card"),
        "fast-swap": say("repaired-in-h-not-h", low=fmt_sig(repair.low / HOUR, 2),
                         usual=fmt_sig(repair.value / HOUR, 2)),
        "degraded": say("one-server-failed")}
    rows = []
    plans = (("s1-plan-c",), RUNS)
    for each in catalogue.load("documents", "s1").measures:
        row: dict[str, object] = {
            "said": place("s1", each), "measure": (each.what["en"], each.what["zh"]),
            "tried": what[each.name]}
        for place_, of in enumerate((cut, runs)):
            if each.name in changed:
                row[f"of{place_}"] = (f"{fmt_percent(of.promised(of.groups), 2)} → "
                                     f"{_all(changed[each.name][place_])}")
            else:
                left = fmt_percent(1 - lost(*plans[place_]), 0)
                row[f"of{place_}"] = say("is-left", left=left)
        rows.append(row)
    table(rows, {"said": common("section-line"), "measure": say("measure"),
                 "tried": say("taken-as"), "of0": say("plan-c-as-printed-time"),
                 "of1": say("as-it-can-run-ep32")}, wide=True)


def _all(of: Fleet) -> str:
    return fmt_percent(of.promised(of.groups), 2)

