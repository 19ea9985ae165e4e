"""What claims are held against: rows, scores, entries and deployments; and where that is from."""

from __future__ import annotations

import statistics
from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.auditing import costs, origins, truths
from calc.auditing.truths import Truth, Truths, deployment, nearest
from calc.layouts.feasible import MEMORY
from calc.searching import search as searching
from calc.uncertainty.amount import Amount
from catalogue import ParamsError
from catalogue.reading.printed import read
from catalogue.reading.shared import sources

ROWS = "measurements/s2-910b1-awq/tpot"
OF_128 = [22.8, 29.8, 36.2, 41.5, 46.3, 60.4, 81.1]  # ms, of prompts of 128 tokens


def unasked(name):
    raise AssertionError(name)


def of(reference, printed=unasked, ours=unasked):
    return Truths(printed, ours).of(reference)


@pytest.mark.parametrize(("where", "value"), [
    ("input_tokens=128/min", min(OF_128)), ("input_tokens=128/max", max(OF_128)),
    ("input_tokens=128/mean", statistics.mean(OF_128)),
    ("input_tokens=128,concurrency=2", 29.8), ("input_tokens=128/concurrency=4", 36.2),
    ("min/input_tokens=128", min(OF_128))])
def test_rows_of_a_measurement_in_its_unit(where, value):
    found = of(f"{ROWS}/{where}")
    assert found.three == Amount.exactly(pytest.approx(value / 1e3))
    assert (found.unit, found.where, found.listed, found.scenario) == (
        "s", f"{ROWS}/{where}", False, None)


@pytest.mark.parametrize(("where", "says"), [
    (f"{ROWS}/input_tokens=128", "names 7 rows, expected one"),
    (f"{ROWS}/input_tokens=129/min", "names 0 rows, expected one"),
    (f"{ROWS}/input_token=128", "has no column 'input_token', the nearest names are input_tokens"),
    ("measurements/s2-910b1-awq/pace", "has no column 'pace', expected one of input_tokens, "),
    ("measurements/s2-910b1-awq", "has no column '', expected one of"),
    ("accuracies/s2-r1-0528/x/y", "names 0 scores, expected one"),
    ("costs/s1-plan-a/tco", "only 's1-plan-c' has a cost")])
def test_a_reference_that_names_no_number_is_refused_with_what_there_is(where, says):
    with pytest.raises(ParamsError, match=says):
        of(where)


def test_a_row_without_the_number_is_none(monkeypatch):
    table = Made(columns={"a": "1", "b": "ms"}, rows=[[1.0, None], [1.0, 5.0], [2.0, 7.0]])
    monkeypatch.setattr(truths.catalogue, "load", lambda kind, name: table)
    assert of("measurements/x/b/a=1").three.value == pytest.approx(5e-3)
    assert of("measurements/x/b/mean").three.value == pytest.approx(6e-3)


def test_a_score_is_of_one_hundred_and_named_by_system_and_benchmark():
    scores = catalogue.load("accuracies", "s2-r1-0528").scores
    one = scores[-1]
    found = of(f"accuracies/s2-r1-0528/{one.system}/{one.benchmark}")
    assert found.three.value == float(one.solved.value)
    assert found.unit == "1"


def test_what_a_claim_prints_has_its_ends_and_what_is_ours_is_no_entry():
    asked = []
    ours = Truth(Amount(2.0, 1.0, 3.0), "s", "there", listed=True)
    found = Truths(lambda name: asked.append(name) or read(["40 ms", "90 ms"]), lambda name: ours)
    printed = found.of("claims/S1-001")
    assert (printed.three, printed.unit, printed.where, printed.listed) == (
        Amount(0.065, 0.04, 0.09, "s"), "s", "claims/S1-001", False)
    assert found.of("claims/S1-001") is printed
    assert asked == ["S1-001"]
    corrected = found.of("corrected/S1-001")
    assert (corrected.three, corrected.where, corrected.listed) == (
        ours.three, "corrected/S1-001", False)


@pytest.mark.parametrize(("where", "listed"), [
    ("devices/nvidia-h20/memory_capacity", True), ("links/nvlink-h20/device_bandwidth", True),
    ("loads/azure-conversation/peak", False)])
def test_an_entry_of_what_is_built_restates_what_a_claim_does(where, listed):
    try:
        found = of(where)
    except ParamsError:
        assert not listed
        return
    assert found.listed is listed
    assert len(found.sources) == 1


def test_a_quantity_is_of_the_deployment_or_of_one_of_its_parts():
    """Replicas are counted as the document has them, be the deployment changed."""
    name, layers = "s1-plan-d", 61
    whole = of(f"{name}:output_throughput").three.value
    scenario = deployment(name).scenario
    assert scenario.replicas > 1
    for part, count in (("replica", scenario.replicas), ("device", scenario.devices),
                        ("layer", layers)):
        assert of(f"{name}:output_throughput/{part}").three.value == pytest.approx(whole / count)
    found = of(f"{name}:tensor_parallel")
    assert (found.given, found.scenario, found.unit) == (True, name, "1")
    assert not of(f"{name}:output_throughput").given
    changed = of(f"{name}@runs:output_throughput")
    there = deployment(f"{name}@runs")
    assert there.scenario.replicas == 1
    assert of(f"{name}@runs:output_throughput/replica").three.value == pytest.approx(
        changed.three.value / scenario.replicas)
    assert of(f"{name}@runs:output_throughput/device").three.value == pytest.approx(
        changed.three.value / there.scenario.devices)


def test_names_that_are_near_are_told_three_at_most_and_of_a_long_one_its_beginning():
    assert nearest("tpott", ["tpot", "other"]) == ", the nearest names are tpot"
    assert nearest("xyz", ["tpot"]) == ""
    known = [f"name-{number}" for number in range(9)]
    assert nearest("name-1", known).count("name-") == 3
    assert nearest("a" * 60 + "b" * 600, ["a" * 60]) != ""


def truth(where="S1-001", unit="s", **others):
    return Truth(Amount.exactly(1.0), unit, where, **others)


@pytest.mark.parametrize(("given", "says"), [
    ({}, "By correct arithmetic on the document's own inputs"),
    ({"parts": ("measurements/a/b",)}, "By the measured rows that the document prints"),
    ({"parts": ("measurements/a/b", "accuracies/a/b")},
     "By the measured rows that the document prints"),
    ({"where": "measurements/a/b"}, "By the measured rows that the document prints"),
    ({"parts": ("measurements/a/b", "models/a/b")}, "Recomputed with sourced inputs"),
    ({"parts": ("models/a/b", "plan:tpot")}, "Computed for plan"),
    ({"parts": ("models/a/b",), "scenario": "other"}, "Computed for other"),
    ({"parts": ("prices/a/b", "models/a/b")}, "At the prices collected in this book"),
    ({"parts": ("costs/a/b",)}, "At the prices collected in this book"),
    ({"parts": ("models/a/b",), "unit": "USD/h"}, "At the prices collected in this book"),
    ({"parts": ("models/a/b", "goals/a/b")}, "By a search over all layouts"),
    ({"parts": ("models/a/b", "formats/a/b", "precisions/a/b")},
     "From the model's published shapes"),
    ({"parts": ("devices/a/b", "links/a/b", "nodes/a/b", "mechanisms/a/b")},
     "From the data of the hardware"),
    ({"parts": ("devices/a/b", "models/a/b")}, "Recomputed with sourced inputs")])
def test_where_a_number_comes_from(monkeypatch, given, says):
    monkeypatch.setattr(origins, "deployment", lambda name: Made(fits=True))
    monkeypatch.setattr(origins, "planned", lambda name: (name, name))
    assert origins.found(truth(**given))[0] == says


def test_of_a_deployment_without_room_it_is_said():
    origins.deployment.cache_clear()
    name = "s0-config-4.1-fp8"
    assert not deployment(name).fits
    found = origins.found(truth(scenario=name))[0]
    assert found.startswith("Computed for ")
    assert found.endswith(", as if memory sufficed")


@pytest.mark.parametrize(("given", "titled"), [
    ({"where": "sources/s1"}, True), ({"where": "sources/arithmetic"}, False),
    ({"where": "sources/no-such"}, False),
    ({"where": "devices/a/b", "sources": ("s1",)}, True),
    ({"where": "devices/a/b", "sources": ("s1", "s2")}, False),
    ({"where": "devices/a/b", "sources": ()}, False),
    ({"where": "S1-001", "sources": ("s1",), "listed": True}, True),
    ({"where": "S1-001", "sources": ("s1",)}, False)])
def test_a_number_that_one_source_restates_is_by_its_title(given, titled):
    title = sources()["s1"]["title"].partition(": ")[0]
    found = origins.source_of(truth(**given))
    assert (found is not None) == titled
    if titled:
        assert title.startswith(found.rstrip("…"))
        if "scenario" not in given:
            assert origins.found(truth(**given))[0] == f"By “{found}”"


@pytest.mark.parametrize(("title", "short"), [
    ("Short: explained", "Short"), ("a" * 60, "a" * 60), ("a" * 61, "a" * 59 + "…"),
    ("a" * 58 + " bcd", "a" * 58 + "…"),
    ("a" * 50 + ", b, " + "c" * 9, "a" * 50 + ", b"),
    ("a" * 50 + ", b" * 9, "a" * 50 + ", b, b, b"), ("no end, at all", "no end, at all")])
def test_a_long_title_ends_at_a_comma_or_in_the_middle_of_a_word(title, short):
    assert origins._short(title) == short


def test_a_deployment_in_a_few_words():
    """Cards without their maker, a format without what explains it."""
    scenario = deployment("s2-910b1-awq").scenario
    english, chinese = origins.planned("s2-910b1-awq")
    assert english.startswith(f"{scenario.devices}×")
    assert "(" not in english.partition("(")[2]
    users = int(scenario.inputs()["concurrency"])
    assert english.endswith(f"{users} user{'s' * (users != 1)})")
    assert f"{users} 个用户" in chinese


@pytest.mark.parametrize(("name", "rest"), [
    ("NVIDIA H200", "H200"), ("Ascend 910B2", "910B2"), ("NVIDIA Hopper", "NVIDIA Hopper"),
    ("TPU v7x", "v7x"), ("Intel Gaudi 3", "Intel Gaudi 3")])
def test_a_card_s_name_with_a_number_tells_its_maker(name, rest):
    assert origins._MAKER.sub("", name) == rest


def test_why_it_does_not_run_in_a_clause_without_its_stop(monkeypatch):
    reason = Made(kind="other", text={"en": "It is so.", "zh": "如此。"})
    monkeypatch.setattr(origins, "deployment", lambda name: Made(why_not=(reason, None)))
    origins.shortage.cache_clear()
    assert origins.shortage("made here") == ("It is so", "如此")
    reason.kind, reason.numbers = MEMORY, {"memory_per_device": 80e9, "usable_memory": 57.6e9}
    assert origins.shortage("made here too")[0] == "a card needs 80 GB and may use 57.6 GB"
    origins.shortage.cache_clear()


@pytest.mark.parametrize(("name", "value", "unit"), [
    ("tco", 5, "USD"), ("capital", 3, "USD"), ("per_rate", 9, "USD"), ("rate", 6, "token/s"),
    ("roi", 7, "1"), ("payback", 2 * 365 * 24 * 3600, "s")])
def test_an_amount_of_a_document_s_plan_is_its_own_before_that_of_what_it_costs(
        monkeypatch, name, value, unit):
    """Money, but for a rate, a ratio, and years until it is paid back."""
    def amounts(**given):
        return {key: Amount.exactly(float(number)) for key, number in given.items()}

    monkeypatch.setattr(costs, "plan", lambda: Made(
        corrected=Made(amounts=amounts(tco=4, capital=3)),
        amounts=lambda: amounts(tco=5, rate=6, roi=7, payback=2, per_rate=9)))
    found = of(f"costs/{costs.PLAN}/{name}")
    assert (found.three.value, found.unit, found.where) == (
        value, unit, f"costs/{costs.PLAN}/{name}")
    for lost in ("", "/no", f"/{name}/{name}"):
        with pytest.raises(ParamsError, match="expected one of capital, payback, per_rate, rate, "):
            of(f"costs/{costs.PLAN}{lost}")


@pytest.mark.parametrize(("name", "value", "unit"), [
    ("tpot", 0.02, "s"), ("ttft", 0.3, "s"), ("throughput", 900, "token/s"), ("cards", 16, "1"),
    ("cost", 7, "1")])
def test_a_goal_is_met_by_the_first_deployment_that_a_search_finds(monkeypatch, name, value, unit):
    def found(rows):
        return lambda goal: Made(front="front", rows=lambda which: rows * (which == "front"))

    first = Made(quantities={"tpot": 0.02, "ttft": 0.3, "throughput": 900.0, "cost": 7.0},
                 choice=Made(devices=16))
    goal = catalogue.names("goals")[0]
    monkeypatch.setattr(searching, "search", found([first, None]))
    met = of(f"goals/{goal}/{name}")
    assert (met.three, met.unit, met.listed) == (Amount.exactly(value), unit, False)
    for lost in ("", "/no", f"/{name}/{name}"):
        with pytest.raises(ParamsError, match="expected one of cards, cost, through"):
            of(f"goals/{goal}{lost}")
    monkeypatch.setattr(searching, "search", found([]))
    with pytest.raises(ParamsError, match=f"no deployment meets '{goal}'"):
        of(f"goals/{goal}/{name}")


def test_a_deployment_knows_its_inputs_and_its_quantities_and_no_other_name():
    found = deployment("s1-plan-d")
    assert found.knows("tensor_parallel")
    assert found.knows("output_throughput")
    assert not found.knows("pace")
    assert found.three("tensor_parallel") == Amount.exactly(
        float(found.inputs["tensor_parallel"]))
    with pytest.raises(ParamsError, match="'s1-plan-d' has no quantity 'tpott', the nearest"):
        found.three("tpott")


@pytest.mark.parametrize(("where", "says"), [
    ("s1-plan-d:tpott", "'tpott' is no name of params/symbols.yml, the nearest names are tpot"),
    ("devices/nvidia-h20/memory_capacty", "there is no 'memory_capacty', the nearest names are"),
    ("devices/nvidia-h20/matrix_peak", "is no number of the catalogue"),
    ("devices/nvidia-h20/matrix_peak/fp17", "there is no 'fp17'")])
def test_an_entry_or_a_name_that_is_none_is_told_with_what_is_near(where, says):
    with pytest.raises(ParamsError, match=says):
        of(where)
