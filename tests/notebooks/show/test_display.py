"""What readers see: numbers, tables, equations, figures in both languages, one-line errors."""

from __future__ import annotations

import re

import nbclient
import nbformat
import pytest
from _plain import plain
from fontTools.ttLib import TTFont

import catalogue
from catalogue.reading import words
from notebooks.derive.formulas.errors import DerivationError
from notebooks.derive.formulas.exported import load_formulas
from notebooks.derive.formulas.symbols import sym
from notebooks.show import display, figures, numbers
from notebooks.show.fonts.subset import TARGET, characters

# --- numbers, tables, equations ------------------------------------------------------------------

@pytest.mark.parametrize(("text", "expected"), [
    (numbers.fmt_int(671026419200), "671,026,419,200"),
    (numbers.fmt_bytes(169.563e9), "169.56 GB"),
    (numbers.fmt_bytes(64 * 2**30), "68.72 GB"),
    (numbers.fmt_bytes(64 * 2**30, "GiB"), "64.00 GiB"),
    (numbers.fmt_bytes(-2.5e9), "−2.50 GB"),
    (numbers.fmt_bytes(70272, "B"), "70,272 B"),
    (numbers.fmt_sig(0.000123456), "0.000123"),
    (numbers.fmt_sig(9999.6), "10,000"),
    (numbers.fmt_sig(6.02e23), "6.02×10²³"),
    (numbers.fmt_count(36.626e9), "36.63×10⁹"),
    (numbers.fmt_count(8.8838e12), "8.88×10¹²"),
    (numbers.fmt_in(0.0304, "ms", 1), "30.4"),
    (numbers.fmt_in(64 * 2**30, "GiB"), "64.00"),
    (numbers.fmt_percent(0.97449), "97.4%"),
    (numbers.fmt_time(0.0228), "22.8 ms"),
    (numbers.fmt_time(2), "2 s"),
    (numbers.fmt_quantity(1.6e12, "B/s"), "1.6 TB/s"),
    (numbers.fmt_quantity(353.9e12, "FLOP/s"), "354 TFLOPS"),
    (numbers.fmt_quantity(207, "request"), "207"),
    (numbers.fmt_quantity(None, "B"), "–"),
    (numbers.fmt_like(169.560714e9, "20.97 GB"), "169.6 GB"),
    (numbers.fmt_like(169.560714e9, "5.77GiB"), "158 GiB"),
    (numbers.fmt_like(3.675e9, "3.68 GB"), "3.68 GB"),
    (numbers.fmt_like(70272, "0.070 MiB/token"), "0.067 MiB/token"),
    (numbers.fmt_like(207.4, "4054 request"), "207"),
    (numbers.fmt_like(0.75, "0.7"), "0.75"),
    (numbers.fmt_written("64000 token/s"), "64,000 token/s"),
    (numbers.fmt_written("16 request"), "16"),
    (numbers.fmt_written("29.4 GB"), "29.4 GB"),
])
def test_numbers_are_written_in_one_way(text, expected):
    assert text == expected


def test_a_number_is_not_rounded_unseen():
    with pytest.raises(ValueError, match="not a whole number"):
        numbers.fmt_int(2.5)


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, as pairs of language and text."""
    found: list[tuple[str | None, str]] = []
    monkeypatch.setattr(display, "display", lambda obj, metadata=None: found.append(
        ((metadata or {}).get("lang"), obj.data)))
    monkeypatch.setattr(display, "_introduced", {})
    monkeypatch.setattr(display, "_glued", {})
    return found


def test_tables_come_in_both_languages(shown):
    display.table([{"name": ("layers", "层数"), "value": 1200, "note": "a|b"}],
                  {"name": ("quantity", "量"), "value": ("value", "数值"), "note": "—"})
    (en, english), (zh, chinese) = shown
    assert (en, zh) == ("en", "zh")
    assert english.splitlines() == ["| quantity | value | — |", "| :-- | --: | :-- |",
                                    r"| layers | 1,200 | a\|b |"]
    assert "| 层数 | 1,200 |" in chinese


def test_an_equation_is_labelled_and_its_new_letters_are_named_once(shown):
    display.formula("moe_layers", sym.num_hidden_layers - sym.first_k_dense_replace, "eq-moe")
    display.formula("moe_layers", sym.num_hidden_layers - 1)
    assert shown[0] == (None, "$$\nL_m = L - L_d\n$$ (eq-moe)")
    assert shown[1] == ("en", "$L_m$: MoE layers; $L_d$: dense layers; $L$: layers.")
    assert shown[2] == ("zh", "$L_m$：MoE 层数；$L_d$：稠密层数；$L$：层数。")
    assert len(shown) == 4


@pytest.mark.slow
def test_long_sums_are_broken_and_no_word_stands_in_an_equation(shown):
    for key in load_formulas():
        if not key.startswith(("prefill_", "burst_")):  # as those of decode
            display.formula(key)
    equations = [text for lang, text in shown if lang is None]
    assert any("aligned" in text for text in equations)
    assert not any(word in text for text in equations for word in (r"\text", "otherwise"))


def test_a_key_stands_for_one_number(shown, monkeypatch):
    monkeypatch.setattr(display, "glue", lambda *args, **kwargs: None)
    display.number("total", 5)
    display.number("total", 5)
    with pytest.raises(DerivationError, match="'total' is glued twice, as 5 and as 6"):
        display.number("total", 6)


def test_a_value_is_shown_with_its_source():
    capacity = catalogue.load_device("ascend-910b2").memory_bandwidth
    text = display.source(capacity)
    entry = catalogue.sources()[capacity.source]
    assert text.startswith(f"[{entry['title']}]({entry['url']})")


@pytest.mark.parametrize(("words", "text"), [
    ("data sheet, page 1, https://example.org/card", "[data sheet, page 1](https://example.org/card)"),
    ("our own profile", "our own profile"), ("https://example.org/card", "https://example.org/card"),
])
def test_a_source_that_a_file_words_is_a_link_where_it_has_an_address(words, text):
    assert display.cited(words) == text


def test_numbers_of_one_format_are_glued_by_their_keys(monkeypatch):
    glued = {}
    monkeypatch.setattr(display, "_glued", {})
    monkeypatch.setattr(display, "glue", lambda key, text, **_: glued.update({key: text}))
    display.numbers({"share": 0.25, "rest": 0.75}, numbers.fmt_percent, digits=0)
    assert glued == {"share": "25%", "rest": "75%"}


def test_every_section_of_the_documents_has_a_number_or_a_name_in_both_languages():
    def sections(item):
        if isinstance(item, list):
            for each in item:
                yield from sections(each)
        elif isinstance(item, dict):
            for key, each in item.items():
                if key in ("section", "sections"):
                    yield from (each if isinstance(each, list) else str(each).split(", "))
                else:
                    yield from sections(each)

    found = {one for path in catalogue.ROOT.rglob("*.yml") if path.parent.name != "templates"
             for one in sections(plain(path.read_text("utf-8")))}
    named = {one for one in found if not re.fullmatch(r"([A-Z]\.)?\d+(\.\d+)*", one)}
    assert named == set(display.SECTIONS)
    assert all(english.isascii() for english, _ in display.SECTIONS.values())


def test_a_section_without_a_number_is_cited_by_its_name():
    others = catalogue.load_link("hccs-910b").device_bandwidth.others
    value = next(one for one in others if one.section == "性能权衡分析")
    english, chinese = display.citation(value)
    assert english.startswith("Document S1, performance trade-offs. ")
    assert chinese.startswith("文档 S1，性能权衡分析。")


# --- figures -----------------------------------------------------------------------------------

def test_figures_are_the_same_on_every_run_and_hold_no_date():
    def drawn():
        figure, axes = figures.axes()
        axes.plot([1, 2], [3, 4])
        axes.set_xlabel("显存 (GB), 10⁹")
        axes.set_title(r"$\eta_m$")
        return figures.svg(figure)

    text = drawn()
    assert text == drawn()
    assert "dc:date" not in text
    assert "<text" not in text  # letters are outlines


def test_a_character_that_no_font_has_is_drawn_as_a_box():
    """A reader's title may have it; the project's own letters are all in the font, see below."""
    figure, axes = figures.axes()
    axes.set_title("卡 龘")
    drawn = figures.svg(figure)
    assert axes.get_title() == f"卡 {figures.MISSING}"
    assert "<svg" in drawn


def test_what_a_file_says_is_drawn_as_it_is_not_as_mathematics():
    figure, axes = figures.axes()
    axes.set_title(words.hidden(r"$\undefined{x}$ <b>"))
    axes.set_yticks([0], [words.hidden("50 $ a $ card")])
    figures.svg(figure)
    assert axes.get_title() == r"\$\undefined{x}\$ <b>"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [r"50 \$ a \$ card"]


@pytest.mark.parametrize("label", ["$张量$", "前 $x$ 龘"])
def test_a_character_that_no_font_has_is_an_error_in_mathematics(label):
    figure, axes = figures.axes()
    axes.set_title(label)
    with pytest.raises((UserWarning, RuntimeError), match=r"[Gg]lyph"):
        figures.svg(figure)


def test_the_font_has_every_character_that_a_figure_can_need():
    known = TTFont(TARGET).getBestCmap()
    wide = {letter for letter in characters() if ord(letter) > 0x2E80}
    assert not {letter for letter in wide if ord(letter) not in known}, "run: make font"


# --- in a notebook -----------------------------------------------------------------------------

@pytest.mark.parametrize("fails", [
    "import catalogue; catalogue.load_device('nosuch')",
    "from notebooks.derive.formulas.symbols import sym; sym.hiden_size",
])
def test_an_error_in_a_notebook_is_one_sentence_and_a_failed_cell(fails):
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("from notebooks.show.notebook import friendly; friendly()"),
        nbformat.v4.new_code_cell(fails)])
    client = nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60)
    with pytest.raises(nbclient.exceptions.CellExecutionError):
        client.execute()
    (output,) = notebook.cells[1].outputs
    assert output.output_type == "error"
    assert output.traceback == [f"{output.ename}: {output.evalue}"]
    assert "\n" not in output.evalue


def test_a_failed_assertion_says_its_law_and_both_sides():
    fails = {
        "assert x + 1 == y, 'A law.'": "A law. x + 1 is 3; y is 4; not so: x + 1 == y",
        "assert x == 2 and y < x": "y is 4; x is 2; not so: y < x",
        "assert all(n > 2 for n in (x, y))": "not so: all((n > 2 for n in (x, y)))",
        "assert isinstance(y - x, str), 'A law.'": (
            "A law. y - x is 2; str is <class 'str'>; not so: isinstance(y - x, str)"),
    }
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in (
        "from notebooks.show.notebook import friendly; friendly(); x, y = 2, 4", *fails)])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60,
                            allow_errors=True).execute()
    assert [cell.outputs[0].evalue for cell in notebook.cells[1:]] == list(fails.values())
