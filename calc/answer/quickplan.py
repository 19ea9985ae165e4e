"""Scenarios and goals built from plain values: a model, a card and a load, without a file.

Whatever is not stated is chosen here, and each choice is listed in words. The contents are
validated as those of a file are, and can be saved as one.
"""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from calc.layouts.feasible import has_room
from calc.serving.evaluate import evaluate
from calc.yamltext import unquoted
from catalogue import ParamsError, Scenario, library, load_precision, load_scenario, model_inputs
from catalogue.deployments.admission import cut_of, precisions, problems, subject_of
from catalogue.deployments.cuts import Subject, written
from catalogue.deployments.loading import SHORT
from catalogue.engine import (
    AT,
    CANDIDATE,
    UNNAMED,
    engine_meant,
    profile_of,
    release_of,
    releases,
)
from catalogue.entries.deployments import Precision
from catalogue.entries.entry import by_percentile
from catalogue.entries.hardware import Device, Node
from catalogue.entries.models import Model
from catalogue.kernels import (
    kernel_of,
    kernels_of,
    multiplied,
    published,
    published_precision,
    shown,
    tables,
)
from catalogue.reading.files import Mistakes, store
from catalogue.reading.near import nearest_names
from catalogue.reading.synonyms import OPTIONS, key_meant
from catalogue.reading.values import engine_name, is_path
from catalogue.reading.yamlfile import KeyPath, YamlFile

Plain = str | int | float | Path
"""Value of an option or argument: a name, path, number, or quantity with its unit."""
USUAL_ENGINES = ("vllm", "vllm-ascend", "sglang")
"""Engines by default, the first that runs the model on the card."""
DEALS_EXPERTS = ("vllm-ascend",)  # engines whose recipes all enable expert parallelism
USUAL_CARDS = 8  # of a server that is not known
MOST_SERVERS = 4  # of a search without a number of cards
LENGTHS = {"input": 2048, "output": 512}  # tokens of a request, as in params/templates/
SOURCE = {"source": "stated by the user", "kind": "assumed"}
TIMES = ("ttft", "tpot", "e2e")
_PATHS: dict[str, KeyPath] = {
    "input": ("workload", "input_tokens"), "output": ("workload", "output_tokens"),
    "users": ("workload", "concurrency"), "hits": ("mechanisms", "prefix_hit_share"),
    "model": ("model",), "card": ("device",), "cards": ("cluster",), "engine": ("engine",),
    "precision": ("precision",), **{name: ("limits", name) for name in TIMES}}
GOAL_PATHS: dict[str, KeyPath] = _PATHS | {
    "input": ("demand", "input_tokens"), "output": ("demand", "output_tokens"),
    "users": ("demand", "users"), "hits": ("demand", "prefix_hit_share"), "card": ("devices",),
    "cards": ("cards",), "engine": ("engines",), "precision": ("precisions",),
    "objective": ("objectives",)}
"""Options of a goal and the keys of its file."""
_DEGREES = SHORT | {"dcp": "parallelism.decode_context_parallel",
                    "etp": "parallelism.expert_tensor_parallel"}
_NAMES = "|".join(sorted(_DEGREES, key=len, reverse=True))
_DEGREE = re.compile(rf"({_NAMES})\s*=?\s*([1-9][0-9]{{0,5}})", re.IGNORECASE)


@dataclass(frozen=True)
class QuickPlan:
    """The contents of a scenario or goal file, built from plain values.

    Attributes:
        file: the contents, which ``load_deployment`` or ``load_goal`` takes in place of a path.
        defaults: what was chosen, a clause each: ``precision fp8-block: the published weights``.
    """

    file: YamlFile
    defaults: tuple[str, ...]

    @property
    def text(self) -> str:
        """The file, with the defaults as comments."""
        from calc.layouts.layout import DUMPER  # few plans are saved

        comments = [f"# {self.file.data['title']['en']}.", *(
            ["# Chosen by default:"] if self.defaults else []), *(
            f"#   {line}" for line in self.defaults)]
        return "\n".join(comments) + "\n" + yaml.dump(
            unquoted(self.file.data), Dumper=DUMPER, sort_keys=False, allow_unicode=True, width=100)

    def save(self, path: str | Path, replace: bool = False) -> None:
        """Write the file, which ``estimate`` or ``search`` answers alike.

        Args:
            path: of the file.
            replace: whether it may exist already.

        Raises ParamsError where it cannot be written or must not be replaced.
        """
        store(Path(path), self.text, replace=replace)


@dataclass(frozen=True)
class _Builder:
    """Values that were stated, how messages call them, and the defaults taken so far."""

    stated: Mapping[str, Any]
    paths: Mapping[str, KeyPath]
    flags: bool
    defaults: list[str] = field(default_factory=list)

    def option(self, name: str) -> str:
        """An argument as its user wrote it."""
        return f"--{name}" if self.flags else name

    def default(self, name: str, value: Any, why: str) -> Any:
        """The stated value; without one the default, which is listed with its reason."""
        if self.stated.get(name) is not None:
            return self.stated[name]
        self.defaults.append(f"{name} {value}: {why}")
        return value

    def entry(self, kind: str, name: str, reference: Any) -> tuple[Any, str]:
        """An entry of the catalogue, and how a file in any folder refers to it."""
        try:
            text = str(reference) if isinstance(reference, int) else reference
            entry = library.load(kind, text, beside=library.HERE)
        except ParamsError as error:
            why = self.counted(str(reference)) if kind == "devices" else None
            if is_path(str(reference)) and error.problems[0].startswith(str(reference)):
                raise  # with the file's own lines
            raise ParamsError(f"{self.option(name)}: {why or error}") from None
        path = library.locate(kind, str(reference))
        own = is_path(str(reference)) and path.parent != library.folder_of(kind)
        return entry, str(path.absolute()) if own else entry.id

    def counted(self, reference: str) -> str | None:
        """Error message for a card written with its number, ``8xH200``; else None."""
        match = library.counted_card(reference)
        return match and (f"'{reference}' is a card and a number: write {self.option('card')} "
                          f"{match[1]} {self.option('cards')} {match[0]}.")

    def entries(self, *references: tuple[str, str, Plain]) -> list[tuple[Any, str]]:
        """Entries of several arguments (kind, name, reference); all mistakes are reported."""
        mistakes, entries = Mistakes(), []
        for reference in references:
            with mistakes:
                entries.append(self.entry(*reference))
        mistakes.report()
        return entries

    def count(self, name: str, value: Plain) -> int:
        """A whole number of cards."""
        if not re.fullmatch(r"0*[1-9][0-9]{0,4}", str(value).strip()):
            raise ParamsError(f"{self.option(name)}: '{str(value)[:40]}' is not a number of "
                              "cards, expected a whole number from 1 to 99,999, such as 8.")
        return int(str(value))

    def engines(self) -> list[str]:
        """The engines of a goal, each known in its release."""
        names = listed(self.stated["engine"])
        try:
            for name in names:
                if name != UNNAMED:
                    engine_meant(engine_name(name))
        except ParamsError as error:
            raise ParamsError(f"{self.option('engine')}: {error}") from None
        return names

    def limits(self) -> dict[str, Any]:
        """Limits of times, by percentile where the value says so: ``p90 3 s``."""
        return {name: by_percentile(self.stated[name]) for name in TIMES
                if self.stated.get(name) is not None}

    def file(self, name: str, data: dict[str, Any]) -> YamlFile:
        """Contents whose problems name the option that is at fault."""
        origins = {path: self.option(option) for option, path in self.paths.items()
                   if self.stated.get(option) is not None}
        usual = {(): self.option("card"), ("parallelism",): self.option(
            "layout" if self.stated.get("layout") is not None else "cards")}
        stem = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.")
        return YamlFile(Path(f"{stem}.yml"), data, {}, usual | origins)


def parse_layout(text: str) -> dict[str, int]:
    """Degrees of a layout by their keys in a deployment.

    >>> parse_layout("TP8×DP2/EP16")
    {'tensor_parallel': 8, 'data_parallel': 2, 'expert_parallel': 16}

    Raises ParamsError for another text.
    """
    degrees = {_DEGREES[name.lower()].partition(".")[2]: int(size)
               for name, size in _DEGREE.findall(text)}
    if not degrees or re.sub(r"[\s×x*/,]", "", _DEGREE.sub("", text)):
        raise ParamsError(f"'{text[:40]}' is not a layout, expected one such as TP8, TP4×DP2 or "
                          "TP8/EP8.")
    return degrees


def deployment_plan(*, model: Plain, card: Plain, cards: Plain | None = None,
                    users: Plain | None = None, input: Plain | None = None,
                    output: Plain | None = None, engine: str | None = None,
                    precision: Plain | None = None, layout: str | None = None,
                    hits: Plain | None = None, ttft: Any = None, tpot: Any = None,
                    e2e: Any = None, flags: bool = False) -> QuickPlan:
    """Build a deployment, which ``load_deployment(plan.file)`` loads.

    >>> plan = deployment_plan(model="deepseek-r1", card="h200", users=64, input=2048, output=1024)
    >>> plan.defaults[0], plan.defaults[2:]
    ('cards 8: one hgx-h200', ('precision fp8-block: the published weights', \
'layout TP8: the cards of one server'))

    Args:
        model, card: names or paths; names as people write them (``R1``, ``H200``, ``910B2``).
        cards: number of cards; absent, those of one server.
        users: requests in flight, in a closed loop; absent, one.
        input, output: mean tokens of prompts and answers.
        engine: with or without a release; absent, the newest release that runs the model.
        precision: absent, the published weights, or what the engine is shown to start.
        layout: such as ``TP8`` or ``TP4×DP2/EP8``; absent, one that loads and fits.
        hits: share of prompt tokens in the prefix cache; absent, none.
        ttft, tpot, e2e: limits, of the mean (``50 ms``) or by percentile (``p90 3 s``).
        flags: whether messages name arguments as command-line options.

    Raises ParamsError, one sentence that names the argument, for a value that cannot be used.
    """
    builder = _Builder({**locals()}, _PATHS, flags)
    (its_model, model_name), (device, card_name), *stated = builder.entries(
        ("models", "model", model), ("devices", "card", card),
        *(("precisions", "precision", name) for name in [precision] if name is not None))
    if device.node is None:
        raise ParamsError(f"{builder.option('card')}: no server is known for '{device.id}', "
                          "expected 'node' in its file.")
    node = library.load("nodes", device.node)
    per_node = int(node.devices_per_node.value)
    count = builder.count("cards", builder.default("cards", per_node, f"one {node.id}"))
    servers = -(-count // per_node)
    cluster = {"node": device.node, "nodes": servers} | (
        {"devices": count} if count != servers * per_node else {})
    engine, precision_name = engine_and_precision(builder, its_model, device, node, *stated)
    tensor = math.gcd(count, per_node)
    deals = its_model.is_moe and (engine or "").partition(AT)[0] in DEALS_EXPERTS
    parallelism = {"tensor_parallel": tensor, "pipeline_parallel": 1,
                   "data_parallel": count // tensor, "expert_parallel": tensor if deals else 1}
    workload = {"concurrency": builder.default("users", 1, "one request in flight"), **{
        f"{name}_tokens": builder.default(name, tokens, "tokens of a usual request")
        for name, tokens in LENGTHS.items()}, "arrivals": "closed-loop"}
    title = {of: f"{its_model.name[of]}, {count} × {device.name[of]}" for of in ("en", "zh")}
    data = {"title": title, "defaults": SOURCE, "model": model_name, "device": card_name,
            **({"engine": engine} if engine else {}), "cluster": cluster,
            "parallelism": parallelism, "precision": precision_name, "workload": workload,
            **({"mechanisms": {"prefix_hit_share": hits}} if hits is not None else {}),
            **({"limits": limits} if (limits := builder.limits()) else {})}
    file = builder.file(f"{its_model.id}-{count}x{device.id}", data)
    set_layout(builder, file, count)
    return QuickPlan(file, tuple(builder.defaults))


def set_layout(builder: _Builder, file: YamlFile, cards: int) -> None:
    """Put the stated layout into the contents of a deployment, or the nearest to theirs that loads
    and fits.

    Raises ParamsError for a text that is no layout, and for contents that cannot be used.
    """
    parallelism, stated = file.data["parallelism"], builder.stated["layout"]
    usual = parallelism["tensor_parallel"]
    if stated is not None:
        try:
            degrees = parse_layout(str(stated))
        except ParamsError as error:
            raise ParamsError(f"{builder.option('layout')}: {error}") from None
        tensor, pipeline, data = (degrees.get(f"{name}_parallel", 0)
                                  for name in ("tensor", "pipeline", "data"))
        tensor = tensor or (max(1, cards // (max(1, pipeline) * max(1, data)))
                            if pipeline or data else usual)
        parallelism |= {"tensor_parallel": tensor, "expert_parallel": 1,
                        "data_parallel": max(1, cards // (tensor * max(1, pipeline)))} | degrees
        taken = math.prod(parallelism[f"{name}_parallel"]
                          for name in ("tensor", "pipeline", "data"))
        if taken != cards:
            raise ParamsError(f"{builder.option('layout')}: {stated} takes {taken} cards, but "
                              f"{builder.option('cards')} is {cards}: write {taken} cards, or a "
                              f"layout of {cards} such as TP{usual}×DP{cards // usual}.")
        return
    moved = nearest_layout(load_scenario(file, cut=False))
    parallelism |= moved
    scenario = load_scenario(file, cut=False)
    reason = (f"no layout of {cards} cards was found that fits" if not runs(scenario)
              else "the nearest that loads and fits" if moved
              else "the cards of one server" + " each" * (scenario.replicas > 1))
    builder.defaults.append(f"layout {written(cut_of(scenario))['en']}: {reason}")


def runs(scenario: Scenario) -> bool:
    """Return True if the engine loads a deployment and its memory suffices."""
    return not any(problems(subject_of(scenario), cut_of(scenario))) and bool(has_room(
        evaluate(scenario.inputs(), scenario.model.attention, decode=False)))


def nearest_layout(scenario: Scenario) -> dict[str, int]:
    """Changed degrees of the nearest layout that loads and fits, else of one that loads.

    Empty if the layout of the deployment does already, or if there is no such layout.
    """
    if runs(scenario):
        return {}
    from calc.answer.nearest import layouts_of  # most plans run as they are

    layouts = layouts_of(scenario, scenario.devices, [scenario.precision])
    settings = layouts.first()
    if settings is None:
        loading = np.argwhere(np.isfinite(layouts.headroom))[:1]
        settings = next((layouts.settings(row, column) for row, column in loading), {})
    return {key.partition(".")[2]: int(value) for key, value in settings.items()}


def engine_and_precision(builder: _Builder, model: Model, device: Device, node: Node,
                         wanted: tuple[Precision | None, str] = (None, "")
                         ) -> tuple[str | None, str]:
    """The engine and the precision of a deployment, as stated or by default.

    Args:
        builder: what is stated.
        model, device, node: what is deployed where.
        wanted: the stated precision, and how a file refers to it.

    By default the usual engine that runs the published weights of the model, else the one that
    runs the format nearest to them, in its newest release that does.
    """
    stated, (precision, reference) = builder.stated["engine"], wanted
    ranked: list[tuple[int, Precision, str | None]] = []
    try:
        for name in [engine_name(str(stated))] if stated is not None else usual_engines(device):
            ranked.append((*((0 if newest(name, precision, device, model) else 1, precision)
                             if precision else usual_precision(model, device, node, name)), name))
            if ranked[-1][0] == 0:  # further tables take long to read
                break
    except ParamsError as error:
        raise ParamsError(f"{builder.option('engine')}: {error}") from None
    rank, precision, engine = min(ranked, key=lambda entry: entry[0])
    if stated is None and engine is not None:
        release = newest(engine, precision, device, model)
        engine = f"{engine}{AT}{release}" if release else engine
        builder.default("engine", engine, "the newest release that runs it" if release
                        else "the usual engine of the card")
    elif engine is None:
        builder.default("engine", "none", "none is known for this card, overheads are averages")
    if not reference:
        reference = builder.default("precision", precision.id, PRECISION_REASONS[rank])
    return engine, reference


def usual_engines(device: Device) -> Iterator[str | None]:
    """Engines by default that reach a card; None alone where none does."""
    names = (name for name in USUAL_ENGINES if device.software in profile_of(name).stacks)
    yield next(names, None)
    yield from names


PRECISION_REASONS = (
    "the published weights", "a published checkpoint that the engine is shown to start",
    "the published weights, widened by the engine", "published weights that run on the card",
    "the nearest format that runs on the card", "the published weights")


def usual_precision(model: Model, device: Device, node: Node, engine: str | None
                    ) -> tuple[int, Precision]:
    """The precision by default and the place of its reason in ``PRECISION_REASONS``.

    Args:
        model, device, node: what is deployed where.
        engine: with its release, if one is meant.
    """
    own = load_precision(published_precision(model) or "bf16")
    name = engine and engine.partition(AT)[0]

    def is_multiplied(entry: Precision) -> bool:
        return entry.multiply.dtypes.items() <= multiplied(entry, device, engine, model).items()

    def rank(entry: Precision) -> int:
        is_own, starts = entry.weights == own.weights, shown(model, entry, name, device)
        if is_own and (starts or is_multiplied(entry)):
            return 0
        return 1 if starts else 2 if is_own else 3 if published(
            model, entry, name, device) else 4

    if engine and kernel_of(own, device, engine, model=model) and is_multiplied(own):
        return 0, own
    subject = Subject(model, own, device, node, model_inputs(model), engine)
    return min(((rank(entry), entry) for entry in precisions(subject, own)),
               default=(5, own), key=lambda entry: entry[0])


def newest(engine: str | None, precision: Precision, device: Device, model: Model) -> str | None:
    """The newest release of an engine that runs a model in a precision on a card; None if none is
    known to."""
    name = (engine or "").partition(AT)[0]
    if name and kernel_of(precision, device, name, model=model):
        return release_of(profile_of(name), None)
    versions = [version for kernel in kernels_of(precision, device, model)
                if tables()[kernel.engine].engine == name
                for version in releases(profile_of(name)) if kernel.holds(version)]
    return next((version for version in reversed(versions) if CANDIDATE not in version),
                versions[-1] if versions else None)


def goal_plan(*, model: Plain, card: Plain | Sequence[Plain], cards: Plain | None = None,
              users: Plain | None = None, input: Plain | None = None,
              output: Plain | None = None, engine: str | Sequence[str] | None = None,
              precision: Plain | Sequence[Plain] | None = None, hits: Plain | None = None,
              ttft: Any = None, tpot: Any = None, e2e: Any = None, price: Plain | None = None,
              objective: str | Sequence[str] | None = None, flags: bool = False) -> QuickPlan:
    """Build a goal, which ``load_goal(plan.file)`` loads.

    >>> plan = goal_plan(model="V4-Flash", card="H20", cards=16, users=200, tpot="p90 33 ms")
    >>> plan.file.data["limits"], plan.defaults[0]
    ({'tpot': {'p90': '33 ms'}}, 'input 2048: tokens of a usual request')

    Args:
        model, users, input, output, hits, ttft, tpot, e2e, flags: as of :func:`deployment_plan`;
            without ``users`` a deployment is as full as its limits allow.
        card: names or paths, several in a list or with commas between them.
        cards: at most; absent, those of ``MOST_SERVERS`` servers.
        engine, precision: likewise several; absent, all that are known to run the model.
        price: of a card, such as ``2 USD/h``; absent, that of the catalogue.
        objective: likewise, the first decides the order.

    Raises ParamsError, one sentence that names the argument, for a value that cannot be used.
    """
    builder = _Builder({**locals()}, GOAL_PATHS, flags)
    (its_model, model_name), *devices = builder.entries(
        ("models", "model", model), *(("devices", "card", name) for name in listed(card)))
    nodes = [library.load("nodes", device.node) for device, _ in devices if device.node]
    servers = MOST_SERVERS * max((int(node.devices_per_node.value) for node in nodes),
                                 default=USUAL_CARDS)
    most = builder.count("cards", builder.default("cards", servers, "at most, four servers"))
    demand = {f"{name}_tokens": builder.default(name, tokens, "tokens of a usual request")
              for name, tokens in LENGTHS.items()}
    demand |= {key: value for key, value in (("users", users), ("prefix_hit_share", hits))
               if value is not None}
    if price is not None:
        from calc.costing.ownership import stated as parse_price

        parse_price(str(price), name=builder.option("price"))
    lists = {"precisions": [builder.entry("precisions", "precision", name)[1]
                            for name in listed(precision)],
             "engines": builder.engines(), "objectives": listed(objective)}
    offers = [{"device": name, "price": price} if price is not None else name
              for _, name in devices]
    sold = {of: " / ".join(device.name[of] for device, _ in devices) for of in ("en", "zh")}
    data = {"title": {of: f"{its_model.name[of]}, {sold[of]}" for of in sold},
            "model": model_name, "devices": offers, "cards": {"most": most}, "demand": demand,
            **({"limits": limits} if (limits := builder.limits()) else {}),
            **{key: values for key, values in lists.items() if values}}
    file = builder.file("-".join((its_model.id, *(device.id for device, _ in devices))), data)
    return QuickPlan(file, tuple(builder.defaults))


def planned(function: Callable[..., QuickPlan], of: str, **values: Any) -> QuickPlan:
    """Call a function of this module. Raises TypeError for arguments that it does not take.

    Args:
        function: `deployment_plan` or `goal_plan`.
        of: name of the function that a user called.
        values: its arguments.
    """
    parameters = inspect.signature(function).parameters
    for name in values.keys() - parameters.keys():
        meant = OPTIONS.get(key_meant(name) or "")
        near = [meant] if meant in parameters else nearest_names(name, parameters, 1)
        raise TypeError(f"{of}: unknown argument '{name}', " + (
            f"did you mean '{near[0]}'?" if near else f"expected one of {', '.join(parameters)}"))
    for name in ("model", "card"):
        if name not in values:
            raise TypeError(f"{of}: the argument '{name}' is missing, such as "
                            f'{of}(model="deepseek-r1", card="h200")')
    return function(**values)


def listed(value: Any) -> list[Any]:
    """One value, several in a sequence, or several with commas between them.

    >>> listed("h20, h200"), listed(["h20"]), listed(None)
    (['h20', 'h200'], ['h20'], [])
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return list(value) if isinstance(value, Sequence) else [value]

