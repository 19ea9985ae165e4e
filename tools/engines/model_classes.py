"""Find since which release of an engine it has the classes of models that it registers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import yaml
from packaging.version import Version

from tools.engines.source import Fetch, find, load, published

LARGE = "vllm"  # its wheels have half a gigabyte: releases without source are left out
CLASS = ("ForCausalLM", "ForConditionalGeneration")


def vllm_classes(files: dict[str, str]) -> Iterator[str]:
    """Keys of the dictionaries of vLLM's registry."""
    tree = ast.parse(files["vllm/model_executor/models/registry.py"])
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            yield from (key.value for key, value in zip(node.keys, node.values, strict=True)
                        if isinstance(key, ast.Constant) and isinstance(key.value, str)
                        and isinstance(value, ast.Tuple) and key.value.endswith(CLASS))


def sglang_classes(files: dict[str, str]) -> Iterator[str]:
    """What modules of SGLang's models assign to ``EntryClass``."""
    for path, text in files.items():
        if path.startswith("sglang/srt/models/") and "EntryClass" in text:
            for node in ast.walk(ast.parse(text.lstrip("\ufeff"))):
                if isinstance(node, ast.Assign) and any(
                        isinstance(target, ast.Name) and target.id == "EntryClass"
                        for target in node.targets):
                    yield from (name.id for name in ast.walk(node.value)
                                if isinstance(name, ast.Name) and name.id.endswith(CLASS))


READERS = {"vllm": vllm_classes, "sglang": sglang_classes}


def classes_text(name: str, path: Path, cache: Path | None, get: Fetch) -> str:
    """The file of one engine, with releases after the last that brought a class.

    Raises ExtractError for a release that cannot be read.
    """
    since: dict[str, list[str]] = yaml.safe_load(path.read_text("utf-8"))["since"]
    last = max(map(Version, since))
    for release in find(name, [version for version in published(name, get)
                               if Version(version) > last], get):
        if name == LARGE and release.url.endswith(".whl"):
            continue
        new = set(READERS[name](load(release, cache, get, name))).difference(*since.values())
        print(f"{name} {release.version}: {len(new)} new classes of models")
        if new:
            since[release.version] = sorted(new)
    return ("# Written by python -m tools.engines classes: classes of models by the release in "
            "which they come.\n"
            + yaml.safe_dump({"since": since}, width=100, sort_keys=False, default_flow_style=None))
