"""What is told of a deployment in a line."""

import calc
from calc.answer.nearest import CHANGE_QUANTITIES
from calc.answer.steady_state import SEEN_OF_BURST


def told_of(scenario):
    """Room, and latency and throughput as the estimate has users see them, by name."""
    answer = calc.estimate(scenario)
    values = {name: float(answer.everything[name]) for name in CHANGE_QUANTITIES}
    seen = answer.seen
    return values | {symbol: seen.amounts()[name].value for name, symbol in SEEN_OF_BURST.items()
                     if seen}
