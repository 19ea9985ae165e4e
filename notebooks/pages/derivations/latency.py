"""The laws of the chapter on latency: what they come out as, and kernels measured beside them.

Expressions and the law of an operator are handed in. Times are in seconds, sizes in bytes, rates
in bytes or operations per second.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sympy
from matplotlib.figure import Figure

import catalogue
from catalogue.messages import Pair, messages
from notebooks.derive.formulas.symbols import latex, symbol
from notebooks.derive.steps.phases import composition, of
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import LANGUAGES, figure, interval, markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/derivations/latency")

Law = Callable[[float, float, float], Any]  # of arithmetic, bytes and what is hidden; a time
Classes = Mapping[str, Sequence["RowClass"]]
MULTIPLY_ADD = 2  # operations
STORED = {"bf16": 2, "int8": 1, "fp8": 1}  # bytes of a weight
TERA = 1e12
RANKS, TOKENS_PER_RANK = (8, 32, 144), (1, 8, 64)
PICOSECONDS = 1e12  # of a second
CARD: Pair = common("card-and-dtype")
NAMES: dict[str, Pair] = {
    "attention": common("attention-projections"), "dense_mlp": common("dense-mlp"),
    "shared_expert": common("shared-expert"), "routed_expert": common("routed-experts"),
    "router": common("router"), "head": common("output-head")}
LAWS_OF_ALL_REDUCE: dict[str, Pair] = {
    "one-shot": say("one-shot-switch"), "ring": say("ring-switch"),
    "mesh": say("one-shot-full-mesh")}


@dataclass(frozen=True)
class Measured:
    """A card and a dtype whose kernels were measured, those of experts on experts of a model."""

    benchmark: str
    dtype: str
    label: Pair
    kernel_of_few_rows: str
    experts_of: str = "deepseek-v3"


STREAMING = {"routed_expert": "expert_streaming_efficiency"}  # other classes: as any matrix
MEASURED = {
    "910b-bf16": Measured("ascend-910b", "bf16", say("ascend-bf16"), "moe-block"),
    "910b-int8": Measured("ascend-910b", "int8", say("ascend-int8"), "moe-block"),
    "h800-fp8": Measured("nvidia-h800", "fp8", say("h800-fp8"), "grouped-gemm"),
    "h20-fp8": Measured("nvidia-h20", "fp8", say("h20-fp8"), "grouped-gemm",
                        "qwen3-235b-a22b")}


@dataclass(frozen=True)
class RowClass:
    """A class of rows of a matmul, and what both ends of the law say of it."""

    rows: list[int]  # fewest and most
    m: float  # their geometric mean
    rate: float  # as measured [FLOP/s]
    top: float  # that with the most rows [FLOP/s]
    ridge: float  # rows at which arithmetic takes as long as reading
    last: bool  # whether it has the most rows
    overlapped: float  # error of the law with everything hidden [1]
    serial: float  # the same with nothing hidden [1]
    hidden: float  # share of the shorter that would have to be hidden [1]


def signed(value: float, digits: int = 0) -> str:
    """A percentage with its sign."""
    text = fmt_percent(value, digits)
    if text.strip("−0.%") == "":
        return text.lstrip("−")
    return ("+" if value > 0 else "") + text


def page_letters(expr: sympy.Expr, **names: str) -> str:
    """An expression in letters that only this page has, some written otherwise."""
    written = {letter: names.get(letter.name, sympy.latex(letter)) for letter in expr.free_symbols}
    return f"${sympy.latex(expr, symbol_names=written, ln_notation=True)}$"


def book_letters(expr: sympy.Expr) -> str:
    """An expression in the letters of the book."""
    return f"${latex(expr)}$"


def cases(rows: Iterable[tuple[Pair, str]], heading: Pair | None = None) -> None:
    """What something comes out as, case by case."""
    table([{"case": case, "value": value} for case, value in rows],
          {"case": heading or common("case"), "value": common("result")})


def measured_classes(law: Law) -> dict[str, list[RowClass]]:
    """Every class of rows of the matmuls that were measured, beside both ends of the law."""
    return {key: list(_classes(entry, law)) for key, entry in MEASURED.items()}


def _classes(measured: Measured, law: Law) -> Iterable[RowClass]:
    rates = [rate for rate in catalogue.load("microbenchmarks", measured.benchmark).rates
             if rate.dtype == measured.dtype]
    matmuls, streams = (sorted((rate for rate in rates if rate.kernel == kernel),
                               key=lambda rate: rate.rows)
                        for kernel in ("gemm", "weight-streaming"))
    top, streaming = matmuls[-1].rate.value, streams[0].rate.value
    for rate in matmuls:
        m = math.sqrt(rate.rows[0] * rate.rows[1])
        compute, memory = MULTIPLY_ADD * m / top, STORED[measured.dtype] / streaming
        taken = MULTIPLY_ADD * m / rate.rate.value
        yield RowClass(
            rows=rate.rows, m=m, rate=rate.rate.value, top=top, ridge=m * memory / compute,
            last=rate is matmuls[-1], overlapped=float(law(compute, memory, 1)) / taken - 1,
            serial=float(law(compute, memory, 0)) / taken - 1,
            hidden=1 - (taken - max(compute, memory)) / min(compute, memory))


def law_beside_measured(classes: Classes) -> None:
    """Errors of both ends of the law, class by class, and the share hidden that fits."""
    table([{"card": MEASURED[key].label, **vars(c)} for key, series in classes.items()
           for c in series], [
        Column("card", CARD),
        Column(lambda c: "–".join(map(fmt_int, dict.fromkeys(c["rows"]))), common("rows")),
        Column(lambda c: c["rate"] / TERA, say("measured-tflops-int8-tops"), fmt_sig, digits=3),
        Column("overlapped", say("error-in-time-of"), signed),
        Column("serial", say("error-in-time-of-2"), signed),
        Column(lambda c: None if c["last"] else c["hidden"], say("that-fits"), fmt_fixed)])


def numbers_of_measured(classes: Classes) -> None:
    """The two classes about the ridge point; what the H800 hides near it, the H20 as fitted."""
    middle = [c for c in classes["910b-bf16"] if c.rows in ([256, 256], [512, 512])]
    number("measured-serial", max(abs(c.serial) for c in middle), fmt_percent, digits=0)
    for place, c in enumerate(middle):
        number(f"measured-rows-{place}", c.rows[0])
        number(f"measured-overlapped-{place}", -c.overlapped, fmt_percent, digits=0)
    near = sorted(c.hidden for c in classes["h800-fp8"]
                  if not c.last and 1 / 4 < c.m / c.ridge < 4)
    number("measured-hidden-h800-fp8", near[len(near) // 2], fmt_fixed, digits=1)
    fitted = catalogue.load("mechanisms", "nvidia-h20").load_overlap
    interval("measured-fitted-h20", (fitted.value, fitted.low, fitted.high), fmt_sig, digits=1)
    v3 = catalogue.model_inputs(catalogue.load_model("deepseek-v3"))
    ranks = 8  # of a tensor-parallel group, which share the heads
    shapes = [(v3["hidden_size"], v3["num_attention_heads"] * v3["v_head_dim"] / ranks),
              (v3["hidden_size"], v3["intermediate_size"])]
    for place, (wide, deep) in enumerate(shapes):  # activations in and out over the weights
        number(f"measured-activations-{place}", middle[1].m * (1 / wide + 1 / deep), fmt_percent,
               digits=0)


def overlap_of_loading(classes: Classes) -> None:
    """The rates that were measured between both ends of the law, over rows about the ridge."""
    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, ax = figures.axes(height=4.0)
        ratio = [2 ** (n / 8) for n in range(-44, 68)]
        ax.plot(ratio, [min(r, 1) for r in ratio], color=figures.INK, lw=1.2, ls=(0, (4, 3)),
                label=say("all-hidden-roofline")[at])
        ax.plot(ratio, [r / (1 + r) for r in ratio], color=figures.INK, lw=1.2,
                label=say("one-after-other")[at])
        for (key, series), colour, marker in zip(classes.items(), figures.PALETTE, "osD^",
                                                 strict=False):
            ax.plot([c.m / c.ridge for c in series], [c.rate / c.top for c in series], marker,
                    ms=5.5, color=colour, label=MEASURED[key].label[at])
        ax.set(xscale="log", yscale="log", ylim=(0.03, 1.3),
               xlabel=say("rows-over-rows-of-ridge")[at],
               ylabel=say("rate-over-rate-with-many")[at])
        ax.set_xticks([1 / 16, 1 / 4, 1, 4, 16, 64], ["1/16", "1/4", "1", "4", "16", "64"])
        ax.set_yticks([0.05, 0.1, 0.2, 0.5, 1], ["5%", "10%", "20%", "50%", "100%"])
        ax.legend(loc="lower right", fontsize=8.5)
        return fig

    figure("overlap-of-loading", picture)


def letters_of_classes(classes: Iterable[str], rows: Callable[[str, str], sympy.Expr]) -> None:
    """The letters of a decode step in the law: rows by phase and class; of whole experts."""
    def letters(cls: str) -> dict[str, sympy.Expr]:
        return {"flops": of("decode", f"{cls}_flops"), "peak": symbol(f"{cls}_peak"),
                "share": symbol(f"{cls}_gemm_efficiency"), "bytes": of("decode", f"{cls}_bytes"),
                "stream": symbol(STREAMING.get(cls, "hbm_efficiency")), "rows": rows("decode", cls),
                "time": of("decode", f"{cls}_time")}

    table([{"class": NAMES[cls],
            **{key: book_letters(expr) for key, expr in letters(cls).items()}} for cls in classes],
          {"class": common("class"), "time": common("time"), "flops": say("operations"),
           "rows": common("rows"), "peak": say("peak"), "share": say("share-of-it"),
           "bytes": say("bytes"), "stream": say("share-of-bandwidth")})
    last_tokens = book_letters(composition("prefill").rows)
    markdown(*say("other-classes-have-same-equation", last_tokens=last_tokens))


def experts_with_few_rows(law: Law) -> list[float]:
    """Time per weight of experts with few rows, by the law and as measured.

    Returns the errors of the law, card by card [1].
    """
    def picoseconds(time: float) -> str:
        return fmt_fixed(PICOSECONDS * time)

    rows = [_few_rows(entry, law) for entry in MEASURED.values()]
    table(rows, [Column("card", CARD), Column("rows", common("rows-per-expert")),
                 Column("tile", "$m_e$", fmt_fixed, digits=0),
                 Column("compute", say("arithmetic-of-tile-ps"), picoseconds),
                 Column("memory", say("weights-and-rows-ps"), picoseconds),
                 Column("vector", say("vector-unit-ps"), picoseconds),
                 Column("law", say("by-law-ps"), picoseconds),
                 Column("measured", say("measured-ps"), picoseconds),
                 Column("error", common("error"), signed)])
    return [row["error"] for row in rows]


def _few_rows(measured: Measured, law: Law) -> dict[str, Any]:
    benchmark = catalogue.load("microbenchmarks", measured.benchmark)
    card = catalogue.load_device(benchmark.device)
    prior = catalogue.load("mechanisms", card.mechanisms)
    shape = catalogue.model_inputs(catalogue.load_model(measured.experts_of))
    d, inside = shape["hidden_size"], shape["moe_intermediate_size"]
    dtype, bandwidth = measured.dtype, card.memory_bandwidth.value
    rate = next(rate for rate in benchmark.rates if rate.kernel == measured.kernel_of_few_rows
                and rate.dtype == dtype and rate.rate.unit == "B/s")
    tile = (prior.expert_tile_rows or prior.gemm_tile_rows).value
    m = math.sqrt(rate.rows[0] * rate.rows[1])
    moved = m * (2 * d + 3 * inside) * STORED["bf16"] / (3 * d * inside)
    compute = MULTIPLY_ADD * max(tile, m) / (
        getattr(card.matrix_peak, dtype).value * prior.clock_factor.value
        * getattr(prior.grouped_gemm_efficiency, dtype).value)
    memory = (STORED[dtype] + moved) / (bandwidth * prior.expert_streaming_efficiency.value)
    gathered = moved if measured.kernel_of_few_rows == "moe-block" else 0.0  # a matmul gathers none
    vector = gathered / (bandwidth * card.hbm_efficiency.value)
    predicted = vector + float(law(compute, memory, prior.expert_load_overlap.value))
    taken = STORED[dtype] / rate.rate.value
    return {"card": measured.label, "rows": f"{rate.rows[0]}–{rate.rows[1]}", "tile": tile,
            "compute": compute, "memory": memory, "vector": vector, "law": predicted,
            "measured": taken, "error": predicted / taken - 1}


def gain_of_narrow_weights(gain: sympy.Expr, fused: sympy.Expr, most: sympy.Expr,
                           even: sympy.Expr) -> None:
    """How much faster weights are that are widened first, and the ends of it.

    Args:
        gain: over weights of 16 bits [1].
        fused: the same if nothing passes through L2 [1].
        most: the same if the weights took no space [1].
        even: traffic per weight from which nothing is gained [B].
    """
    cases((case, page_letters(expr, r=r"\eta_m B_m")) for case, expr in (
        (say("speed-up-over-bit-weights"), gain), (say("with-fused-kernel"), fused),
        (say("with-weights-of-no-size"), most), (say("no-faster-at-all-at"), even)))


def times_of_a_narrow_weight(size: float, wide: float, bandwidth: float, widen: float) -> None:
    """The times of one weight of a routed expert on the 910B1.

    Args:
        size, wide: bytes of a weight as stored, scale included, and of 16 bits [B].
        bandwidth: at which weights are read [B/s].
        widen: time to widen it [s].
    """
    table([(say("bytes-of-weight-scale-included"), fmt_fixed(size, 3)),
           (say("times-smaller-than-bits"), fmt_fixed(wide / size)),
           (say("time-to-read-one-ps"), fmt_fixed(size / bandwidth * PICOSECONDS)),
           (say("time-to-widen-it-ps"), fmt_fixed(widen * PICOSECONDS)),
           (say("time-to-read-bit-one"), fmt_fixed(wide / bandwidth * PICOSECONDS))],
          [Column(0, say("ascend-routed-experts-in-w4a16")), Column(1, common("value"))])


def numbers_of_narrow_weights(fewer: float, faster: sympy.Expr, most: sympy.Expr,
                              share: float) -> None:
    """Fewer bytes by, faster by, faster at most by, and share of the bandwidth [1]."""
    numbers({"widened-fewer": fewer, "widened-most": float(most)}, fmt_fixed, digits=1)
    number("widened-faster", float(faster), fmt_fixed, digits=2)
    number("widened-share", share, fmt_percent, digits=0)


def excess_of_large_loads(excess: sympy.Expr) -> None:
    """What the excess of the slowest rank tends to."""
    tends_to = f"$\\sqrt{{{page_letters(excess ** 2).strip('$')}}}$"
    markdown(*say("for-large-loads-best-is", tends_to=tends_to))


def excess_of_the_slowest(choices: int, bounds: Sequence[Callable[[int, int], float]]) -> None:
    """The slowest rank's load over the mean.

    Args:
        choices: per token.
        bounds: lower and upper, of the largest load for so many choices among so many ranks.
    """
    between = {(size, tokens): [bound(choices * tokens * size, size) / (choices * tokens) - 1
                                for bound in bounds]
               for size in RANKS for tokens in TOKENS_PER_RANK}
    table([{"ranks": size, "tokens": tokens, "mean": choices * tokens,
            "low": fmt_percent(low, 0), "high": fmt_percent(high, 0),
            "large": fmt_percent(math.sqrt(2 * math.log(size) / (choices * tokens)), 0)}
           for (size, tokens), (low, high) in between.items()],
          {"ranks": common("ranks"), "tokens": say("tokens-per-rank"), "mean": say("mean-load"),
           "low": say("excess-at-least"), "high": say("at-most"), "large": say("for-large-loads")})
    low, high = between[32, 64]
    numbers({"slowest-low": low, "slowest-high": high}, fmt_percent, digits=0)


def ends_of_loading(none_away: sympy.Expr, all_away: sympy.Expr, missing: sympy.Expr) -> None:
    """Times of loading with all experts on the cards and with none; those that are missing."""
    cases((case, book_letters(expr)) for case, expr in (
        (say("all-experts-on-cards"), none_away), (say("none-on-cards-memory-and"), all_away),
        (say("every-expert-chosen-at-any"), missing)))


def most_popular_kept(share: sympy.Expr, one_token: sympy.Expr, many: sympy.Expr) -> None:
    """Share of a step's distinct experts that is on the cards, for few tokens and for many."""
    cases([(say("found-on-cards-of-distinct"), book_letters(share)),
           (say("few-tokens"), book_letters(one_token).replace(r"\log", r"\ln")),
           (say("many-tokens"), book_letters(many))],
          heading=say("most-popular-are-kept"))


def ends_of_a_step(hidden: sympy.Expr, host_hidden: sympy.Expr, serial: sympy.Expr,
                   fast_host: sympy.Expr, slow_host: sympy.Expr) -> None:
    """Times of the device with everything and with nothing hidden, and how far the host decides."""
    cases([(say("all-of-shorter-hidden"), f"$\\tau_D = {latex(hidden)}$"),
           (say("host-part-as-well"), f"$\\tau_D = {latex(host_hidden)}$"),
           (say("one-after-other-2"), f"$\\tau_D = {latex(serial)}$"),
           (say("host-much-faster-than-card"), book_letters(fast_host)),
           (say("host-much-slower"), book_letters(slow_host))])


def when_halves_pay(short_link: sympy.Expr, short_compute: sympy.Expr, smallest: sympy.Expr,
                    largest: sympy.Expr) -> None:
    """Batches from which two halves are faster, and their time over that of one batch."""
    cases((case, page_letters(expr)) for case, expr in (
        (say("pays-if-communication-is-shorter"), short_link),
        (say("pays-if-computation-is-shorter"), short_compute),
        (say("time-of-two-halves-over"), smallest), (say("same-best-case"), largest)))


def best_sizes(best: Mapping[str, sympy.Expr | None]) -> None:
    """The tensor-parallel size at which a step is shortest, by the law of the all-reduce."""
    table(best.items(), [
        Column(lambda law: LAWS_OF_ALL_REDUCE[law[0]], "all-reduce"),
        Column(lambda law: say("none-more-cards-are-always") if law[1] is None else
               f"${sympy.latex(sympy.sqrt(sympy.simplify(law[1] ** 2)))}$", say("best"))])
