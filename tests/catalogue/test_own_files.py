"""Files of a reader's own: what they may leave out, and all mistakes of them at once."""

import pytest

import catalogue
from catalogue import ParamsError

CARD = """
vendor: Falcon Semi
type: gpu
memory_capacity: 128 GB
memory_bandwidth: 3.2 TB/s
hbm_efficiency: 0.7
runtime_reserve: 2 GB
matrix_peak: {bf16: 800 TFLOPS, fp8: 1600 TFLOPS}
"""


@pytest.fixture
def card(tmp_path):
    def written(text):
        path = tmp_path / "falcon-128.yml"
        path.write_text(text, "utf-8")
        return catalogue.load_device(path)

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
    (tmp_path / "plan.yml").write_text(MISTAKEN, "utf-8")
    (tmp_path / "card.yml").write_text(MISTAKEN_CARD, "utf-8")
    with pytest.raises(ParamsError) as caught:
        catalogue.load_scenario(tmp_path / "plan.yml")
    places = [problem.removeprefix(f"{tmp_path}/").partition(": ")[0]
              for problem in caught.value.problems]
    assert sorted(places) == sorted([
        "plan.yml:2", "plan.yml:4", "plan.yml:7", "plan.yml:8", "plan.yml:9", "plan.yml:10",
        "plan.yml:11", "plan.yml:12", "card.yml:2", "card.yml:3", "card.yml:4", "card.yml:1"])
    assert "did you mean 'memory_bandwidth'" in str(caught.value)
