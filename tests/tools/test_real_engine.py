"""What `make engine` does around an engine, without one."""

import json
import shutil
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml

import catalogue
from calc import parameters
from catalogue.engines.successors import catalogue_of
from tools.engine import configured, inside, lines, model, plan
from tools.engine.__main__ import RESULTS
from tools.engine.cards import asked as cards
from tools.engine.cards import stand_in
from tools.engine.environment import PACKAGE, RELEASE, WRITTEN, Environment, renamed
from tools.engine.own import run as own
from tools.engine.rows import Row, table
from tools.engine.server import served, watching
from tools.engine.sglang import parsed

RULES = {"groups": [{"name": "serve", "rules": [
    {"alert": "Slow", "expr": "rate(vllm:a_sum[5m]) > 1 and on() rate(vllm:a_sum[1h]) > 1",
     "for": "5m"}, {"alert": "Gone", "expr": 'up{job="serve"} == 0', "for": "1m"}]}]}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    return plan.written(sys.executable, tmp_path_factory.mktemp("engine"))


def test_all_durations_of_rules_are_divided_by_one_factor():
    first, second = watching.scaled(RULES)["groups"][0]["rules"]
    assert first["expr"] == ("rate(vllm:a_sum[20000ms]) > 1 and on() "
                             "rate(vllm:a_sum[240000ms]) > 1")
    assert (first["for"], second["for"]) == ("20000ms", "4000ms")
    assert second["expr"] == RULES["groups"][0]["rules"][1]["expr"]
    assert watching.metrics(RULES) == {"vllm:a_sum"}


def test_generated_rules_stay_rules_when_they_are_faster(written, tmp_path):
    rules = watching.scaled(watching.loaded(written.folder / "monitoring" / "alerts.yml"))
    path = tmp_path / "alerts.yml"
    path.write_text(yaml.safe_dump(rules), encoding="utf-8")
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    subprocess.run([promtool, "check", "rules", path], check=True, capture_output=True)
    names = {rule["alert"] for group in rules["groups"] for rule in group["rules"]}
    assert {served.QUEUE, served.OF_A_CARD, served.STOPPED} <= names


def test_the_small_deployment_is_started_as_its_script_says(written):
    (line,) = lines.lines(written.folder, written.checkpoint)
    assert line.argv[0] == str(written.checkpoint)
    stated = [each for each in written.data["pools"]["serve"]["settings"]
              if each["name"].startswith("--")]
    assert [word for word in line.argv if word.startswith("--")] == [
        each["name"] for each in stated]
    assert written.served == model.NAME
    assert written.address.startswith(f"http://{plan.HOST}:")


def test_what_is_written_is_for_the_release_nearest_to_the_engine():
    versions = catalogue_of("vllm").versions
    number = lambda text: int(text.split(".")[1]) if text.startswith("0.") else 0  # noqa: E731
    assert WRITTEN in versions
    assert abs(number(WRITTEN) - number(RELEASE)) == min(
        abs(number(each) - number(RELEASE)) for each in versions)


@pytest.mark.parametrize("name", sorted(set(catalogue.names("models"))
                                        - {"s0-deepseek-r1", "deepseek-v2-lite", "gpt-oss-120b",
                                           "deepseek-v4.1-flash"}))
def test_a_configuration_says_what_the_catalogue_says_of_a_model(name, tmp_path):
    from catalogue.models.huggingface import import_config

    folder = model.write(tmp_path / "one", model.published(name, "bf16"), tokenizer=False)
    found, known = import_config(folder / "config.json", "One").model, catalogue.load_model(name)
    for field in ("num_hidden_layers", "hidden_size", "num_attention_heads", "n_routed_experts",
                  "num_experts_per_tok", "kv_lora_rank", "num_key_value_heads", "vocab_size",
                  "compressed_layers", "heavy_layers", "indexer_layers", "index_topk",
                  "linear_layers", "linear_num_value_heads", "routed_expert_hidden_size",
                  "sparse_layers", "attention_output_gate"):
        assert getattr(found, field) == getattr(known, field) or (
            getattr(found, field).value == getattr(known, field).value), field
    assert parameters(found) == parameters(known)


def test_a_model_of_another_architecture_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(model, "TYPES", {})
    with pytest.raises(ValueError, match="'qwen3-8b': the architecture is not known here"):
        model.published("qwen3-8b", "bf16")


def test_options_are_left_out_with_their_values():
    argv = ["model", "--a", "1", "--b", "--c", "2", "3"]
    assert inside.without(argv, ("--c",)) == ["model", "--a", "1", "--b"]
    assert inside.without(argv, ("--a", "--b")) == ["model", "--c", "2", "3"]


def test_the_package_is_named_as_the_engine_asks(tmp_path):
    own = tmp_path / f"{PACKAGE.replace('-', '_')}-{RELEASE}.dist-info"
    own.mkdir()
    (own / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {PACKAGE}\nVersion: {RELEASE}\n"
                                  "Summary: Name: as it was\n", encoding="utf-8")
    text = (renamed(tmp_path) / "METADATA").read_text(encoding="utf-8")
    assert text == (f"Metadata-Version: 2.4\nName: vllm\nVersion: {RELEASE}+cpu\n"
                    "Summary: Name: as it was\n")


def test_what_the_engine_made_of_lines_is_judged():
    row = {"name": "a/serve-0", "parsed": True, "configured": True, "left_out": [], "refused": []}
    partly = row | {"name": "b/serve-0", "left_out": ["--quantization"], "refused": ["no kernel"]}
    refused = row | {"name": "b/serve-1", "parsed": False, "configured": None, "refused": ["no"]}
    good = list(configured.judged([row, partly], {"c": "'c' needs more cards."}, "files"))
    assert [each.ok for each in good] == [True, True, True]
    assert good[1].numbers == {"whole": 1, "partly": 1}
    bad = list(configured.judged([row, refused], {"c": "ValueError: nan"}, "files"))
    assert [each.ok for each in bad] == [False, False, False]


def test_a_table_says_what_is_not_as_expected():
    shown = table([Row("a", "alerts", "x", "none", False, notes=["[b] is b"]),
                   Row("b", "start", "answers", "answers", True)])
    assert "NO" in shown
    assert "alerts: [b] is b" in shown


def test_variables_of_the_engine_ask_nothing_of_other_hosts(tmp_path):
    found = Environment(tmp_path).variables
    assert found["HF_HUB_OFFLINE"] == "1"
    assert found["PATH"].startswith(str(tmp_path / "bin"))


def test_what_was_kept_is_of_the_engine_that_is_pinned():
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert kept["engine"] == f"{PACKAGE} {RELEASE}"
    assert kept["written_for"] == f"vllm@{WRITTEN}"
    assert all(row["ok"] for part in ("serve", "lines") for row in kept[part])


def test_packages_for_cards_alone_are_empty_and_no_others_are(monkeypatch):
    finder = stand_in.Finder(["sgl_kernel"])
    monkeypatch.setattr(sys, "meta_path", [finder, *sys.meta_path])
    monkeypatch.delitem(sys.modules, "sgl_kernel", raising=False)
    import sgl_kernel

    assert sgl_kernel.decorator(len) is len
    assert not hasattr(sgl_kernel, "__wrapped__")
    with pytest.raises(ImportError):
        __import__("sgl_kernel_of_another_name")
    monkeypatch.delitem(sys.modules, "sgl_kernel")


def test_lines_for_sglang_name_the_module_that_python_starts(tmp_path):
    text = "s2-910b1-awq"
    made, refused = lines.written(f"sglang@{parsed.RELEASE}", tmp_path, [text])
    (line,) = made[text]
    assert not refused
    assert line.program == "sglang.launch_server"
    # the method of the checkpoint: Marlin's kernels, which override it, are NVIDIA's
    assert line.argv[line.argv.index("--quantization") + 1] == "awq"
    assert cards.card(catalogue.load_scenario(text).device, 8)["kind"] == "npu"


def test_what_is_written_for_sglang_is_for_the_newest_release_that_is_known():
    assert catalogue_of("sglang").versions[-1] == parsed.RELEASE


def test_a_run_of_the_example_s_processor_is_predicted_of_the_processor():
    runs = [{"name": name, "asked": {"concurrency": users, "input_tokens": 128,
                                     "output_tokens": 32, "requests": 16}}
            for name, users in (("one", 1), ("half", 4))]
    one, half = (own.bench_run(SimpleNamespace(runs=runs), name) for name in ("one", "half"))
    for metric in own.METRICS:
        assert one.predicted[metric].value < half.predicted[metric].value
    # weights of the experts of one token from memory take longer than this, on no card of a rack
    assert one.predicted["tpot"].value > 0.01


def test_what_is_served_is_the_example_s_model():
    of = catalogue.load_scenario(own.FILE).model
    for name in ("hidden_size", "num_hidden_layers", "n_routed_experts", "moe_intermediate_size",
                 "num_attention_heads", "kv_lora_rank", "num_experts_per_tok", "n_group"):
        assert own.CONFIG[name] == getattr(of, name).value


def test_every_load_that_was_kept_has_its_prediction_beside_it():
    kept = {row["key"]: row for row in json.loads(RESULTS.read_text(encoding="utf-8"))["own"]}
    first = kept["predicted"]["numbers"]
    for users in (load for loads in own.LOADS.values() for load in loads):
        numbers = kept[f"users-{users}"]["numbers"]
        assert all(numbers[f"{metric}_predicted"] == first[f"{metric}_{users}"]
                   for metric in own.METRICS)
