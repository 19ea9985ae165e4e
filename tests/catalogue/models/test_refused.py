"""Which part of a configuration is read, and which configurations are refused, in one sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import catalogue
from calc import parameters
from catalogue.models import huggingface
from catalogue.models.unmodelled import UNMODELLED
from tests.catalogue.models.test_import_model import CONFIGS, KIMI, refusal, stated


def wrapped(**outside) -> dict:
    """A published configuration as the language model's part of a larger one."""
    return {"model_type": "kimi_k25", "architectures": ["KimiK25ForConditionalGeneration"],
            "text_config": stated("kimi-k2"), "vision_config": {"hidden_size": 1152}} | outside


def test_the_part_of_the_language_model_is_read(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(wrapped(quantization_config={"bits": 4}, rest=1)), "utf-8")
    result = huggingface.import_config(path)
    plain = huggingface.import_config(CONFIGS / "kimi-k2.json")
    assert parameters(result.model) == parameters(plain.model)
    assert result.used == plain.used
    assert result.beside == ["model_type", "architectures", "vision_config", "quantization_config"]
    assert result.unknown == ["rest"]


def test_a_part_that_does_not_say_its_type_has_that_of_the_whole(tmp_path):
    """As MiniMax-M3 is published: the layers that are dense are listed, not counted."""
    path = tmp_path / "config.json"
    said_twice = ("model_type", "architectures", "first_k_dense_replace", "moe_intermediate_size")
    part = {key: value for key, value in stated("minimax-m3").items() if key not in said_twice}
    path.write_text(json.dumps(wrapped(model_type="minimax_m3_vl", text_config=part)), "utf-8")
    plain = huggingface.import_config(CONFIGS / "minimax-m3.json")
    result = huggingface.import_config(path)
    assert parameters(result.model) == parameters(plain.model)
    assert result.model_type == plain.model_type == "minimax_m3"


def test_what_stands_around_alone_is_handed_down(tmp_path):
    path = tmp_path / "config.json"
    part = {key: value for key, value in stated("kimi-k2").items() if key != "tie_word_embeddings"}
    path.write_text(json.dumps(wrapped(text_config=part, tie_word_embeddings=True)), "utf-8")
    result = huggingface.import_config(path)
    assert result.model.tie_word_embeddings is True
    assert "tie_word_embeddings" in result.used


@pytest.mark.parametrize(("outside", "field", "line"), [
    ({"text_config": 7}, "text_config", 6), ({"hidden_size": 5120}, "text_config", 6),
    ({"tie_word_embeddings": True}, "tie_word_embeddings", None),
    ({"text_config": {"model_type": "kimi_k2", "hidden_act": "gelu"}}, "hidden_act", 8),
    ({"text_config": {"model_type": "nobody_knows"}}, "model_type", 7),
])
def test_a_part_that_is_not_understood_is_refused_at_its_line(tmp_path, outside, field, line):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(wrapped(**outside), indent=1), "utf-8")
    sentence = refusal(path)
    assert f": '{field}' is " in sentence
    assert line is None or sentence.startswith(f"{path}:{line}: ")


REFUSED = [
    *(("deepseek-v3", {"num_hidden_layers": bad}, "num_hidden_layers")
      for bad in ("128", 128.5, True, None, 0, -1, 10**12, [61], 1e300)),
    *(("deepseek-v3", {key: bad}, key) for key, bad in [
        ("vocab_size", 10**9), ("n_routed_experts", 0), ("num_experts_per_tok", 257),
        ("num_experts_per_tok", None), ("first_k_dense_replace", 62), ("moe_layer_freq", 2),
        ("scoring_func", "softmax"), ("scoring_func", None), ("topk_method", "greedy"),
        ("hidden_act", "gelu"), ("hidden_act", None), ("attention_bias", True),
        ("num_key_value_heads", 1), ("head_dim", 128), ("qk_head_dim", 576), ("model_type", "x"),
        ("model_type", ["deepseek_v3"]), ("architectures", ["LlamaForCausalLM"]),
        ("architectures", "DeepseekV3ForCausalLM"), ("vision_config", {"depth": 2}),
        ("text_config", {"model_type": "deepseek_v3"}), ("index_topk", 2048),
        ("num_local_experts", 8), ("num_mtp_layers", 2), ("tie_word_embeddings", "no"),
        ("use_sliding_window", True), ("layer_types", ["linear_attention"] * 61),
        ("mlp_layer_types", ["sparse"] * 61), ("is_encoder_decoder", True),
        ("use_qk_norm", True), ("v_head_dim", 0), ("num_nextn_predict_layers", -1),
        ("pruned_heads", {"0": [1]}), ("max_position_embeddings", "128k")]),
    ("deepseek-v3.2", {"q_lora_rank": None}, "q_lora_rank"),
    ("deepseek-v2-lite", {"topk_method": "noaux_tc"}, "topk_method"),
    ("glm-4.5", {"scoring_func": "softmax"}, "scoring_func"),
    *(("deepseek-v4-flash", {key: bad}, key) for key, bad in [
        ("compress_ratios", [4, 128]), ("compress_ratios", [4] * 45),
        ("compress_ratios", [8] + [4] * 42), ("compress_ratios", [128] * 43),
        ("compress_ratios", None), ("expert_dtype", "int4"), ("scoring_func", "sigmoid"),
        ("num_key_value_heads", 2), ("qk_rope_head_dim", 513), ("o_groups", 7),
        ("num_hash_layers", 44), ("hc_mult", 0), ("sliding_window", None),
        ("kv_lora_rank", 512)]),
    ("minimax-m2.5", {"attn_type_list": [1] * 61 + [0]}, "attn_type_list"),
    ("minimax-m2.5", {"use_qk_norm": False}, "use_qk_norm"),
    ("minimax-m2.5", {"qk_norm_type": "per_head"}, "qk_norm_type"),
    ("minimax-m2.5", {"use_routing_bias": False}, "use_routing_bias"),
    ("minimax-m2.5", {"shared_intermediate_size": 3072}, "shared_intermediate_size"),
    ("glm-5", {"head_dim": 128}, "head_dim"),
    ("glm-5", {"indexer_types": ["full"]}, "indexer_types"),
    ("glm-5", {"indexer_types": ["shared"] + ["full"] * 77}, "indexer_types"),
    ("glm-5.2", {"indexer_types": ["full"] * 78}, "indexer_types"),
    ("glm-5.2", {"index_topk_pattern": "FS"}, "index_topk_pattern"),
    ("glm-5.2", {"index_topk_freq": 0}, "index_topk_freq"),
    ("deepseek-v3.2", {"indexer_types": ["full"] * 61}, "indexer_types"),
    ("qwen3-30b-a3b", {"decoder_sparse_step": 2}, "decoder_sparse_step"),
    ("qwen3-30b-a3b", {"mlp_only_layers": [0]}, "mlp_only_layers"),
    ("qwen3-30b-a3b", {"num_experts": None}, "num_experts"),
    ("qwen3-30b-a3b", {"use_qk_norm": False}, "use_qk_norm"),
    ("qwen3-30b-a3b", {"shared_expert_intermediate_size": 512}, "shared_expert_intermediate_size"),
    ("qwen3-30b-a3b", {"use_sliding_window": True}, "sliding_window"),
    ("qwen3-30b-a3b", {"use_sliding_window": 1}, "use_sliding_window"),
    ("qwen2.5-72b-instruct", {"attention_bias": False}, "attention_bias"),
    ("qwen2.5-72b-instruct", {"layer_types": ["sliding_attention"] * 80}, "layer_types"),
    ("llama-3.1-8b", {"num_attention_heads": 33, "num_key_value_heads": 3}, "num_attention_heads"),
    ("llama-3.1-8b", {"num_key_value_heads": 5}, "num_key_value_heads"),
    ("llama-3.1-8b", {"mlp_bias": True}, "mlp_bias"),
    ("llama-3.1-8b", {"num_local_experts": 8}, "num_local_experts"),
    ("llama-3.1-8b", {"sliding_window": 4096}, "sliding_window"),
    ("gpt-oss-120b", {"experts_per_token": 8}, "experts_per_token"),
    ("gpt-oss-120b", {"layer_types": ["full_attention"]}, "layer_types"),
    ("gpt-oss-120b", {"layer_types": [["full_attention"]] * 36}, "layer_types"),
    *(("qwen3.5-397b-a17b", {key: bad}, key) for key, bad in [
        ("layer_types", ["linear_attention"] * 60), ("layer_types", ["full_attention"] * 60),
        ("layer_types", [7] * 60), ("full_attention_interval", 0),
        ("linear_num_key_heads", 24), ("linear_value_head_dim", None), ("attn_output_gate", False),
        ("shared_expert_intermediate_size", 512), ("mtp_use_dedicated_embeddings", True),
        ("output_gate_type", "sigmoid"), ("sliding_window", 4096), ("engram_layer_ids", [1]),
        ("linear_attn_config", KIMI), ("index_topk", 2048), ("routed_expert_hidden_size", 2048)]),
    ("qwen3.5-397b-a17b", {"full_attention_interval": 3}, "layer_types"),
    *(("kimi-k3", {key: bad}, key) for key, bad in [
        ("linear_attn_config", None), ("linear_attn_config", []), ("num_expert_group", 8),
        ("moe_router_activation_func", "softmax"), ("hidden_act", "gelu"),
        ("routed_expert_hidden_size", 0), ("attn_res_block_size", "12"), ("qk_head_dim", 96),
        ("layer_types", ["linear_attention"] * 93), ("num_key_value_heads", 8),
        ("index_topk", 2048), ("hc_mult", 4), ("dense_ffn_hidden", 1),
        ("full_attention_interval", 4)]),
    *(("glm-5.3-flash", {key: bad}, key) for key, bad in [
        ("index_kpool", 0), ("index_kpool", None), ("linear_num_heads", 32),
        ("linear_conv_kernel_dim", 3), ("linear_head_dim", 0), ("index_topk", 2046), ("mhc", False),
        ("index_kpool_compress", False), ("indexer_types", ["full"] * 44 + ["shared"]),
        ("index_kpool_always_select_tail", False), ("attention_output_gate", True),
        ("layer_types", ["linear_attention"] * 45), ("hc_mult", 0), ("qk_rope_head_dim", -1),
        ("routed_expert_hidden_size", 2048), ("index_topk_freq", 4)]),
    *(("minimax-m3", {key: bad}, key) for key, bad in [
        ("sparse_attention_config", None), ("moe_layer_freq", 1), ("moe_layer_freq", [1] * 59),
        ("moe_layer_freq", [1, 0] * 30), ("first_k_dense_replace", 4),
        ("qk_norm_type", "per_layer"),
        ("shared_intermediate_size", 6144), ("moe_intermediate_size", 1536),
        ("attention_output_gate", True), ("layer_types", ["minimax_m3_sparse"] * 60),
        ("num_mtp_modules", -1), ("linear_num_value_heads", 32), ("kv_lora_rank", 512)]),
]


@pytest.mark.parametrize(("name", "changes", "field"), REFUSED)
def test_what_is_not_modelled_or_absurd_is_refused(written, name, changes, field):
    path = written(name, **changes)
    sentence = refusal(path)
    number = 1 + next(index for index, line in enumerate(path.read_text("utf-8").splitlines())
                      if line.lstrip().startswith(f'"{field}":'))
    assert sentence.startswith(f"{path}:{number}: '{field}' is ")
    assert ", expected " in sentence


@pytest.mark.parametrize(("name", "key", "bad"), [
    ("kimi-k3", "linear_attn_config.num_heads", 0),
    ("kimi-k3", "linear_attn_config.head_dim", None),
    ("kimi-k3", "linear_attn_config.kda_layers", [1, 2]),
    ("kimi-k3", "linear_attn_config.kda_layers", list(range(93))),
    ("kimi-k3", "linear_attn_config.use_full_rank_gate", 1),
    ("kimi-k3", "linear_attn_config.num_key_heads", 32),
    ("glm-5.3-flash", "linear_attn_config.kda_layers", list(range(1, 35))),
    ("glm-5.3-flash", "linear_attn_config.short_conv_kernel_size", "4"),
    ("glm-5.3-flash", "linear_attn_config.num_value_heads", 64),
    ("minimax-m3", "sparse_attention_config.use_sparse_attention", False),
    ("minimax-m3", "sparse_attention_config.sparse_score_type", "mean"),
    ("minimax-m3", "sparse_attention_config.sparse_attention_freq", [1] * 60),
    ("minimax-m3", "sparse_attention_config.sparse_disable_index_value", [0] * 60),
    ("minimax-m3", "sparse_attention_config.sparse_block_size", 0),
    ("minimax-m3", "sparse_attention_config.sparse_pool", 4)])
def test_what_a_group_of_fields_says_is_refused_by_name(written, name, key, bad):
    group, _, field = key.partition(".")
    part = stated(name).get("text_config", stated(name))
    path = written(name, **{group: part[group] | {field: bad}})
    sentence = refusal(path)
    lines = path.read_text("utf-8").splitlines()
    named = group if "text_config" in stated(name) else field  # lines of two levels are known
    number = 1 + next(index for index, line in enumerate(lines) if f'"{named}":' in line)
    assert sentence.startswith(f"{path}:{number}: '{key}' is ")
    assert ", expected " in sentence


@pytest.mark.parametrize(("name", "key"), [
    ("kimi-k3", "linear_attn_config.kda_layers"), ("kimi-k3", "linear_attn_config.num_heads"),
    ("minimax-m3", "sparse_attention_config.sparse_attention_freq"),
    ("minimax-m3", "sparse_attention_config.sparse_index_dim")])
def test_what_a_group_of_fields_lacks_is_named(written, name, key):
    group, _, field = key.partition(".")
    part = stated(name).get("text_config", stated(name))
    path = written(name, **{group: {one: value for one, value in part[group].items()
                                    if one != field}})
    assert refusal(path).startswith(f"{path}: '{key}' is missing, expected ")


@pytest.mark.parametrize(("model_type", "key", "new"), [
    ("deepseek_v41_text", "kv_source_layer_ids", "n-grams")])
def test_what_is_new_in_a_model_that_is_not_modelled_is_named(written, model_type, key, new):
    sentence = refusal(written(model_type=model_type, **{key: [2, 8]}))
    assert f": '{key}' is a list, which in {model_type} means " in sentence
    assert new in sentence
    assert UNMODELLED[model_type].counted in catalogue.names("models")
    for place in re.findall(r"[\w/]+(?:\.py|\.md|/(?=,))", sentence.partition("to add it")[2]):
        assert (Path(catalogue.__file__).parents[1] / place).exists(), place
    inside = {"model_type": model_type.removesuffix("_text"), "text_config": {key: [2, 8]}}
    path = written()
    path.write_text(json.dumps(inside, indent=1), encoding="utf-8")
    assert f"config.json:4: '{key}' is a list, which in " in refusal(path)


@pytest.mark.parametrize("key", [
    "attn_output_gate", "engram_layer_ids", "routed_expert_hidden_size", "mtp_num_hidden_layers",
    "sparse_attention_config"])
def test_fields_of_other_architectures_are_refused_by_name(written, key):
    assert f": '{key}' is 2, expected nothing" in refusal(written(**{key: 2}))


@pytest.mark.parametrize("field", [
    "model_type", "num_hidden_layers", "hidden_act", "num_key_value_heads", "topk_method",
    "scoring_func", "n_routed_experts", "q_lora_rank", "first_k_dense_replace", "n_shared_experts",
    "compress_ratios", "sliding_window", "head_dim"])
def test_a_missing_field_is_named(written, field):
    name = {"num_key_value_heads": "mixtral-8x7b", "compress_ratios": "deepseek-v4-pro",
            "sliding_window": "deepseek-v4-pro", "head_dim": "deepseek-v4-flash",
            }.get(field, "deepseek-v3")
    without = field if name != "mixtral-8x7b" or field != "n_routed_experts" else "num_experts"
    path = written(name, without=(without,))
    assert refusal(path).startswith(f"{path}: '{field}' is missing, expected ")


def test_a_window_that_may_be_4096_by_default_is_not_guessed(written):
    path = written("llama-3.1-8b", model_type="mistral", architectures=["MistralForCausalLM"])
    assert "'sliding_window' is missing" in refusal(path)
