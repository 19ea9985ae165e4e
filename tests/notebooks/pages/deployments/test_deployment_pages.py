"""What the pages of deployments are made of: which quantities answer, labels, measured rows."""

from types import SimpleNamespace

import numpy as np
import pytest

import calc
import catalogue
from calc.evidence.protocols import uncalibrated
from calc.evidence.systems import METRICS, system
from calc.physics.breakdown import bound_by, parts, token_parts
from notebooks.pages.catalogue.tables import deployments, mechanisms
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.sections import estimate
from notebooks.pages.validation import measured
from notebooks.show.numbers import fmt_quantity

NAMES = catalogue.deployment_names()


@pytest.fixture(scope="module")
def loaded():
    return {name: catalogue.load_scenario(name) for name in NAMES}


def held(scenario):
    """A measured deployment beside its predictions, without their cost: no run is replayed."""
    one = system(scenario)
    found = {metric: uncalibrated(one, metric, {}, rows) for metric in METRICS
             if len(rows := one.measured(metric))}
    return measured.Results(one.rows, one.suspect, one.unequal, found)


@pytest.mark.parametrize("name", NAMES)
def test_every_part_and_every_resource_has_a_name(loaded, name):
    scenario = loaded[name]
    inputs = scenario.inputs()
    found = calc.evaluate(inputs, scenario.model.attention)
    for pieces in (token_parts(inputs, found), parts(inputs, found, "prefill")):
        assert sum(deployments.grouped(pieces).values()) == pytest.approx(
            sum(float(part) for label, part in pieces.items() if label not in deployments.HIDDEN))
    assert set(bound_by(inputs, found)) <= set(deployments.RESOURCES)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_asked_of_a_deployment_has_an_answer(loaded, name):
    scenario = loaded[name]
    questions = deployments.questions(scenario)
    for quantity, given in questions.items():
        assert float(calc.evaluate(given, scenario.model.attention)[quantity]) > 0
        assert all(deployments.quantity_label(quantity))


def test_a_quantity_that_a_run_does_not_have_is_not_asked_for(loaded):
    pool = deployments.questions(loaded["h800-profile-decode"])
    assert set(pool) == {"tpot", "output_throughput"}
    assert set(deployments.questions(loaded["kt-4090-v03"])) == {"ttft", "input_throughput"}
    assert "e2e" not in deployments.questions(loaded["s0-scenario-1"])


def test_where_answers_have_no_length_decode_is_taken_alone(loaded):
    """With one output token all prefills of a burst would be charged to it."""
    scenario = loaded["s0-scenario-1"]
    given = deployments.questions(scenario)["tpot"]
    found = calc.evaluate(given, scenario.model.attention)
    assert found["decode_stall"] == 0
    assert found["tpot"] == found["decode_step_time"]
    assert found["output_throughput"] == pytest.approx(given["concurrency"] / found["tpot"])


@pytest.mark.parametrize("name", NAMES)
def test_a_measured_deployment_has_a_row_of_its_own_workload(loaded, name):
    if loaded[name].measured is not None:
        assert deployments.asked_rows(loaded[name])


def test_rows_without_a_measurement_are_dashes(loaded):
    rows, columns = measured.every_row(held(loaded["h20-qwen3-8b"]))
    assert [row["tpot"] for row in rows] == ["–", "23.9 ms"]
    assert rows[1]["ttft"] == rows[1]["ttft_here"] == "–"
    assert "requests" not in columns


def test_rows_in_doubt_are_marked_and_apart(loaded):
    found = held(loaded["s3-hybrid-910b4"])
    rows, columns = measured.every_row(found)
    assert [row["row"] for row in rows if "†" in row["row"]] == ["4†"]
    assert "requests" in columns
    table, columns = measured.errors(found)
    assert "sound" in columns
    assert {row["rows"] for row in table} == {18}
    assert [text[0][:7] for text in measured.remarks(found)] == ["† Row 4"]


def test_a_system_all_of_whose_rows_are_in_doubt(loaded):
    table, _ = measured.errors(held(loaded["s3-eight-cards"]))
    assert {row["sound"] for row in table} == {"–"}


def test_pictures_need_enough_rows(loaded):
    grid, single = held(loaded["s2-910b1-awq"]), held(loaded["s3-eight-cards"])
    assert measured.panels(grid) == ["tpot", "ttft"]
    assert measured.lengths(grid) == [128, 1024, 4096, 8192]
    assert measured.panels(single) == measured.lengths(single) == []
    of = grid.predictions["tpot"]
    for draw in (measured.against(grid), measured.by_requests(grid, np.full(len(of.row), 0.01))):
        assert draw("en").axes
        assert draw("zh").axes


@pytest.mark.parametrize("name", catalogue.names("mechanisms"))
def test_every_mechanism_has_a_label_of_its_own(name):
    labels = [label for label, _ in mechanisms.rows(catalogue.load("mechanisms", name))]
    for lang in (0, 1):
        assert len({label[lang] for label in labels}) == len(labels)


def test_a_deployment_names_each_of_its_mechanisms(loaded):
    for scenario in loaded.values():
        labels = [label for label, _ in mechanisms.of_deployment(scenario)]
        assert len(set(labels)) == len(labels)


@pytest.mark.parametrize(("name", "says"), [("s1-plan-c", True), ("s2-910b1-awq", None)])
def test_parts_that_do_not_sum_to_the_estimate_are_said_to_be_no_medians(monkeypatch, name, says):
    shown = []
    monkeypatch.setattr(estimate, "show", lambda en, zh: shown.append((en, zh)))
    deployed = Deployed(catalogue.load_scenario(name))
    taken = [step for step in deployed.steps if step.phase == "decode"]
    estimate._median_beside_parts(SimpleNamespace(deployed=deployed), taken)
    whole, median = (fmt_quantity(time, "s") for time in (
        float(deployed.quantities["tpot"]), deployed.answers["tpot"].value))
    assert bool(shown) == (whole != median)
    assert says is None or bool(shown) == says
    assert all(whole in text and median in text for pair in shown for text in pair)
