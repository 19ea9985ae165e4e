"""Ways of having cards under a load that changes by the hour, and an API instead of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calc.physics.arrays import Number


def units_needed(rates: Sequence[float] | np.ndarray, one: float) -> np.ndarray:
    """Deployments that each hour needs [1], whole ones.

    >>> units_needed([1.0, 4.0, 9.0], 4.0).tolist()
    [1.0, 1.0, 3.0]

    Args:
        rates: of each hour [request/s].
        one: that one deployment serves [request/s].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    return np.maximum(0.0, np.ceil(np.asarray(rates, float) / one - 1e-12))


def utilisation(rates: Sequence[float] | np.ndarray, one: float, units: float) -> float:
    """Share of what is paid for that a day uses, where so many deployments are paid all day [1].

    >>> utilisation([1.0, 3.0], 4.0, 1)
    0.5

    Args:
        rates: of each hour [request/s]; what exceeds all deployments is not served.
        one: that one deployment serves [request/s].
        units: deployments [1].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    most = one * units
    return float(np.minimum(np.asarray(rates, float), most).mean() / most) if most else 0.0


def best_base(needed: np.ndarray, always: float, by_hour: float) -> int:
    """Deployments to have all the time, where more can be rented by the hour [1].

    One more pays as long as it is needed for a larger share of the hours than its price is of the
    price by the hour: the newsvendor's fractile.

    >>> best_base(np.array([1, 1, 2, 3]), 1.0, 2.5)
    2

    Args:
        needed: deployments that each hour needs [1].
        always, by_hour: prices of one, all the time and by the hour [money/s].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    # the share only changes where some hour needs as many
    worth = [count for count in np.unique(needed)
             if count > 0 and by_hour * (needed >= count).mean() > always]
    return int(max(worth, default=0))


def ways(needed: np.ndarray, own: float | None, always: float | None, by_hour: float | None
         ) -> dict[str, float]:
    """What an hour costs on average by way of having the cards [money/s].

    >>> costs = ways(np.array([1, 3]), own=1.0, always=1.5, by_hour=2.5)
    >>> costs["own"], costs["rent-by-hour"], costs["own and by the hour"]
    (3.0, 5.0, 3.0)

    Args:
        needed: deployments that each hour needs [1].
        own, always, by_hour: prices of one deployment [money/s]; None where nobody states one.

    Returns those ways whose prices are known: each alone, for the busiest hour or, by the hour, for
    what each needs; and the cheapest base of either that is paid all the time with the rest by the
    hour.

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    found: dict[str, float] = {}
    for name, price in (("own", own), ("rent-always", always)):
        if price is not None:
            found[name] = price * float(needed.max())
    if by_hour is not None:
        found["rent-by-hour"] = by_hour * float(needed.mean())
    for name, price in (("own and by the hour", own), ("rent and by the hour", always)):
        if price is not None and by_hour is not None:
            base = best_base(needed, price, by_hour)
            found[name] = float(price * base + by_hour * np.maximum(needed - base, 0).mean())
    return found


def crossover_of_ways(always: Number, by_hour: Number) -> Number:
    """Share of the hours beyond which having a card all the time is cheaper [1].

    Above 1 it never is.

    Args:
        always, by_hour: prices of a card [money/s].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    return always / by_hour


def api_request(input_price: Number, output_price: Number, input_tokens: Number,
                output_tokens: Number, cached_share: Number = 0.0,
                cached_price: Number | None = None) -> Number:
    """What a service takes for a request [money].

    Args:
        input_price, output_price, cached_price: of a token [money/token].
        input_tokens, output_tokens: of a request [token].
        cached_share: of its prompt that the service finds in its cache [1].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    found = input_price if cached_price is None else cached_price
    per_input = (1 - cached_share) * input_price + cached_share * found
    return per_input * input_tokens + output_price * output_tokens


def crossover_utilisation(per_second: Number, requests: Number, api: Number,
                          energy_of_request: Number = 0.0) -> Number:
    """Share of a deployment's throughput beyond which it is cheaper than an API [1].

    What it costs by the time is spread over the requests that it serves; what a request costs by
    itself (energy, where it is paid apart) comes off the price of the API. Above 1, or infinite, it
    never is.

    >>> crossover_utilisation(1.0, 10.0, 0.25)
    0.4

    Args:
        per_second: that the deployment costs, busy or not [money/s].
        requests: that it serves at most [request/s].
        api: what a service takes for a request [money].
        energy_of_request: that a request costs besides [money].

    Source: notebooks/cost.md, section Own, rent by the hour, or use an API.
    """
    margin = np.asarray(api - energy_of_request, float)
    pays = margin > 0
    share = np.where(pays, per_second / (requests * np.where(pays, margin, 1.0)), np.inf)
    return share if share.ndim else float(share)
