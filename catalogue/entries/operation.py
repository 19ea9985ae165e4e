"""Operation of a service: power, prices and costs of owning, arrivals of a day, failures.

A price names its currency in its unit, and currencies never mix. What nobody prints is left out:
then a reader's own file (``like`` one of these) gives it, or there is no answer in money.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, WrapValidator

from catalogue.entries.entry import (
    CatalogueEntry,
    DeviceName,
    Entry,
    PricesName,
    Problem,
    Sourced,
    given,
    ordered,
)
from catalogue.entries.hardware import ShareOrZero
from catalogue.reading.units import HOUR
from catalogue.reading.values import (
    ANY_UNIT,
    Count,
    Date,
    Identifier,
    Positive,
    Share,
    SourceKey,
    Text,
    Time,
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

    def violations(self) -> Iterator[Problem]:
        """Work draws more than waiting."""
        yield from ordered(self, "loaded", "awake")
        for name in BUSY:
            yield from ordered(self, "awake", name)


CURRENCIES = ("USD", "CNY")
NOW = "now"  # the name of a price list that has none
OWNERSHIPS = ("own", "rent-always", "rent-by-hour")
Ownership = Literal["own", "rent-always", "rent-by-hour"]



def _in_money(per: str = "", exclusive: bool = True) -> Unit:
    return Unit(ANY_UNIT, among=tuple(f"{name}{per}" for name in CURRENCIES), exclusive=exclusive)


Money = Annotated[Value, _in_money(exclusive=False)]
Hourly = Annotated[Value, _in_money("/s")]
Yearly = Annotated[Value, _in_money("/s", exclusive=False)]
PerToken = Annotated[Value, _in_money("/token")]
PerEnergy = Annotated[Value, _in_money("/J")]
Effectiveness = Annotated[Value, Unit("1", minimum=1.0, exclusive=False)]
Exchange = Annotated[Value, Unit("CNY/USD", plausible=("1 CNY/USD", "100 CNY/USD"))]
Years = Annotated[Value, Unit("s")]


def currency_of(value: Value) -> str:
    """The currency of a price.

    >>> import catalogue
    >>> currency_of(catalogue.load_prices("nvidia-h200-sxm").hour.own)
    'USD'
    """
    return value.unit.partition("/")[0]


def _prices(entry: Entry | None) -> dict[str, Value]:
    """Values of a group of keys by name."""
    return {} if entry is None else {
        name: value for name in type(entry).model_fields
        if isinstance(value := getattr(entry, name), Value)}


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


def _rising_loads(curve: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
    loads = [load for load, _ in curve]
    if loads != sorted(set(loads)):
        raise ValueError("the loads rise from at least 0 to at most 1")
    return curve


Curve = Annotated[
    tuple[tuple[Annotated[float, Field(ge=0, le=1)], Annotated[float, Field(gt=0, le=1)]], ...],
    Field(min_length=2), AfterValidator(_rising_loads)]  # of pairs of load and efficiency


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

    def violations(self) -> Iterator[Problem]:
        """Beside the host the whole chain is known."""
        for name in ("network", "fans", "cooling_load", "capacity"):
            if self.host is not None and getattr(self, name) is None:
                yield f"'{name}' is missing, beside host it is needed"


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

    def violations(self) -> Iterator[Problem]:
        """One currency, and an end after the beginning."""
        if len(set(map(currency_of, _prices(self).values()))) > 1:
            yield "the prices of a list are in several currencies, expected one"
        if self.since and self.until and self.until < self.since:
            yield f"'until' {self.until} is before 'since' {self.since}"


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

    def violations(self) -> Iterator[Problem]:
        """Something is priced; prices that are added are in one currency, and have their day."""
        if not given(self, ("hour", "around", "supply", "pue", "electricity", "owning", "sold",
                            "device")):
            yield "nothing is priced: give 'hour', 'around', 'owning' or 'sold'"
        for group in ("hour", "owning"):
            prices = _prices(getattr(self, group)).values()
            if len({currency_of(price) for price in prices if price.unit != "1"}) > 1:
                yield f"the prices of '{group}' are in several currencies, expected one", group
        lists = [(("sold", name), sold) for name, sold in (self.sold or {}).items()
                 if sold.since is None]
        for keys, part in [(("hour",), self.hour), *lists]:
            for name, price in _prices(part).items():
                if price.date is None:
                    yield "expected 'date' beside a price, or in 'defaults'", *keys, name

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


HOURS = 24
LARGEST = 1e15  # of any scale; a day's requests times it are a number still

Variation = Annotated[Value, Unit("1", exclusive=False)]


HourShare = Annotated[float, Field(ge=0, le=LARGEST)]


def _day(raw: Any, handler: Callable[[Any], tuple[float, ...]]) -> tuple[float, ...]:
    """Rates of the hours of a day. Raises ValueError, also for several that are none."""
    listed = raw if isinstance(raw, list) else []
    problems = [] if len(listed) == HOURS else [
        f"expected {HOURS} numbers, one for each hour of a day, found {len(listed)}"]
    hours: tuple[float, ...] = ()
    try:
        hours = handler(raw)
    except ValidationError as error:
        if not listed:
            raise
        problems += [f"hour {item['loc'][0]} is '{item['input']}', expected a number from 0 to "
                     f"{LARGEST:g}" for item in error.errors(include_url=False)]
    if problems:
        raise ValueError("; ".join(problems))
    if not any(hours):
        raise ValueError("no hour has any requests, expected at least one with more than 0")
    return hours


class Lengths(Entry):
    """How the lengths of a service's requests vary: standard deviation over mean [1]."""

    prompts: Variation
    answers: Variation


class Load(CatalogueEntry, Sourced):
    """A day of arrivals, in proportion: how many there are is asked of the reader.

    Attributes:
        hours: mean rate of each hour from midnight on, of any one scale.
        variation: standard deviation over mean of the rate from minute to minute, within an hour,
            beyond what independent arrivals vary by themselves [1].
        lengths: how those of prompts and answers vary; absent where they are not published.
        source, kind, date: of the hours.
    """

    hours: Annotated[tuple[HourShare, ...], WrapValidator(_day)]
    variation: Variation
    lengths: Lengths | None = None

    def rates(self, requests: float) -> tuple[float, ...]:
        """Mean rate of each hour of a day with so many requests [request/s]."""
        total = sum(self.hours)
        return tuple(requests * hour / total / HOUR for hour in self.hours)

    @property
    def busiest(self) -> int:
        """The hour with most requests, from 0 on."""
        return self.hours.index(max(self.hours))

    @property
    def peak(self) -> float:
        """Rate of the busiest hour over that of the day [1]."""
        return max(self.hours) * HOURS / sum(self.hours)


class Failures(CatalogueEntry):
    """Failures of servers, their cards and links included, that stop what runs on them.

    Attributes:
        devices: cards that it holds for; none for those that no other file names.
        cards: of a server [1].
        between_failures: of a server, from being mended to the next failure [s].
        repair: until a server is back [s].
        start: of an engine, besides reading its weights: noticing, placing, capturing graphs [s].
    """

    devices: list[DeviceName] = []
    cards: Positive
    between_failures: Time
    repair: Time
    start: Time
