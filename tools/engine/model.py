"""Configurations as a checkpoint has them: a small model to start, the catalogue's to check."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from catalogue import ParamsError, load_model, load_precision
from catalogue.library import load
from catalogue.models.fields import load_family

NAME = "four-layers"
MARKS = ("<think>", "</think>")  # beside them where a vocabulary is larger, as of published models
FULL, LINEAR = "full_attention", "linear_attention"  # words of layer_types
INDEXED, HEAVY = 4, 128  # compress_ratios of DeepSeek-V4
BLOCK = 128  # tokens that MiniMax-M3 picks together, and one more than what is picked is local
DATA = yaml.safe_load(Path(__file__).with_name("checkpoints.yml").read_text("utf-8"))
CONFIG: dict[str, Any] = DATA["four-layers"]
QUANTIZATION: dict[str, Any] = DATA["quantization"]
WORDS = CONFIG["vocab_size"]  # each is a token
POSITIONS = CONFIG["max_position_embeddings"]
TYPES: list[str] = DATA["types"]
TEXT = {"KimiK25": "DeepseekV3", "KimiK3": "KimiLinear"}  # class of a model's text part
HF_QUANT = "hf_quant_config.json"  # the file of ModelOpt
MODELOPT = {"nvfp4": "NVFP4"}
DESCRIPTION = "quant_model_description.json"  # of msModelSlim, whose formats Ascend cards run
MODELSLIM = {"int8-channel": "W8A8_DYNAMIC", "int4-channel-ascend": "W4A8_DYNAMIC"}


def write(folder: Path, config: dict[str, Any], tokenizer: bool = True,
          sidecars: dict[str, Any] | None = None) -> Path:
    """A checkpoint's folder: configuration and tokenizer, no weights.

    Args:
        folder: made where it is missing.
        config: as ``config.json`` holds it.
        tokenizer: whether one is written, of words t0, t1, ...
        sidecars: other files by name, as :func:`sidecar_files` returns them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files: dict[str, Any] = {"config.json": config, **(sidecars or {})}
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

    Raises ParamsError for a model whose architecture is not in `TYPES`.
    """
    of = load_model(model)
    kind = model_type(of)
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
    config |= layer_fields(kind, stated)
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
    return {HF_QUANT: {"producer": {"name": "modelopt"}, "quantization": {
        "quant_algo": MODELOPT[stored], "group_size": int(load("formats", stored).group_size.value),
        "kv_cache_quant_algo": "FP8" if of.kv_cache == "fp8" else None,
        "exclude_modules": DATA[
            "wide" if of.weights.attention == "bf16" else "narrow-output"]}}}


def model_type(model: Any) -> str:
    """Return the ``model_type`` of a model's text part, from its class in engines.

    Raises ParamsError for an architecture that is not in `TYPES`.
    """
    name = re.sub("For(CausalLM|ConditionalGeneration)$", "", str(model.model_class))
    wanted = f"{TEXT.get(name, name)}ForCausalLM"
    for kind in TYPES:
        if wanted in load_family(kind).architectures:
            return kind
    raise ParamsError(f"'{model.id}': the architecture is not known here, expected one of "
                     f"{', '.join(TYPES)}.")


def layer_fields(kind: str, stated: dict[str, Any]) -> dict[str, Any]:
    """Fields of a configuration that list its layers.

    The catalogue has numbers of layers of a kind, not which they are: full attention is spread
    evenly over the layers.

    Args:
        kind: ``model_type``.
        stated: values of the model, by their names in the catalogue.
    """
    layers = stated["num_hidden_layers"]
    full = layers - stated.get("linear_layers", 0)
    is_full = [(layer + 1) * full // layers > layer * full // layers for layer in range(layers)]
    match kind:
        case "deepseek_v4":
            few, many = stated["compressed_layers"], stated["heavy_layers"]
            ratios = [0] * (layers - few - many) + [INDEXED] * few + [HEAVY] * many
            return {"compress_ratios": ratios}
        case "glm_moe_dsa":
            own = stated.get("indexer_layers", layers)
            return {"indexer_types": ["full"] * own + ["shared"] * (layers - own)}
        case "qwen3_5_text" | "qwen3_5_moe_text":
            return {"layer_types": [FULL if full else LINEAR for full in is_full]}
        case "kimi_linear" | "glm5_next_text":
            kinds = list(enumerate(is_full, 1 if kind == "kimi_linear" else 0))
            fields: dict[str, Any] = {"linear_attn_config": {
                "full_attn_layers": [layer for layer, full in kinds if full],
                "kda_layers": [layer for layer, full in kinds if not full],
                "num_heads": stated["linear_num_value_heads"],
                "head_dim": stated["linear_key_head_dim"],
                "short_conv_kernel_size": stated["linear_conv_kernel_dim"],
                "use_full_rank_gate": not stated.get("linear_gate_rank")}}
            if kind == "glm5_next_text":
                pool = stated["compress_ratio"]
                fields |= {"index_kpool": pool, "index_topk": pool * stated["index_topk"]}
            return fields
        case "minimax_m3":
            dense = stated["first_k_dense_replace"]
            sparse = [0] * dense + [1] * (layers - dense)
            return {"moe_layer_freq": sparse, "sparse_attention_config": {
                "use_sparse_attention": True, "sparse_score_type": "max",
                "sparse_block_size": BLOCK, "sparse_local_block": 1, "sparse_init_block": 0,
                "sparse_topk_blocks": stated["index_topk"] // BLOCK - 1,
                "sparse_index_dim": stated["index_head_dim"],
                "sparse_num_index_heads": stated["index_n_heads"],
                "sparse_attention_freq": sparse, "sparse_disable_index_value": sparse}}
    return {}
