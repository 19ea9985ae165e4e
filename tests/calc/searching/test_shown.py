"""What a notebook shows of an answer and of what it is made of, and which draws are kept of a row.
"""

from types import SimpleNamespace as Made

import numpy as np
import pytest
from _choices import PLAIN

from calc.layouts.choice import Row
from calc.layouts.feasible import Judge
from calc.many.fronts import Front
from calc.searching import robust
from calc.searching.pool_pairs import Pairs
from calc.searching.result import Answer
from calc.searching.robust import SampledRow
from calc.searching.search import SearchResult

LONG = "as long as a book"


class Long:
    """What would fill a screen."""

    def __repr__(self):
        return LONG


FRONT = Front({"tpot": -1})


@pytest.mark.parametrize("shown", [
    Answer("found", starts=Long(), _refused=[Long()], _started={1: Long()},
           _simulated={1: Long()}),
    SearchResult("wishes", [], [], FRONT, "funnel", Long(), draws={1: Long()}),
    Pairs([], FRONT, (0, 0, 0), {"a": Long()}, [Long()]),
    SampledRow("goal", Row(PLAIN, {}), {}, deployed=Long()),
    Judge({1: Long()}, {1: Long()}), Front({"tpot": -1}, _strong=Long())],
    ids=lambda shown: type(shown).__name__)
def test_what_only_takes_room_is_not_shown(shown):
    """Columns of a million rows and whole deployments are there, and are asked for by name."""
    assert LONG not in repr(shown)
    assert type(shown).__name__ in repr(shown)


def test_what_is_shown_of_an_answer_says_what_it_is_of():
    told = repr(Answer("what was found", most=7))
    assert "what was found" in told
    assert "most=7" in told


def test_rows_are_drawn_alike_whatever_they_were_made_from():
    """The scenario of a deployment is made anew in each run, and tells no two rows apart."""
    one, other = (SampledRow("goal", Row(PLAIN, {}), {}, deployed=Long()) for _ in range(2))
    assert one == other
    ours, theirs = (Front({"tpot": -1}, _strong=Long()) for _ in range(2))
    assert ours == theirs


def test_of_what_is_drawn_those_quantities_are_kept_that_a_row_has(monkeypatch):
    """Of the draws with what distance adds, and of those without it."""
    far, near = ({name: np.full(2, value) for name in ("tpot", "ttft", "cost")}
                 for value in (3.0, 2.0))
    monkeypatch.setattr(robust, "draws_of", lambda found, row: (far, near, "deployed"))
    monkeypatch.setattr(robust, "_scatter", lambda deployed: {"of": deployed})
    row = Row(PLAIN, {"tpot": 1.0, "cost": 2.0, "longest_context": 9.0})
    each = robust._sampled(Made(wishes=Made(goal="goal")), row)
    assert (each.goal, each.row, each.scatter, each.deployed) == (
        "goal", row, {"of": "deployed"}, "deployed")
    assert {name: drawn.tolist() for name, drawn in each.quantities.items()} == {
        "tpot": [3, 3], "cost": [3, 3]}
    assert {name: drawn.tolist() for name, drawn in each.near.items()} == {
        "tpot": [2, 2], "cost": [2, 2]}
