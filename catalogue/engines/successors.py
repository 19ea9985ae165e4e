"""Why a release does not take a setting, and what takes its place.

``params/engines/successors/*.yml`` says by name what does now what a setting did, where the
source of the engine itself does not name it.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from catalogue.engines.engine import ONE, Engine, bare, load_engine, load_tool, tool_names
from catalogue.messages import LANGUAGES
from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT
from catalogue.reading.shared import sources
from catalogue.reading.values import Text
from catalogue.reading.yamlfile import YamlFile


@dataclass(frozen=True)
class Successor:
    """What takes the place of a setting.

    Attributes:
        use: names that do it now, none where nothing has to be set any more.
        note: why, in both languages.
        source: of ``params/sources/``.
    """

    use: tuple[str, ...]
    note: Text
    source: str


def successors(engine: str) -> dict[str, Successor]:
    """What takes the place of settings of an engine, by name; none where nothing is known.

    Raises ParamsError, one sentence with file and line, for a file that is not such a table.
    """
    path = ROOT / "engines" / "successors" / f"{engine}.yml"
    return _load(engine) if path.is_file() else {}


@functools.cache
def _load(engine: str) -> dict[str, Successor]:
    return successors_of(yamlfile.read(ROOT / "engines" / "successors" / f"{engine}.yml"))


def successors_of(file: YamlFile) -> dict[str, Successor]:
    """The table in a file. Raises ParamsError, one sentence with file and line."""
    found = {}
    for name, raw in file.data.items():
        keys = (name,)
        if not isinstance(raw, dict) or set(raw) != {"use", "note", "source"}:
            raise ParamsError(f"{file.where(keys)}: '{name[:60]}' expected use, note and source.")
        use, note, source = raw["use"], raw["note"], raw["source"]
        if not isinstance(use, list) or not all(isinstance(each, str) for each in use):
            raise ParamsError(f"{file.where(keys)}: '{name[:60]}': expected a list of names in "
                              "use.")
        if not isinstance(note, dict) or set(note) != set(LANGUAGES):
            raise ParamsError(f"{file.where(keys)}: '{name[:60]}': expected a note in en and zh.")
        if source not in sources():
            raise ParamsError(f"{file.where(keys)}: '{name[:60]}': there is no source "
                              f"'{str(source)[:60]}' in params/sources/.")
        found[name] = Successor(tuple(use), note, source)
    return found


def instead(engine: Engine, name: str) -> tuple[str, ...] | None:
    """Names that do what a setting did; () where nothing is to be set, None where unknown."""
    known = {_bare(each): successor for each, successor in successors(engine.name).items()}
    entry = engine.find(name)
    for spelt in (name, *((entry.name,) if entry else ())):
        if _bare(spelt) in known:
            return known[_bare(spelt)].use
    last = entry.at(entry.until) if entry and entry.until else None
    return (last.use,) if last and last.use else None


def _bare(name: str) -> str:
    """A name in one spelling, without a value behind it."""
    return bare(name.strip().partition("=")[0])


def _from(engine: Engine, name: str, release: str) -> str:
    """A name, and from which release on, where it is a later one."""
    entry = engine.find(name)
    if entry is None or entry.at(release) is not None or entry.until is not None:
        return name
    return f"{name} (from {entry.since} on)"


def refusal(engine: Engine, name: str, release: str) -> str:
    """One sentence: that a release does not know a setting, since when, and what to use.

    >>> print(refusal(load_engine("vllm"), "--use-v2-block-manager", "0.11.0"))
    vLLM 0.11.0 has no '--use-v2-block-manager': the last pinned release that has it is 0.9.2; \
nothing has to be set in its place.
    >>> print(refusal(load_engine("vllm"), "--nnodes", "0.11.0"))
    vLLM 0.11.0 has no '--nnodes': it comes with 0.13.0.
    """
    entry = engine.find(name)
    shown = name[:60] if name.isprintable() else ascii(name[:60])[1:-1]
    if entry is None:
        why = "nor has any pinned release"
    elif engine.versions.index(release) < engine.versions.index(entry.since):
        why = f"it comes with {entry.since}"
    elif entry.until is not None:
        why = f"the last pinned release that has it is {entry.until}"
    else:
        why = f"it has one as {ONE[entry.kind]} '{entry.name}' in other releases only"
    use = instead(engine, name)
    if use:
        why += f"; use {' or '.join(_from(engine, each, release) for each in use)}"
    elif use == ():
        why += "; nothing has to be set in its place"
    elif entry is None and (near := engine.near(name)):
        why += f"; the nearest names are {', '.join(near)}"
    return f"{engine.title} {release} has no '{shown}': {why}."


def catalogue_of(name: str) -> Engine:
    """The catalogue of an engine, a bench or a router. Raises ParamsError for another name."""
    return load_tool(name) if name in tool_names() else load_engine(name)
