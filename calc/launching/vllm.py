"""Flags and environment of vLLM and vLLM Ascend for a deployment, release by release."""

from __future__ import annotations

from typing import Any

from calc.launching.server import (
    ANSWERING,
    ASCEND,
    CODE,
    COMPRESSED_ROWS,
    DEALT,
    HEAD,
    KEYS,
    MASTER_PORT,
    MEMORY,
    MXFP4,
    OWN,
    QUANTIZED,
    RPC_PORT,
    SIDE_PORT,
    SPARSE_ROWS,
    SPOKEN,
    Layout,
    Release,
    Setting,
    Table,
    Target,
    Variable,
    always,
    chat_of,
    compressed,
    dealt,
    number,
    per_replica,
    precision,
    quantization,
    settings_of,
    several,
)
from calc.physics.arrays import Inputs
from calc.physics.experts import ranks_in_step
from catalogue import ParamsError, Scenario
from catalogue.kernels import published_weights
from catalogue.reading.units import factor

NAMES = ("vllm", ASCEND)
V4_METHOD = "deepseek_v4_fp8"
CACHED: dict[str, str | None] = {"bf16": None, "fp16": None, "fp8": "fp8"}
IN_CHECKPOINT = ("int8", "int8-latent48")  # scales come with the weights, to ranks that decode
ASCEND_ROWS = "int8-latent128"  # latents of sparse attention, in INT8
FUSED = ("sm_100", "sm_103")  # cards with one kernel for exchange and experts
BESIDE = "multistream_overlap_shared_expert"  # as the tutorial of DeepSeek-V4 starts
IN_CONFIG = "scheduler_config.enable_balance_scheduling"  # in place of the variable
BALANCED = "VLLM_ASCEND_BALANCE_SCHEDULING"
BALANCING, BY_LOAD = ("no rank lets a request in while one is full",
                      "experts lie by their measured load")
A2_BUFFER = 512  # MB of an exchange that are usual on A2


# --- conditions -----------------------------------------------------------------------------------


def ray(of: Layout, release: Release) -> bool:
    """Whether a server's nodes meet in a Ray cluster: a replica spans nodes, and before --nnodes.

    Raises ParamsError, one sentence, where several such replicas share experts.
    """
    if of.span == 1 or of.tp * of.pp <= of.parts[0].cards or release.has("--nnodes", of.span):
        return False
    if of.joined > 1:
        raise ParamsError(f"{release}: replicas of {of.tp * of.pp} cards that span nodes and share "
                          "experts need --nnodes, which comes with 0.13.0.")
    return True


def _in_ray(target: Target) -> bool:
    return ray(target.layout, target.release)


def _spans(target: Target) -> bool:
    """Whether a server spans nodes that find each other by themselves."""
    return target.layout.span > 1 and not _in_ray(target)


def _replica_spans(target: Target) -> bool:
    return _spans(target) and target.layout.tp * target.layout.pp > target.part.cards


def _replicas_spread(target: Target) -> bool:
    return _spans(target) and not _replica_spans(target)


def _local(target: Target) -> int:
    """Replicas of a node."""
    return target.part.cards // (target.layout.tp * target.layout.pp)


def _shares(target: Target) -> bool:
    """Whether several replicas of a server share experts that are not cut."""
    return target.layout.joined > 1 and target.layout.experts > 1


def _fused(target: Target) -> bool:
    """Whether vLLM runs DeepSeek-V4's experts in the kernel that exchanges tokens too.

    Source: ``--moe-backend deep_gemm_mega_moe`` of its recipes: Blackwell, the published weights,
    whole experts within a node.
    """
    of = target.scenario.precision
    return (compressed(target.scenario) and target.layout.experts > 1 and target.layout.span == 1
            and target.scenario.device.architecture in FUSED
            and (of.weights.routed_expert, of.multiply.routed_expert) == (MXFP4, "fp8"))


def _exchange(target: Target) -> str:
    if target.inputs["exchange_gathered"]:
        return "allgather_reducescatter"
    return ("deepep_high_throughput" if target.inputs["exchange_normal"]
            else "deepep_low_latency")


def _exchange_why(target: Target) -> str:
    return ("tokens are gathered" if target.inputs["exchange_gathered"]
            else "tokens are sent to their experts")


def _exchanges(target: Target, flag: bool) -> bool:
    """Whether the exchange is set, by a flag or by a variable."""
    return (_shares(target) and not target.ascend and not _fused(target)
            and target.release.has("--all2all-backend", _exchange(target)) == flag)


def _dynamic(target: Target) -> bool:
    """Whether experts are placed by measured load while the server runs."""
    return (target.scenario.file.parallelism.balancing == "periodic"
            or target.stated("redundant_experts") > 0)


def _copies(target: Target, config: bool) -> bool:
    """Whether experts have copies, set in a config or by a flag of their own."""
    return (not target.ascend and target.stated("redundant_experts") > 0
            and target.release.has("--eplb-config", {}) == config)


def _two_batches(target: Target) -> bool:
    return bool(target.inputs["micro_batches"] > 1)


def _beside(target: Target) -> bool:
    """Whether tutorials of vLLM Ascend run the shared expert beside the routed ones.

    They do so for DeepSeek-V4 and GLM-5, whose drafts they leave outside of graphs.
    """
    return target.ascend and (compressed(target.scenario)
                              or target.scenario.model.family == "glm-5")


def _waits(target: Target) -> bool:
    """Whether ranks may wait for each other: several of one pool that does both phases."""
    inputs = target.inputs
    alone = inputs["separate_pools"] or inputs["output_tokens"] <= 1
    return not alone and bool(ranks_in_step(Inputs(inputs)) > 1)


def _balances(target: Target) -> bool:
    """Whether ranks wait for a place at each of them, and the release has a switch for it."""
    release = target.release
    return (target.scenario.file.prefill_coordination == "balance" and _waits(target)
            and (release.has(IN_CONFIG, True) or release.has(BALANCED, 1)))


def _sparse(scenario: Scenario) -> bool:
    """Whether attention is sparse and caches are as they are set; DeepSeek-V4's are by itself."""
    return not compressed(scenario) and scenario.model.index_topk is not None


def _hosted(target: Target) -> float:
    """Cache of a replica in host memory [GiB]."""
    size = target.inputs["host_cache_memory"] * target.layout.tp * target.layout.pp
    return float(round(size / factor("GiB"), 3))


def _chat(target: Target) -> bool:
    """Whether the release reads the chat format of the model's family."""
    chat = chat_of(target.scenario)
    return chat is not None and (chat.tokens is None
                                 or target.release.has("--tokenizer-mode", chat.tokens))


def _cards(target: Target) -> str:
    return ",".join(map(str, range(target.part.first, target.part.first + target.part.cards)))


# --- flags ----------------------------------------------------------------------------------------

PARALLEL: Table = (
    (always, "--tensor-parallel-size", lambda t: t.layout.tp, "parallelism of the scenario"),
    (always, "--pipeline-parallel-size", lambda t: t.layout.pp, "parallelism of the scenario"),
    (_in_ray, "--distributed-executor-backend", "ray", "a replica spans nodes"),
    (lambda t: t.layout.joined > 1, "--data-parallel-size", lambda t: t.layout.joined,
     "replicas that share experts"),
    (_replica_spans, "--distributed-executor-backend", "mp", "a replica spans nodes"),
    (_replica_spans, "--nnodes", lambda t: t.layout.span, "nodes of this server"),
    (_replica_spans, "--node-rank", lambda t: t.part.rank, "of this node"),
    (_replica_spans, "--master-addr", Variable(HEAD), "its first node"),
    (_replica_spans, "--master-port", lambda t: MASTER_PORT + t.part.server, "its port"),
    (_replicas_spread, "--data-parallel-size-local", _local, "replicas of a node"),
    (_replicas_spread, "--data-parallel-address", Variable(HEAD), "its first node"),
    (_replicas_spread, "--data-parallel-rpc-port", lambda t: RPC_PORT + t.part.server, "its port"),
    (lambda t: _replicas_spread(t) and t.part.rank, "--data-parallel-start-rank",
     lambda t: t.part.rank * _local(t), "first replica of this node"),
    (lambda t: _spans(t) and t.part.rank, "--headless", None, "the first node answers"))
EXPERTS: Table = (
    (lambda t: t.layout.experts > 1, "--enable-expert-parallel", None,
     lambda t: f"whole experts on {t.layout.experts} ranks"),
    (_fused, "--moe-backend", "deep_gemm_mega_moe",
     "one kernel sends tokens, multiplies and gathers"),
    (lambda t: _exchanges(t, True), "--all2all-backend", _exchange, _exchange_why),
    (lambda t: _dynamic(t) and not t.ascend, "--enable-eplb", None, BY_LOAD),
    (lambda t: _copies(t, True), "--eplb-config",
     lambda t: {"num_redundant_experts": t.stated("redundant_experts")},
     "copies of experts per layer"),
    (lambda t: _copies(t, False), "--num-redundant-experts",
     number("redundant_experts"), "copies of experts per layer"),
    (lambda t: _two_batches(t) and not t.ascend, "--enable-dbo", None, "two micro-batches overlap"),
    (several("decode_context_parallel"), "--decode-context-parallel-size",
     number("decode_context_parallel"), "ranks that deal a request's cache"))
STEPS: Table = (
    (always, "--max-model-len", lambda t: t.longest.tokens, lambda t: t.longest.rule[0]),
    (always, "--max-num-seqs", per_replica,
     lambda t: (f"{t.scenario.file.workload.concurrency.value} requests, "
                f"replicas: {t.scenario.replicas}")),
    (always, "--max-num-batched-tokens",
     lambda t: t.scenario.file.workload.max_num_batched_tokens.value, "tokens of a step"),
    (always, "--block-size", lambda t: t.scenario.file.workload.block_size.value,
     "tokens of a block of the cache"),
    (always, "--gpu-memory-utilization", lambda t: t.scenario.share.value, MEMORY),
    (always, "--enable-chunked-prefill", None, "a step may mix both phases"),
    (always, "--enable-prefix-caching", None, "cached prefixes shorten prefill"),
    (several("stream_interval"), "--stream-interval",
     number("stream_interval"), "tokens that are sent together"),
    (lambda t: not t.scenario.file.graphs, "--enforce-eager", None, "decode operator by operator"),
    (lambda t: t.scenario.file.graphs and _beside(t), "--compilation-config",
     {"cudagraph_mode": "FULL_DECODE_ONLY"},
     "its steps of decode are captured, those of prompts are not"),
    (lambda t: (t.scenario.file.graphs and "largest_graph" in t.scenario.mechanisms
                and t.release.has("--max-cudagraph-capture-size", 1)),
     "--max-cudagraph-capture-size", lambda t: int(t.scenario.mechanisms["largest_graph"].value),
     "largest step that is captured"))
CACHES: Table = (
    # Source: vLLM's KV Offloading Usage Guide; ``_post_init_kv_transfer_config`` of vLLM 0.33.0,
    # which adds the size to what is configured
    (_hosted, "--kv-offloading-backend", "native",
     lambda t: f"{t.scenario.file.workload.host_cache} of a server for caches that the cards drop"),
    (_hosted, "--kv-offloading-size", _hosted, "GiB of a replica"),
    (_hosted, "--kv-transfer-config", {"kv_connector_extra_config": {"offload_prompt_only": False}},
     "answers are prompts of the next turn"),
    (lambda t: t.separate and not t.ascend, "--kv-transfer-config",
     {"kv_connector": "NixlConnector", "kv_role": "kv_both"},
     lambda t: f"the {t.role} pool of two"))
TALK: Table = (
    *CODE,
    (lambda t: _chat(t) and chat_of(t.scenario).tokens, "--tokenizer-mode",
     lambda t: chat_of(t.scenario).tokens, SPOKEN),
    (_chat, "--tool-call-parser", lambda t: chat_of(t.scenario).calls, SPOKEN),
    (_chat, "--enable-auto-tool-choice", None, SPOKEN),
    (_chat, "--reasoning-parser", lambda t: chat_of(t.scenario).reasoning, SPOKEN),
    *ANSWERING)
OPTIONS: Table = (  # keys of --additional-config, the one flag of the plug-in for Ascend
    (dealt, "enable_dsa_cp", True, DEALT),
    (lambda t: _dynamic(t) and _nested(t), "eplb_config",
     lambda t: {"dynamic_eplb": True, "num_redundant_experts": t.stated("redundant_experts")},
     BY_LOAD),
    (lambda t: _dynamic(t) and not _nested(t), "dynamic_eplb", True, BY_LOAD),
    (lambda t: _dynamic(t) and not _nested(t), "init_redundancy_expert",
     number("redundant_experts"), BY_LOAD),
    (lambda t: _beside(t) and t.release.has(BESIDE, True), BESIDE, True,
     "the shared expert runs beside the routed ones"),
    (lambda t: _balances(t) and t.release.has(IN_CONFIG, True), "scheduler_config",
     {"enable_balance_scheduling": True}, BALANCING),
    (lambda t: _sparse(t.scenario) and t.scenario.precision.kv_cache == ASCEND_ROWS,
     "enable_sparse_sfa_c8", True, "latents in INT8"),
    (lambda t: _sparse(t.scenario) and t.scenario.precision.kv_index == KEYS, "enable_sparse_li_c8",
     True, "index keys in INT8"))
VARIABLES: Table = (
    (lambda t: t.part.first or len(t.layout.of_node(t.part.node)) > 1,
     lambda t: "ASCEND_RT_VISIBLE_DEVICES" if t.ascend else "CUDA_VISIBLE_DEVICES", _cards,
     "cards of this server; others of the node run another"),
    (lambda t: _exchanges(t, False), "VLLM_ALL2ALL_BACKEND", _exchange, _exchange_why),
    (lambda t: _two_batches(t) and t.ascend, "VLLM_ASCEND_ENABLE_DBO", 1,
     "two micro-batches overlap"),
    (lambda t: t.ascend and _dynamic(t) and t.release.has("DYNAMIC_EPLB", "true"), "DYNAMIC_EPLB",
     "true", "the plug-in asks for it beside dynamic_eplb"),
    (lambda t: _balances(t) and not t.release.has(IN_CONFIG, True), BALANCED, 1, BALANCING),
    # FlashComm1, each rank the sums of its own tokens: dealt prompts ask for it
    (lambda t: t.ascend and dealt(t) and t.release.has("VLLM_ASCEND_ENABLE_FLASHCOMM1", 1),
     "VLLM_ASCEND_ENABLE_FLASHCOMM1", 1, DEALT),
    # Source: tutorials of vLLM Ascend (``params/recipes/vllm-ascend.yml``); its 0.23.0, which sets
    # the mode for MiniMax-M2 by itself; its pull request 10460 for the buffer
    (lambda t: t.ascend, "HCCL_OP_EXPANSION_MODE", "AIV",
     "collectives run on vector cores, which leaves room for captured steps"),
    (lambda t: t.ascend and _shares(t) and t.scenario.device.architecture == "ascend-a2",
     "HCCL_BUFFSIZE", A2_BUFFER,
     "room of what is sent to experts, on which predictions rest; 200 by default"),
    (lambda t: t.layout.span > 1 or (t.ascend and t.separate), "VLLM_HOST_IP", Variable(OWN),
     "address of this node"),
    (lambda t: t.ascend and t.separate and t.release.has("PHYSICAL_DEVICES", _cards(t)),
     "PHYSICAL_DEVICES", _cards, "between which caches are sent"),
    (lambda t: t.separate and not t.ascend, "VLLM_NIXL_SIDE_CHANNEL_HOST", Variable(OWN),
     "where caches are fetched"),
    (lambda t: t.separate and not t.ascend, "VLLM_NIXL_SIDE_CHANNEL_PORT",
     lambda t: SIDE_PORT + t.part.first, "its port"))
REFUSED = (
    (lambda t: dealt(t) and not t.ascend,
     "no flag deals prompts over tensor-parallel ranks, expected prefill_context_parallel: 0, or "
     "vllm-ascend or sglang"),
    (lambda t: t.scenario.file.scheduling != "mixed",
     "decodes and chunks of prompts share a step, there is no flag for scheduling: prefill-first"),
    (lambda t: (_waits(t) and t.scenario.file.prefill_coordination != "eager"
                and not _balances(t)),
     "there is no flag for prefill_coordination: {file.prefill_coordination}, expected eager"),
    (several("scheduler_recv_interval"),
     "it looks for requests before every step, there is no flag for scheduler_recv_interval: "
     "{file.workload.scheduler_recv_interval.value}"),
    (lambda t: _hosted(t) and t.ascend,
     "no flag is known that keeps caches in host memory on Ascend, expected a deployment without "
     "workload.host_cache"),
    (lambda t: _hosted(t) and t.separate,
     "no flag is known that keeps caches in host memory beside another connector, expected a "
     "deployment without workload.host_cache"))
"""What no flag of vLLM does: condition, and reason."""


def flags(target: Target) -> list[Setting]:
    """The arguments of ``vllm serve`` on one node.

    Raises ParamsError, one sentence, for what the release cannot do.
    """
    parallel = settings_of((*PARALLEL, *EXPERTS), target)
    for condition, reason in REFUSED:
        if condition(target):
            raise ParamsError(f"{target.release}: {reason.format(file=target.scenario.file)}.")
    return [*parallel, *additional_config(target),
            *formats(target.scenario, target.release, target.role), *settings_of(STEPS, target),
            *drafts(target), *settings_of((*CACHES, *TALK), target), *mooncake(target)]


def variables(target: Target) -> list[Setting]:
    """The environment of one node."""
    return settings_of(VARIABLES, target)


def formats(scenario: Scenario, release: Release, role: str) -> list[Setting]:
    """In which formats a server computes and stores; on Ascend ``ascend`` for msModelSlim's.

    Raises ParamsError as :func:`precision` does.
    """
    caches, weights = dict(CACHED), scenario.precision.weights
    if compressed(scenario):
        caches[COMPRESSED_ROWS] = "fp8"
    elif scenario.model.index_topk is not None:
        caches[SPARSE_ROWS] = "fp8_ds_mla"
    if release.name != ASCEND:
        return precision(scenario, release, quantization(scenario, QUANTIZED, V4_METHOD), caches)
    if role == "decode":
        caches |= dict.fromkeys(IN_CHECKPOINT)
    if _sparse(scenario) and (scenario.precision.kv_cache == ASCEND_ROWS
                              or scenario.precision.kv_index == KEYS):
        caches[ASCEND_ROWS] = None
    published = compressed(scenario) and published_weights(scenario.model) == weights
    return precision(scenario, release, dict.fromkeys(
        weights.model_dump().values(), V4_METHOD if published else "ascend"), caches)


def _nested(target: Target) -> bool:
    """Whether the plug-in takes the placement of experts in a group of its own."""
    return target.release.has("eplb_config") and not target.release.has("dynamic_eplb", True)


def additional_config(target: Target) -> list[Setting]:
    """Options of the plug-in for Ascend, all in one flag."""
    options = settings_of(OPTIONS, target) if target.ascend else []
    if not options:
        return []
    return [target.release.take(
        "--additional-config", {option.name: option.value for option in options},
        "; ".join(dict.fromkeys(option.why for option in options)))]


def drafts(target: Target) -> list[Setting]:
    """How tokens are drafted; nothing where none are.

    Raises ParamsError, one sentence, for a model without a layer that drafts.
    """
    scenario, count = target.scenario, target.stated("draft_tokens")
    if not count:
        return []
    config: dict[str, Any]
    if (drafter := scenario.drafter) is not None and drafter.repository is not None:
        config = {"method": scenario.file.workload.draft_method, "model": drafter.repository,
                  "num_speculative_tokens": count}
    elif drafter is None and not scenario.model.drafts:
        raise ParamsError(f"'{scenario.model.id}' has no layer that drafts, name a draft model "
                          "with --flag=--speculative-config=JSON and set draft_tokens to 0.")
    else:
        config = {"method": "dspark" if target.inputs["draft_block"] > 1 else
                  "deepseek_mtp" if scenario.model.attention == "mla" else "mtp",
                  "num_speculative_tokens": count}
        if _beside(target):
            config["enforce_eager"] = True  # of the drafts alone, as the tutorial starts
    return [target.release.take("--speculative-config", config, "tokens drafted per step")]


def mooncake(target: Target) -> list[Setting]:
    """How a cache goes from a prefill pool to a decode pool of vLLM Ascend.

    A server listens on a port for each of its cards, and is given the sizes of both pools.

    Raises ParamsError, one sentence, for pools between which the connector sends nothing.
    """
    release, role, pools = target.release, target.role, target.layouts
    if not target.ascend or len(pools) == 1:
        return []
    for name, of in pools.items():
        if of.pp > 1 or of.tp > of.parts[0].cards:
            raise ParamsError(f"{release}: replicas of the {name} pool of TP{of.tp}×PP{of.pp}, "
                              "expected each on one node and without stages: how the connector is "
                              "told of others is in no catalogue.")
    prefill, decode = pools["prefill"], pools["decode"]
    if prefill.tp % decode.tp:
        raise ParamsError(f"{release}: caches go from TP{prefill.tp} to TP{decode.tp}, expected a "
                          "tensor_parallel of the prefill pool that is a multiple of the decode "
                          "pool's.")
    return [release.take("--kv-transfer-config", {
        "kv_connector": "MooncakeConnectorV1",
        "kv_role": "kv_producer" if role == "prefill" else "kv_consumer",
        "kv_port": SIDE_PORT + target.part.first, "engine_id": f"{role}-{target.part.server}",
        "kv_connector_extra_config": {name: {"dp_size": of.joined, "tp_size": of.tp}
                                      for name, of in pools.items()}}, f"the {role} pool of two")]
