"""Find which classes of models and attention backends the releases of an engine have.

    python -m tools.engines.model_classes [--only vllm] [--cache DIR]

Read from released source, which is parsed and never run: the classes that an engine registers
(``architectures`` of a model's configuration), and of vLLM the compute capabilities that each
attention backend says it supports. Both go to ``params/engines/models/``, by the release in which
they come and, if they are gone again, the first without them.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import yaml
from packaging.version import Version

from tools.engines.command import run
from tools.engines.package import Capability, Module, Package, Unresolved
from tools.engines.source import Fetch, Source, fetch, find, load, published
from tools.engines.static import Function, Scope

TARGET = Path(__file__).resolve().parents[2] / "params" / "engines" / "models"
FIRST = {"vllm": "0.8.5.post1", "sglang": "0.4.6.post5"}
"""Engine -> the first release that is read; of later ones all but candidates."""
CAPABILITIES = {"sm_80": (8, 0), "sm_86": (8, 6), "sm_89": (8, 9), "sm_90": (9, 0),
                "sm_100": (10, 0), "sm_103": (10, 3), "sm_120": (12, 0), "sm_121": (12, 1)}
LARGE = "vllm"  # its wheels have half a gigabyte: releases without source are left out
PAIR = cast(ast.Lambda, ast.parse("lambda major, minor: (major, minor)", mode="eval").body)
CLASS = ("ForCausalLM", "ForConditionalGeneration")
SUPPORTS = "supports_compute_capability"


def registered(engine: str, source: Source) -> set[str]:
    """Classes of models that a release registers."""
    return set(vllm_classes(source) if engine == "vllm" else sglang_classes(source))


def vllm_classes(source: Source) -> Iterator[str]:
    """Keys of the dictionaries of vLLM's registry."""
    tree = ast.parse(source.files["vllm/model_executor/models/registry.py"])
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (key.value for key, value in zip(node.keys, node.values, strict=True)
                        if isinstance(key, ast.Constant) and isinstance(key.value, str)
                        and isinstance(value, ast.Tuple) and key.value.endswith(CLASS))


def sglang_classes(source: Source) -> Iterator[str]:
    """What modules of SGLang's models assign to ``EntryClass``."""
    for path, text in source.files.items():
        if path.startswith("sglang/srt/models/") and "EntryClass" in text:
            for node in ast.walk(ast.parse(text.lstrip("\ufeff"))):
                if isinstance(node, ast.Assign) and any(
                        isinstance(target, ast.Name) and target.id == "EntryClass"
                        for target in node.targets):
                    yield from (name.id for name in ast.walk(node.value)
                                if isinstance(name, ast.Name) and name.id.endswith(CLASS))


def backends(source: Source) -> dict[str, tuple[str, ...]]:
    """Attention backends of a release of vLLM -> the architectures that they say they support.

    Backends whose answer is more than a comparison of the capability are left out.
    """
    result: dict[str, tuple[str, ...]] = {}
    for path, text in sorted(source.files.items()):
        if "attention" not in path or SUPPORTS not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and (answer := returned_expression(node)) is not None:
                try:
                    result[node.name] = tuple(name for name, numbers in CAPABILITIES.items()
                                             if is_true(answer, numbers))
                except Unresolved:
                    continue
    return result


def returned_expression(node: ast.ClassDef) -> ast.expr | None:
    """What a class returns of a capability, where that is one expression."""
    for item in node.body:
        if isinstance(item, ast.FunctionDef) and item.name == SUPPORTS:
            rest = [line for line in item.body if not (
                isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))]
            if len(rest) == 1 and isinstance(rest[0], ast.Return):
                return rest[0].value
    return None


def is_true(node: ast.expr, numbers: tuple[int, int]) -> bool:
    """A condition on a capability. Raises Unresolved for anything else."""
    scope = Scope(Module(Package({}), "", ast.Module([], [])))
    scope.local = {"DeviceCapability": Function(scope, PAIR)} | dict.fromkeys(
        ("capability", "device_capability"), Capability(*numbers))
    if not isinstance(value := scope.value(node), bool):
        raise Unresolved
    return value


def spans(contents: Mapping[str, Iterable[str]]) -> dict[str, Any]:
    """Things by the release in which they come, and by the first that has them no more.

    Args:
        found: what each release has, the oldest first.
    """
    since: dict[str, list[str]] = {}
    until: dict[str, list[str]] = {}
    before: set[str] = set()
    for release, has in contents.items():
        now = set(has)
        for changes, names in ((since, now - before), (until, before - now)):
            if names:
                changes[release] = sorted(names)
        before = now
    return {"since": since, "until": until}


def models_text(name: str, cache: Path | None, get: Fetch) -> str:
    """The file of one engine. Raises ExtractError, one sentence, for a release that cannot be
    read."""
    versions = [version for version in published(name, get)
                if Version(version) >= Version(FIRST[name])]
    classes: dict[str, set[str]] = {}
    attention: dict[str, list[str]] = {}
    for release in find(name, versions, get):
        if name == LARGE and release.url.endswith(".whl"):
            continue
        source = load(release, cache, get, name)
        classes[release.version] = registered(name, source)
        attention[release.version] = [f"{backend}: {' '.join(cards) or 'none'}"
                                      for backend, cards in backends(source).items()]
        print(f"{name} {release.version}: {len(classes[release.version])} classes, "
              f"{len(attention[release.version])} backends")
    data: dict[str, Any] = {"read": list(classes), "model_classes": spans(classes)}
    if any(attention.values()):
        data["attention_backends"] = spans(attention)
    return (
        "# Written by python -m tools.engines.model_classes: classes of models that releases "
        "register, and what\n# attention backends support, by the release in which they come and "
        "the first without them.\n"
        + yaml.safe_dump(data, sort_keys=False, width=100, default_flow_style=None))


def main(argv: Sequence[str] | None = None, target: Path = TARGET, get: Fetch = fetch) -> int:
    """Write the files. Returns 0, or 1 after one sentence that says what stopped it."""
    files = {name: target / f"{name}.yml" for name in FIRST}
    return run("tools.engines.model_classes", __doc__, files, models_text, argv, get)


if __name__ == "__main__":
    sys.exit(main())
