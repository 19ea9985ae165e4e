"""Runs the notebooks and builds the book in two languages; no number of its own."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from . import downloads, finding, languages, passes, pipeline
from .export import portable
from .setting import katex, sidebar
from .sharing import addresses

PARTS = ("_ext", "_templates", "assets", "locales")
ONWARDS = "rest-of-section"  # class of a dropdown that goes on beyond its own cell


def version(book: Path) -> str:
    """Hash everything that shapes a page besides its source: what changes makes all pages new."""
    files = [path for part in PARTS for path in pipeline.files_below(book / part)
             if path.suffix != ".mo"]
    for name in ("glossary", "symptoms"):  # marked on all pages, and indexed with them
        files += book.parent.glob(f"params/{name}.yml")
    return pipeline.digest(*(part for path in files for part in (path.name, path.read_bytes())))


class RestOfSection(SphinxTransform):
    """A dropdown of the class ``rest-of-section`` also holds what follows it in its section.

    A directive ends with its cell; what a derivation shows comes from several. The next such
    dropdown, and any heading, ends it.
    """

    default_priority = 850  # labels have found their headings by then

    def apply(self, **options: Any) -> None:
        """Move what follows into the dropdown."""
        for node in list(self.document.findall(nodes.container)):
            if ONWARDS not in node.get("container_classes", []):
                continue
            siblings = node.parent.children
            behind = siblings[siblings.index(node) + 1:]
            taken = list(itertools.takewhile(lambda other: not self._ends(other), behind))
            while taken and isinstance(taken[-1], nodes.target):
                taken.pop()  # the label of the next heading
            for other in taken:
                node.parent.remove(other)
            node += taken

    @staticmethod
    def _ends(node: nodes.Node) -> bool:
        return isinstance(node, nodes.section) or (
            isinstance(node, nodes.container) and ONWARDS in node.get("container_classes", []))


def no_raw_html(app: Sphinx) -> None:
    """No directive of docutils writes HTML as it stands."""
    app.env.settings["raw_enabled"] = False


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parts of the extension."""
    app.add_transform(RestOfSection)
    app.connect("builder-inited", no_raw_html)
    app.add_config_value("comments_config", {}, "html")  # jupyter-book sets it in any case
    passes.setup(app)
    downloads.setup(app)
    languages.setup(app)
    katex.setup(app)
    sidebar.setup(app)
    finding.setup(app)
    portable.setup(app)
    addresses.setup(app)
    return {"version": "1", "env_version": version(Path(app.srcdir)),
            "parallel_read_safe": True, "parallel_write_safe": True}
