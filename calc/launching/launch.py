"""A launch: everything that starts, monitors and measures a deployment, and its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jinja2
import yaml

import calc
from calc.answer.request_lengths import longest
from calc.answer.service import POOLS, estimate_service
from calc.launching import bench, recipes, vllm
from calc.launching.bench import Bench
from calc.launching.monitoring import Watched, predicted_pools, rules, scrapes, watched
from calc.launching.recipes import Comparison
from calc.launching.server import Part, Setting, comment, words
from calc.launching.server import plain as plain_value
from calc.launching.starting import (
    ROUTER_PORT,
    Pool,
    check_runs,
    checkpoint_of,
    drafter_of,
    named_ranks,
    pools_of,
    release_named,
    routed,
    router_of,
)
from calc.yamltext import PlainDumper
from catalogue import Scenario, load_deployment
from catalogue.deployments.admission import unsourced
from catalogue.entries.models import DSPARK, Served
from catalogue.reading.jsonfile import data_text
from catalogue.reading.units import human, plain

HEADER = "Written by python -m calc deploy, which overwrites no file changed since (manifest.json)."
SIGNS = str.maketrans({sign: f"\\{sign}" for sign in r"\`*_{}[]<>#|!&$"})


@dataclass(frozen=True)
class Node:
    """One node: its script and its environment.

    Attributes:
        name, host: of its files, and of the machine.
        first: host of the first node of its server.
        pool: that it belongs to.
        ray: whether the nodes of a server meet in a Ray cluster.
        command: that starts a server, before its arguments.
        servers: that it runs, or takes part in: its part, arguments, and variables of its own.
        variables: environment of all of them.
    """

    name: str
    host: str
    first: str
    pool: Pool
    ray: bool
    command: str
    servers: tuple[tuple[Part, tuple[Setting, ...], tuple[Setting, ...]], ...]
    variables: tuple[Setting, ...]


@dataclass(frozen=True)
class Model:
    """A checkpoint that the operator names.

    Attributes:
        variable: that names it.
        scenario: that loads it.
        repository: of the published checkpoint; empty where none is known.
        served: who is shown to start it; None where nobody is.
        description: of the checkpoint; None where there is nothing to say.
    """

    variable: str
    scenario: Scenario
    repository: str
    served: Served | None
    description: str | None


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
               variables: Iterable[str] = ()) -> Launch:
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

    Raises ParamsError, one sentence, for a deployment that does not run as asked, an engine that
    is not known or named, and a setting that its release does not take.
    """
    named, settings = named_pools(reference, overrides, engine)
    return deployed(named, (reference, settings), hosts, (list(flags), list(variables)))


def named_pools(reference: str, overrides: Iterable[str] = (), engine: str | None = None
               ) -> tuple[dict[str, Scenario], tuple[str, ...]]:
    """Scenarios of a deployment by the names of its pools, and all overrides.

    Arguments as of :func:`deployment`.
    """
    settings = (*overrides, *((f"engine={engine}",) if engine else ()))
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
             hosts: Sequence[str] = (), added: tuple[list[str], list[str]] = ([], [])) -> Launch:
    """The launch of scenarios that are loaded.

    Args:
        named: ``serve``, or ``prefill`` and ``decode``, each naming an engine.
        reference: how they were named, and with which overrides.
        hosts: names of nodes.
        added: flags and variables of the operator.

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
    return replace(launch, files=files_of(launch))


# --- files ----------------------------------------------------------------------------------------


TEMPLATES = jinja2.Environment(  # with delimiters that neither shells nor Markdown use
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=jinja2.StrictUndefined, variable_start_string="<<", variable_end_string=">>",
    block_start_string="<%", block_end_string="%>", comment_start_string="<#",
    comment_end_string="#>", trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
TEMPLATES.globals["made"] = HEADER
TEMPLATES.filters |= {
    "comment": comment, "human": human, "plain": plain,
    "markdown": lambda text: comment(text).translate(SIGNS),
    "words": lambda setting: " ".join(words(setting)),
    "yaml": lambda data: yaml.dump(data, Dumper=PlainDumper, sort_keys=False, allow_unicode=True,
                                   width=100),
    "cell": lambda text: comment(text).replace("|", "\\|").replace("<", "\\<"),
    "code": lambda text: comment(text).replace("`", "'").replace("|", "¦")}


def render(template: str, **values: Any) -> str:
    """A file from its template."""
    return TEMPLATES.get_template(f"{template}.j2").render(values)


def scripts(pools: Sequence[Pool]) -> dict[str, str]:
    """What starts the pools and their router, texts by path."""
    router = router_of(pools) if len(pools) > 1 else None
    files = {"cluster.env": render("cluster.env", models=models_of(pools),
                                   store=router and router.store)}
    for node in (node for pool in pools for node in nodes_of(pool)):
        files |= {f"nodes/{node.name}.sh": render("node.sh", node=node),
                  f"nodes/{node.name}.env": render("node.env", node=node)}
    return files | router_files(pools)


def router_files(pools: Sequence[Pool]) -> dict[str, str]:
    """The script of the router and its configuration, by path; none where there is one server."""
    title = pools[0].scenario.heading["en"]
    if len(pools) > 1:
        return {"router/router.sh": render("router.sh", router=router_of(pools), title=title)}
    if not routed(pools):
        return {}
    return {"router/haproxy.cfg": render(
        "haproxy.cfg", title=title, ranks=named_ranks(pools[0]), addresses=pools[0].addresses),
        "router/router.sh": render("haproxy.sh", title=title)}


def nodes_of(pool: Pool) -> list[Node]:
    """The nodes of a pool."""
    command = f'vllm serve "${pool.model}"'
    if pool.release.name == "sglang":
        command = f'python -m sglang.launch_server --model-path "${pool.model}"'
        if drafter_of(pool) == DSPARK:  # in the checkpoint
            command += f' --speculative-draft-model-path "${pool.model}"'
    ray = pool.release.name in vllm.NAMES and vllm.ray(pool.layout, pool.release)
    nodes = []
    for number, host in enumerate(pool.hosts):
        servers = [server for server in zip(pool.layout.parts, pool.flags, pool.variables,
                                            strict=True) if server[0].node == number]
        first, _, variables = servers[0]
        shared = tuple(setting for setting in variables
                       if all(setting in others for _, _, others in servers))
        nodes.append(Node(
            f"{pool.name}-{number}", host, pool.hosts[number - first.rank], pool, ray, command,
            tuple((part, flags, tuple(setting for setting in own if setting not in shared))
                  for part, flags, own in servers), shared))
    return nodes


def models_of(pools: Sequence[Pool]) -> list[Model]:
    """The checkpoints that pools load: of published ones, one that the engine is shown to start."""
    models = []
    for pool in {pool.model: pool for pool in pools}.values():
        checkpoint, description = checkpoint_of(pool)
        served = [] if checkpoint is None else [
            served for served in checkpoint.served if served.engine == pool.release.name]
        models.append(Model(
            pool.model, pool.scenario, str(checkpoint.repository) if checkpoint else "",
            next(iter(served), None), description[0] if description else None))
    return models


def files_of(launch: Launch) -> dict[str, str]:
    """All files of a launch, by path."""
    pools = launch.pools
    source = {"scenario": launch.scenario, "overrides": list(launch.overrides),
              "engine": launch.engine}
    entry = f"127.0.0.1:{ROUTER_PORT}" if routed(pools) else pools[0].addresses[0]
    cards: Counter[str] = Counter()
    for pool in pools:
        cards[pool.scenario.device.name["en"]] += pool.scenario.devices
    caveat = unsourced(pool.scenario for pool in pools)
    readme = render(
        "README.md", launch=launch, title=pools[0].scenario.heading["en"], cards=cards,
        model_name=pools[0].scenario.model.name["en"], unsourced=caveat and caveat[0],
        models=models_of(pools), nodes=[node for pool in pools for node in nodes_of(pool)],
        routed=routed(pools), ranks=named_ranks(pools[0]),
        inputs={pool.name: pool.scenario.inputs() for pool in pools})
    compared = list(zip(recipes.lines(launch.comparisons), launch.comparisons.values(),
                        strict=False))
    pages = "".join(render(f"RECIPE.{language}.md", compared=compared) for language in ("en", "zh"))
    return {
        "README.md": readme, **scripts(pools),
        "monitoring/prometheus.yml": render("prometheus.yml", scrapes=scrapes(pools)),
        "monitoring/alerts.yml": render("alerts.yml", rules=rules(launch.watched)),
        "bench/plan.json": data_text({**source, "runs": [run.as_json() for run in launch.runs]}),
        "bench/run.sh": render("run.sh", runs=launch.runs, entry=entry, model=pools[-1].model,
                               client=bench.tool_of(pools[0].release)),
        "deployment.json": data_text({**source, "pools": pools_as_json(launch)}),
        recipes.FILE: pages.removesuffix("\n")}


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
