"""Precisions on a device: products that it lacks, precisions that it runs, efficiencies of dtypes.

A new card multiplies a dtype before anyone has measured how well. Two bounds need no measurement:
kernels of the new dtype reach at most the share of their peak that those of the nearest known dtype
reach of theirs, and they are at least as fast as those. Between the two, the middle of their
logarithms. (Dtypes that were measured on one class of cards keep to it: FP8 beside BF16 on Hopper
comes out at 0.58, measured 0.56; FP4 beside FP8 on Blackwell at 0.41, measured 0.38. The first
bound is a habit, no law: grouped matmuls of FP8 on H800 exceed it by a twentieth.)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping

from catalogue import library
from catalogue.entries.deployments import Offload, Precision
from catalogue.entries.hardware import Device
from catalogue.entries.mechanisms import Mechanisms, ShareByDtype, TimeByDtype
from catalogue.entries.models import Model
from catalogue.kernels import expert_bytes, kernel_of, known_to_engines, multiplied
from catalogue.messages import by_language, messages
from catalogue.reading.values import Value

say = messages("catalogue/deployments/precisions")

HOST_DTYPES = ("int8", "bf16", "fp16", "fp32")  # a processor computes in its fastest
VECTOR = "fp32"  # engines leave FP32 products (a router) to the vector unit, which every device has


def on_card(precision: Precision, offload: Offload | None) -> list[str] | None:
    """Classes of tensors that a card multiplies where a host may compute experts; None for all.

    Args:
        precision: an entry of ``params/precisions/``.
        offload: what a host holds, if anything.
    """
    if offload is None or offload.fetched or offload.routed_experts.value < 1:
        return None
    return [name for name in precision.multiply.dtypes if name != "routed_expert"]


def on_vectors(stored: str) -> bool:
    """Whether kernels of a processor multiply a format on its vector unit, whatever else it has.

    Args:
        stored: name of the format.
    """
    return bool(library.load("formats", stored).host_unit == "vector")


def host_peaks(host: Device, stored: str) -> list[float]:
    """What a processor computes experts of a format with, as far as it is stated [FLOP/s].

    Args:
        host: the processor.
        stored: name of the format.
    """
    vectors = host.vector_peak if on_vectors(stored) else None
    peaks = [getattr(vectors, dtype, None) if vectors else host.peak(dtype)
             for dtype in HOST_DTYPES]
    return [peak.value for peak in peaks if peak]


def widened(precision: Precision, dtypes: Mapping[str, str]) -> dict[str, bool]:
    """Class of tensors -> whether its weights are widened before they are multiplied.

    That is so where weights of less than 16 bits meet a product in 16 bits or more. Narrower
    products (INT8 of INT4 weights, FP4) take the stored integers or floats as they are.

    Args:
        precision: an entry of ``params/precisions/``.
        dtypes: what is multiplied, by class; a card may lack what the precision asks for.
    """
    wide = ("bf16", "fp16", "tf32", "fp32")
    weights = {name: stored for name, stored in precision.weights if stored is not None}
    narrow = {stored: library.load("formats", stored).bits.value < 16
              for stored in dict.fromkeys(weights.values())}
    return {name: dtype in wide and narrow[weights[name]]
            for name, dtype in dtypes.items() if name in weights}


def missing_dtypes(precision: Precision, device: Device,
                   classes: Collection[str] | None = None) -> list[tuple[str, str]]:
    """What a precision multiplies that the device's matrix unit lacks: (class, dtype) pairs.

    A dtype is lacking where the device states no dense peak for it: FP8 on an Ascend 910B is an
    answer, not an error. A host processor without a matrix unit multiplies on its vector unit. A
    kernel of some engine must exist besides: ``catalogue.kernels.kernel_of``.

    Args:
        precision: an entry of ``params/precisions/``.
        device: where the classes are multiplied.
        classes: classes of tensors that are asked for, names of ``precision.multiply``; all of
            them where it is None. Routed experts that a host computes are left out this way.
    """
    dtypes = precision.multiply.dtypes
    return [(name, dtype) for name, dtype in dtypes.items()
            if (classes is None or name in classes)
            and dtype != VECTOR and device.peak(dtype) is None]


def nearest(device: Device, precision: Precision | None = None,
            classes: Collection[str] | None = None, *, engine: str | None = None,
            model: Model | None = None, any_engine: bool = False) -> list[Precision]:
    """The precisions of the catalogue that a release runs on a device.

    On a device that no engine is known for, those that it multiplies. Of two that are stored and
    there multiplied alike, the one that asks for just that.

    Ordered by the bytes of the routed experts; where a precision is given, by how far those bytes
    are from its own, so that the first one replaces it best. That precision itself is among them
    if it runs there. A host processor is asked for its units alone.

    Args:
        device: where the classes are multiplied.
        precision: what is wanted, if anything.
        classes: as :func:`missing_dtypes` has it.
        engine: whose kernels are asked for, with its release if one is meant; absent, any engine's.
        model: whose classes of tensors and whose attention are asked for; all without one.
        any_engine: also what no release is known to run.
    """
    wanted = 0.0 if precision is None else expert_bytes(precision)
    tabled = not any_engine and device.type != "host" and known_to_engines(device)
    possible = [library.load("precisions", name) for name in library.names("precisions")]
    candidates = [entry for entry in possible if (
        kernel_of(entry, device, engine, model=model, classes=classes) if tabled
        else not missing_dtypes(entry, device, classes))]
    alike: dict[tuple[object, ...], Precision] = {}
    for entry in candidates:
        dtypes = entry.multiply.dtypes
        has = (multiplied(entry, device, engine, model, classes) if tabled else
               {name: device.multiplied(dtype) for name, dtype in dtypes.items()})
        stored = (tuple(entry.weights), entry.kv_cache, entry.kv_rope, entry.kv_index,
                  tuple(has[name] for name in dtypes))
        if stored not in alike or all(has[name] == dtype for name, dtype in dtypes.items()):
            alike[stored] = entry
    order = [(abs(expert_bytes(entry) - wanted), expert_bytes(entry), entry.id, entry)
             for entry in alike.values()]
    return [entry for *_, entry in sorted(order, key=lambda ranked: ranked[:3])]


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
    values = {key: getattr(priors, name) for key, name in NARROW.items()}
    return {key: value for key, value in values.items() if value is not None}


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
    peak, reference = device.peak(dtype), device.peak(name)
    faster = peak.value / reference.value if peak and reference else BITS[name] / BITS[dtype]
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
    names = [name for name in BITS if getattr(table, name, None) is not None]
    return min(names, key=lambda name: (abs(math.log2(BITS[name] / BITS[dtype])), -BITS[name]))


def lacking(device: Device, priors: Mechanisms) -> Iterator[tuple[str, str]]:
    """Dtypes of which a card states a matrix peak and its priors say nothing: (dtype, nearest)."""
    table = priors.gemm_efficiency
    if table is None:
        return
    for dtype in ShareByDtype.model_fields:
        if dtype in BITS and device.peak(dtype) and getattr(table, dtype, None) is None:
            yield dtype, nearest_known(table, dtype)
