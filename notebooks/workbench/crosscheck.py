"""Where the two codings meet: every formula against ``calc``, number by number.

The only module of the workbench that imports ``calc``. Formulas are evaluated on fractions,
``calc`` works in floating point.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import calc
from calc.deciding import availability, day, tiers, waits
from workbench.formulas.errors import DerivationError
from workbench.formulas.exported import Formula, evaluate_all, load_formulas, select, stagewise

TOLERANCE = 1e-9
DECISIONS = ("day", "scale")  # chapters whose formulas are of many deployments, not of one
# Differences of large numbers: what they are of the same size as.
_DIFFERENCES = ("stage_free_for_kv", "free_for_kv_per_device", "headroom_per_device")
_SCALE = "usable_memory"


@dataclass(frozen=True)
class Row:
    """One quantity computed twice; ``stage`` is None where it does not depend on the stage."""

    name: str
    stage: int | None
    formula: float
    calc: float
    difference: float


@dataclass(frozen=True)
class Report:
    """Every comparison of one deployment."""

    rows: tuple[Row, ...]

    @property
    def worst(self) -> float:
        """Largest relative difference."""
        return max(row.difference for row in self.rows)


def crosscheck(inputs: Mapping[str, Any], attention: str,
               formulas: Mapping[str, Formula] | None = None) -> Report:
    """Evaluate every formula and ``calc`` on one deployment and compare them.

    Args:
        inputs: every input symbol, SI numbers.
        attention: ``mla`` or ``gqa``.
        formulas: those of ``notebooks/formulas.json`` unless given.

    Raises DerivationError naming the quantities that only one of the two has, or on which they
    differ by more than a relative 1e-9.
    """
    known = load_formulas() if formulas is None else formulas
    chosen = select({key: one for key, one in known.items() if one.notebook not in DECISIONS},
                    attention)
    computed = calc.evaluate(inputs, attention)
    if lonely := chosen.keys() ^ computed.keys():
        sides = [f"{name} (only {'derived' if name in chosen else 'in calc'})"
                 for name in sorted(lonely)]
        raise DerivationError(f"formulas and calc have different quantities: {', '.join(sides)}.")
    rows = tuple(_compare(chosen, computed, inputs))
    if wrong := [row for row in rows if not row.difference <= TOLERANCE]:
        raise DerivationError("formulas and calc disagree: " + "; ".join(map(_told, wrong)) + ".")
    return Report(rows)


def crosscheck_decisions(seed: int) -> Report:
    """Evaluate what the chapters on decisions derive, and ``calc``, on random inputs.

    Args:
        seed: of the inputs.

    Raises DerivationError as :func:`crosscheck` does.
    """
    formulas = {name: one for name, one in load_formulas().items() if one.notebook in DECISIONS}
    inputs, computed = _decisions(random.Random(f"decisions {seed}"))
    derived = evaluate_all(formulas, inputs)
    if lonely := formulas.keys() ^ computed.keys():
        raise DerivationError("formulas and calc have different quantities: "
                              f"{', '.join(sorted(lonely))}.")
    rows = tuple(_row(name, None, derived, computed[name]) for name in sorted(computed))
    if wrong := [row for row in rows if not row.difference <= TOLERANCE]:
        raise DerivationError("formulas and calc disagree: " + "; ".join(map(_told, wrong)) + ".")
    return Report(rows)


def _decisions(draw: random.Random) -> tuple[dict[str, float], dict[str, float]]:
    """Random inputs of the chapters on decisions, and what ``calc`` makes of them."""
    i: dict[str, float] = {
        "day_rate": draw.uniform(0.1, 50), "think_time": draw.uniform(1, 900),
        "steady_e2e": draw.uniform(1, 60), "waited_time": draw.uniform(0, 2),
        "found_chunk": draw.uniform(0.01, 1), "queue_time": draw.uniform(0.05, 1),
        "prompts_busy": draw.uniform(0.05, 0.95), "prompts_met": draw.uniform(0.1, 200),
        "stall_per_token": draw.uniform(0, 0.01), "request_slope": draw.uniform(1e-5, 0.01),
        "conversation_rate": draw.uniform(0.001, 2), "conversation_turns": draw.randint(2, 30),
        "turn_answer": draw.randint(1, 900), "shared_prefix": draw.randint(0, 900),
        "kept_time": draw.uniform(0.1, 9000), "fetch_latency": draw.uniform(0, 0.1),
        "fetch_per_token": draw.uniform(1e-7, 1e-3), "recompute_linear": draw.uniform(1e-6, 1e-3),
        "recompute_quadratic": draw.uniform(1e-11, 1e-8),
        "between_failures": draw.uniform(1e5, 1e8), "repair_time": draw.uniform(1e3, 1e6),
        "group_servers": draw.randint(1, 48), "restart_time": draw.uniform(10, 2000)}
    first = i["shared_prefix"] + draw.randint(1, 3000)
    turns = int(i["conversation_turns"])
    talk = tiers.Talk(first, i["turn_answer"], turns, i["think_time"], i["shared_prefix"])
    i["mean_prompt"] = float(talk.prompts.mean())
    found = talk.returns(i["kept_time"])
    one = availability.Fleet(1, int(i["group_servers"]), 0, i["between_failures"],
                             i["repair_time"], i["restart_time"])
    return i, {
        "users_online": day.online(i["day_rate"], i["steady_e2e"], i["think_time"]),
        "wait_above": float(waits.wait_above(i["waited_time"], i["found_chunk"], i["queue_time"],
                                             i["prompts_busy"])),
        "pace_deviation": waits.pace_spread(i["prompts_met"], i["stall_per_token"],
                                            i["request_slope"], 1.0)[0],
        "first_prompt": tiers.first_prompt(i["mean_prompt"], i["turn_answer"], turns,
                                           i["shared_prefix"]),
        "kept_tokens": talk.kept(i["conversation_rate"], i["kept_time"]),
        "returned_share": found, "conversation_hits": talk.hit_share(found),
        "shortest_fetch": tiers.shortest_fetch(i["fetch_latency"], i["fetch_per_token"],
                                               i["recompute_linear"], i["recompute_quadratic"]),
        "server_availability": availability.available(i["between_failures"], i["repair_time"]),
        "restarting_share": one.restarting}


def _compare(formulas: Mapping[str, Formula], computed: Mapping[str, Any],
             inputs: Mapping[str, Any]) -> Iterator[Row]:
    indexed = stagewise(formulas)
    stages = range(int(inputs["pipeline_parallel"]))
    # calc keeps a few stages; a stage is known by its first layer
    first_layer = {name: formulas[name] for name in formulas if name == "stage_first_layer"}
    place = {int(evaluate_all(first_layer, inputs, stage)["stage_first_layer"]): stage
             for stage in stages}
    kept = {place.get(int(first), -1): position for position, first
            in enumerate(np.atleast_1d(computed["stage_first_layer"]))}
    if -1 in kept:
        raise DerivationError("formulas and calc disagree: no stage begins with one of the "
                              f"layers {computed['stage_first_layer']} that calc gives.")
    first = evaluate_all(formulas, inputs)
    by_stage = {name: formulas[name] for name in indexed}
    values = {**inputs, **{name: value for name, value in first.items() if name not in indexed}}
    derived = {stage: first | evaluate_all(by_stage, values, stage) for stage in kept} | {0: first}
    for name in formulas:
        if name not in indexed:
            yield _row(name, None, derived[0], computed[name])
            continue
        for stage, position in kept.items():
            yield _row(name, stage, derived[stage], np.atleast_1d(computed[name])[position])


def _row(name: str, stage: int | None, derived: Mapping[str, Any], value: Any) -> Row:
    left, right = float(derived[name]), float(value)
    size = max(abs(left), abs(right), derived[_SCALE] if name in _DIFFERENCES else 0)
    return Row(name, stage, left, right, float(abs(left - right) / size) if size else 0.0)


def _told(row: Row) -> str:
    where = "" if row.stage is None else f" on stage {row.stage}"
    return f"{row.name}{where} is {row.formula!r} derived and {row.calc!r} in calc"
