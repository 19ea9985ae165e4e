"""Claims of the documents, file by file, and which of them ``params/quantities/`` names together.

A claim that cannot be used leaves the others alone.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import catalogue
from catalogue import ParamsError
from catalogue.ledger import Claim, Claims, Quantities
from catalogue.library import load, locate, names, read
from catalogue.reading.yamlfile import YamlFile, display_path

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


def listed() -> tuple[list[Listed], list[str]]:
    """Every claim of ``params/claims/``, by document and number, and a sentence for each that
    cannot be used."""
    return listed_in([locate(KEY, name) for name in names(KEY)])


@functools.cache
def quantities_named() -> frozenset[str]:
    """The quantities of deployments that claims of ``params/claims/`` are held against."""
    references = (where for row in listed()[0] for where in (
        row.claim.truth, row.claim.claim, row.claim.alert.of if row.claim.alert else None,
        *row.claim.sourced.values()))
    return frozenset(re.split("[./]", where.partition(":")[2])[0] for where in references
                     if where is not None and ":" in where)


def listed_beside(path: Path) -> tuple[list[Listed], list[str]]:
    """The claims of a file, with those of ``params/claims/`` that it does not hold itself; a
    sentence for each of the file that cannot be used."""
    others = [other for name in names(KEY) if (other := locate(KEY, name)).name != path.name]
    claims, problems = listed_in([path, *others])
    own = f"{display_path(path)}:"
    return claims, [problem for problem in problems if problem.startswith(own)]


def listed_in(paths: list[Path]) -> tuple[list[Listed], list[str]]:
    """The claims of some files, as :func:`listed` has them."""
    claims: dict[str, Listed] = {}
    problems: list[str] = []
    for path in paths:
        for file, entry in _parts(path, problems):
            for number, claim in enumerate(entry.claims):
                at = file.where((KEY, number, "id"))
                if claim.id in claims:
                    problems.append(f"{at}: '{claim.id}' stands in "
                                    f"{claims[claim.id].where} already.")
                    continue
                claims[claim.id] = Listed(claim, entry.document, at, entry.letters)
    return sorted(claims.values(), key=lambda row: (row.document, row.claim.id)), problems


def _parts(path: Path, problems: list[str]) -> Iterator[tuple[YamlFile, Claims]]:
    """A file that can be used, or each of its claims that can as a file of its own."""
    try:
        file = read(path)
    except ParamsError as error:
        problems.append(str(error))
        return
    try:
        entry: Claims = load(KEY, path)
        yield file, entry
        return
    except ParamsError as error:
        message = str(error)
    entries = file.data.get(KEY)
    usable, before = [], len(problems)
    for number in range(len(entries) if isinstance(entries, list) else 0):
        part = _alone(file, number)
        try:
            usable.append((part, load(KEY, path, file=part)))
        except ParamsError as error:
            problems.append(str(error))
    if len(problems) == before or not usable:  # what is wrong is not of a single claim
        problems[before:] = [message]
        return
    yield from usable


def _alone(file: YamlFile, number: int) -> YamlFile:
    """A file with one of its claims only, which keeps its line."""
    lines = {keys: line for keys, line in file.lines.items() if keys[:1] != (KEY,)}
    lines |= {(KEY, 0, *keys[2:]): line for keys, line in file.lines.items()
              if keys[:2] == (KEY, number)}
    return YamlFile(file.path, file.data | {KEY: [file.data[KEY][number]]}, lines)


def nearest(name: str, names: Iterable[str]) -> str:
    """The end of a sentence on a name that is not known: those like it, if there are any."""
    near = difflib.get_close_matches(name[:60], names, n=3)
    return f", the nearest names are {', '.join(near)}" if near else ""


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


def load_quantities(reference: str) -> Quantities:
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
