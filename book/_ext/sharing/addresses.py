"""The site's own address on its pages, and what a preview of a page shows.

Where nobody has said where the site will stand, no address is invented: canonical and preview
addresses are then left out. ``html: baseurl`` in ``_config.yml`` says it, or ``SITE_URL`` in the
environment of whoever publishes.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from markupsafe import Markup
from sphinx.application import Sphinx
from sphinx.config import Config

from .. import languages
from . import feed, pictures, site

ADDRESS = "SITE_URL"
WEB = re.compile(r"https?://[\w.-]+(?::\d+)?(?:/[\w.~-]+)*/?")
VIEWPORT = re.compile(r'<meta name="viewport"[^>]*>\s*')  # docutils' own; the theme writes one too


def base(written: str) -> str:
    """An address of the web with a slash at its end; nothing for any other text.

    >>> base("https://example.org/fit")
    'https://example.org/fit/'
    >>> base("example.org")
    ''
    """
    return f"{written.rstrip('/')}/" if WEB.fullmatch(written) else ""


def settle(app: Sphinx, config: Config) -> None:
    """Take the address from the environment or the settings, with the folder of this language."""
    address = base(os.environ.get(ADDRESS, "") or str(config.html_baseurl))
    here = next(language for language in languages.SITES
                if language["tag"] == languages.tag_of(config.language))
    config.html_baseurl = f"{address}{here['folder']}" if address else ""


def of_site(config: Config) -> str:
    """The address of the whole site, of which the second language is a folder."""
    return str(config.html_baseurl).removesuffix("zh/")


def add(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any],
         doctree: nodes.document | None) -> None:
    """Give the templates what previews need; draw the picture of a page that has an address."""
    context["metatags"] = VIEWPORT.sub("", context.get("metatags", ""))
    context["feed"] = context["pathto"](feed.NAME, 1) if feed.dates(_root(app)) else ""
    if app.config.language != "en" and context["feed"]:
        context["feed"] = f"../{context['feed']}"
    context["picture"] = ""
    if app.config.html_baseurl and doctree is not None:
        name = pictures.put(Path(app.outdir), str(app.config.html_title),
                            Markup(context["title"]).striptags(),
                            pictures.sentence(languages.first_words(doctree)))
        context["picture"] = f"{app.config.html_baseurl}{name}"
    if context.get("pageurl"):
        root = of_site(app.config)
        for language in context["alternates"]:
            language["address"] = f"{root}{language['folder']}{pagename}.html"


def _root(app: Sphinx) -> Path:
    return Path(app.srcdir).parent


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write what belongs to the whole site, in the pass that leads."""
    if exception or app.builder.name != "html" or languages.tag_of(app.config.language) != "en":
        return
    outdir, address = Path(app.outdir), of_site(app.config)
    site.write(outdir, address, sorted(app.env.found_docs))
    templates: Any = app.builder.templates
    (outdir / "404.html").write_text(
        templates.render("404.html", {"home": address or "/"}), encoding="utf-8")
    if dates := feed.dates(_root(app)):
        (outdir / feed.NAME).write_text(
            feed.atom((_root(app) / feed.SOURCE).read_text(encoding="utf-8"), dates, address,
                      str(app.config.html_title)), encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Connect the handlers."""
    app.connect("config-inited", settle, priority=450)
    app.connect("html-page-context", add, priority=550)  # after the page's words are known
    app.connect("build-finished", finish, priority=900)
