"""A name finds its entry in whatever case it is written, and only one entry."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import catalogue
from catalogue import library, naming

KINDS = [kind for kind, cls in library.KINDS.items() if "also" in cls.model_fields]


def told(kind: str, name: str) -> str:
    with pytest.raises(catalogue.ParamsError) as raised:
        library.load(kind, name)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_is_that_of_one_entry(kind):
    spelt = Counter(other for name in catalogue.names(kind)
                    for other in {name, *map(naming.plain, naming.also(kind, name))})
    assert [name for name, count in spelt.items() if count > 1] == []


@pytest.mark.parametrize("kind", ["devices", "models", "precisions", "nodes", "links"])
def test_every_entry_is_found_in_capitals_and_by_each_further_name(kind):
    for name in catalogue.names(kind):
        for other in (name.upper(), *naming.also(kind, name)):
            assert naming.locate(kind, other).stem == name


@pytest.mark.parametrize(("name", "found"), [
    ("R1", "deepseek-v3"), ("r1", "deepseek-v3"), ("DeepSeek-R1", "deepseek-v3"),
    ("deepseek-r1", "deepseek-v3"), ("DeepSeek-V3", "deepseek-v3"),
    ("deepseek-ai/DeepSeek-V3", "deepseek-v3"), ("DeepSeek-V3.1", "deepseek-v3.1"),
    ("deepseek-ai/DeepSeek-R1-0528", "deepseek-v3"), ("s0-deepseek-r1", "s0-deepseek-r1"),
])
def test_models(name, found):
    assert catalogue.load_model(name).id == found


@pytest.mark.parametrize(("name", "found"), [
    ("H200", "nvidia-h200-sxm"), ("h200", "nvidia-h200-sxm"), ("NVIDIA H200", "nvidia-h200-sxm"),
    ("H20", "nvidia-h20"), ("GB300", "nvidia-gb300"), ("910B2", "ascend-910b2"),
    ("MI300X", "amd-mi300x"), ("B300", "nvidia-b300"),
    ("RTX PRO 6000", "nvidia-rtx-pro-6000-server"), ("Ascend 910B4", "ascend-910b4"),
])
def test_devices(name, found):
    assert catalogue.load_device(name).id == found


def test_a_name_of_several_says_what_there_is():
    assert told("devices", "910C") == (
        "'910C' may be any of several in params/devices/, expected one of them: ascend-910c-die "
        "(Ascend 910C, one die), ascend-910c-package (Ascend 910C, package of two dies).")
    for each in ("ascend-910b1", "ascend-910b4-1"):
        assert each in told("devices", "910B")
    assert "w4a8-int8" in told("precisions", "W4A8")


def test_no_part_of_a_name_means_the_mistaken_shapes_of_a_document():
    assert "s0-deepseek-r1" not in told("models", "deepseek")
    for name in catalogue.names("models"):
        assert naming.also("models", "s0-deepseek-r1") == []
        assert name == "s0-deepseek-r1" or catalogue.load_model(name.upper()).id == name


def test_what_is_not_there_is_told_with_the_nearest_and_how_to_add_it():
    sentence = told("devices", "GB3000")
    assert sentence.startswith("there is no device 'GB3000' in params/devices/, the nearest names "
                               "are nvidia-gb300, nvidia-b300")
    assert sentence.endswith("a file of your own may begin as params/templates/device.yml or be "
                             "like nvidia-gb300.")
    assert "there is no model 'deepseek-ai/DeepSeek-V9'" in told("models",
                                                                 "deepseek-ai/DeepSeek-V9")


def test_a_deployment_keeps_the_identifier_of_what_its_file_calls_otherwise(tmp_path):
    text = library.locate("scenarios", "h200-r1-vllm-tp8").read_text("utf-8")
    path = tmp_path / "mine.yml"
    path.write_text(text.replace("model: deepseek-v3\n", "model: deepseek-ai/DeepSeek-R1\n")
                    .replace("device: nvidia-h200-sxm", "device: NVIDIA H200")
                    .replace("precision: fp8-block", "precision: FP8")
                    .replace("measured:", "# measured:"), "utf-8")
    file = catalogue.load_scenario(path).file
    assert (file.model, file.device, file.precision) == (
        "deepseek-v3", "nvidia-h200-sxm", "fp8-block")


def test_on_the_command_line(cli):
    code, out, _ = cli("devices", "H200", "--json")
    assert code == 0
    assert "nvidia-h200-sxm" in json.dumps(json.loads(out))
