"""A launch: everything that starts, monitors and measures a deployment, and its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import calc
from calc.answer.request_lengths import longest
from calc.answer.service import POOLS, estimate_service
from calc.launching import bench, recipes
from calc.launching.bench import Bench
from calc.launching.containers import container_files
from calc.launching.monitoring import (
    Watched,
    down_rules,
    predicted_pools,
    rules,
    scrapes,
    watched,
)
from calc.launching.recipes import Comparison
from calc.launching.scripts import (
    models_of,
    networked,
    nodes_of,
    rdma_variable,
    render,
    scripts,
)
from calc.launching.server import extra_settings
from calc.launching.server import plain as plain_value
from calc.launching.starting import (
    ENGINES,
    ROUTER_PORT,
    Pool,
    check_runs,
    named_ranks,
    pools_of,
    release_named,
    routed,
    title_of,
)
from catalogue import Scenario, load_deployment
from catalogue.deployments.admission import unsourced
from catalogue.engine import has_profile, unknown_engine
from catalogue.reading.files import ParamsError
from catalogue.reading.jsonfile import data_text


@dataclass(frozen=True)
class Launch:
    """Everything that starts, monitors and measures a deployment.

    Attributes:
        scenario, overrides, engine: how it was named.
        pools: one, or two that prefill and decode.
        watched: the pools with predictions and alerts.
        comparisons: of each pool with the nearest published recipe, by name; None without one.
        runs: of the benchmark.
        files: texts by path in the directory.
    """

    scenario: str
    overrides: tuple[str, ...]
    engine: str
    pools: tuple[Pool, ...]
    watched: tuple[Watched, ...]
    comparisons: Mapping[str, Comparison | None]
    runs: tuple[Bench, ...]
    files: Mapping[str, str]


def deployment(reference: str, overrides: Iterable[str] = (), *, engine: str | None = None,
               hosts: Sequence[str] = (), flags: Iterable[str] = (),
               variables: Iterable[str] = (), language: str = "en") -> Launch:
    """The launch of a scenario.

    >>> launch = deployment("h200-r1-vllm-tp8")
    >>> sorted(launch.files)[:2], launch.engine
    (['README.md', 'RECIPE.md'], 'vllm@0.11.0')

    Args:
        reference: identifier or path of a scenario file.
        overrides: ``PATH=VALUE``, as for ``load_scenario``.
        engine: ``vllm@0.11.0``, in place of the scenario's own.
        hosts: names of nodes, in the order of pools and nodes; made up where none are given.
        flags, variables: ``--name=value`` and ``NAME=value`` that the operator adds.
        language: of RECIPE.md and of comments in the Compose file and the manifests.

    Raises ParamsError, one sentence, for a deployment that does not run as asked, an engine that
    is not known or named, and a setting that its release does not take.
    """
    named, settings = named_pools(reference, overrides, engine)
    return deployed(named, (reference, settings), hosts, (list(flags), list(variables)), language)


def named_pools(reference: str, overrides: Iterable[str] = (), engine: str | None = None
               ) -> tuple[dict[str, Scenario], tuple[str, ...]]:
    """Scenarios of a deployment by the names of its pools, and all overrides.

    Arguments as of :func:`deployment`.
    """
    settings = (*overrides, *((f"engine={engine}",) if engine else ()))
    if engine and not has_profile(engine):
        raise ParamsError(f"--engine: {unknown_engine(engine.partition('@')[0])}; deploy writes "
                          f"{', '.join(ENGINES)}.")
    pools = load_deployment(reference, overrides=settings)
    names = POOLS if len(pools) > 1 else ("serve",)
    return dict(zip(names, pools, strict=True)), settings


def started_pools(named: Mapping[str, Scenario], hosts: Sequence[str] = (),
                  added: tuple[list[str], list[str]] = ([], [])
                  ) -> tuple[tuple[Pool, ...], dict[str, Any]]:
    """Pools that run as asked, and the estimate of each by name.

    Arguments and errors as of :func:`deployed`.
    """
    for scenario in named.values():
        release_named(scenario)
    answers = {name: calc.estimate(scenario) for name, scenario in named.items()}
    for name, scenario in named.items():
        check_runs(scenario, answers[name])
    most = {name: longest(scenario, answers[name].quantities["kv_blocks"],
                          answers[name].everything) for name, scenario in named.items()}
    return pools_of(named, most, hosts, added), answers


def deployed(named: Mapping[str, Scenario], reference: tuple[str, tuple[str, ...]],
             hosts: Sequence[str] = (), added: tuple[list[str], list[str]] = ([], []),
             language: str = "en") -> Launch:
    """The launch of scenarios that are loaded.

    Args:
        named: ``serve``, or ``prefill`` and ``decode``, each naming an engine.
        reference: how they were named, and with which overrides.
        hosts: names of nodes.
        added: flags and variables of the operator.
        language: of comments, as for :func:`deployment`.

    Raises ParamsError as :func:`deployment` does.
    """
    pools, answers = started_pools(named, hosts, added)
    service = estimate_service([pool.scenario for pool in pools],
                               [answers[pool.name] for pool in pools])
    of = tuple(map(watched, pools, predicted_pools(service)))
    name = Path(reference[0].partition("#")[0])
    scenario = (str(name.resolve()) + reference[0][len(str(name)):] if name.is_file()
                else reference[0])
    runs = tuple(bench.plan(pools, [pool.predicted for pool in of]))
    launch = Launch(scenario, reference[1], str(pools[0].release), pools, of,
                    {pool.name: recipes.compare(pool) for pool in pools}, runs, {})
    return replace(launch, files=files_of(launch, language) | container_files(
        of, language, extra_settings(pools[0].release, *added)))


def files_of(launch: Launch, language: str) -> dict[str, str]:
    """Files of a launch without containers, by path."""
    pools = launch.pools
    source = {"scenario": launch.scenario, "overrides": list(launch.overrides),
              "engine": launch.engine}
    entry = f"127.0.0.1:{ROUTER_PORT}" if routed(pools) else pools[0].addresses[0]
    cards: Counter[str] = Counter()
    for pool in pools:
        cards[pool.scenario.device.name["en"]] += pool.scenario.devices
    caveat = unsourced(pool.scenario for pool in pools)
    readme = render(
        "README.md", launch=launch, title=title_of(pools), cards=cards,
        model_name=pools[0].scenario.model.name["en"], unsourced=caveat and caveat[0],
        models=models_of(pools), nodes=[node for pool in pools for node in nodes_of(pool)],
        routed=routed(pools), ranks=named_ranks(pools[0]), entry=entry,
        networked=networked(pools), rdma=rdma_variable(pools),
        down={pool.name: down_rules(pool) for pool in pools},
        inputs={pool.name: pool.scenario.inputs() for pool in pools})
    compared = list(zip(recipes.lines(launch.comparisons), launch.comparisons.values(),
                        strict=False))
    return {
        "README.md": readme, **scripts(pools),
        "monitoring/prometheus.yml": render("prometheus.yml", scrapes=scrapes(pools)),
        "monitoring/alerts.yml": render("alerts.yml", rules=rules(launch.watched)),
        "bench/plan.json": data_text({**source, "runs": [run.as_json() for run in launch.runs]}),
        "bench/run.sh": render("run.sh", runs=launch.runs, entry=entry, model=pools[-1].model,
                               client=bench.tool_of(pools[0].release)),
        "deployment.json": data_text({**source, "pools": pools_as_json(launch)}),
        recipes.FILE: render(f"RECIPE.{language}.md", compared=compared).rstrip("\n") + "\n"}


def pools_as_json(launch: Launch) -> dict[str, Any]:
    """Assumptions and predictions of each pool as plain data, SI units."""
    return {of.pool.name: {
        "nodes": list(of.pool.hosts), "servers": of.pool.addresses,
        "settings": [{"name": setting.name, "value": plain_value(setting.value),
                      "why": setting.why}
                     for setting in (*of.pool.variables[0], *of.pool.flags[0])],
        "predicted": of.predicted.as_json(), "startup_line": of.startup and of.startup.as_json(),
        "longest": of.pool.longest.tokens, "refused": of.pool.longest.refused,
        "unkept": {limit.quantity: limit.sentence for limit in of.exceeded},
        "alerts": {alert.name: {"above": alert.above, "threshold": alert.threshold,
                                "because": alert.because} for alert in of.alerts}}
        for of in launch.watched}
