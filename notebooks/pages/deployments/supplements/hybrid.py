"""Two cards with experts on the host beside eight cards: throughput per card, and its price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import catalogue
from calc.evidence.classes import deviations
from calc.evidence.systems import System, system
from calc.uncertainty import Amount, interval
from catalogue import Scenario
from catalogue.entries.deployments import Documented
from catalogue.messages import Pair, messages
from catalogue.reading.units import human
from notebooks.pages.catalogue.tables.deployments import origin
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import LANGUAGES, figure, markdown, number, numbers, table
from notebooks.show.drawing import Text
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deployments/supplements/hybrid")

QUANTITIES = ("output_throughput", "ttft", "tpot")
GRID = np.unique(np.geomspace(1, 64, 40).round())  # requests at once
FINE = np.arange(1, 129)  # requests at once
SHARES = (1.0, 0.75, 0.5)  # price of a card of the two over one of the eight; no source gives it
NODE = "atlas-800t-a2"
NOTHING = "–"
PAIR_MEASURED: Pair = say("two-cards-and-host-measured")
EIGHT_MEASURED: Pair = say("eight-cards-measured")
OTHER_MEASURED: Pair = say("eight-cards-of-s2-measured")
PREDICTED: Pair = common("predicted-interval")


def bare(text: str) -> str:
    """A rate without its unit, which the heading of the table has."""
    return text.replace(" token/s", "")


def documented(deployment: Scenario) -> Documented:
    """What the document says of a deployment that it describes."""
    assert deployment.documented is not None
    return deployment.documented


class Comparison:
    """The two systems of the document, and the measured eight cards of another."""

    def __init__(self) -> None:
        """From the files of the three deployments and of what was measured of them."""
        self.pair = catalogue.load_scenario("s3-hybrid-910b4")
        self.eight = catalogue.load_scenario("s3-eight-cards")
        self.other = catalogue.load_scenario("s2-910b1-awq")
        self.systems: dict[str, System] = {
            deployment.id: system(deployment)
            for deployment in (self.pair, self.eight, self.other)}
        inputs = self.eight.inputs()
        self.short, self.answer = int(inputs["input_tokens"]), int(inputs["output_tokens"])

    @property
    def printed_rates(self) -> tuple[float, float]:
        """Tokens per second of one request, as printed: two cards, eight cards."""
        return (float(documented(self.pair).inputs["single_rate"].value),
                float(documented(self.eight).inputs["token_rate"].value))

    @property
    def printed_most(self) -> float:
        """The largest throughput printed for eight cards [token/s]."""
        return max(claim.value.value for claim in documented(self.eight).claims
                   if claim.quantity == "output_throughput")

    def rates(self, deployment: Scenario) -> dict[int, float]:
        """Throughput measured with the short prompt, by number of requests [token/s]."""
        rows = self.systems[deployment.id].rows
        return {int(requests): float(rate) for requests, rate, prompt, answer in zip(
            rows["concurrency"], rows["output_throughput"], rows["input_tokens"],
            rows["output_tokens"], strict=True) if (prompt, answer) == (self.short, self.answer)}

    @cached_property
    def of_pair(self) -> dict[int, float]:
        """Measured throughput of the two cards, by number of requests [token/s]."""
        return self.rates(self.pair)

    @cached_property
    def of_other(self) -> dict[int, float]:
        """Measured throughput of the other document's eight cards, by requests [token/s]."""
        return self.rates(self.other)

    @property
    def first_token(self) -> float:
        """The one wait for a first token that was measured on the eight cards [s]."""
        return float(self.systems[self.eight.id].rows["ttft"][0])

    @property
    def single(self) -> float:
        """Throughput of one request on the eight cards, from its measured latencies [token/s]."""
        pace = self.systems[self.eight.id].rows["tpot"][0]
        return float(self.answer / (self.first_token + (self.answer - 1) * pace))

    def predicted(self, deployment: Scenario, **changed: Any) -> dict[str, Amount]:
        """Quantities with their intervals, by name; inputs may have shape (rows,)."""
        inputs = deployment.inputs() | {"output_tokens": self.answer} | changed
        inputs["context_tokens"] = inputs["input_tokens"] + inputs["output_tokens"]
        return interval(inputs, deployment.knobs(), deployment.model.attention, QUANTITIES,
                        deviations(deployment))

    def per_card(self, deployment: Scenario, requests: Any) -> Amount:
        """Predicted throughput per card at numbers of requests [token/s]."""
        rate = self.predicted(deployment, concurrency=np.asarray(requests, float),
                              input_tokens=self.short)["output_throughput"]
        return rate.scaled(1 / deployment.devices)

    @cached_property
    def counts(self) -> list[int]:
        """Numbers of requests that were measured, as far as the two cards went."""
        return sorted({*self.of_pair, *(requests for requests in self.of_other
                                        if requests <= max(self.of_pair))})

    @cached_property
    def at_counts(self) -> dict[str, dict[int, Amount]]:
        """Predicted throughput per card by deployment and number of requests [token/s]."""
        return {deployment.id: {requests: self.per_card(deployment, [requests]).at(0)
                                for requests in self.counts}
                for deployment in (self.pair, self.eight)}


def per_card(comparison: Comparison) -> None:
    """Throughput per card over the number of requests, measured and predicted."""
    curves = {deployment.id: comparison.per_card(deployment, GRID)
              for deployment in (comparison.pair, comparison.eight)}

    def picture(lang: str) -> Figure:
        at = LANGUAGES.index(lang)
        fig, ax = figures.axes(height=4.0)
        for deployment, colour, label in (
                (comparison.pair, figures.PALETTE[1], common("two-cards-and-host")),
                (comparison.eight, figures.PALETTE[0], common("eight-cards-spelled"))):
            curve = curves[deployment.id]
            ax.fill_between(GRID, curve.low, curve.high, color=colour, alpha=0.18, lw=0)
            ax.plot(GRID, curve.value, color=colour, label=say("predicted-curve", curve=label)[at])
        _measured(ax, comparison, at)
        ax.set(xscale="log", yscale="log", xlabel=common("requests-at-once")[at],
               ylabel=common("token-s-per-card")[at])
        for ticks, place in (([1, 2, 4, 8, 16, 32, 64], ax.set_xticks),
                             ([5, 10, 20, 50, 100, 200], ax.set_yticks)):
            place(ticks, [str(tick) for tick in ticks])
        ax.legend(fontsize=8.5, loc="lower right")
        return fig

    figure("s3-per-card", picture)


def _measured(ax: Axes, comparison: Comparison, at: int) -> None:
    """What was measured of the three, and the largest throughput printed."""
    pair, eight, other = comparison.pair, comparison.eight, comparison.other
    ax.plot(list(comparison.of_pair), [rate / pair.devices for rate in comparison.of_pair.values()],
            "o", color=figures.PALETTE[1], label=say("two-cards-and-host-measured-2")[at])
    ax.plot([1], [comparison.single / eight.devices], "s", color=figures.PALETTE[0],
            label=say("eight-cards-measured-2")[at])
    ax.plot(list(comparison.of_other),
            [rate / other.devices for rate in comparison.of_other.values()], "^-", lw=1, ms=5,
            color=figures.PALETTE[2], label=say("eight-cards-of-s2-measured-2")[at])
    most = comparison.printed_most / eight.devices
    ax.axhline(most, color=figures.PALETTE[0], ls=":", lw=1.2)
    ax.text(1, most, say("largest-throughput-printed-for-eight")[at], va="bottom", fontsize=8.5)


def rates(comparison: Comparison) -> None:
    """The same as a table, where something was measured."""
    pair, eight, other = comparison.pair, comparison.eight, comparison.other

    def rate(of: Mapping[int, float], requests: int, cards: int) -> str:
        return bare(human(of[requests] / cards, "token/s")) if requests in of else NOTHING

    def predicted(deployment: Scenario) -> Column:
        return Column(lambda requests: bare(
            comparison.at_counts[deployment.id][requests].formatted("en")), PREDICTED)

    table(comparison.counts, [
        Column(int, say("requests-token-s-per-card")),
        Column(lambda requests: rate(comparison.of_pair, requests, pair.devices), PAIR_MEASURED),
        predicted(pair),
        Column(lambda requests: rate({1: comparison.single}, requests, eight.devices),
               EIGHT_MEASURED),
        predicted(eight),
        Column(lambda requests: rate(comparison.of_other, requests, other.devices),
               OTHER_MEASURED)], wide=True)


def where_it_ends(comparison: Comparison) -> None:
    """Where the advantage per card of the two ends, and what both come to there."""
    pair, eight = comparison.pair, comparison.eight
    ours = {requests: rate / pair.devices for requests, rate in comparison.of_pair.items()}
    theirs = {requests: rate / comparison.other.devices
              for requests, rate in comparison.of_other.items()}
    predicted = comparison.at_counts[eight.id]
    passed = [requests for requests in ours if predicted[requests].value > ours[requests]]
    surely = [requests for requests in ours if predicted[requests].low > ours[requests]]
    behind = [requests for requests in ours if theirs.get(requests, 0) > ours[requests]]
    assert 1 not in passed
    assert comparison.single / eight.devices < ours[1]
    for name, counts in (("passed", passed), ("surely", surely), ("behind", behind)):
        assert counts
        assert counts == [requests for requests in ours if requests >= min(counts)]
        number(f"s3-{name}", min(counts))
    most, same = comparison.printed_most, eight.devices // pair.devices
    needed = comparison.per_card(eight, FINE).over(
        lambda end: int(FINE[np.argmax(np.asarray(end) * eight.devices >= most)]))
    slow, fast = comparison.printed_rates
    numbers({"s3-printed-hybrid": slow / pair.devices,
             "s3-printed-eight": fast / eight.devices}, fmt_fixed, digits=1)
    numbers({"s3-input": comparison.short, "s3-output": comparison.answer, "s3-same": same,
             "s3-needed": needed.value})
    numbers({"s3-second": human(ours[min(passed)], "token/s"),
             "s3-second-eight": predicted[min(passed)].formatted("en"),
             "s3-same-pair": human(ours[1], "token/s"),
             "s3-same-eight": comparison.per_card(eight, [same]).at(0).formatted("en"),
             "s3-same-other": human(theirs[same], "token/s"),
             "s3-most": f"{fmt_fixed(most, 1)} token/s",
             "s3-most-cards": human(most / eight.devices, "token/s"),
             "s3-largest": human(max(ours.values()), "token/s"),
             "s3-needed-range": f"{needed.high}–{needed.low}"}, str)
    number("s3-most-ratio", most / eight.devices / max(ours.values()), fmt_sig, digits=2)


def bearable(cards: Sequence[int], slower: float, faster: float, share: float) -> float:
    """The dearest server, in cards, with which the smaller system makes the cheaper token.

    Args:
        cards: of the smaller and of the larger system.
        slower, faster: their throughput [token/s].
        share: price of a card of the smaller over one of the larger [1].
    """
    few, many = cards
    return (many * slower - few * share * faster) / (faster - slower)


def _price(value: float) -> str:
    """Of a server in cards; a dash where even a free one does not help."""
    return fmt_fixed(float(value)) if value > 0 else NOTHING


def dearest_servers(comparison: Comparison) -> None:
    """Up to which price of a server the two cards make the cheaper token, by requests."""
    eight = comparison.eight
    cards = comparison.pair.devices, eight.devices

    def limits(rate: float, faster: Amount, share: float) -> str:
        low = bearable(cards, rate, faster.high, share)
        high = bearable(cards, rate, faster.low, share) if faster.low > rate else np.inf
        if high <= 0:
            return NOTHING
        middle = bearable(cards, rate, faster.value, share)
        return f"{_price(middle)} ({_price(low)} … {_price(high)})"

    of_eight = {requests: band.scaled(eight.devices)
                for requests, band in comparison.at_counts[eight.id].items()}
    rows: dict[Text, dict[float, str]] = {say("as-printed"): {
        share: _price(bearable(cards, *comparison.printed_rates, share)) for share in SHARES}}
    rows |= {fmt_int(requests): {share: limits(rate, of_eight[requests], share)
                                 for share in SHARES}
             for requests, rate in comparison.of_pair.items()}
    table(*crossed(common("number-of-requests"), rows,
                   {share: say("at", share=fmt_sig(share, 2)) for share in SHARES}, str))


def prices(comparison: Comparison) -> None:
    """What a server without cards costs where both prices are known, and what follows."""
    pair, eight = comparison.pair, comparison.eight
    cards, (slow, fast) = (pair.devices, eight.devices), comparison.printed_rates
    node = catalogue.load_node(NODE).price.cny
    card = eight.device.price.cny if eight.device.price else None
    assert card is not None
    assert card.date is not None
    server = (node.value - eight.devices * card.value) / card.value  # in cards
    limit, limit_half = (bearable(cards, slow, fast, share) for share in (1, min(SHARES)))
    assert server > limit_half > limit
    lasting = {share: max(requests for requests, rate in comparison.of_pair.items() if bearable(
        cards, rate, float(comparison.at_counts[eight.id][requests].value) * eight.devices,
        share) > 0) for share in SHARES}
    smaller, larger = pair.devices + server, eight.devices + server
    of_node, of_card = origin(node.source), origin(card.source)
    markdown(*say("for-orientation-server-with-eight", node=fmt_int(node.value), date=node.date,
              card=fmt_int(card.value), date_of_card=card.date, server=fmt_sig(server, 2),
              of_node=of_node, of_card=of_card))
    numbers({"s3-limit": limit, "s3-limit-half": limit_half, "s3-known": server,
             "s3-dearer": (smaller / slow) / (larger / fast)}, fmt_sig, digits=2)
    number("s3-half", min(SHARES), fmt_sig, digits=1)
    numbers({"s3-cut": 1 - pair.devices / eight.devices,
             "s3-cut-server": 1 - smaller / larger}, fmt_percent, digits=0)
    numbers({"s3-last": lasting[1.0], "s3-last-half": lasting[min(SHARES)]})
