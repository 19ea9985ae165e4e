"""What an exchange of experts pays for its latency: the card's share, and that of the fabric."""

import pytest

import catalogue
from catalogue.deployments.fabric import USUAL_NETWORK, scale_up_domain

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
