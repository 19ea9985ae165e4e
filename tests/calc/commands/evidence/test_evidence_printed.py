"""What ``validate`` and ``audit`` print of results that are written down here."""

import csv
import io
from collections import Counter
from types import SimpleNamespace as Made

import pytest

from calc.commands.evidence import audit, calibrate, validate
from calc.evidence import validation


@pytest.fixture
def results(monkeypatch):
    """One prediction with a blind one before it, and one without."""
    def made(system, blind):
        numbers = {"rows": 9, "mean": 0.123, "median": 0.0456, "worst": -0.2, "coverage": 0.876,
                   "width": 1.5}
        return Made(system=system, metric="tpot", protocol="uncalibrated", blind=blind and Made(
            summary=lambda: {"median": 0.25}), predictions=Made(
                summary=lambda: numbers, worst_row=4))

    monkeypatch.setattr(validation, "results", lambda *_: [made("one", True), made("other", None)])


@pytest.mark.usefixtures("results")
def test_errors_of_every_prediction(capsys):
    validate.run(Made(energy=False, system=None, metric=None, json=False))
    header, one, other = (line.split() for line in capsys.readouterr().out.splitlines())
    assert header[:4] == ["system", "metric", "protocol", "rows"]
    assert one == ["one", "tpot", "uncalibrated", "9", "12.3%", "4.6%", "-20.0%", "(row", "5)",
                   "88%", "1.50", "25.0%"]
    assert other == ["other", *one[1:-1]]


def claim(name, also=(), corrected=None, cause=None):
    said = {"id": name, "section": "1.2", "line": 7, "verdict": "reproduced", "also": list(also),
            "cause": cause, "recomputed": 2.5, "corrected": corrected,
            "what": {"en": "a time", "zh": "时间"}, "why": {"en": "It is so.", "zh": "如此。"},
            "documented": {"written": "5 ms", "value": 0.005, "unit": "s"}}
    return Made(id=name, as_json=lambda: said)


ROWS = [claim("S0-001"), claim("S0-002", ("infeasible", "wrong"), {
    "value": 3.0, "low": 2.0, "high": 4.0}, "constant-watched")]
WHOLE = Made(counts=lambda: {"s0": Counter({"reproduced": 3, "met": 1})},
             causes=lambda: Counter({"constant-watched": 2}),
             contradictions=[Made(claims=("S0-001", "S1-001")), Made(claims=("S2-001",))])


def test_counts_causes_and_the_claims_that_are_asked_for(capsys):
    audit._told(WHOLE, ROWS, asked=False)
    counts, causes = capsys.readouterr().out.splitlines()
    assert counts.startswith("S0: 4 ")
    assert counts.index("3 ") < counts.index("1 ")
    assert "2" in causes
    audit._told(WHOLE, ROWS, asked=True)
    first, second = capsys.readouterr().out.splitlines()[2:]
    assert first.startswith("S0-001")
    for part in ("1.2", "a time", "5 ms", "It is so."):
        assert part in first
    assert second.startswith("S0-002")
    assert len(second) > len(first)


def test_contradictions_of_the_claims_that_are_asked_for(capsys):
    assert audit._among(WHOLE, ROWS) == WHOLE.contradictions[:1]
    told = [Made(id=f"C{number}", kind="numbers", name={"en": "A name.", "zh": "名。"},
                 claims=("S0-001", "S1-001"), values=("5 ms", "6 ms"), right=right)
            for number, right in ((1, ("S0-001",)), (2, ()))]
    audit._excluding(told)
    head, first, second = capsys.readouterr().out.splitlines()
    assert head.count("2") >= 2
    assert "S0-001 5 ms, S1-001 6 ms" in first
    assert (first.count("S0-001"), second.count("S0-001")) == (2, 1)  # which holds, or none


def test_a_table_for_other_programs(capsys):
    audit._csv([row.as_json() for row in ROWS])
    header, first, second = csv.reader(io.StringIO(capsys.readouterr().out))
    assert header == list(audit.COLUMNS)
    assert first == ["S0-001", "1.2", "7", "reproduced", "", "", "0.005", "2.5", "", "", "", "s",
                     "It is so."]
    assert second[4:] == ["infeasible wrong", "constant-watched", "0.005", "2.5", "3.0", "2.0",
                          "4.0", "s", "It is so."]


@pytest.mark.parametrize(("number", "kept"), [
    (123456.7, 123457.0), (-0.0012345678, -0.00123457), (1e-14, 1e-14), (1e-16, 0.0), (0.0, 0.0)])
def test_what_is_fitted_is_kept_to_six_digits_and_noise_of_floats_as_nothing(number, kept):
    assert calibrate._six(number) == kept
