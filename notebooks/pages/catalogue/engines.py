"""The page of the engines: the settings that documents print, held against every pinned release."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalogue.engine import (
    STOPS,
    Block,
    Engine,
    Entry,
    State,
    bare,
    launch_blocks,
    load_engine,
)
from catalogue.messages import Pair, join, messages
from notebooks.show.display import table

common = messages("common")
say = messages("pages/catalogue/engines")

MARKS = {"accepted": "●", "deprecated": "◐", "choice": "✗", "type": "✗", "unlisted": "✗",
         "unknown": "·"}  # from the best verdict to the worst
TAKEN = ("accepted", "deprecated")
REFUSED = ("choice", "type", "unlisted")
LONGEST = 12  # values that are listed one by one
KINDS: dict[str, Pair] = {
    "arguments": say("arguments"), "variables": say("variables"),
    "options": say("keys"), "metrics": say("metrics")}
CHANGES: dict[str, Pair] = {
    "type": common("type"), "default": say("default"), "choices": say("choices"),
    "known": say("listed-values"), "negatable": say("negated-form"),
    "aliases": say("aliases"), "deprecated": say("deprecated"),
    "dynamic": say("set-at-run-time"), "hidden": say("hidden"),
    "required": say("required"), "open_choices": say("choices"), "v0": say("v0-only")}
TYPES: dict[str | None, Pair] = {
    "counter": say("counter"), "gauge": say("gauge"),
    "histogram": say("histogram"), "info": say("info"),
    "summary": say("summary-metric"), None: ("–", "–")}
OPEN, REST = 5, common("other-rows")  # of a long table
FOLDED = common("show-table-it-can-be")


@dataclass
class Setting:
    """A setting of a document, counted once however often it is given.

    Attributes:
        name: as the document first spells it.
        engine: the catalogue that it is held against; None for a program that has none.
        values, sections: those that it is given with, and in.
    """

    name: str
    engine: Engine | None
    values: list[Any] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)

    @property
    def verdicts(self) -> dict[str, str]:
        """Release -> what it makes of the setting; of several values, the worst."""
        assert self.engine is not None
        order, engine = list(MARKS), self.engine
        return {version: max((engine.judge(self.name, value, version) for value in self.values),
                             key=order.index) for version in engine.versions}

    @property
    def never(self) -> bool:
        """Whether no release knows it."""
        return set(self.verdicts.values()) == {"unknown"}

    @property
    def shown(self) -> str:
        """Its values as the document writes them."""
        return _values(self.values)


Settings = Mapping[str, Setting]


def settings(document: str, judged: bool = True) -> dict[str, Setting]:
    """The settings of a document by name, in one spelling of flags, keys and keywords.

    Args:
        document: a file of ``params/engines/documents/``.
        judged: whether only those for an engine of the catalogue.
    """
    named: dict[str, Setting] = {}
    for block in launch_blocks(document):
        if judged and block.engine is None:
            continue
        engine = load_engine(block.engine) if block.engine else None
        for name, value in block.settings.items():
            setting = named.setdefault(bare(name), Setting(name, engine))
            setting.values += [value] if value not in setting.values else []
            setting.sections += [block.section] if block.section not in setting.sections else []
    return named


def commands(document: str) -> list[Block]:
    """The complete commands of a document, those that name a model."""
    return [block for block in launch_blocks(document)
            if block.form == "flags" and "--model" in block.settings]


def refused(block: Block, engine: Engine, version: str) -> list[str]:
    """The options of a command that stop a release."""
    return [name for name, value in block.settings.items()
            if engine.judge(name, value, version) in STOPS]


def matched_entries(settings: Iterable[Setting]) -> list[Entry]:
    """The entries of the catalogue that settings stand for, each once."""
    entries = (setting.engine.find(setting.name) for setting in settings if setting.engine)
    return list({entry.name: entry for entry in entries if entry}.values())


def common_releases(settings: Settings, engine: Engine) -> list[str]:
    """The releases that know all settings which any release knows."""
    verdicts = [setting.verdicts for setting in settings.values() if not setting.never]
    return [version for version in engine.versions
            if all(of[version] != "unknown" for of in verdicts)]


def alerts(document: str) -> list[str]:
    """The metrics of an engine that a document relies on."""
    return [name for block in launch_blocks(document) if block.form == "metrics" and block.engine
            for name in block.settings]


def lasting(engine: Engine, since: str) -> list[str]:
    """The metrics that stand in every release from one on."""
    versions = engine.versions[engine.versions.index(since):]
    return [name for name, entry in engine.entries["metrics"].items()
            if all(entry.at(version) for version in versions)]


def release_table(engines: Iterable[Engine]) -> None:
    """The pinned releases, with how many entries of each kind each has."""
    def standing(engine: Engine, kind: Any, version: str) -> int:
        return sum(entry.at(version) is not None for entry in engine.entries[kind].values())

    table([{"engine": engine.title, "version": f"[{release.version}]({release.url})",
            "date": release.date, "sha": f"`{release.sha256[:12]}`",
            **{kind: str(standing(engine, kind, release.version) or "–") for kind in KINDS}}
           for engine in engines for release in engine.releases],
          {"engine": common("engine"), "version": common("release"),
           "date": say("uploaded"), **KINDS, "sha": ("SHA-256", "SHA-256")},
          folded=say("pinned-releases"))


def setting_table(settings: Settings, engine: Engine) -> None:
    """The settings that some release knows, with a mark per release."""
    table([{"name": f"`{name}`", "value": setting.shown,
            **{version: MARKS[verdict] for version, verdict in setting.verdicts.items()}}
           for name, setting in sorted(settings.items()) if not setting.never],
          {"name": common("setting"), "value": common("value"),
           **{version: version for version in engine.versions}}, wide=True, turned=True,
          folded=REST, first=OPEN)


def never_table(documents: Mapping[str, Settings]) -> None:
    """The settings that no release knows, with the names that resemble them."""
    table([{"where": f"{document.upper()}: {', '.join(setting.sections)}",
            "name": f"`{setting.name}`", "value": setting.shown,
            "near": ", ".join(f"`{name}`" for name in setting.engine.near(setting.name, 2)) or "–"}
           for document, of in documents.items() for setting in of.values()
           if setting.engine and setting.never],
          {"where": say("document-section"), "name": common("setting"),
           "value": common("value"), "near": say("similar-name")}, wide=True,
          folded=REST, first=OPEN)


def command_table(blocks: Iterable[Block], engine: Engine) -> None:
    """What each release refuses in each command."""
    blocks = list(blocks)
    table([{"release": version, "date": engine.release(version).date,
            **{block.section: ", ".join(f"`{name}`" for name in refused(block, engine, version))
               or "–" for block in blocks}} for version in engine.versions],
          {"release": common("release"), "date": say("uploaded"),
           **{block.section: say("refused-in", section=block.section)
              for block in blocks}}, wide=True, folded=REST, first=OPEN)


def change_table(documents: Mapping[str, Settings], engine: Engine) -> None:
    """The entries used that came late, went or changed, from the first release of an engine."""
    sources: dict[str, set[str]] = {}
    for document, of in documents.items():
        for entry in matched_entries(of.values()):
            sources.setdefault(entry.name, set()).add(document.upper())
    used = matched_entries(setting for of in documents.values() for setting in of.values())
    table([{"name": f"`{entry.name}`", "documents": ", ".join(sorted(sources[entry.name])),
            "since": entry.since, "until": entry.until or "–", "default": _defaults(entry),
            "changes": _changes(entry)} for entry in sorted(used, key=lambda entry: entry.name)
           if entry.until or entry.changed or entry.since != engine.versions[0]],
          {"name": say("entry"), "documents": say("stands-in"), "since": say("since"),
           "until": say("until"), "default": say("default-first-last"),
           "changes": say("changed-in")}, wide=True, folded=REST, first=OPEN)


def refusals(document: str, settings: Settings, engine: Engine) -> Iterator[dict[str, str]]:
    """A row per value that some release of an engine refuses."""
    for setting in settings.values():
        for value in setting.values:
            verdicts = {version: engine.judge(setting.name, value, version)
                        for version in engine.versions}
            bad = [version for version, verdict in verdicts.items() if verdict in REFUSED]
            good = [version for version, verdict in verdicts.items() if verdict in TAKEN]
            if bad and (state := engine.state(setting.name, bad[-1])):
                values = state.choices or state.known or (state.type,)
                yield {"engine": f"{document.upper()}: {engine.title}",
                       "name": f"`{setting.name}` {_values([value])}",
                       "bad": f"{bad[0]} – {bad[-1]} ({len(bad)})",
                       "good": f"{good[0]} – {good[-1]} ({len(good)})" if good else "–",
                       "taken": "≈ " * (not state.choices) + ", ".join(map(str, values))}


def refusal_table(rows: Iterable[Mapping[str, str]]) -> None:
    """The values that releases refuse, with what they take instead."""
    table(rows, {"engine": say("document-engine"), "name": say("setting-and-value"),
                 "bad": say("refused-from-to-releases"), "good": say("taken-from-to-releases"),
                 "taken": say("what-last-refusing-release-takes")},
          wide=True, folded=REST, first=OPEN)


def metric_table(engine: Engine, keep: Callable[[Entry], bool] = lambda entry: True) -> None:
    """The metrics of an engine, or some of them."""
    table([{"name": f"`{name}`", "type": TYPES[_newest(entry).type], "since": entry.since,
            "until": entry.until or "–",
            "note": tuple("; ".join(part[lang] for part in _notes(_newest(entry))) or "–"
                          for lang in range(2))}
           for name, entry in engine.entries["metrics"].items() if keep(entry)],
          {"name": common("metric"), "type": common("type"), "since": say("since"),
           "until": say("until"), "note": say("remark")}, sortable=True, folded=FOLDED)


def argument_table(engine: Engine, kind: Any = "arguments") -> None:
    """The arguments of an engine, or its keys, with default and values of the last release."""
    table([{"name": f"`{name}`" + "".join(f" `{alias}`" for alias in state.aliases),
            "type": state.type or "–",
            "default": say("at-run-time") if state.dynamic else _value(state.default),
            "taken": _taken(state), "since": entry.since, "until": entry.until or "–",
            "changes": _changes(entry)}
           for name, entry in engine.entries[kind].items() for state in [_newest(entry)]],
          {"name": common("name"), "type": common("type"), "default": say("default"),
           "taken": say("taken"), "since": say("since"), "until": say("until"),
           "changes": say("changed-in")}, sortable=True, folded=FOLDED)


def _newest(entry: Entry) -> State:
    """The last state of an entry."""
    return list(entry.states.values())[-1]


def _values(values: Iterable[Any]) -> str:
    """Values as a document writes them."""
    return ", ".join(f"`{_plain(value)}`" for value in values if value is not None) or "–"


def _value(item: Any) -> str:
    """A default as the source has it."""
    if item is None or item == "":
        return "–" if item is None else '`""`'
    return f"`{_plain(item)}`"


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _defaults(entry: Entry) -> str:
    """The default at first, and at last if it is another."""
    first, last = _value(next(iter(entry.states.values())).default), _value(_newest(entry).default)
    return first if first == last else f"{first} → {last}"


def _changes(entry: Entry) -> Pair:
    """What changed in which releases, and what the source says to use instead."""
    releases: dict[Pair, list[str]] = {}
    for version, keys in entry.changed.items():
        for word in dict.fromkeys(CHANGES[key] for key in keys if key != "use"):
            releases.setdefault(word, []).append(version)
    parts = [say("changed", what=word, releases=(", ".join(of), "、".join(of)))
             for word, of in releases.items()]
    if use := _newest(entry).use:
        parts.append(say("use-instead", use=use))
    return join(("; ", "；"), parts) if parts else ("–", "–")


def _taken(state: State) -> str:
    """Choices, or the values the source lists; many of them as their number."""
    values = [str(value) for value in state.choices or state.known or ()]
    if not values:
        return "–"
    count = f"{len(values)}: " if len(values) > LONGEST else ""
    return (f"{'' if state.choices else '≈ '}{count}{', '.join(values[:LONGEST])}"
            f"{'…' if count else ''}")


def _notes(state: State) -> Iterator[Pair]:
    """What the source says of a metric: deprecated, hidden, of the former engine."""
    if state.deprecated:
        yield say("deprecated")
    if state.use:
        yield say("use-instead", use=state.use)
    if state.hidden:
        yield say("shown-only-on-demand")
    if state.v0:
        yield say("v0-engine-only")
