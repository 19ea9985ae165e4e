"""Fields that say the same in configurations of every family, and families by ``model_type``."""

from __future__ import annotations

import difflib
import functools
from pathlib import Path

from catalogue import library, naming
from catalogue.entries.families import Family
from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.record import ROOT

NEAR = 3  # names of families in a message


@functools.cache
def fields(group: str) -> frozenset[str]:
    """Fields of one group of ``params/configurations.yml``: irrelevant, architectural, around."""
    return frozenset(yamlfile.read(ROOT / "configurations.yml").data[group])


@functools.cache
def formats() -> tuple[tuple[str, dict[str, object]], ...]:
    """Precisions of published weights, each with the fields of a configuration that say so."""
    return tuple((each["precision"], each["of"])
                 for each in yamlfile.read(ROOT / "configurations.yml").data["formats"])


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
