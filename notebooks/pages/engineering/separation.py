"""Prefill and decode on cards of their own: when it pays, how many of each, what it costs.

One pool and two are each in the layout that suits them, as a search and growth have them. Where
separation alone is to differ, both pools have the layout of the one that they are held against.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.answer.service import whole_groups
from calc.answer.simulated_load import system_of
from calc.capacity.day import Limits
from calc.capacity.growth import Best, OnePool, Pairing, TwoPools
from calc.sensitivity.plans import Plan
from calc.serving.evaluate import evaluate
from calc.serving.requests import poisson
from calc.serving.simulation import simulate
from catalogue.messages import LANGUAGES, Pair, messages
from notebooks.pages.engineering import layouts
from notebooks.pages.engineering.layouts import (
    LIMIT,
    MOST,
    PACE,
    RATE,
    Case,
    best_within,
    plan,
    titled,
)
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/engineering/separation")

CASES = (("ascend-910b2", "w8a8-int8", 2), ("ascend-910b2", "w4a8-int8", 1),
         ("nvidia-h20", "fp8-block", 2), ("nvidia-h200-sxm", "fp8-block", 1))
LIMITS = (0.03, 0.05, 0.1)  # s per token that are promised
FIRST = 2.0  # s, of the first token: what the goals of this book promise
WORTH = 1.05  # gain from which two pools are worth their trouble
DRAWN_LIMITS = (0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06, 0.08, 0.1, 0.14, 0.2)  # s
MIXES = ((2048, 1024), (8192, 1024), (512, 2048), (2048, 512))  # prompts and answers
SERVERS_TRIED = (1, 2, 3, 4, 6, 8)
TOLD = (2, 4, 8)  # servers that are told
SHOWN = 4  # servers of the first answer
SPLIT = (3, 5)  # servers of S0's example: those that prefill, those that decode
STATED = (2048, 512)  # its prompts and answers
SERVERS = sum(SPLIT)
BUSY = 0.8  # of what one pool takes, in the simulated example
REQUESTS, SEED = 600, 1
EDGE = 60  # requests at either end that are not counted
TAIL = 0.99
MILLI = 1e3
QUEUED = 32  # prompts of a replica that prefills: enough for full chunks
SPLITS = ((0, 8), (1, 7), (2, 6), SPLIT)  # of the example's servers: those that prefill, the rest


@dataclass(frozen=True, eq=False)
class PoolComparison:
    """One pool and two of a card and its weights, whatever the limits.

    Attributes:
        scenario: the requests on these cards.
        per_node: cards of a server [1].
        pairing: the two pools.
        pool: one pool.
    """

    scenario: catalogue.Scenario
    per_node: int
    pairing: Pairing
    pool: OnePool

    def one(self, servers: int, limit: float) -> Best | None:
        """The best one pool on so many servers within a time per token [s]."""
        return self._one(limit).get(servers * self.per_node)

    @cache  # noqa: B019  (a few of them live as long as the page)
    def _one(self, limit: float) -> dict[int, Best]:
        return self.pool.best(Limits(FIRST, limit, None))

    def two(self, servers: int, limit: float) -> TwoPools | None:
        """The best two pools on so many servers within the same limit."""
        return self._two(limit).get(servers * self.per_node)

    @cache  # noqa: B019
    def _two(self, limit: float) -> dict[int, TwoPools]:
        return self.pairing.best(Limits(FIRST, limit, None))

    def gain(self, servers: int, limit: float) -> float:
        """Tokens of a card in two pools over those in one [1]; not a number if either fails."""
        one, two = self.one(servers, limit), self.two(servers, limit)
        return two.per_device / one.per_device if one and two else float("nan")

    def fewest(self, limit: float) -> int | None:
        """The fewest servers on which two pools are worth it; None of those that are tried."""
        return next((count for count in SERVERS_TRIED
                     if (two := self.two(count, limit)) and (
                         (one := self.one(count, limit)) is None
                         or two.per_device >= WORTH * one.per_device)), None)

    def share(self, servers: int, limit: float) -> float:
        """Of the cards of two pools those that prefill [1]; not a number where there are none."""
        two = self.two(servers, limit)
        if two is None:
            return float("nan")
        first, then = (count * pool.devices for count, pool in zip(
            two.groups, (two.prefill, two.decode), strict=True))
        return first / (first + then)


@cache
def pool_comparison(device: str, precision: str, prompt: int = 0,
                    answer: int = 0) -> PoolComparison:
    """One pool and two of a card and its weights.

    Args:
        device, precision: entries of the catalogue.
        prompt, answer: of a request, the goal's own unless given [token].
    """
    scenario = plan(device, precision, 1, prompt=prompt, answer=answer).scenario
    per_node = int(scenario.node.devices_per_node.value)
    sizes = [count * per_node for count in SERVERS_TRIED]
    return PoolComparison(scenario, per_node, Pairing(scenario, sizes), OnePool(scenario, sizes))


@dataclass(frozen=True)
class Both:
    """A layout as one pool and as the two of a balanced pair, by users of a replica that decodes.

    Attributes:
        one: a replica that does both.
        rates: output tokens per second of a card, one pool and two in balance.
        paces: time per token of either [s].
        answered: requests per second of a replica that decodes alone.
        prompts: requests per second of one that prefills alone.
    """

    one: Plan
    rates: tuple[np.ndarray, np.ndarray]
    paces: tuple[np.ndarray, np.ndarray]
    answered: np.ndarray
    prompts: float

    def best(self, pool: int, limit: float) -> int | None:
        """Where a pool yields most within a promise; None where it cannot keep it."""
        return best_within(self.rates[pool], self.paces[pool], limit)

    def whole(self, replicas: int, limit: float) -> tuple[tuple[int, int], float]:
        """The best split of so many replicas, and its gain over as many that do both [1].

        Args:
            replicas: of both pools.
            limit: of the time per token [s].
        """
        one, two = self.best(0, limit), self.best(1, limit)
        assert one is not None
        assert two is not None
        split, rate = whole_groups(replicas, [1, 1], [self.prompts, float(self.answered[two])])
        answer = float(self.one.inputs["output_tokens"])
        return split, rate * answer / (replicas * self.one.cards * float(self.rates[0][one]))


@cache
def both(device: str, precision: str, servers: int, prompt: int = 0, answer: int = 0) -> Both:
    """One pool and two of the same layout.

    Args:
        device, precision: entries of the catalogue.
        servers: of a replica.
        prompt, answer: of a request, the goal's own unless given [token].
    """
    one = plan(device, precision, servers, prompt=prompt, answer=answer)
    users = np.arange(1.0, MOST + 1)
    users = users[one.fits({"concurrency": users})]
    moves, kind = {"concurrency": users}, one.scenario.model.attention
    found = evaluate({**one.inputs, **moves, "separate_pools": 1.0}, kind)
    alone = evaluate({**one.inputs, "separate_pools": 1.0, "concurrency": float(QUEUED)}, kind)
    length, hits, tokens = (float(one.inputs[name]) for name in (
        "input_tokens", "prefix_hit_share", "output_tokens"))
    # a request takes of each pool the time of one of its replicas; both are busy all the time
    taken = max(1.0, length * (1 - hits)) / found["prefill_throughput"] + 1 / found[
        "request_throughput"]
    return Both(one, (one.at(moves, RATE) / one.cards, tokens / taken / one.cards),
                (one.at(moves, PACE), np.asarray(found[PACE])), found["request_throughput"],
                float(alone["prefill_throughput"]) / length)


def answer() -> None:
    """The numbers of the first paragraph."""
    demand = layouts.goal().demand
    made = {case: pool_comparison(*case[:2]) for case in CASES}
    counts = [count for of in made.values() if (count := of.fewest(LIMIT))]
    numbers({"se-input": demand.input_tokens, "se-output": demand.output_tokens,
             "se-servers": SHOWN, "se-few-low": min(counts), "se-few-high": max(counts)})
    numbers({"se-limit": LIMIT, "se-first": FIRST}, fmt_time)
    number("se-worth", WORTH - 1, fmt_percent, digits=0)
    table(CASES, [
        Column(titled, say("card-weights")),
        Column(lambda case: _gain(made[case].gain(SHOWN, LIMIT)),
               say("token-s-per-card-on", servers=SHOWN)),
        Column(lambda case: _pools(made[case].two(SHOWN, LIMIT)),
               say("prefill-decode-groups-cards")),
        Column(lambda case: made[case].fewest(LIMIT), say("servers-from-which-it-pays"), fmt_int)])


def _gain(value: float) -> str | Pair:
    if not np.isfinite(value):
        return say("one-pool-cannot-keep-target")
    return f"× {fmt_fixed(value)}"


def _pools(two: TwoPools | None) -> str | None:
    return " + ".join(f"{count}×{pool.devices} ({pool.layout})" for count, pool in zip(
        two.groups, (two.prefill, two.decode), strict=True)) if two else None


def picture(lang: str) -> Figure:
    """Gain of two pools against the promise."""
    place = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.3)
    limits = np.array(DRAWN_LIMITS)
    for colour, case in zip(figures.PALETTE, CASES, strict=False):
        made = pool_comparison(*case[:2])
        axes.plot(MILLI * limits, [made.gain(SHOWN, each) for each in limits], color=colour,
                  marker="o", ms=3, label=titled(case)[place].replace("`", ""))
    axes.axhline(1, color=figures.INK, lw=1)
    axes.axvline(MILLI * LIMIT, color=figures.INK, lw=1, ls="--")
    axes.set(xscale="log", xlim=(MILLI * limits[0], MILLI * limits[-1]),
             xlabel=say("target-time-per-token-ms")[place],
             ylabel=say("token-s-of-card-two")[place])
    axes.set_xticks([20, 30, 50, 100, 200], ["20", "30", "50", "100", "200"])
    axes.legend(fontsize=8.5)
    return drawing


def decision() -> None:
    """By card, servers and promise: the gain, and how many of each."""
    def told(limit: float, row: tuple[Case, int]) -> Pair | None:
        case, servers = row
        made = pool_comparison(*case[:2])
        gain, two = made.gain(servers, limit), made.two(servers, limit)
        if two is None:
            return None
        if not gain >= WORTH and np.isfinite(gain):
            return say("one-pool")
        split = "+".join(str(count * pool.devices) for count, pool in zip(
            two.groups, (two.prefill, two.decode), strict=True))
        return say("two-pools", split=split, gain=_gain(gain))

    table([(case, servers) for case in CASES for servers in TOLD], [
        Column(lambda row: titled(row[0]), say("card-weights")), Column(1, common("servers")),
        *(Column(partial(told, limit), say("target", limit=fmt_fixed(MILLI * limit, 0)))
          for limit in LIMITS)])


def splits() -> None:
    """The share of the cards that prefills, by lengths."""
    shares = {(case, mix): share for mix in MIXES for case in CASES if np.isfinite(
        share := pool_comparison(*case[:2], *mix).share(max(TOLD), LIMIT))}

    def of(case: Case) -> Column:
        return Column(lambda mix: shares.get((case, mix)), titled(case), fmt_percent, digits=0)

    table(MIXES, [Column(lambda mix: " / ".join(map(fmt_int, mix)), say("prompt-answer")),
                  *map(of, CASES)])
    numbers({"se-share-low": min(shares.values()), "se-share-high": max(shares.values())},
            fmt_percent, digits=0)


def transfer() -> None:
    """What moving the cache takes: bytes, time, and how much slower the network may be."""
    rows = []
    for case in CASES:
        made = both(*case)
        found = evaluate({**made.one.inputs, "separate_pools": 1.0},
                         made.one.scenario.model.attention)
        rows.append({"case": titled(case), "prefill": 1 / made.prompts,
                     "bytes": found["kv_bytes_per_token"] * made.one.inputs["input_tokens"],
                     "port": float(found["kv_port_time"])})
    table(rows, [
        Column("case", say("card-weights")),
        Column("bytes", say("cache-of-prompt"), fmt_bytes, unit="MB", digits=0),
        Column("prefill", say("prefill-of-prompt"), fmt_time),
        Column(lambda row: f"{fmt_fixed(MILLI * row['port'])} ms", say("through-ports")),
        Column(lambda row: row["prefill"] // row["port"], say("ports-may-be-slower-times"),
               fmt_int)])


def example() -> None:
    """The documents' example, simulated in weights that fit."""
    split, gain = both(*CASES[1], *STATED).whole(SERVERS, LIMIT)
    number("se-s0-balance", "+".join(map(str, split)), str)
    number("se-s0-busy", BUSY, fmt_percent, digits=0)
    number("se-s0-against", gain, fmt_fixed)
    numbers({"se-s0-input": STATED[0], "se-s0-output": STATED[1]})
    share = fmt_percent(TAIL, 0)

    def seen(name: str, at: int, heading: Pair) -> Column:
        return Column(lambda split: served(split)[name][at], heading, fmt_time)

    table(SPLITS, [
        Column(lambda split: "+".join(map(str, split)) if split[0] else say("all-do-both"),
               say("prefill-decode")),
        seen("tpot", 0, say("tpot-mean")), seen("tpot", 1, say("tpot-tail", share=share)),
        seen("ttft", 0, say("ttft-mean")), seen("ttft", 1, say("ttft-tail", share=share))])


@cache
def arriving() -> float:
    """Requests per second of the simulated example [request/s]."""
    made = both(*CASES[1], *STATED)
    one = made.best(0, LIMIT)
    assert one is not None
    rate = float(made.rates[0][one]) * made.one.cards * SERVERS / STATED[1]
    return BUSY * rate


@cache
def served(split: tuple[int, int]) -> dict[str, tuple[float, float]]:
    """Mean and tail of what users see of the example's servers [s], simulated.

    Args:
        split: servers that prefill, none where all do both, and those that decode.
    """
    made = plan(*CASES[1], prompt=STATED[0], answer=STATED[1])
    system = system_of(made.scenario)
    first, then = (replace(system.pool, replicas=count) if count else None for count in split)
    found = evaluate({**made.inputs, "separate_pools": 1.0}, made.scenario.model.attention)
    each = float(found["kv_transfer_time"]) / STATED[0]
    requests = poisson(arriving(), REQUESTS, list(system.shapes), SEED)
    assert then
    run = simulate(requests, first, then, each) if first else simulate(requests, then)
    middle = run.outcomes[EDGE:-EDGE]
    seen = {"tpot": [one.tpot for one in middle], "ttft": [one.ttft for one in middle]}
    return {name: (float(np.mean(values)), float(np.quantile(values, TAIL)))
            for name, values in seen.items()}
