"""A deployment in short: what a reader sees on the first screen of its page."""

import shlex

import pytest

import calc
import catalogue
from notebooks.pages.deployments import card
from notebooks.pages.deployments.answers import Deployed


@pytest.fixture(scope="module")
def plan_c():
    return Deployed(catalogue.load_scenario("s1-plan-c"))


def test_a_plan_that_does_not_fit_gives_no_times_and_those_beside_it_fit(plan_c):
    rows = card.plans(plan_c)
    assert next(row["kind"][0] for row in rows) == "as written"
    assert "tpot" not in rows[0]
    assert all("tpot" in row and not row["spare"].startswith("−") for row in rows[1:])
    assert len({tuple(sorted(row["settings"].items())) for row in rows}) == len(rows)


def test_the_published_weights_are_among_the_plans(plan_c):
    kinds = " ".join(row["kind"][0] for row in card.plans(plan_c))
    assert "published weights" in kinds
    assert "nearest that runs" in kinds


@pytest.mark.parametrize("lang", [0, 1])
def test_a_change_is_told_in_words_without_names_of_ours(plan_c, lang):
    for row in card.plans(plan_c)[1:]:
        text = row["change"][lang]
        assert "_" not in text
        assert "`" not in text
        assert not text.startswith("EP ")


def test_the_command_gives_what_the_table_says(plan_c):
    row = card.plans(plan_c)[-1]
    words = shlex.split(card.command(plan_c, row["settings"]).replace("\\\n", ""))
    settings = words[words.index("--set") + 1::2]
    answer = calc.estimate(catalogue.load_scenario(words[4], overrides=settings))
    assert answer.fits
    assert row["tpot"] == Deployed(
        catalogue.load_scenario("s1-plan-c", overrides=settings)).answers["tpot"].text


def test_only_what_fits_has_a_price(plan_c):
    assert card.price(plan_c) is None
    priced = card.price(Deployed(catalogue.load_scenario("h200-r1-vllm-tp8")))
    assert [text.split()[-1] for text in priced["value"]] == ["USD**", "美元**"]
