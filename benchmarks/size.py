"""Installed size of what reading the book and Papermill need."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

REQUIREMENTS = Path(__file__).resolve().parents[1] / "requirements.txt"


def measure() -> dict[str, tuple[float, str]]:
    """Sum of the files of every distribution that requirements.txt pins and that is installed."""
    total = 0
    for line in REQUIREMENTS.read_text(encoding="utf-8").splitlines():
        name = re.split(r"[=\s;\[]", line, maxsplit=1)[0]
        try:
            files = metadata.files(name) or []
        except metadata.PackageNotFoundError:
            continue  # pinned for another Python or system
        total += sum(path.stat().st_size for path in (Path(str(file.locate())) for file in files)
                     if path.is_file())
    return {"installed_size": (total / 1e6, "MB")}
