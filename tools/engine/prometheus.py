"""A real Prometheus with the generated rules, their durations divided by one factor."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tools.engine.running_server import ask, process, startup_time, within

FASTER = 15  # a scrape each second instead of every 15; 5 minutes become 20 seconds
ADDRESS = "127.0.0.1:9187"
SCRAPED = 60.0  # s, at most, until all targets are
MILLISECONDS = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION = re.compile(r"(\d+)(ms|[smhd])")
_RANGE = re.compile(r"\[([^\]]+)\]")
_METRIC = re.compile(r"\b(?:vllm|sglang):[A-Za-z0-9_]+")


def faster(duration: str) -> str:
    """A duration of Prometheus divided by the factor.

    >>> faster("5m"), faster("0s")
    ('20000ms', '0ms')
    """
    return _DURATION.sub(
        lambda match: f"{int(match[1]) * MILLISECONDS[match[2]] // FASTER}ms", duration)


def scaled(rules: dict[str, Any]) -> dict[str, Any]:
    """Rules with all of their durations divided: ranges, and times until they fire."""
    return {"groups": [group | {"rules": [rule | {
        "expr": _RANGE.sub(lambda match: f"[{faster(match[1])}]", rule["expr"]),
        "for": faster(rule["for"])} for rule in group["rules"]]} for group in rules["groups"]]}


def metrics(rules: dict[str, Any]) -> set[str]:
    """Names of the engine's metrics in rules."""
    return {name for group in rules["groups"] for rule in group["rules"]
            for name in _METRIC.findall(rule["expr"])}


def exported(text: str) -> set[str]:
    """Names of the series of an exporter's page.

    >>> sorted(exported("# HELP a b\\na_sum{c=\\"d\\"} 1\\nb 2\\n"))
    ['a_sum', 'b']
    """
    return {re.split(r"[{ ]", line, maxsplit=1)[0] for line in text.splitlines()
            if line and not line.startswith("#")}


def query(path: str) -> Any:
    """Data of a response of Prometheus."""
    return json.loads(ask(f"http://{ADDRESS}/api/v1/{path}"))["data"]


@contextlib.contextmanager
def prometheus(monitoring: Path, folder: Path) -> Iterator[None]:
    """Prometheus on the generated files, faster.

    Args:
        monitoring: folder of a directory that ``deploy`` wrote.
        folder: for the rewritten files, the data and the log.

    Raises RuntimeError if it is not installed or does not start.
    """
    program = shutil.which("prometheus")
    if program is None:
        raise RuntimeError("prometheus is not installed, expected Debian's package prometheus.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    config, rules = (yaml.safe_load((monitoring / name).read_text(encoding="utf-8"))
                     for name in ("prometheus.yml", "alerts.yml"))
    config["global"] = {name: faster(value) for name, value in config["global"].items()}
    for name, data in (("prometheus.yml", config), ("alerts.yml", scaled(rules))):
        (folder / name).write_text(yaml.safe_dump(data), encoding="utf-8")
    command = [program, f"--config.file={folder / 'prometheus.yml'}",
               f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={ADDRESS}",
               "--log.level=warn"]
    with process(command, folder / "log", dict(os.environ)) as started:
        if startup_time(started, f"http://{ADDRESS}/-/ready") is None:
            raise RuntimeError(f"prometheus does not start: {(folder / 'log').read_text()[-300:]}")
        # Prometheus finds its targets 5 s after it starts, which divided durations do not allow for
        if not within(SCRAPED, all_targets_up) or not within(SCRAPED, lambda: not firing()):
            raise RuntimeError(f"prometheus scrapes nothing, though it waited {SCRAPED:g} s.")
        yield


def all_targets_up() -> bool:
    """Whether there are targets and all of them are up."""
    targets = query("query?query=up")["result"]
    return bool(targets) and all(target["value"][1] == "1" for target in targets)


def firing() -> set[str]:
    """Names of the alerts that fire now."""
    return {alert["labels"]["alertname"] for alert in query("alerts")["alerts"]
            if alert["state"] == "firing"}


def failing_rules() -> dict[str, str]:
    """Rules that cannot be evaluated, with the reason; none before the first evaluation."""
    return {rule["name"]: rule.get("lastError") or rule["health"]
            for group in query("rules")["groups"] for rule in group["rules"]
            if rule["health"] != "ok"}


def watch(seconds: float, until: set[str] | None = None) -> set[str]:
    """All alerts that fire at some moment of a time; it ends early once all of `until` did."""
    seen = set[str]()

    def look() -> bool:
        seen.update(firing())
        return until is not None and until <= seen

    within(seconds, look)
    return seen
