"""What a group of cards has between it, and how long a sum over it takes: tables and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import sympy
from matplotlib.figure import Figure

import catalogue
from catalogue.deployments.physics_inputs import ALL_ALIKE, PIPELINED
from catalogue.entries.formulas import neutral
from catalogue.entries.hardware import Collective
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.pages.catalogue.tables.formats import entry_label
from notebooks.show import figures
from notebooks.show.columns import Column, crossed
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/derivations/communication-groups")

Inputs = dict[str, Any]  # by name (SI)
Time = Callable[..., float]  # of inputs, ranks, ranks in a node, and letters such as Q [s]
Message = tuple[int, int, int]  # from a rank, to a rank, which block of the payload
SERVERS = {"ascend-910b2": "atlas-800i-a2", "nvidia-h800": "hgx-h800", "nvidia-h20": "hgx-h20",
           "nvidia-b200": "hgx-b200"}
CARDS = tuple(SERVERS)
A2, H20, B200 = "ascend-910b2", "nvidia-h20", "nvidia-b200"
H100, H200 = "nvidia-h100-sxm", "nvidia-h200-sxm"
MODEL = "deepseek-v3"
B_ACT = 2  # bytes of an element of the activations, BF16
NODE = 8  # cards of a node
TOKENS = (1, 32, 256, 4096)
FEW, CHUNK = 32, 4096  # tokens of a decode step, and of a chunk of a prompt
LIBRARIES = {A2: "HCCL", B200: "NCCL"}  # whose measurements stand beside the links of a group
NAMES: dict[str, Pair] = {"ring": common("ring"), "tree": say("tree"),
                          "one-shot": say("one-shot"), "two-shot": say("two-shot")}
DRAWN = ("tree", "ring", "one-shot", "two-shot")
GB, KB = 1e9, 1e3


def card_name(name: str) -> Pair:
    """The name of a card."""
    return entry_label(catalogue.load_device(name))


def _in_gb(rate: float) -> str:
    return fmt_sig(rate / GB)


def rate_text(rate: float) -> str:
    """A rate [B/s] in GB/s."""
    return f"{_in_gb(rate)} GB/s"


def microseconds(time: float, digits: int = 1) -> str:
    """A time [s] in microseconds."""
    return f"{fmt_fixed(time * 1e6, digits)} µs"


def tokens_text(tokens: int) -> Pair:
    """So many tokens, with their unit."""
    return say("tokens", count=tokens, tokens=fmt_int(tokens))


def plain(values: Mapping[str, Value]) -> Inputs:
    """The numbers of sourced values."""
    return {name: value.value for name, value in values.items()}


def link_inputs(server: str) -> Inputs:
    """What the cards of a node have between them, inside and out, as input symbols (SI)."""
    node = catalogue.load_node(server)
    inside, network = map(catalogue.load_link, (node.device_link, node.network_link))
    cards = node.devices_per_node.value
    ports = (node.ports_per_node or node.devices_per_node).value
    return {"devices_per_node": cards, "full_mesh": int(inside.topology == "full-mesh"),
            "switch_adds": int(inside.switch_adds), **{name: neutral()[name] for name in PIPELINED},
            "device_link_bandwidth": inside.device_bandwidth.value,
            "pair_bandwidth": (inside.pair_bandwidth or inside.device_bandwidth).value,
            "network_bandwidth": network.device_bandwidth.value * min(1, ports / cards)}


def collective_values(device: str) -> dict[str, Value]:
    """Latencies [s] and shares of the links that collectives reach, from a card's mechanisms."""
    mechanisms = catalogue.load("mechanisms", catalogue.load_device(device).mechanisms)
    return {name: found for name in (
        "collective_alpha", "collective_efficiency", "network_alpha", "network_efficiency",
        *ALL_ALIKE, *PIPELINED)
        if (found := getattr(mechanisms, name) or getattr(mechanisms, ALL_ALIKE.get(name, name)))}


def fitted_to(values: Mapping[str, Value], across: bool) -> set[str]:
    """Sources whose measurements gave such values, those of the network only across nodes."""
    return {value.source for name, value in values.items()
            if value.kind == "derived" and (across or "network" not in name)}


@cache
def card_inputs(name: str) -> Inputs:
    """Links and latencies of a card in its server, as input symbols (SI)."""
    return link_inputs(SERVERS.get(name) or servers()[name]) | plain(collective_values(name))


def token_bytes() -> int:
    """Bytes of the hidden state of a token of DeepSeek-V3 in BF16."""
    return int(catalogue.model_inputs(catalogue.load_model(MODEL))["hidden_size"]) * B_ACT


@cache
def _compiled(expr: sympy.Expr) -> tuple[list[str], Callable[..., float]]:
    """An expression as a function of numbers, and the names of what it takes."""
    letters = sorted(expr.free_symbols, key=str)
    return [str(letter) for letter in letters], sympy.lambdify(letters, expr, "math")


def value(expr: sympy.Expr, inputs: Mapping[str, Any], ranks: int, in_node: int = NODE,
          **letters: float) -> float:
    """The value of an expression on so many ranks, of which a node holds ``in_node`` (SI)."""
    numbers = {**inputs, **letters, "n": ranks, "n_i": min(ranks, in_node),
               "n_a": -(-ranks // in_node), "devices_per_node": in_node}
    names, function = _compiled(expr)
    return float(function(*(numbers[name] for name in names)))


def links(even: sympy.Expr) -> None:
    """Links and latencies of the cards; the payload of equal parts is that of an expression."""
    table([{"card": card_name(name), **card_inputs(name)} for name in CARDS], [
        Column("card", common("card")),
        Column(lambda card: common("full-mesh") if card["full_mesh"] else common("switch"),
               say("in-node")),
        Column("pair_bandwidth", say("to-one-card-gb-s"), _in_gb),
        Column("device_link_bandwidth", say("to-all-gb-s"), _in_gb),
        Column("collective_efficiency", say("share-reached"), fmt_percent, digits=0),
        Column("network_bandwidth", say("network-port-gb-s"), _in_gb),
        Column("collective_alpha", say("latency-of-message"), microseconds),
        Column("network_alpha", say("across-nodes"), microseconds),
        Column(lambda card: value(even, card, NODE) / KB, say("latency-times-bandwidth-kb"),
               fmt_sig, digits=2)], wide=True)
    hccs = catalogue.load_link("hccs-910b")
    assert hccs.links_per_device
    assert hccs.pair_bandwidth
    numbers({"open-quoted": quoted_rate(), "links-pair": hccs.pair_bandwidth.value,
             "links-all": hccs.device_bandwidth.value}, rate_text)
    number("links-quoted", hccs.links_per_device.value)


def quoted_rate() -> float:
    """What is printed for the links of a 910B, both directions added [B/s]."""
    one_way = catalogue.load_link("hccs-910b").device_bandwidth
    assert any(other.value == 2 * one_way.value for other in one_way.others)
    return float(2 * one_way.value)


def _measured_bus(name: str, ranks: int) -> float:
    """Bus bandwidth of large sums that was measured over a group of one node [B/s]."""
    runs = catalogue.load("microbenchmarks", catalogue.load_device(name).microbenchmarks)
    return next(rate_of(run) for run in runs.collectives if run.bus_bandwidth and (
        run.operation, run.ranks, run.nodes, run.algorithm) == (
        "all-reduce", ranks, 1, LIBRARIES[name]))


def rate_of(run: Collective) -> float:
    """Bus bandwidth of a collective that has one [B/s]."""
    assert run.bus_bandwidth
    return float(run.bus_bandwidth.value)


def rates(inside: sympy.Expr) -> None:
    """The rate inside a node by the size of a group, beside its links and what was measured."""
    def all_links(name: str, ranks: int) -> float:
        return value(inside, card_inputs(name) | {"collective_efficiency": 1}, ranks)

    def share(name: str, ranks: int) -> float:
        return _measured_bus(name, ranks) / all_links(name, ranks)

    groups = [(name, ranks) for name in LIBRARIES for ranks in (2, 4, 8)]
    table(groups, [
        Column(lambda of: card_name(of[0]), common("card")), Column(1, "$n$"),
        Column(lambda of: all_links(*of), say("links-of-group-gb-s"), _in_gb),
        Column(lambda of: value(inside, card_inputs(of[0]), of[1]), "$R_i$ (GB/s)", _in_gb),
        Column(lambda of: _measured_bus(*of), say("measured-all-reduce-gb-s"), _in_gb),
        Column(lambda of: share(*of), say("of-links"), fmt_percent, digits=0)])
    numbers({f"bus-share-{ranks}": share(A2, ranks) for name, ranks in groups if name == A2},
            fmt_percent, digits=0)
    numbers({f"{name}-{ranks}": all_links(name, ranks) for name, ranks in groups}, rate_text)


def _ring(ranks: int) -> list[list[Message]]:
    around = range(ranks)
    return [[(rank, (rank + 1) % ranks, (rank + ahead - step) % ranks) for rank in around]
            for ahead in (0, 1) for step in range(ranks - 1)]


def _tree(ranks: int) -> list[list[Message]]:
    up = [[(rank, rank - half, block) for rank in range(half, ranks, 2 * half)
           for block in range(ranks)]
          for half in (2**step for step in range(ranks.bit_length() - 1))]
    return up + [[(to, rank, block) for rank, to, block in step] for step in reversed(up)]


def _one_shot(ranks: int) -> list[list[Message]]:
    return [[(rank, to, block) for rank, to in _pairs(ranks) for block in range(ranks)]]


def _two_shot(ranks: int) -> list[list[Message]]:
    return [[(rank, to, to) for rank, to in _pairs(ranks)],
            [(rank, to, rank) for rank, to in _pairs(ranks)]]


def _pairs(ranks: int) -> Iterator[tuple[int, int]]:
    return ((rank, to) for rank in range(ranks) for to in range(ranks) if to != rank)


SCHEDULES: dict[str, Callable[[int], list[list[Message]]]] = {
    "ring": _ring, "tree": _tree, "one-shot": _one_shot, "two-shot": _two_shot}


class Carried(NamedTuple):
    """Steps of an algorithm, and what passes the busiest port and pair in them, in payloads.

    ``sums`` says whether no part was added twice and every rank ended with the sum of all.
    """

    steps: int
    port: sympy.Rational
    pair: sympy.Rational
    sums: bool


def carry_out(algorithm: str, ranks: int) -> Carried:
    """Carry out an all-reduce over so many ranks, message by message."""
    parts = [[{rank} for _ in range(ranks)] for rank in range(ranks)]  # of each block's sum
    schedule = SCHEDULES[algorithm](ranks)
    port, pair, added_once = 0, 0, True
    for step in schedule:
        before = [[set(block) for block in blocks] for blocks in parts]
        sent: Counter[int] = Counter()
        received: Counter[int] = Counter()
        for rank, to, block in step:
            part = before[rank][block]
            # a part is added once, or replaces what the receiver has of it
            added_once &= not parts[to][block] & part or parts[to][block] <= part
            parts[to][block] |= part
            sent[rank] += 1
            received[to] += 1
        port += max(*sent.values(), *received.values())
        pair += max(Counter((rank, to) for rank, to, _ in step).values())
    whole = all(block == set(range(ranks)) for blocks in parts for block in blocks)
    return Carried(len(schedule), sympy.Rational(port, ranks), sympy.Rational(pair, ranks),
                   added_once and whole)


def algorithms(counts: Mapping[str, Sequence[sympy.Expr]], levels: sympy.Expr) -> None:
    """Steps and bytes of each algorithm, and their values for eight ranks.

    Args:
        counts: steps, payloads through a port, and between two ranks, by algorithm.
        levels: of a tree, in them; printed as a logarithm.
    """
    readable = {levels: sympy.Symbol(r"{\log_2 n}")}

    def cell(expr: sympy.Expr) -> str:
        eight = f" ({value(expr, {}, NODE):g})" if expr.free_symbols else ""
        return f"${sympy.latex(expr.subs(readable))}$" + eight

    table(*crossed(say("algorithm"), {NAMES[key]: dict(enumerate(exprs))
                                      for key, exprs in counts.items()},
                   {0: say("steps"), 1: say("sent-per-rank"), 2: say("between-two-ranks")}, cell))


def crossings(one_shot: Time, two_shot: Time, crossing: Time) -> None:
    """Payload at which two-shot overtakes one-shot [B], and the faster of both by tokens."""
    def row(name: str) -> dict[str, Any]:
        card, from_bytes = card_inputs(name), crossing(card_inputs(name), NODE)
        result: dict[str, Any] = {
            "card": card_name(name), "cross": fmt_sig(from_bytes / KB),
            "tokens": fmt_fixed(from_bytes / token_bytes(), 0)}
        for tokens in TOKENS:
            times = [time(card, NODE, Q=tokens * token_bytes()) for time in (one_shot, two_shot)]
            best = min(times)
            result[str(tokens)] = f"{fmt_sig(best * 1e6)} ({times.index(best) + 1})"
        return result

    table(map(row, CARDS),
          {"card": common("card"), "cross": "$Q_{1 \\to 2}$ (kB)",
           "tokens": say("crossing-in-tokens"),
           **{str(tokens): say("tokens-us", tokens=tokens_text(tokens)) for tokens in TOKENS}})
    numbers({f"cross-{key}": crossing(card_inputs(name), NODE) / token_bytes()
             for key, name in (("910b", A2), ("b200", B200))}, fmt_fixed, digits=0)


def draw_algorithms(times: Mapping[str, Time], bound: Time, lang: str) -> Figure:
    """Time of an all-reduce over eight 910B2 by payload and algorithm, and its bound."""
    figure, axes = figures.axes(height=3.8)
    sizes, card = [2 ** (x / 4) for x in range(48, 109)], card_inputs(A2)
    for place, key in enumerate(DRAWN):
        axes.plot(sizes, [times[key](card, NODE, Q=size) * 1e6 for size in sizes],
                  color=figures.PALETTE[place], label=NAMES[key][lang == "zh"])
    axes.plot(sizes, [bound(card, NODE, Q=size) * 1e6 for size in sizes], color=figures.INK, lw=1,
              ls=(0, (4, 3)), label=say("bound")[lang == "zh"])
    for tokens in (1, FEW, CHUNK):
        size, left = tokens * token_bytes(), tokens > FEW
        axes.axvline(size, color=figures.INK, lw=0.8, alpha=0.5)
        axes.annotate(f"{tokens:,} token" + ("s" if lang == "en" and tokens > 1 else ""),
                      (size, 1.3), xytext=(-3 if left else 3, 0), fontsize=9,
                      textcoords="offset points", ha="right" if left else "left")
    axes.set(xscale="log", yscale="log", ylim=(1, None), xlabel=say("payload-b")[lang == "zh"],
             ylabel=say("one-all-reduce-us")[lang == "zh"])
    axes.legend(loc="upper left")
    return figure


def levels(by_levels: Time, flat: Time) -> None:
    """An all-reduce over several nodes, by levels and as one ring, beside that of one node."""
    def column(time: Time, heading: Pair, among: int | None = None) -> Column:
        return Column(lambda of: fmt_sig(1e6 * time(
            card_inputs(of[0]), among or of[1], Q=of[2] * token_bytes())), heading)

    table([(name, ranks, tokens) for name in CARDS for ranks in (16, 32)
           for tokens in (FEW, CHUNK)], [
        Column(lambda of: card_name(of[0]), common("card")), Column(1, "$n$"),
        Column(2, common("tokens")), column(by_levels, say("by-levels-us")),
        column(flat, say("one-ring-over-ports-us")),
        column(by_levels, say("cards-of-one-node-us", cards=NODE), NODE)])
    two_nodes, one_node = (by_levels(card_inputs(A2), ranks, Q=FEW * token_bytes())
                           for ranks in (16, NODE))
    numbers({"levels-16": two_nodes, "levels-8": one_node}, microseconds)
    number("levels-ratio", two_nodes / one_node, fmt_fixed, digits=1)


def exercises(one_shot: Time, two_shot: Time, beyond: float) -> None:
    """Numbers of the exercises: two cards and eight, switches.

    Args:
        one_shot, two_shot: times of an all-reduce.
        beyond: bus bandwidth over that of the links, at most, where the switches of a node add [1].
    """
    payload, sold = FEW * token_bytes(), sold_rate(H100)
    numbers({"exercise-same": one_shot(card_inputs(A2), 2, Q=payload),
             "exercise-two-shot": two_shot(card_inputs(A2), NODE, Q=payload)}, microseconds)
    numbers({"exercise-switched": switched_rate(), "exercise-sold": sold,
             "exercise-most": sold * beyond}, rate_text)


def switched_rate() -> float:
    """Bus bandwidth of an all-reduce over eight H100 whose switches add [B/s]."""
    runs = catalogue.load("microbenchmarks", catalogue.load_device(H100).microbenchmarks)
    return next(rate_of(run) for run in runs.collectives if run.algorithm == "NVLS")


def servers() -> dict[str, str]:
    """The server of each card that has one."""
    return SERVERS | {node.device: node.id for node in map(
        catalogue.load_node, catalogue.names("nodes")) if node.device}


def sold_rate(name: str) -> float:
    """What the links of a card carry one way [B/s]."""
    return float(link_inputs(servers()[name])["device_link_bandwidth"])
