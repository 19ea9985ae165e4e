"""The command line, as a reader runs it."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import calc
import catalogue
from catalogue.engines import assertions
from catalogue.reading import amounts

PROJECT = Path(__file__).resolve().parents[3]
SCENARIO = "params/scenarios/s0-scenario-1.yml"


def test_estimate_as_json(cli):
    code, out, err = cli("estimate", SCENARIO, "--json")
    answer = json.loads(out)
    assert (code, err) == (0, "")
    assert answer["fits"] is False
    assert set(answer) >= {"scenario", "fits", "bottleneck", "quantities", "parts"}
    weights = answer["quantities"]["weights_per_device"]
    assert (round(weights["value"] / 1e9, 2), weights["unit"]) == (169.56, "B")
    assert {"tpot", "output_throughput"} <= answer["quantities"].keys()
    assert [reason["kind"] for reason in answer["reasons"]] == ["memory_capacity"]
    assert set(answer["nearest"]) == {"settings", "devices", "quantities", "text"}
    assert set(answer["nearest"]["text"]) == {"en", "zh"}


def test_estimate_for_people(cli):
    code, out, _ = cli("estimate", "s0-scenario-1")
    assert code == 0
    assert "does not fit" in out
    assert "169.56 GB" in out


@pytest.fixture
def wide(monkeypatch):
    """A terminal on which no cell is folded."""
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.parametrize(("value", "unit", "text"), [
    (1.6e12, "B/s", "1.6 TB/s"), (28e9, "B/s", "28 GB/s"), (0.0228, "s", "22.8 ms"),
    (3e-6, "s", "3 µs"), (42.6, "s", "42.6 s"), (169_560_714_240, "B", "170 GB"),
    (3.539e14, "FLOP/s", "354 TFLOPS"), (207, "request", "207 requests"), (None, "B", "–"),
    (70_272, "B/token", "70,272 B/token"),
])
def test_numbers_for_people(value, unit, text):
    assert amounts.human(value, unit) == text


@pytest.mark.usefixtures("wide")
def test_the_verdict_and_the_kinds_are_told(cli):
    _, out, _ = cli("estimate", "s2-910b1-awq")
    assert "measured: fits, 6.05 GB per device to spare, every request at its longest (" in out
    ours = out.partition("what the document says")[0]
    rows = {cells[0]: cells[1:] for line in ours.splitlines() if line.startswith("│")
            for cells in [[cell.strip() for cell in line.strip("│").split("│")]]}
    floor = calc.estimate(catalogue.load_scenario("s2-910b1-awq")).quantities["tpot_floor"]
    assert rows["floor under the time per output token"][0] == floor.text
    assert rows["floor under the time per output token"][-1] == "lower bound"
    for name in ("time to first token, burst", "end-to-end latency, burst",
                 "output throughput, burst"):
        assert "–" in rows[name][1]
    assert "bound by L2 bandwidth" in " ".join(out.split())
    assert rows["routed expert"][1].endswith("%")
    assert rows["KV cache of one token"][-1] == "exact"
    _, out, _ = cli("estimate", "s0-scenario-1")
    assert "127 GB per device short, every request at its longest (4,096 tokens)." in out


@pytest.mark.usefixtures("wide")
def test_printed_recomputed_and_derived_stand_in_this_order(cli):
    _, out, _ = cli("estimate", "s0-scenario-1")
    row = next(line for line in out.splitlines() if "29.4 GB" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")][-3:] == [
        "29.4 GB", "34.4 GB", "9.21 GB"]


def test_a_range_is_part_of_a_value(cli):
    _, out, _ = cli("devices", "910B2", "--json")
    efficiency = json.loads(out)["hbm_efficiency"]
    assert efficiency["low"] < efficiency["value"] < efficiency["high"]


def test_check_knows_a_file_by_its_folder_or_its_keys(cli, tmp_path):
    own = tmp_path / "card.yml"
    shipped = catalogue.ROOT / "formats" / "bf16.yml"
    own.write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    assert cli("check", str(shipped), str(own), SCENARIO)[0] == 0
    own.write_text("name: {en: a, zh: b}\n", encoding="utf-8")
    assert "not recognised" in cli("check", str(own))[2]


@pytest.mark.parametrize("path", sorted(
    path.relative_to(PROJECT).as_posix() for path in catalogue.ROOT.rglob("*.yml")
    if path.parent.name in ("assertions", "engines", "documents", "sources", "templates",
                            "params")))
def test_check_knows_every_file_that_ships(cli, path):
    assert cli("check", path)[::2] == (0, "")


def test_check_names_a_release_whose_checks_are_not_read(cli, monkeypatch):
    of = assertions.assertion_coverage("vllm")
    read = {release: count for release, count in of.read.items() if release != "0.33.0"}
    monkeypatch.setattr(assertions, "assertion_coverage", lambda _: replace(of, read=read))
    code, _, err = cli("check", "params/engines/assertions/vllm.yml")
    assert code == 2
    assert err.startswith("params/engines/checks/vllm.yml: the checks of 0.33.0 are not read; ")


def test_check_says_where_an_editor_finds_no_schema(cli, tmp_path, monkeypatch):
    monkeypatch.setattr("calc.commands.check.ROOT", tmp_path)
    path = tmp_path / "devices" / "mine.yml"
    path.parent.mkdir()
    path.write_text("like: nvidia-h20\nname: {en: Mine, zh: 我的}\n", encoding="utf-8")
    code, _, err = cli("check", str(path))
    assert code == 2
    assert "mine.yml:1: an editor finds no schema" in err


def test_check_waits_for_nothing_and_follows_no_loop(cli, tmp_path):
    os.mkfifo(tmp_path / "pipe.yml")
    (tmp_path / "loop.yml").symlink_to("loop.yml")
    for name in ("pipe.yml", "loop.yml", "x" * 3000):
        code, _, err = cli("check", str(tmp_path / name))
        assert (code, err.count("\n")) == (2, 1)


def test_check_tells_a_shared_problem_once_and_all_others(tmp_path):
    for folder in ("params", "messages", "catalogue", "calc"):
        shutil.copytree(PROJECT / folder, tmp_path / folder)
    for name in ("sources/amd.yml", "devices/nvidia-h20.yml", "links/nvlink-5.yml",
                 "engines/vllm.yml", "engines/documents/s0.yml", "glossary.yml"):
        with (tmp_path / "params" / name).open("a", encoding="utf-8") as file:
            file.write("nonsense: 1\n")
    done = subprocess.run([sys.executable, "-m", "calc", "check"], capture_output=True, text=True,
                          cwd=tmp_path, check=False, timeout=60)
    lines = done.stderr.splitlines()
    assert done.returncode == 2
    assert len(lines) == len(set(lines))
    for name in ("sources/amd", "engines/vllm", "engines/documents/s0", "glossary"):
        assert sum(line.startswith(f"params/{name}.yml:") for line in lines) == 1
    (tmp_path / "params/sources/amd.yml").write_text(
        (catalogue.ROOT / "sources/amd.yml").read_text("utf-8"), encoding="utf-8")
    done = subprocess.run([sys.executable, "-m", "calc", "check"], capture_output=True, text=True,
                          cwd=tmp_path, check=False, timeout=60)
    for name in ("devices/nvidia-h20", "links/nvlink-5"):
        assert sum(line.startswith(f"params/{name}.yml:") for line in done.stderr.splitlines()) == 1


def test_brackets_are_text_not_markup(cli, tmp_path):
    card = tmp_path / "card.yml"
    card.write_text('name: {en: "[/b]", zh: "[/b]"}\nlike: nvidia-h20\nvendor: "[red]x[/b]"\n'
                    'cores: {value: 4, source: "a [/x] :smile:", kind: assumed}\n')
    code, out, _ = cli("devices", str(card))
    assert code == 0
    for text in ("[/b]", "[red]x[/b]", "a [/x] :smile:"):
        assert text in out


def test_a_setting_changes_the_answer(cli):
    def floor(*args):
        _, out, _ = cli("estimate", SCENARIO, "--json", *args)
        return json.loads(out)["quantities"]["tpot_floor"]["value"]

    assert floor("--set", "device.memory_bandwidth=3.2 TB/s") == pytest.approx(floor() / 2)
    assert floor("--set", "workload.concurrency=2", "--set", "precision=fp8-block") < floor()


@pytest.mark.parametrize("kind", ["models", "devices", "scenarios"])
def test_listings(cli, kind):
    known = catalogue.deployment_names() if kind == "scenarios" else catalogue.names(kind)
    code, out, _ = cli(kind, "--json")
    assert code == 0
    assert list(json.loads(out)["entries"]) == known
    code, out, _ = cli(kind)
    assert code == 0
    for name in known:
        assert name in out
        assert cli(kind, name)[0] == 0
        json.loads(cli(kind, name, "--json")[1])


def test_a_model_prints_its_parameters_as_integers(cli):
    _, out, _ = cli("models", "deepseek-v3", "--json")
    assert json.loads(out)["parameters"] == {
        "total": 671_026_419_200, "active": 36_625_618_432, "routed": 653_908_770_816}


def test_a_device_prints_every_source_and_what_others_print(cli):
    _, out, _ = cli("devices", "ascend-910b2", "--json")
    bandwidth = json.loads(out)["memory_bandwidth"]
    assert bandwidth["value"] == 1.6e12
    assert bandwidth["source"] in catalogue.sources()
    assert {0.4e12, 1.2e12} <= {other["value"] for other in bandwidth["others"]}


def test_check_accepts_the_catalogue(cli):
    code, out, err = cli("check")
    assert (code, err) == (0, "")
    assert "0 with a problem" in out


def test_check_names_each_problem(cli, tmp_path):
    bad = tmp_path / "bad.yml"
    bad.write_text("memory_bandwidth: 3\n", encoding="utf-8")
    code, _, err = cli("check", str(bad), "nowhere.yml")
    assert code == 2
    assert len(err.splitlines()) == 2


@pytest.mark.parametrize("args", [
    [], ["estimate", "no-such-scenario"], ["estimate", "/nowhere.yml"], ["estimate"],
    ["frobnicate"],
    ["estimate", SCENARIO, "--set", "device.memory_bandwidth=400 GB"], ["devices", "no-such"],
    ["estimate", "params/devices/nvidia-h20.yml"], ["check", "/nowhere.yml"],
    ["import-model", "/nowhere.json"], ["engines", "no-such"], ["engines", "vllm", "max-modl-len"],
    ["engines", "vllm", "--release", "0.0.1"], ["devices", "910C"],
    ["estimate", "params/templates/scenario.yml", "--documented"],
    ["estimate", SCENARIO, "--set", "device.like=nvidia-h20"],
    ["estimate", SCENARIO, "--json", "--set", "device.memory_bandwidth=1e-300 B/s"],
    ["estimate", SCENARIO, "--json", "--set", "device.hbm_efficiency=1e-320"],
    ["estimate", "s2-910b1-awq", "--calibration", "no-such"],
    ["validate", "--system", "no-such"], ["validate", "--metric", "latency"],
    ["calibrate", "no-such"], ["calibrate"], ["simulate", "s2-910b1-awq"],
    ["simulate", "s2-910b1-awq", "--rate", "1", "--users", "1"],
    ["simulate", "s2-910b1-awq", "--rate", "1 GB"], ["simulate", SCENARIO, "--rate", "1"],
])
def test_bad_input_is_one_sentence_and_exit_code_2(args, cli, capsys, monkeypatch):
    monkeypatch.chdir(PROJECT)
    try:
        code, _, err = cli(*args)
    except SystemExit as ended:  # words that no command has
        code, err = ended.code, capsys.readouterr().err
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("args", [["estimate", "no-such-scenario"], ["frobnicate"]])
def test_so_it_is_for_whoever_started_it(args):
    done = subprocess.run([sys.executable, "-m", "calc", *args], capture_output=True, text=True,
                          cwd=PROJECT, check=False, timeout=60)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.one
@pytest.mark.parametrize("args", [["devices"], ["models", "--json"], ["check"]])
def test_a_full_disk_under_the_output_is_one_sentence(args):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "calc", *args], stdout=full, text=True,
                              stderr=subprocess.PIPE, cwd=PROJECT, check=False, timeout=60)
    assert done.returncode == 2
    assert done.stderr == "the output cannot be written (no space left on device).\n"


@pytest.mark.parametrize("kind", ["models", "devices", "links", "nodes", "scenarios"])
def test_every_kind_is_listed_and_each_entry_shown(cli, kind):
    code, out, _ = cli(kind, "--json")
    assert code == 0
    known = sorted(catalogue.deployment_names()) if kind == "scenarios" else catalogue.names(kind)
    assert sorted(json.loads(out)["entries"]) == known
    for name in (known[0], known[-1]):
        code, out, _ = cli(kind, name, "--json")
        assert code == 0
        assert json.loads(out)["id"] == name


def test_the_history_of_a_flag(cli):
    code, out, _ = cli("engines", "vllm", "max-model-len", "--json")
    entry = json.loads(out)["entries"]["--max-model-len"]
    assert code == 0
    assert entry["since"] == "0.2.7"
    assert entry["until"] is None
    assert entry["states"]["0.2.7"]["type"] == "int"


def test_what_a_release_has(cli):
    code, out, _ = cli("engines", "vllm", "--release", "0.2.7", "--json")
    assert code == 0
    assert "--max-model-len" in json.loads(out)["entries"]
    assert "--expert-parallel-size" not in json.loads(out)["entries"]


def test_engines_are_listed_with_their_releases(cli):
    code, out, _ = cli("engines", "--json")
    listed = json.loads(out)["entries"]
    assert code == 0
    assert {"vllm", "vllm-ascend", "sglang"} == set(listed)
    assert len(listed["vllm"]["releases"]) >= 3


def test_a_scenario_with_what_its_document_states_of_the_card(cli):
    ours = json.loads(cli("estimate", SCENARIO, "--json")[1])
    code, out, _ = cli("estimate", SCENARIO, "--documented", "--json")
    theirs = json.loads(out)
    assert code == 0
    assert theirs["taken_from_document"]["memory_bandwidth"]["written"] == "1.2 TB/s"
    assert theirs["quantities"]["tpot_floor"]["value"] > ours["quantities"]["tpot_floor"]["value"]


def test_it_works_from_any_directory(tmp_path):
    done = subprocess.run([sys.executable, "-m", "calc", "estimate", SCENARIO, "--json"],
                          capture_output=True, text=True, cwd=tmp_path, check=True, timeout=60)
    assert json.loads(done.stdout)["scenario"] == "s0-scenario-1"


@pytest.mark.usefixtures("wide")
def test_what_would_run_is_told_with_its_settings(cli):
    _, out, _ = cli("estimate", "s2-910b1-awq", "--set", "precision=fp8-block")
    assert "FP8 for attention projections" in out
    assert "Nearest: It runs on the same cards with precision w4a" in out
    assert "--set precision=w4a" in out


def test_every_answer_is_an_exit_code_of_zero(cli):
    for settings in ("precision=fp8-block", "workload.concurrency=99999", "model=deepseek-v3.2"):
        code, out, err = cli("estimate", "s2-910b1-awq", "--json", "--set", settings)
        assert (code, err) == (0, "")
        assert ("reasons" in json.loads(out)) is not json.loads(out)["fits"]
