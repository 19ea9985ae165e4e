"""Processor time of a cold build of the book and of the tests, on a copy of the working tree."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.trees import Tree, checkout, cpu, run, used
from tools.baseline import git

NOTEBOOKS = """
import sys
from pathlib import Path
sys.path.insert(0, "book")
from _ext import pipeline
pipeline.build(Path.cwd())
"""


@contextmanager
def _copy() -> Iterator[Tree]:
    """A temporary worktree of the tracked files as they are, with this interpreter."""
    with checkout(git("stash", "create") or "HEAD") as root:  # a commit that no branch has
        yield Tree(root, Path(sys.executable))


def measure() -> dict[str, tuple]:
    """Seconds of all notebooks and of one, then of the pages that Sphinx makes of them."""
    with _copy() as tree:
        notebooks = cpu(tree, "-c", NOTEBOOKS)
        count = sum(1 for _ in (tree.root / "book/chapters").rglob("*.ipynb"))
        pages = cpu(tree, tree.python.with_name("jupyter-book"), "build", "book/")
    return {"build_notebooks": (notebooks, "s", f"{count} notebooks, of the processor"),
            "build_per_notebook": (notebooks / count, "s"),
            "build_pages": (pages, "s", "notebooks up to date")}


def measure_tests() -> dict[str, tuple]:
    """Seconds of ``make test``."""
    with _copy() as tree:
        start = used()
        run("make", "-o", f"{sys.prefix}/.ready-test", f"VENV={sys.prefix}", "ARGS=", "test",
            root=tree.root)
        return {"tests_all": (used() - start, "s", "of the processor, with lint and types")}
