"""What is recorded of a computation and repeated gives what the computation gives."""

import weakref
from types import SimpleNamespace

import numpy as np
import pytest

import calc
import catalogue
from calc.many import recording, sweeps
from calc.physics.arrays import either, select

ROWS = 1000
NAMES = ["decode_tpot", "decode_all_reduce_time", "tpot", "ttft", "steady_tpot"]


def formula(part):
    """A way by rows, a choice among them, a power, and terms that come to nothing."""
    q = SimpleNamespace(**part)
    steps = sum(np.clip(q.count - i, 0, 1) * q.length**0.5 for i in range(int(np.max(q.count))))
    way = either(np.greater(q.length, 5), lambda: q.length**2, lambda: 1 / (1 + q.length))
    return {"way": way + 0 * q.scale, "steps": select(q.count > 1, 1 * steps, steps / 2),
            "unused": q.length**q.count, "fixed": q.scale + 1}


def taken(passes, names=("way", "steps", "fixed"), left=recording.WORTH):
    """Results of a formula pass by pass, and how often it was computed."""
    calls = []

    def compute(part):
        calls.append(part)
        return formula(part)

    repeating = recording.Repeating(compute, {"scale": np.float64(3)})
    found = []
    for columns in passes:
        into = {name: np.empty(len(columns["count"])) for name in names}
        repeating.take(columns, into, left)
        found.append(into)
    return found, len(calls)


def drawn(rng, most, rows=ROWS):
    return {"count": rng.integers(0, most + 1, rows), "length": rng.random(rows) * 10}


def equal(columns, into):
    expected = formula(columns | {"scale": np.float64(3)})
    return all(np.array_equal(into[name], np.broadcast_to(expected[name], len(into[name])))
               for name in into)


def test_passes_that_are_repeated_are_what_is_computed_row_by_row_ones_alike_and_short_ones_too():
    rng = np.random.default_rng(1)
    passes = [drawn(rng, 3), drawn(rng, 3), drawn(rng, 2), drawn(rng, 3, 7),
              {"count": np.full(9, 2), "length": np.full(9, 7.0)}]
    found, computed = taken(passes)
    assert computed == 1
    assert all(equal(*each) for each in zip(passes, found, strict=True))


def test_more_of_what_was_done_once_for_each_is_recorded_anew():
    rng = np.random.default_rng(2)
    passes = [drawn(rng, 2), drawn(rng, 5), drawn(rng, 2), drawn(rng, 5)]
    found, computed = taken(passes)
    assert computed == 2
    assert all(equal(*each) for each in zip(passes, found, strict=True))


def test_few_passes_are_not_recorded():
    rng = np.random.default_rng(3)
    assert taken([drawn(rng, 3) for _ in range(5)], left=0)[1] == 5


def test_a_quantity_that_is_not_computed_is_named():
    with pytest.raises(ValueError, match="there is no quantity 'speed'"):
        taken([drawn(np.random.default_rng(4), 3)], ["speed"])


def test_rows_that_were_not_entered_and_what_makes_one_number_of_many_are_refused():
    entered = recording.Recording().entered("length", np.arange(3.0))
    with pytest.raises(TypeError, match="not entered"):
        entered + np.arange(3.0)
    with pytest.raises(TypeError, match="expected one that gives as many"):
        np.sum(entered)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(entered > 1)


def test_equal_operations_are_written_down_once_and_those_that_change_nothing_never():
    written = recording.Recording()
    length = written.entered("length", np.arange(3.0))
    assert length * 1 is length
    assert 0 + length is length
    assert length / np.float64(1) is length
    assert (length + 2).place == (length + 2).place != (length + 2.5).place
    assert len(written.operations) == 2


def test_arrays_that_were_handed_in_are_let_go():
    column = np.random.default_rng(5).random(ROWS)
    passes = [{"count": np.full(ROWS, 2.0), "length": column} for _ in range(2)]
    repeating = recording.Repeating(formula, {"scale": np.float64(3)})
    for columns in passes:
        repeating.take(columns, {"way": np.empty(ROWS)}, recording.WORTH)
    gone = weakref.ref(column)
    del column, columns, passes
    assert gone() is None


def test_a_sweep_of_many_passes_is_that_of_each_of_them(monkeypatch):
    scenario = catalogue.load_scenario("s0-scenario-1")
    monkeypatch.setattr(sweeps, "CHUNK", 64)
    count, rng = 64 * 40 + 5, np.random.default_rng(6)
    tensor, data = 2.0 ** rng.integers(0, 5, count), 2.0 ** rng.integers(0, 7, count)
    inputs = scenario.inputs() | {
        "tensor_parallel": tensor, "data_parallel": data, "separate_pools": 0.0,
        "expert_parallel": np.where(rng.random(count) < 0.5, 1.0, tensor * data),
        "concurrency": rng.integers(1, 4096, count), "draft_tokens": rng.integers(0, 3, count),
        "index_topk": np.where(rng.random(count) < 0.5, 0, 2048.0),
        "input_tokens": rng.integers(128, 32_768, count),
        "output_tokens": rng.integers(1, 4096, count)}
    swept = {threads: calc.decode_sweep(inputs, "mla", NAMES, threads=threads)
             for threads in (1, 2)}
    for start in range(0, count, 512):
        rows = slice(start, start + 512)
        part = {name: value[rows] if np.ndim(value) else value for name, value in inputs.items()}
        alone = calc.latency(part, "mla", NAMES)
        for name in NAMES:
            np.testing.assert_allclose(swept[1][name][rows], alone[name], rtol=1e-12, atol=0)
            np.testing.assert_array_equal(swept[1][name][rows], swept[2][name][rows])
