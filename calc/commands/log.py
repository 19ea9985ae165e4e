"""``log``: a start-up log of an engine beside the prediction, term by term."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from calc.answer.display import heading
from calc.commands.options import cli_command, output_option, settings_option
from calc.commands.view import Block, Table, View, joined
from calc.evidence.startup import Term, is_off, startup_terms, wrong_term
from calc.evidence.startup_log import deployment_entry, named_deployment, store_log
from catalogue import load_scenario
from catalogue.entries.measurements import PRINTED_UNITS
from catalogue.reading.units import human, span
from catalogue.startuplog import GIB, StartupText, read_log

REFUSALS = {"no-room": "no memory is left for a cache",
            "longest-request": "one longest request needs more cache than there is",
            "allocation": "it ran out of device memory"}


@cli_command("log", "server.log", "server.log --set device=nvidia-h200-sxm",
             "server.log --deployment plan.yml -o measured.yml")
@click.argument("file", metavar="FILE")
@click.option("--deployment", "scenario", metavar="NAME|FILE",
              help=(
                  "Deployment that produced the log (default: inferred from the log; where it does "
                  "not name the cards, add --set device=NAME)."))
@settings_option
@output_option("Save the logged values as a measurement file.")
def command(file: str, scenario: str | None, settings: tuple[str, ...], output: str | None) -> View:
    """Does the memory that an engine logged at start-up match the prediction?

    FILE is a start-up log of vLLM, SGLang or vLLM Ascend.
    """
    path = Path(file)
    log = read_log(path)
    deployment = (load_scenario(scenario, overrides=settings) if scenario
                  else named_deployment(log, path, settings))
    terms = startup_terms(deployment, log.printed, log.length)
    wrong = wrong_term(terms)
    engine = deployment.running.stated if deployment.running else log.engine
    body: list[Block] = [term_table(log, terms)]
    if log.refused:
        body.insert(0, f"In this log the engine does not start: {REFUSALS[log.refused]}.")
    if log.release is None and not scenario and not any(
            one.startswith("engine=") for one in settings):
        body.append(f"The log does not state the release: the latest is assumed; use --set "
                    f"engine={log.engine}@RELEASE.")
    if output:
        store_log(Path(output), path, log, deployment)
        body.append(f"Stored in {output}.")
    return View(f"{verdict(terms, wrong)}: {engine}, {deployment.model.id} in "
                f"{deployment.precision.id} on {deployment.devices} × {deployment.device.id}",
                {"engine": log.engine, "release": log.release, "refused": log.refused,
                 "longest": log.length, "arguments": dict(log.arguments),
                 "deployment": deployment_entry(deployment), "printed": dict(log.printed),
                 "terms": {term.figure: {
                     "printed": term.printed, "value": float(term.ours.value),
                     "low": float(term.ours.low), "high": float(term.ours.high)} for term in terms},
                 "wrong": wrong.figure if wrong else None}, wrong is None, body=body,
                rows=Table(("quantity", "unit", "printed", "predicted"), [
                    (term.figure, PRINTED_UNITS[term.figure], term.printed, term.ours)
                    for term in terms]))


def verdict(terms: Sequence[Term], wrong: Term | None) -> str:
    """Whether every printed value lies in its interval, or which do not, the cause first."""
    if wrong is None:
        return "Every printed value lies in its 80% interval"
    off = [wrong, *(term for term in terms if is_off(term) and term is not wrong)]
    return "OFF: " + joined(
        f"'{heading(term.figure)}' predicted {_shown(term.figure, abs(term.off))} "
        f"{'above' if term.off > 0 else 'below'} the printed value" for term in off)


def term_table(log: StartupText, terms: Sequence[Term]) -> Table:
    """Every printed figure beside its prediction, if it has one."""
    predicted = {term.figure: term for term in terms}
    rows = []
    for name, value in log.printed.items():
        term = predicted.get(name)
        rows.append((heading(name), _shown(name, value), *(("", "", "") if term is None else (
            _shown(name, term.ours.value), _shown(name, *term.ours.ends),
            "outside" if is_off(term) else ""))))
    return Table(("quantity", "printed", "predicted", "80% interval", "verdict"), rows)


def _shown(name: str, low: float, high: float | None = None) -> str:
    """A figure, or an interval, in the units of engines: GiB, which SGLang writes GB."""
    unit = PRINTED_UNITS[name]
    if unit == "B":
        return "–".join(f"{end / GIB:.2f}" for end in (low, high) if end is not None) + " GiB"
    return human(low, unit) if high is None else span(low, high, unit)
