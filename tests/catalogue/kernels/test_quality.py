"""What a format costs in quality is told with a score of one source, or that there is none."""

from __future__ import annotations

import re

import pytest

import catalogue
from catalogue import library
from catalogue.kernels import published_precision, quality
from catalogue.reading.record import ROOT

REAL = [name for name in catalogue.names("models") if name != "s0-deepseek-r1"]
PRECISIONS = catalogue.names("precisions")
ROWS = [row for name in catalogue.names("accuracies")
        for row in library.load("accuracies", name).formats]


@pytest.mark.parametrize("name", REAL)
def test_every_model_says_which_format_its_published_weights_are_in(name):
    assert published_precision(catalogue.load_model(name)) in PRECISIONS


def test_a_document_s_own_shapes_have_no_published_weights():
    assert published_precision(catalogue.load_model("s0-deepseek-r1")) is None


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_bound_is_kept_by_what_is_known_to_lose_no_more(name, precision):
    found = quality(catalogue.load_model(name), precision)
    assert all(len(text) > 3 for text in found.words)
    if found.is_published:
        assert found.lossless
        assert found.within(0.0)
    elif not found.lossless:
        assert found.within(100.0) == (found.worst is not None)
        if found.worst is not None and found.worst < 0:
            assert not found.within(-found.worst - 1e-6)
            assert found.within(-found.worst)
            assert f"{found.worst:+.1f} points" in found.words[0]


def test_a_score_of_a_relative_is_told_as_one_and_never_beside_an_own():
    v32 = quality(catalogue.load_model("deepseek-v3.2"), "w8a8-int8")
    assert v32.relative
    assert "of a relative (DeepSeek-R1)" in v32.words[0]
    own = quality(catalogue.load_model("deepseek-v3"), "w8a8-int8")
    assert not own.relative
    assert "relative" not in own.words[0]


def test_scores_of_another_quantized_model_are_no_cost_against_the_published_weights():
    found = quality(catalogue.load_model("deepseek-v3"), "w4a8-int8")
    assert found.worst is None
    assert not found.within(10)
    gsm8k = next(row for row in found.rows if row.benchmark == "GSM8K")
    assert (gsm8k.solved.value, gsm8k.reference.value, gsm8k.against) == (94, 96.8, "w4a16-awq")
    assert "no published score compares it with the original weights" in found.words[0]


def test_a_checkpoint_that_was_reported_to_fail_is_told():
    assert "AIME 2024 10" in quality(catalogue.load_model("deepseek-v3.1"), "w4afp8").words[0]


def test_the_rows_of_s2_are_those_of_its_table():
    table = library.load("accuracies", "s2-r1-0528")
    names = {of.name["en"]: key for key, of in table.benchmarks.items()}
    ours = [row for row in ROWS if row.source == "s2"]
    assert len(ours) == len(names)
    for row in ours:
        key = names[row.benchmark]
        assert row.solved.value == table.score("w4a8", key).solved.value
        assert row.reference.value == table.score("w4a16", key).solved.value


@pytest.mark.parametrize(("old", "new", "sentence"), [
    ("against: fp8-block", "against: fp8-blok", "there is no precision 'fp8-blok'"),
    ("    against: fp8-block\n", "", "'against' and 'reference' are given together"),
    ("model: deepseek-v3\n", "family: deepseek-v3\n    model: deepseek-v3\n",
     "either 'model' or 'family'"),
    ("value: 95.42", "value: 195.42", "out of range, expected at most 100"),
])
def test_a_bad_score_is_one_sentence_with_file_and_line(tmp_path, old, new, sentence):
    text = (ROOT / "accuracies" / "formats.yml").read_text("utf-8")
    assert old in text
    path = tmp_path / "formats.yml"
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(catalogue.ParamsError, match=re.escape(sentence)) as raised:
        library.load("accuracies", path)
    assert re.search(r"formats\.yml:\d+: ", str(raised.value))
