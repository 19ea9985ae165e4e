"""Notebooks for download: in the language of the page, for the installed package.

What the theme copies is the source of both languages, with roles that only the book resolves.
"""

from __future__ import annotations

import ast
import functools
import json
import posixpath
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from .. import languages, pipeline
from ..finding import written
from . import bundle

GLUED = re.compile(r"\{glue:text\}`([^`]+)`")
LABEL = re.compile(r"^\([\w@-]+\)=\n", re.MULTILINE)
ROLE = re.compile(r"\{\w+(?::\w+)?\}`(?:([^`<]+?) ?<[^`>]+>|([^`]+))`")
FIGURE = re.compile(r"^:::+\{glue:figure\} (\S+)\n((?:^:.*\n)*)\n?(.*?)^:::+$",
                    re.MULTILINE | re.DOTALL)
ALT = re.compile(r"^:alt: (.*)$", re.MULTILINE)
PREFIX = "application/papermill.record/"
TEXT, DRAWING = "text/plain", "image/svg+xml"
INSTALL = '''\
# {purpose}
import importlib.util
import subprocess
import sys
from pathlib import Path

ENGINE = Path("will_it_fit-{version}-py3-none-any.whl")
if importlib.util.find_spec("will_it_fit") is None:
    if not ENGINE.is_file():
        raise SystemExit(f"{{ENGINE}} {missing}")
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", f"{{ENGINE}}[book]"],
                   check=True)\
'''
WORDS = {
    "en": {"purpose": "The engine: one file of the site's folder engine/, beside this notebook.",
           "missing": "is not here: take it from the folder engine/ of the site."},
    "zh": {"purpose": "引擎：站点 engine/ 目录下的一个文件，与本 notebook 放在同一目录。",
           "missing": "不在当前目录，请从站点的 engine/ 目录下载。"},
}


@functools.cache
def _glued(path: Path, changed: float) -> dict[str, dict[str, str]]:
    """MIME type -> name -> content of the glued outputs of an executed notebook."""
    glued: dict[str, dict[str, str]] = {TEXT: {}, DRAWING: {}}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name", "")
            for kind, texts in glued.items():
                if text := "".join(output.get("data", {}).get(f"{PREFIX}{kind}", "")):
                    texts[name] = text
    return glued


def plain(text: str) -> str:
    """Evaluate the literal of a text; return any other text unchanged."""
    try:
        return str(ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return text


def spoken(text: str, page: Path, source: Path) -> str:
    """Return the prose of a cell with its numbers filled in and without roles."""
    def number(match: re.Match[str]) -> str:
        other, _, key = match[1].rpartition("::") if "::" in match[1] else ("", "", match[1])
        name = key.partition(":")[0]
        path = source / posixpath.normpath(other) if other else page
        if not path.is_file():
            path = page.parent / other
        texts = _glued(path, path.stat().st_mtime)[TEXT] if path.is_file() else {}
        return plain(texts[name]) if name in texts else match[0]

    def words(match: re.Match[str]) -> str:
        return match[1] or match[2]

    return ROLE.sub(words, LABEL.sub("", GLUED.sub(number, text)))


def attach(cell: dict[str, Any], drawings: dict[str, str]) -> None:
    """Put a figure's drawing into the cell that shows it, above its caption."""
    def shown(match: re.Match[str]) -> str:
        drawing, alt = drawings.get(match[1]), ALT.search(match[2])
        caption = " ".join(match[3].split())
        if drawing is None:
            return caption
        cell.setdefault("attachments", {})[f"{match[1]}.svg"] = {DRAWING: drawing}
        return f"![{alt[1] if alt else ''}](attachment:{match[1]}.svg)\n\n{caption}"

    cell["source"] = FIGURE.sub(shown, cell["source"])


def portable(page: Path, source: Path, tag: str) -> str:
    """Return the notebook in one language as JSON, with a first cell that installs the wheel."""
    notebook = languages.filtered(json.loads(page.read_text(encoding="utf-8")), tag)
    install: dict[str, Any] = {
        "cell_type": "code", "execution_count": None, "id": "engine", "metadata": {}, "outputs": [],
        "source": INSTALL.format(version=version("will-it-fit"), **WORDS[tag])}
    cells = [cell for cell in notebook["cells"] if "".join(cell["source"]).strip()]
    drawings = _glued(page, page.stat().st_mtime)[DRAWING]
    for cell in cells:
        if cell["cell_type"] == "markdown":
            cell["source"] = spoken("".join(cell["source"]), page, source)
            attach(cell, drawings)
        else:
            cell["source"] = bundle.bundled("".join(cell["source"]))
    notebook["cells"] = [install, *cells]
    return json.dumps(notebook, ensure_ascii=False, indent=1) + "\n"


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Replace the copies of notebooks that this pass wrote."""
    if exception or app.builder.name != "html":
        return
    tag, source = languages.tag_of(app.config.language), Path(app.srcdir)
    for name in written:
        target = Path(app.outdir) / "_sources" / f"{name}.ipynb"
        if target.is_file():
            page = Path(app.env.doc2path(name))
            pipeline.put(target, portable(page, source, tag).encode())


def setup(app: Sphinx) -> None:
    """Connect the handler."""
    app.connect("build-finished", finish, priority=800)
