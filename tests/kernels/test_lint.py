"""Lint of measured rows: copies, doubles, spikes, and times below the roofline."""

import numpy as np
import pytest
from _tables import synthetic
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogue import load
from catalogue.tables import key
from kernels.lint import floor, sound

H200 = {"card": "nvidia-h200-sxm", "engine": "vllm@0.24.0"}


def gemm(rows, time, **columns):
    return synthetic("gemm", rows=rows, time=time, **{"columns": 7168, "depth": 2048} | columns)


@pytest.mark.parametrize(("rows", "time", "more", "left"), [
    ([1, 2, 4, 8], [1e-5, 1.1e-5, 1.2e-5, 1.5e-5], {}, [1, 2, 3, 4]),
    ([1, 0, 4], 1e-5, {"dtype": ["bf16", "bf16", "fp3"]}, [1]),
    ([1, 1, 2], 1e-5, {}, [1, 3]),
    # of a shape measured again the lower median stays
    ([1, 1, 1, 1, 2], [4e-5, 2e-5, 1e-5, 3e-5, 2e-5], {}, [2, 5]),
    # a point alone, and a step that stays
    ([1, 2, 4, 8, 16, 32], [1e-5, 1e-5, 9e-5, 1e-5, 1e-5, 9e-5], {}, [1, 2, 4, 5, 6]),
    *(([1, 2], [1e-5, time], {}, [1])
      for time in (0.0, -1e-6, np.nan, np.inf))])
def test_rows_that_pass(rows, time, more, left):
    assert sound(gemm(rows, time, **more))["row"].tolist() == left


@pytest.mark.parametrize(("operator", "shape", "flops", "unit"), [
    ("gemm", {"rows": 8192, "columns": 7168, "depth": 2048}, 2 * 8192 * 7168 * 2048, "bf16"),
    ("experts", {"tokens": 8192, "hidden_size": 7168, "moe_intermediate_size": 2048,
                 "n_routed_experts": 256, "num_experts_per_tok": 8, "expert_parallel": 8,
                 "skew": "balanced"}, 2 * 8192 * 3 * 7168 * 2048, "bf16"),
    ("mla_prefill", {"heads": 16, "batch": 2, "tokens": 3, "past": 5, "cache_dtype": "bf16"},
     2 * 16 * 2 * (6 + 7 + 8) * (192 + 128), "bf16"),
    ("mla_decode", {"heads": 16, "batch": 2, "context": 100, "cache_dtype": "fp8"},
     2 * 2 * 16 * 100 * (576 + 512), "fp8"),
])
def test_floor_by_arithmetic(operator, shape, flops, unit):
    peak = getattr(load("devices", "nvidia-h200-sxm").matrix_peak, unit).value
    table = synthetic(operator, **H200, **shape, time=[0.5 * flops / peak])
    np.testing.assert_allclose(floor(table), flops / peak, rtol=1e-12)
    assert len(sound(table)) == 0
    assert len(sound(synthetic(operator, **H200, **shape, time=[2 * flops / peak]))) == 1


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from([0.0, 1e-5, 1.05e-5, 9e-5])),
                min_size=1, max_size=20))
@settings(max_examples=30)
def test_shapes_that_pass_have_one_time(rows):
    clean = sound(gemm([size for size, _ in rows], [time for _, time in rows]))
    assert (clean["time"] > 0).all()
    assert not clean.frame.duplicated(key("gemm")).any()
