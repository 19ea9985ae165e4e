"""Which deployments an answer tells of those that it ranks: what starts, stands, is plain, is near.
"""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import BASE, PLAIN, cells

import catalogue
from calc.layouts.choice import Row, Start
from calc.many.fronts import Best, Front
from calc.searching import result as module
from calc.searching.goal import Wishes
from calc.searching.load_goal import load_goal
from calc.searching.result import MOST_REFUSED, Answer
from calc.searching.robust import HOLDS, SampledRow
from calc.searching.search import BaseResult

GOAL = load_goal("r1-80-users-h20")  # the fewest cards, 50 ms per token and 2 s to the first


def row(number, pipeline=1, **more):
    """A deployment that its chunk tells from others, and its stages by kind."""
    return Row(replace(PLAIN, chunk=number, pipeline=pipeline),
               {"tpot": number / 1000, "throughput": 9.0} | more)


@dataclass
class Told(Answer):
    """An answer whose rows are groups of their own, with how often each keeps its limits."""

    shares: dict = field(default_factory=dict)
    late: tuple = ()

    def _ranked(self, rows):
        return [[SampledRow(GOAL, each, {})] for each in rows]

    def keeps(self, each):
        return self.shares.get(each.row.choice.chunk, 1.0)

    def simulated(self, row):
        if row.choice.chunk not in self.shares and not self.late:
            return None
        return Made(keeps=row.choice.chunk not in self.late)

    def _plain(self, each):
        return each


def answer(rows, *settings, objectives=None, starts=None, any_engine=False, **more):
    goal = load_goal("r1-80-users-h20", settings) if settings else GOAL
    asked = Wishes(goal, objectives or {"tpot": -1, "ttft": -1}, 1, {}, ())
    found = Made(wishes=asked, space=None, pairs=None, bases=[], of_bases=[],
                 front=None, rows=lambda front, most=None: [*rows][:most])
    return Told(found, starts=starts, **more)


def chunks(groups):
    return [each.row.choice.chunk for each, *_ in groups]


def refusing(*stages):
    """Which release starts a deployment: none with so many stages."""
    return lambda goal, row: Start(None if row.choice.pipeline in stages else "vllm@1")


def test_the_best_at_central_values_come_first_and_one_of_each_kind_that_starts():
    """What no release starts gives its place to the next, with all others of its kind."""
    rows = [row(5, 2), row(2, 2), row(3), row(4, 3), row(9), row(1, 2)]
    some = answer(rows, starts=refusing(2))
    assert [each.choice.chunk for each in some.candidates] == [1, 2, 3, 4, 5, 9]
    assert chunks(some.front) == [3, 4, 9]
    assert [each.choice.chunk for each in some.refused] == [1]
    assert (some.best.choice.chunk, some.central.choice.chunk, len(some.candidates)) == (3, 1, 6)
    assert some.met
    any_of_them = answer(rows, "space.any_engine=true", starts=refusing(2))
    assert chunks(any_of_them.front) == [1, 2, 3, 4]
    assert not answer([]).met
    assert answer([]).best is None
    assert answer([]).central is None


def test_so_many_kinds_are_refused_before_it_is_said_that_nothing_starts():
    rows = [row(n, pipeline=n) for n in range(1, MOST_REFUSED + 9)]
    none = answer(rows, starts=lambda goal, row: Start(None, "no"))
    assert none.front == []
    assert len(none.refused) == MOST_REFUSED
    assert none.start(rows[0]) is none.start(rows[0])
    assert answer(rows).start(rows[0]) is None


def test_as_many_are_told_as_are_asked_for_and_more_until_one_stands():
    """A simulation that keeps no limit leaves one out; one that seldom keeps them comes last."""
    rows = [row(n) for n in range(1, 9)]
    assert chunks(answer(rows, most=2).front) == [1, 2]
    assert chunks(answer(rows, most=2, late=(1, 3)).front) == [2, 4]
    seldom = answer(rows, most=2, shares={1: .5, 2: .7, 3: .79, 4: HOLDS, 5: 1.0})
    assert chunks(seldom.front) == [4, 1]
    free = answer(rows, "limits.tpot=null", "limits.ttft=null", most=2, shares={1: .5, 2: .5})
    assert chunks(free.front) == [1, 2]


@pytest.mark.parametrize(("share", "late", "asked", "stands"), [
    (HOLDS, (), HOLDS, True), (.79, (), HOLDS, False), (.79, (), .7, True), (1.0, (7,), .1, False),
    (None, (), .1, False), (None, (), 0.0, True)])
def test_a_deployment_stands_that_keeps_its_limits_often_enough_and_simulated(
        share, late, asked, stands):
    some = answer([row(7)], shares={7: share}, late=late)
    assert some._stands(SampledRow(GOAL, row(7), {}), asked) is stands


def test_a_deployment_that_keeps_them_seldom_once_it_is_simulated_does_not_stand():
    some = answer([row(7)], shares={7: .9})
    some.simulated = lambda row: some.shares.update({7: .5}) or Made(keeps=True)
    assert not some._stands(SampledRow(GOAL, row(7), {}))


def test_where_the_first_keeps_no_limits_for_sure_those_with_more_to_spare_are_ranked(monkeypatch):
    """Unless limits are objectives too; none is ranked twice, none of a kind that is refused."""
    given = []
    monkeypatch.setattr(module, "rows_with_margin", lambda found, rows, most: given.append(
        [each.choice.chunk for each in rows]) or [*rows])
    rows, farther = [row(10), row(40)], [row(40), row(30), row(20, 2)]

    def ranked(*settings, shares, objectives=None, refused=()):
        some = answer(rows, *settings, objectives=objectives or {"tpot": -1}, shares=shares)
        some.__dict__["_farther"] = farther
        some._refused.extend(refused)
        return chunks(some._ranking())

    assert ranked(shares={10: .9}) == [10, 40]
    assert ranked(shares={10: .1}) == [10, 40, 30, 20]
    assert given == [[30, 20]]
    assert ranked(shares={10: .1}, refused=[row(1, 2)]) == [10, 40, 30]
    assert ranked(shares={10: .1}, objectives={"tpot": -1, "ttft": -1}) == [10, 40]
    far = row(10), row(99, 3)
    monkeypatch.setattr(module, "near_best", lambda found, one, best: one is not far[0])
    rows[:] = far
    assert ranked(shares={10: .9}) == [10, 99, 40, 30, 20]


def test_the_first_that_is_sure_starts_and_stands():
    rows = [row(n) for n in (1, 2, 3)]
    some = answer(rows, shares={1: .89, 2: .9, 3: .95})
    assert some.first_sure.row.choice.chunk == 2
    assert answer(rows, shares={1: .89, 2: .8, 3: .85}).first_sure is None
    some = answer(rows, shares={1: .89, 2: .9, 3: .95})
    some.__dict__["sure"] = Made(share=.93, front=[Made(row=each) for each in rows])
    assert some.first_sure.row.choice.chunk == 3


def test_extras_that_win_nothing_to_be_told_are_left_out(monkeypatch):
    """Redundant experts and micro-batches together, then the one, then the other."""
    extra = replace(PLAIN, spares=8, micro_batches=2)
    there = {}
    some = Answer(Made(wishes=Wishes(GOAL, {"tpot": -1}, 1, {}, ()), again=there.get))
    shares = {}
    some.keeps = lambda each: shares.get(each.row.choice)
    monkeypatch.setattr(module, "sample_rows", lambda found, rows: [
        SampledRow(GOAL, each, {}) for each in rows])
    alike = {"told": False}
    monkeypatch.setattr(module, "apart", lambda *_: alike["told"])

    def plain(choice=extra, prefill=None):
        return some._plain(SampledRow(GOAL, Row(choice, {}, prefill=prefill), {})).row.choice

    assert plain() == extra  # the space has none such
    steps = [replace(extra, micro_batches=1), replace(extra, spares=0),
             replace(extra, spares=0, micro_batches=1)]
    for choice in steps:
        there[choice] = Row(choice, {})
        assert plain() == choice
    assert plain(prefill=PLAIN) == extra
    assert plain(PLAIN) == PLAIN
    shares |= {steps[2]: .79, extra: .9}
    assert plain() == steps[1]
    shares[extra] = .79  # it is no surer itself
    assert plain() == steps[2]
    alike["told"] = True
    assert plain() == extra


def kept(*, tpot, base=0, layouts=(), **more):
    """What is kept of a base: a front, and layouts besides."""
    own = BaseResult.new({"tpot": -1})
    if tpot:
        own.front.rows = cells(tpot=tpot, base=base, concurrency=7, **more)
    if layouts:
        own.layouts = cells(tpot=[each for each, _ in layouts], concurrency=7, base=base,
                            pipeline=[stages for _, stages in layouts])
    return own


def two(monkeypatch, first, then, **more):
    """An answer of two bases, whose best is the first of those that are sorted."""
    from calc.searching.search import SearchResult
    asked = Wishes(more.pop("goal", GOAL), {"tpot": -1}, 1, {}, ())
    other = replace(BASE, device="nvidia-h200-sxm", precision="bf16")
    found = SearchResult(asked, [BASE, other], [first, then], Front({"tpot": -1}), Made(), None)
    monkeypatch.setattr(module, "sample_rows", lambda found, rows: [
        SampledRow(GOAL, each, {}) for each in rows])
    monkeypatch.setattr(module, "ranked", lambda found, rows, groups: [[rows[0]]])
    return Answer(found, **more)


def test_the_best_of_each_precision_and_of_each_device_the_best_first(monkeypatch):
    some = two(monkeypatch, kept(tpot=[.03, .04]), kept(tpot=[.01, .02], base=1))
    assert [(each.choice.precision, each.quantities["tpot"]) for each in some.precisions] == [
        ("bf16", .01), ("fp8-block", .03)]
    assert [(each.choice.device, each.quantities["tpot"]) for each in some.devices] == [
        ("nvidia-h200-sxm", .01), ("nvidia-h20", .03)]
    assert some.central_of("bf16").quantities["tpot"] == .01
    assert some.of_precision("w4afp8") is None
    assert some.central_of(None) is None
    pair = Row(PLAIN, {"tpot": .002}, prefill=PLAIN)
    some.result.pairs = Made(rows=lambda precision=None: [pair, pair][:2])
    assert some.of_precision("fp8-block") is pair
    assert len(some._in("fp8-block", 1)) == 2
    none = two(monkeypatch, kept(tpot=[]), kept(tpot=[.01], base=1))
    assert [each.choice.device for each in none.devices] == ["nvidia-h200-sxm"]


def test_the_first_that_starts_of_a_few_else_the_first(monkeypatch):
    some = two(monkeypatch, kept(tpot=[.03]), kept(tpot=[.01], base=1), starts=refusing(2))
    rows = [row(1, 2), row(2, 2), row(3)]
    assert some.best_of([]) is None
    assert some.best_of(rows[::-1]).choice.chunk == 3
    assert some.best_of(rows[:2]).choice.chunk == 1
    assert some._offered(rows).choice.chunk == 3
    assert some._offered(rows[:2]).choice.chunk == 1
    assert some._offered([]) is None
    assert some._offered(some._sorted([row(9), row(4), row(3, 2)])).choice.chunk == 4


def test_the_runner_up_is_the_best_of_another_layout_or_card(monkeypatch):
    first = kept(tpot=[.03], layouts=((.03, 1), (.05, 2)))
    some = two(monkeypatch, first, kept(tpot=[.04], base=1, layouts=((.04, 1),)))
    some.__dict__["front"] = [[Made(row=some.result.row(first.front.rows, 0))]]
    assert (some.runner_up.choice.device, some.runner_up.quantities["tpot"]) == (
        "nvidia-h200-sxm", .04)
    some.result.of_bases[1] = kept(tpot=[], base=1)
    assert (some.runner_up.choice.pipeline, some.runner_up.quantities["tpot"]) == (2, .05)
    some.__dict__["front"] = []
    assert some.runner_up is None


def test_of_what_meets_the_goal_the_nearest_to_what_the_reader_has(monkeypatch):
    goal = GOAL.model_copy(update={"have": "h200-r1-vllm-tp8"})
    have = catalogue.load_scenario("h200-r1-vllm-tp8")
    own = two(monkeypatch, kept(tpot=[.03, .02], data=[1, 4], devices=[8, 32]),
              kept(tpot=[.04], base=1, data=1, devices=8, layouts=((.05, 2),)), goal=goal)
    nearest, changed = own.least_change
    assert (nearest.choice.device, nearest.quantities["tpot"]) == (have.device.id, .04)
    assert changed["precision"] == "bf16"
    assert "device" not in changed
    own.result.of_bases[1].front.rows = {}
    del own.__dict__["least_change"]
    assert own.least_change[0].quantities["tpot"] == .05
    assert two(monkeypatch, kept(tpot=[]), kept(tpot=[]), goal=goal).least_change is None
    assert two(monkeypatch, kept(tpot=[.1]), kept(tpot=[])).least_change is None


def test_the_nearest_miss_is_least_over_a_limit_else_least_short_of_memory(monkeypatch):
    def misses(name, *values):
        each = [kept(tpot=[]), kept(tpot=[])]
        for number, value in enumerate(values):
            if value is not None:
                getattr(each[number], name).rows = cells(
                    base=number, concurrency=7, tpot=[.1], **{name: [value]})
        return each

    assert two(monkeypatch, *misses("miss", .4, .2)).nearest_miss.choice.precision == "bf16"
    assert two(monkeypatch, *misses("short", 3., 5.)).nearest_miss.choice.precision == "fp8-block"
    both = [misses("miss", None, .9)[1], misses("short", .1)[0]]
    assert two(monkeypatch, both[1], both[0]).nearest_miss.choice.precision == "bf16"
    assert two(monkeypatch, *misses("miss")).nearest_miss is None
    assert isinstance(both[0].miss, Best)
    assert np.isfinite(both[1].short.rows["short"]).all()
