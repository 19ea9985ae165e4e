"""One derivation for all kinds of steps: exported for every phase, displayed for one or two."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.steps.phases import PHASES
from notebooks.show import display


def derive_phases(derivation: Derivation, name: str, template: Callable[[str], sympy.Expr | int],
                  variant: str | None = None, shown: str | tuple[str, ...] = "decode",
                  ) -> dict[str, sympy.Expr]:
    """Export ``{phase}_{name}`` for every phase, and display those of one or two.

    A formula that is not displayed has its place at the last equation that is.

    Args:
        derivation: that of the page.
        name: of the quantity, without its phase.
        template: the right-hand side for a phase.
        variant: attention that the formulas hold for.
        shown: phases whose equations are displayed, in the order of ``PHASES``.

    Returns the right-hand side of each phase.
    """
    shown = (shown,) if isinstance(shown, str) else shown
    labels = {phase: "-".join(["eq", phase, *name.split("_"), *([variant] if variant else [])])
              for phase in shown}
    expressions = {phase: derivation.export(f"{phase}_{name}", template(phase), variant,
                                      anchor=labels.get(phase, labels[shown[-1]]))
             for phase in PHASES}
    for phase in shown:
        display.formula(f"{phase}_{name}", expressions[phase], labels[phase], variant)
    return expressions
