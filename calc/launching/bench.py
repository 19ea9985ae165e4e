"""A plan of measurements, each of which exercises an assumption, with what is predicted of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calc.answer.service import service_level_of_pools
from calc.evidence.classes import deviations, own_errors
from calc.evidence.systems import System
from calc.evidence.validation import uncalibrated
from calc.launching.monitoring import Predicted, predicted
from calc.launching.server import ASCEND, Release, Setting, Variable, nearest_releases
from calc.launching.starting import Pool
from calc.physics.arrays import Inputs
from calc.serving.evaluate import FEWEST, WAVES, bench_count
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.engine import catalogue_of

SPREAD = 0.5  # of lengths about their mean, uniform; half of a prompt that is shared
MOST_PROMPT_STEPS = 5000  # of a replica in a run of a few waves; each is simulated
MOST_REQUESTS = 20_000  # of a run: a benchmark of more takes long and tells no more
METRICS = ("ttft", "tpot", "output_throughput")
UNITS = {"ttft": "s", "tpot": "s", "output_throughput": "token/s"}


@dataclass(frozen=True)
class Bench:
    """One measurement.

    Attributes:
        name: of the run and its result.
        exercises: the assumption that it puts to the test.
        concurrency, input_tokens, output_tokens, requests: what the client is told.
        spread: half the width of the range of lengths over their mean, uniform [1].
        shared: tokens that all prompts begin with.
        rate: of independent arrivals [request/s]; None, as many as may be in flight.
        predicted: by metric.
        scatter: by metric, deviations of the logarithm of a run about what all runs of one
            deployment share [1].
        command: arguments of the client.
    """

    name: str
    exercises: str
    concurrency: int
    input_tokens: int
    output_tokens: int
    requests: int
    spread: float = 0.0
    shared: int = 0
    rate: float | None = None
    predicted: Mapping[str, Amount] = field(default_factory=dict)
    scatter: Mapping[str, float] = field(default_factory=dict)
    command: tuple[Setting, ...] = ()

    @property
    def load(self) -> dict[str, float]:
        """Load on the deployment, by input symbol."""
        return {"concurrency": self.concurrency, "input_tokens": self.input_tokens,
                "output_tokens": self.output_tokens, "requests": self.requests}

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {"name": self.name, "exercises": self.exercises, "asked": self.load,
                "spread": self.spread, "shared": self.shared, "rate": self.rate,
                "scatter": dict(self.scatter),
                "predicted": {name: amount.as_json() for name, amount in self.predicted.items()}}


def plan(pools: Sequence[Pool], of: Sequence[Predicted]) -> list[Bench]:
    """The measurements of a deployment, the simplest first.

    Args:
        pools: one, or two that prefill and decode.
        of: what is predicted of each.
    """
    scenario = at_random(pools[-1].scenario)
    runs = planned_runs(scenario, of[-1], apart=len(pools) > 1)
    scatter = {name: own.within for name, own in own_errors(scenario).items() if name in METRICS}
    finished = []
    for seed, run in enumerate(runs):
        if len(pools) > 1:
            expected = of_two_pools(pools, run)
        elif run.rate:
            at_rate = predicted(scenario)
            expected = {"ttft": at_rate.ttft, "tpot": at_rate.tpot,
                        "output_throughput": at_rate.throughput}
        else:
            expected = of_closed_loop(scenario, run)
        finished.append(replace(run, predicted=expected, scatter=scatter,
                                command=command(run, pools[-1], seed)))
    return finished


def at_random(scenario: Scenario) -> Scenario:
    """A deployment that is sent random tokens, as the bench sends them: drafts are accepted so.

    What the deployment states of its drafts holds.
    """
    workload = scenario.file.workload
    if workload.accepted_length or workload.acceptance:
        return scenario
    return _with(scenario, workload.model_copy(update={"text": "random"}))


def planned_runs(scenario: Scenario, of: Predicted, apart: bool) -> list[Bench]:
    """The runs of a deployment of one pool, or of two that are apart, without predictions."""
    users, prompt, answer = int(of.planned), int(of.prompt), int(of.answer)
    workload, replicas = scenario.file.workload, int(scenario.file.parallelism.data_parallel.value)
    chunk = int(workload.max_num_batched_tokens.value)

    def many(users: int, prompt: int, answer: int, stated: float = 0) -> int:
        """Requests of a run: those stated, a few waves, or one where that takes long."""
        if not stated and WAVES * users / replicas * (prompt / chunk) > MOST_PROMPT_STEPS:
            stated = max(FEWEST, users)
        return int(bench_count(Inputs(
            output_tokens=answer, bench_requests=stated), users))

    stated = workload.requests.value if workload.requests else 0
    planned = many(users, prompt, answer, min(stated, max(users, MOST_REQUESTS)))
    half, block = max(1, users // 2), int(workload.block_size.value)
    runs = [
        Bench("one", "a step alone: nothing waits, nothing is shared", 1, prompt, answer, FEWEST),
        Bench("half", "concurrency: half of the requests that are planned", half, prompt, answer,
              many(half, prompt, answer)),
        Bench("planned", "concurrency and lengths as the scenario has them", users, prompt, answer,
              planned)]
    if workload.arrival_rate:
        runs.append(Bench("rate", "independent arrivals at the scenario's rate", users, prompt,
                          answer, planned, rate=float(workload.arrival_rate.value)))
    if apart:
        return runs
    short, mean = ((max(1, prompt // 2), max(2, answer // 2)),
                   (int(prompt / (1 + SPREAD)), int(answer / (1 + SPREAD))))
    runs.append(Bench("shorter", "lengths: half of either", users, *short, many(users, *short)))
    if min(mean) > 1:
        runs.append(Bench("spread", "lengths that vary, uniform about two thirds of the planned",
                          users, *mean, many(users, *mean), spread=SPREAD))
    if shared := int(prompt * SPREAD) // block * block:
        runs.append(Bench("prefix", "prefix share: prompts that begin alike", users, prompt,
                          answer, many(users, prompt, answer), shared=shared))
    return runs


def of_closed_loop(scenario: Scenario, run: Bench) -> dict[str, Amount]:
    """As every measured row is predicted: by the closed form, or the scheduler for many waves.

    Args:
        scenario: the deployment.
        run: as many requests in flight as it says.
    """
    rows = {name: np.array([float(value)]) for name, value in run.load.items()}
    rows |= {metric: np.array([math.nan]) for metric in METRICS}
    prefix = {"prefix_hit_share": run.shared / run.input_tokens} if run.shared else {}
    system = System(scenario, scenario.inputs() | prefix, {}, rows,
                    unequal=frozenset({0} if run.spread else ()),
                    limited=frozenset({0} if run.requests > run.concurrency else ()))
    errors, expected = deviations(scenario), {}
    for metric in METRICS:
        if metric == "tpot" and run.output_tokens == 1:
            continue  # after its first token an answer of one has none
        row = uncalibrated(system, metric, errors, np.array([0]))
        expected[metric] = Amount(float(row.predicted[0]), float(row.low[0]), float(row.high[0]),
                                  UNITS[metric])
    return expected


def of_two_pools(pools: Sequence[Pool], run: Bench) -> dict[str, Amount]:
    """A closed loop over both pools."""
    prefill, decode = pools[0].scenario, at_random(pools[1].scenario)
    users = replace(decode.file.workload.concurrency, value=run.concurrency, low=run.concurrency,
                    high=run.concurrency, written=f"{run.concurrency} request")
    closed = decode.file.workload.model_copy(update={
        "concurrency": users, "think_time": None, "arrival_rate": None, "arrivals": "closed-loop"})
    seen = service_level_of_pools(prefill, _with(decode, closed))
    assert seen is not None  # users who ask again keep up
    return {"ttft": seen.ttft, "tpot": seen.tpot, "output_throughput": seen.throughput}


def _with(scenario: Scenario, workload: Any) -> Scenario:
    return replace(scenario, file=scenario.file.model_copy(update={"workload": workload}))


def tool_of(release: Release) -> Release:
    """The engine's own client, of the same release."""
    name = "sglang-bench" if release.name == "sglang" else "vllm-bench"
    tool = catalogue_of(name)
    versions = (nearest_releases(tool, release.version) if release.name == ASCEND
                else (release.version,))
    return Release(name, versions[-1], tuple((tool, version) for version in versions))


def command(run: Bench, pool: Pool, seed: int) -> tuple[Setting, ...]:
    """The arguments of the client for one run.

    Raises ParamsError, one sentence, for what the release's client cannot do.
    """
    tool = tool_of(pool.release)
    rows: list[tuple[str, Any]] = [
        ("--base-url", Variable("BASE_URL")), ("--model", Variable(pool.model)),
        ("--num-prompts", run.requests), ("--seed", seed)]
    if run.rate is not None:
        rows.append(("--request-rate", run.rate))
    elif run.requests > run.concurrency:
        rows.append(("--max-concurrency", run.concurrency))
    own, results = run.input_tokens - run.shared, Variable("RESULTS", f"/{run.name}.jsonl")
    if tool.name != "sglang-bench":
        first = tool.judge("--random-range-ratio", 1.0) == "accepted" and not tool.has("--backend")
        rows += [("--dataset-name", "random"), ("--random-input-len", own),
                 ("--random-output-len", run.output_tokens),
                 # the first release counts the shortest over the longest
                 ("--random-range-ratio", 1 - run.spread if first else run.spread),
                 *([("--random-prefix-len", run.shared)] if run.shared else []),
                 ("--ignore-eos", None), ("--served-model-name", served_name(pool)),
                 ("--percentile-metrics", "ttft,tpot,itl,e2el"), ("--save-result", None),
                 ("--result-dir", Variable("RESULTS")), ("--result-filename", f"{run.name}.json")]
    elif run.shared:
        rows += [("--dataset-name", "generated-shared-prefix"), ("--gsp-num-groups", 1),
                 ("--gsp-prompts-per-group", run.requests), ("--gsp-system-prompt-len", run.shared),
                 ("--gsp-question-len", own), ("--gsp-output-len", run.output_tokens),
                 ("--output-file", results)]
    else:  # it draws from the ratio times the longest up to the longest
        most, ids = 1 + run.spread, tool.has("--dataset-name", "random-ids")
        rows += [("--dataset-name", "random-ids" if ids else "random"),
                 ("--random-input-len", round(run.input_tokens * most)),
                 ("--random-output-len", round(run.output_tokens * most)),
                 ("--random-range-ratio", round((1 - run.spread) / most, 4)),
                 ("--output-file", results)]
    return tuple(tool.take(name, value, "") for name, value in rows)


def served_name(pool: Pool) -> str:
    """The name by which requests ask a pool's servers for the model, the operator's if given."""
    return str(next((flag.value for flag in pool.flags[0] if flag.name == "--served-model-name"),
                    pool.scenario.model.id))
