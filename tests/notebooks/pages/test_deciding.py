"""Chapters on decisions: fronts are sorted, pages share the search's one answer."""

from __future__ import annotations

import json

import pytest

import calc
import catalogue
from benchmarks import answering
from calc.costing.ownership import MILLION
from calc.launching import starting
from calc.searching.goal import load_goal
from calc.searching.search import search
from calc.searching.selection import Selection
from catalogue.kernels import kernels_of
from notebooks.pages.deciding import matrix, today
from notebooks.pages.deciding.front import standard

MATRIX = ("devices=nvidia-h20,ascend-910c-die,nvidia-rtx-4090",
          "precisions=fp8-block,w8a8-int8", "cards.most=32")


# --- standard question -------------------------------------------------------------------------


SERVED = [("deepseek-v3", "nvidia-h20"), ("deepseek-v3", "nvidia-h200-sxm"),
          ("deepseek-v3", "ascend-910b2"), ("deepseek-v4-flash", "nvidia-b300"),
          ("glm-5.2", "ascend-910c-die")]


@pytest.mark.parametrize(("model", "device"), SERVED)
def test_standard_answer_fits_and_is_the_fastest_cell_of_the_matrix(model, device):
    served = standard.serve(model, device)
    answer = calc.estimate(served.scenario)
    assert answer.fits
    low, high = served.cell.best.amounts["tpot"].ends
    assert low < answer.quantities["steady_tpot"].value < high
    entry = catalogue.load_model(model)
    published = catalogue.load_precision(entry.weights.precision)
    runs = bool(kernels_of(published, catalogue.load_device(device), entry))
    assert (served.choice.precision not in standard.EIGHT_BITS.values()) is runs
    if model == standard.R1:
        cell, = matrix.cells_of(device, [served.choice.precision], [standard.question().users])
        assert cell.best.row.choice == served.choice
        assert cell.pace == served.cell.pace


# --- searches ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cells():
    return matrix.cells((8, 64), MATRIX)


@pytest.mark.parametrize(("device", "per_node"), [("nvidia-h20", 8), ("ascend-910c-die", 16)])
def test_matrix_cells_are_searches_of_whole_servers(cells, device, per_node):
    for cell in (cell for cell in cells if cell.device == device and cell.users == 64):
        alone = Selection(search(load_goal(matrix.GOAL, [
            *MATRIX, f"devices={device}", f"precisions={cell.precision}",
            f"cards.fewest={per_node}", "demand.users=64"])))
        best = alone.candidates[0]
        assert cell.best.row.devices == best.devices
        assert cell.best.row.quantities["tpot"] >= best.quantities["tpot"]
        assert cell.engine
        assert cell.best.row.choice.devices % per_node == 0
        low, high = cell.best.amounts["tpot"].ends
        assert low <= cell.pace <= high


def test_stored_first_answers_pass_and_are_current():
    stored = json.loads(answering.STORED.read_text(encoding="utf-8"))
    assert sorted(stored) == sorted(answering.catalogue_goals())
    assert all(answering.passes(found) for found in stored.values())
    before = stored["r1-910b2-least"]
    now = json.loads(json.dumps(answering.judged(starting.select("r1-910b2-least"))))
    assert now["row"]["choice"] == before["row"]["choice"]
    assert now["row"]["start"] == before["row"]["start"]
    assert now["row"]["quantities"] == pytest.approx(before["row"]["quantities"], rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(0, answering.DRAWN, 10))
def test_first_answers_of_random_goals_keep_their_limits_simulated(number):
    answer = starting.select(answering.goal_of(number))
    if not answer.met:
        assert answer.nearest_miss is not None or answer.missed or answer.refused
        return
    found = answering.judged(answer)
    assert answering.passes(found)
    for at, stated in (found["simulated"] or {"seen": {}})["seen"].items():
        limits = answer.result.wishes.goal.limits.times[at]
        assert all(stated[name] <= limit for name, limit in limits.items())


# --- models and cards of today -----------------------------------------------------------------


@pytest.mark.parametrize("name", ["s0-config-4.1-bf16", "s3-hybrid-910b4"])
def test_ranked_models_hold_all_users_on_all_cards_of_the_plan(name):
    ranking, (asked, _) = today.ranking(name), today.demanded(name)
    document = today.document(name)
    paces = [each.tpot.value for each in ranking]
    assert paces == sorted(paces)
    for each in ranking:
        best = each.best
        assert best.count * best.made.inputs["concurrency"] >= asked
        assert best.made.fits({}).all()
        assert best.count * best.made.cards == document.devices
    if ranking[0].cost is not None:
        prices = [each.cost.value for each in ranking]
        assert min(prices) == prices[0]
        assert prices[0] == pytest.approx(MILLION * document.devices * today.hour_of(name).value
                                          * paces[0] / asked, rel=0.05)
