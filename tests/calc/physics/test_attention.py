"""Attention of every kind: parameters, widths, states, and mixtures of layers."""

import numpy as np
import pytest
from _fleet import alike as sampled
from _fleet import fleet_alike, run, where
from _models import deployed

import calc
import catalogue
from calc.physics.arrays import ceil_div
from calc.serving.evaluate import PHASES, evaluate
from catalogue.deployments.scenario import model_inputs

SEEDS = range(3)
DENSE, SPARSE = "h200-r1-vllm-tp8", "h200-v32-vllm-tp8"
both = pytest.mark.parametrize("attention", ["mla", "gqa"])  # compressed entries are on every rank


def deployment(name, **changes):
    """Inputs and quantities of a deployment with something changed."""
    scenario = catalogue.load_scenario(name)
    inputs = scenario.inputs() | changes
    return inputs, evaluate(inputs, scenario.model.attention)


class TestTiles:
    @pytest.mark.parametrize("seed", SEEDS)
    def test_rows_are_the_heads_and_less_than_a_tile_more(self, seed):
        inputs = fleet_alike("mla", seed) | {"index_topk": 0, "decode_context_parallel": 1}
        found = run(inputs, "mla")
        heads = inputs["num_attention_heads"] / inputs["tensor_parallel"]
        spare = found["decode_head_rows"] - heads
        assert not where((spare < -1e-9) | (spare >= inputs["core_tile_rows"]), spare)
        np.testing.assert_array_equal(found["prefill_head_rows"], heads)
        single = run(inputs, "mla", core_tile_rows=1, sparse_tile_rows=1)
        np.testing.assert_allclose(single["decode_head_rows"], heads)

    @pytest.mark.parametrize(("drafts", "tiles"), [(1, 1), (3, 1), (4, 2)])
    def test_drafts_are_free_up_to_a_tile(self, drafts, tiles):
        """16 heads and three drafts are 64 rows, as many as 16 heads alone are multiplied as."""
        none, some = (deployment(DENSE, draft_tokens=count)[1]["decode_core_flops"]
                      for count in (0, drafts))
        assert some == pytest.approx(tiles * none)

    @pytest.mark.parametrize(("device", "ns"), [
        ("nvidia-h200-sxm", {(16, 2): 0.2714, (64, 2): 0.2836, (128, 2): 0.4429, (16, 1): 0.1989,
                             (64, 1): 0.2073, (128, 1): 0.3940}),
        ("nvidia-h100-sxm", {(16, 2): 0.3848, (64, 2): 0.3985, (128, 2): 0.4557, (16, 1): 0.2152,
                             (64, 1): 0.2302, (128, 1): 0.3895})])
    def test_one_pair_of_shares_meets_every_measured_layout(self, device, ns):
        """Medians by heads and bytes per element, mla/trtllm/1.3.0rc10 of aic-h100, aic-h200."""
        card = catalogue.load_device(device)
        priors = catalogue.load("mechanisms", card.mechanisms or "nvidia-hopper")
        for (heads, width), measured in ns.items():
            tile = priors.core_tile_rows.value
            rows = np.ceil(heads / tile) * tile
            computed = 2 * rows * (2 * 512 + 64) / (
                card.matrix_peak.bf16.value * priors.mla_compute_efficiency.value)
            read = width * (512 + 64) / (card.memory_bandwidth.value * priors.mla_efficiency.value)
            assert max(computed, read) * 1e9 == pytest.approx(measured, rel=0.13), (heads, width)


class TestSparse:
    @pytest.mark.parametrize("length", [1, 100, 30_000])
    def test_operations_of_a_prompt_token(self, length):
        """61 layers of 64 rows, (576 + 512) multiply-adds, 2,048 positions: 17.4 GFLOP."""
        _, found = deployment(SPARSE, input_tokens=length)
        assert found["prefill_core_flops"] / found["prefill_tokens"] == pytest.approx(
            2 * 61 * 64 * (576 + 512) * 2048)

    def test_the_measured_kernel_of_prefill(self):
        """InferSim, 4,096 tokens, 128 heads, 2,048 of 16,384 positions on an H800: 3.60 ms."""
        priors = catalogue.load("mechanisms", "nvidia-h800")
        peak = catalogue.load_device("nvidia-h800").matrix_peak.bf16.value
        flops = 2 * 128 * (576 + 512) * 2048 * 4096
        assert flops / (peak * priors.sparse_attention_efficiency.wide.value) == pytest.approx(
            3.60e-3, rel=0.15)


FLASH = "deepseek-v4-flash"
# rows of 448 elements in FP8 with 8 bytes of scales and 64 in BF16; index keys with one scale
BYTES = {"kv_cache_element_bytes": 456 / 448, "kv_rope_element_bytes": 2,
         "kv_index_element_bytes": 132 / 128, "state_element_bytes": 4,
         "compressor_weight_bytes": 2, "hyper_weight_bytes": 4}


def v4(name=FLASH, **changed):
    """Inputs and quantities of a model on the cards of a scenario of another one."""
    inputs = catalogue.load_scenario(SPARSE).inputs() | model_inputs(
        catalogue.load_model(name)) | BYTES | {"memory_capacity": 1e15, "page_groups": 0} | changed
    return inputs, evaluate(inputs, "csa")


class TestCompressed:
    """Golden numbers from the published checkpoints and from what an engine allocates."""

    def test_state_of_a_request_in_blocks(self):
        inputs, found = v4()
        windows, gathered = 43 * 128 * 584, 21 * (8 * 2048 + 8 * 512) * 4
        assert found["state_bytes_per_request"] == windows + gathered + 20 * 128 * 1024 * 4
        block = inputs["block_size"] * found["kv_bytes_per_token"]
        state = ceil_div(found["state_bytes_per_request"], block)
        assert found["state_blocks_per_request"] == state  # of an engine that keeps no more
        assert found["request_blocks"] == found["blocks_per_request"] + state
        assert found["max_concurrency"] == inputs["data_parallel"] * (
            found["kv_blocks"] // found["request_blocks"])
        short, long = (v4(context_tokens=tokens)[1] for tokens in (2**12, 2**18))
        assert short["state_blocks_per_request"] == long["state_blocks_per_request"]
        alone, eight = (v4(tensor_parallel=ranks)[1] for ranks in (1, 8))
        assert alone["state_bytes_per_request"] == eight["state_bytes_per_request"]

    def test_a_longer_context_costs_index_keys_and_heavy_entries(self):
        """What is picked, and the window, are met already."""
        less, longer = (v4(input_tokens=tokens, context_tokens=2**18, kv_imbalance=1,
                           prompt_variation=0)[1] for tokens in (2**16, 2**17))
        more = 2**17 - 2**16
        assert (longer["decode_kv_bytes"] - less["decode_kv_bytes"]) / less["decode_batch"] == (
            pytest.approx(21 * 132 * more / 4 + 20 * 584 * more / 128))


def dealt(attention):
    """Deployments without an indexer, of tensor ranks that all keep a copy of each cache."""
    inputs = dict(sampled(attention))
    if attention == "gqa":
        inputs["num_key_value_heads"] = np.ones_like(inputs["tensor_parallel"])
    return inputs | {"index_topk": 0, "index_n_heads": 0, "index_head_dim": 0, "draft_tokens": 0,
                     "window_blocks_freed": 0, "core_tile_rows": 1}


@both
def test_context_parallel_group_shares_one_cache(attention):
    inputs = dealt(attention)
    shared = inputs["tensor_parallel"]
    alone, group = (run(inputs, attention, decode_context_parallel=size) for size in (1, shared))
    np.testing.assert_array_equal(alone["kv_blocks"], group["kv_blocks"])
    block = group["block_tokens"]
    room = group["blocks_per_request"] * block * shared
    assert not where(room < inputs["context_tokens"], room)
    assert not where(room - inputs["context_tokens"] >= block * shared)
    assert not where(group["max_concurrency"] < alone["max_concurrency"])
    np.testing.assert_allclose(group["decode_core_flops"], alone["decode_core_flops"])
    np.testing.assert_allclose(group["decode_kv_bytes"] * shared, alone["decode_kv_bytes"])
    np.testing.assert_allclose(group["decode_head_rows"], alone["decode_head_rows"] * shared)
    assert not any(np.any(alone[f"{phase}_context_exchange_time"]) for phase in PHASES)


def test_a_rank_alone_has_no_index_keys_and_no_prompts_to_share():
    inputs = sampled("mla") | {"decode_context_parallel": 1}
    plain, other = (run(inputs, "mla", index_replicated=flag, prompt_rows_gathered=flag)
                    for flag in (0, 1))
    for name, values in plain.items():
        np.testing.assert_array_equal(values, other[name], err_msg=name)


@pytest.mark.parametrize("name", ["a3-v4-vllm-prefill", "a3-glm51-pd-tp1-prefill"])
def test_a_dealt_prompt_is_quicker_and_takes_more_memory(name):
    scenario = catalogue.load_scenario(name)
    alone, found = (calc.evaluate(scenario.inputs() | {"prefill_context_parallel": flag},
                                  scenario.model.attention) for flag in (0, 1))
    assert found["prefill_step_time"] < alone["prefill_step_time"]
    assert found["weights_per_device"] > alone["weights_per_device"]


# config.json of nvidia/Nemotron-H-56B-Base-8K: 54 Mamba-2 and 10 attention blocks, of which 54 are
# followed by a network
NEMOTRON_H = {
    "num_hidden_layers": 64, "linear_layers": 54, "full_attention_layers": 10, "sparse_layers": 10,
    "layers_without_mlp": 10, "first_k_dense_replace": 54, "mlp_matrices": 2, "hidden_size": 8192,
    "vocab_size": 131_072, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128,
    "intermediate_size": 32_768, "linear_mamba": 1, "linear_num_key_heads": 8,
    "linear_key_head_dim": 256, "linear_num_value_heads": 256, "linear_value_head_dim": 64,
    "linear_conv_kernel_dim": 4}
MIMO, GEMMA = "mimo-v2-flash", "gemma-4-26b-a4b"


def nemotron(**changed):
    return deployed("llama-3.1-8b", **NEMOTRON_H | changed)


def test_mamba_2_layer_by_hand():
    """Width 8,192; 256 heads of 64; eight groups of states of 256; taps of 4 and a bias."""
    inner, groups = 256 * 64, 8 * 256
    into = 8192 * (2 * inner + 2 * groups + 256)
    state = (inner + 2 * groups) * (4 + 1) + 3 * 256
    mamba = into + state + inner * 8192 + inner  # the norm is as wide as the outputs
    attention = 8192 * 128 * (2 * 64 + 2 * 8)
    network = 2 * 8192 * 32_768
    # a norm before each block, a norm before each network, and one after all
    norms = (64 + 54 + 1) * 8192
    found = nemotron(state_element_bytes=4)
    assert found["total_parameters"] == pytest.approx(
        54 * mamba + 10 * attention + 54 * network + norms + 2 * 131_072 * 8192, abs=0.5)
    # a state in 32 bits, and what the three last tokens bring to the convolution in 16
    assert found["state_bytes_per_request"] == 54 * (
        4 * inner * 256 + 3 * 2 * (inner + 2 * groups))


def test_attention_layer_whose_keys_serve_as_values_by_hand():
    """Gemma 4: 16 heads; 8 keys and values of 256 beside a window, 2 keys of 512 without."""
    found, d = deployed(GEMMA), 2816
    divided, kv = found["attention_divided_parameters"], found["attention_kv_parameters"]
    assert 30 * divided == pytest.approx(d * 16 * 2 * (25 * 256 + 5 * 512))
    assert 30 * found["window_kv_parameters"] == pytest.approx(25 * d * 8 * 2 * 256)
    assert 30 * kv == pytest.approx(25 * d * 8 * 2 * 256 + 5 * d * 2 * 512)
    assert 30 * (found["norm_parameters"] - 2 * d) == pytest.approx(2 * (25 * 256 + 5 * 512))


def test_cache_and_core_of_layers_with_other_heads_by_hand():
    """MiMo: 64 heads by 192 + 128 elements, at 5,001 positions in 9 layers and 128 in 39.

    Layers without a window have four KV heads, the others eight; an element has two bytes.
    """
    found = deployed(MIMO, input_tokens=5000, output_tokens=1, kv_imbalance=1)
    assert found["decode_core_flops"] == pytest.approx(2 * 64 * 320 * (9 * 5001 + 39 * 128))
    assert found["decode_kv_bytes"] == pytest.approx(2 * 320 * (9 * 5001 * 4 + 39 * 128 * 8))


@pytest.mark.parametrize(("ranks", "tokens"), [(1, 32), (4, 32), (8, 16)])
def test_page_holds_more_tokens_of_layers_with_smaller_entries(ranks, tokens):
    """MiMo has twice the KV heads beside a window; on eight ranks all layers have one each."""
    found = deployed(MIMO, tensor_parallel=ranks, expert_parallel=ranks, page_groups=1,
                     block_size=16, context_tokens=32_000)
    assert found["block_tokens"] == tokens
    of_page = 16 * found["kv_window_entry_bytes"]
    assert 48 * found["layer_block_bytes"] == pytest.approx(9 * of_page)
    assert found["blocks_per_request"] == 32_000 / tokens


@pytest.mark.parametrize(("stages", "fullest"), [(1, 54), (2, 27), (4, 14), (64, 1)])
def test_a_stage_has_at_most_its_part_of_the_networks(stages, fullest):
    found = nemotron(pipeline_parallel=stages)
    assert np.max(found["stage_dense_layers"]) == fullest
    assert np.all(found["stage_dense_layers"] + found["stage_bare_layers"]
                  == found["stage_layers"])
