"""``check``: every file of the catalogue, or those given, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from calc.commands import BAD_INPUT, OK
from calc.commands.options import cli_command, refuse_too_long
from calc.commands.view import View, joined
from catalogue import ROOT, ParamsError, load, load_family, load_model, sources, symbols
from catalogue.assertions import assertions, unread
from catalogue.deployments.admission import longest_request
from catalogue.deployments.profiles import load_fits, load_profile
from catalogue.engine import engine_of, launch_blocks, successors_of, thresholds_of
from catalogue.kernels import unpublished
from catalogue.kinds import folder_in, kind_of
from catalogue.library import folder_of, locate
from catalogue.messages import plural
from catalogue.models.fields import configurations
from catalogue.planning import Goal
from catalogue.reading import yamlfile
from catalogue.reading.files import display_path
from catalogue.reading.values import causes, glossary, symptoms
from catalogue.shipped import shortcomings

CHECKS: dict[str, Callable[[Path], Any]] = {
    "symbols.yml": lambda _: symbols(), "glossary.yml": lambda _: glossary(),
    "symptoms.yml": lambda _: symptoms(), "causes.yml": lambda _: causes(),
    "configurations.yml": lambda _: configurations(), **dict.fromkeys(
        ("operators.yml", "packages.yml", "startup_logs.yml", "synonyms.yml"), yamlfile.read),
    "sources": lambda _: sources(), "engines": lambda path: engine_of(yamlfile.read(path)),
    "engines/tools": lambda path: engine_of(yamlfile.read(path)),
    "engines/successors": lambda path: successors_of(yamlfile.read(path)),
    "engines/assertions": lambda path: _check_assertions(path.stem),
    "engines/thresholds": lambda path: thresholds_of(yamlfile.read(path)),
    "engines/documents": lambda path: launch_blocks(path.stem)}
"""File or folder of ``params/`` that is no entry -> its check."""
UNCHECKED = ("templates", "usual", "engines/checks", "engines/models", "claims")


@cli_command("check", "card.yml plan.yml", table=False)
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(files: tuple[str, ...]) -> View:
    """Check your files and report every error. Without FILE, check the whole catalogue."""
    problems: dict[str, None] = {}  # each once: a file that others need is at fault once
    notes: list[str] = []
    checks = [partial(check_file, file, notes) for file in files] or [
        *(partial(check_file, str(path), []) for path in sorted(ROOT.rglob("*.yml"))
          if folder_in(path) not in UNCHECKED), partial(_check_claims)]
    failed = 0
    for check in checks:
        try:
            check()
        except* ParamsError as errors:
            failed += 1
            problems.update(dict.fromkeys(
                problem for error in errors.exceptions if isinstance(error, ParamsError)
                for problem in error.problems))
    return View(f"{plural(len(checks), 'file')} checked, {failed} with a problem.",
                {"checked": len(checks), "problems": list(problems), "notes": notes},
                not problems, body=notes, problems=list(problems),
                code=BAD_INPUT if problems else OK)


def check_file(file: str, notes: list[str]) -> None:
    """Validate one file as the kind that its folder names, else as the kind its keys suggest; note
    variants that look like pools."""
    kind, path = kind_of(file), Path(file)
    check = (CHECKS | {"claims": _check_claims}).get(kind)
    if check is not None:
        check(path)
    else:
        _check_entry(kind, path.stem if folder_in(path) == kind else file)
    if kind == "scenarios" and "pools" not in (raw := yamlfile.read(path)).data and {
            "prefill", "decode"} <= (raw.data.get("variants") or {}).keys():
        notes.append(f"{raw.where(('variants',))}: variants: two deployments; if they are pools of "
                     "one, add pools: [prefill, decode].")
    if kind == "goals":
        goal = load("goals", file)
        if note := unpublished(load_model(goal.model), goal.precisions or ()):
            notes.append(f"{yamlfile.read(path).where(('precisions',))}: precisions: {note}.")


def _check_assertions(engine: str) -> None:
    assertions(engine)
    if missing := unread(engine):
        raise ParamsError(f"params/engines/checks/{engine}.yml: the checks of {joined(missing)} "
                          f"are not read; run python -m tools.engines checks --only {engine}.")


def _check_claims(file: Path | None = None) -> None:
    """Whether every claim can be judged, of a file or of all."""
    from calc.auditing.audit import audit  # builds deployments
    from calc.auditing.claims import listed

    path = None if file is None else locate("claims", str(file))
    claims, problems = listed(path)
    own = None if path is None else {judged.claim.id for judged in claims
                                     if judged.where.startswith(f"{display_path(path)}:")}
    if failures := audit((claims, problems), own).problems:
        raise ExceptionGroup("claims", [ParamsError(judged) for judged in failures])


def _check_goal(raw: yamlfile.YamlFile, goal: Goal) -> None:
    """Refuse what `search` refuses before it searches, at the line of the key."""
    from calc.layouts.space import Space
    from calc.searching.goal import check_goal

    try:
        check_goal(Space(goal))
    except ParamsError as error:
        keys = str(error).partition(":")[0].split(".")
        raise ParamsError(f"{raw.where(tuple(keys))}: {error}") from None


def _check_entry(kind: str, reference: str) -> None:
    from calc.auditing.claims import load_quantities  # judges nothing

    loaders: dict[str, Callable[[str], Any]] = {
        "scenarios": load_family, "profiles": load_profile, "fits": load_fits,
        "quantities": load_quantities}
    loaded = loaders.get(kind, partial(load, kind))(reference)
    path = locate(kind, reference)
    raw = yamlfile.read(path)
    if kind == "scenarios":
        for deployment in (*loaded.deployments, *(loaded.pools or ())):
            refuse_too_long(raw.where(("workload", "context_tokens")), deployment.model,
                            longest_request(deployment))
    elif kind == "goals":
        refuse_too_long(raw.where(("demand", "context_tokens")), load_model(loaded.model),
                        loaded.demand.longest)
        _check_goal(raw, loaded)
    if path.resolve().parent != folder_of(kind):
        return
    entries = [entry.file for entry in loaded.deployments] if kind == "scenarios" else [loaded]
    if lacks := [*shortcomings(kind, path, entries)]:
        raise ExceptionGroup(kind, [*map(ParamsError, lacks)])
