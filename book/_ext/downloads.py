"""Files that a page offers: an output of its notebook carries them, reading the page writes them.

Such an output links to the file by the ``download`` role and has its text in the metadata, under
``file``: name -> text. The file is written beside the notebook, from where Sphinx takes it into
the site of each language.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

from . import pipeline

CARRIED = "file"


def carried(notebook: str) -> Iterator[tuple[str, str]]:
    """Name and text of each file that the outputs of an executed notebook carry."""
    for cell in json.loads(notebook)["cells"]:
        for output in cell.get("outputs", ()):
            yield from output.get("metadata", {}).get(CARRIED, {}).items()


def _write(app: Sphinx, docname: str, source: list[str]) -> None:
    """Write what the notebook of a page carries, before its links are looked up."""
    path = Path(app.env.doc2path(docname))
    if path.suffix == ".ipynb":
        for name, text in carried(source[0]):
            pipeline.put(path.with_name(name), text.encode(), path.parent)


def setup(app: Sphinx) -> None:
    """Connect the handler."""
    app.connect("source-read", _write)
