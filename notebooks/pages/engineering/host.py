"""Host: what a server needs beside its cards, and experts computed by processors or by more cards.

The two systems are those of document S3, with prompts and answers of its measurements; a host in
their place computes with what the catalogue has of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import calc
import catalogue
from calc.evidence.systems import system
from calc.sensitivity.break_even import solve
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.messages import LANGUAGES, Pair, messages
from notebooks.pages.deciding.cost_documents import hybrid
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.deployments.supplements.hybrid import Comparison, bearable
from notebooks.pages.engineering import layouts
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import interval, number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/engineering/host")

USERS = (1, 2, 4, 8, 16)
GRID = np.unique(np.geomspace(1, 32, 26).round())
PACE, RATE, FIRST = "tpot", "output_throughput", "ttft"
HOSTS = ("kunpeng-920-7263z", "kunpeng-920-6426", "intel-xeon-6454s", "intel-xeon-8480plus",
         "amd-epyc-9654", "intel-xeon-6980p")
BEST = "intel-xeon-6980p"  # the widest memory of the catalogue's processors
BANDWIDTH = "host_memory_bandwidth"
ENDLESS = 1e30  # of whatever takes no time
REACH = 1e11, 1e14  # B/s that are tried
LAUNCH = "host_time_per_operator"
LAUNCHES = 1e-7, 1e-3  # s that are tried
MEASURED = ("kt-4090d-v02-one-socket", "kt-4090d-v02", "kt-4090-v021")
PLACED = (("nvidia-h20", "fp8-block"), ("nvidia-h200-sxm", "fp8-block"),
          ("ascend-910b2", "w8a8-int8"))
SERVERS = 2
PLACED_USERS = (1, 32)
FORMATS = (("s3-hybrid-910b4", 1), ("kt-4090d-v02", 2), ("kt-4090-v03", 2))  # copies, by socket
MILLI, MICRO, GIGA = 1e3, 1e6, 1e9
NOTHING = "–"


@cache
def compared() -> Comparison:
    """The two systems."""
    return Comparison()


@cache
def predicted(which: str, users: tuple[float, ...]) -> dict[str, Amount]:
    """Quantities of a system at numbers of users, with intervals.

    Args:
        which: ``pair`` or ``eight``.
        users: at once.
    """
    found = compared()
    return found.predicted(getattr(found, which), concurrency=np.asarray(users),
                           input_tokens=found.short)


def with_host(host: str) -> Scenario:
    """S3's two cards with two sockets of another processor."""
    return replace(compared().pair, host=catalogue.load_device(host))


def pace(inputs: dict[str, float], **moves: object) -> np.ndarray:
    """Time per token of the two cards and their host [s]."""
    changed = inputs | {"input_tokens": compared().short, "output_tokens": compared().answer,
                        "context_tokens": compared().short + compared().answer} | moves
    return np.asarray(calc.evaluate(changed, "mla")[PACE])


def answer() -> None:
    """The numbers of the first paragraph."""
    found, prices = compared(), hybrid()
    pair, eight = predicted("pair", USERS), predicted("eight", USERS)
    rows = found.systems[found.pair.id].rows
    wait = {(prompt, count): first for prompt, count, first in zip(
        rows["input_tokens"], rows["concurrency"], rows["ttft"], strict=True)}
    memory = found.pair.node.host_memory
    assert memory
    numbers({"ho-short": found.short, "ho-answer": found.answer})
    numbers({f"ho-pace-{users}{of}": made[PACE].at(USERS.index(count)).formatted("en")
             for of, made in (("", pair), ("-eight", eight))
             for users, count in (("one", 1), ("two", 2), ("eight", 8))}, str)
    number("ho-even", bearable(prices.cards, found.of_pair[1], float(
        eight[RATE].value[USERS.index(1)]), 1), fmt_sig, digits=2)
    number("ho-even-measured", bearable(prices.cards, found.of_pair[1], found.single, 1),
           fmt_sig, digits=2)
    number("ho-even-printed", prices.break_even, fmt_sig, digits=2)
    interval("ho-host", prices.host.points, fmt_sig, digits=2)
    number("ho-limit", layouts.LIMIT, fmt_time)
    numbers({"ho-one": found.of_pair[1], "ho-one-eight": found.single, "ho-servers": (
        prices.cards[1] + prices.host.value) / (prices.cards[0] + prices.host.value)},
        fmt_fixed, digits=1)
    number("ho-memory", memory.value, fmt_bytes, unit="TiB")
    numbers({"ho-wait": wait[1024.0, 1.0], "ho-wait-long": wait[40960.0, 1.0]}, fmt_fixed, digits=0)


def picture(lang: str) -> Figure:
    """Time per token, and tokens for the price of a card, against users."""
    at = LANGUAGES.index(lang)
    found, prices = compared(), hybrid()
    drawing, (left, right) = figures.panels(3.5, 1, 2)
    for which, colour, cards, name in (
            ("pair", figures.PALETTE[1], prices.cards[0], common("two-cards-and-host")),
            ("eight", figures.PALETTE[0], prices.cards[1], common("eight-cards-spelled"))):
        made = predicted(which, tuple(GRID))
        figures.band(left, GRID, made[PACE], MILLI, color=colour, label=name[at])
        rate, host = made[RATE].value, prices.host
        figures.band(right, GRID, Amount(rate / (cards + host.value), rate / (cards + host.high),
                                         rate / (cards + host.low)), color=colour)
    rows = found.systems[found.pair.id].rows
    kept = rows["input_tokens"] == found.short
    users, seen = rows["concurrency"][kept], rows[PACE][kept]
    measured = np.array([found.of_pair[int(count)] for count in users])
    points = {"marker": "o", "ls": "", "ms": 4, "color": figures.PALETTE[1]}
    left.plot(users, MILLI * seen, label=common("measured")[at], **points)
    right.plot(users, measured / (prices.cards[0] + prices.host.value), **points)
    left.axhline(MILLI * layouts.LIMIT, color=figures.INK, lw=1, ls="--")
    for axes, label, ends in ((left, common("time-per-token-ms"), (10, 200)),
                              (right, say("token-s-for-price-of"), (2, 50))):
        axes.set(xscale="log", yscale="log", xlabel=common("users-at-once")[at], ylabel=label[at])
        figures.log_ticks(axes.yaxis, *ends)
        figures.ticks(axes.xaxis, [1, 2, 4, 8, 16, 32])
    left.legend(fontsize=8, loc="upper left")
    return drawing


def decision() -> None:
    """By users: how fast both are, and what an empty server may cost at most."""
    found, prices = compared(), hybrid()
    card = catalogue.load_device("ascend-910b4").price
    assert card
    assert card.cny
    money = card.cny.value
    pair, eight = predicted("pair", USERS), predicted("eight", USERS)
    rows = []
    for place, users in enumerate(USERS):
        rates = found.of_pair[users], float(eight[RATE].value[place])
        even = bearable(prices.cards, *rates, 1)
        # as the text has it
        assert users == 1 or even < prices.host.low
        rows.append({
            "users": users, "pair": pair[PACE].at(place).formatted("en"),
            "eight": eight[PACE].at(place).formatted("en"), "even": even if even > 0 else None,
            **{f"worth{cards}": rate / (cards + prices.host.value)
               for rate, cards in zip(rates, prices.cards, strict=True)}})
    few, many = (f"worth{cards}" for cards in prices.cards)
    table(rows, [
        Column("users", common("users")), Column("pair", say("two-cards-and-host-time")),
        Column("eight", say("eight-cards-time-per-token")),
        Column(few, say("token-s-per-card-price", host=fmt_sig(prices.host.value, 2)),
               fmt_sig, digits=2),
        Column(many, say("eight-cards-predicted"), fmt_sig, digits=2),
        Column("even", say("empty-server-below-in-cards"), fmt_sig, digits=2),
        Column(lambda row: row["even"] and round(row["even"] * money, -3), say("same-cny"),
               fmt_int)], wide=True)


def most_within(made: Scenario, limit: float = layouts.LIMIT) -> int:
    """The most users within a time per token; 0 if not even one."""
    users = np.arange(1.0, max(USERS) + 1)
    kept = pace(made.inputs(), concurrency=users) <= limit
    return int(users[kept].max(initial=0))


def two_sockets() -> None:
    """What two sockets of each processor would make of the same two cards, and which bandwidth a
    promise takes."""
    def pace_of(users: int) -> Column:
        return Column(lambda host: compared().predicted(
            with_host(host), concurrency=np.array([float(users)]),
            input_tokens=compared().short)[PACE].at(0).formatted("en"), say("users", users=users))

    table(HOSTS, [
        Column(device_label, say("two-sockets-of")),
        Column(lambda host: catalogue.load_device(host).memory_bandwidth.value / GIGA,
               say("gb-s-of-socket"), fmt_fixed, digits=1),
        *map(pace_of, (1, 4, 16)),
        Column(lambda host: most_within(with_host(host)) or None,
               say("users-within", limit=fmt_time(layouts.LIMIT)), fmt_int)])
    best = catalogue.load_device(BEST).memory_bandwidth.value
    for users in (2, 8, 16):
        at = bandwidth_for(users)
        assert at
        number(f"ho-needed-{users}", round(at / GIGA, -1))
        number(f"ho-sockets-{users}", at / best, fmt_sig, digits=2)


def bandwidth_for(users: float, limit: float = layouts.LIMIT) -> float | None:
    """What the memory of the best processors had to deliver for a time per token [B/s].

    None if even endless bandwidth does not suffice.

    Args:
        users: at once.
        limit: of the time per token [s].
    """
    inputs = with_host(BEST).inputs()
    found = solve(lambda at: np.log(pace(inputs, concurrency=users, **{BANDWIDTH: at}) / limit),
                  *REACH)
    return found.turns[0].at if found.turns else None


HELPS: dict[str, tuple[Pair, dict[str, float]]] = {
    "as": (common("as-it-is"), {}),
    "memory": (say("host-memory-takes-no-time"), {BANDWIDTH: ENDLESS}),
    "cores": (say("cores-multiply-in-no-time"), {"host_peak": ENDLESS}),
    "link": (say("pcie-takes-no-time"), {"host_link_bandwidth": ENDLESS}),
    "sync": (say("no-hand-over-between-card"), {"host_sync": 0.0}),
    "whole": (say("all-of-it-overlaps-with"), {"host_overlap": 1.0}),
    "none": (say("none-of-it-overlaps"), {"host_overlap": 0.0})}


def helps() -> None:
    """The time per token if one part of the host cost nothing."""
    inputs, users = compared().pair.inputs(), np.array(USERS, float)
    found = {name: MILLI * pace(inputs, concurrency=users, **moves)
             for name, (_, moves) in HELPS.items()}

    def at(place: int, count: int) -> Column:
        return Column(lambda name: found[name][place], say("users", users=count), fmt_fixed,
                      digits=1)

    host = compared().pair.host
    assert host
    table(HELPS, [Column(lambda name: HELPS[name][0],
                         say("time-per-token-ms", host=device_label(host.id))),
                  *(at(place, count) for place, count in enumerate(USERS))])
    number("ho-memory-share", 1 - found["memory"][2] / found["as"][2], fmt_percent, digits=0)
    number("ho-link-share", 1 - found["link"][2] / found["as"][2], fmt_percent)


def measured() -> None:
    """Hybrid systems that were measured, beside what is predicted of them."""
    rows: list[dict[str, Any]] = []
    for name in MEASURED:
        made = catalogue.load_scenario(name)
        times = system(made).rows[PACE]
        value, low, high = (fmt_fixed(MILLI * end, 0)
                            for end in calc.estimate(made).quantities[PACE].points)
        rows.append({"system": (made.file.title["en"].partition(",")[0],
                                made.file.title["zh"].partition("，")[0]),
                     "hosts": int(made.file.offload.hosts.value) if made.file.offload else "",
                     "seen": times[len(times) // 2], "here": f"{value} ({low}–{high})"})
    found = compared().systems[compared().pair.id].rows
    for place, users in enumerate(USERS):
        row = np.flatnonzero((found["concurrency"] == users)
                             & (found["input_tokens"] == compared().short))[0]
        rows.append({"system": say("two-kunpeng-at-once", users=users), "hosts": 2,
                     "seen": found[PACE][row], "here": predicted("pair", USERS)[PACE].at(
                         place).formatted("en").replace(" ms", "")})
    table(rows, [Column("system", common("system")), Column("hosts", say("sockets")),
                 Column(lambda row: MILLI * row["seen"], say("ms-per-token-measured"), fmt_fixed,
                        digits=0),
                 Column("here", common("predicted-interval"))],
          folded=say("measured-hybrid-systems"))


def memories() -> None:
    """What host memory the routed experts take, with a copy by socket or without."""
    rows = []
    for name, copies in FORMATS:
        made = catalogue.load_scenario(name)
        assert made.file.offload
        held = float(calc.evaluate(made.inputs(), made.model.attention)["host_expert_weights"])
        rows.append((f"`{made.file.offload.format}`", held, 2 * held, str(copies)))
    table(rows, [Column(0, say("routed-experts-in")), Column(1, say("once"), fmt_bytes, digits=0),
                 Column(2, say("copy-in-each-of-two"), fmt_bytes, digits=0),
                 Column(3, say("copies-of-measured-system"))])


def keeps_up(inputs: dict[str, float], attention: str) -> float:
    """How long the start of an operator may take before cards wait for their host [s].

    Args:
        inputs: of a deployment whose steps are not captured.
        attention: of its model.
    """
    def behind(launch: np.ndarray) -> np.ndarray:
        found = calc.evaluate(inputs | {LAUNCH: launch}, attention)
        return np.asarray(np.log(found["decode_host_time"] / found["decode_device_time"]))

    return solve(behind, *LAUNCHES).turns[0].at


def launching() -> None:
    """How fast a host has to start operators where a step is not a captured graph."""
    def inputs(case: tuple[str, str], users: int) -> dict[str, float]:
        return {**layouts.plan(*case, SERVERS, users).inputs, "captured": 0.0}

    @cache
    def most(case: tuple[str, str], users: int) -> float:
        return keeps_up(inputs(case, users),
                        layouts.plan(*case, SERVERS, users).scenario.model.attention)

    def fast_enough(users: int) -> Column:
        return Column(lambda case: MICRO * most(case, users),
                      say("us-for-operator-users", users=users), fmt_fixed, digits=0)

    # as the text has it
    assert all(inputs(case, users)[LAUNCH] > most(case, users)
               for case in PLACED for users in PLACED_USERS)
    table(PLACED, [
        Column(lambda case: device_label(case[0]), common("card")),
        Column(lambda case: f"`{case[1]}`, TP8 × PP{SERVERS}", common("deployment")),
        *map(fast_enough, PLACED_USERS),
        Column(lambda case: MICRO * inputs(case, 1)[LAUNCH], say("taken-of-these-hosts-us"),
               fmt_fixed, digits=0)])
