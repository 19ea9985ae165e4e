"""Measured bursts, compared with chunks that are packed.

Times are in seconds, lengths in tokens, rates in tokens per second.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import mean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import catalogue
from catalogue.messages import Pair, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import figure, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_in, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/derivations/measured/serving")

GRID = "s2-910b1-awq"  # bursts
SHORT, LONG = 128, 8192
TOGETHER = 8
DRAWN = (SHORT, 1024, 4096, LONG)
WITH_CACHE = (4096, LONG)  # prompts whose cache takes long enough to read
CROWDED = 4  # requests from which the means of the stall are taken
PARTS: dict[str, Pair] = {
    "cache": say("reading-cache"),
    "stall": say("stall-by-prefill-of-others")}


@dataclass(frozen=True)
class Burst:
    """A measured burst: tokens of each prompt and answer, requests, and mean times [s]."""

    tokens: int
    requests: int
    answer: float
    ttft: float
    tpot: float


@dataclass(frozen=True)
class Off:
    """How far two predictions of a measured TTFT are off, relative to it and with sign [1]."""

    tokens: int
    packed: float
    rule: float


@dataclass(frozen=True)
class Longer:
    """What a longer prompt adds to the TPOT: as measured, and by the two causes computed [s]."""

    tokens: int
    requests: int
    tpot: float
    more: float
    cache: float
    stall: float


class Grid:
    """Measured bursts; those of one request say what a chunk takes, without a model of the card."""

    def __init__(self, system: str = GRID) -> None:
        data = catalogue.load_measurements(system)
        columns = map(data.column, ("input_tokens", "concurrency", "output_tokens", "ttft", "tpot"))
        rows = [Burst(int(tokens), int(requests), answer, ttft, tpot)
                for tokens, requests, answer, ttft, tpot in zip(*columns, strict=True)]
        self.rows = {(row.tokens, row.requests): row for row in rows}
        self.trusted = [row for place, row in enumerate(rows, 1) if place not in data.suspect_rows]
        self.inputs = catalogue.load_scenario(system).inputs()
        self.budget = int(self.inputs["max_num_batched_tokens"])
        self._alone = sorted((row.tokens, row.ttft) for row in self.trusted if row.requests == 1)

    def chunk_time(self, tokens: float) -> float:
        """Measured time of one request of so many tokens, between the measured lengths linear."""
        tokens = max(tokens, self._alone[0][0])
        for (low, left), (high, right) in pairwise(self._alone):
            if tokens <= high:
                return left + (right - left) * (tokens - low) / (high - low)
        raise ValueError(f"no prompt as long as {tokens} tokens was measured alone")

    def packed(self, tokens: int, requests: int) -> float:
        """Mean TTFT of a burst of prompts no longer than a chunk [s]."""
        if requests == 1:
            return self.chunk_time(tokens)
        chunks, each = self._others(tokens, requests)
        waited = each * (chunks + max(1, chunks / (requests - 1))) / 2
        return self.chunk_time(tokens) + (requests - 1) / requests * waited

    def rule(self, tokens: int, requests: int) -> float:
        """Mean TTFT if every prompt were a prefill of its own [s]."""
        return (requests + 1) / 2 * self.chunk_time(tokens)

    def stall(self, tokens: int, requests: int, later: float) -> float:
        """Stall per later token of prompts no longer than a chunk, from measured times [s]."""
        if requests == 1:
            return 0.0
        chunks, each = self._others(tokens, requests)
        return (chunks * each + self.chunk_time(tokens) - self.packed(tokens, requests)) / later

    def _others(self, tokens: int, requests: int) -> tuple[int, float]:
        """Chunks of all prompts but the first, and the time of each [s]."""
        chunks = math.ceil((requests - 1) * tokens / self.budget)
        return chunks, self.chunk_time((requests - 1) * tokens / chunks)


def first_tokens(grid: Grid) -> None:
    """The numbers of the page's first paragraph."""
    factor = {tokens: grid.rows[tokens, TOGETHER].ttft / grid.rows[tokens, 1].ttft
              for tokens in (LONG, SHORT)}
    numbers({"intro-prompt": LONG, "intro-short": SHORT, "intro-burst": TOGETHER})
    numbers({"intro-alone": grid.rows[LONG, 1].ttft,
             "intro-together": grid.rows[LONG, TOGETHER].ttft}, fmt_time)
    numbers({"intro-ratio": factor[LONG], "intro-short-ratio": factor[SHORT]}, fmt_fixed, digits=1)


def errors_of_bursts(grid: Grid) -> list[Off]:
    """How far packed chunks and the rule are off, for each burst of prompts that a chunk holds."""
    return [Off(row.tokens, grid.packed(row.tokens, row.requests) / row.ttft - 1,
                grid.rule(row.tokens, row.requests) / row.ttft - 1)
            for row in grid.trusted if row.requests > 1 and row.tokens <= grid.budget]


def burst_numbers(grid: Grid, errors: Sequence[Off]) -> None:
    """Means and extremes of the errors, and the chunk that was assumed."""
    packed, rule = [abs(row.packed) for row in errors], [abs(row.rule) for row in errors]
    numbers({"burst-rows": len(errors), "burst-budget": grid.budget})
    numbers({"burst-packed": mean(packed), "burst-rule": mean(rule),
             "burst-packed-worst": max(packed), "burst-rule-worst": max(rule)},
            fmt_percent, digits=0)


def burst_picture(grid: Grid) -> None:
    """TTFT by requests: measured, of packed chunks, and by the rule, for some lengths."""
    def draw(lang: str) -> Figure:
        drawing, axes = figures.axes(height=3.9)
        for tokens, colour in zip(DRAWN, figures.PALETTE, strict=False):
            _lines_of_a_length(axes, grid, tokens, colour)
        figures.doubling(axes, [1, 2, 4, 8, 16, 32])
        axes.set_yscale("log", base=2)
        axes.set_yticks([0.25, 0.5, 1, 2, 4, 8], ["0.25", "0.5", "1", "2", "4", "8"])
        axes.set(xlim=(0.9, 48), xlabel=say("requests-that-arrive-together")[lang == "zh"],
                 ylabel=say("mean-ttft-s")[lang == "zh"])
        figures.legend(axes, {
            say("measured-by-prompt-length")[lang == "zh"]: {"marker": "o", "ms": 5, "ls": ""},
            say("chunks-packed")[lang == "zh"]: {},
            say("rule-of-prefills")[lang == "zh"]: {"ls": (0, (1, 2))}}, loc="upper left")
        return drawing

    figure("burst-ttft", draw)


def _lines_of_a_length(axes: Axes, grid: Grid, tokens: int, colour: str) -> None:
    points = [(row.requests, row.ttft) for row in grid.trusted if row.tokens == tokens]
    most = max(requests for requests, _ in points)
    line = range(1, most + 1)
    axes.plot(*zip(*points, strict=True), "o", ms=5, color=colour)
    axes.plot(line, [grid.packed(tokens, n) for n in line], color=colour)
    axes.plot(line, [grid.rule(tokens, n) for n in line], color=colour, lw=1.4, ls=(0, (1, 2)))
    axes.annotate(f"{tokens:,}", (most, grid.packed(tokens, most)), xytext=(6, -3),
                  textcoords="offset points", color=colour)


def longer_prompts(grid: Grid, derivation: Derivation) -> list[Longer]:
    """What longer prompts add to the TPOT of as many short ones, row by row."""
    def reading(tokens: int, requests: int) -> float:
        """Time to read the cache in a decode step [s]."""
        changed = {"input_tokens": tokens, "concurrency": requests,
                   "context_tokens": tokens + grid.inputs["output_tokens"]}
        return float(derivation.values(grid.inputs | changed, "mla")["decode_kv_time"])

    rows = []
    for row in grid.trusted:
        tokens, c, later = row.tokens, row.requests, row.answer - 1
        if tokens in WITH_CACHE and (SHORT, c) in grid.rows:
            rows.append(Longer(tokens, c, row.tpot, more=row.tpot - grid.rows[SHORT, c].tpot,
                cache=reading(tokens, c) - reading(SHORT, c),
                stall=grid.stall(tokens, c, later) - grid.stall(SHORT, c, later)))
    return rows


def longer_table(rows: Sequence[Longer]) -> None:
    """What longer prompts add, in milliseconds, and what the two causes add up to."""
    milliseconds = partial(fmt_in, unit="ms", digits=1)
    table(rows, [Column("tokens", say("prompt")), Column("requests", "$c_D$"),
                 Column("tpot", say("tpot-measured-ms"), milliseconds),
                 Column("more", say("more-than-with-short-prompts"), milliseconds),
                 Column("cache", say("cache"), milliseconds),
                 Column("stall", say("stall"), milliseconds),
                 Column(lambda row: row.cache + row.stall, common("sum"), milliseconds)],
          folded=say("row-by-row"))


def unexplained(rows: Sequence[Longer]) -> tuple[float, float]:
    """Mean of the difference that the cache alone, and cache and stall together, leave [s]."""
    crowded = [row for row in rows if row.requests >= CROWDED]
    cache = mean(abs(row.more - row.cache) for row in crowded)
    both = mean(abs(row.more - row.cache - row.stall) for row in crowded)
    numbers({"stall-without": 1e3 * cache, "stall-with": 1e3 * both}, fmt_fixed, digits=1)
    number("stall-from", min(row.requests for row in crowded))
    return cache, both


def longer_picture(grid: Grid, rows: Sequence[Longer]) -> None:
    """TPOT of short prompts and what is added to it by calculation, beside that of long ones."""
    rows = [row for row in rows if row.tokens == LONG]
    at = range(len(rows))

    def draw(lang: str) -> Figure:
        place = ("en", "zh").index(lang)
        drawing, axes = figures.axes(height=3.6)
        base = [grid.rows[SHORT, row.requests].tpot * 1e3 for row in rows]
        axes.bar(at, base, width=0.5, color=figures.PALETTE[figures.READ],
                 label=say("prompts-of-measured", tokens=SHORT)[place])
        for (name, label), kind in zip(PARTS.items(), (figures.CACHE, figures.WRONG), strict=True):
            more = [getattr(row, name) * 1e3 for row in rows]
            axes.bar(at, more, width=0.5, bottom=base, color=figures.PALETTE[kind],
                     label=label[place])
            base = [below + part for below, part in zip(base, more, strict=True)]
        axes.plot(at, [row.tpot * 1e3 for row in rows], "D", ms=6, color=figures.INK,
                  label=say("prompts-of-measured", tokens=f"{LONG:,}")[place])
        axes.set_xticks(list(at), [str(row.requests) for row in rows])
        axes.set(xlabel=common("number-of-requests")[place], ylabel=say("tpot-ms")[place])
        axes.legend(loc="upper left")
        return drawing

    figure("stall-tpot", draw)


def beside_a_burst(found: Mapping[Pair, Mapping[str, float]], shape: tuple[int, int]) -> None:
    """TTFT and TPOT of a burst and of a steady state, by system; the first one's in sentences."""
    headings = {"ttft": say("ttft-burst"), "steady_ttft": say("ttft-steady"),
                "tpot": say("tpot-burst"), "steady_tpot": say("tpot-steady")}
    table(*crossed(common("deepseek-v3-on"), {label: {name: values[name] for name in headings}
                                              for label, values in found.items()},
                   headings, fmt_time))
    first, (prompt, answer) = next(iter(found.values())), shape
    numbers({"steady-requests": int(first["concurrency"]), "steady-prompt": prompt,
             "steady-answer": answer})
    numbers({"steady-burst-ttft": first["ttft"], "steady-ttft": first["steady_ttft"],
             "steady-burst-tpot": first["tpot"], "steady-tpot": first["steady_tpot"]}, fmt_time)
