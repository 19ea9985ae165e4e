"""A steady state in closed form: its limits, and what a simulation of the same steps gives."""

import math
from itertools import islice

import numpy as np
import pytest

import calc
import catalogue
from benchmarks.steady import NEVER, rows
from calc.answer.estimate import predicted
from calc.answer.simulated import system_of
from calc.answer.users import MEANS, users_see
from calc.closed_form.evaluate import evaluate
from calc.closed_form.overlaps import product_log
from calc.closed_form.steady import gathering
from calc.closed_form.validity import NEAR, doubt_words, doubts
from calc.physics.arrays import Inputs
from calc.serving.arrivals import ClosedLoop, poisson
from calc.serving.metrics import summarise
from calc.serving.requests import Limits
from calc.serving.simulation import Pool, simulate
from calc.serving.step_times import Clock, Paced

FIRST, COUNT = 900_000, 8  # deployments that neither shaped the formulas nor are of the benchmark
FAR = 3  # of them at most further off: of one in ten, more are a chance of one in two hundred


class TestAgainstSimulation:
    @pytest.mark.slow
    def test_random_deployments_of_varying_lengths(self):
        """A sample of those that `make bench` goes through, where the closed form is to hold."""
        held = (each for each in rows(FIRST) if not each.doubts)
        found = list(islice(held, COUNT))
        for name in NEAR:
            off = np.exp(np.abs(np.log([getattr(each, name) for each in found])))
            assert np.sum(off > 1 + NEAR[name]) <= FAR
            assert (off <= NEVER).all()


class TestThinking:
    """Users who think: when their prompts meet, by counting on a clock of one step."""

    @pytest.mark.parametrize("prompts", [0.05, 0.5, 2.0, 4.0])
    def test_prompts_that_come_during_chunks_extend_the_run(self, prompts):
        """e prompts at random for a decode step: a step without any ends the run of N."""
        steps = np.exp(product_log(prompts))
        drawn = np.random.default_rng(1).poisson(prompts / steps, 200_000)
        assert np.mean(drawn == 0) == pytest.approx(1 / steps, rel=0.06)

    @pytest.mark.parametrize("thinking", [0.01, 0.3, 2.0, 30.0])
    def test_decode_steps_go_on_longer_the_more_users_think(self, thinking):
        """Answers end at random, one a step, and their users think for ``a``: the first ends it."""
        draw = np.random.default_rng(2)
        away = draw.exponential(thinking, (4000, 40 + 8 * int(thinking)))
        ended = draw.exponential(1.0, away.shape).cumsum(axis=1)
        assert gathering(thinking) == pytest.approx((ended + away).min(axis=1).mean(), rel=0.05)


class TestValidity:
    """Where the closed form does not hold, that is said, with the mechanism, and simulated."""

    def asked(self, *settings, name="h200-r1-vllm-tp8"):
        return catalogue.load_scenario(name, overrides=list(settings))

    def shared(self, **workload):
        """Two servers of eight ranks that share experts."""
        return self.asked(
            "cluster.nodes=2", "parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
            "parallelism.expert_parallel=16", *(
                f"workload.{key}={value}" for key, value in workload.items()))

    def doubted(self, scenario):
        return calc.estimate(scenario).lasting.doubts

    def test_one_server_of_few_prompts_is_in_closed_form(self):
        answer = calc.estimate(self.asked())
        assert answer.lasting.doubts == ()
        assert answer.seen is None

    def test_ranks_that_wait_for_long_prompts_are_simulated(self):
        scenario = self.shared(input_tokens="20000 token", context_tokens="20100 token",
                               output_tokens="100 token", concurrency=96, requests=96)
        answer = calc.estimate(scenario)
        assert "shared" in answer.lasting.doubts
        seen = users_see(scenario, wanted=MEANS)
        for name, of in (("steady_ttft", seen.ttft), ("steady_tpot", seen.tpot)):
            amount, closed = answer.quantities[name], predicted(scenario, [name])[name]
            assert amount.central == pytest.approx(of.mean)
            assert amount.low < amount.value < amount.high
            assert amount.high / amount.low == pytest.approx(closed.high / closed.low)
        told_json = answer.as_json()["arrivals"]
        assert not told_json["closed_form_holds"]
        assert told_json["doubts"] == {
            name: doubt_words()[name][0] for name in answer.lasting.doubts}
        assert told_json["simulated"]["requests"] == seen.summary.requests

    def test_each_mechanism_is_asked_of_the_inputs_alone(self):
        """Vectorised: of many deployments at once the same as of each."""
        scenario = self.shared()
        counts = np.geomspace(1, 4096, 40).round()
        for extra in ({}, {"prefill_delay_steps": 30.0, "input_tokens": 40_000.0},
                      {"mixed_steps": 0.0}, {"think_time": 10.0}, {"separate_pools": 1.0}):
            inputs = scenario.inputs() | extra
            many = doubts(Inputs(inputs | {"concurrency": counts}),
                          evaluate(inputs | {"concurrency": counts}, "mla"))
            for at in (0, 20, 39):
                one = inputs | {"concurrency": counts[at]}
                for name, met in doubts(Inputs(one), evaluate(one, "mla")).items():
                    assert bool(met) == bool(np.broadcast_to(many[name], counts.shape)[at])

    def test_prompts_of_several_chunks_that_are_held_back(self):
        held = {"prefill_delay_steps": 30.0, "input_tokens": 40_000.0, "context_tokens": 40_512.0}
        inputs = self.shared().inputs() | held
        for name, value, met in (("prefill_delay_steps", 30, True),
                                 ("prefill_delay_steps", 0, False),
                                 ("input_tokens", 400, False), ("expert_parallel", 1, False)):
            one = inputs | {name: float(value)}
            assert bool(doubts(Inputs(one), evaluate(one, "mla"))["held"]) == met

    def test_all_have_a_sentence(self):
        inputs = self.asked().inputs()
        names = {*doubts(Inputs(inputs), evaluate(inputs, "mla")), "balanced"}
        assert names == doubt_words().keys()

    def test_the_command_says_so(self, cli):
        code, out, _ = cli("estimate", "h200-v32-sglang-dp8")
        assert code == 0
        assert "does not hold here: " + doubt_words()["shared"][0] in out
        assert "simulated requests" in out


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
        closed = np.interp(15.0, found["steady_request_throughput"], found["steady_tpot"])
        system = system_of(scenario)
        run = summarise(simulate(poisson(15.0, 3000, system.shapes, 1), system.pool))
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
        loop = ClosedLoop(users, 8 * users, [(prompt, answer)], ramp=float(found["e2e"]))
        run = summarise(simulate(loop, Pool(
            Limits(512, users, policy="prefill-first"), steps, coming=steps.coming)))
        assert found["steady_tpot"] == pytest.approx(run.tpot.mean, rel=0.05)

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

    @pytest.mark.parametrize("planned", [1, 4, 32])
    def test_a_rate_is_let_out_as_long_as_no_more_are_in_flight_than_planned(self, planned):
        def at(rate):
            return self.answer("arrivals=poisson", f"arrival_rate={rate} request/s",
                               f"concurrency={planned}").lasting

        fits, above = 0.0, 2.0
        while above - fits > 1e-4:
            rate = (fits + above) / 2
            fits, above = (rate, above) if at(rate).keeps_up else (fits, rate)
        assert at(fits).in_flight == pytest.approx(planned, rel=1e-2)

    def test_a_prompt_in_another_pool_takes_no_place_of_those_that_decode(self):
        """At a rate at which the places are full, as many more are in flight as prefill."""
        scenario = catalogue.load_scenario("s0-scenario-3-decode", overrides=[
            "workload.input_tokens=2048", "workload.output_tokens=64"])
        users = calc.evaluate(scenario.inputs(), scenario.model.attention)
        rate = float(users["steady_request_throughput"])
        places = math.ceil(rate * float(users["steady_e2e"] - users["steady_ttft"]))
        found = calc.estimate(catalogue.load_scenario("s0-scenario-3-decode", overrides=[
            "workload.input_tokens=2048", "workload.output_tokens=64",
            f"workload.concurrency={places}", "workload.arrivals=poisson",
            f"workload.arrival_rate={0.99 * rate} request/s"])).lasting
        assert found.keeps_up
        assert found.in_flight > places

    @pytest.mark.parametrize("setting", [
        ("arrivals=closed-loop", "think_time=-1 s"), ("think_time=1 s",),
        ("arrivals=poisson",), ("arrivals=poisson", "arrival_rate=-1 request/s")])
    def test_what_is_no_arrival_is_one_sentence(self, setting):
        with pytest.raises(catalogue.ParamsError) as error:
            self.answer(*setting)
        assert "\n" not in str(error.value)
