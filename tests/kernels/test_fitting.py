"""Fits of laws: they recover the values of a synthetic table, and judge on rows kept apart."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import matmuls
from kernels.fitting import Bounds, Law, fit, halves

CARD = {"peak": 1979e12, "bandwidth": 4.8e12, "weight_bytes": 1.0, "hbm_efficiency": 0.88,
        "gemm_tile_rows": 16.0, "expert_tile_rows": 16.0, "kernel_boundary": 2e-6,
        "operators_per_layer": 28.0, "reference_operators": 28.0}
TRUE = {"gemm_efficiency": 0.7, "matmul_latency": 4e-6, "depth_latency": 6e-10,
        "activation_traffic": 4.0}
LINE = Law("unnamed", {"latency": Bounds(2.0, 0.1, 90.0), "slope": Bounds(3.0, 0.1, 90.0)},
           lambda columns, values: values["latency"] + values["slope"] * columns["size"])
FIRST = np.array([True, True, True, False])


def dense_columns():
    rows, out, depth = (grid.ravel() for grid in np.meshgrid(
        2.0 ** np.arange(14), [512.0, 2112, 7168, 24576], [256.0, 1536, 2048, 7168]))
    return {"rows": rows, "columns": out, "depth": depth}


def fitted(noise):
    columns = dense_columns()
    spread = np.exp(noise * np.random.default_rng(1).standard_normal(len(columns["rows"])))
    kinds = (columns["columns"] * 10_000 + columns["depth"]).astype(int)
    return fit(matmuls.DENSE, {**columns, **CARD},
               matmuls.DENSE.time({**columns, **CARD}, TRUE) * spread,
               halves(list(columns.values())), columns["rows"], kinds)


def test_fit_recovers_the_values():
    found = fitted(0.0)
    assert found.values == pytest.approx(TRUE, rel=1e-3)
    assert found.errors.most < 1e-3


def test_errors_are_those_of_the_noise():
    """Regions have the rows that judge, and no other."""
    found = fitted(0.1)
    assert found.errors.median == pytest.approx(0.067, rel=0.3)
    assert found.values == pytest.approx(TRUE, rel=0.2)
    assert all(low < found.values[name] < high for name, (low, high) in found.ranges.items())
    assert sum(errors.rows for errors in found.regions.values()) == found.errors.rows
    assert found.fitted + found.errors.rows == len(dense_columns()["rows"])


def test_fit_needs_one_row_more_than_parameters():
    size = np.array([1.0, 2, 3, 4])
    time, kinds = 2 + 7 * size, np.zeros(4, int)
    with pytest.raises(ValueError, match="2 shapes are too few for 2 parameters"):
        fit(LINE, {"size": size}, time, np.array([1, 1, 0, 0], bool), size, kinds)
    found = fit(LINE, {"size": size}, time, FIRST, size, kinds)
    assert found.values == pytest.approx({"latency": 2, "slope": 7}, rel=1e-3)
    assert (found.fitted, found.errors.rows) == (3, 1)
