"""Whole blocks of attention, and the kernels of sparse attention: what their columns mean.

Blocks hold the projections, and are written with four digits of a millisecond: 0.1 µs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalogue.tables.packaged.attention import heads
from catalogue.tables.packaged.names import dtypes, renamed
from catalogue.tables.packaged.rows import Block, Raw

REUSED = "_skip_indexer"


def prefill(operator: str) -> Callable[[Raw], Iterator[Block]]:
    """Blocks over ``isl`` new tokens a request with ``step`` in the cache before.

    ``num_heads`` are of the rank; ``tp_size`` is the cut by which they came about, and only in
    SGLang's sparse blocks other than 1. Rows named ``_skip_indexer`` take the rows that a layer
    before has chosen.

    Source: ``collector/{vllm,sglang,trtllm}/collect_{mla,msa}_module.py``, ``collect_dsv4_attn.py``
    ("Rank-LOCAL by the unified convention").
    """
    def blocks(raw: Raw) -> Iterator[Block]:
        yield Block(operator, _block(raw, operator) | {"tokens": raw.number("isl"),
                                                       "past": raw.number("step")})
    return blocks


def decode(operator: str, *, vllm_counts_newest: bool = False) -> Callable[[Raw], Iterator[Block]]:
    """Blocks of one new token a request.

    A request attends to ``isl + step`` tokens: ``isl`` is 1 and ``step`` what was there before, or
    (older tables of wide deployments) ``isl`` is what was there before and ``step`` 0, and the new
    one comes to it. vLLM's MLA and DSA blocks count the newest in ``step``
    (``seq_lens=[seq_len]``).

    Source: ``collector/vllm/collect_mla_module.py`` (``_create_kv_cache_and_metadata``),
    ``collector/trtllm/collect_mla_module.py`` (``kv_cache_len = seq_len``),
    ``collector/sglang/collect_mla_module.py`` (``prepare_for_decode``), ``collect_msa_module.py``
    and ``collect_dsv4_attn.py`` (``seq_len + 1`` in all).
    """
    def blocks(raw: Raw) -> Iterator[Block]:
        isl, step = raw.number("isl"), raw.number("step")
        context = np.where(step == 0, isl + 1, step + 1)
        if vllm_counts_newest and raw.framework == "vllm":
            context = step
        yield Block(operator, _block(raw, operator) | {"context": context})
    return blocks


def _block(raw: Raw, operator: str) -> dict[str, Any]:
    core = raw.dtype("mla_dtype")
    shape: dict[str, Any] = {
        "model": raw.text("model"), "heads": heads(raw),
        "batch": raw.number("batch_size"), "cache_dtype": raw.dtype("kv_cache_dtype"),
        "dtype": raw.dtype("gemm_type") if raw.has("gemm_type") else core,
        "core_dtype": dtypes(renamed(core, {"fp8-block": "fp8"})), "time": raw.time()}
    if not operator.startswith("mla"):
        ends = {word: "reused" if word.endswith(REUSED) else "runs"
                for word in set(raw.text("op_name").tolist())}
        shape["indexer"] = ("none" if operator.startswith(("hca", "msa")) else
                            renamed(raw.text("op_name"), ends))
    return shape


def kernel(operator: str) -> Callable[[Raw], Iterator[Block]]:
    """One kernel of sparse attention, over ``isl`` new tokens a request after ``step``.

    ``num_heads`` are all heads of the model unless ``local_num_heads`` says otherwise; what the
    indexer multiplies and chooses does not depend on them. ``compress_ratio`` tokens share a cached
    row. Where what is chosen matters, ``flat`` scores are even and ``top_last`` has them at the
    end; a choice that need not be made, of fewer rows than are kept, stands there as zero.

    Source: ``collector/sglang/{deepseekv4,glm5_dsa}_sparse_modules.py``,
    ``collector/vllm/collect_dsv4_attn.py``.
    """
    def blocks(raw: Raw) -> Iterator[Block]:
        heads = raw.number("local_num_heads" if raw.has("local_num_heads") else "num_heads")
        yield Block(operator, {
            "model": raw.text("model"), "heads": heads, "batch": raw.number("batch_size"),
            "tokens": raw.number("isl"), "past": raw.number("step"),
            "cache_dtype": raw.dtype("kv_cache_dtype"),
            "compression": raw.number("compress_ratio"), "scores": raw.text("score_mode"),
            "dtype": raw.dtype("mla_dtype"), "time": raw.time()})
    return blocks


def component(raw: Raw) -> Iterator[Block]:
    """A component of one model at its own sizes, which ``geometry`` holds as JSON.

    Of a prompt ``x`` are new tokens a request after ``prefix``; of a decode step (``is_context``
    false) ``x`` is the absolute length of a request, its newest token included.

    Source: ``aisimulate`` 0.13, ``collector/cases/base_ops/{dsv41_module,glm53flash_attention}
    .yaml`` ("prefill (x = new tokens per request), decode (x = absolute sequence length)").
    """
    geometry, length, past = raw.text("geometry"), raw.number("x"), raw.number("prefix")
    sizes = {text: _sizes(text) for text in set(geometry.tolist())}
    one = _of(geometry, {text: not size.get("is_context", True) for text, size in sizes.items()})
    formats = {text: size.get("gemm_quant_mode") or size.get("projection_quant_mode")
               or size.get("quant_mode") or "bfloat16" for text, size in sizes.items()}
    yield Block("block", {
        "component": raw.text("component"), "geometry": geometry,
        "batch": raw.number("batch_size"), "tokens": np.where(one, 1, length),
        "past": np.where(one, length - 1, past), "dtype": dtypes(renamed(geometry, formats)),
        "time": raw.time()})


def _sizes(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _of(words: NDArray[Any], values: dict[str, bool]) -> NDArray[np.bool_]:
    return np.array([values[word] for word in words.tolist()], bool)
