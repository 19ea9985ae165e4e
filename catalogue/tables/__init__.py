"""Tables of measured operators: columns, units, reading, lint; no law and no fit.

A table is long: a row is one operator, measured once, in the columns of ``params/operators.yml``.
``shelf`` opens a file or a folder; its tables are read operator by operator,
so that no more is in memory than what is needed. Reading needs pandas and PyArrow, of the extra
``analysis``.
"""

from catalogue.tables.lint import sound
from catalogue.tables.shelf import Shelf, shelf
from catalogue.tables.table import DTYPES, OPERATORS, Column, Operator, Part, Table

__all__ = ["DTYPES", "OPERATORS", "Column", "Operator", "Part", "Shelf", "Table",
           "shelf", "sound"]
