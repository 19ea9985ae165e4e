"""Derivations: stored formulas equal the notebooks', drift is refused, failures name their line."""

from __future__ import annotations

import os
from unittest import mock

import pytest
import sympy
from nbclient.exceptions import CellExecutionError

import catalogue
from notebooks.derive import lock
from notebooks.derive.formulas.derivation import LOCK, Derivation
from notebooks.derive.formulas.exported import DerivationError, load_formulas
from notebooks.derive.formulas.symbols import sym
from notebooks.derive.formulas.trees import MaxOver


@pytest.fixture
def stored(tmp_path):
    """Lock file of two notebooks, and a function that derives one formula of ours."""
    path = tmp_path / "formulas.json"

    def derive(expr, mode="", name="usable_memory", notebook="ours", **options):
        with mock.patch.dict(os.environ, {LOCK: mode}):
            derivation = Derivation(notebook, path)
            derivation.export(name, expr, **options)
            derivation.close()

    derive(sym.num_hidden_layers - sym.first_k_dense_replace, "write", "moe_layers", "theirs")
    derive(sym.memory_capacity * sym.memory_utilization, "write")
    return path, derive


def test_failed_law_names_its_cell(tmp_path):
    path = tmp_path / "law.md"
    header = (lock.NOTEBOOKS / "architecture.md").read_text("utf-8").split("\n---\n")[0]
    path.write_text(f"{header}\n---\n\n# A law\n\n```{{code-cell}} ipython3\nx = 2\n"
                    "assert x == 3, 'Three.'\n```\n", encoding="utf-8")
    with pytest.raises(CellExecutionError, match=r"(?s)assert x == 3, 'Three.'.*Three"):
        lock.execute(path)


def test_lock_file_is_stable_and_keeps_other_notebooks(stored):
    path, derive = stored
    before = path.read_bytes()
    for mode in ("", "write"):
        derive(sym.memory_capacity * sym.memory_utilization, mode)
    assert path.read_bytes() == before
    assert list(load_formulas(path)) == ["moe_layers", "usable_memory"]
    assert [entry.name for entry in path.parent.iterdir()] == ["formulas.json"]


@pytest.mark.parametrize(("expr", "options", "message"), [
    (sym.memory_capacity, {}, "in its tree, latex; .* make lock"),
    (sym.memory_utilization * (sym.memory_capacity + 0), {"anchor": "eq-x"}, "in its anchor"),
    (sym.memory_capacity, {"variant": "mla"}, "no longer derived"),
    (sym.memory_capacity, {"name": "runtime_reserve"}, "'runtime_reserve' .* not in"),
    (sym.memory_capacity - sym.runtime_reserve, {"name": "stage_free_for_kv"}, "pipeline stage"),
    (sym.memory_capacity, {"variant": "mqa"}, "no variant 'mqa'"),
])
def test_drift_from_the_lock_file_is_refused(stored, expr, options, message):
    path, derive = stored
    before = path.read_bytes()
    with pytest.raises(DerivationError, match=message):
        derive(expr, **options)
    assert path.read_bytes() == before


def test_stage_index_is_expanded_in_stored_trees(tmp_path):
    derivation = Derivation("ours", tmp_path / "formulas.json")
    derivation.export("stage_layers", sympy.ceiling((sym.num_hidden_layers - sym.stage)
                                                    / sym.pipeline_parallel))
    derivation.export("stage_weights", sym.stage_layers * sym.moe_layer_weights)
    derivation.export("weights_per_device", MaxOver(sym.stage, sym.pipeline_parallel,
                                                    sym.stage_weights))
    tree = derivation.formulas["weights_per_device"].tree
    values = {"num_hidden_layers": 7, "pipeline_parallel": 3, "moe_layer_weights": 10}
    assert catalogue.formulas.evaluate(tree, values) == 30
    assert catalogue.formulas.evaluate(derivation.formulas["stage_weights"].tree,
                                    {**values, "stage_layers": 2}) == 20
