"""What a built page says, section by section, as a reader sees it.

Code, links to headings and displayed formulas are left out of the text; formulas are kept by their
anchors, and rows that have an anchor by theirs.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field

from lxml import etree

BLOCKS = frozenset({"p", "li", "dt", "dd", "figcaption", "summary", "h1", "h2", "h3", "h4"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
LEFT_OUT = frozenset({"script", "style", "svg", "pre"})
CLASSES_LEFT_OUT = frozenset({"headerlink", "cell_input", "above-input", "toctree-wrapper",
                              "numbers", "eqno", "katex-html"})  # the last: a formula, for the eye
SPLIT = re.compile(r"\\(?:begin|end)\{split\}")  # which Sphinx puts around several lines
MADE_UP = re.compile(r"id\d+$")  # what Sphinx calls a heading without Latin letters
ACCENT = re.compile(r"\\(bar|hat)\s*\{?((?:\\[A-Za-z]+|[A-Za-z]))\}?")
ACCENTS = {"bar": "\u0304", "hat": "\u0302"}
COMMAND = re.compile(r"\\([A-Za-z]+)\s?|\\[,;!:() \[\]]|[{}$]")
SIGNS = {"times": "×", "cdot": "·", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "approx": "≈",
         "to": "→", "ell": "ℓ", "infty": "∞", "max": "max", "min": "min", "log": "log", "sum": "Σ"}


def _sign(command: re.Match[str]) -> str:
    """A command of TeX as a character, or nothing if it only sets."""
    name = command[1] or ""
    try:
        size = "CAPITAL" if name[:1].isupper() else "SMALL"
        return SIGNS.get(name) or unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return ""


def plain(tex: str) -> str:
    r"""TeX as it is read aloud or typed: ``\eta_{\mathrm{kv}}`` is η_kv."""
    return COMMAND.sub(_sign, ACCENT.sub(lambda found: found[2] + ACCENTS[found[1]], tex))


@dataclass
class Section:
    """A heading with what stands under it, up to the next: paragraphs, and rows of tables."""

    anchor: str
    heading: str = ""
    level: int = 0
    texts: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)


@dataclass
class Page:
    """A page: its sections, rows by anchor (their cells), formulas by anchor (number and TeX)."""

    sections: list[Section] = field(default_factory=list)
    rows: dict[str, list[str]] = field(default_factory=dict)
    formulas: dict[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The heading of the page."""
        return self.sections[0].heading if self.sections else ""


class _Reader:
    """Reads the article of a page."""

    def __init__(self) -> None:
        self.page = Page()
        self._text: list[str] = []
        self._cells: list[str] | None = None
        self._row = ""
        self._sections: list[Section] = [Section("")]  # from the page down to where we are
        self._formula = ""
        self._number = ""

    def read(self, element: etree._Element) -> None:
        """Read an element: a section, a block, a formula, or what any other has in it."""
        tag, name = element.tag, element.get("id", "")
        classes = element.get("class", "").split()
        if "eqno" in classes and self._formula:
            self._inside(element)
            self._number = self._taken().partition(")")[0].lstrip("(")
        elif tag in LEFT_OUT or not CLASSES_LEFT_OUT.isdisjoint(classes):
            return
        elif tag in VOID:
            self._text.append(" ")
        elif tag == "math":
            self._text += element.xpath(".//annotation/text()")  # the TeX that it was written in
        elif tag == "section":
            self._section(element)
        elif tag == "div" and "math" in classes:
            self._display(element)
        elif tag == "tr":
            self._table_row(element)
        elif tag in ("td", "th") and self._cells is not None:
            self._flush()
            self._inside(element)
            self._cells.append(self._taken())
        elif tag in BLOCKS and self._cells is None:
            self._block(element)
        else:
            if tag == "span" and name and not self._sections[-1].heading:
                self._name(name)
            elif tag == "span" and name and self._cells is not None:
                self._row = name  # a name that a cell gives to its row
            elif tag == "p":
                self._text.append(" ")
            self._inside(element)

    def _inside(self, element: etree._Element) -> None:
        """Read texts and elements in an element."""
        self._text.append(element.text or "")
        for child in element.iterchildren():
            if isinstance(child.tag, str):  # a comment has none
                self.read(child)
            self._text.append(child.tail or "")

    def _taken(self) -> str:
        """What was read since the last block, as one line."""
        text = "".join(self._text)
        self._text.clear()
        return " ".join((plain(text) if "\\" in text else text).split())

    def _flush(self) -> None:
        """Keep what was read as a text of the section."""
        if (text := self._taken()) and self._cells is None:
            self._sections[-1].texts.append(text)

    def _name(self, anchor: str) -> None:
        """Call the section by its own label, which is the same in both languages."""
        if not MADE_UP.match(anchor):
            self._sections[-1].anchor = anchor

    def _section(self, element: etree._Element) -> None:
        self._flush()
        self._sections.append(Section(element.get("id", "")))
        self.page.sections.append(self._sections[-1])
        self._inside(element)
        self._flush()
        self._sections.pop()

    def _display(self, element: etree._Element) -> None:
        self._flush()
        self._formula = element.get("id", "") or "-"
        self._inside(element)
        tex = SPLIT.sub("", "".join(self._text)).strip()
        tex = tex.removeprefix("\\[").removesuffix("\\]").strip()
        self._text.clear()
        if self._formula != "-":
            self.page.formulas[self._formula] = (self._number, tex)
        self._formula = self._number = ""

    def _block(self, element: etree._Element) -> None:
        self._flush()
        self._inside(element)
        if element.tag in HEADINGS:
            self._sections[-1].heading = self._taken()
            self._sections[-1].level = int(element.tag[1])
        else:
            self._flush()

    def _table_row(self, element: etree._Element) -> None:
        self._flush()
        self._cells, self._row = [], element.get("id", "")
        self._inside(element)
        cells, self._cells = self._cells, None
        if self._row:
            self.page.rows[self._row] = cells
        else:
            self._sections[-1].rows.append(" · ".join(cell for cell in cells if cell))


def read(page: bytes) -> Page:
    """Read a built page, HTML in UTF-8."""
    reader = _Reader()
    document = etree.fromstring(page, etree.HTMLParser(encoding="utf-8"))
    for article in document.iterfind('.//article[@class="bd-article"]'):
        reader.read(article)
    return reader.page
