"""A file that describes several deployments: what they share, and what each states otherwise.

``variants`` holds what differs by key, groups merged key by key, a value replaced whole. What a
document prints of one deployment is not true of another: claims, measurements and the note at the
top of the file speak of the family as a whole and are not handed down, the document's inputs are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from catalogue import library
from catalogue.reading.errors import ParamsError
from catalogue.reading.values import both_languages, is_path
from catalogue.reading.yamlfile import KeyPath, YamlFile

SEPARATOR = "#"  # between the path of a family's file and the key of one of its variants
OF_THE_WHOLE = ("variants", "pools", "measured", "note")
_KEY = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")


def find(reference: str | Path) -> tuple[Path, str | None]:
    """The file of a deployment, and the key of its variant if the reference names one.

    ``s1-scale-48`` is variant ``48`` of ``s1-scale``, unless a file has that name; ``mine.yml#48``
    one of a file of the reader's own.

    Raises ParamsError as ``catalogue.locate`` does.
    """
    text = str(reference).strip()
    stem, separator, key = text.rpartition(SEPARATOR)
    if separator:
        return library.locate("scenarios", stem), key
    return _variant(text) or (library.locate("scenarios", text), None)


def describes(name: str) -> bool:
    """Whether a deployment, or a variant of a family of them, has this identifier; no file of
    another name is read."""
    return library.stands("scenarios", name) or _variant(name) is not None


def _variant(text: str) -> tuple[Path, str] | None:
    """The family's file and the key of a variant, if an identifier is that of one."""
    if is_path(text) or library.stands("scenarios", text):
        return None
    parts = text.split("-")
    for count in range(len(parts) - 1, 0, -1):
        stem, key = "-".join(parts[:count]), "-".join(parts[count:])
        if library.stands("scenarios", stem):
            path = library.locate("scenarios", stem)
            if key in keys(library.read(path)):
                return path, key
    return None


def keys(file: YamlFile) -> list[str]:
    """Keys of a file's variants in its order; none if it describes one deployment.

    Raises ParamsError, one sentence, for variants that are not groups with a title each, and for
    pools that are not two of them.
    """
    variants = file.data.get("variants")
    if variants is None:
        if "pools" in file.data:
            raise ParamsError(f"{file.where(('pools',))}: pools: there are no variants to be "
                              "pools.")
        return []
    where = file.where(("variants",))
    if not isinstance(variants, dict) or not variants:
        raise ParamsError(f"{where}: variants: expected a group of keys, one per deployment.")
    for key, own in variants.items():
        where = file.where(("variants", key))
        if not _KEY.fullmatch(key):
            raise ParamsError(f"{where}: variants: '{key[:40]}' is not a key, expected small "
                              "letters and digits, joined by '-' or '.'.")
        if not isinstance(own, dict) or "title" not in own:
            raise ParamsError(f"{where}: variants.{key}: the key 'title' is missing.")
        if inside := [name for name in ("variants", "pools") if name in own]:
            raise ParamsError(f"{file.where(('variants', key, inside[0]))}: variants.{key}: "
                              f"'{inside[0]}' stands at the top of the file.")
    pools = file.data.get("pools")
    if pools is not None and not (isinstance(pools, list) and len(pools) == 2
                                  and all(isinstance(pool, str) and pool in variants
                                          for pool in pools)):
        raise ParamsError(f"{file.where(('pools',))}: pools: expected two of the variants "
                          f"{', '.join(variants)}, the prefill pool first.")
    return list(variants)


def overlaid(file: YamlFile, key: str) -> YamlFile:
    """The file of one variant, every key with the line that it comes from.

    Raises ParamsError for a key that the file does not have.
    """
    known = keys(file)
    if key not in known:
        raise ParamsError(f"{file.where(('variants',))}: there is no variant '{key[:40]}', "
                          + (f"expected one of {', '.join(known)}." if known
                             else "the file describes one deployment."))
    base = {name: raw for name, raw in file.data.items() if name not in OF_THE_WHOLE}
    if isinstance(base.get("documented"), dict):
        base["documented"] = {name: raw for name, raw in base["documented"].items()
                              if name != "claims"}
    data = library.over(base, file.data["variants"][key])
    at: KeyPath = ("variants", key)
    lines = file.lines | {keys[len(at):]: line for keys, line in file.lines.items()
                          if keys[:len(at)] == at and len(keys) > len(at)}
    return YamlFile(file.path, data | {"id": f"{file.path.stem}-{key}"}, lines)


def title(file: YamlFile) -> dict[str, str]:
    """What a family is called, in both languages.

    Raises ParamsError for a title that lacks one.
    """
    try:
        return both_languages(file.data.get("title"))
    except ValueError as error:
        raise ParamsError(f"{file.where(('title',))}: title: {error}.") from None


def of_the_whole(file: YamlFile) -> YamlFile:
    """What a family's file says of all its deployments, laid over its first variant."""
    first = overlaid(file, keys(file)[0])
    own: dict[str, Any] = {name: file.data[name] for name in ("title", "note", "section")
                           if name in file.data}
    data = {name: raw for name, raw in first.data.items() if name != "note"} | own
    if isinstance(file.data.get("documented"), dict):
        data["documented"] = file.data["documented"]
    lines = first.lines | {keys: line for keys, line in file.lines.items()
                           if keys[:1] in (("title",), ("note",), ("documented",))}
    return YamlFile(file.path, data | {"id": file.path.stem}, lines)


def paired(file: YamlFile, load: Callable[[str, Sequence[str]], Any]
           ) -> tuple[Any, Any] | None:
    """The prefill and the decode pool that a file names, for the requests of the one that decodes.

    Args:
        file: of a family; None comes back for one without pools.
        load: a variant by its key, with overrides.

    Raises ParamsError, one sentence, for pools of two models, and for requests without a length.
    """
    keys(file)
    names = file.data.get("pools")
    if not names:
        return None
    where = file.where(("pools",))
    prefill, decode = (load(name, ()) for name in names)
    if prefill.model.id != decode.model.id:
        raise ParamsError(f"{where}: pools: '{names[0]}' serves '{prefill.model.id}' and "
                          f"'{names[1]}' serves '{decode.model.id}', expected one model.")
    workload = decode.file.workload
    if workload.input_tokens is None or workload.output_tokens is None:
        raise ParamsError(f"{where}: pools: '{names[1]}' does not say how long its requests are, "
                          "expected workload.input_tokens and workload.output_tokens.")
    asked, own = workload.input_tokens.value, prefill.file.workload.input_tokens
    if own is None or own.value != asked:
        prefill = load(names[0], (f"workload.input_tokens={int(asked)} token",
                                  "workload.output_tokens=1 token"))
    return prefill, decode
