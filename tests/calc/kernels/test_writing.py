"""Fits as text: which of them are one statement of an engine's profile."""

from types import SimpleNamespace

import numpy as np
import yaml

from calc.kernels.fitting import Errors, Fitted
from calc.kernels.writing import Table, text

JUDGED = Fitted(SimpleNamespace(fixed={}), {}, {}, np.zeros((0, 0)), 0, Errors(60, 0.0, 0.1, 0.2),
                {})


def statements(*tables):
    return yaml.safe_load(text("vllm", "nvidia-hopper", {"en": "a", "zh": "甲"}, "of", "source",
                               "2026-10", tables))["statements"]


def table(dtype, multiplied, *experts):
    return Table("0.24.0", "experts" if experts else "gemm", None, "fused", dtype, multiplied,
                 None, experts, JUDGED)


def test_dense_formats_are_one_statement_and_experts_are_told_apart_by_what_is_multiplied():
    dense = statements(table("bf16", "bf16"), table("fp8-block", "fp8"))
    assert [len(each["measured"]) for each in dense] == [2]
    assert "multiplied" not in dense[0]
    experts = statements(table("mxfp4-w4a16", "bf16", "mxfp4"), table("mxfp4-w4a8", "fp8", "mxfp4"))
    assert [(each["experts"], each["multiplied"]) for each in experts] == [
        (["mxfp4"], "bf16"), (["mxfp4"], "fp8")]
