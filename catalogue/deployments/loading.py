"""A deployment is read: its file, a variant of it, or a text, checked against the catalogue."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from catalogue import library, naming
from catalogue.deployments import family, layout
from catalogue.deployments.admission import LAID_OUT, cut_of, problems, subject_of
from catalogue.deployments.documented import as_documented
from catalogue.deployments.physics_inputs import drafter_problem, peak_problem
from catalogue.deployments.profiles import launched, refuse_host, running_engine, underlaid
from catalogue.deployments.scenario import Scenario
from catalogue.entries.deployments import Documented, ScenarioFile
from catalogue.entries.formulas import symbols
from catalogue.entries.hardware import Device
from catalogue.library import Override
from catalogue.reading import units, yamlfile
from catalogue.reading.errors import LayoutError, ParamsError
from catalogue.reading.values import Text
from catalogue.reading.yamlfile import YamlFile

SHORT = {"tp": "parallelism.tensor_parallel", "pp": "parallelism.pipeline_parallel",
         "dp": "parallelism.data_parallel", "ep": "parallelism.expert_parallel"}
"""How engines abbreviate a degree -> its path."""
DEALT_PROMPTS = "prefill_context_parallel"
ROOTS = ("model", "device", "engine", "cluster", "precision", "parallelism", "workload", "limits",
         "mechanisms")
NAMES = ("model", "device", "engine", "precision")  # roots that are a name
_ENTRIES = {"model": "models", "device": "devices", "precision": "precisions"}


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


class Listed(NamedTuple):
    """What lists say of a deployment: its file, titles and names as pages show them, its devices
    [1]."""

    file: str
    title: Text
    model: Text
    precision: Text
    devices: int


def load_family(reference: str | Path, device: str | Path | None = None) -> Family:
    """Load and check a scenario file with all of its variants; see :func:`load_scenario`."""
    path, _ = family.find(reference)
    return _family(path, device) if device else yamlfile.remembered(
        f"family {path}", path.absolute(), lambda: _family(path))


def _family(path: Path, device: str | Path | None = None) -> Family:
    file = yamlfile.read(path)
    keys = family.keys(file)
    if not keys:
        single = load_scenario(path, device)
        return Family(single.id, single.title, single.file.note, single.file.section, (single,))
    whole = family.of_the_whole(file)
    engine = running_engine(whole)
    shared: ScenarioFile = library.load("scenarios", path,
                                        file=underlaid(whole, engine) if engine else whole)
    _check_claims(shared, lambda *at: whole.where(at))
    of = {key: load_scenario(f"{path}{family.SEPARATOR}{key}", device) for key in keys}
    return Family(shared.id, shared.title, shared.note, shared.section, tuple(of.values()),
                  load_pools(path, device), shared.documented)


def load_pools(reference: str | Path, device: str | Path | None = None,
               overrides: Iterable[str] = (), documented: bool = False
               ) -> tuple[Scenario, Scenario] | None:
    """What ``catalogue.deployments.family.paired`` says of a file; None for one of its variants.

    Arguments as of :func:`load_scenario`; an override holds of both pools.
    """
    path, key = family.find(reference)
    settings = list(overrides)
    return None if key else family.paired(yamlfile.read(path), lambda name, lengths: load_scenario(
        f"{path}{family.SEPARATOR}{name}", device, [*settings, *lengths], documented))


def load_deployment(reference: str | Path, device: str | Path | None = None,
                    overrides: Iterable[str] = (), documented: bool = False
                    ) -> tuple[Scenario, ...]:
    """A deployment whole: its one pool, or the two that prefill and decode for it.

    Arguments and errors as of :func:`load_scenario`; an override holds of both pools.
    """
    settings = list(overrides)
    return (load_pools(reference, device, settings, documented)
            or (load_scenario(reference, device, settings, documented),))


def deployment_names() -> list[str]:
    """Identifiers of all deployments of ``params/scenarios/``, variants of a file each."""
    return [name for file in library.names("scenarios")
            for name in variants(file) or [file]]


def devices_named(file: str) -> set[str]:
    """Identifiers of the devices that a file of ``params/scenarios/`` names."""
    return {naming.locate("devices", str(name), naming.file_of("scenarios", file)).stem
            for name in stated(file, "device")}


def listed(file: str, device: str) -> Listed | None:
    """What a list says of the first deployment of a file of ``params/scenarios/`` that is on a
    device; None where none is."""
    found = load_family(file)
    one = next((each for each in found.deployments if each.device.id == device), None)
    return None if one is None else Listed(found.id, found.title, one.model.name,
                                           one.precision.name, one.devices)


def stated(reference: str, key: str) -> list[Any]:
    """Values of a key in the file of a deployment, at any depth."""
    def below(data: Any) -> Iterator[Any]:
        if isinstance(data, dict):
            yield from (value for name, value in data.items() if name == key)
        for part in data.values() if isinstance(data, dict) else data:
            if isinstance(part, (dict, list)):
                yield from below(part)

    return list(below(yamlfile.read(family.find(reference)[0]).data))


def variants(reference: str | Path) -> list[str]:
    """References of the variants of a scenario file, for :func:`load_scenario`; none without.

    Of the catalogue they are identifiers, of a reader's file its path with the key.
    """
    path, key = family.find(reference)
    keys = [] if key else family.keys(yamlfile.read(path))
    own = path.parent != naming.ROOT / "scenarios"
    return [f"{path}{family.SEPARATOR}{key}" if own else f"{path.stem}-{key}" for key in keys]


def load_scenario(reference: str | Path, device: str | Path | None = None,
                  overrides: Iterable[str] = (), documented: bool = False, cut: bool = True,
                  ) -> Scenario:
    """Load and check a deployment.

    Args:
        reference: identifier, or path of a scenario file; of a file with variants the first of
            them, ``PATH#KEY`` is another one. One with two pools is :func:`load_deployment`'s.
        device: identifier or path of a device to use in place of the scenario's.
        overrides: ``PATH=VALUE`` with PATH rooted at one of ``ROOTS``.
        documented: take of the device what the scenario's document states of it.
        cut: whether to check that its parallelism divides cards and tensors.

    Raises ParamsError, one sentence, for any input that cannot be used, a LayoutError for what can
    be used, but not laid out together.
    """
    overridden = _overrides(overrides)
    if device:
        overridden["device"] = Override(str(device), "device")
    path, key = family.find(reference)
    if overridden or documented or not cut:
        return _scenario(path, key, reference, overridden, documented, cut)
    return yamlfile.remembered(f"scenario {path}#{key}", path.absolute(),
                               lambda: _scenario(path, key, reference, {}))


def _scenario(path: Path, key: str | None, reference: str | Path,
              overridden: dict[str, Override], documented: bool = False, cut: bool = True
              ) -> Scenario:
    """A deployment of a file; arguments as of :func:`_resolved`."""
    raw = library.read(path)
    if "demand" in raw.data and "workload" not in raw.data:
        raise ParamsError(f"{raw.where(('demand',))}: this is a goal, expected a scenario; the "
                          f"deployments that meet a goal are found by: search {path}.")
    known = family.keys(raw)
    whole = family.title(raw) if known else None
    if "pools" in raw.data and not key:
        one, two = (f"{reference}{family.SEPARATOR}{pool}" for pool in raw.data["pools"])
        raise ParamsError(f"{raw.where(('pools',))}: pools: this is a deployment of two pools, "
                          f"expected one of them, {one} or {two}.")
    if known or key:  # a key is refused where there are no variants
        raw = family.overlaid(raw, key or known[0])
    return _resolved(path, raw, overridden, whole, documented, cut)


def read_scenario(text: str, path: Path) -> Scenario:
    """A deployment out of a text, checked as if it stood in a file.

    Args:
        text: what would stand there, YAML.
        path: where it would stand; its name is the deployment's.

    Raises ParamsError, one sentence, for any input that cannot be used.
    """
    return _resolved(path, yamlfile.parse(path, text.encode()), {}, None)


def made_scenario(data: dict[str, Any], path: Path) -> Scenario:
    """A deployment out of plain data, checked as if a file held them.

    Args:
        data: what would stand there, as a text of it is read; nobody changes them.
        path: where it would stand; its name is the deployment's.

    Raises ParamsError, one sentence, for any input that cannot be used.
    """
    return _resolved(path, YamlFile(path, data, {}), {}, None)


def overridden_scenario(file: YamlFile, overrides: dict[str, Override]) -> Scenario:
    """A deployment out of a parsed file with settings in place of the file's.

    Args:
        file: of the deployment.
        overrides: values by dotted path, each with its origin for error messages.

    Raises ParamsError, one sentence, for any input that cannot be used.
    """
    return _resolved(file.path, file, overrides, None)


def _resolved(path: Path, raw: YamlFile, overridden: dict[str, Override], whole: Any,
              documented: bool = False, cut: bool = True) -> Scenario:
    """A deployment, checked: its entries in place of the names.

    Args:
        path: of its file.
        raw: what stands there of it.
        overridden: values by dotted key.
        whole: title of the family that it is a variant of, if it is.
        documented: take of the device what the scenario's document states of it.
        cut: whether to check that its parallelism divides cards and tensors.
    """
    own = {key: value for key, value in overridden.items() if key.partition(".")[0] not in _ENTRIES
           or "." not in key}

    def where(*keys: str | int) -> str:
        """Origin of a key: an override's, or file and line."""
        override = own.get(".".join(map(str, keys)))
        return override.origin if override else raw.where(keys)

    engine = running_engine(raw, own)
    file: ScenarioFile = library.load("scenarios", path, own,
                                      file=underlaid(raw, engine) if engine else raw)
    stated = {*(raw.data.get("workload") or {}), *(
        key.removeprefix("workload.") for key in own if key.startswith("workload."))}
    if engine is not None:
        file = launched(file, engine, stated, where)

    def entry(root: str) -> Any:
        inside = {key.partition(".")[2]: value for key, value in overridden.items()
                  if key.startswith(f"{root}.")}
        return library.load(_ENTRIES[root], getattr(file, root), inside, path)

    chosen = entry("device")
    refuse_host(chosen, where("device"))
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
        library.load("nodes", file.cluster.node, beside=path), entry("precision"),
        library.load("measurements", file.measured, beside=path) if file.measured else None)
    scenario = replace(scenario, host=_host(scenario, where), family=whole,
                       running=engine, by_engine=engine.mechanisms if engine else {},
                       stated_workload=frozenset(stated))
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
    sections = _sections()
    for setting in settings:
        dotted, equals, text = (part.strip() for part in setting.partition("="))
        root, _, rest = dotted.partition(".")
        if not equals or root not in ROOTS or not text:
            plain = unicodedata.normalize("NFKC", setting).replace(":=", "=")
            meant, _, number = (part.strip() for part in plain.partition("="))
            meant = SHORT.get(meant.lower(), _rooted(meant))
            near = f", such as {meant}={number}" if meant and number else ""
            raise ParamsError(f"--set {setting}: expected PATH=VALUE with PATH rooted at one of "
                              f"{', '.join(ROOTS)}{near}.")
        if not rest and root not in NAMES:
            raise ParamsError(f"--set {setting}: '{root}' is a section, expected a key in it.")
        other = next((name for name, keys in sections.items() if rest in keys), None)
        if other and root in sections and rest not in sections[root]:
            raise ParamsError(f"--set {setting}: '{root}' has no '{rest}', expected "
                              f"{other}.{rest}={text}.")
        try:
            value = yamlfile.scalar(text) if rest else text
        except ValueError as error:
            raise ParamsError(f"--set {dotted}: {error}.") from None
        result[dotted] = Override(value, f"--set {dotted}")
    return result


def _rooted(name: str) -> str:
    """A key with its section, as it stands or the nearest there is; nothing for one unlike all."""
    if name.partition(".")[0] in ROOTS:
        return name
    known = {key: f"{root}.{key}" for root, keys in _sections().items() for key in keys}
    near = difflib.get_close_matches(name, known, n=1)
    return known[near[0]] if near else ""


@cache
def _sections() -> dict[str, Collection[str]]:
    """The keys of each section."""
    return {"mechanisms": layout.mechanism_units(), **{
        root: library.fields_at(ScenarioFile, (root,))
        for root in ("limits", "cluster", "parallelism", "workload")}}


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
    cut = cut_of(scenario)
    tp, pp, dp, _ = cut.degrees
    if tp * pp * dp != scenario.devices:
        raise LayoutError(f"{where('parallelism', 'tensor_parallel')}: tensor x pipeline x data "
                          f"parallel = {tp} x {pp} x {dp} = {tp * pp * dp} devices, but the "
                          f"cluster has {scenario.devices}.")
    for problem in problems(subject_of(scenario), cut, LAID_OUT):
        raise LayoutError(f"{where('parallelism', problem.key)}: {problem.text['en']}.")


def _check_host_cache(scenario: Scenario, where: Callable[..., str]) -> None:
    """Refuse a cache in host memory that its servers do not have room for, or that nobody fills."""
    stated, memory = scenario.file.workload.host_cache, scenario.node.host_memory
    own = scenario.mechanisms
    if stated and stated.value:
        at = where("workload", "host_cache")
        if memory is None:
            raise ParamsError(f"{at}: nobody says how much memory a server '{scenario.node.id}' "
                              "has, expected a node with 'host_memory'.")
        if stated.value > memory.value:
            raise ParamsError(f"{at}: '{stated.written}' is more than the {memory.written} of a "
                              f"server '{scenario.node.id}'.")
        if (apart := own.get("separate_pools")) and apart.value:
            raise ParamsError(f"{at}: a pool that only decodes finds no prompts in a cache, "
                              "expected it with the pool that prefills.")
    shares = [float(own[name].value) if name in own else 0.0
              for name in ("host_prefix_share", "prefix_hit_share")]
    if shares[0] > shares[1]:
        raise ParamsError(f"{where('mechanisms', 'host_prefix_share')}: {shares[0]:g} of a prompt "
                          f"in host memory is more than the {shares[1]:g} of it that is cached.")


def _check_hardware(scenario: Scenario, where: Callable[..., str]) -> None:
    """Refuse links that do not reach, peaks that are missing, and mechanisms that are misused."""
    inside = library.load("links", scenario.node.device_link)
    if problem := layout.link_problem(scenario.node, inside):
        raise LayoutError(f"{where('cluster', 'node')}: {problem}.")
    if unknown := drafter_problem(scenario):
        raise ParamsError(f"{where('workload', 'draft_method')}: {unknown}.")
    if missing := peak_problem(scenario):
        raise LayoutError(f"{where(missing[0])}: {missing[1]}.")
    for name, problem in layout.mechanism_problems(scenario.file.mechanisms):
        raise ParamsError(f"{where('mechanisms', name)}: {problem}.")
    _check_host_cache(scenario, where)
    stated, its = scenario.file.mechanisms.get(DEALT_PROMPTS), scenario.model
    if stated and stated.value and (its.index_topk is None or its.linear_layers):
        raise LayoutError(
            f"{where('mechanisms', DEALT_PROMPTS)}: '{its.id}' has no indexer or has linear "
            "attention, prompts are dealt over ranks for sparse attention alone, expected 0.")
