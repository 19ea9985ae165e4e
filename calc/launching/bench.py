"""A plan of measurements, each of which exercises an assumption, with what is predicted of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calc.answer.service import service_level_of_pools
from calc.evidence.classes import deviations, own_errors
from calc.evidence.systems import System
from calc.evidence.validation import uncalibrated
from calc.launching.monitoring import Predicted, predicted
from calc.launching.scripts import MADE, ROUTER_PORT, Pool, routed
from calc.launching.settings import ASCEND, Release, Setting, Variable, comment, nearest_releases
from calc.physics.inputs import Inputs
from calc.serving.evaluate import FEWEST, WAVES, bench_count
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.engines.released import catalogue_of
from catalogue.reading.jsonfile import data_text

SPREAD = 0.5  # of lengths about their mean, uniform; half of a prompt that is shared
MOST_PROMPT_STEPS = 5000  # of a replica in a run of a few waves; each is simulated
MOST_REQUESTS = 20_000  # of a run: a benchmark of more takes long and tells no more
METRICS = ("ttft", "tpot", "output_throughput")
URL, RESULTS = "BASE_URL", "results"
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

    @property
    def asked(self) -> dict[str, float]:
        """What is asked of the deployment, by input symbol."""
        return {"concurrency": self.concurrency, "input_tokens": self.input_tokens,
                "output_tokens": self.output_tokens, "requests": self.requests}


def plan(pools: Sequence[Pool], of: Sequence[Predicted]) -> list[Bench]:
    """The measurements of a deployment, the simplest first.

    Args:
        pools: one, or two that prefill and decode.
        of: what is predicted of each.
    """
    scenario = at_random(pools[-1].scenario)
    runs = _runs(scenario, of[-1], apart=len(pools) > 1)
    scatter = {name: own.within for name, own in own_errors(scenario).items() if name in METRICS}
    found = []
    for run in runs:
        expected = (_of_pools(pools, run) if len(pools) > 1
                     else _at_rate(scenario) if run.rate else of_closed_loop(scenario, run))
        found.append(Bench(**{**vars(run), "predicted": expected, "scatter": scatter}))
    return found


def at_random(scenario: Scenario) -> Scenario:
    """A deployment that is sent random tokens, as the bench sends them: drafts are accepted so.

    What the deployment states of its drafts holds.
    """
    workload = scenario.file.workload
    if workload.accepted_length or workload.acceptance:
        return scenario
    return _with(scenario, workload.model_copy(update={"text": "random"}))


def _runs(scenario: Scenario, of: Predicted, apart: bool) -> list[Bench]:
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
    found = [
        Bench("one", "a step alone: nothing waits, nothing is shared", 1, prompt, answer, FEWEST),
        Bench("half", "concurrency: half of the requests that are planned",
              max(1, users // 2), prompt, answer, many(max(1, users // 2), prompt, answer)),
        Bench("planned", "concurrency and lengths as the scenario has them", users, prompt, answer,
              planned)]
    if workload.arrival_rate:
        found.append(Bench("rate", "independent arrivals at the scenario's rate", users, prompt,
                           answer, planned,
                           rate=float(workload.arrival_rate.value)))
    if apart:
        return found
    least = int(workload.block_size.value)
    short, brief = max(1, prompt // 2), max(2, answer // 2)
    found.append(Bench("shorter", "lengths: half of either", users, short, brief,
                       many(users, short, brief)))
    mean = (int(prompt / (1 + SPREAD)), int(answer / (1 + SPREAD)))
    if min(mean) > 1:
        found.append(Bench("spread", "lengths that vary, uniform about two thirds of the planned",
                           users, *mean, many(users, *mean), spread=SPREAD))
    shared = int(prompt * SPREAD) // least * least
    if shared:
        found.append(Bench("prefix", "prefix share: prompts that begin alike", users, prompt,
                           answer, many(users, prompt, answer), shared=shared))
    return found


def of_closed_loop(scenario: Scenario, run: Bench) -> dict[str, Amount]:
    """As every measured row is predicted: by the closed form, or the scheduler for many waves.

    Args:
        scenario: the deployment.
        run: as many requests in flight as it says.
    """
    rows = {name: np.array([float(value)]) for name, value in run.asked.items()}
    rows |= {metric: np.array([math.nan]) for metric in METRICS}
    system = System(scenario, rows, {}, unequal=frozenset({0} if run.spread else ()),
                    limited=frozenset({0} if run.requests > run.concurrency else ()))
    if run.shared:
        system = system.with_inputs({"prefix_hit_share": run.shared / run.input_tokens})
    own, found = deviations(scenario), {}
    for metric in METRICS:
        if metric == "tpot" and run.output_tokens == 1:
            continue  # after its first token an answer of one has none
        made = uncalibrated(system, metric, own, np.array([0]))
        found[metric] = Amount(float(made.predicted[0]), float(made.low[0]),
                               float(made.high[0]), UNITS[metric])
    return found


def _at_rate(scenario: Scenario) -> dict[str, Amount]:
    of = predicted(scenario)
    return {"ttft": of.ttft, "tpot": of.tpot, "output_throughput": of.throughput}


def _of_pools(pools: Sequence[Pool], run: Bench) -> dict[str, Amount]:
    """A closed loop over both pools."""
    prefill, decode = pools[0].scenario, at_random(pools[1].scenario)
    workload = decode.file.workload
    asked = workload.model_copy(update={
        "concurrency": _like(workload.concurrency, run.concurrency), "think_time": None,
        "arrival_rate": None, "arrivals": "closed-loop"})
    seen = service_level_of_pools(prefill, _with(decode, asked))
    assert seen is not None  # users who ask again keep up
    return {"ttft": seen.ttft, "tpot": seen.tpot, "output_throughput": seen.throughput}


def _with(scenario: Scenario, workload: Any) -> Scenario:
    from dataclasses import replace

    return replace(scenario, file=scenario.file.model_copy(update={"workload": workload}))


def _like(value: Any, number: int) -> Any:
    """A stated value with another number."""
    from dataclasses import replace

    return replace(value, value=number, low=number, high=number, written=f"{number} request")


def tool_of(release: Release) -> Release:
    """The engine's own client, of the same release."""
    name = "sglang-bench" if release.name == "sglang" else "vllm-bench"
    tool = catalogue_of(name)
    versions = nearest_releases(tool,
                                release.version) if release.name == ASCEND else (release.version,)
    return Release(name, versions[-1], tuple((tool, each) for each in versions))


def command(run: Bench, pool: Pool, seed: int) -> list[Setting]:
    """The arguments of the client for one run.

    Raises ParamsError, one sentence, for what the release's client cannot do.
    """
    tool = tool_of(pool.release)
    found = [tool.take("--base-url", Variable(URL), ""),
             tool.take("--model", Variable(pool.model), ""),
             tool.take("--num-prompts", run.requests, ""), tool.take("--seed", seed, "")]
    if run.rate is not None:
        found.append(tool.take("--request-rate", run.rate, ""))
    elif run.requests > run.concurrency:
        found.append(tool.take("--max-concurrency", run.concurrency, ""))
    return found + (_sglang(run, tool) if tool.name == "sglang-bench"
                    else _vllm(run, tool, served_name(pool)))


def served_name(pool: Pool) -> str:
    """The name by which requests ask a pool's servers for the model, the operator's if given."""
    return str(next((each.value for each in pool.flags[0] if each.name == "--served-model-name"),
                    pool.scenario.model.id))


def _vllm(run: Bench, tool: Release, model: str) -> list[Setting]:
    ratio = run.spread
    if tool.judge("--random-range-ratio", 1.0) == "accepted" and not tool.has("--backend"):
        ratio = 1 - run.spread  # its first release counts the shortest over the longest
    found = [tool.take("--dataset-name", "random", ""),
             tool.take("--random-input-len", run.input_tokens - run.shared, ""),
             tool.take("--random-output-len", run.output_tokens, ""),
             tool.take("--random-range-ratio", ratio, "")]
    if run.shared:
        found.append(tool.take("--random-prefix-len", run.shared, ""))
    return [*found, tool.take("--ignore-eos", None, ""),
            tool.take("--served-model-name", model, ""),
            tool.take("--percentile-metrics", "ttft,tpot,itl,e2el", ""),
            tool.take("--save-result", None, ""),
            tool.take("--result-dir", Variable("RESULTS"), ""),
            tool.take("--result-filename", f"{run.name}.json", "")]


def _sglang(run: Bench, tool: Release) -> list[Setting]:
    output = [tool.take("--output-file", Variable("RESULTS", f"/{run.name}.jsonl"), "")]
    if run.shared:
        return [tool.take("--dataset-name", "generated-shared-prefix", ""),
                tool.take("--gsp-num-groups", 1, ""),
                tool.take("--gsp-prompts-per-group", run.requests, ""),
                tool.take("--gsp-system-prompt-len", run.shared, ""),
                tool.take("--gsp-question-len", run.input_tokens - run.shared, ""),
                tool.take("--gsp-output-len", run.output_tokens, ""), *output]
    # it draws from the ratio times the longest up to the longest
    longest = 1 + run.spread
    return [tool.first([("--dataset-name", "random-ids"), ("--dataset-name", "random")], ""),
            tool.take("--random-input-len", round(run.input_tokens * longest), ""),
            tool.take("--random-output-len", round(run.output_tokens * longest), ""),
            tool.take("--random-range-ratio", round((1 - run.spread) / longest, 4), ""), *output]


def files(pools: Sequence[Pool], runs: Sequence[Bench], about: Mapping[str, Any]
          ) -> dict[str, str]:
    """The plan with its predictions, and the script that measures it, by path.

    Args:
        pools: of the deployment.
        runs: of :func:`plan`.
        about: what the plan says of the deployment, so that results find back to it.
    """
    written = [{"name": run.name, "exercises": run.exercises, "asked": run.asked,
                "spread": run.spread, "shared": run.shared, "rate": run.rate,
                "scatter": dict(run.scatter),
                "predicted": {name: each.as_json() for name, each in run.predicted.items()}}
               for run in runs]
    return {"bench/plan.json": data_text({**about, "runs": written}),
            "bench/run.sh": _script(pools, runs)}


def _script(pools: Sequence[Pool], runs: Sequence[Bench]) -> str:
    entry = f"127.0.0.1:{ROUTER_PORT}" if routed(pools) else pools[0].addresses[0]
    tool, model = tool_of(pools[0].release), pools[-1].model
    called = ("python -m sglang.bench_serving" if tool.name == "sglang-bench"
              else "vllm bench serve")
    lines = ["#!/usr/bin/env bash",
             f"# {tool}: each run exercises an assumption; plan.json has what is predicted of it.",
             f"# {MADE}", "set -euo pipefail",
             'here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)',
             "# shellcheck source=/dev/null", '. "$here/../cluster.env"',
             f': "${{{model}:?set {model} in cluster.env}}"',
             f': "${{{URL}:=http://{entry}}}"', f'RESULTS="$here/{RESULTS}"',
             'mkdir -p "$RESULTS"', "",
             "# names of runs as arguments; without any, all of them",
             'wanted() { [ "$#" -eq 1 ] || [[ " ${*:2} " == *" $1 "* ]]; }']
    for number, run in enumerate(runs):
        words = "\n".join("    " + " ".join(setting.words)
                          for setting in command(run, pools[-1], number))
        lines += ["", f"# {comment(run.exercises)}", f'if wanted {run.name} "$@"; then',
                  "  run=(", words, "  )", f'  {called} "${{run[@]}}"', "fi"]
    return "\n".join(lines) + "\n"
