"""The files of ``params/quantities/``: which claims they name together."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import catalogue
from calc.auditing.claim_files import listed
from calc.auditing.truths import nearest
from catalogue import ParamsError
from catalogue.ledger.claims import Quantities
from catalogue.library import locate, read

KIND = "quantities"


def entries(problems: list[str] | None = None) -> list[Quantities]:
    """Every file of ``params/quantities/``; what cannot be read is a sentence among the problems,
    or is raised."""
    files = []
    for name in catalogue.names(KIND):
        try:
            files.append(catalogue.load(KIND, name))
        except ParamsError as error:
            if problems is None:
                raise
            problems.append(str(error))
    return files


def groups(files: Iterable[Quantities]) -> Iterator[tuple[tuple[Any, ...], list[str]]]:
    """Where claims are named together, as the keys of the place in their file, and the claims."""
    for file in files:
        for name, quantity in file.quantities.items():
            yield ("quantities", name, "claims"), list(map(claim_of, quantity.claims))
        for name, law in file.laws.items():
            for number, given in enumerate(law.of):
                yield ("laws", name, "of", number), list(map(claim_of, given.values()))
        for name, launch in file.launches.items():
            yield ("launches", name, "claims"), list(launch.claims)


def load(reference: str) -> Quantities:
    """A file whose claims are all known. Raises ParamsError, with file and line, for one that is
    not."""
    entry: Quantities = catalogue.load(KIND, reference)
    claims_listed = {row.claim.id for row in listed()[0]}
    for keys, claims in groups([entry]):
        if lost := [claim for claim in claims if claim not in claims_listed]:
            where = read(locate(KIND, reference)).where(keys)
            raise ParamsError(f"{where}: there is no claim '{lost[0]}'"
                              + nearest(lost[0], claims_listed) + ".")
    return entry


def beside(own: Collection[str], files: Iterable[Quantities]) -> set[str]:
    """Some claims of a document, by their numbers, and those of others that may contradict one."""
    named = (set(claims) for _, claims in groups(files))
    return set(own).union(*(claims for claims in named if claims & set(own)))


def claim_of(name: str) -> str:
    """The claim that is named, of a range the one whose end is meant."""
    return name.partition("/")[0]
