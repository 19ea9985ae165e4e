"""What is English in a text that is meant to be Chinese."""

from __future__ import annotations

import re
from collections.abc import Collection

from catalogue import library, sources
from catalogue.messages import LANGUAGES

# commands, identifiers, units, numbers
WRITTEN = re.compile(r"`[^`]*`|(?<!\w)--?[a-z]\S*|\S*[=_@/\d]\S*")
WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
UNITS = {"B", "GB", "GiB", "KB", "MB", "TB", "TiB", "block", "h", "kW", "ms", "request", "s", "tok",
         "µs", "x"}
TERMS = {"API", "CPU", "GPU", "KV", "L", "MLP", "TPOT", "TTFT", "all-reduce", "bit", "lognormal",
         "rank", "token"}  # as Chinese engineers say them


def english(text: str, *, but: Collection[str] = ()) -> set[str]:
    """Words of a Chinese answer that are no name, unit or identifier.

    Args:
        text: the answer.
        but: names that are right here.
    """
    for name in sorted(_names() | {*but}, key=len, reverse=True):
        text = text.replace(name, " ")
    words = {word for part in re.split(r"[^\x21-\x7eµ]+", WRITTEN.sub(" ", text))
             for word in WORD.findall(part)}
    return words - UNITS - TERMS


def _names() -> set[str]:
    """Of entries: identifiers, what they are called in Chinese, makers."""
    names = set(sources())
    for kind in ("devices", "loads", "models", "precisions", "profiles", "scenarios"):
        for entry in library.names(kind):
            names.add(entry)
            if kind in ("devices", "models", "profiles"):
                loaded = library.load(kind, entry)
                names |= {loaded.name[LANGUAGES[1]], getattr(loaded, "vendor", "")}
    return {name for name in names if len(name) > 2}
