"""What is kept of many rows: equal to brute force, whatever the chunks and their order."""

from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calc.many import fronts
from calc.many.fronts import BLOCK, SAMPLE, Best, Front, front

NAMES = "tpot", "rate", "cost"
SIGNS = {"tpot": -1, "rate": +1, "cost": -1}
VALUES = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, 1.0, 2.0, np.inf])


def beats(one, other):
    return all(a <= b for a, b in zip(one, other, strict=True)) and one != other


def by_brute_force(columns, signs):
    rows = list(zip(*(columns[name] * -float(sign) for name, sign in signs.items()), strict=True))
    return [i for i, row in enumerate(rows) if not any(beats(other, row) for other in rows)]


@st.composite
def tables(draw, objectives=None):
    """Few values, so that ties are the rule; a label that tells some rows apart."""
    count = draw(st.integers(0, 24))
    names = NAMES[:objectives or draw(st.integers(1, 3))]
    columns = {name: np.array(draw(st.lists(VALUES, min_size=count, max_size=count)), dtype=float)
               for name in names}
    return columns | {
        "label": np.array(draw(st.lists(st.sampled_from(["", "a", "bb", "a longer one"]),
                                        min_size=count, max_size=count)), dtype=str)}


def signs_of(columns):
    return {name: SIGNS[name] for name in NAMES if name in columns}


def cut(columns, ends):
    """The rows in pieces that end there."""
    count = len(columns["tpot"])
    edges = [0, *sorted(end % (count + 1) for end in ends), count]
    return [{name: column[low:high] for name, column in columns.items()}
            for low, high in pairwise(edges)]


def stored(kept):
    """Names, types, shapes and bytes of what is kept."""
    return [(name, column.dtype.str, column.tobytes()) for name, column in kept.rows.items()]


def drawn(rng, count, kind):
    rows = {"independent": lambda: rng.random((3, count)),
            "tied": lambda: rng.integers(0, 6, (3, count)).astype(float),
            "opposed": lambda: np.stack([x := rng.random(count), x, x + 1e-3 * rng.random(count)]),
            "equal": lambda: np.ones((3, count))}[kind]()
    return dict(zip(NAMES, rows, strict=True))


class TestFront:
    @given(tables())
    def test_equals_brute_force(self, columns):
        signs = signs_of(columns)
        assert front(columns, signs).tolist() == by_brute_force(columns, signs)

    @pytest.mark.parametrize("kind", ["independent", "tied", "opposed", "equal"])
    @pytest.mark.parametrize("count", [1, BLOCK + 1, 3 * SAMPLE])
    def test_equals_brute_force_beyond_a_block_and_a_sample(self, kind, count):
        columns = drawn(np.random.default_rng(count), count, kind)
        costs = np.stack([columns[name] * -SIGNS[name] for name in NAMES], axis=1)
        expected = [i for i, row in enumerate(costs) if not (
            (costs <= row).all(axis=1) & (costs < row).any(axis=1)).any()]
        assert front(columns, SIGNS).tolist() == expected

    @given(tables(), st.lists(st.integers(0, 24), max_size=4), st.randoms(), st.booleans())
    def test_same_bytes_whatever_the_chunks_and_their_order(self, columns, ends, random, ties):
        signs = signs_of(columns)
        whole = Front(signs, ties).add(columns)
        pieces = cut(columns, ends)
        random.shuffle(pieces)
        one_by_one = reduce(Front.add, pieces, Front(signs, ties))
        merged = [Front(signs, ties).add(piece) for piece in pieces]
        while len(merged) > 1:  # a tree of any shape
            random.shuffle(merged)
            merged[:2] = [merged[0].merge(merged[1])]
        assert stored(whole) == stored(one_by_one) == stored(merged[0])
        assert whole.count == one_by_one.count == merged[0].count == len(columns["tpot"])

    def test_same_bytes_where_the_strongest_are_chosen_anew(self):
        columns = drawn(np.random.default_rng(2), 20_000, "independent")
        columns["number"] = np.arange(20_000)
        whole = Front(SIGNS).add(columns)
        backwards = Front(SIGNS)
        for start in range(18_000, -1, -2_000):
            backwards.add({name: column[start:start + 2_000] for name, column in columns.items()})
        assert stored(whole) == stored(backwards)
        assert sorted(whole.rows["number"]) == front(columns, SIGNS).tolist()

    @given(tables())
    def test_rows_that_come_twice_are_one(self, columns):
        signs = signs_of(columns)
        once, twice = Front(signs).add(columns), Front(signs).add(columns).add(columns)
        assert stored(once) == stored(twice)
        assert stored(once) == stored(once.merge(twice))

    @given(tables())
    def test_without_ties_one_of_the_equal_ones_is_kept(self, columns):
        signs = signs_of(columns)
        every, one = Front(signs).add(columns).rows, Front(signs, ties=False).add(columns).rows
        points = list(zip(*(every.get(name, ()) for name in signs), strict=True))
        assert list(zip(*(one.get(name, ()) for name in signs), strict=True)) == list(
            dict.fromkeys(points))
        for i, label in enumerate(one.get("label", ())):
            at = tuple(one[name][i] for name in signs)
            assert label == min(every["label"][j] for j, point in enumerate(points) if point == at)

    @pytest.mark.parametrize(("columns", "signs", "said"), [
        ({"tpot": [np.nan, 1.0]}, {"tpot": -1}, "'tpot' of row 0 is not a number"),
        ({"tpot": [1.0]}, {"rate": 1}, "there is no column 'rate'"),
        ({"tpot": [1.0]}, {"tpot": 0}, "the sign of 'tpot' is 0"),
        ({"tpot": [1.0]}, {}, "needs an objective"),
    ])
    def test_what_cannot_be_compared_is_refused(self, columns, signs, said):
        with pytest.raises(ValueError, match=said):
            Front(signs).add({name: np.array(column) for name, column in columns.items()})

    def test_the_strongest_are_chosen_anew_only_where_they_let_much_through(self, monkeypatch):
        """Rows like those before fall at once; of better ones all come through, once."""
        chosen = []
        monkeypatch.setattr(fronts, "_strongest",
                            lambda costs, real=fronts._strongest: chosen.append(1) or real(costs))
        size = 8 * SAMPLE
        alike = [drawn(np.random.default_rng(seed), size, "independent") for seed in range(4)]
        better = {name: column + 2 * SIGNS[name] for name, column in alike[3].items()}
        kept, counts = Front(SIGNS), []
        for columns in (*alike[:3], better, better):
            kept.add(columns)
            counts.append(len(chosen))
        of_front = counts[0]  # with those that the front of what is left asks for
        assert np.diff(counts)[:2].tolist() == [0, 0]
        assert 0 < counts[3] - counts[2] <= of_front + 2
        assert counts[4] == counts[3]

    def test_the_first_column_by_name_that_only_some_rows_have_is_told(self):
        kept = Front({"tpot": -1}).add({"tpot": np.ones(1), "users": np.ones(1)})
        with pytest.raises(ValueError, match="'cost' is a column of some rows only"):
            kept.add({"tpot": np.ones(1), "rate": np.ones(1), "cost": np.ones(1)})

    def test_rows_of_another_table_are_refused(self):
        kept = Front({"tpot": -1}).add({"tpot": np.ones(1)})
        with pytest.raises(ValueError, match="'rate' is a column of some rows only"):
            kept.add({"tpot": np.ones(1), "rate": np.ones(1)})
        with pytest.raises(ValueError, match="different objectives"):
            kept.merge(Front({"tpot": +1}))


class TestBest:
    @given(tables(objectives=1), st.lists(st.integers(0, 24), max_size=4), st.randoms(),
           st.integers(1, 5), st.sampled_from([-1, 1]))
    def test_those_of_all_sorted_whatever_the_chunks(self, columns, ends, random, most, sign):
        whole = Best("tpot", most, sign).add(columns)
        rows = sorted({(-sign * value + 0.0, label) for value, label in zip(
            columns["tpot"], columns["label"], strict=True)})[:most]
        assert [(-sign * value + 0.0, label) for value, label in zip(
            whole.rows.get("tpot", ()), whole.rows.get("label", ()), strict=True)] == rows
        pieces = cut(columns, ends)
        random.shuffle(pieces)
        one_by_one = reduce(Best.add, pieces, Best("tpot", most, sign))
        merged = reduce(Best.merge, [Best("tpot", most, sign).add(piece) for piece in pieces])
        assert stored(whole) == stored(one_by_one) == stored(merged)
        assert whole.count == one_by_one.count == merged.count == len(columns["tpot"])

    def test_of_other_quantities_are_refused(self):
        with pytest.raises(ValueError, match="different quantities"):
            Best("tpot", 2).merge(Best("tpot", 3))
