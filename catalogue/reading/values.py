"""Values with their sources, the type of every number in the parameter files; shared files."""

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date as Day
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema
from pydantic_core.core_schema import with_info_plain_validator_function

from catalogue.reading import units, words, yamlfile
from catalogue.reading.files import ROOT, ParamsError
from catalogue.reading.near import ALIKE, nearest_names
from catalogue.reading.synonyms import amount_meant, tokens_meant

Kind = Literal["vendor", "measured", "derived", "documented", "assumed"]
KINDS: tuple[str, ...] = get_args(Kind)

_KEY = re.compile(r"[a-z0-9][a-z0-9.-]*")
_DATE = re.compile(r"(199[0-9]|20[0-9]{2})(-[0-9]{2}(-[0-9]{2})?)?")  # of a card of today


@dataclass(frozen=True)
class Value:
    """A number in SI units with its provenance.

    Attributes:
        value: SI number; int when integral.
        unit: SI unit, e.g. ``B/s``; ``1`` for a plain number.
        written: the quantity as the file has it, e.g. ``1.6 TB/s``.
        source: key of ``params/sources/``, or a citation in a reader's own file.
        kind: vendor, measured, derived, documented or assumed.
        low, high: range, equal to ``value`` where none is given.
        date: of the statement, ISO, possibly without day or month.
        section: of the source, where it is a document.
        note: ``{"en": ..., "zh": ...}``.
        others: what other sources say of the same quantity.
    """

    value: float | int
    unit: str
    written: str
    source: str
    kind: str
    low: float | int
    high: float | int
    date: str | None = None
    section: str | None = None
    note: dict[str, str] | None = None
    others: tuple["Value", ...] = field(default=())

    @property
    def shown(self) -> str:
        """The quantity as written, with its range in the same unit: ``2 GiB (1.3–4)``."""
        return with_range(self.written, self.low, self.high)


def with_range(written: str, low: float, high: float) -> str:
    """A quantity as written, with its range [SI] in the same unit.

    >>> with_range("2 GiB", 1 << 30, 1 << 32)
    '2 GiB (1–4)'
    """
    factor = units.factor(units.split(written)[1])
    return written if low == high else f"{written} ({low / factor:.6g}–{high / factor:.6g})"


class Misplaced(ValueError):
    """A value that cannot be used, and at which of the keys inside it that shows."""

    def __init__(self, message: str, *keys: str | int) -> None:
        super().__init__(message)
        self.keys = keys


class Violations(ValueError):
    """Rules over several keys that an entry breaks."""

    def __init__(self, *problems: Misplaced) -> None:
        super().__init__("; ".join(map(str, problems)))
        self.problems = problems


@dataclass(frozen=True)
class Provenance:
    """What a file's values are checked against.

    Attributes:
        defaults: source, kind and date that bare numbers inherit.
        sources: keys of ``params/sources/``.
        locate: finds an entry by kind and name; raises ParamsError if there is none.
        own: whether the file is a reader's own, of which the catalogue's requirements on texts and
            sources do not hold.
    """

    defaults: dict[str, Any]
    sources: frozenset[str]
    locate: Callable[[str, str], Path]
    own: bool = False


Annotation = TypeVar("Annotation")
ANY_UNIT = "*"
TEXT_SCHEMA = {"anyOf": [
    {"type": "string"},
    {"type": "object", "minProperties": 1, "additionalProperties": False,
     "properties": {"en": {"type": "string"}, "zh": {"type": "string"}}}]}
LARGEST_COUNT = 10**12  # products of a few counts stay exact where it matters
MOST_IN_FLIGHT = 10**6  # requests
SMALLEST, LARGEST = 1e-30, 1e30  # in SI units: what is computed of such numbers stays finite


@dataclass(frozen=True)
class Unit:
    """Annotation of a quantity field: expected unit, admissible numbers, whether a range is.

    Where any unit is, ``among`` may name those that are meant. Outside of ``plausible`` a unit has
    slipped. Without ``bits`` only bytes are accepted. pydantic calls it to turn what a file holds
    into a :class:`Value`.
    """

    unit: str
    minimum: float = 0.0
    exclusive: bool = True
    maximum: float | None = None
    integer: bool = False
    spread: bool = True
    among: tuple[str, ...] = ()
    plausible: tuple[str, str] | None = None
    bits: bool = True

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Validate with the provenance that the file passes on as context."""
        return with_info_plain_validator_function(
            lambda raw, info: _value(raw, self, info.context))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: Any) -> dict[str, Any]:
        """A bare quantity, or one with its provenance."""
        unit = " or ".join(self.among) or self.unit
        described = {"1": "a plain number", ANY_UNIT: "a quantity with its unit"}.get(
            unit, f"a quantity in {unit}, such as '1.6 TB/s' or '64 GiB'")
        return Stated.model_json_schema() | {"type": ["number", "string", "object"],
                                             "description": described}


class MeantError(ValueError):
    """A value is refused, and what is ``meant`` is known."""

    def __init__(self, text: str, meant: str) -> None:
        super().__init__(text)
        self.meant = meant


def si_number(raw: Any, rule: Unit) -> float | int:
    """What a file's number or quantity is in SI units; whole where the rule says so.

    Raises ValueError for one that is outside of the rule.
    """
    if rule.unit == ANY_UNIT and (
            isinstance(raw, bool) or not isinstance(raw, (str, int, float))):
        raise ValueError("expected a number or a quantity such as '1.6 TB/s'")
    try:
        value = units.parse_any(raw) if rule.unit == ANY_UNIT else units.parse(raw, rule.unit)
    except ValueError as error:
        if isinstance(raw, str) and rule.unit == "token" and (meant := tokens_meant(raw)):
            raise MeantError(f"tokens are counted, '{raw}' of text has about {meant}: write "
                             f"{meant}", meant) from None
        unit = units.DIMENSIONLESS if rule.unit == ANY_UNIT else rule.unit
        if isinstance(raw, str) and (meant := amount_meant(raw, unit)):
            raise MeantError(f"'{raw}' is not {units.quantity(unit)}: write {meant}",
                             meant) from None
        raise error
    if value < rule.minimum or (rule.exclusive and value == rule.minimum):
        bound = "more than" if rule.exclusive else "at least"
        raise ValueError(f"'{raw}' is out of range, expected {bound} {rule.minimum:g}")
    if rule.maximum is not None and value > rule.maximum:
        percent = rule.maximum == 1 and rule.unit == units.DIMENSIONLESS and 10 <= value <= 100
        raise ValueError(f"'{raw}' is out of range, expected at most "
                         + ("100%" if "%" in str(raw) else units.plain(rule.maximum))
                         + (f", or {raw}%" if percent and "%" not in str(raw) else ""))
    if not rule.bits and (in_bytes := units.in_bytes(raw)):
        raise ValueError(f"'{raw}' is {units.human(value, rule.unit)}, are bits meant? write "
                         f"{units.human(value, rule.unit)} or {in_bytes}")
    if value and not SMALLEST <= value <= LARGEST:
        raise ValueError(f"'{raw}' is out of range, expected {SMALLEST:g} to {LARGEST:g} in SI "
                         "units")
    if rule.plausible:
        smallest, largest = (units.parse(end, rule.unit) for end in rule.plausible)
        if not smallest <= value <= largest:
            noun = units.quantity(rule.unit).partition(" in ")[0]
            raise ValueError(f"'{raw}' is not plausible, expected {noun} of {rule.plausible[0]} to "
                             f"{rule.plausible[1]}: is the unit right?")
    if rule.integer and value > LARGEST_COUNT:
        raise ValueError(f"'{raw}' is out of range, expected at most {units.plain(LARGEST_COUNT)}")
    if rule.integer and not isinstance(value, int):
        joined = re.sub(r"^(\d{1,3})\.(\d{3})(?!\d)", r"\1\2", str(raw))
        hint = f", are thousands meant? write {joined}" if joined != str(raw) else (
            f", expected one such as {max(1, int(value))}")
        raise ValueError(f"'{raw}' is not a whole number{hint}")
    return value


def both_languages(raw: Any, own: bool = True) -> dict[str, str]:
    """Return a text by language, ``en`` and ``zh``.

    Args:
        raw: as a file has it: both languages; in a reader's own file also one of them, or a bare
            text, which then stands for both.
        own: whether the file is a reader's own.

    Raises ValueError for anything else.
    """
    texts = {"en": str(raw)} if own and isinstance(raw, (str, int)) and not isinstance(
        raw, bool) else raw
    if not isinstance(texts, dict) or not texts or not texts.keys() <= {"en", "zh"} or not all(
            isinstance(text, str) and text.strip() for text in texts.values()):
        raise ValueError("expected a text, or one in two languages, {en: ..., zh: ...}")
    if len(texts) == 1 and not own:
        raise ValueError("expected a text in both languages, {en: ..., zh: ...}")
    first = next(iter(texts.values()))
    return {lang: words.read(texts.get(lang, first)) for lang in ("en", "zh")}


def stated_date(raw: Any) -> str:
    """A date as it stands in a file. Raises ValueError for what is none, such as 2026-02-30."""
    try:
        first = _DATE.fullmatch(str(raw)) and Day.fromisoformat(f"{raw}-01-01"[:10])
    except ValueError:
        first = None
    if not first:
        raise ValueError(f"'{str(raw)[:40]}' is not a date, expected YYYY, YYYY-MM or YYYY-MM-DD, "
                         "from 1990 to 2099")
    return str(raw)


def _source(source: Any, given: Provenance) -> str:
    """A key of ``params/sources/``, or, in a reader's own file, a citation in words."""
    if not isinstance(source, str) or not source.strip():
        raise ValueError("a source is missing, expected source: a key of params/sources/, or words "
                         "such as \"data sheet, page 2\", beside the value or once for all in "
                         "defaults: {source: ..., kind: ...}")
    if not _KEY.fullmatch(source):
        return words.read(source)
    if source not in given.sources:
        close = nearest_names(source, sorted(given.sources), 1, 0.85 if given.own else ALIKE)
        if close or not given.own:
            raise ValueError(f"the source '{source[:60]}' is not in params/sources/, expected "
                             + "".join(f"{name}, or " for name in close)
                             + "words that say where to look, such as \"data sheet, page 2\"")
    return source


def _is_own(context: Provenance | None) -> bool:
    return context is not None and context.own


SourceKey = Annotated[str, BeforeValidator(lambda raw, info: _source(raw, info.context))]
Text = Annotated[
    dict[str, str],
    BeforeValidator(lambda raw, info: both_languages(raw, _is_own(info.context))),
    WithJsonSchema(TEXT_SCHEMA)]
Date = Annotated[str, BeforeValidator(stated_date),
                 WithJsonSchema({"type": ["integer", "string"]})]


def _ends(raw: Any) -> list[Any]:
    """Both ends of a range. Raises ValueError for what is none."""
    if not isinstance(raw, list) or len(raw) != 2:
        raise ValueError("expected both ends of a range, such as [0.6, 0.8]")
    return raw


class Deferred(BaseModel):
    """Base of models whose validator is built when first used: a program reads few kinds."""

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def model_rebuild(cls, **given: Any) -> bool | None:
        """Build the validator from the names of the module and of nothing else.

        Pydantic would look for names in the caller's variables as well; every class is of a module,
        and Python 3.13.0 ends with a segmentation fault where a caller's comprehension has cells.
        """
        return super().model_rebuild(**{**given, "_types_namespace": {}})


class Stated(Deferred):
    """A quantity as a file has it, with its provenance; see :class:`Value`."""

    model_config = ConfigDict(extra="forbid")
    value: Any
    source: SourceKey = Field(default="", validate_default=True)
    kind: Kind = Field(default=None, validate_default=True)
    range: Annotated[list[Any], BeforeValidator(_ends)] | None = None
    date: Date | None = None
    section: str | int | float | None = None
    note: Text | None = None
    others: list[dict[str, Any]] = []


class Defaults(Deferred):
    """The provenance that bare numbers of a file inherit."""

    model_config = ConfigDict(extra="forbid")
    source: SourceKey | None = None
    kind: Kind | None = None
    date: Date | None = None


def _value(raw: Any, rule: Unit, given: Provenance) -> Value:
    if isinstance(raw, Value):
        return raw
    entry = raw if isinstance(raw, dict) else {"value": raw}
    if entry.get("value") is None and entry.keys() <= Stated.model_fields.keys():
        raise ValueError("no value is given")
    stated = Stated.model_validate(
        entry if "source" in entry else given.defaults | entry, context=given)
    usual = [name.replace("/s", "/h").replace("/J", "/kWh") if name[:3] in units.MONEY else name
             for name in rule.among]
    try:
        value = low = high = si_number(stated.value, rule)
    except ValueError as error:
        if usual and "unknown unit" in str(error):
            unknown = str(error).partition(", expected")[0]
            raise ValueError(f"{unknown}, expected {' or '.join(usual)}") from None
        raise
    unit = units.unit_of(stated.value) if rule.unit == ANY_UNIT else rule.unit
    if rule.among and unit not in rule.among:
        raise ValueError(f"'{stated.value}' has the wrong unit, expected a quantity in "
                         f"{' or '.join(usual)}, such as {units.split(stated.value)[0]} {usual[0]}")
    if stated.range:
        if not rule.spread:
            raise ValueError("a shape, a layout or a length is exact and has no range")
        of_unit = replace(rule, unit=unit)
        ends, problems = [-math.inf, math.inf], []
        for index, bound in enumerate(stated.range):
            try:
                ends[index] = si_number(bound, of_unit)
            except ValueError as error:
                problems.append(str(error))
        low, high = ends
        if low > high:
            problems.append(f"the range begins with '{stated.range[0]}', expected its lower end")
        elif not low <= value <= high:
            problems.append(f"the value '{stated.value}' lies outside its range "
                            f"[{', '.join(map(str, stated.range))}]")
        if problems:
            raise ValueError("; ".join(problems))
    section = None if stated.section is None else words.read(str(stated.section))
    others = []
    for number, other in enumerate(stated.others):
        try:
            others.append(_value(other, rule, replace(given, defaults={})))
        except ValueError as error:
            raise Misplaced(f"others.{number}: {error}", "others", number) from None
    return Value(value, unit, str(stated.value), stated.source, stated.kind, low, high, stated.date,
                 section, stated.note, tuple(others))


def is_path(reference: str) -> bool:
    """Whether a reference is the path of a file, not the identifier of an entry."""
    return reference.strip().lower().endswith((".yml", ".yaml")) or "/" in reference


def engine_name(reference: Any) -> Any:
    """An engine with its release as the catalogue spells them; the path of a file as it is.

    >>> engine_name("vLLM@0.11.0")
    'vllm@0.11.0'
    """
    return reference.casefold() if isinstance(reference, str) and not is_path(reference) else (
        reference)


@dataclass(frozen=True)
class Ref:
    """Annotation of a field that names an entry of another kind, which must exist."""

    kind: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        """Look the name up where the file's provenance says; a path is found beside the file."""

        folder = ROOT / self.kind

        def resolve(raw: Any, info: Any) -> str:
            if not isinstance(raw, str):
                value = units.shown(raw)
                if isinstance(raw, list) and raw:
                    first = raw[0]
                    try:
                        info.context.locate(self.kind, str(first))
                    except ParamsError as error:
                        near = re.search(r"did you mean ([^;]+?)[;.]", str(error))
                        first = near[1] if near else first
                    value += f": write {first}" + ", ask for others apart" * (len(raw) > 1)
                raise ValueError(f"expected the name of one of the {self.kind}, found {value}")
            try:
                path = info.context.locate(self.kind, raw)
            except ParamsError as error:
                raise ValueError(str(error).rstrip(".")) from None
            own = path.parent != folder or raw.endswith((".yml", ".yaml"))
            return str(path) if own else path.stem

        return with_info_plain_validator_function(resolve)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: Any) -> dict[str, Any]:
        """The name of an entry, or the path of a file."""
        return {"type": "string", "description": f"an entry of params/{self.kind}/, or a path"}


def annotated(field: FieldInfo, kind: type[Annotation]) -> Annotation | None:
    """The annotation of a kind that a field has, or a part of its type."""
    parts = (field.annotation, *get_args(field.annotation))
    return next((item for item in (*field.metadata, *(
        inside for part in parts for inside in getattr(part, "__metadata__", ())))
        if isinstance(item, kind)), None)


Words = Annotated[str, AfterValidator(words.read)]
# A name that is the same in both languages stands once.
NameOrText = Annotated[
    dict[str, str],
    BeforeValidator(lambda raw, info: both_languages(
        raw, isinstance(raw, str) or _is_own(info.context))),
    WithJsonSchema(TEXT_SCHEMA)]
# The name of a reader's file may hold anything; as an identifier it stands in code and links.
Identifier = Annotated[str, AfterValidator(lambda name: re.sub(r"[^\w.-]+", "-", name))]
Flag = Annotated[bool, Strict()]
Positive = Annotated[int, Strict(), Field(ge=1, le=LARGEST_COUNT)]
Count = Annotated[Value, Unit("1", integer=True, spread=False)]
CountOrZero = Annotated[Value, Unit("1", integer=True, exclusive=False, spread=False)]
Share = Annotated[Value, Unit("1", maximum=1.0)]
Bytes = Annotated[Value, Unit("B")]
BytesOrZero = Annotated[Value, Unit("B", exclusive=False)]
ByteRate = Annotated[Value, Unit("B/s")]
Time = Annotated[Value, Unit("s")]
Tokens = Annotated[Value, Unit("token", integer=True)]
Blocks = Annotated[Value, Unit("block", integer=True)]
Length = Annotated[Value, Unit("token", integer=True, spread=False)]
AllRequests = Annotated[Value, Unit("request", integer=True)]
Requests = Annotated[Value, Unit("request", integer=True, maximum=MOST_IN_FLIGHT)]
AnyQuantity = Annotated[Value, Unit(ANY_UNIT, exclusive=False)]
AnyRate = Annotated[Value, Unit(ANY_UNIT, among=("FLOP/s", "B/s"))]

# Plausible ranges of hardware: a number outside has a slipped unit (GB for TB). Every range is
# about a hundred times what the catalogue has at its ends. Ends of today, one direction, dense:
#   memory            24 GiB, a card for desktops      6 TB, a host processor's
#   memory bandwidth  141 GB/s, a host processor       8 TB/s, a card with HBM3E
#   peak              1 TFLOP/s, FP32 of a processor   20 PFLOP/s, FP4, sparse
#   link              3.5 GB/s, a drive                900 GB/s, NVLink 5
#   latency           0.2 us, between two dies         5.5 us, across a network
#   power             16 W, an idle card               14.3 kW, a server of eight cards
#   price             1,600 USD, a card for desktops   2,000,000 CNY, a server
Memory = Annotated[Value, Unit("B", plausible=("1 GB", "20 TB"))]
HostMemory = Annotated[Value, Unit("B", plausible=("1 GB", "100 TB"))]
Reserve = Annotated[Value, Unit("B", plausible=("1 MB", "100 GB"))]
Cache = Annotated[Value, Unit("B", plausible=("100 kB", "10 GB"))]
MemoryBandwidth = Annotated[Value, Unit("B/s", plausible=("10 GB/s", "100 TB/s"), bits=False)]
CacheBandwidth = Annotated[Value, Unit("B/s", plausible=("100 GB/s", "1000 TB/s"), bits=False)]
LinkBandwidth = Annotated[Value, Unit("B/s", plausible=("100 MB/s", "100 TB/s"))]
Peak = Annotated[Value, Unit("FLOP/s", plausible=("0.1 TFLOP/s", "100 PFLOP/s"))]
Latency = Annotated[Value, Unit("s", plausible=("10 ns", "1 ms"))]
Clock = Annotated[Value, Unit("Hz", plausible=("100 MHz", "20 GHz"))]
Watts = Annotated[Value, Unit("W", plausible=("1 W", "1 MW"))]
PriceInDollars = Annotated[Value, Unit("USD", plausible=("10 USD", "100000000 USD"))]
PriceInYuan = Annotated[Value, Unit("CNY", plausible=("100 CNY", "1000000000 CNY"))]
Rent = Annotated[Value, Unit("USD/s", plausible=("0.01 USD/h", "10000 USD/h"))]


PERCENT = "%"
COUNTED = 2  # digits of a whole number that count, be they zeros
MOST = 5  # digits that are shown of a computed number
UNGROUPED = 10_000  # from where on the thousands of a count stand apart; years lie below
ROUNDED = 0.01  # of itself, the most by which an end of a range is taken to be rounded
PER_CENT = 0.01  # the digit to which both ends of a share are printed, however they are written
SLACK = 1e-6  # of half a digit, lost in the arithmetic of floating point


@dataclass(frozen=True)
class Printed:
    """A printed number, or the two ends of a printed range, in SI.

    Attributes:
        low, high: ends, equal where one number is printed.
        unit: SI unit, ``1`` of plain numbers and of percentages.
        written: both ends as written, one where they are equal.
        last: value of the last digit that counts, of either end.
    """

    low: float
    high: float
    unit: str
    written: tuple[str, ...]
    last: tuple[float, ...]

    @property
    def value(self) -> float:
        """The number; of a range the middle of its ends."""
        return self.low if self.low == self.high else (self.low + self.high) / 2

    @property
    def text(self) -> str:
        """As written, money in full, else a power of ten where there is an exponent: ``30–50 %``,
        ``2–5 µs``."""
        parts = [text.partition(" ") for text in self.written]
        digits = [f"{float(number):,.0f}" if unit in units.MONEY and float(number).is_integer()
                  else units.power_of_ten(float(number)) if "e" in number.lower() else number
                  for number, _, unit in parts]
        unit = "" if parts[-1][2] in units.COUNTING else parts[-1][2]
        return f"{'–'.join(digits)} {units.SIGNS.get(unit, unit)}".rstrip()

    def like(self, number: float) -> str:
        """Another number (SI) in the unit of this one, with three digits or as many."""
        text = self.written[-1].strip()
        if text.endswith(PERCENT):
            return f"{units.plain(number * 100)} {PERCENT}"
        mantissa, unit = units.split(text)
        sign = units.SIGNS.get(unit, unit)
        integer, dot, decimals = mantissa.lower().partition("e")[0].strip("+-").partition(".")
        counted = len((integer + decimals if dot else integer.rstrip("0")).lstrip("0"))
        if "e" in mantissa.lower() and unit not in units.MONEY:
            shown = units.power_of_ten(number / units.factor(unit))
            return shown if unit == units.DIMENSIONLESS else f"{shown} {sign}"
        amount = number / units.factor(unit)
        exact = float(amount).is_integer() and abs(amount) < units.LARGEST
        if counted > units.DIGITS and exact:
            shown = f"{amount:.0f}" if abs(amount) < UNGROUPED else f"{amount:,.0f}"  # a count
        else:
            shown = units.plain(amount, max(units.DIGITS, min(counted, MOST)))
        return shown if unit in (units.DIMENSIONLESS, *units.COUNTING) else f"{shown} {sign}"

    def holds(self, number: float) -> bool:
        """Whether a number (SI) rounds to what is printed, or lies in the printed range, whose
        ends are rounded by no more than a hundredth of themselves: 0.8–0.9 is 80–90 %."""
        first, final = (digit / 2 * (1 + SLACK) for digit in (self.last[0], self.last[-1]))
        if self.low != self.high:
            share = PER_CENT if self.unit == units.DIMENSIONLESS and self.high <= 1 else math.inf
            first = min(first, share / 2, ROUNDED * abs(self.low))
            final = min(final, share / 2, ROUNDED * abs(self.high))
        return bool(self.low - first <= number <= self.high + final)


def read(raw: Any) -> Printed:
    """What a file has of a printed number: a quantity, a percentage, or a pair of them.

    >>> read(["30 %", "50 %"]).text, read("58000 token/s").last
    ('30–50 %', (1000.0,))

    The zeros that end a whole number do not count as digits beyond the second: 58,000 stands for
    57,500 to 58,500, and 400 for 395 to 405.

    Raises ValueError for what is none, for a pair in two units or out of order.
    """
    ends = raw if isinstance(raw, list) else [raw]
    if not 1 <= len(ends) <= 2 or any(isinstance(end, (list, dict, bool)) for end in ends):
        raise ValueError("expected a number with its unit, or a pair of them")
    parts = [_parsed(end) for end in ends]
    if len({unit for _, unit, _ in parts}) > 1:
        raise ValueError(f"'{ends[0]}' and '{ends[-1]}' are in two units")
    if parts[0][0] > parts[-1][0]:
        raise ValueError(f"'{ends[0]}' is above '{ends[-1]}', expected the lower end first")
    return Printed(parts[0][0], parts[-1][0], parts[0][1], tuple(str(end) for end in ends),
                   tuple(last for _, _, last in parts))


def of_value(value: Value, percent: bool = False) -> Printed:
    """A value of a file as a printed number; ``percent`` of a share that is printed as one."""
    if percent:
        ends = [value.written] if value.low == value.high else [value.low, value.high]
        return read([f"{Decimal(share) * 100:.{max(0, len(share.partition('.')[2]) - 2)}f} "
                     f"{PERCENT}" for share in map(str, ends)])
    unit = units.split(value.written)[1]
    if value.low == value.high:
        return Printed(float(value.low), float(value.high), value.unit, (value.written,),
                       (_last(value.written, 1.0),))
    written = tuple(f"{end / units.factor(unit):.6g} {unit}".removesuffix(" 1")
                    for end in (value.low, value.high))
    return Printed(float(value.low), float(value.high), value.unit, written, (0.0, 0.0))


def _parsed(raw: Any) -> tuple[float, str, float]:
    """Number (SI), unit and value of the last digit."""
    text = str(raw).strip()
    if text.endswith(PERCENT):
        share = text.removesuffix(PERCENT).strip()
        return float(_number(share)) / 100, units.DIMENSIONLESS, _last(share, 0.01)
    negative = text.startswith("-")
    number = _number(text.lstrip("+-"))
    return (-number if negative else number), units.unit_of(raw), _last(text.lstrip("+-"), 1.0)


def _number(text: str) -> float:
    return float(units.parse_any(text))


def _last(text: str, scale: float) -> float:
    """What one step of the last digit that counts comes to in SI."""
    digits, unit = units.split(text)
    mantissa, _, power = digits.lower().partition("e")
    integer, _, decimals = mantissa.lstrip("+-").partition(".")
    zeros = len(integer) - max(len(integer.rstrip("0")), min(COUNTED, len(integer)))
    step = -len(decimals) if decimals or not integer.strip("0") else zeros
    return float(10.0 ** (step + int(power or 0)) * units.factor(unit) * scale)


PrintedNumber = Annotated[
    Any, BeforeValidator(lambda raw: raw if isinstance(raw, Printed) else read(raw)),
    WithJsonSchema({"type": ["number", "string", "array"],
                    "description": "a number with its unit, a percentage, or a pair of them"})]


Consequence = Literal["stops", "decision", "number"]
CONSEQUENCES: tuple[str, ...] = get_args(Consequence)  # of a cause, the gravest first
_FOLDER = ROOT / "sources"
_TOP_KEYS = re.compile(rf"^({_KEY.pattern}):", re.MULTILINE)


class Source(Deferred):
    """What is cited. ``date`` is that of what it states; where it prints none, ``read`` is the day
    by which it was read, on which it stood so."""

    model_config = ConfigDict(extra="forbid")
    title: str
    url: str = ""
    date: Date = ""
    read: Date = ""
    note: Text | None = None


class Term(Deferred):
    """A term of the book in both languages, and what else its file says of it."""

    en: Any
    zh: Any


class Cause(Deferred):
    """What went wrong in the documents."""

    title: Text
    what: Text
    consequence: Consequence


class Symptom(Deferred):
    """Variants of a symptom in either language, and the labels of what answers it."""

    model_config = ConfigDict(extra="forbid")
    en: list[str]
    zh: list[str]
    at: list[str]


class Symptoms(Deferred):
    """What readers type who look for help.

    ``ignored``: kind -> words that tell nothing; ``same``: name -> words that mean the same;
    ``faults``: names of those that say what went wrong.
    """

    model_config = ConfigDict(extra="forbid")
    ignored: dict[str, list[str]]
    same: dict[str, list[str]]
    faults: list[str]
    symptoms: dict[str, Symptom]


_adapter = functools.cache(TypeAdapter)


def _checked(path: Path, kind: Any) -> dict[str, dict[str, Any]]:
    """The contents of a file, of a kind that pydantic knows. Raises ParamsError for others."""
    def checked() -> dict[str, dict[str, Any]]:
        file = yamlfile.read(path)
        try:
            _adapter(kind).validate_python(file.data)
        except ValidationError as error:
            problem = error.errors(include_url=False)[0]
            raise ParamsError(f"{file.where(problem['loc'])}: "
                              f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}.") from None
        return file.data

    return yamlfile.remembered("checked", path, checked)


def sources() -> dict[str, dict[str, str]]:
    """Key -> entry of :class:`Source` of all that is cited, from ``params/sources/``."""
    def read() -> dict[str, dict[str, str]]:
        yamlfile.note(_FOLDER)
        result: dict[str, dict[str, str]] = {}
        for name in yamlfile.names_in(_FOLDER):
            path = _FOLDER / f"{name}.yml"
            entries = _checked(path, dict[str, Source])
            for key in result.keys() & entries:
                raise ParamsError(f"{yamlfile.read(path).where((key,))}: the source '{key}' is "
                                  "listed twice.")
            result |= entries
        return result

    return yamlfile.remembered("sources", _FOLDER, read)


def as_data(value: Any) -> Any:
    """Any entry as JSON data; a value keeps its unit, source and kind."""
    if isinstance(value, Value):
        data: dict[str, Any] = {"value": value.value, "unit": value.unit, "written": value.written,
                                "source": value.source, "kind": value.kind}
        if value.low < value.high:
            data |= {"low": value.low, "high": value.high}
        data |= {name: stated for name in ("date", "section", "note")
                 if (stated := getattr(value, name)) is not None}
        if value.source in sources():
            data["url"] = sources()[value.source].get("url")
        if value.others:
            data["others"] = [as_data(other) for other in value.others]
        return data
    if isinstance(value, BaseModel):
        fields = {name: getattr(value, name) for name in type(value).model_fields}
        return {name: as_data(item) for name, item in fields.items()
                if item is not None and name != "defaults"}
    if isinstance(value, dict):
        return {str(key): as_data(item) for key, item in value.items()}
    return [as_data(item) for item in value] if isinstance(value, (list, tuple)) else value



def source_keys() -> frozenset[str]:
    """Keys of all that is cited, without reading what stands under them."""
    def read() -> frozenset[str]:
        yamlfile.note(_FOLDER)
        return frozenset(key for name in yamlfile.names_in(_FOLDER) for key in _TOP_KEYS.findall(
            (_FOLDER / f"{name}.yml").read_text("utf-8")))

    return yamlfile.remembered("source keys", _FOLDER, read)


def stands_on(key: str) -> str | None:
    """The day, month or year of which a source speaks, else the day on which it was read.

    >>> stands_on("hf-deepseek-v3"), stands_on("s0"), stands_on("arithmetic")
    ('2024-12', '2026-11-20', None)
    """
    entry = sources().get(key, {})
    stated = entry.get("date", entry.get("read"))
    return None if stated is None else str(stated)


def glossary() -> dict[str, dict[str, Any]]:
    """Every term of the book by identifier, from ``params/glossary.yml``."""
    return _checked(ROOT / "glossary.yml", dict[str, Term])


def symptoms() -> dict[str, dict[str, Any]]:
    """What readers type who look for help, from ``params/symptoms.yml``; see :class:`Symptoms`."""
    return _checked(ROOT / "symptoms.yml", Symptoms)


def causes() -> dict[str, dict[str, Any]]:
    """What went wrong, by the name of the cause, from ``params/causes.yml``."""
    return _checked(ROOT / "causes.yml", dict[str, Cause])
