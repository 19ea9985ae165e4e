"""From the annotation of a field to what the command line makes of it."""

from __future__ import annotations

import ast
from contextlib import suppress
from typing import Any

from tools.engines.package import Member, Module, Opaque, Unresolved, plain
from tools.engines.static import TYPE_READERS, Class, Scope

Hint = tuple[Any, ...]
Kwargs = dict[str, Any]
_PLAIN = {"int", "float", "str", "bool", "None", "dict", "list", "tuple", "set", "bytes"}
_ALIASES = {"Dict": "dict", "List": "list", "Tuple": "tuple", "Set": "set", "Sequence": "list",
            "Mapping": "dict", "NoneType": "None", "FrozenSet": "set"}
DYNAMIC = Opaque("made when the program runs")


def hints(node: ast.AST, scope: Scope) -> set[Hint]:
    """The alternatives of an annotation: ``("int",)``, ``("literal", values)``, ``("list", …)``.

    A name that the text does not explain stays ``("other", name)``.
    """
    if scope.depth > 40:
        raise Unresolved
    match node:
        case ast.Constant(value=None):
            return {("None",)}
        case ast.Constant(value=str() as text):
            try:
                return hints(ast.parse(text, mode="eval").body, scope)
            except SyntaxError:
                return {("other", text)}
        case ast.BinOp(op=ast.BitOr()):
            return hints(node.left, scope) | hints(node.right, scope)
        case ast.Subscript():
            return subscript_hints(node, scope)
        case ast.Name() | ast.Attribute():
            return name_hints(node, scope)
    return {("other", ast.unparse(node))}


def subscript_hints(node: ast.Subscript, scope: Scope) -> set[Hint]:
    """Alternatives of an annotation with parameters."""
    name = ast.unparse(node.value).rpartition(".")[2]
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    match name:
        case "Annotated" | "Required" | "SkipValidation":
            return hints(parts[0], scope)
        case "Optional":
            return hints(parts[0], scope) | {("None",)}
        case "Union":
            return set().union(*(hints(part, scope) for part in parts))
        case "Literal":
            return {("literal", tuple(literals(node, scope)))}
    name = _ALIASES.get(name, name)
    if name in ("list", "tuple", "set"):
        return {(name, tuple(sorted(hints(parts[0], scope), key=str)))}
    return {("dict",)} if name == "dict" else {("other", ast.unparse(node))}


def name_hints(node: ast.Name | ast.Attribute, scope: Scope) -> set[Hint]:
    """Alternatives of a name."""
    short = ast.unparse(node).rpartition(".")[2]
    short = _ALIASES.get(short, short)
    if short in _PLAIN and short not in scope.module.names:
        return {(short,) if short not in ("list", "tuple", "set") else (short, (("str",),))}
    if isinstance(node, ast.Name) and (
            alternatives := _alias(node.id, scope)):
        return alternatives
    value = scope.value_or(node, None)
    if isinstance(value, Class):
        kind = "enum" if value.is_enum else "config" if value.is_config else "other"
        return {(kind, value.node.name)}
    return {("other", short)}


def _alias(name: str | None, scope: Scope) -> set[Hint] | None:
    """The alternatives behind an alias that the module or another one of the package defines."""
    module: Module | None = scope.module
    for _ in range(10):  # through the modules that only pass it on
        if module is None or name is None:
            return None
        if name in module.names:
            node = module.names[name]
            return (None if isinstance(node, (ast.ClassDef, ast.FunctionDef))
                    else hints(node, scope.inner(module)))
        base, name = module.imports.get(name, ("", None))
        module = module.package.named(base)
    return None


def literals(node: ast.AST, scope: Scope) -> list[Any]:
    """The values of a ``Literal``, directly or behind a name. Raises Unresolved if it is none."""
    if (isinstance(node, ast.Subscript)
            and ast.unparse(node.value).rpartition(".")[2] == "Literal"):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        values = [scope.value(part) for part in parts]
        return [value.value if isinstance(value, Member) else value for value in values]
    literal_hints = [hint for hint in hints(node, scope) if hint[0] == "literal"]
    if len(literal_hints) != 1:
        raise Unresolved
    return list(literal_hints[0][1])


TYPE_READERS["typing.get_args"] = TYPE_READERS["get_args"] = literals


def known_to_checkers(node: ast.AST, module: Module) -> list[Any] | None:
    """Values that only a type checker sees: a literal imported under ``TYPE_CHECKING``."""
    for name in (part.id for part in ast.walk(node) if isinstance(part, ast.Name)):
        base, original = module.typing.get(name, ("", None))
        target = module.package.named(base) if original else None
        with suppress(Unresolved):
            types = (_alias(original, Scope(target)) if target else None) or ()
            for values in (hint[1] for hint in types if hint[0] == "literal"):
                return sorted(values, key=str)
    return None


def config_argument(owner: Class, name: str) -> Kwargs:
    """What vLLM's ``get_kwargs`` makes of a field of a configuration class."""
    module, item = owner.fields()[name]
    scope = Scope(module)
    try:
        types = hints(item.annotation, scope)
    except Unresolved:
        types = {("other", "?")}
    result = _of_hints({hint for hint in types if hint != ("None",)}, ("None",) in types)
    values = known_to_checkers(item.annotation, module)
    if values and "choices" not in result:
        result["known"] = values
    return result | default_of(owner, name)


def stated(node: ast.AST, scope: Scope) -> Any:
    """The value of an expression as YAML can hold it, or `DYNAMIC`."""
    try:
        return plain(scope.value(node))
    except Unresolved:
        return DYNAMIC


def stated_default(node: ast.AST | None, scope: Scope) -> Kwargs:
    """The default that an expression gives, in the catalogue's words; None without one."""
    return resolved({"default": None if node is None else stated(node, scope)})


def resolved(argument: Kwargs) -> Kwargs:
    """An argument without `DYNAMIC`; one whose default is made by the program is marked so."""
    return argument | ({"default": None, "dynamic": True} if argument["default"] is DYNAMIC else {})


def choices(node: ast.AST, scope: Scope) -> Kwargs:
    """The values that an expression lists, or that they are listed when the program runs."""
    value = stated(node, scope)
    return ({"choices": list(value)} if isinstance(value, (list, dict, str))
            else {"open_choices": True})


def default_of(owner: Class, name: str) -> Kwargs:
    """The default of a field, or that it is made when the program runs."""
    try:
        return {"default": plain(Scope(owner.module).default(owner, name))}
    except Unresolved:
        return {"default": DYNAMIC}


def _of_hints(types: set[Hint], optional: bool) -> Kwargs:
    kinds = {hint[0] for hint in types}
    first = {hint[0]: hint for hint in sorted(types, key=str)}
    result: Kwargs = {}
    if "config" in kinds:
        return {"type": "json"}
    if kinds == {"bool", "str"} and optional:
        return {"type": "str"}
    if "bool" in kinds:
        return {"type": "bool", "negatable": True}
    if "literal" in kinds:
        values = sorted((value for value in first["literal"][1] if value is not None), key=str)
        result["type"] = type(values[0]).__name__
        result["known" if "str" in kinds else "choices"] = values
    elif sequence := next((first[kind] for kind in ("tuple", "list", "set") if kind in kinds),
                          None):
        inner = {hint[0] for hint in sequence[1]}
        element = _of_hints(set(sequence[1]), False)
        result["type"] = f"list of {'str' if len(inner) > 1 else element.get('type') or 'str'}"
        if "choices" in element:
            result["choices"] = element["choices"]
    else:
        order = ("int", "float", "dict", "str", "enum")
        kind = next((kind for kind in order if kind in kinds), None)
        names = {"dict": "json", "enum": "str", None: "str"}
        result["type"] = names.get(kind, kind)
    if optional and "choices" in result:
        result["choices"] = [*result["choices"], "None"]
    return result


def annotation_name(node: ast.AST, scope: Scope) -> str | None:
    """A short name of a type for people: ``int``, ``list of str``; None where it is not plain."""
    try:
        types = hints(node, scope) - {("None",)}
    except Unresolved:
        return None
    other = any(hint[0] == "other" for hint in types)
    return None if other else str(_of_hints(types, False)["type"])
