"""The front page's first table: today's models on usual cards, started by a release."""

from __future__ import annotations

import pytest

import catalogue
from calc.answer.estimate import estimate
from calc.layouts.choice import scenario
from calc.searching.load_goal import load_goal
from catalogue.kernels.releases import kernels_of
from notebooks.pages.deciding import front_models as page

TOLD = page.served()
ids = [f"{each.model} on {each.device}" for each in TOLD]


@pytest.mark.parametrize("told", TOLD, ids=ids)
def test_every_field_is_started_by_a_release_and_fits_as_the_runtime_says(told):
    assert told.best is not None
    assert told.engine.count("@") == 1
    choice = told.best.row.choice
    goal = load_goal(page.GOAL, [f"model={told.model}", f"devices={told.device}"])
    found = estimate(scenario(goal, choice))
    assert found.fits
    low, high = told.best.amounts["tpot"].ends
    assert low < found.quantities["tpot"].value < high


@pytest.mark.parametrize("told", TOLD, ids=ids)
def test_weights_are_as_published_where_the_card_has_a_kernel_for_them(told):
    model, device = catalogue.load_model(told.model), catalogue.load_device(told.device)
    own = catalogue.load_precision(model.weights.precision)
    runs = bool(kernels_of(own, device, model))
    assert (told.best.row.choice.precision != page.FORMATS[-1][0]) is runs


def test_a_server_fewer_holds_none_that_starts():
    told = next(each for each in TOLD if (each.model, each.device) == ("glm-5.2", "nvidia-h20"))
    assert told.best.row.choice.devices == 16
    for precision in ("fp8-block", "fp8-block-fp8-latent"):
        assert not page.search(page.GOAL, [
            f"model={told.model}", f"devices={told.device}", f"precisions={precision}",
            "cards.fewest=8", "cards.most=8"]).met
