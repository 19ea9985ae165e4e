"""Elasticities of the formulas: finite differences, the runtime's, and dimensional analysis."""

from functools import cache

import numpy as np
import pytest

import calc
import catalogue
from catalogue.reading import units
from notebooks.derive.crosscheck import crosscheck_slopes
from notebooks.derive.formulas.derivatives import gradient, local
from notebooks.derive.formulas.exported import DerivationError, load_formulas, select

TIMES = ("tpot", "ttft", "output_throughput")
QUANTITIES = (*TIMES, "memory_per_device")
SAMPLE = ("h200-v32-vllm-dp8", "s3-hybrid-910b4", "wide-lmsys-decode-mtp")
FINE = 1e-6
STEP = 1e-5  # of a central difference, whose error is of the order of its square


@cache
def inputs_of(name):
    scenario = catalogue.load_scenario(name)
    return scenario.inputs(), scenario.model.attention


@cache
def answers(name, quantity):
    inputs, attention = inputs_of(name)
    by = tuple(calc.elasticities(inputs, attention, [quantity])[quantity])
    found = gradient(select(load_formulas(), attention), inputs, quantity, by)
    return {key: found.slopes.get(key, 0.0) * inputs[key] / found.value for key in by}


@cache
def differences(name):
    """By quantity and input, the central difference of logarithms of the runtime's formulas."""
    inputs, attention = inputs_of(name)
    keys = list(answers(name, "tpot"))
    points = {key: np.full(2 * len(keys), float(inputs[key])) for key in keys}
    for place, key in enumerate(keys):
        points[key][2 * place:2 * place + 2] *= np.exp([-STEP, STEP])
    found = calc.evaluate(inputs | points, attention)
    return {quantity: dict(zip(keys, np.diff(np.log(np.broadcast_to(
        found[quantity], 2 * len(keys))).reshape(-1, 2), axis=1)[:, 0] / (2 * STEP), strict=True))
        for quantity in QUANTITIES}


def kinked(name, quantity, key):
    """Whether another piece of a formula holds a step to the left than to the right."""
    inputs, attention = inputs_of(name)
    formulas = select(load_formulas(), attention)
    ends = (gradient(formulas, {**inputs, key: float(inputs[key]) * np.exp(move)}, quantity, [key])
            for move in (-STEP, STEP))
    return len({tuple(sorted(end.pieces.items())) for end in ends}) > 1


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_elasticities_equal_finite_differences_except_at_kinks(name, quantity):
    exact, numeric = answers(name, quantity), differences(name)[quantity]
    off = [key for key in exact if abs(exact[key] - numeric[key]) > FINE]
    assert [key for key in off if not kinked(name, quantity, key)] == []
    assert len(off) <= 3
    assert sum(abs(value) > 0.01 for value in exact.values()) >= 4


@pytest.mark.parametrize("name", SAMPLE)
def test_elasticities_of_formulas_and_runtime_agree(name):
    inputs, attention = inputs_of(name)
    found = crosscheck_slopes(inputs, attention, (*QUANTITIES, "headroom_per_device"))
    assert found.keys() == {*QUANTITIES, "headroom_per_device"}


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize(("quantity", "unit"), [
    ("tpot", "s"), ("ttft", "s"), ("output_throughput", "1/s"), ("memory_per_device", "B")])
def test_elasticities_sum_to_the_dimension_of_the_quantity(name, quantity, unit):
    """In other units of time, data or work nothing changes but the numbers.

    So inputs that hold the unit, each as often as it does, have elasticities that add up to what
    the quantity has of it: all rates of a deployment twice and all its waits half is half the time.
    """
    known = catalogue.symbols()
    of = units.dimensions(unit)
    powers = {key: units.dimensions(known[key].unit) for key in answers(name, quantity)}
    for dimension in ("time", "information", "operation"):
        total = sum(powers[key].get(dimension, 0) * value
                    for key, value in answers(name, quantity).items())
        assert total == pytest.approx(of.get(dimension, 0), abs=1e-9)


def test_local_tree_keeps_the_active_piece():
    tree = ["piecewise", [["lt", "a", 2], ["ceil", "a"]],
            ["max_over", "stage", 3, ["multiply", "stage", "a"]]]
    assert local(tree, {"a": 1.5}) == 2
    assert local(tree, {"a": 2.5}) == ["multiply", 2, "a"]
    assert local(["sum_over", "stage", 2, ["add", "stage", "a"]], {"a": 1}) == [
        "add", ["add", 0, "a"], ["add", 1, "a"]]


def test_unknown_quantity_is_refused():
    with pytest.raises(DerivationError, match="no formula of 'speed'"):
        gradient({}, {}, "speed")
