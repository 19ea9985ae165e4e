"""A steady state in closed form: its limits, and what a simulation of the same steps gives."""

import numpy as np
import pytest

import calc
import catalogue
from benchmarks.steady import errors_of
from calc.choosing.simulated import system_of
from calc.quantities.everything import evaluate
from calc.serving.arrivals import poisson
from calc.serving.metrics import summarise
from calc.serving.simulation import simulate

COUNT = 15
MEDIAN, WORST = 0.03, 0.12


class TestAgainstSimulation:
    def test_first_tokens_and_pace_of_random_deployments(self):
        """The first of those that `make bench` goes through."""
        found = errors_of(COUNT)
        assert (np.median(found, axis=0) <= MEDIAN).all()
        assert (found.max(axis=0) <= WORST).all()

    def test_ranks_that_share_experts_within_a_quarter(self):
        found = errors_of(6, ranks=8)
        assert (np.median(found, axis=0) <= 0.1).all()
        assert (found.max(axis=0) <= 0.25).all()


@pytest.fixture(scope="module")
def inputs():
    return catalogue.load_scenario("s2-910b1-awq").inputs()


class TestLaws:
    def test_prompts_stall_the_batches_of_a_pipeline_as_a_simulation_has_it(self):
        """Four stages near saturation: a prompt is in one of four batches and rides with that."""
        lengths = ["workload.input_tokens=2000 token", "workload.output_tokens=300 token"]
        scenario = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
            *lengths, "cluster.nodes=4", "parallelism.pipeline_parallel=4",
            *(f"workload.{name}=64 request" for name in ("concurrency", "requests"))])
        counts = np.arange(100.0, 500.0)
        found = evaluate(scenario.inputs() | {"concurrency": counts, "open_arrivals": 1}, "mla")
        closed = np.interp(18.0, found["steady_request_throughput"], found["steady_tpot"])
        system = system_of(scenario)
        run = summarise(simulate(poisson(18.0, 3000, system.shapes, 1), system.pool))
        assert closed == pytest.approx(run.tpot.mean, rel=0.05)

    def test_a_lone_user_sees_what_a_lone_burst_does(self, inputs):
        found = evaluate(inputs | {"concurrency": 1}, "mla")
        for name in ("ttft", "tpot", "e2e"):
            assert found[f"steady_{name}"] == pytest.approx(found[name])
        assert found["steady_queue"] == found["steady_stall"] == 0

    @pytest.mark.parametrize("mixed", [0, 1])
    def test_more_in_flight_wait_longer_and_get_more_out(self, inputs, mixed):
        found = evaluate(inputs | {"concurrency": np.arange(1, 200), "mixed_steps": mixed}, "mla")
        for name in ("steady_tpot", "steady_throughput"):
            assert (np.diff(found[name]) > 0).all()
        assert (found["steady_ttft"] >= found["steady_ttft"][0]).all()

    @pytest.mark.parametrize("thinking", [0, 0.1, 10])
    def test_littles_law_over_the_loop(self, inputs, thinking):
        found = evaluate(inputs | {"think_time": thinking}, "mla")
        assert found["steady_users"] == pytest.approx(
            found["steady_request_throughput"] * (found["steady_e2e"] + thinking))

    def test_thinking_without_end_is_an_independent_arrival(self, inputs):
        thinking = evaluate(inputs | {"think_time": 1e9}, "mla")
        independent = evaluate(inputs | {"open_arrivals": 1}, "mla")
        for name in ("ttft", "tpot", "request_throughput"):
            assert thinking[f"steady_{name}"] == pytest.approx(independent[f"steady_{name}"], 1e-6)

    def test_first_tokens_come_before_those_of_a_burst_and_later_ones_after(self, inputs):
        found = evaluate(inputs | {"input_tokens": 4096, "context_tokens": 4608}, "mla")
        assert found["steady_ttft"] < found["ttft"]
        assert found["steady_tpot"] > found["tpot"]

    def test_the_smaller_pool_binds(self, inputs):
        apart = inputs | {"separate_pools": 1, "concurrency": np.array([8, 64, 128])}
        found = evaluate(apart, "mla")
        replicas = np.maximum(1, np.ceil(found["pool_ratio"] * inputs["data_parallel"]))
        most = replicas / found["prompt_work"]
        decoded = apart["concurrency"] / (
            (inputs["output_tokens"] - 1) * found["steady_tpot"])
        assert np.all(found["steady_stall"] == 0)
        assert (found["steady_request_throughput"] <= np.minimum(
            decoded, most * apart["concurrency"] / (apart["concurrency"] - 1))).all()


class TestEstimate:
    def answer(self, *settings):
        return calc.estimate(catalogue.load_scenario("s2-910b1-awq", overrides=[
            f"workload.{setting}" for setting in settings]))

    def test_both_answers_stand_beside_each_other(self):
        found = self.answer().quantities
        assert {"ttft", "steady_ttft", "tpot", "steady_tpot"} <= found.keys()
        assert all(found[name].low <= found[name].value <= found[name].high
                   for name in ("steady_ttft", "steady_tpot", "steady_throughput"))

    def test_users_who_think_are_fewer_in_flight(self):
        found = self.answer("arrivals=closed-loop", "think_time=30 s")
        assert 1 < found.lasting.in_flight < 32
        assert found.quantities["steady_tpot"].value < self.answer().quantities["steady_tpot"].value

    def test_a_rate_that_is_met_comes_out(self):
        found = self.answer("arrivals=poisson", "arrival_rate=0.5 request/s")
        assert found.quantities["steady_throughput"].value == pytest.approx(0.5 * 512, rel=1e-3)

    def test_a_rate_beyond_what_is_let_out_has_no_steady_state(self):
        found = self.answer("arrivals=poisson", "arrival_rate=50 request/s")
        assert not found.lasting.keeps_up
        assert "steady_ttft" not in found.quantities

    @pytest.mark.parametrize("setting", [
        ("arrivals=closed-loop", "think_time=-1 s"), ("think_time=1 s",),
        ("arrivals=poisson",), ("arrivals=poisson", "arrival_rate=-1 request/s")])
    def test_what_is_no_arrival_is_one_sentence(self, setting):
        with pytest.raises(catalogue.ParamsError) as error:
            self.answer(*setting)
        assert "\n" not in str(error.value)
