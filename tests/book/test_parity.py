"""Both languages of a page have the same skeleton: a gap is an error, not a matter of taste."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import _sources as sources
import pytest

import catalogue

PAGES = sources.pages()


def pairs(page: Path) -> list[tuple[str, str]]:
    """Return the English and the Chinese text of every pair of prose cells."""
    texts = [cell.text for cell in sources.cells(page) if cell.kind == "markdown"]
    return list(zip(texts[::2], texts[1::2], strict=True))


@pytest.fixture(params=PAGES, ids=lambda page: page.name)
def page(request: pytest.FixtureRequest) -> Path:
    return request.param


def test_there_are_pages() -> None:
    assert {"architecture.md", "memory.md", "index.md", "how-made.md"} <= {p.name for p in PAGES}


def test_every_prose_cell_has_one_language_and_its_counterpart_beside_it(page: Path) -> None:
    for kind, run in groupby(sources.cells(page), key=lambda cell: cell.kind):
        if kind != "markdown":
            continue
        languages = [cell.languages for cell in run]
        assert languages == [("en",), ("zh",)] * (len(languages) // 2), languages


def test_code_belongs_to_both_languages(page: Path) -> None:
    assert not [cell.text for cell in sources.cells(page) if cell.kind == "code" and cell.languages]


def test_the_languages_share_headings_labels_figures_tables_and_equations(page: Path) -> None:
    for english, chinese in pairs(page):
        assert sources.structure(english) == sources.structure(chinese)


def test_the_languages_take_the_same_numbers_from_code(page: Path) -> None:
    for english, chinese in pairs(page):
        assert sources.glue_keys(english) == sources.glue_keys(chinese)


def test_terms_are_those_of_the_glossary(page: Path) -> None:
    """Where the English uses a term of several words, the Chinese beside it uses its term."""
    terms = {term["en"]: {term["zh"], term.get("abbr", term["zh"])}
             for term in catalogue.glossary().values() if " " in term["en"]}
    assert len(terms) > 20
    for english, chinese in pairs(page):
        flat, compact = re.sub(r"\s+", " ", english), re.sub(r"\s+", "", chinese)
        for name, accepted in terms.items():
            if re.search(rf"(?<![\w-]){re.escape(name)}s?(?![\w-])", flat, re.IGNORECASE):
                assert any(word.replace(" ", "") in compact for word in accepted), name


def test_bold_chinese_ends_before_its_punctuation(page: Path) -> None:
    """`**...。**下文` is not bold: between punctuation and a letter nothing closes."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"[，。；：！？）”》]\*\*(?=[\u4e00-\u9fffA-Za-z0-9{])", text)


def test_every_heading_has_a_label(page: Path) -> None:
    """Without one, a Chinese heading's address would be `id1`."""
    for cell in sources.cells(page):
        if cell.kind == "markdown":
            assert sources.bare_headings(cell.text) == []


def test_labels_are_unique_in_the_book() -> None:
    """``@id@`` becomes the identifier of a template's entry: those must differ between kinds."""
    labels = [label.replace("@id@", f"@{page.stem}@") for page in PAGES
              for english, _ in pairs(page) for key in ("labels", "names", "equations")
              for label in sources.structure(english)[key]]
    assert sorted(labels) == sorted(set(labels))
    named = [name for kind in ("scenarios", "devices", "models") for name in catalogue.names(kind)]
    named += sorted(set(catalogue.deployment_names()) - set(catalogue.names("scenarios")))
    assert sorted(named) == sorted(set(named) - set(labels))


def test_the_chinese_is_chinese_and_the_english_is_not(page: Path) -> None:
    han = re.compile(r"[\u4e00-\u9fff]")
    for english, chinese in pairs(page):
        assert not han.search(english), english
        has_words = re.search(r"[A-Za-z]{3,} [A-Za-z]{3,}", english)
        assert han.search(chinese) or not has_words, chinese


def test_no_separator_is_lost_inside_a_cell(page: Path) -> None:
    for cell in sources.cells(page):
        assert not re.search(r"^\+\+\+", cell.text, re.MULTILINE), cell.text


def test_no_title_of_a_backtick_fence_holds_backticks(page: Path) -> None:
    """Such a line opens no fence, and swallows what follows without a warning."""
    text = page.read_text(encoding="utf-8")
    assert not re.findall(r"^\s*```\{[^}\n]*\}[^\n]*`[^\n]*$", text, re.MULTILINE)
