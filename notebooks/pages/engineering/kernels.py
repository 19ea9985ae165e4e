"""Laws of kernels beside the tables that they were fitted to: errors, parts, and releases."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib.figure import Figure

import catalogue
from catalogue.deployments.physics_inputs import efficiency, latency
from catalogue.entries.profiles import Fits, KernelFit, Measured, in_order
from catalogue.messages import LANGUAGES, Pair, messages, pair
from catalogue.tables import Shelf
from kernels import measured_tables
from kernels.expert_kernels import SENT, SLICES, WHOLE_EXPERTS, rank_columns
from kernels.fitting import REGIONS, Errors, Law, errors, halves
from kernels.matmuls import DENSE, SHAPE, dense_tables
from kernels.measured_tables import FORMATS, ReleaseTables, card_constants
from kernels.writing import NAMES
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/engineering/kernels")

PERCENT = 100
MEDIAN, MOST = 0.08, 0.25  # limits of the error: of half of the rows, and of nine of ten
FEW, MANY = 256, 1024  # tokens: regions below the one, and from the other on
OPERATORS: dict[tuple[str, str | None], Pair] = {
    ("gemm", None): say("dense-matmul"),
    ("experts", "slices"): say("experts-slices"),
    ("experts", "whole"): say("experts-whole"),
    ("experts", "sent"): say("experts-after-all-to-all"),
    ("mla_decode", None): say("core-of-mla-decode"),
    ("mla_prefill", None): say("core-of-mla-prefill"),
    ("mla_decode_block", None): say("mla-with-projections-decode"),
    ("dsa_decode_block", None): say("sparse-attention-with-projections-decode"),
    ("all_reduce", None): say("all-reduce-in-server"),
    ("exchange", "low_latency"): say("all-to-all-low-latency"),
    ("exchange", "normal"): say("all-to-all-normal-mode")}
BLOCK, SPARSE_BLOCK = ("mla_decode_block", None), ("dsa_decode_block", None)
LAWS = {("gemm", None): DENSE, ("experts", "slices"): SLICES, ("experts", "whole"): WHOLE_EXPERTS,
        ("experts", "sent"): SENT}
APART = (("gemm", None), ("experts", "slices"), ("experts", "whole"))  # operators taken apart
BY_RELEASE = APART[:2]  # operators shown release by release
CARDS = {"nvidia-h200": "nvidia-h200-sxm", "nvidia-hopper": "nvidia-h100-sxm",
         "nvidia-blackwell": "nvidia-b200", "nvidia-ampere": "nvidia-a100-sxm-80gb",
         "nvidia-ada": "nvidia-l40s", "nvidia-rtx-pro-6000": "nvidia-rtx-pro-6000-server"}
# taken apart: DeepSeek-V3's output projection of a rank of eight, its experts cut by eight, and
# whole on eight ranks, on the card that most tables are of
SHOWN_CARD, SHOWN_ENGINE, RANKS = "nvidia-h200", "vllm", 8
TOKENS = (1, 64, 1024, 16384)
ODD = "0.5.6.post2", "0.5.8.post1"  # of SGLang on H100: a table that is far slower, and the next
V3 = {"hidden_size": 7168.0, "moe_intermediate_size": 2048.0, "n_routed_experts": 256.0,
      "num_experts_per_tok": 8.0}
O_INPUTS = 128 * 128 / RANKS  # of the output projection: heads of a rank times their width


@dataclass(frozen=True)
class Row:
    """One fitted table: where it stands, and what it came to."""

    fits: Fits
    statement: KernelFit
    measured: Measured

    @property
    def kind(self) -> tuple[str, str | None]:
        """The operator, and of experts how they are cut, or that tokens are sent to whole ones;
        of an exchange its mode."""
        sent = self.statement.gathered is False
        return self.measured.operator, self.statement.exchange or (
            "sent" if sent else self.measured.cut)

    @property
    def fitted(self) -> bool:
        """Whether it has a fit of its own; else the values of the card, or of other rows, hold."""
        return self.measured.fitted > 0

    @property
    def keeps_bars(self) -> bool:
        """Whether the law is as near as it is to be."""
        judged = self.measured.judged
        return judged.median <= MEDIAN and judged.most <= MOST

    @property
    def release(self) -> str:
        """From which on it holds; empty for the first."""
        return str(self.statement.since or "")


@cache
def rows() -> tuple[Row, ...]:
    """All that was fitted, by card, engine and release."""
    return tuple(Row(fits, statement, measured) for name in catalogue.names("fits")
                 for fits in [catalogue.load("fits", name)] for statement in fits.statements
                 for measured in statement.measured)


def answer() -> None:
    """How near the laws are, in numbers for the sentences and a table by operator and card."""
    every = rows()
    blocks = [row for row in every if row.kind == BLOCK]
    sent = [row.measured.judged for row in every if row.measured.operator == "exchange"
            and row.fitted]
    kernels = [round(row.statement.mechanisms["attention_operators"].value) for row in blocks]
    sparse = [row.statement.mechanisms["latent_core_latency"].value
              for row in every if row.kind == SPARSE_BLOCK]
    numbers({"kn-fits": len(every), "kn-unfitted": sum(not row.fitted for row in every),
             "kn-rows": sum(row.measured.judged.rows for row in every if row.fitted),
             "kn-block-fewest": min(kernels), "kn-block-most": max(kernels),
             "kn-block-counted": counted(SHOWN_CARD), "kn-block-ascend": counted("ascend-910b")})
    numbers({"kn-median": np.median([row.measured.judged.median for row in every]),
             "kn-kept": sum(row.keeps_bars for row in every) / len(every),
             "kn-exchange-median": max(each.median for each in sent),
             "kn-exchange-most": max(each.most for each in sent),
             "kn-unfitted-median": max(row.measured.judged.median for row in every
                                       if not row.fitted),
             "kn-bar-median": MEDIAN, "kn-bar-most": MOST,
             "kn-block-median": max(row.measured.judged.median for row in blocks)},
            fmt_percent, digits=0)
    numbers({"kn-sparse-least": min(sparse), "kn-sparse-most": max(sparse)}, fmt_time)
    by_card = [(both, some) for kind in OPERATORS for card in CARDS
               for both in [[row for row in every if row.kind == kind and row.fits.card == card]]
               if (some := [row for row in both if row.fitted])]

    def middle(name: str, heading: Pair) -> Column:
        return Column(lambda row: np.median([getattr(each.measured.judged, name)
                                             for each in row[1]]), heading, fmt_percent)

    table(by_card, [
        Column(lambda row: OPERATORS[row[0][0].kind], common("operator")),
        Column(lambda row: _card(row[0][0].fits.card), common("card")),
        middle("median", say("error-median")), middle("most", say("nine-of-ten-within")),
        Column(lambda row: len(row[1]), say("tables-fitted")),
        Column(lambda row: sum(each.keeps_bars for each in row[1]), say("tables-within-both-bars")),
        Column(lambda row: len(row[0]) - len(row[1]) or None, say("only-judged"), fmt_int),
        Column(lambda row: sum(each.measured.judged.rows for each in row[1]),
               say("rows-that-judge"))])


def counted(card: str) -> float:
    """Kernels of a layer's latent attention in the source of a card's engine [1]."""
    return catalogue.load("mechanisms", card).operators.latent_attention.value


def card_errors(shelf: Shelf, card: str, engine: str) -> list[tuple[str, str, Errors]]:
    """Errors of dense matmuls with the card's own values, on the rows that judge a fit.

    Args:
        shelf: measured_tables.
        card: a device whose mechanisms state every parameter.
        engine: whose kernels were timed, without its release.

    Returns dtype, kernel and errors of each table.
    """
    device = catalogue.load_device(card)
    own = catalogue.load("mechanisms", device.mechanisms)
    result = []
    for release in shelf.engines(card=card):
        if release.partition("@")[0] != engine:
            continue
        for read in dense_tables(ReleaseTables(shelf, device, own, *release.split("@"))):
            shapes = measured_tables.numbers(read.table, SHAPE)
            traffic = getattr(own.activation_traffic, read.multiplied, None)
            values = {
                "gemm_efficiency": efficiency(own.gemm_efficiency, read.multiplied, device).value,
                "matmul_latency": latency(own.matmul_latency, read.multiplied).value,
                "depth_latency": latency(own.depth_latency, read.multiplied).value,
                "activation_traffic": traffic.value if traffic else 0.0}
            ratio = DENSE.time({**shapes, **read.card}, values) / read.table["time"]
            result.append((read.dtype, measured_tables.kernel_label(read.table),
                           errors(ratio[~halves(list(shapes.values()))])))
    return result


def _card(mechanisms: str) -> Pair:
    device = catalogue.load_device(CARDS[mechanisms])
    en, zh = (name.removeprefix(f"{device.vendor} ") for name in pair(device.name))
    return en, zh


TABLE_OF = (Column(lambda row: OPERATORS[row.kind], common("operator")),
            Column(lambda row: _card(row.fits.card), common("card")),
            Column(lambda row: row.fits.engine, common("engine")))


def every_fit() -> None:
    """Each table: engine, release, kernel, errors, and where the law leans and misses."""
    table(sorted(rows(), key=lambda row: (list(OPERATORS).index(row.kind), row.fits.card,
                                          row.fits.engine, row.measured.dtype)), [
        *TABLE_OF,
        Column(lambda row: row.release or None, say("from-release")),
        Column(lambda row: row.measured.dtype, common("format")),
        Column(lambda row: row.measured.kernel, say("kernel")),
        Column(lambda row: row.measured.judged.median, say("error-median"), fmt_percent),
        Column(lambda row: row.measured.judged.most, say("nine-of-ten"), fmt_percent),
        Column(lambda row: _leaning(row, 0, FEW), say("lean-few-tokens"), fmt_percent, digits=0),
        Column(lambda row: _leaning(row, MANY, None), say("lean-many"), fmt_percent, digits=0),
        Column(lambda row: None if row.keeps_bars else _farthest(row), say("misses-most-at"))])


def _leaning(row: Row, least: int, most: int | None) -> float | None:
    """Law over table less one, of the regions between two numbers of tokens, by their rows."""
    some = [errors for tokens, errors in row.measured.regions.items()
            if tokens >= least and (most is None or tokens < most)]
    return sum(each.leaning * each.rows for each in some) / sum(
        each.rows for each in some) if some else None


def _farthest(row: Row) -> str:
    """The region of tokens where half of the rows are farthest off, and which way they lean."""
    regions = row.measured.regions
    least = max(regions, key=lambda each: regions[each].median)
    end = next((each - 1 for each in sorted(REGIONS) if each > least), None)
    lean = fmt_percent(regions[least].leaning, digits=0)
    return f"{fmt_int(least)}–{fmt_int(end) if end else ''}: {lean}"


def _newest(kind: tuple[str, str | None], card: str, engine: str, dtype: str) -> Row:
    return max((row for row in rows() if row.kind == kind and row.fits.card == card
                and row.fits.engine == engine and row.measured.dtype == dtype),
               key=lambda row: in_order(row.release or "0"))


def _columns(kind: tuple[str, str | None], tokens: np.ndarray) -> dict[str, np.ndarray]:
    """A matrix of DeepSeek-V3 as a table would have it, for some tokens."""
    if kind == ("gemm", None):
        return {"rows": tokens, "columns": np.full_like(tokens, V3["hidden_size"]),
                "depth": np.full_like(tokens, O_INPUTS)}
    whole = kind[1] != "slices"
    columns = {name: np.full_like(tokens, value) for name, value in V3.items()} | {
        "tokens": tokens, "tensor_parallel": np.full_like(tokens, 1 if whole else RANKS),
        "expert_parallel": np.full_like(tokens, RANKS if whole else 1)}
    return columns | rank_columns(columns, np.array(["uniform"] * len(tokens)))


def _values(row: Row, law: Law) -> dict[str, float]:
    """The fitted values by the law's own names (SI)."""
    multiplied = FORMATS[row.measured.dtype][0]
    stated = row.statement.mechanisms
    names = ((name, NAMES.get(name, name)) for name in law.parameters)
    return {name: stated[key if key in stated else f"{key}.{multiplied}"].value
            for name, key in names}


def _time(row: Row, tokens: np.ndarray, **changed: float) -> np.ndarray:
    law = LAWS[row.kind]
    device = catalogue.load_device(CARDS[row.fits.card])
    multiplied, stored, _ = FORMATS[row.measured.dtype]
    known = card_constants(device, catalogue.load("mechanisms", row.fits.card), multiplied, stored)
    assert known is not None
    known |= {key: value for key, value in changed.items() if key in known}
    values = _values(row, law) | {key: value for key, value in changed.items() if key not in known}
    return np.asarray(law.time({**_columns(row.kind, tokens), **known}, values))


FIXED = {("gemm", None): ("matmul_latency", "depth_latency"),
         ("experts", "slices"): ("sliced_expert_latency",),
         ("experts", "whole"): ("routed_expert_latency",)}
MOVED = {("gemm", None): ("activation_traffic",), ("experts", "slices"): ("sliced_row_traffic",),
         ("experts", "whole"): ("expert_row_traffic", "gathered_row_traffic")}


def taken_apart() -> None:
    """Three operators of DeepSeek-V3 in FP8: what each part takes, and how near the law was there.
    """
    tokens, shown = np.array(TOKENS, float), []
    number("kn-newest", _newest(APART[0], SHOWN_CARD, SHOWN_ENGINE, "fp8-block").release, str)
    for kind in APART:
        row = _newest(kind, SHOWN_CARD, SHOWN_ENGINE, "fp8-block")
        whole = _time(row, tokens)
        rest = _time(row, tokens, **dict.fromkeys(FIXED[kind], 0.0))
        moved = whole - _time(row, tokens, **dict.fromkeys(MOVED[kind], 0.0))
        for count, law, left, rows_ in zip(TOKENS, whole, rest, moved, strict=True):
            errors = row.measured.regions[max(
                each for each in row.measured.regions if each <= count)]
            shown.append((OPERATORS[kind], count, law - left, rows_, left - rows_, law, " / ".join(
                fmt_percent(each, digits=0) for each in (errors.leaning, errors.median))))
    table(shown, [
        Column(0, common("operator")), Column(1, common("tokens")),
        Column(2, say("fixed-not-overlapped"), fmt_time),
        Column(3, say("rows-quantised-sorted-summed"), fmt_time),
        Column(4, say("loading-and-arithmetic"), fmt_time), Column(5, say("law"), fmt_time),
        Column(6, say("law-over-table-there-lean"))])


def releases() -> None:
    """What releases of each engine take for the same operators of DeepSeek-V3 in FP8."""
    tokens = np.array(TOKENS, float)
    for key, card, engine in (("kn-faster-vllm", SHOWN_CARD, "vllm"),
                              ("kn-faster-sglang", "nvidia-blackwell", "sglang")):
        first, *_, last = (float(_time(row, tokens)[0]) for row in rows() if (
            row.kind, row.fits.card, row.fits.engine, row.measured.dtype) == (
                BY_RELEASE[0], card, engine, "fp8-block"))
        number(key, first / last, fmt_sig)
    odd, after = (_time(row, tokens) for row in rows() if row.kind == BY_RELEASE[1] and (
        row.fits.card, row.fits.engine, row.measured.dtype) == ("nvidia-hopper", "sglang",
                                                                "fp8-block")
        and row.release in ODD)
    number("kn-odd", ODD[0], str)
    numbers({"kn-odd-times-low": float(np.min(odd / after)),
             "kn-odd-times-high": float(np.max(odd / after))}, fmt_sig, digits=2)

    def time(at: int, count: int) -> Column:
        return Column(lambda row: _time(row, tokens)[at],
                      say("tokens", count=count, tokens=fmt_int(count)), fmt_time)

    table([row for kind in BY_RELEASE for row in rows()
           if row.kind == kind and row.measured.dtype == "fp8-block"], [
        *TABLE_OF,
        Column(lambda row: row.release or say("first-tables"), say("from-release")),
        Column(lambda row: row.measured.kernel, say("kernel")),
        *(time(at, count) for at, count in enumerate(TOKENS))])


def picture(lang: str) -> Figure:
    """Errors by tokens, of every table of experts and dense matmuls in FP8 and FP4."""
    at = LANGUAGES.index(lang)
    drawing, panels = figures.panels(3.2, 1, len(APART), sharey=True)
    colours = figures.card_colours(CARDS.values())
    for axes, kind in zip(panels, APART, strict=True):
        for place, card in enumerate(CARDS):
            points = [(least, errors.leaning) for row in rows()
                      if row.kind == kind and row.fits.card == card
                      for least, errors in row.measured.regions.items()]
            for index, (least, lean) in enumerate(points):
                axes.plot(least * (1 + place / 12), PERCENT * lean, "o", ms=3, alpha=0.7,
                          color=colours[CARDS[card]], label=None if index else _card(card)[at])
        axes.axhline(0, color=figures.INK, lw=0.8)
        axes.set(xscale="log", xlabel=say("tokens-from")[at])
        axes.set_title(OPERATORS[kind][at], fontsize=9)
        axes.set_ylim(-60, 60)
    panels[0].set_ylabel(say("law-over-table")[at])
    panels[0].legend(fontsize=7)
    return drawing
