"""How sure the answer is: intervals of deployments, and which of them cannot be told apart.

Deployments share what is uncertain: the same cards, kernels and links stand behind both, so that
two wide intervals may overlap though one is better for sure. So what is shared is drawn once for
all of them, and it is counted how often one is better than the other.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from calc.choosing.sweeps import decode_sweep
from calc.costing.power import powers_of, shares_of
from calc.evidence.classes import class_of, own_errors
from calc.searching.choices import Choice, scenario
from calc.searching.search import Found, Row
from calc.searching.trying import BURST, POWER_NAMES, STEADY, as_asked, site_draws
from catalogue import Scenario
from catalogue.deployments.physics_inputs import NORMAL_90, Knob

DRAWS = 400  # of everything that is known within a range only
SEED = 20_260_101
SURE = 0.9  # how often one must be better, to be called so
LOW, HIGH = 0.1, 0.9  # ends of an 80% interval
LEAST = 5e-3  # relative: what differs by less is not worth a row of its own
OWN = {"ttft": "ttft", "tpot": "tpot", "e2e": "e2e", "throughput": "output_throughput"}


MOST_DRAWN = 1000  # deployments of one answer


@dataclass(frozen=True)
class Drawn:
    """A deployment under many draws of what is uncertain.

    Attributes:
        row: it.
        quantities: name -> draws, shape (DRAWS,), SI units.
    """

    row: Row
    quantities: dict[str, np.ndarray]

    @cached_property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """80% intervals by name; the value is never outside."""
        found = {}
        for name, draws in self.quantities.items():
            low, high = map(float, np.quantile(draws, (LOW, HIGH)))
            value = self.row.quantities[name]
            found[name] = min(low, value), max(high, value)
        return found


@dataclass(frozen=True)
class Sure:
    """Deployments that keep all limits in a share of the draws.

    Attributes:
        share: that was asked [1].
        front: those that no other of them beats in the goal's objectives, the best first.
        surest: of all that were drawn the one that keeps its limits most often; None of nothing.
        tried: deployments that were drawn.
        left: candidates that were not, because ``MOST_DRAWN`` were.
    """

    share: float
    front: list[Drawn]
    surest: Drawn | None
    tried: int
    left: int

    def as_json(self) -> dict[str, Any]:
        """Plain data: what was asked and how much was drawn."""
        return {"share": self.share, "found": len(self.front), "drawn": self.tried,
                "left": self.left}


def keeps(found: Found, each: Drawn) -> float | None:
    """In which share of the draws a deployment keeps all limits [1]; None without limits.

    Args:
        found: the search that it comes from.
        each: the deployment.
    """
    over = list(found.wishes.excess(each.quantities).values())
    return float(np.mean(np.max(over, axis=0) <= 0)) if over else None


def surely(found: Found, share: float) -> Sure:
    """The front of those that keep all limits in a share of the draws.

    Candidates are the fronts of all offers and precisions in the goal's objectives and all that it
    limits: one that is left out is beaten, on the same cards in the same weights, by one that is no
    worse in any objective and no nearer to any limit. It might still be surer, where less of it is
    uncertain; so this is exhaustive at the central values only. Candidates are drawn in the order
    of the objectives, but for those that are no better than one that is sure.

    Args:
        found: a search of a goal with ``limits.sure``.
        share: of the draws, at least [1].
    """
    wanted = found.wishes.chosen
    rows = sorted((row for kept in found.kept for row in found.rows(kept.front)), reverse=True,
                  key=lambda row: row.worth(found.wishes.objectives))
    front: list[Drawn] = []
    surest, most, tried, left = None, -1.0, 0, 0
    for row in rows:
        worth = np.array(row.worth(wanted))
        if any((worth <= other.row.worth(wanted)).all() for other in front):
            continue
        if tried == MOST_DRAWN:
            left += 1
            continue
        each, = drawn(found, [row])
        tried += 1
        often = keeps(found, each) or 0.0
        if often > most:
            surest, most = each, often
        if often >= share:
            front.append(each)
    return Sure(share, front, surest, tried, left)


def drawn(found: Found, rows: Sequence[Row]) -> list[Drawn]:
    """Deployments under the same draws.

    What the same statement says of two deployments is drawn once, so is the formulas' own error of
    a class of deployments, and what an hour of a card costs.

    Args:
        found: the search that they come from.
        rows: of it.
    """
    goal, draws = found.wishes.goal, found.draws
    for choice in (row.choice for row in rows if row.choice not in draws):
        draws[choice] = _drawn(found, choice, scenario(goal, choice))
    return [Drawn(row, {name: draws[row.choice][name] for name in row.quantities
                        if name in draws[row.choice]}) for row in rows]


def _drawn(found: Found, choice: Choice, deployed: Scenario) -> dict[str, np.ndarray]:
    """Draws of all quantities of a deployment by name, shape (DRAWS,) each, SI units."""
    inputs: dict[str, Any] = dict(deployed.inputs())
    for knob in deployed.knobs():
        inputs |= dict.fromkeys(knob.symbols, knob.at(_scores(_key(knob))))
    goal = found.wishes.goal
    names = BURST if goal.demand.arrivals == "burst" else STEADY
    powered = POWER_NAMES if found.wishes.powered else ()
    if not any(np.ndim(value) for value in inputs.values()):
        inputs["concurrency"] = np.full(DRAWS, float(inputs["concurrency"]))
    seen = decode_sweep(inputs, deployed.model.attention, [*names.values(), *powered],
                        threads=1)
    own, of = own_errors(deployed), class_of(deployed)
    quantities = {}
    for name, symbol in names.items():
        error = own.get(OWN[name])
        scores = _scores(f"{of} {OWN[name]}")
        down, up = error.sides if error else (0.0, 0.0)
        quantities[name] = seen[symbol] * np.exp(scores * np.where(scores < 0, down, up))
    device = choice.device
    if goal.demand.arrival_rate is not None or goal.demand.think_time:
        quantities = as_asked(goal.demand, quantities)
    if powered:
        shares = {name: Knob(name, share, ()).at(_scores(f"{device} {name}"))
                  for name, share in shares_of(powers_of(deployed.device.id)).items()}
        quantities["power"] = site_draws(inputs, seen, deployed, quantities["throughput"], shares)
    columns = found.wishes.with_derived(
        {**quantities, "devices": np.full(DRAWS, choice.devices)}, device)
    hour = found.wishes.hours.get(device)
    if hour is not None:
        scores = _scores(f"hour {device}")
        end = np.where(scores < 0, hour.low, hour.high) / hour.value
        columns["cost"] = columns["cost"] * end ** (np.abs(scores) / NORMAL_90)
    return columns


def _key(knob: Knob) -> str:
    """What tells two statements apart: what is said, of what, by whom."""
    value = knob.value
    return f"{knob.name} {value.written} {value.low} {value.high} {value.source}"


@cache
def _scores(key: str) -> np.ndarray:
    """Standard normal draws of one thing, the same for all deployments, shape (DRAWS,)."""
    return np.random.default_rng([SEED, zlib.crc32(key.encode())]).standard_normal(DRAWS)


def groups(found: Found, deployments: Sequence[Drawn]) -> list[list[Drawn]]:
    """Deployments that cannot be told apart from the first of their group, the best group first.

    Two are apart if one is better in some objective in nine of ten draws; counts of cards are
    exact.

    Args:
        found: the search that they come from.
        deployments: in their order.
    """
    result: list[list[Drawn]] = []
    for each in deployments:
        for group in result:
            if not _apart(group[0], each, found.wishes.objectives):
                group.append(each)
                break
        else:
            result.append([each])
    return result


def _apart(one: Drawn, other: Drawn, objectives: Mapping[str, int]) -> bool:
    if one.row.choice.devices != other.row.choice.devices:
        return True
    for name in objectives:
        if name not in one.quantities or name not in other.quantities:
            continue
        left, right = one.quantities[name], other.quantities[name]
        larger, smaller = np.mean(left > right), np.mean(left < right)
        if max(larger, smaller) >= SURE and not _same(left, right):
            return True
    return False


def _same(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether two differ by less than what is printed of them, whatever is drawn."""
    return bool(np.all(np.abs(left / right - 1) < LEAST))
