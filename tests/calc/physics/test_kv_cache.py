"""Blocks as engines allocate them, against what they print and against their own arithmetic."""

import math

import pytest

import catalogue
from calc.serving.evaluate import evaluate

GIB = 2**30
SPARSE = "h200-v32-vllm-tp8"
MILLION = 2**20


def found(name, *settings, longest=None, **changed):
    """Quantities of a deployment of the catalogue, of one request of the longest length."""
    scenario = catalogue.load_scenario(name, overrides=settings)
    inputs = scenario.inputs() | {"concurrency": 1} | changed
    if longest is not None:
        inputs["context_tokens"] = longest
    return evaluate(inputs, scenario.model.attention, decode=False)


def v4(release, *settings, model="deepseek-v4-flash", batched=8192, **changed):
    """DeepSeek-V4 on eight B300 under a release of vLLM, requests of a million tokens."""
    return found("v4-flash-8xb300", f"model={model}", f"engine=vllm@{release}",
                 f"workload.max_num_batched_tokens={batched}", *settings,
                 **{"longest": MILLION} | changed)


class TestCompressedUnderVLLM:
    """Five groups of layers: 256 tokens of entries to a page, 64 of windows, 4 and 8 of states."""

    @pytest.mark.parametrize(("drafts", "pages"), [(0, 26), (3, 30), (7, 31)])
    def test_a_request_that_decodes(self, drafts, pages):
        """Two pages for each of two groups of windows and one more, 2 + 1 and 16 + 1 of states;
        those that AISimulate 0.13.0 takes from the engine."""
        assert v4("0.25.1", draft_tokens=drafts)["state_blocks_per_request"] == pages

    @pytest.mark.parametrize(("release", "pages"), [
        ("0.25.1", 4096 + 2 * 131 + 2051 + 1041), ("0.26.0", 4096 + 2 * 259 + 4099 + 2065)])
    def test_a_request_whose_prompt_is_computed(self, release, pages):
        """From 0.26 on windows keep the tokens of two batches in flight."""
        alone = v4(release)
        assert alone["request_blocks"] + alone["prompt_blocks"] == pages

    @pytest.mark.parametrize(("release", "model", "size"), [
        ("0.25.1", "deepseek-v4-flash", 22 * (37_440 + 8_640 + 1_728)),
        ("0.25.1", "deepseek-v4-pro", 31 * (37_440 + 8_640 + 1_728)),
        ("0.27.0", "deepseek-v4-flash", 1_002_240), ("0.27.0", "deepseek-v4-pro", 1_435_968)])
    def test_bytes_of_a_page(self, release, model, size):
        """Slots of the widest group, padded; later releases pack them (pull request 52495)."""
        assert v4(release, model=model)["stage_block_bytes"][0] == size

    @pytest.mark.parametrize(("release", "model", "needed"), [
        ("0.25.1", "deepseek-v4-flash", 7.30), ("0.25.1", "deepseek-v4-pro", 10.28),
        ("0.26.0", "deepseek-v4-flash", 10.56), ("0.26.0", "deepseek-v4-pro", 14.88),
        ("0.27.0", "deepseek-v4-flash", 10.06), ("0.27.0", "deepseek-v4-pro", 14.41)])
    def test_memory_that_one_request_of_a_million_tokens_needs(self, release, model, needed):
        assert v4(release, model=model)["kv_per_device"] / GIB == pytest.approx(needed, abs=6e-3)

    def test_a_short_request_needs_nearly_as_much(self):
        """30,000 tokens at 16,384 in a step: 6.66 GiB (issue 44376), on 0.22."""
        short = v4("0.22.0", batched=16_384, longest=30_000)
        assert short["kv_per_device"] / GIB == pytest.approx(6.66, abs=6e-3)

    def test_half_the_tokens_in_a_step_save_seven_gigabytes_of_v4_pro(self):
        """8,192 instead of 16,384, with two batches in flight."""
        less, more = (v4("0.27.0", model="deepseek-v4-pro", batched=tokens)["kv_per_device"]
                      for tokens in (8192, 16_384))
        assert (more - less) / 1e9 == pytest.approx(9.6, abs=0.1)


def test_v4_pro_on_ascend_needs_what_is_printed():
    """10.55 GiB with one draft at 2,048 tokens in a step (vllm-ascend issue 14678)."""
    needed = found("v4-flash-16x910c", "model=deepseek-v4-pro", "engine=vllm-ascend@0.23.0",
                   "workload.max_num_batched_tokens=2048", "workload.block_size=128",
                   longest=MILLION, draft_tokens=0)
    assert needed["kv_per_device"] / GIB == pytest.approx(10.55, abs=0.02)
    assert needed["block_tokens"] == 512  # 128 entries of four tokens


GLM = ("model=glm-5.2", "device=nvidia-rtx-pro-6000-server", "cluster.node=rtx-pro-6000-8gpu",
       "cluster.nodes=1", "precision=nvfp4-fp8-cache", "workload.max_num_batched_tokens=8192",
       "workload.memory_utilization=0.9", "workload.max_num_seqs=1")


@pytest.mark.parametrize(("ranks", "printed"), [
    (1, 575_488), (2, 1_141_632), (4, 2_283_264), (8, 4_566_528)])
def test_glm_cache_tokens_on_rtx_pro_6000(ranks, printed):
    """A fork of vLLM on the settings of its benchmark (local-inference-lab/rtx6kpro, issue 25)."""
    kept = found(SPARSE, "engine=vllm@0.24.0", *GLM,
                 f"parallelism.decode_context_parallel={ranks}", longest=131_072, draft_tokens=0)
    assert kept["cache_tokens"] == pytest.approx(printed, rel=0.05)


@pytest.mark.parametrize(("ranks", "available", "printed"), [
    (1, 19.55, 341_504), (2, 19.47, 680_192), (4, 19.47, 1_360_384), (8, 19.47, 2_720_768)])
def test_a_token_of_glm_5_1_takes_as_many_bytes_as_ranks_share_it(ranks, available, printed):
    """Index keys are split too: rows A42, A44, A46 and A48 of measurements/memory/vllm.yml."""
    kept = found(SPARSE, "model=glm-5.1", "precision=fp8-block-fp8-latent",
                 f"parallelism.decode_context_parallel={ranks}", draft_tokens=0)
    tokens = available * GIB / (kept["kv_layer_bytes_per_token_per_device"] * 78) * ranks
    assert tokens == pytest.approx(printed, rel=1e-3)


def test_index_keys_on_every_rank_under_sglang():
    """2,292,288 and 4,252,416 tokens of GLM-5.2 on one rank and on two (pull request 31821)."""
    alone, two = (found(SPARSE, "engine=sglang@0.5.23", *GLM,
                        "device=nvidia-b200", "cluster.node=hgx-b200", "workload.max_num_seqs=64",
                        f"parallelism.decode_context_parallel={ranks}", draft_tokens=0)
                  for ranks in (1, 2))
    assert two["cache_tokens"] / alone["cache_tokens"] == pytest.approx(
        4_252_416 / 2_292_288, rel=0.03)


def test_windows_of_gpt_oss_under_vllm():
    """Two groups of 18 layers, pages of 16 tokens; 4.79 GiB of 131,072 tokens at 8,192 a step."""
    oss = found("s0-scenario-1", "model=gpt-oss-120b", "device=nvidia-h100-sxm",
                "cluster.node=hgx-h100", "cluster.nodes=1", "precision=mxfp4-w4a16",
                "engine=vllm@0.11.0", "parallelism.tensor_parallel=1",
                "parallelism.data_parallel=8", "workload.block_size=16",
                "workload.max_num_batched_tokens=8192", longest=131_072)
    assert oss["stage_block_bytes"][0] == 18 * 16 * 2048
    assert oss["kv_per_device"] / GIB == pytest.approx(4.79, abs=5e-3)
    assert oss["state_blocks_per_request"] == 128 // 16 + 1


def test_a_page_holds_a_state_of_linear_attention():
    """Qwen3.5-397B at TP8: 533,504 bytes of a state, blocks of 528 tokens, three groups of them."""
    scenario = "qwen3.5-397b-8xh200"
    hybrid = found(scenario, "engine=vllm@0.25.1", "parallelism.tensor_parallel=8",
                   "parallelism.data_parallel=1", "parallelism.expert_parallel=1",
                   "parallelism.expert_tensor_parallel=0", "precision=bf16",
                   "workload.block_size=16")
    assert hybrid["state_bytes_per_device"] / 45 == 533_504
    assert hybrid["block_tokens"] == 528
    assert (hybrid["group_layers"], hybrid["limited_groups"]) == (15, 3)
    assert hybrid["state_blocks_per_request"] == 3


@pytest.mark.parametrize(("release", "model", "per_token"), [
    ("0.5.14", "deepseek-v4-flash", 15_897.5), ("0.5.14", "deepseek-v4-pro", 23_691.4),
    ("0.5.15.post1", "deepseek-v4-flash", 7_705.5), ("0.5.15.post1", "deepseek-v4-pro", 10_993.8)])
def test_v4_bytes_per_token_under_sglang(release, model, per_token):
    """Printed as bytes_per_full_token; later releases set the 128-fold states aside."""
    pools = found("v4-flash-8xb300", f"model={model}", f"engine=sglang@{release}")
    assert pools["stage_block_bytes"][0] / 256 == pytest.approx(per_token, rel=1e-5)
    heavy = {"deepseek-v4-flash": 20, "deepseek-v4-pro": 31}[model] * 128 * 2 * 512 * 4
    aside = 256 * heavy if release != "0.5.14" else 0
    layers = pools["stage_cache_layers"][0]
    assert pools["layer_state_pool"] * layers == pytest.approx(aside)


def test_sglang_cache_share_of_linear_attention_states():
    hybrid = found("qwen3.5-397b-8xh200", "engine=sglang@0.5.10.post1")
    size = hybrid["block_tokens"] * hybrid["kv_layer_bytes_per_token_per_device"] * hybrid[
        "stage_cache_layers"][0]
    assert hybrid["stage_block_bytes"][0] / size == pytest.approx(1.9)


def test_the_share_of_sglang_is_of_what_is_free_before_the_load():
    """Llama-3.1-8B on one H100, 0.4.1: 78.81 GiB free, 63.72 after, at 0.88 54.26 of cache."""
    one = found("s0-scenario-1", "model=llama-3.1-8b", "device=nvidia-h100-sxm",
                "cluster.node=hgx-h100", "cluster.nodes=1", "cluster.devices=1",
                "precision=bf16", "engine=sglang@0.4.6.post5", "parallelism.tensor_parallel=1",
                "parallelism.data_parallel=1", "workload.memory_utilization=0.88")
    assert one["free_for_kv_per_device"] / GIB == pytest.approx(54.26, rel=0.01)


@pytest.mark.parametrize(("release", "counts"), [("0.10.2", ("communicators",)), ("0.11.0", ()),
                                                 ("0.19.0", ()), ("0.20.0", ("graphs",))])
def test_what_the_share_of_vllm_covers_by_release(release, counts):
    base = found("h200-r1-vllm-tp8", f"engine=vllm@{release}")
    parts = {"communicators": base["loading_reserve"] - catalogue.load_device(
        "nvidia-h200-sxm").runtime_reserve.value, "graphs": base["graph_memory"]}
    step = base["activations_per_device"] + base["exchange_buffers"] + base["workspaces"]
    assert math.isclose(base["charged_memory"], step + sum(parts[name] for name in counts),
                        rel_tol=1e-9)


def test_sampling_takes_most_of_the_peak_of_a_small_model():
    """Llama-3.1-8B, 1,024 requests and 8,192 tokens in a step: 1.89 GiB are printed by 0.19.0."""
    plan = ("model=llama-3.1-8b", "device=nvidia-h100-sxm", "cluster.node=hgx-h100",
            "cluster.nodes=1", "cluster.devices=1", "precision=bf16", "engine=vllm@0.19.0",
            "parallelism.tensor_parallel=1", "parallelism.data_parallel=1",
            "workload.max_num_batched_tokens=8192")
    peak = found("s0-scenario-1", *plan, max_num_seqs=1024)["activations_per_device"] / GIB
    assert peak == pytest.approx(1.89, rel=0.02)
