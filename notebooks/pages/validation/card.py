"""A card that was measured after its values were set, beside what these give; nothing is fitted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import catalogue
from catalogue.messages import messages
from catalogue.tables import Shelf, shelf
from notebooks.show.columns import Column
from notebooks.show.display import number, table
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/validation/card")

TEMPLATES = catalogue.ROOT / "templates"
CARD, PYTORCH = "nvidia-h100-sxm", "pytorch"
TABLE, MEASURED = "example-h100-table.csv", "example-h100.yml"


def operators() -> Shelf:
    """What was measured, shape by shape."""
    return shelf(TEMPLATES / TABLE)


def shown(laws: Iterable[tuple[str, str, Any]]) -> None:
    """Matmuls by dtype: how far the law with the card's own values is off; and the day.

    Args:
        laws: dtype, kernel and errors of each table of `operators`.
    """
    measured = catalogue.load("microbenchmarks", TEMPLATES / MEASURED)
    boundary = next(each.time for each in measured.times if each.kernel == "graph-kernel-boundary")
    number("qa-card-date", boundary.date, str)
    number("qa-card-boundary", boundary.value, fmt_time)
    number("qa-card-priors", catalogue.load(
        "mechanisms", catalogue.load_device(CARD).mechanisms).kernel_boundary.value, fmt_time)
    table(laws, [
        Column(0, say("dtype")), Column(1, say("kernel")),
        Column(lambda row: row[2].rows, say("rows"), fmt_int),
        Column(lambda row: row[2].median, common("median-error"), fmt_percent, digits=1),
        Column(lambda row: row[2].most, say("most"), fmt_percent, digits=1),
        Column(lambda row: row[2].leaning, say("leaning"), fmt_percent, digits=1)])
