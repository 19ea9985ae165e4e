"""``calibrate``, ``validate``, ``kernels`` and ``stale``: files of a reader's own, and counts."""

import json
import shutil

import numpy as np
import pytest

import catalogue
from calc.kernels.matmuls import DENSE
from calc.kernels.rows.of_every_operator import of_card
from catalogue import ROOT, ageing

TEMPLATES = ROOT / "templates"
SYSTEM = "s2-other-engine"


def answered(cli, *args):
    code, out, err = cli(*args, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_calibration_is_fitted_stored_and_used(cli, tmp_path):
    own = tmp_path / "mine.yml"
    shipped = (ROOT / "calibrations" / f"{SYSTEM}-tpot.yml").read_text(encoding="utf-8")
    text = shipped.partition("\nfitted:")[0] + "\n# a comment\n"
    own.write_text(text, encoding="utf-8")
    code, _, err = cli("estimate", SYSTEM, "--calibration", str(own))
    assert code == 2
    assert "calibrate mine --write" in err
    fitted = answered(cli, "calibrate", str(own))
    assert own.read_text(encoding="utf-8") == text
    assert len(fitted["covariance"]) == len(fitted["values"]) == len(fitted["ranges"])
    for name, (low, high) in fitted["ranges"].items():
        assert low < fitted["values"][name] < high
    assert cli("calibrate", str(own), "--write")[0] == 0
    stored = own.read_text(encoding="utf-8")
    assert stored.startswith(text)
    assert cli("check", str(own))[::2] == (0, "")
    assert cli("calibrate", str(own), "--write")[0] == 0
    assert own.read_text(encoding="utf-8") == stored
    assert answered(cli, "estimate", SYSTEM, "--calibration", str(own))["calibration"]


@pytest.fixture
def plan(tmp_path):
    """A deployment whose file names measured rows of the reader's."""
    shutil.copy(TEMPLATES / "measurements.yml", tmp_path / "rows.yml")
    text = (TEMPLATES / "scenario.yml").read_text(encoding="utf-8")
    (tmp_path / "plan.yml").write_text(text + "\nmeasured: rows.yml\n", encoding="utf-8")
    return tmp_path / "plan.yml"


def test_own_rows_are_predicted_or_refused(cli, plan):
    results = answered(cli, "validate", "--system", str(plan))["results"]
    assert {each["metric"]: each["rows"] for each in results} == {
        "tpot": 3, "ttft": 3, "output_throughput": 2}  # one cell of the last is empty
    rows = plan.with_name("rows.yml")
    rows.write_text(rows.read_text("utf-8").replace("concurrency: request", 'clients: "1"'))
    code, _, err = cli("validate", "--system", str(plan))
    assert (code, err.count("\n")) == (2, 1)
    assert "needs the column 'concurrency'" in err


def test_validation_counts_rows(cli):
    results = answered(cli, "validate", "--system", SYSTEM, "--metric", "tpot")["results"]
    assert {(row["system"], row["metric"]) for row in results} == {(SYSTEM, "tpot")}
    assert results[0]["rows"] == len(catalogue.load_scenario(SYSTEM).measured.rows)
    energy = answered(cli, "validate", "--energy")
    assert energy["summary"]["energy_per_token"]["rows"] == 22


def of_a_law(folder, outputs, depths, times=lambda rows: 1):
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
            "vllm", "-o", str(folder / "fits.yml"), "--source", "aic-h200", "--date", "2026-10")


def test_law_and_kernel_that_takes_over_are_found_again(cli, tmp_path):
    """From 128 to 512 rows the times of one table are 1.8 times those of its law."""
    asked = of_a_law(tmp_path, [512.0, 2112, 7168, 24576], [256.0, 1536, 2048, 7168])
    fit, = answered(cli, *asked[:8])["fits"]
    assert fit["parameters"]["matmul_latency"]["value"] == pytest.approx(4e-6, rel=0.01)
    assert fit["judged"]["most"] < 0.01
    assert cli(*of_a_law(tmp_path, 128.0 * 2 ** np.arange(8), 128.0 * 2 ** np.arange(7), lambda
                         rows: np.where((rows >= 128) & (rows <= 512), 1.8, 1)))[0] == 0
    measured, = catalogue.load("fits", str(tmp_path / "fits.yml")).statements[0].measured
    switch = measured.missed.switches[0]
    assert (switch.column, switch.first, switch.last) == ("rows", 128, 512)
    assert switch.factor == pytest.approx(1.8, rel=0.15)


def test_unsound_rows_are_left_out(cli, tmp_path):
    """One row is a copy of another, and one is faster than the card multiplies."""
    table = tmp_path / "mine.csv"
    table.write_text("operator,card,engine,dtype,rows,columns,depth,time [us]\n" + "".join(
        f"gemm,nvidia-h200-sxm,vllm@0.24.0,bf16,{rows},7168,2048,{time}\n"
        for rows, time in ((1, 10), (1, 10), (2, 10), (4096, 1))))
    answer = answered(cli, "kernels", "check", "--tables", str(table))
    assert (answer["checked"], answer["left_out"]) == (4, 2)
    assert {finding["kind"] for finding in answer["findings"]} >= {"copy", "below-roofline"}
    assert answer["findings"][0]["examples"][0].startswith(f"{table}, line 5: ")


def test_stale_statements_are_counted(cli):
    answer = answered(cli, "stale", "--as-of=2026-11-25", "--kind=prices")
    of = answer["totals"]["prices"]
    assert of["old"] == len(answer["old"]) < of["dated"]
    assert of["superseded"] == len(answer["superseded"])
    assert all(row["age"] >= answer["older"] for row in answer["old"])
    every = answered(cli, "stale", "--as-of=2026-11-25", "--kind=prices", "--older=0")
    assert len(every["old"]) == of["dated"]
    assert list(answer["renewing"]) == ["prices"]
    assert "prices" in ageing.DATED
