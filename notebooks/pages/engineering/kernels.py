"""Laws of kernels beside the tables that they were fitted to: errors, parts, and releases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.kernels.fitting import REGIONS
from calc.kernels.law import Law
from calc.kernels.matmuls import DENSE, SENT, SLICES, WHOLE, rank_columns
from calc.kernels.missing import within_bars
from calc.kernels.missing.columns import LEAST_JUMP
from calc.kernels.missing.explained import MEDIAN, MOST
from calc.kernels.missing.switches import ALIKE, LESS
from calc.kernels.rows.of_every_operator import FORMATS, of_card
from calc.kernels.writing import NAMES
from catalogue.entries.profiles import Fits, KernelFit, Measured, in_order
from catalogue.messages import Pair, messages
from notebooks.pages.engineering.missed.named import KNOWN
from notebooks.pages.engineering.missed.words import why
from notebooks.show import figures
from notebooks.show.display import LANGUAGES, figure, number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/engineering/kernels")

PERCENT = 100
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
LAWS = {("gemm", None): DENSE, ("experts", "slices"): SLICES, ("experts", "whole"): WHOLE,
        ("experts", "sent"): SENT}
BEFORE = {"median_before": say("without-fits-median"),
          "most_before": say("without-fits-nine-of-ten")}
APART = (("gemm", None), ("experts", "slices"), ("experts", "whole"))  # operators taken apart
BY_RELEASE = APART[:2]  # operators shown release by release
CARDS = {"nvidia-h200": "nvidia-h200-sxm", "nvidia-hopper": "nvidia-h100-sxm",
         "nvidia-blackwell": "nvidia-b200", "nvidia-ampere": "nvidia-a100-sxm-80gb",
         "nvidia-ada": "nvidia-l40s"}
# taken apart: DeepSeek-V3's output projection of a rank of eight, its experts cut by eight, and
# whole on eight ranks, on the card that most tables are of
SHOWN_CARD, SHOWN_ENGINE, RANKS = "nvidia-h200", "vllm", 8
TOKENS = (1, 64, 1024, 16384)
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
        return bool(self.measured.parameters)

    @property
    def kept(self) -> bool:
        """Whether the law is as near as it is to be."""
        judged = self.measured.judged
        return within_bars(judged.median, judged.most)

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
    number("kn-fits", len(every), fmt_int)
    number("kn-rows", sum(row.measured.judged.rows for row in every if row.fitted), fmt_int)
    number("kn-median", float(np.median([row.measured.judged.median for row in every])),
           fmt_percent, digits=0)
    number("kn-kept", sum(row.kept for row in every) / len(every), fmt_percent, digits=0)
    number("kn-unfitted", sum(not row.fitted for row in every), fmt_int)
    sent = [row.measured.judged for row in every if row.measured.operator == "exchange"
            and row.fitted]
    number("kn-exchange-median", max(each.median for each in sent), fmt_percent, digits=0)
    number("kn-exchange-most", max(each.most for each in sent), fmt_percent, digits=0)
    number("kn-bar-median", MEDIAN, fmt_percent, digits=0)
    number("kn-bar-most", MOST, fmt_percent, digits=0)
    blocks = [row for row in every if row.kind == BLOCK]
    number("kn-block-median", max(row.measured.judged.median for row in blocks), fmt_percent,
           digits=0)
    kernels = sorted(round(row.statement.mechanisms["attention_operators"].value)
                     for row in blocks)
    number("kn-block-fewest", kernels[0], fmt_int)
    number("kn-block-most", kernels[-1], fmt_int)
    sparse = sorted(row.statement.mechanisms["latent_core_latency"].value
                    for row in every if row.kind == SPARSE_BLOCK)
    number("kn-sparse-least", sparse[0], fmt_quantity, unit="s")
    number("kn-sparse-most", sparse[-1], fmt_quantity, unit="s")
    number("kn-block-counted", catalogue.load("mechanisms", SHOWN_CARD).operators
           .latent_attention.value, fmt_int)
    shown = []
    for kind, operator in OPERATORS.items():
        for card in CARDS:
            both = [row for row in every if row.kind == kind and row.fits.card == card]
            some = [row for row in both if row.fitted]
            if some:
                judged = [row.measured.judged for row in some]
                shown.append({
                    "operator": operator, "card": _card(card), "tables": fmt_int(len(some)),
                    "others": fmt_int(len(both) - len(some)) if len(both) > len(some) else "–",
                    "rows": fmt_int(sum(each.rows for each in judged)),
                    **_before(some),
                    "median": fmt_percent(float(np.median([each.median for each in judged]))),
                    "most": fmt_percent(float(np.median([each.most for each in judged]))),
                    "kept": fmt_int(sum(row.kept for row in some))})
    table(shown, {"operator": common("operator"), "card": common("card"),
                  "median": say("error-median"),
                  "most": say("nine-of-ten-within"), **BEFORE,
                  "tables": say("tables-fitted"),
                  "kept": say("tables-within-both-bars"),
                  "others": say("only-judged"),
                  "rows": say("rows-that-judge")})


def _before(some: list[Row]) -> dict[str, str]:
    """Errors of the card's values alone on the same rows, in the median of tables."""
    known = [row.measured.before for row in some if row.measured.before]
    return {f"{name}_before": fmt_percent(float(np.median([getattr(each, name) for each in known])))
            if known else "–" for name in ("median", "most")}


def _card(mechanisms: str) -> Pair:
    device = catalogue.load_device(CARDS[mechanisms])
    return tuple(device.name[lang].removeprefix(f"{device.vendor} ") for lang in LANGUAGES)


def every_fit() -> None:
    """Each table: engine, release, kernel, errors, where the law leans and where it misses."""
    shown = []
    for row in sorted(rows(), key=lambda row: (list(OPERATORS).index(row.kind), row.fits.card,
                                               row.fits.engine, row.measured.dtype)):
        judged = row.measured.judged
        shown.append({
            "operator": OPERATORS[row.kind], "card": _card(row.fits.card),
            "engine": row.fits.engine, "release": row.release or "–", "dtype": row.measured.dtype,
            "kernel": row.measured.kernel, **_before([row]),
            "median": fmt_percent(judged.median),
            "most": fmt_percent(judged.most),
            "few": _leaning(row, 0, FEW), "many": _leaning(row, MANY, None),
            "missed": "–" if row.kept else _farthest(row),
            "why": "–" if row.kept else why(row.measured.missed)})
    table(shown, {"operator": common("operator"), "card": common("card"),
                  "engine": common("engine"), "release": say("from-release"),
                  "dtype": common("format"), "kernel": say("kernel"),
                  "median": common("median"), "most": say("nine-of-ten"),
                  "few": say("lean-few-tokens"),
                  "many": say("lean-many"),
                  "missed": say("misses-most-at"),
                  "why": say("because-of")})


def misses() -> None:
    """Why laws miss: how many tables by cause, and the switches that source names."""
    missing = [row for row in rows() if not row.kept]
    causes = [row.measured.missed for row in missing if row.measured.missed]
    for name, some in (
            ("missing", missing), ("switched", [each for each in causes if each.switches]),
            ("by-switches", [each for each in causes if not each.rest]),
            ("leaning", [each for each in causes if each.rest and each.rest.how == "trend"]),
            ("scattered", [each for each in causes if each.rest and each.rest.how == "scatter"])):
        number(f"kn-{name}", len(some), fmt_int)
    for name, share in (("jump", np.expm1(LEAST_JUMP)), ("alike", ALIKE), ("less", LESS)):
        number(f"kn-{name}", float(share), fmt_percent, digits=0)
    shown = []
    for known in KNOWN:
        of = [(row, switch) for row in missing if row.measured.missed
              for switch in row.measured.missed.switches if known.is_of(row.measured, switch)]
        if of:
            sizes = sorted(max(switch.factor, 1 / switch.factor) for _, switch in of)
            shown.append({
                "switch": known.name, "tables": fmt_int(len({id(row) for row, _ in of})),
                "factor": f"{fmt_fixed(sizes[0], 2)}–{fmt_fixed(sizes[-1], 2)}×"
                if len(sizes) > 1 else f"{fmt_fixed(sizes[0], 2)}×",
                "cards": tuple(", ".join(dict.fromkeys(_card(row.fits.card)[lang]
                                                       for row, _ in of)) for lang in (0, 1)),
                "where": known.where})
    number("kn-named", len(shown), fmt_int)
    table(shown, {"switch": say("switch"), "tables": say("tables"),
                  "factor": common("factor"), "cards": common("cards"),
                  "where": say("named-by")})


def _leaning(row: Row, least: int, most: int | None) -> str:
    """Law over table less one, of the regions between two numbers of tokens, by their rows."""
    some = [errors for tokens, errors in row.measured.regions.items()
            if tokens >= least and (most is None or tokens < most)]
    if not some:
        return "–"
    return fmt_percent(sum(each.leaning * each.rows for each in some)
                       / sum(each.rows for each in some), digits=0)


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
    known = of_card(device, catalogue.load("mechanisms", row.fits.card), multiplied, stored)
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
    for kind in APART:
        words, row = OPERATORS[kind], _newest(kind, SHOWN_CARD, SHOWN_ENGINE, "fp8-block")
        whole = _time(row, tokens)
        rest = _time(row, tokens, kernel_boundary=0.0, **dict.fromkeys(FIXED[kind], 0.0))
        moved = whole - _time(row, tokens, **dict.fromkeys(MOVED[kind], 0.0))
        for at, count in enumerate(TOKENS):
            least = max(each for each in row.measured.regions if each <= count)
            errors = row.measured.regions[least]
            shown.append({
                "operator": words, "tokens": fmt_int(count),
                "fixed": fmt_quantity(float(whole[at] - rest[at]), "s"),
                "moved": fmt_quantity(float(moved[at]), "s"),
                "matmul": fmt_quantity(float(rest[at] - moved[at]), "s"),
                "law": fmt_quantity(float(whole[at]), "s"),
                "off": f"{fmt_percent(errors.leaning, digits=0)} / "
                       f"{fmt_percent(errors.median, digits=0)}"})
    table(shown, {"operator": common("operator"), "tokens": common("tokens"),
                  "fixed": say("whatever-tokens"),
                  "moved": say("rows-quantised-sorted-summed"),
                  "matmul": say("loading-and-arithmetic"), "law": say("law"),
                  "off": say("law-over-table-there-lean")})


def releases() -> None:
    """What releases of each engine take for the same operators of DeepSeek-V3 in FP8."""
    tokens, shown = np.array(TOKENS, float), []
    for key, card, engine in (("kn-faster-vllm", SHOWN_CARD, "vllm"),
                              ("kn-faster-sglang", "nvidia-blackwell", "sglang")):
        first, *_, last = (float(_time(row, tokens)[0]) for row in rows() if (
            row.kind, row.fits.card, row.fits.engine, row.measured.dtype) == (
                BY_RELEASE[0], card, engine, "fp8-block"))
        number(key, first / last, fmt_sig)
    for kind in BY_RELEASE:
        for row in (row for row in rows() if row.kind == kind
                    and row.measured.dtype == "fp8-block"):
            times = _time(row, tokens)
            shown.append({"operator": OPERATORS[kind],
                          "card": _card(row.fits.card), "engine": row.fits.engine,
                          "release": row.release or say("first-tables"),
                          "kernel": row.measured.kernel,
                          **{f"t{count}": fmt_quantity(float(time), "s")
                             for count, time in zip(TOKENS, times, strict=True)}})
    table(shown, {"operator": common("operator"), "card": common("card"),
                  "engine": common("engine"), "release": say("from-release"),
                  "kernel": say("kernel"),
                  **{f"t{count}": say("tokens", tokens=fmt_int(count))
                     for count in TOKENS}})


def picture() -> None:
    """Errors by tokens, of every table of experts and dense matmuls in FP8 and FP4."""
    figure("kernel_errors", _drawn)


def _drawn(lang: str) -> Figure:
    at = int(lang == "zh")
    figures.style()
    drawing = Figure(figsize=(figures.WIDTH, 3.2))
    panels = drawing.subplots(1, len(APART), sharey=True)
    for axes, kind in zip(panels, APART, strict=True):
        for place, card in enumerate(CARDS):
            for index, (least, lean) in enumerate(_by_region(kind, card)):
                axes.plot(least * (1 + place / 12), lean, "o", ms=3, color=figures.PALETTE[place],
                          label=_card(card)[at] if index == 0 else None, alpha=0.7)
        axes.axhline(0, color=figures.INK, lw=0.8)
        axes.set(xscale="log", xlabel=say("tokens-from")[at])
        axes.set_title(OPERATORS[kind][at], fontsize=9)
        axes.set_ylim(-60, 60)
    panels[0].set_ylabel(say("law-over-table")[at])
    panels[0].legend(fontsize=7)
    return drawing


def _by_region(kind: tuple[str, str | None], card: str) -> Iterator[tuple[int, float]]:
    for row in rows():
        if row.kind == kind and row.fits.card == card:
            for least, errors in row.measured.regions.items():
                yield least, errors.leaning * PERCENT
