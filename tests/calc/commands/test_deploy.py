"""``deploy`` and ``calibrate RESULTS``: from a deployment to files, and from results back."""

import contextlib
import io
import json
import shutil

import pytest

import catalogue
from calc.commands.main import main

SMALL = "h200-r1-vllm-tp8"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory):
    """A deployment's directory, which nobody changes, and the answer."""
    folder, said = tmp_path_factory.mktemp("written") / "out", io.StringIO()
    with contextlib.redirect_stdout(said):
        assert main(("deploy", SMALL, "-o", str(folder), "--json", "--hosts", "gpu-7.example.org",
                     "--flag=--trust-remote-code")) == 0
    return folder, json.loads(said.getvalue())


@pytest.fixture
def written(deployed, tmp_path):
    return shutil.copytree(deployed[0], tmp_path / "out")


def bench(folder, factor=1.0, spelt="json"):
    """Results as the engines' clients write them, off by a factor."""
    (folder / "bench/results").mkdir()
    for run in json.loads((folder / "bench/plan.json").read_text("utf-8"))["runs"]:
        asked, predicted = run["asked"], run["predicted"]
        data = {"completed": asked["requests"],
                "total_input_tokens": asked["requests"] * asked["input_tokens"],
                "total_output_tokens": asked["requests"] * asked["output_tokens"],
                "mean_ttft_ms": 1e3 * predicted["ttft"]["value"],
                "mean_tpot_ms": 1e3 * factor * predicted["tpot"]["value"],
                "output_throughput": predicted["output_throughput"]["value"] / factor}
        (folder / f"bench/results/{run['name']}.{spelt}").write_text(
            "{}\n" * (spelt == "jsonl") + json.dumps(data) + "\n", encoding="utf-8")
    return folder / "bench/results"


def calibrated(cli, results):
    code, out, err = cli("calibrate", str(results), "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_answer_lists_files_and_predictions(cli, deployed):
    folder, answer = deployed
    assert {path.relative_to(folder).as_posix()
            for path in folder.rglob("*") if path.is_file()} == set(answer["files"])
    pool = answer["pools"]["serve"]
    assert pool["servers"] == ["gpu-7.example.org:8000"]
    assert "--trust-remote-code" in (folder / "nodes/serve-0.sh").read_text("utf-8")
    estimate = json.loads(cli("estimate", SMALL, "--json")[1])
    assert pool["startup_line"] == estimate["startup_line"]
    assert pool["startup_line"]["length"] == pool["longest"]
    assert estimate["quantities"]["cache_tokens"] == pool["startup_line"]["tokens"]
    high = estimate["quantities"]["steady_tpot"]["high"]
    assert pool["predicted"]["tpot"]["high"] == high
    assert pool["alerts"]["TimePerOutputTokenAbovePrediction"]["threshold"] == high


@pytest.mark.parametrize(("spelt", "factor", "outside"), [
    ("json", 1.0, set()), ("jsonl", 1.0, set()), ("json", 4.0, {"tpot", "output_throughput"})])
def test_results_inside_and_outside_of_their_intervals(cli, written, spelt, factor, outside):
    data = calibrated(cli, bench(written, factor, spelt))
    assert {row["metric"] for row in data["rows"] if not row["inside"]} == outside
    assert data["inside"] == sum(row["inside"] for row in data["rows"])
    assert data["of"] == len(data["rows"]) == 18
    if factor == 1:
        assert all(row["measured"] == pytest.approx(row["predicted"]) for row in data["rows"])


def test_written_calibration_is_used_and_kept(cli, written):
    results = str(bench(written, 1.3))
    assert cli("calibrate", results, "--write")[::2] == (0, "")
    measured, plan, fitted = [str(written / "calibration" / name) for name in (
        "measured.yml", "scenario.yml", "calibration.yml")]
    assert cli("check", measured, plan, fitted)[0] == 0
    with_fit, plain = (json.loads(cli("estimate", plan, *more, "--json")[1])["quantities"]["tpot"]
                       for more in (("--calibration", fitted), ()))
    assert with_fit["value"] > plain["value"]
    assert len(catalogue.load_scenario(plan).measured.rows) == 5  # a run with a prefix is no row
    text = (written / "calibration/measured.yml").read_text("utf-8") + "# mine\n"
    (written / "calibration/measured.yml").write_text(text, "utf-8")
    code, _, err = cli("calibrate", results, "--write")
    assert (code, err.count("\n")) == (2, 1)
    assert (written / "calibration/measured.yml").read_text("utf-8") == text
