"""Experts over ranks: whole or sliced, what the fullest makes others wait for, or shared apart."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from _fleet import ATTENTIONS, run, where
from _fleet import alike as sampled

import calc
import catalogue
from calc.closed_form.evaluate import PHASES
from calc.physics.arrays import Inputs
from calc.physics.experts import (
    copies_sent,
    fullest,
    fullest_receiver,
    shared_apart,
    upper_quantile,
)
from calc.physics.timing.collectives import all_gather, group, reduce_scatter

both = pytest.mark.parametrize("attention", ATTENTIONS)
RANKS, APART = 48, 12
WIDE = "wide-cloudmatrix-decode"
MEASURED = "h200-v32-sglang-dp8"  # --tp-size 8 --dp-size 8 --enable-dp-attention


def apart(attention, shared=APART, **changed):
    """Deployments with shared experts, all of whose 48 ranks share one set of experts."""
    inputs = dict(sampled(attention))
    return inputs | {
        "tensor_parallel": 1, "data_parallel": RANKS, "expert_parallel": RANKS,
        "expert_tensor_parallel": 0, "decode_context_parallel": 1, "exchange_normal": 0,
        "exchange_gathered": 0,
        "first_k_dense_replace": np.floor(inputs["num_hidden_layers"] / 2),
        "moe_intermediate_size": np.maximum(64, inputs["moe_intermediate_size"]),
        "n_routed_experts": 72, "num_experts_per_tok": 6, "redundant_experts": 0,
        "n_shared_experts": np.maximum(1, inputs["n_shared_experts"]),
        "fetched_share": 0, "offloaded_share": 0, "shared_expert_ranks": shared} | changed


@both
class TestWork:
    def test_without_such_ranks_each_has_its_own_tokens(self, attention):
        found = calc.evaluate(sampled(attention) | {"shared_expert_ranks": 0}, attention)
        np.testing.assert_array_equal(
            found["decode_shared_tokens"], found["decode_tokens"] / sampled(attention)[
                "micro_batches"])
        np.testing.assert_array_equal(found["routed_ranks"], sampled(attention)["expert_parallel"])

    def test_they_multiply_every_token_once(self, attention):
        """However many, together they pass all tokens through each of the shared experts."""
        inputs = apart(attention)
        for shared in (1, APART, RANKS - 1):
            found = run(inputs, attention, shared_expert_ranks=shared)
            for phase in PHASES:
                tokens = shared * found[f"{phase}_shared_tokens"]
                np.testing.assert_allclose(tokens, found[f"{phase}_group_tokens"])
                np.testing.assert_allclose(
                    shared * found[f"{phase}_shared_expert_flops"],
                    inputs["multiply_add_flops"] * found["moe_layers"]
                    * found["shared_expert_parameters"] * tokens)

    def test_more_of_them_are_never_slower(self, attention):
        """A rank's own time is seen where the routed experts take none."""
        alone = apart(attention, offloaded_share=1)
        found = [run(alone, attention, shared_expert_ranks=shared) for shared in (1, 5, 12, 40)]
        for fewer, more in pairwise(found):
            for phase in PHASES:
                for name in ("tokens", "expert_flops", "expert_bytes", "expert_time"):
                    few, many = (quantities[f"{phase}_shared_{name}"]
                                 for quantities in (fewer, more))
                    assert not where(many > few * (1 + 1e-12), few, many)

    def test_a_step_waits_for_the_slower_kind(self, attention):
        found, alone = (run(apart(attention), attention, offloaded_share=share)
                        for share in (0, 1))
        for phase in PHASES:
            routed, shared = (found[f"{phase}_routed_expert_time"],
                              alone[f"{phase}_shared_expert_time"])
            np.testing.assert_allclose(
                found[f"{phase}_routed_expert_time"] + found[f"{phase}_shared_expert_time"],
                np.maximum(routed, shared))

    def test_their_gates_and_operators_are_on_other_cards(self, attention):
        there = run(apart(attention, even_routing=1, redundant_experts=36), attention)
        found = run(apart(attention, 0, even_routing=1), attention)
        gates = found["moe_layers"] * 3 * sampled(attention)["activation_element_bytes"] * (
            found["decode_shared_tokens"] * apart(attention)["n_shared_experts"]
            * apart(attention)["moe_intermediate_size"])
        rows = found["decode_group_tokens"] * 6 * (1 / (RANKS - APART) - 1 / RANKS)
        moved = found["moe_layers"] * sampled(attention)["activation_element_bytes"] * rows * (
            sampled(attention)["expert_row_traffic"]) * (
            3 * apart(attention)["moe_intermediate_size"] + 2 * apart(attention)["hidden_size"])
        np.testing.assert_allclose(there["decode_vector_bytes"],
                                   found["decode_vector_bytes"] - gates + moved)
        assert not where(there["decode_boundary_time"] > found["decode_boundary_time"])


@both
class TestMemory:
    def test_the_fullest_rank_has_one_kind(self, attention):
        """One with routed experts, or one with all of the shared ones, whichever is more."""
        for shared in (1, APART, RANKS - 1):
            inputs = apart(attention, shared, redundant_experts=24)
            found = calc.evaluate(inputs, attention)
            every = (found["attention_weights_per_layer"]
                     + inputs["router_weight_bytes"] * found["router_parameters"])
            routed = (inputs["routed_expert_weight_bytes"] * found["routed_expert_parameters"]
                      * (72 + 24) / (RANKS - shared))
            alone = inputs["shared_expert_weight_bytes"] * found["shared_expert_parameters"]
            np.testing.assert_allclose(found["moe_layer_weights"] - every,
                                       np.maximum(routed, alone), rtol=1e-6)

    def test_buffers_have_places_for_them(self, attention):
        there, none = (run(apart(attention), attention, shared_expert_ranks=shared)[
            "exchange_buffers"] for shared in (APART, 0))
        places = 1 + APART * apart(attention)["n_shared_experts"] / 72
        np.testing.assert_allclose(there, none * places)

    def test_activations_are_those_of_the_rows(self, attention):
        """A single rank with routed experts gets the rows of all, a single shared one likewise."""
        widths = [run(apart(attention), attention, shared_expert_ranks=shared)[
            "moe_activation_width"] for shared in (1, APART, RANKS - 1)]
        assert not where(widths[1] >= widths[0], *widths)
        assert not where(widths[1] >= widths[2], *widths)


class TestExchange:
    @pytest.mark.parametrize(("ranks", "shared", "busiest"), [
        (324, 36, 1), (320, 32, 10 / 9), (320, 0, 1), (320, 160, 16 / 9)])
    def test_what_is_sent_is_received(self, ranks, shared, busiest):
        """Nine copies a token: a rank receives nine for each that it sends if loads are alike."""
        q = SimpleNamespace(expert_parallel=ranks, shared_expert_ranks=shared,
                            num_experts_per_tok=8, n_shared_experts=1)
        assert copies_sent(q) == (9 if shared else 8)
        assert fullest_receiver(q, 1) == pytest.approx(busiest)
        if shared:
            routed, own = 8 / (ranks - shared), 1 / shared
            assert (ranks - shared) * routed + shared * own == pytest.approx(copies_sent(q))
            assert fullest_receiver(q, 1) == pytest.approx(
                max(routed, own) * ranks / copies_sent(q))

    @both
    def test_a_further_copy_is_never_faster(self, attention):
        found, none = (run(apart(attention), attention, shared_expert_ranks=shared)
                       for shared in (APART, 0))
        for phase in PHASES:
            there, without = (quantities[f"{phase}_exchange_time"] for quantities in (found, none))
            assert not where(there < without * (1 - 1e-12), there, without)


@pytest.mark.parametrize(("ranks", "each"), [(0, 0), (1, 640), (4, 160)])
def test_ranks_with_shared_experts_alone_share_all_tokens_and_none_have_none(ranks, each):
    assert shared_apart(SimpleNamespace(shared_expert_ranks=ranks), 640) == each


class TestDeployment:
    def test_a_die_of_cloudmatrix_holds_one_expert(self):
        """256 routed experts and 32 copies on 288 dies, the shared expert on 32."""
        inputs = catalogue.load_scenario(WIDE).inputs()
        assert inputs["expert_parallel"] - inputs["shared_expert_ranks"] == 256 + inputs[
            "redundant_experts"]
        found = calc.evaluate(inputs, "mla")
        assert found["routed_ranks"] == 288
        assert found["decode_shared_tokens"] * 32 == found["decode_group_tokens"]
        every_rank = calc.evaluate(inputs | {"shared_expert_ranks": 0}, "mla")
        assert found["memory_per_device"] < every_rank["memory_per_device"]

    def test_none_unless_asked_for(self):
        assert catalogue.load_scenario("s0-scenario-1").inputs()["shared_expert_ranks"] == 0


V3 = {"n_routed_experts": 256, "num_experts_per_tok": 8, "routing_skew": 0.9,
      "placement_residual": 0.04, "redundant_experts": 0, "balanced_placement": 0,
      "even_routing": 0}


def load(ranks, tokens=1e9, **changed):
    return fullest(SimpleNamespace(**(V3 | changed)), np.asarray(ranks, float), tokens)


def drawn(ranks, tokens, skew, count=400):
    """Mean load of the fullest rank: popularities of experts dealt at random, tokens by chance."""
    draw = np.random.default_rng(7)
    shares = draw.dirichlet(np.full(256, 1 / skew), count).reshape(count, ranks, -1).sum(axis=2)
    counted = draw.poisson(shares * tokens * 8)
    return float(np.mean(counted.max(axis=1) / (tokens * 8 / ranks)))


@pytest.mark.parametrize("tokens", [1, 100, 1e9])
def test_one_rank_waits_for_no_one(tokens):
    assert load(1, tokens) == 1


def test_without_skew_and_with_all_tokens_there_is_nothing_to_wait_for():
    np.testing.assert_allclose(load([2, 32, 256], 1e15, routing_skew=0), 1, atol=1e-6)


def test_even_routing_leaves_nothing():
    np.testing.assert_array_equal(load([2, 32, 256], 64, even_routing=1), 1)


@pytest.mark.parametrize("by_load", [0, 1])
@pytest.mark.parametrize("tokens_of_a_rank", [4, 64, 4096])
def test_more_ranks_wait_longer(by_load, tokens_of_a_rank):
    ranks = 2.0 ** np.arange(9)
    waited = load(ranks, tokens_of_a_rank * ranks, balanced_placement=by_load)
    assert (np.diff(waited) > 0).all()


def test_more_tokens_wait_shorter_and_more_skew_longer():
    assert (np.diff([load(32, tokens) for tokens in 4.0 ** np.arange(8)]) <= 0).all()
    assert (np.diff([load(32, routing_skew=skew) for skew in (0, 0.3, 1, 2)]) > 0).all()


@pytest.mark.parametrize("skew", [0.4, 0.9, 1.64])
@pytest.mark.parametrize("ranks", [4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("tokens_of_a_rank", [16, 128])
def test_it_is_what_drawing_gives(ranks, skew, tokens_of_a_rank):
    tokens = ranks * tokens_of_a_rank
    assert load(ranks, tokens, routing_skew=skew) == pytest.approx(
        drawn(ranks, tokens, skew), rel=0.06)


def test_spares_help_where_a_rank_holds_few_experts():
    waited = [load(128, balanced_placement=1, redundant_experts=spares)
              for spares in (0, 32, 128, 256)]
    assert (np.diff(waited) <= 0).all()
    assert waited[0] > 2
    assert waited[-1] < 1.3


def test_an_array_of_placements_is_each_by_itself():
    together = load(32, 640, balanced_placement=np.array([0, 1, 0]))
    np.testing.assert_array_equal(
        together, [load(32, 640, balanced_placement=by_load) for by_load in (0, 1, 0)])


def test_placement_by_load_is_as_measured():
    """DeepSeek-R1 on 32 and 36 ranks, a spare each: TensorRT-LLM's blog 4, table 1."""
    for ranks, measured in ((32, 1.109), (36, 1.115)):
        assert load(ranks, ranks * 128, balanced_placement=1,
                    redundant_experts=32) == pytest.approx(measured, abs=0.01)


def test_no_rank_gets_more_than_there_is():
    assert load(256, 1) <= 256 / 8
    assert load(8, 1) <= 8


@pytest.mark.parametrize("share", [0.3, 0.2, 0.05, 0.01, 0.002])
def test_the_quantile_of_an_exponential_variable(share):
    assert upper_quantile(1.0, share) == pytest.approx(-np.log(share), rel=0.04)


def eight(attention, expert, slices, **changed):
    """Deployments on eight ranks with an attention each, which share 64 experts.

    Slices and whole experts are multiplied alike, and no rank has more of the tokens.
    """
    inputs = dict(sampled(attention))
    return run(inputs | {
        "tensor_parallel": 1, "data_parallel": 8, "expert_parallel": expert,
        "expert_tensor_parallel": slices, "decode_context_parallel": 1, "shared_expert_ranks": 0,
        "n_routed_experts": 64, "num_experts_per_tok": 6, "redundant_experts": 0,
        "first_k_dense_replace": np.floor(inputs["num_hidden_layers"] / 2),
        "moe_intermediate_size": 512, "even_routing": 1, "routing_skew": 0, "expert_bias": 0,
        "exchange_gathered": 1, "dispatch_element_bytes": inputs["activation_element_bytes"],
        "fetched_share": 0, "offloaded_share": 0, "exchange_buffer_tokens": 0} | changed,
        attention)


@both
class TestSlices:
    """Slices over ranks that are data-parallel in attention, beside whole experts."""

    def test_as_many_slices_as_tensor_parallelism_leaves_may_be_written_out(self, attention):
        """To the last bit, in every quantity."""
        inputs = sampled(attention) | {"expert_tensor_parallel": 0}
        found = run(inputs, attention)
        stated = np.maximum(1, inputs["tensor_parallel"] / inputs["expert_parallel"])
        written = run(inputs, attention, expert_tensor_parallel=stated)
        for name, value in found.items():
            np.testing.assert_array_equal(value, written[name], name)

    @pytest.mark.parametrize(("expert", "slices"), [(1, 8), (2, 4), (4, 2)])
    def test_a_rank_holds_and_multiplies_as_much_as_of_whole_experts(self, attention, expert,
                                                                     slices):
        """A slice of all experts, or all of an eighth of them: as many weights and operations."""
        whole, cut = eight(attention, 8, 1), eight(attention, expert, slices)
        for name in ("weights_per_device", "decode_routed_expert_flops", "expert_group_tokens",
                     "prefill_routed_expert_flops", "decode_exchange_time"):
            np.testing.assert_allclose(cut[name], whole[name], rtol=1e-12, err_msg=name)

    @pytest.mark.parametrize(("expert", "slices"), [(1, 8), (4, 2)])
    def test_each_slice_takes_in_all_rows_of_its_expert(self, attention, expert, slices):
        """Rows of a rank are as many times more as experts have slices: read and written whole."""
        whole, cut = eight(attention, 8, 1), eight(attention, expert, slices)
        inputs = sampled(attention)
        layers = inputs["num_hidden_layers"] - np.floor(inputs["num_hidden_layers"] / 2)
        rows = cut["decode_group_tokens"] * 6 / 8  # of whole experts, on each of eight ranks
        more = (slices - 1) * rows * 2 * inputs["hidden_size"] * inputs["activation_element_bytes"]
        np.testing.assert_allclose(
            cut["decode_routed_expert_bytes"] - whole["decode_routed_expert_bytes"],
            layers * more, rtol=1e-6)

    def test_all_ranks_gather_whatever_was_asked_for(self, attention):
        """An all-gather over all eight, as the activations are, and a reduce-scatter back."""
        inputs = sampled(attention)
        for asked in ({}, {"exchange_gathered": 0, "dispatch_element_bytes": 1}):
            cut = eight(attention, 2, 4, **asked)
            q = Inputs(dict(inputs))
            ranks = group(q, np.full_like(inputs["hidden_size"], 8.0))
            for phase in PHASES:
                tokens = cut[f"{phase}_group_tokens"] / 8
                payload = tokens * inputs["hidden_size"] * inputs["activation_element_bytes"]
                layers = inputs["num_hidden_layers"] - np.floor(inputs["num_hidden_layers"] / 2)
                np.testing.assert_allclose(
                    cut[f"{phase}_exchange_time"],
                    layers * (all_gather(q, ranks, payload) + reduce_scatter(q, ranks, payload)),
                    rtol=1e-9)

    def test_they_need_no_buffers(self, attention):
        assert not np.any(eight(attention, 1, 8, exchange_gathered=0, exchange_buffer_tokens=128)[
            "exchange_buffers"])
        assert np.any(eight(attention, 8, 1, exchange_gathered=0, exchange_buffer_tokens=128)[
            "exchange_buffers"])


def estimated(*settings):
    scenario = catalogue.load_scenario(MEASURED, overrides=settings)
    return calc.evaluate(scenario.inputs(), scenario.model.attention)


def test_the_measured_engine_cuts_experts_by_columns():
    """The same bytes on a card as of whole experts, on none of which others wait for tokens."""
    whole, cut = estimated(), estimated("parallelism.expert_parallel=1",
                                        "parallelism.expert_tensor_parallel=8")
    assert cut["weights_per_device"] == whole["weights_per_device"]
    assert cut["decode_exchange_time"] == pytest.approx(whole["decode_exchange_time"], rel=1e-12)
    assert cut["decode_rank_imbalance"] == 0 < whole["decode_rank_imbalance"]
    assert cut["expert_slices"] == 8
    assert cut["expert_group_tokens"] == whole["expert_group_tokens"]
