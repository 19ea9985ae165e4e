"""What every file refers to: sources that are cited, terms and symptoms of the book, causes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT
from catalogue.reading.values import stated_date

CONSEQUENCES = ("stops", "decision", "number")  # of a cause, the gravest first
_FOLDER = ROOT / "sources"
_SYMPTOM = ("en", "zh", "at")  # its variants in either language, and what answers it


def sources() -> dict[str, dict[str, str]]:
    """Key -> {title, url?, date?, read?, note?} of all that is cited, from ``params/sources/``.

    ``date`` is that of what the source states; where it prints none, ``read`` is the day by which
    it was read, on which it stood so.
    """
    return yamlfile.remembered("sources", _FOLDER, _sources)


def _sources() -> dict[str, dict[str, str]]:
    yamlfile.note(_FOLDER)
    found: dict[str, dict[str, str]] = {}
    for name in yamlfile.names_in(_FOLDER):
        file = yamlfile.read(_FOLDER / f"{name}.yml")
        for key, entry in file.data.items():
            if not isinstance(entry, dict) or not isinstance(entry.get("title"), str):
                raise ParamsError(f"{file.where((key,))}: the source '{key}' has no title.")
            if unknown := sorted(set(entry) - {"title", "url", "date", "read", "note"}):
                raise ParamsError(f"{file.where((key, unknown[0]))}: unknown key '{unknown[0]}', "
                                  "expected title, url, date, read or note.")
            for name in {"date", "read"} & set(entry):
                try:
                    stated_date(entry[name])
                except ValueError as error:
                    raise ParamsError(f"{file.where((key, name))}: {error}.") from None
            if key in found:
                raise ParamsError(f"{file.where((key,))}: the source '{key}' is listed twice.")
            found[key] = entry
    return found


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
    return yamlfile.remembered("glossary", ROOT / "glossary.yml", lambda: _entries(
        ROOT / "glossary.yml", ("en", "zh")))


def symptoms() -> dict[str, dict[str, Any]]:
    """What readers type who look for help, from ``params/symptoms.yml``.

    ``ignored``: kind -> words that tell nothing; ``same``: name -> words that mean the same;
    ``faults``: names of those that say what went wrong; ``symptoms``: name -> variants in either
    language, and the labels of what answers them.
    """
    return yamlfile.remembered("symptoms", ROOT / "symptoms.yml", _symptoms)


def _symptoms() -> dict[str, dict[str, Any]]:
    file = yamlfile.read(ROOT / "symptoms.yml")
    if set(file.data) != {"ignored", "same", "faults", "symptoms"}:
        raise ParamsError(f"{file.where()}: expected ignored, same, faults and symptoms.")
    for name in file.data["faults"]:
        if name not in file.data["same"]:
            raise ParamsError(f"{file.where(('faults',))}: '{name}' is no list of 'same'.")
    for key, entry in file.data["symptoms"].items():
        if not isinstance(entry, dict) or set(entry) != set(_SYMPTOM):
            raise ParamsError(f"{file.where(('symptoms', key))}: '{key}' has not just "
                              f"{', '.join(_SYMPTOM)}.")
    lists: list[tuple[tuple[str, ...], Any]] = [
        ((kind, key), words) for kind in ("ignored", "same")
        for key, words in file.data[kind].items()]
    lists += [(("symptoms", key, part), entry[part])
              for key, entry in file.data["symptoms"].items() for part in _SYMPTOM]
    for where, words in lists:
        if not isinstance(words, list) or not words or any(
                not isinstance(word, str) or not word.strip() for word in words):
            raise ParamsError(f"{file.where(where)}: '{where[-1]}' is no list of words.")
    return file.data


def causes() -> dict[str, dict[str, Any]]:
    """What went wrong in the documents, by the name of the cause, from ``params/causes.yml``.

    Each has a title, what it is, and its ``consequence``, one of ``CONSEQUENCES``.
    """
    path = ROOT / "causes.yml"

    def checked() -> dict[str, dict[str, Any]]:
        found = _entries(path, ("title", "what", "consequence"))
        for key, entry in found.items():
            if entry["consequence"] not in CONSEQUENCES:
                where = yamlfile.read(path).where((key, "consequence"))
                raise ParamsError(f"{where}: '{str(entry['consequence'])[:20]}' is no consequence, "
                                  f"expected one of {', '.join(CONSEQUENCES)}.")
        return found

    return yamlfile.remembered("causes", path, checked)


def _entries(path: Path, needed: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    file = yamlfile.read(path)
    for key, entry in file.data.items():
        if not isinstance(entry, dict) or (missing := [key for key in needed if key not in entry]):
            what = missing[0] if isinstance(entry, dict) else "every key"
            raise ParamsError(f"{file.where((key,))}: '{key}' lacks {what}.")
    return file.data
