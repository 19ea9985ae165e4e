"""Alerts that wait and probes that do not: times beside the times that they have to outlast."""

from __future__ import annotations

import math

import numpy as np
import pytest

from calc.launching.watching.monitoring import seconds
from notebooks.pages.engineering.operating import watching
from notebooks.pages.engineering.operating.monitoring import WATCHED


@pytest.mark.parametrize("at", range(len(watching.probes())))
def test_a_probe_kills_just_what_takes_longer_than_it_waits(at: int) -> None:
    document, probe = watching.probes()[at]
    patience = watching.patience(probe)
    assert watching.kills(probe, patience + 1)
    assert not watching.kills(probe, patience)
    assert watching.kills(probe, watching.starting(document).low)  # as the text has it


@pytest.mark.parametrize("at", range(len(watching.probes())))
def test_so_many_failures_outlast_the_start_and_one_less_does_not(at: int) -> None:
    document, probe = watching.probes()[at]
    start = watching.starting(document).high
    interval = watching.claims.select_claims(probe.interval)[0].case.printed
    assert interval
    checks = watching.allowed(probe, start)
    assert (checks - 1) * interval.value < start <= checks * interval.value


@pytest.mark.parametrize("title", WATCHED)
def test_a_window_of_that_length_has_that_scatter(title: str) -> None:
    of, room = watching.forecast(title), 0.1
    window = watching.window_for(of, room)
    assert watching.SIGMAS * watching.scatter(of, window) == pytest.approx(room)
    # as the text has it: a mean over the window that stays so for the hold has seen both
    assert window < seconds(watching.WINDOW) + seconds(watching.HOLD)
    draws = np.random.default_rng(0).exponential(size=(4000, math.ceil(of.requests.value * window)))
    assert draws.mean(1).std() == pytest.approx(room / watching.SIGMAS, rel=0.1)


def test_every_duration_of_s1_stands_beside_ours_and_quiet_hours_grow_with_the_limit() -> None:
    assert [hold.line for hold in watching.holds()] == [1959, 1967, 1975]
    hours = [watching.quiet_hours(limit) for limit in (0.0, 300.0, 500.0, 1e9)]
    assert hours == sorted(hours)
    assert hours[0] == 0
    assert hours[-1] == 24
