"""Conversations and where their caches are kept meanwhile: what is found, and which tier pays.

A conversation's cache stays after each turn until its space is needed, least recently used first.
Under many conversations that is the same as to stay for a fixed time, the characteristic time of
the cache (Che, Tung and Wang 2002; Fagin 1977), which follows from its size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from calc.capacity.day import Limits, Replica
from calc.layouts import space
from calc.layouts.space import HostRoom
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, Scenario, load_link
from catalogue.deployments.physics_inputs import HOST_LINK, STORAGE_LINK

TURNS = 3  # of the loop between requests in flight and the hits of their prompts
SHORT, LONG = 4096, 32768  # tokens of the prompts through which recomputing is laid [token]


@dataclass(frozen=True)
class Talk:
    """A conversation: every prompt is all that was said, and something new.

    Attributes:
        prompt: of the first turn, the prefix included [token].
        answer: of each turn [token].
        turns: of a conversation [1].
        think: mean time from an answer to the next question, exponential [s].
        prefix: that every conversation begins with and that somebody always needs [token].
        block: tokens of a block of the cache; whole blocks are found [token].

    >>> Talk(100, 10, 3, 60.0).lengths.tolist()
    [110.0, 220.0, 330.0]
    """

    prompt: float
    answer: float
    turns: int
    think: float
    prefix: float = 0.0
    block: int = 1

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of prompt and answer after each turn, shape (turns,) [token]."""
        turn = np.arange(1, self.turns + 1)
        return self.prompt + (turn - 1) * (self.prompt - self.prefix) + turn * self.answer

    @property
    def prompts(self) -> np.ndarray:
        """Prompt of each turn, shape (turns,) [token]."""
        return self.lengths - self.answer

    def _in_blocks(self, tokens: Any) -> np.ndarray:
        return np.floor(np.asarray(tokens, float) / self.block) * self.block

    @property
    def findable(self) -> np.ndarray:
        """Of each turn's prompt, what was said before, in whole blocks, shape (turns,) [token]."""
        before = np.append(self.prefix, self.lengths[:-1])
        return self._in_blocks(np.minimum(before, self.prompts - 1))

    def kept_tokens(self, conversations: float, time: float) -> float:
        """Tokens that nobody works on and that are kept, if each stays for a time [token].

        C = λ (Σ_{k<T} s_k Z (1 - exp(-τ/Z)) + s_T τ): all turns but the last come back.

        Args:
            conversations: that begin, λ [1/s].
            time: τ [s].

        Source: notebooks/day.md, section Conversations.
        """
        returning = float(self.lengths[:-1].sum()) * self.think * -math.expm1(-time / self.think)
        return conversations * (returning + float(self.lengths[-1]) * time)

    def time(self, conversations: float, tokens: float) -> float:
        """For how long a cache of so many tokens keeps what nobody works on, τ [s]."""
        if tokens <= 0 or conversations <= 0:
            return 0.0 if tokens <= 0 else math.inf
        from scipy.optimize import brentq

        longest = tokens / (conversations * float(self.lengths[-1]))  # if only last turns were kept
        return float(brentq(lambda time: self.kept_tokens(conversations, time) - tokens, 0.0,
                            longest, xtol=1e-12 * longest, rtol=1e-14))

    def returns(self, time: float) -> float:
        """Share of the turns that come back before a time [1]: 1 - exp(-τ/Z)."""
        return -math.expm1(-time / self.think)

    def hit_share(self, hits: float) -> float:
        """Share of all prompt tokens that is found, if so many of the returns find theirs [1].

        Args:
            hits: share of the turns after the first that find what was said before [1].
        """
        always = float(self._in_blocks(self.prefix)) * self.turns
        later = float((self.findable[1:] - self._in_blocks(self.prefix)).sum())
        return (always + hits * later) / float(self.prompts.sum())


@dataclass(frozen=True)
class Tier:
    """Where caches are kept: so many tokens, read at so many bytes per second after a latency.

    Attributes:
        name: ``device``, ``host`` or ``storage``.
        tokens: that it keeps for one replica [token].
        bandwidth: from there to a card [B/s]; infinite where they are already there.
        latency: until the first byte [s].
    """

    name: str
    tokens: float
    bandwidth: float = math.inf
    latency: float = 0.0


@dataclass(frozen=True)
class TierValue:
    """What a tier is worth, with those before it.

    Attributes:
        tier: its name.
        tokens, time: that it and those before it keep [token], and for how long [s].
        hits: share of the returning turns that find their cache in this tier [1].
        returns: share of them that find it in this tier or in those before it [1].
        hit_share: of all prompt tokens, with those before it [1].
        fetch: what a mean return waits for [s].
        recompute: what it would take instead [s].
        break_even: bandwidth from which fetching is faster [B/s].
        pays: whether what is found there comes sooner than it would be computed again.
        replicas: fewest that the busiest hour needs with it [1]; None where limits hold with no
            number up to those without a cache, and where nobody asked.
    """

    tier: str
    tokens: float
    time: float
    hits: float
    returns: float
    hit_share: float
    fetch: float
    recompute: float
    break_even: float
    pays: bool
    replicas: int | None = None


def shortest_fetch(latency: float, per_token: float, linear: float, quadratic: float) -> float:
    """Tokens from which reading a cache is faster than computing it again; infinite if never.

    α + f S = l S + q S², so S = (f - l + √((f - l)² + 4 q α)) / 2q.

    >>> shortest_fetch(0.0, 2.0, 1.0, 0.5)
    2.0

    Args:
        latency: until the first byte, α [s].
        per_token: to read, f [s/token].
        linear, quadratic: to compute, l [s/token] and q [s/token²].

    Source: notebooks/day.md, section Fetch or compute again.
    """
    ahead = per_token - linear
    if quadratic > 0:
        return (ahead + math.sqrt(ahead * ahead + 4 * quadratic * latency)) / (2 * quadratic)
    return latency / -ahead if ahead < 0 else math.inf


def first_prompt(mean: float, answer: float, turns: int, prefix: float = 0.0) -> float:
    """The first prompt of conversations whose prompts have a mean [token].

    Prompt k is p + (k - 1) (p - g + n), so that p = (2 m + (T - 1) (g - n)) / (T + 1).

    >>> first_prompt(float(Talk(100, 10, 3, 60.0).prompts.mean()), 10, 3)
    100.0

    Args:
        mean: of all prompts, m [token].
        answer: of each turn, n [token].
        turns: T [1].
        prefix: g [token].
    """
    return (2 * mean + (turns - 1) * (prefix - answer)) / (turns + 1)


def host_room(scenario: Scenario) -> HostRoom:
    """The one budget of a server's memory.

    Args:
        scenario: the deployment, one server of which is meant.

    Source: notebooks/day.md, section Fetch or compute again.
    """
    quantities = evaluate(scenario.inputs(), scenario.model.attention, decode=True)
    return space.host_room(
        scenario.device, scenario.node,
        min(scenario.devices, float(scenario.node.devices_per_node.value)),
        float(quantities["weights_per_device"]), float(quantities["host_expert_weights"]))


class Population:
    """Conversations at one replica of a deployment, and its tiers.

    Args:
        scenario: the deployment, whose prompt is the mean of all turns.
        turns: of a conversation [1].
        think: mean time from an answer to the next question [s].
        prefix: that all conversations begin with [token].
    """

    def __init__(self, scenario: Scenario, turns: int, think: float, prefix: float = 0.0) -> None:
        self.inputs, self.attention = scenario.inputs(), scenario.model.attention
        self.scenario = scenario
        mean, answer = float(self.inputs["input_tokens"]), float(self.inputs["output_tokens"])
        first = first_prompt(mean, answer, turns, prefix)
        if first < max(1.0, prefix):
            raise ParamsError(
                f"{turns} turns with answers of {answer:,.0f} tokens make prompts longer than "
                f"{mean:,.0f} tokens on average, expected workload.input_tokens of at least "
                f"{mean + (max(1.0, prefix) - first) * (turns + 1) / 2:,.0f} or fewer turns.")
        self.talk = Talk(first, answer, turns, think, prefix, int(self.inputs["block_size"]))
        quantities = evaluate(self.inputs, self.attention)
        self.per_token = float(quantities["kv_bytes_per_token"])
        together = quantities["block_tokens"] * self.inputs["decode_context_parallel"]
        self.blocks = float(quantities["kv_blocks"] - quantities["prompt_blocks"]) * together
        # of a request [token]
        self.state = float(quantities["state_blocks_per_request"]) * together
        # time of computing a cache again, by tokens and by their square
        lengths = np.array([SHORT, LONG], float)
        short, long = (evaluate(self.inputs | {
            "concurrency": 1, "input_tokens": lengths, "prompt_variation": 0,
            "context_tokens": lengths + answer, "prefix_hit_share": 0},
            self.attention)["prefill_time"] / lengths).tolist()
        self.quadratic = max(0.0, (long - short) / (LONG - SHORT))
        self.linear = short - self.quadratic * SHORT

    def recompute(self, tokens: np.ndarray) -> np.ndarray:
        """Time of a replica to compute a cache of so many tokens again [s]."""
        return self.linear * tokens + self.quadratic * tokens * tokens

    def tiers(self, in_flight: float, host: float | None = None, storage: float = 0.0
              ) -> list[Tier]:
        """What a replica has: what decoding leaves of its cards, its part of the host, drives.

        Args:
            in_flight: requests that hold blocks, on average [request].
            host: memory of a server for caches [B]; unless given what the deployment states, or
                :func:`host_room` leaves.
            storage: of a server's drives for caches [B].
        """
        taken = in_flight * (
            float(self.talk.prompts.mean()) + self.talk.answer / 2 + self.state)
        node = self.scenario.node
        servers = self.inputs["tensor_parallel"] * self.inputs["pipeline_parallel"] / float(
            node.devices_per_node.value)
        link = (self.scenario.device.host_bandwidth
                or load_link(HOST_LINK).device_bandwidth)
        drive = load_link(STORAGE_LINK).device_bandwidth
        if host is None:
            stated = self.scenario.file.workload.host_cache
            host = float(stated.value if stated else host_room(self.scenario).left)
        tiers = [Tier("device", max(0.0, self.blocks - taken))]
        for name, size, read in (("host", host, link), ("storage", storage, drive)):
            if size:
                tiers.append(Tier(name, size * servers / self.per_token, float(read.value)))
        return tiers

    def tier_values(self, conversations: float, tiers: Sequence[Tier]) -> list[TierValue]:
        """Every tier, each of which keeps what the one before it has no room for.

        Args:
            conversations: that begin at this replica [1/s].
            tiers: fastest first.
        """
        talk, result = self.talk, list[TierValue]()
        tokens = before = 0.0
        later = talk.findable[1:]
        mean, again = (float(values.mean()) if later.size else 0.0
                       for values in (later, self.recompute(later)))
        for tier in tiers:
            tokens += tier.tokens
            time = talk.time(conversations, tokens)
            found = talk.returns(time) if talk.turns > 1 else 0.0
            fetch = (tier.latency + mean * self.per_token / tier.bandwidth
                     if tier.bandwidth < math.inf else 0.0)
            faster = again - tier.latency
            result.append(TierValue(
                tier.name, tokens, time, found - before, found, talk.hit_share(found), fetch, again,
                mean * self.per_token / faster if faster > 0 else math.inf, fetch < again))
            before = found
        return result


def with_tiers(scenario: Scenario, population: Population, rate: float, limits: Limits,
               variation: float, most: int, host: float | None = None, storage: float = 0.0
               ) -> list[TierValue]:
    """Replicas for a rate where conversations hit their caches, one more tier in each result.

    With fewer replicas each has more conversations, whose caches stay for less long: the fewest
    that meet the limits with the hits that follow are found by bisection up to ``most``. A tier
    from which fetching is slower than recomputing is not used.

    Args:
        scenario, population: the deployment and its conversations.
        rate: of all arrivals [request/s].
        limits: what users are promised.
        variation: of the rate from minute to minute [1].
        most: replicas without any cache [1].
        host, storage: as for ``Population.tiers`` [B].
    """
    @cache
    def replica(hits: float) -> Replica:
        return Replica(scenario, {"prefix_hit_share": hits})

    def at(replicas: int, depth: int) -> tuple[bool, TierValue]:
        share, hits = rate / replicas, 0.0
        for _ in range(TURNS):
            hits = round(hits, 4)
            now = replica(hits)
            flying = min(share, 0.99 * now.saturation)
            tiers = population.tiers(flying * float(now.closed("e2e", flying)), host, storage)
            values = population.tier_values(share / population.talk.turns, tiers[:depth])
            hits = next((tier.hit_share for tier in reversed(values) if tier.pays), 0.0)
        return now.metrics(share, limits.share, variation).meets(limits), values[-1]

    result = []
    for depth in range(1, 1 + len(population.tiers(0.0, host, storage))):
        low, high = 0, most
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if at(middle, depth)[0] else (middle, high)
        enough, value = at(high, depth)
        result.append(replace(value, replicas=high if enough else None))
    return result
