"""The icons that the theme shows, as a font of just these: ``python -m tools.site.icons``.

Run it again when the theme's version changes; it lies over the theme's own font, 150 kB of a page.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools.site.letters import save_subset
from tools.site.styles import THEME

ROOT = Path(__file__).resolve().parents[2]
STATIC = THEME / "theme" / "pydata_sphinx_theme" / "static"
FONT = Path("vendor/fontawesome/webfonts/fa-solid-900.woff2")
TARGET = ROOT / "book" / "assets" / FONT
SHOWN = ("angle-left", "angle-right", "arrow-up", "bars", "chevron-down", "circle-half-stroke",
         "download", "expand", "file", "file-pdf", "list", "magnifying-glass", "moon", "sun",
         "xmark")
UNFOLD = 0xF107  # of a dropdown
CODED = re.compile(r'--pst-icon-[\w-]+:\s*"(?:\\(\w+)|(.))"')


def codes() -> set[int]:
    """Code points of what pages name by a class, and of what the theme's styles name by a sign."""
    styles = "".join(path.read_text(encoding="utf-8")
                     for path in sorted((STATIC / "styles").glob("*.css")))
    found = {int(coded or hex(ord(sign)), 16) for coded, sign in CODED.findall(styles)}
    for name in SHOWN:
        rule = re.search(rf"\.fa-{name}:before[^{{}}]*\{{content:\"(?:\\(\w+)|(.))\"", styles)
        if rule is None:
            raise SystemExit(f"The theme's styles have no icon named {name}.")
        found.add(int(rule[1] or hex(ord(rule[2])), 16))
    return found | {UNFOLD}


def main() -> None:
    """Write the font."""
    save_subset(STATIC / FONT, TARGET, codes(), hinting=True)
    print(f"{TARGET.relative_to(ROOT)}: {TARGET.stat().st_size} bytes, {len(codes())} icons")


if __name__ == "__main__":
    main()
