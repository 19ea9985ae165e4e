"""Launches of today's models start as their published recipes do, in every engine that has them."""

from functools import cache

import pytest

from calc.launching.deployment import deployment

SPOKEN = {"--tokenizer-mode": "deepseek_v4", "--tool-call-parser": "deepseek_v4",
          "--reasoning-parser": "deepseek_v4", "--enable-auto-tool-choice": None}
PUBLISHED = {
    "v4-flash-8xh20": {  # recipe of vLLM, single_node_tep
        "--kv-cache-dtype": "fp8", "--block-size": 256, "--tensor-parallel-size": 8,
        "--enable-expert-parallel": None, **SPOKEN},
    "v4-flash-8xh200": {  # cookbook of SGLang, H200, FP4, balanced
        "--tp-size": 4, "--moe-runner-backend": "flashinfer_mxfp4",
        "--speculative-algorithm": "EAGLE", "--speculative-num-steps": 1,
        "--speculative-eagle-topk": 1, "--speculative-num-draft-tokens": 2,
        "--reasoning-parser": "deepseek-v4", "--tool-call-parser": "deepseekv4",
        "--page-size": 256, "--kv-cache-dtype": "fp8_e4m3"},
    "v4-flash-8x910b2": {  # tutorial of vLLM Ascend, A2
        "--max-num-batched-tokens": 8192, "--gpu-memory-utilization": 0.9, "--max-num-seqs": 32,
        "--tensor-parallel-size": 8, "--enable-expert-parallel": None, "--quantization": "ascend",
        "--block-size": 128, "--compilation-config": {"cudagraph_mode": "FULL_DECODE_ONLY"},
        "--speculative-config": {"method": "mtp", "num_speculative_tokens": 1,
                                 "enforce_eager": True},
        "--additional-config": {"enable_dsa_cp": True,
                                "multistream_overlap_shared_expert": True}, **SPOKEN},
    "v4-flash-16x910c": {  # the same, A3
        "--max-num-batched-tokens": 10240, "--max-num-seqs": 64, "--data-parallel-size": 4,
        "--tensor-parallel-size": 4, "--enable-expert-parallel": None, "--block-size": 128,
        "--max-model-len": 1048576, **SPOKEN},
    "v4-pro-8xb300": {  # recipe of vLLM, eight B300
        "--kv-cache-dtype": "fp8", "--block-size": 256, "--data-parallel-size": 8,
        "--enable-expert-parallel": None, "--moe-backend": "deep_gemm_mega_moe", **SPOKEN},
    "v4-flash-8xb300": {  # the same, single_node_tep on Blackwell
        "--kv-cache-dtype": "fp8", "--block-size": 256, "--tensor-parallel-size": 8,
        "--enable-expert-parallel": None, "--moe-backend": "deep_gemm_mega_moe", **SPOKEN},
    "v4-pro-16xh200": {  # the same, multi_node_dep on Hopper
        "--kv-cache-dtype": "fp8", "--block-size": 256, "--data-parallel-size": 16,
        "--enable-expert-parallel": None, "--gpu-memory-utilization": 0.95, "--max-num-seqs": 16,
        "--max-model-len": 200000, **SPOKEN},
    "glm-5.2-16x910c": {  # tutorial of vLLM Ascend, two servers of A3
        "--data-parallel-size": 8, "--data-parallel-size-local": 4, "--tensor-parallel-size": 4,
        "--enable-expert-parallel": None, "--max-num-seqs": 6, "--max-num-batched-tokens": 4096,
        "--gpu-memory-utilization": 0.92, "--quantization": "ascend",
        "--enable-chunked-prefill": None, "--enable-prefix-caching": None,
        "--compilation-config": {"cudagraph_mode": "FULL_DECODE_ONLY"},
        "--speculative-config": {"method": "deepseek_mtp", "num_speculative_tokens": 3,
                                 "enforce_eager": True},
        "--additional-config": {"enable_dsa_cp": True, "multistream_overlap_shared_expert": True,
                                "enable_sparse_sfa_c8": True, "enable_sparse_li_c8": True},
        "--tool-call-parser": "glm47", "--reasoning-parser": "glm45",
        "--enable-auto-tool-choice": None},
    "kimi-k2.5-8xh200": {  # recipe of vLLM, single_node_tp
        "--tensor-parallel-size": 8, "--enable-expert-parallel": "absent",
        "--tool-call-parser": "kimi_k2", "--reasoning-parser": "kimi_k2",
        "--enable-auto-tool-choice": None},
    "minimax-m2.5-8xh20": {  # the same, single_node_tep on Hopper
        "--tensor-parallel-size": 8, "--enable-expert-parallel": None, "--kv-cache-dtype": "fp8",
        "--max-num-batched-tokens": 32768, "--tool-call-parser": "minimax_m2",
        "--reasoning-parser": "minimax_m2", "--enable-auto-tool-choice": None},
    "qwen3.5-397b-8xh200": {  # the same, for throughput of text
        "--data-parallel-size": 8, "--enable-expert-parallel": None,
        "--enable-prefix-caching": None, "--tool-call-parser": "qwen3_coder",
        "--reasoning-parser": "qwen3"},
    "v4-flash-8xrtx-pro-6000": {  # found by the search, with the recipe's formats
        "--tensor-parallel-size": 2, "--kv-cache-dtype": "fp8", "--block-size": 256,
        "--enable-expert-parallel": None, "--moe-backend": "absent", **SPOKEN},
}
B200 = ("device=nvidia-b200", "cluster.node=hgx-b200")


@cache
def started(name, *settings, engine=None):
    """Flags and variables of the first server, by name."""
    pool, = deployment(name, settings, engine=engine).pools
    return tuple({each.name: each.value for each in its[0]}
                 for its in (pool.flags, pool.variables))


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_launch_has_what_the_recipe_starts_with(name):
    flags, _ = started(name)
    wanted = PUBLISHED[name]
    assert {flag: flags.get(flag, "absent") for flag in wanted} == wanted


@pytest.mark.parametrize("engine", ["vllm@0.25.1", "vllm@0.29.0", "vllm@0.33.0"])
def test_each_release_that_has_the_model_takes_its_checkpoint(engine):
    assert started("v4-flash-8xh20", engine=engine)[0]["--quantization"] == "deepseek_v4_fp8"


@pytest.mark.parametrize(("precision", "fused"), [("fp8-mxfp4", True), ("fp8-mxfp4-w4a16", False)])
def test_on_blackwell_one_kernel_exchanges_and_multiplies_the_published_experts(precision, fused):
    flags, around = started("v4-flash-8xh20", *B200, f"precision={precision}",
                            "parallelism.tensor_parallel=1", "parallelism.data_parallel=8")
    assert flags.get("--moe-backend") == ("deep_gemm_mega_moe" if fused else None)
    assert ("--all2all-backend" in flags) is not fused
    assert "VLLM_ALL2ALL_BACKEND" not in around
    assert "--moe-backend" not in started("v4-flash-8xh20")[0]


def test_sglang_is_told_of_experts_that_are_re_encoded_in_fp8():
    flags, around = started("v4-flash-8xh200", "precision=fp8-block-e8m0")
    assert around == {"SGLANG_DSV4_FP4_EXPERTS": 0}
    assert "--moe-runner-backend" not in flags
    assert started("v4-flash-8xh200")[1] == {}


def test_sglang_is_told_to_round_activations_where_the_scenario_says_so():
    flags, _ = started("v4-flash-8xh200", "precision=fp8-mxfp4")
    assert flags["--flashinfer-mxfp4-moe-precision"] == "fp8"
    assert "--flashinfer-mxfp4-moe-precision" not in started("v4-flash-8xh200")[0]


def test_the_plug_in_is_told_of_experts_by_load_and_of_streams_in_one_flag():
    flags, _ = started("v4-flash-16x910c", "parallelism.balancing=periodic")
    assert flags["--additional-config"]["multistream_overlap_shared_expert"]
    assert flags["--additional-config"]["eplb_config"]["dynamic_eplb"]


def test_other_models_start_as_before():
    flags, _ = started("h200-r1-vllm-tp8")
    assert not {*SPOKEN, "--moe-backend", "--additional-config"} & set(flags)
