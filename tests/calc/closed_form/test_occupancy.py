"""Cache occupancy in a steady state: hand calculations, samples and simulations."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from _replica import linear_steps, nothing_but, replica, steady_of

import catalogue
from calc.answer.simulated import system_of
from calc.closed_form.dealing import normal_tail
from calc.closed_form.evaluate import evaluate
from calc.closed_form.occupancy import occupancy
from calc.physics.arrays import Inputs
from calc.physics.decode_floor import Decode
from calc.physics.memory import Memory
from calc.serving.arrivals import ClosedLoop, shapes_of
from calc.serving.simulation import simulate


class TestByHand:
    """Contexts of 1,050 tokens (standard deviation 30) in 550 blocks of 16 tokens."""

    MEMORY = nothing_but(Memory, blocks_per_request=70.0, request_blocks=72.0, kv_blocks=550.0,
                         block_tokens=16.0)
    DECODE = nothing_but(Decode, decode_context_tokens=1050.0, context_deviation=30.0)

    def occupied(self, shared=1, **changes):
        q = replica(**changes)
        lasting = steady_of(q, *linear_steps(q, 0.02, 0.02, 1.3e-4))
        inputs = Inputs(vars(q) | {"decode_context_parallel": shared})
        memory = replace(self.MEMORY, served_requests=q.concurrency,
                         served_per_rank=np.ceil(q.concurrency / q.data_parallel))
        return lasting, occupancy(inputs, memory, self.DECODE, lasting)

    @pytest.mark.parametrize("changes", [{}, {"think_time": 2}, {"open_arrivals": 1}])
    def test_mean_deviation_and_overflow(self, changes):
        lasting, found = self.occupied(**changes)
        # half of the last block is empty; two more blocks for the state
        assert found.held_tokens == 1050 + 15 / 2 + 2 * 16
        # no blocks while waiting
        assert found.held_time == pytest.approx(lasting.steady_e2e - lasting.steady_queue)
        holding = lasting.steady_request_throughput * found.held_time
        assert found.holding_requests == pytest.approx(holding)
        assert found.cache_occupied == pytest.approx(holding * found.held_tokens / (550 * 16))
        # binomial number of requests; Poisson for independent arrivals
        stay = lasting.steady_e2e + changes.get("think_time", 0)
        without = 1 if "open_arrivals" in changes else 1 - found.held_time / stay
        variance = holding * (30**2 + without * found.held_tokens**2)
        assert found.cache_deviation == pytest.approx(variance**0.5 / (550 * 16))
        assert found.cache_overflow == pytest.approx(normal_tail(
            (1 - found.cache_occupied) / found.cache_deviation))

    def test_shared_caches_decode_pools_and_the_fullest_replica(self):
        _, shared = self.occupied(shared=4)
        assert shared.held_tokens == 1050 + 63 / 2 + 2 * 64
        lasting, apart = self.occupied(separate_pools=1)
        assert apart.held_time == pytest.approx(101 * lasting.steady_tpot)
        _, uneven = self.occupied(data_parallel=2, concurrency=15)  # eight on one replica
        assert uneven.holding_requests == pytest.approx(8 / 15 * uneven.held_time * self.occupied(
            data_parallel=2, concurrency=15)[0].steady_request_throughput)


class TestOccupancy:
    def test_a_sum_of_independent_requests_overflows_as_often_as_drawn(self):
        """Gamma-distributed contexts of a number that is Poisson's."""
        inputs = catalogue.load_scenario("s2-910b1-awq").inputs() | {
            "open_arrivals": 1, "prompt_variation": 1, "answer_variation": 1}
        found = evaluate(inputs | {"concurrency": np.arange(8, 240, 8)}, "mla")
        draw, room = np.random.default_rng(3), found["kv_blocks"] * inputs["block_size"]
        often = found["cache_overflow"]
        for at in np.flatnonzero((often > 0.01) & (often < 0.9)):
            mean = float(found["held_tokens"])
            shape = (mean / float(found["context_deviation"])) ** 2
            numbers = draw.poisson(found["holding_requests"][at], 20_000)
            held = draw.gamma(shape * np.maximum(numbers, 1e-9), mean / shape)
            assert often[at] == pytest.approx((held > room[at]).mean(), abs=0.03)

    @pytest.mark.parametrize(("policy", "prompt", "answer", "users", "drawn"), [
        ("mixed", 300, 100, 12, "exponential"), ("mixed", 4000, 200, 8, "constant"),
        ("prefill-first", 1500, 80, 20, "exponential")])
    def test_the_cache_is_as_full_as_in_a_simulation(self, policy, prompt, answer, users, drawn):
        scenario = catalogue.load_scenario("h200-r1-sglang-tp8", overrides=[
            f"workload.input_tokens={prompt} token", f"workload.output_tokens={answer} token",
            f"workload.context_tokens={prompt + answer} token",
            f"workload.concurrency={users}", f"workload.requests={users}"])
        given = scenario.inputs() | {"mixed_steps": float(policy == "mixed")}
        system = system_of(scenario, policy=policy)
        lengths = (sorted({shape[i] for shape in shapes_of(
            given["input_tokens"], given["output_tokens"], drawn)})[::10] for i in (0, 1))
        shapes = list(product(*lengths))  # every prompt with every answer: independent
        run = simulate(ClosedLoop(users, 1500, shapes, system.overhead, ramp=10.0),
                       system.pool).outcomes
        prompts, answers = (np.array([getattr(each, name) for each in run], dtype=float)
                            for name in ("input_tokens", "output_tokens"))
        found = evaluate(given | {
            "input_tokens": prompts.mean(), "output_tokens": answers.mean(),
            "prompt_variation": prompts.std() / prompts.mean(),
            "answer_variation": answers.std() / answers.mean()}, scenario.model.attention)
        assert found["holding_requests"] * found["decode_context_tokens"] == pytest.approx(
            held_on_average(run), rel=0.05)


def held_on_average(outcomes):
    """Tokens in the cache over the middle of a run: a prompt, then one more with each token."""
    ends = sorted(each.finished for each in outcomes)
    begin, end = (ends[int(share * len(ends))] for share in (0.05, 0.95))
    times = np.linspace(begin, end, 3000)
    held = np.zeros_like(times)
    for each in outcomes:
        here = (each.started <= times) & (times < each.finished)
        come = (times[here] - each.first_token) / max(each.finished - each.first_token, 1e-12)
        held[here] += each.input_tokens + np.clip(come, 0, 1) * each.output_tokens
    return held.mean()
