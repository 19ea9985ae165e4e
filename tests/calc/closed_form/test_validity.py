"""Where the closed form is doubted: each condition at its limit, where it is not met, and beyond.

Eight ranks share the experts unless a case says otherwise; each case names all that is met.
"""

import pytest

from calc.closed_form.validity import doubts
from calc.physics.arrays import Inputs

RANKS = {"tensor_parallel": 1, "expert_parallel": 8, "expert_tensor_parallel": 0,
         "data_parallel": 8, "separate_pools": 0, "prompt_variation": 0, "mixed_steps": 1,
         "prefill_delay_steps": 0, "front_end_rate": 100}
STEADY = {"steady_stall": 0.0, "steady_tpot": 0.25, "prompt_span": 0.25, "random_share": 0.0,
          "group_busy": 0.0, "steady_request_throughput": 2.0, "steady_e2e": 5.0}
OFTEN, TWO_GROUPS = {"random_share": 0.51}, {"data_parallel": 16}
ALWAYS, ALONE, HOLDING = {"group_busy": 0.876}, {"expert_parallel": 1}, {"prefill_delay_steps": 1}


def met(given):
    """Names of the doubts that are met; ``stalled`` is a share of a token's time."""
    given = dict(given)
    found = STEADY | {"steady_stall": given.pop("stalled", 0) * STEADY["steady_tpot"]}
    inputs = RANKS | {name: value for name, value in given.items() if name in RANKS}
    found |= {name: value for name, value in given.items() if name in STEADY}
    return {name for name, doubted in doubts(Inputs(inputs), found).items() if doubted}


@pytest.mark.parametrize(("given", "name", "limit", "beyond", "names"), [
    # most requests come at random, and half of a token's time is prompts of other ranks
    (OFTEN, "stalled", 0.5, 0.51, {"shared"}),
    (OFTEN | {"data_parallel": 2, "expert_parallel": 2}, "stalled", 0.5, 0.51, {"shared"}),
    ({"stalled": 0.51}, "random_share", 0.5, 0.51, {"shared"}),
    (OFTEN | ALONE, "stalled", 0.5, 0.51, {"in_turn"}),  # eight replicas, each by itself
    # nearly all steps have a prompt: three quarters of the time, or prompts that go first
    (ALWAYS, "stalled", 0.75, 0.76, {"shared"}),
    ({"stalled": 0.76}, "group_busy", 0.875, 0.876, {"shared"}),
    (ALWAYS, "mixed_steps", 1, 0, {"shared"}),
    ({"mixed_steps": 0}, "group_busy", 0.875, 0.876, {"shared"}),
    # no more requests in flight than ranks, 8 of them: 1.6 a second for five seconds
    (OFTEN | {"stalled": 0.41}, "steady_request_throughput", 1.7, 1.6, {"few"}),
    (OFTEN | {"steady_request_throughput": 1.6}, "stalled", 0.4, 0.41, {"few"}),
    (OFTEN | {"steady_request_throughput": 1.6, "stalled": 0.41}, "separate_pools", 1, 0, {"few"}),
    # prompts that are held back: of more than a chunk, or many at random
    (HOLDING, "prompt_span", 1.0, 1.01, {"held"}),
    (HOLDING | {"prompt_variation": 1}, "prompt_span", 0.5, 0.51, {"held"}),
    (HOLDING | OFTEN, "stalled", 0.5, 0.51, {"held", "shared"}),
    (HOLDING | {"prompt_span": 1.01}, "expert_parallel", 1, 8, {"held"}),
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
