"""The contents in the sidebar: made once for the pages of a folder, marked for each page.

The theme makes them anew for every page, though pages of a folder differ only in what is open. Here
it makes them for a page that stands in the folder and not in the contents. They name a chapter by
its keyword, what stands before the colon of its heading. Pages of a template, one per entry of the
catalogue, are found in their overview, which is marked in their place.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment.adapters.toctree import TocTree

NOBODY = "-"  # the name of no page
DEEP = 2  # folders above a page of a template
KEYWORD = re.compile("[:：]")  # ends the keyword of a heading


def listed(contents: nodes.Element, folder: str) -> nodes.Element:
    """The contents without pages of a template, every other under its keyword.

    Args:
        contents: lists of references, as Sphinx resolves them for a page; they are changed.
        folder: of that page, which the addresses are relative to.
    """
    for entry in list(contents.findall(nodes.list_item)):
        reference = next(entry.findall(nodes.reference))
        if posixpath.normpath(posixpath.join(folder, reference["refuri"])).count("/") >= DEEP:
            entry.parent.remove(entry)
        else:
            keyword = KEYWORD.split(reference.astext(), maxsplit=1)[0]
            reference.children = []
            reference += nodes.Text(keyword)
    for below in list(contents.findall(nodes.bullet_list)):
        if not below.children:
            below.parent.remove(below)
    return contents


def opened(contents: str, addresses: Sequence[str]) -> str:
    """The contents with the page marked as the open one, and all it stands in.

    Args:
        contents: as the theme writes them.
        addresses: of the page, then of those above it, nearest first; a page that is not listed has
            the first of those marked that is.
    """
    soup = BeautifulSoup(contents, "html.parser")
    for index, address in enumerate(addresses):
        link: Any = soup.find("a", href=address)
        if link:
            link["class"] = ["current", *link["class"]]
            if not index:
                link["href"] = "#"
            for entry in link.find_parents("li"):
                entry["class"][1:1] = ["current", "active"]
                if below := entry.find("details", recursive=False):
                    below["open"] = "open"
            for entries in link.find_parents("ul"):
                entries["class"] = ["current", *entries.get("class", ())]
            break
    return str(soup)


def setup(app: Sphinx) -> None:
    """Offer the contents to the template of the sidebar, in the place of the theme's function."""
    trees: dict[str, str] = {}

    def offer(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
              doctree: nodes.document | None) -> None:
        builder = app.builder
        folder, address = posixpath.split(builder.get_target_uri(pagename))

        def contents(**options: Any) -> str:
            if folder not in trees:
                assert isinstance(builder, StandaloneHTMLBuilder)
                own = context["toctree"]
                context["toctree"] = lambda **chosen: builder.render_partial(listed(
                    TocTree(app.env).get_toctree_for(
                        posixpath.join(folder, NOBODY), builder, **chosen), folder))["fragment"]
                trees[folder] = str(context["generate_toctree_html"](**options))
                context["toctree"] = own
            above = [parent["link"] for parent in reversed(context.get("parents", ()))]
            return opened(trees[folder], [address, *above])

        context["contents"] = contents

    app.connect("html-page-context", offer)
