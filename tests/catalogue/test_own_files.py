"""Files of a reader's own: what they may leave out, and all mistakes of them at once."""

import pytest

import catalogue

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
