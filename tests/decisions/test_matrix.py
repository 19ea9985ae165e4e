"""The matrix: each field is what a search of that field alone finds."""

from __future__ import annotations

import re

import pytest

from calc.searching.answers import Answer
from calc.searching.asking import load_goal
from calc.searching.search import search
from decisions import matrix
from workbench.showing import display

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
    assert len(cells) == (3 + 2 + 3 + 3) * len(USERS)


@pytest.mark.parametrize(("device", "per_node"), [
    ("nvidia-h20", 8), ("ascend-910c-die", 16), ("nvidia-gb300", 4)])
def test_a_field_is_the_fewest_whole_servers_and_the_fastest_on_them(cells, device, per_node):
    for cell in (cell for cell in cells if cell.device == device and cell.users == 64):
        alone = Answer(search(load_goal(matrix.GOAL, [
            *SETTINGS, f"devices={device}", f"precisions={cell.precision}",
            f"cards.fewest={per_node}", "demand.users=64"])))
        assert cell.best.row.choice == alone.best.choice
        assert cell.best.row.choice.devices % per_node == 0
        low, high = cell.best.intervals["tpot"]
        assert low <= cell.pace <= high


def test_what_no_number_of_cards_holds_is_said(cells, monkeypatch):
    texts = []
    monkeypatch.setattr(display, "show", lambda en, zh: texts.append((en, zh)))
    small = [cell for cell in cells if cell.device == "nvidia-rtx-4090"]
    assert all(cell.best is None for cell in small)
    matrix.whole(cells)
    (english, chinese), = texts
    assert english.count("| – ") == chinese.count("| – ") == len(small)
    assert english.startswith(":::{div} sortable")
    assert len(english.splitlines()) == len(cells) / len(USERS) + 6
    # a column sorts by what its cells begin with
    fields = [field.strip() for row in english.splitlines()[4:-2] for field in row.split("|")[3:5]]
    assert all(re.match(r"[\d,.]+ ms \(|–$", field) for field in fields)


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
