"""A steady state in closed form: its limits, and what a simulation of the same steps gives."""

import random

import numpy as np
import pytest

import calc
import catalogue
from calc.choosing.simulated import system_of
from calc.quantities.everything import evaluate
from calc.serving.arrivals import ClosedLoop, poisson
from calc.serving.metrics import summarise
from calc.serving.simulation import simulate

COUNT = 30
MEDIAN, MOST, WORST = 0.03, 0.12, 0.25  # of 30 deployments, and of 9 in 10 of them
BUSIEST = 0.8  # of the time, prefill alone; nearer to saturation a run does not settle
SYSTEMS = ("s2-910b1-awq", "h200-r1-sglang-tp8")


def deployment(seed, ranks=1):
    """A random deployment: lengths, requests on each rank, what a step may hold."""
    draw = random.Random(seed)
    prompt, answer = (int(2 ** draw.uniform(*ends)) for ends in ((7, 13), (6, 8)))
    name = draw.choice(SYSTEMS) if ranks == 1 else SYSTEMS[1]
    each = int(2 ** draw.uniform(1, 4.5))
    settings = {"input_tokens": f"{prompt} token", "output_tokens": f"{answer} token",
                "context_tokens": f"{prompt + 2 * answer} token",
                **dict.fromkeys(("concurrency", "requests"), f"{each * ranks} request")}
    overrides = [f"workload.{key}={value}" for key, value in settings.items()]
    if ranks > 1:
        overrides += ["parallelism.tensor_parallel=1", f"parallelism.data_parallel={ranks}",
                      f"parallelism.expert_parallel={ranks}"]
    policy = draw.choice(("mixed", "prefill-first"))
    scenario = catalogue.load_scenario(name, overrides=overrides)
    inputs = scenario.inputs() | {"mixed_steps": float(policy == "mixed")}
    return scenario, inputs, policy, draw


def shapes(inputs, seed):
    """Answers between half and one and a half of their mean, so that they end at any step."""
    mean = int(inputs["output_tokens"])
    drawn = np.random.default_rng(seed).integers(mean // 2, mean + mean // 2 + 1, 500)
    return [(int(inputs["input_tokens"]), int(answer)) for answer in drawn]


def errors(seed, ranks=1):
    """Relative errors of TTFT and TPOT; none of what does not fit or has no steady state."""
    scenario, inputs, policy, draw = deployment(seed, ranks)
    attention, users = scenario.model.attention, int(inputs["concurrency"])
    found = evaluate(inputs, attention)
    if found["max_concurrency"] < 2 * users:
        return None
    system = system_of(scenario, 2048, policy, "eager")
    lengths = shapes(inputs, seed)
    if draw.random() < 0.3:
        found = evaluate(inputs | {"open_arrivals": 1}, attention)
        rate = float(found["steady_request_throughput"])
        if rate * found["prompt_work"] > BUSIEST:
            return None
        asked = poisson(rate, max(1200, 30 * users), lengths, seed)
    else:
        thinking = draw.choice((0.0, 10 ** draw.uniform(-2, 1)))
        counts = np.arange(1, users // ranks + 1) * ranks if thinking else np.array([users])
        several = evaluate(inputs | {"think_time": thinking, "concurrency": counts}, attention)
        found = {name: np.interp(users, several["steady_users"], several[name])
                 for name in ("steady_ttft", "steady_tpot", "steady_e2e")}
        asked = ClosedLoop(users, max(300, 15 * users), lengths, thinking + system.overhead,
                           exponential=thinking > 0, ramp=float(found["steady_e2e"]), seed=seed)
    seen = summarise(simulate(asked, system.pool, front_end_rate=system.front_end_rate), 0.25, 0.1)
    return (found["steady_ttft"] / (seen.ttft.mean + system.overhead) - 1,
            found["steady_tpot"] / seen.tpot.mean - 1)


def errors_of(count, ranks=1):
    """Errors of so many deployments, shape (count, 2)."""
    rows = []
    for seed in range(10 * count):
        if (row := errors(seed, ranks)) is not None:
            rows.append(row)
        if len(rows) == count:
            break
    return np.abs(rows)


class TestAgainstSimulation:
    def test_first_tokens_and_pace_of_random_deployments(self):
        """Single runs, which scatter themselves: the worst are near saturation."""
        found = errors_of(COUNT)
        assert len(found) == COUNT
        assert (np.median(found, axis=0) <= MEDIAN).all()
        assert (np.quantile(found, 0.9, axis=0) <= MOST).all()
        assert (found.max(axis=0) <= WORST).all()

    def test_ranks_that_share_experts_within_a_quarter(self):
        found = errors_of(6, ranks=8)
        assert (np.median(found, axis=0) <= 0.1).all()
        assert (found.max(axis=0) <= 0.25).all()


@pytest.fixture(scope="module")
def inputs():
    return catalogue.load_scenario("s2-910b1-awq").inputs()


class TestLaws:
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
        assert (found["steady_stall"] == 0).all()
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
