"""Models of today whose layers no formula here has: what is new in each, and where one adds it."""

from __future__ import annotations

from typing import NamedTuple

from catalogue.reading.errors import ParamsError
from catalogue.reading.jsonfile import JsonFile, json_excerpt


class New(NamedTuple):
    """What a model type has that no other here has.

    Attributes:
        keys: fields of the configuration that say so; the first one present is named.
        what: in words.
        counted: the model of the catalogue that has the rest of it.
    """

    keys: tuple[str, ...]
    what: str
    counted: str


_V41 = New(("kv_source_layer_ids", "engram_layer_ids"),
           "layers that read the compressed cache of an earlier layer, and tables looked up by "
           "n-grams of the prompt", "deepseek-v4.1-flash")

UNMODELLED: dict[str, New] = {
    "deepseek_v41": _V41, "deepseek_v41_text": _V41,
}


def refuse_unmodelled(file: JsonFile) -> None:
    """Say what is new in a model type that is known and not modelled, and the next step.

    Raises ParamsError, one sentence with file and line.
    """
    model_type = file.data.get("model_type")
    new = UNMODELLED.get(model_type) if isinstance(model_type, str) else None
    if new is None:
        return
    key = next((key for key in new.keys if file.data.get(key)), "model_type")
    raise ParamsError(
        f"{file.where(key)}: '{key}' is {json_excerpt(file.data[key])}, which in {model_type} "
        f"means {new.what}, expected a model without it ('{new.counted}' of the catalogue has the "
        "rest); to add it takes a field in "
        "catalogue/entries/models.py, its formulas in notebooks/memory.md, notebooks/compute.md "
        "and calc/physics/, then the family in catalogue/models/families.py.")
