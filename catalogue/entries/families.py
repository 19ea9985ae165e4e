"""What a file of a model family may hold: how one ``model_type`` of Hugging Face configurations
names what a model file holds, and which of its fields say what each layer is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from catalogue.entries.entry import Entry, FileEntry, Problem
from catalogue.entries.models import CSA, LINEAR, NETWORK_KINDS, OF_MODEL, RECURRENT, Model
from catalogue.reading.values import Date, SourceKey, Text, Words

LayerKind = Literal["full", "window", "mla", "sparse", "shared", "compressed", "heavy", "linear",
                    "mamba", "dense", "experts", "none"]
_NEEDED = {  # fields that every model has, those of each attention, of experts and of rules
    "": ("hidden_size", "vocab_size", "num_attention_heads", "intermediate_size"),
    "mla": ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"),
    CSA: ("num_key_value_heads", "head_dim", "qk_rope_head_dim", "o_groups", "num_hash_layers",
          "sliding_window"),
    "experts": ("n_routed_experts", "num_experts_per_tok", "moe_intermediate_size"),
    "kimi_gates": ("linear_key_head_dim",), "pooled_keys": ("index_topk",), "linear": LINEAR[1:]}
Rule = Literal["kimi_gates", "pooled_keys", "picked_blocks"]


FieldName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.]{1,80}$")]
Word = Annotated[str, Field(max_length=40)]  # one of a list in a configuration


def _listed(raw: Any) -> Any:
    return raw if isinstance(raw, list) else [raw]


def _plain(raw: Any) -> Any:
    """A value as JSON may hold it: a text, a number, a truth value, null or a list of such."""
    if not all(part is None or isinstance(part, (str, int, float)) for part in _listed(raw)):
        raise ValueError("expected a text, a number, true, false, null or a list of them")
    return raw


def _model_field(name: str) -> str:
    if name not in Model.model_fields:
        raise ValueError(f"'{name[:60]}' is no field of a model file, expected one of those "
                         "that params/templates/model.yml shows")
    return name


ModelField = Annotated[FieldName, AfterValidator(_model_field)]
ModelFields = Annotated[list[ModelField], BeforeValidator(_listed), Field(min_length=1)]
Names = Annotated[list[FieldName], BeforeValidator(_listed), Field(min_length=1), WithJsonSchema(
    {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]})]
Plain = Annotated[Any, AfterValidator(_plain)]


class Implied(Entry):
    """What the modelling code has and no field of the configuration states.

    Attributes:
        value: of the model's field.
        why: stands as a comment in the model file.
    """

    value: int | bool | str
    why: Words = ""


class LayerField(Entry):
    """How one field of the configuration says what layers are.

    Without ``field`` it applies where no other says anything. Several that are stated must agree.

    Attributes:
        by: each, a word, a number or a letter per layer; blocks, the same, where mixers and
            networks are blocks of their own; numbers, a list of the layers; period, every so many
            layers; first, so many layers; switch, all layers where it is true; all, every layer.
        field: of the configuration.
        kinds: of each and blocks, what a word or letter means; null, nothing.
        kind: of the others, what a layer is that is meant.
        others: what the other layers are; absent, nothing is said of them.
        rest: a field that lists the other layers, if one does.
        offset: a field that says at which layer a period begins.
        start: the number of the first layer in a list.
        every: so many layers, of a period that no field states.
    """

    by: Literal["each", "blocks", "numbers", "period", "first", "switch", "all"]
    field: FieldName | None = None
    kinds: dict[Word, LayerKind | None] = {}
    kind: LayerKind | None = None
    others: LayerKind | None = None
    rest: FieldName | None = None
    offset: FieldName | None = None
    start: Annotated[int, Field(ge=0, le=1)] = 0
    every: Annotated[int, Field(ge=1, le=1000)] | None = None

    def violations(self) -> Iterator[Problem]:
        """What layers are is said in one way, of one kind."""
        listed = self.by in ("each", "blocks")
        if listed != bool(self.kinds) or listed == (self.kind is not None):
            yield f"'by' is {self.by}, expected {'kinds' if listed else 'kind'} alone beside it"
        if self.field is None and self.by != "all" and self.every is None:
            yield f"'field' is missing, a layer by {self.by} needs one"
        if len({kind in NETWORK_KINDS for kind in self.says}) > 1 and self.by != "blocks":
            yield "'kinds' mixes attention and networks, expected one of them or by: blocks"

    @property
    def says(self) -> list[str]:
        """Kinds of layers that it can name."""
        return [kind for kind in (*self.kinds.values(), self.kind, self.others) if kind]

    @property
    def of_networks(self) -> bool:
        """Whether it is about feed-forward networks; else about attention."""
        return all(kind in NETWORK_KINDS for kind in self.says) and bool(self.says)


class WindowOf(Entry):
    """Which fields say how far back layers with a window look.

    Attributes:
        fields: of the size; several that are stated must agree.
        switch: a field without which there is no window.
        comment: stands beside the size in the model file.
    """

    fields: Names
    switch: FieldName | None = None
    comment: Words = ""


class Lacking(Entry):
    """What no formula has of models of the family.

    Attributes:
        field: with which it is so, where it is stated; absent, always.
        value: of that field; absent, any but zero.
        text: both languages; ``{value}`` stands for the value of the field.
    """

    field: FieldName | None = None
    value: Plain = None
    text: Text


class Family(FileEntry):
    """How one ``model_type`` names what a model file holds.

    Attributes:
        like: another family, of which this one has what it does not say itself.
        also: further values of ``model_type`` that are the same.
        source, date: of the modelling code.
        code: its file.
        architectures: classes of ``architectures`` that are understood; none, any.
        attention: of the model file.
        fields: the model's field -> its names in the configuration, one of which must be stated;
            several that are stated must agree.
        experts: the same, of fields that only models with routed experts have.
        optional: the same, of fields that may be absent or null.
        shared_width: a field of the width of all shared experts together, a multiple of that of a
            routed one.
        may_be_zero, null_is_zero: of the model's fields.
        switches: field of the configuration -> the model's fields that it turns on.
        default_values: what the configuration class takes where a field is absent.
        same_as: field of the configuration -> that whose value it has where it is absent or null.
        implied: what the modelling code has and no field states.
        accepted: field of the configuration -> the values that are modelled; null among them: it
            may also be absent or null.
        groups: fields of the groups that a router picks experts from.
        prediction: fields that say how many layers predict further tokens; the first one stated.
        parts: objects in the configuration whose fields are read as OBJECT.FIELD; of each the
            fields that change no count.
        beside: parts of the configuration that are no part of the language model.
        ignored: fields that change no count.
        layers: what says what each layer is.
        window: what says how far back a window looks.
        rules: what takes code, by its name.
        missing: what no formula has.
    """

    like: FieldName | None = None
    also: list[FieldName] = []
    source: SourceKey
    date: Date | None = None
    code: Annotated[str, Field(pattern=r"^[\w./-]{1,120}$")]
    architectures: list[FieldName] = []
    attention: Literal["mla", "gqa", "csa"]
    fields: dict[ModelField, Names] = {}
    experts: dict[ModelField, Names] = {}
    optional: dict[ModelField, Names] = {}
    shared_width: FieldName | None = None
    may_be_zero: list[FieldName] = []
    null_is_zero: list[FieldName] = []
    switches: dict[FieldName, ModelFields] = {}
    default_values: dict[FieldName, Plain] = {}
    same_as: dict[FieldName, FieldName] = {}
    implied: dict[ModelField, Implied] = {}
    accepted: dict[FieldName, list[Plain]] = {}
    groups: list[FieldName] = []
    prediction: list[FieldName] = []
    parts: dict[FieldName, list[FieldName]] = {}
    beside: list[FieldName] = []
    ignored: list[FieldName] = []
    layers: list[LayerField] = []
    window: WindowOf | None = None
    rules: list[Rule] = []
    missing: list[Lacking] = []

    def violations(self) -> Iterator[Problem]:
        """Fields without which no model file can be written, and kinds of layers of the model."""
        for name, switched in self.switches.items():
            if lost := [ours for ours in switched
                        if Model.model_fields[ours].annotation is not bool]:
                yield f"'{lost[0]}' is no switch of a model file", "switches", name
        for name in self.implied:
            if name in self.fields:
                yield f"'{name}' is given under 'fields' too", "implied", name
        for name, other in self.same_as.items():
            if other in self.same_as:
                yield f"'{other}' is in turn that of another field", "same_as", name
        if len(self.groups) not in (0, 2):
            yield "'groups' names the groups and how many are picked, expected both"
        says = {kind for rule in self.layers for kind in rule.says}
        wanted = ["", self.attention, *self.rules, *(["linear"] if says & {*RECURRENT} else [])]
        needed = [name for key in wanted for name in _NEEDED.get(key, ())]
        if not any(rule.by == "blocks" for rule in self.layers):
            needed.append("num_hidden_layers")
        for group, names in (("fields", needed),
                             ("experts", _NEEDED["experts"] if self.experts else ())):
            if lacking := [name for name in names if name not in getattr(self, group)]:
                yield f"'{group}' lacks {lacking[0]}, which every model of the family has"
        for kind in says - {*NETWORK_KINDS}:
            if self.attention not in OF_MODEL[kind]:
                yield f"'layers' has {kind} attention, in a model with {self.attention}"
        if "experts" in says and not self.experts:
            yield "'experts' is missing, 'layers' names layers with experts"
        if "window" in says and self.window is None and self.attention != CSA:
            yield "'window' is missing, 'layers' names layers with one"

    @property
    def recognised(self) -> frozenset[str]:
        """Fields of the configuration that the family reads or knows."""
        fields = [self.shared_width, *self.switches, *self.default_values, *self.accepted,
                  *self.groups, *self.prediction]
        for names in (self.fields, self.experts, self.optional):
            fields += [name for group in names.values() for name in group]
        for rule in self.layers:
            fields += [rule.field, rule.rest, rule.offset]
        if self.window:
            fields += [*self.window.fields, self.window.switch]
        return frozenset(name for name in fields if name)
