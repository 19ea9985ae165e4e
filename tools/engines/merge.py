"""The releases of an engine laid over each other: since when, until when, what changed."""

from __future__ import annotations

from collections import Counter
from typing import Any

import yaml

from tools.engines.hints import Kwargs
from tools.engines.source import Release

KINDS = ("arguments", "variables", "options", "metrics")
_TRACKED = ("type", "default", "dynamic", "choices", "known", "open_choices", "required",
            "negatable", "aliases", "deprecated", "use", "hidden", "v0")
_WIDTH = 1 << 20
Contents = dict[str, dict[str, Kwargs]]


def split(merged: dict[str, Any]) -> list[tuple[Release, Contents]]:
    """The entries of each release of a catalogue, the inverse of :func:`merge`."""
    releases: list[tuple[Release, Contents]] = [
        (Release("", version, **stated), {}) for version, stated in merged["releases"].items()]
    versions = list(merged["releases"])
    for kind in KINDS:
        for name, entry in merged.get(kind, {}).items():
            state = {key: entry[key] for key in _TRACKED if key in entry}
            changes = {change["release"]: change for change in entry.get("changes", [])}
            begins = versions.index(entry["since"])
            ends = versions.index(entry.get("until", versions[-1]))
            for release, contents in releases[begins:ends + 1]:
                state = {key: value for key, value in (state | changes.get(
                    release.version, {})).items() if (key in _TRACKED and value is not None)
                    or key == "default"}
                if release.version not in entry.get("gaps", []):
                    contents.setdefault(kind, {})[name] = state
    return releases


def merge(releases: list[tuple[Release, Contents]]) -> dict[str, Any]:
    """The catalogue of an engine from what each release has, the oldest release first."""
    result: dict[str, Any] = {"releases": {
        release.version: {"date": release.date, "sha256": release.sha256, "url": release.url}
        for release, _ in releases}}
    versions = [release.version for release, _ in releases]
    for kind in KINDS:
        states = [renamed(entries.get(kind, {}), names) for (_, entries), names
                  in zip(releases, lasting_names(kind, releases), strict=True)]
        names = sorted(set().union(*states), key=lambda name: (name.lstrip("-").lower(), name))
        if names:
            result[kind] = {name: entry_of([state.get(name) for state in states], versions)
                            for name in names}
    return result


def lasting_names(kind: str, releases: list[tuple[Release, Contents]]) -> list[dict[str, str]]:
    """Per release, the first name of each entry -> the name that it keeps over the releases.

    An entry that has had several names goes by one that most releases have, of those the
    newest's; a release without that name keeps its own entry, under the name it uses.
    """
    having = Counter(other for _, entries in releases
                     for name, state in entries.get(kind, {}).items()
                     for other in (name, *state.get("aliases", [])))
    newest: dict[str, int] = {}
    for index, (_, entries) in enumerate(releases):
        newest |= dict.fromkeys(entries.get(kind, {}), index)
    result = []
    for _, entries in releases:
        now = entries.get(kind, {})
        result.append({name: max(
            (other for other in (name, *state.get("aliases", []))
             if other.startswith("--") == name.startswith("--")
             and (other == name or other not in now)),
            key=lambda other: (having[other], newest.get(other, -1), other))
            for name, state in now.items()})
    return result


def renamed(entries: dict[str, Kwargs], canonical: dict[str, str]) -> dict[str, Kwargs]:
    """The entries of a release under their lasting names; the other names become aliases."""
    result: dict[str, Kwargs] = {}
    for name, state in entries.items():
        final = canonical.get(name, name)
        tracked = {key: state[key] for key in _TRACKED if state.get(key) not in (None, [], False)
                or (key == "default" and key in state)}
        names = {name, *state.get("aliases", [])} - {final}
        tracked.pop("aliases", None)
        if names:
            tracked["aliases"] = sorted(names)
        result[final] = tracked
    return result


def entry_of(states: list[Kwargs | None], versions: list[str]) -> dict[str, Any]:
    """One entry: its first state, from when to when it is there, and what changed in between."""
    there = [index for index, state in enumerate(states) if state is not None]
    first, last = there[0], there[-1]
    before = states[first] or {}
    entry: dict[str, Any] = dict(before) | {"since": versions[first]}
    if last < len(versions) - 1:
        entry["until"] = versions[last]
    if gaps := [versions[index] for index in range(first, last) if states[index] is None]:
        entry["gaps"] = gaps
    changes = []
    for index in there[1:]:
        state = states[index] or {}
        changed = {key: state.get(key) for key in _TRACKED
                   if state.get(key) != before.get(key)
                   or type(state.get(key)) is not type(before.get(key))}
        if changed:
            changes.append({"release": versions[index]} | changed)
        before = state
    if changes:
        entry["changes"] = changes
    return entry


def text(name: str, title: str, merged: dict[str, Any]) -> str:
    """The catalogue's file: one line per entry, the same text for the same input."""
    lines = [f"# Made by python -m tools.engines arguments --only {name}; not written by hand.",
             f"title: {title}"]
    for kind in ("releases", *KINDS):
        if kind in merged:
            lines.append(f"{kind}:")
            lines += [f"  {flow({key: entry})[1:-1]}" for key, entry in merged[kind].items()]
    return "\n".join(lines) + "\n"


def flow(value: Any) -> str:
    """A value on one line, as YAML reads it back."""
    dumped: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True,
                                 sort_keys=False, width=_WIDTH)
    return dumped.strip()
