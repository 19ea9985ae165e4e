"""From scenario to service: a deployment's files and thresholds, the documents' beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from calc.launching.bench import Bench
from calc.launching.deployment import Deployment, deployment
from calc.launching.watching.alerts import BUSY
from calc.launching.watching.monitoring import Watched
from calc.launching.watching.predictions import Predicted
from calc.uncertainty.amount import Amount
from catalogue.engines.assertions import asserting, assertion_coverage, assertions
from catalogue.engines.engine import Engine, launch_blocks
from catalogue.engines.successors import instead, successors
from catalogue.engines.thresholds import Threshold, thresholds
from catalogue.messages import Pair, messages
from notebooks.show import figures
from notebooks.show.display import draw, number, show, table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_quantity

common = messages("common")
say = messages("pages/deciding/service")

LENGTHS = ("workload.input_tokens=1536 token", "workload.output_tokens=512 token")
# what of the documents' plans runs, in the release that a reader would take
RUNS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "s0": ("s0-scenario-1", ("precision=w8a8-int8", "parallelism.tensor_parallel=4",
                             "parallelism.pipeline_parallel=4", "parallelism.data_parallel=1",
                             *LENGTHS), "vllm-ascend@0.18.0"),
    "s1": ("s1-plan-c", ("precision=fp8-block", "parallelism.expert_parallel=32",
                         "workload.max_num_batched_tokens=8192 token", *LENGTHS), "vllm@0.13.0")}
OPEN, REST = 6, common("other-rows")  # of a table of many rows
HELD = {"s0": "vllm", "s1": "vllm"}
WHAT: dict[str, Pair] = {
    "README.md": say("what-is-where-predicted-and"), "cluster.env": say("what-operator-sets"),
    "deployment.json": say("settings-with-reasons-predictions-thresholds"),
    "nodes": say("script-and-environment-per-node"), "router": say("before-several-servers"),
    "monitoring": say("scraping-alerts-unit-tests-of"),
    "bench": say("measurements-with-what-is-predicted")}
NAMES = re.compile(r"--[a-z][a-z0-9-]*|[a-z]+:[a-z_]+|[A-Za-z]+(?:_[A-Za-z0-9]+)+")
LANGUAGES = {"sh": "bash", "env": "bash", "yml": "yaml", "json": "json", "md": "text"}


@cache
def of_document(document: str) -> Deployment:
    """What of a document's plan runs."""
    scenario, overrides, engine = RUNS[document]
    return deployment(scenario, overrides, engine=engine)


def figures_of(made: Deployment) -> None:
    """The numbers of the answer."""
    of = made.watched[-1]
    number("service_files", len(made.files) + 1)
    number("service_nodes", sum(pool.layout.nodes for pool in made.pools))
    number("service_alerts", sum(len(each.alerts) for each in made.watched))
    number("service_engine", str(made.pools[0].release), str)
    for end in ("low", "high"):
        number(f"service_tpot_{end}", fmt_quantity(getattr(of.predicted.tpot, end), "s"), str)
    number("service_busy", BUSY, fmt_percent, digits=0)
    number("service_asserted", sum(len(assertions(name)) for name in asserting()))
    number("service_releases", sum(len(assertion_coverage(name).read) for name in asserting()))
    number("service_checks",
           sum(sum(assertion_coverage(name).read.values()) for name in asserting()))


def listing(made: Deployment) -> None:
    """What stands in the directory, a row per folder."""
    groups: dict[str, list[str]] = {}
    for name in sorted(made.files):
        groups.setdefault(name.partition("/")[0], []).append(name)
    table([{"path": f"`{names[0] if len(names) == 1 else f'{group}/'}`", "files": len(names),
            "what": WHAT[group]} for group, names in groups.items()],
          {"path": say("path"), "files": say("files"), "what": common("what")})


def text_of(made: Deployment, name: str, first: int = 0, last: int | None = None,
            folded: bool = False) -> None:
    """A file of the directory as text, whole or some of its lines.

    Args:
        made: the deployment.
        name: path in the directory.
        first, last: lines, from 0.
        folded: whether it is folded under its name.
    """
    lines = made.files[name].rstrip("\n").split("\n")[first:last]
    body = "\n".join(lines)
    fence, colons = (sign * max(4, 1 + max(map(len, re.findall(f"{sign}+", body)), default=0))
                     for sign in "`:")
    kind = LANGUAGES.get(name.rpartition(".")[2], "text")
    block = f"{fence}{kind}\n{body}\n{fence}"
    shown = (f"{colons}{{dropdown}} `{name}`\n\n{block}\n\n{colons}" if folded
             else f"`{name}`\n\n{block}")
    show(shown, shown)


def alert_table(of: Iterable[Watched]) -> None:
    """Every alert: what is predicted, where it fires, why there."""
    rows = []
    for each in of:
        for alert in each.alerts:
            unit = alert.predicted.unit if alert.predicted else "1"
            rows.append({
                "alert": f"`{alert.name}`",
                "predicted": _spread(alert.predicted) if alert.predicted else "",
                "fires": say("fires-at", above=alert.above,
                             level=_level(alert.threshold, unit))})
    table(rows, {"alert": common("alert"), "predicted": say("predicted"),
                 "fires": say("fires")}, wide=True)


def _level(value: float, unit: str) -> str:
    return fmt_quantity(value, unit)


def _spread(of: Amount) -> str:
    low, value, high = (_level(each, of.unit) for each in (of.low, of.value, of.high))
    if of.low == of.high:
        return value
    return f"{value} ({low} – {high})"


def picture(made: Deployment) -> None:
    """From prediction to threshold: each quantity over its own prediction, where alerts begin."""
    draw(lambda lang: _picture(made, lang))


def _picture(made: Deployment, lang: str) -> Figure:
    first, last = made.watched[0].predicted, made.watched[-1].predicted
    rows: list[tuple[Pair, Amount, bool]] = [
        (common("time-to-first-token"), first.ttft, True),
        (common("time-per-output-token"), last.tpot, True),
        (common("output-throughput"), last.throughput, False)]
    if last.occupied is not None and last.occupied.high < 1:
        rows.append((say("share-of-kv-cache"), last.occupied, True))
    figure, axis = figures.axes(height=0.62 * len(rows) + 1.1)
    choice = ("en", "zh").index(lang)
    ends = [end for _, of, _ in rows for end in (of.high / of.value, of.value / of.low / BUSY)]
    most = 1.25 * max(ends)
    calm, blue, red = figures.PALETTE[2], figures.PALETTE[0], figures.PALETTE[3]
    for place, (name, of, above) in enumerate(reversed(rows)):
        low, high = of.low / of.value, of.high / of.value
        limit = high if above else BUSY * low
        beyond = (limit, most) if above else (1 / most, limit)
        axis.barh(place, beyond[1] - beyond[0], left=beyond[0], height=0.5, color=red, alpha=0.16)
        axis.plot([low, high], [place, place], color=blue, linewidth=7, solid_capstyle="butt")
        axis.plot([1], [place], "o", color=calm, markersize=8, zorder=3)
        axis.plot([limit, limit], [place - 0.32, place + 0.32], color=red, linewidth=2.5)
        axis.text(1, place + 0.36, _level(of.value, of.unit), ha="center", va="bottom", fontsize=9)
        word = say("alert-at", above=above, level=_level(limit * of.value, of.unit))
        axis.text(limit, place - 0.36, word[choice], color=red, ha="center", va="top",
                  fontsize=8.5)
        axis.text(0.98 / most, place, name[choice], ha="right", va="center", fontsize=10)
    axis.set_xscale("log")
    axis.set_xlim(1 / most, most)
    axis.set_ylim(-0.75, len(rows) - 0.3)
    axis.set_yticks([])
    figures.log_ticks(axis.xaxis, 1 / most, most)
    axis.set_xlabel(say("over-prediction")[choice])
    axis.spines["left"].set_visible(False)
    return figure


def settings_table(document: str) -> None:
    """Settings of a document that the release does not take, with what does it instead."""
    made = of_document(document)
    engine, version = _held(document, made)
    rows, lost = [], []
    for name, sections in _named(document).items():
        if engine.exists(name, version):
            continue
        use = instead(engine, name)
        if use is None:
            lost.append(name)
            continue
        rows.append({"setting": f"`{name}`", "section": _few(sections),
                     "instead": ", ".join(map(coded, use)) or say("nothing"),
                     "note": _why(engine, name)})
    number(f"service_{document}_release", f"{engine.title} {version}", str)
    number(f"service_{document}_gone", len(rows) + len(lost))
    number(f"service_{document}_settings", len(_named(document)))
    number(f"service_{document}_nothing", sum(row["instead"] == say("nothing") for row in rows))
    number(f"service_{document}_lost", len(lost))
    table(rows, {"setting": common("setting"), "section": common("section"),
                 "instead": say("instead"), "note": common("why")}, wide=True,
          folded=REST, first=OPEN)
    if lost:
        names = ", ".join(f"`{name}`" for name in lost)
        show(*say("without-counterpart", names=names))


def _few(sections: Sequence[str]) -> str:
    """The first sections that print a setting."""
    return ", ".join(sections[:2]) + (", …" if len(sections) > 2 else "")


def _why(engine: Engine, name: str) -> Pair:
    """Until when a release had it, and what its successor's table says."""
    entry = engine.find(name)
    until = entry.until if entry else None
    note = _note(engine, name)
    return say("had-up-to", until=until, note=note) if until else note


def _held(document: str, made: Deployment) -> tuple[Engine, str]:
    """vLLM in the release that the plan which runs is launched with."""
    return next((engine, version) for engine, version in made.pools[0].release.by
                if engine.name == HELD[document])


def _named(document: str) -> dict[str, list[str]]:
    """Settings for vLLM by name, in one spelling, with the sections that print them."""
    found: dict[str, tuple[str, list[str]]] = {}
    for block in launch_blocks(document):
        if block.engine != HELD[document] or block.form == "metrics":
            continue
        for name in block.settings:
            _, sections = found.setdefault(name.lstrip("-").replace("-", "_"), (name, []))
            sections += [block.section] if block.section not in sections else []
    return dict(found.values())


def _note(engine: Engine, name: str) -> Pair:
    """Why, as the table of successors has it."""
    known = {each.lstrip("-").replace("-", "_"): successor
             for each, successor in successors(engine.name).items()}
    entry = engine.find(name)
    for spelt in (name, entry.name if entry else name):
        if successor := known.get(spelt.lstrip("-").replace("-", "_")):
            return coded(successor.note["en"]), coded(successor.note["zh"])
    return "", ""


def coded(text: str) -> str:
    """A sentence with names of flags, metrics and variables as code.

    >>> coded("With --swap-space or vllm:num_requests_running.")
    'With `--swap-space` or `vllm:num_requests_running`.'
    """
    return NAMES.sub(r"`\g<0>`", text)


def predictions_table(document: str) -> None:
    """Thresholds that a document prints, beside what is predicted of its plan as it runs."""
    made = of_document(document)
    rows = [_beside(each, made.watched[0].predicted) for each in thresholds(document)]
    judged = [row["fires"] for row in rows if row["fires"][0]]
    number(f"service_{document}_judged", len(judged))
    number(f"service_{document}_always", sum(fires[0] == "always" for fires in judged))
    number(f"service_{document}_unwatched", sum(not each.metrics for each in thresholds(document)))
    number(f"service_{document}_thresholds", len(rows))
    number(f"service_{document}_cards", sum(pool.scenario.devices for pool in made.pools))
    table(rows, {"what": say("alert-on"), "section": common("section"),
                 "printed": say("printed"), "predicted": say("predicted-of-document"),
                 "fires": say("if-all-is-as-predicted"), "note": ("", "")}, wide=True,
          folded=REST, first=OPEN)


def _beside(each: Threshold, of: Predicted) -> dict[str, Any]:
    interval = _predicted(each, of)
    sign = (">", "<")[not each.above]
    levels = " / ".join([each.printed] + ([each.second] if each.second else []))
    return {"what": (each.label["en"], each.label["zh"]), "section": each.section,
            "printed": f"{sign} {levels}", "predicted": _spread(interval) if interval else "",
            "fires": fires(each, interval) if interval else ("", ""),
            "note": (coded(each.note["en"]), coded(each.note["zh"]))}


def fires(each: Threshold, of: Amount) -> Pair:
    """Whether a printed threshold fires while everything is as predicted."""
    if of.low <= each.value <= of.high:
        return say("perhaps-inside-interval")
    beyond = of.low > each.value if each.above else of.high < each.value
    return say("always") if beyond else say("silent")


def _predicted(each: Threshold, of: Predicted) -> Amount | None:
    found: Mapping[str, Amount | None] = {
        "ttft": of.ttft, "tpot": of.tpot, "e2e": of.e2e, "output_throughput": of.throughput,
        "cache_occupied": of.occupied,
        "planned": Amount.exactly(of.in_flight, "request")}
    return found.get(each.quantity or "")


def bench_table(runs: Sequence[Bench]) -> None:
    """The runs of a plan with what is predicted of each."""
    table([{"run": f"`{run.name}`", "what": WORDS[run.name], "users": fmt_int(run.concurrency),
            "lengths": f"{fmt_int(run.input_tokens)} + {fmt_int(run.output_tokens)}",
            **{name: _spread(run.predicted[name]) if name in run.predicted else ""
               for name in ("ttft", "tpot")}} for run in runs],
          {"run": say("run"), "what": say("exercises"),
           "users": common("in-flight"), "lengths": common("tokens"),
           "ttft": say("ttft"), "tpot": say("tpot")}, wide=True)


def in_an_engine() -> None:
    """What came of a small deployment, and of all command lines, in a real engine."""
    kept = json.loads(ENGINE.read_text(encoding="utf-8"))
    rows = {row["key"]: row for part in ("serve", "lines") for row in kept[part]}
    for name in ("engine", "written_for", "override"):
        number(f"service_tried_{name}", kept[name], str)
    for name in ("sglang_release", "sglang_router"):
        number(f"service_tried_{name}", kept[name], str)
    for part in ("sglang", "sglang-answers"):
        of = {row["key"]: row["numbers"] for row in kept[part] if row.get("numbers")}
        for key in ("parsed", "configured"):
            for name in set(of[key]) & {"lines", "deployments", "whole"}:
                number(f"service_tried_{part.replace('-', '_')}_{name}", of[key][name])
    number("service_tried_faster", kept["faster"])
    for key, names in TRIED.items():
        for name in names:
            number(f"service_tried_{key}_{name}", rows[key]["numbers"][name])
    table([{"what": what, "fired": ", ".join(rows[key].get("alerts", ())) or common("none"),
            "ok": common("yes-plain") if rows[key]["ok"] else common("no-plain")}
           for key, what in SITUATIONS.items()],
          {"what": say("server"), "fired": say("alerts-that-fired"), "ok": say("as-expected")})


ENGINE = Path(__file__).with_name("engine.json")  # written by make engine
TRIED = {"start": ("seconds",), "metrics": ("exported", "named"), "bench": ("runs", "requests"),
         "calibrate": ("runs",), "parsed": ("lines", "deployments", "parsed"),
         "configured": ("whole", "partly")}
SITUATIONS: dict[str, Pair] = {
    "healthy": say("half-of-planned-requests"), "full": say("four-times-planned-requests-full"),
    "stopped": say("stopped")}
WORDS: dict[str, Pair] = {
    "one": say("step-alone"), "half": say("half-of-concurrency"),
    "planned": say("concurrency-and-lengths-as-planned"), "rate": say("independent-arrivals"),
    "shorter": say("half-of-either-length"), "spread": say("lengths-that-vary"),
    "prefix": say("prompts-that-begin-alike")}
