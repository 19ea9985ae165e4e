"""Runs the notebooks and builds the book in two languages; no number of its own."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from . import downloads, finding, languages, passes, pipeline
from .setting import formulas, sidebar
from .sharing import addresses
from .taking import portable

PARTS = ("_ext", "_templates", "assets", "locales")
ONWARDS = "rest-of-section"  # class of a dropdown that goes on beyond its own cell


def _version(book: Path) -> str:
    """Hash everything that shapes a page besides its source: what changes makes all pages new."""
    files = [path for part in PARTS for path in pipeline.files_below(book / part)
             if path.suffix != ".mo"]
    for name in ("glossary", "symptoms"):  # marked on all pages, and indexed with them
        files += book.parent.glob(f"params/{name}.yml")
    return pipeline.digest(*(part for path in files for part in (path.name, path.read_bytes())))


class Parameters(SphinxDirective):
    """Lines of a file in ``params/``, the only files that a page may show."""

    required_arguments = 1
    option_spec = {"start-at": directives.unchanged_required,  # noqa: RUF012  docutils reads it so
                   "end-before": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Give the lines from the first that has one text up to the first that has the other."""
        folder = Path(self.env.srcdir).parent / "params"
        path = (folder / self.arguments[0]).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise self.error(f"{self.arguments[0]} is no file of params/")
        self.env.note_dependency(str(path))
        lines = path.read_text(encoding="utf-8").splitlines()
        first = next(i for i, line in enumerate(lines) if self.options["start-at"] in line)
        last = next(i for i in range(first, len(lines)) if self.options["end-before"] in lines[i])
        text = "\n".join(lines[first:last])
        return [nodes.literal_block(text, text, language="yaml")]


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


def _insert_nothing(app: Sphinx) -> None:
    """No directive of docutils reads a file or writes HTML as it stands."""
    for setting in ("raw_enabled", "file_insertion_enabled"):
        app.env.settings[setting] = False


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parts of the extension."""
    app.add_directive("parameters", Parameters)
    app.add_transform(RestOfSection)
    app.connect("builder-inited", _insert_nothing)
    app.add_config_value("comments_config", {}, "html")  # jupyter-book sets it in any case
    passes.setup(app)
    downloads.setup(app)
    languages.setup(app)
    formulas.setup(app)
    sidebar.setup(app)
    finding.setup(app)
    portable.setup(app)
    addresses.setup(app)
    return {"version": "1", "env_version": _version(Path(app.srcdir)),
            "parallel_read_safe": True, "parallel_write_safe": True}
