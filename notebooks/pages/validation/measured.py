"""Measured rows beside their predictions: tables and figures of one deployment's page.

Predictions are taken as data (row, measured, predicted, low, high, errors: arrays of one length in
SI units); how they came about is not known here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import catalogue
from catalogue.messages import LANGUAGES, Pair, messages
from catalogue.reading.units import human
from notebooks.show import figures
from notebooks.show.numbers import fmt_int, fmt_percent

common = messages("common")
say = messages("pages/validation/measured")

Columns = dict[str, str | Pair]
METRICS: dict[str, Pair] = {
    "tpot": ("TPOT", "TPOT"), "ttft": ("TTFT", "TTFT"), "e2e": common("end-to-end-latency"),
    "output_throughput": common("output-throughput"),
    "prefill_throughput": say("prefill-throughput")}
# latency follows from the first two
SHOWN = ("tpot", "ttft", "output_throughput", "prefill_throughput")
GIVEN: Columns = {"row": common("row"), "input_tokens": common("input"),
                  "output_tokens": common("output"), "requests": say("sent"),
                  "concurrency": say("at-once")}
LEAST_FOR_LINE = 3
UNITS = {"tpot": ("ms", 1e3), "ttft": ("s", 1.0)}  # of the panels, and how many are one second


@dataclass(frozen=True)
class Results:
    """What was measured of a deployment, held against what is predicted of it.

    Attributes:
        rows: measured columns by name, SI units.
        suspect: row (from 0) -> why nothing is judged by it.
        unequal: rows (from 0) whose requests have many lengths.
        predictions: by metric.
    """

    rows: Mapping[str, np.ndarray]
    suspect: Mapping[int, dict[str, str]]
    unequal: frozenset[int]
    predictions: Mapping[str, Any]

    @property
    def count(self) -> int:
        """Rows of the table."""
        return len(self.rows["concurrency"])


def signed(error: float, digits: int = 0) -> str:
    """A relative error in per cent, with its sign: ``+12%``; none for what is printed as zero."""
    text = fmt_percent(float(error), digits).lstrip("−")
    return text if not text.strip("0.%") else f"{'+' if error > 0 else '−'}{text}"


def title(system: str) -> Pair:
    """The title of a measured deployment, without the word that says so of all of them.

    That of a variant begins with its family's, which names cards, engine and model.
    """
    scenario = catalogue.load_scenario(system)
    en, zh = (scenario.file.title[lang].removesuffix(end)
              for lang, end in zip(LANGUAGES, common("that-it-was-measured"), strict=True))
    if scenario.family is None:
        return en, zh
    family = (scenario.family["en"].partition(":")[0], scenario.family["zh"].partition("：")[0])
    return f"{family[0]}: {en}", f"{family[1]}：{zh}"


def errors(results: Results) -> tuple[list[dict[str, Any]], Columns]:
    """Errors by metric over all rows, and over those that are not in doubt: rows and columns."""
    table = []
    for metric, of in results.predictions.items():
        sound = np.array([row not in results.suspect for row in of.row])
        size = np.abs(of.errors)
        inside = int(((of.low <= of.measured) & (of.measured <= of.high)).sum())
        worst = int(size.argmax())
        table.append({
            "metric": METRICS[metric], "rows": len(of.row),
            "median": fmt_percent(float(np.median(size)), 0),
            "sound": fmt_percent(float(np.median(size[sound])), 0) if sound.any() else "–",
            "worst": f"{signed(of.errors[worst])} ({of.row[worst] + 1})",
            "inside": f"{inside}/{len(of.row)}"})
    columns: Columns = {"metric": common("metric"), "rows": common("rows"),
                        "median": common("median-error")}
    if results.suspect:
        columns["sound"] = say("without-doubtful-rows")
    return table, columns | {"worst": say("worst-row"), "inside": say("in-interval")}


def every_row(results: Results) -> tuple[list[dict[str, Any]], Columns]:
    """Each measured row with what is predicted of it: rows and columns of a table."""
    metrics = [metric for metric in SHOWN if metric in results.predictions]
    columns = {name: label for name, label in GIVEN.items()
               if name == "row" or name in results.rows}
    for metric in metrics:
        english, chinese = METRICS[metric]
        columns[metric] = say("measured", metric=(
            english, f"{chinese} " if chinese.isascii() else chinese))
        columns[f"{metric}_here"] = say("predicted-error")
    return [_row(results, row, metrics) for row in range(results.count)], columns


def _row(results: Results, row: int, metrics: list[str]) -> dict[str, Any]:
    """A measured row; what was not measured of it is a dash."""
    marks = "†" * (row in results.suspect) + "‡" * (row in results.unequal)
    cells: dict[str, Any] = {"row": f"{row + 1}{marks}"}
    cells |= {name: fmt_int(round(results.rows[name][row])) for name in GIVEN
              if name in results.rows}
    for metric in metrics:
        of, unit = results.predictions[metric], catalogue.symbols()[metric].unit
        at = np.flatnonzero(of.row == row)
        cells[metric] = cells[f"{metric}_here"] = "–"
        if len(at):
            cells[metric] = human(of.measured[at[0]], unit)
            cells[f"{metric}_here"] = (f"{human(of.predicted[at[0]], unit)} "
                                       f"({signed(of.errors[at[0]])})")
    return cells


def remarks(results: Results) -> list[Pair]:
    """What the marks of rows mean, one paragraph each, in both languages."""
    paragraphs = [say("requests-of-many-lengths")] if results.unequal else []
    for english, chinese in dict.fromkeys((text["en"], text["zh"])
                                          for text in results.suspect.values()):
        rows = [row + 1 for row, text in results.suspect.items() if text["en"] == english]
        numbers = ", ".join(map(str, rows)), "、".join(map(str, rows))
        paragraphs.append(say("doubt", count=len(rows), rows=numbers, doubt=(english, chinese)))
    return paragraphs


def lengths(results: Results) -> list[float]:
    """Prompt lengths of which time per output token was measured at three concurrencies or more."""
    of = results.predictions.get("tpot")
    if of is None:
        return []
    length, requests = results.rows["input_tokens"][of.row], results.rows["concurrency"][of.row]
    return [float(prompt) for prompt in np.unique(length)
            if len(np.unique(requests[length == prompt])) >= LEAST_FOR_LINE]


def by_requests(results: Results, floor: np.ndarray) -> Callable[[str], Figure]:
    """Measured and predicted time per output token, and the floor, by requests at once.

    Args:
        held: what was measured and predicted.
        floor: of each row that time per output token was measured of [s].
    """
    of = results.predictions["tpot"]
    length, requests = results.rows["input_tokens"][of.row], results.rows["concurrency"][of.row]

    def draw(lang: str) -> Figure:
        figure, axes = figures.axes()
        for colour, prompt in zip(figures.PALETTE, lengths(results), strict=False):
            at = np.flatnonzero(length == prompt)
            at = at[np.argsort(requests[at], kind="stable")]
            axes.plot(requests[at], of.measured[at] * 1e3, "o", color=colour, label=fmt_int(prompt))
            axes.plot(requests[at], of.predicted[at] * 1e3, "-", color=colour)
            axes.plot(requests[at], floor[at] * 1e3, ":", color=colour)
        ticks = sorted({int(n) for n in requests})
        axes.set(xscale="log", ylim=(0, None), xlabel=common("requests-at-once")[lang == "zh"],
                 ylabel=common("time-per-output-token-ms")[lang == "zh"])
        axes.set_xticks(ticks, [f"{n:,}" for n in ticks])
        axes.legend(title=say("legend-of-lengths")[lang == "zh"])
        return figure

    return draw


def panels(results: Results) -> list[str]:
    """The metrics with enough rows for a picture."""
    return [metric for metric in ("tpot", "ttft") if metric in results.predictions
            and len(results.predictions[metric].row) >= LEAST_FOR_LINE]


def against(results: Results) -> Callable[[str], Figure]:
    """Predicted over measured values with 80% intervals, one panel per metric."""

    def draw(lang: str) -> Figure:
        figures.style()
        chosen = panels(results)
        figure = Figure(figsize=(figures.WIDTH if len(chosen) > 1 else figures.WIDTH / 1.8, 3.3))
        for axes, metric in zip(figure.subplots(1, len(chosen), squeeze=False)[0], chosen,
                                strict=True):
            _panel(axes, results, metric)
            axes.set(title=f"{METRICS[metric][lang == 'zh']} ({UNITS[metric][0]})",
                     xlabel=common("measured")[lang == "zh"],
                     ylabel=common("predicted")[lang == "zh"])
        return figure

    return draw


def _panel(axes: Axes, results: Results, metric: str) -> None:
    """Points with bars on doubly logarithmic axes of one extent, and the line of equality."""
    of, factor = results.predictions[metric], UNITS[metric][1]
    values, here, low, high = (factor * column for column in (
        of.measured, of.predicted, of.low, of.high))
    ends = float(min(low.min(), values.min())) / 1.2, float(max(high.max(), values.max())) * 1.2
    axes.plot(ends, ends, color=figures.INK, lw=1)
    axes.errorbar(values, here, yerr=[here - low, high - here], fmt="o", ms=4, lw=0.8,
                  color=figures.PALETTE[0], alpha=0.85)
    doubtful = [place for place, row in enumerate(of.row) if row in results.suspect]
    axes.plot(values[doubtful], here[doubtful], "o", ms=7, mfc="none", color=figures.PALETTE[3])
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    for axis in (axes.xaxis, axes.yaxis):
        figures.log_ticks(axis, *ends)
