"""Fields of a configuration: known names of every family, checked reading, rules that take code."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from catalogue import library
from catalogue.entries.entry import Entry, PrecisionName
from catalogue.entries.models import Family
from catalogue.reading import yamlfile
from catalogue.reading.files import ROOT, ParamsError
from catalogue.reading.jsonfile import JsonFile, json_excerpt
from catalogue.reading.near import nearest_names

_LONGEST = 80  # characters of a field's name, that of its object before it
# The widest that is plausible, with room; products of these stay exact in 64 bits.
_OF_TOKENS = ("vocab_size", "index_topk", "sliding_window", "max_position_embeddings")
_WIDE = ("intermediate_size", "hidden_size", "moe_intermediate_size", "q_lora_rank",
         "kv_lora_rank", "o_lora_rank", "routed_expert_hidden_size")


def largest(ours: str) -> int:
    """The largest plausible value of a field of a model file [1]."""
    if "layers" in ours or ours == "first_k_dense_replace":
        return 1_000
    return 1_000_000_000 if ours in _OF_TOKENS else 100_000 if ours in _WIDE else 8_192


@dataclass
class Fields:
    """The fields of a configuration, and what was made of each.

    Attributes:
        file: the configuration.
        family: what its fields mean.
        values: field of the model file -> its value there.
        used: field of the configuration -> field of the model file, or what it was checked for.
        comments: field of the model file -> why it has its value, where the configuration does not
            say.
    """

    file: JsonFile
    family: Family
    values: dict[str, Any] = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    comments: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the objects that the family names as fields OBJECT.FIELD of their own."""
        for part in self.family.parts:
            value = self.file.data.get(part)
            if value is None:
                continue
            if not isinstance(value, dict) or not value:
                self.refuse(part, "an object")
            self.used[part] = "checked"
            inside, lines = self.file.within.get(part, {}), self.file.lines
            self.file = replace(
                self.file, data=self.file.data | {f"{part}.{name}": value[name] for name in value},
                lines=lines | {f"{part}.{name}": inside.get(name, lines[part]) for name in value})

    def refuse(self, key: str, expected: str) -> NoReturn:
        """Raise ParamsError: what a field holds and what was expected."""
        raise ParamsError(f"{self.file.where(key)}: {key[:_LONGEST]!a} is "
                          f"{json_excerpt(self.get(key))}, expected {expected}.")

    def missing(self, key: str, expected: str) -> NoReturn:
        """Raise ParamsError: a field is not there."""
        raise ParamsError(f"{self.file.name}: '{key}' is missing, expected {expected}.")

    def get(self, key: str) -> Any:
        """A field's value, or the configuration class's default; None where there is neither."""
        value = self.file.data.get(key, self.family.default_values.get(key))
        if value is None and key in self.family.same_as:
            return self.get(self.family.same_as[key])
        return value

    def has(self, key: str) -> bool:
        """Whether a field is stated or has a default."""
        return key in self.file.data or key in self.family.default_values or (
            key in self.family.same_as and self.has(self.family.same_as[key]))

    def states(self, key: str) -> bool:
        """Whether the configuration itself says something in a field."""
        return self.file.data.get(key) not in (None, [], "")

    def use(self, key: str, ours: str) -> None:
        """Record that a field was read; a default is explained beside the field that it gives."""
        if key in self.file.data:
            self.used[key] = ours
        if self.file.data.get(key) is None and self.has(key):
            other = self.family.same_as.get(key)
            self.comments.setdefault(ours, f"as {other}" if other and key not in
                                     self.family.default_values
                                     else f"default of the configuration class for {key}")

    @staticmethod
    def derived(value: int, source: str) -> dict[str, Any]:
        """A count that the configuration does not state as such."""
        return {"value": value, "source": source, "kind": "derived"}

    def exactly(self, key: str, accepted: list[Any] | tuple[Any, ...]) -> None:
        """Refuse a field that has none of the values that the program models."""
        value = self.get(key)
        if any(type(value) is type(item) and value == item for item in accepted):
            if key in self.file.data:
                self.used.setdefault(key, "checked")
            return
        expected = " or ".join(json.dumps(item) for item in accepted if item is not None) or "null"
        if not self.has(key):
            self.missing(key, expected)
        self.refuse(key, f"{expected}, the only one that is modelled here"
                    if len(accepted) == 1 else expected)

    def count(self, key: str, ours: str, smallest: int | None = None) -> int:
        """A whole number within what is plausible for a field of the model file [1]."""
        value, most = self.get(key), largest(ours)
        may_be_zero = ours in self.family.may_be_zero or ours == "num_nextn_predict_layers"
        least = int(not may_be_zero) if smallest is None else smallest
        if not self.has(key):
            self.missing(key, "a whole number")
        if type(value) is not int or not least <= value <= most:
            self.refuse(key, f"a whole number from {least} to {most:,}")
        self.use(key, ours)
        return value

    def stated(self, ours: str, names: list[str]) -> int:
        """A count under any of its names, which must agree [1]."""
        present = [name for name in names if self.states(name)] or [
            name for name in names if self.has(name)] or names[:1]
        first = present[0]
        if ours in self.family.null_is_zero and self.get(first) is None and self.has(first):
            self.use(first, ours)
            self.comments[ours] = "null in the configuration"
            return 0
        value = self.count(first, ours)
        for name in present[1:]:
            if self.states(name) and self.count(name, ours) != value:
                self.refuse(name, f"{value} as in '{first}'")
        return value

    def switch(self, key: str, ours: str | None = None) -> bool:
        """A truth value; null is the default."""
        value = self.get(key)
        if value is None:
            value = self.family.default_values.get(key, False)
        if not isinstance(value, bool):
            self.refuse(key, "true or false")
        self.use(key, ours or key)
        return value


def kimi_gates(fields: Fields) -> None:
    """Ranks of the decay and of the output gate of Kimi delta attention: the head dimension.

    Source: src/transformers/models/kimi_linear/modeling_kimi_linear.py; of ``use_full_rank_gate``
    the published configuration of Kimi K3.
    """
    full_rank = fields.switch("linear_attn_config.use_full_rank_gate", "linear_gate_rank")
    for rank in ("linear_decay_rank", *(() if full_rank else ("linear_gate_rank",))):
        fields.values[rank] = fields.derived(fields.values["linear_key_head_dim"],
                                            "linear_attn_config of the configuration")
        fields.comments[rank] = "the head dimension, as the modelling code has it"


def pooled_keys(fields: Fields) -> None:
    """Index keys of several tokens, of which so many are picked.

    Source: src/transformers/models/glm5_next/modeling_glm5_next.py.
    """
    values = fields.values
    pool = fields.count("index_kpool", "compress_ratio")
    if values["index_topk"] % pool:
        fields.refuse("index_topk", f"a multiple of the {pool} tokens of an index key")
    values |= {"compress_ratio": pool,
               "index_topk": fields.derived(
                   values["index_topk"] // pool, "index_topk / index_kpool")}
    fields.comments |= {"compress_ratio": "tokens of an index key",
                        "index_topk": "keys, not tokens"}
    left = "the token" if pool == 2 else f"up to {pool - 1} tokens"
    values["missing"] = {
        "en": f"The gates by which an indexer pools keys, and {left} after the last pool, are not "
              "counted.",
        "zh": f"索引器池化键所用的门，以及最后一个池之后至多 {pool - 1} 个 token，未计入。"}


def picked_blocks(fields: Fields) -> None:
    """Tokens of the blocks that an indexer picks, and of those that are always read.

    Source: src/transformers/models/minimax_m3_vl/modeling_minimax_m3_vl.py.
    """
    at = "sparse_attention_config.sparse_"
    size, picked = (fields.count(f"{at}{name}", "index_topk")
                    for name in ("block_size", "topk_blocks"))
    always = sum(fields.count(f"{at}{name}_block", "index_topk", 0) for name in ("init", "local")
                 if fields.states(f"{at}{name}_block"))
    fields.values["index_topk"] = fields.derived(size * (picked + always),
                                                "sparse_attention_config")
    fields.comments["index_topk"] = f"{picked} picked blocks of {size} tokens and {always} besides"


RULES: dict[str, Callable[[Fields], None]] = {
    "kimi_gates": kimi_gates, "pooled_keys": pooled_keys, "picked_blocks": picked_blocks}


NEAR = 3  # names of families in a message


class Format(Entry):
    """Fields of a configuration that say in which precision its weights are published."""

    precision: PrecisionName
    of: dict[str, Any]


class Configurations(Entry):
    """What every family has in common, from ``params/configurations.yml``."""

    irrelevant: frozenset[str]
    architectural: frozenset[str]
    around: frozenset[str]
    formats: list[Format]


def configurations() -> Configurations:
    """What every family has in common.

    Raises ParamsError for keys that it does not have and values that are none.
    """
    path = ROOT / "configurations.yml"
    return yamlfile.remembered("configurations", path, lambda: library.parsed(
        Configurations, yamlfile.read(path)))


def family_names() -> dict[str, str]:
    """Every known ``model_type``, with the name of the family's file."""
    files = library.names("families")
    return {name: name for name in files} | {
        other: name for name in files for other in library.also("families", name)}


def load_family(reference: str | Path) -> Family:
    """A family by its ``model_type``, or from a file of the reader's own.

    Raises ParamsError as :func:`catalogue.library.load`.
    """
    family: Family = library.load("families", reference)
    return family


def nearest(model_type: str) -> str:
    """The families whose names are nearest, for a message."""
    near = nearest_names(model_type, family_names(), NEAR, 0.4)
    return f"such as {', '.join(near)}" if near else "of which none has a name near it"
