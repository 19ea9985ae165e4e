"""How errors are measured: splits of rows, and fits that recover what rows were made with."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import catalogue
from calc.evidence import validation
from calc.evidence.calibrating import fit_calibration
from calc.evidence.calibration import fit
from calc.evidence.systems import calibrated_system

AWQ = "s2-910b1-awq"
MECHANISMS = ["dequantisation_traffic", "kernel_boundary", "host_gap_per_step",
              "single_token_path"]
FEW = {"concurrency": np.array([1.0, 4.0, 5.0, 6.0, 64.0]),
       "input_tokens": np.array([1025.0, 1024.0, 8.0, 2048.0, 1024.5]),
       "output_tokens": np.array([1.0, 2.0, 4.0, 8.0, 0.0])}


@pytest.fixture(scope="module")
def awq():
    return calibrated_system(f"{AWQ}-tpot")


@pytest.fixture(scope="module")
def rows(awq):
    return awq.measured("tpot")


@pytest.mark.parametrize("name", validation.PROTOCOLS)
def test_no_row_is_predicted_that_was_fitted(awq, rows, name):
    splits = list(validation.splits(awq, rows, name))
    assert splits
    for fitted, left_out in splits:
        assert len(fitted)
        assert len(left_out)
        assert not set(fitted) & set(left_out)
        assert {*fitted, *left_out} <= set(rows)
    if name.startswith("leave"):  # each row once
        assert sorted(np.concatenate([each for _, each in splits])) == sorted(rows)


def test_halves_are_two_hundred_and_reproducible(awq, rows):
    splits, again = (list(validation.splits(awq, rows, "halves")) for _ in range(2))
    assert len({tuple(fitted) for fitted, _ in splits}) == validation.HALVES == 200
    for one, other in zip(splits, again, strict=True):
        assert all(np.array_equal(*pair) for pair in zip(one, other, strict=True))
        assert sorted([*one[0], *one[1]]) == sorted(rows)
        assert len(one[0]) == len(rows) // 2


@pytest.mark.parametrize(("protocol", "fitted", "left_out"), [
    # up to 4 requests, from 6 on; up to 1,024 tokens, and more
    ("low-concurrency", [0, 1], [3, 4]), ("short-inputs", [1, 2], [0, 3, 4])])
def test_limits_of_extrapolations(awq, protocol, fitted, left_out):
    system = dataclasses.replace(awq, rows=FEW)
    (one, other), = validation.splits(system, np.arange(5), protocol)
    assert (one.tolist(), other.tolist()) == (fitted, left_out)


# --- fits -----------------------------------------------------------------------------------------


def test_fit_recovers_the_values_that_rows_were_made_with(awq, rows):
    knobs = [awq.knobs[name] for name in ("dequantisation_traffic", "single_token_path")]
    truth = {"dequantisation_traffic": 3.1, "single_token_path": 1.7e-3}
    found = fit(lambda overrides: awq.predict("tpot", rows, overrides), knobs,
                awq.predict("tpot", rows, truth))
    assert found.values == pytest.approx(truth, rel=0.02)
    assert found.inside
    with pytest.raises(ValueError, match="expected 1 to 4"):
        validation.calibrate(awq, "tpot", (*MECHANISMS, "routing_skew"), tuple(rows))


@pytest.mark.parametrize("name", catalogue.names("calibrations"))
def test_stored_calibration_is_reproduced(name):
    chosen = catalogue.load("calibrations", name)
    again, _ = fit_calibration(name)
    if chosen.fitted is not None:
        assert again.values == pytest.approx(chosen.fitted.values, rel=1e-3, abs=1e-12)
        assert again.extent == chosen.fitted.extent
