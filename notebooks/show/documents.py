"""The documents' formulas beside the right ones, for the derivation that they belong to.

A page calls ``document_formulas("memory")``; what it shows is the data of ``params/formulas/``. The
right formula is evaluated with the document's deployment and, where the entry names a scenario, a
model or an entry of the catalogue, with sourced values in place of what the document puts in.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import catalogue
from catalogue import units
from catalogue.entries.formulas import (
    DocumentFormula,
    DocumentFormulas,
    Example,
    Letter,
    Number,
    evaluate,
    within_digits,
)
from catalogue.messages import Pair, join, messages
from catalogue.reading.values import Value
from notebooks.derive.formulas.exported import (
    DerivationError,
    all_values,
    formula_of,
)
from notebooks.derive.formulas.treelatex import tree_latex
from notebooks.show import display
from notebooks.show.display import LANGUAGES, Text, in_dropdown, markdown
from notebooks.show.numbers import fmt_fixed, fmt_percent, fmt_power, fmt_sig

common = messages("common")
say = messages("show/documents")

VERDICTS: dict[str, Text] = {
    "right": common("right"),
    "right-with-conditions": say("formula-right-under-conditions"),
    "wrong": common("wrong"),
    "undefined": say("undefined"),
}
_COMMAS = ", ", "，"
_UNITS = {"1": "", "request": "", "token": "", "us": "µs"}
HIDDEN = 0.1  # shares below it keep a decimal
ROUNDING = 0.005  # of a number, lost by the digits of another
_named: dict[str, str] = {}  # letter of a document -> meaning, as last named on the page
ADDRESS = "documents/{}.html"  # of a document, from a chapter's page


@functools.cache
def documents() -> tuple[DocumentFormulas, ...]:
    """The files of formulas, by document."""
    return tuple(catalogue.load("formulas", name) for name in catalogue.names("formulas"))


def link(name: str) -> str:
    """A link to a claim, by its number, from a chapter's page."""
    return f'<a href="{ADDRESS.format(name.partition("-")[0].lower())}#{name}">{name}</a>'


def formulas_of(chapter: str, only: Sequence[str] = ()) -> list[DocumentFormula]:
    """The documents' formulas that belong to a chapter, in the order of the documents.

    Args:
        chapter: name of its notebook.
        only: identifiers such as ``s0-f09``, for some of them in this order.

    Raises DerivationError for a chapter without formulas, KeyError for a formula of another.
    """
    of_chapter = {formula.id: formula for file in documents() for formula in file.formulas
                  if formula.chapter == chapter}
    if not of_chapter:
        raise DerivationError(f"the documents have no formula of a chapter '{chapter}'.")
    return [of_chapter[name] for name in only] if only else list(of_chapter.values())


def document_formulas(chapter: str, only: Sequence[str] = (), folded: Text | None = None) -> None:
    """Show a chapter's formulas of the documents, each beside the right one.

    Per formula: what it computes, where, the verdict; the document's formula; the right one; the
    step that goes wrong or the conditions; the printed numbers, recomputed, and right; letters
    that are new to the page or not of this book.

    Args:
        chapter: name of its notebook.
        only: identifiers, for some of the formulas.
        folded: title under which they are folded, a text or a pair, if they are.
    """
    formulas = formulas_of(chapter, only)
    markdown(*in_dropdown(join(("\n\n",) * 2, map(_block, formulas)), folded))


def sides(formula: DocumentFormula) -> tuple[str, str | None]:
    """LaTeX of the document's formula and of ours; None where ours is the same or there is none."""
    latex_of = {name: letter.latex for name, letter in _letters(formula).items()}
    theirs = formula.documented_latex or tree_latex(formula.documented, latex_of)
    if formula.right is not None:
        same = formula.right == formula.documented
        return theirs, None if same else tree_latex(formula.right, latex_of)
    if (name := formula.right_quantity) is None:
        return theirs, None
    entry = formula_of(name, "mla")
    return theirs, f"{latex_of[name]} = {entry.latex}" if entry else latex_of[name]


def letter_meanings(formula: DocumentFormula) -> dict[str, tuple[str, str]]:
    """LaTeX of every letter of a formula's two sides -> its meaning in both languages."""
    return {letter.latex: (letter.en, letter.zh) for letter in _letters(formula).values()}


def catalogue_value(reference: str) -> Value:
    """A value of the catalogue by ``kind/name/key``, such as
    ``devices/nvidia-h20/matrix_peak/fp16``."""
    kind, name, *keys = reference.split("/")
    value: Value = functools.reduce(getattr, keys, catalogue.load(kind, name))
    return value


@functools.cache
def _deployment(scenario: str | None, model: str | None) -> Mapping[str, Number]:
    """Inputs of a deployment (or shapes of a model) and what the derivations make of them."""
    if scenario is not None:
        deployment = catalogue.load_scenario(scenario)
        return all_values(deployment.inputs(), deployment.model.attention)
    if model is not None:
        shapes = catalogue.load_model(model)
        return all_values(catalogue.model_inputs(shapes), shapes.attention)
    return {}


def _right(formula: DocumentFormula, example: Example) -> float | None:
    tree = formula.right if formula.right is not None else formula.right_quantity
    sourced_otherwise = example.scenario or example.model or example.catalogue
    if tree is None or (tree == formula.documented and not sourced_otherwise):
        return None
    sourced = {name: catalogue_value(where).value for name, where in example.catalogue.items()}
    deployment = _deployment(example.scenario, example.model)
    ours = {name: deployment[name] for name in deployment.keys() - _file(formula).symbols.keys()}
    values = {**example.given(), **ours, **sourced}
    try:
        return float(evaluate(tree, values))
    except ValueError as error:
        raise DerivationError(f"the right formula of {formula.id}: {error}.") from None


def _block(formula: DocumentFormula) -> Pair:
    """One formula as an entry of a definition list, in both languages."""
    theirs, ours = sides(formula)
    lines = [say("documented", same=formula.right is not None and ours is None,
                 reconstructed=formula.reconstructed, formula=_maths(theirs))]
    if ours is not None:
        lines.append(say("right", formula=_maths(ours)))
    notes = [(text["en"], text["zh"]) for text in (formula.step, formula.note) if text]
    parts = [lines, [join((" ", ""), notes)]]
    if formula.examples:
        parts.append([_result(formula, example) for example in formula.examples])
    if new := _new(_letters(formula)):
        letters = (say("letter", letter=f"${letter.latex}$", meaning=(letter.en, letter.zh))
                   for letter in new)
        parts.append([say("letters", letters=join(("; ", "；"), letters))])
    entries = join(("\n\n: ",) * 2, (join(("\\\n  ",) * 2, part) for part in parts))
    return join(("\n: ",) * 2, (_heading(formula), entries))


def _maths(latex: str) -> str:
    return rf"$\displaystyle {latex}$"


def _heading(formula: DocumentFormula) -> Pair:
    en, zh = (title if title[:2].isupper() else title[:1].upper() + title[1:]
              for title in (formula.quantity[lang] for lang in LANGUAGES))
    where = [say("quoted", name=display.SECTIONS[part]) if part in display.SECTIONS
             else (part, part) for part in formula.sections]
    document = f'<a href="{ADDRESS.format(formula.source)}">{formula.source.upper()}</a>'
    return say("heading", title=(en, zh), document=document, count=len(where),
               sections=join((", ", "、"), where), verdict=VERDICTS[formula.verdict])


def _result(formula: DocumentFormula, example: Example) -> Pair:
    """One line: ``Section 3.2.3, weights: printed 20.97 GB, recomputed 20.97 GB, right …``."""
    numbers = [say("printed", number=_written(example)),
               say("recomputed", number=_like(float(formula.recomputed(example)), example),
                   agrees=formula.agrees(example))]
    if (right := _right(formula, example)) is not None:
        numbers.append(say("corrected", number=_like(right, example)))
    where = [say("section-by-name", name=display.SECTIONS[example.section])
             if example.section in display.SECTIONS else say("section", section=example.section)]
    if example.label:
        where.append((example.label["en"], example.label["zh"]))
    return say("result", where=join(_COMMAS, where), numbers=join(_COMMAS, numbers))


def _digits(example: Example) -> tuple[str, int, int, str]:
    """The printed mantissa, its decimals, its power of ten, and the unit."""
    number, unit = units.split(example.printed.written)
    mantissa, _, power = number.partition("e")
    return mantissa, len(mantissa.partition(".")[2]), int(power or 0), unit


def _percent_digits(example: Example) -> int:
    return max(0, len(example.printed.written.partition(".")[2]) - 2)


def _with_unit(text: str, unit: str) -> str:
    return f"{text} {_UNITS.get(unit, unit)}".rstrip()


def _written(example: Example) -> str:
    """The printed number; of a range both ends."""
    printed = example.printed
    ends = [printed.value] if printed.low == printed.high else [printed.low, printed.high]
    if example.percent:
        return "–".join(fmt_percent(number, _percent_digits(example)) for number in ends)
    mantissa, decimals, power, unit = _digits(example)
    if len(ends) > 1:
        text = "–".join(fmt_sig(number / units.factor(unit)).rstrip("0").rstrip(".")
                        for number in ends)
    elif power:
        text = fmt_power(float(mantissa) * 10**power, power, decimals)
    else:
        whole, dot, rest = mantissa.partition(".")
        text = f"{int(whole):,}{dot}{rest}"
    return _with_unit(text, unit)


def _like(number: float, example: Example) -> str:
    """A number (SI) in unit and digits of the printed one; three digits where those hide it."""
    if example.percent:
        return fmt_percent(number, max(_percent_digits(example), 1 if abs(number) < HIDDEN else 0))
    mantissa, decimals, power, unit = _digits(example)
    scaled = number / units.factor(unit) / 10.0**power
    text = fmt_fixed(scaled, decimals)
    if abs(round(scaled, decimals) - scaled) > ROUNDING * abs(scaled):
        text = fmt_sig(scaled, 3)
    elif text != fmt_fixed(float(mantissa), decimals) and within_digits(number, example.printed):
        text = fmt_fixed(scaled, decimals + 1)  # half a digit off: 5.775 where 5.77 is printed
    if power:
        text += fmt_power(0, power, 0).removeprefix("0")
    return _with_unit(text, unit)


def _file(formula: DocumentFormula) -> DocumentFormulas:
    """The file that a formula stands in."""
    return next(file for file in documents() if file.formulas[0].source == formula.source)


def _letters(formula: DocumentFormula) -> dict[str, Letter]:
    """Letters of both formulas by name: the file's own before those of the book."""
    own = _file(formula).symbols
    names = formula.used("documented") | formula.used("right") | set(
        filter(None, [formula.right_quantity]))
    return {name: own.get(name) or catalogue.symbols()[name] for name in sorted(names)}


def _new(letters: Mapping[str, Letter]) -> list[Letter]:
    """Letters to name: those that the page has not named, or with another meaning."""
    book = catalogue.symbols()
    rows = []
    for name, letter in letters.items():
        if name in book and letter.latex == book[name].latex:
            if name in display._introduced:
                continue
            display._introduced[name] = None
        elif _named.get(letter.latex) == letter.en:
            continue
        else:
            _named[letter.latex] = letter.en
        rows.append(letter)
    return rows
