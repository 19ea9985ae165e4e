"""The engine catalogue: arguments, environment variables and metrics of vLLM and its like.

``params/engines/*.yml`` is made by ``python -m tools.engines`` from released source. An
entry states in which of the pinned releases it exists, and what it was there; between two pinned
releases the catalogue says nothing. Documents' launch blocks and alert thresholds are in folders
beside it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from catalogue import library
from catalogue.entries.entry import Entry as BaseEntry
from catalogue.entries.hardware import Device
from catalogue.entries.profiles import Profile, in_order
from catalogue.library import file_of, names, parsed, stands
from catalogue.reading import units, yamlfile
from catalogue.reading.files import ROOT, ParamsError
from catalogue.reading.near import TYPO, nearest_names
from catalogue.reading.values import Ref, SourceKey, engine_name, is_path
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
        return [*spelt, *nearest_names(wanted, alike, count, 0.7)][:count]

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
        raise ParamsError(f"there is no '{_printed(name)}' among the {folder}, expected one of "
                          f"{', '.join(names(folder))}.")
    return file_of(folder, name)


def load_engine(name: str, folder: str = "engines", last: str | None = None) -> Engine:
    """The catalogue of an engine; in ``engines/tools`` of what measures one or stands before it.

    Args:
        name, folder: of the file.
        last: kind of entries after which the file is not read, ``arguments`` are the first.

    Raises ParamsError with the names there are.
    """
    path = _file(folder, name)
    return yamlfile.remembered(f"engine up to {last}", path,
                               lambda: engine_of(yamlfile.read(path, last)))


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
                          "tools.engines writes it.") from None


def _releases(file: YamlFile) -> tuple[Release, ...]:
    try:
        return tuple(Release(version, **entry) for version, entry in file.data["releases"].items())
    except (AttributeError, KeyError, TypeError):
        raise ParamsError(f"{file.where(('releases',))}: 'releases' is missing or not as python -m "
                          "tools.engines writes it.") from None


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


def history(engine: Engine, entry: Entry, release: str | None) -> dict[str, Any]:
    """An entry as JSON data, with what it is in one release or in each that it differs in, without
    what is as it is by default."""
    states = {version: {key: getattr(state, key) for key, usual in STATE.items()
                        if key in ("type", "default") or getattr(state, key) != usual}
              for version, state in entry.states.items()
              if (version == release if release else
                  version == entry.since or version in entry.changed)}
    return {"name": entry.name, "kind": ONE[entry.kind], "since": entry.since,
            "until": entry.until, "changed": entry.changed, "releases": list(entry.states),
            "states": states}


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


AT = "@"  # between an engine and its release
UNNAMED = "none"  # engine: overheads are averaged over those that are known of the card
CANDIDATE = "rc"
TOOLS = "engines/tools"  # what measures an engine or stands before it: benches, routers


def fitting(device: Device) -> list[str]:
    """Engines of the catalogue that reach a card: those that are written for its software."""
    return [name for name in library.names("profiles")
            if device.software in library.load("profiles", name).stacks]


def has_profile(reference: str | None) -> bool:
    """Whether an engine such as vllm or vllm@0.13.0 is of the catalogue, or none is named."""
    return not reference or engine_name(reference).partition(AT)[0].strip() in (
        library.names("profiles"))


def unknown_engine(name: str) -> str:
    """That there is no such engine, with the name that is meant or all names."""
    engines = library.names("profiles")
    if (parts := re.fullmatch(r"([a-z-]+?)[ :=/(-]*v?(\d[\w.]*|latest)\)?", unicodedata.normalize(
            "NFKC", name).casefold())) and parts[1] in engines:
        release = f"{AT}{parts[2]}" if parts[2][0].isdigit() else ""
        return f"'{name[:60]}' is not the name of an engine, did you mean {parts[1]}{release}"
    if "," in name:
        return f"'{name[:60]}' names several engines, expected one"
    wanted = re.sub(r"^trt-?(?=llm)", "tensorrt-", name.casefold())
    near = [*(engine for engine in engines if wanted.startswith(engine)),
            *nearest_names(wanted, engines, 1, TYPO)]
    return (f"there is no engine '{name[:60]}', "
            + (f"did you mean {near[0]}" if near else f"expected one of {', '.join(engines)}"))


def profile_of(name: str) -> Profile:
    """The profile of an engine. Raises ParamsError for one that is not known."""
    if name not in library.names("profiles"):
        raise ParamsError(f"{unknown_engine(name)}.")
    profile: Profile = library.load("profiles", name)
    return profile


def engine_meant(reference: str) -> tuple[Profile, str]:
    """The profile and the release that stands for a name such as vllm or vllm@0.13.0.

    Raises ParamsError for an engine that is not known, or what is no release.
    """
    name, _, written = (part.strip() for part in reference.partition(AT))
    profile = profile_of(name)
    return profile, release_of(profile, written or None)


def plain_version(written: str) -> str:
    """A version as releases are numbered, however it is written.

    >>> plain_version("v0.11.7"), plain_version("2.0.RC9")
    ('0.11.7', '2.0rc9')
    """
    return re.sub(r"[.-]?rc[.-]?", CANDIDATE, written.strip().casefold().removeprefix("v"))


def releases(profile: Profile) -> list[str]:
    """Every release of which a profile speaks, the oldest first."""
    versions = set(profile.releases)
    if profile.flags is not None:
        versions |= {release.version for release in load_releases(profile.flags)}
    first = in_order(profile.since) if profile.since else ()
    return sorted((version for version in versions if in_order(version) >= first), key=in_order)


def release_of(profile: Profile, written: str | None) -> str:
    """The release that stands for the one that is written, of those that are known.

    Itself, or the newest whose version begins so, a candidate only where there is no other; for one
    that is not known the next older one, else the oldest.

    Args:
        profile: of the engine.
        written: what names it; None for the newest.

    Raises ParamsError for what is no release.
    """
    every = releases(profile)
    written = written and plain_version(written)
    meant = every if written is None else _named(every, written)
    if meant:
        return ([version for version in meant if CANDIDATE not in version] or meant)[-1]
    try:
        order = in_order(str(written))
    except ValueError:
        raise ParamsError(f"{profile.id} has no release '{str(written)[:40]}', expected one of "
                          f"{', '.join(every)}.") from None
    return next((version for version in reversed(every) if in_order(version) < order), every[0])


def asked_release(profile: Profile, written: str | None) -> str:
    """The release that is asked for: a known one, or as it is written where it is not known.

    Arguments and errors as of :func:`release_of`.
    """
    written = written and plain_version(written)
    if written is None or _named(releases(profile), written):
        return release_of(profile, written)
    release_of(profile, written)  # refuses what is no release
    return written


def releases_with(engine: str) -> dict[str, str | None] | None:
    """Classes of models -> the first release that has them; None if the first that was read does.

    >>> known = releases_with("vllm")
    >>> known["DeepseekV32ForCausalLM"], known["LlamaForCausalLM"]
    ('0.11.0', None)

    Args:
        engine: of ``params/profiles/``.

    Returns None for an engine of which nothing was read.
    """
    path = ROOT / "engines" / "models" / f"{engine}.yml"
    if not path.is_file():
        return None

    def read() -> dict[str, str | None]:
        since = yamlfile.read(path).data["since"]
        first = next(iter(since))
        return {name: None if release == first else release
                for release, names in since.items() for name in names}

    return yamlfile.remembered("model classes", path, read)


def stated_release(reference: str) -> tuple[str, str]:
    """An engine with its release, as a text asks for it and as it is known.

    >>> stated_release("vllm@0.24.0")
    ('vllm@0.24.0', 'vllm@0.23.0')

    Raises ParamsError as :func:`engine_meant`.
    """
    name, _, written = (part.strip() for part in reference.partition(AT))
    profile, release = engine_meant(reference)
    return f"{name}{AT}{asked_release(profile, written or None)}", f"{name}{AT}{release}"


def _named(every: list[str], written: str) -> list[str]:
    """Releases that a text names: itself, or those whose version begins so."""
    if written in every:
        return [written]
    return [version for version in every if version.startswith((f"{written}.", f"{written}rc"))]


class Successor(BaseEntry):
    """What takes the place of a setting.

    Attributes:
        use: names that do it now, none where nothing has to be set any more.
        note: why, in both languages.
        source: of ``params/sources/``.
    """

    use: tuple[str, ...]
    note: Both
    source: SourceKey


def successors(engine: str) -> dict[str, Successor]:
    """What takes the place of settings of an engine, by name; none where nothing is known.

    Raises ParamsError, one sentence with file and line, for a file that is not such a table.
    """
    path = ROOT / "engines" / "successors" / f"{engine}.yml"
    return yamlfile.remembered("successors", path, lambda: successors_of(
        yamlfile.read(path))) if path.is_file() else {}


def successors_of(file: YamlFile) -> dict[str, Successor]:
    """The table in a file. Raises ParamsError, one sentence with file and line."""
    return {name: parsed(Successor, file, name) for name in file.data}


def instead(engine: Engine, name: str) -> tuple[str, ...] | None:
    """Names that do what a setting did; () where nothing is to be set, None where unknown."""
    by_name = {_bare(other): successor for other, successor in successors(engine.name).items()}
    entry = engine.find(name)
    for spelt in (name, *((entry.name,) if entry else ())):
        if _bare(spelt) in by_name:
            return by_name[_bare(spelt)].use
    last = entry.at(entry.until) if entry and entry.until else None
    return (last.use,) if last and last.use else None


def _bare(name: str) -> str:
    """A name in one spelling, without a value behind it."""
    return bare(name.strip().partition("=")[0])


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
        of_use = {other: engine.find(other) for other in use}
        why += "; use " + " or ".join(
            other if (replacement is None or replacement.at(release) is not None
                      or replacement.until is not None)
            else f"{other} (from {replacement.since} on)" for other, replacement in of_use.items())
    elif use == ():
        why += "; nothing has to be set in its place"
    elif entry is None and (near := engine.near(name)):
        why += f"; the nearest names are {', '.join(near)}"
    return f"{engine.title} {release} has no '{shown}': {why}."


def catalogue_of(name: str) -> Engine:
    """The catalogue of an engine, a bench or a router. Raises ParamsError for another name."""
    return load_engine(name, TOOLS if library.stands(TOOLS, name) else "engines")
