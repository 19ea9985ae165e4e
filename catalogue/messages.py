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
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

from catalogue.reading.errors import ParamsError
from catalogue.reading.files import read_small
from catalogue.reading.record import ROOT, record
from catalogue.reading.yamlfile import display_path

if TYPE_CHECKING:
    from fluent.syntax import ast  # imported where a file is read: it takes a while

Pair = tuple[str, str]  # English, Chinese
Value = str | SupportsIndex | Pair

FOLDER = ROOT.parent / "messages"
LANGUAGES = ("en", "zh")
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
        record(self._path, kept=True)
        file = _read(self._path)
        message = file.message(key)
        if message is None:
            raise ParamsError(f"{display_path(self._path)}: there is no message '{key}', which "
                              f"{_caller()} asks for.")
        try:
            en, zh = (_said(pattern, at, values) for at, pattern in enumerate(message.patterns))
        except ValueError as error:
            raise ParamsError(f"{display_path(self._path)}:{message.line}: '{key}' {error}, as "
                              f"{_caller()} asks for it.") from None
        return en, zh


def messages(name: str) -> Messages:
    """The messages of a file, which is read when one of them is asked for.

    Args:
        name: of the file below ``messages/``, without its ending: ``pages/engineering/host``.

    >>> say = messages("common")
    >>> say("quantity")
    ('quantity', '量')
    """
    return Messages(FOLDER / f"{name}.ftl")


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


class _Message(NamedTuple):
    """What is said in each language, and the line of the message."""

    line: int
    patterns: tuple[ast.Pattern, ast.Pattern]


class _File:
    """A file whose messages are parsed one by one, as they are asked for."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text
        heads = list(_HEAD.finditer(text))
        self._starts = {head[1]: head.start() for head in heads}
        self._parsed: dict[str, _Message] = {}
        if len(self._starts) < len(heads):
            self._check()

    def message(self, key: str) -> _Message | None:
        """The message of a key; None if there is none. Raises ParamsError for what is wrong."""
        if key in self._parsed or key not in self._starts:
            return self._parsed.get(key)
        from fluent.syntax import FluentParser, ast

        start = self._starts[key]
        entry = FluentParser(with_spans=False).parse_entry(self.text[start:])
        if not isinstance(entry, ast.Message) or _languages(entry) != LANGUAGES:
            self._check()
            return None
        en, zh = (each.value for each in entry.attributes)
        self._parsed[key] = _Message(self.text.count("\n", 0, start) + 1, (en, zh))
        return self._parsed[key]

    def _check(self) -> None:
        """Raise ParamsError for the first that is wrong in the file."""
        from fluent.syntax import FluentParser, ast

        name, text = self.name, self.text
        lines: dict[str, int] = {}
        for entry in FluentParser().parse(text).body:
            line = text.count("\n", 0, entry.span.start if entry.span else 0) + 1
            if isinstance(entry, ast.Junk):
                problem = entry.annotations[0]
                read = text[:problem.span.start if problem.span else 0].rstrip()
                line = read.count("\n") + 1
                raise ParamsError(f"{name}:{line}: "
                                  f"{(problem.message or 'no message').rstrip('.')}.")
            if not isinstance(entry, ast.Message):
                continue
            if entry.comment and entry.comment.span:
                line += text.count("\n", entry.comment.span.start, entry.comment.span.end) + 1
            if entry.id.name in lines:
                raise ParamsError(f"{name}:{line}: '{entry.id.name}' stands twice, first in line "
                                  f"{lines[entry.id.name]}.")
            if _languages(entry) != LANGUAGES:
                raise ParamsError(f"{name}:{line}: '{entry.id.name}' has not just the attributes "
                                  ".en and .zh, in this order.")
            lines[entry.id.name] = line


def _languages(message: ast.Message) -> tuple[str, ...]:
    return tuple(each.id.name for each in message.attributes)


@functools.cache
def _read(path: Path) -> _File:
    name = display_path(path)
    return _File(name, read_small(path, name, "a file of messages").decode())


def _said(pattern: ast.Pattern, at: int, values: Mapping[str, Value]) -> str:
    """A message in one language. Raises ValueError for what is wrong with its values."""
    try:
        return _resolved(pattern, at, {name: _taken(name, value, at)
                                       for name, value in values.items()})
    except KeyError as error:
        raise ValueError(f"is wrong in .{LANGUAGES[at]} (Unknown external: {error.args[0]})"
                         ) from None


def _resolved(pattern: ast.Pattern, at: int, values: Mapping[str, str | int]) -> str:
    """A pattern with its values. Raises KeyError for one that is missing."""
    from fluent.syntax import ast

    said = []
    for element in pattern.elements:
        if isinstance(element, ast.TextElement):
            said.append(element.value)
        elif isinstance(element.expression, ast.SelectExpression):
            said.append(_resolved(_variant(element.expression, at, values), at, values))
        else:
            said.append(str(_value(element.expression, values)))
    return "".join(said)


def _variant(choice: ast.SelectExpression, at: int, values: Mapping[str, str | int]
             ) -> ast.Pattern:
    """What is said for the value that a choice selects by: itself, or the plural of a number."""
    from fluent.syntax import ast

    value = _value(choice.selector, values)
    named = {value}
    if isinstance(value, int):  # Chinese has one form
        named.add("one" if LANGUAGES[at] == "en" and abs(value) == 1 else "other")
    for variant in choice.variants:
        key = variant.key
        if (key.name if isinstance(key, ast.Identifier) else int(key.value)) in named:
            return variant.value
    return next(variant.value for variant in choice.variants if variant.default)


def _value(expression: ast.InlineExpression | ast.Placeable, values: Mapping[str, str | int]
           ) -> str | int:
    """A value, or a text in quotes. Raises KeyError for a value that is missing, ValueError for
    what else Fluent knows: functions, terms and other messages."""
    from fluent.syntax import ast

    if isinstance(expression, ast.VariableReference):
        return values[expression.id.name]
    if isinstance(expression, ast.StringLiteral):
        return str(expression.parse()["value"])
    raise ValueError(f"takes a {type(expression).__name__}, expected values and texts")


def _taken(name: str, value: Value, at: int) -> str | int:
    """A value as a message takes it for one language. Raises ValueError for no text and no number.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple) and len(value) == len(LANGUAGES) and isinstance(value[at], str):
        return value[at]
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"is given {value!r} for ${name}, expected a text, a whole number or a "
                         "pair of texts") from None


def _caller() -> str:
    """Where outside of this module a message was asked for."""
    frame = sys._getframe(1)
    while frame.f_back and frame.f_code.co_filename == __file__:
        frame = frame.f_back
    return f"{display_path(Path(frame.f_code.co_filename))}:{frame.f_lineno}"
