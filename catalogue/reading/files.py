"""Reading a small file without trusting it, and writing one whole or not at all.

What is not finished yet lies in a folder of its own that is held while whoever fills it lives. A
process that is killed removes nothing, but the system gives back its lock: by that the next one
that writes in the same place knows what nobody owns any more, and clears it.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from catalogue.reading.errors import ParamsError

try:
    import fcntl
except ImportError:  # a system without such locks: what is left there stays
    fcntl = None  # type: ignore[assignment]

ROOT = Path(__file__).resolve().parents[2] / "params"
MAX_BYTES = 1 << 20
BEGINNING = ".will-it-fit-"  # of the names of folders for what is not finished
_MINE: set[Path] = set()  # such folders of this process, until they are gone


def is_file(path: Path) -> bool:
    """Whether there is a file; whatever the system refuses to look for is none."""
    with contextlib.suppress(OSError):  # a name that is too long
        return path.is_file()
    return False


def is_folder(path: Path) -> bool:
    """Whether there is a folder, as :func:`is_file`."""
    with contextlib.suppress(OSError):
        return path.is_dir()
    return False


def read_small(path: Path, name: str, expected: str, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file that a reader gave.

    Args:
        path: the file.
        name: what messages call it.
        expected: what messages say it should be, such as ``a parameter file``.
        most: that it may hold [B].

    Raises ParamsError for a file that is missing, not a regular one, refused or too large.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ParamsError(f"{name}: not a regular file, expected {expected}.")
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except FileNotFoundError:
        raise ParamsError(f"{name}: there is no such file.") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not the name of a file").lower()
        raise ParamsError(f"{name}: cannot be read ({reason}).") from None
    if len(raw) > most:
        raise ParamsError(f"{name}: larger than {most} bytes, expected {expected}.")
    return raw


@contextlib.contextmanager
def drafted(beside: Path | None = None) -> Iterator[Path]:
    """A folder under a name that nobody can foretell, gone at the end with all that is in it.

    Args:
        beside: the folder in which it is made; None: that of the system for temporary files.

    Raises OSError where it cannot be made.
    """
    folder = Path(tempfile.gettempdir()) if beside is None else beside
    clear(folder)
    path, lock = _made(folder)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _MINE.discard(path.absolute())
        if lock is not None:
            os.close(lock)


@atexit.register
def _leave_none() -> None:
    """Remove what an interrupt kept from being removed: one that came while it was made or gone."""
    for path in _MINE:
        shutil.rmtree(path, ignore_errors=True)


def _made(folder: Path) -> tuple[Path, int | None]:
    """A new folder in one, and the lock on it; of two that look at it first, one starts anew."""
    while True:
        path = folder / f"{BEGINNING}{secrets.token_hex(8)}"
        _MINE.add(path.absolute())
        path.mkdir(mode=0o700)
        if fcntl is None:
            return path, None
        with contextlib.suppress(FileNotFoundError):  # cleared before it was held
            lock = os.open(path, os.O_RDONLY)
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX)
            if path.exists():
                return path, lock
            os.close(lock)


def clear(folder: Path) -> None:
    """Remove what processes have left in a folder that do not live any more; once is enough."""
    if fcntl is not None:
        _clear(folder.absolute())


@functools.cache
def _clear(folder: Path) -> None:
    with contextlib.suppress(OSError):  # there is no such folder, or it is not ours to look into
        for path in list(folder.glob(f"{BEGINNING}*")):
            _clear_one(path)


def _clear_one(path: Path) -> None:
    with contextlib.suppress(OSError):  # held, no folder, or another user's
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)


def write_whole(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Write a file at once or not at all, by way of a draft beside it that nobody can foretell.

    A file that is the same already is left alone; one that is replaced keeps its permissions, and a
    link is replaced, not followed.

    Args:
        path: the file.
        data: its contents.
        replace: whether the file may stand there already.

    Raises OSError where it cannot be written, and FileExistsError where it must not be replaced;
    what stood there still does, and nothing else is left.
    """
    clear(path.parent)
    if replace and path.is_file() and not path.is_symlink() and path.read_bytes() == data:
        return
    with drafted(path.parent) as folder:
        draft = folder / "draft"
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.is_file() and not path.is_symlink():
            shutil.copymode(path, draft)
        _publish(draft, path, replace)


def _publish(draft: Path, path: Path, replace: bool) -> None:
    """Give a finished draft its name. Raises FileExistsError where one came in between."""
    if not replace:
        try:
            os.link(draft, path)  # fails where the name is taken
            return
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(path):
                raise FileExistsError from None
    draft.replace(path)
