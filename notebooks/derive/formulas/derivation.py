"""What a derivation notebook uses to hand its formulas over, and to be held to them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sympy

import catalogue
from catalogue.entries.formulas import Number, symbols_of
from catalogue.ledger import of_tree, of_unit, text
from notebooks.derive.formulas.exported import (
    FORMULAS,
    VARIANTS,
    DerivationError,
    Evaluated,
    Formula,
    computable,
    load_formulas,
    save_formulas,
    select,
)
from notebooks.derive.formulas.symbols import latex, sym, symbol
from notebooks.derive.formulas.trees import Over, from_tree, to_tree

LOCK = "FORMULAS_LOCK"
INDEXED = "stage"


def check_dimensions(name: str, tree: Any) -> None:
    """Refuse a formula whose dimensions do not agree with each other or with its unit.

    Tokens, requests and blocks are plain numbers here. Raises DerivationError with the formula's
    name and the units.
    """
    known = catalogue.symbols()
    try:
        dimensions = of_tree(tree, {each: symbol.unit for each, symbol in known.items()})
    except ValueError as error:
        raise DerivationError(f"formula '{name}': {error}.") from None
    if tree != 0 and dimensions != of_unit(declared := known[name].unit):
        raise DerivationError(f"formula '{name}' comes out in {text(dimensions)}, "
                              f"but its unit in params/symbols.yml is {declared}.")


class Derivation:
    """The formulas of one notebook, checked as they are exported.

    Args:
        notebook: name of the notebook, e.g. ``memory``.
        path: the lock file, ``formulas.json`` unless told otherwise.
    """

    def __init__(self, notebook: str, path: Path = FORMULAS) -> None:
        self.notebook = notebook
        self.path = path
        self.formulas: dict[str, Formula] = {}
        self._stored = load_formulas(path)
        self._computable: dict[tuple[str, frozenset[str]], dict[str, Formula]] = {}

    def export(self, name: str, expr: sympy.Expr | int, variant: str | None = None,
               anchor: str | None = None) -> sympy.Expr:
        """Check a formula and hand it over; returns the expression, for display.

        Inside an operator over an index, formulas that depend on the index are written out, so
        that a stored tree shows every place where its index stands.

        Raises DerivationError for an unknown symbol or operator, a dimension that does not
        agree, or a name exported twice.
        """
        expr = sympy.Integer(expr) if isinstance(expr, int) else expr
        symbol(name)
        if variant not in (None, *VARIANTS):
            raise DerivationError(f"formula '{name}': there is no variant '{variant}', "
                                  f"expected one of {', '.join(VARIANTS)}.")
        tree = to_tree(self._written_out(expr))
        check_dimensions(name, tree)
        formula = Formula(
            name=name, variant=variant, tree=tree,
            unit=catalogue.symbols()[name].unit, latex=latex(expr), notebook=self.notebook,
            anchor=anchor or name.replace("_", "-"))
        indexed = {s for s in symbols_of(formula.tree) if s.startswith(INDEXED)}
        if bool(indexed) != name.startswith(INDEXED):
            raise DerivationError(f"formula '{name}': names that begin with 'stage_', and only "
                                  "those, depend on the pipeline stage.")
        others = {name} if variant else {name, *(f"{name}@{v}" for v in VARIANTS)}
        if clash := sorted((others | {formula.key}) & self.formulas.keys()):
            raise DerivationError(f"formula '{clash[0]}' is exported twice by {self.notebook}.")
        self.formulas[formula.key] = formula
        self._computable.clear()
        return expr

    def values(self, inputs: Mapping[str, Number], attention: str,
               stage: int = 0) -> dict[str, Number]:
        """Value (SI) of every formula for which the inputs suffice.

        This notebook's formulas as derived so far, those of other notebooks as stored.
        """
        values = self.quantities(inputs, attention, stage)
        return {name: values[name] for name in values.formulas}

    def quantities(self, inputs: Mapping[str, Number], attention: str,
                   stage: int = 0) -> Evaluated:
        """Inputs and the same values (SI), each evaluated when it is first asked for."""
        of_inputs = attention, frozenset(inputs)
        if of_inputs not in self._computable:
            formulas = select({f.key: f for f in [*self._others(), *self.formulas.values()]},
                              attention)
            self._computable[of_inputs] = computable(formulas, inputs)
        return Evaluated(self._computable[of_inputs], inputs, stage)

    def close(self) -> None:
        """Compare this notebook's formulas with the lock file, or rewrite its part of that file.

        The file is written only if the environment says ``FORMULAS_LOCK=write`` (``make lock``).
        Raises DerivationError naming the first formula that differs.
        """
        if os.environ.get(LOCK) == "write":
            others = [f for f in load_formulas(self.path).values()
                      if f.notebook != self.notebook and f.key not in self.formulas]
            save_formulas([*others, *self.formulas.values()], self.path)
            return
        stored = {key: f for key, f in self._stored.items() if f.notebook == self.notebook}
        for key in sorted({**stored, **self.formulas}):
            if (before := stored.get(key)) == (after := self.formulas.get(key)):
                continue
            fields = [name for name in Formula.__dataclass_fields__
                      if getattr(before, name, None) != getattr(after, name, None)]
            what = ("is in formulas.json but no longer derived" if after is None else
                    "is derived but not in formulas.json" if before is None else
                    f"differs from formulas.json in its {', '.join(fields)}")
            raise DerivationError(f"formula '{key}' of notebook '{self.notebook}' {what}; "
                                  "if that is intended, run: make lock")

    def _others(self) -> list[Formula]:
        return [f for f in self._stored.values() if f.notebook != self.notebook]

    def _written_out(self, expr: sympy.Expr) -> sympy.Expr:
        """Replace, inside operators over the stage, what depends on the stage by its formula."""
        if not expr.atoms(Over):
            return expr
        local = {f.name: from_tree(f.tree) for f in [*self._others(), *self.formulas.values()]
                 if f.name.startswith(INDEXED)}

        def expand(body: sympy.Expr) -> sympy.Expr:
            while names := {s.name for s in body.free_symbols} & local.keys():
                body = body.xreplace({symbol(name): local[name] for name in names})
            return body

        return expr.replace(
            lambda node: isinstance(node, Over) and node.args[0] == sym.stage,
            lambda node: node.func(node.args[0], node.args[1], expand(node.args[2])))
