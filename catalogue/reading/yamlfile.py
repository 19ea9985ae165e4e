"""Reading one YAML file safely, keeping the line of every key."""

from __future__ import annotations

import codecs
import contextlib
import functools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import yaml

from catalogue.reading import syntax, words
from catalogue.reading.files import ROOT, ParamsError, display_path, is_file, read_small

MAX_DEPTH = 40

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_MEANT = {"null": None, "true": True, "yes": True, "on": True, "false": False, "no": False,
          "off": False}
_WORDS = {"": None, "~": None} | {
    written: means for word, means in _MEANT.items()
    for written in (word, word.capitalize(), word.upper())}
MAX_DIGITS = 30
_UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")  # Unicode: control, format, surrogate, separators

KeyPath = tuple[str | int, ...]


class Files(dict[Path, bytes | None]):
    """Files that were read, with the contents of those outside ``params/``.

    Attributes:
        results: keys of remembered results whose files are in it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.results: set[tuple[str, Path, bool]] = set()


Result = TypeVar("Result")
_following: list[Files] = []
_cache: dict[tuple[str, Path, bool], tuple[Files, list[tuple[Path, bytes]], Any]] = {}


@dataclass(frozen=True)
class YamlFile:
    """A parsed file: ``data`` (plain Python) and the line on which each key path stands.

    Contents that come from options instead of a file have ``origins``: the option of each key
    path, that of ``()`` for all others. ``mistakes``: of its syntax, which were read as meant.
    """

    path: Path
    data: dict[str, Any]
    lines: dict[KeyPath, int]
    origins: Mapping[KeyPath, str] = field(default_factory=dict)
    mistakes: tuple[str, ...] = ()

    def word(self, keys: KeyPath, value: bool) -> str:
        """How a truth value under some keys is written: ``no``, ``off``, ``false``."""
        row = self.path.read_text("utf-8").split("\n")[self.lines[keys] - 1]
        of_value = [word for word, meant in _WORDS.items() if meant is value]
        return next((word for word in of_value if re.search(rf"\b{word}\b", row)), of_value[0])

    def where(self, keys: KeyPath = ()) -> str:
        """``file:line`` of the deepest known prefix of a key path, or its option."""
        for length in range(len(keys), -1, -1):
            if keys[:length] in self.origins:
                return self.origins[keys[:length]]
        return f"{self.name}:{self.line(keys)}"

    def line(self, keys: KeyPath) -> int:
        """Line of the deepest known prefix of a key path, at least 1."""
        return next((self.lines[keys[:length]] for length in range(len(keys), 0, -1)
                     if keys[:length] in self.lines), 1)

    @functools.cached_property
    def name(self) -> str:
        """The path as a reader knows it."""
        return display_path(self.path)


@functools.lru_cache(maxsize=4096)
def is_own(path: Path) -> bool:
    """Whether a file is a reader's own: outside of ``params/``, or one of its templates."""
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
        return True
    return not resolved.is_relative_to(ROOT) or resolved.is_relative_to(ROOT / "templates")


def read(path: Path, last: str | None = None, as_meant: bool = False) -> YamlFile:
    """Parse a YAML mapping, up to what stands under a key if one is given.

    Raises ParamsError for a file that is missing, too large, not YAML, not a mapping, nested too
    deep, or that uses anchors, aliases, tags or a key twice, and, unless it is read as meant, for
    the file's ``mistakes``.
    """
    raw = read_small(path, "a parameter file")
    note(path, raw)
    file = parse(path, raw, last)
    if file.mistakes and not as_meant:
        raise ParamsError(*file.mistakes)
    return file


def note(path: Path, raw: bytes | None = None) -> None:
    """Add a file that was read, with its contents, or a listed folder to what is followed."""
    for files in _following:
        if raw is not None or path not in files:
            files[path] = None if raw is None or path.is_relative_to(ROOT) else raw


@functools.cache
def names_in(folder: Path) -> tuple[str, ...]:
    """Names of the parameter files in a folder, without their ending, sorted."""
    return tuple(sorted(path.stem for path in folder.glob("*.yml")))


@contextlib.contextmanager
def following(files: Files | None = None) -> Iterator[Files]:
    """Collect the files that are read in the context, and the folders that are listed.

    Args:
        files: mapping to add them to; a new one, if absent. Its values are the contents of files
            outside ``params/``; other files are taken not to change while the process runs.
    """
    followed = Files() if files is None else files
    _following.append(followed)
    try:
        yield followed
    finally:
        _following[:] = [other for other in _following if other is not followed]


def remembered(what: str, path: Path, make: Callable[[], Result]) -> Result:
    """Return what is made of a file, made again if a file outside ``params/`` that it was made of
    has changed.

    Args:
        what: is made, one name for one way of making it.
        path: of the file, absolute.
        make: makes it; the result must not be modified.
    """
    key = what, path, words.pages_are_made()
    if key in _cache:
        files, own, result = _cache[key]
        if all(is_file(file) and file.read_bytes() == raw for file, raw in own):
            for followed in _following:
                if own or key not in followed.results:
                    followed.results.add(key)
                    for file, contents in files.items():
                        followed[file] = contents
            return result
    with following() as files:
        result = make()
    own = [(file, raw) for file, raw in files.items() if raw is not None]
    _cache[key] = files, own, result
    return result


@functools.lru_cache(maxsize=512)
def parse(path: Path, raw: bytes, last: str | None = None) -> YamlFile:
    """A file's contents, or those up to a key, parsed once; nobody changes what was read.

    Raises as :func:`read` does.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        name = display_path(path)
        is_text = b"\0" not in raw or raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        raise ParamsError(f"{name}: not UTF-8 text, save it with the encoding UTF-8." if is_text
                          else f"{name}: not a text, expected a YAML file.") from None
    try:
        return _parsed(path, text, last)
    except ParamsError as error:
        mended, wrong = syntax.mended(text)
        if not wrong:
            raise
        mistakes = [f"{display_path(path)}:{', '.join(map(str, lines))}: {cause}."
                    for cause, lines in wrong.items()]
        try:
            file = _parsed(path, mended, last)
            return replace(file, mistakes=(*mistakes, *file.mistakes))
        except ParamsError as further:
            raise ParamsError(*mistakes, *further.problems) from error


def _parsed(path: Path, text: str, last: str | None) -> YamlFile:
    try:
        reader = _Reader(path, text, last)
        return YamlFile(path, reader.document(), reader.lines, mistakes=tuple(reader.mistakes))
    except yaml.reader.ReaderError as error:
        line = text.partition(chr(error.character))[0].count("\n") + 1
        raise ParamsError(f"{display_path(path)}:{line}: a control character, expected plain "
                          "text.") from None
    except yaml.YAMLError as error:
        line, problem = syntax.explained(text, error)
        raise ParamsError(f"{display_path(path)}:{line}: {problem}.") from None


class _Reader:
    """Turns a document of plain data into plain Python, noting the line of every key.

    Events are read one by one: what is refused (aliases, tags, deep nesting) is never built.

    Raises ParamsError for these, and what PyYAML raises.
    """

    def __init__(self, path: Path, text: str, last: str | None) -> None:
        self.path = path
        self.text = text
        self.last = last
        self.lines: dict[KeyPath, int] = {}
        self.mistakes: list[str] = []
        self._event: Callable[[], Any] = _Loader(text).get_event

    def document(self) -> dict[str, Any]:
        """The mapping that the text holds."""
        event = self._event()
        while isinstance(event, (yaml.StreamStartEvent, yaml.DocumentStartEvent)):
            event = self._event()
        if not isinstance(event, yaml.MappingStartEvent):
            line, problem = syntax.not_a_mapping(self.text)
            raise ParamsError(f"{display_path(self.path)}:{line}: {problem}.")
        self.lines[()] = _line(event)
        data: dict[str, Any] = self._value(event, ())
        if self.last not in data:
            self._event()  # ends the document
            if not isinstance(event := self._event(), yaml.StreamEndEvent):
                self._refuse(event, "a second document begins, expected one in a file")
        return data

    def _refuse(self, event: Any, problem: str) -> NoReturn:
        raise ParamsError(f"{display_path(self.path)}:{_line(event)}: {problem}.")

    def _value(self, event: Any, keys: KeyPath) -> Any:
        """What begins with an event, the first of it that was taken."""
        if event.anchor:  # of an alias, or where one is defined
            self._refuse(event, "anchors and aliases are not accepted, write the value out")
        if event.tag:
            self._refuse(event, f"the tag '{event.tag}' is not accepted")
        if event.__class__ is yaml.ScalarEvent:
            text = self._text(event)
            if not event.implicit[0]:  # what stands in quotes
                return text
            try:
                return scalar(text)
            except ValueError as error:
                self._refuse(event, str(error))
        if len(keys) >= MAX_DEPTH:
            self._refuse(event, f"nested deeper than {MAX_DEPTH} levels")
        return (self._mapping if event.__class__ is yaml.MappingStartEvent else self._list)(keys)

    def _text(self, event: Any) -> str:
        """The text of a scalar; refuses one of which a reader does not see all."""
        text: str = event.value
        if not text.isprintable():  # nearly all are, and this is fast
            for char in text:
                if unicodedata.category(char) in _UNSEEN and char not in "\n\t":
                    self._refuse(event, f"a control character ({ascii(char)[1:-1]}), expected "
                                        "plain text")
        return text

    def _list(self, keys: KeyPath) -> list[Any]:
        result: list[Any] = []
        while (event := self._event()).__class__ is not yaml.SequenceEndEvent:
            inside = (*keys, len(result))
            self.lines[inside] = _line(event)
            result.append(self._value(event, inside))
        return result

    def _mapping(self, keys: KeyPath) -> dict[str, Any]:
        result: dict[str, Any] = {}
        while (event := self._event()).__class__ is not yaml.MappingEndEvent:
            if event.__class__ is not yaml.ScalarEvent or event.anchor or event.tag:
                self._refuse(event, "'{{' of a template is left, write the value"
                             if event.__class__ is yaml.MappingStartEvent
                             else "a key must be plain text")
            key = self._text(event)
            inside = (*keys, key)
            if key in result:
                self.mistakes.append(
                    f"{display_path(self.path)}:{_line(event)}: the key '{key[:60]}' is given "
                    f"twice, first on line {self.lines[inside]}.")
                self._value(self._event(), (*inside, ""))  # lines of the first remain
                continue
            self.lines[inside] = _line(event)
            result[key] = self._value(self._event(), inside)
            if inside == (self.last,):
                break
        return result


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


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
    if _INTEGER.fullmatch(text):
        if len(text) > MAX_DIGITS:
            raise ValueError(f"a number of {len(text)} digits")
        return int(text)
    return text
