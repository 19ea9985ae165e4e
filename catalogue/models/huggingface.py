"""Import the ``config.json`` of a Hugging Face model as a model file of this project.

What is used, what changes nothing, what is unknown, and what the modelling code implies is kept
apart; a value that the program does not model is refused, never guessed. Of a model that also sees
or hears the language model's own part is read; the published format is recognised.
"""

from __future__ import annotations

import json
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from catalogue import library
from catalogue.entries.models import (
    CSA,
    GROUPS,
    LINEAR,
    RECURRENT,
    WINDOW_HEADS,
    Family,
    Model,
)
from catalogue.models.fields import (
    NEAR,
    RULES,
    Fields,
    configurations,
    family_names,
    load_family,
    nearest,
)
from catalogue.models.layers import EXPERTS, WINDOW, Layer, resolve, written
from catalogue.reading import jsonfile
from catalogue.reading.files import ParamsError, is_file
from catalogue.reading.jsonfile import JsonFile, json_excerpt
from catalogue.reading.values import sources
from catalogue.reading.yamlfile import YamlFile

QUANTIZED = ("quantization_config", "quantize")
BESIDE = "hf_quant_config.json"
DTYPES = ("dtype", "torch_dtype")
SHOWN = ("quant_method", "quant_algo", "format", "bits", "weight_block_size")  # of what fits none


class Published(NamedTuple):
    """The published format.

    Attributes:
        precision: of ``params/precisions/``; empty, none fits.
        stated: in the configuration's own words; empty, it says nothing.
        quantized: whether it says more than the type of tensors.
    """

    precision: str
    stated: str
    quantized: bool


def published_format(data: Mapping[str, Any], path: Path) -> Published:
    """The precision whose description fits a configuration first.

    Args:
        data: fields of the configuration.
        path: its file; ModelOpt may say in one beside it how weights were quantized.

    Raises ParamsError for a file beside it that cannot be read.
    """
    beside = path.with_name(BESIDE)
    if not any(data.get(key) for key in QUANTIZED) and beside.is_file():
        data = {**data, QUANTIZED[0]: jsonfile.read(beside).data.get("quantization")}
    stated, quantized = format_words(data), any(data.get(key) for key in QUANTIZED)
    if not quantized:
        return Published("", stated, False)
    for entry in configurations().formats:
        if all(_fits(data, key, value) for key, value in entry.of.items()):
            return Published(entry.precision, stated, True)
    return Published("", stated, True)


def format_words(data: Mapping[str, Any]) -> str:
    """What a configuration says of its format, for a message."""
    config = data.get("quantization_config")
    if isinstance(config, dict) and config:
        return ", ".join(f"{key} {json.dumps(config[key])[:40]}" for key in SHOWN if key in config)
    return next((f"{key} {json.dumps(data[key])[:40]}" for key in (*QUANTIZED, *DTYPES)
                 if data.get(key)), "")


def _fits(data: Mapping[str, Any], path: str, expected: Any) -> bool:
    """Whether every value at a path, under any of its names, is as expected."""
    values = [value for name in path.split("|") for value in _at(data, name.split("."))]
    if expected == "any":
        return any(value is not None for value in values)
    return all(type(value) is type(expected) and value == expected for value in values) \
        and bool(values)


def _at(data: Any, path: list[str]) -> Iterator[Any]:
    """The values at a path; None for one that is absent."""
    if not path:
        yield data
    elif path[0] == "*":
        for part in data.values() if isinstance(data, dict) else ():
            yield from _at(part, path[1:])
    else:
        yield from _at(data.get(path[0]) if isinstance(data, dict) else None, path[1:])


PART = "text_config"
OTHER_PARTS = ("vision_config", "audio_config")
# may stand outside alone
_HANDED_DOWN = ("model_type", "tie_word_embeddings", "_name_or_path", "quantization_config")


@dataclass(frozen=True)
class Unwrapped:
    """The configuration of a language model, and what stood around it.

    Attributes:
        file: its fields, with the lines that they have in the whole file.
        beside: known fields around it, which say nothing of it; other parts among them.
        unknown: fields around it of which nothing is known.
    """

    file: JsonFile
    beside: list[str]
    unknown: list[str]


def unwrap(file: JsonFile) -> Unwrapped:
    """The language model's part where there is one, else the configuration itself.

    Raises ParamsError, one sentence with file and line, for a part that is no object and for
    shapes beside it that it does not have: two models, or one that is not understood.
    """
    part = file.data.get(PART)
    if not part:
        return Unwrapped(file, [], [])
    if not isinstance(part, dict):
        raise ParamsError(f"{file.where(PART)}: '{PART}' is {json_excerpt(part)}, expected the "
                          "configuration of a language model as an object.")
    rest = [key for key in file.data if key != PART]
    down = {key: file.data[key] for key in _HANDED_DOWN
            if file.data.get(key) is not None and not part.get(key)}
    for key in rest:  # a shape outside may only repeat what the part says
        value = file.data[key]
        if key == "tie_word_embeddings" and key in part and value not in (None, part[key]):
            raise ParamsError(f"{file.where(key)}: '{key}' is {json_excerpt(value)}, expected "
                              f"{json_excerpt(part[key])} as in '{PART}'.")
        if (key in configurations().architectural and key not in OTHER_PARTS and value
                and part.get(key) != value):
            raise ParamsError(f"{file.where(PART)}: '{PART}' is an object, expected it to be all "
                              f"that has shapes, but {json_excerpt(key)} stands beside it.")
    rest = [key for key in rest if key not in down]
    lines = file.within[PART] | {key: file.lines[key] for key in down}
    common = configurations()
    of_others = {*common.around, *common.irrelevant, *common.architectural, *_HANDED_DOWN}
    return Unwrapped(replace(file, data=part | down, lines=lines),
                     beside=[key for key in rest if key in of_others],
                     unknown=[key for key in rest if key not in of_others])


MAX_NAME = 80
_PUBLISHED = re.compile(  # OWNER/MODEL or its address
    r"(?:(?:https?:/+)?huggingface\.co/)?([\w-][\w.-]*/[\w.-]+?(?<!\.json))(?:/(?:blob|resolve|tree)/.*)?")
CODE = "modelling code, "
POSITIONS = {"max_position_embeddings": ["max_position_embeddings", "model_max_length"]}
"""Of every family; Kimi Linear has the latter."""
# what every family must say, where it says it and its layers are not read from it
_ALWAYS: dict[str, tuple[Any, ...]] = {
    "moe_layer_freq": (1, None), "decoder_sparse_step": (1, None), "mlp_only_layers": ([], None)}
_OF_EXPERTS = ("n_shared_experts", "router_bias", "router_scoring", "expert_bias", "n_group",
               "topk_group")  # found whether there are experts or not


@dataclass
class Imported:
    """A configuration turned into a model.

    Attributes:
        model_type: of the configuration.
        family: what its fields mean.
        data: what the model file holds, in the order of its keys.
        comments: field of ours -> why it has its value, where the configuration does not say.
        used: field of the configuration -> our field, or what it was checked for.
        ignored: fields that change neither a shape nor a count.
        unknown: fields of which nothing is known.
        published: the format of the weights.
        beside: fields that stand beside the part of the language model, such as one that sees.
        model: the validated model.
    """

    model_type: str
    family: Family
    data: dict[str, Any]
    comments: dict[str, str]
    used: dict[str, str]
    ignored: list[str]
    unknown: list[str]
    published: Published
    beside: list[str]
    model: Model

    @property
    def text(self) -> str:
        """The model file."""
        lines = ["# Imported from the configuration that `defaults` names; what a comment explains "
                 "is not stated there.",
                 f"# Shapes as in the {CODE}src/transformers/models/{self.family.code}."]
        for key, value in self.data.items():
            if key == "layers":
                lines += ["layers:", *(f"  - {_flow(run)}" for run in value)]
            else:
                lines.append(f"{key}: {_flow(value)}" + (
                    f"  # {self.comments[key]}" if key in self.comments else ""))
        return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    """One value in YAML's flow style, on one line."""
    return yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True,
                          width=math.inf).removesuffix("...\n").rstrip("\n")


def import_config(path: Path, name: str | None = None, source: str | None = None,
                  family: str | None = None) -> Imported:
    """Read a configuration and say what it means.

    Args:
        path: a ``config.json``.
        name: the model's name; by default what the configuration, its folder or its file says.
        source: where it was read, a key of ``params/sources/`` or words; by default its name, the
            day of the file, and for counts that are not stated what they were counted from.
        family: a file that describes its family; by default that of its ``model_type``.

    Raises ParamsError, one sentence with the file and, where there is one, the line.
    """
    if (repository := _PUBLISHED.fullmatch(str(path))) and not is_file(path):
        raise ParamsError(f"{path}: there is no such file; download config.json of "
                          f"huggingface.co/{repository[1]}, this program fetches nothing.")
    raw = jsonfile.read(path)
    unwrapped = unwrap(raw)
    file = unwrapped.file
    means = family_of(file) if family is None else load_family(family)
    reader = _Reader(file, means)
    model_type = str(file.data.get("model_type", means.id))
    reader.read()
    reader.refuse_unread(model_type)
    title = _name(path, file) if name is None else _printable("--name", name)
    if name is None and file.data.get("_name_or_path"):
        reader.used["_name_or_path"] = "name"
    head: dict[str, Any] = {
        "name": {"en": title, "zh": title},
        "defaults": {"source": f"config.json of {title}", "kind": "vendor", "date": file.date}}
    fields = {"attention": means.attention} | reader.values
    match raw.data.get("architectures"):
        case [str() as known_as, *_]:  # the class by which engines know the model
            fields = {"model_class": known_as} | fields
    if source is not None:
        head["defaults"] = stated_source(source)
        fields = {key: {name: item for name, item in value.items() if name != "source"}
                  if isinstance(value, dict) else value for key, value in fields.items()}
    published = published_format(raw.data | file.data, path)
    if published.precision:
        fields["weights"] = {"precision": published.precision} | head["defaults"]
        reader.used |= {key: "weights" for key in ("quantization_config", "quantize")
                        if key in file.data}
    data = head | {key: fields[key] for key in Model.model_fields if key in fields}
    rest = [key for key in file.data if key not in reader.used]
    common = configurations()
    ignored = common.irrelevant | common.architectural | means.recognised | {
        *means.ignored, *means.beside}
    return Imported(
        model_type, means, data, reader.comments, reader.used,
        ignored=[key for key in rest if key in ignored],
        unknown=[key for key in rest if key not in ignored] + unwrapped.unknown,
        published=published,
        beside=unwrapped.beside,
        model=library.parsed(Model, YamlFile(path, data | {"id": "imported"}, {
            (ours,): file.lines[key] for key, ours in reader.used.items() if key in file.lines})))


def family_of(file: JsonFile) -> Family:
    """The family of a configuration's ``model_type``.

    Raises ParamsError with the nearest ones, and with what a further one takes.
    """
    model_type, names = file.data.get("model_type"), family_names()
    if isinstance(model_type, str) and model_type in names:
        return load_family(names[model_type])
    takes = "one whose layers are of known kinds takes a file given with --family FILE, and no code"
    if "model_type" not in file.data:
        raise ParamsError(f"{file.name}: 'model_type' is missing, expected one of {len(names)}, "
                          f"such as {', '.join(sorted(names)[:NEAR])}; {takes}.")
    near = f", {nearest(model_type)}" if isinstance(model_type, str) else ""
    raise ParamsError(f"{file.where('model_type')}: 'model_type' is {json_excerpt(model_type)}, "
                      f"expected one of {len(names)}{near}; {takes}.")


def _printable(option: str, text: str) -> str:
    """A text of the command line. Raises ParamsError for one that a file should not hold."""
    if not text.strip() or not text.isprintable() or len(text) > MAX_NAME:
        raise ParamsError(f"{option}: {json_excerpt(text)} is refused, expected up to {MAX_NAME} "
                          "printable characters.")
    return text.strip()


def stated_source(source: str) -> dict[str, str]:
    """The source that a reader names, with its date where it is listed."""
    if " " not in _printable("--source", source) and source not in sources():
        raise ParamsError(f"--source: {json_excerpt(source)} is not the key of a source, expected "
                          "one, or words that say where to look.")
    date = sources().get(source, {}).get("date")
    return {"source": source, "kind": "vendor"} | ({"date": str(date)} if date else {})


def _name(path: Path, file: JsonFile) -> str:
    """The model's name in printable characters: of the configuration, its folder or its file."""
    stated = file.data.get("_name_or_path")
    folder = path.absolute().parent.name if path.stem == "config" else ""
    for candidate in (stated if isinstance(stated, str) else "", folder, path.stem, "config"):
        last = re.split(r"[/\\]|--", candidate.rstrip("/\\"))[-1]
        last = "".join(filter(str.isprintable, last)).strip()[:MAX_NAME].strip()
        if last.strip("."):
            break
    return last


def _divides(part: int, number: int) -> bool:
    return number % part == 0


AGREEMENTS: tuple[tuple[str, str, str | None, Callable[[int, int], bool], str], ...] = (
    ("num_experts_per_tok", "n_routed_experts", None, operator.le,
     "at most the {} routed experts"),
    ("num_key_value_heads", "num_attention_heads", "mla", operator.eq,
     "{}, as many as heads, with latent attention"),
    ("num_key_value_heads", "num_attention_heads", CSA, lambda rows, _: rows == 1,
     "1, a row for all heads"),
    ("num_key_value_heads", "num_attention_heads", None, _divides,
     "a divisor of the {} attention heads"),
    ("qk_rope_head_dim", "head_dim", CSA, operator.le, "at most the {} of head_dim"),
    ("o_groups", "num_attention_heads", CSA, _divides, "a divisor of the {} attention heads"),
    ("num_hash_layers", "num_hidden_layers", CSA, operator.le, "at most the {} layers"),
    ("linear_num_key_heads", "linear_num_value_heads", None, _divides,
     "a divisor of the {} value heads"))
"""A count, another, the attention of models that it is about, how they agree, what is expected."""


class _Reader(Fields):
    """Takes one configuration apart, field by field."""

    def read(self) -> None:
        """Everything that the family states, implies and excludes.

        Raises ParamsError for what contradicts it or is not understood.
        """
        family = self.family
        self.named()
        layered = {rule.field for rule in family.layers}
        for key, accepted in _ALWAYS.items():
            if key not in layered and key not in family.accepted:
                self.exactly(key, accepted)
        for key, values in family.accepted.items():
            self.exactly(key, values)
        stated = [name for name in family.prediction if self.states(name)]
        for name in stated:
            value = self.count(name, "num_nextn_predict_layers")
            self.values.setdefault("num_nextn_predict_layers", value)
        for ours, names in family.fields.items():
            self.values[ours] = self.stated(ours, names)
        layers = resolve(self)
        routed = any(layer.mlp == EXPERTS for layer in layers)
        self.experts(routed)
        for ours, names in (POSITIONS | family.optional).items():
            if any(self.get(name) is not None for name in names):
                self.values[ours] = self.stated(ours, names)
        for key, switched in family.switches.items():
            for ours in switched:
                self.values[ours] = self.switch(key, ours)
        self.implied(routed)
        self.values["tie_word_embeddings"] = self.switch("tie_word_embeddings")
        if self.get("tie_word_embeddings") is None:
            self.comments["tie_word_embeddings"] = "default of the configuration class"
        self.heads()
        self.window(layers)
        for rule in family.rules:
            RULES[rule](self)
        if routed:
            self.shared_width()
        self.lacking()
        if not any(layer.attention in RECURRENT for layer in layers):
            for ours in (*LINEAR, "linear_mamba"):
                self.values.pop(ours, None)
        self.agree()
        written(self, layers)

    def named(self) -> None:
        """Refuse a configuration whose architecture is another, and parts that see or hear."""
        for key in ("vision_config", "audio_config", "thinker_config"):
            if self.get(key) and key not in self.family.beside:
                self.refuse(key, "the configuration of a language model alone, or one with it as "
                                 "'text_config'")
        if "model_type" in self.file.data:
            self.used["model_type"] = "family"
        stated, accepted = self.get("architectures"), self.family.architectures
        if stated is None:
            return
        if accepted and stated not in [[name] for name in accepted]:
            self.refuse("architectures", " or ".join(f"[\"{name}\"]" for name in accepted)
                        + f" with model_type {self.get('model_type')}")
        self.used["architectures"] = "family"

    def experts(self, routed: bool) -> None:
        """Fields of routed experts, and the groups that a router picks them from."""
        family = self.family
        if not routed:
            unread = [name for names in family.experts.values() for name in names]
            self.used |= {name: "checked" for name in (*unread, *family.groups)
                          if name in self.file.data}
            return
        for ours, names in family.experts.items():
            optional = ours == "routed_expert_hidden_size" or (
                ours == "n_shared_experts" and self.family.shared_width)
            if not optional or any(self.get(name) is not None for name in names):
                self.values[ours] = self.stated(ours, names)
            else:
                self.used |= {name: ours for name in names if name in self.file.data}
        if not any(self.get(name) is not None for name in family.groups):
            return
        greedy = self.get("topk_method") == "greedy"  # knows no groups, whatever is stated
        for ours, name in zip(GROUPS, family.groups, strict=True):
            value = self.count(name, ours)
            self.values[ours] = 1 if greedy else value
            if greedy and value != 1:
                self.comments[ours] = "topk_method greedy chooses among all experts"

    def implied(self, routed: bool) -> None:
        """What the modelling code has and no field states."""
        for ours, item in self.family.implied.items():
            if not routed and ours in _OF_EXPERTS:
                continue
            self.values[ours] = item.value if type(item.value) is not int else self.derived(
                item.value, CODE + self.family.code.rsplit("/", 1)[-1])
            if item.why:
                self.comments[ours] = item.why
        if not routed:
            for ours in _OF_EXPERTS:
                self.values.pop(ours, None)

    def heads(self) -> None:
        """Heads of keys and values, and their width: as many as heads where nothing is stated."""
        heads, width = self.values["num_attention_heads"], self.values["hidden_size"]
        latent, name = self.family.attention == "mla", "num_key_value_heads"
        if name not in self.values:
            if self.get(name) is None and (latent or name in self.file.data):
                self.values[name] = heads if latent else self.derived(heads, "num_attention_heads")
                self.comments[name] = ("" if latent else "not stated: ") + "as many as heads"
            else:
                self.values[name] = self.count(name, name)
        if latent or "head_dim" in self.values:
            return
        if self.get("head_dim") is not None:
            self.values["head_dim"] = self.count("head_dim", "head_dim")
        elif width % heads:
            self.refuse("num_attention_heads", f"a divisor of the hidden size {width}, "
                                               "as 'head_dim' is not stated")
        else:
            self.values["head_dim"] = self.derived(width // heads,
                                                  "hidden_size / num_attention_heads")
            self.comments["head_dim"] = f"not stated: {width} / {heads}"
            self.use("head_dim", "head_dim")

    def agree(self) -> None:
        """Refuse counts that contradict one another, or what formulas take for granted."""
        values = {name: value["value"] if isinstance(value, dict) else value
                  for name, value in self.values.items() if name != "missing"}
        for ours, other, attention, fits, expected in AGREEMENTS:
            if {ours, other} <= values.keys() and attention in (None, self.family.attention) \
                    and not fits(values[ours], values[other]):
                key = next((key for key, name in self.used.items() if name == ours), ours)
                self.refuse(key, expected.format(values[other]))

    def window(self, layers: list[Layer]) -> None:
        """How far back the layers with a window look."""
        window = self.family.window
        if window is None:
            return
        if any(layer.attention == WINDOW for layer in layers):
            self.values["sliding_window"] = self.stated("sliding_window", window.fields)
            if window.comment:
                self.comments["sliding_window"] = window.comment
        else:
            self.used |= {name: "checked" for name in window.fields if name in self.file.data}
            for ours in WINDOW_HEADS:
                self.values.pop(ours, None)

    def shared_width(self) -> None:
        """Shared experts as a multiple of a routed one, by the width of all together."""
        key = self.family.shared_width
        if key is None or (self.get(key) is None and "n_shared_experts" in self.values):
            return
        routed = self.values["moe_intermediate_size"]
        width = self.count(key, "intermediate_size", 0)
        stated = self.values.get("n_shared_experts")
        if width % routed or (stated not in (None, 1, width // routed)):
            self.refuse(key, f"a multiple of the {routed} of a routed expert")
        if stated != width // routed:
            self.values["n_shared_experts"] = self.derived(width // routed,
                                                          f"{key} / moe_intermediate_size")
            self.comments["n_shared_experts"] = f"{width} / {routed}"

    def lacking(self) -> None:
        """What no formula has, which every answer for the model carries."""
        sentences = [self.values["missing"]] if "missing" in self.values else []
        for item in self.family.missing:
            value = self.get(item.field) if item.field else None
            if item.field and (value != item.value if item.value is not None
                               else not value or not isinstance(value, (int, str))):
                continue
            if item.field and type(value) is int:
                value = self.count(item.field, "num_hidden_layers")
            if item.field and item.field in self.file.data:
                self.used.setdefault(item.field, "missing")
            sentences.append({language: text.replace("{value}", str(value))
                         for language, text in item.text.items()})
        if sentences:
            self.values["missing"] = {"en": " ".join(item["en"] for item in sentences),
                                     "zh": "".join(item["zh"] for item in sentences)}

    def refuse_unread(self, model_type: str) -> None:
        """Refuse fields that change counts and were not read, unless they say nothing."""
        inside = {key for part, ignored in self.family.parts.items() for key in self.file.data
                  if key.startswith(f"{part}.") and key not in ignored}
        common = configurations()
        shape = (common.architectural | self.family.recognised) - {
            *self.family.ignored, *self.family.beside, *common.irrelevant}
        unread = [key for key, value in self.file.data.items() if key not in self.used
                  and (key in inside or (key in shape and value))]
        if unread:
            others = ", ".join(repr(key) for key in unread[1:])
            self.refuse(unread[0], f"nothing, as it is not modelled with model_type {model_type}"
                        + (f"; nor is {others}" if others else ""))
