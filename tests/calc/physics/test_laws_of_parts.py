"""Laws of the pieces: experts, an operator, the scheduler's clock.

What holds for whole deployments is in ``test_laws.py``.
"""

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run, sampled
from hypothesis import example, given, settings
from hypothesis import strategies as st

import catalogue
from calc.closed_form.evaluate import PHASES
from calc.physics.experts import distinct_experts
from calc.physics.timing.matmuls import operator_time
from calc.serving.requests import Step
from calc.serving.scheduling import Limits, Request, schedule
from calc.serving.step_times import Clock
from catalogue.deployments.knobs import DENSE

ROUNDING = 1e-9  # relative
SEEDS = st.integers(0, 2**32 - 1)
both = pytest.mark.parametrize("attention", ATTENTIONS)


class TestExperts:
    """How many experts a step reads, for every skew."""

    SKEWS = st.one_of(st.just(0.0), st.floats(1e-3, 10))
    SHAPES = st.integers(2, 1024).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, n - 1)))

    @both
    @settings(max_examples=10)
    @given(SEEDS)
    def test_whole_experts_alone_hide_a_share_of_their_own(self, attention, seed):
        """Slices hide what any matmul hides; of whole ones that share says nothing."""
        inputs = fleet(attention, seed)
        asked = inputs["expert_tensor_parallel"]
        is_sliced = np.where(asked > 0, asked > 1,
                             inputs["expert_parallel"] < inputs["tensor_parallel"])
        for name, kept in (("expert_load_overlap", is_sliced), ("load_overlap", ~is_sliced)):
            least, most = (run(inputs | {name: np.full_like(inputs[name], share)}, attention)
                           for share in (0.0, 1.0))
            for phase in PHASES:
                serial, hidden = (found[f"{phase}_routed_expert_time"] for found in (least, most))
                assert np.all(hidden[kept] == serial[kept])
                assert np.all(hidden <= serial * (1 + ROUNDING))

    @given(SHAPES, SKEWS)
    def test_one_token_reads_k_and_endless_tokens_all(self, shape, skew):
        n, k = shape
        assert distinct_experts(n, k, 1, skew) == pytest.approx(k)
        assert distinct_experts(n, k, 0, skew) == pytest.approx(0, abs=1e-9)
        assert distinct_experts(n, k, 1e200, skew) == pytest.approx(n, rel=1e-9)

    @given(SHAPES, SKEWS, st.floats(1, 1e5), st.floats(1.01, 100))
    def test_more_tokens_read_more_but_less_each(self, shape, skew, tokens, factor):
        few, many = (float(distinct_experts(*shape, t, skew)) for t in (tokens, tokens * factor))
        assert few <= many * (1 + ROUNDING)
        assert many <= few * factor * (1 + ROUNDING)
        assert many <= min(shape[0], shape[1] * tokens * factor) * (1 + ROUNDING)

    @given(SHAPES, SKEWS, SKEWS, st.floats(1, 1e5))
    def test_skew_reads_less_uniform_routing_most(self, shape, skew, other, tokens):
        less, more = sorted((skew, other))
        even, uneven = (float(distinct_experts(*shape, tokens, s)) for s in (less, more))
        assert uneven <= even * (1 + ROUNDING)
        assert shape[1] <= uneven * (1 + ROUNDING)

    @given(SHAPES, st.integers(1, 10**4))
    def test_the_limit_of_no_skew_is_uniform(self, shape, tokens):
        uniform = distinct_experts(*shape, tokens, 0.0)
        assert distinct_experts(*shape, tokens, 1e-6) == pytest.approx(uniform, rel=1e-3)

    @given(st.integers(1, 512), SKEWS, st.floats(0.5, 1e4))
    def test_all_chosen_are_all_read(self, n, skew, tokens):
        assert distinct_experts(n, n, tokens, skew) == n

    @both
    @settings(max_examples=20)
    @given(SEEDS)
    def test_of_a_step(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        k = inputs["num_experts_per_tok"]
        for phase in PHASES:
            hit, tokens = found[f"{phase}_distinct_experts"], found[f"{phase}_group_tokens"]
            most = np.minimum(inputs["n_routed_experts"], k * np.maximum(1, tokens))
            assert (hit <= most * (1 + ROUNDING)).all()


class TestOperatorTime:
    """One operator, from the times of its arithmetic and of its bytes."""

    TIME = st.floats(0, 1e3)

    @given(TIME, TIME, st.floats(0, 1))
    @example(1.0, 1.0, 0.0)
    def test_between_the_longer_and_the_sum(self, compute, memory, overlap):
        taken = operator_time(compute, memory, overlap)
        assert max(compute, memory) <= taken <= (compute + memory) * (1 + ROUNDING)
        assert taken == operator_time(memory, compute, overlap)
        assert operator_time(compute, memory, 1.0) == max(compute, memory)
        assert operator_time(compute, memory, 0.0) == pytest.approx(compute + memory)


@both
class TestLimits:
    """A step at its ends, as the chapter on latency derives them."""

    def test_a_token_more_of_endless_many_costs_its_slope(self, attention):
        """Weights, latencies and boundaries are no part of it, nor padding."""
        inputs = sampled(attention) | {f"{name}_depth_latency": 0 for name in DENSE}
        inputs |= {"fetched_share": 0}  # experts that are fetched are weights, too
        many, twice = (run(inputs, attention, concurrency=batch * inputs["data_parallel"])
                       for batch in (1e6, 2e6))
        growth = twice["decode_device_time"] / many["decode_device_time"]
        assert np.all((growth > 1.8) & (growth <= 2 * (1 + ROUNDING)))
        assert np.median(growth) > 1.999
        for name in ("dense_mlp", "head"):
            more = {part: twice[f"decode_{name}_{part}"] - many[f"decode_{name}_{part}"]
                    for part in ("flops", "bytes", "time")}
            quantised = more["time"] - operator_time(
                more["flops"] / (inputs[f"{name}_peak"] * inputs[f"{name}_gemm_efficiency"]
                                 * many["slowest_clock"]),
                more["bytes"] / (inputs["memory_bandwidth"] * inputs["hbm_efficiency"]),
                inputs["load_overlap"])
            traffic = inputs[f"{name}_activation_traffic"]
            free = np.broadcast_to(traffic == 0, quantised.shape)
            assert np.all(np.abs(quantised[free]) <= 1e-3 * more["time"][free])
            assert np.all(quantised >= -1e-3 * more["time"])

    def test_rows_below_a_tile_cost_a_whole_one(self, attention):
        inputs = sampled(attention) | {
            "memory_bandwidth": 1e30, "draft_tokens": 0, "micro_batches": 1, "gemm_tile_rows": 64}
        one_row, full, double = (run(inputs, attention, concurrency=rows * inputs["data_parallel"])
                                 for rows in (1, 64, 128))
        time = "decode_head_time"
        np.testing.assert_allclose(one_row[time], full[time], rtol=1e-6)
        assert np.all(double[time] <= 2 * full[time] * (1 + ROUNDING))

    def test_what_is_hidden_grows_in_proportion(self, attention):
        inputs = sampled(attention) | {"host_overlap": 0}
        none, some, every = (run(inputs, attention, overlap_efficiency=share)
                             for share in (0, 0.25, 1))
        for phase in PHASES:
            device = f"{phase}_device_time"
            np.testing.assert_allclose(
                some[device], 0.75 * none[device] + 0.25 * every[device], rtol=ROUNDING)

    def test_a_slow_host_decides_alone(self, attention):
        inputs = sampled(attention) | {"captured": 0, "draft_tokens": 0}
        found = run(inputs, attention, host_time_per_operator=1e6)
        for phase in PHASES:
            np.testing.assert_allclose(found[f"{phase}_step_time"], found[f"{phase}_host_time"]
                                       + inputs["host_gap_per_step"], rtol=ROUNDING)


def test_a_slow_host_decides_a_step_with_prompts_and_answers_alone():
    scenario = catalogue.load_scenario("s2-910b1-awq")
    clock = Clock(scenario.inputs() | {"host_time_per_operator": 1.0}, scenario.model.attention)
    prompts, answers = ((2048, 0),), (4096,) * 32
    assert clock(Step(prompts, answers)) == pytest.approx(clock(Step(prompts, ())), rel=ROUNDING)


AT_ONCE = {"host_peak": 1e40, "host_memory_bandwidth": 1e40, "host_link_bandwidth": 1e40,
           "host_sync": 0}


@both
class TestHost:
    """Experts on the host, one resource at a time: the others are as good as infinite."""

    @settings(max_examples=10)
    @given(SEEDS)
    def test_by_hand(self, attention, seed):
        inputs = fleet(attention, seed) | {"host_group_tokens": 0}
        x, k = inputs["offloaded_share"], inputs["num_experts_per_tok"]
        layers = inputs["num_hidden_layers"] - inputs["first_k_dense_replace"]
        for phase in PHASES:
            found = run(inputs, attention)
            expert = x * layers * found["routed_expert_parameters"]
            rows = found[f"{phase}_group_tokens"] * k
            tokens = found[f"{phase}_group_tokens"] * inputs["tensor_parallel"] / (
                inputs["expert_parallel"] * found["expert_slices"])
            hidden = (tokens * inputs["routed_expert_hidden_size"]
                      * inputs["activation_element_bytes"])
            expected = {
                "host_peak": expert * rows * inputs["multiply_add_flops"]
                / (inputs["host_peak"] * inputs["host_gemm_efficiency"]),
                "host_memory_bandwidth": expert * found[f"{phase}_distinct_experts"]
                * inputs["offloaded_weight_bytes"]
                / (inputs["host_memory_bandwidth"] * inputs["host_stream_efficiency"]),
                # there and back, unless all of a token's experts are on the device
                "host_link_bandwidth": 2 * layers * hidden * (1 - (1 - x) ** k)
                / inputs["host_link_bandwidth"],
                "host_sync": layers * (x > 0) * inputs["host_sync"]}
            for name, time in expected.items():
                rest = {other: rate for other, rate in AT_ONCE.items() if other != name}
                taken = run(inputs, attention, **rest)[f"{phase}_offload_time"]
                np.testing.assert_allclose(taken, time, rtol=1e-9, atol=1e-20, err_msg=name)


@both
@settings(max_examples=20)
@given(seed=SEEDS)
def test_prompts_without_pause_are_a_wave_without_its_first_prompt(attention, seed):
    """All prompts but the first of each rank, over the time that they take."""
    inputs = fleet(attention, seed)
    inputs["concurrency"] = inputs["data_parallel"] * (1 + np.ceil(inputs["concurrency"]))
    found = run(inputs, attention)
    others = inputs["concurrency"] - inputs["data_parallel"]
    assert found["prefill_throughput"] * found["burst_time"] == pytest.approx(
        others * found["new_tokens"])


class TestScheduler:
    """The scheduler on calc's clock and the closed form are two ways to one request alone."""

    @staticmethod
    def both_ways(inputs, attention, prompt, output):
        inputs = inputs | {
            "concurrency": inputs["data_parallel"], "input_tokens": prompt,
            "output_tokens": output, "max_num_batched_tokens": prompt, "kv_imbalance": 1,
            "prompt_variation": 0, "answer_variation": 0,
            "pipeline_parallel": 1, "draft_tokens": 0, "separate_pools": 0, "prefix_hit_share": 0}
        served = schedule([Request(0.0, prompt, output)], Limits(prompt, 1),
                          Clock(inputs, attention), inputs["host_gap_per_step"])
        return run(inputs, attention), served.outcomes[0], inputs["request_overhead"]

    @both
    @settings(max_examples=10)
    @given(SEEDS, st.integers(0, 99), st.integers(64, 20_000))
    def test_of_any_deployment(self, attention, seed, index, prompt):
        # the path for one token leaves a small difference of two times, rounding included
        inputs = one(fleet(attention, seed), index) | {"single_token_path": 0}
        found, outcome, overhead = self.both_ways(inputs, attention, prompt, 16)
        assert outcome.ttft + overhead == pytest.approx(float(found["ttft"]), rel=ROUNDING)
        # contexts are rounded up to blocks of 16 tokens, and the first token is not decoded
        slack = 33 / prompt
        assert outcome.tpot == pytest.approx(float(found["tpot"]), rel=slack)

    @pytest.mark.parametrize("name", catalogue.deployment_names())
    def test_of_every_scenario(self, name):
        scenario = catalogue.load_scenario(name)
        found, outcome, overhead = self.both_ways(
            scenario.inputs(), scenario.model.attention, 4096, 256)
        assert outcome.ttft + overhead == pytest.approx(float(found["ttft"]), rel=ROUNDING)
        assert outcome.tpot == pytest.approx(float(found["tpot"]), rel=2e-3)
