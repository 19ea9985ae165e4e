"""Which devices reach each other over their links, and what a card has of link and network."""

from types import SimpleNamespace

import pytest

import catalogue
from catalogue.deployments.fabric import (
    exchange_latencies,
    inside_inputs,
    link_inputs,
    network_bandwidth,
    scale_up_domain,
)
from catalogue.deployments.layout import expert_slices, link_problem


def count(value):
    return None if value is None else SimpleNamespace(value=value)


def joined(devices=8, links=None, topology="full-mesh"):
    """Why the devices of a server do not reach each other."""
    return link_problem(SimpleNamespace(id="server", devices_per_node=count(devices)),
                        SimpleNamespace(id="link", topology=topology,
                                        links_per_device=count(links)))


@pytest.mark.parametrize(("devices", "links", "topology", "says"), [
    (8, 7, "full-mesh", None), (9, 7, "full-mesh", "with 7 links of 'link' (full-mesh) a device "
                                                   "reaches only 7 others"),
    (2, None, "point-to-point", None), (2, 1, "point-to-point", None),
    (3, None, "point-to-point", "with 1 link of 'link' (point-to-point) a device reaches only 1 "
                                "other"),
    (4, 2, "point-to-point", "'server' has 4 devices, but with 2 links of"),
    (72, 1, "switch", None), (72, None, "switch", None)])
def test_a_device_reaches_as_many_others_as_it_has_links_or_all_over_a_switch(
        devices, links, topology, says):
    told = joined(devices, links, topology)
    assert (told is None) == (says is None)
    if told:
        assert says in told
        assert told.endswith("others" if (links or 1) > 1 else "other")


@pytest.mark.parametrize(("asked", "tensor", "expert", "slices"), [
    (0, 8, 2, 4), (None, 8, 2, 4), (0, 8, 8, 1), (0, 2, 8, 1), (0, 8, 3, 2), (1, 8, 2, 1),
    (5, 1, 1, 5)])
def test_experts_are_in_the_slices_asked_for_or_those_that_tensor_parallelism_leaves(
        asked, tensor, expert, slices):
    numbers = {} if asked is None else {"expert_tensor_parallel": asked}
    assert expert_slices(numbers, tensor, expert) == slices


@pytest.mark.parametrize(("topology", "pair", "adds", "found"), [
    ("full-mesh", 7, False, (1.0, 7, 100, 0.0)), ("switch", None, True, (0.0, 100, 100, 1.0)),
    ("point-to-point", 30, False, (0.0, 30, 100, 0.0))])
def test_a_pair_has_its_own_link_or_all_of_a_device(topology, pair, adds, found):
    link = SimpleNamespace(topology=topology, pair_bandwidth=count(pair), switch_adds=adds,
                           device_bandwidth=count(100))
    assert tuple(inside_inputs(link)[name] for name in (
        "full_mesh", "pair_bandwidth", "device_link_bandwidth", "switch_adds")) == found


@pytest.mark.parametrize(("ports", "share"), [(None, 1), (8, 1), (16, 1), (2, 0.25), (4, 0.5)])
def test_cards_share_the_ports_of_a_server_that_has_fewer(ports, share):
    whole = catalogue.load_link("infiniband-400g").device_bandwidth.value
    node = SimpleNamespace(devices_per_node=count(8), ports_per_node=count(ports),
                           network_link="infiniband-400g")
    assert network_bandwidth(node) == whole * share


@pytest.mark.parametrize(("fabric", "nodes", "size", "link"), [
    (None, 1, 8, "nvlink-h100"), (None, 3, 8, "nvlink-h100"), ("nvlink-5", 1, 8, "nvlink-h100"),
    ("nvlink-5", 2, 24, "nvlink-5")])
def test_servers_on_one_fabric_are_one_large_server(fabric, nodes, size, link):
    node = SimpleNamespace(
        device_link="nvlink-h100", devices_per_node=count(8), fabric_link=fabric,
        fabric_nodes=count(3 if fabric else None), network_link="infiniband-400g",
        ports_per_node=None)
    assert scale_up_domain(node) == (24 if fabric else 8)
    found = link_inputs(SimpleNamespace(node=node, file=SimpleNamespace(
        cluster=SimpleNamespace(nodes=count(nodes)))))
    assert found["devices_per_node"] == size
    assert found["device_link_bandwidth"] == catalogue.load_link(link).device_bandwidth.value


OWN, BETWEEN, TOLD = (count(number) for number in (5, 7, 11))
USUAL, ROCE = (catalogue.load_link(name).exchange_alpha.low_latency
               for name in ("infiniband-400g", "roce-910c"))
INFINIBAND = catalogue.load_link("infiniband-400g").exchange_alpha


@pytest.mark.parametrize(("experts", "stated", "between", "given", "fabric", "network", "found"), [
    (8, (), None, {}, None, "infiniband-400g", (OWN, None)),
    (9, (), None, {}, None, "infiniband-400g", (OWN, USUAL)),
    (9, (), BETWEEN, {}, None, "infiniband-400g", (BETWEEN, None)),
    (9, ("exchange_alpha",), BETWEEN, {}, None, "infiniband-400g", (OWN, None)),
    # an engine's tables were measured over the usual network
    (9, (), BETWEEN, {"exchange_alpha": TOLD}, None, "infiniband-400g", (OWN, USUAL)),
    (9, (), None, {"exchange_network_alpha": TOLD}, None, "infiniband-400g", (OWN, TOLD)),
    (9, (), None, {"exchange_network_alpha": TOLD}, None, "roce-910c", (OWN, ROCE)),
    # of 24 cards on one fabric none crosses the network, and the fabric says nothing of its own
    (24, (), BETWEEN, {}, "nvlink-5", "infiniband-400g", (OWN, None)),
    (25, (), BETWEEN, {}, "nvlink-5", "infiniband-400g", (BETWEEN, None)),
    (25, (), None, {}, "nvlink-5", "infiniband-400g", (OWN, USUAL)),
    (9, (), None, {}, None, "nvlink-5", (OWN, USUAL)),  # a network that says nothing is as usual
])
def test_an_exchange_pays_for_the_slowest_link_that_its_ranks_cross(
        experts, stated, between, given, fabric, network, found):
    node = SimpleNamespace(
        devices_per_node=count(8), fabric_link=fabric, fabric_nodes=count(3 if fabric else None),
        network_link=network)
    scenario = SimpleNamespace(node=node, given=given, file=SimpleNamespace(
        mechanisms=dict.fromkeys(stated),
        parallelism=SimpleNamespace(expert_parallel=count(experts))))
    levels = SimpleNamespace(node=SimpleNamespace(alpha=OWN),
                             network=SimpleNamespace(alpha=between))
    paid = exchange_latencies(scenario, levels, "low_latency")
    assert (paid["exchange_alpha"], paid.get("exchange_network_alpha")) == found


def test_either_mode_of_an_exchange_has_a_latency_of_its_own():
    node = catalogue.load_node("hgx-h100")
    scenario = SimpleNamespace(node=node, given={}, file=SimpleNamespace(
        mechanisms={}, parallelism=SimpleNamespace(expert_parallel=count(16))))
    levels = SimpleNamespace(node=SimpleNamespace(alpha=OWN), network=SimpleNamespace(alpha=None))
    for mode in ("low_latency", "normal"):
        assert exchange_latencies(scenario, levels, mode)["exchange_network_alpha"] == getattr(
            catalogue.load_link(node.network_link).exchange_alpha, mode)
