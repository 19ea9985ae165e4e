"""What runs side by side: half-batches in turns, in a stream each, experts within one batch."""

import numpy as np
import pytest
from _fleet import ATTENTIONS, run, sampled, where

from calc.closed_form.evaluate import PHASES
from calc.physics.breakdown import Busy

ROUNDING = 1e-9  # relative, of sums of a dozen numbers in floating point
ALL_HIDDEN = {"overlap_efficiency": 1, "host_overlap": 0, "single_token_path": 0,
              "shared_expert_ranks": 0}
IN_TURNS = ALL_HIDDEN | {"micro_batches": 2, "unequal_streams": 0}
IN_STREAMS = IN_TURNS | {"unequal_streams": 1}
UNDIVIDED = ALL_HIDDEN | {"micro_batches": 1, "single_batch_overlap": 0}
WITHIN = UNDIVIDED | {"single_batch_overlap": 1}

both = pytest.mark.parametrize("attention", ATTENTIONS)
phases = pytest.mark.parametrize("phase", PHASES)


def at_most(less, more):
    assert not where(less > more * (1 + ROUNDING), less, more)


def step(inputs, attention, phase, ways):
    """Quantities of a step, without the phase in their names."""
    return {name.removeprefix(f"{phase}_"): value
            for name, value in run(inputs, attention, **ways).items()}


def experts(found):
    """What the stream of the experts computes in two half-batches [s]."""
    return 2 * sum(found[f"{name}_time"] for name in ("router", "shared_expert", "routed_expert"))


@both
@phases
class TestStreams:

    def test_no_step_is_shorter_than_a_stream(self, attention, phase):
        found = step(sampled(attention), attention, phase, IN_STREAMS)
        busy = found["compute_time"] + found["communication_time"]
        at_experts = experts(found) + 2 * found["exchange_time"]
        for stream in (at_experts, busy - at_experts, found["communication_time"]):
            at_most(stream, found["device_time"])

    def test_turns_are_never_slower(self, attention, phase):
        inputs = sampled(attention)
        turns, streams = (step(inputs, attention, phase, ways)["device_time"]
                          for ways in (IN_TURNS, IN_STREAMS))
        at_most(turns, streams)
        assert where(turns < streams * (1 - ROUNDING), turns)  # and some are faster

    def test_turns_are_as_fast_where_streams_are_short(self, attention, phase):
        inputs = sampled(attention)
        found, turns = (step(inputs, attention, phase, ways) for ways in (IN_STREAMS, IN_TURNS))
        hosted = 2 * (found["offload_time"] + found["fetch_time"])
        own, links = found["compute_time"] - hosted, found["communication_time"]
        at_experts = experts(found) + 2 * found["exchange_time"]
        short = np.minimum(at_experts, own + links - at_experts) >= np.minimum(own, links)
        assert short.any()
        np.testing.assert_allclose(found["device_time"][short], turns["device_time"][short],
                                   rtol=ROUNDING)

    def test_a_batch_that_is_not_split_has_no_streams(self, attention, phase):
        inputs = sampled(attention)
        once, streams = (step(inputs, attention, phase, UNDIVIDED | {"unequal_streams": kind})
                         for kind in (0, 1))
        np.testing.assert_array_equal(once["step_time"], streams["step_time"])


@both
@phases
class TestWithinABatch:

    def test_what_is_hidden(self, attention, phase):
        """Shared experts beside the dispatch, a third of the routed ones beside the combine."""
        found = step(sampled(attention), attention, phase, WITHIN)
        combine = found["exchange_time"] - found["dispatch_time"]
        expected = (np.minimum(found["shared_expert_time"], found["dispatch_time"])
                    + np.minimum(found["routed_expert_time"] / 3, combine))
        np.testing.assert_allclose(found["hidden_time"], expected, rtol=ROUNDING, atol=1e-15)
        assert (found["hidden_time"] > 0).any()

    def test_nothing_is_hidden_where_nothing_is_exchanged(self, attention, phase):
        found = step(sampled(attention), attention, phase, WITHIN | {
            "expert_parallel": 1, "expert_tensor_parallel": 0})
        assert (found["hidden_time"] == 0).all()

    def test_halves_hide_in_their_own_way(self, attention, phase):
        inputs = sampled(attention)
        halves, besides = (step(inputs, attention, phase, IN_TURNS | {"single_batch_overlap": kind})
                           for kind in (0, 1))
        np.testing.assert_array_equal(halves["step_time"], besides["step_time"])


@both
@phases
def test_there_and_back_is_the_exchange(attention, phase):
    """As long either way, where a token is as wide both ways."""
    inputs = sampled(attention)
    wide = {"dispatch_element_bytes": inputs["activation_element_bytes"], "exchange_gathered": 0}
    found = step(inputs, attention, phase, wide)
    np.testing.assert_allclose(found["exchange_time"], 2 * found["dispatch_time"], rtol=ROUNDING)
    narrow = step(inputs, attention, phase, wide | {
        "dispatch_element_bytes": inputs["activation_element_bytes"] / 2})
    at_most(narrow["dispatch_time"], found["dispatch_time"])


def test_ranks_add_what_keeps_them_busy():
    one, other = Busy(*range(1, 9)), Busy(*range(10, 90, 10))
    assert one + other == Busy(*(11 * part for part in range(1, 9)))
    assert (one + other) - other == one
