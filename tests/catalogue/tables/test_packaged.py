"""Tables in the layout of public packages: one row per convention, in our columns and units."""


import pyarrow
import pytest
from pyarrow import parquet

from catalogue import ParamsError
from catalogue.tables import shelf

HEAD = {"framework": "SGLang", "version": "0.5.14", "device": "NVIDIA H200", "op_name": "x",
        "kernel_source": "its_kernel"}
BLOCK = {"model": "deepseek-ai/DeepSeek-V3", "architecture": "DeepseekV3ForCausalLM",
         "mla_dtype": "bfloat16", "kv_cache_dtype": "fp8", "gemm_type": "fp8_block",
         "num_heads": 16, "batch_size": 4, "isl": 1, "tp_size": 8, "step": 1023, "latency": 0.5}
GEMM = {"gemm_dtype": "fp8_block", "m": 64, "n": 7168, "k": 2048, "latency": 0.0125}
MOE = {"moe_dtype": "w4a16_mxfp4", "num_tokens": 64, "hidden_size": 7168, "inter_size": 2048,
       "topk": 8, "num_experts": 256, "moe_tp_size": 2, "moe_ep_size": 4,
       "distribution": "power_law_1.2", "latency": 0.2}
DEEPEP = {"node_num": 2, "hidden_size": 7168, "num_token": 4096, "num_topk": 8, "num_experts": 256,
          "dispatch_sms": 24, "dispatch_transmit_us": 600.0, "dispatch_notify_us": 40.0,
          "combine_sms": 20, "combine_transmit_us": 900.0, "combine_notify_us": 0.0}
A2A = {"comm_backend": "deepep_ll", "phase": "dispatch", "comm_dtype": "default", "ep_size": 8,
       "node_num": 1, "hidden_size": 7168, "topk": 8, "num_experts": 256, "num_tokens": 128,
       "sms": 0, "transmit_us": 50.0, "notify_us": 0.0, "latency": 50.0}
ROWS = [  # table of the package, its row, engine, operator, what it means
    ("gemm", GEMM, "sglang", "gemm",
     {"card": "nvidia-h200-sxm", "engine": "sglang@0.5.14", "kernel": "its_kernel",
      "dtype": "fp8-block", "rows": 64, "columns": 7168, "depth": 2048, "time": 12.5e-6}),
    # tokens of all ranks, sizes before they are cut
    ("moe", MOE, "sglang", "experts",
     {"tokens": 64, "moe_intermediate_size": 2048, "tensor_parallel": 2, "expert_parallel": 4,
      "skew": "power-law-1.2", "dtype": "mxfp4-w4a16", "matrices": 3, "time": 200e-6}),
    # fused experts count tokens of one rank
    ("dsv4_megamoe_module", {
        "phase": "generation", "moe_dtype": "w4a8_mxfp4_mxfp8", "num_tokens": 8,
        "global_num_tokens": 64, "hidden_size": 7168, "inter_size": 3072, "topk": 6,
        "num_experts": 384, "moe_ep_size": 8, "distribution": "power_law_sampled_1.9",
        "latency": 0.1}, "sglang", "experts_exchange",
     {"stage": "decode", "tokens": 8, "skew": "power-law-sampled-1.9"}),
    # a decode step attends to what was there before and the newest
    ("generation_mla", BLOCK, "sglang", "mla_decode",
     {"heads": 16, "batch": 4, "context": 1024, "cache_dtype": "fp8"}),
    ("mla_generation_module", BLOCK, "vllm", "mla_decode_block", {"context": 1023}),
    ("dsv4_csa_generation_module", BLOCK, "vllm", "csa_decode_block", {"context": 1024}),
    # older wide tables state the context where others state new tokens
    ("wideep_generation_mla", BLOCK | {"isl": 1024, "step": 0}, "sglang", "mla_decode_block",
     {"context": 1025}),
    ("dsa_context_module", BLOCK | {"op_name": "dsa_context_module", "isl": 512, "step": 128},
     "sglang", "dsa_prefill_block",
     {"tokens": 512, "past": 128, "indexer": "runs", "dtype": "fp8-block", "core_dtype": "bf16"}),
    ("dsa_context_module", BLOCK | {"op_name": "dsa_context_module_skip_indexer"}, "sglang",
     "dsa_prefill_block", {"tokens": 1, "past": 1023, "indexer": "reused"}),
    # messages are counted in elements
    ("custom_allreduce", {"allreduce_dtype": "bfloat16", "num_gpus": 8, "message_size": 1024,
                          "latency": 0.01, "backend": "sglang_graph"}, "sglang", "all_reduce",
     {"bytes": 2048, "dtype": "bf16"}),
    ("nccl", {"op_name": "alltoall", "nccl_dtype": "int8", "num_gpus": 8, "message_size": 1024,
              "latency": 0.02, "framework": "TRTLLM", "version": "2.27.3"}, "nccl", "all_to_all",
     {"engine": "nccl@2.27.3", "bytes": 1024, "time": 20e-6}),
    # exchanges: both directions of a row, in microseconds
    ("wideep_deepep_normal", DEEPEP, "sglang", "dispatch",
     {"mode": "normal", "ranks": 16, "tokens": 4096, "dtype": "fp8", "multiprocessors": 24,
      "time": 640e-6}),
    ("wideep_deepep_normal", DEEPEP, "sglang", "combine", {"dtype": "bf16", "time": 900e-6}),
    ("moe_a2a", A2A, "sglang", "dispatch",
     {"mode": "low_latency", "ranks": 8, "tokens": 128, "dtype": "fp8", "time": 50e-6}),
    # vLLM asks for no FP8; results come back in 16 bits whatever was dispatched
    ("moe_a2a", A2A | {"framework": "VLLM"}, "vllm", "dispatch", {"dtype": "bf16"}),
    ("moe_a2a", A2A | {"framework": "TRTLLM", "comm_backend": "trtllm_deepep_ll",
                       "comm_dtype": "nvfp4", "phase": "combine"}, "trtllm", "combine",
     {"dtype": "bf16"}),
]


@pytest.fixture
def written(tmp_path):
    """Write rows as a table of a package; the shelf of all that was written."""
    def write(table, *rows, card="h200_sxm", engine="sglang", release="0.5.14"):
        path = tmp_path / "systems" / "data" / card / "any" / engine / release
        path.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.Table.from_pylist([HEAD | row for row in rows]),
                            path / f"{table}_perf.parquet")
        return shelf(tmp_path / "systems" / "data")
    return write


@pytest.mark.parametrize(("table", "row", "engine", "operator", "meaning"), ROWS)
def test_a_row_of_each_convention(written, table, row, engine, operator, meaning):
    read = written(table, row, engine=engine).table(operator)
    assert read["row"].tolist() == [1]
    for name, value in meaning.items():
        found = read[name].tolist()[0]
        assert found == (pytest.approx(value, rel=1e-12) if name == "time" else value), name


def test_a_row_is_of_the_release_and_card_that_measured_it(written):
    tables = written("gemm", GEMM, GEMM | {"version": "unknown"}, GEMM | {"m": 3, "framework":
                     "TRTLLM", "version": "1.0.0"}, GEMM | {"device": "NVIDIA H200 NVL"},
                     GEMM | {"version": "0.14.1.dev1+gd68209402"}, release="0.5.20")
    assert tables.engines() == ("sglang@0.5.14", "sglang@0.5.20", "tensorrt-llm@1.0.0")
    assert sum(part.rows for part in tables.parts()) == 4
    assert tables.table("gemm", engine="tensorrt-llm@1.0.0")["rows"].tolist() == [3]


def test_a_damaged_table_is_refused(written, tmp_path):
    tables = written("gemm", {"gemm_dtype": "bfloat16", "m": 1, "latency": 0.01})
    with pytest.raises(ParamsError, match=r"gemm_perf\.parquet: lacks the column 'n'"):
        tables.table("gemm")
    path = next(tmp_path.rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ParamsError, match=r"gemm_perf\.parquet: cannot be read as a Parquet file"):
        tables.table("gemm")
