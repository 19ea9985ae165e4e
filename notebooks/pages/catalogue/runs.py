"""Which formats run on a card, by which engine's kernel and from which release on, with sources."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

import catalogue
from catalogue.engine import fitting
from catalogue.entries.hardware import Device
from catalogue.entries.models import Model
from catalogue.entries.profiles import Cell
from catalogue.kernels import Support, kernels_of, published, published_precision, quality, support
from catalogue.messages import Pair, pair
from notebooks.show.display import cited, markdown
from notebooks.show.frames import show

HOW: dict[str, Pair] = {
    "native": ("native", "原生"), "weight-only": ("weights dequantised", "反量化"),
    "no": ("no", "不支持")}
LABELS: dict[str, Pair] = {
    "precision": ("precision", "精度"), "engine": ("engine, releases", "引擎与版本"),
    "how": ("how", "方式"), "kernel": ("kernel of the experts", "专家层算子"),
    "published": ("score against the published weights", "公开分数"), "source": ("source", "来源")}


def formats_table(card: Device, folded: Pair | None = None) -> None:
    """A row per precision and engine that runs it on a card; a sentence where none does.

    Args:
        card: of the catalogue, or a reader's own.
        folded: title under which the table is folded until a reader opens it.
    """
    rows = [{"precision": f"`{precision.id}`", "engine": kernel.release_words,
             "how": HOW[kernel.experts.runs], "kernel": kernel_name(kernel.experts),
             "source": cited(kernel.experts.source)}
            for precision in _precisions() for kernel in kernels_of(precision, card)]
    if rows:
        show(pd.DataFrame(rows), labels=LABELS, wide=True, folded=folded or False)
    else:
        markdown("No kernels of an engine are known for this card: its file states no architecture "
                 "that a table names. Times are those of its class of cards, in wide ranges.",
                 "尚无引擎在该卡上的算子资料：其文件未给出算子表中的架构。时间按同类卡计算，区间较宽。")


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
        en, zh = found.words
        source = next(iter((*found.rows, *found.relatives)), None)
        rows.append({"precision": f"`{name}`",
                     "published": (en.removeprefix("quality: "), zh.removeprefix("质量：")),
                     "source": cited(source.source) if source and not found.lossless else None})
    show(pd.DataFrame(rows, columns=["precision", "published", "source"]), labels=LABELS)


def kernel_name(cell: Cell) -> Pair:
    """A kernel by its name; of what is refused that there is none, and what runs instead."""
    if cell.runs != "no":
        return pair(cell.kernel)
    if cell.instead is None:
        return "none", "无"
    en, zh = cell.instead
    return f"none: {en}", f"无：{zh}"


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


def _precisions() -> list[Any]:
    return [catalogue.load_precision(name) for name in catalogue.names("precisions")]


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
