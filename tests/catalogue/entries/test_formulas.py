"""Formulas as data: trees that are exact, closed and never endless; those of the documents."""

import pytest

import catalogue
from catalogue import formulas
from catalogue.ledger import of_tree, text

FORMULAS = [formula for name in catalogue.names("formulas")
            for formula in catalogue.load("formulas", name).formulas]
SQUARES = ["power", ["add", "s", 1], 2]
GIVEN = {"size": "GB", "time": "ms", "rate": "GB/s", "share": "1", "pace": "s/token"}


@pytest.mark.parametrize(("tree", "values", "expected"), [
    (["multiply", 3, ["divide", 1, 3]], {}, 1),
    (["ceil", ["multiply", ["rational", 7, 100], "x"]], {"x": 100}, 7),  # integers stay exact
    (["sum_over", "s", 3, SQUARES], {}, 1 + 4 + 9), (["max_over", "s", 3, SQUARES], {}, 9),
    (["piecewise", [["eq", "n", 0], 0], ["divide", 1, "n"]], {"n": 0}, 0),
    (["piecewise", [["eq", "n", 0], 0], ["divide", 1, "n"]], {"n": 4}, 0.25)])
def test_evaluation(tree, values, expected):
    formulas.validate(tree)
    assert formulas.evaluate(tree, values) == expected
    assert formulas.symbols_of(["sum_over", "s", "n", SQUARES]) == {"n"}


@pytest.mark.parametrize("tree", [
    [], [1, 2], ["eval", "x"], ["power", 1], ["divide", 1, 2, 3], None, True, float("nan"),
    ["piecewise"], ["piecewise", [["is", 1, 1], 2], 3], "a b", ["max_over", 1, 2, 3], {"add": 1}])
def test_what_is_no_tree(tree):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        formulas.validate(tree)


@pytest.mark.parametrize("tree", [
    ["power", ["power", ["power", ["power", 64, 64], 64], 64], 64],
    ["sum_over", "i", 100_000, ["sum_over", "j", 100, "j"]], ["exp", 1e5], ["log", 0],
    ["divide", 1, 0], ["power", 10.5, 1000], ["power", -1, 0.5], ["power", 0, -1],
    ["multiply", ["power", 10, 200], ["power", 10, 200]], ["add", "x", 1]])
def test_absurd_arithmetic_ends_at_once(tree):
    formulas.validate(tree)
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        formulas.evaluate(tree, {})


@pytest.mark.parametrize(("tree", "unit"), [
    (["divide", "size", "time"], "B/s"), (["multiply", "rate", "time"], "B"),
    (["add", "size", ["multiply", "rate", "time"]], "B"), (["add", "time", "pace"], "s"),
    (["ceil", ["divide", "size", "size"]], "a plain number"), (["power", "time", 2], "s^2"),
    (["max", 0, "size"], "B"), (["sum_over", "i", 3, ["multiply", "i", "size"]], "B"),
    (["piecewise", [["lt", "size", "size"], "time"], "pace"], "s")])
def test_units_of_a_tree(tree, unit):
    assert text(of_tree(tree, GIVEN)) == unit


@pytest.mark.parametrize("tree", [
    ["add", "size", "time"], ["add", "size", 1], ["power", "share", "size"],
    ["power", "size", "share"], ["log", "size"], ["piecewise", [["lt", "size", "time"], 1], 2]])
def test_units_that_do_not_agree(tree):
    with pytest.raises(ValueError, match=r" in |beside|fixed number"):
        of_tree(tree, GIVEN)


def test_printed_numbers_are_as_the_entries_judge_them():
    for formula in FORMULAS:
        if formula.verdict == "wrong":
            assert formula.right is not None or formula.right_quantity is not None, formula.id
            assert formula.right != formula.documented, formula.id
        for example in formula.examples:
            assert formula.agrees(example) == (example.arithmetic == "agrees"), formula.id
