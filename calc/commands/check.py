"""``check``: every file of the catalogue, or those given, and what is wrong with each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from calc.commands import BAD_INPUT, OK
from calc.commands.options import cli_command, refuse_too_long
from calc.commands.view import View, joined
from catalogue import ROOT, ParamsError, load, load_family, load_model, names, sources, symbols
from catalogue.assertions import asserting, assertions, unread
from catalogue.deployments.admission import longest_request
from catalogue.deployments.physics_inputs import USUAL, lacking
from catalogue.deployments.profiles import load_fits, load_profile
from catalogue.engine import (
    TOOLS,
    engine_names,
    engine_of,
    launch_blocks,
    load_engine,
    successors,
    successors_of,
    thresholds,
    thresholds_of,
)
from catalogue.kinds import IMPORTED, KINDS, described, described_kind, misfit
from catalogue.library import folder_of, locate
from catalogue.messages import plural
from catalogue.models.fields import configurations
from catalogue.reading import yamlfile
from catalogue.reading.files import display_path
from catalogue.reading.values import causes, glossary, symptoms
from catalogue.shipped import shortcomings

FEW = 40  # problems that people read before they mend one
OF_TEXTS = ("operators.yml", "packages.yml", "startup_logs.yml")  # what others wrote, in our names
SHARED = ("symbols.yml", "glossary.yml", "symptoms.yml", "causes.yml",
          "configurations.yml", *OF_TEXTS)  # in no folder of a kind


@cli_command("check", "card.yml plan.yml", table=False)
@click.argument("files", nargs=-1, metavar="[FILE]...")
def command(files: tuple[str, ...]) -> View:
    """Check your files and report every error. Without FILE, check the whole catalogue."""
    problems: dict[str, None] = {}  # each once: a file that others need is at fault once
    notes: list[str] = []
    checked = failed = 0

    def attempt(action: Callable[[], Any]) -> None:
        nonlocal checked, failed
        checked += 1
        try:
            action()
        except* ParamsError as errors:
            failed += 1
            problems.update(dict.fromkeys(
                problem for error in errors.exceptions if isinstance(error, ParamsError)
                for problem in error.problems))

    for file in files:
        attempt(partial(check_file, file, notes))
    for action in () if files else checks_of_catalogue():
        attempt(action)
    return View(f"{plural(checked, 'file')} checked, {failed} with a problem.",
                {"checked": checked, "problems": list(problems), "notes": notes},
                not problems, body=notes, problems=first_problems(list(problems)),
                code=BAD_INPUT if problems else OK)


def first_problems(problems: Sequence[str]) -> list[str]:
    """The first problems, and the number of the others: mending one may end the rest."""
    left = len(problems) - FEW
    return [*problems[:FEW], *([f"{left} more problems, printed when these are mended."]
                               if left > 0 else [])]


def checks_of_catalogue() -> list[Callable[[], Any]]:
    """A check of every file in ``params/``."""
    return [
        sources, symbols, glossary, symptoms, causes, configurations,
        *(partial(yamlfile.read, ROOT / name) for name in OF_TEXTS),
        *(partial(load_engine, name) for name in engine_names()),
        *(partial(load_engine, name, TOOLS) for name in names(TOOLS)),
        *(partial(successors, name) for name in engine_names()),
        *(partial(_check_assertions, name) for name in asserting()),
        *(partial(launch_blocks, name) for name in names("engines/documents")),
        *(partial(thresholds, name) for name in names("engines/thresholds")),
        *(partial(_check_entry, kind, name) for kind in KINDS for name in names(kind)),
        _check_claims]


def check_file(file: str, notes: list[str]) -> None:
    """Validate one file as the kind that its folder names, else as the kind its keys suggest; note
    what a prediction on a card assumes since its mechanisms do not say it."""
    checks: dict[str, Callable[[], Any]] = {
        "symbols.yml": symbols, "glossary.yml": glossary, "symptoms.yml": symptoms,
        "causes.yml": causes, "configurations.yml": configurations,
        **dict.fromkeys(OF_TEXTS, lambda: yamlfile.read(Path(file))),
        "sources": lambda: (yamlfile.read(Path(file)), sources()),
        "engines": lambda: engine_of(yamlfile.read(Path(file))),
        "tools": lambda: engine_of(yamlfile.read(Path(file))),
        "successors": lambda: successors_of(yamlfile.read(Path(file))),
        "assertions": lambda: _check_assertions(Path(file).stem),
        "thresholds": lambda: thresholds_of(yamlfile.read(Path(file))),
        "documents": lambda: launch_blocks(Path(file).stem),
        "claims": partial(_check_claims, file)}
    kind = kind_of(file)
    try:
        checks.get(kind, partial(_check_entry, kind, file))()
    except ParamsError:
        if kind in KINDS and folder_of(kind) != Path(file).absolute().parent:
            notes.append(f"{file}: read as {described(kind)}.")
        raise
    if kind != "devices":
        return
    device = load("devices", file)
    name = device.mechanisms or USUAL.get(device.type)
    if name is not None and device.type != "host":
        raw, priors = yamlfile.read(Path(file)), load("mechanisms", name)
        notes += [f"{raw.where(('matrix_peak', dtype))}: matrix_peak.{dtype}: '{name}' has no "
                  f"efficiency of {dtype}, that of {near} stands in with a wider range; mechanisms "
                  f"of your own (like: {name}) can give it."
                  for dtype, near in lacking(device, priors)]


def _check_assertions(engine: str) -> None:
    assertions(engine)
    if missing := unread(engine):
        raise ParamsError(f"params/engines/checks/{engine}.yml: the checks of {joined(missing)} "
                          f"are not read; run python -m tools.engines checks --only {engine}.")


def _check_claims(file: str | None = None) -> None:
    """Whether every claim can be judged, of a file or of all."""
    from calc.auditing.audit import audit  # builds deployments
    from calc.auditing.claims import listed

    path = None if file is None else locate("claims", file)
    claims, problems = listed(path)
    own = None if path is None else {judged.claim.id for judged in claims
                                     if judged.where.startswith(f"{display_path(path)}:")}
    if failures := audit((claims, problems), own).problems:
        raise ExceptionGroup("claims", [ParamsError(judged) for judged in failures])


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
    if path.resolve().parent != folder_of(kind):
        return
    entries = [entry.file for entry in loaded.deployments] if kind == "scenarios" else [loaded]
    if lacks := [*shortcomings(kind, path, entries)]:
        raise ExceptionGroup(kind, [*map(ParamsError, lacks)])


def kind_of(file: str) -> str:
    """The kind of a parameter file: by its folder in ``params/``, else by its keys.

    Besides the kinds of entries: ``engines``, ``tools`` and ``successors``, ``assertions``,
    ``documents`` (their launch blocks), ``sources``, and the names of the shared files, ``SHARED``.
    """
    path = Path(file)
    folder, inside = path.parent, ""
    try:
        folder = path.absolute().parent
        inside = folder.resolve().relative_to(ROOT).as_posix()
    except (OSError, RuntimeError, ValueError):
        pass  # elsewhere, a loop of links, a current folder that is gone
    if inside == "." and path.name in SHARED:
        return path.name
    if path.suffix == ".yml" and inside in ("engines", "engines/assertions", "engines/documents",
                                            "engines/tools", "engines/successors",
                                            "engines/thresholds", "sources"):
        return folder.name
    if folder.name in KINDS:
        return folder.name
    entry = yamlfile.read(path)
    kind = "engines" if "releases" in entry.data else described_kind(entry.data)
    if kind == IMPORTED:
        raise ParamsError(f"{entry.where()}: {misfit(file, IMPORTED, 'models')}.")
    if kind is None:
        raise ParamsError(f"{entry.where()}: cannot tell what this file describes: a card has "
                          "memory_capacity, a deployment parallelism, a goal demand, a model "
                          "num_hidden_layers.")
    return kind
