"""Counted shapes beside published numbers: bars, digits that are written, and stored tensors."""

import pytest

import catalogue
from calc.answer.published import Beside, stored_parameters
from catalogue.reading.values import Value


def beside(ours, theirs, written=None, quantity="bytes"):
    return Beside(quantity, "one", ours, Value(
        theirs, "1", written or str(theirs), "nobody", "vendor", theirs, theirs))


@pytest.mark.parametrize(("quantity", "bar"), [
    ("parameters", 1e-3), ("bytes", 1e-2), ("token", 1e-3), ("request", 2e-2)])
@pytest.mark.parametrize("side", [-1, 1])
def test_difference_beyond_its_bar(quantity, bar, side):
    far, near = (beside(1e6 * (1 + side * bar * share), 1e6, quantity=quantity)
                 for share in (1.01, 0.99))
    assert (far.beyond, near.beyond) == (True, False)
    assert far.difference == pytest.approx(side * bar * 1.01)


@pytest.mark.parametrize(("written", "half"), [
    ("671e9", 0.5e9), ("36.7e9", 0.05e9), ("65.2 GB", 0.05e9), ("7", 0.5), ("1.25e3 GB", 5e9)])
def test_rounded_within_half_of_the_last_digit_written(written, half):
    assert beside(100e9 - 0.99 * half, 100e9, written).rounded
    assert not beside(100e9 + 1.01 * half, 100e9, written).rounded


def test_prediction_layer_is_stored_with_copies_of_embedding_and_head():
    assert stored_parameters(catalogue.load_model("deepseek-v3")) == 684_531_386_000
    assert stored_parameters(catalogue.load_model("llama-3.1-8b")) == 8_030_261_248
