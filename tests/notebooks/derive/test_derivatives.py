"""Elasticities of the runtime equal SymPy's derivatives of the formulas."""

from functools import cache

import pytest

import calc
import catalogue
from notebooks.derive.crosscheck import DIFFERENCES
from notebooks.derive.formulas.exported import load_formulas, select
from reference.slopes import gradient

QUANTITIES = ("tpot", "ttft", "output_throughput", "memory_per_device", "headroom_per_device")
SAMPLE = ("h200-v32-vllm-dp8", "s3-hybrid-910b4", "wide-lmsys-decode-mtp")
ASIDE = 1e-4  # relative, to either side of a kink: beyond the move of the runtime
TOLERANCE = 1e-6


@cache
def inputs_of(name):
    scenario = catalogue.load_scenario(name)
    return scenario.inputs(), scenario.model.attention


@cache
def runtime(name):
    return calc.elasticities(*inputs_of(name), QUANTITIES)


def derived(name, quantity, by, key=None, move=0.0):
    """Return elasticities of the formulas and the pieces that hold, at a changed input."""
    inputs, attention = inputs_of(name)
    inputs = inputs | ({key: float(inputs[key]) * (1 + move)} if key else {})
    result = gradient(select(load_formulas(), attention), inputs, quantity, by)
    scale = 1.0 if quantity in DIFFERENCES else result.value
    return {each: result.slopes.get(each, 0.0) * float(inputs[each]) / scale
            for each in by}, result.pieces


@pytest.mark.parametrize("name", SAMPLE)
@pytest.mark.parametrize("quantity", QUANTITIES)
def test_elasticities_of_formulas_and_runtime_agree(name, quantity):
    """At a kink, the runtime may have any slope between those of both sides."""
    theirs = runtime(name)[quantity]
    ours, _ = derived(name, quantity, theirs)
    tolerance = TOLERANCE * max(map(abs, ours.values()))
    for key, value in theirs.items():
        if abs(value - ours[key]) > tolerance:
            (low, left), (high, right) = (derived(name, quantity, [key], key, move)
                                          for move in (-ASIDE, ASIDE))
            low, high = sorted((low[key], high[key]))
            assert left != right, key
            assert low - ASIDE * abs(low) - tolerance <= value, key
            assert value <= high + ASIDE * abs(high) + tolerance, key
    assert sum(abs(value) > 0.01 for value in theirs.values()) >= 4
