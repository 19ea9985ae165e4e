"""From a deployment to the calculators in its state, where they can hold it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from calculators.offers import DRAFTS, MODELS, NO_ENGINE, PERCENT, SIZES, cards, deployed, engines
from calculators.offers import precisions as multiplied
from calculators.scripts import BLOCKS, CHUNKS, fields, start
from calculators.table import SET
from catalogue import ParamsError, Scenario


def link(scenario: Scenario) -> str | None:
    """What stands behind ``calculators.html#`` for a deployment; None if they cannot hold it.

    They can where the state's own scenario file has the same inputs with the same ranges: nothing
    that the calculators lack is lost on the way. What a reader sets there is exact.

    Args:
        scenario: the deployment.
    """
    state = state_of(scenario)
    if state is None:
        return None
    try:
        same = deployed(state)
    except ParamsError:
        return None
    if same.inputs() != scenario.inputs() or _ranges(same) != _ranges(scenario):
        return None
    return "&".join(f"{key}={quote(f'{state[key]}', safe='')}" for key in fields())


def _ranges(scenario: Scenario) -> dict[str, tuple[float, float]]:
    return {knob.name: (knob.value.low, knob.value.high) for knob in scenario.knobs()
            if knob.name not in SET.values()}


def state_of(scenario: Scenario) -> dict[str, Any] | None:
    """The state that a deployment comes nearest to; None for what is not offered at all."""
    file = scenario.file
    degrees, workload = file.parallelism, file.workload
    if scenario.device.id not in {card.id for card in cards()}:
        return None
    engine = scenario.running.profile.id if scenario.running else NO_ENGINE
    if (scenario.model.id not in MODELS or scenario.precision.id not in multiplied(
            scenario.device.id) or engine not in engines(scenario.device.id)
            or workload.input_tokens is None or workload.output_tokens is None):
        return None
    numbers = {
        "tp": degrees.tensor_parallel, "pp": degrees.pipeline_parallel,
        "dp": degrees.data_parallel, "ep": degrees.expert_parallel,
        "users": workload.concurrency, "input": workload.input_tokens,
        "output": workload.output_tokens, "chunk": workload.max_num_batched_tokens,
        "block": workload.block_size}
    state = start() | {key: int(value.value) for key, value in numbers.items()} | {
        "card": scenario.device.id, "model": scenario.model.id,
        "precision": scenario.precision.id, "engine": engine,
        "drafts": int(workload.draft_tokens.value) if workload.draft_tokens else 0,
        "share": round(float(workload.memory_utilization.value) * PERCENT, 4)}
    if state["share"] == int(state["share"]):
        state["share"] = int(state["share"])
    listed = {"tp": SIZES, "pp": SIZES, "dp": SIZES, "ep": SIZES, "drafts": DRAFTS,
              "chunk": CHUNKS, "block": BLOCKS}
    ends = {key: field for key, field in fields().items() if "low" in field}
    fine = (all(state[key] in values for key, values in listed.items())
            and all(field["low"] <= state[key] <= field["high"] for key, field in ends.items()))
    return state if fine else None
