"""Reduce the theme's fonts and styles to what pages use: ``python -m tools.site.assets``.

Writes the icons that the theme shows, KaTeX's fonts with the signs of all formulas (from npm), and
the theme's two largest sheets without rules that cannot match (by PurgeCSS, from npm). These files
replace the theme's own, 260 kB of a page. Run it again when the theme's version changes, or when a
test reports that a page needs more.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import sphinx_book_theme
import sphinx_design
from fontTools import subset
from fontTools.ttLib import TTFont
from lxml import html

from tools.fonts import unpacked
from tools.site import ROOT, SITE

ASSETS = ROOT / "book" / "assets"
THEME = (Path(sphinx_book_theme.__file__).parents[1]
         / "pydata_sphinx_theme" / "theme" / "pydata_sphinx_theme" / "static")
SHEETS = {"styles/pydata-sphinx-theme.css": THEME,
          "sphinx-design.min.css": Path(sphinx_design.__file__).parent / "static"}
PURGE = ("npx", "--yes", "purgecss@8")
ICONS = Path("vendor/fontawesome/webfonts/fa-solid-900.woff2")
SHOWN = ("angle-left", "angle-right", "arrow-up", "bars", "chevron-down", "circle-half-stroke",
         "download", "expand", "file", "file-pdf", "list", "magnifying-glass", "moon", "sun",
         "xmark")
UNFOLD = 0xF107  # of a dropdown
FORMULAS = ASSETS / "vendor" / "katex" / "fonts"
KATEX = "katex@0.19.1"  # as in book/_ext/setting/vendor
ALWAYS = set(map(chr, (*range(32, 127), *range(0x391, 0x3D7))))  # of the fonts of letters
LETTERS = ("KaTeX_Main", "KaTeX_Math")
WIDE = "\u2e80"  # the first sign of Chinese
FOLDERS = {"_static", "_sources", "_downloads", "_images", "downloads", "engine"}  # without pages
IN_STATE = frozenset({"active", "collapsed", "collapsing", "disabled", "fade", "hide", "show",
                      "showing", "scrolled", "shown", "toggle-shown"})  # set by scripts
NAMED = re.compile(r"[.#]((?:\\.|[\w-])+)")
OPTIONAL = re.compile(r":(?:not|is|where|has)\((?:[^()]|\([^()]*\))*\)|\[[^\]]*\]")
SELECTORS = re.compile(r"(?:^|(?<=[{};]))([^{}@;]+)\{")
COMMA = re.compile(r",(?![^()]*\))")  # between selectors
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def page_names(site: Path) -> list[str]:
    """List the pages of a built site, relative to its folder."""
    return sorted(name for path in site.rglob("*.html")
                  if not FOLDERS & set((name := path.relative_to(site).as_posix()).split("/")))


def tree(path: Path) -> html.HtmlElement:
    """Parse a page."""
    return html.document_fromstring(path.read_bytes(), html.HTMLParser(encoding="utf-8"))


def element_names(root: html.HtmlElement) -> set[str]:
    """Classes and ids of the elements of a page."""
    return {name for text in root.xpath("//@class | //@id") for name in text.split()}


def formula_signs(root: html.HtmlElement) -> set[str]:
    """Signs in the formulas of a page."""
    return {sign for formula in root.find_class("katex-html") for sign in formula.text_content()}


def script_words(site: Path) -> set[str]:
    """Words of the scripts of a built site, which may name classes."""
    return set(IN_STATE).union(*(
        re.findall(r"[A-Za-z_][\w-]*", path.read_text(encoding="utf-8"))
        for path in (site / "_static").rglob("*.js")
        if not path.name.endswith("-data.js") and path.name != "search-index.js"))


def styled_names(sheet: str, used: set[str]) -> set[str]:
    """Classes and ids in the selectors of a sheet that can match elements with the used ones."""
    names = (set(NAMED.findall(OPTIONAL.sub("", selector)))
             for group in SELECTORS.findall(COMMENT.sub("", sheet))
             for selector in COMMA.split(group))
    return set().union(*(needed for needed in names if needed <= used))


def missing_rules(used: set[str]) -> set[str]:
    """Used classes and ids that the theme's sheets have rules for, and the reduced sheets lack."""
    return set().union(*(
        styled_names((folder / name).read_text(encoding="utf-8"), used)
        - styled_names((ASSETS / name).read_text(encoding="utf-8"), used)
        for name, folder in SHEETS.items()))


def missing_signs(signs: set[str]) -> set[str]:
    """Signs of formulas that no font of the book has, without Chinese and blanks."""
    drawn = {chr(code) for path in FORMULAS.glob("*.woff2")
             for code in TTFont(path).getBestCmap()}
    return {sign for sign in signs - drawn if sign.isprintable() and sign < WIDE}


def save_subset(source: Path, target: Path, codes: Iterable[int], hinting: bool = False) -> None:
    """Write a font with some code points only."""
    options = subset.Options(flavor="woff2", layout_features=[], notdef_outline=True,
                             hinting=hinting)
    font = subset.load_font(str(source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=codes)
    subsetter.subset(font)
    subset.save_font(font, str(target), options)


def icon_codes() -> set[int]:
    """Code points of the icons in `SHOWN` and of those that the theme's styles name."""
    styles = "".join(path.read_text(encoding="utf-8")
                     for path in sorted((THEME / "styles").glob("*.css")))
    signs = re.findall(r'--pst-icon-[\w-]+:\s*"(?:\\(\w+)|(.))"', styles)
    for name in SHOWN:
        rule = re.search(rf"\.fa-{name}:before[^{{}}]*\{{content:\"(?:\\(\w+)|(.))\"", styles)
        if rule is None:
            raise SystemExit(f"The theme's styles have no icon named {name}.")
        signs.append(rule.groups())
    return {int(code or hex(ord(sign)), 16) for code, sign in signs} | {UNFOLD}


def reduce_sheet(source: Path, target: Path, words: set[str]) -> None:
    """Write a sheet without the rules that need other classes, ids and tags than `words`."""
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder, "words.html")
        content.write_text(" ".join(sorted(words)), encoding="utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([*PURGE, "--css", source, "--content", content, "--output", target],
                       check=True)


def main() -> None:
    """Write the fonts and sheets."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    words, signs = script_words(site), set[str]()
    for name in page_names(site):
        root = tree(site / name)
        words |= element_names(root) | {str(part.tag) for part in root.iter()}
        signs |= formula_signs(root)
    save_subset(THEME / ICONS, ASSETS / ICONS, icon_codes(), hinting=True)
    with tempfile.TemporaryDirectory() as folder:
        fonts = unpacked(KATEX, Path(folder)) / "dist" / "fonts"
        for target in sorted(FORMULAS.glob("*.woff2")):
            save_subset(fonts / target.name, target, map(ord, signs | (
                ALWAYS if target.name.startswith(LETTERS) else {" "})))
    for name, theme in SHEETS.items():
        reduce_sheet(theme / name, ASSETS / name, words)


if __name__ == "__main__":
    main()
