"""How long a scheduler's step takes: its requests, and the time of ``calc.physics.step``."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from calc.physics import experts
from calc.physics.arrays import Inputs, Number, ceil_div, is_absent, maximum, select
from calc.physics.kv_cache import (
    Pages,
    cache,
    few_cached,
    most_picked,
    multiplied_positions,
    pages,
    prefill_absorbed,
    prefill_positions,
)
from calc.physics.memory import candidate_stages, weights
from calc.physics.operators import mean_attended, mean_context, tokens_per_step
from calc.physics.parameters import count_parameters
from calc.physics.step import Busy, busy_in, cores_in, drafted, hidden_time, hides, step
from calc.physics.work import Composition
from calc.recording import Repeating
from calc.serving.requests import Contexts, Step

ROUNDING = 16  # contexts are rounded up to as many tokens, so that steps repeat; and longer ones to
EXACT_BITS = 8  # a power of two of these, less than their 256th part [1]
COUNTS, CONTEXTS = 32, 8  # whose times are computed at once: it takes little longer than one
SHARED = 32  # numbers of tokens of all ranks, and of the busiest, likewise
BESIDE = 8  # numbers of requests beside a prompt for which all expected ones are computed at once
NOTHING = Composition(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, decoding=False)
BUSY = tuple(item.name for item in fields(Busy))
# what is asked of a step: a rank's part of it, the core of its answers, the time of answers alone
OWN, CORE, ALONE = (*BUSY, "launch", "beside_layer"), ("core", "core_links"), ("alone",)


def ranks_in_step(inputs: Mapping[str, Number]) -> int:
    """Data-parallel ranks that share experts and so take every step together [1].

    >>> ranks_in_step({"expert_parallel": 32, "expert_tensor_parallel": 0, "tensor_parallel": 4})
    8

    Args:
        inputs: expert and tensor parallelism, and the slices of an expert [1].
    """
    return int(experts.ranks_in_step(Inputs(inputs)))


@dataclass(frozen=True, slots=True)
class _Part:
    """Contribution of a part of a step to a rank's time [s].

    Attributes:
        busy: card, links and host.
        launch: of all operators by the host.
        beside_layer: of the layer that drafts, what it takes beyond a mean layer of the step; all
            of a drafter of its own.
        tokens: of the rank, in the step [token].
    """

    busy: Busy
    launch: Number = 0.0
    beside_layer: Number = 0.0
    tokens: Number = 0.0


def _part_of(numbers: Sequence[float] | np.ndarray) -> _Part:
    """A part from its numbers, one after the other."""
    return _Part(Busy(*numbers[:len(BUSY)]), *numbers[len(BUSY):])


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
        self._rows = {prompt: row for row, prompt in enumerate(dict.fromkeys(expected))}
        self._expected = np.array([*self._rows], float).reshape(-1, 2).T  # new and cached
        self._blocks: dict[tuple[object, ...], np.ndarray] = {}
        self._prompts: dict[tuple[object, ...], Sequence[float]] = {}
        self._answers: dict[tuple[str, ...], dict[tuple[int, int], list[float]]] = {
            ALONE: {}, CORE: {}, OWN: {}}
        self._groups: dict[tuple[int, int, bool], np.ndarray] = {}
        self._repeating: dict[tuple[object, ...], Repeating] = {}

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
            return self._answer(ALONE, *self._rounded(step))[0] if step.decode else 0.0
        own, riding = _part_of(self._prompt(step)), Busy(*self._riding(step))
        return float(self._joined(own, riding, decoding=False))

    def together(self, steps: Sequence[Step]) -> float:
        """Time of a step that ranks with shared experts take together, without the gap [s].

        As long as the slowest rank: its own attention, dense layers and sums; the experts for the
        tokens of all ranks; an exchange as long as the busiest port needs, for what its rank sends
        or for what the fullest one receives. An idle rank runs along with nothing of its own.

        Args:
            steps: what each rank computes, all ranks of the group.

        Source: notebooks/serving.md, section Ranks that wait for one another.
        """
        own = np.array([self._own(step) for step in steps if step.prefill or step.decode])
        return float(self._slowest(own.T, not any(step.prefill for step in steps)))

    def _slowest(self, ranks: np.ndarray, decoding: bool) -> Any:
        """Time of the slowest rank of a group [s].

        Args:
            ranks: numbers of what each has of its own, shape (numbers, ranks, ...).
            decoding: whether it is a step of answers alone.
        """
        own = _part_of(ranks)
        tokens = own.tokens if own.tokens.ndim == 1 else own.tokens[:, 0]
        shared = self._shared(float(tokens.sum()), float(tokens.max()), decoding)
        return self._joined(own, shared, decoding).max(axis=0)

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
        if not step.prefill:
            return self._answer(OWN, *self._rounded(step))
        card, links, *others = self._prompt(step, in_group=True)
        core, of_core = self._riding(step)
        return card + core, links + of_core, *others

    def _answer(self, names: tuple[str, ...], count: int, contexts: int) -> list[float]:
        """Requested times of a step of answers, by :meth:`_rounded` [s]; with it those of the steps
        which may come next.

        Args:
            names: ``ALONE``; ``CORE``, of those beside prompts; ``OWN``, of a rank of a group,
                whose experts are left to what all ranks have.
            count, contexts: requests that decode, and their mean context.
        """
        computed = self._answers[names]
        if (count, contexts) not in computed:
            counts, rungs = (first - (first - 1) % size for first, size in (
                (count, COUNTS), (contexts, CONTEXTS)))
            block = self._decoding(counts + np.arange(COUNTS)[:, np.newaxis],
                                   ROUNDING * _height(rungs + np.arange(CONTEXTS)))
            times = (self._times(names, block) if names != OWN else self._part(
                replace(block, group_tokens=0.0, busiest_tokens=0.0)))
            computed |= {(row, column): numbers
                         for row, several in enumerate(times.tolist(), counts)
                         for column, numbers in enumerate(several, rungs)}
        return computed[count, contexts]

    def _prompt(self, step: Step, in_group: bool = False) -> Sequence[float]:
        """Numbers of what a step's prompts add to a rank's time, with the tokens of those that
        decode.

        Args:
            step: with prompts.
            in_group: whether the experts are left to what all ranks of a group have.
        """
        key = (*step.prefill, len(step.decode), in_group)
        if key not in self._prompts:
            beside, column = divmod(len(step.decode), BESIDE)
            row = self._rows.get(step.prefill[0]) if len(step.prefill) == 1 else None
            if row is not None:
                new, cached = self._expected
                numbers = self._block((), new, cached, beside, in_group)[row, column]
            elif self._alike and len(step.prefill) == 1:
                numbers = self._chunk(*step.prefill[0], beside, in_group)[column]
            else:
                new, cached = np.array(step.prefill, float).T[:, np.newaxis]
                numbers, = self._prefill(
                    new, cached, np.array([float(len(step.decode))]), in_group)
            self._prompts[key] = numbers.tolist()
        return self._prompts[key]

    def _chunk(self, new: int, cached: int, beside: int, in_group: bool) -> np.ndarray:
        """A chunk of one prompt, rounded as contexts are, its own tokens from 513 on; with it those
        of about as many tokens. Shape (beside, n).

        Args:
            new, cached: tokens of the chunk and before it [token].
            beside: block of the requests that decode beside it.
            in_group: whether the experts are left to what all ranks of a group have.
        """
        (rows, row), (places, column) = (divmod(rung, CONTEXTS) for rung in (
            _rung(new), _rung(math.ceil(cached / ROUNDING))))
        own, before = (_height(start * CONTEXTS + np.arange(CONTEXTS)) for start in (rows, places))
        return self._block((rows, places), np.maximum(1.0, own[:, np.newaxis]), ROUNDING * before,
                           beside, in_group)[row, column]

    def _block(self, key: tuple[int, ...], new: np.ndarray, cached: np.ndarray, beside: int,
               in_group: bool) -> np.ndarray:
        """Numbers of steps of a chunk each beside so many requests, shape (..., beside, n).

        Args:
            key: of these chunks.
            new, cached: tokens of the chunk and before it, shape (...) [token].
            beside: block of the requests beside it.
            in_group: whether the experts are left to what all ranks of a group have.
        """
        if (*key, beside, in_group) not in self._blocks:
            self._blocks[*key, beside, in_group] = self._prefill(
                new[..., np.newaxis, np.newaxis], cached[..., np.newaxis, np.newaxis],
                np.arange(BESIDE) + float(beside * BESIDE), in_group)
        return self._blocks[*key, beside, in_group]

    def _prefill(self, new: np.ndarray, cached: np.ndarray, riding: np.ndarray, in_group: bool
                 ) -> np.ndarray:
        """Numbers of steps of chunks, as :meth:`_chunks` has them, alone or in a group."""
        chunks = self._chunks(new, cached, riding)
        return self._part(replace(chunks, group_tokens=0.0, busiest_tokens=0.0)
                          if in_group else chunks)

    def _shared(self, tokens: float, busiest: float, decoding: bool) -> Busy:
        """Busy times that experts and exchange add to a rank's part, for tokens of all ranks."""
        (rows, row), (columns, column) = (divmod(int(count), SHARED) for count in (tokens, busiest))
        key = rows, columns, decoding
        if key not in self._groups:
            count = np.arange(float(SHARED))
            experts = self._experts((rows * SHARED + count)[:, np.newaxis],
                                    columns * SHARED + count, decoding)
            self._groups[key] = experts - self._without_tokens[decoding]
        return Busy(*self._groups[key][row, column].tolist())

    @functools.cached_property
    def _drafting_layers(self) -> float:
        """Layers of the step over those of a pass that drafts [1]; infinite of a drafter of its
        own, whose layer is none of the model's."""
        q = self._q
        of_pass = q.num_nextn_predict_layers if q.draft_block > 1 else 1
        return float(np.inf if q.drafter_parameters > 0 else q.num_hidden_layers / of_pass)

    @functools.cached_property
    def _without_tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """Busy times of a rank in an idle group: in prefill, and in decode."""
        none = np.zeros(1)
        return (self._experts(none, none, decoding=False)[0],
                self._experts(none, none, decoding=True)[0])

    def _experts(self, tokens: np.ndarray, busiest: np.ndarray, decoding: bool) -> np.ndarray:
        """Busy times of a rank that has nothing of its own, among others with so many tokens."""
        return self._times(BUSY, replace(NOTHING, decoding=decoding, group_tokens=tokens,
                                         busiest_tokens=busiest))

    def _part(self, composition: Composition) -> np.ndarray:
        """Numbers of the parts of a rank in steps, as :func:`_part_of` takes them."""
        own = self._times(OWN, composition)
        tokens = np.broadcast_to(composition.tokens, own.shape[:-1])[..., np.newaxis]
        return np.concatenate([own, tokens], axis=-1)

    def _chunks(self, new: np.ndarray, cached: np.ndarray, riding: np.ndarray) -> Composition:
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

    def _decoding(self, batch: Number, rounded: Number) -> Composition:
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

    def _riding(self, step: Step) -> Sequence[float]:
        """Busy times of card and links for requests that decode beside prompts."""
        if not step.decode:
            return 0.0, 0.0
        return self._answer(CORE, *self._rounded(step))

    def _times(self, names: Sequence[str], composition: Composition) -> np.ndarray:
        """Requested times of steps, shape (..., names) [s]; replayed once requested often."""
        given = {name: value for name, value in vars(composition).items() if np.ndim(value)}
        fixed = {name: value for name, value in vars(composition).items() if name not in given}
        shape = np.broadcast_shapes(*(value.shape for value in given.values()))
        key = names, shape, *given, *fixed.items()
        if key not in self._repeating:
            self._repeating[key] = Repeating(self._timed, fixed)
        result = np.empty((len(names), math.prod(shape)))
        self._repeating[key].take({name: np.broadcast_to(value, shape).ravel()
                                   for name, value in given.items()},
                                  dict(zip(names, result, strict=True)), 0)
        return np.moveaxis(result.reshape(-1, *shape), 0, -1)

    def _timed(self, composition: Mapping[str, Any]) -> Mapping[str, Number]:
        """Times of steps of a composition, ``OWN``, ``CORE`` and ``ALONE`` [s]."""
        q = self._q
        timed = step(self._attention, q, self._counted, self._weights, self._cache,
                     Composition(**composition))
        cores = cores_in(q, timed)
        return dict(zip(BUSY, busy_in(q, timed).parts(), strict=True)) | {
            "launch": timed.host_time, "beside_layer": timed.draft_pass_time - np.maximum(
                timed.device_time, timed.host_time) / self._drafting_layers,
            "core": cores.own, "core_links": cores.links,
            "alone": timed.step_time - q.host_gap_per_step + self._passes * timed.draft_pass_time}


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
