"""Simulation beside queueing theory, conservation laws, two pools, ranks in step, front ends."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from _engines import (
    POLICIES,
    affine,
    engines_of_any_kind,
    limits,
    long_answers,
    requests_of_any_kind,
    tokens,
)
from _engines import trace as recorded
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.serving.metrics import summarise
from calc.serving.requests import (
    ClosedLoop,
    Request,
    poisson,
    shapes_of,
)
from calc.serving.simulation import Pool, simulate
from reference.queueing import interrupted_pace, md1_wait, md1_wait_below
from reference.schedule import schedule

SERVICE = 0.25
ONE_BY_ONE = Pool(limits(seqs=1), lambda step: SERVICE)
ONE_TOKEN = [(100, 1)]
BATCHING = Pool(limits(200, 16), affine(0.02, 1e-4))
SHAPES = shapes_of(300, 40, "lognormal", (0.96, 0.77))
EDGES = 3  # half-widths of the mean that what lies across the edges of a window may weigh


class TestTheory:
    """One server that takes one request at a time: M/D/1, M/M/1, M/G/1."""

    @pytest.mark.parametrize("use", [0.3, 0.8])
    def test_mean_wait_and_use_of_constant_times(self, use):
        found = summarise(simulate(poisson(use / SERVICE, 20_000, ONE_TOKEN, seed=1), ONE_BY_ONE))
        expected = md1_wait(use / SERVICE, SERVICE)
        assert abs(found.wait.mean - expected) <= found.wait.half_width < 0.2 * expected
        assert found.utilisation["serve"] == pytest.approx(use, rel=0.03)

    def test_the_interval_covers_as_often_as_it_says(self):
        """95% of runs, of 30 at least 25."""
        rate = 0.6 / SERVICE
        waits = [summarise(simulate(poisson(rate, 1500, ONE_TOKEN, seed), ONE_BY_ONE)).wait
                 for seed in range(30)]
        assert sum(abs(wait.mean - md1_wait(rate, SERVICE)) <= wait.half_width
                   for wait in waits) >= 25

    def test_percentiles_of_the_wait_are_those_of_erlang(self):
        rate = 0.7 / SERVICE
        found = summarise(simulate(poisson(rate, 30_000, ONE_TOKEN, seed=3), ONE_BY_ONE)).wait
        for share in (0.5, 0.9, 0.99):
            assert md1_wait_below(found.at(share).value, rate, SERVICE) == pytest.approx(
                share, abs=0.01)


def workloads():
    draw = np.random.default_rng(4)
    prompts, answers, _ = np.array(SHAPES)[draw.integers(0, len(SHAPES), 1500)].T
    return {
        "closed loop": ClosedLoop(24, 800, SHAPES, ramp=5.0),
        "closed loop that thinks": ClosedLoop(60, 1200, SHAPES, 12.0, exponential=True, ramp=15.0),
        "equal requests in phase": ClosedLoop(24, 800, [(300, 40)]),
        "Poisson": poisson(2.5, 1500, SHAPES, seed=1),
        "a single burst": poisson(math.inf, 400, SHAPES, seed=2),
        "recorded": recorded(np.cumsum(draw.gamma(0.5, 1.2, 1500)), prompts, answers)}


WORKLOADS = workloads()


@pytest.mark.parametrize("policy", POLICIES)
class TestLittle:
    """Requests in the system are their rate times their stay, in the numbers of a summary."""

    def pool(self, policy, **changed):
        return Pool(limits(256, 32, policy, block_size=16, kv_blocks=2000), affine(0.02, 1e-4),
                    **changed)

    @pytest.mark.parametrize("name", WORKLOADS)
    def test_littles_law(self, name, policy):
        workload = WORKLOADS[name]
        found = summarise(simulate(workload, self.pool(policy)))
        error = found.concurrency / (found.request_throughput * found.e2e.mean) - 1
        if not found.steady:  # all of the run is counted, and nothing lies across its edges
            assert error == pytest.approx(0, abs=1e-9)
        # a stay that lies across an edge belongs to the window in part: as uncertain as the mean
        sampling = 0.002 + EDGES * found.e2e.half_width / found.e2e.mean
        assert abs(error) <= sampling
        if isinstance(workload, ClosedLoop):
            stay = found.e2e.mean + workload.think_time
            assert found.request_throughput * stay == pytest.approx(
                workload.users, rel=EDGES * found.e2e.half_width / stay + 0.02)

    def test_no_server_exceeds_its_steps_or_rests_while_somebody_waits(self, policy):
        """A step takes 20 ms and 0.1 ms per token of a prompt: neither is ever exceeded."""
        run = simulate(poisson(1.0, 400, SHAPES, seed=5), self.pool(policy))
        (steps,) = run.steps["serve"]
        for (_, end), (begin, _) in pairwise(steps.tolist()):
            if begin > end + 1e-9:  # idle in between: nobody was in the system
                assert not [each for each in run.outcomes if each.arrival < begin - 1e-9
                            and each.finished > end + 1e-9]
        full = summarise(simulate(ClosedLoop(200, 1000, SHAPES, ramp=3.0), self.pool(policy)))
        assert full.request_throughput * full.input_tokens * 1e-4 <= 1 + 1e-9
        assert full.output_throughput <= 32 / 0.02


class TestLaws:
    @settings(max_examples=40)
    @given(requests_of_any_kind, engines_of_any_kind, st.integers(1, 3),
           st.sampled_from(["round-robin", "least-loaded"]), st.booleans())
    def test_requests_and_tokens_are_conserved(
            self, requests, engine, replicas, routing, apart):
        pool = Pool(engine, affine(0.5, 0.01), 0.1, replicas, routing)
        run = simulate(requests, pool, pool, 0.01) if apart else simulate(requests, pool)
        assert [outcome.number for outcome in run.outcomes] == list(range(len(requests)))
        in_order = sorted(requests, key=lambda request: request.arrival)
        for request, outcome in zip(in_order, run.outcomes, strict=True):
            assert (request.arrival, request.input_tokens, request.output_tokens) == (
                outcome.arrival, outcome.input_tokens, outcome.output_tokens)
            assert outcome.arrival <= outcome.started < outcome.first_token <= outcome.finished
            later = outcome.tpot * (outcome.output_tokens - 1) if outcome.output_tokens > 1 else 0
            assert outcome.ttft + later == pytest.approx(outcome.e2e)

    @given(requests_of_any_kind | long_answers, engines_of_any_kind, st.sampled_from([1, 7]),
           st.sampled_from([(0.3, 0.01, 0.0), (1.0, 0.0, 0.0), (1.0, 0.0, 2.0)]))
    def test_one_replica_does_what_the_scheduler_does(self, requests, engine, part, times):
        """Also where arrivals meet the ends of steps, and where steps are repeated unplanned."""
        requests = [replace(request, arrival=request.arrival / part) for request in sorted(
            requests, key=lambda request: request.arrival)]
        t0, t1, gap = times
        run = simulate(requests, Pool(engine, affine(t0, t1), gap))
        alone = schedule(requests, engine, affine(t0, t1), gap)
        assert run.outcomes == alone.outcomes
        assert run.steps["serve"][0].tolist() == [[s.start, s.end] for s in alone.steps]

    def test_replicas_in_turn_and_the_least_loaded_one(self):
        requests = poisson(6.0, 1000, ONE_TOKEN, seed=2)
        both = simulate(requests, replace(ONE_BY_ONE, replicas=2)).outcomes
        for start in (0, 1):
            alone = simulate(requests[start::2], ONE_BY_ONE).outcomes
            assert [o.finished for o in alone] == [o.finished for o in both[start::2]]
        pool = Pool(limits(4000, 1), affine(0.0, 1e-3), replicas=4)
        requests = poisson(7.0, 3000, [(100, 1), (900, 1)], seed=2)
        turns, least = (summarise(simulate(requests, replace(pool, routing=routing))).wait.mean
                        for routing in ("round-robin", "least-loaded"))
        assert least < turns
        first = simulate([Request(0.0, 500, 1), Request(0.1, 100, 1), Request(0.3, 100, 1)],
                         replace(pool, replicas=2, routing="least-loaded")).outcomes
        assert [each.wait for each in first] == [0.0, 0.0, 0.0]


def test_one_request_step_by_step():
    """Prefill and decode apart."""
    prefill, decode = Pool(limits(), lambda step: 2.0), Pool(limits(), lambda step: 0.5)
    run = simulate([Request(1.0, 250, 4)], prefill, decode, 0.001)
    outcome, = run.outcomes
    assert (outcome.started, outcome.first_token) == (1.0, 1 + 3 * 2.0 + 0.25)
    assert outcome.finished == outcome.first_token + 3 * 0.5
    assert {pool: len(steps[0]) for pool, steps in run.steps.items()} == {
        "prefill": 3, "decode": 3}
    single, = simulate([Request(0.0, 10, 1)], prefill, decode, 0.3).outcomes
    assert (single.ttft, single.e2e) == (5.0, 5.0)  # one token ends with the transfer


def together(pool, ranks=4, **changes):
    """The same engines in one group, which takes its steps together."""
    return replace(pool, replicas=ranks, ranks=ranks, **changes)


class TestRanks:
    POOL = Pool(limits(100, 8, "prefill-first"), lambda step: 10.0 if step.prefill else 1.0)

    @settings(max_examples=40)
    @given(requests_of_any_kind, engines_of_any_kind, st.integers(1, 4),
           st.sampled_from(["eager", "delay"]))
    def test_every_request_is_served_and_every_token_computed(self, requests, engine, ranks,
                                                              coordination):
        computed = []

        def group_time(steps):
            assert len(steps) == ranks
            computed.append(sum(map(tokens, steps)))
            return 0.5 + 0.01 * max(map(tokens, steps))

        pool = together(Pool(engine, affine(0.5, 0.01)), ranks, coordination=coordination,
                        delay_steps=3, group_time=None if ranks == 1 else group_time)
        run = simulate(requests, pool)
        assert sorted(o.output_tokens for o in run.outcomes) == sorted(
            request.output_tokens for request in requests)
        assert all(o.arrival <= o.started < o.first_token <= o.finished for o in run.outcomes)
        (steps,) = run.steps["serve"]
        assert (steps[1:, 0] >= steps[:-1, 1] - 1e-9).all()
        if ranks == 1:
            assert run.outcomes == simulate(requests, Pool(engine, affine(0.5, 0.01))).outcomes
            return
        least = sum(request.most_cached - request.cached_tokens for request in requests)
        preempted = any(o.preemptions for o in run.outcomes)
        assert sum(computed) >= least if preempted else sum(computed) == least
        assert min(computed) > 0  # no step of idle ranks only

    @pytest.mark.parametrize("rate", [0.5, 2.0])
    def test_the_pace_is_what_the_prefill_of_all_ranks_leaves(self, rate):
        """Many ranks, few steps that two prefill in: 1/(1 - rate x prefill)."""
        pool = together(Pool(limits(100, 256, "prefill-first"),
                             lambda step: 0.1 if step.prefill else 0.02), 16)
        found = summarise(simulate(poisson(rate, 400, [(100, 100)], seed=4), pool)).tpot.mean
        # a step in which somebody prefills brings the others a token as well
        assert found <= interrupted_pace(0.02, 0.1, rate)
        assert found == pytest.approx(interrupted_pace(0.02, 0.1 - 0.02, rate), rel=0.06)

    def test_delayed_prompt_waits_for_steps_or_all_ranks(self):
        requests = [Request(0.0, 100, 30), Request(10.5, 100, 2)]
        for steps in (0, 3):
            pool = together(self.POOL, 2, coordination="delay", delay_steps=steps)
            assert simulate(requests, pool).outcomes[1].started == 11.0 + steps
        pool = together(self.POOL, 2, coordination="delay")
        assert simulate([Request(0.0, 100, 2)], pool).outcomes[0].wait == 0.0  # nobody decodes
        requests = [Request(0.0, 100, 30), Request(0.0, 100, 30),
                    Request(10.5, 100, 2), Request(13.5, 100, 2)]
        assert [o.started for o in simulate(requests, pool).outcomes] == [0.0, 0.0, 14.0, 14.0]

    @pytest.mark.parametrize(("steps", "awaited", "started"), [
        (9, 200.0, [7.0, 7.0]), (2, 200.0, [6.0, 9.0]), (9, 100.0, [4.0, 7.0]),
        (9, 0.0, [4.0, 7.0])])
    def test_a_replica_holds_prompts_back_for_tokens_or_steps(self, steps, awaited, started):
        requests = [Request(0.0, 100, 30), Request(3.5, 100, 20), Request(6.5, 100, 20)]
        pool = Pool(limits(300, 3), lambda step: 1.0, coordination="delay", delay_steps=steps,
                    awaited=awaited)
        assert [each.started for each in simulate(requests, pool).outcomes[1:]] == started
        assert simulate([Request(0.0, 100, 2)], pool).outcomes[0].wait == 0.0  # nobody decodes

    def test_balanced_ranks_wait_for_a_place_at_each(self):
        """Of three places two are taken at one rank: the other lets nobody in until one is free."""
        requests = [Request(0.0, 100, 20), Request(0.0, 100, 2), Request(0.5, 100, 20),
                    Request(5.0, 100, 2)]
        pool = Pool(limits(300, 3), lambda step: 1.0)
        eager, balance = (simulate(requests, together(pool, 2, coordination=name)).outcomes
                          for name in ("eager", "balance"))
        assert eager[3].started == 5.0
        assert balance[3].started == balance[0].finished > 5.0
        assert [each.started for each in eager[:3]] == [each.started for each in balance[:3]]


@pytest.mark.parametrize("rate", [0.5, 500.0])
def test_the_nth_at_once_is_let_in_n_over_the_rate_later(rate):
    """A rate at which requests are let in; what a request takes besides is a latency."""
    pool = Pool(limits(10**6, 10**4), lambda step: 0.0)
    run = simulate(poisson(math.inf, 200, [(10, 1)]), pool, front_end_rate=rate)
    assert [each.started for each in run.outcomes] == pytest.approx(np.arange(200) / rate)
    alone = simulate([Request(4.0 * at, 10, 1) for at in range(5)], pool, front_end_rate=rate)
    assert [outcome.wait for outcome in alone.outcomes] == [0.0] * 5


def test_a_step_that_takes_no_time_is_refused():
    pool = together(BATCHING, 2, group_time=lambda steps: math.nan)
    with pytest.raises(ValueError, match="takes nan s"):
        simulate(poisson(1.0, 1, ONE_TOKEN), pool)
