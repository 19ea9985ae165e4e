"""How a quantity answers to each input: elasticities, and arcs of counts.

An elasticity is d ln(quantity) / d ln(input), the change in per cent per per cent. It is of the
piece of the formulas that holds: a ceiling stands still, of a maximum the larger side counts. So a
count, at which ceilings step, has an arc instead: the mean elasticity between half of it and twice.
Independent of this the derivations give the same from SymPy
(``tests/reference/slopes.py``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.sensitivity.paths import CONTINUOUS, GROUPS, WHOLE, path_of
from calc.sensitivity.plans import CARD_HOURS, DERIVED, MEMORY_NAMES, Plan, signed
from calc.serving.evaluate import evaluate
from catalogue import ParamsError, symbols
from catalogue.deployments.physics_inputs import Knob
from catalogue.entries.formulas import input_symbols
from catalogue.entries.mechanisms import OF_EVERY
from catalogue.reading import units

TIED = 6  # digits to which equal elasticities are equal
STEP = 1e-5  # relative move of an input to either side
SHARES = ("_efficiency", "_overlap", "_hit_share", "_traffic")
PLAIN = frozenset({*OF_EVERY, *CONTINUOUS})  # of no unit, and no count unless they are whole
DEFINED = "multiply_add_flops"  # what nobody can change
COUNTED = ("concurrency", "input_tokens", "output_tokens", "max_num_batched_tokens")


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
    known = symbols()
    return sorted(name for name in input_symbols() if inputs[name] > 0 and (
        units.uncounted(units.dimensions(known[name].unit))
        or (not known[name].whole and (name.endswith(SHARES) or name in PLAIN))))


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
    at = continuous(inputs)
    count, decode = len(at), not {*names} <= {*MEMORY_NAMES}
    columns: dict[str, Any] = dict(inputs)
    for place, name in enumerate(at):
        column = np.full(2 * count, float(inputs[name]))
        column[2 * place] *= 1 - STEP
        column[2 * place + 1] *= 1 + STEP
        columns[name] = column
    moved = evaluate(columns, attention, decode=decode)
    central: dict[str, Any] = evaluate(inputs, attention, decode=decode)
    found = {}
    for name in names:
        ends = np.broadcast_to(np.asarray(moved[name], float), (2 * count,)).reshape(count, 2)
        of_value: Any = central[name]
        scale = 1.0 if signed(name) else float(of_value)
        found[name] = dict(zip(at, map(float, (ends[:, 1] - ends[:, 0]) / (2 * STEP) / scale),
                               strict=True))
    return found


def answers_of(plan: Plan, name: str) -> list[Elasticity]:
    """How a quantity of a plan answers to its inputs, the strongest first.

    A mechanism that sets several inputs is one; so are the peaks of the dtypes that are multiplied,
    and the links of a server. Counts have arcs.

    Args:
        plan: the deployment.
        name: of a quantity, as of :func:`elasticities` or derived from the throughput.

    Raises ParamsError for a quantity that has none.
    """
    asked, sign = (("output_throughput", -1.0 if name == CARD_HOURS else 1.0)
                   if name in DERIVED else (name, 1.0))
    if plan.pooled:
        raise ParamsError("--elasticities: expected one pool; of two, ask each by itself.")
    if not signed(asked) and float(plan.at({}, asked)[0]) <= 0:
        raise ParamsError(f"--quantity {name}: it is 0 for '{plan.scenario.id}', and a per cent of "
                          "nothing is nothing; expected a quantity that it has.")
    symbol, _ = plan.seen.get(asked, (asked, 1.0))
    each = elasticities(plan.inputs, plan.scenario.model.attention, [symbol])[symbol]
    found, left = [], dict(each)
    for label, members in _groups(plan.scenario.every_knob()).items():
        parts = [left.pop(member) for member in members if member in left]
        if parts:
            found.append(Elasticity(label, members, float(plan.inputs[members[0]]),
                                    sign * sum(parts)))
    found += [Elasticity(label, (label,), float(plan.inputs[label]), sign * value)
              for label, value in left.items()  # a mechanism that is no knob here is not at work
              if label != DEFINED and label not in PLAIN - set(CONTINUOUS)]
    found += [arc for label in COUNTED if (arc := _arc(plan, label, name))]
    # of inputs that appear as a product alone, in the order in which they are given
    return sorted((one for one in found if one.elasticity),
                  key=lambda one: -float(f"{abs(one.elasticity):.{TIED}g}"))


def _groups(knobs: Sequence[Knob]) -> dict[str, tuple[str, ...]]:
    """Inputs that are one thing, by the name of it."""
    several = {knob.name: knob.symbols for knob in knobs if knob.name not in WHOLE}
    return {name: members for name, members in GROUPS.items() if name != "all_links"} | several


def _arc(plan: Plan, label: str, name: str) -> Elasticity | None:
    """The mean elasticity by a count between half of it and twice; none where it has no effect."""
    value = float(plan.inputs[label])
    silent = plan.scenario.file.workload.output_tokens is None
    if value < 2 or (silent and label != "concurrency"):
        return None
    ends = np.array([math.ceil(value / 2), 2 * value])
    low, high = plan.at(path_of(plan, label, f"1,{4 * value:.0f}").moves(plan, ends), name)
    if signed(name):
        change = (high - low) / math.log(ends[1] / ends[0])
    elif min(low, high) > 0:
        change = math.log(high / low) / math.log(ends[1] / ends[0])
    else:
        return None  # at one of them there is nothing left of it, so no ratio
    return Elasticity(label, (label,), value, float(change), True) if change else None
