"""The program that a reader runs on a server: on a card of known speed, and on PyTorch if any."""

import ast
import csv
import importlib.util
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from catalogue import load, units
from catalogue.tables import shelf
from tools import measure_operators

TESTS = Path(__file__).resolve().parents[1]
SCRIPT = TESTS.parent / "tools" / "measure_card.py"
_spec = importlib.util.spec_from_file_location("measure_card", SCRIPT)
measure_card = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(measure_card)
NPU = """__version__ = "2.99.post1"
import torch
def npu_format_cast(weight, layout):
    assert layout == 29 and not weight.turned
    return weight
def npu_quant_matmul(x1, x2, scale, *, pertoken_scale, output_dtype):
    assert x1.dtype == "int8" and output_dtype == "bfloat16"
    assert scale.shape == (x2.shape[1],) and pertoken_scale.shape == (x1.shape[0],)
    torch.mm(x1, x2)
"""


def start(folder, *args, fake=True, **env):
    """Run the script in a folder of its own; by default with a fake torch and one CUDA card."""
    (folder / "torch").mkdir(parents=True, exist_ok=True)
    code = (TESTS / "support" / "_fake_torch.py").read_text(encoding="utf-8")
    (folder / "torch/__init__.py").write_text(code, encoding="utf-8")
    (folder / "torch_npu.py").write_text(NPU, encoding="utf-8")
    env |= {"PYTHONPATH": str(folder)} if fake else {}
    return subprocess.run([sys.executable, SCRIPT, *args], capture_output=True, text=True,
                          encoding="utf-8", cwd=folder, check=False, timeout=300,
                          env={**os.environ, "PATH": str(folder), **env})


def read(folder, *args, **env):
    """What the script measured on a fake card, as YAML and as text; the loader has accepted it."""
    done = start(folder, "--quick", *args, **env)
    assert done.returncode == 0, done.stderr
    (folder / "measured.yml").write_text(done.stdout, encoding="utf-8")
    entry = load("microbenchmarks", folder / "measured.yml")
    assert all(one.rate.kind == "measured" for one in entry.rates)
    return yaml.safe_load(done.stdout), done.stdout


@pytest.fixture
def run(tmp_path):
    return partial(start, tmp_path)


@pytest.fixture
def measured(tmp_path):
    return partial(read, tmp_path)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The measurement of one CUDA card that can do everything."""
    return read(tmp_path_factory.mktemp("plain"))


def rate(data, kernel, dtype=None, rows=None):
    found = [one for one in data["rates"] if one["kernel"] == kernel and one.get("dtype") == dtype
             and rows in (None, one.get("rows"))]
    assert len(found) == 1, (kernel, dtype, rows)
    return found[0]


@pytest.mark.parametrize("dtype", ["fp32", "tf32", "bf16", "fp16", "int8", "fp8"])
def test_a_matrix_product_has_two_operations_per_element_of_its_cube(plain, dtype):
    data, _ = plain
    unit = "TOPS" if dtype == "int8" else "TFLOPS"
    assert rate(data, "gemm", dtype, [32, 32]) == {
        "kernel": "gemm", "dtype": dtype, "rows": [32, 32], "samples": 3,
        "rate": {"value": f"100 {unit}", "range": [f"100 {unit}", f"100 {unit}"]}}


def test_bytes_over_time(plain):
    data, _ = plain
    streaming = rate(data, "weight-streaming", "bf16")  # one row: 2 FLOP per weight of 2 bytes
    assert (streaming["rows"], streaming["samples"]) == ([1, 16], 3)
    assert streaming["rate"] == {"value": "25 TB/s", "range": ["6.25 TB/s", "100 TB/s"]}
    for kernel, speed in (("copy", 1e12), ("host-to-device", 25e9), ("device-to-host", 25e9)):
        assert units.parse(rate(data, kernel)["rate"]["value"], "B/s") == speed


def test_fixed_costs(plain):
    times = {one["kernel"]: one["time"]["value"] for one in plain[0]["times"]}
    assert times["kernel-boundary"] == "2 us"
    assert times["graph-kernel-boundary"] == "1 us"
    assert units.parse(times["host-time-per-operator"], "s") > 0


def test_a_queue_that_the_host_cannot_fill_gives_no_kernel_boundary(measured):
    data, text = measured(FAKE_HOST="0.01")
    assert "kernel-boundary" not in {one["kernel"] for one in data["times"]}
    assert "# Not measured: kernel-boundary: the card came to the kernels before" in text


def test_collectives_at_both_ends(measured):
    data, text = measured(FAKE_CARDS="3")
    assert [{**one, "samples": 3} for one in data["collectives"]] == data["collectives"]
    ends = {(one["operation"], one["payload"]["value"]): one for one in data["collectives"]}
    assert all(one["ranks"] == 2 for one in ends.values())  # a power of two
    assert ends["all-reduce", "1 KiB"]["time"]["value"] == "20 us"
    assert ends["all-to-all", "1 KiB"]["time"]["value"] == "30 us"
    assert ends["all-reduce", "1 MiB"]["bus_bandwidth"]["value"] == "100 GB/s"
    assert ends["all-to-all", "1 MiB"]["bus_bandwidth"]["value"] == "100 GB/s"
    assert "# all-reduce over 2 ranks, 32 KiB: 0.3277 us, 100 GB/s" in text


def test_what_was_measured_before_a_rank_was_lost_is_kept(measured):
    data, text = measured(FAKE_CARDS="2", FAKE_LOST="100000")
    assert [one["payload"]["value"] for one in data["collectives"]] == ["1 KiB"]
    assert "# Not measured: all-reduce, all-to-all: lost: 2 ranks" in text


@pytest.mark.parametrize(("operation", "factor"), [
    ("all-reduce", 1.75), ("all-to-all", 0.875), ("all-gather", 0.875), ("reduce-scatter", 0.875)])
def test_bus_bandwidth_as_nccl_tests_defines_it(operation, factor):
    assert measure_card.bus_bandwidth(operation, 1000, 8, 0.5) == factor * 2000


@pytest.mark.parametrize(("number", "kind", "text"), [
    (2.891e14, "FLOPS", "289.1 TFLOPS"), (1.2345678e12, "SPEED", "1.235 TB/s"),
    (9.99999e11, "SPEED", "1000 GB/s"), (2.4e10, "SPEED", "24 GB/s"), (2.1e-6, "TIME", "2.1 us"),
    (0.0123456, "TIME", "12.35 ms"), (32768, "SIZE", "32 KiB"), (2**28, "SIZE", "256 MiB"),
    (1.5e7, "FLOPS", "1.5e-05 TFLOPS")])
def test_units_as_the_project_reads_them(number, kind, text):
    assert measure_card.written(number, getattr(measure_card, kind)) == text
    unit = {"FLOPS": "FLOP/s", "SPEED": "B/s", "TIME": "s", "SIZE": "B"}[kind]
    assert units.parse(text, unit) == pytest.approx(number, rel=6e-4)


@pytest.mark.parametrize(("values", "text"), [
    ([3e12], "{value: 3 TB/s}"),
    ([1e9, 4e12, 2e12, 3e12], "{value: 2.5 TB/s, range: [1 GB/s, 4 TB/s]}"),
    ([9.99949e11, 1.00004e12, 9.9996e11], "{value: 1000 GB/s, range: [999.9 GB/s, 1 TB/s]}")])
def test_median_and_range(values, text):
    report = measure_card.Report()
    report.add("rates", "kernel: copy", "rate", values, measure_card.SPEED)
    assert report.entries["rates"] == [f"{{kernel: copy, rate: {text}, samples: {len(values)}}}"]


def test_fewer_rows_than_an_operator_takes_are_padded(plain):
    data, text = plain
    one, full = (rate(data, "gemm", "int8", [rows, rows])["rate"]["value"] for rows in (1, 32))
    assert units.parse(full, "FLOP/s") == pytest.approx(32 * units.parse(one, "FLOP/s"), rel=1e-3)
    assert "# Not measured: gemm int8" not in text


def test_a_shape_that_does_not_fit_is_left_out_and_said(measured):
    data, text = measured(FAKE_MEMORY="300000")
    assert rate(data, "gemm", "fp32", [32, 32])["samples"] == 3
    assert not [one for one in data["rates"] if one["kernel"] == "copy"]
    assert ("# Not measured: weight-streaming fp32: out of memory: 1 rows by 512x512; "
            "4 rows by 512x512; 16 rows by 512x512\n") in text
    assert "# Not measured: copy: out of memory: all\n" in text


def test_without_graphs_products_are_timed_all_the_same(measured):
    data, text = measured(FAKE_NO_GRAPH="1")
    assert rate(data, "gemm", "bf16", [32, 32])["rate"]["value"] == "100 TFLOPS"
    assert "# Not measured: graph-kernel-boundary: capture is not supported: all" in text
    assert "# Some were timed without a graph" in text


def test_an_ascend_card(measured):
    data, text = measured("--device", "ascend-910b2", FAKE_KIND="npu", FAKE_CARDS="2")
    assert data["software"] == "PyTorch 2.99, torch_npu 2.99.post1"
    assert data["device"] == "ascend-910b2"
    assert rate(data, "gemm", "int8", [1, 1])["rate"]["value"] == "100 TOPS"
    assert "# Not measured: gemm tf32: only NVIDIA cards since Ampere have it: all" in text


def test_the_head_of_the_file(plain):
    data, text = plain
    assert list(data) == ["name", "software", "defaults", "rates", "times", "collectives"]
    assert data["name"] == {"en": "Kernels measured on Fake cuda card",
                            "zh": "Fake cuda card 实测算子"}
    assert data["software"] == "PyTorch 2.99, CUDA 12.9"
    assert data["defaults"]["kind"] == "measured"
    assert "Fake cuda card" in data["defaults"]["source"]
    for said in ("One direction", "bytes read plus bytes written", "nccl-tests", "--quick"):
        assert re.search(rf"^# .*{re.escape(said)}", text, re.MULTILINE), said


def test_the_processor_has_neither_transfers_nor_kernel_boundaries(run):
    done = run("--quick", "--cpu-ranks", "1")
    data = yaml.safe_load(done.stdout)
    assert {one["kernel"] for one in data["times"]} == {"host-time-per-operator"}
    assert data["collectives"] == []


def test_under_torchrun_the_first_rank_writes_the_collectives_of_all(run):
    done = [run("--quick", RANK=rank, LOCAL_RANK=rank, WORLD_SIZE="2", FAKE_CARDS="2")
            for rank in "01"]
    data = yaml.safe_load(done[0].stdout)
    assert (data["rates"], data["times"], len(data["collectives"])) == ([], [], 4)
    assert (done[1].returncode, done[1].stdout) == (0, "")
    assert all(one["ranks"] == 2 and "nodes" not in one for one in data["collectives"])


def test_under_torchrun_on_two_nodes(run):
    done = run("--quick", RANK="0", LOCAL_RANK="0", WORLD_SIZE="16", LOCAL_WORLD_SIZE="8")
    found = yaml.safe_load(done.stdout)["collectives"]
    assert {(one["ranks"], one["nodes"]) for one in found} == {(16, 2)}


def test_a_file_is_written_whole_and_never_over_another(run, tmp_path):
    assert run("--quick", "-o", "out.yml").stdout == ""
    first = (tmp_path / "out.yml").read_text(encoding="utf-8")
    assert yaml.safe_load(first)["rates"]
    (tmp_path / "out.yml").write_text("mine", encoding="utf-8")
    done = run("--quick", "-o", "out.yml")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "measure_card: out.yml exists already (--force overwrites a file).\n"
    assert (tmp_path / "out.yml").read_text(encoding="utf-8") == "mine"
    assert run("--quick", "-o", "out.yml", "--force").returncode == 0
    assert yaml.safe_load((tmp_path / "out.yml").read_text(encoding="utf-8"))["rates"]
    assert not list(tmp_path.glob(".*.tmp"))


def test_what_was_measured_is_not_lost_where_it_cannot_be_written(run):
    done = run("--quick", "-o", "/proc/out.yml")
    assert yaml.safe_load(done.stdout)["rates"]
    assert "/proc" in done.stderr
    assert "it goes to stdout" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(("args", "env", "why"), [
    ([], {"FAKE_KIND": "none"}, "no card is visible to PyTorch (--cpu-ranks 1 measures the proc"),
    (["--device-index", "2"], {}, "there is no card 2, PyTorch sees 1."),
    (["--device-index", "x"], {}, "argument --device-index: invalid int value: 'x'."),
    (["--ranks", "2"], {}, "--ranks are at least 2 and at most the 1 that there are."),
    (["--ranks", "1"], {"FAKE_CARDS": "4"}, "--ranks are at least 2 and at most the 4 that"),
    (["--device", "Nvidia H20"], {}, "'Nvidia H20' is not an identifier such as nvidia-h20."),
    (["-o", "no/where.yml"], {}, "the folder of no/where.yml does not exist."),
    (["-o", "torch", "--force"], {}, "torch exists already (--force overwrites a file)."),
    (["--device", "h20.yml"], {}, "'h20.yml' is not an identifier such as nvidia-h20."),
    (["--cpu-ranks", "-1"], {}, "--ranks are at least 2 and at most the -1 that there are."),
    (["--fast"], {}, "unrecognized arguments: --fast."),
    (["--table"], {}, "--table needs --device, more than 0 seconds, and measure_operators.py"),
    (["--table", "0", "--device", "mine"], {}, "--table needs --device, more than 0 seconds, and"),
    (["--table", "soon"], {}, "argument --table: invalid float value: 'soon'."),
])
def test_what_makes_no_sense_is_refused_in_one_sentence(run, args, env, why):
    done = run(*args, **env)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"measure_card: {why}")
    assert done.stderr.count("\n") == 1


def table(done):
    """Rows of a table by operator; shapes as numbers."""
    assert done.returncode == 0, done.stderr
    found = {}
    for row in csv.DictReader(done.stdout.splitlines()):
        found.setdefault(row["operator"], []).append({key: value for key, value in row.items()
                                                      if value})
    return found


def test_the_table_has_a_row_per_operator_and_shape(run):
    rows = table(run("--quick", "--table", "--device", "mine"))["gemm"]
    assert {row["dtype"] for row in rows} == {"bf16", "fp8", "fp8-block"}
    for row in rows:
        assert set(row) == {"operator", "card", "engine", "kernel", "dtype", "time", "rows",
                            "columns", "depth"}
        assert (row["card"], row["engine"]) == ("mine", "pytorch@2.99")
        rows = max(int(row["rows"]), 4 if row["dtype"] == "fp8-block" else 1)
        operations = 2 * rows * int(row["columns"]) * int(row["depth"])
        assert float(row["time"]) == pytest.approx(operations / 1e14, rel=1e-3)


def test_the_catalogue_reads_the_table(run, tmp_path):
    done = run("--quick", "--table", "0.1", "--device", "mine", "-o", "mine.csv", FAKE_CARDS="2")
    assert done.returncode == 0, done.stderr
    read = shelf(tmp_path / "mine.csv")
    assert read.operators() == ("gemm", "all_reduce", "all_to_all")
    assert read.cards() == ("mine",)
    assert all(read.table("gemm")["time"] > 0)


def test_what_a_pytorch_lacks_is_left_out_of_the_table_and_said(run):
    done = run("--quick", "--table", "--device", "mine")
    assert set(table(done)) == {"gemm"}
    assert "not measured: mla_prefill bf16: module 'torch' has no attribute" in done.stderr


def test_no_time_is_a_table_without_what_was_left_out(run):
    done = run("--quick", "--table", "1e-9", "--device", "mine")
    assert table(done) == {}
    assert re.search(r"gemm: 0 shapes, \d+ left out, no time", done.stderr)


def test_what_a_share_of_the_time_is_too_short_for_follows_in_what_others_leave(monkeypatch):
    said = []
    table = measure_operators.Table(
        lambda *_: [2.0], SimpleNamespace(table=60, quick=True, device="mine"), said.append)
    monkeypatch.setitem(measure_operators.SHARES, "gemm", -1)
    monkeypatch.setattr(table, "operators", {
        name: lambda *_: [({"dtype": "bf16", "rows": rows}, list) for rows in (1, 2)]
        for name in ("gemm", "experts")})
    card = SimpleNamespace(api=True, looped=False)
    table.measure(card, measure_card.QUICK, measure_card.Report())
    assert [row["operator"] for row in table.found] == ["experts"] * 2 + ["gemm"] * 2
    assert said == ["gemm: 2 shapes", "experts: 2 shapes"]


def test_a_table_timed_without_graphs_says_so(run):
    asked = ("--quick", "--table", "0.1", "--device", "mine")
    done = run(*asked, FAKE_NO_GRAPH="1")
    assert table(done)["gemm"]
    assert "some were timed without a graph" in done.stderr
    assert "without a graph" not in run(*asked).stderr


def test_collectives_are_rows_too(run):
    both = table(run("--table", "0.1", "--quick", "--device", "mine", FAKE_CARDS="2"))
    alone = table(run("--table", "--quick", "--device", "mine", RANK="0", LOCAL_RANK="0",
                      WORLD_SIZE="2", FAKE_CARDS="2"))
    assert set(alone) == {"all_reduce", "all_to_all"}
    assert alone["all_reduce"] == both["all_reduce"]
    assert [(row["ranks"], row["bytes"], row["time"]) for row in alone["all_reduce"]] == [
        ("2", "1024", "2e-05"), ("2", "32768", "3.277e-07"), ("2", "1048576", "1.049e-05")]


def test_the_table_needs_its_other_file(run, tmp_path):
    alone = tmp_path / "alone" / SCRIPT.name
    alone.parent.mkdir()
    alone.write_bytes(SCRIPT.read_bytes())
    done = subprocess.run([sys.executable, alone, "--table", "--device", "mine"],
                          capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("measure_card: --table needs --device, more than 0 seconds, and "
                           "measure_operators.py beside it.\n")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_a_processor_s_table(run):
    rows = table(run("--quick", "--table", "--device", "mine", "--cpu-ranks", "1", fake=False))
    assert {"gemm", "experts", "mla_decode", "mla_prefill"} <= set(rows)
    assert all(float(row["time"]) > 0 for found in rows.values() for row in found)


@pytest.mark.skipif(importlib.util.find_spec("torch") is not None, reason="PyTorch is here")
def test_without_pytorch_it_says_so(run):
    done = run(fake=False)
    assert done.returncode == 2
    assert done.stderr.startswith("measure_card: PyTorch is needed and cannot be imported (")


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="PyTorch is not installed")
def test_with_pytorch_itself_on_the_processor(run, tmp_path):
    done = run("--quick", "--cpu-ranks", "2", "-o", "out.yml", fake=False)
    assert done.returncode == 0, done.stderr
    entry = load("microbenchmarks", tmp_path / "out.yml")
    assert {one.dtype for one in entry.rates} >= {"fp32", "bf16", "int8"}
    assert len(entry.collectives) == 4


def test_lines_of_the_page_are_those_of_a_measured_card():
    page, measured = (TESTS.parent / name for name in (
        "book/measure.md", "params/templates/example-h100.yml"))
    shown = re.findall(r"(?sm)^```yaml\n(defaults:.*?)\n```", page.read_text(encoding="utf-8"))
    assert len(shown) == 2  # in either language
    assert {*"\n".join(shown).split("\n")} <= {*measured.read_text(encoding="utf-8").split("\n")}


def test_help_is_the_documentation(run):
    done = run("--help")
    assert done.returncode == 0
    assert "python measure_card.py --device nvidia-h20" in done.stdout
    assert "Bus bandwidth as nccl-tests defines it" in " ".join(done.stdout.split())


@pytest.mark.parametrize("script", [SCRIPT, SCRIPT.with_name("measure_operators.py")])
def test_it_stands_alone_and_on_older_pythons(script):
    tree = ast.parse(script.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {name.name.split(".")[0] for node in ast.walk(tree)
                if isinstance(node, ast.Import) for name in node.names}
    imported |= {(node.module or "").split(".")[0] for node in ast.walk(tree)
                 if isinstance(node, ast.ImportFrom)}
    assert imported <= {*sys.stdlib_module_names, "torch", "torch_npu"}
