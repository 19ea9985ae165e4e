"""A step taken apart: its parts, which sum to what the user waits for, what hides, what binds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calc.physics.arrays import Number, select

CLASSES = ("attention", "core", "index", "dense_mlp", "shared_expert", "routed_expert", "router",
           "head")
DEVICE = (*CLASSES, "vector", "dequantisation", "boundary", "offload", "fetch",
          "all_reduce", "exchange", "pipeline", "context_exchange")
BANDWIDTH, CACHE, COMPUTE = "memory_bandwidth", "l2_bandwidth", "compute"
LINKS, HOST, OVERHEAD = "communication", "host", "fixed_costs"


def parts(inputs: Mapping[str, Number], quantities: Mapping[str, Any],
          phase: str = "decode") -> dict[str, Number]:
    """What a step's exposed time is made of [s]; the parts sum to it.

    Device parts as they are busy; what overlap and the path for one token take away, negative; what
    the host takes longer than the device; the gap; of prompts, their pass of the layer that drafts.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        phase: ``decode``, ``prefill`` or ``burst``.

    Source: notebooks/latency.md, section A step taken apart.
    """
    halves = inputs["micro_batches"]
    result = {name: halves * quantities[f"{phase}_{name}_time"] for name in DEVICE}
    device, host = quantities[f"{phase}_device_time"], quantities[f"{phase}_host_time"]
    return result | {
        "overlap": -quantities[f"{phase}_hidden_time"],
        "single_token_path": -quantities[f"{phase}_saved_time"],
        "host": np.maximum(host - device, 0), "host_gap": inputs["host_gap_per_step"]} | (
        {} if phase == "decode" else {"draft": drafted(
            inputs["draft_tokens"], quantities[f"{phase}_draft_pass_time"])})


def drafted(draft_tokens: Number, draft_pass: Number) -> Number:
    """What the layer that drafts adds to a step of prefill [s]: prompts pass it too, once.

    Args:
        draft_tokens: that a decode step checks for each request [token].
        draft_pass: time of a pass of the tokens of the step [s].

    Source: notebooks/latency.md, section One step.
    """
    return select(draft_tokens > 0, draft_pass, 0)


def token_parts(inputs: Mapping[str, Number], quantities: Mapping[str, Any]) -> dict[str, Number]:
    """What the time per output token is made of [s]; the parts sum to ``tpot``.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.

    Source: notebooks/latency.md, section A step taken apart.
    """
    per_step = quantities["tokens_per_step"]
    result = {name: part / per_step for name, part in parts(inputs, quantities).items()}
    return result | {"draft": quantities["draft_time"] / per_step,
                     "stall": quantities["decode_stall"]}


def bound_by(inputs: Mapping[str, Number], quantities: Mapping[str, Any],
             phase: str = "decode") -> dict[str, Number]:
    """Time of a step by the resource that binds it [s]; without what overlap hides.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        phase: ``decode``, ``prefill`` or ``burst``.

    Source: notebooks/latency.md, section A step taken apart.
    """
    pieces = parts(inputs, quantities, phase)
    sums: dict[str, Number] = {
        BANDWIDTH: pieces["vector"], CACHE: pieces["dequantisation"], COMPUTE: 0.0,
        LINKS: (pieces["all_reduce"] + pieces["exchange"] + pieces["pipeline"]
                + pieces["context_exchange"]),
        HOST: pieces["host"] + pieces["offload"] + pieces["fetch"],
        OVERHEAD: pieces["boundary"] + pieces["host_gap"]}
    for name in CLASSES:
        # operations per byte against what the device multiplies per byte that it reads
        busy = quantities[f"{phase}_{name}_flops"] * inputs["memory_bandwidth"]
        computes = busy > quantities[f"{phase}_{name}_bytes"] * inputs[f"{name}_peak"]
        sums[COMPUTE] = sums[COMPUTE] + np.where(computes, pieces[name], 0.0)
        sums[BANDWIDTH] = sums[BANDWIDTH] + np.where(computes, 0.0, pieces[name])
    # the layer that drafts is one like the others
    longer = 1 + pieces.get("draft", 0.0) / sum(sums.values())
    return {name: busy * longer for name, busy in sums.items()}


def bottleneck(inputs: Mapping[str, Number], quantities: Mapping[str, Any],
               phase: str = "decode") -> str:
    """The resource that binds the largest part of a step, by its time [s].

    Args:
        inputs: input symbols in SI units, scalars.
        quantities: those of ``calc.evaluate`` for them.
        phase: ``decode``, ``prefill`` or ``burst``.

    Source: notebooks/latency.md, section A step taken apart.
    """
    sums = bound_by(inputs, quantities, phase)
    return max(sums, key=lambda name: float(sums[name]))


def hidden_time(q: Any, own: Number, communication: Number, on_host: Number) -> Number:
    """What runs beside something longer [s]: half-batches beside each other, the host's part.

    Experts whose results are awaited a layer later, or that are fetched a layer ahead, run beside
    the device's own work.

    Args:
        q: input symbols as attributes.
        own: computation of the device [s].
        communication: between devices [s].
        on_host: of experts that the host computes or hands over [s].

    Source: notebooks/latency.md, sections Two half-batches and One step.
    """
    between = select(q.micro_batches > 1,
                     q.overlap_efficiency * np.minimum(own, communication), 0)
    return between + q.host_overlap * np.minimum(on_host, own + communication - between)
