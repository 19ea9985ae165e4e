"""Which formats run on a card, by which engine's kernel and from which release on, with sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import catalogue
from catalogue.entries.hardware import Device
from catalogue.entries.kernels import Cache, Product
from catalogue.kernels import Kernel, kernels_of, quality, tables
from catalogue.messages import Pair, messages, pair
from notebooks.show.display import cited, show, table

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
        show(*say("no-engine-runs-on-this-card"))
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
             "cards": ", ".join(cell.cards), "kernel": _kernel(pair(cell.kernel)),
             "releases": f"{cell.since or ''} – {cell.until or ''}".strip(),
             "how": HOW[cell.runs if isinstance(cell, Product) else "native"],
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


def _kernel(name: Pair) -> Pair:
    """A kernel by its name; ``none``, and after it what runs instead, in words."""
    (none, _, instead), (_, _, zh) = (each.partition(": ") for each in name)
    if none != "none":
        return name
    return say("no-kernel-instead", instead=(instead, zh)) if instead else common("none")


def _row(precision: Any, kernel: Kernel) -> dict[str, Any]:
    cell = kernel.experts
    how = HOW[cell.runs if isinstance(cell, Product) else "native"]
    return {"precision": f"`{precision.id}`", "engine": kernel.release_words, "how": how,
            "kernel": _kernel(kernel.kernel), "source": cited(cell.source)}
