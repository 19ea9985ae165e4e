"""Results of a bench beside their plan: reading, refusals, agreement and explanation."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from _door import sentence

from calc.evidence import bench
from calc.evidence.bench import Measured, Run, compare
from calc.evidence.systems import calibrated_system

ASKED = {"concurrency": 8, "input_tokens": 1000, "output_tokens": 200, "requests": 40}
TTFT, TPOT = ({"value": value, "low": 0.8 * value, "high": 1.25 * value} for value in (0.2, 0.03))
RUN = {"name": "one", "asked": ASKED, "predicted": {"ttft": TTFT, "tpot": TPOT}, "spread": 0.5,
       "shared": 0.25, "rate": 3.0, "scatter": {"tpot": 0.1}}
PLAN = {"scenario": "a", "engine": "vllm@0.11.0", "overrides": ["x=1"],
        "runs": [RUN, {**RUN, "name": "two", "rate": None}]}
DONE = {"completed": 40, "total_input_tokens": 40_000, "total_output_tokens": 8_000,
        "mean_ttft_ms": 240, "mean_tpot_ms": 27, "output_throughput": 11.0}
WRITES = "expected what vllm bench serve or sglang.bench_serving writes."
RESULTS = [  # changes of a result -> what is wrong with it
    ({"completed": 0}, "no request was answered."),
    ({"completed": 0.5}, "'completed' is 0.5, expected a number of requests."),
    ({"completed": True}, f"'completed' is missing or no number from 0 to 1e+12, {WRITES}"),
    ({"mean_ttft_ms": 1.1e12}, f"'mean_ttft_ms' is missing or no number from 0 to 1e+12, {WRITES}"),
    ({"total_input_tokens": 0}, "no token was read or none was written."),
    ({"total_output_tokens": 39}, "fewer tokens than requests, expected at least one of a prompt "
                                  "and of an answer.")]
NO_PLAN = "is no plan that will-it-fit deploy wrote."


def folder(path, plan=PLAN, **results):
    (path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (path / "results").mkdir(exist_ok=True)
    for name, data in results.items():
        (path / "results" / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return path / "results"


def measured(value, name="x", **changes):
    """A run whose time per token was predicted as 1, from 0.5 to 2."""
    plan = {**RUN, "name": name, "rate": None, "shared": 0, "spread": 0,
            "predicted": {"tpot": {"value": 1.0, "low": 0.5, "high": 2.0}}} | changes
    return Measured(Run.model_validate(plan), dict(ASKED), {"tpot": value})


def test_the_smallest_number_is_compared():
    value, = bench.compare([measured(5e-324, predicted={
        "tpot": {"value": 4.0, "low": 2.0, "high": 8.0}})])
    assert not value.inside


def test_run_in_si_units_beside_its_plan(tmp_path):
    found = bench.read(folder(tmp_path, one=DONE))
    assert (found.plan.scenario, found.plan.overrides, found.missing) == ("a", ["x=1"], ("two",))
    run, = found.runs
    assert run.counted == {"requests": 40, "input_tokens": 1000, "output_tokens": 200}
    assert run.values == pytest.approx({"ttft": 0.24, "tpot": 0.027})  # no rate was predicted
    assert run.run == Run.model_validate(RUN)


@pytest.mark.parametrize(("changes", "message"), RESULTS)
def test_result_that_no_client_writes(tmp_path, changes, message):
    at = folder(tmp_path, one=DONE | changes)
    assert sentence(bench.read, at).partition("one.json: ")[2] == message


@pytest.mark.parametrize("plan", [
    [], PLAN | {"runs": []}, PLAN | {"overrides": [1]},
    *(PLAN | {"runs": [{**RUN, **changes}]} for changes in (
        {"name": "a/b"}, {"scatter": {"tpot": math.nan}}, {"asked": {**ASKED, "more": 1}},
        {"predicted": {"tpot": {**TPOT, "low": 0}}}, {"predicted": {"power": TPOT}}))])
def test_plan_that_deploy_did_not_write(tmp_path, plan):
    found = sentence(bench.read, folder(tmp_path, plan, one=DONE))
    assert found.endswith(f"plan.json: {NO_PLAN}")


def test_values_inside_their_intervals():
    """The ends lie inside."""
    found = compare([measured(value, f"{value}") for value in (0.49, 0.5, 2.0, 2.01)])
    assert [one.inside for one in found] == [False, True, True, False]


def test_run_agrees_with_the_others():
    """About their median 0.3 by no more than 1.28 × 0.1, to either side; of three runs at least."""
    def agree(*offs):
        return [one.agrees for one in compare([
            measured(math.exp(off), f"run {number}") for number, off in enumerate(offs)])]

    for off, agrees in ((0.17, False), (0.173, True), (0.427, True), (0.43, False)):
        assert agree(0.25, 0.3, 0.35, 0.3, off) == [True] * 4 + [agrees]
    assert agree(0.0, 0.0, 0.9)[2] is False
    assert agree(0.0, 0.9) == [None, None]
    assert [one.agrees for one in compare([measured(1.0, name, scatter={}) for name in "abc"])] == [
        None] * 3


def test_mechanism_that_explains_most_is_found():
    """Rows made with one mechanism moved are explained by it; only plain rows can be fitted."""
    system = calibrated_system("s2-910b1-awq-tpot")
    rows = system.measured("tpot")
    for name in ("dequantisation_traffic", "single_token_path"):
        knob = system.knobs[name]
        made = system.predict("tpot", rows, dict.fromkeys(knob.symbols, knob.at(1.0)))
        moved = dataclasses.replace(system, rows=system.rows | {"tpot": made})
        assert bench.explaining(moved, "tpot", np.asarray(rows), 1) == [name]
    assert len(bench.explaining(moved, "tpot", rows, 3)) == 3
    assert bench.explaining(moved, "tpot", rows, 0) == []
    runs = [measured(1.0, "a"), measured(1.0, "b", shared=0.1), measured(1.0, "c", rate=2.0)]
    assert [each.run.name for each in bench.fittable(runs)] == ["a"]
