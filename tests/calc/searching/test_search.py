"""A search equals exhaustive enumeration of what its goal allows."""

import os
import random
from unittest import mock

import numpy as np
import pytest

from benchmarks.reference.brute import agrees
from calc.layouts.layout import scenario
from calc.layouts.space import AXES, Space
from calc.many.fronts import front
from calc.searching import search as module
from calc.searching.candidates import CandidateCells, as_asked
from calc.searching.goal import load_goal, wishes
from calc.searching.search import search
from calc.serving.evaluate import evaluate

SMALL = ("space.chunks=2048,8192", "space.drafts=0,1", "space.spares=none,per-rank")
DEVICES = ("nvidia-h20", "nvidia-h200-sxm", "ascend-910b2", "nvidia-b200", "ascend-910c-die")


def random_goal(seed):
    """A small goal of one or two devices, with or without limits, users, objectives."""
    draw = random.Random(seed)
    devices = draw.sample(DEVICES, draw.choice((1, 1, 2)))
    most = draw.choice((8, 16, 32))
    settings = [*SMALL, f"devices={','.join(devices)}", "cards.fewest=1", f"cards.most={most}",
                f"precisions={draw.choice(('w8a8-int8', 'fp8-block,w8a8-int8', 'w4a16-awq'))}",
                f"demand.input_tokens={draw.choice((256, 2048, 8192))}",
                f"demand.output_tokens={draw.choice((1, 64, 1024))}",
                "space.memory_utilization=0.9"]
    users, batches = draw.choice((1, 7, 64)), "space.batches=1,2,4,8,32"
    settings += draw.choice((
        [f"demand.users={users}"], [f"demand.users={users}"],
        ["demand.users=null", "space.batches=1,3,16,40"],
        ["demand.users=null", "demand.arrival_rate=0.3 request/s", batches],
        [f"demand.users={users}", "demand.think_time=10s", batches]))
    settings += [f"limits.tpot={draw.choice((20, 50, 100))}ms"] * (draw.random() < 0.6)
    settings += [f"limits.ttft={draw.choice((1, 5))}s"] * (draw.random() < 0.4)
    settings.append("objectives=" + ",".join(draw.sample(
        ("throughput_per_card", "tpot", "ttft", "cards", "throughput"), draw.choice((1, 2, 3)))))
    settings += ["space.tensor=1,4,8"] * (seed % 2)
    settings += ["space.expert_slices=1,2,8"] * (seed % 5 == 0)
    return load_goal("r1-64-users-8xh20", settings)


def exhaustive_front(goal):
    """Every deployment with every number of requests, computed completely without any bound."""
    space = Space(goal)
    asked, demand = wishes(space), goal.demand
    names, rows = list(asked.objectives), []
    alone = demand.users is not None and not demand.think_time
    wanted = None if alone else demand.arrival_rate or demand.users
    reached = "steady_users" if demand.arrival_rate is None else "steady_request_throughput"
    batches = np.array([demand.users] if alone else goal.space.batches)
    for base in space.bases():
        for cells in space.cells(base):
            first = space.first(base, cells)
            tried = CandidateCells(first.inputs(), first.model.attention, demand)
            every = {name: np.repeat(cells[name], len(batches)) for name in AXES}
            every["concurrency"] = np.tile(batches, len(cells["data"])) * (
                1 if alone else every["data"])
            seen = tried.served(every, (reached,))
            keep = tried.spare(every) >= 0
            if wanted is not None:  # the fewest requests that serve the load
                enough = (keep & (seen[reached] >= wanted)).reshape(-1, len(batches))
                keep = (enough & (np.cumsum(enough, axis=1) == 1)).reshape(-1)
                seen = as_asked(demand, seen)
            columns = asked.with_derived({**every, **seen}, base.device)
            for excess in asked.excess(columns).values():
                keep &= excess <= 0
            rows.append(np.stack([columns[name][keep] for name in names]))
    every = np.concatenate(rows, axis=1) if rows else np.empty((len(names), 0))
    best = front(dict(zip(names, every, strict=True)), asked.objectives) if every.size else []
    return {tuple(every[:, place].tolist()) for place in best}


@pytest.mark.parametrize("seed", range(50 if "EXPLORE" in os.environ else 12))
def test_the_front_is_that_of_exhaustive_enumeration(seed):
    goal = random_goal(seed)
    result = search(goal)
    columns = result.front.rows
    ours = (set(zip(*(columns[name].tolist() for name in result.wishes.objectives), strict=True))
            if columns else set())
    assert ours == exhaustive_front(goal)


@pytest.mark.parametrize("seed", [4, 10, 19])
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
