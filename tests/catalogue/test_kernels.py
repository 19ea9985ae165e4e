"""Kernels: which release of an engine runs a format on a class of cards."""

import re

import pytest

import catalogue
from calc.layouts.space import Space
from calc.searching.goal import load_goal
from catalogue.entries.models import OWN_LAYER
from catalogue.kernels import (
    checkpoint_words,
    checkpoints,
    kernels_of,
    nearest,
    published,
    published_precision,
    runs_experts,
    support,
    tables,
)
from notebooks.pages.catalogue.runs import starts


def verdict(precision, device, engine=None, **more):
    return support(catalogue.load_precision(precision), catalogue.load_device(device),
                   engine, **{"model": catalogue.load_model("deepseek-v3")} | more).verdict


@pytest.mark.parametrize(("precision", "device", "engine", "runs"), [
    ("w4a8-int8", "ascend-910b4", "vllm-ascend", True),
    ("w4a8-int8", "nvidia-h20", None, False), ("w4afp8", "nvidia-b200", None, False),
    ("nvfp4", "nvidia-gb300", None, True),
    ("w8a8-int8", "nvidia-h200-sxm", None, True), ("w8a8-int8", "nvidia-b200", None, False),
    ("fp8-block-fp8-cache", "amd-mi300x", None, True),
    ("w8a8-int8-c8", "ascend-910c-die", "vllm-ascend", True),
    ("w8a8-int8-c8", "ascend-910c-die", "sglang", False),
    ("mxfp4-w4a8", "nvidia-h20", "vllm", True),  # widened
    ("w4afp8", "nvidia-h200-sxm", "vllm@0.11.0", False),
    ("w4afp8", "nvidia-h200-sxm", "vllm@0.13.0", True),
    ("bf16", "ascend-910b2", "tensorrt-llm", False)])
def test_formats_that_run(precision, device, engine, runs):
    """Of several cells of a table the classes, the cache and the release decide together."""
    assert (verdict(precision, device, engine) == "runs") == runs


@pytest.mark.parametrize(("device", "precision"), [
    (device, precision) for device in ("nvidia-h200-sxm", "ascend-910b2")
    for precision in ("bf16", "fp8-block", "w4a8-int8", "nvfp4", "mxfp4-w4a8")])
def test_the_nearest_format_runs_and_native_kernels_come_first(device, precision):
    card, stored = catalogue.load_device(device), catalogue.load_precision(precision)
    near, kernels = nearest(stored, card), kernels_of(stored, card)
    assert near.id != precision
    assert support(near, card).verdict == "runs"
    assert (support(stored, card).verdict == "runs") == bool(kernels)
    assert kernels == sorted(kernels, key=lambda kernel: kernel.weight_only)


@pytest.mark.parametrize("name", sorted(tables()))
def test_table_is_consistent(name):
    """No two cells contradict each other, AITER is AMD's."""
    table = tables()[name]
    assert table.engine == name
    assert runs_experts(name) == (name != "ktransformers")
    stated: dict[tuple[str, ...], str] = {}
    for cell in (*table.products, *table.caches):
        if "AITER" in cell.kernel["en"]:
            assert all(card.startswith("gfx") for card in cell.cards)
    for cell in table.products:
        assert (cell.runs == "no") == bool(re.match("none", cell.kernel["en"]))
        if cell.runs == "weight-only":
            assert set(cell.multiply) <= {"bf16", "fp16"}
        of = cell.since or "", *cell.attention, *cell.model_classes
        for key in ((stored, dtype, card, kind, *of)
                    for stored in cell.weights for dtype in cell.multiply
                    for card in cell.cards for kind in cell.classes or [""]):
            assert stated.setdefault(key, cell.runs) == cell.runs, key


@pytest.mark.parametrize(("model", "precision", "device", "engine", "answer"), [
    # vLLM issue 41525
    ("glm-5.1", "bf16", "nvidia-a800-sxm-80gb", "vllm@0.19.1", "refuses"),
    ("minimax-m2.5", "fp8-block", "nvidia-a800-sxm-80gb", "vllm@0.19.1", "runs"),
    # flashmla_sparse.py, deep_gemm_wrapper/configurer.py
    ("deepseek-v3.2", "fp8-block", "nvidia-l20", "vllm@0.25.0", "refuses"),
    ("deepseek-v3.2", "fp8-block", "nvidia-rtx-4090", "sglang@0.5.16", "refuses"),
    # InferenceX pull request 2351, GLM-4.5 issue 113, AISimulate
    ("kimi-k3", "mxfp4-w4a8", "amd-mi355x", "vllm@0.28.0", "runs"),
    ("glm-4.5", "fp8-channel", "nvidia-h100-sxm", "sglang@0.5.6", "runs"),
    ("glm-5.2", "nvfp4-fp8-cache", "nvidia-vr200", "sglang@0.5.18", "runs"),
    # platforms/cuda.py
    ("glm-5.2", "nvfp4-fp8-cache", "nvidia-rtx-pro-6000-server", "vllm@0.24.0", "runs"),
    ("glm-5.2", "nvfp4-fp8-cache", "nvidia-rtx-pro-6000-server", "vllm@0.23.0", "refuses"),
    # recipe of MiniMax-M3, cookbook of SGLang, a log of vLLM, registry.py
    ("minimax-m3", "mxfp8", "nvidia-h200-sxm", "vllm@0.28.0", "runs"),
    ("deepseek-v4-flash", "fp8-mxfp4", "nvidia-b200", "sglang@0.5.16", "runs"),
    ("deepseek-v4-pro", "fp8-mxfp4", "nvidia-gb300", "sglang@0.5.16", "runs"),
    ("deepseek-v4-flash", "fp8-mxfp4", "nvidia-b200", "vllm@0.25.0", "runs"),
    ("deepseek-v4-flash", "fp8-mxfp4", "nvidia-h200-sxm", "vllm@0.18.1", "refuses"),
    # InferenceX, cookbook of SGLang, rocm.py, cuda.py, deep_gemm.py
    ("deepseek-v4-pro", "fp8-mxfp4", "amd-mi300x", "vllm@0.25.0", "runs"),
    ("deepseek-v4-pro", "fp8-block-e8m0", "amd-mi300x", "sglang@0.5.16", "runs"),
    ("deepseek-v3", "fp8-block-fp8-cache", "amd-mi300x", "vllm@0.25.0", "runs"),
    ("kimi-k2.5", "int4-w4a16-fp8-cache", "nvidia-h100-sxm", "vllm@0.18.0", "runs"),
    ("deepseek-v3", "fp8-block", "nvidia-gb200", "sglang@0.4.6", "runs"),
    # faqs.md, no report, platforms
    ("deepseek-v3", "bf16", "ascend-910a", "vllm-ascend", "refuses"),
    ("deepseek-v3", "fp8-block", "intel-gaudi-3", "vllm", "unknown"),
    ("deepseek-v3", "fp8-block", "ascend-910b2", "vllm", "refuses")])
def test_public_reports_of_starts(model, precision, device, engine, answer):
    assert verdict(precision, device, engine, model=catalogue.load_model(model)) == answer


def test_most_starts_are_decided_by_a_source():
    """Models, cards and engines of the catalogue: of one in five at most nobody says anything."""
    unknown = [start for start in starts() if start.found.verdict == "unknown"]
    assert len(unknown) <= 0.2 * len(starts())


DEPLOYED = sorted({deployment.model.id for name in catalogue.names("scenarios")
                   for deployment in catalogue.load_deployment(name)})


@pytest.mark.parametrize("name", DEPLOYED)
def test_every_deployed_model_has_a_served_checkpoint(name):
    model = catalogue.load_model(name)
    found = list(checkpoints(model))
    assert any(each.served for _, each in found)
    assert all("/" in each.repository and published(model, precision) for precision, each in found)
    assert published(model, catalogue.load_precision(published_precision(model)))


@pytest.mark.parametrize(("model", "precision", "card", "drafts", "words"), [
    ("deepseek-v3.2", "fp8-block", "nvidia-b200", None, "deepseek-ai/DeepSeek-V3.2"),
    ("minimax-m2.5", "fp8-block", "nvidia-h20", None, "MiniMaxAI/MiniMax-M2.5"),
    ("deepseek-v3", "fp8-block", "nvidia-h20", OWN_LAYER,
     "deepseek-ai/DeepSeek-V3 or deepseek-ai/DeepSeek-R1"),
    ("deepseek-v4-flash", "fp8-mxfp4", "nvidia-h20", None, "deepseek-ai/DeepSeek-V4-Flash-0731"),
    ("deepseek-v4-pro", "fp8-mxfp4", "nvidia-b300", None, "deepseek-ai/DeepSeek-V4-Pro-0813")])
def test_the_checkpoint_is_the_official_one_of_the_very_model(model, precision, card, drafts,
                                                              words):
    asked = (catalogue.load_model(model), catalogue.load_precision(precision), "vllm",
             catalogue.load_device(card), drafts)
    assert checkpoint_words(*asked) == words


def test_search_tries_published_formats_by_default():
    def tried(*settings):
        return {base.precision for base in Space(load_goal("r1-64-users-8xh20", settings)).bases()}

    model = catalogue.load_model("deepseek-v3")
    assert all(published(model, catalogue.load_precision(name)) for name in tried())
    assert tried() < tried("space.any_format=true")
