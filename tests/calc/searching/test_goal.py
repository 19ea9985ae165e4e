"""A goal is refused before it is searched only if no deployment that it allows can do it."""

import random

import numpy as np
import pytest

from calc.layouts.space import Space
from calc.searching import goal as module
from calc.searching.candidates import CandidateCells
from calc.searching.goal import least_pace
from calc.searching.load_goal import load_goal
from calc.searching.search import search
from catalogue import ParamsError

SMALL = ("space.chunks=2048,8192", "space.drafts=0,1,3", "space.spares=none,per-rank",
         "cards.fewest=1")


def random_goal(seed):
    """Few cards, few precisions, and a throughput that some of them may be too slow for."""
    draw = random.Random(seed)
    users, answer = draw.choice((1, 8, 64)), draw.choice((1, 16, 1024))
    pace = draw.choice((0.005, 0.01, 0.02, 0.03, 0.04, 0.06))  # asked of each user [s]
    return load_goal("r1-64-users-8xh20", [
        *SMALL, f"devices={draw.choice(('nvidia-h20', 'ascend-910b2', 'nvidia-b200'))}",
        f"cards.most={draw.choice((8, 16, 24))}", "space.pools=one", f"demand.users={users}",
        f"precisions={draw.choice(('w8a8-int8', 'w4a16-awq', 'w8a8-int8,w4a16-awq'))}",
        f"demand.output_tokens={answer}",
        f"demand.arrivals={draw.choice(('burst', 'closed-loop'))}",
        "limits.tpot=100 ms", f"limits.throughput={users / pace} token/s",
        "space.memory_utilization=0.9,0.95"])


def refused(goal):
    try:
        module.wishes(Space(goal))
    except ParamsError as error:
        return str(error)
    return None


@pytest.mark.parametrize("seed", range(24))
def test_nothing_that_is_refused_would_have_been_found(seed, monkeypatch):
    goal = random_goal(seed)
    told = refused(goal)
    monkeypatch.setattr(module, "_too_fast", lambda *_: None)
    found = search(goal)
    if told is not None:
        assert not found.front.rows
        assert "each needs a token every" in told
    if found.front.rows:
        assert told is None


def test_of_these_goals_some_are_refused_and_some_are_met():
    goals = [random_goal(seed) for seed in range(24)]
    told = [refused(goal) is None for goal in goals]
    assert 4 < sum(told) < 20


def test_the_least_pace_is_that_of_every_deployment_that_fits():
    """Neither the chunk nor the share of the memory moves decode steps, and both bind memory."""
    goal = load_goal("r1-64-users-8xh20", [
        *SMALL, "devices=nvidia-h20", "cards.most=16", "precisions=w8a8-int8",
        "space.memory_utilization=0.8,0.95"])
    space, paces = Space(goal), []
    for base in space.bases():
        for cells in space.cells(base):
            first = space.first(base, cells)
            tried = CandidateCells(first.inputs(), first.model.attention, goal.demand)
            cells = cells | {"concurrency": np.full(len(cells["data"]), 64)}
            fit = tried.spare(cells) >= 0
            if fit.any():
                paces.append(tried.pace(cells)[fit].min())
    assert least_pace(space, 64).pace == pytest.approx(min(paces), rel=1e-12)


def test_more_tokens_than_the_tpot_allows_are_searched_where_cards_are_faster(cli):
    """A limit of TPOT is an upper one: 80 users may well take more than 80 tokens per limit."""
    code, out, err = cli("search", "r1-80-users-910b", "--devices", "ascend-910b1", "--cards", "16",
                         "--set", "limits.throughput=2000 token/s", "--set", "space.pools=one",
                         "--set", "precisions=w4a8-int8", "--set", "space.chunks=8192",
                         "--set", "space.spares=none")
    assert (code, err) == (0, "")
    assert "keeps its limits in" in out


@pytest.mark.parametrize(("settings", "told"), [
    (["limits.throughput=50000 token/s", "devices=ascend-910b1", "cards.most=16"],
     ("a token every 1.6 ms", "50 ms would be 1,600 token/s", "binds", "ascend-910b1")),
    (["demand.think_time=20 s", "limits.throughput=5000 token/s"], ("4,096 token/s",)),
])
def test_what_no_card_can_do_is_refused_with_the_arithmetic(settings, told):
    sentence = refused(load_goal("r1-80-users-910b", [*settings, "space.pools=one"]))
    assert all(part in sentence for part in told), sentence
