"""Steps that only repeat the one before, and a clock that jumps: the same run as step by step."""

import contextlib
from dataclasses import replace
from unittest import mock

import numpy as np
from _engines import POLICIES, affine, engines_of_any_kind
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.serving.arrivals import ClosedLoop, Prefixes, poisson
from calc.serving.batching import Engine
from calc.serving.requests import Contexts, Limits, Request, Step
from calc.serving.scheduling import schedule
from calc.serving.simulation import Pool, simulate
from calc.serving.step_times import Clock

requests_of_long_answers = st.lists(
    st.builds(lambda arrival, prompt, output: Request(arrival / 4, prompt, output),
              st.integers(0, 400), st.integers(1, 20), st.integers(1, 40)),
    min_size=1, max_size=12)


@contextlib.contextmanager
def step_by_step():
    with mock.patch.object(Engine, "_repeats", return_value=0):
        yield


def bits(run):
    return (run.outcomes, {pool: [steps.tobytes() for steps in each]
                           for pool, each in run.steps.items()}, run.request_seconds)


def fitting(engine, longest=60):
    """An engine whose cache holds the longest request."""
    return engine if engine.kv_blocks is None else replace(
        engine, kv_blocks=max(engine.kv_blocks, engine.blocks(longest)))


@given(requests_of_long_answers, engines_of_any_kind)
def test_a_schedule_is_that_of_single_steps(requests, engine):
    engine = fitting(engine)
    served = schedule(requests, engine, affine(0.5, 0.01))
    with step_by_step():
        assert schedule(requests, engine, affine(0.5, 0.01)) == served


@given(requests_of_long_answers, engines_of_any_kind, st.sampled_from([(1, 1), (3, 1), (4, 2)]),
       st.sampled_from(["round-robin", "least-loaded"]), st.sampled_from(["eager", "delay"]))
def test_a_simulation_is_that_of_single_steps(requests, engine, replicas, routing, coordination):
    pool = Pool(fitting(engine), affine(0.5, 0.01), 0.02, replicas[0], routing, replicas[1],
                coordination=coordination, delay_steps=3)
    run = simulate(requests, pool)
    with step_by_step():
        assert bits(simulate(requests, pool)) == bits(run)


@given(requests_of_long_answers, engines_of_any_kind,
       st.sampled_from([(1, 1), (3, 1), (4, 2)]), st.sampled_from([0.0, 0.02]),
       st.sampled_from(["eager", "delay", "balance"]))
def test_steps_whose_times_are_known_may_be_taken_at_once(requests, engine, replicas, gap,
                                                          coordination):
    """Where the time goes by the longest context, in blocks of eight tokens."""
    def step_time(step):
        new = sum(new for new, cached in step.prefill)
        return 0.05 + 0.01 * new + 0.003 * -(-max(step.decode, default=0) // 8)

    def coming(steps, count):
        further = [[Step((), Contexts(tuple(step.decode)).next(later)) for step in steps]
                   for later in range(1, count + 1)]
        return [max(map(step_time, each)) for each in further]

    pool = Pool(fitting(engine), step_time, gap, replicas[0], ranks=replicas[1],
                coordination=coordination, delay_steps=3)
    at_once = replace(pool, coming=coming)
    assert bits(simulate(requests, at_once)) == bits(simulate(requests, pool))


@given(engines_of_any_kind, st.integers(1, 9), st.integers(0, 3), st.sampled_from([0.0, 7.25]),
       st.sampled_from([None, Prefixes(turns=3, longest=60)]))
def test_users_in_a_loop_see_the_same(engine, users, seed, thinking, prefixes):
    loop = ClosedLoop(users, max(users, 24), [(20, 40), (5, 11)], thinking, seed=seed,
                      prefixes=prefixes)
    pool = Pool(fitting(engine), affine(0.5, 0.01), replicas=2)
    run = simulate(loop, pool)
    with step_by_step():
        assert bits(simulate(loop, pool)) == bits(run)


@given(st.lists(st.lists(st.integers(1, 9000), min_size=1, max_size=9), min_size=1, max_size=3),
       st.integers(1, 40))
def test_a_clock_says_what_the_coming_steps_take(contexts, count):
    scenario = catalogue.load_scenario("h200-r1-vllm-tp8")
    clock = Clock(scenario.inputs(), scenario.model.attention)
    time = clock.together if len(contexts) > 1 else lambda steps: clock(*steps)
    assert clock.coming([Step((), tuple(each)) for each in contexts], count) == [
        time([Step((), Contexts(tuple(each)).next(later)) for each in contexts])
        for later in range(1, count + 1)]


def test_one_replica_on_a_clock_that_jumps_does_what_a_plain_loop_does():
    requests = poisson(0.05, 60, [(30, 80), (9, 3)], seed=4)
    for policy in POLICIES:
        limits = Limits(64, 4, 40, 8, policy)
        run, served = simulate(requests, Pool(limits, affine(0.3, 0.01))), schedule(
            requests, limits, affine(0.3, 0.01))
        assert run.outcomes == served.outcomes
        np.testing.assert_array_equal(
            run.steps["serve"][0], [(record.start, record.end) for record in served.steps])


def test_most_steps_of_long_answers_are_repeats():
    with mock.patch.object(Engine, "_plan_mixed", autospec=True,
                           side_effect=Engine._plan_mixed) as planned:
        served = schedule([Request(0.0, 10, 1000)], Limits(64, 4), affine(0.5, 0.01))
    assert len(served.steps) == 1000
    assert planned.call_count < 5
