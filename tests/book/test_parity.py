"""Both languages of the pages' sources have the same structure, and terms of the glossary."""

import re
from functools import cache
from itertools import groupby

import _sources as sources
import pytest

import catalogue

PAGES = sources.pages()
cells = cache(sources.cells)
HAN = re.compile(r"[\u4e00-\u9fff]")
TERMS = {term["en"]: {term["zh"], term.get("abbr", term["zh"])}
         for term in catalogue.glossary().values() if " " in term["en"]}
NAMED = {name: re.compile(rf"(?<![\w-]){re.escape(name)}s?(?![\w-])", re.IGNORECASE)
         for name in TERMS}
# `**...。**下文` is not bold: between punctuation and a letter nothing closes
OPEN_BOLD = re.compile(r"[，。；：！？）”》]\*\*(?=[\u4e00-\u9fffA-Za-z0-9{])")
# a title with backticks opens no backtick fence, and what follows is swallowed without a warning
BROKEN_FENCE = re.compile(r"^\s*```\{[^}\n]*\}[^\n]*`[^\n]*$", re.MULTILINE)


@cache
def pairs(page):
    """Return the English and the Chinese text of every pair of prose cells."""
    texts = [cell.text for cell in cells(page) if cell.kind == "markdown"]
    return list(zip(texts[::2], texts[1::2], strict=True))


@pytest.fixture(params=PAGES, ids=lambda page: page.name)
def page(request):
    return request.param


def test_prose_alternates_between_the_languages_and_code_has_none(page):
    for kind, run in groupby(cells(page), key=lambda cell: cell.kind):
        languages = [cell.languages for cell in run]
        half = [("en",), ("zh",)] * (len(languages) // 2)
        assert languages == (half if kind == "markdown" else [()] * len(languages))


def test_structure_and_numbers_are_the_same(page):
    """Headings, labels, figures, tables, equations, and the numbers taken from code."""
    for english, chinese in pairs(page):
        assert sources.structure(english) == sources.structure(chinese)
        assert sources.glue_keys(english) == sources.glue_keys(chinese)
        assert sources.bare_headings(f"{english}\n{chinese}") == []  # a Chinese one would be `id1`


def test_prose_is_in_its_language_with_terms_of_the_glossary(page):
    for english, chinese in pairs(page):
        assert not HAN.search(english), english
        assert HAN.search(chinese) or not re.search(r"[A-Za-z]{3,} [A-Za-z]{3,}", english), chinese
        flat, compact = re.sub(r"\s+", " ", english), re.sub(r"\s+", "", chinese)
        for name, pattern in NAMED.items():
            if pattern.search(flat):
                assert any(word.replace(" ", "") in compact for word in TERMS[name]), name


def test_markup_that_fails_silently(page):
    text = page.read_text(encoding="utf-8")
    assert not OPEN_BOLD.findall(text)
    assert not BROKEN_FENCE.findall(text)
    assert not [cell.text for cell in cells(page) if re.search(r"^\+\+\+", cell.text, re.MULTILINE)]


def test_labels_are_unique_in_the_book():
    """``@id@`` becomes the identifier of an entry; those must differ between kinds."""
    labels = [label.replace("@id@", f"@{page.stem}@") for page in PAGES
              for english, _ in pairs(page) for key in ("labels", "names", "equations")
              for label in sources.structure(english)[key]]
    assert sorted(labels) == sorted(set(labels))
    named = [name for kind in ("scenarios", "devices", "models") for name in catalogue.names(kind)]
    named += sorted(set(catalogue.deployment_names()) - set(catalogue.names("scenarios")))
    assert sorted(named) == sorted(set(named) - set(labels))
