"""Records of long runs: what was tried, what was found and when. One that is missing is None."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from catalogue import ParamsError
from catalogue.messages import Pair, messages, pair
from catalogue.reading import jsonfile, yamlfile
from catalogue.reading.amounts import NONE
from catalogue.reading.files import is_file
from catalogue.reading.record import ROOT, record
from catalogue.reading.values import Date, Text

common = messages("common")
say = messages("pages/validation/quality/records")

PROJECT = ROOT.parent
MUTANTS = PROJECT / "tools/mutants/mutants.json"
SURVIVORS = PROJECT / "tests/tools/mutants/survivors.yml"
LAWS = PROJECT / "tests/laws/laws.json"
DOORS = PROJECT / "tools/fuzzing/doors.json"
KILLS = PROJECT / "tools/faults/kills.json"
IDENTICAL = PROJECT / "tools/site/identical.json"
PACKAGES = PROJECT / "tools/packages/oldest_newest.json"

T = TypeVar("T")
Change = tuple[str, str, str]  # path of a file, its line before and after


class Kept(BaseModel):
    """Part of a record; what it holds beside is of no use here."""

    model_config = ConfigDict(frozen=True)


class Mutant(Kept):
    """A line changed for the worse, the test that saw it, and one written since; None if none."""

    path: str
    line: int
    before: str
    after: str
    seen_by: str | None
    seen_since: str | None = None

    @property
    def seen(self) -> bool:
        """Whether a test sees it by now."""
        return bool(self.seen_by or self.seen_since)

    @property
    def change(self) -> Change:
        """Which change it is, wherever the line stands by now."""
        return self.path, self.before, self.after

    @property
    def room(self) -> str:
        """The room that it is in: two folders at most."""
        return "/".join(Path(self.path).parent.parts[:2])


class Mutants(Kept):
    """A draw of mutants."""

    date: Date
    mutants: tuple[Mutant, ...]


class Explained(Kept):
    """A mutant that no test need see, and why."""

    path: str
    before: str
    after: str
    why: Text


class Law(Kept):
    """On how many deployments a law was tried, how many broke it, of how many it says nothing."""

    date: Date
    deployments: int
    broken: int
    left_out: int


class Door(Kept):
    """How cases of a door ended."""

    date: Date
    cases: int
    answered: int
    refused: int
    traceback: int
    endless: int
    unclear: int

    @property
    def found(self) -> int:
        """Cases that ended neither in an answer nor in one sentence."""
        return self.traceback + self.endless + self.unclear


class Kills(Kept):
    """What kills of a command left: processes that lived on, files that lay about."""

    date: Date
    kills: int
    processes: int
    files: int
    unclear: int

    @property
    def found(self) -> int:
        """All that was left, and ends that were unclear."""
        return self.processes + self.files + self.unclear


class Identical(Kept):
    """Two clean builds, and the files that differ."""

    date: Date
    commit: str
    files: int
    bytes: int
    different: tuple[str, ...]


class Environment(Kept):
    """Answers of one environment held against the pinned one.

    ``same`` is None of one that could not be made, ``failed`` says why one gave no answers.
    """

    python: str
    packages: str
    same: bool | None = None
    values: int | None = None
    largest: float | None = None
    failed: str | None = None

    @property
    def outcome(self) -> str:
        """Not run, failed, or whether its numbers are the same; in a word."""
        return ("not-run" if self.same is None else "failed" if self.failed is not None else
                "same" if self.same else "other")


class Packages(Kept):
    """Answers with the oldest and the newest packages, by Python."""

    date: Date
    tolerance: float
    questions: int
    runs: tuple[Environment, ...]


class Records(NamedTuple):
    """All that was kept of long runs, None of what was never run; and why no test need see some of
    the mutants."""

    mutants: Mutants | None
    why: dict[Change, Pair]
    laws: dict[str, Law] | None
    doors: dict[str, Door] | None
    kills: dict[str, Kills] | None
    identical: Identical | None
    packages: Packages | None

    @property
    def newest(self) -> str | None:
        """The date of the last run; None where none was kept."""
        single = [each.date for each in (self.mutants, self.identical, self.packages) if each]
        several: list[dict[str, Any] | None] = [self.laws, self.doors, self.kills]
        return max([*single, *(each.date for kept in several for each in (kept or {}).values())],
                   default=None)


def load() -> Records:
    """The records of this project. Raises ParamsError for what is none."""
    mutants = read(MUTANTS, Mutants)
    return Records(
        mutants, explained(mutants) if mutants else {}, read(LAWS, dict[str, Law]),
        read(DOORS, dict[str, Door]), read(KILLS, dict[str, Kills]), read(IDENTICAL, Identical),
        read(PACKAGES, Packages))


def read(path: Path, of: type[T]) -> T | None:
    """A record as a class, or a mapping to one; None where no run has kept it yet.

    Raises ParamsError for a file that is no record of this kind.
    """
    record(path)  # that there is none counts, too
    if not is_file(path):
        return None
    file = jsonfile.read(path)
    return _validated(of, file.data, lambda keys: file.where(str(keys[0])) if keys else file.name)


def _validated(of: type[T], data: Any, where: Callable[[Any], str]) -> T:
    """Plain data as a class. Raises ParamsError with the first that is wrong, and where."""
    try:
        return TypeAdapter(of).validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        keys = first["loc"]
        problem = first["msg"].removeprefix("Value error, ").rstrip(".")
        raise ParamsError(f"{where(keys)}: {'.'.join(map(str, keys)) or 'the record'}: "
                          f"{problem[:1].lower()}{problem[1:]}.") from None


def explained(mutants: Mutants, path: Path = SURVIVORS) -> dict[Change, Pair]:
    """Why no test need see a survivor, by its change.

    Args:
        mutants: the record that explanations are of.
        path: the file of explanations; there may be none.

    Raises ParamsError for one that is not of a survivor, has no reason, or stands twice.
    """
    record(path)
    if not is_file(path):
        return {}
    file = yamlfile.read(path)
    survived = {each.change for each in mutants.mutants if each.seen_by is None}
    listed = _validated(dict[str, tuple[Explained, ...]], file.data, file.where)
    found: dict[Change, Pair] = {}
    for place, each in enumerate(listed.get("survivors", ())):
        change = each.path, each.before, each.after
        if change not in survived or change in found:
            problem = "stands twice" if change in found else f"is no survivor of {MUTANTS.name}"
            raise ParamsError(f"{file.where(('survivors', place))}: '{each.before}' changed to "
                              f"'{each.after}' in {each.path} {problem}, expected each mutant that "
                              "no test need see, once.")
        found[change] = pair(each.why)
    return found


class Tried(NamedTuple):
    """What one kind of test comes to, as a line of the first table.

    Attributes:
        title: what was tried.
        section: label of where that is told.
        tried, found: how many cases, and how many of them are defects or unexplained; none were
            ``tried`` where no run was kept.
        amount, told: both in words.
        when: from when it is.
    """

    title: Pair
    section: str
    tried: int
    found: int
    amount: Pair
    told: Pair
    when: Pair

    @property
    def share(self) -> float:
        """Found per tried [1]; what was not tried is worse than all."""
        return self.found / self.tried if self.tried else float("inf")


def not_done(title: Pair, section: str) -> Tried:
    """The line of a test of which no run was kept."""
    return Tried(title, section, 0, 0, say("not-done"), (NONE, NONE), (NONE, NONE))


def worst_first(tried: Iterable[Tried]) -> list[Tried]:
    """By what was found per case; of what is as good, that which was tried less comes first."""
    return sorted(tried, key=lambda each: (-each.share, each.tried))


def when(dates: Iterable[str]) -> Pair:
    """The date of one run, or from when to when those of several are."""
    days = sorted(dates)
    first, last = days[0], days[-1]
    return (first, first) if first == last else common("releases-from-to", since=first, until=last)
