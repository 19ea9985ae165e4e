"""Frames: headings, units and intervals in both languages; the CSV of a figure is its frame."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from notebooks.derive.formulas.exported import DerivationError
from notebooks.show import frames

STEP = pd.DataFrame({"tpot": [0.0304, 0.2], "tpot_low": [0.0279, 0.1], "tpot_high": [0.0553, 0.3]},
                    index=pd.Index([1, 8], name="users"))
USERS = {"users": ("users", "用户数")}


def test_a_quantity_has_its_name_unit_and_interval_in_both_languages(cell):
    frames.show(STEP, labels=USERS)
    assert cell.texts("en")[0].splitlines()[0] == "| users | time per output token |"
    assert cell.rows("en") == [["1", "30.4 ms (27.9–55.3 ms)"], ["8", "200 ms (100–300 ms)"]]
    assert cell.rows("zh") == [["1", "30.4 ms（27.9–55.3 ms）"], ["8", "200 ms（100–300 ms）"]]


def test_a_unit_that_cells_lack_stands_in_the_heading(cell):
    frames.show(STEP[["tpot"]], labels=USERS, formats={"tpot": frames.in_unit("ms", 1)})
    assert "time per output token [ms]" in cell.texts("en")[0]
    assert cell.rows("en") == [["1", "30.4"], ["8", "200.0"]]


def test_values_of_a_level_of_columns_are_labelled(cell):
    wide = pd.concat({"r1": STEP}, names=["model"]).unstack("users")
    frames.show(wide, labels={"model": ("model", "模型"), "r1": ("R1", "R1"), "tpot": ("", ""),
                              "users": lambda users: (f"{users} users", f"{users} 个用户")})
    assert cell.texts("zh")[0].splitlines()[0] == "| 模型 | 1 个用户 | 8 个用户 |"
    assert cell.rows("en") == [["R1", "30.4 ms (27.9–55.3 ms)", "200 ms (100–300 ms)"]]


@pytest.mark.parametrize("draws", [
    frames.show, lambda frame: frames.plot(frame, x="tpto", y="tpto")])
def test_a_column_without_a_name_is_an_error_with_the_nearest(draws):
    with pytest.raises(DerivationError, match=r"'tpto' is neither a quantity .* nearest are tpot"):
        draws(pd.DataFrame({"tpto": [1.0]}))


def test_csv_of_a_figure_is_its_frame(cell, monkeypatch):
    monkeypatch.setenv("BOOK_PAGE", "1")
    frames.plot(STEP, x="users", y="tpot", labels=USERS, log="x")
    [metadata] = [output.metadata["image/svg+xml"] for output in cell.captured.outputs
                  if (output.metadata or {}).get("lang") == "zh"]
    assert pd.read_csv(io.StringIO(metadata["numbers"]), index_col="users").equals(STEP)


def test_glued_numbers_have_their_unit(cell):
    frames.glue("step", frames.interval_text(STEP.loc[1], "tpot"))
    frames.glue("memory", 64 * 2**30, frames.with_unit("GiB", 0))
    frames.glue("rate", 1234.0, "token/s")
    assert cell.numbers == {
        "step": "30.4 ms (27.9–55.3 ms)", "memory": "64 GiB", "rate": "1,234 token/s"}


def test_a_wide_table_ends_before_the_dropdown_that_it_is_folded_under(cell):
    frames.show(STEP, labels=USERS, wide=True, folded="All rows")
    fences = [line for line in cell.texts("en")[0].splitlines() if line and not line.strip(":")]
    inner, outer = map(len, fences)
    assert inner < outer
