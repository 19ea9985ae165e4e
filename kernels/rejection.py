"""Fixed times of laws that contradict those of other releases, and what is used instead.

A law is judged on the table that it was fitted to, which cannot show whether the table timed what
serving runs: one measured outside of graphs, or of a fallback kernel, fits as well as any. With one
token the fixed time of such a law is at least twice that of the release before or after it. Values
of such a law for many tokens are used.

Source: notebooks/validation.md, section Laws that are rejected.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from catalogue.entries.hardware import Device, Mechanisms
from catalogue.entries.profiles import Rejected, in_order
from catalogue.tables import LATENT, ROTATED
from kernels.expert_kernels import expert_bytes
from kernels.fitting import Column
from kernels.matmuls import ACTIVATION_BYTES
from kernels.measured_tables import FORMATS, card_constants
from kernels.writing import FittedTable

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


def checked(tables: Sequence[FittedTable], device: Device, mechanisms: Mechanisms
            ) -> list[FittedTable]:
    """Tables with the laws that are rejected marked, and what is used instead.

    Args:
        tables: of one engine on one card, fitted.
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
