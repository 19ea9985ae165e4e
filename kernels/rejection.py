"""Fixed times of laws that contradict other laws or measured steps, and what is used instead.

A law is judged on the table that it was fitted to, which cannot show whether the table timed what
serving runs: one measured outside of graphs, or of a fallback kernel, fits as well as any. Two
rules find such tables. With one token a law's fixed time is at least twice that of the release
before or after it; or the laws of a whole step, each at its shortest, add up to more than a step
that was measured under the same engine. Values of such a law for many tokens are used.

Source: notebooks/validation.md, section Laws that are rejected.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from calc.serving.evaluate import evaluate
from catalogue import library
from catalogue.deployments.measured import deployment_of
from catalogue.engine import AT
from catalogue.entries.hardware import Device, Mechanisms
from catalogue.entries.measurements import MeasuredStep
from catalogue.entries.profiles import Rejected, in_order
from catalogue.reading.units import human
from catalogue.tables import LATENT, ROTATED
from kernels.expert_kernels import expert_bytes
from kernels.fitting import Column
from kernels.matmuls import ACTIVATION_BYTES
from kernels.measured_tables import FORMATS, card_constants
from kernels.writing import FittedTable, named_values

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
# operator whose fixed time is one parameter -> that parameter
LATENCIES = {"dsa_decode_block": "latent_core_latency", "all_reduce": "collective_alpha"}
# operator -> times of a decode step that its law decides
CLASSES = {"gemm": ("attention", "dense_mlp"), "experts": ("routed_expert",),
           "mla_decode": ("core",), "dsa_decode_block": ("core",), "all_reduce": ("all_reduce",)}
TIMES = tuple(dict.fromkeys(itertools.chain.from_iterable(CLASSES.values())))


def checked(tables: Sequence[FittedTable], engine: str, device: Device, mechanisms: Mechanisms
            ) -> list[FittedTable]:
    """Tables with the laws that are rejected marked, and what is used instead.

    Args:
        tables: of one engine on one card, fitted.
        engine: its name.
        device: the card.
        mechanisms: of the card.
    """
    kinds = [(table.operator, table.cut, table.dtype, table.gathered, table.attention,
              table.exchange) for table in tables]
    fits = sorted((number for number, table in enumerate(tables) if table.fit.values),
                  key=lambda number: in_order(tables[number].release))
    series = {kind: [number for number in fits if kinds[number] == kind] for kind in kinds}
    rejected: dict[int, Rejected] = {}
    for numbers in series.values():
        rejected |= longer_than_neighbours({number: time for number in numbers if (
            time := fixed_time(tables[number], device, mechanisms)) is not None}, tables)
    rejected |= longer_than_steps({number: tables[number] for number in sorted(fits)
                                   if number not in rejected}, engine, device)
    result = list(tables)
    for number, reason in rejected.items():
        numbers = series[kinds[number]]
        at = numbers.index(number)  # the release before it that is not rejected, or else after it
        instead = next((tables[other] for other in (*reversed(numbers[:at]), *numbers[at + 1:])
                        if other not in rejected), None)
        result[number] = replace(tables[number], rejected=reason, instead=instead)
    return result


def longer_than_neighbours(times: Mapping[int, float], tables: Sequence[FittedTable]
                            ) -> dict[int, Rejected]:
    """Laws whose fixed time is twice that of the next law that is left; the worst goes first.

    Args:
        times: fixed times by number of the table, in the order of releases [s].
        tables: fitted.
    """
    rejected: dict[int, Rejected] = {}
    while True:
        pairs = list(itertools.pairwise(number for number in times if number not in rejected))
        pairs += [(after, before) for before, after in pairs]
        ratios = {pair: times[pair[0]] / times[pair[1]] for pair in sorted(pairs)}
        number, other = max(ratios, key=lambda pair: ratios[pair], default=(0, 0))
        if not ratios or ratios[number, other] < TWICE:
            return rejected
        rejected[number] = Rejected(reason="neighbour", against=tables[other].release,
                                    factor=ratios[number, other])


def fixed_time(table: FittedTable, device: Device, mechanisms: Mechanisms) -> float | None:
    """Time of a fitted operator with one token, less that of its bytes [s]; None of others.

    Args:
        table: fitted.
        device: the card.
        mechanisms: of the card.
    """
    if table.operator in LATENCIES:
        return table.fit.values[LATENCIES[table.operator]]
    shapes = {"gemm": DOWN, "mla_decode": CORE, "experts": EXPERTS | CUTS.get(table.cut or "", {})}
    card = card_constants(device, mechanisms, table.multiplied,
                          FORMATS.get(table.dtype, ("", 1.0, ()))[1])
    if table.operator not in shapes or card is None:
        return None
    tile = mechanisms.core_tile_rows.value if mechanisms.core_tile_rows else 1.0
    columns: dict[str, Column | float] = {name: np.array([value]) for name, value in {
        **card, **shapes[table.operator], "core_tile_rows": tile}.items()}
    if table.operator == "gemm":
        read = DOWN["columns"] * DOWN["depth"] * card["weight_bytes"]
    elif table.operator == "mla_decode":
        read = CORE["context"] * (LATENT + ROTATED) * ACTIVATION_BYTES
    else:
        read = float(expert_bytes(columns)[0])
    return float(table.fit.law.time(columns, table.fit.values)[0]) - read / card["bandwidth"]


def longer_than_steps(tables: Mapping[int, FittedTable], engine: str, device: Device
                      ) -> dict[int, Rejected]:
    """Laws with which a measured step of TP alone would take longer than it did.

    Args:
        tables: fitted, by number.
        engine: name of the engine.
        device: the card.
    """
    rejected: dict[int, Rejected] = {}
    for step in [step for name in library.names("bounds")
                 for step in library.load("bounds", name).steps
                 if step.device == device.id and step.engine.partition(AT)[0] == engine]:
        plain = class_times(step, {})
        changed = {number: {name: times[name] for name in CLASSES[table.operator]}
                   for number, table in tables.items() if in_step(table, step)
                   for times in [class_times(step, named_values(table))]}
        changed = {number: times for number, times in changed.items()
                   if any(time != plain[name] for name, time in times.items())}
        least = {name: min([plain[name], *(times[name] for times in changed.values()
                                           if name in times)]) for name in TIMES}
        for number, times in changed.items():
            spare = step.tpot.value - sum(
                time for name, time in least.items() if name not in times)
            taken = sum(times.values())
            if taken > spare > 0:
                against = (f"{step.model}, {step.precision}, TP{step.tensor_parallel.value:g}, "
                           f"{step.engine}, users {step.users.value:g}: "
                           f"{human(step.tpot.value, step.tpot.unit)}")
                rejected[number] = Rejected(reason="step", against=against, factor=taken / spare)
    return rejected


def in_step(table: FittedTable, step: MeasuredStep) -> bool:
    """Whether a law is of an operator of a measured step."""
    model, precision = (library.load(kind, name) for kind, name in (
        ("models", step.model), ("precisions", step.precision)))
    return (table.operator in CLASSES and table.gathered is not False and table.cut != "whole"
            and table.attention in (None, model.attention, "sparse" if model.index_topk else None)
            and (not table.experts or precision.weights.routed_expert in table.experts))


def class_times(step: MeasuredStep, mechanisms: Mapping[str, str]) -> dict[str, float]:
    """Times of the classes of a step of a single request [s], with values of mechanisms."""
    scenario = deployment_of(step, engine=False, users=1, mechanisms=mechanisms)
    quantities = evaluate(scenario.inputs(), scenario.model.attention)
    return {name: float(quantities[f"decode_{name}_time"]) for name in TIMES}
