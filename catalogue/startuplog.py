"""Read the start-up log of an engine: figures of memory, and the deployment that it names.

The text is only searched: nothing in it is run, loaded or looked up. What engines print stands in
``params/startup_logs.yml``; only lines that may say something are searched further. Settings given
on the command line replace those of the log.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catalogue import library
from catalogue.entries.deployments import Precision
from catalogue.entries.hardware import WIDE
from catalogue.entries.models import Model
from catalogue.kernels import published_precision
from catalogue.reading import yamlfile
from catalogue.reading.files import ROOT, ParamsError, read_small
from catalogue.reading.units import factor

LARGEST = 32 << 20  # bytes that are read
GIB = factor("GiB")
SIZES = ("<size>", "<gib>", "<used>")  # parts of patterns that hold GiB
SEARCHED = 1 << 20  # characters of lines that are searched: more than any start prints
WIDEST = 1 << 16  # characters of a line, of which engines print their arguments on one
PRINTED: Mapping[str, Any] = yamlfile.read(ROOT / "startup_logs.yml").data
_KEYS = {key: name for name, keys in PRINTED["arguments"].items() for key in keys}
_NAMED = "|".join(sorted({key.lstrip("-").replace("_", "[_-]") for key in _KEYS},
                         key=len, reverse=True))
_PAIR = re.compile(rf"(?<![\w-])(-{{0,2}})({_NAMED})(?![\w-])['\"]?"
                   r"(?:\s{0,4}[=:]\s{0,4}|\s{1,12}(?:- )?)\(?['\"]?([A-Za-z0-9][\w.]{0,63})")
_RANK = re.compile(rf"(?<=[_ (])({'|'.join(PRINTED['ranks'])})([0-9]{{1,4}})(?=[_ \])])")


def _matches(pattern: str, text: str) -> Iterator[re.Match[str]]:
    """Where a pattern of ``startup_logs.yml`` matches."""
    for name, part in reversed(PRINTED["parts"].items()):
        pattern = pattern.replace(f"<{name}>", part)
    return re.finditer(pattern, text)


@dataclass(frozen=True)
class StartupText:
    """What a log says, as it was written.

    Attributes:
        engine: that printed it.
        release: of the engine; None if it does not stand there.
        checkpoints: names or paths of what was loaded, most trustworthy first.
        cards: names of the cards.
        printed: figures in SI units by name.
        arguments: settings of the launch by name, as ``startup_logs.yml`` has them.
        ranks: ranks that printed something, by name of a parallelism [1].
        eager: whether no graphs are captured.
        length: tokens of the longest request; None if it does not stand there [token].
        refused: why the engine refused to start for lack of memory; None if it did not.
    """

    engine: str
    release: str | None
    checkpoints: tuple[str, ...]
    cards: tuple[str, ...]
    printed: Mapping[str, float]
    arguments: Mapping[str, str]
    ranks: Mapping[str, int]
    eager: bool
    length: int | None
    refused: str | None


def read_log(path: Path) -> StartupText:
    """Read a start-up log of vLLM, SGLang or vLLM Ascend.

    Args:
        path: of the log.

    Raises ParamsError, one sentence, for a file that cannot be read, is too large, or has no line
    on memory that one of these engines prints.
    """
    raw = read_small(path, "the lines of the start alone", LARGEST)
    lines = raw.decode("utf-8", "replace").split("\n")
    telling = re.compile("|".join(PRINTED["lines"]))
    tells = [telling.search(line, 0, WIDEST) is not None for line in lines]
    text = "\n".join(line[:WIDEST] for line, own, before in zip(  # each with the next one
        lines, tells, [False, *tells], strict=False) if own or before)[:SEARCHED]
    engine = next((name for name, item in PRINTED["engines"].items()
                   if _first(item["prints"], text)), None)
    printed = {name: value for name, patterns in PRINTED["figures"].items()
               if (value := _fullest(name, patterns, text)) is not None}
    if engine is None or not printed:
        raise ParamsError(f"{path}: no line on memory as vLLM, SGLang or vLLM Ascend print it, "
                          "such as 'Available KV cache memory: 41.06 GiB'.")
    length, ranks = _first(PRINTED["length"], text), dict[str, int]()
    for written, number in _RANK.findall(text):  # in the names of the workers that print
        of = PRINTED["ranks"][written]
        ranks[of] = max(ranks.get(of, 1), int(number) + 1)
    return StartupText(
        engine, _first(PRINTED["engines"][engine]["release"], text),
        _all(PRINTED["checkpoint"], text), _all(PRINTED["card"], text), printed, _arguments(text),
        ranks, _first(PRINTED["flags"]["eager"], text) is not None,
        int(length.replace(",", "") or 0) or None if length else None,
        next((name for name, words in PRINTED["refused"].items() if _first(words, text)), None))


def _fullest(name: str, patterns: list[str], text: str) -> float | None:
    """A printed figure in SI units: the fullest rank's by the first pattern that is found."""
    for pattern in patterns:
        unit = GIB if any(part in pattern for part in SIZES) else 1
        values = [sum(float(part.replace(",", "")) for part in match.groups()) * unit
                  for match in _matches(pattern, text)]
        if values:
            return (min if name in PRINTED["least"] else max)(values)
    return None


def _first(patterns: list[str], text: str) -> str | None:
    """What the first pattern that is found holds."""
    return next((match[match.lastindex or 0] for pattern in patterns
                 for match in _matches(pattern, text)), None)


def _all(patterns: list[str], text: str) -> tuple[str, ...]:
    """What patterns find, each once."""
    return tuple(dict.fromkeys(
        match[1] for pattern in patterns for match in _matches(pattern, text)))


def _arguments(text: str) -> dict[str, str]:
    """The first value of each argument, or what the engine states instead."""
    result = {name: value for name, words in PRINTED["stated"].items()
             if (value := _first(words, text))}
    for dashes, written, value in _PAIR.findall(text):
        key = written.replace("-", "_")
        name = _KEYS.get(key) or (_KEYS.get(f"-{key}") if dashes else None)
        if name is None or name in result or value == "None":
            continue
        if name in PRINTED["words"] or re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", value):
            result[name] = value
    flags = {name for name, words in PRINTED["flags"].items() if _first(words, text)}
    if "whole_experts" in flags:
        result["expert_parallel"] = "all"
    return result | dict.fromkeys(flags & {*TOWER, "dp_attention"}, "True")


PARALLEL = ("tensor_parallel", "pipeline_parallel", "data_parallel", "decode_context_parallel")
WORKLOAD = {"max_num_batched_tokens": " token", "block_size": " token", "memory_utilization": "",
            "draft_tokens": "", "max_num_seqs": " request"}
"""Arguments that a scenario states as its workload, each with its unit."""
TOWER = ("text_only", "vision_whole")  # what is loaded of a vision tower
SHORTEST = 8192  # tokens of a request where neither log nor model says how many
BYTE = 8  # bits
PART = re.compile(r"SXM[0-9]?|HBM[0-9][a-z]?|[0-9]{2,3}GB")
"""Words after the name of a card that name no other card, if its memory is as large."""
ALIKE = 0.1  # [1] of a memory, from which on it is another


def recognised(log: StartupText, given: Mapping[str, str]) -> dict[str, Any]:
    """The deployment that a log names, as a scenario's file states it besides title and defaults.

    ``model``, ``device``, ``precision`` and ``node`` are None where nothing says them.

    Args:
        log: what it says.
        given: settings in place of what it says, by path.

    Raises ParamsError for a setting that names no entry.
    """
    model = given.get("model") or _model(log.checkpoints)
    device = given.get("device") or next(filter(None, map(_card, log.cards)), None)
    precision, node = given.get("precision"), given.get("cluster.node")
    longest, arguments = log.length, log.arguments
    if model:
        entry: Model = library.load("models", model)
        precision = precision or _precision(entry, log)
        most = entry.max_position_embeddings
        longest = longest or (int(most.value) if most else None)
    if device and node is None:
        node = library.load("devices", device).node
    cut = _cut(log, given)
    devices = cut["tensor_parallel"] * cut["data_parallel"] * cut["pipeline_parallel"]
    per_node = library.load("nodes", node).devices_per_node.value if node else devices
    nodes = max(math.ceil(devices / per_node), int(arguments.get("nodes", 1)))
    workload = {"concurrency": f"{cut['data_parallel']} request",
                "context_tokens": f"{longest or SHORTEST} token"}
    workload |= {name: f"{arguments[name]}{unit}"
                 for name, unit in WORKLOAD.items() if name in arguments}
    data: dict[str, Any] = {
        "model": model, "device": device, "precision": precision,
        "engine": log.engine + (f"@{log.release}" if log.release else ""),
        "cluster": {"node": node, "nodes": nodes, "devices": devices}, "parallelism": cut,
        "workload": workload}
    if log.eager:
        data["graphs"] = False
    if tower := [name for name in TOWER if name in arguments]:
        data["mechanisms"] = dict.fromkeys(tower, 1)
    return data


def _cut(log: StartupText, given: Mapping[str, str]) -> dict[str, int]:
    """Parallelism by name: as given, else an argument of the launch, else the ranks that print."""
    def size(name: str) -> str | None:
        stated = given.get(f"parallelism.{name}") or log.arguments.get(name)
        return stated if stated is None or stated.isdecimal() else None

    cut = {name: max(1, int(size(name) or log.ranks.get(name, 1))) for name in PARALLEL}
    if "dp_attention" in log.arguments and "parallelism.tensor_parallel" not in given:
        cut["tensor_parallel"] //= math.gcd(cut["tensor_parallel"], cut["data_parallel"])
    ranks = cut["tensor_parallel"] * cut["data_parallel"]
    all_experts = log.arguments.get("expert_parallel") == "all"
    cut["expert_parallel"] = min(
        ranks, int(size("expert_parallel") or (ranks if all_experts else 1)))
    return cut


def _model(checkpoints: tuple[str, ...]) -> str | None:
    """The model of the catalogue whose name, or another of its names, is the longest in a path."""
    by_name = {library.plain(other): name for name in library.names("models")
             for other in (name, *library.also("models", name))}
    for named in map(library.plain, map(_last, checkpoints)):
        fitting = [other for other in by_name
                   if named == other or named.startswith((f"{other}-", f"{other}_"))]
        if fitting:
            return by_name[max(fitting, key=len)]
    return None


def _last(path: str) -> str:
    """The checkpoint's name in a path, also in one of a cache of the Hugging Face hub.

    >>> _last("/hub/models--zai-org--GLM-5.1-FP8/snapshots/60d8/"), _last("Qwen/Qwen3-8B")
    ('GLM-5.1-FP8', 'Qwen3-8B')
    """
    parts = path.rstrip("/").split("/")
    hub = [part for part in parts if part.startswith("models--")]
    return hub[-1].rpartition("--")[2] if hub else parts[-1]


def _card(written: str) -> str | None:
    """The card that a program names; None if the catalogue has none of that name.

    >>> _card("NVIDIA_H200"), _card("NVIDIA H100 80GB HBM3"), _card("NVIDIA H100 PCIe")
    ('nvidia-h200-sxm', 'nvidia-h100-sxm', None)
    """
    words = re.split(r"[ _]+", re.sub(r"-(?=SXM|[0-9]+GB)", " ", written.strip(" -_.")))
    for length in range(len(words), 0, -1):
        if not all(map(PART.fullmatch, words[length:])):
            break
        name = " ".join(words[:length])
        if "." in name:
            continue
        try:
            device = library.locate("devices", name).stem
        except ParamsError:
            continue
        memory = library.load("devices", device).memory_capacity
        sizes = [int(word[:-2]) * 1e9 for word in words if re.fullmatch("[0-9]{2,3}GB", word)]
        return device if memory is None or all(
            abs(size - memory.value) < ALIKE * memory.value for size in sizes) else None
    return None


def _precision(model: Model, log: StartupText) -> str | None:
    """The precision of a checkpoint: by its repository, its name or the method of quantization.

    Else as the model is published. A cache of eight bits is one of the same weights.
    """
    names = [_last(path).casefold() for path in log.checkpoints]
    published = {_last(one.repository).casefold(): precision
                 for precision in library.names("precisions")
                 for one in library.load("precisions", precision).checkpoints}
    match = next((published[name] for name in names if name in published), None)
    if match is None or match in WIDE:  # which an engine may narrow as it loads
        parts = [part for name in names for part in re.split(r"[-_.]", name)]
        method = log.arguments.get("quantization", "").casefold()
        match = next((PRINTED["precisions"][part] for part in (method, *parts)
                      if part in PRINTED["precisions"]), match)
    match = match or published_precision(model)
    if match is None:
        return None
    if model.index_topk is not None:
        match = PRINTED["indexed"].get(match, match)
    cache = log.arguments.get("kv_cache_dtype", "").casefold()
    base: Precision = library.load("precisions", match)
    if not cache.startswith("fp8") or library.load(
            "formats", base.kv_cache).bits.value <= BYTE:
        return match
    wanted = PRINTED["caches"].get(cache, "fp8")
    others = {name: library.load("precisions", name) for name in library.names("precisions")}
    return next((name for name, other in others.items()
                 if other.weights == base.weights and other.kv_cache == wanted), match)
