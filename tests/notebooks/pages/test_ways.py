"""Ways in: numbers to know are the chapters', purchases keep the limit and grow with users."""

from __future__ import annotations

import pytest

import catalogue
from notebooks.pages.deciding.front import r1, standard, under_engines
from notebooks.pages.ways import buy, numbers, run
from notebooks.show.numbers import fmt_time


def test_numbers_to_know(cell):
    numbers.answer()
    shown = {key: float(text.split()[0].rstrip("%").replace(",", ""))
             for key, text in cell.numbers.items() if text[0].isdigit()}
    assert shown["nu-r1-token"] == pytest.approx(70272, rel=0.01)
    assert shown["nu-reduces"] == 123
    assert shown["nu-exchanges"] == 116
    assert [round(shown[f"nu-{card}-ridge"]) for card in ("h20", "910b2")] == [37, 221]
    for key in numbers.MODELS:
        assert shown[f"nu-{key}-read-1"] < shown[f"nu-{key}-read-64"] < shown[f"nu-{key}-weights"]


@pytest.fixture(scope="module")
def bought():
    return buy.bought((r1.OWNED,))


def test_purchases_keep_the_limit_on_whole_servers_and_grow_with_users(bought):
    node = catalogue.load_node(catalogue.load_device(r1.OWNED).node)
    cards = [each.best.row.devices for each in bought]
    assert cards == sorted(cards)
    assert all(count % int(node.devices_per_node.value) == 0 for count in cards)
    assert all(each.tpot.high <= each.limit for each in bought)


def test_standard_question_has_one_answer_and_one_cost(bought):
    each = next(each for each in bought if each.users == standard.question().users)
    served = standard.serve(standard.R1, r1.OWNED)
    assert each.best.row.choice == served.choice
    _, _, cost, _ = served.priced()
    assert each.million().points == pytest.approx(cost.amounts[r1.WHOLE].points)


def test_plans_to_run_have_the_times_of_their_engine(cell):
    under = {(each.served.device, each.engine): each for each in under_engines.runs()}
    run.answer()
    for key, (device, _) in run.PLANS.items():
        each = under[device, cell.numbers[f"ru-{key}-release"]]
        assert cell.numbers[f"ru-{key}-tpot"] == fmt_time(each.points("steady_tpot")[0])
        assert cell.numbers[f"ru-{key}-ttft"] == fmt_time(each.points("steady_ttft")[0])


@pytest.mark.parametrize("key", run.PLANS)
def test_launch_scripts_have_the_layout_that_was_found(key):
    served, _, directory = run.plan(key)
    script = directory.files[run.SCRIPT]
    assert f"--tensor-parallel-size {served.choice.tensor}\n" in script
    assert f"--data-parallel-size {served.choice.data}\n" in script or served.choice.data == 1
