"""Compositions of a scheduler's steps, counted position by position, and their times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from calc.physics.arrays import Inputs
from calc.physics.kv_cache import cache
from calc.physics.memory import candidate_stages, weights
from calc.physics.parameters import count_parameters
from calc.physics.step import Step as Timed
from calc.physics.step import step as timed_step
from calc.physics.work import Composition
from calc.serving.requests import Step

BLOCK = 16  # tokens to which mean contexts are rounded up


def inputs_of(inputs: Mapping[str, float]) -> Any:
    """Inputs as attributes, floating-point numbers."""
    return Inputs({name: np.float64(value) for name, value in inputs.items()})


def chunks(q: Any, step: Step) -> Composition:
    """Chunks of prompts, each token at its own position, and tokens of requests that decode."""
    limit, riding = q.index_topk * q.compress_ratio, len(step.decode)
    before = float(sum(cached for _, cached in step.prefill))
    longest = max(new + cached for new, cached in step.prefill)
    unfused = q.index_topk == 0 and q.score_traffic > 0
    if q.index_topk > 0:
        absorbed = float(longest > q.dense_prefill_tokens or q.o_groups > 0)
    else:
        absorbed = float(unfused or 0 < before < q.absorbed_prefix_tokens)
    attended = in_window = indexed = missing = 0.0
    for new, cached in step.prefill:
        positions = cached + np.arange(1.0, new + 1)
        picked = np.minimum(positions, limit or np.inf)
        if q.index_topk > 0 and absorbed:
            attended += new * limit if q.whole_selection > 0 else picked.sum()
        else:
            attended += new * (new + cached) if unfused else positions.sum()
        in_window += np.minimum(positions, q.sliding_window or np.inf).sum()
        indexed += positions.sum()
        missing += max(0.0, q.prefill_tile_rows - new)
    return Composition(
        tokens=sum(new for new, _ in step.prefill) + riding,
        logit_rows=len(step.prefill) + riding, attended=attended, in_window=in_window,
        indexed=absorbed * indexed, read=before, read_in_window=before,
        read_keys=absorbed * before, expanded=(1 - absorbed) * before, absorbed=absorbed,
        decoding=False, core_missing=missing)


def answers(q: Any, contexts: tuple[int, ...]) -> Composition:
    """A token of each request and its drafts, at a mean context that is rounded up to a block."""
    count = len(contexts)
    context = -(-sum(contexts) // (count * BLOCK)) * BLOCK
    picked = min(context, q.index_topk * q.compress_ratio or np.inf)
    seen = min(context, q.sliding_window or np.inf)
    multiplied = context if not q.index_topk else (
        q.index_topk * q.compress_ratio if q.whole_selection else picked)
    tokens = count * (1 + q.draft_tokens)
    return Composition(
        tokens=tokens, logit_rows=tokens, attended=tokens * multiplied, in_window=tokens * seen,
        indexed=tokens * context if q.index_topk else 0.0, read=count * picked,
        read_in_window=count * seen, read_keys=count * context, expanded=0.0, absorbed=1.0,
        decoding=True)


def timed(inputs: Mapping[str, float], attention: str, composition: Composition) -> Timed:
    """Times of a step of some composition."""
    q = inputs_of(inputs)
    counted = count_parameters(attention, q)
    stages = candidate_stages(q.num_hidden_layers, q.pipeline_parallel)
    return timed_step(attention, q, counted, weights(attention, q, counted, stages),
                      cache(attention, q), composition)
