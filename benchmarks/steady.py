"""The closed form of a steady state beside a simulation of the same steps, over random deployments.

Lengths, requests on each rank, thinking, policy and card vary. A deployment counts if it stays
below saturation: prompts take no more than four fifths of the time, and the cache has room for
twice the users, or for four times those in flight of arrivals at random, whose number varies.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import numpy as np

import catalogue
from calc.choosing.simulated import system_of
from calc.quantities.everything import evaluate
from calc.serving.arrivals import ClosedLoop, Shape, poisson, shapes_of
from calc.serving.metrics import summarise
from calc.serving.simulation import simulate

DEPLOYMENTS = 200
SYSTEMS = ("s2-910b1-awq", "h200-r1-sglang-tp8")
BUSIEST = 0.8  # of the time, prompts; nearer to saturation a run does not settle
ROOM, ROOM_AT_RANDOM = 2, 4  # of the cache, over the users, or over those in flight on average
AT_RANDOM = 0.3  # of the deployments, independent arrivals
REQUESTS, OF_EACH = 600, 30  # of a closed loop: so many, and of each user
REQUESTS_AT_RANDOM, OF_EACH_AT_RANDOM = 2400, 60
LONGER = 6  # runs of the benchmark than those of the tests
LENGTHS = 500  # answers that are drawn
VARIED = {"exponential": 1.0, "lognormal": 0.6}  # distributions of lengths and their variations


def deployment(seed: int, ranks: int = 1) -> tuple:
    """A random deployment: scenario, inputs, policy, and what draws the rest."""
    draw = random.Random(seed)
    prompt, answer = (int(2 ** draw.uniform(*ends)) for ends in ((7, 13), (6, 8)))
    name = draw.choice(SYSTEMS) if ranks == 1 else SYSTEMS[1]
    each = int(2 ** draw.uniform(1, 4.5))
    settings = {"input_tokens": f"{prompt} token", "output_tokens": f"{answer} token",
                "context_tokens": f"{prompt + 2 * answer} token",
                **dict.fromkeys(("concurrency", "requests"), f"{each * ranks} request")}
    overrides = [f"workload.{key}={value}" for key, value in settings.items()]
    if ranks > 1:
        overrides += ["parallelism.tensor_parallel=1", f"parallelism.data_parallel={ranks}",
                      f"parallelism.expert_parallel={ranks}"]
    policy = draw.choice(("mixed", "prefill-first"))
    scenario = catalogue.load_scenario(name, overrides=overrides)
    return scenario, scenario.inputs() | {"mixed_steps": float(policy == "mixed")}, policy, draw


def shapes(inputs: dict, seed: int) -> Sequence[Shape]:
    """Requests of the lengths that the inputs say, drawn.

    Without a variation answers are between half and one and a half of their mean, so that they end
    at any step.
    """
    if variation := inputs["answer_variation"]:
        distribution = next(name for name, value in VARIED.items() if value == variation)
        return shapes_of(inputs["input_tokens"], inputs["output_tokens"], distribution, variation,
                         seed=seed)
    mean = int(inputs["output_tokens"])
    drawn = np.random.default_rng(seed).integers(mean // 2, mean + mean // 2 + 1, LENGTHS)
    return [(int(inputs["input_tokens"]), int(answer)) for answer in drawn]


def errors(seed: int, ranks: int = 1, longer: int = 1, varied: bool = False
           ) -> tuple[float, float] | None:
    """Relative errors of TTFT and TPOT [1]; None for a deployment that does not count.

    Args:
        seed: of the deployment.
        ranks: that share experts [1].
        longer: times as many requests of arrivals at random, whose runs scatter most [1].
        varied: whether requests have many lengths.
    """
    scenario, inputs, policy, draw = deployment(seed, ranks)
    if varied:
        variation = random.Random(f"varied {seed}").choice(tuple(VARIED.values()))
        inputs |= {"prompt_variation": variation, "answer_variation": variation}
    attention, users = scenario.model.attention, int(inputs["concurrency"])
    found = evaluate(inputs, attention)
    if found["max_concurrency"] < ROOM * users:
        return None
    system = system_of(scenario, 2048, policy, "eager")
    lengths = shapes(inputs, seed)
    if draw.random() < AT_RANDOM:
        found = evaluate(inputs | {"open_arrivals": 1}, attention)
        rate = float(found["steady_request_throughput"])
        if (rate * found["prompt_work"] > BUSIEST
                or found["max_concurrency"] < ROOM_AT_RANDOM * users):
            return None
        count = longer * max(REQUESTS_AT_RANDOM, OF_EACH_AT_RANDOM * users)
        asked = poisson(rate, count, lengths, seed)
    else:
        thinking = draw.choice((0.0, 10 ** draw.uniform(-2, 1)))
        counts = np.arange(1, users // ranks + 1) * ranks if thinking else np.array([users])
        several = evaluate(inputs | {"think_time": thinking, "concurrency": counts}, attention)
        found = {name: np.interp(users, several["steady_users"], several[name])
                 for name in ("steady_ttft", "steady_tpot", "steady_e2e")}
        asked = ClosedLoop(users, max(REQUESTS, OF_EACH * users), lengths,
                           thinking + system.overhead, exponential=thinking > 0,
                           ramp=float(found["steady_e2e"]), seed=seed)
    seen = summarise(simulate(asked, system.pool, front_end_rate=system.front_end_rate))
    return (float(found["steady_ttft"] / (seen.ttft.mean + system.overhead) - 1),
            float(found["steady_tpot"] / seen.tpot.mean - 1))


def _counted(ranks: int, longer: int, varied: bool) -> Iterator[tuple[float, float]]:
    seed = 0
    while True:
        if (row := errors(seed, ranks, longer, varied)) is not None:
            yield row
        seed += 1


def errors_of(count: int, ranks: int = 1, longer: int = 1, varied: bool = False) -> np.ndarray:
    """Sizes of the errors of so many deployments, shape (count, 2) [1]; see :func:`errors`."""
    rows = _counted(ranks, longer, varied)
    return np.abs([next(rows) for _ in range(count)])


def measure() -> dict[str, tuple]:
    """Median and worst error of both latencies over 200 deployments."""
    found = errors_of(DEPLOYMENTS, longer=LONGER)
    note = f"closed form against simulation, {DEPLOYMENTS} random deployments"
    return {f"steady_{name}_{which}": (value, "1", note)
            for which, of in (("median_error", np.median), ("worst_error", np.max))
            for name, value in zip(("ttft", "tpot"), of(found, axis=0), strict=True)}
