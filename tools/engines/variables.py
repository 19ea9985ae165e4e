"""Environment variables and configuration keys that an engine declares or reads."""

from __future__ import annotations

import ast
import re

from tools.engines.hints import (
    Kwargs,
    annotation_name,
    choices,
    default_of,
    hints,
    resolved,
    stated_default,
)
from tools.engines.package import Module, Package, Unresolved, plain
from tools.engines.static import Class, Function, Scope

_CASTS = {"int": "int", "float": "float", "bool": "bool", "maybe_convert_int": "int",
          "maybe_convert_bool": "bool", "get_bool_env_var": "bool", "get_int_env_var": "int"}


def variables(package: Package, registry: str, prefixes: tuple[str, ...]) -> dict[str, Kwargs]:
    """Variables of the engine's registry, and names with its prefix that it reads elsewhere."""
    module = package.at(registry)
    declared = registry_variables(module) | envs_fields(module) if module else {}
    return {name: {"type": None, "default": None, "dynamic": True}
            for name in names_read(package, prefixes)} | declared


def registry_variables(module: Module) -> dict[str, Kwargs]:
    """``environment_variables = {"NAME": lambda: os.getenv("NAME", default), ...}``."""
    annotations = annotations_of(module)
    result: dict[str, Kwargs] = {}
    for name in ("environment_variables", "env_variables"):  # of vLLM, of its plug-in
        node = module.names.get(name)
        for key, value in (zip(node.keys, node.values, strict=True)
                           if isinstance(node, ast.Dict) else ()):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                result[key.value] = declared_variable(value, module, annotations.get(key.value))
    return result


def declared_variable(node: ast.expr, module: Module, annotation: ast.expr | None) -> Kwargs:
    """A variable of the registry, with the type that an annotation or its default gives."""
    scope = Scope(module, {}, unset=True)
    result: Kwargs = {"type": annotation_name(annotation, scope) if annotation else None}
    body = node.body if isinstance(node, ast.Lambda) else node
    try:
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("_with_choices"):
            words = dict(zip(("env_name", "default", "choices"), node.args, strict=False))
            words |= {word.arg: word.value for word in node.keywords if word.arg}
            result["default"] = plain(scope.value(words["default"]))
            result |= choices(words["choices"], scope)
            if "choices" in result:
                result["choices"].sort(key=str)
        else:
            value = scope.value(body)
            while isinstance(value, Function):
                value = scope.run(value)
            result["default"] = plain(value)
    except Unresolved:
        result |= {"default": None, "dynamic": True}
    default = result["default"]
    if result["type"] is None:
        result["type"] = type(default).__name__ if isinstance(default, (bool, float, str)) \
            else _cast(body)
    return result


def _cast(node: ast.AST) -> str | None:
    """The type that an expression makes of the variable's text, where it is plain to see."""
    match node:
        case ast.Call(func=ast.Name(id=name)) if name in _CASTS:
            return _CASTS[name]
        case ast.Compare() | ast.UnaryOp(op=ast.Not()) | ast.Constant(value=bool()):
            return "bool"
        case ast.Call(func=ast.Attribute(attr="split")):
            return "list of str"
        case (ast.Constant(value=str()) | ast.Call(func=ast.Attribute(value=ast.Name(id="os")))
              | ast.Call(func=ast.Attribute(attr="getenv" | "get" | "lower" | "upper" | "strip"))):
            return "str"
    return None


def annotations_of(module: Module) -> dict[str, ast.expr]:
    """``NAME: type = ...`` under ``if TYPE_CHECKING:``."""
    return {item.target.id: item.annotation for statement in module.tree.body
            if isinstance(statement, ast.If) for item in statement.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}


def envs_fields(module: Module) -> dict[str, Kwargs]:
    """SGLang's ``class Envs: NAME = EnvBool(False)``."""
    result: dict[str, Kwargs] = {}
    for item in (item for node in module.tree.body
                 if isinstance(node, ast.ClassDef) and node.name == "Envs" for item in node.body):
        match item:
            case ast.Assign([ast.Name(name)], ast.Call(func, args, keywords)):
                kind = ast.unparse(func).removeprefix("Env").removesuffix("WithAlias").lower()
                words = {word.arg: word.value for word in keywords}
                default = words.get("default", args[0] if args else None)
                result[name] = {"type": {"tuple": "list of str", "enum": "str"}.get(kind, kind)}
                result[name] |= stated_default(default, Scope(module))
                if isinstance(old := words.get("deprecated_name"), ast.Constant):
                    result[name]["aliases"] = [old.value]
    return result


def names_read(package: Package, prefixes: tuple[str, ...]) -> set[str]:
    """Variables with one of the prefixes that any module reads by name."""
    read = re.compile(r"(?:getenv|get_\w*env\w*|environ(?:\.get)?)\s*[(\[]\s*[\"']"
                      rf"((?:{'|'.join(prefixes)})\w+)[\"'](?!\]\s*=[^=])")
    return {name for text in package.files.values() for name in read.findall(text)}


def options(package: Package, path: str, root: str) -> dict[str, Kwargs]:
    """Keys of vllm-ascend's ``additional_config``, nested ones with a dot: fields of classes."""
    module = package.at(path)
    result: dict[str, Kwargs] = {}
    node = module.names.get(root) if module else None
    if module and isinstance(node, ast.ClassDef):
        _declared(Class(module, node), "", result)
    return result


def _declared(owner: Class, prefix: str, result: dict[str, Kwargs]) -> None:
    for name, (module, item) in owner.fields().items():
        if name.startswith("_"):
            continue
        scope = Scope(module)
        nested = next((hint[1] for hint in hints(item.annotation, scope)
                       if hint[0] == "config" and hint[1] in module.names), None)
        result[prefix + name] = {
            "type": "json" if nested else annotation_name(item.annotation, scope)
        } | resolved(default_of(owner, name))
        if nested and prefix.count(".") < 2:
            inside = module.names[nested]
            assert isinstance(inside, ast.ClassDef)
            _declared(Class(module, inside), f"{prefix}{name}.", result)


def platform_values(package: Package, path: str, arguments: dict[str, str]) -> dict[str, Kwargs]:
    """Arguments whose values a platform limits: argument -> attribute of its class."""
    module = package.at(path)
    result: dict[str, Kwargs] = {}
    for node in module.tree.body if module else ():
        if isinstance(node, ast.ClassDef) and module is not None:
            owner = Class(module, node)
            for argument, name in arguments.items():
                try:
                    values = plain(Scope(module).default(owner, name))
                except Unresolved:
                    continue
                result[argument] = {"type": "str", "default": None, "choices": values}
    return result
