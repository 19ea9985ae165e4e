"""Models imported from config.json: parameters as published, fields, and refusals with lines."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc import parameters
from catalogue import ParamsError, Value
from catalogue.models import huggingface
from catalogue.models.families import ARCHITECTURAL, FAMILIES
from catalogue.models.unmodelled import UNMODELLED

CONFIGS = Path(__file__).parent / "configs"
NAMES = sorted(path.stem for path in CONFIGS.glob("*.json"))
# Numbers in the published weights as Hugging Face counts them (safetensors): the keys `*-count` of
# params/sources/models.yml; for Llama 70B the index file; where the files hold more, what is
# printed by the makers [1e9], and to which digits.
PUBLISHED = {
    "deepseek-v2-lite": 15_706_484_224, "gpt-oss-120b": 116_829_156_672,
    # less what norms of queries and keys have beyond one head of each
    "minimax-m2.5": 228_689_764_864 - 62 * (48 + 8 - 2) * 128,
    "kimi-k2": 1_026_408_235_864 - 61 * 56,  # less the rotary frequencies stored in each layer
    "llama-3.1-70b": 70_553_706_496, "llama-3.1-8b": 8_030_261_248,
    "mixtral-8x7b": 46_702_792_704, "qwen2.5-72b-instruct": 72_706_203_648,
    "qwen3-235b-a22b": 235_093_634_560, "qwen3-30b-a3b": 30_532_122_624}
PRINTED = {
    "deepseek-v3": (671, 0.5), "deepseek-v3.2": (671, 1), "glm-4.5": (355, 3),
    "deepseek-v4-flash": (284, 0.5), "deepseek-v4-pro": (1600, 50), "glm-5": (744, 0.5),
    "glm-5.2": (743, 0.5), "kimi-k2.5": (1000, 50), "kimi-k3": (2800, 50), "minimax-m3": (427, 1),
    "qwen3.5-397b-a17b": (397, 1), "qwen3.6-35b-a3b": (35, 0.5), "qwen3.8-2.4t-a95b": (2400, 50),
    "glm-5.3-flash": (321, 8)}
RELATIVES = {  # configurations here, changed, and the count of Hugging Face
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
OURS = ("id", "name", "also", "note", "defaults", "published", "family", "weights", "fp16_overflow")


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


def refusal(path, **options):
    with pytest.raises(ParamsError) as raised:
        huggingface.import_config(path, **options)
    message = str(raised.value)
    assert "\n" not in message
    assert message.endswith(".")
    return message


@pytest.mark.parametrize("name", NAMES)
def test_published_configurations(name):
    """The published parameters, and the shapes of the catalogue."""
    result = huggingface.import_config(CONFIGS / f"{name}.json")
    total = parameters(result.model)["total"]
    assert result.unknown == []
    if name in PUBLISHED:
        assert total == PUBLISHED[name]
    else:
        printed, digits = PRINTED[name]
        assert total / 1e9 == pytest.approx(printed, abs=digits)
    ours = catalogue.load_model(name.removesuffix("-instruct"))
    for field in type(ours).model_fields:  # the catalogue has a base model, of fewer positions
        if field not in OURS and (field, name) != ("max_position_embeddings",
                                                   "qwen2.5-72b-instruct"):
            first, second = (value.value if isinstance(value, Value) else value for value in (
                getattr(ours, field), getattr(result.model, field)))
            assert first == second, field


@pytest.mark.parametrize("relative", RELATIVES)
def test_relatives_have_the_published_parameters(written, relative):
    name, count, changes = RELATIVES[relative]
    assert parameters(huggingface.import_config(written(name, **changes)).model)["total"] == count


@pytest.mark.parametrize("name", ["deepseek-v3", "kimi-k3", "llama-3.1-8b"])
def test_import_writes_a_model_file(cli, tmp_path, name):
    target = tmp_path / "own.yml"
    code, out, err = cli("import-model", str(CONFIGS / f"{name}.json"), "-o", str(target),
                         "--name", "模型 \"1\": yes")
    assert (code, out) == (0, "")
    model = catalogue.load_model(target)
    assert model.name["zh"] == '模型 "1": yes'
    assert parameters(model) == parameters(
        huggingface.import_config(CONFIGS / f"{name}.json").model)
    assert f"{parameters(model)['total']:,}" in err
    assert list(tmp_path.iterdir()) == [target]


def test_import_accounts_for_every_field(cli, written):
    path = written(future_field=[1], _name_or_path="deepseek-ai/DeepSeek-V3", other_field="x")
    code, out, _ = cli("import-model", str(path), "--json")
    assert code == 0
    data, fields = json.loads(out), json.loads(path.read_text(encoding="utf-8"))
    assert sorted([*data["used"], *data["ignored"], *data["unknown"]]) == sorted(fields)
    assert data["unknown"] == ["future_field", "other_field"]
    assert data["used"]["n_routed_experts"] == "n_routed_experts"
    assert data["model"]["name"]["en"] == "DeepSeek-V3"
    assert data["implied"].keys() == {"router_bias"}


def test_import_never_overwrites_a_file_unless_forced(cli, tmp_path, written):
    config, target = str(written()), tmp_path / "own.yml"
    target.write_text("mine", encoding="utf-8")
    assert cli("import-model", config, "-o", str(target))[0] == 2
    assert target.read_text(encoding="utf-8") == "mine"
    assert cli("import-model", config, "-o", str(target), "--force")[0] == 0
    catalogue.load_model(target)
    for bad in (config, tmp_path / "a\nb.yml", tmp_path / "no" / "a.yml", tmp_path):
        assert cli("import-model", config, "-o", str(bad), "--force")[0] == 2
    assert cli("import-model", str(written(hidden_size=0)), "-o", str(tmp_path / "a.yml"))[0] == 2
    assert not (tmp_path / "a.yml").exists()


@pytest.mark.parametrize(("name", "changes", "field", "value"), [
    ("qwen2.5-72b-instruct", {}, "attention_bias", True),
    ("qwen3-30b-a3b", {"attention_bias": True}, "attention_output_bias", True),
    ("glm-4.5", {"use_qk_norm": False}, "qk_norm", False),
    ("llama-3.1-8b", {"num_key_value_heads": None}, "num_key_value_heads", 32),
    ("deepseek-v3", {"n_shared_experts": None}, "n_shared_experts", 0),
    ("deepseek-v3", {"head_dim": 64, "qk_head_dim": 192}, "qk_rope_head_dim", 64),
    ("deepseek-v3", {"n_group": None, "topk_group": None}, "n_group", None),
    ("deepseek-v2-lite", {"n_group": 8, "topk_group": 3}, "topk_group", 1),  # greedy
    ("deepseek-v3", {"num_mtp_layers": 1}, "num_nextn_predict_layers", 1),
    ("deepseek-v3.2", {"mlp_layer_types": ["dense"] * 3 + ["sparse"] * 58,
                       "layer_types": ["indexed_attention"] * 61}, "first_k_dense_replace", 3),
    ("deepseek-v4-flash", {"compress_ratios": [0, 4] + [128] * 41}, "compressed_layers", 1),
    ("deepseek-v4-flash", {"compress_ratios": [4] * 44}, "heavy_layers", 0),
    ("minimax-m2.5", {}, "num_nextn_predict_layers", 0),
    ("glm-5", {}, "indexer_layers", None), ("glm-5", {"index_topk_freq": 4}, "indexer_layers", 21),
    ("glm-5.2", {"indexer_types": None}, "indexer_layers", 21),
    ("gpt-oss-120b", {"layer_types": None}, "full_attention_layers", 18),
    ("gpt-oss-120b", {"layer_types": ["full_attention"] * 36}, "full_attention_layers", None),
    ("mixtral-8x7b", {"sliding_window": 4096}, "full_attention_layers", 0),
    ("qwen3-30b-a3b", {"sliding_window": 4096}, "sliding_window", None),
    ("qwen2.5-72b-instruct", {"use_sliding_window": True}, "full_attention_layers", 70),
    ("qwen3.5-397b-a17b", {"layer_types": None, "full_attention_interval": None},
     "linear_layers", 45),
    ("qwen3.5-397b-a17b", {"full_attention_interval": None, "layer_types":
                           ["linear_attention", "full_attention"] * 30}, "linear_layers", 30),
    ("kimi-k3", {"linear_attn_config": KIMI | {"use_full_rank_gate": False}},
     "linear_gate_rank", 128),
    ("kimi-k3", {"mla_use_output_gate": False}, "attention_output_gate", False),
    ("glm-5.3-flash", {}, "compress_ratio", 4),
    ("glm-5.3-flash", {"layer_types": None, "index_kpool": 2}, "index_topk", 1024),
    ("minimax-m3", {"first_k_dense_replace": None, "layer_types":
                    ["full_attention"] * 3 + ["minimax_m3_sparse"] * 57}, "sparse_layers", 57)])
def test_fields_as_the_modelling_code_reads_them(written, name, changes, field, value):
    found = getattr(huggingface.import_config(written(name, **changes)).model, field)
    assert (found.value if isinstance(found, Value) else found) == value


@pytest.mark.parametrize(("name", "changes"), [
    *(("deepseek-v3", {"num_hidden_layers": bad}) for bad in ("128", 128.5, True, None, 0, 10**12)),
    *(("deepseek-v3", {key: bad}) for key, bad in [
        ("vocab_size", 10**9), ("num_experts_per_tok", 257), ("first_k_dense_replace", 62),
        ("moe_layer_freq", 2), ("scoring_func", "softmax"), ("topk_method", "greedy"),
        ("hidden_act", "gelu"), ("attention_bias", True), ("num_key_value_heads", 1),
        ("head_dim", 128), ("model_type", "x"), ("architectures", ["LlamaForCausalLM"]),
        ("vision_config", {"depth": 2}), ("index_topk", 2048), ("tie_word_embeddings", "no"),
        ("use_sliding_window", True), ("layer_types", ["linear_attention"] * 61),
        ("engram_layer_ids", 2), ("max_position_embeddings", "128k")]),
    ("deepseek-v3.2", {"q_lora_rank": None}), ("glm-5.2", {"indexer_types": ["full"] * 78}),
    *(("deepseek-v4-flash", {key: bad}) for key, bad in [
        ("compress_ratios", [4, 128]), ("compress_ratios", [8] + [4] * 42), ("o_groups", 7),
        ("expert_dtype", "int4"), ("num_key_value_heads", 2), ("sliding_window", None)]),
    ("minimax-m2.5", {"qk_norm_type": "per_head"}), ("qwen3-30b-a3b", {"mlp_only_layers": [0]}),
    ("qwen3-30b-a3b", {"num_experts": None}), ("qwen3-30b-a3b", {"use_sliding_window": 1}),
    ("qwen2.5-72b-instruct", {"attention_bias": False}), ("llama-3.1-8b", {"mlp_bias": True}),
    ("llama-3.1-8b", {"num_key_value_heads": 5}), ("gpt-oss-120b", {"experts_per_token": 8}),
    *(("qwen3.5-397b-a17b", {key: bad}) for key, bad in [
        ("layer_types", ["full_attention"] * 60), ("full_attention_interval", 0),
        ("linear_num_key_heads", 24), ("attn_output_gate", False)]),
    *(("kimi-k3", {key: bad}) for key, bad in [
        ("linear_attn_config", None), ("linear_attn_config", KIMI | {"num_heads": 0}),
        ("linear_attn_config", KIMI | {"kda_layers": [1, 2]}), ("num_expert_group", 8)]),
    *(("glm-5.3-flash", {key: bad}) for key, bad in [
        ("index_kpool", 0), ("linear_num_heads", 32), ("index_topk", 2046), ("hc_mult", 0)]),
    *(("minimax-m3", {key: bad}) for key, bad in [
        ("moe_layer_freq", [1, 0] * 30), ("first_k_dense_replace", 4),
        ("sparse_attention_config", None)])])
def test_what_is_not_modelled_is_refused_at_its_line(written, name, changes):
    path, (field,) = written(name, **changes), changes
    number = 1 + next(index for index, line in enumerate(path.read_text("utf-8").splitlines())
                      if line.lstrip().startswith(f'"{field}":'))
    message = refusal(path)
    assert re.match(rf"{re.escape(str(path))}:{number}: '{field}(\.\w+)?' is ", message), message
    assert ", expected " in message


@pytest.mark.parametrize(("name", "field"), [
    *(("deepseek-v3", field) for field in (
        "model_type", "num_hidden_layers", "hidden_act", "topk_method", "scoring_func",
        "n_routed_experts", "q_lora_rank", "first_k_dense_replace", "n_shared_experts")),
    ("mixtral-8x7b", "num_key_value_heads"), ("deepseek-v4-pro", "compress_ratios"),
    ("deepseek-v4-pro", "sliding_window"), ("deepseek-v4-flash", "head_dim")])
def test_a_missing_field_is_named(written, name, field):
    path = written(name, without=(field,))
    assert refusal(path).startswith(f"{path}: '{field}' is missing, expected ")


def test_an_unmodelled_model_type_names_what_is_new(written):
    message = refusal(written(model_type="deepseek_v41_text", kv_source_layer_ids=[2, 8]))
    assert ": 'kv_source_layer_ids' is a list, which in deepseek_v41_text means " in message
    for place in re.findall(r"[\w/]+(?:\.py|\.md|/(?=,))", message.partition("to add it")[2]):
        assert (Path(catalogue.__file__).parents[1] / place).exists(), place
    assert {new.counted for new in UNMODELLED.values()} <= set(catalogue.names("models"))


def wrapped(**outside):
    """A published configuration as the language model's part of a larger one."""
    return {"model_type": "kimi_k25", "architectures": ["KimiK25ForConditionalGeneration"],
            "text_config": stated("kimi-k2"), "vision_config": {"hidden_size": 1152}} | outside


def imported(tmp_path, data):
    (tmp_path / "config.json").write_text(json.dumps(data, indent=1), "utf-8")
    return huggingface.import_config(tmp_path / "config.json")


def test_the_language_model_of_a_larger_one_is_imported(tmp_path):
    result = imported(tmp_path, wrapped(quantization_config={"bits": 4}, rest=1))
    alone = huggingface.import_config(CONFIGS / "kimi-k2.json")
    assert parameters(result.model) == parameters(alone.model)
    assert (result.used, result.unknown) == (alone.used, ["rest"])
    # MiniMax-M3 as it is published: its part states no type, and lists the layers that are dense
    twice = ("model_type", "architectures", "first_k_dense_replace", "moe_intermediate_size")
    part = {key: value for key, value in stated("minimax-m3").items() if key not in twice}
    result = imported(tmp_path, wrapped(model_type="minimax_m3_vl", text_config=part))
    alone = huggingface.import_config(CONFIGS / "minimax-m3.json")
    assert parameters(result.model) == parameters(alone.model)
    part = {key: value for key, value in stated("kimi-k2").items() if key != "tie_word_embeddings"}
    tied = imported(tmp_path, wrapped(text_config=part, tie_word_embeddings=True))
    assert tied.model.tie_word_embeddings is True


@pytest.mark.parametrize("text", [
    "", "{", "[]", "null", "{'a': 1}", '{"a": NaN}', '{\n"a": -Infinity}', '{"a": 1e999}',
    '{"a": ' + "9" * 5000 + "}", '{"a": 1,\n\n"a": 2}', '{"a": "\n"}', "[" * 100_000,
    '{"a":' * 100_000, '"' + '\\"' * 400_000, "\x00", '{"a": "\ud800"}', " " * (1 << 23) + "{}",
    '{"model_type": "\\ud800\\n"}'], ids=lambda text: repr(text[:12]))
def test_what_is_no_configuration(tmp_path, text):
    path = tmp_path / "config.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    message = refusal(path)
    assert message.startswith(str(path))
    assert message.isprintable()
    assert len(message) < len(str(path)) + 350  # all families are named


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner,
                                                                max_size=4), max_leaves=8)
FIELDS = sorted({key for name in NAMES for key in stated(name)} | ARCHITECTURAL)


@given(name=st.sampled_from(NAMES), field=st.sampled_from(FIELDS),
       value=JSON | st.integers(-1, 300) | st.sampled_from([1 << n for n in range(0, 60, 4)])
       | st.sampled_from(["silu", "softmax", "sigmoid", ["full_attention"] * 61, *FAMILIES]))
@settings(max_examples=60)
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
