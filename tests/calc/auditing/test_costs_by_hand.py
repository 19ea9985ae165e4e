"""What a document's plan costs: each assumption alone, all of them together, and how plans run."""

from __future__ import annotations

import math
from types import SimpleNamespace as Made

import pytest

import catalogue
from calc.auditing import costs
from calc.auditing.costs import Plan, changes, combined_factors, example_of, weightiest
from calc.uncertainty.amount import Amount
from catalogue import ParamsError

YEAR = 365 * 24 * 3600
PEAK = catalogue.load("loads", costs.DAY).peak
INPUTS = {"years": 3.0, "rate": 1000.0, "cost_staff": 6.0, "cost_space": 5.0}
AMOUNTS = {"capital": Amount.exactly(120.0), "yearly": Amount.exactly(55.0),
           "tco_undiscounted": Amount(300.0, 290.0, 320.0), "revenue": Amount.exactly(7.0),
           "roi": Amount.exactly(8.0), "payback": Amount.exactly(9.0)}


def plan(**owned):
    corrected = Made(amounts=AMOUNTS, owned=Made(**{
        "capital": 120.0, "energy": 12.0, "upkeep": 3.0, "people": 8.0, "hosting": 4.0} | owned))
    recomputed = {"hardware": 100.0, "yearly": 50.0, "electricity": 10.0}
    return Plan(INPUTS, {}, recomputed, corrected, Amount.exactly(400.0), 320)


def test_each_assumption_alone_and_the_weightiest_first():
    """The document has 100 at once and 50 a year, of three years: 250. Power for 12 instead of 10
    is three times two more; upkeep it has none; staff is two more, space one less."""
    found = weightiest(plan())
    assert dict(found) == pytest.approx({
        "rate": 1000 / 400, "used": PEAK, "hardware": 270 / 250, "electricity": 256 / 250,
        "upkeep": 259 / 250, "people": 256 / 250, "hosting": 247 / 250})
    assert [name for name, _ in found][-1] == "hosting"
    cheap = weightiest(plan(capital=10.0))  # 160 of 250 is farther from one than 2 of 250 are
    sizes = [abs(math.log(factor)) for _, factor in cheap]
    assert sizes == sorted(sizes, reverse=True)
    assert [name for name, _ in cheap].index("hardware") < 3


def test_amounts_of_money_add_up_and_what_they_are_divided_by_multiplies():
    money, whole = combined_factors({"rate": 2.0, "used": 1.5, "hardware": 1.2, "people": 0.9})
    assert (money, whole) == pytest.approx((1.1, 3.3))
    assert combined_factors({"rate": 2.0, "used": 1.5}) == pytest.approx((1, 3))


def test_amounts_of_a_plan_over_its_years_at_its_share_of_the_day():
    found = plan().amounts()
    assert list(found) == ["hardware", "yearly", "tco", "rate", "per_rate", "per_million",
                           "revenue", "roi", "payback"]
    assert [found[name].value for name in ("hardware", "yearly", "tco", "rate", "revenue", "roi",
                                           "payback")] == [120, 55, 300, 400, 7, 8, 9]
    assert found["per_rate"].central == pytest.approx(300 / 400)
    assert found["per_million"].central == pytest.approx(
        1e6 * 300 / (3 * YEAR / PEAK * 400), rel=1e-3)
    assert found["per_rate"].low < 300 / 400 < found["per_rate"].high


def test_how_the_plans_of_the_document_run():
    """All with 80 users a replica; those of the same cards as plan C as it does."""
    for name in (costs.PLAN, "s1-overlap-none", "s1-overlap-mla", "s1-h20-vs-910b2-h20"):
        assert changes(name, "runs") == costs.RUNS
    assert f"workload.concurrency={4 * 80} request" in costs.RUNS
    for name, precision, stages, more in (
            ("s1-plan-a", "fp8-block", 2, ("cluster.devices=16",)),
            ("s1-plan-b", "fp8-block", 3, ()), ("s1-plan-d", "fp8-block", 4, ()),
            ("s1-scale-48", "fp8-block", 6, ()), ("s1-scale-64", "fp8-block", 8, ()),
            ("s1-h20-vs-910b2-910b2", "fp16", 4, ())):
        replicas = int(catalogue.load_scenario(name).inputs()["data_parallel"])
        users = f"workload.concurrency={80 * replicas} request"
        assert changes(name, "full") == (users,)
        assert changes(name, "runs") == (
            f"precision={precision}", "parallelism.tensor_parallel=8",
            f"parallelism.pipeline_parallel={stages}", "parallelism.data_parallel=1",
            "parallelism.expert_parallel=1", users, *costs.STEADY, *more)


@pytest.mark.parametrize("how", ["runs", "watched"])
def test_what_the_book_watches_runs_as_it_is_watched(how):
    for name, run in costs.as_run.RUNS.items():
        expected = costs.RUNS if how == "runs" and name.startswith(costs.SAME_CARDS) else (
            run.overrides)
        assert changes(name, how) == expected


@pytest.mark.parametrize(("name", "how"), [("s1-plan-a", "watched"), ("s1-plan-a", "walks"),
                                           ("s2-910b1-awq", "runs"), (costs.PLAN, "walks")])
def test_a_plan_has_no_other_variant(name, how):
    with pytest.raises(ParamsError, match=f"'{name}' has no variant '{how}'"):
        changes(name, how)


def test_an_example_is_printed_recomputed_and_put_in():
    formulas = {each.id: each for each in catalogue.load("formulas", "s1").formulas}
    formula = next(each for each in formulas.values() if len(each.examples) > 1)
    for index, example in enumerate(formula.examples):
        printed, recomputed, inputs = example_of(formula, index)
        assert printed == float(example.printed.value)
        assert recomputed == float(formula.recomputed(example))
        assert inputs == {key: float(value.value) for key, value in example.inputs.items()}
    assert example_of(formula) == example_of(formula, 0)


def test_the_plan_is_printed_recomputed_and_corrected_over_its_own_years():
    """A million tokens are the whole cost over the tokens of three years at the rate of a day."""
    made = costs.plan()
    day, tokens = made.inputs["day_time"], made.recomputed["tokens"]
    assert (made.users, day, made.inputs["years"]) == (320, 24 * 3600, 3)
    assert made.inputs["rate"] == pytest.approx(tokens / day)
    for values in (made.printed, made.recomputed):
        assert values["rate"] == made.inputs["rate"]
        assert values["per_million"] == pytest.approx(
            1e6 * values["tco"] / (3 * YEAR * made.inputs["rate"]))
    for name, example in costs.EXAMPLES:
        formula = next(each for each in catalogue.load("formulas", "s1").formulas
                       if each.id == example)
        assert made.printed[name] == float(formula.examples[0].printed.value)
        assert made.recomputed[name] == float(formula.recomputed(formula.examples[0]))


def test_the_corrected_plan_sells_at_the_document_s_price_and_keeps_nothing_at_its_end():
    """At its price of a thousand tokens, of a day whose busiest hour is filled."""
    made = costs.plan()
    amounts, owned = made.corrected.amounts, made.corrected.owned
    assert amounts["tco_undiscounted"].central == pytest.approx(
        amounts["capital"].central + 3 * amounts["yearly"].central, rel=1e-6)
    a_year = made.rate.value / PEAK * YEAR * made.inputs["thousand_price"] / 1e3
    assert amounts["revenue"].central == pytest.approx(a_year)
    assert float(owned.capital) > 0
