"""What vLLM and vLLM Ascend are started with for a deployment, release by release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calc.answer.request_lengths import Longest
from calc.launching import published
from calc.launching.published import compressed, fused, spoken
from calc.launching.server import (
    ASCEND,
    HEAD,
    MASTER_PORT,
    OWN,
    RPC_PORT,
    SIDE_PORT,
    Layout,
    Part,
    Release,
    Setting,
    Variable,
)
from calc.physics.experts import ranks_in_step
from calc.physics.inputs import Inputs
from catalogue import ParamsError, Scenario
from catalogue.kernels import published_weights
from catalogue.reading.units import factor

NAMES = ("vllm", ASCEND)
QUANTIZED = {"fp8-block128": "fp8", "fp8": "fp8", "fp8-channel": "compressed-tensors",
             "mxfp8": "mxfp8",
             "int8-channel": "compressed-tensors",
             "int4-group64": "awq_marlin", "int4-group128": "awq_marlin",
             "int4-group128-sym": "gptq_marlin", "int4-group64-sym": "gptq_marlin",
             "int4-group128-cutlass": "compressed-tensors",
             "int4-group32-sym": "compressed-tensors",
             "nvfp4": "modelopt_fp4", "nvfp4-output": "modelopt_fp4", "mxfp4": "mxfp4"}
PLAIN = ("bf16", "fp16")
ASCEND_METHOD, COMPRESSED = "ascend", "deepseek_v4_fp8"
BESIDE = "multistream_overlap_shared_expert"  # as the tutorial of DeepSeek-V4 starts
BY_LOAD = "experts lie by their measured load"
IN_CONFIG = "scheduler_config.enable_balance_scheduling"  # in place of the variable
BALANCING = "no rank lets a request in while one is full"
UNLOCKED, BALANCED = "DYNAMIC_EPLB", "VLLM_ASCEND_BALANCE_SCHEDULING"
CACHED = {"bf16": None, "fp16": None, "fp8": "fp8"}
ROWS = "fp8-latent128"  # latents in rows with their scales: what kernels of sparse attention read
IN_CHECKPOINT = ("int8", "int8-latent48")  # scales come with the weights, to ranks that decode
DTYPES = {"bf16": "bfloat16", "fp16": "float16"}
WHOLE_MEMORY = "share of a card's memory that the scenario gives to the engine"


def flags(scenario: Scenario, of: Layout, part: Part, release: Release, role: str,
          most: Longest) -> list[Setting]:
    """The arguments of ``vllm serve`` on one node.

    Args:
        scenario: the deployment, or the pool.
        of: how it lies on its nodes.
        part: what this node runs.
        release: of vLLM or vLLM Ascend.
        role: ``both``, ``prefill`` or ``decode``.
        most: the longest request.

    Raises ParamsError, one sentence, for what the release cannot do.
    """
    found = [*_cut(of, release), *_joined(of, part, release), *_experts(scenario, of, release),
             *_options(scenario, release),
             *formats(scenario, release, role),
             *_limits(scenario, release, most), *_steps(scenario, release),
             *drafts(scenario, release), *_host_cache(scenario, of, release, role),
             *_pool(release, role), *spoken(scenario, release)]
    return [*found, *answering(scenario, part, release)]


def formats(scenario: Scenario, release: Release, role: str) -> list[Setting]:
    """In which formats a server computes and stores.

    Raises ParamsError as :func:`precision` does.
    """
    return precision(scenario, release, _methods(scenario, release),
                     _caches(scenario, release, role))


def answering(scenario: Scenario, part: Part, release: Release) -> list[Setting]:
    """Under which name and where a server answers."""
    return [
        release.take("--served-model-name", scenario.model.id, "the model, as requests name it"),
        release.take("--host", "0.0.0.0", "requests come from outside"),
        release.take("--port", part.port, "of this server")]


def variables(scenario: Scenario, of: Layout, part: Part, release: Release, role: str
              ) -> list[Setting]:
    """The environment of one node."""
    found: list[Setting] = []
    cards = ",".join(map(str, range(part.first, part.first + part.cards)))
    if part.first or len(of.of_node(part.node)) > 1:
        why = "cards of this server; others of the node run another"
        # of CANN, not of the plug-in, whose platform selects devices by it
        found.append(Setting("ASCEND_RT_VISIBLE_DEVICES", cards, why) if release.name == ASCEND
                     else release.take("CUDA_VISIBLE_DEVICES", cards, why))
    backend = _exchange(scenario)
    sent = of.joined > 1 and of.experts > 1 and not fused(scenario, of)
    if sent and release.name != ASCEND and not release.has("--all2all-backend", backend):
        found.append(release.take("VLLM_ALL2ALL_BACKEND", backend, _exchange_why(scenario)))
    if _two_batches(scenario) and release.name == ASCEND:
        found.append(release.take("VLLM_ASCEND_ENABLE_DBO", 1, "two micro-batches overlap"))
    if release.name == ASCEND and _dynamic(scenario) and release.has(UNLOCKED, "true"):
        found.append(release.take(UNLOCKED, "true", "the plug-in asks for it beside dynamic_eplb"))
    if _balances(scenario, release) and not release.has(IN_CONFIG, True):
        found.append(release.take(BALANCED, 1, BALANCING))
    found += [*published.summed_in_parts(scenario, release),
              *published.of_hccl(scenario, of, release)]
    caches = role != "both" and release.name == ASCEND  # whose connector goes by it
    if of.span > 1 or caches:
        found.append(release.take("VLLM_HOST_IP", Variable(OWN), "address of this node"))
    if caches and release.has("PHYSICAL_DEVICES", cards):
        found.append(release.take("PHYSICAL_DEVICES", cards, "between which caches are sent"))
    if role != "both" and release.name != ASCEND:
        found += [
            release.take("VLLM_NIXL_SIDE_CHANNEL_HOST", Variable(OWN), "where caches are fetched"),
            release.take("VLLM_NIXL_SIDE_CHANNEL_PORT", SIDE_PORT + part.first, "its port")]
    return found


def _balances(scenario: Scenario, release: Release) -> bool:
    """Whether ranks wait for a place at each of them, and the release has a switch for it."""
    return (scenario.file.prefill_coordination == "balance" and _waits(scenario)
            and (release.has(IN_CONFIG, True) or release.has(BALANCED, 1)))


def _waits(scenario: Scenario) -> bool:
    """Whether ranks may wait for each other: several of one pool that does both phases."""
    inputs = scenario.inputs()
    alone = inputs["separate_pools"] or inputs["output_tokens"] <= 1
    return not alone and bool(ranks_in_step(Inputs(inputs)) > 1)


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


def _cut(of: Layout, release: Release) -> list[Setting]:
    found = [release.take("--tensor-parallel-size", of.tp, "parallelism of the scenario"),
             release.take("--pipeline-parallel-size", of.pp, "parallelism of the scenario")]
    if ray(of, release):
        found.append(release.take("--distributed-executor-backend", "ray",
                                  "a replica spans nodes"))
    return found


def _joined(of: Layout, part: Part, release: Release) -> list[Setting]:
    """Data parallelism within a server, and how its nodes find each other."""
    found = []
    if of.joined > 1:
        found.append(release.take("--data-parallel-size", of.joined,
                                  "replicas that share experts"))
    if of.span == 1 or ray(of, release):
        return found
    if of.tp * of.pp > part.cards:
        why = "a replica spans nodes"
        found += [release.take("--distributed-executor-backend", "mp", why),
                  release.take("--nnodes", of.span, "nodes of this server"),
                  release.take("--node-rank", part.rank, "of this node"),
                  release.take("--master-addr", Variable(HEAD), "its first node"),
                  release.take("--master-port", MASTER_PORT + part.server, "its port")]
    else:
        local = part.cards // (of.tp * of.pp)
        found += [release.take("--data-parallel-size-local", local, "replicas of a node"),
                  release.take("--data-parallel-address", Variable(HEAD), "its first node"),
                  release.take("--data-parallel-rpc-port", RPC_PORT + part.server, "its port")]
        if part.rank:
            found.append(release.take("--data-parallel-start-rank", part.rank * local,
                                      "first replica of this node"))
    if part.rank:
        found.append(release.take("--headless", None, "the first node answers"))
    return found


def _methods(scenario: Scenario, release: Release) -> Mapping[str, str]:
    """``--quantization`` by format; on Ascend ``ascend`` for what msModelSlim wrote."""
    if release.name == ASCEND:
        as_published = published_weights(scenario.model) == scenario.precision.weights
        method = COMPRESSED if compressed(scenario) and as_published else ASCEND_METHOD
        return dict.fromkeys(scenario.precision.weights.model_dump().values(), method)
    return published.methods(scenario, QUANTIZED, COMPRESSED)


def _caches(scenario: Scenario, release: Release, role: str) -> dict[str, str | None]:
    """``--kv-cache-dtype`` by format, of those that the release stores for the model and pool."""
    found: dict[str, str | None] = dict(CACHED)
    if compressed(scenario):
        found[published.ROWS] = "fp8"
    elif scenario.model.index_topk is not None:
        found[ROWS] = "fp8_ds_mla"
    if release.name == ASCEND and role == "decode":
        found |= dict.fromkeys(IN_CHECKPOINT)
    if release.name == ASCEND and published.in_int8(scenario):
        found[published.ASCEND_ROWS] = None
    return found


def _experts(scenario: Scenario, of: Layout, release: Release) -> list[Setting]:
    found = []
    spread = scenario.file.parallelism
    if of.experts > 1:
        found.append(release.take("--enable-expert-parallel", None,
                                  f"whole experts on {of.experts} ranks"))
    backend = _exchange(scenario)
    if fused(scenario, of):
        found.append(release.take("--moe-backend", "deep_gemm_mega_moe",
                                  "one kernel sends tokens, multiplies and gathers"))
    elif (of.joined > 1 and of.experts > 1 and release.name != ASCEND
            and release.has("--all2all-backend", backend)):
        found.append(release.take("--all2all-backend", backend, _exchange_why(scenario)))
    if _dynamic(scenario) and release.name != ASCEND:
        found += _balanced(_copies(scenario), release)
    if _two_batches(scenario) and release.name != ASCEND:
        found.append(release.take("--enable-dbo", None, "two micro-batches overlap"))
    context = spread.decode_context_parallel
    if context and context.value > 1:
        found.append(release.take("--decode-context-parallel-size", context.value,
                                  "ranks that deal a request's cache"))
    return found


def _copies(scenario: Scenario) -> int:
    """Copies of experts per layer, beside one of each."""
    stated = scenario.file.parallelism.redundant_experts
    return int(stated.value) if stated else 0


def _dynamic(scenario: Scenario) -> bool:
    """Whether experts are placed by measured load while the server runs."""
    return scenario.file.parallelism.balancing == "periodic" or _copies(scenario) > 0


def _balanced(copies: int, release: Release) -> list[Setting]:
    """Experts placed by measured load, with copies."""
    found = [release.take("--enable-eplb", None, BY_LOAD)]
    if copies:
        if release.has("--eplb-config", {}):
            found.append(release.take("--eplb-config", {"num_redundant_experts": copies},
                                      "copies of experts per layer"))
        else:
            found.append(release.take("--num-redundant-experts", copies,
                                      "copies of experts per layer"))
    return found


def _options(scenario: Scenario, release: Release) -> list[Setting]:
    """What the plug-in for Ascend is told besides, all in one flag."""
    prompts = published.dealt_by(scenario, release)
    if release.name != ASCEND:
        return []
    found: dict[str, Any] = dict.fromkeys(prompts, True)
    whys = list(prompts.values())
    if _dynamic(scenario):
        copies = _copies(scenario)
        nested = {"eplb_config": {"dynamic_eplb": True, "num_redundant_experts": copies}}
        flat = {"dynamic_eplb": True, "init_redundancy_expert": copies}
        found |= nested if release.has("eplb_config") and not release.has(
            "dynamic_eplb", True) else flat
        whys.append(BY_LOAD)
    if published.beside(scenario) and release.has(BESIDE, True):
        found[BESIDE] = True
        whys.append("the shared expert runs beside the routed ones")
    if _balances(scenario, release) and release.has(IN_CONFIG, True):
        within, key = IN_CONFIG.split(".")
        found[within] = {key: True}
        whys.append(BALANCING)
    found |= dict.fromkeys(small := published.in_int8(scenario), True)
    whys += small.values()
    why = "; ".join(whys)
    for key in found:
        release.take(key, found[key], why)
    return [release.take("--additional-config", found, why)] if found else []


def precision(scenario: Scenario, release: Release, methods: Mapping[str, str],
              caches: Mapping[str, str | None]) -> list[Setting]:
    """In which formats a server computes, reads weights and stores its cache.

    Args:
        scenario: the deployment, or the pool.
        release: of the engine.
        methods: format of the routed experts (of the dense layers where there are none) to
            ``--quantization``, but for plain ones.
        caches: format of the cache to ``--kv-cache-dtype``; None where none is told.

    Raises ParamsError, one sentence, for a format that is in neither.
    """
    of = scenario.precision
    stored = of.weights.routed_expert if scenario.model.is_moe else of.weights.dense_mlp
    found = []
    if of.activation in DTYPES:
        found.append(release.take("--dtype", DTYPES[of.activation],
                                  f"activations in {of.activation}"))
    if stored not in PLAIN:
        if stored not in methods:
            raise ParamsError(f"{release}: no --quantization reads weights in '{stored}', expected "
                              f"one of {', '.join([*PLAIN, *methods])}.")
        found.append(release.take("--quantization", methods[stored],
                                  f"experts in {stored}; another checkpoint is refused"))
    if of.kv_cache not in caches:
        raise ParamsError(f"{release}: no --kv-cache-dtype stores '{of.kv_cache}', expected "
                          f"one of {', '.join(caches)}.")
    if (of.kv_index == published.KEYS and scenario.model.index_topk is not None
            and release.name != ASCEND):
        raise ParamsError(f"{release}: no flag caches index keys in '{of.kv_index}', expected a "
                          f"precision with other ones, or {ASCEND}.")
    if cache := caches[of.kv_cache]:
        found.append(release.take("--kv-cache-dtype", cache, "the scenario's cache"))
    return found


def _limits(scenario: Scenario, release: Release, most: Longest) -> list[Setting]:
    numbers, workload = scenario.inputs(), scenario.file.workload
    each = math.ceil(numbers["concurrency"] / scenario.replicas)
    return [
        release.take("--max-model-len", most.tokens, most.why),
        release.take("--max-num-seqs", each,
                     f"{workload.concurrency.value} requests, replicas: {scenario.replicas}"),
        release.take("--max-num-batched-tokens", workload.max_num_batched_tokens.value,
                     "tokens of a step"),
        release.take("--block-size", workload.block_size.value, "tokens of a block of the cache"),
        release.take("--gpu-memory-utilization", scenario.share.value,
                     WHOLE_MEMORY)]


def _host_cache(scenario: Scenario, of: Layout, release: Release, role: str) -> list[Setting]:
    """A cache in host memory, of which each server's replicas have parts of their own.

    Source: vLLM's KV Offloading Usage Guide; ``_post_init_kv_transfer_config`` of vLLM 0.33.0,
    which adds the size to what is configured.

    Raises ParamsError, one sentence, for vLLM Ascend, whose connector takes other settings, and for
    a pool of two, whose caches another connector moves.
    """
    each = scenario.inputs()["host_cache_memory"] * of.tp * of.pp
    if not each:
        return []
    if release.name == ASCEND or role != "both":
        raise ParamsError(f"{release}: no flag is known that keeps caches in host memory "
                          f"{'on Ascend' if release.name == ASCEND else 'beside another connector'}"
                          ", expected a deployment without workload.host_cache.")
    why = f"{scenario.file.workload.host_cache} of a server for caches that the cards drop"
    return [release.take("--kv-offloading-backend", "native", why),
            release.take("--kv-offloading-size", round(each / factor("GiB"), 3),
                         "GiB of a replica"),
            release.take("--kv-transfer-config", {"kv_connector_extra_config": {
                "offload_prompt_only": False}}, "answers are prompts of the next turn")]


def _steps(scenario: Scenario, release: Release) -> list[Setting]:
    """How steps are filled and run: chunks, graphs, drafts, prefixes."""
    file, told = scenario.file, published.beside(scenario) and release.name == ASCEND
    if file.scheduling != "mixed":
        raise ParamsError(f"{release}: decodes and chunks of prompts share a step, there is no "
                          "flag for scheduling: prefill-first.")
    if (_waits(scenario) and file.prefill_coordination != "eager"
            and not _balances(scenario, release)):
        raise ParamsError(f"{release}: there is no flag for prefill_coordination: "
                          f"{file.prefill_coordination}, expected eager.")
    found = [release.take("--enable-chunked-prefill", None, "a step may mix both phases"),
             release.take("--enable-prefix-caching", None, "cached prefixes shorten prefill")]
    if (looks := file.workload.scheduler_recv_interval) is not None and looks.value > 1:
        raise ParamsError(f"{release}: it looks for requests before every step, there is no flag "
                          f"for scheduler_recv_interval: {looks.value}.")
    if (pieces := file.workload.stream_interval) is not None and pieces.value > 1:
        found.append(release.take("--stream-interval", int(pieces.value),
                                  "tokens that are sent together"))
    if not file.graphs:
        found.append(release.take("--enforce-eager", None, "decode operator by operator"))
    elif told:
        found.append(release.take("--compilation-config", {"cudagraph_mode": "FULL_DECODE_ONLY"},
                                  "its steps of decode are captured, those of prompts are not"))
    if (file.graphs and "largest_graph" in scenario.mechanisms
            and release.has("--max-cudagraph-capture-size", 1)):
        found.append(release.take("--max-cudagraph-capture-size",
                                  int(scenario.mechanisms["largest_graph"].value),
                                  "largest step that is captured"))
    return found


def drafts(scenario: Scenario, release: Release) -> list[Setting]:
    """How tokens are drafted; nothing where none are.

    Raises ParamsError, one sentence, for a model without a layer that drafts.
    """
    count = scenario.file.workload.draft_tokens
    if not count or not count.value:
        return []
    if (drafter := scenario.drafter) is not None and drafter.repository is not None:
        return [release.take("--speculative-config", {
            "method": scenario.file.workload.draft_method, "model": drafter.repository,
            "num_speculative_tokens": int(count.value)}, "tokens drafted per step")]
    if drafter is None and not scenario.model.drafts:
        raise ParamsError(f"'{scenario.model.id}' has no layer that drafts, name a draft model "
                          "with --flag=--speculative-config=JSON and set draft_tokens to 0.")
    config = {"method": "dspark" if scenario.inputs()["draft_block"] > 1 else
              "deepseek_mtp" if scenario.model.attention == "mla" else "mtp",
              "num_speculative_tokens": int(count.value)}
    if release.name == ASCEND and published.beside(scenario):
        config["enforce_eager"] = True  # of the drafts alone, as the tutorial starts
    return [release.take("--speculative-config", config, "tokens drafted per step")]


def _pool(release: Release, role: str) -> list[Setting]:
    """How a cache goes from a prefill pool to a decode pool; on Ascend see ``mooncake``."""
    if role == "both" or release.name == ASCEND:
        return []
    config = {"kv_connector": "NixlConnector", "kv_role": "kv_both"}
    return [release.take("--kv-transfer-config", config, f"the {role} pool of two")]


def mooncake(release: Release, part: Part, role: str, pools: Mapping[str, Layout]) -> Setting:
    """How a cache goes from a prefill pool to a decode pool of vLLM Ascend.

    A server listens on a port for each of its cards, and is told the sizes of both pools.

    Args:
        release: of vLLM Ascend.
        part: what this node runs.
        role: ``prefill`` or ``decode``.
        pools: how both lie on their nodes.

    Raises ParamsError, one sentence, for pools between which the connector sends nothing.
    """
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
    return release.take("--kv-transfer-config", {
        "kv_connector": "MooncakeConnectorV1",
        "kv_role": "kv_producer" if role == "prefill" else "kv_consumer",
        "kv_port": SIDE_PORT + part.first, "engine_id": f"{role}-{part.server}",
        "kv_connector_extra_config": {name: {"dp_size": of.joined, "tp_size": of.tp}
                                      for name, of in pools.items()}}, f"the {role} pool of two")


def _exchange(scenario: Scenario) -> str:
    numbers = scenario.inputs()
    if numbers["exchange_gathered"]:
        return "allgather_reducescatter"
    return "deepep_high_throughput" if numbers["exchange_normal"] else "deepep_low_latency"


def _exchange_why(scenario: Scenario) -> str:
    return ("tokens are gathered" if scenario.inputs()["exchange_gathered"]
            else "tokens are sent to their experts")


def _two_batches(scenario: Scenario) -> bool:
    return bool(scenario.inputs()["micro_batches"] > 1)
