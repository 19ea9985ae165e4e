"""A sweep as a file and as flags state it, and the messages for what cannot be a sweep."""

import json

import pytest

import catalogue
from calc.sweeping.definition import is_sweep, read

SCENARIO = "h200-r1-vllm-tp8"
FILE = """
scenario: h200-r1-vllm-tp8
set: {precision: w4a16-awq}
axes:
  workload.concurrency: [1, "8..32:x2"]
  workload.input_tokens: 100..400:+100
minimise: [tpot, ttft]
maximise: output_throughput
"""
LIST, OBJECTIVES = '[1, "8..32:x2"]', "minimise: [tpot, ttft]"
NO_RANGE = ("is not a range, expected LOW..HIGH (whole numbers), LOW..HIGH:+STEP, LOW..HIGH:xFACTOR"
            " or LOW..HIGH:/COUNT (so many, evenly).\n")
FILE_ERRORS = [
    ("scenario: h200", "scenari: h200", ":2: unknown key 'scenari', did you mean 'scenario'.\n"),
    ("scenario: h200-r1-vllm-tp8", "scenario: 3",
     ":2: scenario: expected a text, found '3'.\n"),
    (LIST, "[1, 0]", ":5: workload.concurrency: workload.concurrency: '0' is out of range, expected"
     " more than 0.\n"),
    ("100..400:+100", "400..100", ":6: workload.input_tokens: '400..100' is not a range, expected "
     "two ends in one unit, the lower one first.\n"),
    ("{precision: w4a16-awq}", "[1]", ":3: set: expected a group of keys, found '[1]'.\n"),
    ("[tpot, ttft]", "3", ":7: minimise: expected a list, found '3'.\n"),
    (OBJECTIVES, "best: 7.5", ":7: best: expected a whole number, found '7.5'.\n"),
    (OBJECTIVES, "all: 1", ":7: all: expected true or false, found '1'.\n")]
FLAG_ERRORS = [
    ([], "a sweep needs an axis, expected --axis PATH=VALUES.\n"),
    (["--axis=concurrency"], "--axis concurrency: expected PATH=VALUES.\n"),
    (["--axis=workload.concurency=1,2"], "--set workload.concurency: unknown key 'concurency', the "
     "nearest names are concurrency, context_tokens, acceptance.\n"),
    (["--axis=concurrency=1..9:x1"], f"--axis concurrency: '1..9:x1' {NO_RANGE}"),
    (["--axis=hbm_efficiency=1.5"],
     "--axis hbm_efficiency: hbm_efficiency: '1.5' is out of range, expected at most 1.\n"),
    (["--axis=concurrency=1", "--min=tpto"],
     "there is no quantity 'tpto', the nearest names are tpot, ttft, output_tokens.\n"),
    (["--axis=concurrency=1", "--best=3"],
     "the best are those by one objective, expected one --min or --max.\n"),
    (["--axis=concurrency=1", "--all"],
     "--all keeps every deployment in files, expected -o FOLDER beside it.\n"),
    (["--axis=concurrency=1", "--scheduler=nonsense://x"], "--scheduler nonsense://x: no Dask "
     "scheduler answers there (ValueError), expected an address like tcp://10.0.0.1:8786.\n")]


@pytest.mark.parametrize(("old", "new", "message"), FILE_ERRORS)
def test_errors_of_a_file(cli, tmp_path, old, new, message):
    path = tmp_path / "sweep.yml"
    path.write_text(FILE.replace(old, new))
    assert cli("sweep", str(path)) == (2, "", f"{path}{message}")


@pytest.mark.parametrize(("flags", "message"), FLAG_ERRORS)
def test_errors_of_flags(cli, flags, message):
    assert cli("sweep", SCENARIO, *flags) == (2, "", message)


def test_a_file_and_flags_state_the_same_sweep(cli, tmp_path):
    path = tmp_path / "sweep.yml"
    path.write_text(FILE)
    flags = ["--axis", "workload.concurrency=1,8..32:x2", "--axis",
             "workload.input_tokens=100..400:+100", "--set", "precision=w4a16-awq",
             "--min=tpot", "--min=ttft", "--max=output_throughput"]
    by_file, by_flags, moved = (json.loads(cli("sweep", *arguments, "--json")[1]) for arguments in (
        [str(path)], [SCENARIO, *flags], [str(path), "--axis", "workload.concurrency=2"]))
    assert by_flags | {"asked": by_file["asked"]} == by_file
    assert moved["rows"] == 4
    assert {row["settings"]["workload.concurrency"] for row in moved["deployments"]} == {"2"}


def test_a_file_with_a_scenario_beside_it(tmp_path):
    path = tmp_path / "sweep.yml"
    path.write_text(FILE.replace("h200-r1-vllm-tp8", "mine.yml").replace(OBJECTIVES, "best: 7")
                    + "quantities: tpot\nchunk: 99\n")
    (tmp_path / "mine.yml").write_text(
        (catalogue.ROOT / "scenarios" / f"{SCENARIO}.yml").read_text())
    sweep = read(str(path), {})
    assert sweep.scenario == str(tmp_path / "mine.yml")
    assert (sweep.settings, sweep.objectives) == (["precision=w4a16-awq"], {"output_throughput": 1})
    assert (sweep.best, sweep.all, sweep.quantities, sweep.chunk) == (7, False, ["tpot"], 99)
    assert [*sweep.axes] == ["workload.concurrency", "workload.input_tokens"]
    assert [is_sweep(str(each)) for each in (path, SCENARIO, tmp_path / "mine.yml")] == [
        True, False, False]


def test_a_flag_replaces_what_a_file_states_of_the_same_path(tmp_path):
    path = tmp_path / "sweep.yml"
    path.write_text("scenario: s\nset: {c: 1, d: 2}\naxes: {a: '1,2', b: '1,2'}\nall: true\n")
    moved = read(str(path), {"axes": {"c": "1,2"}})
    assert ([*moved.axes], moved.settings) == (["a", "b", "c"], ["d=2"])
    fixed = read(str(path), {"set": {"b": "3", "c": "4"}})
    assert ([*fixed.axes], fixed.settings) == (["a"], ["d=2", "b=3", "c=4"])
    assert read(str(path), {"minimise": ["tpot"]}).all is False
