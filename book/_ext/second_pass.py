"""Build the book in its second language; the first pass starts this file as its own process.

Arguments are NAME=VALUE. Warnings go to standard error, uncoloured, one after another.
"""

from __future__ import annotations

import sys
from pathlib import Path

import lifeline
from jupyter_book.sphinx import build_sphinx
from sphinx.util import console


def main(arguments: list[str]) -> int:
    """Build as the arguments say; return the exit code."""
    lifeline.hold()
    settings = dict(argument.split("=", maxsplit=1) for argument in arguments)
    console.nocolor()
    overrides = {
        "language": settings["language"], "nitpicky": bool(int(settings["nitpicky"])),
        "external_toc_path": settings["external_toc_path"], "latex_individualpages": False,
    }
    result = build_sphinx(
        settings["sourcedir"], settings["outputdir"], noconfig=True, confoverrides=overrides,
        path_config=settings["path_config"], doctreedir=Path(settings["doctreedir"]),
        quiet=True,
    )
    return 0 if result in (0, None) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
