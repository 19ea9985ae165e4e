"""Read the start-up log of an engine: figures of memory, and the deployment that it names.

The text is only searched: nothing in it is run, loaded or looked up. Only lines that may say
something are searched further. Every repetition in a pattern has a bound, and numbers begin where
no digit precedes, so that this takes a time linear in the text, whatever it is. Settings given on
the command line replace those of the log.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from catalogue import library
from catalogue.entries.deployments import Precision
from catalogue.entries.hardware import WIDE
from catalogue.entries.models import Model
from catalogue.kernels import published_precision
from catalogue.reading.errors import ParamsError
from catalogue.reading.units import factor

LARGEST = 32 << 20  # bytes that are read
GIB = factor("GiB")
KEPT = 1 << 20  # characters of lines that are searched: more than any start prints
WIDEST = 1 << 16  # characters of a line, of which engines print their arguments on one
NAMES = 50  # models and cards that are looked at
Refusal = Literal["no-room", "longest-request", "allocation"]

_NUMBER = r"(?<![0-9,.-])(-?[0-9][0-9,]{0,18}(?:\.[0-9]{1,12})?)"
_SIZE = rf"{_NUMBER}\s?Gi?B"
_REST = r"(?:(?!Load|Capture)[^\n]){0,400}?"
_USED = rf"{_REST}mem usage={_SIZE}"
_VERSION = r"v?([0-9]{1,4}\.[0-9]{1,4}\.[0-9]{1,4}(?:\.post[0-9]{1,3})?(?:rc[0-9]{1,3})?)"
ENGINES: dict[str, tuple[str, tuple[str, ...]]] = {
    "vllm-ascend": (r"(?i)vllm[_-]ascend|NPU graph memory|\bAvailable memory: [0-9]+, total memory",
                    (rf"(?i)vllm[_-]ascend[\w-]{{0,20}}[ =:]{{1,3}}{_VERSION}",
                     rf"LLM engine \({_VERSION}")),
    "sglang": (r"ServerArgs\(|max_total_num_tokens=|Load weight (?:begin|end)\.|"
               r"\bsglang(?:\.launch_server| serve)",
               (rf"\bsglang(?:==|[ =:]{{1,3}}){_VERSION}", rf"/sglang:{_VERSION}")),
    "vllm": (r"\b(?:vllm|vLLM|VLLM)\b|GPU KV cache size|# GPU blocks|"
             r"PyTorch activation peak memory|Model loading took|Available KV cache memory",
             (rf"LLM engine \({_VERSION}", rf"API server version {_VERSION}",
              rf"█  version {_VERSION}", rf"\bvllm(?:==|[ =:]{{1,3}}){_VERSION}",
              rf"vllm-openai:{_VERSION}"))}
"""Engine -> what only it prints, and where its release stands; the first that matches is meant. A
release of vLLM Ascend has the number of the vLLM that it extends."""
FIGURES: dict[str, tuple[tuple[str, float], ...]] = {
    "weights": ((rf"[Ll]oading (?:model )?(?:weights )?took {_SIZE}", GIB),
                (rf"model weights take {_SIZE}", GIB),
                (rf"[Aa]ctual usage(?: is|:) {_SIZE} for weight", GIB),
                (rf"Load weight end{_USED}", GIB)),
    "activations": ((rf"PyTorch activation peak memory takes {_SIZE}", GIB),
                    (rf"{_SIZE} for peak activation", GIB)),
    "runtime": ((rf"non_torch_memory takes {_SIZE}", GIB), (rf"{_SIZE} for non-torch", GIB)),
    "graphs": ((rf"Graph capturing finished[^\n]{{0,20}} took {_SIZE}", GIB),
               (rf"{_SIZE} for (?:CUDAGraph|NPU graph) memory", GIB),
               (rf"Capture (?:cuda|target decode (?:NPU|CUDA)) graph end{_USED}", GIB),
               (rf"CUDA graph pool memory: {_SIZE}", GIB),
               (rf"Estimated CUDA graph memory: {_SIZE}", GIB)),
    "available": ((rf"Available KV cache memory: {_SIZE}", GIB),
                  (rf"available KV cache memory \({_SIZE}\)", GIB),
                  (rf"[Cc]urrent (?:kv|KV) cache memory(?: in use is|:) {_SIZE}", GIB),
                  (rf"reserved for KV Cache is {_SIZE}", GIB),
                  (rf"kv_cache_size={_SIZE}", GIB),
                  (rf"Available memory: {_NUMBER}, total memory", 1),
                  (rf"available_bytes={_SIZE}", GIB), (rf"rest_memory={_SIZE}", GIB)),
    "cache": ((rf"\bKV size: {_SIZE}", GIB), (rf"\bK(?: size:)? {_SIZE}, V(?: size:)? {_SIZE}",
                                              GIB)),
    "tokens": ((rf"GPU KV cache size: {_NUMBER} tokens", 1),
               (rf"max_total_num_tokens={_NUMBER}", 1), (rf"#tokens: {_NUMBER}", 1),
               (rf"(?<=[ ,])full_token={_NUMBER}", 1),
               (rf"maximum number of tokens that can be stored in KV cache \({_NUMBER}\)", 1)),
    "blocks": ((rf"# (?:GPU|CUDA|cuda|NPU|npu) blocks: {_NUMBER}", 1),
               (rf"num_gpu_blocks is: {_NUMBER}", 1)),
    "requests": ((rf"[Mm]aximum concurrency for [0-9,]{{1,12}} tokens per request: {_NUMBER}x",
                  1),),
    "request_memory": ((rf"{_SIZE} KV cache is needed", GIB),),
    "longest": ((rf"estimated maximum model length is {_NUMBER}", 1),),
    "free_before_load": ((rf"Load weight begin\. avail mem={_SIZE}", GIB),
                         (rf"Free memory on device \({_NUMBER}/", GIB)),
    "free_after_load": ((rf"Load weight end{_REST}avail mem={_SIZE}", GIB),)}
"""Printed figure -> patterns, each with the size of its unit in SI. The first pattern that is found
counts; what it holds in parts is summed."""
FULLEST = {"available": min, "cache": min, "tokens": min, "blocks": min, "requests": min,
           "free_before_load": min, "free_after_load": min}
"""Of what several ranks print, the fullest one's: the least of these, the most of the others."""
LENGTH = (r"[Mm]aximum concurrency for ([0-9,]{1,12}) tokens", r"max seq len \(([0-9,]{1,12})\)",
          r"context_len=([0-9]{1,9})", r"[Uu]sing max model len ([0-9]{1,9})",
          r"max[_-](?:model|seq)[_-]len['\"]?(?:[=:]\s?|\s)([0-9]{1,9})")
REFUSED: dict[Refusal, str] = {
    "longest-request": r"KV cache is needed, which is larger|"
                       r"is larger than the maximum number of tokens",
    "no-room": r"No available memory for the cache blocks|Not enough memory\. Please try|"
               r"leave no GPU memory for the KV cache|Available KV cache memory: -[0-9]|"
               r"Available memory: (?:0|-[0-9]+), total memory",
    "allocation": r"(?:CUDA|NPU|HIP) out of memory|OutOfMemoryError"}
"""Why an engine refuses to start -> its words; the first that is found is meant."""
ARGUMENTS = {
    "tensor_parallel": "tensor_parallel_size tp_size -tp",
    "pipeline_parallel": "pipeline_parallel_size pp_size -pp",
    "data_parallel": "data_parallel_size dp_size -dp",
    "decode_context_parallel": "decode_context_parallel_size dcp_size -dcp",
    "expert_parallel": "expert_parallel_size ep_size -ep",
    "nodes": "nnodes",
    "max_num_batched_tokens": "max_num_batched_tokens chunked_prefill_size",
    "max_num_seqs": "max_num_seqs max_running_requests",
    "memory_utilization": "gpu_memory_utilization mem_fraction_static",
    "block_size": "block_size page_size",
    "draft_tokens": "num_speculative_tokens speculative_num_steps",
    "quantization": "quantization", "kv_cache_dtype": "kv_cache_dtype"}
"""Name -> words of Python and of the command line before its value; with a dash, only there."""
WORDS = ("quantization", "kv_cache_dtype")
"""Arguments that are no number."""
_KEYS = {key: name for name, keys in ARGUMENTS.items() for key in keys.split()}
_NAMED = "|".join(sorted({key.lstrip("-").replace("_", "[_-]") for key in _KEYS},
                         key=len, reverse=True))
_PAIR = re.compile(rf"(?<![\w-])(-{{0,2}})({_NAMED})(?![\w-])['\"]?"
                   r"(?:\s{0,4}[=:]\s{0,4}|\s{1,12}(?:- )?)\(?['\"]?([A-Za-z0-9][\w.]{0,63})")
STATED = {
    "block_size": r"(?:kv cache block size to|changing page_size from None to|"
                  r"setting page_size to|Block size is set to) ([0-9]{1,6})",
    "memory_utilization": r"Desired GPU memory utilization is \(([0-9.]{1,9}),"}
"""Arguments that the engine states otherwise than they were given."""
FLAGS = {"dp_attention": r"enable_dp_attention['\"]?[=:]\s?True|--enable-dp-attention",
         "text_only": r"language_model_only['\"]?[=:]\s?True|--language-model-only|"
                      r"running in text-only mode",
         "vision_whole": r"mm_encoder_tp_mode['\"]?[=:]\s?['\"]?data|"
                         r"--mm-encoder-tp-mode[= ]data"}
"""Arguments without a value."""
WHOLE_EXPERTS = r"enable_expert_parallel['\"]?[=:]\s?True|--enable-expert-parallel|" \
                r"Expert parallelism is enabled"
EAGER = r"(?:enforce_eager|disable_cuda_graph)['\"]?[=:]\s?True|--enforce-eager|" \
        r"--disable-cuda-graph(?![\w-])"
RANK = re.compile(r"(?<=[_ (])(DP|PP|TP|EP)([0-9]{1,4})(?=[_ \])])")
RANKS = {"TP": "tensor_parallel", "PP": "pipeline_parallel", "DP": "data_parallel"}
"""Ranks that workers print -> what they are parts of."""
CHECKPOINT = (r"model(?:_path)?['\"]?[=:]\s?['\"]([^'\"\s]{1,300})['\"]",
              r"--model(?:-path)?[ =]['\"]?([^'\"\s]{1,300})",
              r"vllm serve (?:\\\s{1,12})?['\"]?([^'\"\s$-][^'\"\s]{0,299})",
              r"(?m)^(?:export )?MODEL(?:_PATH)?=['\"]?([^'\"\s]{1,300})",
              r"█  model   (\S{1,300})")
CARD = (r"device_name=([A-Za-z0-9_.-]{2,60}?)(?:,|\.json)",
        r"\|\s{1,4}[0-9]{1,2}\s{1,4}((?:NVIDIA|AMD) [A-Za-z0-9 -]{2,50}?)\s{2,30}(?:On|Off)\s",
        r"\|\s{1,4}[0-9]{1,2}\s{1,8}(Ascend ?[A-Za-z0-9-]{2,20}|9[0-9]{2}[A-Z][A-Za-z0-9-]{0,8})"
        r"\s{1,20}\|",
        r"GPU [0-9]{1,2}: ((?:NVIDIA|AMD) [A-Za-z0-9 -]{2,50})")


_TELLING = re.compile(
    r"G(?:iB|B)|[Mm]odel|MODEL|[Aa]rgs|--|_size|tokens|[Bb]lock|[Mm]emory|version|device_name|"
    r"NVIDIA|AMD|Ascend|9[15]0|[Ee]ager|[Ee]xpert|vllm|vLLM|sglang")
"""What stands in lines that any pattern of this module searches for."""


@dataclass(frozen=True)
class StartupText:
    """What a log says, as it was written.

    Attributes:
        engine: that printed it.
        release: of the engine; None if it does not stand there.
        checkpoints: names or paths of what was loaded, most trustworthy first.
        cards: names of the cards.
        printed: figures in SI units by name of ``entries.startups.PRINTED_UNITS``.
        arguments: settings of the launch by name of ``ARGUMENTS``.
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
    refused: Refusal | None


def read_log(path: Path) -> StartupText:
    """Read a start-up log of vLLM, SGLang or vLLM Ascend.

    Args:
        path: of the log.

    Raises ParamsError, one sentence, for a file that cannot be read, is too large, is no UTF-8 text
    or has no line on memory that one of these engines prints.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise ParamsError(f"{path}: larger than {LARGEST >> 20} MiB, expected the lines of the "
                              "start alone.")
        text = _telling(path.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ParamsError(f"{path}: cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise ParamsError(f"{path}: is no UTF-8 text, expected the log as the engine writes "
                          "it.") from None
    engine = next((name for name, (marks, _) in ENGINES.items() if re.search(marks, text)), None)
    printed = {name: value for name, patterns in FIGURES.items()
               if (value := _fullest(name, patterns, text)) is not None}
    if engine is None or not printed:
        raise ParamsError(f"{path}: no line on memory as vLLM, SGLang or vLLM Ascend print it, "
                          "such as 'Available KV cache memory: 41.06 GiB'.")
    length, ranks = _first(LENGTH, text), dict[str, int]()
    for written, number in RANK.findall(text):  # in the names of the workers that print
        if of := RANKS.get(written):
            ranks[of] = max(ranks.get(of, 1), int(number) + 1)
    return StartupText(
        engine, _first(ENGINES[engine][1], text), _all(CHECKPOINT, text), _all(CARD, text), printed,
        _arguments(text), ranks, re.search(EAGER, text) is not None,
        int(length.replace(",", "") or 0) or None if length else None,
        next((name for name, words in REFUSED.items() if re.search(words, text)), None))


def _telling(text: str) -> str:
    """Lines that may say something, each with the next one."""
    lines, kept, at = [], 0, 0
    while kept < KEPT and (found := _TELLING.search(text, at)):
        begin = max(at, found.start() - WIDEST)
        begin = max(begin, text.rfind("\n", begin, found.start()) + 1)
        at = found.end()
        for _ in range(2):
            end = text.find("\n", at, begin + WIDEST)
            at = end + 1 if end >= 0 else max(at, min(begin + WIDEST, len(text)))
        lines.append(text[begin:at].removesuffix("\n"))
        kept += at - begin
    return "\n".join(lines)


def _fullest(name: str, patterns: tuple[tuple[str, float], ...], text: str) -> float | None:
    for pattern, size in patterns:
        found = [sum(float(part.replace(",", "")) for part in match.groups()) * size
                 for match in re.finditer(pattern, text)]
        if found:
            return FULLEST.get(name, max)(found)
    return None


def _first(patterns: tuple[str, ...], text: str) -> str | None:
    return next((found[1] for pattern in patterns if (found := re.search(pattern, text))), None)


def _all(patterns: tuple[str, ...], text: str) -> tuple[str, ...]:
    """What patterns find, each once, the first ones alone."""
    found: dict[str, None] = {}
    for pattern in patterns:
        for match in re.finditer(pattern, text):
            found[match[1]] = None
            if len(found) == NAMES:
                return tuple(found)
    return tuple(found)


def _arguments(text: str) -> dict[str, str]:
    """The first value of each argument, or what the engine states instead."""
    found = {name: match[1] for name, words in STATED.items() if (match := re.search(words, text))}
    for dashes, written, value in _PAIR.findall(text):
        key = written.replace("-", "_")
        name = _KEYS.get(key) or (_KEYS.get(f"-{key}") if dashes else None)
        if name is None or name in found or value == "None":
            continue
        if name in WORDS or re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", value):
            found[name] = value
    if re.search(WHOLE_EXPERTS, text):
        found["expert_parallel"] = "all"
    return found | {name: "True" for name, words in FLAGS.items() if re.search(words, text)}


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
    known = {library.plain(other): name for name in library.names("models")
             for other in (name, *library.also("models", name))}
    for named in map(library.plain, map(_last, checkpoints)):
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
    found = next((published[name] for name in names if name in published), None)
    if found is None or found in WIDE:  # which an engine may narrow as it loads
        parts = [part for name in names for part in re.split(r"[-_.]", name)]
        method = log.arguments.get("quantization", "").casefold()
        found = next((QUANTIZED[part] for part in (method, *parts) if part in QUANTIZED), found)
    found = found or published_precision(model)
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
    for name in library.names("precisions"):
        other: Precision = library.load("precisions", name)
        if other.weights == base.weights and other.kv_cache == wanted:
            return name
    return precision
