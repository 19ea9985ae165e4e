"""Tables of measured operators: columns, units, reading, lint; no law and no fit.

A table is long: a row is one operator, measured once, in the columns of ``operators.py``.
``shelf`` opens a file, a folder or an installed package; what it gives is read operator by
operator, so that no more is in memory than what is asked for.
"""

from catalogue.tables.lint import Finding, sound
from catalogue.tables.operators import DTYPES, OPERATORS, Column, Operator
from catalogue.tables.shelf import Part, Shelf, shelf
from catalogue.tables.table import Table

__all__ = ["DTYPES", "OPERATORS", "Column", "Finding", "Operator", "Part", "Shelf", "Table",
           "shelf", "sound"]
