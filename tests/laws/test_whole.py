"""Conservation: users are rate times stay, no more is done than can be, parts sum to the whole.

That parts of a step and of the memory budget sum to the whole of any inputs is tested in
``tests/calc/physics``; that a simulation conserves requests, in ``tests/calc/serving``.
"""

import functools

import numpy as np
import pytest

from calc.costing.cost import token_costs
from calc.costing.ownership import own_cards
from calc.layouts.feasible import has_room
from calc.physics.experts import ranks_in_step
from catalogue.entries.formulas import symbols
from catalogue.reading.units import dimensions
from laws.deployments import shipped
from laws.holding import at_most, law, near

WHOLE_REPLICAS = 1e-6  # of a replica: a pool that just keeps up needs none more
FULL = 1 << 22  # requests, of which every chunk is full
ROOM = 1e18  # memory of a card that has a place for all of them [B]


@law
def test_users_are_rate_times_the_time_between_two_questions(fleet):
    """Little's law; of arrivals at random, the others that one of them finds, and itself."""
    q, found = fleet.inputs, fleet.found
    stay = found["steady_e2e"] + q["think_time"]
    return near(found["steady_users"], found["steady_request_throughput"] * stay
                + q["open_arrivals"], within=0.01)


@law
def test_a_stay_is_its_first_token_and_the_others(fleet):
    found, after = fleet.found, fleet.inputs["output_tokens"] - 1
    return (near(found["steady_e2e"], found["steady_ttft"] + after * found["steady_tpot"])
            & (found["steady_ttft"] > 0) & np.isfinite(found["steady_e2e"]))


@law
def test_output_does_not_exceed_decode_steps_alone(fleet):
    q, found = fleet.inputs, fleet.found
    pace = np.where(q["separate_pools"] > 0, found["steady_tpot"], found["steady_pace"])
    tokens = found["steady_request_throughput"] * (q["output_tokens"] - 1)
    return at_most(tokens * pace, q["concurrency"], within=0.01)


@law
def test_prompts_do_not_exceed_full_chunks_without_a_pause(fleet):
    """Where nothing is decoded, or by the pool that prefills, of whole groups of ranks."""
    q, found = fleet.inputs, fleet.found
    full = fleet.of(concurrency=np.full_like(q["concurrency"], FULL), separate_pools=0,
                    memory_capacity=ROOM)
    group, data = ranks_in_step(fleet.symbols), q["data_parallel"]
    beside = group * np.maximum(1, np.ceil(found["pool_ratio"] * data / group - WHOLE_REPLICAS))
    replicas = np.where(q["separate_pools"] > 0, beside, data)
    return at_most(found["steady_request_throughput"] * found["new_tokens"],
                   full["prefill_throughput"] * replicas / data, within=0.01)


@law
def test_requests_do_not_exceed_what_front_ends_let_in(fleet):
    """Ranks that share experts have one front end."""
    servers = fleet.inputs["data_parallel"] / ranks_in_step(fleet.symbols)
    return at_most(fleet.found["steady_request_throughput"],
                   servers * fleet.inputs["front_end_rate"], within=0.01)


STEADY = (test_users_are_rate_times_the_time_between_two_questions,
          test_a_stay_is_its_first_token_and_the_others,
          test_output_does_not_exceed_decode_steps_alone,
          test_prompts_do_not_exceed_full_chunks_without_a_pause,
          test_requests_do_not_exceed_what_front_ends_let_in)
every = functools.cache(shipped)


@pytest.mark.parametrize("holds", STEADY, ids=lambda law: law.__name__.removeprefix("test_"))
def test_steady_states_of_the_catalogue(holds):
    assert [fleet.model for fleet in every()[::3] if not np.ma.filled(
        holds.__wrapped__(fleet), True).all()] == []


@pytest.mark.parametrize("times", [0.5, 1, 8])
@law
def test_requests_have_room_exactly_where_the_blocks_hold_them(fleet, times):
    """Of as many as fit by the budget, and as are too many by it; a block is whole."""
    found = fleet.of(concurrency=np.ceil(times * fleet.found["max_concurrency"]) + 1)
    blocks = found["requests_per_rank"] * found["request_blocks"] + found["prompt_blocks"]
    whole = found["kv_blocks"] > 0  # what has no room at all has none for a block
    return (blocks <= found["kv_blocks"]) == (has_room(found) & whole)


@law
def test_prompts_and_answers_pay_for_requests_and_requests_for_cards(fleet):
    q, used = fleet.inputs, 0.4
    costs = token_costs(q, fleet.found, 2.0, used)
    parts = costs["per_input"] * q["input_tokens"] + costs["per_output"] * q["output_tokens"]
    requests = used * fleet.found["request_throughput"]
    other = token_costs(q, fleet.found, 14.5, used)  # in a currency of 7.25 to one
    return (near(parts, costs["per_request"])
            & near(requests * costs["per_request"], costs["per_second"])
            & at_most(own_cards(q) * 2.0, costs["per_second"])
            & at_most(costs["per_output"], costs["per_output_whole"])
            & near(other["per_output"], 7.25 * costs["per_output"]))


@pytest.mark.parametrize(("unit", "factor"), [
    ("time", 2.0**10), ("information", 2.0**-3), ("operation", 2.0**10)])
@law
def test_results_in_other_units_are_the_same_amounts(fleet, unit, factor):
    """Seconds, bytes and operations of every parameter at once: nothing in the code has a unit."""
    def scale(name):
        return factor ** dimensions(symbols()[name].unit).get(unit, 0)

    scaled = {name: value * scale(name) for name, value in fleet.inputs.items()}
    found = fleet.of(**scaled)
    return np.array([near(found[name], value * scale(name))
                     for name, value in fleet.found.items()])
