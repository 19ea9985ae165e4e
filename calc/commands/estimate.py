"""``estimate``: whether a deployment fits, its latency, throughput and what limits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import calc
from calc.answer.display import default_lines, heading, resource_name
from calc.answer.estimate import LATENCIES, Estimate
from calc.answer.request_lengths import listed_lengths, longer_words, with_lengths
from calc.answer.service import (
    POOLS,
    engine_words,
    estimate_service,
    measured_evidence,
    startup_line,
)
from calc.answer.steady_state import OF_BENCHES, STEADILY
from calc.commands.options import (
    LIMITS,
    cli_command,
    lengths_options,
    plan_options,
    planned,
    settings_option,
)
from calc.commands.view import (
    Block,
    Table,
    View,
    csv_table,
    deployment_id,
    joined,
    notes,
    pools_line,
)
from calc.evidence.classes import stand_ins
from calc.uncertainty import Amount
from catalogue import ParamsError, Scenario, load_deployment, symbols
from catalogue.reading.units import human

if TYPE_CHECKING:
    from calc.searching.alternatives import Alternatives

OF_BOTH = (*LATENCIES, "tpot", "output_throughput")  # what one of two pools alone does not give


@cli_command("estimate",
             "--model deepseek-r1 --card h200 --cards 8 --users 64 --input 2k --output 1k",
             "plan.yml --set workload.concurrency=128",
             "h200-r1-vllm-tp8 --engines vllm@0.11,sglang@0.5.6",
             sections=("details", "parts", "inputs"))
@plan_options()
@settings_option
@lengths_options
@click.option("--engines", metavar="A,B", help="Compare engines, each NAME[@RELEASE].")
@click.option("--calibration", metavar="NAME|FILE", help=(
    "Apply a calibration (`will-it-fit list calibrations`)."))
@click.option("--alternatives", is_flag=True, help=(
    "Find better deployments on the same cards (default: only if this one does not fit)."))
def command(deployment: str | None, settings: tuple[str, ...], lengths: str | None,
            variation: str | None, engines: str | None, calibration: str | None,
            alternatives: bool, **options: Any) -> View:
    """Does a deployment fit? How fast is it? What limits it?

    DEPLOYMENT is a catalogue name (`will-it-fit list deployments`) or your own file (`will-it-fit
    new deployment`). Without it, describe a deployment with --model and --card.
    """
    limits = {} if deployment is None else {name: options.pop(name) for name in LIMITS}
    scenario, defaults = planned(deployment, options)
    rows, of_lengths = listed_lengths(lengths, variation)
    changes = [*settings, *of_lengths, *(
        f"limits.{name}={text}" for name, text in limits.items() if text is not None)]
    if engines is not None:
        if calibration is not None:
            raise ParamsError("--engines: compares predictions, expected no --calibration.")
        from calc.commands.compared import comparison_view

        return comparison_view(scenario, engines, changes, rows)
    pools = [with_lengths(pool, rows) for pool in load_deployment(scenario, overrides=changes)]
    if len(pools) > 1:
        if calibration is not None:
            raise ParamsError("--calibration: is of one pool, expected one of the two of "
                              f"{deployment}.")
        return pools_view(pools)
    return pool_view(pools[0], calibration, alternatives, defaults)


def pool_view(scenario: Scenario, calibration: str | None, alternatives: bool,
              defaults: Sequence[str]) -> View:
    """Answer for a deployment of one pool."""
    applied = None
    if calibration is not None:
        from calc.evidence.calibration import apply  # loaded only where it is used

        applied = apply(scenario, calibration)
    result = calc.estimate(scenario, applied)
    startup = startup_line(scenario)
    if startup:  # at the longest request that the engine accepts
        exact = {"cache_tokens": startup.tokens}
        result = replace(result, quantities=result.quantities | exact,
                         reported=result.reported | exact)
    borrowed, longer = stand_ins(scenario), longer_words(scenario)
    caveats = notes(scenario) | ({"stand_ins": borrowed[0]} if borrowed else {}) | (
        {"refused_requests": longer} if longer else {})
    seen = None if result.unasked else result.seen
    data = result.as_json() | {"seen": seen and seen.as_json()} | caveats
    if startup:
        data["startup_line"] = startup.as_json()
    if defaults:
        data["defaults"] = list(defaults)
    body: list[Block] = [*caveats.values(), *result.reason_lines]
    if result.starts:
        body += [*load_tables(result), *result.step_lines]
    if scenario.engine is None:
        body.append("Engine not given: overheads are averages over the engines of this card.")
    body += [words[0] for words in (startup and startup.words(),
                                    measured_evidence((scenario,), (result,))) if words]
    if alternatives or not result.fits:
        from calc.searching.alternatives import alternatives as search_alternatives

        searched = search_alternatives(scenario)
        data["searched"] = searched.as_json()
        body += alternative_lines(searched)
    return View(result.verdict, data, result.fits and result.keeps_up, result.lines,
                [*body, *default_lines(defaults)], csv_table(result.reported),
                {"details": [quantity_table(result.reported), *result.steady_lines],
                 "parts": part_tables(scenario, result),
                 "inputs": [input_table(scenario)]})


def pools_view(pools: Sequence[Scenario]) -> View:
    """Answer for a deployment of two pools: together, then each by itself."""
    service = estimate_service(pools)
    pair, seen = service.pair, service.seen
    assert pair is not None
    named = dict(zip(POOLS, pools, strict=True))
    answers = dict(zip(POOLS, service.answers, strict=True))
    caveats = notes(*pools)
    data = {"scenario": deployment_id(pools), **service.as_json(), **caveats}
    body: list[Block] = [*pair.lines, *caveats.values()]
    body += [words[0] for name, pool in named.items() for words in engine_words(pool, name)]
    if measured := measured_evidence(pools, service.answers):
        body.append(measured[0])
    figures = seen.lines if seen else []
    sections: dict[str, list[Block]] = {"details": [], "parts": [], "inputs": []}
    for name, result in answers.items():
        memory = next(text for label, text in result.lines if label == "memory")
        figures.append((name, f"{result.verdict}; {memory}"))
        body += [f"{name}: {line}" for line in result.reason_lines]
        alone = {key: amount for key, amount in result.reported.items() if key not in OF_BOTH}
        sections["details"].append(quantity_table(alone, f"{name}: {result.title}"))
        sections["parts"] += part_tables(named[name], result)
        sections["inputs"].append(input_table(named[name]))
    return View(f"{service.outcome[0].upper()}: {pools_line(pools)}", data,
                service.fits and service.keeps_up, figures, body,
                csv_table(seen.amounts() if seen else {}), sections)


def load_tables(result: Estimate) -> list[Block]:
    """Latency and throughput by load; of prompts alone and of a growing queue nothing."""
    if result.unasked or result.steady is None:
        return []
    if not result.steady.keeps_up:
        return ["Requests arrive faster than they finish: the queue grows without bound beyond "
                f"{human(result.steady.most, 'request/s')}, with at most "
                f"{human(result.in_flight, 'request')} in flight."]
    benches = {burst: name for name, burst in OF_BENCHES.items()}
    return [Table(("", "steady state", "all at once", "mean of a benchmark"), [
        (heading(burst), *(result.reported.get(name) for name in (
            steady, burst, benches.get(burst, "")))) for burst, steady in STEADILY.items()])]


def quantity_table(amounts: Mapping[str, Amount], title: str = "") -> Table:
    """Quantities with 80% intervals."""
    return Table(("quantity", "value", "80% interval", "kind"), [
        (symbols()[name].en, amount.text, "" if amount.exact else amount.reach,
         amount.kind.replace("_", " ")) for name, amount in amounts.items()], title)


def part_tables(scenario: Scenario, result: Estimate) -> list[Block]:
    """Parts of a token's time and of a prefill step, without those that are zero."""
    tables: list[Block] = []
    for name, phase, step in (("tpot", "decode", "time per output token, all at once"),
                              ("prefill_chunk", "prefill", "a step of prefill")):
        if name in result.unasked or (phase == "prefill" and scenario.inputs()["separate_pools"]):
            continue
        parts = result.parts[name]
        total = sum(parts.values())
        rows = [(part.replace("_", " "), human(time, "s"), f"{time / total:.1%}")
                for part, time in sorted(parts.items(), key=lambda item: -abs(item[1])) if time]
        tables.append(Table(("part", "time", "share"), rows, title=(
            f"{step}: {human(total, 's')}, limited by "
            f"{resource_name(result.bottleneck[phase])}")))
    return tables


def input_table(scenario: Scenario) -> Table:
    """Every input with its range and source."""
    values: dict[str, Any] = scenario.values() | {
        knob.name: knob.value for knob in scenario.knobs()}
    return Table(("input", "value", "kind", "source"), [
        (symbols()[name].en if name in symbols() else name.replace("_", " "), value.shown,
         value.kind, joined(filter(None, (value.source, value.section, value.date))))
        for name, value in values.items()])


def alternative_lines(searched: Alternatives) -> list[str]:
    """Best deployments on the same cards: in the same, in any, in the published precision."""
    from calc.layouts.layout import set_line  # few answers need it

    if not searched.tried:
        return []
    lines = [f"Best of {searched.tried:,} deployments on the same cards:"]
    for label, advice in (("same precision", searched.own), ("any precision", searched.best),
                          ("published weights", searched.official)):
        if advice is not None:
            rate, tpot = (advice.quantities[name] for name in ("output_throughput", "tpot"))
            lines.append(f"  {label} ({advice.precision}): {human(rate, 'token/s')}, TPOT "
                         f"{human(tpot, 's')}; {set_line(advice.settings) or 'as it is'}")
    return lines
