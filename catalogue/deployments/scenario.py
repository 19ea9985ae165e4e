"""A deployment, resolved: catalogue entries in place of names, and its inputs as plain numbers."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catalogue import library
from catalogue.deployments.physics_inputs import (
    ACCEPTED,
    DELAY_STEPS,
    GATHERED,
    NORMAL,
    USUAL_DRAFTS,
    Knob,
    leaves_replica,
    on_card,
    physics_inputs,
)
from catalogue.deployments.physics_inputs import knobs as mechanisms
from catalogue.deployments.profiles import Running, following, running
from catalogue.entries.deployments import Documented, Precision, ScenarioFile
from catalogue.entries.formulas import inputs_of, symbols
from catalogue.entries.hardware import Device, Node
from catalogue.entries.models import CSA, GROUPS, WINDOW_HEADS, Drafter, Model
from catalogue.entries.profiles import Reserve, Way
from catalogue.kernels import multiplied
from catalogue.reading.units import factor
from catalogue.reading.values import Text, Value

if TYPE_CHECKING:
    from catalogue.entries.measurements import Measurements

SHARE = "memory_utilization"  # of the memory, that an engine may use
GATED = 3  # matrices of a feed-forward network: gate, up, down
# of the model, where it does not say; else 0
_UNSAID = {"mlp_matrices": GATED, **dict.fromkeys((*GROUPS, "hc_mult", "compress_ratio",
                                                   "heavy_compress_ratio",
                                                   "num_nextn_predict_layers"), 1)}
_UNSAID_OF_SHARE = ("expert_tensor_parallel", "max_num_seqs", "draft_tokens")  # 0 unless stated
MEBI = factor("MiB")
WIDEST = "fp32"  # of what checkpoints and engines keep undivided
_DEVICE_INPUTS = ("memory_capacity", "system_reserve", "memory_bandwidth", "hbm_efficiency",
                  "runtime_reserve")
OF_SERVICES = ("bench_ttft", "bench_tpot", "bench_throughput", "steady_e2e", "steady_tpot",
               "steady_throughput", "e2e")  # of who computes prompts and answers
FIRST = ("ttft", "steady_ttft", *OF_SERVICES)  # what a pool that decodes alone does not have
FURTHER = ("tpot_floor", "throughput_ceiling", "tpot", "output_throughput", *OF_SERVICES)


def unasked(inputs: Mapping[str, Any]) -> frozenset[str]:
    """Quantities that a deployment has no answer to.

    A run that ends with the first token has no time per further token, and its end is its first
    token; a decode pool of its own computes no first token, and nobody's whole answer.

    Args:
        inputs: input symbols in SI units.
    """
    if inputs["separate_pools"]:
        return frozenset(FIRST)
    return frozenset(FURTHER if inputs["output_tokens"] <= 1 else ())


def model_inputs(model: Model) -> dict[str, int | float]:
    """A model's input symbols as plain numbers; what a kind of model lacks is 0.

    A model without experts is dense throughout: all its layers with a feed-forward network are
    leading dense layers. Without a window all its layers attend to the whole context; with one,
    those that are stated, and the others have the same heads unless theirs are stated.
    """
    values = {name: getattr(model, name, None) for name in inputs_of("model")}
    numbers = {name: _UNSAID.get(name, 0) if value is None
               else int(value) if isinstance(value, bool) else value.value
               for name, value in values.items()}
    if not model.is_moe:
        numbers["first_k_dense_replace"] = (
            numbers["num_hidden_layers"] - numbers["layers_without_mlp"])
    if model.attention == "gqa" and model.v_head_dim is None:
        numbers["v_head_dim"] = numbers["head_dim"]
    numbers |= {name: numbers[name.removeprefix("window_")] for name in WINDOW_HEADS
                if getattr(model, name) is None}
    if model.sliding_window is None:
        numbers["full_attention_layers"] = (
            numbers["num_hidden_layers"] - numbers["linear_layers"])
    if model.attention == CSA:  # its window is beside the compressed entries of a layer
        numbers["full_attention_layers"] = numbers["num_hidden_layers"]
    if model.index_topk is not None and model.indexer_layers is None:
        numbers["indexer_layers"] = numbers["num_hidden_layers"]
    if model.sparse_layers is None:
        numbers["sparse_layers"] = numbers["full_attention_layers"]
    if model.routed_expert_hidden_size is None:
        numbers["routed_expert_hidden_size"] = numbers["hidden_size"]
    numbers["separate_head"] = int(not model.tie_word_embeddings)
    return numbers


def precision_inputs(precision: Precision) -> dict[str, int | float]:
    """Bytes per element of every class of tensors, scales and zero points included [B]."""
    stored = dict(precision.weights)
    stored["compressor"] = stored["compressor"] or precision.activation
    stored["hyper"] = stored["hyper"] or WIDEST
    formats = {f"{name}_weight_bytes": fmt for name, fmt in stored.items()}
    formats |= {f"{name}_element_bytes": getattr(precision, name)
                for name in ("kv_cache", "kv_rope", "activation", "logit")}
    formats["kv_index_element_bytes"] = precision.kv_index or precision.kv_cache
    formats["state_element_bytes"] = precision.state or WIDEST
    sizes = {fmt: library.load("formats", fmt).bytes_per_element
             for fmt in dict.fromkeys(formats.values())}
    return {name: sizes[fmt] for name, fmt in formats.items()}


def device_inputs(device: Device) -> dict[str, int | float]:
    """A device's input symbols in SI units; what its own system keeps is 0 unless stated."""
    values = {name: getattr(device, name) for name in _DEVICE_INPUTS}
    return {name: value.value if value else 0 for name, value in values.items()}


@dataclass(frozen=True)
class Scenario:
    """A deployment with everything it names, its layout and its inputs.

    Attributes:
        by_engine: mechanisms that its engine gives, by how ranks come by tokens and by name;
            nothing without an engine.
        variations: of the lengths of prompts and of answers, standard deviation over mean, where
            requests are listed [1]; None for what the workload says.
        running: the engine that it names, in its release; None if it names none.
        stated_workload: keys of the workload that it states itself; the others are its engine's
            defaults.
    """

    file: ScenarioFile
    path: Path
    model: Model
    device: Device
    node: Node
    precision: Precision
    measured: Measurements | None
    host: Device | None = None
    family: Text | None = None
    by_engine: Mapping[Way, Mapping[str, Value]] = field(default_factory=dict)
    variations: tuple[float, float] | None = None
    running: Running | None = None
    stated_workload: frozenset[str] = frozenset((SHARE,))

    @property
    def engine(self) -> str | None:
        """The engine that it names with its release, ``vllm@0.11.0``; None if it names none."""
        return self.running.name if self.running else None

    @property
    def asked_engine(self) -> str | None:
        """The same as it is written: a release that is not known is not another one's."""
        return self.running.stated if self.running else None

    @functools.cached_property
    def multiplied(self) -> dict[str, str]:
        """Class of tensors -> dtype that its device multiplies for it, by its engine's kernels."""
        return multiplied(self.precision, self.device, self.asked_engine, self.model,
                          on_card(self.precision, self.file.offload))

    @property
    def way(self) -> Way:
        """How a rank comes by the tokens of its experts: of one replica, gathered, or sent."""
        cut = self.file.parallelism
        slices = cut.expert_tensor_parallel
        if not leaves_replica(cut.tensor_parallel.value, cut.expert_parallel.value,
                              slices.value if slices else 0):
            return "own"
        return self.joined_way

    @property
    def joined_way(self) -> Way:
        """How ranks that share experts come by the tokens of theirs: gathered, or sent."""
        given = self.by_engine.get("low_latency", {}).get(GATHERED)
        gathers = self.file.mechanisms.get(GATHERED, given)
        normal = self.file.mechanisms.get(NORMAL)
        if gathers and gathers.value:
            return "gathered"
        return "normal" if normal and normal.value else "low_latency"

    @property
    def given(self) -> Mapping[str, Value]:
        """Mechanisms that its engine gives, by name."""
        return self.by_engine.get(self.way, {})

    @property
    def mechanisms(self) -> dict[str, Value]:
        """Mechanisms that the deployment states, and those of its engine where it states none."""
        return {**self.given, **self.file.mechanisms}

    @property
    def delay_steps(self) -> float:
        """Steps for which ranks that share experts hold prompts back at most, 0 if they do not."""
        stated = self.file.prefill_delay_steps
        if self.file.prefill_coordination != "delay":
            return 0.0
        return float(DELAY_STEPS if stated is None else stated.value)

    @property
    def drafter(self) -> Drafter | None:
        """The drafter that it names; None where the model's own layer drafts."""
        return self.model.drafter(self.file.workload.draft_method)

    @property
    def acceptance(self) -> dict[str, Value]:
        """How often drafts are right: of the layer or the drafter, in the text stated [1]."""
        table = library.load("acceptances", self.drafter.acceptance if self.drafter
                             else self.model.draft_acceptance or USUAL_DRAFTS)
        keys = ACCEPTED | {"mtp_acceptance": self.file.workload.text or "any"}
        return {name: getattr(table, key) for name, key in keys.items()}

    def in_precision(self, precision: Precision) -> Scenario:
        """The deployment in another precision, with what its engine's kernels reach in that."""
        return replace(self, precision=precision).with_file(self.file)

    def with_file(self, file: ScenarioFile, stated: Iterable[str] = ()) -> Scenario:
        """The deployment by another file, with its engine's defaults for what is cut so.

        Args:
            file: the other; what it has of its engine's defaults is replaced.
            stated: keys of its workload that are no defaults, besides those of this one.
        """
        if self.running is None:
            return replace(self, file=file)
        drafts, apart = file.workload.draft_tokens, file.mechanisms.get("separate_pools")
        engine = running(file.engine or self.running.stated, self.device, self.model,
                         drafts is not None and drafts.value > 0, self.path, self.precision,
                         apart is not None and apart.value == 1)
        every = self.stated_workload.union(stated)
        return replace(self, file=following(file, engine, every), running=engine,
                       by_engine=engine.mechanisms, stated_workload=every)

    @property
    def id(self) -> str:
        """Identifier: the file's name."""
        return self.file.id

    @property
    def title(self) -> Text:
        """Title in both languages; of a variant, within its family."""
        return self.file.title

    @property
    def heading(self) -> Text:
        """Title in both languages, where a variant stands outside of its family."""
        if self.family is None:
            return self.title
        joined = {"en": ": ", "zh": "：" if self.title["zh"][0] > "\u2e7f" else " "}
        return {lang: f"{self.family[lang]}{joined[lang]}{self.title[lang]}" for lang in joined}

    @property
    def replicas(self) -> int:
        """Data-parallel replicas [1]."""
        return int(self.file.parallelism.data_parallel.value)

    @property
    def documented(self) -> Documented | None:
        """What the document states, if one describes this deployment."""
        return self.file.documented

    @property
    def devices(self) -> int:
        """Number of devices of the deployment."""
        return self.file.cluster.cards(self.node)

    def values(self) -> dict[str, Value]:
        """Inputs that carry a provenance of their own, by symbol."""
        fields: dict[str, Value | None] = {
            name: value for name in inputs_of("model")
            if isinstance(value := getattr(self.model, name, None), Value)}
        fields |= {name: getattr(self.device, name) for name in _DEVICE_INPUTS}
        fields |= self.stated_values
        fields["accepted_length"] = self.file.workload.length_accepted
        if self.drafter is not None:
            fields |= {f"drafter_{name}": getattr(self.drafter, name)
                       for name in ("parameters", "whole_parameters")}
        fields["memory_utilization"] = self.share
        return {name: value for name, value in fields.items() if value is not None}

    def stated(self) -> dict[str, int | float]:
        """Input symbols of parallelism and workload with their SI numbers, where stated."""
        return {name: value.value for name, value in self.stated_values.items()
                } | {SHARE: self.share.value}

    @property
    def stated_values(self) -> dict[str, Value]:
        """Input symbols of parallelism and workload that its file states."""
        letters = symbols()
        return {name: value for part in (self.file.parallelism, self.file.workload)
                for name in type(part).model_fields
                if name in letters and (value := getattr(part, name)) is not None}

    @functools.cached_property
    def share(self) -> Value:
        """Share of the memory that its engine may use [1]: as stated, or else by default."""
        if not self._reserves or self.running is None:
            return self.file.workload.memory_utilization
        rule = next(iter(self._reserves.values()))
        memory, reserved = self._for_share["memory_capacity"], float(self._reserved({}))
        share, release = float(self.shares({})[SHARE]), self.running.stated
        reserve, of = f"{reserved / MEBI:,.0f}", f"{memory / MEBI:,.0f}"
        note = {"en": f"Default of {release}: {reserve} MiB of {of} MiB are kept for activations "
                      "and graphs.",
                "zh": f"{release} 的默认值：{of} MiB 显存中留 {reserve} MiB 给激活与图。"}
        return Value(share, "1", f"{share:g}", rule.source, "derived", share, share, rule.date,
                     note=note)

    def shares(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Input ``memory_utilization`` of other layouts and steps of it, an array; nothing where
        the deployment states it or its engine has no rule.

        Args:
            inputs: what differs by symbol, numbers or arrays that can be broadcast.
        """
        if not self._reserves:
            return {}
        # it brings NumPy, which names and files are read without
        from catalogue.deployments.shares import share_of

        return {SHARE: share_of(self._reserved(inputs), self._for_share["memory_capacity"])}

    @property
    def _reserves(self) -> Mapping[Way, Reserve]:
        """What its engine sets aside by default; nothing where the share is stated."""
        return {} if self.running is None or SHARE in self.stated_workload else self.running.reserve

    def _reserved(self, inputs: Mapping[str, Any]) -> Any:
        """Memory that its engine sets aside where it differs in some inputs [B]."""
        from catalogue.deployments.shares import reserved_by_way
        graph = self.mechanisms.get("largest_graph")
        return reserved_by_way(self._reserves, self.joined_way, {**self._for_share, **inputs},
                               float(graph.value) if graph else None)

    @property
    def _for_share(self) -> dict[str, int | float]:
        """Its inputs on which the share depends."""
        return dict.fromkeys(_UNSAID_OF_SHARE, 0) | {
            name: value.value for name, value in self.stated_values.items()
            } | {"memory_capacity": device_inputs(self.device)["memory_capacity"]}

    def inputs(self) -> dict[str, int | float]:
        """Every input symbol of the formulas with its SI number."""
        return dict(self._inputs)

    @functools.cached_property
    def _inputs(self) -> dict[str, int | float]:
        numbers = (model_inputs(self.model) | precision_inputs(self.precision)
                   | device_inputs(self.device) | physics_inputs(self, self.mechanism_knobs)
                   | self.stated())
        if self.file.workload.output_tokens is None:
            # only the longest context is known: take every request at it, one token from its end
            # and decode by itself, since nothing says how prompts arrive
            numbers["output_tokens"] = 1
            numbers["input_tokens"] = numbers["context_tokens"] - 1
            numbers["separate_pools"] = 1
        numbers.setdefault("context_tokens", numbers["input_tokens"] + numbers["output_tokens"])
        return numbers

    def knobs(self) -> list[Knob]:
        """Everything that is known only within a range: plain inputs, then the mechanisms."""
        return [knob for knob in self.every_knob() if knob.value.low < knob.value.high]

    def every_knob(self) -> list[Knob]:
        """Plain inputs, then the mechanisms, those included that are known exactly."""
        plain = [Knob(name, value, (name,)) for name, value in self.values().items()]
        return [*plain, *self.mechanism_knobs]

    @functools.cached_property
    def mechanism_knobs(self) -> tuple[Knob, ...]:
        """The mechanisms, those included that are known exactly."""
        return tuple(mechanisms(self))


def heading_of(pools: Sequence[Scenario]) -> Text:
    """Title in both languages of a deployment of one pool or two."""
    return (pools[-1].family if len(pools) > 1 else None) or pools[-1].heading
