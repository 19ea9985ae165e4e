"""What documents print of cost, recomputed from their own inputs, and corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass

import catalogue
from calc.auditing.costs import Plan, combined_factors, example_of, plan, weightiest
from calc.costing.rates import converted, prices_of
from calc.uncertainty.amount import Amount
from catalogue.messages import Pair, messages
from catalogue.reading.units import YEAR
from notebooks.pages.derivations.choices.documents import advised
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/cost-documents")

__all__ = [
    "assumptions_table",
    "combined_factors",
    "hybrid",
    "hybrid_table",
    "night",
    "plan",
    "plan_table",
    "weightiest",
]
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
    rows = []
    for name, title in TITLES.items():
        amount = corrected[name]
        rows.append({
            "what": title, "printed": _shown(name, made.printed[name]) if name != "per_million"
            else "–", "recomputed": _shown(name, made.recomputed[name]),
            "corrected": _shown(name, float(amount.value)),
            "interval": f"{_shown(name, float(amount.low))} – {_shown(name, float(amount.high))}"})
    table(rows, {"what": common("usd"), "printed": say("printed"),
                 "recomputed": say("recomputed-from-its-inputs"),
                 "corrected": say("corrected"), "interval": common("interval")})
    number("s1-users", made.users)
    number("s1-printed", fmt_fixed(made.recomputed["per_million"], 2), str)
    number("s1-corrected", fmt_fixed(float(corrected["per_million"].value), 2), str)
    number("s1-corrected-low", fmt_fixed(float(corrected["per_million"].low), 2), str)
    number("s1-corrected-high", fmt_fixed(float(corrected["per_million"].high), 2), str)


ALL: Pair = say("all-of-them")
ASSUMPTIONS: dict[str, Pair] = {
    "rate": say("throughput-what-these-users-reach"),
    "used": say("utilisation-day-load-instead-of"),
    "hardware": say("servers-dealers-prices-with-spares"),
    "electricity": say("electricity-whole-site-instead-of"),
    "upkeep": say("repairs-which-document-leaves-out"),
    "people": say("people-shared-with-other-servers"), "hosting": say("space-by-power-that-is")}


def assumptions_table(made: Plan) -> None:
    """By what factor each correction alone moves the cost of a token, and all of them do."""
    found = weightiest(made)
    money, everything = combined_factors(dict(found))
    rows = [(ASSUMPTIONS[name], factor) for name, factor in found] + [(ALL, everything)]
    table([{"what": what, "factor": f"× {fmt_sig(factor, 3)}"} for what, factor in rows],
          {"what": say("only-this-corrected"), "factor": common("cost-of-token")})
    number("s1-weight", fmt_sig(found[0][1], 3), str)
    number("s1-money", fmt_sig(money, 2), str)
    number("s1-together", fmt_sig(everything, 3), str)


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


def hybrid() -> Compared:
    """S3's two systems, and the price of a host at which neither is better for one request.

    With a host of h cards beside n cards, rates X: X_1 / (n_1 + h) = X_2 / (n_2 + h).
    """
    formulas = {each.id: each for each in catalogue.load("formulas", "s3").formulas}
    rates = [example_of(formulas["s3-f02"], index)[2] for index in range(2)]
    cards = int(rates[0]["cards"]), int(rates[1]["cards"])
    alone = rates[0]["rate"], rates[1]["rate"]
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
    rows, ratios = [], []
    for title, rates in ((say("one-request"), made.alone),
                         (say("at-its-maximum-concurrency"), made.most)):
        for host, named in ((0.0, say("cards-only")), (made.host.value, say("with-host"))):
            both = [rate_ / (count + host) for rate_, count in zip(rates, made.cards, strict=True)]
            ratios.append(both[1] / both[0])
            rows.append({"case": (f"{title[0]}, {named[0]}", f"{title[1]}，{named[1]}"),
                         "hybrid": fmt_sig(both[0], 2), "cards": fmt_sig(both[1], 2),
                         "ratio": fmt_sig(both[0] / both[1], 2)})
    table(rows, {"case": say("token-s-for-price-of"), "hybrid": say("two-cards-and-host-memory"),
                 "cards": common("eight-cards"), "ratio": common("ratio")})
    number("s3-even", fmt_sig(made.break_even, 2), str)
    number("s3-host", fmt_sig(made.host.value, 2), str)
    number("s3-host-low", fmt_sig(made.host.low, 2), str)
    number("s3-host-high", fmt_sig(made.host.high, 2), str)
    for ending, ratio in zip(("", "-with-host"), ratios[2:], strict=True):
        number(f"s3-most{ending}", fmt_sig(ratio, 2), str)
