"""Compare errors on rows that are never fitted to with the best ever recorded.

    python -m tools.gate [--because TEXT]

Prints the mean absolute error of every system and quantity of ``params/gates/``, and the errors of
start-up logs (``params/measurements/memory/``), beside the record (``tools/gate.yml``), and lowers
recorded figures that were beaten. With ``--because`` it also raises figures that got worse, and
stores the reason beside each.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import yaml

from calc.answer.gate import GateCell, gate_cells, gate_names, summarise
from calc.evidence.startup import Term, startup_cells, summarise_startups
from catalogue.deployments.measured import startup_rows
from catalogue.reading.files import write_whole

RECORD = Path(__file__).with_suffix(".yml")
SYSTEM_MARGIN, MEAN_MARGIN = 0.015, 0.005  # absolute error that may be added [1]
ALL = "all"  # the mean over all rows of a quantity
REFUSED = "refused"  # rows that `estimate` refuses, of all systems
UNPREDICTED = "unpredicted"  # values without any prediction
BEYOND_FAR = "off_by_over_1.5"  # how many figures of start-up logs
OUTSIDE = "outside_interval"  # share of them; never below what an interval may miss
MEMORY, MEMORY_ALL = "memory", "memory-all"  # logs on which no value was set, and all logs
MISSED = 0.2  # share of measured values that 80% intervals may miss [1]
COUNTS = (REFUSED, UNPREDICTED, BEYOND_FAR)
DIGITS = 4
HEAD = """\
# Best mean absolute error ever reached on rows that nothing is fitted to, by system and quantity
# [1]; `all` is the mean over all rows, `refused` counts rows that `estimate` refuses, `unpredicted`
# values without a prediction. `memory` has the shares of figures of start-up logs that are off by
# more than 10% and outside of their intervals (0.2 at the best), and the count of those off by more
# than a factor of 1.5, of logs on which no value was set; `memory-all` of all logs.
# Written by `python -m tools.gate`; `raised` says why a figure grew.
"""


def measured_errors(cells: Iterable[GateCell] | None = None) -> dict[str, dict[str, float]]:
    """Mean absolute errors by system and quantity, and counts, as they are now.

    Args:
        cells: predictions; those of all gates, if absent.
    """
    cells = list(chain(*map(gate_cells, gate_names())) if cells is None else cells)
    errors: dict[str, dict[str, float]] = {}
    for summary in summarise(cells):
        if not math.isnan(summary.mean):
            errors.setdefault(summary.system, {})[summary.metric] = round(summary.mean, DIGITS)
    sizes: dict[str, list[float]] = {}
    for cell in cells:
        if not math.isnan(cell.predicted):
            sizes.setdefault(cell.metric, []).append(abs(cell.error))
    errors[ALL] = {metric: round(math.fsum(values) / len(values), DIGITS)
                   for metric, values in sizes.items()}
    errors[ALL][REFUSED] = len({(cell.system, cell.row) for cell in cells if cell.refused})
    errors[ALL][UNPREDICTED] = len(cells) - sum(map(len, sizes.values()))
    return errors


def memory_errors(cells: Iterable[Term] | None = None) -> dict[str, dict[str, float]]:
    """Shares of figures of start-up logs that are off [1], and counts, as they are now.

    Args:
        cells: predictions; those of all logs, if absent.
    """
    cells = startup_cells(startup_rows()) if cells is None else list(cells)
    errors = {}
    free = [cell for cell in cells if cell.row and not cell.row.log.fitted]
    for system, chosen in ((MEMORY, free), (MEMORY_ALL, cells)):
        summary = summarise_startups(chosen)
        if summary.figures:
            errors[system] = {
                "off_by_over_10_percent": round(1 - summary.near / summary.figures, DIGITS),
                BEYOND_FAR: summary.far,
                OUTSIDE: round(max(MISSED, 1 - summary.covered / summary.figures), DIGITS),
                UNPREDICTED: summary.unpredicted}
    return errors


def recorded_errors() -> dict[str, dict[str, float]]:
    """The best figures ever recorded. Raises OSError without a record."""
    return yaml.safe_load(RECORD.read_text(encoding="utf-8"))["best"]


def regressions(now: dict[str, dict[str, float]], best: dict[str, dict[str, float]]) -> list[str]:
    """Figures that are worse than recorded by more than their margin, a line each.

    Args:
        now, best: as :func:`measured_errors` and :func:`memory_errors` return them.
    """
    worse = []
    for system, of in best.items():
        for metric, figure in of.items():
            error = now.get(system, {}).get(metric, math.inf)
            margin = 0.0 if metric in COUNTS else MEAN_MARGIN if system == ALL else SYSTEM_MARGIN
            if error > figure + margin + 10.0**-DIGITS / 2:
                worse.append(f"{system} {metric}: {error:g}, best {figure:g}")
    return worse


def merged(now: dict[str, dict[str, float]], best: dict[str, dict[str, float]], because: str | None
           ) -> tuple[dict[str, dict[str, float]], list[dict[str, Any]]]:
    """The record with what was beaten lowered, and what was raised with its reason.

    Args:
        now, best: as :func:`measured_errors` returns them.
        because: why figures may be raised; None to raise none.
    """
    if because:
        raised = [{"system": system, "metric": metric, "from": best[system][metric], "to": error,
                   "because": because}
                  for system, errors in now.items() for metric, error in errors.items()
                  if best.get(system, {}).get(metric, math.inf) < error]
        return now, raised
    return {system: {metric: min(side[system][metric] for side in (now, best)
                                 if metric in side.get(system, {}))
                     for metric in best.get(system, {}) | now.get(system, {})}
            for system in best | now}, []


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, update the record, and return 1 if anything is worse than it may be."""
    parser = argparse.ArgumentParser(prog="python -m tools.gate",
                                     description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--because", metavar="TEXT", help="reason to raise figures that got worse")
    given = parser.parse_args(argv)
    before = yaml.safe_load(RECORD.read_text(encoding="utf-8"))
    now, best = measured_errors() | memory_errors(), before["best"]
    for system, of in now.items():
        for metric, figure in of.items():
            print(f"{system:28} {metric:18} {figure:8.4g}  best {best.get(system, {}).get(metric)}")
    worse = [] if given.because else regressions(now, best)
    record, raised = merged(now, best, given.because)
    text = yaml.safe_dump({"best": record, "raised": [*before["raised"], *raised]},
                          sort_keys=False, allow_unicode=True)
    write_whole(RECORD, (HEAD + text).encode())
    for line in worse:
        print(f"worse: {line}")
    return int(bool(worse))


if __name__ == "__main__":
    raise SystemExit(main())
