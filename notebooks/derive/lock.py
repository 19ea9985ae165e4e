"""``python -m notebooks.derive.lock``: derive every formula again and rewrite ``formulas.json``."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import re
import sys
from pathlib import Path
from traceback import walk_tb

from notebooks.derive.formulas.derivation import LOCK
from notebooks.derive.formulas.exported import FORMULAS, load_formulas, save_formulas

NOTEBOOKS = Path(__file__).resolve().parents[1]
_DERIVES = re.compile(r"""\bDerivation\(["'](\w+)["']\)""")
_SHOWING = ("notebooks.pages", "notebooks.show")
_BINDING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.FunctionDef, ast.Import, ast.ImportFrom)


def derivations(folder: Path = NOTEBOOKS) -> list[Path]:
    """The notebooks that export formulas, in the order in which they build on each other."""
    notebooks = [path for path in folder.glob("*.md") if _DERIVES.search(path.read_text("utf-8"))]
    return sorted(notebooks, key=lambda path: (path.stem != "architecture", path.stem))


def execute(path: Path) -> None:
    """Run what a text notebook derives and checks; what it only shows is left to the book.

    Raises what fails, with a note of where.
    """
    module = ast.parse(code(path))
    module.body = needed(module.body)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(module, str(path), "exec"), {"__name__": "__main__"})
    except Exception as error:
        lines = [line for frame, line in walk_tb(error.__traceback__)
                 if frame.f_code.co_filename == str(path)]
        error.add_note(", line ".join([path.name, *map(str, lines[:1])]))
        raise


def code(path: Path) -> str:
    """Return the code of a text notebook, every other line blank."""
    lines, is_code = [], False
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.startswith("```"):
            is_code = line.startswith("```{code-cell}")
        lines.append("" if not is_code or line.startswith(("```", ":")) else line)
    return "\n".join(lines)


def needed(body: list[ast.stmt]) -> list[ast.stmt]:
    """Of statements those that derive or check, and what these stand on.

    >>> [ast.unparse(one) for one in needed(ast.parse('''
    ... from notebooks.show import display
    ... derivation = Derivation("law")
    ... law = 2
    ... display.number("law", law)
    ... derived = derivation.export("law", law)''').body)]
    ["derivation = Derivation('law')", 'law = 2', "derived = derivation.export('law', law)"]
    """
    showing, deriving = set[str](), {"Derivation"}
    for one in body:
        if isinstance(one, ast.ImportFrom) and (one.module or "").startswith(_SHOWING):
            showing |= _bound(one)
        if isinstance(one, _BINDING) and _named(one) & deriving:
            deriving |= _bound(one)
    kept: list[ast.stmt] = []
    wanted: set[str] = set()
    while kept != (kept := [
            one for one in body if not _shows(one, showing) and (
                not isinstance(one, _BINDING) or _bound(one) & wanted
                or (not isinstance(one, ast.FunctionDef) and deriving & {
                    _root(part) for part in ast.walk(one) if isinstance(part, ast.Call)}))]):
        wanted = set().union(*map(_named, kept))
    return kept


def _shows(one: ast.stmt, showing: set[str]) -> bool:
    """Whether all of a statement calls what shows, or is an expression to be seen."""
    if isinstance(one, (ast.For, ast.With)):
        return all(_shows(part, showing) for part in one.body)
    return isinstance(one, ast.Expr) and (
        not isinstance(one.value, ast.Call) or _root(one.value) in showing)


def _root(part: ast.expr) -> str:
    """The name with which a chain of calls, attributes and items begins."""
    while isinstance(part, (ast.Call, ast.Attribute, ast.Subscript)):
        part = part.func if isinstance(part, ast.Call) else part.value
    return part.id if isinstance(part, ast.Name) else ""


def _named(one: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(one) if isinstance(part, ast.Name)}


def _bound(one: ast.stmt) -> set[str]:
    """Names that a statement binds, or of which it changes a part."""
    if isinstance(one, ast.FunctionDef):
        return {one.name}
    if isinstance(one, (ast.Import, ast.ImportFrom)):
        return {(name.asname or name.name).partition(".")[0] for name in one.names}
    return set().union(*map(_named, getattr(one, "targets", [getattr(one, "target", one)])))


def main() -> None:
    """Rewrite the lock file; exit with the reason if a derivation fails."""
    os.environ[LOCK] = "write"
    paths = derivations()
    for path in paths:
        print(f"deriving {path.stem}", flush=True)
        try:
            execute(path)
        except Exception as error:
            sys.exit(f"{error.__notes__[0]}: {type(error).__name__}: {error}")
    stems = {path.stem for path in paths}
    save_formulas(f for f in load_formulas().values() if f.notebook in stems)
    print(f"{len(load_formulas())} formulas in {FORMULAS.name}")


if __name__ == "__main__":
    main()
