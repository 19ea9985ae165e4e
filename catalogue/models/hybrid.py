"""What a configuration says of layers that keep a state instead of a cache, or that attend to
blocks which an indexer picks."""

from __future__ import annotations

from collections.abc import Callable

from catalogue.messages import Pair, messages
from catalogue.models.families import Hybrid
from catalogue.models.fields import Fields

say = messages("catalogue/models/hybrid")

# from src/transformers/models/qwen3_5_moe/configuration_qwen3_5_moe.py
_INTERVAL = 4  # full_attention_interval where it is not stated
_TWINS = (("linear_num_heads", "linear_num_key_heads"), ("linear_head_dim", "linear_key_head_dim"),
          ("linear_conv_kernel_dim", "linear_conv_kernel_dim"))
LINEAR, FULL = "linear_attention", "full_attention"
INDEXED, SPARSE = "deepseek_sparse_attention", "minimax_m3_sparse"


def delta_net(fields: Fields) -> None:
    """Gated delta nets, and attention to everything in each so-manieth layer.

    Where a list of the layers and a rhythm are both stated, they must agree.
    """
    layers, found = fields.found["num_hidden_layers"], fields.found
    every = _INTERVAL
    if fields.get("full_attention_interval") is not None:
        every = fields.count("full_attention_interval", "linear_layers")
    rhythm = [FULL if (layer + 1) % every == 0 else LINEAR for layer in range(layers)]
    types = _listed(fields, layers, (FULL, LINEAR), "linear_layers") or rhythm
    if types != rhythm and fields.get("full_attention_interval") is not None:
        fields.refuse("layer_types", "the layers that full_attention_interval says")
    says = "full_attention_interval" if fields.get("layer_types") is None else "layer_types"
    _states(fields, types.count(LINEAR), says)
    if found["linear_num_value_heads"] % found["linear_num_key_heads"]:
        fields.refuse("linear_num_key_heads", f"a divisor of the {found['linear_num_value_heads']} "
                                              "value heads")
    if "moe_intermediate_size" in found:
        _shared_width(fields, "shared_expert_intermediate_size")


def kimi_delta(fields: Fields) -> None:
    """Kimi delta attention, MLA in the other layers; experts may work on a narrower vector.

    Source of the defaults: src/transformers/models/kimi_linear/configuration_kimi_linear.py; of
    ``use_full_rank_gate`` the published configuration of Kimi K3, without which the gate is of low
    rank as in Kimi Linear.
    """
    kinds = _kimi_layers(fields, first=1)
    types = _listed(fields, len(kinds), (FULL, LINEAR), "checked")
    if types and types != [LINEAR if linear else FULL for linear in kinds]:
        fields.refuse("layer_types", "the layers that kda_layers says")
    _narrower_experts(fields)


def pooled_delta(fields: Fields) -> None:
    """Kimi delta attention, MLA with an indexer of pooled keys in the other layers: GLM-5.3-Flash.

    Source: src/transformers/models/glm5_next/modeling_glm5_next.py; that ``index_topk`` counts
    tokens, and picked pools are whole: sgl-project/sglang, dsa_indexer_kpool.py.
    """
    kinds, found = _kimi_layers(fields, first=0), fields.found
    types = _listed(fields, len(kinds), (INDEXED, LINEAR), "checked")
    if types and types != [LINEAR if linear else INDEXED for linear in kinds]:
        fields.refuse("layer_types", "the layers that kda_layers says")
    full = ["full"] * len(kinds)
    if fields.get("indexer_types") is not None:
        if fields.get("indexer_types") != full:
            fields.refuse("indexer_types", f"a list of {len(kinds)}, each full")
        fields.used["indexer_types"] = "checked"
    pool = fields.count("index_kpool", "compress_ratio")
    if found["index_topk"] % pool:
        fields.refuse("index_topk", f"a multiple of the {pool} tokens of an index key")
    found |= {"compress_ratio": pool,
              "index_topk": fields.derived(found["index_topk"] // pool, "index_topk / index_kpool"),
              "indexer_layers": fields.derived(kinds.count(False), "kda_layers")}
    fields.comments |= {"compress_ratio": "tokens of an index key",
                        "index_topk": "keys, not tokens", "indexer_layers": "the others counted"}
    _missing(fields, say("pooled", count=pool - 1))


def _kimi_layers(fields: Fields, first: int) -> list[bool]:
    """Shapes of Kimi delta attention, and whether each layer has it.

    Args:
        fields: of the language model.
        first: the number of the first layer in the lists.
    """
    layers, found, at = fields.found["num_hidden_layers"], fields.found, "linear_attn_config."
    own, key = fields.inside("linear_attn_config"), f"{at}kda_layers"
    heads = own.count(f"{at}num_heads", "linear_num_key_heads")
    size = own.count(f"{at}head_dim", "linear_key_head_dim")
    found |= {"linear_num_key_heads": heads, "linear_num_value_heads": heads,
              "linear_key_head_dim": size, "linear_value_head_dim": size,
              "linear_conv_kernel_dim": own.count(f"{at}short_conv_kernel_size",
                                                  "linear_conv_kernel_dim")}
    for twin, ours in _TWINS:  # written besides by transformers
        if fields.get(twin) is not None and fields.count(twin, ours) != found[ours]:
            fields.refuse(twin, f"{found[ours]} as in linear_attn_config")
    full_rank = own.switch(f"{at}use_full_rank_gate", False)
    for rank in ("linear_decay_rank", *(() if full_rank else ("linear_gate_rank",))):
        found[rank] = fields.derived(size, "linear_attn_config of the configuration")
        fields.comments[rank] = "the head dimension, as the modelling code has it"
    linear, others = (own.get(f"{at}{name}") for name in ("kda_layers", "full_attn_layers"))
    if key not in own.file.data:
        own.missing(key, f"a list of the layers, counted from {first}")
    if not all(isinstance(each, list) and all(type(layer) is int for layer in each)
               for each in (linear, others)) \
            or sorted(linear + others) != list(range(first, first + layers)):
        own.refuse(key, f"with full_attn_layers each of the {layers} layers once, counted from "
                        f"{first}")
    own.used |= dict.fromkeys((key, f"{at}full_attn_layers"), "linear_layers")
    own.nothing_else(ignored=(f"{at}gate_lower_bound",))
    _states(fields, len(linear), "kda_layers")
    return [layer + first in linear for layer in range(layers)]


def _narrower_experts(fields: Fields) -> None:
    """Experts on a narrower vector, and what of Kimi K3 has no formula."""
    narrow = "routed_expert_hidden_size"
    if fields.get(narrow) is not None:
        fields.found[narrow] = fields.count(narrow, narrow)
        if fields.get("latent_moe_use_norm"):
            fields.comments[narrow] = "a norm of this width in each layer is not counted"
    without: list[Pair] = []
    if fields.get("attn_res_block_size"):
        without.append(say("residuals", layers=fields.count("attn_res_block_size",
                                                            "num_hidden_layers")))
    if fields.get("hidden_act") == "situ":
        without.append(say("situ"))
    _missing(fields, *without)


def blocks(fields: Fields) -> None:
    """Dense layers that attend to everything, then experts and blocks which an indexer picks."""
    layers, found = fields.found["num_hidden_layers"], fields.found
    dense = _dense_first(fields, layers)
    own = fields.inside("sparse_attention_config")
    at = "sparse_attention_config."
    own.exactly(f"{at}use_sparse_attention", (True,))
    own.exactly(f"{at}sparse_score_type", ("max", None))
    sparse = [0] * dense + [1] * (layers - dense)
    for name in ("sparse_attention_freq", "sparse_disable_index_value"):
        if f"{at}{name}" not in own.file.data:
            own.missing(f"{at}{name}", "a list with 0 or 1 for each layer")
        if own.get(f"{at}{name}") != sparse:
            own.refuse(f"{at}{name}", f"a list of {layers}: 0 for the {dense} dense layers, 1 for "
                                      "the others")
        own.used[f"{at}{name}"] = "indexer_layers"
    size, picked = (own.count(f"{at}sparse_{name}", "index_topk")
                    for name in ("block_size", "topk_blocks"))
    always = sum(own.count(f"{at}sparse_{name}_block", "index_topk", 0)
                 for name in ("init", "local") if own.get(f"{at}sparse_{name}_block") is not None)
    found |= {"index_n_heads": own.count(f"{at}sparse_num_index_heads", "index_n_heads"),
              "index_head_dim": own.count(f"{at}sparse_index_dim", "index_head_dim"),
              "index_topk": fields.derived(size * (picked + always), "sparse_attention_config")}
    own.nothing_else()
    fields.comments["index_topk"] = f"{picked} picked blocks of {size} tokens and {always} besides"
    for ours in ("indexer_layers", "sparse_layers"):
        found[ours] = fields.derived(layers - dense, "sparse_attention_freq of the configuration")
        fields.comments[ours] = "the layers with 1 counted"
    types = _listed(fields, layers, (FULL, SPARSE), "checked")
    if types and types != [SPARSE if one else FULL for one in sparse]:
        fields.refuse("layer_types", "the layers that sparse_attention_freq says")
    _shared_width(fields, "shared_intermediate_size")
    if "num_nextn_predict_layers" in found:
        if fields.get("num_mtp_modules") is not None:
            fields.count("num_mtp_modules", "num_nextn_predict_layers", 0)
            fields.used["num_mtp_modules"] = "checked"
    elif fields.get("num_mtp_modules") is not None:
        found["num_nextn_predict_layers"] = fields.count(
            "num_mtp_modules", "num_nextn_predict_layers", 0)
    _missing(fields, say("blocks"))


def _dense_first(fields: Fields, layers: int) -> int:
    """How many layers are dense: the first ones, by a list of the layers [1]."""
    listed = fields.get("moe_layer_freq")
    if "moe_layer_freq" not in fields.file.data:
        fields.missing("moe_layer_freq", "a list with 0 or 1 for each layer")
    dense = listed.count(0) if isinstance(listed, list) else 0
    if listed != [0] * dense + [1] * (layers - dense) or dense == layers:
        fields.refuse("moe_layer_freq", f"a list of {layers}: 0 for dense layers, which are first, "
                                        "then 1")
    fields.used["moe_layer_freq"] = "first_k_dense_replace"
    fields.found["first_k_dense_replace"] = fields.derived(dense, "moe_layer_freq")
    if fields.get("first_k_dense_replace") is not None \
            and fields.count("first_k_dense_replace", "first_k_dense_replace", 0) != dense:
        fields.refuse("first_k_dense_replace", f"{dense} as in moe_layer_freq")
    return dense


def _listed(fields: Fields, layers: int, known: tuple[str, ...], ours: str) -> list[str] | None:
    """The kind of each layer, where they are listed."""
    types = fields.get("layer_types")
    if types is None:
        return None
    if not isinstance(types, list) or len(types) != layers \
            or not all(isinstance(item, str) and item in known for item in types):
        fields.refuse("layer_types", f"a list of {layers}, each {' or '.join(known)}")
    fields.used["layer_types"] = ours
    return types


def _states(fields: Fields, count: int, says: str) -> None:
    fields.found["linear_layers"] = fields.derived(count, f"{says} of the configuration")
    fields.comments["linear_layers"] = "the linear ones counted"


def _shared_width(fields: Fields, key: str) -> None:
    """Shared experts are as wide as routed ones."""
    width = fields.found["n_shared_experts"]
    count = width["value"] if isinstance(width, dict) else width
    expected = count * fields.found["moe_intermediate_size"]
    if fields.get(key) is None:
        return
    if fields.get(key) != expected:
        fields.refuse(key, f"{expected}, {count} shared as wide as a routed one")
    fields.used[key] = fields.used.get(key, "checked")


def _missing(fields: Fields, *sentences: Pair) -> None:
    """What no formula has, which every answer for the model carries."""
    if sentences:
        english, chinese = zip(*sentences, strict=True)
        fields.found["missing"] = {"en": " ".join(english), "zh": "".join(chinese)}


HYBRID: dict[Hybrid, Callable[[Fields], None]] = {
    "delta net": delta_net, "kimi delta": kimi_delta, "pooled delta": pooled_delta,
    "blocks": blocks}
