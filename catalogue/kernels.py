"""What releases of engines run of a precision on a card, and what its format costs in quality.

A precision runs where every class of its tensors has a running cell in the table of one engine
(``params/kernels/``), in one of its releases: the format of its weights multiplied in the dtype
that the precision says, or in 16 bits where the card or the engine has nothing narrower, and the
format of its cache with the attention of the model. It is refused where one of these cells says so,
and not known where nothing speaks of it.

Quality is published scores beside those of the published weights. A score says nothing by itself:
only two of one source, asked the same way, are compared. Where a model has none, those of a
relative (one architecture, other weights) are told as such.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

from catalogue import library
from catalogue.engine import (
    AT,
    asked_release,
    has_profile,
    profile_of,
    releases,
    releases_with,
)
from catalogue.entries.deployments import Format, Precision, WeightFormats
from catalogue.entries.hardware import STACK_OF, STACKS, WIDE, Device
from catalogue.entries.models import CSA, OWN_LAYER, Checkpoint, Model
from catalogue.entries.profiles import (
    DENSE,
    AttentionKind,
    Cache,
    Cell,
    Kernels,
    Product,
    in_order,
)
from catalogue.messages import LANGUAGES, Pair, join, pair, sentences
from catalogue.reading import yamlfile

if TYPE_CHECKING:
    from catalogue.entries.measurements import FormatScore

say = sentences("catalogue/kernels")

CLASSES = tuple(name for name in WeightFormats.model_fields
                if name not in ("embedding", "norm", "compressor", "hyper"))
"""Classes of tensors that are multiplied, as ``Multiply`` of a precision has them."""

SEVERAL = " / "  # between the names of models that an entry is of


def checkpoints(model: Model) -> Iterator[tuple[Precision, Checkpoint]]:
    """Every checkpoint of a model that has a repository, with the precision of its weights."""
    for name in library.names("precisions"):
        precision: Precision = library.load("precisions", name)
        for checkpoint in precision.checkpoints:
            if checkpoint.model == model.id and checkpoint.repository:
                yield precision, checkpoint


def published(model: Model, precision: Precision, engine: str | None = None,
              device: Device | None = None) -> bool:
    """Whether a model can be had in the weights of a precision, whatever is cached.

    So it can in the format of its own weights, and in any where nothing is known of it. Checkpoints
    that are shown to start under other engines, or on the cards of other makers, are not had.

    Args:
        model: of the catalogue, or a reader's own.
        precision: an entry of ``params/precisions/``.
        engine: of ``params/profiles/``; None for any.
        device: whose maker's cards they are shown on; None for any.
    """
    variants = [*checkpoints(model)]
    own = published_weights(model)
    if precision.weights == own or not (variants or own):
        return True
    of_format = [checkpoint for of, checkpoint in variants if of.weights == precision.weights]
    return any(not checkpoint.served or any(
        (engine is None or served.engine == engine) and (
            device is None or device.software is None or any(
                card.startswith(begins) for card in served.cards
                for begins, stack in STACKS.items() if stack == device.software))
        for served in checkpoint.served) for checkpoint in of_format)


def unpublished(model: Model, precisions: Iterable[str]) -> str | None:
    """Error message for formats in which no checkpoint of a model is published; else None."""
    lacking = [name for name in precisions
               if not published(model, library.load("precisions", name))]
    own = [published_precision(model), *(of.id for of, _ in checkpoints(model))]
    return (f"no checkpoint of '{model.id}' in {', '.join(lacking)} is known, expected one such as "
            f"{', '.join([*dict.fromkeys(filter(None, own))][:3])}") if lacking else None


def shown(model: Model, precision: Precision, engine: str | None, device: Device) -> bool:
    """Whether a checkpoint of a format is shown to start under an engine on a card's architecture.

    Args:
        model, precision, device: as of :func:`published`.
        engine: likewise; None for any.
    """
    return any(engine in (None, served.engine) and device.architecture in served.cards
               for of, checkpoint in checkpoints(model) if of.weights == precision.weights
               for served in checkpoint.served)


def checkpoint_for(model: Model, precision: Precision, engine: str, device: Device,
                   drafts: str | None = None) -> Checkpoint | None:
    """The checkpoint that a deployment starts with; None where none is published.

    Of several that drafts as it does, then one of the very model, then an official release, then
    one that its engine is shown to start on its card, else another engine there, else its engine
    elsewhere.

    Args:
        model: that is served.
        precision: whose weights are meant.
        engine: of ``params/profiles/``.
        device: the card.
        drafts: ``own`` by the model's own layer, or one of its drafters; None without.
    """
    return next(iter(_preferred(model, precision, engine, device, drafts)), None)


def _preferred(model: Model, precision: Precision, engine: str, device: Device,
               drafts: str | None) -> list[Checkpoint]:
    """Checkpoints of a format, the one to start with first; none without a module that drafts."""
    drafter = model.drafter(drafts)
    built_in = drafter is not None and drafter.layers is not None  # in the model's own files

    def rank(checkpoint: Checkpoint) -> tuple[bool, ...]:
        here = [device.architecture in served.cards for served in checkpoint.served]
        own = [served.engine == engine for served in checkpoint.served]
        suits = drafts != OWN_LAYER or (checkpoint.drafts and not checkpoint.drafters)
        return (suits, _is_own(model, checkpoint), not checkpoint.preview,
                any(map(operator.and_, here, own)), any(here), any(own))

    return sorted((candidate for of, candidate in checkpoints(model)
                   if of.weights == precision.weights
                   and (not built_in or drafts in candidate.drafters)), key=rank, reverse=True)


def _is_own(model: Model, checkpoint: Checkpoint) -> bool:
    """Whether a checkpoint is of the very model: an entry may be named after several."""
    return checkpoint.of is None or checkpoint.of in model.name["en"].split(SEVERAL)


def checkpoint_words(model: Model, precision: Precision, engine: str, device: Device,
                     drafts: str | None = None) -> str | None:
    """What a deployment starts with, in words: both repositories where the entry is of two models,
    the official release beside a preview, the sister whose weights are meant. None for none.

    Arguments as of :func:`checkpoint_for`.
    """
    candidates = _preferred(model, precision, engine, device, drafts)
    if not candidates:
        return None
    first = candidates[0]
    one = str(first.repository)
    if not _is_own(model, first):
        return f"{one}, weights of {first.of}, which has the same shapes"
    other = next((checkpoint for checkpoint in candidates[1:]
                  if _is_own(model, checkpoint) and checkpoint.of != first.of), None)
    if other:
        return f"{one} or {other.repository}"
    official = next((checkpoint for checkpoint in candidates[1:]
                     if first.preview and not checkpoint.preview
                     and _is_own(model, checkpoint)), None)
    if official:
        return (f"{one}, the preview, whose own layer drafts; that of the official "
                f"{official.repository} does not")
    return one


EXPERTS = ("shared_expert", "routed_expert", "router")  # what a model without experts lacks
FULL = ("fp32",)  # engines leave these products to the vector unit, which every card has
INDEXED: dict[str, AttentionKind] = {"mla": "sparse", "gqa": "block-sparse"}
WIDENED = ", weights dequantised to 16 bits"  # a kernel reads narrower weights than it multiplies
CLASS = "class"  # of a model, among parts of which nothing is known
Verdict = Literal["runs", "refuses", "unknown"]


class Part(NamedTuple):
    """What is asked of a table: a class of tensors, its format, what it is multiplied in."""

    name: str
    stored: str
    multiplied: str


@dataclass(frozen=True)
class Kernel:
    """How an engine runs a precision on a card.

    Attributes:
        engine: name of its table.
        since, until: first and last release that is known to, widening the same classes; None for
            an engine without releases.
        experts: the cell of the routed experts, of a model without them that of attention.
        cells: by class of tensors; ``cache`` is that of the cache.
        widened: classes for which there is a kernel of wider products alone, and what they are.
    """

    engine: str
    since: str | None
    until: str | None
    experts: Cell
    cells: dict[str, Cell]
    widened: dict[str, str]

    @property
    def weight_only(self) -> bool:
        """Whether the weights of the experts are widened before they are multiplied."""
        return self.experts.runs == "weight-only"

    @property
    def kernel(self) -> Pair:
        """The kernel of the experts by its name."""
        return pair(self.experts.kernel)

    @property
    def release_words(self) -> Pair:
        """The engine with the releases that run it."""
        table: Kernels = library.load("kernels", self.engine)
        en, zh = (str(table.name[language]) for language in LANGUAGES)
        if self.since is None or self.until is None:
            return en, zh
        newest = releases(library.load("profiles", str(table.engine)))[-1]
        if in_order(self.until) >= in_order(newest):
            return say("and-later", f"{en} {self.since} and later",
                       engine=(en, zh), since=self.since)
        several = self.until != self.since
        return say("from-to", f"{en} {self.since}" + f" to {self.until}" * several,
                   engine=(en, zh), since=self.since, several=several, until=self.until)

    def holds(self, release: str) -> bool:
        """Whether a release is one of those."""
        return (self.since is not None and self.until is not None
                and in_order(self.since) <= in_order(release) <= in_order(self.until))

    @property
    def words(self) -> Pair:
        """As an answer says it: engine, releases, kernel of the experts, notes on it."""
        note = self.experts.note
        en, zh = (note[language].rstrip(".。") if note else "" for language in LANGUAGES)
        source, releases_of, kernel = self.experts.source, self.release_words, self.kernel
        return say("runs-on",
                   f"runs on {releases_of[0]}, {kernel[0]}" + WIDENED * self.weight_only
                   + f"; {en} [{source}]" * bool(note),
                   releases=releases_of, kernel=kernel, widened=self.weight_only,
                   noted=bool(note), note=(en, zh), source=source)

    @property
    def brief(self) -> Pair:
        """The same without notes: kernel of the experts, engine, releases."""
        releases_of, kernel = self.release_words, self.kernel
        return say("kernel-of",
                   f"{kernel[0]} ({releases_of[0]}" + WIDENED * self.weight_only + ")",
                   releases=releases_of, kernel=kernel, widened=self.weight_only)


@dataclass(frozen=True)
class Refusal:
    """That an engine refuses a part of a precision, or a card altogether.

    Attributes:
        engine: name of its table.
        release: that is meant; None for an engine without releases.
        part: that is refused; None where the engine is not written for such cards.
        why: what there is in place of a kernel.
        source: of ``params/sources/``.
    """

    engine: str
    release: str | None
    part: Part | None
    why: Pair
    source: str


@dataclass(frozen=True)
class Support:
    """What is known of a precision on a card.

    Attributes:
        kernel: how it runs, if it does.
        refusals: why it does not: of the engine that is meant, or of each that starts on the card.
        unknown: parts of which no source speaks, in the engine that is meant or in the first.
    """

    kernel: Kernel | None = None
    refusals: tuple[Refusal, ...] = ()
    unknown: tuple[Part, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """One of the three answers."""
        return "runs" if self.kernel else "refuses" if self.refusals else "unknown"


def tables() -> dict[str, Kernels]:
    """Every table of ``params/kernels/`` by its name, which is that of its engine."""
    return {name: library.load("kernels", name) for name in library.names("kernels")}


def runs_experts(engine: str) -> bool:
    """Whether an engine computes routed experts on a card, as far as its table is known."""
    return not library.stands("kernels", engine) or any(
        not cell.classes or "routed_expert" in cell.classes
        for cell in library.load("kernels", engine).products)


def known_to_engines(device: Device) -> bool:
    """Whether any table speaks of a card's architecture."""
    return device.architecture is not None and any(
        device.architecture in cell.cards for table in tables().values()
        for cell in (*table.products, *table.caches))


def parts_of(precision: Precision, model: Model | None = None,
             classes: Collection[str] | None = None, device: Device | None = None
             ) -> tuple[Part, ...]:
    """What a table is asked for a precision: a part per class of tensors, and the cache.

    Args:
        precision: an entry of ``params/precisions/``.
        model: whose classes are asked for; all of them without one.
        classes: that a card multiplies; those that a host computes are left out this way.
        device: the card: a dtype that it lacks is widened to one that it has.
    """
    selected = [name for name in CLASSES if (classes is None or name in classes)
             and not (model is not None and not model.is_moe and name in EXPERTS)]
    parts = [*(Part(name, getattr(precision.weights, name), getattr(precision.multiply, name))
               for name in selected), Part("cache", precision.kv_cache, precision.multiply.core)]
    return tuple(part if device is None else part._replace(multiplied=device.multiplied(
        part.multiplied)) for part in parts if part.multiplied not in FULL or part.name == "cache")


def attention_kind(model: Model) -> AttentionKind:
    """The kind of attention by which cells of a table know a model."""
    if model.index_topk is None or model.attention == CSA:
        return model.attention
    return INDEXED[model.attention]


class Target(NamedTuple):
    """What cells are held against: a card's architecture, its software and the dtype of 16 bits
    that it multiplies, and a model; None of what is not said."""

    architecture: str | None
    software: str | None
    wide: str
    attention: AttentionKind | None
    model_class: str | None


def _target(device: Device, model: Model | None) -> Target:
    return Target(device.architecture, device.software, device.wide,
                 attention_kind(model) if model else None, model.model_class if model else None)


def _speaks(cell: Cell, part: Part, target: Target) -> bool:
    """Whether a cell speaks of a part on a card, whatever it says of it."""
    if target.architecture not in cell.cards:
        return False
    kinds = cell.attention or (DENSE if isinstance(cell, Cache) else ())
    if target.attention is None:
        if cell.attention and cell.runs == "no":
            return False  # of some models alone
    elif kinds and target.attention not in kinds:
        return False
    if cell.model_classes and target.model_class not in cell.model_classes:
        return False
    if isinstance(cell, Cache):
        return (part.name == "cache" and part.stored in cell.formats
                and part.multiplied in cell.multiply)
    return (isinstance(cell, Product) and part.name != "cache" and part.stored in cell.weights
            and part.multiplied in cell.multiply
            and (not cell.classes or part.name in cell.classes))


def known_releases(name: str) -> list[str | None]:
    """Releases of a table's engine, and those that its cells name, the oldest first; one without a
    name where none is known.

    Args:
        name: of the table.
    """
    def read() -> list[str | None]:
        table: Kernels = library.load("kernels", name)
        if table.engine is None:
            return [None]
        own = releases(library.load("profiles", table.engine))
        named = {end for cell in (*table.products, *table.caches)
                 for end in (cell.since, cell.until)
                 if end is not None and in_order(end) >= in_order(own[0])}
        return sorted({*own, *named}, key=in_order)

    return yamlfile.remembered("known releases", library.file_of("kernels", name).absolute(), read)


def _at(cells: list[Cell], release: str | None) -> Cell | None:
    """The cell that speaks of a release; of several the last."""
    return next((cell for cell in reversed(cells)
                 if release is None or cell.includes(release)), None)


def _judged(name: str, parts: tuple[Part, ...], target: Target, release: str | None) -> Support:
    """What an engine's table says, in a release or, without one, in its newest that runs it all,
    else in its newest: asked once of every kind of card, however many deployments ask."""
    return yamlfile.remembered(
        f"judged {(parts, target, release)}", library.file_of("kernels", name).absolute(),
        lambda: _judge(name, parts, target, release))


def _judge(name: str, parts: tuple[Part, ...], target: Target, release: str | None) -> Support:
    table: Kernels = library.load("kernels", name)
    platforms = table.platforms
    if platforms and target.software in STACK_OF.values() and (
            target.software not in platforms.stacks):
        stacks = ", ".join(platforms.stacks)
        why = say("written-for", f"written for {stacks}", stacks=stacks)
        return Support(refusals=(Refusal(name, release, None, why, platforms.source),))
    every: tuple[Cell, ...] = (*table.products, *table.caches)
    cells = {part: [cell for cell in every if _speaks(cell, part, target)] for part in parts}
    wide = {part: part._replace(multiplied=target.wide) for part in parts
            if part.multiplied not in WIDE}
    wider = {part: [cell for cell in every if _speaks(cell, other, target)
                    and (cell.runs == "weight-only" or part.name == "cache")]
             for part, other in wide.items()}

    def at(part: Part, release: str | None) -> tuple[Cell | None, bool]:
        """The cell of a part, and whether it is one of wider products."""
        cell = _at(cells[part], release)
        if cell is None or cell.runs == "no":
            other = _at(wider.get(part, []), release)
            if other is not None and other.runs != "no":
                return other, True
        return cell, False

    classes = releases_with(table.engine) if table.engine and target.model_class else None
    named = any(target.model_class in cell.model_classes for cell in every)
    first = classes.get(str(target.model_class)) if classes else None
    if classes and not named and target.model_class not in classes:
        return Support(unknown=(Part(CLASS, str(target.model_class), ""),))

    def run(release: str | None) -> bool:
        return not _before(release, first) and all(
            (cell := at(part, release)[0]) is not None and cell.runs != "no" for part in parts)

    versions = known_releases(name)
    if release is None:
        release = next((version for version in reversed(versions) if run(version)), versions[-1])
    if run(release):
        chosen = {part.name: (cell, target.wide if widened else "") for part in parts
                  for cell, widened in (at(part, release),) if cell}
        widened = [at(part, release)[1] for part in parts]
        used = {part: cell for part, (cell, _) in chosen.items()}
        return Support(Kernel(
            name, *span_of_releases(versions, release, lambda version: run(version) and [
                at(part, version)[1] for part in parts] == widened),
            used.get("routed_expert") or used.get("attention") or used["cache"], used,
            {part: dtype for part, (_, dtype) in chosen.items() if dtype}))
    if _before(release, first):
        missing = say("no-class", f"no class {target.model_class} before {first}",
                      model_class=str(target.model_class), first=str(first))
        return Support(refusals=(
            Refusal(name, release, None, missing, f"{table.engine}-releases"),))
    decided = {part: at(part, release)[0] for part in parts}
    return Support(
        refusals=tuple(
            Refusal(name, release, part, cell.instead or say("no-kernel", "no kernel"), cell.source)
            for part, cell in decided.items() if cell is not None and cell.runs == "no"),
        unknown=tuple(part for part, cell in decided.items() if cell is None))


def _before(release: str | None, first: str | None) -> bool:
    """Whether a release comes before another; not where either is not said."""
    return release is not None and first is not None and in_order(release) < in_order(first)


def span_of_releases(versions: list[str | None], release: str | None,
                     run: Callable[[str | None], bool]) -> tuple[str | None, str | None]:
    """First and last of the releases in a row that run something, around one that does."""
    if release is None:
        return None, None
    order = versions if release in versions else sorted(
        {*versions, release}, key=lambda version: in_order(str(version)))
    first = last = order.index(release)
    while first and run(order[first - 1]):
        first -= 1
    while last + 1 < len(order) and run(order[last + 1]):
        last += 1
    return order[first], order[last]


def multiplied(precision: Precision, device: Device, engine: str | None = None,
               model: Model | None = None, classes: Collection[str] | None = None
               ) -> dict[str, str]:
    """Class of tensors -> dtype that is multiplied for it on a device.

    Where the device has no peak of the dtype asked for, or the engine that is meant (the first that
    runs it, if none is) has kernels of wider products alone, weights and activations are widened to
    16 bits.

    Arguments as of :func:`support`; an engine that is not of the catalogue says nothing.
    """
    dtypes = precision.multiply.dtypes
    dtypes |= {"index": precision.multiply.index or precision.multiply.core}
    result = {name: device.multiplied(dtype) for name, dtype in dtypes.items()}
    if not has_profile(engine):
        return result
    kernel = kernel_of(precision, device, engine, model=model, classes=classes)
    widened = kernel.widened if kernel else {}
    return result | {("core" if name == "cache" else name): dtype
                    for name, dtype in widened.items()}


def kernels_of(precision: Precision, device: Device, model: Model | None = None,
               classes: Collection[str] | None = None) -> list[Kernel]:
    """Every engine that runs a precision on a card, each in its newest release that does; native
    kernels first.

    Args:
        precision: an entry of ``params/precisions/``.
        device: the card.
        model: whose classes of tensors and whose attention are asked for; all without one.
        classes: of tensors that the card multiplies; absent, all.
    """
    parts, target = parts_of(precision, model, classes, device), _target(device, model)
    kernels = (_judged(name, parts, target, None).kernel for name in tables())
    return sorted((kernel for kernel in kernels if kernel is not None), key=_order)


def support(precision: Precision, device: Device, engine: str | None = None,
            release: str | None = None, model: Model | None = None,
            classes: Collection[str] | None = None) -> Support:
    """What is known of a precision on a card: it runs, it is refused, or nobody says.

    Args:
        precision: an entry of ``params/precisions/``, with a deployment's overrides.
        device: the card.
        engine: that is meant, ``vllm`` or with its release ``vllm@0.11``; absent, any: refused is
            then what each of those refuses that ``deploy`` starts on such cards.
        release: of the engine, in place of one written with it; absent, its newest.
        model: whose classes of tensors and whose attention are asked for; all without one.
        classes: of tensors that the card multiplies, where a host computes the others.

    Raises ParamsError for an engine that is not known.

    >>> import catalogue
    >>> h200 = catalogue.load_device("nvidia-h200-sxm")
    >>> support(catalogue.load_precision("fp8-block"), h200, "vllm@0.11.0").verdict
    'runs'
    """
    parts, target = parts_of(precision, model, classes, device), _target(device, model)
    if engine is not None:  # in the release that is asked for: cells speak of all
        name, _, written = (part.strip() for part in engine.partition(AT))
        meant = asked_release(profile_of(name), release or written or None)
        return (_judged(name, parts, target, meant) if library.stands("kernels", name)
                else Support(unknown=parts))
    if kernels := kernels_of(precision, device, model, classes):
        return Support(kernels[0])
    profiles = {of: library.load("profiles", table.engine) for of, table in tables().items()
                if table.engine is not None}
    started = [_judged(of, parts, target, None) for of, profile in profiles.items()
               if profile.flags is not None and device.software in profile.stacks]
    if started and all(answer.refusals for answer in started):
        return Support(refusals=tuple(answer.refusals[0] for answer in started))
    return next((answer for answer in started if not answer.refusals), Support(unknown=parts))


def kernel_of(precision: Precision, device: Device, engine: str | None = None,
              release: str | None = None, model: Model | None = None,
              classes: Collection[str] | None = None) -> Kernel | None:
    """How a precision runs on a card: engine, releases, kernel and source; None if nobody is known
    to run it. Arguments as of :func:`support`."""
    return support(precision, device, engine, release, model, classes).kernel


def _order(kernel: Kernel) -> tuple[bool, bool, bool]:
    """What sorts kernels: native ones, of engines that a deployment can name and start, first."""
    engine = library.load("kernels", kernel.engine).engine
    started = engine is not None and library.load("profiles", engine).flags is not None
    return kernel.weight_only, engine is None, not started


def nearest(precision: Precision, device: Device, engine: str | None = None,
            model: Model | None = None, classes: Collection[str] | None = None) -> Precision | None:
    """The precision of the catalogue that replaces one best, of those that run on a card.

    First those that the model is published in; of them the one whose routed experts come nearest in
    bytes, and of two the one that is not widened.

    Arguments as of :func:`support`; None if nothing runs there.
    """
    wanted, candidates = expert_bytes(precision), []
    for name in library.names("precisions"):
        entry: Precision = library.load("precisions", name)
        kernel = kernel_of(entry, device, engine, model=model, classes=classes)
        if entry.id != precision.id and kernel is not None:
            candidates.append((model is not None and not published(model, entry),
                          abs(expert_bytes(entry) - wanted), kernel.weight_only, name, entry))
    return min(candidates, default=(None,), key=lambda candidate: candidate[:4])[-1]


def expert_bytes(precision: Precision) -> int | float:
    """Bytes of one parameter of a routed expert, its share of scales included [B]."""
    stored: Format = library.load("formats", precision.weights.routed_expert)
    return stored.bytes_per_element


# --- quality --------------------------------------------------------------------------------------

EXACT = {"fp8-block": ("bf16",), "mxfp4-w4a16": ("bf16",),
         "fp8-mxfp4": ("fp8-mxfp4-w4a16", "fp8-block-e8m0")}
"""Formats that a published one is widened to without loss: a score against them is one against the
published weights."""
SAME = {"nvfp4-w4a16": "nvfp4", "mxfp4-w4a8": "mxfp4-w4a16"}
"""Formats with the weights of another and wider activations: what is known of that bounds them."""


@dataclass(frozen=True)
class Quality:
    """What is published of a model in a format.

    Attributes:
        precision, published: the format, and that of the published weights; None if not known.
        rows: scores of the model itself; those with a difference from the published weights first.
        relatives: scores of models of its family, where it has none with a difference.
        worst: largest loss against the published weights over all benchmarks, below zero [points]:
            of the model, else of its relatives; None where nobody published both scores.
        relative: whether that is of a relative.
    """

    precision: str
    published: str | None
    rows: tuple[FormatScore, ...] = ()
    relatives: tuple[FormatScore, ...] = ()
    worst: float | None = None
    relative: bool = False

    @property
    def is_published(self) -> bool:
        """Whether the format is that of the published weights: nothing is lost then."""
        return self.published is not None and self.precision == self.published

    @property
    def lossless(self) -> bool:
        """Whether it holds every number of the published weights: they themselves, or wider."""
        return self.is_published or self.precision in EXACT.get(self.published or "", ())

    def within(self, points: float) -> bool:
        """Whether a loss is known and at most so many points; the published weights lose none.

        Args:
            points: what may be lost on any benchmark [points], at least zero.
        """
        return self.lossless or (self.worst is not None and -self.worst <= points)

    @property
    def words(self) -> Pair:
        """In English and Chinese, what a line about an answer ends with."""
        if self.is_published:
            return say("published-weights", "published weights")
        if self.lossless:
            return say("published-weights-widened-without-loss",
                       "published weights, dequantised without loss")
        score = next((row for row in (self.relatives if self.relative else self.rows)
                      if row.difference == self.worst and row.difference is not None
                      and _counts(row, self.published)), None)
        if score is None or score.difference is None or score.reference is None:
            return self._alone()
        of = say("of-relative", f" of a relative ({score.weights})",
                 weights=score.weights) if self.relative else ("", "")
        solved, reference = f"{score.solved.value:g}", f"{score.reference.value:g}"
        difference = f"{score.difference:+.1f}"
        return say("quality-against-points",
                   f"quality: {score.benchmark} {solved} against {reference}, {difference} points"
                   f"{of[0]}", benchmark=score.benchmark, solved=solved, reference=reference,
                   difference=difference, of=of)

    def _alone(self) -> Pair:
        """What is told where no score stands beside one of the published weights."""
        none = say("none-beside-published-weights-is",
                   "no published score against the original weights")
        if not self.rows:
            return say("quality", f"quality: {none[0]}", none=none)
        row = self.rows[0]
        if row.difference is None:
            texts = [f"{score.benchmark} {score.solved.value:g}" for score in self.rows]
            scores = join((", ", "、"), zip(texts, texts, strict=True))
            return say("quality-scores", f"quality: {scores[0]}; {none[0]}",
                       scores=scores, none=none)
        difference, against = f"{row.difference:+.1f}", str(row.against)
        return say("quality-points-against",
                   f"quality: {row.benchmark} {difference} points against {against}; {none[0]}",
                   benchmark=row.benchmark, difference=difference, against=against, none=none)


def published_precision(model: Model) -> str | None:
    """The format of the weights that a model is published in; None if none is known.

    >>> import catalogue
    >>> published_precision(catalogue.load_model("deepseek-v3.2"))
    'fp8-block'
    """
    return model.weights.precision if model.weights else None


def published_weights(model: Model) -> WeightFormats | None:
    """Formats of the weights that a model is published in; None if none is known."""
    name = published_precision(model)
    return None if name is None else library.load("precisions", name).weights


def quality(model: Model, precision: str) -> Quality:
    """What is published of the quality of a model in a format.

    Args:
        model: of the catalogue, or a reader's own.
        precision: name of the format, an entry of ``params/precisions/``.

    A goal's ``limits.quality`` is a bound in points (``1 point``: the worst benchmark may lose
    that much, :meth:`Quality.within`; a format of which no difference is published is refused), or
    ``published`` (:attr:`Quality.is_published` alone).

    >>> import catalogue
    >>> r1 = catalogue.load_model("deepseek-v3")
    >>> quality(r1, "nvfp4").worst, quality(r1, "w4a8-int8").worst
    (0.007, None)
    >>> quality(r1, "w4a8-int8").words[0].partition(";")[0]
    'quality: HumanEval -6.1 points against w4a16-awq'
    """
    published = published_precision(model)
    scored = list(chain.from_iterable(library.load("accuracies", name).formats
                                      for name in library.names("accuracies")))
    names = {precision, SAME.get(precision, precision)}
    rows = [row for row in scored if row.precision in names and row.model == model.id]
    related = [row for row in scored if row.precision in names and row.model != model.id
               and model.family is not None and model.family == (
                   row.family if row.model is None else library.load("models", row.model).family)]
    own = [row for row in rows if _counts(row, published)]
    near = [row for row in related if _counts(row, published)]
    worst = min((row.difference for row in own or near if row.difference is not None), default=None)
    rest = sorted((row for row in rows if row not in own),
                  key=lambda row: 0.0 if row.difference is None else row.difference)
    return Quality(precision, published, (*own, *rest), tuple(near or related), worst,
                   relative=not own and worst is not None)


def _counts(row: FormatScore, published: str | None) -> bool:
    """Whether a score stands beside one of the published weights, or of what they equal."""
    return row.difference is not None and published is not None and row.against in (
        published, *EXACT.get(published, ()))
