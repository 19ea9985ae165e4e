"""The answer to a goal: its front, what stands beside it, and the nearest miss."""


import pytest

from calc.layouts.layout import Start, scenario, unrun
from calc.searching.ranking import HOLDS
from calc.searching.selection import Selection
from calc.serving.evaluate import evaluate

USERS = "r1-64-users-8xh20"
SMALL = ("space.tensor=8", "space.pipeline=1", "space.decode_context=4", "space.chunks=4096",
         "space.drafts=0", "space.pools=one")
LIMITED = ("r1-80-users-h20", "devices=nvidia-h20,ascend-910b2", "cards.most=24",
           "precisions=w8a8-int8,w4a8-int8", "space.chunks=4096", "space.drafts=0,1",
           "space.spares=none", "space.micro_batches=1", "limits.tpot=60ms", "limits.ttft=1s",
           "objectives=cards,tpot", "space.pools=one")


def test_a_format_that_no_engine_runs_is_marked(answer_of):
    usual, lifted = (answer_of(USERS, *SMALL, *settings) for settings in (
        ("precisions=fp8-block",), ("precisions=w4a8-int8", "space.any_engine=true")))
    for answer, runs in ((usual, True), (lifted, False)):
        assert bool(unrun(answer.result.wishes.goal, answer.best)) is not runs
        assert all(answer.best.kernels(answer.result.space.model)) is runs


def test_every_ranked_row_keeps_its_limits_simulated(answer_of):
    answer = answer_of(*LIMITED)
    for leader, *_ in answer.front:
        result = answer.simulated(leader.row)
        assert result.keeps
        assert result.seen["ttft"]["mean"] <= 1
        assert result.seen["tpot"]["mean"] <= 0.06
    assert not any(each.keeps for each in answer.missed)
    assert max(answer.keeps(leader) for leader, *_ in answer.front) >= HOLDS


def test_a_kind_that_no_release_starts_is_replaced_by_the_next(answer_of):
    found = answer_of(*LIMITED)

    def starts(goal, row):
        return Start(None, "no") if row.choice.tensor == found.best.choice.tensor else Start("v@1")

    answer = Selection(found.result, starts=starts)
    assert answer.refused
    assert all(row.choice.tensor == found.best.choice.tensor for row in answer.refused)
    assert answer.best.choice.tensor != found.best.choice.tensor
    assert Selection(found.result, starts=lambda goal, row: Start(None, "no")).front == []


def test_the_nearest_miss_is_least_over_a_limit(answer_of):
    small = (*SMALL, "devices=nvidia-h20", "precisions=fp8-block,w8a8-int8")
    answer = answer_of(USERS, *small, "limits.tpot=2 ms")
    fastest = answer_of(USERS, *small, "objectives=tpot").best.quantities["tpot"]
    assert not answer.met
    assert answer.nearest_miss.over["tpot"] == pytest.approx(fastest / 0.002 - 1)
    assert answer.result.wishes.binds(answer.nearest_miss) == "tpot"


def test_the_nearest_miss_is_else_least_short_of_memory(answer_of):
    answer = answer_of(USERS, *SMALL, "demand.input_tokens=120000", "demand.users=900")
    short, choice = answer.nearest_miss.quantities["short"], answer.nearest_miss.choice
    inputs = scenario(answer.result.wishes.goal, choice).inputs()
    assert -short == pytest.approx(float(evaluate(inputs, "mla")["headroom_per_device"]))
    assert answer.result.wishes.binds(answer.nearest_miss) == "memory_capacity"


# --- on the same cards ----------------------------------------------------------------------------
