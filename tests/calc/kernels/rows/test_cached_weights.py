"""Rows of experts whose weights or tokens are none of a step: they are no evidence."""

import numpy as np
import pytest

from calc.kernels import engines
from calc.kernels.matmuls import WHOLE, expert_bytes, rank_columns
from calc.kernels.rows.experts import AFTER_EXCHANGE, MOST_TOKENS, SHAPE, _many_experts
from calc.kernels.rows.of_every_operator import LEAST_TABLE, of_card
from catalogue import library
from catalogue.tables import shelf
from catalogue.tables.table import synthetic
from tests.calc.kernels.test_fitting import expert_columns

H200 = library.load("devices", "nvidia-h200-sxm")
PLANTED = {"routed_expert_gemm_efficiency": 0.6, "expert_streaming_efficiency": 0.7,
           "routed_expert_latency": 1e-5, "gathered_row_traffic": 1.5, "expert_tile_growth": 2.0,
           "largest_expert_tile": 96.0}


def test_only_after_an_exchange_are_tokens_those_of_all_ranks_together():
    """Of 2^16 tokens a rank of eight is sent 2^13; where all have all it is given twice the most.

    Of 2^19 a rank is sent 2^16, twice the most as well.
    """
    table = synthetic("experts", kernel=[AFTER_EXCHANGE, "fused", AFTER_EXCHANGE],
                      tokens=[2**16, 2**16, 2**19], hidden_size=7168, moe_intermediate_size=2048,
                      n_routed_experts=256, num_experts_per_tok=8, tensor_parallel=1,
                      expert_parallel=8, skew="balanced", time=1e-3)
    assert 2**13 < MOST_TOKENS == 2**15
    assert _many_experts(table).row.tolist() == [1]


def test_weights_that_the_cache_holds_between_runs_are_no_evidence_of_a_step(tmp_path):
    """Their rows are left out of the fit and of what judges it: the planted values come back."""
    kinds = [(7168.0, 2048.0, 256.0, 8.0), (6144.0, 1536.0, 128.0, 8.0),
             (4096.0, 1024.0, 512.0, 10.0)]
    parts = [np.array([[tokens, *kind, 1.0, ranks] for tokens in expert_columns(True)["tokens"]
                       for ranks in (1.0, 2, 4, 8, 16)]).T for kind in kinds]
    columns = dict(zip(SHAPE, np.concatenate(parts, axis=1), strict=True))
    card = of_card(H200, library.load("mechanisms", str(H200.mechanisms)), "fp8", 1)
    held = columns | rank_columns(columns, np.array(["balanced"] * len(columns["tokens"]))) | card
    inside = expert_bytes(held) <= H200.l2_cache.value
    assert 0 < inside.sum() < len(inside) / 2
    time = WHOLE.time(held, PLANTED) * np.where(inside, 1 / 3, 1)
    path = tmp_path / "table.csv"
    lines = ["fused,{},{!r}".format(",".join(f"{value:.0f}" for value in row), each)
             for *row, each in zip(*columns.values(), time.tolist(), strict=True)]
    head = "operator,card,engine,dtype,skew,matrices,kernel," + ",".join(SHAPE) + ",time"
    path.write_text("\n".join([head, *(
        f"experts,nvidia-h200-sxm,vllm@0.24.0,fp8-block,balanced,3,{line}" for line in lines)])
        + "\n", "utf-8")
    (found,) = engines.fitted(shelf(path), "nvidia-h200-sxm", "vllm")
    assert found.fit.fitted + found.fit.errors.rows == (~inside).sum()
    assert found.fit.values == pytest.approx(PLANTED, rel=0.02)


def test_a_table_whose_weights_the_cache_holds_tells_nothing(tmp_path):
    path = tmp_path / "table.csv"
    head = "operator,card,engine,dtype,skew,matrices,kernel," + ",".join(SHAPE) + ",time"
    lines = [f"experts,nvidia-h200-sxm,vllm@0.24.0,fp8-block,balanced,3,fused,"
             f"{tokens},2048,512,128,4,1,8,1e-05" for tokens in range(1, 2 * LEAST_TABLE)]
    path.write_text("\n".join([head, *lines]) + "\n", "utf-8")
    assert not list(engines.fitted(shelf(path), "nvidia-h200-sxm", "vllm"))
