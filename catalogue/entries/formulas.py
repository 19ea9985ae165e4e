"""What a file of formulas may hold: a document's, each beside the right one, or a calculator's.

Trees are evaluated in SI units, so the factors by which a document only changes units (10⁹ for GB,
1000 for ms) do not stand in them. A formula that the document prints as a result only, and that is
known because it gives this result, is marked ``reconstructed``.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from catalogue.entries import trees
from catalogue.entries.entry import Entry, ModelName, ScenarioName
from catalogue.reading import units
from catalogue.reading.printed import of_value
from catalogue.reading.shared import symbols
from catalogue.reading.values import (
    AnyQuantity,
    Flag,
    Identifier,
    Misplaced,
    SourceKey,
    Text,
    Value,
    Whole,
)

Chapter = Literal["architecture", "memory", "compute", "communication", "latency", "throughput",
                  "serving", "cost"]
Verdict = Literal["right", "right-with-conditions", "wrong", "undefined"]
_KINDS = ("devices", "links", "nodes", "models", "formats")
_REFERENCE = re.compile(r"([a-z]+)/([a-z0-9.-]+)((?:/[a-z_0-9]+)+)")


def _tree(raw: Any) -> Any:
    tree = trees.numbers(raw)
    trees.validate(tree)
    return tree


def _unit(raw: Any) -> str:
    units.dimensions(str(raw))
    return str(raw)


def _reference(raw: Any) -> str:
    match = _REFERENCE.fullmatch(str(raw))
    if match is None or match[1] not in _KINDS:
        raise ValueError(f"'{str(raw)[:60]}' is not KIND/NAME/KEY, with KIND one of "
                         f"{', '.join(_KINDS)}")
    return str(raw)


Tree = Annotated[Any, BeforeValidator(_tree)]
SymbolUnit = Annotated[str, BeforeValidator(_unit)]
Reference = Annotated[str, BeforeValidator(_reference)]


class Letter(Entry):
    """A symbol that ``symbols.yml`` does not have: its letter, SI unit and names."""

    latex: str
    unit: SymbolUnit
    en: str
    zh: str


class Example(Entry):
    """A number that the document prints of the formula.

    Attributes:
        section: where it is printed; ``label`` says which one, where there are several.
        inputs: what the document puts in, by symbol.
        printed: what it prints; ``percent`` shows shares as percentages.
        arithmetic: whether the formula gives the printed number on these inputs.
        scenario: deployment whose inputs and derived quantities the right formula takes; ``model``
            is enough where only shapes are needed.
        catalogue: symbols that the right formula takes from an entry, as ``kind/name/key``.
    """

    section: str
    label: Text | None = None
    inputs: dict[str, AnyQuantity]
    printed: AnyQuantity
    percent: Flag = False
    arithmetic: Literal["agrees", "differs"]
    scenario: ScenarioName | None = None
    model: ModelName | None = None
    catalogue: dict[str, Reference] = {}

    def given(self) -> dict[str, float | int]:
        """The document's inputs as plain numbers (SI)."""
        return {name: value.value for name, value in self.inputs.items()}


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
    lines: list[Whole]
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

    @model_validator(mode="after")
    def _complete(self) -> DocumentFormula:
        if (self.documented is None) == (self.documented_latex is None):
            raise ValueError("'documented' is given, or documented_latex, not both")
        if self.documented_latex is not None and self.note is None:
            raise ValueError("'note' is missing, it says why the formula is no tree")
        if self.right is not None and self.right_quantity is not None:
            raise ValueError("'right_quantity' is given beside right")
        if self.right is None and self.right_quantity is None and self.verdict != "undefined":
            raise ValueError("'right' is missing (or right_quantity)")
        if self.documented is None and self.examples:
            raise ValueError("'examples' are given, but the formula cannot be computed")
        return self

    def used(self, key: Literal["documented", "right"]) -> set[str]:
        """Names of the symbols of one of the two formulas; none where there is no tree."""
        tree = getattr(self, key)
        return set() if tree is None else trees.symbols_of(tree)

    def unknown(self, known: set[str]) -> tuple[str, str] | None:
        """Key and name of a symbol that is not known, if there is one."""
        keys: tuple[Literal["documented", "right"], ...] = ("documented", "right")
        for key in keys:
            if lost := sorted(self.used(key) - known):
                return key, lost[0]
        if self.right_quantity is not None and self.right_quantity not in known:
            return "right_quantity", self.right_quantity[:60]
        return None

    def recomputed(self, example: Example) -> float | int:
        """What the document's formula gives on its own inputs (SI).

        Raises ValueError if an input is missing or the arithmetic has no result.
        """
        return trees.evaluate(self.documented, example.given())

    def agrees(self, example: Example) -> bool:
        """Whether the recomputed number is the printed one, within the digits printed."""
        return within_digits(self.recomputed(example), example.printed)


class DocumentFormulas(Entry):
    """Every formula of one document; ``symbols`` are those that ``symbols.yml`` does not have."""

    id: Identifier
    title: Text
    note: Text | None = None
    defaults: dict[str, Any] | None = None
    symbols: dict[str, Letter] = {}
    formulas: list[DocumentFormula]

    @model_validator(mode="after")
    def _numbered(self) -> DocumentFormulas:
        for number, formula in enumerate(self.formulas, 1):
            if formula.id != f"{formula.source}-f{number:02d}":
                raise Misplaced(f"expected '{formula.source}-f{number:02d}', the ids count from 1",
                                "formulas", number - 1, "id")
        return self

    @model_validator(mode="after")
    def _known(self) -> DocumentFormulas:
        known = {*symbols(), *self.symbols}
        idle = set(self.symbols)
        for number, formula in enumerate(self.formulas):
            idle -= formula.used("documented") | formula.used("right")
            if lost := formula.unknown(known):
                raise Misplaced(f"'{lost[1]}' is neither in params/symbols.yml nor among the "
                                "file's symbols", "formulas", number, lost[0])
            for place, example in enumerate(formula.examples):
                try:
                    formula.recomputed(example)
                except ValueError as error:
                    raise Misplaced(str(error), "formulas", number, "examples", place,
                                    "inputs") from None
        if idle:
            raise Misplaced(f"no formula has the symbol '{min(idle)}'", "symbols", min(idle))
        return self


class Calculator(Entry):
    """A public calculator: the formula that it publishes, in SI units, as ``symbols.yml`` has them.

    Attributes:
        of: ``memory`` of all cards together [B], or ``pace``: a token of one request [s].
    """

    id: Identifier
    note: Text | None = None
    defaults: dict[str, Any] | None = None
    source: SourceKey
    of: Literal["memory", "pace"]
    formula: Tree

    @model_validator(mode="after")
    def _known(self) -> Calculator:
        if lost := sorted(trees.symbols_of(self.formula) - symbols().keys()):
            raise Misplaced(f"'{lost[0]}' is not in params/symbols.yml", "formula")
        return self


def within_digits(value: float, printed: Value) -> bool:
    """Whether a number (SI) rounds to a printed one, or lies in the printed range."""
    return of_value(printed).holds(value)
