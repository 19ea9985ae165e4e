"""What every answer in JSON says besides itself, and that what goes wrong is one, too."""

from __future__ import annotations

import json

import jsonschema
import pytest

import calc
from calc.commands import main

HEAD = {
    "type": "object", "required": ["schema", "version", "asked"], "minProperties": 4,
    "properties": {"schema": {"pattern": "^will-it-fit/[a-z-]+/[0-9]+$"},
                   "version": {"const": calc.__version__},
                   "asked": {"type": "array", "items": {"type": "string"}}}}
ASKED = [
    ["devices"], ["models", "deepseek-v3"], ["engines"], ["engines", "vllm", "max-model-len"],
    ["check"], ["estimate", "h200-r1-vllm-tp8"],
    ["estimate", "h200-r1-vllm-tp8", "--engines", "vllm@0.11,sglang@0.5.6"],
    ["cost", "h200-r1-vllm-tp8"], ["decide", "s2-910b1-awq", "--tornado"],
    ["sweep", "h200-r1-vllm-tp8", "--axis", "workload.concurrency=1..4"],
    ["simulate", "s2-910b1-awq", "--rate", "0.5", "--requests", "20"],
    ["audit", "--document", "s1", "--verdict", "wrong-input"]]


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
def test_an_answer_says_its_layout_the_program_and_what_was_asked(cli, asked):
    _, out, _ = cli(*asked, "--json")
    answer = json.loads(out)
    jsonschema.validate(answer, HEAD)
    assert answer["schema"].split("/")[1] == asked[0]
    assert answer["asked"] == [*asked, "--json"]
    assert "error" not in answer


@pytest.mark.parametrize("asked", [["estimate", "nothing-of-this-name"], ["estimate"],
                                   ["no-such-command"],
                                   ["simulate", "s2-910b1-awq", "--rate", "x"]])
def test_an_error_is_an_answer_too(capsys, asked):
    with pytest.raises(SystemExit, match="2"):
        raise SystemExit(main.main([*asked, "--json"]))
    said = capsys.readouterr()
    answer = json.loads(said.out)
    jsonschema.validate(answer, HEAD)
    assert answer["schema"].startswith("will-it-fit/error/")
    assert answer["error"] == said.err.strip()


def test_what_reads_a_pipe_gets_wide_tables(cli, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    wide = cli("devices")[1]
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, cli("devices")[1].splitlines())) <= 80 < max(map(len, wide.splitlines()))
