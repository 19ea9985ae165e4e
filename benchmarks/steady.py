"""The closed form of a steady state beside a simulation of the same deployment, over random ones.

Cards, layouts, lengths, prefix hits, drafts, chunks, scheduling and arrivals vary; the lengths of
requests are log-normal. Both are what ``estimate`` takes: ``lasting`` and ``users_see``. A
deployment counts if it fits with room for twice its users, if what arrives can leave, and if its
simulation is one of seconds.

``python -m benchmarks.steady FIRST COUNT`` prints each deployment from a seed of one's own on.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice

import numpy as np

import catalogue
from calc.answer.simulated import system_of
from calc.answer.steady_state import Lasting, lasting
from calc.answer.users import MEANS, asked_of, cost, cycle, users_see
from calc.closed_form.evaluate import evaluate
from calc.closed_form.validity import NEAR

DEPLOYMENTS = 300
FIRST = 200_000  # seed of the benchmark's own deployments, of which none shaped the formulas
VARIATION = 0.5  # of lengths, log-normal: standard deviation over mean
NEVER = 1.5  # times too much or too little
ROOM = 2  # of the cache, over the users
DEAREST = 8.0  # simulation of a deployment that counts [s]
OF_EACH_USER, FEWEST = 8, 1000  # requests simulated, at most
SPARE = 4  # times the users that may be in flight where arrivals come at random
BESIDE_RANDOM = 64
BASES = ("h200-r1-sglang-tp8", "h200-r1-vllm-tp8", "h200-v32-vllm-dp8", "s2-910b1-awq")
KINDS = ("one", "one", "several", "shared", "shared", "shared", "pools")
FREE = BASES[:2]  # which any layout fits
CARDS = 8  # of a node of those


@dataclass(frozen=True)
class Row:
    """A deployment's closed form over its simulation.

    Attributes:
        seed: of the deployment.
        kind: ``one`` replica, several, several ranks that share experts, or two pools.
        closed: the steady state in closed form.
        ttft, tpot: over what the simulation gives [1].
        doubts: why the closed form is said not to hold; empty where it is said to.
    """

    seed: int
    kind: str
    closed: Lasting
    ttft: float
    tpot: float
    doubts: tuple[str, ...]


def deployment(seed: int) -> tuple[str, catalogue.Scenario]:
    """A random deployment and its kind.

    Prompts have 128 to 65,536 tokens, answers 32 to 1,024, users are 1 to 2,048, ranks up to 32.

    Raises ParamsError for one that cannot be laid out.
    """
    draw = random.Random(seed)
    kind = draw.choice(KINDS)
    base = draw.choice(BASES if kind == "one" else FREE)
    prompt, answer = (round(2 ** draw.uniform(*ends)) for ends in ((7, 16), (5, 10)))
    users = round(2 ** draw.uniform(0, 11))
    hit = draw.choice((0.0, 0.0, 0.0, draw.uniform(0.1, 0.95)))
    drafts = draw.choice((0, 0, 0, 1, 3))
    file = {"scheduling": draw.choice(("mixed", "prefill-first"))}
    waiting = draw.choice(("eager", "eager", "delay"))
    budget = draw.choice((2048, 8192, 8192, 16384))
    arrivals = draw.choice(("loop", "loop", "think", "poisson"))
    thinking, load = 10 ** draw.uniform(-2, 1.5), draw.uniform(0.1, 0.85)
    tensor, ranks = draw.choice((1, 1, 2, 4, 8)), 2 ** draw.randint(1, 5)
    layout, stated = [], {"prefix_hit_share": hit, "separate_pools": float(kind == "pools")}
    if kind == "shared":
        cards = max(CARDS, tensor * ranks)
        file["prefill_coordination"] = waiting
        layout = _layout(cards // CARDS, tensor, cards // tensor, cards)
        users = max(users, cards // tensor)
    elif kind != "one":
        replicas = draw.choice((2, 4))
        layout = _layout(replicas, CARDS, replicas, CARDS)
        users = max(users, replicas)
    workload = {"input_tokens": f"{prompt} token", "output_tokens": f"{answer} token",
                "context_tokens": f"{prompt + answer} token",
                "max_num_batched_tokens": f"{budget} token", "length_distribution": "lognormal",
                "length_variation": VARIATION}
    if base in FREE and drafts:
        workload["draft_tokens"] = drafts
    if arrivals == "think":
        workload |= {"arrivals": "closed-loop", "think_time": f"{thinking:.3g} s"}

    def made(users: int) -> catalogue.Scenario:
        counts = dict.fromkeys(("concurrency", "requests"), f"{users} request")
        scenario = catalogue.load_scenario(base, overrides=[*layout, *(
            f"workload.{name}={value}" for name, value in (workload | counts).items())])
        given = {name: catalogue.Value(value, "1", f"{value}", "drawn", "assumed", value, value)
                 for name, value in stated.items() if value}
        return replace(scenario, file=scenario.file.model_copy(update=file | {
            "mechanisms": scenario.file.mechanisms | given}))

    if arrivals != "poisson":
        return kind, made(users)
    found = evaluate((every := made(users)).inputs(), every.model.attention)
    rate = load * float(found["steady_request_throughput"])
    workload |= {"arrivals": "poisson", "arrival_rate": f"{rate:.4g} request/s"}
    return kind, made(max(SPARE * users, BESIDE_RANDOM))


def _layout(nodes: int, tensor: int, data: int, expert: int) -> list[str]:
    return [f"cluster.nodes={nodes}", f"parallelism.tensor_parallel={tensor}",
            f"parallelism.data_parallel={data}", f"parallelism.expert_parallel={expert}"]


def row(seed: int) -> Row | None:
    """A deployment's closed form beside its simulation; None for one that does not count."""
    try:
        kind, scenario = deployment(seed)
    except catalogue.ParamsError:
        return None  # no such layout
    inputs, attention = scenario.inputs(), scenario.model.attention
    everything = evaluate(inputs, attention)
    closed = lasting(scenario, inputs, everything)
    if (everything["headroom_per_device"] < 0 or not closed.keeps_up
            or everything["max_concurrency"] < ROOM * closed.in_flight):
        return None
    system, asked = system_of(scenario), asked_of(scenario)
    users = asked.users or closed.in_flight
    if cost(system, asked, cycle(scenario, asked)) * max(FEWEST, OF_EACH_USER * users) > DEAREST:
        return None
    seen = users_see(scenario, asked, system=system, wanted=MEANS, seed=seed)
    if not seen.summary.steady or not seen.tpot.values.size:
        return None
    return Row(seed, kind, closed, closed.values["steady_ttft"] / seen.ttft.mean,
               closed.values["steady_tpot"] / seen.tpot.mean, closed.doubts)


def rows(first: int = FIRST) -> Iterator[Row]:
    """Deployments that count, one seed after the other."""
    return (found for seed in count(first) if (found := row(seed)) is not None)


def told(found: Sequence[Row]) -> dict[str, tuple]:
    """How many rows are within ``NEAR`` and beyond ``NEVER``, where the closed form holds and in
    all, and how often it is said to hold."""
    held = [each for each in found if not each.doubts]
    note = f"closed form beside simulation, {len(found)} random deployments"
    numbers: dict[str, tuple] = {"steady_holds": (len(held) / len(found), "1", note)}
    for of, some in (("", held), ("_of_all", found)):
        for name, most in NEAR.items():
            off = np.exp(np.abs(np.log([getattr(each, name) for each in some])))
            numbers |= {
                f"steady_{name}_within{of}": (float(np.mean(off <= 1 + most)), "1", note),
                f"steady_{name}_beyond{of}": (int(np.sum(off > NEVER)), "deployment", note),
                f"steady_{name}_worst{of}": (float(off.max()), "1", note)}
    return numbers


def measure() -> dict[str, tuple]:
    """How often the closed form is as near to a simulation as it has to be, where it is said to
    hold and over all of the random deployments; prints the deployments where it is not."""
    found = list(islice(rows(), DEPLOYMENTS))
    for each in found:
        if short(each):
            print(text(each), flush=True)
    return told(found)


def short(each: Row) -> bool:
    """Whether a latency is further off than it may be."""
    return any(abs(np.log(getattr(each, name))) > np.log(1 + most)
               for name, most in NEAR.items())


def text(each: Row) -> str:
    """A row in words."""
    why = ", ".join(each.doubts) or "said to hold"
    return (f"  seed {each.seed}, {each.kind}: TTFT {each.ttft:.2f}, TPOT {each.tpot:.2f} times "
            f"that simulated ({why})")


def main() -> None:
    """Print deployments from a seed on, and what they come to."""
    first, number = int(sys.argv[1]), int(sys.argv[2])
    found = []
    for each in islice(rows(first), number):
        found.append(each)
        print(text(each), flush=True)
    for name, (value, unit, *_) in told(found).items():
        print(f"{name:40} {value:14,.4g} {unit}")


if __name__ == "__main__":
    main()
