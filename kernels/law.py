"""What a law of an operator is: its parameters, and the time that it gives to the rows of a table.

A law calls the very function that a step calls (``calc.physics``); there is no second formula.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
Columns = Mapping[str, Column | float]


class Bounds(NamedTuple):
    """Where a parameter of a law begins in a fit, and between which values it lies."""

    start: float
    low: float
    high: float


def select(columns: Columns, at: NDArray[Any]) -> dict[str, Column | float]:
    """Some rows of columns, by their numbers or a mask; single numbers stay."""
    return {name: column[at] if isinstance(column, np.ndarray) and column.ndim else column
            for name, column in columns.items()}


@dataclass(frozen=True)
class Law:
    """A physical law of one operator.

    Attributes:
        operator: of ``catalogue.tables``.
        parameters: by the name of the mechanism, six at most (SI).
        time: of the rows of a table [s], from their columns (SI, what is known of the card among
            them) and a value of each parameter.
        fixed: mechanisms that are held while the others are fitted, with the range in which they
            fit as well.
        begins: values at which a fit begins as well, of a law that takes the least of several:
            from one place alone it may end where a table shows only some of them.
    """

    operator: str
    parameters: Mapping[str, Bounds]
    time: Callable[[Columns, Mapping[str, float]], Column]
    fixed: Mapping[str, Bounds] = field(default_factory=dict)
    begins: Sequence[Mapping[str, float]] = ()
