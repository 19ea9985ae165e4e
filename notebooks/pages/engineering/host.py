"""Host: what a server needs beside its cards, and experts computed by processors or by more cards.

The two systems are those of document S3, with prompts and answers of its measurements; a host in
their place computes with what the catalogue has of it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from matplotlib.figure import Figure

import calc
import catalogue
from calc.evidence.systems import system
from calc.sensitivity.breakeven import solve
from calc.uncertainty.amount import Amount
from catalogue import Scenario
from catalogue.messages import Pair, messages
from notebooks.pages.deciding.cost_documents import Compared, hybrid
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.deployments.supplements.hybrid import Comparison, bearable, documented
from notebooks.pages.engineering import layouts
from notebooks.show import figures
from notebooks.show.display import figure, number, table
from notebooks.show.numbers import (
    fmt_bytes,
    fmt_fixed,
    fmt_int,
    fmt_percent,
    fmt_quantity,
    fmt_sig,
)

common = messages("common")
say = messages("pages/engineering/host")

USERS = (1, 2, 4, 8, 16)
EVEN = 2  # most users with whom some price of an empty server makes the two cards worth it
GRID = np.unique(np.geomspace(1, 32, 26).round())
PACE, RATE, FIRST = "tpot", "output_throughput", "ttft"
HOSTS = ("kunpeng-920-7263z", "kunpeng-920-6426", "intel-xeon-6454s", "intel-xeon-8480plus",
         "amd-epyc-9654", "intel-xeon-6980p")
BEST = "intel-xeon-6980p"  # the widest memory of the catalogue's processors
ACROSS = "intel-xeon-6454s"  # whose file has what a socket reads of its own and of the other
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
def priced() -> Compared:
    """What an empty server costs, in cards."""
    return hybrid()


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
    found, prices = compared(), priced()
    pair, eight = predicted("pair", USERS), predicted("eight", USERS)
    rows = found.systems[found.pair.id].rows
    number("ho-short", found.short)
    number("ho-answer", found.answer)
    number("ho-one", found.of_pair[1], fmt_fixed, digits=1)
    number("ho-one-eight", found.single, fmt_fixed, digits=1)
    number("ho-pace-one", pair[PACE].at(0).said("en"), str)
    number("ho-pace-two", pair[PACE].at(1).said("en"), str)
    number("ho-pace-eight", eight[PACE].at(USERS.index(8)).said("en"), str)
    number("ho-even", bearable(prices.cards, found.of_pair[1], float(eight[RATE].value[0]), 1),
           fmt_sig, digits=2)
    number("ho-even-two", bearable(prices.cards, found.of_pair[EVEN], float(
        eight[RATE].value[USERS.index(EVEN)]), 1), fmt_sig, digits=2)
    number("ho-host", prices.host.value, fmt_sig, digits=2)
    number("ho-host-low", prices.host.low, fmt_sig, digits=2)
    number("ho-host-high", prices.host.high, fmt_sig, digits=2)
    number("ho-limit", layouts.LIMIT, fmt_quantity, unit="s")
    number("ho-servers", (prices.cards[1] + prices.host.value) / (
        prices.cards[0] + prices.host.value), fmt_fixed, digits=1)
    wait = {(prompt, count): first for prompt, count, first in zip(
        rows["input_tokens"], rows["concurrency"], rows["ttft"], strict=True)}
    number("ho-chosen", found.pair.inputs()["num_experts_per_tok"])
    number("ho-layers", documented(found.pair).inputs["moe_layers"].value)
    memory = found.pair.node.host_memory
    assert memory
    number("ho-memory", memory.value, fmt_bytes, unit="TiB")
    number("ho-wait", wait[1024.0, 1.0], fmt_fixed, digits=0)
    number("ho-wait-long", wait[40960.0, 1.0], fmt_fixed, digits=0)


def picture() -> None:
    """Time per token, and tokens for the price of a card, against users."""
    figure("host_users", _drawn)


def _drawn(lang: str) -> Figure:
    at = int(lang == "zh")
    found, prices = compared(), priced()
    figures.style()
    drawing = Figure(figsize=(figures.WIDTH, 3.5))
    left, right = drawing.subplots(1, 2)
    for which, colour, cards, name in (
            ("pair", figures.PALETTE[1], prices.cards[0], common("two-cards-and-host")),
            ("eight", figures.PALETTE[0], prices.cards[1], common("eight-cards-spelled"))):
        made = predicted(which, tuple(GRID))
        left.plot(GRID, MILLI * made[PACE].value, color=colour, label=name[at])
        left.fill_between(GRID, MILLI * made[PACE].low, MILLI * made[PACE].high, color=colour,
                          alpha=0.15, lw=0)
        rate = made[RATE].value
        right.plot(GRID, rate / (cards + prices.host.value), color=colour)
        right.fill_between(GRID, rate / (cards + prices.host.high),
                           rate / (cards + prices.host.low), color=colour, alpha=0.15, lw=0)
    rows = found.systems[found.pair.id].rows
    kept = rows["input_tokens"] == found.short
    users, seen = rows["concurrency"][kept], rows[PACE][kept]
    label = common("measured")[at]
    left.plot(users, MILLI * seen, "o", ms=4, color=figures.PALETTE[1], label=label)
    measured = np.array([found.of_pair[int(count)] for count in users])
    right.plot(users, measured / (prices.cards[0] + prices.host.value), "o", ms=4,
               color=figures.PALETTE[1])
    left.axhline(MILLI * layouts.LIMIT, color=figures.INK, lw=1, ls="--")
    left.set(yscale="log", ylabel=common("time-per-token-ms")[at])
    right.set(yscale="log", ylabel=say("token-s-for-price-of")[at])
    figures.log_ticks(left.yaxis, 10, 200)
    figures.log_ticks(right.yaxis, 2, 50)
    for axes in (left, right):
        axes.set(xscale="log", xlabel=common("users-at-once")[at])
        figures.log_ticks(axes.xaxis, 1, 20)
        axes.set_xticks([1, 2, 4, 8, 16, 32], ["1", "2", "4", "8", "16", "32"])
    left.legend(fontsize=8, loc="upper left")
    return drawing


def decision() -> None:
    """By users: how fast both are, and what an empty server may cost at most."""
    found, prices = compared(), priced()
    card = catalogue.load_device("ascend-910b4").price
    assert card
    assert card.cny
    pair, eight = predicted("pair", USERS), predicted("eight", USERS)
    rows = []
    for place, users in enumerate(USERS):
        even = bearable(prices.cards, found.of_pair[users], float(eight[RATE].value[place]), 1)
        # as the text has it
        assert users == 1 or even < prices.host.low
        assert users <= EVEN or even <= 0
        rows.append({
            "users": users, "pair": pair[PACE].at(place).said("en"),
            "eight": eight[PACE].at(place).said("en"),
            "value": fmt_sig(found.of_pair[users] / (prices.cards[0] + prices.host.value), 2),
            "value8": fmt_sig(float(eight[RATE].value[place]) / (
                prices.cards[1] + prices.host.value), 2),
            "even": fmt_sig(even, 2) if even > 0 else NOTHING,
            "money": fmt_int(round(even * card.cny.value, -3)) if even > 0 else NOTHING})
    table(rows, {"users": common("users"),
                 "pair": say("two-cards-and-host-time"),
                 "eight": say("eight-cards-time-per-token"),
                 "value": say("token-s-per-card-price"),
                 "value8": common("eight-cards-spelled"),
                 "even": say("empty-server-below-in-cards"),
                 "money": say("same-cny")}, wide=True)


def most_within(made: Scenario, limit: float = layouts.LIMIT) -> int:
    """The most users within a time per token; 0 if not even one."""
    users = np.arange(1.0, max(USERS) + 1)
    kept = pace(made.inputs(), concurrency=users) <= limit
    return int(users[kept].max(initial=0))


def users_heading(users: int) -> Pair:
    """A column's heading."""
    return say("users", users=users)


def processors() -> None:
    """What two sockets of each processor would make of the same two cards."""
    rows = []
    for host in HOSTS:
        device, made = catalogue.load_device(host), with_host(host)
        row = {"host": device_label(host),
               "bandwidth": fmt_fixed(device.memory_bandwidth.value / GIGA, 1),
               "most": fmt_int(most_within(made)) if most_within(made) else NOTHING}
        for users in (1, 4, 16):
            ends = compared().predicted(made, concurrency=np.array([float(users)]),
                                        input_tokens=compared().short)[PACE]
            row[f"users{users}"] = ends.at(0).said("en")
        rows.append(row)
    table(rows, {"host": say("two-sockets-of"), "bandwidth": say("gb-s-of-socket"),
                 **{f"users{users}": users_heading(users) for users in (1, 4, 16)},
                 "most": say("users-within", limit=fmt_quantity(layouts.LIMIT, "s"))})
    needed()


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


def needed() -> None:
    """Numbers of where the bandwidth that a promise takes stands."""
    best = catalogue.load_device(BEST).memory_bandwidth.value
    for users in (2, 8, 16):
        at = bandwidth_for(users)
        assert at
        number(f"ho-needed-{users}", round(at / GIGA, -1))
        number(f"ho-sockets-{users}", at / best, fmt_sig, digits=2)


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
    table([{"what": HELPS[name][0]} | {
        f"users{count}": fmt_fixed(float(times[place]), 1) for place, count in enumerate(USERS)}
        for name, times in found.items()],
        {"what": say("time-per-token-ms"),
         **{f"users{count}": users_heading(count) for count in USERS}})
    number("ho-memory-share", 1 - found["memory"][2] / found["as"][2], fmt_percent, digits=0)
    number("ho-link-share", 1 - found["link"][2] / found["as"][2], fmt_percent)


def measured() -> None:
    """Hybrid systems that were measured, beside what is predicted of them."""
    rows, seen = [], {}
    for name in MEASURED:
        made = catalogue.load_scenario(name)
        found = system(made).rows
        place = len(found[PACE]) // 2
        quantity = calc.estimate(made).quantities[PACE]
        seen[name] = float(found[PACE][place])
        ends = tuple(fmt_fixed(MILLI * end, 0) for end in (
            quantity.value, quantity.low, quantity.high))
        rows.append({"system": (made.file.title["en"].partition(",")[0],
                                made.file.title["zh"].partition("，")[0]),
                     "hosts": int(made.file.offload.hosts.value) if made.file.offload else "",
                     "seen": fmt_fixed(MILLI * seen[name], 0),
                     "here": "{} ({}–{})".format(*ends)})
    found = compared().systems[compared().pair.id].rows
    band = predicted("pair", USERS)[PACE]
    for place, users in enumerate(USERS):
        row = np.flatnonzero((found["concurrency"] == users)
                             & (found["input_tokens"] == compared().short))[0]
        rows.append({"system": say("two-kunpeng-at-once", users=users),
                     "hosts": 2, "seen": fmt_fixed(MILLI * float(found[PACE][row]), 0),
                     "here": band.at(place).said("en").replace(" ms", "")})
    table(rows, {"system": common("system"), "hosts": say("sockets"),
                 "seen": say("ms-per-token-measured"),
                 "here": common("predicted-interval")},
          folded=say("measured-hybrid-systems"))
    near, far = catalogue.load_device(ACROSS).memory_bandwidth.others
    number("ho-near", near.value / GIGA)
    number("ho-far", far.value / GIGA)


def memories() -> None:
    """What host memory the routed experts take, with a copy by socket or without."""
    rows = []
    for name, copies in FORMATS:
        made = catalogue.load_scenario(name)
        assert made.file.offload
        held = float(calc.evaluate(made.inputs(), made.model.attention)["host_expert_weights"])
        rows.append({"format": f"`{made.file.offload.format}`", "one": fmt_bytes(held, "GB", 0),
                     "two": fmt_bytes(2 * held, "GB", 0), "as": "2" if copies > 1 else "1"})
        number(f"ho-{name}", held, fmt_bytes, digits=0)
    table(rows, {"format": say("routed-experts-in"), "one": say("once"),
                 "two": say("copy-in-each-of-two"),
                 "as": say("copies-of-measured-system")})


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
    rows = []
    for device, precision in PLACED:
        row: dict[str, object] = {"card": device_label(device),
                                  "layout": f"`{precision}`, TP8 × PP{SERVERS}"}
        for users in PLACED_USERS:
            made = layouts.plan(device, precision, SERVERS, users)
            inputs = dict(made.inputs) | {"captured": 0.0}
            row[f"users{users}"] = fmt_fixed(
                MICRO * keeps_up(inputs, made.scenario.model.attention), 0)
            row["prior"] = fmt_fixed(MICRO * inputs[LAUNCH], 0)
        rows.append(row)
    table(rows, {"card": common("card"), "layout": common("deployment"), **{
        f"users{users}": say("us-for-operator-users", users=users)
        for users in PLACED_USERS},
        "prior": say("taken-of-these-hosts-us")})
    front = catalogue.load("mechanisms", "nvidia-hopper").front_end_rate
    for ending, value in zip(("", "-low", "-high"), (front.value, front.low, front.high),
                             strict=True):
        number(f"ho-front{ending}", value)
