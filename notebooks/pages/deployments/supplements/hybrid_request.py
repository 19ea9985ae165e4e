"""One request on two cards with experts on the host: its wait, and what is printed of it."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

import calc
from calc.evidence.classes import deviations
from calc.evidence.systems import System
from calc.evidence.validation import Predictions, uncalibrated
from calc.uncertainty import Amount
from catalogue.messages import messages
from catalogue.reading.units import human, rounded, span
from notebooks.pages.deployments.supplements.hybrid import (
    EIGHT_MEASURED,
    NOTHING,
    OTHER_MEASURED,
    PAIR_MEASURED,
    PREDICTED,
    Comparison,
    documented,
)
from notebooks.show.display import numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_percent

common = messages("common")
say = messages("pages/deployments/supplements/hybrid-request")

LIMIT = 1.0  # s, to the first token: what the document asks of a conversation
SHORTER, LONGER = 1024, 8192  # tokens of two prompts of which the text speaks
TRIED = 200  # lengths between the shortest and the longest


class Waits:
    """Waits for the first token of one request, by length of the prompt [s]."""

    def __init__(self, comparison: Comparison) -> None:
        """Of the three systems of a comparison."""
        self.comparison = comparison
        system = self.system = comparison.systems[comparison.pair.id]
        self.alone = np.array([row for row in system.measured("ttft")
                               if system.rows["concurrency"][row] == 1])
        self.pair: Predictions = uncalibrated(
            system, "ttft", deviations(system.scenario), self.alone)
        self.lengths = [int(tokens) for tokens in system.rows["input_tokens"][self.pair.row]]
        self.measured = dict(zip(self.lengths, self.pair.measured, strict=True))
        self.eight = {tokens: self.of_eight(tokens) for tokens in self.lengths}

    def of_eight(self, tokens: Any) -> Amount:
        """Predicted for the eight cards, by tokens of the prompt, also of shape (rows,)."""
        return self.comparison.predicted(self.comparison.eight, input_tokens=tokens)["ttft"]

    @cached_property
    def other(self) -> dict[int, float]:
        """Measured on the eight cards of the other document."""
        return _of_one_request(self.comparison.systems[self.comparison.other.id], "ttft")

    def longest_in_time(self) -> int:
        """The longest prompt that the eight cards begin to answer in time.

        What their one measured wait lasted beyond its prediction is added to every length.
        """
        short = self.comparison.short
        extra = self.comparison.first_token - float(self.eight[short].value)
        lengths = np.unique(np.geomspace(short, self.lengths[-1], TRIED).astype(int))
        in_time = self.of_eight(lengths).value + extra <= LIMIT
        return int(lengths[np.flatnonzero(in_time)[-1]])


def _of_one_request(system: System, metric: str) -> dict[int, float]:
    """What was measured of one request at once, by length of the prompt."""
    rows = system.rows
    return {int(tokens): float(value) for tokens, value, requests in zip(
        rows["input_tokens"], rows[metric], rows["concurrency"], strict=True) if requests == 1}


def waits_by_length(waits: Waits) -> None:
    """The wait for the first token by length of the prompt, measured and predicted."""
    comparison, pair = waits.comparison, waits.pair
    table([{"input": tokens, "pair": human(pair.measured[at], "s"),
            "pair_here": Amount(
                pair.predicted[at], pair.low[at], pair.high[at], "s").formatted("en"),
            "eight": (human(comparison.first_token, "s") if tokens == comparison.short
                      else NOTHING),
            "eight_here": waits.eight[tokens].formatted("en"),
            "other": human(waits.other[tokens], "s") if tokens in waits.other else NOTHING}
           for at, tokens in enumerate(waits.lengths)],
          {"input": say("prompt"), "pair": PAIR_MEASURED, "pair_here": PREDICTED,
           "eight": EIGHT_MEASURED, "eight_here": PREDICTED, "other": OTHER_MEASURED}, wide=True)


def numbers_of_waits(waits: Waits) -> None:
    """How long prompts wait, and from which length on the wait eats the advantage per card."""
    comparison, short = waits.comparison, waits.comparison.short
    assert waits.pair.measured.min() > LIMIT
    assert comparison.first_token > float(waits.eight[short].value)
    rows = waits.system.rows
    ours = {int(rows["input_tokens"][row]):
            float(rows["output_throughput"][row]) / comparison.pair.devices
            for row in waits.alone if rows["output_tokens"][row] == comparison.answer}
    theirs = {tokens: rate / comparison.other.devices for tokens, rate in _of_one_request(
        comparison.systems[comparison.other.id], "output_throughput").items()}
    lost = min(tokens for tokens in ours if theirs.get(tokens, 0) > ours[tokens])
    longest = waits.lengths[-1]
    numbers({"s3-limit-wait": human(LIMIT, "s"),
             "s3-shortest-wait": human(float(waits.pair.measured.min()), "s"),
             "s3-wait-short": human(float(waits.measured[SHORTER]), "s"),
             "s3-wait-long": human(float(waits.measured[LONGER]), "s"),
             "s3-eight-short": waits.eight[SHORTER].formatted("en"),
             "s3-eight-long": waits.eight[LONGER].formatted("en"),
             "s3-first-seen": human(comparison.first_token, "s"),
             "s3-first-here": waits.eight[short].formatted("en"),
             "s3-document-wait": human(float(waits.measured[longest]), "s"),
             "s3-document-eight": waits.eight[longest].formatted("en"),
             "s3-lost-pair": human(ours[lost], "token/s"),
             "s3-lost-other": human(theirs[lost], "token/s")}, str)
    numbers({"s3-1024": SHORTER, "s3-8192": LONGER,
             "s3-ready": int(rounded(waits.longest_in_time(), 2)), "s3-document": longest,
             "s3-lost": lost})


class Request:
    """What was measured of one short request on the two cards, and what they hold."""

    def __init__(self, waits: Waits) -> None:
        """From the row of the table of measurements."""
        comparison = self.comparison = waits.comparison
        rows = waits.system.rows
        row = next(row for row in waits.alone if rows["input_tokens"][row] == comparison.short)
        self.measured = {name: float(column[row]) for name, column in rows.items()}
        self.paces = rows["tpot"][waits.alone]  # s, at all lengths
        self.rate = 1 / self.measured["tpot"]  # token/s
        pair = comparison.pair
        holds = calc.evaluate(pair.inputs(), pair.model.attention)
        self.on_cards = pair.devices * float(holds["weights_per_device"])  # B
        self.on_host = float(holds["host_expert_weights"])  # B
        self.usable = pair.devices * float(holds["usable_memory"])  # B
        self.in_16_bits = 2 * calc.parameters(pair.model)["total"]  # B


def printed_numbers(request: Request) -> None:
    """Numbers of the document beside what its other numbers, or a count, come to."""
    comparison, measured = request.comparison, request.measured
    pair, eight = comparison.pair, comparison.eight
    slow, fast = comparison.printed_rates
    ours, theirs = slow / pair.devices, fast / eight.devices
    pace = comparison.systems[eight.id].rows["tpot"][0]
    top = max(comparison.of_pair.values())
    checks = [
        (say("fewer-cards"), "1.2", "75%", fmt_percent(1 - pair.devices / eight.devices, 0)),
        (say("per-card-two-cards"), "5.2", "8.6 token/s", human(ours, "token/s")),
        (say("per-card-eight-cards"), "5.2", "6.5 token/s", human(theirs, "token/s")),
        (say("advantage-per-card"), "5.2", "33%", fmt_percent(ours / theirs - 1, 0)),
        (say("time-to-first-token-ratio"), "5.1", "8.7",
         fmt_fixed(measured["ttft"] / comparison.first_token, 1)),
        (say("time-per-output-token-ratio"), "5.1", "3.1",
         fmt_fixed(measured["tpot_printed"] / pace, 1)),
        (say("rate-of-one-request-ratio"), "5.1", "33%", fmt_percent(slow / fast, 0)),
        (say("largest-throughput-ratio"), "5.1", "4.4%",
         fmt_percent(top / comparison.printed_most)),
        (say("time-per-output-token-of"), "4.2", "60 ms", human(measured["tpot"], "s")),
        (say("rate-of-one-request-from"), "4.2", "17.27 token/s", human(request.rate, "token/s")),
        (say("time-per-output-token-of-one"), "4.6", "50–60 ms",
         span(request.paces.min(), request.paces.max(), "s")),
        (say("weights-in-bits"), "2.2", "~1.3 TB", fmt_bytes(request.in_16_bits, "TB", 2)),
        (say("weights-in-host-memory"), "2.2", "~200 GB", fmt_bytes(request.on_host, digits=0)),
        (say("weights-on-both-cards"), "2.2", "~100 GB", fmt_bytes(request.on_cards, digits=0))]
    headings = {"what": common("quantity"), "section": common("section"),
                "printed": common("printed"), "own": say("from-its-other-numbers-or")}
    table((dict(zip(headings, check, strict=True)) for check in checks), headings)


def what_does_not_follow(request: Request) -> None:
    """The rate and the memory that the document's own numbers contradict."""
    pair, (slow, _) = request.comparison.pair, request.comparison.printed_rates
    throughput = request.measured["output_throughput"]
    assert throughput > slow  # with the first token's wait in it, it cannot be
    document = documented(pair)
    wrong = next(document.recomputed(claim) for claim in document.claims
                 if claim.quantity == "host_expert_weights")
    assert wrong is not None
    numbers({"s3-rate": f"{fmt_fixed(slow)} token/s",
             "s3-through": f"{fmt_fixed(throughput)} token/s",
             "s3-own-rate": human(request.rate, "token/s"),
             "s3-own-card": human(request.rate / pair.devices, "token/s")}, str)
    numbers({"s3-experts": document.inputs["experts"].value,
             "s3-routed": pair.inputs()["n_routed_experts"]})
    numbers({"s3-wrong": wrong, "s3-on-host": request.on_host, "s3-on-cards": request.on_cards,
             "s3-usable": request.usable}, fmt_bytes, digits=0)
