"""The releases of an engine laid over each other: since when, until when, what changed."""

from __future__ import annotations

from typing import Any

import yaml

from tools.engines.hints import Kwargs
from tools.engines.source import Release

KINDS = ("arguments", "variables", "options", "metrics")
_TRACKED = ("type", "default", "dynamic", "choices", "known", "open_choices", "required",
            "negatable", "aliases", "deprecated", "use", "hidden", "v0")
_WIDTH = 1 << 20
Contents = dict[str, dict[str, Kwargs]]


def add(catalogue: dict[str, Any], release: Release, contents: Contents) -> None:
    """Add a release to a catalogue of older ones.

    Of the names of an entry one that the catalogue has stays; the others are aliases.
    """
    before = list(catalogue["releases"])
    catalogue["releases"][release.version] = {
        "date": release.date, "sha256": release.sha256, "url": release.url}
    for kind in KINDS:
        entries, now = catalogue.get(kind, {}), contents.get(kind, {})
        states: dict[str, Kwargs] = {}
        for name, state in now.items():
            names = (name, *state.get("aliases", []))
            lasting = next((other for other in names
                            if other in entries and other not in now.keys() - {name}), name)
            states[lasting] = {key: state[key] for key in _TRACKED if key in state and (
                state[key] not in (None, [], False) or key == "default")}
            states[lasting].pop("aliases", None)
            if others := sorted({*names} - {lasting}):
                states[lasting]["aliases"] = others
        catalogue[kind] = {
            name: updated(entries.get(name), states.get(name), release.version, before)
            for name in sorted(entries.keys() | states.keys(),
                               key=lambda name: (name.lstrip("-").lower(), name))}


def latest(entry: dict[str, Any]) -> Kwargs:
    """What an entry is in the last release that has it."""
    state = {key: entry[key] for key in _TRACKED if key in entry}
    for change in entry.get("changes", []):
        state |= change
    return {key: value for key, value in state.items()
            if key in _TRACKED and (value is not None or key == "default")}


def updated(entry: dict[str, Any] | None, state: Kwargs | None, version: str, before: list[str]
            ) -> dict[str, Any]:
    """An entry with what it is in one more release, None where that lacks it."""
    if entry is None:
        return dict(state or {}) | {"since": version}
    ends, gaps, changes = (entry.pop(key, None) for key in ("until", "gaps", "changes"))
    if state is None:
        ends = ends or before[-1]
    else:
        if ends:
            gaps, ends = (gaps or []) + before[before.index(ends) + 1:], None
        old = latest(entry | {"changes": changes or []})
        if changed := {key: state.get(key) for key in _TRACKED
                       if (state.get(key), type(state.get(key))) != (old.get(key),
                                                                     type(old.get(key)))}:
            changes = [*(changes or []), {"release": version} | changed]
    history = {"until": ends, "gaps": gaps, "changes": changes}
    return entry | {key: value for key, value in history.items() if value}


def text(name: str, catalogue: dict[str, Any]) -> str:
    """The catalogue's file: one line per entry, the same text for the same input."""
    lines = [f"# Made by python -m tools.engines arguments --only {name}; not written by hand.",
             f"title: {catalogue['title']}"]
    for kind in ("releases", *KINDS):
        if catalogue.get(kind):
            lines.append(f"{kind}:")
            lines += [f"  {flow({key: entry})[1:-1]}" for key, entry in catalogue[kind].items()]
    return "\n".join(lines) + "\n"


def flow(value: Any) -> str:
    """A value on one line, as YAML reads it back."""
    return str(yaml.safe_dump(value, default_flow_style=True, allow_unicode=True,
                              sort_keys=False, width=_WIDTH)).strip()
