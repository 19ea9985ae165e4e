"""Laws that any run of the simulation keeps, whoever arrives and however an engine schedules."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from _engines import POLICIES, affine, limits, trace

from calc.serving.arrivals import ClosedLoop, bursts, modulated, poisson, shapes_of
from calc.serving.metrics import batch_means, summarise
from calc.serving.requests import Request
from calc.serving.saturation import saturation_rate
from calc.serving.simulation import Pool, simulate

SHAPES = shapes_of(300, 40, "lognormal", (0.96, 0.77))
STEP = affine(0.02, 1e-4)
EDGES = 3  # half-widths of the mean that what lies across the edges of a window may weigh


def pool(policy, **changed):
    return Pool(limits(256, 32, policy, block_size=16, kv_blocks=2000), STEP, **changed)


def recorded():
    draw = np.random.default_rng(4)
    at = np.cumsum(draw.gamma(0.5, 1.2, 2000))
    prompts, answers, _ = np.array(SHAPES)[draw.integers(0, len(SHAPES), 2000)].T
    return trace(at, prompts, answers)


ASKED = {
    "closed loop": ClosedLoop(24, 1200, SHAPES, ramp=5.0),
    "closed loop that thinks": ClosedLoop(60, 1800, SHAPES, 12.0, exponential=True, ramp=15.0),
    "closed loop that begins together": ClosedLoop(24, 1200, SHAPES),
    "equal requests in phase": ClosedLoop(24, 1200, [(300, 40)]),
    "Poisson": poisson(2.5, 2500, SHAPES, seed=1),
    "Poisson in busy and quiet minutes": modulated(1.8, 0.3, 60.0, 2500, SHAPES, seed=1),
    "bursts": bursts(20, 12.0, 80, SHAPES, seed=2),
    "a single burst": bursts(400, 1.0, 1, SHAPES, seed=2),
    "replay": recorded(),
}


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", ASKED)
class TestLittle:
    """Requests in the system are their rate times their stay, in the numbers that are printed."""

    def test_of_the_system(self, name, policy):
        found = summarise(simulate(ASKED[name], pool(policy)))
        error = found.concurrency / (found.request_throughput * found.e2e.mean) - 1
        if not found.steady:  # all of the run is counted, and nothing lies across its edges
            assert error == pytest.approx(0, abs=1e-9)
        # a stay that lies across an edge belongs to the window in part: as uncertain as the mean
        sampling = 0.002 + EDGES * found.e2e.half_width / found.e2e.mean
        assert abs(error) <= sampling
        assert sampling < 0.3 or not found.steady

    def test_of_the_loop(self, name, policy):
        loop = ASKED[name]
        if not isinstance(loop, ClosedLoop):
            pytest.skip("nobody waits for an answer")
        found = summarise(simulate(loop, pool(policy)))
        assert found.steady
        users = found.request_throughput * (found.e2e.mean + loop.think_time)
        assert users == pytest.approx(loop.users, rel=EDGES * found.e2e.half_width
                                      / (found.e2e.mean + loop.think_time) + 0.02)


def test_ranks_in_step_keep_it_however_they_wait():
    for coordination in ("eager", "delay", "balance"):
        several = pool("mixed", replicas=4, ranks=4, coordination=coordination)
        found = summarise(simulate(ClosedLoop(80, 3000, SHAPES, ramp=8.0), several))
        assert found.request_throughput * found.e2e.mean == pytest.approx(80, rel=0.03)


class TestCapacity:
    @pytest.mark.parametrize("policy", POLICIES)
    def test_prompts_and_answers_take_no_less_than_their_steps(self, policy):
        """A step takes 20 ms and 0.1 ms per token of a prompt: neither is ever exceeded."""
        for users in (4, 24, 200):
            run = simulate(ClosedLoop(users, 8 * users + 400, SHAPES, ramp=3.0), pool(policy))
            found = summarise(run)
            rate = found.request_throughput
            assert rate * found.input_tokens * 1e-4 <= 1 + 1e-9
            # a step brings a token of each request in work at most, of which there are 32
            assert found.output_throughput <= 32 / 0.02

    @pytest.mark.parametrize("policy", POLICIES)
    def test_the_server_never_rests_while_somebody_waits(self, policy):
        run = simulate(poisson(1.0, 400, SHAPES, seed=5), pool(policy))
        (steps,) = run.steps["serve"]
        for (_, end), (begin, _) in pairwise(steps.tolist()):
            if begin > end + 1e-9:  # idle in between: nobody was in the system
                assert not [o for o in run.outcomes if o.arrival < begin - 1e-9
                            and o.finished > end + 1e-9]

    @pytest.mark.parametrize("policy", POLICIES)
    def test_a_faster_or_larger_engine_takes_no_less(self, policy):
        one = replace(pool(policy), limits=limits(256, 8, policy))
        rates = [saturation_rate(replace(one, step_time=affine(slow, slow / 200)), SHAPES[::40])
                 for slow in (0.04, 0.02, 0.01)]
        assert rates == pytest.approx([rates[0], 2 * rates[0], 4 * rates[0]], rel=1e-6)
        wider = [saturation_rate(replace(one, limits=limits(256, most, policy)), SHAPES[::40],
                                 waves=20) for most in (2, 8, 32)]
        assert wider == sorted(wider)


class TestParts:
    @pytest.mark.parametrize("policy", POLICIES)
    def test_waiting_prefill_and_decode_are_the_whole_stay(self, policy):
        run = simulate(ASKED["Poisson"], pool(policy))
        for outcome in run.outcomes:
            later = 0.0 if outcome.output_tokens == 1 else (
                outcome.output_tokens - 1) * outcome.tpot
            assert outcome.arrival <= outcome.started < outcome.first_token <= outcome.finished
            assert outcome.ttft + later == pytest.approx(outcome.e2e)

    @pytest.mark.parametrize("policy", POLICIES)
    def test_preemptions_are_counted_where_the_cache_is_too_small(self, policy):
        def preempted(blocks):
            engine = limits(256, 32, policy, block_size=16, kv_blocks=blocks,
                            reserved_output=0.0 if policy == "prefill-first" else 1.0)
            run = simulate(ClosedLoop(32, 300, [(100, 200)]), Pool(engine, STEP))
            return sum(outcome.preemptions for outcome in run.outcomes)

        assert preempted(200) > 0 == preempted(32 * 19)


class TestPercentiles:
    def test_an_interval_holds_the_percentile_as_often_as_it_says(self):
        """Of independent waits: those of single requests on an empty server, drawn again."""
        draw, inside = np.random.default_rng(7), 0
        for _ in range(200):
            times = draw.exponential(1.0, 800)
            run = simulate([Request(10.0 * at, 1, 1) for at in range(1)], Pool(
                limits(), affine(1.0, 0.0)))
            at = replace(summarise(run).ttft, values=times).at(0.9)
            inside += at.low <= math.log(10) <= at.high
        assert inside >= 0.9 * 200

    def test_its_share_is_known_less_where_requests_depend_on_each_other(self):
        draw = np.random.default_rng(1)
        alike = np.repeat(draw.exponential(1.0, 100), 40)
        of = summarise(simulate([Request(0.0, 1, 1)], Pool(limits(), affine(1.0, 0.0)))).ttft
        free = replace(of, values=draw.exponential(1.0, 4000)).at(0.9)
        bound = replace(of, values=alike).at(0.9)
        assert bound.error > 2 * free.error
        assert batch_means(alike) > 2 * batch_means(draw.permutation(alike))

    def test_too_few_requests_leave_it_open(self):
        found = summarise(simulate(bursts(30, 1.0, 1, SHAPES), pool("mixed"))).ttft.at(0.99)
        assert (found.low, found.high) == (0.0, math.inf)
