"""What follows for one deployment: its quantities with 80% intervals, and what was measured of it.

Its users see a steady state; what was measured is predicted for the run that was made, one of many
requests at once replayed step by step. Nothing here is fitted.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import calc
from calc.answer.steady_state import OF_BENCHES, SEEN_OF_BURST
from calc.evidence.classes import Own, own_errors
from calc.evidence.systems import METRICS, System, system
from calc.evidence.validation import Predictions, own_parts, uncalibrated
from calc.layouts.feasible import has_room
from calc.layouts.layout import changed
from calc.physics.step import bound_by, parts, token_parts
from calc.searching.alternatives import Alternatives, alternatives
from calc.uncertainty import Amount, Sides, interval
from catalogue.deployments.admission import CONTEXT, cut_of, problems, subject_of
from catalogue.deployments.scenario import Scenario
from catalogue.messages import Pair
from notebooks.pages.catalogue.tables.deployments import asked_rows, questions

Inputs = dict[str, int | float]


@dataclass(frozen=True)
class Step:
    """One step taken apart.

    Attributes:
        phase: ``decode`` or ``prefill``.
        inputs: what it is computed from.
        found: quantities of ``calc.evaluate``.
        parts: of ``calc.physics.step`` [s].
        bound: time by the resource that binds it [s].
    """

    phase: str
    inputs: Mapping[str, Any]
    found: Mapping[str, Any]
    parts: Mapping[str, Any]
    bound: Mapping[str, Any]

    @property
    def binding(self) -> str:
        """The resource that binds the largest share."""
        return max(self.bound, key=lambda name: float(self.bound[name]))


class Deployed:
    """A deployment and everything that is said of it, each computed once and when it is asked for.

    Args:
        scenario: the deployment.
        own: whether it runs on its own cards, those of what was measured.
        given: settings in place of its file's, which it has already.
    """

    def __init__(self, scenario: Scenario, own: bool = True,
                 given: Mapping[str, Any] | None = None) -> None:
        self.scenario, self.given = scenario, given or {}
        self.inputs, self.attention = scenario.inputs(), scenario.model.attention
        self.knobs = scenario.knobs()
        self.own = own

    def changed(self, settings: Mapping[str, str | int]) -> Deployed:
        """It with other settings; the same are computed once, itself is with none."""
        return self._with(tuple(settings.items())) if settings else self

    @functools.cached_property
    def _with(self) -> Callable[[tuple[tuple[str, str | int], ...]], Deployed]:
        return functools.cache(lambda of: Deployed(changed(self.scenario, dict(of))))

    @functools.cached_property
    def answer(self) -> calc.Estimate:
        """The runtime's answer: whether it fits, why not, what would."""
        return calc.estimate(self.scenario)

    @functools.cached_property
    def alternatives(self) -> Alternatives:
        """What a search over the same cards found best."""
        return alternatives(self.scenario)

    @functools.cached_property
    def quantities(self) -> dict[str, Any]:
        """All quantities of ``calc.evaluate``; unlike ``answer``, without a search for changes."""
        return calc.evaluate(self.inputs, self.attention)

    @functools.cached_property
    def questions(self) -> dict[str, Inputs]:
        """The quantities that answer it, each with the inputs that it is computed from."""
        return questions(self.scenario, self.inputs)

    @functools.cached_property
    def own_errors(self) -> dict[str, Own]:
        """The formulas' own error by quantity, and of which class of systems it is."""
        return own_errors(self.scenario)

    @functools.cached_property
    def own_deviations(self) -> dict[str, Sides]:
        """The same as deviations [1]; of a prefill it is that of the first token, of its rate
        the other way about."""
        own = {name: error.parts for name, error in self.own_errors.items()}
        down, up, farther_down, farther_up = own["ttft"]
        return own | {"prefill_time": own["ttft"],
                      "input_throughput": (up, down, farther_up, farther_down)}

    @functools.cached_property
    def answers(self) -> dict[str, Amount]:
        """The quantities that answer it, as its users see them; of a pool alone, and without
        lengths of answers, those of a burst."""
        seen = self.answer.seen
        found = seen.amounts() if seen else {}
        return self.burst | {
            symbol: replace(found[name], name=symbol) for name, symbol in SEEN_OF_BURST.items()
            if name in found and symbol in self.burst}

    @functools.cached_property
    def burst(self) -> dict[str, Amount]:
        """The same quantities of requests that all arrive at once."""
        by_name: dict[str, Amount] = {}
        for inputs in {id(question): question for question in self.questions.values()}.values():
            names = [name for name, question in self.questions.items() if question is inputs]
            by_name |= self.of(inputs, names)
        return {name: by_name[name] for name in self.questions}

    @property
    def bench(self) -> dict[str, Amount]:
        """Of ``burst`` what a benchmark tells that starts with one and goes on with as many."""
        told = self.answer.reported
        return {name: told[symbol] for symbol, name in OF_BENCHES.items()
                if symbol in told and name in self.burst}

    @property
    def in_flight(self) -> float:
        """Requests in flight of what its users see [request]."""
        steady = self.answer.steady
        if steady is None or self.answer.burst:
            return self.answer.in_flight
        return steady.in_flight

    def of(self, given: Inputs, names: list[str]) -> dict[str, Amount]:
        """Quantities as the closed form gives them of some inputs."""
        return interval(given, self.knobs, self.attention, names, self.own_deviations)

    def quantity(self, name: str) -> Amount:
        """Any quantity of ``calc.evaluate``, by closed form; computed once."""
        return self.answers[name] if name in self.answers else self._others(name)

    @functools.cached_property
    def _others(self) -> Callable[[str], Amount]:
        return functools.cache(self._quantity)

    def _quantity(self, name: str) -> Amount:
        if name == "request_throughput":  # as sure as the tokens that it is counted by
            last = self.inputs["output_tokens"] <= 1
            rate = self.quantity("input_throughput" if last else "output_throughput")
            each = self.inputs["input_tokens" if last else "output_tokens"]
            return rate.scaled(1 / each, "request/s")
        estimated = self.answer.quantities.get(name)
        return self.of(self.inputs, [name])[name] if estimated is None else estimated

    @functools.cached_property
    def seen(self) -> System | None:
        """What was measured of it, on its own cards."""
        return system(self.scenario) if self.scenario.measured and self.own else None

    @functools.cached_property
    def asked(self) -> list[int]:
        """Indices of the measured rows of its own workload."""
        return asked_rows(self.scenario) if self.seen else []

    @functools.cached_property
    def predictions(self) -> dict[str, Predictions]:
        """Predictions of every measured row, by metric."""
        if self.seen is None:
            return {}
        return {metric: uncalibrated(self.seen, metric, own_parts(self.seen, rows), rows)
                for metric in METRICS if len(rows := self.seen.measured(metric))}

    @functools.cached_property
    def as_measured(self) -> dict[str, Amount]:
        """What was measured at its own workload, as it is predicted for the run that was made."""
        if self.seen is None or not self.asked:
            return {}
        found, first = {}, np.array(self.asked[:1])
        for name in METRICS & self.burst.keys():
            if self.asked[0] in self.seen.measured(name):
                of = uncalibrated(self.seen, name, own_parts(self.seen, first), first)
                found[name] = Amount(float(of.predicted[0]), float(of.low[0]), float(of.high[0]),
                                     self.burst[name].unit, name=name)
        return found

    @property
    def replayed(self) -> bool:
        """Whether the run that was measured sent many requests, and is replayed step by step."""
        return bool(self.as_measured and self.seen and self.seen.scheduled)

    def measured(self, name: str) -> tuple[float, float] | None:
        """Least and largest measured value of a quantity at its own workload; None if none was."""
        if self.seen is None:
            return None
        rows = [row for row in self.asked if row in self.seen.measured(name)]
        values = self.seen.rows[name][rows] if rows else np.array([])
        return (float(values.min()), float(values.max())) if len(values) else None

    @functools.cached_property
    def steps(self) -> list[Step]:
        """The steps that a user waits for: a decode step per token, a chunk of prefill."""
        taken = []
        if "tpot" in self.questions:
            at = self.questions["tpot"]
            values = self.quantities if at is self.inputs else calc.evaluate(at, self.attention)
            taken.append(Step("decode", at, values, token_parts(at, values), bound_by(at, values)))
        if "ttft" in self.questions:
            taken.append(Step("prefill", self.inputs, self.quantities,
                              parts(self.inputs, self.quantities, "prefill"),
                              bound_by(self.inputs, self.quantities, "prefill")))
        return taken

    @property
    def headroom(self) -> float:
        """Memory to spare on the fullest device [B], as it is told; negative if there is none."""
        return float(self._memory["headroom_per_device"].value)

    @property
    def has_room(self) -> bool:
        """Whether it fits, as it is told: the memory holds it, and the model takes its requests."""
        return bool(has_room(self.headroom)) and self.refusal is None

    @functools.cached_property
    def refusal(self) -> Pair | None:
        """Why the model takes no such requests, a clause; None where it has their positions."""
        problem = next(problems(subject_of(self.scenario), cut_of(self.scenario), (CONTEXT,)), None)
        return problem.words() if problem else None

    @property
    def room(self) -> int:
        """Requests that fit, as it is told."""
        return int(self._memory["max_concurrency"].value)

    @functools.cached_property
    def _memory(self) -> dict[str, Amount]:
        return self.of(self.inputs, ["headroom_per_device", "max_concurrency"])
