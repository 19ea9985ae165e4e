"""How long a scheduler's step takes: its requests, and the time of ``calc.physics.step``."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace

import numpy as np

from calc.physics.arrays import Number
from calc.physics.decode_floor import mean_attended, mean_context
from calc.physics.memory import cache, candidate_stages, weights
from calc.physics.shapes import count_parameters
from calc.physics.step import step
from calc.physics.work import Composition, multiplied_positions, prefill_absorbed
from calc.serving.requests import Step

ROUNDING = 16  # contexts are rounded up to blocks of this many tokens, so that steps repeat


class Clock:
    """Times of steps of one data-parallel replica, remembered.

    A step of prefill and decode together passes all its tokens through the layers at once, as
    prefill does; the core of the decoding requests comes on top.

    Args:
        inputs: every input symbol, scalars in SI units.
        attention: ``mla`` or ``gqa``.
    """

    def __init__(self, inputs: Mapping[str, Number], attention: str) -> None:
        self._q = SimpleNamespace(**{name: np.float64(value) for name, value in inputs.items()})
        self._attention = attention
        self._counted = count_parameters(attention, self._q)
        stages = candidate_stages(self._q.num_hidden_layers, self._q.pipeline_parallel)
        self._weights = weights(attention, self._q, self._counted, stages)
        self._cache = cache(attention, self._q)
        self._known: dict[tuple[float, ...], float] = {}

    def __call__(self, step: Step) -> float:
        """Time of a step from its beginning to its tokens, without the gap to the next [s].

        Args:
            made: what the step computes.
        """
        total = 0.0
        decoding = np.asarray(step.decode, dtype=float)
        if step.prefill:
            total += self._prefill(step, len(decoding))
        if len(decoding):
            total += self._decode(decoding, core_only=bool(step.prefill))
        return total

    def _prefill(self, step: Step, riding: int) -> float:
        q = self._q
        new, cached = (np.array(column, dtype=float) for column in zip(*step.prefill, strict=True))
        # the tokens of a chunk see what is cached as those of an answer see their prompt
        seen = mean_context(cached, new)
        picked, in_window = (mean_attended(bound, cached, new)
                             for bound in (q.index_topk, q.sliding_window))
        absorbed = float(prefill_absorbed(q, (cached + new).max()))  # one kernel for the step
        multiplied = multiplied_positions(q, picked, seen, absorbed)
        tokens, before = float(new.sum()) + riding, float(cached.sum())
        return self._time(Composition(
            tokens, float(len(new) + riding), float((new * multiplied).sum()),
            float((new * in_window).sum()), absorbed * float((new * seen).sum()), before, before,
            absorbed * before, (1 - absorbed) * before, absorbed, decoding=False))

    def _decode(self, contexts: np.ndarray, core_only: bool) -> float:
        rounded = np.ceil(contexts.mean() / ROUNDING) * ROUNDING
        key = (len(contexts), float(rounded), core_only)
        if key not in self._known:
            batch, q = float(len(contexts)), self._q
            tokens = batch * (1 + q.draft_tokens)
            sees = [min(rounded, bound) if bound else rounded
                    for bound in (q.index_topk, q.sliding_window)]
            multiplied = float(multiplied_positions(q, sees[0], rounded, 1))
            self._known[key] = self._time(Composition(
                tokens, tokens, tokens * multiplied, tokens * sees[1],
                tokens * rounded if q.index_topk else 0.0,
                batch * sees[0], batch * sees[1], batch * rounded, 0.0, 1.0, decoding=True),
                core_only)
        return self._known[key]

    def _time(self, composition: Composition, core_only: bool = False) -> float:
        timed = step(self._attention, self._q, self._counted, self._weights, self._cache,
                     composition)
        if core_only:
            return float(timed.core_time + timed.index_time)
        return float(timed.step_time - self._q.host_gap_per_step)
