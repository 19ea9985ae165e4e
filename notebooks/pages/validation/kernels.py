"""Kernels of experts that were measured, beside what the law of an operator says of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import sympy

import catalogue
from catalogue.messages import messages
from notebooks.derive.formulas.symbols import symbol
from notebooks.show.display import table
from notebooks.show.numbers import fmt_fixed, fmt_percent

common = messages("common")
say = messages("pages/validation/kernels")

Law = Callable[[float, float, float], Any]  # of arithmetic, bytes and what is hidden; a time
CUT = 8  # slices of an expert in what was measured
SLICED = (("nvidia-h100", "fp8"), ("nvidia-h200", "fp8"), ("nvidia-h100", "bf16"),
          ("nvidia-h200", "bf16"))
STORED = {"bf16": 2, "fp8": 1}  # bytes of a weight
MODEL = "deepseek-v3"


def slices_beside_measured(half_lost: sympy.Expr, reached: sympy.Expr, width: sympy.Symbol,
                           law: Law) -> None:
    """Share of the peak that experts cut by eight reach: with many rows, by the law, measured.

    Args:
        half_lost: columns at which half of the share is lost.
        reached: share with many rows, of a slice of ``width`` columns.
        width: the symbol of its columns.
        law: of an operator.
    """
    table([_row(name, dtype, half_lost, reached, width, law) for name, dtype in SLICED],
          {"card": common("card-and-dtype"), "half": ("$w_0$", "$w_0$"),
           "whole": say("whole-expert"), "slice": say("slice-of-eighth"),
           "rows": common("rows-per-expert"), "law": say("by-law"), "measured": common("measured")})


def _row(name: str, dtype: str, half_lost: sympy.Expr, reached: sympy.Expr, width: sympy.Symbol,
         law: Law) -> dict[str, str]:
    """One card and dtype, the class with many rows."""
    entry = catalogue.load("microbenchmarks", name)
    card = catalogue.load_device(entry.device)
    shape = catalogue.model_inputs(catalogue.load_model(MODEL))
    whole = shape["moe_intermediate_size"]
    values = _values(card, dtype) | {"hidden_size": shape["hidden_size"]}
    at = {symbol(key): value for key, value in values.items()}
    rate = next(rate for rate in entry.rates if rate.kernel == "sliced-moe-block"
                and rate.dtype == dtype and rate.rate.unit == "FLOP/s")
    rows: list[int] = rate.rows
    peak = values["routed_expert_peak"]
    found = {key: float(reached.subs(at).subs(width, columns))
             for key, columns in (("whole", whole), ("slice", whole / CUT))}
    found["law"] = _by_law(values, dtype, whole / CUT, math.sqrt(rows[0] * rows[1]), law) / peak
    found["measured"] = rate.rate.value / peak
    return {"card": f"{card.name['en']}, {dtype.upper()}",
            "half": fmt_fixed(float(half_lost.subs(at)), 0), "rows": "–".join(map(str, rows)),
            **{key: fmt_percent(share, 0) for key, share in found.items()}}


def _by_law(values: dict[str, float], dtype: str, columns: float, rows: float, law: Law) -> float:
    """Operations over time of a block [FLOP/s], its weights read, with so many rows per expert."""
    d = values["hidden_size"]
    weights, bandwidth = 3 * d * columns, values["memory_bandwidth"]
    moved = rows * (2 * d + 3 * columns) * values["activation_element_bytes"]
    done = values["multiply_add_flops"] * weights * rows
    time = float(law(
        done / (values["routed_expert_peak"] * values["sliced_expert_gemm_efficiency"]),
        (weights * STORED[dtype] + moved) / (bandwidth * values["sliced_streaming_efficiency"]),
        values["load_overlap"])) + moved / (bandwidth * values["hbm_efficiency"])
    return done / time


def _values(card: Any, dtype: str) -> dict[str, float]:
    """The inputs of a card, by the names of their symbols (SI)."""
    priors = catalogue.load("mechanisms", card.mechanisms)
    return {"routed_expert_peak": getattr(card.matrix_peak, dtype).value,
            "sliced_expert_gemm_efficiency": getattr(priors.sliced_gemm_efficiency, dtype).value,
            "sliced_streaming_efficiency": priors.sliced_streaming_efficiency.value,
            "memory_bandwidth": card.memory_bandwidth.value,
            "hbm_efficiency": card.hbm_efficiency.value, "load_overlap": priors.load_overlap.value,
            "activation_element_bytes": 2, "multiply_add_flops": 2}
