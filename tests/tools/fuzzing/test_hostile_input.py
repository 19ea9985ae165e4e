"""What a reader's files and arguments may do to a command: no more than one sentence of theirs."""

import json
from contextlib import nullcontext

import pytest
from _options import ended_well, finite

import catalogue
from calc.commands import check
from calc.commands.deciding import capacity
from calc.launching.deployment import deployment
from catalogue.reading.errors import LONGEST_SENTENCE, sentence

PLAN = "h200-r1-vllm-tp8"
RESULT = {"completed": 16, "total_input_tokens": 3504, "total_output_tokens": 3216,
          "mean_ttft_ms": 130.0, "mean_tpot_ms": 22.5, "output_throughput": 45.0}
HOSTILE = ("1" * 400, "-1", "0", "1e-300", "1e300", "1e999", "NaN", "-Infinity", "null", "true",
           '"text"', "[]", "{}", "[" * 100_000 + "]" * 100_000)


@pytest.fixture(scope="module")
def planned():
    """The text of a plan of two runs."""
    plan = json.loads(deployment(PLAN).files["bench/plan.json"])
    return plan | {"runs": plan["runs"][:2]}


@pytest.fixture
def results(tmp_path, planned):
    """Write a plan and results with a number in them replaced; their path for ``calibrate``."""
    def write(key="", text="", plan=planned):
        bench = tmp_path / "bench"
        (bench / "results").mkdir(parents=True)
        (bench / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
        spoilt = json.dumps(RESULT | ({key: "HERE"} if key else {})).replace('"HERE"', text)
        for run in planned["runs"]:
            (bench / "results" / f"{run['name']}.json").write_text(spoilt, encoding="utf-8")
        return str(bench / "results")

    return write


@pytest.mark.whole
@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("key", RESULT)
def test_a_number_of_a_bench(cli, results, key, text):
    path = results(key, text)
    assert ended_well(cli("calibrate", path, "--json"))


@pytest.mark.parametrize("text", ["0", "1e-300", "1e12"])
@pytest.mark.parametrize("key", ["total_input_tokens", "mean_tpot_ms"])
def test_what_cannot_be_fitted_is_said(cli, results, key, text):
    assert ended_well(cli("calibrate", results(key, text), "--write", "--json"))


@pytest.mark.parametrize("wrong", [10**400, 0, -1, float("nan"), float("inf"), "text", [], None])
@pytest.mark.parametrize("keys", [
    ("asked", "input_tokens"), ("asked", "requests"), ("predicted", "tpot", "value"), ("spread",),
    ("shared",), ("rate",), ("scatter", "tpot"), ("name",)], ids=".".join)
def test_a_number_of_a_plan(cli, results, planned, keys, wrong):
    plan = json.loads(json.dumps(planned))
    held = plan["runs"][0]
    for key in keys[:-1]:
        held = held[key]
    held[keys[-1]] = wrong
    assert ended_well(cli("calibrate", results(plan=plan), "--json"))


def test_a_client_that_has_no_time_per_token_leaves_it_out(cli, results):
    """As one that asked for answers of one token."""
    code, out, err = cli("calibrate", results("mean_tpot_ms", "0"), "--json")
    assert code == 0, err
    assert "tpot" not in {row["metric"] for row in finite(out)["rows"]}


@pytest.mark.parametrize("text", ["x" * 6000, "long words " * 600, "it's 'quoted' " * 400,
                                  "\x1b[2J\u202e\0", "字" * 6000])
@pytest.mark.parametrize("command", [
    ("estimate", PLAN, "--set={}"), ("calibrate", "{}"), ("estimate", "{}"), ("check", "{}"),
    ("sweep", PLAN, "--axis=workload.concurrency=1,2", "--max=output_throughput", "--set={}"),
    ("simulate", PLAN, "--rate={}"), ("engines", "{}"), ("import-model", "{}")])
def test_a_message_repeats_little_of_what_it_is_given(cli, command, text):
    code, _, err = cli(*(word.format(text) for word in command))
    assert code == 2
    line, = err.splitlines()
    assert line.isprintable()
    assert len(line) <= LONGEST_SENTENCE


def test_an_argument_that_is_none_is_shortened(capsys):
    from calc.commands.main import main

    with pytest.raises(SystemExit):
        main(["estimate", PLAN, "long words \x1b " * 600])
    line, = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert len(line) <= LONGEST_SENTENCE


def test_a_sentence_that_is_one_stays():
    """So that what passes through two doors is shortened once."""
    for text in ("short.", "'" + "x" * 400 + "'", "word " * 900, "x" * 170 + " 'it's'"):
        once = sentence(text)
        assert sentence(once) == once


def test_a_broken_ledger_tells_its_first_problems_and_counts_the_others(cli, tmp_path):
    (tmp_path / "claims").mkdir()
    text = (catalogue.ROOT / "claims" / "s2.yml").read_text(encoding="utf-8")
    path = tmp_path / "claims" / "mine.yml"
    path.write_text(text.replace("measurements/s2-", "measurements/s9-"), encoding="utf-8")
    code, _, err = cli("check", str(path))
    every = json.loads(cli("check", str(path), "--json")[1])["problems"]
    lines = err.splitlines()
    assert code == 2
    assert len(every) > check.FEW
    assert lines[:-1] == every[:check.FEW]
    assert lines[-1].startswith(f"{len(every) - check.FEW} more problems")


def test_a_few_problems_are_told_as_they_are():
    assert check.told(["one.", "two."]) == ["one.", "two."]


def test_who_waits_for_a_day_is_told_what_for(monkeypatch, cli):
    """On a terminal; nothing of it where a program reads."""
    said = []
    monkeypatch.setattr(capacity, "working", lambda at: said.append(at) or nullcontext())
    code, _, err = cli("capacity", PLAN, "--load=azure-coding", "--requests=5e6", "--no-check")
    assert (code, err) == (0, "")
    assert len(said) == 1


@pytest.mark.parametrize("folder", ["bench", "nodes", "monitoring"])
def test_a_link_in_the_place_of_a_folder_is_not_written_through(cli, tmp_path, folder):
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    assert cli("deploy", PLAN, "-o", str(out))[0] == 0
    (out / folder).rename(elsewhere)
    (out / folder).symlink_to(elsewhere)
    before = {path: path.read_bytes() for path in elsewhere.iterdir()}
    code, _, err = cli("deploy", PLAN, "-o", str(out), "--set", "workload.concurrency=8")
    assert code == 2
    assert err.count("\n") == 1
    assert f"{out / folder}: is a link" in err
    assert {path: path.read_bytes() for path in elsewhere.iterdir()} == before


def test_a_manifest_without_end_is_none(cli, tmp_path):
    (tmp_path / "manifest.json").write_text("[" * 100_000, encoding="utf-8")
    code, _, err = cli("deploy", PLAN, "-o", str(tmp_path))
    assert code == 2
    assert "is no manifest of ours" in err


def test_a_number_that_is_a_list_is_refused_with_its_place(cli, tmp_path):
    (tmp_path / "measurements").mkdir()
    path = tmp_path / "measurements" / "mine.yml"
    text = (catalogue.ROOT / "templates" / "measurements.yml").read_text(encoding="utf-8")
    start = text.index("rows:")
    path.write_text(text[:start] + text[start:].replace("- [", "- [[1], ", 1), encoding="utf-8")
    code, _, err = cli("check", str(path))
    assert code == 2
    assert "mine.yml:" in err
    assert err.count("\n") == 1


def test_digits_without_end_in_a_configuration(cli, tmp_path):
    """Where a letter behind them hides from the scan that they are a number."""
    (tmp_path / "config.json").write_text('{"hidden_size": ' + "9" * 5000 + "x}", "utf-8")
    assert ended_well(cli("import-model", str(tmp_path / "config.json"), "--json"))
