"""The book in a real browser: from a server and from the disk, in both languages."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.site import searching
from tools.site.browser import INSTALL, Browser, find_chromium

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"no Chromium: {INSTALL}")

HIT = "chapters/architecture.html"
PHONE, WINDOW = 390, 1280  # CSS pixels
DEEP = 2  # folders above a page of a template


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files without a line for each."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    assert CHROMIUM is not None
    with Browser(CHROMIUM) as started:
        yield started


@pytest.fixture(scope="module", params=["http", "file"])
def address(request: pytest.FixtureRequest, site: Path) -> Iterator[str]:
    """The address of the site: on a local server, and on the disk."""
    if request.param == "file":
        yield site.as_uri()
        return
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def pages(site: Path, address: str) -> list[str]:
    """The pages to open, relative to the site.

    Pages of a template differ in what they say, and both languages of one have the same skeleton,
    so on the disk they are opened in one language each, by turns; on the server one of a template.
    """
    every = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html")
                   if "_static" not in path.parts and path.name != "404.html")
    deep = [name for name in every if name.count("/") - name.startswith("zh/") >= DEEP]
    if address.startswith("file:"):
        english = [name for name in deep if not name.startswith("zh/")]
        opened = {*english[::2], *(f"zh/{name}" for name in english[1::2])}
    else:
        opened = set({name.rpartition("/")[0]: name for name in deep}.values())
    return [name for name in every if name not in deep or name in opened]


@dataclass(frozen=True)
class Visit:
    """What a page did when it was opened: errors, addresses asked for, its width on a screen."""

    name: str
    errors: tuple[str, ...]
    requests: tuple[str, ...]
    width: int
    screen: int


@pytest.fixture(scope="module")
def visits(browser: Browser, address: str, site: Path) -> list[Visit]:
    """Pages, each opened once: from the disk as on a phone, from the server as in a window."""
    screen = PHONE if address.startswith("file:") else WINDOW
    browser.call("Emulation.setDeviceMetricsOverride", width=screen, height=844,
                 deviceScaleFactor=1, mobile=screen == PHONE)
    opened = []
    for name in pages(site, address):
        browser.open(f"{address}/{name}")
        width = browser.evaluate("document.documentElement.scrollWidth")
        opened.append(Visit(name, tuple(browser.errors), tuple(browser.requests), width, screen))
    browser.call("Emulation.clearDeviceMetricsOverride")
    return opened


def test_pages_load_without_errors_or_foreign_requests(visits: list[Visit], address: str) -> None:
    assert {visit.name: visit.errors for visit in visits if visit.errors} == {}
    foreign = {visit.name: url for visit in visits for url in visit.requests
               if not url.startswith((address, "data:", "blob:"))}
    assert foreign == {}


def test_a_screen_scrolls_boxes_and_not_the_page(visits: list[Visit]) -> None:
    assert all(visit.width for visit in visits)
    assert {visit.name: visit.width for visit in visits if visit.width > visit.screen} == {}


@pytest.mark.parametrize("folder", ["", "zh/"])
def test_mathematics_is_set(browser: Browser, address: str, folder: str) -> None:
    browser.open(f"{address}/{folder}{HIT}")
    assert browser.evaluate("document.querySelectorAll('.katex-html').length") > 10
    assert browser.evaluate("document.querySelectorAll('.math > code').length") == 0
    assert browser.errors == []


def test_the_switcher_keeps_page_and_section(browser: Browser, address: str) -> None:
    browser.open(f"{address}/{HIT}#architecture")
    for folder, language in (("zh/", "zh-CN"), ("", "en")):
        browser.click("a.language-switcher")
        assert browser.evaluate("location.href") == f"{address}/{folder}{HIT}#architecture"
        assert browser.evaluate("document.documentElement.lang") == language
        assert browser.errors == []


SEARCHES = {
    "": {"plan C": "chapters/scenarios/s1-plan-c", "70272": "chapters/memory#memory-kv",
         "tensor paralelism": "chapters/reference#term-tensor-parallelism"},
    "zh/": {"方案C": "chapters/scenarios/s1-plan-c", "70,272": "chapters/memory#memory-kv",
            "expert parallelism": "chapters/reference#term-expert-parallelism",
            "每个 rank 都保存一整份": "chapters/memory#memory-kv"},
}


@pytest.mark.parametrize("folder", SEARCHES)
def test_search_finds_terms_numbers_plans_and_phrases(
    browser: Browser, address: str, folder: str,
) -> None:
    browser.open(f"{address}/{folder}search.html")
    for query, hit in SEARCHES[folder].items():
        assert hit in searching.results(browser, query)[:searching.FIRST], query
        assert browser.evaluate("document.querySelectorAll('.search-hits mark').length"), query
    assert browser.errors == []


def test_search_says_what_is_not_there_and_offers_the_nearest(
    browser: Browser, address: str,
) -> None:
    browser.open(f"{address}/zh/search.html")
    starts = ["chapters/calculators", "chapters/monitoring"]
    assert searching.results(browser, "鲸落蝉鸣") == starts
    assert browser.evaluate(f"{searching.BOX}.firstChild.textContent").startswith("没有找到。")
    browser.open(f"{address}/search.html")
    found = searching.results(browser, "trhoughptu")
    assert "chapters/reference#term-throughput" in found
    assert found[-2:] == starts


def test_the_index_is_loaded_by_who_searches_and_nobody_else(
    browser: Browser, address: str,
) -> None:
    """By a button or a key; arrows go to the results and back."""
    browser.open(f"{address}/index.html")
    loaded = [url for url in browser.requests if "minisearch" in url or "index.js" in url]
    assert loaded == []
    browser.evaluate("document.querySelector('.search-button__button').click()")
    browser.evaluate("(field => { field.value = 'KV cache'; "
                     "field.dispatchEvent(new Event('input')); })"
                     "(document.querySelector('#pst-search-dialog input'))")
    hits = "document.querySelectorAll('#pst-search-dialog .search-hits a')"
    assert browser.wait_for(f"{hits}.length > 3")
    press = ("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', "
             "{key: %r, bubbles: true, cancelable: true}))")
    for key, at in (("ArrowDown", 0), ("ArrowDown", 1), ("ArrowUp", 0)):
        browser.evaluate(press % key)
        assert browser.evaluate(f"document.activeElement === {hits}[{at}]")
    assert any("search-index.js" in url for url in browser.requests)
    assert browser.errors == []


def test_a_query_goes_along_into_the_other_language(browser: Browser, address: str) -> None:
    browser.open(f"{address}/search.html?q=H20")
    browser.click("a.language-switcher")
    assert browser.evaluate("document.querySelector('.bd-search-container input').value") == "H20"
    assert browser.wait_for("document.querySelectorAll('.search-hits a').length > 3")


def test_a_term_a_letter_and_an_equation_say_what_they_are(
    browser: Browser, address: str,
) -> None:
    """To a pointer and to a keyboard; Escape ends it."""
    card = "document.querySelector('#card.open')?.textContent"
    point = ("document.querySelector(%r).dispatchEvent("
             "new PointerEvent('pointerover', {bubbles: true, pointerType: 'mouse'}))")
    browser.open(f"{address}/zh/chapters/memory.html")
    browser.evaluate(point % "a.term[href$='#term-tpot']")
    assert "相邻两个输出 token 的平均间隔" in browser.wait_for(card)
    browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))")
    assert browser.evaluate(card) is None
    browser.evaluate(point % "#equation-eq-kv-bytes-per-token")
    assert "L层数" in browser.wait_for(card)
    browser.open(f"{address}/chapters/scenarios/s1-plan-c.html")
    browser.evaluate("document.querySelector(\"article a[href*='#equation-']\").focus()")
    assert browser.wait_for("document.querySelector('#card.open math')?.textContent")
    assert browser.errors == []


def test_on_a_phone_a_wide_table_is_cards_that_say_their_columns(
    browser: Browser, address: str,
) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", width=PHONE, height=844,
                 deviceScaleFactor=1, mobile=True)
    browser.open(f"{address}/zh/chapters/scenarios/s1-plan-c.html")
    table = "document.querySelector('.bd-article table.as-cards')"
    labels = browser.evaluate(f"[...{table}.tBodies[0].rows[0].cells].map(c => c.dataset.label)")
    heads = browser.evaluate(f"[...{table}.tHead.rows[0].cells].map(c => c.textContent.trim())")
    browser.call("Emulation.clearDeviceMetricsOverride")
    assert labels == [None, *heads[1:]]


def test_dark_mode_is_a_click_away(browser: Browser, address: str) -> None:
    browser.open(f"{address}/index.html")
    seen = set()
    for _ in range(3):
        browser.evaluate("document.querySelector('.theme-switch-button').click()")
        seen.add(browser.evaluate("document.documentElement.dataset.mode + ' ' +"
                                  "getComputedStyle(document.body).backgroundColor"))
    assert {mode.split()[0] for mode in seen} == {"light", "dark", "auto"}
    assert len({mode.split(maxsplit=1)[1] for mode in seen}) == 2


@pytest.mark.parametrize(("folder", "nothing"), [
    ("", "Nothing matches."), ("zh/", "没有匹配的行。")])
def test_a_table_of_the_catalogue_sorts_and_filters(
    browser: Browser, address: str, folder: str, nothing: str,
) -> None:
    """By a click on a heading as numbers, both ways; by words in the field above it."""
    browser.open(f"{address}/{folder}chapters/devices.html")
    assert browser.wait_for("document.querySelectorAll('.sortable .dt-search input').length")
    table = "document.querySelector('.sortable table')"
    column = f"[...{table}.tBodies[0].rows].map(row => parseFloat(row.cells[3].textContent))"
    rates = browser.evaluate(column)
    assert rates != sorted(rates)
    for turned in (False, True):
        browser.evaluate(f"{table}.tHead.rows[0].cells[3].click()")
        assert browser.wait_for(f"{table}.tHead.rows[0].cells[3].ariaSort === "
                                f"'{'descending' if turned else 'ascending'}'")
        assert browser.evaluate(column) == sorted(rates, reverse=turned)
    for words, rows in (("910B4", 2), ("no such card", 1)):
        browser.evaluate("(field => { field.value = " + repr(words) + "; field.dispatchEvent("
                         "new Event('input', {bubbles: true})); })"
                         "(document.querySelector('.sortable .dt-search input'))")
        assert browser.wait_for(f"{table}.tBodies[0].rows.length === {rows}")
    assert nothing in browser.evaluate(f"{table}.tBodies[0].textContent")
    assert browser.errors == []


@pytest.mark.parametrize(("folder", "word"), [("", "wrong input"), ("zh/", "输入错误")])
def test_the_claims_of_a_document_are_chosen_sorted_and_addressed(
    browser: Browser, address: str, folder: str, word: str,
) -> None:
    """One verdict by a menu, the worst first by a heading, a claim by its address."""
    browser.open(f"{address}/{folder}chapters/documents/s1.html#S1-036")
    assert browser.wait_for("document.querySelectorAll('.claims .dt-search select').length")
    rows = "[...document.querySelector('.claims table').tBodies[0].rows]"
    every = browser.evaluate(f"{rows}.length")
    top = browser.evaluate("document.getElementById('S1-036').getBoundingClientRect().top")
    assert 0 <= top <= browser.evaluate("innerHeight")
    browser.evaluate("(menu => { menu.value = " + repr(word) + "; menu.dispatchEvent("
                     "new Event('change')); })(document.querySelector('.claims select'))")
    assert browser.wait_for(f"{rows}.length < {every}")
    verdicts = browser.evaluate(f"{rows}.map(row => row.cells[5].textContent)")
    assert verdicts
    assert {text.replace("：", ":").partition(":")[0] for text in verdicts} == {word}
    for turned in (False, True):
        browser.evaluate("document.querySelector('.claims table').tHead.rows[0].cells[4].click()")
        off = browser.evaluate(  # a cell that shows no number has none to sort by: it is the least
            f"{rows}.map(row => parseFloat(row.cells[4].dataset.order ?? 0))")
        assert off == sorted(off, reverse=turned)
    source = browser.evaluate("document.querySelector('.claims details a').href")
    browser.open(source)
    assert browser.errors == []


def test_a_page_without_such_a_table_does_not_fetch_the_library(
    browser: Browser, address: str,
) -> None:
    browser.open(f"{address}/index.html")
    assert not [url for url in browser.requests if "datatables" in url]
