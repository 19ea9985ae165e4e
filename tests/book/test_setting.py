"""What the book does itself instead of docutils, Sphinx and the theme: compared with theirs."""

from typing import Any

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sphinx.util.nodes import NodeMatcher

from _ext import ONWARDS, RestOfSection
from _ext.setting import trees
from catalogue.reading import words

trees.setup()  # as in a build


def page():
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
def test_walks_find_the_nodes_that_docutils_finds(condition):
    root = page()
    for start in (root, root[1], root[2]):
        for ways in ({}, {"include_self": False}, {"siblings": True}, {"descend": False},
                     {"ascend": True, "include_self": False}):
            nodes_found = [id(node) for node in trees.findall(start, condition, **ways)]
            assert nodes_found == [id(node) for node in trees.around(start, condition, **ways)]


def paragraph(text):
    return nodes.paragraph(text, text)


def dropdown(title, *classes):
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
def test_a_fold_takes_what_follows_up_to_the_next_fold_or_heading(children, texts):
    document = new_document("page", get_default_settings())
    document += nodes.section("", *children)
    RestOfSection(document).apply()
    assert [child.astext() for child in document[0]] == texts


@given(st.text(st.characters(codec="utf-8"), max_size=200))
def test_any_text_survives_markdown(text):
    """The parser of the book makes one paragraph of text and code of it."""
    visible = "".join(char for char in text if char.isprintable())
    hidden = words.hidden("x " + visible)
    assert words.revealed(hidden) == " ".join(f"x {visible}".split())
    parser = MarkdownIt("commonmark").enable("table")
    opened, inline, closed = parser.parse(words.markdown(hidden))
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert {child.type for child in inline.children} <= {"text", "code_inline", "text_special"}
