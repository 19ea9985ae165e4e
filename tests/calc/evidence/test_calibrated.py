"""A fitted calibration on deployments: intervals inside its rows, and wider beyond them."""

from __future__ import annotations

import math

import pytest

import catalogue
from calc.answer.estimate import estimate
from calc.evidence.calibration import apply, outside
from calc.evidence.classes import discrepancy
from catalogue.deployments.physics_inputs import NORMAL_90

AWQ = "s2-910b1-awq"


def applied(metric, *overrides):
    """A calibration on the measured system with changes, and its intervals."""
    scenario = catalogue.load_scenario(AWQ, overrides=list(overrides))
    found = apply(scenario, f"{AWQ}-{metric}")
    others = estimate(scenario).quantities
    return found, others, found.bounds(others)


@pytest.mark.parametrize(("value", "ends", "far"), [
    (8.0, (1.0, 4.0), math.log(2)), (4.0, (1.0, 4.0), 0), (2.0, (6.0, 9.0), math.log(3)),
    (0.0, (1.0, 4.0), 0), (0.0, (2.0, 4.0), math.log(2))])
def test_outside_is_the_factor_by_which_a_range_is_left(value, ends, far):
    """Nothing counts as one, as one card or one layer does."""
    assert outside("x", value, ends).far == pytest.approx(far)


@pytest.mark.parametrize("metric", ["tpot", "ttft"])
def test_fitted_metric_has_the_noise_of_its_rows(metric):
    """The interval is that of a normal logarithm; others keep theirs, with the covariance."""
    _, others, bounds = applied(metric, "workload.concurrency=4 request")
    stored = catalogue.load("calibrations", f"{AWQ}-{metric}").fitted
    made, width = bounds[metric], math.log(bounds[metric].high / bounds[metric].value) / NORMAL_90
    assert made.high / made.value == pytest.approx(made.value / made.low)
    assert stored.noise <= width < 2 * stored.noise
    assert width < math.log(others[metric].high / others[metric].low) / (2 * NORMAL_90)
    for name in bounds.keys() - {metric, "e2e", "output_throughput"}:
        assert bounds[name].low <= others[name].low * (1 + 1e-12)
        assert bounds[name].high >= others[name].high * (1 - 1e-12)


@pytest.mark.parametrize("metric", ["tpot", "ttft"])
def test_throughput_moves_against_latency(metric):
    """Both follow from their parts, in their shares: the product of the two stays."""
    _, others, bounds = applied(metric, "workload.concurrency=4 request")
    product = others["e2e"].value * others["output_throughput"].value
    for one, other in (("value", "value"), ("high", "low"), ("low", "high")):
        assert getattr(bounds["e2e"], one) * getattr(
            bounds["output_throughput"], other) == pytest.approx(product)


def test_interval_widens_beyond_the_fitted_rows():
    """By the stored deviation for each factor of e, beside the noise."""
    inside, _, near = applied("tpot", "workload.concurrency=4 request")
    most = catalogue.load("calibrations", f"{AWQ}-tpot").fitted.extent["concurrency"][1]
    outside, _, far = applied("tpot", f"workload.concurrency={4 * most:.0f} request",
                              f"workload.requests={4 * most:.0f} request")
    assert "concurrency" not in {each.quantity for each in inside.outside}
    beyond = next(each for each in outside.outside if each.quantity == "concurrency")
    assert (beyond.value, beyond.far) == (4 * most, pytest.approx(math.log(4)))
    widths = [math.log(each["tpot"].high / each["tpot"].value) / NORMAL_90 for each in (near, far)]
    noise = catalogue.load("calibrations", f"{AWQ}-tpot").fitted.noise
    assert widths[1] > math.hypot(noise, discrepancy().extrapolation * math.log(4)) > widths[0]
