"""Which parameter files a program has read: the book's pipeline reruns a page when one changes.

When the environment variable ``PARAMS_RECORD`` names a file, every parameter file loaded (and
every folder listed, with a trailing slash) is appended to it, relative to ``params/``; a file of
the project beside that, such as one of messages, relative to the project. Of a file of which only
what stands under one key was taken, that key follows behind ``#``.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "params"
_noted: set[tuple[Path, str]] = set()
_kept: set[Path] = set()
_parts: dict[Path, tuple[str, ...]] = {}  # of files of which only these keys are taken for now


@contextlib.contextmanager
def only(path: Path, keys: tuple[str, ...]) -> Iterator[None]:
    """Meanwhile of a file, though it is read, only what stands under these keys counts: whoever
    reads it hands on nothing that comes of others."""
    _parts[path] = keys
    try:
        yield
    finally:
        del _parts[path]


def taken_whole() -> bool:
    """Whether whatever is read counts, of every file."""
    return not _parts


def wanted() -> str | None:
    """The file in which it is noted what is read, if anybody asks for that."""
    return os.environ.get("PARAMS_RECORD")


def record(path: Path, *, listing: bool = False, key: str = "", kept: bool = False) -> bool:
    """Note that ``path`` was read (or, with ``listing``, that a folder was listed).

    With ``key`` only what stands under that key counts, wherever in the file. With ``kept`` it
    counts as read by whatever is recorded later, too: a module may keep words that it read when it
    was imported.

    Returns whether that was news.
    """
    if not (target := wanted()):
        _kept.update([path] * kept)
        return False
    if path in _parts and not (listing or key):
        return sum(record(path, key=each) for each in _parts[path]) > 0
    mark = "/" if listing else f"#{key}" if key else ""
    if (path, mark) in _noted:
        return False
    news = {(path, mark), *((each, "") for each in _kept)} - _noted
    _noted.update(news)
    with Path(target).open("a", encoding="utf-8") as file:
        file.writelines(f"{_named(each)}{mark}\n" for each, mark in news)
    return True


@functools.cache
def _folder(path: Path) -> Path:
    return path.resolve()


def _named(path: Path) -> str:
    path = _folder(path.parent) / path.name
    for folder in (ROOT, ROOT.parent):
        if path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
    return str(path)
