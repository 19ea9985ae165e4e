"""What made-up scores say of a format: which count, which is worst, and in which words."""

import sys
from types import SimpleNamespace

import pytest

from catalogue.entries.accuracies import FormatScore
from catalogue.kernels import Quality, published_precision, quality
from catalogue.reading.values import Value


def percent(value):
    return Value(value, "1", str(value), "somebody", "vendor", value, value)


def score(name, solved, against=None, reference=None, model="mine", precision="w4", **more):
    """A score of a format, beside one of another where one is given."""
    return FormatScore.model_construct(
        model=model, family=more.get("family"), weights=more.get("weights", "Weights"),
        precision=precision, benchmark=name, solved=percent(solved), against=against,
        reference=None if reference is None else percent(reference), engine=None, card=None)


@pytest.fixture
def known(monkeypatch):
    """What is known of a model whose published weights are FP8 blocks, of some scores."""
    def ask(*rows, precision="w4", published="fp8-block", family="kin"):
        models = {"other": SimpleNamespace(family="kin"), "stranger": SimpleNamespace(family="x")}
        monkeypatch.setattr(sys.modules["catalogue.kernels.quality"], "library", SimpleNamespace(
            names=lambda kind: ["one", "two"],
            load=lambda kind, name: models[name] if kind == "models" else SimpleNamespace(
                formats=rows[:2] if name == "one" else rows[2:])))
        weights = published and SimpleNamespace(precision=published)
        return quality(SimpleNamespace(id="mine", family=family, weights=weights), precision)
    return ask


def names(rows):
    return [row.benchmark for row in rows]


def test_the_worst_loss_of_a_model_against_its_published_weights_counts(known):
    found = known(score("a", 91, "fp8-block", 90), score("b", 70.5, "fp8-block", 73),
                  score("c", 50, "bf16", 51), score("d", 20, "w8", 90),
                  score("e", 60), score("f", 9, "fp8-block", 99, precision="w8"),
                  score("g", 9, "fp8-block", 99, model="stranger"))
    assert (found.worst, found.relative) == (-2.5, False)  # bf16 is fp8-block widened
    assert names(found.rows) == ["a", "b", "c", "d", "e"]
    assert found.relatives == ()
    assert found.words == (
        "quality: b 70.5 against 73, -2.5 points",
        "质量：b 70.5，官方权重 73，-2.5 分")


@pytest.mark.parametrize(("points", "within"), [(2.5, True), (2.49, False), (0, False), (9, True)])
def test_a_bound_is_kept_up_to_the_worst_loss(known, points, within):
    assert known(score("b", 70.5, "fp8-block", 73)).within(points) == within
    assert known(score("b", 74, "fp8-block", 73)).within(0)
    assert not known(score("b", 74)).within(points)


def test_what_is_not_beside_published_weights_stands_behind_the_greatest_loss_first(known):
    found = known(score("a", 80), score("b", 70, "w8", 73), score("c", 69, "w8", 73),
                  score("d", 75, "w8", 73), score("e", 99, "fp8-block", 98))
    assert names(found.rows) == ["e", "c", "b", "a", "d"]
    assert found.worst == 1
    alone = known(score("a", 80), score("b", 70, "w8", 73))
    assert (alone.worst, names(alone.rows)) == (None, ["b", "a"])
    assert alone.words[0].startswith("quality: b -3.0 points against w8; no published score")
    plain = known(score("a", 80), score("b", 70.25))
    assert plain.words[0].startswith("quality: a 80, b 70.25; no published score compares")
    assert plain.words[1].startswith("质量：a 80、b 70.25；未见")
    assert known().words[0].startswith("quality: no published score")


def test_relatives_speak_where_a_model_has_no_score_beside_its_weights(known):
    kin = score("k", 70, "fp8-block", 74, model="other", weights="Kin")
    named = score("n", 70, "fp8-block", 75, model=None, family="kin")
    far = score("s", 1, "fp8-block", 75, model="stranger")
    found = known(kin, named, far, score("a", 80))
    assert (found.worst, found.relative, names(found.relatives)) == (-5, True, ["k", "n"])
    assert names(found.rows) == ["a"]
    assert found.words[0] == "quality: n 70 against 75, -5.0 points of a relative (Weights)"
    own = known(kin, score("a", 80, "fp8-block", 81))
    assert (own.worst, own.relative) == (-1, False)
    assert known(kin, named, far, family=None).worst is None
    apart = known(score("k", 70, "w8", 74, model="other"), score("n", 70, model="other"))
    assert (apart.worst, apart.relative, names(apart.relatives)) == (None, False, ["k", "n"])


def test_of_a_format_with_wider_activations_that_with_the_same_weights_bounds_it(known):
    row = score("a", 70, "fp8-block", 74, precision="nvfp4")
    assert known(row, precision="nvfp4-w4a16").worst == -4
    assert known(row, precision="nvfp4").worst == -4
    assert known(score("a", 70, "fp8-block", 74, precision="nvfp4-w4a16"),
                 precision="nvfp4").worst is None


@pytest.mark.parametrize(("precision", "published", "is_published", "lossless"), [
    ("fp8-block", "fp8-block", True, True), ("bf16", "fp8-block", False, True),
    ("bf16", "mxfp4-w4a16", False, True), ("w4", "fp8-block", False, False),
    ("fp8-block", "bf16", False, False), ("w4", None, False, False),
    ("fp8-block-e8m0", "fp8-mxfp4", False, True)])
def test_published_weights_and_what_holds_every_number_of_them_lose_nothing(
        precision, published, is_published, lossless):
    found = Quality(precision, published)
    assert (found.is_published, found.lossless, found.within(0)) == (
        is_published, lossless, lossless)
    ends = "published weights" if is_published else "dequantised without loss"
    assert found.words[0].endswith(ends) == lossless


def test_without_published_weights_no_score_counts_beside_them(known):
    assert known(score("a", 70, "fp8-block", 74), published=None).worst is None
    assert published_precision(SimpleNamespace(weights=None)) is None
