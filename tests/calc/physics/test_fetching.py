"""Experts off the cards: fetched when chosen from host or storage, or computed by the host.

An expert of DeepSeek-V3 has 3 x 7168 x 2048 weights, 88.08 MB in 16 bits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, run
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.closed_form.evaluate import PHASES, evaluate
from calc.physics.breakdown import bound_by, parts

EXPERT, GIB = 3 * 7168 * 2048 * 2, 2**30  # [B]
FREE = 1e40  # a rate as good as infinite
both = pytest.mark.parametrize("attention", ATTENTIONS)
seeds = st.integers(0, 2**32 - 1)


def tiers(**changed):
    """Inputs of document S1's plan with three levels, and what follows from them."""
    inputs = catalogue.load_scenario("s1-expert-tiers").inputs() | changed
    return inputs, evaluate(inputs, "mla")


class TestTiers:
    def test_one_expert_at_four_distances(self):
        _, found = tiers(sliced_streaming_efficiency=1, host_link_efficiency=1,
                         host_stream_efficiency=1)
        assert found["expert_read_time"] == pytest.approx(EXPERT / 8 / 4e12)
        assert found["expert_link_time"] == pytest.approx(EXPERT / 8 / 63e9)
        # a server has two processors, and loads one expert for its own replica
        assert found["expert_host_time"] == pytest.approx(EXPERT / (2 * 307.2e9))
        assert found["expert_storage_time"] == pytest.approx(EXPERT / 7e9)

    def test_nothing_or_everything_on_the_cards(self):
        _, none = tiers(fetched_share=1, device_hit_share=0, stored_share=0, host_hit_share=1,
                        host_memory_bandwidth=FREE, host_link_efficiency=1)
        time = 58 * none["decode_distinct_experts"] * EXPERT / 8 / 63e9
        assert none["decode_fetch_time"] == pytest.approx(time, rel=1e-12)
        _, every = tiers(fetched_share=0, device_hit_share=0.1)
        assert all(every[f"{phase}_fetch_time"] == 0 for phase in PHASES)
        assert every["host_expert_weights"] == every["storage_expert_weights"] == 0

    def test_the_levels_of_the_document(self):
        (inputs, found), (_, near) = tiers(), tiers(fetched_share=0)
        on_cards = (1 - inputs["fetched_share"]) * 58 * 256 * EXPERT
        assert on_cards / 8 / GIB == pytest.approx(40, rel=1e-3)
        assert found["host_expert_weights"] / GIB == pytest.approx(512, rel=1e-3)
        levels = on_cards + found["host_expert_weights"] + found["storage_expert_weights"]
        assert levels == pytest.approx(58 * 256 * EXPERT, rel=1e-12)
        assert near["weights_per_device"] - found["weights_per_device"] == pytest.approx(
            inputs["fetched_share"] * 58 * 256 * EXPERT / 8, rel=1e-12)
        for name in ("routed_expert_flops", "routed_expert_bytes", "routed_expert_time"):
            assert near[f"decode_{name}"] == found[f"decode_{name}"], name
        assert parts(inputs, found)["fetch"] == found["decode_fetch_time"]
        assert bound_by(inputs, found)["host"] > 0.9 * found["decode_step_time"]

    def test_prefetching_hides_at_most_the_rest_of_the_step(self):
        (inputs, exposed), (_, hidden) = tiers(), tiers(host_overlap=1)
        rest = exposed["decode_step_time"] - inputs["host_gap_per_step"] - (
            exposed["decode_fetch_time"])
        assert hidden["decode_hidden_time"] == pytest.approx(rest, rel=1e-9)
        _, few = tiers(host_overlap=1, device_hit_share=1 - 1e-6, host_hit_share=1, stored_share=0,
                       concurrency=4)
        assert few["decode_hidden_time"] == pytest.approx(few["decode_fetch_time"], rel=1e-9)


@both
@settings(max_examples=3)
@given(seeds)
def test_each_level_supplies_what_it_has_and_the_slowest_of_three_decides(attention, seed):
    inputs = fleet(attention, seed)
    found = run(inputs, attention)
    elsewhere = inputs["fetched_share"] * inputs["n_routed_experts"]
    stored, slack = inputs["stored_share"] * elsewhere, 1e-9 * inputs["n_routed_experts"]
    devices = inputs["tensor_parallel"] * inputs["pipeline_parallel"] * inputs["data_parallel"]
    loads = (1 - inputs["offloaded_share"]) * (inputs["fetched_share"] > 0) * (
        found["moe_layers"] * found["routed_expert_parameters"]
        * inputs["offloaded_weight_bytes"] / (found["routed_ranks"] * found["expert_slices"]))
    for phase in PHASES:
        read = np.minimum(inputs["n_routed_experts"], found[f"{phase}_distinct_experts"] * (
            1 + found[f"{phase}_rank_imbalance"]))
        lacking, deepest = (found[f"{phase}_{name}_experts"] for name in ("missing", "storage"))
        assert (lacking <= np.minimum(elsewhere, read) + slack).all()
        assert (read - lacking <= inputs["n_routed_experts"] - elsewhere + slack).all()
        assert (deepest <= np.minimum(stored, lacking) + slack).all()
        assert (lacking - deepest <= elsewhere - stored + slack).all()
        times = (
            loads * lacking / (inputs["host_link_bandwidth"] * inputs["host_link_efficiency"]),
            loads * (lacking - deepest) * devices / (
                inputs["host_memory_bandwidth"] * inputs["host_stream_efficiency"]),
            loads * deepest / inputs["storage_bandwidth"]
            * np.minimum(inputs["devices_per_node"], devices))
        np.testing.assert_allclose(found[f"{phase}_fetch_time"], np.maximum.reduce(times),
                                   rtol=1e-9, atol=1e-20)


class TestHitShares:
    """What is found where nothing is stated: at random, up to the most popular kept."""

    @staticmethod
    def popular(kept, tokens):
        """Share of the distinct experts that the most popular are, exponential popularity."""
        ranks = (np.arange(200_000) + 0.5) / 200_000
        chosen = 1 - np.exp(tokens * 8 / 248 * np.log(ranks))  # popularity falls with the rank
        return chosen[ranks < kept].sum() / chosen.sum()

    @pytest.mark.parametrize("tokens", [1, 20, 2000])
    def test_closed_form_of_the_most_popular_share(self, tokens):
        kept, s = 0.2627, tokens * 8 / 248
        closed = kept * (1 + (1 - kept**s) / s)
        assert closed == pytest.approx(self.popular(kept, tokens), rel=1e-3)
        assert kept <= closed <= kept * (1 - math.log(kept))
