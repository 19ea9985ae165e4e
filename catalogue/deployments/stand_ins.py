"""What stands in for an efficiency that a card's class of mechanisms has no prior of.

A new card multiplies a dtype before anyone has measured how well. Two bounds need no measurement:
kernels of the new dtype reach at most the share of their peak that those of the nearest known dtype
reach of theirs, and they are at least as fast as those. Between the two, the middle of their
logarithms. (Dtypes that were measured on one class of cards keep to it: FP8 beside BF16 on Hopper
comes out at 0.58, measured 0.56; FP4 beside FP8 on Blackwell at 0.41, measured 0.38. The first
bound is a habit, no law: grouped matmuls of FP8 on H800 exceed it by a twentieth.)
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from catalogue import library
from catalogue.deployments.precision_support import widened
from catalogue.entries.deployments import Precision
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms, ShareByDtype, TimeByDtype
from catalogue.messages import by_language, messages
from catalogue.reading.values import Value

say = messages("catalogue/deployments/stand-ins")

BITS = {"fp4": 4, "fp8": 8, "int8": 8, "fp16": 16, "bf16": 16, "tf32": 32, "fp32": 32}
DIGITS = 3


FEW_BITS = 8  # from which on weights are read at the usual share
NARROW = {"expert_streaming_efficiency": "narrow_streaming_efficiency",
          "sliced_streaming_efficiency": "sliced_narrow_streaming_efficiency",
          "routed_expert_latency": "narrow_expert_latency",
          "sliced_expert_latency": "narrow_expert_latency"}


def widened_experts(priors: Mechanisms, precision: Precision, dtypes: Mapping[str, str]
                    ) -> dict[str, Value]:
    """What kernels reach that widen experts of few bits while they read them, where it is known.

    Args:
        priors: of the class of cards.
        precision: whose experts they are.
        dtypes: what is multiplied, by class.
    """
    bits = library.load("formats", precision.weights.routed_expert).bits.value
    if bits >= FEW_BITS or not widened(precision, dtypes)["routed_expert"]:
        return {}
    found = {key: getattr(priors, name) for key, name in NARROW.items()}
    return {key: value for key, value in found.items() if value is not None}


def efficiency(table: ShareByDtype, dtype: str, device: Device) -> Value:
    """Share of the dense peak that matmuls of a dtype reach [1]: the prior, or what stands in.

    Args:
        table: the class's priors by dtype, at least one.
        dtype: what is multiplied.
        device: the card, which states a peak of the dtype.
    """
    prior: Value | None = getattr(table, dtype, None)
    if prior is not None:
        return prior
    name = nearest_known(table, dtype)
    near: Value = getattr(table, name)
    peak, known = device.peak(dtype), device.peak(name)
    faster = peak.value / known.value if peak and known else BITS[name] / BITS[dtype]
    least, share = near.low / max(1.0, faster), near.value / math.sqrt(max(1.0, faster))
    value = float(f"{share:.{DIGITS}g}")
    return Value(value, "1", f"{value:g}", "arithmetic", "assumed", min(least, value),
                 max(near.high, value), note=by_language(
                     say("no-prior-of-at-best", dtype=dtype.upper(), name=name.upper())))


def latency(table: TimeByDtype, dtype: str) -> Value:
    """What a matmul of a dtype takes with few rows [s]: the prior, or that of the nearest dtype.

    Args:
        table: the class's priors by dtype, at least one.
        dtype: what is multiplied.
    """
    value: Value = getattr(table, dtype, None) or getattr(table, nearest_known(table, dtype))
    return value


def nearest_known(table: ShareByDtype | TimeByDtype, dtype: str) -> str:
    """The dtype with a prior that is nearest in width; of two as near, the wider."""
    known = [name for name in BITS if getattr(table, name, None) is not None]
    return min(known, key=lambda name: (abs(math.log2(BITS[name] / BITS[dtype])), -BITS[name]))


def lacking(device: Device, priors: Mechanisms) -> Iterator[tuple[str, str]]:
    """Dtypes of which a card states a matrix peak and its priors say nothing: (dtype, nearest)."""
    table = priors.gemm_efficiency
    if table is None:
        return
    for dtype in ShareByDtype.model_fields:
        if dtype in BITS and device.peak(dtype) and getattr(table, dtype, None) is None:
            yield dtype, nearest_known(table, dtype)
