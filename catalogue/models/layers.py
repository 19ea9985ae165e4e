"""What a configuration says of its layers one by one, counted: which compute an index."""

from __future__ import annotations

from catalogue.models.fields import Fields

# from src/transformers/models/glm_moe_dsa/configuration_glm_moe_dsa.py
_OFFSET = 2  # index_skip_topk_offset where it is not stated


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
