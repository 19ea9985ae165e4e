"""Which parameter files a program has read: the book's pipeline reruns a page when one changes.

When the environment variable ``PARAMS_RECORD`` names a file, every parameter file loaded (and
every folder listed, with a trailing slash) is appended to it, relative to ``params/``.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "params"
_noted: set[tuple[Path, bool]] = set()


def record(path: Path, *, listing: bool = False) -> bool:
    """Note that ``path`` was read (or, with ``listing``, that a folder was listed).

    Returns whether that was news.
    """
    if (path, listing) in _noted or not (target := os.environ.get("PARAMS_RECORD")):
        return False
    _noted.add((path, listing))
    path = path.resolve()
    inside = path.is_relative_to(ROOT)
    line = (path.relative_to(ROOT).as_posix() if inside else str(path)) + "/" * listing
    with Path(target).open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return True
