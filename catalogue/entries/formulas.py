"""What formulas are made of: symbols; a document's, each beside the right one; a calculator's.

Trees are evaluated in SI units, so the factors by which a document only changes units (10⁹ for GB,
1000 for ms) do not stand in them. A formula that the document prints as a result only, and that is
known because it gives this result, is marked ``reconstructed``.
"""

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from catalogue.entries.entry import (
    Entry,
    FileEntry,
    ModelName,
    Problem,
    ScenarioName,
    Titled,
    just_one,
)
from catalogue.reading import units, yamlfile
from catalogue.reading.files import ROOT
from catalogue.reading.values import (
    AnyQuantity,
    Flag,
    Positive,
    SourceKey,
    Text,
    Unit,
    Value,
    of_value,
)

Number = Any  # int, float or Fraction
Tree = Any
Cache = dict[Any, Any]  # values of parts, see ``evaluate``

MAX_DEPTH = 200
MAX_STEPS = 1_000_000
_EXACT_BITS = 4096

_COMPARE: dict[str, Callable[[Number, Number], bool]] = {
    "eq": operator.eq, "lt": operator.lt, "le": operator.le, "gt": operator.gt,
    "ge": operator.ge}


def _divide(a: Number, b: Number) -> Number:
    if b == 0:
        raise ValueError("division by zero")
    if isinstance(a, float) or isinstance(b, float):
        return float(a) / float(b)
    return a / b if isinstance(a, Fraction) else Fraction(a, b)


def _power(base: Number, exponent: Number) -> Number:
    if base == 0 and exponent < 0:
        raise ValueError("division by zero")
    if (not isinstance(exponent, float) and exponent.denominator == 1
            and not isinstance(base, float) and abs(exponent) * max(
                1, base.numerator.bit_length(), base.denominator.bit_length()) <= _EXACT_BITS):
        power = base ** abs(int(exponent))
        return power if exponent >= 0 else _divide(1, power)
    result = float(base) ** float(exponent)
    if isinstance(result, complex):
        raise ValueError("power of a negative number with a fractional exponent")
    return result


def _log(number: Number) -> float:
    if number <= 0:
        raise ValueError("logarithm of a number that is not positive")
    return math.log(number)


_FIXED: dict[str, tuple[int, Callable[..., Number]]] = {  # operators by number of arguments
    "ceil": (1, math.ceil), "floor": (1, math.floor), "log": (1, _log), "exp": (1, math.exp),
    "power": (2, _power), "divide": (2, _divide), "rational": (2, _divide),
    "subtract": (2, operator.sub)}
_MANY: dict[str, Callable[[list[Number]], Number]] = {
    "add": sum, "multiply": math.prod, "min": min, "max": max}
_OVER: dict[str, Callable[[list[Number]], Number]] = {
    "max_over": max, "min_over": min, "sum_over": sum}

OPERATORS = frozenset({*_FIXED, *_MANY, *_OVER, "piecewise"})


def validate(tree: Tree, _depth: int = 0) -> None:
    """Check the form of a tree. Raises ValueError with one clause when it is not one."""
    if _depth > MAX_DEPTH:
        raise ValueError(f"formula nested deeper than {MAX_DEPTH} levels")
    if isinstance(tree, str):
        if not tree.isidentifier():
            raise ValueError(f"'{tree}' is not the name of a symbol")
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        if not math.isfinite(tree):
            raise ValueError("a number in a formula must be finite")
    elif not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
        raise ValueError("expected a number, a symbol or [operator, argument, ...]")
    else:
        for part in _parts(*tree):
            validate(part, _depth + 1)


def _parts(name: str, *args: Tree) -> Sequence[Tree]:
    """Trees inside of a node. Raises ValueError for what is none."""
    if name not in OPERATORS:
        raise ValueError(f"unknown operator '{name}', expected one of "
                         f"{', '.join(sorted(OPERATORS))}")
    if name == "piecewise" and args:
        *branches, default = args
        parts = [default]
        for branch in branches:
            match branch:
                case [[str(compare), left, right], value] if compare in _COMPARE:
                    parts += [left, right, value]
                case _:
                    raise ValueError("a branch of 'piecewise' is [[comparison, a, b], value]")
        return parts
    if name in _OVER and len(args) == 3 and isinstance(args[0], str):
        return args[1:]
    if args and (name in _MANY or (name in _FIXED and len(args) == _FIXED[name][0])):
        return args
    raise ValueError(f"'{name}' does not take {len(args)} arguments, or not such")


def symbols_of(tree: Tree) -> set[str]:
    """Names of the free symbols of a tree (indices of ``*_over`` are bound)."""
    if isinstance(tree, str):
        return {tree}
    if not isinstance(tree, list):
        return set()
    if tree[0] in _OVER:
        return symbols_of(tree[2]) | (symbols_of(tree[3]) - {tree[1]})
    # others are those of a program made of a tree, such as log2
    return set().union(*map(symbols_of, _parts(*tree) if tree[0] in OPERATORS else tree[1:]))


def numbers(tree: Tree) -> Tree:
    """The tree with numbers written as text (``0.85``, ``1e9``) turned into numbers."""
    if isinstance(tree, list):
        return [numbers(part) for part in tree]
    if isinstance(tree, str) and not tree.isidentifier():
        try:
            return float(tree)
        except ValueError:
            return tree
    return tree


def shared(tree: Tree, cache: dict[tuple[Any, ...], Tree]) -> Tree:
    """The tree with one list for all equal parts of it, and of the trees that were made before.

    Args:
        tree: a valid tree.
        cache: what was made before, by operator and arguments; new parts are added.
    """
    if not isinstance(tree, list):
        return tree
    parts = [shared(part, cache) for part in tree]
    key = tuple(id(part) if isinstance(part, list) else (type(part), part) for part in parts)
    return cache.setdefault(key, parts)


def evaluate(tree: Tree, values: Mapping[str, Number], cache: Cache | None = None) -> Number:
    """The value of a valid tree; integral results come back as int.

    Args:
        tree: what is evaluated.
        values: of its symbols.
        cache: values of its lists by identity, and such of a body by index; what is found is added.
            For trees that share lists (:func:`shared`), have the same values and outlive it.

    Raises ValueError for a symbol without a value, arithmetic that has no result or too large
    a one, and a formula of more than ``MAX_STEPS`` steps.
    """
    try:
        result = _evaluated(tree, values, {} if cache is None else cache, itertools.count(1))
        if isinstance(result, Fraction):
            result = int(result) if result.denominator == 1 else float(result)
        if not math.isfinite(result):
            raise ValueError("the formula has no finite value")
    except OverflowError:
        raise ValueError("a number in the formula is too large") from None
    return result


def _evaluated(tree: Tree, values: Mapping[str, Number], cache: Cache, steps: Iterator[int]
               ) -> Number:
    """The value of a tree, as an exact number where its parts are; every part takes a step."""
    if next(steps) > MAX_STEPS:
        raise ValueError(f"the formula takes more than {MAX_STEPS} steps")
    if isinstance(tree, str):
        if tree not in values:
            raise ValueError(f"the formula needs '{tree}', which has no value")
        return values[tree]
    if not isinstance(tree, list):
        return tree
    if id(tree) not in cache:
        cache[id(tree)] = _applied(tree, values, cache, steps)
    return cache[id(tree)]


def _applied(tree: list[Tree], values: Mapping[str, Number], cache: Cache, steps: Iterator[int]
             ) -> Number:
    name, *args = tree
    at = partial(_evaluated, values=values, cache=cache, steps=steps)
    if name == "piecewise":
        *branches, default = args
        for (compare, left, right), value in branches:
            if _COMPARE[compare](at(left), at(right)):
                return at(value)
        return at(default)
    if name in _OVER:
        index, count_tree, body = args
        count = at(count_tree)
        if not 1 <= count <= MAX_STEPS or count != int(count):
            raise ValueError(f"'{name}' cannot run over {count} values")
        return _OVER[name](
            [_evaluated(body, {**values, index: i}, cache.setdefault((index, i), {}), steps)
             for i in range(int(count))])
    numbers = list(map(at, args))
    return _MANY[name](numbers) if name in _MANY else _FIXED[name][1](*numbers)


Chapter = Literal["architecture", "memory", "compute", "communication", "latency", "throughput",
                  "serving", "cost"]
Verdict = Literal["right", "right-with-conditions", "wrong", "undefined"]
# where an input of a deployment comes from
Kind = Literal["model", "parallelism", "precision", "workload", "device", "network", "host", "pool",
               "prior", "switch", "matmul", "count", "constant"]
Limit = int | float
SYMBOLS = ROOT / "symbols.yml"


def _tree(raw: Any) -> Any:
    tree = numbers(raw)
    validate(tree)
    return tree


def unit_name(raw: Any) -> str:
    """The name of a unit. Raises ValueError for what is none."""
    units.dimensions(str(raw))
    return str(raw)


WrittenTree = Annotated[Any, BeforeValidator(_tree)]
SymbolUnit = Annotated[str, BeforeValidator(unit_name)]
Reference = Annotated[str, Field(
    pattern=r"^(devices|links|nodes|models|formats)/[a-z0-9.-]+(/[a-z_0-9]+)+$")]


class Letter(Entry):
    """A symbol that ``symbols.yml`` does not have: its letter, SI unit and names."""

    latex: str
    unit: SymbolUnit
    en: str
    zh: str


class Symbol(Letter):
    """The one name of a quantity, and what is known of it whatever the deployment.

    Attributes:
        name: in code and data.
        latex, unit, en, zh: letter, SI unit, English and Chinese name.
        short: abbreviation in headings.
        kind: where an input comes from; None of what follows from inputs, and of money and power.
        sign: positive, never zero; signed, below zero too; else at least zero.
        whole: whether it takes whole numbers alone; unless said, where it is counted.
        least, most: what a deployment may state of it, SI.
        neutral: where it does nothing, which holds where nobody says any, SI.
        samples, range: what random checks choose among, or draw between, SI.
    """

    name: str
    short: str | None = None
    kind: Kind | None = None
    sign: Literal["positive", "nonnegative", "signed"] = "nonnegative"
    whole: bool = True
    least: Limit | None = None
    most: Limit | None = None
    neutral: Limit | None = None
    samples: tuple[Limit, ...] = ()
    range: tuple[Limit, Limit] | None = None

    @model_validator(mode="before")
    @classmethod
    def _counted(cls, raw: Any) -> Any:
        parts = set(str(raw.get("unit")).split("/")) - {units.DIMENSIONLESS}
        return {"whole": parts <= set(units.COUNTING)} | raw

    @property
    def rule(self) -> Unit:
        """What a deployment may state of it."""
        return Unit(self.unit.removesuffix("/request"), minimum=self.least or 0.0,
                    exclusive=self.sign == "positive" and self.least is None,
                    maximum=self.most, integer=self.whole,
                    spread=not self.whole or self.unit != units.DIMENSIONLESS)


def symbols() -> dict[str, Symbol]:
    """Every symbol of the book by name, from ``params/symbols.yml``."""
    return yamlfile.remembered("symbols", SYMBOLS, lambda: {
        name: Symbol.model_validate(entry | {"name": name})
        for name, entry in yamlfile.read(SYMBOLS).data.items()})


def input_symbols() -> frozenset[str]:
    """Every input symbol of a deployment: those that have a kind."""
    return yamlfile.remembered("input symbols", SYMBOLS, lambda: frozenset(
        name for name, symbol in symbols().items() if symbol.kind))


def inputs_of(kind: Kind) -> tuple[str, ...]:
    """Input symbols of one kind, in their order; switches are how an engine works."""
    return yamlfile.remembered(f"inputs of {kind}", SYMBOLS, lambda: tuple(
        name for name, symbol in symbols().items() if symbol.kind == kind))


def neutral() -> Mapping[str, Limit]:
    """Inputs at which they do nothing, which hold where nobody says any (SI)."""
    return yamlfile.remembered("neutral inputs", SYMBOLS, lambda: {
        name: symbol.neutral for name, symbol in symbols().items() if symbol.neutral is not None})


class Inputs(Entry):
    """What a document puts into a formula, by symbol."""

    inputs: dict[str, AnyQuantity] = {}

    def given(self) -> dict[str, float | int]:
        """The inputs as plain numbers (SI)."""
        return {name: value.value for name, value in self.inputs.items()}


class Example(Inputs):
    """A number that the document prints of the formula.

    Attributes:
        section: where it is printed; ``label`` says which one, where there are several.
        printed: what it prints; ``percent`` shows shares as percentages.
        arithmetic: whether the formula gives the printed number on these inputs.
        scenario: deployment whose inputs and derived quantities the right formula takes; ``model``
            is enough where only shapes are needed.
        catalogue: symbols that the right formula takes from an entry, as ``kind/name/key``.
    """

    section: str
    label: Text | None = None
    printed: AnyQuantity
    percent: Flag = False
    arithmetic: Literal["agrees", "differs"]
    scenario: ScenarioName | None = None
    model: ModelName | None = None
    catalogue: dict[str, Reference] = {}


class DocumentFormula(Entry):
    """One formula of a document.

    Attributes:
        chapter: the derivation that it belongs to.
        lines: of the document, where it stands first in each section.
        documented: the formula as the document has it; ``documented_latex`` where it is no tree.
        right: ours for the same quantity, or ``right_quantity``, the name of the quantity.
        step: where it goes wrong, or under which conditions it holds.
    """

    id: Annotated[str, Field(pattern=r"^s[0-3]-f[0-9]{2}$")]
    source: SourceKey
    chapter: Chapter
    sections: list[str]
    lines: list[Positive]
    quantity: Text
    documented: WrittenTree | None = None
    documented_latex: str | None = None
    reconstructed: Flag = False
    right: WrittenTree | None = None
    right_quantity: str | None = None
    verdict: Verdict
    step: Text
    note: Text | None = None
    examples: list[Example] = []

    def violations(self) -> Iterator[Problem]:
        """The document's formula, and the right one unless nothing is defined."""
        yield from just_one(self, "documented", "documented_latex")
        if self.verdict != "undefined" or self.right is not None:
            yield from just_one(self, "right", "right_quantity")
        if self.documented is None and self.examples:
            yield "'examples' are given, but the formula cannot be computed"

    def used(self, key: Literal["documented", "right"]) -> set[str]:
        """Names of the symbols of one of the two formulas; none where there is no tree."""
        return symbols_of(getattr(self, key))

    def recomputed(self, example: Example) -> float | int:
        """What the document's formula gives on its own inputs (SI).

        Raises ValueError if an input is missing or the arithmetic has no result.
        """
        return evaluate(self.documented, example.given())

    def agrees(self, example: Example) -> bool:
        """Whether the recomputed number is the printed one, within the digits printed."""
        return within_digits(self.recomputed(example), example.printed)


class DocumentFormulas(Titled):
    """Every formula of one document; ``symbols`` are those that ``symbols.yml`` does not have."""

    symbols: dict[str, Letter] = {}
    formulas: list[DocumentFormula]

    def violations(self) -> Iterator[Problem]:
        """Symbols are known, and examples can be computed."""
        defined = {*symbols(), *self.symbols}
        for number, formula in enumerate(self.formulas):
            quantity = {formula.right_quantity} if formula.right_quantity else set()
            for key, names in (("documented", formula.used("documented")),
                               ("right", formula.used("right")), ("right_quantity", quantity)):
                if lost := sorted(names - defined):
                    yield (f"'{lost[0][:60]}' is neither in params/symbols.yml nor among the "
                           "file's symbols", "formulas", number, key)
            for index, example in enumerate(formula.examples):
                try:
                    formula.recomputed(example)
                except ValueError as error:
                    yield str(error), "formulas", number, "examples", index, "inputs"


class Calculator(FileEntry):
    """A public calculator: the formula that it publishes, in SI units, as ``symbols.yml`` has them.

    Attributes:
        of: ``memory`` of all cards together [B], or ``pace``: a token of one request [s].
    """

    source: SourceKey
    of: Literal["memory", "pace"]
    formula: WrittenTree


def within_digits(value: float, printed: Value) -> bool:
    """Whether a number (SI) rounds to a printed one, or lies in the printed range."""
    return of_value(printed).holds(value)
