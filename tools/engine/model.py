"""Configurations as a checkpoint has them: a small model to start, the catalogue's to check."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from catalogue import load_model, load_precision
from catalogue.library import load
from catalogue.models.fields import load_family

NAME = "four-layers"
WORDS = 1024  # of its vocabulary; each is a token
MARKS = ("<think>", "</think>")  # beside them where a vocabulary is larger, as of published models
POSITIONS = 2048
FULL, LINEAR = "full_attention", "linear_attention"  # words of layer_types
INDEXED, HEAVY = 4, 128  # compress_ratios of DeepSeek-V4
BLOCK = 128  # tokens that MiniMax-M3 picks together, and one more than what is picked is local
# Latent, rotary and value widths are DeepSeek-V3's own, which kernels are written for; the rest is
# as small as its structure allows: one dense layer, groups of experts, a shared one.
CONFIG: dict[str, Any] = {
    "architectures": ["DeepseekV3ForCausalLM"], "model_type": "deepseek_v3", "hidden_size": 256,
    "intermediate_size": 512, "moe_intermediate_size": 128, "num_hidden_layers": 4,
    "first_k_dense_replace": 1, "num_attention_heads": 8, "num_key_value_heads": 8,
    "q_lora_rank": 128, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
    "v_head_dim": 128, "n_routed_experts": 16, "n_shared_experts": 1, "num_experts_per_tok": 4,
    "n_group": 4, "topk_group": 2, "routed_scaling_factor": 2.5, "norm_topk_prob": True,
    "scoring_func": "sigmoid", "topk_method": "noaux_tc", "moe_layer_freq": 1,
    "vocab_size": WORDS, "max_position_embeddings": POSITIONS, "rms_norm_eps": 1e-6,
    "rope_theta": 10000, "hidden_act": "silu", "attention_bias": False,
    "tie_word_embeddings": False, "torch_dtype": "bfloat16", "bos_token_id": 0, "eos_token_id": 1,
    "num_nextn_predict_layers": 0}
TYPES = ("deepseek_v2", "deepseek_v3", "deepseek_v32", "deepseek_v4", "glm4_moe", "glm5_next_text",
         "glm_moe_dsa", "kimi_linear", "llama", "minimax_m2", "minimax_m3", "mixtral", "qwen2",
         "qwen3", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_moe")
TEXT = {"KimiK25": "DeepseekV3", "KimiK3": "KimiLinear"}  # class of a model's text part
FP8_BLOCK = {"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
             "weight_block_size": [128, 128]}
QUANTIZATION = {
    "fp8-block128": FP8_BLOCK,
    "fp8-block128-e8m0": FP8_BLOCK | {"scale_fmt": "ue8m0"},
    "int4-group32-sym": {
        "quant_method": "compressed-tensors", "format": "pack-quantized",
        "quantization_status": "compressed", "kv_cache_scheme": None,
        "config_groups": {"group_0": {
            "targets": ["Linear"], "input_activations": None, "output_activations": None,
            "weights": {"type": "int", "num_bits": 4, "strategy": "group", "group_size": 32,
                        "symmetric": True, "dynamic": False}}},
        "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*",
                   r"re:.*mlp\.(gate|up|gate_up|down)_proj.*"]},
    "int4-group64": {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True,
                     "version": "gemm"},
    "int4-group128": {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True,
                      "version": "gemm"}}
"""Format of the experts, or of a dense layer -> what a checkpoint in it says of itself."""
BESIDE = "hf_quant_config.json"  # the file in which ModelOpt says it instead
MODELOPT = {"nvfp4": "NVFP4"}
DESCRIPTION = "quant_model_description.json"  # of msModelSlim, whose formats Ascend cards run
MODELSLIM = {"int8-channel": "W8A8_DYNAMIC", "int4-channel-ascend": "W4A8_DYNAMIC"}
WIDE = ["lm_head", "*self_attn*", "*mlp.gate"]  # modules in 16 bits, of checkpoints of DeepSeek-R1
NARROW_OUTPUT = ["lm_head", "*q_a_proj*", "*q_b_proj*", "*kv_a_proj*", "*kv_b_proj*", "*mlp.gate"]


def write(folder: Path, config: dict[str, Any], tokenizer: bool = True,
          besides: dict[str, Any] | None = None) -> Path:
    """A checkpoint's folder: configuration and tokenizer, no weights.

    Args:
        folder: made where it is missing.
        config: as ``config.json`` holds it.
        tokenizer: whether one is written, of words t0, t1, ...
        besides: other files by name, as :func:`sidecar_files` gives them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {"config.json": config, **(besides or {})}
    if tokenizer:
        marks = [{"id": number, "content": mark, "single_word": False, "lstrip": False,
                  "rstrip": False, "normalized": False, "special": False}
                 for number, mark in enumerate(MARKS, WORDS) if number < config["vocab_size"]]
        files["tokenizer.json"] = {
            "version": "1.0", "truncation": None, "padding": None, "added_tokens": marks,
            "normalizer": None, "pre_tokenizer": {"type": "Whitespace"}, "post_processor": None,
            "decoder": None,
            "model": {"type": "WordLevel", "unk_token": "t2",
                      "vocab": {f"t{number}": number for number in range(WORDS)}}}
        files["tokenizer_config.json"] = {
            "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "t0", "eos_token": "t1",
            "unk_token": "t2", "model_max_length": POSITIONS}
    for name, data in files.items():
        (folder / name).write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return folder


def published(model: str, precision: str) -> dict[str, Any]:
    """The configuration of a model of the catalogue, in one of its precisions.

    >>> published("deepseek-v3", "fp8-block")["n_routed_experts"]
    256

    Args:
        model: its identifier.
        precision: of the weights; formats without a known description are left out.

    Raises ValueError for a model whose architecture is not known here.
    """
    of = load_model(model)
    kind = _type(of)
    family = load_family(kind)
    stated = {name: value.value if hasattr(value, "value") else value
              for name in type(of).model_fields
              if isinstance(value := getattr(of, name), bool | int) or hasattr(value, "value")}
    config = {name: stated[ours] for ours, theirs in (family.fields | family.experts).items()
              if stated.get(ours) is not None for name in theirs if "." not in name}
    config |= {name: stated[name] for name in (
        "num_key_value_heads", "head_dim", "max_position_embeddings", "tie_word_embeddings",
        "n_group", "topk_group", "q_lora_rank", "routed_expert_hidden_size",
        *(str(rule.field) for rule in family.layers if rule.by == "first"))
        if stated.get(name) is not None}
    config |= {name: stated["num_nextn_predict_layers"] for name in family.prediction[:1]
               if stated.get("num_nextn_predict_layers") is not None}
    config |= {name: stated[ours[0]] for name, ours in family.switches.items()}
    config |= {name: values[0] for name, values in family.accepted.items()
               if values[0] is not None and "." not in name}
    config |= {"architectures": family.architectures[:1], "model_type": kind,
               "torch_dtype": "bfloat16", "rms_norm_eps": 1e-6, "rope_theta": 10000,
               "routed_scaling_factor": 2.5, "norm_topk_prob": True}
    if kind in LAYERS:
        config |= LAYERS[kind](stated)
    weights = load_precision(precision).weights
    stored = weights.routed_expert if of.is_moe else weights.dense_mlp
    described = next((part for part in (stored, weights.attention) if part in QUANTIZATION), None)
    if described is not None:
        config["quantization_config"] = QUANTIZATION[described]
    return config


def sidecar_files(precision: str) -> dict[str, Any]:
    """Files beside ``config.json`` of a checkpoint in a precision of the catalogue.

    >>> sidecar_files("nvfp4")["hf_quant_config.json"]["quantization"]["quant_algo"]
    'NVFP4'
    >>> sidecar_files("fp8-block")
    {}
    """
    of = load_precision(precision)
    stored = of.weights.routed_expert
    if stored in MODELSLIM:
        return {DESCRIPTION: {"model_quant_type": MODELSLIM[stored]}}
    if stored not in MODELOPT:
        return {}
    return {BESIDE: {"producer": {"name": "modelopt"}, "quantization": {
        "quant_algo": MODELOPT[stored], "group_size": int(load("formats", stored).group_size.value),
        "kv_cache_quant_algo": "FP8" if of.kv_cache == "fp8" else None,
        "exclude_modules": WIDE if of.weights.attention == "bf16" else NARROW_OUTPUT}}}


def _type(model: Any) -> str:
    """The ``model_type`` of a model's text part, from the class by which engines know it."""
    name = re.sub("For(CausalLM|ConditionalGeneration)$", "", str(model.model_class))
    wanted = f"{TEXT.get(name, name)}ForCausalLM"
    for kind in TYPES:
        if wanted in load_family(kind).architectures:
            return kind
    raise ValueError(f"'{model.id}': the architecture is not known here, expected one of "
                     f"{', '.join(TYPES)}.")


def _compressed(stated: dict[str, Any]) -> dict[str, Any]:
    """Ratios of the layers: the catalogue has how many, not which."""
    layers, few, many = (stated[name] for name in (
        "num_hidden_layers", "compressed_layers", "heavy_layers"))
    return {"compress_ratios": [0] * (layers - few - many) + [INDEXED] * few + [HEAVY] * many}


def _indexers(stated: dict[str, Any]) -> dict[str, Any]:
    layers = stated["num_hidden_layers"]
    own = stated.get("indexer_layers", layers)
    return {"indexer_types": ["full"] * own + ["shared"] * (layers - own)}


def _full(stated: dict[str, Any]) -> list[bool]:
    """Whether each layer attends to everything, those that do spread evenly."""
    layers, linear = stated["num_hidden_layers"], stated["linear_layers"]
    full = layers - linear
    return [(layer + 1) * full // layers > layer * full // layers for layer in range(layers)]


def _delta_nets(stated: dict[str, Any]) -> dict[str, Any]:
    return {"layer_types": [FULL if full else LINEAR for full in _full(stated)]}


def _kimi_delta(stated: dict[str, Any], first: int = 1) -> dict[str, Any]:
    kinds = list(enumerate(_full(stated), first))
    return {"linear_attn_config": {
        "full_attn_layers": [layer for layer, full in kinds if full],
        "kda_layers": [layer for layer, full in kinds if not full],
        "num_heads": stated["linear_num_value_heads"], "head_dim": stated["linear_key_head_dim"],
        "short_conv_kernel_size": stated["linear_conv_kernel_dim"],
        "use_full_rank_gate": not stated.get("linear_gate_rank")}}


def _pooled_delta(stated: dict[str, Any]) -> dict[str, Any]:
    pool = stated["compress_ratio"]
    return _kimi_delta(stated, first=0) | {
        "index_kpool": pool, "index_topk": pool * stated["index_topk"]}


def _blocks(stated: dict[str, Any]) -> dict[str, Any]:
    dense = stated["first_k_dense_replace"]
    sparse = [0] * dense + [1] * (stated["num_hidden_layers"] - dense)
    return {"moe_layer_freq": sparse, "sparse_attention_config": {
        "use_sparse_attention": True, "sparse_score_type": "max", "sparse_block_size": BLOCK,
        "sparse_topk_blocks": stated["index_topk"] // BLOCK - 1, "sparse_local_block": 1,
        "sparse_init_block": 0, "sparse_index_dim": stated["index_head_dim"],
        "sparse_num_index_heads": stated["index_n_heads"], "sparse_attention_freq": sparse,
        "sparse_disable_index_value": sparse}}


LAYERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "deepseek_v4": _compressed, "glm_moe_dsa": _indexers, "kimi_linear": _kimi_delta,
    "glm5_next_text": _pooled_delta, "minimax_m3": _blocks,
    "qwen3_5_text": _delta_nets, "qwen3_5_moe_text": _delta_nets}
"""What a configuration says of its layers one by one."""
