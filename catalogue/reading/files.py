"""Reading a small file without trusting it, and writing one whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from catalogue.reading.errors import ParamsError

ROOT = Path(__file__).resolve().parents[2] / "params"
MAX_BYTES = 1 << 20
BEGINNING = ".will-it-fit-"  # of the names of folders for what is not finished


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
    with tempfile.TemporaryDirectory(prefix=BEGINNING, dir=beside,
                                     ignore_cleanup_errors=True) as folder:
        yield Path(folder)


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
        if not replace and os.path.lexists(path):
            raise FileExistsError
        draft.replace(path)
