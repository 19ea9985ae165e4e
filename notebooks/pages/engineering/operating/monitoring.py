"""Monitoring: what each bottleneck does to each metric of one deployment, and five alerts.

A cause is a severity of 1 and more on the inputs of the deployment; what its metrics come to then
is a steady state with as many requests in flight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import catalogue
from calc.auditing import judging
from calc.auditing.claim_files import listed
from calc.closed_form.evaluate import evaluate
from calc.launching.watching.alerts import BUSY, METRICS
from calc.launching.watching.objectives import stated
from calc.launching.watching.predictions import Predicted, predicted
from calc.sensitivity.breakeven import solve
from catalogue import Scenario
from catalogue.engines.engine import load_engine
from catalogue.entries.entry import MEAN
from catalogue.messages import Pair, messages
from notebooks.pages.audit.words import ALSO
from notebooks.pages.deciding.service import RUNS
from notebooks.pages.engineering import claims
from notebooks.show import figures
from notebooks.show.display import figure, number, table
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_quantity, fmt_sig

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
MOST = 64.0  # severity that is tried
MILLI = 1e3

Inputs = Mapping[str, float]


@dataclass(frozen=True)
class Cause:
    """What may go wrong.

    Attributes:
        name: in words, without its severity.
        severity: that the picture shows.
        worse: inputs and a severity -> what differs from the inputs.
        shown: the severity in words.
        shared: whether of the deployment with whole experts on each card.
    """

    name: Pair
    severity: float
    worse: Callable[[Inputs, Any], dict[str, Any]]
    shown: Pair
    shared: bool = False


def _slower(*names: str) -> Callable[[Inputs, Any], dict[str, Any]]:
    return lambda of, by: {name: of[name] / by for name in names}


def _more(*names: str) -> Callable[[Inputs, Any], dict[str, Any]]:
    return lambda of, by: {name: of[name] * by for name in names}


def _longer(name: str) -> Callable[[Inputs, Any], dict[str, Any]]:
    return lambda of, by: {name: of[name] * by, "context_tokens": (
        of["input_tokens"] + of["output_tokens"] + of[name] * (by - 1))}


HALF, QUARTER = say("at-half"), say("at-quarter")
CAUSES: dict[str, Cause] = {
    "clock": Cause(say("matrix-units-slow-clock-power"), 2,
                   _slower("clock_factor"), HALF),
    "memory": Cause(say("memory-of-cards-slow"), 2, _slower("memory_bandwidth"), HALF),
    "links": Cause(say("links-between-cards-slow"), 4,
                   _slower("device_link_bandwidth"), QUARTER),
    "alpha": Cause(say("collectives-start-slowly"), 4,
                   _more("collective_alpha"), say("times", times=4)),
    "host": Cause(say("host-slow-between-steps"), 4,
                  _more("host_gap_per_step"), say("times", times=4)),
    "eager": Cause(say("graphs-off-host-starts-each"), 2,
                   lambda of, by: {"captured": 0.0, "host_time_per_operator":
                                   of["host_time_per_operator"] * by}, say("times", times=2)),
    "uneven": Cause(say("experts-unevenly-loaded-ep8"), 1,
                    lambda of, by: {"even_routing": 0.0}, say("as-they-fall"), True),
    "prompts": Cause(say("longer-prompts"), 2, _longer("input_tokens"), say("twice")),
    "answers": Cause(say("longer-answers"), 2, _longer("output_tokens"), say("twice")),
    "users": Cause(say("more-requests-at-once"), 2, _more("concurrency"), say("twice")),
    "cache": Cause(say("fewer-blocks-for-cache"), 2, lambda of, by: {}, HALF),
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
def forecast() -> Predicted:
    """What is predicted of it."""
    return predicted(deployment())


def signs(name: str, severity: Any = None, alone: bool = True) -> dict[str, Any]:
    """What the metrics come to, each of them an array where the severity is one.

    Args:
        name: of a cause.
        severity: of it, the picture's unless given.
        alone: whether a lone request is of interest, too.
    """
    cause = CAUSES[name]
    of, by = inputs(cause.shared), cause.severity if severity is None else severity
    return metrics(of, cause.worse(of, by), by if name == "cache" else 1.0, alone)


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
    found = {}
    for name, cause in CAUSES.items():
        usual = metrics(inputs(cause.shared), {})
        found[name] = {sign: float(value) / float(usual[sign])
                       for sign, value in signs(name).items()}
    return found


def answer() -> None:
    """The numbers of the first paragraph."""
    of, found = forecast(), ratios()
    for key, each, unit in (("ttft", of.ttft, "s"), ("tpot", of.tpot, "s"),
                            ("rate", of.throughput, "token/s")):
        number(f"mo-{key}-value", each.value, fmt_quantity, unit=unit)
    for key, limit in promised(deployment()).items():
        number(f"mo-{key}-limit", limit, fmt_quantity, unit="s")
    number("mo-users", int(of.planned))
    number("mo-input", int(of.prompt))
    number("mo-output", int(of.answer))
    number("mo-rate-alert", BUSY * of.throughput.low, fmt_quantity, unit="token/s")
    assert of.occupied is not None
    number("mo-occupied", of.occupied.value, fmt_percent, digits=0)
    number("mo-occupied-high", of.occupied.high, fmt_percent, digits=0)
    number("mo-users-tpot", found["users"]["tpot"], fmt_fixed, digits=2)


def picture() -> None:
    """Causes by metrics: by what factor each moves."""
    figure("monitoring_signs", _drawn)


def _drawn(lang: str) -> Figure:
    at = int(lang == "zh")
    found = ratios()
    drawing, axes = figures.axes(height=4.3)
    up, down = figures.PALETTE[3], figures.PALETTE[0]
    for row, name in enumerate(CAUSES):
        for column, sign in enumerate(SIGNS):
            ratio = found[name][sign]
            strength = min(1.0, abs(np.log2(ratio)) / 1.5)
            lively = max(ratio, 1 / ratio) >= LIVELY
            axes.barh(row, 0.96, left=column - 0.48, height=0.92, lw=0,
                      color=up if ratio > 1 else down, alpha=0.55 * strength if lively else 0.0)
            axes.annotate(f"×{ratio:.2f}" if lively else "=", (column, row), ha="center",
                          va="center", fontsize=8.5)
    axes.set_yticks(range(len(CAUSES)), [
        say("cause", cause=cause.name, severity=cause.shown)[at] for cause in CAUSES.values()],
        fontsize=8)
    axes.set_xticks(range(len(SIGNS)), [title[at] for title in SIGNS.values()], fontsize=8.5)
    axes.xaxis.tick_top()
    axes.set(xlim=(-0.5, len(SIGNS) - 0.5), ylim=(len(CAUSES) - 0.5, -0.5))
    axes.tick_params(length=0)
    axes.grid(visible=False)
    for side in axes.spines.values():
        side.set_visible(False)
    return drawing


def promised(scenario: Scenario) -> dict[str, float]:
    """Means that a deployment's service promises: quantity -> limit [s]."""
    return {name: limit for name, (at, limit) in stated(scenario.file.limits).items() if at == MEAN}


def alerts() -> None:
    """Five alerts with their thresholds, for three deployments."""
    plans = {title: catalogue.load_scenario(name, overrides=list(overrides))
             for title, (name, overrides) in WATCHED.items()}
    of = {title: predicted(plan) for title, plan in plans.items()}
    columns: dict[str, Any] = {"alert": common("alert"), "metric": say("metric-of-vllm"),
                               **{title: title for title in of}, "means": say("if-it-fires")}
    rows: list[dict[str, Any]] = [
        {"alert": say("ttft-mean-above"), "metric": "ttft",
         "means": say("prompts-compute-links-or-queue")},
        {"alert": say("tpot-mean-above"), "metric": "between",
         "means": say("memory-links-host-or-more")},
        {"alert": say("token-s-below-at-full"), "metric": "generated",
         "means": say("any-of-these-for-all")},
        {"alert": say("kv-share-above"), "metric": "occupied",
         "means": say("longer-texts-than-planned")},
        {"alert": say("preemptions-per-second-above"), "metric": "preempted",
         "means": say("cache-is-full-work-is")}]
    for title, each in of.items():
        occupied = each.occupied.high if each.occupied else 1.0
        for row, text in zip(rows, (
                *(fmt_quantity(promised(plans[title]).get(name, getattr(each, name).high), "s")
                  for name in ("ttft", "tpot")),
                fmt_quantity(BUSY * each.throughput.low, "token/s"),
                fmt_percent(min(1.0, occupied), 0), "0"), strict=True):
            row[title] = text
    for row in rows:
        row["metric"] = f"`{METRICS['vllm'][row['metric']][0]}`"
    table(rows, columns, wide=True)


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
    rows = []
    for name, cause in CAUSES.items():
        if name in ONCE:
            continue
        row: dict[str, Any] = {"cause": cause.name}
        for key, own in (("limit", False), ("bench", True)):
            at = caught(name, own)
            row[key] = "–" if at is None else f"×{fmt_sig(at[0], 2)} ({SIGNS[at[1]][0]})"
            if at is not None and name in ("memory", "links", "clock"):
                number(f"mo-caught-{name}-{key}", at[0], fmt_sig, digits=2)
        rows.append(row)
    of = forecast()
    assert of.occupied is not None
    number("mo-own", OWN, fmt_percent, digits=0)
    table(rows, {"cause": say("worse-by-factor-of"),
                 "limit": say("fires-by-limits-of-service"),
                 "bench": say("fires-thresholds-beyond-bench", by=fmt_percent(OWN, 0))})


LOOKED: dict[str, Pair] = {
    "ttft": common("time-to-first-token"),
    "between": say("time-between-tokens"),
    "pace": say("time-per-output-token-of"),
    "generated": say("output-tokens"), "running": say("requests-running"),
    "waiting": say("requests-waiting"), "occupied": say("share-of-kv-cache"),
    "preempted": say("preemptions"), "hits": say("prefix-hits"),
    "accepted": say("drafts-accepted")}


BESIDES: dict[str, tuple[Pair, dict[str, str]]] = {
    "queue": (say("time-in-queue"), {
        "vllm": "vllm:request_queue_time_seconds", "sglang": "sglang:queue_time_seconds"}),
    "flops": (say("operations-as-engine-estimates-them"), {
        "vllm": "vllm:estimated_flops_per_gpu_total",
        "sglang": "sglang:estimated_flops_per_gpu_total"}),
    "bytes": (say("bytes-read-as-engine-estimates"), {
        "vllm": "vllm:estimated_read_bytes_per_gpu_total",
        "sglang": "sglang:estimated_read_bytes_per_gpu_total"}),
    "balance": (say("uneven-tokens-of-data-parallel"), {
        "sglang": "sglang:dp_attention_token_imbalance_ratio"})}


def releases() -> None:
    """Which metric tells what, by engine, with the releases that have it."""
    rows = []
    looked = {key: (title, {name: known.get(key, ()) for name, known in METRICS.items()})
              for key, title in LOOKED.items()}
    looked |= {key: (title, {name: (metric,) for name, metric in found.items()})
               for key, (title, found) in BESIDES.items()}
    for title, names in looked.values():
        row: dict[str, Any] = {"what": title}
        for name in METRICS:
            engine = load_engine(name)
            parts = []
            for metric in names.get(name, ()):
                entry = engine.find(metric)
                if entry is not None:
                    until = f"–{entry.until}" if entry.until else "–"
                    parts.append(f"`{metric}` ({entry.since}{until})")
            row[name] = "<br>".join(parts) or "–"
        rows.append(row)
    table(rows, {"what": common("what"), "vllm": "vLLM", "sglang": "SGLang"}, wide=True,
          folded=say("metrics-by-release-of-vllm"))


@cache
def thresholds() -> tuple[str, ...]:
    """Numbers of the documents' claims that are thresholds of alerts."""
    return tuple(each.claim.id for each in listed()[0] if each.claim.alert is not None)


def documents() -> None:
    """The documents' thresholds by what they would do."""
    rows = [row for row in claims.select_claims(" ".join(thresholds()))
            if row.judgement.verdict == judging.THRESHOLD]
    order = (judging.ALWAYS, judging.PERHAPS, judging.LATE, judging.NEVER, judging.SOUND)
    counts = Counter((row.case.listed.document, also) for row in rows
                     for also in row.judgement.also if also in order)
    table([{"also": ALSO[also]} | {document: counts[document, also] for document in ("s0", "s1")}
           for also in order],
          {"also": say("in-normal-operation"), "s0": "S0", "s1": "S1"})
    number("mo-judged", len(rows))
    for also in order:
        number(f"mo-{also}", sum(counts[document, also] for document in ("s0", "s1")))
