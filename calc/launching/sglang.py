"""Flags and environment of SGLang for a deployment, release by release."""

from __future__ import annotations

import math
from typing import Any

from calc.launching.server import (
    ANSWERING,
    BOOTSTRAP_PORT,
    CODE,
    COMPRESSED_ROWS,
    DEALT,
    HEAD,
    MASTER_PORT,
    MEMORY,
    MXFP4,
    QUANTIZED,
    SPARSE_ROWS,
    SPOKEN,
    TAKEN,
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
from calc.layouts.space import GIGA
from catalogue import ParamsError, Scenario
from catalogue.entries.profiles import in_order

METHODS = QUANTIZED | {"int8-channel": "w8a8_int8", "int4-group128-cutlass": "w4afp8"}
SLIM = "modelslim"  # whatever msModelSlim wrote for Ascend; before it W8A8 alone had a name
MARLIN = "_marlin"  # of methods that take a checkpoint's weights to kernels of NVIDIA's cards
BUFFER = 128  # tokens of a rank that DeepEP has room for by default, in every release
NVFP4 = ("nvfp4", "nvfp4-output")
PAGE = 64  # tokens of FlashMLA's blocks
CACHED: dict[str, str | None] = {"bf16": None, "fp16": None, "fp8": "fp8_e4m3"}
RACK, JOINED = "NVLink joins the nodes of a rack", "replicas of attention that share experts"
ROUNDED = "activations of the experts are rounded to FP8"
CHAT_SINCE = "0.5.9"  # whose source has the parsers of all families


# --- conditions -----------------------------------------------------------------------------------


def _npu(target: Target) -> bool:
    return target.scenario.device.type == "npu"


def between_npus(scenario: Scenario, release: Release) -> bool:
    """Whether caches go from card to card of Ascend under SGLang."""
    return release.name == "sglang" and scenario.device.type == "npu"


def _flash(target: Target) -> bool:
    """Whether predictions take FlashMLA to decode: latents in FP8 on Hopper, read as they are
    (``params/kernels/sglang.yml``), where FlashAttention 3 widens them first."""
    scenario = target.scenario
    return (scenario.model.attention == "mla" and scenario.model.index_topk is None
            and scenario.device.architecture == "sm_90" and scenario.precision.kv_cache == "fp8")


def _joined(target: Target, attention: bool) -> bool:
    """Whether replicas share experts, under the newer name of their flag or the older one."""
    joined = target.layout.joined
    return joined > 1 and target.release.has("--attn-dp-size", joined) == attention


def _sent(target: Target) -> bool:
    """Whether tokens are sent to their experts, else gathered."""
    of = target.layout
    return (of.experts > 1 and of.slices == 1 and of.joined > 1
            and not target.inputs["exchange_gathered"])


def _mode(target: Target) -> str:
    """How DeepEP sends tokens: a server that does both phases takes either mode, by phase; the
    kernel of NVFP4 experts takes one."""
    if target.inputs["exchange_normal"]:
        return "normal"
    return "low_latency" if target.role == "decode" or _four_bits(target) else "auto"


def _four_bits(target: Target) -> bool:
    """Whether experts multiply NVFP4 by itself, on a card that has a unit for it."""
    of = target.scenario.precision
    return (of.weights.routed_expert in NVFP4 and of.multiply.routed_expert == "fp4"
            and target.scenario.device.peak("fp4") is not None)


def _tokens(target: Target) -> int:
    """Tokens of a rank that a step sends to experts [token]."""
    tokens = math.ceil(per_replica(target) * (target.inputs["draft_tokens"] + 1)
                       / target.layout.tp)
    if target.role != "decode" and _mode(target) == "low_latency":
        return max(tokens, math.ceil(target.inputs["max_num_batched_tokens"] / target.layout.tp))
    return tokens


def _mxfp4(target: Target) -> str:
    """How MXFP4 experts on Hopper take activations: ``fp8`` rounded, ``bf16`` as they are with the
    weights widened, or by default.

    Source: ``--flashinfer-mxfp4-moe-precision`` of SGLang's server; its cookbook for DeepSeek-V4.
    """
    scenario, of = target.scenario, target.scenario.precision
    if (not scenario.model.is_moe or scenario.device.architecture != "sm_90"
            or of.weights.routed_expert != MXFP4):
        return ""
    return ("fp8" if of.multiply.routed_expert == "fp8"
            else "bf16" if compressed(scenario) else "")


def _rack(target: Target) -> bool:
    """Whether NVLink joins the nodes of a rack.

    Source: "NVLink Transport Configuration" of SGLang's page on two pools, its recipes for GB200.
    """
    return (target.scenario.device.software == "cuda"
            and target.scenario.node.fabric_link is not None)


def _host_cache(target: Target) -> float:
    """Cache of a card in host memory [B]; SGLang takes it in whole GB.

    Source: SGLang's page HiCache System Design and Optimization.
    """
    return float(target.inputs["host_cache_memory"])


def _chat(target: Target) -> Any:
    """Parsers of reasoning and calls that the release has for the model's family."""
    chat = chat_of(target.scenario)
    return chat.sglang if chat and in_order(target.release.version) >= in_order(
        CHAT_SINCE) else None


def _drafts_blocks(target: Target) -> bool:
    return bool(target.stated("draft_tokens") and target.inputs["draft_block"] > 1)


def _drafts_singly(target: Target) -> bool:
    return bool(target.stated("draft_tokens") and not _drafts_blocks(target))


def _drafter(target: Target) -> str | None:
    """Repository of a drafter of single tokens apart from the model."""
    drafter = target.scenario.drafter
    return drafter.repository if drafter is not None and _drafts_singly(target) else None


def _current(target: Target, name: str, value: object = None) -> bool:
    """Whether the release takes a flag that is not marked as deprecated."""
    return target.release.judge(name, value) in TAKEN


# --- flags ----------------------------------------------------------------------------------------

PARALLEL: Table = (
    (_npu, "--device", "npu", "the cards are Ascend's"),
    (_npu, "--attention-backend", "ascend", "the cards are Ascend's"),
    (lambda t: not _npu(t) and _flash(t) and t.role != "prefill", "--attention-backend", "flashmla",
     "it reads the cache in FP8"),
    (always, "--tp-size", lambda t: t.layout.tp * t.layout.joined, "ranks of a server, per stage"),
    (lambda t: t.layout.pp > 1, "--pp-size", lambda t: t.layout.pp, "parallelism of the scenario"),
    (lambda t: _joined(t, True),
     "--attn-dp-size", lambda t: t.layout.joined, JOINED),
    (lambda t: _joined(t, False),
     "--dp-size", lambda t: t.layout.joined, JOINED),
    (lambda t: _joined(t, False),
     "--enable-dp-attention", None, JOINED),
    (lambda t: t.layout.joined > 1 and t.inputs["draft_block"] > 1, "--enable-dp-lm-head", None,
     "DSpark with data-parallel attention asks for it"),
    (lambda t: t.layout.span > 1, "--nnodes", lambda t: t.layout.span, "nodes of this server"),
    (lambda t: t.layout.span > 1, "--node-rank", lambda t: t.part.rank, "of this node"),
    (lambda t: t.layout.span > 1, "--dist-init-addr",
     lambda t: Variable(HEAD, f":{MASTER_PORT + t.part.server}"), "its first node"),
    (lambda t: t.layout.span == 1 and t.part.first, "--base-gpu-id", lambda t: t.part.first,
     "first card of this server"))
EXPERTS: Table = (
    (lambda t: t.layout.experts > 1, "--ep-size", lambda t: t.layout.experts,
     lambda t: (f"experts on {t.layout.experts} ranks, in {t.layout.slices} slices each"
                if t.layout.slices > 1 else f"whole experts on {t.layout.experts} ranks")),
    (_sent, [("--moe-a2a-backend", "deepep"), ("--enable-deepep-moe", None)], None,
     "tokens are sent to their experts"),
    (_sent, "--deepep-mode", _mode, "tokens are sent to their experts"),
    (lambda t: _sent(t) and _four_bits(t), "--moe-runner-backend", "flashinfer_cutedsl",
     "the kernel of NVFP4 experts that takes what is sent"),
    (lambda t: (t.layout.experts > 1 and t.layout.slices == 1 and not _sent(t)
                and not t.release.has("--moe-a2a-backend", "deepep")),
     "--enable-ep-moe", None, "whole experts"),
    (lambda t: t.layout.joined > 1 and t.layout.tp == 1, "--moe-dense-tp-size", 1,
     "dense layers are whole on each rank, as attention is"),
    (lambda t: t.scenario.file.parallelism.balancing == "periodic", "--enable-eplb", None,
     "experts lie by their measured load"),
    (number("redundant_experts"), "--ep-num-redundant-experts",
     number("redundant_experts"), "copies of experts per layer"),
    (lambda t: t.inputs["micro_batches"] > 1, "--enable-two-batch-overlap", None,
     "two micro-batches overlap"),
    (lambda t: t.inputs["single_batch_overlap"], "--enable-single-batch-overlap", None,
     "exchange and experts overlap"),
    (several("decode_context_parallel"), "--dcp-size",
     number("decode_context_parallel"), "ranks that deal a request's cache"),
    (dealt, [("--enable-prefill-cp", None), ("--enable-nsa-prefill-context-parallel", None)], None,
     DEALT),
    (lambda t: dealt(t) and _current(t, "--attn-cp-size", t.layout.tp), "--attn-cp-size",
     lambda t: t.layout.tp, DEALT),
    (lambda t: dealt(t) and _current(t, "--cp-strategy", "interleave"), "--cp-strategy",
     "interleave", DEALT),
    (lambda t: dealt(t) and _current(t, "--nsa-prefill-cp-mode", "round-robin-split"),
     "--nsa-prefill-cp-mode", "round-robin-split", DEALT))
STEPS: Table = (
    (lambda t: _mxfp4(t) == "bf16", "--moe-runner-backend", "flashinfer_mxfp4",
     "the experts' weights are widened, activations stay in BF16"),
    (lambda t: _mxfp4(t) == "fp8", "--moe-runner-backend", "flashinfer_mxfp4",
     ROUNDED),
    (lambda t: _mxfp4(t) == "fp8", "--flashinfer-mxfp4-moe-precision", "fp8",
     ROUNDED),
    # limits of a server; it deals those of requests and chunks to its replicas
    (always, "--context-length", lambda t: t.longest.tokens, lambda t: t.longest.rule[0]),
    (always, "--max-running-requests", lambda t: per_replica(t) * t.layout.joined,
     lambda t: (f"{per_replica(t)} of each of {t.layout.joined} replicas" if t.layout.joined > 1
                else f"{t.scenario.file.workload.concurrency.value} requests, "
                     f"replicas: {t.scenario.replicas}")),
    (always, "--chunked-prefill-size",
     lambda t: t.stated("max_num_batched_tokens") * t.layout.joined,
     lambda t: ("prompt tokens of a step, of all replicas that share experts"
                if t.layout.joined > 1 else "prompt tokens of a step")),
    (always, "--page-size",
     lambda t: PAGE if _flash(t) else t.scenario.file.workload.block_size.value,
     "tokens of a block of the cache"),
    (always, "--mem-fraction-static", lambda t: t.scenario.share.value, MEMORY),
    (lambda t: t.scenario.file.scheduling == "mixed", "--enable-mixed-chunk", None,
     "a step may mix both phases"),
    (lambda t: t.scenario.file.prefill_coordination == "delay", "--enable-prefill-delayer", None,
     "prompts wait until each rank has one"),
    (lambda t: (t.scenario.file.prefill_coordination == "delay"
                and t.scenario.file.prefill_delay_steps),
     "--prefill-delayer-max-delay-passes", lambda t: t.scenario.file.prefill_delay_steps.value,
     "steps that they wait at most"),
    (several("scheduler_recv_interval"), "--scheduler-recv-interval",
     number("scheduler_recv_interval"),
     "decode steps until it looks for requests again"),
    (several("stream_interval"), "--stream-interval",
     number("stream_interval"), "tokens that are sent together"),
    (lambda t: not t.scenario.file.graphs,
     [("--cuda-graph-backend-decode", "disabled"), ("--disable-cuda-graph", None)], None,
     "decode operator by operator"),
    (lambda t: t.scenario.file.graphs and "largest_graph" in t.scenario.mechanisms,
     ["--cuda-graph-max-bs-decode", "--cuda-graph-max-bs"],
     lambda t: int(t.scenario.mechanisms["largest_graph"].value), "largest step that is captured"))
DRAFTS: Table = (
    (_drafts_blocks, "--speculative-algorithm", "DSPARK", "blocks are drafted"),
    (_drafts_blocks, "--speculative-dspark-block-size", number("draft_tokens"),
     "drafts of a step, at most a block of the drafter"),
    (_drafts_blocks, "--speculative-num-draft-tokens", lambda t: t.stated("draft_tokens") + 1,
     "tokens drafted per step, and the step's own"),
    (lambda t: _drafts_singly(t) and not _drafter(t), "--speculative-algorithm", "EAGLE",
     "the model's own layer drafts"),
    (_drafter, "--speculative-algorithm", "EAGLE3",
     "a drafter apart from the model drafts"),
    (_drafter, "--speculative-draft-model-path", _drafter,
     "the drafter"),
    (_drafts_singly, "--speculative-num-steps",
     number("draft_tokens"), "tokens drafted per step"),
    (_drafts_singly, "--speculative-eagle-topk", 1,
     "one draft at a time"),
    (_drafts_singly, "--speculative-num-draft-tokens",
     lambda t: t.stated("draft_tokens") + 1, "and the step's own"))
CACHES: Table = (
    (_host_cache, "--enable-hierarchical-cache", None,
     lambda t: f"{t.scenario.file.workload.host_cache} of a server for caches that the cards drop"),
    (_host_cache, "--hicache-size", lambda t: max(1, int(_host_cache(t) / GIGA)), "GB of a card"),
    (_host_cache, "--hicache-write-policy", "write_through",
     "every prefix is copied when it is computed"),
    # Source: SGLang's pages on two pools and on Ascend
    (lambda t: t.separate, "--disaggregation-mode", lambda t: t.role,
     lambda t: f"the {t.role} pool of two"),
    (lambda t: t.separate and _npu(t), "--disaggregation-transfer-backend", "ascend",
     lambda t: f"the {t.role} pool of two"),
    (lambda t: t.role == "prefill", "--disaggregation-bootstrap-port",
     lambda t: BOOTSTRAP_PORT + t.part.first, "where decode asks"),
    (lambda t: (t.role == "decode" and t.layout.joined > 1
                and _current(t, "--prefill-round-robin-balance")),
     "--prefill-round-robin-balance", None,
     "prefill servers deal requests to their replicas in turn"))
TALK: Table = (
    *CODE,
    (_chat, "--reasoning-parser", lambda t: _chat(t)[0], SPOKEN),
    (_chat, "--tool-call-parser", lambda t: _chat(t)[1], SPOKEN),
    (always, "--enable-metrics", None, "without it there is nothing to watch"),
    *ANSWERING)
VARIABLES: Table = (
    (lambda t: compressed(t.scenario) and t.scenario.precision.weights.routed_expert != MXFP4,
     "SGLANG_DSV4_FP4_EXPERTS", 0,
     lambda t: f"experts in {t.scenario.precision.weights.routed_expert}, not in MXFP4"),
    (lambda t: t.separate and t.scenario.device.architecture == "ascend-a2",
     "ASCEND_MF_TRANSFER_PROTOCOL", "device_rdma", "caches go over the ports of A2 cards"),
    (lambda t: _sent(t) and not t.inputs["exchange_normal"] and _tokens(t) > BUFFER,
     "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK", lambda t: 1 << (_tokens(t) - 1).bit_length(),
     lambda t: f"a step sends {_tokens(t)} tokens of a rank, and there is room for {BUFFER}"),
    (lambda t: _rack(t) and t.layout.span > 1, "NCCL_MNNVL_ENABLE", 1,
     RACK),
    (lambda t: _rack(t) and t.layout.span > 1, "NCCL_CUMEM_ENABLE", 1,
     RACK),
    (lambda t: _rack(t) and t.separate, "MC_FORCE_MNNVL", "True",
     RACK),
    (lambda t: _rack(t) and t.separate, "SGLANG_MOONCAKE_CUSTOM_MEM_POOL", "True",
     RACK))


def flags(target: Target) -> list[Setting]:
    """The arguments of ``python -m sglang.launch_server`` on one node.

    Raises ParamsError, one sentence, for what the release cannot do.
    """
    if target.scenario.file.prefill_coordination == "balance":
        raise ParamsError(f"{target.release}: there is no flag for prefill_coordination: balance, "
                          "expected delay or eager.")
    return [*settings_of((*PARALLEL, *EXPERTS), target),
            *formats(target.scenario, target.release, target.role),
            *settings_of((*STEPS, *DRAFTS, *CACHES, *TALK), target)]


def variables(target: Target) -> list[Setting]:
    """The environment of one node."""
    return settings_of(VARIABLES, target)


def drafts(target: Target) -> list[Setting]:
    """How tokens are drafted; nothing where none are."""
    return settings_of(DRAFTS, target)


def formats(scenario: Scenario, release: Release, _: str) -> list[Setting]:
    """In which formats a server computes and stores.

    On Ascend without kernels of NVIDIA's, by which a checkpoint's own method is not overridden
    there, and as msModelSlim where the release knows it. With sparse attention FP8 is cached in
    rows with scales.

    Raises ParamsError as :func:`precision` does.
    """
    methods, npu = dict(METHODS), scenario.device.type == "npu"
    if npu:
        methods = {name: method.removesuffix(MARLIN) for name, method in METHODS.items()}
        if release.has("--quantization", SLIM):
            methods |= {"int8-channel": SLIM, "int4-channel-ascend": SLIM}
    if not npu or compressed(scenario):
        methods = quantization(scenario, methods, "fp8")
    rows = (COMPRESSED_ROWS if compressed(scenario)
            else SPARSE_ROWS if scenario.model.index_topk is not None else "fp8")
    return precision(scenario, release, methods, CACHED | {rows: CACHED["fp8"]})
