"""The deployment that a start-up log names: model, cards, precision, layout and workload.

What is stated on the command line stands in place of what the log says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalogue import library, naming
from catalogue.entries.deployments import Precision
from catalogue.entries.hardware import WIDE
from catalogue.entries.models import Model
from catalogue.reading.errors import ParamsError
from catalogue.startuplog import StartupText

PARALLEL = ("tensor_parallel", "pipeline_parallel", "data_parallel", "decode_context_parallel")
SIZED = ("max_num_batched_tokens", "block_size")
PLAIN = ("memory_utilization", "draft_tokens")
TOWER = ("text_only", "vision_whole")  # what is loaded of a vision tower
SHORTEST = 8192  # tokens of a request where neither log nor model says how many
QUANTIZED = {"w8a8": "w8a8-int8", "w4a8": "w4a8-int8", "w4afp8": "w4afp8", "nvfp4": "nvfp4",
             "modelopt_fp4": "nvfp4", "awq": "w4a16-awq", "bf16": "bf16", "fp8": "fp8-block"}
"""Part of a checkpoint's name, or method of quantization -> precision."""
INDEXED = {"w8a8-int8": "w8a8-int8-index8", "w4a8-int8": "w4a8-int8-index8"}
"""Precision -> that of a model with an indexer, whose keys vLLM Ascend and SGLang keep in INT8."""
CACHES = {"fp8_ds_mla": "fp8-latent128"}
"""Type of the cache -> its format; every other one of FP8 is FP8 alone."""
BYTE = 8  # bits
PART = re.compile(r"SXM[0-9]?|HBM[0-9][a-z]?|[0-9]{2,3}GB")
"""Words after the name of a card that name no other card, if its memory is as large."""
ALIKE = 0.1  # [1] of a memory, from which on it is another


@dataclass(frozen=True)
class Recognised:
    """A deployment as a log and a command line name it.

    Attributes:
        model, device, precision, node: identifiers or paths; None where nothing says which.
        data: groups of a scenario's file besides these.
    """

    model: str | None
    device: str | None
    precision: str | None
    node: str | None
    data: Mapping[str, Any]

    @property
    def lacking(self) -> str | None:
        """Setting that nothing states; None if the deployment is complete."""
        stated = {"model": self.model, "device": self.device, "precision": self.precision,
                  "cluster.node": self.node}
        return next((name for name, value in stated.items() if value is None), None)

    def file(self, title: str, source: str) -> dict[str, Any]:
        """The deployment as a scenario's file would state it.

        Args:
            title: of the deployment.
            source: of its figures.
        """
        return {"title": {"en": title, "zh": title},
                "defaults": {"source": source, "kind": "documented"}, "model": self.model,
                "device": self.device, "precision": self.precision, **self.data,
                "cluster": {"node": self.node, **self.data["cluster"]}}


def recognised(log: StartupText, given: Mapping[str, str]) -> Recognised:
    """The deployment that a log names.

    Args:
        log: what it says.
        given: settings in place of what it says, by path.

    Raises ParamsError for a setting that names no entry.
    """
    model = given.get("model") or _model(log.checkpoints)
    device = given.get("device") or next(filter(None, map(_card, log.cards)), None)
    precision, node = given.get("precision"), given.get("cluster.node")
    longest = log.length
    if model:
        entry: Model = library.load("models", model)
        precision = precision or _precision(entry, log)
        most = entry.max_position_embeddings
        longest = longest or (int(most.value) if most else None)
    if device and node is None:
        node = library.load("devices", device).node
    cut = _cut(log, given)
    devices = cut["tensor_parallel"] * cut["data_parallel"] * cut["pipeline_parallel"]
    each = library.load("nodes", node).devices_per_node.value if node else devices
    nodes = max(math.ceil(devices / each), int(log.arguments.get("nodes", 1)))
    workload: dict[str, Any] = {"concurrency": f"{cut['data_parallel']} request",
                                "context_tokens": f"{longest or SHORTEST} token"}
    said = log.arguments
    workload |= {name: f"{said[name]} token" for name in SIZED if name in said}
    workload |= {name: said[name] for name in PLAIN if name in said}
    if "max_num_seqs" in said:
        workload["max_num_seqs"] = f"{said['max_num_seqs']} request"
    data: dict[str, Any] = {
        "engine": log.engine + (f"@{log.release}" if log.release else ""),
        "cluster": {"nodes": nodes, "devices": devices}, "parallelism": cut, "workload": workload}
    if log.eager:
        data["graphs"] = False
    if tower := [name for name in TOWER if name in said]:
        data["mechanisms"] = dict.fromkeys(tower, 1)
    return Recognised(model, device, precision, node, data)


def _cut(log: StartupText, given: Mapping[str, str]) -> dict[str, int]:
    """Parallelism by name: as given, else an argument of the launch, else the ranks that print."""
    def size(name: str) -> str | None:
        stated = given.get(f"parallelism.{name}") or log.arguments.get(name)
        return stated if stated is None or stated.isdecimal() else None

    cut = {name: max(1, int(size(name) or log.ranks.get(name, 1))) for name in PARALLEL}
    if "dp_attention" in log.arguments and "parallelism.tensor_parallel" not in given:
        cut["tensor_parallel"] //= math.gcd(cut["tensor_parallel"], cut["data_parallel"])
    ranks = cut["tensor_parallel"] * cut["data_parallel"]
    whole = log.arguments.get("expert_parallel") == "all"
    cut["expert_parallel"] = min(ranks, int(size("expert_parallel") or (ranks if whole else 1)))
    return cut


def _model(checkpoints: tuple[str, ...]) -> str | None:
    """The model of the catalogue whose name, or another of its names, is the longest in a path."""
    known = {naming.plain(other): name for name in naming.names("models")
             for other in (name, *naming.also("models", name))}
    for named in map(naming.plain, map(_last, checkpoints)):
        fitting = [other for other in known
                   if named == other or named.startswith((f"{other}-", f"{other}_"))]
        if fitting:
            return known[max(fitting, key=len)]
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
            device = naming.locate("devices", name).stem
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
                 for precision in naming.names("precisions")
                 for one in library.load("precisions", precision).checkpoints}
    found = next((published[name] for name in names if name in published), None)
    if found is None or found in WIDE:  # which an engine may narrow as it loads
        parts = [part for name in names for part in re.split(r"[-_.]", name)]
        method = log.arguments.get("quantization", "").casefold()
        found = next((QUANTIZED[part] for part in (method, *parts) if part in QUANTIZED), found)
    found = found or (model.weights.precision if model.weights else None)
    if found is None:
        return None
    if model.index_topk is not None:
        found = INDEXED.get(found, found)
    kept = log.arguments.get("kv_cache_dtype", "").casefold()
    return _with_cache(found, kept) if kept.startswith("fp8") else found


def _with_cache(precision: str, kept: str) -> str:
    """The precision of the same weights whose cache has eight bits; itself if there is none."""
    base: Precision = library.load("precisions", precision)
    if library.load("formats", base.kv_cache).bits.value <= BYTE:
        return precision
    wanted = CACHES.get(kept, "fp8")
    for name in naming.names("precisions"):
        other: Precision = library.load("precisions", name)
        if other.weights == base.weights and other.kv_cache == wanted:
            return name
    return precision
