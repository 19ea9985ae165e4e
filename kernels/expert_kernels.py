"""A layer's block of routed experts: the law, the routing of a table's rows, and which are fitted.

The law calls what a step calls (``calc.physics``), for one layer; its columns are as in
``kernels.matmuls``. A table says how its tokens were dealt: ``uniform`` at random; ``balanced``,
every expert in turn; ``power-law-x``, loads drawn from a power law of exponent x, of which the
timed rank is the fullest. Which loads were drawn is not said: the mean of a few draws stands for
them. With few tokens nearly all drawn loads round to nothing, and what decides is to whom the
collector then dealt the missing rows. It has done so in three ways, as the history of its file
says, and times of one token follow it: today rank by rank, so that all ranks have as many; before,
all to one rank.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calc.physics.experts import distinct_experts, expert_tile, moved_rows
from calc.physics.operators import expert_latency, matmul_time, tiles_of_experts
from calc.physics.work import Work
from catalogue.entries.profiles import in_order
from catalogue.tables import Table
from kernels.fitting import Bounds, Column, Columns, Fitted, Law, fit, halves
from kernels.matmuls import ACTIVATION_BYTES, MOST_TOKENS, MULTIPLY_ADD, OVERLAP, matmul_inputs
from kernels.measured_tables import (
    FORMATS,
    LEAST_TABLE,
    ReleaseTables,
    kernel_label,
    kinds,
    l2_resident_bytes,
    numbers,
)
from kernels.writing import FittedTable

MATRICES = 3  # of an expert: gate, up and down
# a rank's own rows, beside those of all that it has: gathered, gated and brought back once
ONCE = Bounds(1, 0.5, 2)
# rows of a tile over rows of an expert, and the most, from which on experts have several
GROWTH, LARGEST = Bounds(1.4, 0.25, 32), Bounds(64, 16, 512)
# models with many experts of which a token takes several, cut in one way
LEAST_EXPERTS, LEAST_CHOSEN, LEAST_WIDTH, LEAST_HIDDEN = 128, 4, 128, 2048
MOST_SLICES, GATED = 16, 3
MOST_PRESENT, MOST_SENT = 16, 256  # ranks whose tokens all have, or send
# of which model's shape the kernel is taken, where an engine has several: DeepSeek-V3's
LIKE_V3 = {"hidden_size": 7168, "moe_intermediate_size": 2048, "n_routed_experts": 256}
SHAPE = ("tokens", "hidden_size", "moe_intermediate_size", "n_routed_experts",
         "num_experts_per_tok", "tensor_parallel", "expert_parallel")
AFTER_EXCHANGE = "deepepmoe"  # a kernel for rows that an all-to-all has brought
# tables of another kernel than serving takes, with mechanisms of cards, or all: TensorRT-LLM cuts
# FP8 experts on Blackwell under its own generated kernels (moe_config.backend TRTLLM), which tables
# of SGLang time; with SGLang's own in Triton on Blackwell, where it serves those of FlashInfer, a
# step would take longer than steps that were measured (params/bounds)
OTHERWISE = {("tensorrt-llm", "deepgemm", "slices"): None,
             ("sglang", "sglang_fused_moe_triton", "slices"): "nvidia-blackwell"}
GATHERING = ("vllm", "sglang")  # whose other kernels of whole experts take all tokens of the group
# before this release its tables time the rows of the rank's experts without those of the others,
# which the kernel sorts, gates and sums in service too
ALL_ROWS_SINCE = {"sglang": "0.5.10"}
LEAST_READ = 30  # rows whose weights come from memory

POWER_LAW = "power-law-"
DRAWS, SEED = 6, 30
LOADED, SPARSE = (1.0, 0.8), (0.01, 2.0)  # least and most drawn: more rows than experts, or not
# to whom rows go that rounding leaves over: to ranks in turn, of each to the expert with fewest;
# to experts in turn, from those with fewest or from those with most
Dealing = Literal["ranks", "fewest", "most"]
# last release of an engine whose tables were collected before 2026-02-10 (commit 2b97693f), and
# before 2026-04-19 (13dadba3b): by the packages that first had them, and by whether one token takes
# longer where its experts were drawn than where they were dealt in turn
BEFORE: dict[str, tuple[tuple[str, Dealing], ...]] = {
    "tensorrt-llm": (("1.2.0", "most"), ("1.3.0rc10", "fewest")),
    "vllm": (("0.12.0", "most"), ("0.17.0", "fewest")),
    "sglang": (("0.5.6.post2", "most"), ("0.5.9", "fewest"))}


def expert_bytes(columns: Columns) -> Column:
    """Weights of the experts that a rank reads, or of its slices of them [B].

    Args:
        columns: ``hidden_size``, ``inside``, ``experts_read`` and ``weight_bytes``.
    """
    return np.asarray(MATRICES * columns["experts_read"] * columns["hidden_size"]
                      * columns["inside"] * columns["weight_bytes"])


def expert_time(columns: Columns, parameters: Mapping[str, float], slices: bool = False,
                sent: bool = False) -> Column:
    """Time of a layer's routed experts on a rank [s], rows sorted, quantised and summed.

    Args:
        columns: ``tokens`` of all ranks, ``n_routed_experts``, ``num_experts_per_tok``,
            ``expert_parallel``, ``hidden_size``, ``inside`` (width of an expert on the rank),
            ``expert_rows`` and ``experts_read`` of the rank, and constants of the card.
        parameters: of ``WHOLE_EXPERTS``, ``SENT`` or ``SLICES``.
        slices: whether experts are cut over ranks, not whole.
        sent: whether the rank has been sent its own rows and no others.

    Source: notebooks/latency.md, section The classes of a step.
    """
    hidden, inside = columns["hidden_size"], columns["inside"]
    rows, read = columns["expert_rows"], columns["experts_read"]
    together = rows / columns["num_experts_per_tok"] if sent else columns["tokens"]
    unused = dict.fromkeys((*WHOLE_EXPERTS.parameters, *SLICES.parameters), 1.0)
    unused |= {"gathered_row_traffic": 0.0, "expert_row_traffic": ONCE.start}
    q = matmul_inputs(
        columns, {**unused, **parameters}, routed_expert_peak=columns["peak"],
        expert_tensor_parallel=2 if slices else 1, exchange_gathered=1, shared_expert_ranks=0,
        num_experts_per_tok=columns["num_experts_per_tok"],
        n_routed_experts=columns["n_routed_experts"] / columns["expert_parallel"])
    of_one = (2 * hidden + MATRICES * inside) * ACTIVATION_BYTES
    moved = rows * of_one
    work = Work(MULTIPLY_ADD * rows * MATRICES * hidden * inside, expert_bytes(columns) + moved)
    padded = tiles_of_experts(expert_tile(q, 1.0, together), rows / np.maximum(read, 1))
    time = (matmul_time(q, "routed_expert", work, padded) + expert_latency(q)
            + moved_rows(q, rows, together) * of_one / (
                q.memory_bandwidth * q.hbm_efficiency))
    return np.asarray(time, float)


WHOLE_EXPERTS = Law("experts", {
    "routed_expert_gemm_efficiency": Bounds(0.5, 0.02, 0.98),
    "expert_streaming_efficiency": Bounds(0.7, 0.05, 0.98),
    "routed_expert_latency": Bounds(1e-5, 1e-7, 2e-4),
    "gathered_row_traffic": Bounds(1, 1e-3, 40), "expert_tile_growth": GROWTH,
    "largest_expert_tile": LARGEST},
    expert_time, {"expert_load_overlap": OVERLAP, "expert_row_traffic": ONCE})
SENT = replace(WHOLE_EXPERTS, parameters={
    {"gathered_row_traffic": "expert_row_traffic"}.get(name, name): bounds
    for name, bounds in WHOLE_EXPERTS.parameters.items()}, time=partial(expert_time, sent=True),
    fixed={"expert_load_overlap": OVERLAP})
SLICES = Law("experts", {
    "sliced_expert_gemm_efficiency": Bounds(0.5, 0.02, 0.98),
    "sliced_streaming_efficiency": Bounds(0.7, 0.05, 0.98),
    "sliced_expert_latency": Bounds(1e-5, 1e-7, 2e-4), "sliced_row_traffic": Bounds(2, 1e-3, 40),
    "sliced_tile_growth": GROWTH, "largest_sliced_tile": LARGEST},
    partial(expert_time, slices=True), {"load_overlap": OVERLAP})


def dealing(engine: str, release: str) -> Dealing:
    """How the collector of a release dealt the rows that rounding left over.

    >>> dealing("vllm", "0.14.0"), dealing("vllm", "0.19.0")
    ('fewest', 'ranks')
    """
    return next((dealt for last, dealt in BEFORE.get(engine, ())
                 if in_order(release) <= in_order(last)), "ranks")


def rank_columns(columns: Mapping[str, Column], skew: np.ndarray, left: Dealing = "ranks"
                 ) -> dict[str, Column]:
    """Columns of the timed rank of a table: ``inside``, ``expert_rows`` and ``experts_read``.

    Args:
        columns: of the table.
        skew: how its tokens were dealt, by row.
        left: to whom rows went that rounding left over.
    """
    shapes = zip(*(columns[name].astype(int) for name in (
        "tokens", "n_routed_experts", "num_experts_per_tok", "expert_parallel")), skew, strict=True)
    loads = np.array([rank_load(*shape, left) for shape in shapes], float)
    return {"inside": columns["moe_intermediate_size"] / columns["tensor_parallel"],
            "experts_read": loads[:, 0], "expert_rows": loads[:, 1]}


@functools.cache
def rank_load(tokens: int, experts: int, chosen: int, ranks: int, skew: str,
              left: Dealing = "ranks") -> tuple[float, float]:
    """Experts that the timed rank of a table reads [1], and rows of all of them [token].

    >>> rank_load(1, 256, 8, 1, "balanced"), rank_load(64, 256, 8, 8, "balanced")
    ((8.0, 8.0), (32.0, 64.0))
    >>> [rank_load(1, 256, 8, 8, "power-law-1.2", left) for left in ("ranks", "fewest")]
    [(1.0, 1.0), (8.0, 8.0)]

    Args:
        tokens: of all ranks together [token].
        experts: of a layer [1].
        chosen: per token [1].
        ranks: over which whole experts are spread [1].
        skew: as a table states it.
        left: to whom rows went that rounding left over.

    Raises ValueError for an unknown routing.

    Source: the collectors of the tables, github.com/ai-dynamo/aiconfigurator, collector/helper.py.
    """
    if skew == "uniform":
        return (float(distinct_experts(experts, chosen, tokens)) / ranks, tokens * chosen / ranks)
    if skew == "balanced":
        stride = -(-experts // chosen)  # each expert is chosen in turn
        step = 1.0 if tokens >= stride else stride / tokens
        taken = (np.arange(tokens)[:, None] * step + np.arange(chosen) * stride) % experts
        rows = np.bincount(taken.astype(int).ravel(), minlength=experts)
        loads = [rows[: experts // ranks]]
    elif skew.startswith(POWER_LAW):
        rng, loads, total = np.random.default_rng(SEED), [], tokens * chosen
        least, most = (LOADED[0], LOADED[1] * tokens) if total > experts else SPARSE
        power = 1 - float(skew.removeprefix(POWER_LAW))
        for _ in range(DRAWS):
            drawn = ((most**power - least**power) * rng.random(experts) + least**power
                     ) ** (1 / power)
            rows = np.minimum(np.round(drawn / drawn.sum() * total).astype(int), tokens)
            deal(rows, tokens, total, ranks, left)
            by_rank = rows.reshape(ranks, -1)
            loads.append(by_rank[by_rank.sum(axis=1).argmax()])
    else:
        raise ValueError(f"there is no routing '{skew[:40]}', expected uniform, balanced or "
                         f"{POWER_LAW}1.2")
    return (float(np.mean([np.count_nonzero(load) for load in loads])),
            float(np.mean([load.sum() for load in loads])))


def deal(rows: NDArray[np.int64], tokens: int, total: int, ranks: int, left: Dealing) -> None:
    """Change rows of experts, one after another, until all are dealt."""
    missing = total - int(rows.sum())
    step, turn = int(np.sign(missing)), 0
    order = np.argsort(-rows, kind="stable")
    # what is too much was taken from those with fewest, whoever was given more
    order = order if left == "most" and step > 0 else order[::-1]
    by_rank = rows.reshape(ranks, -1)
    while missing:
        if left == "ranks":
            own = by_rank[turn % ranks]
            at = own.argmin() if step > 0 else own.argmax()
        else:
            own, at = rows, order[turn % len(order)]
            at = rows.argmax() if step < 0 and not rows[at] else at
        turn += 1
        if 0 <= own[at] + step <= tokens:  # no token chooses an expert twice
            own[at] += step
            missing -= step


def fitted_experts(tables: ReleaseTables) -> Iterator[FittedTable]:
    """Experts of a release, format by format: whole, whole after an all-to-all, and in slices."""
    # other engines have one set of kernels, whether tokens are sent or not
    gathering = True if tables.engine in GATHERING else None
    without_others = in_order(tables.release) < in_order(ALL_ROWS_SINCE.get(tables.engine, "0"))
    for dtype, multiplied, formats, card, table in tables.formats("experts", FORMATS):
        table = many_experts(table)
        uncut, sent = table["tensor_parallel"] == 1, table["kernel"] == AFTER_EXCHANGE
        for law, cut, gathered, rows in (
                (SENT if without_others else WHOLE_EXPERTS, "whole", gathering, uncut & ~sent),
                (SENT, "whole", False, uncut & sent), (SLICES, "slices", None, ~uncut & ~sent)):
            some = one_kernel(table.select(rows))
            kernel = kernel_label(some) if len(some) >= LEAST_TABLE else ""
            if not kernel or OTHERWISE.get((tables.engine, kernel, cut), "") in (
                    None, tables.device.mechanisms):
                continue
            fitted = fit_table(law, some, card, tables)
            if fitted is not None:
                # Triton's MXFP4 kernels are of gpt-oss, whose attention is grouped
                attention = "gqa" if dtype == "mxfp4-w4a16" and "triton" in kernel else None
                yield FittedTable(tables.release, "experts", kernel, dtype, multiplied, fitted,
                                  cut, gathered, formats, attention)


def many_experts(table: Table) -> Table:
    """Rows of gated experts of models with many, cut in one way, with a known routing."""
    cut = table["moe_intermediate_size"] / table["tensor_parallel"]
    sent = table["kernel"] == AFTER_EXCHANGE
    tokens = table["tokens"] / np.where(sent, table["expert_parallel"], 1)  # that a rank is given
    balanced_after = np.char.endswith(table["skew"].astype(str), "eplb")
    return table.select(
        ~balanced_after & (table["n_routed_experts"] >= LEAST_EXPERTS)
        & (table["num_experts_per_tok"] >= LEAST_CHOSEN) & (cut >= LEAST_WIDTH)
        & (table["hidden_size"] >= LEAST_HIDDEN) & (tokens <= MOST_TOKENS)
        & (table["expert_parallel"] <= np.where(sent, MOST_SENT, MOST_PRESENT))
        & (table["tensor_parallel"] <= MOST_SLICES)
        & ((table["expert_parallel"] == 1) | (table["tensor_parallel"] == 1))
        & (table["matrices"] == GATED))


def one_kernel(table: Table) -> Table:
    """Rows of the kernel that an engine takes for DeepSeek-V3, or for most shapes."""
    like = np.logical_and.reduce([table[name] == value for name, value in LIKE_V3.items()])
    chosen = table["kernel"][like] if like.any() else table["kernel"]
    counted = Counter(chosen.tolist()).most_common(1)
    return table.select(table["kernel"] == counted[0][0]) if counted else table


def fit_table(law: Law, table: Table, card: dict[str, float], tables: ReleaseTables
              ) -> Fitted | None:
    """A law of experts, of rows whose weights come from memory; None of too few such rows.

    Tables time the same weights again and again: where few experts are hit, as of 1 to 15 tokens on
    many ranks, the L2 holds them, and times fall to a half or a third. In a step the weights of all
    other layers are read in between, so that it never meets such a time.
    """
    columns = numbers(table, SHAPE)
    columns |= rank_columns(columns, table["skew"], dealing(tables.engine, tables.release))
    read = expert_bytes({**columns, **card}) > l2_resident_bytes(tables.device)
    if np.count_nonzero(read) < LEAST_READ:
        return None
    columns = {name: column[read] for name, column in columns.items()}
    skew = np.unique(table["skew"][read].astype(str), return_inverse=True)[1].astype(float)
    shapes = [columns[name] for name in SHAPE]
    return fit(law, {**columns, **card}, table["time"][read], halves([*shapes, skew]),
               columns["tokens"], kinds(shapes[1:]))
