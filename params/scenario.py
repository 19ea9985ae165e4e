"""A deployment, resolved: catalogue entries in place of names, and its inputs as plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from params import catalogue, units, yamlfile
from params.catalogue import Override
from params.deployment import Documented, Measurements, Precision, ScenarioFile
from params.documented import as_documented
from params.entries import Model
from params.errors import ParamsError
from params.hardware import Device, Node
from params.values import Text, Value

ROOTS = ("model", "device", "cluster", "precision", "parallelism", "workload")
_ENTRIES = {"model": "models", "device": "devices", "precision": "precisions"}
MODEL_COUNTS = (
    "num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads",
    "num_key_value_heads", "head_dim", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim",
    "qk_rope_head_dim", "v_head_dim", "intermediate_size", "moe_intermediate_size",
    "n_routed_experts", "n_shared_experts", "num_experts_per_tok", "first_k_dense_replace",
    "index_n_heads", "index_head_dim", "index_topk", "sliding_window", "full_attention_layers",
)
_MODEL_SWITCHES = ("router_bias", "expert_bias", "attention_bias", "attention_output_bias",
                   "qk_norm", "attention_sinks")
_DEVICE_INPUTS = ("memory_capacity", "system_reserve", "memory_bandwidth", "hbm_efficiency",
                  "runtime_reserve")


def model_inputs(model: Model) -> dict[str, int | float]:
    """A model's input symbols as plain numbers; what a kind of model lacks is 0.

    A model without experts is dense throughout: all its layers are leading dense layers. Without a
    window all its layers attend to the whole context; with one, those that are stated.
    """
    found = {name: getattr(model, name) for name in MODEL_COUNTS}
    numbers = {name: value.value if value else 0 for name, value in found.items()}
    if not model.is_moe:
        numbers["first_k_dense_replace"] = numbers["num_hidden_layers"]
    if model.sliding_window is None:
        numbers["full_attention_layers"] = numbers["num_hidden_layers"]
    numbers |= {name: int(getattr(model, name)) for name in _MODEL_SWITCHES}
    numbers["separate_head"] = int(not model.tie_word_embeddings)
    return numbers


def precision_inputs(precision: Precision) -> dict[str, int | float]:
    """Bytes per element of every class of tensors, scales and zero points included [B]."""
    formats = {f"{name}_weight_bytes": stored for name, stored in dict(precision.weights).items()}
    formats |= {f"{name}_element_bytes": getattr(precision, name)
                for name in ("kv_cache", "kv_rope", "activation", "logit")}
    formats["kv_index_element_bytes"] = precision.kv_index or precision.kv_cache
    return {name: catalogue.load("formats", stored).bytes_per_element
            for name, stored in formats.items()}


def device_inputs(device: Device) -> dict[str, int | float]:
    """A device's input symbols in SI units; what its own system keeps is 0 unless stated."""
    found = {name: getattr(device, name) for name in _DEVICE_INPUTS}
    return {name: value.value if value else 0 for name, value in found.items()}


@dataclass(frozen=True)
class Scenario:
    """A deployment with everything it names."""

    file: ScenarioFile
    path: Path
    model: Model
    device: Device
    node: Node
    precision: Precision
    measured: Measurements | None

    @property
    def id(self) -> str:
        """Identifier: the file's name."""
        return self.file.id

    @property
    def title(self) -> Text:
        """Title in both languages."""
        return self.file.title

    @property
    def documented(self) -> Documented | None:
        """What the document states, if one describes this deployment."""
        return self.file.documented

    @property
    def devices(self) -> int:
        """Number of devices of the deployment."""
        cluster = self.file.cluster
        whole = cluster.nodes.value * self.node.devices_per_node.value
        return int(cluster.devices.value if cluster.devices else whole)

    def values(self) -> dict[str, Value]:
        """Inputs that carry a provenance of their own, by symbol."""
        found = {name: getattr(self.model, name) for name in MODEL_COUNTS}
        found |= {name: getattr(self.device, name) for name in _DEVICE_INPUTS}
        for part in (self.file.parallelism, self.file.workload):
            found |= {name: getattr(part, name) for name in type(part).model_fields}
        return {name: value for name, value in found.items() if value is not None}

    def inputs(self) -> dict[str, int | float]:
        """Every input symbol of the formulas with its SI number."""
        given = {name: value.value for part in (self.file.parallelism, self.file.workload)
                 for name in type(part).model_fields if (value := getattr(part, name))}
        numbers = (model_inputs(self.model) | precision_inputs(self.precision)
                   | device_inputs(self.device) | given)
        if self.file.workload.output_tokens is None:
            # only the longest context is known: take every request at it, one token from its end
            numbers["output_tokens"] = 1
            numbers["input_tokens"] = numbers["context_tokens"] - 1
        numbers.setdefault("context_tokens", numbers["input_tokens"] + numbers["output_tokens"])
        return numbers

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Inputs that are known only within a range, by symbol: (low, high)."""
        return {name: (value.low, value.high) for name, value in self.values().items()
                if value.low < value.high}


def load_scenario(reference: str | Path, device: str | Path | None = None,
                  overrides: Iterable[str] = (), documented: bool = False) -> Scenario:
    """Load and check a deployment.

    Args:
        reference: identifier, or path of a scenario file.
        device: identifier or path of a device to use in place of the scenario's.
        overrides: ``PATH=VALUE`` with PATH rooted at one of ``ROOTS``.
        documented: take of the device what the scenario's document states of it.

    Raises ParamsError, one sentence, for any input that cannot be used.
    """
    given = _overrides(overrides)
    path = catalogue.locate("scenarios", reference)
    raw = yamlfile.read(path)
    own = {key: value for key, value in given.items() if key.partition(".")[0] not in _ENTRIES
           or "." not in key}
    if device:
        own["device"] = Override(str(device), "device")

    def where(*keys: str | int) -> str:
        """Origin of a key: an override's, or file and line."""
        override = own.get(".".join(map(str, keys)))
        return override.origin if override else raw.where(keys)

    file: ScenarioFile = catalogue.load("scenarios", path, own)

    def entry(root: str) -> Any:
        inside = {key.partition(".")[2]: value for key, value in given.items()
                  if key.startswith(f"{root}.")}
        return catalogue.load(_ENTRIES[root], getattr(file, root), inside, path)

    chosen = entry("device")
    if chosen.type == "host":
        raise ParamsError(f"{where('device')}: '{chosen.id}' is a host processor, "
                          "expected an accelerator.")
    if chosen.dies:
        raise ParamsError(f"{where('device')}: '{chosen.id}' is a package that software sees as "
                          f"{chosen.dies.value} devices, expected '{chosen.die}'.")
    if documented:
        if file.document is None:
            raise ParamsError(f"{where('title')}: '{file.id}' is in none of the documents, there "
                              "is nothing to take from one.")
        chosen = as_documented(chosen, file.document, file.section)
    scenario = Scenario(
        file, path, entry("model"), chosen,
        catalogue.load("nodes", file.cluster.node, beside=path), entry("precision"),
        catalogue.load("measurements", file.measured, beside=path) if file.measured else None)
    _check_claims(file, where)
    _check_layout(scenario, where)
    return scenario


def _overrides(settings: Iterable[str]) -> dict[str, Override]:
    """``PATH=VALUE`` texts by their dotted path."""
    result: dict[str, Override] = {}
    for setting in settings:
        dotted, equals, text = (part.strip() for part in setting.partition("="))
        root, _, rest = dotted.partition(".")
        if not equals or root not in ROOTS or not text:
            raise ParamsError(f"--set {setting}: expected PATH=VALUE with PATH rooted at one of "
                              f"{', '.join(ROOTS)}.")
        if not rest and root not in _ENTRIES:
            raise ParamsError(f"--set {setting}: '{root}' is a section, expected a key in it.")
        try:
            value = yamlfile.scalar(text) if rest else text
        except ValueError as error:
            raise ParamsError(f"--set {dotted}: {error}.") from None
        result[dotted] = Override(value, f"--set {dotted}")
    return result


def _check_claims(file: ScenarioFile, where: Callable[..., str]) -> None:
    """Refuse a claim about an unknown quantity, in another unit, or with a formula that fails."""
    known = catalogue.symbols()
    for number, claim in enumerate(file.documented.claims if file.documented else ()):
        at = ("documented", "claims", number)
        if claim.quantity not in known:
            raise ParamsError(f"{where(*at, 'quantity')}: '{claim.quantity}' is not a quantity of "
                              "params/symbols.yml.")
        expected = known[claim.quantity].unit
        if _hard(claim.value.unit) != _hard(expected):
            raise ParamsError(f"{where(*at, 'value')}: '{claim.value.written}' has the wrong unit "
                              f"for '{claim.quantity}', expected a quantity in {expected}.")
        try:
            file.documented.recomputed(claim)  # type: ignore[union-attr]
        except ValueError as error:
            raise ParamsError(f"{where(*at, 'formula')}: {error}.") from None


def _hard(unit: str) -> dict[str, int]:
    """Dimensions of a unit without what is merely counted."""
    return {name: power for name, power in units.dimensions(unit).items()
            if name not in units.COUNTING}


def _check_layout(scenario: Scenario, where: Callable[..., str]) -> None:
    """Refuse a parallelism that cannot be laid out: it divides neither cards nor tensors."""
    numbers = scenario.inputs()
    tp, pp, dp, ep = (int(numbers[f"{name}_parallel"])
                      for name in ("tensor", "pipeline", "data", "expert"))

    def refuse(key: str, sentence: str) -> None:
        raise ParamsError(f"{where('parallelism', key)}: {sentence}.")

    def must_divide(key: str, parts: int, name: str) -> None:
        whole = int(numbers[name])
        if whole % parts:
            refuse(key, f"{key} of {parts} does not divide {name} {whole} "
                        f"of '{scenario.model.id}'")

    if tp * pp * dp != scenario.devices:
        refuse("tensor_parallel", f"tensor x pipeline x data parallel = {tp} x {pp} x {dp} = "
               f"{tp * pp * dp} devices, but the cluster has {scenario.devices}")
    must_divide("tensor_parallel", tp, "num_attention_heads")
    must_divide("tensor_parallel", tp, "intermediate_size")
    heads = int(numbers["num_key_value_heads"])
    if scenario.model.attention == "gqa" and heads % tp and tp % heads:
        refuse("tensor_parallel", f"tensor_parallel of {tp} neither divides nor is a multiple of "
               f"num_key_value_heads {heads} of '{scenario.model.id}'")
    if pp > numbers["num_hidden_layers"]:
        refuse("pipeline_parallel", f"pipeline_parallel of {pp} exceeds the "
               f"{numbers['num_hidden_layers']} layers of '{scenario.model.id}'")
    experts = int(numbers["n_routed_experts"])
    if not experts:
        if ep > 1:
            refuse("expert_parallel", f"'{scenario.model.id}' has no experts, expected 1")
        return
    if (tp * dp) % ep or (ep % tp and tp % ep):
        refuse("expert_parallel", f"expert_parallel of {ep} does not fit tensor x data parallel = "
               f"{tp} x {dp}, expected a divisor of {tp * dp} that divides {tp} or is a multiple "
               "of it")
    must_divide("expert_parallel", ep, "n_routed_experts")
    must_divide("tensor_parallel", max(1, tp // ep), "moe_intermediate_size")
