"""Words in both languages, from the files of ``messages/``; no number is formatted here.

A file is in the syntax of Project Fluent. A message has the attributes ``en`` and ``zh``, one under
the other; plurals and choices of words stand in it:

    needs-more =
        .en = { $count ->
            [one] One card lacks { $memory }.
           *[other] { $count } cards lack { $memory }.
        }
        .zh = { $count } 张卡各缺 { $memory }。
"""

from __future__ import annotations

import functools
import operator
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from catalogue.reading.errors import ParamsError
from catalogue.reading.files import ROOT, read_small
from catalogue.reading.yamlfile import display_path, note

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle  # imported where a file is read: it takes a while

Pair = tuple[str, str]  # English, Chinese
Value = str | SupportsIndex | Pair

FOLDER = ROOT.parent / "messages"
LANGUAGES = ("en", "zh")
LONGEST = 1 << 20  # signs of a value; the texts are our own
_HEAD = re.compile(r"^([a-zA-Z][\w-]*) *=", re.MULTILINE)


class Messages:
    """The messages of one file, by key."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __call__(self, key: str, /, **values: Value) -> Pair:
        """A message in both languages.

        Args:
            key: the identifier of the message, written out where it is asked for.
            values: what the message takes, by name. A text is inserted as it is, of a pair of texts
                each language takes its own; a whole number is inserted without grouping and
                selects ``[one]``, ``[0]``, ``*[other]``; a truth selects ``[yes]`` or ``*[no]``.

        Raises ParamsError for a file that is no Fluent, a key that it does not have, a message that
        lacks a language, and a value that is missing or is neither text nor whole number.
        """
        note(self._path)
        file = _read(self._path)
        try:
            return file.said(key, values)
        except KeyError:
            raise ParamsError(f"{display_path(self._path)}: there is no message '{key}', which "
                              f"{_caller()} asks for.") from None
        except ValueError as error:
            raise ParamsError(f"{display_path(self._path)}:{file.line(key)}: '{key}' {error}, as "
                              f"{_caller()} asks for it.") from None


def messages(name: str) -> Messages:
    """The messages of a file, which is read when one of them is asked for.

    Args:
        name: of the file below ``messages/``, without its ending: ``pages/engineering/host``.

    >>> say = messages("common")
    >>> say("quantity")
    ('quantity', '量')
    """
    return Messages(FOLDER / f"{name}.ftl")


def compile_all(path: Path) -> None:
    """Compile every message of a file, so that none takes long when it is first asked for.

    Raises ParamsError for a file that is no Fluent.
    """
    _read(path).compile()


def by_language(pair: Pair) -> dict[str, str]:
    """A pair as entries of the catalogue have it.

    >>> by_language(("value", "取值"))
    {'en': 'value', 'zh': '取值'}
    """
    return dict(zip(LANGUAGES, pair, strict=True))


def pair(text: Mapping[str, str]) -> Pair:
    """A text of an entry of the catalogue, in both languages.

    >>> pair({"en": "value", "zh": "取值"})
    ('value', '取值')
    """
    return text["en"], text["zh"]


def join(between: Pair, pairs: Iterable[Pair]) -> Pair:
    """Pairs one after the other, with what stands between them.

    >>> join((", ", "、"), [("value", "取值"), ("quantity", "量")])
    ('value, quantity', '取值、量')
    """
    listed = list(pairs)
    return between[0].join(en for en, _ in listed), between[1].join(zh for _, zh in listed)


class _File:
    """A file whose messages are parsed one by one, as they are asked for."""

    def __init__(self, name: str, text: str) -> None:
        from fluent.runtime import FluentBundle, resolver

        resolver.MAX_PART_LENGTH = LONGEST
        self.name, self.text = name, text
        self._bundles = [FluentBundle([language], use_isolating=False) for language in LANGUAGES]
        self._starts: dict[str, int] = {}
        for head in _HEAD.finditer(text):
            if head[1] in self._starts:
                line = text.count("\n", 0, head.start()) + 1
                raise ParamsError(f"{name}:{line}: '{head[1]}' stands twice, first in line "
                                  f"{self.line(head[1])}.")
            self._starts[head[1]] = head.start()

    def compile(self) -> None:
        """Parse and compile every message. Raises ParamsError for what is wrong in the file."""
        for key in self._starts:
            if not self._bundles[0].has_message(key):
                self._take(key)
            for bundle in self._bundles:
                bundle.get_message(key)

    def line(self, key: str) -> int:
        """Of the file, where a message begins."""
        return self.text.count("\n", 0, self._starts[key]) + 1

    def said(self, key: str, values: Mapping[str, Value]) -> Pair:
        """A message in both languages.

        Raises KeyError if there is none, ValueError for what is wrong with its values, ParamsError
        for what is wrong in the file.
        """
        if not self._bundles[0].has_message(key):
            self._take(key)
        en, zh = (_said(bundle, key, at, values) for at, bundle in enumerate(self._bundles))
        return en, zh

    def _take(self, key: str) -> None:
        """Parse a message. Raises ParamsError for what is wrong with it."""
        from fluent.syntax import FluentParser, ast

        text = self.text[self._starts[key]:]
        entry = FluentParser(with_spans=False).parse_entry(text)
        if isinstance(entry, ast.Junk):
            junk: Any = FluentParser().parse_entry(text)  # with places
            problem = junk.annotations[0]
            line = self.line(key) + text[:problem.span.start].rstrip().count("\n")
            raise ParamsError(f"{self.name}:{line}: {str(problem.message).rstrip('.')}.")
        if not isinstance(entry, ast.Message) or tuple(
                each.id.name for each in entry.attributes) != LANGUAGES:
            raise ParamsError(f"{self.name}:{self.line(key)}: '{key}' has not just the attributes "
                              ".en and .zh, in this order.")
        for bundle in self._bundles:
            bundle.add_resource(ast.Resource([entry]))


@functools.cache
def _read(path: Path) -> _File:
    name = display_path(path)
    return _File(name, read_small(path, name, "a file of messages").decode())


def _said(bundle: FluentBundle, key: str, at: int, values: Mapping[str, Value]) -> str:
    """A message in one language. Raises ValueError for what is wrong with its values."""
    pattern = bundle.get_message(key).attributes[LANGUAGES[at]]
    text, errors = bundle.format_pattern(
        pattern, {name: _taken(name, value, at) for name, value in values.items()})
    if errors:
        raise ValueError(f"is wrong in .{LANGUAGES[at]} ({str(errors[0]).rstrip('.')})")
    return str(text)


def _taken(name: str, value: Value, at: int) -> Any:
    """A value as Fluent takes it for one language. Raises ValueError for no text and no number."""
    from fluent.runtime.types import FluentInt

    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple) and len(value) == len(LANGUAGES) and isinstance(value[at], str):
        return value[at]
    try:
        return FluentInt(operator.index(value), useGrouping=False)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"is given {value!r} for ${name}, expected a text, a whole number or a "
                         "pair of texts") from None


def _caller() -> str:
    """Where outside of this module a message was asked for."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{display_path(Path(frame.f_code.co_filename))}:{frame.f_lineno}"
