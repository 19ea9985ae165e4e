"""What rows of every operator have in common: whose they are, how many, and the card's numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calc.kernels.rows.of_every_operator import (
    cold,
    kernels_of,
    kinds,
    l2_resident_bytes,
    numbers,
    of_card,
    read,
)
from catalogue.tables.table import joined
from tests.calc.kernels.rows.tables_by_hand import H200, PRIORS, Tables, table

MATMUL = {"rows": 1, "columns": 64, "depth": 128}


@pytest.mark.parametrize(("asked", "found"), [
    ({}, 100), ({"least": 100}, 100), ({"least": 101}, None), ({"operator": "mlp"}, None),
    ({"card": "nvidia-h100-sxm"}, 30), ({"engine": "sglang@1"}, 40), ({"dtype": ()}, 120),
    ({"dtype": "fp8"}, 20), ({"card": "nvidia-h100-sxm", "engine": "sglang@1"}, None),
    ({"card": "nvidia-a100-sxm"}, None)])
def test_rows_are_of_one_operator_card_engine_and_format(monkeypatch, asked, found):
    tables = Tables(
        monkeypatch, table("gemm", 100, 1e-5, **MATMUL), table("gemm", 20, 1e-5, dtype="fp8",
                                                               **MATMUL),
        table("gemm", 30, 1e-5, card="nvidia-h100-sxm", **MATMUL),
        table("gemm", 40, 1e-5, engine="sglang@1", **MATMUL))
    given = {"operator": "gemm", "card": H200.id, "engine": "vllm@0.25.0", "dtype": "bf16",
             "least": 10} | asked
    rows = read(tables, **given)
    assert (None if rows is None else len(rows)) == found
    usual = read(tables, "gemm", H200.id, "vllm@0.25.0", "bf16")
    assert len(usual) == 100


def test_a_shelf_is_not_asked_for_what_it_does_not_have(monkeypatch):
    """It would refuse a card, an engine or an operator that no row of it has."""
    tables = Tables(monkeypatch, table("gemm", 100, 1e-5, **MATMUL))
    monkeypatch.setattr(tables, "table", lambda *asked: pytest.fail(str(asked)))
    for other in (("mlp", H200.id, "vllm@0.25.0"), ("gemm", "x", "vllm@0.25.0"),
                  ("gemm", H200.id, "x"), ("mlp", H200.id, "x"), ("mlp", "x", "vllm@0.25.0"),
                  ("gemm", "x", "x")):
        assert read(tables, *other, "bf16", 1) is None


def test_a_card_as_laws_read_it():
    counted = PRIORS.operators
    assert of_card(H200, PRIORS, "fp8", 0.75) == {
        "gemm_tile_rows": PRIORS.gemm_tile_rows.value,
        "kernel_boundary": PRIORS.kernel_boundary.value,
        "operators_per_layer": PRIORS.operators_per_layer.value,
        "peak": H200.matrix_peak.fp8.value, "bandwidth": H200.memory_bandwidth.value,
        "weight_bytes": 0.75, "hbm_efficiency": H200.hbm_efficiency.value,
        "expert_tile_rows": (PRIORS.expert_tile_rows or PRIORS.gemm_tile_rows).value,
        "reference_operators": sum(getattr(counted, name).value for name in (
            "latent_attention", "routed_experts", "shared_expert"))}


def test_tiles_of_experts_are_their_own_or_those_of_matmuls():
    bare = PRIORS.model_copy(update={"expert_tile_rows": None})
    assert of_card(H200, bare, "bf16", 2)["expert_tile_rows"] == PRIORS.gemm_tile_rows.value
    told = PRIORS.model_copy(update={
        "expert_tile_rows": replace(PRIORS.gemm_tile_rows, value=48)})
    assert of_card(H200, told, "bf16", 2)["expert_tile_rows"] == 48


@pytest.mark.parametrize(("device", "priors"), [
    (H200.model_copy(update={"hbm_efficiency": None}), PRIORS),
    (H200, PRIORS.model_copy(update={"operators": None}))])
def test_a_card_that_lacks_a_number_is_none(device, priors):
    assert of_card(device, priors, "bf16", 2) is None
    assert of_card(H200, PRIORS, "fp4", 0.5) is None  # which it does not multiply


def test_columns_kinds_and_kernels():
    rows = joined("gemm", [table("gemm", 2, 1e-5, kernel="a", **MATMUL),
                           table("gemm", 1, 1e-5, kernel="b", **MATMUL | {"depth": 256})])
    found = numbers(rows, ("rows", "depth"))
    assert {name: column.tolist() for name, column in found.items()} == {
        "rows": [1, 1, 1], "depth": [128, 128, 256]}
    assert all(column.dtype == float for column in found.values())
    assert kinds([np.array([1, 1, 2, 1]), np.array([3, 4, 3, 3])]).tolist() == [0, 1, 2, 0]
    assert kernels_of(rows.select(kernel="a")) == "a"
    assert kernels_of(rows) == "2 kernels, chosen by shape"


def test_a_cache_that_fits_the_l2_is_warm_and_of_a_card_without_one_none_is():
    """A position has 512 and 64 elements in 16 bits."""
    rows = table("mla_decode", 3, 1e-5, heads=8, batch=[1, 2, 3], context=10, cache_dtype="bf16")
    position = (512 + 64) * 2
    small = H200.model_copy(update={
        "l2_cache": replace(H200.l2_cache, value=20.0 * position)})
    assert l2_resident_bytes(small) == 20 * position
    assert cold(rows, small).tolist() == [False, False, True]
    bare = H200.model_copy(update={"l2_cache": None})
    assert l2_resident_bytes(bare) == 0
    assert cold(rows, bare).all()
