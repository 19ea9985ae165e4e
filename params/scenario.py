"""A deployment, resolved: catalogue entries in place of names, and its inputs as plain numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from params import catalogue, schema, yamlfile
from params.errors import ParamsError
from params.values import Value

ROOTS = ("model", "device", "cluster", "precision", "parallelism", "workload")
_ENTRIES = {"model": "models", "device": "devices", "precision": "precisions"}
MODEL_COUNTS = (
    "num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads",
    "num_key_value_heads", "head_dim", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim",
    "qk_rope_head_dim", "v_head_dim", "intermediate_size", "moe_intermediate_size",
    "n_routed_experts", "n_shared_experts", "num_experts_per_tok", "first_k_dense_replace",
)
_DEVICE_INPUTS = ("memory_capacity", "system_reserve", "memory_bandwidth", "hbm_efficiency",
                  "runtime_reserve")


def model_inputs(model: schema.Model) -> dict[str, int | float]:
    """A model's input symbols as plain numbers; what a kind of model lacks is 0.

    A model without experts is dense throughout: all its layers are leading dense layers.
    """
    found = {name: getattr(model, name) for name in MODEL_COUNTS}
    numbers = {name: value.value if value else 0 for name, value in found.items()}
    if not model.is_moe:
        numbers["first_k_dense_replace"] = numbers["num_hidden_layers"]
    numbers["router_bias"] = int(model.router_bias)
    numbers["separate_head"] = int(not model.tie_word_embeddings)
    return numbers


def precision_inputs(precision: schema.Precision) -> dict[str, int | float]:
    """Bytes per element of every class of tensors, scales and zero points included [B]."""
    formats = {f"{name}_weight_bytes": stored for name, stored in dict(precision.weights).items()}
    formats |= {f"{name}_element_bytes": getattr(precision, name)
                for name in ("kv_cache", "kv_rope", "activation", "logit")}
    return {name: catalogue.load("formats", stored).bytes_per_element
            for name, stored in formats.items()}


def device_inputs(device: schema.Device) -> dict[str, int | float]:
    """A device's input symbols in SI units; what its own system keeps is 0 unless stated."""
    found = {name: getattr(device, name) for name in _DEVICE_INPUTS}
    return {name: value.value if value else 0 for name, value in found.items()}


@dataclass(frozen=True)
class Scenario:
    """A deployment with everything it names."""

    file: schema.ScenarioFile
    path: Path
    model: schema.Model
    device: schema.Device
    node: schema.Node
    precision: schema.Precision
    measured: schema.Measurements | None

    @property
    def id(self) -> str:
        """Identifier: the file's name."""
        return self.file.id

    @property
    def title(self) -> schema.Text:
        """Title in both languages."""
        return self.file.title

    @property
    def documented(self) -> schema.Documented | None:
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
        given = {name: value.value for name, value in self.values().items()}
        prompt, output = given.pop("input_tokens", None), given.pop("output_tokens", None)
        numbers = (model_inputs(self.model) | precision_inputs(self.precision)
                   | device_inputs(self.device) | given)
        if prompt is None or output is None:
            numbers["decode_context_tokens"] = numbers["context_tokens"]
        else:
            numbers.setdefault("context_tokens", prompt + output)
            # while n tokens are generated, a request holds prompt + 1 ... prompt + n of them
            numbers["decode_context_tokens"] = prompt + (output + 1) / 2
        return numbers

    def ranges(self) -> dict[str, tuple[float, float]]:
        """Inputs that are known only within a range, by symbol: (low, high)."""
        return {name: (value.low, value.high) for name, value in self.values().items()
                if value.low < value.high}


def load_scenario(reference: str | Path, device: str | Path | None = None,
                  overrides: Iterable[str] = ()) -> Scenario:
    """Load and check a deployment.

    Args:
        reference: identifier, or path of a scenario file.
        device: identifier or path of a device to use in place of the scenario's.
        overrides: ``PATH=VALUE`` with PATH rooted at one of ``ROOTS``.

    Raises ParamsError, one sentence, for any input that cannot be used.
    """
    by_root = _overrides(overrides)
    path = catalogue.locate("scenarios", reference)
    own = by_root.pop("", {})
    if device:
        own["device"] = str(device)
    raw = yamlfile.read(path)
    for root in ("cluster", "parallelism", "workload"):
        own |= {f"{root}.{key}": value for key, value in by_root.get(root, {}).items()}
    file: schema.ScenarioFile = catalogue.load("scenarios", path, own)

    def entry(root: str) -> Any:
        where = f"--set {root}" if root in own else raw.where((root,))
        beside = None if root in own else path
        return _reference(where, getattr(file, root), _ENTRIES[root], beside, by_root.get(root))

    model, chosen, precision = entry("model"), entry("device"), entry("precision")
    if chosen.type == "host":
        raise ParamsError(f"{raw.where(('device',))}: '{chosen.id}' is a host processor, "
                          "expected an accelerator.")
    node = _reference(raw.where(("cluster", "node")), file.cluster.node, "nodes", path)
    measured = None
    if file.measured:
        measured = _reference(raw.where(("measured",)), file.measured, "measurements",
                              path)
    if file.documented and file.documented.model:
        _reference(raw.where(("documented", "model")), file.documented.model, "models",
                   path)
    for number, claim in enumerate(file.documented.claims if file.documented else ()):
        if claim.quantity not in catalogue.symbols():
            raise ParamsError(f"{raw.where(('documented', 'claims', number, 'quantity'))}: "
                              f"'{claim.quantity}' is not a quantity of params/symbols.yml.")
    scenario = Scenario(file, path, model, chosen, node, precision, measured)
    _check(scenario, raw)
    return scenario


def _reference(where: str, name: str, kind: str, beside: Path | None,
               overrides: dict[str, Any] | None = None) -> Any:
    """Load a named entry; a name that does not exist is told with where it is named."""
    try:
        catalogue.locate(kind, name, beside)
    except ParamsError as error:
        raise ParamsError(f"{where}: {error}") from None
    return catalogue.load(kind, name, overrides, beside)


def _overrides(settings: Iterable[str]) -> dict[str, dict[str, Any]]:
    """``PATH=VALUE`` texts by root; whole entries (``device=...``) under the empty root."""
    result: dict[str, dict[str, Any]] = {}
    for setting in settings:
        dotted, equals, text = setting.partition("=")
        root, _, rest = dotted.strip().partition(".")
        if not equals or root not in ROOTS or not text.strip():
            raise ParamsError(f"--set {setting}: expected PATH=VALUE with PATH rooted at one of "
                              f"{', '.join(ROOTS)}.")
        if not rest and root not in _ENTRIES:
            raise ParamsError(f"--set {setting}: '{root}' is a section, expected a key in it.")
        try:
            value = yaml.safe_load(text) if len(text) < 200 else text
        except yaml.YAMLError:
            value = text.strip()
        if isinstance(value, (dict, list)):
            raise ParamsError(f"--set {setting}: expected one value.")
        if not isinstance(value, (bool, int, float)):
            value = text.strip()
        if rest:
            result.setdefault(root, {})[rest] = value
        else:
            result.setdefault("", {})[root] = text.strip()
    return result


def _check(scenario: Scenario, raw: yamlfile.YamlFile) -> None:
    """Refuse a parallelism that cannot be laid out: it divides neither cards nor tensors."""
    numbers = scenario.inputs()
    tp, pp, dp, ep = (int(numbers[f"{name}_parallel"])
                      for name in ("tensor", "pipeline", "data", "expert"))

    def refuse(key: str, sentence: str) -> None:
        raise ParamsError(f"{raw.where(('parallelism', key))}: {sentence}.")

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
