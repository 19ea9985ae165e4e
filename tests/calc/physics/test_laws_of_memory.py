"""Laws of the memory budget: parts and whole, what is added only where it is asked for, shares,
windows. They hold for any deployment (``_fleet``); golden numbers name their source."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, run
from _fleet import alike as sampled

import calc
import catalogue

both = pytest.mark.parametrize("attention", ATTENTIONS)
NOTHING = {"draft_tokens": 0, "absorbed_copies": 0, "redundant_experts": 0,
           "shared_expert_ranks": 0, "expert_tensor_parallel": 0,
           "exchange_buffer_tokens": 0}
ROUNDING = 1e-9


def close(left, right):
    np.testing.assert_allclose(left, right, rtol=ROUNDING)


def at_most(less, more, scale):
    assert (less <= more + ROUNDING * scale).all()


def v3(**changed):
    """DeepSeek-V3 in FP8, eight cards that share the experts and divide nothing else."""
    scenario = catalogue.load_scenario("s0-scenario-1", overrides=[
        "precision=fp8-block", "parallelism.tensor_parallel=1", "parallelism.data_parallel=16",
        "parallelism.expert_parallel=16"])
    return calc.evaluate(scenario.inputs() | {"data_parallel": 8, "expert_parallel": 8}
                         | changed, "mla")


@both
class TestWholeAndParts:
    def test_parts_sum_to_what_the_only_stage_needs(self, attention):
        found = run(sampled(attention), attention, pipeline_parallel=1)
        parts = ("weights_per_device", "mtp_weights", "absorbed_copies_per_device",
                 "activations_per_device", "exchange_buffers", "kv_per_device")
        close(sum(found[name] for name in parts) + sampled(attention)["runtime_reserve"],
              found["memory_per_device"])

    def test_need_and_headroom_are_what_is_usable(self, attention):
        found = run(sampled(attention), attention)
        np.testing.assert_allclose(found["memory_per_device"] + found["headroom_per_device"],
                                   found["usable_memory"], rtol=1e-6)

    def test_the_most_requests_fit_and_one_more_per_rank_does_not(self, attention):
        inputs = sampled(attention) | {"logit_element_bytes": 1e-12}  # they grow with the requests
        most = run(inputs, attention)["max_concurrency"]
        fits = run(inputs, attention, concurrency=np.maximum(most, 1))
        assert (fits["headroom_per_device"][most > 0] >= -1).all()
        beyond = run(inputs, attention, concurrency=most + inputs["data_parallel"])
        assert (beyond["headroom_per_device"] < 0).all()

    def test_nothing_is_added_that_is_not_asked_for(self, attention):
        inputs = sampled(attention) | NOTHING
        found = run(inputs, attention)
        for name in ("mtp_weights", "absorbed_copies_per_device", "exchange_buffers",
                     "redundant_weights_per_device"):
            assert not np.any(found[name])
        assert (found["stage_cache_layers"] == found["stage_layers"]).all()


@both
class TestDraftingLayer:
    def test_on_one_rank_it_has_its_parameters(self, attention):
        inputs = sampled(attention) | NOTHING | {
            "tensor_parallel": 1, "pipeline_parallel": 1, "data_parallel": 1,
            "expert_parallel": 1, "offloaded_share": 0, "fetched_share": 0, "draft_tokens": 1,
            "activation_element_bytes": 1}
        inputs |= {name: 1 for name in inputs if name.endswith("_weight_bytes")}
        found = run(inputs, attention)
        close(found["mtp_weights"], found["mtp_layer_parameters"])

    def test_one_layer_drafts_all_tokens(self, attention):
        one, three = (run(sampled(attention), attention, draft_tokens=tokens) for tokens in (1, 3))
        for name in ("mtp_weights", "stage_cache_layers", "stage_block_bytes"):
            assert np.array_equal(one[name], three[name])

    def test_it_has_a_cache_on_the_last_stage(self, attention):
        without, drafting = (run(sampled(attention), attention, draft_tokens=tokens)
                             for tokens in (0, 1))
        more = drafting["stage_cache_layers"] - without["stage_cache_layers"]
        assert (more[-1] == 1).all()
        assert (more[0] == (sampled(attention)["pipeline_parallel"] == 1)).all()


class TestAbsorbedCopies:
    def test_they_are_cut_by_heads_and_counted_in_copies(self):
        whole = v3(absorbed_copies=1)["absorbed_copies_per_device"]
        assert whole == 61 * 128 * (128 + 128) * 512 * 2
        assert v3(absorbed_copies=0.5)["absorbed_copies_per_device"] == whole / 2
        assert v3(absorbed_copies=1, tensor_parallel=8)["absorbed_copies_per_device"] == whole / 8

    def test_grouped_query_attention_has_none(self):
        found = run(sampled("gqa"), "gqa", absorbed_copies=1)
        assert not np.any(found["absorbed_copies_per_device"])


class TestRedundantExperts:
    @both
    def test_a_copy_weighs_what_an_expert_does(self, attention):
        inputs = sampled(attention) | {"draft_tokens": 0, "shared_expert_ranks": 0}
        found = run(inputs, attention, redundant_experts=0)
        twice = run(inputs, attention, redundant_experts=inputs["n_routed_experts"])
        more = twice["stage_weights"] - found["stage_weights"]
        np.testing.assert_allclose(more, twice["stage_redundant_weights"], rtol=1e-6, atol=1)

    def test_one_on_each_of_eight_ranks(self):
        found, without = v3(redundant_experts=8), v3()
        expert = 3 * 7168 * 2048
        per_weight = catalogue.load_format("fp8-block128").bytes_per_element
        close(found["redundant_weights_per_device"], 58 * expert * per_weight)
        close(found["weights_per_device"] - without["weights_per_device"],
              found["redundant_weights_per_device"])

    @both
    def test_speed_knows_nothing_of_them_yet(self, attention):
        inputs = sampled(attention)
        found, more = (run(inputs, attention, redundant_experts=copies)
                       for copies in (0, inputs["n_routed_experts"]))
        for phase in ("decode", "prefill"):
            assert np.array_equal(found[f"{phase}_step_time"], more[f"{phase}_step_time"])


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
        (128, 7168, 256), (256, 7168, 288), (64, 4096, 128), (512, 2048, 64)])
    def test_low_latency_mode_is_as_large_as_the_library_says(self, tokens, hidden, experts):
        found = v3(exchange_buffer_tokens=tokens, hidden_size=hidden, n_routed_experts=experts,
                   routed_expert_hidden_size=hidden)
        hint = deepep_hint(tokens, hidden, experts)
        assert found["exchange_buffers"] == pytest.approx(hint, rel=1e-4)
        assert found["exchange_buffers"] <= hint

    def test_redundant_experts_have_places_too(self):
        more, as_many = v3(redundant_experts=32), v3(n_routed_experts=288)
        assert more["exchange_buffers"] == as_many["exchange_buffers"] > 0

    def test_normal_mode_has_rows_on_each_level(self):
        inside, across = (v3(exchange_normal=1, exchange_buffer_tokens=1000, devices_per_node=size)
                          for size in (8, 4))
        assert inside["exchange_buffers"] == 1000 * 7168 * 2
        assert across["exchange_buffers"] == 2 * inside["exchange_buffers"]

    @both
    def test_without_an_exchange_there_are_none(self, attention):
        inputs = sampled(attention)
        found = run(inputs, attention, expert_parallel=inputs["tensor_parallel"],
                    shared_expert_ranks=0, expert_tensor_parallel=0)
        assert not np.any(found["exchange_buffers"])


@both
class TestShare:
    """What is outside of an engine's share takes from it only what does not fit beside it."""

    def test_never_more_than_the_card_shows(self, attention):
        inputs = sampled(attention)
        visible = inputs["memory_capacity"] - inputs["system_reserve"]
        for share in (0.3, 0.9, 1):
            found = run(inputs, attention, memory_utilization=share, activations_in_share=0)
            at_most(found["usable_memory"], visible, visible)

    def test_a_share_that_covers_less_leaves_more(self, attention):
        inputs = sampled(attention) | {"share_of_left": 0}
        covers, outside = (run(inputs, attention, memory_utilization=0.8, activations_in_share=flag)
                           for flag in (1, 0))
        gain = outside["free_for_kv_per_device"] - covers["free_for_kv_per_device"]
        beside = 0.2 * (inputs["memory_capacity"] - inputs["system_reserve"])
        close(gain, np.minimum(beside, covers["working_memory"]))

    def test_a_share_of_what_is_left_leaves_its_part_of_it(self, attention):
        """Half of what weights and a step leave is half of the cache of all of it."""
        inputs = sampled(attention) | {"share_of_left": 1, "pipeline_parallel": 1}
        half, whole = (run(inputs, attention, memory_utilization=share) for share in (0.5, 1))
        left = whole["free_for_kv_per_device"]
        close(half["free_for_kv_per_device"], np.where(left > 0, left / 2, left))

    def test_of_the_whole_memory_both_are_one(self, attention):
        covers, outside = (run(sampled(attention), attention, memory_utilization=1,
                               activations_in_share=flag) for flag in (1, 0))
        close(covers["usable_memory"], outside["usable_memory"])


class TestWindows:
    def test_a_request_keeps_the_blocks_that_its_window_touches(self):
        found = run(sampled("gqa"), "gqa", window_blocks_freed=1)
        inputs = sampled("gqa")
        for index, window in enumerate(inputs["sliding_window"]):
            if window:
                length = inputs["context_tokens"][index]
                # ranks that share a cache take turns within a block of theirs together
                block = inputs["block_size"][index] * inputs["decode_context_parallel"][index]
                touched = max((begin + window - 1) // block + 1 for begin in range(int(block)))
                whole = -(-length // block)
                assert found["window_blocks_per_request"][index] == min(touched, whole)

    def test_freeing_never_takes_more_and_nothing_where_the_context_is_short(self):
        inputs = sampled("gqa")
        freed, kept = (run(inputs, "gqa", window_blocks_freed=flag) for flag in (1, 0))
        at_most(freed["kv_per_device"], kept["kv_per_device"], kept["kv_per_device"])
        assert (freed["max_concurrency"] >= kept["max_concurrency"]).all()
        short = inputs["sliding_window"] >= inputs["context_tokens"]
        assert np.array_equal(freed["kv_per_device"][short], kept["kv_per_device"][short])

    def test_without_windows_the_switch_does_nothing(self):
        inputs = sampled("mla") | {"full_attention_layers": sampled("mla")["num_hidden_layers"]}
        freed, kept = (run(inputs, "mla", window_blocks_freed=flag) for flag in (1, 0))
        for name, values in freed.items():
            if name != "window_blocks_per_request":
                assert np.array_equal(values, kept[name]), name

    @pytest.mark.parametrize("context", [2**20, 2**22])
    def test_of_a_long_context_only_full_layers_count(self, context):
        """gpt-oss-120b: 18 of 36 layers have a window of 128 tokens."""
        model = catalogue.load_model("gpt-oss-120b")
        scenario = catalogue.load_scenario("s0-scenario-1", overrides=["model=gpt-oss-120b"])
        inputs = scenario.inputs() | {"context_tokens": context}
        freed, kept = (calc.evaluate(inputs | {"window_blocks_freed": flag}, model.attention)
                       for flag in (1, 0))
        assert freed["kv_per_device"] / kept["kv_per_device"] == pytest.approx(0.5, abs=1e-3)
