"""The command line: every command answers in JSON, and ends as it should."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import calc
import catalogue
from calc.commands.main import DEV, GROUPS, main
from catalogue.reading.units import human

PROJECT = Path(__file__).resolve().parents[3]
SCHEMAS = {path.stem: json.loads(path.read_text("utf-8"))
           for path in (catalogue.ROOT / "schema" / "answers").glob("*.json")}
R1, AWQ = "h200-r1-vllm-tp8", "s2-910b1-awq"
KERNELS = catalogue.ROOT / "templates/kernels.csv"
GOAL = ("search {} --workers 1 --precision fp8-block --set space.chunks=4096 --set space.drafts=0 "
        "--set space.tensor=8")
DAY = f"capacity {R1} --load azure-conversation --daily-requests 200000"
LOG = PROJECT / "tests/calc/evidence/startup_logs/vllm-deepseek-v4-flash-h200.log"
MODEL = PROJECT / "tests/catalogue/models/configs/deepseek-v3.json"
ASKED = (
    "list", "list scenarios", "list engines", "show nvidia-h20", f"show {AWQ}", "show wide-lmsys",
    "show vllm --release 0.2.7", "new card", "new plan -o OUT.yml",
    f"check params/devices/nvidia-h20.yml params/scenarios/{AWQ}.yml", f"estimate {R1}",
    "estimate s0-scenario-1", "estimate wide-lmsys", f"estimate {AWQ}",
    "estimate --model r1 --card h200 --cards 8 --users 64 --input 2k --engine vllm@0.11",
    f"estimate {R1} --engines vllm@0.11,sglang@0.5.6", f"cost {R1} --daily-requests 1000000",
    f"cost {AWQ}", f"decide {AWQ}", f"decide {R1} --sensitivity --samples 64",
    f"decide {R1} --breakeven concurrency --against parallelism.expert_parallel=8",
    f"decide {R1} --information --demand 50000token/s --late 2 --samples 1024",
    f"sweep {R1} --axis workload.concurrency=1..64:x2 --max output_throughput --min tpot",
    f"simulate {AWQ} --rate 0.2 --requests 20 --prefix-tokens 64",
    f"{DAY} --availability 0.99", f"capacity {R1} --scaling --tpot 60ms",
    GOAL.format("r1-64-users-8xh20"), GOAL.format("--model r1 --card h20 --cards 8 --users 64"),
    "dev validate --system s2-other-engine", "dev validate --energy",
    "calibrate s2-other-engine-tpot",
    "dev audit --claim S1-046",
    f"log {LOG} --set device=nvidia-h200-sxm",
    f"dev kernels list --tables {KERNELS}",
    f"import-model {MODEL}", f"deploy {R1} -o OUT")


@pytest.fixture(autouse=True)
def environ():
    """Print no table wrapped."""
    before = dict(os.environ)
    os.environ["COLUMNS"] = "300"
    yield os.environ
    os.environ.clear()
    os.environ.update(before)


def ended(capsys, *asked):
    """Exit code, output and errors, also where arguments end the program."""
    try:
        code = main(asked)
    except SystemExit as end:
        code = end.code
    said = capsys.readouterr()
    return code, said.out, said.err


def words(asked, tmp_path):
    return [str(tmp_path / "made") if word.startswith("OUT") else word for word in asked.split()]


def valid(out):
    """A JSON answer that its schema accepts; its command."""
    answer = json.loads(out, parse_constant=pytest.fail)  # NaN is no JSON
    name = answer["schema"].split("/")[1]
    jsonschema.validate(answer, SCHEMAS[name], cls=jsonschema.Draft202012Validator)
    assert answer["version"] == calc.__version__
    return name, answer


class TestAnswers:
    def test_every_command_that_takes_seconds_is_asked(self):
        commands = {name for group in (*GROUPS.values(), DEV) for name in group} - {"dev"}
        assert {asked.removeprefix("dev ").split()[0] for asked in ASKED} == (
            commands - {"report", "discrepancy"})
        assert SCHEMAS.keys() == {*commands, "error"}
        for schema in SCHEMAS.values():
            jsonschema.Draft202012Validator.check_schema(schema)

    @pytest.mark.parametrize("asked", ASKED)
    def test_json_is_valid_and_says_what_was_asked(self, capsys, tmp_path, asked):
        command = words(asked, tmp_path)
        code, out, err = ended(capsys, *command, "--json")
        name, answer = valid(out)
        assert (code, name, answer["asked"]) == (
            0, asked.removeprefix("dev ").split()[0], [*command, "--json"])
        assert "error" not in answer
        assert not err or name == "import-model"

    @pytest.mark.parametrize("asked", ["estimate nothing", "estimate", f"simulate {AWQ} --rate x"])
    def test_error_is_an_answer_too(self, capsys, asked):
        code, out, err = ended(capsys, *asked.split(), "--json")
        name, answer = valid(out)
        assert (code, name, answer["error"]) == (2, "error", err.strip())

    @pytest.mark.parametrize(("asked", "numbers"), [
        (f"estimate {AWQ} --details", lambda answer: [
            (each["value"], each["unit"]) for name, each in answer["quantities"].items()
            if name in ("tpot_floor", "ttft", "usable_memory", "e2e")]),
        (f"simulate {AWQ} --users 4 --requests 40", lambda answer: [
            (answer[name][key], "s") for name in ("ttft", "tpot") for key in ("mean", "p90")]),
        (f"{DAY} --details", lambda answer: [
            (hour["seen"]["ttft_at"], "s") for hour in answer["day"]["hours"]])])
    def test_printed_numbers_are_those_of_the_json(self, capsys, asked, numbers):
        found = numbers(json.loads(ended(capsys, *asked.split(), "--json")[1]))
        printed = ended(capsys, *asked.split())[1]
        assert len(found) > 1
        assert [human(*each) for each in found if human(*each) not in printed] == []

    def test_brackets_are_text_not_markup(self, capsys, tmp_path):
        card = tmp_path / "card.yml"
        card.write_text('name: {en: "[/b]", zh: "[/b]"}\nlike: nvidia-h20\nvendor: "[red]x[/b]"\n'
                        'cores: {value: 4, source: "a [/x] :smile:", kind: assumed}\n')
        code, out, _ = ended(capsys, "show", str(card), "--details")
        assert code == 0
        assert all(text in out for text in ("[/b]", "[red]x[/b]", "a [/x] :smile:"))


@pytest.mark.parametrize("name", ["h200", "deepseek-v4-flash", "vllm", "fp8-block", R1])
def test_show_prints_a_screen_and_details_below(capsys, name):
    shown, every = (ended(capsys, "show", name, *details)[1] for details in ((), ("--details",)))
    assert shown.count("\n") <= 30 < every.count("\n")
    assert not re.search(r"[一-鿿]|False|None", shown)


def test_full_disk_under_the_output_is_one_sentence():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "calc", "list"], cwd=PROJECT, text=True,
                              stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "no space left" in done.stderr


def test_process_works_from_any_directory_and_ends_with_the_code(tmp_path):
    for asked, code in (("params/scenarios/s0-scenario-1.yml", 0), ("no-such-scenario", 2)):
        done = subprocess.run([sys.executable, "-m", "calc", "estimate", asked, "--json"],
                              capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == code
        assert valid(done.stdout)[0] == ("error" if code else "estimate")
