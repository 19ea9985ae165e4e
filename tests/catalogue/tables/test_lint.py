"""What the lint finds in measured rows, and what it leaves of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalogue import load
from catalogue.tables import sound
from catalogue.tables.floors import floor
from catalogue.tables.table import joined, synthetic

H200 = {"card": "nvidia-h200-sxm", "engine": "vllm@0.24.0"}


def gemm(rows, time, **columns):
    return synthetic("gemm", rows=rows, time=time, **{"columns": 7168, "depth": 2048} | columns)


def kinds(findings):
    return {(each.kind, each.rows, each.left_out) for each in findings}


def test_even_rows_stay_as_they_are():
    table = gemm([1, 2, 4, 8], [1e-5, 1.1e-5, 1.2e-5, 1.5e-5])
    clean, findings = sound(table)
    assert findings == []
    assert clean.row.tolist() == [1, 2, 3, 4]


def test_times_without_measure_are_a_jump_and_no_warning():
    with np.errstate(all="raise"):
        _, findings = sound(gemm([1, 2], [1e-310, 1e5]))
    assert "jump" in {each.kind for each in findings}


@pytest.mark.parametrize("time", [0.0, -1e-6, np.nan, np.inf])
def test_a_row_without_a_time_is_left_out_and_told(time):
    clean, findings = sound(gemm([1, 2], [1e-5, time]))
    assert clean.row.tolist() == [1]
    assert kinds(findings) == {("no-time", 1, True)}
    assert findings[0].examples[0].startswith("made here, row 2: bf16, rows 2, columns 7168, ")
    assert findings[0].of == 2


def test_words_and_numbers_that_are_not_of_the_schema_are_left_out():
    clean, findings = sound(gemm([1, 0, 4], 1e-5, dtype=["bf16", "bf16", "fp3"]))
    assert clean.row.tolist() == [1]
    assert kinds(findings) == {("unknown-word", 2, True)}


def test_the_same_row_again_is_a_copy():
    clean, findings = sound(gemm([1, 1, 2], [1e-5, 1e-5, 1e-5]))
    assert clean.row.tolist() == [1, 3]
    assert kinds(findings) == {("copy", 1, True)}


def test_of_a_shape_measured_again_the_lower_median_stays():
    clean, findings = sound(gemm([1, 1, 1, 1, 2], [4e-5, 2e-5, 1e-5, 3e-5, 2e-5]))
    assert clean["time"].tolist() == [2e-5, 2e-5]
    assert kinds(findings) == {("double", 3, True)}
    assert "again" in findings[0].says


def test_kernels_of_one_shape_are_no_doubles_and_no_neighbours():
    table = synthetic("all_reduce", ranks=8, bytes=[1024, 1024, 2048, 2048, 4096, 4096],
                      kernel=["graph", "eager"] * 3, time=[5e-6, 5e-5] * 3)
    clean, findings = sound(table)
    assert len(clean) == 6
    assert findings == []


def test_a_point_alone_is_a_spike_and_a_step_that_stays_is_a_jump():
    table = gemm([1, 2, 4, 8, 16, 32], [1e-5, 1e-5, 9e-5, 1e-5, 1e-5, 9e-5])
    clean, findings = sound(table)
    assert clean.row.tolist() == [1, 2, 4, 5, 6]
    assert kinds(findings) == {("spike", 1, True), ("jump", 1, False)}


@pytest.mark.parametrize(("operator", "shape", "flops", "unit"), [
    ("gemm", {"rows": 8192, "columns": 7168, "depth": 2048}, 2 * 8192 * 7168 * 2048, "bf16"),
    ("experts", {"tokens": 8192, "hidden_size": 7168, "moe_intermediate_size": 2048,
                 "n_routed_experts": 256, "num_experts_per_tok": 8, "expert_parallel": 8,
                 "skew": "balanced"}, 2 * 8192 * 3 * 7168 * 2048, "bf16"),
    ("mla_prefill", {"heads": 16, "batch": 2, "tokens": 3, "past": 5, "cache_dtype": "bf16"},
     2 * 16 * 2 * (6 + 7 + 8) * (192 + 128), "bf16"),
    ("mla_decode", {"heads": 16, "batch": 2, "context": 100, "cache_dtype": "fp8"},
     2 * 2 * 16 * 100 * (576 + 512), "fp8"),
    ("attention_prefill", {"heads": 8, "kv_heads": 1, "head_dim": 128, "batch": 1, "tokens": 6,
                           "past": 0, "window": 4, "cache_dtype": "bf16"},
     2 * 8 * (1 + 2 + 3 + 4 + 4 + 4) * 2 * 128, "bf16"),
])
def test_no_time_is_below_what_a_card_multiplies_at_its_peak(operator, shape, flops, unit):
    peak = getattr(load("devices", "nvidia-h200-sxm").matrix_peak, unit).value
    table = synthetic(operator, **H200, **shape, time=[0.5 * flops / peak])
    np.testing.assert_allclose(floor(table), flops / peak, rtol=1e-12)
    assert kinds(sound(table)[1]) == {("below-roofline", 1, True)}
    assert len(sound(synthetic(operator, **H200, **shape, time=[2 * flops / peak]))[0]) == 1


def test_a_long_cache_is_read_at_the_bandwidth_at_most():
    shape = {"heads": 64, "kv_heads": 8, "head_dim": 128, "batch": 64, "context": 32768,
             "cache_dtype": "bf16"}
    read = 64 * 8 * 32768 * 2 * 128 * 2
    bandwidth = load("devices", "nvidia-h200-sxm").memory_bandwidth.value
    np.testing.assert_allclose(floor(synthetic("attention_decode", **H200, **shape, time=1.0)),
                               read / bandwidth, rtol=1e-12)


def test_a_card_that_nobody_describes_has_no_floor():
    assert floor(gemm([8192], 1e-9)).tolist() == [0.0]


def test_findings_are_told_by_card_and_engine():
    clean, findings = sound(joined("gemm", [gemm([1, 2], [0.0, 1e-5]),
                                            gemm([1], [0.0], file="other", **H200)]))
    assert len(clean) == 1
    assert [(each.card, each.rows, each.of) for each in findings] == [
        ("made-here", 1, 2), ("nvidia-h200-sxm", 1, 1)]


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 1e-5, 1.05e-5, 9e-5])),
                min_size=1, max_size=20))
def test_every_row_stays_or_is_told_once_and_what_stays_is_sound(rows):
    table = gemm([size for size, _ in rows], [time for _, time in rows])
    clean, findings = sound(table)
    assert len(clean) + sum(each.rows for each in findings if each.left_out) == len(table)
    assert (clean["time"] > 0).all()
    assert len(set(clean.keys().tolist())) == len(clean)
    assert not [each for each in sound(clean)[1] if each.kind not in ("spike", "jump")]
