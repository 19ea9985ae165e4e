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
BREAK = "\x1e"  # between blocks; white space for Python
MADE_UP = re.compile(r"id\d+$")  # what Sphinx calls a heading without Latin letters
ACCENT = re.compile(r"\\(bar|hat)\s*\{?((?:\\[A-Za-z]+|[A-Za-z]))\}?")
ACCENTS = {"bar": "\u0304", "hat": "\u0302"}
COMMAND = re.compile(r"\\([A-Za-z]+)\s?|\\[,;!:() \[\]]|[{}$]")
SIGNS = {"times": "×", "cdot": "·", "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "approx": "≈",
         "to": "→", "ell": "ℓ", "infty": "∞", "max": "max", "min": "min", "log": "log", "sum": "Σ"}


def sign(command: re.Match[str]) -> str:
    """A command of TeX as a character, or nothing if it only sets."""
    name = command[1] or ""
    try:
        size = "CAPITAL" if name[:1].isupper() else "SMALL"
        return SIGNS.get(name) or unicodedata.lookup(f"GREEK {size} LETTER {name.upper()}")
    except KeyError:
        return ""


def plain(tex: str) -> str:
    r"""TeX as it is read aloud or typed: ``\eta_{\mathrm{kv}}`` is η_kv."""
    return COMMAND.sub(sign, ACCENT.sub(lambda match: match[2] + ACCENTS[match[1]], tex))


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


def _line(text: str) -> str:
    """A text as one line."""
    return " ".join((plain(text) if "\\" in text else text).split())


def _inside(element: etree._Element, page: Page, section: Section, in_row: bool = False) -> str:
    """The text in an element."""
    parts = [element.text or ""]
    for child in element.iterchildren():
        if isinstance(child.tag, str):  # a comment has none
            parts.append(element_text(child, page, section, in_row))
        parts.append(child.tail or "")
    return "".join(parts)


def element_text(element: etree._Element, page: Page, section: Section, in_row: bool) -> str:
    """The text of an element with breaks between blocks, sections, rows and formulas put aside."""
    tag, name = str(element.tag), element.get("id", "")
    classes = element.get("class", "").split()
    if tag in LEFT_OUT or not CLASSES_LEFT_OUT.isdisjoint(classes):
        return ""
    if tag in VOID:
        return " "
    if tag == "math":
        return "".join(element.xpath(".//annotation/text()"))  # the TeX that it was written in
    kind = "formula" if tag == "div" and "math" in classes else tag
    if add := {"section": add_section, "formula": add_formula, "tr": add_row}.get(kind):
        add(element, page, section)
        return BREAK
    if tag == "span" and name and not section.heading and not MADE_UP.match(name):
        section.anchor = name  # its own label, which is the same in both languages
    text = _inside(element, page, section, in_row)
    if in_row:
        return f" {text}" if tag == "p" else text
    if tag in HEADINGS:
        section.heading, section.level = _line(text), int(tag[1])
        return BREAK
    return f"{BREAK}{text}{BREAK}" if tag in BLOCKS else text


def add_section(element: etree._Element, page: Page, _: Section) -> None:
    """Add a section with its text."""
    section = Section(element.get("id", ""))
    page.sections.append(section)
    text = _inside(element, page, section)
    section.texts += filter(None, map(_line, text.split(BREAK)))


def add_formula(element: etree._Element, page: Page, section: Section) -> None:
    """Add a numbered formula."""
    tex = SPLIT.sub("", _inside(element, page, section)).strip()
    if anchor := element.get("id", ""):
        number = "".join(element.xpath('string(span[@class="eqno"])'))
        page.formulas[anchor] = (number.partition(")")[0].lstrip("("),
                                 tex.removeprefix("\\[").removesuffix("\\]").strip())


def add_row(element: etree._Element, page: Page, section: Section) -> None:
    """Add a row of a table."""
    cells = [_line(_inside(cell, page, section, in_row=True))
             for cell in element.iterchildren("td", "th")]
    names = [*element.xpath(".//span/@id"), element.get("id", "")]  # a cell may name its row
    if names[0]:
        page.rows[names[0]] = cells
    else:
        section.rows.append(" · ".join(filter(None, cells)))


def read(page: bytes) -> Page:
    """Read a built page, HTML in UTF-8."""
    result = Page()
    document = etree.fromstring(page, etree.HTMLParser(encoding="utf-8"))
    for article in document.iterfind('.//article[@class="bd-article"]'):
        _inside(article, result, Section(""))
    return result
