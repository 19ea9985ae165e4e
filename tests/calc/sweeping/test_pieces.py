"""The pieces of a sweep: counts, chunks, parts, what is reduced, told, and computed by whom."""

import math
from dataclasses import replace
from types import SimpleNamespace as Made

import numpy as np
import pytest

from calc.many.fronts import Best, Front
from calc.sweeping import chunks, parts, plan, running, workers
from calc.sweeping.axes import Axis, axis
from calc.sweeping.chunks import BEYOND, ENDLESS, ROW, TOO_LONG, TOO_MANY, RowCounts
from calc.sweeping.definition import Sweep
from calc.sweeping.plan import Choice, Plan
from catalogue import ParamsError

OUTER = axis("precision", "x, y, z", "--axis precision")
INNER = axis("workload.concurrency", "3, 5, 7, 9", "--axis workload.concurrency")


def made(*choices, **more):
    """A plan of three choices of entries and four numbers of requests."""
    return Plan(**{"axes": (OUTER, INNER), "outer": 1, "choices": choices or (Choice(),) * 3,
                   "objectives": {"tpot": -1}, "best": None, "every": True, "names": ("tpot",),
                   "chunk": 5, "key": "a key"} | more)


def test_rows_are_numbered_with_the_last_axis_fastest():
    whole = made()
    assert (whole.shape, whole.count, whole.chunks) == ((3, 4), 12, 3)
    assert (made(chunk=12).chunks, made(chunk=13).chunks, made(chunk=4).chunks) == (1, 1, 3)
    assert whole.settings(6) == {"precision": "y", "workload.concurrency": "7"}
    assert whole.settings(11) == {"precision": "z", "workload.concurrency": "9"}


def test_what_is_left_out_is_counted_by_reason_with_the_first_of_each():
    one, other = RowCounts(10), RowCounts(5, {"a": (2, 3), "b": (1, 9)})
    one.without("a", np.array([8, 7]))
    one.without("a", np.array([], int))
    one.without("c", np.array([6]))
    assert one.merge(other) is one
    assert (one.rows, one.left) == (15, {"a": (4, 3), "c": (1, 6), "b": (1, 9)})
    one.without("b", np.array([12]))
    assert one.left["b"] == (2, 9)


@pytest.mark.parametrize(("number", "rows", "left"), [
    (0, [0, 1, 2, 3], {"no": (1, 4)}), (1, [8, 9], {"no": (3, 5)}), (2, [10, 11], {})])
def test_a_chunk_is_of_its_own_rows_choice_by_choice(number, rows, left, monkeypatch):
    """The second of three choices is no deployment; the last chunk has what is left."""
    given = []

    def quantities(plan, choice, rows, places, inner, counted):
        given.append((choice.attention, rows.tolist(), places.tolist(), inner))
        return {ROW: rows, "tpot": rows / 2}

    monkeypatch.setattr(chunks, "_quantities", quantities)
    whole = made(Choice(attention="p"), Choice("no"), Choice(attention="q"))
    found, counted = chunks.computed(whole, number)
    assert found[ROW].tolist() == rows
    assert found["tpot"].tolist() == [row / 2 for row in rows]
    assert (counted.rows, counted.left) == ({0: 5, 1: 5, 2: 2}[number], left)
    name, of_rows, places, inner = given[-1]
    assert (name, of_rows, inner) == ("p" if number == 0 else "q", rows, (4,))
    assert places == [row % 4 for row in rows]
    best = replace(whole, every=False)
    assert chunks.computed(best, number)[0][ROW].tolist() == rows[:1]


def test_a_chunk_of_nothing_that_fits_has_columns_without_rows(monkeypatch):
    monkeypatch.setattr(chunks, "_quantities", lambda *_: None)
    for every in (True, False):
        found, counted = chunks.computed(made(every=every), 0)
        assert {name: (column.dtype.kind, len(column)) for name, column in found.items()} == {
            ROW: ("i", 0), "tpot": ("f", 0)}
        assert counted.rows == 5


def test_what_takes_the_rows_in_is_a_front_or_the_best():
    assert chunks.reducer(made()) is None
    front = chunks.reducer(made(every=False, objectives={"tpot": -1, "rate": 1}))
    assert isinstance(front, Front)
    assert front.objectives == {"tpot": -1, "rate": 1}
    best = chunks.reducer(made(every=False, best=4, objectives={"rate": 1}))
    assert isinstance(best, Best)
    assert (best.name, best.most, best.sign) == ("rate", 4, 1)


def refused(choice, **inputs):
    return {reason: np.broadcast_to(wrong, 3).tolist() for reason, wrong in chunks._refused(
        choice, {name: np.array(column) for name, column in inputs.items()}, np.array([9, 10, 11]))}


def test_a_workload_is_refused_that_asks_for_more_than_there_is():
    """As many requests as there are, and a context as long as the request, are none too many."""
    told = refused(Choice(requests=5, positions=20), concurrency=[4, 5, 6],
                   context_tokens=[10, 10, 21])
    assert told == {TOO_MANY: [False, False, True], TOO_LONG: [False] * 3,
                    BEYOND: [False, False, True]}
    assert refused(Choice(), concurrency=[1, 2, 3], context_tokens=[8, 10, 10]) == {
        TOO_LONG: [True, False, True]}
    assert Choice().positions == math.inf


def test_rows_are_left_out_for_the_first_reason_and_quantities_that_are_none(monkeypatch):
    """The cut of the first places is none; of the others one is too many, one does not fit, one
    has no end; the longest context follows the request."""
    monkeypatch.setattr(chunks, "sweep", lambda inputs, attention, names, decode: {
        chunks.HEADROOM: 20.0 - inputs["context_tokens"] + 0 * inputs["concurrency"]})
    given = []

    def told(names, attention, inputs, memory, count):
        given.append((inputs, memory, count))
        return {"tpot": np.where(inputs["concurrency"] == 3, np.inf, inputs["concurrency"])}

    monkeypatch.setattr(chunks, "_told", told)
    choice = Choice(
        attention="mla", fixed={"output_tokens": 2.0, "context_tokens": 99.0}, cut_axes=(0,),
        columns={"concurrency": (1, np.array([3., 5., 9.])),
                 "input_tokens": (2, np.array([7., 18., 19.]))},
        cuts=np.array([2, 0]), problems=("not this", "no such cut"), requests=5, summed=True)
    counted = RowCounts(18)
    found = chunks._quantities(made(), choice, np.arange(100, 118), np.arange(18), (2, 3, 3),
                               counted)
    assert counted.left == {"no such cut": (9, 100), TOO_MANY: (3, 115),
                            chunks.TOO_LARGE: (2, 111), ENDLESS: (2, 109)}
    assert (found[ROW].tolist(), found["tpot"].tolist()) == ([112, 113], [5, 5])
    inputs, memory, count = given[-1]
    assert inputs["context_tokens"].tolist() == [9, 20, 9, 20]
    assert (memory[chunks.HEADROOM].tolist(), count) == ([11, 0, 11, 0], 4)
    none = chunks._quantities(made(), replace(choice, requests=1), np.arange(18), np.arange(18),
                              (2, 3, 3), RowCounts())
    assert none is None
    stated = replace(choice, summed=False, cuts=None)
    assert chunks._quantities(made(), stated, np.arange(18), np.arange(18), (2, 3, 3),
                              RowCounts()) is None  # a context of 99 does not fit


def test_each_quantity_is_told_by_the_shortest_way_to_it(monkeypatch):
    """Of cards what the deployment gives is divided by them: 8, 16 and 24 of three cuts."""
    asked = {}

    def steps(inputs, attention, names, threads):
        asked["steps"] = names
        return dict.fromkeys(names, np.array([48.0, 48.0, 48.0]))

    def rest(inputs, attention, names):
        asked["rest"] = names
        return dict.fromkeys(names, 5.0)

    monkeypatch.setattr(chunks, "decode_sweep", steps)
    monkeypatch.setattr(chunks, "sweep", rest)
    inputs = {"tensor_parallel": np.array([4, 8, 4]), "pipeline_parallel": 2,
              "data_parallel": np.array([1, 1, 3]), "input_tokens": 7}
    names = ("tpot", "output_throughput_per_device", "devices", "headroom_per_device",
             "input_tokens", "weights_total")
    found = chunks._told(names, "mla", inputs, {"headroom_per_device": np.full(3, 9.0)}, 3)
    assert {name: column.tolist() for name, column in found.items()} == {
        "tpot": [48] * 3, "output_throughput_per_device": [6, 3, 2], "devices": [8, 16, 24],
        "headroom_per_device": [9] * 3, "input_tokens": [7] * 3, "weights_total": [5] * 3}
    assert asked == {"steps": ["output_throughput", "tpot"], "rest": ["weights_total"]}
    asked.clear()
    chunks._told(("devices",), "mla", inputs, {}, 3)
    assert asked == {}


@pytest.mark.parametrize(("count", "number", "name"), [
    (10, 7, "part-1-a key.parquet"), (1, 0, "part-0-a key.parquet"),
    (55, 3, "part-03-a key.parquet"), (51, 10, "part-10-a key.parquet")])
def test_parts_are_named_so_that_their_order_is_that_of_their_numbers(count, number, name):
    whole = made(axes=(Axis(("a",), tuple((str(each),) for each in range(count)), ""),))
    assert parts.name(whole, number if count > 10 else number // 5) == name


def test_values_of_an_axis_are_numbers_where_all_of_them_are_plain():
    assert parts._plain(["1", "2.5"]) == [1, 2.5]
    assert parts._plain(["1", "2 GB"]) == ["1", "2 GB"]
    assert parts._plain(["1", "x"]) == ["1", "x"]


def test_what_is_told_of_a_sweep_is_plain_data():
    rows = {ROW: np.array([6, 11]), "tpot": np.array([.5, .25])}
    counted = RowCounts(12, {"late": (2, 9), "early": (3, 1)})
    whole = made(every=False, objectives={"tpot": -1, "rate": 1})
    told = running.Result(whole, rows, counted).as_json()
    assert told == {
        "sweep": "a key", "rows": 12, "kept": "front", "objectives": {"tpot": "min", "rate": "max"},
        "parts": None, "left_out": [
            {"reason": "early", "rows": 3, "first": whole.settings(1)},
            {"reason": "late", "rows": 2, "first": whole.settings(9)}],
        "deployments": [{"settings": whole.settings(6), "tpot": .5},
                        {"settings": whole.settings(11), "tpot": .25}]}
    assert running.Result(replace(whole, best=3), {}, counted, "a/b").as_json()["kept"] == 3
    every = running.Result(made(), {}, counted, "a/b").as_json()
    assert (every["kept"], every["parts"], every["deployments"]) == ("all", "a/b", [])


def test_branches_of_equal_weight_are_merged():
    """Of 2 to the power of k pieces one branch is left, and of 5 those of 1 and of 4."""
    tree = running._Tree(made(every=False))
    for number in range(5):
        tree.add({ROW: np.array([number]), "tpot": np.array([9.0 - number])}, RowCounts(3))
        assert [2 ** level for level in sorted(tree.branches)] == {
            0: [1], 1: [2], 2: [1, 2], 3: [4], 4: [1, 4]}[number]
    tree.add({}, RowCounts(1, {"a": (1, 7)}))
    tree.add(None, RowCounts(1))
    assert (tree.counted.rows, tree.counted.left) == (17, {"a": (1, 7)})
    assert tree.whole()[ROW].tolist() == [4]
    every = running._Tree(made())
    every.add({ROW: np.array([1])}, RowCounts(3))
    assert (every.whole(), every.counted.rows) == ({}, 3)


def test_the_chunks_are_computed_here_unless_a_scheduler_is_named(monkeypatch):
    monkeypatch.setattr(running, "here", lambda *given: ("here", *given[1:]))
    monkeypatch.setattr(running, "on_cluster", lambda *given: ("there", *given[1:]))
    monkeypatch.setattr(running, "cores", lambda: 7)
    assert list(running._computed(None, [], True, None, "tcp")) == []
    assert running._computed(None, [1], True, None, "tcp") == ("there", [1], True, "tcp")
    assert running._computed(None, [1], True, None, None) == ("here", [1], True, 7)
    assert running._computed(None, [1], False, 3, None) == ("here", [1], False, 3)


def here(monkeypatch, seconds, count, dies=()):
    """Which chunks are computed in this process, and which by others; each takes so long."""
    clock, alone, others, breaks = [0.0], [], [], list(dies)

    def work(_, number, parts):
        alone.append(number)
        clock[0] += seconds
        return number, None, None, None

    def pooled(_, numbers, parts, workers):
        others.append((numbers, workers))
        finishes = breaks.pop(0) if breaks else len(numbers)
        yield from ((number, None, None, None) for number in numbers[:finishes])
        if finishes < len(numbers):
            raise workers_broken
    workers_broken = workers.BrokenProcessPool()
    monkeypatch.setattr(workers, "work", work)
    monkeypatch.setattr(workers, "_pooled", pooled)
    monkeypatch.setattr(workers.time, "monotonic", lambda: clock[0])
    done = [number for number, *_ in workers.here(None, range(5), True, count)]
    assert done == [*range(5)]
    return alone, others


def test_others_are_started_once_a_sweep_takes_two_seconds(monkeypatch):
    assert here(monkeypatch, .1, 4) == ([*range(5)], [])
    assert here(monkeypatch, 1.0, 4) == ([0, 1], [([2, 3, 4], 3)])
    assert here(monkeypatch, 9.0, 2) == ([0], [([1, 2, 3, 4], 2)])
    assert here(monkeypatch, 9.0, 1) == ([*range(5)], [])


def test_a_process_that_dies_is_replaced_unless_three_die_with_nothing_finished(monkeypatch):
    assert here(monkeypatch, 9.0, 2, [0, 0, 1, 0])[1] == [
        ([1, 2, 3, 4], 2)] * 3 + [([2, 3, 4], 2)] * 2
    for dies in ([0, 0, 0], [0, 0, 1, 0, 0]):
        with pytest.raises(ParamsError, match="was killed 3 times before it finished a chunk"):
            here(monkeypatch, 9.0, 2, dies)


def test_a_chunk_is_rows_or_a_part_of_them(monkeypatch):
    monkeypatch.setattr(workers, "computed", lambda plan, number: ("rows", number))
    monkeypatch.setattr(workers, "encoded", lambda *given: given)
    some, every = made(every=False), made()
    assert workers.work(some, 7, False) == (7, "rows", 7, None)
    assert workers.work(some, 7, True) == (7, "rows", 7, (some, 7, "rows", 7))
    assert workers.work(every, 7, True) == (7, None, 7, (every, 7, "rows", 7))
    monkeypatch.setattr(workers, "program", lambda: "this state")
    assert workers._checked(some, 7, False, "this state") == (7, "rows", 7, None)
    with pytest.raises(ParamsError, match="another state of this program"):
        workers._checked(some, 7, False, "another")
    workers._install(some)
    assert workers._installed(7, False) == (7, "rows", 7, None)


def test_what_a_cluster_that_goes_away_leaves_is_said():
    assert str(workers._gone("tcp://a: it went", True)) == (
        "--scheduler tcp://a: it went; finished parts are kept, the same command goes on from "
        "there.")
    assert str(workers._gone("tcp://a: it went", False)) == (
        "--scheduler tcp://a: it went; nothing was kept, with a folder for its parts a sweep goes "
        "on from what is finished.")
    client = Made(sync=lambda *_, **__: {"a": 2, "b": 3}, scheduler=Made(ncores=None))
    assert workers._threads(client) == 5


def test_an_axis_is_inner_where_its_values_stay_numbers():
    for name, inner in (("workload.concurrency", True), ("concurrency", True),
                        ("hbm_efficiency", True), ("parallelism.tensor_parallel", True),
                        ("parallelism.balancing", False), ("device", False), ("precision", False),
                        ("concurrency+precision", False), ("concurrency+hbm_efficiency", True),
                        ("workload.requests", False)):
        paths = tuple(name.split("+"))
        assert plan._is_inner(Axis(paths, (), "")) is inner, name
    assert plan._canonical(Axis(("concurrency", "hbm_efficiency"), (), "")).paths == (
        "workload.concurrency", "hbm_efficiency")


def test_values_along_an_inner_axis_are_in_si_units_and_in_range():
    found = plan._numbers(axis("workload.concurrency", "1, 2", "--a"))
    assert found["workload.concurrency"].tolist() == [1, 2]
    with pytest.raises(ParamsError, match=r"^--a: workload\.concurrency: '0' is out of range"):
        plan._numbers(axis("workload.concurrency", "1, 0", "--a"))
    both = plan._numbers(axis("workload.concurrency+hbm_efficiency", "1+0.5, 3+0.25", "--a"))
    assert both["hbm_efficiency"].tolist() == [.5, .25]


def test_no_more_rows_are_planned_than_have_exact_numbers(monkeypatch):
    wide = Sweep("h200-r1-vllm-tp8", (INNER, OUTER))
    monkeypatch.setattr(plan, "MOST_ROWS", 11)
    with pytest.raises(ParamsError, match=r"^the axes have 12 combinations, expected at most 11\."):
        plan.planned(wide)
    monkeypatch.setattr(plan, "MOST_ROWS", 12)
    monkeypatch.setattr(plan, "MOST_OUTER", 2)
    with pytest.raises(ParamsError, match=r"^precision: 3 combinations of entries to load, "
                                          r"expected at most 2\.$"):
        plan.planned(wide)


def test_of_each_axis_of_the_workload_the_easiest_value_is_loaded():
    """The fewest requests and tokens, the longest context, the largest share of the memory."""
    axes = (axis("workload.concurrency", "5, 3, 9", ""), axis("hbm_efficiency", "1, 0.5", ""),
            axis("workload.context_tokens+workload.input_tokens", "900+30, 2000+40, 70+20", ""),
            axis("workload.memory_utilization", "0.8, 0.95, 0.9", ""))
    assert plan._Loader(Made(), axes)._easiest() == [
        "workload.concurrency=3", "workload.context_tokens=2000", "workload.input_tokens=20",
        "workload.memory_utilization=0.95"]


def test_plans_that_differ_in_anything_have_other_bytes():
    """Names and numbers, types and shapes, and where one ends and the next begins."""
    def pieces(item):
        return b"".join(plan._pieces(item))

    alike = [("ab", "c"), ("a", "bc"), ("abc",), [("a",), "bc"], 1, 1.0, "1", True, None,
             {"a": 1}, {"a": 2}, {"b": 1}, np.array([1, 2]), np.array([1.0, 2.0]),
             np.array([[1, 2]]), Choice("no"), Choice()]
    assert len({pieces(item) for item in alike}) == len(alike)
    assert pieces({"a": 1, "b": 2}) == pieces({"b": 2, "a": 1})
    assert pieces(Axis(("a",), (("1",),), "here")) == pieces(Axis(("a",), (("1",),), "there"))
    assert len(plan._key(made())) == len(plan.program()) == 16
    assert plan._key(made()) != plan._key(made(chunk=6))
