"""When engines look for requests, and what is sent together: steps counted by hand, and laws."""

import math

import numpy as np
import pytest
from _engines import limits

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.serving.scheduling import Request, schedule

SERVER = "h200-r1-sglang-tp8"
# one request decodes all the time: a step of a prompt, then tokens, a second each
BUSY = Request(0.0, 10, 200)


def started(arrival: float, interval: int, ahead: int = 0) -> float:
    """When work on a prompt begins that arrives beside one request that decodes [s]."""
    engine = limits(policy="prefill-first", recv_interval=interval, steps_ahead=ahead)
    return schedule([BUSY, Request(arrival, 10, 1)], engine, lambda step: 1.0).outcomes[1].started


class TestLooks:
    @pytest.mark.parametrize("arrival", [0.5, 1.5, 4.5, 5.5, 8.5])
    def test_an_engine_that_looks_before_every_step_finds_it_before_the_next(self, arrival):
        assert started(arrival, 1) == math.ceil(arrival)

    @pytest.mark.parametrize(("arrival", "begin"), [(0.5, 1), (1.5, 5), (4.5, 5), (5.5, 9)])
    def test_it_is_looked_for_after_a_prompt_and_so_many_decode_steps_further(self, arrival, begin):
        assert started(arrival, 4) == begin

    @pytest.mark.parametrize(("arrival", "begin"), [(1.5, 3), (2.5, 4)])
    def test_a_step_that_is_already_decided_on_is_without_it(self, arrival, begin):
        assert started(arrival, 1, ahead=1) == begin

    def test_who_comes_during_the_last_step_before_a_look_ahead_waits_for_the_next_look(self):
        assert [started(arrival, 4, ahead=1) for arrival in (7.5, 8.5)] == [9, 13]

    def test_the_mean_wait_is_that_of_the_closed_form(self):
        arrivals = 1 + np.arange(0.5, 120)
        for interval in (1, 4, 10):
            waits = [started(float(time), interval) - time for time in arrivals]
            assert np.mean(waits) == pytest.approx((interval - 1) / 2 + 0.5)

    def test_an_engine_without_work_looks_all_the_time(self):
        engine = limits(recv_interval=30, steps_ahead=1)
        served = schedule([Request(0.0, 10, 1), Request(7.0, 10, 1)], engine, lambda step: 1.0)
        assert [outcome.wait for outcome in served.outcomes] == [0.0, 0.0]


@pytest.fixture(scope="module")
def inputs():
    given = {"concurrency": np.array([2.0, 16, 128]), "input_tokens": 1000.0,
             "output_tokens": 500.0, "context_tokens": 1500.0, "mixed_steps": 0.0}
    return catalogue.load_scenario(SERVER).inputs() | given


class TestClosedForm:
    def test_rarer_looks_delay_the_first_token_and_spare_the_others(self, inputs):
        found = [evaluate(inputs | {"scheduler_recv_interval": looks, "stream_interval": 1}, "mla")
                 for looks in (1, 10, 30)]
        for rarer, often in zip(found[1:], found[:-1], strict=True):
            assert (rarer["steady_ttft"] > often["steady_ttft"]).all()
            assert (rarer["steady_tpot"] <= often["steady_tpot"]).all()

    def test_a_piece_takes_as_long_as_its_tokens_and_delays_no_first_token(self, inputs):
        one, ten = (evaluate(inputs | {"stream_interval": pieces}, "mla") for pieces in (1, 10))
        for name in ("steady_ttft", "steady_tpot", "steady_e2e", "ttft", "tpot"):
            assert (one[name] == ten[name]).all()
        np.testing.assert_allclose(ten["stream_gap"], 10 * ten["steady_tpot"])

    def test_a_first_token_that_is_held_takes_its_wait_from_those_after_it(self, inputs):
        sent, held = (evaluate(inputs | {"stream_interval": 10, "first_token_held": flag}, "mla")
                      for flag in (0, 1))
        for ttft, e2e in (("steady_ttft", "steady_e2e"), ("ttft", "e2e")):
            assert (held[ttft] > sent[ttft]).all()
            np.testing.assert_allclose(held[e2e], sent[e2e])


class TestEngines:
    def test_a_deployment_states_it_and_else_its_engine_does(self):
        stated = catalogue.load_scenario(SERVER, overrides=[
            "workload.scheduler_recv_interval=30", "workload.stream_interval=10 token"]).inputs()
        usual = catalogue.load_scenario(SERVER).inputs()
        assert (stated["scheduler_recv_interval"], stated["stream_interval"]) == (30, 10)
        assert (usual["scheduler_recv_interval"], usual["stream_interval"]) == (1, 1)

    @pytest.mark.parametrize(("engine", "ahead"), [
        ("vllm@0.11.0", 0), ("vllm@0.16.0", 1), ("sglang@0.5.9", 1), ("tensorrt-llm@1.0.0", 1)])
    def test_overlapped_schedulers_decide_a_step_ahead(self, engine, ahead):
        scenario = catalogue.load_scenario(SERVER, overrides=[f"engine={engine}"])
        assert scenario.inputs()["steps_ahead"] == ahead
