"""Steps that only repeat the one before, a clock that jumps and remembers: the same run."""

import contextlib
from dataclasses import replace
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pytest
from _engines import POLICIES, affine, engines_of_any_kind
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc.physics.arrays import ceil_div
from calc.serving.arrivals import ClosedLoop, Prefixes, poisson
from calc.serving.batching import Engine
from calc.serving.requests import Contexts, Limits, Request, Step
from calc.serving.scheduling import schedule
from calc.serving.simulation import Pool, simulate
from calc.serving.step_times import Clock, Paced, ranks_in_step

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


ALONE, DRAFTS, RANKS = "h200-r1-vllm-tp8", "h200-r1-sglang-mtp", "a3-glm51-vllm-tp4"


def clock(name, drafting=False, expected=(), **changed):
    scenario = catalogue.load_scenario(name)
    return Clock(scenario.inputs() | changed, scenario.model.attention, drafting, expected)


@pytest.fixture(scope="module")
def plain():
    return clock(ALONE)


class TestAnswers:
    @pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 64, 65])
    @pytest.mark.parametrize("blocks", [1, 7, 8, 9, 16, 17, 300])
    def test_a_step_takes_what_its_own_requests_take(self, plain, count, blocks):
        """Of contexts in blocks of sixteen tokens, each about its mean."""
        alone = plain._timed(plain._answers(float(count), 16.0 * blocks))
        found = clock(ALONE)(Step((), (16 * blocks,) * count))
        assert found == pytest.approx(float(
            alone.step_time - plain.inputs["host_gap_per_step"]), rel=1e-12)
        assert plain(Step((), Contexts((16 * blocks,) * count))) == found

    @pytest.mark.parametrize(("contexts", "blocks"), [
        ((1,), 1), ((16,), 1), ((17,), 2), ((16, 16), 1), ((15, 17), 1), ((16, 17), 2),
        ((1, 63), 2), ((1, 64), 3)])
    def test_mean_contexts_are_rounded_up(self, plain, contexts, blocks):
        assert plain._rounded(Step((), contexts)) == (len(contexts), blocks)
        assert plain._rounded(Step((), Contexts(contexts))) == (len(contexts), blocks)
        assert plain(Step((), contexts)) == plain(Step((), (16 * blocks,) * len(contexts)))

    def test_no_request_takes_no_time(self, plain):
        assert plain(Step((), ())) == 0.0

    @pytest.mark.parametrize("drafts", [1.0, 3.0])
    def test_drafting_takes_its_passes_besides(self, drafts):
        given = {"draft_tokens": drafts}
        without, drafting = (clock(DRAFTS, on, **given) for on in (False, True))
        timed = without._timed(without._answers(5.0, 1600.0))
        passes = float(ceil_div(drafts, without.inputs["draft_block"]))
        step = Step((), (1600,) * 5)
        assert drafting(step) - without(step) == pytest.approx(
            passes * float(np.ravel(timed.draft_pass_time)[0]), rel=1e-6)


class TestPrompts:
    PROMPTS = ((1000, 0), (300, 64))

    @pytest.mark.parametrize("name", [ALONE, RANKS])
    @pytest.mark.parametrize("beside", [0, 1, 7, 8, 9, 16])
    def test_expected_prompts_take_what_others_take(self, name, beside):
        known, fresh = clock(name, expected=self.PROMPTS * 2), clock(name)
        for prompt in self.PROMPTS:
            step = Step((prompt,), (700,) * beside)
            assert known(step) == pytest.approx(fresh(step), rel=1e-12)
            assert known.together([step]) == pytest.approx(fresh.together([step]), rel=1e-12)
        other = Step(((1000, 64),), (700,) * beside)
        assert known(other) == pytest.approx(fresh(other), rel=1e-12)

    def test_what_was_asked_before_does_not_matter(self):
        steps = [Step(prompts, (500,) * beside) for prompts in (((90, 5),), ((90, 5), (40, 0)))
                 for beside in (0, 3, 4)] + [Step((), (500,) * count) for count in (3, 33)]
        one, other = clock(RANKS), clock(RANKS)
        forwards = [(one(step), one.together([step, step])) for step in steps]
        backwards = [(other(step), other.together([step, step])) for step in reversed(steps)]
        assert forwards == backwards[::-1]
        assert len({time for time, _ in forwards}) == len(steps)


@pytest.mark.parametrize("drafting", [False, True])
@pytest.mark.parametrize("step", [
    Step((), (1500,) * 24), Step(((700, 64), (80, 0)), (900,) * 5), Step(((2048, 0),), ())])
def test_equal_ranks_that_draft_take_what_one_of_them_takes(drafting, step):
    timed = clock(RANKS, drafting)
    ranks = ranks_in_step(timed.inputs)
    assert ranks > 1
    assert timed.together([step] * ranks) == pytest.approx(timed(step), rel=1e-9)


class TestPaced:
    """A step of answers yields 1.5 tokens, and the host takes half a second before each."""

    CLOCK = SimpleNamespace(together=lambda steps: 4.0 * len(steps), coming=lambda steps, count: [
        float(at) for at in range(count)])
    PROMPT, ANSWER = Step(((5, 0),), (7,)), Step((), (7,))

    def test_a_token_takes_its_share_of_a_step_of_answers(self):
        one = Paced(lambda step: 4.0, 0.5, 1.5)
        assert (one(self.PROMPT), one(self.ANSWER)) == (4.5, 3.0)
        several = Paced(self.CLOCK, 0.5, 1.5)
        assert several.together([self.PROMPT, self.ANSWER]) == 8.5
        assert several.together([self.ANSWER] * 2) == pytest.approx(8.5 / 1.5)
        assert several.coming([self.ANSWER], 3) == pytest.approx([0.5 / 1.5, 1.0, 2.5 / 1.5])
