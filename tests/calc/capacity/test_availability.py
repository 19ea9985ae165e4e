"""Servers that fail: k of n, spares, restarts, and failures drawn one by one."""

import math
from dataclasses import replace

import pytest
from _fleets import simulated_share
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.capacity.availability import (
    Fleet,
    at_least,
    available,
    failures_of,
    fleet_of,
    spares_for,
)

HOUR = 3600.0
fleets = st.builds(Fleet, st.integers(1, 12), st.integers(1, 6), st.integers(0, 4),
                   st.floats(1e3, 1e6), st.floats(1.0, 1e4), st.floats(0.0, 1e3))


@given(fleets, st.floats(0.5, 0.999))
@settings(max_examples=25)
def test_spares_for_a_level_suffice_and_one_fewer_does_not(fleet, level):
    if (spares := spares_for(level, fleet)) is None:
        assert at_least(fleet.groups, fleet.groups, 1 - fleet.restarting) < level
        return
    assert replace(fleet, spares=spares).promised(fleet.groups) >= level
    assert not spares or replace(fleet, spares=spares - 1).promised(fleet.groups) < level


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
    assert fleet.complete == pytest.approx([0.001, 0.027, 0.972])
    assert fleet.restarting == pytest.approx(0.2)
    assert fleet.share == pytest.approx((0.027 / 2 + 0.972) * 0.8)
    assert fleet.promised(1) == pytest.approx(0.027 * 0.8 + 0.972 * (1 - 0.2**2))
    assert fleet.promised(2) == pytest.approx(0.972 * 0.64)
    assert fleet.promised(3) == 0


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


def test_the_worse_case_is_worse_in_every_input():
    assert [fleet_of(1, 8, 8, HOPPER, 60.0, case=case) for case in ("low", "high")] == [
        Fleet(1, 1, 0, 3692 * HOUR, 240 * HOUR, 1260.0),
        Fleet(1, 1, 0, 10256 * HOUR, pytest.approx(2.2 * HOUR), 120.0)]
