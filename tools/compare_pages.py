"""All pages of two builds of the book, side by side: which words, numbers and figures differ.

    python -m tools.compare_pages BEFORE/_build/html AFTER/_build/html

A page is what its article shows. Its code cells are left out: they may be written anew as long as
what they print stays. Formulas count as their TeX, figures as their drawing and its labels.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import etree, html

ARTICLE = "//article[contains(concat(' ', @class, ' '), ' bd-article ')]"
CODE = ".//script | .//style | " + " | ".join(
    f".//*[contains(concat(' ', @class, ' '), ' {name} ')]"
    for name in ("cell_input", "headerlink"))
BLOCKS = ("p", "li", "td", "th", "h1", "h2", "h3", "h4", "dt", "dd", "summary", "figure", "div",
          "pre")
NUMBER = re.compile(r"[-+−]?\d[\d,.]*(?:[eE][-+]?\d+)?")
_MARK = "\x00"
_DRAWN_ANEW = re.compile(  # what Matplotlib names and dates anew in every file
    rb'(?:id|xlink:href|clip-path|href)="[^"]*"|<dc:date>.*?</dc:date>|url\(#[^)]*\)')


@dataclass(frozen=True)
class Page:
    """What one page shows: lines of text, and a digest of every figure in its order."""

    lines: tuple[str, ...]
    figures: tuple[str, ...]

    def numbers(self) -> list[str]:
        """The numbers of the page in its order."""
        return [number.rstrip(",.") for line in self.lines for number in NUMBER.findall(line)]


def read(path: Path) -> Page | None:
    """The page of an HTML file, or None if the file is not a page of the book (a search form)."""
    root = html.document_fromstring(path.read_bytes(), html.HTMLParser(encoding="utf-8"))
    if not (articles := root.xpath(ARTICLE)):
        return None
    article = articles[0]
    for code in article.xpath(CODE):
        code.drop_tree()
    figures = tuple(figure_digest(path, picture.get("src", "")) for picture in article.iter("img"))
    pieces = "".join(article_text(article)).split(_MARK)
    lines = (" ".join(piece.split()) for piece in pieces)
    return Page(tuple(filter(None, lines)), figures)


def article_text(article: html.HtmlElement) -> Iterator[str]:
    """The text of an article, with a mark before and after each block."""
    for event, element in etree.iterwalk(article, ("start", "end", "comment")):
        if element.tag in BLOCKS:
            yield _MARK
        if event == "start":
            yield element.text or ""
        elif element is not article:
            yield element.tail or ""


def figure_digest(page: Path, source: str) -> str:
    """Digest of a figure, without what Matplotlib writes anew; the address if there is no file."""
    file = page.parent / source
    if not file.is_file():
        return source
    return hashlib.sha256(_DRAWN_ANEW.sub(b"", file.read_bytes())).hexdigest()


def pages(site: Path) -> dict[str, Page]:
    """Every page of a built site by its path."""
    files = sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)
    return {path.relative_to(site).as_posix(): page for path in files if (page := read(path))}


def changes(before: Page, after: Page) -> Iterator[str]:
    """The lines that left (-) and came (+), as a unified diff without context."""
    for line in difflib.unified_diff(before.lines, after.lines, lineterm="", n=0):
        if not line.startswith(("---", "+++", "@@")):
            yield line


def main(argv: list[str] | None = None) -> int:
    """Print what differs; 1 if any page, number or figure does."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--quiet", action="store_true", help="names of pages only, no lines")
    options = parser.parse_args(argv)
    before, after = pages(options.before), pages(options.after)
    if not before or not after:
        print("no pages found: expected the folders html/ of two builds", file=sys.stderr)
        return 2
    both = sorted(before.keys() & after.keys())
    for name in sorted(before.keys() ^ after.keys()):
        print(f"{'gone' if name in before else 'new '} {name}")
    worded = [name for name in both if before[name].lines != after[name].lines]
    numbered = [name for name in worded if before[name].numbers() != after[name].numbers()]
    drawn = [name for name in both if before[name].figures != after[name].figures]
    for name in worded:
        print(f"{'numbers' if name in numbered else 'words  '} {name}")
        if not options.quiet:
            print("\n".join(f"    {line}" for line in changes(before[name], after[name])))
    for name in drawn:
        print(f"figures {name}")
    count = sum(len(page.numbers()) for page in before.values())
    print(f"{len(both)} pages and {count} numbers compared: numbers differ on {len(numbered)} "
          f"pages, words alone on {len(worded) - len(numbered)}, figures on {len(drawn)}")
    return int(len(both) != len(before) or len(both) != len(after) or bool(worded or drawn))


if __name__ == "__main__":
    sys.exit(main())
