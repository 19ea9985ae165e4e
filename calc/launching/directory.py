"""The directory of a deployment: written whole, nothing in it lost."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path

from catalogue import ParamsError
from catalogue.reading import jsonfile
from catalogue.reading.files import drafted, make_folder, read_small, unwritable

MANIFEST = "manifest.json"
EXECUTABLE = 0o755


def write(directory: Path, files: Mapping[str, str]) -> list[Path]:
    """Write files below a directory, made where it is missing; the manifest last.

    A directory that is not empty has to have a manifest: files that still are as they were written
    are replaced, others stop it before anything is written. What is not written any more is
    deleted. If the process is killed meanwhile, a manifest is there, of before or, where there was
    none, of now: what either names can be written over.

    Args:
        directory: where.
        files: texts by path below it.

    Raises ParamsError, one sentence, for what stands in the way and for a full disk.
    """
    before = read_manifest(directory)
    data = {name: text.encode() for name, text in files.items()}
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in sorted(data.items())}
    try:
        check_unchanged(directory, before, data)
        make_folder(directory.parent)
        data[MANIFEST] = f"{json.dumps(sums, indent=1)}\n".encode()
        with drafted(directory.parent) as draft:
            for name, content in data.items():  # beside the directory: a full disk shows here
                path = draft / "staged" / name
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                if path.suffix == ".sh":
                    path.chmod(EXECUTABLE)
            if not directory.exists():
                (draft / "staged").rename(directory)
                return [directory / name for name in data]
            last = (directory / MANIFEST).exists()
            for name in sorted(data, key=lambda name: (name == MANIFEST) == last):
                if name == MANIFEST:
                    for old in before.keys() - data.keys():
                        (directory / old).unlink(missing_ok=True)
                (directory / name).parent.mkdir(parents=True, exist_ok=True)
                (draft / "staged" / name).replace(directory / name)
    except OSError as error:
        raise unwritable(directory, error) from None
    return [directory / name for name in data]


def read_manifest(directory: Path) -> dict[str, str]:
    """Sums of what was written here before, by path; none in a directory that is empty or new.

    Raises ParamsError, one sentence, for a directory without a manifest.
    """
    if not os.path.lexists(directory):
        return {}
    if not directory.is_dir():
        raise ParamsError(f"{directory}: a file, expected a new or empty directory.")
    try:
        empty = not any(directory.iterdir())
    except OSError as error:
        raise ParamsError(f"{directory}: cannot be read "
                          f"({(error.strerror or 'refused').lower()}).") from None
    if empty:
        return {}
    path = directory / MANIFEST
    if not path.is_file():
        raise ParamsError(f"{directory}: not a will-it-fit output directory, it has no {MANIFEST}; "
                          "expected a new or empty directory.")
    try:
        data = jsonfile.anything(read_small(path, "a manifest"))
        if not isinstance(data, dict) or not all(
                isinstance(name, str) and isinstance(value, str) and Path(name).parts
                and not Path(name).is_absolute() and ".." not in Path(name).parts
                for name, value in data.items()):
            raise ValueError
    except ValueError:
        raise ParamsError(f"{path}: is no manifest of ours; expected a new or empty "
                          "directory.") from None
    return data


def check_unchanged(directory: Path, before: Mapping[str, str], data: Mapping[str, bytes]) -> None:
    """Refuse to replace a file that is neither as it was written nor as it will be, and to write
    where a link leads.

    Args:
        directory: where.
        before: sums of files that were written, by path.
        data: of files that will be written, by path.

    Raises ParamsError, one sentence.
    """
    for name in sorted(data.keys() | before.keys()):
        path = directory / name
        for folder in Path(name).parents:
            if folder.parts and (directory / folder).is_symlink():
                raise ParamsError(f"{directory / folder}: is a link, expected a folder of its own; "
                                  "nothing is written where it leads.")
        if os.path.lexists(path) and (path.is_symlink() or not path.is_file() or (
                (content := path.read_bytes()) != data.get(name)
                and hashlib.sha256(content).hexdigest() != before.get(name))):
            raise ParamsError(f"{path}: has been changed since it was written; keep it elsewhere, "
                              "or name another directory.")
