"""Rows of latent attention that a law is fitted to: each limit, and what goes with them."""

from __future__ import annotations

import pytest

from calc.kernels.before import values_alone
from calc.kernels.blocks import DECODE_BETWEEN, DECODE_BLOCK, SPARSE_BLOCK
from calc.kernels.cores import DECODE_CORE, PREFILL_CORE
from calc.kernels.rows import attention
from calc.kernels.rows.attention import blocks, cores
from calc.kernels.writing import Table as FittedTable
from catalogue import library
from tests.calc.kernels.rows.tables_by_hand import H200, PRIORS, Fit, Tables, fitted_by, table

CORE = {"heads": 8, "batch": 178, "context": 256, "cache_dtype": "bf16", "kernel": "flash"}
PROMPT = {"heads": 8, "batch": 3, "tokens": 1, "cache_dtype": "bf16", "kernel": "flash"}
BLOCK = CORE | {"model": "DeepSeek-V3-0324", "core_dtype": "bf16"}
SPARSE = BLOCK | {"model": "DeepSeek-V3.2", "batch": 1, "context": 3072, "indexer": "runs"}
L2 = 50 * 2**20
LAUNCHED = 40e-6  # seconds, from which on a host's launch was timed


@pytest.fixture
def fits(monkeypatch):
    return fitted_by(monkeypatch, attention)


def of_cores(monkeypatch, *tables, engine="vllm@0.25.0", priors=PRIORS):
    return list(cores(Tables(monkeypatch, *tables), H200, priors, engine, "0.25.0"))


def test_a_cache_of_178_requests_is_more_than_the_l2_holds_and_of_177_is_not():
    assert H200.l2_cache.value == L2
    assert 177 * 256 * (512 + 64) * 2 <= L2 < 178 * 256 * (512 + 64) * 2


@pytest.mark.parametrize("other", [{"heads": 7}, {"context": 255}, {"cache_dtype": "fp8"},
                                   {"batch": 177}])
def test_decode_cores_of_few_heads_or_positions_narrow_or_warm_ones_are_left_out(
        monkeypatch, fits, other):
    kept = table("mla_decode", 100, LAUNCHED, **CORE)
    (found,) = of_cores(monkeypatch, kept, table("mla_decode", 5, LAUNCHED, **CORE | other))
    (fit,) = fits
    assert {name: set(fit.columns[name].tolist()) for name in ("heads", "batch", "context")} == {
        "heads": {8}, "batch": {178}, "context": {256}}
    assert len(fit.time) == 100
    assert (fit.law, found.fit) == (DECODE_CORE, fit)
    assert fit.tokens.tolist() == [178] * 100
    assert (found.release, found.operator, found.cut, found.kernel, found.dtype, found.multiplied,
            found.gathered, found.experts, found.attention) == (
        "0.25.0", "mla_decode", None, "flash", "bf16", "bf16", None, (), "mla")
    assert fit.alone == values_alone(DECODE_CORE, H200, PRIORS, "bf16", 2.0)
    assert (fit.columns["element_bytes"], fit.columns["weight_bytes"]) == (2, 2)
    assert fit.columns["core_tile_rows"] == PRIORS.core_tile_rows.value


def test_fewer_rows_than_a_hundred_or_times_of_launches_tell_no_core(monkeypatch, fits):
    few = table("mla_decode", 99, LAUNCHED, **CORE)
    assert of_cores(monkeypatch, few) == []
    assert of_cores(monkeypatch, few, table("mla_decode", 5, LAUNCHED, **CORE | {"batch": 1})) == []
    assert of_cores(monkeypatch, table("mla_decode", 100, LAUNCHED * 1.01, **CORE)) == []
    assert of_cores(monkeypatch, table("mla_decode", 100, LAUNCHED, **CORE | {"heads": 4})) == []
    assert fits == []


@pytest.mark.parametrize(("engine", "kernel", "told"), [
    ("sglang@0.5.14", "flash_attention", 0), ("sglang@0.5.14", "flash", 1),
    ("vllm@0.25.0", "flash_attention", 1)])
def test_prompts_of_one_token_are_told_and_another_kernel_than_serving_takes_is_not(
        monkeypatch, fits, engine, kernel, told):
    """Of prompts the cache is written, so that no L2 helps; rows are tokens of all prompts."""
    kept = table("mla_prefill", 100, LAUNCHED, engine=engine, **PROMPT | {
        "kernel": kernel, "tokens": 7})
    less = table("mla_prefill", 9, LAUNCHED, engine=engine, **PROMPT | {"kernel": kernel})
    found = of_cores(monkeypatch, kept, less, engine=engine)
    assert len(found) == told
    for fit in fits:
        assert fit.law is PREFILL_CORE
        assert sorted(fit.tokens.tolist()) == [3] * 9 + [21] * 100
        assert fit.columns["prefill_tile_rows"] == PRIORS.prefill_tile_rows.value


def test_where_a_card_says_nothing_of_tiles_each_row_is_one(monkeypatch, fits):
    bare = PRIORS.model_copy(update={"core_tile_rows": None, "prefill_tile_rows": None})
    assert of_cores(monkeypatch, table("mla_decode", 100, LAUNCHED, **CORE), priors=bare)
    assert {fits[0].columns[name] for name in ("core_tile_rows", "prefill_tile_rows")} == {1.0}


def dense(dtype, multiplied, efficiency):
    return FittedTable("1", "gemm", None, "k", dtype, multiplied, None, (),
                       Fit(values={"gemm_efficiency": efficiency}))


FP8, BF16 = dense("fp8-block", "fp8", 0.4), dense("bf16", "bf16", 0.8)


def of_blocks(monkeypatch, found, *tables, engine="vllm@0.25.0", priors=PRIORS):
    return list(blocks(Tables(monkeypatch, *tables), H200, priors, engine, "0.25.0", found))


@pytest.mark.parametrize("other", [
    {"heads": 7}, {"context": 255}, {"cache_dtype": "fp8"}, {"batch": 177}, {"core_dtype": "fp8"},
    {"model": "DeepSeek-V2"}, {"kernel": "rare"}])
def test_blocks_of_other_sizes_models_kernels_or_formats_are_left_out(monkeypatch, fits, other):
    kept = table("mla_decode_block", 100, 1e-3, dtype="fp8-block", **BLOCK)
    (found,) = of_blocks(monkeypatch, [FP8, BF16], kept, table(
        "mla_decode_block", 5, 1e-3, dtype="fp8-block", **BLOCK | other))
    (fit,) = fits
    assert (len(fit.time), fit.law) == (100, DECODE_BLOCK)
    assert fit.tokens.tolist() == [178] * 100
    assert fit.columns["element_bytes"] == 2
    assert (found.dtype, found.multiplied, found.attention, found.operator, found.kernel) == (
        "fp8-block", "fp8", "mla", "mla_decode_block", "flash")


def test_a_block_has_its_matmuls_as_they_were_fitted_and_the_card_in_both_formats(
        monkeypatch, fits):
    kept = table("mla_decode_block", 100, 1e-3, dtype="fp8-block", **BLOCK)
    older = dense("fp8-block", "fp8", 0.3)
    assert of_blocks(monkeypatch, [older, FP8, BF16], kept)
    columns = fits[0].columns
    assert columns["gemm_efficiency"] == 0.4
    assert columns["weight_bytes"] == 1
    assert (columns["peak"], columns["core_peak"]) == (
        H200.matrix_peak.fp8.value, H200.matrix_peak.bf16.value)
    assert columns["attention_operators"] == PRIORS.operators.latent_attention.value
    assert columns["core_tile_rows"] == PRIORS.core_tile_rows.value
    assert columns["latent_core_latency"] == PRIORS.latent_core_latency.value
    bare = PRIORS.model_copy(update={"core_tile_rows": None, "latent_core_latency": None})
    assert of_blocks(monkeypatch, [FP8], kept, priors=bare)
    assert (fits[1].columns["core_tile_rows"], fits[1].columns["latent_core_latency"]) == (1, 0)


def test_where_its_core_was_fitted_apart_a_block_tells_what_lies_between(monkeypatch, fits):
    core = FittedTable("1", "mla_decode", None, "k", "bf16", "bf16", None, (),
                       Fit(values={"latent_core_latency": 0.7}))
    kept = table("mla_decode_block", 100, 1e-3, dtype="fp8-block", **BLOCK)
    assert of_blocks(monkeypatch, [FP8, core], kept)
    assert fits[0].law is DECODE_BETWEEN
    assert fits[0].columns["latent_core_latency"] == 0.7


def test_blocks_that_take_more_than_their_kernels_or_stand_without_matmuls_tell_nothing(
        monkeypatch, fits):
    for engine, told in (("vllm@0.24.0", 0), ("vllm@0.9.0", 0), ("vllm@0.24.1", 1),
                         ("sglang@0.5.0", 1)):
        kept = table("mla_decode_block", 100, 1e-3, engine=engine, dtype="fp8-block", **BLOCK)
        assert len(of_blocks(monkeypatch, [FP8], kept, engine=engine)) == told
        assert of_blocks(monkeypatch, [], kept, engine=engine) == []
        assert of_blocks(monkeypatch, [BF16], kept, engine=engine) == []  # of another format
        few = kept.select(kept.row < 100)
        assert of_blocks(monkeypatch, [FP8], few, engine=engine) == []


@pytest.mark.parametrize("other", [
    {"heads": 7}, {"context": 3071}, {"core_dtype": "fp8"}, {"indexer": "reused"},
    {"model": "DeepSeek-V3"}, {"cache_dtype": "int8"}])
def test_sparse_blocks_where_nothing_is_chosen_are_left_out(monkeypatch, fits, other):
    """Both caches are taken, each with its bytes and what its kernel reaches."""
    wide = table("dsa_decode_block", 40, 1e-3, dtype="fp8-block", **SPARSE)
    narrow = table("dsa_decode_block", 20, 1e-3, dtype="fp8-block",
                   **SPARSE | {"cache_dtype": "fp8"})
    (found,) = of_blocks(monkeypatch, [FP8], wide, narrow, table(
        "dsa_decode_block", 40, 1e-3, dtype="fp8-block", **SPARSE | other))
    (fit,) = fits
    assert (fit.law, found.attention) == (SPARSE_BLOCK, "sparse")
    latents = library.load("formats", "fp8-latent128").bytes_per_element
    assert fit.columns["element_bytes"].tolist() == [2] * 40 + [latents] * 20
    share = PRIORS.sparse_attention_efficiency
    assert fit.columns["sparse_attention_efficiency"].tolist() == (
        [share.wide.value] * 40 + [share.narrow.value] * 20)
    assert (fit.columns["index_bytes"], fit.columns["index_peak"]) == (
        latents, H200.matrix_peak.fp8.value)
    assert fit.columns["indexer_operators"] == PRIORS.operators.indexer.value
    for name in ("sparse_tile_rows", "index_efficiency", "selection_traffic"):
        assert fit.columns[name] == getattr(PRIORS, name).value


def test_a_dense_block_before_tells_a_sparse_one_how_many_kernels_there_are(monkeypatch, fits):
    sparse = table("dsa_decode_block", 60, 1e-3, dtype="fp8-block", **SPARSE)
    reused = table("dsa_decode_block", 41, 1e-3, dtype="fp8-block",
                   **SPARSE | {"indexer": "reused"})
    before = FittedTable("1", "mla_decode_block", None, "k", "fp8-block", "fp8", None, (),
                         Fit(values={"attention_operators": 9.0}))
    assert len(of_blocks(monkeypatch, [FP8, before], sparse, reused)) == 1
    assert fits[0].columns["attention_operators"] == 9.0
    assert of_blocks(monkeypatch, [FP8], sparse.select(sparse.row < 60), reused) == []


@pytest.mark.parametrize("lost", ["sparse_attention_efficiency", "sparse_tile_rows",
                                  "index_efficiency", "selection_traffic"])
def test_a_card_that_lacks_a_law_of_sparse_attention_is_told_nothing_of_it(
        monkeypatch, fits, lost):
    sparse = table("dsa_decode_block", 100, 1e-3, dtype="fp8-block", **SPARSE)
    assert len(of_blocks(monkeypatch, [FP8], sparse)) == 1
    assert of_blocks(monkeypatch, [FP8], sparse, priors=PRIORS.model_copy(
        update={lost: None})) == []
