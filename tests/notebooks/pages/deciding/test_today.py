"""The chapter on the documents' cards today: what it says of a plan is what the runtime says."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

import calc
import catalogue
from calc.costing.tokens import MILLION
from notebooks.pages.audit.findings import ADDED
from notebooks.pages.deciding.generations.models import LIMIT
from notebooks.pages.deciding.today import page, plans
from notebooks.show import display

TOLD = (page.ONE_SERVER, page.FULL, page.HOST)
RIVALS = ("deepseek-v4-flash", "minimax-m2.5")


def test_every_plan_is_another_set_of_cards_or_another_demand():
    seen = {(plans.document(plan).device.id, plans.document(plan).devices, *plans.demanded(plan))
            for plan in plans.PLANS}
    assert len(seen) == len(plans.PLANS)
    assert {plans.document(plan).file.document for plan in plans.PLANS} == {"s0", "s1", "s2", "s3"}
    assert {plans.document(plan).model.id for plan in plans.PLANS} == {plans.PLANNED}


@pytest.mark.parametrize("plan", TOLD)
def test_the_cheapest_is_the_fastest_and_holds_everybody(plan):
    found, (users, _) = plans.ranking(plan), plans.demanded(plan)
    for ahead, behind in pairwise(found):
        assert ahead.pace <= behind.pace
        if found[0].ranged_cost is not None:
            assert found[0].ranged_cost.value <= behind.ranged_cost.value
    for each in found:
        best = each.best
        assert best.count * best.made.inputs["concurrency"] >= users
        assert best.made.fits({}).all()
        assert each.pace == best.told.value
        assert each.held >= users
        assert best.count * best.made.cards == plans.document(plan).devices


@pytest.mark.parametrize(("plan", "model"), [
    *product(TOLD, RIVALS), (page.FULL, "glm-5.2")])
def test_what_is_within_the_limit_fits(plan, model):
    of = plans.served(plan, model)
    assert of.users <= of.held
    if of.pace and of.pace <= LIMIT:
        assert of.users >= plans.demanded(plan)[0]
    if of.users:
        assert of.rate == pytest.approx(of.users / LIMIT, rel=0.3)


def test_of_the_layouts_that_hold_the_users_the_fastest_is_taken():
    """As it is told: four servers with ten users a card each are as fast as one."""
    one, four = (plans.served(plan, "deepseek-v4-flash").pace
                 for plan in ("s1-launch-single", "s1-scale-32"))
    assert four <= one


def test_what_two_models_share_is_drawn_once_for_both():
    """Their intervals overlap; one is faster in most draws all the same."""
    first, second = plans.ranking("s1-plan-c")[:2]
    assert first.ranged_pace.high > second.ranged_pace.low
    assert 0.5 < plans.wins("s1-plan-c") <= 1


def test_no_plan_is_one_that_this_book_laid_out():
    assert not any(plan.startswith(ADDED) for plan in plans.PLANS)


@pytest.mark.parametrize("plan", ["s1-phases-1", *TOLD[:2]])
def test_the_users_of_a_plan_pay_for_all_its_cards(plan):
    """Also for a replica that has nobody: one user on two of them."""
    of = plans.ranking(plan)[0]
    users, _ = plans.demanded(plan)
    hour = plans.hour_of(plan).value
    assert of.ranged_cost.value == pytest.approx(
        MILLION * plans.document(plan).devices * hour * of.pace / users, rel=0.05)


def test_r1_on_the_cards_of_a_plan_that_runs_is_no_slower_than_as_written():
    for plan in (page.HOST, "s3-eight-cards"):
        assert plans.as_written(plan).fits
        written = plans.as_written(plan).pace
        assert plans.served(plan, plans.PLANNED).best.told.value < 1.001 * written


@pytest.mark.parametrize("plan", [page.HOST, "s2-910b1-awq"])
def test_as_written_is_what_the_page_of_the_plan_says(plan):
    told = calc.estimate(plans.document(plan)).quantities["tpot"]
    assert plans.as_written(plan).pace == pytest.approx(told.value)


@pytest.mark.parametrize("device", page.CARDS)
@pytest.mark.parametrize("model", plans.MODELS)
def test_formats_have_kernels_and_get_narrower(model, device):
    from catalogue.kernels import kernels_of
    from catalogue.kernels.releases import expert_bytes

    card = catalogue.load_device(device)
    tried = [catalogue.load_precision(name) for name in plans.formats(model, device)]
    assert tried
    for each in tried:
        assert kernels_of(each, card, catalogue.load_model(model))
        assert expert_bytes(each) <= 1.001
    for wide, narrow in pairwise(tried):
        assert expert_bytes(narrow) < expert_bytes(wide)


def test_no_model_of_today_is_measured_on_the_cards_of_a_plan():
    cards = {plans.document(plan).device.id for plan in plans.PLANS}
    for name in catalogue.deployment_names():
        made = catalogue.load_scenario(name)
        if made.model.id in plans.MODELS and made.device.id in cards:
            assert made.file.measured is None, f"{name} is measured: the chapter says none is"


def test_the_page_glues_an_interval_around_each_number(monkeypatch):
    glued = {}
    monkeypatch.setattr(display, "_glued", glued)
    monkeypatch.setattr(display, "glue", lambda key, text, display: None)
    page.answer()
    for key, amount in (("server", "ms"), ("full", "usd"), ("host", "ms")):
        for role in ("now", "r1"):
            low, value, high = (float(glued[f"td-{key}-{role}-{amount}{end}"].replace(",", ""))
                                for end in ("-low", "", "-high"))
            assert low <= value <= high
    assert int(glued["td-written"]) < int(glued["td-plans"])
