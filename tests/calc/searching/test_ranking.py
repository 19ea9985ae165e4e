"""Deployments under draws: which can be told apart, how often limits hold, which leads."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from _middle import BASE, PLAIN

import calc
from calc.answer.steady_state import SEEN_STEADILY
from calc.layouts.layout import Row, scenario
from calc.layouts.space import Space
from calc.many.fronts import Front
from calc.searching.draws import DRAWS
from calc.searching.goal import Wishes, load_goal
from calc.searching.ranking import (
    SURE,
    SampledRow,
    Simulated,
    apart,
    keeps,
    ranked,
    sample_rows,
)
from calc.searching.search import Funnel, SearchResult

GOAL = load_goal("r1-80-users-h20", ["limits.ttft=null"])  # 50 ms per token
USERS = "r1-80-users-h20"
SMALL = ("devices=nvidia-h20,ascend-910b2", "cards.most=24", "precisions=w8a8-int8,w4a8-int8",
         "space.chunks=4096", "space.drafts=0,1", "space.spares=none", "space.micro_batches=1",
         "limits.tpot=60ms", "limits.ttft=1s", "objectives=cards,tpot", "space.pools=one")
ONE_POOL = ("r1-64-users-8xh20", "space.pools=one")


def result_of(objectives, *settings):
    goal = load_goal("r1-80-users-h20", ["limits.ttft=null", *settings]) if settings else GOAL
    asked = Wishes(goal, objectives, len(objectives), {}, ())
    return SearchResult(asked, [BASE], [], Front(objectives), Funnel(), Space(goal))


def sampled(quantities=None, scatter=None, central=None, **moved):
    drawn = {name: np.array(each, float) for name, each in (quantities or {}).items()}
    row = Row(replace(PLAIN, **moved), central or dict.fromkeys(drawn, 1.0))
    return SampledRow(GOAL, row, drawn, scatter or {})


def always(value, **more):
    return sampled({"tpot": [value] * DRAWS}, **more)


@pytest.mark.parametrize(("one", "other", "expected"), [
    # deviations of 0.3 and 0.4 are 0.5 together, of which nine of ten lie below exp(0.641)
    (always(1.0, scatter={"tpot": .3}), always(1.88, scatter={"tpot": .4}), False),
    (always(1.0, scatter={"tpot": .3}), always(1.91, scatter={"tpot": .4}), True),
    (always(1.0, scatter={"tpot": .3}), always(1 / 1.91, scatter={"tpot": .4}), True),
    # nine of ten draws
    (sampled({"tpot": [2.0] * 360 + [.5] * 40}), always(1.0), True),
    (sampled({"tpot": [2.0] * 359 + [.5] * 41}), always(1.0), False),
    # half a percent is not told however sure
    (always(1.0049), always(1.0), False), (always(1.0051), always(1.0), True),
    (always(np.inf), always(np.inf), False),
    # cards always are, a quantity that no draw moves where it differs by a tenth
    (always(1.0), always(1.0, devices=8), True),
    (sampled(central={"tpot": 100.0}), sampled(central={"tpot": 111.0}), False),
    (sampled(central={"tpot": 100.0}), sampled(central={"tpot": 112.0}), True)])
def test_deployments_that_can_be_told_apart(one, other, expected):
    assert apart(one, other, {"tpot": -1}) is apart(other, one, {"tpot": -1}) is expected


def test_what_holds_in_eight_of_ten_draws():
    """Of 0 to 10 at least 2 hold in eight of ten, and at most 8."""
    each = sampled({"rate": range(11)}, central={"rate": 5.0, "context": 7.0})
    assert each.stands_for("rate", 1) == pytest.approx(2)
    assert each.stands_for("rate", -1) == pytest.approx(-8)
    assert (each.stands_for("cards", -1), each.stands_for("context", 1)) == (-16, 7)
    assert each.stands_for("cost", -1) == each.stands_for("cost", 1) == -math.inf


def test_the_share_of_draws_that_keep_all_limits_at_once():
    """One of four breaks the first, another one the second; at the limit it is kept."""
    result = result_of({"tpot": -1}, "limits.ttft.p90=2 s")
    each = sampled({"tpot": [.05, .04, .051, .01], "ttft": [1.0, 2.1, 1.0, 2.0]},
                   central={"ttft": .5, "tpot": .04})
    assert keeps(result, each) == .5
    seen = Simulated(each.row, {"ttft": {"p90": .6}}, True, True, None)  # 1.2 times the mean
    assert keeps(result, each, seen) == .25
    assert keeps(result_of({"tpot": -1}, "limits.tpot=null"), each) is None


def chunks(groups):
    return [[each.row.choice.chunk for each in group] for group in groups]


def test_the_surest_then_the_plainest_of_what_cannot_be_told_apart_leads():
    """Nearly as sure is as sure; what can be told apart is a group of its own."""
    def like(chunk, rate, share, **moved):
        wave = np.linspace(.8, 1.2, DRAWS)  # both ways of each other, in as many draws
        pace = np.where(np.arange(DRAWS) < share * DRAWS, .05, .06)
        return sampled({"throughput": rate * (wave if chunk % 2 else wave[::-1]), "tpot": pace},
                       {"throughput": .3, "tpot": .3}, chunk=chunk, **moved)

    result = result_of({"throughput": 1})
    sure, surer = like(1, 100, .85), like(2, 101, .95)
    fast, slow, unsure = like(5, 400, .81), like(7, 30, .99), like(9, 900, .79)
    drafting = like(4, 103, .95, drafts=1)
    for some, expected in (([sure, surer], [[2, 1]]), ([drafting, like(3, 100, .93)], [[3, 4]]),
                           ([slow, sure, fast], [[5], [1], [7]]), ([unsure, slow], [[7], [9]])):
        assert chunks(ranked(result, some, 9)) == chunks(ranked(result, some[::-1], 9)) == expected
    assert chunks(ranked(result, [slow, sure, fast], 2)) == [[5], [1]]
    free = result_of({"throughput": 1}, "limits.tpot=null")
    assert chunks(ranked(free, [unsure, slow], 9)) == [[9], [7]]


# --- of whole searches ----------------------------------------------------------------------------


def test_rows_of_a_goal_that_asks_for_a_share_keep_their_limits_in_it(answer_of):
    answer = answer_of(USERS, *SMALL, "limits.sure=0.95")
    assert answer.front
    assert all(answer.keeps(leader) >= 0.95 for leader, *_ in answer.front)


@pytest.mark.parametrize("factor", [1 - 1e-9, 1 + 1e-9])
def test_a_limit_is_kept_in_nine_of_ten_draws_where_the_end_of_the_interval_keeps_it(
        answer_of, factor):
    answer = answer_of(*ONE_POOL)
    for each in sample_rows(answer.result, answer.candidates[:20]):
        limit = factor * each.amounts["tpot"].high
        limited = result_of({"tpot": -1}, f"limits.tpot={limit!r} s")
        assert (keeps(limited, each) >= SURE) is (factor > 1)


def test_deployments_that_cannot_be_told_apart_stand_together(answer_of):
    answer = answer_of(*ONE_POOL)
    chosen = answer.result.wishes.chosen
    for group in answer.ranking:
        assert all(each.row.layout == group[0].row.layout or not apart(group[0], each, chosen)
                   for each in group[1:])
    for one, other in itertools.combinations([group[0] for group in answer.ranking], 2):
        assert apart(one, other, chosen)
    every = [each.row for group in answer.ranking for each in group]
    turned = sample_rows(answer.result, every[::-1])
    assert [group[0].row for group in ranked(answer.result, turned, 12)] == [
        group[0].row for group in answer.ranking]


@pytest.mark.parametrize("asked", [ONE_POOL, (USERS, *SMALL, "demand.think_time=9 s"), (
    "million-tokens", "devices=nvidia-h200-sxm", "cards.most=16", "precisions=fp8-block",
    "space.pools=two", "space.batches=16,64", "limits.tpot=null", "limits.power=15 kW")])
def test_a_value_is_that_of_its_row_and_lies_within_its_interval(answer_of, asked):
    answer = answer_of(*asked)
    for each in sample_rows(answer.result, answer.candidates[:3]):
        for name, amount in each.amounts.items():
            assert amount.low <= amount.value <= amount.high
            if each.row.prefill is not None:
                assert amount.value == pytest.approx(each.row.quantities[name])


def test_amounts_are_those_of_an_estimate(answer_of):
    answer = answer_of(*ONE_POOL)
    each = answer.ranking[0][0]
    estimate = calc.estimate(scenario(answer.result.wishes.goal, each.row.choice)).quantities
    for name in ("tpot", "ttft", "throughput"):
        expected, amount = estimate[SEEN_STEADILY[name]], each.amounts[name]
        assert (amount.value, amount.low, amount.high) == pytest.approx(
            (expected.value, expected.low, expected.high), rel=0.05)
