"""What the chapter on a day shows of conversations, of their tiers, and of how many to buy."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.answer.simulated import system_of
from calc.capacity.day import Cached, Day, Replica, with_tiers
from calc.capacity.options import decision_table, in_money, layouts
from calc.capacity.regret import DecisionTable
from calc.capacity.tiers import Population, Talk
from calc.costing.rates import card_hour
from calc.serving.arrivals import ClosedLoop, Prefixes
from calc.serving.metrics import summarise
from calc.serving.simulation import simulate
from calc.uncertainty.amount import Amount
from catalogue.messages import LANGUAGES, Pair, join, messages
from catalogue.reading.units import MINUTE
from notebooks.pages.deciding.capacity.days import DayPlan
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import cited, draw, number, numbers, show, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/capacity/keeping")

NAMES = {"device": say("on-cards"), "host": common("host-memory"), "storage": say("drives")}
STORAGE = 4e12  # of a server's drives for caches, in the table [B]
SHARES = (0.1, 0.2, 0.4, 0.8)  # of the cards' cache, with which runs are made
USERS, TURNS_SIMULATED, THOUGHT = 40, 4000, 60.0
GROWTH = {"low": 0.7, "central": 1.0, "high": 1.5}
LATER = (1.0, 1.25, 1.5, 2.0, 3.0)  # price of a card's hour found later, over one bought now
MOST_FOUND = 0.95
HALVINGS = 8  # of the hits that are sought: to half a per cent
GB = 1e9


def population(page: DayPlan, turns: int) -> Population:
    """The page's users as conversations of so many turns."""
    return Population(page.scenario, turns, page.think)


def tiers(page: DayPlan, found: Day, turns: int) -> list[Cached]:
    """Each tier with those before it: what it keeps, what is found there, and what it is worth."""
    people = population(page, turns)
    rate = max(hour.rate for hour in found.hours)
    cached = with_tiers(page.scenario, people, rate, page.limits,
                        float(page.load.variation.value), found.bought, storage=STORAGE)
    table([(one.tiers[-1], one) for one in cached], [
        Column(lambda row: NAMES[row[0].tier], say("up-to")),
        Column(lambda row: round(row[0].tokens), say("tokens-per-replica"), fmt_int),
        Column(lambda row: row[0].time / MINUTE, say("kept-for-min"), fmt_sig),
        Column(lambda row: sum(tier.found for tier in row[1].tiers), say("returns-found"),
               fmt_percent),
        Column(lambda row: row[0].hit_share, say("hits-all-tiers-so-far"), fmt_percent),
        Column(lambda row: row[0].fetch, common("fetch"), fmt_time),
        Column(lambda row: row[0].recompute, say("compute-again"), fmt_time),
        Column(lambda row: f"{fmt_sig(row[0].break_even / GB)} GB/s", say("break-even")),
        Column(lambda row: row[1].replicas or None, common("replicas"), str)], wide=True)
    numbers({"keep-before": found.bought, "keep-after": cached[-1].replicas or found.bought})
    return cached


def which(page: DayPlan, found: Day, turns: int, cached: list[Cached]) -> None:
    """Whether the link of each tier is fast enough, and from which hits it spares replicas.

    Args:
        page, found, turns: as for :func:`tiers`.
        cached: what that gives.
    """
    links = {each.name: each.bandwidth
             for each in population(page, turns).tiers(0.0, storage=STORAGE)}
    parts = [say("link", name=NAMES[one.tier], link=fmt_sig(links[one.tier] / GB),
                 pays=bool(one.pays), least=fmt_sig(one.break_even / GB))
             for one in cached[-1].tiers if np.isfinite(links[one.tier])]
    if parts:
        show(*say("links", links=join(("; ", "；"), parts)))
    rate = max(hour.rate for hour in found.hours)
    reached = {one.replicas for one in cached if one.replicas}
    fewer = {min(reached) - 1} if reached else set()  # than any tier gives
    rows = [(replicas, hits) for replicas in sorted(reached | fewer, reverse=True)
            if 0 < replicas < found.bought
            and (hits := hits_for(page, rate / replicas)) is not None]
    table(rows, [
        Column(0, common("replicas"), fmt_int),
        Column(1, say("from-hits-of"), fmt_percent, digits=0),
        Column(lambda row: next((NAMES[one.tiers[-1].tier] for one in cached
                                 if one.replicas and one.replicas <= row[0]), say("none-here")),
               say("reached-with-caches-up-to"))])


def hits_for(page: DayPlan, rate: float) -> float | None:
    """Share of the prompts' tokens found from which one replica takes a rate; None if none is.

    Args:
        page: the deployment and its limits.
        rate: of a replica [request/s].
    """
    def takes(hits: float) -> bool:
        replica = Replica(page.scenario, {"prefix_hit_share": hits})
        return bool(replica.most(page.limits, float(page.load.variation.value)) >= rate)

    low, high = 0.0, MOST_FOUND
    if not takes(high):
        return None
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if takes(middle) else (middle, high)
    return high


def simulated() -> None:
    """Share of the prompts' tokens found: closed form and simulated cache, by its size."""
    scenario = catalogue.load_scenario("s2-910b1-awq", overrides=[
        "workload.input_tokens=1900 token", "workload.output_tokens=200 token",
        "workload.context_tokens=8192 token"])
    people, system = Population(scenario, 5, THOUGHT), system_of(scenario)
    shape = (int(people.talk.prompt), int(people.talk.answer))
    talk, points, differences = people.talk, [], []
    limits = system.pool.limits
    rate = 0.0
    for share in SHARES:
        blocks = int((limits.kv_blocks or 0) * share)
        pool = replace(system.pool, limits=replace(limits, kv_blocks=blocks))
        run = summarise(simulate(ClosedLoop(
            USERS, TURNS_SIMULATED, (shape,), THOUGHT, exponential=True, seed=1, ramp=300.0,
            prefixes=Prefixes(turns=talk.turns, longest=system.longest)), pool))
        rate = run.request_throughput / talk.turns
        kept = max(1.0, blocks * limits.block_size
                   - run.concurrency * (float(talk.prompts.mean()) + talk.answer / 2))
        closed = talk.hit_share(talk.returns(talk.time(rate, kept)))
        points.append((kept, run.hit_share))
        differences.append(abs(closed - run.hit_share))
    draw(partial(curve, talk, rate, points))
    number("keep-worst", 100 * max(differences), fmt_fixed, digits=1)


def curve(talk: Talk, rate: float, points: list[tuple[float, float]], lang: str) -> Figure:
    """Share of prompt tokens found, over how many tokens are kept, with the runs."""
    at = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=3.4)
    tokens = np.geomspace(min(300.0, points[0][0]), 3 * points[-1][0], 80)
    axes.plot(tokens, [100 * talk.hit_share(talk.returns(talk.time(rate, each)))
                       for each in tokens], color=figures.PALETTE[0],
              label=common("closed-form")[at])
    axes.plot([kept for kept, _ in points], [100 * found for _, found in points], "o", ms=5,
              color=figures.PALETTE[1], label=common("simulated")[at])
    axes.set(xscale="log", ylim=(0, 100),
             xlabel=say("tokens-kept-per-replica")[at], ylabel=say("prompt-tokens-found")[at])
    figures.log_ticks(axes.xaxis, min(tokens), max(tokens))
    axes.legend(loc="upper left", fontsize=8.5)
    return drawing


def buying(page: DayPlan) -> None:
    """Layouts and numbers of replicas: least regret, least mean cost, best as expected."""
    found = [layout for layout in layouts(page.scenario, page.limits,
                                          float(page.load.variation.value))
             if layout.most["central"]]
    plain, hour = decision_table(found, page.load, page.requests, GROWTH), card_hour(
        page.scenario.device)

    def cost(case: str, heading: Pair) -> Column:
        at = plain.cases.index(case)
        return Column(lambda row: _whole(plain.costs[row[0], at]), heading)

    table(enumerate(zip(plain.candidates, found, strict=True)), [
        Column(lambda row: row[1][0], say("layout-of-replica")),
        Column(lambda row: row[1][1].devices, common("number-of-cards")),
        cost("low, high", say("little-load-fast")), cost("central, central", say("as-expected")),
        cost("high, low", say("much-load-slow")),
        Column(lambda row: _whole(plain.regrets[row[0]].max()), say("largest-regret"))])
    rows = [(late, decision_table(found, page.load, page.requests, GROWTH, late))
            for late in LATER]
    table(rows, [
        Column(0, say("price-later-over-now"), fmt_sig),
        Column(lambda row: row[1].least_regret, say("least-regret")),
        Column(lambda row: row[1].least_cost, say("least-mean-cost")),
        Column(lambda row: row[1].central, say("best-as-expected")),
        Column(lambda row: _whole(row[1].regrets[row[1].candidates.index(
            row[1].least_regret)].max()), say("regret-of-first-card-hours")),
        *([Column(lambda row: _money(row[1], hour), say("in-day", currency=hour.currency))]
          if hour else [])])
    low, central, high = (fmt_sig(growth, 2) for growth in GROWTH.values())
    show(*say("costs-are-in-card-hours", low=low, central=central, high=high))
    if hour:
        prices = hour.per(f"{hour.currency}/h")
        show(*say("card-hour-costs-interval-is", prices=_interval(prices), currency=hour.currency,
                  source=cited(hour.source)))


def _money(one: DecisionTable, hour: Amount) -> str | None:
    """The largest regret of the candidate of least regret, with both ends of the price."""
    worst = in_money(one, hour)[one.candidates.index(one.least_regret)]
    return _interval(worst) if worst else None


def _interval(amounts: tuple[float, float, float]) -> str:
    value, low, high = (fmt_sig(each, 3) for each in amounts)
    return f"{value} ({low}–{high})" if low != high else value


def _whole(hours: float) -> str | None:
    """Card-hours, of what can be had."""
    return fmt_int(round(hours)) if np.isfinite(hours) else None
