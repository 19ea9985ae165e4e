"""What plans state and systems measured, held to Little's law and to chunks that are packed.

Times are in seconds, lengths in tokens, rates in tokens per second.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from statistics import mean

import sympy
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import catalogue
from catalogue.messages import Pair, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.symbols import latex
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import figure, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_in, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/derivations/measured/serving")

PLAN, OTHER_PLAN = "s1-plan-c", "s0-scenario-1"
GRID, QUEUED = "s2-910b1-awq", "h200-r1-sglang-mtp"  # bursts; a limit on requests in flight
AUDITED = ("concurrency", "ttft", "tpot", "output_throughput", "output_tokens")
SHORT, LONG = 128, 8192
TOGETHER = 8
DRAWN = (SHORT, 1024, 4096, LONG)
WITH_CACHE = (4096, LONG)  # prompts whose cache takes long enough to read
CROWDED = 4  # requests from which the means of the stall are taken
PARTS: dict[str, Pair] = {
    "cache": say("reading-cache"),
    "stall": say("stall-by-prefill-of-others")}


@dataclass(frozen=True)
class PlanTargets:
    """What a plan asks for: users, times [s], and rates [token/s] that it aims at and expects."""

    users: int
    ttft: float
    tpot: float
    rate: float
    expected: float


@dataclass(frozen=True)
class Audit:
    """Requests in flight by the law over those stated, over the rows of a measured system [1]."""

    name: Pair
    rows: int
    low: float
    high: float


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


def claimed(scenario: str, quantity: str, place: int = 0) -> float:
    """A value that a document prints of a deployment (SI); of several that in a place."""
    documented = catalogue.load_scenario(scenario).documented
    assert documented  # of the plans that are asked for
    claims = [claim.value for claim in documented.claims if claim.quantity == quantity]
    return claims[place].value


def plan_targets() -> PlanTargets:
    """What the document asks of its plan."""
    of_plan = partial(claimed, PLAN)
    users = catalogue.load_scenario(PLAN).file.workload.concurrency
    assert users
    return PlanTargets(int(users.value), of_plan("ttft"), of_plan("tpot"),
                       of_plan("output_throughput"), of_plan("output_throughput", 2))


def what_is_asked(asked: PlanTargets) -> None:
    """The numbers of the page's first paragraph."""
    numbers({"asked-users": asked.users, "asked-rate": asked.rate,
             "asked-most": round(asked.users / asked.tpot)})
    number("asked-tpot", asked.tpot, fmt_time)


def cases_of_the_rate(single: sympy.Expr, long_run: sympy.Expr) -> None:
    """The rate for answers of one token and for endless ones, and what it lacks of the latter."""
    table([{"case": "$n_{\\mathrm{out}} = 1$", "value": f"$X = {latex(single)}$"},
           {"case": say("one-replica-of-full-chunks"),
            "value": "$X = \\dfrac{c}{h_r + c \\, S} \\to \\dfrac{1}{S}$"},
           {"case": "$n_{\\mathrm{out}} \\to \\infty$", "value": f"$X \\to {latex(long_run)}$"},
           {"case": "$c/\\tau - X$",
            "value": "$\\dfrac{c \\, (\\tau_1 - \\tau)}{\\tau \\, \\tau_{\\mathrm{e2e}}}"
                     " \\ge 0 \\iff \\tau_1 \\ge \\tau$"}],
          {"case": common("case"), "value": common("result")})


def plans(asked: PlanTargets) -> None:
    """What concurrency and pace of the documents allow, beside the throughput that they print."""
    other = partial(claimed, OTHER_PLAN)
    rows = [{"plan": label, "c": round(requests), "tau": fmt_time(interval), "claim": round(claim),
             "most": round(requests / interval), "needed": fmt_fixed(claim * interval, 0)}
            for label, requests, interval, claim in (
                (say("s1-target"), asked.users, asked.tpot, asked.rate),
                (say("s1-expected"), asked.users, asked.tpot, asked.expected),
                (say("s0-scenario-table"), other("max_concurrency"),
                 other("tpot"), other("output_throughput", 1)))]
    table(rows, {"plan": say("plan"), "c": "$c$", "tau": "$\\tau$", "claim": say("claimed-token-s"),
                 "most": say("at-most-token-s"), "needed": say("users-needed")})
    _, expected, tabulated = rows
    numbers({"plan-needed": expected["needed"], "plan-two": tabulated["needed"]}, str)
    number("plan-pace", asked.users / asked.expected, fmt_time)
    number("plan-two-stated", tabulated["c"])


def audit() -> dict[str, Audit]:
    """Each measured system that states all it takes, held to the law."""
    audits = {name: _audit(name) for name in catalogue.names("measurements")}
    return {name: row for name, row in audits.items() if row}


def _audit(name: str) -> Audit | None:
    data = catalogue.load_measurements(name)
    if not set(AUDITED) <= set(data.columns):
        return None
    ratios = [rate * (first + (out - 1) * later) / out / stated for stated, first, later, rate, out
              in zip(*map(data.column, AUDITED), strict=True)]
    ratios = [ratio for ratio in ratios if not math.isnan(ratio)]  # of an empty cell
    if not ratios:
        return None
    return Audit(entry_label(data), len(ratios), min(ratios), max(ratios))


def audit_table(audited: Mapping[str, Audit]) -> None:
    """The least and the most in flight over what is stated, a row per measured system."""
    table(audited.values(), [
        Column("name", say("measured-system")), Column("rows", common("rows")),
        Column("low", say("smallest-ratio"), fmt_fixed),
        Column("high", say("largest-ratio"), fmt_fixed)], wide=True)
    number("audit-rows", audited[GRID].rows)


def queued(audited: Mapping[str, Audit]) -> tuple[float, float, float]:
    """Limit on the requests in flight of a system that queues, those by the law, those sent."""
    limit, sent = (catalogue.load_measurements(QUEUED).column(name)[0]
                   for name in ("concurrency", "requests"))
    inside = audited[QUEUED].high * limit
    numbers({"audit-limit": round(limit), "audit-sent": round(sent), "audit-inside": round(inside)})
    return limit, inside, sent


def most_in_flight(audits: Iterable[Audit]) -> float:
    """The most in flight over what is stated, of several systems [1]."""
    over = max(row.high for row in audits)
    number("audit-over", over, fmt_fixed)
    return over


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


def exercise_of_a_claim() -> None:
    """The numbers of the exercise on a claim that contradicts itself."""
    users, interval, claim = 32, 0.020, 3000
    numbers({"exercise-users": users, "exercise-claim": claim,
             "exercise-most": round(users / interval)})
    number("exercise-pace", interval, fmt_time)
    number("exercise-ratio", claim * interval / users, fmt_fixed, digits=1)


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
