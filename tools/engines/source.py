"""The released source of an engine: found on the package index, checked, and read in memory.

Nothing of a release is installed or run. The source distribution is preferred; where a release has
none, a wheel is read instead.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tarfile
import urllib.parse
import urllib.request
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import Version

from catalogue.reading.files import write_whole

INDEX = "https://pypi.org/simple"
ACCEPT = "application/vnd.pypi.simple.v1+json"

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


def fetch(url: str) -> bytes:
    """The body behind an address. Raises ExtractError when it cannot be had."""
    request = urllib.request.Request(url, headers={"Accept": ACCEPT})
    try:
        with urllib.request.urlopen(request, timeout=180) as answer:
            return bytes(answer.read())
    except (OSError, ValueError) as error:
        raise ExtractError(f"{url}: cannot be read ({error}).") from None


def index_page(package: str, get: Fetch) -> tuple[list[dict[str, Any]], list[str]]:
    """Files and versions of a package on the index. Raises ExtractError without either."""
    try:
        page = json.loads(get(f"{INDEX}/{package}/"))
        return page["files"], page.get("versions", [])
    except (KeyError, TypeError, ValueError):
        raise ExtractError(f"{INDEX}/{package}/: is not the page of a package index.") from None


def published(package: str, get: Fetch = fetch) -> list[str]:
    """Versions of a package on the index, the oldest first, without candidates.

    Raises ExtractError when the index does not answer.
    """
    return [version for version in sorted(index_page(package, get)[1], key=Version)
            if not Version(version).is_prerelease]


def find(package: str, versions: list[str], get: Fetch = fetch) -> list[Release]:
    """The file to read of each release: its source distribution, else a wheel.

    Raises ExtractError when the index does not answer or has no such file.
    """
    files = index_page(package, get)[0] if versions else []
    return [choose(package, version, files) for version in versions]


def choose(package: str, version: str, files: list[dict[str, Any]]) -> Release:
    """The file to read of a release. Raises ExtractError if there is none."""
    starts = tuple(f"{spelt}-{version}{end}" for spelt in (package, package.replace("-", "_"))
                   for end in (".tar.gz", ".zip", "-"))
    listed = [file for file in files if file["filename"].startswith(starts)
              and file["filename"].endswith((".tar.gz", ".zip", ".whl"))]
    if not listed:
        raise ExtractError(f"{INDEX}/{package}/: lists no file of {version} that can be read.")
    # of several wheels the one for any platform, else the first by name: their Python is the same
    file = min(listed, key=lambda file: ((name := file["filename"]).endswith(".whl"),
                                         "-none-any" not in name, name))
    return Release(package, version, file["upload-time"][:10],
                   urllib.parse.urljoin(f"{INDEX}/{package}/", file["url"]),
                   file["hashes"]["sha256"])


def load(release: Release, cache: Path | None = None, get: Fetch = fetch, root: str = ""
         ) -> dict[str, str]:
    """The Python files of a release by their path, ``vllm/envs.py``, after the check of its sum.

    Args:
        release: the file to read.
        cache: folder that keeps what was had.
        get: how it is had.
        root: folder of it that is read; that of the package unless given.

    Raises ExtractError when the file cannot be had, is not the one the index names, or is no
    archive.
    """
    file = cache / f"{release.sha256}.archive" if cache else None
    body = file.read_bytes() if file and file.is_file() else get(release.url)
    if hashlib.sha256(body).hexdigest() != release.sha256:
        raise ExtractError(f"{release.url}: the file is not the one the index names, "
                           "its SHA-256 differs.")
    if file and not file.is_file():
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, body)
    try:
        return members(body, root or release.package.replace("-", "_"))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError):
        raise ExtractError(f"{release.url}: is no archive that can be unpacked.") from None


SOURCES = re.compile(r"^((bindings/python|py_src|src)/)+")  # where some keep the package


def members(body: bytes, root: str) -> dict[str, str]:
    """Texts of the Python files below a folder; a source archive has one more on top."""
    texts: dict[str, bytes] = {}
    is_python = re.compile(rf"{re.escape(root)}/.*\.py").fullmatch
    if zipfile.is_zipfile(io.BytesIO(body)):
        with zipfile.ZipFile(io.BytesIO(body)) as wheel:
            texts = {name: wheel.read(name) for name in filter(is_python, wheel.namelist())}
    else:
        with tarfile.open(fileobj=io.BytesIO(body), mode="r:*") as archive:
            for member in archive:
                name = SOURCES.sub("", member.name.partition("/")[2])
                if is_python(name) and (file := archive.extractfile(member)):
                    texts[name] = file.read()
    return {name: text.decode("utf-8", "replace") for name, text in texts.items()}
