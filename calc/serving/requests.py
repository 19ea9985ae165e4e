"""Requests, limits, steps and outcomes of a scheduler, and arrivals drawn from a seed.

Times in seconds. Arrival times, lengths and prefixes come from separate streams of one seed, so
that only the times scale when the rate changes: runs at two rates serve the same requests in the
same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from calc.physics.arrays import Number

Block = tuple[Hashable, int]

Policy = Literal["mixed", "prefill-first"]


class Contexts(Sequence[int]):
    """Tokens that each of several requests attends to [token], with their sum.

    >>> Contexts((3, 5)).next() == (4, 6), Contexts((3, 5)).next().total
    (True, 10)
    """

    __slots__ = ("_first", "_further", "_start", "_steps", "_sum", "total")

    def __init__(self, first: tuple[int, ...], start: float = 0, steps: int = 0,
                 tokens: float = 1, sum_of_first: int | None = None) -> None:
        """Initial tokens by request, an offset of all, and the tokens per step of so many steps."""
        self._first, self._start, self._steps = first, start, steps
        self._sum = sum(first) if sum_of_first is None else sum_of_first
        self._further = start + steps * tokens  # a product: sums of tokens would round
        self.total: float = self._sum + self._further * len(first)

    def next(self, tokens: float = 1) -> Contexts:
        """Contexts once every request has gained a token, or this many on average in all steps."""
        return Contexts(self._first, self._start, self._steps + 1, tokens, self._sum)

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, index: Any) -> Any:
        return self._first[index] + int(self._further)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)


class Step(NamedTuple):
    """Prompt chunks and decoding requests of one forward pass.

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
    """

    arrival: float
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    texts: tuple[tuple[Hashable, int], ...] = ()

    @property
    def most_cached(self) -> int:
        """Tokens in the cache when the last output token comes out; that one is never fed."""
        return self.input_tokens + self.output_tokens - 1


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits that an engine is started with.

    Attributes:
        max_num_batched_tokens: of one step, decode tokens and chunks together under ``mixed``; the
            chunk of a prefill step (SGLang's chunked_prefill_size) under ``prefill-first`` [token].
        max_num_seqs: requests in work at once (SGLang's max_running_requests) [request].
        kv_blocks: of the cache, None for as many as needed [block].
        block_size: tokens of a block [token/block].
        state_blocks_per_request: that a request in work holds besides those of its tokens, from
            its first to its last; no other request finds them [block].
        policy: ``mixed`` or ``prefill-first``.
        recv_interval: decode steps in a row after which the engine looks for requests; it does so
            after every step with prompts, and all the time where it has nothing to do
            (SGLang's scheduler_recv_interval) [1].
        steps_ahead: steps that are decided on before the one before them is over; who arrives
            meanwhile is not in them [1].
        step_tokens: that a step computes of each request that decodes: its newest one, and drafts.
        tokens_per_step: that such a step yields for a request on average, accepted drafts included.
    """

    max_num_batched_tokens: int
    max_num_seqs: int
    kv_blocks: int | None = None
    block_size: int = 1
    policy: Policy = "mixed"
    recv_interval: int = 1
    steps_ahead: int = 0
    state_blocks_per_request: int = 0
    step_tokens: int = 1
    tokens_per_step: float = 1

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

    def shareable(self, texts: Sequence[tuple[Hashable, int]]) -> list[Block]:
        """Whole blocks of each text of a request, from the first to before the second."""
        blocks: list[Block] = []
        for name, tokens in texts:
            blocks += [(name, block) for block in range(len(blocks), tokens // self.block_size)]
        return blocks


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
    """Result of a simulation.

    Attributes:
        outcomes: of all requests, in the order of arrival.
        steps: by pool (``serve``, or ``prefill`` and ``decode``), per replica or group of ranks:
            begin and end of every step, shape (steps, 2) [s].
    """

    outcomes: tuple[Outcome, ...]
    steps: dict[str, tuple[npt.NDArray[np.float64], ...]]


class Job:
    """A request in an engine: ``known`` tokens, of which ``computed`` are in the cache.

    Of its ``blocks`` the first ``held`` are those of its texts that can be shared; while it waits,
    ``spared`` are those that it found and others have. After its first token it has taken ``steps``
    of the ``last`` that it takes.
    """

    __slots__ = ("base", "blocks", "computed", "evicted", "finished", "first_token", "generated",
                 "held", "hit_tokens", "known", "last", "number", "preemptions", "request", "room",
                 "shareable", "spared", "started", "steps")

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
        self.shareable: list[Block] = []
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


Shape = tuple[int, int] | tuple[int, int, int]
"""Input tokens, output tokens, and cached tokens if there are any [token]."""

Distribution = Literal["constant", "exponential", "lognormal"]
DRAWN = 2000  # shapes that stand for a distribution
STEPS = (np.arange(DRAWN) + 0.5) / DRAWN  # equal steps of probability


def shapes_of(input_tokens: float, output_tokens: float, distribution: Distribution = "constant",
              variation: float | tuple[float, float] = 1.0, cached_share: float = 0.0,
              longest: float = math.inf, seed: int = 0) -> tuple[Shape, ...]:
    """Shapes of requests whose lengths are distributed about a mean [token].

    Lengths are quantiles at equal steps, so that the mean is met but for rounding, and prompts and
    answers are combined at random. A request has at least a token of each, and at most ``longest``
    together: longer prompts are cut to leave one token, longer answers to what is left.

    >>> shapes_of(100, 10)
    ((100, 10, 0),)

    Args:
        input_tokens: mean of the prompts [token].
        output_tokens: mean of the answers [token].
        distribution: of both; of all with that mean ``exponential`` assumes least.
        variation: standard deviation over mean, of ``lognormal`` only; of both, or of prompts and
            of answers [1].
        cached_share: of each prompt that a prefix cache holds [1].
        longest: of prompt and answer together [token].
        seed: of the combination.
    """
    variations = variation if isinstance(variation, tuple) else (variation, variation)
    mix = np.random.default_rng(seed)
    prompts, answers = (
        np.rint(mean * mix.permutation(_factors(distribution, part))).clip(1).astype(int)
        for mean, part in zip((input_tokens, output_tokens), variations, strict=True))
    prompts = np.minimum(prompts, longest - 1).astype(int)
    answers = np.minimum(answers, longest - prompts).astype(int)
    cached = in_prefix_cache(prompts, cached_share).astype(int)
    return tuple(zip(prompts.tolist(), answers.tolist(), cached.tolist(), strict=True))


def in_prefix_cache(prompt: Number, share: float) -> Number:
    """Tokens of a prompt that a prefix cache holds: a share of them, never the last one [token].

    >>> float(in_prefix_cache(100, 0.5)), float(in_prefix_cache(100, 1))
    (50.0, 99.0)

    Args:
        prompt: its length [token].
        share: of the prompt, before it is rounded down to tokens [1].
    """
    return np.floor(np.minimum(prompt * share, prompt - 1))


def log_deviation(variation: float) -> float:
    """Standard deviation of the logarithm of a log-normal variable [1].

    Args:
        variation: standard deviation over mean [1].
    """
    return math.sqrt(math.log1p(variation * variation))


def _factors(distribution: Distribution, variation: float) -> np.ndarray:
    """Lengths over their mean, at equal steps of probability."""
    if distribution == "constant":
        return np.ones(1)
    if distribution == "exponential":
        factors = -np.log1p(-STEPS)
    else:
        factors = np.exp(log_deviation(variation) * _normal_steps())
    return factors / factors.mean()


@cache
def _normal_steps() -> np.ndarray:
    """Points of the standard normal distribution at those steps, shape (DRAWN,)."""
    return np.array([NormalDist().inv_cdf(share) for share in STEPS])


def _streams(seed: int) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
    """For times, for lengths and for prefixes."""
    times, lengths, prefixes = np.random.SeedSequence(seed).spawn(3)
    return (np.random.default_rng(times), np.random.default_rng(lengths),
            np.random.default_rng(prefixes))


def _draw(shapes: Sequence[Shape], count: int, rng: np.random.Generator) -> list[Shape]:
    """So many shapes, each as likely as any other."""
    return [shapes[i] for i in rng.integers(0, len(shapes), count)]


def poisson(rate: float, count: int, shapes: Sequence[Shape], seed: int = 0) -> tuple[Request, ...]:
    """Independent users: exponential times between arrivals.

    Args:
        rate: mean rate of arrivals, infinite if all arrive at once [request/s].
        count: requests [request].
        shapes: lengths to draw from, each as likely as any other [token].
        seed: of the random numbers.
    """
    times, lengths, _ = _streams(seed)
    drawn = _draw(shapes, count, lengths)
    arrivals = np.cumsum(times.exponential(size=count)) / rate
    return tuple(Request(at, *shape) for at, shape in zip(arrivals.tolist(), drawn, strict=True))


@dataclass(frozen=True)
class Prefixes:
    """Prefixes that requests share.

    Attributes:
        groups: prefixes, of which every conversation begins with one, each as likely [1].
        tokens: of a prefix; a prompt that is no longer is all prefix [token].
        turns: of a conversation: the next prompt is the one before, its answer, and as much as a
            prompt has besides the prefix [1].
        longest: of prompt and answer together; a turn that would be longer begins another
            conversation instead [token].
    """

    groups: int = 1
    tokens: int = 0
    turns: int = 1
    longest: float = math.inf

    def conversation_tokens(self, prompt: int, answer: int) -> int:
        """Tokens of the last turn's prompt and answer, if all have these lengths [token]."""
        return prompt + (self.turns - 1) * max(1, prompt - self.tokens) + self.turns * answer

    def drawn(self, count: int, seed: int) -> Iterator[tuple[int, int]]:
        """So many conversations in the order in which they begin: number and prefix."""
        return enumerate(_streams(seed)[2].integers(0, self.groups, count).tolist())


class Conversation:
    """Requests of one user, turn by turn, one conversation after another.

    >>> user = Conversation(Prefixes(groups=2, tokens=60, turns=2), iter([(0, 1), (1, 0)]))
    >>> [user.ask(0.0, (100, 10)).input_tokens for _ in range(3)]  # 60 of 100 are the prefix
    [100, 150, 100]

    Args:
        prefixes: what they have in common.
        begun: number and prefix of the conversations, shared by all users.
    """

    def __init__(self, prefixes: Prefixes, begun: Iterator[tuple[int, int]]) -> None:
        self._prefixes, self._begun = prefixes, begun
        self._turns = prefixes.turns  # of a conversation that is over
        self._history = self._prefix = self._number = self._group = 0

    def ask(self, arrival: float, shape: Shape) -> Request:
        """The next request, at a time [s], with a prompt and an answer of these lengths [token]."""
        prompt, answer = shape[:2]
        new = max(1, prompt - self._prefixes.tokens)
        if (self._turns == self._prefixes.turns
                or self._history + new + answer > self._prefixes.longest):
            self._number, self._group = next(self._begun)
            self._turns, self._prefix = 0, min(self._prefixes.tokens, prompt)
            self._history, new = 0, prompt
        context = self._history + new
        self._history, self._turns = context + answer, self._turns + 1
        return Request(arrival, context, answer, texts=(
            ((self._group,), self._prefix), ((self._group, self._number), self._history)))


def sharing(requests: Sequence[Request], prefixes: Prefixes, seed: int = 0) -> tuple[Request, ...]:
    """Requests with shared prefixes, each the only turn of a conversation.

    Args:
        requests: of open arrivals, none of which waits for an answer.
        prefixes: with one turn.
        seed: of the random numbers.
    """
    user = Conversation(prefixes, prefixes.drawn(len(requests), seed))
    return tuple(user.ask(request.arrival, (request.input_tokens, request.output_tokens))
                 for request in requests)


@dataclass(frozen=True)
class ClosedLoop:
    """Users who each wait for an answer, think, and ask again.

    Attributes:
        users: at once [request].
        count: requests of all users together [request].
        shapes: lengths to draw from, each as likely as any other [token].
        think_time: from an answer to the next question [s].
        exponential: whether think times are exponentially distributed about that mean.
        ramp: time over which the users begin, each at any moment of it; 0 for all at once [s].
        seed: of the random numbers.
        prefixes: what their requests begin with that is in the cache perhaps; None if nothing is.
    """

    users: int
    count: int
    shapes: Sequence[Shape]
    think_time: float = 0.0
    exponential: bool = False
    ramp: float = 0.0
    seed: int = 0
    prefixes: Prefixes | None = None

    def begins(self) -> list[float]:
        """When each user asks for the first time, in order [s]."""
        moments = np.random.default_rng(np.random.SeedSequence(self.seed).spawn(4)[3])
        return (self.ramp * np.sort(moments.random(self.users))).tolist()

    def draw(self) -> tuple[list[Shape], list[float]]:
        """Lengths in the order of asking [token], and the thinking after each answer [s]."""
        times, lengths, _ = _streams(self.seed)
        thinking = (times.exponential(size=self.count) if self.exponential
                    else np.ones(self.count)) * self.think_time
        return _draw(self.shapes, self.count, lengths), thinking.tolist()
