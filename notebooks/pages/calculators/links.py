"""From a deployment to the calculators: in its state, or in the nearest with what it lacks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from calc.physics.arrays import Inputs
from calc.physics.experts import ranks_in_step
from catalogue import ParamsError, Scenario
from catalogue.deployments.physics_inputs import nearest
from catalogue.entries.formulas import inputs_of
from catalogue.kernels import runs_experts
from catalogue.messages import Pair, messages
from notebooks.pages.calculators.extras import (
    APART,
    CONTEXT_ONLY,
    COPIES,
    MOST,
    Triple,
    extras,
    otherwise,
)
from notebooks.pages.calculators.offers import (
    AT,
    DRAFTS,
    MODELS,
    NO_ENGINE,
    PERCENT,
    SIZES,
    card_of,
    cards_of,
    deployed,
    engines,
)
from notebooks.pages.calculators.offers import precisions as multiplied
from notebooks.pages.calculators.scripts import BLOCKS, CHUNKS, fields, start
from notebooks.pages.calculators.table import SET

say = messages("pages/calculators/links")

LISTED = {"tp": SIZES, "pp": SIZES, "dcp": SIZES, "drafts": DRAFTS,
          "chunk": CHUNKS, "block": BLOCKS}
SENT = "bench_requests"  # of a run from its first request to its last, which they do not show
ON_HOST: Pair = say("they-do-not-know-experts")
OTHERS: Pair = say("they-do-not-hold-all")


@dataclass(frozen=True)
class Link:
    """Where the calculators begin for a deployment.

    Attributes:
        state: what stands behind ``calculators.html#``.
        without: a sentence for each part of the deployment that they do not hold.
    """

    state: str
    without: tuple[Pair, ...] = ()


def link(scenario: Scenario) -> Link | None:
    """The state of a deployment, or the nearest; None if its card or its model is not offered.

    A state holds a deployment where its own scenario file has the same inputs with the same
    ranges, but for how many requests a benchmark sends: no number of the calculators moves with
    that. What a reader sets there by fields is exact.

    Args:
        scenario: the deployment.
    """
    found = state_of(scenario)
    if found is None:
        return None
    state, without = found
    same = _deployed(state)
    if same is None:
        return None
    if not without and (_inputs(same) != _inputs(scenario) or _ranges(same) != _ranges(scenario)):
        without = [OTHERS]
    parts = {key: str(state[key]) for key in fields()}
    parts |= {f"set.{name}": _plain(value) for name, value in state["set"].items()}
    return Link("&".join(f"{key}={quote(text, safe='')}" for key, text in parts.items()),
                tuple(without))


def _plain(value: Triple | str) -> str:
    """A value as a link has it: ``3.6e-06~3.2e-06~4.2e-06``."""
    if isinstance(value, str):
        return value
    return "~".join(repr(end) for end in (value if value[1] < value[2] else value[:1]))


def _deployed(state: dict[str, Any]) -> Scenario | None:
    try:
        return deployed(state)
    except ParamsError:
        return None


def _inputs(scenario: Scenario) -> dict[str, float]:
    """What its formulas are computed from; how fast drives are, if experts are on them, and how
    long ranks hold prompts back, if several share them."""
    inputs = scenario.inputs()
    without = {SENT, *(() if scenario.file.offload else ("storage_bandwidth",)),
               *(() if ranks_in_step(Inputs(inputs)) > 1 else ("prefill_delay_steps",))}
    return {name: number for name, number in inputs.items() if name not in without}


def _ranges(scenario: Scenario) -> dict[str, tuple[float, float]]:
    return {knob.name: (knob.value.low, knob.value.high) for knob in scenario.knobs()
            if knob.name not in SET.values()
            and (scenario.file.offload or knob.name != "storage_bandwidth")}


def state_of(scenario: Scenario) -> tuple[dict[str, Any], list[Pair]] | None:
    """The state that a deployment comes nearest to, and what of it that lacks.

    None for a card or a model that is not offered, and for a layout that is not.
    """
    file, without = scenario.file, list[Pair]()
    card, offered = card_of(scenario), cards_of(scenario.device.id)
    if card not in offered:
        card = card.partition(AT)[0]
    engine = scenario.running.profile.id if scenario.running else NO_ENGINE
    if not runs_experts(engine):
        engine = NO_ENGINE  # its experts are on the host, which is not offered
    if card not in offered or scenario.model.id not in MODELS or engine not in engines(card):
        return None
    precision, formats = scenario.precision.id, multiplied(card, scenario.model.id)
    if not formats:
        return None
    if precision not in formats:
        asked = scenario.precision.name
        other = next(entry for entry in nearest(scenario.device, scenario.precision)
                     if entry.id in formats)
        precision = other.id
        without.append(say("they-do-not-take-its", asked=(asked["en"], asked["zh"]),
                           other=(other.name["en"], other.name["zh"])))
    if file.offload is not None:
        without.insert(0, ON_HOST)
    state = start() | _numbers(scenario) | {
        "card": card, "model": scenario.model.id, "precision": precision, "engine": engine,
        "set": {}}
    ends = {key: field for key, field in fields().items() if "low" in field}
    if not (all(state[key] in values for key, values in LISTED.items())
            and all(field["low"] <= state[key] <= field["high"] for key, field in ends.items())):
        return None
    state["set"] = _ways(scenario)
    same = _deployed(state)
    if same is None:
        return None
    state["set"] |= dict(_moved(same, scenario))
    return (state, without) if len(state["set"]) <= MOST else None


def _numbers(scenario: Scenario) -> dict[str, Any]:
    """What the fields of a state that are numbers say of a deployment."""
    degrees, workload = scenario.file.parallelism, scenario.file.workload
    numbers = {
        "tp": degrees.tensor_parallel, "pp": degrees.pipeline_parallel,
        "dp": degrees.data_parallel, "ep": degrees.expert_parallel,
        "users": workload.concurrency, "chunk": workload.max_num_batched_tokens,
        "block": workload.block_size}
    inputs = scenario.inputs()
    share = round(float(scenario.share.value) * PERCENT, 4)
    return {key: int(value.value) for key, value in numbers.items()} | {
        "input": int(inputs["input_tokens"]), "output": int(inputs["output_tokens"]),
        "dcp": int(inputs["decode_context_parallel"]),
        "drafts": int(inputs["draft_tokens"]), "vary": _plainly(inputs["prompt_variation"]),
        "share": _plainly(share)}


def _plainly(number: float) -> float:
    """A number as a field has it: whole where it is."""
    return int(number) if float(number).is_integer() else float(number)


def _ways(scenario: Scenario) -> dict[str, Triple | str]:
    """What a deployment's file sets of ``notebooks.pages.calculators.extras`` besides knobs."""
    file, inputs, found = scenario.file, scenario.inputs(), dict[str, Triple | str]()
    if file.workload.output_tokens is None:
        found[CONTEXT_ONLY] = "true"
    if not file.graphs:
        found["graphs"] = "false"
    if file.parallelism.balancing != "none":
        found["balancing"] = file.parallelism.balancing
    for name in ("separate_pools", "exchange_normal", "exchange_gathered"):
        if (stated := scenario.mechanisms.get(name)) is not None and stated.value:
            found[name] = "1"
    for name in (COPIES, APART):
        if inputs[name]:
            found[name] = (inputs[name],) * 3
    return found


def _moved(same: Scenario, scenario: Scenario) -> Iterator[tuple[str, Triple | str]]:
    """What a state has to set besides, so that its deployment is another one."""
    if same.file.scheduling != scenario.file.scheduling:
        yield "scheduling", scenario.file.scheduling
    if same.file.graphs != scenario.file.graphs:
        yield "graphs", str(scenario.file.graphs).lower()
    known, old, new = extras(), same.inputs(), scenario.inputs()
    for name in inputs_of("switch"):
        if name in known and known[name].rule and not math.isclose(old[name], new[name]):
            yield name, (new[name],) * 3
    before, after = ({knob.name: knob for knob in each.mechanism_knobs if knob.name in known}
                     for each in (same, scenario))
    moved = {name for name, knob in after.items()
             if name not in before or _triple(before[name].value) != _triple(knob.value)}
    # what is set of one holds for another too, of which nothing is set
    moved |= {name for name, other in otherwise().items() if other in moved and name in after}
    for name in after:
        if name in moved:
            yield name, _triple(after[name].value)
    for name, knob in before.items():
        if name not in after:  # what is known of a later release, say: as if nothing were
            yield name, (new[knob.symbols[0]],) * 3


def _triple(value: Any) -> Triple:
    return value.value, value.low, value.high
