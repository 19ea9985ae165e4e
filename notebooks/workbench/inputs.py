"""Numbers for the input symbols of a formula from single entries of the catalogue."""

from __future__ import annotations

from typing import Any

import params

Number = int | float


def model_inputs(model: Any) -> dict[str, Number]:
    """Input symbols of a model: its shapes; 0 for what it does not have."""
    numbers: dict[str, Number] = {}
    for name in params.symbols():
        if name in type(model).model_fields:
            value = getattr(model, name)
            numbers[name] = int(value) if isinstance(value, bool) else value.value if value else 0
    if model.first_k_dense_replace is None:
        numbers["first_k_dense_replace"] = model.num_hidden_layers.value
    numbers["separate_head"] = int(not model.tie_word_embeddings)
    return numbers


def precision_inputs(precision: Any) -> dict[str, Number]:
    """Input symbols of a precision: bytes per element of each class, scales included."""
    names = {f"{name}_weight_bytes": fmt for name, fmt in dict(precision.weights).items()}
    names |= {f"{name}_element_bytes": getattr(precision, name)
              for name in ("kv_cache", "kv_rope", "activation", "logit")}
    return {name: params.load_format(fmt).bytes_per_element for name, fmt in names.items()}

