"""What is told of an answer is the median of the distribution whose interval stands beside it.

``GOALS=all pytest tests/calc/searching/drawing/test_told.py`` asks every goal of the catalogue.
"""

import json
import os
from unittest import mock

import numpy as np
import pytest
from _middle import is_middle

import calc
import catalogue
from calc.answer import users
from calc.layouts.choice import scenario
from calc.searching.candidates import STEADY
from calc.searching.load_goal import load_goal
from calc.searching.pool_pairs import as_served
from calc.searching.result import Answer
from calc.searching.search import search

USUAL = (("r1-64-users-8xh20", ()), ("million-tokens", ("devices=nvidia-h200-sxm",)),
         ("agents-128k-h200", ("space.chunks=8192", "space.drafts=0", "cards.most=32")))
GOALS = [(name, ()) for name in catalogue.names("goals")] if os.environ.get(
    "GOALS") == "all" else USUAL
LEAST, MOST = 0.35, 0.65


@pytest.fixture(scope="module", autouse=True)
def short_runs():
    """What is told of a run does not hang on how long it was."""
    with mock.patch.multiple(users, COUNTED=20, FEWEST=20, DEAREST=0.01):
        yield


@pytest.fixture(scope="module", params=GOALS, ids=lambda goal: goal[0])
def answer(request):
    name, settings = request.param
    return Answer(search(load_goal(name, settings)))


def shown(answer):
    return [group[0] for group in answer.ranking]


@pytest.mark.one
def test_a_value_lies_in_the_middle_of_its_own_distribution(answer):
    """Of the draws without what distance adds: that moves the ends and not the median."""
    assert shown(answer)
    for each in shown(answer):
        for name, told in each.amounts.items():
            assert told.low <= told.value <= told.high
            if name in each.near:
                assert is_middle(each.near[name], told.value, LEAST, MOST), name


def test_a_search_tells_what_an_estimate_of_its_file_tells(answer):
    goal = answer.result.wishes.goal
    for each in shown(answer):
        if each.row.prefill is not None or goal.demand.arrival_rate or goal.demand.think_time:
            continue
        estimated = calc.estimate(scenario(goal, each.row.choice)).quantities
        for name in ("tpot", "ttft", "throughput"):
            assert each.amounts[name].text == estimated[STEADY[name]].text
            assert each.amounts[name].reach == estimated[STEADY[name]].reach


@pytest.mark.one
def test_an_answer_is_data_whatever_is_not_served(answer):
    json.dumps(answer.as_json(), allow_nan=False)


def test_users_who_find_a_pair_full_wait_and_those_who_come_on_their_own_wait_without_end():
    demand = load_goal("agents-128k-h200").demand
    pairs = {"prefill rate": [9.0, 9.0], "decode rate": [1.0, 9.0], "transfer rate": [9.0, 9.0],
             "tpot": [0.01, 0.01], "throughput": [0.0, 500.0], "ttft": [1.0, 2.0],
             "e2e": [3.0, 4.0], "users": [0.0, 40.0], "prefill_busy": [0.0, 0.5]}
    columns = {name: np.array(values) for name, values in pairs.items()}
    found = as_served(columns, demand)
    assert found["e2e"].tolist() == [demand.users, 4.0]  # Little: users over one request a second
    assert found["throughput"].tolist() == [demand.output_tokens, 500.0]
    late = as_served(columns, demand.model_copy(update={"users": None, "arrival_rate": 2.0}))
    assert late["ttft"].tolist() == [np.inf, 2.0]
