"""The feed of changes (Atom, RFC 4287): an entry per line of the changelog, dated by git."""

from __future__ import annotations

import functools
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape

from ..export.edition import git

NAME, SOURCE = "feed.xml", "CHANGELOG.md"
MOST = 40  # entries, the newest
TITLE = 90  # signs
BLAMED = re.compile(r"^[0-9a-f]{40} \d+ (\d+)")


@functools.cache
def dates(root: Path) -> Mapping[int, int]:
    """When each line of the changelog was last written [s], from 1; empty without git."""
    times: dict[int, int] = {}
    line = 0
    blamed = git(root, "blame", "--line-porcelain", "--", SOURCE)
    for text in blamed.splitlines():
        if head := BLAMED.match(text):
            line = int(head[1])
        elif text.startswith("committer-time "):
            times[line] = int(text.split()[1])
    return times


def entries(text: str, written: Mapping[int, int]) -> Iterator[tuple[int, str]]:
    """Each change with the time of its newest line [s]: a list item and what is indented below."""
    lines = text.splitlines()
    begun: list[int] = []
    for number, line in enumerate([*lines, ""], 1):
        if begun and not line.startswith("  "):
            words = " ".join(lines[index - 1].removeprefix("- ").strip() for index in begun)
            yield max(written.get(index, 0) for index in begun), words.replace("`", "")
            begun = []
        if line.startswith("- ") or begun:
            begun.append(number)


def titled(words: str) -> str:
    """A change in few words: up to its first colon or end, or as many whole words as fit.

    >>> titled("Search by section: with excerpts. More.")
    'Search by section'
    """
    short = re.split(r"[:;]\s|\.\s", words, maxsplit=1)[0].rstrip(".")
    return short if len(short) <= TITLE else f"{short[:TITLE].rsplit(' ', 1)[0]}…"


def atom(text: str, written: Mapping[int, int], address: str, title: str) -> str:
    """The feed of a changelog.

    Args:
        text: of the changelog.
        written: line -> time [s].
        address: of the site, with a slash at its end; empty where it is not known.
        title: of the book.
    """
    newest: Sequence[tuple[int, str]] = sorted(entries(text, written), reverse=True)[:MOST]
    links = (f'<link href="{escape(address)}"/><link rel="self" href="{escape(address)}{NAME}"/>'
             if address else "")
    body = [f"<entry><id>{_named(words)}</id><title>{escape(titled(words))}</title>"
            f"<updated>{timestamp(time)}</updated><content>{escape(words)}</content></entry>"
            for time, words in newest]
    return "\n".join([
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en">',
        f"<id>{_named(address or title)}</id><title>{escape(title)}</title>{links}",
        f"<author><name>{escape(title)}</name></author>",
        f"<updated>{timestamp(newest[0][0] if newest else 0)}</updated>", *body, "</feed>", ""])


def _named(text: str) -> str:
    return uuid.uuid5(uuid.NAMESPACE_URL, text).urn


def timestamp(time: int) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
