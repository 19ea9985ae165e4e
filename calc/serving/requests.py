"""What a scheduler takes and gives: requests, limits, steps and outcomes. Times in seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from calc.serving.prefix_blocks import Span

Policy = Literal["mixed", "prefill-first"]


class Contexts(Sequence[int]):
    """Tokens that each of several requests attends to [token], with their sum.

    >>> Contexts((3, 5)).next() == (4, 6), Contexts((3, 5)).next().total
    (True, 10)
    """

    __slots__ = ("_first", "_further", "total")

    def __init__(self, first: tuple[int, ...], further: float = 0) -> None:
        """Contexts at some step, and the tokens added to each of them since."""
        self._first, self._further = first, further
        self.total: float = sum(first) + further * len(first)

    def next(self, tokens: float = 1) -> Contexts:
        """Contexts once every request has gained a token, or this many on average."""
        later = Contexts.__new__(Contexts)
        later._first, later._further = self._first, self._further + tokens
        later.total = self.total + tokens * len(self._first)
        return later

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, index: Any) -> Any:
        return tuple(self)[index] if isinstance(index, slice) else (
            self._first[index] + int(self._further))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


class Step(NamedTuple):
    """What one forward pass computes.

    Attributes:
        prefill: per prompt chunk, its new tokens and the request's tokens cached before it [token].
        decode: per decoding request, the tokens that its one new token attends to, itself
            included [token].
    """

    prefill: tuple[tuple[int, int], ...]
    decode: Sequence[int]


StepTime = Callable[[Step], float]
"""Duration of a step [s]."""

GroupTime = Callable[[Sequence[Step]], float]
"""Duration of a step that ranks take together, a rank's part each, idle ones included [s]."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrives.

    Attributes:
        arrival: when, on the clock of the run [s].
        input_tokens: of the prompt [token].
        output_tokens: to be generated, at least one [token].
        cached_tokens: of the prompt that a prefix cache already holds; the last token of a prompt
            is always computed [token].
        texts: what prompt and answer have in common with other requests: names of texts and how
            far they go, from the beginning, each further than the one before [token]. Up to there
            requests of the same text have the same tokens; whole blocks of them are kept in the
            cache, and found there. Without, no block outlasts the request.

    Raises ValueError for lengths that no request has, or an arrival before time zero; and where
    what a cache holds is stated and to be found out as well.
    """

    arrival: float
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    texts: tuple[tuple[Hashable, int], ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.arrival) and self.arrival >= 0):
            raise ValueError(f"a request arrives at {self.arrival} s, expected 0 or later.")
        if self.input_tokens < 1 or self.output_tokens < 1:
            raise ValueError(f"a request has {self.input_tokens} input and {self.output_tokens} "
                             "output tokens, expected at least one of each.")
        if not 0 <= self.cached_tokens < self.input_tokens:
            raise ValueError(f"{self.cached_tokens} of {self.input_tokens} prompt tokens are "
                             "cached, expected 0 or more and fewer than all.")
        if self.cached_tokens and self.texts:
            raise ValueError(f"{self.cached_tokens} prompt tokens are stated to be cached, "
                             "expected none where the cache of shared texts is simulated.")

    @property
    def most_cached(self) -> int:
        """Tokens in the cache when the last output token comes out; that one is never fed."""
        return self.input_tokens + self.output_tokens - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """What the engine is started with.

    Attributes:
        max_num_batched_tokens: of one step, decode tokens and chunks together under ``mixed``; the
            chunk of a prefill step (SGLang's chunked_prefill_size) under ``prefill-first`` [token].
        max_num_seqs: requests in work at once (SGLang's max_running_requests) [request].
        kv_blocks: of the cache, None for as many as needed [block].
        block_size: tokens of a block [token/block].
        state_blocks_per_request: that a request in work holds besides those of its tokens, from
            its first to its last; no other request finds them [block].
        policy: ``mixed`` or ``prefill-first``.
        whole_prompt_fits: admit a request only if all its tokens so far find free blocks, not just
            its first chunk (vLLM's scheduler_reserve_full_isl, on by default since 0.20.2); under
            ``mixed`` only.
        reserved_output: share of the output still to come that is set aside for each request in
            work when another one asks for admission (SGLang's new_token_ratio, which changes as it
            runs and is constant here); below 1 requests can be retracted; under ``prefill-first``
            only [1].
        recv_interval: decode steps in a row after which the engine looks for requests; it does so
            after every step with prompts, and all the time where it has nothing to do
            (SGLang's scheduler_recv_interval) [1].
        steps_ahead: steps that are decided on before the one before them is over; who arrives
            meanwhile is not in them [1].
        step_tokens: that a step computes of each request that decodes: its newest one, and drafts.
        tokens_per_step: that such a step yields for a request on average, accepted drafts included.

    Raises ValueError for a limit under which nothing runs.
    """

    max_num_batched_tokens: int
    max_num_seqs: int
    kv_blocks: int | None = None
    block_size: int = 1
    policy: Policy = "mixed"
    whole_prompt_fits: bool = True
    reserved_output: float = 1.0
    recv_interval: int = 1
    steps_ahead: int = 0
    state_blocks_per_request: int = 0
    step_tokens: int = 1
    tokens_per_step: float = 1

    def __post_init__(self) -> None:
        for name in ("max_num_batched_tokens", "max_num_seqs", "kv_blocks", "block_size",
                     "recv_interval", "step_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}, expected at least 1.")
        if self.policy not in get_args(Policy):
            raise ValueError(f"there is no policy '{self.policy}', expected one of: "
                             f"{', '.join(get_args(Policy))}.")
        if not 0 <= self.reserved_output <= 1:
            raise ValueError(f"reserved_output is {self.reserved_output}, expected 0 to 1.")
        if not 1 <= self.tokens_per_step <= self.step_tokens:
            raise ValueError(f"a step yields {self.tokens_per_step} tokens, expected 1 to the "
                             f"{self.step_tokens} that it computes of a request.")
        for name in ("steps_ahead", "state_blocks_per_request"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}, expected 0 or more.")

    def blocks(self, tokens: int) -> int:
        """Blocks that hold that many tokens [block]."""
        return -(-tokens // self.block_size)

    def with_state(self, tokens: int) -> int:
        """Blocks of a request that has so many tokens, its state included [block].

        >>> Limits(64, 1, block_size=16, state_blocks_per_request=3).with_state(33)
        6
        """
        return self.blocks(tokens) + self.state_blocks_per_request

    def steps(self, tokens: int) -> int:
        """Mean number of decode steps for this many output tokens; at least 1 for any [1].

        >>> Limits(64, 1, step_tokens=3, tokens_per_step=2.5).steps(11)
        4
        """
        return max(min(tokens, 1), round(tokens / self.tokens_per_step))

    @property
    def longest(self) -> int:
        """Tokens that a cache holds of a single request; only where its blocks are known [token].

        >>> Limits(64, 1, kv_blocks=10, block_size=16, state_blocks_per_request=3).longest
        112
        """
        return max(0, (self.kv_blocks or 0) - self.state_blocks_per_request) * self.block_size

    def spans(self, texts: Sequence[tuple[Hashable, int]]) -> tuple[Span, ...]:
        """Whole blocks of each text of a request: which, from the first to before the second."""
        spans, begin = [], 0
        for name, tokens in texts:
            end = tokens // self.block_size
            if end > begin:
                spans.append((name, begin, end))
                begin = end
        return tuple(spans)


@dataclass(frozen=True, slots=True)
class Outcome:
    """When a request was served; times on the clock of the run [s], lengths in tokens.

    Attributes:
        number: its place in the order of submission.
        arrival: of the request.
        started: beginning of the first step that works on it.
        first_token: end of the step that brings its first output token.
        finished: end of the step that brings its last output token.
        input_tokens: of the prompt.
        output_tokens: generated.
        preemptions: how often its cache was dropped and had to be computed again.
        hit_tokens: of the prompt that were in the prefix cache when work on it began.
        evicted: blocks that were evicted from the prefix cache to make room for it [block].
    """

    number: int
    arrival: float
    started: float
    first_token: float
    finished: float
    input_tokens: int
    output_tokens: int
    preemptions: int
    hit_tokens: int = 0
    evicted: int = 0

    @property
    def wait(self) -> float:
        """From arrival until work on it begins [s]."""
        return self.started - self.arrival

    @property
    def ttft(self) -> float:
        """Time to first token [s]."""
        return self.first_token - self.arrival

    @property
    def tpot(self) -> float:
        """Mean time of the tokens after the first [s]; not a number if there are none."""
        if self.output_tokens == 1:
            return math.nan
        return (self.finished - self.first_token) / (self.output_tokens - 1)

    @property
    def e2e(self) -> float:
        """From arrival to the last token [s]."""
        return self.finished - self.arrival


@dataclass(frozen=True)
class Run:
    """What happened.

    Attributes:
        outcomes: of all requests, in the order of arrival.
        steps: by pool (``serve``, or ``prefill`` and ``decode``), per replica or group of ranks:
            begin and end of every step, shape (steps, 2) [s].
        request_seconds: time integral of the number of requests in the system, counted on the way
            [request s].
    """

    outcomes: tuple[Outcome, ...]
    steps: dict[str, tuple[npt.NDArray[np.float64], ...]]
    request_seconds: float


class Job:
    """A request in an engine: ``known`` tokens, of which ``computed`` are in the cache.

    Of its ``blocks`` the first ``held`` are those of its texts that can be shared; while it waits,
    ``spared`` are those that it found and others have. After its first token it has taken ``steps``
    of the ``last`` that it takes.
    """

    __slots__ = ("base", "blocks", "computed", "evicted", "finished", "first_token", "generated",
                 "held", "hit_tokens", "known", "last", "number", "preemptions", "request", "room",
                 "spans", "spared", "started", "steps")

    def __init__(self, number: int, request: Request, prefilled: bool = False) -> None:
        """Before any work; ``prefilled``: the prompt's cache and the first token come with it."""
        self.number, self.request = number, request
        self.generated = int(prefilled)
        self.known = request.input_tokens + self.generated
        self.computed = request.input_tokens if prefilled else request.cached_tokens
        self.base = 0 if prefilled else request.cached_tokens  # what outlasts a preemption
        self.blocks = self.room = self.held = self.spared = self.preemptions = self.evicted = 0
        self.steps = self.last = 0
        self.hit_tokens = request.cached_tokens
        self.spans: tuple[Span, ...] = ()
        self.started = self.first_token = self.finished = math.nan

    @property
    def decodes(self) -> bool:
        """Whether only its newest output token is still to be fed."""
        return self.generated > 0 and self.computed == self.known - 1

    def take(self, steps: int, tokens_per_step: float) -> None:
        """Take so many steps, of which the first brings one token, each other one several."""
        if self.generated:
            self.steps += steps
        self.generated = (self.request.output_tokens if self.steps >= self.last
                          else 1 + int(tokens_per_step * self.steps))
        self.known = self.request.input_tokens + self.generated
        self.computed = self.known - 1

    def outcome(self) -> Outcome:
        """When it was served."""
        request = self.request
        return Outcome(self.number, request.arrival, self.started, self.first_token, self.finished,
                       request.input_tokens, request.output_tokens, self.preemptions,
                       self.hit_tokens, self.evicted)
