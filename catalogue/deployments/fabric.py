"""Links of a deployment: bandwidths, topology, and how far the scale-up links reach."""

from __future__ import annotations

from catalogue import library
from catalogue.deployments.resolved import Resolved
from catalogue.entries.hardware import Node


def scale_up_domain(node: Node) -> int:
    """Devices that reach each other over the scale-up links [1].

    Args:
        node: an entry of ``params/nodes/``.
    """
    fabric = node.fabric_nodes.value if node.fabric_nodes else 1
    return int(node.devices_per_node.value * fabric)


def link_inputs(scenario: Resolved) -> dict[str, float]:
    """Bandwidths and topology; a scale-up fabric over several nodes counts as one large node."""
    node = scenario.node
    inside = library.load("links", node.device_link)
    if node.fabric_link and scenario.file.cluster.nodes.value > 1:
        inside = library.load("links", node.fabric_link)
        size = scale_up_domain(node)
    else:
        size = int(node.devices_per_node.value)
    network = library.load("links", node.network_link)
    ports = node.ports_per_node.value if node.ports_per_node else node.devices_per_node.value
    pair = inside.pair_bandwidth or inside.device_bandwidth
    return {
        "devices_per_node": size, "full_mesh": float(inside.topology == "full-mesh"),
        "pair_bandwidth": pair.value, "device_link_bandwidth": inside.device_bandwidth.value,
        "network_bandwidth": network.device_bandwidth.value
        * min(1.0, ports / node.devices_per_node.value),
    }
