"""Which field of a Hugging Face configuration means what, model family by model family.

Every line was read in the modelling code, ``src/transformers/models/`` of huggingface/transformers
5.23.0 (``Family.code`` names the file), and for the routers and the indexer in vllm-project/vllm,
``vllm/model_executor/models/deepseek_v2.py``, ``glm4_moe.py`` and ``gpt_oss.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from catalogue.entries.models import GROUPS

Window = Literal["none", "every layer", "every layer if stated", "switched", "upper layers",
                 "by layer"]
Hybrid = Literal["delta net", "kimi delta", "pooled delta", "blocks"]


@dataclass(frozen=True)
class Family:
    """How one ``model_type`` names what a model file holds.

    Attributes:
        architecture: the class of ``architectures`` that is understood.
        also_named: further classes of ``architectures`` that are the same.
        code: modelling code, below ``src/transformers/models/``.
        attention: mla, gqa or csa.
        counts: our field -> its names in the configuration; one of them must be stated.
        zero: our fields that may be 0, and whether null says 0 too.
        switches: field of the configuration -> (value where it is absent, our fields).
        implied: our field -> (value, why): constants of the code that no field states as such.
        exactly: field of the configuration -> the values that the program models; None among
            them: it may also be absent or null.
        groups: the fields that say from how many groups of experts a router picks how many.
        prediction: the fields that may state how many layers predict further tokens.
        window: which layers ``sliding_window`` restricts.
        head_dim: what the configuration class takes where ``head_dim`` is absent; None: the
            model's width divided by its heads.
        kv_heads: whether ``num_key_value_heads`` may be absent, meaning as many as heads.
        named_head_dim: what ``head_dim`` may name besides with MLA, where no layer reads it.
        shared_indexers: whether some layers may take over what another's indexer picked.
        hybrid: what some layers have instead of attention to everything that is cached: a state
            (gated delta nets, Kimi delta attention) or blocks that an indexer picks.
        by_layer: fields of ``ALWAYS`` that are lists here, held to the layers elsewhere.
    """

    architecture: str
    code: str
    attention: Literal["mla", "gqa", "csa"]
    counts: Mapping[str, tuple[str, ...]]
    zero: Mapping[str, bool] = field(default_factory=dict)
    switches: Mapping[str, tuple[bool, tuple[str, ...]]] = field(default_factory=dict)
    implied: Mapping[str, tuple[Any, str]] = field(default_factory=dict)
    exactly: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    groups: tuple[str, ...] = ()
    prediction: tuple[str, ...] = ()
    window: Window = "none"
    head_dim: int | None = None
    kv_heads: bool = False
    named_head_dim: tuple[str, ...] = ()
    shared_indexers: bool = False
    also_named: tuple[str, ...] = ()
    hybrid: Hybrid | None = None
    by_layer: tuple[str, ...] = ()


def _same(*names: str) -> dict[str, tuple[str, ...]]:
    return {name: (name,) for name in names}


_BASE = _same("num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads",
              "intermediate_size")
_MLA = _same("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
_INDEXER = _same("q_lora_rank", "index_n_heads", "index_head_dim", "index_topk")
_TOP_K = _same("num_experts_per_tok")
# transformers 5 writes num_local_experts for any of the three (attribute_map of the classes)
_EXPERTS = {"n_routed_experts": ("n_routed_experts", "num_local_experts", "num_experts")}
_MOE = _EXPERTS | _TOP_K | _same("moe_intermediate_size", "n_shared_experts",
                                 "first_k_dense_replace")
_MOE_ZERO = {"n_shared_experts": True, "first_k_dense_replace": False}
_SOFTMAX = {"scoring_func": ("softmax", None), "topk_method": ("greedy", None)}
_NO_SHARED = {"n_shared_experts": (0, "the layers have no shared expert"),
              "first_k_dense_replace": (0, "every layer routes to experts")}
_BIAS_ALL = ("attention_bias", "attention_output_bias")
_PREDICTION = ("num_nextn_predict_layers", "num_mtp_layers")
_DELTA = _same("linear_num_key_heads", "linear_num_value_heads", "linear_key_head_dim",
               "linear_value_head_dim", "linear_conv_kernel_dim")


def _deepseek_v3(code: str, **more: Any) -> Family:
    """MLA, sigmoid router with a correction bias: e_score_correction_bias of the gate, which
    vLLM creates for topk_method noaux_tc alone."""
    counts = _BASE | _MLA | _MOE | more.pop("counts", {})
    settings: dict[str, Any] = {"architecture": "DeepseekV3ForCausalLM"} | more
    return Family(
        code=code, attention="mla", counts=counts, zero=_MOE_ZERO,
        implied={"router_bias": (True, "topk_method noaux_tc adds e_score_correction_bias"),
                 "router_scoring": ("sigmoid", "")},
        exactly={"scoring_func": ("sigmoid",), "topk_method": ("noaux_tc",)},
        groups=GROUPS, prediction=_PREDICTION, **settings)


_V3 = "deepseek_v3/modeling_deepseek_v3.py"


def _gated_delta(code: str, architecture: str, counts: dict[str, tuple[str, ...]],
                 **implied: Any) -> Family:
    """Qwen3.5 and later: gated delta nets, every fourth layer GQA with a gated output."""
    return Family(
        architecture=architecture, code=code, attention="gqa",
        counts=_BASE | _DELTA | counts, switches={"attention_bias": (False, _BIAS_ALL)},
        implied=implied | {"qk_norm": (True, "q_norm and k_norm over head_dim"),
                           "attention_output_gate": (True, "q_proj is twice as wide")},
        exactly=_SOFTMAX | {"attn_output_gate": (True, None), "output_gate_type": ("swish", None),
                            "mtp_use_dedicated_embeddings": (False, None)},
        prediction=("mtp_num_hidden_layers",), head_dim=256, hybrid="delta net")


FAMILIES: dict[str, Family] = {
    "deepseek_v2": Family(
        architecture="DeepseekV2ForCausalLM", code="deepseek_v2/modeling_deepseek_v2.py",
        attention="mla", counts=_BASE | _MLA | _MOE, zero=_MOE_ZERO,
        implied={"router_scoring": ("softmax", "")},
        exactly={"scoring_func": ("softmax",), "topk_method": ("greedy", "group_limited_greedy")},
        groups=GROUPS),
    "deepseek_v3": _deepseek_v3(_V3),
    "kimi_k2": _deepseek_v3(_V3),
    # indexer: wq_b from the query latent, wk, k_norm (LayerNorm, weight and bias), weights_proj
    "deepseek_v32": _deepseek_v3(
        "deepseek_v32/modeling_deepseek_v32.py", architecture="DeepseekV32ForCausalLM",
        counts=_INDEXER),
    "deepseek_v4": Family(
        architecture="DeepseekV4ForCausalLM", code="deepseek_v4/modeling_deepseek_v4.py",
        attention="csa",
        counts=_BASE | _INDEXER | _EXPERTS | _TOP_K | _same(
            "moe_intermediate_size", "n_shared_experts", "qk_rope_head_dim", "o_groups",
            "o_lora_rank", "sliding_window", "hc_mult", "num_hash_layers")
        | {"intermediate_size": ("moe_intermediate_size",)},  # of the shared expert: none is dense
        zero={"n_shared_experts": True, "num_hash_layers": False},
        implied={"first_k_dense_replace": (0, "every layer has experts"),
                 "attention_sinks": (True, "one sink per head"),
                 "router_bias": (True, "the gate has e_score_correction_bias"),
                 "router_scoring": ("sqrtsoftplus", "")},
        exactly={"scoring_func": ("sqrtsoftplus",), "topk_method": ("noaux_tc", None),
                 "expert_dtype": ("fp4", "fp8", None), "attention_bias": (False, None)},
        prediction=_PREDICTION),
    "glm_moe_dsa": _deepseek_v3(
        "glm_moe_dsa/modeling_glm_moe_dsa.py", architecture="GlmMoeDsaForCausalLM",
        counts=_INDEXER, named_head_dim=("qk_nope_head_dim",), shared_indexers=True),
    "glm4_moe": Family(
        architecture="Glm4MoeForCausalLM", code="glm4_moe/modeling_glm4_moe.py", attention="gqa",
        counts=_BASE | _MOE, zero=_MOE_ZERO,
        switches={"attention_bias": (False, ("attention_bias",)),  # o_proj: bias=False
                  "use_qk_norm": (False, ("qk_norm",))},
        implied={"router_bias": (True, "the gate has e_score_correction_bias"),
                 "router_scoring": ("sigmoid", "the gate applies sigmoid")},
        exactly={"scoring_func": ("sigmoid", None), "topk_method": ("noaux_tc", None)},
        groups=GROUPS, prediction=_PREDICTION),
    # q_norm and k_norm over all heads; prediction layers are configured, none is published
    "minimax_m2": Family(
        architecture="MiniMaxM2ForCausalLM", code="minimax_m2/modeling_minimax_m2.py",
        attention="gqa",
        counts=_BASE | _EXPERTS | _TOP_K | {"moe_intermediate_size": ("intermediate_size",)},
        implied=_NO_SHARED | {
            "qk_norm": (True, "counted over head_dim, the model's norms go over all heads"),
            "router_bias": (True, "the layer has e_score_correction_bias"),
            "router_scoring": ("sigmoid", "the router applies sigmoid"),
            "num_nextn_predict_layers": (0, "the published files hold none")},
        exactly={"scoring_func": ("sigmoid", None), "use_qk_norm": (True, None),
                 "qk_norm_type": ("per_layer", None), "use_routing_bias": (True, None),
                 "shared_intermediate_size": (0, None), "use_mtp": (True, False, None),
                 "num_mtp_modules": (3, 0, None), "mtp_transformer_layers": (1, None)},
        head_dim=128),
    "qwen3_5_text": _gated_delta("qwen3_5/modeling_qwen3_5.py", "Qwen3_5ForCausalLM", {}),
    "qwen3_5_moe_text": _gated_delta(
        "qwen3_5_moe/modeling_qwen3_5_moe.py", "Qwen3_5MoeForCausalLM",
        _EXPERTS | _TOP_K | _same("moe_intermediate_size")
        | {"intermediate_size": ("shared_expert_intermediate_size",)},  # none is dense
        n_shared_experts=(1, "the layers have a shared expert"),
        first_k_dense_replace=(0, "every layer routes to experts"),
        router_scoring=("softmax", "the router applies softmax")),
    # Kimi Linear and Kimi K3
    "kimi_linear": Family(
        architecture="KimiLinearForCausalLM", code="kimi_linear/modeling_kimi_linear.py",
        attention="mla",
        counts=_BASE | _MLA | _EXPERTS | _same("moe_intermediate_size", "first_k_dense_replace") | {
            "num_experts_per_tok": ("num_experts_per_token", "num_experts_per_tok"),
            "n_shared_experts": ("num_shared_experts", "n_shared_experts")},
        zero=_MOE_ZERO,
        switches={"mla_use_output_gate": (False, ("attention_output_gate",))},
        implied={"router_bias": (True, "the gate has e_score_correction_bias"),
                 "router_scoring": ("sigmoid", "")},
        exactly={"moe_router_activation_func": ("sigmoid",), "topk_method": ("noaux_tc", None),
                 "num_expert_group": (1, None), "topk_group": (1, None),
                 "hidden_act": ("silu", "situ"), "attention_bias": (False, None),
                 "latent_moe_use_norm": (True, False, None)},
        prediction=_PREDICTION[:1], hybrid="kimi delta"),
    "glm5_next_text": Family(
        architecture="Glm5NextForCausalLM", code="glm5_next/modeling_glm5_next.py", attention="mla",
        counts=_BASE | _MLA | _MOE | _INDEXER | _same("hc_mult"),
        zero=_MOE_ZERO | {"qk_rope_head_dim": False},
        implied={"router_bias": (True, "the gate has e_score_correction_bias"),
                 "router_scoring": ("sigmoid", "")},
        exactly={"scoring_func": ("sigmoid",), "topk_method": ("noaux_tc", None),
                 "attention_bias": (False, None), "mhc": (True, None),
                 "index_kpool_compress": (True, None),
                 "index_kpool_always_select_tail": (True, None)},
        groups=GROUPS, prediction=_PREDICTION, hybrid="pooled delta"),
    "minimax_m3": Family(
        architecture="MiniMaxM3SparseForCausalLM", also_named=("MiniMaxM3ForCausalLM",),
        code="minimax_m3_vl/modeling_minimax_m3_vl.py", attention="gqa",
        counts=_BASE | _EXPERTS | _TOP_K | _same("n_shared_experts") | {
            "intermediate_size": ("dense_intermediate_size",),
            "moe_intermediate_size": ("intermediate_size", "moe_intermediate_size")},
        zero={"n_shared_experts": True},
        implied={"qk_norm": (True, "q_norm and k_norm over head_dim"),
                 "router_bias": (True, "the layer has e_score_correction_bias"),
                 "router_scoring": ("sigmoid", "the router applies sigmoid")},
        exactly={"hidden_act": ("swigluoai", "silu"), "scoring_func": ("sigmoid", None),
                 "use_qk_norm": (True, None), "qk_norm_type": ("per_head", None),
                 "use_routing_bias": (True, None), "attention_output_gate": (False, None)},
        prediction=_PREDICTION[:1], head_dim=128, hybrid="blocks", by_layer=("moe_layer_freq",)),
    "qwen2": Family(
        architecture="Qwen2ForCausalLM", code="qwen2/modeling_qwen2.py", attention="gqa",
        counts=_BASE,
        implied={"attention_bias": (True, "q_proj, k_proj and v_proj have a bias, o_proj none")},
        exactly={"attention_bias": (True, None)}, window="upper layers"),
    "qwen3": Family(
        architecture="Qwen3ForCausalLM", code="qwen3/modeling_qwen3.py", attention="gqa",
        counts=_BASE, switches={"attention_bias": (False, _BIAS_ALL)},
        implied={"qk_norm": (True, "q_norm and k_norm over head_dim")},
        window="upper layers", head_dim=128),
    "qwen3_moe": Family(
        architecture="Qwen3MoeForCausalLM", code="qwen3_moe/modeling_qwen3_moe.py",
        attention="gqa",
        counts=_BASE | _EXPERTS | _TOP_K | _same("moe_intermediate_size"),
        switches={"attention_bias": (False, _BIAS_ALL)},
        implied=_NO_SHARED | {"qk_norm": (True, "q_norm and k_norm over head_dim"),
                              "router_scoring": ("softmax", "the router applies softmax")},
        exactly=_SOFTMAX | {"use_qk_norm": (True, None)}, window="switched"),
    "llama": Family(
        architecture="LlamaForCausalLM", code="llama/modeling_llama.py", attention="gqa",
        counts=_BASE, switches={"attention_bias": (False, _BIAS_ALL)}, kv_heads=True),
    "mistral": Family(
        architecture="MistralForCausalLM", code="mistral/modeling_mistral.py", attention="gqa",
        counts=_BASE, window="every layer"),
    "mixtral": Family(
        architecture="MixtralForCausalLM", code="mixtral/modeling_mixtral.py", attention="gqa",
        counts=_BASE | _EXPERTS | _TOP_K | {"moe_intermediate_size": ("intermediate_size",)},
        implied=_NO_SHARED | {"router_scoring": ("softmax", "the router applies softmax")},
        exactly=_SOFTMAX, window="every layer if stated"),
    "gpt_oss": Family(
        architecture="GptOssForCausalLM", code="gpt_oss/modeling_gpt_oss.py", attention="gqa",
        counts=_BASE | _EXPERTS | {
            "moe_intermediate_size": ("intermediate_size",),
            "num_experts_per_tok": ("num_experts_per_tok", "experts_per_token")},
        switches={"attention_bias": (True, _BIAS_ALL)},
        implied=_NO_SHARED | {
            "router_bias": (True, "the router is a linear map with a bias"),
            "router_scoring": ("softmax", "softmax over the chosen experts"),
            "expert_bias": (True, "gate_up_proj_bias and down_proj_bias of every expert"),
            "attention_sinks": (True, "one sink per head")},
        exactly=_SOFTMAX, window="by layer", head_dim=64),
}

# What a model calls itself of which a family above is the language model's part.
ALIASES = {"qwen3_5": "qwen3_5_text", "qwen3_5_moe": "qwen3_5_moe_text", "kimi_k3": "kimi_linear",
           "glm5_next": "glm5_next_text",
           "minimax_m3_vl": "minimax_m3", "minimax_m3_vl_text": "minimax_m3"}

# The widest that is plausible, with room; products of these stay exact in 64 bits.
LARGEST = {
    "num_hidden_layers": 1_000, "first_k_dense_replace": 1_000, "full_attention_layers": 1_000,
    "indexer_layers": 1_000,
    "num_nextn_predict_layers": 100, "hidden_size": 65_536, "intermediate_size": 1_048_576,
    "moe_intermediate_size": 65_536, "vocab_size": 10_000_000, "num_attention_heads": 4_096,
    "num_key_value_heads": 4_096, "head_dim": 4_096, "q_lora_rank": 65_536,
    "kv_lora_rank": 65_536, "qk_nope_head_dim": 4_096, "qk_rope_head_dim": 4_096,
    "v_head_dim": 4_096, "n_routed_experts": 8_192, "n_shared_experts": 64,
    "num_experts_per_tok": 8_192, "n_group": 8_192, "topk_group": 8_192, "index_n_heads": 4_096,
    "index_head_dim": 4_096, "o_groups": 4_096, "o_lora_rank": 65_536, "hc_mult": 64,
    "num_hash_layers": 1_000, "compress_ratio": 4_096, "linear_layers": 1_000,
    "sparse_layers": 1_000,
    "linear_num_key_heads": 4_096, "linear_num_value_heads": 4_096, "linear_key_head_dim": 4_096,
    "linear_value_head_dim": 4_096, "linear_conv_kernel_dim": 4_096,
    "routed_expert_hidden_size": 65_536,
    "index_topk": 10_000_000, "sliding_window": 1_000_000_000,
    "max_position_embeddings": 1_000_000_000,
}

# What every family must say, where it says it.
ALWAYS: dict[str, tuple[Any, ...]] = {
    "hidden_act": ("silu",), "moe_layer_freq": (1, None), "decoder_sparse_step": (1, None),
    "mlp_only_layers": ([], None),
}

# Fields that shape a model in ways that a family above does not have: they must be empty there.
_OTHERS = """
add_bias_linear add_cross_attention add_qkv_bias attention_chunk_size attention_output_gate
attn_output_gate attn_res_block_size attn_type_list attn_types audio_config bias block_configs
candidate_source_layer_id clip_qkv compress_rates compress_ratios conv_kernel
cross_attention_hidden_size dense_ffn_hidden dspark_n_routed_experts engram_layer_ids
full_attention_interval global_attn_every_n_layers hc_mult hybrid_layer_pattern
hybrid_override_pattern index_kpool index_skip_topk_offset index_source_layer_ids index_topk_freq
index_topk_pattern indexer_types interleave_moe_layer_step is_encoder_decoder kv_source_layer_ids
layer_block_type linear_attn_config linear_conv_kernel_dim linear_head_dim linear_key_head_dim
linear_num_heads linear_num_key_heads linear_num_value_heads linear_value_head_dim llm_config
mamba_num_heads medusa_num_heads mla_use_output_gate mlp_bias mlp_hidden_act moe_layer_interval
moe_layers moe_num_experts mtp_num_hidden_layers n_hash_layers no_rope_layers_interval
num_expert_group num_hash_layers num_kv_shared_layers num_medusa_heads num_shared_experts
num_zero_experts o_groups o_lora_rank output_gate_type pruned_heads qk_layernorm qkv_bias
routed_expert_hidden_size shared_expert_intermediate_size shared_intermediate_size
sliding_window_pattern sparse_attention_config ssm_cfg text_config thinker_config use_bias use_mla
use_parallel_residual use_qkv_bias vision_config zero_expert_num
"""

_SPECIAL = (*GROUPS, "num_key_value_heads", "head_dim", "q_lora_rank", "sliding_window",
            "use_sliding_window", "layer_types", "mlp_layer_types", "qk_head_dim",
            "num_nextn_predict_layers", "num_mtp_layers", "num_mtp_modules")

ARCHITECTURAL: frozenset[str] = frozenset(_OTHERS.split()).union(
    _SPECIAL, ALWAYS,
    *(names for family in FAMILIES.values() for names in family.counts.values()),
    *(family.switches for family in FAMILIES.values()),
    *(family.exactly for family in FAMILIES.values()))

# Fields that change neither a shape nor a count: precision, positions, training, text handling.
_IRRELEVANT = """
_attn_implementation _attn_implementation_autoset _commit_hash _name_or_path activation_situ_beta
activation_situ_linear_beta alpha attention_dropout auto_map aux_loss_alpha bad_words_ids
begin_suppress_tokens beta_fast beta_slow bos_token_id chunk_size_feed_forward compress_rope_theta
compression_config cross_attention decoder_start_token_id diversity_penalty do_sample dtype
early_stopping embd_pdrop encoder_no_repeat_ngram_size eos_token_id ep_size
exponential_decay_length_penalty finetuning_task forced_bos_token_id forced_eos_token_id
gradient_checkpointing hc_eps hc_sinkhorn_iters id2label index_share_for_mtp_iteration
indexer_rope_interleave initial_context_length initializer_range is_decoder
keys_to_ignore_at_inference label2id length_penalty mamba_ssm_dtype max_length max_window_layers
min_length mla_use_nope moe_renormalize moe_router_dtype no_repeat_ngram_size norm_topk_prob
num_beam_groups num_beams num_return_sequences original_max_position_embeddings output_attentions
output_hidden_states output_router_logits output_scores pad_token_id partial_rotary_factor prefix
pretraining_tp problem_type quantization_config remove_invalid_values repetition_penalty resid_pdrop
return_dict return_dict_in_generate rms_norm_eps rope_interleave rope_parameters rope_scaling
rope_theta rotary_dim routed_scaling_factor router_aux_loss_coef router_jitter_noise scale_fmt
sep_token_id seq_aux suppress_tokens swiglu_alpha swiglu_limit task_specific_params temperature
tf_legacy_loss tie_encoder_decoder tokenizer_class top_k top_p torch_dtype torchscript
transformers_version typical_p unsloth_fixed unsloth_version use_bfloat16 use_cache use_gemma_norm
use_grouped_topk use_mrope
"""
IRRELEVANT = frozenset(_IRRELEVANT.split())
