"""What cards draw for what they do, and what a site draws for them: idle to busy, by what binds.

While a kernel of one kind runs, a card draws what was measured while only such kernels ran
(``params/powers/``); between kernels it is awake. So the energy of a step is that of being awake
for as long as it lasts, and for each kind of work the time of its kernels at what they draw beyond.
Everything here takes arrays as :func:`calc.evaluate` gives them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from calc.physics.arrays import ceil_div, select
from calc.physics.inputs import Number
from calc.uncertainty import Amount
from catalogue import Scenario, load, load_device, names
from catalogue.entries.hardware import Device, Node
from catalogue.planning.prices import BUSY, WAITING, Powers, Prices

USUAL = "usual"  # powers of a card of which nothing was measured
MATMULS = ("attention", "dense_mlp", "shared_expert", "router", "head")
FAN_LAW = 3  # power of a fan goes with the cube of its speed, its speed with the heat
SHARES = (*WAITING, *BUSY)


@functools.cache
def _of_devices() -> Mapping[str, str]:
    """Device -> the file of its powers, of those in the catalogue."""
    return {device: name for name in names("powers") for device in load("powers", name).devices}


def powers_of(device: str) -> Powers:
    """Return what a card draws by kind of work; typical values for one that was not measured.

    >>> powers_of("nvidia-b200").memory.value, powers_of("ascend-910b2").id
    (0.72, 'usual')

    Args:
        device: identifier.
    """
    return load("powers", _of_devices().get(device, USUAL))


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
