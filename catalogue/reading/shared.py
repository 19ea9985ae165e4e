"""What every file refers to: sources that are cited, terms and symptoms of the book, causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT
from catalogue.reading.values import Date, Text

Consequence = Literal["stops", "decision", "number"]
CONSEQUENCES: tuple[str, ...] = get_args(Consequence)  # of a cause, the gravest first
_FOLDER = ROOT / "sources"


class Source(BaseModel):
    """What is cited. ``date`` is that of what it states; where it prints none, ``read`` is the day
    by which it was read, on which it stood so."""

    model_config = ConfigDict(extra="forbid")
    title: str
    url: str = ""
    date: Date = ""
    read: Date = ""
    note: Text | None = None


class Term(BaseModel):
    """A term of the book in both languages, and what else its file says of it."""

    en: Any
    zh: Any


class Cause(BaseModel):
    """What went wrong in the documents."""

    title: Text
    what: Text
    consequence: Consequence


class Symptom(BaseModel):
    """Variants of a symptom in either language, and the labels of what answers it."""

    model_config = ConfigDict(extra="forbid")
    en: list[str]
    zh: list[str]
    at: list[str]


class Symptoms(BaseModel):
    """What readers type who look for help.

    ``ignored``: kind -> words that tell nothing; ``same``: name -> words that mean the same;
    ``faults``: names of those that say what went wrong.
    """

    model_config = ConfigDict(extra="forbid")
    ignored: dict[str, list[str]]
    same: dict[str, list[str]]
    faults: list[str]
    symptoms: dict[str, Symptom]


def _checked(path: Path, kind: Any) -> dict[str, dict[str, Any]]:
    """The contents of a file, of a kind that pydantic knows. Raises ParamsError for others."""
    def checked() -> dict[str, dict[str, Any]]:
        file = yamlfile.read(path)
        try:
            TypeAdapter(kind).validate_python(file.data)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            raise ParamsError(f"{file.where(problem['loc'])}: "
                              f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}.") from None
        return file.data

    return yamlfile.remembered("checked", path, checked)


def sources() -> dict[str, dict[str, str]]:
    """Key -> entry of :class:`Source` of all that is cited, from ``params/sources/``."""
    return yamlfile.remembered("sources", _FOLDER, _sources)


def _sources() -> dict[str, dict[str, str]]:
    yamlfile.note(_FOLDER)
    result: dict[str, dict[str, str]] = {}
    for name in yamlfile.names_in(_FOLDER):
        path = _FOLDER / f"{name}.yml"
        entries = _checked(path, dict[str, Source])
        for key in result.keys() & entries:
            raise ParamsError(f"{yamlfile.read(path).where((key,))}: the source '{key}' is listed "
                              "twice.")
        result |= entries
    return result


def stands_on(key: str) -> str | None:
    """The day, month or year of which a source speaks, else the day on which it was read.

    >>> stands_on("hf-deepseek-v3"), stands_on("s0"), stands_on("arithmetic")
    ('2024-12', '2026-11-20', None)
    """
    entry = sources().get(key, {})
    stated = entry.get("date", entry.get("read"))
    return None if stated is None else str(stated)


def glossary() -> dict[str, dict[str, Any]]:
    """Every term of the book by identifier, from ``params/glossary.yml``."""
    return _checked(ROOT / "glossary.yml", dict[str, Term])


def symptoms() -> dict[str, dict[str, Any]]:
    """What readers type who look for help, from ``params/symptoms.yml``; see :class:`Symptoms`."""
    return _checked(ROOT / "symptoms.yml", Symptoms)


def causes() -> dict[str, dict[str, Any]]:
    """What went wrong, by the name of the cause, from ``params/causes.yml``."""
    return _checked(ROOT / "causes.yml", dict[str, Cause])
