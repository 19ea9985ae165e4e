"""Mistakes of documents and calculators, each excluded for any shape, cut and attention."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, run
from _fleet import alike as sampled

from calc.physics.communication import group
from calc.physics.step import CLASSES
from calc.serving.evaluate import PHASES
from catalogue.entries.formulas import input_symbols
from reference.steps import inputs_of

ONE_RANK = {"tensor_parallel": 1, "pipeline_parallel": 1, "data_parallel": 1, "expert_parallel": 1,
            "redundant_experts": 0, "shared_expert_ranks": 0, "decode_context_parallel": 1,
            "expert_tensor_parallel": 0, "expert_width_multiple": 1, "expert_slice_multiple": 1,
            "loading_overhead": 1}
# a single token on one card that holds everything, nothing cached
ONE_TOKEN = ONE_RANK | {"concurrency": 1, "draft_tokens": 0, "micro_batches": 1,
                        "offloaded_share": 0, "fetched_share": 0, "routing_skew": 0,
                        "single_token_path": 0}
pytestmark = pytest.mark.parametrize("attention", ATTENTIONS)


def close(left, right, rel=1e-12):
    np.testing.assert_allclose(left, right, rtol=rel)


def layers_of(inputs):
    dense = inputs["first_k_dense_replace"]
    return dense, inputs["num_hidden_layers"] - dense


@pytest.mark.parametrize("ranks", [2, 8])
def test_weights_are_divided_by_tensor_parallelism_once(attention, ranks):
    served = sampled(attention) | ONE_RANK | {"memory_capacity": 1e18}  # every request
    whole, part = (run(served, attention, tensor_parallel=size)
                   for size in (1, ranks))
    assert (ranks * part["weights_per_device"] >= whole["weights_per_device"]).all()
    for name in ("attention", "head"):
        done, all_of_it = (found[f"decode_{name}_flops"] for found in (part, whole))
        assert (ranks * done >= all_of_it * (1 - 1e-12)).all()
    for name in ("dense_mlp", "shared_expert", "routed_expert"):
        close(ranks * part[f"decode_{name}_flops"], whole[f"decode_{name}_flops"])


def test_a_token_multiplies_active_parameters_and_a_card_holds_all(attention):
    """But norms, biases and what mixes residual streams; of experts it reads k."""
    inputs = sampled(attention) | ONE_TOKEN
    found = run(inputs, attention)
    dense, moe = layers_of(inputs)
    others = ((dense + moe) * (found["norm_parameters"] + found["hyper_parameters"])
              + found["hyper_head_parameters"] + inputs["hidden_size"]
              + moe * inputs["n_routed_experts"] * inputs["router_bias"])
    multiplied = sum(found[f"decode_{name}_flops"] for name in CLASSES
                     if name not in ("core", "index"))
    close(multiplied / inputs["multiply_add_flops"], found["active_parameters"] - others)
    read = moe * inputs["num_experts_per_tok"] * found["routed_expert_parameters"]
    close(found["decode_expert_bytes"], inputs["routed_expert_weight_bytes"] * read)
    bytes_ = {name: 1 for name in input_symbols() if name.endswith("_weight_bytes")}
    close(run(inputs | bytes_ | {"text_only": 1}, attention)["weights_per_device"],
          found["total_parameters"])


@pytest.mark.parametrize("away", ["offloaded_share", "fetched_share"])
def test_expert_weights_count_in_the_memory_budget(attention, away):
    """All but those that the host computes or that are fetched from it."""
    inputs = sampled(attention) | ONE_RANK | {
        "offloaded_share": 0, "fetched_share": 0, "draft_tokens": 0, "share_of_left": 0,
        away: 0.25}
    before, after = (run(inputs, attention, routed_expert_weight_bytes=width)
                     for width in (1.0, 2.0))
    experts = (layers_of(inputs)[1] * inputs["n_routed_experts"]
               * before["routed_expert_parameters"] * 0.75)
    for name, sign in (("weights_per_device", 1), ("headroom_per_device", -1)):
        np.testing.assert_allclose(sign * (after[name] - before[name]), experts, rtol=1e-6,
                                   atol=1e3)


def test_a_small_cache_leaves_communication_as_it_is(attention):
    inputs = sampled(attention)
    smaller = {"kv_cache_element_bytes": 0.5, "kv_rope_element_bytes": 0.5,
               "kv_index_element_bytes": 0.5, "kv_lora_rank": 16}
    base, changed = run(inputs, attention), run(inputs, attention, **smaller)
    for name in (f"{phase}_{kind}_time" for phase in PHASES
                 for kind in ("all_reduce", "exchange")):
        assert (changed[name] == base[name]).all()


def test_mlps_have_all_their_matrices_and_a_layer_is_dense_or_of_experts(attention):
    inputs = sampled(attention) | {"offloaded_share": 0, "micro_batches": 1,
                                   "shared_expert_ranks": 0}
    (dense, moe), found = layers_of(inputs), run(inputs, attention)
    d, inside = inputs["hidden_size"], inputs["moe_intermediate_size"]
    each = inputs["mlp_matrices"] * d
    close(found["dense_mlp_parameters"], each * inputs["intermediate_size"])
    close(found["shared_expert_parameters"], each * inside * inputs["n_shared_experts"])
    close(found["routed_expert_parameters"],
          each * inside + inputs["expert_bias"] * (
              (inputs["mlp_matrices"] - 1) * inside + d))
    close(found["decode_dense_mlp_flops"], 2 * dense * each * inputs["intermediate_size"]
          * found["decode_tokens"] / inputs["tensor_parallel"])
    none = run(inputs, attention, first_k_dense_replace=dense + moe)
    for name in ("routed_expert_bytes", "router_flops", "exchange_time"):
        assert (none[f"decode_{name}"] == 0).all()


def test_all_reduces_have_their_factor_and_latency(attention):
    """1 + 2 per layer of them: 2 (n - 1)/n payloads each, and two latencies."""
    inputs = sampled(attention) | ONE_RANK | {
        "tensor_parallel": 8, "devices_per_node": 8, "concurrency": 3000, "micro_batches": 1,
        "hidden_size": 8192, "collective_alpha": 1e-6, "second_round_alpha": 1e-6,
        "pipelined_alpha": 1e6, "gather_alpha": 1e-6, "gather_step_alpha": 0.0,
        "gather_bulk_alpha": 1e6}
    inputs["gather_efficiency"] = inputs["collective_efficiency"]
    found = run(inputs, attention)
    rate = group(inputs_of(inputs), 8).inside_rate * inputs["collective_efficiency"]
    payload = found["decode_tokens"] * 8192 * inputs["activation_element_bytes"]
    each = 2 * 7 / 8 * payload / rate + 2e-6
    logits = 7 * payload / 8192 * np.ceil(inputs["vocab_size"] / 8) / rate + 1e-6
    close(found["decode_all_reduce_time"],
          (1 + 2 * inputs["num_hidden_layers"]) * each + logits, 1e-9)
