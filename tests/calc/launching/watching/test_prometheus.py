"""Debian's Prometheus with a deployment's rules: an alert fires on real metric names, and resolves.

A small exporter stands for the server and serves the names that the release's catalogue has. Only
the windows are shorter than those that are written for a reader.
"""

import http.server
import json
import os
import socket
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest
import yaml
from _launch import done, needs

from calc.launching.deployment import deployment
from calc.launching.watching import monitoring
from catalogue.engines.engine import load_engine

WINDOW, HOLD, EVERY = "4s", "1s", "1s"
PATIENCE = 40.0  # seconds until a state that has to come
PACE = "TimePerOutputTokenAbovePrediction"


class Exporter:
    """A server's metrics page, whose counters grow with time at a pace that a test sets."""

    def __init__(self, metrics):
        self.metrics, self.sums, self.pace = metrics, 0.0, 0.0
        self.observed, self.since, self.lock = 0.0, time.monotonic(), threading.Lock()
        outer = self

        class Page(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = outer.page().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        """Answer no more."""
        self.server.shutdown()
        self.server.server_close()

    def at(self, pace):
        """From now on, a token takes so long [s]."""
        with self.lock:
            self._advance()
            self.pace = pace

    def _advance(self):
        now = time.monotonic()
        self.observed += 100 * (now - self.since)
        self.sums += 100 * (now - self.since) * self.pace
        self.since = now

    def page(self):
        """Metrics as vLLM exports them: a histogram's sum and count, counters, gauges."""
        with self.lock:
            self._advance()
            lines = []
            for name, kind in self.metrics.items():
                labels = 'model_name="deepseek-v3",engine="0"'
                lines.append(f"# TYPE {name} {kind}")
                if kind != "histogram":
                    lines.append(f"{name}{{{labels}}} 0")
                    continue
                total = self.sums if "per_output_token" in name else 1e-3 * self.observed
                lines += [f'{name}_bucket{{{labels},le="+Inf"}} {self.observed:.9g}',
                          f"{name}_sum{{{labels}}} {total:.9g}",
                          f"{name}_count{{{labels}}} {self.observed:.9g}"]
            return "\n".join(lines) + "\n"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def running(tmp_path):
    """Prometheus on the deployment's own rules and scrape configuration, and its exporter."""
    found = deployment("h200-r1-vllm-tp8")
    watched, release = found.watched, found.pools[0].release
    catalogue = load_engine("vllm")
    names = {name for each in watched for alert in each.alerts
             for name in _metrics(alert.expression(WINDOW))}
    known = {name: catalogue.state(name, release.version).type for name in names}
    exporter = Exporter(known)
    rules = monitoring.rules(watched, WINDOW, HOLD, HOLD)
    config = monitoring.scrapes(found.pools, EVERY)
    config["scrape_configs"][0]["static_configs"][0]["targets"] = [f"127.0.0.1:{exporter.port}"]
    for name, data in ((monitoring.RULES, rules), (monitoring.SCRAPES, config)):
        (tmp_path / name).write_text(yaml.safe_dump(data), encoding="utf-8")
    assert done("promtool", "check", "config", monitoring.SCRAPES, folder=tmp_path).returncode == 0
    port = free_port()
    with (tmp_path / "log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            ["prometheus", f"--config.file={tmp_path / monitoring.SCRAPES}",
             f"--storage.tsdb.path={tmp_path / 'data'}", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=log, stderr=log, env={**os.environ, "GOMAXPROCS": "1"})
    yield f"http://127.0.0.1:{port}", exporter, watched[0]
    process.terminate()
    process.wait(timeout=PATIENCE)
    exporter.close()


def _metrics(expression):
    return {part.removesuffix("_sum").removesuffix("_count") for part in
            expression.replace("(", " ").replace("{", " ").split() if part.startswith("vllm:")}


def ask(url, path, **query):
    with urllib.request.urlopen(f"{url}{path}?{urllib.parse.urlencode(query)}", timeout=5) as page:
        return json.load(page)["data"]


def firing(url):
    """Alerts that fire, by name."""
    return {alert["labels"]["alertname"]: alert for alert in ask(url, "/api/v1/alerts")["alerts"]
            if alert["state"] == "firing"}


def until(what, condition):
    """Wait for a state. Fails with what it was waited for."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            if condition():
                return
        except (OSError, IndexError):  # it does not listen yet, or has no sample
            pass
        time.sleep(0.3)
    pytest.fail(f"waited {PATIENCE:g} s for {what}")


@needs("prometheus", "promtool")
def test_an_alert_fires_and_resolves(running):
    url, exporter, watched = running
    tpot = watched.predicted.tpot
    exporter.at(tpot.value)
    until("a scrape", lambda: ask(url, "/api/v1/query", query='up{job="serve"}')["result"][0][
        "value"][1] == "1")
    rules = ask(url, "/api/v1/rules")["groups"][0]["rules"]
    assert {rule["name"] for rule in rules} >= {alert.name for alert in watched.alerts}
    assert all(rule["health"] != "err" for rule in rules)
    until("samples of a whole window", lambda: ask(
        url, "/api/v1/query", query=watched.alerts[1].signal.expression(WINDOW))["result"])
    assert PACE not in firing(url)  # as predicted
    exporter.at(1.5 * tpot.high)
    until("the alert", lambda: PACE in firing(url))
    alert = firing(url)[PACE]
    assert alert["labels"]["severity"] == "warning"
    assert alert["annotations"]["prediction"] == str(tpot)
    assert float(alert["value"]) > tpot.high
    exporter.at(tpot.value)
    until("the alert to resolve", lambda: PACE not in firing(url))
    exporter.close()
    until("the server to be missed", lambda: "ServerDown" in firing(url))
