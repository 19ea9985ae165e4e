"""What steps of a deployment take, and what users see of them, without memory and floors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import fields
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from calc.closed_form.benches import Benched, benched
from calc.closed_form.evaluate import PHASES, evaluate
from calc.closed_form.planning import pool_ratio, transfer_time
from calc.closed_form.steady import Steady, steady, steady_pace
from calc.closed_form.waves import (
    Prompts,
    Serving,
    chunk,
    decode_step,
    loads,
    prefill_throughput,
    prompts,
    serving,
    token_pace,
)
from calc.physics.arrays import Number, ceil_div
from calc.physics.breakdown import BUSY
from calc.physics.cache import Cache, cache
from calc.physics.decode_floor import Decode, biased, context_deviation, mean_attended, mean_context
from calc.physics.experts import ranks_in_step
from calc.physics.layers.dealt import context_weights
from calc.physics.memory import Weights, layer_weights
from calc.physics.positions import most_picked, multiplied_positions
from calc.physics.shapes import count_parameters
from calc.physics.step import Step, step
from calc.physics.work import Composition

NOBODY = 0.0  # waits for a place in the cache
FAST = "decode_tpot"  # TPOT without the stalls for other requests' prompts: decode steps alone
PACE = "steady_pace"  # the same with no more requests than there are, on every rank
STEP_NAMES = tuple(entry.name for entry in fields(Step))
DECODE_NAMES = frozenset({FAST, PACE, "draft_time", "tokens_per_step", "decode_tokens", *(
    f"decode_{name}" for name in STEP_NAMES)})
# of a step by itself what a wave and a steady state are made of
_OF_CHUNK = ("step_time", "routed_expert_time", "routed_row_bytes", "rank_imbalance",
             "exchange_time", "device_time")
_HIDING = ("hidden_time", *(f"{name}_time" for name in BUSY))
_OF_ANY = ("distinct_experts", "host_time", "core_time", "index_time")
WANTED = {phase: tuple(dict.fromkeys(names)) for phase, names in {
    "decode": ("step_time", "draft_pass_time", "context_exchange_time", "device_time",
               *_OF_ANY, *_HIDING),
    "prefill": (*_OF_CHUNK, *_OF_ANY, *_HIDING),
    "burst": (*_OF_CHUNK, "host_time", *_HIDING)}.items()}
_OF_STEADY = frozenset(entry.name for entry in fields(Steady))
BENCH_NAMES = frozenset(entry.name for entry in fields(Benched))
STEADY_NAMES = _OF_STEADY | BENCH_NAMES
_OF_PHASE = {phase: frozenset(f"{phase}_{name}" for name in STEP_NAMES) for phase in PHASES}
_OF_WAVE = frozenset(entry.name for entry in fields(Serving))
SERVED_NAMES = _OF_WAVE.union({"prefill_throughput"}, DECODE_NAMES, *_OF_PHASE.values())


def waits_for_places(inputs: Mapping[str, Number], attention: str) -> bool:
    """Whether requests of any of some deployments wait for a place in the cache.

    Args:
        inputs: input symbols by name.
        attention: ``mla``, ``gqa`` or ``csa``.

    Raises ValueError as :func:`calc.evaluate`.
    """
    served = evaluate(inputs, attention, decode=False)["served_requests"]
    return bool(np.any(np.less(served, inputs["concurrency"])))


def needs_prefill(names: Collection[str]) -> bool:
    """Whether some quantities need the steps of prefill.

    Args:
        names: of quantities.

    Raises ValueError for an unknown name.
    """
    if unknown := [name for name in names if name not in SERVED_NAMES | STEADY_NAMES]:
        raise ValueError(f"there is no quantity '{unknown[0]}' of a step")
    return not DECODE_NAMES.issuperset(names)


def latencies(attention: str, q: Any, names: Collection[str],
              known: Mapping[str, Any] | None = None) -> dict[str, Number]:
    """Quantities of the decode step, and where asked for of prefill, wave and steady state.

    Each equals what :func:`calc.evaluate` gives, which computes memory and floors besides, where
    all requests in flight have a place in the cache (:func:`waits_for_places`).

    Args:
        attention: ``mla`` or ``gqa``.
        q: input symbols as attributes.
        names: quantities that are wanted; there are others with them.
        known: steps that were computed before, by phase: ``WANTED`` as attributes [s].

    Raises ValueError for a name that no step gives.

    Source: formulas of notebooks/, compute.md to serving.md, as of :func:`calc.evaluate`.
    """
    known, wanted = known or {}, frozenset(names)
    needs_prefill(names)
    of_all = not wanted <= DECODE_NAMES.union(*_OF_PHASE.values())
    n = count_parameters(attention, q)
    t = q.tensor_parallel
    stored = cast("Weights", SimpleNamespace(
        attention_weights_per_layer=layer_weights(q, n),
        context_weights_per_layer=context_weights(q, n),
        head_matrix_weights=q.head_weight_bytes * ceil_div(q.vocab_size, t) * q.hidden_size))
    cached = cache(attention, q)
    requests = ceil_div(q.concurrency, q.data_parallel)
    quantities: dict[str, Number] = {}
    decode: Any = known.get("decode")
    if of_all or not DECODE_NAMES.isdisjoint(wanted):
        if decode is None:
            composition = _decoding(q, requests)
            decode = step(attention, q, n, stored, cached, composition)
            quantities["decode_tokens"] = composition.tokens
        quantities |= {f"decode_{name}": value for name, value in vars(decode).items()}
        draft, accepted, pace = token_pace(q, decode)
        quantities |= {FAST: pace, "draft_time": draft, "tokens_per_step": accepted}
        if PACE in wanted:
            quantities[PACE] = steady_pace(q, requests, decode)
    if wanted <= DECODE_NAMES:
        return quantities
    cut = prompts(q, requests)
    steps: dict[str, Any] = {
        phase: known.get(phase) or step(attention, q, n, stored, cached, chunk(q, cut, tokens))
        for phase, tokens in (("prefill", cut.prefill_tokens), ("burst", cut.burst_tokens))
        if of_all or not _OF_PHASE[phase].isdisjoint(wanted)}
    for phase, done in steps.items():
        quantities |= {f"{phase}_{name}": value for name, value in vars(done).items()}
    return quantities | (_served(q, wanted, cut, requests, cached, decode, **steps)
                         if of_all else {})


def _served(q: Any, names: frozenset[str], cut: Prompts, requests: Number, cached: Cache,
            decode: Step, prefill: Step, burst: Step) -> dict[str, Number]:
    """What users see, of the names that are wanted: of a wave, and in a steady state."""
    quantities = {"prefill_throughput": prefill_throughput(q, cut, burst)}
    _, transfer = transfer_time(q, cached)
    if names.isdisjoint(_OF_WAVE | STEADY_NAMES):
        return quantities
    loaded = loads(q, cached, prefill)
    # of ranks that step together a burst takes the work of a prompt on one of them, too
    if not names.isdisjoint(STEADY_NAMES) or np.any(ranks_in_step(q) > 1):
        ratio = pool_ratio(q, ceil_div(requests, q.pipeline_parallel), cut, decode, prefill)
        lasting = steady(q, cut, requests, NOBODY, decode, prefill, burst, transfer, ratio, loaded)
        quantities |= vars(lasting)
        work, pace = lasting.prompt_work, lasting.steady_pace
    else:
        work, pace = NOBODY, steady_pace(q, requests, decode)
    bench = not BENCH_NAMES.isdisjoint(names)
    if bench or not _OF_WAVE.isdisjoint(names):
        wave = serving(q, cut, requests, NOBODY, work, pace, decode, prefill, burst, transfer,
                       loaded.admission_time)
        quantities |= vars(wave)
    return quantities | (vars(benched(
        q, cut, NOBODY, wave, lasting, decode, burst)) if bench else {})


def _decoding(q: Any, requests: Number) -> Composition:
    """What a decode step is made of, with so many requests on a data-parallel rank."""
    lengths = q.input_tokens, biased(q.output_tokens, q.answer_variation)
    attended = mean_attended(most_picked(q), *lengths)
    return decode_step(q, cast("Decode", SimpleNamespace(
        decode_batch=ceil_div(requests, q.pipeline_parallel),
        decode_context_tokens=mean_context(*lengths), context_deviation=context_deviation(q),
        decode_attended_tokens=attended,
        decode_multiplied_tokens=multiplied_positions(q, attended, mean_context(*lengths), 1),
        decode_window_tokens=mean_attended(q.sliding_window, *lengths))))
