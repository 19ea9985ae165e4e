"""The map of the site for search engines, and where they find it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from xml.sax.saxutils import quoteattr

from .. import languages

XMLNS = ('xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
         'xmlns:xhtml="http://www.w3.org/1999/xhtml"')


def sitemap(address: str, pages: Iterable[str]) -> str:
    """Every page in every language, each with its other languages (sitemaps.org).

    Args:
        address: of the site, with a slash at its end.
        pages: names without language and extension.
    """
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<urlset {XMLNS}>"]
    for page in pages:
        addresses = {language["lang"]: f"{address}{language['folder']}{page}.html"
                     for language in languages.SITES}
        others = "".join(f'<xhtml:link rel="alternate" hreflang="{lang}" href={quoteattr(where)}/>'
                         for lang, where in addresses.items())
        lines += [f"<url><loc>{where}</loc>{others}</url>" for where in addresses.values()]
    return "\n".join([*lines, "</urlset>", ""])


def write(folder: Path, address: str, pages: Iterable[str]) -> None:
    """Write ``robots.txt`` and, where the site's address is known, ``sitemap.xml``."""
    robots = "User-agent: *\nAllow: /\n"
    if address:
        (folder / "sitemap.xml").write_text(sitemap(address, pages), encoding="utf-8")
        robots += f"\nSitemap: {address}sitemap.xml\n"
    (folder / "robots.txt").write_text(robots, encoding="utf-8")
