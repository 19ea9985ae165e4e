"""The checks of a release's configuration: what it raises, and under which conditions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

RAISED = ("ValueError", "AssertionError", "NotImplementedError", "RuntimeError", "TypeError")


@dataclass(frozen=True)
class Check:
    """A place where a release refuses its configuration.

    Attributes:
        file: path in the release.
        line: of the statement.
        guards: conditions under which it is reached, the outermost first.
        fails: condition under which it refuses; of an ``assert`` the negation of what it asserts.
    """

    file: str
    line: int
    guards: tuple[str, ...]
    fails: str


def checks(path: str, text: str) -> list[Check]:
    """The checks of a file, in its order; none of a file that cannot be parsed."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return []
    return list(_within(tree.body, path, ()))


def _within(body: list[ast.stmt], path: str, guards: tuple[str, ...]) -> Iterator[Check]:
    """The checks of a block; what returns or raises before guards what follows."""
    for statement in body:
        match statement:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield from _within(statement.body, path, ())
            case ast.If():
                test = ast.unparse(statement.test)
                yield from _within(statement.body, path, (*guards, test))
                yield from _within(statement.orelse, path, (*guards, f"not ({test})"))
                if _ends(statement.body):
                    guards = (*guards, f"not ({test})")
            case ast.Assert():
                yield Check(path, statement.lineno, guards,
                            f"not ({ast.unparse(statement.test)})")
            case ast.Raise() if guards and _raised(statement) in RAISED:
                yield Check(path, statement.lineno, guards[:-1], guards[-1])
            case ast.For() | ast.While() | ast.With():
                yield from _within(statement.body, path, guards)
            case ast.Try():
                for part in (statement.body, statement.orelse, statement.finalbody):
                    yield from _within(part, path, guards)


def _raised(statement: ast.Raise) -> str:
    raised = statement.exc
    called = raised.func if isinstance(raised, ast.Call) else raised
    return called.id if isinstance(called, ast.Name) else ""


def _ends(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return | ast.Raise | ast.Continue)
