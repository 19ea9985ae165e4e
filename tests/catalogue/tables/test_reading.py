"""A reader's own table: what is read of it, and the sentence that each kind of mistake gets."""

from __future__ import annotations

import os

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from catalogue import ROOT, ParamsError
from catalogue.tables import OPERATORS, columns, shelf
from catalogue.tables.reading import read

GEMM = {"operator": "gemm", "card": "my-card", "engine": "pytorch@2.11.0", "kernel": "",
        "dtype": "bf16", "time": 1e-5, "rows": 1, "columns": 7168, "depth": 2048}


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
    with pytest.raises(ParamsError) as caught:
        shelf(path).parts()
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence.replace(str(path.parent) + "/", "")


@pytest.mark.parametrize(("write", "name"), [(as_csv, "mine.csv"), (as_parquet, "mine.parquet")])
def test_a_row_comes_back_as_it_was_written(tmp_path, write, name):
    path = write(tmp_path / name, GEMM, GEMM | {"rows": 64, "time": 2.5e-5})
    table = shelf(path).table("gemm")
    assert table["rows"].tolist() == [1, 64]
    assert table["time"].tolist() == [1e-5, 2.5e-5]
    assert table.cards() == ("my-card",)
    assert table.engines() == ("pytorch@2.11.0",)
    assert table.operators() == ("gemm",)
    assert table.where(1) == f"{path}, {'line 3' if write is as_csv else 'row 2'}"
    with pytest.raises(ValueError, match="read-only"):
        table["time"][0] = 1


def test_several_operators_stand_in_one_file_and_several_files_in_a_folder(tmp_path):
    reduced = {"operator": "all_reduce", "card": "my-card", "engine": "nccl@2.27.3",
               "dtype": "bf16", "time": 2e-5, "ranks": 8, "bytes": 1024}
    as_csv(tmp_path / "a.csv", GEMM | {"ranks": "", "bytes": ""}, reduced)
    as_parquet(tmp_path / "b.parquet", GEMM | {"card": "other-card"})
    found = shelf(tmp_path)
    assert found.operators() == ("gemm", "all_reduce")
    assert found.cards("gemm") == ("my-card", "other-card")
    assert found.engines() == ("nccl@2.27.3", "pytorch@2.11.0")
    assert [part.rows for part in found.parts()] == [1, 1, 1]
    assert len(found.table("gemm")) == 2
    assert len(found.table("gemm", card="other-card")) == 1
    assert found.table("all_reduce", engine=("nccl@2.27.3",))["bytes"].tolist() == [1024]
    assert found.table("all_reduce")["kernel"].tolist() == [""]  # its default


def test_a_head_may_name_a_unit(tmp_path):
    row = {key: value for key, value in GEMM.items() if key != "time"}
    path = as_csv(tmp_path / "mine.csv", row | {"time [us]": 12.5})
    np.testing.assert_allclose(shelf(path).table("gemm")["time"], 12.5e-6, rtol=1e-15)


def test_the_template_is_a_table_that_has_nothing_wrong():
    tables = read(ROOT / "templates" / "kernels.csv", "kernels.csv")
    assert tables.keys() == {"gemm", "experts", "mla_decode", "all_reduce"}
    assert tables["all_reduce"]["bytes"].tolist() == [896 * 1024]


@pytest.mark.parametrize(("change", "sentence"), [
    ({"operator": "gem"}, "bad.csv, line 3: 'gem' is not an operator, expected gemm."),
    ({"time": 0}, "bad.csv, line 3, column 'time': '0' is not allowed, expected a time above 0."),
    ({"time": -1e-6}, "bad.csv, line 3, column 'time': '-1e-06' is not allowed, expected a time "
                      "above 0."),
    ({"time": "nan"}, "bad.csv, line 3, column 'time': 'nan' is not allowed, expected a time "
                      "above 0."),
    ({"time": "fast"}, "bad.csv, line 3, column 'time': 'fast' is not allowed, expected a time "
                       "above 0."),
    ({"rows": "many"}, "bad.csv, line 3, column 'rows': 'many' is not allowed, expected a whole "
                       "number of at least 1."),
    ({"rows": 0}, "bad.csv, line 3, column 'rows': '0' is not allowed, expected a whole number of "
                  "at least 1."),
    ({"rows": 1.5}, "bad.csv, line 3, column 'rows': '1.5' is not allowed, expected a whole number "
                    "of at least 1."),
    ({"rows": ""}, "bad.csv, line 3, column 'rows': '' is not allowed, expected a whole number of "
                   "at least 1."),
    ({"dtype": "bf61"}, "bad.csv, line 3, column 'dtype': 'bf61' is not allowed, expected bf16."),
    ({"engine": "vllm"}, "bad.csv, line 3, column 'engine': 'vllm' is not allowed, expected a text "
                         "such as vllm@0.24.0."),
    ({"card": "../etc"}, "bad.csv, line 3, column 'card': '../etc' is not allowed, expected a text "
                         "such as nvidia-h200-sxm."),
], ids=str)
def test_a_bad_value_is_told_with_its_line_column_and_what_was_expected(tmp_path, change, sentence):
    assert refused(as_csv(tmp_path / "bad.csv", GEMM, GEMM | change)) == sentence


@pytest.mark.parametrize(("rows", "sentence"), [
    ([GEMM | {"row": 1}], "bad.csv: 'row' is not a column of any operator, expected rows"),
    ([GEMM | {"heads": 8}], "bad.csv, line 2: gemm has no 'heads', expected it to be empty."),
    ([GEMM | {"time [km]": 1}], "bad.csv: has the column 'time' twice, expected it once."),
    ([{"rows [km]": 1} | GEMM], "bad.csv, column 'rows': 'km' is not a unit of it, expected none: "
                                "it is a number or a text."),
    ([{"operator": "gemm", "time [MB]": 1}], "bad.csv, column 'time': 'MB' is not a unit of it, "
                                             "expected s, ms or us."),
    ([{key: GEMM[key] for key in GEMM if key != "operator"}],
     "bad.csv: lacks the column 'operator', expected one of gemm, "),
    ([{key: GEMM[key] for key in GEMM if key != "depth"}],
     "bad.csv, line 2: lacks the column 'depth', expected of gemm card, engine, kernel, dtype, "
     "rows, columns, depth, time."),
], ids=lambda value: value if isinstance(value, str) else "")
def test_bad_columns_are_told(tmp_path, rows, sentence):
    assert refused(as_csv(tmp_path / "bad.csv", *rows)).startswith(sentence)


def test_a_line_with_too_few_columns_is_told(tmp_path):
    path = as_csv(tmp_path / "bad.csv", GEMM)
    path.write_text(f"# a remark\n{path.read_text()}gemm,my-card\n")
    assert refused(path) == "bad.csv, line 4: has 2 columns, expected 9 as in the head."


@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe", b"# only a remark\n"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_what_is_no_table_is_told(tmp_path, content, ending):
    path = tmp_path / f"bad.{ending}"
    path.write_bytes(content)
    assert refused(path).startswith(f"bad.{ending}")


def test_a_truncated_parquet_file_is_told(tmp_path):
    path = as_parquet(tmp_path / "bad.parquet", *[GEMM] * 1000)
    path.write_bytes(path.read_bytes()[:-100])
    assert refused(path).startswith("bad.parquet: cannot be read as a Parquet file (")


def test_a_damaged_parquet_file_is_told(tmp_path):
    path = as_parquet(tmp_path / "bad.parquet", *[GEMM] * 1000)
    raw = bytearray(path.read_bytes())
    raw[4:200] = b"\xff" * 196
    path.write_bytes(raw)
    assert refused(path).startswith("bad.parquet")


def test_too_many_rows_are_refused_by_what_the_file_says_of_itself(tmp_path, monkeypatch):
    path = as_parquet(tmp_path / "bad.parquet", *[GEMM] * 11)
    monkeypatch.setattr(columns, "MOST_ROWS", 10)
    monkeypatch.setattr(parquet.ParquetFile, "read", None)  # nothing of it is read
    assert refused(path) == ("bad.parquet: has 11 rows, expected at most 10; split it by operator "
                             "or card.")


def test_too_many_rows_of_a_csv_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "MOST_ROWS", 10)
    assert "has 11 rows, expected at most 10" in refused(
        as_csv(tmp_path / "bad.csv", *[GEMM] * 11))
    monkeypatch.setattr(columns, "MOST_BYTES", 10)
    assert "bytes unpacked, expected at most 10" in refused(as_csv(tmp_path / "bad.csv", GEMM))


def test_a_parquet_file_of_other_types_is_told(tmp_path):
    path = as_parquet(tmp_path / "bad.parquet", GEMM | {"rows": [1, 2]})
    assert refused(path) == ("bad.parquet, column 'rows': holds lists or structures, expected "
                             "texts and numbers.")
    path = as_parquet(tmp_path / "bad.parquet", GEMM | {"rows": True})
    assert refused(path) == ("bad.parquet, row 1, column 'rows': 'True' is not allowed, expected a "
                             "whole number of at least 1.")


def test_a_folder_without_a_table_and_a_link_to_itself_are_told(tmp_path):
    folder = tmp_path / "empty"
    folder.mkdir()
    assert refused(folder) == ("empty: holds no table, expected a file that ends in .parquet or "
                               ".csv, or a folder with such files.")
    loop = folder / "loop.csv"
    loop.symlink_to(loop)
    assert refused(loop).startswith("loop.csv: cannot be read (too many levels")
    assert refused(folder).startswith("empty: cannot be read (too many levels")
    os.mkfifo(folder / "pipe.csv")
    assert refused(folder / "pipe.csv").startswith("pipe.csv: holds no table, expected a file")
    (folder / "around").symlink_to(folder)
    loop.unlink()
    assert refused(folder).startswith("empty: holds no table")
    assert refused(folder / "nothing").startswith("nothing: cannot be read (no such file")


def test_an_operator_that_nobody_knows_is_told(tmp_path):
    tables = shelf(as_csv(tmp_path / "mine.csv", GEMM))
    with pytest.raises(ParamsError, match="'gemms' is not an operator, expected gemm"):
        tables.table("gemms")
    with pytest.raises(ParamsError, match="no row has the card 'h200', expected one of my-card"):
        tables.parts(card="h200")


def test_every_operator_has_what_every_row_needs():
    for operator in OPERATORS.values():
        names = [column.name for column in operator.columns]
        assert len(names) == len(set(names))
        assert names[:4] == ["card", "engine", "kernel", "dtype"]
        assert names[-1] == "time"
        assert "time" not in operator.key
