"""Baselines of predictions: rooflines, uncalibrated and with two numbers.

A roofline knows how many bytes a step reads and how many operations it makes, and what the data
sheet says of the card. A step takes the longer of bytes over bandwidth and operations over peak;
experts are those that uniform choices hit. There is no efficiency, no kernel boundary, no
dequantisation, no communication, no skew, no queue and no stall. Experts in host memory take the
longer of the same two on the host, before or after the card. The first token of c requests that
are prefilled one after another comes after (c + 1)/2 prompts on average.

The calibrated one has two numbers, fitted to rows by least squares of relative errors in closed
form: the share of the roofline that is reached, and a constant. For a first token it counts the
operations with weights only, the usual two per parameter and token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calc.evidence import validation
from calc.evidence.classes import UNCALIBRATED
from calc.evidence.systems import METRICS, System, measured_systems
from calc.evidence.validation import Predictions, Result, calibrations
from calc.physics.arrays import Number, select
from calc.physics.step import CLASSES
from calc.serving.evaluate import evaluate

# what a roofline does not know, taken out of the counting
PLAIN = {"routing_skew": 0.0, "even_routing": 1.0, "clock_spread": 0.0,
         "kv_imbalance": 1.0, "micro_batches": 1.0,
         "core_tile_rows": 1.0, "sparse_tile_rows": 1.0, "prefill_tile_rows": 1.0}
PARAMETERS = ("share", "constant")


def roofline_time(inputs: Mapping[str, Number], quantities: Mapping[str, Any], phase: str,
                  core: bool = True) -> Number:
    """The longer of bytes over bandwidth and operations over peak, of a step [s].

    >>> card = {"memory_bandwidth": 1e12, "offloaded_share": 0.0} | {
    ...     f"{name}_peak": 1e14 for name in CLASSES}
    >>> counts = {f"decode_{name}_{kind}": 0.0 for name in CLASSES for kind in ("bytes", "flops")}
    >>> counts |= {"decode_core_bytes": 2e9, "decode_head_flops": 1e11}
    >>> round(float(roofline_time(card, counts, "decode")), 6)  # 2 ms of bytes, 1 ms of operations
    0.002

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them, without skew and imbalance.
        phase: ``decode``, ``prefill`` or ``burst``.
        core: whether the attention core counts.

    Source: notebooks/validation.md, section How an error is measured.
    """
    counted = [name for name in CLASSES if core or name not in ("core", "index")]
    read = sum(quantities[f"{phase}_{name}_bytes"] for name in counted)
    computing = sum(quantities[f"{phase}_{name}_flops"] / inputs[f"{name}_peak"]
                    for name in counted)
    card: Number = np.maximum(read / inputs["memory_bandwidth"], computing)
    if not np.any(inputs["offloaded_share"]):
        return card
    weights = (inputs["offloaded_share"] * quantities["moe_layers"]
               * quantities["routed_expert_parameters"])
    loaded = weights * quantities[f"{phase}_distinct_experts"] * inputs["offloaded_weight_bytes"]
    multiplied = (inputs["multiply_add_flops"] * weights * inputs["num_experts_per_tok"]
                  * quantities[f"{phase}_group_tokens"])
    on_host: Number = np.maximum(loaded / inputs["host_memory_bandwidth"],
                                 multiplied / inputs["host_peak"])
    return card + on_host


def roofline(system: System, rows: np.ndarray, core: bool = True) -> dict[str, np.ndarray]:
    """What a roofline says of measured rows; nothing is fitted.

    Args:
        system: what was measured.
        rows: indices.
        core: whether prefill counts the attention core.

    Returns tpot, ttft and e2e [s], output_throughput and prefill_throughput [token/s], each of
    shape (rows,).

    Source: notebooks/validation.md, section How an error is measured.
    """
    inputs = system.at(rows) | PLAIN
    quantities = evaluate(inputs, system.scenario.model.attention)
    tpot = roofline_time(inputs, quantities, "decode") / quantities["tokens_per_step"]
    prompt = quantities["prompt_chunks"] * roofline_time(inputs, quantities, "prefill", core)
    ttft = (quantities["requests_per_rank"] + 1) / 2 * prompt
    e2e = ttft + (inputs["output_tokens"] - 1) * tpot
    # a decode pool of its own holds a request for its output tokens only
    busy = select(np.greater(inputs["separate_pools"], 0), inputs["output_tokens"] * tpot, e2e)
    times = {"tpot": tpot, "ttft": ttft, "e2e": e2e,
             "output_throughput": inputs["concurrency"] * inputs["output_tokens"] / busy,
             "prefill_throughput": inputs["data_parallel"] * quantities["burst_tokens"]
             / roofline_time(inputs, quantities, "burst", core)}
    return {name: np.broadcast_to(np.asarray(value, float), rows.shape)
            for name, value in times.items()}


def fit_line(bounds: np.ndarray, measured: np.ndarray) -> tuple[float, float]:
    """Share [1] and constant [s] of the calibrated roofline: t = bound / share + constant.

    Least squares of relative errors, in closed form; neither number is held to a range.

    >>> share, constant = fit_line(np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 9.0]))
    >>> round(share, 6), round(constant, 6)
    (0.5, 1.0)

    Args:
        bounds: what the roofline says of the rows [s].
        measured: what was measured [s].

    Raises ValueError for fewer than two rows.

    Source: notebooks/validation.md, section How an error is measured.
    """
    if len(measured) < 2:
        raise ValueError(f"{len(measured)} rows, expected at least 2 for two numbers")
    columns = np.stack([bounds / measured, 1 / measured], axis=1)
    slope, constant = np.linalg.lstsq(columns, np.ones(len(measured)), rcond=None)[0]
    return float(1 / slope), float(constant)


def held_out(system: System, metric: str, protocol: str, rows: np.ndarray | None = None,
             core: bool | None = None) -> Predictions:
    """Rows that the calibrated roofline was not fitted to, under a protocol; without intervals.

    Args:
        system: what was measured.
        metric: ``tpot`` or ``ttft``.
        protocol: one of ``validation.PROTOCOLS``.
        rows: indices, all measured ones unless given.
        core: whether prefill counts the attention core; not for a first token unless given.
    """
    measured = system.rows[metric]
    bounds = roofline(system, np.arange(len(measured)), metric != "ttft" if core is None else core)

    def predict(fitted: np.ndarray, left_out: np.ndarray) -> tuple[Any, Any, Any, Any]:
        share, constant = line = fit_line(bounds[metric][fitted], measured[fitted])
        centre = bounds[metric][left_out] / share + constant
        return line, centre, centre, centre

    return validation.held_out(system, metric, protocol, predict, rows)


def results() -> list[Result]:
    """What ``calc.evidence.validation.results`` has, in its order, as the rooflines predict it."""
    plain = [Result(case.id, metric, UNCALIBRATED, (), Predictions(
        rows, case.rows[metric][rows], bound, bound, bound))
             for case in measured_systems() for metric in METRICS
             if len(rows := case.measured(metric)) for bound in [roofline(case, rows)[metric]]]
    return plain + [Result(case.id, chosen.metric, protocol, PARAMETERS,
                           held_out(case, chosen.metric, protocol, rows),
                           left_out=tuple(chosen.without))
                    for chosen, protocol, case, rows in calibrations()]
