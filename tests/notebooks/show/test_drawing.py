"""Diagrams: bars to scale, text inside the frame, numbers in the legend and in the file."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

import pytest

from catalogue.reading import words
from notebooks.show.drawing import (
    SIZE,
    STACK_MARGIN,
    WIDTH,
    Drawing,
    Stack,
    stacked_bars,
    width_of,
)
from notebooks.show.figures import READ

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '</text><script>alert(1)</script>&"'
PARTS = {("weights", "权重"): 60.0, ("cache", "缓存"): 30.0, ("crumbs", "零头"): 0.1}
OTHER = {("weights", "权重"): 8.0, (HOSTILE, HOSTILE): 2.0}
LIMITS = ((("usable", "可用"), 80.0), (("capacity", "容量"), 100.0))


def stacked(lang: str = "en") -> Drawing:
    bars = [Stack(("card", "卡"), "90 GB", PARTS, hidden=9.01, marks=LIMITS, heading=("one", "甲")),
            Stack(("host", "主机"), "10 GB", OTHER, heading=("two", "乙"))]
    kinds = dict.fromkeys({**PARTS, **OTHER}, READ)
    return stacked_bars("parts", lang, ("Memory", "显存"), bars, kinds, lambda size: f"{size:g}")


def elements(tag: str, lang: str = "en") -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(stacked(lang).svg()).iter(f"{SVG}{tag}"))


def test_bars_and_limits_are_to_scale():
    scale = (WIDTH - 2 * STACK_MARGIN) / 100
    bars = [float(rect.get("width")) for rect in elements("rect") if rect.get("height") == "20"]
    assert bars == pytest.approx([scale * share for share in (60, 30, 0.1, 80, 20)], abs=0.01)
    limits = [float(line.get("x1")) for line in elements("line")]
    assert limits == pytest.approx(
        [STACK_MARGIN + scale * 80, STACK_MARGIN + scale * 100], abs=0.01)
    (hidden,) = [rect for rect in elements("rect") if rect.get("stroke-dasharray")]
    assert float(hidden.get("width")) == pytest.approx(9.01 * scale, abs=0.01)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_text_stays_inside_the_frame_and_is_escaped(lang):
    height = stacked(lang).height
    texts = [text.text for text in elements("text", lang)]
    assert words.revealed(HOSTILE) in texts
    assert not elements("script", lang)
    for text in elements("text", lang):
        wide, x = width_of(text.text or "", SIZE), float(text.get("x", 0))
        left = {"start": x, "end": x - wide}[text.get("text-anchor", "start")]
        assert 0 <= left <= left + wide <= WIDTH
        assert 0 < float(text.get("y", 0)) <= height


def test_legend_and_file_contain_the_numbers_handed_in():
    for lang in ("en", "zh"):
        texts = {text.text for text in elements("text", lang)}
        assert {"60", "30", "8", "2", "−9.01"} <= texts
    rows = list(csv.DictReader(io.StringIO(stacked().numbers)))
    assert [(row["panel"], row["series"], float(row["size"])) for row in rows] == [
        *(("card", name, size) for (name, _), size in PARTS.items()),
        *(("host", name, size) for (name, _), size in OTHER.items())]
