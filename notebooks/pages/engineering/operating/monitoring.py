"""Monitoring: what each bottleneck does to each metric of one deployment, and five alerts.

A cause is a severity of 1 and more on the inputs of the deployment; what its metrics come to then
is a steady state with as many requests in flight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.auditing import truths
from calc.auditing.alarms import ALWAYS, LATE, NEVER, PERHAPS, SOUND
from calc.auditing.claims import listed
from calc.auditing.failures import FAILURES, MOST, Inputs
from calc.auditing.judging import THRESHOLD
from calc.launching.monitoring import BUSY, METRICS, Predicted, predicted
from calc.sensitivity.break_even import solve
from calc.serving.evaluate import evaluate
from catalogue import Scenario
from catalogue.engine import load_engine
from catalogue.entries.entry import MEAN
from catalogue.messages import LANGUAGES, Pair, messages
from notebooks.pages.audit.words import ALSO
from notebooks.pages.deciding.service import RUNS
from notebooks.pages.engineering import claims
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_percent, fmt_quantity, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/engineering/operating/monitoring")

SERVED = ("engine=vllm", "workload.input_tokens=2048 token", "workload.output_tokens=512 token",
          "workload.concurrency=64 request", "workload.requests=64 request",
          "workload.arrivals=closed-loop", "limits.ttft.mean=500 ms", "limits.tpot.mean=50 ms")
SHARED = ("parallelism.expert_parallel=8",)  # whole experts on each card, to be unevenly loaded
NAME = "h200-r1-vllm-tp8"
WATCHED: dict[str, tuple[str, tuple[str, ...]]] = {
    "8×H200, FP8": (NAME, SERVED),
    "32×H20, FP8, EP32 (S1)": (RUNS["s1"][0], (*RUNS["s1"][1], f"engine={RUNS['s1'][2]}")),
    "16×910B2, W8A8 (S0)": (RUNS["s0"][0], (*RUNS["s0"][1], f"engine={RUNS['s0'][2]}"))}
ONCE = ("cache", "eager", "uneven")  # causes that do not grow, or that no latency tells
PIECES = 32  # of a range of severities
LIVELY = 1.02  # relative, from which a change is called one
OWN = 0.10  # beyond a bench of one's own, where an alert may fire
MILLI = 1e3

@dataclass(frozen=True)
class Cause:
    """A failure that the picture shows.

    Attributes:
        name: in words, without its severity.
        shown: the severity in words.
        shared: whether of the deployment with whole experts on each card.
    """

    name: Pair
    shown: Pair
    shared: bool = False


HALF, QUARTER = say("at-half"), say("at-quarter")
CAUSES: dict[str, Cause] = {
    "clock": Cause(say("matrix-units-slow-clock-power"), HALF),
    "memory": Cause(say("memory-of-cards-slow"), HALF),
    "links": Cause(say("links-between-cards-slow"), QUARTER),
    "alpha": Cause(say("collectives-start-slowly"), say("times", times=4)),
    "host": Cause(say("host-slow-between-steps"), say("times", times=4)),
    "eager": Cause(say("graphs-off-host-starts-each"), say("times", times=2)),
    "uneven": Cause(say("experts-unevenly-loaded-ep8"), say("as-they-fall"), True),
    "prompts": Cause(say("longer-prompts"), say("twice")),
    "answers": Cause(say("longer-answers"), say("twice")),
    "users": Cause(say("more-requests-at-once"), say("twice")),
    "cache": Cause(say("fewer-blocks-for-cache"), HALF),
}
SIGNS: dict[str, Pair] = {
    "ttft": ("TTFT", "TTFT"), "tpot": ("TPOT", "TPOT"),
    "alone": say("tpot-one-request"), "rate": ("token/s", "token/s"),
    "occupied": say("kv-share"), "first": say("before-token")}


@cache
def deployment(shared: bool = False) -> Scenario:
    """The page's deployment, or the same cards with whole experts on each."""
    return catalogue.load_scenario(NAME, overrides=[*SERVED, *(SHARED if shared else ())])


@cache
def inputs(shared: bool = False) -> Mapping[str, float]:
    """Input symbols of the page's deployment."""
    return deployment(shared).inputs() | ({"even_routing": 1.0} if shared else {})


@cache
def watched(title: str) -> Scenario:
    """One of the deployments that are watched."""
    name, overrides = WATCHED[title]
    return catalogue.load_scenario(name, overrides=list(overrides))


@cache
def forecast(title: str = next(iter(WATCHED))) -> Predicted:
    """What is predicted of one of them, the page's unless told."""
    return predicted(watched(title))


def signs(name: str, severity: Any = None, alone: bool = True) -> dict[str, Any]:
    """What the metrics come to, each of them an array where the severity is one.

    Args:
        name: of a cause.
        severity: of it, the picture's unless given.
        alone: whether a lone request is of interest, too.
    """
    failure, of = FAILURES[name], inputs(CAUSES[name].shared)
    by = failure.severity if severity is None else severity
    return metrics(of, failure.worse(of, by), by if name == "cache" else 1.0, alone)


def metrics(of: Inputs, changed: Mapping[str, Any], fewer: Any = 1.0,
            alone: bool = True) -> dict[str, Any]:
    """What an engine would report of a steady state.

    Args:
        of: inputs of the deployment.
        changed: some of them.
        fewer: by how much fewer the blocks of the cache are [1].
        alone: whether a lone request is of interest, too.
    """
    kind = deployment().model.attention
    found = evaluate({**of, **changed}, kind)
    lone = {"alone": evaluate({**of, **changed, "concurrency": 1.0}, kind)["tpot"]} if alone else {}
    rate = np.asarray(found["steady_throughput"])
    length = np.asarray(changed.get("output_tokens", of["output_tokens"]))
    return lone | {
        "ttft": found["steady_ttft"], "tpot": found["steady_tpot"], "rate": rate,
        "occupied": np.asarray(found["cache_occupied"]) * fewer,
        "first": rate / length * found["steady_ttft"]}


@cache
def ratios() -> dict[str, dict[str, float]]:
    """Each metric under each cause over what it is without."""
    usual = {shared: metrics(inputs(shared), {}) for shared in (False, True)}
    return {name: {sign: float(value) / float(usual[cause.shared][sign])
                   for sign, value in signs(name).items()} for name, cause in CAUSES.items()}


def answer() -> None:
    """The numbers of the first paragraph."""
    of = forecast()
    assert of.occupied is not None
    numbers({"mo-ttft-value": of.ttft.value, "mo-tpot-value": of.tpot.value, **{
        f"mo-{key}-limit": limit for key, limit in promised(deployment()).items()}}, fmt_time)
    numbers({"mo-rate-value": of.throughput.value, "mo-rate-alert": BUSY * of.throughput.low},
            fmt_quantity, unit="token/s")
    numbers({"mo-users": int(of.planned), "mo-input": int(of.prompt), "mo-output": int(of.answer)})
    numbers({"mo-occupied": of.occupied.value, "mo-occupied-high": of.occupied.high}, fmt_percent,
            digits=0)
    number("mo-busy", BUSY, fmt_percent, digits=0)
    number("mo-engine", deployment().engine, str)


def picture(lang: str) -> Figure:
    """Causes by metrics: by what factor each moves."""
    at = LANGUAGES.index(lang)
    drawing, axes = figures.axes(height=4.3)
    up, down = figures.PALETTE[3], figures.PALETTE[0]
    for row, found in enumerate(ratios().values()):
        for column, sign in enumerate(SIGNS):
            ratio = found[sign]
            strength = min(1.0, abs(np.log2(ratio)) / 1.5)
            lively = max(ratio, 1 / ratio) >= LIVELY
            axes.barh(row, 0.96, left=column - 0.48, height=0.92, lw=0,
                      color=up if ratio > 1 else down, alpha=0.55 * strength if lively else 0.0)
            axes.annotate(f"×{ratio:.2f}" if lively else "=", (column, row), ha="center",
                          va="center", fontsize=8.5)
    figures.fields(axes, [title[at] for title in SIGNS.values()], [
        say("cause", cause=cause.name, severity=cause.shown)[at] for cause in CAUSES.values()], 8)
    return drawing


def promised(scenario: Scenario) -> dict[str, float]:
    """Means that a deployment's service promises: quantity -> limit [s]."""
    return {name: limit for name, (at, limit) in scenario.file.latency_limits.items()
            if at == MEAN}


def alerts() -> None:
    """Five alerts with their thresholds, for three deployments."""
    def thresholds_of(title: str) -> Column:
        of = forecast(title)
        limit = {"ttft": of.ttft.high, "tpot": of.tpot.high} | promised(watched(title))
        texts = {"ttft": fmt_time(limit["ttft"]), "between": fmt_time(limit["tpot"]),
                 "generated": fmt_quantity(BUSY * of.throughput.low, "token/s"),
                 "occupied": fmt_percent(min(1.0, of.occupied.high if of.occupied else 1.0), 0),
                 "preempted": "0"}
        return Column(lambda row: texts[row[0]], title)

    table([("ttft", say("ttft-mean-above"), say("prompts-compute-links-or-queue")),
           ("between", say("tpot-mean-above"), say("memory-links-host-or-more")),
           ("generated", say("token-s-below-at-full"), say("any-of-these-for-all")),
           ("occupied", say("kv-share-above"), say("longer-texts-than-planned")),
           ("preempted", say("preemptions-per-second-above"), say("cache-is-full-work-is"))], [
        Column(1, common("alert")),
        Column(lambda row: f"`{METRICS['vllm'][row[0]][0]}`", say("metric-of-vllm")),
        *map(thresholds_of, WATCHED), Column(2, say("if-it-fires"))], wide=True)


def threshold(sign: str, own: bool) -> float:
    """Where the alert on a metric fires.

    Args:
        sign: ``ttft``, ``tpot`` or ``rate``.
        own: whether beyond a bench of one's own, else the limit of the service, and of a rate the
            80% interval.
    """
    of, usual = forecast(), metrics(inputs(), {})
    each = {"ttft": of.ttft, "tpot": of.tpot, "rate": of.throughput}[sign]
    if own:
        return float(usual[sign]) * (1 - OWN if sign == "rate" else 1 + OWN)
    return BUSY * each.low if sign == "rate" else promised(deployment())[sign]


def caught(name: str, own: bool) -> tuple[float, str] | None:
    """The least severity at which one of three alerts fires, and which; None if none does.

    Args:
        name: of a cause.
        own: whether thresholds rest on a bench.
    """
    found = []
    cause = CAUSES[name]
    scale = {sign: float(value) for sign, value in metrics(inputs(), {}).items()}
    usual = {sign: float(value) for sign, value in metrics(inputs(cause.shared), {}).items()}
    for sign in ("ttft", "tpot", "rate"):
        at = threshold(sign, own) / scale[sign] * usual[sign]

        def beyond(by: np.ndarray, of: str = sign, limit: float = at) -> np.ndarray:
            ahead = np.log(np.asarray(signs(name, by, alone=False)[of]) / limit)
            return -ahead if of != "rate" else ahead

        turns = solve(beyond, 1.0, MOST, most=PIECES).turns
        if turns:
            found.append((turns[0].at, sign))
    return min(found, default=None)


def detection() -> None:
    """How bad each cause has to be until an alert fires, before and after a bench."""
    found = {(name, own): caught(name, own) for name in CAUSES if name not in ONCE
             for own in (False, True)}

    def fires(own: bool, name: str) -> str | None:
        at = found[name, own]
        return at and f"×{fmt_sig(at[0], 2)} ({SIGNS[at[1]][0]})"

    for (name, own), at in found.items():
        if at is not None and name == "memory":
            number(f"mo-caught-{name}-{'bench' if own else 'limit'}", at[0], fmt_sig, digits=2)
    by = fmt_percent(OWN, 0)
    number("mo-own", by, str)
    table((name for name in CAUSES if name not in ONCE), [
        Column(lambda name: CAUSES[name].name, say("worse-by-factor-of", of=next(iter(WATCHED)))),
        Column(partial(fires, False), say("fires-by-limits-of-service")),
        Column(partial(fires, True), say("fires-thresholds-beyond-bench", by=by))])


LOOKED: dict[str, Pair] = {
    "ttft": common("time-to-first-token"),
    "between": say("time-between-tokens"),
    "pace": say("time-per-output-token-of"),
    "generated": say("output-tokens"), "running": say("requests-running"),
    "waiting": say("requests-waiting"), "occupied": say("share-of-kv-cache"),
    "preempted": say("preemptions"), "hits": say("prefix-hits"),
    "accepted": say("drafts-accepted")}


BESIDES: list[tuple[Pair, dict[str, Sequence[str]]]] = [
    (say("time-in-queue"), {"vllm": ["vllm:request_queue_time_seconds"],
                            "sglang": ["sglang:queue_time_seconds"]}),
    (say("operations-as-engine-estimates-them"), {
        name: [f"{name}:estimated_flops_per_gpu_total"] for name in METRICS}),
    (say("bytes-read-as-engine-estimates"), {
        name: [f"{name}:estimated_read_bytes_per_gpu_total"] for name in METRICS}),
    (say("uneven-tokens-of-data-parallel"), {
        "sglang": ["sglang:dp_attention_token_imbalance_ratio"]})]


def releases() -> None:
    """Which metric tells what, by engine, with the releases that have it."""
    rows = [(title, {name: known.get(key, ()) for name, known in METRICS.items()})
            for key, title in LOOKED.items()] + BESIDES

    def told(name: str, row: tuple[Pair, Mapping[str, Sequence[str]]]) -> str | None:
        found = ((metric, load_engine(name).find(metric)) for metric in row[1].get(name, ()))
        return "<br>".join(f"`{metric}` ({entry.since}–{entry.until or ''})"
                           for metric, entry in found if entry is not None) or None

    table(rows, [Column(0, common("what")), Column(partial(told, "vllm"), "vLLM"),
                 Column(partial(told, "sglang"), "SGLang")], wide=True,
          folded=say("metrics-by-release-of-vllm"))


@cache
def thresholds() -> tuple[str, ...]:
    """Numbers of the documents' claims that are thresholds of alerts."""
    return tuple(each.claim.id for each in listed()[0] if each.claim.alert is not None)


def documents() -> None:
    """The documents' thresholds by what they would do."""
    rows = [row for row in claims.select_claims(" ".join(thresholds()))
            if row.judgement.verdict == THRESHOLD]
    order = (ALWAYS, PERHAPS, LATE, NEVER, SOUND)
    counts = Counter((row.case.listed.document, also) for row in rows
                     for also in row.judgement.also if also in order)
    table(order, [Column(ALSO.get, say("run-healthy-and-failing")),
                  Column(lambda also: counts["s0", also], "S0"),
                  Column(lambda also: counts["s1", also], "S1")])
    numbers({"mo-judged": len(rows), **{f"mo-{also}": counts["s0", also] + counts["s1", also]
                                        for also in order}})
    numbers({f"mo-s1-{key}": int(truths.deployment(f"s1-plan-c@{how}").inputs["concurrency"])
             for key, how in (("users", "watched"), ("most", "runs"))})
