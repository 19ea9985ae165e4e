"""Context parallelism in prefill: prompts dealt by tokens over the tensor-parallel ranks."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, run, where

import calc
import catalogue
from calc.physics.breakdown import CLASSES, parts

both = pytest.mark.parametrize("attention", ATTENTIONS)
SWITCH, CUT = "prefill_context_parallel", "context_output_cut"
ROUNDING = 1e-9


def with_and_without(attention, seed=0, **changes):
    """Inputs, and quantities with every head's tokens on all ranks, and dealt over them."""
    inputs = fleet(attention, seed) | changes
    return inputs, *(run(inputs, attention, **{SWITCH: switch}) for switch in (0, 1))


def dealt(inputs):
    """Deployments whose ranks deal prompts: several, of a model with an indexer and no state."""
    return ((inputs["tensor_parallel"] > 1) & (inputs["index_topk"] > 0)
            & (inputs["linear_layers"] == 0))


@both
class TestLaws:
    def test_one_rank_and_models_without_an_indexer_know_nothing_of_it(self, attention):
        inputs, alone, found = with_and_without(attention)
        same = ~dealt(inputs)
        assert (found["prompt_ranks"] == np.where(same, 1, inputs["tensor_parallel"])).all()
        for name, before in alone.items():
            if np.ndim(before) == 1:
                np.testing.assert_array_equal(found[name][same], before[same], err_msg=name)

    def test_a_decode_step_is_as_before(self, attention):
        _, alone, found = with_and_without(attention)
        for name in alone:
            if name.startswith("decode_") and name != "decode_stall":
                np.testing.assert_allclose(found[name], alone[name], rtol=ROUNDING, err_msg=name)

    def test_what_every_rank_did_is_divided(self, attention):
        """Scores of an indexer and the router; what was divided stays so, and no class grows."""
        inputs, alone, found = with_and_without(
            attention, sparse_tile_rows=1, dense_prefill_tokens=0)
        ranks = np.where(dealt(inputs), inputs["tensor_parallel"], 1)
        for name in ("index", "router"):
            np.testing.assert_allclose(
                found[f"prefill_{name}_flops"] * ranks, alone[f"prefill_{name}_flops"])
        np.testing.assert_allclose(found["prefill_core_flops"], alone["prefill_core_flops"])
        for name in CLASSES:
            less, more = found[f"prefill_{name}_flops"], alone[f"prefill_{name}_flops"]
            assert not where(less > more * (1 + ROUNDING), less, more)
        assert not where(found["prefill_vector_bytes"] > alone["prefill_vector_bytes"])

    def test_a_rank_holds_all_of_attention_or_all_but_its_output(self, attention):
        inputs, alone, found = with_and_without(attention, **{CUT: 0})
        cut = run(inputs, attention, **{SWITCH: 1, CUT: 1})
        ranks = np.where(dealt(inputs), inputs["tensor_parallel"], 1)
        t, element = inputs["tensor_parallel"], inputs["attention_weight_bytes"]
        whole = found["attention_weights_per_layer"] + found["context_weights_per_layer"]
        kv = np.minimum(t, inputs["num_key_value_heads"])
        share = element * (found["attention_divided_parameters"] / t
                           + found["attention_kv_parameters"] / kv)
        every = element * (found["attention_divided_parameters"]
                           + found["attention_kv_parameters"])
        at_one = found["attention_weights_per_layer"] - share + every
        np.testing.assert_allclose(whole, np.where(
            ranks > 1, at_one, found["attention_weights_per_layer"]))
        spared = element * found["output_projection_parameters"] * (1 - 1 / ranks)
        np.testing.assert_allclose(
            found["context_weights_per_layer"] - cut["context_weights_per_layer"], spared,
            atol=1e-6)
        assert not where(alone["weights_per_device"] > found["weights_per_device"])
        assert not where(cut["weights_per_device"] > found["weights_per_device"])

    @pytest.mark.parametrize("phase", ["prefill", "burst"])
    def test_the_parts_sum_to_the_step(self, attention, phase):
        inputs, _, found = with_and_without(attention)
        np.testing.assert_allclose(
            sum(parts(inputs | {SWITCH: 1}, found, phase).values()), found[f"{phase}_step_time"])

    def test_an_output_that_stays_cut_sends_more(self, attention):
        inputs, _, found = with_and_without(attention, **{CUT: 0, "collective_alpha": 1e-6})
        cut = run(inputs, attention, **{SWITCH: 1, CUT: 1})
        for name in ("all_reduce_time", "context_exchange_time"):
            more = cut[f"prefill_{name}"] - found[f"prefill_{name}"]
            assert not where((more > 0) != dealt(inputs), more)


class TestDeployments:
    @pytest.mark.parametrize("name", ["a3-v4-vllm-prefill", "a3-glm51-pd-tp1-prefill"])
    def test_a_prompt_is_quicker_where_ranks_did_the_same(self, name):
        scenario = catalogue.load_scenario(name)
        alone, found = (calc.evaluate(scenario.inputs() | {SWITCH: switch},
                                      scenario.model.attention) for switch in (0, 1))
        assert found["prefill_step_time"] < alone["prefill_step_time"]
        assert found["prefill_vector_time"] < alone["prefill_vector_time"]
        assert found["weights_per_device"] > alone["weights_per_device"]
