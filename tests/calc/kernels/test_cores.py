"""Laws of the core of latent attention: the function of a step, and what a table of it tells."""

import numpy as np
import pytest

from calc.kernels.cores import DECODE_CORE, LAWS, PREFILL_CORE
from calc.kernels.fitting import fit, halves

CARD = {"peak": 989e12, "bandwidth": 4.8e12, "hbm_efficiency": 0.88, "kernel_boundary": 2e-6,
        "core_tile_rows": 64.0, "prefill_tile_rows": 64.0, "element_bytes": 2.0}


def columns(lengths, **others):
    heads, batch, length = (grid.ravel() for grid in np.meshgrid(
        [8.0, 16, 64, 128], [1.0, 4, 16, 64], [256.0, 1024, 4096, 16384]))
    return {"heads": heads, "batch": batch, lengths: length, **CARD, **others}


TABLES = {DECODE_CORE.operator: columns("context"), PREFILL_CORE.operator: columns("tokens")}


def starts(law):
    return {name: bounds.start for name, bounds in law.parameters.items()}


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.operator)
class TestLaws:
    def test_every_parameter_is_seen_in_a_table(self, law):
        table = TABLES[law.operator]
        base = law.time(table, starts(law))
        for name, value in starts(law).items():
            assert (law.time(table, starts(law) | {name: 1.1 * value}) != base).any(), name

    def test_the_values_that_made_a_table_are_found_again(self, law):
        table, true = TABLES[law.operator], {
            name: 1.3 * value if value < 0.5 else 0.9 * value
            for name, value in starts(law).items()}
        shape = [column for column in table.values() if np.ndim(column)]
        found = fit(law, table, law.time(table, true), halves(shape), shape[1], shape[0])
        assert found.errors.most < 0.02

    def test_more_of_anything_takes_no_less(self, law):
        table = TABLES[law.operator]
        base = law.time(table, starts(law))
        for name, column in table.items():
            if np.ndim(column):
                assert (law.time(table | {name: 2 * column}, starts(law)) >= base).all(), name


def test_heads_of_half_a_tile_take_as_long_as_whole_ones():
    """Where arithmetic decides: eight heads are multiplied as sixty-four."""
    few, many = (dict(columns("context", element_bytes=1e-3)) for _ in range(2))
    few["heads"], many["heads"] = np.full_like(few["heads"], 8), np.full_like(few["heads"], 64)
    values = starts(DECODE_CORE)
    np.testing.assert_allclose(DECODE_CORE.time(few, values), DECODE_CORE.time(many, values),
                               rtol=1e-9)


def test_prompts_of_part_of_a_tile_take_as_long_as_whole_ones():
    """Where rows decide: a token is brought in as sixty-four are."""
    values = starts(PREFILL_CORE) | {"prefill_core_latency": 1e-9}
    tokens = np.array([1.0, 64, 128])
    table = {"heads": np.full(3, 16.0), "batch": np.full(3, 256.0), "tokens": tokens, **CARD}
    times = PREFILL_CORE.time(table, values) - CARD["kernel_boundary"]
    assert 0.7 < times[0] / times[1] < 1
    assert times[2] / times[1] > 1.9


def test_a_short_prompt_is_mostly_rows_and_a_long_one_arithmetic():
    """What is moved grows with the tokens, arithmetic with their square."""
    values = starts(PREFILL_CORE)
    still = values | {"core_row_traffic": 0.0, "prefill_core_latency": 0.0}
    shares = []
    for tokens in (256.0, 65536.0):
        table = {"heads": np.array([16.0]), "batch": np.array([64.0]),
                 "tokens": np.array([tokens]), **CARD}
        shares.append(float(1 - (PREFILL_CORE.time(table, still) - CARD["kernel_boundary"])[0]
                            / PREFILL_CORE.time(table, values)[0]))
    assert shares[0] > 0.5 > 0.1 > shares[1]
