"""Statements of a file of fits as they are written: digits, units, ends, and why a law misses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import yaml

from calc.kernels.fitting import Errors, Fitted
from calc.kernels.law import Bounds, Law
from calc.kernels.missing import Change, Missed, Where
from calc.kernels.writing import Table, _digits, _exact, text

HEAD = """# yaml-language-server: $schema=../schema/fits.json
name: {en: "a \\"b\\"", zh: "甲"}
engine: vllm
card: nvidia-hopper
table: "of 1"
defaults: {source: mine, kind: derived, date: 2026-10}
statements:
"""
OVERLAP = Bounds(0.5, 0.25, 0.75)
DENSE = Fitted(
    Law("gemm", {}, lambda columns, values: columns["rows"], {"load_overlap": OVERLAP}),
    {"gemm_efficiency": 0.7864, "matmul_latency": 3.456e-6, "activation_traffic": 2.0},
    {"gemm_efficiency": (0.63, 1.2), "matmul_latency": (3.5e-6, 4e-6),
     "activation_traffic": (1.0, 1.5)},
    np.array([[1.0, 9, 9], [2e-5, 3, 9], [-4.567, 5e6, 6]]), 12,
    Errors(34, -0.0123, 0.0806, 0.2), {1: Errors(4, 0.5, 0.25, 1.5), 16: Errors(30, 0, 0, 0)},
    Errors(34, 0.1, 0.2, 0.3))
EXPERTS = Fitted(
    Law("experts", {}, lambda columns, values: columns["rows"],
        {"expert_load_overlap": OVERLAP, "load_overlap": OVERLAP}),
    {"routed_expert_gemm_efficiency": 0.5, "exchange_token_time": 2e-9},
    {"routed_expert_gemm_efficiency": (0.4, 0.6), "exchange_token_time": (1e-9, 3e-9)},
    np.eye(2), 7, Errors(5, 0, 0, 0), {1: Errors(5, 0, 0, 0)})
MISSED = Missed((Change("rows", 1.654, 160, 192, Where("depth", None, 512.0)),
                 Change("skew", 0.5, 0.1234)), Change("columns", 1.06), "scatter")
GEMM = Table("0.9.1", "gemm", None, 'k "q"', "fp8-block", "fp8", None, (), DENSE)
WHOLE = Table("0.9.1", "experts", "whole", "fused", "w4a16", "bf16", False, ("mxfp4", "nvfp4"),
              EXPERTS, "gqa", "normal")


def written(*tables):
    found = text("vllm", "nvidia-hopper", {"en": 'a "b"', "zh": "甲"}, "of 1", "mine", "2026-10",
                 tables)
    assert found.startswith(HEAD)
    return found.removeprefix(HEAD)


def test_a_dense_law_with_its_values_ends_errors_and_what_is_held():
    """No share is above one, and no value outside of its own ends."""
    assert written(GEMM) == """\
  - cards: [nvidia-hopper]
    mechanisms:
      gemm_efficiency.fp8: {value: 0.786, range: [0.63, 1]}
      matmul_latency.fp8: {value: 3.46 us, range: [3.46 us, 4 us]}
      activation_traffic.fp8: {value: 2 B, range: [1 B, 2 B]}
      load_overlap: {value: 0.5, range: [0.25, 0.75]}
    measured:
      - {operator: gemm, kernel: "k \\"q\\"", dtype: fp8-block, fitted: 12,
         judged: {rows: 34, leaning: -0.012, median: 0.081, most: 0.200},
         before: {rows: 34, leaning: 0.100, median: 0.200, most: 0.300},
         regions: {1: {rows: 4, leaning: 0.500, median: 0.250, most: 1.500},
                   16: {rows: 30, leaning: 0.000, median: 0.000, most: 0.000}},
         parameters: [gemm_efficiency.fp8, matmul_latency.fp8, activation_traffic.fp8],
         covariance: [1, 2.0e-05, 3, -4.57, 5.0e+06, 6]}
"""


def test_whole_experts_name_what_they_are_of_and_every_value_that_is_held():
    """Of a release beside an older one of its kind; the overlap of dense matmuls is theirs."""
    later = replace(WHOLE, release="0.10.0")
    first, second = written(later, WHOLE).split("  - since", 1)
    assert first.startswith("""\
  - cards: [nvidia-hopper]
    attention: gqa
    experts: [mxfp4, nvfp4]
    multiplied: bf16
    gathered: false
    exchange: normal
    mechanisms:
      grouped_gemm_efficiency.bf16: {value: 0.5, range: [0.4, 0.6]}
      exchange_token_time: {value: 2 ns/token, range: [1 ns/token, 3 ns/token]}
      expert_load_overlap: {value: 0.5, range: [0.25, 0.75]}
      load_overlap: {value: 0.5, range: [0.25, 0.75]}
    measured:
      - {operator: experts, cut: whole, kernel: "fused", dtype: w4a16, fitted: 7,
         judged: {rows: 5, leaning: 0.000, median: 0.000, most: 0.000},
         regions: """)
    assert second == ': "0.10.0"\n    cards' + first.removeprefix("  - cards")


def test_slices_and_experts_whose_tokens_are_gathered():
    told = written(replace(WHOLE, cut="slices", gathered=True, exchange=None, attention=None))
    assert "    gathered: true\n    mechanisms:" in told
    assert "overlap" not in told
    assert "exchange:" not in told
    assert "attention" not in told


def test_why_a_law_misses_is_told_where_its_errors_as_written_are_above_their_bars():
    missed = replace(GEMM, fit=replace(DENSE, missed=MISSED))
    assert """
         missed: {switches: [{column: rows, first: 160, last: 192, factor: 1.65, \
where: {column: depth, last: 512}},
                             {column: skew, first: 0.123, factor: 0.5}],
                  rest: {how: scatter, column: columns, factor: 1.06}},
         parameters""" in written(missed)
    for median, most, told in ((0.0804, 0.2504, False), (0.0806, 0.2, True), (0.01, 0.2506, True)):
        errors = Errors(34, 0, median, most)
        assert ("missed" in written(replace(
            missed, fit=replace(missed.fit, errors=errors)))) == told
    rest = written(replace(GEMM, fit=replace(DENSE, missed=Missed(
        (), Change("rows", 2, 1, 8), "trend"))))
    assert "missed: {rest: {how: trend, column: rows, first: 1, last: 8, factor: 2}}," in rest
    alone = written(replace(GEMM, fit=replace(DENSE, missed=Missed(MISSED.switches[1:]))))
    assert "missed: {switches: [{column: skew, first: 0.123, factor: 0.5}]}," in alone


@pytest.mark.parametrize(("median", "told"), [(0.25, 1), (0.2501, 0)])
def test_a_law_that_says_nothing_of_its_table_is_left_out_unless_nothing_was_fitted(median, told):
    """What was judged alone has no values, so that nothing wrong is taken from it."""
    poor = replace(DENSE, errors=Errors(34, 0, median, 1))
    assert written(replace(GEMM, fit=poor)).count("operator") == told
    held = written(replace(GEMM, fit=replace(poor, values={}, covariance=np.zeros((0, 0)))))
    assert held.count("operator") == 1
    assert "mechanisms" not in held


def test_what_differs_in_operator_experts_way_or_mode_is_a_statement_of_its_own():
    """Formats of dense matmuls are one, whatever they multiply; of experts, they are apart."""
    dense = GEMM, replace(GEMM, dtype="bf16", multiplied="bf16")
    assert written(*dense).count("cards") == 1
    for other in ({"operator": "mla_decode"}, {"experts": ("mxfp4",)}, {"gathered": True},
                  {"exchange": "low_latency"}, {"multiplied": "fp8"}):
        assert written(WHOLE, replace(WHOLE, **other)).count("cards") == 2


@pytest.mark.parametrize(("number", "digits"), [
    (1e-5, "1.0e-05"), (1.234e-5, "1.23e-05"), (1234567, "1.23e+06"), (123456, "123000"),
    (0.5, "0.5"), (64, "64"), (0.99951, "1"), (-0.1234, "-0.123")])
def test_a_number_has_three_digits_and_is_one_for_yaml(number, digits):
    assert _digits(number) == digits
    assert yaml.safe_load(digits) == pytest.approx(number, rel=5e-3)


@pytest.mark.parametrize(("value", "shown"), [(160.0, "160"), (1310720.0, "1310720"),
                                              (0.1234, "0.123"), (12.5, "12.5")])
def test_a_value_of_a_column_is_whole_or_has_three_digits(value, shown):
    assert _exact(value) == shown


JUDGED = Fitted(Law("gemm", {}, DENSE.law.time), {}, {}, np.zeros((0, 0)), 0,
                Errors(60, 0.0, 0.1, 0.2), {})


def statements(*tables):
    return yaml.safe_load(text("vllm", "nvidia-hopper", {"en": "a", "zh": "甲"}, "of", "source",
                               "2026-10", tables))["statements"]


def judged(dtype, multiplied, *experts):
    return Table("0.24.0", "experts" if experts else "gemm", None, "fused", dtype, multiplied,
                 None, experts, JUDGED)


def test_dense_formats_are_one_statement_and_experts_are_told_apart_by_what_is_multiplied():
    dense = statements(judged("bf16", "bf16"), judged("fp8-block", "fp8"))
    assert [len(each["measured"]) for each in dense] == [2]
    assert "multiplied" not in dense[0]
    experts = statements(judged("mxfp4-w4a16", "bf16", "mxfp4"),
                         judged("mxfp4-w4a8", "fp8", "mxfp4"))
    assert [(each["experts"], each["multiplied"]) for each in experts] == [
        (["mxfp4"], "bf16"), (["mxfp4"], "fp8")]
