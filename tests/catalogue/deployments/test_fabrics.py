"""What a card has of links and network, and what an exchange of experts pays to cross them."""

from types import SimpleNamespace

import pytest

import catalogue
from catalogue.deployments.fabric import (
    USUAL_NETWORK,
    exchange_latencies,
    inside_inputs,
    link_inputs,
    network_bandwidth,
    scale_up_domain,
)
from catalogue.deployments.layout import expert_slices, link_problem

WIDE = "h800-profile-decode"  # 128 ranks on 16 servers
OWN_LINK = """name: {en: Mine, zh: 我的网络}
topology: switch
device_bandwidth: {value: 50 GB/s, source: "My test, https://example.org", kind: measured}
"""
SAID = 'source: "My test, https://example.org", kind: measured, note: {en: a, zh: 甲}}'
OWN_ALPHA = f"""exchange_alpha:
  low_latency: {{value: 33 us, range: [20 us, 60 us], {SAID}
  normal: {{value: 99 us, range: [50 us, 200 us], {SAID}
"""
OWN_CARD = f"""name: {{en: Mine, zh: 我的}}
like: nvidia-h800
all_to_all:
  low_latency:
    network:
      alpha: {{value: 77 us, range: [50 us, 99 us], {SAID}
"""


@pytest.fixture
def over(tmp_path):
    """Inputs of the wide deployment over a network of one's own, on cards of one's own."""
    def inputs(link, card="", *overrides):
        (tmp_path / "link.yml").write_text(link, encoding="utf-8")
        node = (catalogue.ROOT / "nodes" / "hgx-h800.yml").read_text(encoding="utf-8")
        (tmp_path / "node.yml").write_text(
            node.replace("infiniband-400g", str(tmp_path / "link.yml")), encoding="utf-8")
        text = (catalogue.ROOT / "scenarios" / f"{WIDE}.yml").read_text(encoding="utf-8")
        text = text.replace("node: hgx-h800", f"node: {tmp_path / 'node.yml'}")
        if card:
            (tmp_path / "priors.yml").write_text(card, encoding="utf-8")
            (tmp_path / "card.yml").write_text(
                "name: {en: Mine, zh: 我的卡}\nlike: nvidia-h800\n"
                f"mechanisms: {tmp_path / 'priors.yml'}\n", encoding="utf-8")
            text = text.replace("device: nvidia-h800\n", f"device: {tmp_path / 'card.yml'}\n")
        (tmp_path / "plan.yml").write_text(text, encoding="utf-8")
        return catalogue.load_scenario(tmp_path / "plan.yml", overrides=overrides).inputs()
    return inputs


def added(inputs):
    return inputs["exchange_alpha"], inputs["exchange_network_alpha"]


def test_a_network_adds_to_what_the_card_pays_inside(over):
    inside = catalogue.load("mechanisms", "nvidia-h800").all_to_all.low_latency.node.alpha.value
    assert added(over(OWN_LINK + OWN_ALPHA)) == pytest.approx((inside, 33e-6))


def test_a_file_that_says_nothing_has_the_usual_network(over):
    usual = catalogue.load_link(USUAL_NETWORK).exchange_alpha.low_latency.value
    assert over(OWN_LINK)["exchange_network_alpha"] == usual
    assert added(over(OWN_LINK)) == added(catalogue.load_scenario(WIDE).inputs())


def test_what_a_card_states_between_nodes_is_all_of_it(over):
    assert added(over(OWN_LINK + OWN_ALPHA, OWN_CARD)) == pytest.approx((77e-6, 0))


def test_within_a_server_nothing_is_crossed():
    for name in catalogue.deployment_names():
        scenario = catalogue.load_scenario(name)
        ranks = scenario.file.parallelism.expert_parallel.value
        if ranks <= scenario.node.devices_per_node.value:
            assert scenario.inputs()["exchange_network_alpha"] == 0, name


def test_every_network_says_what_it_adds():
    for name in catalogue.names("nodes"):
        link = catalogue.load_link(catalogue.load_node(name).network_link)
        assert link.exchange_alpha is not None, link.id
        for mode in ("low_latency", "normal"):
            value = getattr(link.exchange_alpha, mode)
            assert value.low < value.value < value.high, link.id
            assert 1e-6 < value.low < value.high < 1e-3, link.id


@pytest.fixture
def told(tmp_path):
    """Inputs of a deployment on two servers, whose engine's tables told some values of a mode."""
    def inputs(mode, values, *overrides, node="hgx-h100"):
        profile = (catalogue.ROOT / "profiles" / "sglang.yml").read_text(encoding="utf-8")
        mechanisms = "".join(
            f"      {name}: {{value: {value}, range: [{value}, {value}], source: arithmetic, "
            "kind: derived}\n" for name, value in values.items())
        (tmp_path / "mine.yml").write_text(
            f"{profile.rstrip()}\n  - exchange: {mode}\n    mechanisms:\n{mechanisms}",
            encoding="utf-8")
        return catalogue.load_scenario("wide-lmsys-decode", overrides=[
            f"engine={tmp_path / 'mine.yml'}@0.4.6", f"cluster.node={node}", *overrides]).inputs()
    return inputs


TOLD = {"exchange_alpha": "5 us", "exchange_network_alpha": "7 us",
        "exchange_network_efficiency": "0.5", "exchange_expert_time": "1 ns",
        "exchange_token_time": "2 ns/token", "exchange_efficiency": "0.25"}
SI = {"exchange_alpha": 5e-6, "exchange_network_alpha": 7e-6, "exchange_network_efficiency": 0.5,
      "exchange_expert_time": 1e-9, "exchange_token_time": 2e-9, "exchange_efficiency": 0.25}
NORMAL = "mechanisms.exchange_normal=1"


def test_an_engines_tables_hold_in_their_mode_alone(told):
    for mode, own, other in (("low_latency", (), (NORMAL,)), ("normal", (NORMAL,), ())):
        assert {name: told(mode, TOLD, *own)[name] for name in SI} == pytest.approx(SI)
        assert not any(told(mode, TOLD, *other)[name] == pytest.approx(value)
                       for name, value in SI.items())


def test_a_table_of_one_server_leaves_what_a_network_adds(told):
    without = told("low_latency", {"exchange_token_time": "2 ns/token"})
    inside = told("low_latency", {"exchange_alpha": "5 us", "exchange_efficiency": "0.25"})
    for name in ("exchange_network_alpha", "exchange_network_efficiency"):
        assert inside[name] == without[name] > 0
    assert inside["exchange_alpha"] == pytest.approx(5e-6)


def test_what_was_measured_over_one_network_is_not_said_of_another(told):
    """An engine's latency of the usual network holds of that: another says itself what it adds."""
    link = catalogue.load_link(catalogue.load_node("hgx-h800-roce").network_link)
    over = told("low_latency", TOLD, "device=nvidia-h800", node="hgx-h800-roce")
    assert over["exchange_network_alpha"] == link.exchange_alpha.low_latency.value
    assert over["exchange_alpha"] == pytest.approx(5e-6)


@pytest.mark.parametrize(("node", "cards"), [("hgx-h200", 8), ("gb200-nvl72", 72)])
def test_cards_reach_each_other_in_a_server_or_in_the_rack_whose_links_join_servers(node, cards):
    assert scale_up_domain(catalogue.load_node(node)) == cards


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


OWN, BETWEEN, GIVEN = (count(number) for number in (5, 7, 11))
USUAL, ROCE = (catalogue.load_link(name).exchange_alpha.low_latency
               for name in ("infiniband-400g", "roce-910c"))


@pytest.mark.parametrize(("experts", "stated", "between", "given", "fabric", "network", "found"), [
    (8, (), None, {}, None, "infiniband-400g", (OWN, None)),
    (9, (), None, {}, None, "infiniband-400g", (OWN, USUAL)),
    (9, (), BETWEEN, {}, None, "infiniband-400g", (BETWEEN, None)),
    (9, ("exchange_alpha",), BETWEEN, {}, None, "infiniband-400g", (OWN, None)),
    # an engine's tables were measured over the usual network
    (9, (), BETWEEN, {"exchange_alpha": GIVEN}, None, "infiniband-400g", (OWN, USUAL)),
    (9, (), None, {"exchange_network_alpha": GIVEN}, None, "infiniband-400g", (OWN, GIVEN)),
    (9, (), None, {"exchange_network_alpha": GIVEN}, None, "roce-910c", (OWN, ROCE)),
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
