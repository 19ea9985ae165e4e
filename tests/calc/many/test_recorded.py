"""What is written down of a computation, what is left out of it, and when it holds of other rows.
"""

import multiprocessing.connection
import signal

import numpy as np
import pytest

from calc.many import processes, recording, sweeps
from calc.many.recording import WORTH, Recorded, Recording, Repeated, Repeating, one_if_same
from calc.many.sweeps import DENSE, JointRange, _moves, distinct
from catalogue.deployments.knobs import Knob

X = np.array([1.0, 4.0, 9.0])


@pytest.fixture
def x():
    return Recording().entered("x", X.copy())


@pytest.mark.parametrize("same", [
    lambda x: x + 0, lambda x: 0 + x, lambda x: x - 0, lambda x: x * 1, lambda x: 1 * x,
    lambda x: x / 1, lambda x: x + 0.0, lambda x: x * np.float64(1)])
def test_what_changes_nothing_is_not_written_down(same, x):
    assert same(x) is x
    assert not x.recording.operations


@pytest.mark.parametrize("other", [
    lambda x: 0 - x, lambda x: 1 / x, lambda x: x + 1, lambda x: 1 + x, lambda x: x - 1,
    lambda x: 1 - x, lambda x: x * 0, lambda x: 0 * x, lambda x: x / 2, lambda x: x // 1,
    lambda x: x ** 1, lambda x: x + True, lambda x: x % 1, lambda x: -x, lambda x: x + x,
    lambda x: np.minimum(x, 4), lambda x: np.where(x > 3, x, 0), lambda x: x ** 0.5,
    lambda x: x ** 2, lambda x: x ** 3, lambda x: x ** -1, lambda x: np.clip(x, 2, 5),
    lambda x: np.clip(x, 5, 2), lambda x: np.exp(x) + np.log(x)])
def test_anything_else_is_and_gives_what_the_numbers_give(other, x):
    found = other(x)
    assert isinstance(found, Recorded)
    assert found.value.tolist() == other(X).tolist()
    into = {"y": np.empty(2)}
    rows = {"x": np.array([2.0, 7.0])}
    assert Repeated(x.recording, {"y": found})(rows, into)
    assert into["y"].tolist() == other(rows["x"]).tolist()


def test_a_sum_with_nothing_of_what_are_no_floats_is_written_down(x):
    """Whether a row is above 3, plus nothing, is a number and no truth."""
    above = x > 3
    assert (above + 0) is not above
    assert (above + 0).value.tolist() == [0, 1, 1]


def test_powers_are_what_numpy_takes_for_them(x):
    assert (x ** 0.5).place == np.sqrt(x).place
    assert (x ** 2).place == np.square(x).place
    assert (x ** 3).place != (x ** 2).place
    assert (x ** np.float64(2)).place == np.square(x).place


def test_whatever_is_asked_of_all_rows_or_of_any_is_answered_for_other_rows_too(x):
    true, false = x > 0, x < 0
    assert (np.all(true), np.any(false), true.all(), false.any()) == (False, True, False, True)


def test_the_largest_number_is_the_bound_up_to_which_a_recording_holds(x):
    """What was done once for each up to nine holds of rows that have no more than nine."""
    twice = x * 2
    assert np.max(twice) == 18
    assert np.max(x) == 9
    again = Repeated(x.recording, {"y": x + 1, "z": 5.0})
    into = {"y": np.zeros(2), "z": np.zeros(2)}
    assert not again({"x": np.array([1.0, 9.5])}, into)
    assert into["y"].tolist() == into["z"].tolist() == [0, 0]
    assert again({"x": np.array([1.0, 9.0])}, into)
    assert (into["y"].tolist(), into["z"].tolist()) == ([2, 10], [5, 5])
    assert again({"x": np.array([3, 4, 5])}, {"y": (more := np.zeros(3)), "z": np.zeros(3)})
    assert more.tolist() == [4, 5, 6]


def test_a_naught_below_zero_is_another_number(x):
    """One over it is without end on the other side."""
    assert (x * 0.0).place != (x * -0.0).place


def test_options_and_reductions_are_not_written_down(x):
    with pytest.raises(TypeError):
        np.add(x, 1, out=np.empty(3))
    with pytest.raises(TypeError):
        np.add.reduce(x)
    with pytest.raises(TypeError, match="expected one that gives as many"):
        np.sum(x)


def recorded(rounds, left):
    """Which of these passes were computed; a bound is not asked for."""
    calls = []

    def compute(part):
        calls.append(number)
        return {"y": part["x"] + part["x"]}

    repeating = Repeating(compute, {})
    for number in range(rounds):
        into = {"y": np.empty(2)}
        repeating.take({"x": np.array([1.0, number])}, into, left)
        assert into["y"].tolist() == [2, 2 * number]
    return calls


def test_a_way_is_recorded_once_so_many_passes_went_it_or_are_to_come():
    assert recorded(3, WORTH) == [0]
    assert recorded(3, WORTH - 1) == [0, 1]
    assert recorded(WORTH + 4, 0) == [*range(WORTH + 1)]


@pytest.mark.parametrize(("column", "one"), [
    ([5.0, 5.0, 5.0], True), ([5.0, 6.0, 5.0], False), ([5.0, 5.0, 6.0], False),
    ([5.0, 6.0, 5.0, 5.0, 5.0], False), ([7.0], True)])
def test_equal_numbers_are_one(column, one):
    found = one_if_same(np.array(column))
    assert (np.ndim(found) == 0) is one
    assert np.array(found).ravel()[0] == column[0]


@pytest.mark.parametrize("far", [0, 3 * DENSE])
def test_rows_that_differ_are_told_apart_however_far_their_numbers_lie_apart(far):
    columns = [np.array([7, 7, 9 + far, 7, 9 + far]), np.array([-2, 5, 5, -2, 5])]
    rows, which = distinct(columns)
    assert which.tolist() == [0, 1, 2, 0, 2]
    assert rows.tolist() == [3, 1, 4]  # the last of each
    none = distinct([np.array([], int)])
    assert [each.tolist() for each in none] == [[], []]


def test_a_range_that_begins_at_nothing_moves_by_differences_and_any_other_by_logarithms():
    in_log, *far = _moves(np.array([2.0, 2.0]), np.array([1.0, 0.0]), np.array([8.0, 5.0]))
    assert in_log.tolist() == [True, False]
    assert [end.tolist() for end in far] == [
        [pytest.approx(-np.log(2)), -2], [pytest.approx(np.log(4)), 3]]
    value = type("Value", (), {"low": 1.0, "high": 3.0})
    point = type("Value", (), {"low": 3.0, "high": 3.0})
    assert JointRange.of([Knob("a", point, ("x",)), Knob("b", value, ("y", "z"))]) == (
        JointRange(("y", "z"), 1.0, 3.0),)


def test_inputs_that_are_one_number_of_all_deployments_are_told_from_those_that_are_not():
    fixed, arrays, count = sweeps._told_apart({
        "a": 3, "b": np.array(2), "c": np.array([1, 1, 1]), "d": np.array([1, 2, 1]), "e": 0.5})
    assert fixed == {"a": 3, "b": 2, "c": 1, "e": 0.5}
    assert all(isinstance(number, np.floating) for number in fixed.values())
    assert (list(arrays), count) == (["d"], 3)
    fixed, arrays, count = sweeps._told_apart({"a": 3, "c": np.array([])})
    assert (fixed, list(arrays), count) == ({"a": 3}, ["c"], 0)


def test_passes_are_told_how_many_are_to_come():
    """Ten rows in passes of four: two are to come, one, none."""
    told = []

    class Passes:
        def take(self, columns, into, left):
            told.append((columns["x"].tolist(), left))
            into["y"][:] = columns["x"] * 2

    found = {}
    made = sweeps.Repeating
    try:
        sweeps.Repeating = lambda *given, **more: Passes()
        found = sweeps._in_passes(dict, {"x": np.arange(10.0)}, ["y"], 1, 4)
    finally:
        sweeps.Repeating = made
    assert found["y"].tolist() == [2.0 * number for number in range(10)]
    assert told == [([0, 1, 2, 3], 2), ([4, 5, 6, 7], 1), ([8, 9], 0)]


def test_what_depends_on_the_stage_is_not_swept():
    with pytest.raises(ValueError, match="'stage_time' depends on the stage"):
        sweeps.sweep({}, "mla", ["tpot", "stage_time"])


class Pool:
    def __init__(self, fails=False):
        self.fails = fails

    def map(self, function, tasks):
        self.masked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        if self.fails:
            raise OSError("no process starts")
        return map(function, tasks)


def test_signals_wait_while_a_pool_starts_its_processes():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    pool = Pool()
    assert list(processes.mapped(pool, abs, [-1, 2])) == [1, 2]
    assert {signal.SIGINT, signal.SIGTERM} <= pool.masked
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
    with pytest.raises(OSError, match="no process"):
        processes.mapped(Pool(fails=True), abs, [])
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_a_process_of_several_leaves_an_interruption_to_the_one_that_waits(monkeypatch):
    """It is ended from outside, and ends with the one that waits."""
    done = []
    monkeypatch.setattr(processes.signal, "signal", lambda *given: done.append(given))
    monkeypatch.setattr(processes.signal, "pthread_sigmask", lambda *given: done.append(given))
    monkeypatch.setattr(processes.threading, "Thread", lambda target, daemon: done.append(
        (target, daemon)) or type("Thread", (), {"start": lambda self: done.append("started")})())
    processes.quietly(lambda *given: done.append(given), 3, "four")
    assert done == [
        (signal.SIGINT, signal.SIG_IGN), (signal.SIGTERM, signal.SIG_DFL),
        (signal.SIG_UNBLOCK, (signal.SIGINT, signal.SIGTERM)),
        (processes._end_with_parent, True), "started", (3, "four")]


def test_a_process_ends_once_the_one_that_waits_has_ended(monkeypatch):
    ended = []
    parent = type("Parent", (), {"sentinel": 77})
    monkeypatch.setattr(processes.multiprocessing, "parent_process", lambda: parent)
    monkeypatch.setattr(multiprocessing.connection, "wait", ended.append)
    monkeypatch.setattr(processes.os, "_exit", ended.append)
    processes._end_with_parent()
    assert ended == [[77], 1]


def test_an_array_is_lent_to_one_after_the_other_and_grows_with_the_rows():
    kind = np.dtype(float)
    first = recording._lent(kind, 99, 3)
    again = recording._lent(kind, 99, 3)
    assert first.ctypes.data == again.ctypes.data
    assert first.ctypes.data % recording.LINE == 0
    assert len(recording._lent(kind, 99, 1000)) == 1000
    assert len(recording._lent(kind, 99, 10)) == 10
    assert recording._lent(kind, 98, 10).ctypes.data != recording._lent(kind, 99, 10).ctypes.data


STEPS = (np.add, np.multiply, np.subtract, np.minimum, np.maximum, np.greater,
         lambda one, other: np.where(one > other, one, other * 2), lambda one, other: -one,
         lambda one, other: np.clip(one, 0, 2) + 0 * other)


def many_steps(draw, columns, bounded):
    """A computation whose steps take any before them; of some it is asked what is the largest."""
    made = list(columns)
    for number in range(40):
        one, other = draw.integers(max(0, len(made) - 9), len(made), 2)
        made.append(STEPS[draw.integers(len(STEPS))](made[one] * 1.0, made[other] * 0.5))
        if number in bounded:
            np.max(made[-1])
    return {"last": made[-1], "middle": made[20], "first": made[3], "input": made[0], "five": 5.0}


@pytest.mark.parametrize("seed", range(12))
def test_a_computation_of_many_steps_is_repeated_number_by_number(seed):
    """Of rows among those that it was recorded of, in any order and number; arrays are lent from
    step to step, and to one that repeats beside it."""
    rng = np.random.default_rng(seed)
    columns = dict(zip("xyz", rng.normal(0, 1, (3, 50)), strict=True))
    bounded = (5, 25) if seed % 3 else ()
    pairs = []
    for part in (seed, seed + 100):
        written = Recording()
        entered = [written.entered(name, column) for name, column in columns.items()]
        recorded_ = many_steps(np.random.default_rng(part), entered, bounded)
        expected = many_steps(np.random.default_rng(part), columns.values(), bounded)
        pairs.append((Repeated(written, recorded_), expected))
    for size in (50, 7, 50, 20):
        rows = rng.permutation(50)[:size]
        for again, expected in pairs:
            into = {name: np.empty(size) for name in expected}
            assert again({name: column[rows] for name, column in columns.items()}, into)
            for name, whole in expected.items():
                ours = np.broadcast_to(whole, 50)[rows]
                assert into[name].tolist() == ours.astype(float).tolist(), name
