"""AITER's folder of tuned kernels, brought into our columns and units.

The rows are an excerpt of its ``aiter/configs`` at commit e4048607 (MIT licence, Copyright Advanced
Micro Devices, Inc.), names of kernels cut short.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalogue.tables import shelf, sound
from catalogue.tables.tuned import CARDS

GEMM = """gfx,cu_num,M,N,K,libtype,kernelId,splitK,us,kernelName,tflops,bw,errRatio
gfx942,304,1,3072,1536,ck,8,0,6.6154,a8w8_256x16x64x256,1.43,714.43,0.0
gfx942,304,2,3072,1536,ck,8,0,6.62,a8w8_256x16x64x256,2.85,715.1,0.0
"""
BATCHED = """gfx,cu_num,B,M,N,K,kernelId,splitK,us,kernelName,tflops,bw,errRatio
gfx942,304,16,1,1280,8192,78,0,111.9323,bf16_batched_64x16x16x64,3.0,3004.9,0.0
"""
EXPERTS_HEAD = ("cu_num,token,model_dim,inter_dim,expert,topk,act_type,dtype,q_dtype_a,q_dtype_w,"
                "q_type,use_g1u1,doweight_stage1,block_m,ksplit,us1,kernelName1,err1,us2,"
                "kernelName2,err2,us,run_1stage,tflops,bw,_tag\n")
WHOLE = ("304,1,7168,2048,33,9,ActivationType.Silu,torch.bfloat16,torch.float8_e4m3fnuz,"
         "torch.float8_e4m3fnuz,QuantType.per_1x128,1,0,16,0,60.1451,stage1_16x128,20.0%,39.0649,"
         "stage2_256x16,16.7%,99.21,0,7.99,14649.21,\n")
SLICED = ("304,16,4096,192,128,8,ActivationType.Silu,torch.bfloat16,torch.bfloat16,torch.bfloat16,"
          "QuantType.No,1,0,32,0,71.5328,gemm1_256x32,0.0%,45.1874,gemm2_256x32,0.1%,116.7202,0,"
          "5.17,5176.84\n")  # without its last cell, as AITER writes some
BY_HAND = ("304,4,6144,256,257,9,ActivationType.Silu,torch.bfloat16,torch.float8_e4m3fnuz,"
           "torch.float8_e4m3fnuz,QuantType.per_1x128,1,0,1,0,0.0,flat_16x128,0.0%,0.0,,0.0%,0.0,1,"
           "0.0,0.0,\n")


@pytest.fixture
def written(tmp_path):
    """Write a file of AITER's by its name; the shelf of all that was written."""
    def write(name, text, release="0.1.20"):
        folder = tmp_path / f"aiter-{release}" / "aiter" / "configs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
        return shelf(folder)
    return write


def values(table, *names):
    return {name: table[name].tolist() for name in names}


def test_matmuls(written):
    """Of a card that the file's commit names, with scales per block; batched in BF16."""
    assert written("a8w8_blockscale_tuned_gemm_ds_v3.csv", GEMM).cards() == ("amd-mi325x",)
    table = written("bf16_tuned_batched_gemm.csv", BATCHED).table("batched_gemm")
    assert values(table, "card", "engine", "batch", "rows", "columns", "depth", "dtype") == {
        "card": ["amd-mi300x"], "engine": ["aiter@0.1.20"], "batch": [16], "rows": [1],
        "columns": [1280], "depth": [8192], "dtype": ["bf16"]}
    assert table.where(0) == "configs/bf16_tuned_batched_gemm.csv, line 2"


def test_experts_are_both_kernels_and_cut_where_the_model_is_known(written):
    table, findings = sound(written("tuned_fmoe.csv", EXPERTS_HEAD + WHOLE + SLICED + BY_HAND)
                            .table("experts"))
    assert values(table, "tokens", "hidden_size", "moe_intermediate_size", "tensor_parallel",
                  "n_routed_experts", "num_experts_per_tok", "dtype", "skew", "matrices") == {
        "tokens": [1, 16], "hidden_size": [7168, 4096], "moe_intermediate_size": [2048, 1536],
        "tensor_parallel": [1, 8], "n_routed_experts": [33, 128], "num_experts_per_tok": [9, 8],
        "dtype": ["fp8-block", "bf16"], "skew": ["uniform"] * 2, "matrices": [3, 3]}
    assert table["kernel"][0] == "stage1_16x128 + stage2_256x16"
    np.testing.assert_allclose(table["time"], [99.21e-6, 116.7202e-6], rtol=1e-12)
    assert [each.kind for each in findings] == ["no-time"]  # a choice that was made by hand


@given(st.lists(st.tuples(st.sampled_from([*CARDS, ("gfx1250", "96")]),
                          st.integers(1, 10**6), st.integers(1, 10**5), st.integers(1, 10**5),
                          st.floats(0.001, 1e6)), min_size=1, max_size=20))
@settings(max_examples=30)
def test_every_row_comes_back_in_si_under_one_name_per_card(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("configs") / "a8w8_blockscale_tuned_gemm.csv"
    head = GEMM.splitlines()[0]
    path.write_text("\n".join([head, *(
        f"{of[0]},{of[1]},{m},{n},{k},ck,1,0,{us!r},kernel,1,1,0" for of, m, n, k, us in rows)]),
        "utf-8")
    found = shelf(path)
    table = found.table("gemm")
    assert len(table) == len(rows) == sum(part.rows for part in found.parts())
    np.testing.assert_allclose(table["time"], [us * 1e-6 for *_, us in rows], rtol=1e-12)
    assert table["card"].tolist() == [CARDS.get(of, "-".join(of)) for of, *_ in rows]
    assert table["rows"].tolist() == [m for _, m, *_ in rows]
