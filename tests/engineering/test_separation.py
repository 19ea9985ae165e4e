"""The chapter on two pools: gains end where memory binds, splits are whole, both ends are equal."""

from __future__ import annotations

import numpy as np
import pytest

from engineering import layouts
from engineering import separation as page

CASES = [page.both(*case) for case in page.CASES]
NAMES = [f"{case[0]}-{case[1]}" for case in page.CASES]


@pytest.mark.parametrize("case", page.CASES, ids=NAMES)
def test_the_gain_is_what_is_worth_it_where_it_turns(case):
    made, turn = page.both(*case), page.loosest(case)
    assert made.gain(turn * (1 - 1e-9)) >= page.WORTH > made.gain(turn * 1.001)


@pytest.mark.parametrize("made", CASES, ids=NAMES)
def test_a_promise_that_memory_keeps_by_itself_leaves_the_gain_alone(made):
    slack = max(float(each.max()) for each in made.paces)
    assert made.gain(slack) == made.gain(2 * slack)
    assert 1 <= made.gain(slack) < page.WORTH


@pytest.mark.parametrize("made", CASES, ids=NAMES)
def test_whole_replicas_never_gain_more_than_the_balance_and_reach_it_in_number(made):
    gains = [made.whole(count, page.LIMIT)[1] for count in range(2, 200)]
    assert max(gains) <= made.gain(page.LIMIT) * (1 + 1e-3)
    assert gains[-1] == pytest.approx(made.gain(page.LIMIT), rel=0.02)
    for count in page.COUNTS:
        split, _ = made.whole(count, page.LIMIT)
        assert sum(split) == count
        assert min(split) >= 1


@pytest.mark.parametrize("made", CASES, ids=NAMES)
def test_no_other_split_of_the_replicas_finishes_more(made):
    two = made.best(1, page.LIMIT)
    for count in page.COUNTS:
        split, gain = made.whole(count, page.LIMIT)
        rates = [min(first * made.prompts, (count - first) * made.answered[two])
                 for first in range(1, count)]
        best = 1 + int(np.argmax(rates))
        assert rates[split[0] - 1] == pytest.approx(max(rates))
        assert gain > 0
        assert abs(best - split[0]) <= 1


def test_longer_prompts_take_more_of_the_cards():
    case = page.CASES[2]
    shares = [page.both(*case, prompt, 1024).share(page.LIMIT) for prompt in (512, 2048, 8192)]
    assert shares == sorted(shares)
    answers = [page.both(*case, 2048, answer).share(page.LIMIT) for answer in (512, 1024, 2048)]
    assert answers == sorted(answers, reverse=True)


def test_a_split_is_as_good_as_one_pool_where_the_prompts_say_so():
    found = page.even_prompt(page.CASES[0], 4)
    assert [each.after for each in found.turns] == ["second", "first"]
    for each in found.turns:
        before, after = (page.both(*page.CASES[0], int(each.at) - step).whole(4, page.LIMIT)[1]
                         for step in (1, 0))
        assert (before - 1) * (after - 1) <= 0


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
