"""Dropdowns that take in what follows, and texts of files as Markdown."""

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from _ext import ONWARDS, RestOfSection
from catalogue.reading import words


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
