"""``calibrate``, ``validate`` and ``kernels``: a reader's own files."""

import json
import shutil

from catalogue import ROOT

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


def test_own_rows_are_predicted_or_refused(cli, tmp_path):
    plan, rows = tmp_path / "plan.yml", tmp_path / "rows.yml"
    shutil.copy(TEMPLATES / "measurements.yml", rows)
    plan.write_text((TEMPLATES / "scenario.yml").read_text("utf-8") + "\nmeasured: rows.yml\n")
    results = answered(cli, "dev", "validate", "--system", str(plan))["results"]
    assert {each["metric"]: each["rows"] for each in results} == {
        "tpot": 3, "ttft": 3, "output_throughput": 2}  # one cell of the last is empty
    rows.write_text(rows.read_text("utf-8").replace("concurrency: request", 'clients: "1"'))
    code, _, err = cli("dev", "validate", "--system", str(plan.rename(tmp_path / "other.yml")))
    assert (code, err.count("\n")) == (2, 1)
    assert "needs the column 'concurrency'" in err
