"""A burst of requests: chunks, waits, front ends, pools and transfers."""

from math import ceil

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, one, run, where
from _replica import linear_steps, replica, step_of, wave_of
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.physics.step import CLASSES, token_parts
from calc.serving.burst import (
    front_ends_rate,
    pool_ratio,
    prompts,
)
from calc.serving.evaluate import evaluate
from calc.serving.requests import Limits, Request
from calc.serving.step_times import Clock
from reference.schedule import schedule

ROUNDING = 1e-9  # relative: sums of a dozen numbers in floating point
SEEDS = st.integers(0, 2**32 - 1)
FEW = settings(max_examples=6)
both = pytest.mark.parametrize("attention", ATTENTIONS)


def assert_close(left, right, scale=0.0):
    scale = np.maximum(scale, np.maximum(np.abs(left), np.abs(right)))
    wrong = where(np.abs(left - right) > ROUNDING * scale, left, right)
    assert not wrong, wrong


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
        held = found["ttft"] + np.where(n == 1, found["decode_stall"], (n - 1) * found["tpot"])
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
    @given(SEEDS, st.integers(1, 40))
    def test_cutting_a_prompt_changes_no_arithmetic(self, attention, seed, pieces):
        """Causal attention of all its chunks is half a square, however it is cut.

        Only the cached latents of earlier chunks are expanded again, once per chunk, and none
        where prefill is absorbed.
        """
        inputs = fleet(attention, seed) | {"prefix_hit_share": 0, "micro_batches": 1,
                                           "even_routing": 1, "score_traffic": 0,
                                           "absorbed_prefix_tokens": 0}
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


@both
@FEW
@given(SEEDS, st.integers(0, 99), st.integers(64, 20_000))
def test_one_request_is_served_as_by_the_scheduler_on_the_runtimes_clock(
        attention, seed, index, prompt):
    inputs = one(fleet(attention, seed), index)
    inputs |= {
        "concurrency": inputs["data_parallel"], "input_tokens": prompt, "output_tokens": 16,
        "max_num_batched_tokens": prompt, "kv_imbalance": 1, "prompt_variation": 0,
        "answer_variation": 0, "pipeline_parallel": 1, "draft_tokens": 0, "separate_pools": 0,
        "prefix_hit_share": 0,
        # the path for one token leaves a small difference of two times, rounding included
        "single_token_path": 0}
    served = schedule([Request(0.0, prompt, 16)], Limits(prompt, 1), Clock(inputs, attention),
                      inputs["host_gap_per_step"])
    found, outcome = run(inputs, attention), served.outcomes[0]
    assert outcome.ttft + inputs["request_overhead"] == pytest.approx(
        float(found["ttft"]), rel=ROUNDING)
    # contexts are rounded up to blocks of 16 tokens, and the first token is not decoded
    assert outcome.tpot == pytest.approx(float(found["tpot"]), rel=33 / prompt)


@pytest.mark.parametrize(("tensor", "ranks", "count"), [(1, 8, 3), (8, 4, 2), (2, 1, 48)])
def test_ranks_that_share_experts_have_one_front_end(tensor, ranks, count):
    q = replica(front_end_rate=2, data_parallel=ranks * count, tensor_parallel=tensor,
                expert_parallel=tensor * ranks)
    assert front_ends_rate(q) == pytest.approx(2 * count)


def prompt_of(cached, new, **changes):
    """Inputs with prompts of which some tokens are cached."""
    return replica(input_tokens=cached + new, prefix_hit_share=cached / (cached + new), **changes)


class TestPrompts:
    """Chunks of a prompt and packed chunks of a burst, counted token by token."""

    @pytest.mark.parametrize(("cached", "new", "budget", "count"), [
        (0, 1000, 1000, 1), (0, 1001, 1000, 2), (0, 999, 1000, 1), (500, 500, 500, 1),
        (500, 500, 499, 2), (256, 768, 100, 8), (0, 60, 1, 60)])
    def test_equal_chunks_and_what_is_cached_before_them(self, cached, new, budget, count):
        cut = prompts(prompt_of(cached, new, max_num_batched_tokens=budget), 1)
        before = [cached + j * new / count for j in range(count)]  # chunk j of the prompt
        assert (cut.cached_tokens, cut.new_tokens, cut.prompt_chunks) == (cached, new, count)
        assert cut.prefill_tokens == pytest.approx(new / count)
        assert cut.prefill_cached == pytest.approx(np.mean(before))
        assert prompts(replica(prefix_hit_share=1), 1).new_tokens == 1  # the last one

    @pytest.mark.parametrize(("cached", "new"), [(0, 50), (20, 60), (100, 28)])
    @pytest.mark.parametrize("limit", [0, 10, 40, 128, 1000])
    def test_positions_attended_by_new_tokens(self, cached, new, limit):
        """New token i attends to the prefix and i new tokens, at most to a window or selection."""
        cut = prompts(prompt_of(cached, new, max_num_batched_tokens=64, sliding_window=limit,
                                index_topk=limit / 4, compress_ratio=4), 1)
        seen = cached + np.arange(1, new + 1)
        limited = np.minimum(seen, limit or np.inf)
        assert cut.prefill_context_tokens == pytest.approx(seen.mean())
        assert cut.prefill_in_window == pytest.approx(limited.mean())
        assert cut.prefill_attended == pytest.approx(limited.mean())
        assert cut.prefill_unfused == 0

    @pytest.mark.parametrize(("users", "prompt", "budget", "chunks"), [
        (1, 1000, 1000, 1), (2, 1000, 1000, 1), (3, 1000, 1000, 2), (9, 250, 1000, 2),
        (10, 250, 1000, 3), (4, 2500, 1000, 8), (5, 1, 1000, 1)])
    def test_packed_chunks_of_a_burst(self, users, prompt, budget, chunks):
        """The tokens of all prompts but the first fill one chunk after another."""
        cut = prompts(replica(input_tokens=prompt, max_num_batched_tokens=budget), users)
        tokens = max(1, users - 1) * prompt  # a lone request has none; its own stands in
        assert cut.burst_chunks == chunks == len(range(0, tokens, budget))
        assert cut.burst_requests * prompt == cut.burst_tokens * cut.burst_chunks == tokens


FIXED, TOKEN, STEP = 0.05, 1e-4, 0.02  # of a chunk [s], of its tokens [s/token], of decoding [s]
BURSTS = [(1, 1000, 1000), (2, 1000, 1000), (8, 1000, 1000), (9, 250, 1000), (5, 250, 1000),
          (4, 2000, 1000), (3, 1000, 8000), (7, 1000, 3000), (4, 3000, 1000)]


def burst(users=8, prompt=1000, budget=1000, **changes):
    """Latencies if a chunk takes 50 ms + 0.1 ms per token, and a decode step 20 ms."""
    q = replica(concurrency=users, input_tokens=prompt, max_num_batched_tokens=budget, **changes)
    return wave_of(q, *linear_steps(q, STEP, FIXED, TOKEN))


def ends_of(users, prompt, budget, stages=1):
    """Time of the first token of each request [s], chunk by chunk through all stages."""
    count, rest = ceil(prompt / budget), users - 1
    slot = (FIXED + TOKEN * prompt / count) / stages
    alone = slot * (count + stages - 1)  # chunk j is in stage s in slot j + s
    packed = ceil(rest * prompt / budget)
    later = (FIXED + TOKEN * rest * prompt / packed) / stages if rest else 0
    return np.array([alone] + [alone + later * ceil(i * packed / rest)
                               for i in range(1, rest + 1)])


class TestBurst:
    """Hand calculations of bursts, chunk by chunk."""

    @pytest.mark.parametrize(("users", "prompt", "budget"), BURSTS)
    @pytest.mark.parametrize("stages", [1, 4])
    def test_first_and_later_tokens(self, users, prompt, budget, stages):
        ends, found = ends_of(users, prompt, budget, stages), burst(
            users, prompt, budget, pipeline_parallel=stages, request_overhead=0.003)
        whole = 0.003 + ends.max() + 100 * STEP  # all prompts first, then all decode
        assert found.ttft == pytest.approx(0.003 + ends.mean())
        assert found.e2e == pytest.approx(whole)
        assert found.tpot == pytest.approx(STEP + (ends.max() - ends.mean()) / 100)
        assert found.request_throughput == pytest.approx(users / whole)
        assert found.output_throughput == pytest.approx(101 * users / whole)
        assert found.input_throughput == pytest.approx(prompt * users / whole)

    def test_first_tokens_sent_together(self):
        together, in_turn = burst(prefill_together=1), burst()
        assert together.ttft == pytest.approx(8 * 0.15)
        assert together.decode_stall == 0
        assert together.tpot == pytest.approx(STEP)
        assert together.e2e == pytest.approx(in_turn.e2e)

    def test_separate_pools(self):
        """No stall; a request occupies the decode pool for its 101 tokens only."""
        q = replica(separate_pools=1)
        found = wave_of(q, *linear_steps(q, STEP, FIXED, TOKEN), transfer=0.4)
        assert found.ttft == pytest.approx(burst().ttft + 0.4)
        assert found.tpot == pytest.approx(STEP)
        assert found.request_throughput == pytest.approx(8 / (101 * STEP))

    @pytest.mark.parametrize(("held", "interval", "later"), [(0, 5, 0), (1, 5, 4), (0.5, 3, 1),
                                                             (1, 500, 100)])
    def test_held_first_token_does_not_change_the_latency(self, held, interval, later):
        sent = burst(first_token_held=held, stream_interval=interval)
        assert sent.ttft == pytest.approx(burst().ttft + later * burst().tpot)
        assert sent.tpot == pytest.approx(burst().tpot * (1 - later / 100))
        assert sent.e2e == pytest.approx(burst().e2e)
        apart = burst(first_token_held=held, stream_interval=interval, separate_pools=1)
        assert apart.tpot == pytest.approx(STEP)

    def test_twice_the_replicas_double_the_rate(self):
        one_, two = burst(8, front_end_rate=4), burst(16, data_parallel=2, front_end_rate=4)
        for name in ("ttft", "tpot", "e2e", "burst_time", "decode_stall"):
            assert getattr(two, name) == getattr(one_, name)
        for name in ("request_throughput", "output_throughput", "input_throughput"):
            assert getattr(two, name) == pytest.approx(2 * getattr(one_, name))
        assert (one_.front_end_time, two.front_end_time) == (7 / 4, 15 / 8)
        uneven = burst(9, data_parallel=2)  # five of them on one replica
        assert uneven.ttft == burst(5).ttft
        assert uneven.request_throughput == pytest.approx(9 / burst(5).e2e)


@pytest.mark.parametrize(("inputs", "batch", "ratio"), [
    # decode: 16 requests every 100 steps of 20 ms, 8/s; prefill: 2/s
    ({}, 16, 4.0),
    ({"output_tokens": 200}, 16, 2.0),  # decode 4/s
    ({"draft_tokens": 1, "mtp_acceptance": 1}, 16, 8.0),  # two tokens per step: decode 16/s
    ({"max_num_batched_tokens": 250}, 16, 16.0),  # four chunks: prefill 0.5/s
    # two stages: two batches of 8 decode 8/s; a chunk leaves each stage every 0.25 s
    ({"pipeline_parallel": 2}, 8, 2.0)])
def test_ratio_of_rates(inputs, batch, ratio):
    """A decode step of 20 ms for 16 requests, prompts of a chunk that takes half a second."""
    q = replica(**{"output_tokens": 100} | inputs)
    found = pool_ratio(q, batch, prompts(q, 16), step_of(0.02), step_of(0.5))
    assert found == pytest.approx(ratio)


INPUTS = catalogue.load_scenario("h200-r1-vllm-tp8").inputs()
RATES = 0.5, 2.0, 8.0, 1e6  # of a prefill pool [request/s]


def test_rate_of_the_slowest_part_and_best_split_of_cards():
    """Sixteen cards that prefill at several rates beside 32 that decode in two stages.

    Rates are proportional to cards: no other split of them has a higher rate.
    """
    given = INPUTS | {"separate_pools": 1, "data_parallel": 2, "pipeline_parallel": 2,
                      "concurrency": 64, "prefill_pool_devices": 16,
                      "prefill_pool_rate": np.array(RATES)}
    found = evaluate(given, "mla")
    decode, ports = found["request_throughput"].item(), 2 / found["kv_port_time"]
    assert found["pools_rate"] == pytest.approx([min(rate, decode, ports) for rate in RATES])
    thin = evaluate(given | {"network_bandwidth": 1e6}, "mla")
    assert thin["pools_rate"] == pytest.approx(2 / thin["kv_port_time"])
    devices = given["tensor_parallel"] * 2 * 2
    cards = np.linspace(0, 16 + devices, 1001)
    for best, rate, prefill in zip(found["best_prefill_devices"], found["best_pools_rate"],
                                   RATES, strict=True):
        finished = [np.minimum(split * prefill / 16, (16 + devices - split) * decode / devices)
                    for split in (best, cards)]
        assert finished[0] == pytest.approx(rate)
        assert finished[1].max() <= rate * (1 + 1e-9)


@pytest.mark.parametrize("stages", [1, 2, 4])
@pytest.mark.parametrize("chunks", [1, 2, 8])
def test_pipeline_bubble(stages, chunks):
    """Chunk j is in stage s in slot j + s."""
    found = evaluate(INPUTS | {"pipeline_parallel": stages, "input_tokens": 512 * chunks,
                               "max_num_batched_tokens": 512}, "mla")
    slots = {(s, j + s) for j in range(chunks) for s in range(stages)}
    last = max(slot for _, slot in slots) + 1
    assert found["pipeline_bubble"] == pytest.approx(1 - len(slots) / (stages * last))
