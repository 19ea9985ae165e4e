"""Ways in: numbers to know are the chapters'."""

from __future__ import annotations

import pytest

from notebooks.pages.ways import numbers


def test_numbers_to_know(cell):
    numbers.answer()
    shown = {key: float(text.split()[0].rstrip("%").replace(",", ""))
             for key, text in cell.numbers.items() if text[0].isdigit()}
    assert shown["nu-r1-token"] == pytest.approx(70272, rel=0.01)
    assert shown["nu-reduces"] == 123
    assert shown["nu-exchanges"] == 116
    assert [round(shown[f"nu-{card}-ridge"]) for card in ("h20", "910b2")] == [37, 221]
    for key in numbers.MODELS:
        assert shown[f"nu-{key}-read-1"] < shown[f"nu-{key}-read-64"] < shown[f"nu-{key}-weights"]
