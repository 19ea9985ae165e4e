"""Links and network of a deployment, and what an exchange of experts pays to cross them."""

import pytest

import catalogue
from catalogue.deployments.fabric import (
    USUAL_NETWORK,
    inside_inputs,
    network_bandwidth,
    scale_up_domain,
)
from catalogue.deployments.layout import expert_slices, link_problem
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
TABLE = {"exchange_alpha": "5 us", "exchange_network_alpha": "7 us",
         "exchange_network_efficiency": "0.5", "exchange_expert_time": "1 ns",
         "exchange_token_time": "2 ns/token", "exchange_efficiency": "0.25"}
SI = {"exchange_alpha": 5e-6, "exchange_network_alpha": 7e-6, "exchange_network_efficiency": 0.5,
      "exchange_expert_time": 1e-9, "exchange_token_time": 2e-9, "exchange_efficiency": 0.25}
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


@pytest.fixture
def profiled(tmp_path):
    """Inputs of a deployment on nine servers, whose engine states values of a mode."""
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


@pytest.mark.parametrize(("mode", "own", "other"), [
    ("low_latency", (), (NORMAL,)), ("normal", (NORMAL,), ())])
def test_measured_exchanges_of_an_engine_hold_in_their_mode(profiled, mode, own, other):
    with_it, without = profiled(mode, TABLE, *own), profiled(mode, TABLE, *other)
    assert {name: with_it[name] for name in SI} == pytest.approx(SI)
    assert not any(without[name] == pytest.approx(value) for name, value in SI.items())


def test_measured_exchanges_of_one_server_or_network_say_nothing_of_another(profiled):
    inside = profiled("low_latency", {"exchange_alpha": "5 us"})
    usual = catalogue.load_link(USUAL_NETWORK).exchange_alpha.low_latency.value
    assert (inside["exchange_alpha"], inside["exchange_network_alpha"]) == pytest.approx(
        (5e-6, usual))
    link = catalogue.load_link(catalogue.load_node("hgx-h800-roce").network_link)
    roce = profiled("low_latency", TABLE, "device=nvidia-h800", node="hgx-h800-roce")
    assert roce["exchange_network_alpha"] == link.exchange_alpha.low_latency.value
    assert roce["exchange_alpha"] == pytest.approx(5e-6)


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


@pytest.mark.parametrize(("stated", "tensor", "expert", "slices"), [
    (0, 8, 2, 4), (0, 8, 8, 1), (0, 2, 8, 1), (0, 8, 3, 2), (1, 8, 2, 1), (5, 1, 1, 5)])
def test_experts_have_the_slices_that_are_stated_or_that_tensor_parallelism_leaves(
        stated, tensor, expert, slices):
    assert expert_slices({"expert_tensor_parallel": stated}, tensor, expert) == slices
