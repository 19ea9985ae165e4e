"""What the chapter on a day shows of conversations, of their tiers, and of how many to buy."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from calc.answer.simulated import system_of
from calc.capacity.day import Cached, Day, Replica, with_tiers
from calc.capacity.options import decision_table, in_money, layouts
from calc.capacity.regret import DecisionTable
from calc.capacity.tiers import Population, Talk, needed
from calc.costing.rates import card_hour
from calc.serving.arrivals import ClosedLoop, Prefixes
from calc.serving.metrics import summarise
from calc.serving.simulation import simulate
from calc.uncertainty.amount import Amount
from catalogue.messages import join, messages
from catalogue.reading.units import MINUTE
from notebooks.pages.deciding.capacity import day_figures
from notebooks.pages.deciding.capacity.days import DayPlan
from notebooks.show.display import cited, draw, number, show, table
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

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
    rows = []
    for one in cached:
        tier = one.kept[-1]
        rows.append({
            "tier": NAMES[tier.tier], "tokens": fmt_int(round(tier.tokens)),
            "time": fmt_sig(tier.time / MINUTE), "found": fmt_percent(tier.found),
            "hits": fmt_percent(tier.hit_share), "fetch": fmt_time(tier.fetch),
            "again": fmt_time(tier.recompute),
            "from": f"{fmt_sig(tier.break_even / 1e9)} GB/s",
            "replicas": str(one.replicas or "–")})
    table(rows, {"tier": say("up-to"), "tokens": say("tokens-per-replica"),
                 "time": say("kept-for-min"), "found": say("returns-found-there"),
                 "hits": say("hits-all-tiers-so-far"),
                 "fetch": say("fetch"), "again": say("compute-again"),
                 "from": say("pays-from"), "replicas": say("replicas")},
          wide=True)
    conversations = rate / found.bought / turns
    number("keep-bytes", needed(people.talk, conversations, MOST_FOUND, people.per_token),
           fmt_bytes, digits=0)
    number("keep-turns", turns)
    number("keep-found", MOST_FOUND, fmt_percent, digits=0)
    number("keep-before", found.bought)
    number("keep-after", cached[-1].replicas or found.bought)
    number("keep-wait", page.think / MINUTE, fmt_sig)
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
             for one in cached[-1].kept if np.isfinite(links[one.tier])]
    if parts:
        show(*say("links", links=join(("; ", "；"), parts)))
    rate = max(hour.rate for hour in found.hours)
    rows = []
    reached = {one.replicas for one in cached if one.replicas}
    fewer = {min(reached) - 1} if reached else set()  # than any tier gives
    for replicas in sorted(reached | fewer, reverse=True):
        hits = hits_for(page, rate / replicas) if 0 < replicas < found.bought else None
        if hits is None:
            continue
        tier = next((NAMES[one.kept[-1].tier] for one in cached
                     if one.replicas and one.replicas <= replicas), None)
        rows.append({"replicas": fmt_int(replicas), "hits": fmt_percent(hits, 0),
                     "tier": tier or say("none-here")})
    table(rows, {"replicas": say("replicas"), "hits": say("from-hits-of"),
                 "tier": say("reached-with-caches-up-to")})


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
    import catalogue

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
    curve(talk, rate, points)
    number("keep-worst", 100 * max(differences), fmt_fixed, digits=1)
    number("keep-users", USERS)


def curve(talk: Talk, rate: float, points: list[tuple[float, float]]) -> None:
    """Hits by tokens kept, with the runs."""
    tokens = np.geomspace(min(300.0, points[0][0]), 3 * points[-1][0], 80)
    draw(partial(day_figures.hits, tokens.tolist(),
                 [talk.hit_share(talk.returns(talk.time(rate, each))) for each in tokens],
                 [], points, NAMES))


def buying(page: DayPlan) -> None:
    """Layouts and numbers of replicas: least regret, least mean cost, best as expected."""
    found = [layout for layout in layouts(page.scenario, page.limits,
                                          float(page.load.variation.value))
             if layout.most["central"]]
    plain = decision_table(found, page.load, page.requests, GROWTH)
    at = {name: plain.cases.index(name) for name in (
        "low, high", "central, central", "high, low")}
    rows = [{"layout": name, "cards": layout.devices,
             **{key: fmt_int(round(plain.costs[row, column])) if np.isfinite(
                 plain.costs[row, column]) else "–" for key, column in at.items()},
             "regret": fmt_int(round(plain.regrets[row].max())) if np.isfinite(
                 plain.regrets[row].max()) else "–"}
            for row, (name, layout) in enumerate(zip(plain.candidates, found, strict=True))]
    table(rows, {"layout": say("layout-of-replica"), "cards": common("number-of-cards"),
                 "low, high": say("little-load-fast"), "central, central": say("as-expected"),
                 "high, low": say("much-load-slow"), "regret": say("largest-regret")})
    rows, hour = [], card_hour(page.scenario.device)
    for late in LATER:
        one = decision_table(found, page.load, page.requests, GROWTH, late)
        rows.append({"late": fmt_sig(late), "regret": one.least_regret, "mean": one.least_cost,
                     "central": one.central,
                     "worst": fmt_int(round(one.regrets[one.candidates.index(
                         one.least_regret)].max())),
                     "money": _money(one, hour)})
    table(rows, {"late": say("price-later-over-now"), "regret": say("least-regret"),
                 "mean": say("least-mean-cost"), "central": say("best-as-expected"),
                 "worst": say("regret-of-first-card-hours"),
                 **({"money": say("in-day", currency=hour.currency)} if hour
                    else {})})
    show(*say("costs-are-in-card-hours", low=fmt_sig(GROWTH["low"], 2),
              central=fmt_sig(GROWTH["central"], 2), high=fmt_sig(GROWTH["high"], 2)))
    if hour:
        prices = hour.per(f"{hour.currency}/h")
        show(*say("card-hour-costs-interval-is", prices=_interval(prices), currency=hour.currency,
                  source=cited(hour.source)))


def _money(one: DecisionTable, hour: Amount | None) -> str:
    """The largest regret of the candidate of least regret, with both ends of the price."""
    worst = hour and in_money(one, hour)[one.candidates.index(one.least_regret)]
    return _interval(worst) if worst else "–"


def _interval(amounts: tuple[float, float, float]) -> str:
    value, low, high = (fmt_sig(each, 3) for each in amounts)
    return f"{value} ({low}–{high})" if low != high else value
