"""Results of a bench beside their plan: what is read, refused, alike, and what explains it best."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

from calc.evidence import benched
from calc.evidence.benched import Measured, Results
from catalogue import ParamsError
from catalogue.deployments.knobs import Knob
from catalogue.reading.values import Value

ASKED = {"concurrency": 8, "input_tokens": 1000, "output_tokens": 200, "requests": 40}
TTFT, TPOT = ({"value": value, "low": 0.8 * value, "high": 1.25 * value} for value in (0.2, 0.03))
RUN = {"name": "one", "asked": ASKED, "predicted": {"ttft": TTFT, "tpot": TPOT}, "spread": 0.5,
       "shared": 0.25, "rate": 3.0, "scatter": {"tpot": 0.1}}
PLAN = {"scenario": "a", "engine": "vllm@0.11.0", "overrides": ["x=1"],
        "runs": [RUN, {**RUN, "name": "two", "rate": None}]}
DONE = {"completed": 40, "total_input_tokens": 40_000, "total_output_tokens": 8_000,
        "mean_ttft_ms": 240, "mean_tpot_ms": 27, "output_throughput": 11.0}


def folder(path, plan=PLAN, **results):
    (path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    (path / "results").mkdir(exist_ok=True)
    for name, data in results.items():
        (path / "results" / f"{name}.json").write_text(json.dumps(data), encoding="utf-8")
    return path / "results"


def measured(value, name="x", **changes):
    """A run whose time per token was predicted as 1, from 0.5 to 2."""
    return Measured(**{"name": name, "asked": ASKED, "counted": dict(ASKED),
                       "values": {"tpot": value}, "predicted": {"tpot": (1.0, 0.5, 2.0)},
                       "spread": 0.0, "shared": 0.0, "rate": None, "scatter": {"tpot": 0.1}}
                    | changes)


def results(*runs):
    return Results(None, "a", (), "b", runs, ())


# --- what is read -------------------------------------------------------------------------------


def test_a_run_is_read_in_si_units_beside_what_was_planned(tmp_path):
    found = benched.read(folder(tmp_path, one=DONE))
    assert (found.scenario, found.overrides, found.engine) == ("a", ("x=1",), "vllm@0.11.0")
    assert found.plan == tmp_path / "plan.json"
    assert found.missing == ("two",)
    run, = found.runs
    assert run.counted == {"requests": 40, "input_tokens": 1000, "output_tokens": 200}
    assert run.values == pytest.approx({"ttft": 0.24, "tpot": 0.027})  # no rate was predicted
    assert run.predicted == {"ttft": (0.2, 0.8 * 0.2, 0.25), "tpot": (0.03, 0.8 * 0.03, 0.0375)}
    assert (run.name, run.asked, run.spread, run.shared, run.rate, run.scatter) == (
        "one", ASKED, 0.5, 0.25, 3.0, {"tpot": 0.1})


def test_one_file_is_that_run_alone_and_a_plan_may_stand_beside(tmp_path):
    at = folder(tmp_path, one=DONE, two=DONE | {"mean_tpot_ms": 0})
    assert [run.name for run in benched.read(at).runs] == ["one", "two"]
    found = benched.read(at / "two.json")
    assert ([run.name for run in found.runs], found.missing) == (["two"], ("one",))
    assert set(found.runs[0].values) == {"ttft"}  # a time of nothing was not measured
    (at / "plan.json").write_text(json.dumps(PLAN | {"scenario": "beside"}), encoding="utf-8")
    assert benched.read(at).scenario == "beside"


def test_of_several_lines_the_last_is_the_result(tmp_path):
    at = folder(tmp_path)
    lines = json.dumps({"completed": 1}) + "\n" + json.dumps(DONE) + "\n\n"
    (at / "one.jsonl").write_text(lines, encoding="utf-8")
    assert benched.read(at).runs[0].values["tpot"] == pytest.approx(0.027)


@pytest.mark.parametrize(("changes", "says"), [
    ({"completed": 0}, "no request was answered"),
    ({"completed": 0.5}, "'completed' is 0.5, expected a number of requests"),
    ({"completed": True}, "'completed' is missing or no number"),
    ({"completed": "40"}, "'completed' is missing or no number"),
    ({"mean_ttft_ms": -1}, "'mean_ttft_ms' is missing or no number"),
    ({"mean_ttft_ms": 1.1e12}, "'mean_ttft_ms' is missing or no number from 0 to 1e.12"),
    ({"total_input_tokens": 0}, "no token was read or none was written"),
    ({"total_output_tokens": 0}, "no token was read or none was written"),
    ({"total_output_tokens": 39}, "fewer tokens than requests"),
])
def test_what_no_client_writes_is_refused(tmp_path, changes, says):
    with pytest.raises(ParamsError, match=says):
        benched.read(folder(tmp_path, one=DONE | changes))


@pytest.mark.parametrize("changes", [
    {"completed": 1, "total_input_tokens": 1, "total_output_tokens": 1}, {"mean_ttft_ms": 1e12},
    {"total_output_tokens": 40}])
def test_what_is_as_little_or_as_much_as_can_be_is_taken(tmp_path, changes):
    assert len(benched.read(folder(tmp_path, one=DONE | changes)).runs) == 1


def test_what_is_no_result_at_all_is_refused(tmp_path):
    with pytest.raises(ParamsError, match=r"there is no plan\.json beside or above it"):
        benched.read(tmp_path)
    at = folder(tmp_path)
    with pytest.raises(ParamsError, match=r"expected NAME\.json of one of its runs one, two"):
        benched.read(at)
    (at / "one.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(ParamsError, match="expected a JSON object"):
        benched.read(at)
    (at / "one.json").write_text("nothing", encoding="utf-8")
    with pytest.raises(ParamsError, match="is not JSON"):
        benched.read(at)


def changed(**changes):
    return PLAN | {"runs": [{**RUN, **changes}]}


@pytest.mark.parametrize("plan", [
    [], {}, PLAN | {"runs": []}, PLAN | {"engine": 1}, PLAN | {"overrides": [1]},
    PLAN | {"scenario": None}, changed(name="a/b"), changed(name=1), changed(spread=-0.1),
    changed(shared="x"), changed(rate=-1), changed(rate=True), changed(scatter={"tpot": math.nan}),
    changed(scatter={"tpot": -1}), changed(asked={**ASKED, "more": 1}),
    changed(asked={**ASKED, "requests": 0}), changed(asked={**ASKED, "requests": 1.1e12}),
    changed(predicted={"tpot": {**TPOT, "low": 0}}), changed(predicted={"power": TPOT}),
    changed(predicted={"tpot": {"value": 1, "low": 1}})])
def test_a_plan_that_deploy_did_not_write_is_refused(tmp_path, plan):
    with pytest.raises(ParamsError, match="is no plan that python -m calc deploy wrote"):
        benched.read(folder(tmp_path, plan, one=DONE))


@pytest.mark.parametrize("changes", [
    {"spread": 0, "shared": 0, "rate": 0, "scatter": {"tpot": 0}},
    {"asked": {**ASKED, "requests": 1e12}}, {"predicted": {}}])
def test_what_may_be_nothing_or_as_much_as_can_be_is_no_reason_to_refuse_a_plan(tmp_path, changes):
    assert len(benched.read(folder(tmp_path, changed(**changes), one=DONE)).runs) == 1


# --- what is made of it -------------------------------------------------------------------------


def test_a_value_is_off_by_the_logarithm_of_measured_over_predicted():
    assert measured(2.0).off("tpot") == pytest.approx(math.log(2))
    assert measured(0.5).off("tpot") == pytest.approx(-math.log(2))
    assert measured(2.0).off("ttft") is None
    assert measured(2.0, predicted={}).off("tpot") is None


@pytest.mark.parametrize(("value", "inside"), [
    (0.49, False), (0.5, True), (2.0, True), (2.01, False)])
def test_the_ends_of_an_interval_lie_inside(value, inside):
    assert measured(value).inside("tpot") == inside


def test_values_inside_are_counted_of_all():
    both = {"values": {"tpot": 1.0, "ttft": 9.0},
            "predicted": {"tpot": (1.0, 0.5, 2.0), "ttft": (1.0, 0.5, 2.0)}}
    assert results(measured(1.0, **both), measured(3.0), measured(2.0)).inside == (2, 4)


def test_what_the_client_did_not_do_as_asked_is_told():
    counted = {"requests": 39, "input_tokens": 1011, "output_tokens": 199}
    found = measured(1.0, "half", counted=counted)
    assert found.unanswered
    assert found.other_lengths == ["input_tokens"]
    assert found.remarks == [
        "half: 39 of 40 requests were answered.",
        "half: prompts of 1,011 tokens on average, 1,000 were asked for and predicted."]
    assert measured(1.0, counted=ASKED | {"input_tokens": 1009, "output_tokens": 198.1}
                    ).remarks == []
    assert measured(1.0, counted=ASKED | {"output_tokens": 197}).other_lengths == ["output_tokens"]


def test_a_run_agrees_that_is_as_far_off_as_the_others():
    """About their median 0.3 by no more than 1.28 × 0.1, to either side."""
    shared = [measured(math.exp(off)) for off in (0.25, 0.3, 0.35)]
    for off, agrees in ((0.17, False), (0.173, True), (0.427, True), (0.43, False)):
        four = [*shared, measured(math.exp(0.3)), measured(math.exp(off))]
        assert results(*four).agrees(four[-1], "tpot") is agrees
    assert results(*four).agreeing == (4, 5)


def test_too_few_runs_or_no_scatter_tell_nothing_of_agreement():
    three = [measured(math.exp(off)) for off in (0.0, 0.0, 0.9)]
    assert results(*three).agrees(three[2], "tpot") is False
    assert results(*three[1:]).agrees(three[2], "tpot") is None
    unsaid = measured(1.0, scatter={})
    assert results(*three, unsaid).agrees(unsaid, "tpot") is None
    assert results(*three).agrees(three[0], "ttft") is None
    assert results(*three, unsaid).agreeing == (2, 3)


def test_rows_of_a_system_share_no_prefix_and_come_as_others_end():
    runs = [measured(1.0, "a"), measured(1.0, "b", shared=0.1), measured(1.0, "c", rate=2.0)]
    assert [run.name for run in benched.fittable(runs)] == ["a"]


def knob(name, low=0.5, high=2.0):
    return Knob(name, Value(1.0, "1", "1", "", "assumed", low, high), (name,))


class Three:
    """Rows that three mechanisms move: one all alike, one the last, one by a little."""

    def __init__(self, measured):
        self.inputs = {"micro_batches": 1.0}
        self.knobs = {each.name: each for each in (
            knob("level"), knob("last"), knob("little"), knob("exact", 1.0, 1.0), knob("idle"))}
        self.rows = {"tpot": np.array(measured)}

    def predict(self, metric, rows, overrides):
        level, last, little = (overrides.get(name, 1.0) for name in ("level", "last", "little"))
        return np.array([level * little**0.1, level, level * last**2])[rows]


def test_what_explains_most_comes_first_and_then_what_is_left_best():
    rows = np.arange(3)
    level, last = 1.5, 1.9
    system = Three([level, level, level * last**2])
    assert benched.explaining(system, "tpot", rows, 2) == ["last", "level"]
    assert benched.explaining(system, "tpot", rows, 9) == ["last", "level", "little"]
    assert benched.explaining(system, "tpot", rows[:2], 1) == ["level"]
    assert benched.explaining(system, "tpot", rows, 0) == []


@pytest.mark.parametrize(("factor", "first"), [(1.1, "wide"), (0.9, "wide"), (8.0, "wide"),
                                               (0.1, "wide")])
def test_a_mechanism_explains_no_more_than_its_range_lets_it(factor, first):
    """Both move all rows alike; the one with a range of a few percent cannot go so far."""
    system = SimpleNamespace(
        inputs={"micro_batches": 1.0}, rows={"tpot": np.array([factor, factor])},
        knobs={"narrow": knob("narrow", 0.98, 1.02), "wide": knob("wide", 0.1, 10.0)},
        predict=lambda metric, rows, given: np.ones(2) * given.get("narrow", 1.0) * given.get(
            "wide", 1.0))
    assert benched.explaining(system, "tpot", np.arange(2), 1) == [first]
