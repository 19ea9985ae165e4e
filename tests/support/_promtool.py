"""Unit tests of alerts for promtool, generated from the numbers of the rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from calc.answer.simulated_load import simulate_load
from calc.launching.monitoring import (
    DOWN,
    HOLD,
    METRICS,
    NAMES,
    RAREST,
    RULES,
    SHOWN,
    WINDOW,
    Alert,
    Signal,
    Watched,
    down_rules,
    limits_of_pool,
    rule,
    targets,
)
from catalogue.entries.entry import MEAN

SAMPLES, STEP = 400, 15.0  # of a series; seconds between them
WIDER = {"1h": 15.0, "6h": 120.0, "3d": 900.0}  # the same for alerts over a long window
EVALUATED, SELDOM = 60.0, 900.0  # seconds between evaluations
BEYOND = 1.1  # times the threshold, or less by as much
DOUBLINGS, FINE = 12, 4  # bounds of a histogram from an eighth of its mean; bounds per doubling


def seconds(duration: str) -> float:
    """A duration of Prometheus such as ``5m`` [s]."""
    return float(int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[duration[-1]])


def ramp(slope: float) -> str:
    return f"0+{slope:.9g}x{SAMPLES}"


def level(value: float) -> str:
    return f"{value:.9g}+0x{SAMPLES}"


def series(signal: Signal, value: float, step: float = STEP) -> dict[str, str]:
    """Series that give a signal a value, one sample every ``step`` seconds."""
    at = f'{{job="{signal.job}"}}'
    first, second = (*signal.metrics, "")[:2]
    match signal.kind:
        case "mean":
            return {f"{first}_sum{at}": ramp(value * step), f"{first}_count{at}": ramp(step)}
        case "quantile":
            return {f'{first}_bucket{{job="{signal.job}",le="{bound}"}}': ramp(step)
                    for bound in (f"{value / signal.number:.9g}", "+Inf")}
        case "pace":  # a request a second, of two tokens
            return {f"{first}_sum{at}": ramp(value * step), f"{second}_sum{at}": ramp(2 * step),
                    f"{second}_count{at}": ramp(step)}
        case "rate":
            return {f"{first}{at}": ramp(value * step)}
    return {f"{gauge}{at}": level(value / len(signal.metrics)) for gauge in signal.metrics}


def unit_tests(of: Sequence[Watched], promised: bool) -> dict[str, Any]:
    """Each alert fires beyond its threshold and is silent short of it; healthy pools are silent.

    Args:
        of: pools with their alerts.
        promised: whether of alerts over hours and days, evaluated as seldom, or of the others.
    """
    tests = [test for pool in of for alert in pool.alerts if bool(alert.windows) == promised
             for test in _alert_tests(alert, pool)]
    if not promised:
        tests += [test for pool in of for test in (*_down_tests(pool), _healthy_test(pool))]
    return {"rule_files": [RULES], "tests": tests,
            "evaluation_interval": f"{SELDOM if promised else EVALUATED:g}s"}


def _alert_tests(alert: Alert, pool: Watched) -> Iterator[dict[str, Any]]:
    """Beyond the threshold, short of it, and where there is a condition, without it."""
    beyond, short = ((BEYOND, 1 / BEYOND) if alert.above else (1 / BEYOND, BEYOND))
    values = ((beyond * alert.threshold, short * alert.threshold) if alert.threshold
              else (1.0, 0.0))
    other, least = alert.only or (None, 0.0)
    busy = series(other, BEYOND * least) if other else {}
    long = alert.windows[0] if alert.windows else ""
    written = rule(alert, pool.pool)
    fired = {"exp_labels": written["labels"], "exp_annotations": {
        **written["annotations"], "description": written["annotations"]["description"].replace(
            SHOWN, f"{values[0]:.3g}")}}
    step = WIDER.get(long, STEP)
    for value, expected in zip(values, ([fired], []), strict=True):
        yield _test(f"{alert.name} at {value:g}", series(alert.signal, value, step) | busy,
                    {alert.name: expected}, step, seconds(long) if long else 0.0)
    if other:
        yield _test(f"{alert.name} while idle", series(alert.signal, values[0])
                    | series(other, least / BEYOND), {alert.name: []})


def _healthy_test(pool: Watched) -> dict[str, Any]:
    """Everything as predicted: nothing fires but what the prediction exceeds."""
    up = f'up{{job="{pool.pool.name}",instance="{targets(pool.pool)[0]}"}}'
    names = [alert.name for alert in pool.alerts if not _exceeded(pool, alert)]
    names += [down["alert"] for down in down_rules(pool.pool)]
    return _test(f"{pool.pool.name}: as predicted", healthy(pool) | {up: level(1)},
                 {name: [] for name in names})


def simulated(pool: Watched) -> dict[str, np.ndarray]:
    """Times of simulated requests, of quantities that are promised at a percentile [s]."""
    names = [name for name, (at, _) in limits_of_pool(pool.pool).items() if at != MEAN]
    if not names or pool.pool.role != "both":
        return {}
    users = simulate_load(pool.pool.scenario).summary
    return {name: getattr(users, name).values for name in names}


def _exceeded(pool: Watched, alert: Alert) -> bool:
    """Whether the prediction itself exceeds the limit of an alert."""
    quantity = next((key for key, name in NAMES.items() if name in alert.name), "")
    if not alert.windows or not quantity:
        return False
    value, times = getattr(pool.predicted, quantity).value, simulated(pool)
    if alert.signal.kind == "quantile" and quantity in times:
        value = np.quantile(times[quantity], alert.signal.number)
    return bool(value > alert.threshold)


def _down_tests(pool: Watched) -> Iterator[dict[str, Any]]:
    down, missing = down_rules(pool.pool)
    labels = {**down["labels"], "job": pool.pool.name, "instance": targets(pool.pool)[0]}
    up = f'up{{job="{pool.pool.name}",instance="{labels["instance"]}"}}'
    words = {**down["annotations"], "description": down["annotations"]["description"].replace(
        "{{ $labels.instance }}", labels["instance"])}
    gone = {"exp_labels": {**missing["labels"], "job": pool.pool.name},
            "exp_annotations": missing["annotations"]}
    for name, given, alert, expected in (
            ("a server is down", {up: level(0)}, down["alert"],
             [{"exp_labels": labels, "exp_annotations": words}]),
            ("servers answer", {up: level(1)}, down["alert"], []),
            ("no server", {"nothing": level(1)}, missing["alert"], [gone]),
            ("a server", {up: level(1)}, missing["alert"], [])):
        yield _test(f"{pool.pool.name}: {name}", given, {alert: expected})


def _test(name: str, given: Mapping[str, str], expected: Mapping[str, list[dict[str, Any]]],
          step: float = STEP, window: float = 0.0) -> dict[str, Any]:
    """What fires of each alert when its windows are full and it held long enough."""
    between = SELDOM if window else EVALUATED
    least = max(window, seconds(WINDOW) + max(seconds(HOLD), seconds(DOWN))) + 2 * max(
        step, between)
    at = math.ceil(least / between) * between
    return {"name": name, "interval": f"{step:g}s",
            "input_series": [{"series": key, "values": values} for key, values in given.items()],
            "alert_rule_test": [{"eval_time": f"{at:g}s", "alertname": alert, "exp_alerts": fired}
                                for alert, fired in expected.items()]}


def healthy(pool: Watched, step: float = STEP) -> dict[str, str]:
    """Metrics of a pool in the predicted steady state, one sample every ``step`` seconds.

    What is promised at a percentile is as simulated. Other first tokens wait as an exponential
    variable with the predicted mean: of all with that mean it assumes least. Tokens come at the
    predicted pace, and nothing is preempted or waits beyond what is predicted.
    """
    of, release, inputs = pool.predicted, pool.pool.release, pool.pool.scenario.inputs()
    engine = "sglang" if release.name == "sglang" else "vllm"
    rate, later = of.requests.value, max(0.0, of.answer - 1)
    times, accepted = simulated(pool), inputs["accepted_length"] or 1.0
    counters = {
        "generated": rate * of.answer, "prompted": rate * of.prompt,
        "hits": rate * of.prompt * inputs["prefix_hit_share"],
        "accepted": rate * of.answer * (1 - 1 / max(1.0, accepted)),
        "preempted": (of.overflow * pool.pool.scenario.replicas / of.tpot.value
                      if of.overflow >= RAREST else 0.0)}
    gauges = {"running": of.in_flight, "waiting": 0.0,
              "occupied": of.occupied.value if of.occupied else 0.0}
    if engine == "sglang":  # a gauge of the length, not a counter
        gauges["accepted"] = accepted
        del counters["accepted"]
    observed = {"ttft": (rate, of.ttft.value), "e2e": (rate, of.e2e.value),
                "pace": (rate, of.tpot.value), "answers": (rate, of.answer),
                "decoded": (rate, later * of.tpot.value),
                "between": (rate * later, of.tpot.value)}
    result: dict[str, str] = {}
    for key, names in METRICS[engine].items():
        if not release.exports(*names):
            continue
        name, at = release.metric(*names), f'{{job="{pool.pool.name}"}}'
        if key in counters:
            own = {f"{name}{at}": ramp(counters[key] * step)}
        elif key in gauges:
            own = {f"{name}{at}": level(gauges[key])}
        else:
            values = times.get({"pace": "tpot"}.get(key, key))
            own = _histogram(name, pool.pool.name, step, *observed[key], key == "ttft", values)
        result = own | result
    return result


def _histogram(name: str, job: str, step: float, rate: float, mean: float, spread: bool,
               values: np.ndarray | None) -> dict[str, str]:
    """What a histogram counts: of given values, of an exponential variable, or all at the mean."""
    mean = mean if values is None else float(values.mean())
    bounds = mean / 8 * 2 ** (np.arange(FINE * DOUBLINGS) / FINE)
    below = ((bounds[:, None] >= values).mean(axis=1) if values is not None
             else 1 - np.exp(-bounds / mean) if spread else (bounds >= mean).astype(float))
    shares = dict(zip((f"{bound:.9g}" for bound in bounds), below, strict=True)) | {"+Inf": 1.0}
    return {f'{name}_bucket{{job="{job}",le="{bound}"}}': ramp(rate * share * step)
            for bound, share in shares.items()} | {
        f'{name}_sum{{job="{job}"}}': ramp(rate * mean * step),
        f'{name}_count{{job="{job}"}}': ramp(rate * step)}
