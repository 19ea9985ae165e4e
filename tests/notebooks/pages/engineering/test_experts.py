"""The chapter on expert parallelism: balance never harms, both sides of a break-even are equal."""

from __future__ import annotations

import numpy as np
import pytest

from notebooks.pages.engineering import experts as page
from notebooks.pages.engineering.layouts import LIMIT

NAMES = [case[0] for case in page.CASES]


@pytest.mark.parametrize("case", page.CASES, ids=NAMES)
def test_what_is_yielded_keeps_the_promise_and_is_the_most_that_does(case):
    for mode in page.MODES:
        found = page.wide(case, 32, mode)
        place = found.best(LIMIT)
        assert found.paces[place] <= LIMIT
        assert found.rates[found.paces <= LIMIT].max() == found.rate(LIMIT)


@pytest.mark.parametrize("case", page.CASES, ids=NAMES)
def test_sharded_experts_take_the_fewest_servers_that_hold_a_request(case):
    device, precision, servers = case
    assert page.narrow(case).requests.size
    assert page.sharded(case) == ("TP8" if servers == 1 else f"TP8×PP{servers}")
    if servers > 1:
        assert not page.narrow((device, precision, servers - 1)).requests.size


@pytest.mark.parametrize("case", page.CASES, ids=NAMES)
def test_placement_by_load_never_yields_less_than_chance(case):
    for width in page.WIDTHS:
        assert page.wide(case, width, page.PLACED).rate(LIMIT) >= page.wide(
            case, width, page.RANDOM).rate(LIMIT)


@pytest.mark.parametrize("case", page.CASES, ids=NAMES)
def test_a_looser_promise_never_yields_less(case):
    each = page.wide(case, 64, page.SPARE)
    rates = [each.rate(limit) for limit in (0.02, 0.03, 0.05, 0.1, 0.2)]
    assert rates == sorted(rates)


def test_the_fullest_rank_is_fuller_the_wider_and_evener_with_balance_and_spares():
    random, placed, spare = ([page._balance(page._wide(page.CASES[1], width, 1), page.moved(
        page._wide(page.CASES[1], width, 1), mode))[1] for width in page.WIDTHS]
        for mode in (page.RANDOM, page.PLACED, page.SPARE))
    assert random == sorted(random)
    assert placed == sorted(placed)
    for dealt, by_load, copied in zip(random, placed, spare, strict=True):
        assert dealt > by_load >= copied >= 0


def test_a_spare_takes_the_memory_of_requests():
    made = page._wide(page.CASES[0], 16, 4)
    without, with_one = (page._yield(made, page.moved(made, mode)) for mode in (
        page.PLACED, page.SPARE))
    assert with_one.requests.max() < without.requests.max()


def test_wide_and_narrow_yield_alike_about_the_promise_at_which_they_turn():
    case = page.CASES[0]
    turn = page.turn(case, 32).turns[-1]
    gains = [page.wide(case, 32, page.SPARE, limit=each).rate(each) / page.narrow(case).rate(each)
             for each in (0.97 * turn.at, 1.03 * turn.at)]
    assert gains[0] < 1 < gains[1]


@pytest.mark.parametrize("requests", [1, 2, 4, 8])
def test_the_hit_rate_that_is_needed_just_keeps_the_promise(requests):
    (turn,) = page.needed(requests).turns
    pace = page.tiers(requests).at({page.HIT: np.array([turn.at])}, "tpot")
    assert float(pace[0]) == pytest.approx(LIMIT, rel=1e-6)


def test_more_requests_need_more_hits_until_none_suffice():
    found = [page.needed(count) for count in page.REQUESTS]
    turns = [each.turns[0].at for each in found if each.turns]
    assert turns == sorted(turns)
    assert found[-1].always == "first"


def test_all_hits_are_all_on_cards_while_the_cards_hold_what_a_step_hits():
    for count in (1, 2, 4):
        made = page.tiers(count)
        users = {"concurrency": np.array([made.inputs["concurrency"]])}
        fetched = made.at({page.HIT: np.array([1.0])}, "tpot")
        assert fetched == pytest.approx(page.plan_of(page.ON_CARDS).at(users, "tpot"), rel=0.01)
