"""Cards in the chapter on compute: their ridge points, what passes them, what is reached of a peak.

Ridge points and gains come from the chapter's formulas, which are handed in. Rates are in bytes or
operations per second, times in seconds unless a heading says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import catalogue
from catalogue.entries.hardware import Device
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.pages.catalogue.tables.hardware import benchmarks
from notebooks.pages.derivations.compute import Steps
from notebooks.show.columns import Column, crossed
from notebooks.show.display import markdown, numbers, sourced, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent

common = messages("common")
say = messages("pages/derivations/compute-cards")

Ridge = Callable[[Device, str], float]  # of a card and a dtype [FLOP/B]
MULTIPLY_ADD = 2  # operations
TERA, MILLISECONDS = 1e12, 1e3
HEADS = 128  # of DeepSeek-V3
CARDS = ("ascend-910b1", "ascend-910b2", "ascend-910b4", "nvidia-h20", "nvidia-h800")
NARROW = {"bf16": "bf16", "int8": "int8-channel", "fp8": "fp8-block128"}  # format of weights
CARD: Pair = common("card")
CLASS_NAMES: dict[str, Pair] = {
    "attention": common("attention-projections"), "core": common("attention-core"),
    "dense_mlp": common("dense-networks"), "shared_expert": common("shared-experts"),
    "routed_expert": common("routed-experts"), "router": common("router"),
    "head": common("output-head")}
PRECISIONS = {"ascend-910b2": "w8a8-int8", "nvidia-h20": "fp8-block", "nvidia-h800": "fp8-block"}
PHASES: dict[str, Pair] = {"decode": common("decode"), "prefill": common("prefill")}
MEASURED = (("ascend-910b2", "bf16"), ("ascend-910b2", "int8"), ("nvidia-h800", "fp8"),
            ("nvidia-h20", "fp8"))
MECHANISMS = {"ascend-910b2": "ascend-910b", "nvidia-h800": "nvidia-h800",
              "nvidia-h20": "nvidia-h20"}


def load_cards() -> dict[str, Device]:
    """The cards of the chapter by name."""
    return {name: catalogue.load_device(name) for name in CARDS}


def bytes_of_a_weight(dtype: str) -> float:
    """Of weights that are multiplied as this dtype, scales included [B]."""
    return float(catalogue.load_format(NARROW[dtype]).bytes_per_element)


def _peak(card: Device, dtype: str) -> float:
    """Dense peak of the matrix unit [FLOP/s]."""
    return float(getattr(card.matrix_peak, dtype).value)


def _bandwidth(card: Device) -> float:
    """Of the memory [B/s]."""
    return float(card.memory_bandwidth.value)


def rows_at_the_ridge(cards: Mapping[str, Device], ridge: Ridge) -> list[list[float]]:
    """The ridge points of what each card multiplies; returns the rows that reach them, by card."""
    by_card = [[(card, dtype) for dtype in NARROW
                if card.matrix_peak and getattr(card.matrix_peak, dtype, None)]
               for card in cards.values()]

    def needed(of: tuple[Device, str]) -> float:
        return bytes_of_a_weight(of[1]) * ridge(*of) / MULTIPLY_ADD

    table([of for multiplied in by_card for of in multiplied], [
        Column(lambda of: entry_label(of[0]), CARD),
        Column(lambda of: of[1].upper(), say("weights-and-arithmetic")),
        Column(lambda of: ridge(*of), "$R$ (FLOP/B)", fmt_fixed, digits=0),
        Column(needed, say("rows-at-ridge"), fmt_fixed, digits=0)])
    numbers({f"ridge-{name.partition('-')[2]}": ridge(cards[name], "bf16")
             for name in ("nvidia-h20", "nvidia-h800", "ascend-910b2")}, fmt_fixed, digits=0)
    return [list(map(needed, multiplied)) for multiplied in by_card]


def vector_units(cards: Mapping[str, Device]) -> list[float]:
    """Peaks and ridge points of vector units; returns the ridge points [FLOP/B]."""
    rows, points = [], []
    for card in cards.values():
        if card.vector_peak is None:
            continue
        dtype, peak = next((name, value) for name, value in card.vector_peak if value)
        points.append(peak.value / _bandwidth(card))
        rows.append({"card": entry_label(card), "dtype": dtype.upper(),
                     "peak": fmt_fixed(peak.value / TERA, 1), "ridge": fmt_fixed(points[-1], 1)})
    table(rows, {"card": CARD, "dtype": say("vector-unit-dtype"), "peak": say("peak-tflops"),
                 "ridge": say("ridge-point-flop-b")})
    return points


def tokens_at(rows: float, per_expert: Callable[[float], float]) -> float:
    """Tokens of a group at which an expert gets so many rows, by bisection.

    Args:
        rows: of an expert.
        per_expert: rows of an expert for so many tokens, increasing.
    """
    low, high = 1.0, 1e6
    for _ in range(100):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if per_expert(middle) < rows else (low, middle)
    return high


def when_decode_is_bound(cards: Mapping[str, Device], ridge: Ridge,
                         per_expert: Callable[[float], float], whole: float, cut: float) -> None:
    """Tokens at which matmuls turn compute-bound, and the core over the ridge point.

    Args:
        cards: by name.
        ridge: ridge point by card and dtype [FLOP/B].
        per_expert: rows of an expert for so many tokens.
        whole, cut: intensity of the core with all heads and with an eighth of them [FLOP/B].
    """
    rows = []
    for card in cards.values():
        point = ridge(card, "bf16")
        needed = bytes_of_a_weight("bf16") * point / MULTIPLY_ADD
        rows.append({"card": entry_label(card), "ridge": fmt_fixed(point, 0),
                     "dense": fmt_fixed(needed, 0),
                     "moe": fmt_fixed(tokens_at(needed, per_expert), 0),
                     "whole": fmt_fixed(whole / point, 2), "cut": fmt_fixed(cut / point, 2),
                     "heads": fmt_fixed(HEADS * point / whole, 0)})
    table(rows, {"card": CARD, "ridge": say("ridge-point-bf16"), "dense": say("dense-tokens"),
                 "moe": say("moe-tokens-that-share-experts"),
                 "whole": say("core-of-heads", heads=HEADS),
                 "cut": say("core-of-heads", heads=HEADS // 8), "heads": say("heads-at-ridge")})


def bounds_by_class(step: Steps, cards: Mapping[str, Device], ridge: Ridge
                    ) -> list[tuple[float, float]]:
    """Intensity of each class over the ridge point, and bounds of a step; returns the bounds [s].

    The lower bound takes the larger of arithmetic and reading, class by class, the upper both.
    """
    over: dict[str, dict[str, str]] = {kind: {} for kind in CLASS_NAMES}
    lower: dict[str, str] = {}
    upper: dict[str, str] = {}
    bounds = []
    for name, precision in PRECISIONS.items():
        tile = catalogue.load("mechanisms", MECHANISMS[name]).core_tile_rows
        values, card = step(precision, core_tile_rows=tile.value), cards[name]
        dtypes = catalogue.load_precision(precision).multiply.dtypes
        for phase in PHASES:
            low = high = values[f"{phase}_vector_bytes"] / _bandwidth(card)
            for kind in over:
                flops, through = values[f"{phase}_{kind}_flops"], values[f"{phase}_{kind}_bytes"]
                point = ridge(card, dtypes[kind])
                over[kind][f"{phase} {name}"] = fmt_fixed(flops / through / point, 2)
                times = flops / _peak(card, dtypes[kind]), through / _bandwidth(card)
                low, high = low + max(times), high + times[0] + times[1]
            lower[f"{phase} {name}"] = fmt_fixed(MILLISECONDS * low, 1)
            upper[f"{phase} {name}"] = fmt_fixed(MILLISECONDS * high, 1)
            bounds.append((low, high))
    headings = {f"{phase} {name}": say("card-in-phase", card=entry_label(cards[name]), phase=title)
                for phase, title in PHASES.items() for name in PRECISIONS}
    named = {CLASS_NAMES[kind]: of_kind for kind, of_kind in over.items()} | {
        say("sum-of-larger-ms"): lower, say("sum-of-both-ms"): upper}
    table(*crossed(common("class"), named, headings, str), wide=True)
    markdown(*say("how-classes-are-bound", requests=fmt_int(values["concurrency"]),
              context=fmt_int(values["input_tokens"] + 1),
              prompt=fmt_int(values["prefill_tokens"])))
    return bounds


@dataclass(frozen=True)
class Gain:
    """What narrow weights gain over 16-bit ones if they are widened through L2 [1]."""

    counted: float  # with the traffic that was counted
    least: float  # with all of it
    most: float  # as if the weights took no space


def gains_of_narrow_weights(cards: Mapping[str, Device], gain: Callable[[Device], Gain],
                            ratio: float, traffic: Value) -> None:
    """Gains of 4-bit weights, card by card.

    Args:
        cards: by name.
        gain: of a card.
        ratio: bytes of a 16-bit weight over those of a narrow one [1].
        traffic: of L2 per weight [B].
    """
    gains = {name: gain(card) for name, card in cards.items() if card.l2_bandwidth is not None}

    def share(name: str) -> float:
        reached = cards[name].hbm_efficiency
        return gains[name].counted / ratio * (reached.value if reached else 1)

    table(gains, [
        Column(lambda name: entry_label(cards[name]), CARD),
        Column(lambda name: fmt_fixed(ratio), say("ratio-of-bytes")),
        Column(lambda name: gains[name].least, say("gain-with-all-traffic"), fmt_fixed),
        Column(lambda name: gains[name].counted,
               say("gain-with-traffic", traffic=traffic.written), fmt_fixed),
        Column(lambda name: gains[name].most, say("gain-without-size"), fmt_fixed),
        Column(share, say("weights-stream-at-of-nominal", traffic=traffic.written), fmt_percent,
               digits=0)])
    sourced([(say("l2-traffic-per-weight"), traffic)], folded=say("where-traffic-comes-from"))
    numbers({"widened-hoped": ratio, "widened-worst": min(one.counted for one in gains.values()),
             "widened-best": max(one.least for one in gains.values())}, fmt_fixed, digits=1)
    numbers({"widened-gain": gains["ascend-910b1"].counted,
             "widened-kept": gains["ascend-910b1"].least}, fmt_fixed, digits=2)


@dataclass(frozen=True)
class Reached:
    """What matmuls of so many rows were measured to reach."""

    card: Device
    dtype: str
    rows: Sequence[int]  # fewest and most
    rate: Value
    roofline: float  # at their geometric mean [FLOP/s]

    @property
    def peak(self) -> float:
        """Of the card [FLOP/s]."""
        return _peak(self.card, self.dtype)

    @property
    def of_peak(self) -> float:
        """Share of the peak [1]."""
        return self.rate.value / self.peak

    @property
    def of_roofline(self) -> float:
        """Share of what the roofline allows [1]."""
        return self.rate.value / self.roofline


def _matmuls(card: Device, dtype: str) -> Iterator[Reached]:
    measured = benchmarks(card)
    for entry in measured.rates if measured else ():
        if (entry.kernel == "gemm" and entry.dtype == dtype and entry.rate.unit == "FLOP/s"
                and entry.rows):
            low, high = entry.rows
            roofline = min(_peak(card, dtype), MULTIPLY_ADD * (low * high) ** 0.5
                           * _bandwidth(card) / bytes_of_a_weight(dtype))
            yield Reached(card, dtype, entry.rows, entry.rate, roofline)


def reached_of_the_peak(cards: Mapping[str, Device]) -> dict[tuple[str, str], dict[int, Reached]]:
    """Matmuls as measured, beside peak and roofline; returns them by card and dtype, and rows."""
    reached = {(name, dtype): {entry.rows[0]: entry for entry in _matmuls(cards[name], dtype)}
               for name, dtype in MEASURED}
    share = partial(fmt_percent, digits=0)
    table([entry for by_rows in reached.values() for entry in by_rows.values()], [
        Column(lambda of: entry_label(of.card), CARD),
        Column(lambda of: of.dtype.upper(), common("type")),
        Column(lambda of: "–".join(map(fmt_int, dict.fromkeys(of.rows))), common("rows")),
        Column(lambda of: of.roofline / of.peak, say("roofline-of-peak"), share),
        Column("of_peak", say("measured-of-peak"), share),
        Column(lambda of: "–".join(share((end or 0.0) / of.peak)
                                   for end in (of.rate.low, of.rate.high)), common("range")),
        Column("of_roofline", say("measured-of-roofline"), share)])
    markdown(*say("medians-over-shapes"))
    sourced(_taken(cards), wide=True, folded=say("what-book-takes-from-such"))
    return reached


def _taken(cards: Mapping[str, Device]) -> list[tuple[Pair, Value]]:
    """The mechanisms that rest on such measurements."""
    priors = {name: catalogue.load("mechanisms", prior) for name, prior in MECHANISMS.items()}
    shares = [(say("share-of-peak-with-many", card=entry_label(cards[name]), dtype=dtype.upper()),
               getattr(priors[name].gemm_efficiency, dtype)) for name, dtype in MEASURED]
    return shares + [(say("rows-multiplied-at-least", card=entry_label(cards[name])),
                      prior.gemm_tile_rows) for name, prior in priors.items()]
