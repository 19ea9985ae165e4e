"""The matrix: each field is what a search of that field alone finds."""

from __future__ import annotations

import csv
import io
import math
import re

import pytest

from calc.searching.load_goal import load_goal
from calc.searching.result import Answer
from calc.searching.search import search
from notebooks.pages.deciding import matrix
from notebooks.show import display

SETTINGS = ("devices=nvidia-h20,ascend-910c-die,nvidia-gb300,nvidia-rtx-4090",
            "precisions=fp8-block,w8a8-int8,bf16", "cards.most=32")
USERS = (8, 64)


@pytest.fixture(scope="module")
def cells():
    return matrix.cells(USERS, SETTINGS)


def test_there_is_a_field_for_each_precision_that_a_card_multiplies(cells):
    fields = {(cell.device, cell.precision, cell.users) for cell in cells}
    assert len(fields) == len(cells)
    assert ("ascend-910c-die", "fp8-block", 8) not in fields
    assert ("nvidia-h20", "fp8-block", 64) in fields
    assert len(cells) == (3 + 2 + 2 + 3) * len(USERS)  # no engine has INT8 on Blackwell


@pytest.mark.parametrize(("device", "per_node"), [
    ("nvidia-h20", 8), ("ascend-910c-die", 16), ("nvidia-gb300", 4)])
def test_a_field_is_the_fewest_whole_servers_and_the_fastest_on_them(cells, device, per_node):
    for cell in (cell for cell in cells if cell.device == device and cell.users == 64):
        alone = Answer(search(load_goal(matrix.GOAL, [
            *SETTINGS, f"devices={device}", f"precisions={cell.precision}",
            f"cards.fewest={per_node}", "demand.users=64"])))
        assert cell.best.row.choice == alone.best.choice
        assert cell.best.row.choice.devices % per_node == 0
        low, high = cell.best.amounts["tpot"].ends
        assert low <= cell.pace <= high


def test_a_table_for_each_number_of_users_says_what_nothing_holds(cells, monkeypatch):
    texts = []
    monkeypatch.setattr(display, "show", lambda en, zh: texts.append((en, zh)))
    small = [cell for cell in cells if cell.device == "nvidia-rtx-4090"]
    assert all(cell.best is None for cell in small)
    matrix.full_matrix(cells)
    assert len(texts) == len(USERS)
    for users, tables in zip(USERS, texts, strict=True):
        asked = [cell for cell in cells if cell.users == users]
        for table in tables:
            assert table.startswith(f"::::{{dropdown}} {users} ")
            assert ":::{div} sortable" in table
            rows = [[field.strip() for field in line.split("|")[1:-1]]
                    for line in table.splitlines() if line.startswith("|")][2:]
            assert len(rows) == len(asked)
            assert rows.count([rows[-1][0], *"––––"]) == 1
            for cell, (device, cards, pace, _, cost) in zip(asked, rows, strict=True):
                assert f"`{cell.precision}`" in device
                assert (cell.best is None) == (pace == cards == "–")
                # a column sorts by what its cells begin with
                assert re.match(r"[\d,.]+<br>\(|–$", pace)
                assert re.match(r"[\d,.]+ USD$|–$", cost)


def test_the_file_has_every_field(cells, monkeypatch):
    shown = []
    monkeypatch.setenv("BOOK_PAGE", "1")
    monkeypatch.setattr(display, "show", lambda en, zh: None)
    monkeypatch.setattr(display, "display", lambda what, metadata: shown.append((what, metadata)))
    matrix.full_matrix(cells)
    (english, metadata), (_, of_chinese) = shown
    (name, text), = metadata["file"].items()
    assert f"<{name}>" in english.data
    assert of_chinese == {"lang": "zh", "file": {name: text}}
    rows = list(csv.DictReader(io.StringIO(text)))
    for cell, row in zip(cells, rows, strict=True):
        assert (row["device"], row["precision"]) == (cell.device, cell.precision)
        assert int(row["users"]) == cell.users
        assert (row["cards"] == "") == (cell.best is None)
        if cell.best:
            assert float(row["tpot_ms"]) == pytest.approx(1e3 * cell.pace)
            assert float(row["tpot_low_ms"]) <= float(row["tpot_ms"]) <= float(row["tpot_high_ms"])
            parallel = [int(row[f"{kind}_parallel"]) for kind in ("tensor", "pipeline", "data")]
            assert math.prod(parallel) == int(row["cards"])
            assert (row["currency"] == "USD") == (row["cost_per_million_output"] != "")


def test_outside_of_the_book_there_is_no_file(monkeypatch):
    monkeypatch.delenv("BOOK_PAGE", raising=False)
    monkeypatch.setattr(display, "display", pytest.fail)
    display.download("a.csv", [{"a": 1}], ("a", "a"))


def test_more_users_never_need_fewer_servers(cells):
    least = {(cell.device, cell.precision): cell.servers for cell in cells
             if cell.users == USERS[0]}
    for cell in cells:
        assert cell.servers >= least[cell.device, cell.precision] or cell.best is None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_picture_has_a_field_for_each(cells, lang):
    asked = [cell for cell in cells if cell.users == 64]
    axes, = matrix._drawn(asked, lang).axes
    fits = [cell for cell in asked if cell.best]
    assert len(axes.patches) == len(fits)
    assert len(axes.texts) == 2 * len(fits) + len(asked) - len(fits)
