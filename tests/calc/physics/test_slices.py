"""Slices of experts over ranks that are data-parallel in attention, beside whole experts."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, run, sampled

import calc
import catalogue
from calc.physics.arrays import Inputs
from calc.physics.communication import all_gather, group, reduce_scatter
from calc.quantities.everything import PHASES

both = pytest.mark.parametrize("attention", ATTENTIONS)
MEASURED = "h200-v32-sglang-dp8"  # --tp-size 8 --dp-size 8 --enable-dp-attention


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
class TestByHand:
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
