"""How much a deployment can take: saturation throughput, and whether a queue has a bound."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calc.serving.arrivals import Shape, bursts, poisson
from calc.serving.requests import Run
from calc.serving.simulation import Pool, simulate

WAVES = 10
MOST_RUNS = 5
PRECISION = 0.02  # of the rate, relative


def saturation_rate(pool: Pool, shapes: Sequence[Shape], decode: Pool | None = None,
                    waves: int = WAVES, rate: float | None = None) -> float:
    """Requests per second that come out while there are always more waiting [request/s].

    Ten times as many requests as the replicas take into work arrive at once; counted is from the
    end of the third wave to that of the ninth, of fewer waves likewise but for the last. At a lower
    rate of arrivals the queue stays bounded, at a higher one it grows without end. That is proved
    for systems that an additional request never speeds up.

    Args:
        pool: replicas that serve, or that prefill.
        shapes: lengths to draw from, each as likely as any other [token].
        decode: replicas that decode.
        waves: requests over those that are taken into work [1].
        rate: of arrivals, above what comes out, instead of all at once [request/s]: ranks that step
            together would all be at the same point of their requests, and stay there.

    Raises ValueError as ``calc.serving.simulation.simulate`` does, and if steps take no time.

    Source: saturation rule, Baccelli and Foss 1995, https://inria.hal.science/inria-00074656.
    """
    at_once = max(part.replicas * part.limits.max_num_seqs for part in (pool, decode) if part)
    count = waves * at_once
    asked = bursts(count, 1.0, 1, shapes) if rate is None else poisson(rate, count, shapes)
    run = simulate(asked, pool, decode)
    ends = np.sort([outcome.finished for outcome in run.outcomes])
    first, last = 3 * count // 10, count - at_once
    begin, end = ends[max(first, 1) - 1], ends[last - 1]
    if end <= begin:
        raise ValueError("all steps take no time, so nothing saturates.")
    return float((last - max(first, 1)) / (end - begin))


def saturation_of_ranks(pool: Pool, shapes: Sequence[Shape], ceiling: float, waves: int = WAVES
                        ) -> float:
    """Rate of Poisson arrivals up to which ranks that step together keep up [request/s].

    Ranks that all have a queue from the beginning prefill at the same times and go on doing so,
    which is the best that can happen to them; arrivals at random spread their prefills. So the rate
    is lowered from the best case until what comes out is what goes in: to about a tenth, rather too
    much, as runs are not long enough to lose all memory of their beginning.

    Args:
        pool: one or several groups of ranks.
        shapes: lengths to draw from, each as likely as any other [token].
        ceiling: a rate that is too high, or just reached [request/s].
        waves: requests of a run over those that are taken into work [1].

    Raises ValueError as ``saturation_rate`` does.
    """
    rate, found = ceiling, 0.0
    for _ in range(MOST_RUNS):
        found = saturation_rate(pool, shapes, waves=waves, rate=rate)
        if found > rate * (1 - PRECISION):
            return rate
        rate = found * found / rate  # further down: a run begins with all ranks at the same point
    return found


def keeps_up(run: Run, growth: float = 0.02) -> bool:
    """Whether requests stopped taking ever longer before the arrivals stopped.

    Compares those that arrived in the last fifth of the time of arrivals with those of the third
    fifth: by Little's law their number in the system grows as they wait longer for their first
    token and, for as many tokens, for the others. What grows at a rate of more than ``growth``
    of the arrivals is a queue without bound. The number itself tells less: from an empty system it
    grows as long as the longest requests of the first moments are still there, and by chance.

    Args:
        run: of open arrivals, many more than are in the system at once.
        growth: of the arrivals that may pile up [1].
    """
    arrivals, firsts, ends, tokens = (np.array([getattr(outcome, name) for outcome in run.outcomes])
                                      for name in ("arrival", "first_token", "finished",
                                                   "output_tokens"))
    fifths = np.linspace(arrivals.min(), arrivals.max(), 6)
    of_each = tokens.mean() - 1

    def taken(begin: float, end: float) -> float:
        """A request of mean length that arrives between, in the system [s]."""
        some = (arrivals >= begin) & (arrivals <= end)
        after = max(1, tokens[some].sum() - some.sum())
        return float((firsts - arrivals)[some].mean()
                     + of_each * (ends - firsts)[some].sum() / after)

    rate = len(arrivals) / (fifths[5] - fifths[0])
    piled_up = rate * (taken(fifths[4], fifths[5]) - taken(fifths[2], fifths[3]))
    return bool(piled_up <= growth * 0.4 * len(arrivals))
