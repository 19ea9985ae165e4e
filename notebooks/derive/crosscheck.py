"""Where the two codings meet: every formula against ``calc``, number by number.

The only module of the derivations that imports ``calc``. Formulas are evaluated on fractions,
``calc`` works in floating point.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.capacity import availability, day, tiers
from calc.costing import cost, ownership
from calc.serving.evaluate import evaluate
from catalogue.entries.formulas import evaluate as evaluate_tree
from notebooks.derive.formulas.exported import (
    COST,
    DECIDING,
    DerivationError,
    Formula,
    evaluate_all,
    load_formulas,
    of_notebook,
    select,
    stagewise,
)
from notebooks.derive.formulas.trees import to_tree
from notebooks.derive.steps.phases import PHASES, step_ceiling, step_floor

TOLERANCE = 1e-9
# Whole parts of quotients: of very many blocks, the last may be lost to rounding.
_QUOTIENTS, VERY_MANY = ("stage_kv_blocks", "kv_blocks"), 1e7
# Differences of large numbers: what they are of the same size as.
DIFFERENCES = dict.fromkeys(
    ("stage_free_for_kv", "free_for_kv_per_device", "headroom_per_device"), "usable_memory") | {
    "steady_stall": "steady_tpot", "prompt_interruption": "busy_step",
    "cache_deviation": "cache_occupied",
    **dict.fromkeys(("prompt_growth", "riding_cores", "riding_time"), "prefill_step_time"),
    "lighter_step": "steady_tpot", "random_wait": "busy_step",
    "queue_steps": "prompt_chunks", "random_queue": "prompt_chunks",
    "overlap_about": "mean_chunks", "overlap_nearer": "mean_chunks",
    "overlapping": "mean_chunks"}


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
        attention: ``mla``, ``gqa`` or ``csa``.
        formulas: those of ``formulas.json`` unless given.

    Raises DerivationError naming the quantities that only one of the two has, or on which they
    differ by more than a relative 1e-9, or a step of ``calc`` that is not within its bounds.
    """
    chosen = select(load_formulas() if formulas is None else formulas, attention)
    computed = evaluate(inputs, attention)
    report = _report(chosen, computed, _rows(chosen, computed, inputs))
    hold_within_bounds(computed, inputs)
    return report


def _report(formulas: Mapping[str, Formula], computed: Mapping[str, Any],
            rows: Iterable[Row]) -> Report:
    """Return the rows as a report; raise DerivationError where names or values differ."""
    if lonely := formulas.keys() ^ computed.keys():
        sides = [f"{name} (only {'derived' if name in formulas else 'in calc'})"
                 for name in sorted(lonely)]
        raise DerivationError(f"formulas and calc have different quantities: {', '.join(sides)}.")
    report = Report(tuple(rows))
    if wrong := [f"{row.name}{'' if row.stage is None else f' on stage {row.stage}'} is "
                 f"{row.formula!r} derived and {row.calc!r} in calc"
                 for row in report.rows if not row.difference <= TOLERANCE]:
        raise DerivationError(f"formulas and calc disagree: {'; '.join(wrong)}.")
    return report


@functools.cache
def bounds_of_steps() -> dict[str, tuple[Any, Any]]:
    """What no step is below, and none above, as trees, by phase."""
    return {phase: (to_tree(step_floor(phase)), to_tree(step_ceiling(phase)))
            for phase in PHASES}


def hold_within_bounds(computed: Mapping[str, Any], inputs: Mapping[str, Any]) -> None:
    """Hold the steps of ``calc`` within bounds that know nothing of how a step is assembled.

    Args:
        computed: quantities of a deployment as ``calc`` gives them, SI numbers.
        inputs: every input symbol, SI numbers.

    Raises DerivationError for a step outside of its bounds, on which both codings may agree.
    """
    known = {name: float(value) for name, value in {**computed, **inputs}.items()
             if np.ndim(value) == 0}
    for phase, (least, most) in bounds_of_steps().items():
        low, high = (float(evaluate_tree(bound, known)) for bound in (least, most))
        time = known[f"{phase}_step_time"]
        if not low * (1 - TOLERANCE) <= time <= high * (1 + TOLERANCE):
            raise DerivationError(f"{phase}_step_time is {time!r} in calc, expected between "
                                  f"{low!r}, its slowest resource alone, and {high!r}, all of "
                                  "them in turn.")


def crosscheck_decisions(seed: int) -> Report:
    """Evaluate what the chapters on decisions derive, and ``calc``, on random inputs.

    Args:
        seed: of the inputs.

    Raises DerivationError as :func:`crosscheck` does.
    """
    formulas = {name: one for name, one in load_formulas().items()
                if one.notebook in DECIDING and one.notebook != COST}
    inputs, computed = _decisions(random.Random(f"decisions {seed}"))
    return _report_of(formulas, inputs, computed)


def _report_of(formulas: Mapping[str, Formula], inputs: Mapping[str, Any],
               computed: Mapping[str, Any]) -> Report:
    derived = evaluate_all(formulas, inputs)
    return _report(formulas, computed, (_row(name, None, derived, computed[name])
                                        for name in formulas))


def _decisions(draw: random.Random) -> tuple[dict[str, float], dict[str, float]]:
    """Random inputs of the chapters on decisions, and what ``calc`` makes of them."""
    i: dict[str, float] = {
        "day_rate": draw.uniform(0.1, 50), "think_time": draw.uniform(1, 900),
        "steady_e2e": draw.uniform(1, 60),
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
        "first_prompt": tiers.first_prompt(i["mean_prompt"], i["turn_answer"], turns,
                                           i["shared_prefix"]),
        "kept_tokens": talk.kept_tokens(i["conversation_rate"], i["kept_time"]),
        "returned_share": found, "conversation_hits": talk.hit_share(found),
        "shortest_fetch": tiers.shortest_fetch(i["fetch_latency"], i["fetch_per_token"],
                                               i["recompute_linear"], i["recompute_quadratic"]),
        "server_availability": availability.available(i["between_failures"], i["repair_time"]),
        "restarting_share": one.restarting}


def _rows(formulas: Mapping[str, Formula], computed: Mapping[str, Any],
          inputs: Mapping[str, Any]) -> Iterator[Row]:
    indexed = stagewise(formulas)
    # calc computes a few stages; a stage is identified by its first layer
    first_layer = {"stage_first_layer": formulas["stage_first_layer"]}
    stages = {int(evaluate_all(first_layer, inputs, stage)["stage_first_layer"]): stage
              for stage in range(int(inputs["pipeline_parallel"]))}
    layers = np.atleast_1d(computed["stage_first_layer"])
    if strange := [layer for layer in map(int, layers) if layer not in stages]:
        raise DerivationError(f"formulas and calc disagree: no stage begins with layer {strange}.")
    first = evaluate_all(formulas, inputs)
    for name in sorted(formulas.keys() - indexed):
        yield _row(name, None, first, computed[name])
    for position, layer in enumerate(layers):
        stage = stages[int(layer)]
        derived = evaluate_all(formulas, inputs, stage)
        for name in sorted(indexed):
            yield _row(name, stage, derived, np.atleast_1d(computed[name])[position])


def _row(name: str, stage: int | None, derived: Mapping[str, Any], value: Any) -> Row:
    left, right = float(derived[name]), float(value)
    size = max(abs(left), abs(right), derived[DIFFERENCES[name]] if name in DIFFERENCES else 0)
    apart = abs(left - right)
    if name in _QUOTIENTS and size > VERY_MANY:
        apart = max(0.0, apart - 1)
    return Row(name, stage, left, right, float(apart / size) if size else 0.0)


def crosscheck_costs(inputs: Mapping[str, Any]) -> Report:
    """Evaluate the formulas of the chapter on cost and ``calc.costing``, and compare them.

    Args:
        inputs: what those formulas start from, SI numbers.

    Raises DerivationError as :func:`crosscheck` does.
    """
    return _report_of(of_notebook(load_formulas(), COST), inputs, _costs(inputs))


def _costs(q: Mapping[str, Any]) -> dict[str, Any]:
    """What ``calc.costing`` gives for the inputs of the chapter, by the names of its formulas."""
    kinds = {"memory": "memory", "matmul": "matmul", "experts": "expert",
             "attention": "attention", "links": "link"}
    shares = {"awake": q["awake_share"], **{name: q[f"{of}_share"] for name, of in kinds.items()}}
    times = {name: q[f"{of}_busy"] for name, of in kinds.items()}
    around = ownership.Around(q["own_cards"] / q["servers"], q["host_watts"], q["network_watts"],
                          q["fan_watts"], q["cooling_load"], (0.0, 1.0),
                          (q["supply_efficiency"],) * 2, 1e12, q["site_effectiveness"])
    drawn = ownership.average_power(q["own_cards"], q["tensor_parallel"], q["full_power"],
                                q["awake_share"],
                                q["used_throughput"] / (q["decode_batch"] * q["tokens_per_step"])
                                * (1 + q["draft_time"] / q["decode_step_time"]),
                                q["answer_step_energy"],
                                q["used_throughput"] / q["output_tokens"] * q["prompt_chunks"],
                                q["prompt_chunk_energy"])
    heat, fans = ownership.heat_of_server(drawn, q["servers"], around)
    annuity = ownership.annuity(q["discount_rate"], q["owned_years"])
    present = ownership.present_cost(q["cost_capital"], q["cost_yearly"], q["price_residual"],
                                  q["discount_rate"], q["owned_years"])
    share, request, per_input, per_output = cost.shared_out(
        q["paid_cards"], q["price_card"], q["utilisation"], q["request_throughput"],
        q["prompt_card_time"], q["answer_card_time"], q["input_tokens"], q["output_tokens"])
    return {
        "kernel_energy": ownership.step_energy(shares, q["full_power"], times),
        "cards_power": drawn, "server_heat": heat, "fans_drawn": fans,
        "site_power": ownership.site_power(drawn, q["own_cards"], around),
        "energy_per_output_token": cost.energy_per_token(
            drawn, q["loaded_power"], q["utilisation"], q["output_throughput"]),
        "prompt_cost_share": share, "cost_request": request,
        "cost_input_token": per_input, "cost_output_token": per_output,
        "crossover_hours": cost.crossover_of_ways(q["price_card"], q["price_on_demand"]),
        "crossover_utilisation": cost.crossover_utilisation(
            q["paid_cards"] * q["price_card"], q["request_throughput"], q["price_service"]),
        "annuity": annuity, "cost_present": present,
        "price_even": present / (annuity * q["year_time"]),
        "money_present_value": annuity * q["money_revenue"] - present,
        "payback_years": ownership.payback(
            q["cost_capital"], q["money_surplus"], q["discount_rate"]),
        "capital_return": ownership.return_on(
            q["cost_capital"], q["money_surplus"], q["owned_years"])}
