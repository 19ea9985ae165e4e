"""Rows that all others are held against first, and pieces of any size: a front is exact with both.
"""

import numpy as np
import pytest

from calc.many import fronts
from calc.many.fronts import Best, Front, front

# two costs each: the first row beats five others, the second four of which three are the same
COSTS = np.array([[1., 2.], [2., 1.], [3., 3.], [4., 4.], [5., 5.], [1.5, 9.], [1.5, 8.],
                  [9., 1.5], [0., 20.], [20., 0.]]).T


def test_the_strongest_are_those_that_beat_most_of_what_the_others_leave():
    """A row that beats nothing but itself is none of them."""
    strong = fronts._strongest(COSTS)
    assert strong.T.tolist() == [[1, 2], [2, 1]]
    once = fronts._strongest(np.array([[1., 1.], [2., 2.], [0., 9.]]).T)
    assert once.T.tolist() == [[1, 1]]
    assert fronts._strongest(np.array([[1., 2.], [2., 1.]]).T).shape == (2, 0)


def test_no_more_than_so_many_strong_ones_are_looked_for_among_a_sample(monkeypatch):
    monkeypatch.setattr(fronts, "STRONGEST", 1)
    assert fronts._strongest(COSTS).T.tolist() == [[1, 2]]
    monkeypatch.setattr(fronts, "STRONGEST", 9)
    monkeypatch.setattr(fronts, "SAMPLE", 5)  # every second row
    assert fronts._strongest(COSTS).T.tolist() == [[1, 2]]
    monkeypatch.setattr(fronts, "SAMPLE", 9)  # likewise, as ten are more than nine
    assert fronts._strongest(COSTS).T.tolist() == [[1, 2]]
    assert fronts._strongest(COSTS[:, 1:]).T.tolist() == [[2, 1], [1.5, 8]]


@pytest.mark.parametrize("piece", [1, 3, 100])
def test_what_none_of_a_few_beats_is_left_and_so_is_what_equals_one(piece, monkeypatch):
    monkeypatch.setattr(fronts, "PIECE", piece)
    strong = np.array([[1., 2.], [2., 1.]]).T
    assert fronts._unbeaten(COSTS, strong).tolist() == [0, 1, 8, 9]
    assert fronts._unbeaten(COSTS[:, :0], strong).tolist() == []
    assert fronts._unbeaten(COSTS, COSTS[:, :0]).tolist() == [*range(10)]
    assert fronts._unbeaten(COSTS, np.array([[1.], [9.]])).tolist() == [
        0, 1, 2, 3, 4, 6, 7, 8, 9]


def by_hand(costs):
    """Places of the rows of which no other is no worse in all and better in one."""
    return [place for place, row in enumerate(costs) if not any(
        (other <= row).all() and (other < row).any() for other in costs)]


@pytest.mark.parametrize("block", [1, 2, 7])
@pytest.mark.parametrize("seed", range(6))
def test_a_front_is_that_of_all_rows_in_pieces_of_any_size(seed, block, monkeypatch):
    for name, size in (("BLOCK", block), ("SAMPLE", 3 * block), ("PIECE", 2 * block),
                       ("STRONGEST", 1 + seed % 3)):
        monkeypatch.setattr(fronts, name, size)
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 5 + 20 * (seed % 2), (60, 2 + seed % 3)).astype(float)
    if seed == 5:
        costs[:, 1] = -costs[:, 0]  # nothing beats anything
    names = [f"cost {number}" for number in range(costs.shape[1])]
    columns = dict(zip(names, costs.T, strict=True))
    signs = dict.fromkeys(names, -1)
    expected = by_hand(costs)
    assert front(columns, signs).tolist() == expected
    kept = Front(signs)
    for start in range(0, 60, 13):
        kept.add({name: column[start:start + 13] for name, column in columns.items()} | {
            "place": np.arange(start, min(60, start + 13))})
    assert sorted(kept.rows["place"].tolist()) == expected
    assert kept.beats(columns).tolist() == [place not in expected for place in range(60)]
    assert kept.count == 60


def test_a_sign_turns_what_is_better_and_the_best_in_the_first_objective_is_first():
    rows = {"rate": np.array([5., 9., 7.]), "tpot": np.array([1., 3., 2.]),
            "name": np.array(["a", "b", "long"])}
    assert Front({"rate": 1, "tpot": -1}).add(rows).rows["rate"].tolist() == [9, 7, 5]
    assert Front({"tpot": -1, "rate": 1}).add(rows).rows["tpot"].tolist() == [1, 2, 3]
    few = Front({"rate": -1}).add(rows)
    assert (few.rows["name"].tolist(), few.rows["name"].dtype.str[-2:]) == (["a"], "U1")
    assert Best("rate", 2, 1).add(rows).rows["name"].tolist() == ["b", "long"]
    assert Best("rate", 2).add(rows).rows["rate"].tolist() == [5, 7]
    two = Front({"rate": 1}).merge(Front({"rate": 1}).add(rows))
    assert (two.rows["rate"].tolist(), two.count) == ([9], 3)
    assert two.merge(Front({"rate": 1})).rows["rate"].tolist() == [9]
    with pytest.raises(ValueError, match="different objectives"):
        two.merge(Front({"rate": 1}, ties=False))


def test_of_the_best_that_are_kept_one_as_good_may_take_the_place_of_the_last():
    """Of equal ones those whose other columns are least stay, whatever came first."""
    kept = Best("tpot", 2).add({"tpot": np.array([1., 2., 3.]), "n": np.array([5, 9, 0])})
    kept.add({"tpot": np.array([2., 2.5]), "n": np.array([4, 0])})
    assert (kept.rows["tpot"].tolist(), kept.rows["n"].tolist()) == ([1, 2], [5, 4])
    kept.add({"tpot": np.array([2., 2., 2., 9.]), "n": np.array([3, 2, 7, 1])})
    assert kept.rows["n"].tolist() == [5, 2]
    assert kept.count == 9
    for other in (Best("ttft", 2), Best("tpot", 1), Best("tpot", 2, 1)):
        with pytest.raises(ValueError, match="different quantities"):
            kept.merge(other)
