"""Residual analysis of a law: switches of kernels, trends and scatter in synthetic tables."""

from __future__ import annotations

import numpy as np
import pytest

from calc.kernels.fitting import halves
from calc.kernels.missing import explained

ROWS = 2.0 ** np.arange(14)
OUT = 128.0 * np.array([1, 2, 4, 8, 16, 24, 56, 112])
DEPTH = 128.0 * np.array([1, 4, 12, 16, 56, 128])
GEMM = dict(zip(("rows", "columns", "depth"), (
    each.ravel() for each in np.meshgrid(ROWS, OUT, DEPTH)), strict=True))
DEEP, HIGH = GEMM["depth"] >= 2048, GEMM["rows"] >= 64
WEIGHTS = GEMM["columns"] * GEMM["depth"]


def cause(factor, noise=0.02, seed=1, columns=GEMM, operator="gemm"):
    """Explain times that lie beside a law by a factor [1] and noise."""
    spread = noise * np.random.default_rng(seed).standard_normal(len(columns["rows"]))
    return explained(operator, columns, np.exp(-spread) / factor, halves(list(columns.values())))


@pytest.mark.parametrize(("inside", "column", "first", "last"), [
    (HIGH, "rows", 64, None), (np.isin(GEMM["rows"], (128, 256)), "rows", 128, 256),
    # as where weights no longer stay in a cache: in outputs times inputs
    (WEIGHTS >= 2**22, "weights", WEIGHTS[WEIGHTS >= 2**22].min(), None)])
def test_switch_is_found_with_its_ends_and_factor(inside, column, first, last):
    missed = cause(np.where(inside, 1.6, 1))
    (switch,) = missed.switches
    assert (switch.column, switch.first, switch.last, switch.where) == (column, first, last, None)
    assert switch.factor == pytest.approx(1.6, rel=0.03)
    assert (missed.rest, missed.how) == (None, None)


def test_two_switches_and_no_more():
    factor = np.where(GEMM["rows"] >= 512, 2, 1) * np.where(DEEP, 1.5, 1)
    assert {(each.column, each.first) for each in cause(factor).switches} == {
        ("rows", 512), ("depth", 2048)}
    more = cause(factor * np.where(GEMM["columns"] >= 2048, 1.8, 1))
    assert len(more.switches) == 2
    assert more.rest is not None


@pytest.mark.parametrize("power", [-0.15, 0.1])
def test_gradual_lean_is_a_trend(power):
    """Although half of the table lies above the other half, by a factor."""
    missed = cause((GEMM["rows"] / 90) ** power)
    assert (missed.switches, missed.how, missed.rest.column) == ((), "trend", "rows")
    assert missed.rest.factor == pytest.approx(8192**power, rel=0.1)


@pytest.mark.parametrize("seed", [0, 1])
def test_noise_is_scatter(seed):
    missed = cause(1, 0.15, seed)
    assert (missed.switches, missed.how) == ((), "scatter")
    assert missed.rest.factor == pytest.approx(np.exp(0.674 * 0.15 * 2**0.5), rel=0.05)


def test_law_within_its_bars_has_no_cause():
    assert cause(np.where(HIGH, 1.06, 1)) is None
    assert cause(3.0, 0.3, operator="two_ways") is None  # an operator without columns
