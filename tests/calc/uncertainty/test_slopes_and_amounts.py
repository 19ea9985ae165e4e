"""Slopes of every operation held against differences, and what an amount is in other units."""


import numpy as np
import pytest

from calc.uncertainty.amount import Amount
from calc.uncertainty.gradient import Traced, slopes, traced
from catalogue.reading.values import Value

X, Y, STEP = 1.7, 0.6, 1e-6
FORMULAS = {
    "sum": lambda x, y: x + 3 * y, "difference": lambda x, y: x - 2 * y,
    "from a number": lambda x, y: 5 - x * y, "product": lambda x, y: x * y * x,
    "quotient": lambda x, y: x / y, "number over": lambda x, y: 7 / (x + y),
    "power": lambda x, y: x ** y, "cube": lambda x, y: x ** 3 + y, "base": lambda x, y: 2.5 ** x,
    "negative": lambda x, y: -x + y, "logarithm": lambda x, y: np.log2(x) * y,
    "exponential": lambda x, y: np.expm1(x * y), "larger": lambda x, y: np.maximum(2 * x, 3 * y),
    "larger second": lambda x, y: np.maximum(y, 3 * x * y),
    "smaller": lambda x, y: np.minimum(2 * x, 3 * y), "smaller first": lambda x, y: np.minimum(
        y, 3 * x), "clipped below": lambda x, y: np.clip(x * y, 2.0, 9.0),
    "clipped above": lambda x, y: np.clip(x * y, 0.1, 0.5), "clipped": lambda x, y: np.clip(
        x * y, y, 9.0 * x),
    "one way": lambda x, y: np.where(x > y, x * y, x - y),
    "other way": lambda x, y: np.where(x < y, x * y, x - 3 * y),
    "steps": lambda x, y: np.ceil(x) * y + np.floor(y) * x + x // y + (x % 7 > 1) * x,
    "used twice": lambda x, y: (x + y) * (x + y) / x,
}


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS)
def test_a_slope_is_what_a_small_step_changes(formula):
    found = slopes(formula(*(inputs := traced([X, Y]))), inputs)
    by_step = ((formula(X + STEP, Y) - formula(X - STEP, Y)) / (2 * STEP),
               (formula(X, Y + STEP) - formula(X, Y - STEP)) / (2 * STEP))
    assert [float(slope) for slope in found] == pytest.approx(by_step, rel=1e-6, abs=1e-8)


def test_each_deployment_of_an_array_has_a_slope_of_its_own():
    x, y = traced([np.array([1.0, 2.0, 3.0]), np.array([2.0, 2.0, 2.0])])
    found = slopes(np.where(np.array([True, False, True]), x * y, y * y), [x, y])
    assert [slope.tolist() for slope in found] == [[2, 0, 2], [1, 4, 3]]


def test_at_a_kink_the_side_of_the_first_argument_holds():
    x, y = traced([2.0, 2.0])
    assert slopes(np.maximum(3 * x, 3 * y), [x, y]) == [3, 0]
    assert slopes(np.minimum(3 * x, 3 * y), [x, y]) == [3, 0]


def test_what_nothing_followed_made_hangs_on_nothing():
    x, y = traced([2.0, 3.0])
    assert slopes(5.0, [x, y]) == [0, 0]
    assert slopes(x, [x, y]) == [1, 0]
    assert not isinstance(np.floor(x), Traced)
    assert not isinstance(x > y, Traced)


@pytest.mark.parametrize("unknown", [np.sin, np.cumsum, np.add.reduce, lambda x: np.add(
    x, x, dtype=float), lambda x: np.clip(x, 0, 1, casting="safe")])
def test_an_operation_without_a_rule_is_refused(unknown):
    with pytest.raises(TypeError):
        unknown(traced([np.array([1.0, 2.0])])[0])


# --- amounts ------------------------------------------------------------------------------------


PACE = Amount(3.0, 2.0, 7.0, "s", source="somebody")


def test_a_factor_moves_all_points_of_an_amount():
    found = PACE.scaled(10.0, "ms")
    assert (found.points, found.ends, found.unit, found.source) == (
        (30.0, 20.0, 70.0), (20.0, 70.0), "ms", "somebody")
    assert PACE.scaled(2).unit == "s"
    assert PACE.over(lambda number: number**2).points == (9.0, 4.0, 49.0)


def test_what_a_file_states_keeps_its_source_and_range():
    found = Amount.stated(Value(3, "USD/s", "3", "a list", "vendor", 2, 5, date="2026-01"))
    assert (found.points, found.unit, found.kind, found.source, found.date) == (
        (3.0, 2.0, 5.0), "USD/s", "vendor", "a list", "2026-01")
    assert found.currency == "USD"
