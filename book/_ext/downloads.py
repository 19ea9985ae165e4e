"""Files that a page offers: an output of its notebook carries them, reading the page writes them.

An output that links to a file by the ``download`` role has its text in the metadata, under
``file``: name -> text. A plot or a diagram has its numbers there, under ``numbers``; the link to
them is put below it here, so that no page has to. Files are written beside the notebook, from where
Sphinx takes them into the site of each language.

An output may also carry scripts, under ``script``: they go to the folder of the site's own scripts,
``_static/calculators``, which a page finds without knowing where it stands itself.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from . import pipeline

CARRIED, SCRIPT, BEHIND = "file", "script", "numbers"
SCRIPTS = "calculators"  # the folder below the site's static files
PICTURES = ("image/svg+xml", "text/html")  # a plot, a diagram
CLASS = "numbers"  # of the link
FIRST = 300  # before Sphinx collects images and downloads of a page, at 500

translate = get_translation("sphinx")


@lru_cache(maxsize=1)  # of the page that is read
def _outputs(notebook: str) -> list[dict[str, Any]]:
    return [output for cell in json.loads(notebook)["cells"] for output in cell.get("outputs", ())]


def behind(notebook: str, stem: str) -> Iterator[tuple[str, str, str]]:
    """Hash, file name and text of the numbers behind each picture of an executed notebook.

    A plot is named by myst-nb by this hash. The file is named by the page and the figure, one
    without a name by its place and its language.
    """
    for index, output in enumerate(_outputs(notebook)):
        data, metadata = output.get("data", {}), output.get("metadata", {})
        text = next((metadata[kind][BEHIND] for kind in PICTURES
                     if metadata.get(kind, {}).get(BEHIND)), "")
        picture = next((data[mime] for mime in data if mime.endswith(PICTURES)), None)
        if not text or picture is None:
            continue
        name = metadata.get("scrapbook", {}).get("name") or f"{index}_{metadata.get('lang', '')}"
        name = f"{stem}-{name.removeprefix(f'{stem}-')}.csv"
        yield _hash("".join(picture)), name, text


def _hash(picture: str) -> str:
    return hashlib.sha256(os.linesep.join(picture.splitlines()).encode()).hexdigest()


def write(app: Sphinx, docname: str, source: list[str]) -> None:
    """Write what the notebook of a page carries, before its links are looked up."""
    path = Path(app.env.doc2path(docname))
    app.env.temp_data[BEHIND] = pictures = {}
    if path.suffix != ".ipynb":
        return
    for output in _outputs(source[0]):
        for kind in (CARRIED, SCRIPT):
            for name, text in output.get("metadata", {}).get(kind, {}).items():
                pipeline.put(path.with_name(name), text.encode())
    for picture, name, text in behind(source[0], path.stem):
        pipeline.put(path.with_name(name), b"\xef\xbb\xbf" + text.encode())
        pictures[picture] = name


def link_pictures(app: Sphinx, page: nodes.document) -> None:
    """Put the link to its numbers below each picture: under the caption where there is one."""
    pictures = app.env.temp_data.get(BEHIND, {})
    if not pictures:
        return
    outputs = [*((Path(image["uri"]).stem, image) for image in page.findall(nodes.image)),
             *((_hash(drawn.astext()), drawn) for drawn in page.findall(nodes.raw))]
    for key, picture in outputs:
        name = pictures.get(key)
        if name is None:
            continue
        words = translate("The numbers behind this figure (CSV)")
        link = addnodes.download_reference("", "", nodes.inline("", words), reftarget=name,
                                           refdoc=app.env.docname, classes=[CLASS])
        line = nodes.paragraph("", "", link, classes=[CLASS])
        figure = picture.parent
        while figure is not None and not isinstance(figure, nodes.figure):
            figure = figure.parent
        if figure is None:
            picture.parent.insert(picture.parent.index(picture) + 1, line)
        else:
            figure += nodes.legend("", line)


def publish(app: Sphinx, exception: Exception | None) -> None:
    """Copy the scripts that notebooks carried to the site, where they are not there already."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / SCRIPTS
    for script in sorted((Path(app.srcdir) / "chapters").glob("*.js")):
        pipeline.put(folder / script.name, script.read_bytes())


def setup(app: Sphinx) -> None:
    """Connect the handlers."""
    app.connect("source-read", write)
    app.connect("doctree-read", link_pictures, priority=FIRST)
    app.connect("build-finished", publish)
