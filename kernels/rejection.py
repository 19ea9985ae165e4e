"""Fixed times of laws that contradict other laws or measured steps, and what is used instead.

A law is judged on the table that it was fitted to, which cannot tell whether the table timed what
serving runs: one measured outside of graphs, or of a fallback kernel, fits as well as any. Two
rules find such tables. With one token a law's fixed time is at least twice that of the release
beside it; or the laws of a whole step, each at its shortest, add up to more than a step that was
measured under the same engine. What such a law says of many tokens stands.

Source: notebooks/validation.md, section Laws that are rejected.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from calc.kernels.law import Column
from calc.kernels.matmuls import ACTIVATION_BYTES, expert_bytes
from calc.kernels.rows.of_every_operator import FORMATS, of_card
from calc.kernels.writing import Table, named_values
from calc.serving.evaluate import evaluate
from catalogue import library
from catalogue.deployments.measured import deployment_of
from catalogue.engines.released import AT
from catalogue.entries.hardware import Device
from catalogue.entries.measurements import MeasuredStep, StepBounds
from catalogue.entries.mechanisms import Mechanisms
from catalogue.entries.profiles import Rejected, in_order
from catalogue.reading.amounts import human
from catalogue.tables import LATENT, ROTATED

TWICE = 2.0  # of the fixed time of a neighbour, from which on a law is rejected
# shapes of DeepSeek-V3 on eight ranks: the down projection of its shared expert, its experts whole
# and in slices, its core with one request
DOWN = {"rows": 1.0, "columns": 7168.0, "depth": 256.0}
EXPERTS = {"tokens": 1.0, "n_routed_experts": 256.0, "num_experts_per_tok": 8.0,
           "hidden_size": 7168.0}
CUTS = {"whole": {"expert_parallel": 8.0, "inside": 2048.0, "expert_rows": 1.0,
                  "experts_read": 1.0},
        "slices": {"expert_parallel": 1.0, "inside": 256.0, "expert_rows": 8.0,
                   "experts_read": 8.0}}
CORE = {"heads": 16.0, "batch": 1.0, "context": 1024.0, "element_bytes": 2.0}
# operator -> times of a decode step that its law decides
CLASSES = {"gemm": ("attention", "dense_mlp"), "experts": ("routed_expert",),
           "mla_decode": ("core",), "dsa_decode_block": ("core",), "all_reduce": ("all_reduce",)}
TIMES = tuple(dict.fromkeys(itertools.chain.from_iterable(CLASSES.values())))


def checked(tables: Sequence[Table], engine: str, device: Device, priors: Mechanisms
            ) -> list[Table]:
    """Tables with the laws that are rejected marked, and what is used instead.

    Args:
        tables: of one engine on one card, fitted.
        engine: its name.
        device: the card.
        priors: its mechanisms.
    """
    found: dict[int, Rejected] = {}
    for series in _series(tables).values():
        found |= _beside_neighbours(series, tables, device, priors)
    found |= _beside_steps(tables, found, list(_steps(engine, device)))
    return [replace(table, rejected=found[number], instead=_nearest(tables, number, found))
            if number in found else table for number, table in enumerate(tables)]


def _kind(table: Table) -> tuple[Any, ...]:
    return (table.operator, table.cut, table.dtype, table.gathered, table.attention,
            table.exchange)


def _series(tables: Sequence[Table]) -> dict[tuple[Any, ...], list[int]]:
    """Numbers of tables of one kind, release by release; without tables that fit nothing."""
    found: dict[tuple[Any, ...], list[int]] = {}
    for number, table in enumerate(tables):
        if table.fit.values:
            found.setdefault(_kind(table), []).append(number)
    return {kind: sorted(numbers, key=lambda number: in_order(tables[number].release))
            for kind, numbers in found.items()}


def _nearest(tables: Sequence[Table], number: int, rejected: Mapping[int, Rejected]
             ) -> Table | None:
    """The table of the release before it, or else after it, whose law is not rejected."""
    series = _series(tables)[_kind(tables[number])]
    at = series.index(number)
    near = [*reversed(series[:at]), *series[at + 1:]]
    return next((tables[other] for other in near if other not in rejected), None)


def _beside_neighbours(series: Sequence[int], tables: Sequence[Table], device: Device,
                       priors: Mechanisms) -> dict[int, Rejected]:
    """Laws whose fixed time is twice that of the next law that is left; the worst goes first."""
    times = {number: fixed for number in series
             if (fixed := fixed_time(tables[number], device, priors)) is not None}
    found: dict[int, Rejected] = {}
    while True:
        left = [number for number in times if number not in found]
        pairs = [(number, other) for at, number in enumerate(left)
                 for other in (*left[at + 1:at + 2], *left[max(0, at - 1):at])]
        if not pairs:
            return found
        number, other = max(pairs, key=lambda pair: times[pair[0]] / times[pair[1]])
        factor = times[number] / times[other]
        if factor < TWICE:
            return found
        found[number] = Rejected(
            reason="neighbour", against=tables[other].release, factor=factor)


def fixed_time(table: Table, device: Device, priors: Mechanisms) -> float | None:
    """Time of a fitted operator with one token, less that of its bytes [s]; None of others.

    Args:
        table: fitted.
        device: the card.
        priors: its mechanisms.
    """
    law, values = table.fit.law, dict(table.fit.values)
    if table.operator == "dsa_decode_block":
        return values["latent_core_latency"]
    if table.operator == "all_reduce":
        return values["collective_alpha"]
    shapes = {"gemm": DOWN, "mla_decode": CORE,
              "experts": EXPERTS | CUTS.get(table.cut or "", {})}
    known = of_card(device, priors, table.multiplied, FORMATS.get(table.dtype, ("", 1.0, ()))[1])
    if table.operator not in shapes or known is None:
        return None
    tile = priors.core_tile_rows.value if priors.core_tile_rows else 1.0
    columns: dict[str, Column | float] = {name: np.array([value]) for name, value in {
        **known, **shapes[table.operator], "core_tile_rows": tile}.items()}
    moved = {"gemm": DOWN["columns"] * DOWN["depth"] * known["weight_bytes"],
             "mla_decode": CORE["context"] * (LATENT + ROTATED) * ACTIVATION_BYTES}.get(
                 table.operator)
    if moved is None:
        moved = float(expert_bytes(columns)[0])
    return float(law.time(columns, values)[0]) - moved / known["bandwidth"]


def _beside_steps(tables: Sequence[Table], before: Mapping[int, Rejected],
                  steps: Sequence[MeasuredStep]) -> dict[int, Rejected]:
    """Laws with which a measured step would take longer than it did."""
    found: dict[int, Rejected] = {}
    for step in steps:
        plain = _times(step, {})
        alone = {number: times for number, table in enumerate(tables)
                 if number not in before and table.operator in CLASSES and table.fit.values
                 and (times := _own(step, table, plain)) is not None}
        least = {name: min([plain[name], *(times[name] for times in alone.values()
                                           if name in times)]) for name in TIMES}
        for number, times in alone.items():
            spare = step.tpot.value - sum(
                time for name, time in least.items() if name not in times)
            taken = sum(times.values())
            if taken > spare > 0:
                found[number] = Rejected(
                    reason="step", against=_words(step), factor=taken / spare)
    return found


def _own(step: MeasuredStep, table: Table, plain: Mapping[str, float]
         ) -> dict[str, float] | None:
    """Times of the classes that a law decides in a step; None where it decides none there."""
    if not _runs(step, table):
        return None
    changed = _times(step, named_values(table))
    mine = {name: changed[name] for name in CLASSES[table.operator]}
    return mine if any(mine[name] != plain[name] for name in mine) else None


def _runs(step: MeasuredStep, table: Table) -> bool:
    """Whether a measured step, of TP alone, uses the operator and the format of a table."""
    model, precision = (library.load(kind, name) for kind, name in (
        ("models", step.model), ("precisions", step.precision)))
    kinds = (None, model.attention, "sparse" if model.index_topk else None)
    return (table.attention in kinds and table.gathered is not False and table.cut != "whole"
            and (not table.experts or precision.weights.routed_expert in table.experts))


def _steps(engine: str, device: Device) -> Iterable[MeasuredStep]:
    """Measured steps of an engine on a card."""
    for name in library.names("bounds"):
        bounds: StepBounds = library.load("bounds", name)
        yield from (step for step in bounds.steps if step.device == device.id
                    and step.engine.partition(AT)[0] == engine)


def _words(step: MeasuredStep) -> str:
    return (f"{step.model}, {step.precision}, TP{step.tensor_parallel.value:g}, {step.engine}, "
            f"users {step.users.value:g}: {human(step.tpot.value, step.tpot.unit)}")


def _times(step: MeasuredStep, mechanisms: Mapping[str, str]) -> dict[str, float]:
    """Times of the classes of a step of a single request [s], with values of mechanisms."""
    scenario = deployment_of(step, engine=False, users=1, mechanisms=mechanisms)
    known = evaluate(scenario.inputs(), scenario.model.attention)
    return {name: float(known[f"decode_{name}_time"]) for name in TIMES}
