"""The engine catalogue: arguments, environment variables and metrics of vLLM and its like.

``params/engines/*.yml`` is made by ``python -m tools.engines.extract`` from released source. An
entry states in which of the pinned releases it exists, and what it was there; between two pinned
releases the catalogue says nothing. Documents' launch blocks and alert thresholds are in folders
beside it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from catalogue.entries.entry import Entry as BaseEntry
from catalogue.library import file_of, names, parsed, stands
from catalogue.reading import units, yamlfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.values import Ref, is_path
from catalogue.reading.yamlfile import YamlFile

Kind = Literal["arguments", "variables", "options", "metrics"]
KINDS: tuple[Kind, ...] = ("arguments", "variables", "options", "metrics")


@dataclass(frozen=True)
class Release:
    """A pinned release: its version, date of upload, and the file that was read."""

    version: str
    date: str
    sha256: str
    url: str


@dataclass(frozen=True)
class State:
    """What an entry is in one release.

    Attributes:
        type: as the command line takes it; None where the source does not say.
        default: None also where it is decided when the program runs (``dynamic``).
        choices: the values it takes, and no others; open_choices: a list made at run time.
        known: values that the source lists without refusing others.
        negatable: also as ``--no-...``.
        deprecated, use: marked so in the source, and what it says to use instead.
        hidden: a metric that is shown only on demand; v0: of vLLM's former engine alone.
    """

    type: str | None = None
    default: Any = None
    dynamic: bool = False
    choices: tuple[Any, ...] | None = None
    known: tuple[Any, ...] | None = None
    open_choices: bool = False
    required: bool = False
    negatable: bool = False
    aliases: tuple[str, ...] = ()
    deprecated: bool = False
    use: str | None = None
    hidden: bool = False
    v0: bool = False


STATE = {item.name: item.default for item in fields(State)}


@dataclass(frozen=True)
class Entry:
    """An argument, variable, key or metric over the pinned releases.

    Attributes:
        since, until: first and last pinned release that has it; ``until`` is None while it stands.
        states: release -> what it is there, for the releases that have it.
        changed: release -> the names of what differs from the release before.
    """

    name: str
    kind: Kind
    since: str
    until: str | None
    states: dict[str, State]
    changed: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def at(self, release: str) -> State | None:
        """What it is in a release, or None where the release has no such thing."""
        return self.states.get(release)

    def names(self, release: str) -> tuple[str, ...]:
        """Every name under which a release takes it."""
        state = self.states.get(release)
        if state is None:
            return ()
        negated = (f"--no-{self.name.removeprefix('--')}",) if state.negatable else ()
        return (self.name, *state.aliases, *negated)


ONE = {"arguments": "argument", "variables": "environment variable",
       "options": "key of --additional-config", "metrics": "metric"}
_ENDINGS = ("_total", "_bucket", "_sum", "_count", "_info")
_ENTRY = ("since", "until", "gaps", "changes")
LONGEST = 200
STOPS = ("unknown", "choice", "type")  # what stops a command, of what ``Engine.judge`` returns
_NOTHING = (None, "None", "none", "null")


@dataclass(frozen=True)
class Engine:
    """One engine's catalogue; releases from the oldest to the newest."""

    name: str
    title: str
    releases: tuple[Release, ...]
    entries: dict[Kind, dict[str, Entry]]
    index: dict[str, tuple[Entry, ...]] = field(repr=False)

    @property
    def versions(self) -> tuple[str, ...]:
        """The pinned versions."""
        return tuple(release.version for release in self.releases)

    def release(self, version: str) -> Release:
        """A pinned release. Raises ParamsError for any other."""
        for release in self.releases:
            if release.version == version.removeprefix("v"):
                return release
        raise ParamsError(f"{self.name}: the release '{_printed(version)}' is not pinned, "
                          f"expected one of {', '.join(self.versions)}.")

    def find(self, text: str) -> Entry | None:
        """The entry that a name stands for in the newest release that has it, or None."""
        return next((self.index[name][0] for name in self._spellings(text) if name in self.index),
                    None)

    def lookup(self, text: str) -> Entry:
        """The entry of a name: ``--max-model-len``, ``max_model_len``, a variable, a metric.

        Raises ParamsError with the nearest names when no pinned release has it.
        """
        entry = self.find(text)
        if entry is None:
            near = self.near(text)
            hint = f"; the nearest names are {', '.join(near)}" if near else ""
            raise ParamsError(f"{self.name}: no pinned release has '{_printed(text)}'{hint}.")
        return entry

    def near(self, text: str, count: int = 3) -> list[str]:
        """Known names like one that is not known; first the argument a variable is named after."""
        *_, wanted = self._spellings(text)
        if wanted.upper() == wanted and "_" in wanted:
            alike = [name for name in self.index if name.upper() == name]
            argument = f"--{wanted.partition('_')[2].lower().replace('_', '-')}"
            spelt = [argument] if argument in self.index else []
        elif text.startswith((f"{self.name}_", f"{self.name}:")):
            wanted, spelt = text.replace("_", ":", 1), []
            alike = list(self.entries["metrics"])
        else:
            alike, spelt = [name for name in self.index if name.startswith("--")], []
        return [*spelt, *difflib.get_close_matches(wanted, alike, n=count, cutoff=0.7)][:count]

    def exists(self, text: str, release: str) -> bool:
        """Whether a release takes a name. Raises ParamsError for a release not pinned."""
        return self.state(text, release) is not None

    def state(self, text: str, release: str) -> State | None:
        """What a name stands for in a release, or None where the release does not have it."""
        version = self.release(release).version
        for name in self._spellings(text):
            for entry in self.index.get(name, ()):
                if name in entry.names(version):
                    return entry.at(version)
        return None

    def judge(self, text: str, value: Any, release: str) -> str:
        """What a release makes of a setting.

        Returns ``unknown`` (no such name), ``type`` (the value is not of its type), ``choice``
        (not among its choices), ``unlisted`` (not among the values its source lists), else
        ``deprecated`` or ``accepted``.
        """
        state = self.state(text, release)
        if state is None:
            return "unknown"
        if not _fits(value, state):
            return "type"
        if isinstance(value, (str, int)) and not isinstance(value, bool):
            if state.choices is not None and not state.open_choices \
                    and str(value) not in map(str, state.choices):
                return "choice"
            if state.known is not None and value not in (*_NOTHING, *state.known):
                return "unlisted"
        return "deprecated" if state.deprecated else "accepted"

    def _spellings(self, text: str) -> Iterator[str]:
        """Names that a text may stand for, the likeliest first."""
        text = text.strip().partition("=")[0][:LONGEST]
        if text.startswith("-"):
            stem = text.partition(".")[0] if text.startswith("--") else text
            yield stem  # one release spells an option with an underscore itself
            if len(stem) > 3:
                yield stem.replace("_", "-")
            return
        yield text
        if text.upper() == text:
            return
        prefix, _, rest = text.replace(":", "_", 1).partition("_")
        if prefix == self.name and rest:  # a metric, its colon written as Prometheus exports do
            names = [f"{prefix}:{rest}"]
            names += [f"{prefix}:{rest.removesuffix(end)}" for end in _ENDINGS
                      if rest.endswith(end)]
            yield from names
            yield from (f"{name}{end}" for name in names for end in ("_total", "_info"))
        yield f"--{text.replace('_', '-')}"


def bare(name: str) -> str:
    """A setting's name in one spelling of flags, keys and keywords: ``enforce_eager``."""
    return name.lstrip("-").replace("-", "_")


def _printed(text: str) -> str:
    """A text of a reader's as an error may repeat it: short, on one line."""
    return text[:60] if text.isprintable() else ascii(text[:60])[1:-1]


def _fits(value: Any, state: State) -> bool:
    """Whether a value as a document writes it can be of the type."""
    if value in _NOTHING:
        return True
    kind = (state.type or "").removeprefix("list of ")
    if kind == "bool":
        return isinstance(value, bool) or str(value).lower() in ("0", "1", "true", "false")
    if isinstance(value, bool):
        return kind not in ("int", "float")
    if isinstance(value, list):
        return str(state.type).startswith("list") or kind in ("json", "")
    if kind in ("int", "float"):
        try:
            float(value) if kind == "float" else int(str(value), 10)
        except ValueError:
            return False
    return True


Stated = Annotated[str, BeforeValidator(str)]
Both = Annotated[dict[Annotated[str, Field(pattern="^(en|zh)$")], str], Field(min_length=2)]
"""A text in both languages, as it stands in a file."""


class Block(BaseEntry):
    """A launch block of a document: the settings in it, in the document's order.

    Attributes:
        section, part: where it stands, and the file or cluster it is for.
        form: flags, keys of a file, keywords of a call, variables, or metrics.
        program: what takes the settings, as the document has it.
        engine: the catalogue that they can be held against, or None.
    """

    section: Stated
    part: str | None = None
    form: Literal["flags", "keys", "keywords", "variables", "metrics"]
    program: Stated
    engine: Annotated[str, Ref("engines")] | None = None
    settings: dict[str, Any]


class Blocks(BaseEntry):
    """A file of ``params/engines/documents/``."""

    blocks: list[Block]


def engine_names() -> list[str]:
    """Every engine that has a catalogue."""
    return names("engines")


def _file(folder: str, name: str) -> Path:
    """The file of a name. Raises ParamsError with the names there are."""
    if is_path(name) or not stands(folder, name):
        raise ParamsError(f"there is no '{_printed(name)}' in params/{folder}/, expected one of "
                          f"{', '.join(names(folder))}.")
    return file_of(folder, name)


def load_engine(name: str, folder: str = "engines") -> Engine:
    """The catalogue of an engine; in ``engines/tools`` of what measures one or stands before it.

    Raises ParamsError with the names there are.
    """
    path = _file(folder, name)
    return yamlfile.remembered("engine", path, lambda: engine_of(yamlfile.read(path)))


def load_releases(name: str) -> tuple[Release, ...]:
    """The pinned releases of an engine; of its file nothing is read behind them.

    Raises ParamsError with the names there are.
    """
    path = _file("engines", name)
    return yamlfile.remembered("releases", path, lambda: _releases(
        yamlfile.read(path, "releases")))


def engine_of(file: YamlFile) -> Engine:
    """The catalogue in a file. Raises ParamsError, one sentence with file and line."""
    at: tuple[str, ...] = ()
    try:
        releases = _releases(file)
        versions = [release.version for release in releases]
        entries: dict[Kind, dict[str, Entry]] = {kind: {} for kind in KINDS}
        index: dict[str, list[Entry]] = {}
        for kind in KINDS:
            for name, raw in file.data.get(kind, {}).items():
                at = (kind, name)
                entry = entries[kind][name] = _entry(kind, name, raw, versions)
                for spelt in {name for version in entry.states for name in entry.names(version)}:
                    index.setdefault(spelt, []).append(entry)
        for of_name in index.values():  # a name that moved from one entry to another: newest first
            of_name.sort(key=lambda entry: max(map(versions.index, entry.states)), reverse=True)
        return Engine(file.path.stem, str(file.data["title"]), releases, entries,
                      {name: tuple(of_name) for name, of_name in index.items()})
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ParamsError(f"{file.where(at)}: {'.'.join(at)[:LONGEST] or 'it'} is not as python -m "
                          "tools.engines.extract writes it.") from None


def _releases(file: YamlFile) -> tuple[Release, ...]:
    try:
        return tuple(Release(version, **entry) for version, entry in file.data["releases"].items())
    except (AttributeError, KeyError, TypeError):
        raise ParamsError(f"{file.where(('releases',))}: 'releases' is missing or not as python -m "
                          "tools.engines.extract writes it.") from None


def _entry(kind: Kind, name: str, raw: dict[str, Any], versions: list[str]) -> Entry:
    """Raises what Python does for an entry that the extraction has not written."""
    since, until, gaps = raw["since"], raw.get("until"), raw.get("gaps", [])
    changes = {change["release"]: {key: item for key, item in change.items() if key != "release"}
               for change in raw.get("changes", [])}
    first, last = versions.index(since), versions.index(until) if until else len(versions) - 1
    current = {key: item for key, item in raw.items() if key not in _ENTRY}
    states: dict[str, State] = {}
    state = _state(current)
    for version in versions[first:last + 1]:
        if version in changes:
            current |= changes[version]
            state = _state(current)
        if version not in gaps:
            states[version] = state
    if not states or not {*changes, *gaps} <= {*versions}:
        raise ValueError("a release is not among the releases")
    return Entry(name, kind, since, until, states,
                 {version: tuple(change) for version, change in changes.items()})


def _state(raw: dict[str, Any]) -> State:
    """A state; what a change sets to nothing goes back to what it is where nothing is said."""
    given: dict[str, Any] = {key: tuple(item) if key in ("choices", "known", "aliases") else item
                             for key, item in raw.items() if item is not None}
    if given.get("type") == "float" and isinstance(given.get("default"), (str, int)):
        given["default"] = float(str(given["default"]).replace(".inf", "inf"))  # as YAML has it
    return State(**given)


def launch_blocks(document: str) -> list[Block]:
    """The launch blocks of a document, from ``params/engines/documents/``.

    Raises ParamsError, one sentence with file and line.
    """
    return parsed(Blocks, yamlfile.read(_file("engines/documents", document))).blocks


def plain(entry: Entry) -> dict[str, Any]:
    """An entry as JSON data: what it is in each release, without what is as it is by default."""
    states = {version: {key: getattr(state, key) for key, usual in STATE.items()
                        if key in ("type", "default") or getattr(state, key) != usual}
              for version, state in entry.states.items()}
    return {"name": entry.name, "kind": ONE[entry.kind], "since": entry.since,
            "until": entry.until, "changed": entry.changed, "releases": states}


class Threshold(BaseEntry):
    """What a document alerts on.

    Attributes:
        section: where it is printed.
        label, note: what of, and what is off with it, in both languages.
        direction: whether it fires above the threshold or below.
        warning, critical: levels as they are printed, at least one.
        quantity: of ours, if one is predicted.
        metrics: of vLLM that tell it.
    """

    section: Stated
    label: Both
    note: Both
    direction: Literal["above", "below"]
    warning: Stated | None = None
    critical: Stated | None = None
    quantity: str | None = None
    metrics: tuple[str, ...]

    @model_validator(mode="after")
    def _of_a_level(self) -> Threshold:
        if not self.levels:
            raise ValueError("expected 'warning', 'critical' or both")
        assert self.value is not None
        return self

    @property
    def levels(self) -> list[str]:
        """As they are printed, the first one first."""
        return [level for level in (self.warning, self.critical) if level is not None]

    @property
    def value(self) -> float:
        """The first level in its SI unit; a share, of per cent."""
        number, _, unit = self.levels[0].partition(" ")
        return float(number) / 100 if unit == "%" else float(
            units.parse(self.levels[0], units.si(unit)))


class Thresholds(BaseEntry):
    """A file of ``params/engines/thresholds/``."""

    thresholds: list[Threshold]


def thresholds(document: str) -> list[Threshold]:
    """The thresholds of a document, in its order.

    >>> [each.levels[0] for each in thresholds("s1")][-2:]
    ['500 token/s', '0.2 s']

    Raises ParamsError, one sentence with file and line.
    """
    return thresholds_of(yamlfile.read(file_of("engines/thresholds", document)))


def thresholds_of(file: YamlFile) -> list[Threshold]:
    """The thresholds in a file. Raises ParamsError, one sentence with file and line."""
    return parsed(Thresholds, file).thresholds
