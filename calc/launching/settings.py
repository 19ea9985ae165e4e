"""Settings of a launch, each held against the catalogue of the release that takes it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from catalogue import ParamsError
from catalogue.engines.engine import Engine
from catalogue.engines.released import catalogue_of, refusal
from catalogue.entries.profiles import in_order
from catalogue.reading.words import revealed

TAKEN = ("accepted", "unlisted")
ASCEND = "vllm-ascend"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Variable:
    """A value that the operator sets: a variable of the shell, and what follows it."""

    name: str
    after: str = ""


@dataclass(frozen=True)
class Setting:
    """A flag or an environment variable.

    Attributes:
        name: as the release has it.
        value: None for a switch; several in a list; JSON data in a mapping.
        why: what it follows from, one clause.
    """

    name: str
    value: Any
    why: str

    @property
    def words(self) -> list[str]:
        """As words of a shell, quoted; a variable in double quotes."""
        if self.value is None:
            return [self.name]
        values = self.value if isinstance(self.value, list) else [self.value]
        return [self.name, *map(_word, values)]


def _word(value: Any) -> str:
    """A value as one word of a shell."""
    if isinstance(value, Variable):
        return f'"${{{value.name}}}{value.after}"'
    if isinstance(value, dict):
        return shlex.quote(json.dumps(value))
    text = str(value)  # a word with a comma looks like a list that lacks its spaces
    return f"'{text}'" if "," in text and shlex.quote(text) == text else shlex.quote(text)


def comment(text: str) -> str:
    """A text on one line of a comment: nothing that a terminal or a shell would act on.

    >>> comment("a\\nrm -rf / \\x1b[31m")
    'a rm -rf / ?[31m'
    """
    line = " ".join(revealed(text).split())
    return "".join(sign if sign.isprintable() else "?" for sign in line)


@dataclass(frozen=True)
class Release:
    """An engine, a bench or a router in one release, and the catalogues that say what it takes.

    ``by`` are catalogues with releases, all of which have to take a setting. vLLM Ascend takes
    vLLM's arguments, of the pinned release with the same numbers, or of both beside it.
    """

    name: str
    version: str
    by: tuple[tuple[Engine, str], ...] = field(repr=False)

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    def judge(self, name: str, value: Any = None) -> str:
        """What the release makes of a setting, as ``Engine.judge`` has it; the worst of all."""
        plain = "0" if isinstance(value, Variable) else True if value is None else value
        verdicts = [engine.judge(name, plain, version) for engine, version in self._of(name)]
        order = ("unknown", "type", "choice", "deprecated", "unlisted", "accepted")
        return min(verdicts, key=order.index)

    def has(self, name: str, value: Any = None) -> bool:
        """Whether the release takes a setting, marked as deprecated or not."""
        return self.judge(name, value) in (*TAKEN, "deprecated")

    def take(self, name: str, value: Any, why: str) -> Setting:
        """A setting of this release.

        Raises ParamsError, one sentence, for a name that it does not have, with the release that
        dropped it and its successor, and for a value that it refuses.
        """
        verdict = self.judge(name, value)
        if verdict == "unknown":
            for engine, version in self._of(name):
                if engine.judge(name, True, version) == "unknown":
                    raise ParamsError(refusal(engine, name, version))
        if verdict in ("type", "choice"):
            expected = self._expected(name)
            raise ParamsError(f"{self}: '{str(value)[:60]}' is no value of {name}, expected "
                              f"{expected}.")
        return Setting(name, value, why)

    def first(self, candidates: Iterable[tuple[str, Any]], why: str) -> Setting:
        """The first of several spellings that the release takes, those not deprecated before.

        Raises ParamsError, one sentence, where it takes none of them.
        """
        spelt = list(candidates)
        for wanted in (TAKEN, ("deprecated",)):
            for name, value in spelt:
                if self.judge(name, value) in wanted:
                    return Setting(name, value, why)
        return self.take(*spelt[0], why)

    def metric(self, *names: str) -> str:
        """The first of several metrics that the release exports to everyone.

        Raises ParamsError, one sentence, where it has none of them.
        """
        for hidden in (False, True):  # marked as deprecated, but still there: the last choice
            for name in names:
                state = self._metric(name)
                if state is not None and not state.hidden and not state.v0 \
                        and state.deprecated == hidden:
                    return name
        engine, version = self.by[0]
        raise ParamsError(refusal(engine, names[0], version))

    def exports(self, *names: str) -> bool:
        """Whether the release exports one of several metrics to everyone."""
        return any((state := self._metric(name)) is not None and not state.hidden and not state.v0
                   for name in names)

    def _metric(self, name: str) -> Any:
        return next((state for engine, version in self.by
                     if (state := engine.state(name, version)) is not None), None)

    def _of(self, name: str) -> list[tuple[Engine, str]]:
        """The catalogues that decide on a setting: the plug-in's on what it has itself."""
        own = [(engine, version) for engine, version in self.by
               if engine.name == self.name and engine.exists(name, version)]
        return own or [pair for pair in self.by if pair[0].name != ASCEND] or list(self.by)

    def _expected(self, name: str) -> str:
        state = next(state for engine, version in self._of(name)
                     if (state := engine.state(name, version)) is not None)
        if state.choices:
            return f"one of {', '.join(map(str, state.choices))}"
        return f"a value of type {state.type}"


def release_of(name: str, version: str) -> Release:
    """A release with its catalogues.

    >>> [f"{engine.name} {version}" for engine, version in release_of("vllm-ascend", "0.18.0").by]
    ['vllm-ascend 0.18.0', 'vllm 0.18.1']

    One that is not pinned has the flags of the next older one that is, else of the oldest.

    Raises ParamsError for an engine without a catalogue.
    """
    engine = catalogue_of(name)
    own = next((each for each in reversed(engine.versions)
                if in_order(each) <= in_order(version)), engine.versions[0])
    if name != ASCEND:
        return Release(name, own, ((engine, own),))
    host = catalogue_of("vllm")
    return Release(name, own,
                   ((engine, own), *((host, each) for each in nearest_releases(host, own))))


def nearest_releases(engine: Engine, version: str) -> tuple[str, ...]:
    """The pinned release with the same two first numbers, else those before and after it."""
    numbers = in_order(version)[:2]
    same = [each for each in engine.versions if in_order(each)[:2] == numbers]
    if same:
        return (same[-1],)
    before = [each for each in engine.versions if in_order(each)[:2] < numbers]
    after = [each for each in engine.versions if in_order(each)[:2] > numbers]
    return (*before[-1:], *after[:1])


def nearest(tool: str, date: str) -> Release:
    """The pinned release of a router that was uploaded nearest to a day.

    Args:
        tool: of ``params/engines/tools/``.
        date: of the engine's release, as the catalogue has it.
    """
    from datetime import date as day

    engine = catalogue_of(tool)
    wanted = day.fromisoformat(date)
    chosen = min(engine.releases, key=lambda each: abs(day.fromisoformat(each.date) - wanted))
    return Release(tool, chosen.version, ((engine, chosen.version),))


def extra_settings(release: Release, flags: Iterable[str], variables: Iterable[str]
                   ) -> tuple[list[Setting], list[Setting]]:
    """Flags ``--name=value`` and variables ``NAME=value`` that the operator adds.

    Raises ParamsError, one sentence, for what the release does not take.
    """
    why = "given on the command line"
    chosen = []
    for text in flags:
        name, equals, value = text.strip().partition("=")
        if not name.startswith("--") or any(sign.isspace() for sign in name):
            raise ParamsError(f"--flag {text[:60]!r}: expected --name or --name=value.")
        chosen.append(release.take(name, value if equals else None, why))
    added = []
    for text in variables:
        name, equals, value = text.strip().partition("=")
        if not equals or not _NAME.fullmatch(name):
            raise ParamsError(f"--env {text[:60]!r}: expected NAME=value.")
        added.append(release.take(name, value, why))
    return chosen, added


def over(settings: Iterable[Setting], stronger: Iterable[Setting]) -> list[Setting]:
    """Settings, those of the same name replaced."""
    found = {setting.name: setting for setting in settings}
    return list((found | {setting.name: setting for setting in stronger}).values())
