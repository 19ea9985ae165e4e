"""At its ends, a deployment does what a reader can say without a formula.

A rank alone communicates nothing, drafts that are never accepted bring nothing, a step takes the
longest of its parts at least: ``tests/calc/physics/test_laws.py`` and ``test_laws_of_parts.py``,
of any inputs. Goals by brute force: ``tests/calc/searching/test_tried.py``.
"""

import numpy as np
import pytest
from _fleet import RATES

from catalogue.entries.formulas import symbols
from laws.holding import at_most, law, near
from laws.order import ORDERED

FAST = 1e12  # times as fast as it is
NOTHING = 1e-9  # of a time as it is
LONG = 1e9  # s, that users think
PAID = [name for name, symbol in symbols().items()
        if symbol.kind in ORDERED and symbol.unit in ("s", "s/token")
        and name not in ("pipelined_alpha", "gather_bulk_alpha", "single_token_path")]


def paid_nothing():
    """Nothing is paid by the kernel, message, step or request."""
    return dict.fromkeys(PAID, 0.0)


@pytest.mark.parametrize("phase", ["decode", "prefill", "burst"])
@law
def test_where_every_rate_is_without_bound_and_nothing_is_paid_besides_no_step_takes_time(
        fleet, phase):
    rates = {name: value * FAST for name, value in fleet.inputs.items()
             if name in RATES and name != "storage_bandwidth"}
    found = fleet.of(**rates, **paid_nothing())
    return at_most(found[f"{phase}_step_time"], NOTHING * fleet.found[f"{phase}_step_time"])


@law
def test_where_every_rate_is_without_bound_what_is_paid_besides_is_left(fleet):
    rates = {name: value * FAST for name, value in fleet.inputs.items() if name in RATES}
    found = fleet.of(**rates)
    return ((found["decode_step_time"] >= fleet.inputs["host_gap_per_step"])
            & at_most(found["decode_step_time"], fleet.found["decode_step_time"])
            & (found["ttft"] >= fleet.inputs["request_overhead"]))


@law
def test_from_a_storage_without_bound_weights_are_there_at_once(fleet):
    found = fleet.of(storage_bandwidth=fleet.inputs["storage_bandwidth"] * FAST)
    return near(found["loading_time"] * FAST, fleet.found["loading_time"])


@law
def test_of_a_prompt_that_is_all_in_the_cache_its_last_token_is_computed(fleet):
    found = fleet.of(prefix_hit_share=1 - 1 / fleet.inputs["input_tokens"])
    return near(found["new_tokens"], 1, within=1e-6) & (found["prompt_chunks"] == 1)


@law
def test_of_a_prompt_of_which_nothing_is_found_all_is_computed(fleet):
    found = fleet.of(prefix_hit_share=0)
    return (found["new_tokens"] == fleet.inputs["input_tokens"]) & (found["cached_tokens"] == 0)


@law
def test_drafts_that_are_always_accepted_come_all_at_once(fleet):
    found = fleet.of(mtp_acceptance=1, acceptance_decay=1, accepted_length=0)
    return near(found["tokens_per_step"], 1 + fleet.inputs["draft_tokens"])


@law
def test_an_answer_of_one_token_ends_with_its_first(fleet):
    found = fleet.of(output_tokens=1)
    return near(found["e2e"], found["ttft"]) & near(found["steady_e2e"], found["steady_ttft"])


@law
def test_who_is_alone_sees_in_a_steady_state_what_a_burst_of_one_sees(fleet):
    """But for the place of a token that a step keeps for an answer."""
    found = fleet.of(concurrency=1, think_time=0, open_arrivals=0, prompt_variation=0,
                     answer_variation=0, separate_pools=0, data_parallel=1, expert_parallel=1)
    return near(found["steady_e2e"], found["e2e"],
                within=1 / (fleet.inputs["max_num_batched_tokens"] - 1))


@law
def test_whoever_thinks_without_end_comes_like_somebody_else(fleet):
    thinking = fleet.of(think_time=LONG, open_arrivals=0)
    independent = fleet.of(think_time=0, open_arrivals=1)
    return np.array([near(thinking[name], independent[name], within=1e-5)
                     for name in ("steady_ttft", "steady_tpot", "steady_e2e")])


@law
def test_a_link_without_bound_moves_a_cache_in_what_is_paid_by_the_message(fleet):
    found = fleet.of(network_bandwidth=fleet.inputs["network_bandwidth"] * FAST)
    return near(found["kv_port_time"], fleet.inputs["network_alpha"],
                within=1e-6, of=1e-6 * fleet.found["kv_port_time"])
