"""Scripts and environments that start the servers of a deployment and their router."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml

from calc.launching import vllm
from calc.launching.server import HEAD, OWN, Part, Setting, Variable, comment, words
from calc.launching.starting import (
    Pool,
    checkpoint_of,
    drafter_of,
    named_ranks,
    routed,
    router_of,
    title_of,
)
from calc.yamltext import PlainDumper
from catalogue import Scenario
from catalogue.entries.models import DSPARK, Served
from catalogue.reading.units import factor, human, plain

HEADER = "Written by will-it-fit deploy, which overwrites no file changed since (manifest.json)."
IB_DEVICES, UCX_DEVICES = "IB_DEVICES", "UCX_NET_DEVICES"
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

    @property
    def addresses(self) -> set[str]:
        """Variables with addresses that its script reads."""
        settings = [*self.variables, *(setting for _, flags, variables in self.servers
                                       for setting in (*flags, *variables))]
        return ({HEAD, OWN} if self.ray else set()) | {
            setting.value.name for setting in settings if isinstance(setting.value, Variable)}


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


TEMPLATES = jinja2.Environment(  # with delimiters that neither shells nor Markdown use
    loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")),
    undefined=jinja2.StrictUndefined, variable_start_string="<<", variable_end_string=">>",
    block_start_string="<%", block_end_string="%>", comment_start_string="<#",
    comment_end_string="#>", trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
TEMPLATES.globals["made"] = HEADER
TEMPLATES.filters |= {
    "comment": comment, "human": human, "plain": plain,
    "gib": lambda size: math.ceil(size / factor("GiB")),
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
    files = {"cluster.env": render("cluster.env", models=models_of(pools), pools=pools,
                                   networked=networked(pools), rdma=rdma_variable(pools),
                                   store=router and router.store)}
    for node in (node for pool in pools for node in nodes_of(pool)):
        files |= {f"nodes/{node.name}.sh": render("node.sh", node=node,
                                                     rdma=rdma_variable(pools)),
                  f"nodes/{node.name}.env": render("node.env", node=node)}
    return files | router_files(pools)


def router_files(pools: Sequence[Pool]) -> dict[str, str]:
    """The script of the router and its configuration, by path; none where there is one server."""
    title = title_of(pools)
    if len(pools) > 1:
        return {"router/router.sh": render("router.sh", router=router_of(pools), title=title)}
    if not routed(pools):
        return {}
    return {"router/haproxy.cfg": render(
        "haproxy.cfg", title=title, ranks=named_ranks(pools[0]), addresses=pools[0].addresses),
        "router/router.sh": render("haproxy.sh", title=title)}


def networked(pools: Sequence[Pool]) -> bool:
    """Whether cards of several nodes or pools exchange data."""
    return len(pools) > 1 or pools[0].layout.span > 1


def rdma_variable(pools: Sequence[Pool]) -> str | None:
    """Variable of ``cluster.env`` with the RDMA devices between two pools; None without any.

    Source: SGLang's page on two pools; vLLM's NixlConnector Usage Guide. Cards of Ascend have
    ports of their own.
    """
    if len(pools) == 1 or pools[0].scenario.device.type == "npu":
        return None
    return IB_DEVICES if pools[0].release.name == "sglang" else UCX_DEVICES


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
            next(iter(served), None), description))
    return models
