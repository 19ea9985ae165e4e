"""Who asks when: arrivals for a simulation, drawn from a seed.

Arrival times, lengths and prefixes come from separate streams of one seed, so that only the times
scale when the rate changes: runs at two rates serve the same requests in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np

from calc.physics.arrays import Number
from calc.serving.requests import Request

Shape = tuple[int, int] | tuple[int, int, int]
"""Input tokens, output tokens, and cached tokens if there are any [token]."""


Distribution = Literal["constant", "exponential", "lognormal"]
DRAWN = 2000  # shapes that stand for a distribution


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

    Raises ValueError for an unknown distribution and for a variation that is none.
    """
    if distribution not in get_args(Distribution):
        raise ValueError(f"there is no distribution '{distribution}', expected one of: "
                         f"{', '.join(get_args(Distribution))}.")
    each = variation if isinstance(variation, tuple) else (variation, variation)
    if not all(math.isfinite(part) and part > 0 for part in each):
        raise ValueError(f"the variation of lengths is {variation}, expected more than 0.")
    mix = np.random.default_rng(seed)
    prompts, answers = (
        np.rint(mean * mix.permutation(_factors(distribution, part))).clip(1).astype(int)
        for mean, part in zip((input_tokens, output_tokens), each, strict=True))
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


def _factors(distribution: Distribution, variation: float) -> np.ndarray:
    """Lengths over their mean, at equal steps of probability."""
    if distribution == "constant":
        return np.ones(1)
    if distribution == "exponential":
        factors = -np.log1p(-_steps())
    else:
        sigma = math.sqrt(math.log1p(variation**2))
        factors = np.exp(sigma * _normal_steps())
    return factors / factors.mean()


def _steps() -> np.ndarray:
    """Equal steps of probability, shape (DRAWN,)."""
    return (np.arange(DRAWN) + 0.5) / DRAWN


@cache
def _normal_steps() -> np.ndarray:
    """Points of the standard normal distribution at those steps, shape (DRAWN,)."""
    return np.array([NormalDist().inv_cdf(share) for share in _steps()])


def _streams(seed: int) -> tuple[np.random.Generator, np.random.Generator, np.random.Generator]:
    """For times, for lengths and for prefixes."""
    times, lengths, prefixes = np.random.SeedSequence(seed).spawn(3)
    return (np.random.default_rng(times), np.random.default_rng(lengths),
            np.random.default_rng(prefixes))


def _draw(shapes: Sequence[Shape], count: int, rng: np.random.Generator) -> list[Shape]:
    """So many shapes, each as likely as any other.

    Raises ValueError if there are no shapes or no requests.
    """
    if count < 1 or not shapes:
        raise ValueError(f"{count} requests of {len(shapes)} shapes, expected at least one each.")
    return [shapes[i] for i in rng.integers(0, len(shapes), count)]


def poisson(rate: float, count: int, shapes: Sequence[Shape], seed: int = 0) -> tuple[Request, ...]:
    """Independent users: exponential times between arrivals.

    Args:
        rate: mean rate of arrivals [request/s].
        count: requests [request].
        shapes: lengths to draw from, each as likely as any other [token].
        seed: of the random numbers.

    Raises ValueError for a rate or a count that is not positive.
    """
    if not (math.isfinite(rate) and rate > 0):
        raise ValueError(f"the rate of arrivals is {rate} request/s, expected a positive one.")
    times, lengths, _ = _streams(seed)
    drawn = _draw(shapes, count, lengths)
    arrivals = np.cumsum(times.exponential(size=count)) / rate
    return tuple(Request(at, *shape) for at, shape in zip(arrivals.tolist(), drawn, strict=True))


def modulated(rate: float, variation: float, window: float, count: int, shapes: Sequence[Shape],
              seed: int = 0) -> tuple[Request, ...]:
    """Independent users whose number changes: a rate of its own in every window of time.

    Rates are log-normal about their mean, and independent of each other.

    Args:
        rate: mean rate of arrivals [request/s].
        variation: standard deviation over mean of a window's rate [1].
        window: length of one [s].
        count: requests [request].
        shapes: lengths to draw from, each as likely as any other [token].
        seed: of the random numbers; of the same one arrivals are those of ``poisson``, stretched.

    Raises ValueError as ``poisson`` does, and for a variation or a window that is none.
    """
    if not (math.isfinite(variation) and variation >= 0 and window > 0):
        raise ValueError(f"a rate that varies by {variation} in windows of {window} s, expected 0 "
                         "or more in some time.")
    even = poisson(1.0, count, shapes, seed)
    sigma = math.sqrt(math.log1p(variation**2))
    draw = np.random.default_rng(np.random.SeedSequence(seed).spawn(4)[3])
    passed = [0.0]  # requests expected until the end of each window
    while passed[-1] < even[-1].arrival:
        busy = math.exp(sigma * draw.standard_normal() - sigma**2 / 2)
        passed.append(passed[-1] + rate * busy * window)
    times = np.interp([request.arrival for request in even], passed,
                      window * np.arange(len(passed)))
    return tuple(replace(request, arrival=at)
                 for request, at in zip(even, times.tolist(), strict=True))


def bursts(size: int, period: float, count: int, shapes: Sequence[Shape],
           seed: int = 0) -> tuple[Request, ...]:
    """Groups that ask at the same instant, the first at time zero.

    Args:
        size: requests of a group [request].
        period: from one group to the next [s].
        count: groups.
        shapes: lengths to draw from, each as likely as any other [token].
        seed: of the random numbers.

    Raises ValueError for a size, a period or a count that is not positive.
    """
    if size < 1 or not (math.isfinite(period) and period > 0):
        raise ValueError(f"{size} requests every {period} s, expected both positive.")
    drawn = _draw(shapes, size * count, _streams(seed)[1])
    return tuple(Request(number // size * period, *shape) for number, shape in enumerate(drawn))


@dataclass(frozen=True)
class Prefixes:
    """What requests begin with that others began with before them.

    Attributes:
        groups: prefixes, of which every conversation begins with one, each as likely [1].
        tokens: of a prefix; a prompt that is no longer is all prefix [token].
        turns: of a conversation: the next prompt is the one before, its answer, and as much as a
            prompt has besides the prefix [1].
        longest: of prompt and answer together; a turn that would be longer begins another
            conversation instead [token].

    Raises ValueError for counts below one, and for a negative number of tokens.
    """

    groups: int = 1
    tokens: int = 0
    turns: int = 1
    longest: float = math.inf

    def __post_init__(self) -> None:
        if min(self.groups, self.turns) < 1 or self.tokens < 0:
            raise ValueError(f"{self.groups} prefixes of {self.tokens} tokens and conversations of "
                             f"{self.turns} turns, expected a prefix and a turn, and no fewer "
                             "tokens than 0.")

    def conversation_tokens(self, prompt: int, answer: int) -> int:
        """Of the last turn's prompt and answer, if all have these lengths [token]."""
        return prompt + (self.turns - 1) * max(1, prompt - self.tokens) + self.turns * answer

    def drawn(self, count: int, seed: int) -> Iterator[tuple[int, int]]:
        """So many conversations in the order in which they begin: number and prefix."""
        return enumerate(_streams(seed)[2].integers(0, self.groups, count).tolist())


class Conversation:
    """What one user asks, turn by turn, and one conversation after another.

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
        self._said = self._prefix = self._number = self._group = 0

    def ask(self, arrival: float, shape: Shape) -> Request:
        """The next request, at a time [s], with a prompt and an answer of these lengths [token].

        Raises ValueError for a shape of which tokens are stated to be cached.
        """
        prompt, answer, cached = shape[0], shape[1], sum(shape[2:])
        new = max(1, prompt - self._prefixes.tokens)
        if (self._turns == self._prefixes.turns
                or self._said + new + answer > self._prefixes.longest):
            self._number, self._group = next(self._begun)
            self._turns, self._prefix = 0, min(self._prefixes.tokens, prompt)
            self._said, new = 0, prompt
        asked = self._said + new
        self._said, self._turns = asked + answer, self._turns + 1
        return Request(arrival, asked, answer, cached, texts=(
            ((self._group,), self._prefix), ((self._group, self._number), self._said)))


def sharing(requests: Sequence[Request], prefixes: Prefixes, seed: int = 0) -> tuple[Request, ...]:
    """The same requests, each the only turn of a conversation that begins with a prefix.

    Args:
        requests: of open arrivals, none of which waits for an answer.
        prefixes: with one turn.
        seed: of the random numbers.

    Raises ValueError for conversations of several turns, which need users who wait, and for
    requests of which tokens are stated to be cached.
    """
    if prefixes.turns > 1:
        raise ValueError(f"conversations of {prefixes.turns} turns, expected users who wait for "
                         "an answer.")
    user = Conversation(prefixes, prefixes.drawn(len(requests), seed))
    return tuple(user.ask(request.arrival, (
        request.input_tokens, request.output_tokens, request.cached_tokens))
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

    Raises ValueError for counts that are not positive and times that are negative.
    """

    users: int
    count: int
    shapes: Sequence[Shape]
    think_time: float = 0.0
    exponential: bool = False
    ramp: float = 0.0
    seed: int = 0
    prefixes: Prefixes | None = None

    def __post_init__(self) -> None:
        if self.users < 1 or self.count < self.users:
            raise ValueError(f"{self.users} users and {self.count} requests, expected at least one "
                             "user and one request for each.")
        for name in ("think_time", "ramp"):
            if not (math.isfinite(value := getattr(self, name)) and value >= 0):
                raise ValueError(f"{name} is {value} s, expected 0 or more.")

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
