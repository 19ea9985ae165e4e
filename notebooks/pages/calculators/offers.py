"""What the calculators offer: cards, models, precisions, engines, and layouts of every kind."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calc.layouts.layout import UTILIZATION, changed
from catalogue import (
    Scenario,
    load_device,
    load_model,
    load_node,
    load_precision,
    made_scenario,
    model_inputs,
    names,
)
from catalogue.deployments.admission import precisions as loaded_precisions
from catalogue.deployments.cuts import Subject
from catalogue.deployments.physics_inputs import (
    GATHERED,
    SHARED_CACHE,
    missing_dtypes,
    scale_up_domain,
)
from catalogue.deployments.profiles import running
from catalogue.engine import fitting
from catalogue.entries.deployments import BLOCKS
from catalogue.entries.hardware import WIDE, Device, Node
from catalogue.entries.models import CSA, Model
from catalogue.kernels import (
    INDEXED,
    attention_kind,
    kernel_of,
    known_to_engines,
    published,
    runs_experts,
)
from catalogue.library import stands
from notebooks.pages.calculators.extras import CONTEXT_ONLY, ROOT, extras, written

AT = "@"  # between a card and a server that is not its usual one
LOGNORMAL = "lognormal"  # how lengths vary, where they do
NO_ENGINE = "none"  # a deployment that names none
# of which nothing is missing from the formulas: no page of a calculator tells what is
MODELS = ("deepseek-v4-flash", "deepseek-v4-pro", "glm-5.2", "glm-5.1", "kimi-k2.6", "kimi-k2.5",
          "qwen3.5-397b-a17b", "qwen3.6-35b-a3b", "qwen3.8-2.4t-a95b", "minimax-m2.5",
          "deepseek-v3", "deepseek-v3.1", "deepseek-v3.2", "kimi-k2", "glm-4.5", "qwen3-235b-a22b",
          "qwen3-30b-a3b", "qwen3-8b", "gpt-oss-120b", "qwen2.5-72b", "llama-3.1-70b")
USUAL = "deepseek-v3"  # what is asked of a card whatever its model
FORMATS_OF = {CSA: "deepseek-v4-flash", INDEXED["mla"]: "deepseek-v3.2"}
"""Kinds of attention whose caches have other rows, and whose precisions are asked for them."""
SIZES = (1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64, 72, 96, 128, 144, 256, 320)  # of each degree
MOST_CARDS = 256  # that are tried for so many users within a time per token
CHUNK, PERCENT = 8192, 100
DRAFTS = (0, 1, 2, 3, 5)
ASSUMED = {"source": "the calculators of the book", "kind": "assumed"}
FEW, MANY, LONG, SHORT = 1, 32, 2048, 512  # requests and tokens where nobody says
AXES = ("card", "cores", "model", "precision", "engine", "servers", "exchange", "sent", "replicas",
        "drafted")


@dataclass(frozen=True)
class Kind:
    """What of a deployment its inputs depend on besides its numbers.

    Attributes:
        card, model, precision: entries of the catalogue; a card may be in another server.
        engine: likewise, or ``NO_ENGINE``.
        servers: 1 if there are several, else 0.
        exchange: how many domains the exchange of experts leaves: none, the server, its fabric too.
        sent: 0 if its ranks have the tokens of all, 1 if tokens are sent to their experts, 2 if
            its engine has ranks gather those of all (:func:`gathers`).
        replicas: 1 if there are several, else 0.
        drafted: 1 if tokens are drafted, else 0.
        ways: what else is set, by name of ``notebooks.pages.calculators.extras.WAYS``; no axis.
    """

    card: str
    model: str
    precision: str
    engine: str
    servers: int = 0
    exchange: int = 0
    sent: int = 0
    replicas: int = 0
    drafted: int = 0
    ways: tuple[tuple[str, str], ...] = ()

    @property
    def cores(self) -> str:
        """Of its model, an axis coarser than that: most of what was measured hangs on no more."""
        return cores_of(self.model)


@functools.cache
def cards() -> list[str]:
    """Cards that a server of the catalogue holds: in theirs, in those like it or of its packages.

    What no release is known to have a kernel for, as a card that is only announced, is not offered.
    """
    return [card for device in names("devices") for card in cards_of(device)]


def cards_of(device: str) -> list[str]:
    """The same of one device; none of one that the catalogue does not have."""
    card = load_device(device) if stands("devices", device) else None
    if (card is None or card.type == "host" or not card.node or card.dies
            or not known_to_engines(card) or not precisions(card.id)):
        return []
    return [f"{card.id}{server}" for server in ("", *_others(str(card.node)))]


@functools.cache
def _others(server: str) -> list[str]:
    """Servers that are like one, or hold the same packages of dies alone or in a supernode."""
    link = load_node(server).package_link
    nodes = {name: load_node(name) for name in names("nodes") if name != server}
    return [f"{AT}{name}" for name, node in nodes.items()
            if node.like == server or (link and node.package_link == link)]


@functools.cache
def card_and_node(card: str) -> tuple[Device, Node]:
    """A card, and the server that it stands in."""
    name, _, server = card.partition(AT)
    device: Device = load_device(name)
    return device, load_node(server or str(device.node))


def card_of(scenario: Scenario) -> str:
    """What the calculators call the card of a deployment in its server; it need not be offered."""
    device, node = scenario.device, scenario.node
    return device.id if node.id == device.node else f"{device.id}{AT}{node.id}"


@functools.cache
def cores_of(model: str) -> str:
    """What the cores of a model's attention read: its kind, or tokens that an indexer chose."""
    return str(attention_kind(load_model(model)))


def formats_of(model: str) -> str:
    """Whose precisions a model takes: those of compressed entries, of an indexer, or the usual."""
    cores = cores_of(model)
    return cores if cores in FORMATS_OF else ""


def precisions(card: str, model: str = USUAL) -> list[str]:
    """Precisions that a card runs of a model, of those that a model of its kind is published in.

    Of those that lack a matrix unit, where the same weights have another, the other alone. What an
    engine widens on a card that does not have to has a precision of its own.
    """
    return _precisions(card, FORMATS_OF.get(formats_of(model), USUAL))


@functools.cache
def _precisions(card: str, model: str) -> list[str]:
    alike = [load_model(name) for name in MODELS
             if FORMATS_OF.get(formats_of(name), USUAL) == model]
    device, _ = card_and_node(card)
    own = {each.weights.precision for each in alike if each.weights}
    found = [entry for entry in loaded_precisions(subject(card, model))
             if (entry.id in WIDE or any(published(each, entry) for each in alike)) and not any(
                 kernel.widened for each in alike
                 for engine in (None, *([] if entry.id in own else fitting(device)))
                 if (kernel := kernel_of(entry, device, engine, model=each)))]
    native = [entry for entry in found if not missing_dtypes(entry, device)]
    return [entry.id for entry in found if entry in native
            or (entry.weights not in [other.weights for other in native]
            and not any(dtype == "fp4" for _, dtype in missing_dtypes(entry, device)))]


def subject(card: str, model: str, precision: str = "bf16") -> Subject:
    """A model on a card of the calculators, but for how it is cut."""
    entry = load_model(model)
    return Subject(entry, load_precision(precision), *card_and_node(card), model_inputs(entry))


@functools.cache
def engines(card: str) -> list[str]:
    """Engines that run on a card, experts included, and none."""
    return [NO_ENGINE, *(name for name in fitting(card_and_node(card)[0]) if runs_experts(name))]


@functools.cache
def per_node(card: str) -> int:
    """Cards of the server that a card stands in [1]."""
    return int(card_and_node(card)[1].devices_per_node.value)


def of_experts(model: Model) -> bool:
    """Whether a model has experts."""
    return bool(model.is_moe)


def drafts(model: Model) -> bool:
    """Whether a model has a layer to draft with."""
    layers = model.num_nextn_predict_layers
    return bool(layers and layers.value)


def sort_of(model: str) -> tuple[Any, ...]:
    """What of a model the inputs of cards and engines depend on, besides its shapes."""
    entry = load_model(model)
    return (entry.attention, of_experts(entry), bool(entry.index_topk), drafts(entry),
            bool(entry.linear_layers))


@functools.cache
def block(card: str, model: str, engine: str) -> int:
    """Tokens of a block of the cache [token], unless a reader says otherwise.

    It is the card's; of compressed entries the engine's own, which its kernels take alone.
    """
    device, entry = card_and_node(card)[0], load_model(model)
    if entry.attention == CSA and engine != NO_ENGINE:
        own = running(engine, device, entry, False).workload.get("block_size")
        if own is not None:
            return int(own.value)
    return BLOCKS[device.type]


@functools.cache
def gathers(card: str, model: str, precision: str, engine: str, drafted: int) -> bool:
    """Whether an engine has ranks that share experts gather the tokens of all, unless it is told
    otherwise."""
    if engine == NO_ENGINE:
        return False
    own = running(engine, card_and_node(card)[0], load_model(model), bool(drafted),
                  precision=load_precision(precision)).mechanisms["low_latency"].get(GATHERED)
    return bool(own and own.value)


@functools.cache
def kinds(card: str, model: str) -> list[tuple[int, int, int, int, int]]:
    """Servers, exchange, tokens sent, replicas and drafts of the deployments of a model on a card.
    """
    entry, (_, node) = load_model(model), card_and_node(card)
    fabric = scale_up_domain(node) > per_node(card)
    beyond = [0, *([1] if fabric else []), 2] if of_experts(entry) else [0]
    return [(servers, exchange, sent, replicas, drafted)
            for servers, exchange in [(0, 0), *((1, exchange) for exchange in beyond)]
            for sent in ((0, 1) if of_experts(entry) else (0,))
            for replicas in (0, 1) for drafted in ((0, 1) if drafts(entry) else (0,))]


def contents(state: dict[str, Any]) -> dict[str, Any]:
    """A scenario file of a calculator's state, as plain data.

    Args:
        state: by the names of ``scripts.fields``; under ``set`` what else is set.
    """
    (card, node), devices = card_and_node(state["card"]), state["tp"] * state["pp"] * state["dp"]
    size = int(node.devices_per_node.value)
    nodes = -(-devices // size)
    cluster: dict[str, Any] = {"node": node.id, "nodes": nodes}
    if devices != nodes * size:
        cluster["devices"] = devices
    told = state.get("set", {})
    lengths: dict[str, Any] = (
        {"context_tokens": state["input"] + state["output"]} if CONTEXT_ONLY in told else
        {"input_tokens": state["input"], "output_tokens": state["output"]})
    title = f"{devices} × {card.id}, {state['model']}, {state['precision']}"
    engine = {} if state["engine"] == NO_ENGINE else {"engine": state["engine"]}
    draft = {"draft_tokens": state["drafts"]} if state["drafts"] else {}
    if state["vary"] and CONTEXT_ONLY not in told:
        lengths |= {"length_distribution": LOGNORMAL, "length_variation": state["vary"]}
    found: dict[str, Any] = {
        "title": {"en": title, "zh": title}, "defaults": ASSUMED, "model": state["model"],
        "device": card.id, **engine, "cluster": cluster, "precision": state["precision"],
        "parallelism": {"tensor_parallel": state["tp"], "pipeline_parallel": state["pp"],
                        "data_parallel": state["dp"], "expert_parallel": state["ep"],
                        **({SHARED_CACHE: state["dcp"]} if state["dcp"] > 1 else {})},
        "workload": {"concurrency": state["users"], **lengths, **draft,
                     "max_num_batched_tokens": state["chunk"], "block_size": state["block"],
                     "memory_utilization": state["share"] / PERCENT}}
    for name, value in told.items():
        section = extras()[name].section
        if name != CONTEXT_ONLY:
            place = found if section == ROOT else found.setdefault(section, {})
            place[name] = written(name, value)
    if "separate_pools" in told:  # what a recipe for throughput sends together is not asked here
        found["workload"]["stream_interval"] = "1 token"
        found["mechanisms"].setdefault("first_token_held", {"value": 0})
    return found


def deployed(state: dict[str, Any]) -> Scenario:
    """The deployment of a state, checked as a file is.

    Raises ParamsError for a state that no file can hold.
    """
    return made_scenario(contents(state), Path("state.yml"))


def usual(card: str, model: str, precision: str | None = None, engine: str = NO_ENGINE
          ) -> dict[str, Any]:
    """The state that a calculator begins with: one card, one request's worth of nothing special."""
    multiplied = precisions(card, model) or precisions(card)
    return {"card": card, "model": model, "precision": precision or multiplied[0],
            "engine": engine, "tp": 1, "pp": 1, "dp": 1, "ep": 1, "dcp": 1, "users": MANY,
            "input": LONG, "output": SHORT, "vary": 0, "drafts": 0, "chunk": CHUNK,
            "block": block(card, model, engine), "share": UTILIZATION}


@functools.cache
def _single(card: str, model: str, engine: str, drafted: int, precision: str = "") -> Scenario:
    """One card of a deployment, which any layout is a change of.

    Args:
        card, model, engine, drafted: as of :class:`Kind`.
        precision: likewise; none: the first that the card multiplies.
    """
    if precision:
        return changed(_single(card, model, engine, drafted), {"precision": precision})
    return deployed(usual(card, model, engine=engine) | {"users": FEW, "drafts": drafted})


@functools.cache
def _set(ways: tuple[tuple[str, str], ...], section: str) -> dict[str, Any]:
    """What ways state in a section of a file, and None for what they take away."""
    state = usual(cards()[0], USUAL)
    files = [deployed(state | {"set": dict(each)}).file for each in ((), ways)]
    before, after = ({name: getattr(part, name) for name in part.model_fields_set}
                     for part in (getattr(file, section, file) for file in files))
    return {name: after.get(name) for name in before.keys() ^ after.keys()}


def scenario_of(kind: Kind) -> Scenario:
    """A deployment of a kind; its numbers are those of the smallest layout of it.

    It need not divide the model: only what depends on the kind is read from it.
    """
    found = _laid_out(replace(kind, ways=()))
    parts = {name: getattr(found.file, name).model_copy(update=_set(kind.ways, name))
             for name in ("parallelism", "workload") if _set(kind.ways, name)}
    return replace(found, file=found.file.model_copy(update=_set(kind.ways, ROOT) | parts))


@functools.cache
def _laid_out(kind: Kind) -> Scenario:
    """That of a kind with nothing else set, which is only changed: its inputs would stay, too."""
    one = _single(kind.card, kind.model, kind.engine, kind.drafted, kind.precision)
    node = card_and_node(kind.card)[1]
    size = int(node.devices_per_node.value)
    devices = 2 * max(size, scale_up_domain(node)) if kind.servers else size
    experts = (1 + bool(kind.sent), size + 1, scale_up_domain(node) + 1)[kind.exchange]
    settings: dict[str, str | int] = {
        "cluster.nodes": -(-devices // size),
        "cluster.devices": devices, "parallelism.data_parallel": 1 + kind.replicas,
        "parallelism.tensor_parallel": 1 if kind.sent else experts,
        "parallelism.expert_parallel": experts}
    return changed(one, settings)
