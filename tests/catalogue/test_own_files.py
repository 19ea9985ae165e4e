"""Files of a reader's own: what they may leave out, and all mistakes of them at once."""

import json
from functools import partial

import pytest

import calc
import catalogue
from catalogue import ParamsError
from catalogue.deployments.admission import unsourced

CARD = """
vendor: Falcon Semi
type: gpu
memory_capacity: 128 GB
memory_bandwidth: 3.2 TB/s
matrix_peak: {bf16: 800 TFLOPS, fp8: 1600 TFLOPS}
"""


PLAN = """
model: deepseek-v3
device: falcon-128.yml
precision: fp8-block
parallelism: {tensor_parallel: 8}
workload: {concurrency: 32, input_tokens: 2048, output_tokens: 512}
"""


def write(folder, name, text):
    path = folder / f"{name}.yml"
    path.write_text(text, "utf-8")
    return path


@pytest.fixture
def card(tmp_path):
    def written(text):
        return catalogue.load_device(write(tmp_path, "falcon-128", text))

    return written


@pytest.mark.parametrize(("name", "en", "zh"), [
    ("", "falcon-128", "falcon-128"), ("name: Falcon", "Falcon", "Falcon"),
    ("name: 128", "128", "128"), ("name: {zh: 猎鹰}", "猎鹰", "猎鹰"),
    ("name: {en: Falcon, zh: 猎鹰}", "Falcon", "猎鹰")])
def test_texts_are_in_one_language_in_both_or_absent(card, name, en, zh):
    assert card(f"{name}{CARD}").name == {"en": en, "zh": zh}


def test_numbers_without_a_source_are_assumptions_of_the_file(card):
    bandwidth = card(CARD).memory_bandwidth
    assert (bandwidth.source, bandwidth.kind) == ("falcon-128.yml", "assumed")
    bandwidth = card(f"defaults: {{source: brochure}}{CARD}").memory_bandwidth
    assert (bandwidth.source, bandwidth.kind) == ("brochure", "assumed")


MISTAKEN = """
model: deepsek-v3
device: card.yml
engine: vlm@0.11.0
cluster: {node: hgx-h200, nodes: 1}
precision: fp8-block
parallelism: {tensor_parallel: 7, pipeline_parallel: 1, data_parallel: 1, expert_parallel: 1}
workload:
  concurrency: many
  input_tokens: 2048 ms
  ouput_tokens: 512
  block_size: [64]
  memory_utilization: 1.9
"""
MISTAKEN_CARD = """
vendor: [Falcon]
memory_capacity: 128
memory_bandwith: 3.2 TB/s
matrix_peak: {bf16: 800 TFLOPS}
"""


def test_all_mistakes_of_a_plan_and_its_card_are_reported_at_once(tmp_path):
    write(tmp_path, "card", MISTAKEN_CARD)
    with pytest.raises(ParamsError) as caught:
        catalogue.load_scenario(write(tmp_path, "plan", MISTAKEN))
    places = [problem.removeprefix(f"{tmp_path}/").partition(": ")[0]
              for problem in caught.value.problems]
    assert sorted(places) == sorted([
        "plan.yml:2", "plan.yml:4", "plan.yml:7", "plan.yml:9", "plan.yml:10", "plan.yml:11",
        "plan.yml:12", "plan.yml:13", "card.yml:2", "card.yml:3", "card.yml:4", "card.yml:1"])
    assert "did you mean 'memory_bandwidth'" in str(caught.value)


@pytest.mark.parametrize(("kind", "text", "lines"), [
    ("goals", "model: deepsek-v3\ndevices: [card]\ncards: {most: 8}\ndemand: {users: many}\n",
     {"mine.yml:1", "mine.yml:4", "card.yml:2", "card.yml:3", "card.yml:4", "card.yml:1"}),
    ("scenarios", PLAN.strip().replace("falcon-128.yml", "nvidia-h200-sxm") + "\nvariants:\n"
     "  few: {parallelism: {tensor_parallel: 3}}\n  many: {cluster: {nodes: none}}\n",
     {"mine.yml:7", "mine.yml:8"}),
    ("scenarios", "model_path: deepsek-v3\nhardware: h20\ngpus: many\nframework: vlm\n"
     "quantization: fp7\ntp: none\nslo: {itl: 30 GB}\ntraffic:\n  users: 1.5\n  isl: 2 ms\n"
     "  output_tokens: 9\nprice: 2\n",
     {*(f"mine.yml:{line}" for line in (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12))}),
    ("scenarios", PLAN.strip().replace("falcon-128.yml", "nvidia-h200-sxm") + "\nspeeed: 1\n"
     "cluster: {nodes: 2}\n", {"mine.yml:4", "mine.yml:6"}),
    ("scenarios", PLAN.strip().replace("falcon-128.yml", "nvidia-h200-sxm") + "\nvariants:\n"
     "  few: {parallelism: {a: 3}}\n  many: {cluster: {b: 2}}\n", {"mine.yml:7", "mine.yml:8"}),
    ("scenarios", PLAN.strip().replace(": fp8", "： fp8").replace("l: deep", "l： deap"),
     {"mine.yml:1", "mine.yml:1, 3", "mine.yml:2"}),
    ("scenarios", "plan:\n  model: deepseek-v3\n  parallelism: {tensor_parallel: 8}\n",
     {"mine.yml:1"}),
    ("scenarios", PLAN.strip().replace("falcon-128.yml", "nvidia-h200-sxm").replace(
        "8}", "8, expert_parallel: 3}") + "\nmode: x\ncluster: 16x\n",
     {"mine.yml:4", "mine.yml:6", "mine.yml:7"})])
def test_all_mistakes_of_a_goal_and_of_variants_are_reported_at_once(tmp_path, kind, text, lines):
    write(tmp_path, "card", MISTAKEN_CARD)
    load = catalogue.load_family if kind == "scenarios" else partial(catalogue.load, kind)
    with pytest.raises(ParamsError) as caught:
        load(write(tmp_path, "mine", text))
    assert {problem.removeprefix(f"{tmp_path}/").partition(": ")[0]
            for problem in caught.value.problems} == lines


def test_a_plan_named_like_an_engine_is_no_engine(tmp_path):
    text = PLAN.replace("falcon-128.yml", "nvidia-h200-sxm") + "engine: sglang\n"
    scenario = catalogue.load_scenario(write(tmp_path, "sglang", text))
    other = catalogue.load_scenario(write(tmp_path, "mine", text))
    assert scenario.running.name == other.running.name


def test_check_names_the_key_of_two_pools(cli, tmp_path):
    variants = "variants:\n  prefill: {title: p}\n  decode: {title: d}\n"
    plan = write(tmp_path, "mine", PLAN.replace("falcon-128.yml", "nvidia-h200-sxm") + variants)
    code, out, err = cli("check", str(plan))
    assert code == 0
    assert "add pools: [prefill, decode]" in out + err


@pytest.mark.parametrize(("key", "value", "listed"), [
    ("cards", "16", "{most: 16}"), ("engines", "sglang", "[sglang]"),
    ("precisions", "fp8-block", "[fp8-block]")])
def test_a_goal_takes_one_value_for_a_list_and_a_number_of_cards(tmp_path, key, value, listed):
    goal = ("model: deepseek-v3\ndevices: nvidia-h200-sxm\ndemand: {users: 8, input_tokens: 2048, "
            "output_tokens: 512}\n" + ("" if key == "cards" else "cards: {most: 8}\n"))
    short, long = (catalogue.load("goals", write(tmp_path, "goal", f"{goal}{key}: {stated}\n"))
                   for stated in (value, listed))
    assert getattr(short, key) == getattr(long, key)


@pytest.mark.parametrize(("engine", "known"), [
    ("", {"max_num_batched_tokens": 8192, "block_size": 64, "memory_utilization": 0.9}),
    ("engine: vllm-ascend@0.18.0", {"block_size": 128})])
@pytest.mark.parametrize("architecture", ["", "architecture: my-arch"])
def test_a_plan_of_few_lines_on_a_card_of_few_lines_fits(tmp_path, engine, known, architecture):
    write(tmp_path, "falcon-128", CARD + architecture)
    scenario = catalogue.load_scenario(write(tmp_path, "plan", PLAN + engine))
    inputs = scenario.inputs()
    assert {name: inputs[name] for name in known} == known
    assert [inputs[f"{name}_parallel"] for name in ("pipeline", "data", "expert")] == [1, 1, 1]
    assert scenario.devices == scenario.node.devices_per_node.value == 8
    assert calc.estimate(scenario).fits
    wide = {knob.name for knob in scenario.knobs() if knob.value.source == "usual"}
    assert wide == {"hbm_efficiency", "runtime_reserve", "system_reserve", "device_link_bandwidth"}
    note = unsourced([scenario])[0]
    assert all(words in note for words in ("hbm_efficiency", "node", "known"))


@pytest.mark.parametrize("kind", ["gpu", "npu", "tpu"])
def test_usual_values_hold_for_each_type_unless_stated(card, kind):
    own = card(CARD.replace("gpu", kind) + "system_reserve: 3 GB\nnode: hgx-h200")
    assert (own.system_reserve.value, own.node) == (3_000_000_000, "hgx-h200")
    assert own.hbm_efficiency.low <= 0.4 < 0.85 <= own.hbm_efficiency.high


def test_servers_are_as_many_as_the_cards_need(tmp_path):
    write(tmp_path, "falcon-128", CARD)
    text = PLAN.replace("8}", "8, data_parallel: 3}") + "cluster: {devices: 24}"
    assert catalogue.load_scenario(write(tmp_path, "plan", text)).file.cluster.nodes.value == 3


@pytest.mark.parametrize("name", ["falcon-128", "falcon-128.yml"])
def test_a_file_beside_is_found_by_its_name(tmp_path, name):
    write(tmp_path, "falcon-128", CARD + "node: rack")
    write(tmp_path, "rack", "devices_per_node: 4\ndevice_link: nvlink-h20\n"
                            "network_link: infiniband-400g\n")
    plan = PLAN.replace("falcon-128.yml", name) + "cluster: {nodes: 2}"
    scenario = catalogue.load_scenario(write(tmp_path, "plan", plan))
    assert (scenario.device.id, scenario.node.id, scenario.devices) == ("falcon-128", "rack", 8)
    goal = f"model: deepseek-v3\ndevices: [{name}]\ncards: {{most: 8}}\ndemand: {{users: 8, "\
           "input_tokens: 2048, output_tokens: 512}\n"
    offer, = catalogue.load("goals", write(tmp_path, "goal", goal)).devices
    assert catalogue.load_device(offer.device).id == "falcon-128"


def test_a_search_offers_a_card_of_which_no_engine_is_known(cli, tmp_path):
    write(tmp_path, "falcon-128", CARD)
    goal = write(tmp_path, "goal", """
model: deepseek-v3
devices: [falcon-128]
cards: {fewest: 8, most: 8}
demand: {users: 8, input_tokens: 2048, output_tokens: 512}
space: {tensor: [8], drafts: [0], chunks: [8192], pools: [one]}
precisions: [fp8-block]
""")
    code, out, err = cli("search", str(goal), "--json", "-o", str(tmp_path / "out"))
    assert (code, err) == (0, "")
    assert json.loads(out)["front"]
    plan = tmp_path / "out" / "goal-1.yml"
    assert "plain-server" not in plan.read_text("utf-8")
    assert catalogue.load_scenario(plan).device.id == "falcon-128"
