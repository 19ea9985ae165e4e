"""How many experts a rank of a table reads and how many rows it has, from the routing it states.

A table of experts says how its tokens were dealt: ``uniform`` at random; ``balanced``, every expert
in turn; ``power-law-x``, loads drawn from a power law of exponent x, of which the timed rank is the
fullest. Which loads were drawn is not said: the mean of a few draws stands for them. With few
tokens nearly all drawn loads round to nothing, and what decides is to whom the collector then dealt
the missing rows. It has done so in three ways, as the history of its file says, and times of one
token follow it: today rank by rank, so that all ranks have as many; before, all to one rank.
"""

from __future__ import annotations

import functools
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calc.physics.experts import distinct_experts
from catalogue.entries.profiles import in_order

POWER_LAW = "power-law-"
DRAWS, SEED = 6, 30
WHOLE, REST = (1.0, 0.8), (0.01, 2.0)  # least and most drawn: with more rows than experts, or not
# to whom rows go that rounding leaves over: to ranks in turn, of each to the expert with fewest;
# to experts in turn, from those with fewest or from those with most
Dealing = Literal["ranks", "fewest", "most"]
# last release of an engine whose tables were collected before 2026-02-10 (commit 2b97693f), and
# before 2026-04-19 (13dadba3b): by the packages that first had them, and by whether one token takes
# longer where its experts were drawn than where they were dealt in turn
BEFORE: dict[str, tuple[tuple[str, Dealing], ...]] = {
    "tensorrt-llm": (("1.2.0", "most"), ("1.3.0rc10", "fewest")),
    "vllm": (("0.12.0", "most"), ("0.17.0", "fewest")),
    "sglang": (("0.5.6.post2", "most"), ("0.5.9", "fewest"))}


class Met(NamedTuple):
    """What the timed rank has: experts that are hit [1], rows of all of them [token]."""

    experts: float
    rows: float


def dealing(engine: str) -> Dealing:
    """How the collector of a release dealt the rows that rounding left over.

    >>> dealing("vllm@0.14.0"), dealing("vllm@0.19.0")
    ('fewest', 'ranks')

    Args:
        engine: with its release, as a table names it.
    """
    name, _, release = engine.partition("@")
    for last, dealt in BEFORE.get(name, ()):
        if in_order(release) <= in_order(last):
            return dealt
    return "ranks"


@functools.cache
def met(tokens: int, experts: int, chosen: int, ranks: int, skew: str, left: Dealing = "ranks"
        ) -> Met:
    """Experts that the timed rank of a table reads, and their rows.

    >>> met(1, 256, 8, 1, "balanced"), met(64, 256, 8, 8, "balanced")
    (Met(experts=8.0, rows=8.0), Met(experts=32.0, rows=64.0))
    >>> met(1, 256, 8, 8, "power-law-1.2"), met(1, 256, 8, 8, "power-law-1.2", "fewest")
    (Met(experts=1.0, rows=1.0), Met(experts=8.0, rows=8.0))

    Args:
        tokens: of all ranks together [token].
        experts: of a layer [1].
        chosen: per token [1].
        ranks: over which whole experts are spread [1].
        skew: as a table states it.
        left: to whom rows went that rounding left over.

    Raises ValueError for a routing that is not known.

    Source: the collectors of the tables, github.com/ai-dynamo/aiconfigurator, collector/helper.py.
    """
    if skew == "uniform":
        share = float(distinct_experts(experts, chosen, tokens)) / ranks
        return Met(share, tokens * chosen / ranks)
    if skew == "balanced":
        loads = [_in_turn(tokens, experts, chosen)[: experts // ranks]]
    elif skew.startswith(POWER_LAW):
        rng = np.random.default_rng(SEED)
        exponent = float(skew.removeprefix(POWER_LAW))
        loads = [_fullest(_dealt(_drawn(rng, tokens, experts, chosen, exponent), tokens,
                                 tokens * chosen, ranks, left), ranks) for _ in range(DRAWS)]
    else:
        raise ValueError(f"there is no routing '{skew[:40]}', expected uniform, balanced or "
                         f"{POWER_LAW}1.2")
    return Met(float(np.mean([np.count_nonzero(load) for load in loads])),
               float(np.mean([load.sum() for load in loads])))


def _in_turn(tokens: int, experts: int, chosen: int) -> NDArray[np.int64]:
    """Rows of every expert where each is chosen in turn."""
    stride = -(-experts // chosen)
    step = 1.0 if tokens >= stride else stride / tokens
    taken = (np.arange(tokens)[:, None] * step + np.arange(chosen) * stride) % experts
    return np.bincount(taken.astype(int).ravel(), minlength=experts)


def _drawn(rng: np.random.Generator, tokens: int, experts: int, chosen: int, exponent: float
           ) -> NDArray[np.int64]:
    """Rows of every expert where loads are drawn from a power law, rounded, none above all."""
    total = tokens * chosen
    least, most = (WHOLE[0], WHOLE[1] * tokens) if total > experts else REST
    power = 1 - exponent
    drawn = ((most**power - least**power) * rng.random(experts) + least**power) ** (1 / power)
    return np.minimum(np.round(drawn / drawn.sum() * total).astype(int), tokens)


def _dealt(rows: NDArray[np.int64], tokens: int, total: int, ranks: int, left: Dealing
           ) -> NDArray[np.int64]:
    """Rows of every expert, all of them dealt: one after another is given more, or has less."""
    missing = total - int(rows.sum())
    step, turn = int(np.sign(missing)), 0
    order = np.argsort(-rows, kind="stable")
    # what is too much was taken from those with fewest, whoever was given more
    order = order if left == "most" and step > 0 else order[::-1]
    by_rank = rows.reshape(ranks, -1)
    while missing:
        if left == "ranks":
            own = by_rank[turn % ranks]
            at = own.argmin() if step > 0 else own.argmax()
        else:
            own, at = rows, order[turn % len(order)]
            at = rows.argmax() if step < 0 and not rows[at] else at
        turn += 1
        if 0 <= own[at] + step <= tokens:  # no token chooses an expert twice
            own[at] += step
            missing -= step
    return rows


def _fullest(rows: NDArray[np.int64], ranks: int) -> NDArray[np.int64]:
    """The experts of the rank with most rows."""
    by_rank = rows.reshape(ranks, -1)
    return np.asarray(by_rank[by_rank.sum(axis=1).argmax()])
