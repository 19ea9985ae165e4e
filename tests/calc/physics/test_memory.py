"""The memory budget: parts and whole, copies, buffers, shares of a card, windows."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, run
from _fleet import alike as sampled
from _models import inputs_of

import calc
import catalogue

both = pytest.mark.parametrize("attention", ATTENTIONS)
ROUNDING = 1e-9
COVERED = ("activations_in_share", "runtime_in_share", "communicators_in_share",
           "graphs_in_share")


def close(left, right):
    np.testing.assert_allclose(left, right, rtol=ROUNDING)


def v3(**changed):
    """DeepSeek-V3 in FP8, eight cards that share the experts and divide nothing else."""
    scenario = catalogue.load_scenario("s0-scenario-1", overrides=[
        "precision=fp8-block", "parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
        "parallelism.expert_parallel=16"])
    return calc.evaluate(scenario.inputs() | {"data_parallel": 8, "expert_parallel": 8}
                         | changed, "mla")


@both
class TestWholeAndParts:
    def test_memory_parts_and_headroom_sum_to_usable_memory(self, attention):
        inputs = sampled(attention) | {"pipeline_parallel": 1, "loading_overhead": 1}
        found = run(inputs, attention)
        parts = ("weights_per_device", "mtp_weights", "absorbed_copies_per_device",
                 "activations_per_device", "exchange_buffers", "loading_reserve", "workspaces",
                 "graph_memory", "kv_per_device")
        close(sum(found[name] for name in parts), found["memory_per_device"])
        np.testing.assert_allclose(found["memory_per_device"] + found["headroom_per_device"],
                                   found["usable_memory"], rtol=1e-6)

    def test_the_most_requests_fit_and_one_more_per_rank_does_not(self, attention):
        inputs = sampled(attention) | {  # of a step that grows with the requests
            "logit_element_bytes": 1e-12, "sampler_bytes": 0, "separate_pools": 0}
        most = run(inputs, attention)["max_concurrency"]
        fits = run(inputs, attention, concurrency=np.maximum(most, 1))
        assert (fits["headroom_per_device"][most > 0] >= -1).all()
        beyond = run(inputs, attention, concurrency=most + inputs["data_parallel"])
        assert (beyond["headroom_per_device"] < 0).all()


def test_expert_buffers_kept_or_freed():
    """8,192 tokens of DeepSeek-V3 on one of eight ranks: eight rows of 7,168, twice, in 16 bits."""
    step = {"tensor_parallel": 8, "data_parallel": 1, "expert_parallel": 1, "max_num_seqs": 1024,
            "max_num_batched_tokens": 8192, "sampler_bytes": 15}
    kept, freed, parts = (v3(**step, expert_buffers_freed=each, expert_chunk_tokens=chunk)
                          for each, chunk in ((0, 0), (1, 0), (0, 1024)))
    buffers, head = 2 * 8192 * 8 * 7168 * 2, 1024 * 129280 * 15 + 8192 * 7168 * 2
    assert kept["expert_activations"] == buffers
    close(kept["activations_per_device"], head + buffers)
    close(freed["activations_per_device"], max(head, kept["layer_activations"] + buffers))
    close(kept["activations_per_device"] - parts["activations_per_device"], 7 / 8 * buffers)


def test_index_keys_of_layers_that_take_the_picks_of_another():
    """GLM-5.2 as vLLM packs it, 656 B a row and 132 B a key, of which 21 of 78 layers pick."""
    packed = catalogue.precision_inputs(catalogue.load_precision("fp8-block-fp8-latent"))
    of_layer = [calc.evaluate(inputs_of("glm-5.2", **packed, index_every_layer=every), "mla")[
        "kv_layer_bytes_per_token_per_device"] for every in (0, 1)]
    close([78 * each for each in of_layer], [78 * 656 + 21 * 132, 78 * (656 + 132)])


def vision(model, **changed):
    """The vision tower of a model in 16 bits, as a rank holds it [parameters]."""
    return calc.evaluate(inputs_of(model, **changed), "mla")["vision_weights"] / 2


def test_ranks_divide_a_vision_tower_if_they_divide_its_heads():
    """Kimi-K2.5: 27 layers of a tower with 16 heads, embeddings and a projector that stay whole.

    Norms and biases of what is added up are whole as well. The tower of Kimi-K3 has 12 heads.
    """
    cut = 1152 * 3456 + 3456 + 1152 * 1152 + 2 * 1152 * 4304 + 4304
    ends = (588 * 1152 + 1152) + 64 * 64 * 1152 + 27 * 6 * 1152 + 2 * 1152
    projector = 2 * 1152 + 4608 * 4608 + 4608 + 4608 * 7168 + 7168
    for ranks, shares in ((1, 1), (8, 8), (32, 1)):
        close(vision("kimi-k2.5", tensor_parallel=ranks), ends + projector + 27 * cut / shares)
    assert vision("kimi-k2.5", tensor_parallel=8, vision_whole=1) == vision("kimi-k2.5",
                                                                            tensor_parallel=1)
    assert vision("kimi-k3", tensor_parallel=8) == vision("kimi-k3", tensor_parallel=1) > 0
    assert vision("kimi-k3", tensor_parallel=8, text_only=1) == 0
    assert vision("deepseek-v3", tensor_parallel=8) == 0


def deepep_hint(tokens, hidden, experts):
    """get_low_latency_rdma_size_hint of DeepEP, csrc/legacy/config.hpp at dd758ca [B]."""
    scales = hidden // 128
    dispatch = 16 + max(2 * hidden, hidden + 4 * scales)
    combine = 4 * scales + 2 * hidden
    sent = max(tokens * dispatch, experts * tokens * combine)
    received = experts * tokens * max(dispatch, combine)
    flags = -(-4 * experts // 128) * 128
    return 2 * (sent + received + flags)


class TestExchangeBuffers:
    @pytest.mark.parametrize(("tokens", "hidden", "experts"), [
        (128, 7168, 256), (256, 7168, 288), (512, 2048, 64)])
    def test_low_latency_mode_is_as_large_as_the_library_says(self, tokens, hidden, experts):
        found = v3(exchange_buffer_tokens=tokens, hidden_size=hidden, n_routed_experts=experts,
                   routed_expert_hidden_size=hidden)
        hint = deepep_hint(tokens, hidden, experts)
        assert found["exchange_buffers"] == pytest.approx(hint, rel=1e-4)
        assert found["exchange_buffers"] <= hint

    def test_redundant_experts_and_normal_mode(self):
        """Redundant experts have places; normal mode has rows on each level of the network."""
        more, as_many = v3(redundant_experts=32), v3(n_routed_experts=288)
        assert more["exchange_buffers"] == as_many["exchange_buffers"] > 0
        inside, across = (v3(exchange_normal=1, exchange_buffer_tokens=1000, devices_per_node=size)
                          for size in (8, 4))
        assert inside["exchange_buffers"] == 1000 * 7168 * 2
        assert across["exchange_buffers"] == 2 * inside["exchange_buffers"]
        assert v3(expert_parallel=1, exchange_buffer_tokens=1000)["exchange_buffers"] == 0


@both
class TestShare:
    """What is outside of an engine's share takes from it only what does not fit beside it."""

    @pytest.mark.parametrize("share", [0.3, 0.8, 1])
    def test_a_share_covers_activations_or_leaves_them_beside_it(self, attention, share):
        inputs = sampled(attention) | {"share_of_left": 0, "share_of_free": 0}
        visible = inputs["memory_capacity"] - inputs["system_reserve"]
        covers, outside = (run(inputs, attention, memory_utilization=share,
                               **dict.fromkeys(COVERED, flag)) for flag in (1, 0))
        assert (outside["usable_memory"] <= visible * (1 + ROUNDING)).all()
        gain = outside["free_for_kv_per_device"] - covers["free_for_kv_per_device"]
        np.testing.assert_allclose(gain, np.minimum((1 - share) * visible,
                                                    covers["working_memory"]),
                                   rtol=1e-6, atol=1e-6 * visible.min())

    def test_a_share_of_what_is_left_leaves_its_part_of_it(self, attention):
        """Half of what weights and a step leave is half of the cache of all of it."""
        inputs = sampled(attention) | {"share_of_left": 1, "pipeline_parallel": 1}
        half, whole = (run(inputs, attention, memory_utilization=share) for share in (0.5, 1))
        left = whole["free_for_kv_per_device"]
        close(half["free_for_kv_per_device"], np.where(left > 0, left / 2, left))


def test_a_request_keeps_the_blocks_that_its_window_touches():
    inputs = sampled("gqa")
    freed, kept = (run(inputs, "gqa", window_blocks_freed=flag) for flag in (1, 0))
    for index in np.flatnonzero(inputs["sliding_window"]):
        window, length = inputs["sliding_window"][index], inputs["context_tokens"][index]
        # ranks that share a cache take turns within a block of theirs together
        block = inputs["block_size"][index] * inputs["decode_context_parallel"][index]
        touched = max((begin + window - 1) // block + 1 for begin in range(int(block)))
        assert freed["window_blocks_per_request"][index] == min(touched, -(-length // block))
    assert (freed["kv_per_device"] <= kept["kv_per_device"] * (1 + ROUNDING)).all()
    short = inputs["sliding_window"] >= inputs["context_tokens"]
    assert np.array_equal(freed["kv_per_device"][short], kept["kv_per_device"][short])


@pytest.mark.parametrize(("changes", "held"), [
    # an engine sets aside a whole answer of 800 tokens, or half of it as it grows
    ({}, 200 + 800), ({"mixed_steps": 1}, 200 + 400),
    ({"mixed_steps": 1, "separate_pools": 1}, 200 + 800),
    # answers that differ are longer where a token is met: 800 (1 + 0.5^2)
    ({"answer_variation": 0.5}, 200 + 1000)])
def test_served_requests_follow_mean_blocks(changes, held):
    base = catalogue.load_scenario("h200-r1-vllm-tp8").inputs() | {
        "mixed_steps": 0, "input_tokens": 200, "output_tokens": 800, "context_tokens": 8000,
        "block_size": 16, "concurrency": 10**6} | changes
    found = calc.evaluate(base, "mla", decode=False)
    assert found["served_requests"] == found["kv_blocks"] // -(-held // 16)
    assert found["served_per_rank"] == found["served_requests"]
    fewer = calc.evaluate(base | {"concurrency": 7}, "mla", decode=False)
    assert fewer["served_requests"] == 7


def test_wait_for_a_slot_follows_from_throughput():
    base = catalogue.load_scenario("h200-r1-vllm-tp8").inputs() | {"max_num_batched_tokens": 256}
    crowded = calc.evaluate(base | {"concurrency": 10**6}, "mla", decode=False)
    full = float(crowded["served_requests"])
    within, beyond = (calc.evaluate(base | {"concurrency": users}, "mla")
                      for users in (full, 3 * full))
    assert beyond["place_wait"] == pytest.approx(
        2 * full / within["steady_request_throughput"], rel=0.01)
    assert beyond["steady_tpot"] == pytest.approx(within["steady_tpot"], rel=0.01)
    assert beyond["steady_ttft"] == pytest.approx(
        within["steady_ttft"] + beyond["place_wait"], rel=0.01)
    # of a burst the last one waits that long, and all of them half of it on average
    assert beyond["burst_place_wait"] == pytest.approx(
        (2 * full) ** 2 / (2 * within["request_throughput"] * 3 * full), rel=0.01)
