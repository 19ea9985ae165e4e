"""``estimate --engines``: one deployment under several engines, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import calc
from calc.answer.compare_engines import COMPARED, Difference, differences
from calc.answer.display import heading
from calc.answer.request_lengths import with_lengths
from calc.answer.steady_state import SEEN_OF_BURST
from calc.commands.options import refuse_too_long
from calc.commands.view import Table, View, notes
from catalogue import ParamsError, load_scenario, symbols
from catalogue.deployments.admission import longest_request
from catalogue.reading.units import human
from catalogue.reading.yamlfile import YamlFile

SHOWN = ("max_concurrency", "headroom_per_device")
FEWEST = 2
RATE = "output_throughput"
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
            "differences": [*map(asdict, items)]} | notes(*scenarios)
    names = [str(scenario.engine) for scenario in scenarios]
    rows: list[dict[str, Any]] = []
    for name, result in zip(names, results, strict=True):
        seen = result.seen.amounts() if result.seen and not result.unasked else {}
        rows.append({"engine": name, "fits": "yes" if result.fits else "no"} | {
            SEEN_OF_BURST[key]: amount for key, amount in seen.items()} | {
            key: result.quantities[key] for key in SHOWN if key in result.reported})
    return View(f"{verdict(rows)}: {scenarios[0].heading['en']}", data,
                any(result.fits for result in results), body=[
                    Table.of(rows, *rows[0]), *notes(*scenarios).values()],
                sections={"details": [*map(difference_table, items)]})


def verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """Engine of the highest throughput, of those under which the deployment fits."""
    rates = {row["engine"]: row[RATE].value for row in rows if row["fits"] == "yes" and RATE in row}
    if not rates:
        return f"FITS under {sum(row['fits'] == 'yes' for row in rows)} of {len(rows)} engines"
    return f"{max(rates, key=lambda name: rates[name])}: highest throughput of {len(rows)} engines"


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
                 title=(
        f"{item.other} in place of {item.first}, one value at a time, all requests at once"))
