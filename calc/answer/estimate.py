"""A scenario's answer: does it fit, what bounds it, each quantity with its 80% interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from calc.answer.nearest import Change, Search
from calc.answer.steady_state import (
    OF_BENCHES,
    STEADILY,
    STEADY,
    THROUGHPUT,
    Lasting,
    as_simulated,
    lasting,
    seen_of_burst,
    simulated,
)
from calc.evidence.classes import Own, own_errors
from calc.layouts.feasible import HEADROOM, MEMORY, Reason, reasons
from calc.physics.breakdown import bottleneck, token_parts
from calc.physics.breakdown import parts as step_parts
from calc.physics.inputs import Inputs
from calc.physics.parameters import count_parameters
from calc.serving.evaluate import doubt_words, evaluate
from calc.uncertainty import (
    ESTIMATE,
    EXACT,
    LOWER_BOUND,
    UPPER_BOUND,
    Amount,
    interval,
    share_not_negative,
)
from catalogue import Scenario, model_inputs
from catalogue.deployments.physics_inputs import Knob
from catalogue.deployments.scenario import unasked
from catalogue.entries.deployments import Claim
from catalogue.entries.models import Model
from catalogue.reading.units import COUNTING

if TYPE_CHECKING:
    from calc.answer.simulated_load import LoadResult
    from calc.evidence.calibration import Applied

CAPACITY = MEMORY

QUANTITIES: dict[str, str] = {
    "weights_per_device": EXACT,
    "replicated_weights_per_device": EXACT,
    "kv_bytes_per_token": EXACT,
    "redundant_weights_per_device": EXACT,
    "mtp_weights": EXACT,
    "absorbed_copies_per_device": ESTIMATE,
    "activations_per_device": ESTIMATE,
    "exchange_buffers": ESTIMATE,
    "usable_memory": ESTIMATE,
    "free_for_kv_per_device": ESTIMATE,
    "kv_per_device": EXACT,
    "memory_per_device": ESTIMATE,
    "headroom_per_device": ESTIMATE,
    "kv_blocks": ESTIMATE,
    "cache_tokens": ESTIMATE,
    "max_concurrency": ESTIMATE,
    "tpot_floor": LOWER_BOUND,
    "throughput_ceiling": UPPER_BOUND,
    **dict.fromkeys((*STEADY, "ttft", "tpot", "e2e", "output_throughput", *OF_BENCHES), ESTIMATE),
}
ADDED = ("redundant_weights_per_device", "mtp_weights", "absorbed_copies_per_device",
         "exchange_buffers")  # told where there are any
LATENCIES = ("ttft", "e2e", *OF_BENCHES, *STEADY)  # need lengths, not the longest context alone


@dataclass(frozen=True)
class Comparison:
    """A documented result beside what its formula gives on its own inputs, and ours (SI)."""

    quantity: str
    unit: str
    section: str | None
    printed: float | int
    recomputed: float | int | None
    derived: float | int | None


@dataclass(frozen=True)
class Estimate:
    """The answer for one scenario; :meth:`as_json` is the interface for programs.

    >>> import catalogue
    >>> answer = estimate(catalogue.load_scenario("s0-scenario-1"))
    >>> answer.fits, answer.nearest.settings["precision"]
    (False, 'w8a8-int8')

    Attributes:
        scenario: its identifier.
        fits: whether it runs as asked.
        reasons: why not, if it does not.
        search: of the changes that make it run, where it does not.
        bottleneck: by phase, the resource that binds the largest part of a step.
        quantities: by name of ``params/symbols.yml``: what the formulas give at the inputs' values,
            with 80% intervals.
        parts: of ``tpot`` and of a step of prefill (``prefill_chunk``), which sum to it [s].
        documented: what a document prints beside what its formula gives, and ours.
        everything: all quantities of ``calc.evaluate``.
        applied: the calibration, if one is used.
        lasting: the steady state; ``ttft``, ``tpot`` and so on are those of a burst.
        engine: that the scenario names, with its release; None if it names none.
        varied: whether its requests have many lengths.
        seen: the simulation whose means are those of the steady state, where the closed form does
            not hold.
        in_flight: requests that the deployment is asked to have in flight.
        unasked: quantities that this deployment has no answer to (``scenario.unasked``).
        fits_in: share of the draws of all ranges in which its memory suffices [1]; None where the
            interval of what is to spare lies on one side of zero.
        burst: whether latency and throughput are reported for a burst (``seen_of_burst``).
    """

    scenario: str
    fits: bool
    bottleneck: dict[str, str]
    quantities: dict[str, Amount]
    parts: dict[str, dict[str, float]]
    documented: tuple[Comparison, ...]
    everything: dict[str, Any]
    reasons: tuple[Reason, ...] = ()
    search: Search | None = field(default=None, repr=False, compare=False)
    applied: Applied | None = None
    lasting: Lasting | None = None
    engine: str | None = None
    varied: bool = False
    seen: LoadResult | None = None
    in_flight: float = 0.0
    unasked: frozenset[str] = frozenset()
    fits_in: float | None = None
    burst: bool = False

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """Changes that make the deployment run, the smallest first; none if it runs as it is, or if
        none was found."""
        return tuple(self.search.changes()) if self.search else ()

    @property
    def spare(self) -> float:
        """Memory to spare on the fullest device [B]; what it is short of, below zero."""
        return float(self.quantities[HEADROOM].value)

    @property
    def reported(self) -> dict[str, Amount]:
        """The quantities that answer the deployment."""
        return {name: each for name, each in self.quantities.items() if name not in self.unasked}

    @property
    def served(self) -> float:
        """Requests in flight that have a place in the cache; all, where no single one has."""
        return float(self.everything["served_requests"])

    @property
    def waiting(self) -> float:
        """Requests in flight that wait for a place in the cache."""
        return self.in_flight - self.served

    @property
    def suffices_steadily(self) -> bool:
        """Whether it only lacks room for all requests at their longest at once.

        So it is where requests differ or come one by one, the longest fits, and what all of them
        take on average does; of users who think those in flight.
        """
        if self.fits or self.lasting is None or not self.lasting.cache:
            return False
        flight = (self.lasting.in_flight if self.lasting.arrivals == "closed-loop"
                  else self.in_flight)
        if flight > self.served:
            return False
        apart = self.varied or self.lasting.arrivals in ("closed-loop", "poisson")
        return bool(apart and all(reason.kind == MEMORY for reason in self.reasons)
                    and self.everything["longest_requests"] >= 1
                    and self.lasting.cache["cache_occupied"] < 1)

    @property
    def nearest(self) -> Change | None:
        """The change that makes it run and is nearest to what was asked."""
        return self.changes[0] if self.changes else None

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units. What is not computed is absent."""
        answer: dict[str, Any] = {"scenario": self.scenario, "engine": self.engine,
                                  "fits": self.fits, "fits_in": self.fits_in,
                                  "served": self.served, "waiting": self.waiting}
        if not self.fits:
            answer |= {"reasons": [reason.as_json() for reason in self.reasons],
                       "nearest": self.nearest.as_json() if self.nearest else None,
                       "alternatives": [change.as_json() for change in self.changes[1:]]}
        if self.applied is not None:
            answer["calibration"] = self.applied.as_json()
        if self.lasting is not None:
            answer["arrivals"] = {"named": self.lasting.arrivals,
                                  "steady_in_flight": self.lasting.in_flight,
                                  "keeps_up": self.lasting.keeps_up, **self.lasting.cache,
                                  "suffices_steadily": self.suffices_steadily,
                                  "closed_form_holds": not self.lasting.doubts,
                                  "doubts": {name: doubt_words()[name][0]
                                             for name in self.lasting.doubts},
                                  "simulated": self.seen.as_json() if self.seen else None}
        return answer | {
            "bottleneck": self.bottleneck,
            "quantities": {name: quantity.as_json()
                           for name, quantity in self.reported.items()},
            "parts": {whole: parts for whole, parts in self.parts.items()
                      if whole not in self.unasked},
            "documented": [vars(comparison) for comparison in self.documented],
        }


def parameters(model: Model) -> dict[str, int]:
    """Total, active and routed parameters of a model [1], counted from its shapes.

    >>> import catalogue
    >>> parameters(catalogue.load_model("deepseek-v3"))
    {'total': 671026419200, 'active': 36625618432, 'routed': 653908770816}
    """
    counted = count_parameters(model.attention, Inputs(model_inputs(model)))
    return {"total": int(counted.total_parameters), "active": int(counted.active_parameters),
            "routed": int(counted.routed_parameters)}


def parameters_by_class(model: Model) -> dict[str, int]:
    """Parameters of a whole model [1] by class of tensors; the values sum to its total.

    >>> import catalogue
    >>> model = catalogue.load_model("deepseek-v3")
    >>> sum(parameters_by_class(model).values()) == parameters(model)["total"]
    True
    """
    shapes = model_inputs(model)
    counted = count_parameters(model.attention, Inputs(shapes))
    layers, dense = shapes["num_hidden_layers"], shapes["first_k_dense_replace"]
    parts = {
        "embedding": counted.embedding_parameters,
        "head": counted.head_parameters,
        "attention_divided": layers * counted.attention_divided_parameters,
        "attention_kv": layers * counted.attention_kv_parameters,
        "attention_replicated": layers * counted.attention_replicated_parameters,
        "compressor": layers * counted.compressor_parameters,
        "hyper": layers * counted.hyper_parameters + counted.hyper_head_parameters,
        "norm": layers * counted.norm_parameters + shapes["hidden_size"],
        "dense_mlp": dense * counted.dense_mlp_parameters,
        "router": counted.moe_layers * counted.router_parameters,
        "shared_expert": counted.moe_layers * counted.shared_expert_parameters,
        "routed_expert": counted.routed_parameters,
    }
    # what differs from layer to layer is counted by its mean
    return {name: round(count) for name, count in parts.items()}


def kinds(inputs: Mapping[str, Any]) -> dict[str, str]:
    """What kind of statement each quantity is, for a deployment.

    The cache is counted to the byte, but layers with a window shorter than the context keep less
    than each token leaves, and pools of an engine are sized by its own rules.

    Args:
        inputs: input symbols in SI units.
    """
    windowed = (inputs["full_attention_layers"] < inputs["num_hidden_layers"]
                and inputs["sliding_window"] < inputs["context_tokens"])
    if not windowed or not inputs["window_blocks_freed"]:
        pooled = inputs["page_groups"] + inputs["window_share"] + inputs["state_share"]
        return QUANTITIES | ({"kv_per_device": ESTIMATE} if pooled else {})
    return QUANTITIES | {"kv_bytes_per_token": UPPER_BOUND, "kv_per_device": ESTIMATE}


def estimate(scenario: Scenario, applied: Applied | None = None) -> Estimate:
    """Evaluate a scenario.

    >>> import catalogue
    >>> answer = estimate(catalogue.load_scenario("s2-910b1-awq"))
    >>> answer.fits, answer.bottleneck["decode"], round(answer.quantities["tpot"].value, 4)
    (True, 'l2_bandwidth', 0.0797)

    A deployment that does not fit its memory, or that multiplies a dtype which its device lacks, is
    an answer (``fits`` is False, with reasons and the nearest changes that run), not an error. Its
    times are then those of a queue for places in the cache, if single requests fit, else of the
    same cut on cards with enough memory, with weights widened to 16 bits. A steady state whose
    closed form does not hold is simulated, as far as that takes seconds.

    Args:
        scenario: the deployment.
        applied: calibration whose values take the place of the priors
            (``calc.evidence.calibration.apply``).
    """
    inputs, attention = scenario.inputs(), scenario.model.attention
    knobs, fitted = scenario.knobs(), {}
    if applied is not None:
        inputs |= applied.inputs
        knobs = [knob for knob in knobs if not applied.inputs.keys() & set(knob.symbols)]
    everything = evaluate(inputs, attention)
    steady = (None if scenario.file.workload.output_tokens is None
              else lasting(scenario, inputs, everything))
    left_out = LATENCIES if steady is None else () if steady.keeps_up else tuple(STEADY)
    stated = {name: kind for name, kind in kinds(inputs).items() if name not in left_out}
    if steady is not None and "output_throughput" in unasked(inputs):
        stated |= {"input_throughput": ESTIMATE}
    values = {name: _number(everything[name]) for name in stated
              if name not in ADDED or everything[name] > 0}
    own = with_steady_errors(own_errors(scenario))
    bounds = predicted(scenario, values, own, inputs, knobs)
    if steady is not None:
        _at_arrivals(steady, bounds)
    if applied is not None:
        fitted = applied.bounds(bounds)
        own = {name: error for name, error in own.items() if name not in fitted}
    quantities = {name: replace(counted(fitted.get(name, bounds[name])), kind=stated[name],
                                own_error=own.get(name), name=name) for name in values}
    unsure = quantities[HEADROOM].low < 0 <= quantities[HEADROOM].high
    why = reasons(scenario, everything)
    short = any(reason.kind == MEMORY for reason in why)
    binding = {phase: CAPACITY if short else bottleneck(inputs, everything, phase)
               for phase in ("prefill", "decode")}
    seen = None if steady is None or why else simulated(
        scenario, steady, applied.inputs if applied else None)
    quantities = as_simulated(quantities, steady, seen)
    burst = seen_of_burst(scenario, steady)
    return Estimate(
        scenario.id, not why, binding, quantities, _parts(inputs, everything),
        _comparisons(scenario, inputs | everything, quantities, burst),
        everything, why, Search(scenario, everything) if why else None, applied, steady,
        scenario.engine,
        bool(inputs["prompt_variation"] or inputs["answer_variation"]), seen,
        float(inputs["concurrency"]), unasked=unasked(inputs),
        fits_in=share_not_negative(inputs, knobs, attention, HEADROOM) if unsure else None,
        burst=burst)


def _parts(inputs: Mapping[str, Any], everything: Mapping[str, Any]
           ) -> dict[str, dict[str, float]]:
    """What a token's time, and a step of prefill, are made of [s]."""
    return {whole: {name: float(part) for name, part in pieces.items()} for whole, pieces in (
        ("tpot", token_parts(inputs, everything)),
        ("prefill_chunk", step_parts(inputs, everything, "prefill")))}


def predicted(scenario: Scenario, names: Iterable[str], own: Mapping[str, Own] | None = None,
              inputs: Mapping[str, Any] | None = None, knobs: Sequence[Knob] | None = None
              ) -> dict[str, Amount]:
    """Quantities of a deployment as they are reported, with their 80% intervals.

    Args:
        scenario: the deployment.
        names: quantities.
        own: errors of the formulas, inputs and what has a range; the deployment's, if absent.
    """
    own = with_steady_errors(own_errors(scenario)) if own is None else own
    return interval(scenario.inputs() if inputs is None else inputs,
                    scenario.knobs() if knobs is None else knobs, scenario.model.attention, names,
                    {name: error.parts for name, error in own.items()})


def steadily(scenario: Scenario, names: Iterable[str], seen: LoadResult | None = None
             ) -> dict[str, Amount]:
    """Quantities of a steady state as :func:`estimate` tells them; nothing where requests come
    faster than they are answered.

    Args:
        scenario: the deployment; it fits.
        names: quantities.
        seen: a simulation of it, where there is one.
    """
    inputs, told = scenario.inputs(), predicted(scenario, names)
    steady = lasting(scenario, inputs, evaluate(inputs, scenario.model.attention))
    if not steady.keeps_up:
        return {}
    moved = steady.values if inputs["open_arrivals"] or inputs["think_time"] else {}
    _at_arrivals(replace(steady, values={
        name: value for name, value in moved.items() if name in told}), told)
    if seen is None or not steady.doubts:
        seen = simulated(scenario, steady)
    return as_simulated(told, steady, seen)


def with_steady_errors(own: dict[str, Own]) -> dict[str, Own]:
    """Own errors, that of a burst for each quantity of a steady state and of a bench as well."""
    of_bursts = STEADY | OF_BENCHES
    return own | {name: own[burst] for name, burst in of_bursts.items() if burst in own}


def _at_arrivals(steady: Lasting, bounds: dict[str, Amount]) -> None:
    """Move the steady quantities, and their intervals with them, to the requests in flight.

    Of independent arrivals that are let out the throughput is what is asked.
    """
    for name, value in steady.values.items():
        if steady.arrivals == "poisson" and name == THROUGHPUT:
            bounds[name] = replace(bounds[name], value=value, low=value, high=value)
        else:
            bounds[name] = bounds[name].scaled(value / bounds[name].value)


def counted(amount: Amount) -> Amount:
    """An amount as a number for people: what is counted has no fraction.

    Args:
        amount: of one deployment.
    """
    if amount.unit not in COUNTING:
        return amount.over(_number)
    return amount.over(lambda number: max(0, math.floor(number)))


def _comparisons(scenario: Scenario, known: Mapping[str, Any], quantities: Mapping[str, Amount],
                 burst: bool) -> tuple[Comparison, ...]:
    """Each documented value beside ours: a measured one beside that of a burst, a printed one
    beside what users see.

    Args:
        scenario: the deployment.
        known: inputs, which a document may claim, and what follows from them, SI units.
        quantities: as they are reported.
        burst: whether users see a burst too.
    """
    documented = scenario.documented
    if documented is None:
        return ()
    told = {**known, **{name: amount.value for name, amount in quantities.items()}}
    seen = told if burst else told | {name: told[steady] for name, steady in STEADILY.items()}

    def ours(claim: Claim) -> float | int | None:
        values = told if claim.value.kind == "measured" else seen
        if not claim.comparable or claim.quantity not in values:
            return None
        return _number(values[claim.quantity] / unit_count(scenario, claim))

    return tuple(
        Comparison(claim.quantity, claim.value.unit, claim.value.section, claim.value.value,
                   documented.recomputed(claim), ours(claim)) for claim in documented.claims)


def unit_count(scenario: Scenario, claim: Claim) -> int:
    """How many of what a claim speaks of the deployment has: replicas, devices, layers [1]."""
    return counted_of(scenario, claim.of)


def counted_of(scenario: Scenario, part: str) -> int:
    """How many replicas, devices or layers a deployment has [1]; of itself there is one."""
    return {"deployment": 1, "replica": scenario.replicas, "device": scenario.devices,
            "layer": int(scenario.model.num_hidden_layers.value)}[part]


def _number(value: Any) -> float | int:
    number = float(value)
    return int(number) if number.is_integer() else number
