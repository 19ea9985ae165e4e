"""Small files, read defensively and written atomically; errors in them, as one sentence."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

LONGEST = 160  # characters that a sentence repeats of one word or one quoted text
LONGEST_SENTENCE = 900  # of all that it says; names that are expected take most of it
_LONG = re.compile(rf"'[^']{{{LONGEST - 1},}}'|\S{{{LONGEST + 1},}}")


def printable(text: str) -> str:
    """Any text as it may stand in a sentence or on a terminal: one line, nothing invisible."""
    return "".join(char if char.isprintable() or char == "\u3000" else ascii(char)[1:-1]
                   for char in text)


def sentence(text: str) -> str:
    """Any text as one sentence that a reader reads to its end, whatever of a file it repeats.

    It stays on one line, printable, and what is longer than a name, a path or a sentence should be
    loses its middle. A sentence stays as it is.
    """
    return _shortened(_LONG.sub(lambda long: _shortened(long[0], LONGEST), printable(text)),
                      LONGEST_SENTENCE)


def _shortened(text: str, most: int) -> str:
    """A text of at most so many characters.

    >>> _shortened("abcdefgh", 5)
    'ab…gh'
    """
    half = (most - 1) // 2
    return text if len(text) <= most else f"{text[:half]}…{text[-half:]}"


class ParamsError(Exception):
    """Bad input: for each mistake a :func:`sentence` with file, line and what was expected."""

    def __init__(self, *problems: str) -> None:
        super().__init__(*map(sentence, problems))

    def __str__(self) -> str:
        return "\n".join(self.problems)

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each mistake."""
        return self.args


class LayoutError(ParamsError):
    """A deployment that is well described and cannot be laid out: an answer, where many are tried.
    """


class Mistakes:
    """Context manager that collects the mistakes of several checks, to report them together."""

    def __init__(self) -> None:
        self._errors: list[ParamsError] = []

    def __enter__(self) -> Mistakes:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        if isinstance(error, ParamsError):
            self._errors.append(error)
        return isinstance(error, ParamsError)

    def __bool__(self) -> bool:
        return bool(self._errors)

    def report(self) -> None:
        """Raise what was collected, each mistake once: a LayoutError if it is no more than that."""
        if self._errors:
            kinds = {type(error) for error in self._errors}
            kind = kinds.pop() if len(kinds) == 1 else ParamsError
            raise kind(*sorted(dict.fromkeys(
                problem for error in self._errors for problem in error.problems), key=_place),
            ) from None


def _place(problem: str) -> tuple[str, int]:
    """File and line at which a sentence begins."""
    at = re.match(r"(.*?):(\d+)", problem)
    return (at[1], int(at[2])) if at else ("", 0)


ROOT = Path(__file__).resolve().parents[2] / "params"
MAX_BYTES = 1 << 20
BEGINNING = ".will-it-fit-"  # of the names of folders for what is not finished


def display_path(path: Path) -> str:
    """A path as a reader knows it: from the project's root where it lies inside."""
    project = ROOT.parent
    try:
        resolved = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a zero byte
        return str(path)
    return str(resolved.relative_to(project)) if resolved.is_relative_to(project) else str(path)


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


def make_folder(path: Path) -> None:
    """Make a folder and those above it. Raises OSError where it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except RecursionError:
        raise OSError(errno.ENAMETOOLONG, "too many folder levels") from None


def read_small(path: Path, expected: str, most: int = MAX_BYTES) -> bytes:
    """The bytes of a file that a reader gave.

    Args:
        path: the file.
        expected: what messages say it should be, such as ``a parameter file``.
        most: that it may hold [B].

    Raises ParamsError for a file that is missing, not a regular one, refused or too large.
    """
    if is_folder(path):
        raise ParamsError(f"'{display_path(path)}' is a folder, expected {expected}.")
    try:
        if path.exists() and not path.is_file():
            raise ParamsError(f"{display_path(path)}: not a regular file, expected {expected}.")
        with path.open("rb") as file:
            raw = file.read(most + 1)
    except FileNotFoundError:
        raise ParamsError(f"{display_path(path)}: there is no such file.") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not the name of a file").lower()
        raise ParamsError(f"{display_path(path)}: cannot be read ({reason}).") from None
    if len(raw) > most:
        raise ParamsError(f"{display_path(path)}: larger than {most} bytes, expected {expected}.")
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


def unwritable(name: object, error: OSError) -> ParamsError:
    """That a file or a folder cannot be written, with the reason and a way out."""
    return ParamsError(f"{name}: cannot be written ({(error.strerror or 'refused').lower()}), "
                       "choose another folder.")


def store(path: Path, text: str, *, replace: bool = True, name: str = "") -> None:
    """Write a text file at once or not at all.

    Args:
        path: the file.
        text: its contents.
        replace: whether it may exist already.
        name: of the file in messages; by default its path.

    Raises ParamsError, one sentence, where it cannot be written or must not be replaced.
    """
    name = name or str(path)
    try:
        write_whole(path, text.encode(), replace=replace)
    except FileExistsError:
        what = "a folder" if is_folder(path) else "the file exists"
        raise ParamsError(f"{name}: {what}, expected a new name.") from None
    except FileNotFoundError:
        raise ParamsError(f"{name}: there is no folder '{path.parent}'.") from None
    except OSError as error:
        raise unwritable(name, error) from None
