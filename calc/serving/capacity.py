"""How much a deployment can take: saturation throughput, and the largest rate within a limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from calc.serving.arrivals import Shape, bursts
from calc.serving.metrics import Objective, covered, summarise
from calc.serving.requests import Request
from calc.serving.simulation import Pool, Run, Transfer, simulate

WAVES = 10


def saturation_rate(pool: Pool, shapes: Sequence[Shape], decode: Pool | None = None,
                    transfer: Transfer | None = None, seed: int = 0) -> float:
    """Requests per second that come out while there are always more waiting [request/s].

    Ten times as many requests as the replicas take into work arrive at once; counted is from the
    end of the third wave to that of the ninth. At a lower rate of arrivals the queue stays
    bounded, at a higher one it grows without end. That is proved for systems that an additional
    request never speeds up; ``largest_rate`` finds the same without it.

    Args:
        pool: replicas that serve, or that prefill.
        shapes: lengths to draw from, each as likely as any other [token].
        decode: replicas that decode.
        transfer: of the cache between the pools.
        seed: of the random numbers.

    Raises ValueError as ``calc.serving.simulation.simulate`` does, and if steps take no time.

    Source: saturation rule, Baccelli and Foss 1995, https://inria.hal.science/inria-00074656.
    """
    at_once = max(part.replicas * part.limits.max_num_seqs for part in (pool, decode) if part)
    run = simulate(bursts(WAVES * at_once, 1.0, 1, shapes, seed), pool, decode, transfer)
    ends = np.sort([outcome.finished for outcome in run.outcomes])
    begin, end = ends[3 * at_once - 1], ends[9 * at_once - 1]
    if end <= begin:
        raise ValueError("all steps take no time, so nothing saturates.")
    return float(6 * at_once / (end - begin))


def keeps_up(run: Run, growth: float = 0.02) -> bool:
    """Whether the requests in the system stopped growing before the arrivals did.

    Compares their mean number over the last fifth of the time of arrivals with that over the third
    fifth: what grows at a rate of more than ``growth`` of the arrivals is a queue without bound.
    Of n Poisson arrivals, chance lets a share of about 1.6 / √n pile up or go missing.

    Args:
        run: of open arrivals, many more than are in the system at once.
        growth: of the arrivals that may pile up [1].
    """
    arrivals, ends = (np.array([getattr(outcome, name) for outcome in run.outcomes])
                      for name in ("arrival", "finished"))
    fifths = np.linspace(arrivals.min(), arrivals.max(), 6)
    earlier, later = (covered(arrivals, ends, begin, end) / (end - begin)
                      for begin, end in ((fifths[2], fifths[3]), (fifths[4], fifths[5])))
    return bool(later - earlier <= growth * 0.4 * len(arrivals))


def within(objective: Objective, share: float = 0.99) -> Callable[[Run], bool]:
    """Whether so large a share of the requests of a run meets an objective, as a condition.

    Args:
        objective: times that a request may take at most [s].
        share: of the requests [1].
    """
    return lambda run: summarise(run, objective=objective).good >= share


def largest_rate(arrivals: Callable[[float], Sequence[Request]], pool: Pool, low: float,
                 high: float, decode: Pool | None = None, transfer: Transfer | None = None,
                 accept: Callable[[Run], bool] = keeps_up, precision: float = 0.01) -> float:
    """Largest rate of arrivals whose run is accepted, by bisection [request/s].

    >>> from calc.serving.requests import Limits
    >>> from calc.serving.arrivals import poisson
    >>> one_by_one = Pool(Limits(max_num_batched_tokens=100, max_num_seqs=1), lambda step: 0.1)
    >>> def arrivals(rate):
    ...     return poisson(rate, count=1000, shapes=[(100, 1)])
    >>> round(largest_rate(arrivals, one_by_one, 1, 20, precision=0.05))
    10

    Args:
        arrivals: gives the requests at a rate [request/s], of the same seed for every rate, so that
            a larger rate is never easier.
        pool: replicas that serve, or that prefill.
        low: a rate that is accepted [request/s].
        high: a rate that is not [request/s].
        decode: replicas that decode.
        transfer: of the cache between the pools.
        accept: condition on a run; without, that the queue is bounded (``keeps_up``).
        precision: of the rate, relative [1].

    Raises ValueError if ``low`` is not accepted or ``high`` is, and as ``simulate`` does.
    """
    def accepted(rate: float) -> bool:
        return accept(simulate(arrivals(rate), pool, decode, transfer))

    if not (0 < low < high) or not accepted(low) or accepted(high):
        raise ValueError(f"the largest rate is not between {low:.4g} and {high:.4g} request/s, "
                         "expected the lower one to be accepted and the higher one not.")
    while high > low * (1 + precision):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if accepted(middle) else (low, middle)
    return low
