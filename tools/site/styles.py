"""The theme's styles without rules that no page can need: ``python -m tools.site.styles``.

Takes from the built book which classes its pages and scripts name, and writes the theme's two
largest sheets with only the rules that these can match; they lie over the theme's own, 70 kB of a
page. Run it again when the theme's version changes, or when a test says that a page needs more.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import sphinx_book_theme
import sphinx_design

from tools.site import pages
from tools.site.printed import ROOT, SITE

ASSETS = ROOT / "book" / "assets"
THEME = Path(sphinx_book_theme.__file__).parent.parent / "pydata_sphinx_theme"
SHEETS = {
    "styles/pydata-sphinx-theme.css": THEME / "theme" / "pydata_sphinx_theme" / "static",
    "sphinx-design.min.css": Path(sphinx_design.__file__).parent / "static",
}
NAMED = re.compile(r"[.#]((?:\\.|[\w-])+)")
PARTLY = re.compile(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)")
ATTRIBUTED = re.compile(r"\[[^\]]*\]")
WORD = re.compile(r"[A-Za-z_][\w-]*")
COMMA = re.compile(r",(?![^()]*\))")  # between selectors
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
SETTING = re.compile(r"(?<=[{;])(--[\w-]+):")
VALUE = """(?:"[^"]*"|'[^']*'|[^;{}"'])*"""
VARIABLE = re.compile(r"var\((--[\w-]+)")
WITHOUT_SELECTOR = ("@font-face", "@keyframes", "@-webkit-keyframes", "@page")
IN_STATE = frozenset({"active", "collapsed", "collapsing", "disabled", "fade", "hide", "show",
                      "showing", "scrolled", "shown", "toggle-shown"})  # which scripts put together


def names(site: Path, every: pages.Site) -> set[str]:
    """Every class and id that the pages of a built site have, and every word of its scripts."""
    found = set(IN_STATE).union(*(page.classes.union(page.ids) for page in every.values()))
    for path in (site / "_static").rglob("*.js"):
        if not path.name.endswith("-data.js") and path.name != "search-index.js":
            found.update(WORD.findall(path.read_text(encoding="utf-8")))
    return found


def blocks(sheet: str) -> Iterator[tuple[str, str]]:
    """What stands before each pair of outermost braces, and what in it; of a statement, nothing."""
    start = opened = depth = 0
    head = ""
    for mark in re.finditer(r"[{}]", sheet):
        depth += 1 if mark[0] == "{" else -1
        if mark[0] == "{" and depth == 1:
            opened, head = mark.end(), sheet[start:mark.start()]
            while ";" in head and head.lstrip().startswith("@"):
                statement, _, head = head.partition(";")
                yield f"{statement};", ""
        elif depth == 0:
            yield head.strip(), sheet[opened:mark.start()]
            start = mark.end()


def needed(selector: str) -> set[str]:
    """The classes and ids that an element and what is around it need for a selector to match."""
    return set(NAMED.findall(ATTRIBUTED.sub("", PARTLY.sub("", selector))))


def trimmed(sheet: str, known: set[str]) -> str:
    """A sheet with the rules whose classes and ids are known, and of others' groups these."""
    kept = []
    for head, body in blocks(COMMENT.sub("", sheet)):
        if not body and head.endswith(";"):
            kept.append(head)
        elif head.startswith(WITHOUT_SELECTOR):
            kept.append(f"{head}{{{body}}}")
        elif head.startswith("@"):
            if inside := trimmed(body, known):
                kept.append(f"{head}{{{inside}}}")
        elif chosen := [one for one in COMMA.split(head) if needed(one) <= known]:
            kept.append(f"{','.join(chosen)}{{{body}}}")
    return "\n".join(kept)


def styled(sheet: str) -> set[str]:
    """Every class and id that a sheet has rules for."""
    found: set[str] = set()
    for head, body in blocks(sheet):
        found |= styled(body) if head.startswith(("@media", "@supports")) else needed(head)
    return found


def without_unused(sheet: str, elsewhere: str) -> str:
    """A sheet without variables that neither it nor what is around it asks for."""
    while True:
        asked = set(VARIABLE.findall(sheet)) | set(re.findall(r"--[\w-]+", elsewhere))
        idle = "|".join(sorted(set(SETTING.findall(sheet)) - asked))
        lean = re.sub(rf"(?<=[{{;])(?:{idle}):{VALUE}(?:;|(?=}}))", "", sheet) if idle else sheet
        if lean == sheet:
            return sheet
        sheet = lean


def missing(known: set[str]) -> set[str]:
    """Classes that pages have, the theme styles, and the sheets of this book do not."""
    lost: set[str] = set()
    for name, folder in SHEETS.items():
        full, lean = ((place / name).read_text(encoding="utf-8") for place in (folder, ASSETS))
        lost |= styled(trimmed(full, known)) - styled(lean)
    return lost


def main() -> None:
    """Write the sheets."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    known = names(site, pages.load(site))
    own = {Path(name).name for name in SHEETS}
    around = "".join(path.read_text(encoding="utf-8") for folder in (ASSETS, site / "_static")
                     for path in sorted(folder.rglob("*"))
                     if path.suffix in {".css", ".js"} and path.name not in own)
    for name, folder in SHEETS.items():
        full = (folder / name).read_text(encoding="utf-8")
        lean = without_unused(trimmed(full, known), around)
        target = ASSETS / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(lean, encoding="utf-8")
        print(f"{name}: {len(full)} to {len(lean)} bytes")


if __name__ == "__main__":
    main()
