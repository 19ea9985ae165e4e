"""Sentences in English and Chinese; no number is formatted here.

The engine writes the English of a sentence in its code. The Chinese is in a file of
``messages/zh/`` in the syntax of Project Fluent, which is read when the Chinese is asked for; a
runtime without ``fluent.runtime`` has English only.

    say = sentences("calc/answer/service")
    say("needs-more", f"{plural(count, 'card')} short of {memory}", count=count, memory=memory)

    needs-more = { $count } 张卡各缺 { $memory }。

Pages take both languages from files of the same name in ``messages/en/`` and ``messages/zh/``.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, SupportsIndex

from catalogue.reading.files import ROOT, ParamsError, display_path, read_small
from catalogue.reading.yamlfile import note

if TYPE_CHECKING:
    from fluent.runtime import FluentBundle  # imported where a file is read: it takes a while

FOLDER = ROOT.parent / "messages"
LANGUAGES = ("en", "zh")
LONGEST = 1 << 20  # characters of a value; the texts are the project's
_HEAD = re.compile(r"^([a-zA-Z][\w-]*) *=", re.MULTILINE)

Pair = tuple[str, str]  # English, Chinese
Value = str | SupportsIndex | Pair


class Sentence(Pair):
    """A pair whose Chinese is formatted when it is read; equal to one of the same English.

    Attributes:
        chinese: returns the Chinese; can be pickled.
    """

    chinese: Callable[[], str]

    def __new__(cls, english: str, chinese: Callable[[], str]) -> Self:
        """Return a pair of these."""
        self = super().__new__(cls, (english, english))
        self.chinese = chinese
        return self

    def __getitem__(self, at: Any) -> Any:
        return super().__getitem__(0) if at == 0 else (*self,)[at]

    def __iter__(self) -> Iterator[str]:
        yield self[0]
        yield self.chinese()

    def __reduce__(self) -> tuple[type[Self], tuple[str, Callable[[], str]]]:
        return type(self), (self[0], self.chinese)


class Texts(Mapping[str, str]):
    """A pair by language, as entries of the catalogue have it; the Chinese when it is read.

    >>> Texts(("value", "取值"))["zh"]
    '取值'
    """

    def __init__(self, texts: Pair) -> None:
        self.pair = texts

    def __getitem__(self, language: str) -> str:
        if language not in LANGUAGES:
            raise KeyError(language)
        return self.pair[LANGUAGES.index(language)]

    def __iter__(self) -> Iterator[str]:
        return iter(LANGUAGES)

    def __len__(self) -> int:
        return len(LANGUAGES)


class Resource:
    """The messages of one Fluent file by key, parsed one by one as they are asked for."""

    def __init__(self, path: Path, language: str) -> None:
        self._path, self._at = path, LANGUAGES.index(language)

    def __call__(self, key: str, /, **values: Value) -> str:
        """Return a message.

        Args:
            key: the identifier of the message, written out where it is asked for.
            values: what the message takes, by name. A text is inserted as it is, of a pair of texts
                that of the language; a whole number is inserted without grouping and selects
                ``[one]``, ``[0]``, ``*[other]``; a truth selects ``[yes]`` or ``*[no]``.

        Raises ParamsError for a file that is no Fluent, a key that it does not have, and a value
        that is missing or is neither text nor whole number.
        """
        note(self._path)
        self._parse(key)
        pattern: Any = self._bundle.get_message(key).value
        try:
            text, errors = self._bundle.format_pattern(
                pattern,
                {name: fluent_value(name, value, self._at) for name, value in values.items()})
        except ValueError as error:
            raise ParamsError(f"{self._where(key)}: '{key}' {error}.") from None
        if errors:
            raise ParamsError(
                f"{self._where(key)}: '{key}' is wrong ({str(errors[0]).rstrip('.')}).")
        return str(text)

    @functools.cached_property
    def _text(self) -> str:
        return read_small(self._path, "a file of messages").decode()

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
    def _bundle(self) -> FluentBundle:
        try:
            from fluent.runtime import FluentBundle, resolver
        except ImportError:
            raise ParamsError("sentences in Chinese need fluent.runtime, expected the extra "
                              "[report]: pip install 'will-it-fit[report]'.") from None
        resolver.MAX_PART_LENGTH = LONGEST
        return FluentBundle([LANGUAGES[self._at]], use_isolating=False)

    def _where(self, key: str, offset: int = 0) -> str:
        """File and line of a message, or of a place behind its beginning."""
        line = self._text.count("\n", 0, self._starts[key] + offset) + 1
        return f"{display_path(self._path)}:{line}"

    def _parse(self, key: str) -> None:
        """Parse a message unless that is done. Raises ParamsError for what is wrong with it."""
        from fluent.syntax import FluentParser, ast

        if key not in self._starts:
            raise ParamsError(f"{display_path(self._path)}: there is no message '{key}'.")
        if self._bundle.has_message(key):
            return
        text = self._text[self._starts[key]:]
        entry = FluentParser(with_spans=False).parse_entry(text)
        if isinstance(entry, ast.Junk):
            junk: Any = FluentParser().parse_entry(text)  # with places
            problem = junk.annotations[0]
            offset = len(text[:problem.span.start].rstrip())
            raise ParamsError(f"{self._where(key, offset)}: {str(problem.message).rstrip('.')}.")
        self._bundle.add_resource(ast.Resource([entry]))

    def compile(self) -> None:
        """Compile every message, so that none takes long when it is first asked for.

        Raises ParamsError for a file that is no Fluent.
        """
        for key in self._starts:
            self._parse(key)
            self._bundle.get_message(key)


@functools.cache
def resource(name: str, language: str) -> Resource:
    """The messages of a file in one language.

    Args:
        name: of the file below ``messages/LANGUAGE/``, without its ending.
        language: "en" or "zh".
    """
    return Resource(FOLDER / language / f"{name}.ftl", language)


def messages(name: str) -> Callable[..., Pair]:
    """Return a function that says a message in both languages, from the two files of a name.

    Args:
        name: as :func:`resource` takes it; keys, values and errors as of :class:`Resource`.

    >>> say = messages("common")
    >>> say("quantity")
    ('quantity', '量')
    """
    def say(key: str, /, **values: Value) -> Pair:
        en, zh = (resource(name, language)(key, **values) for language in LANGUAGES)
        return en, zh

    return say


def sentences(name: str) -> Callable[..., Pair]:
    """Return a function that makes a sentence of its key, its English and the Chinese's values.

    Args:
        name: as :func:`resource` takes it; keys and values as of a call of :class:`Resource`.
    """
    def say(key: str, english: str, /, **values: Value) -> Pair:
        return Sentence(english, functools.partial(_chinese, name, key, values))

    return say


def _chinese(name: str, key: str, values: Mapping[str, Value]) -> str:
    return resource(name, "zh")(key, **values)


def plural(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "run"), plural(2, "run")
    ('1 run', '2 runs')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def by_language(pair: Pair) -> dict[str, str]:
    """Return a pair as entries of the catalogue have it.

    >>> by_language(("value", "取值"))
    {'en': 'value', 'zh': '取值'}
    """
    return dict(zip(LANGUAGES, pair, strict=True))


def pair(text: Mapping[str, str]) -> Pair:
    """Return a text of an entry of the catalogue as a pair.

    >>> pair({"en": "value", "zh": "取值"})
    ('value', '取值')
    """
    return text.pair if isinstance(text, Texts) else (text["en"], text["zh"])


def join(between: Pair, pairs: Iterable[Pair]) -> Pair:
    """Return pairs one after the other, with a separator.

    >>> tuple(join((", ", "、"), [("value", "取值"), ("quantity", "量")]))
    ('value, quantity', '取值、量')
    """
    listed = list(pairs)
    return Sentence(_joined(between, listed, 0), functools.partial(_joined, between, listed, 1))


def _joined(between: Pair, pairs: Iterable[Pair], at: int) -> str:
    return between[at].join(pair[at] for pair in pairs)


def capitalised(text: Pair) -> Pair:
    """Return a pair whose English begins with a capital."""
    chinese = functools.partial(_joined, ("", ""), [text], 1)
    return Sentence(text[0][:1].upper() + text[0][1:], chinese)


def ended(text: Pair) -> Pair:
    """Return a clause with its full stop."""
    return join(("", ""), [text, (".", "。")])


def fluent_value(name: str, value: Value, at: int) -> Any:
    """Return a value as Fluent takes it for one language.

    Raises ValueError for what is neither text nor whole number.
    """
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
