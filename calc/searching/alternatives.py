"""What to run in place of a deployment, on as many cards: the best, the published; wider limits;
of what meets a goal the best that lies inside of what was measured.

The nearest change of a deployment that does not run is another question: ``calc.answer.nearest``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from calc.answer.nearest import CHANGE_QUANTITIES
from calc.answer.steady_state import central_values, is_burst
from calc.layouts.feasible import reasons
from calc.layouts.layout import MOST_STAGES, Choice, Row, changed
from calc.layouts.space import Base, Cells, Space
from calc.searching.candidates import PERCENT, SYMBOLS, batches
from calc.searching.ranking import LEAST
from calc.searching.search import search
from calc.searching.selection import MOST_SIMULATED, Answer
from calc.serving.evaluate import evaluate
from catalogue import Scenario
from catalogue.deployments.admission import longest_request
from catalogue.entries.models import OWN_LAYER
from catalogue.planning.goals import UNNAMED, CardRange, Demand, Goal, Offer
from catalogue.planning.goals import Space as Axes

CHUNK = "workload.max_num_batched_tokens"
CHANGED = ("precision", "parallelism.", CHUNK)
PLAIN: dict[str, str | int] = {"parallelism.shared_expert_ranks": 0,
                               "parallelism.expert_tensor_parallel": 0,
                               "parallelism.decode_context_parallel": 1}
COST = "cost"
ONE_POOL = 1  # as measured systems count their pools
CHUNKS = (2048, 8192)  # tokens of a step that are tried besides its own


@dataclass(frozen=True)
class Advice:
    """A deployment on the same cards, for the same requests.

    Attributes:
        settings: what differs, as ``--set`` takes it; nothing where it is the deployment itself.
        precision: its own.
        quantities: of ``calc.answer.nearest.CHANGE_QUANTITIES``, SI units; latency and throughput
            as its users see them.
    """

    settings: dict[str, str | int]
    precision: str
    quantities: dict[str, float]


@dataclass(frozen=True)
class Alternatives:
    """What a search over the same cards gives.

    Attributes:
        best: in throughput of all requests asked for; None where nothing fits.
        own: the best in the deployment's own precision; None where nothing fits in it.
        official: the best in the weights that the model is published in; None likewise.
        official_precision: those weights; None where none are known.
        tried: deployments.
    """

    best: Advice | None
    own: Advice | None
    official: Advice | None
    official_precision: str | None
    tried: int

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return asdict(self)


def alternatives(scenario: Scenario) -> Alternatives:
    """The best deployments on the cards of one, for its own requests.

    >>> import catalogue
    >>> found = alternatives(catalogue.load_scenario("s0-scenario-1"))
    >>> found.best.settings["precision"], found.official
    ('w8a8-int8-c8', None)

    Args:
        scenario: the deployment; it need not fit. With experts on hosts there is no alternative.
    """
    if scenario.file.offload is not None:
        return Alternatives(None, None, None, None, 0)
    goal = _goal(scenario)
    space = Space(goal, resolve=lambda choice: changed(scenario, _settings(scenario, choice)),
                  share=default_share(scenario))
    space.model = scenario.model  # with what was changed in it
    answer = Answer(search(goal, space=space))
    best, own, official = (_advice(scenario, row) for row in (
        answer.central, answer.central_of(scenario.precision.id),
        answer.central_of(answer.official_precision)))
    asked = _as_it_is(scenario)
    if asked is not None:
        own = asked if own is None or _rate(own) < _rate(asked) else own
    # ranked in closed form, told as it is simulated where that does not hold
    best = max(filter(None, (best, own, official)), key=_rate, default=None)
    return Alternatives(best, own, official, answer.official_precision,
                        answer.result.funnel.deployments)


def _as_it_is(scenario: Scenario) -> Advice | None:
    """The deployment itself, if it runs."""
    computed = evaluate(scenario.inputs(), scenario.model.attention)
    if reasons(scenario, computed):
        return None
    return Advice({}, scenario.precision.id, central_values(scenario, CHANGE_QUANTITIES))


def _rate(advice: Advice) -> float:
    return advice.quantities["output_throughput"]


def goal_of(scenario: Scenario, space: Mapping[str, Any], demand: Mapping[str, Any] | None = None,
            **asked: Any) -> Goal:
    """What the requests of a deployment ask of its kind of cards.

    Args:
        scenario: the deployment.
        space: what is tried besides its own chunk and share of memory, without spares and with no
            cache dealt over ranks.
        demand: besides the lengths of its requests.
        asked: fields of the goal besides.
    """
    file, inputs = scenario.file, scenario.inputs()
    tried = {"chunks": [int(inputs["max_num_batched_tokens"])], "spares": ["none"],
             "decode_context": [1], "prefill_context": [int(inputs["prefill_context_parallel"])],
             "drafters": [file.workload.draft_method or OWN_LAYER],
             "memory_utilization": [round(PERCENT * float(inputs["memory_utilization"]))]}
    return Goal.model_construct(
        id=scenario.id, title=scenario.title, model=file.model,
        space=Axes.model_construct(**{**tried, **space}),
        demand=Demand.model_construct(
            input_tokens=int(inputs["input_tokens"]), output_tokens=int(inputs["output_tokens"]),
            **(demand or {})),
        devices=[Offer.model_construct(device=file.device, node=file.cluster.node)], **asked)


def default_share(scenario: Scenario) -> Callable[[Cells], np.ndarray] | None:
    """Shares of the memory [percent] of cells of a deployment, as its engine takes them by default;
    None where they are its own.

    Args:
        scenario: the deployment.
    """
    if not scenario.shares({}):
        return None

    def share(cells: Cells) -> np.ndarray:
        inputs = {symbol: cells[name] for name, symbol in SYMBOLS.items() if name in cells}
        found: np.ndarray = PERCENT * scenario.shares(inputs)["memory_utilization"]
        return found
    return share


def _goal(scenario: Scenario) -> Goal:
    """The most throughput for the requests of a deployment, on its cards."""
    inputs, workload = scenario.inputs(), scenario.file.workload
    return goal_of(scenario, {
        "chunks": sorted({int(inputs["max_num_batched_tokens"]), *CHUNKS}),
        "drafts": [int(inputs["draft_tokens"])],
        # in pipeline stages where it says that it does, or else where its engine does
        "staged_drafts": True if inputs["pipeline_parallel"] > 1 else None,
        "spares": ["none", "fewest"], "pools": ["one"],
        "micro_batches": [int(inputs["micro_batches"])]},
        {"users": int(workload.concurrency.value), "context_tokens": longest_request(scenario),
         "think_time": workload.think_time and workload.think_time.value,
         "arrivals": "burst" if is_burst(scenario) else "closed-loop"},
        cards=CardRange.model_construct(fewest=scenario.devices, most=scenario.devices),
        objectives=["throughput", "ttft"])


def _settings(scenario: Scenario, choice: Choice) -> dict[str, str | int]:
    """Settings of a choice that are not the deployment's own."""
    own = _own(scenario)
    # none of them is searched
    plain = {key: value for key, value in PLAIN.items() if own.get(key) not in (None, value)}
    found = plain | {key: value for key, value in choice.settings().items()
                     if key.startswith(CHANGED) and own.get(key) != value}
    # an engine's default may be another one for the layout
    chunk = changed(scenario, found).file.workload.max_num_batched_tokens.value
    return found if chunk == choice.chunk else found | {CHUNK: choice.chunk}


def _advice(scenario: Scenario, row: Row | None) -> Advice | None:
    if row is None:
        return None
    settings = _settings(scenario, row.choice)
    return Advice(settings, row.choice.precision,
                  central_values(changed(scenario, settings), CHANGE_QUANTITIES))


def _own(scenario: Scenario) -> Mapping[str, str | int]:
    """What a deployment's settings are."""
    file = scenario.file
    own: dict[str, str | int] = {"precision": scenario.precision.id}
    for group in ("parallelism", "workload"):
        entry = getattr(file, group)
        for name in type(entry).model_fields:
            value = getattr(entry, name)
            own[f"{group}.{name}"] = getattr(value, "value", value)
    return own


def inside(answer: Answer) -> Row | None:
    """The best that lies inside of what was measured, on every axis; None of none.

    Each base of the goal is searched again, in one pool, within the degrees, stages, drafts and
    requests a card that were measured of its class, where its card and its format were.

    Args:
        answer: to a goal.
    """
    goal, found = answer.result.wishes.goal, answer.result
    if answer.best is None or not answer.near(answer.best).outside:
        return answer.best
    rows: list[Row] = []
    for base, kept in zip(found.bases, found.of_bases, strict=True):
        if not len(kept.front.rows.get("base", ())) or (
                COST in found.wishes.objectives and base.device in found.wishes.unpriced):
            continue
        any_row, = found.rows(kept.front, 1)
        covered = {axis.name: axis.covered for axis in answer.near(any_row).axes}
        if base.device not in covered.get("device", ()) or (
                base.precision not in covered["precision"] or ONE_POOL not in covered["pools"]):
            continue
        fewest, most = covered["requests"]
        for asked in _within(goal, base, covered):
            again = search(asked, paired=False)
            rows += [row for row in again.rows(again.front)
                     if fewest <= row.choice.concurrency / row.devices <= most]
    if not found.wishes.limits:
        rows = _smallest(rows, found.wishes.objectives)
    for _ in range(MOST_SIMULATED):
        best = answer.best_of(rows)
        if best is None or not answer.offers(best):
            return None
        told = answer.simulated(best)
        if told is None or told.keeps:
            return best
        rows = [row for row in rows if row.choices != best.choices]
    return None


def _smallest(rows: Iterable[Row], objectives: Mapping[str, int]) -> list[Row]:
    """Of deployments that differ in how many replicas they have, and not in what is best by more
    than is worth telling, the smallest."""
    kept: dict[Any, Row] = {}
    for row in sorted(rows, key=lambda row: row.devices):
        alike = (replace(row.choice, devices=0, data=0, concurrency=0),
                 Fraction(row.choice.concurrency, row.devices))
        best, = row.worth(objectives)[:1]
        if alike not in kept or best - kept[alike].worth(objectives)[0] > LEAST * abs(best):
            kept[alike] = row
    return list(kept.values())


def _within(goal: Goal, base: Base, covered: Mapping[str, tuple[Any, ...]]) -> Iterator[Goal]:
    """A goal on one base within what was measured; for each cut of a replica of its own, where
    nobody says how many users there are and the requests of a rank are tried."""
    space, users = goal.space, goal.demand.users
    offer = next(each for each in Space(goal).offers if each.device == base.device)
    most = covered["requests"][1]

    def within(name: str, usual: Iterable[int], stated: Sequence[int] | None) -> list[int]:
        low, high = covered[name]
        return [size for size in (usual if stated is None else stated) if low <= size <= high]

    tensor, expert, drafts = (within(name, range(covered[name][0], covered[name][1] + 1), stated)
                              for name, stated in (("tensor", space.tensor),
                                                   ("expert", space.expert),
                                                   ("drafts", space.drafts)))
    pipeline = within("pipeline", range(1, MOST_STAGES + 1), space.pipeline)
    if not (tensor and expert and drafts and pipeline):
        return
    fewest = max(goal.cards.fewest, math.ceil(users / most) if users else 1)
    if goal.cards.most is not None and fewest > goal.cards.most:
        return
    cards = goal.cards.model_copy(update={"fewest": fewest})
    one = {"devices": [offer], "precisions": [base.precision], "cards": cards,
           "engines": [base.engine or UNNAMED]}
    axes = {"expert": expert, "drafts": drafts, "pools": ["one"]}
    if users:
        yield goal.model_copy(update=one | {"space": space.model_copy(
            update=axes | {"tensor": tensor, "pipeline": pipeline})})
        return
    for size, stages in product(tensor, pipeline):
        tried = [batch for batch in batches(math.floor(most * size * stages), space.batches)
                 if batch <= most * size * stages]
        if tried:
            yield goal.model_copy(update=one | {"space": space.model_copy(
                update=axes | {"tensor": [size], "pipeline": [stages], "batches": tried})})
