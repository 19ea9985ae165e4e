"""``estimate --engines``: one deployment under several engines, side by side."""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Column, Table

import calc
from calc.answer.compare_engines import COMPARED, Difference, differences
from calc.answer.estimate import Estimate
from calc.commands.lengths import lengths_of, listed
from calc.commands.printing import OK, console, print_json
from catalogue import ParamsError, Scenario, load_scenario, symbols
from catalogue.reading.amounts import human

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
        raise ParamsError(f"--engines {args.engines[:60]}: expected two engines or more, such as "
                          "vllm@0.11,sglang@0.5.6.")
    lengths, settings = lengths_of(args)
    scenarios = [listed(load_scenario(args.scenario, overrides=[
        *args.settings, *settings, f"engine={name}"]), lengths) for name in named]
    results = [calc.estimate(scenario) for scenario in scenarios]
    found = differences(scenarios)
    if args.json:
        print_json({"engines": [result.as_json() for result in results],
                    "differences": [_plain(item) for item in found]})
        return OK
    screen = console()
    screen.print(_beside(scenarios, results))
    for item in found:
        _print(screen, item)
    return OK


def _plain(item: Difference) -> dict[str, object]:
    return vars(item) | {"replaced": [vars(one) for one in item.replaced]}


def _beside(scenarios: list[Scenario], results: list[Estimate]) -> Table:
    known = symbols()
    table = Table("quantity", *(_folded(scenario.engine or "") for scenario in scenarios),
                  title=scenarios[0].heading["en"])
    table.add_row("fits", *("yes" if result.fits else "no" for result in results))
    for name in SHOWN:
        if all(name in result.told for result in results):
            table.add_row(known[name].en, *(_with_spread(result, name) for result in results))
    return table


def _folded(heading: str) -> Column:
    """A column whose words are broken rather than cut off on a narrow screen."""
    return Column(heading, overflow="fold")


def _with_spread(result: Estimate, name: str) -> str:
    quantity = result.quantities[name]
    low, value, high = (human(number, quantity.unit)
                        for number in (quantity.low, quantity.value, quantity.high))
    return f"{value} ({low} – {high})"


def _print(screen: Console, item: Difference) -> None:
    """One value at a time in place of the first engine's, and all of them together."""
    known = symbols()
    table = Table(Column("mechanism", min_width=LONGEST_WORD),
                  *(_folded(name) for name in (item.first, item.other)),
                  *(_folded(known[name].en) for name in COMPARED),
                  title=f"{item.first} to {item.other}: one value at a time")
    for one in item.replaced:
        unit = known[one.symbol].unit if one.symbol in known else "1"
        first, other = ((WAYS[int(value)] for value in (one.first, one.other))
                        if one.symbol == "mixed_steps"
                        else (human(value, unit) for value in (one.first, one.other)))
        table.add_row(one.name.replace("_", " ").replace(".", " "), first, other,
                      *(f"{one.effects[name] - 1:+.1%}" for name in COMPARED))
    table.add_row("all together", "", "",
                  *(f"{item.together[name] - 1:+.1%}" for name in COMPARED))
    screen.print(table)
