"""What was predicted blind stands beside the same rows as they are predicted now."""

from types import SimpleNamespace

import numpy as np
import pytest

from notebooks.pages.validation import blind

CARDS = 8


def predictions(row, measured, predicted, low, high):
    return SimpleNamespace(row=np.array(row), **{
        name: CARDS * np.array(values, float) for name, values in (
            ("measured", measured), ("predicted", predicted), ("low", low), ("high", high))})


@pytest.fixture
def pairs():
    """Three rows of a wide deployment, of which the second was not predicted blind; one other."""
    system = SimpleNamespace(
        inputs={"data_parallel": 4, "tensor_parallel": 2, "pipeline_parallel": 1},
        rows={"concurrency": np.array([8, 16, 32.0]), "input_tokens": np.array([1, 2, 3.0])})
    now = predictions([0, 1, 2], [100, 150, 200], [110, 150, 100], [90, 90, 90], [120, 160, 120])
    then = predictions([0, 2], [100, 200], [150, 210], [105, 190], [160, 220])
    result = SimpleNamespace(system="wide-rtp-decode", metric="output_throughput",
                             predictions=now, blind=then)
    other = SimpleNamespace(system="h800-profile-decode")
    return blind.pairs([other, result], {"wide-rtp-decode": system})


def test_rows_are_per_card_and_of_the_right_family(pairs):
    assert [pair.measured for pair in pairs] == [100, 150, 200]
    assert [pair.requests for pair in pairs] == [1, 2, 4]
    assert {pair.family for pair in pairs} == {"wide-rtp"}
    assert blind.find(pairs, "wide-rtp-decode", 2).blind == (210, 190, 220)
    with pytest.raises(LookupError, match="no row 3 of wide-rtp-decode"):
        blind.find(pairs, "wide-rtp-decode", 3)


def test_errors_then_and_now_are_of_the_same_rows(pairs):
    assert blind.errors(pairs, "then") == pytest.approx([0.5, 0.05])
    assert blind.errors(pairs, "now") == pytest.approx([0.1, -0.5])
    assert blind.median(pairs, "then") == pytest.approx(0.275)
    assert (blind.inside(pairs, "then"), blind.inside(pairs, "now")) == (0.5, 0.5)


def test_a_ratio_is_of_each_prediction_alone(pairs):
    found = blind.ratio(("a", "甲"), pairs[2], pairs[0])
    assert (found.measured, found.then, found.now) == pytest.approx((2, 1.4, 100 / 110))


def test_a_table_has_every_row_and_a_dash_where_nothing_was_predicted(pairs, monkeypatch):
    shown = []
    monkeypatch.setattr(blind, "table", lambda rows, columns, **options: shown.append(list(rows)))
    blind.every_row(pairs, str)
    assert [row["then"] for row in shown[0]] == ["150 (+50%)", "–", "210 (+5%)"]


@pytest.mark.parametrize("lang", [0, 1])
def test_a_picture_has_measured_then_and_now(pairs, lang):
    axes, = blind.by_batch(pairs, lang).axes
    labels = {text.get_text() for text in axes.get_legend().get_texts()}
    assert labels == {of[lang] for of in blind.LABELS.values()}
