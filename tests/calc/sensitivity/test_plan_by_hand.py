"""What is asked of a plan, worked out by hand from what it is derived from."""

import numpy as np
import pytest

from calc.sensitivity import plans as module
from calc.sensitivity.plans import (
    BATCHES,
    Limit,
    Plan,
    better,
    check_quantity,
    plan_of,
    signed,
    unit_of,
)
from catalogue import ParamsError
from reference.plans import law


def test_requests_that_are_tried():
    """Each number up to 16, then eight to every doubling, up to 1,024."""
    assert BATCHES[:16].tolist() == list(range(1, 17))
    assert len(BATCHES) == 16 + 6 * 8
    assert BATCHES[[23, 31, 63]].tolist() == [32, 64, 1024]
    assert np.diff(np.log2(BATCHES[15:])) == pytest.approx(1 / 8, abs=0.04)


# --- derived from throughput ----------------------------------------------------------------------

LENGTHS = {"input_tokens": 300.0, "output_tokens": 70.0, "prefix_hit_share": 0.9}


def asked(monkeypatch, *, pooled=False, **found):
    """A plan of 6 cards, of which the closed form gives what is told; and what was asked of it."""
    seen = []

    def answers(self, moves, names, fixed=None):
        seen.append((tuple(names), dict(fixed or {})))
        return {name: np.array([found[name]]) for name in names}

    monkeypatch.setattr(Plan, "_asked", answers)
    shape = law(LENGTHS, cards=6)
    return Plan("x", shape.scenario, LENGTHS, (), pooled), seen


def test_a_card_hour_is_the_inverse_of_a_rate(monkeypatch):
    """6 cards that give 1500 token/s take a million of them in 4000 card-seconds, 10/9 of an hour.
    """
    plan, seen = asked(monkeypatch, output_throughput=1500.0)
    assert plan.at({}, "card_hours") == pytest.approx(10 / 9)
    assert plan.at({}, "throughput_per_card") == pytest.approx(250)
    assert seen == [(("output_throughput",), {})] * 2


def test_two_pools_take_of_each_request_the_time_of_both(monkeypatch):
    """30 new tokens of a prompt at 60 a second, and 4 answers a second: 0.75 s for 70 tokens."""
    plan, seen = asked(monkeypatch, pooled=True, request_throughput=4.0, prefill_throughput=60.0)
    assert plan.at({}, "throughput_per_card") == pytest.approx(70 / 0.75 / 6)
    assert plan.at({}, "card_hours") == pytest.approx(6e6 / 3600 / (70 / 0.75))
    assert seen[0] == (("request_throughput", "prefill_throughput"), {"separate_pools": 1.0})
    # at least one token of a prompt is computed; moves stand before what the plan has
    moves = {"prefix_hit_share": np.array([1.0]), "output_tokens": np.array([14.0])}
    assert plan.at(moves, "throughput_per_card") == pytest.approx(14 / (1 / 60 + 0.25) / 6)


@pytest.mark.parametrize(("name", "pooled", "fixed"), [
    ("tpot", True, {"separate_pools": 1.0}), ("tpot", False, {}),
    ("headroom_per_device", True, {})])
def test_pools_step_apart_and_have_the_memory_of_one(monkeypatch, name, pooled, fixed):
    plan, seen = asked(monkeypatch, pooled=pooled, **{name: 5.0})
    assert plan.at({}, name) == [5]
    assert seen == [((name,), fixed)]


# --- under a limit --------------------------------------------------------------------------------


def limited(**laws):
    """Requests of three replicas: a token takes a hundredth of a second for each of them."""
    return law({"data_parallel": 3.0, "slower": 1.0, "concurrency": 99.0}, **({
        "tpot": lambda at: 0.01 * at.concurrency * at.slower,
        "headroom_per_device": lambda at: 30 - at.concurrency,
        "throughput_per_card": lambda at: np.sqrt(at.concurrency),
        "card_hours": lambda at: 1 / at.concurrency} | laws))


@pytest.mark.parametrize(("most", "requests"), [
    (0.12, 12), (0.1199, 9), (0.03, 3), (9.0, 30)])  # memory holds 30
def test_as_many_requests_are_served_as_a_limit_and_memory_allow(most, requests):
    plan, limit = limited(), Limit("tpot", most)
    assert plan.within({}, "concurrency", limit).tolist() == [requests]
    assert plan.within({}, "throughput_per_card", limit) == pytest.approx([requests**0.5])
    assert plan.within({}, "card_hours", limit) == pytest.approx([1 / requests])


def test_where_no_number_of_requests_keeps_a_limit_there_is_nothing():
    assert np.isnan(limited().within({}, "concurrency", Limit("tpot", 0.0299))[0])
    assert np.isnan(limited(headroom_per_device=lambda at: 2 - at.concurrency).within(
        {}, "card_hours", Limit("tpot", 9.0))[0])


def test_each_case_has_its_own_limit_and_its_own_inputs():
    slower, limits = np.array([1.0, 2.0, 4.0]), np.array([0.12, 0.12, 0.01])
    found = limited().within({"slower": slower}, "concurrency", Limit("tpot", limits))
    assert found[:2].tolist() == [12, 6]
    assert np.isnan(found[2])
    one = limited().within({"slower": slower, "still": 5.0}, "concurrency", Limit("tpot", 0.12))
    assert one.tolist() == [12, 6, 3]
    both = limited().within({"still": 5.0}, "concurrency", Limit("tpot", limits[:2] * [1, 2]))
    assert both.tolist() == [12, 24]
    assert limited().within({}, "concurrency", Limit("tpot", limits[:2])).tolist() == [12, 12]


def test_the_best_of_a_rate_need_not_be_that_of_most_requests():
    peaks = limited(throughput_per_card=lambda at: 50 - (at.concurrency - 15) ** 2,
                    card_hours=lambda at: 50 + (at.concurrency - 15) ** 2)
    limit = Limit("tpot", 9.0)
    assert peaks.within({}, "throughput_per_card", limit).tolist() == [50]
    assert peaks.within({}, "card_hours", limit).tolist() == [50]


def test_a_limit_that_is_kept_exactly_is_kept_and_memory_that_is_full_suffices():
    told = law({"concurrency": 1.0}, headroom_per_device=lambda at: 4 - at.concurrency)
    object.__setattr__(told, "median", lambda users, name: 0.25 * users)
    each = np.arange(1.0, 9)
    assert told.fits({"concurrency": each}).tolist() == [True] * 4 + [False] * 4
    for most, users in ((0.75, 3), (0.7499, 2), (0.25, 1), (0.2499, 0), (99, 4)):
        assert told.most_users(each, Limit("tpot", most)) == users


# --- what is asked --------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "way", "unit", "below_zero"), [
    ("tpot", "less", "s", False), ("output_throughput", "more", "token/s", False),
    ("memory_per_device", "less", "B", False), ("headroom_per_device", "more", "B", True),
    ("free_for_kv_per_device", "more", "B", True), ("kv_blocks", "more", "block", False),
    ("max_concurrency", "more", None, False), ("card_hours", "less", "h", False),
    ("throughput_per_card", "more", "token/s", False)])
def test_which_way_a_quantity_is_better_and_whether_it_may_be_negative(
        name, way, unit, below_zero):
    assert (better(name), signed(name)) == (way, below_zero)
    assert unit is None or unit_of(name) == unit


@pytest.mark.parametrize(("name", "tokens", "said"), [
    ("tpot", None, None), ("card_hours", None, None), ("ttft", 100, None), ("ttft", None, "ttft"),
    ("e2e", None, "e2e"), ("steady_tpot", None, "steady_tpot"), ("steady_tpot", 100, None),
    ("kv_blocks", None, None), ("nothing", 100, "there is no such quantity"),
    ("memory_bandwidth", 100, "there is no such quantity")])
def test_what_can_be_asked_of_a_plan(name, tokens, said):
    if said is None:
        check_quantity(law({}, tokens=tokens), name)
    else:
        with pytest.raises(ParamsError, match=said):
            check_quantity(law({}, tokens=tokens), name)


@pytest.mark.parametrize(("other", "label", "concurrency"), [
    ("workload.concurrency=3", "workload.concurrency=3", 3),
    ("s2-910b1-awq", "s2-910b1-awq", 32),
    ("s2-910b1-awq,workload.concurrency=5", "s2-910b1-awq,workload.concurrency=5", 5)])
def test_another_plan_is_the_same_with_changes_or_another_deployment(
        other, label, concurrency):
    settings = ["workload.concurrency=7", "mechanisms.prefix_hit_share=0.25"]
    plan = plan_of("s2-910b1-awq", settings)
    assert plan.label == "s2-910b1-awq, " + ", ".join(settings)
    found = module.against(plan, "s2-910b1-awq", settings, other)
    assert (found.label, found.inputs["concurrency"]) == (label, concurrency)
    assert found.inputs["prefix_hit_share"] == (0.25 if "=3" in other else 0)
