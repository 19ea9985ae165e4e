"""Runs the notebooks and builds the book in two languages; no number of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from . import languages, passes, pipeline, search_zh

PARTS = ("_ext", "_templates", "assets", "locales")


def _version(book: Path) -> str:
    """Hash everything that shapes a page besides its source: what changes makes all pages new."""
    files = [path for part in PARTS for path in pipeline.files_below(book / part)
             if path.suffix != ".mo"]
    return pipeline.digest(*(part for path in files for part in (path.name, path.read_bytes())))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the parts of the extension."""
    app.add_config_value("comments_config", {}, "html")  # jupyter-book sets it in any case
    passes.setup(app)
    languages.setup(app)
    app.add_search_language(search_zh.SearchChineseBigrams)
    return {"version": "1", "env_version": _version(Path(app.srcdir)),
            "parallel_read_safe": True, "parallel_write_safe": True}
