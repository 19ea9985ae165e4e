"""The fonts of formulas with the signs that formulas have: ``python -m tools.site.letters``.

Takes from the built book which signs its formulas show, and writes KaTeX's fonts with these, and
with all letters and figures, from npm; 40 kB of a page. Run it again when a test says that a
formula has another sign.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

from tools.fonts import unpacked
from tools.site import pages
from tools.site.printed import ROOT, SITE

FONTS = ROOT / "book" / "assets" / "vendor" / "katex" / "fonts"
PACKAGE = "katex@0.19.1"  # as in book/_ext/setting/vendor
ALWAYS = set(map(chr, (*range(32, 127), *range(0x391, 0x3D7))))  # in what letters are set in
LETTERS = ("KaTeX_Main", "KaTeX_Math")
WIDE = "\u2e80"


def signs(every: pages.Site) -> set[str]:
    """Every sign that a formula of a built site shows."""
    return set().union(*(page.signs for page in every.values()))


def missing(shown: set[str]) -> set[str]:
    """Signs of formulas that no font of this book has; Chinese and what has no ink need none."""
    known = {chr(code) for path in FONTS.glob("*.woff2") for code in TTFont(path).getBestCmap()}
    return {sign for sign in shown - known if sign.isprintable() and sign < WIDE}


def write(full: Path, kept: set[str]) -> None:
    """Write each font of the book from that of an unpacked package's folder of fonts."""
    for target in sorted(FONTS.glob("*.woff2")):
        save_subset(full / target.name, target, map(ord, kept | (
            ALWAYS if target.name.startswith(LETTERS) else {" "})))


def save_subset(source: Path, target: Path, codes: Iterable[int], hinting: bool = False) -> None:
    """Write a font with some code points only."""
    options = subset.Options(flavor="woff2", layout_features=[], notdef_outline=True,
                             hinting=hinting)
    font = subset.load_font(str(source), options)
    maker = subset.Subsetter(options)
    maker.populate(unicodes=codes)
    maker.subset(font)
    subset.save_font(font, str(target), options)


def main() -> None:
    """Write the fonts from npm."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    with tempfile.TemporaryDirectory() as folder:
        package = unpacked(PACKAGE, Path(folder))
        before = sum(path.stat().st_size for path in FONTS.glob("*.woff2"))
        write(package / "dist" / "fonts", signs(pages.load(site)))
        after = sum(path.stat().st_size for path in FONTS.glob("*.woff2"))
        print(f"{before} to {after} bytes")


if __name__ == "__main__":
    main()
