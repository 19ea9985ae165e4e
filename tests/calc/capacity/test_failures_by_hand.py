"""Servers that fail, by hand: few of them counted out, and failures at moments that are told."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.capacity.availability import (
    Fleet,
    at_least,
    counts,
    fleet_of,
    simulated_share,
    spares_for,
)


def restart_of(lost, servers, between):
    """A time to start that takes such a share of a group's time."""
    return -math.log(1 - lost) * between / servers


def test_of_three_servers_one_stands_by_for_two_groups_of_one():
    """Up nine times in ten: none 0.001, one 0.027, two or three 0.972; each starts a fifth of it"""
    fleet = Fleet(2, 1, 1, 90.0, 10.0, restart_of(0.2, 1, 90.0))
    assert fleet.all_servers == 3
    assert fleet.whole == pytest.approx([0.001, 0.027, 0.972])
    assert fleet.restarting == pytest.approx(0.2)
    assert fleet.share == pytest.approx((0.027 / 2 + 0.972) * 0.8)
    assert fleet.promised(1) == pytest.approx(0.027 * 0.8 + 0.972 * (1 - 0.2**2))
    assert fleet.promised(2) == pytest.approx(0.972 * 0.64)
    assert fleet.promised(3) == 0
    told = fleet.as_json()
    assert (told["groups"], told["share"], told["restarting"]) == (2, fleet.share, fleet.restarting)


def test_of_five_servers_two_pairs_serve_where_four_are_up():
    """Up three times in four: of 4⁵ = 1024 parts 1, 15, 90, 270, 405 and 243."""
    fleet = Fleet(2, 2, 1, 30.0, 10.0, restart_of(0.5, 2, 30.0))
    assert fleet.whole * 1024 == pytest.approx([16, 360, 648])
    assert fleet.restarting == pytest.approx(0.5)
    assert fleet.share == pytest.approx((360 / 2 + 648) / 1024 / 2)


def test_servers_that_never_fail_are_all_up():
    assert counts(3, 1.0).tolist() == [0, 0, 0, 1]
    assert at_least(3, 3, 1.0) == 1
    assert at_least(4, 3, 1.0) == 0
    assert at_least(-2, 3, 0.5) == at_least(0, 3, 0.5) == 1
    assert at_least(1, 2, 0.5) == pytest.approx(0.75)


FAILURES = SimpleNamespace(cards=8, **{
    name: SimpleNamespace(low=low, value=value, high=high) for name, low, value, high in (
        ("between_failures", 100.0, 200.0, 700.0), ("repair", 3.0, 5.0, 11.0),
        ("start", 13.0, 17.0, 19.0))})


@pytest.mark.parametrize(("replicas", "devices", "per_server", "groups", "servers", "between"), [
    (5, 3, 8, 3, 1, 200.0), (5, 8, 8, 5, 1, 200.0), (5, 9, 8, 5, 2, 200.0), (4, 4, 8, 2, 1, 200.0),
    (5, 16, 16, 5, 1, 100.0), (5, 16, 4, 5, 4, 400.0)])
def test_replicas_share_a_server_or_take_several_and_more_cards_fail_more_often(
        replicas, devices, per_server, groups, servers, between):
    assert fleet_of(replicas, devices, per_server, FAILURES, 60.0, 2) == Fleet(
        groups, servers, 2, between, 5.0, 77.0)


@pytest.mark.parametrize(("case", "between", "repair", "restart"), [
    ("central", 200.0, 5.0, 77.0), ("low", 100.0, 11.0, 79.0), ("high", 700.0, 3.0, 73.0)])
def test_the_worse_case_is_worse_in_every_input(case, between, repair, restart):
    assert fleet_of(1, 8, 8, FAILURES, 60.0, case=case) == Fleet(
        1, 1, 0, between, repair, restart)


def test_spares_are_the_fewest_that_keep_a_promise():
    """Of one that is needed, up half of the time: 1/2, 3/4, 7/8, 15/16 with one more each."""
    half = Fleet(1, 1, 9, 10.0, 10.0, 0.0)
    assert [spares_for(level, half) for level in (0.4, 0.49, 0.51, 0.74, 0.76, 0.9)] == [
        0, 0, 1, 1, 2, 3]
    two = Fleet(2, 1, 0, 10.0, 10.0, 0.0)
    assert [spares_for(0.7, two, groups) for groups in (1, 2, None)] == [0, 3, 3]


def test_no_spare_gives_back_what_restarts_take_and_some_servers_are_hardly_ever_up():
    slow = Fleet(1, 1, 0, 90.0, 10.0, restart_of(0.2, 1, 90.0))
    assert spares_for(0.81, slow) is None
    assert spares_for(0.79, slow) == 1
    assert spares_for(0.5, Fleet(1, 1, 0, 1e-9, 1.0, 0.0)) is None


# --- failure by failure -------------------------------------------------------------------------


class Told:
    """Draws that are told, each with the mean that it has to be asked for."""

    def __init__(self, *draws):
        self.draws = list(draws)

    def exponential(self, mean):
        of, draw = self.draws.pop(0) if self.draws else (mean, 1e9)
        assert mean == of
        return draw


def served(monkeypatch, fleet, years, *draws):
    monkeypatch.setattr(np.random, "default_rng", lambda seed: Told(*draws))
    return simulated_share(fleet, years, 3)


def test_a_group_serves_from_its_start_to_its_next_failure(monkeypatch):
    """Fails at 5, is mended at 9 and ready at 10, fails at 12, is mended at 18, ready at 19: of 30
    it served 5 + 2 + 11."""
    share = served(monkeypatch, Fleet(1, 1, 0, 10.0, 2.0, 1.0), 3.0,
                   (10.0, 5.0), (2.0, 4.0), (10.0, 3.0), (2.0, 6.0))
    assert share == pytest.approx(18 / 30)


def test_a_spare_takes_the_place_at_once_and_two_that_are_mended_make_a_group(monkeypatch):
    """Of a pair one fails at 5: it is ready again at 6, with the one that stood by. One of them
    fails at 8, the other at 9; they are back at 11 and 12, ready at 13: 5 + 2 + 7 of 20."""
    share = served(monkeypatch, Fleet(1, 2, 1, 10.0, 2.0, 1.0), 2.0, (10.0, 5.0), (10.0, 8.0),
                   (10.0, 9.0), (2.0, 45.0), (2.0, 3.0), (2.0, 3.0))
    assert share == pytest.approx(14 / 20)


def test_groups_fail_apart_and_one_that_does_not_start_in_time_serves_nothing(monkeypatch):
    """One fails at 5 and is not back by 20, the other serves all the time; where the other fails
    at 6 and is back at 7 it would be ready at 27."""
    fleet = Fleet(2, 1, 0, 10.0, 2.0, 20.0)
    assert served(monkeypatch, fleet, 2.0, (10.0, 5.0), (10.0, 99.0), (2.0, 30.0)
                  ) == pytest.approx(25 / 40)
    assert served(monkeypatch, fleet, 2.0, (10.0, 5.0), (10.0, 6.0), (2.0, 30.0), (2.0, 1.0)
                  ) == pytest.approx(11 / 40)
