"""Columns of tables: values of the cells, by quantity, attribute, place or function."""

from typing import NamedTuple

import catalogue
from notebooks.show.columns import Column, cells, crossed
from notebooks.show.numbers import fmt_fixed, fmt_percent


class Row(NamedTuple):
    """A row of which columns show parts."""

    tpot: float | None
    cards: int


ROWS = [Row(0.0304, 8), Row(None, 16)]


def column(declared):
    """Return heading and cells of a column."""
    rows, headings = cells(ROWS, [declared])
    return headings["0"], [row["0"] for row in rows]


def test_quantity_columns_take_name_and_unit_of_the_symbol():
    symbol = catalogue.symbols()["tpot"]
    assert column(Column("tpot")) == ((symbol.en, symbol.zh), ["30.4 ms", "–"])


def test_columns_of_functions_and_attributes():
    assert column(Column(lambda row: row.cards // 8, "servers")) == ("servers", [1, 2])
    assert column(Column("cards", "k", fmt_fixed, digits=1)) == ("k", ["8.0", "16.0"])


def test_pairs_replace_missing_numbers():
    none = ("none", "无")
    rows, _ = cells([(0.5,), (none,)], [Column(0, "share", fmt_percent, digits=0)])
    assert [row["0"] for row in rows] == ["50%", none]


def test_crossed_tables_leave_missing_cells_empty():
    rows, headings = crossed("card", {"A": {1: 0.25, 2: 0.5}, ("B", "b"): {2: 1.0}},
                             {1: "one", 2: ("two", "zwei")}, fmt_percent)
    assert headings == {"": "card", "1": "one", "2": ("two", "zwei")}
    assert rows == [{"": "A", "1": "25.0%", "2": "50.0%"}, {"": ("B", "b"), "2": "100.0%"}]
