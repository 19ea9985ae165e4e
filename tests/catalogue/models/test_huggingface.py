"""Models imported from config.json: parameters as published, fields, and refusals with lines."""

import json
import re
from functools import partial
from pathlib import Path

import pytest
from _door import sentence
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc import parameters
from catalogue import ParamsError, Value
from catalogue.models import fields, huggingface

CONFIGS = Path(__file__).parent / "configs"
NAMES = sorted(path.stem for path in CONFIGS.glob("*.json"))
# Printed by the makers of models that the catalogue lacks [1e9], and to which digits; those of the
# catalogue have their published counts in tests/catalogue/entries.
PRINTED = {"nemotron-h-56b": (56, 0.5), "nemotron-3.5-lightning": (31.6, 0.05)}
# of the catalogue, where it has another name
CATALOGUE = {"qwen2.5-72b-instruct": "qwen2.5-72b", "deepseek-v4-flash-fp8": "deepseek-v4-flash"}
OURS = ("id", "name", "also", "note", "defaults", "published", "family", "weights", "fp16_overflow",
        "vision_parameters", "vision_whole_parameters", "vision_heads", "layers", "model_class",
        "drafters")


def stated(name):
    return json.loads((CONFIGS / f"{name}.json").read_text(encoding="utf-8"))


KIMI = stated("kimi-k3")["text_config"]["linear_attn_config"]


@pytest.fixture
def written(tmp_path):
    """Write a configuration: fields of a published one's language model, changed."""
    def write(name="deepseek-v3", /, without=(), **changes):
        whole = stated(name)
        part = whole.get("text_config", whole)
        data = {key: value for key, value in part.items() if key not in without} | changes
        data = data if part is whole else whole | {"text_config": data}
        path = tmp_path / "config.json"
        path.write_text(json.dumps(data, indent=1), encoding="utf-8")
        return path
    return write


refusal = partial(sentence, huggingface.import_config)


@pytest.mark.parametrize("name", NAMES)
def test_published_configurations(name):
    """The shapes of the catalogue, or the printed number of parameters."""
    result = huggingface.import_config(CONFIGS / f"{name}.json")
    assert result.unknown == []
    known = CATALOGUE.get(name, name)
    if known not in catalogue.names("models"):
        printed, digits = PRINTED[name]
        assert parameters(result.model)["total"] / 1e9 == pytest.approx(printed, abs=digits)
        return
    ours = catalogue.load_model(known)
    for field in type(ours).model_fields:  # the catalogue has a base model, of fewer positions
        if field not in OURS and (field, name) != ("max_position_embeddings",
                                                   "qwen2.5-72b-instruct"):
            first, second = (value.value if isinstance(value, Value) else value for value in (
                getattr(ours, field), getattr(result.model, field)))
            assert first == second, field


def test_import_writes_a_model_file(cli, tmp_path):
    config, target = CONFIGS / "kimi-k3.json", tmp_path / "own.yml"
    assert cli("import-model", str(config), "-o", str(target), "--name", 'a "1": yes')[0] == 0
    model = catalogue.load_model(target)
    assert model.name["zh"] == 'a "1": yes'
    assert parameters(model) == parameters(huggingface.import_config(config).model)
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(("name", "changes", "field", "value"), [
    ("llama-3.1-8b", {"num_key_value_heads": None}, "num_key_value_heads", 32),
    ("deepseek-v3", {"head_dim": 64, "qk_head_dim": 192}, "qk_rope_head_dim", 64),
    ("deepseek-v2-lite", {"n_group": 8, "topk_group": 3}, "topk_group", 1),  # greedy
    ("deepseek-v4-flash", {"compress_ratios": [0, 4] + [128] * 41}, "compressed_layers", 1),
    ("glm-5", {"index_topk_freq": 4}, "indexer_layers", 21),
    ("gpt-oss-120b", {"layer_types": None}, "full_attention_layers", 18),
    ("mixtral-8x7b", {"sliding_window": 4096}, "full_attention_layers", 0),
    ("qwen2.5-72b-instruct", {"use_sliding_window": True}, "full_attention_layers", 70),
    ("qwen3.5-397b-a17b", {"full_attention_interval": None, "layer_types":
                           ["linear_attention", "full_attention"] * 30}, "linear_layers", 30),
    ("kimi-k3", {"linear_attn_config": KIMI | {"use_full_rank_gate": False}},
     "linear_gate_rank", 128),
    ("glm-5.3-flash", {"layer_types": None, "index_kpool": 2}, "index_topk", 1024),
    ("minimax-m3", {"first_k_dense_replace": None, "layer_types":
                    ["full_attention"] * 3 + ["minimax_m3_sparse"] * 57}, "sparse_layers", 57),
    ("nemotron-h-56b", {"hybrid_override_pattern": None, "num_hidden_layers": None,
                        "layers_block_type": ["mamba", "mlp", "attention"]},
     "num_hidden_layers", 2),
    ("llama-4-maverick", {"moe_layers": [47], "interleave_moe_layer_step": None},
     "first_k_dense_replace", 47),
    ("llama-4-scout", {"no_rope_layers": [1, 0] * 24}, "full_attention_layers", 24),
    ("gemma-4-26b-a4b", {"layer_types": None}, "full_attention_layers", 5),
    ("gemma-4-26b-a4b", {"enable_moe_block": False}, "n_routed_experts", None),
    ("gemma-4-26b-a4b", {"num_global_key_value_heads": None}, "num_key_value_heads", 8),
    ("kimi-linear-48b", {"moe_router_activation_func": "sigmoid"}, "linear_layers", 20),
    ("step-3.7-flash", {"layer_types": ["full_attention"] * 48}, "sliding_window", None),
    ("step-3.7-flash", {"first_k_dense_replace": None, "moe_layers_enum": "3,4,5"},
     "first_k_dense_replace", 42)])
def test_fields_as_the_modelling_code_reads_them(written, name, changes, field, value):
    found = getattr(huggingface.import_config(written(name, **changes)).model, field)
    assert (found.value if isinstance(found, Value) else found) == value


@pytest.mark.parametrize(("name", "changes"), [
    *(("deepseek-v3", {"num_hidden_layers": bad}) for bad in ("128", 128.5, True, 0, 10**12)),
    *(("deepseek-v3", {key: bad}) for key, bad in [
        ("num_experts_per_tok", 257), ("moe_layer_freq", 2), ("scoring_func", "softmax"),
        ("hidden_act", "gelu"), ("attention_bias", True), ("num_key_value_heads", 1),
        ("architectures", ["LlamaForCausalLM"]), ("index_topk", 2048), ("engram_layer_ids", 2)]),
    ("deepseek-v3.2", {"q_lora_rank": None}), ("glm-5.2", {"indexer_types": ["full"] * 78}),
    ("deepseek-v4-flash", {"compress_ratios": [4, 128]}), ("deepseek-v4-flash", {"o_groups": 7}),
    ("minimax-m2.5", {"qk_norm_type": "per_head"}), ("qwen3-30b-a3b", {"mlp_only_layers": [0]}),
    ("llama-3.1-8b", {"num_key_value_heads": 5}), ("gpt-oss-120b", {"experts_per_token": 8}),
    ("qwen3.5-397b-a17b", {"layer_types": ["full_attention"] * 60}),
    ("qwen3.5-397b-a17b", {"linear_num_key_heads": 24}),
    ("kimi-k3", {"linear_attn_config": KIMI | {"num_heads": 0}}),
    ("kimi-k3", {"linear_attn_config": KIMI | {"kda_layers": [1, 2]}}),
    ("glm-5.3-flash", {"index_kpool": 0}), ("minimax-m3", {"moe_layer_freq": [1, 0] * 30}),
    ("nemotron-h-56b", {"hybrid_override_pattern": "-M"}),
    ("nemotron-h-56b", {"num_hidden_layers": 54}),
    ("nemotron-3-super", {"layer_types": ["linear_attention", "moe"]}),
    ("nemotron-3-super", {"moe_shared_expert_intermediate_size": 2689}),
    ("llama-4-scout", {"moe_layers": [48]}), ("mimo-v2-flash", {"sliding_window_size": 64}),
    ("mimo-v2-flash", {"layer_types": ["full_attention"] * 48}),
    ("gemma-4-26b-a4b", {"num_kv_shared_layers": 2}), ("llama-3.1-8b", {"moe_latent_size": 8})])
def test_what_is_not_modelled_is_refused_at_its_line(written, name, changes):
    path, (field,) = written(name, **changes), changes
    number = 1 + next(index for index, line in enumerate(path.read_text("utf-8").splitlines())
                      if line.lstrip().startswith(f'"{field}":'))
    message = refusal(path)
    assert re.match(rf"{re.escape(str(path))}:{number}: '{field}(\.\w+)?' is ", message), message
    assert ", expected " in message


def test_unknown_family_names_the_nearest(written):
    message = refusal(written("llama-3.1-8b", model_type="qwen3_moes"))
    assert re.search(r"qwen3_moe\b", message)
    assert "--family FILE" in message
    assert "--family" in message


def test_a_family_of_the_readers_own(written, cli, tmp_path):
    """Fields under other names and layers by letters, described without code."""
    own = tmp_path / "mine.yml"
    own.write_text("""like: llama
architectures: [MineForCausalLM]
fields: {hidden_size: width}
layers: [{by: each, field: pattern, kinds: {F: full, W: window}}]
window: {fields: reach}
""", "utf-8")
    path = written("llama-3.1-8b", without=("hidden_size",), model_type="mine", width=4096,
                   architectures=["MineForCausalLM"], pattern="FW" * 16, reach=1024)
    model = huggingface.import_config(path, family=str(own)).model
    alike = huggingface.import_config(CONFIGS / "llama-3.1-8b.json").model
    assert parameters(model) == parameters(alike)
    assert (model.full_attention_layers.value, model.sliding_window.value) == (16, 1024)
    assert cli("check", str(own))[0] == 0
    refusal(path)
    own.write_text("like: llama\nfields: {hiden_size: width}\n", "utf-8")
    with pytest.raises(ParamsError, match=f"{own}:2: fields.hiden_size: 'hiden_size' is no field"):
        huggingface.import_config(path, family=str(own))


GROUP = {"weights": {"type": "int", "num_bits": 4, "group_size": 32, "symmetric": True}}
BLOCK = {"quant_method": "fp8", "weight_block_size": [128, 128]}


@pytest.mark.parametrize(("name", "config", "precision"), [
    ("deepseek-v3", BLOCK, "fp8-block"), ("deepseek-v4-flash", BLOCK | {"scale_fmt": "ue8m0"},
                                          "fp8-mxfp4"),
    ("deepseek-v4-flash-fp8", BLOCK | {"scale_fmt": "ue8m0"}, "fp8-block-e8m0"),
    ("kimi-k2", {"quant_method": "compressed-tensors", "config_groups": {"group_0": GROUP}},
     "int4-w4a16"),
    ("gpt-oss-120b", {"quant_method": "mxfp4"}, "mxfp4-w4a16"),
    ("deepseek-v3", {"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
    ("deepseek-v3", {"quant_method": "awq", "bits": 4, "group_size": 64}, "w4a16-awq"),
    ("deepseek-v3", {"quant_method": "fp8", "weight_block_size": [64, 64]}, None),
    ("deepseek-v3", {"quant_method": "modelopt", "quant_algo": "FP8"}, None),
    ("deepseek-v3", {}, None)])
def test_the_published_format(written, name, config, precision):
    result = huggingface.import_config(written(name, quantization_config=config))
    assert (result.model.weights and result.model.weights.precision) == precision
    assert result.published.quantized == bool(config)


def test_the_language_model_of_a_larger_one_is_imported(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps({
        "model_type": "kimi_k25", "text_config": stated("kimi-k2"), "rest": 1,
        "vision_config": {"hidden_size": 1152}}), "utf-8")
    result = huggingface.import_config(path)
    alone = huggingface.import_config(CONFIGS / "kimi-k2.json")
    assert parameters(result.model) == parameters(alone.model)
    assert (result.used, result.unknown) == (alone.used, ["rest"])


@pytest.mark.parametrize("text", [
    "", "[]", "{'a': 1}", '{"a": ' + "9" * 5000 + "}",
    '{"a": 1,\n\n"a": 2}', '{"a":' * 100_000, "\x00", '{"a": "\ud800"}', " " * (1 << 23) + "{}",
    '{"model_type": "\\ud800\\n"}'], ids=lambda text: repr(text[:12]))
def test_what_is_no_configuration(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    message = refusal(path)
    assert message.startswith(str(path))
    assert message.isprintable()
    assert len(message) < len(str(path)) + 350


JSON = st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.lists(st.integers())
FIELDS = sorted({key for name in NAMES for key in stated(name)}
                | fields.configurations().architectural)


@given(name=st.sampled_from(NAMES), field=st.sampled_from(FIELDS),
       value=JSON | st.integers(-1, 300) | st.sampled_from([1 << n for n in range(0, 60, 4)])
       | st.sampled_from(["silu", "softmax", "sigmoid", ["full_attention"] * 61,
                          *fields.family_names()]))
@settings(max_examples=25)
def test_one_changed_field_imports_or_is_refused(tmp_path_factory, name, field, value):
    path = tmp_path_factory.getbasetemp() / "config.json"
    path.write_text(json.dumps(stated(name) | {field: value}), encoding="utf-8")
    result, problem = None, f"{path}: imported"
    try:
        result = huggingface.import_config(path)
    except ParamsError as error:
        problem = str(error)
    assert problem.startswith(str(path))
    assert problem.isprintable()
    if result:
        counted = parameters(result.model)
        assert counted["total"] >= counted["active"] > 0 <= counted["routed"]
        path.with_suffix(".yml").write_text(result.text, encoding="utf-8")
        assert parameters(catalogue.load_model(path.with_suffix(".yml"))) == counted
