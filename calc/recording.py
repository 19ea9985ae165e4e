"""A computation over many rows, written down as it runs and repeated on other rows.

What is repeated takes equal operations once, leaves out those that change nothing or that nobody
asked for, and lets go of every array after its last use. Every number is the one that the
computation itself gives: the operations are the same, on the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from calc.physics.arrays import Number

Columns = Mapping[str, np.ndarray]
Compute = Callable[[dict[str, Any]], Mapping[str, Number]]
# a function, what takes its arguments from all indices, the index of its result, that of an array
# which it may be written into, and the indices that nobody reads after it
_Step = tuple[Callable[..., Any], Callable[[list[Any]], Sequence[Any]], int, int | None,
              Sequence[int]]
# what NumPy itself takes for these powers of an array
POWERS: dict[float, np.ufunc] = {0.5: np.sqrt, 2: np.square}
# numbers that change nothing on the left of an operation, and on its right
NOTHING: dict[Any, tuple[float | None, float | None]] = {
    np.add: (0, 0), np.subtract: (None, 0), np.multiply: (1, 1), np.true_divide: (None, 1)}
MOST_WAYS = 4  # of a computation that are recorded: each takes as long as several passes
WORTH = 16  # passes that went a new way, or are to come, where one is recorded
CACHED = 16  # computations whose ways are kept


class Recording:
    """Operations on rows, in their order.

    Attributes:
        inputs: indices of the inputs, by name.
        constants: numbers by index.
        operations: functions, the indices of their arguments, and the types of their results, by
            index.
        most: largest number of the rows at an index: what was done for each up to it holds of rows
            that have no larger one.
    """

    def __init__(self) -> None:
        self.inputs: dict[str, int] = {}
        self.constants: dict[int, Any] = {}
        self.operations: dict[int, tuple[Callable[..., Any], tuple[int, ...], np.dtype[Any]]] = {}
        self.most: dict[int, float] = {}
        self._known: dict[Any, int] = {}  # no arrays: they shall be let go as early as ever
        self.size = 0

    def _next(self) -> int:
        self.size += 1
        return self.size - 1

    def entered(self, name: str, value: np.ndarray) -> Recorded:
        """An input of rows, shape (n,)."""
        self.inputs[name] = self._next()
        return Recorded(value, self.inputs[name], self)

    def _index(self, argument: Any) -> int:
        if isinstance(argument, Recorded):
            return argument.index
        if isinstance(argument, np.ndarray):
            if argument.ndim:
                raise TypeError("rows that were not entered would be the same in every pass")
            argument = argument[()]
        key = type(argument), argument or repr(argument)  # 0.0 equals -0.0, and is another number
        if key not in self._known:
            self._known[key] = self._next()
            self.constants[self._known[key]] = argument
        return self._known[key]

    def done(self, function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
        """Result of a function of rows, which is recorded unless an equal one was."""
        indices = tuple(map(self._index, arguments))
        result = function(*map(_value, arguments))
        if not np.ndim(result):
            raise TypeError(f"{function} of many rows, expected one that gives as many")
        if (function, indices) not in self._known:
            self._known[function, indices] = self._next()
            self.operations[self.size - 1] = function, indices, result.dtype
        return Recorded(result, self._known[function, indices], self)


class Recorded(NDArrayOperatorsMixin):
    """An array whose making is written down.

    Attributes:
        value: the array, shape (n,).
        index: of it in the recording.
        recording: of the computation.
    """

    __slots__ = ("index", "recording", "value")
    ndim = 1

    def __init__(self, value: np.ndarray, index: int, recording: Recording) -> None:
        self.value, self.index, self.recording = value, index, recording

    def __array_ufunc__(self, ufunc: Any, method: str, *arguments: Any, **options: Any) -> Any:
        """An elementwise function of it: itself where that changes nothing."""
        if method != "__call__" or options:
            return NotImplemented
        if ufunc in NOTHING and self.value.dtype == float:
            (left, right), (first, second) = NOTHING[ufunc], arguments
            if (first is self and _is(second, right)) or (second is self and _is(first, left)):
                return self
        return self.recording.done(ufunc, arguments)

    def __array_function__(self, function: Any, types: Any, arguments: tuple[Any, ...],
                           options: dict[str, Any]) -> Any:
        """Any other function of it."""
        if function in (np.all, np.any):
            return function is np.any  # as of its own, below
        if function is np.max:
            self.recording.most[self.index] = result = function(self.value, **options)
            return result
        if function is np.clip and not options:
            number, low, high = arguments
            return np.minimum(np.maximum(number, low), high)
        return self.recording.done(
            partial(function, **options) if options else function, arguments)

    def __pow__(self, exponent: Any) -> Any:
        power = POWERS.get(exponent) if isinstance(exponent, (int, float)) else None
        return super().__pow__(exponent) if power is None else power(self)

    def __bool__(self) -> bool:
        raise TypeError("many rows together are neither true nor false")

    def all(self) -> bool:
        """Whether it holds of all rows: no, so that what is computed does for others too."""
        return False

    def any(self) -> bool:
        """Whether it holds of any row: yes, likewise."""
        return True


def _value(argument: Any) -> Any:
    """The array without its history."""
    return argument.value if isinstance(argument, Recorded) else argument


def _is(argument: Any, number: float | None) -> bool:
    """Whether an argument is one number, and which."""
    return isinstance(argument, (int, float)) and argument == number


class Repeated:
    """A recorded computation, for other rows.

    Args:
        recording: of it.
        results: what is wanted of it, by name: arrays or numbers.
    """

    def __init__(self, recording: Recording, results: Mapping[str, Any]) -> None:
        self._recording = recording
        self._numbers = {name: result for name, result in results.items()
                         if not isinstance(result, Recorded)}
        self._results = {name: result.index for name, result in results.items()
                         if isinstance(result, Recorded)}
        order = sorted(self._needed([*recording.most, *self._results.values()]))
        last = {read: index for index in order for read in recording.operations[index][1]}
        needed = {*recording.constants, *recording.most, *self._results.values()}
        self._inputs = {name: index for name, index in recording.inputs.items()
                        if index in last or index in needed}
        done: dict[int, list[int]] = {index: [] for index in order}
        for read, index in last.items():
            if read not in needed:
                done[index].append(read)
        self._steps = [self._step(index, done[index]) for index in order]
        self._there: list[Any] = [recording.constants.get(index) for index in range(recording.size)]

    def _needed(self, indices: Iterable[int]) -> set[int]:
        """Operations that these indices take."""
        left, result = list(indices), set()
        while left:
            index = left.pop()
            if index in self._recording.operations and index not in result:
                result.add(index)
                left += self._recording.operations[index][1]
        return result

    def _step(self, index: int, done: Sequence[int]) -> _Step:
        operations = self._recording.operations
        function, indices, kind = operations[index]
        taken = itemgetter(*indices) if len(indices) > 1 else lambda there: (there[indices[0]],)
        free = [read for read in done if read in operations and operations[read][2] == kind
                and isinstance(operations[read][0], np.ufunc)]
        over = free[0] if free and isinstance(function, np.ufunc) else None
        return function, taken, index, over, done

    def __call__(self, columns: Columns, into: Columns) -> bool:
        """Whether the recording holds of these rows; then its results are written.

        Args:
            columns: inputs, shape (n,) each.
            into: arrays for the results, shape (n,) each.
        """
        there = self._there.copy()
        for name, index in self._inputs.items():
            there[index] = columns[name].astype(float, copy=False)
        for function, taken, index, over, done in self._steps:
            if over is None:
                there[index] = function(*taken(there))
            else:
                there[index] = function(*taken(there), out=there[over])
            for gone in done:
                there[gone] = None
        if not all(there[index].max() <= most for index, most in self._recording.most.items()):
            return False
        for name, index in self._results.items():
            into[name][:] = there[index]
        for name, number in self._numbers.items():
            into[name][:] = number
        return True


class Repeating:
    """A computation of many passes, which is recorded and repeated.

    Args:
        compute: quantities by name, of inputs by name: arrays of one length, or numbers.
        fixed: inputs that are numbers in every pass.
        ways: that are recorded at most [1].
    """

    def __init__(self, compute: Compute, fixed: Mapping[str, Number], ways: int = MOST_WAYS
                 ) -> None:
        self._compute, self._fixed, self._ways = compute, fixed, ways
        self._known: list[Repeated] = []
        self._missed = 0

    def take(self, columns: Columns, into: Columns, left: int) -> None:
        """Computes a pass.

        Args:
            columns: inputs besides the fixed ones, shape (n,) each.
            into: arrays for the quantities that are wanted, shape (n,) each.
            left: passes that are to come [1].

        Raises ValueError for a quantity that is not computed.
        """
        if any(recorded(columns, into) for recorded in self._known):
            return
        self._missed += 1
        given = {name: column.astype(float, copy=False) for name, column in columns.items()}
        if len(self._known) < self._ways and self._missed + left > WORTH:
            recording, self._missed = Recording(), 0
            result = self._compute({**self._fixed, **{
                name: recording.entered(name, column) for name, column in given.items()}})
            self._known.append(Repeated(recording, {name: _named(result, name) for name in into}))
        else:
            result = self._compute({**self._fixed, **{
                name: one_if_same(column) for name, column in given.items()}})
        for name, column in into.items():
            column[:] = _value(_named(result, name))


def _named(quantities: Mapping[str, Any], name: str) -> Any:
    """A quantity. Raises ValueError if it is not computed."""
    if name not in quantities:
        raise ValueError(f"there is no quantity '{name}'")
    return quantities[name]


@lru_cache(maxsize=CACHED)
def repeating(compute: Compute, fixed: tuple[tuple[str, Number], ...], _columns: tuple[str, ...]
              ) -> Repeating:
    """A computation of passes, with what was recorded of it before.

    Args:
        compute: quantities of inputs; equal ones give equal quantities.
        fixed: inputs that are numbers in every pass, and the numbers.
        _columns: names of the others.
    """
    return Repeating(compute, dict(fixed))


def one_if_same(column: np.ndarray) -> Number:
    """One number in place of as many equal ones: what follows from such alone is computed once.

    Args:
        column: shape (n,), not empty.
    """
    first = column[0]
    return first if first == column[-1] and (column == first).all() else column
