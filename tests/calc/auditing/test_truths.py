"""Reference values of claims: rows, scores, entries, deployments, goals and costs."""

from __future__ import annotations

import statistics

import pytest

import catalogue
from calc.auditing import costs
from calc.auditing.reasons import shortage
from calc.auditing.truths import deployment
from calc.auditing.truths import truth_of as of
from calc.uncertainty import Amount
from catalogue import ParamsError

TPOT = "measurements/s2-910b1-awq/tpot"
OF_128 = [22.8, 29.8, 36.2, 41.5, 46.3, 60.4, 81.1]  # ms, of prompts of 128 tokens
UNKNOWN = [  # a reference -> its refusal
    (f"{TPOT}/input_tokens=128", f"'{TPOT}/input_tokens=128' names 7 rows, expected one"),
    (f"{TPOT}/input_tokens=129/min", f"'{TPOT}/input_tokens=129/min' names 0 rows, expected one"),
    (f"{TPOT}/input_token=128", "'s2-910b1-awq' has no column 'input_token', the nearest names "
     "are input_tokens, output_tokens"),
    ("accuracies/s2-r1-0528/x/y", "'accuracies/s2-r1-0528/x/y' names 0 scores, expected one"),
    ("costs/s1-plan-a/tco", "'costs/s1-plan-a/tco': only 's1-plan-c' has a cost"),
    ("devices/nvidia-h20/matrix_peak", "'devices/nvidia-h20/matrix_peak' is no number of the "
     "catalogue"),
    ("s1-plan-d:tpott", "'tpott' is no name of params/symbols.yml, the nearest names are tpot")]


@pytest.mark.parametrize(("where", "value"), [
    ("input_tokens=128/min", min(OF_128)), ("input_tokens=128/max", max(OF_128)),
    ("input_tokens=128/mean", statistics.mean(OF_128)),
    ("input_tokens=128,concurrency=2", 29.8), ("input_tokens=128/concurrency=4", 36.2)])
def test_rows_of_a_measurement_in_si_units(where, value):
    row = of(f"{TPOT}/{where}")
    assert row.three == Amount.exactly(pytest.approx(value / 1e3))
    assert (row.unit, row.listed, row.scenario) == ("s", False, None)


@pytest.mark.parametrize(("reference", "message"), UNKNOWN)
def test_reference_to_nothing(reference, message):
    with pytest.raises(ParamsError) as refused:
        of(reference)
    assert str(refused.value) == message


def test_quantity_of_a_deployment_or_of_a_part():
    """Replicas are counted as the document has them, also of the changed deployment."""
    name = "s1-plan-d"
    whole, scenario = of(f"{name}:output_throughput").three.value, deployment(name).scenario
    assert scenario.replicas > 1
    for part, count in (("replica", scenario.replicas), ("device", scenario.devices),
                        ("layer", 61)):
        assert of(f"{name}:output_throughput/{part}").three.value == pytest.approx(whole / count)
    assert of(f"{name}:tensor_parallel").given
    changed = of(f"{name}@runs:output_throughput").three.value
    assert deployment(f"{name}@runs").scenario.replicas == 1
    assert of(f"{name}@runs:output_throughput/replica").three.value == pytest.approx(
        changed / scenario.replicas)


def test_shortage_of_memory_tells_both_numbers():
    name = "s0-config-4.1-fp8"
    first, *others = deployment(name).why_not
    assert (first.kind, len(others)) == ("memory_capacity", 1)
    for number in ("memory_per_device", "usable_memory"):
        assert f"{first.numbers[number] / 1e9:.3g} GB" in shortage(name)[0]


# --- costs ----------------------------------------------------------------------------------------

YEAR = 365 * 24 * 3600
PEAK = catalogue.load("loads", costs.DAY).peak


@pytest.fixture(scope="module")
def plan():
    return costs.plan()


def test_plan_as_printed_and_as_recomputed(plan):
    """A million tokens are the whole cost over the tokens of three years at the rate of a day."""
    assert (plan.users, plan.inputs["day_time"], plan.inputs["years"]) == (320, 24 * 3600, 3)
    assert plan.recomputed["tco"] == 734_000 + 3 * 307_213 == plan.printed["tco"]
    for name in ("hardware", "yearly", "revenue"):
        assert plan.recomputed[name] == pytest.approx(plan.printed[name])
    assert plan.printed["roi"] == 10.86
    assert plan.recomputed["roi"] == pytest.approx(10.8724, abs=1e-4)
    assert plan.recomputed["electricity"] == pytest.approx(32 * 0.4 * 24 * 365 * 0.1)
    assert plan.inputs["rate"] == pytest.approx(plan.recomputed["tokens"] / 86_400) == 51_200
    for values in (plan.printed, plan.recomputed):
        assert values["per_million"] == pytest.approx(1e6 * values["tco"] / (3 * YEAR * 51_200))


def test_corrected_plan(plan):
    """Over three years without residual value; sold at the document's price at the day's mean."""
    amounts = plan.amounts()
    assert amounts["tco"].value == pytest.approx(
        amounts["hardware"].value + 3 * amounts["yearly"].value, rel=1e-6)
    assert amounts["revenue"].value == pytest.approx(
        plan.rate.value / PEAK * YEAR * plan.inputs["thousand_price"] / 1e3)
    assert amounts["per_rate"].value == pytest.approx(
        amounts["tco"].value / plan.rate.value)
    assert amounts["per_million"].value == pytest.approx(
        1e6 * amounts["per_rate"].value * PEAK / (3 * YEAR))
    assert of(f"costs/{costs.PLAN}/payback").unit == "s"
    assert of(f"costs/{costs.PLAN}/tco").three.value == amounts["tco"].value
