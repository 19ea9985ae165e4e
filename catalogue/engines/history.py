"""What the engine catalogue holds of one argument, variable, key or metric."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, Literal

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
