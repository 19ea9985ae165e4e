"""Which file a name means: one way for every kind of entry, in whatever case it is written."""

from __future__ import annotations

import difflib
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT
from catalogue.reading.values import is_path

MAX_NAME = 4096
_PUBLISHED = re.compile(r"[\w-][\w.-]*/[\w.-]+")  # a model as its publisher writes it
SHOWN = 8  # names of a kind that are told where none is near
OWN = {"devices": "device", "models": "model"}
"""Kinds of which readers write files of their own, and the template that they begin with."""
PREFIXED = ("devices", "models", "precisions")  # kinds whose names have parts that people use
LEAST = 3  # letters of a part
OTHER = {
    "scenarios": {
        "goals": "'{text}' is a goal, expected a scenario; the deployments that meet a goal are "
                 "found by: search {entry}.",
        "models": "'{text}' is a model, expected a scenario that names it, as those of: scenarios; "
                  "or a goal of its own: search goal.yml.",
        "devices": "'{text}' is a device, expected a scenario; one takes it with --set "
                   "device={entry}.",
        "gates": "'{text}' has the flag test_only: it is tested on, never fitted to, expected a "
                 "scenario; its errors are printed by: validate --system {entry}."},
    "goals": {
        "scenarios": "'{text}' is a scenario, expected a goal; it is evaluated by: estimate "
                     "{entry}."},
    "models": {"devices": "'{text}' is a device, expected a model; it is shown by: devices "
                          "{entry}."},
    "devices": {"models": "'{text}' is a model, expected a device; it is shown by: models "
                          "{entry}."}}
"""Where an entry of one kind is asked for and a name is that of another: what to ask instead."""
NESTED = {"startups": "measurements/memory"}
"""Folders of kinds that are not named after their kind."""
WITHOUT_MAKER = ("devices",)  # kinds whose entries are found without the first part: 910B2


def folder_of(kind: str) -> Path:
    """Folder of the entries of a kind."""
    return ROOT / NESTED.get(kind, kind)


def names(kind: str) -> list[str]:
    """Identifiers of all entries of a kind, sorted."""
    folder = folder_of(kind)
    yamlfile.note(folder)
    return [*yamlfile.names_in(folder)]


@lru_cache(maxsize=4096)
def file_of(kind: str, name: str) -> Path:
    """Where the entry of an identifier stands, if it does."""
    return folder_of(kind) / f"{name}.yml"


def stands(kind: str, name: str) -> bool:
    """Whether the catalogue has an entry of that identifier; looks at no other file."""
    try:
        return file_of(kind, name).is_file()
    except (OSError, ValueError):  # longer than a name can be
        return False


def also(kind: str, name: str) -> list[str]:
    """Further names of an entry, the ``also`` of its file."""
    path = file_of(kind, name)

    def stated() -> list[str]:
        found: Any = yamlfile.read(path).data.get("also")
        return [str(each) for each in found] if isinstance(found, list) else []

    return yamlfile.remembered("further names", path, stated)


def plain(text: str) -> str:
    """A name without what people write differently: case, spaces, a publisher before a slash.

    >>> plain("deepseek-ai/DeepSeek-V3"), plain("NVIDIA H200")
    ('deepseek-v3', 'nvidia-h200')
    """
    return re.sub(r"[\s_]+", "-", text.strip().casefold().rpartition("/")[2])


def locate(kind: str, reference: str | Path, beside: Path | None = None) -> Path:
    """The file of an entry: a path, an identifier, or another of its names.

    A path is looked for beside the file that names it (``beside``, if one does), from the current
    folder, and from the project's root. A name may be written in any case; ``also`` in the file of
    an entry holds its further ones. Of a device the last part is enough where only one ends so.

    Raises ParamsError naming the nearest identifiers when there is no such entry, and all that are
    meant where a name is that of several.
    """
    text = str(reference).strip()
    if not text or not text.isprintable() or len(text) > MAX_NAME:
        raise ParamsError(f"{kind[:-1]}: {text[:40]!a} is not a name, expected an identifier or "
                          "a path.")
    if is_path(text):
        problem = "there is no such file"
        for folder in (*([beside.parent] if beside else []), Path(), ROOT.parent):
            try:
                if (folder / text).is_file():
                    return folder / text
            except OSError as error:  # what the file system refuses
                problem = f"cannot be read ({(error.strerror or 'refused').lower()})"
        if not _PUBLISHED.fullmatch(text) or text.endswith((".yml", ".yaml")):
            raise ParamsError(f"{text}: {problem}.")
    if stands(kind, text):
        return file_of(kind, text)
    named = _meant(kind, text)
    if named is None:
        raise ParamsError(_unknown(kind, text))
    return file_of(kind, named)


def _meant(kind: str, text: str) -> str | None:
    """The entry that a name means, which is no identifier as it is written; None if none."""
    known, wanted = names(kind), plain(text)
    if wanted in known:
        return wanted
    for name in known:
        if wanted in map(plain, (name, *also(kind, name))):
            return name
    ending = [name for name in known if name.endswith(f"-{wanted}")]
    return ending[0] if kind in WITHOUT_MAKER and len(ending) == 1 else None


def _unknown(kind: str, text: str) -> str:
    """That there is no such entry, and what there is: several of that name, or the nearest."""
    known, wanted = names(kind), plain(text)
    for other in OTHER.get(kind, ()):
        if (entry := _meant(other, text)) is not None:
            return OTHER[kind][other].format(text=text, entry=entry)
    several = _several(kind, wanted)
    if len(several) > 1:
        listed = [f"{name} ({_title(kind, name)})" for name in several]
        return (f"'{text}' may be any of several in params/{kind}/, expected one of them: "
                f"{', '.join(listed)}.")
    spelt = {other: name for name in known for other in (
        name, name.partition("-")[2] if kind in WITHOUT_MAKER else name,
        *map(plain, also(kind, name)))}
    close = difflib.get_close_matches(wanted, [each for each in spelt if each], n=6, cutoff=0.5)
    near = list(dict.fromkeys(spelt[each] for each in close))[:3]
    near = near or [name for name in known if wanted in name]
    own = (f"; a file of your own may begin as params/templates/{OWN[kind]}.yml"
           + (f" or be like {near[0] if near else 'one of them'}" if kind == "devices" else "")
           ) if kind in OWN else ""
    told = (f", the nearest names are {', '.join(near)}" if near else
            f" and no name is near, expected one of {len(known)}, such as "
            f"{', '.join(known[:SHOWN])}")
    return f"there is no {kind[:-1]} '{text}' in params/{kind}/{told}{own}."


def _several(kind: str, wanted: str) -> list[str]:
    """Entries that a name begins: the bins of a 910B, the two faces of a 910C."""
    if kind not in PREFIXED or len(wanted) < LEAST:
        return []
    begins = f"{'' if kind == 'models' else '(.*-)?'}{re.escape(wanted)}"
    begins += "(?![0-9])" if wanted[-1].isdigit() else ""
    return [name for name in names(kind) if re.match(begins, name)]


def _title(kind: str, name: str) -> str:
    """An entry's English name."""
    title = yamlfile.read(file_of(kind, name)).data.get("name")
    return str(title.get("en", name)) if isinstance(title, dict) else name
