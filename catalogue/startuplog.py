"""Read the start-up log of an engine: what it prints of memory, and the deployment it names.

The text is only searched: nothing in it is run, loaded or looked up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from catalogue import naming
from catalogue.reading.errors import ParamsError

LARGEST = 32 << 20  # bytes that are read
GIB = 2**30
_NUMBER = r"(-?[0-9][0-9,]*(?:\.[0-9]+)?)"
_SIZE = rf"{_NUMBER}\s*(?:GiB|GB)"
ENGINES = {
    "vllm-ascend": (r"(?i)vllm[_-]ascend",
                    r"(?i)vllm[_-]ascend\S*[ =:]v?(\d+\.\d+\.\d+\S*)"),
    "sglang": (r"ServerArgs\(|\bsglang\b|max_total_num_tokens=|Load weight begin",
               r"sglang\S*[ =:v]+(\d+\.\d+\.\d+\S*)"),
    "vllm": (r"\b[vV][lL][lL][mM]\b|GPU KV cache size|# GPU blocks|PyTorch activation peak memory",
             r"(?:version|\(v|vllm\S*[ =:])\s*v?(\d+\.\d+\.\d+\S*)")}
"""Engine -> what only it prints, and where its release stands; the first that matches is meant."""
FIGURES: dict[str, tuple[tuple[str, float], ...]] = {
    "weights": ((rf"[Ll]oading (?:model )?(?:weights )?took {_SIZE}", GIB),
                (rf"model weights take {_SIZE}", GIB),
                (rf"[Aa]ctual usage is {_SIZE} for weight", GIB),
                (rf"Load weight end.*?mem usage={_SIZE}", GIB)),
    "activations": ((rf"PyTorch activation peak memory takes {_SIZE}", GIB),
                    (rf"{_SIZE} for peak activation", GIB)),
    "runtime": ((rf"non_torch_memory takes {_SIZE}", GIB), (rf"{_SIZE} for non-torch", GIB)),
    "graphs": ((rf"Graph capturing finished in .*?took {_SIZE}", GIB),
               (rf"{_SIZE} for CUDAGraph memory", GIB),
               (rf"Capture cuda graph end.*?mem usage={_SIZE}", GIB)),
    "available": ((rf"Available KV cache memory: {_SIZE}", GIB),
                  (rf"available KV cache memory \({_SIZE}\)", GIB),
                  (rf"reserved for KV Cache is {_SIZE}", GIB),
                  (rf"Available memory: {_NUMBER}, total memory", 1)),
    "cache": ((rf"KV size: {_SIZE}", GIB), (rf"K size: {_SIZE}, V size: {_SIZE}", GIB)),
    "tokens": ((rf"GPU KV cache size: {_NUMBER} tokens", 1),
               (rf"max_total_num_tokens={_NUMBER}", 1), (rf"#tokens: {_NUMBER}", 1),
               (rf"maximum number of tokens that can be stored in KV cache \({_NUMBER}\)", 1)),
    "blocks": ((rf"# (?:GPU|cuda|NPU) blocks: {_NUMBER}", 1),),
    "requests": ((rf"[Mm]aximum concurrency for [0-9,]+ tokens per request: {_NUMBER}x", 1),),
    "request_memory": ((rf"\(?{_SIZE} KV cache is needed", GIB),),
    "longest": ((rf"estimated maximum model length is {_NUMBER}", 1),),
    "free_before_load": ((rf"Load weight begin\. avail mem={_SIZE}", GIB),
                         (rf"Free memory on device \({_NUMBER}/", GIB)),
    "free_after_load": ((rf"Load weight end.*?avail mem={_SIZE}", GIB),)}
"""Printed figure -> patterns, each with the size of its unit in SI. The first pattern that is found
counts; what it holds in parts is summed."""
FULLEST = {"available": min, "cache": min, "tokens": min, "blocks": min, "requests": min}
"""Of what several ranks print, the fullest one's: the least of these, the most of the others."""
LENGTH = (r"[Mm]aximum concurrency for ([0-9,]+) tokens", r"max seq len \(([0-9,]+)\)",
          r"context_len=([0-9]+)", r"max_(?:model|seq)_len['\"]?[=:]\s*([0-9]+)")
REFUSED = (r"KV cache is needed, which is larger|No available memory for the cache blocks|"
           r"Not enough memory\. Please try|is larger than the maximum number of tokens")
ARGUMENTS = {
    "tensor_parallel": "tensor_parallel_size|tensor-parallel-size|tp_size|-tp-size|-tp",
    "pipeline_parallel": "pipeline_parallel_size|pipeline-parallel-size|pp_size|-pp-size|-pp",
    "data_parallel": "data_parallel_size|data-parallel-size|dp_size|-dp-size|-dp",
    "decode_context_parallel":
        "decode_context_parallel_size|decode-context-parallel-size|dcp_size|-dcp-size|-dcp",
    "max_num_batched_tokens": "max_num_batched_tokens|max-num-batched-tokens|chunked_prefill_size|"
                              "chunked-prefill-size",
    "max_num_seqs": "max_num_seqs|max-num-seqs",
    "memory_utilization": "gpu_memory_utilization|gpu-memory-utilization|mem_fraction_static|"
                          "mem-fraction-static|Desired GPU memory utilization is",
    "block_size": "block_size|block-size|page_size|page-size",
    "draft_tokens": "num_speculative_tokens|num-speculative-tokens|speculative_num_steps|"
                    "speculative-num-steps",
    "expert_parallel": "ep_size|-ep-size|-ep"}
"""Key of a scenario -> what stands before its value, in Python's words or on a command line."""
VALUE = r"['\"]?(?:\s*[=:]\s*|\s+)\(?['\"]?([0-9]+(?:\.[0-9]+)?)"
WHOLE_EXPERTS = r"enable_expert_parallel['\"]?[=:]\s*True|--enable-expert-parallel"
MODEL = (r"model(?:_path)?['\"]?[=:]\s*['\"]([^'\"\n]{1,300})['\"]",
         r"--model(?:-path)?[ =]['\"]?([^'\"\s]{1,300})",
         r"vllm serve ['\"]?([^'\"\s-][^'\"\s]{0,299})")


@dataclass(frozen=True)
class StartupText:
    """What a log says.

    Attributes:
        engine: that printed it.
        release: of the engine; None if it does not stand there.
        model: identifier of the model in the catalogue; None if it is not recognised.
        printed: figures in SI units by name of ``entries.startups.PRINTED_UNITS``.
        arguments: settings of the launch by name of a scenario's key.
        length: tokens of the longest request; None if it does not stand there [token].
        refused: whether the engine refused to start for lack of memory.
    """

    engine: str
    release: str | None
    model: str | None
    printed: Mapping[str, float]
    arguments: Mapping[str, str]
    length: int | None
    refused: bool = field(default=False)


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
        text = path.read_bytes().decode("utf-8")
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
    release = re.search(ENGINES[engine][1], text)
    length = _argument(LENGTH, text)
    arguments = {name: found for name, names in ARGUMENTS.items()
                 if (found := _argument((rf"(?<!\w)(?:{names}){VALUE}",), text)) is not None}
    if re.search(WHOLE_EXPERTS, text):
        arguments["expert_parallel"] = "all"
    return StartupText(engine, _version(release[1]) if release else None, _model(text), printed,
                       arguments, int(length.replace(",", "")) if length else None,
                       re.search(REFUSED, text) is not None)


def _fullest(name: str, patterns: tuple[tuple[str, float], ...], text: str) -> float | None:
    for pattern, size in patterns:
        found = [sum(float(part.replace(",", "")) for part in match.groups()) * size
                 for match in re.finditer(pattern, text)]
        if found:
            return FULLEST.get(name, max)(found)
    return None


def _argument(patterns: tuple[str, ...], text: str) -> str | None:
    return next((found[1] for pattern in patterns if (found := re.search(pattern, text))), None)


def _version(text: str) -> str:
    """A release as profiles write it, without builds.

    >>> _version("0.26.1rc0+glm53"), _version("0.11.0)")
    ('0.26.1rc0', '0.11.0')
    """
    found = re.match(r"\d+\.\d+\.\d+(?:\.post\d+)?(?:rc\d+)?", text)
    return found[0] if found else text


def _model(text: str) -> str | None:
    """The model of the catalogue whose name, or another of its names, is the longest in a path."""
    written = _argument(MODEL, text)
    if written is None:
        return None
    named = naming.plain(written.rstrip("/").rpartition("/")[2].replace("models--", ""))
    known = {naming.plain(other): name for name in naming.names("models")
             for other in (name, *naming.also("models", name))}
    fitting = [other for other in known
               if named == other or named.startswith((f"{other}-", f"{other}_"))]
    return known[max(fitting, key=len)] if fitting else None
