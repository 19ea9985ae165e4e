"""Columns are declared once: of a quantity by its name, of anything else by a function."""

from typing import NamedTuple

import pytest

import catalogue
from notebooks.show.columns import Column, cells, crossed, pipe_table
from notebooks.show.numbers import fmt_fixed, fmt_percent


class Row(NamedTuple):
    """What a table shows a part of."""

    tpot: float | None
    cards: int


ROWS = [Row(0.0304, 8), Row(None, 16)]


def column(declared):
    """A column's heading and its cells."""
    rows, headings = cells(ROWS, [declared])
    return headings["0"], [row["0"] for row in rows]


def test_of_a_quantity_the_name_is_enough():
    symbol = catalogue.symbols()["tpot"]
    assert column(Column("tpot")) == ((symbol.en, symbol.zh), ["30.4 ms", "–"])


def test_of_anything_else_a_function_and_a_heading():
    assert column(Column(lambda row: row.cards // 8, "servers")) == ("servers", [1, 2])
    assert column(Column("cards", "k", fmt_fixed, digits=1)) == ("k", ["8.0", "16.0"])


def test_of_a_sequence_the_place_is_enough():
    rows, _ = cells([(1, 0.5), (2, None)], [Column(1, "share", fmt_percent, digits=0)])
    assert [row["0"] for row in rows] == ["50%", "–"]


def test_a_pair_stands_where_there_is_no_number():
    none = ("none", "无")
    rows, _ = cells([(0.5,), (none,)], [Column(0, "share", fmt_percent, digits=0)])
    assert [row["0"] for row in rows] == ["50%", none]


def test_a_text_by_language_is_a_cell():
    rows, headings = cells([{"name": {"en": "card", "zh": "卡"}}], [Column("name", "what")])
    assert [pipe_table(rows, headings, lang).splitlines()[-1] for lang in (0, 1)] == [
        "| card |", "| 卡 |"]


def test_a_column_without_a_heading_is_a_quantity():
    with pytest.raises(KeyError, match="cards"):
        Column("cards")


def test_columns_by_key_are_taken_as_they_are():
    assert cells(iter([{"a": 1}]), {"a": "A"}) == ([{"a": 1}], {"a": "A"})


def test_a_crossed_table_has_a_row_per_name_and_leaves_empty_what_a_row_lacks():
    rows, headings = crossed("card", {"A": {1: 0.25, 2: 0.5}, ("B", "乙"): {2: 1.0}},
                             {1: "one", 2: ("two", "二")}, fmt_percent)
    assert headings == {"": "card", "1": "one", "2": ("two", "二")}
    assert rows == [{"": "A", "1": "25.0%", "2": "50.0%"}, {"": ("B", "乙"), "2": "100.0%"}]
