"""Build the book in its second language; the first pass starts this file as its own process.

Its argument is a JSON object of settings. Warnings go to standard error, uncoloured, one after
another.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import lifeline
from jupyter_book.sphinx import build_sphinx
from sphinx.util import console


def main(settings: dict[str, str | bool]) -> int:
    """Build as the first pass says; return the exit code."""
    lifeline.hold()
    console.nocolor()
    overrides = {name: settings[name] for name in ("language", "nitpicky", "external_toc_path")}
    result = build_sphinx(
        settings["sourcedir"], settings["outputdir"], noconfig=True,
        confoverrides=overrides | {"latex_individualpages": False},
        path_config=settings["path_config"], doctreedir=Path(str(settings["doctreedir"])),
        quiet=True)
    return 0 if result in (0, None) else 1


if __name__ == "__main__":
    code = main(json.loads(sys.argv[1]))
    sys.stderr.flush()
    os._exit(code)  # what it has read is not taken apart again
