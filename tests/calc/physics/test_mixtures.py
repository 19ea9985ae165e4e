"""Mixtures of layers: Mamba-2, networks without a gate or none, other heads beside a window."""

import numpy as np
import pytest

import calc
import catalogue
from calc.closed_form.evaluate import evaluate
from catalogue.entries.models import WINDOW_HEADS

# config.json of nvidia/Nemotron-H-56B-Base-8K: 54 Mamba-2 and 10 attention blocks, of which 54 are
# followed by a network
NEMOTRON_H = {
    "num_hidden_layers": 64, "linear_layers": 54, "layers_without_mlp": 10, "mlp_matrices": 2,
    "hidden_size": 8192, "vocab_size": 131_072, "num_attention_heads": 64,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 32_768, "linear_mamba": 1,
    "linear_num_key_heads": 8, "linear_key_head_dim": 256, "linear_num_value_heads": 256,
    "linear_value_head_dim": 64, "linear_conv_kernel_dim": 4}
# the three sizes of Nemotron 3: blocks, of which with Mamba-2 and without a network; widths
NEMOTRON_3 = {
    "mlp_matrices": 2, "vocab_size": 131_072, "num_key_value_heads": 2, "head_dim": 128,
    "intermediate_size": 1, "linear_mamba": 1, "linear_num_key_heads": 8,
    "linear_key_head_dim": 128, "linear_value_head_dim": 64, "linear_conv_kernel_dim": 4,
    "router_bias": 1, "n_shared_experts": 2, "first_k_dense_replace": 0}
SUPER = NEMOTRON_3 | {
    "num_hidden_layers": 48, "linear_layers": 40, "layers_without_mlp": 8, "hidden_size": 4096,
    "num_attention_heads": 32, "linear_num_value_heads": 128, "n_routed_experts": 512,
    "num_experts_per_tok": 22, "moe_intermediate_size": 2688, "routed_expert_hidden_size": 1024}
ULTRA = NEMOTRON_3 | {
    "num_hidden_layers": 60, "linear_layers": 48, "layers_without_mlp": 12, "hidden_size": 8192,
    "num_attention_heads": 64, "linear_num_value_heads": 256, "n_routed_experts": 512,
    "num_experts_per_tok": 22, "moe_intermediate_size": 5120, "routed_expert_hidden_size": 2048}
LIGHTNING = NEMOTRON_3 | {
    "num_hidden_layers": 29, "linear_layers": 23, "layers_without_mlp": 6, "hidden_size": 2688,
    "num_attention_heads": 32, "linear_num_value_heads": 64, "n_routed_experts": 128,
    "num_experts_per_tok": 6, "moe_intermediate_size": 1856}
MIMO = {
    "num_hidden_layers": 48, "full_attention_layers": 9, "sliding_window": 128,
    "hidden_size": 4096, "vocab_size": 152_576, "num_attention_heads": 64,
    "num_key_value_heads": 4, "head_dim": 192, "v_head_dim": 128,
    "window_num_key_value_heads": 8, "intermediate_size": 16_384, "first_k_dense_replace": 1,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "moe_intermediate_size": 2048,
    "router_bias": 1}
GEMMA = {  # its dense network is three times as wide as an expert, and every token's
    "num_hidden_layers": 30, "full_attention_layers": 5, "sliding_window": 1024,
    "hidden_size": 2816, "vocab_size": 262_144, "separate_head": 0, "num_attention_heads": 16,
    "num_key_value_heads": 2, "head_dim": 512, "value_from_key": 1, "qk_norm": 1,
    "window_num_key_value_heads": 8, "window_head_dim": 256, "window_v_head_dim": 256,
    "intermediate_size": 2112, "first_k_dense_replace": 0, "n_routed_experts": 128,
    "num_experts_per_tok": 8, "moe_intermediate_size": 704, "n_shared_experts": 3}
LLAMA_4 = {  # chunks of 8,192 tokens in three layers of four
    "num_hidden_layers": 48, "full_attention_layers": 12, "sliding_window": 8192,
    "hidden_size": 5120, "vocab_size": 202_048, "num_attention_heads": 40,
    "num_key_value_heads": 8, "head_dim": 128, "intermediate_size": 16_384,
    "num_experts_per_tok": 1, "moe_intermediate_size": 8192, "n_shared_experts": 1}
SCOUT = LLAMA_4 | {"n_routed_experts": 16, "first_k_dense_replace": 0}
MAVERICK = LLAMA_4 | {"n_routed_experts": 128, "first_k_dense_replace": 24}
BILLION = 1e9


def inputs_of(shapes, **changed):
    """Inputs of a model of grouped-query attention on one rank, one request, 16 bits."""
    plain = catalogue.model_inputs(catalogue.load_model("llama-3.1-8b"))
    stated = shapes | changed
    dense = stated.get("num_hidden_layers", 32) - stated.get("layers_without_mlp", 0)
    numbers = plain | {"first_k_dense_replace": dense} | stated
    cached = numbers["num_hidden_layers"] - numbers["linear_layers"]
    derived = {"full_attention_layers": cached, "v_head_dim": numbers["head_dim"],
               "routed_expert_hidden_size": numbers["hidden_size"]}
    numbers |= {name: stated.get(name, value) for name, value in derived.items()}
    numbers["sparse_layers"] = numbers["full_attention_layers"]
    numbers |= {name: stated.get(name, numbers[name.removeprefix("window_")])
                for name in WINDOW_HEADS}
    base = catalogue.load_scenario("s0-scenario-1").inputs()
    alone = {"tensor_parallel": 1, "data_parallel": 1, "expert_parallel": 1, "concurrency": 1}
    return base | alone | numbers


def deployed(shapes, **changed):
    return evaluate(inputs_of(shapes, **changed), "gqa")


@pytest.mark.parametrize(("shapes", "total", "active", "within"), [
    (NEMOTRON_H, 56, 56, 0.01), (SUPER, 120, 12, 0.03), (ULTRA, 550, 55, 0.01),
    (LIGHTNING, 31.6, 3.2, 0.01),  # 30B-A3B by its name
    (MIMO, 309, 15, 0.02), (GEMMA, 25.2, 3.8, 0.01),
    # printed with a vision tower of 0.9e9
    (SCOUT, 109 - 0.9, 17, 0.02), (MAVERICK, 401.6 - 0.9, 17, 0.02)])
def test_parameters_are_about_those_that_are_published(shapes, total, active, within):
    found = deployed(shapes)
    assert found["total_parameters"] / BILLION == pytest.approx(total, rel=within)
    assert found["active_parameters"] <= active * BILLION * 1.03
    assert found["active_parameters_with_embedding"] >= active * BILLION * 0.97


def test_a_layer_of_mamba_2_by_hand():
    """Width 8,192; 256 heads of 64; eight groups of states of 256; taps of 4 and a bias."""
    inner, groups = 256 * 64, 8 * 256
    into = 8192 * (2 * inner + 2 * groups + 256)
    state = (inner + 2 * groups) * (4 + 1) + 3 * 256
    mamba = into + state + inner * 8192 + inner  # the norm is as wide as the outputs
    attention = 8192 * 128 * (2 * 64 + 2 * 8)
    network = 2 * 8192 * 32_768
    # a norm before each block, a norm before each network, and one after all
    norms = (64 + 54 + 1) * 8192
    assert deployed(NEMOTRON_H)["total_parameters"] == pytest.approx(
        54 * mamba + 10 * attention + 54 * network + norms + 2 * 131_072 * 8192, abs=0.5)


def test_an_attention_layer_whose_keys_serve_as_values_by_hand():
    """Gemma 4: 16 heads; 8 keys and values of 256 beside a window, 2 keys of 512 without."""
    found, d = deployed(GEMMA), 2816
    divided, kv = found["attention_divided_parameters"], found["attention_kv_parameters"]
    assert 30 * divided == pytest.approx(d * 16 * 2 * (25 * 256 + 5 * 512))
    assert 30 * found["window_kv_parameters"] == pytest.approx(25 * d * 8 * 2 * 256)
    assert 30 * kv == pytest.approx(25 * d * 8 * 2 * 256 + 5 * d * 2 * 512)
    assert 30 * (found["norm_parameters"] - 2 * d) == pytest.approx(2 * (25 * 256 + 5 * 512))


@pytest.mark.parametrize(("shapes", "token"), [
    (NEMOTRON_H, 10 * 8 * 256 * 2), (SUPER, 8 * 2 * 256 * 2), (ULTRA, 12 * 2 * 256 * 2),
    (LIGHTNING, 6 * 2 * 256 * 2), (MIMO, 9 * 4 * 320 * 2 + 39 * 8 * 320 * 2),
    (GEMMA, 5 * 2 * 1024 * 2 + 25 * 8 * 512 * 2), (SCOUT, 48 * 8 * 256 * 2)])
def test_cache_of_a_token_by_hand(shapes, token):
    """Keys and values of all layers, 2 bytes an element; both are kept where keys are values."""
    assert deployed(shapes)["kv_bytes_per_token"] == pytest.approx(token)


@pytest.mark.parametrize(("shapes", "layers", "state", "passed"), [
    (NEMOTRON_H, 54, 256 * 64 * 256, 256 * 64 + 2 * 8 * 256),
    (SUPER, 40, 128 * 64 * 128, 128 * 64 + 2 * 8 * 128)])
def test_state_of_a_request_by_hand(shapes, layers, state, passed):
    """A state in 32 bits, and what the three last tokens bring to the convolution in 16."""
    found = deployed(shapes, state_element_bytes=4)
    assert found["state_bytes_per_request"] == layers * (4 * state + 3 * 2 * passed)


@pytest.mark.parametrize("shapes", [MIMO, GEMMA])
def test_beyond_a_window_only_layers_without_one_read_more(shapes):
    read = [deployed(shapes, input_tokens=n, output_tokens=1)["decode_kv_bytes"]
            for n in (5000, 5001)]
    entry = shapes["num_key_value_heads"] * 2 * (
        shapes["head_dim"] + shapes.get("v_head_dim", shapes["head_dim"]))
    assert read[1] - read[0] == pytest.approx(shapes["full_attention_layers"] * entry)
    windows = deployed(shapes, input_tokens=5000, output_tokens=1)["kv_window_entry_bytes"]
    every = shapes["num_hidden_layers"] - shapes["full_attention_layers"]
    assert read[0] - shapes["full_attention_layers"] * entry * 5001 == pytest.approx(
        every * windows * shapes["sliding_window"])


def test_core_of_layers_with_other_heads_by_hand():
    """MiMo: 64 heads by 192 + 128 elements, at 5,001 positions in 9 layers and 128 in 39."""
    found = deployed(MIMO, input_tokens=5000, output_tokens=1, kv_imbalance=1)
    met = 9 * 5001 + 39 * 128
    assert found["decode_core_flops"] == pytest.approx(2 * 64 * 320 * met)


@pytest.mark.parametrize(("ranks", "tokens"), [(1, 32), (4, 32), (8, 16)])
def test_a_page_holds_more_tokens_of_layers_with_smaller_entries(ranks, tokens):
    """MiMo has twice the KV heads beside a window; on eight ranks all layers have one each."""
    found = deployed(MIMO, tensor_parallel=ranks, expert_parallel=ranks, page_groups=1,
                     block_size=16, context_tokens=32_000)
    assert found["block_tokens"] == tokens
    of_page = 16 * found["kv_window_entry_bytes"]
    assert 48 * found["layer_block_bytes"] == pytest.approx(9 * of_page)
    assert found["blocks_per_request"] == 32_000 / tokens


def test_activations_of_mamba_2_by_hand():
    """Gate, values, keys of both kinds and step sizes; the convolution's outputs; outputs."""
    inner, groups = 256 * 64, 8 * 256
    width = 2 * (inner + groups) + 256 + (inner + 2 * groups) + inner
    found = deployed(NEMOTRON_H, tensor_parallel=8)
    assert found["attention_activation_width"] == 8192 + width / 8
    attention = deployed(NEMOTRON_H, linear_mamba=0)["attention_activation_width"]
    assert attention == 8192 + (128 + 128) * (64 + 8)


def test_a_recurrence_of_mamba_2_writes_and_reads():
    """Two products with the state against three; in chunks half the pairs, scores by group."""
    mamba, delta = (deployed(NEMOTRON_H, linear_mamba=kind, input_tokens=4096, output_tokens=1)
                    for kind in (1, 0))
    of_state = 2 * 54 * 256 * 64 * 256
    less = delta["decode_core_flops"] - mamba["decode_core_flops"]
    assert less == pytest.approx(of_state * mamba["decode_tokens"])
    tokens, chunk = mamba["prefill_tokens"], inputs_of(NEMOTRON_H)["linear_chunk_tokens"]
    pairs = 256 * (256 + 64) - (8 * 256 + 256 * 64) / 2
    less = delta["prefill_core_flops"] - mamba["prefill_core_flops"]
    assert less == pytest.approx(tokens * (of_state + 2 * 54 * chunk * pairs))


def test_networks_of_two_matrices_move_and_multiply_two_thirds():
    """Weights and operations; of rows what goes in and out stays, and an inside is left out."""
    gated, plain = (deployed(SCOUT, mlp_matrices=number) for number in (3, 2))
    for kind in ("shared_expert", "routed_expert"):
        assert 3 * plain[f"{kind}_parameters"] == 2 * gated[f"{kind}_parameters"]
        assert 3 * plain[f"decode_{kind}_flops"] == pytest.approx(2 * gated[f"decode_{kind}_flops"])
    weights = 48 * 2 * 5120 * 8192
    rows = gated["decode_tokens"] * 48 * 8192 * 2
    assert gated["decode_shared_expert_bytes"] - plain["decode_shared_expert_bytes"] == (
        pytest.approx(weights + rows))


def test_layers_without_a_network_have_one_norm_and_one_sum_less():
    """Of 64 blocks 54 have a network: 118 norms, 118 sums over the ranks and the embedding's."""
    shapes = NEMOTRON_H | {"linear_layers": 0}
    every, some = (deployed(shapes | {"first_k_dense_replace": 64 - bare},
                            layers_without_mlp=bare, tensor_parallel=8) for bare in (0, 10))
    assert every["total_parameters"] - some["total_parameters"] == pytest.approx(
        10 * (2 * 8192 * 32_768 + 8192))
    one = (every["decode_all_reduce_time"] - some["decode_all_reduce_time"]) / 10
    assert 119 * one < some["decode_all_reduce_time"] < 121 * one  # and the logits are gathered


@pytest.mark.parametrize(("stages", "fullest"), [(1, 54), (2, 27), (4, 14), (64, 1)])
def test_a_stage_has_at_most_its_part_of_the_networks(stages, fullest):
    found = deployed(NEMOTRON_H, pipeline_parallel=stages)
    assert np.max(found["stage_dense_layers"]) == fullest
    assert np.all(found["stage_dense_layers"] + found["stage_bare_layers"]
                  == found["stage_layers"])


class TestLikeToday:
    """A mixture of layers that are all alike is the model that has no mixture."""

    @pytest.mark.parametrize("shapes", [MIMO, GEMMA | {"value_from_key": 0}])
    def test_windows_with_the_heads_of_the_others(self, shapes):
        alike = {name: value for name, value in shapes.items() if name not in WINDOW_HEADS}
        some, none = (deployed(alike, full_attention_layers=layers)
                      for layers in (7, shapes["num_hidden_layers"]))
        for name in ("total_parameters", "active_parameters", "kv_bytes_per_token",
                     "weights_per_device", "decode_attention_bytes"):
            assert some[name] == pytest.approx(none[name], rel=1e-12)
        assert some["kv_window_entry_bytes"] == some["kv_entry_bytes"]

    @pytest.mark.parametrize("shapes", [MIMO, GEMMA])
    def test_a_mixture_lies_between_its_kinds_by_their_layers(self, shapes):
        layers = shapes["num_hidden_layers"]
        none, full, some = (deployed(shapes, full_attention_layers=number)
                            for number in (0, layers, 10))
        for name in ("total_parameters", "kv_bytes_per_token", "weights_per_device",
                     "decode_attention_flops", "decode_attention_bytes"):
            assert layers * some[name] == pytest.approx(
                10 * full[name] + (layers - 10) * none[name], rel=1e-12)

    def test_gated_networks_in_every_layer(self):
        for name in ("llama-3.1-8b", "gpt-oss-120b"):
            model = catalogue.load_model(name)
            shapes = catalogue.model_inputs(model)
            assert (shapes["mlp_matrices"], shapes["layers_without_mlp"]) == (3, 0)
            assert deployed(shapes)["total_parameters"] == pytest.approx(
                calc.parameters(model)["total"], rel=1e-12)
