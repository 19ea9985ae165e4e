"""The command line of an engine, read from its ``add_argument`` calls and configuration classes."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from tools.engines.hints import (
    DYNAMIC,
    Kwargs,
    choices,
    config_argument,
    default_of,
    hints,
    resolved,
    stated,
)
from tools.engines.package import Module, Opaque, Package, Unresolved
from tools.engines.static import Class, Function, Scope

_TYPES = {
    "nullable_str": "str", "optional_str": "str", "optional_int": "int", "optional_float": "float",
    "json.loads": "json", "human_readable_int": "int", "human_readable_int_or_auto": "int",
    "nullable_kvs": "str", "union_dict_and_str": "json", "_optional_int": "int",
    "parse_reasoning_parser": "str", "json_list_type": "json", "loads": "json",
}
_SWITCHES = {"store_true": False, "store_false": True, "store_const": None}
_DEPRECATED = re.compile(
    r"(?i:^\W*deprecated)|\bDEPRECATED\b|^\S+ (is|has been) deprecated"
    r"|(?i:\bthis (argument|flag|option|parameter|field) (is|has been) deprecated)")
_USE = re.compile(
    r"(?:use|favou?r of|replaced by|renamed to)\s+(?:the )?[`'\"]*(--[a-z][\w-]*)", re.I)
_ARG_WORDS = ("help", "choices", "aliases", "cli_name", "type_parser", "nargs", "required",
              "action", "action_kwargs", "const", "no_cli")


class _Table(dict[str, Kwargs]):
    """What ``get_kwargs(SomeConfig)`` returns: every field's arguments, made when asked for."""

    def __init__(self, owner: Class) -> None:
        super().__init__()
        self.owner = owner

    def __missing__(self, name: str) -> Kwargs:
        self[name] = config_argument(self.owner, name)
        self[name].setdefault("help", field_docs(self.owner, name))
        return self[name]


def arguments(package: Package, path: str, receiver: str | None = None) -> dict[str, Kwargs]:
    """Every option that a file declares, by its first name; ``receiver`` keeps one parser's."""
    module = package.at(path)
    if module is None:
        return {}
    result: dict[str, Kwargs] = {}
    declared = annotated_options(module, result)
    for function, owner in _functions(module.tree, None):
        if "add_argument" not in ast.unparse(function):
            continue
        scope = local_scope(function, owner, module)
        for call, loop in argument_calls(function):
            if receiver in (None, ast.unparse(call.func).rpartition(".")[0]):
                for names, argument in declared_options(call, loop, scope, declared):
                    _note(result, names, argument)
    return result


def _note(result: dict[str, Kwargs], names: list[str], argument: Kwargs) -> None:
    options = [name for name in names if name.startswith("-")]
    if options:
        first = next((name for name in options if name.startswith("--")), options[0])
        if others := [name for name in options if name != first]:
            argument["aliases"] = others
        result.setdefault(first, argument)


def _functions(tree: ast.AST, owner: ast.ClassDef | None
               ) -> Iterator[tuple[ast.FunctionDef, ast.ClassDef | None]]:
    for node in getattr(tree, "body", []):
        if isinstance(node, ast.FunctionDef):
            yield node, owner
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, node)


def argument_calls(function: ast.FunctionDef) -> Iterator[tuple[ast.Call, ast.For | None]]:
    """The calls of ``add_argument`` in their order, each with the loop around it."""
    def visit(node: ast.AST, loop: ast.For | None) -> Iterator[tuple[ast.Call, ast.For | None]]:
        for child in ast.iter_child_nodes(node):
            if (isinstance(child, ast.Call) and isinstance(child.func, ast.Attribute)
                    and child.func.attr == "add_argument"):
                yield child, loop
            yield from visit(child, child if isinstance(child, ast.For) else loop)
    yield from visit(function, None)


def local_scope(function: ast.FunctionDef, owner: ast.ClassDef | None, module: Module) -> Scope:
    """The local names of a function as far as they can be known, in the order they are made."""
    scope = Scope(module)
    for argument in function.args.args:
        scope.local[argument.arg] = Opaque(argument.arg)
    for node in ast.walk(function):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) == "get_kwargs":
            scope.local[name] = class_table(node.value.args[0], owner, scope)
        elif name not in scope.local:
            scope.local[name] = scope.value_or(node.value, Opaque("?"))
    tables = {name for name, value in scope.local.items() if isinstance(value, _Table)}
    for other, _ in _functions(module.tree, None):
        shared = other is function or tables & {item.arg for item in other.args.args}
        for node in ast.walk(other) if shared else ():
            follow_change(node, scope)
    return scope


def class_table(node: ast.expr, owner: ast.ClassDef | None, scope: Scope) -> Any:
    """The table of a class; ``cls`` is the class that is used, the last that derives from it."""
    if isinstance(node, ast.Name) and node.id == "cls" and owner is not None:
        classes = [Class(scope.module, item) for item in scope.module.tree.body
                   if isinstance(item, ast.ClassDef)]
        return _Table([item for item in classes
                       if owner in [base.node for base in item.bases()]][-1])
    value = scope.value_or(node, None)
    return _Table(value) if isinstance(value, Class) else Opaque("?")


def follow_change(node: ast.AST, scope: Scope) -> None:
    """Follow ``table["field"]["choices"] = ...`` and its like."""
    match node:
        case ast.Assign([ast.Subscript(ast.Subscript(ast.Name(owner), name), part), *_], value):
            if isinstance(table := scope.local.get(owner), _Table):
                with suppress(Unresolved, KeyError):
                    field, key = table[scope.value(name)], scope.value(part)
                    if key == "type":
                        field["type"] = _type(value, scope)
                    elif key in ("default", "choices"):
                        new = stated(value, scope)
                        field[key] = None if new is DYNAMIC and key == "choices" else new


def declared_options(call: ast.Call, loop: ast.For | None, scope: Scope, declared: dict[str, Kwargs]
              ) -> Iterator[tuple[list[str], Kwargs]]:
    """The options that one call declares: itself, or one per field of the table it loops over."""
    if names := scope.value_or(ast.List(call.args), []):
        yield [str(name) for name in names], _declaration(call, scope, declared)
    elif loop and isinstance(table := scope.local.get(
            ast.unparse(loop.iter).removesuffix(".items()")), _Table):
        for name in table.owner.fields():
            yield [f"--{name.replace('_', '-')}"], _finish(dict(table[name]))


def _declaration(call: ast.Call, scope: Scope, declared: dict[str, Kwargs]) -> Kwargs:
    result: Kwargs = {}
    for word in call.keywords:
        match word.arg:
            case None:
                result |= spread_arguments(word.value, scope)
            case "type":
                result["type"] = _type(word.value, scope)
                result["optional"] = bool(re.match(r"_?(nullable|optional)",
                                                   str(_constant(word.value, scope))))
            case "default":
                result["default"] = default_value(word.value, scope, declared)
            case "choices":
                result |= choices(word.value, scope)
            case "action" | "help" | "new_flag" | "nargs" | "deprecated" | "required":
                result[word.arg] = _constant(word.value, scope)
    return _finish(result)


def spread_arguments(node: ast.expr, scope: Scope) -> Kwargs:
    """What ``**something`` adds."""
    value = scope.value_or(node, {"default": DYNAMIC})
    keywords = {"type", "default", "choices", "known", "negatable", "help", "action", "nargs",
                "deprecated"}
    return {key: value[key] for key in value if key in keywords} if isinstance(value, dict) else {}


def default_value(node: ast.expr, scope: Scope, declared: dict[str, Kwargs]) -> Any:
    """Value of a default, which SGLang may take from the declaration of another field."""
    if (isinstance(node, ast.Call) and ast.unparse(node.func) == "_declared_default"
            and isinstance(node.args[0], ast.Constant)):
        return declared.get(str(node.args[0].value), {"default": DYNAMIC}).get("default")
    return stated(node, scope)


def _constant(node: ast.expr, scope: Scope) -> Any:
    value = scope.value_or(node, DYNAMIC)
    return ast.unparse(node) if isinstance(value, (Opaque, Class, Function)) else value


def _type(node: ast.expr, scope: Scope) -> str | None:
    """A name for the type of an argument; that of a wrapped one where it is optional."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func).rpartition(".")[2]
        if name in ("optional_type", "parse_type", "optional_arg", "partial") and node.args:
            return _type(node.args[0], scope)
        return name
    if isinstance(node, ast.Lambda):
        return None
    text = ast.unparse(node)
    short = text.rpartition(".")[2]
    return _TYPES.get(text, _TYPES.get(short, short))


def _finish(declaration: Kwargs) -> Kwargs:
    """The arguments in the catalogue's words."""
    action = str(declaration.pop("action", "store"))
    nargs = declaration.pop("nargs", None)
    text = str(declaration.pop("help", None) or "")
    result: Kwargs = {"type": declaration.get("type") or ("bool" if action in _SWITCHES else "str")}
    if "StoreTrue" in action or action in ("DeprecatedAction", "StoreBoolean"):
        result["type"] = "bool"
    if "BooleanOptionalAction" in action or declaration.get("negatable"):
        result |= {"type": "bool", "negatable": True}
    if nargs in ("+", "*") or isinstance(nargs, int) or action in ("append", "extend"):
        result["type"] = f"list of {str(result['type']).removeprefix('list of ')}"
    result["default"] = declaration.get("default", _SWITCHES.get(
        action, False if "StoreTrue" in action and result["type"] == "bool" else None))
    result = resolved(result)
    for key in ("choices", "known", "open_choices"):
        if declaration.get(key):
            result[key] = declaration[key]
    if declaration.get("required") is True:
        result["required"] = True
    if "choices" in result:
        if not declaration.get("optional"):  # what is typed is text, and never None
            result["choices"] = [item for item in result["choices"] if item is not None]
        result["choices"] = _sorted(result["choices"])
        result.pop("known", None)
    flag = str(declaration.get("new_flag") or "")
    if declaration.get("deprecated") or flag or "Deprecated" in action or _DEPRECATED.search(text):
        result["deprecated"] = True
        successor = re.match(r"--[a-z][\w-]*", flag) or _USE.search(text)
        if successor:
            result["use"] = successor[successor.re.groups].rstrip("-")
    return result


def _sorted(values: Iterable[Any]) -> list[Any]:
    """Choices in an order that does not depend on the source: numbers first, then texts."""
    return sorted(("None" if value is None else value for value in values),
                  key=lambda value: (isinstance(value, str), value if isinstance(value, str)
                                     else f"{value:020}"))


def field_docs(owner: Class, name: str) -> str:
    """The text below a field, which vLLM shows as its help."""
    for base in owner.bases():
        for item, after in itertools.pairwise(base.node.body):
            if (isinstance(item, ast.AnnAssign) and ast.unparse(item.target) == name
                    and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)):
                return str(after.value.value).strip()
    return ""


def annotated_options(module: Module, result: dict[str, Kwargs]) -> dict[str, Kwargs]:
    """Note SGLang's ``name: A[type, Arg(...)] = default``; return the defaults of all fields."""
    declared: dict[str, Kwargs] = {}
    places = [module] if module.path.endswith("server_args.py") else []
    folder = module.path.rpartition("/")[0] + "/arg_groups/fields/"
    places += [part for path in sorted(module.package.files) if places and path.startswith(folder)
               and (part := module.package.at(path))]
    for part in places:
        for node in part.tree.body:
            if isinstance(node, ast.ClassDef):
                owner = Class(part, node)
                for name, (_, item) in owner.fields().items():
                    declared[name] = default_of(owner, name) if item.value is not None else {}
                    if (option := annotated_option(item, Scope(part))) is not None:
                        names, argument = field_option(name, *option, declared[name], Scope(part))
                        _note(result, names, argument)
    return declared


def annotated_option(item: ast.AnnAssign, scope: Scope
                     ) -> tuple[ast.expr, dict[str, ast.expr]] | None:
    """The type of an annotated field and the words of its ``Arg``, if it is an option."""
    match item.annotation:
        case ast.Subscript(ast.Name("A" | "Annotated"), ast.Tuple([kind, *extras])):
            for extra in extras:
                if isinstance(extra, ast.Call) and ast.unparse(extra.func) == "Arg":
                    words = dict(zip(_ARG_WORDS, extra.args, strict=False))
                    words |= {word.arg: word.value for word in extra.keywords if word.arg}
                    return None if "no_cli" in words else (kind, words)
                if isinstance(extra, (ast.Constant, ast.JoinedStr, ast.BinOp)):
                    return kind, {"help": extra}
    return None


def field_option(name: str, annotation: ast.expr, words: dict[str, ast.expr], default: Kwargs,
         scope: Scope) -> tuple[list[str], Kwargs]:
    """What SGLang's ``add_cli_args_from_dataclass`` makes of a field."""
    first = (str(_constant(words["cli_name"], scope)) if "cli_name" in words
             else f"--{name.replace('_', '-')}")
    aliases = _constant(words["aliases"], scope) if "aliases" in words else []
    call = ast.Call(ast.Name("f"), [], [ast.keyword(key, value) for key, value in words.items()
                                        if key in ("choices", "nargs", "help", "action")])
    if "type_parser" in words:
        call.keywords.append(ast.keyword("type", words["type_parser"]))
    argument = _declaration(call, scope, {})
    types = {hint for hint in hints(annotation, scope) if hint != ("None",)}
    if len(types) == 1 and not words.keys() & {"type_parser", "action"}:
        (kind, *inside), = types
        if kind == "literal":
            argument["type"] = type(inside[0][-1]).__name__
            argument.setdefault("choices", _sorted(inside[0]))
        elif kind == "list":
            inner = {hint[0] for hint in inside[0]}
            argument["type"] = f"list of {inner.pop() if inner <= {'int', 'float'} else 'str'}"
        else:
            argument["type"] = kind if kind in ("bool", "int", "float") else "str"
    argument |= default or {"default": None, "required": True}
    return [first, *(aliases if isinstance(aliases, list) else [])], resolved(argument)
