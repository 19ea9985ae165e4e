"""Modules of the project as syntax trees, parsed once for all rules."""

import ast
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
PACKAGES = ("catalogue", "calc", "kernels", "notebooks", "book", "tools", "benchmarks",
            "will_it_fit")


@cache
def trees() -> dict[str, ast.Module]:
    """Every module besides tests, by its path in the project."""
    return {path.relative_to(PROJECT).as_posix(): ast.parse(path.read_text("utf-8"))
            for package in PACKAGES for path in sorted((PROJECT / package).rglob("*.py"))}


@cache
def nodes(path: str) -> tuple[ast.AST, ...]:
    """Every node of a module."""
    return tuple(ast.walk(trees()[path]))
