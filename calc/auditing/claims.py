"""Claims of the documents, and which of them ``params/quantities/`` names together."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catalogue
from catalogue import ParamsError
from catalogue.ledger import Claim, Claims, Quantities
from catalogue.library import load, locate, names, read
from catalogue.reading.files import display_path
from catalogue.reading.near import nearest_names

KEY = "claims"


@dataclass(frozen=True)
class Listed:
    """A claim and where it stands.

    Attributes:
        claim: the claim.
        document: s0 to s3.
        where: file and line of its entry, ``params/claims/s0-preface.yml:12``.
        letters: of its file, by name of an input.
    """

    claim: Claim
    document: str
    where: str
    letters: dict[str, Any]


def listed(path: Path | None = None) -> tuple[list[Listed], list[str]]:
    """Every claim of ``params/claims/``, by document and number, and a sentence for each file that
    cannot be used; of a file that is given, with the claims of the others beside its own."""
    paths = [locate(KEY, name) for name in names(KEY)]
    if path is None:
        return listed_in(paths)
    claims, problems = listed_in([path, *(one for one in paths if one.name != path.name)])
    own = f"{display_path(path)}:"
    return claims, [problem for problem in problems if problem.startswith(own)]


@functools.cache
def quantities_named() -> frozenset[str]:
    """The quantities of deployments that claims of ``params/claims/`` are held against."""
    references = (where for row in listed()[0] for where in (
        row.claim.truth, row.claim.claim, row.claim.alert.of if row.claim.alert else None,
        *row.claim.sourced.values()))
    return frozenset(re.split("[./]", where.partition(":")[2])[0] for where in references
                     if where is not None and ":" in where)


def listed_in(paths: Iterable[Path]) -> tuple[list[Listed], list[str]]:
    """The claims of some files, as :func:`listed` has them."""
    claims: dict[str, Listed] = {}
    problems: list[str] = []
    for path in paths:
        try:
            entry: Claims = load(KEY, path)
            file = read(path)
        except ParamsError as error:
            problems.append(str(error))
            continue
        for number, claim in enumerate(entry.claims):
            at = file.where((KEY, number, "id"))
            if claim.id in claims:
                problems.append(f"{at}: '{claim.id}' stands in {claims[claim.id].where} already.")
            else:
                claims[claim.id] = Listed(claim, entry.document, at, entry.letters)
    return sorted(claims.values(), key=lambda row: (row.document, row.claim.id)), problems


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a sentence on a name that is not known: those like it, if there are any."""
    near = nearest_names(name, names)
    return f", the nearest names are {', '.join(near)}" if near else ""


KIND = "quantities"


def entries() -> list[Quantities]:
    """Every file of ``params/quantities/``."""
    return [catalogue.load(KIND, name) for name in catalogue.names(KIND)]


def load_quantities(reference: str) -> Quantities:
    """A file whose claims are all known. Raises ParamsError, with file and line, for one that is
    not; names of claims are not checked while a file of claims cannot be read."""
    entry: Quantities = catalogue.load(KIND, reference)
    rows, problems = listed()
    if problems:
        return entry
    known_ids = {row.claim.id for row in rows}
    named: list[tuple[tuple[Any, ...], Iterable[str]]] = [
        *((("quantities", name, "claims"), quantity.claims)
          for name, quantity in entry.quantities.items()),
        *((("laws", name, "of", number), given.values()) for name, law in entry.laws.items()
          for number, given in enumerate(law.of)),
        *((("launches", name, "claims"), launch.claims) for name, launch in entry.launches.items())]
    for keys, claims in named:
        if lost := [claim for claim in map(claim_of, claims) if claim not in known_ids]:
            where = read(locate(KIND, reference)).where(keys)
            raise ParamsError(f"{where}: there is no claim '{lost[0]}'"
                              + nearest(lost[0], known_ids) + ".")
    return entry


def claim_of(name: str) -> str:
    """The claim that is named, of a range the one whose end is meant."""
    return name.partition("/")[0]
