"""Build the book in its second language; the first pass starts this file as its own process.

It imports what it needs while the notebooks still run, and begins when it gets a line on standard
input: a JSON object of settings. Warnings go to standard error, uncoloured, one after another.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import sys
from pathlib import Path

import lifeline
from jupyter_book.sphinx import build_sphinx
from sphinx.util import console

LARGE = ("myst_nb", "sphinx_book_theme", "sphinx_design", "sphinx_external_toc")


def settings() -> dict[str, str | bool]:
    """What the first pass says, byte by byte: nothing is taken of what comes after the line."""
    line = b""
    while not line.endswith(b"\n"):
        if not (byte := os.read(0, 1)):
            sys.exit(1)  # the first pass is gone, or has nothing to build
        line += byte
    said: dict[str, str | bool] = json.loads(line)
    return said


def main() -> int:
    """Build as the first pass says; return the exit code."""
    if lifeline.TOLD:  # else standard input is read first
        lifeline.hold()
    for name in LARGE:
        with contextlib.suppress(ImportError):  # the build says so
            importlib.import_module(name)
    chosen = settings()
    if not lifeline.TOLD:
        lifeline.hold()
    console.nocolor()
    overrides = {name: chosen[name] for name in ("language", "nitpicky", "external_toc_path")}
    result = build_sphinx(
        chosen["sourcedir"], chosen["outputdir"], noconfig=True,
        confoverrides=overrides | {"latex_individualpages": False},
        path_config=chosen["path_config"], doctreedir=Path(str(chosen["doctreedir"])), quiet=True)
    return 0 if result in (0, None) else 1


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)  # what it has read is not taken apart again
