"""What may go wrong with a deployment: by how much, what moves then, and what does not."""

from itertools import pairwise

import numpy as np
import pytest

import catalogue
from calc.launching.watching.faults import FAILURES, HEALTHY, LONE, MOST, simulate

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
