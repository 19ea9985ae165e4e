"""Which card for which use: what the documents advise, beside pace and cost of each.

Both cards are in the weights that they multiply, on the fewest servers that hold them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

import calc
import catalogue
from calc.costing.cost import CostOptions, cost_of_parts
from calc.costing.ownership import prices_of
from calc.evidence.systems import measured_system
from calc.uncertainty import Amount
from catalogue.messages import Pair, messages
from catalogue.reading.units import HOUR
from notebooks.pages.deciding.cost_documents import Compared, hybrid
from notebooks.pages.deciding.matrix import cell_on
from notebooks.pages.derivations.choices.documents import advised
from notebooks.pages.engineering.layouts import (
    MOST,
    PACE,
    RATE,
    Case,
    goal,
    most_users,
    plan,
    split_replicas,
)
from notebooks.show.display import number, numbers
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

say = messages("pages/engineering/uses")

H20: Case = ("nvidia-h20", "fp8-block", 2)
B2: Case = ("ascend-910b2", "w8a8-int8", 2)
B2_FOUR: Case = ("ascend-910b2", "w4a8-int8", 1)
A100: Case = ("nvidia-a100-sxm-80gb", "w8a8-int8", 2)
USERS = 64
LIVE = 0.01  # s, that S1 asks of the time of a token where use is live
SIZES = {"two-servers": 2, "five-servers": 5, "eight-servers": 8}  # plans of S0
HYBRID, EIGHT = "s3-hybrid-910b4", "s3-eight-cards"
LONG = 40960  # tokens of S3's longest prompt
WHOLE = "per_million_output_whole"


@dataclass(frozen=True)
class Full:
    """A deployment with as many users as yield most.

    Attributes:
        users: at once.
        rate: output tokens per second, with its interval.
        million: of output tokens, prompts included, in use all the time, owned [money].
        hour: of one card, of the parts of owning [money/s].
        currency: of both.
    """

    users: int
    rate: Amount
    million: Amount
    hour: Amount
    currency: str


@cache
def paced(case: Case, users: int) -> Amount:
    """Time per token of so many users in the fastest layout that a release starts [s]."""
    device, precision, _ = case
    best = cell_on(device, precision, users, plan(*case).cards).best
    assert best
    return best.amounts["tpot"]


@cache
def full(case: Case) -> Full:
    """A case filled with the requests that yield most, and what a token then costs.

    Args:
        case: card, precision and servers.
    """
    made, users = plan(*case), np.arange(1.0, MOST + 1)
    moves = {"concurrency": users}
    best = int(users[np.where(made.fits(moves), made.at(moves, RATE), 0).argmax()])
    scenario = plan(*case, best).scenario
    answer, prices = calc.estimate(scenario), prices_of(case[0])
    of = scenario, answer.everything, answer.quantities[RATE], prices
    owned = cost_of_parts(*of, CostOptions())
    assert owned
    assert owned.hour
    return Full(best, answer.quantities[RATE], owned.amounts[WHOLE], owned.hour, owned.currency)


def uses() -> None:
    """The documents' advice on cards and plans by use, beside pace and cost."""
    advised({**_of_cards(), **_of_sizes(), **_of_hybrid()})
    many = full(H20).million.value
    number("us-users", USERS)
    numbers({"us-pace": paced(B2, USERS).value / paced(H20, USERS).value,
             "us-cost": full(B2).million.value / many,
             "us-cost-four": full(B2_FOUR).million.value / many}, fmt_sig, digits=2)


def _of_cards() -> dict[str, Pair]:
    """S1's two cards, live and in batches, and what it says of their price; S0's A100."""
    h20, b2 = paced(H20, USERS), paced(B2, USERS)
    live = [most_users(plan(*case), LIVE) for case in (H20, B2)]
    many, few, four = full(H20), full(B2), full(B2_FOUR)
    per_server = int(plan(*B2_FOUR).cards)
    dear = [per_server * each.hour.value * HOUR for each in (many, few)]
    return {
        "s1/h20-online": say(
            "h20-online", users=USERS, h20=H20[1], h20_pace=h20.formatted("en"), b2=B2[1],
            b2_pace=b2.formatted("en"), limit=fmt_time(LIVE), h20_users=fmt_int(live[0]),
            b2_users=fmt_int(live[1])),
        "s1/ascend-batch": say(
            "ascend-batch", h20=many.million.formatted("en"), h20_users=fmt_int(many.users),
            b2=few.million.formatted("en"), b2_users=fmt_int(few.users), four_bit=B2_FOUR[1],
            b2_four=four.million.formatted("en"), four_users=fmt_int(four.users),
            h20_cards=plan(*H20).cards, b2_cards=plan(*B2).cards, four_cards=per_server),
        "s1/h20-premium": say(
            "h20-premium", h20=fmt_fixed(dear[0], 1), currency=many.currency,
            b2=fmt_fixed(dear[1], 1), times=fmt_sig(many.rate.value / few.rate.value, 2)),
        "s0/against-a100": say(
            "against-a100", precision=B2[1], users=USERS,
            pace=fmt_percent(paced(A100, USERS).value / b2.value, 0),
            rate=fmt_percent(few.rate.value / full(A100).rate.value, 0))}


def _of_sizes() -> dict[str, Pair]:
    """S0's plans by size: users within the promise, and what a second pool does."""
    made = plan(*B2_FOUR)
    users = most_users(made)
    told = {f"s0/{name}": say(
        "plan-of-size", precision=B2_FOUR[1], users=fmt_int(servers * users),
        rate=fmt_int(round(servers * made.median(users, RATE), -1)),
        pace=fmt_time(made.median(users, PACE))) for name, servers in SIZES.items()}
    split = split_replicas(B2_FOUR, SIZES["eight-servers"])
    told["s0/eight-servers"] = say("plan-of-size-split", whole=told["s0/eight-servers"],
                                   both=f"{split.prefill}+{split.decode}",
                                   gain=fmt_fixed(split.gain))
    return told


def _of_hybrid() -> dict[str, Pair]:
    """S3's two systems: one request and the most for the same money, long prompts, chat."""
    made = hybrid()
    alone, most = (_worth(made, rates) for rates in (made.alone, made.most))
    two, tokens = measured_system(HYBRID), int(goal().demand.input_tokens)
    waited = float(two.rows["ttft"][two.rows["input_tokens"] == LONG][0])
    eight = catalogue.load_scenario(EIGHT)
    long, chat = (calc.estimate(catalogue.load_scenario(EIGHT, overrides=[
        f"workload.concurrency={users} request",
        f"workload.input_tokens={prompt} token"])).quantities  # answers as long as the document's
        for users, prompt in ((1, LONG), (USERS, tokens)))
    return {
        "s3/hybrid-for-few": say("hybrid-for-few", alone=fmt_sig(alone, 2), most=fmt_sig(most, 2)),
        "s3/hybrid-for-long": say("hybrid-for-long", tokens=fmt_int(LONG), waited=fmt_time(waited),
                                  predicted=long["ttft"].formatted("en")),
        "s3/eight-for-many": say("eight-for-many", precision=eight.precision.id, users=USERS,
                                 tokens=fmt_int(tokens),
                                 first=chat["steady_ttft"].formatted("en"))}


def _worth(made: Compared, rates: tuple[float, float]) -> float:
    """Tokens of two cards over those of eight, for the same money with their hosts [1]."""
    one, other = (rate / (cards + made.host.value)
                  for rate, cards in zip(rates, made.cards, strict=True))
    return one / other
