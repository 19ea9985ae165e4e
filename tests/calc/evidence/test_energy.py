"""Joules per token against the published measurements: the bar, and that nothing is fitted."""

from __future__ import annotations

import numpy as np
import pytest

import catalogue
from calc.evidence import energy
from calc.evidence.validation import measured_systems


@pytest.fixture(scope="module")
def found():
    return [energy.power_comparison(table) for table in energy.tables()]


def test_twenty_two_rows_within_a_quarter_at_the_median(found):
    summary = energy.summary(found)["energy_per_token"]
    assert summary["rows"] == 22
    assert summary["median"] <= 0.25


def test_power_alone_is_nearer_than_energy(found):
    summary = energy.summary(found)
    assert summary["power"]["median"] < min(0.16, summary["energy_per_token"]["median"])
    assert summary["power"]["worst"] < 0.38


@pytest.mark.parametrize("table", energy.tables())
def test_energy_is_power_over_throughput_measured_and_predicted(found, table):
    held, = (each for each in found if each.table == table)
    for values in (held.measured, {name: made.central for name, made in held.predicted.items()}):
        assert np.allclose(values["power"] / values["output_throughput"],
                           values["energy_per_token"], rtol=1e-3)
    for made in held.predicted.values():
        assert (made.low <= made.value).all()
        assert (made.value <= made.high).all()


def test_the_throughput_is_that_of_the_measured_system_of_the_same_name(found):
    systems = {case.id: case for case in measured_systems()}
    for held in found:
        np.testing.assert_allclose(held.measured["output_throughput"],
                                   systems[held.scenario].rows["output_throughput"])
        np.testing.assert_allclose(held.concurrency, systems[held.scenario].rows["concurrency"],
                                   rtol=2e-3)


def test_no_prior_of_the_deployment_rests_on_what_it_is_held_against(found):
    for held in found:
        scenario = catalogue.load_scenario(held.scenario)
        assert "ml-energy" not in {knob.value.source for knob in scenario.every_knob()}
