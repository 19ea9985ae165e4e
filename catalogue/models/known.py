"""Fields that say the same in configurations of every family, and families by ``model_type``."""

from __future__ import annotations

import difflib
import functools
from pathlib import Path
from typing import Any

from catalogue import library, naming
from catalogue.entries.families import Family
from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT

NEAR = 3  # names of families in a message


FILE = ROOT / "configurations.yml"
GROUPS = ("irrelevant", "architectural", "around")  # of fields in it


def configurations() -> dict[str, list[Any]]:
    """What every family has in common, from ``params/configurations.yml``.

    Raises ParamsError for keys that it does not have and values that are none.
    """
    yamlfile.note(FILE)
    return _configurations(FILE)


@functools.cache
def _configurations(path: Path) -> dict[str, list[Any]]:
    file = yamlfile.read(path)
    if set(file.data) != {*GROUPS, "formats"}:
        raise ParamsError(f"{file.where()}: expected {', '.join(GROUPS)} and formats.")
    for group in GROUPS:
        if not isinstance(file.data[group], list) or not all(
                isinstance(name, str) for name in file.data[group]):
            raise ParamsError(f"{file.where((group,))}: '{group}' is no list of fields.")
    for number, each in enumerate(file.data["formats"]):
        where = file.where(("formats", number))
        if not isinstance(each, dict) or set(each) != {"precision", "of"}:
            raise ParamsError(f"{where}: expected precision and of.")
        naming.locate("precisions", each["precision"])
    return file.data


@functools.cache
def fields(group: str) -> frozenset[str]:
    """Fields of one group: irrelevant, architectural, around."""
    return frozenset(configurations()[group])


def formats() -> list[dict[str, Any]]:
    """Precisions of published weights, each with the fields of a configuration that say so."""
    return configurations()["formats"]


def family_names() -> dict[str, str]:
    """Every known ``model_type``, with the name of the family's file."""
    files = naming.names("families")
    return {name: name for name in files} | {
        other: name for name in files for other in naming.also("families", name)}


def load_family(reference: str | Path) -> Family:
    """A family by its ``model_type``, or from a file of the reader's own.

    Raises ParamsError as :func:`catalogue.library.load`.
    """
    found: Family = library.load("families", reference)
    return found


def own_family(reference: str) -> Family:
    """The family that ``--family`` names: a file, or another model type.

    Raises ParamsError with the nearest names.
    """
    if reference.endswith((".yml", ".yaml")):
        return load_family(Path(reference))
    if reference not in (names := family_names()):
        raise ParamsError(f"--family: {reference[:40]!a} is no family, expected a file NAME.yml or "
                          f"one of params/families/, {nearest(reference)}.")
    return load_family(names[reference])


def nearest(model_type: str) -> str:
    """The families whose names are nearest, for a message."""
    near = difflib.get_close_matches(model_type.casefold(), family_names(), n=NEAR, cutoff=0.4)
    return f"such as {', '.join(near)}" if near else "of which none has a name near it"
