"""Which tables of the packages are opened, what they hold, and who reads their columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from catalogue.tables.packaged import (
    attention,
    blocks,
    collectives,
    dense,
    exchange,
    experts,
    recurrent,
)
from catalogue.tables.packaged.rows import Block, Raw


@dataclass(frozen=True)
class Convention:
    """A kind of table: the operators that it may hold, and how its rows become ours."""

    operators: tuple[str, ...]
    blocks: Callable[[Raw], Iterator[Block]]


_COLLECTIVES = tuple(collectives.NCCL.values())
_EXCHANGES = ("dispatch", "combine")

CONVENTIONS: Mapping[str, Convention] = {
    "gemm": Convention(("gemm",), dense.gemm),
    "mla_bmm": Convention(("batched_gemm",), dense.mla_bmm),
    "computescale": Convention(("quantise",), dense.computescale),
    "scale_matrix": Convention(("quantise",), dense.scale_matrix),
    "wideep_context_mlp": Convention(("mlp",), dense.wideep_mlp),
    "wideep_generation_mlp": Convention(("mlp",), dense.wideep_mlp),
    "mhc_module": Convention(("hyper_connections",), dense.mhc_module),
    "moe": Convention(("experts",), experts.moe),
    "wideep_context_moe": Convention(("experts",), experts.wideep_sglang),
    "wideep_generation_moe": Convention(("experts",), experts.wideep_sglang),
    "wideep_moe": Convention(("experts",), experts.wideep_trtllm),
    "dsv4_megamoe_module": Convention(("experts_exchange",), experts.megamoe),
    "context_mla": Convention(("mla_prefill",), attention.context_mla),
    "generation_mla": Convention(("mla_decode",), attention.generation_mla),
    "context_attention": Convention(("attention_prefill",), attention.context_attention),
    "generation_attention": Convention(("attention_decode",), attention.generation_attention),
    "encoder_attention": Convention(("attention_encoder",), attention.encoder_attention),
    **{table: Convention((operator,), blocks.prefill(operator)) for table, operator in (
        ("mla_context_module", "mla_prefill_block"), ("wideep_context_mla", "mla_prefill_block"),
        ("dsa_context_module", "dsa_prefill_block"), ("msa_context_module", "msa_prefill_block"),
        ("dsv4_csa_context_module", "csa_prefill_block"),
        ("dsv4_hca_context_module", "hca_prefill_block"))},
    **{table: Convention((operator,), blocks.decode(operator, vllm_counts_newest=newest))
       for table, operator, newest in (
        ("mla_generation_module", "mla_decode_block", True),
        ("wideep_generation_mla", "mla_decode_block", False),
        ("dsa_generation_module", "dsa_decode_block", True),
        ("msa_generation_module", "msa_decode_block", False),
        ("dsv4_csa_generation_module", "csa_decode_block", False),
        ("dsv4_hca_generation_module", "hca_decode_block", False))},
    **{table: Convention((operator,), blocks.kernel(operator)) for table, operator in (
        ("dsv4_paged_mqa_logits_module", "index_scores"),
        ("glm5_mqa_logits_module", "index_scores"),
        ("dsv4_csa_topk_calib", "index_top"), ("glm5_topk_module", "index_top"),
        ("glm5_dsa_attn_module", "sparse_attention"),
        ("dsv4_hca_attn_module", "sparse_attention"))},
    "gdn": Convention(("gated_delta_net",), recurrent.linear("gated_delta_net")),
    "kda": Convention(("kimi_delta_attention",), recurrent.linear("kimi_delta_attention")),
    "mamba2": Convention(("mamba2",), recurrent.mamba2),
    "custom_allreduce": Convention(("all_reduce",), collectives.custom_allreduce),
    "nccl": Convention(_COLLECTIVES, collectives.nccl),
    "oneccl": Convention(_COLLECTIVES, collectives.nccl),
    "wideep_deepep_ll": Convention(_EXCHANGES, exchange.deepep_ll),
    "wideep_deepep_normal": Convention(_EXCHANGES, exchange.deepep_normal),
    "moe_a2a": Convention((*_EXCHANGES, "exchange_setup"), exchange.moe_a2a),
    "trtllm_alltoall": Convention((*_EXCHANGES, "exchange_setup"), exchange.trtllm_alltoall),
    "dsv41_module": Convention(("block",), blocks.component),
    "glm53_attention_module": Convention(("block",), blocks.component),
}
"""By the name of the file without ``_perf`` and its ending."""
