"""How far tensor parallelism may reach: steps of a few cuts over one server and over two."""

from __future__ import annotations

from collections.abc import Callable

import catalogue
from catalogue.messages import Pair, join, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.pages.derivations import communication_groups as groups
from notebooks.pages.derivations.choices import documents
from notebooks.pages.derivations.choices.layouts import (
    A2,
    CARDS_OF_A_SERVER,
    H20_LARGE,
    H200,
    Layout,
)
from notebooks.pages.derivations.memory_weights import ROOM_FOR_ALL
from notebooks.pages.derivations.throughput import Inputs, Values, quantities
from notebooks.show.display import markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_time

common = messages("common")
say = messages("pages/derivations/choices/communication")

Time = Callable[..., float]  # of inputs, ranks and letters such as Q [s]
CARDS = {"910b": A2, "h20": H20_LARGE, "h200": H200}
PROMPT, ANSWER = 2048, 512
USERS = (16, 64, 256)
MOST = 1024  # users that are tried
MILLI = 1e3
RANKS, IN_GROUP = (2, 4, 8, 16), 16  # that sum; requests of a group in a step
ALL_REDUCES = ("decode_all_reduce_time", "prefill_all_reduce_time")
SENT = ("decode_all_reduce_time", "decode_exchange_time")
FEW, MANY_SERVERS = 2, 4  # cards of a small group, servers of a large one


def cuts(servers: int) -> tuple[tuple[int, bool], ...]:
    """Ranks that cut attention, and whether experts stay whole, over so many servers."""
    cards = servers * CARDS_OF_A_SERVER
    return ((cards, False), (cards // 2, False), (cards // 2, True), (cards // 4, False),
            (1, False))


def step(derivation: Derivation, inputs: Inputs, users: float) -> Values | None:
    """A decode step of so many users; None where they do not fit."""
    found = quantities(derivation, inputs, concurrency=users)
    return found if found["max_concurrency"] >= users else None


def steps(derivation: Derivation) -> None:
    """Time of a decode step, and what of it is sent, by card, servers, users and cut."""
    rows = []
    for key, card in CARDS.items():
        for servers in (1, 2):
            laid = [Layout(card, servers, *cut) for cut in cuts(servers)]
            inputs = [layout.inputs(PROMPT, ANSWER) for layout in laid]
            found = {users: [step(derivation, given, users) for given in inputs]
                     for users in USERS}
            rows += [_row(laid[0], users, of_users) for users, of_users in found.items()
                     if any(of_users)]
            _said(f"{key}-{servers}", found[USERS[0]])
            whole, half = inputs[:2]
            number(f"reach-turn-{key}" + "-wide" * (servers > 1), turn(derivation, whole, half))
    table(rows, {"layout": common("cards"), "users": say("users"),
                 "0": say("tp-over-all"), "1": say("over-half"), "2": say("over-half-all-to-all"),
                 "3": say("over-quarter"), "4": say("attention-data-parallel")}, wide=True)
    number("reach-few", USERS[0])
    _under()


def _under() -> None:
    """What stands under the table."""
    def stored(layout: Layout) -> Pair:
        return say("cards-in-precision", cards=layout.cards, card=groups.card_name(layout.card),
                   precision=entry_label(catalogue.load_precision(layout.precision)))

    markdown(*say("how-steps-are-shown", prompt=fmt_int(PROMPT), answer=fmt_int(ANSWER),
              stored=join(("; ", "；"), (stored(Layout(card, servers, 1))
                                       for card in CARDS.values() for servers in (1, 2)))))


def _row(layout: Layout, users: int, found: list[Values | None]) -> dict[str, str | Pair]:
    """A row of the table: the fastest cut in bold."""
    en, zh = groups.card_name(layout.card)
    least = min(float(one["decode_step_time"]) for one in found if one) if any(found) else 0.0
    row: dict[str, str | Pair] = {"layout": (f"{layout.cards} × {en}", f"{layout.cards} × {zh}"),
                                  "users": fmt_int(users)}
    for place, one in enumerate(found):
        if one is None:
            row[str(place)] = "–"
            continue
        time = float(one["decode_step_time"])
        text = fmt_fixed(MILLI * time, 1)
        sent = fmt_fixed(MILLI * float(sum(one[name] for name in SENT)), 1)
        row[str(place)] = f"**{text}** ({sent})" if time == least else f"{text} ({sent})"
    return row


def _said(key: str, found: list[Values | None]) -> None:
    """What is sent with few users: all summed, gathered over half, all-to-all, data-parallel."""
    for name, one in zip(("all", "half", "exchange", "quarter", "data"), found, strict=True):
        if one:
            number(f"reach-sent-{key}-{name}", float(sum(one[each] for each in SENT)), fmt_time)


def faster(derivation: Derivation, whole: Inputs, half: Inputs, users: float) -> bool:
    """Whether a step is faster with tensor parallelism over half of the cards than over all."""
    first, second = (float(quantities(derivation, inputs, concurrency=users)["decode_step_time"])
                     for inputs in (whole, half))
    return second < first


def turn(derivation: Derivation, whole: Inputs, half: Inputs) -> int:
    """Users from which tensor parallelism over half of the cards is faster than over all, where
    all of them have a place in the cache."""
    whole, half = (inputs | {"memory_capacity": ROOM_FOR_ALL} for inputs in (whole, half))
    low, high = 0, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if faster(derivation, whole, half, middle) else (middle, high)
    return high


def small_groups(two_shot: Time, crossing: Time, cross_network: Time) -> None:
    """A chunk's sum in a small group and a server, and the payloads where algorithms cross.

    Args:
        two_shot: time of an all-reduce in a server.
        crossing: payload from which it beats one-shot [B].
        cross_network: payload from which a ring beats a tree between servers [B].
    """
    token = groups.token_bytes()
    numbers({f"reach-chunk-910b-{ranks}": two_shot(groups.card_inputs(A2), ranks,
                                                   Q=groups.CHUNK * token)
             for ranks in (FEW, CARDS_OF_A_SERVER)}, fmt_time)
    for key, card in {"910b": A2, "h20": groups.H20, "h200": H200}.items():
        inputs, far = groups.card_inputs(card), MANY_SERVERS * CARDS_OF_A_SERVER
        numbers({f"reach-two-shot-{key}": crossing(inputs, CARDS_OF_A_SERVER) / token,
                 f"reach-ring-{key}": cross_network(inputs, far) / token}, fmt_fixed, digits=0)
    numbers({"reach-servers": MANY_SERVERS, "reach-chunk": groups.CHUNK})


def advice(derivation: Derivation) -> None:
    """How all-reduces grow with the ranks: as the documents write it, and as it comes out.

    Args:
        derivation: of all quantities.
    """
    told = []
    for ranks in RANKS:
        layout = Layout(A2, 2, ranks)
        found = quantities(derivation, layout.inputs(PROMPT, ANSWER),
                           concurrency=IN_GROUP * layout.cards // ranks)
        told.append(tuple(float(found[name]) for name in ALL_REDUCES))
    steps_, chunks = ([f"TP{ranks} {fmt_time(pair[place])}"
                       for ranks, pair in zip(RANKS, told, strict=True)] for place in (0, 1))
    numbers({f"reach-prompt-{ranks}": prompt
             for ranks, (_, prompt) in zip(RANKS, told, strict=True)}, fmt_time)
    numbers({"reach-group": IN_GROUP, "reach-prompt": PROMPT})
    number("reach-beyond", told[-1][0] / told[-2][0], fmt_fixed, digits=1)
    documents.advised({
        "s0/tensor-at-most-eight": say("all-reduces-in-step", requests=IN_GROUP,
                                       times=("; ".join(steps_), "；".join(steps_))),
        "s0/tensor-inverse": say("all-reduces-in-prompt", prompt=fmt_int(PROMPT),
                                 times=("; ".join(chunks), "；".join(chunks)))})
