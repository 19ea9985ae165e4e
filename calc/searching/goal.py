"""What a goal asks, as numbers: its objectives and limits, what cards cost, and whether it can be.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from calc.costing.ownership import (
    MILLION,
    card_hour,
    converted,
    priced_hour,
    prices_of,
    site_of,
    stated,
    way_of,
)
from calc.layouts.feasible import MEMORY
from calc.layouts.layout import Row
from calc.layouts.space import Space, node_of
from calc.physics.arrays import Number
from calc.uncertainty import Amount
from catalogue import ParamsError, load, load_device, load_node
from catalogue.library import Override
from catalogue.planning import ANY, MEAN, OBJECTIVES, USUAL_OBJECTIVES, Goal, percentile
from catalogue.reading import yamlfile
from catalogue.reading.units import human
from catalogue.reading.yamlfile import YamlFile

BOUNDING = 0.75  # percentiles that the mean of a deployment which keeps them is taken to keep
COLUMNS = {"context": "longest_context"}  # of objectives that are not called as their quantity
# of which a decode step alone gives no bound
UNBOUNDED = ("ttft", "energy", "power", "longest_context")
TIMES = ("ttft", "tpot", "e2e")
SHORT = "short"  # of memory [B]
HOLDS = 0.8  # share of draws in which a deployment is at least what it can stand for
NEAR = 0.8  # of a limit: what is within a fifth of it is near to it


@dataclass(frozen=True)
class Wishes:
    """Objectives and limits of a goal.

    Attributes:
        goal: the goal.
        objectives: name -> +1 to have it large, -1 to have it small; those of the goal first, then
            those that it limits, since of two with the same objectives one keeps them more surely.
        own: how many of them are the goal's.
        hours: device -> price of a card [money/s], of those that have one.
        unpriced: devices without a price.
        margins: objectives, and whatever else is limited: of two the one that is farther from a
            limit keeps it more surely.
        least: further limits by name, where what is worse is of no use.
    """

    goal: Goal
    objectives: dict[str, int]
    own: int
    hours: Mapping[str, Amount]
    unpriced: tuple[str, ...]
    margins: dict[str, int] = field(default_factory=dict)
    least: Mapping[str, float] = field(default_factory=dict)

    @property
    def powered(self) -> bool:
        """Whether power is asked for."""
        return "energy" in self.objectives or self.goal.limits.power is not None

    @property
    def limits(self) -> dict[str, float]:
        """Limits by name, of those that the goal states, and further ones."""
        return {**self.least, **stated_limits(self.goal)}

    @property
    def share(self) -> float:
        """Share of draws in which a deployment has to keep all limits [1]."""
        return self.goal.limits.sure or HOLDS

    @property
    def leading(self) -> dict[str, int]:
        """The first objective, which decides the order."""
        return dict([next(iter(self.objectives.items()))])

    @property
    def chosen(self) -> dict[str, int]:
        """The objectives of the goal itself."""
        return dict(list(self.objectives.items())[:self.own])

    def binds(self, row: Row) -> str:
        """The limit that a deployment is near to, or that its near miss breaks most, if any.

        Args:
            row: the deployment.
        """
        if row.over:
            return max(row.over, key=lambda name: row.over[name])
        if SHORT in row.quantities:
            return MEMORY
        left = {name: row.quantities[name] / limit for name, limit in self.limits.items()
                if name in row.quantities}
        left = {name: ratio if OBJECTIVES[name] < 0 else 1 / ratio for name, ratio in left.items()}
        tight = max(left, key=lambda name: left[name], default="")
        return tight if tight and left[tight] >= NEAR else ""

    def with_derived(self, columns: Mapping[str, np.ndarray], device: str) -> dict[str, np.ndarray]:
        """What objectives and limits need besides what users see.

        Args:
            columns: ``devices``, ``throughput`` and times, shape (n,).
            device: whose cards they are.
        """
        cards = columns["devices"]
        derived = {**columns, "cards": cards,
                 "throughput_per_card": columns["throughput"] / cards}
        hour = self.hours.get(device)
        with np.errstate(divide="ignore"):  # nothing served costs without end
            if "power" in columns:
                derived["energy"] = columns["power"] / columns["throughput"]
            if hour is not None:
                derived["cost"] = MILLION * hour.value * cards / columns["throughput"]
            elif self.hours:
                derived["cost"] = np.full(len(cards), np.inf)
        return derived

    @property
    def bounded(self) -> bool:
        """Whether a bound of every objective is known from a decode step alone."""
        return not {*UNBOUNDED} & self.objectives.keys()

    def at_best(self, columns: Mapping[str, np.ndarray], pace: np.ndarray, device: str
                ) -> dict[str, np.ndarray]:
        """What deployments could be at best, whatever their prompts take, shape (n,) each.

        Args:
            columns: ``devices`` and ``concurrency``, shape (n,).
            pace: time per token without the prompts of others [s], shape (n,).
            device: whose cards they are.

        Source: notebooks/search.md, section Bounds.
        """
        tokens = self.goal.demand.output_tokens
        least = max(1, tokens - 1) * pace
        return self.with_derived({
            "devices": columns["devices"], "tpot": pace, "e2e": least,
            "throughput": columns["concurrency"] * tokens / least,
            **dict.fromkeys(("ttft", "power"), np.zeros_like(pace))}, device)

    def hour(self, device: str) -> float:
        """What an hour of a card costs; without end where it has no price [money/s]."""
        price = self.hours.get(device)
        return math.inf if price is None else float(price.value)

    def of_pair(self, columns: Mapping[str, np.ndarray], prefill: Number, decode: Number
                ) -> dict[str, np.ndarray]:
        """:meth:`with_derived` of two pools, each on cards of its own device.

        Args:
            columns: of the pairs, ``prefill devices`` and ``decode devices`` among them.
            prefill, decode: what an hour of a card of each costs [money/s].
        """
        derived = self.with_derived(columns, "")
        if self.hours:
            paid = columns["prefill devices"] * prefill + columns["decode devices"] * decode
            with np.errstate(divide="ignore"):  # as of one pool
                derived["cost"] = MILLION * paid / columns["throughput"]
        return derived

    def over_least(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which are over one of the limits in ``least``, shape (n,).

        Args:
            columns: quantities by name, shape (n,).
        """
        over = [value > 0 for name, value in self.excess(columns).items() if name in self.least]
        any_over: np.ndarray = np.any(over, axis=0)
        return any_over

    def excess(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """How far each is over a limit, as a factor less one; at most 0 where it keeps it.

        Args:
            columns: quantities by name, shape (n,).
        """
        excess = {}
        for name, limit in self.limits.items():
            value = columns[name]
            with np.errstate(divide="ignore"):  # nothing served is over by any factor
                over = limit / value if OBJECTIVES[name] > 0 else value / limit
            excess[name] = over - 1
        return excess


def stated_limits(goal: Goal) -> dict[str, float]:
    """Limits by name, of those that a goal states of what a deployment comes to.

    Of percentiles from ``BOUNDING`` on the mean is held against them, since most of what users
    wait for leans to long waits; lower ones are held in the simulation alone.
    """
    limits = {name: getattr(goal.limits, name) for name in ("throughput", "cost", "power")}
    times = {name: min((limit for at, limit in stated.items() if at == MEAN
                        or percentile(at) >= BOUNDING), default=None)
             for name, stated in goal.limits.times.items()}
    return {name: float(limit) for name, limit in (times | limits).items() if limit is not None}


def check_goal(space: Space, goal: Goal | None = None) -> Wishes:
    """Return what a goal asks, once every card that it names can be searched.

    Args:
        space: what it allows.
        goal: what is asked, where it is not the goal of the space.

    Raises ParamsError, one sentence that begins with a key, for a goal that contradicts itself, for
    cards without a server, a price or a power that it needs, and for drafters of another model.
    """
    criteria = wishes(space, goal)
    for base in space.bases():
        space.most(base)
        space.drafting(base)
        if criteria.powered:
            site_of(load_device(base.device), load_node(base.node), prices_of(base.device))
    return criteria


def wishes(space: Space, goal: Goal | None = None) -> Wishes:
    """What a goal asks, once it is known that it can be asked.

    Args:
        space: what it allows.
        goal: what is asked, where it is not the goal of the space.

    Raises ParamsError for a goal that contradicts itself, with the arithmetic, and for one that
    asks for money where no card has a price.
    """
    goal = goal or space.goal
    check_contradictions(goal)
    hours, unpriced = {}, []
    for offer in space.offers:
        device, prices = load_device(offer.device), prices_of(offer.device)
        way = (goal.ownership if card_hour(device, goal.ownership, prices, offer.price)
               else way_of(device, prices))
        hour = priced_hour(device, node_of(offer, device), way, prices, goal.currency, offer.price)
        if hour is None:
            unpriced.append(offer.device)
        else:
            hours[offer.device] = converted(hour, goal.currency, prices.exchange)
    names = list(goal.objectives or USUAL_OBJECTIVES)
    if not hours and ("cost" in (goal.objectives or ()) or goal.limits.cost is not None):
        raise ParamsError("devices: the goal asks for a cost, but no price of "
                          f"{', '.join(unpriced)} is known, state one with --price or in the "
                          f"goal, devices: [{{device: {unpriced[0]}, price: 1.5..2.5 USD/h}}].")
    if goal.objectives is None and unpriced:
        names.remove("cost")  # a front of some devices only would leave the others out
    own = len(names)
    # what is best at central values need not keep its limits for sure; of what a decode step gives
    # no bound of, the margins are looked at only where that is so
    limited = [name for name in stated_limits(goal) if name not in names]
    bounded = [name for name in limited if name not in UNBOUNDED]
    objectives, margins = ({COLUMNS.get(name, name): OBJECTIVES[name] for name in (*names, *more)}
                           for more in (bounded, limited))
    return Wishes(goal, objectives, own, hours, tuple(unpriced), margins)


def check_contradictions(goal: Goal) -> None:
    """Refuse a goal whose demand and limits say two things of one quantity."""
    demand, wanted = goal.demand, goal.limits.throughput
    if wanted is None:
        return
    most, why = math.inf, ""
    if demand.arrival_rate is not None:
        most = demand.arrival_rate * demand.output_tokens
        why = f"{demand.arrival_rate:g} requests per second of {demand.output_tokens:,} tokens"
    elif demand.users is not None and demand.think_time:
        most = demand.users * demand.output_tokens / demand.think_time
        why = (f"{demand.users:,} users who think {human(demand.think_time, 's')} before each "
               f"{demand.output_tokens:,} tokens")
    if wanted > most:
        raise ParamsError(f"limits.throughput: {why} are {human(most, 'token/s')}, the goal asks "
                          f"for {human(wanted, 'token/s')}, expected at most what arrives.")


def with_price(goal: Goal, price: str) -> Goal:
    """A goal with another price of a card's hour. Raises ParamsError for what is no price."""
    stated(price, name="--price")
    if not goal.devices:
        raise ParamsError("--price: the goal tries any card, expected --card beside it.")
    return goal.model_copy(update={"devices": [
        offer.model_copy(update={"price": price}) for offer in goal.devices]})


LISTS = ("devices", "precisions", "engines", "objectives")
LIMITED_TIMES = ("limits.ttft", "limits.tpot", "limits.e2e")
LISTS_OF = "space."  # whose keys are lists, but for one
SINGLE = ("space.block_size", "space.staged_groups", "space.staged_drafts", "space.any_format",
          "space.any_engine")


def load_goal(reference: str | Path | YamlFile, settings: Iterable[str] = ()) -> Goal:
    """A goal with overrides.

    >>> load_goal("r1-64-users-8xh20", ["demand.users=32", "devices=nvidia-h20,nvidia-h200-sxm"]
    ...           ).demand.users
    32

    Args:
        reference: identifier, path of a goal's file, or contents that are in no file.
        settings: ``KEY=VALUE`` with dotted keys; parts of a list stand with commas between them.

    Raises ParamsError, one sentence, for what cannot be used.
    """
    overrides: dict[str, Override] = {}
    for key, override in map(parse_setting, settings):
        limit, _, at = key.rpartition(".")
        if key in LIMITED_TIMES:
            limit, at = key, MEAN
        if limit in LIMITED_TIMES:  # with those of other percentiles, not with the file's own
            before = overrides[limit].raw if limit in overrides else {}
            now = override.raw if isinstance(override.raw, dict) else {at: override.raw}
            if key == limit and override.raw is None:  # what stands before is taken away
                before, now = {}, {}
            overrides[limit] = Override({**before, **now}, override.origin)
        else:
            overrides[key] = override
    for limit in LIMITED_TIMES:  # alone it is told as it was given
        if limit in overrides and not {*overrides[limit].raw} - {MEAN}:
            overrides[limit] = Override(overrides[limit].raw.get(MEAN), overrides[limit].origin)
    goal: Goal = (load("goals", reference.path, overrides, file=reference)
                  if isinstance(reference, YamlFile) else load("goals", reference, overrides))
    return goal


def parse_setting(text: str) -> tuple[str, Override]:
    """Key and value of ``KEY=VALUE``. Raises ParamsError for anything else."""
    key, equals, raw = (part.strip() for part in text.partition("="))
    if not (key and equals and raw):
        plain = unicodedata.normalize("NFKC", text)
        raise ParamsError(f"--set {text}: expected KEY=VALUE, such as "
                          f"{plain if '=' in plain and plain != text else 'limits.tpot=50ms'}.")
    origin = f"--set {key}"
    if key in LIMITED_TIMES and raw.startswith("{"):
        return key, Override(parse_percentiles(key, raw), origin)
    listed = (key in LISTS or key.startswith(LISTS_OF)) and key not in SINGLE and raw != ANY
    if listed and raw.startswith("[") and raw.endswith("]"):
        raw = raw[1:-1]
    try:
        value: Any = ([yamlfile.scalar(part.strip()) for part in raw.split(",")] if listed
                      else yamlfile.scalar(raw))
    except ValueError as error:
        raise ParamsError(f"{origin}: {error}.") from None
    return key, Override(value, origin)


def parse_percentiles(key: str, raw: str) -> dict[str, str]:
    """Times by percentile, written as a goal's file has them: ``{p90: 2 s, p99: 5 s}``."""
    parts = [part.partition(":") for part in raw.strip("{} ").split(",")]
    times = {name.strip(): time.strip() for name, _, time in parts}
    if not raw.endswith("}") or not all(times) or not all(times.values()):
        raise ParamsError(f"--set {key}: '{raw[:60]}' is no time and no times by percentile, "
                          f"expected {key}.p90=2s, or {key}={{p90: 2 s}}.")
    return times
