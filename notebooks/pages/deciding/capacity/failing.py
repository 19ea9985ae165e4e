"""What the chapter on growth shows of servers that fail: wide against narrow, and spares."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from matplotlib.figure import Figure

import catalogue
from calc.capacity.availability import (
    Fleet,
    failures_of,
    fleet_of,
    spares_for,
)
from calc.serving.evaluate import evaluate
from catalogue.messages import LANGUAGES, messages
from catalogue.reading.units import DAY
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import draw, number, numbers, sourced, table
from notebooks.show.numbers import fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/capacity/failing")

SERVERS = 48  # of 384 cards
CASES = (("low", say("worse-ends")), ("central", say("as-expected")), ("high", say("better-ends")))
LEVELS = (0.99, 0.999)


def inputs(scenario: catalogue.Scenario) -> None:
    """What is taken of this card's servers, with sources."""
    failures = failures_of(scenario.device.id)
    sourced([
        (say("time-between-failures-of-server"), failures.between_failures),
        (say("time-to-repair-server"), failures.repair),
        (say("start-of-engine-without-reading"), failures.start)])


def fleet(scenario: catalogue.Scenario, groups: int, cards: int, spares: int = 0,
          case: str = "central") -> Fleet:
    """So many groups, of so many cards each, of servers of a deployment's kind."""
    per_server = int(scenario.node.devices_per_node.value)
    loading = float(evaluate(scenario.inputs(), scenario.model.attention)["loading_time"])
    return fleet_of(groups, cards, per_server, failures_of(scenario.device.id), loading, spares,
                    case)


def widths() -> list[int]:
    """Servers of a group that divide all of them."""
    return [size for size in range(1, SERVERS + 1) if SERVERS % size == 0]


def wide_and_narrow(scenario: catalogue.Scenario) -> None:
    """The same servers in groups of all widths: what is there, and spares for a promise."""
    @cache
    def of(size: int, spares: int = 0, case: str = "central") -> Fleet:
        cards = size * int(scenario.node.devices_per_node.value)
        return fleet(scenario, SERVERS // size, cards, spares, case)

    def spares(level: float) -> Column:
        return Column(lambda size: spares_for(level, of(size), max(1, SERVERS // size - 1)),
                      say("spares-for-all-but-one", level=fmt_percent(level)), str)

    columns = [
        Column(int, say("servers-of-group")),
        Column(lambda size: SERVERS // size, say("groups")),
        Column(lambda size: of(size).share, common("throughput-available"), fmt_percent, digits=2),
        Column(lambda size: f"{fmt_percent(of(size, case='low').share)} – "
                            f"{fmt_percent(of(size, case='high').share, 2)}",
               say("at-ends-of-inputs")),
        Column(lambda size: of(size, 1).share, say("with-one-on-standby"), fmt_percent, digits=2),
        *map(spares, LEVELS)]
    sizes = widths()
    table([sizes[place] for place in (0, len(sizes) // 2, -1)], columns, wide=True)
    table(sizes, columns, wide=True, folded=say("every-width"))
    draw(partial(_drawn, of))
    wide = of(SERVERS)
    numbers({"fail-wide": 1 - wide.share, "fail-wide-spare": 1 - of(SERVERS, 2).share},
            fmt_percent)
    number("fail-narrow", 1 - of(1).share, fmt_percent, digits=2)
    number("fail-servers", SERVERS)
    number("fail-days", wide.between_failures / SERVERS / DAY, fmt_sig, digits=2)


def _drawn(of: Callable[..., Fleet], lang: str) -> Figure:
    """Throughput that is there against servers of a group."""
    at, sizes = LANGUAGES.index(lang), widths()
    drawing, axes = figures.axes(height=3.4)
    for colour, (case, name) in zip(figures.PALETTE, CASES, strict=False):
        axes.plot(sizes, [100 * of(size, case=case).share for size in sizes], marker="o", ms=4,
                  color=colour, label=name[at])
    axes.set(xscale="log", xlabel=say("servers-that-serve-as-one")[at],
             ylabel=say("throughput-that-is-there")[at])
    figures.ticks(axes.xaxis, sizes)
    axes.legend(loc="lower left", fontsize=8.5)
    return drawing
