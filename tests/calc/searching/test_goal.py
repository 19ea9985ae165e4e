"""A goal as it is asked; it is refused only if no deployment that it allows can do it."""

import random

import numpy as np
import pytest

from calc.layouts.choice import text
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


GOAL = "r1-64-users-8xh20"
FEW = ["devices=nvidia-h20", "precisions=fp8-block", "space.pools=one", "space.tensor=[8]",
         "space.chunks=4096", "cards.most=8"]


@pytest.mark.parametrize(("settings", "stated"), [
    (["limits.ttft=5s"], {"mean": 5.0}),
    (["limits.ttft={p90: 2 s, p99: 5 s}"], {"p90": 2.0, "p99": 5.0}),
    (["limits.ttft=5s", "limits.ttft.p99=9s"], {"mean": 5.0, "p99": 9.0}),
    (["limits.ttft.p99=9s", "limits.ttft=5s"], {"mean": 5.0, "p99": 9.0}),
    (["limits.ttft.p90=2s", "limits.ttft.p90=3s"], {"p90": 3.0}),
    (["limits.ttft=null", "limits.ttft.p90=2s"], {"p90": 2.0}),
    (["limits.ttft=5s", "limits.ttft=null", "limits.ttft.p90=2s"], {"p90": 2.0}),
])
def test_limits_of_one_time_add_up(settings, stated):
    assert load_goal(GOAL, settings).limits.times["ttft"] == stated


def test_null_takes_away_what_was_set_before_it():
    found = load_goal(GOAL, ["limits.ttft.p90=2s", "limits.ttft=null"]).limits
    assert "ttft" not in found.times


@pytest.mark.parametrize("written", ["4,8", "[4, 8]"])
def test_a_list_may_stand_in_brackets(written):
    assert load_goal(GOAL, [f"space.tensor={written}"]).space.tensor == [4, 8]


@pytest.mark.parametrize("raw", ["{p90 2 s}", "{p90: 2 s", "{}", "{p90:}", "{p101: 2 s}"])
def test_percentiles_that_are_none_are_refused(raw):
    with pytest.raises(ParamsError, match=r"^--set limits\.ttft: "):
        load_goal(GOAL, [f"limits.ttft={raw}"])


@pytest.mark.parametrize(("limits", "watched"), [
    ("{p90: 4 s, p99: 9 s}", "p99: 9.0 s"), ("{mean: 4 s, p97: 9 s}", "p95: 9.0 s")])
def test_of_several_percentiles_a_scenario_promises_the_highest(limits, watched):
    goal = load_goal(GOAL, [*FEW, f"limits.ttft={limits}"])
    found = search(goal)
    first = next(found.rows(kept.front)[0] for kept in found.of_bases if kept.front.rows)
    assert watched in text(goal, first.choice)


@pytest.mark.parametrize(("setting", "told"), [
    ("limits.tpot", "--set limits.tpot: expected KEY=VALUE, such as limits.tpot=50ms."),
    ("=50ms", "--set =50ms: expected KEY=VALUE, such as limits.tpot=50ms."),
    ("limits.tpot= ", "--set limits.tpot= : expected KEY=VALUE, such as limits.tpot=50ms."),
    ("demand.users＝32", "--set demand.users＝32: expected KEY=VALUE, such as demand.users=32.")])
def test_what_says_no_value_is_told_how_it_is_written(setting, told):
    with pytest.raises(ParamsError) as refused:
        load_goal(GOAL, [setting])
    assert str(refused.value) == told


def test_a_list_has_commas_and_what_is_single_has_none():
    found = load_goal(GOAL, ["devices=any", "precisions=fp8-block, bf16", "space.block_size=32",
                             "space.staged_groups=true", "space.staged_drafts=false",
                             "space.any_engine=true", "space.chunks= 1024", "engines=vllm",
                             "demand.users = 32"])
    assert (found.devices, found.precisions, found.engines) == ([], ["fp8-block", "bf16"], ["vllm"])
    space = found.space
    assert (space.block_size, space.chunks) == (32, [1024])
    assert (space.staged_groups, space.staged_drafts, space.any_engine) == (True, False, True)
    assert found.demand.users == 32


def test_what_is_asked_of_a_goal_is_searched_with_what_starts_it(monkeypatch):
    from calc.searching import load_goal as module

    monkeypatch.setattr(module, "found_of", lambda goal, workers: (goal, workers))
    answer = module.search(GOAL, ["demand.users=7"], 3, "starts")
    (goal, workers), starts = answer.result, answer.starts
    assert (goal.demand.users, workers, starts) == (7, 3, "starts")
    assert module.search(goal).result[0] is goal
