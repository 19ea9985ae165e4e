"""The laws of an engine's kernels on a card, fitted release by release to the tables there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from calc.kernels.before import values_alone
from calc.kernels.blocks import BLOCK_MODEL, DECODE_BETWEEN, DECODE_BLOCK
from calc.kernels.communication import LAWS as COLLECTIVES
from calc.kernels.cores import DECODE_CORE, PREFILL_CORE
from calc.kernels.exchanges import exchanges
from calc.kernels.fitting import Fitted, fit, halves
from calc.kernels.law import Column, Law
from calc.kernels.matmuls import DENSE, QUANTISED, SENT, SLICES, WHOLE, expert_bytes, rank_columns
from calc.kernels.routing import Dealing, dealing, unevenness
from calc.kernels.writing import Table as FittedTable
from catalogue import library
from catalogue.deployments.fabric import inside_inputs
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms
from catalogue.entries.profiles import in_order
from catalogue.tables import Shelf, Table, sound
from catalogue.tables.floors import LATENT, ROTATED, WIDTHS

ALL_REDUCE = next(law for law in COLLECTIVES if law.operator == "all_reduce")

# format of a table -> dtype that is multiplied, bytes of a weight with its scales, and the formats
# of the catalogue that routed experts are stored in so
FORMATS: dict[str, tuple[str, float, tuple[str, ...]]] = {
    "bf16": ("bf16", 2, ("bf16", "fp16")), "fp8-block": ("fp8", 1, ("fp8-block128",)),
    "nvfp4": ("fp4", 1 / 2 + 1 / 16, ("nvfp4", "nvfp4-output")),
    "w4a16": ("bf16", 1 / 2 + 1 / 64, (
        "int4-group128", "int4-group128-sym", "int4-group128-cutlass", "int4-group64",
        "int4-group64-sym")),
    "mxfp4-w4a16": ("bf16", 1 / 2 + 1 / 32, ("mxfp4",)),
    "mxfp4-w4a8": ("fp8", 1 / 2 + 1 / 32, ("mxfp4",)),
}
DENSE_FORMATS = ("bf16", "fp8-block", "nvfp4")
# of a dense matmul that engines' kernels take whole: of others, which models of this class do not
# have, vLLM and SGLang call a slower kernel
BLOCK_COLUMNS, BLOCK_DEPTH = 64, 128
# rows of a graph or of a full chunk: for others scales are laid out anew, by a kernel of 4 to 6 us
# on B200 under vLLM
GRAPH_ROWS, FEWEST = 4, 2
# models with many experts of which a token takes several, cut in one way: what we answer for
LEAST_EXPERTS, LEAST_CHOSEN, LEAST_WIDTH, LEAST_HIDDEN = 128, 4, 128, 2048
MOST_TOKENS, MOST_SLICES, GATED = 32768, 16, 3
MOST_PRESENT, MOST_SENT = 16, 256  # ranks whose tokens all have, or send
# of which model's shape the kernel is taken, where an engine has several: DeepSeek-V3's
LIKE_V3 = {"hidden_size": 7168, "moe_intermediate_size": 2048, "n_routed_experts": 256}
LEAST_TABLE = 100  # rows that are worth a fit
# a library of kernels: its times are sums over kernels with nothing between, each the best of
# hundreds for its shape, so that fewer tell a law; matmuls have rows that were quantised before
LIBRARIES, LEAST_TUNED = ("aiter",), 30
OF_DOUBLING = 60  # of a library's matmuls, fitted of those with rows from 2^n to 2^(n+1)
SHAPE = ("tokens", "hidden_size", "moe_intermediate_size", "n_routed_experts",
         "num_experts_per_tok", "tensor_parallel", "expert_parallel")
# their blocks take 35 to 57 us more than a release later in every shape on H200, more than all of
# their kernels; those of the next release, and TensorRT-LLM's, are their sum
SLOWER = ("vllm@0.19.0", "vllm@0.24.0")
# a single kernel of a graph takes less at its smallest shape: what takes more was launched by a
# host, one by one, and the launch was timed
LAUNCHED = 40e-6
BLOCK_FORMATS = ("fp8-block", "bf16")  # of projections, the first that there is
LEAST_SUMS = 60  # of all-reduces, whose tables are short
LEAST_HEADS, LEAST_CONTEXT = 8, 256  # of a core that a rank has
EAGER = "_eager"  # the end of a kernel's name, outside of a graph: decode is in one
TOKEN_BYTES = 2 * LIKE_V3["hidden_size"]  # of a row that is summed
# tables of another kernel than serving takes: of whole prompts SGLang expands keys and values, its
# table on Hopper has them absorbed, 3.4 times the arithmetic
OTHERWISE = {("sglang", "flash_attention", "mla_prefill")}
AFTER_EXCHANGE = "deepepmoe"  # a kernel for rows that an all-to-all has brought
GATHERING = ("vllm", "sglang")  # whose other kernels of whole experts take all tokens of the group
# before this release its tables time the rows of the rank's experts without those of the others,
# which the kernel sorts, gates and sums in service too
ALL_ROWS_SINCE = {"sglang": "0.5.10"}


def fitted(tables: Shelf, card: str, engine: str) -> Iterator[FittedTable]:
    """Every law that an engine's tables of a card can be held against, release by release.

    Args:
        tables: where they lie.
        card: a device of the catalogue.
        engine: its name, without a release.

    Raises ParamsError for tables that cannot be read.
    """
    device: Device = library.load("devices", card)
    priors: Mechanisms = library.load("mechanisms", str(device.mechanisms))
    of_library = engine in LIBRARIES
    releases = {release: named for named in tables.engines(card=card)
                for name, _, release in [named.partition("@")]
                if name == engine and (of_library or _is_release(release))}
    alone = {"kernel_boundary": 0.0} if of_library else {}
    found: list[FittedTable] = []
    for release in releases if of_library else sorted(releases, key=in_order):
        named, before = releases[release], len(found)
        found += _dense(tables, device, priors, named, release, alone)
        found += _experts(tables, device, priors, named, release, alone)
        found += _cores(tables, device, priors, named, release)
        found += _sums(tables, device, priors, named, release)
        found += _blocks(tables, device, priors, named, release, found)
        found += _exchanges(tables, device, priors, named, release)
        yield from found[before:]


def _is_release(release: str) -> bool:
    try:
        in_order(release)
    except ValueError:
        return False
    return True


def of_card(device: Device, priors: Mechanisms, dtype: str, stored: float
             ) -> dict[str, float] | None:
    """What a law reads of a card; None where the card has no peak of the dtype."""
    peak = getattr(device.matrix_peak, dtype, None)
    if peak is None or device.hbm_efficiency is None or priors.operators is None:
        return None
    counted, tile = priors.operators, priors.gemm_tile_rows
    values = {name: getattr(priors, name).value for name in (
        "gemm_tile_rows", "kernel_boundary", "operators_per_layer")}
    return values | {
        "peak": peak.value, "bandwidth": device.memory_bandwidth.value, "weight_bytes": stored,
        "hbm_efficiency": device.hbm_efficiency.value,
        "expert_tile_rows": (priors.expert_tile_rows or tile).value,  # type: ignore[union-attr]
        "reference_operators": (counted.latent_attention.value + counted.routed_experts.value
                                + counted.shared_expert.value)}


def _cores(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
           ) -> Iterator[FittedTable]:
    """Cores of latent attention in 16 bits, and of caches in 16 bits: others are other kernels."""
    card = of_card(device, priors, "bf16", FORMATS["bf16"][1])
    for law, lengths in ((DECODE_CORE, "context"), (PREFILL_CORE, "tokens")):
        table = _read(tables, law.operator, device.id, engine, "bf16") if card else None
        if table is None or card is None:
            continue
        decoding = law is DECODE_CORE
        table = table.select((table["heads"] >= LEAST_HEADS) & (table["cache_dtype"] == "bf16") & (
            table[lengths] >= (LEAST_CONTEXT if decoding else 1)))
        if not len(table) or table["time"].min() > LAUNCHED or (
                engine.partition("@")[0], table["kernel"][0], law.operator) in OTHERWISE:
            continue
        table = table.select(_cold(table, device)) if decoding else table
        if len(table) < LEAST_TABLE:
            continue
        columns = _numbers(table, ("heads", "batch", lengths))
        known = card | {name: stated.value if (stated := getattr(priors, name)) else 1.0
                        for name in ("core_tile_rows", "prefill_tile_rows")}
        found = fit(law, {**columns, **known, "element_bytes": WIDTHS["bf16"]}, table["time"],
                    halves(list(columns.values())),
                    columns["batch"] * (1 if decoding else columns["tokens"]),
                    _kinds([columns["heads"]]),
                    values_alone(law, device, priors, "bf16", WIDTHS["bf16"]))
        yield FittedTable(release, law.operator, None, table["kernel"][0], "bf16", "bf16", None, (),
                          found, "mla")


def _blocks(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str,
            found: list[FittedTable]) -> Iterator[FittedTable]:
    """Latent attention with its projections: of dense matmuls that were fitted, newest first."""
    dense = next((table for dtype in BLOCK_FORMATS for table in reversed(found)
                  if table.operator == DENSE.operator and table.dtype == dtype), None)
    if dense is None:
        return
    if engine in SLOWER:
        return
    card = of_card(device, priors, dense.multiplied, FORMATS[dense.dtype][1])
    wide = of_card(device, priors, "bf16", FORMATS["bf16"][1])
    if card is None or wide is None:
        return
    known = card | dict(dense.fit.values) | {
        "core_peak": wide["peak"], "element_bytes": WIDTHS["bf16"],
        "core_tile_rows": priors.core_tile_rows.value if priors.core_tile_rows else 1.0}
    core = next((dict(table.fit.values) for table in reversed(found)
                 if table.operator == DECODE_CORE.operator), None)
    known |= core or {"latent_core_latency": (
        priors.latent_core_latency.value if priors.latent_core_latency else 0.0)}
    law = DECODE_BETWEEN if core else DECODE_BLOCK
    decode = _block(tables, device, engine, dense.dtype)
    if decode is None:
        return
    columns, time, kernel = decode
    yield FittedTable(release, law.operator, None, kernel, dense.dtype, dense.multiplied, None, (),
                      fit(law, {**columns, **known}, time, halves(list(columns.values())),
                          columns["batch"], _kinds([columns["heads"]])), "mla")


def _block(tables: Shelf, device: Device, engine: str, dtype: str
           ) -> tuple[dict[str, Column], Column, str] | None:
    """Columns, times and kernel of decode blocks of one format, with a cache in 16 bits."""
    table = _read(tables, DECODE_BLOCK.operator, device.id, engine, dtype)
    if table is None:
        return None
    like = np.array([BLOCK_MODEL in model.lower() for model in table["model"].tolist()], bool)
    table = table.select(like & (table["cache_dtype"] == "bf16") & (table["core_dtype"] == "bf16")
                         & (table["heads"] >= LEAST_HEADS) & (table["context"] >= LEAST_CONTEXT)
                         & _cold(table, device))
    if len(table) < LEAST_TABLE:
        return None
    kernel = Counter(table["kernel"].tolist()).most_common(1)[0][0]
    table = table.select(table["kernel"] == kernel)
    return _numbers(table, ("heads", "batch", "context")), table["time"], kernel


def _sums(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
          ) -> Iterator[FittedTable]:
    """All-reduces of an engine's own kernels within a server."""
    node = library.load("nodes", str(device.node)) if device.node else None
    if node is None:
        return
    links = inside_inputs(library.load("links", node.device_link)) | {
        "devices_per_node": node.devices_per_node.value}
    table = _read(tables, ALL_REDUCE.operator, device.id, engine, (), LEAST_SUMS)
    if table is None:
        return
    in_graphs = ~np.char.endswith(table["kernel"].astype(str), EAGER)
    table = table.select(in_graphs) if in_graphs.any() else table
    columns = _numbers(table, ("ranks", "bytes"))
    found = fit(ALL_REDUCE, {**columns, **links}, table["time"], halves(list(columns.values())),
                columns["bytes"] / TOKEN_BYTES, _kinds([columns["ranks"]]),
                values_alone(ALL_REDUCE, device, priors, "bf16", WIDTHS["bf16"]))
    kernels = table.distinct("kernel")
    yield FittedTable(release, ALL_REDUCE.operator, None, ", ".join(kernels), "bf16", "bf16", None,
                      (), found)


def _exchanges(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str
               ) -> Iterator[FittedTable]:
    """All-to-alls of experts, of models with many of them."""
    there, back = (_read(tables, operator, device.id, engine, (), LEAST_SUMS)
                   for operator in ("dispatch", "combine"))
    if there is None or back is None or device.node is None:
        return
    there, back = (table.select((table["n_routed_experts"] >= LEAST_EXPERTS)
                                & (table["num_experts_per_tok"] >= LEAST_CHOSEN)
                                & (table["hidden_size"] >= LEAST_HIDDEN))
                   for table in (there, back))
    yield from exchanges(there, back, device, priors, release)


def _read(tables: Shelf, operator: str, card: str, engine: str, dtype: str | tuple[str, ...],
          least: int = LEAST_TABLE) -> Table | None:
    if not any(part.operator == operator and part.card == card and part.engine == engine
               for part in tables.parts()):
        return None
    table, _ = sound(tables.table(operator, card, engine, dtype))
    return table if len(table) >= least else None


def _numbers(table: Table, names: tuple[str, ...]) -> dict[str, Column]:
    return {name: table[name].astype(float) for name in names}


def _kinds(columns: list[Column]) -> np.ndarray:
    """A number for each kind of matrix, whatever its tokens."""
    return np.unique(np.stack(columns), axis=1, return_inverse=True)[1].ravel()


def _dense(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str,
           alone: dict[str, float]) -> Iterator[FittedTable]:
    law, least = (QUANTISED, LEAST_TUNED) if alone else (DENSE, LEAST_TABLE)
    for dtype in DENSE_FORMATS:
        multiplied, stored, _ = FORMATS[dtype]
        card = of_card(device, priors, multiplied, stored)
        table = _read(tables, "gemm", device.id, engine, dtype, least) if card else None
        if table is None or card is None:
            continue
        card |= alone
        table = table.select((table["rows"] <= MOST_TOKENS) & (
            (table["rows"] % GRAPH_ROWS == 0) | (table["rows"] <= FEWEST))
            & (table["columns"] % BLOCK_COLUMNS == 0) & (table["depth"] % BLOCK_DEPTH == 0))
        if len(table) < least or table["time"].min() > LAUNCHED or (
                not alone and table["rows"].min() > FEWEST):  # it says nothing of decode
            continue
        columns = _numbers(table, ("rows", "columns", "depth"))
        chosen = halves(list(columns.values()))
        chosen = _alike(columns["rows"], chosen) if alone else chosen
        found = fit(law, {**columns, **card}, table["time"], chosen, columns["rows"],
                    _kinds([columns["columns"], columns["depth"]]),
                    values_alone(law, device, priors, multiplied, stored))
        yield FittedTable(release, "gemm", None, _kernels(table), dtype, multiplied, None, (),
                          found)


def _experts(tables: Shelf, device: Device, priors: Mechanisms, engine: str, release: str,
             alone: dict[str, float]) -> Iterator[FittedTable]:
    least = LEAST_TUNED if alone else LEAST_TABLE
    for dtype, (multiplied, stored, formats) in FORMATS.items():
        card = of_card(device, priors, multiplied, stored)
        table = _read(tables, "experts", device.id, engine, dtype, least) if card else None
        if table is None or card is None:
            continue
        card |= alone
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
            some = table.select(ours)
            some = some if alone else _one_kernel(some)
            if len(some) < least:
                continue
            found = _fit_experts(law, some, card, dealing(engine), _kept(device),
                                 values_alone(law, device, priors, multiplied, stored))
            if found is not None:
                yield FittedTable(release, "experts", cut, _kernels(some), dtype, multiplied,
                                  gathered, formats, found)


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


def _alike(rows: Column, chosen: np.ndarray) -> np.ndarray:
    """Some of the chosen, as many of few rows as of many: libraries tune many rows the most."""
    kept = np.zeros(len(rows), bool)
    for doubling in np.unique(np.floor(np.log2(rows))):
        at = np.flatnonzero(chosen & (np.floor(np.log2(rows)) == doubling))
        kept[at[:: -(-len(at) // OF_DOUBLING)] if len(at) else at] = True
    return kept


def _kernels(table: Table) -> str:
    """The kernel of a table by its name, or how many there are."""
    kernels = table.distinct("kernel")
    return kernels[0] if len(kernels) == 1 else f"{len(kernels)} kernels, chosen by shape"


def _one_kernel(table: Table) -> Table:
    """Rows of the kernel that an engine takes for DeepSeek-V3, or for most shapes."""
    like = np.logical_and.reduce([table[name] == value for name, value in LIKE_V3.items()])
    chosen = table["kernel"][like] if like.any() else table["kernel"]
    counted = Counter(chosen.tolist()).most_common(1)
    return table.select(table["kernel"] == counted[0][0]) if counted else table


def _kept(device: Device) -> float:
    """Bytes that stay in a card's L2 from one run of a kernel to the next; 0 where unknown [B]."""
    return device.l2_cache.value if device.l2_cache else 0.0


def _cold(table: Table, device: Device) -> np.ndarray:
    """Rows of decode whose cache does not stay in the L2 between runs, as in a step it never does.

    Tables read one cache again and again; in a step all layers' weights come in between.
    """
    read = table["batch"].astype(float) * table["context"] * (LATENT + ROTATED) * WIDTHS["bf16"]
    return np.asarray(read > _kept(device))


def _fit_experts(law: Law, table: Table, card: dict[str, float], left: Dealing, kept: float,
                 alone: dict[str, float] | None) -> Fitted | None:
    """A law of experts, of rows whose weights come from memory; None of too few such rows.

    Tables time the same weights again and again: where few experts are hit, as of 1 to 15 tokens on
    many ranks, the L2 holds them, and times fall to a half or a third. In a step the weights of all
    other layers are read in between, so that it never meets such a time.
    """
    columns = _numbers(table, SHAPE)
    columns |= rank_columns(columns, table["skew"], left)
    columns["skew"] = np.array([unevenness(skew) for skew in table["skew"].tolist()])
    read = expert_bytes({**columns, **card}) > kept
    if np.count_nonzero(read) < LEAST_TUNED:
        return None
    columns = {name: column[read] for name, column in columns.items()}
    skew = np.unique(table["skew"][read].astype(str), return_inverse=True)[1].astype(float)
    shapes = [columns[name] for name in SHAPE]
    return fit(law, {**columns, **card}, table["time"][read], halves([*shapes, skew]),
               columns["tokens"], _kinds(shapes[1:]), alone)
