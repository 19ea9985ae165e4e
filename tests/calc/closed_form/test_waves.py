"""A wave of requests: throughput and latency, chunks, drafts, front ends, streaming, pools."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run, where
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.closed_form.planning import pool_replicas
from calc.closed_form.waves import first_held, front_ends_rate
from calc.physics.arrays import Inputs
from calc.physics.breakdown import CLASSES, token_parts
from calc.serving.requests import Limits, Request
from calc.serving.scheduling import schedule
from calc.serving.step_times import Clock

ROUNDING = 1e-9  # relative: sums of a dozen numbers in floating point
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=6)
both = pytest.mark.parametrize("attention", ATTENTIONS)


def assert_never(wrong, *shown):
    assert not where(wrong, *shown), where(wrong, *shown)


def assert_close(left, right, scale=0.0):
    assert_never(np.abs(left - right) > ROUNDING * np.maximum(
        scale, np.maximum(np.abs(left), np.abs(right))), left, right)


def assert_at_most(less, more):
    assert_never(less > more + ROUNDING * np.abs(more), less, more)


@both
class TestLaws:
    @FEW
    @given(SEEDS)
    def test_throughput_and_latency_are_one_law(self, attention, seed):
        """X (TTFT + (n - 1) TPOT) / n = c; in a decode pool of its own X TPOT = c.

        With one token each, a client that asks again waits for the whole wave of prompts.
        """
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        n, x = inputs["output_tokens"], found["output_throughput"]
        wave = inputs["request_overhead"] + found["prefill_time"] + found["burst_time"]
        held = np.where(n == 1, wave, found["ttft"] + (n - 1) * found["tpot"])
        held = np.where(inputs["separate_pools"] > 0, n * found["tpot"], held)
        assert_close(x * held / n, inputs["concurrency"])
        assert_close(found["e2e"], found["ttft"] + (n - 1) * found["tpot"])
        assert_close(x, n * found["request_throughput"])
        assert_close(found["input_throughput"],
                     inputs["input_tokens"] * found["request_throughput"])
        pieces = token_parts(inputs, found)
        busy = sum(abs(piece) for piece in pieces.values())
        assert_close(sum(pieces.values()), found["tpot"], busy)

    @FEW
    @given(SEEDS)
    def test_the_first_token_is_between_its_own_prefill_and_everybody_s(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        sent = np.where(inputs["separate_pools"] > 0, found["kv_transfer_time"], 0)
        earliest = inputs["request_overhead"] + sent + found["prefill_time"]
        assert_at_most(earliest, found["ttft"])
        assert_at_most(found["ttft"], earliest + found["burst_time"])
        assert_never(found["decode_stall"] < -ROUNDING * found["tpot"], found["decode_stall"])

    @FEW
    @given(SEEDS)
    def test_the_order_of_prompts_moves_waiting_between_first_and_later_tokens(
            self, attention, seed):
        inputs = fleet(attention, seed) | {"separate_pools": 0}
        inputs["output_tokens"] = np.maximum(2, inputs["output_tokens"])
        together, in_turn = (run(inputs, attention, prefill_together=flag) for flag in (1, 0))
        assert_close(together["e2e"], in_turn["e2e"])
        assert_at_most(in_turn["ttft"], together["ttft"])
        assert_at_most(together["tpot"], in_turn["tpot"])

    @FEW
    @given(SEEDS, st.integers(1, 500))
    def test_half_of_c_plus_1_prefills_where_each_prompt_fills_a_chunk(self, attention, seed, c):
        inputs = fleet(attention, seed) | {
            "pipeline_parallel": 1, "prefix_hit_share": 0, "prefill_together": 0,
            "separate_pools": 0, "output_tokens": 100}
        inputs["max_num_batched_tokens"] = inputs["input_tokens"]
        found = run(inputs, attention, concurrency=c * inputs["data_parallel"])
        waited = found["ttft"] - inputs["request_overhead"]
        assert_close(waited, (c + 1) / 2 * found["prefill_time"], found["ttft"])
        assert_close(found["decode_stall"], (c - 1) / 2 * found["prefill_time"] / 99)

    @FEW
    @given(SEEDS, st.integers(1, 40))
    def test_cutting_a_prompt_changes_no_arithmetic(self, attention, seed, pieces):
        """Causal attention of all its chunks is half a square, however it is cut.

        Only the cached latents of earlier chunks are expanded again, once per chunk, and none
        where prefill is absorbed.
        """
        inputs = fleet(attention, seed) | {"prefix_hit_share": 0, "micro_batches": 1,
                                           "even_routing": 1, "score_traffic": 0}
        n = inputs["input_tokens"] = pieces * np.ceil(inputs["input_tokens"] / pieces)
        whole = run(inputs, attention, max_num_batched_tokens=n)
        cut = run(inputs, attention, max_num_batched_tokens=n / pieces)
        assert (cut["prompt_chunks"] == pieces).all()
        again = pieces * cut["prefill_attention_flops"] - whole["prefill_attention_flops"]
        expected = 0.0
        if attention != "gqa":
            heads = inputs["num_attention_heads"] * whole["prompt_ranks"]
            latent = inputs["kv_lora_rank"] * heads * (1 - whole["prefill_absorbed"]) * (
                inputs["qk_nope_head_dim"] + inputs["v_head_dim"]) / inputs["tensor_parallel"]
            layers = inputs["num_hidden_layers"] - inputs["linear_layers"]
            expected = (inputs["multiply_add_flops"] * layers * latent / 2
                        * whole["biased_new_tokens"] * (pieces - 1))
        assert_close(again, expected, whole["prefill_attention_flops"])
        for name in set(CLASSES) - {"attention"}:
            assert_close(pieces * cut[f"prefill_{name}_flops"], whole[f"prefill_{name}_flops"])

    @FEW
    @given(SEEDS)
    def test_prompts_without_a_pause_and_drafts(self, attention, seed):
        inputs = fleet(attention, seed)
        inputs["concurrency"] = inputs["data_parallel"] * (1 + np.ceil(inputs["concurrency"]))
        found = run(inputs, attention)
        others = inputs["concurrency"] - inputs["data_parallel"]
        assert_close(found["prefill_throughput"] * found["burst_time"],
                     others * found["new_tokens"])
        each = 1 + inputs["draft_tokens"]
        assert_close(found["decode_tokens"], found["decode_batch"] * each)
        assert_at_most(1, found["tokens_per_step"])
        assert_at_most(found["tokens_per_step"], each)
        none = run(inputs, attention, mtp_acceptance=0, accepted_length=0)
        assert (none["tokens_per_step"] == 1).all()
        assert (none["decode_step_time"] == found["decode_step_time"]).all()

class TestScheduler:
    """The scheduler on the runtime's clock and the closed form are two ways to one request."""

    @staticmethod
    def both_ways(inputs, attention, prompt, output):
        inputs = inputs | {
            "concurrency": inputs["data_parallel"], "input_tokens": prompt,
            "output_tokens": output, "max_num_batched_tokens": prompt, "kv_imbalance": 1,
            "prompt_variation": 0, "answer_variation": 0, "pipeline_parallel": 1,
            "draft_tokens": 0, "separate_pools": 0, "prefix_hit_share": 0}
        served = schedule([Request(0.0, prompt, output)], Limits(prompt, 1),
                          Clock(inputs, attention), inputs["host_gap_per_step"])
        found, outcome = run(inputs, attention), served.outcomes[0]
        assert outcome.ttft + inputs["request_overhead"] == pytest.approx(
            float(found["ttft"]), rel=ROUNDING)
        # contexts are rounded up to blocks of 16 tokens, and the first token is not decoded
        assert outcome.tpot == pytest.approx(float(found["tpot"]), rel=33 / prompt)

    @both
    @FEW
    @given(SEEDS, st.integers(0, 99), st.integers(64, 20_000))
    def test_random_deployments(self, attention, seed, index, prompt):
        # the path for one token leaves a small difference of two times, rounding included
        self.both_ways(one(fleet(attention, seed), index) | {"single_token_path": 0}, attention,
                       prompt, 16)

    @pytest.mark.parametrize("name", catalogue.deployment_names()[::8])
    def test_deployments_of_the_catalogue(self, name):
        scenario = catalogue.load_scenario(name)
        self.both_ways(scenario.inputs(), scenario.model.attention, 4096, 256)


@pytest.mark.parametrize(("interval", "output", "held", "apart", "time"), [
    (1, 9, 1, 0, 0), (5, 9, 1, 0, 4 * 0.3), (5, 9, 0.5, 0, 2 * 0.3), (5, 3, 1, 0, 2 * 0.3),
    (5, 9, 0, 0, 0), (5, 9, 1, 1, 0)])
def test_a_first_token_waits_for_those_that_are_sent_with_it(interval, output, held, apart, time):
    q = Inputs({"stream_interval": interval, "output_tokens": output, "first_token_held": held,
                "separate_pools": apart})
    assert first_held(q, 0.3) == pytest.approx(time)


@pytest.mark.parametrize(("ratio", "data", "ranks", "replicas"), [
    (3.0, 1, 1, 3), (3.1, 1, 1, 4), (0.2, 1, 1, 1), (0.5, 5, 1, 3), (1.0, 8, 4, 8), (1.1, 8, 4, 12),
    (3 * (1 + 5e-9), 1, 1, 3), (3 * (1 + 1e-8), 1, 1, 4)])  # one that keeps up but for rounding
def test_prefill_replicas_that_keep_up_come_in_whole_groups(ratio, data, ranks, replicas):
    layout = {"prefill_replicas": 0, "data_parallel": data, "tensor_parallel": 1,
              "expert_parallel": ranks, "expert_tensor_parallel": 0}
    assert pool_replicas(Inputs(layout), ratio) == replicas
    assert pool_replicas(Inputs(layout | {"prefill_replicas": 0.5}), ratio) == 0.5


SLOW, USERS = 2.0, 400  # request/s of a front end; request


@pytest.fixture(scope="module")
def scenario():
    return catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
        "workload.input_tokens=64 token", "workload.output_tokens=16 token"])


class TestFrontEnds:
    """A server has a front end of its own: k equal servers let in k times what one does."""

    @pytest.mark.parametrize(("tensor", "ranks", "count"), [(1, 8, 3), (8, 4, 2), (2, 1, 48)])
    def test_ranks_that_share_experts_have_one(self, tensor, ranks, count):
        q = Inputs({"front_end_rate": SLOW, "data_parallel": ranks * count,
                    "tensor_parallel": tensor, "expert_parallel": tensor * ranks,
                    "expert_tensor_parallel": 0})
        assert front_ends_rate(q) == pytest.approx(SLOW * count)

    @pytest.mark.parametrize("count", [1, 2, 48])
    @pytest.mark.parametrize("opened", [0, 1])
    def test_servers_that_wait_for_their_front_ends(self, scenario, count, opened):
        found = evaluate(scenario.inputs() | {
            "data_parallel": count, "front_end_rate": SLOW, "concurrency": USERS * count,
            "open_arrivals": opened}, scenario.model.attention)
        assert found["steady_request_throughput"] == pytest.approx(count * SLOW, rel=2 / USERS)
        assert found["front_end_time"] == pytest.approx((USERS * count - 1) / (count * SLOW))
