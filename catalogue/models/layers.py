"""What a configuration says of its layers one by one, as its family describes: which attention each
has, and which feed-forward network."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from catalogue.entries.models import NETWORK_KINDS, LayerField, layer_counts
from catalogue.models.fields import Fields, largest

NONE, DENSE, EXPERTS, WINDOW = "none", "dense", "experts", "window"
SPARSE, SHARED = "sparse", "shared"
LONGEST_GROUP = 16  # layers that repeat together
MODEL_LAYERS = "num_hidden_layers"
Kinds = list[str | None]


class Layer(NamedTuple):
    """One layer: its attention and the feed-forward network that follows, kinds of a model file."""

    attention: str
    mlp: str


def resolve(fields: Fields) -> list[Layer]:
    """Every layer in order.

    Raises ParamsError for fields that contradict one another or that say what is not understood.
    """
    rules = fields.family.layers
    blocks = [rule for rule in rules if rule.by == "blocks"]
    if blocks:
        return _of_blocks(fields, blocks)
    count = fields.values[MODEL_LAYERS]
    default = DENSE if not fields.family.experts else EXPERTS
    networks = _agreed(fields, [rule for rule in rules if rule.of_networks], count, default)
    attention = _agreed(fields, [rule for rule in rules if not rule.of_networks], count,
                        _usual(fields))
    if SHARED in attention and SPARSE not in attention[:attention.index(SHARED)]:
        first = next(rule.field for rule in reversed(rules)
                     if SHARED in rule.says and rule.field and fields.states(rule.field))
        fields.refuse(first, "a first layer that computes an index")
    return list(map(Layer, attention, networks))


def _usual(fields: Fields) -> str:
    """The attention of a layer of which nothing is said."""
    family = fields.family
    if "index_n_heads" in family.fields and family.attention != "csa":
        return SPARSE
    return "mla" if family.attention == "mla" else "full"


def has_window(fields: Fields) -> bool:
    """Whether layers that may have a window have one."""
    window = fields.family.window
    if window is None:
        return "sliding_window" in fields.family.fields
    on = window.switch is None or fields.switch(window.switch)
    name = window.fields[0]
    return on and not (fields.has(name) and fields.get(name) is None)


def _agreed(fields: Fields, rules: Sequence[LayerField], count: int, default: str) -> list[str]:
    """The kind of each layer, by every field that is stated, or else by what holds without."""
    stated = [rule for rule in rules if rule.field and fields.states(rule.field)]
    others = [rule for rule in rules if rule not in stated
              and (rule.field is None or fields.get(rule.field) not in (None, [], ""))]
    result: Kinds = [None] * count
    before = ""
    for rule in sorted(stated, key=lambda rule: SHARED not in rule.says):  # what says more first
        kinds = _kinds(fields, rule, count)
        for layer, (one, other) in enumerate(zip(result, kinds, strict=True)):
            if one is None:
                result[layer] = other
            elif other not in (None, one) and not (
                    one == SHARED and other == SPARSE and SHARED not in rule.says):
                fields.refuse(str(rule.field), f"the layers that '{before}' says")
        before = before or str(rule.field)
    if None in result and others:
        fallback = _kinds(fields, others[0], count)
        result = [one or other for one, other in zip(result, fallback, strict=True)]
    lacking = [rule.field for rule in rules if rule.field and {*rule.says} - {default, SHARED}]
    if None in result and lacking and not (stated or others):
        fields.missing(lacking[0], "what says which layers are which")
    return [one or default for one in result]


def _kinds(fields: Fields, rule: LayerField, count: int) -> Kinds:
    """The kind of each layer by one field; None where it says nothing."""
    window = has_window(fields)
    if rule.by == "each":
        result = _listed(fields, rule, count)
        if WINDOW in result and not window:
            fields.refuse(str(rule.field), "no layer with a window, as there is none")
    elif rule.by == "numbers":
        chosen = _numbers(fields, rule, count)
        result = [rule.kind if layer in chosen else rule.others for layer in range(count)]
    elif rule.by == "period":
        every = rule.every or fields.count(str(rule.field), "layers")
        offset = fields.count(rule.offset, "layers", 0) if rule.offset else 0
        result = [rule.kind if max(layer - offset + 1, 0) % every == 0 else rule.others
                 for layer in range(count)]
    elif rule.by == "first":
        ours = "first_k_dense_replace" if rule.of_networks else "full_attention_layers"
        first = fields.count(str(rule.field), ours, 0)
        if first > count and rule.of_networks:
            fields.refuse(str(rule.field), f"at most the {count} layers")
        result = [rule.kind if layer < first else rule.others for layer in range(count)]
    else:
        on = rule.by == "all" or fields.switch(str(rule.field))
        result = [rule.kind if on else rule.others] * count
    return [("full" if kind == WINDOW and not window else kind) for kind in result]


def _listed(fields: Fields, rule: LayerField, count: int | None) -> Kinds:
    """The kinds of a list of words or numbers, or of a text's letters."""
    key = str(rule.field)
    value = fields.get(key)
    items = list(value) if isinstance(value, (str, list)) else None
    expected = " or ".join(rule.kinds)
    further = fields.values.get("num_nextn_predict_layers", 0)
    lengths = range(1, 2_000) if count is None else (count, count + further)
    if items is None or len(items) not in lengths or not all(
            type(item) in (str, int) and str(item) in rule.kinds for item in items):
        of = "" if count is None else f" of {count}" + (
            f", or {count + further} with the prediction layers" if further else "")
        fields.refuse(key, f"a list{of}, each {expected}")
    fields.use(key, "layers")
    return [rule.kinds[str(item)] for item in items[:count]]


def _numbers(fields: Fields, rule: LayerField, count: int) -> set[int]:
    """The layers that a list, or a text with commas, names by number."""
    def read(key: str) -> list[int] | None:
        value = fields.get(key)
        parts = value.split(",") if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(
                type(part) is int or (isinstance(part, str) and part.strip().isascii()
                                      and part.strip().isdecimal()) for part in parts):
            return None
        return [int(part) - rule.start for part in parts]

    key = str(rule.field)
    chosen = read(key)
    rest = read(rule.rest) if rule.rest else []
    layers = list(range(count))
    if chosen is None or rest is None or len(set(chosen)) != len(chosen) or (
            sorted(chosen + rest) != layers if rule.rest else not set(chosen) <= set(layers)):
        beside = f"with {rule.rest} " if rule.rest else ""
        fields.refuse(key, f"{beside}each of the {count} layers once, counted from {rule.start}")
    for name in (key, *([rule.rest] if rule.rest else ())):
        fields.use(name, "layers")
    return set(chosen)


def _of_blocks(fields: Fields, rules: Sequence[LayerField]) -> list[Layer]:
    """Layers of mixers and networks that are blocks of their own."""
    stated = [rule for rule in rules if rule.field and fields.states(rule.field)]
    if not stated:
        fields.missing(str(rules[0].field), "what says which blocks are which")
    first, kinds = str(stated[0].field), _listed(fields, stated[0], None)
    for rule in stated[1:]:
        if _listed(fields, rule, None) != kinds:
            fields.refuse(str(rule.field), f"the blocks that '{first}' says")
    layers: list[Layer] = []
    for kind in map(str, kinds):
        if kind not in NETWORK_KINDS:
            layers.append(Layer(kind, NONE))
        elif not layers or layers[-1].mlp != NONE:
            fields.refuse(first, "at most one network after each mixer")
        else:
            layers[-1] = Layer(layers[-1].attention, kind)
    if len(layers) > largest(MODEL_LAYERS):
        fields.refuse(first, f"at most {largest(MODEL_LAYERS):,} mixers")
    if fields.states(MODEL_LAYERS) and fields.count(MODEL_LAYERS, MODEL_LAYERS) != len(kinds):
        fields.refuse(MODEL_LAYERS, f"the {len(kinds)} blocks of '{first}'")
    fields.values[MODEL_LAYERS] = fields.derived(len(layers), f"{first} of the configuration")
    fields.comments[MODEL_LAYERS] = f"mixers; {len(kinds)} blocks in the configuration"
    return layers


def written(fields: Fields, layers: Sequence[Layer]) -> None:
    """Put into the model file what the layers are: their runs, or a count where that says all."""
    attention, networks = ({getattr(layer, part) for layer in layers} for part in Layer._fields)
    dense = [layer.mlp for layer in layers].count(DENSE)
    csa = fields.family.attention == "csa"
    leading = all(layer.mlp == DENSE for layer in layers[:dense]) and NONE not in networks
    alike = attention <= {_usual(fields)} or attention == {WINDOW}
    of_layers = layer_counts(list(map(Layer._asdict, layers)), fields.family.attention,
                             EXPERTS in networks)
    counts = of_layers[0] if of_layers else {}
    if csa or not alike or not leading:
        fields.values["layers"] = runs(layers)
        return
    for name in ("first_k_dense_replace", "full_attention_layers"):
        if name in counts:
            fields.values[name] = counts[name] if name in fields.used else fields.derived(
                counts[name], "layers of the configuration")
    if counts.get("first_k_dense_replace") == 0 and (
            "first_k_dense_replace" not in fields.used):
        fields.comments["first_k_dense_replace"] = "every layer routes to experts"
    if "full_attention_layers" in counts:
        fields.comments["full_attention_layers"] = "the window holds for every layer"


def runs(layers: Sequence[Layer]) -> list[dict[str, Any]]:
    """Layers as runs of equal ones, and as groups of runs that repeat."""
    result: list[dict[str, Any]] = []
    at = 0
    while at < len(layers):
        length, times = 1, 1
        for size in range(1, min(LONGEST_GROUP, len(layers) - at) + 1):
            part, often = layers[at:at + size], 1
            while layers[at + often * size:at + (often + 1) * size] == part:
                often += 1
            if (size == 1 or often > 1) and size * often > length * times:
                length, times = size, often
        group = [_run(layer, len(list(equal)))
                 for layer, equal in groupby(layers[at:at + length])]
        if length == 1:
            result.append(_run(layers[at], times))
        else:
            result.append({"times": times, "group": group})
        at += length * times
    return result


def _run(layer: Layer, times: int) -> dict[str, Any]:
    return layer._asdict() | ({"times": times} if times > 1 else {})
