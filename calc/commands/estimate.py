"""``estimate``: whether a deployment fits, its latency, throughput and what binds them."""

from __future__ import annotations

import argparse
from typing import Any

from rich.console import Console
from rich.table import Table

import calc
from calc.answer.estimate import CAPACITY, Comparison, Estimate
from calc.answer.steady_state import STEADY, Lasting
from calc.answer.two_pools import Pools, together
from calc.closed_form.benches import bench_count
from calc.closed_form.validity import doubt_words
from calc.commands import compared
from calc.commands.lengths import add_lengths, lengths_of, listed
from calc.commands.printing import OK, console, deployed_line, plain, print_json
from calc.evidence.classes import named, stand_ins
from calc.layouts.change import set_line
from calc.physics.arrays import Inputs
from calc.searching.same_cards import Alternatives, alternatives
from catalogue import ParamsError, Scenario, Symbol, Value, load_pools, load_scenario, symbols
from catalogue.engines.released import fitting
from catalogue.reading.amounts import human, span

RAREST = 1e-3  # share of the steps that is told; the tail is known to a seventh of it


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``estimate`` takes, besides ``--json``."""
    command.add_argument("scenario", help="identifier or path of a scenario file")
    command.add_argument("--set", action="append", default=[], metavar="PATH=VALUE",
                         dest="settings", help="override, e.g. parallelism.tensor_parallel=16, "
                                               "device=nvidia-h20 or "
                                               "mechanisms.prefix_hit_share=0.3")
    add_lengths(command)
    command.add_argument("--engines", metavar="ENGINE@RELEASE,...",
                         help="the same under two engines and more, side by side: what differs, "
                              "and which mechanism makes it; e.g. vllm@0.11,sglang@0.5.6")
    command.add_argument("--documented", action="store_true",
                         help="take of the device what the scenario's document states of it")
    command.add_argument("--calibration", metavar="NAME",
                         help="take what was fitted: an entry of params/calibrations/")


def run(args: argparse.Namespace) -> int:
    """Print the answer for one deployment.

    Raises ParamsError for a deployment, an override or a calibration that cannot be used.
    """
    if args.engines is not None:
        if args.documented or args.calibration is not None:
            raise ParamsError("--engines: compares predictions, expected neither --documented nor "
                              "--calibration beside it.")
        return compared.run(args)
    lengths, of_lengths = lengths_of(args)
    settings = [*args.settings, *of_lengths]
    scenario = listed(load_scenario(args.scenario, overrides=settings,
                                    documented=args.documented), lengths)
    applied = None
    if args.calibration is not None:
        from calc.evidence.calibrated import apply  # SciPy is loaded only where something is fitted

        applied = apply(scenario, args.calibration)
    result = calc.estimate(scenario, applied)
    taken = taken_from_document(scenario) if args.documented else {}
    both = load_pools(args.scenario, overrides=settings)
    pair = together(*(listed(pool, lengths) for pool in both)) if both else None
    searched = alternatives(scenario)
    if args.json:
        borrowed = stand_ins(scenario)
        print_json(result.as_json() | {"searched": searched.as_json()}
                   | ({"stand_ins": borrowed[0]} if borrowed else {})
                   | ({"pools": pair.as_json()} if pair else {})
                   | ({"taken_from_document": taken} if args.documented else {}))
        return OK
    for line in pools(pair) if pair else ():
        print(line)
    print_estimate(scenario, result)
    for line in searched_lines(searched, scenario):
        print(line)
    for name, value in taken.items():
        print(f"taken from document {value['source']}, section {value['section']}: "
              f"{name} {value['written']}")
    return OK


def searched_lines(found: Alternatives, scenario: Scenario) -> list[str]:
    """What else would do on the same cards: in its own precision, in any, in the published one."""
    if not found.tried:
        return []
    lines = [f"On the same cards, of {found.tried:,} deployments that were tried:"]
    kinds = (("in its precision", found.own), ("in any", found.best),
             ("in the published weights", found.official))
    for name, advice in kinds:
        if advice is None:
            if name != kinds[-1][0] or found.official_precision is not None:
                lines.append(f"  best {name}: none fits.")
            continue
        rate, pace = (human(advice.quantities[key], unit) for key, unit in (
            ("output_throughput", "token/s"), ("tpot", "s")))
        lines.append(f"  best {name} ({advice.precision}): {rate}, a token every {pace}; "
                     f"{set_line(advice.settings) or 'as it is'}")
    return lines


def taken_from_document(scenario: Scenario) -> dict[str, Any]:
    """The inputs that a document states of the scenario's device."""
    values = {name: getattr(scenario.device, name) for name in type(scenario.device).model_fields}
    return {name: plain(value) for name, value in values.items()
            if isinstance(value, Value) and value.kind == "documented"}


def print_estimate(scenario: Scenario, result: Estimate) -> None:
    """Verdict and what would run; quantities with intervals; parts; the document beside ours."""
    screen = console()
    spare = result.spare >= 0
    verdict = "fits" if result.fits else "does not fit" if not spare else "does not run as asked"
    screen.print(f"{scenario.heading['en']}: {verdict}, {human(abs(result.spare), 'B')} "
                 f"per device {'to spare' if spare else 'short'}, every request at its longest "
                 f"({scenario.inputs()['context_tokens']:,.0f} tokens).", soft_wrap=True)
    if result.fits_in is not None:
        screen.print(f"Over the ranges of all inputs it fits in {result.fits_in:.0%} of the draws.",
                     highlight=False, soft_wrap=True)
    screen.print(f"{deployed_line(scenario)} {engine_line(scenario)}", highlight=False,
                 soft_wrap=True)
    for line in [*(stand_ins(scenario) or ())[:1], *_explained(result)]:
        screen.print(line, highlight=False, soft_wrap=True)
    known = symbols()
    table = Table()
    for column in ("quantity", "value", "80% interval", "kind"):
        table.add_column(column)
    for name, quantity in result.told.items():
        of_burst = ", burst" if result.lasting and name in STEADY.values() else ""
        table.add_row(known[name].en + of_burst, quantity.text, quantity.reach,
                      quantity.kind.replace("_", " "))
    screen.print(table)
    if result.lasting is not None:
        for line in [*arrivals(scenario, result.lasting), *_doubted(result), *_cache(result)]:
            screen.print(line, highlight=False, soft_wrap=True)
    for line in _measured(result):
        screen.print(line, highlight=False, soft_wrap=True)
    _print_parts(screen, result)
    if result.documented:
        _print_documented(screen, known, result.documented)


def engine_line(scenario: Scenario) -> str:
    """Which engine is meant; of a deployment that names none, what its values stand between."""
    if scenario.engine is not None:
        asked = scenario.running.asked if scenario.running else None
        instead = (f", the nearest release that is known to {asked}: what it does is taken for "
                   "that one" if asked else "")
        return f"Engine: {scenario.engine}{instead}."
    known = ", ".join(fitting(scenario.device))
    return (f"No engine named: values between those of {known}." if known else
            "No engine named, and none is known to run on this card.")


def pools(pair: Pools) -> list[str]:
    """Which of two pools binds, the best ratio of their cards, and a closed loop over both."""
    tokens = pair.answer
    each = ", ".join(f"{'transfers deliver' if name == 'transfer' else name + ' finishes'} "
                     f"{human(rate, 'request/s')}" for name, rate in pair.rates.items())
    loop = pair.loop
    return [
        f"Two pools, {pair.prefill_devices} cards that prefill and {pair.decode_devices} that "
        f"decode, requests of {pair.prompt:,.0f} and {tokens:,.0f} tokens.",
        f"{each[0].upper()}{each[1:]}: {pair.binds} binds, {human(pair.rate * tokens, 'token/s')}.",
        f"In balance {human(pair.best_prefill_devices)} of {pair.devices} cards prefill: "
        f"{human(pair.best_rate * tokens, 'token/s')}; of whole groups {pair.whole[0]} and "
        f"{pair.whole[1]}: {human(pair.whole_rate * tokens, 'token/s')}.",
        f"Closed loop of {loop.users:,.0f} users: {human(loop.rate * tokens, 'token/s')}, TTFT "
        f"{human(loop.ttft, 's')}, TPOT {human(loop.tpot, 's')}, {loop.decoding:,.0f} decode."]


def arrivals(scenario: Scenario, steady: Lasting) -> list[str]:
    """How requests arrive in either answer, and which of them the scenario asks for."""
    workload = scenario.file.workload
    count = f"{workload.concurrency.value:,} requests"
    rate = workload.arrival_rate.written if workload.arrival_rate else ""
    lines = [f"Burst: {count} arrive at once."]
    if not steady.keeps_up:
        return [*lines, f"Steady state: there is none, {rate} is more "
                        f"than {count} in flight let out; the queue grows without end."]
    if steady.arrivals == "poisson":
        asked = f"independent arrivals, {rate}"
    else:
        thinking = workload.think_time
        after = (f"{human(thinking.value, 's')} after" if thinking and thinking.value
                 else "right after")
        asked = f"{workload.concurrency.value:,} users who each ask again {after} the answer"
    inputs = Inputs(scenario.inputs())
    sent, equal = bench_count(inputs), not inputs.answer_variation
    bench = [] if steady.arrivals == "poisson" else [
        f"Benchmark: {sent:,.0f} requests, {workload.concurrency.value:,} of them together at the "
        "beginning, each other one after an answer; "
        + ("all equally long." if equal else "of lengths as stated.")]
    answer = "the burst" if steady.arrivals == "burst" else "the steady state"
    named = (f"The scenario's arrivals are those of {answer}." if steady.arrivals
             else "The scenario names no arrivals: the steady state is what its users see.")
    return [*lines, f"Steady state: {asked}; {human(steady.in_flight)} in flight.", *bench, named]


def _doubted(result: Estimate) -> list[str]:
    """Why the steady state is simulated, where the closed form does not hold; a sentence."""
    names = result.lasting.doubts if result.lasting else ()
    if not names:
        return []
    why = "; ".join(doubt_words()[name][0] for name in names)
    if result.seen is None:
        return [f"The closed form of the steady state does not hold here: {why}. It could not be "
                "simulated in a few seconds; `simulate` takes longer."]
    return [f"The closed form of the steady state does not hold here: {why}. Its numbers are the "
            f"means of {result.seen.summary.requests:,} simulated requests, lengths "
            f"{result.seen.lengths or 'as listed'}."]


def _cache(result: Estimate) -> list[str]:
    """How full the cache is in a steady state, and how often it does not suffice; sentences."""
    lasting = result.lasting
    if lasting is None or not lasting.cache:
        return []
    share = lasting.cache["cache_overflow"]
    often = f"{share:.1%}" if share >= RAREST else f"less than {RAREST:.1%}"
    lines = ["Cache in the steady state: requests take "
             f"{lasting.cache['cache_occupied']:.1%} of its blocks on average, and more than there "
             f"are in {often} of the steps, where one waits or loses its blocks."]
    if result.suffices_steadily:
        lines.append("What is short is room for all requests at their longest at once; in the "
                     f"steady state the cache holds them, except in {often} of the steps.")
    return lines


def _explained(result: Estimate) -> list[str]:
    """Why it does not run and what does; what was calibrated; sentences."""
    lines = [reason.text["en"] for reason in result.reasons]
    for number, change in enumerate(result.changes):
        lines += [("Nearest: " if number == 0 else "Or: ") + change.text["en"],
                  f"    {set_line(change.settings)}"]
    if result.reasons and not result.changes:
        lines.append("No precision, cut or number of these cards was found that runs it.")
    applied = result.applied
    if applied is not None:
        lines.append(f"Calibrated to {symbols()[applied.metric].en} of {applied.scenario} "
                     f"({applied.name}).")
        for item in applied.outside:
            name, unit = symbols()[item.quantity].en, symbols()[item.quantity].unit
            low, high = item.fitted_range
            fitted = human(high, unit) if low == high else span(low, high, unit)
            lines.append(f"Outside of what it was fitted to: {name} {human(item.value, unit)}, "
                         f"fitted at {fitted}; the interval is wider for it.")
    return lines


def _measured(result: Estimate) -> list[str]:
    """Of which class the intervals are, and what was measured of it; a sentence per class."""
    of: dict[str, list[str]] = {}
    for name, quantity in result.told.items():
        own = quantity.own_error
        if own is not None:
            stand_in = f" (as {symbols()[own.metric].en})" if own.metric != name else ""
            of.setdefault(own.of, []).append(
                f"{symbols()[name].en}{stand_in} {own.inside} of {own.rows}")
    return [f"Own error of the class {named(name)[0]}; measured rows inside of their 80% "
            f"intervals: {', '.join(counts)}." for name, counts in of.items()]


def _print_parts(screen: Console, result: Estimate) -> None:
    """What a token and a step of prefill are made of, and what binds each; no part of nothing.

    Of a token they sum to the median that is told of it.
    """
    for whole, phase, title in (("tpot", "decode", "time per output token"),
                                ("prefill_chunk", "prefill", "a step of prefill")):
        if whole in result.unasked:
            continue
        pace = result.quantities.get(whole)
        factor = pace.value / pace.central if pace else 1.0
        parts = {name: factor * part for name, part in result.parts[whole].items()}
        total = sum(parts.values())
        binds = result.bottleneck[phase]
        resource = binds.replace("_", " ").replace("l2", "L2")
        by = "" if binds == CAPACITY else f", bound by {resource}"
        table = Table(title=f"{title}: {human(total, 's')}{by}")
        for column in ("part", "time", "share"):
            table.add_column(column, justify="left" if column == "part" else "right")
        for name, part in sorted(parts.items(), key=lambda item: -abs(item[1])):
            if part:
                table.add_row(name.replace("_", " "), human(part, "s"), f"{part / total:.1%}")
        screen.print(table)


def _print_documented(screen: Console, known: dict[str, Symbol],
                      rows: tuple[Comparison, ...]) -> None:
    table = Table(title="what the document says")
    for column in ("quantity", "section", "printed", "its formula gives", "derived here"):
        table.add_column(column)
    for row in rows:
        name = known[row.quantity].en if row.quantity in known else row.quantity
        table.add_row(name, row.section or "", human(row.printed, row.unit),
                      human(row.recomputed, row.unit), human(row.derived, row.unit))
    screen.print(table)
