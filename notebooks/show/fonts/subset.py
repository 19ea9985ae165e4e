"""Rebuild the font of the figures from the characters that they can need: ``make font``.

Takes Noto Sans SC from the npm package ``@fontsource/noto-sans-sc``, or from an unpacked copy of
it named on the command line. Needs fonttools, which comes with matplotlib, and brotli. The SIL
Open Font License stands beside the font; it asks that a changed font has another name.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
DRAWN = (("notebooks", "*.py"), ("messages/pages", "*.ftl"), ("messages/show", "*.ftl"))
NOT_DRAWN = "calculators"  # the browser has fonts of its own
PACKAGE = "@fontsource/noto-sans-sc@5.3.0"
FAMILY = "Workbench Sans SC"
TARGET = HERE / "workbench-sans-sc.ttf"
_CODE = re.compile(r"^```\{code-cell\}.*?^```", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"^( *)((?:name|title):.*(?:\n\1  .*)*)", re.MULTILINE)
_SIGNS = "×·–—−±≤≥≈→°µ％，。、：；（）《》“”⁰¹²³⁴⁵⁶⁷⁸⁹⁻"


def characters() -> set[str]:
    """What figures can print: ASCII, symbols, terms, names, messages, code of notebooks."""
    params = ROOT / "params"
    texts = [(params / name).read_text("utf-8") for name in ("symbols.yml", "glossary.yml")]
    for path in sorted(params.glob("*/*.yml")):
        texts += [text for _, text in _NAMED.findall(path.read_text("utf-8"))]
    for path in sorted((ROOT / "notebooks").rglob("*.md")):
        texts += _CODE.findall(path.read_text("utf-8"))
    texts.append((ROOT / "messages" / "common.ftl").read_text("utf-8"))
    texts += [path.read_text("utf-8") for folder, pattern in DRAWN
              for path in sorted((ROOT / folder).rglob(pattern)) if NOT_DRAWN not in path.parts]
    letters = "".join(map(chr, range(32, 127))) + _SIGNS + "".join(texts)
    return {letter for letter in letters if letter.isprintable()}


def build(package: Path) -> None:
    """Write the subset and its licence from an unpacked package."""
    font = TTFont(package / "files" / "noto-sans-sc-chinese-simplified-400-normal.woff2")
    options = subset.Options(layout_features=[], notdef_outline=True, name_IDs=[0, 1, 2, 13, 14])
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=map(ord, characters()))
    subsetter.subset(font)
    font.flavor = None
    for name_id, text in ((1, FAMILY), (2, "Regular"), (4, FAMILY),
                          (6, FAMILY.replace(" ", "") + "-Regular")):
        font["name"].setName(text, name_id, 3, 1, 0x409)
    font["head"].modified = font["head"].created
    font.recalcTimestamp = False
    font.save(TARGET)
    shutil.copyfile(package / "LICENSE", HERE / "OFL.txt")
    print(f"{len(font.getBestCmap())} characters, {TARGET.stat().st_size} bytes")


def main() -> None:
    """Build from the package named on the command line, or from npm."""
    if len(sys.argv) > 1:
        build(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True)
        with tarfile.open(next(Path(folder).glob("*.tgz"))) as archive:
            archive.extractall(folder, filter="data")
        build(Path(folder) / "package")


if __name__ == "__main__":
    main()
