"""Baselines of predictions: rooflines, uncalibrated and with two numbers, and models less a term.

A roofline knows how many bytes a step reads and how many operations it makes, and what the data
sheet says of the card. A step takes the longer of bytes over bandwidth and operations over peak;
experts are those that uniform choices hit. There is no efficiency, no kernel boundary, no
dequantisation, no communication, no skew, no queue and no stall. Experts in host memory take the
longer of the same two on the host, before or after the card. The first token of c requests that
are prefilled one after another comes after (c + 1)/2 prompts on average.

The calibrated one has two numbers, fitted to rows by least squares of relative errors in closed
form: the share of the roofline that is reached, and a constant. For a first token it counts the
operations with weights only, the usual two per parameter and token.

An ablation switches a term off and fits the calibration again, on the same rows held out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.evidence import validation
from calc.evidence.classes import UNCALIBRATED
from calc.evidence.systems import METRICS, System, measured_systems
from calc.evidence.validation import PROTOCOLS, Predictions, Result, calibrations, seeds_of
from calc.physics.arrays import Number, select
from calc.physics.step import CLASSES
from calc.serving.evaluate import evaluate
from catalogue.entries.formulas import neutral

# what a roofline does not know, taken out of the counting
PLAIN = {"routing_skew": 0.0, "even_routing": 1.0, "clock_spread": 0.0,
         "kv_imbalance": 1.0, "micro_batches": 1.0,
         "core_tile_rows": 1.0, "sparse_tile_rows": 1.0, "prefill_tile_rows": 1.0}
PARAMETERS = ("share", "constant")
SEEDS = 40
STALL, POOLS = "stall", "separate_pools"  # with pools of their own no prompt stalls a decode
# a term -> the inputs that switch it off; without boundaries between kernels a path for one token
# has none to save
TERMS = {
    "dequantisation": ("dequantisation_traffic",), "single_token_path": ("single_token_path",),
    STALL: (POOLS,), "routing_skew": ("routing_skew",),
    "kernel_boundary": ("kernel_boundary", "single_token_path"), "host_gap": ("host_gap_per_step",),
}


@dataclass(frozen=True)
class Line:
    """A calibrated roofline.

    Attributes:
        share: of the roofline that is reached [1].
        constant: that every row pays [s].
    """

    share: float
    constant: float


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


def fit_line(bounds: np.ndarray, measured: np.ndarray) -> Line:
    """Share and constant of the calibrated roofline: t = bound / share + constant.

    Least squares of relative errors, in closed form; neither number is held to a range.

    >>> line = fit_line(np.array([1.0, 2.0, 4.0]), np.array([3.0, 5.0, 9.0]))
    >>> round(line.share, 6), round(line.constant, 6)
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
    return Line(float(1 / slope), float(constant))


def held_out(system: System, metric: str, protocol: str, rows: np.ndarray | None = None,
             core: bool | None = None) -> Predictions:
    """Rows that the calibrated roofline was not fitted to, under a protocol; without intervals.

    Args:
        system: what was measured.
        metric: ``tpot`` or ``ttft``.
        protocol: one of ``protocols.PROTOCOLS``.
        rows: indices, all measured ones unless given.
        core: whether prefill counts the attention core; not for a first token unless given.
    """
    rows = system.measured(metric) if rows is None else rows
    with_core = metric != "ttft" if core is None else core
    bounds = np.full(len(system.rows[metric]), np.nan)
    bounds[rows] = roofline(system, rows, with_core)[metric]
    measured = system.rows[metric]
    splits = list(PROTOCOLS[protocol](system, rows))
    lines = [fit_line(bounds[fitted], measured[fitted]) for fitted, _ in splits]
    row = np.concatenate([left_out for _, left_out in splits])
    centre = np.concatenate([bounds[left_out] / line.share + line.constant
                             for line, (_, left_out) in zip(lines, splits, strict=True)])
    return replace(_without_intervals(system, metric, row, centre), seeds=seeds_of(protocol))


def uncalibrated(system: System, metric: str, rows: np.ndarray | None = None) -> Predictions:
    """Rows as the uncalibrated roofline says them; without intervals.

    Args:
        system: what was measured.
        metric: one of ``systems.METRICS``.
        rows: indices, all measured ones unless given.
    """
    rows = system.measured(metric) if rows is None else rows
    return _without_intervals(system, metric, rows, roofline(system, rows)[metric])


def _without_intervals(system: System, metric: str, rows: np.ndarray,
                       centre: np.ndarray) -> Predictions:
    return Predictions(rows, system.rows[metric][rows], centre, centre, centre)


def results() -> list[Result]:
    """What ``calc.evidence.validation.results`` has, in its order, as the rooflines predict it."""
    plain = [Result(case.id, metric, UNCALIBRATED, (), uncalibrated(case, metric))
             for case in measured_systems() for metric in METRICS if len(case.measured(metric))]
    return plain + [Result(case.id, chosen.metric, protocol, PARAMETERS,
                           held_out(case, chosen.metric, protocol, rows),
                           left_out=tuple(chosen.without))
                    for chosen, protocol, case, rows in calibrations()]


def off(term: str) -> dict[str, float]:
    """The inputs (SI) with which a term does nothing.

    >>> off("kernel_boundary")
    {'kernel_boundary': 0.0, 'single_token_path': 0.0}

    Args:
        term: of ``TERMS``, or any input that ``params/symbols.yml`` gives a neutral value.
    """
    if term == STALL:
        return {POOLS: 1.0}
    return {name: float(neutral()[name]) for name in TERMS.get(term, (term,))}


def ablate(system: System, names: Sequence[str], seeds: int = SEEDS,
           terms: Sequence[str] = tuple(TERMS)) -> dict[str, Predictions]:
    """Time per output token, held out by random halves, with all terms and without each in turn.

    What is left of the mechanisms is fitted again, so that the others may take a term's place. A
    mechanism that is switched off is not fitted.

    Args:
        system: what was measured, a wave of equal requests.
        names: mechanisms that the calibration fits.
        seeds: how many halves, those of the seeds 0, 1, ... [1].
        terms: to leave out, each as :func:`off` takes it.

    Returns predictions by term; first those with all of them, under ``""``.

    Source: notebooks/validation.md, section Without one term.
    """
    rows = system.measured("tpot")
    without: dict[str, dict[str, float]] = {"": {}} | {term: off(term) for term in terms}
    return {term: validation.held_out(system.with_inputs(inputs), "tpot", "halves", [
        name for name in names if name not in inputs], rows, most=seeds)
        for term, inputs in without.items()}
