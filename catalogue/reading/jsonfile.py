"""Reading one small JSON object safely, keeping the line of every key at its top; writing one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from catalogue.reading import syntax
from catalogue.reading.files import ParamsError, display_path, is_folder, read_small
from catalogue.reading.yamlfile import MAX_DIGITS

_KEY = re.compile(r'[\s,]*("(?:[^"\\]|\\.)*")\s*:\s*')  # of an object, what comes before its value
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


def read(path: Path) -> JsonFile:
    """Parse a JSON object.

    Raises ParamsError for what is no file, is larger than a configuration can be, is not JSON, is
    not an object, is nested too deep, or holds a key twice. ``NaN`` and infinities are numbers, as
    Python writes them.
    """
    name = display_path(path)
    if is_folder(path):
        raise ParamsError(f"{name}: a folder, expected the file config.json of a model.")
    raw = read_small(path, "a config.json", MAX_BYTES)
    try:
        text = raw.decode("utf-8-sig")
        data = json.loads(text, parse_int=lambda digits: (
            int(digits) if len(digits) <= MAX_DIGITS else float(digits)))
    except UnicodeDecodeError:
        raise ParamsError(f"{name}: not UTF-8 text, expected a config.json.") from None
    except json.JSONDecodeError as error:
        problem = f"not valid JSON, {error.msg[:1].lower()}{error.msg[1:]}"
        line, problem = syntax.foreign(text) or (
            error.lineno, problem if error.pos else "no JSON, expected a config.json")
        raise ParamsError(f"{name}:{line}: {problem}.") from None
    except RecursionError:
        raise ParamsError(f"{name}: nested too deep.") from None
    if not isinstance(data, dict):
        raise ParamsError(f"{name}:1: {_KINDS[type(data)]}, expected a JSON object, {{...}}.")
    keys = _keys(text, text.index("{") + 1, name)
    within = {key: {inner: line for inner, (line, _) in _keys(text, at + 1, name).items()}
              for key, (_, at) in keys.items() if text[at] == "{"}
    day = datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()
    return JsonFile(name, data, {key: line for key, (line, _) in keys.items()}, day, within)


def _keys(text: str, at: int, name: str) -> dict[str, tuple[int, int]]:
    """Keys of an object of valid JSON -> their line, and the place of their value.

    Args:
        text: of the file.
        at: place behind the opening bracket.
        name: of the file, for messages.

    Raises ParamsError for a key given twice.
    """
    result: dict[str, tuple[int, int]] = {}
    decoder, line, counted = json.JSONDecoder(parse_int=float), 1, 0
    while match := _KEY.match(text, at):
        key = json.loads(match[1])
        line, counted = line + text.count("\n", counted, match.start(1)), match.start(1)
        if key in result:
            raise ParamsError(f"{name}:{line}: the key {json_excerpt(key)} is given twice.")
        result[key] = line, match.end()
        _, at = decoder.raw_decode(text, match.end())
    return result


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


def finite(value: Any) -> Any:
    """Plain data as JSON takes it: what is infinite or no number is None.

    >>> finite({"rate": 2.0, "times": (0.5, float("inf"))})
    {'rate': 2.0, 'times': [0.5, None]}
    """
    if isinstance(value, dict):
        return {name: finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
