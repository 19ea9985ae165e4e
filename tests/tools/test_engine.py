"""What `make engine` does around an engine, without one."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import catalogue
from calc import parameters
from catalogue.models.huggingface import import_config
from tools.engine import lines, model, served
from tools.engine.__main__ import RESULTS
from tools.engine.environment import PACKAGE, RELEASE, WRITTEN
from tools.engine.running_server import Plan

PUBLISHED = ("deepseek-v3", "deepseek-v4-flash", "glm-5.2", "kimi-k3", "minimax-m3", "qwen3-8b",
             "qwen3.5-397b-a17b", "mixtral-8x7b")  # one of each architecture
RECORDED = json.loads(RESULTS.read_text("utf-8"))


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return served.deployed(Path(sys.executable), tmp_path_factory.mktemp("engine"))


def test_script_starts_the_engine_with_the_stated_settings(written: Plan) -> None:
    line, = lines.recorded_lines(written.folder, written.checkpoint)
    assert [word for word in line.argv if word.startswith("--")] == [
        setting["name"] for setting in written.data["pools"]["serve"]["settings"]
        if setting["name"].startswith("--")]
    assert line.argv[0] == str(written.checkpoint)


@pytest.mark.parametrize("name", PUBLISHED)
def test_configuration_of_a_model_has_its_parameters(name: str, tmp_path: Path) -> None:
    folder = model.write(tmp_path / "one", model.published(name, "bf16"), tokenizer=False)
    imported = import_config(folder / "config.json", "One").model
    assert parameters(imported) == parameters(catalogue.load_model(name))


def test_configuration_in_a_published_format_is_recognised(tmp_path: Path) -> None:
    folder = model.write(tmp_path / "one", model.published("kimi-k2.5", "int4-w4a16"))
    assert import_config(folder / "config.json", "One").published.precision == "int4-w4a16"


def test_two_pools_are_candidates_and_keep_their_name(tmp_path: Path) -> None:
    pair, dotted = "a3-glm51-pd-tp1", "kimi-k2.5-8xh200"
    assert pair in lines.candidates("vllm-ascend")
    made, refused = lines.written(f"vllm@{WRITTEN}", tmp_path, [dotted])
    assert ([line.name for line in made[dotted]], refused) == ([f"{dotted}/serve-0"], {})


def test_all_servers_of_a_node_say_their_line(tmp_path: Path) -> None:
    made, _ = lines.written(f"vllm@{WRITTEN}", tmp_path, [name := "v4-flash-8xrtx-pro-6000"])
    ports = [line.argv[line.argv.index("--port") + 1] for line in made[name]]
    assert len(set(ports)) == len(ports) == catalogue.load_scenario(name).replicas


def test_command_lines_for_sglang(tmp_path: Path) -> None:
    name = "s2-910b1-awq"
    made, refused = lines.written(f"sglang@{lines.SGLANG.version}", tmp_path, [name])
    assert (refused, made[name][0].program) == ({}, "sglang.launch_server")
    line, = made[name]
    assert line.argv[line.argv.index("--quantization") + 1] == "awq"


def test_recorded_results_are_of_the_pinned_engine() -> None:
    assert RECORDED["engine"] == f"{PACKAGE} {RELEASE}"
    assert RECORDED["written_for"] == f"vllm@{WRITTEN}"
    assert all(row["ok"] for part in ("serve", "lines") for row in RECORDED[part])
