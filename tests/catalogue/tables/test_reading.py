"""A reader's own table: round trips, and the message of each kind of mistake."""


import numpy as np
import pyarrow
import pytest
from _door import sentence
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from catalogue import ROOT, ParamsError
from catalogue.tables import OwnFile, shelf

GEMM = {"operator": "gemm", "card": "my-card", "engine": "pytorch@2.11.0", "kernel": "",
        "dtype": "bf16", "time": 1e-5, "rows": 1, "columns": 7168, "depth": 2048}
VALUES = [  # a bad value in line 3, message
    ({"operator": "gem"}, ": 'gem' is not an operator, expected gemm."),
    ({"time": "nan"}, ", column 'time': 'nan' is not allowed, expected a time above 0."),
    ({"rows": "many"},
     ", column 'rows': 'many' is not allowed, expected a whole number of at least 1."),
    ({"dtype": "bf61"}, ", column 'dtype': 'bf61' is not allowed, expected bf16."),
    ({"card": "../etc"},
     ", column 'card': '../etc' is not allowed, expected a text such as nvidia-h200-sxm.")]
COLUMNS = [  # columns of the only row, message
    (GEMM | {"heads": 8}, ", line 2: gemm has no 'heads', expected it to be empty."),
    (GEMM | {"time [km]": 1}, ": has the column 'time' twice, expected it once."),
    ({"operator": "gemm", "time [MB]": 1},
     ", column 'time': 'MB' is not a unit of it, expected s, ms or us."),
    ({key: GEMM[key] for key in GEMM if key != "depth"},
     ", line 2: lacks the column 'depth', expected of gemm card, engine, kernel, dtype, rows, "
     "columns, depth, time.")]

SPOILT = [  # file, bytes that are replaced in it, message
    ("a.csv", b"mine", b"mi\0e",
     ", line 2, column 'kernel': 'mi\\x00e' is not allowed, expected a text such as "
     "'its name', without NUL characters."),
    ("a.parquet", b"mine", b"mi\xffe", ": cannot be read as a Parquet file ("),
    ("a.csv", b"kernel", b"k\xffrnel", ": cannot be read as a CSV with a head ("),
    ("a.parquet", b"kernel", b"k\xffrnel", ": cannot be read as a Parquet file (")]


def as_csv(path, *rows):
    """A CSV of rows as they are given, one column per key of the first."""
    head = list(rows[0])
    path.write_text("\n".join([",".join(head), *(
        ",".join(str(row.get(name, "")) for name in head) for row in rows)]) + "\n", "utf-8")
    return path


def as_parquet(path, *rows):
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return path


def refused(path):
    return sentence(shelf(path).parts).replace(f"{path.parent}/", "")


@given(st.lists(st.tuples(st.integers(1, 10**6), st.floats(1e-9, 1e3)), min_size=1, max_size=9),
       st.sampled_from([(as_csv, "csv"), (as_parquet, "parquet")]))
@settings(max_examples=30)
def test_rows_come_back_as_they_were_written(tmp_path_factory, rows, kind):
    write, ending = kind
    path = write(tmp_path_factory.getbasetemp() / f"mine.{ending}", *(
        GEMM | {"rows": count, "time": time} for count, time in rows))
    table = shelf(path).table("gemm")
    assert table["rows"].tolist() == [count for count, _ in rows]
    assert table["time"].tolist() == [time for _, time in rows]
    assert (table.distinct("card"), table.distinct("engine")) == (("my-card",), ("pytorch@2.11.0",))
    assert table["row"][0] == (2 if ending == "csv" else 1)
    with pytest.raises(ValueError, match="read-only"):
        table["time"][0] = 1


def test_several_operators_in_one_file_and_several_files_in_a_folder(tmp_path):
    reduced = {"operator": "all_reduce", "card": "my-card", "engine": "nccl@2.27.3",
               "dtype": "bf16", "time": 2e-5, "ranks": 8, "bytes": 1024}
    as_csv(tmp_path / "a.csv", GEMM | {"ranks": "", "bytes": ""}, reduced)
    as_parquet(tmp_path / "b.parquet", GEMM | {"card": "other-card"})
    tables = shelf(tmp_path)
    assert tables.operators() == ("gemm", "all_reduce")
    assert tables.table("gemm").distinct("card") == ("my-card", "other-card")
    assert [part.rows for part in tables.parts()] == [1, 1, 1]
    assert len(tables.table("gemm", card="other-card")) == 1
    assert tables.table("all_reduce", engine=("nccl@2.27.3",))["bytes"].tolist() == [1024]
    assert tables.table("all_reduce")["kernel"].tolist() == [""]  # its default
    with pytest.raises(ParamsError, match="'gemms' is not an operator, expected gemm"):
        tables.table("gemms")
    with pytest.raises(ParamsError, match="no row has the card 'h200', expected one of my-card"):
        tables.parts(card="h200")


def test_units_in_the_head_and_the_template(tmp_path):
    row = {key: value for key, value in GEMM.items() if key != "time"}
    path = as_csv(tmp_path / "mine.csv", row | {"time [us]": 12.5})
    np.testing.assert_allclose(shelf(path).table("gemm")["time"], 12.5e-6, rtol=1e-15)
    template = OwnFile(ROOT / "templates" / "kernels.csv").read
    assert template.keys() == {"gemm", "experts", "mla_decode", "all_reduce"}
    assert template["all_reduce"]["bytes"].tolist() == [896 * 1024]


@pytest.mark.parametrize(("change", "message"), VALUES, ids=str)
def test_bad_values(tmp_path, change, message):
    assert refused(as_csv(tmp_path / "bad.csv", GEMM, GEMM | change)) == f"bad.csv, line 3{message}"


@pytest.mark.parametrize(("row", "message"), COLUMNS)
def test_bad_columns(tmp_path, row, message):
    assert refused(as_csv(tmp_path / "bad.csv", row)).startswith(f"bad.csv{message}")


@pytest.mark.parametrize(("file", "old", "new", "message"), SPOILT)
def test_spoilt_text(tmp_path, file, old, new, message):
    write = as_csv if file.endswith("csv") else as_parquet
    path = write(tmp_path / file, GEMM | {"kernel": "mine"})
    path.write_bytes(path.read_bytes().replace(old, new))
    assert refused(path).startswith(f"{file}{message}")


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"# only a remark\n"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_no_table(tmp_path, content, ending):
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(content)
    assert refused(path).startswith(f"bad.{ending}")
    path = as_parquet(tmp_path / "cut.parquet", *[GEMM] * 1000)
    path.write_bytes(path.read_bytes()[:-100])
    assert refused(path).startswith("cut.parquet")
