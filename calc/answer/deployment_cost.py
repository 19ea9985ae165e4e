"""Cost of a deployment of one pool or two, of a fleet of them, and beside the prices of an API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from calc.answer.request_lengths import refuse_unstated
from calc.answer.service import Service
from calc.costing.cost import Cost, CostOptions, Fleet, PrefillPool, cost, crossovers, fleet
from calc.costing.ownership import (
    card_hour,
    priced_hour,
    stated,
    usual_currency,
    way_of,
)
from calc.uncertainty import Amount
from catalogue import ParamsError, load, load_prices
from catalogue.entries.operation import Load, Prices
from catalogue.reading.jsonfile import finite

USUAL_LOAD = "azure-conversation"


@dataclass(frozen=True)
class DeploymentCost:
    """Cost of a deployment.

    Attributes:
        service: the deployment.
        cost: amounts with 80% intervals.
        options: how it is paid and used.
        fleet: deployments that a day needs; None where no day is given.
        api: prices of the API that it is compared with.
        price_list: of the API.
        day: load by the hour, of the deployments that a day needs.
        shares: by price list, the utilisation from which the deployment is cheaper [1].
    """

    service: Service
    cost: Cost
    options: CostOptions
    fleet: Fleet | None
    api: Prices
    price_list: str
    day: Load
    shares: Mapping[str, Amount]

    def as_json(self) -> dict[str, Any]:
        """Plain data, SI units."""
        return {"fits": self.service.fits, "devices": self.service.devices,
                "currency": self.cost.currency, "utilisation": self.options.utilisation,
                **self.cost.as_json(), "fleet": self.fleet and self.fleet.as_json(),
                "lists": {name: {
                    "model": sold.model and sold.model["en"], "since": sold.since,
                    "until": sold.until, "hours": sold.hours, "holds": name in self.api.holding,
                    **finite(dict(zip(("value", "low", "high"),
                                      map(float, self.shares[name].points), strict=True)))}
                    for name, sold in (self.api.sold or {}).items() if name in self.shares}}


def deployment_cost(service: Service, prices: Prices, given: Mapping[str, Any]) -> DeploymentCost:
    """Compute the cost of a deployment.

    Args:
        service: the deployment.
        prices: that hold for its cards.
        given: ``price`` of a card's hour, ``ownership``, ``utilisation``, ``day_load``,
            ``daily_requests``, ``requests_per_user`` and ``api`` as text; None for the default.

    Raises ParamsError, one sentence, for what cannot be priced.

    Source: notebooks/cost.md.
    """
    pool, answer, seen = service.last, service.answers[-1], service.seen
    refuse_unstated(pool)
    day = load("loads", given["day_load"] or USUAL_LOAD)
    api, price_list = price_list_of(given["api"])
    ownership = given["ownership"] or way_of(pool.device, prices)
    price = stated(given["price"], name="--price") if given["price"] else None
    if price is None and card_hour(pool.device, ownership, prices) is None:
        price = priced_hour(pool.device, pool.node, ownership, prices, usual_currency(prices))
    options = CostOptions(
        ownership, price,
        given["utilisation"] or (1 / day.peak if given["day_load"] else 1.0),
        given["requests_per_user"], (api.sold or {})[price_list])
    reached = seen.throughput if seen else answer.quantities["output_throughput"]
    beside = (PrefillPool(service.pools[0], service.answers[0].everything)
              if service.pair else None)

    def cost_with(chosen: CostOptions) -> Cost:
        return cost(pool, answer.everything, reached, prices, chosen, beside)

    result = cost_with(options)
    needed = None
    if given["daily_requests"] is not None:
        needed = fleet(pool, result.cards, day.rates(given["daily_requests"]), reached.value,
                       prices, options)
        if given["utilisation"] is None:
            options = replace(options, utilisation=needed.utilisation)
            result = cost_with(options)
    return DeploymentCost(
        service, result, options, needed, api, price_list, day,
        crossovers(pool, result, options, api, prices))


def price_list_of(text: str) -> tuple[Prices, str]:
    """Prices of an API, and the name of the price list that is meant: the first in force.

    Raises ParamsError for a service that sells no tokens, or a list that it does not have.
    """
    name, _, chosen = text.partition(":")
    service = load_prices(name)
    chosen = chosen or next(iter(service.holding), "")
    if not service.sold:
        raise ParamsError(f"--api {name}: it sells no tokens, expected prices with 'sold'.")
    if chosen not in service.sold:
        raise ParamsError(f"--api {text[:80]}: there is no such price list, expected one "
                          f"of {', '.join(service.sold)}.")
    return service, chosen
