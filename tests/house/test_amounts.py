"""Values with intervals have one type, and one module formats their digits."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("calc", "catalogue", "notebooks")
ENDS = {"value", "low", "high"}
PREDICTED = "calc/uncertainty/amount.py:Amount"
STATED = {  # what files state: their source says it, nothing is predicted of it here
    "catalogue/reading/values.py:Value",
    "catalogue/entries/measurements.py:BlindPrediction",  # written before the rows were known
}
OTHERS = {
    "calc/sensitivity/tornado.py:Bar",  # an input, and what a quantity is at its two ends
    "calc/serving/metrics.py:Quantile",  # of a run, which knows nothing of intervals: its scatter
}


def fields(node: ast.ClassDef) -> set[str]:
    return {item.target.id for item in node.body
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)}


def with_ends() -> set[str]:
    found = set()
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found |= {f"{path.relative_to(ROOT).as_posix()}:{node.name}" for node in ast.walk(tree)
                      if isinstance(node, ast.ClassDef) and fields(node) >= ENDS}
    return found


def test_intervals_have_one_type():
    assert with_ends() == {PREDICTED} | STATED | OTHERS


# digits that count are chosen in one place; these write for programs, which read exponents
MACHINES = {
    "calc/launching/watching/signals.py", "calc/launching/watching/healthy.py",  # PromQL
    "calc/launching/watching/alerts.py", "calc/launching/watching/monitoring.py",  # as its printf
    "calc/commands/deciding/benched.py", "calc/commands/evidence/calibrate.py",  # files
    "calc/commands/evidence/discrepancy.py", "notebooks/show/long_table.py"}
STATED_AS_WRITTEN = {  # what a file or a formula says, with its own digits
    "catalogue/reading/printed.py", "catalogue/reading/values.py",
    "catalogue/entries/models.py", "catalogue/deployments/physics_inputs.py",
    "notebooks/derive/formulas/treelatex.py", "notebooks/pages/catalogue/tables/hardware.py",
    "notebooks/pages/validation/error_figures.py"}  # ticks of an axis
ROUNDED = {  # to a number, which the formatter writes
    "notebooks/pages/deployments/verdicts.py", "notebooks/pages/deployments/overview.py",
    "notebooks/pages/deployments/summary.py"}


def with_digits() -> set[str]:
    """Modules that write a number to so many digits that count."""
    found = set()
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FormattedValue) and node.format_spec is not None and (
                        re.search(r"\.\d*[ge]$", ast.unparse(node.format_spec).strip("f'\""))):
                    found.add(path.relative_to(ROOT).as_posix())
    return found


def test_digits_are_chosen_by_the_formatter_alone():
    assert with_digits() == MACHINES | STATED_AS_WRITTEN | ROUNDED
