"""Diagrams say what was computed: in both languages, within their frame, and to scale."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import pytest

import catalogue
from catalogue.reading import words
from notebooks.derive.formulas.derivation import Derivation
from notebooks.derive.formulas.exported import load_formulas
from notebooks.pages.derivations import communication_groups as groups
from notebooks.pages.derivations import latency_steps, throughput
from notebooks.pages.derivations.diagrams import (
    attention,
    bursts,
    chapters,
    goals,
    halves,
    levels,
    networks,
    ranks,
    tokens,
)
from notebooks.pages.derivations.memory_weights import deployed
from notebooks.show.drawing import WIDTH, Drawing, broken, width_of

SVG = "{http://www.w3.org/2000/svg}"
ROOT = Path(__file__).resolve().parents[5]
DERIVATION = Derivation("nothing")  # all formulas as they are stored
LOADS = (1.5, 1.2, 0.8, 0.5)
NAME = ("Card", "卡")


@cache
def latent() -> dict[str, float]:
    sizes = deployed("bf16")
    return sizes | DERIVATION.values(sizes, "mla")


@cache
def plan(name: str, *overrides: str) -> dict[str, float]:
    inputs = catalogue.load_scenario(name, overrides=overrides).inputs()
    return inputs | DERIVATION.values(inputs, "mla")


def step(spread: dict[str, float], **changed: float) -> dict[str, float]:
    inputs = spread | changed
    return inputs | DERIVATION.values(inputs, "mla")


@cache
def spread() -> dict[str, float]:
    return latency_steps.deployed(
        "nvidia-h800", "hgx-h800", "fp8-block", "cluster.nodes=4",
        "parallelism.tensor_parallel=1", "parallelism.data_parallel=32",
        "parallelism.expert_parallel=32")


def rank(**changed: float) -> Callable[[str], Drawing]:
    return lambda lang: ranks.draw(plan(ranks.PLAN, *ranks.CHANGED) | changed, NAME, NAME, lang)


def links(**changed: float) -> Callable[[str], Drawing]:
    mesh = groups.card_inputs(groups.A2) | changed
    return lambda lang: networks.draw(mesh, groups.card_inputs(groups.H20), (NAME, NAME), lang)


DRAWINGS: dict[str, Callable[[str], Drawing]] = {
    "attention": lambda lang: attention.draw(latent(), lang),
    "rank": rank(),
    "networks": links(),
    "burst": lambda lang: bursts.planned(DERIVATION, lang),
    "halves": lambda lang: halves.decode_step_drawing(step, spread(), 128, NAME, lang),
    "tokens": lambda lang: tokens.draw(LOADS, 64, 8, lang),
    "levels": lambda lang: levels.draw(plan("s1-expert-tiers"), NAME, lang),
    "chapters": lambda lang: chapters.draw(load_formulas(), lang),
    "goals": lambda lang: goals.draw([(NAME, 50e3), (NAME, 12.5e3)], lang),
}


@pytest.fixture(params=DRAWINGS)
def drawing(request: pytest.FixtureRequest) -> Callable[[str], Drawing]:
    return DRAWINGS[request.param]


def parsed(drawn: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(drawn.svg())


def texts(drawn: Drawing) -> str:
    return " ".join(element.text or "" for element in parsed(drawn).iter(f"{SVG}text"))


def test_a_drawing_names_and_describes_itself_in_both_languages(drawing):
    for lang in ("en", "zh"):
        root = parsed(drawing(lang))
        title, about = root.find(f"{SVG}title"), root.find(f"{SVG}desc")
        assert root.get("role") in ("img", "group")
        assert root.get("aria-labelledby") == f"{title.get('id')} {about.get('id')}"
        assert any("\u4e00" <= letter <= "\u9fff" for letter in title.text) == (lang == "zh")
        assert any("\u4e00" <= letter <= "\u9fff" for letter in about.text) == (lang == "zh")
        assert any("\u4e00" <= letter <= "\u9fff" for letter in texts(drawing(lang))) == (
            lang == "zh")


def test_both_languages_have_the_same_shapes(drawing):
    shapes = [[(element.tag, {k: v for k, v in element.attrib.items() if k != "y"})
               for element in parsed(drawing(lang)).iter() if element.tag in (
                   f"{SVG}rect", f"{SVG}line", f"{SVG}circle", f"{SVG}path")]
              for lang in ("en", "zh")]
    assert shapes[0] == shapes[1]


def test_nothing_reaches_over_the_edge(drawing):
    for lang in ("en", "zh"):
        root = parsed(drawing(lang))
        height = float(root.get("viewBox").split()[3])
        for text in root.iter(f"{SVG}text"):
            wide = width_of(text.text, float(text.get("font-size", 13)))
            x = float(text.get("x")) - {"start": 0, "middle": wide / 2, "end": wide}[
                text.get("text-anchor")]
            assert x >= 0, text.text
            assert x + wide <= WIDTH, text.text
            assert 0 < float(text.get("y")) <= height, text.text
        for rect in root.iter(f"{SVG}rect"):
            assert float(rect.get("x")) + float(rect.get("width")) <= WIDTH + 0.1
            assert float(rect.get("y")) + float(rect.get("height")) <= height


def test_no_text_stands_on_the_outline_of_a_box(drawing):
    for lang in ("en", "zh"):
        root = parsed(drawing(lang))
        outlines = [[float(rect.get(name)) for name in ("x", "y", "width", "height")]
                    for rect in root.iter(f"{SVG}rect") if rect.get("stroke")]
        for text in root.iter(f"{SVG}text"):
            size, x, base = (float(text.get(name, 13)) for name in ("font-size", "x", "y"))
            for left, top, width, height in outlines:
                if left <= x <= left + width:
                    for edge in (top, top + height):
                        assert not base - 0.7 * size < edge < base + 0.25 * size, text.text


def test_light_and_dark_are_left_to_the_page(drawing):
    root = parsed(drawing("en"))
    assert root.get("fill") == "currentColor"
    for text in root.iter(f"{SVG}text"):
        assert text.get("fill") is None or text.get("fill").startswith("#")
    assert "black" not in drawing("en").svg()
    assert "white" not in drawing("en").svg()


def area(drawn: Drawing, colour: int) -> float:
    """All that has been filled in a colour of the palette."""
    from notebooks.show.figures import PALETTE
    return sum(float(rect.get("height")) for rect in parsed(drawn).iter(f"{SVG}rect")
               if rect.get("fill") == PALETTE[colour] and not rect.get("stroke")
               and float(rect.get("width")) > 50)


def test_a_quarter_of_the_goal_is_a_quarter_as_long():
    goal, rest = [float(bar.get("width")) for bar in parsed(DRAWINGS["goals"]("en")).iter(
        f"{SVG}rect")]
    assert rest == pytest.approx(goal / 4, abs=0.1)


def test_twice_the_cache_is_twice_as_tall_in_the_drawing_of_a_rank():
    of = plan(ranks.PLAN, *ranks.CHANGED)
    more = of["kv_per_device"]
    scale = ranks.LONG / of["memory_capacity"]
    grown = area(rank(kv_per_device=2 * more)("en"), ranks.WHOLE) - area(rank()("en"), ranks.WHOLE)
    assert grown == pytest.approx(scale * more, abs=0.1)


def test_a_rank_whose_weights_have_unknown_parts_is_not_drawn():
    of = plan(ranks.PLAN, *ranks.CHANGED)
    with pytest.raises(ValueError, match="parts that the diagram does not know"):
        ranks.parts(of | {"weights_per_device": 2 * of["weights_per_device"]})


def test_a_link_is_as_wide_as_it_is_fast():
    def width(drawn: Drawing) -> float:
        return min(float(line.get("stroke-width")) for line in parsed(drawn).iter(f"{SVG}line")
                   if line.get("stroke") == "currentColor")
    once = groups.card_inputs(groups.A2)["pair_bandwidth"]
    assert width(links(pair_bandwidth=2 * once)("en")) == pytest.approx(
        2 * width(links()("en")), rel=0.02)
    assert "56 GB/s" in texts(links(pair_bandwidth=56e9)("en"))


def test_first_tokens_come_as_the_chapter_on_serving_has_them():
    chosen = plan("s2-910b1-awq", "workload.concurrency=8 request")
    mean = sum(bursts.ends(chosen)) / len(bursts.ends(chosen))
    assert len(bursts.ends(chosen)) == chosen["requests_per_rank"]
    exact = mean + chosen["request_overhead"]
    assert chosen["ttft"] == pytest.approx(exact, rel=0.06)  # the formula has no divisors
    assert chosen["ttft"] <= exact * (1 + 1e-9)


def test_what_two_halves_hide_lies_under_what_they_compute():
    whole, split = (step(spread(), concurrency=4096, draft_tokens=0, micro_batches=count,
                         single_batch_overlap=0, unequal_streams=0) for count in (1, 2))
    for of in (whole, split):
        busy = sum(time for _, time in halves.parts(of))
        assert busy - of["decode_hidden_time"] == pytest.approx(of["decode_device_time"])


def test_the_map_follows_the_formulas():
    counted = chapters.uses(load_formulas())
    assert counted["compute", "latency"] > counted["throughput", "serving"] > 0
    assert set(chapters.NAMES) | {"cost", "day", "scale"} >= {name for pair in counted
                                                             for name in pair}
    root = parsed(chapters.draw(load_formulas(), "zh"))
    assert root.get("role") == "group"  # what is in an image cannot be reached
    for link in root.iter(f"{SVG}a"):
        page = link.get("href").removeprefix("chapters/").removesuffix(".html")
        assert (ROOT / "notebooks" / f"{page}.md").is_file()
    drawn = len(list(root.iter(f"{SVG}path")))
    assert drawn == sum(of in chapters.NAMES and to in chapters.NAMES for of, to in counted)


def test_the_formulas_that_the_map_is_made_of_are_those_of_the_file():
    stored = json.loads((ROOT / "notebooks/derive/formulas/formulas.json").read_text("utf-8"))
    assert set(load_formulas()) == set(stored)


def test_text_of_a_file_is_text_in_a_drawing():
    hostile = words.hidden('</text><script>alert(1)</script>&"')
    drawn = networks.draw(groups.card_inputs(groups.A2), groups.card_inputs(groups.H20),
                          ((hostile, hostile), NAME), "en")
    root = parsed(drawn)
    assert not list(root.iter(f"{SVG}script"))
    assert '</text><script>alert(1)</script>&"' in texts(drawn)


@pytest.mark.parametrize(("text", "lines"), [
    ("one two three", ["one two", "three"]),
    ("潜向量升维，再（展开）", ["潜向量升", "维，再", "（展开）"]),
])
def test_a_note_is_broken_where_its_language_allows(text, lines):
    assert broken(text, 50, 11.5) == lines


def test_curves_of_the_chapter_on_throughput_end_where_memory_is_full():
    from notebooks.pages.derivations.diagrams import limits
    served = [throughput.Served(NAME, 2, *(
        throughput.quantities(DERIVATION, throughput.h20().inputs, concurrency=count)
        for count in (1, 2, 4)))]
    curve = limits.curves(DERIVATION, served)[NAME]
    assert curve[-1][0] == served[0].alone["max_concurrency"]
    assert [point[0] for point in curve] == sorted({point[0] for point in curve})
    assert served[0].most in [point[0] for point in curve]
