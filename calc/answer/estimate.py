"""A scenario's answer: does it fit, what bounds it, each quantity with its 80% interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from calc.answer.display import (
    data_frame,
    default_lines,
    deployment_line,
    html_lines,
    html_table,
    resource_name,
)
from calc.answer.steady_state import (
    OF_BENCHES,
    SEEN_OF_BURST,
    SEEN_STEADILY,
    STEADILY,
    STEADY,
    THROUGHPUT,
    SteadyState,
    is_burst,
    simulate_steady_state,
    steady_state,
    with_simulation,
)
from calc.evidence.classes import Own, own_errors
from calc.layouts.feasible import HEADROOM, MEMORY, Reason, reasons
from calc.physics.step import bottleneck, token_parts
from calc.physics.step import parts as step_parts
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
from catalogue import Scenario, load_scenario, symbols
from catalogue.deployments.physics_inputs import Knob
from catalogue.deployments.scenario import unasked
from catalogue.entries.deployments import Claim
from catalogue.entries.entry import MEAN
from catalogue.messages import Pair, sentences
from catalogue.reading.units import COUNTING, human, span

if TYPE_CHECKING:
    from calc.answer.nearest import Change
    from calc.answer.simulated_load import LoadResult
    from calc.evidence.calibration import Applied

say = sentences("calc/answer/estimate")

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
SHOWN_PARTS = 6  # of a step
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
class ServiceLevel:
    """Latency and throughput of a deployment as its users measure them, with 80% intervals.

    Attributes:
        ttft, tpot, e2e: from a request's arrival on [s].
        throughput: of output tokens [token/s].
        in_flight: requests, in all pools [request].
        burst: whether all requests arrive at once, as the deployment states; else it is a steady
            state.
        limits: that the deployment states: time -> ``mean`` or a percentile, and the limit [s].
    """

    ttft: Amount
    tpot: Amount
    e2e: Amount
    throughput: Amount
    in_flight: float
    burst: bool
    limits: Mapping[str, tuple[str, float]] = field(default_factory=dict)

    @property
    def exceeded(self) -> list[str]:
        """Times whose mean is above their limit, be it one of the mean or of a percentile."""
        return [name for name, (_, limit) in self.limits.items()
                if getattr(self, name).value > limit]

    @property
    def limits_line(self) -> list[tuple[str, str]]:
        """Label and text of the limits; nothing without any."""
        words = [
            f"{name.upper()} {human(limit, 's')}{'' if at == MEAN else f' at {at}'}: " + (
                "exceeded" if name in self.exceeded else
                "met" if at == MEAN else f"met by the mean, {at} is found by `simulate`")
            for name, (at, limit) in self.limits.items()]
        return [("limits", "; ".join(words))] if words else []

    def amounts(self) -> dict[str, Amount]:
        """Latency and throughput by name."""
        return {name: getattr(self, name) for name in SEEN_OF_BURST}

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Labels and texts of the amounts."""
        load = "all requests at once" if self.burst else "steady state"
        return [("TTFT", f"{self.ttft.formatted('en')}, {load}"),
                ("TPOT", f"{self.tpot.formatted('en')}; end-to-end latency {self.e2e.text}"),
                ("throughput", self.throughput.formatted("en")), *self.limits_line]

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {name: replace(amount, own_error=None).as_json()
                for name, amount in self.amounts().items()} | {
            "in_flight": self.in_flight, "burst": self.burst} | (
            {"exceeded": self.exceeded} if self.limits else {})


@dataclass(frozen=True)
class Estimate:
    """The answer for one scenario, finished; :meth:`as_json` is the interface for programs.

    >>> import catalogue
    >>> answer = estimate(catalogue.load_scenario("s0-scenario-1"))
    >>> answer.fits, answer.nearest.settings["precision"]
    (False, 'w8a8-int8')

    Attributes:
        scenario: its identifier.
        engine: that the scenario names, with its release; None if it names none.
        fits: whether it runs as asked.
        fits_in: share of the draws of all ranges in which its memory suffices [1]; None where the
            interval of the headroom lies on one side of zero.
        spare: memory to spare on the fullest device, negative where it is short [B].
        in_flight: requests that the deployment is asked to have in flight [request].
        served: requests in flight that have a place in the cache; all, where no single one has
            [request].
        waiting: requests in flight that wait for a place in the cache [request].
        reasons: why it does not run, if it does not.
        changes: that make the deployment run, the smallest first; none if it runs or if none exist.
        nearest: the first of them.
        suffices_steadily: whether it only lacks room for all requests at their longest at once.
        bottleneck: by phase, the resource that binds the largest part of a step.
        quantities: by name of ``params/symbols.yml``: what the formulas give at the inputs' values,
            with 80% intervals.
        reported: quantities that answer the deployment: those that its phase computes.
        unasked: quantities that this deployment has no answer to (``scenario.unasked``).
        parts: of ``tpot`` and of a step of prefill (``prefill_chunk``), which sum to it [s].
        documented: documented values beside what their formulas give, and the runtime's.
        everything: all quantities of ``calc.evaluate``.
        calibration: the calibration, if one is used.
        steady: the steady state; ``ttft``, ``tpot`` and so on are those of a burst.
        simulated: the simulation whose means are those of the steady state, where the closed form
            does not hold.
        burst: whether latency and throughput are reported for a burst (``is_burst``).
        seen: latency and throughput as users measure them, of a pool alone a burst; None where
            answer lengths are not stated, or where requests arrive faster than they are served.
        title: cards, model, format and layout.
        defaults: what was chosen for a deployment that was asked for by plain values.
    """

    scenario: str
    engine: str | None
    fits: bool
    fits_in: float | None
    spare: float
    in_flight: float
    served: float
    waiting: float
    reasons: tuple[Reason, ...]
    changes: tuple[Change, ...]
    nearest: Change | None
    suffices_steadily: bool
    bottleneck: dict[str, str]
    quantities: dict[str, Amount]
    reported: dict[str, Amount]
    unasked: frozenset[str]
    parts: dict[str, dict[str, float]]
    documented: tuple[Comparison, ...]
    everything: dict[str, Any]
    calibration: Applied | None
    steady: SteadyState | None
    simulated: LoadResult | None
    burst: bool
    seen: ServiceLevel | None
    title: str = ""
    defaults: tuple[str, ...] = ()

    @property
    def outcome(self) -> Pair:
        """Verdict in a few words: fits, exceeds a limit, is overloaded, or does not run."""
        if self.fits:
            return fits_words(None if self.unasked else self.seen, self.keeps_up)
        if any(reason.kind != MEMORY for reason in self.reasons):
            return say("does-not-run", "Does not run")
        if not self.starts:
            return say("does-not-fit", "Does not fit")
        # an engine queues what has no place in the cache
        fit = self.served if self.waiting else self.quantities["max_concurrency"].value
        of, others = f"{fit:,.0f} of {self.in_flight:,.0f} requests", (
            ", others wait" if self.waiting else " at maximum length")
        return say("fits-some", f"Fits {of}{others}", fit=f"{fit:,.0f}",
                   all=f"{self.in_flight:,.0f}", waiting="yes" if self.waiting else "no")

    @property
    def verdict(self) -> str:
        """Verdict and a one-line description of the deployment."""
        return (f"{self.outcome[0].upper()}: {self.title}, "
                f"{human(self.in_flight, 'request')} in flight")

    @property
    def keeps_up(self) -> bool:
        """Whether the service rate is at least the arrival rate."""
        return bool(self.unasked) or self.steady is None or self.steady.keeps_up

    @property
    def starts(self) -> bool:
        """Whether the engine starts and the cache holds one request of maximum length."""
        return self.fits or (all(reason.kind == MEMORY for reason in self.reasons)
                             and self.everything["longest_requests"] >= 1)

    @property
    def figures(self) -> dict[str, Amount]:
        """Headline quantities by symbol: latency and throughput as users measure them, and the
        number of requests that fit."""
        seen = {} if self.seen is None or self.unasked else self.seen.amounts()
        return {("output_throughput" if name == "throughput" else name): amount
                for name, amount in seen.items()} | {
            "max_concurrency": self.reported["max_concurrency"]}

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Labels and texts of the headline quantities, and of memory on the fullest card."""
        values = self.reported
        used, usable, spare = (values[name] for name in (
            "memory_per_device", "usable_memory", "headroom_per_device"))
        parts = {name: values[symbol] for name, symbol in (
            ("weights", "weights_per_device"), ("KV cache", "kv_per_device"),
            ("activations", "activations_per_device")) if symbol in values}
        rest = used.value - sum(part.value for part in parts.values())
        texts = [*(f"{name} {human(part.value, 'B')}" for name, part in parts.items()),
                 f"engine and runtime {human(rest, 'B')}"]
        left = f"to spare ({spare.reach})" if self.spare >= 0 else "short"
        share = "" if self.fits_in is None else f"; fits in {self.fits_in:.0%} of samples"
        lines = [] if self.seen is None or self.unasked or not self.starts else self.seen.lines
        lines.append(("memory", f"{used.text} of {usable.text} per card ({', '.join(texts)}), "
                      f"{human(abs(self.spare), 'B')} {left}{share}"))
        if "max_concurrency" in values:
            waiting = f", {human(self.waiting, 'request')} wait" if self.waiting else ""
            lines.append(("requests", f"{values['max_concurrency'].formatted('en')} fit "
                          f"concurrently at maximum length{waiting}"))
        return lines

    @property
    def reason_lines(self) -> list[str]:
        """Why a deployment does not run and what does; what was calibrated."""
        lines = [reason.text["en"] for reason in self.reasons]
        if self.changes:
            from calc.layouts.layout import set_line  # few answers need it

            lines += [f"{'Or' if number else 'Nearest'}: {change.text['en']}  "
                      f"{set_line(change.settings)}" for number, change in enumerate(self.changes)]
        elif self.reasons:
            lines.append("No precision, layout or number of these cards runs it.")
        if applied := self.calibration:
            lines.append(f"Calibrated to {symbols()[applied.metric].en} of {applied.scenario} "
                         f"({applied.name}).")
            for item in applied.outside:
                unit, name = symbols()[item.quantity].unit, symbols()[item.quantity].en
                fitted = span(*item.fitted_range, unit)
                lines.append(f"Outside the calibration: {name} {human(item.value, unit)}, fitted "
                             f"at {fitted}; the interval is wider.")
        return lines

    @property
    def step_lines(self) -> list[str]:
        """Largest parts of the time of a token."""
        if "tpot" in self.unasked:
            return []
        parts = self.parts["tpot"]
        total = sum(parts.values())
        largest = sorted(parts.items(), key=lambda item: -item[1])[:SHOWN_PARTS]
        return [f"A step of {human(total, 's')}, limited by "
                f"{resource_name(self.bottleneck['decode'])}: "
                + ", ".join(f"{name.replace('_', ' ')} {part / total:.0%}"
                         for name, part in largest if part > 0) + "."]

    @property
    def steady_lines(self) -> list[str]:
        """Loads that are compared, the cache in the steady state, and how it was computed."""
        steady = self.steady
        if steady is None or not steady.keeps_up:
            return []
        lines = [f"Steady state: {human(steady.in_flight, 'request')} in flight. All at once: "
                 f"{human(self.in_flight, 'request')} arrive together. Benchmark: as many at the "
                 "start, then one after each answer."]
        if steady.cache:
            lines.append(f"KV cache {steady.cache['cache_occupied']:.1%} full in the steady state; "
                         "requests wait or are preempted in "
                         f"{steady.cache['cache_overflow']:.1%} of the steps."
                         + " The verdict counts every request at its longest."
                         * self.suffices_steadily)
        if steady.doubts:
            why = "; ".join(doubt_words()[name][0] for name in steady.doubts)
            source = ("use `simulate`" if self.simulated is None else "these are means of "
                      f"{self.simulated.summary.requests:,} simulated requests")
            lines.append(f"The closed form of the steady state is not valid here: {why}; {source}.")
        return lines

    def to_frame(self) -> Any:
        """All reported quantities as a ``pandas.DataFrame``: value, 80% interval and SI unit.

        Raises ParamsError where pandas is not installed.
        """
        return data_frame(({
            "quantity": name, "name": symbols()[name].en, "value": amount.value,
            "low": amount.low, "high": amount.high, "unit": amount.unit, "kind": amount.kind}
            for name, amount in self.reported.items()), "quantity")

    def _repr_html_(self) -> str:
        lines = [*self.reason_lines, *self.step_lines, *default_lines(self.defaults)]
        return html_lines(self.verdict, lines, html_table(("", ""), self.lines))

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units. What is not computed is absent."""
        answer: dict[str, Any] = {name: getattr(self, name) for name in (
            "scenario", "engine", "fits", "fits_in", "served", "waiting", "bottleneck")}
        if not self.fits:
            answer |= {"reasons": [reason.as_json() for reason in self.reasons],
                       "nearest": self.nearest and self.nearest.as_json(),
                       "alternatives": [change.as_json() for change in self.changes[1:]]}
        if self.calibration is not None:
            answer["calibration"] = self.calibration.as_json()
        if self.steady is not None:
            answer["arrivals"] = {"named": self.steady.arrivals,
                                  "steady_in_flight": self.steady.in_flight,
                                  "keeps_up": self.steady.keeps_up, **self.steady.cache,
                                  "suffices_steadily": self.suffices_steadily,
                                  "closed_form_holds": not self.steady.doubts,
                                  "doubts": {name: doubt_words()[name][0]
                                             for name in self.steady.doubts},
                                  "simulated": self.simulated and self.simulated.as_json()}
        return answer | {
            "quantities": {name: amount.as_json() for name, amount in self.reported.items()},
            "parts": {name: parts for name, parts in self.parts.items()
                      if name not in self.unasked},
            "documented": [asdict(comparison) for comparison in self.documented]}


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


def estimate(scenario: Scenario | str | Path | None = None, applied: Applied | None = None,
             **values: Any) -> Estimate:
    """Evaluate a deployment: a scenario, or one of plain values.

    >>> answer = estimate(model="deepseek-r1", card="h200", cards=8, users=64, input=2048)
    >>> answer.fits, answer.defaults[0]
    (True, 'engine vllm@0.33.0: the newest release that runs it')
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
        scenario: the deployment, or the name or path of its file.
        applied: calibration whose values take the place of the priors
            (``calc.evidence.calibration.apply``).
        values: arguments of ``calc.answer.quickplan.deployment_plan`` in place of a scenario.
    """
    if values:
        from calc.answer.quickplan import deployment_plan, planned  # loads the nearest changes

        if scenario is not None:
            raise TypeError(f"estimate: a scenario and '{next(iter(values))}', expected one of "
                            "them; load_scenario(path, overrides=[\"KEY=VALUE\"]) changes a file.")
        plan = planned(deployment_plan, "estimate", **values)
        answer = estimate_scenario(load_scenario(plan.file), applied)
        return replace(answer, defaults=plan.defaults)
    if scenario is None:
        raise TypeError("estimate: expected a scenario, or at least model=… and card=…")
    return estimate_scenario(scenario if isinstance(scenario, Scenario)
                             else load_scenario(scenario), applied)


def estimate_scenario(scenario: Scenario, applied: Applied | None = None) -> Estimate:
    """Evaluate a scenario, as :func:`estimate`."""
    inputs, attention = scenario.inputs(), scenario.model.attention
    knobs = scenario.knobs()
    if applied is not None:
        inputs |= applied.inputs
        knobs = [knob for knob in knobs if not applied.inputs.keys() & set(knob.symbols)]
    everything = evaluate(inputs, attention)
    lengths = scenario.file.workload.output_tokens is not None
    steady = steady_state(scenario, inputs, everything) if lengths else None
    quantities = closed_form_amounts(scenario, inputs, knobs, everything, steady, applied)
    headroom = quantities[HEADROOM]
    why = reasons(scenario, everything)
    short = any(reason.kind == MEMORY for reason in why)
    simulated = None if steady is None or why else simulate_steady_state(
        scenario, steady, applied.inputs if applied else None)
    quantities = with_simulation(quantities, steady, simulated)
    burst, unanswered = is_burst(scenario, steady), unasked(inputs)
    nearest: tuple[Change, ...] = ()
    if why:
        from calc.answer.nearest import nearest_changes  # most deployments run

        nearest = nearest_changes(scenario, everything)
    served, in_flight = float(everything["served_requests"]), float(inputs["concurrency"])
    return Estimate(
        scenario=scenario.id, engine=scenario.engine, fits=not why,
        fits_in=(share_not_negative(inputs, knobs, attention, HEADROOM)
                 if headroom.low < 0 <= headroom.high else None),
        spare=float(headroom.value), in_flight=in_flight, served=served,
        waiting=in_flight - served, reasons=why,
        changes=nearest, nearest=next(iter(nearest), None),
        suffices_steadily=cache_suffices_steadily(inputs, everything, why, steady),
        bottleneck={phase: MEMORY if short else bottleneck(inputs, everything, phase)
                    for phase in ("prefill", "decode")},
        quantities=quantities, unasked=unanswered,
        reported={name: amount for name, amount in quantities.items()
                  if name not in unanswered},
        parts={name: {part: float(time) for part, time in parts.items()} for name, parts in (
            ("tpot", token_parts(inputs, everything)),
            ("prefill_chunk", step_parts(inputs, everything, "prefill")))},
        documented=compare_documented(scenario, inputs | everything, quantities, burst),
        everything=everything, calibration=applied, steady=steady, simulated=simulated, burst=burst,
        seen=service_level(quantities, steady, burst, in_flight,
                           scenario.file.latency_limits),
        title=deployment_line(scenario))


def closed_form_amounts(scenario: Scenario, inputs: Mapping[str, Any], knobs: Sequence[Knob],
                        everything: Mapping[str, Any], steady: SteadyState | None,
                        applied: Applied | None) -> dict[str, Amount]:
    """Quantities that a deployment has, with intervals; those of its steady state in closed
    form."""
    left_out = LATENCIES if steady is None else () if steady.keeps_up else tuple(STEADY)
    stated = {name: kind for name, kind in kinds(inputs).items() if name not in left_out
              and (name not in ADDED or everything[name] > 0)}
    if steady is not None and "output_throughput" in unasked(inputs):
        stated |= {"input_throughput": ESTIMATE}
    own = errors_of(scenario)
    amounts = predicted(scenario, stated, own, inputs, knobs)
    if steady is not None:
        _at_arrivals(steady, amounts)
    if applied is not None:
        fitted = applied.bounds(amounts)
        amounts |= {name: fitted[name] for name in stated if name in fitted}
        own = {name: error for name, error in own.items() if name not in fitted}
    return {name: replace(whole_counts(amounts[name]), kind=kind, own_error=own.get(name),
                          name=name) for name, kind in stated.items()}


def cache_suffices_steadily(inputs: Mapping[str, Any], everything: Mapping[str, Any],
                            why: Sequence[Reason], steady: SteadyState | None) -> bool:
    """Return True if the KV cache suffices on average, but not for all requests at full length.

    Requests must differ or come one by one, the longest must fit, and so must what all of them
    take on average; of users who think those in flight.
    """
    if not why or steady is None or not steady.cache:
        return False
    flight = steady.in_flight if steady.arrivals == "closed-loop" else inputs["concurrency"]
    return bool(flight <= everything["served_requests"]
                and (inputs["prompt_variation"] or inputs["answer_variation"]
                     or steady.arrivals in ("closed-loop", "poisson"))
                and all(reason.kind == MEMORY for reason in why)
                and everything["longest_requests"] >= 1 and steady.cache["cache_occupied"] < 1)


def service_level(quantities: Mapping[str, Amount], steady: SteadyState | None, burst: bool,
                  in_flight: float, limits: Mapping[str, tuple[str, float]]
                  ) -> ServiceLevel | None:
    """Latency and throughput as users measure them; None as ``Estimate.seen`` documents."""
    if steady is None or not steady.keeps_up:
        return None
    symbols = SEEN_OF_BURST if burst else SEEN_STEADILY
    return ServiceLevel(**{name: quantities[symbol] for name, symbol in symbols.items()},
                        in_flight=in_flight if burst else steady.in_flight, burst=burst,
                        limits=limits)


def fits_words(seen: ServiceLevel | None, keeps_up: bool) -> Pair:
    """Outcome of a deployment that fits: whether it keeps up with arrivals and within its limits.
    """
    if not keeps_up:
        return say("overloaded", "Overloaded")
    late = seen.exceeded if seen else []
    names = [name.upper() if name != "e2e" else "latency" for name in late]
    return say("fits-late", f"Fits, {' and '.join(names)} over the limit",
               names="、".join(names)) if late else say("fits", "Fits")


def predicted(scenario: Scenario, names: Iterable[str], own: Mapping[str, Own] | None = None,
              inputs: Mapping[str, Any] | None = None, knobs: Sequence[Knob] | None = None
              ) -> dict[str, Amount]:
    """Quantities of a deployment as they are reported, with their 80% intervals.

    Args:
        scenario: the deployment.
        names: quantities.
        own: errors of the formulas, inputs and what has a range; the deployment's, if absent.
    """
    own = errors_of(scenario) if own is None else own
    return interval(scenario.inputs() if inputs is None else inputs,
                    scenario.knobs() if knobs is None else knobs, scenario.model.attention, names,
                    {name: error.parts for name, error in own.items()})


def steady_amounts(scenario: Scenario, names: Iterable[str], seen: LoadResult | None = None
             ) -> dict[str, Amount]:
    """Quantities of a steady state as :func:`estimate` tells them; nothing where requests come
    faster than they are answered.

    Args:
        scenario: the deployment; it fits.
        names: quantities.
        seen: a simulation of it, where there is one.
    """
    inputs, amounts = scenario.inputs(), predicted(scenario, names)
    steady = steady_state(scenario, inputs, evaluate(inputs, scenario.model.attention))
    if not steady.keeps_up:
        return {}
    _at_arrivals(steady, amounts)
    if seen is None or not steady.doubts:
        seen = simulate_steady_state(scenario, steady)
    return with_simulation(amounts, steady, seen)


def errors_of(scenario: Scenario) -> dict[str, Own]:
    """Own errors of the formulas of a deployment, by quantity; those of a burst for quantities of a
    steady state and of a benchmark as well.

    Args:
        scenario: the deployment.
    """
    own = own_errors(scenario)
    return own | {name: own[burst] for name, burst in (STEADY | OF_BENCHES).items() if burst in own}


def _at_arrivals(steady: SteadyState, bounds: dict[str, Amount]) -> None:
    """Move the steady quantities, and their intervals with them, to the requests in flight.

    Of independent arrivals that are let out the throughput is what is asked.
    """
    for name, value in steady.values.items():
        if name not in bounds:
            continue
        if steady.arrivals == "poisson" and name == THROUGHPUT:
            bounds[name] = replace(bounds[name], value=value, low=value, high=value)
        else:
            bounds[name] = bounds[name].scaled(value / bounds[name].value)


def whole_counts(amount: Amount) -> Amount:
    """An amount as a number for people: what is counted has no fraction.

    Args:
        amount: of one deployment.
    """
    if amount.unit not in COUNTING:
        return amount.over(_number)
    return amount.over(lambda number: max(0, math.floor(number)))


def compare_documented(scenario: Scenario, results: Mapping[str, Any],
                       quantities: Mapping[str, Amount], burst: bool) -> tuple[Comparison, ...]:
    """Each documented value beside ours: a measured one beside that of a burst, a printed one
    beside what users see.

    Args:
        scenario: the deployment.
        results: inputs, which a document may claim, and what follows from them, SI units.
        quantities: as they are reported.
        burst: whether users see a burst too.
    """
    documented = scenario.documented
    if documented is None:
        return ()
    reported = {**results, **{name: amount.value for name, amount in quantities.items()}}
    seen = reported if burst else reported | {
        name: reported[steady] for name, steady in STEADILY.items()}

    def ours(claim: Claim) -> float | int | None:
        values = reported if claim.value.kind == "measured" else seen
        if not claim.comparable or claim.quantity not in values:
            return None
        return _number(values[claim.quantity] / part_count(scenario, claim.of))

    return tuple(
        Comparison(claim.quantity, claim.value.unit, claim.value.section, claim.value.value,
                   documented.recomputed(claim), ours(claim)) for claim in documented.claims)


def part_count(scenario: Scenario, part: str) -> int:
    """How many replicas, devices or layers a deployment has [1]; of itself there is one."""
    return {"deployment": 1, "replica": scenario.replicas, "device": scenario.devices,
            "layer": int(scenario.model.num_hidden_layers.value)}[part]


def _number(value: Any) -> float | int:
    number = float(value)
    return int(number) if number.is_integer() else number
