"""Kinds of files: told by their keys, and refused by naming the command that takes them."""

import json

import pytest
from _door import sentence

import catalogue
from catalogue.kinds import KINDS, class_of, described_kind
from catalogue.library import file_of, names
from catalogue.reading import yamlfile


@pytest.mark.parametrize("kind", [kind for kind in KINDS if names(kind)])
def test_kind_of_a_file_one_of_whose_keys_is_misspelt(kind):
    data = dict(yamlfile.read(file_of(kind, names(kind)[0])).data)
    longest = max(data, key=len)
    data[f"{longest}s"] = data.pop(longest)
    assert class_of(described_kind(data)) is class_of(kind)


@pytest.mark.parametrize(("text", "kind", "says"), [
    ("scenario", "goals", "`will-it-fit estimate FILE` takes it"),
    ("goal", "devices", "`will-it-fit search FILE` takes it; `will-it-fit new card`"),
    ("device", "models", "a deployment names it by `device: FILE`"),
    (json.dumps({"model_type": "qwen3_moe", "hidden_size": 4096}), "models",
     "`will-it-fit import-model FILE -o model.yml`")])
def test_a_file_of_another_kind(tmp_path, text, kind, says):
    path = tmp_path / "mine.yml"
    template = catalogue.ROOT / "templates" / f"{text[:9]}.yml"
    path.write_text(template.read_text("utf-8") if template.is_file() else text, encoding="utf-8")
    assert says.replace("FILE", str(path)) in sentence(catalogue.load, kind, path)
