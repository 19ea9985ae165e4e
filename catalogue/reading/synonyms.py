"""What engines, launchers and benchmarks call the keys of a deployment and of a goal."""

from __future__ import annotations

import re
from collections.abc import Collection

from catalogue.reading.near import nearest_names

_SPELLINGS = {
    "title": "name plan_name 名称 标题",
    "model": "model_path model_dir checkpoint model_id model_name hf_model served_model_name 模型",
    "device": "gpu gpu_type gpu_name accelerator accelerator_type device card card_type npu system "
              "卡 显卡 加速卡 卡型",
    "engine": "backend framework engine_name inference_engine serving_engine 引擎",
    "precision": "quantization quant dtype torch_dtype kv_cache_dtype weight_dtype weights "
                 "load_format data_type format 精度 量化",
    "cluster.devices": "gpus num_gpus n_gpus ngpus gpu_count num_devices num_cards cards "
                       "world_size total_gpus npus num_npus devices 卡数",
    "cluster.nodes": "nnodes num_nodes n_nodes nodes servers num_servers 节点数 服务器数",
    "cluster": "hardware 集群 硬件", "cluster.node": "server server_type node_type 服务器 节点",
    "parallelism": "parallel layout 并行 并行策略",
    "workload": "traffic load request benchmark 负载",
    "limits": "slo slos sla slas targets 限制 目标",
    "parallelism.tensor_parallel": "tp tp_size tensor_parallel_size tensor_parallel "
                                   "tensor_model_parallel_size 张量并行",
    "parallelism.pipeline_parallel": "pp pp_size pipeline_parallel_size pipeline_parallel "
                                     "流水线并行 流水并行",
    "parallelism.data_parallel": "dp dp_size data_parallel_size data_parallel "
                                 "attention_dp_size replicas 数据并行",
    "parallelism.expert_parallel": "ep ep_size expert_parallel_size enable_expert_parallel "
                                   "expert_parallel moe_expert_parallel_size moe_ep_size "
                                   "专家并行",
    "parallelism.expert_tensor_parallel": "moe_tensor_parallel_size moe_tp_size etp",
    "parallelism.decode_context_parallel": "dcp decode_context_parallel_size cp_size",
    "parallelism.redundant_experts": "num_redundant_experts ep_num_redundant_experts",
    "workload.concurrency": "max_num_seqs max_running_requests max_concurrency concurrency bs "
                            "batch_size max_batch_size batch num_concurrent users num_users "
                            "concurrent_requests concurrent_users max_bs 并发 并发数 用户数",
    "workload.requests": "num_prompts num_requests request_count",
    "workload.context_tokens": "max_model_len context_length max_seq_len max_context_length "
                               "max_input_len context_len context context_window "
                               "上下文 上下文长度",
    "workload.input_tokens": "isl input_len input_length random_input_len random_input input "
                             "prompt_len prompt_length prompt_tokens prefill_tokens "
                             "synthetic_input_tokens_mean 输入 输入长度",
    "workload.output_tokens": "osl output_len output_length random_output_len random_output "
                              "output max_tokens max_new_tokens output_tokens_mean "
                              "decode_tokens answer_tokens 输出 输出长度",
    "workload.arrival_rate": "request_rate rate qps rps",
    "workload.block_size": "block_size page_size tokens_per_block kv_block_size",
    "workload.max_num_batched_tokens": "max_num_batched_tokens chunked_prefill_size chunk_size "
                                       "max_num_tokens max_prefill_tokens",
    "workload.memory_utilization": "gpu_memory_utilization mem_fraction_static "
                                   "free_gpu_memory_fraction kv_cache_free_gpu_mem_fraction",
    "workload.draft_tokens": "num_speculative_tokens speculative_num_draft_tokens "
                             "speculative_num_steps speculative_config mtp "
                             "mtp_layers mtp_tokens "
                             "num_nextn_predict_layers",
    "workload.draft_method": "speculative_algorithm",
    "workload.host_cache": "swap_space cpu_offload_gb hicache_size",
    "limits.ttft": "ttft ttft_ms ttft_slo slo_ttft max_ttft first_token time_to_first_token "
                   "首字延迟 首token延迟",
    "limits.tpot": "tpot tpot_ms tpot_slo slo_tpot max_tpot itl itl_ms inter_token_latency speed "
                   "time_per_output_token",
    "mechanisms.micro_batches": "enable_two_batch_overlap enable_dbo",
    "mechanisms.prefix_hit_share": "prefix_hit_share cache_hit_rate prefix_hit_rate hit_rate hits "
                                   "enable_prefix_caching prefix_caching enable_prefix_cache"}
"""Key of a deployment -> options and keys of other tools that say the same."""
WAYS = {words: way for keys, way in {
    "price prices cost price_per_hour 价格":
        "prices do not belong here, `will-it-fit cost --price` takes them",
    "memory gpu_memory vram network interconnect kv_cache kv_cache_config max_total_tokens 显存":
        "this follows from the card and the precision, remove it",
    "enable_dp_attention dp_attention enable_attention_dp":
        "write parallelism: {data_parallel: 8, tensor_parallel: 1}",
    "version engine_version": "write it as part of the engine, such as engine: sglang@0.5.4",
    "enforce_eager disable_cuda_graph": "write graphs: false",
    "disable_radix_cache": "write mechanisms: {prefix_hit_share: 0}",
    "latency 延迟": "write limits: {ttft: 2 s, tpot: 50 ms}",
    "port host seed timeout trust_remote_code tokenizer log_level api_key attention_backend":
        "no prediction depends on it, remove it",
    "prefill decode disaggregation_mode":
        "write variants: {prefill: ..., decode: ...} and pools: [prefill, decode]"
}.items() for words in keys.split()}
"""Key that a deployment or a goal does not have -> what to write in its place."""
_KEYS = {word: key for key, words in _SPELLINGS.items() for word in words.split()}
_OF_AN_ENTRY = {word: key for key, words in {
    "vendor": "maker manufacturer brand company", "node": "server system host_node",
    "memory_capacity": "memory mem vram hbm memory_size memory_gb capacity hbm_capacity",
    "memory_bandwidth": "bandwidth mem_bandwidth hbm_bandwidth memory_bw bw",
    "matrix_peak": "peak peaks peak_flops flops tflops compute tensor_flops fp8 fp16 bf16 int8",
    "power": "tdp tdp_watts max_power", "most": "max maximum", "fewest": "min minimum",
    "n_routed_experts": "experts num_experts num_local_experts moe_num_experts",
    "num_hidden_layers": "layers num_layers n_layers n_layer", "hidden_size": "d_model hidden",
    "num_attention_heads": "heads num_heads n_heads", "vocab_size": "vocab",
    "num_key_value_heads": "kv_heads num_kv_heads n_kv_heads",
    "num_experts_per_tok": "top_k topk moe_topk", "intermediate_size": "ffn d_ff ffn_hidden_size"
}.items() for word in words.split()}
"""What data sheets and configurations call the keys of a card, a model or a range -> its key."""
_OF_A_GOAL = {
    "workload": "demand", "cluster": "cards", "parallelism": "space",
    "device": "devices", "engine": "engines", "precision": "precisions",
    "cluster.devices": "cards.most", "parallelism.tensor_parallel": "space.tensor",
    "parallelism.pipeline_parallel": "space.pipeline", "parallelism.data_parallel": "space.data",
    "parallelism.expert_parallel": "space.expert",
    "parallelism.expert_tensor_parallel": "space.expert_slices",
    "workload.concurrency": "demand.users", "workload.context_tokens": "demand.context_tokens",
    "workload.input_tokens": "demand.input_tokens", "workload.arrival_rate": "demand.arrival_rate",
    "workload.output_tokens": "demand.output_tokens", "workload.block_size": "space.block_size",
    "workload.max_num_batched_tokens": "space.chunks", "workload.draft_tokens": "space.drafts",
    "workload.memory_utilization": "space.memory_utilization",
    "workload.host_cache": "space.host_cache",
    "mechanisms.micro_batches": "enable_two_batch_overlap enable_dbo",
    "mechanisms.prefix_hit_share": "demand.prefix_hit_share"}
"""Key of a deployment -> that of a goal, where it is another."""
OPTIONS = {"model": "model", "device": "card", "engine": "engine", "precision": "precision",
           "cluster.devices": "cards", "workload.concurrency": "users",
           "workload.input_tokens": "input", "workload.output_tokens": "output",
           "workload.arrival_rate": "rate", "mechanisms.prefix_hit_share": "hits",
           "limits.ttft": "ttft", "limits.tpot": "tpot",
           **dict.fromkeys((f"parallelism.{name}_parallel" for name in (
               "tensor", "pipeline", "data", "expert")), "layout")}
"""Key of a deployment -> option of a command, or argument of a function, that says the same."""
LONG, SURE = 6, 0.88  # letters of a word that may be mistyped, and similarity


def entry_key_meant(word: str, keys: Collection[str]) -> str | None:
    """Return the key, one of some, that a word of data sheets means; None if it means none."""
    key = _OF_AN_ENTRY.get(word.casefold())
    return key if key in keys else None


def _plain(word: str) -> str:
    return re.sub(r"[\s-]+", "_", word.strip("-")).casefold()


def way(word: str) -> str | None:
    """Return what to write in place of a key that no deployment has; None without advice."""
    return WAYS.get(_plain(word))


def key_meant(word: str, goal: bool = False) -> str | None:
    """Return the key that other tools' option or key means; None for one that is not known.

    >>> key_meant("--max-running-requests"), key_meant("max_model_len"), key_meant("tp", goal=True)
    ('workload.concurrency', 'workload.context_tokens', 'space.tensor')
    """
    name = _plain(word)
    if name in WAYS:
        return None
    near = [name] if name in _KEYS or len(name) < LONG else nearest_names(name, _KEYS, 1, SURE)
    key = _KEYS.get(near[0]) if near else None
    return _OF_A_GOAL.get(key or name, key) if goal else key
