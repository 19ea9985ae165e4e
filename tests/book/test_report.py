"""``make report``: a reader's own deployment and card as one file, in either language."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from _project import ROOT, make_report

import catalogue
from _ext.setting import formulas
from tools.site.browser import Browser, find_chromium

EXAMPLES = ROOT / "params" / "templates"
FILES = ("example-card.yml", "example-deployment.yml")
CHINESE = re.compile("[\u4e00-\u9fff]")
LOADED = re.compile(r"""<(?:script|link|iframe|object|embed)\b|\bsrc=["'](?!data:)|@import|url\(""")
BY_MYST = re.compile(r":::|\{(?:div|dropdown|ref|eq|glue:text)\}|@(?:id|title|variant)@"
                     r"|\$[\\A-Za-z]")


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the reader's own, with the example's card and deployment in it."""
    folder = tmp_path_factory.mktemp("mine")
    for name in FILES:
        shutil.copy(EXAMPLES / name, folder)
    return folder


@pytest.fixture(scope="module")
def pages(mine: Path) -> dict[str, str]:
    """The example's report in both languages."""
    found = {}
    for lang in ("en", "zh"):
        done = make_report(SCENARIO=mine / FILES[1], BOOK_LANG=lang, OUT=mine / f"{lang}.html")
        assert (done.returncode, done.stderr) == (0, "")
        found[lang] = (mine / f"{lang}.html").read_text(encoding="utf-8")
    return found


def words(page: str) -> str:
    """What a reader reads."""
    return re.sub(r"<style>.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)


def test_nothing_is_loaded_from_anywhere(pages: dict[str, str]) -> None:
    for page in pages.values():
        assert not LOADED.search(page)
        assert page.count('class="drawn"') + page.count('src="data:image/svg+xml;base64,') >= 3
        assert "<math" in page


def test_each_is_in_its_own_language(pages: dict[str, str]) -> None:
    assert not CHINESE.search(words(pages["en"]))
    assert '<html lang="zh-CN">' in pages["zh"]
    assert "装得下" in words(pages["zh"])
    assert "It fits" in words(pages["en"])
    for page in pages.values():
        assert not BY_MYST.search(words(page))


def test_it_is_called_as_its_deployment(pages: dict[str, str]) -> None:
    """Its title is what a browser's tab and a printed page say: that of its first heading."""
    for page in pages.values():
        first = re.search(r"<h1>(.*?)(?:<a|</h1>)", page, re.DOTALL)
        assert first
        title = re.sub(r"<[^>]+>", "", first[1]).strip()
        assert title
        assert f"<title>{title}</title>" in page


def test_both_hold_the_same_numbers_and_sections(pages: dict[str, str]) -> None:
    tables = [re.findall(r'<td class="text-right"><p>([\d.,–% ]+)', page)
              for page in pages.values()]
    assert len(tables[0]) > 50
    assert tables[0] == tables[1]
    labels = [re.findall(r'id="(example-deployment[\w.-]*)"', page) for page in pages.values()]
    assert labels[0] == labels[1]
    assert labels[0][0] == "example-deployment"


def test_its_links_lead_somewhere(pages: dict[str, str]) -> None:
    for page in pages.values():
        links = re.findall(r'href="([^"]+)"', page)
        assert "#example-deployment-dp8" in links  # the other variant
        for link in links:
            assert link.startswith("https://") or f'id="{link.removeprefix("#")}"' in page


def test_the_readers_files_are_read_and_nothing_else_is_left(mine: Path,
                                                             pages: dict[str, str]) -> None:
    assert sorted(path.name for path in mine.iterdir()) == ["en.html", *FILES, "zh.html"]
    for name in FILES:
        assert (mine / name).read_bytes() == (EXAMPLES / name).read_bytes()


def test_another_card_and_a_built_book(mine: Path, tmp_path: Path) -> None:
    """`like` the MI300X or not: what is stated of the card decides; chapters become links."""
    done = make_report(SCENARIO="s0-scenario-1", DEVICE=mine / FILES[0], OUT=tmp_path / "s.html",
                BOOK="https://example.org/book")
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "s.html").read_text(encoding="utf-8")
    assert "It fits" in page
    assert "MI325X" in page
    links = re.findall(r'href="https://example\.org/book/(chapters/\w+)\.html#equation-eq-', page)
    assert links
    assert all((ROOT / "notebooks" / f"{Path(link).name}.md").is_file() for link in links)


def test_a_file_may_have_any_name(tmp_path: Path) -> None:
    folder = tmp_path / "我的 卡"
    folder.mkdir()
    shutil.copy(EXAMPLES / FILES[0], folder)
    shutil.copy(EXAMPLES / FILES[1], folder / "方案 1.yml")
    done = make_report(SCENARIO=folder / "方案 1.yml", BOOK_LANG="zh", OUT=tmp_path / "报告.html")
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "报告.html").read_text(encoding="utf-8")
    assert not BY_MYST.search(words(page))
    assert "](" not in words(page)


@pytest.mark.parametrize(("variables", "says"), [
    ({}, "usage: make report SCENARIO="),
    ({"SCENARIO": "nowhere.yml"}, "nowhere.yml: there is no such file."),
    ({"SCENARIO": "s0-scenario-99"}, "the nearest names are"),
    ({"SCENARIO": "s0-scenario-1", "BOOK_LANG": "fr"}, "BOOK_LANG: expected en or zh, not 'fr'."),
    ({"SCENARIO": "s0-scenario-1", "DEVICE": "kunpeng-920"}, "is a host processor"),
    ({"SCENARIO": "s0-scenario-1", "BOOK": "/nowhere"}, "there is no built book"),
    ({"SCENARIO": "s0-scenario-1", "BOOK": "javascript:alert(1)"}, "there is no built book"),
    ({"SCENARIO": "s0-scenario-1", "BOOK": "javascript://x"}, "expected an address that begins"),
])
def test_bad_input_is_one_sentence_and_loses_nothing(tmp_path: Path, variables: dict[str, str],
                                                     says: str) -> None:
    out = tmp_path / "report.html"
    out.write_text("an older one", encoding="utf-8")
    done = make_report(OUT=out, **variables)
    assert done.returncode == 2
    sentence, *rest = done.stderr.strip().splitlines()
    assert says in sentence
    assert all(re.match(r"make(\[\d+\])?: \*\*\*", line) for line in rest)
    assert out.read_text(encoding="utf-8") == "an older one"
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize("out", ["mine.yml", "missing/report.html", "folder.html"])
def test_only_a_page_is_written_over(tmp_path: Path, out: str) -> None:
    (tmp_path / "mine.yml").write_text("title: mine\n", encoding="utf-8")
    (tmp_path / "folder.html").mkdir()
    done = make_report(SCENARIO="s0-scenario-1", OUT=tmp_path / out)
    assert done.returncode == 2
    assert done.stderr.startswith("OUT: ")
    assert (tmp_path / "mine.yml").read_text(encoding="utf-8") == "title: mine\n"


def test_every_letter_can_be_set_without_a_script() -> None:
    """Formulas of a report are MathML: each letter of the book has one."""
    set_letters = [formulas.typeset(symbol.latex, False, formulas.MATHML)
                   for symbol in catalogue.symbols().values()]
    assert all("</math>" in letter for letter in set_letters)


@pytest.mark.skipif(find_chromium() is None, reason="no Chromium")
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_browser_shows_it_without_asking_for_anything(mine: Path, pages: dict[str, str],
                                                        lang: str) -> None:
    chromium = find_chromium()
    assert chromium is not None
    with Browser(chromium) as browser:
        browser.open((mine / f"{lang}.html").as_uri())
        asked = [url for url in browser.requests if not url.startswith("data:")]
        assert asked == [(mine / f"{lang}.html").as_uri()]
        assert browser.errors == []
        assert browser.evaluate("[...document.images].every((one) => one.naturalWidth > 0)")
        assert browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
