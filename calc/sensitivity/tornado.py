"""One input at a time: tornado bars over its range, and elasticities over a small step.

The formulas' own error, which no input moves, is a bar of the tornado: only a measurement of the
deployment itself removes it.

An elasticity is d ln(quantity) / d ln(input), the change in per cent per per cent, by central
differences. It is that of the piece of the formulas that is active: a ceiling has no slope, of a
maximum the larger side counts. A count, at which ceilings step, has an arc elasticity instead: the
mean between half of it and twice. The derivations give the same from SymPy
(``tests/reference/slopes.py``).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.evidence.classes import Own, own_errors
from calc.sensitivity.paths import CONTINUOUS, GROUPS, INTEGERS, path_of
from calc.sensitivity.plans import CARD_HOURS, MEMORY_NAMES, PER_CARD, Plan, signed
from calc.serving.evaluate import evaluate
from calc.uncertainty import Sides
from catalogue import ParamsError, symbols
from catalogue.deployments.physics_inputs import NORMAL_90
from catalogue.entries.formulas import input_symbols
from catalogue.entries.hardware import OF_EVERY
from catalogue.reading import units
from catalogue.reading.units import DIMENSIONLESS

OWN = "own_error"  # the formulas' own
DIGITS = 6  # to which equal elasticities are equal
STEP = 1e-5  # relative step of an input to either side
SHARES = ("_efficiency", "_overlap", "_hit_share", "_traffic")
PLAIN = frozenset({*OF_EVERY, *CONTINUOUS})  # dimensionless, and no count unless they are whole
DEFINED = "multiply_add_flops"  # a constant
COUNTED = ("concurrency", "input_tokens", "output_tokens", "max_num_batched_tokens")
Ends = Mapping[str, tuple[float, float]]  # inputs at the lower and the upper end of a move


@dataclass(frozen=True)
class Bar:
    """What one input's range does to a quantity.

    Attributes:
        name: of the mechanism or input; ``own_error`` for what no input moves.
        value, low, high: of the input, SI; of the own error factors [1].
        at_low, at_high: the quantity with the input there, SI.
        unit: of the input, SI.
    """

    name: str
    value: float
    low: float
    high: float
    at_low: float
    at_high: float
    unit: str = DIMENSIONLESS

    @property
    def swing(self) -> float:
        """How far apart the ends are, in the unit of the quantity."""
        return abs(self.at_high - self.at_low)


@dataclass(frozen=True)
class Tornado:
    """All bars of a quantity, the widest first.

    Attributes:
        value: of the quantity as the deployment is, SI.
        bars: of what moves it.
    """

    value: float
    bars: tuple[Bar, ...]


def own_error(plan: Plan, name: str) -> Own | None:
    """The formulas' own error of a quantity; None where nothing is known to be wrong.

    What is derived from the throughput has that of the throughput, a steady state that of a wave.
    """
    measured = ("output_throughput" if name in (CARD_HOURS, PER_CARD, "steady_throughput")
                else name.removeprefix("steady_"))
    return own_errors(plan.scenario).get(measured)


def own_sides(plan: Plan, name: str) -> Sides:
    """The formulas' own error of a quantity: deviations of its logarithm, down and up [1].

    A cost is the inverse of a rate, so its sides are exchanged. Of memory, nothing is known to be
    wrong.
    """
    error = own_error(plan, name)
    sides = error.sides if error else (0.0, 0.0)
    return (sides[1], sides[0]) if name == CARD_HOURS else sides


def tornado(plan: Plan, name: str) -> Tornado:
    """A quantity with each input at either end of its 80% range, alone.

    >>> from calc.sensitivity.plans import plan_of
    >>> result = tornado(plan_of("s2-910b1-awq"), "tpot")
    >>> result.bars[0].swing >= result.bars[1].swing > 0
    True

    Args:
        plan: the deployment.
        name: of a quantity, see :func:`calc.sensitivity.plans.check_quantity`.
    """
    columns = columns_at_ends(plan.inputs, [
        dict.fromkeys(knob.symbols, (knob.value.low, knob.value.high)) for knob in plan.knobs])
    ends = pairs_of(plan.at(columns, name), len(plan.knobs))
    bars = [Bar(knob.name, float(knob.value.value), float(knob.value.low), float(knob.value.high),
                float(low), float(high), knob.value.unit)
            for knob, (low, high) in zip(plan.knobs, ends, strict=True)]
    value = float(plan.at({}, name)[0])
    sides = own_sides(plan, name)
    if any(sides):
        low, high = math.exp(-NORMAL_90 * sides[0]), math.exp(NORMAL_90 * sides[1])
        bars.append(Bar(OWN, 1.0, low, high, value * low, value * high))
    return Tornado(value, tuple(sorted((bar for bar in bars if bar.swing),
                                       key=lambda bar: -bar.swing)))


def columns_at_ends(inputs: Mapping[str, Any], moves: Sequence[Ends]) -> dict[str, np.ndarray]:
    """Inputs that any move has, at both ends of every move, else at their values; (2 moves,)."""
    columns = {symbol: np.full((len(moves), 2), float(inputs[symbol]))
               for move in moves for symbol in move}
    for row, move in enumerate(moves):
        for symbol, ends in move.items():
            columns[symbol][row] = ends
    return {symbol: column.ravel() for symbol, column in columns.items()}


def pairs_of(values: Any, moves: int) -> np.ndarray:
    """A quantity of :func:`columns_at_ends` by move, low and high end; (moves, 2)."""
    return np.broadcast_to(np.asarray(values, float), 2 * moves).reshape(-1, 2)


def small_moves(inputs: Mapping[str, Any], groups: Iterable[Sequence[str]]) -> list[Ends]:
    """A relative ``STEP`` to either side of the inputs of each group, which move together."""
    return [{symbol: (inputs[symbol] * (1 - STEP), inputs[symbol] * (1 + STEP))
             for symbol in symbols} for symbols in groups]


def slopes(ends: np.ndarray, value: Any, name: str) -> list[float]:
    """Elasticities from the ends of :func:`small_moves`; of what may be negative the slope itself.

    Args:
        ends: of the quantity, (moves, 2).
        value: of the quantity where nothing moves.
        name: of the quantity.
    """
    scale = 1.0 if signed(name) else np.asarray(value, float).item()
    return ((ends[:, 1] - ends[:, 0]) / (2 * STEP) / scale).tolist()


@dataclass(frozen=True)
class Elasticity:
    """How a quantity answers to one input.

    Attributes:
        name: of the input, or of a mechanism that sets several.
        symbols: inputs that move together.
        value: of the first of them, SI.
        elasticity: d ln quantity / d ln input [1]; of what may be negative d quantity / d ln input.
        arc: whether it is the mean between half and twice the value.
    """

    name: str
    symbols: tuple[str, ...]
    value: float
    elasticity: float
    arc: bool = False


def continuous(inputs: Mapping[str, Any]) -> list[str]:
    """Inputs that take values in between and are not zero: rates, times, bytes, shares.

    Plain numbers count where a mechanism or a share may have any value; shapes, layouts and
    switches do not.

    >>> import catalogue
    >>> names = continuous(catalogue.load_scenario("s2-910b1-awq").inputs())
    >>> "memory_bandwidth" in names, "hbm_efficiency" in names, "tensor_parallel" in names
    (True, True, False)
    """
    every = symbols()
    return sorted(name for name in input_symbols() if inputs[name] > 0 and (
        units.uncounted(units.dimensions(every[name].unit))
        or (not every[name].whole and (name.endswith(SHARES) or name in PLAIN))))


def elasticities(inputs: Mapping[str, Any], attention: str,
                 names: Sequence[str]) -> dict[str, dict[str, float]]:
    """d ln(quantity) / d ln(input) of some quantities, by every continuous input [1].

    >>> import catalogue
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> round(elasticities(inputs, "mla", ["tpot"])["tpot"]["l2_bandwidth"], 4)
    -0.4616

    Each comes from a small move to either side.

    Args:
        inputs: input symbols in SI units, scalars.
        attention: ``mla`` or ``gqa``.
        names: quantities; what may be negative gets d quantity / d ln(input), in its unit.
    """
    at, decode = continuous(inputs), not {*names} <= {*MEMORY_NAMES}
    columns = columns_at_ends(inputs, small_moves(inputs, [[symbol] for symbol in at]))
    central, moved = (evaluate({**inputs, **moves}, attention, decode=decode)
                      for moves in ({}, columns))
    return {name: dict(zip(at, slopes(pairs_of(moved[name], len(at)), central[name], name),
                           strict=True)) for name in names}


def answers_of(plan: Plan, name: str) -> list[Elasticity]:
    """How a quantity of a plan answers to its inputs, the strongest first.

    A mechanism that sets several inputs is one; so are the peaks of the dtypes that are multiplied,
    and the links of a server. Counts have arcs.

    Args:
        plan: the deployment.
        name: of a quantity, as of :func:`elasticities` or derived from the throughput.

    Raises ParamsError for a quantity that has none.
    """
    value = float(plan.at({}, name)[0])
    if not signed(name) and value <= 0:
        raise ParamsError(f"--quantity {name}: it is 0 for '{plan.scenario.id}', and a per cent of "
                          "nothing is nothing; expected a quantity that it has.")
    single = continuous(plan.inputs)
    groups = {label: members for label, members in GROUPS.items() if label != "all_links"} | {
        knob.name: knob.symbols for knob in plan.scenario.every_knob() if knob.name not in INTEGERS}
    moves: dict[str, tuple[str, ...]] = {}
    for label, members in groups.items():
        if moved := [member for member in members if member in single]:
            moves[label] = members
            single = [symbol for symbol in single if symbol not in moved]
    moves |= {symbol: (symbol,) for symbol in single  # a mechanism that is no knob has no effect
              if symbol != DEFINED and symbol not in PLAIN - set(CONTINUOUS)}
    columns = columns_at_ends(plan.inputs, small_moves(plan.inputs, moves.values()))
    values = slopes(pairs_of(plan.at(columns, name), len(moves)), value, name)
    result = [Elasticity(label, members, float(plan.inputs[members[0]]), slope)
              for (label, members), slope in zip(moves.items(), values, strict=True)]
    result += [arc for label in COUNTED if (arc := arc_elasticity(plan, label, name))]
    # of inputs that appear as a product alone, in the order in which they are given
    return sorted((one for one in result if one.elasticity),
                  key=lambda one: -float(f"{abs(one.elasticity):.{DIGITS}g}"))


def arc_elasticity(plan: Plan, label: str, name: str) -> Elasticity | None:
    """The mean elasticity by a count between half of it and twice; none where it has no effect."""
    value = float(plan.inputs[label])
    silent = plan.scenario.file.workload.output_tokens is None
    if value < 2 or (silent and label != "concurrency"):
        return None
    ends = np.array([math.ceil(value / 2), 2 * value])
    low, high = plan.at(path_of(plan, label, f"1,{4 * value:.0f}").moves(plan, ends), name)
    change = (high - low if signed(name) else
              math.log(high / low) if min(low, high) > 0 else 0.0)  # no ratio where nothing is left
    arc = float(change) / math.log(ends[1] / ends[0])
    return Elasticity(label, (label,), value, arc, True) if arc else None
