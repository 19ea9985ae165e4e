"""Joules per token against published measurements, with nothing fitted."""

from __future__ import annotations

import numpy as np
import pytest

import catalogue
from calc.evidence import energy


@pytest.fixture(scope="module")
def tables():
    return [energy.power_comparison(table) for table in energy.tables()]


def test_errors_of_all_rows(tables):
    """Power alone is nearer than energy, which has the error of the throughput too."""
    summary = energy.summary(tables)
    assert summary["energy_per_token"]["rows"] == 22
    assert summary["energy_per_token"]["median"] <= 0.25
    assert summary["power"]["median"] < min(0.16, summary["energy_per_token"]["median"])
    assert summary["power"]["worst"] < 0.38


def test_energy_is_power_over_throughput(tables):
    """Measured and predicted; the ranges of the deployment do not rest on what was measured."""
    for table in tables:
        for which in ("measured", "predicted"):
            values = {name: getattr(of, which) for name, of in table.predictions.items()}
            np.testing.assert_allclose(values["power"] / values["output_throughput"],
                                       values["energy_per_token"], rtol=1e-3)
        for of in table.predictions.values():
            assert (of.low <= of.predicted).all()
            assert (of.predicted <= of.high).all()
        scenario = catalogue.load_scenario(table.table)
        assert "ml-energy" not in {knob.value.source for knob in scenario.every_knob()}
