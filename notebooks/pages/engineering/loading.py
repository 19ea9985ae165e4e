"""Loading: what a server reads before it answers, from where, and what crosses its network."""

from __future__ import annotations

from functools import cache
from math import floor
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import calc
import catalogue
from calc.capacity.availability import Fleet, failures_of, fleet_of
from calc.capacity.tiers import Population
from calc.sensitivity.break_even import solve
from calc.sensitivity.plans import Plan
from calc.serving.evaluate import evaluate
from catalogue.entries.hardware import Node
from catalogue.entries.operation import Failures
from catalogue.messages import LANGUAGES, Pair, messages, pair
from catalogue.reading.units import DAY, HOUR, MINUTE, YEAR
from notebooks.pages.deciding.capacity.failing import SERVERS
from notebooks.pages.deciding.goals import device_label
from notebooks.pages.derivations.memory_weights import LOADERS, STORAGE, checkpoint
from notebooks.pages.engineering import layouts
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import interval, number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/engineering/loading")

USERS = 32
PLANS = (("nvidia-h200-sxm", "fp8-block", 1), ("nvidia-h20", "fp8-block", 2),
         ("ascend-910b2", "w8a8-int8", 2), ("ascend-910b2", "w4a8-int8", 1))
MAIN = PLANS[0]
SIZES = ("bf16", "fp8-block", "w8a8-int8", "w4a8-int8", "w4a16-awq")
NODES = ("hgx-h200", "hgx-h20", "atlas-800i-a2", "atlas-800t-a2")
KEPT = 2  # versions of the files on a drive: the one that serves and the next, or the last
RATES = np.geomspace(0.5e9, 60e9, 120)
TURNS, THINK, FOUND = 4, 300.0, 0.95  # of conversations
NETWORK, ENDLESS = "network_bandwidth", 1e18
REACH = 1e8, 1e14  # B/s that are tried
SLOWER = 0.10  # by which a network may slow what it carries
CUTS: dict[str, dict[str, int]] = {
    "TP8 × PP2": {}, "TP16": {"tensor": 16, "pipeline": 1},
    "TP8 × DP2, EP16": {"tensor": 8, "pipeline": 1, "expert": 16}}
PORTS = (25e9 / 8, 200e9 / 8, 400e9 / 8)  # bytes per second of a card's port
SLOW_PORT = 10e9 / 8  # and of a network that is not made for it
GIGA, BITS = 1e9, 8.0
SLOW = "slow"


@cache
def read(device: str, precision: str, servers: int) -> float:
    """What a server reads of storage until it can answer [B]."""
    made = layouts.plan(device, precision, servers, USERS)
    found = evaluate(made.inputs, made.scenario.model.attention)
    return float(found["loading_time"]) * float(made.inputs["storage_bandwidth"])


def weight_file_bytes(precision: str) -> float:
    """The weight files of the model, as all cards of its smallest deployment read them [B]."""
    return read("nvidia-h200-sxm", precision, 2 if precision == "bf16" else 1) * (
        2 if precision == "bf16" else 1)


def failures(device: str = MAIN[0]) -> Failures:
    """Of a card's servers."""
    return failures_of(device)


def fleet(groups: int, servers: int, loading: float, spares: int = 0) -> Fleet:
    """Groups of servers of eight cards, which read for so long [s]."""
    return fleet_of(groups, servers * 8, 8, failures(), loading, spares)


def stores() -> dict[str, tuple[Pair, float, float | None]]:
    """Where weights come from: in words, bytes per second to a server, and what a store gives all
    servers that share it; None where each has its own."""
    size, usual, best = checkpoint(), LOADERS[0], LOADERS[-1]
    drive = catalogue.load_link("nvme-gen4").device_bandwidth.value
    streamed = catalogue.load_link("object-store-streamed").device_bandwidth.value
    fast = f"{STORAGE / GIGA:.0f} GB/s"
    return {
        SLOW: (say("nfs-or-object-store-over", port=_gigabits(SLOW_PORT)), SLOW_PORT, SLOW_PORT),
        "loaded": (say("storage-usual-loader-measured", fast=fast), size / usual.storage, STORAGE),
        "drive": (say("one-nvme-drive"), drive, None),
        "streamed": (say("object-store-streamed-measured"), streamed, streamed),
        "two": (say("two-nvme-drives-striped"), 2 * drive, None),
        "port": (say("store-behind-port", port=_gigabits(PORTS[1])), PORTS[1], PORTS[1]),
        "cached": (say("page-cache-usual-loader-measured"), size / usual.memory, None),
        "best": (say("storage-best-loader-measured", fast=fast), size / best.storage, STORAGE)}


def _gigabits(rate: float) -> str:
    """Of a second, a port's bytes."""
    return fmt_int(round(rate * BITS / GIGA))


def answer() -> None:
    """The numbers of the first paragraph."""
    size, found, start = read(*MAIN), stores(), failures().start
    number("lo-size", size, fmt_bytes, digits=0)
    interval("lo-start", (each / MINUTE for each in (start.value, start.low, start.high)))
    for name in (SLOW, "drive", "cached"):
        number(f"lo-{name}", size / found[name][1] / MINUTE, fmt_fixed, digits=1)
    interval("lo-even", (size / each / GIGA for each in (start.value, start.high, start.low)),
             fmt_sig, digits=2)
    number("lo-drive-ratio", found["drive"][1] / (size / start.value), fmt_fixed, digits=1)
    number("lo-disk", (KEPT * weight_file_bytes("fp8-block")), fmt_bytes, unit="TB", digits=1)
    numbers({f"lo-lost-{name}": _lost(size / found[name][1])
             for name in (SLOW, "drive", "cached")}
            | {"lo-mended": failures().repair.value / failures().between_failures.value
               * YEAR / HOUR}, fmt_sig, digits=2)


def picture(lang: str) -> Figure:
    """Minutes until a server answers again, against the rate of its storage."""
    at = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.7)
    start = failures().start
    noted: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
    for colour, plan, weights in zip(figures.PALETTE[:2], PLANS[:2], (
            say("eight-bits-on-one-server"), say("eight-bits-on-two-or")), strict=True):
        size = read(*plan)
        value, low, high = ((size / RATES + each) / MINUTE
                            for each in (start.value, start.low, start.high))
        axes.plot(RATES / GIGA, value, color=colour,
                  label=f"{fmt_bytes(size, digits=0)}: {weights[at]}")
        if plan == MAIN:
            axes.fill_between(RATES / GIGA, low, high, color=colour, alpha=0.15, lw=0)
    axes.axhline(start.value / MINUTE, color=figures.INK, lw=1, ls="--")
    axes.annotate(say("start-of-engine-alone")[at], (58, start.value / MINUTE), xytext=(0, -11),
                  ha="right", **noted)
    for place, (name, short) in enumerate(((SLOW, "10 Gb/s"), ("drive", "NVMe"),
                                           ("two", "2 NVMe"), ("port", "200 Gb/s"))):
        rate = stores()[name][1] / GIGA
        axes.axvline(rate, color=figures.INK, lw=0.8, alpha=0.5)
        axes.annotate(short, (rate, 35), xytext=(2, -8 * (place % 2)), **noted)
    axes.set(xscale="log", yscale="log", ylim=(1, 45), xlim=(0.5, 60),
             xlabel=say("storage-to-server-gb-s")[at],
             ylabel=say("minutes-until-it-answers")[at])
    axes.legend(fontsize=8, loc="lower left")
    figures.log_ticks(axes.xaxis, 1, 20)
    figures.log_ticks(axes.yaxis, 2, 40)
    return drawing


def decision() -> None:
    """By where weights come from: how long a server reads and restarts, and what that loses."""
    start, size = failures().start, read(*MAIN)

    def restart(row: tuple[Pair, float, float | None]) -> str:
        value, low, high = (fmt_fixed((size / row[1] + each) / MINUTE, 1)
                            for each in (start.value, start.low, start.high))
        return f"{value} ({low}–{high})"

    table(stores().values(), [
        Column(0, say("weights-from")),
        Column(lambda row: row[1] / GIGA, "GB/s", fmt_sig, digits=3),
        Column(lambda row: size / row[1] / MINUTE, say("h200-one-server-min"), fmt_fixed, digits=1),
        Column(lambda row: read(*PLANS[1]) / row[1] / MINUTE, say("h20-each-of-two-min"),
               fmt_fixed, digits=1),
        Column(restart, say("h200-back-in-service-after")),
        Column(lambda row: _lost(size / row[1]), say("hours-year-in-restarts"), fmt_sig, digits=2),
        Column(lambda row: max(size / row[1], SERVERS * size / row[2]) / MINUTE if row[2] else None,
               say("servers-at-once", servers=SERVERS), fmt_fixed, digits=0)], wide=True)


def even_store(rate: float) -> float:
    """Servers that read a shared store at once as fast as each its own drive [1].

    Args:
        rate: of the store to all of them [B/s].
    """
    return rate / float(catalogue.load_link("nvme-gen4").device_bandwidth.value)


def turns() -> None:
    """Where more storage stops to matter."""
    number("lo-port-rate", stores()["port"][1] / GIGA)
    number("lo-shared", floor(even_store(stores()["port"][1])) + 1, fmt_int)


def files() -> None:
    """The files of every precision, and whether a host keeps them all in memory."""
    def left(node: Node, memory: float) -> Column:
        return Column(
            lambda precision: max(0.0, memory - weight_file_bytes(precision)) or None,
            say("left-of-memory", memory=fmt_bytes(memory, "GiB", 0), node=pair(node.name)),
            fmt_bytes, digits=0)

    table(SIZES, [
        Column("`{}`".format, common("precision")),
        Column(weight_file_bytes, say("weights-of-all-cards"), fmt_bytes, digits=0),
        Column(lambda precision: KEPT * weight_file_bytes(precision),
               say("versions-on-disk", kept=KEPT), fmt_bytes, unit="TB", digits=1),
        *(left(node, node.host_memory.value) for node in map(catalogue.load_node, NODES)
          if node.host_memory)], wide=True)


def offload() -> None:
    """Caches of conversations on drives: from which rate, how much, and what is written a day."""
    rows = []
    for device, precision, servers in PLANS:
        made = layouts.plan(device, precision, servers, USERS)
        people = Population(made.scenario, TURNS, THINK)
        requests = layouts.at(made, USERS, layouts.RATE) / float(made.inputs["output_tokens"])
        tiers = people.tiers(USERS, host=0.0, storage=1e12)
        storage = people.tier_values(requests / TURNS, tiers)[-1]
        held = people.per_token * people.talk.kept_tokens(
            requests / TURNS, -THINK * float(np.log1p(-FOUND)))
        fresh = requests / TURNS * float(people.talk.lengths[-1]) * people.per_token
        rows.append({"card": device_label(device), "precision": f"`{precision}`",
                     "cards": made.cards, "token": people.per_token,
                     "rate": storage.break_even, "held": held, "written": fresh * DAY})
    table(rows, [
        Column("card", common("card")), Column("precision", common("precision")),
        Column("cards", common("number-of-cards")),
        Column("token", say("kv-of-token"), fmt_bytes, unit="kB", digits=1),
        Column(lambda row: row["rate"] / GIGA, say("reading-pays-from-gb-s"), fmt_sig, digits=2),
        Column("held", say("kept-for-returns", found=fmt_percent(FOUND, 0)), fmt_bytes, digits=0),
        Column("written", say("written-day"), fmt_bytes, unit="TB", digits=1)])
    numbers({"lo-kv-users": USERS, "lo-kv-turns": TURNS, "lo-kv-think": THINK / MINUTE})


def network_for(made: Plan, name: str) -> float | None:
    """The rate of a card's port at which the network slows a quantity by a tenth [B/s].

    None if even the slowest that is tried slows it less.

    Args:
        made: a deployment over several servers.
        name: of a time.
    """
    kind = made.scenario.model.attention
    most = (1 + SLOWER) * float(calc.evaluate({**made.inputs, NETWORK: ENDLESS}, kind)[name])
    found = solve(lambda at: np.log(np.asarray(
        calc.evaluate({**made.inputs, NETWORK: at}, kind)[name]) / most), *REACH)
    return found.turns[0].at if found.turns else None


def network() -> None:
    """What layouts over two servers need of the port of a card."""
    def rate(name: str, made: Plan) -> str:
        least = network_for(made, name)
        return (f"< {REACH[0] * BITS / GIGA:.0f}" if least is None
                else fmt_sig(least * BITS / GIGA, 2))

    rows = []
    for device, precision, servers in PLANS[1:3]:
        for name, cut in CUTS.items():
            made = layouts.plan(device, precision, servers, USERS, **cut)
            rates = {quantity: rate(quantity, made) for quantity in ("tpot", "ttft")}
            rows.append((device, name, made, rates))
            number(f"lo-{device}-{''.join(filter(str.isalnum, name)).lower()}", rates["tpot"], str)

    def time(name: str, port: float) -> Column:
        return Column(lambda row: calc.evaluate(
            {**row[2].inputs, NETWORK: port}, row[2].scenario.model.attention)[name],
            say("time-at-port", called=name.upper(), port=_gigabits(port)), fmt_time)

    def columns(name: str) -> list[Column]:
        return [Column(lambda row: row[3][name], say("gb-s-per-card", called=name.upper())),
                *(time(name, port) for port in PORTS)]

    table(rows, [Column(lambda row: device_label(row[0]), common("card")),
                 Column(1, common("layout")), *columns("tpot"), *columns("ttft")], wide=True)
    number("lo-slower", SLOWER, fmt_percent, digits=0)
    made = layouts.plan(*PLANS[1], USERS)  # whose pools' caches cross the ports
    each = evaluate(made.inputs, made.scenario.model.attention)["kv_bytes_per_token"]
    size = float(each) * float(made.inputs["input_tokens"])
    requests = layouts.at(made, USERS, layouts.RATE) / float(made.inputs["output_tokens"])
    number("lo-pd-rate", requests * size * BITS / GIGA, fmt_sig, digits=2)


def _lost(seconds: float) -> float:
    """Hours of a year that a server is away to restart, if it reads for so long [h]."""
    return fleet(1, 1, seconds).restarting * YEAR / HOUR
