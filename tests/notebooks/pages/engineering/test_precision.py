"""The chapter on precision: fewest servers, break-evens where both sides are equal, whole parts."""

from __future__ import annotations

import numpy as np
import pytest

from calc.sensitivity.breakeven import breakeven
from calc.sensitivity.paths import path_of
from notebooks.pages.engineering import layouts
from notebooks.pages.engineering import precision as page
from notebooks.show import display

B2, H20, H200 = "ascend-910b2", "nvidia-h20", "nvidia-h200-sxm"


@pytest.mark.parametrize("users", page.USERS)
@pytest.mark.parametrize("device", page.CARDS)
def test_no_fewer_servers_keep_the_promise(device, users):
    for weights in page.WEIGHTS:
        found = page.fewest_servers(device, weights, users)
        if found is None or not found.within_limit:
            continue
        for servers in range(page.FEWEST, found.plan.cards // 8):
            for stages in {1, servers}:
                fewer = layouts.plan(device, weights, servers, page.MAIN, pipeline=stages)
                assert (not layouts.holds(fewer, users)
                        or fewer.median(users, layouts.PACE) > layouts.LIMIT)


def test_replicas_keep_a_promise_that_one_pipeline_breaks():
    """Four servers of 910B2 in W4A8, 128 users: a quarter of them on each."""
    found = page.fewest_servers(B2, page.W4A8, 128)
    assert found.within_limit
    assert found.plan.inputs["data_parallel"] == found.plan.cards / 8
    piped = layouts.plan(B2, page.W4A8, found.plan.cards // 8, page.MAIN)
    assert piped.median(128, layouts.PACE) > layouts.LIMIT


@pytest.mark.parametrize("device", page.CARDS)
def test_more_weights_to_choose_from_never_take_more_cards(device):
    for users in page.USERS:
        wide, any_of = (page.best(device, users, weights) for weights in (page.WIDE, page.WEIGHTS))
        assert any_of.within_limit or not wide.within_limit
        if wide.within_limit:
            assert any_of.plan.cards <= wide.plan.cards


def test_of_equals_the_published_weights_are_taken():
    published, other = (page.fewest_servers(H200, name, page.MAIN)
                        for name in (page.FP8, page.INT8))
    assert max(other.pace, published.pace) <= min(other.pace, published.pace) * (1 + page.EQUAL)
    assert page.best(H200, page.MAIN, page.WIDE).plan.label == page.FP8
    assert page.best(H200, page.MAIN, (page.INT8, page.FP8)).plan.label == page.INT8


def test_an_ascend_910b_has_no_fp8_and_an_nvidia_card_no_w4a8():
    assert page.fewest_servers(B2, page.FP8, 1) is None
    assert page.fewest_servers(H20, page.W4A8, 1) is None


def test_widening_costs_nothing_more_where_it_breaks_even():
    wide, narrow = (layouts.plan(B2, name, 2, page.MAIN) for name in (page.INT8, page.AWQ))
    path = path_of(narrow, page.TRAFFIC, page.TRAFFICS)
    even = breakeven(narrow, wide, path, layouts.PACE).turns
    assert len(even) == 1
    users = float(page.MAIN)
    below, equal, above = narrow.at({page.TRAFFIC: even[0].at * np.array([0.5, 1.0, 2.0]),
                                     "concurrency": users}, layouts.PACE)
    assert below < equal < above
    assert equal == pytest.approx(layouts.at(wide, users, layouts.PACE), rel=1e-6)


def test_every_section_is_told_in_both_languages(monkeypatch):
    told = []
    monkeypatch.setattr(display, "show", lambda en, zh: told.append((en, zh)))
    for section in (page.decision, page.turns, page.parts, page.problems):
        section()
    assert len(told) == 5
    for en, zh in told:
        assert en.count("\n") == zh.count("\n")
        assert en != zh
