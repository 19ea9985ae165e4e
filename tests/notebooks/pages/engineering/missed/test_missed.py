"""What a page says of why a law misses: in both languages, and by its name where source has one."""

import numpy as np
import pytest

from calc.kernels.missing.columns import AXES, Along, columns_of
from catalogue.entries.profiles import Judged, Measured, Missed, Rest, Shapes, Switch
from notebooks.pages.engineering import kernels
from notebooks.pages.engineering.missed.named import KNOWN
from notebooks.pages.engineering.missed.words import COLUMNS, why

ERRORS = Judged(rows=10, leaning=0, median=0.1, most=0.3)


def measured(operator, kernel, dtype):
    return Measured(operator=operator, kernel=kernel, dtype=dtype, fitted=10, judged=ERRORS,
                    regions={}, parameters=[], covariance=[])


@pytest.mark.parametrize(("missed", "en", "zh"), [
    (Missed(switches=[Switch(column="rows", first=64, factor=1.4)]),
     "another kernel: rows ≥ 64 (1.40×)", "切换到另一算子：行数 ≥ 64（1.40×）"),
    (Missed(switches=[Switch(column="rows", first=160, last=192, factor=1.65,
                             where=Shapes(column="depth", last=512))],
            rest=Rest(how="scatter", column="shape", factor=1.09)),
     "another kernel: rows 160–192, inputs ≤ 512 (1.65×); scatter along shapes (1.09×)",
     "切换到另一算子：行数 160–192，输入数 ≤ 512（1.65×）；不规则：形状（1.09×）"),
    (Missed(switches=[Switch(column="heads", first=32, last=32, factor=1.35)]),
     "another kernel: heads 32 (1.35×)", "切换到另一算子：头数 32（1.35×）"),
    (Missed(rest=Rest(how="trend", column="rows_of_expert", first=1.5, last=4096, factor=0.8)),
     "lean along rows per expert 1.5–4,096 (0.80×)", "逐步偏离：每专家行数 1.5–4,096（0.80×）"),
    (Missed(switches=[Switch(column="weights", first=2**20, last=2**23, factor=0.6)]),
     "another kernel or the L2: elements of the weight 1,048,576–8,388,608 (0.60×)",
     "切换到另一算子，或改由 L2 读取：权重元素数 1,048,576–8,388,608（0.60×）"),
    (None, "too few rows to say", "行数太少，无法判断")])
def test_a_cause_is_told_in_both_languages(missed, en, zh):
    assert why(missed) == (en, zh)


def test_every_column_that_a_kernel_may_be_chosen_by_has_a_name():
    for operator, axes in AXES.items():
        shapes = {name: np.array([2.0, 4.0]) for name in axes} | {
            name: np.array([2.0, 4.0]) for name in ("expert_rows", "inside")} | {
            "experts_read": np.array([1.0, 1.0])}
        made = columns_of(operator, shapes)
        assert set(made) <= set(COLUMNS), operator
        assert all(isinstance(along, Along) for along in made.values())


@pytest.mark.parametrize(("operator", "kernel", "dtype", "switch", "name"), [
    ("experts", "vllm_fused_moe", "fp8-block", {"column": "tokens", "first": 80, "last": 320},
     "Triton: tiles of 16 rows up to 64 tokens"),
    ("experts", "vllm_fused_moe", "fp8-block", {"column": "tokens", "first": 2, "last": 64},
     "Triton: tiles of 16 rows up to 64 tokens"),
    ("mla_decode", "trtllm_mla", "bf16", {"column": "heads", "first": 32, "last": 32},
     "trtllm-gen: operands swapped"),
    ("experts", "vllm_fused_moe", "fp8-block", {"column": "tokens", "first": 512}, None),
    ("experts", "deepgemm", "fp8-block", {"column": "tokens", "first": 80}, None),
    ("gemm", "vllm_default", "bf16", {"column": "rows", "first": 80}, None)])
def test_a_switch_has_the_name_of_source_where_it_begins_or_ends_there(operator, kernel, dtype,
                                                                       switch, name):
    of = [known for known in KNOWN
          if known.is_of(measured(operator, kernel, dtype), Switch(factor=1.5, **switch))]
    assert [known.name[0].startswith(name) for known in of] == ([True] if name else [])


def test_every_table_that_is_kept_says_nothing_of_a_cause():
    assert all(row.measured.missed is None for row in kernels.rows() if row.keeps_bars)
