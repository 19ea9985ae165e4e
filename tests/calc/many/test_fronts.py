"""Fronts and best rows equal brute force, whatever the chunks and their order."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calc.many.fronts import BLOCK, SAMPLE, Best, Front, front

NAMES = "tpot", "rate", "cost"
SIGNS = {"tpot": -1, "rate": +1, "cost": -1}
VALUES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf])
ENDS = st.lists(st.integers(0, 24), max_size=4)


def for_all(*strategies):
    """Test 40 examples of some strategies."""
    return lambda test: settings(max_examples=40)(given(*strategies)(test))


def brute_force(columns, signs):
    """Places of the rows of which no other is no worse in all objectives and better in one."""
    costs = np.stack([columns[name] * -float(sign) for name, sign in signs.items()], axis=1)
    return [place for place, row in enumerate(costs) if not (
        (costs <= row).all(axis=1) & (costs < row).any(axis=1)).any()]


@st.composite
def tables(draw, objectives=None):
    """Few values, so that ties are the rule; a label that distinguishes some rows."""
    count = draw(st.integers(0, 24))

    def column(values, kind):
        return np.array(draw(st.lists(values, min_size=count, max_size=count)), dtype=kind)

    names = NAMES[:objectives or draw(st.integers(1, 3))]
    labels = st.sampled_from(["", "a", "bb", "a longer one"])
    return {name: column(VALUES, float) for name in names} | {"label": column(labels, str)}


def signs_of(columns):
    return {name: SIGNS[name] for name in NAMES if name in columns}


def cut(columns, ends):
    """The rows in pieces that end there."""
    count = len(columns["tpot"])
    edges = [0, *sorted(end % (count + 1) for end in ends), count]
    return [{name: column[low:high] for name, column in columns.items()}
            for low, high in pairwise(edges)]


def stored(result):
    """Names, types and bytes of all columns."""
    return [(name, column.dtype.str, column.tobytes()) for name, column in result.rows.items()]


def random_rows(rng, count, kind):
    shared = rng.random(count)
    rows = {"independent": rng.random((3, count)),
            "tied": rng.integers(0, 6, (3, count)).astype(float),
            "opposed": np.stack([shared, shared, shared + 1e-3 * rng.random(count)]),
            "equal": np.ones((3, count))}[kind]
    return dict(zip(NAMES, rows, strict=True))


class TestFront:
    @for_all(tables())
    def test_equals_brute_force(self, columns):
        signs = signs_of(columns)
        assert front(columns, signs).tolist() == brute_force(columns, signs)

    @pytest.mark.parametrize(("kind", "count"), [
        ("independent", 1), ("independent", SAMPLE + 500), ("tied", BLOCK + 1),
        ("opposed", SAMPLE + 1), ("equal", BLOCK + 1)])
    def test_equals_brute_force_beyond_a_block_and_a_sample(self, kind, count):
        columns = random_rows(np.random.default_rng(count), count, kind)
        expected = brute_force(columns, SIGNS)
        assert front(columns, SIGNS).tolist() == expected
        columns["place"] = np.arange(count)
        result = Front(SIGNS).add(columns)
        assert sorted(result.rows["place"].tolist()) == expected
        assert np.flatnonzero(~result.beats(columns)).tolist() == expected

    @for_all(tables(), ENDS, st.randoms(), st.booleans())
    def test_same_bytes_for_all_chunks_in_any_order(self, columns, ends, random, ties):
        signs = signs_of(columns)
        at_once = Front(signs, ties).add(columns)
        pieces = cut(columns, ends)
        random.shuffle(pieces)
        one_by_one = reduce(Front.add, pieces, Front(signs, ties))
        merged = [Front(signs, ties).add(piece) for piece in pieces]
        while len(merged) > 1:  # a tree of any shape
            random.shuffle(merged)
            merged[:2] = [merged[0].merge(merged[1])]
        assert stored(at_once) == stored(one_by_one) == stored(merged[0])

    @for_all(tables())
    def test_duplicate_rows_are_one(self, columns):
        signs = signs_of(columns)
        once, twice = Front(signs).add(columns), Front(signs).add(columns).add(columns)
        assert stored(once) == stored(twice) == stored(once.merge(twice))

    @for_all(tables())
    def test_without_ties_the_least_label_of_equal_rows_stays(self, columns):
        signs = signs_of(columns)
        every, one = Front(signs).add(columns).rows, Front(signs, ties=False).add(columns).rows
        points = list(zip(*(every.get(name, ()) for name in signs), strict=True))
        assert list(zip(*(one.get(name, ()) for name in signs), strict=True)) == list(
            dict.fromkeys(points))
        for row, label in enumerate(one.get("label", ())):
            point = tuple(one[name][row] for name in signs)
            assert label == min(every["label"][j] for j, at in enumerate(points) if at == point)

    def test_rows_are_sorted_by_the_first_objective(self):
        rows = {"rate": np.array([5., 9., 7.]), "tpot": np.array([1., 3., 2.])}
        assert Front({"rate": 1, "tpot": -1}).add(rows).rows["rate"].tolist() == [9, 7, 5]
        assert Front({"tpot": -1, "rate": 1}).add(rows).rows["tpot"].tolist() == [1, 2, 3]

    @pytest.mark.parametrize(("columns", "signs", "message"), [
        ({"tpot": [np.nan, 1.0]}, {"tpot": -1}, "'tpot' of row 0 is not a number"),
        ({"tpot": [1.0]}, {"rate": 1}, "there is no column 'rate'"),
        ({"tpot": [1.0]}, {"tpot": 0}, "the sign of 'tpot' is 0"),
        ({"tpot": [1.0]}, {}, "needs an objective")])
    def test_rows_that_cannot_be_compared(self, columns, signs, message):
        with pytest.raises(ValueError, match=message):
            Front(signs).add({name: np.array(column) for name, column in columns.items()})

    def test_rows_of_another_table(self):
        result = Front({"tpot": -1}).add({"tpot": np.ones(1)})
        with pytest.raises(ValueError, match="'cost' is a column of some rows only"):
            result.add({"tpot": np.ones(1), "rate": np.ones(1), "cost": np.ones(1)})
        with pytest.raises(ValueError, match="different objectives"):
            result.merge(Front({"tpot": +1}))


class TestBest:
    @for_all(tables(objectives=1), ENDS, st.randoms(), st.integers(1, 5), st.sampled_from([-1, 1]))
    def test_equals_sorting_whatever_the_chunks(self, columns, ends, random, most, sign):
        at_once = Best("tpot", most, sign).add(columns)
        rows = sorted({(-sign * value + 0.0, label) for value, label in zip(
            columns["tpot"], columns["label"], strict=True)})[:most]
        assert [(-sign * value + 0.0, label) for value, label in zip(
            at_once.rows.get("tpot", ()), at_once.rows.get("label", ()), strict=True)] == rows
        pieces = cut(columns, ends)
        random.shuffle(pieces)
        one_by_one = reduce(Best.add, pieces, Best("tpot", most, sign))
        merged = reduce(Best.merge, [Best("tpot", most, sign).add(piece) for piece in pieces])
        assert stored(at_once) == stored(one_by_one) == stored(merged)
