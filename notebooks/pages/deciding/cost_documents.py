"""What documents print of cost, recomputed from their own inputs, and corrected."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import catalogue
from calc.auditing.audit import audit
from calc.auditing.costs import Plan, example_of
from calc.costing.ownership import converted, prices_of
from calc.uncertainty import Amount
from catalogue.messages import Pair, join, messages
from catalogue.reading.units import YEAR
from notebooks.pages.derivations.choices.documents import advised
from notebooks.show.columns import Column
from notebooks.show.display import interval, number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/cost-documents")

RATE_ALONE = "S3-C011"  # tokens per second of one request on the two cards
TITLES: dict[str, Pair] = {
    "hardware": say("hardware"), "yearly": say("annual-operating-cost"),
    "tco": say("three-years-not-discounted"), "rate": say("tokens-per-second"),
    "per_rate": say("three-years-per-token-per"), "per_million": say("million-tokens"),
    "revenue": say("revenue-of-year"), "roi": say("return-in-three-years"),
    "payback": say("paid-back-after-years")}


def _shown(name: str, value: float) -> str:
    if not math.isfinite(value):
        return "∞"
    if name == "roi":
        return fmt_percent(value, 0)
    return fmt_int(round(value)) if abs(value) >= 1000 else fmt_sig(value, 3)


def plan_table(made: Plan) -> None:
    """Printed, recomputed and corrected with its interval; money in USD."""
    corrected = made.amounts()

    def shown(of: Callable[[str], float]) -> Callable[[str], str]:
        return lambda name: _shown(name, float(of(name)))

    table(TITLES, [
        Column(TITLES.get, common("usd")),
        Column(lambda name: None if name == "per_million" else _shown(name, made.printed[name]),
               say("printed")),
        Column(shown(made.recomputed.__getitem__), say("recomputed-from-its-inputs")),
        Column(shown(lambda name: corrected[name].value), say("corrected")),
        Column(lambda name: " – ".join(_shown(name, float(end)) for end in corrected[name].ends),
               common("interval"))])
    number("s1-users", made.users)
    number("s1-printed", made.recomputed["per_million"], fmt_fixed)
    interval("s1-corrected", map(float, corrected["per_million"].points), fmt_fixed)


def night(made: Plan) -> None:
    """What other cards could save of the plan's owned ones while these stand idle, beside S1."""
    owned = made.corrected.owned
    assert owned is not None
    share = float(owned.energy / (owned.second * YEAR))
    advised({"s1/cheaper-at-night": say("idle-cards-save-only-their", share=fmt_percent(share, 0))})


@dataclass(frozen=True)
class Compared:
    """S3: both systems by cards and rates; what a host costs, in cards."""

    cards: tuple[int, int]
    alone: tuple[float, float]
    most: tuple[float, float]
    host: Amount
    break_even: float


@cache
def hybrid() -> Compared:
    """S3's two systems, and the price of a host at which neither is better for one request.

    With a host of h cards beside n cards, rates X: X_1 / (n_1 + h) = X_2 / (n_2 + h). Of one
    request on the two cards the rate is that of its latency; the printed one follows from no
    column of its row.
    """
    formulas = {each.id: each for each in catalogue.load("formulas", "s3").formulas}
    rates = [example_of(formulas["s3-f02"], index)[2] for index in range(2)]
    cards = int(rates[0]["cards"]), int(rates[1]["cards"])
    [row] = audit(only={RATE_ALONE}).rows
    assert row.case.truth is not None
    alone = float(row.case.truth.three.value), rates[1]["rate"]
    peaks = [example_of(formulas["s3-f03"], index)[2]["rate"] for index in range(2)]
    prices = prices_of("ascend-910b4")
    empty = prices.owning.chassis if prices.owning else None
    assert empty is not None
    chassis = converted(Amount.stated(empty), "CNY", prices.exchange)
    card = catalogue.load_device("ascend-910b4").price.cny.value
    host = Amount(chassis.value / card, chassis.low / card, chassis.high / card)
    even = (alone[0] * cards[1] - alone[1] * cards[0]) / (alone[1] - alone[0])
    return Compared(cards, alone, (peaks[0], peaks[1]), host, even)


def hybrid_table(made: Compared) -> None:
    """Tokens per second for the price of a card: as printed, with hosts, at the most requests."""
    rows: list[tuple[Any, ...]] = []
    for title, rates in ((say("one-request"), made.alone),
                         (say("at-its-maximum-concurrency"), made.most)):
        for host, named in ((0.0, say("cards-only")), (made.host.value, say("with-host"))):
            rows.append((join((", ", "，"), (title, named)), *(
                rate / (count + host) for rate, count in zip(rates, made.cards, strict=True))))
    table(rows, [Column(0, say("token-s-for-price-of")),
                 Column(1, say("two-cards-and-host-memory"), fmt_sig, digits=2),
                 Column(2, common("eight-cards"), fmt_sig, digits=2),
                 Column(lambda row: row[1] / row[2], common("ratio"), fmt_sig, digits=2)])
    number("s3-even", made.break_even, fmt_sig, digits=2)
    interval("s3-host", made.host.points, fmt_sig, digits=2)
