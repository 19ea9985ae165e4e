"""Flags and environment of SGLang for a deployment, release by release."""

from __future__ import annotations

import math

from calc.launching.server import (
    BOOTSTRAP_PORT,
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


# --- flags ----------------------------------------------------------------------------------------


def flash(scenario: Scenario) -> bool:
    """Whether predictions take FlashMLA to decode: latents in FP8 on Hopper, read as they are
    (``params/kernels/sglang.yml``), where FlashAttention 3 widens them first."""
    return (scenario.model.attention == "mla" and scenario.model.index_topk is None
            and scenario.device.architecture == "sm_90" and scenario.precision.kv_cache == "fp8")


def parallel_rows(t: Target) -> Table:
    """Cards, ranks of a server, and its nodes."""
    of, npu = t.layout, t.scenario.device.type == "npu"
    newer = of.joined > 1 and t.release.has("--attn-dp-size", of.joined)  # name of the flag
    older = of.joined > 1 and not newer
    return (
        (npu, "--device", "npu", "the cards are Ascend's"),
        (npu, "--attention-backend", "ascend", "the cards are Ascend's"),
        (not npu and flash(t.scenario) and t.role != "prefill", "--attention-backend", "flashmla",
         "it reads the cache in FP8"),
        (True, "--tp-size", of.tp * of.joined, "ranks of a server, per stage"),
        (of.pp > 1, "--pp-size", of.pp, "parallelism of the scenario"),
        (newer, "--attn-dp-size", of.joined, JOINED),
        (older, "--dp-size", of.joined, JOINED),
        (older, "--enable-dp-attention", None, JOINED),
        (of.joined > 1 and t.inputs["draft_block"] > 1, "--enable-dp-lm-head", None,
         "DSpark with data-parallel attention asks for it"),
        (of.span > 1, "--nnodes", of.span, "nodes of this server"),
        (of.span > 1, "--node-rank", t.part.rank, "of this node"),
        (of.span > 1, "--dist-init-addr", Variable(HEAD, f":{MASTER_PORT + t.part.server}"),
         "its first node"),
        (of.span == 1 and t.part.first, "--base-gpu-id", t.part.first,
         "first card of this server"))


def sent(t: Target) -> bool:
    """Whether tokens are sent to their experts, else gathered."""
    return (t.layout.experts > 1 and t.layout.slices == 1 and t.layout.joined > 1
            and not t.inputs["exchange_gathered"])


def four_bits(scenario: Scenario) -> bool:
    """Whether experts multiply NVFP4 by itself, on a card that has a unit for it."""
    of = scenario.precision
    return (of.weights.routed_expert in NVFP4 and of.multiply.routed_expert == "fp4"
            and scenario.device.peak("fp4") is not None)


def deepep_mode(t: Target) -> str:
    """How DeepEP sends tokens: a server that does both phases takes either mode, by phase; the
    kernel of NVFP4 experts takes one."""
    if t.inputs["exchange_normal"]:
        return "normal"
    return "low_latency" if t.role == "decode" or four_bits(t.scenario) else "auto"


def expert_rows(t: Target) -> Table:
    """Experts: where they are, how tokens get there, and the deal of caches and prompts."""
    of, release, sends, deals = t.layout, t.release, sent(t), dealt(t)
    copies, deal = t.stated("redundant_experts"), t.stated("decode_context_parallel")

    def current(name: str, value: object) -> bool:
        """Whether the release takes a flag that is not marked as deprecated."""
        return release.judge(name, value) in TAKEN

    return (
        (of.experts > 1, "--ep-size", of.experts,
         (f"experts on {of.experts} ranks, in {of.slices} slices each" if of.slices > 1
          else f"whole experts on {of.experts} ranks")),
        (sends, [("--moe-a2a-backend", "deepep"), ("--enable-deepep-moe", None)], None,
         "tokens are sent to their experts"),
        (sends, "--deepep-mode", deepep_mode(t), "tokens are sent to their experts"),
        (sends and four_bits(t.scenario), "--moe-runner-backend", "flashinfer_cutedsl",
         "the kernel of NVFP4 experts that takes what is sent"),
        (of.experts > 1 and of.slices == 1 and not sends
         and not release.has("--moe-a2a-backend", "deepep"), "--enable-ep-moe", None,
         "whole experts"),
        (of.joined > 1 and of.tp == 1, "--moe-dense-tp-size", 1,
         "dense layers are whole on each rank, as attention is"),
        (t.scenario.file.parallelism.balancing == "periodic", "--enable-eplb", None,
         "experts lie by their measured load"),
        (copies, "--ep-num-redundant-experts", copies, "copies of experts per layer"),
        (t.inputs["micro_batches"] > 1, "--enable-two-batch-overlap", None,
         "two micro-batches overlap"),
        (t.inputs["single_batch_overlap"], "--enable-single-batch-overlap", None,
         "exchange and experts overlap"),
        (deal > 1, "--dcp-size", deal, "ranks that deal a request's cache"),
        (deals, [("--enable-prefill-cp", None), ("--enable-nsa-prefill-context-parallel", None)],
         None, DEALT),
        (deals and current("--attn-cp-size", of.tp), "--attn-cp-size", of.tp, DEALT),
        (deals and current("--cp-strategy", "interleave"), "--cp-strategy", "interleave", DEALT),
        (deals and current("--nsa-prefill-cp-mode", "round-robin-split"), "--nsa-prefill-cp-mode",
         "round-robin-split", DEALT))


def mxfp4(scenario: Scenario) -> str:
    """How MXFP4 experts on Hopper take activations: ``fp8`` rounded, ``bf16`` as they are with the
    weights widened, or by default.

    Source: ``--flashinfer-mxfp4-moe-precision`` of SGLang's server; its cookbook for DeepSeek-V4.
    """
    of = scenario.precision
    if (not scenario.model.is_moe or scenario.device.architecture != "sm_90"
            or of.weights.routed_expert != MXFP4):
        return ""
    return ("fp8" if of.multiply.routed_expert == "fp8"
            else "bf16" if compressed(scenario) else "")


def step_rows(t: Target) -> Table:
    """Limits of a server, which deals those of requests and chunks to its replicas; steps."""
    file, joined, users = t.scenario.file, t.layout.joined, per_replica(t)
    experts, longest_delay = mxfp4(t.scenario), t.scenario.file.prefill_delay_steps
    polled, interval = t.stated("scheduler_recv_interval"), t.stated("stream_interval")
    delayed = file.prefill_coordination == "delay"
    largest = t.scenario.mechanisms.get("largest_graph") if file.graphs else None
    return (
        (experts == "bf16", "--moe-runner-backend", "flashinfer_mxfp4",
         "the experts' weights are widened, activations stay in BF16"),
        (experts == "fp8", "--moe-runner-backend", "flashinfer_mxfp4", ROUNDED),
        (experts == "fp8", "--flashinfer-mxfp4-moe-precision", "fp8", ROUNDED),
        (True, "--context-length", t.longest.tokens, t.longest.rule[0]),
        (True, "--max-running-requests", users * joined,
         (f"{users} of each of {joined} replicas" if joined > 1 else
          f"{file.workload.concurrency.value} requests, replicas: {t.scenario.replicas}")),
        (True, "--chunked-prefill-size", t.stated("max_num_batched_tokens") * joined,
         ("prompt tokens of a step, of all replicas that share experts" if joined > 1
          else "prompt tokens of a step")),
        (True, "--page-size", PAGE if flash(t.scenario) else file.workload.block_size.value,
         "tokens of a block of the cache"),
        (True, "--mem-fraction-static", t.scenario.share.value, MEMORY),
        (file.scheduling == "mixed", "--enable-mixed-chunk", None, "a step may mix both phases"),
        (delayed, "--enable-prefill-delayer", None, "prompts wait until each rank has one"),
        (delayed and longest_delay, "--prefill-delayer-max-delay-passes",
         longest_delay and longest_delay.value, "steps that they wait at most"),
        (polled > 1, "--scheduler-recv-interval", polled,
         "decode steps until it looks for requests again"),
        (interval > 1, "--stream-interval", interval, "tokens that are sent together"),
        (not file.graphs, [("--cuda-graph-backend-decode", "disabled"),
                           ("--disable-cuda-graph", None)], None, "decode operator by operator"),
        (largest is not None, ["--cuda-graph-max-bs-decode", "--cuda-graph-max-bs"],
         largest and int(largest.value), "largest step that is captured"))


def draft_rows(t: Target) -> Table:
    """How tokens are drafted: in blocks, or singly by the model's own layer or a drafter."""
    count, drafter = t.stated("draft_tokens"), t.scenario.drafter
    blocks = count and t.inputs["draft_block"] > 1
    singly = count and not blocks
    model = drafter.repository if drafter is not None and singly else None
    return (
        (blocks, "--speculative-algorithm", "DSPARK", "blocks are drafted"),
        (blocks, "--speculative-dspark-block-size", count,
         "drafts of a step, at most a block of the drafter"),
        (blocks, "--speculative-num-draft-tokens", count + 1,
         "tokens drafted per step, and the step's own"),
        (singly and not model, "--speculative-algorithm", "EAGLE",
         "the model's own layer drafts"),
        (model, "--speculative-algorithm", "EAGLE3", "a drafter apart from the model drafts"),
        (model, "--speculative-draft-model-path", model, "the drafter"),
        (singly, "--speculative-num-steps", count, "tokens drafted per step"),
        (singly, "--speculative-eagle-topk", 1, "one draft at a time"),
        (singly, "--speculative-num-draft-tokens", count + 1, "and the step's own"))


def cache_rows(t: Target) -> Table:
    """Caches in host memory, in whole GB of a card, and between two pools.

    Source: SGLang's pages HiCache System Design and Optimization, on two pools, and on Ascend.
    """
    size, pool = float(t.inputs["host_cache_memory"]), f"the {t.role} pool of two"
    in_turn = (t.role == "decode" and t.layout.joined > 1
               and t.release.judge("--prefill-round-robin-balance") in TAKEN)
    return (
        (size, "--enable-hierarchical-cache", None,
         f"{t.scenario.file.workload.host_cache} of a server for caches that the cards drop"),
        (size, "--hicache-size", max(1, int(size / GIGA)), "GB of a card"),
        (size, "--hicache-write-policy", "write_through",
         "every prefix is copied when it is computed"),
        (t.separate, "--disaggregation-mode", t.role, pool),
        (t.separate and t.scenario.device.type == "npu", "--disaggregation-transfer-backend",
         "ascend", pool),
        (t.role == "prefill", "--disaggregation-bootstrap-port", BOOTSTRAP_PORT + t.part.first,
         "where decode asks"),
        (in_turn, "--prefill-round-robin-balance", None,
         "prefill servers deal requests to their replicas in turn"))


def answer_rows(t: Target) -> Table:
    """The chat format, if the release has its parsers, metrics, and where a server answers."""
    chat = chat_of(t.scenario)
    parsers = (chat.sglang if chat and in_order(t.release.version) >= in_order(CHAT_SINCE)
               else None)
    reasoning, calls = parsers or ("", "")
    return (
        *code_rows(t),
        (reasoning, "--reasoning-parser", reasoning, SPOKEN),
        (calls, "--tool-call-parser", calls, SPOKEN),
        (True, "--enable-metrics", None, "without it there is nothing to watch"),
        *address_rows(t))


def tokens_sent(t: Target) -> int:
    """Tokens of a rank that a step sends to experts [token]."""
    tokens = math.ceil(per_replica(t) * (t.inputs["draft_tokens"] + 1) / t.layout.tp)
    if t.role != "decode" and deepep_mode(t) == "low_latency":
        return max(tokens, math.ceil(t.inputs["max_num_batched_tokens"] / t.layout.tp))
    return tokens


def variables(t: Target) -> list[Setting]:
    """The environment of one node.

    Source of what NVLink between nodes of a rack takes: "NVLink Transport Configuration" of
    SGLang's page on two pools, its recipes for GB200.
    """
    device, experts = t.scenario.device, t.scenario.precision.weights.routed_expert
    rack = device.software == "cuda" and t.scenario.node.fabric_link is not None
    tokens = tokens_sent(t) if sent(t) and not t.inputs["exchange_normal"] else 0
    return settings_of(t.release, (
        (compressed(t.scenario) and experts != MXFP4, "SGLANG_DSV4_FP4_EXPERTS", 0,
         f"experts in {experts}, not in MXFP4"),
        (t.separate and device.architecture == "ascend-a2", "ASCEND_MF_TRANSFER_PROTOCOL",
         "device_rdma", "caches go over the ports of A2 cards"),
        (tokens > BUFFER, "SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK",
         1 << max(0, tokens - 1).bit_length(),
         f"a step sends {tokens} tokens of a rank, and there is room for {BUFFER}"),
        (rack and t.layout.span > 1, "NCCL_MNNVL_ENABLE", 1, RACK),
        (rack and t.layout.span > 1, "NCCL_CUMEM_ENABLE", 1, RACK),
        (rack and t.separate, "MC_FORCE_MNNVL", "True", RACK),
        (rack and t.separate, "SGLANG_MOONCAKE_CUSTOM_MEM_POOL", "True", RACK)))


def flags(target: Target) -> list[Setting]:
    """The arguments of ``python -m sglang.launch_server`` on one node.

    Raises ParamsError, one sentence, for what the release cannot do.
    """
    release = target.release
    if target.scenario.file.prefill_coordination == "balance":
        raise ParamsError(f"{release}: there is no flag for prefill_coordination: balance, "
                          "expected delay or eager.")
    return [*settings_of(release, (*parallel_rows(target), *expert_rows(target))),
            *formats(target.scenario, release, target.role),
            *settings_of(release, (*step_rows(target), *draft_rows(target), *cache_rows(target),
                                   *answer_rows(target)))]


def drafts(target: Target) -> list[Setting]:
    """How tokens are drafted; nothing where none are."""
    return settings_of(target.release, draft_rows(target))


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
