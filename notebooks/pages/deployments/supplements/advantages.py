"""Advantages that a document prints of one engine over another, recomputed pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import catalogue
from catalogue.messages import Pair, messages
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int

common = messages("common")
say = messages("pages/deployments/supplements/advantages")

OWN, OTHER = "s2-910b1-awq", "s2-other-engine"
PERCENT = 100
EQUAL = "="  # the document's "equal"
# as section 6.1 prints them, by prompt and requests: tokens per second and request of both systems,
# then the advantages in per cent, of TTFT, TPOT, that rate and the throughput of the system
PRINTED: dict[tuple[int, int], tuple[float, float, int | str | None, int, int, int | None]] = {
    (128, 1): (43.9, 21.0, 9, 52, 109, 106), (128, 4): (27.6, 11.9, 26, 57, 132, 130),
    (128, 8): (21.6, 8.3, 20, 62, 160, 157), (1024, 1): (42.0, 21.0, EQUAL, 50, 100, None),
    (1024, 4): (27.3, 11.8, EQUAL, 57, 131, None), (1024, 8): (20.7, 8.2, 29, 60, 152, None),
    (4096, 1): (41.5, 20.5, None, 51, 102, None), (8192, 1): (40.8, 20.2, None, 51, 102, None),
    (20480, 1): (38.8, 19.5, None, 50, 99, None), (30720, 1): (37.5, 19.3, None, 48, 94, None),
}
RATES, PACES = (100, 160), (50, 60)  # per cent, "in all scenarios"
METRICS: dict[str, Pair] = {
    "ttft": ("TTFT", "TTFT"), "tpot": ("TPOT", "TPOT"), "rate": say("rate-of-one-request"),
    "output_throughput": say("throughput")}
TIMES = ("ttft", "tpot")


@dataclass(frozen=True)
class Advantage:
    """One pair of numbers: what is printed of it, and what it comes to [%].

    Attributes:
        metric: the quantity.
        at: prompt tokens and requests.
        printed: the advantage, or that there is none.
        computed: from the two numbers.
    """

    metric: str
    at: tuple[int, int]
    printed: int | str
    computed: float

    @property
    def follows(self) -> bool:
        """Whether it is what is printed, to its digits."""
        return self.printed == EQUAL or round(self.computed) == self.printed


def measured(system: str) -> dict[tuple[int, int], dict[str, float]]:
    """What was measured of a system, by prompt and number of requests."""
    of = catalogue.load_measurements(system)
    rows = zip(*map(of.column, of.columns), strict=True)
    named = [dict(zip(of.columns, row, strict=True)) for row in rows]
    return {(round(row["input_tokens"]), round(row["concurrency"])): row for row in named}


def advantages() -> list[Advantage]:
    """Every printed advantage beside what its two numbers come to."""
    own, other = measured(OWN), measured(OTHER)
    assert set(PRINTED) == set(other)
    pairs = []
    for at, (rate, other_rate, *printed) in PRINTED.items():
        ours, theirs = own[at] | {"rate": rate}, other[at] | {"rate": other_rate}
        for metric, advantage in zip(METRICS, printed, strict=True):
            if advantage is not None:
                ratio = ours[metric] / theirs[metric]
                gain = 1 - ratio if metric in TIMES else ratio - 1
                pairs.append(Advantage(metric, at, advantage, PERCENT * gain))
    assert all(pair.follows for pair in pairs)
    return pairs


def _of(pairs: Sequence[Advantage], metric: str) -> list[float]:
    return [pair.computed for pair in pairs if pair.metric == metric]


def by_metric(pairs: Sequence[Advantage]) -> None:
    """How many of the pairs are as printed, and the spread of the advantages."""
    def over(of: Callable[[Sequence[float]], Any], heading: Pair) -> Column:
        return Column(lambda metric: float(of(_of(pairs, metric))), heading, fmt_fixed, digits=1)

    table([metric for metric in METRICS if _of(pairs, metric)], [
        Column(METRICS.get, say("advantage-in")),
        Column(lambda metric: len(_of(pairs, metric)), say("pairs")),
        Column(lambda metric: sum(pair.follows for pair in pairs if pair.metric == metric),
               say("as-printed")),
        over(min, say("least")), over(max, say("largest")), over(np.mean, say("mean")),
        over(np.median, say("median"))])


def _spread(values: Sequence[float]) -> tuple[int, int]:
    """Least and largest, rounded."""
    return round(min(values)), round(max(values))


def _ends(values: Sequence[float]) -> str:
    """The same as text."""
    least, most = _spread(values)
    return f"{least}–{most}%" if least >= 0 else f"{fmt_int(least)} … {most}%"


def _outside(values: Sequence[float], printed: tuple[int, int]) -> int:
    """How many lie outside of a printed range, rounded as it is."""
    return sum(not printed[0] <= round(value) <= printed[1] for value in values)


@dataclass(frozen=True)
class Summary:
    """What the document says of all pairs together, and whether it follows from them."""

    label: Pair
    section: str | Pair
    printed: str
    text: str
    follows: bool


def summaries(pairs: Sequence[Advantage]) -> list[Summary]:
    """The document's own summaries of its pairs; a mean follows if it rounds to what is printed."""
    waits, paces, rates = (_of(pairs, metric) for metric in ("ttft", "tpot", "rate"))
    rate, pace = float(np.mean(rates)), float(np.mean(paces))
    whole: Pair = common("summary")
    said = [
        Summary(say("rate-range"), "6.2, 7.1", "94–160%", _ends(rates),
                _spread(rates) == (94, 160)),
        Summary(say("rate-mean"), "6.2", "110%", f"{rate:.0f}%", round(rate, -1) == 110),
        Summary(say("tpot-range"), "6.2, 7.1", "48–62%", _ends(paces), _spread(paces) == (48, 62)),
        Summary(say("tpot-mean"), "6.2", "55%", f"{pace:.0f}%", 5 * round(pace / 5) == 55),
        Summary(say("ttft-range"), "6.2", "9–29%", _ends(waits), _spread(waits) == (9, 29)),
        Summary(say("rate-all-scenarios"), whole, "100–160%", _ends(rates),
                not _outside(rates, RATES)),
        Summary(say("tpot-all-scenarios"), whole, "50–60%", _ends(paces),
                not _outside(paces, PACES))]
    assert [summary.label[0] for summary in said if not summary.follows] == [
        "rate, mean", "TTFT, range", "rate, all scenarios", "TPOT, all scenarios"]
    return said


def summary_table(said: Sequence[Summary]) -> None:
    """The summaries, and whether each follows."""
    table(said, [
        Column("label", say("summary")), Column("section", common("section")),
        Column("printed", common("printed")), Column("text", say("from-pairs")),
        Column(lambda of: say("follows") if of.follows else say("does-not-follow"), "")])


def sentences(pairs: Sequence[Advantage], said: Sequence[Summary]) -> None:
    """Numbers of the sentences about the pairs."""
    equal = [pair for pair in pairs if pair.printed == EQUAL]
    first_tokens = [pair for pair in pairs if pair.metric == "ttft"]
    shortest = min(length for length, _ in PRINTED)
    short = [pair for pair in first_tokens if pair.at[0] == shortest]
    last = max(first_tokens, key=lambda pair: pair.computed)
    assert all(pair.computed < 0 for pair in equal)
    assert last not in short
    rates, paces = _of(pairs, "rate"), _of(pairs, "tpot")
    numbers({"s2-pairs": len(pairs),
             "s2-followed": sum(pair.follows for pair in pairs if pair not in equal),
             "s2-equal": len(equal), "s2-claims": len(said),
             "s2-claims-kept": sum(summary.follows for summary in said),
             "s2-rate-outside": _outside(rates, RATES), "s2-pace-outside": _outside(paces, PACES),
             "s2-of": len(rates), "s2-wait-last": round(last.computed),
             "s2-wait-length": last.at[0]})
    number("s2-equal-most", -min(pair.computed for pair in equal), fmt_fixed, digits=1)
    numbers({"s2-mean": float(np.mean(rates)),
             "s2-median": float(np.median(rates))}, fmt_fixed, digits=0)
    number("s2-wait-short", _ends([pair.computed for pair in short]), str)
    *compared, most = sorted({count for _, count in PRINTED})
    number("s2-compared_en", f"{', '.join(map(fmt_int, compared))} and {fmt_int(most)}", str)
    number("s2-compared_zh", "、".join(map(fmt_int, (*compared, most))), str)
    number("s2-tested", max(count for _, count in measured(OWN)))
    number("s2-longer", max(length for length, count in PRINTED if count > 1))
