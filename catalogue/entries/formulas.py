"""What formulas are made of: symbols; a document's, each beside the right one; a calculator's.

Trees are evaluated in SI units, so the factors by which a document only changes units (10⁹ for GB,
1000 for ms) do not stand in them. A formula that the document prints as a result only, and that is
known because it gives this result, is marked ``reconstructed``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from catalogue.entries import trees
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
from catalogue.reading.printed import of_value
from catalogue.reading.values import (
    AnyQuantity,
    Flag,
    Positive,
    SourceKey,
    Text,
    Unit,
    Value,
)

Chapter = Literal["architecture", "memory", "compute", "communication", "latency", "throughput",
                  "serving", "cost"]
Verdict = Literal["right", "right-with-conditions", "wrong", "undefined"]
# where an input of a deployment comes from
Kind = Literal["model", "parallelism", "precision", "workload", "device", "network", "host", "pool",
               "prior", "switch", "matmul", "count", "constant"]
Number = int | float
SYMBOLS = ROOT / "symbols.yml"


def _tree(raw: Any) -> Any:
    tree = trees.numbers(raw)
    trees.validate(tree)
    return tree


def unit_name(raw: Any) -> str:
    """The name of a unit. Raises ValueError for what is none."""
    units.dimensions(str(raw))
    return str(raw)


Tree = Annotated[Any, BeforeValidator(_tree)]
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
        kind: where an input comes from; None of what follows from inputs, and of money and power.
        sign: positive, never zero; signed, below zero too; else at least zero.
        whole: whether it takes whole numbers alone; unless said, where it is counted.
        least, most: what a deployment may state of it, SI.
        neutral: where it does nothing, which holds where nobody says any, SI.
        samples, range: what random checks choose among, or draw between, SI.
    """

    name: str
    kind: Kind | None = None
    sign: Literal["positive", "nonnegative", "signed"] = "nonnegative"
    whole: bool = True
    least: Number | None = None
    most: Number | None = None
    neutral: Number | None = None
    samples: tuple[Number, ...] = ()
    range: tuple[Number, Number] | None = None

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


def neutral() -> Mapping[str, Number]:
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
    documented: Tree | None = None
    documented_latex: str | None = None
    reconstructed: Flag = False
    right: Tree | None = None
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
        return trees.symbols_of(getattr(self, key))

    def recomputed(self, example: Example) -> float | int:
        """What the document's formula gives on its own inputs (SI).

        Raises ValueError if an input is missing or the arithmetic has no result.
        """
        return trees.evaluate(self.documented, example.given())

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
    formula: Tree


def within_digits(value: float, printed: Value) -> bool:
    """Whether a number (SI) rounds to a printed one, or lies in the printed range."""
    return of_value(printed).holds(value)
