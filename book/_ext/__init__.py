"""Runs the notebooks and builds the book in two languages; no number of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from . import downloads, languages, outlines, passes, pipeline, search_zh
from .setting import formulas

PARTS = ("_ext", "_templates", "assets", "locales")


def _version(book: Path) -> str:
    """Hash everything that shapes a page besides its source: what changes makes all pages new."""
    files = [path for part in PARTS for path in pipeline.files_below(book / part)
             if path.suffix != ".mo"]
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


def _insert_nothing(app: Sphinx) -> None:
    """No directive of docutils reads a file or writes HTML as it stands."""
    for setting in ("raw_enabled", "file_insertion_enabled"):
        app.env.settings[setting] = False


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parts of the extension."""
    app.add_directive("parameters", Parameters)
    app.connect("builder-inited", _insert_nothing)
    app.add_config_value("comments_config", {}, "html")  # jupyter-book sets it in any case
    passes.setup(app)
    downloads.setup(app)
    languages.setup(app)
    formulas.setup(app)
    outlines.setup(app)
    app.add_search_language(search_zh.SearchChineseBigrams)
    return {"version": "1", "env_version": _version(Path(app.srcdir)),
            "parallel_read_safe": True, "parallel_write_safe": True}
