"""What deployments deliver against the time per token, and where a limit on it cuts them off."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.figure import Figure

from catalogue.messages import Pair, messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.throughput import Served, quantities
from notebooks.show import figures

common = messages("common")
say = messages("pages/derivations/diagrams/limits")

BATCHES = (1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
NAMED = (8, 32, 128, 512)  # batches that stand beside the lines
MS = 1e3
Curve = list[tuple[int, float, float]]  # requests, time per token [s], output [token/s]


def curves(derivation: Derivation, served: Iterable[Served]) -> dict[Pair, Curve]:
    """Time per token and output of each deployment, from one request until its memory is full."""
    def point(row: Served, batch: int) -> tuple[int, float, float]:
        values = quantities(derivation, row.alone, concurrency=batch)
        return batch, float(values["tpot"]), float(values["output_throughput"])

    return {row.name: [point(row, batch) for batch in sorted(
        {*(n for n in BATCHES if n < row.alone["max_concurrency"]), max(1, row.most),
         int(row.alone["max_concurrency"])})] for row in served}


def draw(of: dict[Pair, Curve], served: Sequence[Served], limit: float, lang: str) -> Figure:
    """Output over the time per token; beyond the limit [s] it counts for nothing."""
    drawing, axes = figures.axes(height=4.2)
    zh = lang == "zh"
    longest = MS * max(point[1] for curve in of.values() for point in curve)
    axes.axvspan(MS * limit, 1.05 * longest, color=figures.PALETTE[3], alpha=0.1, lw=0)
    axes.axvline(MS * limit, color=figures.PALETTE[3], lw=1.2)
    axes.annotate(say("limit", limit=f"{MS * limit:.0f}")[zh], (MS * limit, 0),
                  xytext=(4, 5), textcoords="offset points", color=figures.PALETTE[3], fontsize=9)
    for row, colour in zip(served, figures.card_colours(row.name[0] for row in served).values(),
                           strict=True):
        points = of[row.name]
        axes.plot([MS * tpot for _, tpot, _ in points], [rate for *_, rate in points], "-",
                  color=colour, label=row.name[zh])
        marked = [point for point in points if point[0] in NAMED]
        axes.plot([MS * tpot for _, tpot, _ in marked], [rate for *_, rate in marked], "o", ms=4,
                  color=colour)
        for batch, tpot, rate in marked:
            axes.annotate(str(batch), (MS * tpot, rate), xytext=(5, -11),
                          textcoords="offset points", fontsize=9, color=colour)
        if row.most:
            axes.plot([MS * row.best["tpot"]], [row.best["output_throughput"]], "D", ms=7,
                      color=colour)
    axes.plot([], [], "o", ms=4, color=figures.INK, label=common("number-of-requests")[zh])
    axes.plot([], [], "D", ms=7, color=figures.INK, label=say("most-within-limit")[zh])
    axes.set(xlim=(0, 1.05 * longest), ylim=(0, None))
    axes.set_xlabel(common("time-per-output-token-ms")[zh])
    axes.set_ylabel(say("output-token-s")[zh])
    axes.legend(loc="upper right")
    return drawing
