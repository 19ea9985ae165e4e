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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from catalogue.reading.files import ROOT, ParamsError, read_small
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
    """The messages of one file by key, parsed one by one as they are asked for."""

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
        if key not in self._starts:
            raise ParamsError(f"{display_path(self._path)}: there is no message '{key}'.")
        if not self._bundles[0].has_message(key):
            self._add(key)
        try:
            en, zh = (self._formatted(key, at, values) for at in range(len(LANGUAGES)))
        except ValueError as error:
            raise ParamsError(f"{self._where(key)}: '{key}' {error}.") from None
        return en, zh

    def _formatted(self, key: str, at: int, values: Mapping[str, Value]) -> str:
        """A message in one language. Raises ValueError for what is wrong with its values."""
        bundle = self._bundles[at]
        text, errors = bundle.format_pattern(
            bundle.get_message(key).attributes[LANGUAGES[at]],
            {name: fluent_value(name, value, at) for name, value in values.items()})
        if errors:
            raise ValueError(f"is wrong in .{LANGUAGES[at]} ({str(errors[0]).rstrip('.')})")
        return str(text)

    @functools.cached_property
    def _text(self) -> str:
        return read_small(self._path, display_path(self._path), "a file of messages").decode()

    @functools.cached_property
    def _starts(self) -> dict[str, int]:
        """Key -> where its message begins in the text."""
        starts: dict[str, int] = {}
        for head in _HEAD.finditer(self._text):
            if starts.setdefault(head[1], head.start()) != head.start():
                line = self._text.count("\n", 0, head.start()) + 1
                raise ParamsError(f"{display_path(self._path)}:{line}: '{head[1]}' stands twice.")
        return starts

    @functools.cached_property
    def _bundles(self) -> list[FluentBundle]:
        from fluent.runtime import FluentBundle, resolver

        resolver.MAX_PART_LENGTH = LONGEST
        return [FluentBundle([language], use_isolating=False) for language in LANGUAGES]

    def _where(self, key: str, offset: int = 0) -> str:
        """File and line of a message, or of a place behind its beginning."""
        line = self._text.count("\n", 0, self._starts[key] + offset) + 1
        return f"{display_path(self._path)}:{line}"

    def _add(self, key: str) -> None:
        """Parse a message. Raises ParamsError for what is wrong with it."""
        from fluent.syntax import FluentParser, ast

        text = self._text[self._starts[key]:]
        entry = FluentParser(with_spans=False).parse_entry(text)
        if isinstance(entry, ast.Junk):
            junk: Any = FluentParser().parse_entry(text)  # with places
            problem = junk.annotations[0]
            offset = len(text[:problem.span.start].rstrip())
            raise ParamsError(f"{self._where(key, offset)}: {str(problem.message).rstrip('.')}.")
        if not isinstance(entry, ast.Message) or tuple(
                attribute.id.name for attribute in entry.attributes) != LANGUAGES:
            raise ParamsError(f"{self._where(key)}: '{key}' has not just the attributes .en and "
                              ".zh, in this order.")
        for bundle in self._bundles:
            bundle.add_resource(ast.Resource([entry]))

    def compile(self) -> None:
        """Compile every message, so that none takes long when it is first asked for.

        Raises ParamsError for a file that is no Fluent.
        """
        for key in self._starts:
            if not self._bundles[0].has_message(key):
                self._add(key)
            for bundle in self._bundles:
                bundle.get_message(key)


@functools.cache
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


def fluent_value(name: str, value: Value, at: int) -> Any:
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
