"""Statements of a file of fits, read back as YAML: values in their units, ranges and errors."""

from __future__ import annotations

import yaml

from kernels.fitting import Bounds, Errors, Fitted, Law
from kernels.writing import FittedTable, text

OVERLAP = Bounds(0.5, 0.25, 0.75)
DENSE = Fitted(
    Law("gemm", {}, lambda columns, values: columns["rows"], {"load_overlap": OVERLAP}),
    {"gemm_efficiency": 0.7864, "matmul_latency": 3.456e-6, "activation_traffic": 2.0},
    {"gemm_efficiency": (0.63, 1.2), "matmul_latency": (3.5e-6, 4e-6),
     "activation_traffic": (1.0, 1.5)},
    12,
    Errors(34, -0.0123, 0.0806, 0.2), {1: Errors(4, 0.5, 0.25, 1.5), 16: Errors(30, 0, 0, 0)})
GEMM = FittedTable("0.9.1", "gemm", 'k "q"', "fp8-block", "fp8", DENSE)


def statements(*tables):
    return yaml.safe_load(text("vllm", "nvidia-hopper", {"en": "a", "zh": "甲"}, "of", "mine",
                               "2026-10", tables))["statements"]


def test_dense_law():
    """Three digits; no share is above one, and no value outside of its own ends."""
    (found,) = statements(GEMM)
    assert found["mechanisms"] == {
        "gemm_efficiency.fp8": {"value": 0.786, "range": [0.63, 1]},
        "matmul_latency.fp8": {"value": "3.46 us", "range": ["3.46 us", "4 us"]},
        "activation_traffic.fp8": {"value": "2 B", "range": ["1 B", "2 B"]},
        "load_overlap": {"value": 0.5, "range": [0.25, 0.75]}}
    (measured,) = found["measured"]
    assert (measured["kernel"], measured["fitted"]) == ('k "q"', 12)
    assert measured["judged"] == {"rows": 34, "leaning": -0.012, "median": 0.081, "most": 0.2}
    assert measured["regions"][1] == {"rows": 4, "leaning": 0.5, "median": 0.25, "most": 1.5}
