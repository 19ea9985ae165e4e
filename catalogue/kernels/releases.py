"""What releases of engines run of a precision on a card: the tables of ``params/kernels/``.

A precision runs where every class of its tensors has a cell in the table of one engine, in one of
its releases: the format of its weights multiplied in the dtype that the precision says, and the
format of its cache. What no cell speaks of is not known to run.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, get_args

from catalogue import library
from catalogue.engines.released import AT, engine_meant, release_of, releases
from catalogue.entries.deployments import Format, Precision
from catalogue.entries.hardware import Architecture, Device
from catalogue.entries.kernels import (
    CLASSES,
    DENSE,
    AttentionKind,
    Cache,
    Cell,
    Kernels,
    Product,
)
from catalogue.entries.models import CSA, Model
from catalogue.entries.profiles import in_order
from catalogue.messages import LANGUAGES, Pair, messages, pair
from catalogue.reading import yamlfile
from catalogue.reading.errors import ParamsError

say = messages("catalogue/kernels/releases")

EXPERTS = ("shared_expert", "routed_expert", "router")  # what a model without experts lacks
FULL = ("fp32",)  # engines leave these products to the vector unit, which every card has
INDEXED = {"mla": "sparse", "gqa": "block-sparse"}  # attention over what an indexer chose
ARCHITECTURES: tuple[str, ...] = get_args(Architecture)


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
        since, until: first and last release that is known to; None for an engine without releases.
        experts: the cell of the routed experts, of a model without them that of attention.
        cells: by class of tensors; ``cache`` is that of the cache.
    """

    engine: str
    since: str | None
    until: str | None
    experts: Cell
    cells: dict[str, Cell]

    @property
    def weight_only(self) -> bool:
        """Whether the weights of the experts are widened before they are multiplied."""
        return isinstance(self.experts, Product) and self.experts.runs == "weight-only"

    @property
    def kernel(self) -> Pair:
        """The kernel of the experts by its name."""
        return pair(self.experts.kernel)

    @property
    def releases(self) -> str:
        """The engine with the releases that run it, as an English sentence has it."""
        return self.release_words[0]

    @property
    def release_words(self) -> Pair:
        """The engine with the releases that run it."""
        en, zh = (str(tables()[self.engine].name[language]) for language in LANGUAGES)
        if self.since is None or self.until is None:
            return en, zh
        newest = releases(library.load("profiles", str(tables()[self.engine].engine)))[-1]
        if self.until == newest:
            return say("and-later", engine=(en, zh), since=self.since)
        return say("from-to", engine=(en, zh), since=self.since, several=self.until != self.since,
                   until=self.until)

    def holds(self, release: str) -> bool:
        """Whether a release is one of those."""
        return (self.since is not None and self.until is not None
                and in_order(self.since) <= in_order(release) <= in_order(self.until))

    @property
    def text(self) -> str:
        """As an English answer says it."""
        return self.words[0]

    @property
    def words(self) -> Pair:
        """As an answer says it: engine, releases, kernel of the experts, notes on it."""
        known = self.experts.note
        en, zh = (known[language].rstrip(".。") if known else "" for language in LANGUAGES)
        return say("runs-on", releases=self.release_words, kernel=self.kernel,
                   widened=self.weight_only, noted=bool(known), note=(en, zh),
                   source=self.experts.source)


def tables() -> dict[str, Kernels]:
    """Every table of ``params/kernels/`` by its engine's name, each checked.

    Raises ParamsError, with file and line, for an engine or a release that is not known.
    """
    return {name: _sound(library.file_of("kernels", name)) for name in library.names("kernels")}


def _tables_of(engine: str) -> dict[str, Kernels]:
    """Those of one engine; the releases of others, which tables are checked with, are not read."""
    return {name: _sound(library.file_of("kernels", name)) for name in library.names("kernels")
            if library.load("kernels", name).engine == engine}


def runs_experts(engine: str) -> bool:
    """Whether an engine computes routed experts on a card, as far as its table is known."""
    own = _tables_of(engine).values()
    return not own or any(not cell.classes or "routed_expert" in cell.classes
                          for found in own for cell in found.products)


def table(path: Path) -> Kernels:
    """One table, checked as :func:`tables` checks them."""
    return _sound(path)


def _sound(path: Path) -> Kernels:
    return yamlfile.remembered("sound kernels", path.absolute(), lambda: _checked(path))


def _checked(path: Path) -> Kernels:
    found: Kernels = library.load("kernels", path)
    if found.engine is None:
        return found
    file = library.read(path)
    if found.engine not in library.names("profiles"):
        raise ParamsError(f"{file.where(('engine',))}: engine: there is no engine "
                          f"'{found.engine[:60]}', expected one of "
                          f"{', '.join(library.names('profiles'))}.")
    known = releases(library.load("profiles", found.engine))
    for group in ("products", "caches"):
        for number, cell in enumerate(getattr(found, group)):
            for key in ("since", "until"):
                if getattr(cell, key) not in (None, *known):
                    raise ParamsError(f"{file.where((group, number, key))}: {group}.{number}.{key}:"
                                      f" {found.engine} has no release '{getattr(cell, key)}', "
                                      f"expected one of {', '.join(known)}.")
    return found


def parts_of(precision: Precision, model: Model | None = None,
             classes: Collection[str] | None = None) -> list[Part]:
    """What a table is asked for a precision: a part per class of tensors, and the cache.

    Args:
        precision: an entry of ``params/precisions/``.
        model: whose classes are asked for; all of them without one.
        classes: that a card multiplies; those that a host computes are left out this way.
    """
    asked = [name for name in CLASSES if (classes is None or name in classes)
             and not (model is not None and not model.is_moe and name in EXPERTS)]
    products = [Part(name, getattr(precision.weights, name), getattr(precision.multiply, name))
                for name in asked]
    return [part for part in products if part.multiplied not in FULL] + [
        Part("cache", precision.kv_cache, precision.multiply.core)]


def attention_kind(model: Model) -> AttentionKind:
    """The kind of attention by which cells of a table know a model."""
    if model.index_topk is None or model.attention == CSA:
        return model.attention
    return INDEXED[model.attention]


def _attention(model: Model | None) -> AttentionKind | None:
    return None if model is None else attention_kind(model)


def _speaks(cell: Cell, part: Part, attention: AttentionKind | None) -> bool:
    """Whether a cell speaks of a part, whatever it says of it."""
    of = cell.attention or (DENSE if isinstance(cell, Cache) else None)
    if attention is not None and of is not None and attention not in of:
        return False
    if isinstance(cell, Cache):
        return (part.name == "cache" and part.stored in cell.formats
                and part.multiplied in cell.multiply)
    return (isinstance(cell, Product) and part.name != "cache" and part.stored in cell.weights
            and part.multiplied in cell.multiply
            and (not cell.classes or part.name in cell.classes))


def _cells(found: Kernels, architecture: str | None) -> list[Cell]:
    """Cells of a table that say something runs on an architecture."""
    every: tuple[Cell, ...] = (*found.products, *found.caches)
    return [cell for cell in every if architecture in cell.cards
            and getattr(cell, "runs", "native") != "no"]


def _known(found: Kernels) -> list[str | None]:
    """Releases of a table's engine, the oldest first; one without a name where none is known."""
    if found.engine is None:
        return [None]
    path = library.locate("profiles", found.engine)
    return yamlfile.remembered("releases", path.absolute(),
                               lambda: list(releases(library.load("profiles", path))))


def _at(cells: list[Cell], release: str | None) -> Cell | None:
    """The cell that speaks of a release; of several the last."""
    return next((cell for cell in reversed(cells) if release is None or cell.holds(release)), None)


def _running(name: str, found: Kernels, device: Device, parts: list[Part],
             attention: AttentionKind | None, release: str | None) -> Kernel | None:
    """How an engine runs all parts on a card, in a release or, without one, its newest that does.
    """
    cells: dict[str, list[Cell]] = {}
    here = _cells(found, device.architecture)
    for part in parts:
        cells[part.name] = [cell for cell in here if _speaks(cell, part, attention)]
        if not cells[part.name]:
            return None
    known = _known(found)
    runs = [each for each in known if all(_at(of, each) for of in cells.values())]
    if not runs or (release is not None and release not in runs):
        return None
    meant = release or runs[-1]
    first = known.index(meant)
    while first and known[first - 1] in runs:
        first -= 1
    chosen = {part: cell for part, of in cells.items() if (cell := _at(of, meant)) is not None}
    last = known.index(meant)
    while last + 1 < len(known) and known[last + 1] in runs:
        last += 1
    experts = chosen.get("routed_expert") or chosen.get("attention") or chosen["cache"]
    return Kernel(name, known[first], known[last], experts, chosen)


def _meant(engine: str | None, release: str | None) -> tuple[str | None, str | None]:
    """Engine and release that are meant; the newest release where none is said."""
    if engine is None:
        return None, None
    profile, meant = engine_meant(engine)
    return profile.id, release_of(profile, release) if release else meant


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
    parts, attention = parts_of(precision, model, classes), _attention(model)
    found = (_running(name, known, device, parts, attention, None)
             for name, known in tables().items())
    return sorted((kernel for kernel in found if kernel is not None), key=_order)


def kernel_of(precision: Precision, device: Device, engine: str | None = None,
              release: str | None = None, model: Model | None = None,
              classes: Collection[str] | None = None) -> Kernel | None:
    """How a precision runs on a card: engine, releases, kernel and source; None if nobody does.

    Arguments as of :func:`kernel_problem`. Without an engine it is the first that does, a native
    kernel before one that widens weights.
    """
    name, meant = _meant(engine, release)
    if name is None:
        return next(iter(kernels_of(precision, device, model, classes)), None)
    parts, attention = parts_of(precision, model, classes), _attention(model)
    return next((_running(table, found, device, parts, attention, meant)
                 for table, found in _tables_of(name).items()), None)


def _order(kernel: Kernel) -> tuple[bool, bool, bool]:
    """What sorts kernels: native ones, of engines that a deployment can name and start, first."""
    engine = library.load("kernels", kernel.engine).engine
    started = engine is not None and library.load("profiles", engine).flags is not None
    return kernel.weight_only, engine is None, not started


def kernel_problem(precision: Precision, device: Device, engine: str | None = None,
                   release: str | None = None, model: Model | None = None,
                   classes: Collection[str] | None = None) -> str | None:
    """Why no release of an engine runs a precision on a card; None if one does.

    Args:
        precision: an entry of ``params/precisions/``, with a deployment's overrides.
        device: the card.
        engine: that is meant, ``vllm`` or with its release ``vllm@0.11``; absent, any of the table.
        release: of the engine, in place of one written with it; absent, its newest.
        model: whose classes of tensors and whose attention are asked for; all without one.
        classes: of tensors that the card multiplies, where a host computes the others.

    Returns one sentence that names what runs it elsewhere, and the nearest that runs here.

    Raises ParamsError for an engine or a release that is not known.

    >>> import catalogue
    >>> h200 = catalogue.load_device("nvidia-h200-sxm")
    >>> kernel_problem(catalogue.load_precision("fp8-block"), h200, "vllm@0.11.0")
    >>> print(kernel_problem(catalogue.load_precision("w4a8-int8"), h200))
    ... # doctest: +ELLIPSIS
    no release of an engine is known to run w4a8-int8 on 'nvidia-h200-sxm'...
    """
    if kernel_of(precision, device, engine, release, model, classes) is not None:
        return None
    name, meant = _meant(engine, release)
    who = f"{name} {meant} is not" if name else "no release of an engine is"
    sentence = f"{who} known to run {precision.id} on '{device.id}'"
    if device.architecture is None:
        written = "; its file states no 'architecture', expected one of " + ", ".join(ARCHITECTURES)
        return f"{sentence}{written}."
    meant_engine = f"{name}{AT}{meant}" if name else None
    return f"{sentence}{_elsewhere(precision, device, meant_engine, model, classes)}."


def _elsewhere(precision: Precision, device: Device, engine: str | None, model: Model | None,
               classes: Collection[str] | None) -> str:
    """What does run a precision, and what runs on a card instead, as the end of a sentence."""
    here = kernels_of(precision, device, model, classes)
    told = [f"; {' or '.join(kernel.releases for kernel in here)} {_be(here)}"] if here else []
    if not here:
        parts, attention = parts_of(precision, model, classes), _attention(model)
        cards = {str(found.name["en"]): on for found in tables().values() if (on := [
            card for card in ARCHITECTURES if (cells := _cells(found, card)) and all(
                any(_speaks(cell, part, attention) for cell in cells) for part in parts)])}
        others = [f"{name} on {', '.join(on)}" for name, on in cards.items()]
        told = [f"; {' and '.join(others)} {_be(others)}"] if others else []
    near = nearest(precision, device, engine, model, classes)
    if near is not None:
        told.append(f"; the nearest that runs here is {near.id}")
    return "".join(told)


def _be(named: Collection[object]) -> str:
    return "is" if len(named) == 1 else "are"


def nearest(precision: Precision, device: Device, engine: str | None = None,
            model: Model | None = None, classes: Collection[str] | None = None) -> Precision | None:
    """The precision of the catalogue that replaces one best, of those that run on a card.

    That is the one whose routed experts come nearest in bytes; of two, the one that is not widened.

    Arguments as of :func:`kernel_problem`; None if nothing runs there.
    """
    wanted, found = expert_bytes(precision), []
    for name in library.names("precisions"):
        entry: Precision = library.load("precisions", name)
        kernel = kernel_of(entry, device, engine, model=model, classes=classes)
        if entry.id != precision.id and kernel is not None:
            found.append((abs(expert_bytes(entry) - wanted), kernel.weight_only, name, entry))
    return min(found, default=(None,), key=lambda each: each[:3])[-1]


def expert_bytes(precision: Precision) -> int | float:
    """Bytes of one parameter of a routed expert, its share of scales included [B]."""
    stored: Format = library.load("formats", precision.weights.routed_expert)
    return stored.bytes_per_element
