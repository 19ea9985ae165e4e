"""What is printed of errors is what was measured: protocols, fits, baselines, and the page."""

from __future__ import annotations

import dataclasses
import html
import itertools
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import catalogue
from calc.closed_form.evaluate import evaluate
from calc.commands.evidence import calibrate
from calc.evidence import classes, error_growth, pooling, protocols, validation
from calc.evidence.baselines import ablation, rooflines
from calc.evidence.fitting import fit
from catalogue.deployments.knobs import NORMAL_90
from notebooks.pages.validation import error_page, error_tables
from notebooks.show.numbers import fmt_percent

ROOT = Path(__file__).resolve().parents[3]
AWQ = "s2-910b1-awq"
MECHANISMS = ["dequantisation_traffic", "kernel_boundary", "host_gap_per_step",
              "single_token_path"]


@pytest.fixture(scope="module")
def awq():
    return validation.calibrated_system(f"{AWQ}-tpot")


@pytest.fixture(scope="module")
def results():
    return validation.results()


@pytest.fixture(scope="module")
def plain():
    return rooflines.results()


# --- protocols ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", protocols.PROTOCOLS)
def test_no_row_is_predicted_that_was_fitted(awq, name):
    for metric in ("tpot", "ttft"):
        rows = awq.measured(metric)
        splits = list(protocols.PROTOCOLS[name](awq, rows))
        assert splits
        for fitted, held in splits:
            assert len(fitted)
            assert len(held)
            assert not set(fitted) & set(held)
            assert {*fitted, *held} <= set(rows)


def test_halves_are_two_hundred_and_use_every_row_once(awq):
    rows = awq.measured("tpot")
    splits = list(protocols.halves(awq, rows))
    assert len(splits) == protocols.HALVES == 200
    for fitted, held in splits:
        assert sorted([*fitted, *held]) == sorted(rows)
        assert abs(len(fitted) - len(held)) <= 1
    assert len({tuple(fitted) for fitted, _ in splits}) == 200


def test_halves_are_the_same_on_every_run(awq):
    rows = awq.measured("tpot")
    for first, second in zip(*(protocols.halves(awq, rows) for _ in range(2)), strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(("name", "column"), [
    ("leave-one-out", None), ("leave-one-length-out", "input_tokens")])
def test_leave_one_out_predicts_each_row_once(awq, name, column):
    rows = awq.measured("tpot")
    splits = list(protocols.PROTOCOLS[name](awq, rows))
    held = np.concatenate([each for _, each in splits])
    assert sorted(held) == sorted(rows)
    if column:
        for fitted, each in splits:
            assert not set(awq.rows[column][fitted]) & set(awq.rows[column][each])


def test_extrapolations_are_fitted_below_what_they_predict(awq):
    rows = awq.measured("tpot")
    for name, column in (("low-concurrency", "concurrency"), ("short-inputs", "input_tokens")):
        ((fitted, held),) = protocols.PROTOCOLS[name](awq, rows)
        assert awq.rows[column][fitted].max() < awq.rows[column][held].min()
    for _, held in protocols.single_request(awq, rows):
        assert set(awq.rows["concurrency"][held]) == {1}


@pytest.mark.slow
def test_suspect_rows_count_unless_a_calibration_says_that_it_leaves_them_out(results):
    doubted = {number + 1 for number in validation.measured_system(AWQ).suspect}
    for left_out in (False, True):
        result = error_tables.find(results, AWQ, "ttft", "halves", left_out)
        used = {row + 1 for row in result.predictions.row}
        assert doubted <= (set(result.left_out) if left_out else used)


@pytest.mark.slow
def test_what_is_stored_of_errors_comes_out_again(results):
    """Of the same runs as the results above, which are made once."""
    stored = classes.discrepancy()
    made = error_growth.estimate(validation.measured_systems(), stored.borrowed)
    assert made.classes.keys() == stored.classes.keys()
    for name, of in made.classes.items():
        for metric, own in of.items():
            kept = stored.classes[name][metric]
            assert (own.systems, own.rows) == (kept.systems, kept.rows)
            assert [own.down, own.up, own.within, own.inside] == pytest.approx(
                [kept.down, kept.up, kept.within, kept.inside], rel=1e-2, abs=2e-3)
    for name, own in made.left_out.items():
        for load, of in own.deviation.items():
            for metric, sides in of.items():
                assert sides == pytest.approx(stored.left_out[name].deviation[load][metric],
                                              rel=1e-2, abs=2e-3)


# --- fits ---------------------------------------------------------------------------------------


def test_a_calibration_of_five_mechanisms_is_refused(awq, tmp_path):
    five = [*MECHANISMS, "routing_skew"]
    with pytest.raises(ValueError, match="expected 1 to 4"):
        protocols.calibrate(awq, "tpot", five, awq.measured("tpot"))
    stored = ROOT / "params" / "calibrations" / "s2-910b1-awq-tpot.yml"
    file = tmp_path / "five.yml"
    text = stored.read_text(encoding="utf-8").partition("fitted:")[0]
    file.write_text(text.replace("single_token_path]", "single_token_path, routing_skew]"),
                    encoding="utf-8")
    with pytest.raises(catalogue.ParamsError, match="5 mechanisms, expected 1 to 4"):
        catalogue.load("calibrations", str(file))


def test_a_fit_finds_the_values_that_the_rows_were_made_with(awq):
    """Rows made by the model itself: what is fitted is what they were made with."""
    rows = awq.measured("tpot")
    knobs = [awq.knobs[name] for name in ("dequantisation_traffic", "single_token_path")]
    truth = {"dequantisation_traffic": 3.1, "single_token_path": 1.7e-3}
    made = awq.predict("tpot", rows, truth)
    found = fit(lambda overrides: awq.predict("tpot", rows, overrides), knobs, made)
    assert found.values == pytest.approx(truth, rel=0.02)
    assert found.inside


def test_splits_side_by_side_are_what_each_is_alone(awq):
    """The splits fit and predict in lockstep; nothing of one moves another, to the last digit."""
    def held(split, predict):
        fitted, left_out = split
        found = protocols.calibrate(dataclasses.replace(awq), "tpot", MECHANISMS, fitted, predict)
        return (found.z, *protocols.predicted(predict, "tpot", found, left_out),
                predict("tpot", left_out, found.inputs))

    splits = list(itertools.islice(protocols.halves(awq, awq.measured("tpot")), 3))
    splits += itertools.islice(protocols.leave_one_out(awq, awq.measured("tpot")), 2)
    for split, together in zip(splits, protocols.by_split(awq, splits, held), strict=True):
        for one, other in zip(held(split, awq.predict), together, strict=True):
            assert np.array_equal(one, other)


def test_an_error_of_one_split_ends_all(awq):
    def work(split, predict):
        return [predict("tpot", split[0], {}) for _ in range(split[1])]

    splits = [(awq.measured("tpot"), 2), (awq.measured("tpot"), 1), (np.array([99]), 1)]
    with pytest.raises(IndexError, match="99"):
        protocols.by_split(awq, splits, work)


def test_a_value_is_the_median_of_its_prior_and_a_range_holds_eighty_percent(awq):
    for knob in awq.knobs.values():
        at = [knob.at(score) for score in (-NORMAL_90, 0, NORMAL_90)]
        assert at == pytest.approx([knob.value.low, knob.value.value, knob.value.high], abs=1e-15)
        assert [knob.at(score) for score in (-0.5, 0.5)] == sorted(
            knob.at(score) for score in (-0.5, 0.5))


@pytest.mark.parametrize("name", catalogue.names("calibrations"))
def test_a_stored_fit_comes_out_again(name):
    chosen = catalogue.load("calibrations", name)
    again, _ = calibrate.fit(chosen)
    assert calibrate.fit(chosen)[0] == again
    if chosen.fitted is not None:
        for key, value in chosen.fitted.values.items():
            assert again.values[key] == pytest.approx(value, rel=1e-3, abs=1e-12)
        assert again.extent == chosen.fitted.extent


# --- classes of errors --------------------------------------------------------------------------


def test_rows_inside_a_class_are_those_that_are_printed(results):
    """The count of a class is that of the intervals of the systems that are estimated from."""
    counted = {case.id for case in pooling.non_blind_systems(validation.measured_systems())}
    inside = {}
    for result in results:
        if result.protocol != validation.UNCALIBRATED or result.system not in counted:
            continue
        errors = result.predictions
        held = (errors.low <= errors.measured) & (errors.measured <= errors.high)
        for of, one in zip(result.of, held, strict=True):
            for name in classes.ladder(of):
                inside[name, result.metric] = inside.get((name, result.metric), 0) + int(one)
    assert inside == {(name, metric): own.inside
                      for name, of in classes.discrepancy().classes.items()
                      for metric, own in of.items()}


# --- baselines ----------------------------------------------------------------------------------


def test_the_rooflines_have_the_rows_of_the_predictions(results, plain):
    keys = [[(each.system, each.metric, each.protocol, each.left_out) for each in found]
            for found in (results, plain)]
    assert keys[0] == keys[1]
    for ours, theirs in zip(results, plain, strict=True):
        assert np.array_equal(ours.predictions.row, theirs.predictions.row)
        assert np.array_equal(ours.predictions.measured, theirs.predictions.measured)


@pytest.mark.parametrize("name", [AWQ, "s2-other-engine", "s3-hybrid-910b4"])
def test_a_roofline_is_below_what_is_predicted(name):
    system = validation.measured_system(name)
    rows = system.measured("tpot")
    assert (rooflines.roofline(system, rows)["tpot"] < system.predict("tpot", rows)).all()


def test_the_calibrated_roofline_is_the_best_line():
    draw = np.random.default_rng(1)
    bounds = draw.uniform(1, 10, 12)
    measured = (bounds / 0.4 + 3) * draw.lognormal(0, 0.05, 12)

    def loss(share, constant):
        return float(np.square((bounds / share + constant) / measured - 1).sum())

    best = rooflines.fit_line(bounds, measured)
    least = loss(best.share, best.constant)
    for share, constant in ((1.01, 1), (0.99, 1), (1, 1.01), (1, 0.99)):
        assert loss(best.share * share, best.constant * constant) > least
    with pytest.raises(ValueError, match="expected at least 2"):
        rooflines.fit_line(bounds[:1], measured[:1])


def test_a_roofline_reads_distinct_experts_and_nothing_twice(awq):
    """Twice the bandwidth, half the time: bytes are all that a decode step of S2 has."""
    rows = awq.measured("tpot")
    twice = awq.with_inputs({"memory_bandwidth": 2 * awq.inputs["memory_bandwidth"]})
    assert rooflines.roofline(twice, rows)["tpot"] == pytest.approx(
        rooflines.roofline(awq, rows)["tpot"] / 2)


# --- ablation -----------------------------------------------------------------------------------


def test_an_ablation_leaves_the_system_as_it_is(awq):
    before = dict(awq.inputs)
    found = ablation.ablate(awq, MECHANISMS, seeds=2)
    assert awq.inputs == before
    assert list(found) == ["", *ablation.TERMS]
    for term, errors in found.items():
        names = set(errors.calibrations[0].values)
        assert names == set(MECHANISMS) - set(ablation.TERMS.get(term, ()))
        assert errors.seeds == (0, 1)


def test_a_system_with_other_inputs_keeps_all_that_is_known_of_its_rows():
    """Where the client holds requests back, waiting for a place does not count, here as there."""
    system = next(one for one in validation.measured_systems() if one.limited)
    other = system.with_inputs({"host_gap_per_step": 0.0})
    assert other.inputs == system.inputs | {"host_gap_per_step": 0.0}
    for field in dataclasses.fields(system):
        assert getattr(other, field.name) is getattr(system, field.name)


def test_an_ablation_with_all_terms_is_the_protocol(awq, results):
    whole = error_tables.find(results, AWQ, "tpot", "halves").predictions
    found = ablation.ablate(awq, MECHANISMS, seeds=2)[""]
    count = len(found.row)
    assert np.array_equal(found.row, whole.row[:count])
    assert found.predicted == pytest.approx(whole.predicted[:count], rel=1e-9)


def test_what_is_switched_off_is_gone(awq):
    rows = awq.measured("tpot")
    gone = {"dequantisation": "decode_dequantisation_time", "stall": "decode_stall",
            "single_token_path": "decode_saved_time", "kernel_boundary": "decode_boundary_time"}
    full = awq.with_inputs({"single_token_path": 1e-3})
    for term, name in gone.items():
        with_it, bare = (evaluate(system.at(rows), "mla")[name] for system in (
            full, full.with_inputs(ablation.off(term))))
        assert np.any(with_it), term
        assert not np.any(bare), term


def test_what_was_predicted_blind_is_read_and_not_computed():
    """On its own rows, in SI units, whatever the formulas say now; nothing where nothing was."""
    wide = validation.measured_system("wide-rtp-decode")
    kept = wide.scenario.measured.blind.predictions
    found = validation.blind(wide.with_inputs({"host_gap_per_step": 1.0}), "output_throughput")
    assert found.row.tolist() == [one.row - 1 for one in kept]
    assert found.predicted.tolist() == [one.value for one in kept]
    assert found.measured.tolist() == wide.rows["output_throughput"][found.row].tolist()
    assert validation.blind(wide, "tpot") is None
    assert validation.blind(validation.measured_system(AWQ), "tpot") is None


def test_a_variant_of_a_family_is_a_measured_system():
    names = [case.id for case in validation.measured_systems()]
    assert {"wide-lmsys-prefill", "wide-vllm-decode-ep96", AWQ} <= set(names)
    assert names == sorted(names) == validation.measured_names()


def test_names_of_measured_systems_take_nothing_of_other_deployments(tmp_path, monkeypatch):
    """Names of measurements that no deployment has are looked for in no file."""
    target = tmp_path / "record.txt"
    monkeypatch.setenv("PARAMS_RECORD", str(target))
    catalogue.reading.record._noted.clear()
    names = validation.measured_names()
    taken = {Path(line).stem for line in target.read_text(encoding="utf-8").splitlines()
             if line.startswith("scenarios/") and not line.endswith("/")}
    measured = catalogue.names("measurements")
    assert 0 < len(taken) < len(names) < len(measured)
    assert all(any(name.startswith(f"{file}-") for name in measured) for file in taken)


# --- what is printed ----------------------------------------------------------------------------


def test_every_bar_has_a_result_and_a_missed_one_a_sentence(results, plain):
    rows = error_tables.bar_rows(results, plain)
    assert len(rows) == len(error_tables.BARS) == len({bar.id for bar in error_tables.BARS})
    for row, bar in zip(rows, error_tables.BARS, strict=True):
        assert np.isfinite(bar.take(results))
        assert row["reached"] == bar.shown(bar.take(results))
        if row["met"][0] != "yes":
            assert all(row["missing"]), bar.id


def test_a_bar_is_compared_to_the_digit_that_is_printed():
    bar = error_tables.Bar("x", ("x", "x"), 0.048, lambda results: 0.0)
    assert bar.met(0.0484)
    assert not bar.met(0.0486)
    between = error_tables.Bar("y", ("y", "y"), 0.9, lambda results: 0.0, least=0.7)
    assert [between.met(value) for value in (0.69, 0.70, 0.90, 0.91)] == [False, True, True, False]


def test_errors_by_group_are_those_of_the_rows():
    found = SimpleNamespace(row=np.array([0, 1, 0, 2]), errors=np.array([0.1, -0.2, 0.3, 0.0]))
    rows = {"concurrency": np.array([1.0, 1.0, 8.0]), "input_tokens": np.array([128.0, 64.0, 32.0])}
    one, eight = error_tables.by_group(found, rows, "concurrency")
    assert (one["rows"], one["mean"], one["bias"], one["worst"]) == (2, "20.0%", "+6.7%", "+30.0%")
    assert one["which"][0] == "128 tokens, 1 request"
    assert (eight["rows"], eight["mean"], eight["bias"]) == (1, "0.0%", "0.0%")


def test_the_command_prints_what_the_page_prints(results):
    data = validation.as_json(results)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    groups = {"results": [each for each in results if not each.left_out],
              "without_suspect_rows": [each for each in results if each.left_out]}
    assert data.keys() == groups.keys()
    for name, group in groups.items():
        for entry, result in zip(data[name], group, strict=True):
            found = result.predictions
            assert entry["mean"] == pytest.approx(error_tables.mean(found), abs=1e-6)
            assert entry["coverage"] == pytest.approx(error_tables.covered(found), abs=1e-6)
            assert entry["seeds"] == ([0, 199] if found.seeds else None)


def check_page(executed: Path, results, plain) -> None:
    """The executed page has every bar, every protocol's error and the seeds, in both languages."""
    cells = json.loads(executed.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    for index, lang in enumerate(("en", "zh")):
        text = html.unescape("\n".join(
            "".join(output["data"].get("text/markdown", "")) for output in outputs
            if output.get("metadata", {}).get("lang") == lang))
        for row in error_tables.bar_rows(results, plain):
            cells = (row["what"][index], row["bar"], row["reached"], row["met"][index],
                     row["plain"])
            assert f"| {' | '.join(cells)} |" in text
        for left_out in (False, True):
            for protocol in ("halves", "single-request"):
                found = error_tables.find(results, AWQ, "ttft", protocol, left_out).predictions
                assert fmt_percent(error_tables.mean(found)) in text
        for name in {result.system for result in results}:
            assert error_page.link(name)[index] in text


def test_the_page_has_these_results(site, results, plain):
    check_page(ROOT / "book" / "chapters" / "validation.ipynb", results, plain)
