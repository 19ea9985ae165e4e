"""``decide``: sensitivity analysis: elasticities, tornado, break-even, value of information."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import click
import numpy as np

from calc.commands import INTERRUPTED, OK
from calc.commands.options import (
    cli_command,
    quantity,
    refuse_too_long,
    scenario_argument,
    settings_option,
)
from calc.commands.view import Block, Table, View, joined, progress
from calc.many.processes import OnProgress
from calc.sensitivity.break_even import FIRST, SECOND, TIE, BreakEven, breakeven, doubt
from calc.sensitivity.information import CARDS, DRAWS, Information, between, to_buy
from calc.sensitivity.paths import Path, path_of
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
from calc.sensitivity.sobol import MOST, SAMPLES, sensitivity
from calc.sensitivity.tornado import OWN, answers_of, tornado
from catalogue import ParamsError, symbols
from catalogue.deployments.admission import longest_request
from catalogue.reading import units
from catalogue.reading.units import human, plain, span

SHOWN = 7  # rows of a table, without --details
FEW = 3  # inputs of the first line
CURRENCIES = ("USD", "CNY")
WAYS = {"elasticities": "each input alone", "tornado": "each input alone",
        "sensitivity": "samples of all inputs", "information": "value of measuring each input",
        "breakeven": "where the better deployment changes"}
"""Option -> what is computed, for the progress."""


@dataclass(frozen=True)
class Options:
    """Values of the options, as given.

    Attributes:
        scenario, settings: the deployment.
        quantity: of the analysis.
        values: other options by name.
    """

    scenario: str
    settings: Sequence[str]
    quantity: str
    values: dict[str, Any]

    def other(self) -> Plan:
        """The deployment of ``--against``."""
        other = against(self.scenario, self.settings, self.values["against"])
        check_quantity(other, self.quantity)
        return other

    def samples(self, usual: int) -> int:
        """Number of samples."""
        text = self.values["samples"]
        return usual if text is None else int(min(quantity("--samples", text, "1"), MOST))


@dataclass(frozen=True)
class Analysis:
    """The result of one analysis.

    Attributes:
        data: for programs.
        figures: label and text, a line each.
        tables: all rows.
        lines: sentences for ``--details``.
    """

    data: Any
    figures: Sequence[tuple[str, str]] = ()
    tables: Sequence[Table] = ()
    lines: Sequence[str] = ()


@cli_command(
    "decide", "h200-r1-vllm-tp8", "plan.yml --quantity ttft --sensitivity",
    "plan.yml --breakeven workload.concurrency --against parallelism.expert_parallel=8",
    "plan.yml --information --demand '50000 token/s' --late 2", sections=("details",))
@scenario_argument
@settings_option
@click.option("--quantity", metavar="NAME", help=(
    "tpot, ttft, output_throughput, throughput_per_card, card_hours, headroom_per_device, ... "
    "(default tpot; card_hours with --information)."))
@click.option("--tornado", "ways", flag_value="tornado", multiple=True, help=(
    "Each input at both ends of its range (default, with --elasticities)."))
@click.option("--elasticities", "ways", flag_value="elasticities", multiple=True, help=(
    "Change of the quantity per 1% of each input."))
@click.option("--sensitivity", "ways", flag_value="sensitivity", multiple=True, help=(
    "Sobol indices: the share of the variance that each input explains."))
@click.option("--samples", metavar="NUMBER", help=(
    f"Samples of --sensitivity (default {SAMPLES:,}) or --information (default {DRAWS:,})."))
@click.option("--breakeven", metavar="KEY", help=(
    "Values of KEY at which the deployment and --against are equal."))
@click.option("--against", metavar="KEY=VALUE,...|DEPLOYMENT", help=(
    "The deployment with changes, or another one."))
@click.option("--between", metavar="LOW,HIGH", help=(
    "Range of KEY to search (default: its range, or around its value)."))
@click.option("--margin", default="0", show_default=True, metavar="SHARE", help=(
    "By how much --against has to be better, such as 0.1."))
@click.option("--information", "ways", flag_value="information", multiple=True, help=(
    "Which input to measure before a choice (--against) or a purchase (--demand)."))
@click.option("--demand", metavar="RATE", help="Output to buy cards for, such as '50000 token/s'.")
@click.option("--late", metavar="FACTOR", help="Price of a card bought later over today's.")
@click.option("--price", metavar="MONEY/h", help=(
    "Price of a card's hour, such as '2.5 USD/h' (--against)."))
@click.option("--card-price", metavar="MONEY", help=(
    "Price of a card to buy, such as '25000 USD' (--demand)."))
def command(scenario: str, settings: tuple[str, ...], quantity: str | None,
            ways: tuple[str, ...], **values: Any) -> View:
    """Which inputs does a result depend on? Where does a choice turn? What is worth measuring?"""
    if values["breakeven"] and not values["against"]:
        raise ParamsError("--breakeven: expected --against beside it.")
    if values["against"] and not values["breakeven"] and "information" not in ways:
        raise ParamsError("--against: expected --breakeven KEY or --information beside it.")
    name = quantity or (CARD_HOURS if "information" in ways else "tpot")
    plan = plan_of(scenario, settings, "")
    refuse_too_long(plan.scenario.id, plan.scenario.model, longest_request(plan.scenario))
    check_quantity(plan, name)
    options = Options(scenario, settings, name, values)
    wanted = {*ways, *(["breakeven"] if values["breakeven"] else [])} or {"tornado", "elasticities"}
    done: dict[str, Analysis] = {}
    stopped = ""
    with progress() as report:
        try:
            for way in (way for way in DO if way in wanted):
                report(WAYS[way], 0, 0)
                done[way] = DO[way](options, plan, lambda _, some, of: report(
                    WAYS["sensitivity"], some, of))
        except KeyboardInterrupt:
            if not done:
                raise
            stopped = way
    return decide_view(plan, name, done, stopped)


def decide_view(plan: Plan, name: str, done: dict[str, Analysis], stopped: str) -> View:
    """The value of the quantity, and what each analysis gives."""
    value = human(float(plan.at({}, name)[0]), unit_of(name))
    fits = bool(plan.fits({})[0])
    data = {"scenario": plan.scenario.id, "quantity": name, "unit": unit_of(name),
            **{way: analysis.data for way, analysis in done.items()},
            **({"interrupted": stopped} if stopped else {})}
    tables = [table for analysis in done.values() for table in analysis.tables]
    body: list[Block] = [replace(table, rows=table.rows[:SHOWN]) for table in tables if table.rows]
    if stopped:
        body.append(f"Interrupted: --{stopped} and what follows is missing.")
    return View(
        f"{plan.label}: {quantity_label(name)[0]} {value}" + (
            "" if fits else "; it does not fit, values are for cards with enough memory"), data,
        None if fits else False,
        [figure for analysis in done.values() for figure in analysis.figures], body,
        tables[0], {"details": [*tables, *(
            line for analysis in done.values() for line in analysis.lines)]},
        code=INTERRUPTED if stopped else OK)


# --- one deployment -------------------------------------------------------------------------------


def elasticities_of(options: Options, plan: Plan, _: OnProgress) -> Analysis:
    """Elasticities of the inputs."""
    name, defined = options.quantity, symbols()
    result = answers_of(plan, name)
    change = f"per 1% ({unit_of(name)})" if signed(name) else "% per 1%"
    rows = [(input_words(one.name), human(one.value, defined[one.symbols[0]].unit),
             (human(one.elasticity / 100, unit_of(name)) if signed(name)
              else f"{one.elasticity:+.3f}") + " (arc)" * one.arc) for one in result]
    return Analysis([vars(one) for one in result], tables=[
        Table(("input", "value", change), rows, title="Elasticities")], lines=[
        "An elasticity is the local slope: rounded-up counts stay as they are, of a maximum the "
        "larger side counts. An arc is the mean between half of a count and twice."])


def tornado_of(options: Options, plan: Plan, _: OnProgress) -> Analysis:
    """Each input at both ends of its range, and those with the largest effect."""
    name = options.quantity
    result = tornado(plan, name)
    rows = [(input_words(bar.name), span(bar.low, bar.high, bar.unit),
             *(human(value, unit_of(name)) for value in (bar.at_low, bar.at_high, bar.swing)))
            for bar in result.bars]
    inputs = [input_words(bar.name) for bar in result.bars if bar.name != OWN][:FEW]
    decides = joined(inputs) or "none: no range of an input changes it"
    if inputs and result.bars[0].name == OWN:
        decides += "; more than each: the formulas' own error, known only by running it"
    bars = [asdict(bar) | {"swing": bar.swing} for bar in result.bars]
    return Analysis({"value": result.value, "bars": bars}, [("depends on", decides)], [
        Table(("input", "range", "at low", "at high", "swing"), rows,
              title=f"{quantity_label(name)[0]}, each input alone")])


def sensitivity_of(options: Options, plan: Plan, report: OnProgress) -> Analysis:
    """Sobol indices of the inputs."""
    result = sensitivity(plan, options.quantity, options.samples(SAMPLES), report)
    rows = [(input_words(index.name), f"{index.first:.3f} ± {index.first_error:.3f}",
             f"{index.total:.3f} ± {index.total_error:.3f}") for index in result.indices]
    deviation = f"; standard deviation {result.deviation:.1%}" if result.in_log else ""
    return Analysis(asdict(result), [
        ("depends on", joined(row[0] for row in rows[:FEW])),
        ("samples", f"{result.samples:,}, {result.evaluations:,} evaluations{deviation}; 95% "
         "confidence")], [
        Table(("input", "alone", "with interactions"), rows,
              title="Share of the variance (Sobol)")])


# --- two deployments, or how many -----------------------------------------------------------------


def break_even_of(options: Options, plan: Plan, _: OnProgress) -> Analysis:
    """Where one of two deployments stops being the better one."""
    values, name = options.values, options.quantity
    other = options.other()
    path = path_of(plan, values["breakeven"], values["between"])
    margin = quantity("--margin", values["margin"], "1")
    if not 0 <= margin < 1:
        raise ParamsError(f"--margin {values['margin']}: expected a share from 0 to below 1.")
    result = breakeven(plan, other, path, name, margin)
    unsure = None if signed(name) else doubt(plan, other, path, name, margin)
    now = float(plan.inputs[path.symbols[0]])
    data = asdict(result) | {
        "path": path.name, "unit": path.unit, "first": plan.label, "second": other.label,
        "now": now, "doubt": asdict(unsure) if unsure else None}
    figures = [("better", better_words(result, plan, other, path)),
               ("now", f"{path.name} {human(now, path.unit)}; {result.tried:,} values tried")]
    if unsure:
        turns = "" if unsure.low is None or unsure.high is None else (
            f"changes at {span(unsure.low, unsure.high, path.unit)} (80% interval); ")
        figures.append(("uncertainty", f"{turns}{plan.label} is better throughout in "
                        f"{unsure.first:.0%} of the draws, {other.label} in {unsure.second:.0%}"))
    figures += [("memory", f"{one.label} does not fit as it is") for one in (plan, other)
                if not one.fits({})[0]]
    return Analysis(data, figures, [Table(
        (path.name, "better from there on", "kind", "does not fit"),
        list(turn_rows(result, plan, other, path)), units={path.name: path.unit})])


def names_of(plan: Plan, other: Plan) -> dict[str, str]:
    """Names of what may be better."""
    return {FIRST: plan.label, SECOND: other.label, TIE: "both alike"}


def better_words(result: BreakEven, plan: Plan, other: Plan, path: Path) -> str:
    """Which deployment is better at the lower end of a path, and whether that changes."""
    who = names_of(plan, other)
    reach = f"{path.name} from {human(result.low, path.unit)} to {human(result.high, path.unit)}"
    if result.always:
        return f"{who.get(result.always, 'neither')}, for {reach}"
    return (f"{who.get(result.start, 'neither')} at first, {len(result.turns)} changes, for "
            f"{reach}")


def turn_rows(result: BreakEven, plan: Plan, other: Plan, path: Path) -> Iterator[tuple[Any, ...]]:
    """Where the better deployment changes."""
    who = names_of(plan, other)
    for turn in () if result.always else result.turns:
        moved = np.array([turn.at])
        yield (turn.at, who.get(turn.after, "neither"), turn.kind, joined(
            one.label for one in (plan, other) if not one.fits(path.moves(one, moved))[0]))


def information_of(options: Options, plan: Plan, _: OnProgress) -> Analysis:
    """The value of knowing each input before a choice or a purchase."""
    values, name, draws = options.values, options.quantity, options.samples(DRAWS)
    if values["demand"] is not None:
        if values["late"] is None or values["against"] or values["price"] or name != CARD_HOURS:
            raise ParamsError("--demand: expected --late FACTOR beside it, and neither --against, "
                              "--price nor --quantity.")
        demand = quantity("--demand", values["demand"], "token/s")
        if demand <= 0:
            raise ParamsError(f"--demand {values['demand']}: expected more than zero.")
        price, currency = money("--card-price", values["card_price"])
        unit = currency or CARDS
        result = to_buy(plan, demand, quantity("--late", values["late"], "1"), price, draws)
    elif values["against"] is not None:
        other = options.other()
        price, currency = money("--price", values["price"], "/h")
        if values["card_price"] or (currency and name != CARD_HOURS):
            option = "--card-price" if values["card_price"] else "--price"
            raise ParamsError(f"{option}: does not apply here, expected "
                              + ("--price" if values["card_price"] else "--quantity card_hours")
                              + ".")
        result = between(plan, other, name, price, draws)
        unit = (f"{currency or 'card-hours'} per million tokens" if name == CARD_HOURS
                else unit_of(name))
    else:
        raise ParamsError("--information: expected a choice, --against, or a purchase, --demand.")
    return information_analysis(result, unit)


def information_analysis(result: Information, unit: str) -> Analysis:
    """A decision, and what each measurement would save."""
    figures = [("best now", f"{result.options[result.taken]}: expected "
                f"{human(result.losses[result.taken], unit)}; another choice is better in "
                f"{result.wrong:.0%} of the draws"),
               ("at most", f"{human(result.perfect, unit)} saved by knowing everything first")]
    if result.needed:
        few, half, most = (human(round(cards)) for cards in result.needed)
        figures.append(("cards", f"{half} needed, {few} to {most} in 80% of the draws"))
    rows = [(input_words(worth.name), plain(worth.value), f"{worth.changes:.0%}")
            for worth in result.worths if worth.value > worth.scatter]
    figures.append(("draws", f"{result.draws:,}; savings below {plain(result.worths[0].scatter)} "
                    "cannot be told from zero"))
    return Analysis(result.as_json() | {"unit_of_losses": unit}, figures, [
        Table(("measured first", f"saves ({unit})", "changes the choice"), rows,
              title="Value of knowing an input")])


# --- words and numbers ----------------------------------------------------------------------------


def input_words(name: str) -> str:
    """Name of an input in words; of the formulas' own error what it is.

    >>> input_words("matrix_peak.fp8"), input_words("own_error")
    ('matrix peak of fp8', "the formulas' own error")
    """
    if "=" in name:
        return name
    return name.replace(OWN, "the formulas' own error").replace("_", " ").replace(".", " of ")


def money(option: str, text: str | None, per: str = "") -> tuple[float, str]:
    """Price and currency; one, in what is paid for, without a price."""
    if text is None:
        return 1.0, ""
    try:
        number, unit = units.split(text)
    except ValueError as error:
        raise ParamsError(f"{option}: {error}.") from None
    currency = unit.removesuffix(per)
    if unit != f"{currency}{per}" or currency not in CURRENCIES or float(number) <= 0:
        raise ParamsError(f"{option} {text[:60]}: expected an amount such as '2.5 USD{per}', in "
                          f"{' or '.join(CURRENCIES)}.")
    return float(number), currency


DO = {"tornado": tornado_of, "elasticities": elasticities_of, "sensitivity": sensitivity_of,
      "breakeven": break_even_of, "information": information_of}
