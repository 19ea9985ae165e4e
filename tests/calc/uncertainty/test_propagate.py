"""Uncertain inputs through a function: its value, and ends beside those of its draws."""

import numpy as np
import pytest

from calc.uncertainty.amount import Amount
from calc.uncertainty.interval import NORMAL_90
from calc.uncertainty.propagate import propagate_uncertainty

DRAWS = 20_000
INPUTS = {"a": Amount(2.0, 1.0, 5.0), "b": Amount(4.0, 3.0, 4.5), "c": Amount(0.1, 0.0, 0.4),
          "d": 3.0}


def drawn(one, rng):
    """An input from a normal variable with its median and ends, apart on either side."""
    score = rng.standard_normal(DRAWS)
    end, far = np.where(score > 0, one.high, one.low), abs(score) / NORMAL_90
    return (one.value * (end / one.value) ** far if one.low > 0 else
            np.maximum(0, one.value + (end - one.value) * far))


@pytest.mark.parametrize("function", [
    lambda q: q["a"] * q["b"] / q["d"], lambda q: q["a"] + 10 * q["c"],
    lambda q: np.minimum(q["a"] * q["b"], 9.0), lambda q: q["d"] - q["c"] * q["b"],
    lambda q: 1 / (q["a"] + q["b"])], ids=["ratio", "sum", "limited", "difference", "inverse"])
def test_value_is_that_of_the_inputs_and_ends_are_quantiles_of_the_draws(function):
    rng = np.random.default_rng(1)
    sample = function({name: drawn(one, rng) if isinstance(one, Amount) else one
                       for name, one in INPUTS.items()})
    result = propagate_uncertainty(lambda q: {"it": function(q)}, INPUTS, {"it": "s"})["it"]
    assert result.low <= result.value <= result.high
    assert (sample < float(result.low)).mean() == pytest.approx(0.1, abs=0.05)
    assert (sample > float(result.high) * (1 + 1e-12)).mean() == pytest.approx(0.1, abs=0.1)
    assert result.value == function({name: one.value if isinstance(one, Amount) else one
                                     for name, one in INPUTS.items()})
    assert result.unit == "s"


def test_one_input_has_its_points_and_an_exact_one_none():
    product = propagate_uncertainty(lambda q: {"p": q["a"] * 5}, {"a": Amount(2.0, 1.0, 4.0)})["p"]
    assert product.points == (10, 5, 20)
    exact = {"a": 2.0, "b": Amount.exactly(3.0)}
    assert propagate_uncertainty(lambda q: {"sum": q["a"] + 1}, exact) == {
        "sum": Amount.exactly(3.0)}
    arrays = propagate_uncertainty(lambda q: {"x": q["a"] * np.ones((2, 3))},
                                   {"a": Amount(1.0, 0.5, 2.0)})["x"]
    assert arrays.low.shape == arrays.high.shape == (2, 3)


def test_both_ends_at_once_are_rarer_than_either():
    both = propagate_uncertainty(lambda q: {"p": q["a"] * q["b"]}, {
        "a": Amount(2.0, 1.0, 4.0), "b": Amount(5.0, 4.0, 6.0)})["p"]
    assert 4.0 < both.low < 5.0 < both.value < 20.0 < both.high < 24.0


def test_an_interval_has_no_value_outside_those_of_the_function():
    """Any of three inputs below 1 makes it a tenth, all of them together no less."""
    one = Amount(1.0, 0.5, 2.0)
    result = propagate_uncertainty(lambda q: {"least": np.where(
        (q["a"] < 1) | (q["b"] < 1) | (q["c"] < 1), 0.1, 1.0)}, dict.fromkeys("abc", one))["least"]
    assert (float(result.low), float(result.high)) == pytest.approx((0.1, 1.0))
