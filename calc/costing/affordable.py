"""A budget or a power as what is given: how many cards it buys, rents or feeds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calc.costing.owning import server_price
from calc.costing.power import around_of, full_power, site_power
from calc.costing.rates import card_hour, converted, prices_of, unpriced
from calc.uncertainty.amount import Amount
from catalogue import ParamsError, load_device, load_node
from catalogue.planning.prices import Prices


@dataclass(frozen=True)
class Within:
    """How many cards a limit leaves.

    Attributes:
        cards: whole servers' worth where servers are bought or fed, else single cards [1].
        binds: ``rent``, ``capital`` or ``power``.
        each: how many each limit alone would leave [1].
    """

    cards: int
    binds: str
    each: dict[str, int]


def _affordable(amount: float, price: float) -> int:
    return max(0, math.floor(amount / price * (1 + 1e-12)))


def cards_within(device: str, node: str, *, rent: Amount | None = None,
                 capital: Amount | None = None, power: float | None = None, ownership: str = "own",
                 price: Amount | str | None = None) -> Within:
    """The most cards of a kind that a budget pays for, or a site's power feeds [1].

    >>> from calc.costing.rates import stated
    >>> cards_within("nvidia-h200-sxm", "hgx-h200", power=1e6).cards
    728

    Power counts every server at the full load of its cards, with all that stands around them up to
    the meter. Capital buys servers with their part of racks and network, after storage.

    Args:
        device, node: identifiers of the card and of its server.
        rent: for all cards, by the time [money/s].
        capital: to begin with [money].
        power: of the site [W].
        ownership: by which an hour is priced.
        price: of a card's hour that a reader sets.

    Raises ParamsError where no limit is given, or where nobody states the price or the power that
    one needs.

    Source: notebooks/cost.md, sections What owning costs and From the cards to the meter; the
    limit divided by the price, or by the power, of one card or server.
    """
    card, server = load_device(device), load_node(node)
    known = prices_of(device)
    of_server = int(server.devices_per_node.value)
    each: dict[str, int] = {}
    if rent is not None:
        hour = card_hour(device, ownership, known, price)
        if hour is None:
            raise ParamsError(unpriced(device, ownership)[0])
        each["rent"] = _affordable(rent.value, converted(hour, rent.currency, known.exchange).value)
    if capital is not None:
        each["capital"] = of_server * _servers_for(capital, card, server, known)
    if power is not None:
        full, rest = full_power(device), around_of(card, server, known)
        if full is None or rest is None:
            raise ParamsError(f"nobody says what a server of '{device}' draws, expected 'around' "
                              "in a file of prices (--prices).")
        one = float(site_power(full.value * of_server, of_server, rest))
        each["power"] = of_server * _affordable(power, one)
    if not each:
        raise ParamsError("no limit is given, expected a budget by the hour, a capital or a power.")
    binds = min(each, key=lambda name: each[name])
    return Within(each[binds], binds, each)


def _servers_for(capital: Amount, card: Any, node: Any, prices: Prices) -> int:
    server = server_price(card, node, prices, capital.currency)
    if server is None:
        raise ParamsError(f"no price of a server of '{card.id}' was found, expected owning.server "
                          "in a file of prices (--prices).")
    owning, count = prices.owning, int(node.devices_per_node.value)

    def part(name: str) -> float:
        value = getattr(owning, name) if owning else None
        if value is None:
            return 0.0
        return converted(Amount.stated(value), capital.currency, prices.exchange).value

    one = server.value + part("racks") + count * part("network")
    return _affordable(capital.value - part("storage"), one)
