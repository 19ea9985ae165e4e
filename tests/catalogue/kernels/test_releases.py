"""Kernels: which release of an engine runs a format on a class of cards."""

import re

import pytest

import catalogue
from catalogue import library
from catalogue.engines.released import releases
from catalogue.kernels import kernel_of, kernels_of, support, tables
from catalogue.kernels.releases import nearest, parts_of, runs_experts


def verdict(precision, device, engine=None, **more):
    return support(catalogue.load_precision(precision), catalogue.load_device(device),
                   engine, **{"model": catalogue.load_model("deepseek-v3")} | more).verdict


@pytest.mark.parametrize(("precision", "device", "engine", "runs"), [
    ("w4a8-int8", "ascend-910b4", "vllm-ascend", True),
    ("w4a8-int8", "nvidia-h20", None, False), ("w4afp8", "nvidia-b200", None, False),
    ("nvfp4", "nvidia-gb300", None, True),
    ("nvfp4", "nvidia-h200-sxm", None, True), ("nvfp4-w4a16", "nvidia-h200-sxm", None, True),
    ("nvfp4-w4a16", "nvidia-gb300", None, True),
    ("w8a8-int8", "nvidia-h200-sxm", None, True), ("w8a8-int8", "nvidia-b200", None, False),
    ("fp8-block-fp8-cache", "nvidia-h20", None, True),
    ("fp8-block-fp8-cache", "amd-mi300x", None, True),
    ("w8a8-int8-c8", "ascend-910c-die", "vllm-ascend", True),
    ("w8a8-int8-c8", "ascend-910c-die", "sglang", False),
    ("mxfp4-w4a8", "nvidia-h20", "sglang", True),
    ("mxfp4-w4a8", "nvidia-h20", "vllm", True),  # widened
    ("w4afp8", "nvidia-h200-sxm", "vllm@0.11.0", False),
    ("w4afp8", "nvidia-h200-sxm", "vllm@0.13.0", True),
    ("bf16", "ascend-910b2", "tensorrt-llm", False)])
def test_formats_that_run(precision, device, engine, runs):
    """Of several cells of a table the classes, the cache and the release decide together."""
    assert (verdict(precision, device, engine) == "runs") == runs


def test_only_what_the_card_computes_needs_a_kernel():
    left = {part.name for part in parts_of(catalogue.load_precision("q4-k-m-kt"))} - {
        "routed_expert", "cache"}
    assert verdict("q4-k-m-kt", "nvidia-rtx-4090") != "runs"
    assert verdict("q4-k-m-kt", "nvidia-rtx-4090", classes=left) == "runs"
    dense = catalogue.load_model("qwen3-8b")  # INT8 throughout, then
    assert verdict("w4a8-int8", "nvidia-h200-sxm", model=dense) == "runs"


@pytest.mark.parametrize(("engine", "precision", "device"), [
    ("vllm", "fp8-block", "nvidia-h200-sxm"), ("sglang", "w4afp8", "nvidia-h20"),
    ("vllm", "nvfp4", "nvidia-b200"), ("vllm-ascend", "w8a8-int8", "ascend-910b2")])
def test_a_kernel_spans_all_releases_in_a_row_that_run_it(engine, precision, device):
    stored, card = catalogue.load_precision(precision), catalogue.load_device(device)
    known = releases(library.load("profiles", engine))
    ran = {release: kernel_of(stored, card, engine, release) for release in known}
    assert any(ran.values())
    for place, kernel in enumerate(ran.values()):
        if kernel is not None:
            row = [each for each in known if kernel.holds(each)]
            first, last = known.index(row[0]), known.index(row[-1])
            assert first <= place <= last
            assert all(ran[each] for each in row)
            assert not any(ran[each] for each in (
                *known[max(0, first - 1):first], *known[last + 1:last + 2]))


@pytest.mark.parametrize(("device", "precision"), [
    (device, precision) for device in ("nvidia-h200-sxm", "ascend-910b2")
    for precision in ("bf16", "fp8-block", "w4a8-int8", "nvfp4", "mxfp4-w4a8")])
def test_the_nearest_format_runs_and_native_kernels_come_first(device, precision):
    card, stored = catalogue.load_device(device), catalogue.load_precision(precision)
    near, kernels = nearest(stored, card), kernels_of(stored, card)
    assert near.id != precision
    assert support(near, card).verdict == "runs"
    assert (support(stored, card).verdict == "runs") == bool(kernels)
    kinds = []
    for kernel in kernels:
        engine = tables()[kernel.engine].engine
        flags = library.load("profiles", engine).flags if engine else None
        kinds.append((kernel.weight_only, engine is None, flags is None))
    assert kinds == sorted(kinds)
    assert kernel_of(stored, card) == (kernels[0] if kernels else None)


@pytest.mark.parametrize("name", sorted(tables()))
def test_table_is_consistent(name):
    """No two cells contradict each other, AITER is AMD's."""
    table = tables()[name]
    assert runs_experts(table.engine or name) == (name != "ktransformers")
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
