"""``estimate --engines``: one deployment under several engines, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import calc
from calc.answer.compare_engines import COMPARED, Difference, differences
from calc.answer.display import heading
from calc.answer.request_lengths import with_lengths
from calc.commands.options import refuse_too_long
from calc.commands.view import Table, View, notes
from catalogue import ParamsError, load_scenario, symbols
from catalogue.deployments.admission import longest_request
from catalogue.reading.units import human
from catalogue.reading.yamlfile import YamlFile

SHOWN = ("ttft", "tpot", "e2e", "output_throughput", "max_concurrency", "headroom_per_device")
FEWEST = 2
WAYS = {0: "prefill-first", 1: "mixed"}  # how steps are filled


def comparison_view(deployment: str | YamlFile, engines: str, settings: Sequence[str],
                    lengths: Sequence[tuple[int, int]]) -> View:
    """Compare the answers for one deployment under several engines.

    Args:
        deployment: identifier, path or contents of a file.
        engines: names with releases, between commas.
        settings, lengths: of all of them.

    Raises ParamsError for a deployment, an override or an engine that cannot be used.
    """
    names = [name.strip() for name in engines.split(",")]
    if len(names) < FEWEST or not all(names):
        raise ParamsError(f"--engines {engines[:60]}: expected two engines or more, between "
                          "commas, such as vllm@0.11,sglang@0.5.6.")
    scenarios = [with_lengths(load_scenario(deployment, overrides=[
        *settings, f"engine={name}"]), lengths) for name in names]
    refuse_too_long(scenarios[0].id, scenarios[0].model, longest_request(scenarios[0]))
    results = [calc.estimate(scenario) for scenario in scenarios]
    items = differences(scenarios)
    data = {"engines": [result.as_json() for result in results],
            "differences": [vars(item) | {"replaced": [vars(one) for one in item.replaced]}
                            for item in items]} | notes(*scenarios)
    columns = [str(scenario.engine) for scenario in scenarios]
    rows: list[tuple[Any, ...]] = [
        ("fits", *("yes" if result.fits else "no" for result in results))]
    rows += [(heading(name), *(result.quantities[name] for result in results))
             for name in SHOWN if all(name in result.reported for result in results)]
    return View(f"{scenarios[0].heading['en']}: {len(names)} engines", data,
                body=[Table(("", *columns), rows), *notes(*scenarios).values(),
                      *map(difference_table, items)])


def difference_table(item: Difference) -> Table:
    """One value at a time in place of the first engine's, and all of them together."""
    defined = symbols()
    rows = []
    for one in item.replaced:
        unit = defined[one.symbol].unit if one.symbol in defined else "1"
        first, other = (WAYS[int(value)] if one.symbol == "mixed_steps" else human(value, unit)
                        for value in (one.first, one.other))
        rows.append((one.name.replace("_", " ").replace(".", " "), first, other,
                     *(f"{one.effects[name] - 1:+.1%}" for name in COMPARED)))
    rows.append(("all together", "", "",
                 *(f"{item.together[name] - 1:+.1%}" for name in COMPARED)))
    return Table(("mechanism", item.first, item.other, *map(heading, COMPARED)), rows,
                 title=f"{item.other} in place of {item.first}, one value at a time")
