"""What a file lacks to stand in the catalogue is said with its line, all at once."""

import json

import pytest

import catalogue
from catalogue.shipped import shortcomings

SCHEMA = "# yaml-language-server: $schema=../schema/{kind}.json\n"
CARD = SCHEMA.format(kind="devices") + """name: {{en: Mine, zh: 我的}}
like: nvidia-h20
memory_bandwidth: {{value: 4 TB/s, source: {source}, kind: {kind}{more}}}
"""
MODEL = SCHEMA.format(kind="models") + """name: {en: Mine, zh: 我的}
defaults: {source: hf-qwen3-8b-files, kind: vendor, date: 2025-04}
attention: gqa
num_hidden_layers: 36
hidden_size: 4096
vocab_size: 151936
num_attention_heads: 32
num_key_value_heads: 8
head_dim: 128
intermediate_size: 12288
tie_word_embeddings: false
"""
QWEN3 = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_act": "silu",
         "num_hidden_layers": 36, "hidden_size": 4096, "vocab_size": 151936, "head_dim": 128,
         "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 12288,
         "attention_bias": False, "tie_word_embeddings": False, "max_position_embeddings": 40960}


def lacking(tmp_path, kind, text):
    """What a file of a kind lacks, without its path."""
    path = tmp_path / "mine.yml"
    path.write_text(text, encoding="utf-8")
    return [each.partition("mine.yml")[2]
            for each, _ in shortcomings(kind, path, [catalogue.load(kind, str(path))])]


@pytest.mark.parametrize(("source", "kind", "more", "said"), [
    ("data sheet", "vendor", ", date: 2024",
     ":4: 'data sheet' are words, expected a key of params/sources/, where its address stands."),
    ("arithmetic", "vendor", "",
     ":4: memory_bandwidth: a vendor value has no date, expected one here or at its source."),
    ("s1", "documented", "", ":4: memory_bandwidth: of a document the section is missing."),
    ("arithmetic", "assumed", "", ":4: memory_bandwidth: an assumed value has no range."),
    ("gpu-data-sheets", "vendor", ", date: 2024", None)])
def test_of_a_value(tmp_path, source, kind, more, said):
    found = lacking(tmp_path, "devices", CARD.format(source=source, kind=kind, more=more))
    assert found == [said] * (said is not None)


def test_of_a_file_without_its_first_line(tmp_path):
    first, _, rest = CARD.format(source="gpu-data-sheets", kind="vendor",
                                 more=", date: 2024").partition("\n")
    assert lacking(tmp_path, "devices", rest) == [
        f":1: an editor finds no schema, expected '{first}' as the first line."]


def test_of_a_model_that_says_nothing_of_what_is_published(tmp_path):
    assert lacking(tmp_path, "models", MODEL) == [
        ":1: weights is missing, expected the format in which it is published.",
        ":1: nothing that its counts are held against, expected published.total_parameters or "
        "published.stored_parameters.",
        ":1: nothing that its cache is held against, expected published.caches with what an engine "
        "keeps of a token."]


def test_a_model_imported_into_the_catalogue_names_its_schema(tmp_path, monkeypatch, cli):
    monkeypatch.setattr("calc.commands.import_model.ROOT", tmp_path)
    (tmp_path / "models").mkdir()
    config = tmp_path / "config.json"
    config.write_text(json.dumps(QWEN3), encoding="utf-8")
    for target in (tmp_path / "models" / "mine.yml", tmp_path / "mine.yml"):
        assert cli("import-model", str(config), "-o", str(target))[0] == 0
    first = SCHEMA.format(kind="models")
    assert (tmp_path / "models" / "mine.yml").read_text("utf-8") == (
        first + (tmp_path / "mine.yml").read_text("utf-8"))
