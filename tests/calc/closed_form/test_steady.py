"""A steady state in closed form: limits, laws, doubts, and simulations of the same steps."""

from itertools import islice

import numpy as np
import pytest

import calc
import catalogue
from benchmarks.steady import NEVER, rows
from calc.answer.estimate import predicted
from calc.answer.simulated import system_of
from calc.closed_form.evaluate import evaluate
from calc.closed_form.validity import NEAR, doubts
from calc.physics.arrays import Inputs
from calc.serving.arrivals import ClosedLoop, poisson
from calc.serving.metrics import summarise
from calc.serving.requests import Limits
from calc.serving.simulation import Pool, simulate
from calc.serving.step_times import Clock, Paced

FIRST, COUNT = 900_000, 8  # deployments that neither shaped the formulas nor are of the benchmark
FAR = 3  # of them at most further off: of one in ten, more are a chance of one in two hundred


@pytest.mark.nightly
def test_random_deployments_of_varying_lengths_are_near_their_simulation():
    sample = list(islice((each for each in rows(FIRST) if not each.doubts), COUNT))
    for name in NEAR:
        off = np.exp(np.abs(np.log([getattr(each, name) for each in sample])))
        assert np.sum(off > 1 + NEAR[name]) <= FAR
        assert (off <= NEVER).all()


@pytest.fixture(scope="module")
def inputs():
    return catalogue.load_scenario("s2-910b1-awq").inputs()


class TestLaws:
    def test_a_lone_user_sees_a_burst_of_one(self, inputs):
        found = evaluate(inputs | {"concurrency": 1}, "mla")
        for name in ("ttft", "tpot", "e2e"):
            assert found[f"steady_{name}"] == pytest.approx(found[name])
        assert found["steady_queue"] == found["steady_stall"] == 0

    @pytest.mark.parametrize("mixed", [0, 1])
    def test_more_requests_in_flight_wait_longer_and_get_more_out(self, inputs, mixed):
        found = evaluate(inputs | {"concurrency": np.arange(1, 200), "mixed_steps": mixed}, "mla")
        for name in ("steady_tpot", "steady_throughput"):
            assert (np.diff(found[name]) > 0).all()
        assert (found["steady_ttft"] >= found["steady_ttft"][0]).all()

    @pytest.mark.parametrize("thinking", [0, 0.1, 10])
    def test_little_s_law_over_the_loop(self, inputs, thinking):
        found = evaluate(inputs | {"think_time": thinking}, "mla")
        assert found["steady_users"] == pytest.approx(
            found["steady_request_throughput"] * (found["steady_e2e"] + thinking))

class TestSimulations:
    def test_prompts_stall_the_batches_of_a_pipeline(self):
        """Four stages near saturation: a prompt is in one of four batches and rides with that."""
        lengths = ["workload.input_tokens=2000 token", "workload.output_tokens=300 token"]
        scenario = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
            *lengths, "cluster.nodes=4", "parallelism.pipeline_parallel=4",
            *(f"workload.{name}=64 request" for name in ("concurrency", "requests"))])
        found = evaluate(scenario.inputs() | {"concurrency": np.arange(100.0, 500.0),
                                              "open_arrivals": 1}, "mla")
        closed = np.interp(15.0, found["steady_request_throughput"], found["steady_tpot"])
        system = system_of(scenario)
        run = summarise(simulate(poisson(15.0, 1500, system.shapes, 1), system.pool))
        assert closed == pytest.approx(run.tpot.mean, rel=0.05)

    def test_a_rank_that_prefills_first_decodes_nothing_meanwhile(self):
        """Of long contexts a decode step takes longer than a chunk, which does not wait for it."""
        scenario = catalogue.load_scenario("h20-qwen3-8b")
        users, prompt, answer = 128, 8192, 1500
        inputs = scenario.inputs() | {
            "separate_pools": 0, "mixed_steps": 0, "max_num_batched_tokens": 512,
            "concurrency": users, "input_tokens": prompt, "output_tokens": answer,
            "context_tokens": prompt + answer}
        found = evaluate(inputs, scenario.model.attention)
        assert found["busy_step"] < found["steady_pace"]
        steps = Paced(Clock(inputs, scenario.model.attention), inputs["host_gap_per_step"], 1.0)
        loop = ClosedLoop(users, 6 * users, [(prompt, answer)], ramp=float(found["e2e"]))
        run = summarise(simulate(loop, Pool(
            Limits(512, users, policy="prefill-first"), steps, coming=steps.coming)))
        assert found["steady_tpot"] == pytest.approx(run.tpot.mean, rel=0.05)


class TestDoubts:
    """Where the closed form does not hold, that is said, with the mechanism, and simulated."""

    def shared(self, **workload):
        """Two servers of eight ranks that share experts."""
        return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
            "cluster.nodes=2", "parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
            "parallelism.expert_parallel=16", *(
                f"workload.{key}={value}" for key, value in workload.items())])

    def test_one_server_of_few_prompts_is_in_closed_form(self):
        answer = calc.estimate(catalogue.load_scenario("h200-r1-vllm-tp8"))
        assert answer.lasting.doubts == ()
        assert answer.seen is None

    def test_ranks_that_wait_for_long_prompts_are_simulated(self):
        scenario = self.shared(input_tokens="20000 token", context_tokens="20100 token",
                               output_tokens="100 token", concurrency=96, requests=96)
        answer = calc.estimate(scenario)
        assert "shared" in answer.lasting.doubts
        for name, of in (("steady_ttft", answer.seen.ttft), ("steady_tpot", answer.seen.tpot)):
            amount, closed = answer.quantities[name], predicted(scenario, [name])[name]
            assert amount.central == pytest.approx(of.mean)
            assert amount.low < amount.value < amount.high
            assert amount.high / amount.low == pytest.approx(closed.high / closed.low)

    @pytest.mark.parametrize(("name", "value", "met"), [
        ("prefill_delay_steps", 30, True), ("prefill_delay_steps", 0, False),
        ("input_tokens", 400, False), ("expert_parallel", 1, False)])
    def test_prompts_of_several_chunks_that_are_held_back(self, name, value, met):
        inputs = self.shared().inputs() | {"prefill_delay_steps": 30.0, "input_tokens": 40_000.0,
                                           "context_tokens": 40_512.0, name: float(value)}
        assert bool(doubts(Inputs(inputs), evaluate(inputs, "mla"))["held"]) == met


class TestEstimate:
    def answer(self, *settings):
        return calc.estimate(catalogue.load_scenario("s2-910b1-awq", overrides=[
            f"workload.{setting}" for setting in settings]))

    def test_users_who_think_are_fewer_in_flight(self):
        plain, found = self.answer(), self.answer("arrivals=closed-loop", "think_time=30 s")
        assert 1 < found.lasting.in_flight < 32
        assert found.quantities["steady_tpot"].value < plain.quantities["steady_tpot"].value
        assert found.lasting.cache["cache_occupied"] < plain.lasting.cache["cache_occupied"]

    def test_a_rate_within_and_beyond_what_is_let_out(self):
        found = self.answer("arrivals=poisson", "arrival_rate=0.5 request/s")
        assert found.quantities["steady_throughput"].value == pytest.approx(0.5 * 512, rel=1e-3)
        beyond = self.answer("arrivals=poisson", "arrival_rate=50 request/s")
        assert not beyond.lasting.keeps_up
        assert "steady_ttft" not in beyond.quantities
