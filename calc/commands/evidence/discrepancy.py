"""``discrepancy``: the formulas' own error by class of systems; ``--write`` stores it."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from calc.commands.printing import (
    OK,
    metric_of,
    print_columns,
    print_json,
    spoken,
    store,
)
from calc.evidence.classes import UNCALIBRATED, class_label, discrepancy, load_label
from calc.evidence.systems import measured_systems
from calc.yamltext import Flow, dump, rounded
from catalogue import ParamsError, library
from catalogue.entries.measurements import Discrepancy, Metric, OwnError
from catalogue.messages import messages
from catalogue.reading import yamlfile

common = messages("common")
say = messages("calc/commands/evidence/discrepancy")

HEADER = ("class", "quantity", "systems", "rows", "below", "above", "within", "inside",
          "high/low")  # deviations of logarithms; rows inside of what the other systems give
DIGITS = 4
TEXTS = 2  # of these columns are words, the others numbers
WRITTEN = re.compile(r"^classes:.*\Z", re.MULTILINE | re.DOTALL)  # what is written, to the end


def add_arguments(command: argparse.ArgumentParser) -> None:
    """What ``discrepancy`` takes, besides ``--json``."""
    command.add_argument("--write", action="store_true", help=spoken(say("help-write")))


def run(args: argparse.Namespace) -> int:
    """Estimate the own error from all measured systems; print it and, if asked to, store it.

    Raises ParamsError for a system that cannot be predicted and a file that cannot be written.
    """
    from calc.evidence.discrepancy import estimate  # loads SciPy and pandas

    try:
        estimates, width = estimate(measured_systems(), discrepancy())
    except ValueError as error:
        raise ParamsError(spoken(common("problem", option="discrepancy",
                                        why=str(error)))) from None
    if args.write:
        path = library.locate("discrepancies", UNCALIBRATED)
        store(path, with_estimates(path.read_text(encoding="utf-8"), estimates))
    if args.json:
        print_json(stored(estimates))
        return OK
    print_classes(estimates.classes, width)
    for load, of_load in estimates.growth.items():
        for metric, growth in of_load.items():
            print(spoken(say(
                "growth", metric=metric_of(metric), load=load_label(load),
                down=f"{growth.down:.2f}", up=f"{growth.up:.2f}", pairs=growth.pairs,
                systems=growth.systems, inside=f"{growth.inside:.0%}")))
    if args.write:
        print(spoken(common("stored-in", path=yamlfile.display_path(path))))
    return OK


def stored(estimates: Discrepancy) -> dict[str, Any]:
    """The estimates as plain data, as their file stores them."""
    data: dict[str, Any] = to_jsonable_python({
        part: getattr(estimates, part) for part in ("classes", "left_out", "growth", "measured")})
    return data


def with_estimates(text: str, estimates: Discrepancy) -> str:
    """The file with what was estimated at its end; all before it as it stands.

    >>> from catalogue.entries.measurements import Discrepancy, LeftOut
    >>> own = OwnError(down=0.1, up=0.3, within=0.1, systems=2, rows=9, inside=7)
    >>> made = Discrepancy.model_construct(classes={"all": {"tpot": own}}, left_out={
    ...     "mine": LeftOut(of="all", deviation={"queued": {"tpot": (0.2, 0.4)}})},
    ...     growth={}, measured={})
    >>> print(with_estimates("borrowed: 2  # kept\\n", made), end="")
    borrowed: 2  # kept
    classes:
      all:
        tpot: {down: 0.1, up: 0.3, within: 0.1, systems: 2, rows: 9, inside: 7}
    left_out:
      mine: {of: all, deviation: {queued: {tpot: [0.2, 0.4]}}}
    growth: {}
    measured: {}

    Args:
        text: of the file.
        estimates: of all classes.
    """
    data = stored(estimates)
    for part in ("left_out", "measured"):
        data[part] = {name: Flow(fields) for name, fields in data[part].items()}
    rest = WRITTEN.sub("", text)
    return rest + "\n" * (not rest.endswith("\n")) + dump(rounded(data, DIGITS))


def print_classes(classes: Mapping[str, Mapping[Metric, OwnError]],
                  width: Mapping[tuple[str, str], float]) -> None:
    """A line per class and quantity, as wide as it is, however narrow the terminal."""
    rows = [tuple(spoken(say("column", name=name.replace("/", "-"), plain=name))
                  for name in HEADER)]
    for name, of in classes.items():
        for metric, own in of.items():
            rows.append((spoken(class_label(name)), metric_of(metric), f"{own.systems}",
                         f"{own.rows}", f"{own.down:.2f}", f"{own.up:.2f}", f"{own.within:.2f}",
                         f"{own.inside} ({own.inside / own.rows:.0%})",
                         f"{width[name, metric]:.2f}"))
    print_columns(rows, TEXTS)
