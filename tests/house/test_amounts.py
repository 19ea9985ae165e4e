"""A value with its interval has one type; no other class has a value between two ends."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("calc", "catalogue", "notebooks")
ENDS = {"value", "low", "high"}
PREDICTED = "calc/intervals/amounts.py:Amount"
STATED = {  # what files state: their source says it, nothing is predicted of it here
    "catalogue/reading/values.py:Value",
    "catalogue/entries/measurements.py:BlindPrediction",  # written before the rows were known
}
OTHERS = {
    "calc/deciding/inputs/tornado.py:Bar",  # an input, and what a quantity is at its two ends
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


def test_a_value_with_its_interval_is_of_one_type():
    assert with_ends() == {PREDICTED} | STATED | OTHERS
