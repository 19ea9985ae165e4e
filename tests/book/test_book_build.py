"""The built book: both languages, whole, offline, and with the numbers it must show."""

from __future__ import annotations

import csv
import html
import json
import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lxml.html
import pytest
from docutils.nodes import make_id
from lxml.html import HtmlElement

import calc
import catalogue
from catalogue.deployments.family import find
from notebooks.derive.formulas.exported import load_formulas
from notebooks.pages.catalogue.tables import hardware, mechanisms
from notebooks.show.display import written
from notebooks.show.numbers import fmt_bytes, fmt_time

LANGUAGE_OF = {"": "en", "zh": "zh-CN"}
LOST = "404.html"  # one page in both languages, which stands at any address
CALCULATORS, STATE = "calculators.html", "="  # a fragment of it is a state, no anchor
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}


@cache
def tree(path: Path) -> HtmlElement:
    """Parse a page, once."""
    return lxml.html.document_fromstring(path.read_bytes(), lxml.html.HTMLParser(encoding="utf-8"))


@cache
def anchors(path: Path) -> frozenset[str]:
    """Return what a link into a page may name."""
    return frozenset(tree(path).xpath("//@id"))


def article(path: Path) -> HtmlElement:
    """Return the text of a page without its surroundings."""
    return next(tree(path).iter("article"))


def names(site: Path, folder: str) -> set[str]:
    """Return the pages of one language, relative to its folder."""
    root = site / folder
    paths = {path.relative_to(root).as_posix() for path in root.rglob("*.html")
             if "_static" not in path.parts and path.name != LOST}
    return {name for name in paths if not name.startswith("zh/")}


@pytest.fixture(scope="session")
def page_pairs(site: Path) -> list[tuple[Path, Path]]:
    """Every page in English and in Chinese."""
    return [(site / name, site / "zh" / name) for name in sorted(names(site, ""))]


def test_both_languages_have_the_same_pages(site: Path) -> None:
    assert names(site, "") == names(site, "zh")
    assert {"index.html", "how-made.html", "search.html", "chapters/architecture.html",
            "chapters/memory.html", "chapters/scenarios/s0-scenario-1.html"} <= names(site, "")


def test_english_pages_hold_chinese_in_quotation_marks_and_titles_of_sources_alone(
    page_pairs: list[tuple[Path, Path]],
) -> None:
    """Code has the words of both languages, and the glossary a term's name in the other."""
    titles = re.compile("|".join(sorted(
        {re.escape(each["title"]) for each in catalogue.sources().values()}, key=len)[::-1]))
    found = {}
    for english in (page for page, _ in page_pairs if page.name != "reference.html"):
        told = " ".join(tree(english).xpath(
            "//article//text()[not(ancestor::pre or ancestor::code or ancestor::script)]"))
        rest = re.sub("“[^”]*”", "", titles.sub("", " ".join(told.split())))
        if chinese := re.findall("[\u4e00-\u9fff]+", rest):
            found[english.name] = chinese
    assert found == {}


@pytest.mark.parametrize("kind", ["scenarios", "devices", "models"])
@pytest.mark.parametrize("folder", ["", "zh/"])
def test_every_entry_has_a_page(site: Path, kind: str, folder: str) -> None:
    wanted = {f"chapters/{kind}/{name}.html" for name in catalogue.names(kind)}
    assert wanted == {name for name in names(site, folder)
                      if name.startswith(f"chapters/{kind}/")}


@pytest.mark.parametrize("folder", ["", "zh/"])
@pytest.mark.parametrize("name", catalogue.names("devices"))
class TestDevicePages:
    @pytest.fixture
    def page(self, site: Path, name: str, folder: str) -> str:
        return (site / folder / f"chapters/devices/{name}.html").read_text("utf-8")

    def test_every_value_and_a_way_to_its_source(self, page: str, name: str) -> None:
        device = catalogue.load_device(name)
        shown = html.unescape(re.sub(r"<[^>]+>", "", page)).replace(",", "")
        links = set(map(html.unescape, re.findall(r'href="([^"]+)"', page)))
        for label, value in hardware.values_of(device):
            assert value.written.replace(",", "") in shown, label
            url = catalogue.sources()[value.source].get("url")
            assert url is None or url in links, label
        for item in hardware.disagreements(device):
            assert item.other.written.replace(",", "") in shown, item.label

    def test_every_mechanism_of_its_class(self, page: str, name: str) -> None:
        shown = html.unescape(re.sub(r"<[^>]+>", "", page))
        priors = mechanisms.of_device(catalogue.load_device(name))
        assert priors is not None
        for label, value in mechanisms.rows(priors):
            assert written(value) in shown, label


@pytest.mark.parametrize("folder", ["", "zh/"])
@pytest.mark.parametrize("name", catalogue.names("models"))
def test_a_model_page_has_its_count(site: Path, name: str, folder: str) -> None:
    page = (site / folder / f"chapters/models/{name}.html").read_text("utf-8")
    for count in calc.parameters(catalogue.load_model(name)).values():
        assert f"{count:,}" in page


@pytest.mark.parametrize("folder", LANGUAGE_OF)
def test_pages_say_their_language(site: Path, folder: str) -> None:
    for name in names(site, folder):
        assert tree(site / folder / name).get("lang") == LANGUAGE_OF[folder], name


def test_pages_link_to_themselves_in_every_language(page_pairs: list[tuple[Path, Path]]) -> None:
    for pair in page_pairs:
        for page in pair:
            links = {link.get("hreflang"): (page.parent / link.get("href")).resolve()
                     for link in tree(page).cssselect("link[rel=alternate][hreflang]")}
            assert links == {"en": pair[0].resolve(), "zh-CN": pair[1].resolve()}
            switch = tree(page).cssselect("a.language-switcher")[0]
            other = pair[1] if page == pair[0] else pair[0]
            assert (page.parent / switch.get("href")).resolve() == other.resolve()


def test_pages_have_the_same_skeleton(page_pairs: list[tuple[Path, Path]]) -> None:
    for english, chinese in page_pairs:
        if english.name == "search.html":
            continue
        for selector in ("h1, h2, h3, h4", "figure", "table", "tr", "img", "div.math",
                         "span.eqno", "div.admonition", "details"):
            shapes = [[tag.tag for tag in article(page).cssselect(selector)]
                      for page in (english, chinese)]
            assert shapes[0] == shapes[1], f"{english.name}: {selector}"


@pytest.mark.parametrize("folder", LANGUAGE_OF)
@pytest.mark.parametrize(("name", "number"), [
    ("chapters/architecture.html", "671,026,419,200"), ("chapters/memory.html", "70,272"),
])
def test_pages_show_the_known_numbers(site: Path, folder: str, name: str, number: str) -> None:
    assert number in article(site / folder / name).text_content()


def test_nothing_is_loaded_from_elsewhere(page_pairs: list[tuple[Path, Path]]) -> None:
    for page in (page for pair in page_pairs for page in pair):
        for tag, attribute in LOADED.items():
            for element in tree(page).iter(tag):
                address = element.get(attribute, "")
                assert not re.match(r"(https?:)?//", address), f"{page.name}: {address}"


def test_no_style_loads_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(url\(|@import)\s*['\"]?(https?:)?//", text), path.name


def test_internal_links_lead_somewhere(page_pairs: list[tuple[Path, Path]]) -> None:
    for page in (page for pair in page_pairs for page in pair):
        for link in tree(page).cssselect("a[href]"):
            address = link.get("href")
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.exists(), f"{page.name}: {address}"
            if STATE in parts.fragment:
                assert target.name == CALCULATORS, f"{page}: {address}"
            elif parts.fragment and target.suffix == ".html":
                assert unquote(parts.fragment) in anchors(target), f"{page}: {address}"


@pytest.mark.parametrize("folder", LANGUAGE_OF)
def test_executed_notebooks_can_be_downloaded(site: Path, folder: str) -> None:
    chapters = [name for name in names(site, folder) if name.startswith("chapters/")]
    for name in chapters:
        page = site / folder / name
        links = tree(page).cssselect("a.btn-download-source-button[href$='.ipynb']")
        assert links, name
        notebook = json.loads((page.parent / links[0].get("href")).read_text(encoding="utf-8"))
        assert any(cell.get("execution_count") for cell in notebook["cells"]), name


@pytest.mark.parametrize("folder", LANGUAGE_OF)
def test_all_fields_of_the_matrix_can_be_downloaded(site: Path, folder: str) -> None:
    page = site / folder / "chapters/matrix.html"
    link, = tree(page).cssselect("a.download[href$='.csv']:not(.numbers)")
    with (page.parent / link.get("href")).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    shown = [row for table in tree(page).cssselect(".sortable table")
             for row in table.cssselect("tbody tr")]
    assert len(rows) == len(shown)
    assert {row["device"] for row in rows} <= set(catalogue.names("devices"))


def test_the_interface_of_chinese_pages_is_chinese(site: Path) -> None:
    """Labels that a reader sees or hears are translated, but for names and file types."""
    for name in names(site, "zh"):
        for attribute in ("title", "aria-label", "placeholder", "data-bs-title"):
            for text in tree(site / "zh" / name).xpath(f"//@{attribute}"):
                assert not re.fullmatch(r"[A-Za-z .…]{4,}", text), f"{name}: {attribute}={text}"


def test_no_file_is_too_large_to_review() -> None:
    book = Path(__file__).parents[2] / "book"
    for path in book.rglob("*"):
        if path.is_file() and "chapters" not in path.parts:
            assert path.stat().st_size < 1_000_000, path


@pytest.mark.parametrize("lang", [0, 1])
def test_the_figures_of_the_book_are_numbered_from_one_on(
        page_pairs: list[tuple[Path, Path]], lang: int) -> None:
    numbers = []
    for pair in page_pairs:
        captions = tree(pair[lang]).cssselect("figcaption .caption-number")
        on_page = [int("".join(filter(str.isdigit, caption.text))) for caption in captions]
        assert on_page == sorted(on_page), pair[lang]
        numbers += on_page
    assert len(numbers) > 20
    assert sorted(numbers) == list(range(1, len(numbers) + 1))


def test_a_figure_is_mentioned_by_the_number_it_has(page_pairs: list[tuple[Path, Path]]) -> None:
    mentions = 0
    for pair in page_pairs:
        for path in pair:
            for mention in tree(path).cssselect("a.reference > .std-numref"):
                page, _, anchor = mention.getparent().get("href").partition("#")
                captions = tree((path.parent / page).resolve() if page else path).cssselect(
                    f'[id="{anchor}"] .caption-number')
                if captions:  # else a table, whose number no caption shows
                    mentions += 1
                    assert mention.text.strip() == captions[0].text.strip(), (path, anchor)
    assert mentions


@pytest.mark.parametrize("name", sorted({formula.notebook for formula in load_formulas().values()}))
def test_every_derivation_met_the_lock(site: Path, name: str) -> None:
    """Where a formula differs from ``formulas.json`` the last cell fails, and so does the build."""
    notebook = json.loads((site / f"../../book/chapters/{name}.ipynb").read_text("utf-8"))
    last = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"][-1]
    assert last["source"][-1] == "derivation.close()"
    assert last["execution_count"]


def cells(site: Path, page: str, first: str) -> list[str]:
    """The cells of the table row of a page that begins with a text."""
    html = (site / page).read_text(encoding="utf-8")
    for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL):
        texts = [re.sub(r"<[^>]+>", "", cell).strip()
                 for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        if texts and texts[0] == first:
            return texts
    raise AssertionError(f"{page} has no row '{first}'")


def test_a_deployment_page_says_printed_recomputed_derived_and_their_ratio(site: Path) -> None:
    page = "chapters/scenarios/s0-scenario-1.html"
    english = cells(site, page, "KV cache of a card, in the table")
    assert english[1:6] == ["3.68 GB", "3.2.2", "3.68 GB", "9.21 GB", "exact"]
    assert english[-1] == "0.4"
    first = cells(site, f"zh/{page}", "单卡权重（第二次除法之前）")
    assert first[1:6] == ["167.75 GB", "3.2.3", "167.75 GB", "169.56 GB", "精确"]
    assert first[-1] == "0.989"


def test_a_deployment_page_takes_its_memory_apart(site: Path) -> None:
    for page, names in (("chapters", ("weights, replicated", "activations", "KV cache asked for")),
                        ("zh/chapters", ("权重（每卡一份）", "激活", "所需 KV 缓存"))):
        sizes = [cells(site, f"{page}/scenarios/s0-scenario-1.html", name)[1] for name in names]
        assert sizes == ["2.06 GB", "1.24 GB", "9.21 GB"]


def test_the_verdict_is_the_same_in_both_languages(site: Path) -> None:
    said = {(name, lang): (site / folder / f"chapters/scenarios/{name}.html").read_text("utf-8")
            for name in ("s0-scenario-1", "s2-910b1-awq")
            for lang, folder in (("en", "."), ("zh", "zh"))}
    assert "weights alone come to 169.56 GB per card" in said["s0-scenario-1", "en"]
    assert "单卡仅权重就要占 169.56 GB" in said["s0-scenario-1", "zh"]
    spare = calc.estimate(catalogue.load_scenario("s2-910b1-awq")).spare
    assert f", with {fmt_bytes(spare)} to spare" in said["s2-910b1-awq", "en"]
    assert f"显存占用最大的卡还余 {fmt_bytes(spare)}" in said["s2-910b1-awq", "zh"]


def test_a_derived_number_leads_to_its_formula(site: Path) -> None:
    for folder in ("", "zh/"):
        page = site / f"{folder}chapters/scenarios/s0-scenario-1.html"
        links = set(article(page).xpath(".//a/@href"))
        assert "../memory.html#equation-eq-weights-per-device" in links
        assert "../serving.html#equation-eq-tpot" in links


def test_a_deployment_page_has_the_estimate_of_the_runtime(site: Path) -> None:
    """The number is that which the runtime tells, also where answers have no length."""
    for name in ("s2-910b1-awq", "s0-scenario-1"):
        told = calc.estimate(catalogue.load_scenario(name)).quantities["tpot"]
        for page, label in ((f"chapters/scenarios/{name}.html", "time per output token (TPOT)"),
                            (f"zh/chapters/scenarios/{name}.html", "每输出 token 时间（TPOT）")):
            assert cells(site, page, label)[1] == fmt_time(float(told.value))


DOCUMENTED = [
    *(f"s0-{name}" for name in (
        "scenario-1", "scenario-2", "scenario-3", "config-4.1", "config-4.2", "config-4.3",
        "recommended", "cards", "paged-attention", "continuous-batching")),
    *(f"s1-{name}" for name in (
        "plan-a", "plan-b", "plan-c", "plan-d", "scale-24", "scale-32", "scale-48", "scale-64",
        "overlap", "expert-tiers", "h20-vs-910b2", "launch-single", "launch-production", "phases")),
    "s2-910b1-awq", "s2-other-engine", "s3-hybrid-910b4", "s3-eight-cards"]


@pytest.mark.parametrize("folder", ["", "zh/"])
def test_every_deployment_of_the_documents_has_a_page_or_a_section(site: Path, folder: str) -> None:
    """Those that the four documents describe; a variant of a file is a section of its page."""
    for name in DOCUMENTED:
        page = site / f"{folder}chapters/scenarios/{name}.html"
        if not page.is_file():
            page = page.with_name(f"{find(name)[0].stem}.html")
            assert f'id="{name}"' in page.read_text(encoding="utf-8"), name
    for name in catalogue.names("scenarios"):
        family = catalogue.load_family(name)
        text = (site / f"{folder}chapters/scenarios/{name}.html").read_text(encoding="utf-8")
        if len(family.deployments) > 1:
            for deployment in family.deployments:
                assert f'id="{make_id(deployment.id)}"' in text, deployment.id


def test_every_measured_row_is_on_its_page(site: Path) -> None:
    for name in catalogue.names("scenarios"):
        measured = catalogue.load_scenario(name).measured
        if measured is not None:
            page = f"chapters/scenarios/{name}.html"
            last = len(measured.rows)
            marks = "†" * (last in measured.suspect_rows) + "‡" * (last in measured.unequal)
            assert len(cells(site, page, f"{last}{marks}")) > 4


def test_the_words_around_a_chinese_page_are_those_of_the_catalogue(site: Path) -> None:
    page = (site / "zh/chapters/memory.html").read_text(encoding="utf-8")
    for word in ("推导", "运维", "核对", "显示代码", "隐藏代码", "搜索", "目录", "下一页"):
        assert word in page, word
    for word in ("Derivations", "Show the code", "Contents", "Next"):
        assert f">{word}<" not in page, word


@pytest.mark.parametrize("folder", LANGUAGE_OF)
def test_the_sidebar_is_short_and_names_no_page_of_a_template(site: Path, folder: str) -> None:
    contents = tree(site / folder / "chapters/memory.html").cssselect("nav.bd-docs-nav")[0]
    first = contents.cssselect("li.toctree-l1 > a")
    assert 7 < len(first) <= 25
    assert 0 < len(contents.cssselect("li li > a")) <= 40
    for link in contents.cssselect("li > a"):
        assert "/" not in link.get("href").removeprefix("../"), link.get("href")
        assert not set(link.text_content()) & set(":："), link.text_content()


@pytest.mark.parametrize(("name", "overview"), [
    ("scenarios/s1-plan-c", "scenarios"), ("devices/ascend-910b2", "devices"),
    ("models/deepseek-v3", "models"), ("documents/s1", "audit"), ("memory", "memory")])
def test_the_sidebar_shows_where_a_page_stands(site: Path, name: str, overview: str) -> None:
    page = tree(site / f"chapters/{name}.html")
    marked = page.cssselect("nav.bd-docs-nav a.current")
    assert [link.get("href") for link in marked] == [
        "#" if name == overview else f"../{overview}.html"]
    assert all(entry.get("open") for entry in marked[0].iterancestors("details"))
