"""Prices: a card's hour, the parts of a server, money over time, power of a kind of work.

A price names its currency in its unit, and currencies never mix. What nobody prints is left out:
then a reader's own file (``like`` one of these) gives it, or there is no answer in money.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from catalogue.entries.entry import CatalogueEntry, DeviceName, Entry
from catalogue.reading.values import (
    ANY_UNIT,
    Count,
    Date,
    Identifier,
    Misplaced,
    Ref,
    Share,
    SourceKey,
    Text,
    Unit,
    Value,
    Watts,
)

WAITING = ("loaded", "awake")
BUSY = ("memory", "matmul", "experts", "attention", "links")


class Powers(CatalogueEntry):
    """What a card draws, over what it may draw at most (``power.full`` of the device) [1].

    Kernels of one kind were run one after another while the card's own sensor was read, so that a
    share holds for as long as such a kernel runs, at whatever pace it runs. None rests on a
    measurement of a whole serving system.

    Attributes:
        devices: that were measured; none for what holds where nothing was.
        loaded: weights in memory, no request.
        awake: between kernels, and while small ones follow one another.
        memory: weights streamed from memory by matmuls of few rows.
        matmul: dense matmuls of many rows.
        experts: grouped matmuls of a mixture of experts.
        attention: the attention core, of decode or of prompts.
        links: collectives.
    """

    devices: list[DeviceName] = []
    loaded: Share
    awake: Share
    memory: Share
    matmul: Share
    experts: Share
    attention: Share
    links: Share

    @model_validator(mode="after")
    def _ordered(self) -> Powers:
        """Work draws more than waiting."""
        if self.loaded.value > self.awake.value:
            raise Misplaced("'loaded' exceeds 'awake', are they exchanged?", "loaded")
        for name in BUSY:
            if getattr(self, name).value < self.awake.value:
                raise Misplaced(f"'{name}' draws less than 'awake'", name)
        return self


CURRENCIES = ("USD", "CNY")
NOW = "now"  # the name of a price list that has none
OWNERSHIPS = ("own", "rent-always", "rent-by-hour")
Ownership = Literal["own", "rent-always", "rent-by-hour"]

PricesName = Annotated[str, Ref("prices")]
Money = Annotated[Value, Unit(ANY_UNIT, among=CURRENCIES, exclusive=False)]
Hourly = Annotated[Value, Unit(ANY_UNIT, among=tuple(f"{name}/s" for name in CURRENCIES))]
Yearly = Annotated[Value, Unit(ANY_UNIT, among=tuple(f"{name}/s" for name in CURRENCIES),
                               exclusive=False)]
PerToken = Annotated[Value, Unit(ANY_UNIT, among=tuple(f"{name}/token" for name in CURRENCIES))]
PerEnergy = Annotated[Value, Unit(ANY_UNIT, among=tuple(f"{name}/J" for name in CURRENCIES))]
Effectiveness = Annotated[Value, Unit("1", minimum=1.0, exclusive=False)]
ShareOrZero = Annotated[Value, Unit("1", exclusive=False, maximum=1.0)]
Exchange = Annotated[Value, Unit("CNY/USD", plausible=("1 CNY/USD", "100 CNY/USD"))]
Years = Annotated[Value, Unit("s")]


def currency_of(value: Value) -> str:
    """The currency of a price.

    >>> import catalogue
    >>> currency_of(catalogue.load_prices("nvidia-h200-sxm").hour.own)
    'USD'
    """
    return value.unit.partition("/")[0]


class Hour(Entry):
    """What one card costs by the time, all that it needs included, by way of having it.

    Attributes:
        own: total cost of ownership, capital written off and electricity included [money/s].
        rent_always: rented for years [money/s].
        rent_by_hour: rented on demand [money/s]; without one, ``price.usd_rent`` of the device.
    """

    own: Hourly | None = None
    rent_always: Hourly | None = None
    rent_by_hour: Hourly | None = None


def _curve(raw: Any) -> Any:
    if not isinstance(raw, list) or any(not isinstance(one, list) or len(one) != 2 for one in raw):
        raise ValueError("expected a list of pairs [load, efficiency]")
    try:
        points = [(float(load), float(share)) for load, share in raw]
    except (TypeError, ValueError):
        raise ValueError("expected a list of pairs [load, efficiency]") from None
    loads = [load for load, _ in points]
    if len(points) < 2 or loads != sorted(set(loads)) or loads[-1] > 1 or loads[0] < 0:
        raise ValueError("the loads rise from at least 0 to at most 1, two of them or more")
    if not all(0 < share <= 1 for _, share in points):
        raise ValueError("an efficiency is more than 0 and at most 1")
    return tuple(points)


Curve = Annotated[tuple[tuple[float, float], ...], BeforeValidator(_curve)]


class Supply(Entry):
    """Efficiency of a server's supplies by their load, each a share of one."""

    points: Curve
    source: SourceKey
    date: Date | None = None
    note: Text | None = None


class Around(Entry):
    """What a server draws besides its cards, before its supplies.

    Attributes:
        cards: of a server [1].
        host: processors, memory, drives, boards [W]; ``host_computing`` where they compute experts.
        network: ports, and the server's part of the switches [W].
        fans: at full speed [W], which they reach at ``cooling_load`` of the rest [W].
        capacity: of the supplies [W].
        whole: of a card at full load with everything up to the meter [W].
    """

    cards: Count
    host: Watts | None = None
    host_computing: Watts | None = None
    network: Watts | None = None
    fans: Watts | None = None
    cooling_load: Watts | None = None
    capacity: Watts | None = None
    whole: Watts | None = None

    @model_validator(mode="after")
    def _complete(self) -> Around:
        chain = ("host", "network", "fans", "cooling_load", "capacity")
        given = [name for name in chain if getattr(self, name) is not None]
        if "host" in given and len(given) < len(chain):
            lost = next(name for name in chain if name not in given)
            raise ValueError(f"'{lost}' is missing, beside host it is needed")
        return self


class Owning(Entry):
    """What owning is made of, where it is reckoned from its parts.

    A server costs ``server``; else what its entry in ``params/nodes/`` says; else ``chassis`` and
    its cards.

    Attributes:
        server: with its cards [money].
        chassis: a server without its cards [money].
        network: switches, cables and optics of a card [money].
        storage: of a deployment [money].
        racks: of a server, with what installs it [money].
        hosting: place and cooling, by the power that is kept ready [money/J].
        people: who run it, by the server [money/s].
        spares: of the servers, that stand by [1].
        upkeep: repairs and support in a year, of the price of the hardware [1].
        residual: what a sale returns at the end, of the price of the hardware [1].
    """

    server: Money | None = None
    chassis: Money | None = None
    network: Money | None = None
    storage: Money | None = None
    racks: Money | None = None
    hosting: PerEnergy | None = None
    people: Yearly | None = None
    spares: ShareOrZero | None = None
    upkeep: ShareOrZero | None = None
    residual: ShareOrZero | None = None


class Sold(Entry):
    """A price list of a service: what it takes for tokens of prompts and of answers.

    Attributes:
        model: that answers.
        since, until: dates between which the list holds; without ``until`` it holds today.
        hours: of the week in which it holds.
        input, cached_input: of prompts, not found and found in the service's cache.
        output: of answers.
    """

    model: Text | None = None
    since: Date | None = None
    until: Date | None = None
    hours: Literal["all", "off-peak", "peak"] = "all"
    note: Text | None = None
    input: PerToken
    cached_input: PerToken | None = None
    output: PerToken

    @model_validator(mode="after")
    def _consistent(self) -> Sold:
        """One currency, and an end after the beginning."""
        prices = [price for price in (self.input, self.cached_input, self.output) if price]
        if len({currency_of(price) for price in prices}) > 1:
            raise ValueError("the prices of a list are in several currencies, expected one")
        if self.since and self.until and self.until < self.since:
            raise ValueError(f"'until' {self.until} is before 'since' {self.since}")
        return self


Lists = Annotated[dict[Identifier, Sold], BeforeValidator(  # one alone, without a name, holds today
    lambda raw: {NOW: raw} if isinstance(raw, dict) and "output" in raw else raw)]


class Prices(CatalogueEntry):
    """Prices of one card and of what it stands in, or of a service that sells tokens.

    Attributes:
        like: prices that hold for whatever this file leaves out.
        device: the card; None for what several have in common, or for a service.
        hour: of one card, by way of having it.
        around: power of the server around the cards; ``supply`` of its supplies.
        pue: what a site draws over what its servers draw [1].
        electricity: [money/J].
        owning: its parts.
        exchange: what a dollar is in yuan, where prices are in both [CNY/USD].
        discount: by which a year discounts money [1].
        years: in which hardware is written off [s].
        sold: price lists of a service by name, the oldest first.
    """

    like: PricesName | None = None
    device: DeviceName | None = None
    hour: Hour | None = None
    around: Around | None = None
    supply: Supply | None = None
    pue: Effectiveness | None = None
    electricity: PerEnergy | None = None
    owning: Owning | None = None
    exchange: Exchange | None = None
    discount: Share | None = None
    years: Years | None = None
    sold: Lists | None = None

    @model_validator(mode="after")
    def _something(self) -> Prices:
        if not any(getattr(self, name) is not None for name in (
                "hour", "around", "supply", "pue", "electricity", "owning", "sold", "device")):
            raise ValueError("nothing is priced: give 'hour', 'around', 'owning' or 'sold'")
        return self

    @model_validator(mode="after")
    def _one_currency(self) -> Prices:
        """Prices that are added are in one currency."""
        found: dict[str, tuple[str, ...]] = {}
        for group in ("hour", "owning"):
            part = getattr(self, group)
            for name in type(part).model_fields if part else ():
                value = getattr(part, name)
                if value is not None and value.unit != "1":
                    found.setdefault(f"{group} {currency_of(value)}", (group, name))
            if len([key for key in found if key.startswith(f"{group} ")]) > 1:
                raise Misplaced(f"the prices of '{group}' are in several currencies, expected one",
                                group)
        return self

    @model_validator(mode="after")
    def _dated(self) -> Prices:
        """A price decides nothing without its day."""
        lists = [(("sold", name), sold) for name, sold in (self.sold or {}).items()
                 if sold.since is None]
        for keys, part in [(("hour",), self.hour), *lists]:
            for name in type(part).model_fields if part else ():
                value = getattr(part, name)
                if isinstance(value, Value) and value.date is None:
                    raise Misplaced("a price without a date, expected 'date' beside it or in "
                                    "'defaults'", *keys, name)
        return self

    @property
    def holding(self) -> dict[str, Sold]:
        """The price lists that hold today, by name.

        >>> import catalogue
        >>> list(catalogue.load_prices("deepseek-api").holding)[0]
        'v4.1-flash'
        """
        return {name: sold for name, sold in (self.sold or {}).items() if sold.until is None}

    @property
    def current(self) -> Sold | None:
        """What owning is compared with where no list is named: the first that holds today."""
        return next(iter(self.holding.values()), None)
