"""Rows of routed experts that a law is fitted to: where each limit lies, and which law is whose."""

from __future__ import annotations

import pytest

from calc.kernels.matmuls import SENT, SLICES, WHOLE
from calc.kernels.rows import experts as rows
from calc.kernels.rows.experts import AFTER_EXCHANGE, experts
from tests.calc.kernels.rows.tables_by_hand import H200, PRIORS, Tables, fitted_by, table

MODEL = {"tokens": 64, "hidden_size": 7168, "moe_intermediate_size": 2048,
         "n_routed_experts": 256, "num_experts_per_tok": 8, "skew": "balanced", "kernel": "fused"}
PRESENT = {"tensor_parallel": 1, "expert_parallel": 8}
SLICED = {"tensor_parallel": 8, "expert_parallel": 1}
LEAST = {"tokens": 32768, "hidden_size": 2048, "n_routed_experts": 128, "num_experts_per_tok": 4,
         "skew": "uniform"}
EDGES = {  # what is just taken
    "slices": LEAST | {"tensor_parallel": 16, "moe_intermediate_size": 16 * 128},
    "whole": LEAST | {"expert_parallel": 16, "moe_intermediate_size": 128},
    "sent": LEAST | {"expert_parallel": 256, "moe_intermediate_size": 128,
                     "tokens": 256 * 32768, "kernel": AFTER_EXCHANGE}}


@pytest.fixture
def fits(monkeypatch):
    return fitted_by(monkeypatch, rows)


def found(monkeypatch, *tables, engine="sglang@0.5.10", alone=None):
    return list(experts(Tables(monkeypatch, *tables), H200, PRIORS, engine,
                        engine.partition("@")[2], alone or {}))


def many(count, engine="sglang@0.5.10", dtype="fp8-block", **columns):
    return table("experts", count, 1e-3, engine=engine, dtype=dtype, **MODEL | columns)


@pytest.mark.parametrize(("edge", "beyond"), [
    *((edge, beyond) for edge in EDGES for beyond in (
        {"tokens": EDGES[edge]["tokens"] + EDGES[edge].get("expert_parallel", 1)},
        {"hidden_size": 2047}, {"n_routed_experts": 127}, {"num_experts_per_tok": 3},
        {"moe_intermediate_size": EDGES[edge]["moe_intermediate_size"] - 1}, {"matrices": 2},
        {"skew": "power-law-1.2-eplb"})),
    ("slices", {"tensor_parallel": 17, "moe_intermediate_size": 17 * 128}),
    ("slices", {"expert_parallel": 2}), ("whole", {"expert_parallel": 17}),
    ("sent", {"expert_parallel": 257})])
def test_models_with_many_experts_cut_in_one_way_are_taken_up_to_their_limits(edge, beyond):
    some = [table("experts", 1, 1e-3, **MODEL | EDGES[edge] | others) for others in ({}, beyond)]
    assert [len(rows._many_experts(each)) for each in some] == [1, 0]


@pytest.mark.parametrize(("engine", "laws"), [
    ("sglang@0.5.10", [(WHOLE, True), (SENT, False), (SLICES, None)]),
    ("sglang@0.5.9", [(SENT, True), (SENT, False), (SLICES, None)]),
    ("vllm@0.25.0", [(WHOLE, True), (SENT, False), (SLICES, None)]),
    ("tensorrt-llm@1.0.0", [(WHOLE, None), (SENT, False), (SLICES, None)])])
def test_whole_experts_those_that_were_sent_their_rows_and_slices_have_laws_of_their_own(
        monkeypatch, fits, engine, laws):
    """Each has the rows of its own kind; before a release whole ones had their own rows alone."""
    told = found(monkeypatch, many(110, engine, **PRESENT),
                 many(120, engine, kernel=AFTER_EXCHANGE, **PRESENT),
                 many(130, engine, **SLICED), engine=engine)
    assert [(fit.law, each.gathered) for fit, each in zip(fits, told, strict=True)] == laws
    assert [len(fit.time) for fit in fits] == [110, 120, 130]
    assert [(each.cut, each.kernel, each.operator, each.dtype, each.multiplied) for each in told
            ] == [(cut, kernel, "experts", "fp8-block", "fp8") for cut, kernel in (
                ("whole", "fused"), ("whole", AFTER_EXCHANGE), ("slices", "fused"))]
    assert [each.experts for each in told] == [("fp8-block128",)] * 3
    assert {each.attention for each in told} == {None}
    assert all(each.fit is fit for each, fit in zip(told, fits, strict=True))


def test_what_a_kind_lacks_in_rows_is_left_out_and_the_next_is_not(monkeypatch, fits):
    few = many(99, **PRESENT), many(100, **SLICED)
    assert [each.cut for each in found(monkeypatch, *few)] == ["slices"]
    other = many(100, dtype="w4a16", **SLICED)
    assert [each.dtype for each in found(monkeypatch, few[0], other)] == ["w4a16"]
    assert found(monkeypatch, few[0], few[1].select(few[1].row < 100)) == []


def test_a_fit_has_the_shapes_of_the_rank_and_of_the_card(monkeypatch, fits):
    """Of 64 tokens of eight experts in turn a rank of eight reads 32 experts, two rows each."""
    assert found(monkeypatch, many(100, **PRESENT), many(8, skew="uniform", **PRESENT))
    (fit,) = fits
    expected = {"tokens": 64, "hidden_size": 7168, "moe_intermediate_size": 2048, "inside": 2048,
                "n_routed_experts": 256, "num_experts_per_tok": 8, "expert_parallel": 8}
    for name, value in expected.items():
        assert set(fit.columns[name].tolist()) == {value}, name
    assert set(fit.columns["skew"][:100].tolist()) == {0}
    assert (fit.columns["skew"][100:] > 0).all()
    assert set(fit.columns["experts_read"][:100].tolist()) == {32}
    assert set(fit.columns["expert_rows"].tolist()) == {64}
    assert fit.columns["kernel_boundary"] == PRIORS.kernel_boundary.value
    assert fit.columns["weight_bytes"] == 1
    assert fit.tokens.tolist() == [64] * 108
    assert set(fit.kinds.tolist()) == {0}  # one kind of matrix, however its tokens were dealt
    assert set(fit.alone) == {*WHOLE.parameters, *WHOLE.fixed}


def test_kinds_of_experts_are_told_apart_by_all_but_their_tokens(monkeypatch, fits):
    kinds = [{}, {"hidden_size": 4096}, {"moe_intermediate_size": 1024}, {"n_routed_experts": 128},
             {"num_experts_per_tok": 4}, {"expert_parallel": 4}]
    assert found(monkeypatch, *(many(50, **PRESENT | kind | {"tokens": tokens})
                                for kind in kinds for tokens in (64, 128)))
    assert len(set(fits[0].kinds.tolist())) == len(kinds)


def test_the_rows_of_a_routing_lie_in_either_half_whatever_another_s_do(monkeypatch, fits):
    one = many(100, **PRESENT), many(100, skew="power-law-1.2", **PRESENT)
    assert found(monkeypatch, *one)
    halves = fits[0].chosen
    assert len(set(halves[:100].tolist())) == len(set(halves[100:].tolist())) == 1


def test_thirty_rows_whose_weights_come_from_memory_tell_a_law_and_fewer_do_not(
        monkeypatch, fits):
    """An expert of DeepSeek-V3 is 44 MB in FP8, of which an L2 of 50 MiB holds one and no two."""
    size = 3 * 7168 * 2048
    assert size <= H200.l2_cache.value < 2 * size
    warm = many(100, tokens=1, **PRESENT)  # one expert of each rank
    assert [len(found(monkeypatch, warm, many(count, **PRESENT))) for count in (29, 30)] == [0, 1]
    assert len(fits[0].time) == 30


def test_an_engine_is_held_by_the_kernel_that_it_takes_for_deepseek_v3(monkeypatch, fits):
    """Not by the one that most rows have; without that model's rows by it."""
    for usual, kernel in (({}, "fused"), ({"hidden_size": 4096}, "other"),
                          ({"n_routed_experts": 128}, "other"),
                          ({"moe_intermediate_size": 1024}, "other")):
        tables = many(100, **PRESENT | usual), many(
            150, kernel="other", **PRESENT | {"hidden_size": 6144})
        assert [each.kernel for each in found(monkeypatch, *tables)] == [kernel]


def test_a_library_s_kernels_are_one_law_with_nothing_between_and_thirty_rows_are_enough(
        monkeypatch, fits):
    engine = "aiter@unstated"
    tables = (many(15, engine, **PRESENT), many(15, engine, kernel="other", **PRESENT))
    (told,) = found(monkeypatch, *tables, engine=engine, alone={"kernel_boundary": 0.0})
    assert (told.kernel, len(fits[0].time)) == ("2 kernels, chosen by shape", 30)
    assert fits[0].columns["kernel_boundary"] == 0
    assert found(monkeypatch, tables[0], many(14, engine, **PRESENT), engine=engine,
                 alone={"kernel_boundary": 0.0}) == []


@pytest.mark.parametrize(("dtype", "kernel", "attention"), [
    ("mxfp4-w4a16", "triton_kernels", "gqa"), ("mxfp4-w4a16", "marlin", None),
    ("w4a16", "triton_kernels", None)])
def test_triton_s_kernels_of_four_bits_are_of_grouped_attention(
        monkeypatch, fits, dtype, kernel, attention):
    (told,) = found(monkeypatch, many(100, dtype=dtype, kernel=kernel, **PRESENT))
    assert told.attention == attention
