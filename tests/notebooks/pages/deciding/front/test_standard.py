"""The standard question: every page that answers it takes the answer from one place."""

from __future__ import annotations

import pytest

import catalogue
from calc.answer.estimate import estimate
from calc.searching.load_goal import load_goal
from calc.searching.search import search
from catalogue.kernels.releases import kernels_of
from notebooks.pages.calculators import scripts
from notebooks.pages.deciding import costs, matrix
from notebooks.pages.deciding.front import picture, r1, standard, table
from notebooks.show import display

GOALS = ("r1-matrix", "r1-64-users-8xh20")  # that ask the standard question


each_model = pytest.mark.parametrize("model", standard.question().models)


def answers(**of):
    """The standard question's answers of a model or a card, of which there are some."""
    found = [each for each in standard.served()
             if all(getattr(each, name) == value for name, value in of.items())]
    assert found
    return found


@each_model
def test_an_answer_is_started_by_a_release_and_fits_as_the_runtime_says(model):
    for told in answers(model=model):
        assert told.cell.engine.count("@") == 1, told
        found = estimate(told.scenario)
        assert found.fits, told
        low, high = told.cell.best.amounts["tpot"].ends
        assert low < found.quantities["steady_tpot"].value < high, told


@each_model
def test_weights_are_as_published_where_the_card_has_a_kernel_for_them(model):
    entry = catalogue.load_model(model)
    own = catalogue.load_precision(entry.weights.precision)
    for told in answers(model=model):
        runs = bool(kernels_of(own, catalogue.load_device(told.device), entry))
        assert (told.choice.precision not in standard.EIGHT_BITS.values()) is runs, told


@pytest.mark.parametrize("name", GOALS)
def test_goals_that_ask_it_ask_it_as_it_stands(name):
    goal, asked = load_goal(name), standard.question()
    assert goal.demand == asked.demand
    assert goal.model in asked.models


def test_its_layouts_draft_no_more_than_it_says():
    asked = standard.question()
    assert {each.choice.drafts for each in answers()} <= set(asked.draft_tokens)
    assert load_goal(matrix.GOAL).space.drafts == asked.draft_tokens


def test_fewer_servers_hold_none_that_a_release_starts():
    told = standard.served_by("glm-5.2", "nvidia-h20")
    assert told.choice.devices == 16
    for precision in standard.FORMATS[1]:
        found = search(load_goal(matrix.GOAL, [
            f"model={told.model}", f"devices={told.device}", f"precisions={precision}",
            "cards.fewest=8", "cards.most=8"]))
        assert not found.rows(found.front, 1)


@pytest.mark.parametrize("card", standard.CARDS)
def test_the_matrix_and_the_front_page_give_one_answer(card):
    told = standard.served_by(standard.R1, card)
    cell, = matrix.cells_of(card, [told.choice.precision], [standard.question().users])
    assert cell.best.row.choice == told.choice
    assert cell.pace == told.cell.pace
    assert cell.engine == told.cell.engine


def test_the_chapter_on_cost_prices_the_front_page_s_deployment():
    page = costs.flagship()
    told = standard.served_by(standard.R1, r1.OWNED)
    _, _, found, asked = told.priced()
    assert page.cost.amounts[r1.WHOLE] == found.amounts[r1.WHOLE]
    assert page.asked.utilisation == asked.utilisation < 1
    assert page.scenario.inputs()["concurrency"] == standard.question().users
    assert page.rate.value == pytest.approx(
        told.cell.best.amounts["throughput"].value, rel=5e-3)


def test_the_table_tells_layout_drafts_and_release_of_each(monkeypatch):
    shown = []
    monkeypatch.setattr(table, "table", lambda rows, columns, **_: shown.extend(rows))
    glued = {}
    monkeypatch.setattr(table, "glue", lambda key, what, display: glued.update({key: what.data}))
    monkeypatch.setattr(display, "glue", lambda key, what, display: None)
    table.answer()
    assert len(shown) == len(standard.CARDS)
    for lang, tag in enumerate(display.LANGUAGES):
        for each in answers():
            assert each.cell.engine in glued[f"today-table_{tag}"]
            assert each.layout[lang] in glued[f"today-table_{tag}"]


@pytest.mark.parametrize("lang", display.LANGUAGES)
def test_the_picture_has_a_point_and_an_interval_for_each(lang):
    drawn = picture.drawn(lang)
    text = drawn.svg()
    assert text.count("<circle ") == len(answers())
    assert text.count("stroke-width=\"1.2\"") >= len(answers())
    assert len(drawn.numbers.splitlines()) == len(answers()) + 1


def test_the_calculators_begin_with_it():
    start, asked = scripts.start(), standard.question()
    assert start["users"] == asked.users
    assert start["input"] == asked.demand.input_tokens
    assert start["output"] == asked.demand.output_tokens


@pytest.mark.parametrize("card", standard.CARDS)
def test_v4_flash_is_the_fastest_on_every_card_as_the_front_page_says(card):
    fastest = min(answers(device=card), key=lambda each: each.cell.pace)
    assert fastest.model == "deepseek-v4-flash"
