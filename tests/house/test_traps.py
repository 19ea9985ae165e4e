"""The mistakes of documents and of other people's tools, each as a test that catches it here.

A test is named for the mistake and holds for any shape and cut (``_fleet``). Mistakes of units and
of what is written down about cards: ``test_traps_of_data.py``.
"""

import ast
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, compositions, one, run, tables
from _fleet import alike as sampled
from _fleet import sampled as mixed

import calc
import catalogue
from calc.closed_form.evaluate import PHASES
from calc.physics.breakdown import CLASSES
from calc.physics.timing.collectives import group
from catalogue.entries.formulas import input_symbols

both = pytest.mark.parametrize("attention", ATTENTIONS)
ONE_RANK = {"tensor_parallel": 1, "pipeline_parallel": 1, "data_parallel": 1, "expert_parallel": 1,
            "redundant_experts": 0, "shared_expert_ranks": 0, "decode_context_parallel": 1,
            "expert_tensor_parallel": 0}
# a single token on one card that holds everything, nothing cached, at a byte per weight
ONE_TOKEN = ONE_RANK | {"concurrency": 1, "draft_tokens": 0, "micro_batches": 1,
                        "offloaded_share": 0, "fetched_share": 0, "routing_skew": 0,
                        "single_token_path": 0}
COMPRESSED = {"compressed_layers", "heavy_layers", "heavy_compress_ratio", "o_groups",
              "o_lora_rank", "compressor_weight_bytes", "state_element_bytes", "state_blocks",
              "compress_ratio"}
OF_THE_OTHER = {  # inputs that an attention does not have
    "mla": {"head_dim", "num_key_value_heads", "attention_bias", "attention_output_bias", "qk_norm",
            "attention_sinks"} | COMPRESSED - {"compress_ratio", "state_element_bytes"},
    "csa": {"kv_lora_rank", "qk_nope_head_dim", "v_head_dim", "num_key_value_heads",
            "attention_bias", "attention_output_bias", "qk_norm", "absorbed_copies",
            "core_tile_rows", "dense_prefill_tokens", "absorbed_prefix_tokens", "score_traffic",
            "full_attention_layers", "window_blocks_freed", "decode_context_parallel",
            "context_all_to_all", "prefill_core_latency", "core_row_traffic", "prefill_tile_rows",
            "attention_efficiency", "mla_compute_efficiency",
            "linear_layers", "linear_num_key_heads", "linear_num_value_heads",
            "linear_key_head_dim", "linear_value_head_dim", "linear_conv_kernel_dim",
            "linear_decay_rank", "linear_gate_rank", "linear_chunk_tokens",
            "attention_output_gate", "sparse_layers",
            # which one of several ranks, on whose links a pipeline is faster, would feel
            "switch_adds"},
    "gqa": {"q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim",
            "kv_rope_element_bytes", "absorbed_copies", "core_tile_rows", "sparse_tile_rows",
            "absorbed_prefix_tokens"} | COMPRESSED - {"compress_ratio", "state_element_bytes"}}
CUT = ("attention", "dense_mlp", "shared_expert", "routed_expert", "head")


def close(left, right, rel=1e-12):
    np.testing.assert_allclose(left, right, rtol=rel)


def layers_of(inputs):
    dense = inputs["first_k_dense_replace"]
    return dense, inputs["num_hidden_layers"] - dense


def flops(found, phase, names=CLASSES):
    return sum(found[f"{phase}_{name}_flops"] for name in names)


@both
class TestDocuments:
    """Mistakes that the four documents make."""

    def test_weights_divided_by_tensor_parallelism_twice(self, attention):
        """All ranks together hold, read and multiply the whole model at least once."""
        inputs = sampled(attention) | ONE_RANK
        whole = run(inputs, attention)
        for t in (2, 4, 8):
            part = run(inputs, attention, tensor_parallel=t)
            assert (t * part["weights_per_device"] >= whole["weights_per_device"]).all()
            for phase in PHASES:
                for name in CUT:
                    done, all_of_it = (found[f"{phase}_{name}_flops"] for found in (part, whole))
                    assert (t * done >= all_of_it * (1 - 1e-12)).all(), name
            # what is divided is divided once, exactly
            for name in ("dense_mlp", "shared_expert", "routed_expert"):
                close(t * part[f"decode_{name}_flops"], whole[f"decode_{name}_flops"])

    def test_total_parameters_where_active_ones_belong(self, attention):
        """One token multiplies the active parameters but norms, biases and what mixes residual
        streams, and reads k experts."""
        inputs = sampled(attention) | ONE_TOKEN
        found = run(inputs, attention)
        dense, moe = layers_of(inputs)
        others = ((dense + moe) * (found["norm_parameters"] + found["hyper_parameters"])
                  + found["hyper_head_parameters"] + inputs["hidden_size"]
                  + moe * inputs["n_routed_experts"] * inputs["router_bias"])
        matrices = [name for name in CLASSES if name not in ("core", "index")]
        close(flops(found, "decode", matrices) / inputs["multiply_add_flops"],
              found["active_parameters"] - others)
        experts = moe * inputs["num_experts_per_tok"] * found["routed_expert_parameters"]
        close(found["decode_expert_bytes"], inputs["routed_expert_weight_bytes"] * experts)

    def test_active_parameters_where_total_ones_belong(self, attention):
        """One card that holds everything holds the total, whatever a token activates."""
        inputs = sampled(attention) | ONE_TOKEN
        inputs |= {name: 1 for name in input_symbols() if name.endswith("_weight_bytes")}
        found = run(inputs, attention)
        close(found["weights_per_device"], found["total_parameters"])
        routed = inputs["n_routed_experts"] > inputs["num_experts_per_tok"]
        more = found["total_parameters"] > found["active_parameters_with_embedding"]
        assert (more == (routed & (layers_of(inputs)[1] > 0))).all()

    @pytest.mark.parametrize("share", [0, 0.25])
    @pytest.mark.parametrize("away", ["offloaded_share", "fetched_share"])
    def test_expert_weights_left_out_of_the_memory_budget(self, attention, away, share):
        """All of them count, but for those that the host computes or that are fetched from it."""
        inputs = sampled(attention) | ONE_RANK | {"offloaded_share": 0, "fetched_share": 0,
                                                  "draft_tokens": 0, "share_of_left": 0}
        inputs[away] = share
        before, after = (run(inputs, attention, routed_expert_weight_bytes=width)
                         for width in (1.0, 2.0))
        experts = (layers_of(inputs)[1] * inputs["n_routed_experts"]
                   * before["routed_expert_parameters"] * (1 - share))
        for name, sign in (("weights_per_device", 1), ("memory_per_device", 1),
                           ("free_for_kv_per_device", -1), ("headroom_per_device", -1)):
            np.testing.assert_allclose(sign * (after[name] - before[name]), experts, rtol=1e-6,
                                       atol=1e3, err_msg=name)

    def test_cache_compression_applied_to_all_reduce(self, attention):
        """What crosses the links is as wide as the hidden state, however small the cache is."""
        inputs = sampled(attention)
        base = run(inputs, attention)
        smaller = {"kv_cache_element_bytes": 0.5, "kv_rope_element_bytes": 0.5,
                   "kv_index_element_bytes": 0.5, "kv_lora_rank": 16}
        changed = run(inputs, attention, **smaller)
        for phase in PHASES:
            for name in ("all_reduce", "exchange"):
                assert (changed[f"{phase}_{name}_time"] == base[f"{phase}_{name}_time"]).all()
        for index in range(20):
            single = one(inputs, index)
            for phase, table in tables(single, attention).items():
                for row in (row for row in table if row.collective == "all-reduce"):
                    tokens = compositions(single, attention)[phase].tokens
                    width = single["hidden_size"] * single["activation_element_bytes"]
                    close(row.payload, tokens / single["micro_batches"] * width)

    def test_communication_of_other_tokens_than_are_computed(self, attention):
        """Tokens behind the collectives' bytes are those behind the operations, in every phase."""
        inputs = sampled(attention) | {
            "tensor_parallel": 2, "expert_parallel": 1, "devices_per_node": 8,
            "shared_expert_ranks": 0, "expert_tensor_parallel": 0,
            "collective_alpha": 0.0, "second_round_alpha": 0.0, "pipelined_alpha": 1e6,
            "gather_alpha": 0.0, "gather_step_alpha": 0.0, "gather_bulk_alpha": 1e6,
            "first_k_dense_replace": sampled(attention)["num_hidden_layers"],
            "concurrency": 80, "data_parallel": 1, "prefill_context_parallel": 0}
        inputs["gather_efficiency"] = inputs["collective_efficiency"]
        found = run(inputs, attention)
        rate = group(SimpleNamespace(**inputs), 2).inside_rate * inputs["collective_efficiency"]
        times = 1 + 2 * inputs["num_hidden_layers"]
        columns = np.ceil(inputs["vocab_size"] / 2)
        for phase in PHASES:
            rows = found[f"{phase}_head_flops"] / (
                inputs["multiply_add_flops"] * inputs["hidden_size"] * columns)
            reduced = found[f"{phase}_all_reduce_time"] * rate - (
                rows * columns * inputs["activation_element_bytes"])
            sent = reduced / times / (inputs["hidden_size"] * inputs["activation_element_bytes"])
            multiplied = found[f"{phase}_dense_mlp_flops"] / (
                inputs["multiply_add_flops"] * inputs["num_hidden_layers"]
                * found["dense_mlp_parameters"] / 2)
            close(sent, multiplied, rel=1e-9)

    def test_headroom_is_one_number(self, attention):
        """Usable memory less what is used, and the same answer as the blocks of the cache."""
        inputs = sampled(attention)
        found = run(inputs, attention)
        np.testing.assert_allclose(found["headroom_per_device"] + found["memory_per_device"],
                                   found["usable_memory"], rtol=1e-9)
        roomy = found["headroom_per_device"] >= 0
        held = found["kv_blocks"] >= found["requests_per_rank"] * found["blocks_per_request"]
        assert (roomy == held).all()
        assert len([name for name in found if "headroom" in name]) == 1

    def test_all_experts_read_at_every_batch(self, attention):
        inputs = sampled(attention) | {"concurrency": 1, "data_parallel": 1, "expert_parallel": 1,
                                       "draft_tokens": 0, "micro_batches": 1,
                                       "shared_expert_ranks": 0, "routing_skew": 0,
                                       "expert_tensor_parallel": 0,
                                       "single_token_path": 0}
        found = run(inputs, attention)
        read = found["decode_distinct_experts"]
        close(read, inputs["num_experts_per_tok"])
        many = run(inputs, attention, concurrency=100_000)["decode_routed_expert_bytes"]
        few = found["decode_routed_expert_bytes"]
        several = inputs["n_routed_experts"] > 4 * inputs["num_experts_per_tok"]
        several &= (layers_of(inputs)[1] > 0) & (inputs["offloaded_share"] < 1)
        assert several.any()
        assert (few < 0.5 * many)[several].all()


@both
class TestTools:
    """Mistakes of calculators, each against counting by hand."""

    def test_head_and_embedding_forgotten(self, attention):
        inputs = sampled(attention) | ONE_RANK
        found = run(inputs, attention)
        matrix = inputs["vocab_size"] * inputs["hidden_size"]
        layers = (found["total_parameters"] - found["embedding_parameters"]
                  - found["head_parameters"])
        close(found["total_parameters"] - layers, matrix * (1 + inputs["separate_head"]))
        free = run(inputs, attention, embedding_weight_bytes=0, head_weight_bytes=1e-9)
        np.testing.assert_allclose(
            found["weights_per_device"] - free["weights_per_device"],
            matrix * (inputs["embedding_weight_bytes"]
                      + inputs["separate_head"] * inputs["head_weight_bytes"]), rtol=1e-6)
        for phase in PHASES:
            assert (found[f"{phase}_head_bytes"] >= matrix * inputs["head_weight_bytes"]).all()
            assert (found[f"{phase}_head_flops"] > 0).all()

    def test_leading_dense_layers_counted_as_experts(self, attention):
        """A layer is one or the other: each has its MLP once, and dense ones route nothing."""
        inputs = sampled(attention) | {"offloaded_share": 0, "micro_batches": 1}
        dense, moe = layers_of(inputs)
        found = run(inputs, attention)
        for phase in PHASES:
            per_layer = inputs["multiply_add_flops"] * inputs["hidden_size"] * inputs[
                "n_routed_experts"]
            tokens = found[f"{phase}_group_tokens"] * inputs["tensor_parallel"] / (
                inputs["expert_parallel"] * found["expert_slices"])
            ranks = 1 if phase == "decode" else found["prompt_ranks"]  # that deal prompts
            close(found[f"{phase}_router_flops"], moe * per_layer * tokens / ranks)
        everything = run(inputs, attention, first_k_dense_replace=dense + moe)
        assert (everything["decode_routed_expert_bytes"] == 0).all()
        assert (everything["decode_router_flops"] == 0).all()
        assert (everything["routed_parameters"] == 0).all()
        assert (everything["decode_exchange_time"] == 0).all()

    def test_a_gated_mlp_with_two_matrices(self, attention):
        inputs = sampled(attention) | {"offloaded_share": 0, "micro_batches": 1,
                                       "shared_expert_ranks": 0}
        dense, moe = layers_of(inputs)
        found = run(inputs, attention)
        d, inside = inputs["hidden_size"], inputs["moe_intermediate_size"]
        close(found["dense_mlp_parameters"], 3 * d * inputs["intermediate_size"])
        close(found["shared_expert_parameters"], 3 * d * inside * inputs["n_shared_experts"])
        biases = inputs["expert_bias"] * (2 * inside + d)
        close(found["routed_expert_parameters"], 3 * d * inside + biases)
        tokens = found["decode_tokens"]
        close(found["decode_dense_mlp_flops"], 2 * dense * 3 * d * inputs["intermediate_size"]
              * tokens / inputs["tensor_parallel"])
        close(found["decode_shared_expert_flops"], 2 * moe * 3 * d * inside
              * inputs["n_shared_experts"] * tokens / inputs["tensor_parallel"])

    def test_all_reduce_without_its_factor_or_latency_or_counted_twice(self, attention):
        """1 + 2 per layer of them: 2 (n - 1)/n payloads each, and two latencies."""
        inputs = sampled(attention) | {
            "tensor_parallel": 8, "expert_parallel": 1, "devices_per_node": 8, "concurrency": 3000,
            "shared_expert_ranks": 0, "expert_tensor_parallel": 0,
            "data_parallel": 1, "pipeline_parallel": 1, "micro_batches": 1, "hidden_size": 8192}
        inputs |= {"collective_alpha": 1e-6, "second_round_alpha": 1e-6, "pipelined_alpha": 1e6,
                   "gather_alpha": 1e-6, "gather_step_alpha": 0.0, "gather_bulk_alpha": 1e6,
                   "gather_efficiency": inputs["collective_efficiency"]}
        found = run(inputs, attention)
        rate = group(SimpleNamespace(**inputs), 8).inside_rate * inputs["collective_efficiency"]
        payload = found["decode_tokens"] * 8192 * inputs["activation_element_bytes"]
        each = 2 * 7 / 8 * payload / rate + 2e-6
        times = 1 + 2 * inputs["num_hidden_layers"]
        logits = 7 * payload / 8192 * np.ceil(inputs["vocab_size"] / 8) / rate + 1e-6
        close(found["decode_all_reduce_time"], times * each + logits, rel=1e-9)

    def test_experts_of_their_own_ranks_reduced_as_well(self, attention):
        """Where tokens are sent to experts and back, no all-reduce follows the experts."""
        inputs = sampled(attention) | {"tensor_parallel": 4, "data_parallel": 4,
                                       "exchange_gathered": 0, "n_shared_experts": 0,
                                       "shared_expert_ranks": 0, "expert_tensor_parallel": 0}
        inputs["first_k_dense_replace"] = np.minimum(inputs["first_k_dense_replace"],
                                                     inputs["num_hidden_layers"] - 1)
        within, across = (run(inputs, attention, expert_parallel=e) for e in (4, 16))
        assert (within["decode_exchange_time"] == 0).all()
        assert (across["decode_exchange_time"] >= inputs["exchange_alpha"]).all()
        assert (across["decode_all_reduce_time"] < within["decode_all_reduce_time"]).all()

    def test_shared_experts_that_stay_cut_are_not_summed(self, attention):
        """Where tokens are sent to routed experts, shared ones still have a sum of their own."""
        inputs = sampled(attention) | {"tensor_parallel": 4, "data_parallel": 4,
                                       "shared_expert_ranks": 0, "expert_tensor_parallel": 0}
        without, within, across = (
            run(inputs, attention, n_shared_experts=shared, expert_parallel=e)
            for shared, e in ((0, 16), (1, 4), (1, 16)))
        for phase in PHASES:
            name = f"{phase}_all_reduce_time"
            close(across[name], within[name])
            assert (without[name] <= across[name]).all()

    def test_attention_core_not_divided_among_heads(self, attention):
        """Twice the ranks do half the core each; a latent cache is whole on each of them."""
        inputs = sampled(attention) | {"num_key_value_heads": 1, "core_tile_rows": 1,
                                       "sparse_tile_rows": 1, "expert_tensor_parallel": 0}
        inputs["num_attention_heads"] = 2 * inputs["num_attention_heads"]  # whole on each of two
        one_rank, two = (run(inputs, attention, tensor_parallel=t) for t in (1, 2))
        for phase in PHASES:
            close(one_rank[f"{phase}_core_flops"], 2 * two[f"{phase}_core_flops"])
        held = "kv_layer_bytes_per_token_per_device"
        assert (one_rank[held] == two[held]).all()

    def test_constants_frozen_to_one_model(self, attention):
        """Every input counts for something, so none of them stands in the code as a number."""
        inputs = mixed(attention) | {"host_gap_per_step": 1e-3, "kernel_boundary": 1e-4}
        base = run(inputs, attention)
        dead = []
        for name in sorted(input_symbols() - OF_THE_OTHER[attention]):
            other = {"num_experts_per_tok": inputs[name] / 2, "pipeline_parallel": 1,
                     "offloaded_share": inputs[name] / 2, "largest_graph": 0,
                     "first_token_held": 0, "absorbed_prefix_tokens": 1e9,
                     "dense_prefill_tokens": 1e9,
                     "largest_expert_tile": 0, "largest_sliced_tile": 0,
                     "shared_expert_ranks": 0, "expert_tensor_parallel": 16,
                     "exchange_expert_time": 1e-7, "exchange_token_time": 1e-7}.get(
                name, inputs[name] * (1e-3 if name.endswith("_efficiency") else 1.5) + 1e-3)
            changed = run(inputs, attention, **{name: other})
            if all(np.array_equal(changed[key], base[key]) for key in base):
                dead.append(name)
        assert not dead

    def test_widths_frozen_to_one_model(self, attention):
        """Twice as wide or twice as many: exactly twice the work of what has that dimension."""
        inputs = sampled(attention) | {"expert_bias": 0, "even_routing": 1}
        base = run(inputs, attention)
        for name, classes in (
                ("hidden_size", ("dense_mlp", "shared_expert", "routed_expert", "router", "head")),
                ("intermediate_size", ("dense_mlp",)),
                ("moe_intermediate_size", ("shared_expert", "routed_expert")),
                ("n_shared_experts", ("shared_expert",)), ("multiply_add_flops", CLASSES)):
            outer = {"routed_expert_hidden_size": 2 * inputs["hidden_size"]} if (
                name == "hidden_size") else {}
            doubled = run(inputs, attention, **{name: 2 * inputs[name]} | outer)
            for phase in PHASES:
                for kind in classes:
                    close(doubled[f"{phase}_{kind}_flops"], 2 * base[f"{phase}_{kind}_flops"])
        more = run(inputs, attention, n_routed_experts=2 * inputs["n_routed_experts"],
                   num_experts_per_tok=2 * inputs["num_experts_per_tok"])
        for phase in PHASES:
            for kind in ("router", "routed_expert"):
                close(more[f"{phase}_{kind}_flops"], 2 * base[f"{phase}_{kind}_flops"])


PHYSICS = sorted(path.relative_to(Path(calc.__file__).parent)
                 for room in ("physics", "quantities")
                 for path in (Path(calc.__file__).parent / room).glob("*.py"))


@pytest.mark.parametrize("name", PHYSICS, ids=str)
def test_no_shape_of_a_model_stands_in_the_code(name):
    """No number above nine in any module of the physics: counts, not constants."""
    tree = ast.parse((Path(calc.__file__).parent / name).read_text(encoding="utf-8"))
    numbers = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)
               and isinstance(node.value, (int, float))]
    assert not [number for number in numbers if abs(number) > 9 or 0 < abs(number) < 1e-2]


def test_two_models_of_different_shapes_go_through_the_same_code():
    seen = set()
    for name in ("deepseek-v3", "llama-3.1-70b", "qwen3-30b-a3b", "gpt-oss-120b"):
        if name in catalogue.names("models"):
            seen.add(calc.parameters(catalogue.load_model(name))["total"])
    assert len(seen) >= 3
