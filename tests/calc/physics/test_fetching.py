"""Experts off the cards: loaded when chosen, what is missing, how long it takes; or on the host.

By hand: an expert of DeepSeek-V3 has 3 x 7168 x 2048 weights, 88.08 MB in 16 bits.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml
from _fleet import ATTENTIONS, fleet, run, sampled, where
from _plain import plain
from hypothesis import given, settings
from hypothesis import strategies as st

import calc
import catalogue
from calc.answer.nearest import Search
from calc.closed_form.evaluate import PHASES
from calc.physics.breakdown import bound_by, parts
from calc.physics.experts import distinct_experts
from catalogue import ParamsError

EXPERT = 3 * 7168 * 2048 * 2  # [B]
GIB = 2**30
SEEDS = st.integers(0, 2**32 - 1)
both = pytest.mark.parametrize("attention", ATTENTIONS)
INFINITE = {"host_link_bandwidth": 1e40, "host_memory_bandwidth": 1e40, "storage_bandwidth": 1e40}


def tiers(**changed):
    """Inputs of document S1's plan with three levels, and what follows from them."""
    inputs = catalogue.load_scenario("s1-expert-tiers").inputs() | changed
    return inputs, calc.evaluate(inputs, "mla")


class TestByHand:
    def test_one_expert_at_four_distances(self):
        _, found = tiers(sliced_streaming_efficiency=1, host_link_efficiency=1,
                         host_stream_efficiency=1)
        assert found["expert_read_time"] == pytest.approx(EXPERT / 8 / 4e12)
        assert found["expert_link_time"] == pytest.approx(EXPERT / 8 / 63e9)
        # a server has two processors, and loads one expert for its own replica
        assert found["expert_host_time"] == pytest.approx(EXPERT / (2 * 307.2e9))
        assert found["expert_storage_time"] == pytest.approx(EXPERT / 7e9)

    def test_nothing_on_the_cards_streams_all_that_is_chosen(self):
        _, found = tiers(fetched_share=1, device_hit_share=0, stored_share=0, host_hit_share=1,
                         host_memory_bandwidth=1e40, host_link_efficiency=1)
        time = 58 * found["decode_distinct_experts"] * EXPERT / 8 / 63e9
        assert found["decode_fetch_time"] == pytest.approx(time, rel=1e-12)

    def test_all_on_the_cards_loads_nothing(self):
        _, found = tiers(fetched_share=0, device_hit_share=0.1)
        assert all(found[f"{phase}_fetch_time"] == 0 for phase in PHASES)
        assert found["host_expert_weights"] == found["storage_expert_weights"] == 0

    @pytest.mark.parametrize("hits", [0, 0.5, 1])
    def test_where_every_expert_is_chosen_a_hit_rate_is_of_no_use(self, hits):
        inputs, found = tiers(device_hit_share=hits, host_hit_share=hits, routing_skew=0)
        for name, share in (("missing", 1), ("storage", inputs["stored_share"])):
            assert found[f"prefill_{name}_experts"] == pytest.approx(
                share * inputs["fetched_share"] * 256, rel=1e-3)

    def test_the_levels_hold_what_the_document_says(self):
        inputs, found = tiers()
        on_cards = (1 - inputs["fetched_share"]) * 58 * 256 * EXPERT
        assert on_cards / 8 / GIB == pytest.approx(40, rel=1e-3)
        assert found["host_expert_weights"] / GIB == pytest.approx(512, rel=1e-3)
        levels = on_cards + found["host_expert_weights"] + found["storage_expert_weights"]
        assert levels == pytest.approx(58 * 256 * EXPERT, rel=1e-12)
        _, whole = tiers(fetched_share=0)
        assert (whole["weights_per_device"] - found["weights_per_device"]
                == pytest.approx(inputs["fetched_share"] * 58 * 256 * EXPERT / 8, rel=1e-12))

    def test_what_cards_compute_does_not_depend_on_where_it_was(self):
        (_, near), (_, far) = tiers(fetched_share=0), tiers()
        for name in ("routed_expert_flops", "routed_expert_bytes", "routed_expert_time"):
            assert near[f"decode_{name}"] == far[f"decode_{name}"], name

    def test_no_hit_rate_makes_up_for_cards_that_keep_too_little(self):
        """20 requests choose 92 experts of a layer; eight cards keep 67 of them at most."""
        inputs, found = tiers(device_hit_share=1, host_hit_share=1, stored_share=0)
        lacking = found["decode_distinct_experts"] - 256 * (1 - inputs["fetched_share"])
        assert found["decode_missing_experts"] == pytest.approx(lacking)
        assert lacking > 24
        assert found["tpot"] > 0.3

    def test_prefetching_hides_at_most_the_rest_of_the_step(self):
        (inputs, exposed), (_, hidden) = tiers(), tiers(host_overlap=1)
        rest = exposed["decode_step_time"] - inputs["host_gap_per_step"] - (
            exposed["decode_fetch_time"])
        assert hidden["decode_hidden_time"] == pytest.approx(rest, rel=1e-9)
        _, few = tiers(host_overlap=1, device_hit_share=1 - 1e-6, host_hit_share=1, stored_share=0,
                       concurrency=4)
        assert few["decode_hidden_time"] == pytest.approx(few["decode_fetch_time"], rel=1e-9)

    def test_a_step_that_waits_for_experts_is_bound_by_the_host(self):
        inputs, found = tiers()
        assert parts(inputs, found)["fetch"] == found["decode_fetch_time"]
        assert bound_by(inputs, found)["host"] > 0.9 * found["decode_step_time"]


@both
class TestLaws:
    @settings(max_examples=10)
    @given(SEEDS)
    def test_a_level_supplies_no_more_than_it_has_and_no_less_than_is_needed(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        elsewhere = inputs["fetched_share"] * inputs["n_routed_experts"]
        stored = inputs["stored_share"] * elsewhere
        for phase in PHASES:
            read = np.minimum(inputs["n_routed_experts"], found[f"{phase}_distinct_experts"] * (
                1 + found[f"{phase}_rank_imbalance"]))
            lacking, deepest = (found[f"{phase}_{name}_experts"] for name in ("missing", "storage"))
            slack = 1e-9 * inputs["n_routed_experts"]
            assert (lacking <= np.minimum(elsewhere, read) + slack).all()
            assert (read - lacking <= inputs["n_routed_experts"] - elsewhere + slack).all()
            assert (deepest <= np.minimum(stored, lacking) + slack).all()
            assert (lacking - deepest <= elsewhere - stored + slack).all()

    @settings(max_examples=10)
    @given(SEEDS)
    def test_the_slowest_of_three_decides(self, attention, seed):
        """Each resource alone, the others as good as infinite; then all of them."""
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        ranks = found["routed_ranks"] * found["expert_slices"]
        devices = (inputs["tensor_parallel"] * inputs["pipeline_parallel"]
                   * inputs["data_parallel"])
        loads = (1 - inputs["offloaded_share"]) * (inputs["fetched_share"] > 0) * (
            found["moe_layers"] * found["routed_expert_parameters"]
            * inputs["offloaded_weight_bytes"] / ranks)
        for phase in PHASES:
            lacking, deepest = (found[f"{phase}_{name}_experts"] for name in ("missing", "storage"))
            alone = {
                "host_link_bandwidth": loads * lacking / (
                    inputs["host_link_bandwidth"] * inputs["host_link_efficiency"]),
                "host_memory_bandwidth": loads * (lacking - deepest) * devices / (
                    inputs["host_memory_bandwidth"] * inputs["host_stream_efficiency"]),
                "storage_bandwidth": loads * deepest / inputs["storage_bandwidth"]
                * np.minimum(inputs["devices_per_node"], devices)}
            for name, time in alone.items():
                rest = {other: rate for other, rate in INFINITE.items() if other != name}
                taken = run(inputs, attention, **rest)[f"{phase}_fetch_time"]
                np.testing.assert_allclose(taken, time, rtol=1e-9, atol=1e-20, err_msg=name)
            np.testing.assert_allclose(found[f"{phase}_fetch_time"],
                                       np.maximum.reduce(list(alone.values())), rtol=1e-12)

    def test_without_fetching_nothing_of_it_matters(self, attention):
        inputs = sampled(attention) | {"fetched_share": 0}
        other = inputs | {"stored_share": 1, "device_hit_share": 0, "host_hit_share": 0,
                          "host_link_efficiency": 0.1}
        before, after = run(inputs, attention), run(other, attention)
        for name, value in before.items():
            np.testing.assert_array_equal(value, after[name], err_msg=name)


class TestHitShares:
    """What is found where nothing is stated: at random, up to the most popular kept."""

    @staticmethod
    def popular(kept, tokens):
        """Share of the distinct experts that the most popular are, exponential popularity."""
        scale = tokens * 8 / 248
        ranks = (np.arange(1_000_000) + 0.5) / 1_000_000
        popularity = -np.log(ranks)  # falls with the rank
        chosen = 1 - np.exp(-scale * popularity)
        return chosen[ranks < kept].sum() / chosen.sum()

    @pytest.mark.parametrize(("name", "kept"), [
        ("device_hit_share", 1 - 0.7373), ("host_hit_share", 1 - 0.3169 / 0.7373)])
    def test_the_range_of_the_default(self, tmp_path, name, kept):
        path = catalogue.ROOT / "scenarios" / "s1-expert-tiers.yml"
        data = plain(path.read_text(encoding="utf-8"))
        data.pop("variants")
        mine = tmp_path / "mine.yml"
        mine.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
        knob = next(one for one in catalogue.load_scenario(mine).knobs() if one.name == name)
        assert knob.value.value == knob.value.low == pytest.approx(kept)
        assert knob.value.high == pytest.approx(self.popular(kept, 1e-4), rel=1e-3)

    def test_what_is_kept_at_random_has_the_share_that_is_kept_and_no_range(self):
        random = catalogue.load_scenario("s1-expert-tiers-uniform")
        inputs = random.inputs()
        assert inputs["device_hit_share"] == pytest.approx(1 - inputs["fetched_share"])
        assert inputs["host_hit_share"] == pytest.approx(1 - inputs["stored_share"], abs=1e-4)
        assert not {"device_hit_share", "host_hit_share"} & {one.name for one in random.knobs()}

    @pytest.mark.parametrize("tokens", [1, 20, 2000])
    def test_the_closed_form_of_the_book(self, tokens):
        kept, s = 0.2627, tokens * 8 / 248
        closed = kept * (1 + (1 - kept**s) / s)
        assert closed == pytest.approx(self.popular(kept, tokens), rel=1e-3)
        assert kept <= closed <= kept * (1 - math.log(kept))


class TestScenario:
    @pytest.mark.parametrize(("scenario", "change", "sentence"), [
        ("s1-expert-tiers", {"on_storage": 0.8},
         "0.8 of the routed experts on storage, but only 0.7373 are not on the cards"),
        ("s1-expert-tiers", {"fetched": False}, "only experts that are fetched may be on storage"),
        ("s1-expert-tiers", {"on_storage": -0.1}, "out of range"),
        ("s3-hybrid-910b4", {"fetched": "yes"}, "fetched"),
    ])
    def test_shares_that_cannot_be_are_refused_with_their_line(self, tmp_path, scenario, change,
                                                               sentence):
        path = catalogue.ROOT / "scenarios" / f"{scenario}.yml"
        data = plain(path.read_text(encoding="utf-8"))
        data["offload"] |= change
        mine = tmp_path / "mine.yml"
        mine.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
        with pytest.raises(ParamsError) as error:
            catalogue.load_scenario(mine)
        assert sentence in str(error.value)
        assert str(error.value).startswith(f"{mine}:")
        assert "\n" not in str(error.value)

    def test_what_is_stated_of_hits_and_drives_takes_the_place_of_the_default(self, tmp_path):
        path = catalogue.ROOT / "scenarios" / "s1-expert-tiers.yml"
        data = plain(path.read_text(encoding="utf-8"))
        data.pop("variants")  # the first states shares of its own
        stated = {"device_hit_share": 0.5, "host_hit_share": 0.9, "storage_bandwidth": "14 GB/s"}
        data["mechanisms"] = {name: {"value": value, "source": "the plan", "kind": "documented"}
                              for name, value in stated.items()}
        mine = tmp_path / "mine.yml"
        mine.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
        inputs = catalogue.load_scenario(mine).inputs()
        assert (inputs["device_hit_share"], inputs["host_hit_share"]) == (0.5, 0.9)
        assert inputs["storage_bandwidth"] == 14e9

    @pytest.mark.parametrize("stored", [None, 0])
    def test_nothing_need_be_on_storage(self, tmp_path, stored):
        path = catalogue.ROOT / "scenarios" / "s1-expert-tiers.yml"
        data = plain(path.read_text(encoding="utf-8"))
        data["offload"]["on_storage"] = stored
        mine = tmp_path / "mine.yml"
        mine.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
        scenario = catalogue.load_scenario(mine)
        assert calc.evaluate(scenario.inputs(), "mla")["decode_storage_experts"] == 0
        assert "host_hit_share" not in {knob.name for knob in scenario.knobs()}

    def test_experts_that_the_host_computes_are_not_fetched(self):
        inputs = catalogue.load_scenario("s3-hybrid-910b4").inputs()
        assert (inputs["offloaded_share"], inputs["fetched_share"]) == (1, 0)
        inputs = catalogue.load_scenario("s1-expert-tiers").inputs()
        assert (inputs["offloaded_share"], inputs["fetched_share"]) == (0, 0.7373)

    def test_a_card_must_multiply_what_it_fetches(self):
        """Advice looks for precisions whose experts the card itself can compute."""
        scenario = catalogue.load_scenario("s1-expert-tiers")
        search = Search(scenario, calc.evaluate(scenario.inputs(), "mla"))
        assert all(getattr(scenario.device.matrix_peak, one.multiply.routed_expert) is not None
                   for one in search.precisions)


AT_ONCE = {"host_peak": 1e40, "host_link_bandwidth": 1e40, "host_sync": 0}  # reading alone


@pytest.mark.parametrize("attention", ATTENTIONS)
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3000))
def test_a_group_reads_its_experts_as_if_alone(attention, seed, limit):
    """Never less than all at once, never more than each token for itself; equal if none waits.

    A step of whole groups reads as many times what one group reads.
    """
    inputs = fleet(attention, seed) | AT_ONCE
    for phase in PHASES:
        read, once, apart, fits = (run(inputs, attention, host_group_tokens=tokens)
                                   for tokens in (limit, 0, 1, 10**12))
        name, tokens = f"{phase}_offload_time", once[f"{phase}_group_tokens"]
        np.testing.assert_allclose(fits[name], once[name], rtol=1e-12)
        assert not where(read[name] < once[name] * (1 - 1e-9), read[name], once[name])
        assert not where((read[name] > apart[name] * (1 + 1e-9)) & (tokens >= 1),
                         read[name], apart[name])
        alone = tokens <= limit
        np.testing.assert_allclose(read[name][alone], once[name][alone], rtol=1e-12)


@pytest.mark.parametrize("attention", ATTENTIONS)
@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_two_whole_groups_and_a_rest(attention, seed):
    inputs = fleet(attention, seed) | AT_ONCE
    for phase in PHASES:
        together = run(inputs, attention)[f"{phase}_group_tokens"]
        limit = together / 2.5
        grouped, at_once = (run(inputs, attention, host_group_tokens=tokens)
                            for tokens in (limit, 0))
        whole, rest = (distinct_experts(inputs["n_routed_experts"], inputs["num_experts_per_tok"],
                                        tokens, inputs["routing_skew"])
                       for tokens in (limit, limit / 2))
        name = f"{phase}_offload_time"
        np.testing.assert_allclose(
            grouped[name] * at_once[f"{phase}_distinct_experts"],
            at_once[name] * (2 * whole + rest), rtol=1e-9, atol=1e-30)
