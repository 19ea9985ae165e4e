"""Two pools by plain loops: each pool a file of its own, each pair a steady state by bisection.

Nothing of the search's pairs is used: every pool is paired, and a closed loop is closed by halving.
Only where users ask again, pools are left out that another one of as many cards beats: a slower
pool lets users ask less often and so loads the other pool less, and nobody buys it for that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import ge, gt
from typing import Any

from calc.layouts.layout import Choice
from catalogue.planning import Goal

PROMPTS = 8, 32  # of a rank of a pool that prefills, at least and at most
MOST_BUSY = 0.99  # of such a pool
HALVINGS = 200
ROUNDING = 1e-9
Evaluated = Callable[[Goal, Choice], dict[str, Any]]
Worth = Callable[[dict[str, Any]], tuple[float, ...]]
Deployments = Callable[[Goal, str], Iterator[Choice]]


def paired(goal: Goal, evaluated: Evaluated, deployments: Deployments
           ) -> tuple[list[dict[str, float]], int, int]:
    """What every pair that serves the load comes to; how many pools of either kind fit.

    Args:
        goal: whose pools they are.
        evaluated: inputs and quantities of a deployment.
        deployments: pools of a kind, but for their requests in flight.
    """
    first = [q for choice in deployments(goal, "prefill") if (q := _fitting(
        goal, evaluated, replace(choice, concurrency=prompts_of_pool(goal, choice))))]
    then = [q for choice in deployments(goal, "decode") for batch in goal.space.batches or ()
            if has_demand(goal, batch * choice.data, choice.data) and (q := _fitting(
                goal, evaluated, replace(choice, concurrency=batch * choice.data)))]
    counts = len(first), len(then)
    if goal.demand.users is not None:
        first, then = _unbeaten(first, prefill_worth), _unbeaten(then, decode_worth)
    pairs = ((one, two) for one in first for two in then
             if goal.cards.fewest <= one["cards"] + two["cards"] <= int(goal.cards.most or 0))
    rows = [row for one, two in pairs if (row := together(goal, one, two))]
    return rows, *counts


def prompts_of_pool(goal: Goal, choice: Choice) -> int:
    """Prompts of a pool: of four full chunks on each stage."""
    new = goal.demand.input_tokens * (1 - goal.demand.prefill_hit_share)
    return min(max(math.ceil(4 * choice.chunk / new), PROMPTS[0]), PROMPTS[1]) * (
        choice.pipeline * choice.data)


def _unbeaten(pools: list[dict[str, Any]], worth: Worth) -> list[dict[str, Any]]:
    """Pools that no other one beats: as good in everything, and better in something."""
    def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return all(map(ge, one, other)) and any(map(gt, one, other))

    return [q for q in pools if not any(beats(worth(other), worth(q)) for other in pools)]


def prefill_worth(q: dict[str, Any]) -> tuple[float, ...]:
    """What a prefill pool is worth to a pair."""
    rate = min(q["request_throughput"], q["data_parallel"] / q["kv_port_time"])
    return (-q["cards"], rate, -q["data_parallel"] / rate, -q["prefill_time"], -q["kv_port_time"])


def decode_worth(q: dict[str, Any]) -> tuple[float, ...]:
    """What a decode pool is worth to a pair."""
    return (-q["cards"], q["request_throughput"], -q["tpot"], -q["kv_port_time"],
            q["data_parallel"] / q["kv_port_time"], -q["draft_tokens"])


def has_demand(goal: Goal, requests: int, ranks: int) -> bool:
    """Whether there are as many users, on equally full ranks."""
    users = goal.demand.users
    return users is None or requests <= math.ceil(users / ranks) * ranks


def _fitting(goal: Goal, evaluated: Evaluated, choice: Choice) -> dict[str, Any] | None:
    q = evaluated(goal, choice)
    return None if q["headroom_per_device"] < 0 else {**q, "cards": choice.devices}


def together(goal: Goal, one: dict[str, Any], two: dict[str, Any]) -> dict[str, float] | None:
    """A pair in its steady state; None where it does not serve the load.

    A prompt waits for what is left of those before it (Pollaczek-Khinchine), and users wait for
    prompt and answer, and think, before they ask again (Little).
    """
    demand = goal.demand
    ranks, sent = one["data_parallel"], one["kv_port_time"]
    prompts = min(one["request_throughput"], ranks / sent)
    residual = ranks / prompts * (1 + one["prompt_variation"] ** 2) / 2
    before = one["request_overhead"] + one["prefill_time"] + max(sent, two["kv_port_time"])
    after = (demand.output_tokens - 1) * two["tpot"]

    def waits(rate: float) -> float:
        busy = rate / prompts
        return before + busy / (1 - busy) * residual

    think, users, rate = demand.think_time or 0.0, demand.users, demand.arrival_rate
    if rate is None:
        assert users is not None
        low, high = 0.0, prompts
        for _ in range(HALVINGS):
            rate = (low + high) / 2
            if rate in (low, high):
                break
            turn = waits(rate) + after + think
            low, high = (low, rate) if rate * turn > users else (rate, high)
    assert rate is not None
    most = min(MOST_BUSY * prompts, two["request_throughput"],
               two["data_parallel"] / two["kv_port_time"])
    if rate > most * (1 + ROUNDING):
        return None
    cards = one["cards"] + two["cards"]
    return {"ttft": waits(rate), "tpot": two["tpot"], "cards": cards,
            "throughput_per_card": rate * demand.output_tokens / cards}
