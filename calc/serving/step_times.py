"""How long a scheduler's step takes: its requests, and the time of ``calc.physics.step``."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from calc.physics import experts
from calc.physics.arrays import Inputs, Number, ceil_div, is_absent, maximum, select
from calc.physics.breakdown import Busy, busy_in, cores_in, drafted, hidden_time, hides
from calc.physics.cache import cache
from calc.physics.decode_floor import mean_attended, mean_context, tokens_per_step
from calc.physics.memory import candidate_stages, weights
from calc.physics.pages import Pages, pages
from calc.physics.positions import (
    few_cached,
    most_picked,
    multiplied_positions,
    prefill_absorbed,
    prefill_positions,
)
from calc.physics.shapes import count_parameters
from calc.physics.step import Step as Timed
from calc.physics.step import step
from calc.physics.work import Composition
from calc.serving.requests import Contexts, Step

ROUNDING = 16  # contexts are rounded up to as many tokens, so that steps repeat; and longer ones to
EXACT_BITS = 8  # a power of two of these, less than their 256th part [1]
COUNTS, CONTEXTS = 32, 8  # whose times are computed at once: it takes little longer than one
SHARED = 32  # numbers of tokens of all ranks, and of the busiest, likewise
BESIDE = 8  # numbers of requests beside a prompt for which all expected ones are computed at once
NOTHING = Composition(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, decoding=False)
IDLE = Busy()


def ranks_in_step(inputs: Mapping[str, Number]) -> int:
    """Data-parallel ranks that share experts and so take every step together [1].

    >>> ranks_in_step({"expert_parallel": 32, "expert_tensor_parallel": 0, "tensor_parallel": 4})
    8

    Args:
        inputs: expert and tensor parallelism, and the slices of an expert [1].
    """
    return int(experts.ranks_in_step(SimpleNamespace(**inputs)))


@dataclass(frozen=True, slots=True)
class _Part:
    """What a part of a step adds to a rank's time [s].

    Attributes:
        busy: card, links and host.
        launch: of all operators by the host.
        tokens: of the rank, in the step [token].
        beside_layer: of the layer that drafts, what it takes beyond a mean layer of the step; all
            of a drafter of its own.
    """

    busy: Busy
    launch: Number = 0.0
    tokens: Number = 0.0
    beside_layer: Number = 0.0


def _numbers(part: _Part) -> tuple[Number, ...]:
    """The numbers of a part, one after the other."""
    return (*part.busy.parts(), part.launch, part.tokens, part.beside_layer)


def _part_of(numbers: Sequence[float] | np.ndarray) -> _Part:
    """A part from its numbers, as :func:`_numbers` gives them."""
    return _Part(Busy(*numbers[:-3]), *numbers[-3:])


def _beside(parts: Sequence[Sequence[float]]) -> _Part:
    """Parts of several ranks, the numbers of each, as one of arrays of shape (ranks,)."""
    return _part_of(np.array(parts).T)


class Clock:
    """Times of steps of one data-parallel replica, or of ranks that share experts, remembered.

    A step of prefill and decode together passes all its tokens through the layers at once, as
    prefill does; the card computes the core of the decoding requests besides, while it would wait
    for the host's launches or after.

    Args:
        inputs: every input symbol, scalars in SI units.
        attention: ``mla`` or ``gqa``.
        drafting: whether a step of answers drafts the next ones, where they are drafted.
        expected: prompts that many steps will have, whole and alone: new tokens of each, and those
            cached before it [token]. Their times are computed together.
        alike: whether chunks of prompts are rounded as contexts are, so that those of many
            different prompts repeat.

    Attributes:
        tokens_per_step: that a step yields for a request that decodes [1].
    """

    def __init__(self, inputs: Mapping[str, float], attention: str, drafting: bool = False,
                 expected: Iterable[tuple[int, int]] = (), alike: bool = False) -> None:
        self.inputs, self._alike = inputs, alike
        self._passes = (ceil_div(inputs["draft_tokens"], inputs["draft_block"])
                        if drafting else 0.0)
        self._q = Inputs({name: np.float64(value) for name, value in inputs.items()})
        self.tokens_per_step = float(tokens_per_step(
            self._q.mtp_acceptance, self._q.acceptance_decay, self._q.draft_tokens,
            self._q.accepted_length))
        self._attention = attention
        self._counted = count_parameters(attention, self._q)
        stages = candidate_stages(self._q.num_hidden_layers, self._q.pipeline_parallel)
        self._weights = weights(attention, self._q, self._counted, stages)
        self._cache = cache(attention, self._q)
        self._known: dict[tuple[int, int], list[list[float]]] = {}
        self._rows = {prompt: row for row, prompt in enumerate(dict.fromkeys(expected))}
        self._expected: dict[tuple[int, bool], np.ndarray] = {}
        self._chunked: dict[tuple[int, int, int, bool], np.ndarray] = {}
        self._prompts: dict[tuple[object, ...], _Part] = {}
        self._cores: dict[tuple[int, int], list[list[list[float]]]] = {}
        self._answering: dict[tuple[int, int], list[list[list[float]]]] = {}
        self._groups: dict[tuple[int, int, bool], Sequence[np.ndarray]] = {}

    @property
    def pages(self) -> Pages:
        """Blocks of the cache that a request takes, and their tokens."""
        return pages(self._attention, self._q, self._cache)

    def __call__(self, step: Step) -> float:
        """Time of a step from its beginning to its tokens, without the gap to the next [s].

        Where ranks share experts, all of them are taken to have a step like this one.

        Args:
            step: what it computes.
        """
        if not step.prefill:
            return self._decode(*self._rounded(step)) if step.decode else 0.0
        return float(self._joined(self._prompt(step), self._riding(step), decoding=False))

    def coming(self, steps: Sequence[Step], count: int) -> Sequence[float]:
        """Times of so many steps after one of answers alone, which go on as it does [s].

        Args:
            steps: that one: of one replica, or what each rank computes that steps together.
            count: of the steps [1].
        """
        going = [step.decode for step in steps if step.decode]
        each = np.array([[len(contexts)] for contexts in going])
        total = np.array([[_total(contexts)] for contexts in going])
        further = each * self.tokens_per_step * np.arange(1, count + 1)
        blocks = _rung(np.ceil((total + further) / (each * ROUNDING)))
        if len(steps) == 1:
            alike = zip(*np.unique(blocks[0], return_counts=True), strict=True)
            return [time for block, times in alike
                    for time in [self._decode(len(going[0]), int(block))] * int(times)]
        return self._coming_of_ranks(going, blocks)

    def _coming_of_ranks(self, going: Sequence[Sequence[int]], blocks: np.ndarray
                         ) -> Sequence[float]:
        """:meth:`coming` where ranks step together, by their contexts, shape (ranks, steps)."""
        first, last = blocks[:, 0].tolist(), blocks[:, -1].tolist()
        rows: list[Sequence[float]] = []
        for contexts, begin, end, row in zip(going, first, last, blocks, strict=True):
            row += len(rows) - begin
            rows += [self._answer(len(contexts), block) for block in range(begin, end + 1)]
        own = _part_of(np.moveaxis(np.array(rows)[blocks], -1, 0))
        tokens = own.tokens[:, 0]
        shared = self._shared(float(tokens.sum()), float(tokens.max()), decoding=True)
        taken: list[float] = self._joined(own, shared, decoding=True).max(axis=0).tolist()
        return taken

    def together(self, steps: Sequence[Step]) -> float:
        """Time of a step that ranks with shared experts take together, without the gap [s].

        As long as the slowest rank: its own attention, dense layers and sums; the experts for the
        tokens of all ranks; an exchange as long as the busiest port needs, for what its rank sends
        or for what the fullest one receives. An idle rank runs along with nothing of its own.

        Args:
            steps: what each rank computes, all ranks of the group.

        Source: notebooks/serving.md, section Ranks that wait for one another.
        """
        own = _beside([self._own(step) for step in steps if step.prefill or step.decode])
        decoding = not any(step.prefill for step in steps)
        shared = self._shared(float(own.tokens.sum()), float(own.tokens.max()), decoding)
        return float(self._joined(own, shared, decoding).max())

    def _joined(self, own: _Part, besides: Busy, decoding: bool) -> Number:
        """A rank's own part and what keeps its card, links and host busy besides [s].

        All of it is launched by the host, which runs ahead of the card; what overlaps is hidden.
        """
        if hides(self._q):
            done = own.busy + besides
            device = done.exposed - hidden_time(self._q, done)
        else:
            device = own.busy.exposed + besides.exposed
        longer = maximum(device, own.launch)
        if is_absent(self._passes if decoding else self._q.draft_tokens):
            return longer
        draft_pass = longer / self._drafting_layers + own.beside_layer
        return longer + (self._passes * draft_pass if decoding
                         else drafted(self._q.draft_tokens, draft_pass))

    def _own(self, step: Step) -> Sequence[float]:
        """Numbers of what a rank does whatever the others do, its experts without a token."""
        if step.prefill:
            part = self._prompt(step, in_group=True)
            return _numbers(replace(part, busy=part.busy + self._riding(step)))
        return self._answer(*self._rounded(step))

    def _answer(self, count: int, contexts: int) -> Sequence[float]:
        """Numbers of what a rank of a group does for its answers, by :meth:`_rounded`."""
        block, (row, column) = _place(count, contexts)
        if block not in self._answering:
            alone = replace(self._block(*block), group_tokens=0.0, busiest_tokens=0.0)
            self._answering[block] = np.stack(np.broadcast_arrays(*_numbers(
                self._part(alone))), axis=-1).tolist()
        return self._answering[block][row][column]

    def _prompt(self, step: Step, in_group: bool = False) -> _Part:
        """What a step's prompts add to a rank's time, with the tokens of those that decode.

        Args:
            step: with prompts.
            in_group: whether the experts are left to what all ranks of a group have.
        """
        key = (*step.prefill, len(step.decode), in_group)
        if key not in self._prompts:
            row = self._rows.get(step.prefill[0]) if len(step.prefill) == 1 else None
            block, column = divmod(len(step.decode), BESIDE)
            if row is not None:
                part = _part_of(self._block_of_prompts(block, in_group)[row, column])
            elif self._alike and len(step.prefill) == 1:
                part = self._chunk(*step.prefill[0], block, column, in_group)
            else:
                new, cached = np.array(step.prefill, float).T
                part = self._prefill(new, cached, float(len(step.decode)), in_group)
            self._prompts[key] = part
        return self._prompts[key]

    def _chunk(self, new: int, cached: int, block: int, column: int, in_group: bool) -> _Part:
        """A chunk of one prompt, rounded as contexts are, its own tokens from 513 on; with it those
        of about as many tokens.

        Args:
            new, cached: tokens of the chunk and before it [token].
            block, column: of the requests that decode beside it.
            in_group: whether the experts are left to what all ranks of a group have.
        """
        (rows, row), (places, place) = (divmod(rung, CONTEXTS) for rung in (
            _rung(new), _rung(math.ceil(cached / ROUNDING))))
        key = rows, places, block, in_group
        if key not in self._chunked:
            own, before = (_height(start * CONTEXTS + np.arange(CONTEXTS))[:, None, None]
                           for start in (rows, places))
            self._chunked[key] = self._numbers_beside(
                np.maximum(1.0, own[:, None]), ROUNDING * before, block, in_group)
        return _part_of(self._chunked[key][row, place, column])

    def _block_of_prompts(self, block: int, in_group: bool) -> np.ndarray:
        """Numbers of every expected prompt beside so many requests, shape (prompts, beside, n)."""
        if (block, in_group) not in self._expected:
            new, cached = np.array(list(self._rows), float).T[:, :, np.newaxis, np.newaxis]
            self._expected[block, in_group] = self._numbers_beside(new, cached, block, in_group)
        return self._expected[block, in_group]

    def _numbers_beside(self, new: np.ndarray, cached: np.ndarray, block: int, in_group: bool
                        ) -> np.ndarray:
        """Numbers of steps of a chunk each beside so many requests, shape (..., beside, n).

        Args:
            new, cached: tokens of the chunk and before it, shape (..., 1, 1) [token].
            block: of the requests beside it.
            in_group: whether the experts are left to what all ranks of a group have.
        """
        part = self._prefill(new, cached, np.arange(BESIDE) + float(block * BESIDE), in_group)
        shape = (*np.broadcast_shapes(new.shape, cached.shape)[:-2], BESIDE)
        return np.stack(np.broadcast_arrays(*_numbers(part), np.empty(shape))[:-1], axis=-1)

    def _prefill(self, new: Number, cached: Number, riding: Number, in_group: bool) -> _Part:
        """A step of chunks, as :meth:`_chunks` has them, alone or in a group."""
        chunks = self._chunks(new, cached, riding)
        return self._part(replace(chunks, group_tokens=0.0, busiest_tokens=0.0)
                          if in_group else chunks)

    def _shared(self, tokens: float, busiest: float, decoding: bool) -> Busy:
        """What experts and exchange add to a rank's own part, for the tokens of all ranks."""
        (rows, row), (columns, column) = (divmod(int(count), SHARED) for count in (tokens, busiest))
        key = rows, columns, decoding
        if key not in self._groups:
            count = np.arange(float(SHARED))
            experts = self._experts((rows * SHARED + count)[:, np.newaxis],
                                    columns * SHARED + count, decoding)
            self._groups[key] = np.broadcast_arrays(
                *(experts - self._without_tokens[decoding]).parts(),
                np.empty((SHARED, SHARED)))[:-1]
        return Busy(*(part[row, column] for part in self._groups[key]))

    @functools.cached_property
    def _drafting_layers(self) -> float:
        """Layers of the step over those of a pass that drafts [1]; infinite of a drafter of its
        own, whose layer is none of the model's."""
        q = self._q
        of_pass = q.num_nextn_predict_layers if q.draft_block > 1 else 1
        return float(np.inf if q.drafter_parameters > 0 else q.num_hidden_layers / of_pass)

    @functools.cached_property
    def _without_tokens(self) -> tuple[Busy, Busy]:
        """Busy times of a rank in an idle group: in prefill, and in decode."""
        return self._experts(0.0, 0.0, decoding=False), self._experts(0.0, 0.0, decoding=True)

    def _experts(self, tokens: Number, busiest: Number, decoding: bool) -> Busy:
        """A rank that has nothing of its own, among others with so many tokens."""
        return self._part(replace(NOTHING, decoding=decoding, group_tokens=tokens,
                                  busiest_tokens=busiest)).busy

    def _part(self, composition: Composition) -> _Part:
        timed = self._timed(composition)
        return _Part(
            busy_in(self._q, timed), timed.host_time, composition.tokens,
            timed.draft_pass_time - np.maximum(timed.device_time, timed.host_time)
            / self._drafting_layers)

    def _chunks(self, new: Number, cached: Number, riding: Number) -> Composition:
        """Chunks of prompts, and the tokens of requests that decode beside them.

        Args:
            new, cached: tokens of each chunk and before it, shape (..., chunks) [token].
            riding: requests that decode, shape (...) [request].
        """
        q = self._q
        # the tokens of a chunk see what is cached as those of an answer see their prompt
        seen = mean_context(cached, new)
        picked, in_window = (mean_attended(bound, cached, new)
                             for bound in (most_picked(q), q.sliding_window))
        tokens, before = new.sum(axis=-1), cached.sum(axis=-1)
        # one kernel for the step
        absorbed = select(few_cached(q, before), 1.0,
                          prefill_absorbed(q, (cached + new).max(axis=-1)))
        multiplied = multiplied_positions(q, picked, prefill_positions(q, cached, new, new, seen),
                                          np.asarray(absorbed)[..., np.newaxis])
        riding = riding * (1 + q.draft_tokens)
        return Composition(
            tokens + riding, float(new.shape[-1]) + riding, (new * multiplied).sum(axis=-1),
            (new * in_window).sum(axis=-1), absorbed * (new * seen).sum(axis=-1), before, before,
            absorbed * before, (1 - absorbed) * before, absorbed, decoding=False,
            core_missing=np.maximum(q.prefill_tile_rows - new, 0).sum(axis=-1))

    @staticmethod
    def _rounded(step: Step) -> tuple[int, int]:
        """Requests that decode, and their mean context, rounded up, as :func:`_rung` has it [1]."""
        count = len(step.decode)
        return count, _rung(int(-(-_total(step.decode) // (count * ROUNDING))))

    def _answers(self, batch: Number, rounded: Number) -> Composition:
        """A token each of so many requests of such a context, and their drafts."""
        q = self._q
        tokens = batch * (1 + q.draft_tokens)
        sees = [np.minimum(rounded, bound) if bound else rounded
                for bound in (most_picked(q), q.sliding_window)]
        multiplied = multiplied_positions(q, sees[0], rounded, 1)
        return Composition(
            tokens, tokens, tokens * multiplied, tokens * sees[1],
            tokens * rounded if q.index_topk else 0.0,
            batch * sees[0], batch * sees[1], batch * rounded, 0.0, 1.0, decoding=True)

    def _decode(self, count: int, contexts: int) -> float:
        """Time of a step of answers alone; with it that of the steps which may come next."""
        block, (row, column) = _place(count, contexts)
        if block not in self._known:
            timed = self._timed(self._block(*block))
            self._known[block] = np.broadcast_to(
                timed.step_time - self._q.host_gap_per_step
                + self._passes * timed.draft_pass_time, (COUNTS, CONTEXTS)).tolist()
        return self._known[block][row][column]

    def _riding(self, step: Step) -> Busy:
        """What the requests that decode beside prompts keep busy: their cores, by their own."""
        if not step.decode:
            return IDLE
        block, (row, column) = _place(*self._rounded(step))
        if block not in self._cores:
            cores = cores_in(self._q, self._timed(self._block(*block)))
            self._cores[block] = np.stack([
                np.broadcast_to(time, (COUNTS, CONTEXTS)) for time in (cores.own, cores.links)],
                axis=-1).tolist()
        own, links = self._cores[block][row][column]
        return Busy(own, links)

    def _block(self, counts: int, contexts: int) -> Composition:
        """Answers of so many requests and of such contexts, shape (``COUNTS``, ``CONTEXTS``)."""
        return self._answers(
            counts * COUNTS + np.arange(1, COUNTS + 1)[:, np.newaxis],
            ROUNDING * _height(contexts * CONTEXTS + np.arange(1, CONTEXTS + 1)))

    def _timed(self, composition: Composition) -> Timed:
        return step(self._attention, self._q, self._counted, self._weights, self._cache,
                    composition)


def _place(count: int, contexts: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """The block in which the requests that decode lie, by number and context; where in it."""
    counts, row = divmod(count - 1, COUNTS)
    contexts, column = divmod(contexts - 1, CONTEXTS)
    return (counts, contexts), (row, column)


def _rung(number: Any) -> Any:
    """Place of a number, rounded up, on a ladder on which a number is apart from the next one by
    less than its 256th part, or by one.

    >>> [_rung(number) for number in (0, 512, 513, 514, 1024, 1025)]
    [0, 512, 513, 513, 768, 769]
    """
    if isinstance(number, int):
        more = max(0, (number - 1).bit_length() - 1 - EXACT_BITS) if number else 0
        return (more << EXACT_BITS) - (-number >> more)
    more = np.maximum(0, np.frexp(np.maximum(number - 1, 0))[1] - 1 - EXACT_BITS)
    return (more * 2 ** EXACT_BITS + np.ceil(number / 2.0 ** more)).astype(int)


def _height(rung: Any) -> Any:
    """The largest number of a place, as :func:`_rung` has it.

    >>> _height(np.array([0, 512, 513, 768, 769])).tolist()
    [0.0, 512.0, 514.0, 1024.0, 1028.0]
    """
    more = np.maximum(0, (rung - 1) // 2 ** EXACT_BITS - 1)
    return (rung - more * 2 ** EXACT_BITS) * 2.0 ** more


def _total(contexts: Sequence[int]) -> float:
    """Tokens that all requests of a step attend to [token]."""
    return contexts.total if isinstance(contexts, Contexts) else sum(contexts)
