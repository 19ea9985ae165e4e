"""Which formats run on a card, by which engine's kernel and from which release on, with sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import catalogue
from catalogue.entries.hardware import Device
from catalogue.entries.kernels import Cache, Product
from catalogue.kernels import Kernel, kernels_of, quality, tables
from notebooks.show.display import cited, show, table

Text = tuple[str, str]
HOW: dict[str, Text] = {
    "native": ("native", "原生"), "weight-only": ("weights widened", "权重展开"),
    "no": ("no", "不支持")}
NONE: Text = ("No engine of the catalogue is known to run on this card: its file states no "
              "architecture of which kernels are known here.",
              "目录中没有已知能在该卡上运行的引擎：其文件未给出此处已知算子的架构。")


def formats_table(card: Device, folded: Text | None = None) -> None:
    """A row per precision and engine that runs it on a card; a sentence where none does.

    Args:
        card: of the catalogue, or a reader's own.
        folded: title under which the table is folded until a reader opens it.
    """
    rows = [_row(precision, kernel) for precision in _precisions()
            for kernel in kernels_of(precision, card)]
    if not rows:
        show(*NONE)
        return
    table(rows, {"precision": ("precision", "精度"), "engine": ("engine, releases", "引擎与版本"),
                 "how": ("how", "方式"), "kernel": ("kernel of the experts", "专家层算子"),
                 "source": ("source", "来源")}, wide=True, folded=folded)


def engines_table(engine: str, folded: Text | None = None) -> None:
    """Every cell of an engine's table: format, what it is multiplied in, cards, releases, source.

    Args:
        engine: name of its table, an entry of ``params/kernels/``.
        folded: as of :func:`formats_table`.
    """
    found = tables()[engine]
    cells: list[tuple[Text, list[str], Product | Cache]] = [
        *((("weights", "权重"), cell.weights, cell) for cell in found.products),
        *((("cache", "缓存"), cell.formats, cell) for cell in found.caches)]
    rows = [{"format": ", ".join(f"`{name}`" for name in stored), "what": what,
             "multiply": ", ".join(name.upper() for name in cell.multiply),
             "cards": ", ".join(cell.cards), "kernel": cell.kernel,
             "releases": f"{cell.since or ''} – {cell.until or ''}".strip(),
             "how": HOW[cell.runs if isinstance(cell, Product) else "native"],
             "source": cited(cell.source)} for what, stored, cell in cells]
    table(rows, {"format": ("format", "格式"), "what": ("of", "对象"),
                 "multiply": ("multiplied in", "相乘类型"), "cards": ("cards", "卡"),
                 "releases": ("releases", "版本"), "how": ("how", "方式"),
                 "kernel": ("kernel", "算子"), "source": ("source", "来源")}, wide=True,
          folded=folded)


def every_table() -> None:
    """The table of every engine, each folded."""
    for engine, found in tables().items():
        en, zh = found.name["en"], found.name["zh"]
        engines_table(engine, folded=(f"Which formats {en} loads on which cards, by which kernel",
                                      f"{zh} 在哪些卡上加载哪些格式，由哪个算子"))


def qualities_table(model: str, precisions: Sequence[str]) -> None:
    """What is published of a model in each precision, beside its published weights.

    Args:
        model: of the catalogue.
        precisions: names of precisions.
    """
    of = catalogue.load_model(model)
    rows = []
    for name in precisions:
        found = quality(of, name)
        en, zh = (text.removeprefix("quality: ").removeprefix("质量：") for text in found.told)
        source = next(iter((*found.rows, *found.relatives)), None)
        rows.append({"precision": f"`{name}`", "told": (en, zh),
                     "source": cited(source.source) if source and not found.lossless else "–"})
    table(rows, {"precision": ("precision", "精度"), "told": ("published", "公开分数"),
                 "source": ("source", "来源")})


def _precisions() -> list[Any]:
    return [catalogue.load_precision(name) for name in catalogue.names("precisions")]


def _row(precision: Any, kernel: Kernel) -> dict[str, Any]:
    cell = kernel.experts
    how = HOW[cell.runs if isinstance(cell, Product) else "native"]
    return {"precision": f"`{precision.id}`", "engine": kernel.releases, "how": how,
            "kernel": cell.kernel, "source": cited(cell.source)}
