"""Predictions against measured rows: counts, errors by hand, and baselines."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from calc.evidence import baselines, classes, discrepancy, validation
from calc.evidence.systems import (
    calibrated_system,
    measured_system,
    measured_systems,
)

AWQ = "s2-910b1-awq"


@pytest.fixture(scope="module")
def awq():
    return calibrated_system(f"{AWQ}-tpot")


def test_errors_of_a_prediction_by_hand(awq):
    """80 instead of 100, 120 instead of 100, 99 instead of 90: 20, 20 and 10% off."""
    found = validation.Predictions(
        np.array([0, 1, 0]), np.array([100.0, 100.0, 90.0]), np.array([80.0, 120.0, 99.0]),
        np.array([70.0, 101.0, 90.0]), np.array([100.0, 130.0, 120.0]))
    assert found.errors == pytest.approx([-0.2, 0.2, 0.1])
    summary = found.summary()
    assert summary["rows"] == 2
    assert (summary["mean"], summary["median"], summary["worst"]) == pytest.approx((0.5 / 3, 0.2,
                                                                                     0.2))
    assert summary["coverage"] == pytest.approx(2 / 3)  # ends belong to an interval
    plain = validation.uncalibrated(awq, "tpot", {})
    size = np.abs(plain.predicted / awq.scenario.measured.column("tpot") - 1)
    assert plain.summary()["mean"] == pytest.approx(size.mean())
    assert plain.worst_row == size.argmax()


def test_blind_prediction_is_read_and_not_computed():
    wide = measured_system("wide-rtp-decode")
    slower = dataclasses.replace(wide, inputs={**wide.inputs, "host_gap_per_step": 1.0})
    found = validation.blind(slower, "output_throughput")
    assert found.predicted.tolist() == [
        one.value for one in wide.scenario.measured.blind.predictions]
    assert found.measured.tolist() == wide.rows["output_throughput"][found.row].tolist()


def test_suspect_rows_are_left_out_where_a_calibration_says_so(monkeypatch):
    monkeypatch.setattr(validation, "HALVES", 12)
    doubted = {number + 1 for number in measured_system(AWQ).suspect}
    assert doubted
    halves = {bool(result.left_out): result for result in validation.results(AWQ, "ttft")
              if result.protocol == "halves"}
    assert doubted <= {row + 1 for row in halves[False].predictions.row}
    assert doubted <= set(halves[True].left_out)
    assert not set(halves[True].left_out) & {row + 1 for row in halves[True].predictions.row}
    assert len(halves[False].predictions.row) == 12 * 15


@pytest.mark.nightly
def test_stored_errors_are_reproduced():
    stored = classes.discrepancy()
    made, _ = discrepancy.estimate(measured_systems(), stored)
    assert made.classes.keys() == stored.classes.keys()
    for name, of in made.classes.items():
        for metric, own in of.items():
            there = stored.classes[name][metric]
            assert (own.systems, own.rows) == (there.systems, there.rows)
            assert [own.down, own.up, own.within, own.inside] == pytest.approx(
                [there.down, there.up, there.within, there.inside], rel=1e-2, abs=2e-3)
    for name, own in made.left_out.items():
        for load, of in own.deviation.items():
            for metric, sides in of.items():
                assert sides == pytest.approx(stored.left_out[name].deviation[load][metric],
                                              rel=1e-2, abs=2e-3)


# --- baselines ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [AWQ, "s3-hybrid-910b4"])
def test_roofline_of_a_wave(name):
    """Below every prediction; an answer is its first token and the later ones."""
    system = measured_system(name)
    rows = system.measured("tpot")
    bound, at = baselines.roofline(system, rows), system.at(rows)
    assert (bound["tpot"] < system.predict("tpot", rows)).all()
    np.testing.assert_allclose(bound["e2e"], bound["ttft"] + (at["output_tokens"] - 1)
                               * bound["tpot"])
    np.testing.assert_allclose(bound["output_throughput"],
                               at["concurrency"] * at["output_tokens"] / bound["e2e"])
    if name == AWQ:  # bytes are all that a decode step of S2 has
        twice = dataclasses.replace(system, inputs={
            **system.inputs, "memory_bandwidth": 2 * system.inputs["memory_bandwidth"]})
        np.testing.assert_allclose(baselines.roofline(twice, rows)["tpot"], bound["tpot"] / 2)


def test_calibrated_roofline_is_the_best_line(awq):
    """Least squares of relative errors; what was not fitted lies on the line of the others."""
    draw = np.random.default_rng(1)
    bounds = draw.uniform(1, 10, 12)
    measured = (bounds / 0.4 + 3) * draw.lognormal(0, 0.05, 12)
    best = baselines.fit_line(bounds, measured)

    def loss(share, constant):
        return float(np.square((bounds / share + constant) / measured - 1).sum())

    for moved in ((1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99)):
        assert loss(*np.multiply(best, moved)) > loss(*best)
    with pytest.raises(ValueError, match="expected at least 2"):
        baselines.fit_line(bounds[:1], measured[:1])
    rows = awq.measured("tpot")
    found = baselines.held_out(awq, "tpot", "low-concurrency", rows)
    (fitted, left_out), = validation.splits(awq, rows, "low-concurrency")
    bound = baselines.roofline(awq, rows)["tpot"]
    share, constant = baselines.fit_line(bound[fitted], awq.rows["tpot"][fitted])
    assert found.row.tolist() == left_out.tolist()
    np.testing.assert_allclose(found.predicted, bound[left_out] / share + constant)
