"""The directory of a deployment: written whole, nothing in it lost."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Set
from pathlib import Path

from catalogue import ParamsError
from catalogue.reading import jsonfile
from catalogue.reading.files import drafted, read_small

MANIFEST = "manifest.json"
EXECUTABLE = 0o755


def write(directory: Path, files: Mapping[str, str]) -> list[Path]:
    """Write files below a directory, made where it is missing; the manifest last.

    A directory that is not empty has to be one of ours: files that still are as they were written
    are replaced, others stop it before anything is written. What is not written any more goes.

    Args:
        directory: where.
        files: texts by path below it.

    Raises ParamsError, one sentence, for what stands in the way and for a full disk.
    """
    before = _before(directory)
    mine = {name: text.encode() for name, text in files.items()}
    manifest = json.dumps({name: hashlib.sha256(data).hexdigest()
                           for name, data in sorted(mine.items())}, indent=1) + "\n"
    try:
        _check(directory, before, mine)
        directory.parent.mkdir(parents=True, exist_ok=True)
        mine[MANIFEST] = manifest.encode()
        with drafted(directory.parent) as draft:
            _put(directory, draft / "staged", mine, before.keys() - mine.keys())
    except OSError as error:
        raise ParamsError(f"{directory}: cannot be written "
                          f"({(error.strerror or 'refused').lower()}).") from None
    return [directory / name for name in mine]


def _put(directory: Path, staged: Path, files: Mapping[str, bytes], gone: Set[str]) -> None:
    """Give files that are written whole elsewhere on the same disk their places.

    Whoever is killed meanwhile leaves a manifest, of before or, where there was none, of now: what
    either names can be written over.
    """
    _stage(staged, files)
    if not directory.exists():
        staged.rename(directory)
        return
    last = (directory / MANIFEST).exists()
    for name in sorted(files, key=lambda name: (name == MANIFEST) == last):
        if name == MANIFEST:
            for old in gone:
                (directory / old).unlink(missing_ok=True)
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).replace(directory / name)


def _stage(staged: Path, files: Mapping[str, bytes]) -> None:
    """Write everything beside the directory first: a disk that is full is found out here."""
    for name, data in files.items():
        path = staged / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.suffix == ".sh":
            path.chmod(EXECUTABLE)


def _before(directory: Path) -> dict[str, str]:
    """Sums of what was written here before, by path; none in a directory that is empty or new.

    Raises ParamsError, one sentence, for a directory that is somebody else's.
    """
    if not os.path.lexists(directory):
        return {}
    if (directory.is_symlink() and not directory.exists()) or not directory.is_dir():
        raise ParamsError(f"{directory}: is no directory.")
    try:
        empty = not any(directory.iterdir())
    except OSError as error:
        raise ParamsError(f"{directory}: cannot be read "
                          f"({(error.strerror or 'refused').lower()}).") from None
    if empty:
        return {}
    path = directory / MANIFEST
    if not path.is_file():
        raise ParamsError(f"{directory}: is not empty and not ours, it has no {MANIFEST}; expected "
                          "a new or empty directory.")
    try:
        data = jsonfile.anything(read_small(path, str(path), "a manifest"))
        if not isinstance(data, dict) or not all(
                isinstance(name, str) and isinstance(value, str) and _inside(name)
                for name, value in data.items()):
            raise ValueError
    except ValueError:
        raise ParamsError(f"{path}: is no manifest of ours; expected a new or empty "
                          "directory.") from None
    return data


def _inside(name: str) -> bool:
    """Whether a path stays below the directory."""
    path = Path(name)
    return not path.is_absolute() and ".." not in path.parts and bool(path.parts)


def _check(directory: Path, before: Mapping[str, str], mine: Mapping[str, bytes]) -> None:
    """Refuse to replace what is neither as it was written nor as it will be, and to write where a
    link leads."""
    for name in sorted(mine.keys() | before.keys()):
        path = directory / name
        for folder in Path(name).parents:
            if folder.parts and (directory / folder).is_symlink():
                raise ParamsError(f"{directory / folder}: is a link, expected a folder of its own; "
                                  "nothing is written where it leads.")
        if not os.path.lexists(path):
            continue
        if path.is_symlink() or not path.is_file() or (
                (stands := path.read_bytes()) != mine.get(name)
                and hashlib.sha256(stands).hexdigest() != before.get(name)):
            raise ParamsError(f"{path}: has been changed since it was written; keep it elsewhere, "
                              "or name another directory.")
