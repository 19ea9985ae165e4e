"""Conservation: users are rate times stay, no more is done than can be, parts sum to the whole.

That parts of a step and of the memory budget sum to the whole is held by any inputs at all, usual
or not, in ``tests/calc/physics/test_laws.py`` and ``test_laws_of_memory.py``; that a simulation
keeps the same laws, in ``tests/calc/serving/test_laws.py``.
"""

import numpy as np
import pytest

from calc.costing.power import own_cards
from calc.costing.tokens import token_costs
from calc.layouts.feasible import has_room
from calc.physics.experts import ranks_in_step
from laws.holding import at_most, law, near

WHOLE_REPLICAS = 1e-6  # of a replica: a pool that just keeps up needs none more
FULL = 1 << 22  # requests, of which every chunk is full


@law
def test_users_are_rate_times_the_time_from_a_question_to_the_next(fleet):
    """Little's law; of arrivals at random, the others that one of them finds, and itself."""
    q, found = fleet.inputs, fleet.found
    stay = found["steady_e2e"] + q["think_time"]
    itself = q["open_arrivals"]
    return near(found["steady_users"], found["steady_request_throughput"] * stay + itself,
                within=0.01)


@law
def test_a_stay_is_its_first_token_and_the_others(fleet):
    found, after = fleet.found, fleet.inputs["output_tokens"] - 1
    return (near(found["steady_e2e"], found["steady_ttft"] + after * found["steady_tpot"])
            & (found["steady_ttft"] > 0) & np.isfinite(found["steady_e2e"]))


@law
def test_users_get_no_more_tokens_than_decode_steps_alone_would_bring(fleet):
    q, found = fleet.inputs, fleet.found
    pace = np.where(q["separate_pools"] > 0, found["steady_tpot"], found["steady_pace"])
    tokens = found["steady_request_throughput"] * (q["output_tokens"] - 1)
    return at_most(tokens * pace, q["concurrency"], within=0.01)


@law
def test_users_bring_no_more_prompts_than_full_chunks_without_a_pause(fleet):
    """Where nothing is decoded, or by the pool that prefills, of whole groups of ranks."""
    q, found = fleet.inputs, fleet.found
    full = fleet.of(concurrency=np.full_like(q["concurrency"], FULL), separate_pools=0)
    group, data = ranks_in_step(fleet.symbols), q["data_parallel"]
    beside = group * np.maximum(1, np.ceil(found["pool_ratio"] * data / group - WHOLE_REPLICAS))
    replicas = np.where(q["separate_pools"] > 0, beside, data)
    return at_most(found["steady_request_throughput"] * found["new_tokens"],
                   full["prefill_throughput"] * replicas / data, within=0.01)


@law
def test_users_are_no_faster_than_the_front_end_lets_them_in(fleet):
    """Ranks that share experts have one front end."""
    q = fleet.inputs
    servers = q["data_parallel"] / ranks_in_step(fleet.symbols)
    return at_most(fleet.found["steady_request_throughput"], servers * q["front_end_rate"],
                   within=0.01)


@pytest.mark.parametrize("times", [0.5, 1, 2, 8])
@law
def test_requests_have_room_exactly_where_the_blocks_hold_them(fleet, times):
    """Of as many as fit by the budget, and as are too many by it; a block is whole."""
    found = fleet.of(concurrency=np.ceil(times * fleet.found["max_concurrency"]) + 1)
    blocks = found["requests_per_rank"] * found["request_blocks"]
    whole = found["kv_blocks"] > 0  # what has no room at all has none for a block
    return (blocks <= found["kv_blocks"]) == (has_room(found) & whole)


@law
def test_what_is_needed_and_what_is_left_are_what_is_usable(fleet):
    found = fleet.found
    return near(found["memory_per_device"] + found["headroom_per_device"],
                found["usable_memory"], of=fleet.inputs["memory_capacity"])


@law
def test_prompt_and_answer_are_paid_as_the_request_is_and_requests_as_the_cards_are(fleet):
    q, used = fleet.inputs, 0.4
    costs = token_costs(q, fleet.found, 2.0, used)
    parts = costs["per_input"] * q["input_tokens"] + costs["per_output"] * q["output_tokens"]
    requests = used * fleet.found["request_throughput"]
    return (near(parts, costs["per_request"])
            & near(requests * costs["per_request"], costs["per_second"])
            & at_most(own_cards(q) * 2.0, costs["per_second"])
            & at_most(costs["per_output"], costs["per_output_whole"]))
