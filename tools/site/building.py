"""How long the book takes to build: from nothing, and with nothing changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = Path(sys.executable).with_name("jupyter-book")
MADE = (".git", ".venv", "_build", "chapters", ".*_cache", "__pycache__")  # stay behind


def _build(tree: Path) -> float:
    """Build the book of a tree; return how long it took [s]. SystemExit if it fails."""
    paths = os.pathsep.join(map(str, (tree, tree / "book")))
    begun = time.monotonic()
    done = subprocess.run([COMMAND, "build", "book/"], cwd=tree, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": paths})
    if done.returncode:
        raise SystemExit(f"The book was not built: {done.stderr.strip()[-1000:]}")
    return time.monotonic() - begun


def timed(root: Path) -> tuple[float, float]:
    """Build a copy of the tree twice; return both durations [s]."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "tree"
        ignored = shutil.ignore_patterns(*MADE)
        shutil.copytree(root, copy, ignore=lambda place, names: {
            name for name in ignored(place, names)
            if name != "chapters" or Path(place).name == "book"})
        return _build(copy), _build(copy)
