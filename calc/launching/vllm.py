"""Flags and environment of vLLM and vLLM Ascend for a deployment, release by release."""

from __future__ import annotations

from typing import Any

from calc.launching.server import (
    ASCEND,
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
    Chat,
    Layout,
    Release,
    Setting,
    Table,
    Target,
    Variable,
    address_rows,
    chat_of,
    code_rows,
    compressed,
    dealt,
    per_replica,
    precision,
    quantization,
    settings_of,
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


# --- flags ----------------------------------------------------------------------------------------


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


def parallel_rows(t: Target) -> Table:
    """Ranks of a server and its nodes, which find each other by themselves or by Ray."""
    of, part, replica = t.layout, t.part, t.layout.tp * t.layout.pp
    by_ray, local = ray(of, t.release), part.cards // replica
    spans = of.span > 1 and not by_ray
    replica_spans = spans and replica > part.cards
    spread = spans and not replica_spans
    return (
        (True, "--tensor-parallel-size", of.tp, "parallelism of the scenario"),
        (True, "--pipeline-parallel-size", of.pp, "parallelism of the scenario"),
        (by_ray, "--distributed-executor-backend", "ray", "a replica spans nodes"),
        (of.joined > 1, "--data-parallel-size", of.joined, "replicas that share experts"),
        (replica_spans, "--distributed-executor-backend", "mp", "a replica spans nodes"),
        (replica_spans, "--nnodes", of.span, "nodes of this server"),
        (replica_spans, "--node-rank", part.rank, "of this node"),
        (replica_spans, "--master-addr", Variable(HEAD), "its first node"),
        (replica_spans, "--master-port", MASTER_PORT + part.server, "its port"),
        (spread, "--data-parallel-size-local", local, "replicas of a node"),
        (spread, "--data-parallel-address", Variable(HEAD), "its first node"),
        (spread, "--data-parallel-rpc-port", RPC_PORT + part.server, "its port"),
        (spread and part.rank, "--data-parallel-start-rank", part.rank * local,
         "first replica of this node"),
        (spans and part.rank, "--headless", None, "the first node answers"))


def fused(t: Target) -> bool:
    """Whether vLLM runs DeepSeek-V4's experts in the kernel that exchanges tokens too.

    Source: ``--moe-backend deep_gemm_mega_moe`` of its recipes: Blackwell, the published weights,
    whole experts within a node.
    """
    of = t.scenario.precision
    return (compressed(t.scenario) and t.layout.experts > 1 and t.layout.span == 1
            and t.scenario.device.architecture in FUSED
            and (of.weights.routed_expert, of.multiply.routed_expert) == (MXFP4, "fp8"))


def exchange(t: Target) -> tuple[str, str, bool]:
    """How replicas that share experts exchange tokens, empty where they do not or in no way that is
    set; its reason; and whether it is set by a flag, else by a variable."""
    if t.layout.joined == 1 or t.layout.experts == 1 or t.ascend or fused(t):
        return "", "", False
    backend, why = (("allgather_reducescatter", "tokens are gathered")
                    if t.inputs["exchange_gathered"] else
                    ("deepep_high_throughput" if t.inputs["exchange_normal"]
                     else "deepep_low_latency", "tokens are sent to their experts"))
    return backend, why, t.release.has("--all2all-backend", backend)


def dynamic(t: Target) -> bool:
    """Whether experts are placed by measured load while the server runs."""
    return (t.scenario.file.parallelism.balancing == "periodic"
            or t.stated("redundant_experts") > 0)


def expert_rows(t: Target) -> Table:
    """Experts: where they are, how tokens get there, and the deal of a request's cache."""
    backend, why, by_flag = exchange(t)
    copies, deal = t.stated("redundant_experts"), t.stated("decode_context_parallel")
    in_config = t.release.has("--eplb-config", {})
    return (
        (t.layout.experts > 1, "--enable-expert-parallel", None,
         f"whole experts on {t.layout.experts} ranks"),
        (fused(t), "--moe-backend", "deep_gemm_mega_moe",
         "one kernel sends tokens, multiplies and gathers"),
        (by_flag, "--all2all-backend", backend, why),
        (dynamic(t) and not t.ascend, "--enable-eplb", None, BY_LOAD),
        (copies and not t.ascend and in_config, "--eplb-config", {"num_redundant_experts": copies},
         "copies of experts per layer"),
        (copies and not t.ascend and not in_config, "--num-redundant-experts", copies,
         "copies of experts per layer"),
        (t.inputs["micro_batches"] > 1 and not t.ascend, "--enable-dbo", None,
         "two micro-batches overlap"),
        (deal > 1, "--decode-context-parallel-size", deal, "ranks that deal a request's cache"))


def shared_beside(t: Target) -> bool:
    """Whether tutorials of vLLM Ascend run the shared expert beside the routed ones.

    They do so for DeepSeek-V4 and GLM-5, whose drafts they leave outside of graphs.
    """
    return t.ascend and (compressed(t.scenario) or t.scenario.model.family == "glm-5")


def step_rows(t: Target) -> Table:
    """Limits of a step and of requests, and what is captured."""
    file, interval = t.scenario.file, t.stated("stream_interval")
    largest = t.scenario.mechanisms.get("largest_graph") if file.graphs else None
    return (
        (True, "--max-model-len", t.longest.tokens, t.longest.rule[0]),
        (True, "--max-num-seqs", per_replica(t),
         f"{file.workload.concurrency.value} requests, replicas: {t.scenario.replicas}"),
        (True, "--max-num-batched-tokens", file.workload.max_num_batched_tokens.value,
         "tokens of a step"),
        (True, "--block-size", file.workload.block_size.value, "tokens of a block of the cache"),
        (True, "--gpu-memory-utilization", t.scenario.share.value, MEMORY),
        (True, "--enable-chunked-prefill", None, "a step may mix both phases"),
        (True, "--enable-prefix-caching", None, "cached prefixes shorten prefill"),
        (interval > 1, "--stream-interval", interval, "tokens that are sent together"),
        (not file.graphs, "--enforce-eager", None, "decode operator by operator"),
        (file.graphs and shared_beside(t), "--compilation-config",
         {"cudagraph_mode": "FULL_DECODE_ONLY"},
         "its steps of decode are captured, those of prompts are not"),
        (largest is not None and t.release.has("--max-cudagraph-capture-size", 1),
         "--max-cudagraph-capture-size", largest and int(largest.value),
         "largest step that is captured"))


def host_cache(t: Target) -> float:
    """Cache of a replica in host memory [GiB]."""
    size = t.inputs["host_cache_memory"] * t.layout.tp * t.layout.pp
    return float(round(size / factor("GiB"), 3))


def cache_rows(t: Target) -> Table:
    """Caches in host memory and between two pools.

    Source: vLLM's KV Offloading Usage Guide; ``_post_init_kv_transfer_config`` of vLLM 0.33.0,
    which adds the size to what is configured.
    """
    size = host_cache(t)
    return (
        (size, "--kv-offloading-backend", "native",
         f"{t.scenario.file.workload.host_cache} of a server for caches that the cards drop"),
        (size, "--kv-offloading-size", size, "GiB of a replica"),
        (size, "--kv-transfer-config",
         {"kv_connector_extra_config": {"offload_prompt_only": False}},
         "answers are prompts of the next turn"),
        (t.separate and not t.ascend, "--kv-transfer-config",
         {"kv_connector": "NixlConnector", "kv_role": "kv_both"}, f"the {t.role} pool of two"))


def answer_rows(t: Target) -> Table:
    """The chat format, if the release reads it, and where a server answers."""
    chat = chat_of(t.scenario) or Chat("", "")
    reads = chat.calls and (chat.tokens is None or t.release.has("--tokenizer-mode", chat.tokens))
    return (
        *code_rows(t),
        (reads and chat.tokens, "--tokenizer-mode", chat.tokens, SPOKEN),
        (reads, "--tool-call-parser", chat.calls, SPOKEN),
        (reads, "--enable-auto-tool-choice", None, SPOKEN),
        (reads, "--reasoning-parser", chat.reasoning, SPOKEN),
        *address_rows(t))


def balances(t: Target) -> bool:
    """Whether ranks wait for a place at each of them, and the release has a switch for it."""
    return (t.scenario.file.prefill_coordination == "balance" and ranks_wait(t)
            and (t.release.has(IN_CONFIG, True) or t.release.has(BALANCED, 1)))


def ranks_wait(t: Target) -> bool:
    """Whether ranks may wait for each other: several of one pool that does both phases."""
    alone = t.inputs["separate_pools"] or t.inputs["output_tokens"] <= 1
    return not alone and bool(ranks_in_step(Inputs(t.inputs)) > 1)


def sparse(scenario: Scenario) -> bool:
    """Whether attention is sparse and caches are as they are set; DeepSeek-V4's are by itself."""
    return not compressed(scenario) and scenario.model.index_topk is not None


def option_rows(t: Target) -> Table:
    """Keys of --additional-config, the one flag of the plug-in for Ascend."""
    release, copies, by_load = t.release, t.stated("redundant_experts"), dynamic(t)
    nested = release.has("eplb_config") and not release.has("dynamic_eplb", True)
    of, picks = t.scenario.precision, sparse(t.scenario)
    return (
        (dealt(t), "enable_dsa_cp", True, DEALT),
        (by_load and nested, "eplb_config",
         {"dynamic_eplb": True, "num_redundant_experts": copies}, BY_LOAD),
        (by_load and not nested, "dynamic_eplb", True, BY_LOAD),
        (by_load and not nested, "init_redundancy_expert", copies, BY_LOAD),
        (shared_beside(t) and release.has(BESIDE, True), BESIDE, True,
         "the shared expert runs beside the routed ones"),
        (balances(t) and release.has(IN_CONFIG, True), "scheduler_config",
         {"enable_balance_scheduling": True}, BALANCING),
        (picks and of.kv_cache == ASCEND_ROWS, "enable_sparse_sfa_c8", True, "latents in INT8"),
        (picks and of.kv_index == KEYS, "enable_sparse_li_c8", True, "index keys in INT8"))


def ascend_variables(t: Target) -> Table:
    """Environment of vLLM Ascend.

    Source: tutorials of vLLM Ascend (``params/recipes/vllm-ascend.yml``); its 0.23.0, which sets
    the mode for MiniMax-M2 by itself; its pull request 10460 for the buffer. FlashComm1, by which
    each rank has the sums of its own tokens, is what dealt prompts ask for.
    """
    release, cards = t.release, _cards(t)
    return (
        (t.inputs["micro_batches"] > 1, "VLLM_ASCEND_ENABLE_DBO", 1, "two micro-batches overlap"),
        (dynamic(t) and release.has("DYNAMIC_EPLB", "true"), "DYNAMIC_EPLB", "true",
         "the plug-in asks for it beside dynamic_eplb"),
        (balances(t) and not release.has(IN_CONFIG, True), BALANCED, 1, BALANCING),
        (dealt(t) and release.has("VLLM_ASCEND_ENABLE_FLASHCOMM1", 1),
         "VLLM_ASCEND_ENABLE_FLASHCOMM1", 1, DEALT),
        (True, "HCCL_OP_EXPANSION_MODE", "AIV",
         "collectives run on vector cores, which leaves room for captured steps"),
        (t.layout.joined > 1 and t.layout.experts > 1
         and t.scenario.device.architecture == "ascend-a2", "HCCL_BUFFSIZE", A2_BUFFER,
         "room of what is sent to experts, on which predictions rest; 200 by default"),
        (t.layout.span > 1 or t.separate, "VLLM_HOST_IP", Variable(OWN), "address of this node"),
        (t.separate and release.has("PHYSICAL_DEVICES", cards), "PHYSICAL_DEVICES", cards,
         "between which caches are sent"))


def _cards(t: Target) -> str:
    return ",".join(map(str, range(t.part.first, t.part.first + t.part.cards)))


def variables(t: Target) -> list[Setting]:
    """The environment of one node."""
    visible = "ASCEND_RT_VISIBLE_DEVICES" if t.ascend else "CUDA_VISIBLE_DEVICES"
    backend, why, by_flag = exchange(t)
    return settings_of(t.release, (
        (t.part.first or len(t.layout.of_node(t.part.node)) > 1, visible, _cards(t),
         "cards of this server; others of the node run another"),
        *(ascend_variables(t) if t.ascend else (
            (backend and not by_flag, "VLLM_ALL2ALL_BACKEND", backend, why),
            (t.layout.span > 1, "VLLM_HOST_IP", Variable(OWN), "address of this node"),
            (t.separate, "VLLM_NIXL_SIDE_CHANNEL_HOST", Variable(OWN), "where caches are fetched"),
            (t.separate, "VLLM_NIXL_SIDE_CHANNEL_PORT", SIDE_PORT + t.part.first, "its port")))))


def refuse_unsupported(t: Target) -> None:
    """Raise ParamsError, one sentence, for what no flag of the release does."""
    file, hosted = t.scenario.file, host_cache(t)
    coordination, interval = file.prefill_coordination, t.stated("scheduler_recv_interval")
    for condition, reason in (
            (dealt(t) and not t.ascend,
             "no flag deals prompts over tensor-parallel ranks, expected prefill_context_parallel: "
             "0, or vllm-ascend or sglang"),
            (file.scheduling != "mixed",
             "decodes and chunks of prompts share a step, there is no flag for scheduling: "
             "prefill-first"),
            (coordination != "eager" and ranks_wait(t) and not balances(t),
             f"there is no flag for prefill_coordination: {coordination}, expected eager"),
            (interval > 1,
             "it looks for requests before every step, there is no flag for "
             f"scheduler_recv_interval: {interval}"),
            (hosted and t.ascend,
             "no flag is known that keeps caches in host memory on Ascend, expected a deployment "
             "without workload.host_cache"),
            (hosted and t.separate,
             "no flag is known that keeps caches in host memory beside another connector, expected "
             "a deployment without workload.host_cache")):
        if condition:
            raise ParamsError(f"{t.release}: {reason}.")


def flags(target: Target) -> list[Setting]:
    """The arguments of ``vllm serve`` on one node.

    Raises ParamsError, one sentence, for what the release cannot do.
    """
    release = target.release
    parallel = settings_of(release, (*parallel_rows(target), *expert_rows(target)))
    refuse_unsupported(target)
    return [*parallel, *additional_config(target),
            *formats(target.scenario, release, target.role),
            *settings_of(release, step_rows(target)), *drafts(target),
            *settings_of(release, (*cache_rows(target), *answer_rows(target))), *mooncake(target)]


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
    if sparse(scenario) and (scenario.precision.kv_cache == ASCEND_ROWS
                              or scenario.precision.kv_index == KEYS):
        caches[ASCEND_ROWS] = None
    published = compressed(scenario) and published_weights(scenario.model) == weights
    return precision(scenario, release, dict.fromkeys(
        weights.model_dump().values(), V4_METHOD if published else "ascend"), caches)


def additional_config(target: Target) -> list[Setting]:
    """Options of the plug-in for Ascend, all in one flag."""
    options = settings_of(target.release, option_rows(target)) if target.ascend else []
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
        if shared_beside(target):
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
