"""What moves along a path, how far, and what is refused of one."""

import numpy as np
import pytest

from calc.sensitivity import paths as module
from calc.sensitivity.paths import Path, path_of
from calc.sensitivity.plans import plan_of
from catalogue import ParamsError
from reference.plans import law

INPUTS = {"concurrency": 3.0, "network_bandwidth": 2.0, "pair_bandwidth": 7.0, "still": 0.0,
          "input_tokens": 300.0, "output_tokens": 70.0, "context_tokens": 411.0}
PLAN = law(INPUTS, cards=6)


def moved(*symbols, name="", at=(1.0, 5.0)):
    found = Path(name or symbols[0], symbols, "1", 0.0, 9.0, False).moves(PLAN, np.array(at))
    return {key: np.asarray(values).tolist() for key, values in found.items()}


def test_inputs_of_a_path_keep_their_proportions_to_the_first():
    assert moved("network_bandwidth", "pair_bandwidth") == {
        "network_bandwidth": [1, 5], "pair_bandwidth": [3.5, 17.5]}


def test_where_the_first_is_nothing_all_move_alike():
    assert moved("still", "pair_bandwidth") == {"still": [1, 5], "pair_bandwidth": [1, 5]}


def test_requests_per_card_are_those_of_all_cards():
    assert moved("concurrency", name="requests_per_card") == {"concurrency": [6, 30]}
    assert moved("concurrency") == {"concurrency": [1, 5]}


def test_lengths_move_the_longest_context_with_them():
    """It is 41 longer than a prompt and its answer: what moves leaves that and the other alone."""
    assert moved("input_tokens") == {"input_tokens": [1, 5], "context_tokens": [112, 116]}
    assert moved("output_tokens") == {"output_tokens": [1, 5], "context_tokens": [342, 346]}
    assert moved("context_tokens", at=(100.0, 171.0)) == {
        "input_tokens": [30, 101], "context_tokens": [100, 171]}


def usual(value, unit="1", name="x", whole=False):
    return module._usual(law({name: value}), Path(name, (name,), unit, 0.0, 0.0, whole))


def test_where_a_path_could_lie_unless_told():
    assert usual(3, name="concurrency", whole=True) == (1, 4096)
    assert usual(3, name="input_tokens", whole=True) == (1, 131_072)
    assert usual(1.0) == usual(0.3) == usual(0.0) == (1e-6, 1 - 1e-6)
    assert usual(1.5) == (1.5 / 16, 24)
    assert usual(0.5, "B/s") == (0.5 / 16, 8)
    with pytest.raises(ParamsError, match="x: it is 0 here"):
        usual(0.0, "B/s")


@pytest.mark.parametrize(("between", "unit", "ends"), [
    ("1 GB/s, 2 GB/s", "B/s", (1e9, 2e9)), ("0, 0.5", "1", (0, 0.5)), ("9,4", "1", (9, 4)),
    ("2, 64", "request", (2, 64)), ("2 request, 64 request", "request", (2, 64)),
    ("5 ms,2 s", "s", (0.005, 2))])
def test_ends_of_a_range_as_they_are_written(between, unit, ends):
    assert module._given(Path("x", ("x",), unit, 0, 0, False), between) == pytest.approx(ends)


@pytest.mark.parametrize(("between", "unit", "said"), [
    ("5, 6", "s", "--between"), ("1 s, 2 B", "s", "--between"), ("-1, 5", "1", "below zero"),
    ("1, -5", "1", "below zero"), ("1", "1", "expected LOW,HIGH"), ("", "1", "expected LOW,HIGH")])
def test_ends_that_cannot_be(between, unit, said):
    with pytest.raises(ParamsError, match=said):
        module._given(Path("x", ("x",), unit, 0, 0, False), between)


@pytest.fixture(scope="module")
def plan():
    return plan_of("h200-r1-sglang-tp8")


@pytest.mark.parametrize(("name", "between", "ends", "whole"), [
    ("workload.concurrency", "0, 64", (1, 64), True), ("concurrency", "2,3", (2, 3), True),
    ("requests_per_card", "0.5, 64", (1, 64), True),
    ("mechanisms.host_gap_per_step", "0 s, 1 ms", (0, 0.001), False),
    ("prefix_hit_share", "0, 0.5", (0, 0.5), False)])
def test_of_whole_numbers_a_range_begins_at_one(plan, name, between, ends, whole):
    found = path_of(plan, name, between)
    assert (found.low, found.high, found.whole, found.name) == (*ends, whole, name)


def test_a_context_is_longer_than_its_answer(plan):
    least = plan.inputs["output_tokens"] + 1
    assert path_of(plan, "context_tokens").low == least
    assert path_of(plan, "context_tokens", f"{least + 1:.0f},{least + 9:.0f}").low == least + 1
    assert path_of(plan, "input_tokens").low == 1
    with pytest.raises(ParamsError, match="is not below"):
        path_of(plan, "context_tokens", f"1,{least:.0f}")


@pytest.mark.parametrize("name", [*module.LAID_OUT, "parallelism.expert_parallel"])
def test_a_layout_has_nothing_in_between(plan, name):
    with pytest.raises(ParamsError, match="a layout has no values in between"):
        path_of(plan, name)


@pytest.mark.parametrize(("name", "symbols"), [
    ("link_bandwidth", ("pair_bandwidth", "device_link_bandwidth")),
    ("device.memory_bandwidth", ("memory_bandwidth",)),
    ("memory_utilization", ("memory_utilization",)),
    ("gemm_efficiency.fp8", None), ("mechanisms.gemm_efficiency.fp8", None),
    ("requests_per_card", ("concurrency",)), ("workload.output_tokens", ("output_tokens",))])
def test_a_path_is_a_group_a_mechanism_or_an_input(plan, name, symbols):
    found = path_of(plan, name)
    if symbols is None:
        knob, = (each for each in plan.knobs if each.name == "gemm_efficiency.fp8")
        symbols = knob.symbols
    assert (found.symbols, found.name) == (symbols, name)


@pytest.mark.parametrize(("name", "knobs", "movable"), [
    ("concurrency", {}, True), ("memory_utilization", {}, True), ("memory_bandwidth", {}, True),
    ("hidden_size", {}, False), ("mtp_acceptance", {}, False),
    ("mtp_acceptance", {"mtp_acceptance": 0}, True), ("micro_batches", {"micro_batches": 0}, False),
    ("tensor_parallel", {"tensor_parallel": 0}, False)])
def test_what_takes_values_in_between(name, knobs, movable):
    """A rate, a count of requests or tokens, a share that is known; no shape, switch or layout."""
    assert module._movable(name, knobs) is movable


def test_what_is_not_there_is_told_with_what_is_near(plan):
    with pytest.raises(ParamsError, match=r"the nearest are .*mtp_acceptance"):
        path_of(plan, "mtp_acceptence")
    with pytest.raises(ParamsError, match="memory_bandwidth, concurrency, input_tokens"):
        path_of(plan, "%%%%")


def test_equal_ends_are_no_range(plan):
    with pytest.raises(ParamsError, match="2 is not below 2"):
        path_of(plan, "concurrency", "2,2")
