"""What cards cost: by the hour, by an agent's task, through the years; how many a budget buys.

A number only where somebody printed one. Functions of owning are plain arithmetic on amounts of one
currency, and take arrays. Rates of money are by the year; a year's amounts are paid at its end.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calc.physics.arrays import Number, ceil_div, select
from calc.uncertainty import Amount, propagate_uncertainty
from catalogue import ParamsError, Scenario, load, load_device, load_node, names, units
from catalogue.entries.hardware import Device, Node
from catalogue.entries.operation import BUSY, OWNERSHIPS, WAITING, Powers, Prices
from catalogue.library import COMMAND_LINE, Override, locate
from catalogue.reading import yamlfile
from catalogue.reading.units import YEAR
from catalogue.reading.values import Value

USUAL = "usual"  # powers of a card of which nothing was measured
MATMULS = ("attention", "dense_mlp", "shared_expert", "router", "head")
FAN_LAW = 3  # power of a fan goes with the cube of its speed, its speed with the heat
SHARES = (*WAITING, *BUSY)


@functools.cache
def _power_files() -> Mapping[str, str]:
    """Device -> the file of its powers, of those in the catalogue."""
    return {device: name for name in names("powers") for device in load("powers", name).devices}


def powers_of(device: str) -> Powers:
    """Return what a card draws by kind of work; typical values for one that was not measured.

    >>> powers_of("nvidia-b200").memory.value, powers_of("ascend-910b2").id
    (0.72, 'usual')

    Args:
        device: identifier.
    """
    return load("powers", _power_files().get(device, USUAL))


def own_cards(inputs: Mapping[str, Number]) -> Number:
    """Cards of a deployment [1], without those of a prefill pool beside it.

    Args:
        inputs: input symbols in SI units.

    Source: product of the degrees of parallelism; experts share the cards of the other layers.
    """
    return inputs["tensor_parallel"] * inputs["pipeline_parallel"] * inputs["data_parallel"]


def busy_times(inputs: Mapping[str, Number], quantities: Mapping[str, Number],
               phase: str = "decode") -> dict[str, Number]:
    """Time of kernels of each kind in a step of a rank [s], over all its stages.

    A matmul streams its weights or multiplies, whichever takes longer; what it takes besides,
    however few its rows, is waiting. Passes over activations and weights that are widened first
    count as streaming.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        phase: ``decode``, ``prefill`` or ``burst``.

    Returns times by ``BUSY``; the rest of the step the card is awake.

    Source: notebooks/cost.md, section What a card draws.
    """
    halves = inputs["micro_batches"]
    memory = quantities[f"{phase}_vector_time"] + quantities[f"{phase}_dequantisation_time"]
    matmul: Number = 0.0
    for name in MATMULS:
        streams = quantities[f"{phase}_{name}_bytes"] / (
            inputs["memory_bandwidth"] * inputs["hbm_efficiency"])
        multiplies = quantities[f"{phase}_{name}_flops"] / (
            inputs[f"{name}_peak"] * inputs[f"{name}_gemm_efficiency"])
        runs = np.minimum(quantities[f"{phase}_{name}_time"], np.maximum(streams, multiplies))
        bound = np.greater(multiplies, streams)
        memory = memory + np.where(bound, 0.0, runs)
        matmul = matmul + np.where(bound, runs, 0.0)
    links = (quantities[f"{phase}_all_reduce_time"] + quantities[f"{phase}_exchange_time"]
             + quantities[f"{phase}_pipeline_time"] + quantities[f"{phase}_context_exchange_time"])
    return {"memory": halves * memory, "matmul": halves * matmul,
            "experts": halves * quantities[f"{phase}_routed_expert_time"],
            "attention": halves * (quantities[f"{phase}_core_time"]
                                   + quantities[f"{phase}_index_time"]),
            "links": halves * links}


def step_energy(shares: Mapping[str, Number], full: Number, times: Mapping[str, Number]) -> Number:
    """Energy of the kernels of a step beyond that of being awake [J], of one card.

    >>> step_energy({"awake": 0.25, "memory": 0.75}, 1000.0, {"memory": 0.01})
    5.0

    Args:
        shares: of ``full`` that each kind of work draws, and ``awake`` [1].
        full: what the card may draw at most [W].
        times: of the kernels by kind [s].

    Source: notebooks/cost.md, section What a card draws.
    """
    return full * sum((shares[name] - shares["awake"]) * time for name, time in times.items())


def cards_power(inputs: Mapping[str, Number], quantities: Mapping[str, Number],
                output_throughput: Number, shares: Mapping[str, Number], full: Number) -> Number:
    """Power of all cards of a deployment at a throughput [W].

    All are awake all the time. Of each data-parallel replica every tensor-parallel rank does the
    steps that bring the tokens, and, unless another pool does, the chunks of the prompts that go
    with them, which come one by one. No card draws more than it may.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        output_throughput: of the deployment [token/s], at most what it reaches.
        shares, full: see :func:`step_energy`.

    Source: notebooks/cost.md, section What a card draws.
    """
    count = own_cards(inputs)
    drafts = quantities["draft_time"] / quantities["decode_step_time"]
    steps = output_throughput / (quantities["decode_batch"] * quantities["tokens_per_step"])
    chunks = select(np.greater(inputs["separate_pools"], 0), 0.0,
                    output_throughput / inputs["output_tokens"] * quantities["prompt_chunks"])
    decode = step_energy(shares, full, busy_times(inputs, quantities, "decode"))
    prefill = step_energy(shares, full, busy_times(inputs, quantities, "prefill"))
    return average_power(count, inputs["tensor_parallel"], full, shares["awake"],
                         steps * (1 + drafts), decode, chunks, prefill)


def average_power(count: Number, ranks: Number, full: Number, awake: Number, steps: Number,
                  decode: Number, chunks: Number, prefill: Number) -> Number:
    """Power of cards that are awake and make so many steps and chunks a second [W].

    >>> float(average_power(8, 1, 1000.0, 0.25, 400.0, 5.0, 0.0, 0.0))
    4000.0

    Args:
        count: cards [1].
        ranks: that make each step together [1].
        full: what a card may draw at most [W].
        awake: share of it between kernels [1].
        steps, chunks: of all replicas [1/s].
        decode, prefill: energy of a rank's kernels in one of them, beyond being awake [J].

    Source: notebooks/cost.md, section What a card draws.
    """
    work = ranks * (steps * decode + chunks * prefill)
    return np.minimum(count * full, count * awake * full + work)


@dataclass(frozen=True)
class Around:
    """Power of a server besides its cards, and of its site.

    Attributes:
        cards: of a server [1].
        host, network: besides the cards, before the supplies [W].
        fans, cooling_load: at full speed, and the load at which they reach it [W].
        loads, efficiencies, capacity: of the supplies [1], [1], [W]; none where ``host`` is what a
            server takes at the meter beyond its cards.
        pue: of the site [1].
    """

    cards: Number
    host: Number
    network: Number
    fans: Number
    cooling_load: Number
    loads: tuple[float, ...]
    efficiencies: tuple[float, ...]
    capacity: Number
    pue: Number


def around(scenario: Scenario, prices: Prices, pue: Number | None = None) -> Around | None:
    """Power of host, network and fans [W], and PUE [1], of a deployment; None if not stated.

    Args:
        scenario: the deployment.
        prices: that hold for its card.
        pue: in place of that of the prices [1].

    Source: as of :func:`around_of`.
    """
    return around_of(scenario.device, scenario.node, prices, pue,
                     scenario.inputs()["offloaded_share"] > 0)


def around_of(device: Device, node: Node, prices: Prices, pue: Number | None = None,
              computing: bool = False) -> Around | None:
    """Power of host, network and fans of a server [W], and PUE [1]; None where nobody says.

    A file of prices may give every part, or what a card takes with all of the site; else the
    server's entry says what it takes at most. Of what is known at full load only, all beyond the
    cards is taken to be drawn at any load.

    Args:
        device: the card.
        node: its server.
        prices: that hold for the card.
        pue: in place of that of the prices [1].
        computing: whether the server's processors compute experts.

    Source: the file of prices, or the entry of the server in the catalogue;
    notebooks/cost.md, section From the cards to the meter.
    """
    given, power = prices.around, device.power
    site = pue if pue is not None else prices.pue.value if prices.pue else 1.0
    if given and given.host and given.network and given.fans and given.cooling_load \
            and given.capacity and prices.supply:
        host = given.host_computing if computing and given.host_computing else given.host
        loads, efficiencies = zip(*prices.supply.points, strict=True)
        return Around(given.cards.value, host.value, given.network.value, given.fans.value,
                      given.cooling_load.value, loads, efficiencies, given.capacity.value, site)
    if power is None or power.full is None:
        return None
    if given and given.whole and prices.pue:
        per_card = given.whole.value / prices.pue.value - power.full.value
        count: Number = given.cards.value
    elif node.power and node.power.full:
        count = node.devices_per_node.value
        per_card = node.power.full.value / count - power.full.value
    else:
        return None
    return Around(count, max(0.0, per_card) * count, 0.0, 0.0, 1.0, (), (), 1.0, site)


def servers_of(count: Number, of_server: Number) -> Number:
    """Servers that a deployment takes [1]: whole ones, or its part of a single one.

    >>> servers_of(np.array([1.0, 8.0, 12.0]), 8.0).tolist()
    [0.125, 1.0, 2.0]

    Args:
        count: of its cards [1].
        of_server: cards of a server [1].

    Source: definition; a deployment smaller than a server shares it with others.
    """
    return select(np.less(count, of_server), count / of_server, ceil_div(count, of_server))


def site_power(power: Number, count: Number, rest: Around) -> Number:
    """Power of a site for the cards of a deployment [W].

    Cards, host and network heat the server; its fans turn as fast as the heat asks, which takes the
    cube of their speed; the supplies lose what their load says; the site cools and distributes.

    Args:
        power: of all cards [W].
        count: of cards [1]; the others of a shared server are taken to do the same.
        rest: what stands around them.

    Source: notebooks/cost.md, section From the cards to the meter.
    """
    servers = servers_of(count, rest.cards)
    heat, fans = heat_of_server(power, servers, rest)
    taken = heat + fans
    if not rest.loads:
        return servers * taken * rest.pue
    efficiency = np.interp(taken / rest.capacity, rest.loads, rest.efficiencies)
    return servers * taken / efficiency * rest.pue


def heat_of_server(power: Number, servers: Number, rest: Around) -> tuple[Number, Number]:
    """Heat of a server without its fans, and what its fans draw to carry it away [W].

    Args:
        power: of all cards [W].
        servers: that they stand in [1].
        rest: what stands around them.

    Source: notebooks/cost.md, section From the cards to the meter.
    """
    heat = power / servers + rest.host + rest.network
    return heat, rest.fans * np.minimum(1, heat / rest.cooling_load) ** FAN_LAW


def full_power(device: Device | str) -> Amount | None:
    """Power limit of a card [W]; None if not stated.

    Args:
        device: the card, or its identifier.

    Source: entry of the card in the catalogue.
    """
    power = (load_device(device) if isinstance(device, str) else device).power
    if power is None or power.full is None:
        return None
    return Amount.stated(power.full)


def shares_of(powers: Powers) -> dict[str, Any]:
    """Shares of a card's full power that each kind of work draws [1], with their ranges.

    Args:
        powers: what the card draws by kind of work.

    Source: measurements in params/powers/.
    """
    return {name: getattr(powers, name) for name in SHARES}


MILLION = 10**6
COMMON = "common"  # prices of what has none of its own
PARTS = ("network", "racks", "storage", "hosting", "people", "spares", "upkeep", "residual")
OF_PARTS = "from the price of the server, energy at full power and upkeep"


def stated(text: str, unit: str = "USD/s", name: str = "price") -> Amount:
    """Parse a price [money/s] as a reader writes it: ``2 USD/h``, or ``1.5..2.5 USD/h``.

    Without ends it is taken as exact; between two the central value is their geometric mean, as of
    a log-uniform prior.

    >>> stated("1..4 USD/h").per("USD/h")
    (2.0, 1.0, 4.0)

    Args:
        text: the price.
        unit: whose dimensions it has, in whatever currency.
        name: of the price in messages.

    Raises ParamsError for what is no price, or not of these dimensions, whether it is out of range
    or a ValueError of the parser of units.

    Source: median of a log-uniform distribution.
    """
    try:
        low, high, written = units.price_ends(text, unit)
    except ValueError as error:
        raise ParamsError(f"{name}: {error}.") from None
    return Amount((low * high) ** 0.5, low, high, written, "assumed", source=COMMAND_LINE)


@functools.cache
def _price_files() -> Mapping[str, str]:
    """Device -> the file of its prices, of those in the catalogue, none of which is loaded."""
    files = {name: yamlfile.read(locate("prices", name), "device").data
             for name in names("prices")}
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
    card = device if isinstance(device, str) else device.id
    given = {key: Override(raw, f"--set prices.{key}") for key, raw in (settings or {}).items()}
    prices: Prices = load("prices", reference or _price_files().get(card, COMMON), given)
    if reference is not None and prices.device is not None:
        theirs = locate("devices", prices.device).stem
        ours = locate("devices", device).stem if isinstance(device, str) else device.id
        if theirs != ours:
            raise ParamsError(f"{reference}: its prices are those of '{theirs}', the deployment "
                              f"runs on '{ours}'.")
    return prices


def card_hour(device: Device | str, ownership: str = "own", prices: Prices | None = None,
              reader: Amount | str | None = None) -> Amount | None:
    """Price of a card by the time [money/s], everything included; None if not stated.

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


def parts_of(prices: Prices, currency: str) -> dict[str, Amount]:
    """Inputs of :func:`bill` that prices state, by name [money], [money/s], [money/J], [1].

    Args:
        prices: that hold for the card.
        currency: that is wanted.

    Source: the prices of the catalogue or of a reader.
    """
    parts: dict[str, Amount] = {}
    owning = {name: getattr(prices.owning, name) for name in PARTS} if prices.owning else {}
    for name, value in (owning | {"electricity": prices.electricity}).items():
        if value is not None:
            amount = Amount.stated(value)
            parts[name] = amount if value.unit == "1" else converted(
                amount, currency, prices.exchange)
    if prices.discount is not None and prices.years is not None:
        parts["discount"] = Amount.stated(prices.discount)
        parts["years"] = Amount.stated(prices.years).scaled(1 / YEAR)
    return parts


def priced_hour(device: Device, node: Node, ownership: str, prices: Prices, currency: str,
                reader: Amount | str | None = None) -> Amount | None:
    """Price of a card by the time [money/s]: as stated, else of an own card what its server and its
    energy at full power cost; None where either is unknown.

    Args:
        device, node: the card and its server.
        ownership: ``own``, ``rent-always`` or ``rent-by-hour``.
        prices: that hold for the card.
        currency: of a price that is not stated.
        reader: a price that a reader sets, in place of any.

    Source: notebooks/cost.md, section What owning costs, and money over time.
    """
    hour = card_hour(device, ownership, prices, reader)
    if hour is not None or ownership != OWNERSHIPS[0]:
        return hour
    server, full = server_price(device, node, prices, currency), full_power(device)
    parts, count = parts_of(prices, currency), int(node.devices_per_node.value)
    rest = around_of(device, node, prices)
    if not (server and full and rest and prices.pue and "years" in parts):
        return None

    def second(q: Mapping[str, Any]) -> dict[str, Any]:
        power = site_power(full.value * count, count, replace(rest, pue=q["pue"]))
        return {"hour": bill(dict.fromkeys((*PARTS, "electricity"), 0.0) | dict(q) | {
            "servers": 1, "cards": count, "kept_power": power, "mean_power": power}).second / count}

    uncertain = parts | {"server": server, "pue": Amount.stated(prices.pue)}
    derived = propagate_uncertainty(second, uncertain, {"hour": f"{currency}/s"}, at_once=True)
    return replace(derived["hour"], kind="derived", source=OF_PARTS)


def usual_currency(prices: Prices) -> str:
    """Currency of the electricity, USD where it has no price.

    Args:
        prices: that hold for a card.

    Source: the prices of the catalogue or of a reader.
    """
    return prices.electricity.unit.partition("/")[0] if prices.electricity else "USD"


def way_of(device: Device | str, prices: Prices | None = None) -> str:
    """Default way of having a card: the first of ``OWNERSHIPS`` with a price.

    >>> way_of("nvidia-h200-sxm"), way_of("ascend-910b2")
    ('own', 'own')

    Args:
        device: the card, or its identifier.
        prices: a reader's, in place of those of the catalogue.
    """
    return next((way for way in OWNERSHIPS if card_hour(device, way, prices) is not None),
                OWNERSHIPS[0])


def agent_costs(request: Number, turns: int, input_tokens: Number, output_tokens: Number
                ) -> dict[str, Number]:
    """Cost of an agent's tokens and tasks, from that of its mean request.

    A task is its turns, each a request. A request processes its prompt, whether it is found in the
    cache or not, and its answer, all tokens at one price.

    >>> agent_costs(0.02, 30, 9500, 500)
    {'per_processed': 2e-06, 'per_task': 0.6}

    Args:
        request: the mean request [money].
        turns: of a task [1].
        input_tokens, output_tokens: of the mean request [token].

    Returns ``per_processed`` [money/token] and ``per_task`` [money].

    Source: notebooks/cost.md, section Prompts and answers.
    """
    return {"per_processed": request / (input_tokens + output_tokens), "per_task": turns * request}


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


def unpriced(device: str, ownership: str) -> str:
    """Return the message for a card whose hour has no price.

    Args:
        device: identifier of the card.
        ownership: ``own``, ``rent-always`` or ``rent-by-hour``.
    """
    return (f"no price of an hour of '{device}' ({ownership}) was found: state one with --price, "
            f"such as --price '1.5..2.5 USD/h', or in a file of prices (--prices).")


def annuity(discount: Number, years: Number) -> Number:
    """Present value of one unit of money at the end of every year [1].

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
    """Bill of owning a deployment [money], [money] per year.

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
        """Capital paid at the beginning [money]."""
        return self.hardware + self.around

    @property
    def yearly(self) -> Number:
        """Running cost of a year [money]."""
        return self.energy + self.hosting + self.upkeep + self.people


def bill(q: Mapping[str, Number]) -> Bill:
    """Bill of owning a deployment.

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
    """Present value of a deployment's revenue less its costs [money].

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
    years = -np.log(np.where(ever, left, 1.0)) / np.log1p(np.where(free, 1.0, discount))
    return np.where(free, simple, np.where(earns & ever, years, np.inf))


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
    """Price of a server with its cards in a currency [money]; None if not stated.

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
        value = both.get(currency) or next((one for one in both.values() if one), None)
        return None if value is None else converted(Amount.stated(value), currency, prices.exchange)

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


def _affordable(amount: float, price: float) -> int:
    return max(0, math.floor(amount / price * (1 + 1e-12)))


def cards_within(device: str, node: str, *, rent: Amount | None = None,
                 capital: Amount | None = None, power: float | None = None, ownership: str = "own",
                 price: Amount | str | None = None) -> int:
    """The most cards of a kind that a budget pays for, or a site's power feeds [1]: whole servers'
    worth where servers are bought or fed.

    >>> from calc.costing.ownership import stated
    >>> cards_within("nvidia-h200-sxm", "hgx-h200", power=1e6)
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
    prices = prices_of(device)
    of_server = int(server.devices_per_node.value)
    limits: list[int] = []
    if rent is not None:
        hour = priced_hour(card, server, ownership, prices, rent.currency, price)
        if hour is None:
            raise ParamsError(unpriced(device, ownership))
        limits.append(_affordable(
            rent.value, converted(hour, rent.currency, prices.exchange).value))
    if capital is not None:
        one, storage = _server_costs(card, server, prices, capital.currency)
        limits.append(of_server * _affordable(capital.value - storage, one))
    if power is not None:
        full, rest = site_of(card, server, prices)
        one = float(site_power(full.value * of_server, of_server, rest))
        limits.append(of_server * _affordable(power, one))
    if not limits:
        raise ParamsError("no limit is given, expected a budget by the hour, a capital or a power.")
    return min(limits)


def site_of(card: Device, server: Node, prices: Prices) -> tuple[Amount, Around]:
    """Power limit of a card [W], and power of what surrounds it up to the meter.

    Args:
        card, server: the card and its server.
        prices: that hold for the card.

    Raises ParamsError where either is unknown.

    Source: as of :func:`full_power` and :func:`around_of`.
    """
    full, rest = full_power(card), around_of(card, server, prices)
    if full is None or rest is None:
        raise ParamsError(f"devices: the power of a server of '{card.id}' is unknown, expected "
                          "'power' in the file of the card, or a goal without power and energy.")
    return full, rest


def capital_of(device: str, node: str, cards: int, currency: str) -> float:
    """Capital that buys cards in whole servers, with racks, network and storage [money].

    Args:
        device, node: identifiers of the card and of its server.
        cards: to be bought [1].
        currency: of the result.

    Raises ParamsError where nobody states the price of a server.

    Source: as of :func:`cards_within`.
    """
    server = load_node(node)
    one, storage = _server_costs(load_device(device), server, prices_of(device), currency)
    return storage + one * math.ceil(cards / int(server.devices_per_node.value))


def _server_costs(card: Any, node: Any, prices: Prices, currency: str) -> tuple[float, float]:
    """Price of a server with its part of racks and network, and of storage [money]."""
    server = server_price(card, node, prices, currency)
    if server is None:
        raise ParamsError(f"devices: no price of a server of '{card.id}' was found, expected "
                          "owning.server in a file of prices (--prices).")
    owning, count = prices.owning, int(node.devices_per_node.value)

    def part(name: str) -> float:
        value = getattr(owning, name) if owning else None
        if value is None:
            return 0.0
        return converted(Amount.stated(value), currency, prices.exchange).value

    return server.value + part("racks") + count * part("network"), part("storage")
