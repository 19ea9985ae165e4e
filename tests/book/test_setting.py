"""What the book does itself instead of docutils, Sphinx and the theme: compared with theirs."""

from __future__ import annotations

from typing import Any

import bs4
import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from pydata_sphinx_theme.toctree import add_collapse_checkboxes
from sphinx.util.nodes import NodeMatcher

import catalogue
from _ext import ONWARDS, RestOfSection
from _ext.setting import formulas, quotes, sidebar, trees
from catalogue.reading import words

trees.setup()  # as in a build


def page() -> nodes.section:
    """A section with two paragraphs, one in a note, and a list of numbered items."""
    texts = [nodes.paragraph("", "", nodes.Text(word), nodes.strong("", word, ids=[word]))
             for word in ("one", "two")]
    items = (nodes.list_item("", nodes.paragraph("", str(i))) for i in range(3))
    return nodes.section("", nodes.title("", "Title"), texts[0], nodes.note("", texts[1]),
                         nodes.bullet_list("", *items))


@pytest.mark.parametrize("condition", [
    None, nodes.paragraph, nodes.Text, nodes.TextElement, nodes.classifier,
    NodeMatcher(nodes.strong, nodes.title, ids=["two"]), NodeMatcher(ids=Any),
    lambda node: len(node.children) > 1])
def test_walks_find_the_nodes_that_docutils_finds(condition: Any) -> None:
    root = page()
    for start in (root, root[1], root[2]):
        for ways in ({}, {"include_self": False}, {"siblings": True}, {"descend": False},
                     {"ascend": True, "include_self": False}):
            nodes_found = [id(node) for node in trees.findall(start, condition, **ways)]
            assert nodes_found == [id(node) for node in trees.around(start, condition, **ways)]


def test_walks_see_changes_on_the_way_as_docutils_does() -> None:
    trees_after = []
    for walk in (trees.around, trees.findall):
        root = page()
        for node in walk(root, nodes.paragraph):
            node.replace_self([nodes.paragraph("", "new"), *node.children])
            if len(root.pformat()) > 2000:
                break
        trees_after.append(root.pformat())
    assert trees_after[0] == trees_after[1]


@pytest.mark.parametrize(("text", "plain"), [
    ("no marks: 3.5 - 4, a, b.", True), ("it's", False), ('a "word"', False), ("so ...", False),
    (r"a \- b", False)])
def test_texts_without_quotation_marks_are_skipped(text: str, plain: bool) -> None:
    assert isinstance(nodes.paragraph("", "", nodes.strong("", text)), quotes.Unmarked) is plain


def themed(current: str) -> str:
    """Contents of two levels as the theme makes them, with one page open."""
    def item(level: int, address: str, title: str, below: str = "") -> str:
        here = address == current or f'"{current}"' in below or 'class="current"' in below
        own, link = (" current active" if here else ""), (
            'class="current reference internal" href="#"' if address == current
            else f'class="reference internal" href="{address}"')
        return f'<li class="toctree-l{level}{own}"><a {link}>{title}</a>{below}</li>'

    inner = "".join(item(2, address, address) for address in ("d/x.html", "d/y.html"))
    inner = f'<ul class="current">{inner}</ul>' if "current" in inner else f"<ul>{inner}</ul>"
    outer = item(1, "a.html", "A") + item(1, "d.html", "D", inner) + item(
        1, "e.html", "E", f'<ul>{item(2, "e/z.html", "Z")}</ul>')
    own = "current nav bd-sidenav" if "current" in outer else "nav bd-sidenav"
    soup = bs4.BeautifulSoup(f'<p class="caption">Part</p><ul class="{own}">{outer}</ul>'
                             '<ul class="nav bd-sidenav"></ul>', "html.parser")
    add_collapse_checkboxes(soup)
    return str(soup)


@pytest.mark.parametrize("address", ["a.html", "d.html", "d/x.html", "d/y.html", "none.html"])
def test_contents_are_marked_as_the_theme_marks_them(address: str) -> None:
    assert sidebar.opened(themed("none.html"), address) == themed(address)


def test_an_unlisted_page_marks_the_nearest_listed_one() -> None:
    marked = sidebar.opened(themed("none.html"), "d/x/one.html", ["d/x.html", "d.html"])
    assert marked == themed("d/x.html").replace('href="#"', 'href="d/x.html"')
    assert sidebar.opened(themed("none.html"), "far.html", ["gone.html"]) == themed("none.html")


def test_every_symbol_is_set_as_mathml() -> None:
    """Formulas of a report need no script."""
    assert all("</math>" in formulas.typeset(symbol.latex, False, formulas.MATHML)
               for symbol in catalogue.symbols().values())


def paragraph(text: str) -> nodes.paragraph:
    return nodes.paragraph(text, text)


def dropdown(title: str, *classes: str) -> nodes.container:
    return nodes.container("", nodes.rubric(title, title), container_classes=list(classes))


BELOW = nodes.section("", nodes.title("", "below"))


@pytest.mark.parametrize(("children", "texts"), [
    ([paragraph("answer"), dropdown("why", ONWARDS), paragraph("formula"), paragraph("table"),
      nodes.target("", "", refid="below"), BELOW],
     ["answer", "why\n\nformula\n\ntable", "", "below"]),
    ([dropdown("one", ONWARDS), paragraph("a"), dropdown("two", ONWARDS), paragraph("b")],
     ["one\n\na", "two\n\nb"]),
    ([dropdown("own", "wide"), paragraph("after")], ["own", "after"]),
])
def test_a_fold_takes_what_follows_up_to_the_next_fold_or_heading(
        children: list[nodes.Node], texts: list[str]) -> None:
    document = new_document("page", get_default_settings())
    document += nodes.section("", *children)
    RestOfSection(document).apply()
    assert [child.astext() for child in document[0]] == texts


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_survives_markdown(text: str) -> None:
    """The parser of the book makes one paragraph of text and code of it."""
    visible = "".join(char for char in text if char.isprintable())
    hidden = words.hidden("x " + visible)
    assert words.revealed(hidden) == " ".join(f"x {visible}".split())
    parser = MarkdownIt("commonmark").enable("table")
    opened, inline, closed = parser.parse(words.markdown(hidden))
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert {child.type for child in inline.children} <= {"text", "code_inline", "text_special"}
