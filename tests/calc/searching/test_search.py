"""A search equals plain loops over what its goal allows, without bounds."""

from unittest import mock

import numpy as np
import pytest

from benchmarks.reference.brute import agrees
from calc.layouts.layout import scenario
from calc.layouts.space import Space
from calc.searching import search as module
from calc.searching.candidates import CandidateCells
from calc.searching.goal import load_goal, wishes
from calc.searching.search import search
from calc.serving.evaluate import evaluate

SMALL = ("space.chunks=2048,8192", "space.drafts=0,1", "space.spares=none,per-rank")


@pytest.mark.parametrize("seed", [4, 8, 10, 11, 13, 19])
def test_front_and_counts_are_those_of_plain_loops(seed):
    """Users at once, a rate of arrivals, and two pools; neither space nor judge are used."""
    result = agrees(seed)
    assert result.same
    assert result.tried
    assert result.front


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(60))
def test_fronts_of_random_goals_match_plain_loops(seed):
    assert agrees(seed).same


FEW = ("devices=nvidia-h20,ascend-910b2", "cards.most=16", "cards.fewest=1", "space.pools=one",
       "precisions=w8a8-int8,w4a16-awq", *SMALL)


def test_the_result_depends_on_neither_chunks_nor_processes():
    goal = load_goal("r1-64-users-8xh20", FEW)
    with mock.patch.object(module, "WORTH_IT", 0):
        first, *others = (search(goal, workers=workers, slab=slab) for workers, slab in (
            (1, 1 << 18), (2, 777)))
    for other in others:
        assert other.funnel == first.funnel
        for name, column in first.front.rows.items():
            assert (column == other.front.rows[name]).all(), name


def test_the_most_that_a_layout_holds_fits_and_one_more_of_each_rank_does_not():
    goal = load_goal("r1-80-users-910b", ["devices=nvidia-h20", "cards.most=16", *SMALL])
    space = Space(goal)
    base = space.bases()[0]
    for cells in space.cells(base)[::3]:
        first = space.first(base, cells)
        tried = CandidateCells(first.inputs(), first.model.attention, goal.demand)
        most = tried.holds(cells)
        some = np.flatnonzero(most > 0)
        at = {name: column[some] for name, column in cells.items()} | {"concurrency": most[some]}
        assert not len(some) or (tried.spare(at) >= 0).all()
        assert (tried.spare(cells | {"concurrency": most + cells["data"]}) < 0).all()


def test_the_longest_context_fits_and_one_token_more_does_not(answer_of):
    result = answer_of("r1-longest-context-8x910b4", "precisions=w4a8-int8").result
    row = result.rows(result.front, 1)[0]
    deployed, longest = scenario(result.wishes.goal, row.choice), row.quantities["longest_context"]
    for tokens, fits in ((longest, True), (longest + 1, False)):
        room = evaluate(deployed.inputs() | {"context_tokens": tokens}, deployed.model.attention)
        assert (float(room["headroom_per_device"]) >= 0) is fits


def test_a_power_or_a_rent_limits_the_cards(answer_of):
    given = ("cards.most=null", "devices=nvidia-h200-sxm", "precisions=fp8-block")
    result = answer_of("million-tokens", *given, "limits.power=30 kW", "space.batches=64").result
    rows, (base, *_) = result.rows(result.front), result.space.bases()
    assert rows
    for row in rows:
        assert row.quantities["power"] <= 30e3
        assert row.quantities["energy"] == pytest.approx(
            row.quantities["power"] / row.quantities["throughput"])
        assert row.choice.devices <= result.space.most(base)
    rented = Space(load_goal("million-tokens", [*given, "limits.rent=60 USD/h"]))
    hour = wishes(rented).hours["nvidia-h200-sxm"].per("USD/h")[0]
    assert rented.most(base) == int(60 // hour)
