"""Reading one small JSON object safely, keeping the line of every key at its top; writing one."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from catalogue.reading.errors import ParamsError
from catalogue.reading.files import is_folder, read_small
from catalogue.reading.yamlfile import MAX_DEPTH, MAX_DIGITS, display_path

# a string (possessive and closed by the end of the text, so that the scan is linear), a bracket,
# what stands between values, or a bare word
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[][{}:\n]|[\w.+-]+', re.DOTALL)
WRITTEN = 9  # digits of a number: those behind differ between processors
MAX_BYTES = 1 << 23  # NVFP4 checkpoints list every module that is left as it was: 3 MB
_KINDS = {dict: "an object", list: "a list", str: "a text", bool: "a truth value",
          int: "a number", float: "a number", type(None): "null"}


@dataclass(frozen=True)
class JsonFile:
    """A parsed file.

    Attributes:
        name: for messages.
        data: its top object.
        lines: the line of each key of that.
        date: the day on which it was last written, in ISO form.
        within: key of the top object -> the lines of the keys of the object that it holds.
    """

    name: str
    data: dict[str, Any]
    lines: dict[str, int]
    date: str
    within: dict[str, dict[str, int]]

    def where(self, key: str) -> str:
        """``file:line`` of a key, or the file where it has none."""
        return f"{self.name}:{self.lines[key]}" if key in self.lines else self.name


def anything(text: str | bytes) -> Any:
    """What any JSON says.

    Raises ValueError for what is none, and for brackets that no parser follows.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None


def json_excerpt(value: Any) -> str:
    """Any JSON value as it may stand in a sentence: short, and in printable characters."""
    if isinstance(value, str):
        return ascii(value[:40])
    if isinstance(value, (dict, list)):
        return _KINDS[type(value)] + ("" if value else " without content")
    return json.dumps(value)[:40]


def shown_path(path: Path) -> str:
    """A path as a reader knows it; printable whatever the file system holds."""
    name = display_path(path)
    return name if name.isprintable() else ascii(name)[1:-1]


def read(path: Path) -> JsonFile:
    """Parse a JSON object.

    Raises ParamsError for what is no file, is larger than a configuration can be, is not JSON, is
    not an object, is nested too deep, or holds a key twice. ``NaN`` and infinities are numbers, as
    Python writes them.
    """
    name = shown_path(path)
    if is_folder(path):
        raise ParamsError(f"{name}: a folder, expected the file config.json of a model.")
    raw = read_small(path, name, "a config.json", MAX_BYTES)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ParamsError(f"{name}: not UTF-8 text, expected a config.json.") from None
    lines, within = _scan(text, name)
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        problem = error.msg[:1].lower() + error.msg[1:]
        raise ParamsError(f"{name}:{error.lineno}: not valid JSON, {problem}.") from None
    except ValueError:  # digits that stand where the scan sees no number
        raise ParamsError(f"{name}: not valid JSON, a number of thousands of digits.") from None
    if not isinstance(data, dict):
        raise ParamsError(f"{name}:1: {_KINDS[type(data)]}, expected a JSON object, {{...}}.")
    return JsonFile(name, data, lines, _day(path), within)


def _day(path: Path) -> str:
    """The day on which a file was last written, in ISO form."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    except (OverflowError, OSError, ValueError):  # a file system's clock may say anything
        return datetime.now(UTC).date().isoformat()


def _scan(text: str, name: str) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Lines of the top object's keys and of the keys of the objects that it holds; refuses, before
    anything is built, what is not data.

    Raises ParamsError for deep nesting, a key given twice and endless numbers.
    """
    lines: dict[str, int] = {}
    within: dict[str, dict[str, int]] = {}
    top = ""  # the last key of the top object
    open_: list[set[str] | None] = []  # the keys of each open object, None for a list
    line, last = 1, ""
    for match in _TOKEN.finditer(text):
        token = match.group()
        match token[0]:
            case "\n":
                line += 1
                continue
            case "{" | "[":
                open_.append(set() if token == "{" else None)
                if len(open_) > MAX_DEPTH:
                    raise ParamsError(f"{name}:{line}: nested deeper than {MAX_DEPTH} levels.")
            case "}" | "]":
                if open_:
                    open_.pop()
            case ":":
                keys = open_[-1] if open_ else None
                key = _text(last)
                if keys is not None and key is not None:
                    if key in keys:
                        raise ParamsError(
                            f"{name}:{line}: the key {json_excerpt(key)} is given twice.")
                    keys.add(key)
                    if len(open_) == 1:
                        lines[key], top = line, key
                    elif len(open_) == 2:
                        within.setdefault(top, {})[key] = line
            case '"':
                line += token.count("\n")
            case _:
                if len(token) > MAX_DIGITS and token.lstrip("-").isdecimal():
                    raise ParamsError(f"{name}:{line}: a number of {len(token)} digits.")
        last = token
    return lines, within


def _text(token: str) -> str | None:
    """What a string's token says; None where it is no valid string (the parser will tell)."""
    try:
        text = json.loads(token) if token.startswith('"') else None
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def data_text(data: Any) -> str:
    """JSON of a file for programs, its numbers with ``WRITTEN`` significant digits.

    >>> print(data_text({"tpot": 0.1 + 0.2}), end="")
    {
     "tpot": 0.3
    }

    Args:
        data: plain, of finite numbers.
    """
    return json.dumps(rounded(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def rounded(data: Any) -> Any:
    """Plain data, its numbers with ``WRITTEN`` significant digits."""
    if isinstance(data, Mapping):
        return {key: rounded(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [rounded(value) for value in data]
    return float(f"{data:.{WRITTEN}g}") if isinstance(data, float) else data
