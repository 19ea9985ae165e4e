"""The picture of verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from matplotlib.figure import Figure

from calc.auditing.judging import Audited
from catalogue.messages import messages
from notebooks.pages.audit.words import GROUPS, HOLDS, OPEN, VERDICTS, WRONG, group
from notebooks.show import figures

common = messages("common")

COLOURS = {HOLDS: figures.PALETTE[2], WRONG: figures.PALETTE[3], OPEN: figures.PALETTE[7]}
HEIGHT = 0.28  # of a bar [inch]


def verdicts(rows: Sequence[Audited], lang: str) -> Figure:
    """Claims by verdict, coloured by whether they hold.

    Args:
        rows: the claims.
        lang: language of the words.
    """
    place = ("en", "zh").index(lang)
    counts = Counter((row.judgement.verdict, group(row)) for row in rows)
    names = [name for name in VERDICTS if any(counts[name, kind] for kind in GROUPS)]
    drawing, axes = figures.axes(height=0.9 + HEIGHT * len(names))
    for kind, called in GROUPS.items():
        left = [sum(counts[name, before] for before in list(GROUPS)[:list(GROUPS).index(kind)])
                for name in names]
        widths = [counts[name, kind] for name in names]
        if any(widths):
            axes.barh(range(len(names)), widths, left=left, color=COLOURS[kind],
                      label=called[place])
    for line, name in enumerate(names):
        total = sum(counts[name, kind] for kind in GROUPS)
        axes.annotate(f"{total:,}", (total, line), (4, 0), textcoords="offset points",
                      va="center", fontsize=9)
    axes.set_yticks(range(len(names)), [VERDICTS[name][place] for name in names])
    axes.invert_yaxis()
    axes.set_xlabel(common("number-of-claims")[place])
    axes.grid(visible=False, axis="y")
    axes.legend(loc="lower right")
    return drawing
