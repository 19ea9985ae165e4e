"""Alerts: on the limits of a service, and where none is stated on what is predicted of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from calc.launching.scripts import Pool
from calc.launching.settings import Release
from calc.launching.watching.objectives import objectives, stated
from calc.launching.watching.predictions import RAREST, Predicted
from calc.launching.watching.signals import Level, Mean, Paced, Rate, Ratio, Signal
from calc.uncertainty import Amount
from catalogue.reading.amounts import human, plain

WINDOW, HOLD = "5m", "5m"
DOWN = "1m"
BUSY = 0.9  # of the requests that are predicted in flight: from here on throughput is judged
SHOWN = '{{ printf "%.3g" $value }}'


@dataclass(frozen=True)
class Alert:
    """A rule: a signal beyond a threshold, while another one holds.

    Attributes:
        name: of the rule.
        signal: what is looked at.
        above: whether it fires above the threshold, else below.
        threshold: SI.
        severity: ``critical``, ``warning`` or ``info``.
        summary: one sentence.
        because: what the threshold follows from.
        predicted: with its interval; None where nothing is.
        only: a second signal, and the least value at which the first is judged.
        windows: over each of which it holds, in place of the usual one.
        step: seconds between the samples of a unit test.
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
    step: float = 15.0
    labels: dict[str, str] = field(default_factory=dict)

    def expression(self, window: str) -> str:
        """In PromQL, over its own windows if it has some."""
        found = " and on() ".join(
            f"({self.signal.expression(each)} {'>' if self.above else '<'} {self.threshold:.6g})"
            for each in self.windows or (window,))
        if self.only is None:
            return found
        other, least = self.only
        return f"{found} and on() ({other.expression(window)} >= {least:.6g})"

    def rule(self, window: str = WINDOW, hold: str = HOLD) -> dict[str, Any]:
        """As Prometheus reads it."""
        return {"alert": self.name, "expr": self.expression(window),
                "for": "0s" if self.windows else hold,
                "labels": {"severity": self.severity, **self.labels},
                "annotations": self.annotations(SHOWN)}

    def annotations(self, value: str) -> dict[str, str]:
        """What a person reads: the value, the threshold with its reason, the prediction."""
        found = {"summary": self.summary,
                 "description": f"{value} {'is above' if self.above else 'is below'} "
                                f"{plain(self.threshold)}: {self.because}."}
        if self.predicted is not None:
            found["prediction"] = str(self.predicted)
        return found


def alerts(pool: Pool, of: Predicted) -> list[Alert]:
    """The alerts of a pool, those of its servers being down apart.

    A throughput is judged while requests are in flight as predicted, or nearly so: of a share of
    them it is at least that share of itself, as it grows by less than they do.

    Args:
        pool: that is watched.
        of: what is predicted of it.

    Raises ParamsError, one sentence, for a release that exports none of what is needed.
    """
    engine = METRICS[engine_of(pool.release)]
    found = [*_promised(pool, engine), *_times(pool, of, engine), *_load(pool, of, engine),
             *_assumed(pool, of, engine)]
    labels = {"deployment": pool.scenario.id, "pool": pool.name}
    for alert in found:
        alert.labels.update(labels)
    return found


def _promised(pool: Pool, engine: dict[str, tuple[str, ...]]) -> Iterator[Alert]:
    """What the service promises, on the pool that keeps it."""
    job, release = pool.name, pool.release
    for quantity, (at, limit) in stated(pool.scenario.file.limits).items():
        if pool.role == ("prefill" if quantity != "ttft" else "decode"):
            continue
        names = engine[{"ttft": "ttft", "tpot": "pace", "e2e": "e2e"}[quantity]]
        histogram = release.metric(*names) if release.exports(*names) else None
        mean = (pace(pool, engine) if quantity == "tpot"
                else Mean(job, histogram) if histogram else None)
        if histogram is None and isinstance(mean, Mean):
            histogram = mean.histogram  # between tokens of all requests, where none is of a request
        for each in objectives(quantity, at, limit, mean, histogram, job):
            yield Alert(alert_name(each.name, pool), each.signal, True, each.limit, each.severity,
                        each.summary, each.because, windows=each.windows, step=each.step)


def _times(pool: Pool, of: Predicted, engine: dict[str, tuple[str, ...]]) -> Iterator[Alert]:
    """Latency above, and throughput below, what its interval holds."""
    job, release = pool.name, pool.release
    metric = lambda name: release.metric(*engine[name])  # noqa: E731
    load = Level(job, (metric("running"), metric("waiting")))
    promised, unstated = stated(pool.scenario.file.limits), "no limit is stated: "
    if pool.role != "decode" and "ttft" not in promised:
        yield Alert(alert_name("TimeToFirstTokenAbovePrediction", pool), Mean(job, metric("ttft")),
                    True, of.ttft.high, "warning", "Mean time to first token beyond its interval.",
                    f"{unstated}the upper end of the 80% interval [s]", of.ttft)
    if pool.role != "prefill" and "tpot" not in promised:
        yield Alert(alert_name("TimePerOutputTokenAbovePrediction", pool), pace(pool, engine), True,
                    of.tpot.high, "warning", "Mean time per output token beyond its interval.",
                    f"{unstated}the upper end of the 80% interval [s]", of.tpot)
    if pool.role != "prefill":
        yield Alert(alert_name("ThroughputBelowPrediction", pool), Rate(job, metric("generated")),
                    False, BUSY * of.throughput.low, "warning",
                    "Fewer output tokens than predicted for this many requests.",
                    f"{BUSY:g} of the lower end of the 80% interval, while {BUSY:g} of the "
                    "requests are in flight [token/s]", of.throughput,
                    (load, BUSY * of.in_flight))
    else:
        each, prompt = of.requests, of.prompt
        asked = each.scaled(prompt, "token/s")
        yield Alert(alert_name("PrefillBelowPrediction", pool), Rate(job, metric("prompted")),
                    False, BUSY * asked.low, "warning",
                    "Fewer prompt tokens than predicted for this many requests.",
                    f"{BUSY:g} of the lower end of the 80% interval, while {BUSY:g} of the "
                    "requests are in flight [token/s]", asked, (load, BUSY * of.in_flight))


def _load(pool: Pool, of: Predicted, engine: dict[str, tuple[str, ...]]) -> Iterator[Alert]:
    """Requests, the queue and the cache."""
    job, release = pool.name, pool.release
    metric = lambda name: release.metric(*engine[name])  # noqa: E731
    yield Alert(alert_name("MoreRequestsThanPlanned", pool),
                Level(job, (metric("running"), metric("waiting"))), True, of.planned, "warning",
                "More requests than the predictions here assume.",
                "the requests in flight that the scenario plans [request]")
    queue = of.requests.high * of.ttft.high
    if queue < of.planned:
        yield Alert(alert_name("QueueLongerThanPredicted", pool), Level(job, (metric("waiting"),)),
                    True, queue, "warning", "Requests wait longer than predicted.",
                    f"Little's law, {human(of.requests.high, 'request/s')} times "
                    f"{human(of.ttft.high, 's')}, both at their upper ends [request]")
    if of.occupied is not None and of.occupied.high < 1:
        yield Alert(alert_name("KVCacheFullerThanPredicted", pool),
                    Level(job, (metric("occupied"),), "avg"), True, of.occupied.high, "warning",
                    "Requests take more of the KV cache than predicted.",
                    "the mean share that they take of the fewest blocks of the 80% interval [1]",
                    of.occupied)
    if pool.role != "prefill" and release.exports(*engine["preempted"]):
        steps = pool.scenario.replicas / of.tpot.low
        least = of.overflow * steps if of.overflow >= RAREST else 0.0
        why = (f"the cache suffices in all but {plain(of.overflow, 2)} of the steps, and "
               f"{human(steps, '1/s')} are made at most; one request each" if least
               else f"preemptions are predicted in fewer than {RAREST:g} of the steps")
        yield Alert(alert_name("PreemptionsAbovePrediction", pool),
                    Rate(job, metric("preempted")), True, least, "warning",
                    "Requests lose their cache and are computed again.", f"{why} [request/s]")


def _assumed(pool: Pool, of: Predicted, engine: dict[str, tuple[str, ...]]) -> Iterator[Alert]:
    """What the predictions rest on, where it alone moves one of them out of its interval."""
    job, release = pool.name, pool.release
    moved = "from here on this length alone moves the predicted {} to the end of its interval"
    if pool.role != "decode" and "input_tokens" in of.limits:
        yield Alert(alert_name("PromptsLongerThanPlanned", pool),
                    _per_request(job, release, engine, "prompts"), True,
                    of.limits["input_tokens"], "info",
                    f"Prompts of {of.prompt:,.0f} tokens were planned.",
                    f"{moved.format('TTFT')} [token]")
    if pool.role != "prefill" and "output_tokens" in of.limits:
        yield Alert(alert_name("AnswersLongerThanPlanned", pool),
                    _per_request(job, release, engine, "answers"), True,
                    of.limits["output_tokens"], "info",
                    f"Answers of {of.answer:,.0f} tokens were planned.",
                    f"{moved.format('TPOT')} [token]")
    if pool.role != "decode" and "prefix_hit_share" in of.limits:
        yield Alert(alert_name("PrefixHitsBelowPlan", pool),
                    Ratio(job, release.metric(*engine["hits"]), release.metric(*engine["asked"])),
                    False, of.limits["prefix_hit_share"], "info",
                    "The prefix cache finds less than was assumed.",
                    f"{moved.format('TTFT')} [1]")
    if pool.role != "prefill" and "accepted_length" in of.limits:
        yield Alert(alert_name("DraftsBelowPlan", pool), _accepted(job, release, engine), False,
                    of.limits["accepted_length"], "info",
                    "Fewer drafted tokens count than was assumed.",
                    f"{moved.format('TPOT')} [token per step]")


def engine_of(release: Release) -> str:
    """Whose metrics a release exports: vLLM Ascend those of vLLM."""
    return "sglang" if release.name == "sglang" else "vllm"


def alert_name(name: str, pool: Pool) -> str:
    """The name of an alert of a pool: of two pools it says of which."""
    return name if pool.role == "both" else f"{pool.role.capitalize()}{name}"


def pace(pool: Pool, engine: dict[str, tuple[str, ...]] | None = None) -> Signal:
    """Time per output token, as the release tells it.

    The mean over requests where it has one; where it has the time between steps, that alone
    without drafts.
    """
    of = engine or METRICS[engine_of(pool.release)]
    release, drafts = pool.release, pool.scenario.file.workload.draft_tokens
    if release.exports(*of["pace"]) or release.name == "sglang":
        return Mean(pool.name, release.metric(*of["pace"], *of["between"]))
    if drafts and drafts.value:
        return Paced(pool.name, release.metric(*of["decoded"]), release.metric(*of["answers"]))
    return Mean(pool.name, release.metric(*of["between"]))


def _per_request(job: str, release: Release, engine: dict[str, tuple[str, ...]], name: str
                 ) -> Signal:
    """The mean length of prompts or answers."""
    if release.name == "sglang":  # its histograms of lengths come only with a flag
        tokens = {"prompts": "prompted", "answers": "generated"}[name]
        return Ratio(job, release.metric(*engine[tokens]), release.metric(*engine["counted"]))
    return Mean(job, release.metric(*engine[name]))


def _accepted(job: str, release: Release, engine: dict[str, tuple[str, ...]]) -> Signal:
    """Tokens of a step, its own included."""
    if release.name == "sglang":
        return Level(job, (release.metric(*engine["accepted"]),), "avg")
    return Ratio(job, release.metric(*engine["accepted"]), release.metric(*engine["drafts"]), 1.0)


METRICS: dict[str, dict[str, tuple[str, ...]]] = {
    "vllm": {
        "ttft": ("vllm:time_to_first_token_seconds",),
        "pace": ("vllm:request_time_per_output_token_seconds",),
        "between": ("vllm:inter_token_latency_seconds", "vllm:time_per_output_token_seconds"),
        "e2e": ("vllm:e2e_request_latency_seconds",),
        "decoded": ("vllm:request_decode_time_seconds",),
        "generated": ("vllm:generation_tokens_total",), "prompted": ("vllm:prompt_tokens_total",),
        "running": ("vllm:num_requests_running",), "waiting": ("vllm:num_requests_waiting",),
        "occupied": ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
        "preempted": ("vllm:num_preemptions_total",),
        "prompts": ("vllm:request_prompt_tokens",), "answers": ("vllm:request_generation_tokens",),
        "hits": ("vllm:prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits_total"),
        "asked": ("vllm:prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries_total"),
        "accepted": ("vllm:spec_decode_num_accepted_tokens_total",),
        "drafts": ("vllm:spec_decode_num_drafts_total",),
    },
    "sglang": {
        "ttft": ("sglang:time_to_first_token_seconds",),
        "pace": ("sglang:request_time_per_output_token_seconds",),
        "between": ("sglang:inter_token_latency_seconds", "sglang:time_per_output_token_seconds"),
        "e2e": ("sglang:e2e_request_latency_seconds",),
        "generated": ("sglang:generation_tokens_total",),
        "prompted": ("sglang:prompt_tokens_total",),
        "running": ("sglang:num_running_reqs",), "waiting": ("sglang:num_queue_reqs",),
        "occupied": ("sglang:token_usage",),
        "preempted": ("sglang:num_retracted_requests_total",),
        "counted": ("sglang:num_requests_total",),
        "hits": ("sglang:cached_tokens_total",), "asked": ("sglang:prompt_tokens_total",),
        "accepted": ("sglang:spec_accept_length",),
    },
}
"""Engine -> what is looked at -> the metrics that tell it, those of later releases first."""
