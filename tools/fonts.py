"""Rebuild the fonts of pages and figures from the characters that they can need: ``make font``.

Latin letters and figures are of IBM Plex Sans, for pages in two weights; Chinese in figures is of
Noto Sans SC. Both come from npm. Needs fonttools, which comes with matplotlib, and brotli. The SIL
Open Font License stands beside the fonts; it asks that a changed font has another name.
"""

from __future__ import annotations

import base64
import io
import re
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont
from fontTools.varLib import instancer

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "notebooks" / "show" / "fonts"
DRAWN = (("notebooks", "*.py"), ("messages", "pages/**/*.ftl"), ("messages", "show/*.ftl"),
         ("messages", "common.ftl"))
NOT_DRAWN = "calculators"  # the browser has fonts of its own
CHINESE, LATIN = "@fontsource/noto-sans-sc@5.3.0", "@fontsource-variable/ibm-plex-sans@5.3.0"
FILES = {CHINESE: "noto-sans-sc-chinese-simplified-400-normal.woff2",
         LATIN: "ibm-plex-sans-latin-wght-normal.woff2"}
FAMILIES = {CHINESE: "Workbench Sans SC", LATIN: "Workbench Sans"}
TARGET, FIGURES = HERE / "workbench-sans-sc.ttf", HERE / "workbench-sans.ttf"
PAGES = ROOT / "book" / "assets" / "vendor" / "plex"
REGULAR, BOLD = 400, 700
FACE = """/* IBM Plex Sans, there before a page is drawn, so that nothing moves when it comes. */
document.fonts.add(new FontFace("{family}", Uint8Array.from(
  atob("{data}"), (sign) => sign.charCodeAt(0)), {{ weight: "{least} {most}" }}));
"""
_CODE = re.compile(r"^```\{code-cell\}.*?^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^( *)((?:name|title):.*(?:\n\1  .*)*)", re.MULTILINE)
_ACCENTED = "äöüßéèàçñåÅ…‘’·•©®§÷½"
_SIGNS = "×·–—−±≤≥≈→°µ％，。、：；（）《》“”⁰¹²³⁴⁵⁶⁷⁸⁹⁻"


def characters() -> set[str]:
    """What figures can print: ASCII, symbols, terms, names, messages, code of notebooks."""
    params = ROOT / "params"
    texts = [(params / name).read_text("utf-8") for name in ("symbols.yml", "glossary.yml")]
    for path in sorted(params.glob("*/*.yml")):
        texts += [text for _, text in _NAMED.findall(path.read_text("utf-8"))]
    for path in sorted((ROOT / "notebooks").rglob("*.md")):
        texts += _CODE.findall(path.read_text("utf-8"))
    texts += [path.read_text("utf-8") for folder, pattern in DRAWN
              for path in sorted((ROOT / folder).rglob(pattern)) if NOT_DRAWN not in path.parts]
    letters = "".join(map(chr, range(32, 127))) + _SIGNS + "".join(texts)
    return {letter for letter in letters if letter.isprintable()}


def spoken() -> set[str]:
    """What previews of pages can print besides: titles and prose of the pages, and messages."""
    places = (("notebooks", "*.md"), ("book", "*.md"), ("messages", "pages/**/*.ftl"),
              ("book/locales", "*.po"))
    texts = [path.read_text("utf-8") for folder, pattern in places
             for path in sorted((ROOT / folder).rglob(pattern)) if "chapters" not in path.parts]
    return {letter for letter in "".join(texts) if letter.isprintable()}


def _subset(package: Path, name: str, letters: set[str], features: list[str]) -> TTFont:
    """A package's font with these characters only, under the name of the changed one."""
    font = TTFont(package / "files" / FILES[name])
    options = subset.Options(layout_features=features, hinting=False, notdef_outline=True,
                             name_IDs=[0, 1, 2, 13, 14])
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=map(ord, letters))
    subsetter.subset(font)
    family = FAMILIES[name]
    for name_id, text in ((1, family), (2, "Regular"), (4, family),
                          (6, family.replace(" ", "") + "-Regular")):
        font["name"].setName(text, name_id, 3, 1, 0x409)
    font["head"].modified = font["head"].created
    font.recalcTimestamp = False
    return font


def _save(font: TTFont, target: Path) -> None:
    font.flavor = None
    font.save(target)
    print(f"{target.name}: {len(font.getBestCmap())} characters, {target.stat().st_size} bytes")


def build(chinese: Path, latin: Path) -> None:
    """Write the subsets and their licences from unpacked packages."""
    _save(_subset(chinese, CHINESE, characters() | spoken(), []), TARGET)
    shutil.copyfile(chinese / "LICENSE", HERE / "OFL.txt")
    letters = {chr(code) for code in range(32, 127)} | set(_SIGNS + _ACCENTED)
    both = _subset(latin, LATIN, letters, ["kern"])
    PAGES.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    both = instancer.instantiateVariableFont(both, {"wght": (REGULAR, BOLD)})
    both.flavor = "woff2"
    both.save(buffer)
    (PAGES / "face.js").write_text(FACE.format(
        family=FAMILIES[LATIN], least=REGULAR, most=BOLD,
        data=base64.b64encode(buffer.getvalue()).decode()), "utf-8")
    one = _subset(latin, LATIN, letters, [])
    _save(instancer.instantiateVariableFont(one, {"wght": REGULAR}), FIGURES)
    for folder in (HERE / "OFL-latin.txt", PAGES / "LICENSE"):
        shutil.copyfile(latin / "LICENSE", folder)


def unpacked(name: str, folder: Path) -> Path:
    """Return the folder of a package that npm downloads."""
    subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True)
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        archive.extractall(folder, filter="data")
    return folder / "package"


def main() -> None:
    """Build from the packages that npm downloads."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        build(unpacked(CHINESE, Path(first)), unpacked(LATIN, Path(second)))


if __name__ == "__main__":
    main()
