"""The engine that a deployment names, and what it inherits from it.

What a deployment states itself holds before what its engine does, and that before the mechanisms
of its device. ``engine: vllm@0.11.0`` names a release, ``vllm@0.11`` the newest of 0.11, ``vllm``
the newest of all.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from catalogue import library
from catalogue.deployments.physics_inputs import (
    joined_replicas,
    mechanism_problems,
    mechanisms_name,
)
from catalogue.engine import AT, fitting, load_engine, plain_version, release_of, unknown_engine
from catalogue.entries.deployments import Precision, ScenarioFile
from catalogue.entries.hardware import STACK_OF, Device
from catalogue.entries.models import Model
from catalogue.entries.profiles import (
    WAYS,
    Coordination,
    Fits,
    KernelFit,
    Measured,
    Profile,
    Reserve,
    Scheduling,
    Statement,
    Way,
    in_order,
)
from catalogue.kernels import multiplied
from catalogue.library import Override
from catalogue.reading import yamlfile
from catalogue.reading.files import LayoutError, ParamsError
from catalogue.reading.values import Value, engine_name, is_path
from catalogue.reading.yamlfile import KeyPath, YamlFile

USUAL_WAY: Way = "gathered"
PLAIN = ("memory_utilization", "scheduler_recv_interval")  # numbers without a unit


@dataclass(frozen=True)
class Starts:
    """An engine in one release, on a card and with a model: which layouts it starts.

    Attributes:
        profile: the engine.
        release: its version.
        starts: which layouts, by ``catalogue.entries.profiles.Starting``; nothing where nothing is
            known.
        staged_drafts: whether a model drafts in pipeline stages; not, where nothing is said.
    """

    profile: Profile
    release: str
    starts: Mapping[str, bool]
    staged_drafts: bool

    @property
    def name(self) -> str:
        """Engine and release, as a deployment names them."""
        return f"{self.profile.id}{AT}{self.release}"


@dataclass(frozen=True)
class Running(Starts):
    """The same engine, and what it does there.

    Attributes:
        mechanisms: by how ranks come by tokens, values by name, with their provenance.
        workload: likewise by name.
        scheduling: how a step is filled; None where nothing is said.
        by_cut: what holds of the workload where ranks share experts, or where none do.
        chunk_dealt: whether ranks that share experts share the default of a step's prompt tokens.
        coordination: of prefill, where ranks share experts; None where nothing is said.
        graphs: whether decode runs as a captured graph; None where nothing is said.
        reserve: what is set aside of the memory where no share is stated, by how ranks come by
            tokens; empty where nothing is said.
        rejected: laws that would hold and contradict others or measured steps, as ``mechanisms``.
        requested: the release for which this one stands, where it is not known; None where it is.
    """

    mechanisms: Mapping[Way, dict[str, Value]]
    workload: dict[str, Value]
    by_cut: tuple[Statement, ...]
    chunk_dealt: bool
    scheduling: Scheduling | None
    coordination: Coordination | None
    graphs: bool | None
    reserve: Mapping[Way, Reserve]
    rejected: Mapping[Way, tuple[Measured, ...]]
    requested: str | None = None

    @property
    def stated(self) -> str:
        """The engine with the release that is asked for."""
        return f"{self.profile.id}{AT}{self.requested or self.release}"


def load_profile(name: str, beside: Path | None = None, card: str | None = None) -> Profile:
    """The profile of an engine: an identifier, or the path of a reader's own file.

    Args:
        name: of the engine.
        beside: the file that names it.
        card: mechanisms; what was fitted on other cards is not read then.

    Raises ParamsError for an engine that is not known, for what no mechanism can be, and for a flag
    that no release has.
    """
    path = _path(name, beside)
    def sound() -> Profile:
        own: Profile = library.load("profiles", path)
        profile = own.model_copy(update={"statements": [*own.statements, *_fitted(own.id, card)]})
        for keys, problem in profile_problems(profile, card):
            raise ParamsError(f"{library.read(path).where(keys)}: {(keys[:-1] or keys)[-1]}: "
                              f"{problem}")
        return profile

    return yamlfile.remembered(f"sound profile {card}", path.absolute(), sound)


def _path(name: str, beside: Path | None) -> Path:
    if not is_path(name) and not library.stands("profiles", name):
        raise ParamsError(f"{unknown_engine(name)}.")
    return library.locate("profiles", name, beside)


def load_fits(name: str) -> Fits:
    """What was fitted to kernels measured under an engine, whose name and card's the file has.

    Raises ParamsError for another name: an engine reads no others.
    """
    fits: Fits = library.load("fits", name)
    path = library.locate("fits", name)
    if path.stem != (expected := f"{fits.engine}-{fits.card}"):
        raise ParamsError(f"{library.read(path).where(('engine',))}: engine: '{fits.engine}' reads "
                          f"no file of this name, expected '{expected}'.")
    return fits


def _fitted(engine: str, card: str | None) -> Iterator[Statement]:
    """What was fitted to kernels measured under an engine; it holds after what its profile says."""
    for name in library.names("fits"):
        if name == f"{engine}-{card}" or (card is None and name.startswith(f"{engine}-")):
            fits: Fits = library.load("fits", name)
            if fits.engine == engine:
                yield from fits.statements


@cache
def _operators(engine: str) -> frozenset[str]:
    """Operators of whose tables a law was fitted under an engine, on any card."""
    return _measured(_fitted(engine, None))


def _measured(statements: Iterable[Statement]) -> frozenset[str]:
    """Operators of the tables that statements were fitted to."""
    return frozenset(measured.operator for statement in statements
                     if isinstance(statement, KernelFit) for measured in statement.measured)


def profile_problems(profile: Profile, card: str | None) -> Iterator[tuple[KeyPath, str]]:
    """What is wrong with the names in a profile, with the keys at fault.

    Laws of a schedule are looked up on the card first: files of other cards take long to read.
    """
    here = _measured(profile.statements)
    if profile.flags is not None:
        try:
            load_engine(profile.flags, last="arguments")
        except ParamsError as error:
            yield ("flags",), str(error)
            return
    for number, statement in enumerate(profile.statements):
        at = ("statements", number)
        for key, problem in mechanism_problems(statement.mechanisms):
            yield (*at, "mechanisms", key), f"{problem}."
        elsewhere = card is not None and statement.cards and card not in statement.cards
        blocks = statement.schedule.blocks if statement.schedule and not elsewhere else ()
        for index, block in enumerate(blocks):
            if lacking := [law for law in block.laws
                           if law not in here and law not in _operators(profile.id)]:
                yield (*at, "schedule", "blocks", index, "laws"), (
                    f"no table of '{lacking[0]}' was fitted under {profile.id}, expected one of "
                    f"{', '.join(sorted(_operators(profile.id)))}.")
        for key, flag in statement.flags.items():
            try:
                load_engine(str(profile.flags), last="arguments").lookup(flag)
            except ParamsError as error:
                yield (*at, "flags", key), str(error)


def running(reference: str, device: Device, model: Model, drafts: bool,
            beside: Path | None = None, precision: Precision | None = None,
            apart: bool = False) -> Running:
    """An engine as a deployment names it, on its card, with its model, with drafts or without, in a
    decode pool of its own (``apart``) or not.

    Without a precision nothing is known of what holds of some formats alone.

    Raises ParamsError, a clause without file and line, for an engine or a release that is not
    known.
    """
    name, at, written = (part.strip() for part in reference.partition(AT))
    card = mechanisms_name(device)
    profile = load_profile(name, beside, card)
    written = plain_version(written)
    release = _release(profile, device, written if at else None)
    experts = _experts(reference, device, model, precision)
    of = release, card, _attention(model), drafts, experts, apart
    return yamlfile.remembered(
        f"running {of} {written if at else None}", _path(name, beside).absolute(),
        lambda: _running(load_profile(name, beside, card), *of, written if at else None))


def _experts(reference: str, device: Device, model: Model, precision: Precision | None
             ) -> tuple[str, str] | None:
    """Format and dtype that routed experts are stored and multiplied in; None of no precision."""
    return None if precision is None else (
        precision.weights.routed_expert,
        multiplied(precision, device, reference, model)["routed_expert"])


def _running(profile: Profile, release: str, card: str, attention: tuple[str, ...], drafts: bool,
             experts: tuple[str, str] | None, apart: bool, written: str | None) -> Running:
    """What an engine does by its statements that hold; arguments as of ``Statement.holds``.

    Statements hold of the release that is asked for, although its flags are those of an older one
    where it is not known itself.

    Args:
        written: the release that is asked for; None for the newest.
    """
    listed = written is None or release == written or release.startswith(
        (f"{written}.", f"{written}rc"))
    requested = release if listed or in_order(str(written)) < in_order(release) else str(written)
    of_ways = {way: [statement for statement in profile.statements if statement.holds(
        requested, card, attention, drafts, experts, way, apart)] for way in WAYS}
    mechanisms = {way: {name: value for statement in holding for name, value in (
        (statement.schedule.mechanisms if statement.schedule else {}) | statement.mechanisms
        ).items()} for way, holding in of_ways.items()}
    always = [statement for statement in of_ways[USUAL_WAY] if statement.joined is None]
    workload: dict[str, Value] = {}
    for statement in always:  # which differ in mechanisms alone
        workload |= _workload(profile, statement, release)
    graphs, dealt = _last(always, "graphs"), _last(always, "chunk_dealt")
    by_cut = tuple(statement for way in (USUAL_WAY, "own") for statement in of_ways[way]
                   if statement.joined is not None)
    return Running(profile, release, *_started(always), mechanisms, workload, by_cut,
                   dealt is not None and dealt.value, _last(always, "scheduling"),
                   _last(always, "prefill_coordination"), graphs and graphs.value,
                   _reserve(of_ways),
                   {way: rejected_laws(holding) for way, holding in of_ways.items()},
                   None if listed else written)


def _last(holding: Sequence[Statement], name: str) -> Any:
    """What the last statement that speaks of something says of it; None where none does."""
    return next((stated for statement in reversed(holding)
                 if (stated := getattr(statement, name)) is not None), None)


def _reserve(of_ways: Mapping[Way, Iterable[Statement]]) -> dict[Way, Reserve]:
    """What statements that hold set aside of the memory; nothing where none speaks of the card."""
    reserves: dict[Way, Reserve] = {}
    for way, holding in of_ways.items():
        for statement in holding:
            if statement.reserve is not None:
                reserves[way] = statement.reserve.over(reserves.get(way))
    complete = len(reserves) == len(of_ways) and all(rule.cards for rule in reserves.values())
    return reserves if complete else {}


def rejected_laws(holding: Iterable[Statement]) -> tuple[Measured, ...]:
    """Laws of statements that are rejected, of each kind that of the newest release."""
    newest = {(measured.operator, measured.cut, measured.dtype): measured
              for statement in holding if isinstance(statement, KernelFit)
              for measured in statement.measured if measured.fitted}
    return tuple(measured for measured in newest.values() if measured.rejected)


def starting(reference: str, device: Device, model: Model, drafts: bool,
             precision: Precision | None = None) -> Starts:
    """Which layouts an engine starts on a card; what its kernels reach there is not read.

    Without a precision nothing is known of what holds of some formats alone.

    Raises ParamsError as :func:`running`.
    """
    name, at, written = (part.strip() for part in reference.partition(AT))
    profile: Profile = library.load("profiles", _path(name, None))
    release = _release(profile, device, written if at else None)
    experts = _experts(reference, device, model, precision)
    holding = [statement for statement in profile.statements if statement.holds(
        release, mechanisms_name(device), _attention(model), drafts, experts, USUAL_WAY)]
    return Starts(profile, release, *_started(holding))


def _attention(model: Model) -> tuple[str, ...]:
    """Kinds of attention of a model, as statements name them."""
    heavy = model.heavy_layers is not None and model.heavy_layers.value > 0
    return (model.attention, *(["sparse", f"sparse-{model.attention}"] if model.index_topk else []),
            *(["heavy"] if heavy else []))


def _release(profile: Profile, device: Device, written: str | None) -> str:
    """The release of an engine that stands for the one that is written, on its card."""
    if device.software in STACK_OF.values() and device.software not in profile.stacks:
        raise LayoutError(f"{profile.id} does not run on '{device.id}', expected one of "
                          f"{', '.join(fitting(device))}.")
    return release_of(profile, written)


def _started(holding: Sequence[Statement]) -> tuple[dict[str, bool], bool]:
    """What statements say of layouts, by name, and of drafts in pipeline stages."""
    starts = {name: value for statement in holding if statement.starts
              for name, value in statement.starts if isinstance(value, bool)}
    staged = _last(holding, "staged_drafts")
    return starts, staged is not None and staged.value


def drafts_in_stages(device: Device, model: Model, engine: str | None) -> bool:
    """Whether an engine drafts in pipeline stages; of none that is named, whether all of them do.

    Args:
        device: the card.
        model: that drafts with a layer of its own.
        engine: with a release, if one is meant.
    """
    return all(starting(name, device, model, drafts=True).staged_drafts
               for name in ([engine] if engine is not None else fitting(device)))


def _workload(profile: Profile, statement: Statement, release: str) -> dict[str, Value]:
    """Defaults that a statement gives, those of flags read from the catalogue of flags."""
    defaults: dict[str, Value] = {}
    for key, flag in statement.flags.items():
        engine = load_engine(str(profile.flags), last="arguments")
        state = engine.state(flag, release)
        if state is None or not isinstance(state.default, (int, float)):
            continue  # decided when the engine starts, a later statement may say how
        unit, name = "1" if key in PLAIN else "token", flag.lstrip("-")
        defaults[key] = Value(
            state.default, unit, f"{state.default} {unit}".removesuffix(" 1"), profile.source,
            "vendor", state.default, state.default, engine.release(release).date,
            note={"en": f"Default of {name} in {release}.",
                  "zh": f"{release} 中 {name} 的默认值。"})
    given = {key: getattr(statement.workload, key) for key in type(statement.workload).model_fields}
    return defaults | {key: value for key, value in given.items() if value is not None}


def running_engine(file: YamlFile, given: Mapping[str, Override] | None = None) -> Running | None:
    """The engine that a deployment's file names, on its card and with its model; None if none.

    What is wrong with card or model is told when the file is checked.

    Args:
        file: of the deployment.
        given: overrides by key, in place of what the file says.

    Raises ParamsError for an engine or a release that is not known, and for a host processor as
    the card, with its place.
    """
    own = given or {}
    engine, device, model, precision = (own[key].raw if key in own else file.data.get(key)
                                        for key in ("engine", "device", "model", "precision"))
    if not (isinstance(engine, str) and isinstance(device, str) and isinstance(model, str)):
        return None
    engine = engine_name(engine)
    at = own["engine"].origin if "engine" in own else file.where(("engine",)) + (
        "" if file.origins else ": engine")
    try:
        card: Device = library.load("devices", device, beside=file.path)
        of: Model = library.load("models", model, beside=file.path)
        stored = (library.load("precisions", precision, beside=file.path)
                  if isinstance(precision, str) else None)
    except ParamsError:
        try:
            name, _, written = engine.partition(AT)
            release_of(library.load("profiles", _path(name.strip(), file.path)), written or None)
        except ParamsError as error:
            raise ParamsError(*(f"{at}: {problem}" for problem in error.problems)) from None
        return None
    drafts, apart = (_raw_number(file, own, *path) for path in (
        ("workload", "draft_tokens"), ("mechanisms", "separate_pools")))
    refuse_host(card, own["device"].origin if "device" in own else file.where(("device",)))
    try:
        return running(engine, card, of, drafts > 0, file.path, stored, apart == 1)
    except ParamsError as error:
        raise type(error)(*(f"{at}: {problem}" for problem in error.problems)) from None


def _raw_number(file: YamlFile, own: Mapping[str, Override], section: str, key: str) -> float:
    """A number of a file that is not checked yet; 0 where there is none."""
    given, stated = own.get(f"{section}.{key}"), file.data.get(section)
    raw = given.raw if given else stated.get(key) if isinstance(stated, Mapping) else None
    if isinstance(raw, Mapping):
        raw = raw.get("value")
    try:
        return float(str(raw))
    except ValueError:
        return 0.0


def refuse_host(card: Device, where: str) -> None:
    """Refuse a host processor as the card of a deployment, whatever software its file names.

    Args:
        card: the card.
        where: it is named.

    Raises ParamsError.
    """
    if card.type == "host":
        raise ParamsError(f"{where}: '{card.id}' is a host processor, expected an accelerator.")


def underlaid(file: YamlFile, engine: Running) -> YamlFile:
    """A deployment's file over the defaults of its engine: what the file states itself holds."""
    data: dict[str, Any] = dict(file.data)
    own = data.get("workload", {})
    if isinstance(own, Mapping):  # told when the file is checked, if it is not
        data["workload"] = engine.workload | dict(own)
    defaults = {"scheduling": engine.scheduling and engine.scheduling.value,
                "prefill_coordination": engine.coordination and engine.coordination.value,
                "graphs": engine.graphs}
    stated = {name: value for name, value in defaults.items() if value is not None}
    return replace(file, data=stated | data)


def launched(file: ScenarioFile, engine: Running, stated: Container[str],
             where: Callable[[str], str]) -> ScenarioFile:
    """A deployment's file with what its engine does for its cut of experts.

    Args:
        file: over the defaults of its engine.
        engine: the engine.
        stated: keys of the workload that the deployment states itself.
        where: origin of a key, for messages.

    Raises ParamsError for a coordination of ranks that the engine does not have.
    """
    file, coordination = following(file, engine, stated), engine.coordination
    means, steps = file.prefill_coordination, file.prefill_delay_steps
    if coordination is not None:
        if means not in coordination.known:
            raise ParamsError(
                f"{where('prefill_coordination')}: prefill_coordination: {engine.name} has no "
                f"'{means}', expected one of {', '.join(coordination.known)}.")
        if means == "balance":
            means = coordination.balance
        if means == "delay" and steps is None:
            steps = coordination.delay_steps
    return file.model_copy(update={"prefill_coordination": means, "prefill_delay_steps": steps})


def following(file: ScenarioFile, engine: Running, stated: Container[str]) -> ScenarioFile:
    """A deployment's file with the workload's defaults of its engine, for its cut of experts.

    Args:
        file: whatever the defaults were that it followed before.
        engine: the engine.
        stated: keys of the workload that are no defaults.
    """
    cut, workload = file.parallelism, dict(engine.workload)
    slices = cut.expert_tensor_parallel.value if cut.expert_tensor_parallel else 0
    joined = int(joined_replicas(cut.tensor_parallel.value, cut.expert_parallel.value, slices))
    for statement in engine.by_cut:
        if statement.joined == (joined > 1):
            workload |= _workload(engine.profile, statement, engine.release)
    chunk = workload.get("max_num_batched_tokens")
    if engine.chunk_dealt and joined > 1 and chunk is not None:
        value, low, high = (max(1, number // joined)
                            for number in (chunk.value, chunk.low, chunk.high))
        workload["max_num_batched_tokens"] = replace(
            chunk, value=value, low=low, high=high, written=f"{value} token")
    unsaid = {key: value for key, value in workload.items() if key not in stated}
    return file.model_copy(update={"workload": file.workload.model_copy(update=unsaid)})
