"""A cache that is dealt over ranks, and prompts: what a group holds, multiplies and sends."""

from itertools import pairwise

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, run, where
from _fleet import alike as sampled

import calc
import catalogue
from calc.closed_form.evaluate import PHASES
from calc.physics.breakdown import CLASSES, parts
from catalogue.deployments.layout import SHARED_CACHE

# compressed entries are whole on every rank
both = pytest.mark.parametrize("attention", [name for name in ATTENTIONS if name != "csa"])
every = pytest.mark.parametrize("attention", ATTENTIONS)
SWITCH, CUT = "prefill_context_parallel", "context_output_cut"
ROUNDING = 1e-9
LONG = {"context_tokens": 2**17, "input_tokens": 2**17 - 1, "output_tokens": 1, "concurrency": 1}


def dealt(attention):
    """Deployments without an indexer, of tensor ranks that all keep a copy of each cache."""
    inputs = dict(sampled(attention))
    if attention == "gqa":
        inputs["num_key_value_heads"] = np.ones_like(inputs["tensor_parallel"])
    return inputs | {"index_topk": 0, "index_n_heads": 0, "index_head_dim": 0, "draft_tokens": 0,
                     "decode_context_parallel": inputs["tensor_parallel"]}


def alone_and_group(inputs, attention):
    """Quantities of the same deployments with a cache on each rank, and dealt over all of them."""
    return [run(inputs, attention, decode_context_parallel=size)
            for size in (1, inputs["decode_context_parallel"])]


@both
class TestLaws:
    def test_one_rank_sends_nothing_for_its_cache(self, attention):
        found = run(dealt(attention), attention, decode_context_parallel=1)
        for phase in PHASES:
            assert not np.any(found[f"{phase}_context_exchange_time"])

    def test_a_group_holds_the_cache_once(self, attention):
        """Together the ranks have room for the same tokens at any share, in blocks of their own."""
        inputs = dealt(attention) | {"window_blocks_freed": 0}
        shared = inputs["decode_context_parallel"]
        alone, group = alone_and_group(inputs, attention)
        np.testing.assert_array_equal(alone["kv_blocks"], group["kv_blocks"])
        tokens = [found["blocks_per_request"] * inputs["block_size"] * size
                  for found, size in ((alone, 1), (group, shared))]
        assert not where(tokens[1] < inputs["context_tokens"], tokens[1])
        assert not where(tokens[1] - inputs["context_tokens"] >= inputs["block_size"] * shared)
        assert not where(group["kv_per_device"] > alone["kv_per_device"] * (1 + 1e-12))
        assert not where(group["max_concurrency"] < alone["max_concurrency"])

    def test_ranks_read_the_cache_once_and_multiply_as_much(self, attention):
        inputs = dealt(attention) | {"core_tile_rows": 1}
        shared = inputs["decode_context_parallel"]
        alone, group = alone_and_group(inputs, attention)
        np.testing.assert_allclose(group["decode_core_flops"], alone["decode_core_flops"])
        np.testing.assert_allclose(group["decode_kv_bytes"] * shared, alone["decode_kv_bytes"])
        np.testing.assert_allclose(group["decode_head_rows"], alone["decode_head_rows"] * shared)
        assert not where(group["tpot_floor"] > alone["tpot_floor"] * (1 + 1e-12))

    def test_more_ranks_send_longer(self, attention):
        """No group of two or more is free, and none is quicker than one within it."""
        inputs = dealt(attention) | {"tensor_parallel": 16, "expert_tensor_parallel": 0,
                                     "collective_alpha": 1e-6, "gather_alpha": 1e-6}
        inputs["num_attention_heads"] = 16 * np.ceil(inputs["num_attention_heads"] / 16)
        times = [run(inputs, attention, decode_context_parallel=size, full_mesh=0)[
            "decode_context_exchange_time"] for size in (1, 2, 4, 8, 16)]
        for shorter, longer in pairwise(times):
            assert not where(longer <= shorter, shorter, longer)

    def test_all_to_all_starts_less_often(self, attention):
        inputs = dealt(attention) | {"devices_per_node": 64}
        inputs |= {"gather_alpha": inputs["collective_alpha"], "gather_step_alpha": 0.0,
                   "gather_efficiency": inputs["collective_efficiency"], "gather_bulk_alpha": 1e6}
        scattered, sent = (run(inputs, attention, context_all_to_all=switch)[
            "decode_context_exchange_time"] for switch in (0, 1))
        least = np.where(inputs["decode_context_parallel"] > 1, inputs["num_hidden_layers"]
                         * inputs["collective_alpha"], 0)
        assert not where(scattered - sent < least * (1 - 1e-9), scattered, sent)

    def test_a_prompt_without_a_past_sends_nothing(self, attention):
        inputs = dealt(attention) | {"prefix_hit_share": 0, "max_num_batched_tokens": 1e6,
                                     "input_tokens": 4096, "draft_tokens": 0}
        assert not np.any(run(inputs, attention)["prefill_context_exchange_time"])
        later = run(inputs, attention, prefix_hit_share=0.5)["prefill_context_exchange_time"]
        assert not where((later > 0) != (inputs["decode_context_parallel"] > 1), later)


class TestDeployments:
    def test_v3_holds_eight_times_the_requests_on_eight_ranks(self):
        scenario = catalogue.load_scenario("h200-r1-vllm-tp8")
        inputs = scenario.inputs() | LONG
        alone, group = (calc.evaluate(inputs | {"decode_context_parallel": size}, "mla")
                        for size in (1, 8))
        assert group["max_concurrency"] // alone["max_concurrency"] in (8, 9)
        assert group["decode_core_time"] < alone["decode_core_time"]

    def test_sixteen_heads_fill_the_tiles_that_they_share(self):
        """TP8 leaves 16 heads to a rank, a quarter of a tile; four ranks together fill one."""
        inputs = catalogue.load_scenario("h200-r1-vllm-tp8").inputs() | {"core_tile_rows": 64}
        flops = [calc.evaluate(inputs | {"decode_context_parallel": size}, "mla")[
            "decode_core_flops"] for size in (1, 2, 4, 8)]
        np.testing.assert_allclose(np.array(flops) / flops[-1], [4, 2, 1, 1])

    def test_it_is_advised_where_no_cut_holds_a_long_context(self):
        scenario = catalogue.load_scenario("h200-r1-vllm-tp8", overrides=[
            "workload.input_tokens=131000 token", "workload.output_tokens=72 token",
            "workload.concurrency=30 request", "model.n_routed_experts=252"])
        answer = calc.estimate(scenario)
        key = f"parallelism.{SHARED_CACHE}"
        offered = [change for change in answer.changes if set(change.settings) == {key}]
        cut = [change for change in answer.changes if change.settings and all(
            name.startswith("parallelism.") and name != key for name in change.settings)
            and change.devices == scenario.devices]
        assert bool(offered) != bool(cut)
        for change in offered:
            assert "DCP" in change.text["en"]
            assert change.quantities["headroom_per_device"] >= 0


def with_and_without(attention, seed=0, **changes):
    """Inputs, and quantities with every head's tokens on all ranks, and dealt over them."""
    inputs = fleet(attention, seed) | changes
    return inputs, *(run(inputs, attention, **{SWITCH: switch}) for switch in (0, 1))


def of_prompts(inputs):
    """Deployments whose ranks deal prompts: several, of a model with an indexer and no state."""
    return ((inputs["tensor_parallel"] > 1) & (inputs["index_topk"] > 0)
            & (inputs["linear_layers"] == 0))


@every
class TestPrompts:
    def test_one_rank_and_models_without_an_indexer_know_nothing_of_it(self, attention):
        inputs, alone, found = with_and_without(attention)
        same = ~of_prompts(inputs)
        assert (found["prompt_ranks"] == np.where(same, 1, inputs["tensor_parallel"])).all()
        for name, before in alone.items():
            if np.ndim(before) == 1:
                np.testing.assert_array_equal(found[name][same], before[same], err_msg=name)

    def test_a_decode_step_is_as_before(self, attention):
        _, alone, found = with_and_without(attention)
        for name in alone:
            if name.startswith("decode_") and name != "decode_stall":
                np.testing.assert_allclose(found[name], alone[name], rtol=ROUNDING, err_msg=name)

    def test_what_every_rank_did_is_divided(self, attention):
        """Scores of an indexer and the router; what was divided stays so, and no class grows."""
        inputs, alone, found = with_and_without(
            attention, sparse_tile_rows=1, dense_prefill_tokens=0)
        ranks = np.where(of_prompts(inputs), inputs["tensor_parallel"], 1)
        for name in ("index", "router"):
            np.testing.assert_allclose(
                found[f"prefill_{name}_flops"] * ranks, alone[f"prefill_{name}_flops"])
        np.testing.assert_allclose(found["prefill_core_flops"], alone["prefill_core_flops"])
        for name in CLASSES:
            less, more = found[f"prefill_{name}_flops"], alone[f"prefill_{name}_flops"]
            assert not where(less > more * (1 + ROUNDING), less, more)
        assert not where(found["prefill_vector_bytes"] > alone["prefill_vector_bytes"])

    def test_a_rank_holds_all_of_attention_or_all_but_its_output(self, attention):
        inputs, alone, found = with_and_without(attention, **{CUT: 0})
        cut = run(inputs, attention, **{SWITCH: 1, CUT: 1})
        ranks = np.where(of_prompts(inputs), inputs["tensor_parallel"], 1)
        t, element = inputs["tensor_parallel"], inputs["attention_weight_bytes"]
        whole = found["attention_weights_per_layer"] + found["context_weights_per_layer"]
        kv = np.minimum(t, inputs["num_key_value_heads"])
        share = element * (found["attention_divided_parameters"] / t
                           + found["attention_kv_parameters"] / kv)
        every = element * (found["attention_divided_parameters"]
                           + found["attention_kv_parameters"])
        at_one = found["attention_weights_per_layer"] - share + every
        np.testing.assert_allclose(whole, np.where(
            ranks > 1, at_one, found["attention_weights_per_layer"]))
        spared = element * found["output_projection_parameters"] * (1 - 1 / ranks)
        np.testing.assert_allclose(
            found["context_weights_per_layer"] - cut["context_weights_per_layer"], spared,
            atol=1e-6)
        assert not where(alone["weights_per_device"] > found["weights_per_device"])
        assert not where(cut["weights_per_device"] > found["weights_per_device"])

    @pytest.mark.parametrize("phase", ["prefill", "burst"])
    def test_the_parts_sum_to_the_step(self, attention, phase):
        inputs, _, found = with_and_without(attention)
        np.testing.assert_allclose(
            sum(parts(inputs | {SWITCH: 1}, found, phase).values()), found[f"{phase}_step_time"])

    def test_an_output_that_stays_cut_sends_more(self, attention):
        inputs, _, found = with_and_without(attention, **{CUT: 0, "collective_alpha": 1e-6})
        cut = run(inputs, attention, **{SWITCH: 1, CUT: 1})
        for name in ("all_reduce_time", "context_exchange_time"):
            more = cut[f"prefill_{name}"] - found[f"prefill_{name}"]
            assert not where((more > 0) != of_prompts(inputs), more)


class TestDeploymentsOfPrompts:
    @pytest.mark.parametrize("name", ["a3-v4-vllm-prefill", "a3-glm51-pd-tp1-prefill"])
    def test_a_prompt_is_quicker_where_ranks_did_the_same(self, name):
        scenario = catalogue.load_scenario(name)
        alone, found = (calc.evaluate(scenario.inputs() | {SWITCH: switch},
                                      scenario.model.attention) for switch in (0, 1))
        assert found["prefill_step_time"] < alone["prefill_step_time"]
        assert found["prefill_vector_time"] < alone["prefill_vector_time"]
        assert found["weights_per_device"] > alone["weights_per_device"]
