"""InfiniBand or RoCE between servers that share experts: decode steps of one layout over either."""

from __future__ import annotations

from functools import partial

import catalogue
from catalogue.entries.hardware import Link
from catalogue.messages import messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.choices.communication import ANSWER, PROMPT
from notebooks.pages.derivations.choices.layouts import H800, Layout
from notebooks.pages.derivations.throughput import Values, quantities
from notebooks.show.columns import Column
from notebooks.show.display import number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_percent, fmt_time

common = messages("common")
say = messages("pages/derivations/choices/fabrics")

NODES = {"ib": "hgx-h800", "roce": "hgx-h800-roce"}  # alike but for the network
SERVERS = 4
PER_CARD = (8, 32, 128)  # requests
POOL = {"separate_pools": 1}  # what decodes has cards of its own
STEP, LATENCY = "decode_step_time", "exchange_network_alpha"
MILLI, MICRO, GIGA = 1e3, 1e6, 1e9


def compare(derivation: Derivation) -> None:
    """A row per number of requests: a step over either network, with the ends of its latency.

    Args:
        derivation: of all quantities.
    """
    laid = {key: Layout(H800, SERVERS, 1, whole=True, node=node) for key, node in NODES.items()}
    inputs = {key: layout.inputs(PROMPT, ANSWER) for key, layout in laid.items()}
    cards = laid["ib"].cards
    ends = {key: _latencies(_network(node)) for key, node in NODES.items()}
    assert all(inputs[key][LATENCY] == ends[key][0] for key in NODES), (
        "The latency of the exchange is that of the link.")

    def step(key: str, requests: int, latency: float) -> float:
        found: Values = quantities(derivation, inputs[key] | {LATENCY: latency} | POOL,
                                   concurrency=requests * cards)
        assert found["max_concurrency"] >= requests * cards
        return float(found[STEP])

    def shown(key: str, requests: int) -> str:
        value, low, high = (fmt_fixed(MILLI * step(key, requests, latency), 1)
                            for latency in ends[key])
        return f"{value} ({low}–{high})"

    def longer(requests: int) -> float:
        ib, roce = (step(key, requests, ends[key][0]) for key in NODES)
        return roce / ib - 1

    table(PER_CARD, [
        Column(fmt_int, common("requests-per-card")),
        Column(partial(shown, "ib"), say("step-over", link="InfiniBand")),
        Column(partial(shown, "roce"), say("step-over", link="RoCE")),
        Column(lambda requests: fmt_percent(longer(requests), digits=0), say("longer"))])
    numbers({"fabric-cards": cards, "fabric-servers": SERVERS, "fabric-few": PER_CARD[0],
             "fabric-many": PER_CARD[-1]})
    numbers({"fabric-longer-few": longer(PER_CARD[0]), "fabric-longer-many": longer(PER_CARD[-1])},
            fmt_percent, digits=0)
    number("fabric-added", step("roce", PER_CARD[0], ends["roce"][0])
           - step("ib", PER_CARD[0], ends["ib"][0]), fmt_time)
    for key, (value, *around) in ends.items():
        number(f"fabric-{key}", f"{fmt_fixed(MICRO * value, 0)} µs", str)
        number(f"fabric-{key}-ends",
               f"{'–'.join(fmt_fixed(MICRO * end, 0) for end in around)} µs", str)
    rate, = {_network(node).device_bandwidth.value for node in NODES.values()}
    number("fabric-rate", f"{rate / GIGA:g} GB/s", str)


def _network(node: str) -> Link:
    link: Link = catalogue.load_link(catalogue.load_node(node).network_link)
    return link


def _latencies(link: Link) -> tuple[float, float, float]:
    """What an exchange in low-latency mode pays for the link: value, ends of its range [s]."""
    assert link.exchange_alpha is not None
    found = link.exchange_alpha.low_latency
    return found.value, found.low, found.high
