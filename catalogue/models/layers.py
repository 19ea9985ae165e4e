"""What a configuration says of its layers one by one, counted: who computes an index, and which
attend to compressed entries."""

from __future__ import annotations

from catalogue.models.fields import Fields

# from src/transformers/models/glm_moe_dsa/configuration_glm_moe_dsa.py
_OFFSET = 2  # index_skip_topk_offset where it is not stated

# from src/transformers/models/deepseek_v4/configuration_deepseek_v4.py: kinds of layers by ratio
WINDOW_ALONE, INDEXED, HEAVY = 0, 4, 128


def indexers(fields: Fields) -> None:
    """How many layers compute an index; the others take over what the last one picked.

    Where a list of the layers and a rhythm are both stated, they must agree.
    """
    layers = fields.found["num_hidden_layers"]
    full = ["full"] * layers
    rhythm, listed = _rhythm(fields, layers), _listed(fields, layers)
    found = listed or rhythm or full
    if rhythm is not None and found != rhythm:
        fields.refuse("indexer_types", "the layers that index_topk_freq and "
                                       "index_skip_topk_offset say")
    if found[0] != "full":
        fields.refuse("indexer_types" if listed else "index_skip_topk_offset",
                      "a first layer that computes an index")
    if found != full:
        says = "indexer_types" if listed else "index_topk_freq"
        fields.found["indexer_layers"] = fields.derived(found.count("full"),
                                                        f"{says} of the configuration")
        fields.comments["indexer_layers"] = "the full ones counted"


def everywhere(fields: Fields) -> None:
    """A list of kinds of attention may say of each layer that it attends to everything, 1."""
    layers = fields.found["num_hidden_layers"]
    kinds = fields.get("attn_type_list")
    if kinds is None:
        return
    if kinds != [1] * layers:
        fields.refuse("attn_type_list", f"a list of {layers} times 1, full attention")
    fields.used["attn_type_list"] = "checked"


def _listed(fields: Fields, layers: int) -> list[str] | None:
    """``full`` or ``shared`` of each layer, where they are listed."""
    types = fields.get("indexer_types")
    if types is None:
        return None
    if not isinstance(types, list) or len(types) != layers \
            or not all(isinstance(item, str) and item in ("full", "shared") for item in types):
        fields.refuse("indexer_types", f"a list of {layers}, each full or shared")
    fields.used["indexer_types"] = "indexer_layers"
    return types


def _rhythm(fields: Fields, layers: int) -> list[str] | None:
    """``full`` or ``shared`` of each layer, where every so many compute an index."""
    fields.exactly("index_topk_pattern", (None,))
    if fields.get("index_topk_freq") is None:
        fields.exactly("index_skip_topk_offset", (None,))
        return None
    every = fields.count("index_topk_freq", "indexer_layers")
    offset = _OFFSET
    if fields.get("index_skip_topk_offset") is not None:
        offset = fields.count("index_skip_topk_offset", "indexer_layers", 0)
    return ["full" if max(layer - offset + 1, 0) % every == 0 else "shared"
            for layer in range(layers)]


def compressed(fields: Fields) -> None:
    """How many layers have an entry per few tokens and an indexer, and how many one per many.

    ``compress_ratios`` goes on after the last layer with those of the layers that predict further
    tokens; these are not counted.
    """
    layers, ratios = fields.found["num_hidden_layers"], fields.get("compress_ratios")
    if "compress_ratios" not in fields.file.data:
        fields.missing("compress_ratios", "a list with a ratio for each layer")
    further = fields.found.get("num_nextn_predict_layers", 0)
    known = (WINDOW_ALONE, INDEXED, HEAVY)
    if not isinstance(ratios, list) or not layers <= len(ratios) <= layers + further \
            or not all(type(ratio) is int and ratio in known for ratio in ratios):
        fields.refuse("compress_ratios", f"a list of {layers}, or {layers + further} with the "
                                         f"prediction layers, each {WINDOW_ALONE}, {INDEXED} or "
                                         f"{HEAVY}")
    fields.used["compress_ratios"] = "compress_ratio"
    of_layers = ratios[:layers]
    if INDEXED not in of_layers:
        fields.refuse("compress_ratios", f"a layer with {INDEXED}, as there is an indexer")
    for ours, ratio in (("indexer_layers", INDEXED), ("compressed_layers", INDEXED),
                        ("heavy_layers", HEAVY)):
        fields.found[ours] = fields.derived(of_layers.count(ratio),
                                            "compress_ratios of the configuration")
        fields.comments[ours] = f"the layers of ratio {ratio}"
    fields.found |= {"compress_ratio": INDEXED, "heavy_compress_ratio": HEAVY}
    _of_compressed_attention(fields, layers)


def _of_compressed_attention(fields: Fields, layers: int) -> None:
    """What else the formulas take for granted: one row for all heads, groups of whole heads."""
    heads, found = fields.found["num_attention_heads"], fields.found
    if found["num_key_value_heads"] != 1:
        fields.refuse("num_key_value_heads", "1, a row for all heads")
    if fields.get("head_dim") is None:  # a row is of no share of the hidden size
        fields.missing("head_dim", "the width of a row")
    if found["qk_rope_head_dim"] > found["head_dim"]:
        fields.refuse("qk_rope_head_dim", f"at most the {found['head_dim']} of head_dim")
    if heads % found["o_groups"]:
        fields.refuse("o_groups", f"a divisor of the {heads} attention heads")
    if found["num_hash_layers"] > layers:
        fields.refuse("num_hash_layers", f"at most the {layers} layers")
