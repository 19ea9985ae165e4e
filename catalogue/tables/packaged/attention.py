"""Attention to all of the context: what the columns of its tables mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalogue.tables.packaged.rows import Block, Raw

OF_V3 = 128  # heads


def context_mla(raw: Raw) -> Iterator[Block]:
    """The core over prompts of ``isl`` tokens, ``step`` in the cache before (0 throughout).

    ``num_heads`` are of the rank, ``tp_size`` only says by which cut they came about. Queries and
    keys are projected (192 wide, values 128) for ``trtllm_mla`` and TensorRT-LLM; SGLang's
    ``flash_attention`` and ``triton`` are measured absorbed (576 and 512 wide).

    Source: ``collector/sglang/collect_mla.py`` (``run_mla``), ``collector/trtllm/collect_mla.py``.
    """
    yield Block("mla_prefill", _mla(raw) | {"tokens": raw.number("isl"),
                                            "past": raw.number("step")})


def generation_mla(raw: Raw) -> Iterator[Block]:
    """The core for one new token a request; ``step`` tokens are in the cache before it.

    A request attends to ``step + 1`` tokens (``total_len = input_len + 1``). Weights are absorbed;
    the products that absorb them are measured apart (``mla_bmm``).

    Source: ``collector/sglang/collect_mla.py`` (``run_mla``), ``collector/trtllm/collect_mla.py``.
    """
    yield Block("mla_decode", _mla(raw) | {"context": raw.number("step") + 1})


def _mla(raw: Raw) -> dict[str, Any]:
    return {"heads": heads(raw), "batch": raw.number("batch_size"),
            "cache_dtype": raw.dtype("kv_cache_dtype"), "dtype": raw.dtype("mla_dtype"),
            "time": raw.time()}


def heads(raw: Raw) -> NDArray[np.int64]:
    """Heads of the rank [rows]; tables that do not tell them cut those of DeepSeek-V3."""
    if raw.has("num_heads"):
        return raw.number("num_heads")
    return OF_V3 // np.maximum(raw.number("tp_size"), 1)


def context_attention(raw: Raw) -> Iterator[Block]:
    """The core over prompts of ``isl`` tokens; heads are of the rank, ``window_size`` 0 is none.

    Source: ``collector/{vllm,sglang,trtllm}/collect_attn.py``.
    """
    yield Block("attention_prefill", _grouped(raw) | {"tokens": raw.number("isl"),
                                                      "past": raw.number("step")})


def generation_attention(raw: Raw) -> Iterator[Block]:
    """The core for one new token a request, which attends to ``step + 1`` tokens.

    vLLM's collector says so (``seq_lens=[input_len + 1]``, ``step`` is the history before), the
    others register ``input_len + 1`` tokens as well.

    Source: ``collector/{vllm,sglang,trtllm}/collect_attn.py``.
    """
    yield Block("attention_decode", _grouped(raw) | {"context": raw.number("step") + 1})


def encoder_attention(raw: Raw) -> Iterator[Block]:
    """Attention of an encoder, every token to every other of its request.

    Source: ``collector/{vllm,sglang,trtllm}/collect_attn_encoder.py``.
    """
    yield Block("attention_encoder", {
        "heads": raw.number("num_heads"), "head_dim": raw.number("head_dim"),
        "batch": raw.number("batch_size"), "tokens": raw.number("isl"),
        "dtype": raw.dtype("attn_dtype"), "time": raw.time()})


def _grouped(raw: Raw) -> dict[str, Any]:
    return {"heads": raw.number("num_heads"), "kv_heads": raw.number("num_key_value_heads"),
            "head_dim": raw.number("head_dim"), "batch": raw.number("batch_size"),
            "window": raw.number("window_size", 0), "cache_dtype": raw.dtype("kv_cache_dtype"),
            "dtype": raw.dtype("attn_dtype"), "time": raw.time()}
