"""How many experts a rank of a table reads and how many rows it has, from the routing it states.

A table of experts says how its tokens were dealt: ``uniform`` at random; ``balanced``, every expert
in turn; ``power-law-x``, loads drawn from a power law of exponent x, of which the timed rank is the
fullest. Which loads were drawn is not said: the mean of a few draws stands for them.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calc.physics.experts import distinct_experts

POWER_LAW = "power-law-"
DRAWS, SEED = 6, 30
WHOLE, REST = (1.0, 0.8), (0.01, 2.0)  # least and most drawn: with more rows than experts, or not


class Met(NamedTuple):
    """What the timed rank has: experts that are hit [1], rows of all of them [token]."""

    experts: float
    rows: float


@functools.cache
def met(tokens: int, experts: int, chosen: int, ranks: int, skew: str) -> Met:
    """Experts that the timed rank of a table reads, and their rows.

    >>> met(1, 256, 8, 1, "balanced"), met(64, 256, 8, 8, "balanced")
    (Met(experts=8.0, rows=8.0), Met(experts=32.0, rows=64.0))

    Args:
        tokens: of all ranks together [token].
        experts: of a layer [1].
        chosen: per token [1].
        ranks: over which whole experts are spread [1].
        skew: as a table states it.

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
        loads = [_fullest(_drawn(rng, tokens, experts, chosen, float(skew.removeprefix(POWER_LAW))),
                          ranks) for _ in range(DRAWS)]
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
    """Rows of every expert where loads are drawn from a power law and rounded to the total."""
    total = tokens * chosen
    least, most = (WHOLE[0], WHOLE[1] * tokens) if total > experts else REST
    power = 1 - exponent
    drawn = ((most**power - least**power) * rng.random(experts) + least**power) ** (1 / power)
    rows = np.round(drawn / drawn.sum() * total).astype(int)
    order = np.argsort(-rows)
    for turn in range(abs(missing := total - int(rows.sum()))):
        if missing > 0:
            rows[order[turn % experts]] += 1
        else:
            rows[order[np.count_nonzero(rows) - 1 - turn % np.count_nonzero(rows)]] -= 1
    return np.minimum(np.maximum(rows, 0), tokens)


def _fullest(rows: NDArray[np.int64], ranks: int) -> NDArray[np.int64]:
    """The experts of the rank with most rows."""
    by_rank = rows.reshape(ranks, -1)
    return np.asarray(by_rank[by_rank.sum(axis=1).argmax()])
