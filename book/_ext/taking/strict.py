"""No script stands in a page: a server may then forbid any that does (``book/nginx.conf``).

The theme and the extensions write short scripts and handlers into pages. They are moved into files
of their own, named by what they hold; handlers become attributes that ``book.js`` acts on. Sphinx's
translations, which evaluate a text, are left out. What a script only stores as data stays.
"""

from __future__ import annotations

import re
from pathlib import Path

from .. import pipeline

SCRIPT = re.compile(r"<script(?P<attributes>(?![^>]*\bsrc=)[^>]*)>(?P<body>.*?)</script>",
                    re.DOTALL)
EVALUATED = re.compile(r'<script src="[^"]*translations\.js[^"]*"></script>\n?')
HANDLER = re.compile(r'\sonclick="(?:window\.)?(\w+)\(\)"')
DATA = re.compile(r'type="(?:application|text)/(?:\w+\+)?(?:json|x-tex|plain)"')
UNUSED = re.compile(r"DOCUMENTATION_OPTIONS\.pagename = '[^']*';")  # of the theme's version switch
FOLDER = "_static/inline"


def outward(text: str, site: Path, to_root: str) -> str:
    """The page with its scripts in files below the folder `site`, `to_root` away from it."""
    def moved(match: re.Match[str]) -> str:
        body = match["body"].strip()
        if DATA.search(match["attributes"]):
            return match[0]
        if not body or UNUSED.fullmatch(body):
            return ""
        name = f"{FOLDER}/{pipeline.digest(body)[:12]}.js"
        target = site / name
        target.parent.mkdir(parents=True, exist_ok=True)
        pipeline.put(target, f"{body}\n".encode(), target.parent)
        return f'<script{match["attributes"]} src="{to_root}{name}"></script>'

    return HANDLER.sub(r' data-action="\1"', SCRIPT.sub(moved, EVALUATED.sub("", text)))
