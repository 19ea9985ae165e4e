"""What is told of a steady state is one thing: estimate, alerts, bench plan, capacity and search
take it from one place, also where its closed form does not hold."""

import pytest

import calc
import catalogue
from calc.capacity.replicas import Replica
from calc.launching.deployment import deployment
from calc.layouts.choice import scenario
from calc.searching.load_goal import load_goal
from calc.searching.result import Answer
from calc.searching.search import search

RATE = 0.5  # request/s: prompts of ranks that share experts take most of a token's time
NAMES = ("ttft", "tpot")
PLAN = ("h200-r1-vllm-tp8", (
    "cluster.nodes=2", "parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
    "parallelism.expert_parallel=16", "workload.input_tokens=8000 token",
    "workload.output_tokens=200 token", "workload.context_tokens=16000 token",
    "workload.concurrency=256", "workload.requests=256", "workload.arrivals=poisson",
    f"workload.arrival_rate={RATE} request/s"))


@pytest.fixture(scope="module")
def answer():
    found = calc.estimate(catalogue.load_scenario(PLAN[0], overrides=PLAN[1]))
    assert found.lasting.doubts
    assert found.seen is not None
    return found


@pytest.fixture(scope="module")
def made():
    return deployment(*PLAN)


def test_what_is_watched_is_what_is_estimated(answer, made):
    watched, = made.watched
    for name in NAMES:
        assert getattr(watched.predicted, name) == answer.quantities[f"steady_{name}"]
        assert any(alert.predicted == answer.quantities[f"steady_{name}"]
                   for alert in watched.alerts)


def test_the_bench_at_that_rate_expects_it(answer, made):
    run, = (each for each in made.runs if each.rate)
    for name in NAMES:
        assert run.predicted[name].central == pytest.approx(
            answer.quantities[f"steady_{name}"].central)


def test_capacity_tells_the_same_of_that_rate(answer):
    replica = Replica(catalogue.load_scenario(PLAN[0], overrides=PLAN[1]))
    seen = replica.metrics(RATE, None)
    assert seen.ttft == pytest.approx(answer.quantities["steady_ttft"].central)
    assert seen.tpot == pytest.approx(answer.quantities["steady_tpot"].central)


def test_a_search_tells_the_same_of_its_answer():
    goal = load_goal("r1-500-users-h200", [
        "demand.users=64", "demand.input_tokens=8000 token", "demand.output_tokens=20 token",
        "limits.tpot=null", "limits.ttft=null", "objectives=cards,tpot", "cards.fewest=16",
        "cards.most=16", "precisions=fp8-block", "space.tensor=1", "space.expert=16",
        "space.pools=one", "space.drafts=0", "space.spares=none", "space.pipeline=1"])
    (first, *_), *_ = Answer(search(goal)).front
    found = calc.estimate(scenario(goal, first.row.choice))
    assert found.seen is not None  # the closed form does not hold
    for name in NAMES:
        assert first.amounts[name].text == found.quantities[f"steady_{name}"].text
