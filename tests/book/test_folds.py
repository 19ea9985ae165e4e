"""A dropdown that goes on beyond its cell holds the rest of its section, and nothing else."""

from __future__ import annotations

from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.utils import new_document

from _ext import ONWARDS, RestOfSection


def paragraph(text: str) -> nodes.paragraph:
    return nodes.paragraph(text, text)


def dropdown(title: str, *classes: str) -> nodes.container:
    return nodes.container("", nodes.rubric(title, title), container_classes=list(classes))


def folded(*children: nodes.Node) -> nodes.section:
    """A section of these, after the dropdowns took what is theirs."""
    document = new_document("page", get_default_settings())
    section = nodes.section("", *children)
    document += section
    RestOfSection(document).apply()
    return section


def test_it_takes_what_follows_up_to_the_next_heading() -> None:
    below = nodes.section("", nodes.title("", "below"))
    label = nodes.target("", "", refid="below")
    section = folded(paragraph("answer"), dropdown("why", ONWARDS), paragraph("formula"),
                     paragraph("table"), label, below)
    assert [child.astext() for child in section] == [
        "answer", "why\n\nformula\n\ntable", "", "below"]
    assert label.parent is section  # a label stays with its heading


def test_the_next_one_ends_it() -> None:
    section = folded(dropdown("one", ONWARDS), paragraph("a"), dropdown("two", ONWARDS),
                     paragraph("b"))
    assert [child.astext() for child in section] == ["one\n\na", "two\n\nb"]


def test_other_dropdowns_hold_what_is_in_them() -> None:
    section = folded(dropdown("own", "wide"), paragraph("after"))
    assert [child.astext() for child in section] == ["own", "after"]
