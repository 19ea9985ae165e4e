"""What SGLang is started with for a deployment, release by release."""

from __future__ import annotations

import math

from calc.answer.request_lengths import Longest
from calc.launching import published
from calc.launching.published import compressed, spoken
from calc.launching.server import (
    BOOTSTRAP_PORT,
    HEAD,
    MASTER_PORT,
    TAKEN,
    Layout,
    Part,
    Release,
    Setting,
    Variable,
)
from calc.launching.vllm import ROWS, WHOLE_MEMORY, answering, precision
from calc.layouts.space import GIGA
from catalogue import ParamsError, Scenario

QUANTIZED = {"fp8-block128": "fp8", "fp8": "fp8", "fp8-channel": "compressed-tensors",
             "mxfp8": "mxfp8", "int8-channel": "w8a8_int8",
             "int4-group64": "awq_marlin", "int4-group128": "awq_marlin",
             "int4-group128-sym": "gptq_marlin", "int4-group64-sym": "gptq_marlin",
             "int4-group128-cutlass": "w4afp8", "int4-group32-sym": "compressed-tensors",
             "nvfp4": "modelopt_fp4", "nvfp4-output": "modelopt_fp4", "mxfp4": "mxfp4"}
SLIM = "modelslim"  # whatever msModelSlim wrote for Ascend; before it W8A8 alone had a name
MARLIN = "_marlin"  # of methods that take a checkpoint's weights to kernels of NVIDIA's cards
LOW_LATENCY = "low_latency"
BUFFER = 128  # tokens of a rank that DeepEP has room for unless told otherwise, in every release
WIDE_EXPERTS = "SGLANG_DSV4_FP4_EXPERTS"  # 0: the experts of DeepSeek-V4 are re-encoded in FP8
NVFP4 = ("nvfp4", "nvfp4-output")
PAGE = 64  # tokens of FlashMLA's blocks
STORE = "ASCEND_MF_STORE_URL"  # in the file of all nodes
CACHED: dict[str, str | None] = {"bf16": None, "fp16": None, "fp8": "fp8_e4m3"}


def flags(scenario: Scenario, of: Layout, part: Part, release: Release, role: str,
          most: Longest) -> list[Setting]:
    """The arguments of ``python -m sglang.launch_server`` on one node.

    Arguments as of ``vllm.flags``.

    Raises ParamsError, one sentence, for what the release cannot do.
    """
    return [*_attention(scenario, release, role), *_cut(scenario, of, part, release),
            *_experts(scenario, of, release, role),
            *formats(scenario, release, role),
            *_rounded(scenario, release),
            *_limits(scenario, of, release, most), *_steps(scenario, release),
            *drafts(scenario, release), *_host_cache(scenario, release),
            *_pool(scenario, of, part, release, role),
            *spoken(scenario, release),
            release.take("--enable-metrics", None, "without it there is nothing to watch"),
            *answering(scenario, part, release)]


def formats(scenario: Scenario, release: Release, _: str) -> list[Setting]:
    """In which formats a server computes and stores, as ``vllm.formats``."""
    return precision(scenario, release, _methods(scenario, release), _caches(scenario))


def variables(scenario: Scenario, of: Layout, part: Part, release: Release, role: str
              ) -> list[Setting]:
    """The environment of one node: how experts are stored where the engine would take them for
    others, room for a step where low-latency DeepEP has too little, how caches are sent.

    Arguments as of ``vllm.variables``.
    """
    found, stored = [], scenario.precision.weights.routed_expert
    if compressed(scenario) and stored != published.MXFP4:
        found.append(release.take(WIDE_EXPERTS, 0, f"experts in {stored}, not in MXFP4"))
    if role != "both" and scenario.device.architecture == "ascend-a2":
        found.append(Setting("ASCEND_MF_TRANSFER_PROTOCOL", "device_rdma",
                             "caches go over the ports of A2 cards"))
    return [*found, *_room(scenario, of, release, role), *_in_rack(scenario, of, release, role)]


def _in_rack(scenario: Scenario, of: Layout, release: Release, role: str) -> list[Setting]:
    """NVLink between the nodes of a rack, for sums and for caches.

    Source: "NVLink Transport Configuration" of SGLang's page on two pools, its recipes for GB200.
    """
    if scenario.device.software != "cuda" or scenario.node.fabric_link is None:
        return []
    why, found = "NVLink joins the nodes of a rack", list[Setting]()
    if of.span > 1:
        found += [Setting("NCCL_MNNVL_ENABLE", 1, why), Setting("NCCL_CUMEM_ENABLE", 1, why)]
    if role != "both":
        found += [Setting("MC_FORCE_MNNVL", "True", why),
                  release.take("SGLANG_MOONCAKE_CUSTOM_MEM_POOL", "True", why)]
    return found


def _room(scenario: Scenario, of: Layout, release: Release, role: str) -> list[Setting]:
    """Room for a step in the buffers of DeepEP."""
    numbers = scenario.inputs()
    if not _sent(scenario, of) or numbers["exchange_normal"]:
        return []
    each = math.ceil(numbers["concurrency"] / scenario.replicas)
    tokens = math.ceil(each * (numbers["draft_tokens"] + 1) / of.tp)
    if role != "decode" and _mode(scenario, role) == LOW_LATENCY:
        tokens = max(tokens, math.ceil(numbers["max_num_batched_tokens"] / of.tp))
    if tokens <= BUFFER:
        return []
    room = 1 << (tokens - 1).bit_length()
    return [release.take("SGLANG_DEEPEP_NUM_MAX_DISPATCH_TOKENS_PER_RANK", room,
                         f"a step sends {tokens} tokens of a rank, and there is room for {BUFFER}")]


def _methods(scenario: Scenario, release: Release) -> dict[str, str]:
    """``--quantization`` by format; on Ascend without kernels of NVIDIA's, by which a checkpoint's
    own method is not overridden there, and what msModelSlim wrote where the release knows it."""
    named = dict(QUANTIZED)
    if scenario.device.type == "npu":
        named = {name: method.removesuffix(MARLIN) for name, method in QUANTIZED.items()}
        if release.has("--quantization", SLIM):
            named |= {"int8-channel": SLIM, "int4-channel-ascend": SLIM}
        if not compressed(scenario):
            return named
    return published.methods(scenario, named, "fp8")


def _rounded(scenario: Scenario, release: Release) -> list[Setting]:
    """On Hopper MXFP4 experts take activations in BF16 unless a kernel is told to round them.

    Source: ``--flashinfer-mxfp4-moe-precision`` of SGLang's server; its cookbook for DeepSeek-V4.
    """
    of = scenario.precision
    if (not scenario.model.is_moe or scenario.device.architecture != "sm_90"
            or of.weights.routed_expert != published.MXFP4):
        return []
    if of.multiply.routed_expert != "fp8":
        if not compressed(scenario):
            return []
        return [release.take("--moe-runner-backend", "flashinfer_mxfp4",
                             "the experts' weights are widened, activations stay in BF16")]
    why = "activations of the experts are rounded to FP8"
    return [release.take("--moe-runner-backend", "flashinfer_mxfp4", why),
            release.take("--flashinfer-mxfp4-moe-precision", "fp8", why)]


def _caches(scenario: Scenario) -> dict[str, str | None]:
    """``--kv-cache-dtype`` by format; with sparse attention FP8 is stored in rows with scales."""
    if compressed(scenario):
        return CACHED | {published.ROWS: CACHED["fp8"]}
    if scenario.model.index_topk is None:
        return CACHED
    return CACHED | {ROWS: CACHED["fp8"]}


def _sent(scenario: Scenario, of: Layout) -> bool:
    """Whether tokens are sent to their experts, else gathered."""
    return (of.experts > 1 and of.slices == 1 and of.joined > 1
            and not scenario.inputs()["exchange_gathered"])


def _mode(scenario: Scenario, role: str) -> str:
    """How DeepEP sends tokens: a server that does both phases takes either mode, by phase; the
    kernel of NVFP4 experts takes one."""
    if scenario.inputs()["exchange_normal"]:
        return "normal"
    return LOW_LATENCY if role == "decode" or _four_bits(scenario) else "auto"


def _four_bits(scenario: Scenario) -> bool:
    """Whether experts multiply NVFP4 by itself, on a card that has a unit for it."""
    of = scenario.precision
    return (of.weights.routed_expert in NVFP4 and of.multiply.routed_expert == "fp4"
            and scenario.device.peak("fp4") is not None)


def _attention(scenario: Scenario, release: Release, role: str) -> list[Setting]:
    """Kernels of attention that are not found: those of Ascend, and FlashMLA, which reads a cache
    in FP8 as it is (``params/kernels/sglang.yml``), where FlashAttention 3 widens it first."""
    if scenario.device.type == "npu":
        why = "the cards are Ascend's"
        return [release.take("--device", "npu", why),
                release.take("--attention-backend", "ascend", why)]
    if not _flash(scenario) or role == "prefill":
        return []
    return [release.take("--attention-backend", "flashmla", "it reads the cache in FP8")]


def _flash(scenario: Scenario) -> bool:
    """Whether predictions take FlashMLA to decode: latents in FP8 on Hopper."""
    return (scenario.model.attention == "mla" and scenario.model.index_topk is None
            and scenario.device.architecture == "sm_90" and scenario.precision.kv_cache == "fp8")


def _cut(scenario: Scenario, of: Layout, part: Part, release: Release) -> list[Setting]:
    found = [release.take("--tp-size", of.tp * of.joined, "ranks of a server, per stage")]
    if of.pp > 1:
        found.append(release.take("--pp-size", of.pp, "parallelism of the scenario"))
    if of.joined > 1:
        why = "replicas of attention that share experts"
        if release.has("--attn-dp-size", of.joined):
            found.append(release.take("--attn-dp-size", of.joined, why))
        else:
            found += [release.take("--dp-size", of.joined, why),
                      release.take("--enable-dp-attention", None, why)]
        if scenario.inputs()["draft_block"] > 1:
            found.append(release.take("--enable-dp-lm-head", None,
                                      "DSpark with data-parallel attention asks for it"))
    if of.span > 1:
        found += [release.take("--nnodes", of.span, "nodes of this server"),
                  release.take("--node-rank", part.rank, "of this node"),
                  release.take("--dist-init-addr", Variable(HEAD, f":{MASTER_PORT + part.server}"),
                               "its first node")]
    elif part.first:
        found.append(release.take("--base-gpu-id", part.first, "first card of this server"))
    return found


def _experts(scenario: Scenario, of: Layout, release: Release, role: str) -> list[Setting]:
    numbers, spread = scenario.inputs(), scenario.file.parallelism
    found: list[Setting] = []
    if of.experts > 1 and of.slices > 1:
        found.append(release.take("--ep-size", of.experts,
                                  f"experts on {of.experts} ranks, in {of.slices} slices each"))
    elif of.experts > 1:
        found.append(release.take("--ep-size", of.experts,
                                  f"whole experts on {of.experts} ranks"))
        if _sent(scenario, of):
            why = "tokens are sent to their experts"
            found.append(release.first([("--moe-a2a-backend", "deepep"),
                                        ("--enable-deepep-moe", None)], why))
            found.append(release.take("--deepep-mode", _mode(scenario, role), why))
            if _four_bits(scenario):
                found.append(release.take("--moe-runner-backend", "flashinfer_cutedsl",
                                          "the kernel of NVFP4 experts that takes what is sent"))
        elif not release.has("--moe-a2a-backend", "deepep"):
            found.append(release.take("--enable-ep-moe", None, "whole experts"))
    if of.joined > 1 and of.tp == 1:
        found.append(release.take("--moe-dense-tp-size", 1,
                                  "dense layers are whole on each rank, as attention is"))
    copies = spread.redundant_experts.value if spread.redundant_experts else 0
    if spread.balancing == "periodic":
        found.append(release.take("--enable-eplb", None, "experts lie by their measured load"))
    if copies:
        found.append(release.take("--ep-num-redundant-experts", copies,
                                  "copies of experts per layer"))
    if numbers["micro_batches"] > 1:
        found.append(release.take("--enable-two-batch-overlap", None, "two micro-batches overlap"))
    if numbers["single_batch_overlap"]:
        found.append(release.take("--enable-single-batch-overlap", None,
                                  "exchange and experts overlap"))
    context = spread.decode_context_parallel
    if context and context.value > 1:
        found.append(release.take("--dcp-size", context.value,
                                  "ranks that deal a request's cache"))
    return found + (_dealt(of, release) if published.dealt(scenario) else [])


def _dealt(of: Layout, release: Release) -> list[Setting]:
    """Prompts dealt by tokens, in turn, over the tensor-parallel ranks of a replica."""
    why = published.DEALT
    found = [release.first([("--enable-prefill-cp", None),
                            ("--enable-nsa-prefill-context-parallel", None)], why)]
    for name, value in (("--attn-cp-size", of.tp), ("--cp-strategy", "interleave"),
                        ("--nsa-prefill-cp-mode", "round-robin-split")):
        if release.judge(name, value) in TAKEN:
            found.append(release.take(name, value, why))
    return found


def _limits(scenario: Scenario, of: Layout, release: Release, most: Longest) -> list[Setting]:
    """Limits of a server; it deals those of requests and chunks to its replicas."""
    numbers, workload = scenario.inputs(), scenario.file.workload
    each = math.ceil(numbers["concurrency"] / scenario.replicas)
    return [
        release.take("--context-length", most.tokens, most.why),
        release.take("--max-running-requests", each * of.joined,
                     f"{each} of each of {of.joined} replicas" if of.joined > 1
                     else f"{workload.concurrency.value} requests, "
                          f"replicas: {scenario.replicas}"),
        release.take("--chunked-prefill-size",
                     int(workload.max_num_batched_tokens.value) * of.joined,
                     "prompt tokens of a step, of all replicas that share experts"
                     if of.joined > 1 else "prompt tokens of a step"),
        release.take("--page-size", PAGE if _flash(scenario) else workload.block_size.value,
                     "tokens of a block of the cache"),
        release.take("--mem-fraction-static", scenario.share.value, WHOLE_MEMORY)]


def _steps(scenario: Scenario, release: Release) -> list[Setting]:
    """How steps are filled and run: chunks, graphs, drafts."""
    file, found = scenario.file, []
    if file.scheduling == "mixed":
        found.append(release.take("--enable-mixed-chunk", None, "a step may mix both phases"))
    if file.prefill_coordination == "balance":
        raise ParamsError(f"{release}: there is no flag for prefill_coordination: balance, "
                          "expected delay or eager.")
    if file.prefill_coordination == "delay":
        steps = file.prefill_delay_steps
        found.append(release.take("--enable-prefill-delayer", None,
                                  "prompts wait until each rank has one"))
        if steps:
            found.append(release.take("--prefill-delayer-max-delay-passes", steps.value,
                                      "steps that they wait at most"))
    for key, why in (("scheduler_recv_interval", "decode steps until it looks for requests again"),
                     ("stream_interval", "tokens that are sent together")):
        stated = getattr(file.workload, key)
        if stated is not None and stated.value > 1:
            found.append(release.take(f"--{key.replace('_', '-')}", int(stated.value), why))
    if not file.graphs:
        if release.has("--cuda-graph-backend-decode", "disabled"):
            found.append(release.take("--cuda-graph-backend-decode", "disabled",
                                      "decode operator by operator"))
        else:
            found.append(release.take("--disable-cuda-graph", None,
                                      "decode operator by operator"))
    elif "largest_graph" in scenario.mechanisms:
        largest = int(scenario.mechanisms["largest_graph"].value)
        found.append(release.first([("--cuda-graph-max-bs-decode", largest),
                                    ("--cuda-graph-max-bs", largest)],
                                   "largest step that is captured"))
    return found


def drafts(scenario: Scenario, release: Release) -> list[Setting]:
    """How tokens are drafted, as ``vllm.drafts``."""
    workload = scenario.file.workload
    if not workload.draft_tokens or not workload.draft_tokens.value:
        return []
    count = int(workload.draft_tokens.value)
    if scenario.inputs()["draft_block"] > 1:
        return [release.take("--speculative-algorithm", "DSPARK", "blocks are drafted"),
                release.take("--speculative-dspark-block-size", count,
                             "drafts of a step, at most a block of the drafter"),
                release.take("--speculative-num-draft-tokens", count + 1,
                             "tokens drafted per step, and the step's own")]
    drafter = scenario.drafter
    who = [release.take("--speculative-algorithm", "EAGLE", "the model's own layer drafts")
           ] if drafter is None or drafter.repository is None else [
        release.take("--speculative-algorithm", "EAGLE3", "a drafter apart from the model drafts"),
        release.take("--speculative-draft-model-path", drafter.repository, "the drafter")]
    return [*who,
            release.take("--speculative-num-steps", count, "tokens drafted per step"),
            release.take("--speculative-eagle-topk", 1, "one draft at a time"),
            release.take("--speculative-num-draft-tokens", count + 1, "and the step's own")]


def _host_cache(scenario: Scenario, release: Release) -> list[Setting]:
    """A cache in host memory, whose size SGLang takes for each rank, in whole GB.

    Source: SGLang's page HiCache System Design and Optimization.
    """
    each = scenario.inputs()["host_cache_memory"]
    if not each:
        return []
    why = f"{scenario.file.workload.host_cache} of a server for caches that the cards drop"
    return [release.take("--enable-hierarchical-cache", None, why),
            release.take("--hicache-size", max(1, int(each / GIGA)), "GB of a card"),
            release.take("--hicache-write-policy", "write_through",
                         "every prefix is copied when it is computed")]


def between_npus(scenario: Scenario, release: Release) -> bool:
    """Whether caches go from card to card of Ascend under SGLang."""
    return release.name == "sglang" and scenario.device.type == "npu"


def _pool(scenario: Scenario, of: Layout, part: Part, release: Release, role: str
          ) -> list[Setting]:
    """Source: SGLang's pages on two pools and on Ascend."""
    if role == "both":
        return []
    why = f"the {role} pool of two"
    found = [release.take("--disaggregation-mode", role, why)]
    if between_npus(scenario, release):
        found.append(release.take("--disaggregation-transfer-backend", "ascend", why))
    if role == "prefill":
        found.append(release.take("--disaggregation-bootstrap-port",
                                  BOOTSTRAP_PORT + part.first, "where decode asks"))
    elif of.joined > 1 and release.judge("--prefill-round-robin-balance") in TAKEN:
        found.append(release.take("--prefill-round-robin-balance", None,
                                  "prefill servers deal requests to their replicas in turn"))
    return found
