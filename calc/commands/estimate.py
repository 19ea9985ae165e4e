"""``estimate``: whether a deployment fits, its latency, throughput and what limits it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

import calc
from calc.answer.display import default_lines, resource_name
from calc.answer.estimate import LATENCIES, Estimate, ServiceLevel
from calc.answer.request_lengths import listed_lengths, longer_words, with_lengths
from calc.answer.service import (
    POOLS,
    Pools,
    engine_words,
    estimate_service,
    measured_evidence,
    startup_line,
    startup_lines,
)
from calc.answer.steady_state import OF_BENCHES, STEADILY, SteadyState
from calc.commands.options import (
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
    deployment_line,
    heading,
    joined,
    notes,
    pools_line,
)
from calc.evidence.classes import stand_ins
from calc.physics.arrays import Inputs
from calc.serving.evaluate import bench_count, doubt_words
from catalogue import ParamsError, Scenario, load_deployment, symbols
from catalogue.engine import fitting
from catalogue.reading.units import human, span

if TYPE_CHECKING:
    from calc.answer.quickplan import QuickPlan
    from calc.searching.alternatives import Alternatives

RARE = 1e-3  # share of steps below which no number is printed: the tail is known to a seventh
SHOWN_PARTS = 6  # of a step, in the line of the body
LOADS = {"steady": "steady state", "burst": "all at once", "bench": "mean of a benchmark"}


@cli_command("estimate",
             "--model deepseek-r1 --card h200 --cards 8 --users 64 --input 2k --output 1k",
             "plan.yml --set parallelism.tensor_parallel=16",
             "h200-r1-vllm-tp8 --engines vllm@0.11,sglang@0.5.6",
             sections=("details", "parts", "inputs"))
@plan_options
@settings_option
@lengths_options
@click.option("--engines", metavar="A,B", help=(
    "Compare the deployment under several engines, ENGINE@RELEASE each."))
@click.option("--calibration", metavar="NAME", help="Use a calibration of params/calibrations/.")
@click.option("--alternatives", is_flag=True, help=(
    "Search the same cards for better deployments (default: only if it does not run)."))
def command(deployment: str | None, settings: tuple[str, ...], lengths: str | None,
            variation: str | None, engines: str | None, calibration: str | None,
            alternatives: bool, **options: Any) -> View:
    """Does a deployment fit? How fast is it? What limits it?

    DEPLOYMENT is a name of the catalogue (`will-it-fit list scenarios`) or a file of your own
    (`will-it-fit new scenario`); --model and --card describe one without a file.
    """
    scenario, defaults = planned(deployment, options, plan)
    rows, of_lengths = listed_lengths(lengths, variation)
    changes = [*settings, *of_lengths]
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
    view = pool_view(pools[0], calibration, alternatives)
    if not defaults:
        return view
    return replace(view, data={**view.data, "defaults": list(defaults)},
                   body=[*view.body, *default_lines(defaults)])


def plan(**values: Any) -> QuickPlan:
    """Build the deployment that options describe."""
    from calc.answer.quickplan import deployment_plan  # loads the nearest changes

    return deployment_plan(**values)


def pool_view(scenario: Scenario, calibration: str | None, alternatives: bool) -> View:
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
    searched = None
    if alternatives or not result.fits:
        from calc.searching.alternatives import alternatives as search_alternatives

        searched = search_alternatives(scenario)
    borrowed, longer = stand_ins(scenario), longer_words(scenario)
    seen = None if result.unasked else result.seen
    optional = {"searched": searched and searched.as_json(),
                "startup_line": startup and startup.as_json(),
                "stand_ins": borrowed and borrowed[0], "refused_requests": longer}
    data = (result.as_json() | {"seen": seen and seen.as_json()} | notes(scenario)
            | {name: part for name, part in optional.items() if part})
    caveats = [*notes(scenario).values(), *filter(None, (borrowed and borrowed[0], longer))]
    measured = measured_evidence((scenario,), (result,))
    body: list[Block] = [*caveats, *reason_lines(result)]
    if loads := loads_of(result):
        body.append(load_table(result, loads))
    body += [*step_lines(scenario, result), *(pair[0] for pair in engine_words(scenario)),
             *((measured[0],) if measured else ()),
             *(alternative_lines(searched, scenario) if searched else ())]
    details = [quantity_table(result, {name for of in loads.values() for name in of.values()}),
               *arrival_lines(scenario, result.steady), *doubt_lines(result),
               *cache_lines(result), *documented_tables(result)]
    return View(verdict(scenario, result), data, result.fits,
                [*service_figures(seen), *memory_figures(result)], body,
                csv_table(result.reported),
                {"details": details, "parts": part_tables(scenario, result),
                 "inputs": [input_table(scenario)]})


def pools_view(pools: Sequence[Scenario]) -> View:
    """Answer for a deployment of two pools: together, then each by itself."""
    service = estimate_service(pools)
    pair = service.pair
    assert pair is not None
    answers = dict(zip(POOLS, service.answers, strict=True))
    data = {"scenario": deployment_id(pools), "fits": service.fits, "devices": service.devices,
            "seen": service.seen and service.seen.as_json(), **notes(*pools),
            "pools": pair.as_json() | {name: answer.as_json() for name, answer in answers.items()}
            | {"startup_lines": startup_lines(dict(zip(POOLS, pools, strict=True)))}}
    measured = measured_evidence(pools, service.answers)
    figures = service_figures(service.seen)
    details: list[Block] = []
    parts: list[Block] = []
    for name, pool in zip(POOLS, pools, strict=True):
        result = answers[name]
        figures += [(name, f"{verdict(pool, result)}; {text}")
                    for _, text in memory_figures(result)[:1]]
        skipped = {*LATENCIES, "tpot", "output_throughput"}
        table = quantity_table(result, skipped)
        details += [replace(table, title=f"{name}: {deployment_line(pool)}"),
                    *documented_tables(result)]
        parts += part_tables(pool, result)
    body = [*pair_lines(pair), *notes(*pools).values(),
            *(words[0] for name, pool in zip(POOLS, pools, strict=True)
              for words in engine_words(pool, name)),
            *((measured[0],) if measured else ())]
    body += [f"{name}: {line}" for name in POOLS for line in reason_lines(answers[name])]
    return View(f"{'FITS' if service.fits else 'DOES NOT FIT'}: {pools_line(pools)}", data,
                service.fits, figures, body,
                csv_table(service.seen.amounts() if service.seen else {}),
                {"details": details, "parts": parts,
                 "inputs": [input_table(pool) for pool in pools]})


def verdict(scenario: Scenario, result: Estimate) -> str:
    """Whether a deployment runs as asked, and what it is."""
    if result.fits:
        fits = "FITS"
    elif result.spare >= 0:
        fits = "DOES NOT RUN"
    elif result.waiting:  # an engine queues what has no place in the cache
        fits = f"FITS {result.served:,.0f} OF {result.in_flight:,.0f} REQUESTS, OTHERS WAIT"
    else:
        fits = "DOES NOT FIT"
    return f"{fits}: {deployment_line(scenario)}, {human(result.in_flight, 'request')} in flight"


def service_figures(seen: ServiceLevel | None) -> list[tuple[str, str]]:
    """Latency and throughput as users measure them; nothing where they are unknown."""
    if seen is None:
        return []
    load = "all requests at once" if seen.burst else "steady state"
    return [("TTFT", f"{seen.ttft.formatted('en')}, {load}"),
            ("TPOT", f"{seen.tpot.formatted('en')}; an answer takes {seen.e2e.text_in('en')}"),
            ("throughput", seen.throughput.formatted("en"))]


def memory_figures(result: Estimate) -> list[tuple[str, str]]:
    """Memory of the fullest card, and the requests that fit."""
    values = result.reported
    memory = values["memory_per_device"]
    parts = [f"{name} {values[symbol].text_in('en')}" for name, symbol in (
        ("weights", "weights_per_device"), ("KV cache", "kv_per_device"),
        ("activations", "activations_per_device")) if symbol in values]
    left = "to spare" if result.spare >= 0 else "short"
    share = "" if result.fits_in is None else f"; fits in {result.fits_in:.0%} of the draws"
    spare = values["headroom_per_device"]
    reach = f" ({spare.reach_in('en')})" if result.spare >= 0 else ""
    lines = [("memory", f"{memory.text_in('en')} of {values['usable_memory'].text_in('en')} a card "
              f"({joined(parts)}), {human(abs(result.spare), 'B')} {left}{reach}{share}")]
    if "max_concurrency" in values:
        waiting = f", {human(result.waiting, 'request')} wait" if result.waiting else ""
        lines.append(("requests", f"{values['max_concurrency'].formatted('en')} fit at once, each "
                      f"at its longest{waiting}"))
    return lines


def loads_of(result: Estimate) -> dict[str, dict[str, str]]:
    """Latency and throughput by load: steady, burst, benchmark; the headline's load first.

    A load maps the name of a burst's quantity to its own. Empty of a burst alone, of one pool of
    two, and of a single phase.
    """
    state, reported = result.steady, result.reported
    if result.unasked or state is None or not state.keeps_up:
        return {}
    steady = {burst: name for burst, name in STEADILY.items() if name in reported}
    loads = {"steady": steady, "burst": {burst: burst for burst in steady}, "bench": {
        burst: name for name, burst in OF_BENCHES.items() if name in reported}}
    return dict(sorted(loads.items(), key=lambda item: item[0] != state.arrivals))


def load_table(result: Estimate, loads: Mapping[str, Mapping[str, str]]) -> Table:
    """Latency and throughput, a column per load."""
    rows = [(heading(name), *(result.reported.get(names.get(name, "")) for names in loads.values()))
            for name in loads["steady"]]
    return Table(("", *(LOADS[load] for load in loads)), rows)


def quantity_table(result: Estimate, skipped: set[str]) -> Table:
    """Quantities with intervals, without those that another table has."""
    rows = [(symbols()[name].en, amount.text_in("en"),
             "" if amount.exact else amount.reach_in("en"), amount.kind.replace("_", " "))
            for name, amount in result.reported.items() if name not in skipped]
    return Table(("quantity", "value", "80% interval", "kind"), rows)


def engine_line(scenario: Scenario) -> str:
    """Say between which engines the values lie where the deployment names none; else empty."""
    engines = fitting(scenario.device)
    if scenario.engine is not None:
        return ""
    return "Engine not given" + (
        f": overheads are averaged over those of this card ({joined(engines)})." if engines
        else "; no engine is known for this card.")


def pair_lines(pair: Pools) -> list[str]:
    """Which of two pools limits throughput, and the best ratio of their cards."""
    rates = joined(f"{name} {human(rate, 'request/s')}" for name, rate in pair.rates.items())
    lines = [f"Limited by {pair.binds}: {rates}; {human(pair.rate * pair.answer, 'token/s')}.",
             f"Balanced with {human(pair.best_prefill_devices)} of {pair.devices} cards for "
             f"prefill: {human(pair.best_rate * pair.answer, 'token/s')}; in whole groups "
             f"{pair.whole[0]} prefill and {pair.whole[1]} decode: "
             f"{human(pair.whole_rate * pair.answer, 'token/s')}."]
    if pair.loop.keeps_up:
        lines.append(f"{human(pair.loop.decoding)} requests decode, "
                     f"{human(pair.loop.in_flight - pair.loop.decoding)} are in prefill or "
                     "transfer.")
    return lines


def step_lines(scenario: Scenario, result: Estimate) -> list[str]:
    """Largest parts of the time of a token; the engine's averages."""
    lines = []
    if "tpot" not in result.unasked:
        parts = result.parts["tpot"]
        total = sum(parts.values())
        largest = sorted(parts.items(), key=lambda item: -item[1])[:SHOWN_PARTS]
        lines.append(f"A step of {human(total, 's')}, limited by "
                     f"{resource_name(result.bottleneck['decode'])}: "
                     + joined(f"{name.replace('_', ' ')} {part / total:.0%}"
                              for name, part in largest if part > 0) + ".")
    return [*lines, *filter(None, [engine_line(scenario)])]


def arrival_lines(scenario: Scenario, steady: SteadyState | None) -> list[str]:
    """How requests arrive under each load, and which load the deployment states."""
    if steady is None:
        return []
    workload = scenario.file.workload
    count = f"{workload.concurrency.value:,}"
    rate = workload.arrival_rate.written if workload.arrival_rate else ""
    lines = [f"All at once: {count} requests arrive together."]
    if not steady.keeps_up:
        return [*lines, f"Steady state: none, {rate} is more than {count} requests in flight can "
                "finish; the queue grows without bound."]
    think = human(workload.think_time.value, "s") if workload.think_time else "0 s"
    load = (f"independent arrivals, {rate}" if steady.arrivals == "poisson" else
            f"{count} users, {think} between an answer and the next request")
    lines.append(f"Steady state: {load}; {human(steady.in_flight)} in flight.")
    if steady.arrivals != "poisson":
        inputs = Inputs(scenario.inputs())
        sent = bench_count(inputs, inputs.concurrency)
        lengths = "of the stated lengths" if inputs.answer_variation else "of equal length"
        lines.append(f"Benchmark: {sent:,.0f} requests {lengths}, {count} at the start, then one "
                     "after each answer.")
    return [*lines, "The deployment states no arrivals: the steady state is what users see."
            if not steady.arrivals else f"The deployment states arrivals: {steady.arrivals}."]


def doubt_lines(result: Estimate) -> list[str]:
    """Why the steady state is simulated, where its closed form is not valid."""
    names = result.steady.doubts if result.steady else ()
    if not names:
        return []
    why = "; ".join(doubt_words()[name][0] for name in names)
    if result.simulated is None:
        return [f"The closed form of the steady state is not valid here: {why}. It takes more than "
                "a few seconds to simulate: use `simulate`."]
    lengths = result.simulated.lengths
    return [f"The closed form of the steady state is not valid here: {why}. The numbers are means "
            f"of {result.simulated.summary.requests:,} simulated requests, lengths "
            f"{'as listed' if lengths is None else lengths.words()}."]


def cache_lines(result: Estimate) -> list[str]:
    """Use of the KV cache in the steady state, and how often it overflows."""
    steady = result.steady
    if steady is None or not steady.cache or result.everything["longest_requests"] < 1:
        return []
    share = steady.cache["cache_overflow"]
    often = f"{'less than ' * (share < RARE)}{max(share, RARE):.1%}"
    lines = [f"KV cache {steady.cache['cache_occupied']:.1%} full in the steady state; requests "
             f"wait or are preempted in {often} of the steps."]
    if result.suffices_steadily:
        lines.append("The verdict counts every request at its longest; in the steady state the "
                     f"cache suffices except in {often} of the steps.")
    return lines


def reason_lines(result: Estimate) -> list[str]:
    """Why a deployment does not run and what does; what was calibrated."""
    lines = [reason.text["en"] for reason in result.reasons]
    if result.changes:
        from calc.layouts.layout import set_line  # few answers need it

        for number, change in enumerate(result.changes):
            lines.append(f"{'Or' if number else 'Nearest'}: {change.text['en']}  "
                         f"{set_line(change.settings)}")
    if result.reasons and not result.changes:
        lines.append("No precision, layout or number of these cards runs it.")
    applied = result.calibration
    if applied is not None:
        lines.append(f"Calibrated to {symbols()[applied.metric].en} of {applied.scenario} "
                     f"({applied.name}).")
        for item in applied.outside:
            unit = symbols()[item.quantity].unit
            low, high = item.fitted_range
            fitted = human(low, unit) if low == high else span(low, high, unit)
            lines.append(f"Outside the calibration: {symbols()[item.quantity].en} "
                         f"{human(item.value, unit)}, fitted at {fitted}; the interval is wider.")
    return lines


def part_tables(scenario: Scenario, result: Estimate) -> list[Block]:
    """Parts of a token's time and of a prefill step, without those that are zero."""
    tables: list[Block] = []
    for name, phase in (("tpot", "decode"), ("prefill_chunk", "prefill")):
        if name in result.unasked or (phase == "prefill" and scenario.inputs()["separate_pools"]):
            continue
        parts = result.parts[name]
        total = sum(parts.values())
        rows = [(part.replace("_", " "), human(time, "s"), f"{time / total:.1%}")
                for part, time in sorted(parts.items(), key=lambda item: -abs(item[1])) if time]
        step = "time per output token, all at once" if name == "tpot" else "a step of prefill"
        tables.append(Table(("part", "time", "share"), rows, title=(
            f"{step}: {human(total, 's')}, limited by "
            f"{resource_name(result.bottleneck[phase])}")))
    return tables


def input_table(scenario: Scenario) -> Table:
    """Every input with its range and source."""
    values: dict[str, Any] = scenario.values() | {
        knob.name: knob.value for knob in scenario.knobs()}
    defined = symbols()
    rows = [(defined[name].en if name in defined else name.replace("_", " "), value.shown,
             value.kind, joined(filter(None, (value.source, value.section, value.date))))
            for name, value in values.items()]
    return Table(("input", "value", "kind", "source"), rows)


def documented_tables(result: Estimate) -> list[Block]:
    """What the document states, what its formula gives, and what is derived."""
    rows = [(symbols()[row.quantity].en, row.section or "", *(
        None if value is None else human(value, row.unit)
        for value in (row.printed, row.recomputed, row.derived))) for row in result.documented]
    return [Table(("quantity", "section", "document", "its formula", "derived"), rows,
                  title="What the document states")] if rows else []


def alternative_lines(searched: Alternatives, scenario: Scenario) -> list[str]:
    """Best deployments on the same cards: in the same, in any, in the published precision."""
    if not searched.tried:
        return []
    from calc.layouts.layout import set_line  # few answers need it

    lines = [f"Best of {searched.tried:,} deployments on the same cards:"]
    for label, advice in (("same precision", searched.own), ("any precision", searched.best),
                          ("published weights", searched.official)):
        if advice is None:
            if label != "published weights" or searched.official_precision is not None:
                lines.append(f"  {label}: none fits")
            continue
        inputs, rate = scenario.inputs(), advice.quantities["output_throughput"]
        tpot = human(advice.quantities["tpot"], "s")
        speed = (f"{human(rate * inputs['input_tokens'], 'token/s')} of prompts"
                 if inputs["output_tokens"] <= 1 else f"{human(rate, 'token/s')}, TPOT {tpot}")
        lines.append(f"  {label} ({advice.precision}): {speed}; "
                     f"{set_line(advice.settings) or 'as it is'}")
    return lines
