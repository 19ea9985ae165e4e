"""How long the book takes to build: from nothing, and with nothing changed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

PYTHON = Path(sys.executable)
MADE = (".git", ".venv", "_build", "chapters", ".*_cache", "__pycache__")  # stay behind


def build(tree: Path, python: Path = PYTHON, told: Mapping[str, str] | None = None,
          umask: int = -1) -> float:
    """Build the book of a tree; return how long it took [s]. SystemExit if it fails.

    `python` lies in the environment that is used, `told` are variables of it.
    """
    paths = os.pathsep.join(map(str, (tree, tree / "book")))
    begun = time.monotonic()
    done = subprocess.run([python, python.with_name("jupyter-book"), "build", "book/"], cwd=tree,
                          capture_output=True, text=True, check=False, umask=umask,
                          env={**os.environ, **(told or {}), "PYTHONPATH": paths})
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
        return build(copy), build(copy)
