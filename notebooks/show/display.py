"""Output in two languages: the book keeps, of each pair, the one of the page it is on.

Numbers in sentences are glued as text, formatted once, so that both languages print the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pandas
from IPython.core.interactiveshell import InteractiveShell
from IPython.display import HTML, Markdown, display
from IPython.utils.capture import capture_output
from matplotlib.figure import Figure
from myst_nb import glue

import catalogue
from catalogue.messages import LANGUAGES, Pair, join, messages
from catalogue.reading import words
from notebooks.derive.formulas.exported import DerivationError, formula_of, load_formulas
from notebooks.show import figures
from notebooks.show.columns import Column, Row, cells, in_dropdown, pipe_table
from notebooks.show.drawing import Drawing, Text
from notebooks.show.numbers import fmt_int, signed

if TYPE_CHECKING:  # SymPy takes longer to import than most pages take to run
    import sympy

    from notebooks.derive.formulas.derivation import Derivation
from types import TracebackType

from IPython import get_ipython

from catalogue import ParamsError

common = messages("common")
say = messages("show/display")

BOTH = "both"
DOCUMENTS = ("s0", "s1", "s2", "s3")
SECTIONS = {  # sections of the documents without a number, as the files name them
    "preface": say("preface"), "性能对比分析": say("performance-comparison"),
    "关键指标对比": say("comparison-of-key-figures"), "场景适用性分析": say("suitable-uses"),
    "性能权衡分析": say("performance-trade-offs"), "1. 性能风险": say("performance-risks"),
    "2. 硬件风险": say("hardware-risks"), "1. 性能风险缓解": say("mitigating-performance-risks"),
    "2. 硬件风险缓解": say("mitigating-hardware-risks"), "风险评估矩阵": say("risk-matrix"),
    "故障应急预案": say("emergency-plan"), "3. 成本风险": say("cost-risks"),
    "3. 成本风险缓解": say("mitigating-cost-risks"), "标题": say("title"),
    "执行摘要": common("summary"), "附录 B": say("appendix-b"), "附录 C": say("appendix-c")}
ACCEPTED = "_accepted"  # variable of a notebook whose parameters were taken once
MARKDOWN = "text/markdown"
FENCE = ":" * 6  # around the fences of what is folded
IN_ADDRESS = "/:?#@!&=+,;%~.-_*"  # what an address keeps; the rest Markdown could take for its own
_spoken: tuple[str, ...] = LANGUAGES
_glued: dict[str, str] = {}
_introduced: dict[str, None] = {}


words.hide_where(InteractiveShell.initialized)


def section(name: str) -> Pair:
    """What a section of a document is called: its number, or its name in either language."""
    return SECTIONS.get(name, (name, name))


def spoken() -> tuple[str, ...]:
    """The languages that are shown."""
    return _spoken


def speak(lang: object) -> None:
    """From here on show one language alone, ``en`` or ``zh``, or ``both`` of them.

    Raises ParamsError for anything else.
    """
    global _spoken
    if lang not in (*LANGUAGES, BOTH):
        raise ParamsError(f"lang: expected {', '.join(LANGUAGES)} or {BOTH}, "
                          f"not {str(lang)[:40]!a}.")
    _spoken = LANGUAGES if lang == BOTH else (str(lang),)


def display_each(make: Callable[[str], Any]) -> None:
    """Display an object per language that is shown; the page of a language keeps its own."""
    for lang in _spoken:
        display(make(lang), metadata={"lang": lang})


def markdown(en: str, zh: str) -> None:
    """Markdown in both languages; the page of a language keeps its own.

    The one way of words onto a page: what a file has of signs is revealed here, as text.
    """
    texts = {"en": en, "zh": zh}
    display_each(lambda lang: Markdown(words.markdown(texts[lang])))


def table(rows: Iterable[Row], columns: Mapping[str, Any] | Iterable[Column],
          sortable: bool = False, wide: bool = False, turned: bool = False,
          folded: Text | None = None, first: int = 0) -> None:
    """A table in both languages.

    Args:
        rows: one mapping per row, of which a cell is a number, a text, a pair (English, Chinese)
            or a text by language; where columns are declared, whatever they show a part of.
        columns: in their order, declared; or key -> heading, a text or a pair.
        sortable: whether a reader of the page can sort it by a heading and filter it; a column
            sorts as numbers if all of its cells are plain numbers or empty.
        wide: whether it reaches into the page's margin.
        turned: whether headings from the third column on stand upright, over many narrow columns.
        folded: title under which it is folded, if it is.
        first: rows that stay open above what is folded.
    """
    rows, columns = cells(rows, columns)
    if first:
        table(rows[:first], columns, sortable, wide, turned)
        if not (rows := rows[first:]):
            return
    texts = [pipe_table(rows, columns, index) for index in range(len(LANGUAGES))]
    classes = " ".join(["sortable"] * sortable + ["full-width"] * wide + ["turned"] * turned)
    if classes:
        texts = [f":::{{div}} {classes}\n\n{text}\n\n:::" for text in texts]
    markdown(*in_dropdown(texts, folded))


@contextmanager
def folded(en: str, zh: str) -> Iterator[None]:
    """Equations, tables and sentences that are shown inside stand under a title, folded.

    Equations keep their labels and numbers; glued numbers and figures pass through.

    Args:
        en, zh: the title.
    """
    with capture_output(stdout=False, stderr=False) as held:
        yield
    texts: dict[str, list[str]] = {lang: [] for lang in LANGUAGES}
    for output in held.outputs:
        if MARKDOWN not in output.data:
            output.display()
            continue
        for lang in texts:
            if (output.metadata or {}).get("lang", lang) == lang:
                texts[lang].append(output.data[MARKDOWN])
    if not any(texts.values()):
        return
    markdown(*(f"{FENCE}{{dropdown}} {title}\n\n" + "\n\n".join(texts[lang]) + f"\n\n{FENCE}"
           for lang, title in zip(LANGUAGES, (en, zh), strict=True)))


def short_table(rows: Iterable[Row], columns: Mapping[str, Any] | Iterable[Column],
                first: int = 4, rest: tuple[str, str] | None = None, wide: bool = False) -> None:
    """A table whose first rows are seen and whose other rows are folded.

    Args:
        rows, columns, wide: as for ``table``.
        first: how many rows are seen.
        rest: title of the others, if it is not just that they are the other rows.
    """
    table(rows, columns, wide=wide, folded=rest or common("other-rows"), first=first)


def download(name: str, rows: Iterable[Mapping[str, Any]], label: tuple[str, str]) -> None:
    """A link to all of a table as a file of its own; on a page outside of the book nothing.

    Args:
        name: of the file, which ends in ``.csv``; the build writes it, see ``book/_ext``.
        rows: their keys are the first line of the file; what a row lacks is left empty.
        label: of the link.
    """
    if not in_book():
        return
    text = pandas.DataFrame(list(rows), dtype=object).to_csv(index=False)
    for lang in _spoken:
        display(Markdown(f"{{download}}`{label[LANGUAGES.index(lang)]} <{name}>`"),
                metadata={"lang": lang, "file": {name: text}})


def number(key: str, value: Any, fmt: Callable[..., str] = fmt_int, **options: Any) -> None:
    """Glue a number for ``{glue:text}`` in a sentence, as formatted text.

    Raises DerivationError if the key already stands for another text.
    """
    text = words.revealed(fmt(value, **options))
    if _glued.setdefault(key, text) != text:
        raise DerivationError(f"the number '{key}' is glued twice, "
                              f"as {_glued[key]} and as {text}.")
    glue(key, text, display=False)


def numbers(values: Mapping[str, Any], fmt: Callable[..., str] = fmt_int, **options: Any) -> None:
    """Glue several numbers of one format, by their keys."""
    for key, value in values.items():
        number(key, value, fmt, **options)


def interval(key: str, ends: Iterable[Any], fmt: Callable[..., str] = fmt_int,
             **options: Any) -> None:
    """Glue a value and the ends of its interval, as ``key``, ``key-low`` and ``key-high``."""
    for ending, value in zip(("", "-low", "-high"), ends, strict=True):
        number(f"{key}{ending}", value, fmt, **options)


def formula(name: str, expr: sympy.Expr | None = None, label: str | None = None,
            variant: str | None = None) -> None:
    """An equation in the book's letters; the names of letters new to the page follow it.

    Args:
        name: quantity on the left-hand side.
        expr: right-hand side; the stored formula's if it is left out.
        label: label of the equation, for references.
        variant: kind of attention that it holds for, printed behind it.
    """
    from notebooks.derive.formulas.symbols import letter
    from notebooks.derive.formulas.trees import from_tree

    if expr is None:
        expr = from_tree(load_formulas()[name].tree)
        name, _, kind = name.partition("@")
        variant = variant or kind
    law(letter(name), expr, label, variant, of=name)


def law(left: str, expr: sympy.Expr, label: str | None = None, variant: str | None = None, *,
        of: str | None = None) -> None:
    """An equation whose left-hand side need not be a quantity; new letters are named after it.

    Args:
        left: LaTeX of the left-hand side.
        expr: right-hand side, in the book's symbols and in letters of the page alone.
        label, variant: as for ``formula``.
        of: quantity that the left-hand side stands for, if it stands for one.
    """
    from notebooks.derive.formulas.symbols import equation

    display(Markdown(equation(left, expr, variant) + (f" ({label})" if label else "")))
    known = catalogue.symbols()
    used = dict.fromkeys([*filter(None, [of]), *sorted(s.name for s in expr.free_symbols)])
    if new := [name for name in used if name in known and name not in _introduced]:
        _introduced.update(dict.fromkeys(new))
        markdown(*(
            comma.join(f"${known[n].latex}${colon}{getattr(known[n], lang)}" for n in new) + stop
            for lang, stop, colon, comma in (("en", ".", ": ", "; "), ("zh", "。", "：", "；"))))


def formula_link(name: str, attention: str) -> str:
    """Where a quantity is derived: in the book the number of its equation, else the notebook.

    Empty for a quantity that has no formula.
    """
    entry = formula_of(name, attention)
    if entry is None:
        return ""
    return f"{{eq}}`{entry.anchor}`" if in_book() else f"`notebooks/{entry.notebook}.md`"


def in_book() -> bool:
    """Whether the page is one of the book, so that links to its other pages hold."""
    return "BOOK_PAGE" in os.environ


def symbol_table(own: Iterable[tuple[str, str, str, str]] = ()) -> None:
    """Every letter that the page has used so far, with name and unit, in both languages.

    Args:
        own: letters of the page alone, which come first: LaTeX, English and Chinese name, unit.
    """
    used = ((f"${symbol.latex}$", (symbol.en, symbol.zh), symbol.unit, f"`{name}`")
            for name, symbol in catalogue.symbols().items() if name in _introduced)
    headings = common("letter"), common("name"), say("unit"), say("in-program")
    table([*((f"${letter}$", (en, zh), unit, "–") for letter, en, zh, unit in own), *used],
          [Column(at, heading) for at, heading in enumerate(headings)],
          folded=say("letters-of-this-page"))


def derive(derivation: Derivation, name: str, expr: sympy.Expr | int,
           variant: str | None = None) -> sympy.Expr:
    """Export a formula, display it with its label, and return the expression."""
    label = "-".join(["eq", *name.split("_"), *([variant] if variant else [])])
    result = derivation.export(name, expr, variant, anchor=label)
    formula(name, result, label, variant)
    return result


def figure(key: str, picture: Callable[[str], Figure | Drawing],
           frame: pandas.DataFrame | None = None) -> None:
    """Glue a figure, drawn once per language, under ``key_en`` and ``key_zh``.

    A plot becomes an image, a diagram a part of the page itself. The frame is its CSV; without one
    the CSV is read from what is drawn.
    """
    for lang in _spoken:
        glue(f"{key}_{lang}", _shown(picture(lang), frame), display=False)


def _shown(drawn: Figure | Drawing, frame: pandas.DataFrame | None) -> HTML | figures.Plot:
    """What is drawn as an output; in the book it brings its numbers, see ``book/_ext``."""
    data = "" if frame is None else frame.to_csv(
        index=any(name is not None for name in frame.index.names),
        float_format=f"%.{figures.CSV_DIGITS}g", lineterminator="\n")
    if isinstance(drawn, Drawing):
        return HTML(drawn.svg(), metadata=_beside(data or drawn.numbers))
    return figures.Plot(figures.svg(drawn), metadata=_beside(data or figures.plotted_csv(drawn)))


def _beside(numbers: str) -> dict[str, str] | None:
    return {"numbers": numbers} if numbers and in_book() else None


def cited(key: str) -> str:
    """A source as Markdown, title with address: by its key, or as a reader's file words it."""
    entry = catalogue.sources().get(key)
    if entry is None:
        title, _, url = key.rpartition(" ")
        address = quote(words.revealed(url), safe=IN_ADDRESS)
        linked = title and address.startswith(("http://", "https://"))
        entry = {"title": title.rstrip(","), "url": address} if linked else {"title": key}
    return f"[{entry['title']}]({entry['url']})" if entry.get("url") else entry["title"]


def source(value: catalogue.Value) -> str:
    """Where a value comes from: title with address, and date, as Markdown."""
    date = value.date or catalogue.sources().get(value.source, {}).get("date")
    return f"{cited(value.source)} ({date})" if date else cited(value.source)


def sourced(rows: Iterable[tuple[Text, catalogue.Value]], folded: Text | None = None,
            wide: bool = False) -> None:
    """A table of values, each with its range, what kind of statement it is, and its source.

    With ``folded``, a title, the table is folded under it until a reader opens it; a ``wide`` one
    reaches into the page's margin.
    """
    table(rows, [
        Column(0, common("quantity")), Column(lambda row: written(row[1]), common("value-range")),
        Column(lambda row: common("kind-of-statement", kind=row[1].kind), common("kind")),
        Column(lambda row: citation(row[1]), common("source"))], folded=folded, wide=wide)


def written(value: catalogue.Value) -> str:
    """A value as its file has it, with its range, digits in groups: ``81,559 MiB``."""
    text = value.shown.removesuffix(" request").removesuffix(" token")
    return signed(re.sub(r"(?<![\d.])\d{5,}(?![\d.]*e)", lambda found: f"{int(found[0]):,}", text))


def citation(value: catalogue.Value) -> tuple[str, str]:
    """Where a value comes from and what is known of it, in both languages, as Markdown."""
    where = [say("document", source=value.source.upper()) if value.source in DOCUMENTS
             else (source(value),) * 2]
    parts = value.section.split(", ") if value.section else []
    if numbered := [part for part in parts if part not in SECTIONS]:
        where.append(say("section", numbers=(", ".join(numbered), "、".join(numbered))))
    where += [SECTIONS[part] for part in parts if part in SECTIONS]
    en, zh = join((", ", "，"), where)
    note = value.note or dict.fromkeys(LANGUAGES, "")
    return f"{en}. {note['en']}".strip(), f"{zh}。{note['zh']}"


class Footnotes:
    """Sources of the rows of a table, numbered, each printed once below it."""

    def __init__(self) -> None:
        """Begin with none."""
        self._found: dict[tuple[str, str], int] = {}

    def mark(self, value: catalogue.Value) -> str:
        """The number of a value's source and note, in brackets."""
        return f"[{self._found.setdefault(citation(value), len(self._found) + 1)}]"

    def show(self, folded: Text | None = None) -> None:
        """The list, in both languages; folded under a title, if there is one."""
        texts = ["\n".join(f"{number}. {text[index]}" for text, number in self._found.items())
                 for index in range(len(LANGUAGES))]
        markdown(*in_dropdown(texts, folded))


def draw(picture: Callable[[str], Figure | Drawing], frame: pandas.DataFrame | None = None) -> None:
    """Show a figure at once, drawn once per language; its CSV as of :func:`figure`."""
    display_each(lambda lang: _shown(picture(lang), frame))


def friendly() -> None:
    """From now on a ParamsError or DerivationError prints its sentence alone; the cell fails.

    Does nothing outside a notebook.
    """
    shell = get_ipython()
    if shell is not None:
        shell.set_custom_exc((ParamsError, DerivationError), _explained)


def accept(*names: str) -> None:
    """Take these Papermill parameters and no others; call it before anything else is defined.

    The cell may be run again in Jupyter, where numbers then may change. Papermill itself only logs
    a warning for a parameter that the notebook does not know. Errors are one sentence from here on,
    see :func:`friendly`. A parameter ``lang`` is obeyed at once.

    Raises ParamsError for a variable that is none of ``names``, and for a language that the book
    does not speak.
    """
    friendly()
    shell = get_ipython()
    if shell is None:
        return
    defined = {name for name, value in shell.user_ns.items()
               if not name.startswith("_") and name not in shell.user_ns_hidden
               and value is not accept}
    unknown = sorted(defined - set(names))
    if unknown and not shell.user_ns.get(ACCEPTED):
        raise ParamsError(f"there is no parameter '{unknown[0]}', expected {' or '.join(names)}.")
    shell.user_ns[ACCEPTED] = True
    _glued.clear()
    if "lang" in names:
        speak(shell.user_ns["lang"])


def _explained(shell: Any, kind: type[BaseException], error: BaseException,
               traceback: TracebackType | None, tb_offset: int | None = None) -> list[str]:
    shell._showtraceback(kind, error, sentence := [f"{kind.__name__}: {error}"])
    return sentence
