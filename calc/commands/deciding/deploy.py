"""``deploy``: the files that start and watch a deployment, in a directory of their own."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from calc.answer.service import engine_words
from calc.commands.arguments import add_scenario, add_settings
from calc.commands.printing import (
    OK,
    amount,
    console,
    named,
    print_json,
    reach_of,
    spoken,
    tell,
    text_of,
)
from calc.launching import recipes
from calc.launching.directory import write
from calc.launching.launch import Launch, deployment, pools_as_json
from calc.launching.monitoring import Watched
from calc.uncertainty import Amount
from catalogue import ParamsError
from catalogue.deployments.admission import unsourced
from catalogue.messages import LANGUAGES, messages
from catalogue.reading.units import plain

say = messages("calc/commands/deciding/deploy")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``deploy`` takes, besides ``--json``."""
    add_scenario(command)
    command.add_argument("-o", "--output", required=True, metavar="DIR",
                         help=spoken(say("help-output")))
    command.add_argument("--engine", metavar="ENGINE@RELEASE", help=spoken(say("help-engine")))
    add_settings(command)
    command.add_argument("--hosts", metavar="NAME,...", help=spoken(say("help-hosts")))
    command.add_argument("--flag", action="append", default=[], metavar="--NAME=VALUE",
                         dest="flags", help=spoken(say("help-flag")))
    command.add_argument("--env", action="append", default=[], metavar="NAME=VALUE",
                         dest="variables", help=spoken(say("help-env")))
    command.add_argument("--lang", choices=LANGUAGES, default="en",
                         help="comments in the Compose file and the manifests (default en)")


def run(args: argparse.Namespace) -> int:
    """Write the directory; print what is predicted and where it is watched.

    Raises ParamsError, one sentence, for what cannot be launched or written.
    """
    if args.engine is not None and any(text.strip().startswith("engine=")
                                       for text in args.settings):
        raise ParamsError(spoken(say("named-twice")))
    hosts = [name.strip() for name in args.hosts.split(",")] if args.hosts else []
    launch = deployment(args.scenario, args.settings, engine=args.engine, hosts=hosts,
                      flags=args.flags, variables=args.variables, language=args.lang)
    directory = Path(args.output)
    paths = write(directory, launch.files)
    if args.json:
        print_json(as_json(launch, directory, paths))
        return OK
    screen = console()
    for line in report_lines(launch, directory, len(paths)):
        tell(screen, line)
    return OK


def as_json(launch: Launch, directory: Path, paths: list[Path]) -> dict[str, Any]:
    """The launch as plain data, SI units."""
    caveat = unsourced(pool.scenario for pool in launch.pools)
    return {"directory": str(directory), "engine": launch.engine,
            **({"unsourced": caveat[0]} if caveat else {}),
            "files": [str(path.relative_to(directory)) for path in paths],
            "pools": pools_as_json(launch),
            "recipes": {name: nearest and {"recipe": nearest.recipe, "source": nearest.of.source,
                                           **nearest.counts}
                        for name, nearest in launch.comparisons.items()},
            "runs": [run.name for run in launch.runs]}


def alert_lines(pool: Watched) -> list[str]:
    """What alerts follow, what is promised and not kept, and which requests are refused."""
    promised, count = sum(bool(alert.windows) for alert in pool.alerts), len(pool.alerts)
    most = pool.pool.longest
    lines = [say("on-the-limits", count=count, promised=promised) if promised
             else say("on-the-prediction", count=count)]
    lines += [say("not-kept", sentence=limit.sentence, quantity=named(limit.quantity),
                  limit=amount(limit.limit, "s"), value=amount(limit.value, "s"), at=limit.at)
              for limit in pool.exceeded]
    lines.append(say("longest", tokens=f"{most.tokens:,}", refused=bool(most.refused),
                     share=plain(most.refused, 2)))
    return list(dict.fromkeys(map(spoken, lines)))


def report_lines(launch: Launch, directory: Path, count: int) -> list[str]:
    """What was written, what is predicted, what to do next."""
    nodes = sum(pool.layout.nodes for pool in launch.pools)
    lines = [spoken(say("files", directory=str(directory), count=count, nodes=nodes,
                        one=nodes == 1, release=launch.engine))]
    if caveat := unsourced(pool.scenario for pool in launch.pools):
        lines.append(spoken(caveat))
    for pool in launch.watched:
        of, role = pool.predicted, pool.pool.role
        ttft, tpot = f"TTFT {_with_interval(of.ttft)}", f"TPOT {_with_interval(of.tpot)}"
        requests, rate = _with_interval(of.requests), _with_interval(of.throughput)
        quantities = {"both": [ttft, tpot, rate], "prefill": [ttft, requests],
                      "decode": [tpot, rate]}[role]
        lines.append(spoken(say("pool", name=pool.pool.name,
                                quantities=spoken(("; ", "；")).join(quantities))))
        lines += [spoken(words) for words in engine_words(
            pool.pool.scenario, "none" if role == "both" else role)]
        lines += alert_lines(pool)
    lines += map(spoken, recipes.lines(launch.comparisons))
    bench = directory / "bench"
    return [*lines, spoken(say("set-model", file=str(directory / "cluster.env"))),
            spoken(say("to-measure", bench=str(bench / "run.sh"), results=str(bench / "results")))]


def _with_interval(of: Amount) -> str:
    return text_of(of) if of.exact else spoken(say(
        "with-interval", value=text_of(of), reach=reach_of(of)))
