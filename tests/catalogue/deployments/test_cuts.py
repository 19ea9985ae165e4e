"""Cuts that divide a model, its cache and its scales of blocks: each rule at its edge."""

import re

import pytest

import catalogue
from catalogue.deployments.cuts import Cut, Subject, block_problem, context_problem, cut_problem
from catalogue.deployments.scenario import model_inputs

V3, QWEN = "deepseek-v3", "qwen3-235b-a22b"
TENSOR, EXPERT, SLICES = "tensor_parallel", "expert_parallel", "expert_tensor_parallel"
APART = "shared_expert_ranks"
COUNTS = {"num_attention_heads": 24, "intermediate_size": 48, "o_groups": 0,
          "num_key_value_heads": 4, "num_hidden_layers": 5, "n_routed_experts": 12,
          "n_shared_experts": 1, "moe_intermediate_size": 18, "index_topk": 0}


STATE = {"linear_mamba": 1, "linear_num_key_heads": 8, "linear_num_value_heads": 16}


def subject(model, precision="bf16", **counts):
    entry = catalogue.load_model(model)
    return Subject(entry, catalogue.load_precision(precision),
                   catalogue.load_device("nvidia-h200-sxm"), catalogue.load_node("hgx-h200"),
                   model_inputs(entry) | counts)


@pytest.mark.parametrize(("cut", "counts", "key"), [
    (Cut(4, 5, 3, 4), {}, None), (Cut(5), {}, TENSOR),
    (Cut(4), {"intermediate_size": 50}, TENSOR), (Cut(4, expert=4), {"o_groups": 6}, TENSOR),
    # heads of keys are dealt, or copied, but not both
    (Cut(4, expert=4), {"num_key_value_heads": 8}, None),
    (Cut(4, expert=4), {"num_key_value_heads": 2}, None),
    (Cut(4, expert=4), {"num_key_value_heads": 6}, TENSOR),
    # of layers with a window too, where there are any
    (Cut(4, expert=4), {"full_attention_layers": 2, "window_num_key_value_heads": 8}, None),
    (Cut(4, expert=4), {"full_attention_layers": 2, "window_num_key_value_heads": 6}, TENSOR),
    (Cut(4, expert=4), {"full_attention_layers": 2, "window_num_attention_heads": 6}, TENSOR),
    # groups and heads of Mamba-2; a single group is copied
    (Cut(4, expert=4), STATE | {"linear_num_key_heads": 6}, TENSOR),
    (Cut(4, expert=4), STATE | {"linear_num_key_heads": 1}, None),
    (Cut(4, expert=4), STATE | {"linear_num_value_heads": 18}, TENSOR),
    (Cut(1, 5), {}, None), (Cut(1, 6), {}, "pipeline_parallel"),
    # an expert that is not whole on a rank is cut like the rest
    (Cut(4, expert=1), {}, TENSOR), (Cut(4, expert=2), {}, None),
    # without experts
    (Cut(4), {"n_routed_experts": 0}, None), (Cut(4, expert=2), {"n_routed_experts": 0}, EXPERT),
    (Cut(4, spares=1), {"n_routed_experts": 0}, "redundant_experts"),
    (Cut(4, slices=2), {"n_routed_experts": 0}, SLICES),
    # experts over whole replicas, evenly
    (Cut(4, 1, 3, 12), {}, None), (Cut(4, 1, 3, 8), {}, EXPERT), (Cut(4, 1, 3, 6), {}, EXPERT),
    (Cut(4, 1, 3, 3), {}, EXPERT), (Cut(1, 1, 8, 8), {}, EXPERT),
    (Cut(1, 1, 8, 8, spares=4), {}, None), (Cut(1, 1, 8, 8, spares=3), {}, EXPERT),
    # slices of experts fill whole replicas
    (Cut(2, 1, 6, 3, 2), {}, None), (Cut(2, 1, 6, 3, 4), {}, SLICES),
    (Cut(1, 1, 12, 3, 3), {}, SLICES), (Cut(4, 1, 3, 3, 2), {}, SLICES),
    (Cut(2, 1, 6, 3, 2), {"exchange_normal": 1}, SLICES),
    # shared experts apart leave ranks to the routed ones
    (Cut(1, 1, 9, 9, spares=4, shared_ranks=1), {}, None),
    (Cut(1, 1, 5, 5, shared_ranks=1), {}, None), (Cut(1, 1, 5, 5, shared_ranks=5), {}, APART),
    (Cut(1, 1, 5, 5, shared_ranks=1), {"n_shared_experts": 0}, APART),
    (Cut(1, 1, 5, 5, shared_ranks=1), {"exchange_normal": 1}, APART),
    (Cut(1, 1, 5, 5, shared_ranks=1), {"exchange_gathered": 1}, APART)])
def test_cuts_of_grouped_query_attention_and_experts(cut, counts, key):
    problem = cut_problem(subject(QWEN, **COUNTS | counts), cut)
    assert (problem and problem.key) == key


@pytest.mark.parametrize(("cut", "model", "counts", "dealt"), [
    (Cut(8), QWEN, {"index_topk": 3}, True), (Cut(4, context=8), V3, {}, False),
    (Cut(8, context=3), V3, {}, False), (Cut(8, context=8), V3, {}, True),
    (Cut(8, context=2), V3, {"index_topk": 3}, True),
    (Cut(8, context=2), QWEN, {"index_topk": 3}, False),
    (Cut(8, context=2), QWEN, {}, True),  # four heads over eight ranks: two copies of each
    (Cut(8, context=4), QWEN, {}, False), (Cut(4, context=2), QWEN, {}, False),
    (Cut(8, context=4), QWEN, {"num_key_value_heads": 2}, True),
    (Cut(8, context=4), QWEN, {"num_key_value_heads": 2, "full_attention_layers": 2,
                               "window_num_key_value_heads": 4}, False)])
def test_a_cache_is_dealt_over_ranks_that_would_hold_copies_of_it(cut, model, counts, dealt):
    assert (context_problem(subject(model, **COUNTS | counts), cut) is None) == dealt


def blocks(model, precision, tensor, expert=1, data=1, slices=0):
    problem = block_problem(subject(model, precision), Cut(tensor, 1, data, expert, slices))
    return problem and problem.text["en"]


@pytest.mark.parametrize(("model", "precision", "tensor", "expert", "width"), [
    (V3, "fp8-block", 16, 1, None), (V3, "fp8-block", 32, 1, 576), (V3, "fp8-block", 64, 1, 288),
    (QWEN, "fp8-block", 4, 1, None), (QWEN, "fp8-block", 8, 1, 192),
    (QWEN, "fp8-block", 8, 8, None),
    (V3, "bf16", 64, 1, None), (V3, "w8a8-int8", 32, 1, None),
    # 768 / 8 = 96 of a group of 128: kernels of experts take parts of 32
    ("qwen3-30b-a3b", "w4a16-group128", 8, 1, None), (V3, "w4a16-group128", 32, 1, 576)])
def test_slices_hold_whole_blocks_of_scales(model, precision, tensor, expert, width):
    text = blocks(model, precision, tensor, expert)
    assert (text is None) == (width is None)
    assert text is None or f"slices of {width}" in text


@pytest.mark.parametrize(("model", "tensor", "data", "nearest"), [
    (V3, 32, 1, 16), (V3, 64, 1, 16), (V3, 128, 4, 16), (QWEN, 8, 1, 4), ("glm-4.5", 24, 1, 4)])
def test_the_nearest_cut_that_is_named_loads_and_keeps_the_ranks(model, tensor, data, nearest):
    text = blocks(model, "fp8-block", tensor, data=data)
    assert int(re.search(r"loads is tensor_parallel of (\d+)", text)[1]) == nearest
    assert blocks(model, "fp8-block", nearest) is None
    whole = Cut(nearest, 1, tensor * data // nearest)
    assert cut_problem(subject(model, "fp8-block"), whole) is None
