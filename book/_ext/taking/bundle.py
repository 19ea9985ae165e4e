"""The engine as one package: what the checkout keeps side by side lies below ``will_it_fit``.

``wheel.py`` rewrites the files of a wheel so, and notebooks that a reader takes along are rewritten
the same way. Imports are found by parsing and nothing else of the code is touched, except that
texts name the command as it is installed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .statements import statements

PACKAGE, COMMAND = "will_it_fit", "will-it-fit"
ROOMS = ("calc", "catalogue", "kernels", "notebooks")
TEMPLATE = "notebooks/scenario.md"  # of the page that a report is
CHAPTERS = ("book/*.md", "notebooks/*.md")
CHAPTER = re.compile(r"^\(([\w-]+)\)=\n#+ (.+)$", re.MULTILINE)  # a label and its heading
SPOKEN = re.compile(r"python -m calc\b(?!\.)")
EXAMPLE = re.compile(r"(?m)^(\s*>>> )((?:from|import) .+)$")
CELL = re.compile(r"(?ms)^(```\{code-cell\}[^\n]*\n(?:---\n.*?^---\n|(?::[^\n]*\n)*))(.*?)^```$")

Edit = tuple[tuple[int, int], tuple[int, int], str]


def bundled(source: str) -> str:
    """Python source as it reads below the package.

    Raises SyntaxError for what is no Python.

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
    spoken = SPOKEN.sub(COMMAND, "".join(lines))
    return EXAMPLE.sub(lambda match: match[1] + example(match[2]), spoken)


def imports(source: str, lines: list[str]) -> Iterator[Edit]:
    """Statements that import a room, as they are to read."""
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
    """Statements that bind what ``import NAME`` does."""
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
    """Signs, where the parser counts bytes of UTF-8."""
    return len(lines[number - 1].encode()[:offset].decode())


def example(line: str) -> str:
    """One line of an example; a part of a statement stays as it is."""
    try:
        return bundled(line)
    except SyntaxError:
        return line


def cells(text: str) -> str:
    """A notebook in MyST with its code cells as they read below the package.

    >>> print(cells("```{code-cell} python3\\n:tags: [a]\\n\\nimport calc\\n```"))
    ```{code-cell} python3
    :tags: [a]
    <BLANKLINE>
    from will_it_fit import calc
    ```
    """
    return CELL.sub(lambda match: f"{match[1]}{bundled(match[2])}```", text)


def needed(path: Path, root: Path) -> bytes:
    """What the engine has of a file of the project at `root`: all of it, but of a chapter only the
    sections that references of a report lead to.
    """
    inside = path.relative_to(root)
    if inside == Path(TEMPLATE) or not any(inside.match(pattern) for pattern in CHAPTERS):
        return path.read_bytes()
    sections = CHAPTER.finditer(path.read_text(encoding="utf-8"))
    return "".join(f"{section[0]}\n\n" for section in sections).encode()
