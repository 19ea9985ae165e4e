"""A goal as it is asked: what flags say in place of its file."""

import pytest

from calc.layouts.choice import text
from calc.searching.load_goal import load_goal
from calc.searching.search import search
from catalogue import ParamsError

GOAL = "r1-64-users-8xh20"
SMALL = ["devices=nvidia-h20", "precisions=fp8-block", "space.pools=one", "space.tensor=[8]",
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
    goal = load_goal(GOAL, [*SMALL, f"limits.ttft={limits}"])
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
