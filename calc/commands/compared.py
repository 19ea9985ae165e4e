"""``estimate --engines``: one deployment under several engines, side by side."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Column, Table

import calc
from calc.answer.compare_engines import COMPARED, Difference, differences
from calc.answer.estimate import Estimate
from calc.commands.arguments import lengths_of, listed, refuse_too_long
from calc.commands.printing import (
    OK,
    amount,
    caveats_of,
    console,
    input_name,
    named,
    print_json,
    resting_on,
    spoken,
    tell,
    translated,
)
from catalogue import ParamsError, Scenario, load_scenario, symbols
from catalogue.deployments.admission import longest_request
from catalogue.messages import messages

common = messages("common")
say = messages("calc/commands/compared")

SHOWN = ("ttft", "tpot", "e2e", "output_throughput", "max_concurrency", "headroom_per_device")
FEWEST = 2
LONGEST_WORD = len("utilization")  # of a mechanism's name
WAYS = {0: "prefill-first", 1: "mixed"}  # how steps are filled


def run(args: argparse.Namespace) -> int:
    """Print the answers for one deployment under the engines that are named.

    Raises ParamsError for a deployment, an override or an engine that cannot be used.
    """
    named = [name.strip() for name in args.engines.split(",")]
    if len(named) < FEWEST or not all(named):
        raise ParamsError(spoken(say("two-engines", text=args.engines[:60])))
    lengths, settings = lengths_of(args)
    scenarios = [listed(load_scenario(args.scenario, overrides=[
        *args.settings, *settings, f"engine={name}"]), lengths) for name in named]
    refuse_too_long(scenarios[0].id, scenarios[0].model, longest_request(scenarios[0]))
    results = [calc.estimate(scenario) for scenario in scenarios]
    items = differences(scenarios)
    if args.json:
        print_json({"engines": [result.as_json() for result in results],
                    "differences": [
                        vars(item) | {"replaced": [vars(one) for one in item.replaced]}
                        for item in items]} | caveats_of(*scenarios))
        return OK
    screen = console()
    screen.print(comparison_table(scenarios, results))
    for line in resting_on(*scenarios):
        tell(screen, line)
    for item in items:
        print_difference(screen, item)
    return OK


def comparison_table(scenarios: list[Scenario], results: list[Estimate]) -> Table:
    """Each quantity, a column per engine."""
    table = Table(spoken(common("quantity")), *(
        _folded(scenario.engine or "") for scenario in scenarios),
        title=translated(scenarios[0].heading))
    table.add_row(spoken(say("fits")), *(
        spoken(common("yes-plain") if result.fits else common("no-plain")) for result in results))
    for name in SHOWN:
        if all(name in result.reported for result in results):
            quantities = [result.quantities[name] for result in results]
            table.add_row(named(name), *(
                spoken(say("spread", value=amount(one.value, one.unit),
                           low=amount(one.low, one.unit), high=amount(one.high, one.unit)))
                for one in quantities))
    return table


def _folded(heading: str) -> Column:
    """A column whose words are broken rather than cut off on a narrow screen."""
    return Column(heading, overflow="fold")


def print_difference(screen: Console, item: Difference) -> None:
    """One value at a time in place of the first engine's, and all of them together."""
    defined = symbols()
    table = Table(Column(spoken(common("mechanism")), min_width=LONGEST_WORD),
                  *(_folded(name) for name in (item.first, item.other)),
                  *(_folded(named(name)) for name in COMPARED),
                  title=spoken(say("one-at-a-time", first=item.first, other=item.other)))
    for one in item.replaced:
        unit = defined[one.symbol].unit if one.symbol in defined else "1"
        first, other = ((spoken(say("way", name=WAYS[int(value)]))
                         for value in (one.first, one.other))
                        if one.symbol == "mixed_steps"
                        else (amount(value, unit) for value in (one.first, one.other)))
        plain = one.name.replace("_", " ").replace(".", " ")
        table.add_row(input_name(one.name, plain), first, other,
                      *(f"{one.effects[name] - 1:+.1%}" for name in COMPARED))
    table.add_row(spoken(say("all-together")), "", "",
                  *(f"{item.together[name] - 1:+.1%}" for name in COMPARED))
    screen.print(table)
