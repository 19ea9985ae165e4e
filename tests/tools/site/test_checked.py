"""The check of the site finds what is wrong on a page, and the book holds its bars."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from _plain import plain

from tools.site import checked, pages, printed, visits
from tools.site.browser import INSTALL, find_chromium

CHROMIUM = find_chromium()
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium: {INSTALL}")
OPENED = 3  # pages of each language
HELD = {checked.FOREIGN, checked.BROKEN, checked.ERRORS, checked.SIDEWAYS, checked.UNANSWERED,
        *checked.FOUND.values()}
PAGE = """<!DOCTYPE html><html lang="en"><head><title>{title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>html {{ background: #fff; color: #000; }}
[data-theme=dark] .dim {{ color: #eee; }}</style></head>
<body><nav><a href="hidden.html">Aside</a></nav><main><article class="bd-article">{body}</article>
</main></body></html>"""
GOOD = """<section id="start"><h1>Start</h1><p>Two words <a href="next.html#there">there</a>,
<a href="https://example.org/">outside</a>.</p><figure><img src="data:," alt="A plot"></figure>
<details><summary>More</summary>these are not counted</details></section>"""
BAD = """<section id="there"><h1>Next</h1><p class="dim">The answer is 42.</p>
<p><a href="#nowhere">One</a>, <a href="gone.html">two</a>, <a href="#card=h20">three</a></p>
<p style="width: 500px">Wide.</p><script>console.error("a complaint")</script>
<img src="http://127.0.0.1:9/picture.png" alt="Foreign"></section>"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A site of three pages; the second has every fault, the third is linked beside the text."""
    folder = tmp_path_factory.mktemp("site")
    for name, body in (("index", GOOD), ("next", BAD), ("hidden", "<h1>Hidden</h1>")):
        (folder / f"{name}.html").write_text(PAGE.format(title=name, body=body), encoding="utf-8")
    return folder


def test_links_to_nothing_are_named(small: Path) -> None:
    assert list(pages.broken(small, pages.load(small))) == [
        "next.html → #nowhere", "next.html → gone.html"]


@pytest.mark.parametrize(("at", "text", "said"), [
    ("next#there", "answer is 42", []),
    ("next#there", "answer is 43", ["q: “answer is 43” is not in next.html#there"]),
    ("next#elsewhere", "42", ["q: next.html has no section elsewhere"]),
    ("missing#there", "42", ["q: there is no missing.html"]),
])
def test_a_question_is_answered_where_it_is_said_to_be(small: Path, at: str, text: str,
                                                       said: list[str]) -> None:
    asked = {"q": {"at": at, "text": text}}
    assert list(pages.unanswered(small, pages.load(small), "", asked, 1)) == said


def test_only_links_of_the_text_are_counted_as_clicks(small: Path) -> None:
    assert pages.clicks(pages.load(small), "index.html") == {"index.html": 0, "next.html": 1}


def test_what_is_folded_is_no_word_of_the_derivation(small: Path) -> None:
    start = pages.read(small / "index.html")
    assert (start.words, start.figures) == (5, 1)


@needs_browser
def test_a_browser_sees_each_fault_of_a_page(small: Path) -> None:
    assert CHROMIUM is not None
    good, bad = visits.visits(CHROMIUM, small, ["index.html", "next.html"], jobs=2)
    assert (good.foreign, good.errors, good.overflow) == ([], [], 0)
    assert bad.foreign == ["http://127.0.0.1:9/picture.png"]
    assert any("a complaint" in error for error in bad.errors)
    assert bad.overflow > 0
    assert {(theme, rule) for theme, rule, *_ in bad.axe if rule == "color-contrast"} == {
        ("dark", "color-contrast")}
    assert bad.bytes == visits.packed(small / "next.html")


def test_a_bar_that_could_not_be_measured_is_not_met() -> None:
    rows = [checked.Row(checked.SHIFT, None), checked.Row(checked.FIGURES, 0.9),
            checked.Row(checked.LENGTH, 14)]
    assert [row.met for row in rows] == [False, False, True]
    assert [line.split()[-1] for line in checked.table(rows).splitlines()[1:]] == [
        "NO", "NO", "yes"]


def of_book(rows: Sequence[checked.Row]) -> dict[str, Sequence[str]]:
    """Where bars are missed that the book holds."""
    assert {row.bar for row in rows} >= HELD
    return {row.bar.what: row.where for row in rows if row.bar in HELD and not row.met}


@needs_browser
def test_the_book_holds_its_bars(site: Path) -> None:
    assert of_book(checked.check(site, OPENED, jobs=2)) == {}


def test_searches_and_questions_are_asked_in_both_languages() -> None:
    for name, least in (("searches", 184), ("questions", 19)):
        text = (printed.ROOT / "tests" / "book" / f"{name}.yml").read_text(encoding="utf-8")
        lists = plain(text)
        assert {lang: len(asked) for lang, asked in lists.items()} == {"en": least, "zh": least}
