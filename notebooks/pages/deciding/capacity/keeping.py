"""What the chapter on a day shows of conversations and of their tiers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.answer.simulated_load import system_of
from calc.capacity.day import Day
from calc.capacity.tiers import Population, Talk, TierValue, with_tiers
from calc.serving.metrics import summarise
from calc.serving.requests import ClosedLoop, Prefixes
from calc.serving.simulation import simulate
from catalogue.messages import LANGUAGES, join, messages
from catalogue.reading.units import MINUTE
from notebooks.pages.deciding.capacity.days import DayPlan
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import draw, markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/capacity/keeping")

NAMES = {"device": say("on-cards"), "host": common("host-memory"), "storage": say("drives")}
STORAGE = 4e12  # of a server's drives for caches, in the table [B]
SHARES = (0.1, 0.2, 0.4, 0.8)  # of the cards' cache, with which runs are made
USERS, TURNS_SIMULATED, THOUGHT = 40, 4000, 60.0
GB = 1e9


def population(page: DayPlan, turns: int) -> Population:
    """The page's users as conversations of so many turns."""
    return Population(page.scenario, turns, page.think)


def tiers(page: DayPlan, found: Day, turns: int) -> list[TierValue]:
    """Each tier with those before it: what it keeps, what is found there, and what it is worth."""
    people = population(page, turns)
    rate = found.hours[found.busiest].rate
    cached = with_tiers(page.scenario, people, rate, page.limits,
                        float(page.load.variation.value), found.replicas, storage=STORAGE)
    table(cached, [
        Column(lambda row: NAMES[row.tier], say("up-to")),
        Column(lambda row: round(row.tokens), say("tokens-per-replica"), fmt_int),
        Column(lambda row: row.time / MINUTE, say("kept-for-min"), fmt_sig),
        Column("returns", say("returns-found"), fmt_percent),
        Column("hit_share", say("hits-all-tiers-so-far"), fmt_percent),
        Column("fetch", common("fetch"), fmt_time),
        Column("recompute", say("compute-again"), fmt_time),
        Column(lambda row: f"{fmt_sig(row.break_even / GB)} GB/s", say("break-even")),
        Column(lambda row: row.replicas or None, common("replicas"), str)], wide=True)
    numbers({"keep-before": found.replicas, "keep-after": cached[-1].replicas or found.replicas})
    return cached


def which(page: DayPlan, turns: int, cached: list[TierValue]) -> None:
    """Whether the link of each tier is fast enough.

    Args:
        page, turns: as for :func:`tiers`.
        cached: tiers with their values.
    """
    links = {tier.name: tier.bandwidth
             for tier in population(page, turns).tiers(0.0, storage=STORAGE)}
    parts = [say("link", name=NAMES[one.tier], link=fmt_sig(links[one.tier] / GB),
                 pays=bool(one.pays), least=fmt_sig(one.break_even / GB))
             for one in cached if np.isfinite(links[one.tier])]
    if parts:
        markdown(*say("links", links=join(("; ", "；"), parts)))


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
