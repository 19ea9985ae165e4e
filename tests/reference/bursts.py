"""Equal prompts that arrive together and are packed into chunks: their mean time to first token.

Every chunk is full until the prompts run out, so the k-th of c prompts of n tokens ends in chunk
⌈k n / m⌉ of m tokens. The rule (c + 1)/2 times the prefill of one prompt is the special case that a
prompt fills its chunks; short prompts share a chunk, and all of it has to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import numpy as np

from calc.physics.arrays import Number, ceil_div
from calc.serving.requests import Policy


def floor_sum(count: Number, divisor: Number, slope: Number, offset: Number) -> Number:
    """Sum of ⌊(slope i + offset) / divisor⌋ over i = 0 … count - 1, exactly [1].

    The lattice points under a line, by Euclid's algorithm: the number of rounds grows like the
    logarithm of the divisor, whatever the count.

    >>> int(floor_sum(4, 10, 6, 3))  # 0 + 0 + 1 + 2
    3

    Args:
        count: of terms, not negative [1].
        divisor: positive [1].
        slope: not negative [1].
        offset: not negative [1].

    Source: whole parts of slope and offset summed, then divisor and slope change places.
    """
    n, m, a, b = (np.array(part) for part in np.broadcast_arrays(
        *(np.asarray(value, dtype=np.int64) for value in (count, divisor, slope, offset))))
    total = np.zeros_like(n)
    while True:
        total += n * (n - 1) // 2 * (a // m) + n * (b // m)
        top = a % m * n + b % m
        if not (top >= m).any():
            return total[()]
        n, m, a, b = (np.where(top >= m, value, done) for value, done in (
            (top // m, 0), (a % m, 1), (m, 0), (top % m, 0)))


def burst_ttft(c: Number, input_tokens: Number, chunk: Number, t0: Number, t1: Number,
               gap: Number = 0.0, output_tokens: Number = 1,
               policy: Policy = "prefill-first") -> Number:
    """Mean time to first token of ``c`` equal requests that arrive together at an idle engine [s].

    A step of B tokens takes gap + t0 + t1 B. Decoding pauses under ``prefill-first``; under
    ``mixed`` those that have their first token decode in the same steps, so that less of the chunk
    is left for prompts. All c requests are in work at once and the cache holds them.

    >>> float(burst_ttft(8, 1024, 8192, 0, 1 / 8192))  # all in one chunk
    1.0
    >>> float(burst_ttft(8, 8192, 8192, 0, 1 / 8192))  # a chunk each: (c + 1)/2
    4.5

    Args:
        c: requests [request].
        input_tokens: of each prompt [token].
        chunk: tokens of a step at most [token].
        t0: time of a step whatever its size [s].
        t1: time per token of a step [s/token].
        gap: of the host before each step [s].
        output_tokens: of each request [token].
        policy: ``prefill-first`` or ``mixed``.

    Raises ValueError for an unknown policy, for counts below 1, and under ``mixed`` if more
    requests decode than a step has tokens.

    Source: packing as described at the top; the scheduler gives the same, step by step.
    """
    if policy not in get_args(Policy):
        raise ValueError(f"there is no policy '{policy}', expected one of: "
                         f"{', '.join(get_args(Policy))}.")
    counts = [np.asarray(value, dtype=np.int64)
              for value in (c, input_tokens, chunk, output_tokens)]
    if any((value < 1).any() for value in counts):
        raise ValueError("requests, lengths and chunk are counts, expected at least 1 of each.")
    if policy == "mixed" and (counts[3] > 1).any():
        return _mixed(np.broadcast_arrays(*counts), gap + t0, t1)
    c, n, m, _ = counts
    last = ceil_div(c * n, m)
    chunks_waited = floor_sum(c, m, n, n + m - 1)  # ⌈k n / m⌉ over k = 1 … c
    in_the_last = c - (last - 1) * m // n
    unused = last * m - c * n
    return ((gap + t0 + t1 * m) * chunks_waited - t1 * unused * in_the_last) / c


def _mixed(counts: Sequence[Number], t0: Number, t1: Number) -> Number:
    """Mean time to first token with decoding in the same steps [s]; shapes are broadcast.

    After step j, F(j) prompts are done; in step j those decode that got their first token in one of
    the o - 1 steps before: F(j - 1) - F(j - o).
    """
    c, n, m, o = counts
    if (c > m).any():
        raise ValueError("more requests decode than a step has tokens: the chunk has to hold "
                         "at least one token of each request.")
    shape = np.broadcast_shapes(c.shape, np.shape(t0), np.shape(t1))
    clock, total = np.zeros(shape), np.zeros(shape)
    filled = np.zeros(c.shape, dtype=np.int64)
    done = np.zeros((2, *c.shape), dtype=np.int64)  # F by step, grown as needed
    step = 0
    while (filled < c * n).any():
        step += 1
        if step == len(done):
            done = np.concatenate([done, np.zeros_like(done)])
        before = np.maximum(step - o, 0)[None]
        decoding = done[step - 1] - np.take_along_axis(done, before, 0)[0]
        new = np.minimum(m - decoding, c * n - filled)
        filled = filled + new
        clock = clock + t0 + t1 * (new + decoding)
        done[step] = filled // n
        total = total + (done[step] - done[step - 1]) * clock
    return (total / c)[()]
