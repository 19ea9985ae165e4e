"""Prometheus metrics that an engine declares, by the name under which they are scraped."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tools.engines.hints import Kwargs
from tools.engines.package import Module, Package
from tools.engines.static import Scope

# in what is called: ``Gauge``, ``self._gauge_cls``
_KIND = re.compile(r"_?(?:Ray|_)?(counter|gauge|histogram|summary|info)(?:Wrapper|_cls)?", re.I)
_DEPRECATED = re.compile(r"\bdeprecated\b", re.I)
_ENDING = re.compile(r"_(total|info|bucket|sum|count)$")
_USE = re.compile(r"(?:use|by|favou?r of|renamed to)\s+[`'\"]*([a-z]+:[a-z][a-z0-9_]*)", re.I)


def metrics(package: Package, prefix: str) -> dict[str, Kwargs]:
    """Every metric whose name starts with the engine's prefix, ``vllm:``.

    A name that stands in the source where metrics are made, but not in a call that tells its kind,
    has no type and is marked dynamic.
    """
    pattern = re.compile(rf"{prefix}[a-z][a-z0-9_]*")
    typed: dict[str, Kwargs] = {}
    loose: dict[str, Kwargs] = {}
    for path, text in sorted(package.files.items()):
        if (prefix in text and re.search(r"Gauge|Counter|Histogram|prometheus", text)
                and (module := package.at(path))):
            typed = dict(metric_calls(module, pattern)) | typed
            loose |= {str(node.value): {"type": None, "dynamic": True}
                      for node in ast.walk(module.tree)
                      if isinstance(node, ast.Constant) and pattern.fullmatch(str(node.value))}
    stems = {_ENDING.sub("", name) for name in typed}
    return typed | {name: metric for name, metric in loose.items()
                    if _ENDING.sub("", name) not in stems}


def metric_calls(module: Module, pattern: re.Pattern[str]) -> Iterator[tuple[str, Kwargs]]:
    """The calls that make a metric, with the name each gives it."""
    for node, local in _walk(module.tree, {}):
        match = _KIND.fullmatch(ast.unparse(node.func).rpartition(".")[2])
        if match is None:
            continue
        kind = match[1].lower()
        words = {word.arg: word.value for word in node.keywords}
        named = words.get("name", node.args[0] if node.args else None)
        text = words.get("documentation", node.args[1] if len(node.args) > 1 else None)
        for name in filter(pattern.fullmatch, metric_names(named, module, local)):
            metric: Kwargs = {"type": kind}
            help_text = ast.unparse(text) if text is not None else ""
            if _DEPRECATED.search(help_text):
                metric["deprecated"] = True
                if use := _USE.search(help_text):
                    metric["use"] = use[1]
            yield scraped_name(name, kind), metric


def scraped_name(name: str, kind: str) -> str:
    """The name as scraped: the client adds ``_total`` to counters and ``_info`` to infos."""
    suffix = {"counter": "_total", "info": "_info"}.get(kind, "")
    return name if not suffix or name.endswith(suffix) else name + suffix


def metric_names(node: ast.expr | None, module: Module, local: dict[str, list[str]]) -> list[str]:
    """Names that an expression may have: a text, or those of a local variable."""
    if isinstance(node, ast.Name) and node.id in local:
        return local[node.id]
    value = Scope(module).value_or(node, None) if node else None
    return [value] if isinstance(value, str) else []


def _walk(node: ast.AST, local: dict[str, list[str]]
          ) -> Iterator[tuple[ast.Call, dict[str, list[str]]]]:
    """Every call, with the local texts of the function around it."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call):
            yield child, local
        yield from _walk(child, local_texts(child) if isinstance(child, ast.FunctionDef) else local)


def local_texts(function: ast.FunctionDef) -> dict[str, list[str]]:
    """Texts that the variables of a function may hold: assigned, or looped over as written."""
    result: dict[str, list[str]] = {}
    rows: dict[str, list[ast.expr]] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Name(name), *_], ast.List(elts) | ast.Tuple(elts)):
                rows.setdefault(name, []).extend(elts)
            case ast.Assign([ast.Name(name), *_], ast.Constant(str() as text)):
                result.setdefault(name, []).append(text)
    for node in ast.walk(function):
        if isinstance(node, (ast.For, ast.comprehension)):
            over = getattr(node.iter, "elts", None) or rows.get(ast.unparse(node.iter), [])
            for index, target in enumerate(getattr(node.target, "elts", [node.target])):
                for row in over:
                    match row.elts[index:index + 1] if isinstance(row, ast.Tuple) else [row]:
                        case [ast.Constant(str() as text)]:
                            result.setdefault(ast.unparse(target), []).append(text)
    return result
