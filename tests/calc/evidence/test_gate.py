"""The accuracy gate: errors on measured rows that nothing is fitted to do not grow."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import median

import pytest
from _door import spoilt

from calc.answer.gate import GateCell, gate_cells, gate_names, summarise
from calc.evidence.startup import Term, summarise_startups
from calc.evidence.systems import measured_names
from calc.uncertainty import Amount
from catalogue import ParamsError, library
from catalogue.deployments.measured import StartupRow, gate_rows
from catalogue.entries.measurements import StartupLog
from tools.gate import measured_errors, memory_errors, merged, recorded_errors, regressions

README = library.ROOT.parent / "README.md"
VALUES = 86 * 3 + 206  # tables of R1 with three metrics a row, and values of today's models
FLAG = "has the flag test_only: it is tested on, never fitted to"
BAD_FILES = {  # change of a gate's file -> line and what the sentence names
    "model": (("model: deepseek-v3\n", "model: deepseek-v33\n"), 18, "deepseek-v3"),
    "unit": (("tpot: ms\n", "tpot: token\n"), 53, "expected one of s"),
    "setting": (("workload.concurrency: req", "workload.concurency: req"), 57, "concurrency"),
    "flag": (("test_only: true", "test_only: false"), 6, "True"),
    "cell": ((", 14.609,", ", -14.609,"), 57, "expected a number above 0"),
    "row": ((", 14.609,", ","), 57, "expected 17"),
}


def test_errors_do_not_exceed_the_best_ever_recorded() -> None:
    assert regressions(measured_errors() | memory_errors(), recorded_errors()) == []


def test_every_measured_value_is_counted_and_predicted_where_possible() -> None:
    cells = [cell for name in gate_names() for cell in gate_cells(name)]
    assert len(cells) == VALUES
    assert all(cell.predicted > 0 or cell.refused for cell in cells)
    assert sum(summary.rows for summary in summarise(cells)) == VALUES


def test_readme_states_the_errors() -> None:
    cells = [cell for name in gate_names() for cell in gate_cells(name)
             if math.isfinite(cell.predicted)]
    table = README.read_text("utf-8")
    for pools, label in ((False, "aggregated"), (True, "disaggregated prefill/decode")):
        systems = {cell.system for cell in cells if cell.system.endswith("two-pools") is pools}
        lines = []
        for metric, name in (("tpot", "TPOT"), ("ttft", "TTFT"),
                             ("output_throughput", "output throughput")):
            rows = [cell for cell in cells if cell.system in systems and cell.metric == metric]
            error = f"{median(abs(cell.error) for cell in rows):.0%}"
            inside = sum(cell.low <= cell.measured <= cell.high for cell in rows) / len(rows)
            lines.append(f"| {name} | {error} | {'–' if pools else f'{inside:.0%}'} "
                         f"| {len(rows)} |\n")
        assert f"| {label}, {len(systems)} systems {'| '.join(lines)}" in table


def test_gates_are_no_measured_systems_of_classes_and_fits() -> None:
    assert set(gate_names()).isdisjoint(measured_names())
    assert set(gate_names()).isdisjoint(library.load("discrepancies", "uncalibrated").measured)


@pytest.mark.parametrize("command", [
    ("calibrate", "r1-b200-trtllm-fp8"),
    ("dev", "kernels", "fit", "--tables", str(library.locate("gates", "r1-b200-trtllm-fp8")))],
    ids=lambda command: command[0])
def test_nothing_is_fitted_to_a_gate(command, cli) -> None:
    code, printed, error = cli(*command)
    assert (code, printed) == (2, "")
    assert FLAG in error
    assert error.count("\n") == 1


def test_a_calibration_of_a_gate_is_refused(tmp_path: Path, cli) -> None:
    text = library.locate("calibrations", "s2-910b1-awq-tpot").read_text("utf-8")
    path = tmp_path / "mine.yml"
    path.write_text(text.replace("scenario: s2-910b1-awq", "scenario: r1-b200-trtllm-fp8"), "utf-8")
    code, _, error = cli("calibrate", str(path))
    assert code == 2
    assert "is a gate, expected a deployment" in error


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_gate_file_is_refused_with_file_and_line(case: str, tmp_path: Path) -> None:
    (old, new), line, named = BAD_FILES[case]
    path = spoilt(tmp_path / "gate.yml", "gates/r1-b200-trtllm-fp8", old, new)
    with pytest.raises(ParamsError) as caught:
        gate_rows(path)
    assert f"gate.yml:{line}: " in str(caught.value)
    assert named in str(caught.value)


def cell(row: int, measured: float, predicted: float, refused: str | None = None) -> GateCell:
    return GateCell("a", row, "tpot", measured, predicted, predicted / 2, predicted * 2, refused)


def test_summary_by_hand() -> None:
    summary, = summarise([cell(1, 10.0, 20.0), cell(2, 10.0, 5.0, "memory_capacity"),
                          cell(3, 10.0, 12.0), cell(4, 10.0, math.nan, "kernel")])
    assert (summary.rows, summary.predicted, summary.refused, summary.worst_row) == (4, 3, 2, 1)
    assert summary.mean == pytest.approx((1.0 + 0.5 + 0.2) / 3)
    assert (summary.median, summary.worst) == (pytest.approx(0.5), pytest.approx(1.0))
    assert summary.bias == pytest.approx((2.0 * 0.5 * 1.2) ** (1 / 3))
    assert summary.coverage == 1.0


def log_cells(fitted: bool, *factors: float) -> list[Term]:
    """Figures of one log of which 100 is printed, predicted by so many times it, within 20%."""
    row = StartupRow(StartupLog(
        id=f"L{fitted}", source="a report", date="2026-01", excluded="card", fitted=fitted,
        printed={"weights": "100 B"}, recorded={"weights": [50.0, 40.0, 200.0]}), "vllm")
    return [Term("weights", 100.0, Amount(100 * of, 80 * of, 120 * of, "B"), row)
            for of in factors]


def test_errors_of_startup_logs_by_hand() -> None:
    cells = log_cells(False, 1.0, 1.05, 1.15, 0.6, math.nan)
    summary = summarise_startups(cells)
    assert (summary.logs, summary.figures, summary.unpredicted) == (1, 4, 1)
    assert (summary.near, summary.far, summary.covered) == (2, 1, 3)
    before = summarise_startups(cell.recorded for cell in cells if cell.recorded)
    assert (before.figures, before.near, before.far, before.covered) == (5, 0, 5, 5)
    assert memory_errors([*cells, *log_cells(True, 1.0, 1.0, 1.0, 1.0)]) == {
        "memory": {"off_by_over_10_percent": 0.5, "off_by_over_1.5": 1, "outside_interval": 0.25,
                   "unpredicted": 1},
        "memory-all": {"off_by_over_10_percent": 0.25, "off_by_over_1.5": 1,
                       "outside_interval": 0.2, "unpredicted": 1}}


def test_margins_of_the_record() -> None:
    best = {"a": {"tpot": 0.10}, "all": {"tpot": 0.10, "refused": 3}}
    assert regressions({"a": {"tpot": 0.115}, "all": {"tpot": 0.105, "refused": 3}}, best) == []
    worse = regressions({"a": {"tpot": 0.116}, "all": {"tpot": 0.106, "refused": 4}}, best)
    assert [line.partition(":")[0] for line in worse] == ["a tpot", "all tpot", "all refused"]
    assert regressions({}, best)  # what is no longer predicted is worse, too


def test_the_record_is_lowered_and_raised_only_for_a_reason() -> None:
    best, now = {"a": {"tpot": 0.2, "ttft": 0.3}}, {"a": {"tpot": 0.1, "ttft": 0.4}}
    assert merged(now, best, None) == ({"a": {"tpot": 0.1, "ttft": 0.3}}, [])
    record, raised = merged(now, best, "a wider table")
    assert record == now
    assert raised == [{"system": "a", "metric": "ttft", "from": 0.3, "to": 0.4,
                       "because": "a wider table"}]
