"""A reader's own measured rows: held against predictions, fitted, and one sentence where not."""

import json
import shutil

import pytest

import catalogue

TEMPLATES = catalogue.ROOT / "templates"


@pytest.fixture
def plan(tmp_path):
    """A deployment whose file names rows of the reader's, with a calibration of it."""
    shutil.copy(TEMPLATES / "measurements.yml", tmp_path / "rows.yml")
    text = (TEMPLATES / "scenario.yml").read_text(encoding="utf-8")
    path = tmp_path / "plan.yml"
    path.write_text(text + "\nmeasured: rows.yml\n", encoding="utf-8")
    fit = (TEMPLATES / "calibration.yml").read_text(encoding="utf-8")
    (tmp_path / "fit.yml").write_text(fit.replace("scenario.yml ", "plan.yml "), encoding="utf-8")
    return path


def test_they_are_held_against_their_prediction(cli, plan):
    code, out, err = cli("validate", "--system", str(plan), "--json")
    assert code == 0, err
    results = {each["metric"]: each for each in json.loads(out)["results"]}
    assert {name: each["rows"] for name, each in results.items()} == {
        "tpot": 3, "ttft": 3, "output_throughput": 2}  # one cell of the last is empty
    measured = catalogue.load_scenario(str(plan)).measured
    assert measured is not None


def test_they_are_fitted_and_the_fit_is_used(cli, plan):
    fit = str(plan.with_name("fit.yml"))
    assert cli("calibrate", fit, "--write")[0] == 0
    said = json.loads(cli("estimate", str(plan), "--calibration", fit, "--json")[1])
    plain = json.loads(cli("estimate", str(plan), "--json")[1])
    assert said["calibration"]
    assert said["quantities"]["tpot"]["value"] != plain["quantities"]["tpot"]["value"]


@pytest.mark.parametrize(("file", "old", "new", "says"), [
    ("plan.yml", "measured: rows.yml", "", "expected 'measured: my-rows.yml' in its file"),
    ("rows.yml", "concurrency: request", 'clients: "1"', "needs the column 'concurrency'"),
    ("rows.yml", "ttft: ms, tpot: ms, output_throughput: token/s",
     "a: ms, b: ms, c: token/s", "nothing in it is predicted"),
])
def test_what_is_missing_is_one_sentence(cli, plan, file, old, new, says):
    path = plan.with_name(file)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    code, _, err = cli("validate", "--system", str(plan))
    assert code == 2
    assert says in err
    assert err.count("\n") == 1
