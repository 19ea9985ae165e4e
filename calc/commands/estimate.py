"""``estimate``: whether a deployment fits, its latency, throughput and what binds them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table

import calc
from calc.answer.estimate import LATENCIES, Comparison, Estimate, ServiceLevel
from calc.answer.request_lengths import longer_words
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
from calc.commands.arguments import (
    add_lengths,
    add_scenario,
    add_settings,
    lengths_of,
    listed,
)
from calc.commands.printing import (
    OK,
    amount,
    caveats_of,
    console,
    deployed_line,
    deployment_id,
    deployment_title,
    formatted,
    interval,
    named,
    print_json,
    resting_on,
    spoken,
    tell,
    text_of,
    translated,
)
from calc.evidence.classes import stand_ins
from calc.layouts.feasible import MEMORY
from calc.physics.arrays import Inputs
from calc.serving.evaluate import bench_count, doubt_words
from catalogue import ParamsError, Scenario, load_deployment, symbols
from catalogue.engine import fitting
from catalogue.messages import join, messages

if TYPE_CHECKING:
    from calc.searching.alternatives import Alternatives

common = messages("common")
say = messages("calc/commands/estimate")

RAREST = 1e-3  # share of the steps that is told; the tail is known to a seventh of it


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``estimate`` takes, besides ``--json``."""
    add_scenario(command)
    add_settings(command, say("help-set"))
    add_lengths(command)
    command.add_argument("--engines", metavar="ENGINE@RELEASE,...",
                         help=spoken(say("help-engines")))
    command.add_argument("--calibration", metavar="NAME", help=spoken(say("help-calibration")))
    command.add_argument("--alternatives", action="store_true",
                         help=spoken(say("help-alternatives")))


def run(args: argparse.Namespace) -> int:
    """Print the answer for one deployment.

    Raises ParamsError for a deployment, an override or a calibration that cannot be used.
    """
    if args.engines is not None:
        if args.calibration is not None:
            raise ParamsError(spoken(say("neither")))
        from calc.commands import compared  # engines side by side are asked for seldom

        return compared.run(args)
    lengths, of_lengths = lengths_of(args)
    settings = [*args.settings, *of_lengths]
    loaded = [listed(pool, lengths)
              for pool in load_deployment(args.scenario, overrides=settings)]
    if len(loaded) > 1:
        return run_pools(args, loaded)
    scenario, applied = loaded[0], None
    if args.calibration is not None:
        from calc.evidence.calibration import apply  # loaded only where it is used

        applied = apply(scenario, args.calibration)
    result = calc.estimate(scenario, applied)
    if printed := startup_line(scenario):  # at the longest request that the engine accepts
        exact = {"cache_tokens": printed.tokens}
        result = replace(result, quantities=result.quantities | exact,
                         reported=result.reported | exact)
    searched = None
    if args.alternatives or not result.fits:
        from calc.searching.alternatives import alternatives  # loads the search

        searched = alternatives(scenario)
    if args.json:
        seen = None if result.unasked else result.seen
        borrowed, longer = stand_ins(scenario), longer_words(scenario)
        optional = {"searched": searched and searched.as_json(),
                    "startup_line": printed and printed.as_json(),
                    "stand_ins": borrowed and borrowed[0],
                    "refused_requests": longer and longer[0]}
        print_json(result.as_json() | {"seen": seen and seen.as_json()} | caveats_of(scenario)
                   | {name: part for name, part in optional.items() if part})
        return OK
    print_estimate(scenario, result)
    for line in searched_lines(searched, scenario) if searched else ():
        print(line)
    return OK


def run_pools(args: argparse.Namespace, loaded: Sequence[Scenario]) -> int:
    """Print the answer for a deployment of two pools: together, then each by itself.

    Raises ParamsError for a calibration, which is of one pool.
    """
    if args.calibration is not None:
        raise ParamsError(spoken(say("calibration-of-pools", scenario=args.scenario)))
    deployed = estimate_service(loaded)
    pair, seen = deployed.pair, deployed.seen
    assert pair is not None
    if args.json:
        answers = {name: answer.as_json() for name, answer in zip(
            POOLS, deployed.answers, strict=True)}
        print_json({"scenario": deployment_id(loaded), "fits": deployed.fits,
                    "devices": deployed.devices,
                    "seen": seen and seen.as_json(), **caveats_of(*loaded),
                    "pools": pair.as_json() | answers | {"startup_lines": startup_lines(
                        dict(zip(POOLS, loaded, strict=True)))}})
        return OK
    screen = console()
    tell(screen, spoken(say("whole", title=translated(deployment_title(loaded)), fits=deployed.fits,
                            cards=deployed.devices)))
    measured = measured_evidence(loaded, deployed.answers)
    for line in (*_seen(seen), *pools(pair), *resting_on(*loaded), *lines_of_pools(loaded),
                 *map(spoken, filter(None, [measured]))):
        tell(screen, line)
    for scenario, answer in zip(loaded, deployed.answers, strict=True):
        screen.print()
        print_estimate(scenario, answer, alone=False)
    return OK


def _seen(seen: ServiceLevel | None) -> list[str]:
    """What users see, in a sentence; none where nothing is known of it."""
    if seen is None:
        return []
    return [spoken(say("users-see", burst=seen.burst, flying=amount(seen.in_flight),
                       first=formatted(seen.ttft), each=formatted(seen.tpot),
                       rate=formatted(seen.throughput)))]


def searched_lines(result: Alternatives, scenario: Scenario) -> list[str]:
    """What else would do on the same cards: in its own precision, in any, in the published one."""
    if not result.tried:
        return []
    lines = [spoken(say("on-the-same-cards", tried=f"{result.tried:,}"))]
    from calc.layouts.layout import set_line  # few answers need it

    for which, advice in (("own", result.own), ("any", result.best), ("official", result.official)):
        best = say("which-best", which=which)
        if advice is None:
            if which != "official" or result.official_precision is not None:
                lines.append(spoken(say("none-fits", best=best)))
            continue
        inputs, rate = scenario.inputs(), advice.quantities["output_throughput"]
        prompts = inputs["output_tokens"] <= 1  # which are all that is computed
        lines.append(spoken(say(
            "best-is", best=best, precision=advice.precision, prompts=prompts,
            rate=amount(rate * inputs["input_tokens"] if prompts else rate, "token/s"),
            pace=amount(advice.quantities["tpot"], "s"),
            settings=set_line(advice.settings) or common("as-it-is"))))
    return lines


def print_estimate(scenario: Scenario, result: Estimate, alone: bool = True) -> None:
    """Verdict and what would run; quantities with intervals; parts; the document beside ours.

    Args:
        scenario, result: the deployment and its estimate.
        alone: whether it is all of a deployment; of a pool beside another one, latency and
            throughput are those of both together and stand elsewhere.
    """
    screen = console()
    spare = result.spare >= 0
    verdict = "fits" if result.fits else "short" if not spare else "other"
    tell(screen, spoken(say(
        "verdict", title=translated(scenario.heading), verdict=verdict, left=spare,
        spare=amount(abs(result.spare), "B"),
        tokens=f"{scenario.inputs()['context_tokens']:,.0f}")))
    if alone and not result.unasked:
        for line in _seen(result.seen):
            tell(screen, line)
    if result.fits_in is not None:
        tell(screen, spoken(say("fits-in", share=f"{result.fits_in:.0%}")))
    if result.waiting:
        tell(screen, spoken(say(
            "queue", served=f"{result.served:,.0f}", waiting=f"{result.waiting:,.0f}",
            steady=result.steady is not None and result.steady.keeps_up,
            wait=amount(float(result.everything["place_wait"]), "s"))))
    deployed, engine = deployed_line(scenario), engine_line(scenario)
    tell(screen, spoken((f"{deployed} {engine}", f"{deployed}{engine}")))
    for line in [*(resting_on(scenario) if alone else ()),
                 *map(spoken, filter(None, (stand_ins(scenario), longer_words(scenario)))),
                 *reason_lines(result)]:
        tell(screen, line)
    table = Table(*map(spoken, (common("quantity"), common("value-2"), common("interval"),
                                common("kind"))))
    loads = loads_of(result)
    apart = {name for of in loads.values() for name in of.values()}
    for name, quantity in result.reported.items():
        if name in apart or (not alone and name in (*LATENCIES, "tpot", "output_throughput")):
            continue
        table.add_row(named(name), text_of(quantity),
            "" if quantity.exact else interval(quantity.low, quantity.high, quantity.unit),
            spoken(say("kind-of-value", kind=quantity.kind)))
    screen.print(table)
    if alone and loads:
        screen.print(load_table(result, loads))
    for words in engine_words(scenario) if alone else ():
        tell(screen, spoken(words))
    if alone and result.steady is not None:
        for line in [*arrivals(scenario, result.steady), *doubt_lines(result),
                     *cache_lines(result)]:
            tell(screen, line)
    if alone and (measured := measured_evidence((scenario,), (result,))):
        tell(screen, spoken(measured))
    print_parts(screen, result, bool(scenario.inputs()["separate_pools"]), bool(loads))
    if result.documented:
        screen.print(documented_table(result.documented))


def engine_line(scenario: Scenario) -> str:
    """Which engine is meant; of a deployment that names none, what its values stand between."""
    if scenario.engine is not None:
        return spoken(say("engine", engine=str(scenario.engine)))
    engines = fitting(scenario.device)
    return spoken(say("no-engine") if not engines else say(
        "engines-between", engines=(", ".join(engines), "、".join(engines))))


def pools(pair: Pools) -> list[str]:
    """Which of two pools binds, the best ratio of their cards, and a closed loop over both."""
    tokens = pair.answer
    rates = join((", ", "，"), [say("pool-rate", pool=name, rate=amount(rate, "request/s"))
                               for name, rate in pair.rates.items()])
    loop = pair.loop
    decoding = [] if not loop.keeps_up else [say(
        "decoding", decoding=amount(loop.decoding), prefilling=amount(
            loop.in_flight - loop.decoding))]
    return [spoken(line) for line in (
        say("two-pools", prefill=pair.prefill_devices, decode=pair.decode_devices,
            prompt=f"{pair.prompt:,.0f}", answer=f"{tokens:,.0f}"),
        say("pool-binds", rates=(rates[0][0].upper() + rates[0][1:], rates[1]), pool=pair.binds,
            rate=amount(pair.rate * tokens, "token/s")),
        say("in-balance", best=amount(pair.best_prefill_devices), devices=pair.devices,
            rate=amount(pair.best_rate * tokens, "token/s"), first=pair.whole[0],
            second=pair.whole[1], whole=amount(pair.whole_rate * tokens, "token/s")), *decoding)]


def lines_of_pools(both: Sequence[Scenario]) -> list[str]:
    """What the engine of each of two pools prints of its cache."""
    return [spoken(words) for name, pool in zip(POOLS, both, strict=True)
            for words in engine_words(pool, name)]


def arrivals(scenario: Scenario, steady: SteadyState) -> list[str]:
    """How requests arrive in either answer, and which of them the scenario asks for."""
    workload = scenario.file.workload
    count = f"{workload.concurrency.value:,}"
    rate = workload.arrival_rate.written if workload.arrival_rate else ""
    lines = [say("burst", count=count)]
    if not steady.keeps_up:
        return [spoken(line) for line in (*lines, say("no-steady-state", rate=rate, count=count))]
    thinks = workload.think_time.value if workload.think_time else 0
    lines.append(say(
        "steady-state", flying=amount(steady.in_flight),
        asked=say("independent-arrivals", rate=rate) if steady.arrivals == "poisson" else say(
            "users-ask-again", users=count, thinks=bool(thinks), after=amount(thinks, "s"))))
    if steady.arrivals != "poisson":
        inputs = Inputs(scenario.inputs())
        sent = bench_count(inputs, inputs.concurrency)
        lines.append(say("benchmark", sent=f"{sent:,.0f}", users=count,
                         equal=not inputs.answer_variation))
    lines.append(say("arrivals-named", burst=steady.arrivals == "burst") if steady.arrivals
                 else say("arrivals-not-named"))
    return list(map(spoken, lines))


def doubt_lines(result: Estimate) -> list[str]:
    """Why the steady state is simulated, where the closed form does not hold; a sentence."""
    names = result.steady.doubts if result.steady else ()
    if not names:
        return []
    why = join(("; ", "；"), [doubt_words()[name] for name in names])
    if result.simulated is None:
        return [spoken(say("doubted", why=why))]
    lengths = result.simulated.lengths
    return [spoken(say("simulated", why=why, requests=f"{result.simulated.summary.requests:,}",
                       listed=lengths is None,
                       lengths=lengths.words() if lengths else ""))]


def loads_of(result: Estimate) -> dict[str, dict[str, str]]:
    """Latency and throughput that are told beside one another: by load, the first that of the
    headline, and in it by the name of a burst's the quantity of that load; none of a burst alone,
    of one pool of two, or of a phase alone."""
    state, reported = result.steady, result.reported
    if result.unasked or state is None or not state.keeps_up:
        return {}
    steady = {burst: name for burst, name in STEADILY.items() if name in reported}
    loads = {"steady": steady, "burst": {burst: burst for burst in steady}, "bench": {
        burst: name for name, burst in OF_BENCHES.items() if name in reported}}
    return dict(sorted(loads.items(), key=lambda item: item[0] != state.arrivals))


def load_table(result: Estimate, loads: Mapping[str, Mapping[str, str]]) -> Table:
    """Latency and throughput, a column per load."""
    table = Table(spoken(common("quantity")), *(spoken(say("load", load=load)) for load in loads))
    for name in loads["steady"]:
        cells = [result.reported[of[name]] if name in of else None for of in loads.values()]
        table.add_row(named(name), *("–" if cell is None else formatted(cell) for cell in cells))
    return table


def cache_lines(result: Estimate) -> list[str]:
    """How full the cache is in a steady state, and how often it does not suffice; sentences."""
    steady = result.steady
    if steady is None or not steady.cache or result.everything["longest_requests"] < 1:
        return []  # of what holds no request
    share = steady.cache["cache_overflow"]
    often = say("often", rare=share < RAREST, share=f"{max(share, RAREST):.1%}")
    lines = [spoken(say("cache", occupied=f"{steady.cache['cache_occupied']:.1%}", often=often))]
    if result.suffices_steadily:
        lines.append(spoken(say("cache-suffices", often=often)))
    return lines


def reason_lines(result: Estimate) -> list[str]:
    """Why it does not run and what does; what was calibrated; sentences."""
    lines = [translated(reason.text) for reason in result.reasons]
    if result.changes:
        from calc.layouts.layout import set_line  # few answers need it

        for number, change in enumerate(result.changes):
            lines += [spoken(say("nearest", first=number == 0, change=translated(change.text))),
                      f"    {set_line(change.settings)}"]
    if result.reasons and not result.changes:
        lines.append(spoken(say("no-change")))
    applied = result.calibration
    if applied is not None:
        lines.append(spoken(say("calibrated", metric=named(applied.metric),
                                scenario=applied.scenario, name=applied.name)))
        for item in applied.outside:
            unit = symbols()[item.quantity].unit
            low, high = item.fitted_range
            fitted = amount(high, unit) if low == high else interval(low, high, unit)
            lines.append(spoken(say("outside", quantity=named(item.quantity),
                                    value=amount(item.value, unit), fitted=fitted)))
    return lines


def print_parts(screen: Console, result: Estimate, apart: bool, burst: bool) -> None:
    """Print the parts of a token's time and of a prefill step without those that are zero, and the
    resource that binds each.

    Args:
        screen: where.
        result: the answer.
        apart: whether another pool computes the prompts.
        burst: whether a token's time has to be said to be that of a burst.
    """
    for name, phase in (("tpot", "decode"), ("prefill_chunk", "prefill")):
        if name in result.unasked or (apart and phase == "prefill"):
            continue
        parts = result.parts[name]
        total = sum(parts.values())
        binds = result.bottleneck[phase]
        table = Table(title=spoken(say(
            "parts-of", whole=name, burst=burst, total=amount(total, "s"),
            bound=binds != MEMORY, resource=binds,
            plain=binds.replace("_", " ").replace("l2", "L2"))))
        table.add_column(spoken(common("part")))
        for column in (common("time"), common("share")):
            table.add_column(spoken(column), justify="right")
        for piece, part in sorted(parts.items(), key=lambda item: -abs(item[1])):
            if part:
                named_so = say("part-of-step", part=piece, plain=piece.replace("_", " "))
                table.add_row(spoken(named_so), amount(part, "s"), f"{part / total:.1%}")
        screen.print(table)


def documented_table(rows: tuple[Comparison, ...]) -> Table:
    """What the document says of each quantity, what its formula gives, and what is derived."""
    table = Table(*map(spoken, (common("quantity"), common("section"), common("printed"),
                                say("its-formula-gives"), say("derived-here"))),
                  title=spoken(say("what-the-document-says")))
    for row in rows:
        table.add_row(named(row.quantity), row.section or "", amount(row.printed, row.unit),
                      amount(row.recomputed, row.unit), amount(row.derived, row.unit))
    return table
