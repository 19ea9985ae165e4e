"""Limits: infinite rates, empty and full caches, a lone user, users who think without end.

Limits of steps and of memory, of any inputs: ``tests/calc/physics``.
"""

import functools

import numpy as np
import pytest
from _fleet import RATES

from catalogue.entries.formulas import symbols
from laws.deployments import shipped
from laws.holding import at_most, law, near
from laws.order import ORDERED

FAST = 1e12  # times as fast as it is
HARDLY_ANY = 1e-7  # prompts of others: the steady state divides by how many there are
every = functools.cache(shipped)
NOTHING = 1e-9  # of a time as it is
LONG = 1e9  # s, that users think
PAID = [name for name, symbol in symbols().items()
        if symbol.kind in ORDERED and symbol.unit in ("s", "s/token")
        and name not in ("pipelined_alpha", "gather_bulk_alpha", "single_token_path")]


@law
def test_with_infinite_rates_steps_take_what_is_paid_by_kernel_message_and_request(fleet):
    """Nothing, if nothing is paid; of a storage without bound weights are there at once."""
    rates = {name: value * FAST for name, value in fleet.inputs.items() if name in RATES}
    free, found = fleet.of(**rates, **dict.fromkeys(PAID, 0.0)), fleet.of(**rates)
    steps = [at_most(free[f"{phase}_step_time"], NOTHING * fleet.found[f"{phase}_step_time"])
             for phase in ("decode", "prefill", "burst")]
    return (np.logical_and.reduce(steps)
            & (found["decode_step_time"] >= fleet.inputs["host_gap_per_step"])
            & at_most(found["decode_step_time"], fleet.found["decode_step_time"])
            & (found["ttft"] >= fleet.inputs["request_overhead"]))


@law
def test_a_prompt_all_or_nothing_of_which_is_cached_computes_one_token_or_all(fleet):
    full = fleet.of(prefix_hit_share=1 - 1 / fleet.inputs["input_tokens"])
    none = fleet.of(prefix_hit_share=0)
    return (near(full["new_tokens"], 1, within=1e-6) & (full["prompt_chunks"] == 1)
            & (none["new_tokens"] == fleet.inputs["input_tokens"]) & (none["cached_tokens"] == 0))


@law
def test_answers_of_one_token_and_drafts_that_are_always_accepted(fleet):
    found = fleet.of(output_tokens=1, mtp_acceptance=1, acceptance_decay=1, accepted_length=0)
    return (near(found["e2e"], found["ttft"]) & near(found["steady_e2e"], found["steady_ttft"])
            & near(found["tokens_per_step"], 1 + fleet.inputs["draft_tokens"]))


@law
def test_a_burst_of_one_is_a_steady_state_of_one(fleet):
    return one_request(fleet)


@pytest.mark.parametrize("part", range(4))
def test_a_burst_of_one_is_a_steady_state_of_one_in_the_catalogue(part):
    assert [one.model for one in every()[part::4] if not one_request(one).all()] == []


def one_request(fleet):
    """Whether burst, benchmark and steady state agree on one request in flight.

    Prompts of many lengths have no whole number of chunks on average; the rate of a burst in a
    decode pool of its own counts the requests of that pool, not those in prefill.
    """
    found = fleet.of(concurrency=1, think_time=0, open_arrivals=0, prompt_variation=0)
    apart = fleet.inputs["separate_pools"] > 0
    pairs = [(found[f"{of}_{name}"], found[name]) for of in ("steady", "bench")
             for name in ("ttft", "tpot")]
    pairs += [(found["steady_e2e"], found["e2e"]),
              (found["bench_throughput"], found["steady_throughput"]),
              (found["steady_throughput"],
               np.where(apart, found["steady_throughput"], found["output_throughput"]))]
    return np.logical_and.reduce([near(*pair, within=HARDLY_ANY) for pair in pairs])


@law
def test_users_who_think_without_end_are_independent_arrivals(fleet):
    thinking = fleet.of(think_time=LONG, open_arrivals=0)
    independent = fleet.of(think_time=0, open_arrivals=1)
    return np.array([near(thinking[name], independent[name], within=1e-5)
                     for name in ("steady_ttft", "steady_tpot", "steady_e2e")])
