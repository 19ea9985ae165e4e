"""Tables of measured operators that are made up."""

from __future__ import annotations

from typing import Any

import numpy as np

from catalogue.tables import OPERATORS, Table, as_table


def synthetic(operator: str, **columns: Any) -> Table:
    """A table from values, each for all rows or a list of one per row; the rest by default.

    ``card``, ``engine`` and ``dtype`` are names that stand for nothing where they are left out.
    """
    given = {"card": "made-here", "engine": "made-here@1", "dtype": "bf16"} | columns
    rows = max((len(value) for value in given.values()
                if isinstance(value, list | tuple | np.ndarray)), default=1)
    return as_table(operator, {
        column.name: given.get(column.name, column.default)
        for column in OPERATORS[operator]}, range(1, rows + 1))
