"""What is kept of many rows: a Pareto front, or the best few; the same bytes in whatever order.

A reducer is a set of rows: rows that are equal in every column are one, and what it keeps is
ordered by its values alone. So ``merge`` is associative and commutative, a chunk that is added
twice changes nothing, and a tree of merges gives what one pass gives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

Rows = dict[str, np.ndarray]
FEW = 1 << 7  # rows that are compared without looking for the strongest
SAMPLE, SAMPLED = 1 << 10, 1 / 16  # rows among which those are looked for, at most; of all
STRONGEST = 64  # at most, that all rows are held against first
PIECE = 1 << 14  # rows that are held against them at once: they stay in the cache
BLOCK = 1 << 8  # rows that are held against each other at once
AT_ONCE = 1 << 20  # numbers that are compared in one table
THROUGH = 1 / 16  # share of a batch that the strongest may let through before others are chosen


def front(columns: Mapping[str, np.ndarray], objectives: Mapping[str, int]) -> np.ndarray:
    """Rows that no other row beats: one that is no worse in any objective and better in one.

    >>> front({"tpot": np.array([3, 1, 2, 1]), "rate": np.array([9, 5, 5, 5])},
    ...       {"tpot": -1, "rate": +1})
    array([0, 1, 3])

    Rows that are equal in all objectives are on the front together. Exact: rows are compared, not
    ranked by a sum. First all rows are held against a few strong ones, which leaves little of most
    data; the rest is sorted, so that none beats an earlier one, and compared block by block.

    Args:
        columns: arrays of one length n.
        objectives: name -> +1 to have it large, -1 to have it small.

    Returns the places of these rows, ascending. Raises ValueError for an objective that is not a
    column, has another sign, or holds what is not a number.
    """
    costs = _costs(columns, objectives)
    rest = np.arange(costs.shape[1])
    while len(rest) > FEW:
        left = rest[_unbeaten(costs[:, rest], _strongest(costs[:, rest]))]
        few = len(left) <= len(rest) / 2
        rest = left
        if not few:
            break
    return np.sort(rest[_sorted_front(costs[:, rest])])


def _costs(columns: Mapping[str, np.ndarray], objectives: Mapping[str, int]) -> np.ndarray:
    """Objectives as rows of a matrix, all to be small."""
    if not objectives:
        raise ValueError("a front needs an objective")
    for name, sign in objectives.items():
        if name not in columns:
            raise ValueError(f"there is no column '{name}'")
        if sign not in (-1, 1):
            raise ValueError(f"the sign of '{name}' is {sign}, expected +1 (large) or -1 (small)")
    costs = np.stack([np.asarray(columns[name], dtype=float) * -sign
                      for name, sign in objectives.items()])
    for name, row in zip(objectives, costs, strict=True):
        if np.isnan(row.min(initial=np.inf)):
            raise ValueError(f"'{name}' of row {int(np.isnan(row).argmax())} is not a number")
    return costs


def _strongest(costs: np.ndarray) -> np.ndarray:
    """A few rows that beat most of the others, the one that beats most of a sample first."""
    count = costs.shape[1]
    step = -(-count // min(SAMPLE, max(FEW, int(SAMPLED * count))))
    sample = costs[:, ::step]
    best = sample[:, _sorted_front(sample)]
    beaten = np.count_nonzero(_no_worse(best, sample), axis=1)
    return best[:, np.argsort(-beaten, kind="stable")[:STRONGEST]]


def _no_worse(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether a row (first axis) is no worse in any objective than another one (second axis)."""
    result = some[0][:, None] <= others[0]
    for left, right in zip(some[1:], others[1:], strict=True):
        result &= left[:, None] <= right
    return result


def _unbeaten(costs: np.ndarray, strong: np.ndarray) -> np.ndarray:
    """Places of the rows that none of a few others beats."""
    places = []
    for start in range(0, costs.shape[1], PIECE):
        piece = costs[:, start:start + PIECE]
        at = np.arange(start, start + piece.shape[1])
        alive = np.ones(len(at), dtype=bool)
        for row in strong.T:
            worse, equal = piece[0] >= row[0], piece[0] == row[0]
            for column, value in zip(piece[1:], row[1:], strict=True):
                worse &= column >= value
                equal &= column == value
            alive &= equal | ~worse  # an equal row stays
            if 2 * np.count_nonzero(alive) < len(at):
                piece, at, alive = piece[:, alive], at[alive], alive[alive]
        places.append(at[alive])
    return np.concatenate(places) if places else np.arange(0)


def _sorted_front(costs: np.ndarray) -> np.ndarray:
    """Places of the front, by sorting: a row is beaten only by one before it."""
    order = np.lexsort(costs[::-1])
    ordered = costs[:, order]
    costs_of_front, count = np.empty_like(ordered), 0
    parts = []
    for start in range(0, len(order), BLOCK):
        block, at = ordered[:, start:start + BLOCK], order[start:start + BLOCK]
        alive = ~_beats(block, block).any(axis=0)
        block, at = block[:, alive], at[alive]
        for end in range(count, 0, -BLOCK):  # the nearest first: what is beaten falls early
            if not len(at):
                break
            alive = ~_beats(costs_of_front[:, max(0, end - BLOCK):end], block).any(axis=0)
            block, at = block[:, alive], at[alive]
        parts.append(at)
        costs_of_front[:, count:count + len(at)] = block
        count += len(at)
    return np.concatenate(parts) if parts else order


def _beats(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Whether a row (first axis) beats another one (second axis), which may equal it."""
    result = _no_worse(some, others)
    pairs = np.nonzero(result)
    result[pairs] = (some[:, pairs[0]] != others[:, pairs[1]]).any(axis=0)
    return result


@dataclass
class Front:
    """The front of all rows that were added.

    >>> both = Front({"tpot": -1}).add({"tpot": np.array([3.0, 2.0])}).merge(
    ...     Front({"tpot": -1}).add({"tpot": np.array([1.0])}))
    >>> both.rows["tpot"]
    array([1.])

    Attributes:
        objectives: name -> +1 to have it large, -1 to have it small.
        ties: whether rows that are equal in all objectives stay together; else the one whose other
            columns, in the order of their names, are least.
        rows: columns of what is kept, the best in the first objective first.
    """

    objectives: Mapping[str, int]
    ties: bool = True
    rows: Rows = field(default_factory=dict)
    _strong: np.ndarray | None = field(default=None, repr=False, compare=False)

    def add(self, columns: Mapping[str, np.ndarray]) -> Front:
        """Take in rows: arrays of one length, the same columns every time. Returns itself."""
        costs = _costs(columns, self.objectives)
        size = costs.shape[1]
        if not size:
            return self
        if size <= FEW:
            self._take(columns)
            return self
        if self._strong is None:
            self._strong = _strongest(costs)
        left = _unbeaten(costs, self._strong)
        if len(left) > THROUGH * size:
            self._strong = _strongest(np.concatenate([self._kept_costs(costs), costs], axis=1))
        self._take({name: np.asarray(column)[left] for name, column in columns.items()})
        return self

    def beats(self, columns: Mapping[str, np.ndarray]) -> np.ndarray:
        """Which rows one that is kept beats, shape (n,).

        Args:
            columns: objectives of the rows, shape (n,) each.
        """
        costs = _costs(columns, self.objectives)
        own = self._kept_costs(costs)
        if own.size * costs.shape[1] <= AT_ONCE:
            beaten_by_any: np.ndarray = np.any(_beats(own, costs), axis=0)
            return beaten_by_any
        beaten = np.ones(costs.shape[1], dtype=bool)
        beaten[_unbeaten(costs, own)] = False
        return beaten

    def merge(self, other: Front) -> Front:
        """Take in another front of the same objectives. Returns itself."""
        if (dict(self.objectives), self.ties) != (dict(other.objectives), other.ties):
            raise ValueError("fronts of different objectives cannot be merged")
        if not self.rows:
            self.rows = dict(other.rows)
        elif other.rows:
            self._take(other.rows)
        return self

    def _kept_costs(self, like: np.ndarray) -> np.ndarray:
        return _costs(self.rows, self.objectives) if self.rows else like[:, :0]

    def _take(self, rows: Mapping[str, np.ndarray]) -> None:
        joined = _joined(self.rows, rows)
        best = front(joined, self.objectives)
        rows = _ordered({name: column[best] for name, column in joined.items()}, self.objectives)
        if not self.ties:
            costs = _costs(rows, self.objectives)
            first = np.ones(costs.shape[1], dtype=bool)
            first[1:] = (costs[:, 1:] != costs[:, :-1]).any(axis=0)
            rows = {name: column[first] for name, column in rows.items()}
        self.rows = _narrow(rows)


@dataclass
class Best:
    """The rows with the most, or the least, of a quantity, of all that were added.

    >>> Best("tpot", 2).add({"tpot": np.array([3.0, 1.0, 2.0])}).rows["tpot"]
    array([1., 2.])

    Attributes:
        name: the quantity.
        most: how many are kept; of equal ones those whose other columns are least.
        sign: +1 to have it large, -1 to have it small.
        rows: columns of what is kept, the best first.
    """

    name: str
    most: int
    sign: int = -1
    rows: Rows = field(default_factory=dict)

    def add(self, columns: Mapping[str, np.ndarray]) -> Best:
        """Take in rows: arrays of one length, the same columns every time. Returns itself."""
        costs, = _costs(columns, {self.name: self.sign})
        values = self.rows.get(self.name, costs[:0])
        left = np.arange(len(costs))
        if len(values) == self.most:  # those equal to the last one are told apart below
            left = np.flatnonzero(costs <= -self.sign * values[-1])
        if len(left) > self.most:  # as many different ones are at least as many rows
            left = left[costs[left] <= np.unique(costs[left])[:self.most][-1]]
        self._take({name: np.asarray(column)[left] for name, column in columns.items()})
        return self

    def merge(self, other: Best) -> Best:
        """Take in the best of others, by the same quantity. Returns itself."""
        if (self.name, self.most, self.sign) != (other.name, other.most, other.sign):
            raise ValueError("the best of different quantities cannot be merged")
        if other.rows:
            self._take(other.rows)
        return self

    def _take(self, rows: Mapping[str, np.ndarray]) -> None:
        rows = _ordered(_joined(self.rows, rows), {self.name: self.sign})
        self.rows = _narrow({name: column[:self.most] for name, column in rows.items()})


def _joined(rows: Rows, others: Mapping[str, np.ndarray]) -> Rows:
    """Both sets of rows, one after the other. Raises ValueError for other columns."""
    if rows and rows.keys() != others.keys():
        wrong = sorted(rows.keys() ^ others.keys())[0]
        raise ValueError(f"'{wrong}' is a column of some rows only")
    return {name: np.concatenate([rows[name], np.asarray(others[name])]) if rows
            else np.asarray(others[name]) for name in sorted(others)}


def _ordered(rows: Rows, objectives: Mapping[str, int]) -> Rows:
    """Rows by their objectives, then by all other columns by name; equal ones are one."""
    rows = {name: column + 0.0 if column.dtype.kind == "f" else column  # there is one zero
            for name, column in rows.items()}
    keys = [*_costs(rows, objectives), *(
        column for name, column in rows.items() if name not in objectives)]
    order = np.lexsort(keys[::-1])
    first = np.zeros(len(order), dtype=bool)
    first[:1] = True
    for key in keys:
        first[1:] |= key[order[1:]] != key[order[:-1]]
    return {name: column[order[first]] for name, column in rows.items()}


def _narrow(rows: Rows) -> Rows:
    """Texts as wide as they have to be, whatever stood beside them."""
    return {name: column.astype(f"U{max(1, int(np.strings.str_len(column).max(initial=0)))}")
            if column.dtype.kind == "U" else column for name, column in rows.items()}
