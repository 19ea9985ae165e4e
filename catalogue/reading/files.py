"""Reading a small file without trusting it, and writing one whole or not at all."""

from __future__ import annotations

from pathlib import Path

from catalogue.reading.errors import ParamsError

MAX_BYTES = 1 << 20


def read_small(path: Path, name: str, expected: str) -> bytes:
    """The bytes of a file that a reader gave.

    Args:
        path: the file.
        name: what messages call it.
        expected: what messages say it should be, such as ``a parameter file``.

    Raises ParamsError for a file that is missing, not a regular one, refused or too large.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise ParamsError(f"{name}: not a regular file, expected {expected}.")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ParamsError(f"{name}: there is no such file.") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or "not the name of a file").lower()
        raise ParamsError(f"{name}: cannot be read ({reason}).") from None
    if len(raw) > MAX_BYTES:
        raise ParamsError(f"{name}: larger than {MAX_BYTES} bytes, expected {expected}.")
    return raw


def write_whole(path: Path, data: bytes) -> None:
    """Write a file by way of a draft beside it; one that is the same already is left alone."""
    if path.is_file() and path.read_bytes() == data:
        return
    draft = path.with_name(f".{path.name}.tmp")
    draft.write_bytes(data)
    draft.replace(path)
