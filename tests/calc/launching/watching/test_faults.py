"""What may go wrong with a deployment: by how much, what moves then, and what does not."""

import math
from itertools import pairwise

import numpy as np
import pytest

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.launching.watching.faults import (
    FAILURES,
    HEALTHY,
    LONE,
    MOST,
    WAITED,
    Failure,
    simulate,
)

INPUTS = catalogue.load_scenario("h200-r1-vllm-tp8").inputs()
GROWING = [name for name, failure in FAILURES.items() if failure.grows]


@pytest.mark.parametrize("name", GROWING)
def test_severities_double_up_to_the_most(name):
    found = FAILURES[name].severities
    assert found[0] == FAILURES[name].severity >= 2
    assert found[-1] == MOST == 64
    assert all(more == 2 * less for less, more in pairwise(found))


def test_what_is_or_is_not_has_one_severity():
    assert set(FAILURES) - set(GROWING) == {"eager", "uneven", "lost"}
    assert all(len(FAILURES[name].severities) == 1 for name in ("eager", "uneven", "lost"))


@pytest.mark.parametrize(("name", "moved"), [
    ("clock", {"clock_factor": 1 / 4}), ("memory", {"memory_bandwidth": 1 / 4}),
    ("links", {"device_link_bandwidth": 1 / 4, "pair_bandwidth": 1 / 4}),
    ("network", {"network_bandwidth": 1 / 4}), ("alpha", {"collective_alpha": 4}),
    ("host", {"host_gap_per_step": 4}), ("users", {"concurrency": 4}), ("cache", {}),
])
def test_a_failure_moves_its_inputs_by_its_severity_and_no_other(name, moved):
    found = FAILURES[name].worse(INPUTS, 4.0)
    assert found == {key: pytest.approx(INPUTS[key] * by) for key, by in moved.items()}


@pytest.mark.parametrize("key", ["input_tokens", "output_tokens"])
def test_longer_requests_make_the_longest_context_longer(key):
    """A request has its prompt and its answer, of which one grows."""
    name = {"input_tokens": "prompts", "output_tokens": "answers"}[key]
    found = FAILURES[name].worse(INPUTS, 3.0)
    other = INPUTS["input_tokens"] + INPUTS["output_tokens"] - INPUTS[key]
    assert found == {key: 3 * INPUTS[key], "context_tokens": 3 * INPUTS[key] + other}


def test_graphs_off_experts_uneven_and_replicas_lost():
    eager = FAILURES["eager"].worse(INPUTS, 2.0)
    assert eager == {"captured": 0.0,
                     "host_time_per_operator": 2 * INPUTS["host_time_per_operator"]}
    assert FAILURES["uneven"].worse(INPUTS, 1.0) == {"even_routing": 0.0}
    for replicas, left in ((2, 1), (3, 2), (8, 4)):
        assert FAILURES["lost"].worse(INPUTS | {"data_parallel": replicas}, 2.0) == {
            "data_parallel": left}
    apart = INPUTS | {"data_parallel": 2, "expert_parallel": 8, "prefill_context_parallel": 0}
    assert FAILURES["lost"].possible(apart)
    assert not FAILURES["lost"].possible(apart | {"data_parallel": 1})
    assert not FAILURES["lost"].possible(apart | {"expert_parallel": 9})
    assert FAILURES["lost"].possible(apart | {"expert_parallel": 16, "prefill_context_parallel": 2})


def test_who_finds_no_place_waits_and_a_cache_is_no_fuller_than_full():
    """By Little's law a queue lasts as long as so many requests take to be answered."""
    found = simulate(INPUTS | {"concurrency": 64.0, "bench_requests": 0.0}, "mla")
    assert found.points[:2] == (HEALTHY, LONE)
    names = [name for name, _ in found.points]
    waiting, rate = found.of("waiting_requests"), found.of("steady_request_throughput")
    at = names.index("users")
    assert (waiting[0], waiting[1]) == (0, 0)
    assert waiting[at] == 64  # twice as many ask as there are places
    assert found.of("steady_queue")[at] >= waiting[at] / rate[at] * (1 - 1e-9)
    occupied = found.of("cache_occupied")
    assert occupied.max() <= 1
    small = [place for place, name in enumerate(names) if name == "cache"]
    expected = np.minimum(1, occupied[0] * np.array([found.points[place][1] for place in small]))
    full = waiting[small] > 0
    assert occupied[small][~full] == pytest.approx(expected[~full])
    assert (occupied[small][full] == 1).all()


def alone(of, name, by):
    """One failure of one deployment: what its metrics come to, and who waits, step by step."""
    changed = {**of, **(FAILURES[name].worse(of, by) if name in FAILURES else
                        {"concurrency": of["data_parallel"]} if name == "lone" else {})}
    asked, replicas = changed["concurrency"], changed["data_parallel"]
    taken = min(asked, of["concurrency"] / of["data_parallel"] * replicas)
    fewer = by if name == "cache" else 1
    found = evaluate(changed | {"concurrency": taken}, "mla")
    holds = max(1, math.floor(float(found["max_concurrency"]) / fewer) * replicas)
    full = holds < taken
    if full:
        taken = holds
        found = evaluate(changed | {"concurrency": taken}, "mla")
    queue = (asked - taken) / float(found["steady_request_throughput"])
    told = {key: float(found[key]) + queue for key in WAITED}
    return told | {"waiting_requests": asked - taken, "tpot": float(found["tpot"]),
                   "cache_occupied": 1.0 if full else min(
                       1.0, float(found["cache_occupied"]) * fewer)}


@pytest.mark.parametrize("concurrency", [600.0, 2400.0])
def test_all_failures_at_once_come_to_what_each_comes_to_alone(concurrency):
    """Two replicas that may be lost one without the other; a cache that holds all, or not."""
    of = INPUTS | {"data_parallel": 2.0, "concurrency": concurrency, "bench_requests": 0.0}
    found = simulate(of, "mla")
    assert ("lost", 2) in found.points
    points = [at for at, (name, by) in enumerate(found.points)
              if by in (1.0, 2.0, 64.0) or name in ("cache", "users")]
    for at in points:
        for key, value in alone(of, *found.points[at]).items():
            assert found.of(key)[at] == pytest.approx(value, rel=1e-9), (found.points[at], key)


def test_what_grows_may_be_worse_up_to_the_most_and_what_does_not_is_as_it_is():
    assert Failure(3.0, lambda of, by: {}).severities == (3, 6, 12, 24, 48)
    assert Failure(64.0, lambda of, by: {}).severities == (64,)
    assert Failure(2.0, lambda of, by: {}, False).severities == (2,)
    assert Failure(2.0, lambda of, by: {}).possible({})
    with pytest.raises(KeyError):
        simulate(INPUTS, "mla").of("nothing")


def test_a_replica_of_ranks_that_share_experts_is_lost_with_the_others():
    """Experts on as many ranks as a replica has tensor- or prompt-parallel ones are its own."""
    of = INPUTS | {"data_parallel": 2, "tensor_parallel": 4, "prefill_context_parallel": 3}
    assert FAILURES["lost"].possible(of | {"expert_parallel": 12})
    assert not FAILURES["lost"].possible(of | {"expert_parallel": 13})
    assert "lost" not in {name for name, _ in simulate(INPUTS, "mla").points}
