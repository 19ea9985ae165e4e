"""Rows of routed experts: of models with many, of one kernel, with a routing that is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from calc.kernels.before import values_alone
from calc.kernels.fitting import Fitted, fit, halves
from calc.kernels.law import Law
from calc.kernels.matmuls import SENT, SLICES, WHOLE, expert_bytes, rank_columns
from calc.kernels.routing import Dealing, dealing
from calc.kernels.rows.of_every_operator import (
    FORMATS,
    LEAST_TABLE,
    kernels_of,
    kinds,
    l2_resident_bytes,
    numbers,
    of_card,
    read,
)
from calc.kernels.writing import Table as FittedTable
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms
from catalogue.entries.profiles import in_order
from catalogue.tables import Shelf, Table

# models with many experts of which a token takes several, cut in one way: what we answer for
LEAST_EXPERTS, LEAST_CHOSEN, LEAST_WIDTH, LEAST_HIDDEN = 128, 4, 128, 2048
MOST_TOKENS, MOST_SLICES, GATED = 32768, 16, 3
MOST_PRESENT, MOST_SENT = 16, 256  # ranks whose tokens all have, or send
# of which model's shape the kernel is taken, where an engine has several: DeepSeek-V3's
LIKE_V3 = {"hidden_size": 7168, "moe_intermediate_size": 2048, "n_routed_experts": 256}
SHAPE = ("tokens", "hidden_size", "moe_intermediate_size", "n_routed_experts",
         "num_experts_per_tok", "tensor_parallel", "expert_parallel")
AFTER_EXCHANGE = "deepepmoe"  # a kernel for rows that an all-to-all has brought
# tables of another kernel than serving takes: TensorRT-LLM cuts FP8 experts on Blackwell under its
# own generated kernels (moe_config.backend TRTLLM), which tables of SGLang time
OTHERWISE = {("tensorrt-llm", "deepgemm", "slices")}
GATHERING = ("vllm", "sglang")  # whose other kernels of whole experts take all tokens of the group
# before this release its tables time the rows of the rank's experts without those of the others,
# which the kernel sorts, gates and sums in service too
ALL_ROWS_SINCE = {"sglang": "0.5.10"}
LEAST_READ = 30  # rows whose weights come from memory


def experts(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
            ) -> Iterator[FittedTable]:
    """Experts whole, whole after an all-to-all, and in slices, format by format.

    Args:
        tables: where they lie.
        device: the card.
        priors: its mechanisms.
        engine: with its release, as tables name it.
        release: of the engine.
    """
    for dtype, (multiplied, stored, formats) in FORMATS.items():
        card = of_card(device, priors, multiplied, stored)
        table = read(tables, "experts", device.id, engine, dtype) if card else None
        if table is None or card is None:
            continue
        table = _many_experts(table)
        whole, sent = table["tensor_parallel"] == 1, table["kernel"] == AFTER_EXCHANGE
        # other engines have one set of kernels, whether tokens are sent or not
        name = engine.partition("@")[0]
        among = True if name in GATHERING else None
        alone_timed = name in ALL_ROWS_SINCE and in_order(release) < in_order(ALL_ROWS_SINCE[name])
        for law, cut, gathered, ours in ((SENT if alone_timed else WHOLE, "whole", among,
                                          whole & ~sent),
                                         (SENT, "whole", False, whole & sent),
                                         (SLICES, "slices", None, ~whole & ~sent)):
            some = _one_kernel(table.select(ours))
            if len(some) < LEAST_TABLE or (name, kernels_of(some), cut) in OTHERWISE:
                continue
            found = _fit_experts(law, some, card, dealing(engine), l2_resident_bytes(device),
                                 values_alone(law, device, priors, multiplied, stored))
            if found is not None:
                kernels = kernels_of(some)
                # Triton's MXFP4 kernels are of gpt-oss, whose attention is grouped
                attention = "gqa" if dtype == "mxfp4-w4a16" and "triton" in kernels else None
                yield FittedTable(release, "experts", cut, kernels, dtype, multiplied,
                                  gathered, formats, found, attention)


def _many_experts(table: Table) -> Table:
    """Rows of gated experts of models with many, cut in one way, with a routing that is known."""
    cut = table["moe_intermediate_size"] / table["tensor_parallel"]
    sent = table["kernel"] == AFTER_EXCHANGE
    tokens = table["tokens"] / np.where(sent, table["expert_parallel"], 1)  # that a rank is given
    known = np.array([not skew.endswith("eplb") for skew in table["skew"].tolist()], bool)
    return table.select(
        known & (table["n_routed_experts"] >= LEAST_EXPERTS)
        & (table["num_experts_per_tok"] >= LEAST_CHOSEN) & (cut >= LEAST_WIDTH)
        & (table["hidden_size"] >= LEAST_HIDDEN) & (tokens <= MOST_TOKENS)
        & (table["expert_parallel"] <= np.where(sent, MOST_SENT, MOST_PRESENT))
        & (table["tensor_parallel"] <= MOST_SLICES)
        & ((table["expert_parallel"] == 1) | (table["tensor_parallel"] == 1))
        & (table["matrices"] == GATED))


def _one_kernel(table: Table) -> Table:
    """Rows of the kernel that an engine takes for DeepSeek-V3, or for most shapes."""
    like = np.logical_and.reduce([table[name] == value for name, value in LIKE_V3.items()])
    chosen = table["kernel"][like] if like.any() else table["kernel"]
    counted = Counter(chosen.tolist()).most_common(1)
    return table.select(table["kernel"] == counted[0][0]) if counted else table


def _fit_experts(law: Law, table: Table, card: dict[str, float], left: Dealing, kept: float,
                 alone: dict[str, float] | None) -> Fitted | None:
    """A law of experts, of rows whose weights come from memory; None of too few such rows.

    Tables time the same weights again and again: where few experts are hit, as of 1 to 15 tokens on
    many ranks, the L2 holds them, and times fall to a half or a third. In a step the weights of all
    other layers are read in between, so that it never meets such a time.
    """
    columns = numbers(table, SHAPE)
    columns |= rank_columns(columns, table["skew"], left)
    read = expert_bytes({**columns, **card}) > kept
    if np.count_nonzero(read) < LEAST_READ:
        return None
    columns = {name: column[read] for name, column in columns.items()}
    skew = np.unique(table["skew"][read].astype(str), return_inverse=True)[1].astype(float)
    shapes = [columns[name] for name in SHAPE]
    return fit(law, {**columns, **card}, table["time"][read], halves([*shapes, skew]),
               columns["tokens"], kinds(shapes[1:]), alone)
