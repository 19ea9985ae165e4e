"""Ranks that share experts have one clock; the front end lets requests in one after another."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from _engines import affine, engines_of_any_kind, limits, requests_of_any_kind, tokens
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.serving import saturation
from calc.serving.arrivals import bursts, poisson
from calc.serving.metrics import summarise
from calc.serving.replay import serve_all
from calc.serving.requests import Request, Step
from calc.serving.saturation import keeps_up, saturation_of_ranks, saturation_rate
from calc.serving.simulation import IDLE, Pool, simulate
from calc.serving.step_times import Clock, ranks_in_step
from reference.queueing import interrupted_pace

SHARING = [name for name in catalogue.deployment_names()
           if ranks_in_step(catalogue.load_scenario(name).inputs()) > 1]
STEPS = [Step(((2048, 0),), ()), Step((), (1500,) * 24), Step(((700, 64), (80, 0)), (900,) * 5)]


def clock(name):
    scenario = catalogue.load_scenario(name)
    inputs = scenario.inputs()
    return Clock(inputs, scenario.model.attention), ranks_in_step(inputs)


def together(pool, ranks=4, **changes):
    """The same engines in one group."""
    return replace(pool, replicas=ranks, ranks=ranks, **changes)


class TestOneStep:
    """The time of a step that ranks take together, on the runtime's clock."""

    @pytest.mark.parametrize("name", SHARING)
    def test_equal_ranks_are_the_closed_wave(self, name):
        timed, ranks = clock(name)
        for step in STEPS:
            assert timed.together([step] * ranks) == pytest.approx(timed(step), rel=1e-9)

    @pytest.mark.parametrize("name", SHARING)
    def test_never_faster_than_any_of_them_alone(self, name):
        timed, ranks = clock(name)
        mixed = [STEPS[number % len(STEPS)] for number in range(ranks)]
        alone = [timed.together([step, *[IDLE] * (ranks - 1)]) for step in mixed]
        assert timed.together(mixed) >= max(alone)

    @pytest.mark.parametrize("name", SHARING)
    def test_more_ranks_at_work_take_longer_but_less_than_one_after_another(self, name):
        timed, ranks = clock(name)
        times = [timed.together([STEPS[0]] * busy + [IDLE] * (ranks - busy))
                 for busy in range(1, min(ranks, 9) + 1)]
        assert times == sorted(times)
        assert times[-1] < len(times) * times[0]

    @pytest.mark.parametrize("name", SHARING)
    def test_a_rank_that_prefills_alone_has_no_others_experts_to_wait_for(self, name):
        timed, ranks = clock(name)
        assert timed.together([STEPS[0], *[IDLE] * (ranks - 1)]) < timed(STEPS[0])

    def test_which_rank_is_which_does_not_matter(self):
        timed, ranks = clock("h200-v32-sglang-dp8")
        mixed = [STEPS[number % len(STEPS)] for number in range(ranks)]
        assert timed.together(mixed) == timed.together(mixed[::-1])

    @pytest.mark.parametrize(("expert", "slices", "tensor", "expected"), [
        (8, 0, 8, 1), (1, 0, 4, 1), (16, 0, 8, 2), (1, 8, 1, 8), (4, 2, 2, 4)])
    def test_ranks_share_experts_where_there_are_more_parts_than_of_tensors(
            self, expert, slices, tensor, expected):
        assert ranks_in_step({"expert_parallel": expert, "expert_tensor_parallel": slices,
                              "tensor_parallel": tensor}) == expected


class TestGroup:
    """Engines with one clock, whatever a step takes."""

    @settings(max_examples=50)
    @given(requests_of_any_kind, engines_of_any_kind)
    def test_a_group_of_one_is_a_replica(self, requests, engine):
        pool = Pool(engine, affine(0.5, 0.01), 0.1)
        assert simulate(requests, together(pool, 1)).outcomes == simulate(requests, pool).outcomes

    @settings(max_examples=50)
    @given(requests_of_any_kind, engines_of_any_kind, st.integers(2, 4),
           st.sampled_from(["eager", "delay"]))
    def test_every_request_is_served_and_every_token_computed(self, requests, engine, ranks,
                                                              coordination):
        made = []

        def group_time(steps):
            assert len(steps) == ranks
            made.append(sum(map(tokens, steps)))
            return 0.5 + 0.01 * max(map(tokens, steps))

        pool = together(Pool(engine, affine(0.0, 0.0)), ranks, group_time=group_time,
                        coordination=coordination, delay_steps=3)
        run = simulate(requests, pool)
        assert sorted(o.output_tokens for o in run.outcomes) == sorted(
            request.output_tokens for request in requests)
        assert all(o.arrival <= o.started < o.first_token <= o.finished for o in run.outcomes)
        least = sum(request.most_cached - request.cached_tokens for request in requests)
        assert sum(made) >= least
        assert min(made) > 0  # no step of idle ranks only
        if not any(o.preemptions for o in run.outcomes):
            assert sum(made) == least
        (steps,) = run.steps["serve"]
        assert (steps[1:, 0] >= steps[:-1, 1] - 1e-9).all()

    def test_equal_loads_at_the_same_moments_are_those_of_one_rank(self):
        pool = Pool(limits(200, 16), affine(0.02, 1e-4))
        one = simulate(bursts(1, 3.0, 20, [(333, 17)]), pool)
        four = simulate(bursts(4, 3.0, 20, [(333, 17)]), together(pool))
        for number, outcome in enumerate(four.outcomes):
            same = one.outcomes[number // 4]
            assert (outcome.first_token, outcome.finished) == (same.first_token, same.finished)

    def test_one_rank_that_prefills_stops_the_others(self):
        pool = Pool(limits(100, 8, "prefill-first"), lambda s: 10.0 if s.prefill else 1.0)
        requests = [Request(0.0, 100, 21), Request(10.5, 100, 2)]
        apart = simulate(requests, replace(pool, replicas=2)).outcomes
        joint = simulate(requests, together(pool, 2)).outcomes
        assert apart[0].finished == 10 + 20
        assert joint[0].finished == apart[0].finished + 9  # its token of that step takes 10 s
        assert joint[1].started == 11.0  # when the step that runs is over

    def test_a_group_is_no_faster_than_ranks_by_themselves(self):
        """Under light load the mean time per output token grows by what the others prefill."""
        pool = Pool(limits(100, 64, "prefill-first"), lambda s: 0.2 if s.prefill else 0.02)
        requests = poisson(1.0, 1500, [(100, 40)], seed=3)
        apart, joint = (summarise(simulate(requests, each)) for each in (
            replace(pool, replicas=4), together(pool)))
        assert joint.tpot.mean > 1.1 * apart.tpot.mean
        assert joint.ttft.mean > apart.ttft.mean

    @pytest.mark.one
    @pytest.mark.parametrize("rate", [0.5, 1.0, 2.0])
    def test_the_pace_is_what_the_prefill_of_all_ranks_leaves(self, rate):
        """Many ranks, few steps that two prefill in: 1/(1 - rate x prefill)."""
        pool = together(Pool(limits(100, 256, "prefill-first"),
                             lambda s: 0.1 if s.prefill else 0.02), 32)
        found = summarise(simulate(poisson(rate, 1000, [(100, 200)], seed=4), pool)).tpot.mean
        # a step in which somebody prefills brings the others a token as well
        assert found <= interrupted_pace(0.02, 0.1, rate)
        assert found == pytest.approx(interrupted_pace(0.02, 0.1 - 0.02, rate), rel=0.05)


class TestCoordination:
    """Prompts that wait for those of the other ranks."""

    POOL = Pool(limits(100, 8, "prefill-first"), lambda s: 10.0 if s.prefill else 1.0)

    def test_a_prompt_waits_so_many_steps_and_no_more(self):
        requests = [Request(0.0, 100, 30), Request(10.5, 100, 2)]
        for steps in (0, 3):
            pool = together(self.POOL, 2, coordination="delay", delay_steps=steps)
            assert simulate(requests, pool).outcomes[1].started == 11.0 + steps

    def test_nobody_waits_where_nobody_decodes(self):
        pool = together(self.POOL, 2, coordination="delay")
        assert simulate([Request(0.0, 100, 2)], pool).outcomes[0].wait == 0.0

    def test_prompts_of_all_ranks_go_at_once(self):
        requests = [Request(0.0, 100, 30), Request(0.0, 100, 30),
                    Request(10.5, 100, 2), Request(13.5, 100, 2)]
        pool = together(self.POOL, 2, coordination="delay")
        assert [o.started for o in simulate(requests, pool).outcomes] == [0.0, 0.0, 14.0, 14.0]

    def test_balanced_ranks_wait_for_a_place_at_each(self):
        """Of three places two are taken at one rank: the other lets nobody in until one is free."""
        requests = [Request(0.0, 100, 20), Request(0.0, 100, 2), Request(0.5, 100, 20),
                    Request(5.0, 100, 2)]
        eager, balance = (simulate(requests, together(
            Pool(limits(300, 3), lambda step: 1.0), 2, coordination=name)).outcomes
            for name in ("eager", "balance"))
        assert eager[3].started == 5.0
        assert balance[3].started == balance[0].finished > 5.0
        assert [each.started for each in eager[:3]] == [each.started for each in balance[:3]]

    @pytest.mark.parametrize("policy", ["mixed", "prefill-first"])
    def test_balance_loses_nothing_and_a_long_prompt_goes_on(self, policy):
        pool = Pool(limits(100, 4, policy), lambda s: 0.2 if s.prefill else 0.02)
        requests = poisson(3.0, 800, [(350, 40), (50, 10)], seed=3)
        run = simulate(requests, together(pool, 4, coordination="balance"))
        assert len(run.outcomes) == len(requests)

    @pytest.mark.parametrize("policy", ["mixed", "prefill-first"])
    def test_delay_trades_the_first_token_for_the_pace(self, policy):
        pool = Pool(limits(100, 64, policy), lambda s: 0.2 if s.prefill else 0.02)
        requests = poisson(2.0, 1500, [(100, 40)], seed=3)
        eager, delay = (summarise(simulate(requests, together(pool, coordination=name)))
                        for name in ("eager", "delay"))
        assert delay.tpot.mean < eager.tpot.mean
        assert delay.wait.mean > eager.wait.mean


class TestSaturation:
    """Random arrivals spread the prefills of a group; a queue at every rank aligns them."""

    POOL = together(Pool(limits(100, 32, "prefill-first"), lambda s: 0.1 if s.prefill else 0.02), 8)

    def test_is_below_that_of_ranks_in_phase(self):
        in_phase = saturation_rate(self.POOL, [(100, 60)])
        spread = saturation_of_ranks(self.POOL, [(100, 60)], in_phase)
        alone = saturation_rate(replace(self.POOL, ranks=1), [(100, 60)])
        assert in_phase == pytest.approx(alone, rel=0.05)
        assert spread < 0.8 * in_phase

    def test_keeps_up_at_it(self):
        spread = saturation_of_ranks(self.POOL, [(100, 60)], 60.0)
        waits = [summarise(simulate(poisson(share * spread, 6000, [(100, 60)]), self.POOL)).wait
                 for share in (0.8, 1.3)]
        assert waits[0].p50 < 1.0 < waits[1].p50


class TestFrontEnd:
    """A rate at which requests are let in; what a request takes besides is a latency."""

    POOL = Pool(limits(10**6, 10**4), lambda step: 0.0)

    def test_the_nth_at_once_is_let_in_n_over_the_rate_later(self):
        run = simulate(bursts(1000, 1.0, 1, [(10, 1)]), self.POOL, front_end_rate=500)
        started = [outcome.started for outcome in run.outcomes]
        np.testing.assert_allclose(started, np.arange(1000) / 500, atol=1e-9)

    def test_a_rate_below_one_a_second_is_a_rate(self):
        run = simulate(bursts(4, 1.0, 1, [(10, 1)]), self.POOL, front_end_rate=0.5)
        assert [outcome.started for outcome in run.outcomes] == [0.0, 2.0, 4.0, 6.0]

    def test_who_comes_alone_is_let_in_at_once(self):
        run = simulate([Request(float(at), 10, 1) for at in range(5)], self.POOL, front_end_rate=2)
        assert [outcome.wait for outcome in run.outcomes] == [0.0] * 5

    def test_is_a_server_with_a_constant_time(self):
        """Poisson arrivals at 80% of the rate wait as in M/D/1."""
        found = summarise(simulate(poisson(8.0, 20_000, [(10, 1)], 1), self.POOL,
                                   front_end_rate=10)).wait
        assert found.mean == pytest.approx(0.8 / 2 / 0.2 / 10, abs=found.half_width)

    def test_without_a_rate_there_is_none(self):
        requests = poisson(6.0, 300, [(150, 20)], seed=2)
        pool = Pool(limits(200, 16), affine(0.02, 1e-4))
        fast, none = (simulate(requests, pool, front_end_rate=rate).outcomes
                      for rate in (1e9, math.inf))
        assert fast == none

    @pytest.mark.parametrize("name", ["h200-r1-sglang-tp8", "h200-v32-sglang-dp8"])
    def test_a_thousand_at_once_do_not_wait_a_thousand_overheads(self, name):
        scenario = catalogue.load_scenario(name)
        row = {"requests": 64.0, "concurrency": 64.0, "input_tokens": 16.0, "output_tokens": 4.0}

        def ttft(**changes):
            clock = Clock(scenario.inputs() | changes, scenario.model.attention)
            return serve_all(clock, row, 4000.0, lengths="equal")["ttft"]

        # a latency adds itself, once; a slow front end adds half of what the last one waits
        assert ttft(request_overhead=1.01) - ttft(request_overhead=0.01) == pytest.approx(1.0)
        assert ttft(front_end_rate=1.0) > 30.0
        assert ttft() < ttft(front_end_rate=100.0)

    @pytest.mark.parametrize(("make", "message"), [
        (lambda: simulate([Request(0.0, 1, 1)], TestFrontEnd.POOL, front_end_rate=0.0),
         "lets 0.0 request/s in"),
        (lambda: together(TestFrontEnd.POOL, 3, coordination="maybe"), "no coordination 'maybe'"),
        (lambda: replace(TestFrontEnd.POOL, replicas=3, ranks=2), "3 replicas in groups of 2"),
        (lambda: simulate([Request(0.0, 1, 2)], together(TestFrontEnd.POOL, 2, group_time=(
            lambda steps: math.nan))), "takes nan s"),
    ])
    def test_misuse_is_told(self, make, message):
        with pytest.raises(ValueError, match=message) as caught:
            make()
        assert str(caught.value).endswith(".")


FEW = [(10, 3)]


def alone(replicas=1, seqs=1):
    return Pool(limits(seqs=seqs), lambda step: 1.0, replicas=replicas)


class TestSaturationByHand:
    @pytest.fixture
    def asked(self, monkeypatch):
        """What is simulated: the n-th request ends at n squared."""
        seen = []

        def simulate(requests, *pools):
            seen.append(requests)
            return SimpleNamespace(outcomes=[
                SimpleNamespace(finished=float(number * number))
                for number in range(len(requests), 0, -1)])

        monkeypatch.setattr(saturation, "simulate", simulate)
        return seen

    def test_from_the_end_of_the_third_wave_to_that_of_the_ninth(self, asked):
        """Of sixty at once, the 18th ends at 324 s and the 54th at 2916 s."""
        assert saturation_rate(alone(2, 3), FEW) == 36 / (54**2 - 18**2)
        assert (len(asked[0]), {request.arrival for request in asked[0]}) == (60, {0.0})

    def test_the_larger_pool_decides_how_many_come(self, asked):
        for one, other in ((alone(2, 3), alone(1, 2)), (alone(1, 2), alone(2, 3))):
            assert saturation_rate(one, FEW, other) == 36 / (54**2 - 18**2)

    @pytest.mark.parametrize(("seqs", "waves", "first", "last"), [
        (5, 2, 3, 5), (1, 3, 1, 2), (4, 5, 6, 16), (10, 7, 21, 60)])
    def test_of_fewer_waves_all_but_the_last(self, asked, seqs, waves, first, last):
        assert saturation_rate(alone(1, seqs), FEW, waves=waves) == (
            (last - first) / (last**2 - first**2))

    def test_a_single_wave_saturates_nothing(self, asked):
        for waves in (1, 2):
            with pytest.raises(ValueError, match="nothing saturates"):
                saturation_rate(alone(1, 1), FEW, waves=waves)

    def test_at_a_rate_they_come_one_by_one(self, asked):
        saturation_rate(alone(50, 4), FEW, rate=25.0)
        assert asked[0][-1].arrival == pytest.approx(2000 / 25, rel=0.1)

    @pytest.mark.parametrize(("capacity", "tried"), [
        (99.0, [100.0]), (97.9, [100.0, 97.9**2 / 100]), (50.0, [100.0, 25.0])])
    def test_the_rate_of_ranks_is_lowered_until_what_comes_out_is_what_goes_in(
            self, monkeypatch, capacity, tried):
        seen = []

        def saturation_rate(pool, shapes, waves, rate):
            seen.append((waves, rate))
            return min(rate, capacity)

        monkeypatch.setattr(saturation, "saturation_rate", saturation_rate)
        assert saturation_of_ranks(alone(), FEW, 100.0, 7) == pytest.approx(tried[-1])
        assert seen == [(7, pytest.approx(rate)) for rate in tried]

    def test_after_five_runs_it_is_what_came_out(self, monkeypatch):
        """A tenth too little comes out each time, so that the rate falls to 81% of it."""
        monkeypatch.setattr(saturation, "saturation_rate",
                            lambda pool, shapes, waves, rate: 0.9 * rate)
        assert saturation_of_ranks(alone(), FEW, 100.0) == pytest.approx(90 * 0.81**4)


def waiting(growth, of_tokens):
    """Arrivals in 1000 s that wait ever longer, by so much a second, for a first token or others.

    Answers have 6 or 16 tokens in turn, 11 on average.
    """
    at = np.arange(1001.0)
    tokens = np.where(at % 2, 6, 16)
    first = at + (0.0 if of_tokens else growth * at)
    last = first + (growth * at * (tokens - 1) / 10 if of_tokens else 0.0)
    return SimpleNamespace(outcomes=tuple(
        SimpleNamespace(arrival=one, first_token=two, finished=three, output_tokens=int(count))
        for one, two, three, count in zip(at, first, last, tokens, strict=True)))


@pytest.mark.parametrize("of_tokens", [False, True])
class TestKeepsUp:
    @pytest.mark.parametrize(("growth", "bounded"), [
        (0.0, True), (0.0195, True), (0.0205, False), (1.0, False), (-1.0, True)])
    def test_what_grows_by_more_than_a_fiftieth_of_the_arrivals_has_no_bound(
            self, of_tokens, growth, bounded):
        assert keeps_up(waiting(growth, of_tokens)) is bounded

    def test_how_much_may_pile_up_can_be_told(self, of_tokens):
        assert keeps_up(waiting(0.29, of_tokens), 0.3)
        assert not keeps_up(waiting(0.31, of_tokens), 0.3)


def test_single_tokens_have_no_pace():
    run = SimpleNamespace(outcomes=tuple(
        SimpleNamespace(arrival=float(at), first_token=at + 1.0, finished=at + 1.0, output_tokens=1)
        for at in range(100)))
    assert keeps_up(run)
