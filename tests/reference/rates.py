"""The largest rate that a simulated deployment takes, by bisection of the rate."""

from collections.abc import Callable, Sequence

from calc.serving.requests import Request, Run
from calc.serving.saturation import keeps_up
from calc.serving.simulation import Pool, simulate


def largest_rate(arrivals: Callable[[float], Sequence[Request]], pool: Pool, low: float,
                 high: float, accept: Callable[[Run], bool] = keeps_up,
                 precision: float = 0.01) -> float:
    """Largest rate of arrivals whose run is accepted, by bisection [request/s].

    Args:
        arrivals: gives the requests at a rate [request/s], of the same seed for every rate, so that
            a larger rate is never easier.
        pool: replicas that serve.
        low: a rate that is accepted [request/s].
        high: a rate that is not [request/s].
        accept: condition on a run; without, that the queue is bounded (``keeps_up``).
        precision: of the rate, relative [1].

    Raises ValueError if ``low`` is not accepted or ``high`` is, and as ``simulate`` does.
    """
    def accepted(rate: float) -> bool:
        return accept(simulate(arrivals(rate), pool))

    if not (0 < low < high) or not accepted(low) or accepted(high):
        raise ValueError(f"the largest rate is not between {low:.4g} and {high:.4g} request/s, "
                         "expected the lower one to be accepted and the higher one not.")
    while high > low * (1 + precision):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if accepted(middle) else (low, middle)
    return low
