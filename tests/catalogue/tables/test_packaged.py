"""Tables in the layout of the public packages, brought into our columns and units."""

from __future__ import annotations

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from catalogue import ParamsError
from catalogue.tables import OPERATORS, packaged, shelf
from catalogue.tables.packaged import CONVENTIONS

HEAD = {"framework": "SGLang", "version": "0.5.14", "device": "NVIDIA H200", "op_name": "x",
        "kernel_source": "its_kernel"}
BLOCK = {"model": "deepseek-ai/DeepSeek-V3", "architecture": "DeepseekV3ForCausalLM",
         "mla_dtype": "bfloat16", "kv_cache_dtype": "fp8", "gemm_type": "fp8_block",
         "num_heads": 16, "batch_size": 4, "isl": 1, "tp_size": 8, "step": 1023, "latency": 0.5}


@pytest.fixture
def written(tmp_path):
    """Write rows as a table of a package; the shelf of all that was written."""
    def write(table, *rows, card="h200_sxm", family="any", engine="sglang", release="0.5.14"):
        path = tmp_path / "systems" / "data" / card / family / engine / release
        path.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pyarrow.Table.from_pylist([HEAD | row for row in rows]),
                            path / f"{table}_perf.parquet")
        return shelf(tmp_path / "systems" / "data")
    return write


def values(table, *names):
    return {name: table[name].tolist() for name in names}


def test_a_matrix_product(written):
    table = written("gemm", {"gemm_dtype": "fp8_block", "m": 64, "n": 7168, "k": 2048,
                             "latency": 0.0125}).table("gemm")
    assert values(table, "card", "engine", "kernel", "dtype", "rows", "columns", "depth") == {
        "card": ["nvidia-h200-sxm"], "engine": ["sglang@0.5.14"], "kernel": ["its_kernel"],
        "dtype": ["fp8-block"], "rows": [64], "columns": [7168], "depth": [2048]}
    np.testing.assert_allclose(table["time"], 12.5e-6, rtol=1e-12)
    assert table.where(0) == "h200_sxm/any/sglang/0.5.14/gemm_perf.parquet, row 1"


def test_experts_count_tokens_of_all_ranks_and_sizes_before_they_are_cut(written):
    row = {"moe_dtype": "w4a16_mxfp4", "num_tokens": 64, "hidden_size": 7168, "inter_size": 2048,
           "topk": 8, "num_experts": 256, "moe_tp_size": 2, "moe_ep_size": 4,
           "distribution": "power_law_1.2", "latency": 0.2}
    table = written("moe", row, row | {"hidden_size": 2688, "inter_size": 1856}).table("experts")
    assert values(table.select(matrices=3), "tokens", "moe_intermediate_size", "tensor_parallel",
                  "expert_parallel", "skew", "dtype") == {
        "tokens": [64], "moe_intermediate_size": [2048], "tensor_parallel": [2],
        "expert_parallel": [4], "skew": ["power-law-1.2"], "dtype": ["mxfp4-w4a16"]}
    assert table["matrices"].tolist() == [3, 2]  # Nemotron's experts have no gate


def test_the_fused_experts_count_tokens_of_one_rank(written):
    table = written("dsv4_megamoe_module", {
        "phase": "generation", "moe_dtype": "w4a8_mxfp4_mxfp8", "num_tokens": 8,
        "global_num_tokens": 64, "hidden_size": 7168, "inter_size": 3072, "topk": 6,
        "num_experts": 384, "moe_ep_size": 8, "distribution": "power_law_sampled_1.9",
        "latency": 0.1}).table("experts_exchange")
    assert values(table, "stage", "tokens", "skew") == {
        "stage": ["decode"], "tokens": [8], "skew": ["power-law-sampled-1.9"]}


@pytest.mark.parametrize(("table", "operator", "engine", "context"), [
    ("generation_mla", "mla_decode", "sglang", 1024),
    ("mla_generation_module", "mla_decode_block", "trtllm", 1024),
    ("mla_generation_module", "mla_decode_block", "vllm", 1023),  # counts the newest
    ("dsa_generation_module", "dsa_decode_block", "vllm", 1023),
    ("dsv4_csa_generation_module", "csa_decode_block", "vllm", 1024),
    ("msa_generation_module", "msa_decode_block", "vllm", 1024)])
def test_a_decode_step_attends_to_what_was_there_before_and_the_newest(written, table, operator,
                                                                       engine, context):
    found = written(table, BLOCK, engine=engine).table(operator)
    assert values(found, "heads", "batch", "context", "cache_dtype") == {
        "heads": [16], "batch": [4], "context": [context], "cache_dtype": ["fp8"]}


def test_older_wide_tables_say_the_context_where_others_say_new_tokens(written):
    found = written("wideep_generation_mla", BLOCK | {"isl": 1024, "step": 0})
    assert found.table("mla_decode_block")["context"].tolist() == [1025]


def test_sparse_blocks_that_take_another_layers_choice_are_told_apart(written):
    found = written("dsa_context_module",
                    BLOCK | {"op_name": "dsa_context_module", "isl": 512, "step": 128},
                    BLOCK | {"op_name": "dsa_context_module_skip_indexer"})
    table = found.table("dsa_prefill_block")
    assert values(table, "tokens", "past", "indexer", "dtype", "core_dtype") == {
        "tokens": [512, 1], "past": [128, 1023], "indexer": ["runs", "reused"],
        "dtype": ["fp8-block"] * 2, "core_dtype": ["bf16"] * 2}


def test_messages_are_counted_in_elements_and_become_bytes(written):
    written("custom_allreduce", {"allreduce_dtype": "bfloat16", "num_gpus": 8,
                                 "message_size": 1024, "latency": 0.01, "backend": "sglang_graph"})
    found = written("nccl", *[
        {"op_name": name, "nccl_dtype": dtype, "num_gpus": 8, "message_size": 1024, "latency": 0.02,
         "framework": "TRTLLM", "version": "2.27.3"}
        for name, dtype in (("all_reduce", "half"), ("alltoall", "int8"))], engine="nccl",
        release="2.27")
    assert found.operators() == ("all_reduce", "all_to_all")
    assert values(found.table("all_reduce"), "engine", "bytes", "dtype") == {
        "engine": ["nccl@2.27.3", "sglang@0.5.14"], "bytes": [2048, 2048],
        "dtype": ["fp16", "bf16"]}
    assert found.table("all_to_all")["bytes"].tolist() == [1024]


def test_an_exchange_is_dispatch_and_combine_in_microseconds(written):
    found = written("wideep_deepep_normal", {
        "node_num": 2, "hidden_size": 7168, "num_token": 4096, "num_topk": 8, "num_experts": 256,
        "dispatch_sms": 24, "dispatch_transmit_us": 600.0, "dispatch_notify_us": 40.0,
        "combine_sms": 20, "combine_transmit_us": 900.0, "combine_notify_us": 0.0})
    found = written("moe_a2a", {
        "comm_backend": "deepep_ll", "phase": "dispatch", "comm_dtype": "default", "ep_size": 8,
        "node_num": 1, "hidden_size": 7168, "topk": 8, "num_experts": 256, "num_tokens": 128,
        "sms": 0, "transmit_us": 50.0, "notify_us": 0.0, "latency": 50.0}, engine="vllm")
    sent, back = found.table("dispatch"), found.table("combine")
    assert values(sent, "mode", "ranks", "tokens", "dtype", "multiprocessors") == {
        "mode": ["normal", "low_latency"], "ranks": [16, 8], "tokens": [4096, 128],
        "dtype": ["fp8", "fp8"], "multiprocessors": [24, 0]}
    np.testing.assert_allclose(sent["time"], [640e-6, 50e-6], rtol=1e-12)
    np.testing.assert_allclose(back["time"], [900e-6], rtol=1e-12)
    assert back["dtype"].tolist() == ["bf16"]


@pytest.mark.parametrize(("framework", "backend", "phase", "said", "dtype"), [
    ("SGLang", "deepep_ll", "dispatch", "default", "fp8"),
    ("VLLM", "deepep_ll", "dispatch", "default", "bf16"),
    ("VLLM", "deepep_ht", "combine", "default", "bf16"),
    ("TRTLLM", "trtllm_deepep_ll", "dispatch", "nvfp4", "nvfp4"),
    ("TRTLLM", "trtllm_deepep_ll", "combine", "nvfp4", "bf16")])
def test_what_an_engine_sends_in_an_exchange(written, framework, backend, phase, said, dtype):
    """vLLM's program asks for no FP8; results come back in 16 bits whatever was dispatched."""
    table = written("moe_a2a", {
        "framework": framework, "comm_backend": backend, "phase": phase, "comm_dtype": said,
        "ep_size": 8, "node_num": 1, "hidden_size": 7168, "topk": 8, "num_experts": 256,
        "num_tokens": 128, "sms": 0, "latency": 50.0}).table(phase)
    assert table["dtype"].tolist() == [dtype]


def test_trays_of_four_make_the_ranks_of_a_low_latency_exchange(written):
    row = {"node_num": 1, "hidden_size": 7168, "num_token": 8, "num_topk": 8, "num_experts": 256,
           "dispatch_avg_t_us": 20.0, "combine_avg_t_us": 25.0}
    assert written("wideep_deepep_ll", row, card="gb200").table("combine")["ranks"].tolist() == [4]


def test_a_models_block_says_new_tokens_of_a_prompt_and_the_length_of_a_decode_step(written):
    row = {"component": "attention", "batch_size": 2, "latency": 1.0}
    table = written("glm53_attention_module",
                    row | {"geometry": '{"is_context": true}', "prefix": 128, "x": 64},
                    row | {"geometry": '{"is_context": false}', "prefix": 0, "x": 512},
                    row | {"geometry": "no JSON", "prefix": 0, "x": 3}).table("block")
    assert values(table, "tokens", "past") == {"tokens": [64, 1, 3], "past": [128, 511, 0]}


def test_a_row_is_of_the_release_that_measured_it_not_of_the_folder_it_lies_in(written):
    row = {"gemm_dtype": "bfloat16", "m": 1, "n": 16, "k": 16, "latency": 0.01}
    found = written("gemm", row, row | {"version": "unknown"},
                    row | {"framework": "TRTLLM", "version": "1.0.0"}, release="0.5.20")
    assert found.engines() == ("sglang@0.5.14", "sglang@0.5.20", "tensorrt-llm@1.0.0")
    table = found.table("gemm", engine="tensorrt-llm@1.0.0")
    assert table.row.tolist() == [3]


def test_a_single_table_of_a_package_is_read_by_its_folders(written, tmp_path):
    written("gemm", {"gemm_dtype": "bfloat16", "m": 1, "n": 16, "k": 16, "latency": 0.01})
    assert shelf(next(tmp_path.rglob("*.parquet"))).cards() == ("nvidia-h200-sxm",)


def test_a_table_may_be_named_from_the_folder_that_it_lies_in(written, tmp_path, monkeypatch):
    written("gemm", MATRIX)
    path = next(tmp_path.rglob("*.parquet"))
    monkeypatch.chdir(path.parent)
    assert shelf(path.name).table("gemm").where(0) == (
        "h200_sxm/any/sglang/0.5.14/gemm_perf.parquet, row 1")


def test_a_card_without_an_entry_keeps_its_name(written):
    row = {"gemm_dtype": "bfloat16", "m": 1, "n": 16, "k": 16, "latency": 0.01}
    assert written("gemm", row, card="b60").cards() == ("b60",)


MATRIX = {"gemm_dtype": "bfloat16", "m": 1, "n": 16, "k": 16, "latency": 0.01}


def test_earlier_packages_have_no_families_and_write_csv(tmp_path):
    folder = tmp_path / "systems" / "data" / "h200_sxm" / "trtllm" / "1.0.0rc3"
    folder.mkdir(parents=True)
    head, row = HEAD | MATRIX, HEAD | MATRIX | {"framework": "TRTLLM", "version": "1.0.0rc3"}
    (folder / "gemm_perf.txt").write_text(
        "\n".join(",".join(map(str, line)) for line in (head, row.values())))
    table = shelf(tmp_path).table("gemm")
    assert values(table, "card", "engine", "columns") == {
        "card": ["nvidia-h200-sxm"], "engine": ["tensorrt-llm@1.0.0rc3"], "columns": [16]}
    assert table.where(0) == "h200_sxm/trtllm/1.0.0rc3/gemm_perf.txt, row 1"


def test_of_several_packages_the_last_stands_for_a_release(tmp_path):
    for package, latency in (("p-0.9.0", 0.03), ("p-0.10.0", 0.02)):
        folder = tmp_path / package / "systems/data/h200_sxm/any/sglang/0.5.14"
        folder.mkdir(parents=True)
        parquet.write_table(pyarrow.Table.from_pylist([HEAD | MATRIX | {"latency": latency}]),
                            folder / "gemm_perf.parquet")
    np.testing.assert_allclose(shelf(tmp_path).table("gemm")["time"], [20e-6])


def test_rows_of_another_card_are_left_out(written):
    found = written("gemm", MATRIX, MATRIX | {"m": 2, "device": "NVIDIA H200 NVL"},
                    MATRIX | {"m": 4, "device": "NVIDIA H100 80GB HBM3"}, MATRIX | {"m": 8})
    assert found.parts()[0].rows == 2
    assert found.table("gemm")["rows"].tolist() == [1, 8]


def test_a_state_between_releases_is_of_the_folder_s(written):
    assert written("gemm", MATRIX | {"version": "0.14.1.dev1+gd68209402"}, release="0.14.0"
                   ).engines() == ("sglang@0.14.0",)


def test_heads_that_are_not_told_are_those_of_deepseek_v3_over_the_cut(written):
    row = {name: value for name, value in BLOCK.items() if name != "num_heads"}
    assert written("generation_mla", row).table("mla_decode")["heads"].tolist() == [16]


def test_results_of_whole_systems_are_never_opened(written, tmp_path):
    row = {"gemm_dtype": "bfloat16", "m": 1, "n": 16, "k": 16, "latency": 0.01}
    found = written("gemm", row)
    for name in ("fpm_forward_perf.parquet", "silicon_sample_perf.parquet", "silicon_sample.csv"):
        (tmp_path / "systems/data/h200_sxm/any/sglang/0.5.14" / name).write_bytes(b"not opened")
    assert found.operators() == ("gemm",)
    assert shelf(tmp_path / "systems" / "data").operators() == ("gemm",)


def test_a_table_that_lacks_a_column_or_is_cut_off_is_told(written, tmp_path):
    found = written("gemm", {"gemm_dtype": "bfloat16", "m": 1, "latency": 0.01})
    with pytest.raises(ParamsError, match=r"gemm_perf\.parquet: lacks the column 'n'"):
        found.table("gemm")
    path = next(tmp_path.rglob("*.parquet"))
    path.write_bytes(path.read_bytes()[:-50])
    with pytest.raises(ParamsError, match=r"gemm_perf\.parquet: cannot be read as a Parquet file"):
        found.table("gemm")


def test_without_tables_and_packages_it_is_said_what_is_expected(monkeypatch):
    monkeypatch.setattr(packaged.finding.metadata, "distribution", _lacking)
    with pytest.raises(ParamsError, match="no package with tables is installed, expected --tables "
                                          "FOLDER or one of aisimulate, aiconfigurator-core"):
        shelf()


def _lacking(name):
    raise packaged.finding.metadata.PackageNotFoundError(name)


def test_an_installed_package_is_found_without_importing_it(written, tmp_path, monkeypatch):
    written("gemm", {"gemm_dtype": "bfloat16", "m": 1, "n": 16, "k": 16, "latency": 0.01})
    (tmp_path / "aiconfigurator_core").symlink_to(tmp_path)

    class Distribution:
        @staticmethod
        def locate_file(name):
            return tmp_path / name

    monkeypatch.setattr(packaged.finding.metadata, "distribution", lambda name: Distribution
                        if name == "aiconfigurator-core" else _lacking(name))
    assert shelf().operators() == ("gemm",)


def test_what_a_table_may_hold_are_operators():
    named = {name for each in CONVENTIONS.values() for name in each.operators}
    assert named == OPERATORS.keys()  # and every operator has a table
