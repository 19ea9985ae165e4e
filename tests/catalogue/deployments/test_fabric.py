"""Links and network of a deployment, and what an exchange of experts pays to cross them."""

from dataclasses import replace

import pytest

import catalogue
from catalogue.deployments.layout import link_problem
from catalogue.deployments.physics_inputs import (
    USUAL_NETWORK,
    inside_inputs,
    network_bandwidth,
    scale_up_domain,
)
from catalogue.entries.profiles import WAYS
from catalogue.reading.values import Value

WIDE = "h800-profile-decode"  # 128 ranks on 16 servers
SAID = 'source: "My test, https://example.org", kind: measured, note: {en: a, zh: 甲}}'
LINK = """name: {en: Mine, zh: 我的网络}
topology: switch
device_bandwidth: {value: 50 GB/s, source: "My test, https://example.org", kind: measured}
"""
ALPHA = f"""exchange_alpha:
  low_latency: {{value: 33 us, range: [20 us, 60 us], {SAID}
  normal: {{value: 99 us, range: [50 us, 200 us], {SAID}
"""
CARD = f"""name: {{en: Mine, zh: 我的}}
like: nvidia-h800
all_to_all:
  low_latency:
    network:
      alpha: {{value: 77 us, range: [50 us, 99 us], {SAID}
"""
NORMAL = "mechanisms.exchange_normal=1"


@pytest.fixture
def over(tmp_path):
    """Latencies of the exchange of the wide deployment over a network of one's own."""
    def latencies(link, card="", *overrides):
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
        inputs = catalogue.load_scenario(tmp_path / "plan.yml", overrides=overrides).inputs()
        return inputs["exchange_alpha"], inputs["exchange_network_alpha"]
    return latencies


def test_a_network_adds_to_the_latency_inside_a_server(over):
    levels = catalogue.load("mechanisms", "nvidia-h800").all_to_all
    usual = catalogue.load_link(USUAL_NETWORK).exchange_alpha.low_latency.value
    inside = levels.low_latency.node.alpha.value
    assert over(LINK + ALPHA) == pytest.approx((inside, 33e-6))
    assert over(LINK + ALPHA, "", NORMAL) == pytest.approx((levels.normal.node.alpha.value, 99e-6))
    assert over(LINK) == (inside, usual)  # a network that states nothing is as usual
    assert over(LINK + ALPHA, CARD) == pytest.approx((77e-6, 0))  # a card's own is all of it
    assert over(LINK + ALPHA, CARD, "mechanisms.exchange_alpha=55 us") == pytest.approx((55e-6, 0))


def test_no_network_is_crossed_within_a_server():
    for name in catalogue.deployment_names():
        scenario = catalogue.load_scenario(name)
        ranks = scenario.file.parallelism.expert_parallel.value
        if ranks <= scenario.node.devices_per_node.value:
            assert scenario.inputs()["exchange_network_alpha"] == 0, name


@pytest.mark.parametrize(("node", "device", "usual"), [
    ("hgx-h100", "nvidia-h100-sxm", True), ("hgx-h800-roce", "nvidia-h800", False)])
def test_latencies_that_an_engine_measured_hold_of_the_usual_network(node, device, usual):
    scenario = catalogue.load_scenario("wide-lmsys-decode", device, [f"cluster.node={node}"])
    measured = dict.fromkeys(("exchange_alpha", "exchange_network_alpha"), Value(
        7e-6, "s", "7 us", "arithmetic", "derived", 7e-6, 7e-6))
    inputs = replace(scenario, by_engine=dict.fromkeys(WAYS, measured)).inputs()
    own = catalogue.load_link(scenario.node.network_link).exchange_alpha.low_latency.value
    assert inputs["exchange_alpha"] == 7e-6
    assert inputs["exchange_network_alpha"] == (7e-6 if usual else own)


@pytest.mark.parametrize(("node", "cards", "port"), [
    ("hgx-h200", 8, 1), ("gb200-nvl72", 72, 1), ("hgx-h20-2x200g", 8, 2 / 8)])
def test_scale_up_domain_and_share_of_the_network(node, cards, port):
    entry = catalogue.load_node(node)
    assert scale_up_domain(entry) == cards
    whole = catalogue.load_link(entry.network_link).device_bandwidth.value
    assert network_bandwidth(entry) == whole * port


@pytest.mark.parametrize(("link", "mesh", "pair", "all_links", "adds"), [
    ("hccs-910b", 1, 28e9, 196e9, 0), ("nvlink-h100", 0, 450e9, 450e9, 1)])
def test_topology_of_a_server(link, mesh, pair, all_links, adds):
    inputs = inside_inputs(catalogue.load_link(link))
    assert [inputs[name] for name in ("full_mesh", "pair_bandwidth", "device_link_bandwidth",
                                      "switch_adds")] == [mesh, pair, all_links, adds]


@pytest.mark.parametrize(("link", "devices", "reached"), [
    ("hccs-910b", 8, True), ("hccs-910b", 9, False), ("nvlink-h100", 72, True),
    ("pcie-4-x16", 2, True)])
def test_a_device_reaches_as_many_others_as_it_has_links_or_all_over_a_switch(link, devices,
                                                                             reached):
    count = Value(devices, "1", str(devices), "arithmetic", "derived", devices, devices)
    node = catalogue.load_node("atlas-800i-a2").model_copy(update={"devices_per_node": count})
    assert (link_problem(node, catalogue.load_link(link)) is None) == reached
