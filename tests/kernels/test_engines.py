"""Rows of tables that laws are fitted to: files with planted values, beside rows that are none.

Values that made the rows are found again, and the fit counts exactly the rows that count.
"""

from __future__ import annotations

import numpy as np
import pytest

from catalogue import library
from catalogue.tables import shelf
from kernels import releases
from kernels.attention_kernels import DECODE_BETWEEN, DECODE_CORE
from kernels.expert_kernels import (
    AFTER_EXCHANGE,
    SHAPE,
    SLICES,
    WHOLE_EXPERTS,
    expert_bytes,
    rank_columns,
)
from kernels.matmuls import DENSE
from kernels.measured_tables import card_constants

H200 = library.load("devices", "nvidia-h200-sxm")
PRIORS = library.load("mechanisms", str(H200.mechanisms))
ENGINE = "vllm@0.25.0"
MATMULS = {"gemm_efficiency": 0.6, "matmul_latency": 3e-6, "depth_latency": 4e-10,
           "activation_traffic": 3.0}
EXPERTS = {"routed_expert_gemm_efficiency": 0.6, "expert_streaming_efficiency": 0.7,
           "routed_expert_latency": 1e-5, "gathered_row_traffic": 1.5, "expert_tile_growth": 2.0,
           "largest_expert_tile": 96.0}
CORE = {"mla_efficiency": 0.7, "mla_compute_efficiency": 0.5, "latent_core_latency": 1.2e-5,
        "latent_core_fill": 5e-8}
L2 = 50 * 2**20


def grid(**values):
    return dict(zip(values, (each.ravel().astype(float) for each in np.meshgrid(*values.values())),
                    strict=True))


def beside(columns, *others):
    """Rows, and of the first of them others that differ in some columns."""
    return {name: np.concatenate([column, [float(other.get(name, column[0])) for other in others]])
            for name, column in columns.items()}


def write(folder, operator, columns, time, engine=ENGINE, dtype="bf16", **words):
    """A file of rows; words are of all of them."""
    path = folder / f"{operator}-{len(list(folder.iterdir()))}.csv"
    head = ["operator", "card", "engine", "dtype", *words, *columns, "time"]
    first = [operator, H200.id, engine, dtype, *words.values()]
    rows = [[*first, *(f"{value:.0f}" for value in row), repr(float(each))]
            for *row, each in zip(*columns.values(), time, strict=True)]
    path.write_text("\n".join(",".join(map(str, row)) for row in [head, *rows]) + "\n", "utf-8")


def fitted(folder, engine=ENGINE):
    return list(releases.fitted_tables(shelf(folder), H200.id, engine.partition("@")[0]))


def counted(found):
    return found.fit.fitted + found.fit.errors.rows


# --- dense matmuls --------------------------------------------------------------------------------


SHAPES = grid(rows=[1, 2, 4, 8, 16, 64, 256, 512, 1024, 2048, 4096, 8192],
              columns=[512, 2112, 7168], depth=[256, 1536, 7168])
MATMUL_CARD = card_constants(H200, PRIORS, "fp8", 1.0)


def matmuls(folder, columns, law=DENSE, values=MATMULS, card=MATMUL_CARD, **others):
    write(folder, "gemm", columns, law.time({**columns, **card}, values),
          **{"dtype": "fp8-block", "kernel": "k"} | others)


@pytest.mark.parametrize(("others", "taken"), [
    # whole fours or up to two rows, as many as a step may have, of whole blocks
    (({"rows": 32768}, {"columns": 64}, {"depth": 128}, {"rows": 12}), 4),
    (({"rows": 3}, {"rows": 6}, {"rows": 32766}, {"rows": 32772}, {"columns": 96},
      {"depth": 192}), 0)])
def test_rows_of_dense_matmuls(tmp_path, others, taken):
    matmuls(tmp_path, beside(SHAPES, *others))
    (found,) = fitted(tmp_path)
    assert counted(found) == len(SHAPES["rows"]) + taken
    assert found.fit.values == pytest.approx(MATMULS, rel=0.02)
    assert (found.operator, found.release, found.dtype, found.multiplied) == (
        "gemm", "0.25.0", "fp8-block", "fp8")


# --- routed experts -------------------------------------------------------------------------------


def experts(folder, columns, law=WHOLE_EXPERTS, values=EXPERTS, skew="balanced", **others):
    """Rows of experts as a law times them; those whose weights the L2 holds take a third."""
    card = card_constants(H200, PRIORS, "fp8", 1)
    held = columns | rank_columns(columns, np.array([skew] * len(columns["tokens"]))) | card
    inside = expert_bytes(held) <= L2
    write(folder, "experts", columns, law.time(held, values) * np.where(inside, 1 / 3, 1),
          **{"dtype": "fp8-block", "skew": skew, "kernel": "fused"} | others)
    return int((~inside).sum())


def ranks(whole=True):
    kinds = [(7168.0, 2048.0, 256.0, 8.0), (6144.0, 1536.0, 128.0, 8.0),
             (4096.0, 1024.0, 512.0, 10.0)]
    cuts = [(1.0, count) if whole else (count, 1.0) for count in (1.0, 2, 4, 8, 16)]
    rows = [(tokens, *kind, *cut) for kind in kinds for tokens in 2.0 ** np.arange(14)
            for cut in cuts if whole or kind[1] / cut[0] >= 128]
    return dict(zip(SHAPE, map(np.array, zip(*rows, strict=True)), strict=True))


def test_rows_of_whole_experts(tmp_path):
    """Of models with many experts, cut in one way; weights come from memory, not from the L2."""
    assert H200.l2_cache.value == L2
    taken = experts(tmp_path, ranks())
    edge = {"tokens": 32768, "hidden_size": 2048, "moe_intermediate_size": 128,
            "n_routed_experts": 128, "num_experts_per_tok": 4, "expert_parallel": 1}
    others = [edge | {name: value - 1} for name, value in edge.items()
              if name not in ("tokens", "expert_parallel")]
    others += [edge | {"tokens": 32769}, edge | {"expert_parallel": 32},
               edge | {"expert_parallel": 2, "tensor_parallel": 2}]
    beyond = beside({name: column[:1] for name, column in ranks().items()}, edge, *others)
    experts(tmp_path, {name: column[1:] for name, column in beyond.items()})
    experts(tmp_path, {name: column[1:2] for name, column in beyond.items()}, matrices=2)
    (found,) = fitted(tmp_path)
    assert counted(found) == taken + 1  # that on the edge
    assert found.fit.values == pytest.approx(EXPERTS, rel=0.03)
    assert (found.cut, found.gathered, found.multiplied) == ("whole", True, "fp8")


def test_each_cut_of_experts_has_a_law_of_its_own(tmp_path):
    """Whole ones that have all rows, whole ones that were sent theirs, and slices."""
    values = dict(zip(SLICES.parameters, EXPERTS.values(), strict=True))
    experts(tmp_path, ranks())
    experts(tmp_path, ranks(), kernel=AFTER_EXCHANGE)
    experts(tmp_path, ranks(False), SLICES, values)
    found = fitted(tmp_path)
    assert [(each.cut, each.gathered, "gathered_row_traffic" in each.fit.values)
            for each in found] == [("whole", True, True), ("whole", False, False),
                                   ("slices", None, False)]
    assert found[2].fit.values == pytest.approx(values, rel=0.05)


# --- latent attention and sums --------------------------------------------------------------------


def test_rows_of_cores_and_blocks(tmp_path):
    """Caches that do not fit into the L2 or take little of the time, and at least 256 positions and
    eight heads; what lies between a block's kernels is told beside its matmuls and its core."""
    wide = card_constants(H200, PRIORS, "bf16", 2)
    more = {"core_tile_rows": PRIORS.core_tile_rows.value, "element_bytes": 2.0}
    shapes = grid(heads=[8, 16, 32, 64, 128], batch=[64, 128, 256], context=[
        512, 1024, 2048, 4096, 8192, 16384, 32768])
    cold = shapes["batch"] * shapes["context"] * (512 + 64) * 2 > L2
    rows = beside(shapes, {"heads": 4, "batch": 256}, {"context": 255, "batch": 256},
                  {"batch": 1})
    matmuls(tmp_path, SHAPES)
    write(tmp_path, "mla_decode", rows, DECODE_CORE.time(rows | wide | more, CORE),
          kernel="flash", cache_dtype="bf16")
    narrow = card_constants(H200, PRIORS, "fp8", 1) | MATMULS | CORE | more | {
        "core_peak": wide["peak"]}
    write(tmp_path, "mla_decode_block", rows, DECODE_BETWEEN.time(
        rows | narrow, {"attention_operators": 9.0}), dtype="fp8-block", kernel="flash",
        model="DeepSeek-V3", cache_dtype="bf16", core_dtype="bf16")
    _, core, block = fitted(tmp_path)
    assert counted(block) >= counted(core) >= cold.sum() > 90
    assert core.fit.values == pytest.approx(CORE, rel=0.05)
    assert block.fit.values == pytest.approx({"attention_operators": 9.0}, rel=0.02)
    assert (core.operator, block.operator, block.attention) == (
        "mla_decode", "mla_decode_block", "mla")
