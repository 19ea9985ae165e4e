"""What published recipes of a model start with, besides what a scenario says of it."""

from __future__ import annotations

from calc.launching.layout import Layout
from calc.launching.settings import Release, Setting
from catalogue import Scenario

ROWS = "fp8-row56"  # latents in rows with their scales: what kernels of compressed attention read
EXPERTS = ("mxfp4", "fp8-block128-e8m0")  # formats of which DeepSeek-V4's checkpoints say fp8
_FUSED = ("sm_100", "sm_103")  # cards with one kernel for exchange and experts
_VLLM = {"deepseek-v4": "deepseek_v4"}  # what reads a family's chat format
_SGLANG = {"deepseek-v4": {"--reasoning-parser": "deepseek-v4",
                           "--tool-call-parser": "deepseekv4"}}


def compressed(scenario: Scenario) -> bool:
    """Whether a model attends to compressed entries, as DeepSeek-V4 does."""
    return scenario.model.attention == "csa"


def spoken(scenario: Scenario, release: Release) -> list[Setting]:
    """What makes tokens of a conversation, and calls and reasoning of an answer.

    Source: recipes of vLLM, tutorials of vLLM Ascend and cookbook of SGLang for DeepSeek-V4.
    """
    family, why = scenario.model.family or "", "the chat format of the model's family"
    if release.name == "sglang":
        return [release.take(flag, parser, why)
                for flag, parser in _SGLANG.get(family, {}).items()]
    if (name := _VLLM.get(family)) is None:
        return []
    return [release.take("--tokenizer-mode", name, why),
            release.take("--tool-call-parser", name, why),
            release.take("--enable-auto-tool-choice", None, why),
            release.take("--reasoning-parser", name, why)]


def fused(scenario: Scenario, of: Layout) -> bool:
    """Whether vLLM runs DeepSeek-V4's experts in the kernel that exchanges tokens too.

    Source: ``--moe-backend deep_gemm_mega_moe`` of its recipes: Blackwell, the published weights,
    whole experts within a node.
    """
    its = scenario.precision
    return (compressed(scenario) and of.experts > 1 and of.span == 1
            and scenario.device.architecture in _FUSED
            and (its.weights.routed_expert, its.multiply.routed_expert) == ("mxfp4", "fp8"))
