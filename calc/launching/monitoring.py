"""Monitoring: predictions with intervals, alerts on limits and predictions, Prometheus's files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

import calc
from calc.answer.estimate import Estimate
from calc.answer.service import Service, StartupLine, startup_line, unloaded
from calc.answer.simulated_load import simulate_load
from calc.answer.steady_state import CACHE
from calc.launching.starting import FASTER, Overloaded, Pool, check_runs
from calc.serving.evaluate import evaluate
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.entries.entry import MEAN, PERCENTILES
from catalogue.entries.profiles import in_order
from catalogue.reading.units import human, plain

RAREST = 1e-3  # share of the steps; the tail of the occupancy is known to a seventh of it
WINDOW, HOLD, DOWN = "5m", "5m", "1m"
BUSY = 0.9  # of the requests that are predicted in flight: from here on throughput is judged
SHOWN = '{{ printf "%.3g" $value }}'
SCRAPED = "15s"
RULES = "alerts.yml"
EVERY_NODE = "0.4.10"  # release from which every node of an SGLang server exports metrics
NAMES = {"ttft": "TimeToFirstToken", "tpot": "TimePerOutputToken", "e2e": "EndToEndLatency"}
WORDS = {"ttft": "time to first token", "tpot": "time per output token",
         "e2e": "end-to-end latency"}
MOST_LATE = 0.9  # of the requests, from where a share can hardly grow
PACES = (("BudgetBurnsFast", 14.4, ("1h", "5m"), "critical"),
         ("BudgetBurns", 6.0, ("6h", "30m"), "critical"),
         ("BudgetIsSpent", 1.0, ("3d", "6h"), "warning"))
"""Alert, burn rate of the error budget, long and short window, severity.

Source: Site Reliability Workbook, chapter 5, table 5-8: of a budget for thirty days 2% in an hour,
5% in six hours, 10% in three days."""
_SAME = {  # of both engines
    "ttft": "time_to_first_token_seconds", "pace": "request_time_per_output_token_seconds",
    "between": "inter_token_latency_seconds time_per_output_token_seconds",
    "e2e": "e2e_request_latency_seconds", "generated": "generation_tokens_total",
    "prompted": "prompt_tokens_total"}
METRICS = {engine: {quantity: tuple(f"{engine}:{name}" for name in names.split())
                    for quantity, names in metrics.items()} for engine, metrics in {
    "vllm": _SAME | {
        "decoded": "request_decode_time_seconds", "running": "num_requests_running",
        "waiting": "num_requests_waiting", "occupied": "kv_cache_usage_perc gpu_cache_usage_perc",
        "preempted": "num_preemptions_total", "answers": "request_generation_tokens",
        "hits": "prefix_cache_hits_total gpu_prefix_cache_hits_total",
        "accepted": "spec_decode_num_accepted_tokens_total"},
    "sglang": _SAME | {
        "running": "num_running_reqs", "waiting": "num_queue_reqs", "occupied": "token_usage",
        "preempted": "num_retracted_requests_total", "hits": "cached_tokens_total",
        "accepted": "spec_accept_length"}}.items()}
"""Engine -> quantity -> the metrics that export it, those of later releases first."""
FORMS = {
    "mean": "sum(rate({0}_sum{at})) / sum(rate({0}_count{at}))",
    "quantile": "histogram_quantile({number:.6g}, sum by (le) (rate({0}_bucket{at})))",
    "pace": "sum(rate({0}_sum{at})) / (sum(rate({1}_sum{at})) - sum(rate({1}_count{at})))",
    "rate": "sum(rate({0}{at}))",
    "load": "sum(avg_over_time({0}{at})) + sum(avg_over_time({1}{at}))",
    "level": "sum(avg_over_time({0}{at}))",
    "average": "avg(avg_over_time({0}{at}))"}
"""Kind of a signal -> PromQL of its metrics. ``pace``: time per output token from the time that
requests decode and how long they are, as a step may bring several tokens where they are drafted."""


@dataclass(frozen=True)
class Predicted:
    """What is predicted of a pool under the load that its scenario states.

    Attributes:
        ttft, tpot, e2e: means over requests [s].
        throughput: of output tokens [token/s].
        requests: that are answered [request/s].
        planned: requests in flight at most [request].
        in_flight: of them in the state that is predicted [request].
        occupied: share of the cache's blocks, on average [1]; None where nothing is predicted.
        overflow: share of the steps in which the cache does not suffice [1].
        prompt, answer: mean lengths [token].
        burst: whether all requests arrive at once.
    """

    ttft: Amount
    tpot: Amount
    e2e: Amount
    throughput: Amount
    requests: Amount
    planned: float
    in_flight: float
    occupied: Amount | None
    overflow: float
    prompt: float
    answer: float
    burst: bool

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI."""
        return {name: value.as_json() if isinstance(value, Amount) else value
                for name, value in vars(self).items()}


def predicted(scenario: Scenario, answer: Estimate | None = None) -> Predicted:
    """The predictions by which a pool is monitored.

    >>> import catalogue
    >>> result = predicted(catalogue.load_scenario("h200-r1-vllm-tp8"))
    >>> result.tpot.low < result.tpot.value < result.tpot.high
    True

    Raises ParamsError, one sentence, for a deployment that does not run as asked.
    """
    answer = answer or calc.estimate(scenario)
    check_runs(scenario, answer)
    seen, steady = answer.seen, answer.steady
    assert seen is not None
    assert steady is not None
    numbers = scenario.inputs()
    length = float(numbers["output_tokens"])
    return Predicted(**seen.amounts(), requests=seen.throughput.scaled(1 / length, "request/s"),
                     planned=float(numbers["concurrency"]), in_flight=seen.in_flight,
                     occupied=_occupied(answer, steady.cache),
                     overflow=steady.cache.get("cache_overflow", 0.0),
                     prompt=float(numbers["input_tokens"]), answer=length, burst=seen.burst)


def predicted_pools(of: Service) -> tuple[Predicted, ...]:
    """The predictions by which each pool is monitored, under the load of all of them.

    Args:
        of: the deployment.

    Raises ParamsError, one sentence, as :func:`predicted`.
    """
    pair = of.pair
    if pair is None:
        return (predicted(of.last, of.answers[0]),)
    for scenario, answer in zip(of.pools, of.answers, strict=True):
        check_runs(scenario, answer)
    if (seen := of.seen) is None:
        raise Overloaded(f"'{of.last.id}': {FASTER}")
    decoding = pair.loop.decoding
    requests = seen.throughput.scaled(1 / pair.answer, "request/s")
    pools = []
    for scenario, answer, in_flight in zip(
            (unloaded(of.pools[0]), of.last), of.answers,
            (seen.in_flight - decoding, decoding), strict=True):
        inputs = scenario.inputs() | {"concurrency": max(1.0, in_flight)}
        everything = evaluate(inputs, scenario.model.attention)
        cache = {name: float(everything[name]) for name in CACHE}
        pools.append(Predicted(
            **seen.amounts(), requests=requests, in_flight=in_flight,
            planned=max(answer.in_flight, math.ceil(seen.in_flight)),
            occupied=_occupied(answer, cache), overflow=cache["cache_overflow"],
            prompt=pair.prompt, answer=pair.answer, burst=False))
    return tuple(pools)


def _occupied(answer: Estimate, cache: Mapping[str, float]) -> Amount | None:
    """Share of the blocks that requests take; fewer blocks are fuller."""
    blocks = answer.quantities["kv_blocks"]
    if not cache or blocks.value <= 0:
        return None
    share = cache["cache_occupied"]
    return Amount(share, share * blocks.value / max(blocks.high, 1),
                  share * blocks.value / max(blocks.low, 1), "1")


# --- alerts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Signal:
    """A value over the servers of a pool.

    Attributes:
        job: the pool, as it is scraped.
        kind: key of ``FORMS``.
        metrics: names, in the order of the form.
        number: quantile; 0 of other kinds.
    """

    job: str
    kind: str
    metrics: tuple[str, ...]
    number: float = 0.0

    def expression(self, window: str) -> str:
        """In PromQL, over a window such as ``5m``."""
        return FORMS[self.kind].format(*self.metrics, at=f'{{job="{self.job}"}}[{window}]',
                                       number=self.number)


@dataclass(frozen=True)
class Alert:
    """A rule: a signal beyond a threshold, while another signal is at its least value.

    Attributes:
        name: of the rule.
        signal: what is compared.
        above: whether it fires above the threshold, else below.
        threshold: SI.
        severity: ``critical``, ``warning`` or ``info``.
        summary: one sentence.
        because: reason of the threshold.
        predicted: with its interval; None where nothing is.
        only: a second signal, and the least value at which the first is judged.
        windows: over each of which it is true, in place of the usual one.
        basis: of the threshold: ``limit``, ``plan`` or ``prediction``.
    """

    name: str
    signal: Signal
    above: bool
    threshold: float
    severity: str
    summary: str
    because: str
    predicted: Amount | None = None
    only: tuple[Signal, float] | None = None
    windows: tuple[str, ...] = ()
    basis: str = "prediction"


def alerts(pool: Pool, of: Predicted) -> tuple[Alert, ...]:
    """The alerts of a pool, those of servers that are down apart.

    A throughput is judged while requests are in flight as predicted, or nearly so: of a share of
    them it is at least that share of itself, as it grows by less than they do.

    Args:
        pool: that is monitored.
        of: its predictions.

    Raises ParamsError, one sentence, for a release that exports none of what is needed.
    """
    own = (*limit_alerts(pool), *latency_alerts(pool, of), *load_alerts(pool, of))
    return tuple(replace(alert, name=alert_name(alert.name, pool)) for alert in own)


def alert_name(name: str, pool: Pool) -> str:
    """The name of an alert of a pool, of two pools with the pool's role."""
    return name if pool.role == "both" else f"{pool.role.capitalize()}{name}"


def _metrics(pool: Pool) -> dict[str, tuple[str, ...]]:
    """Metrics of a pool's engine by quantity; vLLM Ascend exports those of vLLM."""
    return METRICS["sglang" if pool.release.name == "sglang" else "vllm"]


def _signal(pool: Pool, kind: str, *quantities: str) -> Signal:
    """A signal of metrics that the release exports; raises ParamsError where it lacks one."""
    metrics = _metrics(pool)
    return Signal(pool.name, kind, tuple(
        pool.release.metric(*metrics[quantity]) for quantity in quantities))


def pace(pool: Pool) -> Signal:
    """Time per output token, as the release exports it.

    The mean over requests where it has one; where it has the time between steps, that alone
    without drafts.
    """
    metrics, drafts = _metrics(pool), pool.scenario.file.workload.draft_tokens
    if pool.release.exports(*metrics["pace"]) or pool.release.name == "sglang":
        return Signal(pool.name, "mean", (
            pool.release.metric(*metrics["pace"], *metrics["between"]),))
    return (_signal(pool, "pace", "decoded", "answers") if drafts and drafts.value
            else _signal(pool, "mean", "between"))


def limits_of_pool(pool: Pool) -> Mapping[str, tuple[str, float]]:
    """Limits of the service that a pool can keep: of two pools, one has the first tokens."""
    return {quantity: limit for quantity, limit in pool.scenario.file.latency_limits.items()
            if pool.role != ("prefill" if quantity != "ttft" else "decode")}


def promise(quantity: str, at: str, limit: float) -> str:
    """A limit of the service as a sentence."""
    return f"Promised: {WORDS[quantity]} {at} of at most {human(limit, 's')}."


def objectives(quantity: str, at: str, limit: float, mean: Signal | None, histogram: str | None,
               job: str) -> Iterator[Alert]:
    """The alerts on one limit of a service.

    Of a percentile p a share 1 - p may be late: its budget. That the budget is used up b times as
    fast as it may is that a share b·(1 - p) is late, which is that the quantile 1 - b·(1 - p) is
    above the limit; where b·(1 - p) would be more than nine tenths, it is nine tenths. A mean has
    no budget: it is compared over an hour and over five minutes.

    Args:
        quantity: ``ttft``, ``tpot`` or ``e2e``.
        at: ``mean`` or a percentile.
        limit: [s].
        mean: the signal of the mean; None where the release has none.
        histogram: of the percentile; None where the release has none.
        job: the pool, as it is scraped.
    """
    summary = promise(quantity, at, limit)
    if at == MEAN or histogram is None:
        if mean is not None:
            instead = "" if at == MEAN else (
                ", told by the mean: the release has no such histogram")
            yield Alert(f"{NAMES[quantity]}AboveLimit", mean, True, limit, "critical", summary,
                        f"the limit of the service{instead} [s]", windows=PACES[0][2],
                        basis="limit")
        return
    budget, shares = 1 - PERCENTILES[at], set[float]()
    for name, burn, windows, severity in PACES:
        late = min(MOST_LATE, burn * budget)
        if late not in shares:
            yield Alert(
                f"{NAMES[quantity]}{name}", Signal(job, "quantile", (histogram,), 1 - late), True,
                limit, severity, summary,
                f"the limit of the service: more than {plain(late)} of the requests are late, "
                f"{plain(late / budget)} times as many as may be [s]", windows=windows,
                basis="limit")
        shares.add(late)


def limit_alerts(pool: Pool) -> Iterator[Alert]:
    """Limits of the service."""
    release = pool.release
    for quantity, (at, limit) in limits_of_pool(pool).items():
        names = _metrics(pool)["pace" if quantity == "tpot" else quantity]
        histogram = release.metric(*names) if release.exports(*names) else None
        mean = (pace(pool) if quantity == "tpot"
                else Signal(pool.name, "mean", (histogram,)) if histogram else None)
        if histogram is None and mean is not None and mean.kind == "mean":
            histogram = mean.metrics[0]  # between tokens of all requests, as no other is exported
        yield from objectives(quantity, at, limit, mean, histogram, pool.name)


def latency_alerts(pool: Pool, of: Predicted) -> Iterator[Alert]:
    """Latency above, and throughput below, their intervals."""
    promised = pool.scenario.file.latency_limits
    why = "no limit is stated: the upper end of the 80% interval [s]"
    if pool.role != "decode" and "ttft" not in promised:
        yield Alert("TimeToFirstTokenAbovePrediction", _signal(pool, "mean", "ttft"), True,
                    of.ttft.high, "warning", "Mean time to first token beyond its interval.", why,
                    of.ttft)
    if pool.role != "prefill" and "tpot" not in promised:
        yield Alert("TimePerOutputTokenAbovePrediction", pace(pool), True, of.tpot.high, "warning",
                    "Mean time per output token beyond its interval.", why, of.tpot)
    name, quantity, kind, rate = (
        ("ThroughputBelowPrediction", "generated", "output", of.throughput)
        if pool.role != "prefill" else
        ("PromptsBelowPrediction", "prompted", "prompt", of.requests.scaled(of.prompt, "token/s")))
    yield Alert(name, _signal(pool, "rate", quantity), False, BUSY * rate.low, "warning",
                f"Fewer {kind} tokens than predicted for this many requests.",
                f"{BUSY:g} of the lower end of the 80% interval, while {BUSY:g} of the "
                "requests are in flight [token/s]", rate,
                (_signal(pool, "load", "running", "waiting"), BUSY * of.in_flight))


def load_alerts(pool: Pool, of: Predicted) -> Iterator[Alert]:
    """Requests, the queue and the cache."""
    yield Alert("MoreRequestsThanPlanned", _signal(pool, "load", "running", "waiting"), True,
                of.planned, "warning", "More requests than the predictions here assume.",
                "the requests in flight that the scenario plans [request]", basis="plan")
    queue = of.requests.high * of.ttft.high  # until the first token, which comes from prefill
    if pool.role != "decode" and queue < of.planned:
        yield Alert("QueueLongerThanPredicted", _signal(pool, "level", "waiting"), True, queue,
                    "warning", "Requests wait longer than predicted.",
                    f"Little's law, {human(of.requests.high, 'request/s')} times "
                    f"{human(of.ttft.high, 's')}, both at their upper ends [request]")
    if of.occupied is not None and of.occupied.high < 1:
        yield Alert("KVCacheFullerThanPredicted", _signal(pool, "average", "occupied"), True,
                    of.occupied.high, "warning",
                    "Requests take more of the KV cache than predicted.",
                    "the mean share that they take of the fewest blocks of the 80% interval [1]",
                    of.occupied)
    if pool.role != "prefill" and pool.release.exports(*_metrics(pool)["preempted"]):
        steps = pool.scenario.replicas / of.tpot.low
        least = of.overflow * steps if of.overflow >= RAREST else 0.0
        why = (f"the cache suffices in all but {plain(of.overflow, 2)} of the steps, and "
               f"{human(steps, '1/s')} are made at most; one request each" if least
               else f"preemptions are predicted in fewer than {RAREST:g} of the steps")
        yield Alert("PreemptionsAbovePrediction", _signal(pool, "rate", "preempted"), True, least,
                    "warning", "Requests lose their cache and are computed again.",
                    f"{why} [request/s]")


# --- pools with their alerts ----------------------------------------------------------------------


@dataclass(frozen=True)
class ExceededLimit:
    """A limit of the service that the prediction exceeds.

    Attributes:
        quantity: ``ttft``, ``tpot`` or ``e2e``.
        at: ``mean``, or a percentile of simulated requests.
        limit, value: promised and predicted [s].
        sentence: as the files have it.
    """

    quantity: str
    at: str
    limit: float
    value: float
    sentence: str


@dataclass(frozen=True)
class Watched:
    """A pool, its predictions, and the alerts that follow.

    Attributes:
        pool, predicted, alerts: as their classes.
        exceeded: limits of the service that the prediction exceeds.
        startup: line that the engine prints of its cache when it starts; None if unknown.
    """

    pool: Pool
    predicted: Predicted
    alerts: tuple[Alert, ...]
    exceeded: tuple[ExceededLimit, ...]
    startup: StartupLine | None


def watched(pool: Pool, of: Predicted) -> Watched:
    """A pool with its alerts, and limits that its prediction exceeds.

    Limits at a percentile are simulated; those of two pools are compared with means.

    Raises ParamsError, one sentence, for a limit at a percentile of what cannot be simulated.
    """
    limits, exceeded = limits_of_pool(pool), []
    simulated = (simulate_load(pool.scenario).summary if pool.role == "both"
                 and any(at != MEAN for at, _ in limits.values()) else None)
    for quantity, (at, limit) in limits.items():
        value, basis = float(getattr(of, quantity).value), MEAN
        if simulated is not None and at != MEAN:
            value, basis = float(np.quantile(getattr(simulated, quantity).values,
                                             PERCENTILES[at])), at
        if value > limit:
            exceeded.append(ExceededLimit(quantity, basis, limit, value, (
                f"{promise(quantity, at, limit)} Predicted: {human(value, 's')}"
                f"{' on average' if basis == MEAN else ', simulated'}.")))
    return Watched(pool, of, alerts(pool, of), tuple(exceeded), startup_line(pool.scenario))


# --- files of Prometheus --------------------------------------------------------------------------


def targets(pool: Pool) -> list[str]:
    """Addresses that export metrics: those that answer; of SGLang every node.

    The other nodes of a vLLM server have no address; those of early SGLang export nothing.
    """
    every = pool.release.name == "sglang" and in_order(pool.release.version) >= in_order(EVERY_NODE)
    return [f"{pool.hosts[part.node]}:{part.port}"
            for part in (pool.layout.parts if every else pool.layout.heads)]


def rule(alert: Alert, pool: Pool) -> dict[str, Any]:
    """An alert as Prometheus reads it."""
    expression = " and on() ".join(
        f"({alert.signal.expression(window)} {'>' if alert.above else '<'} {alert.threshold:.6g})"
        for window in alert.windows or (WINDOW,))
    if alert.only is not None:
        other, least = alert.only
        expression += f" and on() ({other.expression(WINDOW)} >= {least:.6g})"
    beyond = "is above" if alert.above else "is below"
    return _rule(pool, alert.name, expression, "0s" if alert.windows else HOLD, alert.severity,
                 alert.summary, f"{SHOWN} {beyond} {plain(alert.threshold)}: {alert.because}.",
                 {"prediction": str(alert.predicted)} if alert.predicted is not None else {})


def down_rules(pool: Pool) -> list[dict[str, Any]]:
    """Rules on servers that do not answer, as Prometheus reads them."""
    where = f'up{{job="{pool.name}"}}'
    wide = (" It shares experts with the others of its server, which stop with it."
            if pool.layout.span > 1 else "")
    return [_rule(pool, alert_name("ServerDown", pool), f"{where} == 0", DOWN, "critical",
                  "A server does not answer.", "{{ $labels.instance }} is not scraped." + wide),
            _rule(pool, alert_name("ServersMissing", pool), f"absent({where})", DOWN, "critical",
                  "No server of the pool is scraped.", "There is nothing to watch.")]


def _rule(pool: Pool, name: str, expression: str, hold: str, severity: str, summary: str,
          description: str, more: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """A rule of Prometheus; ``more`` are annotations besides."""
    return {"alert": name, "expr": expression, "for": hold,
            "labels": {"severity": severity, "deployment": pool.scenario.id, "pool": pool.name},
            "annotations": {"summary": summary, "description": description, **more}}


def scrapes(pools: Iterable[Pool]) -> dict[str, Any]:
    """The configuration of Prometheus."""
    return {"global": {"scrape_interval": SCRAPED, "evaluation_interval": SCRAPED},
            "rule_files": [RULES],
            "scrape_configs": [{"job_name": pool.name, "metrics_path": "/metrics",
                                "static_configs": [{"targets": targets(pool)}]}
                               for pool in pools]}


def rules(of: Iterable[Watched]) -> dict[str, Any]:
    """The rules of Prometheus: of every pool, servers that do not answer, and its alerts."""
    return {"groups": [{"name": pool.pool.name, "rules": [
        *down_rules(pool.pool), *(rule(alert, pool.pool) for alert in pool.alerts)]}
        for pool in of]}
