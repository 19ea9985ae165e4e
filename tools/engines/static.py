"""What an expression of a program means, as far as its text alone says: nothing is ever run.

An expression whose value depends on the machine, on what is installed or on anything that this
reader does not know raises ``Unresolved``. It is never guessed.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tools.engines.package import Member, Module, Opaque, Unresolved

DEPTH = 60
Node = ast.AST
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.BitOr: operator.or_,
    ast.LShift: operator.lshift,
}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "list": list, "tuple": tuple, "set": set, "sorted": sorted, "dict": dict, "str": str,
    "int": int, "float": float, "bool": bool, "len": len, "frozenset": frozenset,
}
_METHODS = {"lower", "upper", "strip", "replace", "split", "join", "keys", "values", "items",
            "union", "copy", "get"}
_OWN_DEFAULT = {"os.path.expanduser": lambda path: path,
                "os.path.join": lambda *parts: "/".join(parts)}
# what is called with a type, not with its value; ``tools.engines.hints`` knows how to read types
TYPE_READERS: dict[str, Callable[[ast.AST, Scope], Any]] = {}


@dataclass(frozen=True)
class Class:
    """A class of the package."""

    module: Module
    node: ast.ClassDef

    def bases(self) -> list[Class]:
        """The class and those it derives from within the package, nearest first."""
        classes = [self]
        for base in self.node.bases:
            try:
                parent = Scope(self.module).value(base)
            except Unresolved:
                continue
            if isinstance(parent, Class) and len(classes) < DEPTH:
                classes += parent.bases()
        return classes

    def fields(self) -> dict[str, tuple[Module, ast.AnnAssign]]:
        """Annotated attributes in the order of the class, inherited ones first."""
        return {item.target.id: (owner.module, item) for owner in reversed(self.bases())
                for item in owner.node.body
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
                and "ClassVar" not in ast.unparse(item.annotation)}

    @property
    def is_enum(self) -> bool:
        """Whether it is an enumeration."""
        return any("Enum" in ast.unparse(base) for owner in self.bases()
                   for base in owner.node.bases)

    @property
    def is_config(self) -> bool:
        """Whether it is a dataclass or a pydantic one."""
        return any("dataclass" in (text := ast.unparse(item)) or text.startswith("config")
                   for item in self.node.decorator_list)

    def members(self) -> dict[str, Any]:
        """The names and values of an enumeration, in its order."""
        members: dict[str, Any] = {}
        for item in self.node.body:
            if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name):
                name = item.targets[0].id
                automatic = "auto()" in ast.unparse(item.value)
                members[name] = name.lower() if automatic else Scope(self.module).value(item.value)
        return members


@dataclass(frozen=True)
class Function:
    """A function or lambda with the scope it was written in."""

    scope: Scope
    node: ast.FunctionDef | ast.Lambda


@dataclass
class Scope:
    """Where an expression stands: its module, local names, and how names are looked up.

    Attributes:
        module: the module.
        local: names of the function around it.
        unset: take every environment variable as not set, instead of unknown.
    """

    module: Module
    local: dict[str, Any] = field(default_factory=dict)
    unset: bool = False
    depth: int = 0

    def inner(self, module: Module | None = None, **local: Any) -> Scope:
        """The scope of something this one leads to."""
        if self.depth > DEPTH:
            raise Unresolved
        return Scope(module or self.module, ({} if module else self.local) | local, self.unset,
                     self.depth + 1)

    def name(self, name: str) -> Any:
        """What a name stands for."""
        if name in self.local:
            return self.local[name]
        if name in self.module.unclear:
            raise Unresolved
        if name in self.module.names:
            node = self.module.names[name]
            if isinstance(node, ast.ClassDef):
                return Class(self.module, node)
            if isinstance(node, ast.FunctionDef):
                return Function(Scope(self.module, {}, self.unset), node)
            return self.inner(self.module).value(node)
        if name in self.module.imports:
            return self.imported(*self.module.imports[name])
        return Opaque(name)

    def imported(self, base: str, name: str | None) -> Any:
        """What an import brings."""
        package = self.module.package
        if name is None:
            return package.named(base) or Opaque(base)
        module = package.named(base)
        if module is None:
            return Opaque(f"{base}.{name}")
        if name not in module.names and name not in module.imports:
            raise Unresolved
        return self.inner(module).name(name)

    def value(self, node: Node) -> Any:
        """The value of an expression. Raises Unresolved where its text does not say."""
        if self.depth > DEPTH:
            raise Unresolved
        try:
            return self._value(node)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, RecursionError,
                ZeroDivisionError, OverflowError):
            raise Unresolved from None

    def value_or(self, node: Node, other: Any) -> Any:
        """The value of an expression, or another one where its text does not say."""
        try:
            return self.value(node)
        except Unresolved:
            return other

    def _value(self, node: Node) -> Any:
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return self.name(node.id)
            case ast.List() | ast.Tuple() | ast.Set():
                return {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)](
                    map(self.value, node.elts))
            case ast.Dict():
                result: dict[Any, Any] = {}
                for key, item in zip(node.keys, node.values, strict=True):
                    if key is None:
                        result |= self.value(item)
                    else:
                        result[self.value(key)] = self.value(item)
                return result
            case ast.UnaryOp(op=ast.USub()):
                return -self._plain(node.operand)
            case ast.UnaryOp(op=ast.Not()):
                return not self._plain(node.operand)
            case ast.BinOp():
                return _BINARY[type(node.op)](self._plain(node.left), self._plain(node.right))
            case ast.BoolOp():
                return self._either(node)
            case ast.Compare():
                sides = [node.left, *node.comparators]
                return all(map(self._compare, node.ops, sides, sides[1:]))
            case ast.IfExp():
                return self.value(node.body if self._plain(node.test) else node.orelse)
            case ast.JoinedStr():
                return "".join(str(self._plain(part.value if isinstance(part, ast.FormattedValue)
                                               else part)) for part in node.values)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self.value(node.value)[self.value(node.slice)]
            case ast.Lambda():
                return Function(self, node)
            case ast.Call():
                return self._call(node)
        raise Unresolved

    def _plain(self, node: Node) -> Any:
        value = self.value(node)
        if isinstance(value, (Opaque, Module, Function, Class)):
            raise Unresolved
        return value

    def _iterable(self, node: Node) -> Any:
        value = self.value(node)
        if not isinstance(value, (list, tuple, set, frozenset, dict)):
            raise Unresolved
        return value

    def _either(self, node: ast.BoolOp) -> Any:
        value: Any = None
        for item in node.values:
            value = self._plain(item)
            if bool(value) == isinstance(node.op, ast.Or):
                break
        return value

    def _compare(self, test: ast.cmpop, left: Node, right: Node) -> Any:
        if isinstance(test, (ast.In, ast.NotIn)) and ast.unparse(right) == "os.environ":
            if not self.unset:
                raise Unresolved
            return isinstance(test, ast.NotIn)
        return _COMPARE[type(test)](self._plain(left), self._plain(right))

    def _attribute(self, node: ast.Attribute) -> Any:
        owner = self.value(node.value)
        if isinstance(owner, Class):
            if owner.is_enum:
                return Member(node.attr, owner.members()[node.attr])
            return self.default(owner, node.attr)
        if isinstance(owner, Member):
            return {"value": owner.value, "name": owner.name}[node.attr]
        if isinstance(owner, Opaque):
            return Opaque(f"{owner.name}.{node.attr}")
        raise Unresolved

    def default(self, owner: Class, name: str) -> Any:
        """The value that a class gives an attribute, through ``field(...)`` where it uses it."""
        module, item = owner.fields().get(name, (None, None))
        if item is not None and item.value is not None:
            return self.inner(module)._field(item.value)
        for parent in owner.bases():
            for statement in parent.node.body:
                if isinstance(statement, ast.Assign) and name in {
                        target.id for target in statement.targets
                        if isinstance(target, ast.Name)}:
                    return self.inner(parent.module).value(statement.value)
        raise Unresolved

    def _field(self, node: Node) -> Any:
        called = (ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else "")
        if not isinstance(node, ast.Call) or called not in ("field", "Field"):
            return self.value(node)
        keywords = {word.arg: word.value for word in node.keywords}
        if "default_factory" in keywords:
            factory = self.value(keywords["default_factory"])
            if isinstance(factory, Opaque) and factory.name in ("list", "dict", "set", "tuple"):
                return _FUNCTIONS[factory.name]()
            return self.run(factory)
        if "default" in keywords or node.args:
            return self.value(keywords.get("default") or node.args[0])
        raise Unresolved

    def run(self, function: Any, *values: Any) -> Any:
        """What a short function returns, followed statement by statement."""
        if not isinstance(function, Function):
            raise Unresolved
        node = function.node
        names = [argument.arg for argument in node.args.args]
        start = len(names) - len(node.args.defaults)
        local = {name: function.scope.value(default) for name, default
                 in zip(names[start:], node.args.defaults, strict=True)}
        local |= dict(zip(names, values, strict=False))
        if set(names) - set(local):
            raise Unresolved
        scope = function.scope.inner(None, **local)
        scope.unset, scope.depth = self.unset, self.depth + 1
        if isinstance(node, ast.Lambda):
            return scope.value(node.body)
        ended, value = scope._follow(node.body)
        return value if ended else None

    def _follow(self, body: list[ast.stmt]) -> tuple[bool, Any]:
        for statement in body:
            match statement:
                case ast.Return():
                    return True, self.value(statement.value) if statement.value else None
                case ast.If():
                    chosen = statement.body if self._plain(statement.test) else statement.orelse
                    if (followed := self._follow(chosen))[0]:
                        return followed
                case ast.Assign(targets=[ast.Name(id=name)]):
                    self.local[name] = self.value(statement.value)
                case ast.Expr(value=ast.Constant()):
                    pass
                case _:
                    raise Unresolved
        return False, None

    def _call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            owner = self.value(node.func.value)
            if isinstance(owner, (str, dict, list, tuple, set)):
                values = [self._plain(item) for item in node.args]
                if isinstance(owner, str) and node.func.attr == "join":
                    values = [[str(item) for item in self._iterable(node.args[0])]]
                return getattr(owner, node.func.attr)(*values)
        function = self.value(node.func)
        if isinstance(function, Opaque):
            return self._library_function(function.name, node)
        if node.keywords:
            raise Unresolved
        return self.run(function, *(self.value(item) for item in node.args))

    def _library_function(self, name: str, node: ast.Call) -> Any:
        if name in ("os.getenv", "os.environ.get"):
            if not self.unset:
                raise Unresolved
            rest = [*node.args[1:], *(word.value for word in node.keywords)]
            return self.value(rest[0]) if rest else None
        if node.keywords:
            raise Unresolved
        if name in TYPE_READERS:
            return TYPE_READERS[name](node.args[0], self)
        if name in _OWN_DEFAULT:
            return _OWN_DEFAULT[name](*(self._plain(item) for item in node.args))
        if name in _FUNCTIONS:
            if node.args and name in ("list", "tuple", "set", "sorted", "frozenset"):
                return _FUNCTIONS[name](self._iterable(node.args[0]))
            return _FUNCTIONS[name](*(self._plain(item) for item in node.args))
        raise Unresolved
