"""Move inline scripts of pages into files, so that a server can forbid them (``book/nginx.conf``).

Files are named by the digest of their content, since servers let browsers cache them for good.
Handlers become attributes that ``book.js`` acts on. Sphinx's translations, which evaluate a text,
are removed; scripts that only store data stay.
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
    """Return the page with its scripts moved into files of the site; `to_root` leads there."""
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
