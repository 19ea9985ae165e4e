"""What the chapter on growth shows of servers that fail: wide against narrow, spares, checks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import catalogue
from calc.capacity.availability import (
    Fleet,
    at_least,
    available,
    failures_of,
    fleet_of,
    simulated_share,
    spares_for,
)
from calc.closed_form.evaluate import evaluate
from catalogue.messages import Pair, messages
from catalogue.reading.units import DAY, MINUTE
from notebooks.pages.deciding.capacity import scaling_figures
from notebooks.show.display import draw, number, sourced, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_sig

common = messages("common")
say = messages("pages/deciding/capacity/failing")

SERVERS = 48  # of 384 cards
LIFETIMES = 400.0  # of a server, in the simulation
CHECKED = ((2, 4, 1), (8, 1, 1), (1, 8, 2))  # groups, servers of each, spares
CASES = (("low", say("worse-ends")), ("central", say("as-expected")), ("high", say("better-ends")))
LEVELS = (0.99, 0.999)


def inputs(scenario: catalogue.Scenario) -> None:
    """What is taken of this card's servers, with sources."""
    failures = failures_of(scenario.device.id)
    sourced([
        (say("time-between-failures-of-server"), failures.between_failures),
        (say("time-to-repair-server"), failures.repair),
        (say("start-of-engine-without-reading"), failures.start)])


def fleet(scenario: catalogue.Scenario, groups: int, servers: int, spares: int = 0,
          case: str = "central") -> Fleet:
    """So many groups of servers of a deployment's kind."""
    per_server = int(scenario.node.devices_per_node.value)
    loading = float(evaluate(scenario.inputs(), scenario.model.attention)["loading_time"])
    return fleet_of(groups, servers * per_server, per_server, failures_of(scenario.device.id),
                    loading, spares, case)


def widths() -> list[int]:
    """Servers of a group that divide all of them."""
    return [size for size in range(1, SERVERS + 1) if SERVERS % size == 0]


def wide_and_narrow(scenario: catalogue.Scenario) -> None:
    """The same servers in groups of all widths: what is there, and spares for a promise."""
    rows: list[dict[str, Any]] = []
    for size in widths():
        groups = SERVERS // size
        shares = {case: fleet(scenario, groups, size, 0, case).share for case, _ in CASES}
        with_one = fleet(scenario, groups, size, 1)
        spares = [spares_for(level, fleet(scenario, groups, size), max(1, groups - 1)
                             if groups > 1 else 1) for level in LEVELS]
        rows.append({"servers": size, "groups": groups,
                     "share": fmt_percent(shares["central"], 2),
                     "range": f"{fmt_percent(shares['low'])} – {fmt_percent(shares['high'], 2)}",
                     "one": fmt_percent(with_one.share, 2),
                     **{f"spares{level}": "–" if count is None else str(count)
                        for level, count in zip(LEVELS, spares, strict=True)}})
    columns: dict[str, str | Pair] = {
        "servers": say("servers-of-group"), "groups": say("groups"),
        "share": common("throughput-available"), "range": say("at-ends-of-inputs"),
        "one": say("with-one-on-standby"),
        **{f"spares{level}": say("spares-for-all-but-one",
                                 level=fmt_percent(level)) for level in LEVELS}}
    table([rows[place] for place in (0, len(rows) // 2, -1)], columns, wide=True)
    table(rows, columns, wide=True, folded=say("every-width"))
    draw(partial(scaling_figures.failing, [
        (name, widths(), [fleet(scenario, SERVERS // size, size, 0, case).share
                          for size in widths()]) for case, name in CASES]))
    wide, narrow = (fleet(scenario, groups, SERVERS // groups) for groups in (1, SERVERS))
    number("fail-wide", 1 - wide.share, fmt_percent)
    number("fail-narrow", 1 - narrow.share, fmt_percent, digits=2)
    number("fail-wide-spare", 1 - fleet(scenario, 1, SERVERS, 2).share, fmt_percent)
    number("fail-servers", SERVERS)
    number("fail-days", wide.between_failures / SERVERS / DAY, fmt_sig, digits=2)
    number("fail-restart", wide.restart / MINUTE, fmt_sig, digits=2)


def checked() -> None:
    """Closed form against failures drawn one by one, where a server fails often."""
    rows, worst = [], 0.0
    for groups, servers, spares in CHECKED:
        one = Fleet(groups, servers, spares, 100.0, 5.0, 1.0)
        drawn = simulated_share(one, LIFETIMES * 10, 1)
        worst = max(worst, abs(one.share - drawn))
        rows.append({"groups": f"{groups} × {servers} + {spares}",
                     "closed": fmt_percent(one.share, 2), "drawn": fmt_percent(drawn, 2)})
    table(rows, {"groups": say("groups-servers-spares"),
                 "closed": common("closed-form"), "drawn": say("drawn")})
    number("fail-worst", 100 * worst, fmt_fixed, digits=2)


def agree(exact: list[tuple[int, int, float, float]]) -> None:
    """The runtime's k of n beside sums of exact numbers.

    Args:
        exact: k, n, probability of one, probability of at least k.

    Raises AssertionError where they differ by more than 1e-9.
    """
    for needed, servers, up, probability in exact:
        assert np.isclose(at_least(needed, servers, up), probability, rtol=1e-9, atol=0)
    assert available(99.0, 1.0) == 99 / 100
