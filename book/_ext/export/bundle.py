"""Rewrite source code for the installed package, where all packages are below ``will_it_fit``.

Files of the wheel and notebooks for download are rewritten. Imports are found by parsing; of the
other code only the name of the command changes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from .statements import statements

PACKAGE = "will_it_fit"
ROOMS = ("calc", "catalogue", "kernels", "notebooks")
EXAMPLE = re.compile(r"(?m)^(\s*>>> )((?:from|import) .+)$")

Edit = tuple[tuple[int, int], tuple[int, int], str]


def bundled(source: str) -> str:
    """Return Python source with imports from the package.

    Raises SyntaxError if the source is not Python.

    >>> bundled("import calc, os  # both")
    'from will_it_fit import calc; import os  # both'
    >>> bundled("from catalogue.reading import (\\n    units)")
    'from will_it_fit.catalogue.reading import (\\n    units)'
    >>> bundled("import notebooks.pages.catalogue as shown, calc.physics")
    'import will_it_fit.notebooks.pages.catalogue as shown; import will_it_fit.calc.physics; \
from will_it_fit import calc'
    """
    lines = source.splitlines(keepends=True)
    for begin, end, text in sorted(imports(source, lines), reverse=True):
        first, last = lines[begin[0] - 1][:begin[1]], lines[end[0] - 1][end[1]:]
        lines[begin[0] - 1:end[0]] = [first + text + last]
    return EXAMPLE.sub(lambda match: match[1] + example(match[2]), "".join(lines))


def imports(source: str, lines: list[str]) -> Iterator[Edit]:
    """Yield edits of the statements that import a package of the project."""
    for node in statements(ast.parse(source).body):
        if isinstance(node, ast.ImportFrom) and not node.level and _ours(str(node.module)):
            at = (node.lineno, _column(lines, node.lineno, node.col_offset))
            match = re.compile(r"from\s+").match(lines[at[0] - 1], at[1])
            assert match, f"line {at[0]}: the name of a module is on another line"
            yield (at[0], match.end()), (at[0], match.end()), f"{PACKAGE}."
        elif isinstance(node, ast.Import) and any(_ours(alias.name) for alias in node.names):
            end = node.end_lineno or node.lineno
            yield ((node.lineno, _column(lines, node.lineno, node.col_offset)),
                   (end, _column(lines, end, node.end_col_offset or 0)),
                   "; ".join(part for alias in node.names for part in import_statements(alias)))


def import_statements(alias: ast.alias) -> Iterator[str]:
    """Yield statements that bind the same names as ``import NAME``."""
    bound = f" as {alias.asname}" * bool(alias.asname)
    top, _, below = alias.name.partition(".")
    if not _ours(alias.name):
        yield f"import {alias.name}{bound}"
    elif below:
        yield f"import {PACKAGE}.{alias.name}{bound}"
    if _ours(alias.name) and not (below and bound):
        yield f"from {PACKAGE} import {top}{bound}"


def _ours(module: str) -> bool:
    return module.partition(".")[0] in ROOMS


def _column(lines: list[str], number: int, offset: int) -> int:
    """Convert an offset in UTF-8 bytes, as of the parser, to characters."""
    return len(lines[number - 1].encode()[:offset].decode())


def example(line: str) -> str:
    """Rewrite one line of an example; part of a statement is left unchanged."""
    try:
        return bundled(line)
    except SyntaxError:
        return line
