"""What a built page says, section by section, as a reader sees it.

Code, links to headings and displayed formulas are left out of the text; formulas are kept by their
anchors, and rows that have an anchor by theirs.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from html.parser import HTMLParser

ARTICLE = re.compile(r'<article class="bd-article".*?</article>', re.DOTALL)
CODE = re.compile(r'<details class="admonition hide above-input">.*?</details>', re.DOTALL)
MATHML = re.compile(r"<math\b.*?</math>", re.DOTALL)
TEX = re.compile(r"<annotation\b[^>]*>(.*?)</annotation>", re.DOTALL)
DRAWN = re.compile(r'<span class="katex-html"')  # a formula once more, for the eye
SPAN = re.compile(r"<(/?)span\b")
BLOCKS = frozenset({"p", "li", "dt", "dd", "figcaption", "summary", "h1", "h2", "h3", "h4"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4"})
VOID = frozenset({"br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"})
LEFT_OUT = frozenset({"script", "style", "svg", "pre"})
CLASSES_LEFT_OUT = frozenset({"headerlink", "cell_input", "toctree-wrapper", "eqno"})
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


class _Reader(HTMLParser):
    """Reads the article of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._open: list[tuple[str, str]] = []  # tags, and what ends with each
        self._silent = 0
        self._text: list[str] = []
        self._cells: list[str] | None = None
        self._row = ""
        self._sections: list[Section] = [Section("")]  # from the page down to where we are
        self._formula = ""
        self._number = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a section, a block, a formula, or what is left out."""
        if tag in VOID:
            self._text.append(" ")
            return
        own = {name: value or "" for name, value in attrs}
        classes = set(own.get("class", "").split())
        ends = ""
        if "eqno" in classes and self._formula:
            ends = "number"
        elif self._silent or tag in LEFT_OUT or classes & CLASSES_LEFT_OUT:
            self._silent += 1
            ends = "silence"
        elif tag == "section":
            self._flush()
            self._sections.append(Section(own.get("id", "")))
            self.page.sections.append(self._sections[-1])
            ends = "section"
        elif tag == "div" and "math" in classes:
            self._flush()
            self._formula = own.get("id", "") or "-"
            ends = "formula"
        elif tag == "span" and own.get("id") and not self._sections[-1].heading:
            self._name(own["id"])
        elif tag == "tr":
            self._flush()
            self._cells, self._row = [], own.get("id", "")
            ends = "row"
        elif tag in ("td", "th") and self._cells is not None:
            self._flush()
            ends = "cell"
        elif tag in BLOCKS and self._cells is None:
            self._flush()
            ends = "heading" if tag in HEADINGS else "block"
        elif self._cells is not None and tag == "span" and own.get("id"):
            self._row = own["id"]  # a name that a cell gives to its row
        elif tag == "p":
            self._text.append(" ")
        self._open.append((tag, ends))

    def handle_endtag(self, tag: str) -> None:
        """End what began with this tag."""
        while self._open:
            opened, ends = self._open.pop()
            if ends:
                getattr(self, f"_end_{ends}")(opened)
            if opened == tag:
                return

    def handle_data(self, data: str) -> None:
        """Take text."""
        if not self._silent:
            self._text.append(data)

    def _taken(self) -> str:
        """What was read since the last block, as one line."""
        text = plain("".join(self._text)) if "\\" in "".join(self._text) else "".join(self._text)
        self._text.clear()
        return " ".join(text.split())

    def _flush(self) -> None:
        """Keep what was read as a text of the section."""
        if (text := self._taken()) and self._cells is None:
            self._sections[-1].texts.append(text)

    def _name(self, anchor: str) -> None:
        """Call the section by its own label, which is the same in both languages."""
        if not MADE_UP.match(anchor):
            self._sections[-1].anchor = anchor

    def _end_silence(self, tag: str) -> None:
        self._silent -= 1

    def _end_number(self, tag: str) -> None:
        self._number = self._taken().partition(")")[0].lstrip("(")

    def _end_formula(self, tag: str) -> None:
        tex = SPLIT.sub("", "".join(self._text)).strip()
        tex = tex.removeprefix("\\[").removesuffix("\\]").strip()
        self._text.clear()
        if self._formula != "-":
            self.page.formulas[self._formula] = (self._number, tex)
        self._formula = self._number = ""

    def _end_section(self, tag: str) -> None:
        self._flush()
        self._sections.pop()

    def _end_block(self, tag: str) -> None:
        self._flush()

    def _end_heading(self, tag: str) -> None:
        self._sections[-1].heading = self._taken()
        self._sections[-1].level = int(tag[1])

    def _end_cell(self, tag: str) -> None:
        assert self._cells is not None
        self._cells.append(self._taken())

    def _end_row(self, tag: str) -> None:
        cells, self._cells = self._cells or [], None
        if self._row:
            self.page.rows[self._row] = cells
        else:
            self._sections[-1].rows.append(" · ".join(cell for cell in cells if cell))


def _tex(mathml: re.Match[str]) -> str:
    """The TeX that MathML has with it."""
    return "".join(TEX.findall(mathml[0]))


def _undrawn(html: str) -> str:
    """The page with formulas as their TeX only: most tags of a page draw formulas."""
    parts, at = [], 0
    for drawn in DRAWN.finditer(html):
        depth = 0
        for span in SPAN.finditer(html, drawn.start()):
            depth += -1 if span[1] else 1
            if not depth:
                parts.append(html[at:drawn.start()])
                at = html.index(">", span.end()) + 1
                break
    return MATHML.sub(_tex, "".join(parts) + html[at:])


def read(html: str) -> Page:
    """Read a built page."""
    article = ARTICLE.search(html)
    reader = _Reader()
    reader.feed(_undrawn(CODE.sub("", article[0])) if article else "")
    reader.close()
    return reader.page
