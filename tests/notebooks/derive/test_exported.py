"""Exported formulas: canonical trees with units, layers of stages, tiles of expanded positions."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from notebooks.derive.formulas.derivation import check_dimensions
from notebooks.derive.formulas.exported import (
    evaluate_all,
    load_formulas,
    select,
)
from notebooks.derive.formulas.trees import from_tree, to_tree

FORMULAS = load_formulas()


@pytest.mark.parametrize("first", [0, *(pytest.param(each, marks=pytest.mark.nightly)
                                        for each in range(1, 8))])
def test_stored_formulas_are_canonical_with_units(first):
    for key in sorted(FORMULAS)[first::8]:
        formula = FORMULAS[key]
        expr = from_tree(formula.tree)
        assert to_tree(expr) == formula.tree, key
        assert formula.unit == catalogue.symbols()[formula.name].unit, key
        check_dimensions(formula.name, formula.tree)


STAGES = ("stage_first_layer", "stage_layers", "moe_layers", "stage_bare_layers",
          "stage_dense_layers")


@given(st.integers(1, 120), st.integers(1, 120), st.integers(0, 120))
@settings(max_examples=40, deadline=None)
def test_pipeline_stages_partition_the_layers(layers, stages, dense):
    stages, dense = min(stages, layers), min(dense, layers)
    formulas = {name: FORMULAS[name] for name in STAGES}
    inputs = {"num_hidden_layers": layers, "pipeline_parallel": stages,
              "first_k_dense_replace": dense, "layers_without_mlp": 0}
    first = 0
    for values in (evaluate_all(formulas, inputs, stage) for stage in range(stages)):
        assert values["stage_first_layer"] == first
        after = first + values["stage_layers"]
        assert values["stage_dense_layers"] == len(range(first, min(dense, after)))
        first = after
    assert first == layers


def test_expanded_prefix_positions_fill_their_tiles():
    chunk = catalogue.load_scenario("s0-scenario-1", overrides=["precision=bf16"]).inputs() | {
        "data_parallel": 1, "tensor_parallel": 1, "concurrency": 1, "input_tokens": 4097,
        "prefix_hit_share": 4096 / 4097, "load_overlap": 1, "memory_bandwidth": 1e30}
    formulas = select(FORMULAS, "mla")
    padded, exact = (evaluate_all(formulas, chunk | {"gemm_tile_rows": rows})[
        "prefill_attention_time"] for rows in (64, 1))
    expanded = 4096 * 512 * 128 * 256  # cached positions x weights that expand one
    projections = 187_105_280  # weights of a layer
    assert padded / exact == pytest.approx(
        (64 * projections + expanded) / (projections + expanded), rel=1e-3)
