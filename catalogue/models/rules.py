"""What some families have that takes code: ranks and pools that follow from several fields."""

from __future__ import annotations

from collections.abc import Callable

from catalogue.messages import messages
from catalogue.models.fields import Fields

say = messages("catalogue/models/rules")


def kimi_gates(fields: Fields) -> None:
    """Ranks of the decay and of the output gate of Kimi delta attention: the head dimension.

    Source: src/transformers/models/kimi_linear/modeling_kimi_linear.py; of ``use_full_rank_gate``
    the published configuration of Kimi K3.
    """
    full_rank = fields.switch("linear_attn_config.use_full_rank_gate", "linear_gate_rank")
    for rank in ("linear_decay_rank", *(() if full_rank else ("linear_gate_rank",))):
        fields.found[rank] = fields.derived(fields.found["linear_key_head_dim"],
                                            "linear_attn_config of the configuration")
        fields.comments[rank] = "the head dimension, as the modelling code has it"


def pooled_keys(fields: Fields) -> None:
    """Index keys of several tokens, of which so many are picked.

    Source: src/transformers/models/glm5_next/modeling_glm5_next.py.
    """
    found = fields.found
    pool = fields.count("index_kpool", "compress_ratio")
    if found["index_topk"] % pool:
        fields.refuse("index_topk", f"a multiple of the {pool} tokens of an index key")
    found |= {"compress_ratio": pool,
              "index_topk": fields.derived(found["index_topk"] // pool, "index_topk / index_kpool")}
    fields.comments |= {"compress_ratio": "tokens of an index key",
                        "index_topk": "keys, not tokens"}
    english, chinese = say("pooled", count=pool - 1)
    found["missing"] = {"en": english, "zh": chinese}


def picked_blocks(fields: Fields) -> None:
    """Tokens of the blocks that an indexer picks, and of those that are always read.

    Source: src/transformers/models/minimax_m3_vl/modeling_minimax_m3_vl.py.
    """
    at = "sparse_attention_config.sparse_"
    size, picked = (fields.count(f"{at}{name}", "index_topk")
                    for name in ("block_size", "topk_blocks"))
    always = sum(fields.count(f"{at}{name}_block", "index_topk", 0) for name in ("init", "local")
                 if fields.states(f"{at}{name}_block"))
    fields.found["index_topk"] = fields.derived(size * (picked + always),
                                                "sparse_attention_config")
    fields.comments["index_topk"] = f"{picked} picked blocks of {size} tokens and {always} besides"


RULES: dict[str, Callable[[Fields], None]] = {
    "kimi_gates": kimi_gates, "pooled_keys": pooled_keys, "picked_blocks": picked_blocks}
