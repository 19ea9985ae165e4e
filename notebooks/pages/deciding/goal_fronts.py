"""What the chapter on the choice of a deployment shows of fronts: by device, by price, by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

import catalogue
from calc.costing.ownership import MILLION
from calc.layouts.layout import Choice, Row
from calc.physics.step import BANDWIDTH, CACHE, COMPUTE, HOST, LINKS, OVERHEAD
from calc.searching.ranking import SampledRow, ranked, sample_rows
from calc.searching.selection import Selection
from catalogue.messages import LANGUAGES, Pair, join, messages
from catalogue.reading.units import HOUR
from notebooks.pages.catalogue.tables.deployments import RESOURCES
from notebooks.pages.deciding.goals import (
    Page,
    best_on_devices,
    binding,
    cards,
    cell,
    currency_of,
    device_label,
    headed,
    plan,
)
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import figure, markdown, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/goal-fronts")

Place = tuple[float, float]
T = TypeVar("T")
PACES = (0.02, 0.03, 0.05, 0.1, 0.2)  # limits on the time per token that are priced [s]
DRAWN, MARKS = 24, 7  # of a device's front: told with their medians, and marked
SHAPES = {BANDWIDTH: "o", CACHE: "v", COMPUTE: "s", LINKS: "^", HOST: "P", OVERHEAD: "D"}
MILLI = 1e3
SMALL, LARGE = 4.5, 8.0  # of a mark: of one deployment, and of several that cannot be told apart
ROOM = 5.0  # of the axis right of the longest line, for names, as a factor
APART = 0.062  # least distance of two labels, of the height of the axes
FIRST = 5  # rows of a long table that are not folded


def picture(page: Page) -> None:
    """The page's goal, and its front by device, with what binds where."""
    place = page.answers.index(page.main) + 1
    markdown(*headed(page.main, f"{place}. " if len(page.answers) > 1 else ""))
    lines = lines_of(page.main)
    if not lines:
        markdown(*say("no-front-to-draw"))
        return
    limit = page.main.result.wishes.limits.get("tpot")
    notes = {} if limit else {pace: fmt_sig(_told(each, "cost"), 2)
                              for pace, each in cheapest(page.main)}
    figure("which-front", partial(_front, lines, limit, notes, currency_of(page)))


def lines_of(answer: Selection) -> list[Line]:
    """Of each device the front in throughput per card and time per token, in few marks.

    Deployments that their intervals cannot tell apart are one mark.
    """
    lines = []
    for row in best_on_devices(answer):
        front = _front_of(answer, row.choice.device)
        some = _spread_out(front, _place, MARKS)
        alike = ranked(answer.result, some, len(some))
        marks = [Mark(
            *_place(group[0]),
            binding(answer, group[0].row), len(group), group[0].amounts["tpot"].ends,
            group[0].amounts["throughput_per_card"].ends) for group in alike]
        every = [_place(each) for each in front]
        device = catalogue.load_device(row.choice.device)
        lines.append(Line(device.id, device_label(device.id),
                                       device.mechanisms or device.id, marks, every))
    return lines


def _told(each: SampledRow, name: str) -> float:
    """A quantity in SI units, as its median is told."""
    return float(each.amounts[name].value)


def _place(each: SampledRow) -> Place:
    """Time per token [s] and throughput per card [token/s] as they are told."""
    return _told(each, "tpot"), _told(each, "throughput_per_card")


def _searched(row: Row) -> Place:
    """The same as the search compares them."""
    return row.quantities["tpot"], row.quantities["throughput_per_card"]


def _front_of(answer: Selection, device: str) -> list[SampledRow]:
    """What none beats of one device, in throughput per card and time per token, ascending: of
    some of its front, and all that it has on the front of all devices."""
    found = answer.result
    of_all = [row for row in found.rows(found.front) if row.choice.device == device]
    rows = _rising([row for base, kept in zip(found.bases, found.of_bases, strict=True)
                    if base.device == device and kept.front.rows
                    for row in found.rows(kept.front)], _searched)
    return _rising(sample_rows(found, _spread_out(rows, _searched, DRAWN) + of_all), _place)


def _rising(items: Iterable[T], place: Callable[[T], Place]) -> list[T]:
    """Those that give more than all faster ones."""
    kept: list[T] = []
    for item in sorted(items, key=lambda item: (place(item)[0], -place(item)[1])):
        if not kept or all(mine > last for mine, last in zip(
                place(item), place(kept[-1]), strict=True)):
            kept.append(item)
    return kept


def _spread_out(items: Sequence[T], place: Callable[[T], Place], most: int) -> list[T]:
    """So many, evenly by the logarithm of their ascending times, the ends among them."""
    if len(items) <= most:
        return list(items)
    paces = np.log([place(item)[0] for item in items])
    wanted = np.linspace(paces[0], paces[-1], most)
    places = sorted({int(np.abs(paces - pace).argmin()) for pace in wanted})
    return [items[at] for at in places]


def cheapest(answer: Selection) -> list[tuple[float, SampledRow]]:
    """The cheapest under each limit on the time per token, of ``PACES`` that anything keeps, both
    as they are told, of what the lines of all devices have."""
    if not {"cost", "tpot"} <= answer.result.wishes.objectives.keys():
        return []
    rows = [each for row in best_on_devices(answer) for each in _front_of(answer, row.choice.device)
            if row.choice.device in answer.result.wishes.hours]
    found = []
    for pace in PACES:
        within = [each for each in rows if _told(each, "tpot") <= pace]
        if within:
            found.append((pace, min(within, key=lambda each: _told(each, "cost"))))
    return found


def prices(page: Page) -> None:
    """What a million tokens cost by the limit on the time per token; prices at which cards without
    one would be as cheap."""
    answer = page.main
    found = cheapest(answer)
    if not found:
        return
    table(found, [
        Column(lambda row: fmt_time(row[0]).replace(".0 ", " "), say("tpot-at-most")),
        Column(lambda row: join(("<br>", "<br>"), (cards(row[1].row.choice),
                                                   plan(row[1].row.choice))), common("deployment")),
        Column(lambda row: cell(row[1], "cost"),
               say("cost-interval-of-tokens", currency=currency_of(page))),
        Column(lambda row: cell(row[1], "throughput_per_card"), common("per-card-interval")),
        Column(lambda row: RESOURCES[binding(answer, row[1].row)], say("what-binds"))])


def break_even(page: Page) -> None:
    """Of each device its most throughput per card, where its line ends, its price, and the price at
    which it would be as cheap as the cheapest."""
    answer = page.main
    hours, currency = answer.result.wishes.hours, currency_of(page)
    ends = [_front_of(answer, row.choice.device)[-1] for row in best_on_devices(answer)]
    costs = [_told(each, "cost") for each in ends if each.row.choice.device in hours]
    if not costs:
        return

    def equal(each: SampledRow) -> float:
        if hour := hours.get(each.row.choice.device):  # a cost is told of this price
            return float(hour.points[0] * HOUR * min(costs) / _told(each, "cost"))
        rate = each.row.quantities["throughput_per_card"]
        return float(min(costs) * rate * HOUR / MILLION)

    def price(each: SampledRow) -> str | None:
        if not (hour := hours.get(each.row.choice.device)):
            return None
        value, low, high = (fmt_fixed(end * HOUR) for end in hour.points)
        return f"{value} ({low}–{high})"

    table(sorted(ends, key=equal, reverse=True), [
        Column(lambda each: device_label(each.row.choice.device), common("device")),
        Column(lambda each: plan(each.row.choice), common("weights-and-layout")),
        Column(lambda each: _told(each, "throughput_per_card"), say("most-per-card"),
               fmt_quantity, unit="token/s"),
        Column(price, say("price-of-card-h", currency=currency)),
        Column(lambda each: _told(each, "cost") if each.row.choice.device in hours else None,
               say("cost-of-tokens", currency=currency), fmt_sig),
        Column(equal, say("price-at-which-it-would", currency=currency), fmt_fixed)],
        wide=True, folded=say("every-other-card"), first=FIRST)


def front_table(page: Page) -> None:
    """The front of the page's goal in groups, with how sure it is which of two is better."""
    answer = page.main
    if not answer.result.front.rows or not answer.front:
        markdown(*say("no-front"))
        return
    first, size = sum(map(len, answer.front)), len(answer.candidates)
    which = say("best-of", first=first, size=size) if first < size else say("all", size=size)
    costed = any("cost" in group[0].row.quantities for group in answer.front)

    def of(choice: Callable[[Choice], Any], heading: Pair) -> Column:
        return Column(lambda group: choice(group[0].row.choice), heading)

    def interval(name: str, heading: Pair) -> Column:
        return Column(lambda group: cell(group[0], name), heading)

    table(answer.front, [
        of(cards, common("cards")), of(plan, common("weights-and-layout")),
        of(lambda choice: fmt_int(choice.concurrency), common("requests")),
        of(lambda choice: fmt_int(choice.chunk), say("chunk")),
        interval("tpot", common("tpot")), interval("ttft", common("ttft")),
        interval("throughput_per_card", common("per-card-interval")),
        *([interval("cost", say("cost-interval-of-tokens", currency=currency_of(page)))]
          if costed else []),
        *([Column(lambda group: answer.keeps(group[0]), common("limits-kept"), fmt_percent,
                  digits=0)] if answer.result.wishes.limits else []),
        Column(lambda group: len(group) - 1 or None, say("others-like-it"))], wide=True,
        folded=say("front-of-this-goal-in", which=which))


@dataclass(frozen=True)
class Mark:
    """A deployment, or several that their intervals cannot tell apart.

    Attributes:
        pace: time per token [s].
        rate: throughput per card [token/s].
        binds: resource that binds the largest part of a decode step.
        alike: deployments.
        paces, rates: 80% intervals.
    """

    pace: float
    rate: float
    binds: str
    alike: int
    paces: tuple[float, float]
    rates: tuple[float, float]


@dataclass(frozen=True)
class Line:
    """The front of one device.

    Attributes:
        device: its identifier.
        name: its name in both languages.
        kind: cards that are drawn in one colour, of which the best bears its name.
        marks: of its front, few.
        every: time per token [s] and throughput per card [token/s] of all of its front.
    """

    device: str
    name: Pair
    kind: str
    marks: Sequence[Mark]
    every: Sequence[tuple[float, float]]


def _front(lines: Sequence[Line], limit: float | None, notes: Mapping[float, str], currency: str,
          lang: str) -> Figure:
    """Throughput per card against time per token: a line per device, a shape by what binds.

    Args:
        lines: the best device first.
        limit: on the time per token [s], if there is one.
        notes: what a million tokens cost at most, above a thin line at a time per token [s].
        currency: of that.
        lang: language of the words.
    """
    drawing, axes = figures.axes(height=5.2)
    place = LANGUAGES.index(lang)
    firsts = {line.kind: line for line in reversed(lines)}  # the best of each kind
    of_device = figures.card_colours(
        first.device for first in sorted(firsts.values(), key=lines.index))
    colours = {kind: of_device[first.device] for kind, first in firsts.items()}
    for number, line in enumerate(lines):
        _line(axes, line, colours[line.kind], firsts[line.kind] is line, number == 0)
    reached = np.array([point for line in lines for point in line.every]) * (MILLI, 1)
    low, high = reached.min(axis=0), reached.max(axis=0)
    axes.set(xscale="log", yscale="log", xlim=(low[0] / 1.15, high[0] * ROOM),
             ylim=(low[1] / 1.4, high[1] * 1.9),
             xlabel=common("time-per-output-token-ms")[place],
             ylabel=say("throughput-per-card-token-s")[place])
    for axis, floor, ceiling in ((axes.xaxis, low[0], high[0]), (axes.yaxis, low[1], high[1])):
        figures.log_ticks(axis, floor, ceiling)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=12))
    above: dict[str, Any] = {"fontsize": 8.5, "transform": axes.get_xaxis_transform()}
    for pace, note in notes.items():
        axes.axvline(MILLI * pace, color=figures.INK, lw=0.8, ls=":")
        axes.text(MILLI * pace, 1.01, note, ha="center", va="bottom", **above)
    if notes:
        axes.text(MILLI * min(notes) / 1.12, 1.01,
                  say("cheapest-per-tokens", currency=currency)[place], ha="right", va="bottom",
                  **above)
    if limit is not None:
        axes.axvline(MILLI * limit, color=figures.INK, lw=1.4)
        axes.text(MILLI * limit, 0.995, f"{common('limit')[place]} ", rotation=90, ha="right",
                  va="top", **above)
    _names(axes, [line for line in lines if firsts[line.kind] is line], colours, place)
    used = [name for name in SHAPES if any(
        mark.binds == name for line in lines for mark in line.marks)]
    axes.legend(handles=[Line2D([], [], marker=SHAPES[name], ls="", color=figures.INK, ms=5,
                                label=RESOURCES[name][place]) for name in used],
                title=say("what-binds-decode-step")[place], fontsize=8.5,
                title_fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.13),
                ncols=max(1, len(used)))
    return drawing


def _line(axes: Axes, line: Line, colour: str, named: bool, best: bool) -> None:
    points = np.array(line.every) * (MILLI, 1)
    axes.plot(points[:, 0], points[:, 1], color=colour, lw=1.8 if named else 0.8,
              alpha=1.0 if named else 0.55)
    for mark in line.marks:
        if best:
            axes.plot([MILLI * mark.pace] * 2, mark.rates, color=colour, lw=0.9, alpha=0.5)
            axes.plot([MILLI * end for end in mark.paces], [mark.rate] * 2, color=colour, lw=0.9,
                      alpha=0.5)
        axes.plot(MILLI * mark.pace, mark.rate, SHAPES[mark.binds], color=colour,
                  ms=LARGE if mark.alike > 1 else SMALL, alpha=1.0 if named else 0.55)


def _names(axes: Axes, lines: Sequence[Line], colours: Mapping[str, str], place: int) -> None:
    """Names at the right ends of lines, pushed apart where they would overlap."""
    low, high = np.log(axes.get_ylim())
    ends = sorted(((np.log(line.every[-1][1]) - low) / (high - low), line) for line in lines)
    heights: list[float] = []
    for height, _ in ends:
        heights.append(max(height, heights[-1] + APART) if heights else height)
    overflow = max(0.0, (heights[-1] if heights else 0.0) - 0.99)
    for (_, line), height in zip(ends, heights, strict=True):
        axes.annotate(line.name[place], (MILLI * line.every[-1][0], line.every[-1][1]),
                      xytext=(0.995, height - overflow), textcoords="axes fraction", ha="right",
                      va="center", fontsize=8.5, color=colours[line.kind],
                      arrowprops={"arrowstyle": "-", "color": colours[line.kind], "lw": 0.5,
                                  "alpha": 0.6})
