"""Draws of a deployment: whether two can be told apart, what is told of one, and which leads."""

import math
from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import PLAIN

from calc.evidence.classes import Own
from calc.layouts.choice import Row
from calc.searching import robust
from calc.searching.drawing import draws, in_flight
from calc.searching.drawing.draws import scores_of
from calc.searching.drawing.in_flight import DRAWS, of_load
from calc.searching.goal import Wishes
from calc.searching.load_goal import load_goal
from calc.searching.robust import SampledRow, apart, keeps, near_best, ranked, surely
from calc.uncertainty.amount import Amount
from catalogue.deployments.knobs import NORMAL_90, Knob

GOAL = load_goal("r1-80-users-h20", ["limits.ttft=null"])  # 50 ms per token


def wishes(objectives, *settings, hours=None):
    goal = load_goal("r1-80-users-h20", ["limits.ttft=null", *settings]) if settings else GOAL
    return Wishes(goal, objectives, len(objectives), hours or {}, ())


def sampled(quantities=None, scatter=None, near=None, central=None, prefill=None, **moved):
    drawn = {name: np.array(each, float) for name, each in (quantities or {}).items()}
    row = Row(replace(PLAIN, **moved), central or dict.fromkeys(drawn, 1.0), prefill=prefill)
    return SampledRow(GOAL, row, drawn, near or drawn, scatter or {})


@pytest.mark.parametrize(("ratio", "told"), [(1.88, False), (1.91, True), (1 / 1.91, True)])
def test_what_each_scatters_by_itself_blurs_what_is_drawn_of_both(ratio, told):
    """Deviations of 0.3 and 0.4 are 0.5 together, of which nine of ten lie below exp(0.641)."""
    one = sampled({"tpot": [1.0] * DRAWS}, {"tpot": .3})
    other = sampled({"tpot": [ratio] * DRAWS}, {"tpot": .4})
    assert apart(one, other, {"tpot": -1}) is told
    assert not apart(one, one, {"tpot": -1})


@pytest.mark.parametrize(("ahead", "told"), [(360, True), (359, False), (40, True), (41, False)])
def test_without_a_scatter_it_is_counted_how_often_one_is_ahead(ahead, told):
    one = sampled({"tpot": [2.0] * ahead + [.5] * (DRAWS - ahead)})
    assert apart(one, sampled({"tpot": [1.0] * DRAWS}), {"tpot": -1}) is told


@pytest.mark.parametrize(("ratio", "told"), [(1.0049, False), (1.0051, True)])
def test_half_a_percent_is_not_told_however_sure(ratio, told):
    one, other = sampled({"tpot": [ratio] * DRAWS}), sampled({"tpot": [1.0] * DRAWS})
    assert apart(one, other, {"tpot": -1}) is told
    none = sampled({"tpot": [np.inf] * DRAWS})
    assert not apart(none, none, {"tpot": -1})


@pytest.mark.parametrize(("own", "other", "told"), [
    (100.0, 111.0, False), (100.0, 112.0, True), (None, None, False), (None, 5.0, True)])
def test_what_no_draw_moves_is_told_where_it_differs_by_a_tenth(own, other, told):
    one, two = (sampled({"tpot": [1.0]}, central={"context": each} if each else {"tpot": 1.0})
                for each in (own, other))
    assert apart(one, two, {"context": 1}) is told
    assert apart(two, one, {"context": 1}) is told


def test_cards_are_always_told():
    one, other = sampled(), sampled(devices=8)
    assert apart(one, other, {})
    assert not apart(one, sampled(), {"cards": -1})
    assert robust._told(one, other, "cards")


def test_what_holds_in_eight_of_ten_draws_is_what_a_deployment_stands_for():
    """Of 0 to 10 at least 2 hold in eight of ten, and at most 8."""
    each = sampled({"rate": range(11)}, central={"rate": 5.0, "context": 7.0})
    assert each.stands_for("rate", 1) == pytest.approx(2)
    assert each.stands_for("rate", -1) == pytest.approx(-8)
    assert (each.stands_for("cards", -1), each.stands_for("cards", 1)) == (-16, 16)
    assert (each.stands_for("context", 1), each.stands_for("context", -1)) == (7, -7)
    assert each.stands_for("cost", -1) == each.stands_for("cost", 1) == -math.inf


def test_what_is_told_of_two_pools_are_the_points_of_its_draws():
    """Of 400 the 40th, the 200th and the 360th; the median is that of the draws that are near."""
    numbers = np.arange(1.0, DRAWS + 1)
    for near, middle in ((numbers + 7, 207), (numbers - 300, 40), (numbers + 900, 360)):
        each = sampled({"tpot": numbers, "cost": numbers}, near={"tpot": near, "cost": numbers},
                       prefill=PLAIN, central={"tpot": 3.0, "cost": 4.0})
        told = each.amounts["tpot"]
        assert (told.value, told.low, told.high) == (middle, 40, 360)
        assert (told.unit, told.central, told.name) == ("s", 3.0, "tpot")
        assert (each.amounts["cost"].value, each.amounts["cost"].unit) == (200, GOAL.currency)


def test_what_is_told_of_one_pool_is_what_an_estimate_tells(monkeypatch):
    """60 users who think 7 s and wait 5 ask every 12 s: who wait longer, ask less often."""
    told = {f"{kind}{name}": Amount(5.0, 3.0, 13.0, "s", central=8.0) for kind in (
        "steady_", "output_", "") for name in ("ttft", "tpot", "e2e", "throughput")}
    asked = []
    monkeypatch.setattr(robust, "predicted", lambda _, names: asked.append("predicted") or told)
    monkeypatch.setattr(robust, "steadily", lambda _, names: asked.append("steadily") or told)

    def seen(*settings):
        goal = load_goal("r1-80-users-h20", ["demand.output_tokens=100 token", *settings])
        return robust._estimated(goal, Row(PLAIN, {}), None)

    plain = seen()
    assert plain["throughput"].points == (5, 3, 13)
    assert plain["throughput_per_card"].points == (5 / 16, 3 / 16, 13 / 16)
    assert plain["throughput_per_card"].name == "throughput_per_card"
    thinking = seen("demand.users=60", "demand.think_time=7 s")["throughput"]
    assert thinking.points == pytest.approx((500, 300, 600))
    assert thinking.central == pytest.approx(400)
    rated = seen("demand.users=null", "demand.arrival_rate=3 request/s")
    assert rated["throughput"].points == (300, 300, 300)
    assert rated["throughput_per_card"].value == 300 / 16
    assert seen("demand.arrivals=burst")["throughput"].points == (5, 3, 13)
    assert asked == ["steadily", "predicted", "predicted", "predicted"]


def test_one_deployment_scatters_about_its_class_in_each_of_its_times(monkeypatch):
    """What a card gives, costs and takes scatters as what all of them give."""
    sizes = {"ttft": .1, "tpot": .2, "output_throughput": .3}
    monkeypatch.setattr(robust, "errors_of_class", lambda _: {
        name: Made(within=size) for name, size in sizes.items()})
    assert robust._scatter(None) == {
        "ttft": .1, "tpot": .2, "e2e": 0, "throughput": .3, "throughput_per_card": .3, "cost": .3,
        "energy": .3}


@pytest.mark.parametrize(("own", "most", "near"), [
    (90, 100, True), (89.9, 100, False), (110, 100, True), (111, 100, False),
    (math.inf, math.inf, True), (-90, -100, True)])
def test_a_tenth_from_the_best_is_about_as_good(own, most, near):
    found = Made(wishes=wishes({"throughput": 1, "tpot": -1}))
    row, best = (Row(PLAIN, {"throughput": each, "tpot": 1.0}) for each in (own, most))
    assert near_best(found, row, best) is near
    assert near_best(found, row, None)


def test_the_share_of_draws_that_keep_all_limits_at_once():
    """One of four breaks the first, another one the second; at the limit it is kept."""
    found = Made(wishes=wishes({"tpot": -1}, "limits.ttft.p90=2 s"))
    each = sampled({"tpot": [.05, .04, .051, .01], "ttft": [1.0, 2.1, 1.0, 2.0]},
                   central={"ttft": .5, "tpot": .04})
    assert keeps(found, each) == .5
    seen = Made(seen={"ttft": {"p90": .6}})  # 1.2 times the mean: 1.2, 2.52, 1.2, 2.4
    assert keeps(found, each, seen) == .25
    assert keeps(Made(wishes=wishes({"tpot": -1}, "limits.tpot=null")), each) is None


@pytest.mark.parametrize(("shares", "least"), [
    ([.3, .9], .8), ([.8], .8), ([.79, .1], .8 * .79), ([.5, .2], .4), ([], 0)])
def test_whatever_leads_keeps_its_limits_nearly_as_often_as_the_surest(shares, least):
    assert robust._least(shares) == pytest.approx(least)


def told(found, some, groups=9):
    return [[each.row.choice.chunk for each in group] for group in ranked(found, some, groups)]


def test_of_what_cannot_be_told_apart_the_surest_leads_and_then_the_plainest():
    """Nearly as sure is as sure; what is told apart is a group of its own, as many as are asked."""
    def like(chunk, rate, kept, **moved):
        wave = np.linspace(.8, 1.2, DRAWS)  # both ways of each other, in as many draws
        pace = np.where(np.arange(DRAWS) < kept * DRAWS, .05, .06)
        return sampled({"throughput": rate * (wave if chunk % 2 else wave[::-1]), "tpot": pace},
                       {"throughput": .3, "tpot": .3}, chunk=chunk, **moved)

    found = Made(wishes=wishes({"throughput": 1}))
    sure, surer = like(1, 100, .85), like(2, 101, .95)
    assert told(found, [sure, surer]) == told(found, [surer, sure]) == [[2, 1]]
    nearly = like(3, 100, .93)
    drafting = like(4, 103, .95, drafts=1)
    assert told(found, [drafting, nearly]) == [[3, 4]]
    fast, slow = like(5, 400, .81), like(7, 30, .99)
    assert told(found, [slow, sure, fast]) == [[5], [1], [7]]
    assert told(found, [slow, sure, fast], 2) == [[5], [1]]
    unsure = like(9, 900, .79)
    assert told(found, [unsure, slow]) == [[7], [9]]
    free = Made(wishes=wishes({"throughput": 1}, "limits.tpot=null"))
    assert told(free, [unsure, slow]) == [[9], [7]]
    assert told(free, []) == []


def test_a_layout_with_other_requests_in_flight_stands_with_its_leader():
    found = Made(wishes=wishes({"throughput": 1}, "limits.tpot=null"))
    many, few = (sampled({"throughput": [rate] * DRAWS}, concurrency=count, chunk=1)
                 for rate, count in ((500, 64), (90, 8)))
    other = sampled({"throughput": [90] * DRAWS}, chunk=2)
    assert told(found, [few, many, other]) == [[1, 1], [2]]


def test_the_front_of_what_is_sure_enough_is_drawn_in_the_order_of_what_is_asked(monkeypatch):
    """What is no better than one that is sure is not drawn; what is left when so many were, is
    counted."""
    often = {1: .2, 2: .9, 3: .7, 4: .95, 5: None}
    rows = [Row(replace(PLAIN, chunk=number), {"throughput": rate, "tpot": pace})
            for number, rate, pace in ((1, 9., 1.), (2, 8., 3.), (3, 7., 3.), (4, 6., 2.),
                                       (5, 5., 1.5))]
    monkeypatch.setattr(robust, "sample_rows", lambda _, some: [Made(row=row) for row in some])
    monkeypatch.setattr(robust, "keeps", lambda _, each: often[each.row.choice.chunk])
    found = Made(wishes=wishes({"throughput": 1, "tpot": -1}), of_bases=[
        Made(front=rows[3:]), Made(front=rows[:3])], rows=lambda front: front)

    def front(share):
        sure = surely(found, share)
        return [each.row.choice.chunk for each in sure.front], sure.surest.row.choice.chunk, (
            sure.tried, sure.left)

    assert front(.9) == ([2, 4], 4, (4, 0))
    assert front(.2) == ([1], 1, (1, 0))
    assert front(1.0) == ([], 4, (5, 0))
    monkeypatch.setattr(robust, "MOST_DRAWN", 2)
    assert front(.9) == ([2], 2, (2, 2))
    assert surely(found, .9).as_json() == {"share": .9, "found": 1, "drawn": 2, "left": 2}


def test_a_deployment_is_drawn_once_as_long_as_its_row_is_the_same(monkeypatch):
    monkeypatch.setattr(robust, "_sampled", lambda _, row: Made(row=row))
    found = Made(draws={})
    one, other = Row(PLAIN, {"tpot": 1.0}), Row(PLAIN, {"tpot": 2.0})
    first, = robust.sample_rows(found, [one])
    assert robust.sample_rows(found, [one])[0] is first
    second, again = robust.sample_rows(found, [other, other])
    assert second is again is not first
    assert second.row is other


def test_a_draw_is_served_by_the_fewest_requests_in_flight_that_are_enough():
    served = np.zeros((3, DRAWS), bool)
    served[1:, 0] = served[2, 1] = served[:, 2] = True
    found = in_flight.least({"tpot": np.arange(3.0)[:, None], "ttft": np.arange(3 * DRAWS).reshape(
        3, DRAWS)}, served)
    assert found["tpot"][:4].tolist() == [1, 2, 0, 2]  # none is enough: the most
    assert found["ttft"][:3].tolist() == [DRAWS, 2 * DRAWS + 1, 2]


def test_a_draw_may_need_up_to_three_times_the_requests_as_far_as_there_is_room(monkeypatch):
    deployed = Made(inputs=dict, model=Made(attention="mla"))

    def counts(room, fixed=False):
        monkeypatch.setattr(in_flight, "evaluate", lambda *_: {"max_concurrency": room})
        return in_flight.in_flight(deployed, {"concurrency": 7}, fixed).tolist()

    assert counts(100) == [7, 8, 9, 11, 14, 21]
    assert counts(12) == [7, 8, 9, 11, 12]
    assert counts(3) == [7]
    assert counts(100, fixed=True) == [7]


def test_requests_come_by_themselves_where_a_rate_or_thinking_is_given():
    asked = [load_goal("r1-80-users-h20", settings).demand for settings in (
        [], ["demand.think_time=5 s"], ["demand.users=null", "demand.arrival_rate=2 request/s"],
        ["demand.think_time=0 s"])]
    assert [of_load(each) for each in asked] == [False, True, True, False]


def test_the_error_of_the_formulas_is_that_of_its_side_and_of_the_distance_where_that_is_drawn():
    """A first token has the error of what prefills it."""
    own = {"tpot": Own((.1, .3), "", "tpot", 1, 1, 1, growth=(.0, .0))}
    first = {"ttft": Own((.2, .2), "", "ttft", 1, 1, 1, growth=(.4, .5), distance=1.0)}
    quantities = {name: np.full(DRAWS, 3.0) for name in ("ttft", "tpot", "e2e", "throughput")}
    far, near = (draws._own_errors("a class", own, first, quantities, each)
                 for each in (True, False))
    scores = scores_of("a class tpot")
    assert near["tpot"] == pytest.approx(3 * np.exp(scores * np.where(scores < 0, .1, .3)))
    of_first, beyond = scores_of("a class ttft"), scores_of("a class ttft beyond")
    down, up = first["ttft"].beyond
    assert near["ttft"] == pytest.approx(3 * np.exp(.2 * of_first))
    assert far["ttft"] == pytest.approx(
        near["ttft"] * np.exp(beyond * np.where(beyond < 0, down, up)))
    assert far["tpot"] == pytest.approx(near["tpot"])
    assert near["e2e"].tolist() == near["throughput"].tolist() == [3] * DRAWS


def test_an_hour_of_a_card_costs_more_in_half_of_the_draws_and_up_to_its_end_in_nine_of_ten():
    hour = Amount(2.0, 1.0, 8.0, "USD/s")
    asked = wishes({"cost": -1}, hours={"nvidia-h20": hour})
    given = {"throughput": np.full(DRAWS, 1e6)}
    row = Row(PLAIN, {})
    cost, scores = draws._priced(asked, row, given)["cost"], scores_of("hour nvidia-h20")
    for score, paid in zip(scores, cost, strict=True):  # 16 cards at 2 USD a second
        end = 1 / 2 if score < 0 else 4
        assert paid == pytest.approx(32 * end ** (abs(score) / NORMAL_90))
    pair = Row(PLAIN, {}, prefill=replace(PLAIN, devices=48))
    assert draws._priced(asked, pair, given)["cost"] == pytest.approx(4 * cost)
    assert "cost" not in draws._priced(wishes({"tpot": -1}), row, given)
    assert draws._priced(asked, row, given)["throughput_per_card"][0] == 1e6 / 16


def test_two_statements_are_one_where_all_that_is_said_is_the_same():
    value = Made(written="0.8", low=.7, high=.9, source="a page")
    keys = {draws._key(Knob(name, Made(**vars(value) | changed), ())) for name, changed in (
        ("gap", {}), ("gap", {}), ("other", {}), ("gap", {"written": "0.80"}),
        ("gap", {"low": .6}), ("gap", {"high": 1}), ("gap", {"source": "a table"}))}
    assert len(keys) == 6
    assert scores_of("one").tolist() != scores_of("other").tolist()
    assert abs(np.mean(scores_of("one"))) < .2
