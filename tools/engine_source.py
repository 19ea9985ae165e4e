"""The released source of an engine: found on the package index, checked, and read in memory.

Nothing of a release is installed or run. The source distribution is preferred; where a release has
none, a wheel is read instead.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

INDEX = "https://pypi.org/pypi"
TIMEOUT = 180
LARGEST = 200 << 20

Fetch = Callable[[str], bytes]


class ExtractError(Exception):
    """What stopped the extraction, in one sentence."""


@dataclass(frozen=True)
class Release:
    """A file of a release: where it lies and how to know it again."""

    package: str
    version: str
    date: str
    url: str
    sha256: str


@dataclass(frozen=True)
class Source:
    """The Python files of a release by their path from the package's root, ``vllm/envs.py``."""

    release: Release
    files: dict[str, str]


def fetch(url: str) -> bytes:
    """The body behind an address. Raises ExtractError when it cannot be had."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            body: bytes = answer.read(LARGEST + 1)
    except urllib.error.HTTPError as error:
        raise ExtractError(f"{url}: the server answers {error.code} {error.reason}.") from None
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "reason", error)) or type(error).__name__
        raise ExtractError(f"{url}: cannot be reached ({reason}).") from None
    if len(body) > LARGEST:
        raise ExtractError(f"{url}: larger than {LARGEST >> 20} MiB.")
    return body


def find(package: str, version: str, get: Fetch = fetch) -> Release:
    """The file of a release to read: its source distribution, else its smallest wheel.

    Raises ExtractError when the index does not answer or has no such file.
    """
    url = f"{INDEX}/{package}/{version}/json"
    try:
        files: list[dict[str, Any]] = json.loads(get(url))["urls"]
        sources = [file for file in files if file["packagetype"] == "sdist"]
        wheels = [file for file in files if file["packagetype"] == "bdist_wheel"]
        chosen = min(sources or wheels, key=lambda file: (file["size"], file["filename"]))
        return Release(package, version, chosen["upload_time_iso_8601"][:10], chosen["url"],
                       chosen["digests"]["sha256"])
    except (KeyError, TypeError, ValueError):  # ValueError: nothing to choose from, or no JSON
        raise ExtractError(f"{url}: lists no source distribution and no wheel.") from None


def load(release: Release, cache: Path | None = None, get: Fetch = fetch) -> Source:
    """The Python files of a release, from the cache where they are, after the check of its sum.

    Raises ExtractError when the file cannot be had, is not the one the index names, or is no
    archive.
    """
    kept = cache / f"{release.sha256}.archive" if cache else None
    body = kept.read_bytes() if kept and kept.is_file() else get(release.url)
    if hashlib.sha256(body).hexdigest() != release.sha256:
        raise ExtractError(f"{release.url}: the file is not the one the index names, "
                           "its SHA-256 differs.")
    if kept and not kept.is_file():
        write(kept, body)
    try:
        return Source(release, _members(body, release.package.replace("-", "_")))
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise ExtractError(f"{release.url}: cannot be unpacked ({error}).") from None


def write(path: Path, body: bytes) -> None:
    """Write a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(body)
    part.replace(path)


def _members(body: bytes, package: str) -> dict[str, str]:
    """Texts of the package's Python files; a wheel has no top folder, a source archive has one."""
    if zipfile.is_zipfile(io.BytesIO(body)):
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return {name: archive.read(name).decode("utf-8", "replace")
                    for name in archive.namelist() if _wanted(name, package)}
    texts: dict[str, str] = {}
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:*") as archive:
        for member in archive:
            name = member.name.partition("/")[2]
            if _wanted(name, package) and (file := archive.extractfile(member)):
                texts[name] = file.read().decode("utf-8", "replace")
    return texts


def _wanted(name: str, package: str) -> bool:
    return name.startswith(f"{package}/") and name.endswith(".py")
