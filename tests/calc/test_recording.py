"""A recorded computation, replayed on other rows, gives what the computation itself gives."""


import numpy as np
import pytest

from calc.recording import Recording, Repeated

X = np.array([1.0, 4.0, 9.0])


@pytest.mark.parametrize("function", [
    lambda x: 0 - x, lambda x: 1 / x, lambda x: x + 1, lambda x: x * 0, lambda x: x // 2,
    lambda x: x + True, lambda x: x % 3, lambda x: -x, lambda x: x + x, lambda x: (x > 3) + 0,
    lambda x: np.where(x > 3, x, 0), lambda x: x ** 0.5, lambda x: x ** 2, lambda x: x ** -1,
    lambda x: np.clip(x, 2, 5), lambda x: np.clip(x, 5, 2), lambda x: np.exp(x) + np.log(x)])
def test_replayed_operation_equals_direct_evaluation(function):
    recording = Recording()
    result = function(recording.entered("x", X.copy()))
    assert result.value.tolist() == function(X).tolist()
    rows, into = np.array([2.0, 7.0]), {"y": np.empty(2)}
    assert Repeated(recording, {"y": result})({"x": rows}, into)
    assert into["y"].tolist() == function(rows).tolist()


@pytest.mark.parametrize(("operation", "message"), [
    (lambda x: x + np.arange(3.0), "not entered"), (np.sum, "expected one that gives as many"),
    (lambda x: bool(x > 1), "neither true nor false"), (np.add.reduce, "reduce"),
    (lambda x: np.add(x, 1, out=np.empty(3)), "out")])
def test_operations_that_cannot_be_recorded(operation, message):
    with pytest.raises(TypeError, match=message):
        operation(Recording().entered("length", np.arange(3.0)))


STEPS = (np.add, np.multiply, np.subtract, np.minimum, np.maximum, np.greater,
         lambda one, other: np.where(one > other, one, other * 2), lambda one, other: -one,
         lambda one, other: np.clip(one, 0, 2) + 0 * other)


def many_steps(draw, columns, bounded):
    """A random computation of 40 steps; of some results the maximum is taken."""
    values = list(columns)
    for number in range(40):
        one, other = draw.integers(max(0, len(values) - 9), len(values), 2)
        values.append(STEPS[draw.integers(len(STEPS))](values[one] * 1.0, values[other] * 0.5))
        if number in bounded:
            np.max(values[-1])
    return {"last": values[-1], "middle": values[20], "first": values[3], "input": values[0],
            "five": 5.0}


@pytest.mark.parametrize("seed", range(6))
def test_random_computations_are_replayed_number_by_number(seed):
    """Of a subset of the recorded rows, in any order; two replays lend each other their arrays."""
    rng = np.random.default_rng(seed)
    columns = dict(zip("xyz", rng.normal(0, 1, (3, 50)), strict=True))
    bounded = (5, 25) if seed % 3 else ()
    pairs = []
    for part in (seed, seed + 100):
        recording = Recording()
        entered = [recording.entered(name, column) for name, column in columns.items()]
        results = many_steps(np.random.default_rng(part), entered, bounded)
        expected = many_steps(np.random.default_rng(part), columns.values(), bounded)
        pairs.append((Repeated(recording, results), expected))
    for size in (50, 7, 50, 20):
        rows = rng.permutation(50)[:size]
        for replay, expected in pairs:
            into = {name: np.empty(size) for name in expected}
            assert replay({name: column[rows] for name, column in columns.items()}, into)
            for name, column in expected.items():
                assert into[name].tolist() == np.broadcast_to(column, 50)[rows].astype(
                    float).tolist(), name
