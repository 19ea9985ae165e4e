"""What may be typed for an option, how a command ends, what it prints and leaves in English."""

from __future__ import annotations

import json
import re
from collections.abc import Collection

from catalogue import library, sources
from catalogue.messages import LANGUAGES

ABSURD = ("inf", "-inf", "nan", "-1", "1e300", "1e-300", "", "9" * 40, "text", "1e3 GB", "\x1b[2J")
# commands, identifiers, units, numbers
WRITTEN = re.compile(r"`[^`]*`|(?<!\w)--?[a-z]\S*|\S*[=_@/\d]\S*")
WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*")
UNITS = {"B", "GB", "GiB", "KB", "MB", "TB", "TiB", "block", "h", "kW", "ms", "request", "s", "tok",
         "µs", "x"}
TERMS = {"API", "CPU", "CV", "EP", "GEMM", "GPU", "KV", "L", "M", "MLP", "MTP", "TP", "TPOT",
         "TTFT", "all-reduce", "bit", "lognormal", "micro-batch", "prefill", "prompt", "rank",
         "tile", "token"}  # as Chinese engineers say them


def finite(text: str):
    """Parsed JSON; NaN and infinity are no JSON."""
    def refuse(constant: str):
        raise AssertionError(f"{constant} is no JSON")
    return json.loads(text, parse_constant=refuse)


def ended_well(result: tuple[int, str, str]) -> bool:
    """An answer, or one printable sentence."""
    code, out, err = result
    if code == 0:
        return bool(finite(out))
    line, = err.splitlines()
    return code == 2 and line.endswith(".") and line.isprintable() and len(line) < 600


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
