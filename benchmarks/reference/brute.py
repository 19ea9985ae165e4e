"""Small goals by plain loops: every deployment a file of its own, computed whole, without a bound.

Nothing of the search is used: neither its space nor its judge. What an engine starts is written
out here again, from the engines' documentation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

from benchmarks.reference.pool_pairs import paired
from calc.layouts.layout import Choice, Row, scenario
from calc.searching.goal import load_goal
from calc.searching.search import search
from calc.serving.evaluate import evaluate
from catalogue import LayoutError
from catalogue.planning import OBJECTIVES, Goal

PER_NODE, HEADS, LAYERS, ROUTED = 8, 128, 61, 256  # of a server; of DeepSeek-V3
BLOCK, DENSE, EXPERT = 128, 18432, 2048  # of FP8; widths of its layers
MOST_STAGES = 4
CHUNK, SHARE = 8192, 90
CLOSE = 1e-9  # of numbers that are computed in another order
SETTINGS = ("space.chunks=8192", "space.memory_utilization=0.9", "cards.fewest=8")
BATCHES = (1, 4, 16, 64)  # requests of a rank, where the load is given
KINDS = ("burst", "burst", "rate", "pairs")  # of goals, in turn


def goal_of(seed: int) -> Goal:
    """A small goal: a device, an engine, a format, a load, limits and objectives; of one pool and
    users who ask at once or requests that arrive by themselves, or of two pools."""
    draw, kind = random.Random(seed), KINDS[seed % len(KINDS)]
    most = draw.choice((16, 24) if kind == "pairs" else (8, 16, 16, 24))
    device = draw.choice(("nvidia-h20", "nvidia-h200-sxm"))
    engine = draw.choice(("vllm@0.13.0", "sglang@0.5.23", "tensorrt-llm@1.0.0"))
    tensor = ["space.tensor=" + ("4,8,16" if most > PER_NODE else "1,2,4,8")]
    formats = ("fp8-block",) if kind == "pairs" else ("fp8-block", "bf16")
    settings = [*SETTINGS, *tensor, f"devices={device}", f"engines={engine}", f"cards.most={most}",
                f"precisions={draw.choice(formats)}",
                *random_load(draw, kind),
                f"demand.input_tokens={draw.choice((512, 4096))}",
                f"demand.output_tokens={draw.choice((1, 200) if kind == 'burst' else (20, 200))}",
                f"space.drafts={draw.choice(('0', '0,1'))}",
                f"space.micro_batches={draw.choice(('1', '1,2'))}",
                f"space.spares={draw.choice(('none', 'none,per-rank'))}",
                f"space.staged_groups={draw.choice(('true', 'false'))}",
                "limits.tpot=null", "limits.ttft=null"]
    if draw.random() < 0.5:
        settings.append(f"limits.tpot={draw.choice((20, 50))} ms")
    if draw.random() < 0.3:
        settings.append(f"limits.ttft={draw.choice((1, 3))} s")
    names = draw.sample(("throughput_per_card", "tpot", "ttft", "cards"), draw.choice((1, 2, 3)))
    return load_goal("r1-64-users-8xh20", [*settings, f"objectives={','.join(names)}"])


def random_load(draw: random.Random, kind: str) -> list[str]:
    """What is asked of a deployment."""
    users, rate = draw.choice((1, 16, 100)), draw.choice((0.2, 1.0, 4.0))
    batches = f"space.batches={','.join(map(str, BATCHES))}"
    if kind == "burst":
        return [f"demand.users={users}", "demand.arrivals=burst"]
    by_rate = [f"demand.arrival_rate={rate} request/s", "demand.users=null", batches]
    if kind == "rate":
        return by_rate
    load = by_rate if draw.random() < 0.3 else [
        f"demand.users={users}", f"demand.think_time={draw.choice((0, 10))} s", batches]
    return [*load, "space.pools=two"]


def starts(engine: str, tp: int, pp: int, dp: int, ep: int, spares: int, dealt: int) -> bool:
    """Whether a release starts a layout on servers of eight cards."""
    name = engine.partition("@")[0]
    slices = max(1, tp // ep)
    joined = ep * slices // tp
    ranks, cards = tp * joined, tp * joined * pp
    if cards < PER_NODE and PER_NODE % cards and dp > joined:
        return False
    if cards > PER_NODE and (cards % PER_NODE or (
            (tp * pp) % PER_NODE and PER_NODE % (tp * pp))):
        return False
    if name == "vllm":  # experts whole on all ranks of a server, or cut over all
        return ep in (1, ranks)
    if name == "tensorrt-llm":  # attention cut over all ranks, or over none; no dealt cache
        return (joined == 1 or tp == 1) and dealt == 1
    return True


def cuts(goal: Goal, engine: str, fp8: bool) -> Iterator[tuple[int, ...]]:
    """Every (cards, tensor, pipeline, data, expert, spares, dealt) that a release starts."""
    space, most = goal.space, int(goal.cards.most or 0)
    for cards in range(PER_NODE, most + 1, PER_NODE):
        every = range(1, cards + 1)
        stages = range(1, MOST_STAGES + 1)
        for tp, pp, dp, ep in product(space.tensor or every, stages, every, every):
            if tp * pp * dp != cards or (tp * dp) % ep or (ep % tp and tp % ep):
                continue
            slices = max(1, tp // ep)
            if HEADS % tp or DENSE % tp or EXPERT % slices:
                continue
            if fp8 and ((DENSE // tp) % BLOCK or (EXPERT // slices) % BLOCK):
                continue
            if pp > 1 and (max(tp, ep) % PER_NODE or (ep > tp and not space.staged_groups)):
                continue
            fewest = -ROUTED % ep
            counts = {"none": 0, "per-rank": fewest + ep}
            copies = {counts[str(name)] for name in space.spares} if ep > 1 else {0}
            for spares, dealt in product(sorted(copies), every):
                if (ROUTED + spares) % ep == 0 and tp % dealt == 0 and starts(
                        engine, tp, pp, dp, ep, spares, dealt):
                    yield cards, tp, pp, dp, ep, spares, dealt


def deployments(goal: Goal, pool: str | None = None) -> Iterator[Choice]:
    """Every deployment that the goal allows, but for its requests in flight; or every such pool."""
    device = goal.devices[0].device
    node = {"nvidia-h20": "hgx-h20", "nvidia-h200-sxm": "hgx-h200"}[device]
    engine, precision = str((goal.engines or [""])[0]), str((goal.precisions or [""])[0])
    for cards, tp, pp, dp, ep, spares, dealt in cuts(goal, engine, precision == "fp8-block"):
        for drafts, halves in product(goal.space.drafts or [0], goal.space.micro_batches):
            if (drafts and (pp > 1 or pool == "prefill")) or (halves > 1 and ep <= tp):
                continue
            if pool is not None and dealt > 1:
                continue
            yield Choice(device, node, engine, precision, cards, tp, pp, dp, ep, 0, spares, dealt,
                         CHUNK, halves, drafts, SHARE, 1, pool=pool)


def evaluated(goal: Goal, choice: Choice) -> dict[str, Any]:
    """Inputs and quantities of a deployment, by name."""
    try:
        deployed = scenario(goal, choice)
    except LayoutError:
        raise AssertionError(f"{choice} is no deployment") from None
    inputs = deployed.inputs()
    return {**inputs, **evaluate(inputs, deployed.model.attention)}


def compared(goal: Goal) -> list[str]:
    """In what a front is the best: objectives, and the time per token that is limited, since of two
    that are as good the faster one keeps the limit more surely."""
    objectives = list(goal.objectives or ())
    return objectives + ["tpot"] * (goal.limits.tpot is not None and "tpot" not in objectives)


def within(goal: Goal, seen: Mapping[str, float]) -> bool:
    """Whether the limits on the mean times are kept."""
    return all(seen[name] <= limit for name, stated in goal.limits.times.items()
               for limit in stated.values())


def served(goal: Goal, choice: Choice) -> dict[str, float] | None:
    """What users see of a deployment; None where its memory holds too few requests, or the load is
    more than it finishes."""
    demand = goal.demand
    if demand.arrival_rate is None:
        q = evaluated(goal, replace(choice, concurrency=int(demand.users or 1)))
        return None if q["headroom_per_device"] < 0 else {
            "tpot": q["tpot"], "ttft": q["ttft"], "cards": choice.devices,
            "throughput_per_card": q["output_throughput"] / choice.devices}
    for batch in BATCHES:  # the fewest requests in flight that are enough
        q = evaluated(goal, replace(choice, concurrency=batch * choice.data))
        if q["headroom_per_device"] < 0:
            return None
        if q["steady_request_throughput"] >= demand.arrival_rate:
            tokens = demand.arrival_rate * demand.output_tokens
            return {"tpot": q["steady_tpot"], "ttft": q["steady_ttft"], "cards": choice.devices,
                    "throughput_per_card": tokens / choice.devices}
    return None


def front(goal: Goal, rows: list[dict[str, float]]) -> list[tuple[float, ...]]:
    """Objectives of the rows that no other one beats."""
    names = compared(goal)
    every = {tuple(float(row[name]) for name in names) for row in rows}
    worth = {row: tuple(OBJECTIVES[name] * value for name, value in zip(names, row, strict=True))
             for row in every}

    def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return (all(a >= b - CLOSE * abs(b) for a, b in zip(one, other, strict=True))
                and any(a > b + CLOSE * abs(b) for a, b in zip(one, other, strict=True)))

    return [row for row in every if not any(beats(worth[other], worth[row]) for other in every)]


def front_of(goal: Goal) -> tuple[list[tuple[float, ...]], int]:
    """Objectives of the front by plain loops, and how many deployments were computed."""
    every = list(deployments(goal))
    seen = (served(goal, choice) for choice in every)
    return front(goal, [row for row in seen if row and within(goal, row)]), len(every)


class Agreement(NamedTuple):
    """A search beside plain loops.

    Attributes:
        same: whether fronts and counts are equal.
        tried: deployments, or pools that fit [1].
        front: deployments or pairs on the front of the plain loops [1].
    """

    same: bool
    tried: int
    front: int


def agrees(seed: int) -> Agreement:
    """Whether a search and plain loops find one front, and as many deployments or pools."""
    goal = goal_of(seed)
    answer = search(goal)
    if goal.space.pools == ["two"]:
        pairs, *counts = paired(goal, evaluated, deployments)
        assert answer.pairs
        theirs = front(goal, [row for row in pairs if within(goal, row)])
        rows, same = answer.pairs.rows(), list(answer.pairs.tried[:2]) == counts
    else:
        theirs, *counts = front_of(goal)
        rows, same = answer.rows(answer.front), [answer.funnel.deployments] == counts
    return Agreement(same and is_same_front(goal, rows, theirs), sum(counts), len(theirs))


def is_same_front(goal: Goal, rows: list[Row], theirs: list[tuple[float, ...]]) -> bool:
    """Whether rows of a search have these objectives, and all of them."""
    ours = [tuple(row.quantities.get(name, float(row.devices)) for name in compared(goal))
            for row in rows]

    def near(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return all(abs(a - b) <= CLOSE * abs(b) for a, b in zip(one, other, strict=True))

    return (all(any(near(one, other) for other in theirs) for one in ours)
            and all(any(near(one, other) for one in ours) for other in theirs))
