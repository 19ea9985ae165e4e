"""The contents in the sidebar: made once for the pages of a folder, marked for each page.

The theme makes them anew for every page, though pages of a folder differ only in what is open. Here
it makes them for a page that stands in the folder and not in the contents.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment.adapters.toctree import TocTree

NOBODY = "-"  # the name of no page
AROUND = re.compile(r'<(?P<name>ul|li)(?: class="(?P<classes>[^"]*)")?>|</(?:ul|li)>')
LINK, OPEN_LINK = '<a class="reference internal" href="{}">', (
    '<a class="current reference internal" href="#">')
BELOW, OPEN_BELOW = "<details>", '<details open="open">'


def opened(contents: str, address: str) -> str:
    """The contents with the page at this address marked as the open one, and all it stands in."""
    before, link, after = contents.partition(LINK.format(address))
    if not link:
        return contents
    within: list[re.Match[str]] = []
    for tag in AROUND.finditer(before):
        if tag["name"]:
            within.append(tag)
        else:
            within.pop()
    rest = OPEN_LINK + after
    for tag in reversed(within):
        rest = before[tag.end():] + rest
        before = before[:tag.start()]
        classes = (tag["classes"] or "").split()
        if tag["name"] == "li":
            classes[1:1] = ["current", "active"]
            rest = rest.replace(BELOW, OPEN_BELOW, "has-children" in classes)
        else:
            classes.insert(0, "current")
        rest = f'<{tag["name"]} class="{" ".join(classes)}">{rest}'
    return before + rest


def setup(app: Sphinx) -> None:
    """Offer the contents to the template of the sidebar, in the place of the theme's function."""
    made: dict[str, str] = {}

    def offer(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
              doctree: nodes.document | None) -> None:
        builder = app.builder
        folder, address = posixpath.split(builder.get_target_uri(pagename))

        def contents(**options: Any) -> str:
            if folder not in made:
                assert isinstance(builder, StandaloneHTMLBuilder)
                own = context["toctree"]
                context["toctree"] = lambda **chosen: builder.render_partial(
                    TocTree(app.env).get_toctree_for(
                        posixpath.join(folder, NOBODY), builder, **chosen))["fragment"]
                made[folder] = str(context["generate_toctree_html"](**options))
                context["toctree"] = own
            return opened(made[folder], address)

        context["contents"] = contents

    app.connect("html-page-context", offer)
