"""Why a search that leaves out most deployments has tried all of them: counts, and bounds checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

import calc
import catalogue
from calc.evidence.systems import measured_names
from calc.layouts.feasible import has_room
from calc.layouts.layout import UTILIZATION, Choice, Row, scenario
from calc.many.fronts import front
from calc.searching.alternatives import alternatives
from calc.searching.draws import DRAWS
from calc.searching.goal import load_goal
from calc.searching.ranking import SURE, SampledRow
from calc.searching.search import COUNTED, Funnel, bound_words, search
from calc.searching.selection import Selection
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, Scenario
from catalogue.messages import Pair, join, messages
from catalogue.planning import OBJECTIVES
from catalogue.reading.units import human
from notebooks.pages.deciding.goals import Page, best_on_devices, cards, cell, goal_of, miss, plan
from notebooks.pages.deployments.answers import Deployed
from notebooks.show.columns import Column
from notebooks.show.display import markdown, number, table
from notebooks.show.drawing import Text
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/deciding/bounds")

CHECKED = 40  # deployments of the page's goal at which bounds are checked
MORE = 2.0 ** np.arange(0, 8)  # multiples of a deployment's requests
STEADY = "steady_tpot", "steady_throughput"
BURST = "tpot", "output_throughput"
CLOSE = 1 + 1e-9  # of numbers that are computed in another order
CHUNK = 8192  # tokens of a step
SMALL = ("precisions=fp8-block,w8a8-int8,w4a16-awq", f"space.chunks={CHUNK}", "space.drafts=0",
         "space.spares=none", "space.micro_batches=1", "space.memory_utilization=0.9",
         "space.decode_context=1", "space.pipeline=1,2,4,8", "space.any_engine=true")
MISSES = (
    ("r1-64-users-8xh20", ("precisions=bf16",), say("r1-in-bf16-on-server")),
    ("r1-80-users-910b", ("devices=ascend-910b2", "cards.most=16", "limits.tpot=10ms"),
     say("pace-beyond-reach")),
    ("r1-80-users-h20", ("devices=nvidia-h20", "precisions=fp8-block", "limits.ttft=1s",
                         "demand.input_tokens=65536", "demand.users=8", "limits.tpot=null"),
     say("prompts-too-long")),
)
PLAN_C = "s1-plan-c"


def funnel(page: Page) -> None:
    """What became of every deployment, goal by goal."""
    counts = [answer.result.funnel for answer in page.answers]

    def of_goal(place: int, each: Funnel) -> Column:
        return Column(lambda row: row[1](each), say("goal-of-several", place=place)
                      if len(counts) > 1 else say("number"))

    def counted(name: str) -> Callable[[Funnel], str | None]:
        return lambda each: fmt_int(each.counts[name]) if each.counts[name] else None

    rows = [(words, counted(name)) for name, words in bound_words().items()
            if any(each.counts[name] for each in counts)]
    first = [words for words, _ in rows].index(bound_words()[COUNTED[0]])
    rows.insert(first, (say("deployments-of-which"),
                        lambda each: f"**{fmt_int(each.deployments)}**"))
    rows.append((say("all-quantities-computed"), lambda each: fmt_int(each.computed)))
    table(rows, [Column(0, say("what-became-of-them")),
                 *(of_goal(place, each) for place, each in enumerate(counts, 1))],
          folded=say("what-became-of-every-deployment"))
    number("which-computed", sum(each.computed for each in counts) / max(
        1, sum(each.deployments for each in counts)), fmt_percent)


def stages(page: Page) -> None:
    """How long the pipelines of the best are, and how many of the measured systems have any."""
    longest = max((row.choice.pipeline for answer in page.answers
                   for row in best_on_devices(answer)), default=1)
    systems = measured_names()
    staged = sum(catalogue.load_scenario(name).inputs()["pipeline_parallel"] > 1
                 for name in systems)
    assert not staged  # the sentence says that no measured pipeline stands behind these
    markdown(*say("none-of-measured-systems-in", systems=len(systems), longest=longest))


def _sampled(answer: Selection) -> list[Row]:
    """Deployments of an answer, evenly: of its fronts, of other layouts, of what misses."""
    rows = [row for kept in answer.result.of_bases
            for part in (kept.front.rows, kept.layouts, kept.miss.rows) if part
            for row in (answer.result.row(part, place) for place in range(len(part["base"])))]
    step = max(1, len(rows) // CHECKED)
    return rows[::step]


def checks(page: Page) -> None:
    """Each bound at deployments of the page's goal, computed whole: none is on the wrong side."""
    answer = page.main
    demand = goal_of(answer).demand
    names = BURST if demand.arrivals == "burst" else STEADY
    paces, rates, falls = [], [], 0
    rows = _sampled(answer)
    for row in rows:
        deployed = scenario(goal_of(answer), row.choice)
        seen = evaluate(deployed.inputs(), deployed.model.attention)
        pace = (seen["decode_step_time"] + seen["draft_time"]) / seen["tokens_per_step"]
        most = row.choice.concurrency * demand.output_tokens / (
            pace * max(1, demand.output_tokens - 1))
        paces.append(float(pace / seen[names[0]]))
        rates.append(float(seen[names[1]] / most))
        headroom = _headrooms(deployed, row.choice.concurrency)
        falls += int((np.diff(headroom) <= 0).all())
    if not rows:
        markdown(*say("no-deployment-of-this-goal"))
        return
    assert max(paces) <= CLOSE
    assert max(rates) <= CLOSE
    assert falls == len(rows)
    low, high = (fmt_percent(end(paces), 0) for end in (min, max))
    least, most = (fmt_percent(end(rates), 0) for end in (min, max))
    markdown(*say("at-deployments-of-this-search", rows=len(rows), low=low, high=high, least=least,
              most=most))


def _headrooms(deployed: Scenario, requests: int) -> np.ndarray:
    """What is spare with ever more requests [B]."""
    inputs = deployed.inputs() | {"concurrency": requests * MORE}
    return np.asarray(evaluate(inputs, deployed.model.attention)["headroom_per_device"])


def by_hand() -> None:
    """A small goal without any bound: each cut as a file of its own, computed whole."""
    goal = load_goal("r1-64-users-8xh20", SMALL)
    names = ("throughput_per_card", "tpot", "ttft")
    found = search(goal)
    ours = {tuple(row.quantities[name] for name in names) for row in found.rows(found.front)}
    files = list(_files(goal))
    seen = [(deployed, evaluate(deployed.inputs(), deployed.model.attention))
            for deployed in files if deployed]
    rows = [[float(of["steady_throughput"]) / deployed.devices, float(of["steady_tpot"]),
             float(of["steady_ttft"])] for deployed, of in seen if has_room(of)]
    columns = dict(zip(names, np.array(rows).T, strict=True))
    kept = front(columns, {name: OBJECTIVES[name] for name in names})
    theirs = {tuple(columns[name][place] for name in names) for place in kept}
    one, other = (np.array(sorted(each)) for each in (ours, theirs))
    assert one.shape == other.shape
    np.testing.assert_allclose(one, other, rtol=CLOSE - 1)
    number("which-hand-files", len(files))


def _files(goal: Any) -> Iterator[Scenario | None]:
    """Every tensor, pipeline, data and expert parallel size of eight cards; None is refused."""
    most = goal.cards.most
    device = goal.devices[0].device
    node = catalogue.load_device(device).node
    sizes = range(1, most + 1)
    for precision, tp, pp, dp, ep in product(goal.precisions, sizes, sizes, sizes, sizes):
        if tp * pp * dp != most or ep > tp * dp:
            continue
        try:
            yield scenario(goal, Choice(device, node, None, precision, most, tp, pp, dp, ep, 0, 0,
                                        1, CHUNK, 1, 0, UTILIZATION, goal.demand.users))
        except ParamsError:
            yield None


def told_apart(page: Page) -> None:
    """Two neighbours of a front on the same cards: their intervals overlap, their draws do not."""
    number("which-draws", DRAWS)
    number("which-apart", SURE, fmt_percent, digits=0)
    pair = next(_overlapping([page.main, *page.answers]), None)
    if pair is None:
        markdown(*say("here-no-two-neighbours-on"))
        return
    slow, fast = pair
    one, other = (say("deployment", cards=cards(each.row.choice), plan=plan(each.row.choice))
                  for each in pair)
    place = next(place for place, answer in enumerate(page.answers, 1)
                 if goal_of(answer) == slow.goal)
    markdown(*say("of-two-neighbours-on-front", goal=say("goal-of-several", place=place),
              slow=one, slow_pace=cell(slow, "tpot"), fast=other,
              fast_pace=cell(fast, "tpot"), share=fmt_percent(_faster(fast, slow), 0),
              draws=DRAWS))


def _faster(fast: SampledRow, slow: SampledRow) -> float:
    """In which share of draws one is faster than another [1]."""
    return float(np.mean(fast.quantities["tpot"] < slow.quantities["tpot"]))


def _overlapping(answers: Sequence[Selection]) -> Iterator[tuple[SampledRow, SampledRow]]:
    """Neighbours on a front on the same cards, laid out otherwise, whose intervals overlap and of
    which the second is faster in enough draws."""
    for answer in answers:
        firsts = [group[0] for group in answer.front] if answer.result.front.rows else []
        for one, other in pairwise(firsts):
            (_, left), (right, _) = sorted((one.amounts["tpot"].ends, other.amounts["tpot"].ends))
            first, second = one.row.choice, other.row.choice
            slow, fast = sorted((one, other), key=lambda each: -each.amounts["tpot"].value)
            if (left > right and cards(first) == cards(second) and plan(first) != plan(second)
                    and _faster(fast, slow) >= SURE):
                yield slow, fast


def misses() -> None:
    """Goals that nothing meets, and what comes nearest."""
    rows = []
    for name, settings, title in MISSES:
        answer = Selection(search(load_goal(name, settings)))
        assert not answer.met
        assert answer.nearest_miss is not None
        rows.append((title, answer, answer.nearest_miss))
    table(rows, [
        Column(_goal, say("goal")),
        Column(lambda row: row[1].result.funnel.deployments, say("tried"), fmt_int),
        Column(lambda row: cards(row[2].choice), say("nearest")),
        Column(lambda row: plan(row[2].choice), common("weights-and-layout")),
        Column(lambda row: miss(*row[1:]), say("what-it-misses-by"))], wide=True)


def _goal(row: tuple[Pair, Selection, Row]) -> Pair:
    demand = goal_of(row[1]).demand
    return join((", ", "，"), (row[0], say("lengths", taken=fmt_int(demand.input_tokens),
                                           given=fmt_int(demand.output_tokens))))


def plan_c() -> None:
    """What would run in place of plan C of document S1, on its cards, four answers side by side."""
    asked = catalogue.load_scenario(PLAN_C)
    nearest, others = calc.estimate(asked).nearest, alternatives(asked)
    assert nearest is not None
    assert others.official_precision is not None
    assert others.official is not None
    answers: list[tuple[Pair, Any]] = [
        (say("nearest-change"), nearest), (say("best-in-its-precision"), others.own),
        (say("best-in-any-precision"), others.best),
        (say("best-in-published-weights", weights=others.official_precision), others.official)]

    deployed = Deployed(asked)

    def of(name: str, heading: Text, fmt: Callable[..., str], **options: Any) -> Column:
        return Column(lambda row: row[2].answers[name].value, heading, fmt, **options)

    table([(which, found, deployed.changed(found.settings)) for which, found in answers
           if found is not None], [
        Column(0, say("proposed")),
        Column(lambda row: " ".join(f"`{key.rpartition('.')[2]}={value}`" for key, value
                                    in row[1].settings.items()), say("what-changes")),
        Column(lambda row: row[2].headroom, say("spare-per-card"), fmt_bytes),
        Column(lambda row: row[2].room, common("requests-that-fit"), fmt_int),
        of("tpot", "TPOT", fmt_time),
        of("output_throughput", common("throughput"), human, unit="token/s")], wide=True)
    number("which-c-tried", others.tried)
