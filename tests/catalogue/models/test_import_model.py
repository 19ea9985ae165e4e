"""A config.json becomes a model file, or one sentence says why not; nothing is guessed."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import catalogue
from calc import parameters
from calc.commands import import_model
from catalogue import ParamsError, Value
from catalogue.models import huggingface
from catalogue.models.families import ARCHITECTURAL, FAMILIES, IRRELEVANT, LARGEST
from catalogue.models.unmodelled import UNMODELLED

CONFIGS = Path(__file__).parent / "configs"
NAMES = sorted(path.stem for path in CONFIGS.glob("*.json"))
# Numbers in the published weights as Hugging Face counts them (safetensors): the keys `*-count` of
# params/sources/models.yml; for Llama 70B the index file. None: the published files hold more than
# the main model.
PUBLISHED = {
    "deepseek-v2-lite": 15_706_484_224, "gpt-oss-120b": 116_829_156_672,
    # less what norms of queries and keys have beyond one head of each
    "minimax-m2.5": 228_689_764_864 - 62 * (48 + 8 - 2) * 128,
    "kimi-k2": 1_026_408_235_864 - 61 * 56,  # less the rotary frequencies stored in each layer
    "llama-3.1-70b": 70_553_706_496, "llama-3.1-8b": 8_030_261_248,
    "mixtral-8x7b": 46_702_792_704, "qwen2.5-72b-instruct": 72_706_203_648,
    "qwen3-235b-a22b": 235_093_634_560, "qwen3-30b-a3b": 30_532_122_624,
    "deepseek-v3": None, "deepseek-v3.2": None, "glm-4.5": None, "glm-5": None, "glm-5.2": None,
    "deepseek-v4-flash": None, "deepseek-v4-pro": None, "kimi-k2.5": None, "kimi-k3": None,
    "glm-5.3-flash": None, "minimax-m3": None, "qwen3.5-397b-a17b": None, "qwen3.6-35b-a3b": None,
    "qwen3.8-2.4t-a95b": None,
}
# What the model's makers print, [1e9], to the digits that they print.
PRINTED = {"deepseek-v3": (671, 0.5), "deepseek-v3.2": (671, 1), "glm-4.5": (355, 3),
           "deepseek-v4-flash": (284, 0.5), "deepseek-v4-pro": (1600, 50),
           "glm-5": (744, 0.5), "glm-5.2": (743, 0.5),
           "deepseek-v2-lite": (15.7, 0.05), "kimi-k2": (1000, 50), "kimi-k2.5": (1000, 50),
           "gpt-oss-120b": (117, 0.5), "kimi-k3": (2800, 50), "minimax-m3": (427, 1),
           "qwen3.5-397b-a17b": (397, 1), "qwen3.6-35b-a3b": (35, 0.5),
           "qwen3.8-2.4t-a95b": (2400, 50),
           "minimax-m2.5": (230, 5), "qwen3-235b-a22b": (235, 0.5), "qwen3-30b-a3b": (30.5, 0.05),
           "mixtral-8x7b": (46.7, 0.05), "qwen2.5-72b-instruct": (72.7, 0.05)}
# Relatives: changed fields of a configuration here, and the count of Hugging Face.
RELATIVES = {
    "Mistral-7B-v0.1": ("llama-3.1-8b", 7_241_732_096, {
        "model_type": "mistral", "architectures": ["MistralForCausalLM"], "vocab_size": 32000,
        "sliding_window": 4096}),
    "Qwen3-8B": ("llama-3.1-8b", 8_190_735_360, {
        "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "head_dim": 128,
        "intermediate_size": 12288, "num_hidden_layers": 36, "vocab_size": 151936}),
    "Llama-3.2-3B": ("llama-3.1-8b", 3_212_749_824, {
        "hidden_size": 3072, "intermediate_size": 8192, "num_attention_heads": 24,
        "num_hidden_layers": 28, "head_dim": 128, "tie_word_embeddings": True}),
    "gpt-oss-20b": ("gpt-oss-120b", 20_914_757_184, {
        "num_hidden_layers": 24, "num_local_experts": 32, "layer_types": None}),
    "Kimi-Linear-48B-A3B": ("kimi-k3", 49_122_681_728, {
        "hidden_act": "silu", "hidden_size": 2304, "num_hidden_layers": 27, "head_dim": 72,
        "num_attention_heads": 32, "num_key_value_heads": 32, "q_lora_rank": None,
        "intermediate_size": 9216, "moe_intermediate_size": 1024, "num_experts": 256,
        "num_experts_per_token": 8, "num_shared_experts": 1, "mla_use_output_gate": None,
        "attn_res_block_size": None, "routed_expert_hidden_size": None,
        "linear_attn_config": {
            "full_attn_layers": [4, 8, 12, 16, 20, 24, 27], "head_dim": 128, "num_heads": 32,
            "kda_layers": [layer for layer in range(1, 27) if layer % 4],
            "short_conv_kernel_size": 4}}),
    "Qwen2.5-7B": ("qwen2.5-72b-instruct", 7_615_616_512, {
        "hidden_size": 3584, "intermediate_size": 18944, "num_attention_heads": 28,
        "num_hidden_layers": 28, "num_key_value_heads": 4}),
}


def stated(name: str) -> dict:
    return json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))


KIMI = stated("kimi-k3")["text_config"]["linear_attn_config"]


@pytest.fixture
def command(capsys):
    """Run the command: exit code, what it prints, what it says."""
    def run(*arguments):
        parser = argparse.ArgumentParser()
        import_model.add_arguments(parser)
        parser.add_argument("--json", action="store_true")
        try:
            code = import_model.run(parser.parse_args([str(one) for one in arguments]))
        except ParamsError as error:
            return 2, capsys.readouterr().out, f"{error}\n"
        return (code, *capsys.readouterr())
    return run


def refusal(path: Path, **options) -> str:
    with pytest.raises(ParamsError) as raised:
        huggingface.import_config(path, **options)
    sentence = str(raised.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


@pytest.mark.parametrize("name", NAMES)
def test_a_published_configuration_has_the_published_parameters(name):
    result = huggingface.import_config(CONFIGS / f"{name}.json")
    total = parameters(result.model)["total"]
    assert result.unknown == []
    assert PUBLISHED[name] in (None, total)
    if name in PRINTED:
        printed, digits = PRINTED[name]
        assert total / 1e9 == pytest.approx(printed, abs=digits)


@pytest.mark.parametrize("relative", RELATIVES)
def test_relatives_have_the_published_parameters(written, relative):
    name, count, changes = RELATIVES[relative]
    assert parameters(huggingface.import_config(written(name, **changes)).model)["total"] == count


@pytest.mark.parametrize("name", NAMES)
def test_the_shapes_are_those_of_the_catalogue(name):
    ours = catalogue.load_model(name.removesuffix("-instruct"))
    imported = huggingface.import_config(CONFIGS / f"{name}.json").model
    for field in type(ours).model_fields:
        if field in ("id", "name", "also", "note", "defaults", "published", "family", "weights",
                     "fp16_overflow"):
            continue
        if name.endswith("-instruct") and field == "max_position_embeddings":
            continue  # the catalogue has the base model
        pair = [getattr(model, field) for model in (ours, imported)]
        first, second = (one.value if isinstance(one, Value) else one for one in pair)
        assert first == second, field


@pytest.mark.parametrize("name", NAMES)
def test_the_file_is_a_model_file(command, tmp_path, name):
    target = tmp_path / "own.yml"
    code, out, err = command(CONFIGS / f"{name}.json", "-o", target, "--name", "模型 \"1\": yes")
    assert (code, out) == (0, "")
    model = catalogue.load_model(target)
    assert model.name["zh"] == '模型 "1": yes'
    result = huggingface.import_config(CONFIGS / f"{name}.json")
    assert parameters(model) == parameters(result.model)
    assert f"{parameters(model)['total']:,}" in err
    assert list(tmp_path.iterdir()) == [target]
    _, printed, _ = command(CONFIGS / f"{name}.json", "--name", "模型 \"1\": yes")
    assert printed == target.read_text(encoding="utf-8")


def test_every_field_is_accounted_for(command, written):
    path = written(future_field=[1], _name_or_path="deepseek-ai/DeepSeek-V3", other_field="x")
    code, out, err = command(path, "--json")
    assert (code, err) == (0, "")
    data = json.loads(out)
    assert set(data) == {"schema", "version", "asked", "model", "used", "ignored", "unknown",
                         "beside", "implied", "parameters"}
    assert data["beside"] == []
    fields = json.loads(path.read_text(encoding="utf-8"))
    assert sorted([*data["used"], *data["ignored"], *data["unknown"]]) == sorted(fields)
    assert data["unknown"] == ["future_field", "other_field"]
    assert data["used"]["n_routed_experts"] == "n_routed_experts"
    assert "rope_scaling" in data["ignored"]
    assert data["model"]["name"]["en"] == "DeepSeek-V3"
    assert data["implied"].keys() == {"router_bias"}
    assert data["used"]["_name_or_path"] == "name"
    assert data["parameters"] == {
        "total": 671_026_419_200, "active": 36_625_618_432, "routed": 653_908_770_816}
    _, _, err = command(path)
    assert "unknown, not used: future_field, other_field" in err


def test_the_name_and_the_date(written):
    path = written()
    os.utime(path, (1735084800, 1735084800))
    result = huggingface.import_config(path)
    assert result.data["defaults"]["date"] == "2024-12-25"
    assert result.data["name"]["en"] == path.parent.name
    assert huggingface.import_config(written(_name_or_path="a/b\n/")).data["name"]["en"] == "b"
    for bad in ("", " ", "a\nb", "\ud800", "x" * 81):
        assert "--name" in refusal(path, name=bad)


def test_a_listed_source_stands_for_all_that_is_counted(tmp_path):
    path = CONFIGS / "qwen3.5-397b-a17b.json"
    result = huggingface.import_config(path, source="hf-qwen3.5-397b")
    assert result.data["defaults"] == {"source": "hf-qwen3.5-397b", "kind": "vendor",
                                       "date": "2026-02"}
    layers = result.model.linear_layers
    assert (layers.value, layers.kind, layers.source) == (45, "derived", "hf-qwen3.5-397b")
    own = tmp_path / "own.yml"
    own.write_text(result.text, encoding="utf-8")
    assert catalogue.load_model(own).linear_layers.source == "hf-qwen3.5-397b"
    words = huggingface.import_config(path, source="its page, read today").data["defaults"]
    assert words == {"source": "its page, read today", "kind": "vendor"}
    for bad in ("", " ", "a\nb", "x" * 81, "hf-nobody-knows"):
        assert "--source: " in refusal(path, source=bad)


@pytest.mark.parametrize(("name", "changes", "field", "value"), [
    ("qwen2.5-72b-instruct", {}, "attention_bias", True),
    ("qwen3-30b-a3b", {"attention_bias": True}, "attention_output_bias", True),
    ("glm-4.5", {}, "attention_output_bias", False),
    ("glm-4.5", {"use_qk_norm": False}, "qk_norm", False),
    ("llama-3.1-8b", {"num_key_value_heads": None}, "num_key_value_heads", 32),
    ("llama-3.1-8b", {"head_dim": 64}, "head_dim", 64),
    ("deepseek-v3", {"n_shared_experts": None}, "n_shared_experts", 0),
    ("deepseek-v3", {"head_dim": 64, "qk_head_dim": 192}, "qk_rope_head_dim", 64),
    ("deepseek-v3", {}, "n_group", 8),
    ("deepseek-v3", {}, "topk_group", 4),
    ("deepseek-v3", {"n_group": None, "topk_group": None}, "n_group", None),
    ("deepseek-v2-lite", {"n_group": 8, "topk_group": 3}, "topk_group", 1),  # greedy
    ("deepseek-v3", {"num_mtp_layers": 1}, "num_nextn_predict_layers", 1),
    ("deepseek-v3.2", {"mlp_layer_types": ["dense"] * 3 + ["sparse"] * 58,
                       "layer_types": ["indexed_attention"] * 61}, "first_k_dense_replace", 3),
    ("deepseek-v4-flash", {"compress_ratios": [0, 4] + [128] * 41}, "compressed_layers", 1),
    ("deepseek-v4-flash", {"compress_ratios": [4] * 44}, "heavy_layers", 0),
    ("deepseek-v4-flash", {"expert_dtype": "fp8"}, "hc_mult", 4),
    ("minimax-m2.5", {}, "num_nextn_predict_layers", 0),
    ("minimax-m2.5", {"attn_type_list": [1] * 62}, "qk_norm", True),
    ("glm-5", {}, "indexer_layers", None), ("glm-5", {"head_dim": 192}, "qk_nope_head_dim", 192),
    ("glm-5", {"index_topk_freq": 4, "index_skip_topk_offset": 3}, "indexer_layers", 21),
    ("glm-5", {"index_topk_freq": 4}, "indexer_layers", 21),
    ("glm-5.2", {"index_topk_freq": None, "index_skip_topk_offset": None}, "indexer_layers", 21),
    ("glm-5.2", {"indexer_types": None}, "indexer_layers", 21),
    ("glm-5.2", {"layer_types": ["deepseek_sparse_attention"] * 78}, "indexer_layers", 21),
    ("gpt-oss-120b", {"layer_types": None}, "full_attention_layers", 18),
    ("gpt-oss-120b", {"layer_types": ["full_attention"] * 36}, "full_attention_layers", None),
    ("mixtral-8x7b", {"sliding_window": 4096}, "full_attention_layers", 0),
    ("qwen3-30b-a3b", {"use_sliding_window": True, "sliding_window": 4096}, "sliding_window", 4096),
    ("qwen3-30b-a3b", {"sliding_window": 4096}, "sliding_window", None),
    ("qwen2.5-72b-instruct", {"use_sliding_window": True}, "full_attention_layers", 70),
    ("qwen2.5-72b-instruct", {"use_sliding_window": True, "layer_types":
                              ["full_attention", "sliding_attention"] * 40},
     "full_attention_layers", 40),
    ("deepseek-v3", {"vision_config": None, "sliding_window": None}, "sliding_window", None),
    ("qwen3.5-397b-a17b", {"layer_types": None}, "linear_layers", 45),
    ("qwen3.5-397b-a17b", {"layer_types": None, "full_attention_interval": None},
     "linear_layers", 45),
    ("qwen3.5-397b-a17b", {"full_attention_interval": None, "layer_types":
                           ["linear_attention", "full_attention"] * 30}, "linear_layers", 30),
    ("qwen3.5-397b-a17b", {"model_type": "qwen3_5_moe"}, "attention_output_gate", True),
    ("kimi-k3", {}, "linear_gate_rank", None),
    ("kimi-k3", {"linear_attn_config": KIMI | {"use_full_rank_gate": False}},
     "linear_gate_rank", 128),
    ("kimi-k3", {"mla_use_output_gate": False}, "attention_output_gate", False),
    ("kimi-k3", {"attn_res_block_size": 0, "hidden_act": "silu"}, "missing", None),
    ("glm-5.3-flash", {"linear_head_dim": 128, "linear_conv_kernel_dim": 4, "linear_num_heads": 64},
     "linear_layers", 34),
    ("qwen3-30b-a3b", {"use_qk_norm": True}, "qk_norm", True),
    ("glm-5.3-flash", {}, "linear_gate_rank", 128), ("glm-5.3-flash", {}, "compress_ratio", 4),
    ("glm-5.3-flash", {"layer_types": None, "index_kpool": 2}, "index_topk", 1024),
    ("glm-5.3-flash", {"qk_rope_head_dim": 64, "qk_head_dim": 320, "head_dim": 64},
     "qk_rope_head_dim", 64),
    ("minimax-m3", {"num_nextn_predict_layers": None}, "num_nextn_predict_layers", 7),
    ("minimax-m3", {"first_k_dense_replace": None, "layer_types":
                    ["full_attention"] * 3 + ["minimax_m3_sparse"] * 57}, "sparse_layers", 57),
])
def test_what_the_modelling_code_says(written, name, changes, field, value):
    found = getattr(huggingface.import_config(written(name, **changes)).model, field)
    assert (found.value if isinstance(found, Value) else found) == value


@pytest.mark.parametrize(("text", "says"), [
    ("", "not valid JSON"), ("{", "not valid JSON"), ("[]", "expected a JSON object"),
    ("null", "expected a JSON object"), ("{'a': 1}", "not valid JSON"),
    ('{"a": NaN}', "not a finite number"), ('{\n"a": -Infinity}', ":2: '-Infinity' is not"),
    ('{"a": 1e999}', "not a finite number"), ('{"a": ' + "9" * 5000 + "}", "5000 digits"),
    ('{"a": 1,\n\n"a": 2}', ":3: the key 'a' is given twice"),
    ('{"b": [{"a": 1, "\\u0061": 2}]}', "given twice"), ('{"a": "\n"}', "not valid JSON"),
    ("[" * 100_000, "nested deeper"), ('{"a":' * 100_000, "nested deeper"),
    ('"' + '\\"' * 400_000, "not valid JSON"), ("\x00", "not valid JSON"),
    ('{"a": "\ud800"}', "not UTF-8"), (" " * (1 << 23) + "{}", "larger than"),
    ('{"model_type": "\\ud800\\n"}', "'model_type' is '"),
])
def test_a_file_that_is_no_configuration(tmp_path, text, says):
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    sentence = refusal(path)
    assert sentence.startswith(str(path))
    assert says in sentence
    assert sentence.isprintable()
    assert len(sentence) < len(str(path)) + 350  # all families are named


def test_what_is_no_file(tmp_path):
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(100_000_000)
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    assert "larger than" in refusal(large)
    assert "a folder" in refusal(tmp_path)
    assert "no such file" in refusal(tmp_path / "none.json")
    assert "not a regular file" in refusal(Path("/dev/zero"))
    assert str(loop) in refusal(loop)
    assert "cannot be read" in refusal(Path("a\0b"))
    assert "no such file" in refusal(Path("\udcff"))


def test_a_file_is_written_whole_and_never_over_another(command, tmp_path, written, monkeypatch):
    config, target = written(), tmp_path / "own.yml"
    target.write_text("mine", encoding="utf-8")
    assert "the file exists, --force" in command(config, "-o", target)[2]
    assert target.read_text(encoding="utf-8") == "mine"
    assert command(config, "-o", target, "--force")[0] == 0
    catalogue.load_model(target)
    for bad, says in [(config, "ends in .yml"), (tmp_path / "a\nb.yml", "not the name of"),
                      (tmp_path / "no" / "a.yml", "cannot be written"),
                      (tmp_path / ("x" * 300 + ".yml"), "cannot be written")]:
        assert says in command(config, "-o", bad, "--force")[2]
    (tmp_path / "folder.yml").mkdir()
    assert "cannot be written" in command(config, "-o", tmp_path / "folder.yml", "--force")[2]
    twin = config.rename(tmp_path / "config.yml")
    assert "the configuration itself" in command(twin, "-o", twin, "--force")[2]
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space")))
    assert command(twin, "-o", tmp_path / "full.yml")[0] == 2
    assert {path.name for path in tmp_path.iterdir()} == {"config.yml", "own.yml", "folder.yml"}


def test_nothing_is_printed_for_a_refused_configuration(command, written, tmp_path):
    code, out, err = command(written(hidden_size=0), "--json", "-o", tmp_path / "a.yml")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert not (tmp_path / "a.yml").exists()


def test_the_tables_are_consistent():
    assert not ARCHITECTURAL & IRRELEVANT
    assert not set(UNMODELLED) & set(FAMILIES)
    assert {key for new in UNMODELLED.values() for key in new.keys} <= ARCHITECTURAL
    for family in FAMILIES.values():
        assert set(family.counts) <= set(LARGEST)
        assert re.fullmatch(r"(\w+)/modeling_\1\.py", family.code)
    widest = {key: LARGEST[key] for key in ("num_hidden_layers", "n_routed_experts", "hidden_size",
                                            "moe_intermediate_size")}
    assert 3 * math.prod(widest.values()) < 2**62  # counts stay exact in 64 bits


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner,
                                                                max_size=4), max_leaves=12)
FIELDS = sorted({key for name in NAMES for key in stated(name)} | ARCHITECTURAL)


@pytest.fixture(scope="module")
def scratch(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("configs") / "config.json"


def imports_or_says_why(path: Path, value: object) -> None:
    path.write_text(json.dumps(value), encoding="utf-8")
    try:
        result = huggingface.import_config(path)
    except ParamsError as error:
        problem = str(error)
    else:
        counted = parameters(result.model)
        assert counted["total"] >= counted["active"] > 0 <= counted["routed"]
        own = path.with_suffix(".yml")
        own.write_text(result.text, encoding="utf-8")
        assert parameters(catalogue.load_model(own)) == counted
        return
    assert problem.startswith(str(path))
    assert problem.isprintable()


@given(value=JSON | st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=8))
def test_any_json_imports_or_is_refused_in_one_sentence(scratch, value):
    imports_or_says_why(scratch, value)


@given(name=st.sampled_from(NAMES), field=st.sampled_from(FIELDS), delete=st.booleans(),
       value=JSON | st.integers(-1, 300) | st.sampled_from([1 << n for n in range(0, 60, 4)])
       | st.sampled_from(["silu", "softmax", "sigmoid", ["full_attention"] * 61, *FAMILIES]))
def test_one_changed_field_imports_or_is_refused(scratch, name, field, delete, value):
    data = stated(name) | {field: value}
    if delete:
        del data[field]
    imports_or_says_why(scratch, data)
