"""What document S3 prints of its two systems, and what a host costs, in cards."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import catalogue
from calc.auditing.audit import audit
from calc.auditing.costs import example_of
from calc.costing.ownership import converted, prices_of
from calc.uncertainty import Amount

RATE_ALONE = "S3-C011"  # tokens per second of one request on the two cards


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
