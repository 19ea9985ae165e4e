"""Checkouts that are measured: the working tree, and a reference commit in a temporary worktree."""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tools.baseline import ROOT, git, python_in

NOT_MET = 3  # exit code of a search that nothing meets, an answer


class Refused(Exception):
    """A command that a tree refuses; the message is the last line that it printed."""


class Tree(NamedTuple):
    """A checkout and the interpreter with its packages."""

    root: Path
    python: Path


WORKING = Tree(ROOT, Path(sys.executable))


@contextmanager
def reference(commit: str, python: Path | None) -> Iterator[Tree]:
    """A temporary worktree of a commit, with an interpreter that has the packages it pins.

    Args:
        commit: its name.
        python: that interpreter; None: of a new environment, by the Makefile of the commit.

    Raises Refused if the environment cannot be made.
    """
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "tree")
        git("worktree", "add", "--detach", str(root), commit)
        try:
            if python is None:
                done = subprocess.run(
                    ["make", ".venv/.ready", f"PYTHON={sys.executable}"], cwd=root, text=True,
                    check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                _check(done.returncode, done.stdout)
            yield Tree(root, python or root / ".venv/bin/python")
        finally:
            git("worktree", "remove", "--force", str(root))


def answer(tree: Tree, *arguments: str | Path) -> str:
    """Output of Python in a tree. Raises Refused if it fails."""
    done = python_in(tree.root, *arguments, python=tree.python, stderr=subprocess.PIPE)
    _check(done.returncode, done.stderr)
    return done.stdout


def cpu(tree: Tree, *arguments: str | Path) -> float:
    """Processor time of Python in a tree, user and system, with its children [s].

    Raises Refused if it fails.
    """
    start = used()
    answer(tree, *arguments)
    return used() - start


def used() -> float:
    """Processor time of all ended children of this process, user and system [s]."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _check(code: int, printed: str) -> None:
    if code not in (0, NOT_MET):
        raise Refused((printed.strip().splitlines() or [f"exit code {code}"])[-1])
