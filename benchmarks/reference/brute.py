"""Small goals by plain loops: every deployment a file of its own, computed whole, without a bound.

Nothing of the search is used: neither its space nor its judge. What an engine starts is written
out here again, from the engines' documentation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import product

from calc.quantities.everything import evaluate
from calc.searching.asking import load_goal
from calc.searching.choices import Choice, scenario
from calc.searching.search import search
from catalogue import LayoutError
from catalogue.planning.goals import OBJECTIVES, Goal

PER_NODE, HEADS, LAYERS, ROUTED = 8, 128, 61, 256  # of a server; of DeepSeek-V3
BLOCK, DENSE, EXPERT = 128, 18432, 2048  # of FP8; widths of its layers
MOST_STAGES = 4
CHUNK, SHARE = 8192, 90
CLOSE = 1e-9  # of numbers that are computed in another order
SETTINGS = ("space.chunks=8192", "space.memory_utilization=0.9", "cards.fewest=8",
            "demand.arrivals=burst")


def goal_of(seed: int) -> Goal:
    """A small goal: a device, an engine, a format, users, limits and objectives."""
    draw = random.Random(seed)
    most = draw.choice((8, 16, 16, 24))
    device = draw.choice(("nvidia-h20", "nvidia-h200-sxm"))
    engine = draw.choice(("vllm@0.13.0", "sglang@0.5.23", "tensorrt-llm@1.0.0"))
    tensor = ["space.tensor=" + ("4,8,16" if most > PER_NODE else "1,2,4,8")]
    settings = [*SETTINGS, *tensor, f"devices={device}", f"engines={engine}", f"cards.most={most}",
                f"precisions={draw.choice(('fp8-block', 'bf16'))}",
                f"demand.users={draw.choice((1, 16, 100))}",
                f"demand.input_tokens={draw.choice((512, 4096))}",
                f"demand.output_tokens={draw.choice((1, 200))}",
                f"space.drafts={draw.choice(('0', '0,1'))}",
                f"space.micro_batches={draw.choice(('1', '1,2'))}",
                f"space.spares={draw.choice(('none', 'none,per-rank'))}",
                f"space.staged_groups={draw.choice(('true', 'false'))}",
                "limits.tpot=null", "limits.ttft=null"]
    if draw.random() < 0.5:
        settings.append(f"limits.tpot={draw.choice((20, 50))} ms")
    names = draw.sample(("throughput_per_card", "tpot", "ttft", "cards"), draw.choice((1, 2, 3)))
    return load_goal("r1-64-users-8xh20", [*settings, f"objectives={','.join(names)}"])


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
            if pp > 1 and ep > tp and not space.staged_groups:
                continue
            fewest = -ROUTED % ep
            told = {"none": 0, "per-rank": fewest + ep}
            copies = {told[str(name)] for name in space.spares} if ep > 1 else {0}
            for spares, dealt in product(sorted(copies), every):
                if (ROUTED + spares) % ep == 0 and tp % dealt == 0 and starts(
                        engine, tp, pp, dp, ep, spares, dealt):
                    yield cards, tp, pp, dp, ep, spares, dealt


def deployments(goal: Goal) -> Iterator[Choice]:
    """Every deployment that the goal allows."""
    device = goal.devices[0].device
    node = {"nvidia-h20": "hgx-h20", "nvidia-h200-sxm": "hgx-h200"}[device]
    engine, precision = str((goal.engines or [""])[0]), str((goal.precisions or [""])[0])
    for cards, tp, pp, dp, ep, spares, dealt in cuts(goal, engine, precision == "fp8-block"):
        for drafts, halves in product(goal.space.drafts or [0], goal.space.micro_batches):
            if (drafts and pp > 1) or (halves > 1 and ep <= tp):
                continue
            yield Choice(device, node, engine, precision, cards, tp, pp, dp, ep, 0, spares, dealt,
                         CHUNK, halves, drafts, SHARE, int(goal.demand.users or 1))


def compared(goal: Goal) -> list[str]:
    """In what a front is the best: objectives, and the time per token that is limited, since of two
    that are as good the faster one keeps the limit more surely."""
    asked = list(goal.objectives or ())
    return asked + ["tpot"] * (goal.limits.tpot is not None and "tpot" not in asked)


def found(goal: Goal) -> tuple[set[tuple[float, ...]], int]:
    """Objectives of the front by plain loops, and how many deployments were computed."""
    rows: list[tuple[tuple[float, ...], tuple[float, ...]]] = []
    names = compared(goal)
    signs = [OBJECTIVES[name] for name in names]
    count = 0
    for choice in deployments(goal):
        try:
            deployed = scenario(goal, choice)
        except LayoutError:
            raise AssertionError(f"{choice} is no deployment") from None
        q, count = evaluate(deployed.inputs(), deployed.model.attention), count + 1
        if q["headroom_per_device"] < 0 or (
                goal.limits.tpot is not None and q["tpot"] > goal.limits.tpot):
            continue
        known = {"tpot": q["tpot"], "ttft": q["ttft"], "cards": choice.devices,
                 "throughput_per_card": q["output_throughput"] / choice.devices}
        row = tuple(float(known[name]) for name in names)
        rows.append((row, tuple(sign * value for sign, value in zip(signs, row, strict=True))))
    best = {row for row, worth in rows if not any(
        all(a >= b * (1 - CLOSE * (1 if b > 0 else -1)) for a, b in zip(other, worth, strict=True))
        and any(a > b + CLOSE * abs(b) for a, b in zip(other, worth, strict=True))
        for _, other in rows)}
    return best, count


def agrees(seed: int) -> tuple[bool, int]:
    """Whether a search and plain loops find one front, and of how many deployments."""
    goal = goal_of(seed)
    theirs, count = found(goal)
    answer = search(goal)
    ours = [tuple(row.quantities.get(name, float(row.choice.devices))
                  for name in compared(goal)) for row in answer.rows(answer.front)]

    def near(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
        return all(abs(a - b) <= CLOSE * abs(b) for a, b in zip(one, other, strict=True))

    same = (all(any(near(one, other) for other in theirs) for one in ours)
            and all(any(near(one, other) for one in ours) for other in theirs))
    return same and answer.funnel.deployments == count, count
