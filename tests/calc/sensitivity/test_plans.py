"""A deployment as a function of its inputs, and the paths along which they move."""

import numpy as np
import pytest

import calc
from calc.answer.steady_state import STEADY
from calc.sensitivity.paths import GROUPS, Path, path_of
from calc.sensitivity.plans import (
    check_quantity,
    plan_of,
)
from catalogue import ParamsError, load_scenario
from reference.plans import law

REFERENCE = "h200-r1-sglang-tp8"


@pytest.fixture(scope="module")
def plan():
    return plan_of(REFERENCE)


def test_card_hours_are_the_inverse_of_the_rate_of_a_card(plan):
    rate, = plan.at({}, "output_throughput")
    assert plan.at({}, "throughput_per_card") == pytest.approx(rate / 8)
    assert plan.at({}, "card_hours") == pytest.approx(8 * 1e6 / 3600 / rate)


@pytest.mark.parametrize(("name", "limit"), [("s2-910b1-awq", 0.03), ("s2-910b1-awq", 0.5)])
def test_one_user_more_than_the_most_breaks_the_limit_or_the_memory(name, limit):
    plan, tried = plan_of(name), np.arange(1.0, 513)
    most = plan.most_users(tried, "tpot", limit)
    assert plan.fits({"concurrency": tried[:most]}).all()
    assert (plan.medians(tried[:most:7], "tpot") <= limit).all()
    assert not plan.fits({"concurrency": tried[most:most + 1]})[0] or plan.median(
        most + 1, "tpot") > limit
    assert plan.most_users(tried, "tpot", plan.median(1, "tpot") * (1 - 1e-9)) == 0


@pytest.mark.parametrize("name", ["tpot", "output_throughput"])
def test_the_median_is_that_of_an_estimate_with_as_many_users(name):
    estimate = calc.estimate(load_scenario("s2-910b1-awq", overrides=[
        "workload.concurrency=24"])).quantities[{burst: steady for steady, burst in
                                                 STEADY.items()}[name]]
    plan = plan_of("s2-910b1-awq")
    assert plan.at({"concurrency": np.array([24.0])}, name)[0] == pytest.approx(estimate.value)
    assert plan.medians(np.array([1.0, 24.0]), name)[1] == pytest.approx(estimate.value)


# --- paths ----------------------------------------------------------------------------------------


def test_inputs_of_a_group_keep_their_proportions():
    plan = plan_of("s0-scenario-1")
    path, first = path_of(plan, "all_links"), plan.inputs["network_bandwidth"]
    assert (path.low, path.high) == (first / 16, first * 16)
    moved = path.moves(plan, np.array([2e9]))
    assert {name: float(values[0]) for name, values in moved.items()} == pytest.approx({
        name: 2e9 * plan.inputs[name] / first for name in GROUPS["all_links"]})


@pytest.mark.parametrize(("name", "at", "expected"), [
    ("input_tokens", 5, {"input_tokens": 5, "context_tokens": 116}),
    ("output_tokens", 5, {"output_tokens": 5, "context_tokens": 346}),
    ("context_tokens", 171, {"input_tokens": 101, "context_tokens": 171}),
    ("requests_per_card", 5, {"concurrency": 40})])
def test_lengths_move_the_longest_context_with_them(name, at, expected):
    """It is 41 longer than a prompt and its answer."""
    plan = law({"input_tokens": 300.0, "output_tokens": 70.0, "context_tokens": 411.0})
    moved = Path(name, (name,), "1", 0.0, 9.0, True).moves(plan, np.array([at]))
    assert {key: float(values[0]) for key, values in moved.items()} == expected


@pytest.mark.parametrize(("name", "between", "ends", "whole"), [
    ("workload.concurrency", "0, 64", (1, 64), True), ("concurrency", None, (1, 4096), True),
    ("input_tokens", None, (1, 131_072), True), ("requests_per_card", "0.5, 64", (1, 64), True),
    ("mechanisms.host_gap_per_step", "0 s, 1 ms", (0, 0.001), False),
    ("memory_bandwidth", "1 TB/s, 2 TB/s", (1e12, 2e12), False),
    ("prefix_hit_share", None, (1e-6, 1 - 1e-6), False)])
def test_the_range_of_a_path(plan, name, between, ends, whole):
    path = path_of(plan, name, between)
    assert ((path.low, path.high), path.integer, path.name) == (pytest.approx(ends), whole, name)


ERRORS = [
    (lambda: path_of(plan_of(REFERENCE), "parallelism.tensor_parallel"), "no values in between"),
    (lambda: path_of(plan_of(REFERENCE), "mtp_acceptence"), r"the nearest are .*mtp_acceptance"),
    (lambda: path_of(plan_of(REFERENCE), "captured"), "nothing of this deployment moves"),
    (lambda: path_of(plan_of(REFERENCE), "prefix_hit_share", "-1, 1"), "below zero"),
    (lambda: plan_of(REFERENCE, ["mechanisms.speed=2"]), r"speed.*\.$"),
    (lambda: check_quantity(plan_of(REFERENCE), "memory_bandwidth"), "no such quantity"),
    (lambda: check_quantity(plan_of("s0-scenario-1"), "ttft"), "states no length of prompts")]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises(ParamsError, match=message):
        call()
