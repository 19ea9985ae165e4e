"""What lies between cards: a full mesh, a switch, and two servers with their ports, to scale."""

from __future__ import annotations

import math
from collections.abc import Mapping

from catalogue.messages import messages
from notebooks.show.drawing import SMALL, WIDTH, Drawing, Text
from notebooks.show.figures import CACHE, LINKS, READ
from notebooks.show.numbers import fmt_fixed, fmt_sig

common = messages("common")
say = messages("pages/derivations/diagrams/networks")

GB = 1e9
THICK = 14.0  # of the widest link
RADIUS, CARD = 74.0, 9.0
MESH, SWITCH, PORT = CACHE, READ, LINKS  # colours
MOST = 8  # cards of a server that have room in the drawing


def draw(mesh: Mapping[str, float], switched: Mapping[str, float], names: tuple[Text, Text],
         lang: str) -> Drawing:
    """Links of two servers, and of two servers beside each other, as wide as they are fast.

    Args:
        mesh, switched: links of a server without and with a switch, as input symbols (SI).
        names: of their cards.
        lang: language of the labels.
    """
    widest = max(of["device_link_bandwidth"] for of in (mesh, switched)) / THICK
    cards = int(mesh["devices_per_node"])
    drawing = Drawing(
        "networks-to-scale", lang, say("links-between-cards-to-scale"),
        say("what-links-are", cards=cards, pair=_rate(mesh["pair_bandwidth"]),
            mesh_card=_rate(mesh["device_link_bandwidth"]),
            switched_card=_rate(switched["device_link_bandwidth"]),
            mesh_port=_rate(mesh["network_bandwidth"]),
            switched_port=_rate(switched["network_bandwidth"]), mesh=names[0], switched=names[1]),
        height=424)
    _mesh(drawing, mesh, names[0], widest)
    _switch(drawing, switched, names[1], widest)
    _servers(drawing, mesh, switched, names, widest)
    return drawing


def _ring(x: float, y: float, cards: int) -> list[tuple[float, float]]:
    """Places of cards on a circle, the first at its top."""
    turns = (2 * math.pi * number / cards - math.pi / 2 for number in range(cards))
    return [(x + RADIUS * math.cos(turn), y + RADIUS * math.sin(turn)) for turn in turns]


def _cards(drawing: Drawing, places: list[tuple[float, float]]) -> None:
    for x, y in places:
        drawing.circle(x, y, CARD)


def _mesh(drawing: Drawing, of: Mapping[str, float], name: Text, widest: float) -> None:
    """Every pair of cards, those of one card in colour."""
    places = _ring(98, 138, int(of["devices_per_node"]))
    width = of["pair_bandwidth"] / widest
    drawing.label(8, 16, common("full-mesh"), bold=True)
    drawing.label(8, 33, name, small=True, muted=True)
    for number, (x, y) in enumerate(places):
        for to_x, to_y in places[number + 1:]:
            drawing.line(x, y, to_x, to_y, width, MESH if number == 0 else None)
    _cards(drawing, places)
    links = int(of["devices_per_node"]) - 1
    pair, whole = _rate(of["pair_bandwidth"]), _rate(of["device_link_bandwidth"])
    drawing.label(8, 244, say("rate-of-pair", rate=pair), small=True)
    drawing.label(8, 244 + 1.3 * SMALL, say("links-of-card", links=links, rate=whole), small=True)


def _switch(drawing: Drawing, of: Mapping[str, float], name: Text, widest: float) -> None:
    """Every card has all of its bandwidth to the switch."""
    places = _ring(302, 138, int(of["devices_per_node"]))
    drawing.label(212, 16, common("switch"), bold=True)
    drawing.label(212, 33, name, small=True, muted=True)
    for x, y in places:
        drawing.line(x, y, 302, 138, of["device_link_bandwidth"] / widest, SWITCH)
    drawing.bar(302 - 22, 138 - 22, 44, 44, None)
    _cards(drawing, places)
    whole = _rate(of["device_link_bandwidth"])
    drawing.label(212, 244, say("rate-of-card", rate=whole), small=True)
    drawing.label(212, 244 + 1.3 * SMALL, say("to-one-as-to-all"), small=True)


def _servers(drawing: Drawing, mesh: Mapping[str, float], switched: Mapping[str, float],
             names: tuple[Text, Text], widest: float) -> None:
    """Two servers of the kind with a switch, each card with its port to the network."""
    top, wide = 290.0, 184.0
    cards = min(MOST, int(switched["devices_per_node"]))
    drawing.label(8, top - 6, say("two-servers"), bold=True)
    for left in (8.0, WIDTH - 8 - wide):
        drawing.bar(left, top, wide, 76, hollow=True)
        step = wide / cards
        drawing.bar(left + 8, top + 8, wide - 16, 10)
        for number in range(cards):
            x = left + (number + 0.5) * step
            drawing.line(x, top + 18, x, top + 50, switched["device_link_bandwidth"] / widest,
                         SWITCH)
            drawing.circle(x, top + 54, CARD)
            drawing.line(x, top + 62, x, top + 92, switched["network_bandwidth"] / widest, PORT)
    drawing.bar(8, top + 92, WIDTH - 16, 6, PORT)
    here, other = switched, mesh
    y = top + 98 + 1.4 * SMALL
    share = fmt_fixed(here["device_link_bandwidth"] / here["network_bandwidth"], 0)
    drawing.label(8, y, say("network-of-switched",
                            rate=_rate(here["network_bandwidth"]), share=share),
        small=True)
    share = fmt_fixed(other["device_link_bandwidth"] / other["network_bandwidth"], 0)
    drawing.label(8, y + 1.3 * SMALL, say("network-of-mesh", name=names[0], share=share, rate=_rate(
        other["network_bandwidth"])), small=True, muted=True)


def _rate(rate: float) -> str:
    return f"{fmt_sig(rate / GB)} GB/s"
