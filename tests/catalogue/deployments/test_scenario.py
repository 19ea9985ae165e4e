"""Deployments resolved to plain numbers: inputs by hand, defaults, overrides, what follows."""

import pytest
from _door import DEVICE, number, spoilt

import calc
import catalogue
from catalogue.deployments.scenario import model_inputs
from catalogue.library import COMMAND_LINE

PLAN, DRAFTING = "h200-r1-vllm-tp8", "h200-r1-sglang-mtp"
GIB = 2**30
BLOCK128 = 1 + 4 / 128**2  # FP8 with an FP32 scale per block of 128 x 128 [B]
DEEPSEEK = {"num_hidden_layers": 61, "first_k_dense_replace": 3, "hidden_size": 7168,
            "vocab_size": 129_280, "num_attention_heads": 128, "q_lora_rank": 1536,
            "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
            "v_head_dim": 128, "intermediate_size": 18_432, "moe_intermediate_size": 2048,
            "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "n_group": 8,
            "topk_group": 4, "router_bias": 1, "separate_head": 1, "index_topk": 0}
BY_HAND = {
    "s2-910b1-awq": DEEPSEEK | {
        "memory_capacity": 64 * GIB, "memory_bandwidth": 1.6e12, "attention_peak": 363.7e12,
        "routed_expert_weight_bytes": (4 + 20 / 64) / 8, "routed_expert_dequantised": 1,
        "attention_dequantised": 1,
        "head_weight_bytes": 2, "norm_weight_bytes": 2, "kv_cache_element_bytes": 2,
        "tensor_parallel": 8, "data_parallel": 1, "expert_parallel": 1, "devices_per_node": 8,
        "pair_bandwidth": 28e9, "device_link_bandwidth": 7 * 28e9, "full_mesh": 1,
        "concurrency": 32, "input_tokens": 128, "output_tokens": 512, "context_tokens": 640,
        "block_size": 128, "memory_utilization": 0.9, "draft_tokens": 0},
    PLAN: DEEPSEEK | {
        "memory_capacity": 140.4 * GIB, "memory_bandwidth": 4.8e12, "attention_peak": 1979e12,
        "core_peak": 989e12, "routed_expert_weight_bytes": BLOCK128, "routed_expert_dequantised": 0,
        "dispatch_element_bytes": 1 + 4 / 128, "tensor_parallel": 8, "devices_per_node": 8,
        "device_link_bandwidth": 450e9, "pair_bandwidth": 450e9, "full_mesh": 0, "switch_adds": 1,
        "concurrency": 1000, "bench_requests": 1000, "input_tokens": 219, "output_tokens": 201,
        "context_tokens": 420, "mixed_steps": 1, "captured": 1, "exchange_network_alpha": 0},
    "h20-qwen3-8b": {
        "num_hidden_layers": 36, "first_k_dense_replace": 36, "hidden_size": 4096,
        "num_attention_heads": 32, "num_key_value_heads": 8, "head_dim": 128, "qk_norm": 1,
        "n_routed_experts": 0, "kv_lora_rank": 0, "n_group": 1, "full_attention_layers": 36,
        "memory_bandwidth": 4e12, "attention_peak": 296e12, "core_peak": 148e12,
        "attention_weight_bytes": BLOCK128, "tensor_parallel": 1, "concurrency": 64,
        "input_tokens": 4096, "output_tokens": 2048, "separate_pools": 1, "mixed_steps": 0},
}


def load(*overrides, name=PLAN):
    return catalogue.load_scenario(name, overrides=overrides)


@pytest.mark.parametrize("name", BY_HAND)
def test_inputs_by_hand(name):
    inputs = catalogue.load_scenario(name).inputs()
    assert {key: inputs[key] for key in BY_HAND[name]} == pytest.approx(BY_HAND[name], rel=1e-3)


@pytest.mark.parametrize(("changed", "name", "value"), [
    ({"linear_layers": 2}, "full_attention_layers", 34),
    ({"sliding_window": 64, "full_attention_layers": 3}, "sparse_layers", 3),
    ({}, "indexer_layers", 0), ({"index_topk": 9}, "indexer_layers", 36),
    ({"index_topk": 9, "indexer_layers": 2}, "indexer_layers", 2),
    ({}, "v_head_dim", 128), ({"v_head_dim": 64}, "v_head_dim", 64),
    ({"v_head_dim": 64}, "window_v_head_dim", 64),
    ({}, "window_num_key_value_heads", 8), ({}, "window_head_dim", 128),
    ({"layers_without_mlp": 5}, "first_k_dense_replace", 31),
    ({}, "compress_ratio", 1)])
def test_what_a_model_lacks_is_zero_or_one(changed, name, value):
    values = {key: number(count) for key, count in changed.items()}
    assert model_inputs(catalogue.load_model("qwen3-8b").model_copy(update=values))[name] == value


@pytest.mark.parametrize(("overrides", "way"), [
    (["parallelism.expert_parallel=8"], "own"),
    (["parallelism.expert_parallel=16"], "low_latency"),
    (["parallelism.expert_parallel=16", "mechanisms.exchange_normal=1"], "normal"),
    (["parallelism.expert_parallel=16", "mechanisms.exchange_gathered=1"], "gathered"),
    (["parallelism.expert_parallel=8", "mechanisms.exchange_normal=1"], "own")])
def test_expert_exchange_mode(overrides, way):
    assert load("cluster.nodes=2", "parallelism.data_parallel=2", *overrides).way == way


def test_lengths_of_context_and_of_prefill_pools():
    inputs = catalogue.load_scenario("s0-scenario-1").inputs()  # a longest context alone
    assert (inputs["input_tokens"], inputs["output_tokens"], inputs["separate_pools"]) == (
        4095, 1, 1)
    pools = [name for name in catalogue.deployment_names() if "-prefill" in name]
    assert {catalogue.load_scenario(name).inputs()["output_tokens"] for name in pools} == {1}


def test_few_bits_are_multiplied_on_the_vector_unit_of_a_processor():
    """GGUF blocks in vector registers, INT8 on the matrix unit, of both processors of a server."""
    host = catalogue.load_device("intel-xeon-6454s")
    priors = catalogue.load("mechanisms", "host-xeon")
    blocks, int8 = (catalogue.load_scenario(name).inputs()
                    for name in ("kt-4090d-v02", "kt-4090-v03"))
    assert blocks["host_peak"] == 2 * host.vector_peak.int8.value
    assert int8["host_peak"] == 2 * host.matrix_peak.int8.value
    assert blocks["host_gemm_efficiency"] == priors.host_vector_efficiency.value
    assert int8["host_gemm_efficiency"] == priors.host_gemm_efficiency.value


@pytest.mark.parametrize(("lines", "drafts", "expected"), [
    ("accepted_length: 2.4", 2, 2.4), ("acceptance: [0.9, 0.7]", 2, 2.6),
    ("accepted_length: 2.4", 0, 1), ("accepted_length: 2.4", 1, 2),
    ("accepted_length: 2.4", 3, 2.4)])
def test_a_step_yields_its_token_and_the_drafts_that_are_accepted(tmp_path, lines, drafts,
                                                                   expected):
    path = spoilt(tmp_path / "mine.yml", f"scenarios/{DRAFTING}", "draft_tokens: 1",
                  f"draft_tokens: 2\n  {lines}")
    inputs = catalogue.load_scenario(path).inputs()
    assert calc.evaluate(inputs | {"draft_tokens": drafts}, "mla")["tokens_per_step"] == (
        pytest.approx(expected))


def test_overrides_are_assumptions_of_the_command_line():
    value = load("device.memory_bandwidth=2 TB/s").device.memory_bandwidth
    assert (value.value, value.kind, value.source) == (2e12, "assumed", COMMAND_LINE)
    assert load("workload.concurrency=7 request").inputs()["concurrency"] == 7
    assert catalogue.load_scenario(PLAN).inputs()["concurrency"] == 1000
    assert load("model=deepseek-v3.1", "precision.multiply.core=fp16").model.id == "deepseek-v3.1"


def test_a_card_given_beside_the_file_and_one_that_lies_beside_it(tmp_path):
    assert catalogue.load_scenario(PLAN, "nvidia-h20").device.id == "nvidia-h20"
    (tmp_path / "card.yml").write_text(DEVICE, encoding="utf-8")
    path = spoilt(tmp_path / "mine.yml", "scenarios/s0-scenario-1", "device: ascend-910b2",
                  "device: card.yml")
    assert catalogue.load_scenario(path).inputs()["memory_bandwidth"] == 1.6e12
