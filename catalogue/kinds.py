"""Kinds of parameter files: their classes, the kind that a file describes, and what takes it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from catalogue.entries.entry import Entry
from catalogue.reading.files import ROOT, ParamsError
from catalogue.reading.near import nearest_names
from catalogue.reading.synonyms import key_meant
from catalogue.reading.yamlfile import read

KINDS = {
    "models": "entries.models.Model",
    "families": "entries.models.Family",
    "acceptances": "entries.models.Acceptance",
    "devices": "entries.hardware.Device",
    "links": "entries.hardware.Link",
    "nodes": "entries.hardware.Node",
    "microbenchmarks": "entries.hardware.Microbenchmarks",
    "mechanisms": "entries.hardware.Mechanisms",
    "formats": "entries.deployments.Format",
    "precisions": "entries.deployments.Precision",
    "profiles": "entries.profiles.Profile",
    "fits": "entries.profiles.Fits",
    "kernels": "entries.profiles.Kernels",
    "recipes": "entries.deployments.Recipes",
    "scenarios": "entries.deployments.ScenarioFile",
    "measurements": "entries.measurements.Measurements",
    "gates": "entries.measurements.Gate",
    "startups": "entries.measurements.StartupLogs",
    "bounds": "entries.measurements.StepBounds",
    "consumptions": "entries.measurements.Measurements",
    "formulas": "entries.formulas.DocumentFormulas",
    "calculators": "entries.formulas.Calculator",
    "claims": "ledger.Claims",
    "quantities": "ledger.Quantities",
    "advice": "ledger.AdviceOf",
    "documents": "ledger.Document",
    "calibrations": "entries.calibrations.CalibrationFile",
    "discrepancies": "entries.calibrations.Discrepancy",
    "accuracies": "entries.measurements.Accuracy",
    "settings": "ledger.Settings",
    "goals": "planning.Goal",
    "questions": "planning.Question",
    "loads": "entries.operation.Load",
    "failures": "entries.operation.Failures",
    "prices": "entries.operation.Prices",
    "powers": "entries.operation.Powers",
}
"""Kind of entries -> its class; a program reads few kinds, and loads the modules of these."""


@cache
def class_of(kind: str) -> type[Entry]:
    """Class of the entries of a kind."""
    module, _, name = KINDS[kind].rpartition(".")
    entry_class: type[Entry] = getattr(import_module(f".{module}", __package__), name)
    return entry_class


USUAL_NAMES = {"device": "card", "node": "server", "scenario": "deployment"}
"""Kind in the singular -> what lists and messages call it."""
ARTICLED = {"scenarios": "a deployment", "devices": "a card", "nodes": "a server",
            "prices": "a price list", "mechanisms": "mechanisms of a card", "advice": "advice",
            "measurements": "a measured system", "microbenchmarks": "microbenchmarks of a card",
            "families": "a model family", "acceptances": "an acceptance"}
"""Kind -> what messages call an entry, where that is not its name."""
TAKEN_BY = {
    "scenarios": "`will-it-fit estimate {}` takes it", "goals": "`will-it-fit search {}` takes it",
    "prices": "`will-it-fit cost PLAN --prices {}` takes it",
    "loads": "`will-it-fit capacity PLAN --load {}` takes it",
    "calibrations": "`will-it-fit calibrate {}` takes it",
    "devices": "a deployment names it by `device: {}`",
    "models": "a deployment names it by `model: {}`",
    "precisions": "a deployment names it by `precision: {}`",
    "nodes": "a deployment names it by `cluster: {{node: {}}}`",
    "links": "a server names it by `device_link: {}`",
    "mechanisms": "a card names it by `mechanisms: {}`",
    "microbenchmarks": "a card names it by `microbenchmarks: {}`"}
TEMPLATES = ("scenario", "device", "model", "goal", "link", "node", "load", "prices", "mechanisms",
             "measurements", "calibration")
IMPORTED = "config.json of a Hugging Face model"
OF_ANY = ("id", "name", "title", "note", "defaults", "also", "like")  # tell nothing of a kind
SPELT = 0.85  # similarity from which on a key is taken for a misspelt one
WRITTEN = ("scenarios", "goals", "devices", "models", "nodes", "links", "prices")
"""Kinds of which readers write most files."""
PLANS = ("scenarios", "goals")
"""Kinds whose keys other tools put into groups of their own."""


def described_kind(data: Mapping[str, Any], usual: str | None = None) -> str | None:
    """The kind whose keys a file has most of; None where it has none.

    A key that is misspelt, or called as other tools do, counts by half, an unknown one a little
    against the kind.

    Args:
        data: of the file.
        usual: kind in doubt, else those that readers write most.
    """
    if "model_type" in data and not {"fields", "implied"} & data.keys():
        return IMPORTED
    best, most = None, 0.0
    for kind in dict.fromkeys(filter(None, (usual, *WRITTEN, *KINDS))):
        score = _score(kind, data, kind in PLANS and usual in PLANS)
        if usual is None and kind == "scenarios" and not has_layout(data):
            score -= 0.01  # a goal, if as many keys are of one
        if score > most:
            best, most = kind, score
    return best


def _score(kind: str, data: Mapping[str, Any], inside: bool) -> float:
    """How much of a file is of a kind; keys inside unknown groups count if asked for."""
    fields = class_of(kind).model_fields
    own = [key for key in fields if key not in OF_ANY]
    return sum(1.0 if key in own else 0.0 if key in (*fields, *OF_ANY) else
               0.5 if nearest_names(str(key), own, 1, SPELT) or _means_key(kind, key, value) else
               _score(kind, value, inside) if inside and isinstance(value, dict) else -0.1
               for key, value in data.items())


def _means_key(kind: str, key: Any, value: Any) -> bool:
    """Whether a key is another tool's name for one of a goal, or of a deployment, which has no
    lists."""
    return (kind == "goals" and key_meant(str(key), goal=True) is not None) or (
        kind == "scenarios" and not isinstance(value, list) and key_meant(str(key)) is not None)


def has_layout(data: Mapping[str, Any]) -> bool:
    """Whether a file states parallel sizes, as deployments do."""
    return any((key_meant(str(key)) or key).startswith("parallelism") for key in map(str, data))


def wrapped(data: Mapping[str, Any]) -> str | None:
    """Error message for a file with all its keys under one, such as ``plan``; else None."""
    if len(data) != 1:
        return None
    (key, inner), = data.items()
    known = any(key in class_of(kind).model_fields for kind in WRITTEN)
    return (f"remove '{key}:' and move its keys one level up" if isinstance(inner, dict)
            and not known and len(inner) > 1 and described_kind(inner) in WRITTEN else None)


def described(kind: str) -> str:
    """An entry of a kind in a sentence: ``a card``."""
    return ARTICLED.get(kind, f"a {kind.removesuffix('s')}")


def misfit(file: str, of: str, expected: str) -> str:
    """That a file is not of the expected kind, and what takes it."""
    if of == IMPORTED:
        return (f"this is the {IMPORTED}, expected {described(expected)}: "
                f"`will-it-fit import-model {file} -o model.yml` makes a model file of it")
    template = new(expected)
    begins = f"; {template} prints a template of {described(expected)}" if template else ""
    taken = f": {TAKEN_BY[of].format(file)}" if of in TAKEN_BY else ""
    return f"this describes {described(of)}, expected {described(expected)}{taken}{begins}"


def usual_name(kind: str) -> str:
    """What lists and messages call a kind, in the singular or plural.

    >>> usual_name("nodes"), usual_name("model")
    ('servers', 'model')
    """
    stem = kind.removesuffix("s")
    return f"{USUAL_NAMES[stem]}{kind[len(stem):]}" if stem in USUAL_NAMES else kind


def template_of(kind: str) -> str:
    """Name of the template of a kind; empty where there is none."""
    return next((name for name in (kind, kind.removesuffix("s")) if name in TEMPLATES), "")


def new(kind: str) -> str:
    """The command that prints a template of a kind; empty where there is none."""
    name = template_of(kind)
    return f"`will-it-fit new {usual_name(name)}`" if name else ""


SHARED = ("symbols.yml", "glossary.yml", "symptoms.yml", "causes.yml", "configurations.yml",
          "operators.yml", "packages.yml", "startup_logs.yml", "synonyms.yml")
"""Files in no folder of a kind."""
FOLDERS = ("sources", "engines", "engines/tools", "engines/successors", "engines/assertions",
           "engines/thresholds", "engines/documents")
"""Folders of ``params/`` that hold no entries."""


def folder_in(path: Path) -> str:
    """Folder of a file in ``params/``, ``.`` for that itself; empty elsewhere."""
    try:
        return path.absolute().parent.resolve().relative_to(ROOT).as_posix()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a current folder that is gone
        return ""


def kind_of(file: str) -> str:
    """The kind of a parameter file: by its folder in ``params/``, else by its keys.

    Besides the kinds of entries: names of ``SHARED`` and ``FOLDERS``.

    Raises ParamsError for a file that describes no entry.
    """
    path = Path(file)
    folder = folder_in(path)
    if folder == "." and path.name in SHARED:
        return path.name
    if path.suffix == ".yml" and folder in FOLDERS:
        return folder
    if path.absolute().parent.name in KINDS:
        return path.absolute().parent.name
    entry = read(path, as_meant=True)
    if problem := wrapped(entry.data):
        raise ParamsError(f"{entry.where()}: {problem}.")
    kind = "engines" if "releases" in entry.data else described_kind(entry.data)
    if kind == IMPORTED:
        raise ParamsError(f"{entry.where()}: {misfit(file, IMPORTED, 'models')}.")
    if kind is None:
        raise ParamsError(f"{entry.where()}: cannot tell what this file describes: a card has "
                          "memory_capacity, a deployment parallelism, a goal demand, a model "
                          "num_hidden_layers.")
    return kind
