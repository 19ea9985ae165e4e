"""How an estimate is shown: which quantities answer a deployment, parts of a step, what binds."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import catalogue
from catalogue.deployments.scenario import Scenario, unasked
from catalogue.entries.formulas import inputs_of
from catalogue.messages import Pair, messages
from catalogue.reading import units
from catalogue.reading.values import Value
from notebooks.show.display import DOCUMENTS
from notebooks.show.drawing import Drawing, Stack, stacked_bars
from notebooks.show.figures import CACHE, COMPUTE, DRAFTS, HOST, LINKS, READ, WRONG
from notebooks.show.numbers import fmt_quantity

common = messages("common")
say = messages("pages/catalogue/tables/deployments")

Inputs = dict[str, int | float]
# parts of ``calc.physics.step`` by what a reader calls them, in the order of a bar
PARTS: dict[Pair, tuple[str, ...]] = {
    say("experts-reading-arithmetic"): ("routed_expert", "shared_expert"),
    common("dequantisation"): ("dequantisation",),
    common("attention-projections-dense-mlp"): ("attention", "dense_mlp"),
    common("attention-core"): ("core", "index"),
    common("router-output-head-norms-gates"): ("router", "head", "vector"),
    common("communication"): ("all_reduce", "exchange", "pipeline", "context_exchange"),
    say("experts-on-host"): ("offload",),
    say("experts-loading-to-card"): ("fetch",),
    say("kernel-boundaries-host-gap"): ("boundary", "host", "host_gap"),
    say("drafting"): ("draft",),
    say("stalls-by-other-prompts"): ("stall",),
}
KINDS = dict(zip(PARTS, (READ, COMPUTE, READ, CACHE, COMPUTE, LINKS, HOST, LINKS, HOST, DRAFTS,
                         WRONG), strict=True))  # what each part is, by which it is coloured
HIDDEN = ("overlap", "single_token_path", "idle_ranks")  # what makes a step shorter
HIDES: Pair = say("hidden-or-saved")
WHOLE: Pair = say("what-user-waits-for")
RESOURCES: dict[str, Pair] = {
    "memory_bandwidth": common("memory-bandwidth"),
    "l2_bandwidth": say("l2-bandwidth-dequantisation"), "compute": common("arithmetic"),
    "communication": common("communication"), "host": say("host"),
    "fixed_costs": say("fixed-costs-boundaries-and-gap"),
    "memory_capacity": common("memory-capacity"),
}
HELD: Pair = say("similar-runs-inside-their-interval")
MS = 1e3  # in a second


def questions(deployment: Scenario, inputs: Inputs | None = None) -> dict[str, Inputs]:
    """The quantities that answer a deployment, each with the inputs that it is computed from.

    A prompt pool or a run that ends with the first token has no time per further token, a decode
    pool of its own no first token. Where only the longest context is known, and thus not how many
    tokens are generated, decode is taken alone: how much of it other prompts hold up is open.

    Args:
        deployment: what is asked about.
        inputs: its own, if they are known.
    """
    inputs = inputs or deployment.inputs()
    if deployment.file.workload.output_tokens is None:
        return {"ttft": inputs} | dict.fromkeys(("tpot", "output_throughput"),
                                                inputs | {"separate_pools": 1})
    without = unasked(inputs)
    rate = "input_throughput" if "output_throughput" in without else "output_throughput"
    return {name: inputs for name in ("ttft", "tpot", "e2e", rate) if name not in without}


def asked_rows(deployment: Scenario) -> list[int]:
    """Indices of the measured rows that have the deployment's own workload."""
    measured, inputs = deployment.measured, deployment.inputs()
    if measured is None:
        return []
    columns = [(measured.column(name), inputs[name])
               for name in ("concurrency", "input_tokens", "output_tokens")]
    return [row for row in range(len(measured.rows))
            if all(round(column[row]) == wanted for column, wanted in columns)]


def interval_label(low: float, high: float, unit: str) -> Pair:
    """An interval in both languages: ``−21.3 to −17 GB``."""
    return units.span(low, high, unit), units.span(low, high, unit, "zh")


def quantity_label(name: str) -> Pair:
    """A quantity's name in both languages, with its abbreviation or letter."""
    symbol = catalogue.symbols()[name]
    short = next((term["abbr"] for term in catalogue.glossary().values()
                  if term["en"] == symbol.en and "abbr" in term), None)
    if short is None:
        return symbol.en, symbol.zh
    return f"{symbol.en} ({short})", f"{symbol.zh}（{short}）"


def grouped(parts: Mapping[str, float]) -> dict[Pair, float]:
    """Parts of a step by the names of ``PARTS`` [s]; what is zero is left out.

    Raises KeyError for a part that no name of ``PARTS`` has.
    """
    of = {part: label for label, names in PARTS.items() for part in names}
    times = dict.fromkeys(PARTS, 0.0)
    for name, part in parts.items():
        if name not in HIDDEN:
            times[of[name]] += part
    return {label: part for label, part in times.items() if part}


def bars(rows: Sequence[tuple[Pair, Pair, Mapping[str, float]]]) -> Callable[[str], Drawing]:
    """Stacked bars of the parts of one step each, per language.

    Args:
        rows: name, short name and parts [s] of ``calc.physics.step``; what is hidden of them
            is a strip below.
    """
    stacks = [Stack(name, fmt_quantity(sum(parts.values()), "s"), grouped(parts),
                    hidden=-sum(parts.get(part, 0.0) for part in HIDDEN),
                    heading=say("in-ms", short=short))
              for name, short, parts in rows]
    title = say("what-step-is-made-of")
    return lambda lang: stacked_bars("step-parts", lang, title, stacks, KINDS,
                                     lambda part: f"{MS * part:,.{int(MS * part < 100)}f}")


def binding(rows: Iterable[tuple[Pair, Mapping[str, float]]]) -> list[dict[str, Any]]:
    """Time by the resource that binds it as rows of a table, one column per step.

    Args:
        rows: heading and what ``calc.physics.step.bound_by`` gives [s].
    """
    rows = list(rows)
    shares = []
    for name, label in RESOURCES.items():
        cells = {}
        for number, (_, sums) in enumerate(rows):
            part, whole = float(sums.get(name, 0.0)), sum(map(float, sums.values()))
            cells[f"time{number}"] = fmt_quantity(part, "s") if part else "–"
            cells[f"share{number}"] = f"{100 * part / whole:.0f}%" if part else "–"
        if any(cell != "–" for cell in cells.values()):
            shares.append({"what": label, **cells})
    return shares


def apart(rows: Iterable[tuple[Pair, Mapping[str, float]]]) -> list[dict[str, Any]]:
    """The parts of steps as rows of a table, a pair of columns per step; hidden time is negative.

    Args:
        rows: heading and parts of ``calc.physics.step`` [s].
    """
    steps = [(grouped(parts), sum(float(parts.get(name, 0.0)) for name in HIDDEN),
              sum(map(float, parts.values()))) for _, parts in rows]
    labels = [label for label in PARTS if any(label in pieces for pieces, _, _ in steps)]
    found: list[dict[str, Any]] = []
    for label in [*labels, HIDES, WHOLE]:
        row: dict[str, Any] = {"what": label}
        for number, (pieces, hidden, whole) in enumerate(steps):
            part = {HIDES: hidden, WHOLE: whole}.get(label, float(pieces.get(label, 0.0)))
            row[f"time{number}"] = fmt_quantity(part, "s") if part else "–"
            row[f"share{number}"] = f"{100 * part / whole:.0f}%".replace("-", "−") if part else "–"
        found.append(row)
    return [row for row in found if any(
        row[f"time{number}"] != "–" for number in range(len(steps)))]


def origin(key: str) -> Pair:
    """A source by its key: title with address, or the name of a document, in both languages."""
    entry = catalogue.sources().get(key, {"title": key})
    if entry.get("url"):
        return (f"[{entry['title']}]({entry['url']})",) * 2
    if key in DOCUMENTS:
        return say("document", key=key.upper())
    return (str(entry["title"]),) * 2


def settings(deployment: Scenario) -> list[tuple[Pair, Value]]:
    """What a deployment's file sets besides parallelism and workload, with labels."""
    file, known = deployment.file, catalogue.symbols()
    offload = file.offload
    values = [(common("number-of-servers"), file.cluster.nodes),
             (say("requests-sent-at-once"), file.workload.requests),
             (say("drafted-tokens-per-step"), file.workload.draft_tokens)]
    if offload and offload.fetched:
        values += [(say("share-of-experts-loaded-when-chosen"), offload.routed_experts),
                  (say("share-of-experts-on-storage"), offload.on_storage),
                  (say("hosts-that-hold-experts"), offload.hosts)]
    elif offload:
        values += [(say("share-of-experts-on-the-host"), offload.routed_experts),
                  (say("hosts-that-compute-experts"), offload.hosts)]
    stated = deployment.mechanisms
    values += [((known[name].en, known[name].zh), stated[name])
              for name in inputs_of("switch") if name in stated]
    return [(label, value) for label, value in values if value is not None]


def hardware(deployment: Scenario) -> list[tuple[Pair, Value]]:
    """What the physics takes of cards, links and host besides the inputs, with labels."""
    device, node = deployment.device, deployment.node
    found: list[tuple[Pair, Value | None]] = [
        (say("dense-peak", dtype=dtype.upper()),
         getattr(device.matrix_peak, dtype)) for dtype in dict.fromkeys(
             deployment.multiplied.values())]
    found.append((common("l2-bandwidth"), device.l2_bandwidth))
    if deployment.devices > 1:
        fabric = node.fabric_link if deployment.file.cluster.nodes.value > 1 else None
        link = catalogue.load("links", fabric or node.device_link)
        found += [(say("per-device-one-way",
                       link=(link.name["en"], link.name["zh"])), link.device_bandwidth),
                  (say("per-pair-one-way",
                       link=(link.name["en"], link.name["zh"])), link.pair_bandwidth)]
    if deployment.file.cluster.nodes.value > 1:
        network = catalogue.load("links", node.network_link)
        found.append((say("per-device-one-way",
                          link=(network.name["en"], network.name["zh"])), network.device_bandwidth))
    if deployment.file.offload and deployment.host:
        host = deployment.host
        found += [(say("memory-bandwidth-of-socket",
                       host=(host.name["en"], host.name["zh"])), host.memory_bandwidth),
                  (say("between-host-and-device"), device.host_bandwidth)]
        peaks = host.matrix_peak or host.vector_peak
        if deployment.file.offload.fetched:
            return [(label, value) for label, value in found if value is not None]
        found += [(say("peak-of-socket", dtype=dtype.upper(),
                       host=(host.name["en"], host.name["zh"])), getattr(peaks, dtype, None))
                  for dtype in ("int8", "bf16", "fp16", "fp32")]
    return [(label, value) for label, value in found if value is not None]


@functools.cache
def page_of(scenario: str) -> str:
    """The page of a deployment: its own, or that of the family whose variant it is."""
    files = catalogue.names("scenarios")
    return scenario if scenario in files else max(
        (name for name in files if scenario.startswith(f"{name}-")), key=len, default=scenario)
