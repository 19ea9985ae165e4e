"""Monotonicity: more of a rate, a share or a hit, or less of a cost, is never worse.

Which way each input is better, and where an engine makes a step in between: ``laws/order.py``.
"""

import functools
from collections import Counter

import numpy as np
import pytest
from _fleet import RATES

from calc.costing.cost import token_costs
from catalogue.entries.formulas import symbols
from laws.holding import ROUNDING, but, law
from laws.order import (
    ACCEPTED,
    FASTER,
    KNOWN,
    ORDERED,
    RATES_OUT,
    SHARES,
    SLOWER,
    TIMES,
    UNORDERED,
    excepted,
)

MORE = 1.25  # times an input
LONGER = 1.01  # times a length: most prompts are cut into as many chunks as before
NEARER = 0.01  # of what a share or a hit lacks to all
PAID = ("per_request", "per_output_whole")
WAVES = (*TIMES, *RATES_OUT, *PAID)
STAY = ("steady_e2e", "steady_request_throughput", "steady_requests_paid")
NEEDED = ("memory_per_device", "kv_per_device", "weights_per_device")
ROOM = ("headroom_per_device", "max_concurrency")
LARGE = {*RATES_OUT, *ROOM, *STAY[1:]}  # of which more is better
BETTER = {"rates": RATES, "shares": SHARES, "acceptance": ACCEPTED, "costs": SLOWER}
WORSE = {"costs"}
STORED = [*(name for name in SLOWER if name.endswith(("_weight_bytes", "_element_bytes"))),
          "system_reserve", "runtime_reserve", "exchange_buffer_tokens", "absorbed_copies",
          "max_num_batched_tokens"]

groups = pytest.mark.parametrize("group", BETTER)


def test_every_input_has_one_place_in_the_order():
    placed = Counter([*FASTER, *SLOWER, *ACCEPTED, *UNORDERED])
    ordered = {name for name, symbol in symbols().items() if symbol.kind in ORDERED}
    assert [name for name, count in placed.items() if count > 1] == []
    assert ordered - placed.keys() == set()


def more(fleet, name):
    """More of an input, within what it may be."""
    value = fleet.inputs[name]
    if name in SHARES or name in ACCEPTED:
        return np.where(value > 0, np.minimum(1, value * MORE), value)
    return value * MORE


def longer(fleet, name):
    """Requests with more tokens of a kind; none of them is longer than the context."""
    value = np.ceil(fleet.inputs[name] * LONGER)
    return {name: value,
            "context_tokens": fleet.inputs["context_tokens"] + value - fleet.inputs[name]}


def priced(inputs, found):
    """Quantities with what a request of a burst costs, and how many are had for one of money."""
    burst = token_costs(inputs, found, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # where nobody else comes
        lasting = token_costs(inputs, found, 1.0, output_throughput=found["steady_throughput"])
    return found | {name: burst[name] for name in PAID} | {
        "steady_requests_paid": 1 / lasting["per_request"]}


def worsening(fleet, changes, results, exceptions=(), better=True):
    """How much worse results are after each of some changes, relative [1].

    Args:
        fleet: the deployments.
        changes: inputs, of each.
        results: quantities.
        exceptions: names of those where nothing is said.
        better: whether the changes are for the better; else how much better the results are.

    Returns an array of shape (results, changes, n).
    """
    before = priced(fleet.inputs, fleet.found)
    new, after = fleet.each(changes)
    after = priced(new, after)
    found = []
    for name in results:
        more_is, less_is = ((before, after) if better == (name in LARGE) else (after, before))
        most = np.maximum(np.abs(before[name]), np.abs(after[name]))
        same = before[name] == after[name]  # neither has an end, or both are nothing
        found.append(np.where(same, 0, (more_is[name] - less_is[name]) / np.where(same, 1, most)))
    return but(np.stack(found), excepted(exceptions, fleet.inputs, before, new, after))


def no_worse(*asked, within=ROUNDING, **how):
    """Whether no result is worse, or better, by more than that; see :func:`worsening`."""
    return worsening(*asked, **how) <= within


@functools.cache
def of_parts(fleet, group):
    """How much worse the worst is of a step or a burst, and of a steady state, for better parts;
    shape (n,) each."""
    changes = [{name: more(fleet, name)} for name in BETTER[group]]
    every = worsening(fleet, changes, (*WAVES, *STAY), ("whole replicas", "places in the cache"),
                      group not in WORSE)
    bursts, lasting = every[:len(WAVES)], every[len(WAVES):]
    return bursts.max(axis=(0, 1)), lasting.max(axis=(0, 1))


@groups
@law
def test_no_step_and_no_burst_is_worse_for_better_parts(fleet, group):
    """Times, throughputs and what a request costs, with more of each rate, share and acceptance;
    and none is better with more of what is paid or moved."""
    return of_parts(fleet, group)[0] <= ROUNDING


@groups
@law
def test_no_steady_state_is_known_to_be_worse_for_better_parts(fleet, group):
    """Stay, throughput and what a request costs: not beyond what the closed form is off by."""
    return of_parts(fleet, group)[1] <= KNOWN


@law
def test_wider_elements_take_no_less_memory_and_leave_no_more_room(fleet):
    return no_worse(fleet, [{name: more(fleet, name)} for name in STORED], (*NEEDED, *ROOM),
                    ("whole blocks", "one share of all stages"), better=False)


@law
def test_a_larger_card_or_a_larger_share_of_it_leaves_no_less_room(fleet):
    share = fleet.inputs["memory_utilization"]
    return no_worse(fleet, [{"memory_capacity": more(fleet, "memory_capacity")},
                            {"memory_utilization": share + NEARER * (1 - share)}], ROOM)


@law
def test_longer_contexts_and_more_users_take_no_less_memory_and_leave_no_more_room(fleet):
    users = np.ceil(more(fleet, "concurrency"))
    return no_worse(fleet, [{"context_tokens": np.ceil(more(fleet, "context_tokens"))},
                            {"concurrency": users}], (*NEEDED, *ROOM), better=False)


@law
def test_a_longer_prompt_is_no_faster_and_no_cheaper(fleet):
    return no_worse(fleet, [longer(fleet, "input_tokens")], (
        "prefill_time", "burst_time", "ttft", "e2e", "decode_step_time", "kv_transfer_time",
        "request_throughput", *PAID), ("whole chunks", "short prefixes"), better=False)


@law
def test_a_longer_answer_is_no_faster_and_no_cheaper(fleet):
    return no_worse(fleet, [longer(fleet, "output_tokens")], (
        "ttft", "e2e", "decode_step_time", "request_throughput", "per_request"), better=False)


def found_more(fleet):
    """More of each prompt found in the cache, but for its last token."""
    hit = fleet.inputs["prefix_hit_share"]
    most = 1 - 1 / fleet.inputs["input_tokens"]
    return [{"prefix_hit_share": np.maximum(hit, np.minimum(most, hit + NEARER * (1 - hit)))}]


@law
def test_a_longer_cached_prefix_makes_nothing_slower_or_dearer(fleet):
    return no_worse(fleet, found_more(fleet), (
        "prefill_time", "burst_time", "ttft", "tpot", "e2e", "output_throughput", *PAID),
        ("whole chunks", "short prefixes", "dealt caches"))


def with_twice_the_users(fleet):
    """Whole batches on every rank and stage, and twice as many."""
    parts = fleet.inputs["data_parallel"] * fleet.inputs["pipeline_parallel"]
    even = fleet.but(concurrency=parts * np.ceil(fleet.inputs["concurrency"] / parts))
    return even, [{"concurrency": 2 * even.inputs["concurrency"]}]


@law
def test_of_twice_the_users_none_is_faster(fleet):
    """But for a token of an answer: a burst stalls its first request alone, one of more then."""
    return no_worse(*with_twice_the_users(fleet), (
        "decode_step_time", "ttft", "e2e", "burst_time"), ("users who wait",), better=False)


@law
def test_twice_the_users_bring_no_less(fleet):
    return no_worse(*with_twice_the_users(fleet), ("output_throughput", *PAID),
                    ("captured graphs", "users who wait"))
