"""Load deployments: a file, a variant of it, or a text, checked against the catalogue.

``variants`` holds what differs by key, groups merged key by key, a value replaced whole. What a
document prints of one deployment is not true of another: claims, measurements and the note at the
top of the file speak of the family as a whole and are not inherited, the document's inputs are.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from catalogue import library
from catalogue.deployments import physics_inputs
from catalogue.deployments.admission import LAID_OUT, cut_of, problems, subject_of
from catalogue.deployments.cuts import DEALT, DIVISION, SYMBOLS, Cut, Subject
from catalogue.deployments.physics_inputs import drafter_problem, peak_problem
from catalogue.deployments.profiles import (
    Running,
    launched,
    refuse_host,
    running_engine,
    underlaid,
)
from catalogue.deployments.scenario import Scenario, model_inputs
from catalogue.entries.deployments import (
    Cluster,
    Documented,
    Parallelism,
    ScenarioFile,
    usual_block,
    usual_value,
)
from catalogue.entries.hardware import Device, Node
from catalogue.entries.models import Model
from catalogue.library import Override
from catalogue.reading import yamlfile
from catalogue.reading.files import LayoutError, Mistakes, ParamsError
from catalogue.reading.near import nearest_names
from catalogue.reading.synonyms import POOLS, key_meant
from catalogue.reading.values import Text, both_languages, is_path
from catalogue.reading.yamlfile import KeyPath, YamlFile

SEPARATOR = "#"  # between the path of a family's file and the key of one of its variants
OF_THE_WHOLE = ("variants", "pools", "measured", "note")
_KEY = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*")


def find_scenario(reference: str | Path) -> tuple[Path, str | None]:
    """The file of a deployment, and the key of its variant if the reference names one.

    ``s1-scale-48`` is variant ``48`` of ``s1-scale``, unless a file has that name; ``mine.yml#48``
    one of a file of the reader's own.

    Raises ParamsError as ``catalogue.locate`` does.
    """
    if not isinstance(reference, (str, Path)):
        raise ParamsError(f"scenario: expected a name or a path, found {type(reference).__name__}; "
                          "estimate(model=…, card=…) takes plain values, made_scenario(data, path) "
                          "the contents of a file.")
    text = str(reference).strip()
    stem, separator, key = text.rpartition(SEPARATOR)
    if separator:
        return library.locate("scenarios", stem), key
    return _variant(text) or (library.locate("scenarios", text), None)


def describes(name: str) -> bool:
    """Whether a deployment, or a variant of a family of them, has this identifier; no file of
    another name is read."""
    return library.stands("scenarios", name) or _variant(name) is not None


def _variant(text: str) -> tuple[Path, str] | None:
    """The family's file and the key of a variant, if an identifier is that of one."""
    if is_path(text) or library.stands("scenarios", text):
        return None
    parts = text.split("-")
    for count in range(len(parts) - 1, 0, -1):
        stem, key = "-".join(parts[:count]), "-".join(parts[count:])
        if library.stands("scenarios", stem):
            path = library.locate("scenarios", stem)
            if key in variant_keys(library.read(path)):
                return path, key
    return None


def variant_keys(file: YamlFile) -> list[str]:
    """Keys of a file's variants in its order; none if it describes one deployment.

    Raises ParamsError, one sentence, for variants that are not groups.
    """
    variants = file.data.get("variants")
    if variants is None:
        return []
    where = file.where(("variants",))
    if not isinstance(variants, dict) or not variants:
        raise ParamsError(f"{where}: variants: expected a group of keys, one per deployment.")
    for key, own in variants.items():
        where = file.where(("variants", key))
        if not _KEY.fullmatch(key):
            raise ParamsError(f"{where}: variants: '{key[:40]}' is not a key, expected small "
                              "letters and digits, joined by '-' or '.'.")
        if not isinstance(own, dict):
            raise ParamsError(f"{where}: variants.{key}: expected a group of keys.")
    return list(variants)


def pool_names(file: YamlFile) -> list[str]:
    """Variants of a file that are the prefill and the decode pool; none where it has no pools.

    Raises ParamsError, one sentence, for pools that are not two of the variants.
    """
    variants, pools = variant_keys(file), file.data.get("pools")
    if pools is None or (variants and isinstance(pools, list) and len(pools) == len(POOLS)
                         and all(isinstance(pool, str) and pool in variants for pool in pools)):
        return pools or []
    where = file.where(("pools",))
    if not variants:
        raise ParamsError(f"{where}: pools: there are no variants to be pools.")
    raise ParamsError(f"{where}: pools: expected two of the variants {', '.join(variants)}, the "
                      "prefill pool first.")


def overlaid(file: YamlFile, key: str) -> YamlFile:
    """The file of one variant, every key with the line that it comes from.

    Raises ParamsError for a key that the file does not have.
    """
    variants = variant_keys(file)
    if key not in variants:
        raise ParamsError(f"{file.where(('variants',))}: there is no variant '{key[:40]}', "
                          + (f"expected one of {', '.join(variants)}." if variants
                             else "the file describes one deployment."))
    base = {name: raw for name, raw in file.data.items() if name not in OF_THE_WHOLE}
    if isinstance(base.get("documented"), dict):
        base["documented"] = {name: raw for name, raw in base["documented"].items()
                              if name != "claims"}
    data = library.over(base, {"title": key} | file.data["variants"][key])
    at: KeyPath = ("variants", key)
    lines = file.lines | {keys[len(at):]: line for keys, line in file.lines.items()
                          if keys[:len(at)] == at and len(keys) > len(at)}
    return YamlFile(file.path, data | {"id": f"{file.path.stem}-{key}"}, lines,
                    mistakes=file.mistakes)


def of_the_whole(file: YamlFile) -> YamlFile:
    """What a family's file says of all its deployments, laid over its first variant."""
    first = overlaid(file, variant_keys(file)[0])
    own: dict[str, Any] = {"title": file.path.stem} | {name: file.data[name] for name in (
        "title", "note", "section", "documented") if name in file.data}
    data = {name: raw for name, raw in first.data.items() if name != "note"} | own
    lines = first.lines | {keys: line for keys, line in file.lines.items()
                           if keys and keys[0] in own}
    return YamlFile(file.path, data | {"id": file.path.stem}, lines,
                    mistakes=file.mistakes)


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


def load_family(reference: str | Path, device: str | Path | None = None) -> Family:
    """Load and check a scenario file with all of its variants; see :func:`load_scenario`."""
    path, _ = find_scenario(reference)
    return _family(path, device) if device else yamlfile.remembered(
        f"family {path}", path.absolute(), lambda: _family(path))


def _family(path: Path, device: str | Path | None = None) -> Family:
    file = yamlfile.read(path, as_meant=True)
    keys = variant_keys(file)
    mistakes, of = Mistakes(), dict[str, Scenario]()
    with mistakes:
        pool_names(file)
    if not keys:
        mistakes.report()
        single = load_scenario(path, device)
        return Family(single.id, single.title, single.file.note, single.file.section, (single,))
    base = of_the_whole(file)
    with mistakes:
        engine = running_engine(base)
        shared: ScenarioFile = library.load("scenarios", path,
                                            file=underlaid(base, engine) if engine else base)
    for key in keys:
        with mistakes:
            of[key] = load_scenario(f"{path}{SEPARATOR}{key}", device)
    mistakes.report()
    return Family(shared.id, shared.title, shared.note, shared.section, tuple(of.values()),
                  load_pools(path, device), shared.documented)


def load_pools(reference: str | Path | YamlFile, device: str | Path | None = None,
               overrides: Iterable[str] = ()) -> tuple[Scenario, Scenario] | None:
    """The prefill and the decode pool that a file names, for the requests of the one that decodes.

    Arguments as of :func:`load_scenario`; an override holds of both pools. None for a file without
    pools, and for one variant of it.

    Raises ParamsError, one sentence, for pools of two models, and for requests without a length.
    """
    if isinstance(reference, YamlFile):
        return None
    path, key = find_scenario(reference)
    file, settings, mistakes = library.read(path), list(overrides), Mistakes()
    names: list[str] = []
    with mistakes:
        names = pool_names(file)
    if key or not (names or mistakes):
        return None

    def load(name: str, *lengths: str) -> Scenario:
        return load_scenario(f"{path}{SEPARATOR}{name}", device, [*settings, *lengths])

    where, loaded = file.where(("pools",)), []
    for name in names or variant_keys(file):
        with mistakes:
            loaded.append(load(name))
    mistakes.report()
    prefill, decode = loaded
    if prefill.model.id != decode.model.id:
        raise ParamsError(f"{where}: pools: '{names[0]}' serves '{prefill.model.id}' and "
                          f"'{names[1]}' serves '{decode.model.id}', expected one model.")
    workload = decode.file.workload
    if workload.input_tokens is None or workload.output_tokens is None:
        raise ParamsError(f"{where}: pools: '{names[1]}' does not say how long its requests are, "
                          "expected workload.input_tokens and workload.output_tokens.")
    input_tokens, own = workload.input_tokens.value, prefill.file.workload.input_tokens
    if own is None or own.value != input_tokens:
        prefill = load(names[0], f"workload.input_tokens={int(input_tokens)} token",
                       "workload.output_tokens=1 token")
    return prefill, decode


def load_deployment(reference: str | Path | YamlFile, overrides: Iterable[str] = ()
                    ) -> tuple[Scenario, ...]:
    """A deployment whole: its one pool, or the two that prefill and decode for it.

    Arguments and errors as of :func:`load_scenario`; an override holds of both pools.
    """
    settings = list(overrides)
    return load_pools(reference, overrides=settings) or (
        load_scenario(reference, overrides=settings),)


def deployment_names() -> list[str]:
    """Identifiers of all deployments of ``params/scenarios/``, variants of a file each."""
    return [name for file in library.names("scenarios")
            for name in variants(file) or [file]]


def variants(reference: str | Path) -> list[str]:
    """References of the variants of a scenario file, for :func:`load_scenario`; none without.

    Of the catalogue they are identifiers, of a reader's file its path with the key.
    """
    path, key = find_scenario(reference)
    keys = [] if key else variant_keys(library.read(path))
    own = path.parent != library.ROOT / "scenarios"
    return [f"{path}{SEPARATOR}{key}" if own else f"{path.stem}-{key}" for key in keys]


def load_scenario(reference: str | Path | YamlFile, device: str | Path | None = None,
                  overrides: Iterable[str] = (), cut: bool = True) -> Scenario:
    """Load and check a deployment.

    Args:
        reference: identifier, or path of a scenario file; of a file with variants the first of
            them, ``PATH#KEY`` is another one. One with two pools is :func:`load_deployment`'s.
            Contents that are in no file: a ``YamlFile`` of one deployment.
        device: identifier or path of a device to use in place of the scenario's.
        overrides: ``PATH=VALUE`` with PATH rooted at one of ``ROOTS``.
        cut: whether to check that its parallelism divides cards and tensors.

    Raises ParamsError, one sentence, for any input that cannot be used, a LayoutError for what can
    be used, but not laid out together.
    """
    overridden = overrides_by_path(overrides)
    if device:
        overridden["device"] = Override(str(device), "device")
    if isinstance(reference, YamlFile):
        return overridden_scenario(reference, overridden, cut=cut)
    path, key = find_scenario(reference)

    def load() -> Scenario:
        raw = library.read(path)
        variants = variant_keys(raw)
        if not key and (pools := pool_names(raw)):
            one, two = (f"{reference}{SEPARATOR}{pool}" for pool in pools)
            raise ParamsError(f"{raw.where(('pools',))}: pools: the deployment has two pools, name "
                              f"one: {one} or {two}; only estimate, simulate, cost, deploy and "
                              "report take both.")
        if not variants and not key:
            return overridden_scenario(raw, overridden, cut=cut)
        variant = overlaid(raw, key or variants[0])  # a key is refused where there are no variants
        try:
            title = both_languages(raw.data.get("title", raw.path.stem))
        except ValueError as error:
            raise ParamsError(f"{raw.where(('title',))}: title: {error}.") from None
        return overridden_scenario(variant, overridden, title, cut)

    return load() if overridden or not cut else yamlfile.remembered(
        f"scenario {path}#{key}", path.absolute(), load)


def made_scenario(data: dict[str, Any], path: Path) -> Scenario:
    """A deployment out of plain data, checked as if a file held them.

    Args:
        data: what would stand there, as a text of it is read; nobody changes them.
        path: where it would stand; its name is the deployment's.

    Raises ParamsError, one sentence, for any input that cannot be used.
    """
    return overridden_scenario(YamlFile(path, data, {}), {})


def overridden_scenario(raw: YamlFile, overrides: dict[str, Override],
                        family: Text | None = None, cut: bool = True) -> Scenario:
    """A deployment out of a parsed file, checked: its entries in place of the names.

    Args:
        raw: its file.
        overrides: values by dotted path, each with its origin for error messages.
        family: title of the family that it is a variant of, if it is.
        cut: whether to check that its parallelism divides cards and tensors.

    Raises ParamsError, one sentence, for any input that cannot be used.
    """
    path = raw.path
    own = {key: value for key, value in overrides.items() if key.partition(".")[0] not in _ENTRIES
           or "." not in key}

    def where(*keys: str | int) -> str:
        """Origin of a key: an override's, or file and line."""
        override = own.get(".".join(map(str, keys)))
        return override.origin if override else raw.where(keys)

    file, engine = _checked(raw, own)
    stated = {*(raw.data.get("workload") or {}), *(
        key.removeprefix("workload.") for key in own if key.startswith("workload."))}
    if engine is not None:
        file = launched(file, engine, stated, where)

    mistakes, entries = Mistakes(), dict[str, Any]()
    for root, kind in _ENTRIES.items():
        inside = {key.partition(".")[2]: value for key, value in overrides.items()
                  if key.startswith(f"{root}.")}
        with mistakes:
            entries[root] = library.load(kind, getattr(file, root), inside, path)
    mistakes.report()
    chosen = entries["device"]
    refuse_host(chosen, where("device"))
    if chosen.dies:
        raise ParamsError(f"{where('device')}: '{chosen.id}' is a package that software sees as "
                          f"{chosen.dies.value} devices, expected '{chosen.die}'.")
    file, node = _completed(file, chosen, entries["model"], where)
    scenario = Scenario(
        file, path, **entries, node=node,
        measured=(library.load("measurements", file.measured, beside=path) if file.measured
                  else None),
        family=family, by_engine=engine.mechanisms if engine else {}, running=engine,
        stated_workload=frozenset(stated))
    with mistakes:
        scenario = replace(scenario, host=host_of(scenario, where))
    with mistakes:
        check_hardware(scenario, where)
    with mistakes:
        if cut:
            check_layout(scenario, where)
    mistakes.report()
    return scenario


def _checked(raw: YamlFile, given: dict[str, Override]) -> tuple[ScenarioFile, Running | None]:
    """A deployment's file over the defaults of its engine, and that engine if it names one.

    Raises ParamsError with all mistakes of the file, of its engine and of files that it names.
    """
    mistakes, engine = Mistakes(), None
    with mistakes:
        engine = running_engine(raw, given)
    with mistakes:
        file: ScenarioFile = library.load("scenarios", raw.path, given,
                                          file=underlaid(raw, engine) if engine else raw)
    if mistakes:
        with mistakes:
            meant = library.as_meant("scenarios", raw, given)
            with mistakes:
                running_engine(meant, given)
            with mistakes:
                check_mechanisms_of(meant)
            if not given:
                check_layout_of(meant)
            for key in variant_keys(meant):
                with mistakes:
                    _checked(overlaid(meant, key), given)
    mistakes.report()
    return file, engine


def _completed(file: ScenarioFile, device: Device, model: Model, where: Callable[..., str]
               ) -> tuple[ScenarioFile, Node]:
    """A deployment with the servers that it states, or as many as it needs of those of its card,
    and with the blocks that are usual on the card where nothing states them."""
    stated = file.cluster
    name = stated.node or device.node
    if name is None:
        raise ParamsError(f"{where('cluster')}: no server is known that holds '{device.id}', "
                          "expected cluster.node.")
    node: Node = library.load("nodes", name)
    per_node = node.devices_per_node.value
    if "nodes" not in stated.model_fields_set and stated.devices:
        nodes = usual_value(-(-stated.devices.value // per_node))
    else:
        nodes = stated.nodes
    update: dict[str, Any] = {"cluster": stated.model_copy(update={"node": name, "nodes": nodes})}
    if "block_size" not in file.workload.model_fields_set:
        update["workload"] = file.workload.model_copy(
            update={"block_size": usual_block(device, model)})
    return file.model_copy(update=update), node


def host_of(scenario: Scenario, where: Callable[..., str]) -> Device | None:
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


def overrides_by_path(settings: Iterable[str]) -> dict[str, Override]:
    """``PATH=VALUE`` texts by their dotted path."""
    result: dict[str, Override] = {}
    sections = section_keys()
    for setting in settings:
        dotted, equals, text = (part.strip() for part in setting.partition("="))
        root, _, rest = dotted.partition(".")
        if not equals or root not in ROOTS or not text:
            paths = SHORT | {key: f"{section}.{key}" for section, keys in sections.items()
                             for key in keys}
            near = nearest_names(dotted, paths, 1)
            meant = paths[dotted] if dotted in paths else (
                key_meant(dotted) or (paths[near[0]] if near else None))
            if parts := re.fullmatch(r"([\w.]+)\s*[:\s]\s*(\S.*)", setting.strip()):
                meant, text = parts.groups()
            if root in ROOTS and (parts or equals):
                raise ParamsError(f"--set {setting}: expected KEY=VALUE, such as "
                                  f"{meant or dotted}={text or 'VALUE'}.")
            hint = f", such as {meant}={text}" if meant and text else ""
            raise ParamsError(f"--set {setting}: expected PATH=VALUE with PATH rooted at one of "
                              f"{', '.join(ROOTS)}{hint}.")
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


@cache
def section_keys() -> dict[str, Collection[str]]:
    """The keys of each section."""
    return {"mechanisms": physics_inputs.mechanism_units(), **{
        root: library.fields_at(ScenarioFile, (root,))
        for root in ("limits", "cluster", "parallelism", "workload")}}


def check_layout(scenario: Scenario, where: Callable[..., str]) -> None:
    """Refuse a parallelism that cannot be laid out: it divides neither cards nor tensors."""
    mistakes = [
        *device_mistakes(scenario.file.parallelism, scenario.devices, scenario.node, where,
                         scenario.id != scenario.path.stem),
        *division_mistakes(subject_of(scenario), cut_of(scenario), where)]
    if mistakes:
        raise LayoutError(*mistakes)


def device_mistakes(cut: Parallelism, devices: int, node: Node | None, where: Callable[..., str],
                    of_variant: bool) -> Iterator[str]:
    """Yield why a parallelism needs more or fewer devices than there are."""
    tp, pp, dp, ep = (int(degree.value) for degree in (
        cut.tensor_parallel, cut.pipeline_parallel, cut.data_parallel, cut.expert_parallel))
    slices = max(1, int(cut.expert_tensor_parallel.value)) if cut.expert_tensor_parallel else 1
    if tp * pp * dp != devices:
        nodes, rest = divmod(tp * pp * dp, node.devices_per_node.value) if node else (0, 1)
        replicas, left = divmod(devices, tp * pp)
        hint = (f": write data_parallel: {replicas}" if not left else
                f": write cluster: {{nodes: {nodes}}}" if not rest else "")
        experts = f" and expert_parallel: {max(1, tp * replicas // slices)}"
        if not left and replicas and (tp * replicas) % (ep * slices):
            hint += experts
        if of_variant:
            hint = f": write cluster: {{devices: {tp * pp * dp}}} in this variant"
        if replicas == 1 and not left and tp % dp == 0:
            hint += (f", or tensor_parallel: {tp // dp}{experts * (tp % ep > 0)} where dp is "
                     "counted inside tp")
        hint = hint if ".yml:" in where("cluster") else ""
        yield (f"{where('parallelism', 'tensor_parallel')}: tensor x pipeline x data parallel = "
               f"{tp} x {pp} x {dp} = {tp * pp * dp} devices, but the cluster has {devices}{hint}.")


def division_mistakes(subject: Subject, cut: Cut, where: Callable[..., str],
                      kinds: Collection[str] = LAID_OUT) -> Iterator[str]:
    """Yield the first reason why a parallelism divides no tensors, if there is one."""
    for problem in itertools.islice(problems(subject, cut, kinds), 1):
        yield f"{where('parallelism', problem.key)}: {problem.text['en']}."


def check_mechanisms_of(raw: YamlFile) -> None:
    """Refuse mechanisms out of range in a file with other mistakes."""
    if wrong := [f"{raw.where(('mechanisms', name))}: {problem}." for name, problem in
                 physics_inputs.range_problems(raw.data.get("mechanisms"))]:
        raise ParamsError(*wrong)


def check_layout_of(raw: YamlFile) -> None:
    """Refuse the layout of a file with other mistakes, as far as these let it be judged."""
    def loaded(kind: str, reference: Any) -> Any:
        with contextlib.suppress(ParamsError):
            return library.load(kind, reference, beside=raw.path)
        return None

    def where(*keys: str | int) -> str:
        return raw.where(keys)

    try:
        parallelism = library.parsed(Parallelism, raw, "parallelism")
    except (ParamsError, KeyError, TypeError):
        return  # reported with the others
    cut = Cut(**{name: int(degree.value) for name, symbol in SYMBOLS.items()
                 if (degree := getattr(parallelism, symbol, None))})
    model, precision, device = (loaded(_ENTRIES[root], raw.data.get(root))
                                for root in ("model", "precision", "device"))
    mistakes: list[str] = []
    node: Any = None
    with contextlib.suppress(ParamsError):
        cluster = (library.parsed(Cluster, raw, "cluster") if "cluster" in raw.data
                   else Cluster())
        node = loaded("nodes", cluster.node) or loaded("nodes", device and device.node)
        stated = cluster.devices.value if cluster.devices else None
        if count := cluster.cards(node) if node else stated:
            mistakes += device_mistakes(parallelism, int(count), node, where,
                                        raw.data.get("id", raw.path.stem) != raw.path.stem)
    if model:
        mistakes += division_mistakes(
            Subject(model, precision, device, node, model_inputs(model)), cut, where,
            LAID_OUT if precision else (DIVISION, DEALT))
    if mistakes:
        raise LayoutError(*mistakes)


def check_host_cache(scenario: Scenario, where: Callable[..., str]) -> None:
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


def check_hardware(scenario: Scenario, where: Callable[..., str]) -> None:
    """Refuse links that do not reach, peaks that are missing, and mechanisms that are misused."""
    inside = library.load("links", scenario.node.device_link)
    if problem := physics_inputs.link_problem(scenario.node, inside):
        raise LayoutError(f"{where('cluster', 'node')}: {problem}.")
    if unknown := drafter_problem(scenario):
        raise ParamsError(f"{where('workload', 'draft_method')}: {unknown}.")
    if missing := peak_problem(scenario):
        raise LayoutError(f"{where(missing[0])}: {missing[1]}.")
    if misused := [f"{where('mechanisms', name)}: {problem}." for name, problem in
                   physics_inputs.mechanism_problems(scenario.file.mechanisms)]:
        raise ParamsError(*misused)
    check_host_cache(scenario, where)
    stated, its = scenario.file.mechanisms.get(DEALT_PROMPTS), scenario.model
    if stated and stated.value and (its.index_topk is None or its.linear_layers):
        raise LayoutError(
            f"{where('mechanisms', DEALT_PROMPTS)}: '{its.id}' has no indexer or has linear "
            "attention, prompts are dealt over ranks for sparse attention alone, expected 0.")
