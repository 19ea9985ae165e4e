"""Display: both languages print the same numbers, text stays text, errors are one sentence."""

from __future__ import annotations

import csv
import io
import os
import re
from unittest import mock

import pytest
import sympy
from IPython.core.interactiveshell import InteractiveShell

import calc
import catalogue
from catalogue.reading import words
from notebooks.derive.formulas.exported import DerivationError
from notebooks.derive.formulas.symbols import sym
from notebooks.show import arithmetic, display, long_table, numbers

R1 = "h200-r1-vllm-tp8"
DIGITS = re.compile(r"\d[\d,.]*\d|\d")
HOSTILE = "<script>x</script>"
ROW = r"| layers | 1,200 | a\|b |"
EQUATION = "$$\nL_m = L - L_d\n$$ (eq-moe)"

NUMBERS = [
    (numbers.fmt_int, (671026419200,), "671,026,419,200"),
    (numbers.fmt_bytes, (169.563e9,), "169.56 GB"),
    (numbers.fmt_bytes, (64 * 2**30, "GiB"), "64.00 GiB"),
    (numbers.fmt_sig, (0.000123456,), "0.000123"),
    (numbers.fmt_sig, (6.02e23,), "6.02×10²³"),
    (numbers.fmt_count, (36.626e9,), "36.63×10⁹"),
    (numbers.fmt_in, (0.0304, "ms", 1), "30.4"),
    (numbers.fmt_percent, (0.97449,), "97.4%"),
    (numbers.fmt_time, (0.0228,), "22.8 ms"),
    (numbers.fmt_quantity, (1.6e12, "B/s"), "1.6 TB/s"),
    (numbers.fmt_quantity, (None, "B"), "–"),
    (numbers.fmt_like, (169.560714e9, "20.97 GB"), "169.6 GB"),
    (numbers.fmt_like, (70272, "0.070 MiB/token"), "0.067 MiB/token"),
    (numbers.fmt_like, (0.75, "0.7"), "0.75"),
    (numbers.fmt_written, ("64000 token/s",), "64,000 token/s"),
]


@pytest.mark.parametrize(("fmt", "given", "text"), NUMBERS)
def test_number_formats(fmt, given, text):
    assert fmt(*given) == text


def test_integers_are_not_rounded_silently():
    with pytest.raises(ValueError, match="not a whole number"):
        numbers.fmt_int(2.5)


def test_tables_have_the_same_numbers_in_both_languages(cell):
    display.table([{"name": ("layers", "层数"), "value": 1200, "note": "a|b"}],
                  {"name": ("quantity", "量"), "value": ("value", "数值"), "note": "—"})
    assert cell.texts("en")[0].splitlines()[2] == ROW
    assert DIGITS.findall(cell.texts("en")[0]) == DIGITS.findall(cell.texts("zh")[0]) == ["1,200"]


def test_equations_are_the_same_in_both_languages(cell):
    display.formula("moe_layers", sym.num_hidden_layers - sym.first_k_dense_replace, "eq-moe")
    assert cell.texts("")[0] == EQUATION


def test_folded_outputs_keep_equations_in_both_languages_and_pass_numbers_through(cell):
    with display.folded("Title", "标题"):
        display.law("x", sympy.Symbol("Q") / 3, label="eq-fold")
        display.markdown("width", "宽度")
        display.number("test-folded", 7)
    (en,), (zh,) = cell.texts("en"), cell.texts("zh")
    assert en.startswith("::::::{dropdown} Title")
    assert ["eq-fold" in text for text in (en, zh)] == [True, True]
    assert ["width" in text for text in (en, zh)] == [True, False]
    assert cell.numbers == {"test-folded": "7"}


def test_numbers_are_glued_formatted_and_once(cell):
    display.numbers({"test-share": 0.25, "test-rest": 0.75}, numbers.fmt_percent, digits=0)
    display.interval("test-time", (2, 1.5, 4), numbers.fmt_time)
    assert cell.numbers == {"test-share": "25%", "test-rest": "75%", "test-time": "2 s",
                            "test-time-low": "1.5 s", "test-time-high": "4 s"}
    display.number("test-share", 0.25, numbers.fmt_percent, digits=0)
    with pytest.raises(DerivationError, match="glued twice, as 25% and as 6"):
        display.number("test-share", 6)


def test_downloads_contain_every_row_of_the_table(cell):
    rows = [{"card": "a", "cost": 1.5}, {"card": "b", "users": 3}]
    display.download("costs.csv", rows, ("all", "全部"))
    assert cell.texts("en") == []  # outside the book
    with mock.patch.dict(os.environ, BOOK_PAGE="1"):
        display.download("costs.csv", rows, ("all", "全部"))
    files = [one.metadata["file"]["costs.csv"] for one in cell.captured.outputs]
    assert files[0] == files[1]
    assert list(csv.DictReader(io.StringIO(files[0]))) == [
        {"card": "a", "cost": "1.5", "users": ""}, {"card": "b", "cost": "", "users": "3"}]


@pytest.mark.parametrize(("key", "text"), [
    ("data sheet, https://example.org/card", "[data sheet](https://example.org/card)"),
    ("our own profile", "our own profile"), ("https://example.org/c", "https://example.org/c")])
def test_sources_with_an_address_are_links(key, text):
    assert display.cited(key) == text


def test_text_of_files_is_escaped(cell):
    display.markdown(words.hidden(HOSTILE), words.hidden("[a](javascript:b)"))
    long_table.rows_table([{"id": "S1-001", "what": HOSTILE, "more": "<b>", "group": '"><i>',
                            "link": "javascript:'<'"}], {"id": "i", "what": "w"}, "<i>")
    for lang in ("en", "zh"):
        text = "".join(cell.texts(lang))
        assert not re.search(r"<(script|b|i)>|\]\(javascript", text)
    assert "&lt;script&gt;" in cell.texts("en")[-1]


@pytest.mark.parametrize("name", ["kv_bytes_per_token", "total_parameters", "weights_per_device"])
def test_worked_formulas_end_in_the_value_of_the_runtime(cell, name):
    arithmetic.worked(name, R1)
    value = float(calc.evaluate(catalogue.load_scenario(R1).inputs(), "mla")[name])
    unit = catalogue.symbols()[name].unit
    for lang in ("en", "zh"):
        assert f"**{numbers.fmt_quantity(value, unit, lang)}**" in cell.texts(lang)[0]


FAILURES = [
    ("catalogue.load_device('nosuch')", "nosuch"),
    ("sym.hiden_size", "hidden_size"),
]


@pytest.mark.parametrize(("code", "message"), FAILURES)
def test_errors_in_a_notebook_are_one_sentence(capsys, code, message):
    shell = InteractiveShell.instance()
    display.friendly()
    shell.push({"catalogue": catalogue, "sym": sym, "x": 2, "y": 4})
    result = shell.run_cell(code)
    assert message in str(result.error_in_exec)
    assert capsys.readouterr().out.strip().count("\n") == 0
