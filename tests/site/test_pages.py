"""Built pages in a real browser: a page of each kind, and what a reader does there."""

import json

import pytest
import yaml
from _visits import visit

from tools.site import ROOT, SITE
from tools.site.assets import page_names

KINDS = ("index.html", "zh/index.html", "search.html", "zh/how-made.html",
         "chapters/calculators.html", "zh/chapters/throughput.html", "chapters/cost.html",
         "zh/chapters/devices.html", "chapters/devices/nvidia-h20.html",
         "zh/chapters/models/deepseek-v3.html", "chapters/scenarios/s1-plan-c.html",
         "zh/chapters/documents/s1.html")
SHIFT = 0.02  # of the layout while a page loads
WEIGHT = 650_000  # bytes of a page with all it loads, gzip; most is the index of a search
TALL = 15_000  # CSS pixels of a page on a phone
IMPACTS = ("moderate", "serious", "critical")  # of rules of axe
PALE = [("color-contrast", 7)] * 2  # links between derivations, above each, in both themes
SEARCHES = yaml.safe_load((ROOT / "tests/site/searches.yml").read_text(encoding="utf-8"))
FOLDERS = {"en": "", "zh": "zh/"}
FIRST, RIGHT = 3, 149  # a right result among the first for so many queries of each language
BOX = "document.querySelector('.bd-search-container .search-results')"
CARD = "document.querySelector('#card.open')?.textContent"
HITS = "document.querySelectorAll('#pst-search-dialog .search-hits a')"
ENTER = ("((field, text) => { field.value = text; field.dispatchEvent("
         "new Event('input', {bubbles: true})); })(document.querySelector(%s), %s)")
POINT = ("document.querySelector(%r).dispatchEvent("
         "new PointerEvent('pointerover', {bubbles: true, pointerType: 'mouse'}))")
PRESS = ("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', "
         "{key: %r, bubbles: true, cancelable: true}))")


def enter(browser, selector, text):
    """Type into a field."""
    browser.evaluate(ENTER % (json.dumps(selector), json.dumps(text)))


def results(browser, query):
    """Ask the open page of the search; return addresses of results from the language's root."""
    enter(browser, ".bd-search-container input[name=q]", query)
    browser.wait_for(f"{BOX}.dataset.query === {json.dumps(query)}")
    root = browser.evaluate("new URL('.', location.href).href")
    links = browser.evaluate(f"[...{BOX}.querySelectorAll('a')].map(link => link.href)")
    return [str(link).removeprefix(root).replace(".html", "", 1) for link in links]


@pytest.mark.parametrize("name", KINDS)
def test_page_on_desktop_and_phone_in_both_themes(browser, site, name):
    page = visit(browser, site, name)
    assert (page.errors, page.foreign, page.overflow) == ([], [], 0)
    violations = [(rule, count) for _, rule, impact, count, _ in page.axe if impact in IMPACTS]
    assert violations in ([], PALE), page.axe
    assert page.shift <= SHIFT
    assert (page.bytes <= WEIGHT, page.tall <= TALL) == (True, True), page


@pytest.mark.nightly
@pytest.mark.parametrize("name", page_names(SITE))
def test_every_page_loads_without_errors_and_fits_every_screen(browser, site, name):
    page = visit(browser, site, name, audit=False)
    assert (page.errors, page.foreign, page.overflow) == ([], [], 0)


@pytest.mark.parametrize("lang", FOLDERS)
def test_most_queries_have_a_right_result_among_the_first(browser, site, lang):
    """A page stands for all its sections."""
    browser.open(f"{site.as_uri()}/{FOLDERS[lang]}search.html")
    missed = []
    for query, wanted in SEARCHES[lang].items():
        first = results(browser, query)[:FIRST]
        if not {*first, *(each.partition("#")[0] for each in first)} & set(wanted):
            missed.append(query)
    assert len(SEARCHES[lang]) - len(missed) >= RIGHT, missed
    assert browser.errors == []


@pytest.mark.parametrize(("folder", "query", "hit", "last"), [
    ("", "tensor paralelism", "chapters/reference#term-tensor-parallelism", ""),
    ("zh/", "每个 rank 都保存一整份", "chapters/memory#memory-kv", ""),
    ("", "trhoughptu", "chapters/reference#term-throughput", "chapters/monitoring"),
    ("zh/", "鲸落蝉鸣", "chapters/calculators", "chapters/monitoring")])
def test_typos_and_phrases_are_found_and_else_a_start_is_offered(browser, site, folder, query, hit,
                                                                 last):
    browser.open(f"{site.as_uri()}/{folder}search.html")
    addresses = results(browser, query)
    assert hit in addresses
    assert not last or addresses[-1] == last
    browser.click("a.language-switcher")  # the query is kept
    assert browser.evaluate("document.querySelector('.bd-search-container input').value") == query


def test_the_index_is_loaded_by_the_first_search(browser, site):
    """Opened by a button; arrow keys go to the results."""
    browser.open(f"{site.as_uri()}/index.html")
    assert not [url for url in browser.requests
                if "minisearch" in url or "index.js" in url or "datatables" in url]
    browser.evaluate("document.querySelector('.search-button__button').click()")
    enter(browser, "#pst-search-dialog input", "KV cache")
    browser.wait_for(f"{HITS}.length > 3")
    browser.evaluate(PRESS % "ArrowDown")
    assert browser.evaluate(f"document.activeElement === {HITS}[0]")


def test_the_language_switcher_keeps_page_and_section(browser, site):
    name = "chapters/architecture.html"
    browser.open(f"{site.as_uri()}/{name}#architecture")
    for folder, language in (("zh/", "zh-CN"), ("", "en")):
        browser.click("a.language-switcher")
        assert browser.evaluate("location.href") == f"{site.as_uri()}/{folder}{name}#architecture"
        assert browser.evaluate("document.documentElement.lang") == language
        assert browser.evaluate("document.querySelectorAll('.katex-html').length") > 10


def test_terms_and_equations_explain_themselves(browser, site):
    """On hover and on focus; Escape closes the card."""
    browser.open(f"{site.as_uri()}/chapters/memory.html")
    for selector in ("a.term[href$='#term-tpot']", "#equation-eq-kv-bytes-per-token"):
        browser.evaluate(POINT % selector)
        assert len(browser.wait_for(CARD)) > 10
        browser.evaluate(PRESS % "Escape")
        assert browser.evaluate(CARD) is None
    browser.open(f"{site.as_uri()}/zh/chapters/scenarios/s1-plan-c.html")
    browser.evaluate("document.querySelector(\"article a[href*='#equation-']\").focus()")
    assert browser.wait_for("document.querySelector('#card.open math')?.textContent")


def test_tables_of_the_catalogue_sort_and_filter(browser, site):
    browser.open(f"{site.as_uri()}/chapters/devices.html")
    browser.wait_for("document.querySelectorAll('.sortable .dt-search input').length")
    table = "document.querySelector('.sortable table')"
    column = f"[...{table}.tBodies[0].rows].map(row => parseFloat(row.cells[3].textContent))"
    rates = browser.evaluate(column)
    assert rates != sorted(rates)
    for turned, order in ((False, "ascending"), (True, "descending")):
        browser.evaluate(f"{table}.tHead.rows[0].cells[3].click()")
        browser.wait_for(f"{table}.tHead.rows[0].cells[3].ariaSort === '{order}'")
        assert browser.evaluate(column) == sorted(rates, reverse=turned)
    for text, rows in (("910B4", 2), ("no such card", 1)):
        enter(browser, ".sortable .dt-search input", text)
        browser.wait_for(f"{table}.tBodies[0].rows.length === {rows}")
    assert browser.errors == []
