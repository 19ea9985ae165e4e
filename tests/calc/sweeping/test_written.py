"""A sweep as it is written: values and ranges of an axis, what is refused, flags over a file."""

import pytest

from calc.sweeping import axes as module
from calc.sweeping.axes import Axis, axis
from calc.sweeping.definition import LARGEST_CHUNK, MOST_BEST, Sweep, is_sweep, overlaid, read
from catalogue import ParamsError


def values(written):
    return [value for value, in axis("workload.concurrency", written, "--axis").values]


@pytest.mark.parametrize(("written", "told"), [
    ("3..7", ["3", "4", "5", "6", "7"]), ("3..7:+2", ["3", "5", "7"]), ("3..8:+2", ["3", "5", "7"]),
    ("3..50:x2", ["3", "6", "12", "24", "48"]), ("3..48:x4", ["3", "12", "48"]),
    ("3..11:/3", ["3", "7", "11"]), ("0..1:/5", ["0", "0.25", "0.5", "0.75", "1"]),
    ("0.1..0.4:+0.1", ["0.1", "0.2", "0.3", "0.4"]), ("-2..1", ["-2", "-1", "0", "1"]),
    ("1, 8..32:x2 , 3", ["1", "8", "16", "32", "3"]), ("100..300:+100", ["100", "200", "300"]),
    ("1..3 GB", ["1 GB", "2 GB", "3 GB"]), ("1 GB..2 GB:+0.5", ["1 GB", "1.5 GB", "2 GB"]),
    ("1..4 ms:x2", ["1 ms", "2 ms", "4 ms"]), ("../a.yml", ["../a.yml"]), ("a..b", ["a..b"]),
    ("1..2:/2", ["1", "2"]), ("1..3:", ["1", "2", "3"])])
def test_a_range_has_every_number_from_its_lower_end_on_as_exact_decimals(written, told):
    assert values(written) == told


@pytest.mark.parametrize("written", [
    "7..3", "3..3", "1..9:x1", "0..9:x2", "-1..9:x2", "1..9:+0", "1..9:+-1", "1..9:/1", "1..9:/2.5",
    "1..9:*2", "1..", "1..x", "1..9:+x", "1 GB..2 s", "1 GB..2", "1..9:+inf", "1..9:xnan"])
def test_what_leads_nowhere_is_no_range(written):
    with pytest.raises(ParamsError, match=r"^--axis: '.*' is not a range, expected "):
        values(written)


def test_values_may_be_a_list_of_anything_that_is_written():
    assert values([1, "8..32:x2", True, 0.5]) == ["1", "8", "16", "32", "true", "0.5"]


def test_several_paths_move_together_and_their_values_are_no_ranges():
    pair = axis("device + cluster.node", " a+b , c..d + e", "--axis")
    assert (pair.paths, pair.values) == (("device", "cluster.node"), (("a", "b"), ("c..d", "e")))
    assert pair.name == "device+cluster.node"
    assert pair.settings(1) == {"device": "c..d", "cluster.node": "e"}
    for written in ("a", "a+b+c", "a+", "+b", "a+b, c"):
        with pytest.raises(ParamsError, match=r"is no value of .*, expected VALUE\+VALUE\."):
            axis("device+cluster.node", written, "--axis")
    for written in ("", "1,,2", " "):
        with pytest.raises(ParamsError, match=r"is no value of 'x', expected VALUE\."):
            axis("x", written, "--axis")


def test_no_value_comes_twice_and_there_are_no_more_than_so_many(monkeypatch):
    for written, twice in (("1,2,1", "1"), ("3..5,4", "4")):
        with pytest.raises(ParamsError, match=f"^--axis: '{twice}' is given twice.$"):
            values(written)
    with pytest.raises(ParamsError, match=r"'a\+b' is given twice"):
        axis("x+y", "a+b,a+c,a+b", "--axis")
    assert axis("x+y", "a+b,a+c", "").values == (("a", "b"), ("a", "c"))
    monkeypatch.setattr(module, "MOST_VALUES", 5)
    assert len(values("1..5")) == 5
    with pytest.raises(ParamsError, match="more than 5 values of 'workload"):
        values("1..6")


ONE, TWO = (Axis((path,), (("1",), ("2",)), f"--axis {path}") for path in ("a", "b"))


@pytest.mark.parametrize("given", [
    {"best": 1, "objectives": {"tpot": -1}}, {"best": MOST_BEST, "objectives": {"tpot": -1}},
    {"every": True}, {"every": True, "objectives": {}}, {"chunk": 1}, {"chunk": LARGEST_CHUNK},
    {"objectives": {"tpot": -1, "ttft": -1}}, {"settings": ("c=1", "d = 2")}])
def test_what_can_be_asked_together(given):
    assert Sweep("s", (ONE, TWO), **given).scenario == "s"


@pytest.mark.parametrize(("given", "said"), [
    ({"axes": ()}, "a sweep needs an axis"), ({"axes": (ONE, ONE)}, "--axis a: 'a' is given twice"),
    ({"settings": ("b = 3",)}, "--axis b: 'b' is given twice"),
    ({"settings": ("c=1", "c=2")}, "'c' is given twice"),
    ({"best": 0, "objectives": {"tpot": -1}}, "best: 0 is out of range, expected 1 to 100,000"),
    ({"best": MOST_BEST + 1, "objectives": {"tpot": -1}}, "best: 100001 is out of range"),
    ({"best": 3}, "the best are those by one objective"),
    ({"best": 3, "objectives": {"tpot": -1, "ttft": -1}}, "the best are those by one objective"),
    ({"every": True, "objectives": {"tpot": -1}}, "where all rows are kept no objective decides"),
    ({"every": True, "best": 3, "objectives": {"tpot": -1}}, "where all rows are kept"),
    ({"chunk": 0}, "chunk: 0 is out of range, expected 1 to 4,194,304 deployments"),
    ({"chunk": LARGEST_CHUNK + 1}, "is out of range")])
def test_what_cannot_be_asked_together(given, said):
    with pytest.raises(ParamsError) as told:
        Sweep("s", **{"axes": (ONE, TWO)} | given)
    assert said in str(told.value)


def test_a_flag_takes_the_place_of_what_a_file_says_of_the_same_path():
    file = Sweep("s", (ONE, TWO), ("c=1", "d=2"), every=True)
    other = Axis(("b", "e"), (("9", "9"),), "--axis b+e")
    assert overlaid(file, {}) == file
    assert overlaid(file, {"axes": (other,)}).axes == (ONE, other)
    moved = overlaid(file, {"axes": (Axis(("c",), (("7",),), "--axis c"),)})
    assert ([each.name for each in moved.axes], moved.settings) == (["a", "b", "c"], ("d=2",))
    fixed = overlaid(file, {"settings": ("b = 3", "c=4")})
    assert (fixed.axes, fixed.settings) == ((ONE,), ("d=2", "b = 3", "c=4"))
    with pytest.raises(ParamsError, match="'b' is given twice"):
        overlaid(file, {"axes": (other,), "settings": ("b=1",)})
    both = overlaid(file, {"axes": (other,), "settings": ("c=5", "a=6")})
    assert (both.axes, both.settings) == ((other,), ("d=2", "c=5", "a=6"))
    assert overlaid(file, {"objectives": {"tpot": -1}}).every is False
    assert overlaid(file, {"best": 2, "objectives": {"tpot": -1}}).best == 2
    assert overlaid(file, {"chunk": 9}).every is True


WHOLE = """
scenario: h200-r1-vllm-tp8
set: {precision: w4a16-awq, space.flag: true}
axes: {workload.concurrency: [1, 2]}
maximise: output_throughput
quantities: [tpot, ttft]
best: 7
chunk: 99
"""


def test_a_file_says_all_that_a_sweep_is(tmp_path):
    path = tmp_path / "sweep.yml"
    path.write_text(WHOLE)
    found = read(path)
    assert (found.settings, found.objectives, found.best, found.chunk, found.quantities) == (
        ("precision=w4a16-awq", "space.flag=true"), {"output_throughput": 1}, 7, 99,
        ("tpot", "ttft"))
    assert found.every is False
    assert read(path, chunk=5).chunk == 5
    path.write_text(WHOLE.replace("maximise: output_throughput", "all: true").replace(
        "best: 7", "").replace("chunk: 99", "").replace("[tpot, ttft]", "tpot"))
    every = read(path)
    assert (every.every, every.quantities, every.objectives, every.best) == (
        True, ("tpot",), None, None)
    assert every.chunk == Sweep("s", (ONE,)).chunk
    path.write_text(WHOLE.replace("maximise: output", "minimise: [tpot]\nmaximise: output"))
    with pytest.raises(ParamsError, match="the best are those by one objective"):
        read(path)
    assert is_sweep(str(path))
    assert not is_sweep("h200-r1-vllm-tp8")
    assert not is_sweep(str(tmp_path / "none.yml"))
    (tmp_path / "other.yml").write_text("title: {en: a, zh: b}")
    assert not is_sweep(str(tmp_path / "other.yml"))


@pytest.mark.parametrize(("change", "said"), [
    (("best: 7", "best: true"), "best: expected a whole number"),
    (("best: 7", "best: 7.5"), "best: expected a whole number"),
    (("chunk: 99", "chunk: x"), "chunk: expected a whole number"),
    (("chunk: 99", "all: 1"), "all: expected true or false"),
    (("axes: {", "axes: 3 #{"), "axes: expected a group of PATH: VALUES"),
    (("[1, 2]", "{a: 1}"), "workload.concurrency: expected a list or a range of values"),
    (("[1, 2]", ""), "workload.concurrency: expected a list or a range of values"),
    (("quantities: [tpot, ttft]", "quantities: [1]"), "quantities: expected names of quantities"),
    (("scenario: h200-r1-vllm-tp8", "scenario: 3"), "expected the name or the path of a scenario")])
def test_what_a_file_says_in_another_type_is_refused(tmp_path, change, said):
    path = tmp_path / "sweep.yml"
    path.write_text(WHOLE.replace(*change))
    with pytest.raises(ParamsError) as told:
        read(path)
    assert said in str(told.value)
