"""What published recipes of a model start with, besides what a scenario says of it."""

from __future__ import annotations

from collections.abc import Mapping

from calc.launching.server import ASCEND, Layout, Release, Setting
from catalogue import ParamsError, Scenario
from catalogue.entries.profiles import in_order
from catalogue.kernels import published_weights

ROWS = "fp8-row56"  # latents in rows with their scales: what kernels of compressed attention read
MXFP4 = "mxfp4"
EXPERTS = (MXFP4, "fp8-block128-e8m0")  # formats of which DeepSeek-V4's checkpoints say fp8
_FUSED = ("sm_100", "sm_103")  # cards with one kernel for exchange and experts
_AUTO = "--enable-auto-tool-choice"  # of vLLM, beside a parser of calls
# what reads a family's chat format: calls and reasoning of an answer
_TOOLS = {"deepseek-v4": "deepseek_v4", "deepseek-v3.2": "deepseek_v32", "glm-5": "glm47",
          "minimax-m2": "minimax_m2", "qwen3.5": "qwen3_coder", "kimi-k2": "kimi_k2"}
_REASONING = {"deepseek-v4": "deepseek_v4", "deepseek-v3.2": "deepseek_v3", "glm-5": "glm45",
              "minimax-m2": "minimax_m2", "qwen3.5": "qwen3", "kimi-k2": "kimi_k2"}
# and makes tokens of a conversation
_TOKENS = {"deepseek-v4": "deepseek_v4", "deepseek-v3.2": "deepseek_v32"}
_SGLANG = {"deepseek-v4": ("deepseek-v4", "deepseekv4"),
           "deepseek-v3.2": ("deepseek-v3", "deepseekv32"), "glm-5": ("glm45", "glm47"),
           "qwen3.5": ("qwen3", "qwen3_coder"), "kimi-k2": ("kimi_k2", "kimi_k2")}
_SGLANG_SINCE = "0.5.9"  # whose source has all of these
_OWN_CODE = "--trust-remote-code"  # of a checkpoint
FLASHCOMM = "VLLM_ASCEND_ENABLE_FLASHCOMM1"
DEALT = "prompts are dealt over the tensor-parallel ranks"
A2_BUFFER = 512  # MB that are usual on A2
ASCEND_ROWS, KEYS = "int8-latent128", "int8-index128"  # of sparse attention, in INT8


def compressed(scenario: Scenario) -> bool:
    """Whether a model attends to compressed entries, as DeepSeek-V4 does."""
    return scenario.model.attention == "csa"


def methods(scenario: Scenario, named: Mapping[str, str], of_v4: str) -> dict[str, str]:
    """``--quantization`` by format; engines refuse a name that differs from the checkpoint's.

    Checkpoints of DeepSeek-V4 say FP8 whatever their experts. MXFP4 of a model whose own weights
    are in another format is AMD's, in Quark's form, which runs on AMD's cards.

    Args:
        scenario: the deployment.
        named: of all formats.
        of_v4: what an engine calls the method of DeepSeek-V4's checkpoints.
    """
    if compressed(scenario):
        return {**named, **dict.fromkeys(EXPERTS, of_v4)}
    own = published_weights(scenario.model)
    if own is None or own.routed_expert == MXFP4:
        return dict(named)
    others = {name: method for name, method in named.items() if name != MXFP4}
    return others | ({MXFP4: "quark"} if scenario.device.software == "rocm" else {})


def spoken(scenario: Scenario, release: Release) -> list[Setting]:
    """What makes tokens of a conversation, and calls and reasoning of an answer.

    Source: recipes of vLLM, tutorials of vLLM Ascend, cookbook of SGLang (``params/recipes/``).
    """
    family, why = _family(scenario), "the chat format of the model's family"
    code = [release.take(_OWN_CODE, None, "the tokenizer is code of the checkpoint")
            ] if own_code(scenario) else []
    if release.name == "sglang":
        if family not in _SGLANG or in_order(release.version) < in_order(_SGLANG_SINCE):
            return code
        reasoning, calls = _SGLANG[family]
        return [*code, release.take("--reasoning-parser", reasoning, why),
                release.take("--tool-call-parser", calls, why)]
    tokens = _TOKENS.get(family)
    if family not in _TOOLS or (tokens and not release.has("--tokenizer-mode", tokens)):
        return code
    own = [release.take("--tokenizer-mode", tokens, why)] if tokens else []
    return [*code, *own, release.take("--tool-call-parser", _TOOLS[family], why),
            release.take(_AUTO, None, why),
            release.take("--reasoning-parser", _REASONING[family], why)]


def own_code(scenario: Scenario) -> bool:
    """Whether a checkpoint's tokenizer is code of its own, as Kimi's is (``tokenization_kimi``)."""
    return scenario.model.id.startswith("kimi-k")


def _family(scenario: Scenario) -> str:
    """Models that talk alike; Kimi's shapes and those of V3.2 are DeepSeek-V3's, their chat is
    not."""
    model = scenario.model
    if model.id.startswith("kimi-k2"):
        return "kimi-k2"
    return model.id if model.id == "deepseek-v3.2" else model.family or ""


def beside(scenario: Scenario) -> bool:
    """Whether tutorials of vLLM Ascend run the shared expert beside the routed ones.

    They do so for DeepSeek-V4 and GLM-5, whose drafts they leave outside of graphs.
    """
    return compressed(scenario) or scenario.model.family == "glm-5"


def dealt(scenario: Scenario) -> bool:
    """Whether several tensor-parallel ranks deal the tokens of prompts among them."""
    numbers = scenario.inputs()
    return bool(numbers["prefill_context_parallel"] and numbers["tensor_parallel"] > 1)


def dealt_by(scenario: Scenario, release: Release) -> dict[str, str]:
    """Switches of vLLM Ascend that deal prompts over ranks, and why.

    Raises ParamsError, one sentence, for vLLM, which has none within a tensor-parallel group.
    """
    if not dealt(scenario):
        return {}
    if release.name != ASCEND:
        raise ParamsError(f"{release}: no flag deals prompts over tensor-parallel ranks, expected "
                          "prefill_context_parallel: 0, or vllm-ascend or sglang.")
    return {"enable_dsa_cp": DEALT}


def summed_in_parts(scenario: Scenario, release: Release) -> list[Setting]:
    """FlashComm1 of vLLM Ascend, each rank the sums of its own tokens: dealt prompts ask for it."""
    if release.name != ASCEND or not dealt(scenario) or not release.has(FLASHCOMM, 1):
        return []
    return [release.take(FLASHCOMM, 1, DEALT)]


def of_hccl(scenario: Scenario, of: Layout, release: Release) -> list[Setting]:
    """Collectives of vLLM Ascend on vector cores, without which few captured steps find room; on A2
    the buffer of an exchange that predictions rest on (``params/mechanisms/ascend-910b.yml``) [MB].

    Source: tutorials of vLLM Ascend (``params/recipes/vllm-ascend.yml``); its 0.23.0, which sets
    the mode for MiniMax-M2 by itself; its pull request 10460 for the buffer.
    """
    if release.name != ASCEND:
        return []
    found = [Setting("HCCL_OP_EXPANSION_MODE", "AIV",
                     "collectives run on vector cores, which leaves room for captured steps")]
    if of.joined > 1 and of.experts > 1 and scenario.device.architecture == "ascend-a2":
        found.append(Setting("HCCL_BUFFSIZE", A2_BUFFER, "room of what is sent to experts, on "
                             "which predictions rest; 200 by default"))
    return found


def in_int8(scenario: Scenario) -> dict[str, str]:
    """Switches of vLLM Ascend that cache a sparse model in INT8, and why.

    DeepSeek-V4 has them by itself.
    """
    if compressed(scenario) or scenario.model.index_topk is None:
        return {}
    its = scenario.precision
    return ({"enable_sparse_sfa_c8": "latents in INT8"} if its.kv_cache == ASCEND_ROWS else {}) | (
        {"enable_sparse_li_c8": "index keys in INT8"} if its.kv_index == KEYS else {})


def fused(scenario: Scenario, of: Layout) -> bool:
    """Whether vLLM runs DeepSeek-V4's experts in the kernel that exchanges tokens too.

    Source: ``--moe-backend deep_gemm_mega_moe`` of its recipes: Blackwell, the published weights,
    whole experts within a node.
    """
    its = scenario.precision
    return (compressed(scenario) and of.experts > 1 and of.span == 1
            and scenario.device.architecture in _FUSED
            and (its.weights.routed_expert, its.multiply.routed_expert) == (MXFP4, "fp8"))
