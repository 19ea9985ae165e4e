"""Owning hardware through the years: capital, what a year costs, discounting, returns.

All functions are plain arithmetic on amounts of one currency, and take arrays. Rates of money are
by the year; a year's amounts are paid at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.costing.rates import converted
from calc.physics.arrays import Number
from calc.uncertainty.amount import Amount
from catalogue.entries.hardware import Device, Node
from catalogue.planning.prices import Prices
from catalogue.reading.units import YEAR
from catalogue.reading.values import Value


def annuity(discount: Number, years: Number) -> Number:
    """What one unit of money at the end of every year is worth at the beginning [1].

    (1 - (1 + r)^-n) / r, and n where money costs nothing.

    >>> round(float(annuity(0.08, 5)), 4), float(annuity(0.0, 5))
    (3.9927, 5.0)

    Args:
        discount: by which a year discounts money [1].
        years: how many [1].

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    free = np.equal(discount, 0)
    at = np.where(free, 1.0, discount)
    return np.where(free, years, -np.expm1(-years * np.log1p(at)) / at)


@dataclass(frozen=True)
class Bill:
    """What owning a deployment comes to [money], [money] per year.

    Attributes:
        hardware: servers with their cards, spares included.
        around: network, racks and storage.
        energy, hosting, upkeep, people: of a year.
        residual: what the sale returns at the end.
        present: capital and all years, less the sale, at the beginning.
        nominal: the same, not discounted.
        second: what owning costs by the time, evenly over the years [money/s].
    """

    hardware: Number
    around: Number
    energy: Number
    hosting: Number
    upkeep: Number
    people: Number
    residual: Number
    present: Number
    nominal: Number
    second: Number

    @property
    def capital(self) -> Number:
        """What is paid at the beginning [money]."""
        return self.hardware + self.around

    @property
    def yearly(self) -> Number:
        """What a year costs besides [money]."""
        return self.energy + self.hosting + self.upkeep + self.people


def bill(q: Mapping[str, Number]) -> Bill:
    """What owning a deployment comes to.

    Args:
        q: ``servers``, ``cards`` [1]; ``server``, ``network``, ``racks``, ``storage`` [money];
            ``spares``, ``upkeep``, ``residual``, ``discount`` [1]; ``years`` [1]; ``people`` of a
            server [money/s]; ``hosting``, ``electricity`` [money/J]; ``kept_power`` that is kept
            ready and ``mean_power`` that is drawn at the meter [W].

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    hardware = (1 + q["spares"]) * q["servers"] * q["server"]
    around = q["cards"] * q["network"] + q["servers"] * q["racks"] + q["storage"]
    energy = YEAR * q["electricity"] * q["mean_power"]
    hosting = YEAR * q["hosting"] * q["kept_power"]
    upkeep, people = q["upkeep"] * hardware, YEAR * q["servers"] * q["people"]
    residual = q["residual"] * hardware
    yearly = energy + hosting + upkeep + people
    worth = annuity(q["discount"], q["years"])
    present = present_cost(hardware + around, yearly, residual, q["discount"], q["years"])
    nominal = hardware + around + q["years"] * yearly - residual
    return Bill(hardware, around, energy, hosting, upkeep, people, residual, present, nominal,
                present / (worth * YEAR))


def present_cost(capital: Number, yearly: Number, residual: Number, discount: Number,
                 years: Number) -> Number:
    """Capital and the costs of all years, less the sale, at the beginning [money].

    Args:
        capital: that is paid at the beginning [money].
        yearly: what a year costs besides [money].
        residual: what the hardware is sold for at the end [money].
        discount: by which a year discounts money [1].
        years: how many [1].

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    return (capital + annuity(discount, years) * yearly
            - residual / (1 + discount) ** years)


def net_present_value(owned: Bill, revenue: Number, discount: Number, years: Number) -> Number:
    """What a deployment is worth at the beginning, its revenue less its costs [money].

    Args:
        owned: what it costs.
        revenue: of a year [money].
        discount, years: as of the bill [1].

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    return annuity(discount, years) * revenue - owned.present


def payback(capital: Number, surplus: Number, discount: Number = 0.0) -> Number:
    """Years until what is left of each year has paid the capital back [1]; infinite if never.

    n = -ln(1 - r C / S) / ln(1 + r), and C / S where money costs nothing.

    >>> float(payback(100.0, 50.0)), float(payback(100.0, 5.0, 0.1))
    (2.0, inf)

    Args:
        capital: that is paid at the beginning [money].
        surplus: revenue of a year less what it costs [money].
        discount: by which a year discounts money [1].

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    earns = np.greater(surplus, 0)
    simple = np.where(earns, capital / np.where(earns, surplus, 1.0), np.inf)
    left = 1 - np.where(earns, discount * np.where(earns, simple, 0.0), 1.0)
    free, ever = np.equal(discount, 0), np.greater(left, 0)
    found = -np.log(np.where(ever, left, 1.0)) / np.log1p(np.where(free, 1.0, discount))
    return np.where(free, simple, np.where(earns & ever, found, np.inf))


def return_on(capital: Number, surplus: Number, years: Number) -> Number:
    """Return on what was paid at the beginning, over all years, not discounted [1].

    Args:
        capital: that is paid at the beginning [money].
        surplus: revenue of a year less what it costs [money].
        years: how many [1].

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    return (years * surplus - capital) / capital


def server_price(device: Device, node: Node, prices: Prices, currency: str) -> Amount | None:
    """What a server with its cards costs in a currency [money]; None where nobody says.

    A reader's or the catalogue's price of the server; else that of its entry; else a chassis and
    its cards. A price in the currency comes before one that is converted.

    Args:
        device: the card.
        node: its server.
        prices: that hold for the card.
        currency: that is wanted.

    Source: prices of the catalogue or of the reader; a server of parts is the sum of its chassis
    and its cards, as in notebooks/cost.md, section What owning costs, and money over time.
    """
    def listed(price: Any) -> Amount | None:
        both: dict[str, Value | None] = (
            {"USD": price.usd, "CNY": price.cny} if price else {})
        found = both.get(currency) or next((one for one in both.values() if one), None)
        return None if found is None else converted(Amount.stated(found), currency, prices.exchange)

    owning = prices.owning
    if owning and owning.server:
        return converted(Amount.stated(owning.server), currency, prices.exchange)
    if (of_node := listed(node.price)) is not None:
        return of_node
    card = listed(device.price)
    if card is None or owning is None or owning.chassis is None:
        return None
    empty, count = converted(Amount.stated(owning.chassis), currency, prices.exchange), \
        node.devices_per_node.value
    return Amount(empty.value + count * card.value, empty.low + count * card.low,
                  empty.high + count * card.high, currency, "derived", source=card.source,
                  date=card.date)
