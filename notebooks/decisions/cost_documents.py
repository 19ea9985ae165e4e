"""What documents print of cost, recomputed from their own inputs, and corrected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import catalogue
from calc.choosing.answers import estimate
from calc.costing.answer import Asked, Cost, cost
from calc.costing.rates import converted, prices_of, rate
from calc.costing.spread import Three, exactly, spread
from catalogue.entries.claims import DocumentFormula
from catalogue.reading.units import YEAR
from workbench.showing.display import number, table
from workbench.showing.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

Text = tuple[str, str]
PLAN, DAY = "s1-plan-c", "azure-conversation"
# The plan as it can run: FP8, chunks that fit, its context of 2,048 tokens halved between prompt
# and answer, and 80 users for each of its four replicas, the larger of its two readings.
RUNS = ("precision=fp8-block", "workload.max_num_batched_tokens=8192 token",
        "workload.concurrency=320 request", "workload.input_tokens=1024 token",
        "workload.output_tokens=1024 token", "workload.arrivals=closed-loop")
TOKEN = 1e-3  # thousand tokens, by which the document prices
TITLES: dict[str, Text] = {
    "hardware": ("hardware", "硬件"), "yearly": ("a year besides", "每年运营"),
    "tco": ("three years, not discounted", "三年合计，未折现"),
    "rate": ("tokens per second", "每秒 token 数"),
    "per_rate": ("three years per token per second", "三年成本 ÷（token/s）"),
    "per_million": ("a million tokens", "每百万 token"),
    "revenue": ("revenue of a year", "年收入"), "roi": ("return in three years", "三年回报率"),
    "payback": ("paid back after, years", "回收期（年）")}


@dataclass(frozen=True)
class Plan:
    """The document's own numbers and what they come to here."""

    inputs: Mapping[str, float]
    printed: Mapping[str, float]
    recomputed: Mapping[str, float]
    corrected: Cost
    rate: Three


def _example(formulas: Mapping[str, DocumentFormula], name: str, index: int = 0
             ) -> tuple[float, float, dict[str, Any]]:
    """Printed, recomputed, and what the document puts in."""
    formula = formulas[name]
    example = formula.examples[index]
    return (float(example.printed.value), float(formula.recomputed(example)),
            {key: float(value.value) for key, value in example.inputs.items()})


def plan() -> Plan:
    """S1's plan of 32 cards: as printed, as recomputed and as corrected."""
    formulas = {each.id: each for each in catalogue.load("claims", "formulas-s1").formulas}
    found = {name: _example(formulas, of) for name, of in (
        ("hardware", "s1-f50"), ("yearly", "s1-f54"), ("tco", "s1-f55"), ("per_rate", "s1-f56"),
        ("revenue", "s1-f60"), ("payback", "s1-f62"), ("roi", "s1-f63"),
        ("electricity", "s1-f51"), ("tokens", "s1-f58"), ("price", "s1-f59"))}
    printed = {name: values[0] for name, values in found.items()}
    recomputed = {name: values[1] for name, values in found.items()}
    inputs = {key: value for _, _, given in found.values() for key, value in given.items()}
    inputs["rate"] = recomputed["tokens"] / inputs["day_time"]
    years = YEAR * inputs["years"]
    for values in (printed, recomputed):
        values["rate"] = inputs["rate"]
        values["per_million"] = 1e6 * values["tco"] / (years * inputs["rate"])
    scenario = catalogue.load_scenario(PLAN, overrides=list(RUNS))
    answer = estimate(scenario)
    steady = answer.quantities["steady_throughput"]
    reached = Three(steady.value, steady.low, steady.high)
    return Plan(inputs, printed, recomputed, _corrected(scenario, answer, reached, inputs), reached)


def _corrected(scenario: Any, answer: Any, reached: Three, inputs: Mapping[str, float]) -> Cost:
    """The plan with sourced inputs, over the document's three years, at its own price."""
    prices = prices_of(scenario.device.id)
    server = converted(rate(scenario.node.price.cny), "USD", prices.exchange)
    changes = {
        "server": Three(server.value, server.low, server.high),
        "years": exactly(inputs["years"]), "residual": exactly(0.0),
        "sold_input": exactly(0.0),
        "sold_output": exactly(inputs["thousand_price"] * TOKEN)}
    asked = Asked(utilisation=1 / catalogue.load("loads", DAY).peak, changes=changes)
    return cost(scenario, answer.everything, reached, prices, asked)


def _amounts(made: Plan) -> dict[str, Three]:
    """The corrected amounts by the rows of the table."""
    amounts, used = made.corrected.amounts, 1 / catalogue.load("loads", DAY).peak
    whole = amounts["tco_undiscounted"]
    uncertain = {"tco": whole, "rate": made.rate}
    years = YEAR * made.inputs["years"]
    ratios = spread(lambda q: {"per_rate": q["tco"] / q["rate"],
                               "per_million": 1e6 * q["tco"] / (years * used * q["rate"])},
                    uncertain)
    return {"hardware": amounts["capital"], "yearly": amounts["yearly"], "tco": whole,
            "rate": made.rate, **ratios, "revenue": amounts["revenue"], "roi": amounts["roi"],
            "payback": amounts["payback"]}


def _shown(name: str, value: float) -> str:
    if not math.isfinite(value):
        return "∞"
    if name == "roi":
        return fmt_percent(value, 0)
    return fmt_int(round(value)) if abs(value) >= 1000 else fmt_sig(value, 3)


def plan_table(made: Plan) -> None:
    """Printed, recomputed and corrected with its interval; money in USD."""
    corrected = _amounts(made)
    rows = []
    for name, title in TITLES.items():
        amount = corrected[name]
        rows.append({
            "what": title, "printed": _shown(name, made.printed[name]) if name != "per_million"
            else "–", "recomputed": _shown(name, made.recomputed[name]),
            "corrected": _shown(name, float(amount.value)),
            "interval": f"{_shown(name, float(amount.low))} – {_shown(name, float(amount.high))}"})
    table(rows, {"what": ("USD", "美元"), "printed": ("printed", "文档所写"),
                 "recomputed": ("recomputed from its inputs", "按其输入重算"),
                 "corrected": ("corrected", "修正"), "interval": ("80% interval", "80% 区间")})
    number("s1-printed", fmt_fixed(made.recomputed["per_million"], 2), str)
    number("s1-corrected", fmt_fixed(float(corrected["per_million"].value), 2), str)
    number("s1-corrected-low", fmt_fixed(float(corrected["per_million"].low), 2), str)
    number("s1-corrected-high", fmt_fixed(float(corrected["per_million"].high), 2), str)
    number("s1-roi", fmt_percent(made.printed["roi"], 0), str)
    number("s1-roi-ours", fmt_percent(float(corrected["roi"].value), 0), str)


def weightiest(made: Plan) -> list[tuple[str, float]]:
    """What each assumption alone makes of the document's cost of a token, the largest first [1]."""
    doc, owned = made.recomputed, made.corrected.owned
    assert owned is not None
    years, used = made.inputs["years"], 1 / catalogue.load("loads", DAY).peak
    base = doc["hardware"] + years * doc["yearly"]
    site = owned.energy / doc["electricity"]

    def total(hardware: float = doc["hardware"], yearly: float = doc["yearly"]) -> float:
        return (hardware + years * yearly) / base

    factors = {
        "rate": made.inputs["rate"] / float(made.rate.value), "used": 1 / used,
        "hardware": total(hardware=float(owned.capital)),
        "electricity": total(yearly=doc["yearly"] + (site - 1) * doc["electricity"]),
        "upkeep": total(yearly=doc["yearly"] + float(owned.upkeep))}
    return sorted(factors.items(), key=lambda item: -abs(math.log(item[1])))


ASSUMPTIONS: dict[str, Text] = {
    "rate": ("the throughput: what 320 users reach, for 51,200 token/s",
             "吞吐：320 个用户实际可达的速率，取代 51,200 token/s"),
    "used": ("utilisation: a day's load, for every second at full rate",
             "利用率：按一天的负载曲线，取代全天满载"),
    "hardware": ("the servers: what dealers asked, with network and racks",
                 "服务器：经销商报价，并计网络与机架"),
    "electricity": ("electricity: the whole site, for the cards alone",
                    "电费：整个机房，取代仅计卡"),
    "upkeep": ("repairs and spares, which the document leaves out", "维修与备机，文档未计")}


def assumptions_table(made: Plan) -> None:
    """By what factor each correction alone moves the cost of a token."""
    found = weightiest(made)
    table([{"what": ASSUMPTIONS[name], "factor": f"× {fmt_sig(factor, 3)}"}
           for name, factor in found],
          {"what": ("this alone corrected", "只修正这一项"),
           "factor": ("cost of a token", "每 token 成本")})
    for place, (_, factor) in enumerate(found[:3], 1):
        number(f"s1-weight-{place}", fmt_sig(factor, 3), str)


@dataclass(frozen=True)
class Compared:
    """S3: both systems by cards and rates; what a host costs, in cards."""

    cards: tuple[int, int]
    alone: tuple[float, float]
    most: tuple[float, float]
    host: Three
    break_even: float


def hybrid() -> Compared:
    """S3's two systems, and the price of a host at which neither is better for one request.

    With a host of h cards beside n cards, rates X: X_1 / (n_1 + h) = X_2 / (n_2 + h).
    """
    formulas = {each.id: each for each in catalogue.load("claims", "formulas-s3").formulas}
    rates = [_example(formulas, "s3-f02", index)[2] for index in range(2)]
    cards = int(rates[0]["cards"]), int(rates[1]["cards"])
    alone = rates[0]["rate"], rates[1]["rate"]
    peaks = [_example(formulas, "s3-f03", index)[2]["rate"] for index in range(2)]
    prices = prices_of("ascend-910b4")
    empty = prices.owning.chassis if prices.owning else None
    assert empty is not None
    chassis = converted(rate(empty), "CNY", prices.exchange)
    card = catalogue.load_device("ascend-910b4").price.cny.value
    host = Three(chassis.value / card, chassis.low / card, chassis.high / card)
    even = (alone[0] * cards[1] - alone[1] * cards[0]) / (alone[1] - alone[0])
    return Compared(cards, alone, (peaks[0], peaks[1]), host, even)


def hybrid_table(made: Compared) -> None:
    """Tokens per second for the price of a card: as printed, with hosts, at the most requests."""
    rows = []
    for title, rates in ((("one request", "单请求"), made.alone),
                         (("as many as it takes", "最大吞吐"), made.most)):
        for host, named in ((0.0, ("cards only", "只计卡")),
                            (made.host.value, ("with a host", "计入主机"))):
            both = [rate_ / (count + host) for rate_, count in zip(rates, made.cards, strict=True)]
            rows.append({"case": (f"{title[0]}, {named[0]}", f"{title[1]}，{named[1]}"),
                         "hybrid": fmt_sig(both[0], 2), "cards": fmt_sig(both[1], 2),
                         "ratio": fmt_sig(both[0] / both[1], 2)})
    table(rows, {"case": ("token/s for the price of a card", "每一张卡的价钱换得的 token/s"),
                 "hybrid": ("2 cards and host memory", "2 卡 + 主机内存"),
                 "cards": ("8 cards", "8 卡"), "ratio": ("ratio", "比值")})
    number("s3-even", fmt_sig(made.break_even, 2), str)
    number("s3-host", fmt_sig(made.host.value, 2), str)
    number("s3-host-low", fmt_sig(made.host.low, 2), str)
    number("s3-host-high", fmt_sig(made.host.high, 2), str)
    number("s3-most", fmt_sig((made.most[1] / made.cards[1]) / (made.most[0] / made.cards[0]), 2),
           str)
