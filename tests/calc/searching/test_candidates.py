"""Numbers of requests that are tried, cells in pieces, and the best of each layout."""

import numpy as np
import pytest
from _middle import cells

from calc.searching.candidates import (
    NEAR,
    as_asked,
    batches,
    best_layouts,
    best_of_layouts,
    filled,
)
from catalogue.planning import Demand


def demand(**asked):
    return Demand.model_construct(input_tokens=3000, output_tokens=100, **asked)


@pytest.mark.parametrize(("most", "tried"), [
    (0, []), (1, [1]), (13, [*range(1, 14)]), (16, [*range(1, 14), 15, 16]),
    (32, [*range(1, 14), 15, 16, 17, 19, 21, 23, 25, 27, 29, 32])])
def test_batches_are_eight_in_each_doubling(most, tried):
    assert batches(most, None).tolist() == tried
    assert batches(most, [9, 2, 9]).tolist() == [2, 9]  # as the goal lists them


@pytest.mark.parametrize("slab", [100, 3])
def test_each_cell_is_tried_with_every_number_of_requests_that_it_holds(slab):
    """Three ranks of 2 hold 7 requests, so 3 of a rank and none of 9 are tried."""
    some = {"data": np.array([1, 2, 3]), "chunk": np.array([5, 7, 11])}
    parts = list(filled(some, np.array([3, 7, 2]), [1, 3, 9], slab))
    joined = {name: np.concatenate([part[name] for part in parts]).tolist() for name in parts[0]}
    assert (joined["concurrency"], joined["chunk"]) == ([1, 3, 2, 6], [5, 5, 7, 7])


RUNS = {"tensor": [2, 2, 2, 8, 8, 2], "data": [8, 8, 8, 2, 2, 8], "rate": [5., 7., 7., 7., 7., 1.],
        "pace": [1., 3., 2., 4., 4., 9.]}


def test_the_best_of_each_layout_by_one_objective_after_another():
    """One on other cards is another layout."""
    rows = cells(**RUNS)
    assert best_of_layouts(rows, {"rate": 1, "pace": -1}).tolist() == [2, 3]
    assert best_of_layouts(rows, {"pace": -1, "rate": 1}).tolist() == [0, 3]
    other = cells(**RUNS | {"rate": [2., 2., 2., 9., 2., 2.]}, devices=32)
    best = best_layouts([{}, rows, other], {"rate": 1, "pace": -1})
    assert best["rate"].tolist() == [9, 7, 7, 2]
    assert best["devices"].tolist() == [32, 16, 16, 32]
    many = cells(tensor=list(range(1, NEAR + 8)), rate=[float(n) for n in range(1, NEAR + 8)])
    assert best_layouts([many], {"rate": -1})["rate"].tolist() == [*range(1, NEAR + 1)]


def test_only_what_is_asked_is_served():
    """3 a second of 100 tokens; 60 who think 7 s ask every 12 s, those who do not, every 5 s."""
    seen = {"e2e": np.array([5.0, 8.0]), "throughput": np.array([9e3, 9e3])}
    for asked, served in ((demand(arrival_rate=3.0), [300, 300]),
                          (demand(users=60, think_time=7.0), [500, 400]),
                          (demand(users=60), [1200, 750]), (demand(), [9e3, 9e3])):
        assert as_asked(asked, seen)["throughput"].tolist() == pytest.approx(served)
