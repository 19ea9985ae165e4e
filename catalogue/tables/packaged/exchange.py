"""Exchange of tokens between ranks with experts: what the columns of its tables mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from catalogue.tables.packaged.names import renamed
from catalogue.tables.packaged.rows import US, Block, Raw

PER_SERVER = 8  # cards, of those that the tables were measured on
PER_TRAY = 4  # of GB200 and GB300
TRAYS = ("gb200", "gb300")
PHASES = {"dispatch": "dispatch", "combine": "combine", "prepare": "exchange_setup"}
MODES = {"deepep_ll": "low_latency", "deepep_ht": "normal", "trtllm_deepep_ll": "low_latency",
         "trtllm_deepep_ht": "normal", "deepep_v2_generation": "v2-decode",
         "deepep_v2_context": "v2-prefill", "NVLinkOneSided": "one-sided",
         "NVLinkTwoSided": "two-sided"}


def deepep_ll(raw: Raw) -> Iterator[Block]:
    """DeepEP's low-latency kernels; ``num_token`` are of ONE rank, dispatched in FP8.

    A table's ``node_num`` servers are full: 8 cards each, 4 of GB200 and GB300. Times are of the
    kernels alone (``bench_kineto``, without the hook), on rank 0.

    Source: ``collector/wideep/sglang/collect_deepep_ll.py``, ``deepep/test_low_latency.py``.
    """
    shape = _deepep(raw) | {"mode": "low_latency", "multiprocessors": 0}
    for phase, dtype in (("dispatch", "fp8"), ("combine", "bf16")):
        yield Block(phase, shape | {"dtype": dtype, "time": raw.time(f"{phase}_avg_t_us", US)})


def deepep_normal(raw: Raw) -> Iterator[Block]:
    """DeepEP's normal kernels; ``num_token`` are of ONE rank, dispatched in FP8.

    The time is that of the best of 16 chunk sizes (transmit) and what is agreed on before (notify,
    0 within a server, where it is not measured).

    Source: ``collector/wideep/sglang/collect_deepep_normal.py``,
    ``deepep/test_{intranode,internode}.py``.
    """
    for phase, dtype in (("dispatch", "fp8"), ("combine", "bf16")):
        yield Block(phase, _deepep(raw) | {
            "mode": "normal", "multiprocessors": raw.number(f"{phase}_sms"), "dtype": dtype,
            "time": raw.time(f"{phase}_transmit_us", US) + raw.time(f"{phase}_notify_us", US)})


def moe_a2a(raw: Raw) -> Iterator[Block]:
    """Exchange as an engine calls it; ``num_tokens`` are of ONE rank, ``latency`` is in MICROs.

    It is transmit and notify together. A ``comm_dtype`` of ``default`` is what DeepEP is given:
    FP8 in SGLang's low-latency dispatch, BF16 otherwise, in vLLM everywhere
    (``use_fp8_dispatch=False``). TensorRT-LLM's says what is dispatched; results come back in BF16
    (``use_low_precision_moe_combine=False``).

    Source: ``collector/wideep/{sglang,vllm,trtllm}/collect_moe_a2a.py``; the unit,
    ``aic-core/rust/aiconfigurator-core/src/perf_database/moe_a2a.rs``.
    """
    phases, said, backends = raw.text("phase"), raw.text("comm_dtype"), raw.text("comm_backend")
    quantises = np.char.startswith(raw.engine().astype(str), "sglang")
    eights = (said == "default") & (backends == "deepep_ll") & (phases == "dispatch") & quantises
    dtypes = np.where(eights, "fp8", raw.dtype("comm_dtype"))
    back = (phases == "combine") & np.char.startswith(backends.astype(str), "trtllm")
    shape = _shape(raw) | {
        "ranks": raw.number("ep_size"), "nodes": raw.number("node_num"),
        "tokens": raw.number("num_tokens"), "num_experts_per_tok": raw.number("topk"),
        "mode": renamed(backends, MODES), "multiprocessors": raw.number("sms", 0),
        "dtype": np.where(back, "bf16", dtypes).astype(object),
        "kernel": backends, "time": raw.time(unit=US)}
    for said_phase, operator in PHASES.items():
        yield Block(operator, shape, phases == said_phase)


def trtllm_alltoall(raw: Raw) -> Iterator[Block]:
    """TensorRT-LLM's exchange over NVLink; ``num_tokens`` are of ONE rank, ``latency`` is in ms.

    ``moe_dtype`` is what is dispatched; results come back in BF16, in low precision in FP4.

    Source: ``collector/network/slurm/collect_trtllm_alltoall.py``.
    """
    said = raw.text("op_name")
    shape = _shape(raw) | {
        "ranks": raw.number("moe_ep_size"),
        "nodes": np.maximum(1, -(-raw.number("moe_ep_size") // PER_TRAY)),
        "tokens": raw.number("num_tokens"), "num_experts_per_tok": raw.number("topk"),
        "mode": renamed(raw.text("kernel_source"), MODES), "multiprocessors": 0,
        "skew": raw.skew(), "time": raw.time()}
    for word, operator, dtype in (
            ("alltoall_dispatch", "dispatch", raw.dtype("moe_dtype")),
            ("alltoall_combine", "combine", "bf16"),
            ("alltoall_combine_low_precision", "combine", "nvfp4"),
            ("alltoall_prepare", "exchange_setup", raw.dtype("moe_dtype"))):
        yield Block(operator, shape | {"dtype": dtype}, said == word)


def _deepep(raw: Raw) -> dict[str, Any]:
    cards = PER_TRAY if raw.card in TRAYS else PER_SERVER
    return _shape(raw) | {
        "ranks": raw.number("node_num") * cards, "nodes": raw.number("node_num"),
        "tokens": raw.number("num_token"), "num_experts_per_tok": raw.number("num_topk")}


def _shape(raw: Raw) -> dict[str, Any]:
    return {"hidden_size": raw.number("hidden_size"), "n_routed_experts": raw.number("num_experts"),
            "skew": "uniform"}
