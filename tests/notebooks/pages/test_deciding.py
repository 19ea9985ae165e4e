"""Chapters on decisions: costs add up, fronts are sorted, pages share the search's one answer."""

from __future__ import annotations

import json

import pytest

import calc
import catalogue
from benchmarks import answering
from calc.auditing import costs as auditing
from calc.capacity.day import Replica
from calc.costing.cost import MILLION
from calc.costing.ownership import card_hour
from calc.launching.starting import search as start_search
from calc.searching.goal import load_goal
from calc.searching.search import search
from calc.searching.selection import Answer
from catalogue.kernels import kernels_of
from notebooks.pages.deciding import cost_documents, goal_fronts, matrix, turning
from notebooks.pages.deciding.capacity import days, keeping, rated
from notebooks.pages.deciding.firsts import expected
from notebooks.pages.deciding.front import standard
from notebooks.pages.deciding.generations import models as generations
from notebooks.pages.deciding.today import page as today
from notebooks.pages.deciding.today import plans

SMALL = ("devices=nvidia-h20,nvidia-h200-sxm", "precisions=fp8-block,w8a8-int8", "cards.most=16",
         "space.pools=one", "space.chunks=8192", "space.drafts=0,1", "space.spares=none",
         "space.micro_batches=1")
MATRIX = ("devices=nvidia-h20,ascend-910c-die,nvidia-rtx-4090",
          "precisions=fp8-block,w8a8-int8", "cards.most=32")


# --- cost --------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def plan():
    return auditing.plan()


def test_documented_cost_is_reproduced_except_for_the_return(plan):
    for name in ("hardware", "yearly", "tco", "revenue"):
        assert plan.recomputed[name] == pytest.approx(plan.printed[name])
    assert plan.printed["roi"] == 10.86
    assert plan.recomputed["roi"] == pytest.approx(10.8724, abs=1e-4)


def test_host_breaks_even_where_both_cost_the_same_per_token():
    hybrid = cost_documents.hybrid()
    rates = [rate / (cards + hybrid.break_even)
             for rate, cards in zip(hybrid.alone, hybrid.cards, strict=True)]
    assert rates[0] == pytest.approx(rates[1])
    assert hybrid.host.low > hybrid.break_even


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
        alone = Answer(search(load_goal(matrix.GOAL, [
            *MATRIX, f"devices={device}", f"precisions={cell.precision}",
            f"cards.fewest={per_node}", "demand.users=64"])))
        best = alone.candidates[0]
        assert cell.best.row.devices == best.devices
        assert cell.best.row.quantities["tpot"] >= best.quantities["tpot"]
        assert cell.engine
        assert cell.best.row.choice.devices % per_node == 0
        low, high = cell.best.amounts["tpot"].ends
        assert low <= cell.pace <= high


@pytest.fixture(scope="module")
def money():
    return Answer(search(load_goal("million-tokens", list(SMALL))))


def test_cheapest_under_a_limit_keeps_it(money):
    found = goal_fronts.cheapest(money)
    assert found
    prices = [row.amounts["cost"].value for _, row in found]
    assert prices == sorted(prices, reverse=True)
    assert all(row.amounts["tpot"].value <= pace for pace, row in found)


def test_stored_first_answers_pass_and_are_current():
    stored = expected.stored_answers()
    assert sorted(stored) == sorted(answering.catalogue_goals())
    assert all(answering.passes(found) for found in stored.values())
    before = stored["r1-910b2-least"]
    now = json.loads(json.dumps(answering.judged(start_search("r1-910b2-least"))))
    assert now["row"]["choice"] == before["row"]["choice"]
    assert now["row"]["start"] == before["row"]["start"]
    assert now["row"]["quantities"] == pytest.approx(before["row"]["quantities"], rel=1e-6)


@pytest.mark.nightly
@pytest.mark.parametrize("number", range(0, answering.DRAWN, 10))
def test_first_answers_of_random_goals_keep_their_limits_simulated(number):
    answer = start_search(answering.goal_of(number))
    if not answer.met:
        assert answer.as_json()["nearest_miss"] is not None or answer.missed or answer.refused
        return
    found = answering.judged(answer)
    assert answering.passes(found)
    for at, stated in (found["simulated"] or {"seen": {}})["seen"].items():
        limits = answer.result.wishes.goal.limits.times[at]
        assert all(stated[name] <= limit for name, limit in limits.items())


# --- sensitivity and capacity ------------------------------------------------------------------

def test_perfect_information_is_worth_more_than_a_measurement_and_less_than_the_cost(cell):
    turning.choices()
    rows = cell.rows("en")
    assert len(rows) == len(turning.CHOICES)
    for _, _, cost, saved, own, _ in rows:
        assert 0 < float(saved.split()[0]) < float(cost)
        assert float(own) <= float(saved.split()[0])


def test_cache_hits_for_a_rate_are_the_fewest_that_suffice():
    page = days.day_plan("h200-r1-vllm-tp8", [
        "workload.input_tokens=2000 token", "workload.output_tokens=500 token",
        "workload.concurrency=64 request", "workload.requests=64 request"],
        "azure-conversation", 40000, 20, 2.0, 0.05, 300.0)

    def most(hits):
        replica = Replica(page.scenario, {"prefix_hit_share": hits})
        return replica.most(page.limits, float(page.load.variation.value))

    rate = 1.2 * most(0.0)
    hits = keeping.hits_for(page, rate)
    assert most(hits) >= rate
    assert most(hits - 2 * keeping.MOST_FOUND / 2**keeping.HALVINGS) < rate
    assert keeping.hits_for(page, 2 * most(keeping.MOST_FOUND)) is None


@pytest.mark.parametrize(("name", "groups", "servers", "share"), [
    ("s1-plan-a", 2, 1, 2 / 3), ("s1-plan-b", 3, 1, 1 / 3), ("s1-plan-c", 4, 1, 1 / 4),
    ("s1-plan-d", 2, 2, 1 / 2), ("s0-config-4.2", 1, 2, 1.0)])
def test_failed_servers_take_their_replicas(name, groups, servers, share):
    fleet = rated.fleet(name)
    assert (fleet.groups, fleet.servers) == (groups, servers)
    assert rated.lost(name) == pytest.approx(share)


# --- models and cards of today -----------------------------------------------------------------


@pytest.mark.parametrize("model", [generations.V3, generations.FLASH, generations.PRO])
@pytest.mark.parametrize("device", [generations.B200, generations.H200])
def test_served_users_fit_in_memory_and_within_the_limit(model, device):
    of = generations.served(model, device, generations.LONG)
    if of.tensor is None:
        assert of.rate == of.users == 0
        return
    assert of.users <= of.held[of.tensor]
    made = generations.asked(generations.plan(model, device, of.precision, of.tensor,
                                              generations.LONG, of.users))
    assert float(made["tpot"]) <= generations.LIMIT
    assert of.rate == pytest.approx(of.users / float(made["tpot"]))
    if card_hour(device):
        assert of.output == pytest.approx(generations.SERVER * card_hour(device).value / of.rate)


@pytest.mark.parametrize("name", [today.ONE_SERVER, today.HOST])
def test_ranked_models_hold_all_users_on_all_cards_of_the_plan(name):
    ranking, (asked, _) = plans.ranking(name), plans.demanded(name)
    document = plans.document(name)
    assert [each.pace for each in ranking] == sorted(each.pace for each in ranking)
    for each in ranking:
        best = each.best
        assert best.count * best.made.inputs["concurrency"] >= asked
        assert best.made.fits({}).all()
        assert each.pace == best.told.value
        assert best.count * best.made.cards == document.devices
    if ranking[0].ranged_cost is not None:
        prices = [each.ranged_cost.value for each in ranking]
        assert min(prices) == prices[0]
        assert prices[0] == pytest.approx(MILLION * document.devices * plans.hour_of(name).value
                                          * ranking[0].pace / asked, rel=0.05)
