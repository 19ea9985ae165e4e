"""The command line in Chinese: nothing of it is English, and English is what it was."""

import argparse
import json
from pathlib import Path

import pytest
from _options import WORD, english

import catalogue
from calc.commands.main import COMMANDS, _parser, main

DEPLOYMENTS = ("h200-r1-vllm-tp8", "h200-v32-sglang-dp8", "s0-scenario-1", "s3-hybrid-910b4")
ONE = DEPLOYMENTS[0]
CONFIGURATION = Path(__file__).parents[2] / "catalogue/models/configs/deepseek-v2-lite.json"
TABLE = catalogue.ROOT / "templates/kernels.csv"
COMMAND_LINE = {"python", "calc", "deploy", "calibrate", "DIR", "MODEL", "NAME"}  # to be typed
LISTS = {"models": {"CSA", "GQA", "MLA"},  # beside the names of entries
         "devices": {"NPU", "TPU", "MiB"}}
ASKED = {  # what is asked -> names in the answer, besides those of entries
    f"estimate {ONE} --engines vllm@0.11,sglang@0.5.6": {"ns"},
    "search r1-64-users-8xh20 --set devices=nvidia-h20 --set precisions=fp8-block":
        {"DeepGEMM", "space.spares", "devices: [{device:", "price:"},
    "search r1-64-users-8xh20 --set devices=nvidia-h20 --set limits.tpot=1ms":
        {"space.spares", "devices: [{device:", "price:"},
    "check": set(),
    f"cost {ONE} --day-requests 1000000": {"DeepSeek"},
    f"decide {ONE}": {"MLA", "TFLOPS"},
    f"decide {ONE} --sensitivity --samples 1024": {"MLA", "Sobol"},
    f"decide {ONE} --breakeven concurrency --against pools": {"concurrency"},
    f"decide {ONE} --breakeven utilisation --against deepseek-api": {"DeepSeek"},
    f"decide {ONE} --information --demand 50000token/s --late 2 --samples 1024": {"MLA"},
    f"capacity {ONE} --load azure-conversation --requests 200000 --no-check --regret --late 2 "
    "--promise 0.99": {"nvidia-hopper"},
    f"capacity {ONE} --load azure-conversation --requests 9000 --turns 2 --think-time 60s "
    "--set workload.input_tokens=600": {"nvidia-hopper"},
    f"simulate {ONE} --users 16 --requests 60 --tpot 50ms": set(),
    f"simulate {ONE} --rate 2 --requests 40 --prefix-tokens 64": set(),
    f"sweep {ONE} --axis workload.concurrency=1..64:x2 --max output_throughput --min tpot": set(),
    f"validate --system {ONE}": set(),
    "validate --energy": set(),
    "calibrate s2-910b1-awq-tpot": set(),
    f"discrepancy --leaning {ONE}": {"MLA"},
    f"kernels list --tables {TABLE}": {"my-card", "gemm", "experts"},
    f"kernels check --tables {TABLE}": {"gemm"},
    "engines": set(),
    "engines vllm max-num-seqs": {"None", "int"},
}
IN_HELP = {
    "CSV", "Dask", "Face", "HTML", "Hugging", "JSON", "LIST", "Parquet", "SI", "Sobol", "USD",
    "YAML", "config", "constant", "deepseek-api", "deploy", "en", "estimate", "exponential", "html",
    "json", "mean", "measured", "min", "pools", "report", "utilisation", "yml", "zh",
}  # names, formats and what is typed
WRONG = (f"simulate {ONE}", f"simulate {ONE} --rate 2 --policy none", "search", "decide --nothing",
         f"capacity {ONE}", f"decide {ONE} --against pools", f"cost {ONE} --utilisation none",
         f"simulate {ONE} --rate 2 --turns 4", "audit --claim S9", f"estimate {ONE} --engines vllm")


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A place that says nothing of its language."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "300")  # a table that is wrapped parts "all-reduce"


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_an_estimate_has_no_english_word(cli, name):
    code, out, err = cli("--lang", "zh", "estimate", name)
    title = catalogue.load_scenario(name).heading["zh"]
    assert (code, err) == (0, "")
    assert english(out.replace(title, ""), but=["preface"]) == set()


@pytest.mark.parametrize("asked", ASKED)
def test_an_answer_of_a_command_has_no_english_word(cli, asked):
    code, out, err = cli("--lang", "zh", *asked.split())
    assert (code in (0, 3), err) == (True, "")
    assert english(out, but=ASKED[asked] | COMMAND_LINE) == set()


def test_what_is_written_is_told_without_an_english_word(cli, tmp_path):
    code, out, _ = cli("--lang", "zh", "deploy", "h200-r1-sglang-tp8", "-o", str(tmp_path / "made"))
    assert code == 0
    assert english(out, but=COMMAND_LINE) == set()
    code, _, err = cli("--lang", "zh", "import-model", str(CONFIGURATION), "-o",
                       str(tmp_path / "model.yml"))
    assert code == 0
    assert "参数量" in err
    assert english(err.splitlines()[0]) == set()


@pytest.mark.parametrize("kind", ["models", "devices", "scenarios"])
def test_an_entry_is_shown_under_chinese_headings(cli, kind):
    _, out, _ = cli("--lang", "zh", kind)
    if kind in LISTS:
        assert english(out, but=LISTS[kind]) == set()
    first = catalogue.names(kind)[0]
    _, out, _ = cli("--lang", "zh", kind, first)
    assert english("".join(out.splitlines()[1:4]).replace(first, "")) == set()


def test_an_audit_has_no_english_word_but_names(cli):
    from calc.auditing.judging import VERDICTS
    from catalogue.reading.shared import causes

    _, out, _ = cli("--lang", "zh", "audit", "--claim", "S1-046")
    assert english(out, but=[*VERDICTS, *causes(), "TP", "MLA", "MTP", "NVLink",
                             "kB", "Dense"]) == set()


def ended(capsys, *asked):
    """What is printed where arguments are refused or explained."""
    try:
        code = main(asked)
    except SystemExit as end:
        code = end.code
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("asked", WRONG)
def test_what_cannot_be_used_is_told_in_chinese(capsys, asked):
    code, out, err = ended(capsys, "--lang", "zh", *asked.split())
    assert (code, out) == (2, "")
    assert err.endswith("。\n")
    assert english(err, but=["none", "PATH", "scenario", "wrong-", "audit", "capacity", *COMMANDS,
                             *COMMAND_LINE, "mixed", "prefill-first", "goal", "pools"]) == set()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_has_no_english_word(capsys, command):
    """But what is typed: options, their values, and what stands for one."""
    code, out, _ = ended(capsys, "--lang", "zh", command, "--help")
    chosen = next(each for each in _parser([command])._actions
                  if isinstance(each, argparse._SubParsersAction)).choices[command]
    typed = " ".join(str(word) for each in chosen._actions for word in (
        each.dest.upper() if each.option_strings else each.dest, each.metavar,
        *(each.choices or ())))
    assert code == 0
    assert english(out.partition("\n\n")[2]) - {*WORD.findall(typed)} - IN_HELP == set()


def test_the_environment_chooses_and_the_option_overrides_it(cli, monkeypatch):
    english_answer = cli("estimate", ONE)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    chinese = cli("estimate", ONE)
    assert "放得下" in chinese[1]
    assert cli("estimate", ONE, "--lang", "en") == english_answer
    monkeypatch.setenv("LC_ALL", "C")
    assert cli("estimate", ONE) == english_answer
    assert cli("estimate", ONE, "--lang", "zh") == chinese


@pytest.mark.parametrize("asked", [
    f"estimate {DEPLOYMENTS[2]}", "check", f"cost {ONE}", f"decide {ONE}",
    f"simulate {ONE} --users 16 --requests 60"])
def test_json_is_the_same_in_both(cli, asked):
    answers = [json.loads(out) for lang in ("en", "zh") if (
        out := cli("--lang", lang, *asked.split(), "--json")[1])]
    for answer in answers:
        answer.pop("asked")
    assert answers[:1] == answers[1:]
