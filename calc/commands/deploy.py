"""``deploy``: write the files that start and monitor a deployment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from calc.commands.options import cli_command, output_option, scenario_argument, settings_option
from calc.commands.view import View
from calc.launching import recipes
from calc.launching.directory import write
from calc.launching.launch import Launch, deployment, pools_as_json
from calc.launching.monitoring import Watched, down_rules
from calc.launching.scripts import models_of
from catalogue import ParamsError
from catalogue.deployments.admission import unsourced
from catalogue.messages import LANGUAGES


@cli_command("deploy", "plan.yml -o service",
             "h200-r1-vllm-tp8 -o h200-service --engine vllm@0.33.0",
             "plan.yml -o service-2 --hosts server-1 --flag=--trust-remote-code",
             table=False)
@scenario_argument
@output_option("Output directory: new, empty, or unmodified earlier output of deploy.", "DIR",
               required=True)
@click.option("--engine", metavar="NAME[@RELEASE]", help=(
    "Engine (vllm, vllm-ascend or sglang) and release (default: the deployment's)."))
@settings_option
@click.option("--hosts", metavar="NAME,...",
              help=(
                  "Host names or IP addresses, one per server; prefill servers first (default: "
                  "serve-0, ...)."))
@click.option("--flag", "flags", multiple=True, metavar="--NAME[=VALUE]",
              help="Extra engine flag, e.g. --flag=--trust-remote-code (repeatable).")
@click.option("--env", "variables", multiple=True, metavar="NAME=VALUE",
              help="Extra environment variable for the engine (repeatable).")
@click.option("--lang", default="en", type=click.Choice(LANGUAGES),
              help="Language of RECIPE.md and of comments.")
def command(scenario: str, output: str, engine: str | None, settings: tuple[str, ...],
            hosts: str | None, flags: tuple[str, ...], variables: tuple[str, ...],
            lang: str) -> View:
    """How do I start and monitor this deployment?

    Writes launch scripts, a router, a Compose file, Kubernetes manifests, alerts derived from the
    prediction, and a benchmark script. DEPLOYMENT is a catalogue name (`will-it-fit list
    deployments`) or your own file.
    """
    if engine is not None and any(text.strip().startswith("engine=") for text in settings):
        raise ParamsError("--engine and --set engine name it twice, expected one of them.")
    launch = deployment(scenario, settings, engine=engine, hosts=[
        name.strip() for name in hosts.split(",")] if hosts else [], flags=flags,
        variables=variables, language=lang)
    directory = Path(output)
    paths = write(directory, launch.files)
    return launch_view(launch, directory, paths)


def launch_view(launch: Launch, directory: Path, paths: list[Path]) -> View:
    """What was written and predicted, and what to do next."""
    nodes = sum(pool.layout.nodes for pool in launch.pools)
    caveat = unsourced(pool.scenario for pool in launch.pools)
    exceeded = dict.fromkeys(
        limit.sentence for pool in launch.watched for limit in pool.exceeded)
    promised = any(alert.basis == "limit" for pool in launch.watched for alert in pool.alerts)
    files = [str(path.relative_to(directory)) for path in paths]
    data: dict[str, Any] = {
        "directory": str(directory), "engine": launch.engine,
        **({"unsourced": caveat[0]} if caveat else {}), "files": files,
        "pools": pools_as_json(launch),
        "recipes": {name: nearest and {"recipe": nearest.recipe, "source": nearest.of.source,
                                       **nearest.counts}
                    for name, nearest in launch.comparisons.items()},
        "runs": [run.name for run in launch.runs]}
    bench, cluster = directory / "bench", directory / "cluster.env"
    return View(
        f"WRITTEN: {len(paths)} files for {nodes} node{'s' * (nodes != 1)} in {directory}, "
        f"{launch.engine}" + ("; the prediction exceeds the limits" if exceeded else ""), data,
        not exceeded if promised else None,
        [*((pool.pool.name, predicted_words(pool)) for pool in launch.watched),
         *(("not met", sentence) for sentence in exceeded),
         *(("alerts", f"{pool.pool.name}: {len(down_rules(pool.pool)) + len(pool.alerts)} rules; "
            f"requests of at most {pool.pool.longest.tokens:,} tokens") for pool in launch.watched),
         *(("checkpoint", f"{model.repository}, or a path: {model.variable} in {cluster}"
            if model.repository else f"set {model.variable} in {cluster}: a path or a repository")
           for model in models_of(launch.pools)),
         ("next", f"read {directory / 'README.md'}, then start nodes/*.sh on their nodes"),
         ("measure", f"{bench / 'run.sh'}; then will-it-fit calibrate {bench / 'results'}")],
        [*([caveat[0]] if caveat else []), *(
            f"Compared with the published recipe {nearest.recipe} ({name}): "
            f"{nearest.counts['more']} settings added, {nearest.counts['fewer']} left out, "
            f"{nearest.counts['other']} with other values; reasons in {recipes.FILE}"
            for name, nearest in launch.comparisons.items() if nearest)])


def predicted_words(pool: Watched) -> str:
    """Latency and throughput that are predicted of a pool, with 80% intervals."""
    of = pool.predicted
    ttft, tpot = f"TTFT {of.ttft.formatted('en')}", f"TPOT {of.tpot.formatted('en')}"
    requests, rate = of.requests.formatted("en"), of.throughput.formatted("en")
    return "; ".join({"both": [ttft, tpot, rate], "prefill": [ttft, requests],
                      "decode": [tpot, rate]}[pool.pool.role])
