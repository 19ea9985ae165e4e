"""Sizes: what reading the book and Papermill install, and the lines of the code itself."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
REQUIREMENTS = PROJECT / "requirements.txt"
TESTS = "tests/"
SHOWING = ("notebooks/show/", "notebooks/pages/", "book/")  # Python that shows pages
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def measure() -> dict[str, tuple]:
    """Installed distributions; lines of Python and strings with Chinese in it, tests apart."""
    sources = {name: (PROJECT / name).read_text(encoding="utf-8") for name in tracked("*.py")
               if not name.startswith(TESTS)}
    shown = [text for name, text in sources.items() if name.startswith(SHOWING)]
    strings = chinese_strings(map(ast.parse, sources.values()))
    return {"installed_size": (_installed() / 1e6, "MB"),
            "lines": (_lines(sources.values()), "1", "of Python, tests apart"),
            "lines_that_show_pages": (_lines(shown), "1", "of Python"),
            "chinese_strings": (strings, "1", "of Python, tests apart")}


def _installed() -> int:
    """Sum of the files of every distribution that requirements.txt pins and that is installed."""
    pinned = re.findall(r"^[\w.-]+(?===)", REQUIREMENTS.read_text(encoding="utf-8"), re.MULTILINE)
    total = 0
    for name in set(pinned):  # one may be pinned for several Pythons
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            continue  # pinned for another Python or system
        total += sum(path.stat().st_size for path in (Path(str(file.locate())) for file in files)
                     if path.is_file())
    return total


def tracked(pattern: str = ".") -> list[str]:
    """Files that belong to the project, of a pattern of git's."""
    listed = subprocess.run(["git", "ls-files", "-z", pattern], cwd=PROJECT, capture_output=True,
                            text=True, check=True).stdout
    return list(filter(None, listed.split("\0")))


def _lines(texts: Iterable[str]) -> int:
    return sum(len(text.splitlines()) for text in texts)


def chinese_strings(trees: Iterable[ast.AST]) -> int:
    """Strings with Chinese in Python outside of docstrings, f-strings counted once."""
    count = 0
    for tree in trees:
        inside = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
                  for part in node.values}
        inside |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            count += id(node) not in inside and any(
                isinstance(part, ast.Constant) and CHINESE.search(str(part.value)) is not None
                for part in parts)
    return count
