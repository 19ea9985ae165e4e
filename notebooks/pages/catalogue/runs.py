"""Which formats run on a card, by which engine's kernel and from which release on, with sources."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import catalogue
from catalogue.engine import fitting
from catalogue.entries.hardware import Device
from catalogue.entries.models import Model
from catalogue.entries.profiles import Cache, Cell, Product
from catalogue.kernels import (
    Kernel,
    Support,
    kernels_of,
    published,
    published_precision,
    quality,
    support,
    tables,
)
from catalogue.messages import Pair, join, messages, pair
from notebooks.show.display import cited, markdown, table

common = messages("common")
say = messages("pages/catalogue/runs")

HOW: dict[str, Pair] = {
    "native": say("native"), "weight-only": say("weights-widened"),
    "no": common("not-supported")}


def formats_table(card: Device, folded: Pair | None = None) -> None:
    """A row per precision and engine that runs it on a card; a sentence where none does.

    Args:
        card: of the catalogue, or a reader's own.
        folded: title under which the table is folded until a reader opens it.
    """
    rows = [_row(precision, kernel) for precision in _precisions()
            for kernel in kernels_of(precision, card)]
    if not rows:
        markdown(*say("no-engine-runs-on-this-card"))
        return
    table(rows, {"precision": common("precision"), "engine": say("engine-releases"),
                 "how": say("how"), "kernel": say("kernel-of-experts"),
                 "source": common("source")}, wide=True, folded=folded)


def engines_table(engine: str, folded: Pair | None = None) -> None:
    """Every cell of an engine's table: format, what it is multiplied in, cards, releases, source.

    Args:
        engine: name of its table, an entry of ``params/kernels/``.
        folded: as of :func:`formats_table`.
    """
    found = tables()[engine]
    cells: list[tuple[Pair, list[str], Product | Cache]] = [
        *((common("weights"), cell.weights, cell) for cell in found.products),
        *((common("cache"), cell.formats, cell) for cell in found.caches)]
    rows = [{"format": ", ".join(f"`{name}`" for name in stored), "what": what,
             "multiply": ", ".join(name.upper() for name in cell.multiply),
             "cards": ", ".join(cell.cards), "kernel": _kernel(cell),
             "releases": f"{cell.since or ''} – {cell.until or ''}".strip(),
             "how": HOW[cell.runs],
             "source": cited(cell.source)} for what, stored, cell in cells]
    table(rows, {"format": common("format"), "what": say("of-what"),
                 "multiply": say("multiplied-in"), "cards": common("cards"),
                 "releases": common("releases"), "how": say("how"),
                 "kernel": common("kernel"), "source": common("source")}, wide=True,
          folded=folded)


def every_table() -> None:
    """The table of every engine, each folded."""
    for engine, found in tables().items():
        engines_table(engine, folded=say("which-formats-an-engine-loads",
                                         engine=(found.name["en"], found.name["zh"])))


def qualities_table(model: str, precisions: Sequence[str]) -> None:
    """What is published of a model in each precision, beside its published weights, if anything is.

    Args:
        model: of the catalogue.
        precisions: names of precisions.
    """
    of = catalogue.load_model(model)
    rows = []
    for name in precisions:
        found = quality(of, name)
        if not (found.lossless or found.rows or found.relatives):
            continue
        en, zh = (text.removeprefix(word) for text, word in zip(
            found.words, say("beginning-of-what-is-told"), strict=True))
        source = next(iter((*found.rows, *found.relatives)), None)
        rows.append({"precision": f"`{name}`", "told": (en, zh),
                     "source": cited(source.source) if source and not found.lossless else "–"})
    table(rows, {"precision": common("precision"), "told": say("published"),
                 "source": common("source")})


def _precisions() -> list[Any]:
    return [catalogue.load_precision(name) for name in catalogue.names("precisions")]


def _kernel(cell: Cell) -> Pair:
    """A kernel by its name; of what is refused that there is none, and what runs instead."""
    if cell.runs != "no":
        return pair(cell.kernel)
    return say("no-kernel-instead", instead=cell.instead) if cell.instead else common("none")


def _row(precision: Any, kernel: Kernel) -> dict[str, Any]:
    cell = kernel.experts
    how = HOW[cell.runs]
    return {"precision": f"`{precision.id}`", "engine": kernel.release_words, "how": how,
            "kernel": _kernel(cell), "source": cited(cell.source)}


@dataclass(frozen=True)
class Start:
    """Whether an engine starts a model on a class of cards, in any format that it is published in.

    Attributes:
        model, engine, architecture: what is asked.
        format: a published precision that runs, else the first; of several the published one.
        found: what is known of it.
    """

    model: Model
    engine: str
    architecture: str
    format: str
    found: Support


@functools.cache
def starts() -> tuple[Start, ...]:
    """Every model of the catalogue on every class of cards, under engines that start there."""
    cards: dict[str, Device] = {}
    for name in catalogue.names("devices"):
        card = catalogue.load_device(name)
        if card.architecture and not card.dies:
            cards.setdefault(card.architecture, card)
    models = [catalogue.load_model(name) for name in catalogue.names("models")
              if not name.startswith("s0-")]
    return tuple(_start(model, formats, engine, card)
                 for model, formats in ((model, _formats(model)) for model in models)
                 for card in cards.values()
                 for engine in fitting(card) if catalogue.library.load("profiles", engine).flags)


def _formats(model: Model) -> list[Any]:
    """Precisions in which a model can be had, that of its own weights first."""
    first = published_precision(model)
    return sorted((precision for precision in _precisions() if published(model, precision)),
                  key=lambda precision: bool(precision.id != first))


def _start(model: Model, every: Sequence[Any], engine: str, card: Device) -> Start:
    found: list[tuple[str, Support]] = []
    for precision in every:
        found.append((precision.id, support(precision, card, engine, model=model)))
        if found[-1][1].verdict == "runs":
            break
    order = ("runs", "unknown", "refuses")
    name, best = min(found, key=lambda each: order.index(each[1].verdict))
    return Start(model, engine, str(card.architecture), name, best)


def unknown_share() -> float:
    """Share of the cells of :func:`starts` of which no source says anything [1]."""
    return sum(each.found.verdict == "unknown" for each in starts()) / len(starts())


def starts_table() -> None:
    """A row per model, engine and answer: on which cards, in which format, by which kernel."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    for each in starts():
        told = _told(each)
        key = each.model.id, each.engine, each.found.verdict, each.format, *told["what"]
        row = rows.setdefault(key, {"model": pair(each.model.name), "engine": each.engine,
                                    "format": f"`{each.format}`", "cards": [], **told})
        row["cards"] += [each.architecture, *_called(each.architecture)]
    table([row | {"cards": ", ".join(row["cards"])} for row in rows.values()],
          {"model": common("model"), "engine": common("engine"), "answer": say("answer"),
           "cards": common("cards"), "format": say("format-of-checkpoint"), "what": say("by-what"),
           "source": common("source")}, sortable=True, wide=True)


def _told(each: Start) -> dict[str, Any]:
    """The answer of a cell, what it rests on, and who says so."""
    answer = say("answer-of", verdict=each.found.verdict)
    if kernel := each.found.kernel:
        return {"answer": answer, "what": join((", ", "，"), [
            _kernel(kernel.experts), kernel.release_words]), "source": cited(kernel.experts.source)}
    if refusals := each.found.refusals:
        return {"answer": answer, "what": refusals[0].why,
                "source": cited(refusals[0].source)}
    parts = ", ".join(f"`{name}`" for name in dict.fromkeys(
        part.stored for part in each.found.unknown))
    return {"answer": answer, "what": say("nothing-of", parts=parts), "source": "–"}


@functools.cache
def _called(architecture: str) -> tuple[str, ...]:
    """Cards of an architecture, by names short enough to look for."""
    found = [catalogue.load_device(name) for name in catalogue.names("devices")]
    names = (card.name["en"].removeprefix("NVIDIA ").split(",")[0] for card in found
             if card.architecture == architecture and not card.dies)
    return tuple(dict.fromkeys(names))
