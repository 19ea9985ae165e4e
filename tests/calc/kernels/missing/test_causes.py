"""Why a law misses a table: a switch is found where it is, and nothing else is called one."""

import numpy as np
import pytest

from calc.kernels.fitting import halves
from calc.kernels.missing import Missed, Where, explained, miss_summary
from calc.kernels.missing.causes import LEAST_ROWS, SHAPE

ROWS = 2.0 ** np.arange(14)
OUT = 128.0 * np.array([1, 2, 4, 8, 16, 24, 56, 112])
DEPTH = 128.0 * np.array([1, 4, 12, 16, 56, 128])


def grid(**values):
    """Every combination of some values, as columns."""
    return dict(zip(values, (each.ravel() for each in np.meshgrid(*values.values())), strict=True))


def gemm():
    return grid(rows=ROWS, columns=OUT, depth=DEPTH)


def cause(columns, beside, noise=0.02, operator="gemm", seed=1) -> Missed | None:
    """Why a law misses a table whose times lie beside it by a factor [1], and by noise."""
    size = len(next(iter(columns.values())))
    spread = noise * np.random.default_rng(seed).standard_normal(size)
    return explained(operator, columns, np.exp(-spread) / beside, halves(list(columns.values())))


class TestSwitches:
    def test_one_is_found_at_its_place_with_its_factor(self):
        columns = gemm()
        found = cause(columns, np.where(columns["rows"] >= 64, 1.6, 1))
        (switch,) = found.switches
        assert (switch.column, switch.first, switch.last, switch.where) == ("rows", 64, None, None)
        assert switch.factor == pytest.approx(1.6, rel=0.03)
        assert (found.rest, found.how) == (None, None)

    def test_a_kernel_of_a_few_values_has_two_ends(self):
        columns = gemm()
        (switch,) = cause(columns, np.where(np.isin(columns["rows"], (128, 256)), 1.7, 1)).switches
        assert (switch.first, switch.last) == (128, 256)
        assert switch.factor == pytest.approx(1.7, rel=0.03)

    def test_one_value_of_a_column_may_be_another_kernel(self):
        columns = grid(heads=2.0 ** np.arange(3, 8), batch=2.0 ** np.arange(8),
                       context=2.0 ** np.arange(10, 16))
        (switch,) = cause(columns, np.where(columns["heads"] == 32, 1.35, 1), 0.02, "mla_decode"
                          ).switches
        assert (switch.column, switch.first, switch.last) == ("heads", 32, 32)

    def test_it_may_be_of_some_shapes_only(self):
        columns = gemm()
        deep = columns["depth"] >= 2048
        (switch,) = cause(columns, np.where(deep & (columns["rows"] >= 64), 1.6, 1)).switches
        begin = (switch.column, switch.first, switch.last)
        assert {begin, switch.where} == {("rows", 64, None), ("depth", 2048, None)}
        assert isinstance(switch.where, Where)

    def test_it_may_lie_where_no_column_tells_it_alone(self):
        """As where weights no longer stay in a cache: in outputs times inputs."""
        columns = gemm()
        weights = columns["columns"] * columns["depth"]
        (switch,) = cause(columns, np.where(weights >= 2**22, 1.6, 1)).switches
        assert switch.column == "weights"
        assert switch.first == weights[weights >= 2**22].min()

    def test_two_are_told_apart_and_no_more_are_told(self):
        columns = gemm()
        beside = np.where(columns["rows"] >= 512, 2, 1) * np.where(columns["depth"] >= 2048, 1.5, 1)
        found = cause(columns, beside)
        assert {(each.column, each.first) for each in found.switches} == {
            ("rows", 512), ("depth", 2048)}
        more = cause(columns, beside * np.where(columns["columns"] >= 2048, 1.8, 1))
        assert len(more.switches) == 2
        assert more.rest is not None

    def test_a_jump_of_shapes_that_were_fitted_alone_is_none(self):
        columns = gemm()
        chosen = halves(list(columns.values()))
        spread = 0.15 * np.random.default_rng(1).standard_normal(len(chosen))
        jump = np.where(chosen & (columns["rows"] >= 64), 1.6, 1)
        assert explained("gemm", columns, np.exp(-spread) / jump, chosen).switches == ()

    def test_where_nothing_was_fitted_every_other_row_gives_the_factor(self):
        columns = gemm()
        beside = np.where(columns["rows"] >= 64, 1.6, 1)
        (switch,) = explained("gemm", columns, 1 / beside, np.zeros(len(beside), bool)).switches
        assert switch.factor == pytest.approx(1.6)


class TestTrends:
    @pytest.mark.parametrize("power", [-0.15, -0.1, 0.1, 0.15])
    def test_a_gradual_lean_is_no_switch(self, power):
        """Although half of the table lies above the other half, by a factor."""
        columns = gemm()
        found = cause(columns, (columns["rows"] / 90) ** power)
        assert found.switches == ()
        assert (found.how, found.rest.column) == ("trend", "rows")
        assert found.rest.factor == pytest.approx(8192**power, rel=0.1)

    def test_nor_is_one_that_steepens_towards_an_end(self):
        columns = gemm()
        found = cause(columns, np.exp(0.6 * (np.log(columns["rows"]) / np.log(8192)) ** 3))
        assert found.switches == ()
        assert found.how == "trend"

    def test_it_may_be_of_some_shapes_only(self):
        columns = gemm()
        found = cause(columns, np.where(columns["depth"] < 2048, columns["rows"] / 90, 1) ** 0.2)
        assert (found.how, found.rest.column) == ("trend", "rows")
        assert found.rest.where == Where("depth", None, 1536)

    def test_a_column_may_hold_zero(self):
        columns = grid(tokens=ROWS, hidden_size=np.array([4096.0, 6144, 7168]),
                       skew=np.array([0, 1.01, 1.2]))
        columns |= {"experts_read": columns["tokens"], "expert_rows": 8 * columns["tokens"],
                    "inside": columns["hidden_size"]}
        found = cause(columns, np.exp(0.25 * columns["skew"]), 0.02, "experts")
        assert (found.how, found.rest.column) == ("trend", "skew")


class TestScatter:
    @pytest.mark.parametrize("seed", range(5))
    def test_noise_is_neither_switch_nor_trend(self, seed):
        found = cause(gemm(), 1, 0.15, seed=seed)
        assert found.switches == ()
        assert found.how == "scatter"
        assert found.rest.factor == pytest.approx(np.exp(0.674 * 0.15 * 2**0.5), rel=0.05)

    def test_jumps_both_ways_are_scatter_of_their_size(self):
        """As where a tile is chosen shape by shape: half of them take half as long again."""
        columns = gemm()
        drawn = np.random.default_rng(3).random(len(columns["rows"])) < 0.5
        found = cause(columns, np.where(drawn, 1.25, 1 / 1.25), 0.0)
        assert (found.switches, found.how) == ((), "scatter")
        assert found.rest.factor == pytest.approx(1.25**2, rel=0.05)

    def test_shapes_that_lie_each_elsewhere_are_scatter_whatever_the_rows(self):
        columns = gemm()
        kinds = np.unique(columns["columns"] * 2**20 + columns["depth"], return_inverse=True)[1]
        drawn = np.exp(0.3 * np.random.default_rng(4).standard_normal(kinds.max() + 1))
        found = cause(columns, drawn[kinds])
        assert found.how == "scatter"
        assert found.rest.column in ("columns", "depth", SHAPE)
        assert found.rest.factor > 1.15


class TestEdges:
    def test_a_table_that_keeps_both_bars_says_nothing(self):
        columns = gemm()
        assert cause(columns, np.where(columns["rows"] >= 64, 1.06, 1)) is None

    def test_an_operator_whose_shapes_nobody_stated_says_nothing(self):
        assert cause(gemm(), 3.0, 0.3, "two_ways") is None

    @pytest.mark.parametrize("rows", range(1, 2 * LEAST_ROWS + 6))
    def test_few_rows_end_in_no_traceback_and_of_very_few_nothing_is_said(self, rows):
        columns = {name: column[:rows] for name, column in gemm().items()}
        found = cause(columns, np.where(columns["columns"] > 128, 2.0, 1), 0.3)
        assert found is None or len(found.switches) <= 1
        assert rows >= LEAST_ROWS or found is None

    def test_nor_do_columns_of_one_value(self):
        one = {name: np.full(40, 128.0) for name in ("rows", "columns", "depth")}
        chosen = np.arange(40) % 2 == 0
        ratio = np.exp(0.3 * np.random.default_rng(2).standard_normal(40))
        found = explained("gemm", one, ratio, chosen)
        assert (found.switches, found.how, found.rest.column) == ((), "scatter", SHAPE)

    def test_a_single_line_has_no_neighbours_that_could_agree(self):
        columns = grid(rows=np.arange(1.0, 60), columns=OUT[:1], depth=DEPTH[:1])
        assert cause(columns, np.where(columns["rows"] >= 30, 1.6, 1)).switches == ()

    def test_columns_of_a_card_are_passed_over(self):
        columns = gemm()
        beside = np.where(columns["rows"] >= 64, 1.6, 1)
        chosen = halves(list(columns.values()))
        assert explained("gemm", {**columns, "peak": 1e15}, 1 / beside, chosen) == explained(
            "gemm", columns, 1 / beside, chosen)


def test_a_few_words_tell_it():
    columns = gemm()
    assert miss_summary(cause(columns, np.where(columns["rows"] >= 64, 1.6, 1), 0)
                        ) == "x1.60 at rows from 64"
    assert miss_summary(cause(gemm(), 1, 0.15)).startswith("scatter of x1.1")
