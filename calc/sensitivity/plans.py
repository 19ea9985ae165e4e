"""A deployment as a function: any of its inputs may move, and what is decided by is asked of it.

What is decided by is latency or throughput as users see them, memory, or one of :data:`DERIVED`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calc.answer.estimate import predicted
from calc.answer.steady_state import STEADILY, SteadyState, central_values, is_burst, steady_state
from calc.layouts.feasible import has_room
from calc.many.sweeps import decode_sweep, sweep
from calc.serving.evaluate import SERVED_NAMES, STEADY_NAMES, evaluate
from catalogue import ParamsError, Scenario, load_scenario, symbols
from catalogue.deployments.physics_inputs import Knob
from catalogue.messages import Pair, sentences
from catalogue.reading import units

say = sentences("calc/sensitivity/plans")

MILLION = 1e6  # tokens that a price is of
CARD_HOURS, PER_CARD = "card_hours", "throughput_per_card"
DERIVED = {CARD_HOURS: "h", PER_CARD: "token/s"}
"""Quantities derived from the throughput, and their units."""
MEMORY_NAMES = ("headroom_per_device", "memory_per_device", "free_for_kv_per_device",
                "max_concurrency", "kv_blocks")
ROOM = "headroom_per_device"
MOST_IS_BETTER = ("throughput", "headroom", "free", "max_concurrency", "kv_blocks")
LENGTHS = ("ttft", "e2e")  # need the length of prompts, as what is steady does
# requests of a replica that are tried: each of the first, then eight per doubling
BATCHES = np.unique(np.r_[1:17, (16 * 2.0 ** np.arange(0, 6.01, 1 / 8)).round()])

Moves = Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """A deployment whose inputs may move.

    Attributes:
        label: how it is told from another.
        scenario: that it is made from.
        inputs: input symbols, SI numbers.
        knobs: what has a range, without what was stated for this plan.
    """

    label: str
    scenario: Scenario
    inputs: Mapping[str, float]
    knobs: tuple[Knob, ...]

    @property
    def cards(self) -> int:
        """Cards of the deployment [1]."""
        return self.scenario.devices

    @cached_property
    def seen(self) -> dict[str, tuple[str, float]]:
        """Latency and throughput by name -> the quantity that users see under it, and how many
        times its closed form an estimate of the deployment tells [1]."""
        if is_burst(self.scenario, _steady(self.scenario)):
            return {}
        central = central_values(self.scenario, STEADILY)
        closed = self._swept({}, tuple(STEADILY.values()))
        return {burst: (steady, central[burst] / float(closed[steady][0]))
                for burst, steady in STEADILY.items()}

    def at(self, moves: Moves, name: str) -> np.ndarray:
        """A quantity where some inputs move; shape (n,), or (1,) where none does.

        >>> pace = plan_of("s2-910b1-awq").at({"concurrency": np.array([1.0, 32.0])}, "tpot")
        >>> pace.round(4)
        array([0.0204, 0.0857])

        Args:
            moves: input symbol -> number or array of shape (n,), SI.
            name: of a quantity, see :func:`check_quantity`.
        """
        if name in DERIVED:
            rate = self.at(moves, "output_throughput")
            return (self.cards * MILLION / units.HOUR / rate if name == CARD_HOURS
                    else rate / self.cards)
        symbol, factor = self.seen.get(name, (name, 1.0))
        return self._swept(moves, (symbol,))[symbol] * factor

    def fits(self, moves: Moves) -> np.ndarray:
        """Whether memory suffices for every request at its longest, shape (n,)."""
        return np.asarray(has_room(self.at(moves, ROOM)))

    def medians(self, users: np.ndarray, name: str) -> np.ndarray:
        """What a page tells of a quantity, its median, with each number of users; shape (n,) both.

        Args:
            users: at once [request].
            name: of a quantity of one pool.
        """
        symbol, factor = self.seen.get(name, (name, 1.0))
        medians = predicted(self.scenario, [symbol], inputs={**self.inputs, "concurrency": users})
        return np.asarray(medians[symbol].value) * factor

    def median(self, users: float, name: str) -> float:
        """That with so many users."""
        return float(self.medians(np.array([float(users)]), name)[0])

    def most_users(self, tried: np.ndarray, name: str, most: float) -> int:
        """The most users at once within memory and a limit on what is told, 0 if none [request].

        Args:
            tried: numbers of users, in rising order, shape (n,).
            name: of a quantity whose median rises with the users.
            most: that its median may be, SI.
        """
        feasible = tried[self.fits({"concurrency": tried})]
        met = bisect_right(feasible, most, key=lambda users: self.median(users, name))
        return int(feasible[met - 1]) if met else 0

    def _swept(self, moves: Moves, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Quantities of the runtime where some inputs move, shape (n,)."""
        changed = {**self.inputs, **moves}
        if all(np.ndim(value) == 0 for value in changed.values()):
            changed["concurrency"] = np.atleast_1d(changed["concurrency"])
        if set(names) <= SERVED_NAMES | STEADY_NAMES:
            return decode_sweep(changed, self.scenario.model.attention, names)
        return sweep(changed, self.scenario.model.attention, names, decode=False)


def plan_of(reference: str, settings: Iterable[str] = (), label: str = "") -> Plan:
    """A plan of a deployment.

    >>> plan_of("s2-910b1-awq", ["mechanisms.prefix_hit_share=0.5"]).inputs["prefix_hit_share"]
    0.5

    Args:
        reference: identifier or path of a scenario file.
        settings: ``PATH=VALUE`` as ``estimate --set`` takes them.
        label: how it is told from another; else what is set, or the deployment.

    Raises ParamsError for a deployment or a setting that cannot be used.
    """
    texts = [text.strip() for text in settings]
    scenario = load_scenario(reference, overrides=texts)
    inputs, knobs = scenario.inputs(), scenario.knobs()
    if inputs["open_arrivals"] or inputs["think_time"]:
        steady = _steady(scenario)
        if not is_burst(scenario, steady):
            inputs = {**inputs, "concurrency": steady.in_flight}
    return Plan(label or ", ".join([scenario.id, *texts]), scenario, inputs, tuple(knobs))


def _steady(scenario: Scenario) -> SteadyState:
    """The steady state of a deployment in closed form."""
    inputs = scenario.inputs()
    return steady_state(scenario, inputs, evaluate(inputs, scenario.model.attention))


def against(reference: str, settings: Sequence[str], other: str) -> Plan:
    """The plan that a first one is held against.

    Args:
        reference, settings: that the first was made of.
        other: ``KEY=VALUE,...`` for the same with changes; another deployment, or
            ``SCENARIO,KEY=VALUE,...``.

    Raises ParamsError for one that cannot be used.
    """
    name, _, changes = other.partition(",")
    if "=" not in name:
        return plan_of(name, changes.split(",") if changes else (), label=other)
    return plan_of(reference, [*settings, *other.split(",")], label=other)


def sign_of(name: str) -> float:
    """1 where less of a quantity is better, -1 where more is."""
    return -1.0 if any(part in name for part in MOST_IS_BETTER) else 1.0


def signed(name: str) -> bool:
    """Whether a quantity may be negative, so that it has no logarithm."""
    return name.startswith(("headroom", "free_for"))


def unit_of(name: str) -> str:
    """SI unit of a quantity."""
    return DERIVED[name] if name in DERIVED else symbols()[name].unit


def quantity_label(name: str) -> Pair:
    """A quantity in English and in Chinese."""
    if name == CARD_HOURS:
        return say("card-hours-of-million-output", "card-hours of a million output tokens")
    if name == PER_CARD:
        return say("output-tokens-per-second-and", "output tokens per second and card")
    return symbols()[name].en, symbols()[name].zh


def check_quantity(plan: Plan, name: str) -> None:
    """Refuse a quantity that cannot be asked of a plan.

    Raises ParamsError for one that does not exist, or that needs prompts which are not stated.
    """
    if name not in DERIVED and (name not in SERVED_NAMES | STEADY_NAMES | {*MEMORY_NAMES}
                                or name not in symbols()):
        raise ParamsError(f"--quantity {name[:60]}: there is no such quantity, expected one such "
                          f"as tpot, ttft, output_throughput, {', '.join(DERIVED)}, {ROOM}.")
    silent = plan.scenario.file.workload.output_tokens is None
    if silent and (name in LENGTHS or name.startswith("steady_")):
        raise ParamsError(f"--quantity {name}: '{plan.scenario.id}' states no length of prompts, "
                          "expected a quantity of decode such as tpot.")
