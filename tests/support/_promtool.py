"""Unit tests of alerts for promtool, generated from the numbers of the rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from calc.launching.monitoring import (
    DOWN,
    HOLD,
    RULES,
    SHOWN,
    WINDOW,
    Alert,
    Signal,
    Watched,
    down_rules,
    rule,
    targets,
)

SAMPLES, STEP = 400, 15.0  # of a series; seconds between them
WIDER = {"1h": 15.0, "6h": 120.0, "3d": 900.0}  # the same for alerts over a long window
EVALUATED, SELDOM = 60.0, 900.0  # seconds between evaluations
BEYOND = 1.1  # times the threshold, or less by as much


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
    """Each alert fires beyond its threshold and is silent short of it.

    Args:
        of: pools with their alerts.
        promised: whether of alerts over hours and days, evaluated as seldom, or of the others.
    """
    tests = [test for pool in of for alert in pool.alerts if bool(alert.windows) == promised
             for test in _alert_tests(alert, pool)]
    if not promised:
        tests += [test for pool in of for test in _down_tests(pool)]
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
