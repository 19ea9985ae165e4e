"""What is told of an answer: rows simulated and marked, why none below is first, ways out."""

import json

import numpy as np
import pytest

from calc.launching.starting import search, select
from calc.searching.ranking import SURE, sample_rows
from catalogue import names

SMALL = ("r1-80-users-h20", "devices=nvidia-h20", "precisions=w8a8-int8", "cards.most=24",
         "space.chunks=4096", "space.drafts=0,1", "limits.tpot=60ms", "limits.ttft=1s",
         "objectives=cards,tpot", "space.pools=one")
USUAL = {"r1-64-users-8xh20", "v4-flash-8xh20"}
TIGHT = ("limits.tpot=20ms", "cards.most=8")


@pytest.fixture(scope="module")
def small():
    return search(SMALL[0], SMALL[1:])


def rules(told):
    """What holds of every row that is told, whatever the goal."""
    goal = told.goal
    first = told.rows[0]
    for row in told.rows:
        assert row.start is None or row.start.engine
        assert (row.simulated is None) is (not goal.limits.times)
        assert (row.keeps is None) is (not told.limits)
        if row.simulated is not None:
            assert row.simulated.keeps
            for name, stated in row.simulated.seen.items():
                assert all(stated[at] <= limit
                           for at, limit in goal.limits.times[name].items())
                assert all(value >= row.row.quantities[name] * (1 - 1e-9)
                           for at, value in stated.items() if at != "mean" and float(at[1:]) >= 90)
        own, best = (np.array(each.row.worth(
            {name: told.objectives[name] for name in told.chosen})) for each in (row, first))
        assert row.later is not None or own[0] <= best[0]
        if row is not first and (own >= best).all():
            assert (row.keeps or 0.0) < (first.keeps or 0.0)


@pytest.mark.parametrize("goal", [goal if goal in USUAL else pytest.param(
    goal, marks=pytest.mark.nightly) for goal in names("goals")])
def test_rows_are_started_simulated_and_marked(goal):
    told = search(goal, ())
    if told.rows:
        rules(told)
    assert goal not in USUAL or len({row.row.choices for row in told.rows}) == len(told.rows) == 4


def test_percentiles_and_shares_of_a_row(small):
    rules(small)
    data = json.loads(json.dumps(small.as_json(), allow_nan=False))
    for (leader, *_), row in zip(data["front"], small.rows, strict=True):
        assert leader["quantities"]["tpot"] == row.row.quantities["tpot"]
        assert leader["keeps"] == row.keeps
        memory = row.memory
        assert memory.weights + memory.cache + memory.besides <= memory.capacity
        assert 0 < row.share <= 1
        near = leader["near"]
        assert near["distance"] == pytest.approx(sum(axis["beyond"] for axis in near["axes"]))


def test_a_limit_that_would_do_is_kept_in_nine_of_ten_draws():
    told = search(SMALL[0], [*SMALL[1:], "cards.most=16"])
    assert told.rows[0].keeps < SURE
    weakest = told.weakest
    assert weakest.wider > told.goal.limits.times[weakest.name][weakest.at]
    answer = select(SMALL[0], [*SMALL[1:], "cards.most=16",
                               f"limits.{weakest.name}={weakest.wider * (1 + 1e-6)} s"])
    same, = sample_rows(answer.result, [answer.result.again(told.rows[0].row.choice)])
    answer.simulated(same.row)
    assert answer.keeps(same) >= SURE


def test_a_miss_shows_one_more_server_or_another_format():
    told = search(SMALL[0], [*SMALL[1:], *TIGHT])
    assert not told.rows
    ways = {way.what: way for way in told.ways}
    for what, settings in (("cards", ("cards.most=16",)), ("format", ())):
        other = search(SMALL[0], [*(each for each in (*SMALL[1:], *TIGHT) if what == "cards" or
                                    "precisions" not in each), *settings])
        assert (what in ways) is bool(other.rows)
    assert told.as_json()["ways_out"] == [way.as_json() for way in told.ways]


@pytest.mark.parametrize("limit", ["budget=100 USD", "rent=1 USD/h"])
def test_too_little_money_is_named_with_what_the_nearest_deployment_takes(limit):
    name, _, amount = limit.partition("=")
    told = search(SMALL[0], [*SMALL[1:], f"limits.{limit}"])
    assert f"limits.{name}: {amount} pays for no cards, too few" in told.verdict
    assert f"{name} {amount}" in told.limit_words
    wider, = (way.wider for way in told.ways if way.what == "money")
    enough = wider.removeprefix(f"a {name} of ")
    assert search(SMALL[0], [*SMALL[1:], f"limits.{name}={enough.replace(',', '')}"]).rows
