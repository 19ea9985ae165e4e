"""Everything at once: from input symbols to every quantity, vectorised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.decode import decode_floor
from calc.memory import activations, budget, cache, candidate_stages, ceil_div, weights
from calc.shapes import Number, count_parameters

CHUNK = 1 << 14  # deployments per pass of a sweep: its temporaries stay in the cache


def evaluate(inputs: Mapping[str, Number], attention: str, *,
             decode: bool = True) -> dict[str, Number]:
    """Every quantity of a deployment, by its name in ``params/symbols.yml``.

    Args:
        inputs: all input symbols in SI units; any of them may be an array, arrays broadcast.
        attention: ``mla`` or ``gqa``.
        decode: whether to compute the decode floor as well.

    Returns quantities in SI units. ``stage_*`` arrays have the stages of
    ``calc.memory.candidate_stages`` as their first axis. The inputs must be a deployment that can
    be laid out (``params.load_scenario`` checks one; a search checks its own).

    Raises ValueError for an unknown attention or a missing input.
    """
    q = SimpleNamespace(**inputs)
    ndim = max((np.ndim(value) for value in inputs.values()), default=0)
    try:
        counted = count_parameters(attention, q)
        stages = candidate_stages(q.num_hidden_layers, q.pipeline_parallel, ndim)
        held = weights(attention, q, counted, stages)
        cached = cache(attention, q)
        requests = ceil_div(q.concurrency, q.data_parallel)
        active = activations(attention, q, counted.moe_layers, requests)
        parts: list[Any] = [counted, held, cached, active,
                 budget(q, held, cached, active.activations_per_device, requests)]
        if decode:
            parts.append(decode_floor(q, counted, held, cached, requests))
    except AttributeError as error:
        raise ValueError(f"the input '{error.name}' is missing") from None
    return {field.name: getattr(part, field.name) for part in parts for field in fields(part)}


def sweep(inputs: Mapping[str, Number], attention: str, names: Iterable[str], *,
          decode: bool = True) -> dict[str, np.ndarray]:
    """Chosen quantities of many deployments, in passes whose temporaries stay small.

    Args:
        inputs: input symbols; scalars, or arrays of one length n.
        attention: ``mla`` or ``gqa``.
        names: quantities to keep, without ``stage_*``.
        decode: as for :func:`evaluate`.

    Returns one array of shape (n,) per name, equal to what :func:`evaluate` gives.
    """
    arrays = {name: np.asarray(value) for name, value in inputs.items() if np.ndim(value)}
    count = len(next(iter(arrays.values())))
    names = list(names)
    result: dict[str, np.ndarray] = {name: np.empty(count) for name in names}
    fixed: dict[str, Any] = {name: value for name, value in inputs.items() if name not in arrays}
    for start in range(0, count, CHUNK):
        part = slice(start, start + CHUNK)
        found = evaluate(fixed | {name: array[part] for name, array in arrays.items()},
                         attention, decode=decode)
        for name in names:
            result[name][part] = found[name]
    return result
