"""What every answer in JSON says besides itself, and that what goes wrong is one, too."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import calc
import catalogue
from calc.commands import main, report
from calc.commands.printing import LAYOUT

FILES = catalogue.ROOT / "schema" / "answers"
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8")) for path in FILES.glob("*.json")}
MODEL = Path(__file__).parents[2] / "catalogue" / "models" / "configs" / "deepseek-v3.json"
ASKED = [
    ["devices"], ["devices", "nvidia-h20"], ["models", "deepseek-v3"], ["links"], ["nodes"],
    ["scenarios", "s2-910b1-awq"], ["engines"], ["engines", "vllm", "max-model-len"],
    ["check"], ["check", "no-such-file.yml"], ["estimate", "h200-r1-vllm-tp8"],
    ["estimate", "s0-scenario-1"], ["estimate", "wide-lmsys"],
    ["estimate", "wide-lmsys-prefill-perfect"],  # whose answers have one token: no time per token
    ["estimate", "s2-910b1-awq", "--documented"],
    ["estimate", "h200-r1-vllm-tp8", "--engines", "vllm@0.11,sglang@0.5.6"],
    ["cost", "h200-r1-vllm-tp8"], ["cost", "s2-910b1-awq", "--price", "5..9 CNY/h"],
    ["decide", "s2-910b1-awq"], ["decide", "h200-r1-vllm-tp8", "--breakeven",
                                 "mtp_acceptance", "--against", "workload.draft_tokens=1"],
    ["sweep", "h200-r1-vllm-tp8", "--axis", "workload.concurrency=1..4"],
    ["simulate", "s2-910b1-awq", "--rate", "0.5", "--requests", "20"],
    ["simulate", "s2-910b1-awq", "--users", "4", "--requests", "20", "--ttft", "2 s"],
    ["capacity", "s2-910b1-awq", "--load", "azure-conversation", "--requests", "20000",
     "--tpot", "500 ms"],
    ["search", "r1-64-users-8xh20", "--set", "space.drafts=0"],
    ["validate", "--system", "s2-910b1-awq"], ["calibrate", "s2-other-engine-tpot"],
    ["discrepancy", "--leaning", "s2-910b1-awq"],
    ["audit", "--document", "s1", "--verdict", "wrong-input"],
    ["stale", "--as-of", "2026-11-25"],
    *(["kernels", action, "--tables", str(catalogue.ROOT / "templates" / "kernels.csv")]
      for action in ("list", "check"))]


def held(answer):
    """Hold an answer to the file of its layout."""
    name = answer["schema"].split("/")[1]
    jsonschema.validate(answer, SCHEMAS[name], cls=jsonschema.Draft202012Validator)
    assert answer["version"] == calc.__version__
    return name


def test_every_command_has_its_schema_and_every_schema_its_command():
    assert SCHEMAS.keys() == {*main.COMMANDS, "error"}
    for name, schema in SCHEMAS.items():
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$id"] == f"will-it-fit/{name}/{LAYOUT}"
        assert schema["properties"]["schema"]["const"] == schema["$id"]


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_an_answer_says_its_layout_the_program_and_what_was_asked(cli, asked):
    _, out, _ = cli(*asked, "--json")
    answer = json.loads(out)
    assert held(answer) == asked[0]
    assert answer["asked"] == [*asked, "--json"]
    assert "error" not in answer


def test_what_is_written_is_an_answer_too(cli, tmp_path):
    _, out, _ = cli("deploy", "h200-r1-vllm-tp8", "-o", str(tmp_path / "made"), "--json")
    assert held(json.loads(out)) == "deploy"


def test_where_a_report_is_is_an_answer_too(cli, monkeypatch):
    """The page itself is the book's to make: the program that makes it is there."""
    asked = []
    monkeypatch.setattr(report, "_ran", lambda command: asked.append(command)
                        or (0, "page.html\n", ""))
    _, out, _ = cli("report", "s2-910b1-awq", "--json")
    assert held(json.loads(out)) == "report"
    assert json.loads(out)["files"] == ["page.html"]
    assert Path(asked[0][1]).is_file()


def test_an_imported_model_is_an_answer_too(cli):
    _, out, _ = cli("import-model", str(MODEL), "--json")
    assert held(json.loads(out)) == "import-model"


@pytest.mark.parametrize("wrong", [{"fits": "yes"}, {"unheard-of": 1}, {"quantities": None}])
def test_a_schema_refuses_another_layout(cli, wrong):
    answer = json.loads(cli("estimate", "s2-910b1-awq", "--json")[1])
    with pytest.raises(jsonschema.ValidationError):
        held(answer | wrong)


@pytest.mark.parametrize("asked", [["estimate", "nothing-of-this-name"], ["estimate"],
                                   ["no-such-command"],
                                   ["simulate", "s2-910b1-awq", "--rate", "x"]])
def test_an_error_is_an_answer_too(capsys, asked):
    with pytest.raises(SystemExit, match="2"):
        raise SystemExit(main.main([*asked, "--json"]))
    said = capsys.readouterr()
    answer = json.loads(said.out)
    assert held(answer) == "error"
    assert answer["error"] == said.err.strip()


def test_what_reads_a_pipe_gets_wide_tables(cli, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = cli("devices")[1]
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, cli("devices")[1].splitlines())) <= 80 < max(map(len, wide.splitlines()))
