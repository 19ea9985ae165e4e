"""Measuring a card: on a mock of PyTorch with a card of known speed (support/_fake_torch.py)."""

from __future__ import annotations

import ast
import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from catalogue import load, units
from catalogue.tables import shelf
from tools import measure_card

TESTS = Path(__file__).resolve().parents[1]
SCRIPTS = [TESTS.parent / "tools" / name for name in ("measure_card.py", "measure_operators.py")]
NPU = """__version__ = "2.99.post1"
import torch
def npu_format_cast(weight, layout): return weight
def npu_quant_matmul(x1, x2, scale, *, pertoken_scale, output_dtype): torch.mm(x1, x2)
"""


def run(folder: Path, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the script in `folder` with the mock and one CUDA card unless `env` asks for others."""
    (folder / "torch").mkdir(exist_ok=True)
    mock = (TESTS / "support" / "_fake_torch.py").read_text("utf-8")
    (folder / "torch/__init__.py").write_text(mock, "utf-8")
    (folder / "torch_npu.py").write_text(NPU, "utf-8")
    return subprocess.run([sys.executable, SCRIPTS[0], "--quick", *args], capture_output=True,
                          text=True, cwd=folder, check=False,
                          env=os.environ | {"PYTHONPATH": str(folder)} | env)


def measured(folder: Path, *args: str, **env: str) -> dict:
    """The measured file, which the catalogue accepts."""
    done = run(folder, *args, **env)
    assert done.returncode == 0, done.stderr
    (folder / "measured.yml").write_text(done.stdout, "utf-8")
    assert all(one.rate.kind == "measured"
               for one in load("microbenchmarks", folder / "measured.yml").rates)
    return yaml.safe_load(done.stdout)


def values(data: dict, kernel: str, dtype: str | None = None) -> list[str]:
    return [one["rate"]["value"] for one in data["rates"]
            if (one["kernel"], one.get("dtype")) == (kernel, dtype)]


def test_rates_and_times_of_a_card_of_known_speed(tmp_path: Path) -> None:
    data = measured(tmp_path)
    for dtype in ("fp32", "bf16", "fp16", "int8", "fp8"):
        assert values(data, "gemm", dtype)[-1] == f"100 {'TOPS' if dtype == 'int8' else 'TFLOPS'}"
    assert values(data, "weight-streaming", "bf16") == ["25 TB/s"]  # rows 1, 4 and 16
    for kernel, speed in (("copy", 1e12), ("host-to-device", 25e9), ("device-to-host", 25e9)):
        assert units.parse(*values(data, kernel), "B/s") == speed
    times = {one["kernel"]: one["time"]["value"] for one in data["times"]}
    assert (times["kernel-boundary"], times["graph-kernel-boundary"]) == ("2 us", "1 us")


def test_collectives_of_a_power_of_two_ranks(tmp_path: Path) -> None:
    ends = {(one["operation"], one["payload"]["value"]): one
            for one in measured(tmp_path, FAKE_CARDS="3")["collectives"]}
    assert {one["ranks"] for one in ends.values()} == {2}
    assert ends["all-reduce", "1 KiB"]["time"]["value"] == "20 us"
    assert ends["all-to-all", "1 MiB"]["bus_bandwidth"]["value"] == "100 GB/s"


def test_ascend_card(tmp_path: Path) -> None:
    data = measured(tmp_path, "--device", "ascend-910b2", FAKE_KIND="npu")
    assert data["software"] == "PyTorch 2.99, torch_npu 2.99.post1"
    assert set(values(data, "gemm", "int8")) == {"100 TOPS"}


@pytest.mark.parametrize(("operation", "factor"), [
    ("all-reduce", 1.75), ("all-to-all", 0.875), ("all-gather", 0.875), ("reduce-scatter", 0.875)])
def test_bus_bandwidth_as_in_nccl_tests(operation: str, factor: float) -> None:
    assert measure_card.bus_bandwidth(operation, 1000, 8, 0.5) == factor * 2000


def test_table_of_operators_and_collectives(tmp_path: Path) -> None:
    done = run(tmp_path, "--table", "0.1", "--device", "mine", "-o", "mine.csv", FAKE_CARDS="2")
    assert done.returncode == 0, done.stderr
    assert shelf(tmp_path / "mine.csv").operators() == ("gemm", "all_reduce", "all_to_all")
    for row in csv.DictReader((tmp_path / "mine.csv").read_text("utf-8").splitlines()):
        if row["operator"] == "gemm" and row["dtype"] != "fp8-block":
            operations = 2 * int(row["rows"]) * int(row["columns"]) * int(row["depth"])
            assert float(row["time"]) == pytest.approx(operations / 1e14, rel=1e-3)


@pytest.mark.parametrize("args", [["--device-index", "2"], ["--ranks", "2"], ["--table"],
                                  ["--device", "Nvidia H20"], ["-o", "no/where.yml"], ["--fast"]])
def test_wrong_arguments_are_refused_in_one_sentence(tmp_path: Path, args: list[str]) -> None:
    done = run(tmp_path, *args)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_script_needs_only_python_3_9_and_pytorch(script: Path) -> None:
    tree = ast.parse(script.read_text("utf-8"), feature_version=(3, 9))
    imported = {name.name.split(".")[0] for node in ast.walk(tree)
                if isinstance(node, ast.Import) for name in node.names}
    imported |= {(node.module or "").split(".")[0] for node in ast.walk(tree)
                 if isinstance(node, ast.ImportFrom)}
    assert imported <= {*sys.stdlib_module_names, "torch", "torch_npu"}
