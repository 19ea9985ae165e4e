"""Mechanisms as rows of tables: the priors of a class of devices, and those of a deployment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import sympy
from pydantic import BaseModel

import catalogue
from catalogue.deployments.physics_inputs import USUAL
from catalogue.deployments.scenario import Scenario
from catalogue.entries.hardware import Device, Mechanisms, ShareByDtype
from catalogue.messages import Pair, messages
from catalogue.reading.values import Value
from notebooks.derive.formulas.symbols import symbol
from notebooks.show.display import table
from notebooks.show.numbers import fmt_fixed

common = messages("common")
say = messages("pages/catalogue/tables/mechanisms")

# what has no letter of its own in params/symbols.yml
LABELS: dict[str, Pair] = {
    "gemm_efficiency": say("peak-share-of-matmuls"),
    "grouped_gemm_efficiency": say("peak-share-of-grouped-matmuls"),
    "sliced_gemm_efficiency": say("peak-share-of-sliced-matmuls"),
    "matmul_latency": common("time-of-matmul-whatever-its"),
    "depth_latency": say("matmul-time-per-inner-element"),
    "activation_traffic": common("bytes-moved-by-quantising-element"),
    "narrow_streaming_efficiency": say("streaming-of-narrow-experts"),
    "sliced_narrow_streaming_efficiency": say("streaming-of-narrow-slices"),
    "narrow_expert_latency": say("time-of-narrow-experts"),
    "host_system_memory": say("memory-of-host-system"),
    "host_process_memory": say("memory-of-host-processes"),
    "operators": say("counted-operators"),
    "all_to_all": say("all-to-all-of-experts"),
    "host_vector_efficiency": say("peak-share-of-host-vectors"),
}
PARTS: dict[str, Pair] = {
    "low_latency": say("low-latency"), "normal": common("normal"),
    "node": say("inside-node"), "network": say("between-nodes"),
    "latent_attention": ("MLA", "MLA"), "grouped_attention": ("GQA", "GQA"),
    "compressed_attention": ("CSA", "CSA"),
    "indexer": say("indexer"), "dense_mlp": common("dense-mlp"),
    "routed_experts": common("routed-experts"), "shared_expert": common("shared-expert"),
    "alpha": common("latency"), "efficiency": say("share-of-link"),
    "buffer_tokens": say("tokens-of-buffers"),
    "expert_time": say("time-per-expert"), "token_time": say("time-per-token"),
    "wide": say("cache-of-16-bits"), "narrow": say("cache-of-fewer-bits"),
    **{dtype: (dtype.upper(),) * 2 for dtype in ShareByDtype.model_fields},
}

# models whose layers are made of different parts, and the families of cards
MADE_OF = ("llama-3.1-70b", "qwen3-235b-a22b", "deepseek-v3", "deepseek-v3.2", "deepseek-v4-flash")
FAMILIES = ("nvidia-hopper", "ascend-910b")


def operators_by_model(kernels: sympy.Expr) -> None:
    """Operators of a layer, on average over the layers, by model and family of cards."""
    families = [catalogue.load("mechanisms", name) for name in FAMILIES]
    rows = []
    for name in MADE_OF:
        model = catalogue.load_model(name)
        numbers = catalogue.model_inputs(model)
        numbers["moe_layers"] = numbers["num_hidden_layers"] - numbers["first_k_dense_replace"]
        counts = [float(kernels.subs({symbol(key): value for key, value in (
            numbers | _counted(priors, model.attention)).items()}))
            / numbers["num_hidden_layers"] for priors in families]
        rows.append({"model": (model.name["en"], model.name["zh"]),
                     "attention": model.attention.upper(),
                     **{priors.id: fmt_fixed(count, 1)
                        for priors, count in zip(families, counts, strict=True)}})
    table(rows, {"model": say("operators-per-layer"), "attention": common("attention"),
                 **{priors.id: (priors.name["en"], priors.name["zh"]) for priors in families}})


def _counted(priors: Mechanisms, attention: str) -> dict[str, float]:
    """The counts of a family of cards, by the names of their symbols [1]."""
    parts, layer = priors.operators, priors.operators_per_layer
    assert parts is not None
    assert layer is not None
    return {**{f"{part}_operators": kernels
               for part, (kernels, _) in parts.by_part(attention).items()},
            "hyper_operators": priors.hyper_operators.value if priors.hyper_operators else 0,
            "reference_operators": parts.reference,
            "operators_per_layer": layer.value}


def of_device(device: Device) -> Mechanisms | None:
    """The priors of a device: those that it names, else the usual ones of its type."""
    name = device.mechanisms or USUAL.get(device.type)
    if name is None:
        return None
    found: Mechanisms = catalogue.load("mechanisms", name)
    return found


def rows(priors: Mechanisms) -> Iterator[tuple[Pair, Value]]:
    """Every value of some mechanisms with its label, in the order of their fields."""
    for name in type(priors).model_fields:
        item = getattr(priors, name)
        if isinstance(item, Value):
            yield _label(name), item
        elif isinstance(item, BaseModel):
            for path, value in _inside(item):
                yield _label(".".join((name, *path))), value


def of_deployment(deployment: Scenario) -> Iterator[tuple[Pair, Value]]:
    """The mechanisms that a deployment's estimate takes, with their labels."""
    for knob in deployment.mechanism_knobs:
        yield _label(knob.name), knob.value


def labelled(values: Mapping[str, Value]) -> Iterator[tuple[Pair, Value]]:
    """Values by their dotted names, each with its label."""
    for name, value in values.items():
        yield _label(name), value


def _inside(item: BaseModel) -> Iterator[tuple[tuple[str, ...], Value]]:
    for name in type(item).model_fields:
        value = getattr(item, name)
        if isinstance(value, Value):
            yield (name,), value
        elif isinstance(value, BaseModel):
            for path, deeper in _inside(value):
                yield (name, *path), deeper


def _label(path: str) -> Pair:
    """The label of a mechanism by its dotted name, with its letter where it has one."""
    name, *inside = path.split(".")
    symbol = catalogue.symbols().get(name)
    if symbol is not None and not inside:
        return f"{symbol.en}, ${symbol.latex}$", f"{symbol.zh} ${symbol.latex}$"
    label = LABELS[name] if symbol is None or name in LABELS else (symbol.en, symbol.zh)
    parts = [PARTS[part] for part in inside]
    if not parts:
        return label
    return (f"{label[0]} ({', '.join(part[0] for part in parts)})",
            f"{label[1]}（{'，'.join(part[1] for part in parts)}）")
