"""Where the closed form is doubted: each condition at its limit, where it is not met, and beyond.

Eight ranks share the experts unless a case says otherwise; each case names all that is met.
"""

import pytest

from calc.closed_form.validity import doubts
from calc.physics.arrays import Inputs

RANKS = {"tensor_parallel": 1, "expert_parallel": 8, "expert_tensor_parallel": 0,
         "data_parallel": 8, "separate_pools": 0, "prompt_variation": 0, "mixed_steps": 1,
         "prefill_delay_steps": 0, "least_loaded": 0, "front_end_rate": 100, "output_tokens": 101,
         "answer_variation": 0.5}
STEADY = {"steady_stall": 0.0, "tokens_per_step": 1.0, "steady_tpot": 0.25, "prompt_span": 0.25,
          "random_share": 0.0, "meeting_share": 0.0, "mean_chunks": 2.0, "busy_step": 0.0,
          "group_busy": 0.0, "rank_busy": 0.0,
          "steady_request_throughput": 2.0, "steady_e2e": 5.0}
OFTEN, TWO_GROUPS = {"random_share": 0.51, "meeting_share": 0.51}, {"data_parallel": 16}
CUT, ALONE, HOLDING = {"prompt_span": 1.01}, {"expert_parallel": 1}, {"prefill_delay_steps": 1}
ONE = ALONE | {"data_parallel": 1}
FEW, EQUAL = {"steady_request_throughput": 1.6}, {"answer_variation": 0, "stalled": 0.11}


def met(given):
    """Names of the doubts that are met; ``stalled`` is a share of a token's time."""
    given = dict(given)
    found = STEADY | {"steady_stall": given.pop("stalled", 0) * STEADY["steady_tpot"]}
    inputs = RANKS | {name: value for name, value in given.items() if name in RANKS}
    found |= {name: value for name, value in given.items() if name in STEADY}
    return {name for name, doubted in doubts(Inputs(inputs), found).items() if doubted}


@pytest.mark.parametrize(("given", "name", "limit", "beyond", "names"), [
    # prompts of several chunks that come at random, or so many that they take nearly all the time
    (OFTEN | CUT, "stalled", 0.4, 0.41, {"shared"}),
    (CUT | {"stalled": 0.41}, "meeting_share", 0.5, 0.51, {"shared"}),
    (OFTEN | {"stalled": 0.41}, "prompt_span", 1.0, 1.01, {"shared"}),
    (OFTEN, "stalled", 0.875, 0.876, {"shared"}),
    (OFTEN | ALONE, "stalled", 0.5, 0.51, {"in_turn"}),  # eight replicas, each by itself
    # nearly all steps have a prompt, and nearly half of those of a rank
    ({"rank_busy": 0.45}, "group_busy", 0.875, 0.876, {"shared"}),
    ({"group_busy": 0.876}, "rank_busy", 0.44, 0.45, {"shared"}),
    # no more requests in flight than ranks, 8 of them: 1.6 a second for five seconds
    (OFTEN | {"stalled": 0.41}, "steady_request_throughput", 1.7, 1.6, {"few"}),
    (OFTEN | FEW, "stalled", 0.4, 0.41, {"few"}),
    (OFTEN | FEW | {"stalled": 0.41}, "separate_pools", 1, 0, {"few"}),
    # one or two at a time, of long prompts
    (OFTEN | {"steady_request_throughput": 0.3}, "prompt_span", 5.0, 5.1, {"few"}),
    (OFTEN | {"prompt_span": 5.1}, "steady_request_throughput", 0.4, 0.39, {"few"}),
    # answers that all have 100 steps end in step; not if one more or less is usual
    (EQUAL, "stalled", 0.1, 0.11, {"equal"}), (EQUAL, "answer_variation", 0.01, 0.009, {"equal"}),
    (EQUAL, "random_share", 0.51, 0.5, {"equal"}),
    (EQUAL, "data_parallel", 16, 8, {"equal"}), (EQUAL, "separate_pools", 1, 0, {"equal"}),
    # prompts that are held back: of more than a chunk, or most of the time
    (HOLDING | {"stalled": 0.41}, "prompt_span", 1.0, 1.01, {"held"}),
    (HOLDING | {"stalled": 0.41, "prompt_variation": 1}, "prompt_span", 0.5, 0.51, {"held"}),
    (HOLDING | CUT, "stalled", 0.4, 0.41, {"held"}),
    (HOLDING, "stalled", 0.57, 0.58, {"held"}), (HOLDING, "least_loaded", 0, 1, {"held"}),
    (HOLDING | CUT | {"stalled": 0.41}, "expert_parallel", 1, 8, {"held"}),
    # one replica, where prompts that come at random take most of the time
    (OFTEN | ONE, "stalled", 0.6, 0.61, {"saturated"}),
    (ONE | {"stalled": 0.61}, "random_share", 0.5, 0.51, {"saturated"}),
    # two chunks of a prompt take as long as an answer of 100 tokens after the first
    ({"busy_step": 12.6}, "stalled", 0.1, 0.11, {"shared"}),
    ({"stalled": 0.11}, "busy_step", 12.5, 12.6, {"shared"}),
    (HOLDING | {"stalled": 0.11}, "busy_step", 12.5, 12.6, {"held"}),
    # requests are dealt to two groups of ranks in turn
    (TWO_GROUPS, "stalled", 0.5, 0.51, {"in_turn"}),
    (TWO_GROUPS | {"stalled": 0.51}, "separate_pools", 1, 0, {"in_turn"}),
    # half of what the front ends let in, of one server or of two
    ({}, "steady_request_throughput", 50.0, 50.1, {"front_end"}),
    (TWO_GROUPS, "steady_request_throughput", 100.0, 100.1, {"front_end"})])
def test_a_condition_is_met_beyond_its_limit_and_by_what_it_speaks_of(given, name, limit, beyond,
                                                                      names):
    assert met(given | {name: limit}) == set()
    assert met(given | {name: beyond}) == names
