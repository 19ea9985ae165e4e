"""Owning against a service that sells tokens: from which utilisation the cards are cheaper."""

from __future__ import annotations

import numpy as np

from calc.costing.cost import price_of_request
from calc.sensitivity.breakeven import BreakEven, solve
from calc.sensitivity.plans import Plan
from calc.sensitivity.probability import DRAWS, LEAST, Doubt
from calc.sensitivity.sampling import priors, sample_quantity, scores_of
from calc.uncertainty import TAIL, Amount
from catalogue import ParamsError
from catalogue.deployments.physics_inputs import Knob
from catalogue.planning.prices import Prices
from catalogue.reading.values import Value

LEAST_USED = 1e-3  # share of a deployment's throughput, from which on it is searched
REACHED = "output_throughput"


def utilisation(plan: Plan, hour: Amount, service: Prices) -> tuple[BreakEven, Doubt]:
    """The share of a deployment's throughput from which it is cheaper than a service.

    The first plan of the answer is the deployment, whose cards are paid busy or not; the second is
    the service, which is paid by the token.

    Args:
        plan: the deployment.
        hour: what one of its cards costs by the time, everything included [money/s].
        service: prices of its tokens, whose first list that holds today is taken.

    Raises ParamsError for a deployment without prompts, a service that sells no tokens, and prices
    in two currencies.
    """
    if plan.scenario.file.workload.output_tokens is None:
        raise ParamsError(f"--breakeven utilisation: '{plan.scenario.id}' states no length of "
                          "prompts, which a service is paid for.")
    sold = service.current
    if sold is None:
        raise ParamsError(f"--against {service.id}: it sells no tokens, expected prices of a "
                          "service.")
    if sold.output.unit.partition("/")[0] != hour.currency:
        raise ParamsError(f"--price: in {hour.currency}, but '{service.id}' sells in "
                          f"{sold.output.unit.partition('/')[0]}.")
    answer = plan.inputs["output_tokens"]
    request = price_of_request(plan.inputs, sold, service, hour.currency)

    def even(rate: np.ndarray, price: np.ndarray) -> np.ndarray:
        """Utilisation at which a request costs the same [1]."""
        return np.asarray(plan.cards * price / (rate / answer * request))

    central = float(even(plan.at({}, REACHED), np.array([hour.value]))[0])
    found = solve(lambda used: np.log(central / used), LEAST_USED, 1.0)
    moved = priors([plan], REACHED)
    scores = scores_of(len(moved.names) + 1, DRAWS)
    rates = sample_quantity(plan, moved.knobs[0], moved.own[0], scores, REACHED)
    price = Knob("hour", Value(hour.value, hour.unit, "", hour.source, hour.kind, hour.low,
                               hour.high), ())
    at = even(rates, price.at(scores[:, -1]))
    crossing = at[at <= 1]
    low, high = (map(float, np.quantile(crossing, [TAIL, 1 - TAIL])) if len(crossing) >= LEAST
                 else (None, None))
    return found, Doubt(low, high, 0.0, float((at > 1).mean()), DRAWS)
