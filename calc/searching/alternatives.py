"""What to run in place of a deployment, on as many cards: the best, the published.

The nearest change of a deployment that does not run is another question: ``calc.answer.nearest``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calc.answer.nearest import CHANGE_QUANTITIES
from calc.answer.steady_state import central_values, is_burst
from calc.layouts.feasible import reasons
from calc.layouts.layout import Choice, Row, changed
from calc.layouts.space import Cells, Space
from calc.searching.candidates import PERCENT, SYMBOLS
from calc.searching.search import SearchResult, search
from calc.serving.evaluate import evaluate
from catalogue import Scenario
from catalogue.deployments.admission import longest_request
from catalogue.entries.models import OWN_LAYER
from catalogue.kernels import published_precision
from catalogue.planning import CardRange, Demand, Goal, Offer
from catalogue.planning import Space as Axes

CHUNK = "workload.max_num_batched_tokens"
CHANGED = ("precision", "parallelism.", CHUNK)
PLAIN: dict[str, str | int] = {"parallelism.shared_expert_ranks": 0,
                               "parallelism.expert_tensor_parallel": 0,
                               "parallelism.decode_context_parallel": 1}
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
    goal = throughput_goal(scenario)
    space = Space(goal, resolve=lambda choice: changed(scenario, _settings(scenario, choice)),
                  share=default_share(scenario))
    space.model = scenario.model  # with what was changed in it
    result, official_precision = search(goal, space=space), published_precision(space.model)
    best, own, official = (advice_of(scenario, best_row(result, precision)) for precision in (
        None, scenario.precision.id, official_precision or ""))
    if not reasons(scenario, evaluate(scenario.inputs(), scenario.model.attention)):
        as_it_is = Advice({}, scenario.precision.id, central_values(scenario, CHANGE_QUANTITIES))
        own = as_it_is if own is None or _rate(own) < _rate(as_it_is) else own
    # ranked in closed form, told as it is simulated where that does not hold
    best = max(filter(None, (best, own, official)), key=_rate, default=None)
    return Alternatives(best, own, official, official_precision, result.funnel.deployments)


def best_row(result: SearchResult, precision: str | None) -> Row | None:
    """The best deployment at central values, of all or in one precision; None of none."""
    rows = [row for base, of_base in zip(result.bases, result.of_bases, strict=True)
            if precision in (None, base.precision) for row in result.rows(of_base.front, 1)]
    return max(rows, key=lambda row: row.worth(result.wishes.objectives), default=None)


def _rate(advice: Advice) -> float:
    return advice.quantities["output_throughput"]


def goal_of(scenario: Scenario, space: Mapping[str, Any], demand: Mapping[str, Any] | None = None,
            **fields: Any) -> Goal:
    """What the requests of a deployment ask of its kind of cards.

    Args:
        scenario: the deployment.
        space: what is tried besides its own chunk and share of memory, without spares and with no
            cache dealt over ranks.
        demand: besides the lengths of its requests.
        fields: fields of the goal besides.
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
        devices=[Offer.model_construct(device=file.device, node=file.cluster.node)], **fields)


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
        shares: np.ndarray = PERCENT * scenario.shares(inputs)["memory_utilization"]
        return shares
    return share


def throughput_goal(scenario: Scenario) -> Goal:
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
    own = own_settings(scenario)
    # none of them is searched
    plain = {key: value for key, value in PLAIN.items() if own.get(key) not in (None, value)}
    changed_settings = plain | {key: value for key, value in choice.settings().items()
                     if key.startswith(CHANGED) and own.get(key) != value}
    # an engine's default may be another one for the layout
    chunk = changed(scenario, changed_settings).file.workload.max_num_batched_tokens.value
    return changed_settings if chunk == choice.chunk else changed_settings | {CHUNK: choice.chunk}


def advice_of(scenario: Scenario, row: Row | None) -> Advice | None:
    """Settings and quantities of a row beside a deployment; None of no row."""
    if row is None:
        return None
    settings = _settings(scenario, row.choice)
    return Advice(settings, row.choice.precision,
                  central_values(changed(scenario, settings), CHANGE_QUANTITIES))


def own_settings(scenario: Scenario) -> Mapping[str, str | int]:
    """What a deployment's settings are."""
    file = scenario.file
    own: dict[str, str | int] = {"precision": scenario.precision.id}
    for group in ("parallelism", "workload"):
        entry = getattr(file, group)
        for name in type(entry).model_fields:
            value = getattr(entry, name)
            own[f"{group}.{name}"] = getattr(value, "value", value)
    return own
