"""Prometheus: what it scrapes, the rules with their thresholds, and unit tests of each rule."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import yaml

from calc.answer.simulated_load import simulate_load
from calc.launching.scripts import MADE, Pool
from calc.launching.watching.alerts import DOWN, HOLD, WINDOW, Alert, alert_name, alerts
from calc.launching.watching.healthy import healthy
from calc.launching.watching.objectives import NAMES, stated
from calc.launching.watching.predictions import Predicted
from calc.launching.watching.signals import STEPS, Quantile, Series
from calc.yamltext import PlainDumper
from catalogue.entries.entry import MEAN
from catalogue.entries.profiles import in_order
from catalogue.reading.amounts import human
from catalogue.reading.units import DAY, HOUR, MINUTE

SCRAPED = "15s"
STEP = 15.0  # seconds, of the unit tests
EVALUATED, SELDOM = 60.0, 900.0  # seconds between evaluations in them
BEYOND = 1.1  # times the threshold, or less by as much: where a test looks
SECONDS = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY}
RULES, TESTS, SCRAPES = "alerts.yml", "alerts.test.yml", "prometheus.yml"
PROMISES = "promises.test.yml"
EVERY_NODE = "0.4.10"  # release from which every node of an SGLang server exports metrics


@dataclass(frozen=True)
class Broken:
    """A promise that is not kept by the prediction.

    Attributes:
        alert: on it.
        quantity: ``ttft``, ``tpot`` or ``e2e``.
        value: that is predicted [s].
        share: of the requests, simulated, for which it is; None of the mean.
    """

    alert: Alert
    quantity: str
    value: float
    share: float | None

    @property
    def sentence(self) -> str:
        """It, as the files say it."""
        told = ("on average" if self.share is None
                else f"of {self.share:.0%} of the requests, simulated")
        return f"{self.alert.summary} Predicted: {human(self.value, 's')} {told}."


@dataclass(frozen=True)
class Watched:
    """A pool, what is predicted of it, and the alerts that follow.

    Attributes:
        pool, predicted, alerts: as said.
        seen: of what is promised at a percentile, the times of simulated requests [s].
    """

    pool: Pool
    predicted: Predicted
    alerts: tuple[Alert, ...]
    seen: Mapping[str, np.ndarray] = field(default_factory=dict)

    @property
    def unkept(self) -> dict[str, str]:
        """Alerts on promises that the prediction itself breaks, each with a sentence."""
        return {each.alert.name: each.sentence for each in self.broken}

    @property
    def broken(self) -> list[Broken]:
        """Promises that the prediction itself breaks."""
        found = []
        for alert in self.alerts:
            quantity = next((key for key, name in NAMES.items() if name in alert.name), None)
            if not alert.windows or quantity is None:
                continue
            value, share = float(getattr(self.predicted, quantity).value), None
            if isinstance(alert.signal, Quantile) and quantity in self.seen:
                share = alert.signal.share
                value = float(np.quantile(self.seen[quantity], share))
            if value > alert.threshold:
                found.append(Broken(alert, quantity, value, share))
        return found


def watched(pool: Pool, of: Predicted) -> Watched:
    """A pool with its alerts; what is promised at a percentile is simulated.

    Raises ParamsError, one sentence, for a promise at a percentile of what cannot be simulated.
    """
    at = {name for name, (of_what, _) in stated(pool.scenario.file.limits).items()
          if of_what != MEAN}
    seen = simulate_load(pool.scenario).summary if at and pool.role == "both" else None
    return Watched(pool, of, tuple(alerts(pool, of)),
                   {name: getattr(seen, name).values for name in at} if seen else {})


def targets(pool: Pool) -> list[str]:
    """Addresses that export metrics: those that answer; of SGLang every node.

    The other nodes of a vLLM server have no address; those of early SGLang export nothing.
    """
    parts = pool.layout.heads
    if pool.release.name == "sglang" and in_order(pool.release.version) >= in_order(
            EVERY_NODE):
        parts = list(pool.layout.parts)
    return [f"{pool.hosts[part.node]}:{part.port}" for part in parts]


def scrapes(pools: Iterable[Pool], interval: str = SCRAPED) -> dict[str, Any]:
    """The configuration of Prometheus."""
    return {"global": {"scrape_interval": interval, "evaluation_interval": interval},
            "rule_files": [RULES],
            "scrape_configs": [{"job_name": pool.name, "metrics_path": "/metrics",
                                "static_configs": [{"targets": targets(pool)}]}
                               for pool in pools]}


def rules(of: Sequence[Watched], window: str = WINDOW, hold: str = HOLD, down: str = DOWN
          ) -> dict[str, Any]:
    """The rules: of every pool, whether its servers answer, and the alerts of its predictions.

    Args:
        of: pools with their alerts.
        window: over which means and rates are taken.
        hold: how long an alert has to hold.
        down: how long a server has to be gone.
    """
    return {"groups": [{"name": each.pool.name, "rules": [
        *_down(each.pool, down), *(alert.rule(window, hold) for alert in each.alerts)]}
        for each in of]}


def _down(pool: Pool, hold: str) -> list[dict[str, Any]]:
    labels = {"severity": "critical", "deployment": pool.scenario.id, "pool": pool.name}
    where = f'up{{job="{pool.name}"}}'
    wide = (" It shares experts with the others of its server, which stop with it."
            if pool.layout.span > 1 else "")
    return [
        {"alert": alert_name("ServerDown", pool), "expr": f"{where} == 0", "for": hold,
         "labels": labels, "annotations": {"summary": "A server does not answer.",
                         "description": "{{ $labels.instance }} is not scraped." + wide}},
        {"alert": alert_name("ServersMissing", pool), "expr": f"absent({where})", "for": hold,
         "labels": labels,
         "annotations": {"summary": "No server of the pool is scraped.",
                         "description": "There is nothing to watch."}}]


def tests(of: Sequence[Watched]) -> dict[str, Any]:
    """Unit tests of the rules: each fires beyond its threshold and is silent short of it.

    Those over hours and days, on what is promised, are :func:`tests_of_promises`.
    """
    return {"rule_files": [RULES], "evaluation_interval": f"{EVALUATED:g}s",
            "tests": [test for each in of for test in (
                *_of_down(each.pool), *(one for alert in each.alerts if not alert.windows
                                        for one in _of_alert(alert)), _healthy(each))]}


def tests_of_promises(of: Sequence[Watched]) -> dict[str, Any]:
    """Unit tests of the rules over hours and days, evaluated as seldom."""
    return {"rule_files": [RULES], "evaluation_interval": f"{SELDOM:g}s",
            "tests": [one for each in of for alert in each.alerts if alert.windows
                      for one in _of_alert(alert)]}


def _of_alert(alert: Alert) -> list[dict[str, Any]]:
    """Beyond the threshold, short of it, and where there is a condition, without it."""
    beyond = (BEYOND * alert.threshold if alert.above else alert.threshold / BEYOND)
    short = alert.threshold / BEYOND if alert.above else BEYOND * alert.threshold
    if not alert.threshold:
        beyond, short = 1.0, 0.0
    other, least = alert.only or (None, 0.0)
    held, step = other.series(BEYOND * least, STEP) if other else [], alert.step
    whole = sum(seconds(each) for each in alert.windows[:1])
    found = [_test(f"{alert.name} fires", [*alert.signal.series(beyond, step), *held],
                   {alert.name: [_fired(alert, beyond)]}, step, whole),
             _test(f"{alert.name} is silent", [*alert.signal.series(short, step), *held],
                   {alert.name: []}, step, whole)]
    if other:
        idle = other.series(least / BEYOND, STEP)
        found.append(_test(f"{alert.name} is silent while little is asked",
                           [*alert.signal.series(beyond, STEP), *idle], {alert.name: []}))
    return found


def _healthy(each: Watched) -> dict[str, Any]:
    """Everything as it is predicted, and nothing fires but what the prediction does not keep."""
    series: dict[str, str] = {}
    for name, values in healthy(each.pool, each.predicted, STEP, each.seen):
        series.setdefault(name, values)
    target = targets(each.pool)[0]
    series[f'up{{job="{each.pool.name}",instance="{target}"}}'] = f"1+0x{STEPS}"
    return _test(f"{each.pool.name}: as predicted, nothing fires", list(series.items()),
                 {name: [] for name in (*(alert.name for alert in each.alerts
                                          if alert.name not in each.unkept),
                                        *(rule["alert"] for rule in _down(each.pool, DOWN)))})


def _fired(alert: Alert, value: float) -> dict[str, Any]:
    rule = alert.rule()
    return {"exp_labels": rule["labels"],
            "exp_annotations": alert.annotations(f"{value:.3g}")}


def _of_down(pool: Pool) -> list[dict[str, Any]]:
    down, missing = _down(pool, DOWN)
    labels = {**down["labels"], "job": pool.name, "instance": targets(pool)[0]}
    series = f'up{{job="{pool.name}",instance="{labels["instance"]}"}}'
    told = {**down["annotations"], "description": down["annotations"]["description"].replace(
        "{{ $labels.instance }}", labels["instance"])}
    return [
        _test(f"{pool.name}: a server that is down", [(series, f"0+0x{STEPS}")],
              {down["alert"]: [{"exp_labels": labels, "exp_annotations": told}]}),
        _test(f"{pool.name}: servers that answer", [(series, f"1+0x{STEPS}")],
              {down["alert"]: []}),
        _test(f"{pool.name}: no server", [("nothing", f"1+0x{STEPS}")],
              {missing["alert"]: [{"exp_labels": {**missing["labels"], "job": pool.name},
                                   "exp_annotations": missing["annotations"]}]}),
        _test(f"{pool.name}: a server", [(series, f"1+0x{STEPS}")],
              {missing["alert"]: []})]


def _test(name: str, series: Series, expected: Mapping[str, list[dict[str, Any]]],
          step: float = STEP, whole: float = 0.0) -> dict[str, Any]:
    """A unit test: what fires of each alert when its windows are full and it held long enough."""
    between = SELDOM if whole else EVALUATED
    least = max(whole, seconds(WINDOW) + seconds(HOLD)) + 2 * max(step, between)
    at = math.ceil(least / between) * between
    return {"name": name, "interval": f"{step:g}s",
            "input_series": [{"series": each, "values": values} for each, values in series],
            "alert_rule_test": [{"eval_time": f"{at:g}s", "alertname": alert, "exp_alerts": fired}
                                for alert, fired in expected.items()]}


def seconds(text: str) -> float:
    """A duration of Prometheus [s].

    >>> seconds("5m")
    300.0
    """
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if match is None:
        raise ValueError(f"'{text[:20]}' is not a duration, expected one such as 5m")
    return float(int(match[1]) * SECONDS[match[2]])


def written(data: Any, about: str) -> str:
    """Data as YAML, texts quoted where they need it, below a line that says what it is."""
    body = yaml.dump(data, Dumper=PlainDumper, sort_keys=False, allow_unicode=True, width=100)
    return f"# {about} {MADE}\n{body}"


def files(of: Sequence[Watched]) -> dict[str, str]:
    """What Prometheus needs, by path in the directory."""
    promised = any(alert.windows for each in of for alert in each.alerts)
    own = {f"monitoring/{PROMISES}": written(
        tests_of_promises(of), f"promtool test rules {PROMISES}.")} if promised else {}
    return own | {
        f"monitoring/{SCRAPES}": written(scrapes(each.pool for each in of),
                                         "What Prometheus scrapes."),
        f"monitoring/{RULES}": written(
            rules(of), "Thresholds are limits of the service, else predictions."),
        f"monitoring/{TESTS}": written(tests(of), "promtool test rules alerts.test.yml.")}
