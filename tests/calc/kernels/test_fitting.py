"""A law that made a table is found again; what judges it was never fitted."""

from dataclasses import replace

import numpy as np
import pytest

from calc.kernels import engines
from calc.kernels.fitting import REGIONS, by_region, fit, halves
from calc.kernels.law import Bounds, Law
from calc.kernels.matmuls import DENSE, LAWS, QUANTISED, SENT, SLICES, WHOLE, rank_columns
from calc.kernels.routing import met
from calc.kernels.rows.of_every_operator import of_card
from catalogue import library
from catalogue.tables import shelf

CARD = {"peak": 1979e12, "bandwidth": 4.8e12, "weight_bytes": 1.0, "hbm_efficiency": 0.88,
        "gemm_tile_rows": 16.0, "expert_tile_rows": 16.0, "kernel_boundary": 2e-6,
        "operators_per_layer": 28.0, "reference_operators": 28.0}
TRUE = {"gemm_efficiency": 0.7, "matmul_latency": 4e-6, "depth_latency": 6e-10,
        "activation_traffic": 4.0}
ROWS = np.array([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192], float)


def dense_columns():
    rows, out, depth = (grid.ravel() for grid in np.meshgrid(
        ROWS, [512.0, 2112, 7168, 24576], [256.0, 1536, 2048, 7168]))
    return {"rows": rows, "columns": out, "depth": depth}


def fitted(noise: float):
    columns = dense_columns()
    spread = np.exp(noise * np.random.default_rng(1).standard_normal(len(columns["rows"])))
    time = DENSE.time({**columns, **CARD}, TRUE) * spread
    kinds = (columns["columns"] * 10_000 + columns["depth"]).astype(int)
    return fit(DENSE, {**columns, **CARD}, time, halves(list(columns.values())), columns["rows"],
               kinds)


class TestFits:
    def test_the_values_that_made_a_table_are_found(self):
        found = fitted(0.0)
        assert found.values == pytest.approx(TRUE, rel=1e-3)
        assert found.errors.most < 1e-3

    def test_errors_are_those_of_the_noise_and_the_covariance_tells_how_sure_a_value_is(self):
        noise = 0.1
        found = fitted(noise)
        assert found.errors.median == pytest.approx(0.67 * noise, rel=0.3)
        sigma = np.sqrt(np.diag(found.covariance))
        off = np.abs([np.log(found.values[name] / TRUE[name]) for name in found.law.parameters])
        assert (off < 4 * sigma).all()
        assert all(low < found.values[name] < high
                   for name, (low, high) in found.ranges.items())

    def test_regions_hold_the_rows_that_judge_and_no_other(self):
        found = fitted(0.05)
        assert sum(errors.rows for errors in found.regions.values()) == found.errors.rows
        assert set(found.regions) <= set(REGIONS)
        assert found.fitted + found.errors.rows == len(dense_columns()["rows"])

    def test_a_region_begins_at_a_power_of_four_and_ends_before_the_next(self):
        """A row of 4^n tokens or one less, each on either side: one of either kind a region."""
        tokens = np.array([1, 15, 16, 63, 64, 255, 256, 1023, 1024, 4095, 4096, 4**8])
        found = by_region(np.ones(len(tokens)), tokens)
        assert list(found) == [1, 4**2, 4**3, 4**4, 4**5, 4**6]
        assert {errors.rows for errors in found.values()} == {2}

    def test_a_shape_is_in_the_same_half_whatever_stands_beside_it(self):
        columns = list(dense_columns().values())
        every = halves(columns)
        assert (halves([column[::3] for column in columns]) == every[::3]).all()
        assert 0.3 < every.mean() < 0.7

    def test_of_several_places_to_begin_the_best_end_is_kept(self):
        """The less of two ways: where one begins late and slow it is never seen, nor found."""
        size = np.repeat(2.0 ** np.arange(10, 28), 4)
        bounds = {"latency": Bounds(3e-5, 1e-6, 1e-3), "late": Bounds(5e-4, 1e-6, 1e-3),
                  "rate": Bounds(2e10, 1e9, 1e12)}
        true = {"latency": 1e-5, "late": 6e-5, "rate": 4e11}
        law = Law("two_ways", bounds, lambda columns, values: np.minimum(
            values["latency"] + columns["bytes"] / 1e11,
            values["late"] + columns["bytes"] / values["rate"]))
        time, chosen = law.time({"bytes": size}, true), np.arange(len(size)) % 2 == 0
        alone, best = (fit(each, {"bytes": size}, time, chosen, size, np.zeros(len(size), int)
                    ).errors.most for each in (law, replace(law, begins=[true])))
        assert alone > 0.5
        assert best < 1e-3

    def test_too_few_shapes_are_refused(self):
        columns = {name: column[:4] for name, column in dense_columns().items()}
        with pytest.raises(ValueError, match="4 shapes are too few for 4 parameters"):
            fit(DENSE, {**columns, **CARD}, np.ones(4), np.ones(4, bool), columns["rows"],
                np.zeros(4, int))


class TestLaws:
    def test_none_has_more_than_six_parameters(self):
        assert all(len(law.parameters) <= 6 for law in LAWS)

    @pytest.mark.parametrize("law", LAWS, ids=lambda law: "-".join(law.parameters)[:20])
    def test_more_tokens_and_slower_parts_are_never_faster(self, law):
        start = {name: bound.start for name, bound in law.parameters.items()}
        dense = law in (DENSE, QUANTISED)
        columns = dense_columns() if dense else expert_columns(law is WHOLE)
        time = law.time({**columns, **CARD}, start)
        assert (time > 0).all()
        for name, value in start.items():
            better = "efficiency" in name
            changed = law.time({**columns, **CARD}, {**start, name: value * 1.2})
            assert (changed <= time + 1e-15 if better else changed >= time - 1e-15).all(), name
        assert (np.diff(time[np.argsort(columns["rows" if dense else "tokens"],
                                        kind="stable")].reshape(-1)).max() > 0)


def expert_columns(whole: bool):
    tokens = ROWS
    columns = {"tokens": tokens, "hidden_size": np.full_like(tokens, 7168),
               "moe_intermediate_size": np.full_like(tokens, 2048),
               "n_routed_experts": np.full_like(tokens, 256),
               "num_experts_per_tok": np.full_like(tokens, 8),
               "tensor_parallel": np.full_like(tokens, 1 if whole else 8),
               "expert_parallel": np.full_like(tokens, 8 if whole else 1)}
    return columns | rank_columns(columns, np.array(["balanced"] * len(tokens)))


class TestRouting:
    def test_in_turn_every_expert_has_the_same_rows(self):
        assert met(32, 256, 8, 1, "balanced") == (256, 256)
        assert met(1024, 256, 8, 8, "balanced") == (32, 1024)

    def test_a_power_law_fills_one_rank_more_than_the_mean_and_no_expert_more_than_all_tokens(self):
        for tokens in (1, 16, 300, 5000):
            found = met(tokens, 256, 8, 8, "power-law-1.2")
            assert tokens <= found.rows <= 8 * tokens
            assert 1 <= found.experts <= 32

    def test_slices_of_all_ranks_are_met_by_every_row(self):
        assert met(100, 256, 8, 1, "power-law-1.01").rows == 800

    def test_a_routing_that_nobody_knows_is_refused(self):
        with pytest.raises(ValueError, match="no routing 'zipf'"):
            met(1, 256, 8, 1, "zipf")


def test_slices_and_whole_experts_differ_in_what_was_fitted_alone():
    """With the same numbers both are the same time: the cut is in the columns."""
    columns = expert_columns(whole=False)
    sent = {name: bound.start for name, bound in SENT.parameters.items()}
    same = dict(zip(SLICES.parameters, sent.values(), strict=True))
    np.testing.assert_allclose(SLICES.time({**columns, **CARD}, same),
                               SENT.time({**columns, **CARD}, sent))


def test_a_rank_that_has_all_tokens_may_move_the_rows_of_all_experts():
    """As many bytes as its own rows take, over all tokens: with one rank they are the same."""
    columns = expert_columns(whole=True) | CARD
    own = {name: bound.start for name, bound in WHOLE.parameters.items()}
    own |= {"expert_row_traffic": 3.0, "gathered_row_traffic": 0.0}
    everywhere = own | {"expert_row_traffic": 0.0, "gathered_row_traffic": 3.0}
    times, more = WHOLE.time(columns, own), WHOLE.time(columns, everywhere)
    all_rows = columns["tokens"] * columns["num_experts_per_tok"]
    np.testing.assert_array_equal(more > times * (1 + 1e-9), all_rows > columns["expert_rows"])
    np.testing.assert_allclose(
        (more - times) / np.maximum(all_rows - columns["expert_rows"], 1e-9),
        3 * 2 * (2 * columns["hidden_size"] + 3 * columns["inside"])
        / (columns["bandwidth"] * columns["hbm_efficiency"]) * (all_rows > columns["expert_rows"]),
        rtol=1e-6, atol=1e-16)


HAD = {name: bound.start for name, bound in WHOLE.parameters.items()}


class TestTiles:
    def test_without_growth_they_are_the_smallest_whatever_the_largest(self):
        columns = expert_columns(whole=True) | CARD
        still, other = (WHOLE.time(columns, HAD | {
            "expert_tile_growth": 0.0, "largest_expert_tile": largest}) for largest in (32, 512.0))
        np.testing.assert_array_equal(still, other)
        assert (WHOLE.time(columns, HAD) >= still).all()

    def test_largest_tiles_are_full_where_experts_have_many_rows(self):
        """Padding is largest between: from the smallest tile on, and before all tiles are full."""
        columns = expert_columns(whole=True) | CARD
        more = WHOLE.time(columns, HAD) / WHOLE.time(
            columns, HAD | {"expert_tile_growth": 0.0})
        at = int(more.argmax())
        assert more[0] == pytest.approx(1)
        assert more[-1] < 1 + (more[at] - 1) / 2
        assert 4 < (columns["expert_rows"] / columns["experts_read"])[at] < 100

    def test_a_rank_with_the_tokens_of_all_takes_its_tiles_for_more_rows_than_it_multiplies(self):
        columns = expert_columns(whole=True) | CARD
        sent = {name: bound.start for name, bound in SENT.parameters.items()}
        sent |= {"expert_row_traffic": 1.0}
        had = HAD | {"gathered_row_traffic": 0.0}
        assert (WHOLE.time(columns, had) >= SENT.time(columns, sent)).all()
        assert (WHOLE.time(columns, had) > SENT.time(columns, sent)).any()


def test_rows_that_were_quantised_before_move_nothing_besides():
    columns = dense_columns() | CARD
    start = {name: bound.start for name, bound in QUANTISED.parameters.items()}
    np.testing.assert_array_equal(QUANTISED.time(columns, start),
                                  DENSE.time(columns, start | {"activation_traffic": 0.0}))


def test_a_librarys_matmuls_are_sums_of_kernels_and_few_rows_count_as_much_as_many(tmp_path):
    """The planted values come back although nearly all shapes have many rows."""
    rows = np.concatenate([np.repeat([16.0, 64.0, 256.0], 12), np.repeat([4096.0], 3000)])
    wide = np.tile([512.0, 1024.0, 2048.0, 7168.0], len(rows) // 4)
    columns = {"rows": rows, "columns": wide + 128 * (np.arange(len(rows)) // 4 % 40),
               "depth": np.where(np.arange(len(rows)) % 3, 7168.0, 1536.0)}
    device = library.load("devices", "amd-mi300x")
    card = of_card(device, library.load("mechanisms", "amd-mi300x"), "fp8", 1)
    planted = {"gemm_efficiency": 0.31, "matmul_latency": 3e-6, "depth_latency": 2e-9}
    time = QUANTISED.time(columns | card | {"kernel_boundary": 0.0}, planted)
    path = tmp_path / "table.csv"
    lines = [f"gemm,amd-mi300x,aiter@unstated,fp8-block,{m:.0f},{n:.0f},{k:.0f},{t!r}"
             for m, n, k, t in zip(*columns.values(), time.tolist(), strict=True)]
    head = "operator,card,engine,dtype,rows,columns,depth,time"
    path.write_text("\n".join([head, *lines]) + "\n",
                    "utf-8")
    (found,) = engines.fitted(shelf(path), "amd-mi300x", "aiter")
    assert found.fit.values == pytest.approx(planted, rel=0.02)
    assert found.fit.fitted < 200
    assert found.fit.errors.most < 0.01
