"""The documents' formulas: valid trees, printed numbers recomputed, shown beside the right ones."""

from __future__ import annotations

import re

import pytest

import catalogue
from catalogue import trees
from catalogue.entries.formulas import within_digits
from notebooks.derive.formulas.errors import DerivationError
from notebooks.derive.formulas.treelatex import tree_latex
from notebooks.show import display, documents

FILES = {name: catalogue.load("formulas", name) for name in catalogue.names("formulas")}
FORMULAS = [formula for file in FILES.values() for formula in file.formulas]
EXAMPLES = [(formula, number) for formula in FORMULAS for number in documents.numbers_of(formula)]


@pytest.fixture
def shown(monkeypatch):
    """What is displayed, as pairs of language and text."""
    found: list[tuple[str, str]] = []
    monkeypatch.setattr(display, "display",
                        lambda item, metadata: found.append((metadata["lang"], item.data)))
    monkeypatch.setattr(display, "_introduced", {})
    monkeypatch.setattr(documents, "_named", {})
    return found


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula.id)
class TestFormulas:
    def test_its_trees_are_valid_and_its_letters_known(self, formula):
        assert formula.chapter in documents.CHAPTERS
        letters = {name: letter.latex for name, letter in documents._letters(formula).items()}
        for tree in (formula.documented, formula.right):
            if tree is not None:
                trees.validate(tree)
                text = tree_latex(tree, letters)
                assert text.count("{") == text.count("}")
                assert "|" not in text

    def test_a_wrong_one_has_a_right_one_that_differs(self, formula):
        if formula.verdict == "wrong":
            assert formula.right is not None or formula.right_quantity is not None
            assert formula.right != formula.documented
        if formula.verdict == "undefined":
            assert formula.right is None
            assert formula.right_quantity is None


@pytest.mark.parametrize(("formula", "number"), EXAMPLES,
                         ids=lambda item: getattr(item, "id", ""))
def test_the_arithmetic_is_what_the_entry_says(formula, number):
    assert number.agrees == (number.example.arithmetic == "agrees")
    if formula.right_quantity or formula.right not in (None, formula.documented):
        assert number.right is not None


@pytest.mark.parametrize(("identifier", "index", "text"), [
    ("s0-f05", 0, "169.56 GB"), ("s0-f06", 0, "167.75 GB"), ("s0-f09", 0, "9.2 GB"),
    ("s0-f40", 0, "1.44 ms"), ("s1-f09", 0, "15"), ("s1-f13", 0, "506"), ("s1-f43", 0, "1,600"),
])
def test_the_right_number(identifier, index, text):
    formula = next(formula for formula in FORMULAS if formula.id == identifier)
    number = documents.numbers_of(formula)[index]
    assert documents._like(number.right, number.example).startswith(text)


@pytest.mark.parametrize("chapter", documents.CHAPTERS)
def test_a_chapter_is_shown_alike_in_both_languages(chapter, shown):
    documents.document_formulas(chapter)
    (first, english), (second, chinese) = shown
    assert (first, second) == ("en", "zh")
    formulas = documents.formulas_of(chapter)
    assert english.count("\n: ") == chinese.count("\n: ")
    mathematics = re.compile(r"\$[^$]+\$")
    assert mathematics.findall(english) == mathematics.findall(chinese)
    for text in (english, chinese):
        assert len(re.findall(r"^\*\*", text, re.MULTILINE)) == len(formulas)
        assert "None" not in text
    assert not re.search(r"[\u4e00-\u9fff]", re.sub(
        r"[Ss]ections? [^)\n:]*", "", english)), "Chinese on the English page"


def test_one_formula_folded(shown):
    documents.document_formulas("memory", only=("s0-f06",), folded=("In S0", "文档 S0"))
    assert shown[0][1].startswith("::::{dropdown} In S0\n\n**What one card holds")
    assert r"\frac{M_{\mathrm{card}}}{t}" in shown[0][1]
    assert "**167.75 GB**" in shown[1][1]


def test_a_letter_is_named_once_on_a_page(shown):
    documents.document_formulas("memory", only=("s0-f05",))
    documents.document_formulas("memory", only=("s0-f07",))
    assert "total parameters" in shown[0][1]
    assert "total parameters" not in shown[2][1]


@pytest.mark.parametrize(("call", "says"), [
    (lambda: documents.formulas_of("energy"), "there is no chapter 'energy'"),
    (lambda: documents.formulas_of("memory", ("s0-f99",)), "no formula 's0-f99'"),
    (lambda: documents.catalogue_value("devices/nvidia-h20/name"), "not a value"),
])
def test_what_is_not_there_is_one_sentence(call, says):
    with pytest.raises(DerivationError, match=says) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("value", "printed", "expected"), [
    (0.328e-3, "0.328 ms", True), (0.3278e-3, "0.328 ms", True), (0.3274e-3, "0.328 ms", False),
    (57856, "58000 token/s", True), (57400, "58000 token/s", False),
    (2.748e15, "2.75e15 FLOP", True), (2.74e15, "2.75e15 FLOP", False), (5.775, "5.77", True),
    (0, "0 s", True),
])
def test_within_the_printed_digits(value, printed, expected):
    number = catalogue.units.parse_any(printed)
    stated = catalogue.Value(number, "1", printed, "s0", "documented", number, number)
    assert within_digits(value, stated) is expected


@pytest.mark.parametrize(("tree", "text"), [
    (["divide", ["divide", ["multiply", "p", 2], "t"], "t"], r"\frac{\frac{P \cdot 2}{t}}{t}"),
    (["multiply", ["subtract", "t", 1], "p"], r"\left(t - 1\right)\,P"),
    (["subtract", "p", ["subtract", "t", 1]], r"P - \left(t - 1\right)"),
    (["power", 1024, 3], "1{,}024^{3}"), (["power", ["add", "p", 1], 2], r"\left(P + 1\right)^{2}"),
    (["ceil", ["divide", "p", "t"]], r"\left\lceil \frac{P}{t}\right\rceil"),
    (["min", "p", ["max", "t", 0]], r"\min\left(P, \max\left(t, 0\right)\right)"),
    (["multiply", 2, 3, "p", 1000000000], r"2 \cdot 3\,P \cdot 10^{9}"),
    (["sum_over", "i", "t", ["multiply", "i", "p"]], r"\sum_{0 \le i < t} i\,P"),
    (["piecewise", [["lt", "p", 1], 0], "p"], r"\begin{cases} 0 & P < 1 \\ P & \end{cases}"),
    (["add", ["log", "p"], ["exp", "t"]], r"\ln\left(P\right) + \exp\left(t\right)"),
])
def test_a_tree_is_printed_as_it_is_written(tree, text):
    trees.validate(tree)
    assert tree_latex(tree, {"p": "P", "t": "t"}) == text
