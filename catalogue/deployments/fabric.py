"""Links of a deployment: bandwidths, topology, and how far the scale-up links reach."""

from __future__ import annotations

from catalogue import library
from catalogue.deployments.resolved import Resolved
from catalogue.entries.hardware import Link, Node
from catalogue.entries.mechanisms import Levels
from catalogue.reading.values import Value

USUAL_NETWORK = "infiniband-400g"  # what a network adds to an exchange, unless its file says it
NETWORK_ALPHA = "exchange_network_alpha"


def scale_up_domain(node: Node) -> int:
    """Devices that reach each other over the scale-up links [1].

    Args:
        node: an entry of ``params/nodes/``.
    """
    fabric = node.fabric_nodes.value if node.fabric_nodes else 1
    return int(node.devices_per_node.value * fabric)


def inside_inputs(link: Link) -> dict[str, float]:
    """Bandwidths and topology of the links between devices of a server.

    Args:
        link: an entry of ``params/links/``.
    """
    pair = link.pair_bandwidth or link.device_bandwidth
    return {"full_mesh": float(link.topology == "full-mesh"), "pair_bandwidth": pair.value,
            "device_link_bandwidth": link.device_bandwidth.value,
            "switch_adds": float(link.switch_adds)}


def network_bandwidth(node: Node) -> float:
    """What a card of a server has of the network [B/s]: cards share ports where these are fewer."""
    cards = node.devices_per_node.value
    ports = node.ports_per_node.value if node.ports_per_node else cards
    network: Link = library.load("links", node.network_link)
    return network.device_bandwidth.value * min(1.0, ports / cards)


def link_inputs(node: Node, nodes: float) -> dict[str, float]:
    """Bandwidths and topology; a scale-up fabric over several nodes counts as one large node.

    Args:
        node: an entry of ``params/nodes/``.
        nodes: of the deployment [1].
    """
    inside = library.load("links", node.device_link)
    if node.fabric_link and nodes > 1:
        inside = library.load("links", node.fabric_link)
        size = scale_up_domain(node)
    else:
        size = int(node.devices_per_node.value)
    return {
        "devices_per_node": size, **inside_inputs(inside),
        "network_bandwidth": network_bandwidth(node),
    }


def exchange_latencies(scenario: Resolved, exchange: Levels, mode: str, experts: float
                       ) -> dict[str, Value]:
    """The latency of an exchange: of the card, and of the fabric that its slowest messages cross.

    Within a server there is no fabric. A latency between nodes that the card's file or the
    deployment states is all of it; what an engine's tables say of a server is the card's share, and
    what they say of a network holds of the one that they were measured over.

    Args:
        scenario: the deployment.
        exchange: of the card's mechanisms, in the mode.
        mode: ``low_latency`` or ``normal``.
        experts: ranks that share the experts [1].
    """
    node = scenario.node
    own = {"exchange_alpha": exchange.node.alpha}
    if experts <= node.devices_per_node.value or "exchange_alpha" in scenario.file.mechanisms:
        return own
    within = experts <= scale_up_domain(node)
    if exchange.network.alpha is not None and not within and (
            "exchange_alpha" not in scenario.given):
        return {"exchange_alpha": exchange.network.alpha}
    crossing = node.fabric_link if within and node.fabric_link else node.network_link
    added = library.load("links", crossing).exchange_alpha
    if added is None and not within:
        added = library.load("links", USUAL_NETWORK).exchange_alpha
    if added is None:  # a fabric as fast as the links of a server
        return own
    measured = scenario.given.get(NETWORK_ALPHA) if crossing == USUAL_NETWORK else None
    return own | {NETWORK_ALPHA: measured or getattr(added, mode)}
