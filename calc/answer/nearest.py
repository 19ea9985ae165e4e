"""Why a deployment does not run as asked, and the nearest one that does, found by trying.

Changes are tried from what a user notices least to what costs most: another cut of the same cards,
a cache dealt over ranks where no cut suffices, shorter prompt chunks, fewer requests or a shorter
context (to half of what was asked), another precision, both, still fewer requests, more cards.
Memory decides, in closed form, for all cuts and precisions at once; where it can be had, with room
for the upper end of what an engine may reserve. What is told of a change is what the runtime gives
for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.answer.steady_state import central_values
from calc.layouts.feasible import HEADROOM, Judge, admitted, has_room, reasons
from calc.layouts.layout import (
    Rows,
    Sizes,
    at,
    card_counts,
    changed,
    divisors,
    enumerate_layouts,
)
from calc.serving.evaluate import evaluate
from catalogue import Scenario, precision_inputs
from catalogue.deployments.admission import (
    CONTEXT,
    KINDS,
    OF_PRECISION,
    STAGES,
    cut_of,
    positions,
    precisions,
    problems,
    subject_of,
    too_long,
)
from catalogue.deployments.cuts import written
from catalogue.deployments.physics_inputs import DEGREES, scale_up_domain
from catalogue.deployments.physics_inputs import SHARED_CACHE as SHARED
from catalogue.entries.deployments import Precision
from catalogue.messages import Pair, Texts, join, pair, sentences
from catalogue.reading.units import human

common = sentences("common")
say = sentences("calc/answer/nearest")

CHANGE_QUANTITIES = ("headroom_per_device", "max_concurrency", "ttft", "tpot", "e2e",
                     "output_throughput")
OF_ALL = ("shared_ranks", "drafts", "drafter")  # of a cut, besides how it is laid out
LEAST_CHUNK = 512  # tokens of a prompt chunk; shorter ones leave matmuls mostly idle
MOST_NODES = 128  # that are tried
AXES = dict(zip(("tensor", "pipeline", "data", "expert"), DEGREES, strict=True))
"""Parallel sizes as attributes of ``Cut`` -> keys of a deployment."""
Settings = dict[str, str | int]


@dataclass(frozen=True)
class Change:
    """A deployment that runs, as a change of one that does not.

    Attributes:
        settings: what differs, as ``--set`` takes it.
        devices: cards of the deployment [1].
        quantities: of ``CHANGE_QUANTITIES``, SI units; latency and throughput as users see
            them.
        text: one sentence in both languages.
    """

    settings: Settings
    devices: int
    quantities: dict[str, float]
    text: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        return vars(self) | {"text": {"en": self.text["en"]}}


@dataclass(frozen=True)
class Layouts:
    """Layouts of some cards (columns) in precisions (rows), of both the nearest first.

    Attributes:
        scenario: the deployment.
        precisions: that its cards run.
        rows: layouts, columns named as attributes of ``Cut``.
        headroom: memory to spare, shape (precisions, layouts) [B]; -inf where no engine loads.
        capacity: requests that have a place in the cache, likewise [request].
        margin: what an engine may reserve besides, at the upper end of its range [B].
    """

    scenario: Scenario
    precisions: list[Precision]
    rows: Rows
    headroom: np.ndarray
    capacity: np.ndarray
    margin: float

    def settings(self, row: int, column: int) -> Settings:
        """Settings of a layout in a precision that differ from those of the deployment."""
        chosen, own = self.precisions[row].id, cut_of(self.scenario)
        moved = {f"parallelism.{name}": int(self.rows[axis][column]) for axis, name in AXES.items()
                 if self.rows[axis][column] != getattr(own, axis)}
        return ({"precision": chosen} if chosen != self.scenario.precision.id else {}) | moved

    def first(self, among: np.ndarray | bool = True) -> Settings | None:
        """The first precision, and in it the first layout, with room for the margin, else without
        it; None where there is none."""
        for least in (self.margin, 0.0):
            for row, column in np.argwhere(has_room(self.headroom, least) & among)[:1]:
                return self.settings(row, column)
        return None


def nearest_changes(scenario: Scenario, quantities: Mapping[str, Any]) -> tuple[Change, ...]:
    """Changes that make a deployment run, nearest first: on its cards, then on the fewest of their
    kind.

    Args:
        scenario: the deployment, which does not run.
        quantities: those of ``calc.evaluate`` for it, scalars.
    """
    kinds = {problem.kind for problem in problems(subject_of(scenario), cut_of(scenario))}
    if CONTEXT in kinds:
        return within_positions(scenario)
    proposed: list[Settings] = []
    for settings in proposed_settings(scenario, quantities, kinds):
        if settings and not any(settings.items() >= other.items() for other in proposed):
            proposed.append(settings)
    return tuple(_evaluated(scenario, settings) for settings in proposed)


def within_positions(scenario: Scenario) -> tuple[Change, ...]:
    """Requests of as many tokens as the model has positions, and what they need besides."""
    workload, most = scenario.file.workload, positions(scenario.model)
    inputs = scenario.inputs()
    if workload.context_tokens is None or (workload.input_tokens is not None and too_long(
            int(inputs["input_tokens"] + inputs["output_tokens"]), most)):
        return ()
    fewer: Settings = {"workload.context_tokens": int(most)}
    other = changed(scenario, fewer)
    quantities = evaluate(other.inputs(), other.model.attention)
    if not reasons(other, quantities):
        return (_evaluated(scenario, fewer),)
    return tuple(_evaluated(scenario, fewer | change.settings)
                 for change in nearest_changes(other, quantities))


def proposed_settings(scenario: Scenario, quantities: Mapping[str, Any], kinds: set[str]
                      ) -> Iterator[Settings | None]:
    """Settings that run, nearest first; None where a kind of change does not suffice."""
    own, cut = subject_of(scenario), cut_of(scenario)
    precision_runs = not kinds & set(OF_PRECISION)
    options = precisions(own, scenario.precision)
    first = [scenario.precision] if precision_runs else [  # with what was changed in it
        precision for precision in options if precision.id == scenario.precision.id]
    layouts = layouts_of(scenario, scenario.devices, first + [
        precision for precision in options if precision.id != scenario.precision.id])
    if kinds == {"drafts"} and has_room(quantities):  # none are made in pipeline stages
        yield {"workload.draft_tokens": 0}
    same = layouts.first(np.arange(len(layouts.precisions))[:, None] == 0)
    if precision_runs:
        yield same
    if not kinds:
        yield from workload_changes(scenario, quantities, deals=same is None)
    yield layouts.first(np.all([layouts.rows[axis] == getattr(cut, axis) for axis in AXES], axis=0))
    yield layouts.first()
    # too many requests in any precision and layout: the nearest that has half the largest capacity
    capacity = layouts.capacity
    most = capacity.max(initial=0)
    if most >= 1 and not has_room(layouts.headroom).any():
        row, column = np.argwhere(capacity >= max(1, most / 2))[0]
        yield layouts.settings(row, column) | {
            "workload.concurrency": int(capacity[row, column])}
    if layouts.precisions and same is None and not has_room(quantities):
        yield more_cards(scenario, layouts.precisions[:1])


def layouts_of(scenario: Scenario, devices: int, tried: list[Precision]) -> Layouts:
    """Layouts on a number of cards, sorted by distance from the deployment's; across nodes last.

    Args:
        scenario: the deployment.
        devices: cards [1].
        tried: precisions, the nearest first.
    """
    own, cut, reserve = subject_of(scenario), cut_of(scenario), scenario.device.runtime_reserve
    # where it steps so already, or has no prompts, there is nothing to leave out
    subject = replace(own, staged_groups=bool(scenario.inputs()["separate_pools"]) or bool(
        list(problems(replace(own, staged_groups=False), cut, (STAGES,)))))
    rows, _ = enumerate_layouts((devices,), Sizes(
        slices=(cut.slices,), spares=lambda _: (cut.spares,), context=(cut.context,)))
    del rows["devices"]
    rows |= {name: np.full(len(rows["tensor"]), getattr(cut, name)) for name in OF_ALL}
    rows = at(rows, admitted(subject, rows, [
        kind for kind in KINDS if kind not in (*OF_PRECISION, "blocks", CONTEXT)]))
    sizes = np.array([rows[axis] / getattr(cut, axis) for axis in AXES])
    rows = at(rows, np.lexsort((
        rows["tensor"], rows["pipeline"], np.abs(np.log2(sizes)).sum(axis=0).round(6),
        (sizes != 1).sum(axis=0),
        rows["tensor"] > max(scale_up_domain(scenario.node), cut.tensor))))
    headroom = capacity = np.zeros((len(tried), len(rows["tensor"])))
    if headroom.size:
        stored = [precision_inputs(precision) for precision in tried]
        degrees = {name: rows[axis][None] for axis, name in AXES.items()}
        quantities = evaluate(
            scenario.inputs() | degrees | scenario.shares(degrees)
            | {name: np.array([[row[name]] for row in stored]) for name in stored[0]},
            scenario.model.attention, decode=False)
        judge, kinds = Judge(), [kind for kind in KINDS if kind != CONTEXT]
        loads = np.array([judge.kinds(replace(subject, precision=precision), rows, "layouts", kinds)
                          < 0 for precision in tried])
        headroom = np.where(loads, quantities[HEADROOM], -np.inf)
        capacity = np.where(loads, quantities["max_concurrency"], 0)
    return Layouts(scenario, tried, rows, headroom, capacity,
                   float(reserve.high - reserve.value) if reserve else 0.0)


def workload_changes(scenario: Scenario, quantities: Mapping[str, Any], deals: bool
                     ) -> Iterator[Settings]:
    """Changes of a deployment that lacks memory alone, in its precision and layout.

    The cache of a request over the fewest ranks; shorter prompt chunks, halved until they fit; at
    least half of the requests; a context that a request needs, or at least half where only that is
    known. Requests that are listed need theirs.
    """
    inputs, cut, workload = scenario.inputs(), cut_of(scenario), scenario.file.workload

    def fits(**changed: int) -> bool:
        return bool(has_room(evaluate(inputs | changed | scenario.shares(changed),
                                      scenario.model.attention, decode=False)))

    dealt = {axis: np.array([getattr(cut, axis)])
             for axis in ("tensor", "expert", "data", "slices")}
    for size in divisors(cut.tensor) if deals else ():
        if size > cut.context and admitted(
                subject_of(scenario), dealt | {"context": np.array([size])}, ("dealt", "engine")
                )[0] and fits(**{SHARED: size}):
            yield {f"parallelism.{SHARED}": size}
            break
    chunk = int(inputs["max_num_batched_tokens"]) // 2
    while chunk >= LEAST_CHUNK and not fits(max_num_batched_tokens=chunk):
        chunk //= 2
    if chunk >= LEAST_CHUNK:
        yield {"workload.max_num_batched_tokens": chunk}
    requests, context = int(quantities["max_concurrency"]), int(inputs["context_tokens"])
    if max(1, inputs["concurrency"] / 2) <= requests < inputs["concurrency"]:
        yield {"workload.concurrency": requests}
    blocks = (quantities["kv_blocks"] - quantities["prompt_blocks"]) // quantities[
        "requests_per_rank"] - quantities["state_blocks_per_request"]
    room = int(blocks) * int(quantities["block_tokens"] * inputs[SHARED])
    least = (max(1, context // 2) if workload.input_tokens is None
             else int(inputs["input_tokens"] + inputs["output_tokens"]))
    if (scenario.variations is None and workload.context_tokens is not None
            and least <= room < context):
        yield {"workload.context_tokens": room}


def more_cards(scenario: Scenario, tried: list[Precision]) -> Settings | None:
    """The fewest cards of this kind on which it runs in the first precision; None if none do."""
    cluster, per_node = scenario.file.cluster, int(scenario.node.devices_per_node.value)
    for devices in card_counts(scenario.devices + 1, MOST_NODES * per_node, per_node):
        settings = layouts_of(scenario, devices, tried).first()
        if settings is not None:
            nodes, counts = -(-devices // per_node), Settings()
            if nodes != cluster.nodes.value:
                counts["cluster.nodes"] = nodes
            if cluster.devices is not None or devices < nodes * per_node:
                counts["cluster.devices"] = devices
            return counts | settings
    return None


def _evaluated(scenario: Scenario, settings: Settings) -> Change:
    """A change with what the runtime gives for it."""
    other = changed(scenario, settings)
    quantities = central_values(other, CHANGE_QUANTITIES)
    return Change(settings, other.devices, quantities,
                  describe_change(scenario, other, settings, quantities))


WORKLOAD = {"max_num_batched_tokens": "prompt chunks of {} tokens",
            "concurrency": "{} requests at once", "draft_tokens": "{} drafted tokens",
            "context_tokens": "a context of {} tokens"}


def describe_change(original: Scenario, changed: Scenario, settings: Mapping[str, str | int],
                    quantities: Mapping[str, float]) -> Texts:
    """What is changed, and what comes out."""
    layout = written(cut_of(changed))
    cards = changed.devices
    same = cards == original.devices
    parts: list[Pair] = [] if same else [common("cards-2", f"{cards} cards", cards=cards)]
    if precision := settings.get("precision"):
        parts.append(say("precision", f"precision {precision}", precision=precision))
    if any(key.startswith("parallelism.") for key in settings):
        parts.append(pair(layout))
    counts = {key: f"{new:,}" for key in WORKLOAD
              if (new := settings.get(f"workload.{key}")) is not None}
    parts += [say("workload", WORKLOAD[key].format(count), key=key, count=count)
              for key, count in counts.items()]
    spare = human(quantities["headroom_per_device"], "B")
    first, pace = human(quantities["ttft"], "s"), human(quantities["tpot"], "s")
    # without lengths of answers nothing is known of the time of prompts; of one token there is none
    inputs, stated = changed.inputs(), changed.file.workload.output_tokens is not None
    kind = "tokens" if not stated else "prompts" if inputs["output_tokens"] <= 1 else "answers"
    prompts = human(quantities["output_throughput"] * inputs["input_tokens"], "token/s")
    speed = {"tokens": f"a token every {pace}", "prompts": f"{prompts} of prompts",
             "answers": f"first token after {first}, then one every {pace}"}[kind]
    changes, where = join((", ", "，"), parts), " on the same cards" if same else ""
    return Texts(say(
        "it-runs-with-per-device",
        f"It runs{where} with {changes[0]}: {spare} per device to spare, {speed}, at central "
        "values.", spare=spare, first=first, each=pace, same=same, kind=kind, prompts=prompts,
        changes=changes))
