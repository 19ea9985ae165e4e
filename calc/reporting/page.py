"""A deployment's report: what ``estimate`` answers, its parts, load, start, evidence and inputs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import numpy as np

import calc
from calc.answer.display import resource_name
from calc.answer.estimate import Estimate, predicted
from calc.answer.service import (
    POOLS,
    Service,
    combine_pools,
    engine_words,
    estimate_service,
    measured_evidence,
)
from calc.answer.steady_state import SEEN_OF_BURST, SEEN_STEADILY
from calc.evidence.classes import near, stand_ins
from calc.evidence.systems import VARIED, measured_system, system
from calc.evidence.validation import own_parts, uncalibrated
from calc.launching.launch import started_pools
from calc.launching.scripts import models_of, nodes_of
from calc.launching.server import words
from calc.layouts.layout import set_line
from calc.reporting.figures import formula, load_curve
from calc.uncertainty import Amount
from catalogue import ROOT, ParamsError, Scenario, load_deployment, sources, symbols
from catalogue.deployments.admission import caveats, cut_of
from catalogue.deployments.cuts import written
from catalogue.deployments.scenario import heading_of
from catalogue.messages import LANGUAGES, Pair, join, messages, pair, sentences
from catalogue.reading.values import Value

common = messages("common")
say = sentences("calc/reporting/page")

MEMORY = {"weights_per_device": "weights", "mtp_weights": "draft layer",
          "absorbed_copies_per_device": "copies of up-projections", "kv_per_device": "KV cache",
          "activations_per_device": "activations", "exchange_buffers": "all-to-all buffers",
          "graph_memory": "captured graphs"}
REST = "runtime, libraries, padding"
STEP = {"experts": ("routed_expert", "shared_expert"), "expert offload": ("offload", "fetch"),
        "attention projections, dense MLP": ("attention", "dense_mlp"),
        "attention core": ("core", "index"), "dequantisation": ("dequantisation",),
        "router, head, norms": ("router", "head", "vector"),
        "communication": ("all_reduce", "exchange", "pipeline", "context_exchange"),
        "kernel boundaries, host, gap": ("boundary", "host", "host_gap"),
        "drafting": ("draft",), "stalls by prompts of others": ("stall",),
        "hidden or saved": ("overlap", "single_token_path", "idle_ranks")}
FORMULAS = {"kv_bytes_per_token": "kv_bytes_per_token", "max_concurrency": "max_concurrency",
            "decode_dense_time": "tpot_floor", "decode_kv_time": "tpot_floor",
            "tpot_floor": "tpot_floor", "prefill_time": "ttft", "steady_e2e": "steady_e2e"}
"""Formula -> reported quantity that it is a part of."""
LOADS = {"none": "", "burst": " Load: all requests at once.", "steady": " Load: steady state."}
CURVE_POINTS = 24
MOST_ROWS = 3  # of a measured system; some are simulated
ONE_PHASE = ("ttft", "tpot", "input_throughput", "output_throughput")
METRICS = ("ttft", "tpot", "output_throughput")
WIDEST = 8  # times the requests in flight that a curve reaches at most


def report(reference: str, lang: str = "en", device: str = "") -> str:
    """Return the page of a deployment, which needs no other file.

    Args:
        reference: name or path of the deployment.
        lang: ``en`` or ``zh``.
        device: name or path of a card in place of its own.

    Raises ParamsError, one sentence, for input that cannot be used.
    """
    pools = load_deployment(reference, [f"device={device}"] if device else [])
    service = estimate_service(pools)
    last, answers = service.last, service.answers
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent), autoescape=True, trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    environment.filters["t"] = lambda text: in_language(text, lang)
    named = zip(POOLS if service.pair else ("",), answers, strict=True)
    evidence = measured_evidence(pools, answers)
    load = ("none" if service.seen is None or not is_served(service) else
            "burst" if service.seen.burst else "steady")
    return environment.get_template("report.html.j2").render(
        lang=lang, version=calc.__version__, reference=reference, quoted=shlex.quote(reference),
        service=service, title=heading_of(pools), w=texts(),
        verdict=service.outcome, notes=notes(pools), deployed=deployed(service),
        seen=say("seen", f"Below each value its 80% interval.{LOADS[load]}", load=load),
        figures=figures(service), pools=[pool_section(*each) for each in named],
        curves=list(curves(service, lang)), start=start(pools), evidence=evidence,
        engine=[line for pool in pools for line in engine_words(pool)],
        measured=measured(last, not device), formulas=list(formulas(last, answers[-1])),
        inputs=[row for pool in pools for row in inputs(pool)])


def in_language(text: Any, lang: str) -> str:
    """A pair, a text by language or an amount in a language; another text as it is."""
    if isinstance(text, Amount):
        return text.text_in(lang)
    if isinstance(text, Mapping):
        return text[lang]
    return text[LANGUAGES.index(lang)] if isinstance(text, tuple) else str(text)


def texts() -> dict[str, Pair]:
    """Headings and sentences of the page by name."""
    return {
        "memory": say("memory", "Memory of the fullest card"),
        "load": say("load", "Latency and throughput by load"),
        "limits": say("limits", "What limits it"), "start": say("start", "How it is started"),
        "trust": say("trust", "How far to trust it"), "inputs": say("inputs", "Inputs and sources"),
        "formulas": say("formulas", "Formulas with these numbers"),
        "way": say("way", "What would run"), "quantity": common("quantity"),
        "value": common("value-range"), "kind": common("kind"), "source": common("source"),
        "measured": common("measured"), "predicted": common("predicted"),
        "total": say("total", "total"), "of": say("of", "of"), "row": say("row", "Measured"),
        "requests": say("requests", "requests"), "prompt": say("prompt", "prompt"),
        "output": say("output", "answer"), "nearest": say("nearest", "Nearest measured system"),
        "curve": say("curve", "Line and band: value and 80% interval by number of requests in "
                     "flight. Point: this deployment, simulated where formulas do not hold. "
                     "Dashed: requests that fit at once."),
        "deploy": say("deploy", "The first server of each pool. All files, with router, monitoring "
                      "and benchmark, are written by"),
        "all-inputs": say("all-inputs", "All inputs"),
        "no-measurement": say("no-measurement", "Nothing of its kind was measured."),
        "made": say("made", "Written by will-it-fit")}


def notes(pools: Sequence[Scenario]) -> list[Any]:
    """What the catalogue knows too little of."""
    return [*caveats(pools).values(), *filter(None, map(stand_ins, pools))]


def deployed(service: Service) -> list[tuple[Pair, Any]]:
    """Model, cards, layout, engine and load: a label and a text each."""
    last = service.last
    rows: list[tuple[Pair, Any]] = [
        (common("model"), last.model.name), (common("precision"), last.precision.name)]
    for pool in service.pools:
        count = f"{pool.devices} × "
        cards = join(("", ""), [(count, count), pair(pool.device.name)])
        rows.append((common("cards"), join((", ", "，"), [cards, pair(written(cut_of(pool)))])))
    rows += [(common("engine"), last.engine)] if last.engine else []
    given = last.inputs()
    rows += [(label(name), plain(given[name], unit)) for name, unit in (
        ("concurrency", "request"), ("input_tokens", "token"), ("output_tokens", "token"))
        if name != "output_tokens" or last.file.workload.output_tokens is not None]
    return rows


def is_served(service: Service) -> bool:
    """Return True if latencies are not those of larger cards."""
    return all(answer.starts for answer in service.answers)


def figures(service: Service) -> list[tuple[Pair, Amount]]:
    """Latency and throughput as users measure them, the requests that fit, the memory to spare."""
    last, seen = service.answers[-1], service.seen
    if not is_served(service):
        shown = {}
    elif seen and (service.pair or not last.unasked):
        shown = {SEEN_OF_BURST[name]: amount for name, amount in seen.amounts().items()}
    else:  # of one phase alone, and of deployments that state no answers
        shown = {name: last.reported[name] for name in ONE_PHASE if name in last.reported}
    shown["max_concurrency"] = last.reported["max_concurrency"]
    tightest = min(service.answers, key=lambda answer: answer.spare)
    shown["headroom_per_device"] = tightest.reported["headroom_per_device"]
    return [(label(name), amount) for name, amount in shown.items()]


def pool_section(name: str, result: Estimate) -> dict[str, Any]:
    """Reasons, memory, step and limits of one pool."""
    everything, used = result.everything, result.reported["memory_per_device"]
    parts = {say("memory-part", english, name=key): (
        result.reported.get(key) or plain(everything[key], "B"))
        for key, english in MEMORY.items() if everything[key] > 0}
    parts[say("memory-part", REST, name="rest")] = plain(
        used.value - sum(part.value for part in parts.values()), "B")
    phase = "prefill" if "tpot" in result.unasked else "decode"
    times = result.parts["tpot" if phase == "decode" else "prefill_chunk"]
    step = {say("step-part", english, name=names[0]): plain(
        sum(times.get(part, 0.0) for part in names), "s") for english, names in STEP.items()}
    usable, resource = result.reported["usable_memory"], result.bottleneck[phase]
    return {
        "name": say("pool", f"{name.capitalize()} pool", name=name) if name else "",
        "reasons": [reason.text for reason in result.reasons],
        "changes": [(change.text, set_line(change.settings)) for change in result.changes],
        "memory": shares(parts, float(usable.value)), "used": used, "usable": usable,
        "step": shares({part: time for part, time in step.items() if time.value}),
        "step-name": say("step", f"One step of {phase}, all requests at once", phase=phase),
        "total": plain(sum(times.values()), "s"),
        "limit": say("limit", f"{phase.capitalize()} is limited by {resource_name(resource)}.",
                     phase=phase, name=resource)}


def shares(parts: Mapping[Pair, Amount], whole: float = 0.0) -> list[dict[str, Any]]:
    """Parts with their shares of the whole, at least their sum, and their places in a bar [%]."""
    total, begin, rows = max(whole, sum(max(0.0, part.value) for part in parts.values())), 0.0, []
    for number, (name, size) in enumerate(parts.items()):
        share = 100 * size.value / total
        rows.append({"label": name, "size": size, "colour": number, "begin": begin,
                     "width": max(share, 0.0), "share": f"{share:.1f}%"})
        begin += max(share, 0.0)
    return rows


def curves(service: Service, lang: str) -> Iterator[str]:
    """TTFT, TPOT and throughput over the requests in flight; nothing where users see none."""
    seen, answer, scenario = service.seen, service.answers[-1], service.last
    if not is_served(service) or seen is None or (service.pair is None and answer.unasked):
        return
    amounts, most = seen.amounts(), float(answer.quantities["max_concurrency"].value)
    top = max(2 * seen.in_flight, min(most, WIDEST * seen.in_flight))
    counts = np.unique(np.geomspace(1, top, CURVE_POINTS).round())
    if service.pair:  # with the relative intervals of the deployment's own load
        loops = [combine_pools(*service.pools, users=count).loop for count in counts]
        values = {"ttft": [loop.ttft for loop in loops], "tpot": [loop.tpot for loop in loops],
                  "throughput": [loop.rate * service.pair.answer for loop in loops]}
        swept = {name: amounts[name].scaled(np.array(column) / amounts[name].value)
                 for name, column in values.items()}
    else:
        symbol_of = SEEN_OF_BURST if seen.burst else SEEN_STEADILY
        by_symbol = predicted(scenario, symbol_of.values(),
                              inputs=scenario.inputs() | {"concurrency": counts})
        swept = {name: by_symbol[symbol] for name, symbol in symbol_of.items()}
    across = in_language(say("in-flight", "requests in flight"), lang)
    for name in ("ttft", "tpot", "throughput"):
        yield load_curve(counts, swept[name], (seen.in_flight, amounts[name]),
                         most if counts[0] < most < counts[-1] else None, across,
                         in_language(label(SEEN_OF_BURST[name]), lang), lang)


def start(pools: Sequence[Scenario]) -> tuple[str, list[str]]:
    """Why an engine does not start, else the command of the first server of each pool."""
    try:
        started, _ = started_pools(dict(zip(
            POOLS if len(pools) > 1 else ("serve",), pools, strict=True)))
    except ParamsError as error:
        return str(error), []
    models = [f"{model.variable}={model.repository or 'PATH'}" for model in models_of(started)]
    commands = []
    for pool in started:
        node = nodes_of(pool)[0]
        _, flags, variables = node.servers[0]
        commands.append("\n".join([
            *models, *("=".join(words(each)) for each in (*node.variables, *variables)),
            " \\\n  ".join([node.command, *(" ".join(words(flag)) for flag in flags)])]))
    return "", commands


def measured(scenario: Scenario, own: bool) -> dict[str, Any] | None:
    """Rows of the nearest measured system under the most similar load, with their predictions.

    Args:
        scenario: the deployment.
        own: whether what its file says was measured is of its card.

    Returns None where nothing of its kind was measured.
    """
    name, itself = near(scenario).nearest, own and scenario.measured is not None
    if name is None and not itself:
        return None
    case = system(scenario) if itself else measured_system(str(name))
    asked, rows = scenario.inputs(), []
    known = np.unique(np.concatenate([case.measured(metric) for metric in METRICS]))
    distance = sum(np.abs(np.log(case.rows[name][known] / asked[name])) for name in VARIED)
    nearest = known[np.argsort(distance, kind="stable")[:MOST_ROWS]]
    for metric in METRICS:
        chosen, unit = np.intersect1d(nearest, case.measured(metric)), symbols()[metric].unit
        if not len(chosen):
            continue
        of = uncalibrated(case, metric, own_parts(case, chosen), chosen)
        for place, row in enumerate(chosen):
            value, low, high = (float(ends[place]) for ends in (of.predicted, of.low, of.high))
            rows.append({"quantity": label(metric), "predicted": Amount(value, low, high, unit),
                         "load": [f"{case.rows[name][row]:,.0f}" for name in VARIED],
                         "measured": plain(of.measured[place], unit),
                         "inside": low <= of.measured[place] <= high})
    return {"title": case.scenario.heading, "rows": rows, "itself": itself}


def formulas(scenario: Scenario, result: Estimate) -> Iterator[dict[str, Any]]:
    """Exported formulas that Matplotlib can draw, with the numbers of a deployment."""
    path = ROOT.parent / "notebooks" / "derive" / "formulas" / "formulas.json"
    exported, defined = json.loads(path.read_text("utf-8")), symbols()
    known = {name: value for name, value in (scenario.inputs() | result.everything).items()
             if np.ndim(value) == 0}
    known |= {name: amount.value for name, amount in result.reported.items()}
    for name, explained in FORMULAS.items():
        entry = exported[name]
        used = list(dict.fromkeys(leaves(entry["tree"])))
        if explained not in result.reported or not known.keys() >= {name, *used}:
            continue
        yield {"name": label(name), "value": plain(known[name], defined[name].unit),
               "drawn": formula(f"{defined[name].latex} = {entry['latex']}", name),
               "where": [(formula(defined[one].latex, one), label(one),
                          plain(known[one], defined[one].unit)) for one in used]}


def label(name: str) -> Pair:
    """Name of a quantity of ``params/symbols.yml``."""
    defined = symbols()[name]
    return defined.en, defined.zh


def plain(value: Any, unit: str) -> Amount:
    """A number without interval."""
    return Amount(float(value), float(value), float(value), unit)


def leaves(tree: Any) -> Iterator[str]:
    """Names of the quantities in the tree of a formula."""
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, list):
        for part in tree[isinstance(tree[0], str):]:
            yield from leaves(part)


def inputs(scenario: Scenario) -> Iterable[dict[str, Any]]:
    """Every input with its range, kind and source."""
    defined = symbols()
    named = {name: (name, value) for name, value in scenario.values().items()} | {
        knob.name: (knob.symbols[0], knob.value) for knob in scenario.knobs()}
    for name, (symbol, value) in named.items():
        letter = defined.get(name) or defined.get(symbol)
        known = label(letter.name) if letter and "." not in name else name.replace("_", " ")
        yield {"name": known, "value": value.shown, "source": source(value),
               "kind": common("kind-of-statement", kind=value.kind)}


def source(value: Value) -> dict[str, str]:
    """Title, address and date of the source of a value."""
    entry = sources().get(value.source, {"title": value.source})
    return {"title": entry["title"], "url": entry.get("url", ""),
            "date": value.date or entry.get("date") or ""}
