"""No script stands in a page: a server may then forbid any that does (``book/nginx.conf``).

The theme and the extensions write short scripts and handlers into pages. They are moved into files
of their own, named by what they hold; handlers become attributes that ``book.js`` acts on. Sphinx's
translations, which evaluate a text, are left out. What a script only stores as data stays. An
address names what is in its file, for a server lets it be kept for good.
"""

from __future__ import annotations

import functools
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
DIGEST = re.compile(r'(?<=_static/)([^"?]+)\?digest=\w+')  # the theme's own


def outward(text: str, site: Path, to_root: str) -> str:
    """The page with its scripts in files below the folder `site`, `to_root` away from it."""
    def moved(match: re.Match[str]) -> str:
        body = match["body"].strip()
        if DATA.search(match["attributes"]):
            return match[0]
        if not body or UNUSED.fullmatch(body):
            return ""
        name = f"{FOLDER}/{pipeline.digest(body)[:12]}.js"
        pipeline.put(site / name, f"{body}\n".encode())
        return f'<script{match["attributes"]} src="{to_root}{name}"></script>'

    def named(match: re.Match[str]) -> str:
        path = site / "_static" / match[1]
        if not path.is_file():
            return match[0]
        return f"{match[1]}?v={file_digest(path, path.stat().st_mtime)}"

    inside = SCRIPT.sub(moved, EVALUATED.sub("", text))
    return HANDLER.sub(r' data-action="\1"', DIGEST.sub(named, inside))


@functools.cache
def file_digest(path: Path, changed: float) -> str:
    """First digits of a file's digest; `changed` is the time of the last change."""
    return pipeline.digest(path.read_bytes())[:12]
