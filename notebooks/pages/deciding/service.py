"""From scenario to service: a deployment's files and thresholds, the documents' beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure

from calc.auditing.costs import AS_RUN
from calc.launching.bench import Bench
from calc.launching.directory import MANIFEST
from calc.launching.launch import Launch, deployment
from calc.launching.monitoring import BUSY, Predicted, Watched
from calc.uncertainty import Amount
from catalogue.engine import (
    Engine,
    Threshold,
    bare,
    instead,
    launch_blocks,
    successors,
    thresholds,
)
from catalogue.messages import Pair, messages, pair
from catalogue.reading.units import NONE
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import draw, markdown, number, numbers, section, table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_quantity

common = messages("common")
say = messages("pages/deciding/service")

# what of the documents' plans runs, in the release that a reader would take
RUNS: dict[str, tuple[str, tuple[str, ...], str]] = {
    document: (name, *AS_RUN[name])
    for document, name in (("s0", "s0-scenario-1"), ("s1", "s1-plan-c"))}
OPEN, REST = 6, common("other-rows")  # of a table of many rows
HELD = {"s0": "vllm", "s1": "vllm"}
WHAT: dict[str, Pair] = {
    "README.md": say("what-is-where-predicted-and"),
    "RECIPE.md": say("differences-to-a-published-recipe"), "cluster.env": say("what-operator-sets"),
    "deployment.json": say("settings-with-reasons-predictions-thresholds"),
    MANIFEST: say("checksums-of-files"),
    "nodes": say("script-and-environment-per-node"), "router": say("before-several-servers"),
    "monitoring": say("scraping-and-alerts"), "compose.yml": say("container-per-node"),
    "kubernetes": say("pods-and-alerts"),
    "bench": say("measurements-with-what-is-predicted")}
NAMES = re.compile(r"--[a-z][a-z0-9-]*|[a-z]+:[a-z_]+|[A-Za-z]+(?:_[A-Za-z0-9]+)+")
TURNED = ("h200-r1-vllm-tp8", "vllm@0.33.0")  # of the last exercise
FLAG = re.compile(r"^ +(--\S+) ?(.*)$", re.MULTILINE)
LANGUAGES = {"sh": "bash", "env": "bash", "yml": "yaml", "json": "json", "md": "text"}


@cache
def of_document(document: str) -> Launch:
    """What of a document's plan runs."""
    scenario, overrides, engine = RUNS[document]
    return deployment(scenario, overrides, engine=engine)


def figures_of(made: Launch) -> None:
    """The numbers of the answer."""
    number("service_files", len(made.files) + 1)
    number("service_engine", made.pools[0].release, str)
    number("service_busy", BUSY, fmt_percent, digits=0)


def listing(made: Launch) -> None:
    """What stands in the directory, a row per folder."""
    groups: dict[str, list[str]] = {}
    for name in sorted([*made.files, MANIFEST]):
        groups.setdefault(name.partition("/")[0], []).append(name)
    table(groups.items(), [
        Column(lambda row: f"`{row[1][0] if len(row[1]) == 1 else f'{row[0]}/'}`", say("path")),
        Column(lambda row: len(row[1]), say("files")),
        Column(lambda row: WHAT[row[0]], common("what"))])


def text_of(made: Launch, name: str, first: int = 0, last: int | None = None,
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
    markdown(shown, shown)


def alert_table(of: Iterable[Watched]) -> None:
    """Every alert: what is predicted, where it fires, why there."""
    table([alert for each in of for alert in each.alerts], [
        Column(lambda alert: f"`{alert.name}`", common("alert")),
        Column(lambda alert: _spread(alert.predicted), say("predicted")),
        Column(lambda alert: say("fires-at", above=alert.above, level=fmt_quantity(
            alert.threshold, alert.predicted.unit if alert.predicted else "1")), say("fires"))],
        wide=True)


def _spread(of: Amount | None) -> str | Pair:
    """A quantity with its interval; empty where nothing is predicted."""
    return (of.formatted("en"), of.formatted("zh")) if of else ""


def picture(made: Launch) -> None:
    """From prediction to threshold: each quantity over its own prediction, where alerts begin."""
    draw(lambda lang: _picture(made, lang))


def _picture(made: Launch, lang: str) -> Figure:
    first, last = made.watched[0].predicted, made.watched[-1].predicted
    rows: list[tuple[Pair, Amount, bool]] = [
        (common("time-to-first-token"), first.ttft, True),
        (common("time-per-output-token"), last.tpot, True),
        (common("output-throughput"), last.throughput, False)]
    if last.occupied is not None and last.occupied.high < 1:
        rows.append((say("share-of-kv-cache"), last.occupied, True))
    figure, axis = figures.axes(height=0.62 * len(rows) + 1.1)
    choice = ("en", "zh").index(lang)
    most = 1.25 * max(end for _, of, _ in rows
                      for end in (of.high / of.value, of.value / of.low / BUSY))
    calm, blue, red = figures.PALETTE[2], figures.PALETTE[0], figures.PALETTE[3]
    for place, (name, of, above) in enumerate(reversed(rows)):
        low, high = of.low / of.value, of.high / of.value
        limit = high if above else BUSY * low
        left, right = (limit, most) if above else (1 / most, limit)
        axis.barh(place, right - left, left=left, height=0.5, color=red, alpha=0.16)
        axis.plot([low, high], [place, place], color=blue, linewidth=7, solid_capstyle="butt")
        axis.plot([1], [place], "o", color=calm, markersize=8, zorder=3)
        axis.plot([limit, limit], [place - 0.32, place + 0.32], color=red, linewidth=2.5)
        axis.text(1, place + 0.36, fmt_quantity(of.value, of.unit), ha="center", va="bottom",
                  fontsize=9)
        word = say("alert-at", above=above, level=fmt_quantity(limit * of.value, of.unit))
        axis.text(limit, place - 0.36, word[choice], color=red, ha="center", va="top",
                  fontsize=8.5)
        axis.text(0.98 / most, place, name[choice], ha="right", va="center", fontsize=10)
    axis.set(xscale="log", xlim=(1 / most, most), ylim=(-0.75, len(rows) - 0.3), yticks=[],
             xlabel=say("over-prediction")[choice])
    figures.log_ticks(axis.xaxis, 1 / most, most)
    axis.spines["left"].set_visible(False)
    return figure


def settings_table(document: str) -> None:
    """Settings of a document that the release does not take, with what does it instead."""
    engine, version = _held(document, of_document(document))
    named = _named(document)
    gone = {name: instead(engine, name) for name in named if not engine.exists(name, version)}
    rows = {name: _instead(engine, use, version) for name, use in gone.items() if use is not None}
    lost = ", ".join(f"`{name}`" for name in gone if name not in rows)
    number(f"service_{document}_release", f"{engine.title} {version}", str)
    numbers({f"service_{document}_{key}": value for key, value in {
        "gone": len(gone), "never": sum(engine.find(name) is None for name in gone),
        "settings": len(named), "lost": len(gone) - len(rows),
        "nothing": sum(not gone[name] for name in rows)}.items()})
    table(rows.items(), [
        Column(lambda row: f"`{row[0]}`", common("setting")),
        Column(lambda row: ", ".join([*named[row[0]][:2], *(["…"] if named[row[0]][2:] else [])]),
               common("section")),
        Column(lambda row: row[1] or say("nothing"), say("instead")),
        Column(lambda row: _why(engine, row[0]), common("why"))], wide=True,
        folded=REST, first=OPEN)
    if lost:
        markdown(*say("without-counterpart", names=lost))


def _instead(engine: Engine, use: Sequence[str], version: str) -> str | Pair:
    """What does it now; in a release that has none of it, that a later one has."""
    named = ", ".join(map(coded, use))
    if use and not any(engine.exists(name, version) for name in use):
        return say("not-yet", version=version, use=named)
    return named


def _why(engine: Engine, name: str) -> Pair:
    """Until when a release had it, and what its successor's table says."""
    entry, note = engine.find(name), _note(engine, name)
    return say("had-up-to", until=entry.until, note=note) if entry and entry.until else note


def _held(document: str, made: Launch) -> tuple[Engine, str]:
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
            _, sections = found.setdefault(bare(name), (name, []))
            sections += [block.section] if block.section not in sections else []
    return dict(found.values())


def _note(engine: Engine, name: str) -> Pair:
    """Why, as the table of successors has it."""
    known = {bare(each): successor for each, successor in successors(engine.name).items()}
    entry = engine.find(name)
    for spelt in (name, entry.name if entry else name):
        if successor := known.get(bare(spelt)):
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
    rows = [(each, _predicted(each, made.watched[0].predicted)) for each in thresholds(document)]
    judged = [fires(each, of)[0] for each, of in rows if of]
    numbers({f"service_{document}_{key}": value for key, value in {
        "judged": len(judged), "always": judged.count("always"),
        "unwatched": sum(not each.metrics for each, _ in rows), "thresholds": len(rows),
        "cards": sum(pool.scenario.devices for pool in made.pools),
        "users": int(made.watched[0].predicted.planned)}.items()})
    table(rows, [
        Column(lambda row: row[0].label, say("alert-on")),
        Column(lambda row: section(row[0].section), common("section")),
        Column(lambda row: _printed(row[0]), say("printed")),
        Column(lambda row: _spread(row[1]), say("predicted-of-document")),
        Column(lambda row: fires(*row) if row[1] else "", say("if-all-is-as-predicted")),
        Column(lambda row: tuple(map(coded, pair(row[0].note))), say("remark"))], wide=True,
        folded=REST, first=OPEN)


def lengths() -> None:
    """Lengths of S1's plan C in the table above."""
    inputs = of_document("s1").pools[0].scenario.inputs()
    numbers({"service_s1_input": inputs["input_tokens"],
             "service_s1_output": inputs["output_tokens"]})


def turned() -> None:
    """Flags of the exercise's release that differ from those of the deployment's own."""
    own, other = (_flags(deployment(TURNED[0], engine=engine)) for engine in (None, TURNED[1]))
    number("service_turned", "; ".join(
        f"{name} {own.get(name, NONE)} → {other.get(name, NONE)}"
        for name in dict.fromkeys((*own, *other)) if own.get(name) != other.get(name)), str)


def _flags(made: Launch) -> dict[str, str]:
    """Values of the flags in the scripts of all nodes, by name."""
    return dict(FLAG.findall("".join(text for name, text in made.files.items()
                                     if name.startswith("nodes/") and name.endswith(".sh"))))


def _printed(each: Threshold) -> str | Pair:
    """A threshold as the document has it, both levels named where there are two."""
    first, *second = each.levels
    above = each.direction == "above"
    if not second:
        return f"{'>' if above else '<'} {first}"
    return say("printed-twice", above=above, first=first, second=second[0])


def fires(each: Threshold, of: Amount) -> Pair:
    """Whether a printed threshold fires while everything is as predicted."""
    if of.low <= each.value <= of.high:
        return say("perhaps-inside-interval")
    beyond = of.low > each.value if each.direction == "above" else of.high < each.value
    return say("always") if beyond else say("silent")


def _predicted(each: Threshold, of: Predicted) -> Amount | None:
    return {"ttft": of.ttft, "tpot": of.tpot, "e2e": of.e2e, "output_throughput": of.throughput,
            "cache_occupied": of.occupied, "planned": Amount.exactly(of.in_flight, "request")
            }.get(each.quantity or "")


def bench_table(runs: Sequence[Bench]) -> None:
    """The runs of a plan with what is predicted of each."""
    table(runs, [
        Column(lambda run: f"`{run.name}`", say("run")),
        Column(lambda run: WORDS[run.name], say("exercises")),
        Column("concurrency", common("in-flight"), fmt_int),
        Column(lambda run: f"{fmt_int(run.input_tokens)} + {fmt_int(run.output_tokens)}",
               common("tokens")),
        Column(lambda run: _spread(run.predicted.get("ttft")), say("ttft")),
        Column(lambda run: _spread(run.predicted.get("tpot")), say("tpot"))], wide=True)


def in_an_engine() -> None:
    """What came of a small deployment, and of all command lines, in a real engine."""
    kept = json.loads(ENGINE.read_text(encoding="utf-8"))
    rows = {row["key"]: row for part in ("serve", "lines") for row in kept[part]}
    numbers({f"service_tried_{name}": kept[name] for name in ("engine", "sglang_release")}, str)
    of = {row["key"]: row["numbers"] for row in kept["sglang"] if row.get("numbers")}
    numbers({"service_tried_sglang_lines": of["parsed"]["lines"],
             "service_tried_sglang_whole": of["configured"]["whole"]})
    numbers({f"service_tried_{key}_{name}": rows[key]["numbers"][name]
             for key, names in TRIED.items() for name in names})
    table(SITUATIONS, [
        Column(SITUATIONS.get, say("server")),
        Column(lambda key: ", ".join(rows[key].get("alerts", ())) or common("none"),
               say("alerts-that-fired")),
        Column(lambda key: common("yes-plain") if rows[key]["ok"] else common("no-plain"),
               say("as-expected"))])


ENGINE = Path(__file__).with_name("engine.json")  # written by make engine
TRIED = {"metrics": ("exported", "named"), "parsed": ("lines", "parsed")}
SITUATIONS: dict[str, Pair] = {
    "healthy": say("half-of-planned-requests"), "full": say("four-times-planned-requests-full"),
    "stopped": say("stopped")}
WORDS: dict[str, Pair] = {
    "one": say("step-alone"), "half": say("half-of-concurrency"),
    "planned": say("concurrency-and-lengths-as-planned"), "rate": say("independent-arrivals"),
    "shorter": say("half-of-either-length"), "spread": say("lengths-that-vary"),
    "prefix": say("prompts-that-begin-alike")}
