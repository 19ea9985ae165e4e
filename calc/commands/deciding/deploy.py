"""``deploy``: the files that start and watch a deployment, in a directory of their own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calc.commands.printing import OK, console, print_json
from calc.launching.deployment import Deployment, deployment
from calc.launching.directory import write
from calc.launching.watching.monitoring import Watched
from catalogue import ParamsError
from catalogue.reading.amounts import plain


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``deploy`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario file")
    command.add_argument("-o", "--output", required=True, metavar="DIR",
                         help="directory to write: new, empty, or ours and unchanged")
    command.add_argument("--engine", metavar="ENGINE@RELEASE",
                         help="vllm, vllm-ascend or sglang with its release, in place of the "
                              "scenario's")
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                         dest="settings", help="override, as for estimate")
    command.add_argument("--hosts", metavar="NAME,...",
                         help="names of the nodes, those that prefill first; made up without")
    command.add_argument("--flag", action="append", default=[], metavar="--NAME=VALUE",
                         dest="flags", help="a further argument of the engine, e.g. "
                                            "--flag=--trust-remote-code")
    command.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                         dest="variables", help="a further environment variable of the engine")


def run(args: argparse.Namespace) -> int:
    """Write the directory; print what is predicted and where it is watched.

    Raises ParamsError, one sentence, for what cannot be launched or written.
    """
    if args.engine is not None and any(text.strip().startswith("engine=")
                                       for text in args.settings):
        raise ParamsError("--engine and --set engine name it twice, expected one of them.")
    hosts = [name.strip() for name in args.hosts.split(",")] if args.hosts else []
    made = deployment(args.scenario, args.settings, engine=args.engine, hosts=hosts,
                      flags=args.flags, variables=args.variables)
    directory = Path(args.output)
    paths = write(directory, made.files)
    if args.json:
        print_json(_data(made, directory, paths))
        return OK
    screen = console()
    for line in _lines(made, directory, len(paths)):
        screen.print(line, highlight=False, soft_wrap=True)
    return OK


def _data(made: Deployment, directory: Path, paths: list[Path]) -> dict[str, Any]:
    return {"directory": str(directory), "engine": str(made.pools[0].release),
            "files": [str(path.relative_to(directory)) for path in paths],
            "pools": {each.pool.name: {
                "nodes": each.pool.layout.nodes, "servers": each.pool.addresses,
                "predicted": each.predicted.as_json(),
                "longest": each.pool.longest.tokens, "refused": each.pool.longest.refused,
                "unkept": each.unkept,
                "alerts": {alert.name: alert.threshold for alert in each.alerts}}
                for each in made.watched},
            "runs": [run.name for run in made.runs]}


def _watching(each: Watched) -> list[str]:
    """What alerts follow, what is promised and not kept, and which requests are refused."""
    promised = sum(bool(alert.windows) for alert in each.alerts)
    lines = [f"    {len(each.alerts)} alerts, " + (
        f"{promised} on the limits of the service, the others on the prediction" if promised
        else "all on the prediction: no limits are stated (--set limits.ttft.p90=TIME)")]
    lines += [f"    not kept by the prediction: {text}"
              for text in dict.fromkeys(each.unkept.values())]
    most = each.pool.longest
    return [*lines, f"    requests of at most {most.tokens:,} tokens"
            + (f"; {plain(most.refused, 2)} of them are longer and refused"
               if most.refused else "")]


def _lines(made: Deployment, directory: Path, count: int) -> list[str]:
    """What was written, what is predicted, what to do next."""
    nodes = sum(pool.layout.nodes for pool in made.pools)
    lines = [f"{directory}: {count} files for {nodes} node{'s' * (nodes > 1)}, "
             f"{made.pools[0].release}."]
    for each in made.watched:
        of = each.predicted
        first = [] if each.pool.role == "decode" else [f"TTFT {of.ttft}"]
        later = ([f"{of.requests}"] if each.pool.role == "prefill"
                 else [f"TPOT {of.tpot}", f"{of.throughput}"])
        lines.append(f"{each.pool.name}: {'; '.join([*first, *later])}.")
        lines += _watching(each)
    lines += [f"Set MODEL in {directory / 'cluster.env'}, then run nodes/*.sh on their nodes.",
              f"To measure: {directory / 'bench' / 'run.sh'}; then python -m calc calibrate "
              f"{directory / 'bench' / 'results'}"]
    return lines
