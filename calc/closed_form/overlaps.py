"""Ranks that take their steps together, and prompts that come to them at random: how many are in
work at once, and how long decoding takes among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calc.physics.arrays import Number, anywhere, clip, maximum, minimum, scaled

LEAST = 8.0**-9  # prompts in work at once
MOST = 4.0**2  # of them; beyond, no step without any is left
REFINED = 2  # times, by Newton's method


@dataclass(frozen=True)
class Among:
    """Decoding among others, whose prompts come at random.

    Attributes:
        own: decode steps of an answer without anybody's prompt [s].
        first: until its first token [s].
        load: of the steps for the prompts of all others [s].
        chunks: of a prompt [1].
        begun: what is left of those in work when decoding begins [s].
        rest: a decode step over one with prompts [1].
        pausing: of the steps at most, those that prompts of one's own rank take from it [1].
    """

    own: Number
    first: Number
    load: Number
    chunks: Number
    begun: Number
    rest: Number
    pausing: Number

    @cached_property
    def most(self) -> Number:
        """Time of as many steps as :attr:`own`, all of them with prompts [s]."""
        return self.own / self.rest

    @cached_property
    def stalls(self) -> Number:
        """Share of a step with prompts by which it is longer than a decode step [1]."""
        return 1 - self.rest


def product_log(x: Number) -> Number:
    """Lambert's W, whose product with its exponential is x, to 2%; of x >= 0 [1].

    Args:
        x: argument [1].

    Source: Winitzki, Uniform approximations for transcendental functions, ICCSA 2003, LNCS 2667.
    """
    above = np.log1p(x)
    return above * (1 - np.log1p(above) / (2 + above))


def _decoding(a: Among, rho: Number) -> tuple[Number, Callable[[], Number]]:
    """Time from first to last token [s], and what tells by what share it grows with ρ [1]."""
    new, grown = rho / a.chunks, np.expm1(rho)
    last = -np.expm1(-new)
    runs = new * grown / last
    without = 1 / (1 + runs)
    busy = runs * without
    left = 1 - a.stalls * busy
    through = a.begun / left
    met = busy * through * a.most / (through + a.most) * (1 - a.rest / left)
    decoding = a.own / left
    if anywhere(a.pausing > 0):
        decoding = decoding / (1 - minimum(a.pausing, runs / (runs + 1 / a.rest)))
    return decoding + met, lambda: busy * without * a.stalls / left * (
        1 + rho + rho / grown - new * (1 - last) / last)


def overlapping(a: Among) -> tuple[Number, Number, Number]:
    """Prompts in work at once ρ, if none were kept waiting: about, nearer, and near enough [1].

    ρ (τ_1 + τ_D(ρ)) is the load of all others: they come once in such a time. It begins where
    either part alone would be, ρ e^ρ where decoding is the larger one.

    Args:
        a: decoding among prompts that come at random.

    Source: notebooks/serving.md, section A steady state.
    """
    least = maximum(LEAST, a.load / a.first)
    load = least * a.first
    ratio = scaled(load, 1 - a.pausing) / a.own
    found = [minimum(MOST, 1 / (1 / least + 1 / maximum(
        product_log(ratio), ratio * a.rest)))]
    for _ in range(REFINED):
        rho = found[-1]
        after, share = _decoding(a, rho)
        whole = a.first + after
        nearer = rho * (load / (rho * whole)) ** (whole / (whole + share() * after))
        found.append(clip(nearer, LEAST, MOST))
    about, near, enough = found
    return about, near, enough


def decoding_among(a: Among, rho: Number) -> Number:
    """Time from first to last token among prompts that come at random [s].

    Steps without a pause have prompts of m chunks, ρ/m of them new in each: until m steps in a row
    had no new one, (e^ρ - 1) / (1 - e^(-ρ/m)) steps, and then none for the time in which one comes.
    So the share ρ/m times that, over one more, of the time passes in such steps. What is in work
    when decoding begins goes on for as long as a run, in which few tokens come.

    Args:
        a: decoding among prompts that come at random.
        rho: prompts in work at once, ρ [1].

    Source: notebooks/serving.md, section A steady state.
    """
    return _decoding(a, rho)[0]
