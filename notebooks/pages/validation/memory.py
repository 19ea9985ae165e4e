"""Memory on the page on errors: figures of start-up logs beside their predictions.

It takes figures as data, with the properties of ``calc.evidence.startup.Term``. A group is
an engine with a kind of attention.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import catalogue
from catalogue.deployments.measured import StartupRow
from catalogue.entries.measurements import PRINTED_UNITS
from catalogue.messages import Pair, messages
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import markdown, short_table, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/validation/memory")

Groups = Mapping[tuple[str, str], Sequence[Any]]
SEEN = 8  # logs of the table that are not folded
TICKS = (0.1, 0.3, 1, 3, 10, 30)
ATTENTIONS: dict[str, Pair] = {
    "mla": ("MLA", "MLA"), "gqa": ("GQA", "GQA"), "csa": ("CSA", "CSA"),
    "sparse": ("sparse attention", "稀疏注意力"),
    "sparse-gqa": ("sparse grouped-query attention", "稀疏 GQA"),
    "heavy": ("heavily compressed entries", "高倍压缩条目")}


def _name(group: tuple[str, str]) -> Pair:
    engine = catalogue.load("profiles", group[0]).name
    en, zh = ATTENTIONS[group[1]]
    return f"{engine['en']}, {en}", f"{engine['zh']}，{zh}"


def by_group(groups: Groups, summarise: Callable[[Iterable[Any]], Any], near: float, far: float
             ) -> None:
    """Errors of each group before and now.

    Args:
        groups: figures by group.
        summarise: counts errors of figures, before and now.
        near, far: error of a figure that is near, factor of one that is far off [1].
    """
    def row(group: tuple[str, str], cells: Sequence[Any]) -> Mapping[str, Any]:
        now = summarise(cells)
        then = summarise(cell.recorded for cell in cells if cell.recorded)
        return {"name": _name(group), "logs": now.logs, "figures": now.figures} | {
            key: f"{getattr(then, key)} → {getattr(now, key)}"
            for key in ("near", "far", "covered")}

    table([row(*each) for each in groups.items()],
          {"name": say("group"), "logs": say("logs"), "figures": say("figures"),
           "near": say("near", share=fmt_percent(near, digits=0)),
           "far": say("far", factor=fmt_sig(far)), "covered": say("covered")},
          folded=say("by-group"))


def worst_first(worst: Iterable[tuple[Any, str | None]], causes: Iterable[str]) -> None:
    """The worst figure of each log, and the term that differs.

    Args:
        worst: figures in their order, with the printed figure of the log that is off.
        causes: printed figures that others follow from.
    """
    def shown(value: float, cell: Any) -> str:
        unit = PRINTED_UNITS[cell.figure]
        return (fmt_bytes(value, "GiB") if unit == "B" else fmt_fixed(value)
                if unit == "request" else fmt_int(round(value)))

    def deployed(cell: Any) -> Pair:
        ran = cell.row.scenario
        en, zh = ((ran.model.name[lang], f"{ran.devices} × {ran.device.name[lang]}",
                   ran.running.stated) for lang in ("en", "zh"))
        return ", ".join(en), "，".join(zh)

    def cause(name: str | None) -> Pair:
        return (say("all-inside") if name is None else say("not-printed") if name not in causes
                else common("printed-figure", name=name))

    short_table(worst, [
        Column(lambda row: row[0].row.log.id, say("log")),
        Column(lambda row: deployed(row[0]), common("deployment")),
        Column(lambda row: common("printed-figure", name=row[0].figure), say("figure")),
        Column(lambda row: shown(row[0].printed, row[0]), say("printed")),
        Column(lambda row: shown(row[0].ours.value, row[0]), common("predicted")),
        Column(lambda row: row[0].recorded and row[0].recorded.factor, say("ratio-before"),
               fmt_fixed),
        Column(lambda row: row[0].factor, say("ratio-now"), fmt_fixed),
        Column(lambda row: cause(row[1]), say("term-that-differs"))],
        first=SEEN, rest=say("other-logs"), wide=True)


def not_compared(rows: Iterable[StartupRow], cells: Iterable[Any]) -> None:
    """Why logs are not compared, how many of them, and how many figures have no prediction.

    Args:
        rows: all logs.
        cells: figures without a prediction.
    """
    if missing := list(cells):
        markdown(*say("not-predicted", figures=len(missing),
                  logs=len({cell.row.log.id for cell in missing})))
    reasons = Counter(row.log.excluded for row in rows if row.log.excluded)
    table([{"why": say("reason", name=name), "logs": count}
           for name, count in reasons.most_common()],
          {"why": say("why-not-compared"), "logs": say("logs")}, folded=say("not-compared"))


def ratios(groups: Groups, near: float, lang: int) -> Figure:
    """Predicted over printed of every figure, before and now, on a logarithmic scale.

    Args:
        groups: figures by group.
        near: error of a figure that is near [1].
        lang: 0 for English, 1 for Chinese.
    """
    drawing, axes = figures.axes(height=1.2 + 0.36 * len(groups))
    axes.axvspan(1 - near, 1 + near, color=figures.INK, alpha=0.15, lw=0)
    axes.axvline(1, color=figures.INK, lw=0.8)
    kinds = ((say("before"), figures.PALETTE[1], 0.2),
             (say("now-nothing-set"), figures.PALETTE[0], -0.05),
             (say("now-value-set"), figures.PALETTE[2], -0.25))
    for place, cells in enumerate(groups.values()):
        drawn = ([cell.recorded for cell in cells if cell.recorded],
                 [cell for cell in cells if not cell.row.log.fitted],
                 [cell for cell in cells if cell.row.log.fitted])
        for of, (_, colour, shift) in zip(drawn, kinds, strict=True):
            axes.plot([cell.factor for cell in of], [shift - place] * len(of), "o", ms=3.5,
                      alpha=0.6, mew=0, color=colour)
    axes.set(xscale="log", xlabel=say("predicted-over-printed")[lang],
             ylim=(0.6 - len(groups), 0.6), yticks=[-place for place in range(len(groups))],
             yticklabels=[_name(group)[lang] for group in groups])
    axes.set_xticks(TICKS, [f"{tick:g}" for tick in TICKS])
    axes.minorticks_off()
    drawing.legend(handles=[Line2D([], [], ls="", marker="o", ms=5, color=colour, label=name[lang])
                            for name, colour, _ in kinds],
                   loc="outside upper center", ncols=len(kinds), fontsize=8.5)
    return drawing
