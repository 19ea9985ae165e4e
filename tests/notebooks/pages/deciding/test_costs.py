"""What the chapter on cost shows: parts that sum, corrections that follow, the same in both
languages."""

from __future__ import annotations

import pytest

from calc.auditing import costs as auditing
from calc.auditing.truths import deployment
from calc.costing.rates import card_hour
from catalogue import ParamsError
from notebooks.pages.deciding import cost_documents, costs
from notebooks.pages.deciding.front import r1, standard
from notebooks.pages.deciding.goals import device_label


@pytest.fixture(scope="module")
def plan():
    return auditing.plan()


def test_the_plan_is_recomputed_as_it_is_printed_but_for_the_return(plan):
    for name in ("hardware", "yearly", "tco", "revenue"):
        assert plan.recomputed[name] == pytest.approx(plan.printed[name])
    assert plan.printed["roi"] == 10.86
    assert plan.recomputed["roi"] == pytest.approx(10.8724, abs=1e-4)


def test_corrected_the_plan_costs_more_a_token_and_never_pays(plan):
    amounts = plan.amounts()
    assert amounts["per_million"].low > plan.recomputed["per_million"]
    assert amounts["rate"].high < plan.inputs["rate"]
    assert amounts["roi"].high < 0
    for name, amount in amounts.items():
        assert amount.low <= amount.value <= amount.high, name


@pytest.mark.parametrize("name", [auditing.PLAN, *auditing.OTHERS])
def test_every_plan_that_is_changed_so_that_it_runs_runs(name):
    changed = deployment(f"{name}@runs")
    assert changed.fits
    replicas = deployment(name).inputs["data_parallel"]
    assert changed.inputs["concurrency"] == auditing.USERS * replicas


def test_the_plan_has_one_throughput_whoever_asks(plan):
    found = deployment(f"{auditing.PLAN}@runs").three("steady_throughput")
    assert (found.low, found.value, found.high) == (plan.rate.low, plan.rate.value, plan.rate.high)


@pytest.mark.parametrize("name", ["s1-plan-c@walks", "s0-scenario-2@runs"])
def test_a_change_that_there_is_not_is_refused(name):
    with pytest.raises(ParamsError, match="has no variant"):
        deployment(name)


def test_the_throughput_outweighs_every_other_assumption(plan):
    (first, weight), *others = auditing.weightiest(plan)
    assert first == "rate"
    product = 1.0
    for _, factor in others:
        product *= factor
    assert weight > product


def test_the_corrections_together_are_the_whole_correction(plan):
    money, everything = auditing.combined_factors(dict(auditing.weightiest(plan)))
    amounts = plan.amounts()
    assert money == pytest.approx(amounts["tco"].central / plan.recomputed["tco"])
    # at the inputs' values; what is printed of the cost is the median of what they give together
    assert everything == pytest.approx(
        amounts["per_million"].central / plan.recomputed["per_million"]
        * amounts["tco"].central / amounts["tco"].value)
    assert amounts["per_million"].low < everything * plan.recomputed["per_million"] < amounts[
        "per_million"].high


def test_two_cards_and_a_host_are_even_where_the_break_even_says():
    found = cost_documents.hybrid()
    both = [rate / (cards + found.break_even)
            for rate, cards in zip(found.alone, found.cards, strict=True)]
    assert both[0] == pytest.approx(both[1])
    assert found.host.low > found.break_even, "a host costs more than that"


def test_the_page_s_deployment_runs_and_costs_less_when_it_is_used_more():
    page = costs.flagship()
    assert page.answer.fits
    whole = page.cost.amounts["per_million_output_whole"]
    hour = card_hour(page.scenario.device.id).value
    assert whole.central == pytest.approx(
        1e6 * 8 * hour / (page.asked.utilisation * page.rate.value))
    assert page.cost.amounts["crossover"].central == pytest.approx(
        8 * hour / page.rate.value / page.api_per_output)


def test_a_million_tokens_is_priced_on_every_card_of_which_anybody_prints_a_price(monkeypatch):
    shown = {}
    monkeypatch.setattr(costs, "table", lambda rows, columns, **_: shown.update(
        {row["card"][0]: row for row in rows}))
    monkeypatch.setattr(costs, "number", lambda *_, **__: None)
    costs.millions()
    published = {card for card, row in shown.items() if row["published"] != r1.NOTHING}
    assert published == {device_label(device)[0] for device in (costs.OLDER, *standard.CARDS)
                         if card_hour(device)}
    by_hardware = {card for card, row in shown.items() if row["hardware"] != r1.NOTHING}
    assert published | by_hardware == set(shown)
    assert {"NVIDIA H100 SXM", "Ascend 910C, one die", "NVIDIA H20"} <= by_hardware


def test_the_chapter_on_cards_prices_by_hardware_where_no_hour_is_published():
    told = standard.serve(standard.R1, "nvidia-h20")
    priced = told.priced()
    _, answer, found, asked = priced
    of_parts = priced.of_parts()
    assert r1.WHOLE not in found.amounts
    assert of_parts.hour.per("USD/h") == pytest.approx(found.amounts["card_hour_of_parts"].points)
    assert of_parts.amounts[r1.WHOLE].central == pytest.approx(
        1e6 * told.choice.devices * of_parts.hour.value
        / (asked.utilisation * answer.quantities["steady_throughput"].value))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_picture_is_drawn_in_both_languages(lang):
    page = costs.flagship()
    words = [text.get_text() for text in costs.against_utilisation(page, lang).axes[0].texts]
    assert len(words) >= 4
    assert any("API" in word for word in words)
