"""Text of a file is text: on a page nothing in it is markup.

A title, a note or a source may hold anything. Where pages are made, its signs that HTML, Markdown,
MyST or TeX give a meaning are *hidden*, the moment it is read: each becomes a private character of
Unicode that means nothing to anyone, and stays so on whatever way it takes to the page. The page's
own doors, ``notebooks.show``, *reveal* them last: as numeric entities in Markdown, which
CommonMark never takes for structure, and as themselves where text is drawn. Elsewhere nothing is
hidden.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator

_FIRST = 0xF0000  # of a plane for private use
_SIGNS = re.compile(
    r"`[\w ./=-]+`"  # code, such as an option's name, is text already
    r"|[!#$&*<>@\[\]\\^_`{|}~]"
    r"|^[:=+%-]+|:(?=:)|(?<=:):|(?<=\))=")  # of a line: comments, fences, lists, targets
_NOBODYS = dict.fromkeys(range(_FIRST, _FIRST + 0x80))  # in a text that is not hidden yet
_HIDDEN = re.compile(f"[{chr(_FIRST)}-{chr(_FIRST + 0x7F)}]")
_pages_are_made: Callable[[], bool] = bool  # no, unless something says so


def hide_where(pages_are_made: Callable[[], bool]) -> None:
    """Hide signs in texts that are read from now on, whenever this says that pages are made."""
    global _pages_are_made
    _pages_are_made = pages_are_made


def pages_are_made() -> bool:
    """Whether texts that are read now are for a page."""
    return _pages_are_made()


@contextlib.contextmanager
def as_for_pages() -> Iterator[None]:
    """Read texts as where pages are made, ahead of that."""
    before = _pages_are_made
    hide_where(lambda: True)
    try:
        yield
    finally:
        hide_where(before)


def read(text: str) -> str:
    """A text as it goes on from the file: its signs hidden where pages are made."""
    return hidden(text) if pages_are_made() else text


def hidden(text: str) -> str:
    """A text with its signs hidden, on one line."""
    line = " ".join(text.translate(_NOBODYS).split())
    return _SIGNS.sub(lambda signs: signs[0] if len(signs[0]) > 1 and signs[0][0] == "`" else (
        "".join(chr(_FIRST + ord(sign)) for sign in signs[0])), line)  # code keeps its signs


def revealed(text: str) -> str:
    """A text with its signs as they were, for where they have no meaning."""
    return _HIDDEN.sub(lambda sign: chr(ord(sign[0]) - _FIRST), text)


def markdown(text: str) -> str:
    """Markdown with hidden signs as entities: what a reader sees, and nothing else.

    >>> markdown(hidden("<b> *now*"))
    '&#60;b&#62; &#42;now&#42;'
    """
    return _HIDDEN.sub(lambda sign: f"&#{ord(sign[0]) - _FIRST};", text)
