"""Routed experts: what the columns of their tables mean."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from catalogue.tables.packaged.names import STAGES, renamed
from catalogue.tables.packaged.rows import Block, Raw

UNGATED = ((2688, 1856), (4096, 2688), (1024, 2688), (8192, 5120), (2048, 5120))


def moe(raw: Raw) -> Iterator[Block]:
    """Experts of the fullest rank of ``moe_ep_size``, for the tokens of ALL those ranks.

    ``num_tokens`` counts the tokens of the whole group: routing is drawn for it over all experts,
    the rank that gets most becomes rank 0, and what falls to rank 0 is measured
    (``collector/helper.py``, ``_generate_power_law_distribution``, ``power_law_logits_v3``;
    SGLang's collector hands in those rows alone, vLLM's and TensorRT-LLM's all of them, with the
    other ranks' experts masked). ``inter_size`` is of a whole expert: ``moe_tp_size`` cuts it
    (``local_inter_size = inter_size // moe_tp_size``). A power law is the mean of five draws. The
    time holds the choice of experts from given logits in vLLM and TensorRT-LLM.

    Source: ``collector/{vllm,sglang,trtllm}/collect_moe.py``.
    """
    yield Block("experts", _experts(raw) | {"matrices": np.where(_ungated(raw), 2, 3)})


def wideep_sglang(raw: Raw) -> Iterator[Block]:
    """Experts of one rank between DeepEP's dispatch and combine, for the tokens of ALL ranks.

    The rows hold ``num_token * simulated_ep_size``. Of a prompt each expert's rows are padded to
    128; of a decode step the rank is the fullest one.

    Source: ``collector/wideep/sglang/collect_deepep_moe.py``.
    """
    yield Block("experts", _experts(raw) | {"matrices": 3})


def wideep_trtllm(raw: Raw) -> Iterator[Block]:
    """Experts of the fullest rank without its exchange, for the tokens of ALL ranks.

    What is measured are the rows that fall to rank 0 (``rank0_num_tokens``). A layer has
    ``num_slots`` copies of experts, which are what a rank holds: they stand for its experts here.

    Source: ``collector/wideep/trtllm/collect_moe_compute.py``.
    """
    yield Block("experts", _experts(raw) | {"n_routed_experts": raw.number("num_slots"),
                                            "matrices": 3}, raw.text("distribution") != "balanced")


def megamoe(raw: Raw) -> Iterator[Block]:
    """Dispatch, routed experts and combine in one kernel; ``num_tokens`` are of ONE rank.

    ``global_num_tokens`` is that times the ranks. Gate, choice of experts and the shared expert are
    apart. A replayed CUDA graph, on all ranks.

    Source: ``collector/sglang/dsv4_megamoe/README.md``.
    """
    yield Block("experts_exchange", {
        "stage": renamed(raw.text("phase"), STAGES), "tokens": raw.number("num_tokens"),
        "hidden_size": raw.number("hidden_size"),
        "moe_intermediate_size": raw.number("inter_size"),
        "n_routed_experts": raw.number("num_experts"), "num_experts_per_tok": raw.number("topk"),
        "expert_parallel": raw.number("moe_ep_size"), "skew": raw.skew(),
        "dtype": raw.dtype("moe_dtype"), "time": raw.time()})


def _experts(raw: Raw) -> dict[str, Any]:
    return {
        "tokens": raw.number("num_tokens"), "hidden_size": raw.number("hidden_size"),
        "moe_intermediate_size": raw.number("inter_size"),
        "n_routed_experts": raw.number("num_experts"), "num_experts_per_tok": raw.number("topk"),
        "tensor_parallel": raw.number("moe_tp_size"), "expert_parallel": raw.number("moe_ep_size"),
        "skew": raw.skew(), "dtype": raw.dtype("moe_dtype"), "time": raw.time()}


def _ungated(raw: Raw) -> NDArray[np.bool_]:
    """Rows of Nemotron-H, whose experts square what is above 0 and have no gate [rows].

    By their sizes, which no other of the models measured has.

    Source: ``collector/cases/models/NemotronHForCausalLM_cases.yaml`` (``is_gated: false``).
    """
    hidden, inner = raw.number("hidden_size"), raw.number("inter_size")
    return np.logical_or.reduce([(hidden == one) & (inner == other) for one, other in UNGATED])
