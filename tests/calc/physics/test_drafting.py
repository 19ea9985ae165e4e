"""The layer that drafts, which prompts pass too; steps that are too large for a captured graph."""

from itertools import pairwise

import numpy as np
import pytest
from _fleet import ATTENTIONS, fleet, run, sampled, where

import calc
import catalogue
from calc.closed_form.evaluate import PHASES
from calc.serving.requests import Step
from calc.serving.step_times import Clock

both = pytest.mark.parametrize("attention", ATTENTIONS)


@both
@pytest.mark.parametrize("seed", range(3))
class TestTheLayerThatDrafts:
    def test_a_prompt_passes_it_once_however_many_are_drafted(self, attention, seed):
        inputs = fleet(attention, seed)
        none, one, three = (run(inputs, attention, draft_tokens=count) for count in (0, 1, 3))
        for phase in PHASES[1:]:
            step, drafted = f"{phase}_step_time", f"{phase}_draft_pass_time"
            np.testing.assert_array_equal(one[step], three[step])
            np.testing.assert_allclose(one[step], none[step] + one[drafted])

    def test_a_pass_is_more_than_a_mean_layer(self, attention, seed):
        """It has a projection of its own, and the whole head."""
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        for phase in PHASES:
            layer = found[f"{phase}_device_time"] / inputs["num_hidden_layers"]
            assert not where(found[f"{phase}_draft_pass_time"] <= layer, layer)

    def test_a_step_of_decode_passes_it_once_for_each_block_of_drafts(self, attention, seed):
        inputs = fleet(attention, seed)
        found = run(inputs, attention)
        passes = np.ceil(inputs["draft_tokens"] / inputs["draft_block"])
        np.testing.assert_allclose(found["draft_time"], passes * found["decode_draft_pass_time"])
        one_by_one, at_once = (run(inputs | {"draft_block": block}, attention)["draft_time"]
                               for block in (1, 8))
        np.testing.assert_allclose(one_by_one, inputs["draft_tokens"] * at_once)


def test_one_layer_more_of_sixty_one():
    """A prompt of DeepSeek-R1 passes a layer more, and a projection that no rank divides."""
    inputs = catalogue.load_scenario("h200-r1-sglang-mtp").inputs() | {
        "input_tokens": 8000, "host_gap_per_draft": 0}
    plain, drafting = (calc.evaluate(inputs | {"draft_tokens": count}, "mla") for count in (0, 1))
    longer = drafting["prefill_step_time"] / plain["prefill_step_time"] - 1
    assert 1 / 61 < longer < 1.5 / 61


@pytest.mark.parametrize("drafts", [0, 1])
@pytest.mark.parametrize("halves", [1, 2])
def test_ranks_that_step_together_draft_as_one_alone(drafts, halves):
    """A prompt on one rank of a group of equals takes as long as the closed form says."""
    inputs = catalogue.load_scenario("wide-ant").inputs() | {
        "draft_tokens": drafts, "micro_batches": halves, "prefix_hit_share": 0}
    clock = Clock(inputs, "mla")
    ranks = max(1, int(inputs["expert_parallel"] / inputs["tensor_parallel"]))
    step = Step(((1024, 0),), ())
    assert clock.together([step] * ranks) == pytest.approx(clock(step), rel=1e-9)


@both
class TestLargestGraph:
    def test_a_larger_step_is_launched_kernel_by_kernel(self, attention):
        inputs = sampled(attention) | {"captured": 1, "host_time_per_operator": 1e-5}
        eager = run(inputs, attention, captured=0)
        found = run(inputs, attention)
        tokens = eager["decode_tokens"] / inputs["micro_batches"]
        fits = tokens <= inputs["largest_graph"]
        assert fits.any()
        assert not fits.all()
        np.testing.assert_array_equal(
            found["decode_host_time"], np.where(fits, 0, eager["decode_host_time"]))

    def test_prompts_are_never_captured(self, attention):
        inputs = sampled(attention)
        small, large = (run(inputs, attention, largest_graph=size) for size in (1, 1e9))
        for phase in PHASES[1:]:
            np.testing.assert_array_equal(small[f"{phase}_host_time"],
                                          large[f"{phase}_host_time"])

    def test_a_larger_graph_is_never_slower(self, attention):
        inputs = sampled(attention)
        times = [run(inputs, attention, largest_graph=size)["decode_step_time"]
                 for size in (1, 64, 512, 4096)]
        for smaller, larger in pairwise(times):
            assert not where(larger > smaller)
