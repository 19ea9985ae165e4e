"""A format is offered where a release has a kernel of it for that class of cards, only there."""

from __future__ import annotations

import re

import pytest

import catalogue
from catalogue import library
from catalogue.deployments.precision_support import missing_dtypes
from catalogue.deployments.precision_support import nearest as offered
from catalogue.engines.released import fitting, releases
from catalogue.entries.kernels import Product
from catalogue.kernels import kernel_of, kernel_problem, kernels_of, tables
from catalogue.kernels.releases import nearest, table
from catalogue.reading.record import ROOT

R1 = "deepseek-v3"


def problem(precision: str, device: str, engine: str | None = None) -> str | None:
    return kernel_problem(catalogue.load_precision(precision), catalogue.load_device(device),
                          engine, model=catalogue.load_model(R1))


def runs(precision: str, device: str, engine: str | None = None) -> bool:
    return problem(precision, device, engine) is None


class TestWhatRuns:
    @pytest.mark.parametrize("device", ["ascend-910b1", "ascend-910b4", "ascend-910c-die"])
    def test_int4_with_int8_activations_runs_on_ascend(self, device):
        assert runs("w4a8-int8", device, "vllm-ascend")

    @pytest.mark.parametrize("device", ["nvidia-h20", "nvidia-h200-sxm", "nvidia-b200",
                                        "nvidia-a100-sxm-80gb", "amd-mi300x"])
    def test_and_on_nothing_else(self, device):
        assert not runs("w4a8-int8", device)

    def test_hopper_multiplies_int4_with_fp8_and_no_other_card_does(self):
        cards = {name for name in catalogue.names("devices")
                 if runs("w4afp8", name) and catalogue.load_device(name).type != "host"}
        assert {catalogue.load_device(name).architecture for name in cards} == {"sm_90"}
        assert "nvidia-h20" in cards

    def test_nvfp4_is_native_on_blackwell_and_widened_on_hopper(self):
        assert runs("nvfp4", "nvidia-gb300")
        assert not runs("nvfp4", "nvidia-h200-sxm")
        kernel = kernel_of(catalogue.load_precision("nvfp4-w4a16"),
                           catalogue.load_device("nvidia-h200-sxm"))
        assert kernel is not None
        assert kernel.weight_only
        assert not runs("nvfp4-w4a16", "nvidia-gb300")  # nothing widens what the card multiplies

    def test_int8_ends_before_blackwell(self):
        assert runs("w8a8-int8", "nvidia-h200-sxm")
        assert not runs("w8a8-int8", "nvidia-b200")

    def test_a_cache_is_asked_for_like_weights(self):
        assert runs("fp8-block-fp8-cache", "nvidia-h20")
        assert not runs("fp8-block-fp8-cache", "amd-mi300x")
        assert runs("w8a8-int8-c8", "ascend-910c-die", "vllm-ascend")
        assert not runs("w8a8-int8-c8", "ascend-910c-die", "sglang")

    def test_experts_that_a_host_computes_are_not_asked_of_the_card(self):
        card, precision = catalogue.load_device("nvidia-rtx-4090"), catalogue.load_precision(
            "q4-k-m-kt")
        left = set(type(precision.weights).model_fields) - {"routed_expert"}
        assert kernel_problem(precision, card) is not None
        assert kernel_problem(precision, card, classes=left) is None

    def test_a_dense_model_is_not_asked_for_experts(self):
        card, dense = catalogue.load_device("nvidia-h200-sxm"), catalogue.load_model("qwen3-8b")
        precision = catalogue.load_precision("w4a8-int8")
        assert kernel_problem(precision, card, model=dense) is None  # INT8 throughout, then
        assert kernel_problem(precision, card) is not None


    def test_units_without_a_kernel_are_not_offered(self):
        hopper = catalogue.load_device("nvidia-h20")
        assert missing_dtypes(catalogue.load_precision("w4a8-int8"), hopper) == []
        assert "w4a8-int8" not in {entry.id for entry in offered(hopper)}
        assert "w4a8-int8" in {entry.id for entry in offered(hopper, any_engine=True)}
        assert "w4afp8" in {entry.id for entry in offered(hopper)}
        assert "w4afp8" not in {entry.id for entry in offered(hopper, engine="vllm@0.11.0")}

    def test_on_hopper_sglang_alone_rounds_activations_of_mxfp4_experts(self):
        assert runs("mxfp4-w4a8", "nvidia-h20", "sglang")
        assert not runs("mxfp4-w4a8", "nvidia-h20", "sglang@0.5.16")
        assert not runs("mxfp4-w4a8", "nvidia-h20", "vllm")
        assert not runs("mxfp4-w4a8", "nvidia-h20", "tensorrt-llm")

    @pytest.mark.parametrize(("weights", "multiply", "since"), [
        ("mxfp8", "fp8", "0.18.0"), ("mxfp4", "fp8", "0.23.0.post1"),
        ("mxfp4", "fp4", "0.23.0.post1"), ("fp8-block128", "fp8", "0.30.0rc2")])
    def test_the_950_series_runs_floats_of_eight_and_four_bits(self, weights, multiply, since):
        found = [cell for cell in tables()["vllm-ascend"].products
                 if "ascend-a5" in cell.cards and weights in cell.weights
                 and multiply in cell.multiply]
        assert [(cell.runs, cell.since) for cell in found] == [("native", since)]


class TestReleases:
    def test_a_release_before_the_kernel_is_refused_and_says_who_runs_it(self):
        told = problem("w4afp8", "nvidia-h200-sxm", "vllm@0.11.0")
        assert told is not None
        assert "vllm 0.11.0 is not known to run w4afp8" in told
        assert "vLLM 0.13.0 and later" in told

    def test_the_newest_release_is_meant_where_none_is_said(self):
        assert runs("w4afp8", "nvidia-h200-sxm", "vllm")

    def test_an_engine_of_another_maker_runs_nothing(self):
        assert not runs("bf16", "ascend-910b2", "tensorrt-llm")

    def test_an_unknown_engine_or_release_is_one_sentence(self):
        with pytest.raises(catalogue.ParamsError, match="there is no engine 'vlm', expected one"):
            problem("bf16", "nvidia-h20", "vlm")
        with pytest.raises(catalogue.ParamsError, match=r"vllm has no release '9\.9'"):
            problem("bf16", "nvidia-h20", "vllm@9.9")

    def test_a_kernel_is_one_of_its_cards_and_of_its_language(self):
        """AITER is AMD's; where a name has words, they are those of the page."""
        for found in tables().values():
            for cell in (*found.products, *found.caches):
                if "AITER" in cell.kernel["en"]:
                    assert all(card.startswith("gfx") for card in cell.cards)
                assert not re.search(r"\b(or|and|of|for|grouped|matmul|scales|rows|sparse|dense|"
                                     r"experts|attention)\b", cell.kernel["zh"])

    def test_what_is_told_has_engine_release_and_kernel(self):
        kernel = kernel_of(catalogue.load_precision("w4afp8"),
                           catalogue.load_device("nvidia-h20"), "sglang")
        assert kernel is not None
        assert kernel.text == (
            "runs on SGLang 0.5.3.post3 and later, CUTLASS W4A8 grouped GEMM; With expert "
            "parallelism alone since 0.4.10 (pull request 7762) [sglang-8118]")


class TestSentences:
    @pytest.mark.parametrize("name", ["nvidia-h200-sxm", "ascend-910b2", "amd-mi300x",
                                      "nvidia-gb300", "nvidia-a100-sxm-80gb"])
    def test_what_is_named_as_nearest_runs(self, name):
        device = catalogue.load_device(name)
        for each in map(catalogue.load_precision, catalogue.names("precisions")):
            told = kernel_problem(each, device)
            near = nearest(each, device)
            assert near is not None
            assert kernel_problem(near, device) is None
            assert told is None or told.endswith(f"the nearest that runs here is {near.id}.")
            assert (told is None) == bool(kernels_of(each, device))

    def test_int4_with_int8_on_hopper_is_sent_to_int4_with_fp8(self):
        assert problem("w4a8-int8", "nvidia-h20") == (
            "no release of an engine is known to run w4a8-int8 on 'nvidia-h20'; SGLang on "
            "ascend-a2, ascend-a3 and vLLM Ascend on ascend-a2, ascend-a3 are; the nearest that "
            "runs here is w4afp8.")

    def test_a_card_without_an_architecture_says_so(self):
        gaudi = catalogue.load_device("nvidia-h200-sxm").model_copy(
            update={"id": "gaudi-3", "vendor": "Intel", "architecture": None})
        told = kernel_problem(catalogue.load_precision("bf16"), gaudi)
        assert told is not None
        assert "its file states no 'architecture', expected one of sm_80" in told


    def test_a_tpu_names_the_class_whose_priors_it_borrows(self, tmp_path):
        path = tmp_path / "chip.yml"
        path.write_text("like: nvidia-h200-sxm\nname: {en: c, zh: c}\nvendor: Maker\ntype: tpu\n"
                        "stack: xla\narchitecture: null\nmechanisms: null\n", "utf-8")
        with pytest.raises(catalogue.ParamsError, match="'mechanisms' is missing, no class"):
            catalogue.load_device(path)
        path.write_text(path.read_text("utf-8").replace("mechanisms: null\n", ""), "utf-8")
        chip = catalogue.load_device(path)
        assert chip.software == "xla"
        assert fitting(chip) == []
        assert kernel_problem(catalogue.load_precision("bf16"), chip) is not None


class TestTables:
    def test_every_cell_is_of_releases_that_are_known(self):
        for name, found in tables().items():
            known = (releases(library.load("profiles", found.engine)) if found.engine else [])
            for cell in (*found.products, *found.caches):
                assert {cell.since, cell.until} <= {None, *known}, name

    def test_no_two_cells_of_a_table_contradict_each_other(self):
        for name, found in tables().items():
            said: dict[tuple[str, ...], str] = {}
            for cell in found.products:
                for key in ((stored, dtype, card, kind, cell.since or "", cell.attention or "")
                            for stored in cell.weights for dtype in cell.multiply
                            for card in cell.cards for kind in cell.classes or [""]):
                    assert said.setdefault(key, cell.runs) == cell.runs, (name, key)

    def test_what_is_widened_is_multiplied_in_16_bits(self):
        for found in tables().values():
            for cell in found.products:
                if cell.runs == "weight-only":
                    assert set(cell.multiply) <= {"bf16", "fp16"}

    @pytest.mark.parametrize(("old", "new", "sentence"), [
        ("engine: vllm", "engine: vlm", r"\.yml:6: engine: there is no engine 'vlm', expected one "
                                        r"of cann-recipes"),
        ("weights: [bf16]", "weights: [bf61]", r"\.yml:8: products\.0\.weights\.0: there is no "
                                               r"format 'bf61' in params/formats/"),
        ("cards: [sm_80", "cards: [sm_08", r"products\.0\.cards\.0: expected 'sm_80', 'sm_89'"),
        ("since: 0.10.2", "since: 0.10.3", r"vllm has no release '0\.10\.3', expected one of "
                                           r"0\.8\.5"),
        ("multiply: [bf16]", "multiply: [bf61]", r"products\.0\.multiply\.0: expected 'fp32'"),
        ("runs: native", "runs: natively", r"products\.0\.runs: expected 'native', "
                                           r"'weight-only' or 'no'"),
    ])
    def test_a_bad_table_is_one_sentence_with_file_and_line(self, tmp_path, old, new, sentence):
        text = (ROOT / "kernels" / "vllm.yml").read_text("utf-8")
        assert old in text
        path = tmp_path / "vllm.yml"
        path.write_text(text.replace(old, new, 1), "utf-8")
        with pytest.raises(catalogue.ParamsError, match=sentence) as raised:
            table(path)
        assert str(raised.value).count("\n") == 0

    def test_every_product_cell_names_a_kernel_or_that_there_is_none(self):
        for found in tables().values():
            for cell in found.products:
                assert isinstance(cell, Product)
                assert (cell.runs == "no") == cell.kernel["en"].startswith("none")


@pytest.mark.parametrize(("engine", "precision", "device"), [
    ("vllm", "fp8-block", "nvidia-h200-sxm"), ("sglang", "w4afp8", "nvidia-h20"),
    ("vllm", "nvfp4", "nvidia-b200"), ("vllm-ascend", "w8a8-int8", "ascend-910b2"),
    ("sglang", "w4a8-int8", "ascend-910b2")])
def test_a_kernel_is_told_for_all_releases_in_a_row_that_run_it(engine, precision, device):
    stored, card = catalogue.load_precision(precision), catalogue.load_device(device)
    known = releases(library.load("profiles", engine))
    ran = {release: kernel_of(stored, card, engine, release) for release in known}
    assert any(ran.values())
    for place, (release, kernel) in enumerate(ran.items()):
        if kernel is None:
            continue
        first, last = known.index(kernel.since), known.index(kernel.until)
        assert first <= place <= last
        assert all(ran[each] for each in known[first:last + 1]), release
        assert [each for each in (known[max(0, first - 1):first] + known[last + 1:last + 2])
                if ran[each]] == [], release
