"""What becomes of each deployment that is tried; whole searches find what plain loops find
that use neither its space nor its judge."""

from types import SimpleNamespace as Made

import numpy as np
import pytest
from _middle import BASE, PLAIN, cells

from benchmarks.reference.brute import KINDS, agrees
from calc.layouts.choice import Row
from calc.layouts.space import AXES
from calc.many.fronts import Front
from calc.searching import search as module
from calc.searching.candidates import PACE
from calc.searching.goal import SHORT, Wishes
from calc.searching.left_out import Funnel
from calc.searching.load_goal import load_goal
from calc.searching.search import MISS, BaseResult, SearchResult, _Work
from catalogue.reading.values import LARGEST_COUNT

SEEN = ("ttft", "tpot", "e2e", "throughput")
LIMITED = ("limits.tpot=50 ms", "limits.ttft=1 s")


class Known:
    """Cells of which everything is known: columns named after it."""

    def spare(self, cells, longest=None):
        return cells["room"] - cells.get("concurrency", 0) * cells.get("each", 0)

    def decoding(self, cells):
        return {PACE: cells["pace"]}

    def holds(self, cells):
        return cells["most"]

    def prefilling(self, cells):
        return {}

    def served(self, cells, names=()):
        return {name: cells[name] for name in SEEN} | (
            {name: cells["rate of a request"] * cells["concurrency"] for name, in [names]}
            if names else {})

    def power(self, cells, first, throughput):
        return first.watts + throughput / 2

    def longest(self, cells, most):
        return np.full(len(cells["data"]), float(most))


def wishes(*settings, objectives=None):
    goal = load_goal("r1-80-users-h20", ["limits.tpot=null", "limits.ttft=null", *settings])
    return Wishes(goal, objectives or {"throughput": 1, "tpot": -1}, 1, {}, ())


def work(asked, slab=1, first=None):
    return _Work(asked, BASE, 3, Known(), first, slab, Funnel(), BaseResult.new(asked.objectives))


EIGHT = {  # in the order in which they are tried, each by itself
    "room": [-5., -3., 9., 9., 0., 9., 9., 9.], "kind": [0, 0, 1, 1, 1, 2, 2, 2],
    "pace": [.01, .01, .06, .04, .05, .045, .047, .049],
    "tpot": [.01, .01, .07, .045, .05, .048, .05, .05],
    "ttft": [.5, .5, .5, 1.5, 1., .5, .5, .5], "e2e": 5.,
    "throughput": [999., 999., 999., 999., 150., 170., 155., 155.], "chunk": [*range(1, 9)]}


def test_each_deployment_is_left_out_at_the_first_bound_that_it_breaks():
    """8 users of 101 tokens: at a pace of 49 ms they take 164.9 tokens a second at the very most,
    fewer than the 170 that one gives at 48 ms; at 47 ms it might have been 171.9."""
    some = work(wishes(*LIMITED, "demand.users=8", "demand.output_tokens=101 token"))
    some.run(cells(**EIGHT))
    assert dict(some.funnel.counts) == {
        "memory": 2, "pace": 1, "limits": 1, "beaten": 3, "objective": 1}
    assert some.funnel.computed == 4
    kept = some.kept
    assert (kept.front.rows["throughput"].tolist(), kept.front.rows["chunk"].tolist()) == (
        [170], [6])
    assert (kept.short.rows[SHORT].tolist(), kept.short.rows["chunk"].tolist()) == ([3], [2])
    assert kept.miss.rows[MISS] == pytest.approx([0.4])
    assert kept.miss.rows["over tpot"] == pytest.approx([0.4])
    assert kept.miss.rows["over ttft"] == pytest.approx([-0.5])
    assert kept.layouts["throughput"].tolist() == [170]
    assert kept.front.rows["base"].tolist() == [3]
    assert kept.front.rows["concurrency"].tolist() == [8]
    assert kept.front.rows["cards"].tolist() == [16]


def test_of_those_that_are_tried_together_the_same_are_kept():
    one, whole = (work(wishes(*LIMITED, "demand.users=8", "demand.output_tokens=101 token"), slab)
                  for slab in (1, 100))
    for each in (one, whole):
        each.run(cells(**EIGHT))
    assert whole.kept.front.rows["chunk"].tolist() == one.kept.front.rows["chunk"].tolist()
    assert whole.funnel.deployments == one.funnel.deployments == 8
    assert whole.kept.short.rows[SHORT].tolist() == [3]


def test_what_is_looked_at_first_leaves_out_more(monkeypatch):
    """The best of each layout by its bounds, and one of so many, are computed before the rest."""
    monkeypatch.setattr(module, "GROUP", 1)
    some = work(wishes("demand.users=8", "demand.output_tokens=101 token"), slab=100)
    some.run(cells(room=9., kind=0, pace=[.1, .05, .02, .06], tpot=[.1, .05, .02, .06], ttft=1.,
                   e2e=5., throughput=[80., 160., 400., 130.], chunk=[1, 2, 3, 4]))
    assert some.funnel.computed == 2  # the first, and the best of the layout
    assert some.funnel.counts["objective"] == 2
    assert some.kept.front.rows["chunk"].tolist() == [3]


def test_an_objective_without_a_bound_leaves_out_by_the_pace_alone():
    """A TTFT may be good however slow the steps are, so all that decode in time are computed."""
    asked = wishes(*LIMITED, "demand.users=8", "demand.output_tokens=101 token",
                   objectives={"ttft": -1})
    some = work(asked)
    some.run(cells(**EIGHT))
    assert dict(some.funnel.counts) == {"memory": 2, "pace": 1, "limits": 1, "beaten": 4}
    assert some.kept.front.rows["ttft"].tolist() == [0.5]
    free = work(wishes("demand.users=8", objectives={"ttft": -1}))
    free.run(cells(**EIGHT))
    assert dict(free.funnel.counts) == {"memory": 2, "limits": 0, "beaten": 6}
    assert free.funnel.computed == 6


def test_a_bound_farther_over_a_limit_than_the_nearest_miss_is_not_computed():
    """As far over as the nearest miss is may still be as near."""
    some = work(wishes(*LIMITED))
    bounds = {"devices": np.full(4, 16), "tpot": np.array([.05, .06, .0601, .04]),
              "ttft": np.zeros(4), "throughput": np.array([10., 9., 30., 8.])}
    assert some._may_be_kept(bounds).tolist() == [True] * 4
    some.kept.miss.add({MISS: np.array([0.2 + 1e-12])})
    assert some._may_be_kept(bounds).tolist() == [True, True, False, True]
    assert (some.funnel.counts["pace"], some.funnel.counts["objective"]) == (1, 0)
    some.kept.front.add({"throughput": np.array([9.5]), "tpot": np.array([.03])})
    assert some._may_be_kept(bounds).tolist() == [True, False, False, False]
    assert (some.funnel.counts["pace"], some.funnel.counts["objective"]) == (2, 2)


THREE = {"room": [100., 100., 7.], "each": [0., 0., 20.], "most": [4, 2, 0], "kind": [0, 0, 1],
         "rate of a request": 4., "data": 1, "devices": 8, "ttft": 1., "tpot": .05,
         "e2e": [10., 10., 10.], "throughput": 999., "pace": .05, "chunk": [1, 2, 3]}


@pytest.mark.parametrize(("asked", "served"), [
    (("demand.users=12", "demand.think_time=20 s"), 12 / 30 * 1024),
    (("demand.users=null", "demand.arrival_rate=12 request/s"), 12 * 1024)])
def test_the_fewest_requests_in_flight_that_serve_what_is_asked(asked, served):
    """4 a request: twelve are reached by three in flight exactly, by two never."""
    some = work(wishes(*asked, "space.batches=1,2,3,4"), slab=100)
    some.run(cells(**THREE))
    assert dict(some.funnel.counts) == {
        "memory": 1, "saturated": 1, "limits": 0, "beaten": 1}
    rows = some.kept.front.rows
    assert (rows["concurrency"].tolist(), rows["chunk"].tolist()) == ([3], [1])
    assert rows["throughput"] == pytest.approx([served])
    assert some.kept.short.rows[SHORT].tolist() == [13]  # of one request on each rank
    assert some.kept.short.rows["concurrency"].tolist() == [1]


def test_as_many_requests_as_are_held_are_tried_where_nobody_asks():
    some = work(wishes("demand.users=null", "space.batches=1,2,3,4",
                       objectives={"tpot": -1, "ttft": -1}), slab=100)
    some.run(cells(**THREE))
    assert some.funnel.computed == 6  # 4 of one cell and 2 of the other
    assert some.funnel.counts["memory"] == 1


def test_power_and_the_longest_context_are_asked_only_where_they_count():
    part = cells(concurrency=[4], kind=[0])
    seen = {name: np.array([100.0]) for name in SEEN}
    first = Made(watts=900.0, model=Made(max_position_embeddings=None))
    plain = work(wishes(), first=first)._derived(part, seen)
    assert not {"power", "longest_context"} & plain.keys()
    fed = work(wishes("limits.power=9 kW"), first=first)._derived(part, seen)
    assert (fed["power"].tolist(), fed["energy"].tolist()) == ([950], [9.5])
    for made_for, most in ((None, LARGEST_COUNT), (Made(value=4096), 4096)):
        first.model = Made(max_position_embeddings=made_for)
        found = work(wishes(objectives={"longest_context": 1}), first=first)._derived(part, seen)
        assert found["longest_context"].tolist() == [most]


def result(asked, **more):
    return SearchResult(asked, [BASE], [], Front(asked.objectives), Funnel(), None, **more)


def test_a_row_has_what_is_finite_of_it_and_tells_which_limits_it_is_over():
    found = result(wishes(*LIMITED))
    table = cells(base=0, concurrency=[7, 9], tpot=[.05, .06], cost=[np.inf, 3.], ttft=[1., 2.],
                  chunk=[1, 2], **{"over tpot": [0., .2], "over ttft": [0., 1.], "short": [5., 6.]})
    assert found.row(table, 0).over == {}
    row = found.row(table, 1)
    assert (row.over, row.choice.chunk, row.choice.concurrency) == (
        {"tpot": .2, "ttft": 1.0}, 2, 9)
    assert row.quantities == {"tpot": .06, "cost": 3, "ttft": 2, "short": 6}
    assert "cost" not in found.row(table, 0).quantities
    kept = Front({"tpot": -1}).add(table)
    assert [row.choice.chunk for row in found.rows(kept)] == [1]
    every = Front({"tpot": -1, "chunk": 1}).add(table)
    assert [row.choice.chunk for row in found.rows(every, 1)] == [1]
    assert len(found.rows(every)) == 2
    assert found.rows(Front({"tpot": -1})) == []


def test_a_deployment_is_computed_again_by_its_settings(monkeypatch):
    """None where the space has none such, where it does not fit, and where it keeps no limit."""
    table = cells(chunk=[1024, 8192, 8192], drafts=[0, 0, 1], room=[9., 5000., 5000.], each=4.,
                  tpot=[.01, .02, .03], ttft=.1, e2e=3., throughput=8., kind=0)
    monkeypatch.setattr(module, "candidate_cells", lambda *_: (Known(), None, dict(table)))
    found = result(wishes(*LIMITED, "demand.users=1024"))
    row = found.again(PLAIN)
    assert isinstance(row, Row)
    assert (row.choice, row.quantities["tpot"]) == (PLAIN, .02)
    from dataclasses import replace
    assert found.again(replace(PLAIN, drafts=1)).quantities["tpot"] == .03
    assert found.again(replace(PLAIN, chunk=1024)) is None  # 9 B for 1024 requests of 4
    assert found.again(replace(PLAIN, chunk=512)) is None
    assert found.again(replace(PLAIN, precision="bf16")) is None
    assert found.again(replace(PLAIN, concurrency=1250)) is not None
    assert found.again(replace(PLAIN, concurrency=1251)) is None
    tight = result(wishes("limits.tpot=10 ms", "demand.users=1024"))
    assert tight.again(PLAIN) is None
    monkeypatch.setattr(module, "candidate_cells", lambda *_: None)
    assert found.again(PLAIN) is None
    assert set(AXES) <= table.keys()


def test_what_is_kept_of_two_shares_is_what_is_kept_of_both():
    asked = wishes(*LIMITED, "demand.users=8", "demand.output_tokens=101 token")
    parts = [work(asked, 100) for _ in range(3)]
    table = cells(**EIGHT)
    halves = [{name: column[rows] for name, column in table.items()}
              for rows in (slice(0, 5), slice(5, 8))]
    for part, given in zip(parts, (table, *halves), strict=True):
        part.run(given)
    whole, first, then = (part.kept for part in parts)
    first.merge(then)
    for name in ("front", "miss", "short"):
        ours, both = getattr(first, name).rows, getattr(whole, name).rows
        assert {key: column.tolist() for key, column in ours.items()} == {
            key: column.tolist() for key, column in both.items()}, name
    assert first.layouts["chunk"].tolist() == whole.layouts["chunk"].tolist()


SEEDS = (1, 4, 6, 10, 15, 19, 23)


@pytest.mark.one
@pytest.mark.parametrize("seed", SEEDS)
def test_front_and_counts_are_those_of_plain_loops(seed):
    found = agrees(seed)
    assert found.same
    assert found.tried
    assert found.front


def test_goals_of_every_kind_are_among_them():
    assert {KINDS[seed % len(KINDS)] for seed in SEEDS} == set(KINDS)
