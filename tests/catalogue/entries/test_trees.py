"""Formulas as data: exact, closed, and never endless."""

import pytest

from catalogue import trees


class TestTrees:
    """Formulas as data."""

    def test_integers_stay_exact(self):
        third = ["divide", 1, 3]
        assert trees.evaluate(["multiply", 3, third], {}) == 1
        assert trees.evaluate(["ceil", ["multiply", ["rational", 7, 100], "x"]], {"x": 100}) == 7

    def test_over_an_index(self):
        body = ["power", ["add", "s", 1], 2]
        assert trees.evaluate(["sum_over", "s", 3, body], {}) == 1 + 4 + 9
        assert trees.evaluate(["max_over", "s", 3, body], {}) == 9
        assert trees.symbols_of(["sum_over", "s", "n", body]) == {"n"}

    def test_piecewise_takes_the_first_branch_and_no_other(self):
        tree = ["piecewise", [["eq", "n", 0], 0], ["divide", 1, "n"]]
        assert trees.evaluate(tree, {"n": 0}) == 0
        assert trees.evaluate(tree, {"n": 4}) == 0.25

    @pytest.mark.parametrize("tree", [
        [], [1, 2], ["eval", "x"], ["power", 1], ["divide", 1, 2, 3], None, True, float("nan"),
        ["piecewise"], ["piecewise", [["is", 1, 1], 2], 3], "a b", ["max_over", 1, 2, 3],
        {"add": 1}, ["ceil", 1, 2],
    ])
    def test_anything_else_is_refused(self, tree):
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            trees.validate(tree)

    @pytest.mark.parametrize("tree", [
        ["power", ["power", ["power", ["power", 64, 64], 64], 64], 64],
        ["sum_over", "i", 100_000, ["sum_over", "j", 100_000, "j"]], ["exp", 1e5], ["log", 0],
        ["divide", 1, 0], ["power", 10.5, 1000], ["power", -1, 0.5], ["power", 0, -1],
        ["power", 10, 1000], ["multiply", ["power", 10, 200], ["power", 10, 200]],
    ])
    def test_absurd_arithmetic_ends_at_once(self, tree):
        trees.validate(tree)
        with pytest.raises(ValueError, match=r"^[^\n]+$"):
            trees.evaluate(tree, {})

    def test_a_missing_symbol_is_named(self):
        with pytest.raises(ValueError, match="'x'"):
            trees.evaluate(["add", "x", 1], {})
