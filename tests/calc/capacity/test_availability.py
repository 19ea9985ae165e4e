"""Servers that fail: laws of k of n and of spares, and failures drawn one by one."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import catalogue
from calc.capacity.availability import (
    Fleet,
    at_least,
    available,
    counts,
    failures_of,
    fleet_of,
    simulated_share,
    spares_for,
)

TIMES = st.floats(1.0, 1e4)
fleets = st.builds(Fleet, st.integers(1, 12), st.integers(1, 6), st.integers(0, 4),
                   st.floats(1e3, 1e6), TIMES, st.floats(0.0, 1e3))


@given(st.floats(1, 1e9), st.floats(1e-3, 1e9))
def test_a_server_is_up_for_a_share_of_the_time(between, repair):
    assert 0 < available(between, repair) <= 1


@given(st.integers(1, 120), st.floats(0.01, 1))
@settings(max_examples=40)
def test_how_many_are_up_is_a_distribution_about_its_mean(servers, up):
    found = counts(servers, up)
    assert found.sum() == pytest.approx(1)
    assert sum(number * share for number, share in enumerate(found)) == pytest.approx(servers * up)


@given(fleets)
@settings(max_examples=60)
def test_shares_are_shares_and_one_more_that_stands_by_is_never_less(fleet):
    more = replace(fleet, spares=fleet.spares + 1)
    assert 0 <= fleet.share <= more.share + 1e-12 <= 1 + 1e-9
    assert all(0 <= fleet.promised(groups) <= more.promised(groups) + 1e-12
               for groups in range(1, fleet.groups + 1))


@given(st.integers(1, 60), st.floats(0.5, 0.9999))
@settings(max_examples=40)
def test_more_servers_keep_a_promise_better_and_a_larger_one_worse(needed, up):
    assert at_least(needed, needed + 3, up) >= at_least(needed, needed + 2, up) - 1e-12
    assert at_least(needed + 1, needed + 3, up) <= at_least(needed, needed + 3, up) + 1e-12


@given(fleets, st.floats(0.5, 0.999))
@settings(max_examples=40)
def test_the_spares_for_a_level_keep_it_and_one_fewer_do_not(fleet, level):
    found = spares_for(level, fleet)
    if found is None:
        assert at_least(fleet.groups, fleet.groups, 1 - fleet.restarting) < level
        return
    assert replace(fleet, spares=found).promised(fleet.groups) >= level
    if found:
        assert replace(fleet, spares=found - 1).promised(fleet.groups) < level


@pytest.mark.parametrize("fleet", [
    Fleet(2, 4, 1, 100.0, 5.0, 1.0), Fleet(8, 1, 1, 100.0, 5.0, 1.0),
    Fleet(1, 8, 2, 100.0, 5.0, 10.0), Fleet(3, 2, 0, 100.0, 20.0, 0.5)])
def test_failures_drawn_one_by_one_take_as_much(fleet):
    assert fleet.share == pytest.approx(simulated_share(fleet, 8000, 1), abs=0.005)


def test_a_wide_deployment_loses_all_of_it_and_a_narrow_one_its_part():
    wide, narrow = Fleet(1, 48, 0, 1e7, 1e5, 0.0), Fleet(48, 1, 0, 1e7, 1e5, 0.0)
    up = available(1e7, 1e5)
    assert narrow.share == pytest.approx(up)
    assert wide.share == pytest.approx(up ** 48)


def test_replicas_of_one_server_fail_together_and_those_of_several_as_one():
    failures = failures_of("nvidia-h20")
    assert fleet_of(6, 4, 8, failures, 60.0).groups == 3
    assert fleet_of(2, 32, 8, failures, 60.0).servers == 4
    worst, best = (fleet_of(2, 32, 8, failures, 60.0, case=case).share for case in ("low", "high"))
    assert worst < fleet_of(2, 32, 8, failures, 60.0).share < best
    # sixteen cards fail twice as often as eight
    assert fleet_of(1, 16, 16, failures, 60.0).between_failures == pytest.approx(
        failures.between_failures.value / 2)


def test_a_card_of_which_nothing_is_known_has_a_wide_range_that_is_assumed():
    usual = failures_of("ascend-910b2")
    assert usual.between_failures.kind == "assumed"
    assert usual.between_failures.high > 10 * usual.between_failures.low
    for name in catalogue.names("failures"):
        for device in catalogue.load("failures", name).devices:
            assert failures_of(device).id == name
