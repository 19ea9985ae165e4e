"""What the chapter on the choice of a deployment says: of limits, of fronts, of bounds."""

from __future__ import annotations

import re

import numpy as np
import pytest

from calc.layouts.choice import scenario
from calc.searching.load_goal import load_goal
from calc.searching.result import Answer
from calc.searching.robust import keeps
from calc.searching.search import search
from notebooks.pages.deciding import bounds, goal_fronts, goals
from notebooks.show import display

SMALL = ("space.chunks=8192", "space.drafts=0,1", "space.spares=none", "space.micro_batches=1")
CARDS = ("devices=nvidia-h20,nvidia-h200-sxm", "precisions=fp8-block,w8a8-int8", "cards.most=16",
         "space.pools=one", *SMALL)


def answered(name, *settings):
    return Answer(search(load_goal(name, [*CARDS, *settings])))


@pytest.fixture(scope="module")
def users():
    """80 users with limits: no card has a price that counts, fewest cards first."""
    return answered("r1-80-users-h20")


@pytest.fixture(scope="module")
def money():
    return answered("million-tokens")


@pytest.fixture
def printed(monkeypatch):
    """What a page prints, English and Chinese, and the numbers that it glues."""
    texts, numbers = [], {}

    def keep(en, zh):
        texts.append((en, zh))

    for module in (display, goals, goal_fronts, bounds):
        monkeypatch.setattr(module, "show", keep)
    monkeypatch.setattr(display, "_glued", {})
    monkeypatch.setattr(display, "glue", lambda key, text, display: numbers.update({key: text}))
    return texts, numbers


def pages(*answers):
    return goals.Page(list(answers), answers[0])


class TestTheAnswer:
    def test_the_goals_of_the_book_are_those_that_it_was_asked(self):
        asked = [load_goal(name) for name in goals.GOALS]
        flash, ascend, h20, fast, server, cheap = asked
        assert (flash.model, flash.demand.users) == ("deepseek-v4-flash", 200)
        assert (flash.demand.input_tokens, flash.demand.prefix_hit_share) == (131_072, 0.9)
        for goal, maker in ((ascend, "ascend-910b"), (h20, "nvidia-h20")):
            assert (goal.demand.users, goal.limits.tpot, goal.limits.ttft) == (80, 0.05, 2)
            assert all(offer.device.startswith(maker) for offer in goal.devices)
            assert goal.objectives[0] == "cards"
        assert (fast.limits.throughput, fast.limits.tpot, fast.limits.ttft) == (50_000, None, None)
        assert fast.objectives[0] == "cards"
        assert (server.demand.users, server.cards.fewest, server.cards.most) == (64, 8, 8)
        assert cheap.objectives[0] == "cost"
        assert cheap.devices == fast.devices == []  # any

    def test_a_limit_is_kept_in_the_share_of_draws_that_lie_within_it(self, users):
        each = users.front[0][0]
        within = (each.quantities["tpot"] <= 0.05) & (each.quantities["ttft"] <= 2)
        assert keeps(users.result, each) == within.mean()
        assert users.keeps(each) < 1  # simulated, its limits are as many times the mean

    def test_a_goal_without_limits_has_no_such_share(self, money):
        assert money.keeps(money.front[0][0]) is None
        assert money.first_sure is money.surer is None

    def test_what_is_sure_keeps_its_limits_in_nine_of_ten_and_none_before_it_does(self, users):
        sure = users.first_sure
        told = [each for group in users.front for each in group]
        place = [each.row.choice for each in told].index(sure.row.choice)
        assert users.keeps(sure) >= 0.9
        assert all(users.keeps(each) < 0.9 for each in told[:place])
        assert users.surer is (sure if place else None)

    def test_the_published_weights_stand_beside_the_best(self, users, printed):
        goals.summary(pages(users))
        table = printed[0][1]
        assert "published weights" in table[0]
        assert "官方权重" in table[1]
        assert re.search(r"\d ms \(\d[\d.]*–[\d.]+\)", table[0])
        assert printed[1]["which-tried"] == f"{users.result.funnel.deployments:,}"

    @pytest.mark.one
    @pytest.mark.parametrize(("settings", "says"), [
        (("devices=ascend-910b2", "precisions=fp8-block,w8a8-int8", "cards.most=32",
          "limits.tpot=60ms"), "do not support it"),
        (("precisions=w8a8-int8",), "not asked for"),
        (("devices=nvidia-h20", "precisions=fp8-block,w4afp8", "cards.most=8"),
         "`fp8-block`: nothing meets the goal")])
    def test_without_published_weights_it_is_said_why(self, printed, settings, says):
        goals.summary(pages(answered("r1-80-users-h20", *settings)))
        assert says in printed[0][1][0]

    def test_a_goal_that_nothing_meets_has_its_nearest_miss(self, printed):
        late = answered("r1-80-users-h20", "limits.tpot=5ms")
        goals.summary(pages(late))
        assert "**nothing meets it**" in printed[0][1][0]
        value = late.nearest_miss.quantities["tpot"]
        assert f"{value / 0.005:.3g} times the 5 ms asked for" in printed[0][1][0]
        goal_fronts.picture(pages(late))
        assert "no front to draw" in printed[0][-1][0]

    def test_too_little_throughput_is_told_as_a_part(self):
        slow = answered("tokens-50000", "cards.most=8")
        row = slow.nearest_miss
        assert goals.miss(slow, row)[0].endswith(
            f"1/{50_000 / row.quantities['throughput']:.3g} of the 50,000 token/s asked for")

    def test_a_goal_of_the_readers_own_is_told_alone(self, tmp_path):
        path = tmp_path / "mine.yml"
        path.write_text("""
title: {en: Mine, zh: 我的}
model: deepseek-v3
devices: [nvidia-h200-sxm]
cards: {fewest: 8, most: 8}
precisions: [fp8-block]
demand: {input_tokens: 1024 token, output_tokens: 256 token, users: 4}
space: {chunks: [8192], drafts: [0]}
""", encoding="utf-8")
        page = goals.page_of(str(path))
        assert page.answers == [page.main]
        assert goals.goal_of(page.main).id == "mine"


class TestFronts:
    def test_a_line_is_what_none_of_its_device_beats(self, money):
        lines = goal_fronts.lines_of(money)
        assert {line.device for line in lines} == {"nvidia-h20", "nvidia-h200-sxm"}
        for line in lines:
            paces, rates = np.array(line.every).T
            assert (np.diff(paces) > 0).all()
            assert (np.diff(rates) > 0).all()
            assert 0 < len(line.marks) <= 7
            for mark in line.marks:
                assert (mark.pace, mark.rate) in line.every
                assert mark.binds in goal_fronts.SHAPES

    def test_the_cheapest_under_a_limit_keeps_it_and_none_on_the_front_is_cheaper(self, money):
        found = goal_fronts.cheapest(money)
        costs = [each.amounts["cost"].value for _, each in found]
        assert costs == sorted(costs, reverse=True)
        told = [each.amounts for each in goal_fronts._front_of(money, "nvidia-h200-sxm")]
        for pace, each in found:
            assert each.amounts["tpot"].value <= pace
            assert each.amounts["cost"].value == min(
                other["cost"].value for other in told if other["tpot"].value <= pace)

    def test_at_the_price_that_breaks_even_a_card_is_as_cheap(self, money, printed):
        goal_fronts.break_even(pages(money))
        rows = {row[2:].partition(" |")[0]: [cell.strip() for cell in row.strip("|").split("|")]
                for row in printed[0][0][0].splitlines() if row.startswith("| NVIDIA")}
        even = {name: float(cells[-1]) for name, cells in rows.items()}
        cost = float(rows["NVIDIA H200 SXM"][-2])
        assert float(rows["NVIDIA H200 SXM"][-3].split()[0]) == pytest.approx(
            even["NVIDIA H200 SXM"], rel=0.02)  # the only one with a price is the cheapest
        rates = {line.name[0]: max(rate for _, rate in line.every)
                 for line in goal_fronts.lines_of(money)}
        assert {name: float(cells[2].split()[0].replace(",", "")) for name, cells in rows.items()
                } == pytest.approx(rates, rel=1e-3)
        assert even["NVIDIA H20"] * 1e6 / 3600 / rates["NVIDIA H20"] == pytest.approx(cost, rel=0.1)

    @pytest.mark.parametrize("lang", ["en", "zh"])
    def test_the_picture_has_the_limit_and_a_name_per_kind(self, users, money, lang):
        for answer in (users, money):
            lines = goal_fronts.lines_of(answer)
            limit = answer.result.wishes.limits.get("tpot")
            drawing = goal_fronts._front(lines, limit, {0.1: "0.2"}, "USD", lang)
            axes, = drawing.axes
            assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
            words = [text.get_text() for text in axes.texts]
            assert any("limit" in word or "限制" in word for word in words) == (limit is not None)
            assert len([line for line in lines if line.name[lang == "zh"] in words]) == len(
                {line.kind for line in lines})


class TestBounds:
    def test_they_hold_at_deployments_of_a_search(self, users, money, printed):
        for answer in (users, money):
            bounds.checks(pages(answer))  # asserts
        assert len(printed[0]) == 2

    def test_a_bound_that_does_not_hold_is_found(self, users, printed, monkeypatch):
        def slower(inputs, attention):
            seen = dict(real(inputs, attention))
            return seen | {"decode_step_time": seen["decode_step_time"] * 3}

        real = bounds.evaluate
        monkeypatch.setattr(bounds, "evaluate", slower)
        with pytest.raises(AssertionError):
            bounds.checks(pages(users))

    def test_the_counts_of_the_funnel_add_up(self, users, printed):
        bounds.funnel(pages(users))
        lines = [line for line in printed[0][0][0].splitlines() if line.startswith("|")]
        rows = {row.split("|")[1].strip(): row.split("|")[2].strip(" *").replace(",", "")
                for row in lines[2:]}
        total = int(rows.pop("**deployments**, of which:"))
        counts = [int(number) for name, number in rows.items()
                  if name != "all quantities computed" and not name.startswith("layouts")]
        assert sum(counts) == total == users.result.funnel.deployments

    def test_by_hand_comes_to_the_front_of_the_search(self, printed):
        bounds.by_hand()  # asserts that they are equal
        assert int(printed[1]["which-hand-files"]) > 100

    @pytest.mark.slow
    def test_goals_that_nothing_meets(self, printed):
        bounds.misses()
        [table] = printed[0]
        assert "of memory short on a card" in table[0]
        assert "TTFT" in table[0]
        assert table[0].count("tokens in, ") == 3  # a goal is told with its lengths

    def test_in_place_of_plan_c_the_published_weights_run_with_room_to_spare(self, printed):
        bounds.plan_c()
        table = printed[0][0][0]
        assert [row.split("|")[1].strip().partition(",")[0] for row in table.splitlines()
                if row.startswith(("| best", "| nearest"))] == [
            "nearest change", "best in its precision", "best in any precision",
            "best in the published weights"]
        published = next(row for row in table.splitlines() if row.startswith("| best in the pub"))
        assert float(published.split("|")[3].removesuffix(" GB ")) > 10


def test_the_plan_of_a_row_names_what_its_file_says(users):
    row = users.best
    deployed = scenario(goals.goal_of(users), row.choice)
    text = goals.plan(row.choice)[0]
    assert f"`{deployed.precision.id}`" in text
    assert f"TP{deployed.file.parallelism.tensor_parallel.value}" in text
    assert goals.cards(row.choice)[1].startswith(f"{deployed.devices} × NVIDIA")


def test_dies_are_counted_with_the_cards_that_they_are_and_cards_alone():
    assert goals.so_many(16, "ascend-910c-die")[0] == "16 dies (8 cards)"
    assert goals.so_many(16, "ascend-910c-die", brief=True) == ("16 dies", "16 die")
    assert goals.so_many(8, "nvidia-h20") == ("8 cards", "8 卡")
    assert goals.so_many(8, "nvidia-h20", column=True) == ("8", "8")
