"""The chapter on two pools: gains end where memory binds, splits are whole, both ends are equal."""

from __future__ import annotations

import numpy as np
import pytest

import calc
import catalogue
from calc.capacity.growth import best
from calc.capacity.pool_layouts import Pairing
from calc.capacity.replicas import Limits
from notebooks.pages.engineering import layouts
from notebooks.pages.engineering import separation as page

CASES = [page.both(*case) for case in page.CASES]
NAMES = [f"{case[0]}-{case[1]}" for case in page.CASES]


HELD = [page.pool_comparison(*case[:2]) for case in page.CASES]


@pytest.mark.parametrize("made", HELD, ids=NAMES)
def test_one_pool_and_two_are_those_of_growth(made):
    """The chapter on scaling shows the same, and a search the same pools."""
    servers = 2
    cards, limits = servers * made.per_node, Limits(page.FIRST, page.LIMIT, None)
    assert made.one(servers, page.LIMIT) == best(made.scenario, cards, limits)
    assert made.two(servers, page.LIMIT) == Pairing(
        made.scenario, [count * made.per_node for count in page.SERVERS_TRIED]).best(limits).get(
        cards)


@pytest.mark.parametrize("made", HELD, ids=NAMES)
def test_pools_keep_what_is_promised(made):
    for limit in page.LIMITS:
        for servers in page.TOLD:
            for pools in (made.one(servers, limit), made.two(servers, limit)):
                assert pools is None or pools.tpot <= limit
                assert pools is None or pools.ttft <= page.FIRST * (1 + 1e-9)


@pytest.mark.parametrize("made", HELD, ids=NAMES)
def test_from_the_fewest_servers_on_it_pays(made):
    count = made.fewest(page.LIMIT)
    for servers in page.SERVERS_TRIED:
        if count is None or servers < count:
            assert not made.gain(servers, page.LIMIT) >= page.WORTH


@pytest.mark.parametrize("made", CASES, ids=NAMES)
def test_no_other_split_of_the_replicas_finishes_more(made):
    two = made.best(1, page.LIMIT)
    for count in (2, 3, 4, 6, 8, 12, 16):
        split, gain = made.whole(count, page.LIMIT)
        rates = [min(first * made.prompts, (count - first) * made.answered[two])
                 for first in range(1, count)]
        best = 1 + int(np.argmax(rates))
        assert rates[split[0] - 1] == pytest.approx(max(rates))
        assert gain > 0
        assert abs(best - split[0]) <= 1


def test_longer_prompts_take_more_of_the_cards():
    case = page.CASES[2][:2]
    shares = [page.pool_comparison(*case, prompt, 1024).share(8, page.LIMIT)
              for prompt in (512, 2048, 8192)]
    assert shares == sorted(shares)


def test_two_pools_pace_evenly_and_wait_longer_for_the_first_token():
    one, split = page.served((0, page.SERVERS)), page.served(page.SPLIT)
    assert split["tpot"][1] < one["tpot"][1]
    assert split["tpot"][1] - split["tpot"][0] < one["tpot"][1] - one["tpot"][0]
    assert split["ttft"][1] > one["ttft"][1]


def test_fewer_that_prefill_make_the_first_token_wait_longer():
    waits = [page.served((count, page.SERVERS - count))["ttft"][0] for count in (1, 2, 3)]
    assert waits == sorted(waits, reverse=True)


def test_a_replica_alone_is_that_of_the_layouts():
    case = page.CASES[3]
    made = page.both(*case)
    users = len(made.rates[0])
    assert layouts.holds(made.one, users)
    assert not layouts.holds(made.one, users + 1)


def test_the_example_does_not_fit_as_the_document_has_it():
    """In BF16, as the exercise says."""
    for pool in ("prefill", "decode"):
        written = catalogue.load_scenario(f"s0-scenario-3-{pool}")
        assert float(calc.estimate(written).everything["headroom_per_device"]) < 0
