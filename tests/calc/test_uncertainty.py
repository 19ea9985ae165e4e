"""Amounts, intervals and the draws behind them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc.uncertainty import (
    Amount,
    interval_score,
    normal_interval,
    propagate_uncertainty,
    quantiles,
    width,
)
from catalogue.deployments.physics_inputs import NORMAL_90

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


LEVEL = 0.8  # of the intervals: 10% lie beyond each end
positive = st.floats(1e-3, 1e3)


def score(low, high, seen):
    return interval_score(np.array([low]), np.array([high]), np.array([seen]))


@pytest.mark.parametrize(("seen", "missed"), [
    (2.0, 0), (1.0, 0), (4.0, 0),  # inside, and on either end
    (0.5, math.log(2)), (8.0, math.log(2)), (0.25, math.log(4)), (16.0, math.log(4)),
])
def test_interval_score_by_hand(seen, missed):
    """Of the interval 1 to 4: Gneiting and Raftery (2007), equation 43, in logarithms."""
    assert score(1.0, 4.0, seen) == pytest.approx(math.log(4) + 2 / (1 - LEVEL) * missed)


@given(positive, positive, positive)
def test_a_wider_interval_never_pays_where_the_narrower_one_holds(low, more, seen):
    high = low * (1 + more)
    if low <= seen <= high:
        assert score(low / 2, high, seen) > score(low, high, seen)
        assert score(low, high * 2, seen) > score(low, high, seen)


@given(positive, st.floats(0.01, 2))
def test_a_normal_interval_is_centred_in_logarithms_and_as_wide_as_its_deviation(middle, deviation):
    low, high = normal_interval(np.array([middle]), np.array([deviation]))
    assert float(low[0] * high[0]) == pytest.approx(middle**2)
    assert math.log(width(low, high)) == pytest.approx(2 * 1.2815515655446004 * deviation)


# --- ends of an interval ------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(8))
def test_the_ends_of_a_sum_are_those_of_its_draws(seed):
    """Between 5 and 15% of the draws lie beyond either end."""
    draw = np.random.default_rng(seed)
    count = int(draw.integers(2, 40))
    down, up = -draw.lognormal(-2.5, 1, count), draw.lognormal(-2.5, 1, count)
    low, high = quantiles(np.stack([down, up], axis=1)[:, :, None])
    scores = draw.standard_normal((50_000, count)) / NORMAL_90
    drawn = np.where(scores < 0, -scores * down, scores * up).sum(axis=1)
    assert 0.05 <= float((drawn < low[0]).mean()) <= 0.15
    assert 0.05 <= float((drawn > high[0]).mean()) <= 0.15


# --- deployments --------------------------------------------------------------------------------
