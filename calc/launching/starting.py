"""Pools of servers: settings of each node, their router, and which release starts them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import calc
from calc.answer.estimate import Estimate, whole_counts
from calc.answer.estimate import predicted as predicted_range
from calc.answer.request_lengths import Longest, longest
from calc.answer.steady_state import steady_state
from calc.launching import sglang, vllm
from calc.launching.server import (
    ASCEND,
    BOOTSTRAP_PORT,
    STORE_PORT,
    Layout,
    Release,
    Setting,
    Target,
    check_pair,
    check_settings,
    extra_settings,
    layouts,
    nearest,
    over,
    release_of,
)
from calc.layouts.feasible import has_room, not_loaded
from calc.layouts.layout import Row, Start, set_line
from calc.many.processes import OnProgress, silent
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, Scenario, load_device, load_model, load_precision
from catalogue.deployments.admission import cut_of, layout_problem, subject_of
from catalogue.deployments.scenario import heading_of, unasked
from catalogue.engine import AT, CANDIDATE, catalogue_of, fitting, load_engine
from catalogue.entries.models import DRAFTERS, OWN_LAYER, Checkpoint
from catalogue.entries.profiles import in_order
from catalogue.kernels import checkpoint_for, checkpoint_words, kernels_of, tables
from catalogue.planning import Goal

if TYPE_CHECKING:
    from calc.searching.report import SearchReport
    from calc.searching.selection import Selection

ENGINES = {"vllm": vllm, "vllm-ascend": vllm, "sglang": sglang}
EXAMPLES = {"sglang": "0.5.9"}  # a release that is in the catalogue; of others 0.11.0
MODEL = "MODEL"
ROUTER_PORT = 8080
MINI, SGLANG, VLLM, PROXY = "sglang-lb", "sglang-router", "vllm-router", "vllm-ascend-proxy"
FASTER = ("requests arrive faster than they are answered, the queue grows without end; nothing can "
          "be predicted of it.")
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")


class Overloaded(ParamsError):
    """A deployment that receives more requests than it serves."""


@dataclass(frozen=True)
class Pool:
    """One pool of servers.

    Attributes:
        name: ``serve``, or ``prefill`` and ``decode`` of two.
        scenario: what it runs.
        release: with which engine.
        layout: on which nodes.
        longest: of its requests.
        hosts: their names, in order.
        flags, variables: settings of each part, as the layout has them.
        model: variable that names its checkpoint.
    """

    name: str
    scenario: Scenario
    release: Release
    layout: Layout
    longest: Longest
    hosts: tuple[str, ...]
    flags: tuple[tuple[Setting, ...], ...]
    variables: tuple[tuple[Setting, ...], ...]
    model: str = MODEL

    @property
    def role(self) -> str:
        """``both``, ``prefill`` or ``decode``."""
        return role_of(self.name)

    @property
    def addresses(self) -> list[str]:
        """Where its servers answer, ``host:port``."""
        return [f"{self.hosts[part.node]}:{part.port}" for part in self.layout.heads]


def title_of(pools: Sequence[Pool]) -> str:
    """Title of a deployment of one pool or two."""
    return heading_of([pool.scenario for pool in pools])["en"]


def role_of(name: str) -> str:
    """Role of a pool by its name: ``both``, ``prefill`` or ``decode``."""
    return "both" if name == "serve" else name


def pools_of(named: Mapping[str, Scenario], most: Mapping[str, Longest],
             hosts: Sequence[str] = (), added: tuple[Iterable[str], Iterable[str]] = ((), ())
             ) -> tuple[Pool, ...]:
    """Pools on hosts that a router joins.

    Args:
        named: ``serve``, or ``prefill`` and ``decode``, each naming an engine.
        most: the longest request of each.
        hosts: names of nodes; made up where none are given.
        added: flags and variables of the operator, ``--name=value`` and ``NAME=value``.

    Raises ParamsError, one sentence, for what cannot be started.
    """
    for host in hosts:
        if not _HOST.fullmatch(host):
            raise ParamsError(f"--hosts: {host[:60]!r} is no name of a host, expected letters, "
                              "digits, '.' and '-'.")
    if len(set(hosts)) < len(hosts):
        raise ParamsError("--hosts: a name stands twice, expected one per node.")
    left, pools, placed = list(hosts), list[Pool](), layouts(named)
    nodes = sum(of.nodes - of.shares for of in placed.values())
    if hosts and len(hosts) != nodes:
        raise ParamsError(f"--hosts: {len(hosts)} names, expected {nodes}, one per node.")
    for name, of in placed.items():
        own = [pools[-1].hosts[-1]] if of.shares else []
        own += [left.pop(0) if hosts else f"{name}-{node}" for node in range(len(own), of.nodes)]
        release = release_named(named[name])
        pools.append(pool_of(name, named, release, own, most[name],
                             extra_settings(release, *added)))
    if len({str(pool.release) for pool in pools}) > 1:
        raise ParamsError("the two pools name two engines, expected one for both.")
    if len(pools) > 1:
        check_drafts(**named)
        check_pair(pools[-1].release, {
            pool.name: (pool.scenario, pool.flags[0], pool.variables[0]) for pool in pools})
        router_of(pools)  # refuses pools that nothing joins
    return tuple(pools)


def pool_of(name: str, named: Mapping[str, Scenario], release: Release, hosts: Sequence[str],
            most: Longest, given: tuple[Iterable[Setting], Iterable[Setting]] = ((), ()),
            placed: Mapping[str, Layout] | None = None) -> Pool:
    """A pool with the settings of each of its nodes.

    Args:
        name: ``serve``, ``prefill`` or ``decode``.
        named: the scenarios of all pools, by name.
        release: of the engine.
        hosts: names of nodes, at least as many as it needs.
        most: the longest request.
        given: flags and variables that replace those derived.
        placed: layouts of all pools, by name; by default side by side on as few nodes as possible.

    Raises ParamsError, one sentence, for what the release cannot do, and for settings that it takes
    one by one and does not start with together.
    """
    scenario, placed = named[name], placed or layouts(named)
    if scenario.file.offload is not None:
        raise ParamsError(f"'{scenario.id}': experts that are not on the cards need an engine "
                          "that is not in the catalogue, expected no offload.")
    if scenario.running and (problem := layout_problem(
            scenario.running, subject_of(scenario), cut_of(scenario))):
        raise ParamsError(f"{problem.text['en']}.")
    of = placed[name]
    if len(hosts) < of.nodes:
        raise ParamsError(f"--hosts: {len(hosts)} for the {of.nodes} nodes of '{name}', expected "
                          "a name for each.")
    engine = ENGINES[release.name]
    targets = [Target(scenario, scenario.inputs(), of, part, release, role_of(name), most, placed)
               for part in of.parts]
    own = [engine.flags(target) for target in targets]
    if name == "prefill" and not engine.drafts(targets[0]):
        why = "the decode pool drafts, by a layer whose cache of prompts comes from here"
        decode = replace(targets[0], scenario=named["decode"], inputs=named["decode"].inputs())
        drafts = [replace(setting, why=why) for setting in engine.drafts(decode)]
        own = [[*flags, *drafts] for flags in own]
    flags, variables = (list(settings) for settings in given)
    flagged = [tuple(over(settings, flags)) for settings in own]
    around = [tuple(over(engine.variables(target), variables)) for target in targets]
    for settings in zip(flagged, around, strict=True):
        check_settings(scenario, release, *settings)
    checkpoints = {(pool.model.id, *pool.precision.weights.model_dump().values())
                   for pool in named.values()}
    return Pool(name, scenario, release, of, most, tuple(hosts[:of.nodes]), tuple(flagged),
                tuple(around), MODEL if len(checkpoints) == 1 else f"{name.upper()}_{MODEL}")


def check_drafts(prefill: Scenario, decode: Scenario) -> None:
    """Refuse a prefill pool whose memory does not hold the layer by which the decode pool drafts.

    Raises ParamsError, one sentence.
    """
    drafting = {name: value for name, value in decode.inputs().items() if name.startswith("draft")}
    inputs = prefill.inputs() | drafting
    if not has_room(evaluate(inputs, prefill.model.attention, decode=False)):
        raise ParamsError(f"'{prefill.id}': the layer that drafts for '{decode.id}' is loaded here "
                          "too, to fill its cache, and leaves too little memory; expected more "
                          "cards, fewer requests, or draft_tokens: 0.")


def release_named(scenario: Scenario) -> Release:
    """The release that a scenario names. Raises ParamsError where it names none that is known."""
    if scenario.running is not None and scenario.running.profile.id in ENGINES:
        return release_of(scenario.running.profile.id,
                          scenario.running.requested or scenario.running.release)
    hint = "no engine of the catalogue runs on it"
    if names := [name for name in fitting(scenario.device) if name in ENGINES]:
        engine, _ = release_of(names[0], EXAMPLES.get(names[0], "0.11.0")).by[0]
        newest = [version for version in engine.versions if "rc" not in version][-1]
        hint = (f"expected --engine with one of {', '.join(names)} and a release, such as "
                f"{names[0]}@{newest}")
    if scenario.running is None:
        raise ParamsError(f"'{scenario.id}' names no engine: on '{scenario.device.id}', {hint}.")
    raise ParamsError(f"'{scenario.id}': the flags of '{scenario.running.profile.id}' are not "
                      f"in the catalogue, {hint}.")


def checkpoint_of(pool: Pool) -> tuple[Checkpoint | None, str | None]:
    """The published checkpoint that a pool starts with, and its description."""
    scenario = pool.scenario
    key = (scenario.model, scenario.precision, pool.release.name, scenario.device, drafter_of(pool))
    return checkpoint_for(*key), checkpoint_words(*key)


def drafter_of(pool: Pool) -> str | None:
    """How a pool drafts, as ``checkpoint_for`` has it; a prefill pool as its decode pool does."""
    flags = {setting.name: setting.value for setting in pool.flags[0]}
    config = flags.get("--speculative-config") or {}
    method = str(config.get("method") or flags.get("--speculative-algorithm", "")).lower()
    return method if method in DRAFTERS else OWN_LAYER if method else None


# --- routers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Router:
    """A router between a prefill and a decode pool.

    Attributes:
        release: its kind, in a release.
        settings: its flags.
        store: address at which cards of Ascend find each other's caches under SGLang; None else.
    """

    release: Release
    settings: tuple[Setting, ...]
    store: str | None


def routed(pools: Sequence[Pool]) -> bool:
    """Whether requests have more than one server, or a prefix to return to."""
    return len(pools) > 1 or pools[0].layout.servers > 1 or named_ranks(pools[0]) > 1


def named_ranks(pool: Pool) -> int:
    """Ranks of a server, each with prefixes of its own, one of which a request may name in a header
    [1]: under vLLM since 0.11.0 (its pull request 24945), under SGLang (19832) in the releases that
    name ranks of attention; else 1."""
    release = pool.release
    takes = (release.has("--attn-dp-size", 2) if release.name == "sglang"
             else in_order(release.version) >= in_order("0.11.0"))
    return pool.layout.joined if takes and pool.scenario.inputs()["prefix_hit_share"] > 0 else 1


def router_of(pools: Sequence[Pool]) -> Router:
    """The router of two pools: of the engine's kind, uploaded nearest to its release.

    >>> nearest(SGLANG, "2025-10-16").version
    '0.2.4'

    Raises ParamsError, one sentence, where no router of the catalogue knows the pools.
    """
    engine = pools[0].release
    kind = {ASCEND: PROXY, "sglang": MINI}.get(engine.name, VLLM)
    tool = catalogue_of(kind)
    if kind != VLLM and engine.version in tool.versions:
        release = Release(kind, engine.version, ((tool, engine.version),))
    elif kind == PROXY:
        raise ParamsError(f"{engine}: its source has no proxy between a prefill and a decode "
                          f"pool, expected {ASCEND}@{tool.versions[0]} or later, or one pool.")
    else:
        release = nearest(SGLANG if kind == MINI else VLLM,
                          catalogue_of(engine.name).release(engine.version).date)
    store = (f"tcp://{pools[0].hosts[0]}:{STORE_PORT}"
             if engine.name == "sglang" and pools[0].scenario.device.type == "npu" else None)
    rows = [*router_flags(pools[0], pools[1], release.name),
            ("--host", "0.0.0.0", "requests come from outside"),
            ("--port", ROUTER_PORT, "of the router")]
    return Router(release, tuple(release.take(*row) for row in rows), store)


def router_flags(prefill: Pool, decode: Pool, kind: str) -> list[tuple[str, Any, str]]:
    """Flags of a router that name the servers of both pools: name, value, reason."""
    why, ends = "servers that prefill", "servers that decode"
    urls = {pool.name: [f"http://{address}" for address in pool.addresses]
            for pool in (prefill, decode)}
    ports = [BOOTSTRAP_PORT + part.first for part in prefill.layout.heads]
    if kind == PROXY:
        return [(f"--{word}-{what}", [value(pool, part) for part in pool.layout.heads], reason)
                for pool, word, reason in (
                    (prefill, "prefiller", why), (decode, "decoder", ends))
                for what, value in (("hosts", lambda pool, part: pool.hosts[part.node]),
                                    ("ports", lambda _, part: part.port))]
    if kind == MINI:
        return [("--prefill", urls["prefill"], why),
                ("--prefill-bootstrap-ports", ports, "where decode asks them"),
                ("--decode", urls["decode"], ends)]
    sglang_router = kind == SGLANG
    return [("--pd-disaggregation" if sglang_router else "--vllm-pd-disaggregation", None,
             "prefill and decode apart"),
            *(("--prefill", [url, str(port)] if sglang_router else [url], why)
              for url, port in zip(urls["prefill"], ports, strict=True)),
            *(("--decode", [url], ends) for url in urls["decode"])]


# --- whether they start ---------------------------------------------------------------------------


def check_runs(scenario: Scenario, answer: Estimate) -> None:
    """Refuse what cannot be launched: it does not run as asked, or its load is not stated.

    Raises ParamsError, one sentence.
    """
    if not answer.fits and not answer.suffices_steadily:
        why = answer.reasons[0].text["en"].rstrip(".")
        nearest_fit = answer.nearest
        hint = f" The nearest that runs: {set_line(nearest_fit.settings)}." if nearest_fit else ""
        raise ParamsError(f"{scenario.id}: does not run as asked: {why}.{hint}")
    if answer.steady is None:
        raise ParamsError(f"'{scenario.id}' does not say how long its requests are, expected "
                          "--set workload.input_tokens=N --set workload.output_tokens=N.")
    if not answer.steady.keeps_up and not unasked(scenario.inputs()):
        raise Overloaded(f"'{scenario.id}': {FASTER}")


def check_start(named: Mapping[str, Scenario]) -> None:
    """Refuse scenarios that ``deploy`` refuses, without predictions: memory and flags alone.

    Args:
        named: ``serve``, or ``prefill`` and ``decode``, each naming an engine.

    Raises ParamsError, one sentence.
    """
    for name, scenario in named.items():  # first what takes least
        release = release_named(scenario)
        ENGINES[release.name].formats(scenario, release, role_of(name))
    pools_of(named, {name: room_for_requests(scenario) for name, scenario in named.items()})


@dataclass(frozen=True)
class _Request:
    """A scenario by the numbers of its room for requests: releases of an engine share it."""

    numbers: tuple[tuple[Any, ...], ...]
    scenario: Scenario = field(compare=False)


def room_for_requests(scenario: Scenario) -> Longest:
    """The longest request that a scenario's memory holds. Raises ParamsError where it holds too
    little, or where more arrives than is answered."""
    ranges = ((knob.name, knob.value.low, knob.value.high) for knob in scenario.knobs())
    stated = (scenario.id, scenario.model.id, scenario.file.workload.model_dump_json())
    return longest_of(_Request((stated, *scenario.inputs().items(), *ranges), scenario))


@functools.lru_cache(maxsize=256)
def longest_of(request: _Request) -> Longest:
    """The longest request that memory holds. Raises ParamsError as :func:`room_for_requests`."""
    scenario = request.scenario
    inputs, attention = scenario.inputs(), scenario.model.attention
    # of one pool of two it is for both to say whether they answer what arrives
    arriving = bool(inputs["open_arrivals"] or inputs["think_time"]) and not unasked(inputs)
    everything = evaluate(inputs, attention, decode=arriving)
    if not has_room(everything) or not_loaded(scenario) or (
            scenario.file.workload.output_tokens is None) or (
            arriving and not steady_state(scenario, inputs, everything).keeps_up):
        check_runs(scenario, calc.estimate(scenario))  # says why, and what would run
    return longest(scenario, whole_counts(predicted_range(scenario, ["kv_blocks"])["kv_blocks"]),
                   everything)


def start(goal: Goal, row: Row) -> Start:
    """The newest release that starts a deployment, as ``deploy`` writes it for a file of it.

    Each release is asked in turn whether it runs the formats, loads the layout, takes every flag
    and asserts nothing against them together; candidates of a release after all others.

    Args:
        goal: whose requests it serves.
        row: the deployment, of one pool or two.
    """
    from calc.searching.selection import started_pools  # loads the search

    why = ""
    for engine in releases_for(goal, row):
        try:
            check_start(started_pools(goal, row, engine))
        except ParamsError as error:
            if isinstance(error, Overloaded) and not why:
                return Start(None, str(error).rstrip("."))
            why = why or str(error).rstrip(".")
        else:
            key = (load_model(goal.model), load_precision(row.choice.precision),
                   engine.partition(AT)[0], load_device(row.choice.device),
                   row.choice.draft_method or (OWN_LAYER if row.choice.drafts else None))
            checkpoint = checkpoint_for(*key)
            return Start(engine, checkpoint=checkpoint.repository if checkpoint else None,
                         loads=checkpoint_words(*key))
    return Start(None, why or f"no engine whose flags are known runs {row.choice.precision} on "
                              f"'{row.choice.device}'")


def releases_for(goal: Goal, row: Row) -> Iterator[str]:
    """Releases that may start it: the one that it names, or those of each engine that have kernels
    of its formats, engines with native ones first, the newest release first."""
    if row.choice.engine is not None:
        yield row.choice.engine
        return
    model = load_model(goal.model)
    runs = [{tables()[kernel.engine].engine: kernel for kernel in kernels_of(
        load_precision(choice.precision), load_device(choice.device), model)}
        for choice in row.choices]
    for name in (name for name in runs[0] if name in ENGINES and all(name in of for of in runs)):
        versions = [version for version in load_engine(name).versions[::-1]
                    if all(of[name].holds(version) for of in runs)]
        yield from (f"{name}{AT}{version}" for version in sorted(
            versions, key=lambda version: CANDIDATE in version))


def select(goal: Goal | str | Path, settings: Iterable[str] = (), workers: int = 1,
           progress: OnProgress = silent) -> Selection:
    """Deployments that meet a goal and are started by a release, as
    ``calc.searching.selection.select``."""
    from calc.searching import selection  # loads the search

    return selection.select(goal, settings, workers, start, progress)


def search(goal: Goal | str | Path | None = None, settings: Iterable[str] = (), workers: int = 1,
           progress: OnProgress = silent, **values: Any) -> SearchReport:
    """The finished answer to a goal, or to one of plain values, of deployments that a release
    starts.

    >>> report = search("r1-64-users-8xh20", ["devices=nvidia-h20", "precisions=fp8-block"])
    >>> report.rows[0].start.engine
    'vllm@0.33.0'

    Args:
        goal: one that is loaded, its identifier, or the path of its file.
        settings: ``KEY=VALUE`` with dotted keys, for a goal that is not loaded.
        workers: processes that share the work; the answer is the same.
        progress: of the search, then of the ranking, 0 of 0.
        values: arguments of ``calc.answer.quickplan.goal_plan`` in place of a goal.

    Raises ParamsError, one sentence, for a goal that cannot be used, or contradicts itself.
    """
    from calc.searching.report import search_report  # loads the search

    defaults: tuple[str, ...] = ()
    if (goal is None) != bool(values):
        raise TypeError("search: expected a goal, or plain values, at least model=… and card=…; "
                        "settings=[\"demand.users=8\"] override keys of a goal's file")
    if goal is None:
        from calc.answer.quickplan import goal_plan, planned  # loads the nearest changes
        from calc.searching.goal import load_goal

        plan = planned(goal_plan, "search", **values)
        goal, settings, defaults = load_goal(plan.file, settings), (), plan.defaults
    chosen = select(goal, settings, workers, progress)
    progress("ranking and simulating the best", 0, 0)
    return replace(search_report(chosen), defaults=defaults)
