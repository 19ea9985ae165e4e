"""What parameter files share: their keys checked, names, references to other files, limits."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_before_validator_function

from catalogue.reading.units import TIME_PER_TOKEN
from catalogue.reading.values import (
    LARGEST_COUNT,
    Date,
    Defaults,
    Deferred,
    Identifier,
    Kind,
    Misplaced,
    Ref,
    SourceKey,
    Text,
    Unit,
    Violations,
    Words,
    si_number,
)

MEAN = "mean"
PERCENTILES = {"p50": 0.5, "p75": 0.75, "p90": 0.9, "p95": 0.95, "p99": 0.99}

AcceptanceName = Annotated[str, Ref("acceptances")]
ModelName = Annotated[str, Ref("models")]
DeviceName = Annotated[str, Ref("devices")]
LinkName = Annotated[str, Ref("links")]
NodeName = Annotated[str, Ref("nodes")]
FormatName = Annotated[str, Ref("formats")]
PrecisionName = Annotated[str, Ref("precisions")]
MeasurementsName = Annotated[str, Ref("measurements")]
MicrobenchmarksName = Annotated[str, Ref("microbenchmarks")]
MechanismsName = Annotated[str, Ref("mechanisms")]
ProfileName = Annotated[str, Ref("profiles")]
ScenarioName = Annotated[str, Ref("scenarios")]
PricesName = Annotated[str, Ref("prices")]

_PERCENTILE = re.compile(r"(mean|p[0-9]+(?:\.[0-9]+)?)\s*[ =:]\s*(.+)")

Problem = str | tuple[str | int, ...]  # a sentence, or one with the keys inside that are at fault


@dataclass(frozen=True)
class Plain(Unit):
    """Annotation of a number [SI] that needs no source: the wish of whoever states it."""

    maximum: float | None = LARGEST_COUNT

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Read a quantity in the unit."""
        return no_info_before_validator_function(lambda raw: si_number(raw, self),
                                                 handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: Any) -> dict[str, Any]:
        """A bare quantity alone."""
        stated = super().__get_pydantic_json_schema__(core, handler)
        return {"type": ["number", "string"], "description": stated["description"]}


Promised = Annotated[float, Plain("s")]
PromisedPerToken = Annotated[float, Plain(TIME_PER_TOKEN)]


class Entry(Deferred):
    """Base of everything: frozen, and an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    def violations(self) -> Iterable[Problem]:
        """Rules over several keys that the entry breaks.

        A rule may rest on those before it: after a broken one, an error of another ends the list.
        """
        return ()

    @model_validator(mode="after")
    def _without_violations(self) -> Self:
        broken: list[Misplaced] = []
        try:
            for problem in self.violations():
                message, *keys = (problem,) if isinstance(problem, str) else problem
                broken.append(Misplaced(str(message), *keys))
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            if not broken:
                raise
        if broken:
            raise Violations(*broken)
        return self


def given(entry: Entry, names: Iterable[str]) -> list[str]:
    """Those of some keys that are stated."""
    return [name for name in names if getattr(entry, name) is not None]


def together(entry: Entry, *names: str) -> Iterator[str]:
    """That some of the keys are stated, and not all of them."""
    stated = given(entry, names)
    if 0 < len(stated) < len(names):
        lacking = next(name for name in names if name not in stated)
        yield f"'{stated[0]}' is given without '{lacking}', expected both or neither"


def just_one(entry: Entry, *names: str) -> Iterator[str]:
    """That none or several of the keys are stated."""
    stated = given(entry, names)
    if not stated:
        yield f"'{names[0]}' is missing, or '{names[1]}'"
    if len(stated) > 1:
        yield f"'{stated[1]}' is given beside '{stated[0]}', expected one of them"


def ordered(entry: Entry, less: str, more: str) -> Iterator[str]:
    """That one quantity exceeds another."""
    least, most = getattr(entry, less), getattr(entry, more)
    if least is not None and most is not None and least.value > most.value:
        yield f"'{less}' is {least.shown}, expected at most '{more}', {most.shown}"


def repeated(items: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Items that have come before, with their places."""
    seen = set()
    for index, item in enumerate(items):
        if item in seen:
            yield index, item
        seen.add(item)


class Sourced(Entry):
    """What one source says."""

    source: SourceKey
    kind: Kind
    date: Date | None = None
    note: Text | None = None


class FileEntry(Entry):
    """An entry in a file of its own: ``id`` is the file's name, ``defaults`` the provenance of bare
    numbers."""

    id: Identifier
    note: Text | None = None
    defaults: Defaults | None = None


def _file_name(data: Mapping[str, Any]) -> dict[str, str]:
    """Name of the file of an entry, in place of a name or a title that it does not state."""
    return dict.fromkeys(("en", "zh"), data["id"])


class CatalogueEntry(FileEntry):
    """An entry with a name; absent in a reader's own file, the file's name."""

    name: Text = Field(default_factory=_file_name)


class Titled(FileEntry):
    """An entry with a title, a sentence or a question; absent, the file's name."""

    title: Text = Field(default_factory=_file_name)


class Called(CatalogueEntry):
    """An entry that people call by several names: ``also`` are those besides its file's, each of
    one entry of its kind alone."""

    also: list[Words] = []


def by_percentile(value: Any) -> Any:
    """A limit of a time as files have it: of the mean, or by percentile.

    >>> by_percentile("50 ms"), by_percentile("p50=1s, p99=5s")
    ('50 ms', {'p50': '1s', 'p99': '5s'})
    """
    texts = value.split(",") if isinstance(value, str) else [""]
    parts = [_PERCENTILE.fullmatch(text.strip()) for text in texts]
    return {part[1]: part[2] for part in parts if part} if all(parts) else value


def number_as(key: str, raw: Any) -> Any:
    """A number of cards as a group of keys; raises ValueError for a text."""
    if isinstance(raw, str):
        if ends := re.fullmatch(r"(\d+)\s*(?:\.\.|-|–|to)\s*(\d+)", raw) if key == "most" else None:
            raise ValueError(f"expected a number of cards or a group of keys, found '{raw[:40]}': "
                             f"write {{fewest: {ends[1]}, most: {ends[2]}}}")
        digits = re.match(r"\d+", raw)
        raise ValueError(f"expected a number of cards or a group of keys, found '{raw[:40]}'"
                         + (f": write {digits[0]}" if digits else ""))
    return {key: raw} if type(raw) is int else raw


class TimeLimit(Entry):
    """A time at most [s], of the mean or of one percentile of the requests."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "string", "number"]})

    mean: Promised | None = None
    p50: Promised | None = None
    p75: Promised | None = None
    p90: Promised | None = None
    p95: Promised | None = None
    p99: Promised | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_the_mean(cls, raw: Any) -> Any:
        """A time alone is one of the mean."""
        times = by_percentile(raw)
        return times if isinstance(times, (dict, cls)) else {MEAN: times}

    def violations(self) -> Iterator[Problem]:
        """One limit alone."""
        if len(self.stated) != 1:
            yield (f"{len(self.stated)} limits, expected one, of the mean or of one of "
                   f"{', '.join(PERCENTILES)}")

    @property
    def stated(self) -> dict[str, float]:
        """Times that are given: ``mean`` or a percentile -> time [s]."""
        return {name: getattr(self, name) for name in given(self, (MEAN, *PERCENTILES))}


class TokenTimeLimit(TimeLimit):
    """A time per token at most [s], also stated as a rate: ``30 token/s``."""

    mean: PromisedPerToken | None = None
    p50: PromisedPerToken | None = None
    p75: PromisedPerToken | None = None
    p90: PromisedPerToken | None = None
    p95: PromisedPerToken | None = None
    p99: PromisedPerToken | None = None


def watched(stated: Mapping[str, float]) -> dict[str, float]:
    """Of limits of one time the one that a scenario can promise; none below all ``PERCENTILES``.

    It is that of the highest percentile, at one of ``PERCENTILES`` that it implies.

    >>> watched({"p90": 2.0, "p99": 5.0}), watched({"mean": 1.0, "p97": 3.0}), watched({"p10": 1.0})
    ({'p99': 5.0}, {'p95': 3.0}, {})

    Args:
        stated: times by ``mean`` or percentile [s].
    """
    shares = {name: 0.0 if name == MEAN else float(name[1:]) / 100 for name in stated}
    highest = max(stated, key=lambda name: shares[name])
    if highest == MEAN:
        return {MEAN: stated[MEAN]}
    implied = [name for name, share in PERCENTILES.items() if share <= shares[highest]]
    return {implied[-1]: stated[highest]} if implied else {}


class ServiceLimits(Entry):
    """What a service promises its users: times at most, in the mean or at a percentile of requests.

    Attributes:
        ttft, tpot, e2e: of each; None, nothing is promised.
    """

    ttft: TimeLimit | None = None
    tpot: TokenTimeLimit | None = None
    e2e: TimeLimit | None = None

    @property
    def stated(self) -> dict[str, tuple[str, float]]:
        """Times that have a limit -> ``mean`` or a percentile, and the limit [s]."""
        return {name: next(iter(limit.stated.items())) for name, limit in (
            ("ttft", self.ttft), ("tpot", self.tpot), ("e2e", self.e2e)) if limit}
