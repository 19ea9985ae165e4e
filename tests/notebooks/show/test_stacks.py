"""Stacked bars: parts to scale, limits where they are, and a legend with the numbers."""

from __future__ import annotations

import csv
import io
from xml.etree import ElementTree

import pytest

from notebooks.show.drawing import COLOURS, SIZE, WIDTH, Drawing, width_of
from notebooks.show.figures import READ, SPARE, TINTS
from notebooks.show.stacks import MARGIN, Stack, draw

SVG = "{http://www.w3.org/2000/svg}"
PARTS = {("weights", "权重"): 60.0, ("cache", "缓存"): 30.0, ("crumbs", "零头"): 0.1}
OTHER = {("weights", "权重"): 8.0, ("reserve <b>", "预留 <b>"): 2.0}
KINDS = dict.fromkeys({**PARTS, **OTHER}, READ)
LIMITS = ((("usable", "可用"), 80.0), (("capacity", "容量"), 100.0))


def drawn(lang: str = "en") -> Drawing:
    bars = [Stack(("card", "卡"), "90 GB", PARTS, hidden=9.01, marks=LIMITS, heading=("one", "甲")),
            Stack(("host", "主机"), "10 GB", OTHER, heading=("two", "乙"))]
    return draw("parts", lang, ("What is held", "占用"), bars, KINDS, lambda size: f"{size:g}")


def elements(tag: str, lang: str = "en") -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(drawn(lang).svg()).iter(f"{SVG}{tag}"))


def test_every_part_is_as_long_as_its_share_of_the_limit_or_of_the_bar() -> None:
    wide = WIDTH - 2 * MARGIN
    bars = [rect for rect in elements("rect") if rect.get("height") == "20"]
    assert [float(bar.get("width", 0)) for bar in bars] == pytest.approx(
        [0.6 * wide, 0.3 * wide, 0.001 * wide, 0.8 * wide, 0.2 * wide], abs=0.01)
    assert bars[0].get("fill") == bars[3].get("fill") == COLOURS[READ]
    assert bars[1].get("fill") == COLOURS[READ]  # of the same kind, and so lighter
    assert bars[1].get("fill-opacity") == f"{TINTS[1]:g}"
    assert bars[2].get("fill") == COLOURS[SPARE]  # what is small
    limits = [float(line.get("x1", 0)) for line in elements("line")]
    assert limits == pytest.approx([MARGIN + 0.8 * wide, MARGIN + wide], abs=0.01)


def test_what_is_hidden_is_the_end_of_its_bar() -> None:
    wide = WIDTH - 2 * MARGIN
    (strip,) = [rect for rect in elements("rect") if rect.get("stroke-dasharray")]
    end = float(strip.get("x", 0)) + float(strip.get("width", 0))
    assert end == pytest.approx(MARGIN + 0.901 * wide, abs=0.02)
    assert float(strip.get("width", 0)) == pytest.approx(0.0901 * wide, abs=0.01)
    assert "−9.01" in [text.text for text in elements("text")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_legend_has_a_number_per_bar_and_leaves_crumbs_out(lang: str) -> None:
    texts = [text.text for text in elements("text", lang)]
    assert texts.count("–") == 2  # what only one of the bars has
    assert ("crumbs", "零头")[lang == "zh"] not in texts
    assert ("reserve <b>", "预留 <b>")[lang == "zh"] in texts


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_reaches_over_the_edge(lang: str) -> None:
    height = drawn(lang).height
    for text in elements("text", lang):
        wide, x = width_of(text.text or "", SIZE), float(text.get("x", 0))
        left = {"start": x, "end": x - wide}[text.get("text-anchor", "start")]
        assert 0 <= left <= left + wide <= WIDTH
        assert 0 < float(text.get("y", 0)) <= height


def test_the_numbers_behind_it_are_all_parts() -> None:
    rows = list(csv.DictReader(io.StringIO(drawn().numbers)))
    assert [(row["panel"], row["series"], float(row["size"])) for row in rows] == [
        *(("card", name, size) for (name, _), size in PARTS.items()),
        *(("host", name, size) for (name, _), size in OTHER.items())]
