"""GEMM, the products of latent attention, scales and dense blocks: what their columns mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from catalogue.tables.packaged.names import renamed
from catalogue.tables.packaged.rows import Block, Raw

HEAD, LATENT = 128, 512  # widths of a head without its rotated part, and of the latent


def gemm(raw: Raw) -> Iterator[Block]:
    """``m`` rows by ``n`` columns of ``k``: one linear layer, its activations quantised within.

    The shapes are of one rank. Up to six layers with weights of their own run one after another in
    one replayed graph (``outside_loop_count``), so weights are read from memory unless all six fit
    the cache; a row is the mean of them, without the host's launch.

    Source: ``collector/{vllm,sglang,trtllm}/collect_gemm.py``.
    """
    yield Block("gemm", {"rows": raw.number("m"), "columns": raw.number("n"),
                         "depth": raw.number("k"), "dtype": raw.dtype("gemm_dtype"),
                         "time": raw.time()})


def mla_bmm(raw: Raw) -> Iterator[Block]:
    """A product per head, of ``num_tokens`` rows; ``num_heads`` are of the rank.

    ``mla_gen_pre`` absorbs the keys' projection, 128 deep and 512 wide; ``mla_gen_post`` the
    values', 512 deep and 128 wide (``qk_nope_head_dim``, ``kv_lora_rank``, ``v_head_dim``).

    Source: ``collector/{vllm,sglang,trtllm}/collect_mla_bmm.py``.
    """
    before = raw.text("op_name") == "mla_gen_pre"
    yield Block("batched_gemm", {
        "batch": raw.number("num_heads"), "rows": raw.number("num_tokens"),
        "columns": np.where(before, LATENT, HEAD), "depth": np.where(before, HEAD, LATENT),
        "dtype": raw.dtype("bmm_dtype"), "time": raw.time()})


def computescale(raw: Raw) -> Iterator[Block]:
    """What dynamic scales of FP8 take beyond static ones: the DIFFERENCE of two measurements.

    It is cut at zero, so many rows are zero; the lint leaves those out.

    Source: ``collector/{vllm,sglang,trtllm}/collect_computescale.py``.
    """
    yield _scaled(raw, "scales")


def scale_matrix(raw: Raw) -> Iterator[Block]:
    """Activations of ``m`` rows of ``k`` turned to FP8 with a scale that is known.

    It is written as five operators of PyTorch, so it is slower than a kernel of its own.

    Source: ``collector/{vllm,sglang,trtllm}/collect_computescale.py``.
    """
    yield _scaled(raw, "values")


def _scaled(raw: Raw, stage: str) -> Block:
    return Block("quantise", {
        "stage": stage, "rows": raw.number("m"), "columns": raw.number("k"),
        "dtype": raw.dtype("quant_dtype"), "kernel": stage, "time": raw.time()})


def wideep_mlp(raw: Raw) -> Iterator[Block]:
    """The shared expert of DeepSeek-V3, whole on every rank.

    Source: the columns; the program that wrote them is no longer kept.
    """
    yield Block("mlp", {
        "tokens": raw.number("num_token"), "hidden_size": raw.number("hidden_size"),
        "intermediate_size": raw.number("intermediate_size"), "dtype": raw.dtype("quant_type"),
        "time": raw.time("avg_ms")})


def mhc_module(raw: Raw) -> Iterator[Block]:
    """The mappings of a layer before or after its blocks: the time holds ``num_sites`` of them.

    Attention and experts have one each, and both are run in one measurement
    (``kernel_func`` goes through ``site_inputs``).

    Source: ``collector/{vllm,sglang,trtllm}/collect_mhc_module.py``.
    """
    yield Block("hyper_connections", {
        "stage": renamed(raw.text("op_name"), {"fused_post_pre": "post-pre"}),
        "tokens": raw.number("num_tokens"), "hidden_size": raw.number("hidden_size"),
        "streams": raw.number("hc_mult"), "sites": raw.number("num_sites"),
        "iterations": raw.number("sinkhorn_iters"), "dtype": "bf16", "time": raw.time()})
