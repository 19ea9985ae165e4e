"""Values and ranges of an axis, as they are written."""

import pytest

from calc.sweeping.plan import axis
from catalogue import ParamsError


def values(written):
    return [value for value, in axis("workload.concurrency", written).values]


@pytest.mark.parametrize(("written", "expected"), [
    ("3..7", ["3", "4", "5", "6", "7"]), ("3..8:+2", ["3", "5", "7"]),
    ("3..50:x2", ["3", "6", "12", "24", "48"]), ("3..48:x4", ["3", "12", "48"]),
    ("3..11:/3", ["3", "7", "11"]), ("0..1:/5", ["0", "0.25", "0.5", "0.75", "1"]),
    ("0.1..0.4:+0.1", ["0.1", "0.2", "0.3", "0.4"]), ("-2..1", ["-2", "-1", "0", "1"]),
    ("1, 8..32:x2 , 3", ["1", "8", "16", "32", "3"]), ("1..3 GB", ["1 GB", "2 GB", "3 GB"]),
    ("1 GB..2 GB:+0.5", ["1 GB", "1.5 GB", "2 GB"]), ("../a.yml", ["../a.yml"])])
def test_a_range_is_exact_decimals_with_both_ends(written, expected):
    assert values(written) == expected


@pytest.mark.parametrize("written", [
    "7..3", "3..3", "1..9:x1", "0..9:x2", "1..9:+0", "1..9:+-1", "1..9:/1", "1..9:/2.5", "1..9:*2",
    "1..", "1..x", "1 GB..2 s", "1 GB..2", "1..9:+inf"])
def test_ranges_that_end_nowhere(written):
    with pytest.raises(ParamsError, match=r"^--axis .*: '.*' is not a range, expected "):
        values(written)


def test_several_paths_move_together():
    pair = axis("device + cluster.node", " a+b , c..d + e")
    assert (pair.paths, pair.values) == (("device", "cluster.node"), (("a", "b"), ("c..d", "e")))
    for written in ("a", "a+b+c", "a+", "+b", "a+b, c"):
        with pytest.raises(ParamsError, match=r"is no value of .*, expected VALUE\+VALUE\."):
            axis("device+cluster.node", written)


@pytest.mark.parametrize(("name", "written"), [("x", "1,2,1"), ("x", "3..5,4"), ("x+y", "1+2,1+2")])
def test_a_value_given_twice(name, written):
    with pytest.raises(ParamsError, match=r"^--axis .*: '.*' is given twice\.$"):
        axis(name, written)
