"""Reading one YAML file safely, keeping the line of every key."""

from __future__ import annotations

import contextlib
import functools
import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml

from catalogue.reading import words
from catalogue.reading.errors import ParamsError
from catalogue.reading.files import read_small
from catalogue.reading.record import ROOT, record, taken_whole, wanted

MAX_DEPTH = 40
AT_REST = 2_000_000_000  # ns: no file system's clock ticks as slowly

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_MEANT: dict[str, bool | None] = {
    "null": None, "true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
_WORDS: dict[str, bool | None] = {"": None, "~": None, **{
    written: means for word, means in _MEANT.items()
    for written in (word, word.capitalize(), word.upper())}}
MAX_DIGITS = 30
_DIGITS = "0123456789"
_STARTS = (yaml.MappingStartEvent, yaml.SequenceStartEvent)
_ENDS = (yaml.MappingEndEvent, yaml.SequenceEndEvent)
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode: control, format, surrogate, separators

KeyPath = tuple[str | int, ...]
Stamp = tuple[int, int, int, int]  # what the file system tells of a version of a file
Seen = tuple[bytes, Stamp | None]  # what stood in a file, and of which version that is
Made = TypeVar("Made")
_following: list[dict[Path, Seen]] = []
_at_rest: list[None] = []
_resting: dict[Path, Stamp] = {}  # of files that are taken to stay as they are
_made: dict[tuple[str, Path, bool], tuple[dict[Path, Seen], Any]] = {}
_at_hand: dict[tuple[str, Path, bool], Any] = {}  # of files at rest, found unchanged and recorded


@dataclass(frozen=True)
class YamlFile:
    """A parsed file: ``data`` (plain Python) and the line on which each key path stands."""

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, int]

    def where(self, keys: KeyPath = ()) -> str:
        """``file:line`` of the deepest known prefix of a key path."""
        for length in range(len(keys), 0, -1):
            if keys[:length] in self.lines:
                return f"{self.name}:{self.lines[keys[:length]]}"
        return f"{self.name}:1"

    @functools.cached_property
    def name(self) -> str:
        """The path as a reader knows it."""
        return display_path(self.path)


def display_path(path: Path) -> str:
    """A path as a reader knows it: from the project's root where it lies inside."""
    project = ROOT.parent
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
        return str(path)
    return str(resolved.relative_to(project)) if resolved.is_relative_to(project) else str(path)


def read(path: Path) -> YamlFile:
    """Parse a YAML mapping.

    Raises ParamsError for a file that is missing, too large, not YAML, not a mapping, nested too
    deep, or that uses anchors, aliases, tags or a key twice.
    """
    return parse(path, _raw(path))


def under(path: Path, key: str) -> list[Any]:
    """What stands under a key, wherever in the file; only that counts as read.

    Raises ParamsError as :func:`read`.
    """
    def held(data: Any) -> Iterator[Any]:
        if isinstance(data, dict):
            yield from (value for name, value in data.items() if name == key)
        for part in data.values() if isinstance(data, dict) else data:
            if isinstance(part, (dict, list)):
                yield from held(part)

    return list(held(parse(path, _raw(path, key)).data))


def beginning(path: Path, last: str) -> YamlFile:
    """A file up to what stands under one of its keys; nothing behind that is parsed.

    Raises ParamsError as :func:`read`, for what is wrong up to there.
    """
    return parse(path, _raw(path), last)


def _raw(path: Path, key: str = "") -> bytes:
    """A file as it is now; that it was read is recorded, or what stands under a key."""
    stamp = _stamp(path)  # before it is read: what changes from here on has another
    raw = read_small(path, display_path(path), "a parameter file")
    _note(path, (raw, stamp), key)
    return raw


def _note(path: Path, seen: Seen, key: str = "") -> None:
    record(path, key=key)
    for files in _following:
        files[path] = seen


def _stamp(path: Path) -> Stamp | None:
    """What tells a version of a file from any other; None while it may change within the same tick
    of the file system's clock."""
    if path in _resting:
        return _resting[path]
    try:
        found = path.stat()
    except (OSError, ValueError):  # told when it is read
        return None
    if time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) < AT_REST:
        return None
    stamp = found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    if _at_rest:
        _resting[path] = stamp
    return stamp


@contextlib.contextmanager
def at_rest() -> Iterator[None]:
    """Files are taken to stay as they are meanwhile, so that one look at each is enough."""
    _at_rest.append(None)
    try:
        yield
    finally:
        _at_rest.pop()
        if not _at_rest:
            _resting.clear()
            _at_hand.clear()


def names_in(folder: Path) -> list[str]:
    """Names of the parameter files in a folder, without their ending, sorted."""
    key = "names", folder, False
    if (found := _at_hand.get(key)) is None:
        found = sorted(path.stem for path in folder.glob("*.yml"))
        if _at_rest:
            _at_hand[key] = found
    return [*found]


@contextlib.contextmanager
def following() -> Iterator[dict[Path, Seen]]:
    """The files that are read meanwhile, with what stands in them."""
    files: dict[Path, Seen] = {}
    _following.append(files)
    try:
        yield files
    finally:
        _following.pop()


def unchanged(files: dict[Path, Seen]) -> bool:
    """Whether files still hold what they held; that they were read is recorded.

    A file whose stamp is the same is not read again; one that rests meanwhile gets one.
    """
    noted = _following or wanted()
    for path, (raw, stamp) in files.items():
        now = _stamp(path)
        if now is None or now != stamp:
            try:
                if _raw(path) != raw:
                    return False
            except ParamsError:  # it is gone
                return False
            files[path] = raw, now
        elif noted:
            _note(path, (raw, stamp))
    return True


def at_hand(what: str, path: Path) -> Any:
    """What was made of a file that is taken to stay as it is; else None."""
    if not _at_hand or _following:
        return None
    return _at_hand.get((what, path, words.pages_are_made()))


def recalled(what: str, path: Path) -> Any:
    """What was made of a file, if neither it nor a file that it names has changed; else None."""
    if (found := at_hand(what, path)) is not None:
        return found
    key = what, path, words.pages_are_made()
    files, made = _made.get(key, ({}, None))
    if made is None or not unchanged(files):
        return None
    if _at_rest and taken_whole():
        _at_hand[key] = made
    return made


def remembered(what: str, path: Path, make: Callable[[], Made]) -> Made:
    """What is made of a file and of those that it names, made again once one of them changed.

    Args:
        what: is made, one name for one way of making it.
        path: of the file, absolute.
        make: does it; nobody changes what comes back.
    """
    made: Made | None = recalled(what, path)
    if made is None:
        with following() as files:
            made = make()
        _made[what, path, words.pages_are_made()] = files, made
    return made


@functools.lru_cache(maxsize=512)
def parse(path: Path, raw: bytes, last: str | None = None) -> YamlFile:
    """A file's contents, or those up to a key, parsed once; nobody changes what was read.

    Raises as :func:`read` does.
    """
    name = display_path(path)
    try:
        text = raw.decode("utf-8")
        reader = _Reader(name, text, last)
        return YamlFile(path, reader.document(), reader.lines)
    except UnicodeDecodeError:
        raise ParamsError(f"{name}: not UTF-8 text, expected a YAML file.") from None
    except yaml.reader.ReaderError as error:
        line = text.partition(chr(error.character))[0].count("\n") + 1
        raise ParamsError(f"{name}:{line}: not valid YAML, a control character.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else 1
        problem = getattr(error, "problem", None) or "cannot be parsed"
        if any("\t" in each for each in text.split("\n")[line - 1:line]):
            problem = "a tab, expected spaces"
        raise ParamsError(f"{name}:{line}: not valid YAML, {problem}.") from None


class _Reader:
    """Turns a document of plain data into plain Python, noting the line of every key.

    Aliases, tags, deep nesting and what is no YAML are refused wherever they stand, before anything
    that the document says.
    """

    def __init__(self, name: str, text: str, last: str | None) -> None:
        self.name = name
        self.last = last
        self.lines: dict[KeyPath, int] = {}
        self._event: Callable[[], Any] = _Loader(text).get_event
        self._depth = self._documents = 0

    def document(self) -> dict[str, Any]:
        """All that it holds. Raises ParamsError, and what PyYAML raises."""
        event = self._next()
        try:
            if event.__class__ is not yaml.MappingStartEvent:
                raise _Unfit("expected a YAML mapping (key: value)")
            self.lines[()] = _line(event)
            data = self._mapping((), self.last)
        except _Unfit as unfit:
            if event is not None:
                self._end()
            raise ParamsError(f"{self.name}:{unfit.line}: {unfit}.") from None
        if self.last not in data:
            self._end()
        return data

    def _end(self) -> None:
        while self._next() is not None:
            pass

    def _next(self) -> Any:
        """The next event that begins a node or ends a collection; None behind the last."""
        while True:
            event = self._event()
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                if event.anchor or event.tag:
                    self._refuse(event)
                return event
            if kind in _ENDS:
                self._depth -= 1
                return event
            if kind in _STARTS:
                self._depth += 1
                if event.anchor or event.tag or self._depth > MAX_DEPTH:
                    self._refuse(event)
                return event
            if kind is yaml.AliasEvent:
                self._refuse(event)
            if kind is yaml.StreamEndEvent:
                return None
            if kind is yaml.DocumentStartEvent:
                self._documents += 1
                if self._documents > 1:
                    raise ParamsError(f"{self.name}:{_line(event)}: not valid YAML, but found "
                                      "another document.")

    def _refuse(self, event: yaml.NodeEvent) -> None:
        at = f"{self.name}:{_line(event)}:"
        if event.anchor:  # of an alias, or where one is defined
            raise ParamsError(f"{at} anchors and aliases are not accepted, write the value out.")
        if tag := getattr(event, "tag", None):
            raise ParamsError(f"{at} the tag '{tag}' is not accepted.")
        raise ParamsError(f"{at} nested deeper than {MAX_DEPTH} levels.")

    def _value(self, event: Any, keys: KeyPath) -> Any:
        """What begins with an event, the first of it that was taken."""
        if event.__class__ is yaml.ScalarEvent:
            text = _shown(event)
            if not event.implicit[0]:  # what stands in quotes
                return text
            try:
                return scalar(text)
            except ValueError as error:
                raise _Unfit(str(error), _line(event)) from None
        return (self._mapping if event.__class__ is yaml.MappingStartEvent else self._list)(keys)

    def _list(self, keys: KeyPath) -> list[Any]:
        result: list[Any] = []
        while (event := self._next()).__class__ not in _ENDS:
            inside = (*keys, len(result))
            self.lines[inside] = _line(event)
            result.append(self._value(event, inside))
        return result

    def _mapping(self, keys: KeyPath, last: str | None = None) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while (event := self._next()).__class__ not in _ENDS:
            if event.__class__ is not yaml.ScalarEvent:
                raise _Unfit("a key must be plain text", _line(event))
            key = _shown(event)
            if key in result:
                raise _Unfit(f"the key '{key[:60]}' is given twice", _line(event))
            inside = (*keys, key)
            self.lines[inside] = _line(event)
            result[key] = self._value(self._next(), inside)
            if key == last:
                break
        return result


class _Unfit(Exception):
    """What a document says and may not, as a clause, and in which line."""

    def __init__(self, clause: str, line: int = 1) -> None:
        super().__init__(clause)
        self.line = line


def _line(event: Any) -> int:
    line: int = event.start_mark.line
    return line + 1


def _shown(event: yaml.ScalarEvent) -> str:
    """The text of a scalar. Raises _Unfit where a reader does not see all of it."""
    text: str = event.value
    if text.isprintable():  # nearly all are, and this is fast
        return text
    try:
        return _visible(text)
    except ValueError as error:
        raise _Unfit(str(error), _line(event)) from None


def _visible(text: str) -> str:
    """A text, if a reader sees all of it: what moves a cursor or turns the direction is no text.

    Raises ValueError naming the first character that is neither seen nor a space or line end.
    """
    for char in text:
        if unicodedata.category(char) in _UNSEEN and char not in "\n\t":
            raise ValueError(f"a control character ({ascii(char)[1:-1]}), expected plain text")
    return text


def scalar(text: str) -> Any:
    """What one plain scalar means: truth, nothing, a whole number in decimal digits, else text.

    Fractions stay text, so that a quantity keeps the digits that its file prints. Octal,
    hexadecimal and base-60 numbers and dates of YAML 1.1 stay text too, and are refused where a
    number belongs.

    >>> scalar("Yes"), scalar("~"), scalar("12"), scalar("0.50"), scalar("012")
    (True, None, 12, '0.50', '012')

    Raises ValueError for a number of absurd length.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[-1] in _DIGITS and _INTEGER.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError(f"a number of {len(text)} digits")
        return int(text)
    return text
