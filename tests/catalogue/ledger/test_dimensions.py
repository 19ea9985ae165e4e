"""Units of the formulas of claims."""

from __future__ import annotations

import pytest

from catalogue.ledger.dimensions import of_tree, text

GIVEN = {"size": "GB", "time": "ms", "rate": "GB/s", "share": "1", "pace": "s/token"}


@pytest.mark.parametrize(("tree", "unit"), [
    (["divide", "size", "time"], "B/s"), (["multiply", "rate", "time"], "B"),
    (["add", "size", ["multiply", "rate", "time"]], "B"), (["add", "time", "pace"], "s"),
    (["ceil", ["divide", "size", "size"]], "a plain number"), (["power", "time", 2], "s^2"),
    (["max", 0, "size"], "B"), (["sum_over", "i", 3, ["multiply", "i", "size"]], "B"),
    (["piecewise", [["lt", "size", "size"], "time"], "pace"], "s"),
    (["multiply", "share", 3], "a plain number")])
def test_what_a_formula_comes_out_in(tree, unit):
    assert text(of_tree(tree, GIVEN)) == unit


@pytest.mark.parametrize(("tree", "says"), [
    (["add", "size", "time"], "in B beside one in s"), (["add", "size", 1], "beside"),
    (["power", "share", "size"], "an exponent in B"), (["power", "size", "share"], "fixed number"),
    (["log", "size"], "log of a quantity in B"),
    (["piecewise", [["lt", "size", "time"], 1], 2], "in B beside one in s")])
def test_units_that_do_not_agree(tree, says):
    with pytest.raises(ValueError, match=says):
        of_tree(tree, GIVEN)
