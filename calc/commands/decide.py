"""``decide``: sensitivity analysis: elasticities, tornado, break-even, value of information."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from typing import Any

import click

from calc.commands.options import (
    Number,
    cli_command,
    refuse_too_long,
    require,
    scenario_argument,
    settings_option,
)
from calc.commands.view import SHARE, Table, View, joined, progress
from calc.costing.ownership import stated
from calc.many.processes import OnProgress
from calc.sensitivity.break_even import FIRST, SECOND, TIE, breakeven, doubt
from calc.sensitivity.information import CARDS, DRAWS, between, to_buy
from calc.sensitivity.paths import path_of
from calc.sensitivity.plans import (
    CARD_HOURS,
    Plan,
    against,
    check_quantity,
    plan_of,
    quantity_label,
    signed,
    unit_of,
)
from calc.sensitivity.sobol import SAMPLES, sensitivity
from calc.sensitivity.tornado import OWN, answers_of, tornado
from calc.uncertainty import Amount
from catalogue import ParamsError, symbols
from catalogue.deployments.admission import longest_request
from catalogue.reading.units import human, span

SHOWN = 7  # rows of a table, without --details
FEW = 3  # inputs of the first line


Analysis = tuple[Any, Table, list[tuple[str, str]]]
"""Data for programs, all rows, and figures: label and text, a line each."""


NEEDED = (("breakeven", "against"), ("between", "breakeven"), ("price", "against"),
          ("card_price", "demand"), ("late", "demand"), ("demand", "information"))
"""Options, and the other that each needs."""


@cli_command(
    "decide", "h200-r1-vllm-tp8", "plan.yml --quantity ttft --sensitivity",
    "plan.yml --breakeven workload.concurrency --against parallelism.expert_parallel=8",
    "plan.yml --information --demand '50000 token/s' --late 2", sections=("details",))
@scenario_argument
@settings_option
@click.option("--quantity", metavar="NAME", help=(
    "Result to analyse: throughput_per_card, card_hours or a name printed by `will-it-fit estimate "
    "DEPLOYMENT --csv` (default: tpot; card_hours with --information)."))
@click.option("--tornado", "ways", flag_value="tornado", multiple=True, help=(
    "Vary each input alone over its range (default: this and --elasticities)."))
@click.option("--elasticities", "ways", flag_value="elasticities", multiple=True,
              help="Print the percentage change of the result for a 1% change of each input.")
@click.option("--sensitivity", "ways", flag_value="sensitivity", multiple=True,
              help="Print Sobol indices: the share of the variance that each input explains.")
@click.option("--samples", type=Number(integer=True), metavar="NUMBER", help=(
    f"Number of Monte Carlo samples (default: {SAMPLES:,} for --sensitivity, {DRAWS:,} for "
    "--information)."))
@click.option("--breakeven", metavar="KEY",
              help="Find the value of KEY at which both deployments give the same result.")
@click.option("--against", metavar="KEY=VALUE,...|DEPLOYMENT",
              help="Alternative: overrides of this deployment, or another deployment.")
@click.option("--between", metavar="LOW,HIGH", help=(
    "Range of KEY to search (default: its uncertainty range, or a range around its value)."))
@click.option("--margin", type=Number(most=0.999), default="0", metavar="SHARE",
              help="Minimum relative improvement at which --against counts as better, e.g. 10%.")
@click.option("--information", "ways", flag_value="information", multiple=True, help=(
    "Print which input to measure first (value of information). Requires --against or --demand."))
@click.option("--demand", type=Number("token/s", most=1e12, above=True), metavar="RATE",
              help="Required output throughput, e.g. '50000 token/s'; requires --information.")
@click.option("--late", type=Number(),
              help="Price of cards bought later, as a multiple of today's; requires --demand.")
@click.option("--price", metavar="MONEY/h", help="Price per card-hour; requires --against.")
@click.option("--card-price", metavar="MONEY", help="Purchase price per card; requires --demand.")
def command(scenario: str, settings: tuple[str, ...], quantity: str | None,
            ways: tuple[str, ...], **options: Any) -> View:
    """Which inputs does a result depend on, and which is worth measuring first?

    Also finds the value of an input at which two deployments give the same result. DEPLOYMENT is a
    catalogue name (`will-it-fit list deployments`) or your own file.
    """
    require(options | {"information": "information" in ways or None}, NEEDED)
    if options["against"] and not options["breakeven"] and "information" not in ways:
        raise ParamsError("--against: expected --breakeven KEY or --information beside it.")
    name = quantity or (CARD_HOURS if "information" in ways else "tpot")
    plan = plan_of(scenario, settings, "")
    refuse_too_long(plan.scenario.id, plan.scenario.model, longest_request(plan.scenario))
    other = against(scenario, settings, options["against"]) if options["against"] else None
    for one in filter(None, (plan, other)):
        check_quantity(one, name)
    wanted = {*ways, *(["breakeven"] if options["breakeven"] else [])} or {
        "tornado", "elasticities"}
    with progress() as report:
        analyses: dict[str, Callable[[], Analysis]] = {
            "tornado": lambda: tornado_of(plan, name),
            "elasticities": lambda: elasticities_of(plan, name),
            "sensitivity": lambda: sensitivity_of(plan, name, options["samples"], report),
            "breakeven": lambda: break_even_of(plan, other, name, options),
            "information": lambda: information_of(plan, other, name, options)}
        done = {way: analyse() for way, analyse in analyses.items() if way in wanted}
    value, fits = human(float(plan.at({}, name)[0]), unit_of(name)), bool(plan.fits({})[0])
    tables = [table for _, table, _ in done.values() if table.rows]
    return View(
        f"{plan.label}: {quantity_label(name)[0]} {value}" + "; it does not fit" * (not fits),
        {"scenario": plan.scenario.id, "quantity": name, "unit": unit_of(name),
         **{way: data for way, (data, _, _) in done.items()}}, None if fits else False,
        [figure for _, _, figures in done.values() for figure in figures],
        [replace(table, rows=table.rows[:SHOWN]) for table in tables],
        next(iter(done.values()))[1], {"details": tables})


def elasticities_of(plan: Plan, name: str) -> Analysis:
    """Local slopes by input; of a count the mean between half of it and twice."""
    defined = symbols()
    data = [vars(one) for one in answers_of(plan, name)]
    rows = [one | {"input": input_words(one["name"]), "value": Amount.exactly(
        one["value"], defined[one["symbols"][0]].unit)} for one in data]
    unit = {"elasticity": unit_of(name)} if signed(name) else {}
    return data, Table.of(rows, "input", "value", "elasticity", "arc", **unit,
                          title="Elasticities: change per relative change of an input"), []


def tornado_of(plan: Plan, name: str) -> Analysis:
    """Each input at both ends of its range, and those with the largest effect."""
    result = tornado(plan, name)
    bars = [asdict(bar) | {"swing": bar.swing} for bar in result.bars]
    decides = joined(input_words(bar.name) for bar in result.bars[:FEW]) or "no input"
    ends = ("at_low", "at_high", "swing")
    return {"value": result.value, "bars": bars}, Table.of(
        [bar | {"input": input_words(bar["name"]), "range": span(
            bar["low"], bar["high"], bar["unit"])} for bar in bars],
        "input", "range", *ends, title=f"{quantity_label(name)[0]}, each input alone",
        **dict.fromkeys(ends, unit_of(name))), [("depends on", decides)]


def sensitivity_of(plan: Plan, name: str, samples: int | None, report: OnProgress) -> Analysis:
    """Sobol indices of the inputs."""
    data = asdict(sensitivity(plan, name, samples or SAMPLES, report))
    rows = [index | {"input": input_words(index["name"])} for index in data["indices"]]
    return data, Table.of(
        rows, "input", "first", "first_error", "total", "total_error",
        title="Share of the variance (Sobol): alone, with interactions, ends of 95% intervals"), [
        ("depends on", joined(row["input"] for row in rows[:FEW]))]


def break_even_of(plan: Plan, other: Plan | None, name: str, options: Mapping[str, Any]
                  ) -> Analysis:
    """Where one of two deployments stops being the better one."""
    assert other is not None
    path, margin = path_of(plan, options["breakeven"], options["between"]), options["margin"]
    result = breakeven(plan, other, path, name, margin)
    unsure = None if signed(name) else doubt(plan, other, path, name, margin)
    who = {FIRST: plan.label, SECOND: other.label, TIE: "both alike"}
    changes = f" at first, {len(result.turns)} changes" * (not result.always)
    figures = [("better", f"{who.get(result.start, 'neither')}{changes}, for {path.name} of "
                f"{span(result.low, result.high, path.unit)}")]
    if unsure:
        figures.append(("uncertainty", f"{plan.label} is better throughout in {unsure.first:.0%} "
                        f"of samples, {other.label} in {unsure.second:.0%}"))
    if not other.fits({})[0]:
        figures.append(("memory", f"{other.label} does not fit"))
    data = asdict(result) | {
        "path": path.name, "unit": path.unit, "first": plan.label, "second": other.label,
        "now": float(plan.inputs[path.symbols[0]]), "doubt": asdict(unsure) if unsure else None}
    return data, Table((path.name, "better from there on", "kind"), [
        (turn.at, who.get(turn.after, "neither"), turn.kind) for turn in result.turns],
        units={path.name: path.unit}), figures


def information_of(plan: Plan, other: Plan | None, name: str, options: Mapping[str, Any]
                   ) -> Analysis:
    """The value of knowing each input before a choice or a purchase."""
    draws = options["samples"] or DRAWS
    if options["demand"] is not None:
        if options["late"] is None or other or options["price"] or name != CARD_HOURS:
            raise ParamsError("--demand: expected --late FACTOR beside it, and neither --against, "
                              "--price nor --quantity.")
        price, unit = money("--card-price", options["card_price"], "", CARDS)
        result = to_buy(plan, options["demand"], options["late"], price, draws)
    elif other is None:
        raise ParamsError("--information: expected a choice, --against, or a purchase, --demand.")
    elif options["card_price"] or (options["price"] and name != CARD_HOURS):
        raise ParamsError("--card-price belongs to --demand, and --price to --quantity card_hours.")
    else:
        price, unit = money("--price", options["price"], "/h", "card-hours")
        unit = f"{unit} per million tokens" if name == CARD_HOURS else unit_of(name)
        result = between(plan, other, name, price, draws)
    worths = [asdict(worth) | {"measured first": input_words(worth.name)}
              for worth in result.worths if worth.value > worth.scatter]
    figures = [("best now", f"{result.options[result.taken]}: expected "
                f"{human(result.losses[result.taken], unit)}; another choice is better in "
                f"{result.wrong:.0%} of samples"),
               ("at most", f"{human(result.perfect, unit)} saved by knowing everything first")]
    if result.needed:
        few, half, most = (human(round(cards)) for cards in result.needed)
        figures.append(("cards", f"{half} needed, {few} to {most} in 80% of samples"))
    return result.as_json() | {"unit_of_losses": unit}, Table.of(
        worths, "measured first", "value", "changes", value=unit, changes=SHARE,
        title="Saved by knowing an input, and how often it changes the choice"), figures


def input_words(name: str) -> str:
    """Name of an input in words; of the formulas' own error what it is.

    >>> input_words("matrix_peak.fp8"), input_words("own_error")
    ('matrix peak of fp8', "the formulas' own error")
    """
    return name.replace(OWN, "the formulas' own error").replace("_", " ").replace(".", " of ")


def money(option: str, text: str | None, per: str, instead: str) -> tuple[float, str]:
    """Price and currency; without a price one, and ``instead`` of a currency."""
    if text is None:
        return 1.0, instead
    price = stated(text, f"USD{per}", option)
    return price.per(f"{price.currency}{per}")[0], price.currency
