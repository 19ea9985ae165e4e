"""What the chapter on the choice of a deployment shows of fronts: by device, by price, by group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

import catalogue
from calc.costing.tokens import MILLION
from calc.layouts.choice import Row
from calc.searching.result import Answer
from calc.searching.robust import SampledRow, ranked, sample_rows
from catalogue.messages import Pair, messages
from catalogue.reading.units import HOUR
from notebooks.pages.catalogue.tables.deployments import RESOURCES
from notebooks.pages.deciding import goal_figures
from notebooks.pages.deciding.goals import (
    TOLD,
    Page,
    binding,
    cards,
    cell,
    currency_of,
    device_label,
    headed,
    plan,
)
from notebooks.show.display import figure, show, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deciding/goal-fronts")

Place = tuple[float, float]
T = TypeVar("T")
PACES = (0.02, 0.03, 0.05, 0.1, 0.2)  # limits on the time per token that are priced [s]
DRAWN, MARKS = 24, 7  # of a device's front: told with their medians, and marked
FIRST = 5  # rows of a long table that are not folded


def picture(page: Page) -> None:
    """The page's goal, and its front by device, with what binds where."""
    place = page.answers.index(page.main) + 1
    show(*headed(page.main, f"{place}. " if len(page.answers) > 1 else ""))
    lines = lines_of(page.main)
    if not lines:
        show(*say("no-front-to-draw"))
        return
    limit = page.main.found.wishes.limits.get("tpot")
    priced = {} if limit else dict(cheapest(page.main))
    figure("which-front", partial(goal_figures.front, lines, limit, _notes(priced),
                                  currency_of(page)))


def _notes(priced: dict[float, Row]) -> dict[float, str]:
    """What the cheapest under a limit costs, as it stands above the limit's line."""
    return {pace: fmt_sig(row.quantities["cost"], 2) for pace, row in priced.items()}


def lines_of(answer: Answer) -> list[goal_figures.Line]:
    """Of each device the front in throughput per card and time per token, in few marks.

    Deployments that their intervals cannot tell apart are one mark.
    """
    lines = []
    for row in answer.devices:
        front = _front_of(answer, row.choice.device)
        some = _spread_out(front, _place, MARKS)
        alike = ranked(answer.found, some, len(some))
        marks = [goal_figures.Mark(
            *_place(group[0]),
            binding(answer, group[0].row), len(group), group[0].amounts["tpot"].ends,
            group[0].amounts["throughput_per_card"].ends) for group in alike]
        every = [_place(each) for each in front]
        device = catalogue.load_device(row.choice.device)
        lines.append(goal_figures.Line(device.id, device_label(device.id),
                                       device.mechanisms or device.id, marks, every))
    return lines


def _place(each: SampledRow) -> Place:
    """Time per token [s] and throughput per card [token/s] as they are told."""
    return each.amounts["tpot"].value, each.amounts["throughput_per_card"].value


def _searched(row: Row) -> Place:
    """The same as the search compares them."""
    return row.quantities["tpot"], row.quantities["throughput_per_card"]


def _front_of(answer: Answer, device: str) -> list[SampledRow]:
    """What none beats of one device, in throughput per card and time per token, ascending."""
    found = answer.found
    rows = _rising([row for base, kept in zip(found.bases, found.kept, strict=True)
                    if base.device == device and kept.front.rows
                    for row in found.rows(kept.front)], _searched)
    return _rising(sample_rows(found, _spread_out(rows, _searched, DRAWN)), _place)


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


def cheapest(answer: Answer) -> list[tuple[float, Row]]:
    """The cheapest under each limit on the time per token, of ``PACES`` that anything keeps."""
    if "cost" not in answer.found.wishes.objectives or "tpot" not in answer.found.wishes.objectives:
        return []
    rows = [row for row in answer.found.rows(answer.found.front) if "cost" in row.quantities]
    found = []
    for pace in PACES:
        within = [row for row in rows if row.quantities["tpot"] <= pace]
        if within:
            found.append((pace, min(within, key=lambda row: row.quantities["cost"])))
    return found


def prices(page: Page) -> None:
    """What a million tokens cost by the limit on the time per token; prices at which cards without
    one would be as cheap."""
    answer = page.main
    found = cheapest(answer)
    if not found:
        return
    rows = sample_rows(answer.found, [row for _, row in found])
    table([{"pace": fmt_quantity(pace, "s").replace(".0 ", " "),
            "deployment": tuple("<br>".join(parts) for parts in zip(
                cards(each.row.choice), plan(each.row.choice), strict=True)),
            "cost": cell(each, "cost"),
            "throughput_per_card": cell(each, "throughput_per_card"),
            "limited": RESOURCES[binding(answer, each.row)]}
           for (pace, _), each in zip(found, rows, strict=True)],
          {"pace": say("tpot-at-most"), "deployment": common("deployment"),
           "cost": say("cost-interval-of-tokens", currency=currency_of(page)),
           "throughput_per_card": common("per-card-interval"), "limited": say("what-binds")})


def break_even(page: Page) -> None:
    """Of each device its most throughput per card, its price, and the price at which it would be as
    cheap as the cheapest."""
    answer = page.main
    wishes, currency = answer.found.wishes, currency_of(page)
    costs = [row.quantities["cost"] for row in answer.devices if "cost" in row.quantities]
    if not costs:
        return
    rows: list[tuple[float, dict[str, str | Pair]]] = []
    for row in answer.devices:
        hour = wishes.hours.get(row.choice.device)
        equal = min(costs) * row.quantities["throughput_per_card"] * HOUR / MILLION
        rows.append((equal, {
            "device": device_label(row.choice.device), "plan": plan(row.choice),
            "throughput": fmt_quantity(row.quantities["throughput_per_card"], "token/s"),
            "price": (f"{fmt_fixed(hour.value * HOUR)} ({fmt_fixed(hour.low * HOUR)}–"
                      f"{fmt_fixed(hour.high * HOUR)})" if hour else "–"),
            "cost": fmt_sig(row.quantities["cost"]) if hour else "–",
            "equal": fmt_fixed(equal)}))
    table([row for _, row in sorted(rows, key=lambda pair: -pair[0])], {
        "device": common("device"), "plan": common("weights-and-layout"),
        "throughput": say("most-per-card"), "price": say("price-of-card-h", currency=currency),
        "cost": say("cost-of-tokens", currency=currency),
        "equal": say("price-at-which-it-would", currency=currency),
    }, wide=True, folded=say("every-other-card"), first=FIRST)


def front_table(page: Page) -> None:
    """The front of the page's goal in groups, with how sure it is which of two is better."""
    answer = page.main
    if not answer.found.front.rows or not answer.front:
        show(*say("no-front"))
        return
    rows = [{"cards": cards(group[0].row.choice), "plan": plan(group[0].row.choice),
             "flight": fmt_int(group[0].row.choice.concurrency),
             "chunk": fmt_int(group[0].row.choice.chunk),
             **{name: cell(group[0], name) for name in (*TOLD, "cost")},
             "kept": fmt_percent(share, 0) if (share := answer.keeps(group[0])) is not None else "",
             "alike": str(len(group) - 1) if len(group) > 1 else "–"} for group in answer.front]
    first, size = sum(map(len, answer.front)), answer.front_size
    which = (say("best-of", first=first, size=size) if first < size else
             say("all", size=size))
    costed = any("cost" in group[0].row.quantities for group in answer.front)
    table(rows, {
        "cards": common("cards"), "plan": common("weights-and-layout"),
        "flight": common("requests"), "chunk": say("chunk"),
        "tpot": common("tpot"), "ttft": common("ttft"),
        "throughput_per_card": common("per-card-interval"),
        **({"cost": say("cost")} if costed else {}),
        **({"kept": common("limits-kept")} if answer.found.wishes.limits else {}),
        "alike": say("others-like-it")}, wide=True,
        folded=say("front-of-this-goal-in", which=which))
