"""The modules of a release: what each defines at its top level, and what it imports."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any


class Unresolved(Exception):
    """The text alone does not say."""


class Package:
    """The modules of a release, parsed when first asked for."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files
        self._modules: dict[str, Module | None] = {}

    def at(self, path: str) -> Module | None:
        """The module in a file, or None where the release has no such file."""
        if path not in self._modules:
            text = self.files.get(path)
            try:
                self._modules[path] = None if text is None else Module(self, path, ast.parse(text))
            except SyntaxError:
                self._modules[path] = None
        return self._modules[path]

    def named(self, dotted: str) -> Module | None:
        """The module of an import."""
        stem = dotted.replace(".", "/")
        return self.at(f"{stem}.py") or self.at(f"{stem}/__init__.py")


class Module:
    """The names of a module's top level: what it defines and what it imports."""

    def __init__(self, package: Package, path: str, tree: ast.Module) -> None:
        self.package, self.path, self.tree = package, path, tree
        self.names: dict[str, ast.AST] = {}
        self.imports: dict[str, tuple[str, str | None]] = {}
        self.typing: dict[str, tuple[str, str | None]] = {}
        self.unclear: set[str] = set()
        self._collect(tree.body)

    def _collect(self, body: list[ast.stmt]) -> None:
        for statement in body:
            match statement:
                case ast.ClassDef() | ast.FunctionDef():
                    self._define(statement.name, statement)
                case ast.Assign(targets=[ast.Name(id=name)]):
                    self._define(name, statement.value)
                case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
                    self._define(name, value)
                case ast.Import() | ast.ImportFrom():
                    self._import(statement, self.imports)
                case ast.If() if "TYPE_CHECKING" in ast.unparse(statement.test):
                    for inner in statement.body:
                        if isinstance(inner, (ast.Import, ast.ImportFrom)):
                            self._import(inner, self.typing)
                    self._collect(statement.orelse)
                case ast.If():
                    self._collect(statement.body)
                    self._collect(statement.orelse)
                case ast.Try():
                    self._collect(statement.body)

    def _define(self, name: str, value: ast.AST) -> None:
        if name in self.names:
            self.unclear.add(name)
        self.names[name] = value

    def _import(self, statement: ast.Import | ast.ImportFrom,
                into: dict[str, tuple[str, str | None]]) -> None:
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.asname or alias.name.partition(".")[0]
                into[name] = (alias.name if alias.asname else name, None)
            return
        base = statement.module or ""
        if statement.level:
            folders = self.path.split("/")[:-1]
            base = ".".join(filter(None, [*folders[:len(folders) - statement.level + 1], base]))
        for alias in statement.names:
            into[alias.asname or alias.name] = (base, alias.name)


@dataclass(frozen=True)
class Member:
    """A member of an enumeration."""

    name: str
    value: Any


@dataclass(frozen=True)
class Opaque:
    """A name from outside the package, known by name alone: ``json.loads``."""

    name: str


def plain(value: Any) -> Any:
    """A value as YAML can hold it. Raises Unresolved for what it cannot."""
    if isinstance(value, Member):
        return plain(value.value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise Unresolved
