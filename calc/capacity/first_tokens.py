"""How long first tokens take on a rank under independent arrivals, as a chain of its steps.

Each step takes what has come before it, as far as its tokens go; what comes meanwhile waits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STATES = 128  # amounts of tokens that may wait
PARTS = 4  # of a mean prompt, that such an amount is
PARTS_OF_A_STEP = 2  # at least, where a prompt takes several steps
MOMENTS = 4  # of the step under way, at which a prompt comes


@dataclass(frozen=True)
class Steps:
    """Steps of one rank, times [s].

    Attributes:
        pace: of a step without prompts.
        alone: of one with ``of_one`` tokens of prompts [token].
        token: that each further token adds [s/token].
        least: of one with prompts.
        budget: tokens of prompts in a step at most [token].
        outside: of a first token's time, what is none of the rank's steps.
    """

    pace: float
    alone: float
    of_one: float
    token: float
    least: float
    budget: float
    outside: float


def _sums(transform: np.ndarray) -> np.ndarray:
    """Distributions of sums of amounts by their transforms; the last is that or more [1]."""
    found = np.maximum(np.fft.irfft(transform, 2 * STATES)[..., :STATES], 0)
    found[..., -1] += np.maximum(0, 1 - found.sum(axis=-1))
    return found


def _waiting(arriving: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Share of the steps that begin with each amount waiting [1]."""
    come = np.arange(STATES) - left[:, None]
    moves = np.where(come < 0, 0.0, np.take_along_axis(arriving, np.maximum(0, come), axis=1))
    moves[:, -1] += 1 - moves.sum(axis=1)
    equations = moves.T - np.eye(STATES)
    equations[-1] = 1
    shares = np.maximum(0, np.linalg.solve(equations, np.eye(STATES)[-1]))
    return np.asarray(shares / shares.sum())


def first_tokens(rate: float, prompts: np.ndarray, steps: Steps) -> tuple[np.ndarray, np.ndarray]:
    """Times of first tokens [s], ascending, and how likely each of them is [1].

    A prompt comes at a random moment; it stays for what is left of the step under way and for the
    steps that what waits before it and itself take, the last of them with those that came after.

    Args:
        rate: of independent arrivals at this rank [request/s].
        prompts: new tokens of prompts, each as likely [token], shape (n,).
        steps: of the rank.

    Source: notebooks/day.md, section The slowest in a hundred.
    """
    part = min(prompts.mean() / PARTS, steps.budget / PARTS_OF_A_STEP)
    room = round(steps.budget / part)
    own = np.clip(np.round(prompts / part), 1, STATES - 1).astype(int)
    jump = np.bincount(own, minlength=STATES) / own.size
    amounts = np.arange(STATES)

    def time(amount: np.ndarray) -> np.ndarray:
        tokens = np.minimum(amount, room) * part
        return np.maximum(steps.least, steps.alone + steps.token * (tokens - steps.of_one))

    lengths, left = np.where(amounts > 0, time(amounts), steps.pace), np.maximum(0, amounts - room)
    # of a Poisson number of prompts in a part of a step; what comes in several parts multiplies
    one = np.fft.rfft(jump, 2 * STATES)
    powers = [np.exp((rate / (2 * MOMENTS) * lengths)[:, None] * (one - 1))]
    for _ in range(2 * MOMENTS - 1):
        powers.append(powers[-1] * powers[0])
    shares = _waiting(_sums(powers[-1]), left) * lengths
    shares /= shares.sum()  # of the time, as who comes at random sees it
    rest = lengths[:, None] * (np.arange(MOMENTS) + 0.5) / MOMENTS
    before = _sums(np.stack(powers[-2::-2], axis=1))
    with_own = np.fft.irfft(np.fft.rfft(before, 2 * STATES) * one)
    ahead = left[:, None, None] + amounts
    taken = np.maximum(1, -(-ahead // room))
    full = time(np.array(room))
    after = rate * np.where(taken == 1, rest[..., None], full) * (jump @ amounts)
    stay = rest[..., None] + (taken - 1) * full + time(ahead - (taken - 1) * room + after)
    likely = shares[:, None, None] * np.maximum(0, with_own[..., :STATES]) / MOMENTS
    order = np.argsort(stay, axis=None, kind="stable")  # runs that ascend already are merged
    return (steps.outside + stay.ravel()[order], likely.ravel()[order] / likely.sum())
