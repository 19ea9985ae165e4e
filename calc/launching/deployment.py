"""A deployment's whole directory: scripts, router, monitoring, bench, and what all rest on."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import calc
from calc.answer.estimate import Estimate, whole_counts
from calc.answer.estimate import predicted as predicted_range
from calc.answer.request_lengths import Longest, longest
from calc.answer.service import Service, estimate_service
from calc.answer.startup_line import POOLS
from calc.answer.steady_state import steady_state
from calc.launching import bench, monitoring, recipes
from calc.launching.layout import layouts
from calc.launching.monitoring import Watched, predicted_pools, watched
from calc.launching.scripts import (
    ENGINES,
    MADE,
    SESSION,
    Pool,
    check_pair,
    check_runs,
    cluster_file,
    named_ranks,
    node_files,
    pool_of,
    role_of,
    routed,
    router_files,
)
from calc.launching.settings import Release, comment, extra_settings, release_of
from calc.layouts.feasible import has_room, not_loaded
from calc.physics.kv_cache import beside_tokens
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, Scenario, load_deployment
from catalogue.caveats import unsourced
from catalogue.deployments.scenario import unasked
from catalogue.engines.released import fitting
from catalogue.reading.amounts import human, plain
from catalogue.reading.jsonfile import data_text

_SIGNS = str.maketrans({sign: f"\\{sign}" for sign in r"\`*_{}[]<>#|!&$"})
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


@dataclass(frozen=True)
class Deployment:
    """What is launched.

    Attributes:
        reference, overrides: how the scenario was named.
        pools: one, or two that prefill and decode.
        answers: what is estimated of each, by its name.
    """

    reference: str
    overrides: tuple[str, ...]
    pools: tuple[Pool, ...]
    answers: Mapping[str, Estimate]

    @functools.cached_property
    def watched(self) -> tuple[Watched, ...]:
        """Each with its predictions and alerts; what holds them is simulated."""
        return tuple(map(watched, self.pools, predicted_pools(self.whole)))

    @functools.cached_property
    def whole(self) -> Service:
        """All pools with what they give together."""
        return estimate_service([pool.scenario for pool in self.pools],
                                [self.answers[pool.name] for pool in self.pools])

    @functools.cached_property
    def started(self) -> Mapping[str, str]:
        """What starts and watches them, texts by path."""
        return _started(self.pools, self.watched)

    @functools.cached_property
    def recipes(self) -> Mapping[str, recipes.Comparison | None]:
        """Each pool beside the nearest published recipe, by its name; None without one."""
        return recipes.comparisons(self.pools)

    @functools.cached_property
    def runs(self) -> tuple[bench.Bench, ...]:
        """Runs of the benchmark."""
        return tuple(bench.plan(self.pools, [each.predicted for each in self.watched]))

    @functools.cached_property
    def files(self) -> Mapping[str, str]:
        """All texts by path."""
        return _files(self)


def deployment(reference: str, overrides: Iterable[str] = (), *, engine: str | None = None,
               hosts: Sequence[str] = (), flags: Iterable[str] = (),
               variables: Iterable[str] = ()) -> Deployment:
    """Everything that starts and watches a scenario.

    >>> made = deployment("h200-r1-vllm-tp8")
    >>> sorted(made.files)[:2], [str(pool.release) for pool in made.pools]
    (['README.md', 'RECIPE.md'], ['vllm@0.11.0'])

    Args:
        reference: identifier or path of a scenario file.
        overrides: ``PATH=VALUE``, as for ``load_scenario``.
        engine: ``vllm@0.11.0``, in place of the scenario's own.
        hosts: names of nodes, in the order of pools and nodes; made up where none are given.
        flags, variables: ``--name=value`` and ``NAME=value`` that the operator adds.

    Raises ParamsError, one sentence, for a deployment that does not run as asked, an engine that
    is not known or named, and a setting that its release does not take.
    """
    settings = (*overrides, *((f"engine={engine}",) if engine else ()))
    pools = load_deployment(reference, overrides=settings)
    named = dict(zip(POOLS if len(pools) > 1 else ("serve",), pools, strict=True))
    return deployed(named, (reference, settings), hosts, (list(flags), list(variables)))


def deployed(named: Mapping[str, Scenario], about: tuple[str, tuple[str, ...]],
             hosts: Sequence[str] = (), added: tuple[list[str], list[str]] = ([], [])
             ) -> Deployment:
    """Everything that starts and watches scenarios that are loaded.

    Args:
        named: ``serve``, or ``prefill`` and ``decode``, each naming an engine.
        about: how they were named, and with which overrides.
        hosts: names of nodes.
        added: flags and variables of the operator.

    Raises ParamsError as :func:`deployment` does.
    """
    releases = {name: _release(scenario) for name, scenario in named.items()}
    answers = {name: calc.estimate(scenario) for name, scenario in named.items()}
    for name, scenario in named.items():
        check_runs(scenario, answers[name])
    most = {name: longest(scenario, answers[name].quantities["kv_blocks"],
                          beside_tokens(answers[name].everything),
                          answers[name].everything["block_tokens"])
            for name, scenario in named.items()}
    return Deployment(*about, _pools(named, releases, most, hosts, added), answers)


def check_start(named: Mapping[str, Scenario]) -> None:
    """Refuse scenarios that :func:`deployed` refuses, without predictions: memory and flags alone.

    Args:
        named: ``serve``, or ``prefill`` and ``decode``, each naming an engine.

    Raises ParamsError as :func:`deployment` does.
    """
    releases = {name: _release(scenario) for name, scenario in named.items()}
    for name, scenario in named.items():  # first what takes least
        ENGINES[releases[name].name].formats(scenario, releases[name], role_of(name))
    _pools(named, releases, {name: _room(scenario) for name, scenario in named.items()})


def _room(scenario: Scenario) -> Longest:
    """The longest request that a scenario's memory holds. Raises ParamsError where it holds too
    little, or where more arrives than is answered."""
    ranges = ((knob.name, knob.value.low, knob.value.high) for knob in scenario.knobs())
    stated = (scenario.id, scenario.model.id, scenario.file.workload.model_dump_json())
    return _room_of(_Asked((stated, *scenario.inputs().items(), *ranges), scenario))


@dataclass(frozen=True)
class _Asked:
    """A scenario by what its room for requests follows from: releases of an engine share it."""

    numbers: tuple[tuple[Any, ...], ...]
    scenario: Scenario = field(compare=False)


@functools.lru_cache(maxsize=256)
def _room_of(asked: _Asked) -> Longest:
    scenario = asked.scenario
    inputs, attention = scenario.inputs(), scenario.model.attention
    # of one pool of two it is for both to say whether they answer what arrives
    arriving = bool(inputs["open_arrivals"] or inputs["think_time"]) and not unasked(inputs)
    everything = evaluate(inputs, attention, decode=arriving)
    if not has_room(everything) or not_loaded(scenario) or (
            scenario.file.workload.output_tokens is None) or (
            arriving and not steady_state(scenario, inputs, everything).keeps_up):
        check_runs(scenario, calc.estimate(scenario))  # says why, and what would run
    return longest(scenario, whole_counts(predicted_range(scenario, ["kv_blocks"])["kv_blocks"]),
                   beside_tokens(everything), everything["block_tokens"])


def _pools(named: Mapping[str, Scenario], releases: Mapping[str, Release],
           most: Mapping[str, Longest], hosts: Sequence[str] = (),
           added: tuple[list[str], list[str]] = ([], [])) -> tuple[Pool, ...]:
    """Pools on hosts that a router joins; names are made up where none are given."""
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise ParamsError(f"--hosts: {host[:60]!r} is no name of a host, expected letters, "
                              "digits, '.' and '-'.")
    if hosts and len(set(hosts)) < len(hosts):
        raise ParamsError("--hosts: a name stands twice, expected one per node.")
    left, found = list(hosts), list[Pool]()
    lie = layouts(named)
    nodes = sum(of.nodes - of.shares for of in lie.values())
    if hosts and len(hosts) != nodes:
        raise ParamsError(f"--hosts: {len(hosts)} names, expected {nodes}, one per node.")
    for name, of in lie.items():
        own = [found[-1].hosts[-1]] if of.shares else []
        new = range(len(own), of.nodes)
        own += [left.pop(0) if hosts else f"{name}-{node}" for node in new]
        found.append(pool_of(name, named, releases[name], own, most[name],
                             extra_settings(releases[name], *added)))
    if len({str(pool.release) for pool in found}) > 1:
        raise ParamsError("the two pools name two engines, expected one for both.")
    if len(found) > 1:
        _hold_drafts(**named)
        check_pair(*found)
    router_files(found)  # refuses pools that nothing joins
    return tuple(found)


def _hold_drafts(prefill: Scenario, decode: Scenario) -> None:
    """Refuse a prefill pool whose memory does not hold the layer by which the decode pool drafts.

    Raises ParamsError, one sentence.
    """
    drafting = {name: value for name, value in decode.inputs().items() if name.startswith("draft")}
    inputs = prefill.inputs() | drafting
    if not has_room(evaluate(inputs, prefill.model.attention, decode=False)):
        raise ParamsError(f"'{prefill.id}': the layer that drafts for '{decode.id}' is loaded here "
                          "too, to fill its cache, and leaves too little memory; expected more "
                          "cards, fewer requests, or draft_tokens: 0.")


def _release(scenario: Scenario) -> Release:
    """The engine that a scenario names. Raises ParamsError where it names none that is known."""
    fit = [name for name in fitting(scenario.device) if name in ENGINES]
    hint = (f"expected --engine with one of {', '.join(fit)} and a release, such as "
            f"{_example(fit[0])}" if fit else "no engine of the catalogue runs on it")
    if scenario.running is None:
        raise ParamsError(f"'{scenario.id}' names no engine, and on '{scenario.device.id}' "
                          f"{hint}.")
    if scenario.running.profile.id not in ENGINES:
        raise ParamsError(f"'{scenario.id}': the flags of '{scenario.running.profile.id}' are not "
                          f"in the catalogue, {hint}.")
    return release_of(scenario.running.profile.id,
                      scenario.running.requested or scenario.running.release)


def _example(name: str) -> str:
    """The newest release of an engine that is no candidate."""
    versions = release_of(name, "0.11.0").by[0][0].versions if name != "sglang" else (
        release_of(name, "0.5.9").by[0][0].versions)
    return f"{name}@{[each for each in versions if 'rc' not in each][-1]}"


def _started(pools: Sequence[Pool], of: Sequence[Watched]) -> dict[str, str]:
    found = {"cluster.env": cluster_file(pools)}
    for pool in pools:
        found |= node_files(pool)
    return found | router_files(pools) | monitoring.files(of)


def _files(made: Deployment) -> dict[str, str]:
    pools, reference = made.pools, made.reference
    own = Path(reference.partition("#")[0])
    about = {"scenario": str(own.resolve()) + reference[len(str(own)):] if own.is_file()
             else reference, "overrides": list(made.overrides), "engine": str(pools[0].release)}
    found = {**made.started, **bench.files(pools, made.runs, about)}
    found["deployment.json"] = data_text(_summary(made.watched, about, made.answers))
    found[recipes.FILE] = recipes.page(made.recipes)
    return {"README.md": readme(made.watched, made.runs, routed(pools)), **found}


def _summary(of: Sequence[Watched], about: Mapping[str, Any], answers: Mapping[str, Estimate]
             ) -> dict[str, Any]:
    """What was assumed and predicted, for programs."""
    return {**about, "pools": {each.pool.name: {
        "nodes": list(each.pool.hosts), "servers": each.pool.addresses,
        "settings": [{"name": setting.name, "value": _plain(setting.value), "why": setting.why}
                     for setting in (*each.pool.variables[0], *each.pool.flags[0])],
        "predicted": each.predicted.as_json(),
        "startup_line": each.pool.startup and each.pool.startup.as_json(),
        "fits": answers[each.pool.name].fits,
        "alerts": {alert.name: {"above": alert.above, "threshold": alert.threshold,
                                "because": alert.because} for alert in each.alerts}}
        for each in of}}


def _plain(value: Any) -> Any:
    """A setting's value as JSON data; a variable by its name."""
    return f"${value.name}{value.after}" if hasattr(value, "after") else value


def text(words: str) -> str:
    """A text of a file as Markdown shows it, on one line.

    >>> text("<b>a</b> | `b`")
    '\\\\<b\\\\>a\\\\</b\\\\> \\\\| \\\\`b\\\\`'
    """
    return comment(words).translate(_SIGNS)


def readme(of: Sequence[Watched], runs: Sequence[bench.Bench], routed: bool) -> str:
    """The page.

    Args:
        of: the pools with their predictions.
        runs: of the bench.
        routed: whether a router stands before the servers.
    """
    pools = [each.pool for each in of]
    models = " and ".join(dict.fromkeys(f"`{pool.model}`" for pool in pools))
    lines = [f"# {text(pools[0].scenario.heading['en'])}", "",
             f"{text(pools[0].scenario.model.name['en'])} on {_cards(pools)}, {pools[0].release}. "
             f"{MADE}", "", *([text(told[0]), ""] if (told := unsourced(
                 pool.scenario for pool in pools)) else []),
             "## Start", "",
             f"1. Set {models} in `cluster.env`, the same on every node.",
             "2. Run on each node its script; the node with rank 0 of a server first.", "",
             "| node | script | runs |", "|---|---|---|",
             *(_node(pool, node) for pool in pools for node in range(pool.layout.nodes))]
    if routed:
        lines += ["", "3. Run `router/router.sh`; requests go to its port 8080."]
        if len(pools) == 1:
            rank = " and rank" if named_ranks(pools[0]) > 1 else ""
            lines += ["   It needs HAProxy 2. A request that names its session in the header "
                      f"`{SESSION}` returns to its server{rank}, where its prefix is."]
    lines += ["", "Further arguments of a script are passed on. `MASTER_ADDR` and `NODE_ADDR`, if "
              "set in the environment, hold before those of the node's file; engines listen there, "
              "which takes an IP address. The network of NCCL, HCCL, Gloo and Ray "
              "(`NCCL_SOCKET_IFNAME`, `HCCL_SOCKET_IFNAME`, `HCCL_IF_IP`, `GLOO_SOCKET_IFNAME`) "
              "is the site's and is not set here.", "",
              "## What is where", "",
              "| file | what |", "|---|---|",
              "| `nodes/` | a script and an environment per node |",
              *(["| `router/router.sh` | what stands before the servers |"] if routed else []),
              "| `monitoring/prometheus.yml`, `alerts.yml` | what is scraped; alerts with their "
              "thresholds |",
              "| `bench/run.sh`, `plan.json` | measurements, each of an assumption; what is "
              "predicted of it |",
              "| `deployment.json` | settings with their reasons, predictions, thresholds |",
              f"| `{recipes.FILE}` | where settings differ from the published recipe, and why |",
              "| `manifest.json` | sums: what is not changed may be written again |", "",
              "## What is predicted, with 80% intervals", ""]
    for each in of:
        lines += _predicted(each)
    lines += ["## What is assumed", "", *_assumed(of), "", "## What to measure", "",
              "`bench/run.sh` runs all of them, `bench/run.sh one half` those two. Then "
              "`python -m calc calibrate bench/results` sets what was measured beside what was "
              "predicted.", "",
              "| run | requests in flight | prompt | answer | exercises |", "|---|---|---|---|---|",
              *(f"| {run.name} | {run.concurrency:,} | {run.input_tokens:,} | "
                f"{run.output_tokens:,} | {text(run.exercises)} |" for run in runs)]
    return "\n".join(lines) + "\n"


def _cards(pools: Sequence[Pool]) -> str:
    """How many cards of which kind there are."""
    count: Counter[str] = Counter()
    for pool in pools:
        count[text(pool.scenario.device.name["en"])] += pool.scenario.devices
    return " and ".join(f"{number} × {name}" for name, number in count.items())


def _node(pool: Pool, node: int) -> str:
    parts = pool.layout.of_node(node)
    what = ", ".join(f"server {part.server}" + (f", rank {part.rank}" if pool.layout.span > 1
                                                 else "") + f", port {part.port}"
                     for part in parts)
    return f"| {pool.hosts[node]} | `nodes/{pool.node_name(node)}.sh` | {what} |"


def _predicted(each: Watched) -> list[str]:
    """Predictions of a pool, and the alerts that follow."""
    of = each.predicted
    rows = [("time to first token", of.ttft)] if each.pool.role != "decode" else []
    if each.pool.role == "prefill":
        rows.append(("prompts", of.requests))
    else:
        rows += [("time per output token", of.tpot), ("output throughput", of.throughput)]
    if of.occupied is not None:
        rows.append(("share of the KV cache", of.occupied))
    state = "a burst" if of.burst else "a steady state"
    lines = [f"`{each.pool.name}`, {state} with {human(of.in_flight)} requests in flight:", "",
             "| quantity | predicted |", "|---|---|",
             *(f"| {name} | {interval} |" for name, interval in rows), "",
             "| alert | fires | because |", "|---|---|---|"]
    lines += [f"| {alert.name} | {'above' if alert.above else 'below'} {plain(alert.threshold)} | "
              f"{text(alert.because)} |" for alert in each.alerts]
    if each.pool.startup is not None:
        role = each.pool.role
        lines += ["", text(each.pool.startup.words("none" if role == "both" else role)[0])]
    lines += [f"\nNot kept by the prediction: {text(words)}"
              for words in dict.fromkeys(broken.sentence for broken in each.broken)]
    return [*lines, ""]


def _assumed(of: Sequence[Watched]) -> list[str]:
    """What the predictions take for granted."""
    lines = []
    for each in of:
        scenario, name = each.pool.scenario, each.pool.name
        numbers = scenario.inputs()
        lines += [
            f"- `{name}`: prompts of {numbers['input_tokens']:,.0f} and answers of "
            f"{numbers['output_tokens']:,.0f} tokens on average; at most "
            f"{numbers['concurrency']:,.0f} requests in flight.",
            f"- `{name}`: a request has at most {each.pool.longest.tokens:,} tokens "
            f"({each.pool.longest.why}); {each.pool.longest.refused:.2%} are longer and refused.",
            f"- `{name}`: the prefix cache finds {numbers['prefix_hit_share']:.0%} of a prompt; "
            "more is faster."]
        if numbers["draft_tokens"]:
            lines.append(f"- `{name}`: {numbers['draft_tokens']:g} tokens drafted per step. The "
                         "bench sends random tokens, and predicts what is accepted of those.")
        shares = each.pool.layout
        if shares.servers > 1:
            lines.append(f"- `{name}`: {shares.servers} servers that share nothing: the scenario's "
                         "experts are cut within a replica, and an engine cuts them over all "
                         "replicas of one server.")
    quiet = {each.pool.name for each in of if each.predicted.occupied is None}
    lines += [f"- `{name}`: nothing is said of how full its cache is." for name in sorted(quiet)]
    return lines
