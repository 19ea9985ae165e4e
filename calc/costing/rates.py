"""What a card costs by the time, by way of having it; a number only where somebody printed one."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace

from calc.uncertainty.amount import Amount
from catalogue import ParamsError, load, load_device, names, units
from catalogue.entries.hardware import Device
from catalogue.library import COMMAND_LINE, Override, locate
from catalogue.messages import Pair, messages
from catalogue.planning.prices import OWNERSHIPS, Prices
from catalogue.reading.values import Value
from catalogue.reading.yamlfile import beginning

say = messages("calc/costing/rates")

COMMON = "common"  # prices of what has none of its own
SPREAD = ".."  # between the ends of a price that a reader sets: 1.5..2.5 USD/h


def stated(text: str, unit: str = "USD/s") -> Amount:
    """Parse a price [money/s] as a reader writes it: ``2 USD/h``, or ``1.5..2.5 USD/h``.

    Without ends it is taken as exact; between two the central value is their geometric mean, as of
    a log-uniform prior.

    >>> stated("1..4 USD/h").per("USD/h")
    (2.0, 1.0, 4.0)

    Args:
        text: the price.
        unit: whose dimensions it has, in whatever currency.

    Raises ParamsError for what is no price, or not of these dimensions, whether it is out of range
    or a ValueError of the parser of units.

    Source: median of a log-uniform distribution.
    """
    ends = text.split(SPREAD)
    try:
        _, written = units.split(ends[-1])
        per = f"/{unit.partition('/')[2]}" if "/" in unit else ""
        currency = written.partition("/")[0]
        if currency not in ("USD", "CNY"):
            raise ValueError(f"'{text}' names no currency")
        high = float(units.parse(ends[-1], currency + per))
        low = float(units.parse(f"{ends[0]} {written}", currency + per)) if ends[1:] else high
    except ValueError as error:
        raise ParamsError(f"price: {error}, expected a price such as 2 {unit} or "
                          f"1.5{SPREAD}2.5 {unit}.".replace("/s", "/h")) from None
    if len(ends) > 2 or not 0 < low <= high:
        raise ParamsError(f"price: '{text}' is out of range, expected one above 0, or both "
                          f"ends, the lower first, such as 1.5{SPREAD}2.5 USD/h.")
    return Amount((low * high) ** 0.5, low, high, currency + per, "assumed", source=COMMAND_LINE)


@functools.cache
def _of_devices() -> Mapping[str, str]:
    """Device -> the file of its prices, of those in the catalogue, none of which is loaded."""
    files = {name: beginning(locate("prices", name), "device").data for name in names("prices")}
    return {file["device"]: name for name, file in files.items() if file.get("device") is not None}


def prices_of(device: Device | str, reference: str | None = None,
              settings: Mapping[str, str] | None = None) -> Prices:
    """Prices that hold for a card: a reader's file, else the catalogue's, else what all share.

    Args:
        device: the card, or its identifier.
        reference: name or path of other prices.
        settings: values by dotted key, in place of the file's: ``years`` -> ``3 year``.

    Raises ParamsError for a file or a value that cannot be used, or one of another card.
    """
    known = device if isinstance(device, str) else device.id
    given = {key: Override(raw, f"--set prices.{key}") for key, raw in (settings or {}).items()}
    found: Prices = load("prices", reference or _of_devices().get(known, COMMON), given)
    if reference is not None and found.device is not None:
        theirs = locate("devices", found.device).stem
        ours = locate("devices", device).stem if isinstance(device, str) else device.id
        if theirs != ours:
            raise ParamsError(f"{reference}: its prices are those of '{theirs}', the deployment "
                              f"runs on '{ours}'.")
    return found


def card_hour(device: Device | str, ownership: str = "own", prices: Prices | None = None,
              reader: Amount | str | None = None) -> Amount | None:
    """What a card costs by the time [money/s], everything included; None where nobody says.

    >>> card_hour("nvidia-h200-sxm").per("USD/h")[0]
    1.58
    >>> card_hour("ascend-910b2") is None
    True

    Args:
        device: the card, or its identifier.
        ownership: ``own``, ``rent-always`` or ``rent-by-hour``.
        prices: a reader's, in place of those of the catalogue.
        reader: a price that a reader sets, in place of any.

    Raises ParamsError for an unknown way of having a card, or a price that is none.

    Source: a reader's price, else params/prices/, else the price by the hour of the card's entry.
    """
    if ownership not in OWNERSHIPS:
        raise ParamsError(f"{COMMAND_LINE}: there is no way '{ownership[:40]}' of having a card, "
                          f"expected one of {', '.join(OWNERSHIPS)}.")
    if reader is not None:
        return stated(reader) if isinstance(reader, str) else reader
    hour = (prices or prices_of(device)).hour
    value: Value | None = getattr(hour, ownership.replace("-", "_")) if hour else None
    if value is None and ownership == "rent-by-hour":
        listed = (load_device(device) if isinstance(device, str) else device).price
        value = listed.usd_rent if listed else None
    return None if value is None else Amount.stated(value)


def way_of(device: Device | str, prices: Prices | None = None) -> str:
    """By which way a card is had where nobody says: the first of ``OWNERSHIPS`` with a price.

    >>> way_of("nvidia-h200-sxm"), way_of("ascend-910b2")
    ('own', 'own')

    Args:
        device: the card, or its identifier.
        prices: a reader's, in place of those of the catalogue.
    """
    return next((way for way in OWNERSHIPS if card_hour(device, way, prices) is not None),
                OWNERSHIPS[0])


def converted(amount: Amount, currency: str, exchange: Value | None) -> Amount:
    """An amount in a currency; between dollars and yuan at the stated rate, ends included.

    Args:
        amount: in USD or CNY, or per something.
        currency: that is wanted.
        exchange: what a dollar is in yuan [CNY/USD].

    Raises ParamsError where the currencies differ and no rate of exchange is stated.

    Source: definition of a rate of exchange; the highest rate gives most yuan and fewest dollars.
    """
    if amount.currency == currency:
        return amount
    if exchange is None:
        raise ParamsError(f"prices are in {amount.currency} and in {currency}, expected one "
                          "currency, or 'exchange' among the prices.")
    into_yuan = currency == "CNY"
    factors = [float(end) for end in (exchange.value, exchange.low, exchange.high)]
    value, low, high = factors if into_yuan else (1 / factors[0], 1 / factors[2], 1 / factors[1])
    return replace(amount, value=amount.value * value,
                   low=amount.low * low, high=amount.high * high,
                   unit=amount.unit.replace(amount.currency, currency, 1))


def unpriced(device: str, ownership: str) -> Pair:
    """Return the message for a card whose hour has no price.

    Args:
        device: identifier of the card.
        ownership: ``own``, ``rent-always`` or ``rent-by-hour``.
    """
    return say("unpriced", device=device, ownership=ownership, example=f"1.5{SPREAD}2.5 USD/h")
