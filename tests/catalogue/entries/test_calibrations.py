"""A calibration's file: what a fit can be, and one sentence for what none can."""

import pytest
from _door import sentence, spoilt

import catalogue

UNCALIBRATED = "discrepancies/uncalibrated"
FILE = """name: {en: Mine, zh: 我的}
scenario: s2-910b1-awq
metric: tpot
mechanisms: [kernel_boundary, host_gap_per_step]
subset: {en: All., zh: 全部。}
protocols: [halves]
fitted:
  values: {kernel_boundary: 3.5e-06, host_gap_per_step: 0.008}
  coordinates: [0.4, 1.6]
  covariance: [[0.8, -0.3], [-0.3, 0.2]]
  noise: 0.02
  rows: 30
  extent: {concurrency: [1, 32], input_tokens: [128, 61440], output_tokens: [512, 512]}
"""


def load(folder, *replacement):
    path = folder / "mine.yml"
    path.write_text(FILE.replace(*replacement) if replacement else FILE, "utf-8")
    return catalogue.load("calibrations", path)


def test_a_fit_as_it_is_written(tmp_path):
    assert load(tmp_path).fitted.noise == 0.02


@pytest.mark.parametrize(("old", "new", "line", "says"), [
    ("0.02", "1e300", 11, "less than or equal to 5"),
    ("0.02", "-1", 11, "greater than or equal to 0"),
    ("0.02", ".inf", 11, "expected a valid number"),
    ("0.02", "inf", 11, "finite number"),
    ("rows: 30", "rows: 0", 12, "greater than or equal to 1"),
    ("[0.4, 1.6]", "[0.4, 1e9]", 9, "less than or equal to 50"),
    ("[0.4, 1.6]", "[-1e300, 1.6]", 9, "greater than or equal to -50"),
    ("[[0.8,", "[[-0.8,", 10, "the variance '-0.8' is negative"),
    ("[-0.3, 0.2]]", "[0.3, 0.2]]", 10, "not symmetric"),
    ("-0.3], [-0.3", "-0.9], [-0.9", 10, "exceeds what its two variances allow"),
    ("[1, 32]", "[32, 1]", 13, "expected [smallest, largest]"),
    ("3.5e-06", "-3.5e-06", 8, "greater than or equal to 0"),
])
def test_what_no_fit_can_be_is_one_sentence(tmp_path, old, new, line, says):
    message = sentence(load, tmp_path, old, new)
    assert f"mine.yml:{line}:" in message
    assert says in message


@pytest.mark.parametrize(("old", "new"), [
    ("within: ", "within: -"), ("extrapolation: 0.02", "extrapolation: -0.02"),
    ("borrowed: 2", "borrowed: 1e300"), ("concurrent: {tpot: [", "concurrent: {tpot: [1")])
def test_a_deviation_is_a_size(tmp_path, old, new):
    path = spoilt(tmp_path / "own.yml", UNCALIBRATED, old, new)
    with pytest.raises(catalogue.ParamsError, match="or equal to"):
        catalogue.load("discrepancies", path)


def test_what_a_system_gets_is_of_a_class_that_there_is(tmp_path):
    path = spoilt(tmp_path / "own.yml", UNCALIBRATED,
                  "{of: servers/NVIDIA,", "{of: <b>servers</b>,")
    with pytest.raises(catalogue.ParamsError, match=r"own\.yml:\d+: .*is none of 'classes'"):
        catalogue.load("discrepancies", path)
