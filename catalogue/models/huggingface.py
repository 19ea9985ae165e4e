"""From the ``config.json`` of a Hugging Face model to a model file of this project.

What is used, what changes nothing, what is unknown, and what the modelling code implies is kept
apart; a value that the program does not model is refused, never guessed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from catalogue.entries.models import Model
from catalogue.models.families import ALIASES, ALWAYS, ARCHITECTURAL, FAMILIES, IRRELEVANT, Family
from catalogue.models.fields import Fields
from catalogue.models.hybrid import HYBRID
from catalogue.models.layers import compressed, everywhere, indexers
from catalogue.models.unmodelled import refuse_unmodelled
from catalogue.models.unwrapping import unwrap
from catalogue.reading import jsonfile
from catalogue.reading.errors import ParamsError
from catalogue.reading.jsonfile import JsonFile, json_excerpt
from catalogue.reading.shared import sources
from catalogue.reading.values import Provenance

MAX_NAME = 80
_BARE = re.compile(r"mla|gqa|csa|sigmoid|softmax|sqrtsoftplus|vendor|derived|"
                   r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
CODE = "modelling code, transformers 5.23.0, "
POSITIONS = ("max_position_embeddings", "model_max_length")  # of Kimi Linear the latter


@dataclass
class Imported:
    """A configuration turned into a model.

    Attributes:
        model_type: family of the configuration.
        data: what the model file holds, in the order of its keys.
        comments: field of ours -> why it has its value, where the configuration does not say.
        used: field of the configuration -> our field, or what it was checked for.
        ignored: fields that change neither a shape nor a count.
        unknown: fields of which nothing is known.
        beside: fields that stand beside the part of the language model, such as one that sees.
        model: the validated model.
    """

    model_type: str
    data: dict[str, Any]
    comments: dict[str, str]
    used: dict[str, str]
    ignored: list[str]
    unknown: list[str]
    beside: list[str]
    model: Model

    @property
    def text(self) -> str:
        """The model file."""
        lines = ["# Imported from the configuration that `defaults` names; what a comment explains "
                 "is not stated there.",
                 f"# Shapes as in the {CODE}src/transformers/models/"
                 f"{FAMILIES[self.model_type].code}."]
        for key, value in self.data.items():
            comment = self.comments.get(key)
            lines.append(f"{key}: {_flow(value)}" + (f"  # {comment}" if comment else ""))
        return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    """One value in YAML's flow style; text in double quotes, our own words and dates bare."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, bool) or not isinstance(value, str):
        return json.dumps(value)
    return value if _BARE.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def import_config(path: Path, name: str | None = None, source: str | None = None) -> Imported:
    """Read a configuration and say what it means.

    Args:
        path: a ``config.json``.
        name: the model's name; by default what the configuration, its folder or its file says.
        source: where it was read, a key of ``params/sources/`` or words; by default its name, the
            day of the file, and for counts that are not stated what they were counted from.

    Raises ParamsError, one sentence with the file and, where there is one, the line.
    """
    whole = unwrap(jsonfile.read(path))
    file = whole.file
    refuse_unmodelled(file)
    reader = _Reader(file)
    model_type = reader.family()
    reader.read(FAMILIES[model_type])
    reader.refuse_what_is_not_modelled(model_type)
    title = _name(path, file, name)
    stated = file.data.get("_name_or_path")
    if name is None and isinstance(stated, str) and stated:
        reader.used["_name_or_path"] = "name"
    head = {"name": {"en": title, "zh": title},
            "defaults": {"source": f"config.json of {title}", "kind": "vendor", "date": file.date}}
    fields = {"attention": FAMILIES[model_type].attention} | reader.found
    if source is not None:
        head["defaults"] = _stated(source)
        fields = {key: {name: item for name, item in value.items() if name != "source"}
                  if isinstance(value, dict) else value for key, value in fields.items()}
    data = head | {key: fields[key] for key in Model.model_fields if key in fields}
    rest = [key for key in file.data if key not in reader.used]
    return Imported(
        model_type, data, reader.comments, reader.used,
        ignored=[key for key in rest if key in IRRELEVANT or key in ARCHITECTURAL],
        unknown=[key for key in rest if key not in IRRELEVANT and key not in ARCHITECTURAL]
        + whole.unknown,
        beside=whole.beside,
        model=_validated(data, file))


def _stated(source: str) -> dict[str, str]:
    """The source that a reader names, with its date where it is listed."""
    if not source.strip() or not source.isprintable() or len(source) > MAX_NAME:
        raise ParamsError(f"--source: {json_excerpt(source)} is not a source, expected up to "
                          f"{MAX_NAME} printable characters.")
    if " " not in source and source not in sources():
        raise ParamsError(f"--source: {json_excerpt(source)} is not in params/sources/, expected a "
                          "key that is, or words that say where to look.")
    date = sources().get(source, {}).get("date")
    return {"source": source, "kind": "vendor"} | ({"date": str(date)} if date else {})


def _name(path: Path, file: JsonFile, name: str | None) -> str:
    """The model's name, in printable characters; of a path its last part."""
    if name is not None:
        if not name.strip() or not name.isprintable() or len(name) > MAX_NAME:
            raise ParamsError(f"--name: {json_excerpt(name)} is not a name, "
                              f"expected up to {MAX_NAME} printable characters.")
        return name.strip()
    stated = file.data.get("_name_or_path")
    folder = path.absolute().parent.name if path.stem == "config" else ""
    for candidate in (stated if isinstance(stated, str) else "", folder, path.stem):
        last = candidate.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
        last = "".join(char for char in last if char.isprintable()).strip()[:MAX_NAME].strip()
        if last.strip("."):
            return last
    return "config"


def _validated(data: dict[str, Any], file: JsonFile) -> Model:
    """The model, held to the rules of model files."""
    provenance = Provenance(data["defaults"], frozenset(sources()), lambda kind, name: None)
    fields = {key: value for key, value in data.items() if key != "defaults"}
    try:
        return Model.model_validate(fields | {"id": "imported"}, context=provenance)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        message = str(problem["ctx"]["error"]) if problem["type"] == "value_error" else (
            problem["msg"][:1].lower() + problem["msg"][1:])
        where = file.where(str(problem["loc"][0])) if problem["loc"] else file.name
        raise ParamsError(f"{where}: {message}.") from None


class _Reader(Fields):
    """Takes one configuration apart, field by field."""

    def family(self) -> str:
        """The model type, known, and not contradicted by the architecture."""
        for key in ("vision_config", "audio_config", "thinker_config"):
            if self.get(key):
                self.refuse(key, "the configuration of a language model alone, or one with it as "
                                 "'text_config'")
        model_type = self.get("model_type")
        if "model_type" not in self.file.data:
            self.missing("model_type", f"one of {', '.join(FAMILIES)}")
        if isinstance(model_type, str):
            model_type = ALIASES.get(model_type, model_type)
        if not isinstance(model_type, str) or model_type not in FAMILIES:
            self.refuse("model_type", f"one of {', '.join(FAMILIES)}; another type is written by "
                                      "hand, as params/templates/model.yml shows")
        self.used["model_type"] = "family"
        family = FAMILIES[model_type]
        if self.get("architectures") is not None:
            if self.get("architectures") not in (
                    [name] for name in (family.architecture, *family.also_named)):
                self.refuse("architectures",
                            f"[\"{family.architecture}\"] with model_type {model_type}")
            self.used["architectures"] = "family"
        return model_type

    def read(self, family: Family) -> None:
        """Everything that the family states, implies and excludes."""
        for key, accepted in (ALWAYS | dict(family.exactly)).items():
            if key not in family.by_layer:
                self.exactly(key, accepted)
        for ours, names in family.counts.items():
            self.found[ours] = self.stated(ours, names, family)
        for key, (default, fields) in family.switches.items():
            value = self.switch(key, default, fields[0])
            for ours in fields:
                self.found[ours] = value
                if self.get(key) is None:
                    self.comments[ours] = f"default of the configuration class for {key}"
        for ours, (value, why) in family.implied.items():
            self.found[ours] = self.derived(value, CODE + family.code.split("/")[1]) \
                if type(value) is int else value
            if why:
                self.comments[ours] = why
        self.found["tie_word_embeddings"] = self.switch("tie_word_embeddings", False)
        if self.get("tie_word_embeddings") is None:
            self.comments["tie_word_embeddings"] = "default of the configuration class"
        positions = [name for name in POSITIONS if self.get(name) is not None]
        if positions:
            self.found[POSITIONS[0]] = self.stated(POSITIONS[0], tuple(positions), family)
        if any(self.get(name) is not None for name in family.groups):
            self.groups(family)
        if any(self.get(name) is not None for name in family.prediction):
            ours = "num_nextn_predict_layers"
            self.found[ours] = self.stated(ours, family.prediction, family)
        if family.attention == "mla":
            self.latent_attention(family)
        else:
            self.heads(family)
        if family.attention == "csa":
            compressed(self)
        everywhere(self)
        if family.shared_indexers:
            indexers(self)
        if family.hybrid:
            HYBRID[family.hybrid](self)
        self.experts()
        if not family.hybrid:
            self.window(family)

    def groups(self, family: Family) -> None:
        """Groups that experts are chosen from; a greedy router knows none, whatever is stated."""
        stated = {name: self.stated(name, (name,), family) for name in family.groups}
        limited = self.get("topk_method") != "greedy"
        for name, value in stated.items():
            self.found[name] = value if limited else 1
            if not limited and value != 1:
                self.comments[name] = "topk_method greedy chooses among all experts"

    def latent_attention(self, family: Family) -> None:
        """Heads of MLA: one latent for all, so there is nothing to group."""
        if "q_lora_rank" not in self.found:
            if "q_lora_rank" not in self.file.data:
                self.missing("q_lora_rank", "a whole number or null")
            if self.get("q_lora_rank") is None:
                self.found["q_lora_rank"] = 0
                self.used["q_lora_rank"] = "q_lora_rank"
                self.comments["q_lora_rank"] = "null: queries come from the hidden state"
            else:
                self.found["q_lora_rank"] = self.count("q_lora_rank", "q_lora_rank")
        heads = self.found["num_attention_heads"]
        self.found["num_key_value_heads"] = heads
        if self.get("num_key_value_heads") is None:
            self.comments["num_key_value_heads"] = "as many as heads"
        elif self.count("num_key_value_heads", "num_key_value_heads") != heads:
            self.refuse("num_key_value_heads", f"{heads}, as many as heads, with latent attention")
        rope = self.found["qk_rope_head_dim"]
        whole = rope + self.found["qk_nope_head_dim"]
        named = [self.found[name] for name in family.named_head_dim]
        if family.hybrid:  # Kimi Linear states what nothing reads
            named.append(self.found["hidden_size"] // heads)
        of_head = tuple(dict.fromkeys((rope, *named, whole)))
        for key, sizes in (("head_dim", of_head), ("qk_head_dim", (whole,))):
            value = self.get(key)
            if value is None:
                continue
            if type(value) is not int or value not in sizes:
                self.refuse(key, f"{' or '.join(map(str, sizes))} from qk_rope_head_dim "
                                 "and qk_nope_head_dim")
            self.used[key] = "checked"

    def heads(self, family: Family) -> None:
        """Heads of grouped-query attention."""
        heads, width = self.found["num_attention_heads"], self.found["hidden_size"]
        if self.get("num_key_value_heads") is None and (
                family.kv_heads or "num_key_value_heads" in self.file.data):
            self.found["num_key_value_heads"] = self.derived(heads, "num_attention_heads")
            self.comments["num_key_value_heads"] = "not stated: as many as heads"
            kv_heads = heads
        else:
            kv_heads = self.count("num_key_value_heads", "num_key_value_heads")
            self.found["num_key_value_heads"] = kv_heads
        if heads % kv_heads:
            self.refuse("num_key_value_heads", f"a divisor of the {heads} attention heads")
        if self.get("head_dim") is not None:
            self.found["head_dim"] = self.count("head_dim", "head_dim")
        elif family.head_dim and "head_dim" not in self.file.data:
            code = family.code.split("/")[1].replace("modeling", "configuration")
            self.found["head_dim"] = self.derived(family.head_dim, CODE + code)
            self.comments["head_dim"] = "default of the configuration class"
        elif width % heads:
            self.refuse("num_attention_heads", f"a divisor of the hidden size {width}, "
                                               "as 'head_dim' is not stated")
        else:
            self.found["head_dim"] = self.derived(width // heads,
                                                  "hidden_size / num_attention_heads")
            self.comments["head_dim"] = f"not stated: {width} / {heads}"
        if self.found["head_dim"] is not None and "head_dim" in self.file.data:
            self.used["head_dim"] = "head_dim"

    def experts(self) -> None:
        """What experts and layers may not contradict."""
        experts = self.found.get("n_routed_experts")
        if experts is not None and self.found["num_experts_per_tok"] > experts:
            self.refuse("num_experts_per_tok", f"at most the {experts} routed experts")
        dense = self.found.get("first_k_dense_replace")
        if isinstance(dense, int) and dense > self.found["num_hidden_layers"]:
            self.refuse("first_k_dense_replace",
                        f"at most the {self.found['num_hidden_layers']} layers")
        types = self.get("mlp_layer_types")
        if types is not None:
            layers, dense = self.found["num_hidden_layers"], dense if isinstance(dense, int) else 0
            if experts is None or types != ["dense"] * dense + ["sparse"] * (layers - dense):
                self.refuse("mlp_layer_types", "dense layers first, as many as "
                                               "first_k_dense_replace, then sparse ones")
            self.used["mlp_layer_types"] = "checked"

    def window(self, family: Family) -> None:
        """How many layers attend to everything, and how far back the others look."""
        layers, kind = self.found["num_hidden_layers"], family.window
        types = self.layer_types(layers, family)
        full, why, says = layers, "", "sliding_window"
        if kind in ("switched", "upper layers"):
            on = self.switch("use_sliding_window", False, "sliding_window")
            if on and kind == "switched":
                full, why = 0, "the window holds for every layer"
            elif on and types is None:
                full = min(self.count("max_window_layers", "full_attention_layers", 0), layers)
                why, says = "the layers from there on have the window", "max_window_layers"
        elif kind == "by layer" and types is None:
            full, why = layers // 2, "default of the configuration class: every other layer"
            says = "layer_types"
        elif kind.startswith("every layer"):
            if kind == "every layer" and "sliding_window" not in self.file.data:
                self.missing("sliding_window", "a whole number or null")
            if self.get("sliding_window") is not None:
                full, why = 0, "the window holds for every layer"
        if types is not None:
            read = kind == "by layer" or (kind == "upper layers" and self.get("use_sliding_window"))
            if not read and types.count("full_attention") != full:
                self.refuse("layer_types", "what sliding_window says of every layer")
            full, why, says = types.count("full_attention"), "the full ones counted", "layer_types"
        if full == layers:
            if kind != "none" and "sliding_window" in self.file.data:
                self.used["sliding_window"] = "checked"  # it holds for no layer
            return
        self.found["sliding_window"] = self.count("sliding_window", "sliding_window")
        self.found["full_attention_layers"] = self.derived(full, f"{says} of the configuration")
        self.comments["full_attention_layers"] = why

    def layer_types(self, layers: int, family: Family) -> list[str] | None:
        """The kind of attention of each layer, where it is stated: full or sliding."""
        types = self.get("layer_types")
        if types is None:
            return None
        whole = (("indexed_attention", "deepseek_sparse_attention")
                 if "index_topk" in family.counts else ("full_attention",))
        known = whole if family.window == "none" else (*whole, "sliding_attention")
        if not isinstance(types, list) or len(types) != layers \
                or not all(isinstance(item, str) and item in known for item in types):
            self.refuse("layer_types", f"a list of {layers}, each {' or '.join(known)}")
        self.used["layer_types"] = "full_attention_layers"
        return ["full_attention" if item in whole else item for item in types]

    def refuse_what_is_not_modelled(self, model_type: str) -> None:
        """Refuse fields of other architectures, unless they say nothing."""
        for key, value in self.file.data.items():
            if key in ARCHITECTURAL and key not in self.used and value:
                self.refuse(key, f"nothing, as it is not modelled with model_type {model_type}")
