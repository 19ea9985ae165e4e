"""Shell scripts: one per node, with the variables of its environment beside it, and a router's."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from calc.answer.estimate import Estimate
from calc.answer.request_lengths import Longest
from calc.answer.startup_line import StartupLine, startup_line
from calc.launching import sglang, vllm
from calc.launching.asserted import refuse, refuse_pair
from calc.launching.layout import BOOTSTRAP_PORT, Layout, Part, layouts
from calc.launching.settings import ASCEND, Release, Setting, comment, nearest, over
from calc.layouts.layout import set_line
from catalogue import ParamsError, Scenario
from catalogue.deployments.admission import cut_of, layout_problem, subject_of
from catalogue.deployments.scenario import unasked
from catalogue.engines.released import catalogue_of
from catalogue.entries.models import DRAFTERS, DSPARK, OWN_LAYER, Checkpoint
from catalogue.entries.profiles import in_order
from catalogue.kernels import checkpoint_for, checkpoint_words
from catalogue.messages import Pair

MADE = "Written by python -m calc deploy, which overwrites no file changed since (manifest.json)."
ENGINES = {"vllm": vllm, "vllm-ascend": vllm, "sglang": sglang}
MODEL = "MODEL"
ROUTER_PORT = 8080
SESSION, RANK = "X-Session-ID", "X-Data-Parallel-Rank"  # headers: of a client, and to the engine
SESSIONS = "stick-table type string len 64 size 1m expire 1h"  # of HAProxy: names and an hour
STORE_PORT = 24669
MINI, SGLANG, VLLM, PROXY = "sglang-lb", "sglang-router", "vllm-router", "vllm-ascend-proxy"
SOURCE = ('"${VLLM_ASCEND_SOURCE:?set VLLM_ASCEND_SOURCE: a folder with the source distribution of '
          'the release}"')
ROUTERS = {MINI: "python -m sglang.srt.disaggregation.mini_lb",
           SGLANG: "python -m sglang_router.launch_router", VLLM: "vllm-router",
           PROXY: f"python {SOURCE}/examples/disaggregated_prefill_v1/"
                  "load_balance_proxy_server_example.py"}

FASTER = ("requests arrive faster than they are answered, the queue grows without end; nothing can "
          "be predicted of it.")


class Overloaded(ParamsError):
    """A deployment that receives more requests than it serves."""


def check_runs(scenario: Scenario, answer: Estimate) -> None:
    """Refuse what cannot be launched: it does not run as asked, or its load is not stated.

    Raises ParamsError, one sentence.
    """
    if not answer.fits and not answer.suffices_steadily:
        why = answer.reasons[0].text["en"].rstrip(".")
        nearest = answer.nearest
        hint = f" The nearest that runs: {set_line(nearest.settings)}." if nearest else ""
        raise ParamsError(f"{scenario.id}: does not run as asked: {why}.{hint}")
    if answer.steady is None:
        raise ParamsError(f"'{scenario.id}' does not say how long its requests are, expected "
                          "--set workload.input_tokens=N --set workload.output_tokens=N.")
    if not answer.steady.keeps_up and not unasked(scenario.inputs()):
        raise Overloaded(f"'{scenario.id}': {FASTER}")


@dataclass(frozen=True)
class Pool:
    """One pool of servers, ready to be written down.

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

    @functools.cached_property
    def startup(self) -> StartupLine | None:
        """What its engine prints of the cache when it starts."""
        return startup_line(self.scenario)

    @property
    def role(self) -> str:
        """``both``, ``prefill`` or ``decode``."""
        return "both" if self.name == "serve" else self.name

    @property
    def addresses(self) -> list[str]:
        """Where its servers answer, ``host:port``."""
        return [f"{self.hosts[part.node]}:{part.port}" for part in self.layout.heads]

    def node_name(self, node: int) -> str:
        """What the files of a node are called."""
        return f"{self.name}-{node}"


def pool_of(name: str, named: Mapping[str, Scenario], release: Release, hosts: Sequence[str],
            most: Longest, given: tuple[Iterable[Setting], Iterable[Setting]] = ((), ())) -> Pool:
    """A pool with the settings of each of its nodes.

    Args:
        name: ``serve``, ``prefill`` or ``decode``.
        named: the scenarios of all pools, by name.
        release: of the engine.
        hosts: names of nodes, at least as many as it needs.
        most: the longest request.
        given: flags and variables that take the place of those derived.

    Raises ParamsError, one sentence, for what the release cannot do, and for settings that it takes
    one by one and does not start with together.
    """
    scenario = named[name]
    if scenario.file.offload is not None:
        raise ParamsError(f"'{scenario.id}': experts that are not on the cards need an engine "
                          "that is not in the catalogue, expected no offload.")
    if scenario.running and (problem := layout_problem(
            scenario.running, subject_of(scenario), cut_of(scenario))):
        raise ParamsError(f"{problem.text['en']}.")
    lie = layouts(named)
    of = lie[name]
    if len(hosts) < of.nodes:
        raise ParamsError(f"--hosts: {len(hosts)} for the {of.nodes} nodes of '{name}', expected "
                          "a name for each.")
    engine = ENGINES[release.name]
    role = role_of(name)
    own = [engine.flags(scenario, of, part, release, role, most) for part in of.parts]
    if len(named) > 1 and release.name == ASCEND:
        own = [[*each, vllm.mooncake(release, part, role, lie)]
               for each, part in zip(own, of.parts, strict=True)]
    if role == "prefill" and not engine.drafts(scenario, release):
        why = "the decode pool drafts, by a layer whose cache of prompts comes from here"
        own = [[*each, *(replace(setting, why=why)
                         for setting in engine.drafts(named["decode"], release))] for each in own]
    flags, variables = (list(each) for each in given)
    flagged = [over(each, flags) for each in own]
    around = [over(engine.variables(scenario, of, part, release, role), variables)
              for part in of.parts]
    for one, its in zip(flagged, around, strict=True):
        refuse(scenario, release, one, its)
    return Pool(name, scenario, release, of, most, tuple(hosts[:of.nodes]),
                tuple(map(tuple, flagged)), tuple(map(tuple, around)),
                MODEL if len(_checkpoints(named)) == 1 else f"{name.upper()}_{MODEL}")


def _checkpoints(named: Mapping[str, Scenario]) -> set[tuple[str, ...]]:
    """Weights that pools load, each by its formats."""
    return {(scenario.model.id, *scenario.precision.weights.model_dump().values())
            for scenario in named.values()}


def check_pair(prefill: Pool, decode: Pool) -> None:
    """Refuse two pools between which their release sends no caches.

    Raises ParamsError, one sentence.
    """
    refuse_pair(decode.release, {each.name: (each.scenario, each.flags[0], each.variables[0])
                                 for each in (prefill, decode)})


def role_of(name: str) -> str:
    """Role of a pool by its name: ``both``, ``prefill`` or ``decode``."""
    return "both" if name == "serve" else name


def node_files(pool: Pool) -> dict[str, str]:
    """Scripts and environments of a pool's nodes, by their path in the directory."""
    files = {}
    for node in range(pool.layout.nodes):
        name = pool.node_name(node)
        files[f"nodes/{name}.sh"] = _script(pool, node)
        files[f"nodes/{name}.env"] = _environment(pool, node)
    return files


def _parts(pool: Pool, node: int) -> list[tuple[Part, tuple[Setting, ...], tuple[Setting, ...]]]:
    return [(part, flags, variables) for part, flags, variables
            in zip(pool.layout.parts, pool.flags, pool.variables, strict=True)
            if part.node == node]


def _environment(pool: Pool, node: int) -> str:
    """Variables of a node: where its server begins, and those that all of its parts share."""
    parts = _parts(pool, node)
    first = pool.hosts[node - parts[0][0].rank]
    lines = [f"# Environment of {pool.node_name(node)}, {comment(pool.hosts[node])}. {MADE}",
             "# An address that is set already holds.",
             f": \"${{{vllm.HEAD}:={first}}}\"",
             f": \"${{{vllm.OWN}:={pool.hosts[node]}}}\""]
    for setting in _shared(parts):
        _, value = setting.words
        lines += [f"# {comment(setting.why)}", f"{setting.name}={value}"]
    return "\n".join(lines) + "\n"


def _shared(parts: Sequence[tuple[Part, tuple[Setting, ...], tuple[Setting, ...]]]
            ) -> list[Setting]:
    """Variables with one value for all servers of a node."""
    return [setting for setting in parts[0][2]
            if all(setting in variables for _, _, variables in parts)]


def _script(pool: Pool, node: int) -> str:
    """What starts the servers of a node, or its part of one."""
    parts = _parts(pool, node)
    shared = _shared(parts)
    spans = f", node {parts[0][0].rank} of {pool.layout.span}" if pool.layout.span > 1 else ""
    lines = ["#!/usr/bin/env bash",
             f"# {comment(pool.scenario.heading['en'])}",
             f"# {pool.release}, {pool.node_name(node)}{spans}. {MADE}",
             "set -euo pipefail",
             'here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)',
             "set -a",
             "# shellcheck source=/dev/null",
             '. "$here/../cluster.env"',
             "# shellcheck source=/dev/null",
             f'. "$here/{pool.node_name(node)}.env"',
             "set +a",
             f': "${{{pool.model}:?set {pool.model} in cluster.env: a path or a name of it}}"', ""]
    if pool.release.name in vllm.NAMES and vllm.ray(pool.layout, pool.release):
        lines += _ray(parts[0][0])
        if parts[0][0].rank:
            return "\n".join(lines) + "\n"
    for part, flags, variables in parts:
        name = f"server_{part.server}"
        lines += [f"{name}=(", *_arguments(flags), ")"]
        called = f'{_command(pool)} "${{{name}[@]}}" "$@"'
        if len(parts) == 1:  # all of its variables are those of the node
            lines.append(f"exec {called}")
            continue
        own = [setting for setting in variables if setting not in shared]
        lines += [f"# {comment(setting.why)}" for setting in own]
        before = "".join(f"{setting.name}={setting.words[1]} " for setting in own)
        lines += [f"{before}{called} &", ""]
    if len(parts) > 1:
        lines += ["# the node is as good as its servers: one that ends, ends the others",
                  "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT", "wait -n"]
    return "\n".join(lines) + "\n"


def _command(pool: Pool) -> str:
    if pool.release.name == "sglang":
        called = f'python -m sglang.launch_server --model-path "${pool.model}"'
        if _drafting(pool) == DSPARK:  # in the checkpoint
            called += f' --speculative-draft-model-path "${pool.model}"'
        return called
    return f'vllm serve "${pool.model}"'


def _arguments(flags: Iterable[Setting]) -> list[str]:
    """One setting a line, each below what it follows from."""
    lines: list[str] = []
    why = None
    for setting in flags:
        if setting.why != why:
            lines.append(f"  # {comment(setting.why)}")
        why = setting.why
        lines.append("  " + " ".join(setting.words))
    return lines


def _ray(part: Part) -> list[str]:
    """A node's part in the Ray cluster over which a replica spans."""
    if part.rank:
        return [f'exec ray start --address="${{{vllm.HEAD}}}:{vllm.RAY_PORT}" '
                f'--node-ip-address="${{{vllm.OWN}}}" --block']
    return [f'ray start --head --port={vllm.RAY_PORT} --node-ip-address="${{{vllm.OWN}}}"', ""]


def cluster_file(pools: Sequence[Pool]) -> str:
    """What the operator sets, for all nodes."""
    loaded = [line for pool in {pool.model: pool for pool in pools}.values()
              for line in _loaded(pool)]
    return "\n".join([
        f"# What holds of all nodes, for the operator to set. {MADE}", *loaded,
        *_store(pools),
        "# Addresses come from the node's own file; MASTER_ADDR and NODE_ADDR may be set here or",
        "# in the environment instead, and so may the network of NCCL, HCCL and Gloo, of which",
        "# the engine's catalogue says nothing.", ""])


def _loaded(pool: Pool) -> list[str]:
    """What a pool loads: of published checkpoints one that its engine is shown to start."""
    scenario = pool.scenario
    checkpoint, words = loaded(pool)
    known = comment(str(checkpoint.repository)) if checkpoint else ""
    shown = next((f" It is started by {comment(one.engine)} in {comment(one.source)}."
                  for one in checkpoint.served if one.engine == pool.release.name), ""
                 ) if checkpoint else " No checkpoint of it is known to be published."
    more = [f"# {comment(words[0])}."] if words and words[0] != known else []
    return [f"# A path or a name of the checkpoint: {comment(scenario.model.name['en'])}, "
            f"{comment(scenario.precision.name['en'])}.{shown}", *more,
            f'{pool.model}="${{{pool.model}:-{known}}}"']


def loaded(pool: Pool) -> tuple[Checkpoint | None, Pair | None]:
    """The published checkpoint that a pool starts with, and its description in both languages."""
    its = pool.scenario
    asked = (its.model, its.precision, pool.release.name, its.device, _drafting(pool))
    return checkpoint_for(*asked), checkpoint_words(*asked)


def _drafting(pool: Pool) -> str | None:
    """How a pool drafts, as ``checkpoint_for`` has it; a prefill pool as its decode pool does."""
    named = {each.name: each.value for each in pool.flags[0]}
    config = named.get("--speculative-config") or {}
    method = str(config.get("method") or named.get("--speculative-algorithm", "")).lower()
    return method if method in DRAFTERS else OWN_LAYER if method else None


def _store(pools: Sequence[Pool]) -> list[str]:
    """Where the cards of two pools on Ascend find each other under SGLang."""
    if len(pools) == 1 or not sglang.between_npus(pools[0].scenario, pools[0].release):
        return []
    return ["# The first prefill server opens it; others find their caches by it.",
            f'{sglang.STORE}="${{{sglang.STORE}:-tcp://{pools[0].hosts[0]}:{STORE_PORT}}}"']


def routed(pools: Sequence[Pool]) -> bool:
    """Whether requests have more than one place to go, or a prefix to return to."""
    return len(pools) > 1 or pools[0].layout.servers > 1 or named_ranks(pools[0]) > 1


def named_ranks(pool: Pool) -> int:
    """Ranks of a server, each with prefixes of its own, one of which a request may name in a header
    [1]: under vLLM since 0.11.0 (its pull request 24945), under SGLang (19832) in the releases that
    name ranks of attention; else 1."""
    release = pool.release
    takes = (release.has("--attn-dp-size", 2) if release.name == "sglang"
             else in_order(release.version) >= in_order("0.11.0"))
    return pool.layout.joined if takes and pool.scenario.inputs()["prefix_hit_share"] > 0 else 1


def router_of(pools: Sequence[Pool]) -> Release:
    """The router between two pools of a release: of its own kind, uploaded nearest to it.

    >>> nearest(SGLANG, "2025-10-16").version
    '0.2.4'

    Raises ParamsError, one sentence, for a release that has no proxy.
    """
    release = pools[0].release
    engine = catalogue_of(release.name)
    if release.name == ASCEND:
        proxy = catalogue_of(PROXY)
        if release.version not in proxy.versions:
            raise ParamsError(f"{release}: its source has no proxy between a prefill and a decode "
                              f"pool, expected {ASCEND}@{proxy.versions[0]} or later, or one pool.")
        return Release(PROXY, release.version, ((proxy, release.version),))
    if release.name == "sglang":
        if release.version in catalogue_of(MINI).versions:
            return Release(MINI, release.version, ((catalogue_of(MINI), release.version),))
        return nearest(SGLANG, engine.release(release.version).date)
    return nearest(VLLM, engine.release(release.version).date)


def router_files(pools: Sequence[Pool]) -> dict[str, str]:
    """The script of the router, by path; none where there is one server.

    Raises ParamsError, one sentence, where no router of the catalogue knows the pools.
    """
    if not routed(pools):
        return {}
    if len(pools) == 1:
        return _haproxy(pools[0])
    router = router_of(pools)
    settings = _apart(pools, router)
    settings += [router.take("--host", "0.0.0.0", "requests come from outside"),
                 router.take("--port", ROUTER_PORT, "of the router")]
    lines = ["#!/usr/bin/env bash",
             f"# {router}, before {comment(pools[0].scenario.heading['en'])}. {MADE}",
             "set -euo pipefail", "", "router=("]
    why = None
    for setting in settings:
        lines += [f"  # {comment(setting.why)}"] if setting.why != why else []
        why = setting.why
        lines.append("  " + " ".join(setting.words))
    lines += [")", f'exec {ROUTERS[router.name]} "${{router[@]}}" "$@"']
    return {"router/router.sh": "\n".join(lines) + "\n"}


def _haproxy(pool: Pool) -> dict[str, str]:
    """HAProxy before servers any of which takes any request: a new one goes where the fewest are, a
    session returns to its server, and there to the rank that has its prefix."""
    about = f"# HAProxy, before {comment(pool.scenario.heading['en'])}. {MADE}"
    ranks, servers = named_ranks(pool), dict(enumerate(pool.addresses))
    listens = {"router": (f":{ROUTER_PORT}", servers)}
    if ranks > 1:
        inner = {number: f"127.0.0.1:{ROUTER_PORT + 1 + number}" for number in servers}
        listens["router"] = (f":{ROUTER_PORT}", {
            number: f"{address} track server-{number}/0" for number, address in inner.items()})
        listens |= {f"server-{number}": (inner[number], dict.fromkeys(range(ranks), address))
                    for number, address in servers.items()}
    lines = [about, "defaults", "  mode http", "  balance leastconn", "  timeout connect 10s",
             "  timeout client 1h", "  timeout server 1h", "  option redispatch"]
    for name, (bound, behind) in listens.items():
        engines = ranks == 1 or name != "router"
        lines += ["", f"listen {name}", f"  bind {bound}", f"  {SESSIONS}",
                  f"  stick on req.hdr({SESSION})",
                  *(["  option httpchk GET /health", "  default-server check inter 5s"]
                    if engines else []),
                  *([f"  http-send-name-header {RANK}"] if name != "router" else []),
                  *(f"  server {number} {address}" for number, address in behind.items())]
    script = ["#!/usr/bin/env bash", about, "set -euo pipefail",
              'exec haproxy -f "$(dirname "${BASH_SOURCE[0]}")/haproxy.cfg" "$@"']
    return {"router/haproxy.cfg": "\n".join(lines) + "\n",
            "router/router.sh": "\n".join(script) + "\n"}


def _apart(pools: Sequence[Pool], router: Release) -> list[Setting]:
    """A prefill and a decode pool."""
    prefill, decode = pools
    why = {pool.name: f"servers that {pool.name}" for pool in pools}
    starts = [f"http://{address}" for address in prefill.addresses]
    ends = [f"http://{address}" for address in decode.addresses]
    ports = [BOOTSTRAP_PORT + part.first for part in prefill.layout.heads]
    if router.name == PROXY:
        return [setting for pool, word in ((prefill, "prefiller"), (decode, "decoder"))
                for setting in (
                    router.take(f"--{word}-hosts", [pool.hosts[part.node]
                                                    for part in pool.layout.heads], why[pool.name]),
                    router.take(f"--{word}-ports", [part.port for part in pool.layout.heads],
                                why[pool.name]))]
    if router.name == MINI:
        return [router.take("--prefill", starts, why["prefill"]),
                router.take("--prefill-bootstrap-ports", ports, "where decode asks them"),
                router.take("--decode", ends, why["decode"])]
    found = [router.take("--pd-disaggregation" if router.name == SGLANG
                         else "--vllm-pd-disaggregation", None, "prefill and decode apart")]
    for url, port in zip(starts, ports, strict=True):
        words = [url, str(port)] if router.name == SGLANG else [url]
        found.append(router.take("--prefill", words, why["prefill"]))
    return found + [router.take("--decode", [url], why["decode"]) for url in ends]
