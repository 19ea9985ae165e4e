"""Servers that fail: k of n, spares, restarts, and failures drawn one by one."""

import math
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

HOUR = 3600.0
fleets = st.builds(Fleet, st.integers(1, 12), st.integers(1, 6), st.integers(0, 4),
                   st.floats(1e3, 1e6), st.floats(1.0, 1e4), st.floats(0.0, 1e3))


@given(st.integers(1, 120), st.floats(0.01, 1))
@settings(max_examples=25)
def test_servers_up_are_a_distribution_about_its_mean(servers, up):
    shares = counts(servers, up)
    assert shares.sum() == pytest.approx(1)
    assert sum(number * share for number, share in enumerate(shares)) == pytest.approx(servers * up)


@given(fleets)
@settings(max_examples=30)
def test_one_spare_more_is_never_worse(fleet):
    more = replace(fleet, spares=fleet.spares + 1)
    assert 0 <= fleet.share <= more.share + 1e-12 <= 1 + 1e-9
    assert all(0 <= fleet.promised(groups) <= more.promised(groups) + 1e-12
               for groups in range(1, fleet.groups + 1))


@given(fleets, st.floats(0.5, 0.999))
@settings(max_examples=25)
def test_spares_for_a_level_suffice_and_one_fewer_does_not(fleet, level):
    spares = spares_for(level, fleet)
    if spares is None:
        assert at_least(fleet.groups, fleet.groups, 1 - fleet.restarting) < level
        return
    assert replace(fleet, spares=spares).promised(fleet.groups) >= level
    if spares:
        assert replace(fleet, spares=spares - 1).promised(fleet.groups) < level


@pytest.mark.parametrize("fleet", [
    Fleet(2, 4, 1, 100.0, 5.0, 1.0), Fleet(1, 8, 2, 100.0, 5.0, 10.0),
    Fleet(3, 2, 0, 100.0, 20.0, 0.5)])
def test_failures_drawn_one_by_one(fleet):
    assert fleet.share == pytest.approx(simulated_share(fleet, 4000, 1), abs=0.007)


def test_a_wide_deployment_loses_all_and_a_narrow_one_its_part():
    wide, narrow = Fleet(1, 48, 0, 1e7, 1e5, 0.0), Fleet(48, 1, 0, 1e7, 1e5, 0.0)
    assert narrow.share == pytest.approx(available(1e7, 1e5)) == pytest.approx(1 / 1.01)
    assert wide.share == pytest.approx(1.01 ** -48)


def restart_of(lost, servers, between):
    """A time to start that takes such a share of a group's time."""
    return -math.log(1 - lost) * between / servers


def test_two_groups_of_one_server_with_one_spare():
    """Up nine times in ten: none 0.001, one 0.027, two or three 0.972; restarts take a fifth."""
    fleet = Fleet(2, 1, 1, 90.0, 10.0, restart_of(0.2, 1, 90.0))
    assert fleet.all_servers == 3
    assert fleet.whole == pytest.approx([0.001, 0.027, 0.972])
    assert fleet.restarting == pytest.approx(0.2)
    assert fleet.share == pytest.approx((0.027 / 2 + 0.972) * 0.8)
    assert fleet.promised(1) == pytest.approx(0.027 * 0.8 + 0.972 * (1 - 0.2**2))
    assert fleet.promised(2) == pytest.approx(0.972 * 0.64)
    assert fleet.promised(3) == 0


def test_two_pairs_with_one_spare():
    """Up three times in four: of 4⁵ = 1024 parts 1, 15, 90, 270, 405 and 243."""
    fleet = Fleet(2, 2, 1, 30.0, 10.0, restart_of(0.5, 2, 30.0))
    assert fleet.whole * 1024 == pytest.approx([16, 360, 648])
    assert fleet.share == pytest.approx((360 / 2 + 648) / 1024 / 2)


def test_servers_that_never_fail():
    assert counts(3, 1.0).tolist() == [0, 0, 0, 1]
    assert (at_least(3, 3, 1.0), at_least(4, 3, 1.0), at_least(-2, 3, 0.5)) == (1, 0, 1)
    assert at_least(1, 2, 0.5) == pytest.approx(0.75)


def test_spares_by_hand():
    """Of one that is needed, up half of the time: 1/2, 3/4, 7/8, 15/16 with one more each."""
    half, two = Fleet(1, 1, 9, 10.0, 10.0, 0.0), Fleet(2, 1, 0, 10.0, 10.0, 0.0)
    assert [spares_for(level, half) for level in (0.49, 0.51, 0.74, 0.76, 0.9)] == [0, 1, 1, 2, 3]
    assert [spares_for(0.7, two, groups) for groups in (1, 2, None)] == [0, 3, 3]
    slow = Fleet(1, 1, 0, 90.0, 10.0, restart_of(0.2, 1, 90.0))
    assert spares_for(0.81, slow) is None  # no spare gives back what restarts take
    assert spares_for(0.79, slow) == 1
    assert spares_for(0.5, Fleet(1, 1, 0, 1e-9, 1.0, 0.0)) is None


HOPPER = failures_of("nvidia-h20")  # 8 cards: 6336 h between failures, 24 h of repair, 300 s


@pytest.mark.parametrize(("replicas", "devices", "per_server", "groups", "servers", "between"), [
    (5, 3, 8, 3, 1, 6336), (5, 8, 8, 5, 1, 6336), (5, 9, 8, 5, 2, 6336), (4, 4, 8, 2, 1, 6336),
    (5, 16, 16, 5, 1, 3168), (5, 16, 4, 5, 4, 12672)])
def test_replicas_share_a_server_or_take_several(replicas, devices, per_server, groups, servers,
                                                 between):
    """Servers with more cards fail more often."""
    assert fleet_of(replicas, devices, per_server, HOPPER, 60.0, 2) == Fleet(
        groups, servers, 2, between * HOUR, 24 * HOUR, 360.0)


@pytest.mark.parametrize(("case", "between", "repair", "start"), [
    ("low", 3692, 240, 1200), ("high", 10256, 2.2, 60)])
def test_the_worse_case_is_worse_in_every_input(case, between, repair, start):
    assert fleet_of(1, 8, 8, HOPPER, 60.0, case=case) == Fleet(
        1, 1, 0, between * HOUR, pytest.approx(repair * HOUR), 60.0 + start)


def test_a_card_without_data_has_a_wide_assumed_range():
    usual = failures_of("ascend-910b2").between_failures
    assert usual.kind == "assumed"
    assert usual.high > 10 * usual.low
    for name in catalogue.names("failures"):
        assert {failures_of(device).id for device in catalogue.load("failures", name).devices} in (
            {name}, set())
