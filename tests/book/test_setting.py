"""What the book does faster than Sphinx and the theme comes out as they make it."""

from __future__ import annotations

import pickle
from typing import Any

import bs4
import pytest
from docutils import nodes
from pydata_sphinx_theme.toctree import add_collapse_checkboxes
from sphinx.util.nodes import NodeMatcher

from _ext.setting import quotes, sidebar, trees

trees.setup()  # as in a build; it is not taken back

def page() -> nodes.section:
    """A section with two paragraphs, one in a note, and a list of numbered items."""
    words = [nodes.paragraph("", "", nodes.Text(word), nodes.strong("", word, ids=[word]))
             for word in ("one", "two")]
    items = (nodes.list_item("", nodes.paragraph("", str(i))) for i in range(3))
    return nodes.section("", nodes.title("", "Title"), words[0], nodes.note("", words[1]),
                         nodes.bullet_list("", *items))


@pytest.mark.parametrize("condition", [
    None, nodes.paragraph, nodes.Text, nodes.TextElement, nodes.classifier,
    NodeMatcher(nodes.strong, nodes.title, ids=["two"]), NodeMatcher(ids=Any),
    lambda node: len(node.children) > 1])
def test_a_walk_finds_what_that_of_docutils_finds(condition: Any) -> None:
    """Of all ways to walk: also from within the page, over what follows, and without itself."""
    whole = page()
    for start in (whole, whole[1], whole[2]):
        for ways in ({}, {"include_self": False}, {"siblings": True}, {"descend": False},
                     {"ascend": True, "include_self": False}):
            found = [id(node) for node in trees.findall(start, condition, **ways)]
            assert found == [id(node) for node in trees.around(start, condition, **ways)]


def test_a_walk_sees_what_is_changed_under_way_as_that_of_docutils() -> None:
    said = []
    for walk in (trees.around, trees.findall):
        whole = page()
        for node in walk(whole, nodes.paragraph):
            node.replace_self([nodes.paragraph("", "new"), *node.children])
            if len(whole.pformat()) > 2000:
                break
        said.append(whole.pformat())
    assert said[0] == said[1]


def test_nodes_are_found_that_were_read_from_a_file_and_of_classes_not_met_before(
        monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "made", {nodes.Text})
    monkeypatch.setattr(trees, "_met", set())
    kept = pickle.dumps(page())
    trees.made.intersection_update({nodes.Text})
    empty = nodes.container()
    assert not list(trees.findall(empty, nodes.paragraph))
    assert len(list(trees.findall(pickle.loads(kept), nodes.paragraph))) == 5
    assert not list(trees.findall(empty, nodes.attention))
    empty += nodes.attention()
    assert list(trees.findall(empty, nodes.Admonition)) == list(empty.children)


@pytest.mark.parametrize(("text", "plain"), [
    ("no marks: 3.5 - 4, a, b.", True), ("it's", False), ('a "word"', False), ("so ...", False),
    (r"a \- b", False)])
def test_a_text_without_marks_is_not_looked_at_for_quotes(text: str, plain: bool) -> None:
    assert isinstance(nodes.paragraph("", "", nodes.strong("", text)), quotes.Unmarked) is plain
    assert not isinstance(nodes.section(), quotes.Unmarked)


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


def test_a_page_that_is_not_listed_marks_the_nearest_that_is_and_leaves_it_a_link() -> None:
    found = sidebar.opened(themed("none.html"), "d/x/one.html", ["d/x.html", "d.html"])
    assert found == themed("d/x.html").replace('href="#"', 'href="d/x.html"')
    assert sidebar.opened(themed("none.html"), "far.html", ["gone.html"]) == themed("none.html")


def test_chapters_are_listed_by_their_keyword_and_pages_of_a_template_are_not() -> None:
    def entry(address: str, title: str, *below: nodes.Node) -> nodes.list_item:
        link = nodes.reference("", "", nodes.Text(title), refuri=address)
        return nodes.list_item("", nodes.paragraph("", "", link), *below)

    pages = nodes.bullet_list("", entry("../devices/a.html", "A: B"), entry("x/b.html", "B"))
    some = nodes.bullet_list("", entry("c.html", "C"), entry("../links.html", "链路：宽"))
    contents = nodes.container("", nodes.bullet_list(
        "", entry("../devices.html", "Devices: all", pages), entry("../../own.html", "Own", some)))
    found = sidebar.listed(contents, "chapters/devices")
    assert [link.astext() for link in found.findall(nodes.reference)] == ["Devices", "Own", "链路"]
    assert len(list(found.findall(nodes.bullet_list))) == 2
