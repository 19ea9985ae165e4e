"""A deployment, resolved: catalogue entries in place of names, and its inputs as plain numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from catalogue import library
from catalogue.deployments import family, layout
from catalogue.deployments.blocks import block_problem
from catalogue.deployments.documented import as_documented
from catalogue.deployments.physics_inputs import Knob, peak_problem, physics_inputs
from catalogue.deployments.physics_inputs import knobs as mechanisms
from catalogue.deployments.profiles import Running, named, underlaid
from catalogue.deployments.resolved import Resolved
from catalogue.entries.deployments import Documented, Precision, ScenarioFile
from catalogue.entries.hardware import Device
from catalogue.entries.models import GROUPS, Model
from catalogue.library import Override
from catalogue.reading import units, yamlfile
from catalogue.reading.errors import LayoutError, ParamsError
from catalogue.reading.shared import symbols
from catalogue.reading.values import Text, Value

ROOTS = ("model", "device", "engine", "cluster", "precision", "parallelism", "workload")
NAMES = ("model", "device", "engine", "precision")  # roots that are a name
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
# no formula's, or set by the physics
_NOT_INPUTS = ("requests", "draft_tokens", "accepted_length", "acceptance", "balancing",
               "length_distribution", "length_variation", "arrivals", "arrival_rate")
_DEVICE_INPUTS = ("memory_capacity", "system_reserve", "memory_bandwidth", "hbm_efficiency",
                  "runtime_reserve")


def model_inputs(model: Model) -> dict[str, int | float]:
    """A model's input symbols as plain numbers; what a kind of model lacks is 0.

    A model without experts is dense throughout: all its layers are leading dense layers. Without a
    window all its layers attend to the whole context; with one, those that are stated.
    """
    counts = {name: getattr(model, name) for name in MODEL_COUNTS}
    numbers = {name: value.value if value else 0 for name, value in counts.items()}
    if not model.is_moe:
        numbers["first_k_dense_replace"] = numbers["num_hidden_layers"]
    if model.sliding_window is None:
        numbers["full_attention_layers"] = numbers["num_hidden_layers"]
    numbers |= {name: int(getattr(model, name)) for name in _MODEL_SWITCHES}
    # a router that knows no groups picks the one that there is
    numbers |= {name: value.value if (value := getattr(model, name)) else 1 for name in GROUPS}
    numbers["separate_head"] = int(not model.tie_word_embeddings)
    return numbers


def precision_inputs(precision: Precision) -> dict[str, int | float]:
    """Bytes per element of every class of tensors, scales and zero points included [B]."""
    formats = {f"{name}_weight_bytes": stored for name, stored in dict(precision.weights).items()}
    formats |= {f"{name}_element_bytes": getattr(precision, name)
                for name in ("kv_cache", "kv_rope", "activation", "logit")}
    formats["kv_index_element_bytes"] = precision.kv_index or precision.kv_cache
    sizes = {stored: library.load("formats", stored).bytes_per_element
             for stored in dict.fromkeys(formats.values())}
    return {name: sizes[stored] for name, stored in formats.items()}


def device_inputs(device: Device) -> dict[str, int | float]:
    """A device's input symbols in SI units; what its own system keeps is 0 unless stated."""
    values = {name: getattr(device, name) for name in _DEVICE_INPUTS}
    return {name: value.value if value else 0 for name, value in values.items()}


@dataclass(frozen=True)
class Scenario(Resolved):
    """A deployment with everything it names, its layout and its inputs.

    Attributes:
        running: the engine that it names, in its release; None if it names none.
    """

    running: Running | None = None

    @property
    def engine(self) -> str | None:
        """The engine that it names with its release, ``vllm@0.11.0``; None if it names none."""
        return self.running.name if self.running else None

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
        cluster = self.file.cluster
        whole = cluster.nodes.value * self.node.devices_per_node.value
        return int(cluster.devices.value if cluster.devices else whole)

    def values(self) -> dict[str, Value]:
        """Inputs that carry a provenance of their own, by symbol."""
        fields = {name: getattr(self.model, name) for name in (*MODEL_COUNTS, *GROUPS)}
        fields |= {name: getattr(self.device, name) for name in _DEVICE_INPUTS}
        for part in (self.file.parallelism, self.file.workload):
            fields |= {name: getattr(part, name) for name in type(part).model_fields
                      if name not in _NOT_INPUTS}
        fields["accepted_length"] = self.file.workload.length_accepted
        return {name: value for name, value in fields.items() if value is not None}

    def inputs(self) -> dict[str, int | float]:
        """Every input symbol of the formulas with its SI number."""
        given = {name: value.value for part in (self.file.parallelism, self.file.workload)
                 for name in type(part).model_fields
                 if name not in _NOT_INPUTS and (value := getattr(part, name))}
        numbers = (model_inputs(self.model) | precision_inputs(self.precision)
                   | device_inputs(self.device) | physics_inputs(self) | given)
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
        return plain + mechanisms(self)


@dataclass(frozen=True)
class Family:
    """The deployments of one file, and what it says of all of them.

    Attributes:
        id: the file's name.
        title, note, section: of the file.
        deployments: one for a file without variants, else one per variant in their order.
        pools: those two of them that prefill and that decode for one deployment, both for the
            requests of the latter.
        documented: what a document prints of all of them together; None without variants.
    """

    id: str
    title: Text
    note: Text | None
    section: str | None
    deployments: tuple[Scenario, ...]
    pools: tuple[Scenario, Scenario] | None = None
    documented: Documented | None = None


def load_family(reference: str | Path, device: str | Path | None = None) -> Family:
    """Load and check a scenario file with all of its variants; see :func:`load_scenario`."""
    path, _ = family.find(reference)
    file = yamlfile.read(path)
    keys = family.keys(file)
    if not keys:
        single = load_scenario(path, device)
        return Family(single.id, single.title, single.file.note, single.file.section, (single,))
    whole = family.of_the_whole(file)
    engine = named(whole)
    shared: ScenarioFile = library.load("scenarios", path,
                                        file=underlaid(whole, engine) if engine else whole)
    _check_claims(shared, lambda *at: whole.where(at))
    of = {key: load_scenario(f"{path}{family.SEPARATOR}{key}", device) for key in keys}
    return Family(shared.id, shared.title, shared.note, shared.section, tuple(of.values()),
                  load_pools(path, device), shared.documented)


def load_pools(reference: str | Path, device: str | Path | None = None,
               overrides: Iterable[str] = ()) -> tuple[Scenario, Scenario] | None:
    """What ``catalogue.deployments.family.paired`` says of a file; None for one of its variants.

    Arguments as of :func:`load_scenario`; an override holds of both pools.
    """
    path, key = family.find(reference)
    settings = list(overrides)
    return None if key else family.paired(yamlfile.read(path), lambda name, lengths: load_scenario(
        f"{path}{family.SEPARATOR}{name}", device, [*settings, *lengths]))


def deployment_names() -> list[str]:
    """Identifiers of all deployments of ``params/scenarios/``, variants of a file each."""
    return [name for file in library.names("scenarios")
            for name in variants(file) or [file]]


def variants(reference: str | Path) -> list[str]:
    """References of the variants of a scenario file, for :func:`load_scenario`; none without.

    Of the catalogue they are identifiers, of a reader's file its path with the key.
    """
    path, key = family.find(reference)
    keys = [] if key else family.keys(yamlfile.read(path))
    own = path.parent != library.ROOT / "scenarios"
    return [f"{path}{family.SEPARATOR}{key}" if own else f"{path.stem}-{key}" for key in keys]


def load_scenario(reference: str | Path, device: str | Path | None = None,
                  overrides: Iterable[str] = (), documented: bool = False, cut: bool = True,
                  ) -> Scenario:
    """Load and check a deployment.

    Args:
        reference: identifier, or path of a scenario file; of a file with variants the first of
            them, ``PATH#KEY`` is another one.
        device: identifier or path of a device to use in place of the scenario's.
        overrides: ``PATH=VALUE`` with PATH rooted at one of ``ROOTS``.
        documented: take of the device what the scenario's document states of it.
        cut: whether to check that its parallelism divides cards and tensors.

    Raises ParamsError, one sentence, for any input that cannot be used, a LayoutError for what can
    be used, but not laid out together.
    """
    overridden = _overrides(overrides)
    path, key = family.find(reference)
    raw = library.read(path)
    known, whole = family.keys(raw), raw.data.get("title")
    if known or key:  # a key is refused where there are no variants
        raw = family.overlaid(raw, key or known[0])
    own = {key: value for key, value in overridden.items() if key.partition(".")[0] not in _ENTRIES
           or "." not in key} | ({"device": Override(str(device), "device")} if device else {})

    def where(*keys: str | int) -> str:
        """Origin of a key: an override's, or file and line."""
        override = own.get(".".join(map(str, keys)))
        return override.origin if override else raw.where(keys)

    engine = named(raw, own)
    file: ScenarioFile = library.load("scenarios", path, own,
                                      file=underlaid(raw, engine) if engine else raw)

    def entry(root: str) -> Any:
        inside = {key.partition(".")[2]: value for key, value in overridden.items()
                  if key.startswith(f"{root}.")}
        return library.load(_ENTRIES[root], getattr(file, root), inside, path)

    chosen = entry("device")
    _check_card(chosen, where)
    if documented:
        if file.document is None:
            raise ParamsError(f"{where('title')}: '{file.id}' is in none of the documents, there "
                              "is nothing to take from one.")
        chosen = as_documented(chosen, file.document, file.section)
    scenario = Scenario(
        file, path, entry("model"), chosen,
        library.load("nodes", file.cluster.node, beside=path), entry("precision"),
        library.load("measurements", file.measured, beside=path) if file.measured else None)
    scenario = replace(scenario, host=_host(scenario, where), family=whole if known else None,
                       running=engine, given=engine.mechanisms if engine else {})
    _check_claims(file, where)
    _check_hardware(scenario, where)
    if cut:
        _check_layout(scenario, where)
    return scenario


def _host(scenario: Scenario, where: Callable[..., str]) -> Device | None:
    """The processor of the node; of an offload, the one that it names or the node's.

    Refuses an offload that has no processor to run on, or more of them than the nodes have.
    """
    offload, node = scenario.file.offload, scenario.node
    chosen = (offload.host if offload else None) or node.host
    if chosen is None:
        if offload:
            raise ParamsError(f"{where('offload')}: neither the offload nor the node '{node.id}' "
                              "names a host processor to compute on.")
        return None
    host: Device = library.load("devices", chosen, beside=scenario.path)
    if host.type != "host":
        raise ParamsError(f"{where('offload', 'host')}: '{host.id}' is an accelerator, expected a "
                          "host processor.")
    if offload and not scenario.model.is_moe:
        raise ParamsError(f"{where('offload')}: '{scenario.model.id}' has no experts to offload.")
    if offload and offload.host is None and node.hosts_per_node:
        most = node.hosts_per_node.value * scenario.file.cluster.nodes.value
        if offload.hosts.value > most:
            raise ParamsError(f"{where('offload', 'hosts')}: {offload.hosts.value} processors, but "
                              f"the cluster has {most}.")
    return host


def _overrides(settings: Iterable[str]) -> dict[str, Override]:
    """``PATH=VALUE`` texts by their dotted path."""
    result: dict[str, Override] = {}
    for setting in settings:
        dotted, equals, text = (part.strip() for part in setting.partition("="))
        root, _, rest = dotted.partition(".")
        if not equals or root not in ROOTS or not text:
            raise ParamsError(f"--set {setting}: expected PATH=VALUE with PATH rooted at one of "
                              f"{', '.join(ROOTS)}.")
        if not rest and root not in NAMES:
            raise ParamsError(f"--set {setting}: '{root}' is a section, expected a key in it.")
        try:
            value = yamlfile.scalar(text) if rest else text
        except ValueError as error:
            raise ParamsError(f"--set {dotted}: {error}.") from None
        result[dotted] = Override(value, f"--set {dotted}")
    return result


def _check_card(device: Device, where: Callable[..., str]) -> None:
    """Refuse what is no card that software sees."""
    if device.type == "host":
        raise ParamsError(f"{where('device')}: '{device.id}' is a host processor, "
                          "expected an accelerator.")
    if device.dies:
        raise ParamsError(f"{where('device')}: '{device.id}' is a package that software sees as "
                          f"{device.dies.value} devices, expected '{device.die}'.")


def _check_claims(file: ScenarioFile, where: Callable[..., str]) -> None:
    """Refuse a claim about an unknown quantity, in another unit, or with a formula that fails."""
    known = symbols()
    for number, claim in enumerate(file.documented.claims if file.documented else ()):
        at = ("documented", "claims", number)
        if claim.quantity not in known:
            raise ParamsError(f"{where(*at, 'quantity')}: '{claim.quantity}' is not a quantity of "
                              "params/symbols.yml.")
        expected = known[claim.quantity].unit
        if units.uncounted(units.dimensions(claim.value.unit)) != units.uncounted(
                units.dimensions(expected)):
            raise ParamsError(f"{where(*at, 'value')}: '{claim.value.written}' has the wrong unit "
                              f"for '{claim.quantity}', expected a quantity in {expected}.")
        try:
            file.documented.recomputed(claim)  # type: ignore[union-attr]
        except ValueError as error:
            raise ParamsError(f"{where(*at, 'formula')}: {error}.") from None


def _check_layout(scenario: Scenario, where: Callable[..., str]) -> None:
    """Refuse a parallelism that cannot be laid out: it divides neither cards nor tensors."""
    numbers = scenario.inputs()
    tp, pp, dp, ep = (int(numbers[f"{name}_parallel"])
                      for name in ("tensor", "pipeline", "data", "expert"))

    if tp * pp * dp != scenario.devices:
        raise LayoutError(f"{where('parallelism', 'tensor_parallel')}: tensor x pipeline x data "
                          f"parallel = {tp} x {pp} x {dp} = {tp * pp * dp} devices, but the "
                          f"cluster has {scenario.devices}.")
    model, cut = (numbers, scenario.model.attention, scenario.model.id), (tp, pp, dp, ep)
    if found := (layout.cut_problem(*model, cut)
                 or block_problem(*model, scenario.precision, cut)):
        raise LayoutError(f"{where('parallelism', found[0])}: {found[1]}.")
    if problem := layout.context_problem(*model, tp, int(numbers["decode_context_parallel"])):
        raise LayoutError(f"{where('parallelism', 'decode_context_parallel')}: {problem}.")


def _check_hardware(scenario: Scenario, where: Callable[..., str]) -> None:
    """Refuse links that do not reach, peaks that are missing, and mechanisms that are misused."""
    inside = library.load("links", scenario.node.device_link)
    if problem := layout.link_problem(scenario.node, inside):
        raise LayoutError(f"{where('cluster', 'node')}: {problem}.")
    if missing := peak_problem(scenario):
        raise LayoutError(f"{where(missing[0])}: {missing[1]}.")
    for name, problem in layout.mechanism_problems(scenario.file.mechanisms):
        raise ParamsError(f"{where('mechanisms', name)}: {problem}.")
