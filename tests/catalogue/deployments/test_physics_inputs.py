"""Mechanisms of a deployment: which it has, whose statement holds, what they are worth."""

import math
from dataclasses import replace

import numpy as np
import pytest
from _door import number, spoilt

import catalogue
from catalogue.deployments.physics_inputs import (
    NORMAL_90,
    USUAL_NETWORK,
    Knob,
    knobs,
    link_problem,
    network_bandwidth,
    physics_inputs,
    scale_up_domain,
)
from catalogue.entries.profiles import WAYS

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
OWN_CARD = f"""name: {{en: Mine, zh: 我的}}
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
        node = spoilt(tmp_path / "node.yml", "nodes/hgx-h800", "infiniband-400g",
                      str(tmp_path / "link.yml"))
        if card:
            (tmp_path / "priors.yml").write_text(card, encoding="utf-8")
            (tmp_path / "card.yml").write_text(
                "name: {en: Mine, zh: 我的卡}\nlike: nvidia-h800\n"
                f"mechanisms: {tmp_path / 'priors.yml'}\n", encoding="utf-8")
            overrides = (f"device={tmp_path / 'card.yml'}", *overrides)
        inputs = catalogue.load_scenario(
            WIDE, overrides=[f"cluster.node={node}", *overrides]).inputs()
        return inputs["exchange_alpha"], inputs["exchange_network_alpha"]
    return latencies


def test_a_network_adds_to_the_latency_inside_a_server(over):
    levels = catalogue.load("mechanisms", "nvidia-h800").all_to_all
    usual = catalogue.load_link(USUAL_NETWORK).exchange_alpha.low_latency.value
    inside = levels.low_latency.node.alpha.value
    assert over(LINK + ALPHA) == pytest.approx((inside, 33e-6))
    assert over(LINK + ALPHA, "", NORMAL) == pytest.approx((levels.normal.node.alpha.value, 99e-6))
    assert over(LINK) == (inside, usual)  # a network that states nothing is as usual
    assert over(LINK + ALPHA, OWN_CARD) == pytest.approx((77e-6, 0))  # a card's own is all of it
    assert over(LINK + ALPHA, OWN_CARD, "mechanisms.exchange_alpha=55 us") == pytest.approx(
        (55e-6, 0))


def test_no_network_is_crossed_within_a_server():
    for name in catalogue.deployment_names():
        scenario = catalogue.load_scenario(name)
        ranks = scenario.file.parallelism.expert_parallel.value
        if ranks <= scenario.node.devices_per_node.value:
            assert scenario.inputs()["exchange_network_alpha"] == 0, name


@pytest.mark.parametrize(("node", "cards", "port"), [
    ("hgx-h200", 8, 1), ("gb200-nvl72", 72, 1), ("hgx-h20-2x200g", 8, 2 / 8)])
def test_scale_up_domain_and_share_of_the_network(node, cards, port):
    entry = catalogue.load_node(node)
    assert scale_up_domain(entry) == cards
    whole = catalogue.load_link(entry.network_link).device_bandwidth.value
    assert network_bandwidth(entry) == whole * port


@pytest.mark.parametrize(("link", "devices", "reached"), [
    ("hccs-910b", 8, True), ("hccs-910b", 9, False), ("nvlink-h100", 72, True),
    ("pcie-4-x16", 2, True)])
def test_devices_reached_by_topology(link, devices, reached):
    node = catalogue.load_node("atlas-800i-a2").model_copy(
        update={"devices_per_node": number(devices)})
    assert (link_problem(node, catalogue.load_link(link)) is None) == reached


BASE = catalogue.load_scenario("h200-r1-vllm-tp8")  # MLA, experts in slices, FP8
CARD = catalogue.load("mechanisms", BASE.device.mechanisms)
HOST = catalogue.load_scenario("kt-4090d-v02")  # two processors compute all experts


def numbers(**values):
    return {name.replace("__", "."): number(value) for name, value in values.items()}


def deployment(base=BASE, stated=None, given=None, model=None, spread=None, offload=None, **file):
    """A shipped deployment with other statements of its own, its engine, its model, its cut."""
    changed = {"mechanisms": base.file.mechanisms if stated is None else stated,
               "parallelism": base.file.parallelism.model_copy(update=spread or {}), **file}
    if offload:
        changed["offload"] = base.file.offload.model_copy(update=offload)
    return replace(base, file=base.file.model_copy(update=changed),
                   by_engine=dict.fromkeys(WAYS, given or {}),
                   model=base.model.model_copy(update=model or {}))


def has(*args, **changes):
    return {knob.name: knob for knob in knobs(deployment(*args, **changes))}


def inputs(*args, **changes):
    changed = deployment(*args, **changes)
    return physics_inputs(changed, tuple(knobs(changed)))


COUNT = number(4)


@pytest.mark.parametrize(("mechanism", "with_it", "without"), [
    ("kv_imbalance", {"spread": {"data_parallel": number(2)}}, {}),
    ("placement_residual", {"spread": {"balancing": "periodic"}},
     {"spread": {"balancing": "ideal"}}),
    ("absorbed_copies", {}, {"model": {"attention": "gqa"}}),
    ("latent_core_latency", {"given": numbers(latent_core_latency=3)},
     {"given": numbers(latent_core_latency=3), "model": {"attention": "gqa"}}),
    ("latent_core_fill", {"given": numbers(latent_core_fill=3)},
     {"given": numbers(latent_core_fill=3), "model": {"attention": "csa"}}),
    ("hyper_operators", {"given": numbers(hyper_operators=3), "model": {"hc_mult": COUNT}},
     {"given": numbers(hyper_operators=3)}),
    ("index_workspace_rows", {"given": numbers(index_workspace_rows=3), "model": {"index_topk": 1}},
     {"given": numbers(index_workspace_rows=3)}),
    ("linear_chunk_tokens", {"given": numbers(linear_chunk_tokens=3),
                             "model": {"linear_layers": COUNT}},
     {"given": numbers(linear_chunk_tokens=3)}),
    ("sparse_attention_efficiency", {"model": {"index_topk": COUNT}}, {}),
    ("exchange_buffer_tokens", {}, {"stated": numbers(exchange_gathered=1)}),
    ("score_traffic", {"given": numbers(score_traffic=3)}, {})])
def test_mechanisms_are_those_of_model_cut_and_engine(mechanism, with_it, without):
    assert mechanism in has(**({"stated": {}} | with_it))
    assert mechanism not in has(**({"stated": {}} | without))


@pytest.mark.parametrize(("stated", "mode"), [
    ({}, "low_latency"), ({"exchange_normal": 1}, "normal")])
def test_an_exchange_has_the_mechanisms_of_its_mode(stated, mode):
    levels, found = getattr(CARD.all_to_all, mode), has(stated=numbers(**stated))
    assert found["exchange_alpha"].value == levels.node.alpha
    assert found["exchange_efficiency"].value == levels.node.efficiency
    assert found["exchange_network_efficiency"].value == levels.network.efficiency
    assert found["exchange_buffer_tokens"].value == levels.buffer_tokens


@pytest.mark.parametrize(("changes", "name", "value"), [
    ({"graphs": None}, "captured", 0), ({"scheduling": "prefill-first"}, "mixed_steps", 0),
    ({"spread": {"balancing": "periodic"}}, "balanced_placement", 1),
    ({"spread": {"balancing": "ideal"}}, "even_routing", 1),
    ({"spread": {"balancing": "none"}}, "even_routing", 0),
    ({"stated": numbers(exchange_gathered=1)}, "dispatch_element_bytes", 2),
    ({"base": replace(BASE, precision=catalogue.load_precision("bf16"))},
     "dispatch_element_bytes", 2)])
def test_engine_behaviour_as_numbers(changes, name, value):
    assert inputs(**changes)[name] == value


@pytest.mark.parametrize(("workload", "name", "value"), [
    ({"arrivals": "poisson"}, "open_arrivals", 1), ({"arrivals": "burst"}, "open_arrivals", 0),
    ({"length_distribution": "exponential"}, "prompt_variation", 1),
    ({"length_distribution": "constant"}, "answer_variation", 0),
    ({"length_distribution": "lognormal", "length_variation": number(0.3)},
     "answer_variation", 0.3)])
def test_workload_as_numbers(workload, name, value):
    assert inputs(workload=BASE.file.workload.model_copy(update=workload))[name] == value


@pytest.mark.parametrize(("low", "points"), [
    # from 10 up to 40 it doubles twice, down to 5 it halves once: in logarithms
    (5, {0: 10, NORMAL_90: 40, 2 * NORMAL_90: 160, NORMAL_90 / 2: 20, -NORMAL_90: 5,
         -2 * NORMAL_90: 2.5}),
    # from zero on it goes in equal steps, and not below
    (0, {0: 10, NORMAL_90: 40, 2 * NORMAL_90: 70, NORMAL_90 / 2: 25, -NORMAL_90: 0,
         -NORMAL_90 / 2: 5, -3 * NORMAL_90: 0})])
def test_a_range_is_the_central_80_percent_of_a_split_distribution(low, points):
    knob = Knob("k", number(10, low, 40), ("k",))
    assert [knob.at(score) for score in points] == pytest.approx([*points.values()], abs=1e-12)
    assert knob.at(np.array([*points])) == pytest.approx([*points.values()], abs=1e-12)


def test_hit_shares_of_fetched_experts():
    changes = {"fetched": True, "routed_experts": number(0.8), "group_tokens": None,
               "on_storage": number(0.2)}
    numbers_, found = inputs(base=HOST, offload=changes), has(base=HOST, offload=changes)
    assert [numbers_[f"{name}_share"] for name in ("offloaded", "fetched", "stored")] == [
        0, 0.8, 0.25]
    for name, kept in (("device_hit_share", 0.2), ("host_hit_share", 0.75)):
        value = found[name].value
        assert (value.value, value.low, value.high) == pytest.approx(
            (kept, kept, kept * (1 - math.log(kept))))
    assert found["storage_bandwidth"].value == catalogue.load_link("nvme-gen4").device_bandwidth
    assert "host_sync" not in found
    whole = has(base=HOST, offload=changes | {"routed_experts": number(1), "on_storage": None})
    assert (whole["device_hit_share"].value.value, whole["device_hit_share"].value.high) == (0, 0)
    assert not {"host_hit_share", "storage_bandwidth"} & set(whole)
