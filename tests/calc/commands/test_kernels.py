"""``kernels``: what is said of tables of measured operators."""

from __future__ import annotations

import json

import numpy as np
import pytest

import catalogue
from calc.kernels.matmuls import DENSE
from calc.kernels.rows.of_every_operator import of_card
from catalogue import ROOT

TEMPLATE = str(ROOT / "templates" / "kernels.csv")


def test_tables_are_listed_by_operator_card_and_engine(cli):
    code, out, _ = cli("kernels", "list", "--tables", TEMPLATE)
    assert code == 0
    assert "my-card (not in the catalogue)" in out
    assert out.endswith("4 rows of 4 operators.\n")
    _, out, _ = cli("kernels", "list", "--tables", TEMPLATE, "--operator", "gemm", "--json")
    assert json.loads(out)["rows"] == [{
        "operator": "gemm", "card": "my-card", "in_catalogue": False, "engine": "pytorch@2.11.0",
        "rows": 1}]


def test_what_is_wrong_with_a_table_is_told_with_an_example(cli, tmp_path):
    table = tmp_path / "mine.csv"
    table.write_text("operator,card,engine,dtype,rows,columns,depth,time [us]\n" + "".join(
        f"gemm,nvidia-h200-sxm,vllm@0.24.0,bf16,{rows},7168,2048,{time}\n"
        for rows, time in ((1, 10), (1, 10), (2, 10), (4096, 1))))
    code, out, _ = cli("kernels", "check", "--tables", str(table))
    assert code == 0
    assert "copy: 1 row, left out" in out
    assert "below-roofline: 1 row, left out" in out
    assert out.endswith("4 rows checked, 2 left out of fits.\n")
    _, out, _ = cli("kernels", "check", "--tables", str(table), "--json")
    answer = json.loads(out)
    assert (answer["checked"], answer["left_out"]) == (4, 2)
    assert answer["findings"][0]["examples"][0].startswith(f"{table}, line 5: bf16, rows 4096")


def test_a_wrong_table_or_name_is_one_sentence(cli, tmp_path):
    code, out, said = cli("kernels", "list", "--tables", str(tmp_path))
    assert (code, out) == (2, "")
    assert said.startswith(f"{tmp_path}: holds no table, expected")
    code, _, said = cli("kernels", "check", "--tables", TEMPLATE, "--engine", "nccl@2.27")
    assert code == 2
    assert said == f"{TEMPLATE}: no row has the engine 'nccl@2.27', expected nccl@2.27.3.\n"


def _of_a_law(folder, outputs, depths, times=lambda rows: 1):
    """A table that the law of a dense matmul made, by so many times; what asks for its fit."""
    rows, out, depth = (grid.ravel() for grid in np.meshgrid(
        2.0 ** np.arange(14), outputs, depths))
    device = catalogue.load_device("nvidia-h200-sxm")
    card = of_card(device, catalogue.load("mechanisms", "nvidia-h200"), "bf16", 2)
    taken = times(rows) * DENSE.time({"rows": rows, "columns": out, "depth": depth, **card}, {
        "gemm_efficiency": 0.7, "matmul_latency": 4e-6, "depth_latency": 6e-10,
        "activation_traffic": 4.0})
    table = folder / "mine.csv"
    table.write_text("operator,card,engine,dtype,rows,columns,depth,time [s]\n" + "".join(
        f"gemm,nvidia-h200-sxm,vllm@0.24.0,bf16,{m:.0f},{n:.0f},{k:.0f},{time:.9g}\n"
        for m, n, k, time in zip(rows, out, depth, taken, strict=True)))
    return ("kernels", "fit", "--tables", str(table), "--card", "nvidia-h200-sxm", "--engine",
            "vllm")


def test_laws_are_fitted_to_a_table_and_written_as_a_file_that_loads(cli, tmp_path):
    """A table that the law of a dense matmul made: it is found again, to the digits printed."""
    asked = _of_a_law(tmp_path, [512.0, 2112, 7168, 24576], [256.0, 1536, 2048, 7168])
    code, said, _ = cli(*asked, "--json")
    assert code == 0
    fit, = json.loads(said)["fits"]
    assert fit["parameters"]["matmul_latency"]["value"] == pytest.approx(4e-6, rel=0.01)
    assert fit["judged"]["most"] < 0.01
    written = tmp_path / "fits.yml"
    code, said, _ = cli(*asked, "-o", str(written), "--source", "aic-h200", "--date", "2026-10")
    assert code == 0
    assert said.endswith(f"{written} written.\n")
    statement = catalogue.load("fits", str(written)).statements[0]
    assert statement.mechanisms["gemm_efficiency.bf16"].value == 0.7


def test_a_kernel_that_takes_over_is_told_and_written_into_the_file(cli, tmp_path):
    """From 128 to 512 rows the times of the table are 1.8 times those of its law."""
    asked = _of_a_law(tmp_path, 128.0 * 2 ** np.arange(8), 128.0 * 2 ** np.arange(7),
                      lambda rows: np.where((rows >= 128) & (rows <= 512), 1.8, 1))
    written = tmp_path / "fits.yml"
    _, said, _ = cli(*asked, "-o", str(written), "--source", "aic-h200", "--date", "2026-10")
    assert "misses because" in said
    assert "at rows 128 to 512" in said
    measured, = catalogue.load("fits", str(written)).statements[0].measured
    switch = measured.missed.switches[0]
    assert (switch.column, switch.first, switch.last) == ("rows", 128, 512)
    assert switch.factor == pytest.approx(1.8, rel=0.15)
    _, said, _ = cli(*asked, "--json")
    fit, = json.loads(said)["fits"]
    assert fit["missed"]["switches"][0]["first"] == 128


@pytest.mark.parametrize(("given", "said"), [
    ([], "a fit is of one card and one engine, expected --card and --engine"),
    (["--card", "nvidia-h200-sxm", "--engine", "vllm", "-o", "x.yml"],
     "a file of fits cites its tables, expected --source and --date"),
    (["--card", "my-card", "--engine", "pytorch"],
     "'my-card' has no file in params/devices/, whose peaks a law needs")])
def test_a_fit_that_cannot_be_is_one_sentence(cli, given, said):
    code, out, error = cli("kernels", "fit", "--tables", TEMPLATE, *given)
    assert (code, out) == (2, "")
    assert said in error
    assert error.count("\n") == 1
